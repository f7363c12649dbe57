"""Workspace API keys. The database stores the SHA-256 of a secret and never the secret."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from attrs import evolve, fields, frozen
from sqlalchemy import Connection, bindparam, insert, or_, select, update

from adsunify.actor import Actor, CredentialScope, Role
from adsunify.errors import Forbidden, NotFound
from adsunify.ledger import LOCAL_AUTHOR, Author, LedgerEntry
from adsunify.values.exact_json import Json

from .clock import Clock, new_id
from .ledger import record_entries
from .schema import api_keys, memberships
from .statement import Query, Statement

TOUCH_MILLISECONDS = 60_000


@frozen
class KeyRecord:
    """An API key of the owner ``user_id``. Times are in milliseconds since 1970."""

    id: str
    workspace_id: str
    user_id: str
    name: str
    prefix: str
    can_write: bool
    created_at: int
    expires_at: int | None
    revoked_at: int | None
    last_used_at: int | None
    scope: CredentialScope | None = None


@frozen
class KeyCredentials:
    """The data that authenticates a key: its hash, to be compared in constant time, and the present role of its owner.

    ``role`` is None if the owner is no longer a member.
    """

    id: str
    workspace_id: str
    user_id: str
    can_write: bool
    expires_at: int | None
    revoked_at: int | None
    secret_hash: str
    scope: CredentialScope | None
    role: Role | None

    def is_valid(self, now: int) -> bool:
        """Whether the key is neither revoked nor expired, and its owner is still a member."""
        if self.revoked_at is not None or self.role is None:
            return False
        return self.expires_at is None or now < self.expires_at


_INSERT = Statement(insert(api_keys))
_COLUMNS = [api_keys.c[field.name] for field in fields(KeyRecord)]
_LIST = (
    select(*_COLUMNS)
    .where(api_keys.c.workspace_id == bindparam("of_workspace"))
    .order_by(api_keys.c.created_at, api_keys.c.id)
)
_GET = select(*_COLUMNS).where(
    api_keys.c.id == bindparam("the_id"), api_keys.c.workspace_id == bindparam("of_workspace")
)
_FIND = Statement(
    select(*(api_keys.c[field.name] for field in fields(KeyCredentials) if field.name != "role"), memberships.c.role)
    .join(
        memberships,
        (memberships.c.user_id == api_keys.c.user_id) & (memberships.c.workspace_id == api_keys.c.workspace_id),
        isouter=True,
    )
    .where(api_keys.c.prefix == bindparam("the_prefix"))
)
_REVOKE = (
    update(api_keys)
    .where(api_keys.c.id == bindparam("the_id"), api_keys.c.revoked_at.is_(None))
    .values(revoked_at=bindparam("now"))
    .returning(*_COLUMNS)
)
_REVOKE_ALL = (
    update(api_keys)
    .where(
        api_keys.c.workspace_id == bindparam("of_workspace"),
        api_keys.c.user_id == bindparam("of_user"),
        api_keys.c.revoked_at.is_(None),
    )
    .values(revoked_at=bindparam("now"))
    .returning(*_COLUMNS)
)
_TOUCH = (
    update(api_keys)
    .where(
        api_keys.c.id == bindparam("the_id"),
        or_(api_keys.c.last_used_at.is_(None), api_keys.c.last_used_at < bindparam("used_at")),
    )
    .values(last_used_at=bindparam("used_at"))
)


def create_key(
    connection: Connection,
    workspace_id: str,
    user_id: str,
    name: str,
    prefix: str,
    secret_hash: str,
    can_write: bool,
    expires_at: int | None,
    clock: Clock,
    scope: CredentialScope | None = None,
    by: Author = LOCAL_AUTHOR,
) -> KeyRecord:
    """Store a new key. ``prefix`` is its 8 characters id; ``secret_hash`` is the hexadecimal SHA-256 of its secret."""
    at = clock.wall()
    key = KeyRecord(new_id(at), workspace_id, user_id, name, prefix, can_write, at, expires_at, None, None, scope)
    _INSERT.fetch_all(
        connection,
        {
            "id": key.id,
            "workspace_id": workspace_id,
            "user_id": user_id,
            "name": name,
            "prefix": prefix,
            "secret_hash": secret_hash,
            "can_write": can_write,
            "created_at": at,
            "expires_at": expires_at,
            "scope": scope,
        },
    )
    _record_change(connection, by, None, key, clock)
    return key


def _record_change(
    connection: Connection, by: Author, before: KeyRecord | None, after: KeyRecord, clock: Clock
) -> None:
    """Record a change of a key in the ledger."""
    states = [None if key is None else _state_to_json(key) for key in (before, after)]
    entry = LedgerEntry(after.workspace_id, by, "key", after.id, before=states[0], after=states[1])
    record_entries(connection, [entry], clock.now())


def _state_to_json(key: KeyRecord) -> Json:
    return {
        "name": key.name,
        "ownerId": key.user_id,
        "canWrite": key.can_write,
        "scope": None if key.scope is None else key.scope.to_json(),
        "expiresAt": key.expires_at,
        "revokedAt": key.revoked_at,
    }


def list_keys(connection: Connection, actor: Actor) -> list[KeyRecord]:
    """Return the keys of the workspace that the actor may see, oldest first."""
    rows = connection.execute(_LIST, {"of_workspace": actor.workspace_id}).all()
    return [KeyRecord(**row._mapping) for row in rows if actor.can_reach_scope(row.scope)]


def get_key(connection: Connection, workspace_id: str, key_id: str) -> KeyRecord:
    """Return a key of the workspace in any state. Keys are never deleted."""
    return KeyRecord(**connection.execute(_GET, {"the_id": key_id, "of_workspace": workspace_id}).one()._mapping)


def find_key(prefix: str) -> Query[KeyCredentials | None]:
    """Query the key with this prefix in any state. The caller checks :meth:`KeyCredentials.is_valid` and the hash."""
    return Query(_FIND, {"the_prefix": prefix}, _credentials_from_rows)


def _credentials_from_rows(rows: Sequence[Any]) -> KeyCredentials | None:
    return KeyCredentials(*rows[0]) if rows else None


def revoke_key(connection: Connection, actor: Actor, key_id: str, clock: Clock) -> KeyRecord:
    """Revoke a key of the actor's user. A revoked key stays unchanged. A read-only key can revoke itself only.

    Raises:
        NotFound: the actor may not see such a key.
        Forbidden: the key belongs to another user, or a read-only key does not revoke itself.
    """
    values = {"the_id": key_id, "of_workspace": actor.workspace_id}
    row = connection.execute(_GET, values).one_or_none()
    if row is None or not actor.can_reach_scope(row.scope):
        raise NotFound("This workspace has no such key.")
    if row.user_id != actor.user_id:
        raise Forbidden("Only the owner of a key can revoke it.")
    if not actor.can_write and actor.key_id != key_id:
        raise Forbidden("A read-only key can revoke itself only; use a write-enabled key.", code="write_required")
    rows = connection.execute(_REVOKE, {"the_id": key_id, "now": clock.wall()}).all()
    _record_revoked(connection, actor, rows, clock)
    return KeyRecord(**connection.execute(_GET, values).one()._mapping)


def revoke_all_keys(connection: Connection, workspace_id: str, user_id: str, clock: Clock, by: Author) -> None:
    """Revoke all keys of a user in a workspace."""
    values = {"of_workspace": workspace_id, "of_user": user_id, "now": clock.wall()}
    _record_revoked(connection, by, connection.execute(_REVOKE_ALL, values).all(), clock)


def _record_revoked(connection: Connection, by: Author, rows: Sequence[Any], clock: Clock) -> None:
    for row in rows:
        revoked = KeyRecord(**row._mapping)
        _record_change(connection, by, evolve(revoked, revoked_at=None), revoked, clock)


def save_last_used(connection: Connection, used: Mapping[str, int]) -> None:
    """Store when keys were last used (key id -> milliseconds), as :class:`KeyUsage` returned it."""
    for key_id in sorted(used):  # all writers use one order, which prevents deadlocks
        connection.execute(_TOUCH, {"the_id": key_id, "used_at": used[key_id]})


class KeyUsage:
    """Collects the uses of keys in memory, so that a request needs no commit.

    So ``last_used_at`` may be a minute old, and a killed process loses the uses of its last minute.
    """

    def __init__(self) -> None:
        self._last_uses: dict[str, int] = {}
        self._taken_at = 0

    def record_use(self, key_id: str, now: int) -> Mapping[str, int] | None:
        """Record a use.

        Once a minute the result is all uses since, which the caller stores with :func:`save_last_used`.
        """
        self._last_uses[key_id] = now
        return self.take_uses(now) if now - self._taken_at >= TOUCH_MILLISECONDS else None

    def take_uses(self, now: int) -> Mapping[str, int] | None:
        """Return all uses that were not returned before; None without uses. Called at the end of the process."""
        used, self._last_uses, self._taken_at = self._last_uses, {}, now
        return used or None
