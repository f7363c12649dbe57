"""Two versions use one database: which of them may, and an upgrade beside transactions of others."""

from __future__ import annotations

import asyncio
import sqlite3
from contextlib import closing
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import Connection, inspect, text

from adsunify.errors import StoreError
from adsunify.store import open_store, read_upgrade_plan, upgrading
from adsunify.store.migrate import HEAD_VERSION, SchemaState, read_schema_state

from .newer import ADD_COLUMN, BUILD_INDEX, DROP_COLUMN, NEXT_VERSION, newer_version


def columns(connection: Connection) -> set[str]:
    return {column["name"] for column in inspect(connection).get_columns("operations")}


def indexes(connection: Connection) -> set[str | None]:
    return {index["name"] for index in inspect(connection).get_indexes("operations")}


async def test_an_older_version_opens_what_a_newer_one_has_expanded(empty_url: str, tmp_path: Path) -> None:
    older = await open_store(empty_url)
    with newer_version(tmp_path):
        await (await open_store(empty_url)).close()
    assert "cost" in await older.read(columns)
    started = await open_store(empty_url)
    for store in (older, started):
        state = await store.read(read_schema_state)
        assert (state.version, state.oldest_version, state.explain_mismatch()) == (NEXT_VERSION, "0018", None)
        await store.close()
    plan = await read_upgrade_plan(empty_url)
    assert (plan.version, plan.migrations) == (NEXT_VERSION, [])


async def test_a_contracting_migration_runs_on_demand_only_and_ends_older_versions(
    empty_url: str, tmp_path: Path
) -> None:
    older = await open_store(empty_url)
    with newer_version(tmp_path, "contracting", DROP_COLUMN):
        with pytest.raises(StoreError, match=rf"Stop all servers and workers before migration {NEXT_VERSION}"):
            await open_store(empty_url)
        assert "undone_by" in await older.read(columns)
        await (await open_store(empty_url, run_contracting=True)).close()
        await (await open_store(empty_url)).close()
    mismatch = rf"newer version of adsunify .* migration {NEXT_VERSION} on can use it; .* migration {HEAD_VERSION}\."
    assert (await older.read(read_schema_state)) == SchemaState(NEXT_VERSION, NEXT_VERSION)
    await older.close()
    for run in (open_store(empty_url), read_upgrade_plan(empty_url)):
        with pytest.raises(StoreError, match=mismatch):
            await run


async def test_a_new_database_needs_no_demand(empty_url: str, tmp_path: Path) -> None:
    with newer_version(tmp_path, "contracting", DROP_COLUMN):
        await (await open_store(empty_url)).close()


async def test_a_plan_changes_nothing(empty_url: str, tmp_path: Path) -> None:
    plan = await read_upgrade_plan(empty_url)
    assert (plan.version, plan.migrations[-1].version, plan.contracting) == (None, HEAD_VERSION, [])
    assert not list(tmp_path.glob("*.db"))
    await (await open_store(empty_url)).close()
    with newer_version(tmp_path, "contracting", DROP_COLUMN):
        for _ in range(2):
            plan = await read_upgrade_plan(empty_url)
            assert [(migration.version, migration.kind) for migration in plan.contracting] == [
                (NEXT_VERSION, "contracting")
            ]
            assert (plan.version, plan.oldest_version) == (HEAD_VERSION, NEXT_VERSION)


async def test_an_index_is_built_while_others_write(empty_url: str, tmp_path: Path) -> None:
    """Several processes start at once, and a transaction of an older version is open for a time."""
    older = await open_store(empty_url)
    writing = asyncio.Event()

    async def write() -> None:
        while not writing.is_set():
            await older.write(lambda connection: connection.execute(text("UPDATE operations SET undoes = id")) and None)
            await asyncio.sleep(0.01)

    writer = asyncio.create_task(write())
    with newer_version(tmp_path, body=BUILD_INDEX, in_transaction=False):
        stores = await asyncio.gather(*(open_store(empty_url) for _ in range(3)))
    writing.set()
    await writer
    assert "ix_operations_cost" in await older.read(indexes)
    assert (await older.read(read_schema_state)) == SchemaState(NEXT_VERSION, "0018")
    for store in (older, *stores):
        await store.close()


async def test_a_migration_that_ended_half_way_runs_again(empty_url: str, tmp_path: Path) -> None:
    """Without a transaction an index may exist already, and PostgreSQL may have marked it as invalid."""
    store = await open_store(empty_url)
    statement = text("CREATE INDEX ix_operations_cost ON operations (undone_by)")
    await store.write(lambda connection: connection.execute(statement) and None)
    await store.close()
    with newer_version(tmp_path, body=BUILD_INDEX, in_transaction=False):
        store = await open_store(empty_url)

    def get_index_columns(connection: Connection) -> list[str | None]:
        (index,) = (
            candidate
            for candidate in inspect(connection).get_indexes("operations")
            if candidate["name"] == "ix_operations_cost"
        )
        return index["column_names"]

    assert await store.read(get_index_columns) == ["undoes"]
    await store.close()


@pytest.mark.parametrize("engine", ["postgresql"])
async def test_a_migration_gives_way_to_long_transactions(
    empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It waits for a lock for a short time only, so that requests behind it can go on, and then tries again."""
    monkeypatch.setattr(upgrading, "LOCK_PAUSE_SECONDS", 0.05)
    older = await open_store(empty_url)
    holding = await asyncpg.connect(empty_url)
    await holding.execute("BEGIN; LOCK TABLE operations IN ACCESS SHARE MODE")
    with newer_version(tmp_path, body=ADD_COLUMN):
        upgrade = asyncio.create_task(open_store(empty_url))
        # the wait of the migration ends before the transaction does, and a request behind it is answered
        assert await older.write(lambda connection: connection.execute(text("DELETE FROM operations")).rowcount) == 0
        assert "cost" not in await older.read(columns)
        await holding.execute("COMMIT")
        await (await upgrade).close()
        assert "cost" in await older.read(columns)
    await older.close()
    await holding.close()


@pytest.mark.parametrize("engine", ["postgresql"])
async def test_a_table_that_stays_locked(empty_url: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(upgrading, "LOCK_PAUSE_SECONDS", 0)
    monkeypatch.setattr(upgrading, "LOCK_ATTEMPTS", 2)
    older = await open_store(empty_url)
    holding = await asyncpg.connect(empty_url)
    await holding.execute("BEGIN; LOCK TABLE operations IN ACCESS SHARE MODE")
    with newer_version(tmp_path), pytest.raises(StoreError, match=rf"Migration {NEXT_VERSION} could not get the lock"):
        await open_store(empty_url)
    await holding.close()
    assert (await older.read(read_schema_state)).version == HEAD_VERSION
    await older.close()


@pytest.mark.parametrize("engine", ["sqlite"])
async def test_a_migration_waits_for_a_writer_of_another_process(empty_url: str, tmp_path: Path) -> None:
    await (await open_store(empty_url)).close()
    with closing(sqlite3.connect(empty_url.removeprefix("sqlite:///"), isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with newer_version(tmp_path):
            upgrade = asyncio.create_task(open_store(empty_url))
            for _ in range(20):
                await asyncio.sleep(0.01)
            assert not upgrade.done()
            other.execute("COMMIT")
            await (await upgrade).close()
