"""Preparations of many callers at once: each is kept whole or not at all, and only where nobody else has to be told."""

from __future__ import annotations

import asyncio
from collections import Counter
from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import Connection, func, select, text

from adsunify.errors import Conflict, StoreError
from adsunify.plans.marks import IdempotencyMark
from adsunify.plans.records import add_operation_marks as marked
from adsunify.store import Store, open_store, operations, webhooks
from adsunify.store.events import list_operation_events
from adsunify.store.operations import Idempotency, OperationDraft, PreparedOperations
from adsunify.store.schema import deliveries, events, idempotency_keys
from adsunify.store.schema import operations as table

from .world import PLAN, World, plan_of


def preparing(world: World, key: str | None = None, digest: str = "d", account_id: str | None = None) -> Any:
    idempotency = None if key is None else Idempotency(key, digest)
    draft = OperationDraft(account_id or world.account.id, PLAN, unified=True)
    return world.store.write_batched(operations.prepare_batched(world.admin, draft, world.clock, idempotency))


def counts(connection: Connection) -> dict[str, int]:
    tables = (table, events, idempotency_keys, deliveries)
    return {one.name: connection.execute(select(func.count()).select_from(one)).scalar_one() for one in tables}


async def rows(world: World) -> dict[str, int]:
    """What there is, but the event of the account that was connected."""
    return Counter(await world.store.read(counts)) - Counter(events=1)


async def test_what_is_kept_is_what_one_alone_keeps(world: World) -> None:
    alone = await world.store.write(
        operations.prepare_operations, world.admin, [OperationDraft(world.account.id, PLAN)], world.clock
    )
    draft = OperationDraft(world.account.id, PLAN)
    shared = await world.store.write_batched(operations.prepare_batched(world.admin, draft, world.clock))
    records = [await world.get(one.operation_ids[0]) for one in (alone, shared)]
    assert {**vars_of(records[0]), "id": 0} == {**vars_of(records[1]), "id": 0}
    assert records[1].read_plan() == PLAN
    told = [await world.store.read(list_operation_events, one.operation_ids[0]) for one in (alone, shared)]
    assert [[one.type for one in those] for those in told] == [["operation.prepared"]] * 2
    assert {**told[0][0].data, "operationId": 0} == {**told[1][0].data, "operationId": 0}
    assert shared.created[0][0].id == records[1].id


def vars_of(record: Any) -> dict[str, Any]:
    return {name: getattr(record, name) for name in type(record).__slots__ if not name.startswith("__")}


async def test_many_are_kept_by_few_commits(world: World, engine: str) -> None:
    before = world.store.commit_count
    made: list[PreparedOperations] = await asyncio.gather(*(preparing(world, f"k{n}") for n in range(20)))
    assert len({one.operation_ids for one in made}) == 20
    assert not any(one.is_replay for one in made)
    assert world.store.commit_count - before <= (1 if engine == "postgresql" else 2)
    assert await rows(world) == {"operations": 20, "events": 20, "idempotency_keys": 20}
    again = await preparing(world, "k7")
    assert (again.is_replay, again.operation_ids) == (True, made[7].operation_ids)


async def test_of_one_key_asked_for_at_once_one_is_kept(world: World) -> None:
    made = await asyncio.gather(*(preparing(world, f"k{n % 3}") for n in range(15)))
    assert [one.is_replay for one in made].count(False) == 3
    assert len({one.operation_ids for one in made}) == 3
    assert await rows(world) == {"operations": 3, "events": 3, "idempotency_keys": 3}


async def test_a_key_that_is_bound_to_another_request_refuses_its_caller_alone(world: World) -> None:
    await preparing(world, "bound")
    made = await asyncio.gather(
        preparing(world, "a"), preparing(world, "bound", "other"), preparing(world), return_exceptions=True
    )
    assert isinstance(made[1], Conflict)
    assert [one.is_replay for one in (made[0], made[2])] == [False, False]
    assert await rows(world) == {"operations": 3, "events": 3, "idempotency_keys": 2}


async def test_what_the_database_refuses_of_one_harms_no_other(world: World) -> None:
    made = await asyncio.gather(
        preparing(world, "a"),
        preparing(world, "b", account_id="01a20495-0000-7000-8000-000000000000"),
        preparing(world, "c"),
        return_exceptions=True,
    )
    assert [isinstance(one, PreparedOperations) for one in made] == [True, False, True]
    assert await rows(world) == {"operations": 2, "events": 2, "idempotency_keys": 2}


async def test_whoever_subscribed_is_told_in_the_same_commit(world: World) -> None:
    heard = asyncio.Event()
    world.store.watchers.append(heard.set)
    hook = ("01a20495-0000-7000-8000-000000000001", "https://hooks.example/x", None, ["operation.prepared"])
    await world.store.write(webhooks.create_webhook, world.admin, *hook, world.clock)
    made = await asyncio.gather(*(preparing(world, f"k{n}") for n in range(5)))
    await asyncio.wait_for(heard.wait(), 10)
    assert not any(one.is_replay for one in made)
    assert await rows(world) == {"operations": 5, "events": 5, "idempotency_keys": 5, "deliveries": 5}


async def test_the_plan_has_the_marks_of_its_operation(world: World) -> None:
    plain = plan_of("a", "b", warnings=("mind this",), risk="spend")
    plan = evolve(plain, steps=tuple(evolve(step, marks=(IdempotencyMark("/body/mark"),)) for step in plain.steps))
    draft = OperationDraft(world.account.id, plan)
    kept = await world.store.write_batched(operations.prepare_batched(world.admin, draft, world.clock))
    record = await world.get(kept.operation_ids[0])
    assert record.read_plan() == marked(plan, record.id) != plan
    assert (record.plan_digest, record.warnings, record.risk) == (plan.digest, ("mind this",), "spend")


async def test_closing_waits_for_what_was_begun(world: World, url: str) -> None:
    await preparing(world, "bound")
    begun = [asyncio.ensure_future(preparing(world, f"k{n}")) for n in range(10)]
    begun.append(asyncio.ensure_future(preparing(world, "bound")))
    await asyncio.sleep(0)
    await world.store.close()
    made = await asyncio.gather(*begun)
    assert [one.is_replay for one in made] == [False] * 10 + [True]
    with pytest.raises(StoreError, match="closed"):
        await preparing(world, "late")
    again: Store = await open_store(url, clock=world.clock)
    assert (await again.read(counts))["operations"] == 11
    await again.close()


@pytest.mark.parametrize("engine", ["postgresql"], indirect=True)
async def test_connections_that_were_lost_meanwhile_cost_nothing(world: World) -> None:
    await asyncio.gather(*(preparing(world) for _ in range(3)))

    def end_all(connection: Connection) -> None:
        connection.execute(
            text("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = current_database()")
        )

    with pytest.raises(StoreError):
        await world.store.read(end_all)
    await asyncio.sleep(0.1)
    assert not (await preparing(world, "after")).is_replay
    assert (await rows(world))["operations"] == 4
