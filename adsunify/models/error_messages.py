"""The messages of refused input: patterns of texts with their description, and messages for pydantic's errors.

A message says what is accepted and never repeats the value. A path joins JSON names and list positions by dots
("targeting.keywords.0.text").
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sized
from difflib import get_close_matches
from functools import lru_cache
from typing import Any, NamedTuple, NoReturn, get_args

from pydantic import BaseModel, ValidationError
from pydantic.alias_generators import to_camel
from pydantic_core import core_schema

from adsunify.errors import MAX_ISSUES, InvalidInput, Issue, invalid_input
from adsunify.values import countries, dates, money
from adsunify.values.client_ids import MAX_CLIENT_ID_LENGTH

Location = tuple[str | int, ...]
MIN_SIMILARITY = 0.7  # of a member that is suggested for an unknown one; 1 is equality
NULL_SCHEMA = {"type": "null"}
MAX_SHOWN_NAME_LENGTH = 60  # the characters of a member's name in a path

FILE = "FILE"
"""The path of issues of a whole document."""
UUID_REGEX = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
CLIENT_ID_REGEX = (
    rf"^([0-9A-Fa-f]{{8}}(-[0-9A-Fa-f]{{4}}){{3}}-[0-9A-Fa-f]{{12}}"
    rf"|https://[!-~]{{1,{MAX_CLIENT_ID_LENGTH - len('https://')}}})$"
)
COUNTRY_REGEX = r"^[A-Z]{2}$"
CURRENCY_REGEX = r"^[A-Z]{3}$"
LANGUAGE_REGEX = r"^[a-z]{2}$"
CELL_KEY_REGEX = r"^[A-Za-z0-9._-]{1,60}$"
URI_REGEX = (
    r"^[A-Za-z][A-Za-z0-9+.-]*://([!$-.0-9:;=A-Z_a-~]*@)?([!$-.0-9;=A-Z_a-~]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{0,5})?"
    r"([/?#][!#-;=?-\[\]_a-~]*)?$"
)
"""An absolute ASCII URI with scheme and host. Braces are allowed because networks use them for macros."""

VISIBLE_REGEX = r"[\p{L}\p{N}\p{P}\p{S}--\u115F\u1160\u2800\u3164\uFFA0\U0001D159]"
"""A visible character. Some letters and symbols have no visible shape: Hangul fillers, the empty Braille cell, the null
note head. Pydantic's regular expressions support these classes, and Python's regular expressions do not.
"""

WEB_PREFIXES = ("http://", "https://")
WEB_URL_MESSAGE = "an address must begin with http:// or https://"

FORM_BY_PATTERN = {
    money.AMOUNT_REGEX: money.AMOUNT_FORM,
    dates.INSTANT_REGEX: dates.INSTANT_FORM,
    UUID_REGEX: "a UUID, such as 0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
    CLIENT_ID_REGEX: "the id of an agent's client: a UUID, or the https address of its document",
    COUNTRY_REGEX: countries.COUNTRY_FORM,
    CURRENCY_REGEX: "three uppercase letters, such as EUR",
    LANGUAGE_REGEX: "two lowercase letters, such as en",
    CELL_KEY_REGEX: "1 to 60 letters, digits, dots, hyphens and underscores, such as meta-de",
    URI_REGEX: "an absolute URI with scheme and host, without spaces, other characters percent-encoded",
}
"""Pattern -> a description of the accepted texts."""

NUL_MESSAGE = ("malformed", "must not contain the character U+0000.")
BLANK_MESSAGE = ("blank", "must have at least one visible character.")


def _refuse_invisible(text: str, path: str) -> NoReturn:
    raise invalid_input(path, *(NUL_MESSAGE if "\0" in text else BLANK_MESSAGE))


# Patterns whose parser gives a more exact message.
_PARSER_BY_PATTERN: dict[str | None, Callable[[str, str], object]] = {
    money.AMOUNT_REGEX: lambda amount, path: money.to_units(amount, money.MICROS, path),
    dates.INSTANT_REGEX: dates.parse_instant,
    VISIBLE_REGEX: _refuse_invisible,
}

# pydantic's error type -> our code and message
_MESSAGE_BY_TYPE = {
    "missing": ("required", "is required."),
    "extra_forbidden": ("unknown_property", "is not a property of this object; leave it out."),
    "model_type": ("wrong_type", "must be an object."),
    "dict_type": ("wrong_type", "must be an object."),
    "list_type": ("wrong_type", "must be a list."),
    "tuple_type": ("wrong_type", "must be a list."),
    "string_type": ("wrong_type", "must be a string."),
    "string_unicode": ("malformed", "must be valid Unicode text."),
    "bool_type": ("wrong_type", "must be true or false."),
    "bool_parsing": ("wrong_type", "must be true or false."),
    "int_type": ("wrong_type", "must be an integer."),
    "int_parsing": ("wrong_type", "must be an integer."),
    "int_from_float": ("wrong_type", "must be an integer."),
    "float_type": ("wrong_type", "must be a number."),
    "decimal_type": ("wrong_type", "must be a number."),
    "decimal_parsing": ("wrong_type", "must be a number."),
    "is_instance_of": ("wrong_type", "must be a number."),
    "finite_number": ("out_of_range", "must be a finite number."),
    "literal_error": ("not_a_choice", "must be {expected}."),
    "string_too_short": ("too_short", "must have {min_length} or more characters."),
    "string_too_long": ("too_long", "must have {max_length} or fewer characters."),
    "string_pattern_mismatch": ("malformed", "must be {form}."),
    "too_short": ("too_few", "must have {min_length} or more items."),
    "too_long": ("too_many", "must have {max_length} or fewer items."),
    "greater_than": ("out_of_range", "must be greater than {gt}."),
    "greater_than_equal": ("out_of_range", "must be at least {ge}."),
    "less_than": ("out_of_range", "must be less than {lt}."),
    "less_than_equal": ("out_of_range", "must be at most {le}."),
    "uuid_type": ("malformed", "must be a UUID."),
    "uuid_parsing": ("malformed", "must be a UUID."),
    "date_type": ("malformed", "must be a date, such as 2027-03-01."),
    "date_parsing": ("malformed", "must be a date, such as 2027-03-01."),
    "date_from_datetime_parsing": ("malformed", "must be a date, such as 2027-03-01."),
    "date_from_datetime_inexact": ("malformed", "must be a date, such as 2027-03-01."),
    "json_invalid": ("malformed_json", "must be valid JSON: {error}."),
}
_PYDANTIC_TYPES = frozenset(get_args(core_schema.ErrorType))


def is_web_address(address: str) -> bool:
    """Whether an address begins with http:// or https://, in letters of any case (RFC 3986, section 3.1)."""
    return address.lower().startswith(WEB_PREFIXES)


