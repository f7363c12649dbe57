"""Reads the version of the schema, checks whether this version of adsunify may use it, and runs migrations.

A migration is ``expanding`` if servers of the previous version work correctly on the new schema.
Otherwise it is ``contracting``, and those servers must be stopped before it runs. ``docs/upgrading.md`` describes both.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

from attrs import frozen
from sqlalchemy import Connection, inspect, text
from sqlalchemy.exc import DBAPIError

if TYPE_CHECKING:
    from alembic.script import ScriptDirectory

HEAD_VERSION = "0026"
"""The newest migration of this version."""
OLDEST_RECORDED_SINCE = "0021"
"""The first migration after which a database records the oldest version that may use it."""
LOCK_TIMEOUT_MILLISECONDS = 500
"""How long a migration waits for a lock of PostgreSQL.

Requests that need the table wait at most this long behind the migration.
"""
MIGRATIONS_FOLDER = Path(__file__).parent / "migrations"
_LOCK_NUMBER = 7310294715  # an arbitrary number that never changes
_VERSION = text("SELECT version_num FROM alembic_version")
_OLDEST = text("SELECT oldest_version FROM alembic_version")
_RAISE_OLDEST = text(
    "UPDATE alembic_version SET oldest_version = :oldest WHERE oldest_version IS NULL OR oldest_version < :oldest"
)
_BLOCKED_STATES = ("55P03", "40P01")  # lock_not_available, deadlock_detected

MigrationKind = Literal["expanding", "contracting"]


# -- the version of a database ------------------------------------------------------------------------------------


@frozen
class SchemaState:
    """The version of a database: the number of its newest migration.

    Attributes:
        version: None if the database is empty.
        oldest_version: the oldest version of the schema whose servers may use the database; None unless a newer version
            of adsunify has migrated the database.
    """

    version: str | None
    oldest_version: str | None = None

    @property
    def is_outdated(self) -> bool:
        """Whether migrations of this version are missing."""
        return self.version is None or self.version < HEAD_VERSION

    def explain_mismatch(self) -> str | None:
        """Return why this version of adsunify cannot use the database; None if it can."""
        if self.is_outdated:
            return f"The database is at migration {self.version}; this version of adsunify needs {HEAD_VERSION}."
        if self.version == HEAD_VERSION or (self.oldest_version or self.version or "") <= HEAD_VERSION:
            return None
        return (
            f"A newer version of adsunify has upgraded the database to migration {self.version}. Versions from "
            f"migration {self.oldest_version or self.version} on can use it; this version has migration {HEAD_VERSION}."
            " Install a newer version."
        )


def read_schema_state(connection: Connection) -> SchemaState:
    """Read the version of the database."""
    if not inspect(connection).has_table("alembic_version"):
        return SchemaState(None)
    version = connection.execute(_VERSION).scalar_one_or_none()
    is_newer = version is not None and version > HEAD_VERSION
    return SchemaState(version, connection.execute(_OLDEST).scalar_one() if is_newer else None)


# -- migrations ---------------------------------------------------------------------------------------------------


@frozen
class Migration:
    """One migration. ``summary``: the first sentence of its docstring.

    ``in_transaction``: whether it runs in a transaction. Otherwise each of its statements is its own transaction on
    PostgreSQL, which an index that is built ``CONCURRENTLY`` needs. Then it must be possible to run the migration
    again.
    """

    version: str
    kind: MigrationKind
    in_transaction: bool
    summary: str


class MigrationBlocked(Exception):
    """A migration changed nothing, because another process held a lock.

    ``by_migration``: whether that process migrates.
    """

    def __init__(self, by_migration: bool) -> None:
        super().__init__()
        self.by_migration = by_migration


def list_migrations() -> list[Migration]:
    """Return all migrations of this version, oldest first."""
    return [_read_migration(script.module) for script in reversed(list(_load_scripts().walk_revisions()))]


def find_oldest_version(migrations: Sequence[Migration], version: str) -> str:
    """Return the oldest version of the schema whose servers may use a database of ``version``."""
    return max(
        migration.version
        for migration in migrations
        if migration.kind == "contracting" and migration.version <= version
    )


def run_migrations(connection: Connection, before: SchemaState, migrations: Sequence[Migration]) -> None:
    """Run migrations on a database, unless another process has run them.

    On SQLite the write transaction is the lock. On PostgreSQL it is an advisory lock.

    Args:
        connection: with an open transaction if the migrations need one.
        before: the version that the database must have.
        migrations: the next migrations, all with the same ``in_transaction``.

    Raises:
        MigrationBlocked: another process migrates, or holds a lock of a table.
    """
    # alembic takes long to import, and only an outdated database needs it
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext

    scripts, target = _load_scripts(), migrations[-1].version
    with _hold_lock(connection, migrations[0].in_transaction):
        if read_schema_state(connection) != before:
            return
        with EnvironmentContext(
            Config(),
            scripts,
            fn=lambda revision, _context: scripts._upgrade_revs(target, revision),
            destination_rev=target,
        ) as environment:
            environment.configure(connection=connection)
            with environment.begin_transaction():
                environment.run_migrations()
        if target >= OLDEST_RECORDED_SINCE:
            raise_oldest_version(connection, find_oldest_version(list_migrations(), target))


def raise_oldest_version(connection: Connection, version: str) -> None:
    """Record that only servers of a version, and of later ones, may use the database.

    Called before the first write of data that older servers cannot read or would ignore.
    """
    connection.execute(_RAISE_OLDEST, {"oldest": version})


def _load_scripts() -> ScriptDirectory:
    from alembic.script import ScriptDirectory

    return ScriptDirectory(str(MIGRATIONS_FOLDER), version_locations=[str(MIGRATIONS_FOLDER)])


def _read_migration(module: Any) -> Migration:
    return Migration(
        module.revision,
        module.kind,
        getattr(module, "in_transaction", True),
        module.__doc__.splitlines()[0].partition(". ")[0].removesuffix("."),
    )


@contextmanager
def _hold_lock(connection: Connection, in_transaction: bool) -> Iterator[None]:
    """Hold the lock of migrations.

    It tries without waiting, because a waiting process would block an index that is built concurrently.
    """
    if connection.dialect.name != "postgresql":
        yield
        return
    kind = "xact_" if in_transaction else ""
    if not connection.execute(text(f"SELECT pg_try_advisory_{kind}lock({_LOCK_NUMBER})")).scalar_one():
        raise MigrationBlocked(by_migration=True)
    try:
        if in_transaction:
            connection.execute(text(f"SET LOCAL lock_timeout = {LOCK_TIMEOUT_MILLISECONDS}"))
        yield
    except DBAPIError as error:
        if getattr(error.orig, "sqlstate", None) in _BLOCKED_STATES:
            raise MigrationBlocked(by_migration=False) from error
        raise
    finally:
        if not in_transaction:
            connection.execute(text(f"SELECT pg_advisory_unlock({_LOCK_NUMBER})"))
