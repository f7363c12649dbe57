"""The edge: how models of the wire are read, and how a refusal is said.

Everything that comes in as JSON passes :func:`read` (or ``model_validate`` of the model itself): names in camelCase,
unknown properties refused, no coercion, ``null`` is not "left out", no NUL in any text, exact numbers, and all issues
at once. A path is the wire names from the top, members by dots and list positions by a slash
("targeting.keywords/0.text"); a message never repeats the value.
"""

from __future__ import annotations

import json
from abc import abstractmethod
from collections.abc import Callable, Iterable, Iterator, Mapping
from decimal import Decimal
from functools import lru_cache
from types import NoneType, SimpleNamespace
from typing import Annotated, Any, NamedTuple, Self, TypeVar, get_args

from pydantic import (
    AfterValidator,
    BaseModel,
    BeforeValidator,
    ConfigDict,
    GetCoreSchemaHandler,
    StringConstraints,
    ValidationError,
    ValidationInfo,
    WithJsonSchema,
    model_validator,
)
from pydantic.alias_generators import to_camel
from pydantic_core import InitErrorDetails, PydanticCustomError, core_schema

from . import money, schedule, wire
from .errors import InvalidInput, Issue

Location = tuple[str | int, ...]
MAX_DEPTH = 64
MAX_NAME = 60  # characters of a member's name that a path shows
MAX_INTEGER_BITS = 1024
_SMALL = 1 << 64
_PLAIN = frozenset((str, bool, NoneType))

UUID = r"^[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}$"
COUNTRY = r"^[A-Z]{2}$"
CURRENCY = r"^[A-Z]{3}$"
LANGUAGE = r"^[a-z]{2}$"
URI = (
    r"^[A-Za-z][A-Za-z0-9+.-]*://([!$-.0-9:;=A-Z_a-~]*@)?([!$-.0-9;=A-Z_a-~]+|\[[0-9A-Fa-f:.]+\])(:[0-9]{0,5})?"
    r"([/?#][!#-;=?-\[\]_a-~]*)?$"
)
"""Absolute, with scheme and host, in ASCII. Braces are let through: networks put macros into them."""

FORMS = {
    money.AMOUNT: money.FORM,
    schedule.INSTANT: schedule.FORM,
    UUID: "a UUID, such as 0190a1b2-c3d4-7e5f-8a6b-7c8d9e0f1a2b",
    COUNTRY: "two uppercase letters, such as US",
    CURRENCY: "three uppercase letters, such as EUR",
    LANGUAGE: "two lowercase letters, such as en",
    URI: "an absolute URI with scheme and host, without spaces, other characters percent-encoded",
}
"""Pattern -> what it accepts, in words."""

# Patterns whose own reader tells more exactly what is wrong.
_READERS: dict[str | None, Callable[[str, str], object]] = {
    money.AMOUNT: lambda amount, path: money.units(amount, money.MICROS, path),
    schedule.INSTANT: schedule.instant,
}

