"""Migrates a database to the schema of this version, under a lock, before it is used."""

from __future__ import annotations

from pathlib import Path

from sqlalchemy import Connection, inspect, text

from adsunify.errors import StoreError

HEAD_VERSION = "0020"
"""The newest migration of this version."""
_MIGRATIONS = Path(__file__).parent / "migrations"
_LOCK = text("SELECT pg_advisory_xact_lock(7310294715)")  # an arbitrary number that never changes
_VERSION = text("SELECT version_num FROM alembic_version")


def read_version(connection: Connection) -> str | None:
    """Return the migration of the database; None if the database is empty."""
    if not inspect(connection).has_table("alembic_version"):
        return None
    return connection.execute(_VERSION).scalar_one_or_none()


def migrate_schema(connection: Connection) -> None:
    """Run the missing migrations.

    On SQLite the write transaction is the lock. On PostgreSQL it is an advisory lock that ends with the transaction.

    Raises:
        StoreError: a newer version of adsunify has migrated the database.
    """
    if connection.dialect.name == "postgresql":
        connection.execute(_LOCK)
    version = read_version(connection)
    if version == HEAD_VERSION:
        return
    # alembic takes long to import, and only an outdated database needs it
    from alembic.config import Config
    from alembic.runtime.environment import EnvironmentContext
    from alembic.script import ScriptDirectory

    scripts = ScriptDirectory(str(_MIGRATIONS), version_locations=[str(_MIGRATIONS)])
    if version is not None and version not in {script.revision for script in scripts.walk_revisions()}:
        raise StoreError(f"The database is at migration {version}, which is newer than this version of adsunify knows.")
    with EnvironmentContext(
        Config(),
        scripts,
        fn=lambda revision, _context: scripts._upgrade_revs(HEAD_VERSION, revision),
        destination_rev=HEAD_VERSION,
    ) as environment:
        environment.configure(connection=connection)
        with environment.begin_transaction():
            environment.run_migrations()
