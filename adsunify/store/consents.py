"""Single-use tokens: hosted links, OAuth states, and states of agents' requests. Only their hashes are stored."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from attrs import frozen
from sqlalchemy import Connection, bindparam, insert, select, update

from adsunify.values.exact_json import Json

from .clock import Clock
from .schema import consents

Purpose = Literal["link", "state", "request"]


@frozen
class ConsentRecord:
    """A single-use token. ``data``: data of the caller that created the token. Times are in milliseconds since 1970."""

    token_hash: str
    purpose: Purpose
    workspace_id: str
    user_id: str
    network: str
    data: Mapping[str, Json]
    created_at: int
    expires_at: int
    used_at: int | None


_INSERT = insert(consents)
_USE = (
    update(consents)
    .where(
        consents.c.token_hash == bindparam("the_hash"),
        consents.c.purpose == bindparam("for_purpose"),
        consents.c.used_at.is_(None),
        consents.c.expires_at > bindparam("now"),
    )
    .values(used_at=bindparam("now"))
    .returning(consents)
)

_FIND = select(consents).where(
    consents.c.token_hash == bindparam("the_hash"),
    consents.c.purpose == bindparam("for_purpose"),
    consents.c.used_at.is_(None),
    consents.c.expires_at > bindparam("now"),
)
_OPEN = select(consents).where(
    consents.c.purpose == bindparam("for_purpose"),
    consents.c.used_at.is_(None),
    consents.c.expires_at > bindparam("now"),
)
_REPLACE = (
    update(consents)
    .where(consents.c.token_hash == bindparam("the_hash"), consents.c.used_at.is_(None))
    .values(data=bindparam("new_data"))
)


def create_token(
    connection: Connection,
    purpose: Purpose,
    token_hash: str,
    workspace_id: str,
    user_id: str,
    network: str,
    data: Mapping[str, Json],
    lifetime: int,
    clock: Clock,
) -> ConsentRecord:
    """Store the hash of a token that can be used once within ``lifetime`` milliseconds."""
    at = clock.wall()
    record = ConsentRecord(token_hash, purpose, workspace_id, user_id, network, data, at, at + lifetime, None)
    connection.execute(
        _INSERT,
        {
            "token_hash": token_hash,
            "purpose": purpose,
            "workspace_id": workspace_id,
            "user_id": user_id,
            "network": network,
            "data": data,
            "created_at": at,
            "expires_at": at + lifetime,
        },
    )
    return record


def use_token(connection: Connection, purpose: Purpose, token_hash: str, clock: Clock) -> ConsentRecord | None:
    """Mark a token as used and return its record. Of several concurrent callers only one gets it.

    Returns None if the token is unknown, for another purpose, used or expired.
    """
    row = connection.execute(_USE, {"the_hash": token_hash, "for_purpose": purpose, "now": clock.wall()}).one_or_none()
    return None if row is None else ConsentRecord(**row._mapping)


def find_token(connection: Connection, purpose: Purpose, token_hash: str, clock: Clock) -> ConsentRecord | None:
    """Return a usable token without using it; None if it is unknown, for another purpose, used or expired."""
    row = connection.execute(_FIND, {"the_hash": token_hash, "for_purpose": purpose, "now": clock.wall()}).one_or_none()
    return None if row is None else ConsentRecord(**row._mapping)


def list_open_tokens(connection: Connection, purpose: Purpose, clock: Clock) -> list[ConsentRecord]:
    """Return all tokens that can be used for a purpose, for the rotation of keys."""
    rows = connection.execute(_OPEN, {"for_purpose": purpose, "now": clock.wall()}).all()
    return [ConsentRecord(**row._mapping) for row in rows]


def replace_data(connection: Connection, token_hash: str, data: Mapping[str, Json]) -> None:
    """Replace the data of a token, unless it was used in the meantime."""
    connection.execute(_REPLACE, {"the_hash": token_hash, "new_data": data})
