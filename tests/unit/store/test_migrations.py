"""The migrations make what the tables say, on both engines, once, whichever process starts first."""

from __future__ import annotations

import asyncio
import sqlite3
import subprocess
import sys
from collections.abc import Awaitable, Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import asyncpg
import pytest
from alembic.autogenerate import compare_metadata
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from sqlalchemy import Connection, inspect, text

from adsunify.errors import StoreError
from adsunify.execution.state import CreatedId, StateCommit
from adsunify.guardrails.rules import RuleSet
from adsunify.store import guardrails, migrate, open_store, operations
from adsunify.store.operations import OperationDraft
from adsunify.store.schema import WHERE, metadata
from adsunify.store.state_commits import commit_state

from .world import LEASE, Hands, make_receipt, make_world, plan_of

Execute = Callable[[str], Awaitable[None]]


@pytest.fixture
def execute(empty_url: str) -> Execute:
    """Runs a statement past the store."""

    async def run(statement: str) -> None:
        if empty_url.startswith("sqlite"):
            with closing(sqlite3.connect(empty_url.removeprefix("sqlite:///"))) as connection:
                connection.execute(statement)
            return
        connection = await asyncpg.connect(empty_url)
        await connection.execute(statement)
        await connection.close()

    return run


def differences(connection: Connection) -> list[Any]:
    return list(compare_metadata(MigrationContext.configure(connection, opts={"compare_type": True}), metadata))


def shape(connection: Connection) -> dict[str, Any]:
    """What autogenerate does not compare: keys, uniqueness, and the columns of indexes."""
    inspector = inspect(connection)
    return {
        table.name: (
            inspector.get_pk_constraint(table.name)["constrained_columns"],
            sorted(constraint["column_names"] for constraint in inspector.get_unique_constraints(table.name)),
            sorted(
                index["column_names"]
                for index in inspector.get_indexes(table.name)
                if "duplicates_constraint" not in index
            ),
        )
        for table in metadata.sorted_tables
    }


async def test_the_head_equals_the_metadata(empty_url: str) -> None:
    store = await open_store(empty_url)
    assert await store.read(differences) == []
    migrated = await store.read(shape)

    def recreate_tables(connection: Connection) -> None:
        metadata.drop_all(connection)
        metadata.create_all(connection)

    await store.write(recreate_tables)
    assert await store.read(shape) == migrated
    await store.close()


def read_partial_indexes(connection: Connection) -> dict[str | None, str]:
    """The rows that each partial index holds, in one spelling."""
    inspector, option = inspect(connection), f"{connection.dialect.name}_where"
    return {
        index["name"]: str(index["dialect_options"][option]).strip("()").replace("::text", "")
        for table in metadata.sorted_tables
        for index in inspector.get_indexes(table.name)
        if option in index.get("dialect_options", {})
    }


async def test_partial_indexes_hold_the_rows_that_the_tables_say(empty_url: str) -> None:
    store = await open_store(empty_url)
    indexes = [index for table in metadata.sorted_tables for index in table.indexes]
    assert await store.read(read_partial_indexes) == {
        str(index.name): index.info[WHERE] for index in indexes if WHERE in index.info
    }
    await store.close()


def test_the_head_is_the_last_migration() -> None:
    folder = str(Path(migrate.__file__).parent / "migrations")
    scripts = ScriptDirectory(folder, version_locations=[folder])
    assert scripts.get_heads() == [migrate.HEAD_VERSION]
    assert [Path(script.path).name[:4] for script in scripts.walk_revisions()] == [
        script.revision for script in scripts.walk_revisions()
    ]


async def test_all_who_start_together_open_a_migrated_database(empty_url: str) -> None:
    stores = await asyncio.gather(*(open_store(empty_url) for _ in range(4)))
    for store in stores:
        assert (await store.read(migrate.read_schema_state)).version == migrate.HEAD_VERSION
        await store.close()


async def test_a_failed_migration_leaves_the_database_as_it_was(empty_url: str, execute: Execute) -> None:
    """A table stands in the way of one of the last: nothing of those before it stays."""
    await execute("CREATE TABLE events (id text)")
    for _ in range(2):
        with pytest.raises(StoreError, match="events"):
            await open_store(empty_url)
    await execute("DROP TABLE events")
    store = await open_store(empty_url)
    assert await store.read(differences) == []
    await store.close()


