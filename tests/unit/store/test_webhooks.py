"""A subscription goes with its deliveries, however many."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest
from sqlalchemy import Connection, func, select, text

from adsunify.errors import NotFound
from adsunify.store import deliveries, new_id, operations, schema, webhooks
from adsunify.store.operations import OperationDraft

from .world import PLAN, World

URL = "https://hooks.example/"


async def test_deliveries_are_removed_some_at_a_time(world: World) -> None:
    hooks = [new_id(world.clock.now()) for _ in range(2)]
    for id_ in hooks:
        await world.store.write(
            webhooks.create_webhook, world.admin, id_, URL, None, ["operation.prepared"], world.clock
        )
    now = world.clock.now()
    queued = [
        deliveries.make_due_delivery(id_, URL, new_id(now), "operation.prepared", "{}", now)
        for id_, count in zip(hooks, (webhooks.REMOVE_BATCH_SIZE + 3, 3), strict=True)
        for _ in range(count)
    ]
    await world.store.write(deliveries.queue_deliveries, queued)
    assert len(await world.store.write(deliveries.claim_deliveries, world.clock, 20)) == 13

    async def count_rows() -> list[int]:
        return [
            await world.store.read(
                lambda connection, table=table: connection.execute(select(func.count(table.c[0]))).scalar()
            )
            for table in (schema.deliveries, schema.delivery_attempts)
        ]

    assert await world.store.write(webhooks.remove_webhook, world.admin, hooks[0], world.clock) is None
    assert sum(await count_rows()) < 3 + 3 + 13
    removed = await world.store.write(webhooks.remove_webhook, world.admin, hooks[0], world.clock)
    assert removed is not None and removed.id == hooks[0]
    assert await count_rows() == [3, 3]
    with pytest.raises(NotFound):
        await world.store.write(webhooks.remove_webhook, world.admin, hooks[0], world.clock)


def slow_down(work: Callable[..., Any]) -> Callable[..., Any]:
    """The work, and then some time before its transaction ends; on SQLite nobody else writes during it."""

    def work_and_wait(connection: Connection, *arguments: Any) -> Any:
        answer = work(connection, *arguments)
        if connection.dialect.name == "postgresql":
            connection.execute(text("SELECT pg_sleep(0.5)"))
        return answer

    return work_and_wait


@pytest.mark.parametrize("first", ["remove", "prepare"])
async def test_an_event_while_its_subscription_goes(world: World, first: str) -> None:
    """Whichever is first: what the event tells of is kept, and the subscription is gone."""
    id_ = new_id(world.clock.now())
    await world.store.write(webhooks.create_webhook, world.admin, id_, URL, None, ["operation.prepared"], world.clock)

    async def remove(work: Callable[..., Any]) -> None:
        assert (await world.store.write(work, world.admin, id_, world.clock)).id == id_

    async def prepare(work: Callable[..., Any]) -> None:
        drafts = [OperationDraft(world.account.id, PLAN)]
        assert (await world.store.write(work, world.admin, drafts, world.clock)).operation_ids

    both = [(remove, webhooks.remove_webhook), (prepare, operations.prepare_operations)]
    (begun, slow), (meanwhile, quick) = both if first == "remove" else both[::-1]
    running = asyncio.create_task(begun(slow_down(slow)))
    await asyncio.sleep(0.2)
    await asyncio.gather(running, meanwhile(quick))
    with pytest.raises(NotFound):
        await world.store.read(webhooks.get_webhook, world.admin, id_)


async def test_who_queues_for_a_subscription_that_goes_does_not_find_it(world: World) -> None:
    id_ = new_id(world.clock.now())
    await world.store.write(webhooks.create_webhook, world.admin, id_, URL, None, ["operation.prepared"], world.clock)
    going = asyncio.create_task(world.store.write(slow_down(webhooks.remove_webhook), world.admin, id_, world.clock))
    await asyncio.sleep(0.2)
    with pytest.raises(NotFound):
        await world.store.write(webhooks.lock_webhook, world.admin, id_)
    await going
