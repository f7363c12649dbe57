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
    """Accept any value."""
    del where
    return value


def text(least: int = 1, most: int | None = None, pattern: str | None = None) -> Check:
    """Check a string of `least` to `most` characters that matches `pattern` as a whole."""

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
    """Check a string of `least` to `most` characters that has a visible character.

    Blanks, control characters and zero-width characters are not visible.
    """
    inner = text(least, most)

    def check(value: Any, where: str) -> str:
        content: str = inner(value, where)
        if all(unicodedata.category(character)[0] in "ZC" for character in content):
            raise InvalidRequest("value", where, "must hold a character that can be seen", value)
        return content

    return check


def country_code(value: Any, where: str) -> str:
    """Check a country of ISO 3166-1 alpha-2 in capital letters: GB, but not UK, XX or ZZ."""
    code: str = text(2, 2)(value, where)
    if code not in COUNTRIES:
        raise InvalidRequest("value", where, "must be a country code of ISO 3166-1 alpha-2", value)
    return code


def integer(least: int | None = None, most: int | None = None) -> Check:
    """Check a JSON integer."""

    def check(value: Any, where: str) -> int:
        if not isinstance(value, int) or isinstance(value, bool):
            raise InvalidRequest("type", where, "must be an integer", value)
        _check_bounds(value, where, least, most)
        return value

    return check


def integer_text(least: int | None = None, most: int | None = None) -> Check:
    """Check an integer that is written as a string of digits, and return the `int`.

    Forms and the int64 of protobuf JSON have integers in this form.
    """

    def check(value: Any, where: str) -> int:
        if not isinstance(value, str) or not re.fullmatch(r"-?(0|[1-9][0-9]{0,18})", value):
            raise InvalidRequest("type", where, "must be an integer as a string of digits", value)
        _check_bounds(int(value), where, least, most)
        return int(value)

    return check


def number(least: int | Decimal | None = None, most: int | Decimal | None = None, places: int | None = None) -> Check:
    """Check a JSON number with at most `places` digits after the point, and return a `Decimal`."""

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
    """Check a JSON boolean."""
    if not isinstance(value, bool):
        raise InvalidRequest("type", where, "must be true or false", value)
    return value


def choice(*choices: Any) -> Check:
    """Check that the value is one of the given constants and has the same type."""

    def check(value: Any, where: str) -> Any:
        if not any(type(value) is type(choice_value) and value == choice_value for choice_value in choices):
            raise InvalidRequest("value", where, f"must be one of {', '.join(map(str, choices))}", value)
        return value

    return check


def check_object(value: Any, where: str) -> dict[str, Any]:
    """Check a JSON object with any members."""
    if not isinstance(value, dict):
        raise InvalidRequest("type", where, "must be an object", value)
    return value


def boolean_text(value: Any, where: str) -> bool:
    """Check true or false as the text of a query parameter, and return a `bool`."""
    return bool(choice("true", "false")(value, where) == "true")


def comma_separated(item: Check) -> Check:
    """Check each value of a comma-separated text with `item`, and return the list of the checked values."""
    return lambda value, where: [item(part, where) for part in str(value).split(",")]


def rule_error(where: str, message: str) -> InvalidRequest:
    """Make the InvalidRequest for fields that break a rule."""
    return InvalidRequest("rule", where, message)


def one_of(names: str) -> Check:
    """Check that the value is one of the names in a text that separates them by blanks."""
    return choice(*names.split())


def array(item: Check, least: int = 0, most: int | None = None) -> Check:
    """Check a JSON array of `least` to `most` items, each with `item`."""

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
    """Check a JSON object with the `required` members and any of the `optional` ones, but no others.

    `exactly_one` and `at_most_one` are groups of names that `optional` contains as well. Exactly one or at most one
    name of each group may be present.
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
    """Accept null, and what `inner` accepts."""
    return lambda value, where: None if value is None else inner(value, where)


def json_text(inner: Check) -> Check:
    """Check a string that contains JSON (Meta's form bodies), and return the decoded value that `inner` returns."""

    def check(value: Any, where: str) -> Any:
        if not isinstance(value, str):
            raise InvalidRequest("type", where, "must be a JSON string", value)
        return inner(parse_json(value, where), where)

    return check


def external_id(pattern: str = r"\S+") -> Check:
    """Check the form of an id of an object that is made elsewhere (page, pixel, creative, sku and so on).

    The object exists, unless the id contains `missing`, `ineligible` or `processing`. If it does, InvalidRequest has
    this word as its code, and the id need not match the pattern.
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
