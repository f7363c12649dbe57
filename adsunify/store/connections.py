"""Connections to networks, and the accounts that were discovered through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen
from sqlalchemy import Connection, bindparam, exists, insert, not_, or_, select, update

from adsunify.actor import Actor
from adsunify.errors import Forbidden, NotFound
from adsunify.ledger import LOCAL_AUTHOR, SYSTEM_AUTHOR, Author, LedgerEntry
from adsunify.values.exact_json import Json

from . import encrypted_secrets, events, upsert
from .clock import Clock, new_id
from .ledger import record_entries, record_entry
from .schema import accounts, connections
from .statement import Query, Statement

ConnectionStatus = Literal["active", "needs_reauth", "disconnected"]
SECRETS_TABLE = "connections"
"""The table name in the context of a connection's encrypted credentials; the row is the connection's id."""
REFRESH_MILLISECONDS = 30_000
NOT_FOUND = "This workspace has no such connection or account, or this credential does not reach it."


@frozen
class DiscoveredAccountRow:
    """An account as the network showed it when it was connected."""

    native_id: str
    name: str | None = None
    currency: str | None = None
    timezone: str | None = None
    native_status: str | None = None
    extras: Mapping[str, Json] = field(factory=dict)


@frozen
class ConnectionRecord:
    """A connection.

    ``expires_at`` is the expiry of its token; None if unknown. Times are in milliseconds since 1970.
    """

    id: str
    workspace_id: str
    user_id: str
    network: str
    status: ConnectionStatus
    expires_at: int | None
    refreshing_until: int | None
    created_at: int
    updated_at: int


@frozen
class AccountRecord:
    """An account. ``extras``: the discovered extras, overridden by the extras that an admin has set."""

    id: str
    workspace_id: str
    connection_id: str
    network: str
    native_id: str
    name: str | None
    currency: str | None
    timezone: str | None
    status: ConnectionStatus
    native_status: str | None
    extras: Mapping[str, Json]
    synced_at: int | None
    created_at: int
    updated_at: int


# -- statements ---------------------------------------------------------------------------------------------------

_INSERT = insert(connections)
_UPSERT_ACCOUNT = upsert.insert_or_update(
    accounts,
    ("workspace_id", "network", "native_id"),
    ("connection_id", "status", "native_status", "extras", "updated_at"),
    accounts.c.id,
    coalesced=("name", "currency", "timezone"),
)
_RETIRE_EMPTY = (
    update(connections)
    .where(
        connections.c.workspace_id == bindparam("of_workspace"),
        connections.c.network == bindparam("of_network"),
        connections.c.id != bindparam("but"),
        connections.c.status != "disconnected",
        not_(exists().where(accounts.c.connection_id == connections.c.id)),
    )
    .values(status="disconnected", updated_at=bindparam("now"))
    .returning(connections.c.id)
)
_SET_STATUS = (
    update(connections)
    .where(connections.c.id == bindparam("the_id"), connections.c.status.in_(bindparam("before", expanding=True)))
    .values(status=bindparam("new_status"), updated_at=bindparam("now"))
    .returning(connections.c.id)
)
_STATUS_FOR_UPDATE = (
    select(connections.c.workspace_id, connections.c.network, connections.c.status)
    .where(connections.c.id == bindparam("the_id"))
    .with_for_update()
)
_SET_ACCOUNT_STATUS = (
    update(accounts)
    .where(accounts.c.connection_id == bindparam("of_connection"), accounts.c.status != bindparam("new_status"))
    .values(status=bindparam("new_status"), updated_at=bindparam("now"))
    .returning(accounts.c.id, accounts.c.workspace_id, accounts.c.network)
)
_BEGIN_REFRESH = (
    update(connections)
    .where(
        connections.c.id == bindparam("the_id"),
        connections.c.status != "disconnected",
        or_(connections.c.refreshing_until.is_(None), connections.c.refreshing_until <= bindparam("now")),
    )
    .values(refreshing_until=bindparam("new_until"))
    .returning(connections.c.id)
)
_END_REFRESH = (
    update(connections)
    .where(connections.c.id == bindparam("the_id"), connections.c.status != "disconnected")
    .values(refreshing_until=None)
)
_FINISH_REFRESH = _END_REFRESH.values(expires_at=bindparam("new_expires_at"), updated_at=bindparam("now")).returning(
    connections.c.workspace_id
)
_FIRST_SYNCED = (
    update(accounts)
    .where(accounts.c.id == bindparam("the_id"), accounts.c.synced_at.is_(None))
    .values(synced_at=bindparam("now"))
    .returning(accounts.c.id, accounts.c.workspace_id, accounts.c.network, accounts.c.status)
)
_CHOOSE_EXTRAS = (
    update(accounts)
    .where(accounts.c.id == bindparam("the_id"))
    .values(chosen_extras=bindparam("new_extras"), updated_at=bindparam("now"))
)
_CONNECTIONS = (
    select(connections)
    .where(connections.c.workspace_id == bindparam("of_workspace"))
    .order_by(connections.c.created_at, connections.c.id)
)
_CONNECTION = Statement(
    select(connections).where(
        connections.c.id == bindparam("the_id"), connections.c.workspace_id == bindparam("of_workspace")
    )
)
_of_workspace = (
    select(accounts)
    .where(accounts.c.workspace_id == bindparam("of_workspace"))
    .order_by(accounts.c.network, accounts.c.native_id)
)
_ACCOUNTS = Statement(_of_workspace)
_ACCOUNTS_OF_NETWORK = Statement(_of_workspace.where(accounts.c.network == bindparam("of_network")))
_ACCOUNTS_OF_CONNECTION = Statement(_of_workspace.where(accounts.c.connection_id == bindparam("of_connection")))
_ACCOUNT = Statement(
    select(accounts).where(accounts.c.id == bindparam("the_id"), accounts.c.workspace_id == bindparam("of_workspace"))
)
_ALL_ACCOUNTS = Statement(select(accounts).order_by(accounts.c.id))
_ANY_ACCOUNT = Statement(select(accounts).where(accounts.c.id == bindparam("the_id")))
_ANY_ACCOUNT_FOR_UPDATE = Statement(select(accounts).where(accounts.c.id == bindparam("the_id")).with_for_update())


# -- connecting ---------------------------------------------------------------------------------------------------


def save_connection(
    connection: Connection,
    actor: Actor,
    connection_id: str,
    network: str,
    discovered: Sequence[DiscoveredAccountRow],
    credentials: Mapping[str, str],
    expires_at: int | None,
    clock: Clock,
) -> list[AccountRecord]:
    """Store a new connection, its encrypted ``credentials`` (by field) and all accounts discovered through it.

    An account that was connected before moves to the new connection and keeps its id. A connection without remaining
    accounts is disconnected, and its credentials are deleted. The caller makes ``connection_id`` because the
    credentials are encrypted for it.
    """
    at = clock.now()
    connection.execute(
        _INSERT,
        {
            "id": connection_id,
            "workspace_id": actor.workspace_id,
            "user_id": actor.user_id,
            "network": network,
            "status": "active",
            "expires_at": expires_at,
            "created_at": at,
            "updated_at": at,
        },
    )
    encrypted_secrets.save_secrets(connection, SECRETS_TABLE, connection_id, actor.workspace_id, credentials, clock)
    entries = [
        LedgerEntry(actor.workspace_id, actor, "connection", connection_id, network=network, after={"status": "active"})
    ]
    of_network = {"of_workspace": actor.workspace_id, "of_network": network}
    connected_before = {row.id: row for row in _ACCOUNTS_OF_NETWORK.fetch_all(connection, of_network)}
    event_rows: list[dict[str, Any]] = []
    for account_ in sorted(
        discovered, key=lambda account: account.native_id
    ):  # all writers use one order, which prevents deadlocks
        row = {
            "id": new_id(at),
            "workspace_id": actor.workspace_id,
            "connection_id": connection_id,
            "network": network,
            "native_id": account_.native_id,
            "name": account_.name,
            "currency": account_.currency,
            "timezone": account_.timezone,
            "status": "active",
            "native_status": account_.native_status,
            "extras": account_.extras,
            "chosen_extras": {},
            "created_at": at,
            "updated_at": at,
        }
        (account_row,) = _UPSERT_ACCOUNT.fetch_all(connection, row)
        event_rows.append(
            _account_event("account.connected", actor.workspace_id, account_row.id, network, "active", at)
        )
        old = connected_before.get(account_row.id)
        entries.append(
            LedgerEntry(
                actor.workspace_id,
                actor,
                "account",
                account_row.id,
                account_row.id,
                network,
                before=None if old is None else {"status": old.status, "connectionId": old.connection_id},
                after={"status": "active", "connectionId": connection_id, "nativeId": account_.native_id},
            )
        )
    for row_ in connection.execute(_RETIRE_EMPTY, of_network | {"but": connection_id, "now": at}).all():
        encrypted_secrets.delete_secrets(connection, SECRETS_TABLE, row_.id)
        after = {"status": "disconnected", "replacedBy": connection_id}
        entries.append(LedgerEntry(actor.workspace_id, actor, "connection", row_.id, network=network, after=after))
    events.record_events(connection, event_rows)
    record_entries(connection, entries, at)
    return list_accounts_of_connection(connection, actor, connection_id)


def disconnect(connection: Connection, actor: Actor, connection_id: str, clock: Clock) -> ConnectionRecord:
    """Delete a connection's credentials. The connection and its accounts remain, with status ``disconnected``.

    Raises:
        NotFound: the actor may not see such a connection.
        Forbidden: the connection has accounts outside the actor's scope.
    """
    get_whole_connection(connection, actor, connection_id)
    connected: Sequence[ConnectionStatus] = ("active", "needs_reauth")
    _change_status(connection, connection_id, connected, "disconnected", "account.disconnected", clock, actor)
    encrypted_secrets.delete_secrets(connection, SECRETS_TABLE, connection_id)
    return get_connection(connection, actor, connection_id)


def mark_needs_reauth(connection: Connection, connection_id: str, clock: Clock) -> bool:
    """Record that the network refuses the token of an active connection. Returns False if that was recorded before."""
    return _change_status(connection, connection_id, ("active",), "needs_reauth", "account.needs_reauth", clock)


def mark_active(connection: Connection, connection_id: str, clock: Clock) -> bool:
    """Record that the network accepts the connection's token again.

    It records the same event with the new status. Returns False if the token was not recorded as refused.
    """
    return _change_status(connection, connection_id, ("needs_reauth",), "active", "account.needs_reauth", clock)


def _change_status(
    connection: Connection,
    connection_id: str,
    before: Sequence[ConnectionStatus],
    status: ConnectionStatus,
    event: str,
    clock: Clock,
    by: Author = SYSTEM_AUTHOR,
) -> bool:
    at = clock.now()
    old = connection.execute(_STATUS_FOR_UPDATE, {"the_id": connection_id}).one_or_none()
    changed = {"the_id": connection_id, "before": list(before), "new_status": status, "now": at}
    if old is None or not connection.execute(_SET_STATUS, changed).all():
        return False
    rows = connection.execute(
        _SET_ACCOUNT_STATUS, {"of_connection": connection_id, "new_status": status, "now": at}
    ).all()
    events.record_events(
        connection, [_account_event(event, row.workspace_id, row.id, row.network, status, at) for row in rows]
    )
    states = ({"status": old.status}, {"status": status})
    entries = [LedgerEntry(old.workspace_id, by, "connection", connection_id, None, old.network, *states)]
    entries += (LedgerEntry(old.workspace_id, by, "account", row.id, row.id, row.network, *states) for row in rows)
    record_entries(connection, entries, at)
    return True


def _account_event(kind: str, workspace_id: str, account_id: str, network: str, status: str, at: int) -> dict[str, Any]:
    return events.make_event_row(kind, workspace_id, at, status=status, account_id=account_id, network=network)


# -- refreshing tokens --------------------------------------------------------------------------------------------


def begin_refresh(connection: Connection, connection_id: str, clock: Clock, lease: int = REFRESH_MILLISECONDS) -> bool:
    """Acquire the connection's refresh lock for ``lease`` milliseconds. Returns False if another refresh holds it."""
    at = clock.now()
    values = {"the_id": connection_id, "now": at, "new_until": at + lease}
    return bool(connection.execute(_BEGIN_REFRESH, values).all())


