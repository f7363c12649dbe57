"""How an expectation is held against a result: named members of objects, whole lists, exact amounts."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from decimal import Decimal
from urllib.parse import parse_qsl, unquote, urlsplit

from attrs import frozen

from adsunify.values.exact_json import Json, dumps, loads

_AMOUNT = re.compile(r"-?[0-9]{1,40}\.[0-9]{1,20}").fullmatch
_DIGITS = re.compile(r"-?[0-9]{1,40}").fullmatch
CREDENTIALS = frozenset({"access_token", "appsecret_proof"})
"""Query parameters that signing adds: never in a plan or a flow's request."""


@frozen
class Difference:
    """One place where the result is not what was expected."""

    place: str
    expected: str
    found: str

    def __str__(self) -> str:
        return f"{self.place or '/'}: expected {self.expected}, found {self.found}"


def shown(value: object) -> str:
    """A value for people, bounded."""
    try:
        text = dumps(value)
    except (TypeError, ValueError):
        text = repr(value)
    return text if len(text) < 400 else f"{text[:400]}..."


def differ(place: str, expected: object, found: object) -> Difference:
    return Difference(place, shown(expected), shown(found))


def differences(expected: Json, found: Json, at: str = "") -> Iterator[Difference]:
    """Every place where ``found`` is not as expected. A member expected to be null may be absent."""
    if isinstance(expected, Mapping):
        if not isinstance(found, Mapping):
            yield differ(at, expected, found)
            return
        for name, value in expected.items():
            if name not in found and value is not None:
                yield Difference(f"{at}/{name}", shown(value), "nothing there")
            else:
                yield from differences(value, found.get(name), f"{at}/{name}")
    elif isinstance(expected, list | tuple):
        if not isinstance(found, list | tuple):
            yield differ(at, expected, found)
        elif len(expected) != len(found):
            yield Difference(at, f"{len(expected)} elements: {shown(expected)}", f"{len(found)}: {shown(found)}")
        else:
            for index, (one, other) in enumerate(zip(expected, found, strict=True)):
                yield from differences(one, other, f"{at}/{index}")
    elif not same(expected, found):
        yield differ(at, expected, found)


def same(expected: Json, found: Json) -> bool:
    """Whether two plain values are the same: numbers by value, texts that are amounts by value, else exactly."""
    if _is_number(expected) and _is_number(found):
        return Decimal(expected) == Decimal(found)
    if isinstance(expected, str) and isinstance(found, str) and (_AMOUNT(expected) or _AMOUNT(found)):
        both = [_amount(one) for one in (expected, found)]
        return expected == found or (both[0] is not None and both[0] == both[1])
    return type(expected) is type(found) and bool(expected == found)


def same_figure(expected: Json, found: Json) -> bool:
    """As :func:`same`, a number and its text being one: for figures of reports."""
    both = [_amount(format(one, "f") if isinstance(one, Decimal) else str(one)) for one in (expected, found)]
    if expected is None or found is None or isinstance(expected, bool) or None in both:
        return same(expected, found)
    return both[0] == both[1]


def _is_number(value: Json) -> bool:
    return isinstance(value, int | Decimal) and not isinstance(value, bool)


def _amount(text: str) -> Decimal | None:
    return Decimal(text) if _AMOUNT(text) or _DIGITS(text) else None


# -- requests -----------------------------------------------------------------------------------------------------


def url_differences(expected: str, found: str, at: str = "/url") -> Iterator[Difference]:
    """Addresses: the order of the query and the way of encoding mean nothing; credentials in it are passed over."""
    if _address(expected) != _address(found):
        yield Difference(at, expected, found)


def _address(url: str) -> tuple[str, list[tuple[str, str]]]:
    found = urlsplit(url)
    query = [one for one in parse_qsl(found.query, keep_blank_values=True) if one[0] not in CREDENTIALS]
    return f"{found.scheme}://{found.netloc}{unquote(found.path)}", sorted((name, _plain(one)) for name, one in query)


def _plain(text: str) -> str:
    """JSON in a query without the blanks that somebody may have written into it."""
    if text[:1] not in "[{":
        return text
    try:
        return dumps(loads(text))
    except ValueError:
        return text


def header_differences(
    expected: Mapping[str, Json], found: Mapping[str, str], at: str = "/headers"
) -> Iterator[Difference]:
    """The named headers, in any case of letters; parameters of a media type (``; charset=``) mean nothing."""
    lower = {name.lower(): value for name, value in found.items()}
    for name, value in expected.items():
        other = lower.get(name.lower())
        if other is None or _header(name, str(value)) != _header(name, other):
            yield differ(f"{at}/{name}", value, other)


def _header(name: str, value: str) -> str:
    if name.lower() in ("content-type", "accept"):
        return value.partition(";")[0].strip().lower()
    return value.strip()


def body_differences(expected: Json, found: Json, encoding: str, at: str = "/body") -> Iterator[Difference]:
    """Bodies. In a form, a value and its text are one: that is what goes over the wire."""
    if encoding in ("form", "form_json", "multipart") and isinstance(expected, Mapping) and isinstance(found, Mapping):
        pairs = {name: _as_sent(value, found.get(name)) for name, value in expected.items()}
        yield from differences(pairs, found, at)
    else:
        yield from differences(expected, found, at)


def _as_sent(expected: Json, found: Json) -> Json:
    if isinstance(expected, str) and found is not None and not isinstance(found, str):
        try:
            return loads(expected)
        except ValueError:
            return expected
    if isinstance(found, str) and _is_number(expected):
        return str(expected)
    if isinstance(found, str) and isinstance(expected, Mapping | list):
        try:
            return found if loads(found) == expected else expected
        except ValueError:
            return expected
    return expected


# -- refusals -----------------------------------------------------------------------------------------------------


def field_path(path: str) -> str:
    """The path of a member as refusals name it: dots, no envelope in front."""
    parts = [part for part in re.split(r"[./\[\]]+", path) if part]
    while len(parts) > 1 and parts[0] in ("campaign", "brief", "input", "edit"):
        parts = parts[1:]
    return ".".join(part for part in parts if part != "extras")


def words_of(text: str) -> set[str]:
    """The words of a text, lower case."""
    return set(re.findall(r"[a-z0-9]+", text.lower()))
