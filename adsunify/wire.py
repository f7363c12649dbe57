"""What goes over the wire, as data: requests, responses, exact JSON, and pointers into it.

Nothing here opens a socket. JSON numbers with a fraction are :class:`decimal.Decimal` both ways, never ``float``.
Answers of a network are hostile input: they are read only through the pointer functions (:func:`read`, :func:`need`,
:func:`ident`, :func:`text`, :func:`rows`), which raise :class:`~adsunify.errors.ProviderUnreadable`.
"""

from __future__ import annotations

import codecs
import json
import secrets
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from functools import cache, lru_cache
from itertools import islice
from json.encoder import encode_basestring_ascii
from math import isfinite
from operator import itemgetter
from typing import Any, Literal, TypeVar
from urllib.parse import quote

import orjson
from attrs import field, frozen

from .errors import ProviderUnreadable

Json = Any
"""None, bool, int, Decimal, str, list of Json, dict of str to Json."""

MAX_ANSWER_BYTES = 32 * 1024 * 1024
MAX_NUMBER_CHARACTERS = 400
MOST_REPEATED = 100
"""So many members that are named twice are told of."""
MAX_ANSWER_DEPTH = 100
"""Deeper nesting would exhaust the stack of whoever copies or compares an answer."""
MAX_ANSWER_VALUES = 400_000
"""Read, a value takes up to a hundred times the bytes it was written in."""

Encoding = Literal["none", "json", "form", "form_json", "multipart"]
Nature = Literal["read", "read_once", "write"]
Answer = Literal["json", "bytes"]
BodyState = Literal["json", "empty", "unreadable", "bytes"]


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


# -- requests and responses ---------------------------------------------------------------------------------------


@frozen
class Request:
    """One native HTTP request, as data.

    ``url`` is a template: ``{slot}`` is filled from ``path``, percent-encoded. ``body`` is the decoded value; bytes are
    made when it is sent: ``json``; ``form`` (flat strings); ``form_json`` (form whose objects, arrays and booleans are
    JSON strings, Meta); ``multipart``. ``nature`` says what it is, which the method does not: ``read`` may be repeated,
    ``read_once`` may not, ``write`` changes the account. ``query_raw`` is an already encoded query (Rest.li).
    ``answer`` is what the body of the answer is. ``signed`` false: no credentials are ever added (foreign downloads).
    """

    method: str
    url: str
    path: Mapping[str, str] = field(factory=dict)
    query: Mapping[str, str] = field(factory=dict)
    headers: Mapping[str, str] = field(factory=dict)
    body: Json = None
    encoding: Encoding = "none"
    nature: Nature = "read"
    query_raw: str | None = None
    answer: Answer = "json"
    signed: bool = True

    def to_json(self) -> dict[str, Json]:
        """As JSON, defaults left out."""
        value: dict[str, Json] = {"method": self.method, "url": self.url}
        if self.path:
            value["path"] = dict(self.path)
        if self.query:
            value["query"] = dict(self.query)
        if self.headers:
            value["headers"] = dict(self.headers)
        if self.encoding != "none":
            value["encoding"] = self.encoding
            value["body"] = self.body
        if self.nature != "read":
            value["nature"] = self.nature
        if self.query_raw is not None:
            value["queryRaw"] = self.query_raw
        if self.answer != "json":
            value["answer"] = self.answer
        if not self.signed:
            value["signed"] = False
        return value

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Request:
        return cls(
            method=value["method"],
            url=value["url"],
            path=value.get("path", {}),
            query=value.get("query", {}),
            headers=value.get("headers", {}),
            body=value.get("body"),
            encoding=value.get("encoding", "none"),
            nature=value.get("nature", "read"),
            query_raw=value.get("queryRaw"),
            answer=value.get("answer", "json"),
            signed=value.get("signed", True),
        )


_ENCODED = {code: quote(chr(code), safe="") for code in range(128)}


def filled(request: Request) -> str:
    """The request's address with its path and query values, percent-encoded."""
    return address(request.url, request.path, request.query, request.query_raw)


def address(url: str, path: Mapping[str, str], query: Mapping[str, str], query_raw: str | None = None) -> str:
    """As :func:`filled`, from the members that make the address of a request."""
    for slot, value in path.items():
        url = url.replace("{" + slot + "}", _encoded(value))
    if query_raw is None:
        query_raw = "&".join([f"{_encoded(name)}={_encoded(str(value))}" for name, value in query.items()])
    return f"{url}?{query_raw}" if query_raw else url


def _encoded(text_: str) -> str:
    if not text_.isascii():
        return quote(text_, safe="")
    return text_ if text_.isalnum() else text_.translate(_ENCODED)


@frozen
class Response:
    """What came back: ``headers`` in lower case; ``body`` is parsed JSON, bytes (``state`` = "bytes"), or None.

    ``state`` "empty": no body at all. "unreadable": not the JSON it should be; ``body`` is then a short text of why.
    ``size``: bytes of the body, inflated.
    """

    status: int
    headers: Mapping[str, str] = field(factory=dict)
    body: Json = None
    state: BodyState = "json"
    size: int = field(default=0, eq=False)

    @classmethod
    def of(cls, status: int, headers: Mapping[str, str], content: bytes, answer: Answer = "json") -> Response:
        """Read the bytes of an answer."""
        lower = {name.lower(): value for name, value in headers.items()}
        size = len(content)
        if size > MAX_ANSWER_BYTES:
            return cls(status, lower, f"larger than {MAX_ANSWER_BYTES} bytes", "unreadable", size)
        if not content.strip():
            return cls(status, lower, None, "empty", size)
        if answer == "bytes" and status < 300:
            return cls(status, lower, content, "bytes", size)
        try:
            return cls(status, lower, _answered(content), "json", size)
        except ValueError as reason:
            return cls(status, lower, f"not JSON: {str(reason)[:80]}", "unreadable", size)

    @property
    def ok(self) -> bool:
        """A 2xx status with a readable body, or none."""
        return 200 <= self.status < 300 and self.state != "unreadable"


