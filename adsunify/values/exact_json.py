"""Exact JSON: numbers with a fraction are read and written as :class:`decimal.Decimal`, never as ``float``."""

from __future__ import annotations

import codecs
import json
import secrets
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache
from itertools import chain, islice
from json.encoder import encode_basestring_ascii
from math import isfinite
from typing import Any

import orjson

Json = Any
"""None, bool, int, Decimal, str, list of Json, dict of str to Json."""
MAX_NUMBER_CHARACTERS = 400
MAX_REPEATED_MEMBERS = 100
"""The maximum number of repeated members that one error reports."""
MAX_RESPONSE_DEPTH = 100
"""The maximum nesting of a response. Code that copies or compares deeper JSON would exhaust the stack."""
MAX_RESPONSE_VALUES = 400_000
"""The maximum number of values of a response. A parsed value takes up to a hundred times the bytes of its text."""


# -- exact JSON ---------------------------------------------------------------------------------------------------


def _parse_decimal(literal: str) -> Decimal:
    if len(literal) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number is too long")
    try:
        number = Decimal(literal)
    except InvalidOperation:
        raise ValueError("a number is out of range") from None
    if ("e" in literal or "E" in literal) and _count_plain_characters(number) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number is out of range")
    return number


def _count_plain_characters(number: Decimal) -> int:
    """Return an upper bound of the characters of a number in plain notation.

    There, 1e999999999 has a billion digits.
    """
    return max(0, number.adjusted()) + max(0, -int(number.as_tuple().exponent)) + len("-0.")


def _parse_integer(literal: str) -> int:
    if len(literal) > MAX_NUMBER_CHARACTERS:
        raise ValueError("a number is too long")
    return int(literal)


def _reject_constant(literal: str) -> Json:
    raise ValueError(f"{literal} is not JSON")


class RepeatedMembers(ValueError):
    """An object has two members of the same name. JSON parsers disagree about which one counts.

    ``locations``: the path of each such member, as names and list positions from the top.
    """

    def __init__(self, locations: Sequence[tuple[str | int, ...]]) -> None:
        super().__init__("a member is named twice")
        self.locations = locations


class _MemberPairs(list[tuple[str, Json]]):
    """The members of an object in the order of the text, with duplicates."""


class _RepeatedMember(ValueError):
    """An object has two members of the same name. Its path is not known yet."""


def _build_object(pairs: list[tuple[str, Json]]) -> dict[str, Json]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise _RepeatedMember
    return members


_strict_decoder = json.JSONDecoder(
    parse_float=_parse_decimal,
    parse_int=_parse_integer,
    parse_constant=_reject_constant,
    object_pairs_hook=_build_object,
)
_exact_decoder = json.JSONDecoder(parse_float=_parse_decimal)
"""The decoder for text with unique members that orjson has accepted. Its integers have at most 309 digits."""
_pairs_decoder = json.JSONDecoder(object_pairs_hook=_MemberPairs, parse_int=str, parse_float=str)


def loads(data: bytes | str) -> Json:
    """Parse JSON exactly: numbers with a fraction become Decimal.

    Raises:
        RepeatedMembers: an object has two members of the same name.
        ValueError: the text is not JSON or not UTF-8, is nested too deeply, or has NaN, Infinity, or a number of more
            than 400 characters.
    """
    return _load(data)[0]


def _load(data: bytes | str) -> tuple[Json, int]:
    """Parse JSON as :func:`loads` does. Returns the value, and how deeply it is nested: 0 without containers.

    orjson parses two to five times as fast, but rounds numbers and drops one of two members of the same name. So its
    value is used only if the text certainly has no fractions, large numbers or repeated members.
    """
    try:
        content = data if isinstance(data, bytes) else data.encode()
        value = orjson.loads(content)
        if not _has_unique_members(content, value):
            return _load_slowly(data)
    except ValueError:  # not JSON, or a byte order mark, a lone surrogate or a number that orjson does not accept
        return _load_slowly(data)
    depth, has_floats = _survey(value)
    return (_exact_decoder.decode(content.decode()) if has_floats else value), depth


def _load_slowly(data: bytes | str) -> tuple[Json, int]:
    text_ = data.decode("utf-8-sig") if isinstance(data, bytes) else data
    try:
        value = _strict_decoder.decode(text_)
        return value, _survey(value)[0]
    except RecursionError:
        raise ValueError("the JSON is nested too deeply") from None
    except _RepeatedMember:
        pass
    try:
        raise RepeatedMembers([*islice(_find_repeated_members(_pairs_decoder.decode(text_)), MAX_REPEATED_MEMBERS)])
    except RecursionError:
        raise RepeatedMembers([()]) from None


def _survey(value: Json) -> tuple[int, bool]:
    """Return how deeply a value is nested, and whether it has floats."""
    depth, has_floats = 0, False
    level = [value]
    while True:
        kinds = set(map(type, level))
        has_floats = has_floats or float in kinds
        if kinds.isdisjoint((dict, list)):
            return depth, has_floats
        depth += 1
        objects = [item for item in level if type(item) is dict] if kinds != {dict} else level
        arrays = [item for item in level if type(item) is list] if list in kinds else []
        level = [*chain.from_iterable(map(dict.values, objects)), *chain.from_iterable(arrays)]


def is_unambiguous(text_: bytes | bytearray) -> bool:
    r"""Whether JSON text certainly has no U+0000 and no object with two members of the same name.

    After False, :func:`loads` must decide.
    """
    if b"\\" in text_ and b"\\u0000" in text_:
        return False
    try:
        return _has_unique_members(text_, orjson.loads(text_))
    except orjson.JSONDecodeError:  # pydantic accepts larger numbers
        return False