# pydantic's error type -> our code, and what is accepted.
_REFUSALS = {
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
_NUL = ("malformed", "must not contain the character U+0000.")
_BUILT_IN = frozenset(get_args(core_schema.ErrorType))


class Problem(NamedTuple):
    """A broken rule: where, a stable code, and a sentence."""

    location: Location
    code: str
    message: str


Item = TypeVar("Item")


# -- models -------------------------------------------------------------------------------------------------------


class _NotNull:
    """Lets a member be left out (its default is None) and refuses ``null``: only writing out knows None."""

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        nullable: Any = handler(source)
        return {**nullable["schema"], "serialization": core_schema.simple_ser_schema("any")}


Maybe = Annotated[Item | None, _NotNull()]
"""A member that may be left out."""


def _without_null_defaults(schema: dict[str, Any]) -> None:
    for member in schema.get("properties", {}).values():
        default = member.get("default", ...)
        if default is None:
            del member["default"]
        elif isinstance(default, dict):
            member["default"] = {name: value for name, value in default.items() if value is not None}


class WireModel(BaseModel):
    """An object of the wire: camelCase outside, snake_case inside, closed, strict and frozen."""

    model_config = ConfigDict(
        strict=True,
        extra="forbid",
        frozen=True,
        alias_generator=to_camel,
        serialize_by_alias=True,
        hide_input_in_errors=True,
        json_schema_extra=_without_null_defaults,
    )

    @classmethod
    def model_validate_json(cls, json_data: str | bytes | bytearray, **settings: Any) -> Self:
        """As pydantic's, with exact numbers in free-form objects; it takes no settings, the model holds them."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        rounded: list[dict[str, Any]] = []
        value: Self = cls.__pydantic_validator__.validate_json(json_data, context=rounded)
        if rounded or ("\\" if isinstance(json_data, str) else _BACKSLASH) in json_data:  # a byte is found faster
            _settle(value, json_data, rounded)
        return value

    @classmethod
    def model_validate(cls, obj: Any, **settings: Any) -> Self:
        """As pydantic's, with U+0000 refused; it takes no settings, the model holds them."""
        if settings:
            raise TypeError(f"{cls.__name__} takes no settings: {', '.join(settings)}")
        value: Self = cls.__pydantic_validator__.validate_python(obj)
        if "\\x00" in repr(obj):  # perhaps
            _refuse_nul(value, obj)
        return value

    def to_json(self) -> dict[str, Any]:
        """The wire form for :func:`adsunify.wire.dumps`: defaults filled in, what was left out left out."""
        return self.model_dump(exclude_none=True)


class RuledModel(WireModel):
    """A wire model with rules that span its members."""

    @classmethod
    @abstractmethod
    def broken(cls, members: Any) -> list[Problem]:
        """The rules that ``members`` break: an instance, or unchecked values under the same names (or None)."""

    @model_validator(mode="after")
    def _keeps_its_rules(self) -> Self:
        if problems := self.broken(self):
            raise invalid(self, problems)
        return self


def invalid(refused: object, problems: Iterable[Problem]) -> ValidationError:
    """What a validator raises for rules of its own."""
    return ValidationError.from_exception_data(
        type(refused).__name__,
        [
            InitErrorDetails(type=PydanticCustomError(code, message), loc=location, input=None)
            for location, code, message in problems
        ],
        hide_input=True,
    )


# -- numbers ------------------------------------------------------------------------------------------------------


def _number(value: Any) -> Any:
    return Decimal(repr(value)) if isinstance(value, int | float) and not isinstance(value, bool) else value


def in_numbers(**limits: int) -> WithJsonSchema:
    """The JSON schema of a :data:`Number` with limits, which pydantic does not put beside what reads it."""
    return WithJsonSchema({"type": "number", **limits})


Number = Annotated[Decimal, BeforeValidator(_number), in_numbers()]
"""A JSON number with the digits it was written with, up to 15 of them; text is no number."""
EntityId = Annotated[str, StringConstraints(min_length=1, max_length=250)]
"""An id as a network gives it."""


# -- free-form objects --------------------------------------------------------------------------------------------


def _free_form(value: dict[str, Any], info: ValidationInfo) -> dict[str, Any]:
    """A copy. JSON mode has rounded fractions to floats: such objects are put on the list that is the context."""
    if info.mode == "json" and _plain(value):
        return value  # nobody else has it
    problems: list[Problem] = []
    copied: dict[str, Any] = _copied(value, (), problems)
    if problems:
        raise invalid(value, problems)
    if info.mode == "json" and isinstance(info.context, list) and _has_float(value):
        info.context.append(copied)
    return copied


def _plain(value: dict[str, Any]) -> bool:
    """Whether it is made of texts, small integers, true, false and null alone, and is not nested deeply."""
    level: list[Any] = [value]
    for _ in range(MAX_DEPTH):
        deeper: list[Any] = []
        for one in level:
            kind = type(one)
            if kind is dict:
                deeper += one.values()
            elif kind is list:
                deeper += one
            elif kind not in _PLAIN and not (kind is int and -_SMALL < one < _SMALL):
                return False
        if not deeper:
            return True
        level = deeper
    return False


def _has_float(value: Any) -> bool:
    if isinstance(value, dict):
        return any(map(_has_float, value.values()))
    return any(map(_has_float, value)) if isinstance(value, list) else isinstance(value, float)


def _copied(value: Any, at: Location, problems: list[Problem]) -> Any:
    """A copy of JSON, with a Decimal of the same digits for each float; whatever is not JSON becomes a problem."""
    refusal = None
    if isinstance(value, str):
        refusal = _text_refusal(value)
    elif value is None or isinstance(value, bool):
        pass
    elif isinstance(value, int):
        if value.bit_length() > MAX_INTEGER_BITS:
            refusal = ("out_of_range", "must be a number of bearable length.")
    elif isinstance(value, float | Decimal):
        value = Decimal(repr(value)) if isinstance(value, float) else value
        if not value.is_finite() or abs(value.adjusted()) > wire.MAX_NUMBER_CHARACTERS:
            refusal = ("out_of_range", "must be a finite number of bearable length.")
    elif len(at) > MAX_DEPTH:
        refusal = ("too_deep", f"must be nested at most {MAX_DEPTH} deep.")
    elif isinstance(value, list | tuple):
        return [_copied(item, (*at, position), problems) for position, item in enumerate(value)]
    elif isinstance(value, dict):
        for name in value:
            if not isinstance(name, str) or _text_refusal(name):
                problems.append(Problem(at, "malformed", "must have member names that are valid Unicode text."))
                return None
        return {name: _copied(item, (*at, name), problems) for name, item in value.items()}
    else:
        refusal = ("wrong_type", "must be JSON: an object, list, string, number, true, false or null.")
    if refusal:
        problems.append(Problem(at, *refusal))
    return value


def _text_refusal(text: str) -> tuple[str, str] | None:
    if "\0" in text:
        return _NUL
    try:
        text.encode()
    except UnicodeEncodeError:
        return ("malformed", "must be valid Unicode text.")
    return None


FreeForm = Annotated[dict[str, Any], AfterValidator(_free_form)]
"""An object of any JSON, copied; numbers with a fraction are Decimal."""


# -- reading ------------------------------------------------------------------------------------------------------


Model = TypeVar("Model", bound=WireModel)
_BACKSLASH = ord("\\")


def read(model: type[Model], data: bytes | str | Mapping[str, Any], prefix: str = "") -> Model:
    """Read JSON, or the object it stands for, into ``model``.

    Raises InvalidInput with every issue at once; paths start with ``prefix`` (such as "campaign").
    """
    try:
        if isinstance(data, (bytes, str)):
            return model.model_validate_json(data)
        return model.model_validate(dict(data))
    except ValidationError as error:
        problems = dict.fromkeys(_problems(error, model))
        wrong = {problem.location for problem in problems if problem.code == "wrong_type"}
        problems.update(dict.fromkeys(_beside(model, _loaded(data), wrong)))
        raise InvalidInput([_issue(problem, prefix) for problem in problems]) from None


def _settle(value: WireModel, data: str | bytes | bytearray, rounded: list[dict[str, Any]]) -> None:
    """What JSON mode leaves to be done: exact numbers, and no U+0000."""
    text = data if isinstance(data, str) else data.decode()
    if "\\u0000" in text:
        _refuse_nul(value, json.loads(text))
    if rounded:
        try:
            exact = wire.loads(text)
        except ValueError as reason:
            raise invalid(value, [Problem((), "malformed_json", f"must be valid JSON: {reason}.")]) from None
        _make_exact(value, exact, {id(one) for one in rounded})


def _refuse_nul(value: WireModel, raw: Any) -> None:
    if problems := list(_nul_in(raw)):
        raise invalid(value, problems)


def _make_exact(value: Any, exact: Any, rounded: set[int]) -> None:
    """Put the exact numbers into the free-form objects below ``value``."""
    if isinstance(value, dict):
        if id(value) in rounded:
            value.update(exact)
    elif isinstance(value, tuple | list):
        for one, its_exact in zip(value, exact, strict=True):
            _make_exact(one, its_exact, rounded)
    elif members := getattr(type(value), "__pydantic_fields__", None):  # a model; isinstance would be slow
        for name, item in value.__dict__.items():
            if (alias := members[name].alias or name) in exact:
                _make_exact(item, exact[alias], rounded)


def _nul_in(value: Any, at: Location = ()) -> Iterator[Problem]:
    """Every text below ``value`` that contains U+0000, which databases and networks do not take."""
    if isinstance(value, str):
        if "\0" in value:
            yield Problem(at, *_NUL)
    elif len(at) > MAX_DEPTH:
        return
    elif isinstance(value, dict):
        for name, item in value.items():
            yield from _nul_in(name, at)
            yield from _nul_in(item, (*at, name))
    elif isinstance(value, list | tuple):
        for position, item in enumerate(value):
            yield from _nul_in(item, (*at, position))


# -- saying what is wrong -----------------------------------------------------------------------------------------


def _problems(error: ValidationError, model: type[BaseModel]) -> Iterator[Problem]:
    """All that pydantic found, in our words: what is accepted, never the value that was given."""
    told: set[Location] = set()
    for details in error.errors(include_url=False):
        # pydantic counts the items that it accepted: a list with refused items is not therefore too short
        if details["type"] == "too_short" and len(details["input"]) >= details["ctx"]["min_length"]:
            continue
        problem = _problem(details["loc"], details["type"], details)
        place = tuple(name for name in problem.location if isinstance(name, str))
        if problem.code == "unknown_property":
            place = place[:-1]  # its object is told of once, however many stand in it
        if details["type"] in _MORE and place not in told:
            told.add(place)
            problem = problem._replace(message=_MORE[details["type"]](_schema(model, place)) or problem.message)
        yield problem


@lru_cache(256)
def _whole_schema(model: type[BaseModel]) -> dict[str, Any]:
    return model.model_json_schema()


def _schema(model: type[BaseModel], place: Location) -> Mapping[str, Any]:
    """What a model's schema says of a member at these names, list positions left out; nothing of a free-form one."""
    whole = _whole_schema(model)

    def named(part: Any) -> Mapping[str, Any]:
        while "$ref" in part:
            part = whole["$defs"][part["$ref"].rpartition("/")[2]]
        return named(part["items"]) if "items" in part else part

    found = named(whole)
    for name in place:
        found = named(found.get("properties", {}).get(name, {}))
    return found


def _unknown(schema: Mapping[str, Any]) -> str | None:
    names = ", ".join(schema.get("properties", ()))
    return f"is not a property of this object, which takes {names}." if names else None


def _missing(schema: Mapping[str, Any]) -> str | None:
    if "enum" in schema:
        return f"is required: {', '.join(map(str, schema['enum']))}."
    names = ", ".join(schema.get("required", ()))
    return f"is required: an object with {names}." if names else None


def _no_text(schema: Mapping[str, Any]) -> str | None:
    form = FORMS.get(schema.get("pattern", ""))
    return f"must be a string: {form}." if form else None


_MORE: Mapping[str, Callable[[Mapping[str, Any]], str | None]] = {
    "extra_forbidden": _unknown,
    "missing": _missing,
    "string_type": _no_text,
}
"""pydantic's error type -> what the schema lets us say more exactly."""


def _problem(location: Location, kind: str, details: Mapping[str, Any]) -> Problem:
    if kind not in _BUILT_IN:  # one of our own
        return Problem(location, kind, details["msg"])
    context = details.get("ctx", {})
    pattern = context.get("pattern")
    if pattern in _READERS:
        try:
            _READERS[pattern](details["input"], "")
        except InvalidInput as refusal:
            return Problem(location, refusal.issues[0].code, refusal.issues[0].message)
    code, message = _REFUSALS.get(kind, ("invalid", "is not accepted."))
    return Problem(location, code, message.format(form=FORMS.get(pattern, f"of the form {pattern}"), **context))


def _issue(problem: Problem, prefix: str) -> Issue:
    path = prefix
    for name in problem.location:
        path += f"/{name}" if isinstance(name, int) else f".{name[:MAX_NAME]}" if path else name[:MAX_NAME]
    return Issue(path, problem.code, problem.message)


def _loaded(data: bytes | str | Mapping[str, Any]) -> Any:
    try:
        return wire.loads(data) if isinstance(data, (bytes, str)) else dict(data)
    except ValueError:
        return None


def _beside(model: type[BaseModel], raw: Any, wrong: set[Location], at: Location = ()) -> Iterator[Problem]:
    """What else is wrong with a refused input: pydantic stops at its members, the rules that span them go on."""
    if not at:
        yield from _nul_in(raw)
    if issubclass(model, RuledModel):
        for problem in model.broken(_loose(model, raw, wrong, at)):
            yield problem._replace(location=at + problem.location)
    for name, part in _parts(model).items():
        yield from _beside(part, _member(raw, name), wrong, (*at, name))


def _loose(model: type[BaseModel], raw: Any, wrong: set[Location], at: Location) -> SimpleNamespace:
    """The members as they came, under their names inside; what was left out or is of the wrong type is None."""
    parts = _parts(model)
    members: dict[str, Any] = {}
    for name, member in model.model_fields.items():
        alias = member.alias or name
        there = (*at, alias)
        value = None if there in wrong else _member(raw, alias)
        members[name] = _loose(parts[alias], value, wrong, there) if alias in parts else value
    return SimpleNamespace(**members)


def _parts(model: type[BaseModel]) -> dict[str, type[BaseModel]]:
    """The members that are models themselves, by their names outside."""
    return {
        member.alias or name: member.annotation
        for name, member in model.model_fields.items()
        if isinstance(member.annotation, type) and issubclass(member.annotation, BaseModel)
    }


def _member(raw: Any, alias: str) -> Any:
    return raw.get(alias) if isinstance(raw, Mapping) else None
