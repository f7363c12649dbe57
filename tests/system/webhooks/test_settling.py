"""How attempts ended is kept, for many deliveries at once: each its own, and nothing of what another worker has now."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest
from sqlalchemy import Connection, select

from adsunify.service import webhooks
from adsunify.store import deliveries
from adsunify.store.deliveries import AttemptOutcome, ClaimedDelivery
from adsunify.store.schema import deliveries as rows
from adsunify.store.schema import delivery_attempts

from .world import World

LEASE = 1_000
URL = "http://127.0.0.1:9/"


async def claim_deliveries(shop: World, limit: int = 10) -> list[ClaimedDelivery]:
    store = shop.service.store
    return await store.write(deliveries.claim_deliveries, store.clock, limit, {}, limit, LEASE)


def make_outcome(
    delivery: ClaimedDelivery, status: str, code: int | None, error: str | None = None, due: int | None = None
) -> AttemptOutcome:
    return AttemptOutcome(delivery.id, delivery.attempt, 7, code, error, status, due)


def _read_deliveries(connection: Connection, ids: Sequence[str]) -> list[tuple[Any, ...]]:
    """Status, tries and next attempt of each, and its attempts: number, duration, code, error."""
    states = []
    for id_ in ids:
        of = select(rows.c.status, rows.c.tries, rows.c.next_attempt_at).where(rows.c.id == id_)
        number, *details = (delivery_attempts.c[name] for name in ("number", "duration_ms", "status_code", "error"))
        attempts = select(number, *details).where(delivery_attempts.c.delivery_id == id_).order_by(number)
        states.append((*connection.execute(of).one(), [tuple(row) for row in connection.execute(attempts)]))
    return states


async def read_deliveries(shop: World, taken: Sequence[ClaimedDelivery]) -> list[tuple[Any, ...]]:
    return await shop.service.store.read(_read_deliveries, [delivery.id for delivery in taken])


async def test_each_ends_in_its_own_way(shop: World) -> None:
    await shop.subscribe(URL)
    await shop.happen(40)
    taken = [delivery for _ in range(4) for delivery in await claim_deliveries(shop)]
    assert len(taken) == len({delivery.id for delivery in taken}) == 40
    due = shop.service.store.clock.now() + 5_000
    ways = (
        ("succeeded", 204, None, None),
        ("pending", 503, None, due),
        ("failed", 410, None, None),
        ("pending", None, 'It said: "\u00e4\\n\t\U0001f4a5".', due + 1),
    )
    outcomes = [make_outcome(delivery, *ways[number % 4]) for number, delivery in enumerate(taken)]
    await shop.service.store.write(deliveries.record_results, outcomes[::-1])
    for number, stored in enumerate(await read_deliveries(shop, taken)):
        status, code, error, next_ = ways[number % 4]
        assert stored == (status, 1, next_, [(1, 7, code, error)])


@pytest.mark.parametrize("count", [1, 5])
async def test_what_was_claimed_anew_stays_with_who_has_it(shop: World, count: int) -> None:
    await shop.subscribe(URL)
    await shop.happen(count)
    first = await claim_deliveries(shop)
    shop.pass_(LEASE + 1)
    second = await claim_deliveries(shop)
    assert [delivery.attempt for delivery in second] == [2] * count
    await shop.service.store.write(
        deliveries.record_results, [make_outcome(delivery, "succeeded", 200) for delivery in first]
    )
    for delivery, stored in zip(second, await read_deliveries(shop, second), strict=True):
        assert stored == ("delivering", 2, delivery.lease_end, [(1, 7, 200, None), (2, None, None, None)])
    await shop.service.store.write(
        deliveries.record_results, [make_outcome(delivery, "failed", 404) for delivery in second]
    )
    for stored in await read_deliveries(shop, second):
        assert stored == ("failed", 2, None, [(1, 7, 200, None), (2, 7, 404, None)])
    await shop.service.store.write(
        deliveries.record_results, [make_outcome(delivery, "pending", 500, due=1) for delivery in second]
    )
    for stored in await read_deliveries(shop, second):  # it had ended
        assert stored == ("failed", 2, None, [(1, 7, 200, None), (2, 7, 500, None)])


async def test_what_was_removed_meanwhile_holds_nothing_up(shop: World) -> None:
    gone, stays = [(await shop.subscribe(URL))["webhookId"] for _ in range(2)]
    await shop.happen(3)
    taken = await claim_deliveries(shop)
    assert len(taken) == 6
    await webhooks.remove_webhook(shop.service, shop.actor, webhook_id=gone)
    await shop.service.store.write(
        deliveries.record_results, [make_outcome(delivery, "succeeded", 200) for delivery in taken]
    )
    left = [delivery for delivery in taken if delivery.webhook_id == stays]
    assert await read_deliveries(shop, left) == [("succeeded", 1, None, [(1, 7, 200, None)])] * 3


async def test_batches_are_taken_one_after_the_other(shop: World) -> None:
    """Never more of a subscription than it has room for, and no more in all than the batches hold."""
    store = shop.service.store
    first, other = [(await shop.subscribe(URL))["webhookId"] for _ in range(2)]
    await shop.happen(30)

    async def claim_with_room(limit: int, batches: int, **room: int) -> dict[str, int]:
        claimed = await store.write(
            deliveries.claim_deliveries, store.clock, limit, {first: 0, other: 0} | room, 5, LEASE, batches
        )
        assert all(claimed[0].lease_end == each.lease_end for each in claimed)
        return {name: count for name in (first, other) if (count := sum(each.webhook_id == name for each in claimed))}

    assert await claim_with_room(10, 2, **{first: 13}) == {first: 13}
    assert await claim_with_room(10, 2, **{first: 50, other: 3}) in ({first: 17, other: 3}, {first: 17})
    assert await claim_with_room(10, 3, **{first: 50, other: 50}) in ({other: 27}, {other: 30})
    assert await claim_with_room(10, 3, **{first: 50, other: 50}) in ({other: 3}, {})