def find_web_url_error(address: str) -> str | None:
    """Return the error in the address of a web page; None if the address is valid."""
    return None if is_web_address(address) else WEB_URL_MESSAGE


class Violation(NamedTuple):
    """A broken rule: its location, a stable code, and a sentence that follows the path."""

    location: Location
    code: str
    message: str


def list_violations(error: ValidationError, model: type[BaseModel]) -> Iterator[Violation]:
    """Yield pydantic's errors as violations with our codes and messages, which never contain the value."""
    described: set[Location] = set()
    for details in error.errors(include_url=False):
        # pydantic counts only accepted items, so it reports a list with refused items as too short as well
        value = details["input"]
        if details["type"] == "too_short" and isinstance(value, Sized) and len(value) >= details["ctx"]["min_length"]:
            continue
        problem = _make_violation(details["loc"], details["type"], details)
        place = tuple(name for name in problem.location if isinstance(name, str))
        if problem.code == "unknown_property":
            place = place[:-1]  # the object is described once, however many unknown members it has
        if details["type"] in _SCHEMA_DESCRIBERS and place not in described:
            described.add(place)
            problem = problem._replace(
                message=_SCHEMA_DESCRIBERS[details["type"]](_find_member_schema(model, place)) or problem.message
            )
        similar = None
        if problem.code == "unknown_property":
            similar = _find_similar_member(model, place, problem.location[-1])
        elif details["type"] == "literal_error":
            similar = find_similar(details["input"], re.findall("'([^']*)'", details["ctx"]["expected"]))
        yield problem._replace(message=f"{problem.message} Did you mean {similar}?") if similar else problem


def make_repeated_violations(locations: Iterable[Location]) -> list[Violation]:
    """Make a violation for each member that is given twice."""
    return [Violation(location, "repeated", "must be given once.") for location in locations]


@lru_cache(256)
def _load_model_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _find_member_schema(model: type[BaseModel], place: Location) -> Mapping[str, Any]:
    """Return the schema of the member at these names, without list positions; {} inside a free-form object."""
    whole = _load_model_schema(model)

    def resolve(part: Any) -> Mapping[str, Any]:
        while "$ref" in part:
            part = whole["$defs"][part["$ref"].rpartition("/")[2]]
        options = [option for option in part.get("anyOf", ()) if option != NULL_SCHEMA]
        if len(options) == 1:
            return {**resolve(options[0]), "anyOf": part["anyOf"]}
        return resolve(part["items"]) if "items" in part else part

    schema = resolve(whole)
    for name in place:
        schema = resolve(schema.get("properties", {}).get(name, {}))
    return schema


