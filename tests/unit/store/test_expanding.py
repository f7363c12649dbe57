"""What migrations say about themselves is true: expanding ones leave everything that older versions use."""

from __future__ import annotations

from collections.abc import AsyncIterator
from functools import partial

import pytest
from sqlalchemy import text

from adsunify.store import Clock, Store, migrate
from adsunify.store.opening import _make_store

from .schema_changes import find_breaks, find_emptied_tables, find_new_indexes, read_schema

CHECKED_FOR_INDEXES = "0020"
"""Migrations before this one were never run while servers served."""


@pytest.fixture
async def empty_store(empty_url: str) -> AsyncIterator[Store]:
    """An open database without any table."""
    store = _make_store(empty_url, Clock())
    yield store
    await store.close()


async def run_one(store: Store, migration: migrate.Migration) -> None:
    before = await store.read(migrate.read_schema_state)
    function = partial(migrate.run_migrations, before=before, migrations=[migration])
    await store.upgrade(function, migration.in_transaction)


async def test_expanding_migrations_break_no_older_version(empty_store: Store) -> None:
    emptied, wrong = find_emptied_tables(), {}
    before = await empty_store.read(read_schema)
    for migration in migrate.list_migrations():
        await run_one(empty_store, migration)
        after = await empty_store.read(read_schema)
        breaks = find_breaks(before, after, emptied)
        if migration.kind == "contracting":
            assert migration.in_transaction, f"{migration.version} is contracting, so it must be all or nothing"
        else:
            if migration.version >= CHECKED_FOR_INDEXES and migration.in_transaction:
                breaks += [f"builds {name} in a transaction" for name in find_new_indexes(before, after)]
            if breaks:
                wrong[migration.version] = breaks
        before = after
    assert wrong == {}, "these migrations are contracting, or must do it in another way (CONTRIBUTING.md)"


def test_a_migration_that_changes_old_columns_is_contracting() -> None:
    kinds = {migration.version: migration.kind for migration in migrate.list_migrations()}
    assert kinds["0006"] == kinds["0012"] == "contracting"
    assert {kinds[version] for version in ("0019", "0020", "0021")} == {"expanding"}


HARMLESS = {
    "a nullable column": "ALTER TABLE operations ADD COLUMN cost TEXT",
    "a column with a default": "ALTER TABLE operations ADD COLUMN cost TEXT NOT NULL DEFAULT ''",
    "a table": "CREATE TABLE costs (id TEXT PRIMARY KEY, operation_id TEXT REFERENCES operations (id))",
    "a table that ends with its parent": (
        "CREATE TABLE costs (id TEXT PRIMARY KEY, webhook_id TEXT,"
        " FOREIGN KEY (webhook_id) REFERENCES webhooks (id) ON DELETE CASCADE)"
    ),
}
HARMFUL = {
    "drops the table": "DROP TABLE staged_figures",
    "drops or renames the column undoes": "ALTER TABLE operations DROP COLUMN undoes",
    "drops or renames the column name": "ALTER TABLE workspaces RENAME COLUMN name TO title",
    "is NOT NULL and has no default": "ALTER TABLE staged_figures ADD COLUMN cost TEXT NOT NULL",
    "unique": "CREATE UNIQUE INDEX uq_names ON api_keys (name)",
    "deleting rows of webhooks": "CREATE TABLE costs (id TEXT PRIMARY KEY, webhook_id TEXT REFERENCES webhooks (id))",
    "on which ON CONFLICT depends": "DROP INDEX ix_ledger_sealed",
}
ON_POSTGRESQL = {  # SQLite cannot alter columns and constraints
    "changes the type": "ALTER TABLE alert_breaches ALTER COLUMN period TYPE VARCHAR(10)",
    "forbids NULL": "ALTER TABLE operations ALTER COLUMN undoes SET NOT NULL",
    "drops the default": "ALTER TABLE operations ALTER COLUMN unified DROP DEFAULT",
    "adds a CHECK": "ALTER TABLE operations ADD CONSTRAINT ck_fence CHECK (fence < 10)",
    "changes the primary key": "ALTER TABLE ledger_heads DROP CONSTRAINT pk_ledger_heads",
    "reference": "ALTER TABLE operations ADD CONSTRAINT fk_undoes FOREIGN KEY (undoes) REFERENCES operations (id)",
}


@pytest.mark.parametrize("change", HARMLESS)
async def test_what_older_versions_survive(store: Store, change: str) -> None:
    assert await find_breaks_of(store, HARMLESS[change]) == []


@pytest.mark.parametrize("message", HARMFUL)
async def test_what_older_versions_do_not_survive(store: Store, message: str) -> None:
    assert any(message in problem for problem in await find_breaks_of(store, HARMFUL[message]))


@pytest.mark.parametrize("engine", ["postgresql"])
@pytest.mark.parametrize("message", ON_POSTGRESQL)
async def test_what_older_versions_do_not_survive_on_postgresql(store: Store, message: str) -> None:
    assert any(message in problem for problem in await find_breaks_of(store, ON_POSTGRESQL[message]))


class _RolledBack(Exception):
    """The schema stays as it was: the other tests use the same database."""


async def find_breaks_of(store: Store, statement: str) -> list[str]:
    breaks: list[str] = []

    def change(connection: object) -> None:
        before = read_schema(connection)  # type: ignore[arg-type]
        connection.execute(text(statement))  # type: ignore[attr-defined]
        breaks.extend(find_breaks(before, read_schema(connection), find_emptied_tables()))  # type: ignore[arg-type]
        raise _RolledBack

    with pytest.raises(_RolledBack):
        await store.write(change)
    return breaks
