"""Strict parsing of requests and exact JSON: no number passes through a binary float."""

import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, NoReturn, TypeVar
from urllib.parse import parse_qsl

_Value = TypeVar("_Value")


class InvalidRequest(Exception):
    """A request is wrong. `Network.format_error` turns this into the native error.

    Attributes:
        code: a code from the list in `adsunify.sandbox`, or one of the network.
        where: a JSON pointer into the body, or the name of a header or parameter.
        message: a sentence for people.
        value: the wrong value, for native errors that contain it.
    """

    def __init__(self, code: str, where: str, message: str, value: Any = None) -> None:
        super().__init__(f"{code} at {where or '/'}: {message}")
        self.code = code
        self.where = where
        self.message = message
        self.value = value

    def format_sentence(self) -> str:
        """Return the place, with dots between its members, and the message."""
        place = self.where.strip("/").replace("/", ".")
        return f"{place}: {self.message}" if place else self.message


def parse_json(content: bytes | str, where: str = "") -> Any:
    """Parse JSON to Python values; numbers are `int` or `Decimal`.

    Raises InvalidRequest `unreadable` or `duplicate` at `where`.
    """

    def members(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        values: dict[str, Any] = {}
        for name, value in pairs:
            if name in values:
                raise InvalidRequest("duplicate", f"{where}/{name}", f"member {name!r} appears twice")
            values[name] = value
        return values

    def reject_constant(name: str) -> NoReturn:
        raise InvalidRequest("unreadable", where, f"{name} is not JSON")

    try:
        text = content.decode() if isinstance(content, bytes) else content
        return json.loads(text, object_pairs_hook=members, parse_float=Decimal, parse_constant=reject_constant)
    except (ValueError, RecursionError) as error:
        raise InvalidRequest("unreadable", where, "not valid JSON") from error


def parse_pairs(text: str) -> tuple[tuple[str, str], ...]:
    """Return name and value of every member of a query string or form, in order. Raises InvalidRequest `unreadable`."""
    try:
        return tuple(parse_qsl(text, keep_blank_values=True, strict_parsing=True, errors="strict"))
    except ValueError as error:
        raise InvalidRequest("unreadable", "", "not valid form encoding") from error


def parse_form(content: bytes) -> dict[str, str]:
    """Return the members of a form body. Raises InvalidRequest `unreadable` or `duplicate`."""
    try:
        pairs = parse_pairs(content.decode("ascii"))
    except UnicodeDecodeError as error:
        raise InvalidRequest("unreadable", "", "a form body is percent-encoded ASCII") from error
    return require_unique_names(pairs)


def require_unique_names(pairs: tuple[tuple[str, str], ...]) -> dict[str, str]:
    """Return pairs as a dict. Raises InvalidRequest `duplicate` if a name appears twice."""
    values: dict[str, str] = {}
    for name, value in pairs:
        if name in values:
            raise InvalidRequest("duplicate", f"/{name}", f"{name!r} appears twice")
        values[name] = value
    return values


_encode = json.JSONEncoder(ensure_ascii=False).encode


def serialize_json(value: Any) -> str:
    """Return the JSON text of dicts, lists, strings, booleans, None, ints and Decimals. A float is a TypeError."""
    match value:
        case str():
            return _encode(value)
        case None | bool() | int():
            return json.dumps(value)
        case Decimal():
            return format(value, "f")
        case Mapping():
            return (
                "{"
                + ",".join(f"{_serialize_name(name)}:{serialize_json(member)}" for name, member in value.items())
                + "}"
            )
        case list() | tuple():
            return "[" + ",".join(map(serialize_json, value)) + "]"
    raise TypeError(f"{type(value).__name__} cannot be part of a response")


def _serialize_name(name: Any) -> str:
    if not isinstance(name, str):
        raise TypeError("member names are strings")
    return _encode(name)


def split_words(table: str) -> tuple[str, ...]:
    """Return the words of a text, which blanks and line ends separate."""
    return tuple(table.split())


def fill_keys(value: _Value, names: str) -> dict[str, _Value]:
    """Return a dict in which all names of a text have the same value."""
    return dict.fromkeys(names.split(), value)


def parse_names(table: str) -> dict[str, str]:
    """Return names by code from a text of entries `code name`, which commas separate."""
    entries = (entry.split(None, 1) for entry in table.split(","))
    return {code: name.strip() for code, name in entries}


def make_rows(names: str, *rows: tuple[Any, ...]) -> tuple[dict[str, Any], ...]:
    """Return rows of values as dicts with the names of a text. Raises ValueError if a row has another length."""
    return tuple(dict(zip(names.split(), row, strict=True)) for row in rows)
