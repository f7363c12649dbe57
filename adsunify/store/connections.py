"""Connections to networks and the accounts found through them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Any, Literal

from attrs import field, frozen
from sqlalchemy import Connection, bindparam, exists, insert, not_, or_, select, update

from adsunify.actor import Actor
from adsunify.errors import NotFound
from adsunify.values.exact_json import Json

from . import events, sealed, upsert
from .clock import Clock, new_id
from .schema import accounts, connections
from .statement import Question, Statement

ConnectionStatus = Literal["active", "needs_reauth", "disconnected"]
SECRETS = "connections"
"""The table name under which a connection's credentials are sealed; the row is the connection's id."""
REFRESH_MILLISECONDS = 30_000


@frozen
class FoundAccount:
    """An account as the network showed it on connecting."""

    native_id: str
    name: str | None = None
    currency: str | None = None
    timezone: str | None = None
    native_status: str | None = None
    extras: Mapping[str, Json] = field(factory=dict)


@frozen
class ConnectionRecord:
    """A connection; ``expires_at``: when its token ends, where known. Times in milliseconds."""

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
    """An account. ``extras``: those found on connecting, and over them those an admin chose."""

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
    known=("name", "currency", "timezone"),
)
_RETIRE = (
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
_REFRESHED = _END_REFRESH.values(expires_at=bindparam("new_expires_at"), updated_at=bindparam("now")).returning(
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
_ACCOUNTS_ON = Statement(_of_workspace.where(accounts.c.network == bindparam("of_network")))
_ACCOUNTS_THROUGH = Statement(_of_workspace.where(accounts.c.connection_id == bindparam("of_connection")))
_one_account = select(accounts).where(
    accounts.c.id == bindparam("the_id"), accounts.c.workspace_id == bindparam("of_workspace")
)
_ACCOUNT = Statement(_one_account)
_HOME = select(accounts.c.workspace_id).where(accounts.c.id == bindparam("the_id"))
_ACCOUNT_FOR_UPDATE = Statement(_one_account.with_for_update())


# -- connecting ---------------------------------------------------------------------------------------------------


def connect(
    connection: Connection,
    actor: Actor,
    connection_id: str,
    network: str,
    found: Sequence[FoundAccount],
    credentials: Mapping[str, str],
    expires_at: int | None,
    clock: Clock,
) -> list[AccountRecord]:
    """Keep a new connection, its sealed ``credentials`` (by field) and every account found through it.

    An account that was connected before moves to the new connection and keeps its id; a connection left without
    accounts is retired and its credentials are forgotten. ``connection_id`` is a new id, made before so that the
    credentials could be sealed for it.
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
    sealed.put(connection, SECRETS, connection_id, actor.workspace_id, credentials, clock)
    told: list[dict[str, Any]] = []
    for account_ in sorted(found, key=lambda one: one.native_id):  # one order for all, or two could wait on each other
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
        (kept,) = _UPSERT_ACCOUNT.all(connection, row)
        told.append(_event("account.connected", actor.workspace_id, kept.id, network, "active", at))
    retired = {"of_workspace": actor.workspace_id, "of_network": network, "but": connection_id, "now": at}
    for row_ in connection.execute(_RETIRE, retired).all():
        sealed.forget(connection, SECRETS, row_.id)
    events.record(connection, told)
    return accounts_through(connection, actor.workspace_id, connection_id)


def disconnect(connection: Connection, workspace_id: str, connection_id: str, clock: Clock) -> ConnectionRecord:
    """Forget a connection's credentials; it and its accounts stay, ``disconnected``. Raises NotFound."""
    get_connection(connection, workspace_id, connection_id)
    _change_status(connection, connection_id, ("active", "needs_reauth"), "disconnected", "account.disconnected", clock)
    sealed.forget(connection, SECRETS, connection_id)
    return get_connection(connection, workspace_id, connection_id)


def needs_reauth(connection: Connection, connection_id: str, clock: Clock) -> bool:
    """The network refuses an active connection's token: a person must connect again. False: known already."""
    return _change_status(connection, connection_id, ("active",), "needs_reauth", "account.needs_reauth", clock)


def recovered(connection: Connection, connection_id: str, clock: Clock) -> bool:
    """The network accepts the connection's token again: the same event tells, with the status it has now.

    False: it was not known to be refused.
    """
    return _change_status(connection, connection_id, ("needs_reauth",), "active", "account.needs_reauth", clock)


def _change_status(
    connection: Connection,
    connection_id: str,
    before: Sequence[ConnectionStatus],
    status: ConnectionStatus,
    event: str,
    clock: Clock,
) -> bool:
    at = clock.now()
    changed = {"the_id": connection_id, "before": list(before), "new_status": status, "now": at}
    if not connection.execute(_SET_STATUS, changed).all():
        return False
    rows = connection.execute(
        _SET_ACCOUNT_STATUS, {"of_connection": connection_id, "new_status": status, "now": at}
    ).all()
    events.record(connection, [_event(event, row.workspace_id, row.id, row.network, status, at) for row in rows])
    return True