def _has_unique_members(text_: bytes | bytearray, value: Json) -> bool:
    r"""Whether no object of the text certainly has two members of the same name.

    ``value``: the value that orjson parsed. orjson keeps only the last one of two such members, so the text then has
    more colons than its value. Only an escaped colon (``\u003a``) could make up for them.
    """
    if b"\\" in text_ and b"\\u003" in text_:  # a search for one byte is much faster
        return False
    try:
        return text_.count(b":") == orjson.dumps(value).count(b":")
    except orjson.JSONEncodeError:  # nested too deeply
        return False


def _find_repeated_members(whole: Json) -> Iterator[tuple[str | int, ...]]:
    """Yield the path of every member that occurs twice in its object, outer members first."""
    pending: list[tuple[tuple[str | int, ...], Json]] = [((), whole)]
    for at, value in pending:  # the loop appends to the list
        if isinstance(value, _MemberPairs):
            counts = Counter(name for name, _ in value)
            yield from ((*at, name) for name, count in counts.items() if count > 1)
            pending += (((*at, name), member) for name, member in value)
        elif isinstance(value, list):
            pending += (((*at, position), member) for position, member in enumerate(value))


def parse_response_json(data: bytes) -> Json:
    """Parse JSON as :func:`loads` does. Too many values and deep nesting are refused as well."""
    if len(data) > MAX_RESPONSE_VALUES and sum(data.count(mark) for mark in (b",", b"{", b"[")) > MAX_RESPONSE_VALUES:
        raise ValueError("the JSON holds too many values")
    value, depth = _load(data)
    if depth > MAX_RESPONSE_DEPTH:
        raise ValueError("the JSON is nested too deeply")
    return value


_DUMP_OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_SUBCLASS
_SORTED_DUMP_OPTIONS = _DUMP_OPTIONS | orjson.OPT_SORT_KEYS


def dumps(value: Json) -> str:
    """Serialize JSON compactly in ASCII, with exact decimals, and members in their order."""
    return dumps_bytes(value).decode("ascii")


def dumps_bytes(value: Json) -> bytes:
    """Serialize JSON as :func:`dumps` does, to bytes."""
    return _encode_json(value, _format_decimal, sort_keys=False)


def _format_decimal(number: Decimal) -> str:
    return format(number, "f")


def dumps_canonical(value: Json, number: Callable[[Decimal], str] = _format_decimal) -> bytes:
    """Serialize JSON so that equal values give equal bytes: sorted members, compact, exact decimals, ASCII.

    ``number`` formats a finite decimal.
    """
    return _encode_json(value, number, sort_keys=True)


def quote_string(text_: str) -> str:
    """Return the JSON string literal of a text."""
    return encode_basestring_ascii(text_)


def _encode_json(value: Json, number: Callable[[Decimal], str], sort_keys: bool) -> bytes:
    """Serialize with orjson if it can, else with the standard library, which takes ten times as long.

    Both give the same bytes.
    """
    try:
        encoded = orjson.dumps(
            value, _make_fragment_writer(number), _SORTED_DUMP_OPTIONS if sort_keys else _DUMP_OPTIONS
        )
    except orjson.JSONEncodeError:  # integers beyond 64 bits, lone surrogates, deep nesting, or not JSON
        return _encode_json_slowly(value, number, sort_keys)
    if b"null" in encoded and _has_nonfinite_float(value):
        return _encode_json_slowly(value, number, sort_keys)
    if encoded.isascii() and b"\x7f" not in encoded:
        return encoded
    return encoded.decode().encode("ascii", _ESCAPE_HANDLER).replace(b"\x7f", rb"\u007f")


@cache
def _make_fragment_writer(number: Callable[[Decimal], str]) -> Callable[[object], orjson.Fragment]:
    return lambda value: orjson.Fragment(_format_number(value, number))


def _format_number(value: object, number: Callable[[Decimal], str]) -> str:
    if not isinstance(value, Decimal):
        raise TypeError(f"{type(value).__name__} is not JSON")
    if not value.is_finite():
        raise ValueError("a number is not finite")
    return number(value)


def _has_nonfinite_float(value: Json) -> bool:
    """Whether the value contains a float NaN or infinity, for which orjson writes null."""
    pending = [value]
    for part in pending:  # the loop appends to the list
        kind = type(part)
        if kind is dict:
            pending += part.values()
        elif kind is list or kind is tuple:
            pending += part
        elif kind is float and not isfinite(part):
            return True
    return False


_ESCAPE_HANDLER = "adsunify.escaping"


def _escape_unencodable(refused: UnicodeError) -> tuple[str, int]:
    assert isinstance(refused, UnicodeEncodeError)
    return quote_string(refused.object[refused.start : refused.end])[1:-1], refused.end


codecs.register_error(_ESCAPE_HANDLER, _escape_unencodable)

# The standard library's encoder writes decimals as marked strings, which are unwrapped afterwards. The mark is random
# per process, so no caller can forge it. It never appears in the result.
_decimal_mark = secrets.token_hex(16)
_decimal_mark_prefix = f'"{_decimal_mark}'


def _encode_json_slowly(value: Json, number: Callable[[Decimal], str], sort_keys: bool) -> bytes:
    """Serialize with the standard library. The value is a tree, so the encoder does not look for cycles."""
    marked = json.dumps(
        value,
        separators=(",", ":"),
        default=lambda piece: _decimal_mark + _format_number(piece, number),
        allow_nan=False,
        check_circular=False,
        sort_keys=sort_keys,
    )
    first, *pieces = marked.split(_decimal_mark_prefix)  # each piece begins with a number and a quotation mark
    return "".join([first, *(piece.replace('"', "", 1) for piece in pieces)]).encode("ascii")