def finish_refresh(
    connection: Connection, connection_id: str, credentials: Mapping[str, str], expires_at: int | None, clock: Clock
) -> bool:
    """Store the new encrypted credentials, release the refresh lock, and record an event if the status changes.

    Returns False if the connection was disconnected during the refresh.
    """
    rows = connection.execute(
        _FINISH_REFRESH, {"the_id": connection_id, "new_expires_at": expires_at, "now": clock.now()}
    ).all()
    for row in rows:
        encrypted_secrets.save_secrets(connection, SECRETS_TABLE, connection_id, row.workspace_id, credentials, clock)
        mark_active(connection, connection_id, clock)
    return bool(rows)


def abandon_refresh(connection: Connection, connection_id: str) -> None:
    """Release the refresh lock after a failed refresh."""
    connection.execute(_END_REFRESH, {"the_id": connection_id})


# -- accounts -----------------------------------------------------------------------------------------------------


def set_extras(connection: Connection, account_id: str, extras: Mapping[str, Json], clock: Clock) -> AccountRecord:
    """Set extras of an account of any workspace.

    None removes the set value, so that the discovered value is used again.

    Raises:
        NotFound: there is no such account.
    """
    row = _require_row(_ANY_ACCOUNT_FOR_UPDATE.fetch_one_or_none(connection, {"the_id": account_id}))
    chosen = {name: value for name, value in {**row.chosen_extras, **extras}.items() if value is not None}
    connection.execute(_CHOOSE_EXTRAS, {"the_id": account_id, "new_extras": chosen, "now": clock.now()})
    before, after = {"extras": row.chosen_extras}, {"extras": chosen}
    entry = LedgerEntry(row.workspace_id, LOCAL_AUTHOR, "account", row.id, row.id, row.network, before, after)
    record_entry(connection, entry, clock)
    return get_any_account(connection, account_id)


