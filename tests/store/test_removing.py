"""A subscription goes with its deliveries, however many."""

from __future__ import annotations

import pytest
from sqlalchemy import func, select

from adsunify.errors import NotFound
from adsunify.store import new_id, webhooks
from adsunify.store.schema import deliveries, delivery_attempts

from .world import World

URL = "https://hooks.example/"


async def test_deliveries_are_removed_some_at_a_time(world: World) -> None:
    hooks = [new_id(world.clock.now()) for _ in range(2)]
    for id_ in hooks:
        await world.store.write(webhooks.create, world.admin, id_, URL, None, ["operation.prepared"], world.clock)
    now = world.clock.now()
    queued = [
        webhooks.due(id_, URL, new_id(now), "operation.prepared", "{}", now)
        for id_, count in zip(hooks, (webhooks.REMOVED_AT_ONCE + 3, 3), strict=True)
        for _ in range(count)
    ]
    await world.store.write(webhooks.queue, queued)
    assert len(await world.store.write(webhooks.claim, world.clock, 20)) == 13

    async def left() -> list[int]:
        return [
            await world.store.read(
                lambda connection, one=table: connection.execute(select(func.count(one.c[0]))).scalar()
            )
            for table in (deliveries, delivery_attempts)
        ]

    assert await world.store.write(webhooks.remove, world.admin, hooks[0]) is None
    assert sum(await left()) < 3 + 3 + 13
    removed = await world.store.write(webhooks.remove, world.admin, hooks[0])
    assert removed is not None and removed.id == hooks[0]
    assert await left() == [3, 3]
    with pytest.raises(NotFound):
        await world.store.write(webhooks.remove, world.admin, hooks[0])
