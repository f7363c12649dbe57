"""Which deliveries are taken next, where there are more than a worker takes at once."""

from __future__ import annotations

from collections import Counter

import pytest
from sqlalchemy import Connection

from adsunify.store import deliveries, new_id, webhooks
from adsunify.store.statement import Statement

from .world import World


async def create_subscription(world: World) -> str:
    """A new subscription to what is prepared."""
    id_ = new_id(world.clock.now())
    hook = (id_, "https://hooks.example/", None, ["operation.prepared"], world.clock)
    return (await world.store.write(webhooks.create_webhook, world.admin, *hook)).id


async def claim_deliveries(world: World, limit: int, room: dict[str, int] | None = None) -> Counter[str]:
    """How many deliveries of each subscription a worker takes."""
    claimed = await world.store.write(deliveries.claim_deliveries, world.clock, limit, room or {}, 5)
    return Counter(delivery.webhook_id for delivery in claimed)


async def test_one_with_a_backlog_leaves_room_for_the_others(world: World) -> None:
    busy = await create_subscription(world)
    for _ in range(12):
        await world.prepare()
    world.hands.pass_(1)
    other = await create_subscription(world)
    await world.prepare()
    assert await claim_deliveries(world, 10, {busy: 2}) == {busy: 2, other: 1}
    assert await claim_deliveries(world, 4) == {busy: 4}
    assert await claim_deliveries(world, 10) == {busy: 5}
    assert await claim_deliveries(world, 10) == {busy: 2}
    assert await claim_deliveries(world, 10) == {}


async def test_what_waits_for_one_that_is_paused_or_full_is_left_aside(world: World) -> None:
    paused, full = await create_subscription(world), await create_subscription(world)
    await world.prepare()
    await world.store.write(webhooks.update_webhook, world.admin, paused, {"active": False}, world.clock)
    assert await claim_deliveries(world, 10, {full: 0}) == {}
    assert await world.store.read(deliveries.find_next_due, world.clock, [full]) is None
    assert await world.store.read(deliveries.find_next_due, world.clock) == world.clock.now()
    assert await claim_deliveries(world, 10) == {full: 1}
    await world.store.write(webhooks.update_webhook, world.admin, paused, {"active": True}, world.clock)
    assert await claim_deliveries(world, 10) == {paused: 1}


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_a_backlog_is_not_walked_through(world: World) -> None:
    def plan_of_query(connection: Connection, statement: Statement) -> str:
        query = statement.text(connection)
        rows = connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", (1,) * query.count("?"))
        return " ".join(row.detail for row in rows)

    query_plan = await world.store.read(plan_of_query, deliveries._NEXT_WEBHOOKS)
    assert "SEARCH later USING COVERING INDEX ix_deliveries_due (webhook_id>?)" in query_plan  # from one to the next
    assert "SEARCH deliveries USING COVERING INDEX ix_deliveries_due (webhook_id=? AND next_attempt_at" in query_plan
    query_plan = await world.store.read(plan_of_query, deliveries._TAKE)
    assert "SEARCH deliveries USING INDEX ix_deliveries_due (webhook_id=? AND next_attempt_at<?)" in query_plan
    assert "TEMP B-TREE" not in query_plan
