"""Pages of operations: what they hold with filters, and that their cost does not grow with the table."""

from __future__ import annotations

import random
from itertools import product
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection, text, update

from adsunify.actor import Actor
from adsunify.plans.records import Plan
from adsunify.store import operation_pages, operations, schema
from adsunify.store.connections import DiscoveredAccountRow
from adsunify.store.operation_pages import (
    FIND_LAST_EXAMINED,
    MAX_TIME,
    SELECT_PAGE,
    IndexName,
    OperationFilter,
    list_operation_page,
)
from adsunify.store.operations import OperationDraft, OperationRecord
from adsunify.store.statement import FETCH_BY_DIALECT, Statement

from .world import PLAN, START, World, connect, other_credential

KEEP_EXAMINED = 7
INDEX_NAMES: dict[IndexName, str] = {
    "unknown": "ix_operations_of_status_unknown",
    "running": "ix_operations_of_status_running",
    "credential": "ix_operations_workspace_id_credential_created_at_id",
    "account": "ix_operations_workspace_id_account_id_created_at_id",
    "user": "ix_operations_workspace_id_user_id_created_at_id",
    "workspace": "ix_operations_workspace_id_created_at_id",
}


async def prepare_many(world: World, actors: list[Actor]) -> list[OperationRecord]:
    """Operations of several people, accounts, actions, states and times, newest first."""
    other = await connect(world.store, world.admin, DiscoveredAccountRow("1"), network="google")
    rng = random.Random(16)
    states: list[dict[str, Any]] = [
        {"status": "prepared"},
        {"status": "unknown"},
        {"status": "succeeded"},
        {"status": "running", "lease_until": START + 10**9, "in_flight": False},
        {"status": "running", "lease_until": START - 1, "in_flight": False},  # is shown as prepared
        {"status": "running", "lease_until": START - 1, "in_flight": True},  # is stalled
    ]
    for _ in range(60):
        account = rng.choice([world.account, other])
        plan: Plan = evolve(PLAN, network=account.network, action=rng.choice(["create", "edit"]))
        drafts = [OperationDraft(account.id, plan)] * rng.choice([1, 1, 2])
        prepared = await world.store.write(operations.prepare_operations, rng.choice(actors), drafts, world.clock)
        table = schema.operations
        for id_ in prepared.operation_ids:
            change = update(table).where(table.c.id == id_).values(**rng.choice(states))
            await world.store.write(lambda connection, change=change: connection.execute(change))
        world.hands.pass_(rng.choice([0, 1, 500]))
    return await world.store.read(operations.list_operations, world.admin, world.clock, 1000)


async def read_all(world: World, actor: Actor, filter_: OperationFilter, limit: int) -> list[str]:
    ids: list[str] = []
    after = None
    while True:
        records, after = await world.store.read(list_operation_page, actor, filter_, after, limit, world.clock)
        assert len(records) <= limit
        ids += [record.id for record in records]
        if after is None:
            return ids


async def test_pages_hold_what_the_filters_say(world: World, monkeypatch: pytest.MonkeyPatch) -> None:
    """Each operation is on exactly one page, also where pages end early because they examined enough."""
    agent = other_credential(world.member, "client user")
    every = await prepare_many(world, [world.admin, world.member, agent])
    middle = every[len(every) // 2].created_at
    choices = {
        "status": (None, "prepared", "running", "unknown", "succeeded", "cancelled"),
        "account_id": (None, world.account.id),
        "network": (None, "google"),
        "action": (None, "edit"),
        "created_by": (None, world.member.user_id, "client user"),
    }
    for values in product(*choices.values()):
        named = dict(zip(choices, values, strict=True))
        filters = [
            OperationFilter(**named),
            OperationFilter(**named, since=middle),
            OperationFilter(**named, until=middle),
        ]
        filter_ = filters[len(values[0] or "") % 3]
        for actor in (world.admin, world.member, agent):
            expected = [
                record.id
                for record in every
                if actor.can_see(record.workspace_id, record.user_id, record.credential)
                and all(
                    getattr(record, name) == value for name, value in named.items() if value and name != "created_by"
                )
                and named["created_by"] in (None, record.user_id, record.credential)
                and filter_.since <= record.created_at < filter_.until
            ]
            assert await read_all(world, actor, filter_, 50) == expected
    monkeypatch.setattr(operation_pages, "MAX_EXAMINED", KEEP_EXAMINED)
    for filter_ in (OperationFilter(), OperationFilter(status="prepared", network="google", since=middle)):
        for limit in (3, KEEP_EXAMINED, 20):
            paged = await read_all(world, world.admin, filter_, limit)
            assert paged == [
                record.id
                for record in every
                if filter_ == OperationFilter() or (record.status, record.network) == ("prepared", "google")
                if record.created_at >= filter_.since
            ]


def explain(connection: Connection, statement: Statement) -> str:
    compiled = statement._compile_for(connection)
    numbers = ("at_most", "before_time", "examined_before", "last_time", "now", "since")
    values = {
        name: 1 if name in numbers else "x" for name in compiled.parameter_names if name not in compiled.default_values
    }
    values |= {"before_time": MAX_TIME}
    prefix = "EXPLAIN QUERY PLAN" if connection.dialect.name == "sqlite" else "EXPLAIN"
    fetch = FETCH_BY_DIALECT[connection.dialect.name]
    rows = fetch(connection, f"{prefix} {compiled.text}", compiled.bind_values(values))
    return "\n".join(str(row[-1]) for row in rows)


@pytest.mark.parametrize("statements", [FIND_LAST_EXAMINED, SELECT_PAGE], ids=["end", "rows"])
async def test_a_page_walks_along_one_index(world: World, statements: dict[IndexName, Statement]) -> None:
    """Nothing is sorted, and the walk begins at the cursor and ends at the last entry that a page examines."""

    def explain_all(connection: Connection) -> dict[IndexName, str]:
        if connection.dialect.name == "postgresql":
            connection.execute(text("SET LOCAL enable_seqscan = off"))
            connection.execute(text("SET LOCAL enable_bitmapscan = off"))
        return {name: explain(connection, statement) for name, statement in statements.items()}

    plans = await world.store.write(explain_all)
    for name, plan in plans.items():
        assert "TEMP B-TREE" not in plan and "Sort" not in plan, plan
        if "USING" in plan:
            assert f" INDEX {INDEX_NAMES[name]} (workspace_id=? AND " in plan and "created_at" in plan, plan
        else:
            assert "Index" in plan and "Backward" in plan and "Index Cond" in plan and "ROW(created_at, id)" in plan, (
                plan
            )
