"""How an answer is written: what :func:`adsunify.wire.dumps` writes, byte for byte, in a quarter of the time."""

from __future__ import annotations

import codecs
from decimal import Decimal

import orjson

from adsunify.wire import Json, dumps, quoted

_ESCAPING = "adsunify.escaping"
_JSON_ONLY = orjson.OPT_PASSTHROUGH_DATACLASS | orjson.OPT_PASSTHROUGH_DATETIME


def written(value: Json) -> bytes:
    """JSON in compact form, decimals exactly as they are, in ASCII."""
    try:
        found = orjson.dumps(value, _decimal, _JSON_ONLY)
    except orjson.JSONEncodeError:  # integers beyond 64 bits, halves of characters, deep nesting, and what is no JSON
        return dumps(value).encode("ascii")
    if found.isascii() and b"\x7f" not in found:
        return found
    return found.decode().encode("ascii", _ESCAPING).replace(b"\x7f", rb"\u007f")


def _decimal(value: object) -> orjson.Fragment:
    if isinstance(value, Decimal):
        return orjson.Fragment(dumps(value))
    raise TypeError(f"{type(value).__name__} is not JSON")


def _escaped(refused: UnicodeError) -> tuple[str, int]:
    assert isinstance(refused, UnicodeEncodeError)
    return quoted(refused.object[refused.start : refused.end])[1:-1], refused.end


codecs.register_error(_ESCAPING, _escaped)
