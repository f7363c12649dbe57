"""Opening a store by its URL."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import unquote, urlsplit

from sqlalchemy import Connection, select
from sqlalchemy.exc import DBAPIError

from adsunify.errors import StoreError, refused

from .clock import Clock
from .driver import Store
from .migrate import migrate
from .schema import events

_NEWEST = select(events.c.created_at).order_by(events.c.id.desc()).limit(1)


def _newest(connection: Connection) -> int | None:
    return connection.execute(_NEWEST).scalar_one_or_none()


def _durable(connection: Connection) -> bool:
    if connection.dialect.name == "sqlite":  # the driver itself sets synchronous=FULL
        return True
    shown = {name: connection.exec_driver_sql(f"SHOW {name}").scalar_one() for name in ("fsync", "synchronous_commit")}
    return bool(shown["fsync"] == "on" and shown["synchronous_commit"] != "off")


async def open_store(url: str, *, clock: Clock | None = None, allow_unsafe_durability: bool = False) -> Store:
    """Open and migrate the database at ``sqlite:///path.db`` or ``postgresql://...``.

    PostgreSQL URLs are as libpq reads them (a socket directory as ``?host=/dir``, ``sslmode``). A PostgreSQL that may
    lose commits at a power failure (fsync or synchronous_commit off) is refused unless ``allow_unsafe_durability``.
    Raises InvalidInput for another kind of URL, StoreError where the database cannot be opened.
    """
    store = _store(url, clock or Clock())
    try:
        if not allow_unsafe_durability and not await store.read(_durable):
            raise StoreError(
                "This PostgreSQL runs with fsync or synchronous_commit off: a power failure could forget that a native "
                "write was about to be sent, and it would be sent twice. Switch both on, or allow it explicitly."
            )
        try:
            await store.upgrade(migrate)
        except DBAPIError as error:
            raise StoreError(f"The database cannot be brought to this version of adsunify: {error.orig}") from error
        store.clock.saw(await store.read(_newest))
    except BaseException:
        await store.close()
        raise
    return store


def _store(url: str, clock: Clock) -> Store:
    split = urlsplit(url)
    if split.scheme == "sqlite" and not split.netloc and split.path not in ("", "/", "/:memory:"):
        from .sqlite import SqliteStore

        return SqliteStore(Path(unquote(split.path[1:])), clock)
    if split.scheme in ("postgresql", "postgres"):
        try:
            from .postgresql import PostgresStore
        except ImportError as missing:
            raise refused(
                "database",
                "driver_missing",
                "PostgreSQL needs the driver asyncpg: install adsunify[postgres].",
            ) from missing
        return PostgresStore(url, clock)
    raise refused(
        "database",
        "unsupported_database",
        "The database is given as sqlite:///path.db (a file; three slashes, four before an absolute path) "
        "or postgresql://user:password@host/name.",
    )