def mark_first_synced(connection: Connection, account_id: str, clock: Clock) -> bool:
    """Record that the first tree of the account was read, with an event. Returns False if that was recorded before."""
    at = clock.now()
    rows = connection.execute(_FIRST_SYNCED, {"the_id": account_id, "now": at}).all()
    kind = "account.ads.initial_sync_completed"
    events.record_events(
        connection, [_account_event(kind, row.workspace_id, row.id, row.network, row.status, at) for row in rows]
    )
    return bool(rows)


# -- reading ------------------------------------------------------------------------------------------------------


def get_connection(connection: Connection, actor: Actor, connection_id: str) -> ConnectionRecord:
    """Return a connection that the actor may see. Raises NotFound."""
    values = {"the_id": connection_id, "of_workspace": actor.workspace_id}
    row = _require_row(_CONNECTION.fetch_one_or_none(connection, values))
    if not _can_see_connection(actor, row, list_accounts_of_connection(connection, actor, connection_id)):
        raise NotFound(NOT_FOUND)
    return ConnectionRecord(**row._asdict())


def get_whole_connection(connection: Connection, actor: Actor, connection_id: str) -> ConnectionRecord:
    """Return a connection if the actor reaches all of its accounts. Raises NotFound, Forbidden."""
    record = get_connection(connection, actor, connection_id)
    values = {"of_workspace": actor.workspace_id, "of_connection": connection_id}
    if not all(actor.can_reach(row.id, row.network) for row in _ACCOUNTS_OF_CONNECTION.fetch_all(connection, values)):
        raise Forbidden(
            "The connection also has accounts outside the scope of this credential. Use a credential that reaches all "
            "of its accounts.",
            code="outside_scope",
        )
    return record


