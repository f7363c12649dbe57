"""Table-driven checks. A check is `(value, where) -> value`: the handler uses the value that the check returns.

A failed check raises InvalidRequest; `Network.format_error` puts it into the network's error shape.
"""

import re
import unicodedata
from collections.abc import Callable, Collection, Mapping
from decimal import Decimal
from typing import Any

from adsunify.sandbox.countries import COUNTRIES
from adsunify.sandbox.parsing import InvalidRequest, parse_json

Check = Callable[[Any, str], Any]

_NO_CHECKS: Mapping[str, Check] = {}
_EXTERNAL_ID_CODES = ("missing", "ineligible", "processing")


def any_value(value: Any, where: str) -> Any:
    """Accepts any value."""
    del where
    return value


def text(least: int = 1, most: int | None = None, pattern: str | None = None) -> Check:
    """A string of `least` to `most` characters that matches the whole of `pattern`."""

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise InvalidRequest("type", where, "must be a string", value)
        if len(value) < least or (most is not None and len(value) > most):
            limit = f"{least} or more" if most is None else f"{least} to {most}"
            raise InvalidRequest("value", where, f"must have {limit} characters", value)
        if pattern is not None and not re.fullmatch(pattern, value):
            raise InvalidRequest("value", where, f"must match {pattern}", value)
        return value

    return check


def visible_text(least: int = 1, most: int | None = None) -> Check:
    """A string of `least` to `most` characters, one of them visible: not only blanks, control and zero-width ones."""
    inner = text(least, most)

    def check(value: Any, where: str) -> str:
        content: str = inner(value, where)
        if all(unicodedata.category(character)[0] in "ZC" for character in content):
            raise InvalidRequest("value", where, "must hold a character that can be seen", value)
        return content

    return check


def country_code(value: Any, where: str) -> str:
    """A country of ISO 3166-1 alpha-2, in capital letters: GB, but not UK, XX or ZZ."""
    code: str = text(2, 2)(value, where)
    if code not in COUNTRIES:
        raise InvalidRequest("value", where, "must be a country code of ISO 3166-1 alpha-2", value)
    return code


