"""Opens a store by its URL."""

from __future__ import annotations

from datetime import UTC, datetime
from pathlib import Path
from urllib.parse import unquote

from sqlalchemy import Connection, Text, bindparam, func, select
from sqlalchemy.exc import DBAPIError

from adsunify.errors import StoreError, explain_missing_packages, invalid_input

from .clock import MAX_AHEAD_MILLISECONDS, Clock
from .driver import DEFAULT_TIMEOUTS, DatabaseTimeouts, Store
from .migrate import SchemaState, read_schema_state
from .schema import events
from .upgrading import UpgradePlan, plan_upgrade, upgrade_schema
from .urls import split_database_url

_BOUND = bindparam("id_bound", type_=Text)
_NEWEST = select(events.c.created_at).where(events.c.id <= _BOUND).order_by(events.c.id.desc()).limit(1)
_AHEAD = select(func.max(events.c.created_at)).where(events.c.id > _BOUND)


def _find_newest_events(connection: Connection, latest: int) -> tuple[int | None, int | None]:
    """Return the time of the newest event up to ``latest``, and the latest time after it. Ids begin with their time."""
    digits = f"{latest + 1:012x}"
    bound = {"id_bound": f"{digits[:8]}-{digits[8:]}"}
    ahead = connection.execute(_AHEAD, bound).scalar_one()
    return connection.execute(_NEWEST, bound).scalar_one_or_none(), ahead


def _clock_error(newest: int, wall: int) -> StoreError:
    days, minutes = divmod((newest - wall) // 60_000, 24 * 60)
    far = f"{days} days" if days else f"{minutes} minutes"
    stored, clock = (datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="seconds") for at in (newest, wall))
    return StoreError(
        f"The database holds times that are {far} ahead of this machine's clock: the newest is {stored}, the clock "
        f"says {clock}. adsunify does not start, because leases and expiries would be wrong. If this machine's clock "
        "is behind, set it. If a clock was ahead, stop all servers and run `adsunify admin clock`, which shows the "
        "wrong times and repairs them."
    )


def _is_durable(connection: Connection) -> bool:
    if connection.dialect.name == "sqlite":  # our driver sets synchronous=FULL
        return True
    settings = {
        name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in ("fsync", "synchronous_commit")
    }
    return bool(settings["fsync"] == "on" and settings["synchronous_commit"] != "off")


async def open_store(
    url: str,
    *,
    clock: Clock | None = None,
    allow_unsafe_durability: bool = False,
    allow_wrong_times: bool = False,
    run_contracting: bool = False,
    timeouts: DatabaseTimeouts = DEFAULT_TIMEOUTS,
) -> Store:
    """Open and migrate a database.

    Args:
        url: ``sqlite:///path.db``, or a ``postgresql://`` URL as libpq reads it (a socket directory as ``?host=/dir``,
            ``sslmode``).
        clock: the clock of the store; None means the machine's clock.
        allow_unsafe_durability: accept a PostgreSQL that may lose commits at a power failure (fsync or
            synchronous_commit off).
        allow_wrong_times: accept a database that has times ahead of the machine's clock.
        run_contracting: also run migrations after which servers of older versions cannot use the database. The caller
            must stop those servers first.
        timeouts: how long a PostgreSQL waits.

    Raises:
        InvalidInput: the URL is not one of these.
        StoreError: the database cannot be opened, or is refused.
        MissingExtra: the driver of PostgreSQL is not installed.
    """
    store = _make_store(url, clock or Clock(), timeouts)
    try:
        if not allow_unsafe_durability and not await store.read(_is_durable):
            raise StoreError(
                "This PostgreSQL runs with fsync or synchronous_commit off. After a power failure it may have lost the "
                "record of a native write, which would then be sent twice. Switch both on, or allow it explicitly."
            )
        try:
            await upgrade_schema(store, run_contracting=run_contracting)
        except DBAPIError as error:
            raise StoreError(f"The database cannot be migrated to this version of adsunify: {error.orig}") from error
        wall = store.clock.wall()
        newest, ahead = await store.read(_find_newest_events, wall + MAX_AHEAD_MILLISECONDS)
        if not allow_wrong_times and ahead is not None and store.clock.is_ahead(ahead):
            raise _clock_error(ahead, wall)
        store.clock.observe(newest)
        store.clock.observe(ahead)  # ids may be later than the times of their rows if a clock was corrected
    except BaseException:
        await store.close()
        raise
    return store


async def read_upgrade_plan(url: str) -> UpgradePlan:
    """Read what an upgrade of a database would do, and change nothing.

    Raises:
        InvalidInput, MissingExtra: as :func:`open_store`.
        StoreError: the database cannot be read, or this version of adsunify cannot use it.
    """
    store = _make_store(url, Clock())
    try:
        has_database = await store.has_database()
        return plan_upgrade(await store.read(read_schema_state) if has_database else SchemaState(None))
    finally:
        await store.close()


def _make_store(url: str, clock: Clock, timeouts: DatabaseTimeouts = DEFAULT_TIMEOUTS) -> Store:
    split = split_database_url(url)
    if split.scheme == "sqlite" and not split.netloc and split.path not in ("", "/", "/:memory:"):
        from .sqlite import SqliteStore

        return SqliteStore(Path(unquote(split.path[1:])), clock)
    if split.scheme in ("postgresql", "postgres"):
        with explain_missing_packages():
            from .postgresql import PostgresStore
        return PostgresStore(url, clock, timeouts)
    raise invalid_input(
        "database",
        "unsupported_database",
        "The URL of the database must be sqlite:///path.db (four slashes before an absolute path) or "
        "postgresql://user:password@host/name.",
    )
