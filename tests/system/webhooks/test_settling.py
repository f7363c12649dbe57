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
    one: ClaimedDelivery, status: str, code: int | None, error: str | None = None, due: int | None = None
) -> AttemptOutcome:
    return AttemptOutcome(one.id, one.attempt, 7, code, error, status, due)


def _read_deliveries(connection: Connection, ids: Sequence[str]) -> list[tuple[Any, ...]]:
    """Status, tries and next attempt of each, and its attempts: number, duration, code, error."""
    found = []
    for id_ in ids:
        of = select(rows.c.status, rows.c.tries, rows.c.next_attempt_at).where(rows.c.id == id_)
        number, *told = (delivery_attempts.c[name] for name in ("number", "duration_ms", "status_code", "error"))
        attempts = select(number, *told).where(delivery_attempts.c.delivery_id == id_).order_by(number)
        found.append((*connection.execute(of).one(), [tuple(one) for one in connection.execute(attempts)]))
    return found


async def read_deliveries(shop: World, taken: Sequence[ClaimedDelivery]) -> list[tuple[Any, ...]]:
    return await shop.service.store.read(_read_deliveries, [one.id for one in taken])


async def test_each_ends_in_its_own_way(shop: World) -> None:
    await shop.subscribed(URL)
    await shop.happen(40)
    taken = [one for _ in range(4) for one in await claim_deliveries(shop)]
    assert len(taken) == len({one.id for one in taken}) == 40
    due = shop.service.store.clock.now() + 5_000
    ways = (
        ("succeeded", 204, None, None),
        ("pending", 503, None, due),
        ("failed", 410, None, None),
        ("pending", None, 'It said: "\u00e4\\n\t\U0001f4a5".', due + 1),
    )
    told = [make_outcome(one, *ways[number % 4]) for number, one in enumerate(taken)]
    await shop.service.store.write(deliveries.record_results, told[::-1])
    for number, found in enumerate(await read_deliveries(shop, taken)):
        status, code, error, next_ = ways[number % 4]
        assert found == (status, 1, next_, [(1, 7, code, error)])


@pytest.mark.parametrize("count", [1, 5])
async def test_what_was_claimed_anew_stays_with_who_has_it(shop: World, count: int) -> None:
    await shop.subscribed(URL)
    await shop.happen(count)
    first = await claim_deliveries(shop)
    shop.pass_(LEASE + 1)
    second = await claim_deliveries(shop)
    assert [one.attempt for one in second] == [2] * count
    await shop.service.store.write(deliveries.record_results, [make_outcome(one, "succeeded", 200) for one in first])
    for one, found in zip(second, await read_deliveries(shop, second), strict=True):
        assert found == ("delivering", 2, one.lease_end, [(1, 7, 200, None), (2, None, None, None)])
    await shop.service.store.write(deliveries.record_results, [make_outcome(one, "failed", 404) for one in second])
    for found in await read_deliveries(shop, second):
        assert found == ("failed", 2, None, [(1, 7, 200, None), (2, 7, 404, None)])
    await shop.service.store.write(
        deliveries.record_results, [make_outcome(one, "pending", 500, due=1) for one in second]
    )
    for found in await read_deliveries(shop, second):  # it had ended
        assert found == ("failed", 2, None, [(1, 7, 200, None), (2, 7, 500, None)])


async def test_what_was_removed_meanwhile_holds_nothing_up(shop: World) -> None:
    gone, stays = [(await shop.subscribed(URL))["webhookId"] for _ in range(2)]
    await shop.happen(3)
    taken = await claim_deliveries(shop)
    assert len(taken) == 6
    await webhooks.remove_webhook(shop.service, shop.actor, webhook_id=gone)
    await shop.service.store.write(deliveries.record_results, [make_outcome(one, "succeeded", 200) for one in taken])
    left = [one for one in taken if one.webhook_id == stays]
    assert await read_deliveries(shop, left) == [("succeeded", 1, None, [(1, 7, 200, None)])] * 3


async def test_batches_are_taken_one_after_the_other(shop: World) -> None:
    """Never more of a subscription than it has room for, and no more in all than the batches hold."""
    store = shop.service.store
    one, other = [(await shop.subscribed(URL))["webhookId"] for _ in range(2)]
    await shop.happen(30)

    async def taken(limit: int, batches: int, **room: int) -> dict[str, int]:
        found = await store.write(
            deliveries.claim_deliveries, store.clock, limit, {one: 0, other: 0} | room, 5, LEASE, batches
        )
        assert all(found[0].lease_end == each.lease_end for each in found)
        return {name: count for name in (one, other) if (count := sum(each.webhook_id == name for each in found))}

    assert await taken(10, 2, **{one: 13}) == {one: 13}
    assert await taken(10, 2, **{one: 50, other: 3}) in ({one: 17, other: 3}, {one: 17})
    assert await taken(10, 3, **{one: 50, other: 50}) in ({other: 27}, {other: 30})
    assert await taken(10, 3, **{one: 50, other: 50}) in ({other: 3}, {})