BEFORE_KEEPING = (
    *(f"ALTER TABLE operations DROP COLUMN {name}" for name in ("plan_removed_at", "responses_removed_at")),
    "ALTER TABLE operations DROP COLUMN restored_at",
)
BEFORE_LAUNCHES = (
    "ALTER TABLE alembic_version DROP COLUMN oldest_version",
    *BEFORE_KEEPING,
    *(f"DROP TABLE {name}" for name in ("change_set_members", "change_sets", "launch_cells", "launches")),
    "ALTER TABLE operations DROP COLUMN launch_id",
)
BEFORE_UNDOS = (
    *BEFORE_LAUNCHES,
    *(f"ALTER TABLE operations DROP COLUMN {name}" for name in ("undoes", "undone_by")),
)
BEFORE_CHAINS = (
    *BEFORE_UNDOS,
    "DROP INDEX ix_operations_chain_id",
    *(f"ALTER TABLE operations DROP COLUMN {name}" for name in ("resumes", "resumed_by", "chain_id", "chain_receipts")),
)
BEFORE_ALERTS = (
    *BEFORE_CHAINS,
    *(f"DROP TABLE {name}" for name in ("alert_breaches", "alert_evaluations", "alerts")),
    "ALTER TABLE entities DROP COLUMN activated_at",
)
BEFORE_FIGURES = (
    *BEFORE_ALERTS,
    *(f"DROP TABLE {name}" for name in ("ledger", "ledger_heads", "verdicts")),
    *(f"DROP TABLE {name}" for name in ("figure_reads", "figures", "staged_figures")),
    "DROP INDEX ix_operations_workspace_id_account_id_created_at_id",
    *(f"DROP INDEX ix_operations_of_status_{status}" for status in ("unknown", "running")),
)
BEFORE_LEVELS = (
    *BEFORE_FIGURES,
    "DROP TABLE reports",
    (
        "CREATE TABLE reports (id TEXT NOT NULL, workspace_id TEXT NOT NULL, account_id TEXT NOT NULL,"
        " start_date TEXT NOT NULL, end_date TEXT NOT NULL, state TEXT NOT NULL, job TEXT,"
        " created_at BIGINT NOT NULL, updated_at BIGINT NOT NULL,"
        "\nCONSTRAINT fk_reports_account_id FOREIGN KEY (account_id) REFERENCES accounts (id),"
        "\nCONSTRAINT fk_reports_workspace_id FOREIGN KEY (workspace_id) REFERENCES workspaces (id),"
        "\nCONSTRAINT pk_reports PRIMARY KEY (id),"
        "\nCONSTRAINT uq_reports_account_id_start_date_end_date UNIQUE (account_id, start_date, end_date))"
    ),
)
BEFORE_CALLS = (*BEFORE_LEVELS, "ALTER TABLE operations DROP COLUMN call_spend")
BEFORE_GUARDRAILS = (
    *BEFORE_CALLS,
    *(f"DROP TABLE {name}" for name in ("guardrail_uses", "guardrail_hours", "guardrails", "frozen_credentials")),
    "DROP TABLE budgets",
    "ALTER TABLE workspaces DROP COLUMN guardrails_version",
)
BEFORE_SCOPES = (
    *BEFORE_GUARDRAILS,
    "ALTER TABLE api_keys DROP COLUMN scope",
    "ALTER TABLE grants DROP COLUMN scope",
)
BEFORE_ACTORS = (
    *BEFORE_SCOPES,
    "DROP TABLE created_entities",
    "ALTER TABLE operations DROP COLUMN executed_by",
    "ALTER TABLE operations DROP COLUMN cancelled_by",
    "ALTER TABLE steps DROP COLUMN executed_by",
    "UPDATE alembic_version SET version_num = '0006'",
)
BEFORE_PACKING = (
    *BEFORE_ACTORS,
    "ALTER TABLE operations DROP COLUMN plan",
    "ALTER TABLE operations ADD COLUMN plan text NOT NULL DEFAULT ''",
    "UPDATE alembic_version SET version_num = '0005'",
)


async def test_plans_are_packed(empty_url: str) -> None:
    world = await make_world(await open_store(empty_url), Hands())
    plans = [plan_of(f"step{n}") for n in range(501)]
    drafts = [OperationDraft(world.account.id, plan) for plan in plans]
    prepared = await world.store.write(operations.prepare_operations, world.admin, drafts, world.clock)

    def restore_old_plans(connection: Connection) -> None:
        for statement in BEFORE_PACKING:
            connection.execute(text(statement))
        rows = [
            {"plan": plan.canonical_bytes.decode("ascii"), "id": id_}
            for plan, id_ in zip(plans, prepared.operation_ids, strict=True)
        ]
        connection.execute(text("UPDATE operations SET plan = :plan WHERE id = :id"), rows)

    await world.store.write(restore_old_plans)
    await world.store.close()
    with pytest.raises(StoreError, match=r"after migration 0006, .*`adsunify db upgrade`"):
        await open_store(empty_url)
    world.store = await open_store(empty_url, run_contracting=True)
    assert [(await world.get(id_)).read_plan() for id_ in prepared.operation_ids] == plans
    assert await world.store.read(differences) == []
    await world.store.close()


async def test_an_execution_goes_on_after_an_upgrade(empty_url: str) -> None:
    """What an older version executed names nobody; what follows names who executed it, and records what it created."""
    world = await make_world(await open_store(empty_url), Hands())
    operation = await world.prepare()
    first = await world.claim(operation)
    await world.advance(
        StateCommit(operation, first.fence, receipt=make_receipt(0), trigger="hand_back", has_next_action=True)
    )

    def restore_old_actors(connection: Connection) -> None:
        for statement in BEFORE_ACTORS:
            connection.execute(text(statement))

    await world.store.write(restore_old_actors)
    await world.store.close()
    world.store = await open_store(empty_url, run_contracting=True)
    assert await world.store.read(differences) == []
    assert await world.store.read(guardrails.load_rules, world.admin.workspace_id) == RuleSet(version=0)
    assert (await world.get(operation)).executed_by is None
    second = await world.claim(operation, n=1)
    end = StateCommit(operation, second.fence, receipt=make_receipt(1), trigger="succeed")
    done = await world.store.write(commit_state, end, world.admin, world.clock, LEASE, created=[CreatedId("ad", "111")])
    assert done.refusal is None
    record = await world.get(operation)
    assert record.status == "succeeded" and record.executed_by is not None
    assert [attempt.executed_by is None for attempt in await world.attempts(operation)] == [True, False]
    await world.store.close()


def test_a_database_that_is_up_to_date_needs_no_alembic(sqlite_template: Path) -> None:
    program = (
        "import asyncio, sys\n"
        "from adsunify.store import open_store\n"
        f"asyncio.run(open_store('sqlite:///{sqlite_template}'))\n"
        "sys.exit('alembic' in sys.modules)\n"
    )
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0