def _event(kind: str, workspace_id: str, account_id: str, network: str, status: str, at: int) -> dict[str, Any]:
    return events.event_row(kind, workspace_id, at, status=status, account_id=account_id, network=network)


# -- refreshing tokens --------------------------------------------------------------------------------------------


def begin_refresh(connection: Connection, connection_id: str, clock: Clock, lease: int = REFRESH_MILLISECONDS) -> bool:
    """Take the connection's refresh lock for ``lease`` milliseconds; false: somebody else is refreshing."""
    at = clock.now()
    taken = {"the_id": connection_id, "now": at, "new_until": at + lease}
    return bool(connection.execute(_BEGIN_REFRESH, taken).all())


def finish_refresh(
    connection: Connection, connection_id: str, credentials: Mapping[str, str], expires_at: int | None, clock: Clock
) -> bool:
    """Keep the new sealed credentials, let the lock go, and tell of a recovery. False: disconnected meanwhile."""
    rows = connection.execute(
        _REFRESHED, {"the_id": connection_id, "new_expires_at": expires_at, "now": clock.now()}
    ).all()
    for row in rows:
        sealed.put(connection, SECRETS, connection_id, row.workspace_id, credentials, clock)
        recovered(connection, connection_id, clock)
    return bool(rows)


def abandon_refresh(connection: Connection, connection_id: str) -> None:
    """Let the refresh lock go: the refresh failed."""
    connection.execute(_END_REFRESH, {"the_id": connection_id})


# -- accounts -----------------------------------------------------------------------------------------------------


def choose_extras(
    connection: Connection, workspace_id: str, account_id: str, extras: Mapping[str, Json], clock: Clock
) -> AccountRecord:
    """Set extras of an account by hand; None lets the found one show again. Raises NotFound."""
    row = _one(connection, _ACCOUNT_FOR_UPDATE, workspace_id, account_id)
    chosen = {name: value for name, value in {**row.chosen_extras, **extras}.items() if value is not None}
    connection.execute(_CHOOSE_EXTRAS, {"the_id": account_id, "new_extras": chosen, "now": clock.now()})
    return account(connection, workspace_id, account_id)


def first_synced(connection: Connection, account_id: str, clock: Clock) -> bool:
    """The first tree of the account has been read; told once. False: it was told before."""
    at = clock.now()
    rows = connection.execute(_FIRST_SYNCED, {"the_id": account_id, "now": at}).all()
    kind = "account.ads.initial_sync_completed"
    events.record(connection, [_event(kind, row.workspace_id, row.id, row.network, row.status, at) for row in rows])
    return bool(rows)


# -- reading ------------------------------------------------------------------------------------------------------


def get_connection(connection: Connection, workspace_id: str, connection_id: str) -> ConnectionRecord:
    """A connection of the workspace. Raises NotFound."""
    return ConnectionRecord(**_one(connection, _CONNECTION, workspace_id, connection_id)._asdict())


def list_connections(connection: Connection, workspace_id: str) -> list[ConnectionRecord]:
    """All connections of the workspace, oldest first."""
    rows = connection.execute(_CONNECTIONS, {"of_workspace": workspace_id}).all()
    return [ConnectionRecord(**row._mapping) for row in rows]


def find_account(workspace_id: str, account_id: str) -> Question[AccountRecord]:
    """An account of the workspace, whatever its status. Raises NotFound."""
    return Question(_ACCOUNT, {"the_id": account_id, "of_workspace": workspace_id}, lambda rows: _account(_first(rows)))


def account(connection: Connection, workspace_id: str, account_id: str) -> AccountRecord:
    """The answer to :func:`find_account`."""
    return find_account(workspace_id, account_id).on(connection)


def home_of(connection: Connection, account_id: str) -> str:
    """The workspace that an account belongs to, for upkeep across workspaces. Raises NotFound."""
    found = connection.execute(_HOME, {"the_id": account_id}).scalar_one_or_none()
    if found is None:
        raise NotFound("There is no such account.")
    return str(found)


def list_accounts(connection: Connection, workspace_id: str, network: str | None = None) -> list[AccountRecord]:
    """All accounts of the workspace, or those on one network."""
    if network is None:
        return _accounts(_ACCOUNTS.all(connection, {"of_workspace": workspace_id}))
    return _accounts(_ACCOUNTS_ON.all(connection, {"of_workspace": workspace_id, "of_network": network}))


def accounts_through(connection: Connection, workspace_id: str, connection_id: str) -> list[AccountRecord]:
    """The accounts of a connection."""
    values = {"of_workspace": workspace_id, "of_connection": connection_id}
    return _accounts(_ACCOUNTS_THROUGH.all(connection, values))


def _one(connection: Connection, statement: Statement, workspace_id: str, id_: str) -> Any:
    return _first(statement.all(connection, {"the_id": id_, "of_workspace": workspace_id}))


def _first(rows: Sequence[Any]) -> Any:
    if not rows:
        raise NotFound("There is no such connection or account in this workspace.")
    return rows[0]


def _accounts(rows: Iterable[Any]) -> list[AccountRecord]:
    return [_account(row) for row in rows]


def _account(row: Any) -> AccountRecord:
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