def list_connections(connection: Connection, actor: Actor) -> list[tuple[ConnectionRecord, list[AccountRecord]]]:
    """Return the connections that the actor may see, oldest first, each with the accounts that the actor may see."""
    accounts = list_accounts(connection, actor)
    rows = connection.execute(_CONNECTIONS, {"of_workspace": actor.workspace_id}).all()
    pairs = [(row, [account for account in accounts if account.connection_id == row.id]) for row in rows]
    return [
        (ConnectionRecord(**row._mapping), account_records)
        for row, account_records in pairs
        if _can_see_connection(actor, row, account_records)
    ]


def _can_see_connection(actor: Actor, row: Any, reached: Sequence[AccountRecord]) -> bool:
    """Whether the actor reaches an account of a connection, or every account of its network."""
    return bool(reached) or actor.can_connect(row.network)


def find_account(actor: Actor, account_id: str) -> Query[AccountRecord]:
    """Query an account in any status that the actor reaches. The query raises NotFound."""

    def make_result(rows: Sequence[Any]) -> AccountRecord:
        if not rows or not actor.can_reach(rows[0].id, rows[0].network):
            raise NotFound(NOT_FOUND)
        return _account_from_row(rows[0])

    return Query(_ACCOUNT, {"the_id": account_id, "of_workspace": actor.workspace_id}, make_result)