def integer(least: int | None = None, most: int | None = None) -> Check:
    """A JSON integer."""

    def check(value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidRequest("type", where, "must be an integer", value)
        _check_bounds(value, where, least, most)
        return value

    return check


def integer_text(least: int | None = None, most: int | None = None) -> Check:
    """An integer written as a string of digits (a form value, or the int64 of protobuf JSON); answers the `int`."""

    def check(value: Any, where: str) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", value):
            raise InvalidRequest("type", where, "must be an integer as a string of digits", value)
        _check_bounds(int(value), where, least, most)
        return int(value)

    return check


def number(least: int | Decimal | None = None, most: int | Decimal | None = None, places: int | None = None) -> Check:
    """A JSON number, with at most `places` digits after the point; answers a `Decimal`."""

    def check(value: Any, where: str) -> Decimal:
        if not isinstance(value, int | Decimal) or isinstance(value, bool):
            raise InvalidRequest("type", where, "must be a number", value)
        exact = Decimal(value)
        _check_bounds(exact, where, least, most)
        exponent = exact.as_tuple().exponent
        if places is not None and isinstance(exponent, int) and -exponent > places:
            raise InvalidRequest("value", where, f"must have at most {places} digits after the point", value)
        return exact

    return check


def boolean(value: Any, where: str) -> bool:
    """A JSON boolean."""
    if not isinstance(value, bool):
        raise InvalidRequest("type", where, "must be true or false", value)
    return value


def choice(*choices: Any) -> Check:
    """One of the given constants, of the same type."""

    def check(value: Any, where: str) -> Any:
        if not any(type(value) is type(choice_value) and value == choice_value for choice_value in choices):
            raise InvalidRequest("value", where, f"must be one of {', '.join(map(str, choices))}", value)
        return value

    return check


def check_object(value: Any, where: str) -> dict[str, Any]:
    """A JSON object of any content."""
    if not isinstance(value, dict):
        raise InvalidRequest("type", where, "must be an object", value)
    return value


def boolean_text(value: Any, where: str) -> bool:
    """true or false as the text of a query parameter."""
    return bool(choice("true", "false")(value, where) == "true")


def comma_separated(item: Check) -> Check:
    """A text of values joined by commas, each checked by `item`; answers their list."""
    return lambda value, where: [item(part, where) for part in str(value).split(",")]


def rule_error(where: str, message: str) -> InvalidRequest:
    """The InvalidRequest for a rule about fields that a request breaks."""
    return InvalidRequest("rule", where, message)


def one_of(names: str) -> Check:
    """One of the names of a table in a text."""
    return choice(*names.split())


def array(item: Check, least: int = 0, most: int | None = None) -> Check:
    """A JSON array of `least` to `most` items, each checked by `item`."""

    def check(value: Any, where: str) -> list[Any]:
        if not isinstance(value, list):
            raise InvalidRequest("type", where, "must be an array", value)
        if len(value) < least or (most is not None and len(value) > most):
            limit = f"{least} or more" if most is None else f"{least} to {most}"
            raise InvalidRequest("value", where, f"must have {limit} items", len(value))
        return [item(member, f"{where}/{position}") for position, member in enumerate(value)]

    return check


def record(
    required: Mapping[str, Check] = _NO_CHECKS,
    optional: Mapping[str, Check] = _NO_CHECKS,
    exactly_one: Collection[Collection[str]] = (),
    at_most_one: Collection[Collection[str]] = (),
) -> Check:
    """A JSON object with the `required` members, perhaps the `optional` ones, and no others.

    Of each group of names in `exactly_one` / `at_most_one` (also listed in `optional`) exactly or at most one may be
    present.
    """

    def check(value: Any, where: str) -> dict[str, Any]:
        for name in check_object(value, where):
            if name not in required and name not in optional:
                raise InvalidRequest("unknown", f"{where}/{name}", f"unknown member {name!r}", name)
        for name in required:
            if name not in value:
                raise InvalidRequest("required", f"{where}/{name}", f"{name!r} is required")
        for group, least in [(group, 1) for group in exactly_one] + [(group, 0) for group in at_most_one]:
            present = [name for name in group if name in value]
            if not present and least:
                raise InvalidRequest(
                    "required", f"{where}/{next(iter(group))}", f"one of {', '.join(group)} is required"
                )
            if len(present) > 1:
                raise InvalidRequest("value", f"{where}/{present[1]}", f"only one of {', '.join(group)} may be given")
        return {
            name: (required[name] if name in required else optional[name])(member, f"{where}/{name}")
            for name, member in value.items()
        }

    return check


def nullable(inner: Check) -> Check:
    """null, or what `inner` accepts."""
    return lambda value, where: None if value is None else inner(value, where)


def json_text(inner: Check) -> Check:
    """A string that holds JSON (Meta's form bodies); answers the decoded and checked value."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, str):
            raise InvalidRequest("type", where, "must be a JSON string", value)
        return inner(parse_json(value, where), where)

    return check


def external_id(pattern: str = r"\S+") -> Check:
    """A well-formed id of something made elsewhere (page, pixel, creative, sku ...).

    It exists, unless it contains `missing`, `ineligible` or `processing`: then it raises InvalidRequest with that word
    as its code. Such test ids need not match the pattern.
    """

    def check(value: Any, where: str) -> str:
        if not isinstance(value, str):
            raise InvalidRequest("type", where, "must be a string", value)
        for word in _EXTERNAL_ID_CODES:
            if word in value.lower():
                raise InvalidRequest(word, where, f"the object is {word}", value)
        if not re.fullmatch(pattern, value):
            raise InvalidRequest("value", where, f"must match {pattern}", value)
        return value

    return check


def _check_bounds(value: int | Decimal, where: str, least: int | Decimal | None, most: int | Decimal | None) -> None:
    if least is not None and value < least:
        raise InvalidRequest("value", where, f"must be {least} or more", value)
    if most is not None and value > most:
        raise InvalidRequest("value", where, f"must be {most} or less", value)
