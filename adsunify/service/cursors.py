"""Cursors of our lists: opaque, signed, and valid for one account and one query."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Sequence
from typing import TypeVar

from attrs import frozen

from adsunify.encryption import KeyRing
from adsunify.errors import invalid_input
from adsunify.values.base64url import decode_base64url, encode_base64url
from adsunify.values.exact_json import Json, dumps_bytes, dumps_canonical, loads

Row = TypeVar("Row")
SIGNATURE_BYTES = 16


@frozen
class Position:
    """The start of one of our pages: the cursor of the network's page, and the number of its rows to skip."""

    native_cursor: str | None = None
    rows_shown: int = 0


def page_slice(
    rows: Sequence[Row], following: str | None, position: Position, limit: int
) -> tuple[Sequence[Row], Position | None]:
    """Return the rows of our page and the position of the next page.

    A page of the network may be larger than ours. ``rows`` and ``following`` are the rows and the next cursor of the
    network's page that contains ``position``.
    """
    end = position.rows_shown + limit
    if end < len(rows):
        return rows[position.rows_shown : end], Position(position.native_cursor, end)
    return rows[position.rows_shown :], None if following is None else Position(following)


def encode_cursor(ring: KeyRing, account_id: str, query: Json, position: Position | None) -> str | None:
    """Return the cursor of a position; None at the end."""
    if position is None:
        return None
    raw = dumps_bytes([position.native_cursor, position.rows_shown])
    mark = _sign_cursor(ring.keys[ring.newest_id], account_id, query, raw)
    return encode_base64url(mark + raw)


def decode_cursor(ring: KeyRing, account_id: str, query: Json, cursor: str | None) -> Position:
    """Return the position of a cursor. Raises InvalidInput for a forged cursor or one of another account or query."""
    if cursor is None:
        return Position()
    try:
        whole = decode_base64url(cursor)
        mark, raw = whole[:SIGNATURE_BYTES], whole[SIGNATURE_BYTES:]
        if any(hmac.compare_digest(mark, _sign_cursor(key, account_id, query, raw)) for key in ring.keys.values()):
            return Position(*loads(raw))
    except ValueError:
        pass
    raise invalid_input(
        "cursor", "malformed", "must be the nextCursor of the same list with the same parameters, or left out."
    )


def _sign_cursor(ring_key: bytes, account_id: str, query: Json, raw: bytes) -> bytes:
    text = dumps_canonical([account_id, query]) + b"\x00" + raw
    key = hashlib.sha256(b"cursor" + ring_key).digest()
    return hmac.digest(key, text, "sha256")[:SIGNATURE_BYTES]