@frozen
class Wait:
    """A flow asks to pause: ``seconds``, and why."""

    seconds: float
    why: str


Result = TypeVar("Result")
Flow = Generator[Request | Wait, Response, Result]
"""A read, or the reads before a plan: yields requests and waits, receives responses, returns its result."""


# -- pointers -----------------------------------------------------------------------------------------------------
# RFC 6901 ("/data/0/id"), with one addition: "*" stands for every element of a list or object (used by outputs only).

MISSING: Any = object()


@lru_cache(4096)
def parts(pointer: str) -> tuple[str, ...]:
    """The members of a pointer."""
    if not pointer:
        return ()
    return tuple(part.replace("~1", "/").replace("~0", "~") for part in pointer[1:].split("/"))


def _member(value: Json, part: str) -> Json:
    if isinstance(value, Mapping):
        return value.get(part, MISSING)
    if isinstance(value, Sequence) and not isinstance(value, str | bytes) and part.isascii() and part.isdigit():
        return value[int(part)] if len(part) < 9 and int(part) < len(value) else MISSING
    return MISSING


def read(value: Json, pointer: str, default: Json = None) -> Json:
    """What stands at the pointer, or ``default``. Never raises."""
    for part in parts(pointer):
        value = value.get(part, MISSING) if type(value) is dict else _member(value, part)
        if value is MISSING:
            return default
    return value


def put(value: Json, pointer: str, new: Json) -> None:
    """Set what stands at the pointer; objects on the way are made, a list position must exist or be the next one."""
    *way, last = parts(pointer)
    for part in way:
        value = value[int(part)] if isinstance(value, list) else value.setdefault(part, {})
    if isinstance(value, list):
        position = int(last)
        if position == len(value):
            value.append(new)
        else:
            value[position] = new
    else:
        value[last] = new


def need(value: Json, pointer: str, what: str = "answer") -> Json:
    """What stands at the pointer; its absence (or null) makes the answer unreadable."""
    found = read(value, pointer)
    if found is None:
        raise ProviderUnreadable(f"The {what} has no {pointer or 'body'}.")
    return found


def identifier(found: Json) -> str | None:
    """An id as digits or text: a non-empty string that can be sent, or an integer's digits; anything else is None."""
    if isinstance(found, str):
        sendable = found.isascii() or not any("\ud800" <= letter <= "\udfff" for letter in found)
        return found if found and sendable else None
    if isinstance(found, int) and not isinstance(found, bool):
        return str(found)
    return None


def ident(value: Json, pointer: str, what: str = "answer") -> str:
    """An id at the pointer, as a string."""
    found = identifier(need(value, pointer, what))
    if found is None:
        raise ProviderUnreadable(f"The {what} has no id at {pointer}.")
    return found


def text(value: Json, pointer: str, default: str | None = None) -> str | None:
    """A string at the pointer; numbers become their text, anything else ``default``."""
    found = read(value, pointer)
    if isinstance(found, str):
        return found
    if isinstance(found, int | Decimal) and not isinstance(found, bool):
        return format(found, "f") if isinstance(found, Decimal) else str(found)
    return default


def rows(value: Json, pointer: str, what: str = "answer") -> list[Mapping[str, Json]]:
    """A list of objects at the pointer; absent is an empty list, anything else unreadable."""
    found = read(value, pointer)
    if found is None:
        return []
    if not isinstance(found, list) or not all(isinstance(row, (dict, Mapping)) for row in found):
        raise ProviderUnreadable(f"The {what} has no list of objects at {pointer or 'its top'}.")
    return found


class Columns:
    """What stands at pointers in many rows: a list for each pointer, with a value for each row, made when asked for."""

    def __init__(self, rows: list[Mapping[str, Json]]) -> None:
        self.rows = rows
        self._kept: dict[Any, list[Json]] = {"": rows}

    def at(self, pointer: str) -> list[Json]:
        """What stands at the pointer in each row, None where nothing does."""
        if pointer not in self._kept:
            self._kept[pointer] = self._read(pointer)
        return self._kept[pointer]

    def _read(self, pointer: str) -> list[Json]:
        above, member = self.at(pointer.rpartition("/")[0]), parts(pointer)[-1]
        try:
            return list(map(itemgetter(member), above))
        except (LookupError, TypeError):  # not in all of them
            pass
        try:
            return [None if one is None else one.get(member) for one in above]
        except AttributeError:  # not objects, all of them
            return [read(row, pointer) for row in self.rows]

    def made(self, pointer: str, make: Callable[[Json], Json]) -> list[Json]:
        """What is made of that for each row."""
        if (pointer, make) not in self._kept:
            self._kept[pointer, make] = list(map(make, self.at(pointer)))
        return self._kept[pointer, make]


def found_at(value: Json, pointer: str) -> list[Json]:
    """All values a pointer with ``*`` finds, in order."""
    values = [value]
    for part in parts(pointer):
        if part == "*":
            values = [
                child
                for one in values
                for child in (one if isinstance(one, list) else one.values() if isinstance(one, dict | Mapping) else ())
            ]
        else:
            values = [
                child
                for one in values
                if (child := one.get(part, MISSING) if type(one) is dict else _member(one, part)) is not MISSING
            ]
    return values
