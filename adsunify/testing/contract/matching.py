"""Compares an expectation with a result: named members of objects, whole lists, exact amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import frozen

from adsunify.values.exact_json import Json, dumps, loads

_is_amount = re.compile(r"-?[0-9]{1,40}\.[0-9]{1,20}").fullmatch
_is_integer = re.compile(r"-?[0-9]{1,40}").fullmatch
SIGNED_PARAMETERS = frozenset({"access_token", "appsecret_proof"})
"""Query parameters that signing adds: plans and the requests of flows never have them."""
MOST_CHARACTERS = 400
"""The part of a value that a message shows."""


@frozen
class Difference:
    """A place where the result is not the expected one. ``place`` is a JSON pointer; "" is the whole case."""

    place: str
    expected: str
    actual: str

    def __str__(self) -> str:
        return f"{self.place or '/'}: expected {self.expected}, found {self.actual}"


def make_difference(place: str, expected: object, actual: object) -> Difference:
    """Return a difference of two values, which are shown as JSON."""
    return Difference(place, format_value(expected), format_value(actual))


def format_value(value: object) -> str:
    """Return a value as JSON for a message, cut after 400 characters."""
    try:
        text = dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) < MOST_CHARACTERS else f"{text[:MOST_CHARACTERS]}..."


def compare_values(expected: Json, actual: Json, place: str = "") -> Iterator[Difference]:
    """Yield each place where ``actual`` is not as expected.

    Members that ``expected`` does not name are not compared. A member that is expected to be null may be absent.
    """
    if isinstance(expected, Mapping):
        if not isinstance(actual, Mapping):
            yield make_difference(place, expected, actual)
            return
        for name, value in expected.items():
            if name not in actual and value is not None:
                yield Difference(f"{place}/{name}", format_value(value), "nothing there")
            else:
                yield from compare_values(value, actual.get(name), f"{place}/{name}")
    elif isinstance(expected, list | tuple):
        if not isinstance(actual, list | tuple):
            yield make_difference(place, expected, actual)
        elif len(expected) != len(actual):
            description = f"{len(expected)} elements: {format_value(expected)}"
            yield Difference(place, description, f"{len(actual)}: {format_value(actual)}")
        else:
            for index, (expected_element, element) in enumerate(zip(expected, actual, strict=True)):
                yield from compare_values(expected_element, element, f"{place}/{index}")
    elif not is_same_value(expected, actual):
        yield make_difference(place, expected, actual)


def is_same_value(expected: Json, actual: Json) -> bool:
    """Whether two values without members are the same: numbers and decimal texts by value, all others exactly."""
    if _is_number(expected) and _is_number(actual):
        return Decimal(expected) == Decimal(actual)
    if isinstance(expected, str) and isinstance(actual, str) and (_is_amount(expected) or _is_amount(actual)):
        amount = _parse_amount(expected)
        return expected == actual or (amount is not None and amount == _parse_amount(actual))
    return type(expected) is type(actual) and bool(expected == actual)


def is_same_figure(expected: Json, actual: Json) -> bool:
    """Whether two figures of a report are the same: a number equals its text."""
    amounts = [
        _parse_amount(format(value, "f") if isinstance(value, Decimal) else str(value)) for value in (expected, actual)
    ]
    if expected is None or actual is None or isinstance(expected, bool) or None in amounts:
        return is_same_value(expected, actual)
    return amounts[0] == amounts[1]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _parse_amount(text: str) -> Decimal | None:
    return Decimal(text) if _is_amount(text) or _is_integer(text) else None


# -- requests -----------------------------------------------------------------------------------------------------


def compare_urls(expected: str, actual: str, place: str = "/url") -> Iterator[Difference]:
    """Compare addresses without regard to the order of the query, its encoding, and parameters of signing."""
    if _normalize_url(expected) != _normalize_url(actual):
        yield Difference(place, expected, actual)


def _normalize_url(url: str) -> tuple[str, list[tuple[str, str]]]:
    address = urlsplit(url)
    query = [
        (name, _normalize_json(value))
        for name, value in parse_qsl(address.query, keep_blank_values=True)
        if name not in SIGNED_PARAMETERS
    ]
    return f"{address.scheme}://{address.netloc}{unquote(address.path)}", sorted(query)


def _normalize_json(text: str) -> str:
    """JSON in a query without its blanks."""
    if text[:1] not in "[{":
        return text
    try:
        return dumps(loads(text))
    except ValueError:
        return text


def compare_headers(
    expected: Mapping[str, Json], actual: Mapping[str, str], place: str = "/headers"
) -> Iterator[Difference]:
    """Compare the named headers. The case of names and the parameters of a media type do not count."""
    values = {name.lower(): value for name, value in actual.items()}
    for name, expected_header in expected.items():
        value = values.get(name.lower())
        if value is None or _normalize_header(name, str(expected_header)) != _normalize_header(name, value):
            yield make_difference(f"{place}/{name}", expected_header, value)


def _normalize_header(name: str, value: str) -> str:
    if name.lower() in ("content-type", "accept"):
        return value.partition(";")[0].strip().lower()
    return value.strip()


def compare_bodies(expected: Json, actual: Json, encoding: str, place: str = "/body") -> Iterator[Difference]:
    """Compare request bodies. In a form, a value equals its text, because a form sends both alike."""
    are_forms = encoding in ("form", "form_json", "multipart")
    if are_forms and isinstance(expected, Mapping) and isinstance(actual, Mapping):
        pairs = {name: _convert_form_value(value, actual.get(name)) for name, value in expected.items()}
        yield from compare_values(pairs, actual, place)
    else:
        yield from compare_values(expected, actual, place)


def _convert_form_value(expected: Json, actual: Json) -> Json:
    """Convert the expected value to the type of the actual value if a form body would send both as the same text."""
    if isinstance(expected, str) and actual is not None and not isinstance(actual, str):
        try:
            return loads(expected)
        except ValueError:
            return expected
    if isinstance(actual, str) and _is_number(expected):
        return str(expected)
    if isinstance(actual, str) and isinstance(expected, Mapping | list):
        try:
            return actual if loads(actual) == expected else expected
        except ValueError:
            return expected
    return expected


# -- refusals -----------------------------------------------------------------------------------------------------


def normalize_field_path(path: str) -> str:
    """Return the path of a member with dots and without an envelope such as ``campaign.`` in front."""
    parts = [part for part in re.split(r"[./\[\]]+", path) if part]
    while len(parts) > 1 and parts[0] in ("campaign", "brief", "input", "edit"):
        parts = parts[1:]
    return ".".join(part for part in parts if part != "extras")


def split_words(text: str) -> set[str]:
    """Return the words of a text in lower case."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))
