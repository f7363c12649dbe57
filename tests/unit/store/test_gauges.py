"""The gauges of the metrics, and the cost of reading them."""

from __future__ import annotations

import pytest
from sqlalchemy import Connection

from adsunify.store import deliveries, gauges, new_id, webhooks

from .world import MINUTE, World


async def test_so_many_notifications_of_each_subscription_are_counted(world: World) -> None:
    hooks = [new_id(world.clock.now()) for _ in range(2)]
    for id_ in hooks:
        where = (id_, "https://hooks.example/", None, ["operation.running"], world.clock)
        await world.store.write(webhooks.create_webhook, world.admin, *where)
    now = world.clock.now()
    at = [(hooks[0], now)] * (gauges.MAX_COUNTED + 5) + [(hooks[1], now), (hooks[1], now + MINUTE)]
    waiting = [
        deliveries.make_due_delivery(id_, "https://hooks.example/", "event", "test", "{}", due) for id_, due in at
    ]
    await world.store.write(deliveries.queue_deliveries, waiting)
    reading = await world.store.read(gauges.read_gauges, now)
    assert (reading.backlog, reading.due) == (gauges.MAX_COUNTED + 2, gauges.MAX_COUNTED + 1)
    await world.store.write(webhooks.update_webhook, world.admin, hooks[1], {"active": False}, world.clock)
    # nobody attempts those of a paused subscription, so they are not late
    assert await world.store.read(gauges.read_gauges, now + MINUTE) == gauges.Gauges(
        gauges.MAX_COUNTED + 2, gauges.MAX_COUNTED, 0, 0
    )


@pytest.mark.parametrize("engine", ["sqlite"], indirect=True)
async def test_only_what_is_open_is_looked_at(world: World) -> None:
    def plan_of_query(connection: Connection) -> str:
        queries = [statement.text(connection) for statement in (gauges._DELIVERIES, gauges._OPERATIONS)]
        rows = [
            row
            for query in queries
            for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}", (1,) * query.count("?"))
        ]
        return " ".join(row.detail for row in rows)

    query_plan = await world.store.read(plan_of_query)
    assert "USING COVERING INDEX ix_deliveries_due (webhook_id=? AND next_attempt_at>?)" in query_plan
    assert "SCAN operations USING INDEX ix_operations_running" in query_plan