def get_account(connection: Connection, actor: Actor, account_id: str) -> AccountRecord:
    """Return the result of :func:`find_account`."""
    return find_account(actor, account_id).run(connection)


def get_any_account(connection: Connection, account_id: str) -> AccountRecord:
    """Return an account of any workspace, for background work and for maintenance. Raises NotFound."""
    return _account_from_row(_require_row(_ANY_ACCOUNT.fetch_one_or_none(connection, {"the_id": account_id})))


def list_accounts(connection: Connection, actor: Actor, network: str | None = None) -> list[AccountRecord]:
    """Return the accounts that the actor reaches, of all networks or of one."""
    values = {"of_workspace": actor.workspace_id, "of_network": network}
    return _select_reached(
        actor, (_ACCOUNTS if network is None else _ACCOUNTS_OF_NETWORK).fetch_all(connection, values)
    )


def list_all_accounts(connection: Connection) -> list[AccountRecord]:
    """Return the accounts of all workspaces, also disconnected ones."""
    return [_account_from_row(row) for row in _ALL_ACCOUNTS.fetch_all(connection, {})]


def list_accounts_of_connection(connection: Connection, actor: Actor, connection_id: str) -> list[AccountRecord]:
    """Return the accounts of a connection that the actor reaches."""
    values = {"of_workspace": actor.workspace_id, "of_connection": connection_id}
    return _select_reached(actor, _ACCOUNTS_OF_CONNECTION.fetch_all(connection, values))


def _require_row(row: Any) -> Any:
    if row is None:
        raise NotFound(NOT_FOUND)
    return row


def _select_reached(actor: Actor, rows: Iterable[Any]) -> list[AccountRecord]:
    return [_account_from_row(row) for row in rows if actor.can_reach(row.id, row.network)]


def _account_from_row(row: Any) -> AccountRecord:
    return AccountRecord(
        id=row.id,
        workspace_id=row.workspace_id,
        connection_id=row.connection_id,
        network=row.network,
        native_id=row.native_id,
        name=row.name,
        currency=row.currency,
        timezone=row.timezone,
        status=row.status,
        native_status=row.native_status,
        extras={**row.extras, **row.chosen_extras},
        synced_at=row.synced_at,
        created_at=row.created_at,
        updated_at=row.updated_at,
    )
