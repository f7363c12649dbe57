"""Exact JSON: numbers with a fraction are :class:`decimal.Decimal` both ways, never ``float``."""

from __future__ import annotations

import codecs
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import islice
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any

import orjson

Json = Any
"""None, bool, int, Decimal, str, list of Json, dict of str to Json."""
MAX_NUMBER_CHARACTERS = 400
MOST_REPEATED = 100
"""So many members that are named twice are told of."""
MAX_ANSWER_DEPTH = 100
"""Deeper nesting would exhaust the stack of whoever copies or compares an answer."""
MAX_ANSWER_VALUES = 400_000
"""Read, a value takes up to a hundred times the bytes it was written in."""


# -- exact JSON ---------------------------------------------------------------------------------------------------


def _decimal(literal: str) -> Decimal:
    if len(literal) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number is too long")
    try:
        number = Decimal(literal)
    except InvalidOperation:
        raise ValueError("a number is out of range") from None
    if abs(number.adjusted()) > MAX_NUMBER_CHARACTERS:  # 1e999999999 would explode when written out
        raise ValueError("a number is out of range")
    return number


def _integer(literal: str) -> int:
    if len(literal) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number is too long")
    return int(literal)


def _constant(literal: str) -> Json:
    raise ValueError(f"{literal} is not JSON")


class RepeatedMembers(ValueError):
    """An object of the JSON has two members of one name: readers disagree about which one counts.

    ``locations``: every such member by the names and positions from the top.
    """

    def __init__(self, locations: Sequence[tuple[str | int, ...]]) -> None:
        super().__init__("a member is named twice")
        self.locations = locations


class _Pairs(list[tuple[str, Json]]):
    """An object as its members were written."""


class _Repeated(ValueError):
    """A member is named twice; the place is not known yet."""


def _members(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise _Repeated
    return found


_decoder = json.JSONDecoder(
    parse_float=_decimal, parse_int=_integer, parse_constant=_constant, object_pairs_hook=_members
)
_pairs = json.JSONDecoder(object_pairs_hook=_Pairs, parse_int=str, parse_float=str)


def loads(data: bytes | str) -> Json:
    """Read JSON exactly: fractions become Decimal; NaN, Infinity, absurd numbers and bottomless nesting are refused.

    Raises RepeatedMembers where an object names a member twice, and ValueError (also for bytes that are not UTF-8).
    """
    text_ = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    try:
        return _decoder.decode(text_)
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except _Repeated:
        pass
    try:
        raise RepeatedMembers([*islice(_repeated(_pairs.decode(text_)), MOST_REPEATED)])
    except RecursionError:
        raise RepeatedMembers([()]) from None


def _repeated(whole: Json) -> Iterator[tuple[str | int, ...]]:
    """Every member that is named twice, an outer one before those inside it."""
    held: list[tuple[tuple[str | int, ...], Json]] = [((), whole)]
    for at, value in held:  # what is held grows
        if isinstance(value, _Pairs):
            counts = Counter(name for name, _ in value)
            yield from ((*at, name) for name, count in counts.items() if count > 1)
            held += (((*at, name), one) for name, one in value)
        elif isinstance(value, list):
            held += (((*at, position), one) for position, one in enumerate(value))


def _answered(data: bytes) -> Json:
    """As :func:`loads`; too many values and deep nesting are refused too."""
    if len(data) > MAX_ANSWER_VALUES and sum(data.count(one) for one in (b",", b"{", b"[")) > MAX_ANSWER_VALUES:
        raise ValueError("the JSON holds too many values")
    return _shallow(loads(data))


def _shallow(value: Json) -> Json:
    level = [value]
    for _ in range(MAX_ANSWER_DEPTH):
        held = [one for one in level if isinstance(one, dict | list)]
        level = [child for one in held for child in (one.values() if isinstance(one, dict) else one)]
        if not level:
            return value
    raise ValueError("the JSON is nested too deeply")


_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_SORTED = _OPTIONS | orjson.OPT_SORT_KEYS


def dumps(value: Json) -> str:
    """Write JSON in compact form and ASCII, decimals exactly as they are, members in their order."""
    return json_bytes(value).decode("ascii")


def json_bytes(value: Json) -> bytes:
    """As :func:`dumps`, the bytes."""
    return _written(value, _plain, sort_keys=False)


def _plain(number: Decimal) -> str:
    return format(number, "f")


def canonical(value: Json, number: Callable[[Decimal], str] = _plain) -> bytes:
    """Write JSON so that equal values give equal bytes: sorted members, compact, exact decimals, ASCII.

    ``number`` writes a finite decimal.
    """
    return _written(value, number, sort_keys=True)


def quoted(text_: str) -> str:
    """A JSON string literal."""
    return encode_basestring_ascii(text_)


def _written(value: Json, number: Callable[[Decimal], str], sort_keys: bool) -> bytes:
    """By orjson where it can, in a tenth of the time; byte for byte what the standard library's encoder writes."""
    try:
        found = orjson.dumps(value, _fragments(number), _SORTED if sort_keys else _OPTIONS)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, halves of characters, deep nesting, and what is no JSON
        return _written_slowly(value, number, sort_keys)
    if b"null" in found and _endless(value):
        return _written_slowly(value, number, sort_keys)
    if found.isascii() and b"\x7f" not in found:
        return found
    return found.decode().encode("ascii", _ESCAPING).replace(b"\x7f", rb"\u007f")


@cache
def _fragments(number: Callable[[Decimal], str]) -> Callable[[object], orjson.Fragment]:
    return lambda value: orjson.Fragment(_text_of(value, number))


def _text_of(value: object, number: Callable[[Decimal], str]) -> str:
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is not JSON")
    if not value.is_finite():
        raise ValueError("a number is not finite")
    return number(value)


def _endless(value: Json) -> bool:
    """Whether a float in it is no number, for which orjson writes null."""
    held = [value]
    for one in held:  # what is held grows meanwhile
        kind = type(one)
        if kind is dict:
            held += one.values()
        elif kind is list or kind is tuple:
            held += one
        elif kind is float and not isfinite(one):
            return True
    return False


_ESCAPING = "adsunify.escaping"


def _escaped(refused: UnicodeError) -> tuple[str, int]:
    assert isinstance(refused, UnicodeEncodeError)
    return quoted(refused.object[refused.start : refused.end])[1:-1], refused.end


codecs.register_error(_ESCAPING, _escaped)

# Decimals leave the standard library's encoder as marked strings and are unwrapped afterwards. The mark is random per
# process, so no caller can forge it; it never appears in the result.
_mark = secrets.token_hex(16)
_opening = f'"{_mark}'


def _written_slowly(value: Json, number: Callable[[Decimal], str], sort_keys: bool) -> bytes:
    """What is written is a tree (read from JSON, or copied), so no circle is looked for."""
    marked = json.dumps(
        value,
        separators=(",", ":"),
        default=lambda one: _mark + _text_of(one, number),
        allow_nan=False,
        check_circular=False,
        sort_keys=sort_keys,
    )
    first, *others = marked.split(_opening)  # each goes on to the next quotation mark
    return "".join([first, *(one.replace('"', "", 1) for one in others)]).encode("ascii")