def cut_to_schema(model: type[BaseModel], raw: Any, problems: list[Violation]) -> int:
    """Cut each list of an unchecked input to the limit in the model's schema, and add a problem for it.

    At most :data:`MAX_ISSUES` unknown members stay in the input. Returns the number of unknown members removed.
    """
    whole = _load_model_schema(model)
    unknown = 0

    def cut_value(value: Any, schema: Any, at: Location) -> None:
        nonlocal unknown
        while "$ref" in schema:
            schema = whole["$defs"][schema["$ref"].rpartition("/")[2]]
        if isinstance(value, list) and "items" in schema:
            most = schema.get("maxItems", len(value))
            if len(value) > most:
                problems.append(Violation(at, "too_many", f"must have {most} or fewer items."))
                del value[most:]
            for index, item in enumerate(value):
                cut_value(item, schema["items"], (*at, index))
        elif isinstance(value, dict) and "properties" in schema:
            members = schema["properties"]
            for name in [name for name in value if name not in members]:
                unknown += 1
                if unknown > MAX_ISSUES:
                    del value[name]
            for name in members.keys() & value.keys():
                cut_value(value[name], members[name], (*at, name))

    cut_value(raw, whole, ())
    return max(0, unknown - MAX_ISSUES)


def cut_lists(raw: Any, most: int) -> None:
    """Cut every list in ``raw`` to ``most`` items."""
    if isinstance(raw, list):
        del raw[most:]
    for part in raw.values() if isinstance(raw, dict) else raw if isinstance(raw, list) else ():
        cut_lists(part, most)


def _describe_known_members(schema: Mapping[str, Any]) -> str | None:
    names = ", ".join(schema.get("properties", ()))
    return f"is not a property of this object, which takes {names}." if names else None


def _find_similar_member(model: type[BaseModel], place: Location, name: str | int) -> str | None:
    """Return the member of the object at ``place`` that was probably meant."""
    return find_similar(to_camel(str(name)), _find_member_schema(model, place).get("properties", ()))


def find_similar(text: Any, choices: Iterable[str]) -> str | None:
    """Return the choice that was probably meant by a text."""
    similar = get_close_matches(str(text)[:MAX_SHOWN_NAME_LENGTH], choices, 1, MIN_SIMILARITY)
    return similar[0] if similar else None


def _describe_missing_member(schema: Mapping[str, Any]) -> str | None:
    if "enum" in schema:
        return f"is required: {', '.join(map(str, schema['enum']))}."
    if NULL_SCHEMA in schema.get("anyOf", ()):
        return "is required; it may be null."
    names = ", ".join(schema.get("required", ()))
    return f"is required: an object with {names}." if names else None


def _describe_text_form(schema: Mapping[str, Any]) -> str | None:
    form = FORM_BY_PATTERN.get(schema.get("pattern", ""))
    return f"must be a string: {form}." if form else None


_SCHEMA_DESCRIBERS: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "extra_forbidden": _describe_known_members,
    "missing": _describe_missing_member,
    "string_type": _describe_text_form,
}
"""pydantic's error type -> a function that makes a more exact message from the member's schema."""


def _make_violation(location: Location, kind: str, details: Mapping[str, Any]) -> Violation:
    if kind not in _PYDANTIC_TYPES:  # made by validation_error
        return Violation(location, kind, details["msg"])
    context = details.get("ctx", {})
    pattern = context.get("pattern")
    if pattern in _PARSER_BY_PATTERN:
        try:
            _PARSER_BY_PATTERN[pattern](details["input"], "")
        except InvalidInput as refusal:
            return Violation(location, refusal.issues[0].code, refusal.issues[0].message)
    code, message = _MESSAGE_BY_TYPE.get(kind, ("invalid", "is not accepted."))
    return Violation(
        location, code, message.format(form=FORM_BY_PATTERN.get(pattern, f"of the form {pattern}"), **context)
    )


def to_issue(problem: Violation, prefix: str) -> Issue:
    """Make the issue of a violation; its path starts with ``prefix``."""
    path = prefix
    for name in problem.location:
        part = str(name)[:MAX_SHOWN_NAME_LENGTH]
        path = f"{path}.{part}" if path else part
    return Issue(path, problem.code, problem.message)
