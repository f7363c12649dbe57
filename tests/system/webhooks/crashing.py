"""Events delivered by workers that are killed again and again: what arrived, and what is on record."""

from __future__ import annotations

import asyncio
import itertools
import json
import random
import signal
import sys
from collections import Counter
from collections.abc import Mapping
from typing import Any

from sqlalchemy import Connection, select

from adsunify.store.schema import deliveries, delivery_attempts

from .child import POINTS
from .receiving import run_receiver
from .world import World

LEASE = 2_000
"""Milliseconds: how soon others take what a dead worker had."""


async def crash_workers(
    shop: World, database: str, events: int, workers: int, kills: int, after: int
) -> dict[str, int]:
    """Deliver so many events through so many workers, and kill one so often, at each point in turn.

    ``after``: how many times about a worker passes its point before it dies. Raises AssertionError where an event is
    lost, arrives changed, or an attempt has no row. Returns what happened.
    """
    doom = iter([POINTS[number % len(POINTS)] for number in range(kills)])
    deaths: Counter[str] = Counter()
    async with run_receiver() as receiver:
        webhook_id = (await shop.subscribe(receiver.url))["webhookId"]
        expected = [event_id for _ in range(events // 100) for event_id in await shop.happen(100)]
        job = {"database": database, "target": receiver.url, "lease": LEASE}
        stopping, killed = asyncio.Event(), asyncio.Event()

        async def run_workers() -> None:
            while not stopping.is_set():
                point = next(doom, None)
                if point is None:  # one that lives may not take everything before the last of the others dies
                    await asyncio.wait((mourned, over), return_when=asyncio.FIRST_COMPLETED)
                passes = random.randint(after // 2, after) // (8 if point in ("saving", "saved") else 1)
                child = await _start_worker({**job, "point": point, "after": passes})
                ended = asyncio.create_task(child.wait())
                await asyncio.wait((ended, over), return_when=asyncio.FIRST_COMPLETED)
                if child.returncode is None:
                    child.terminate()
                status = await ended
                if status == -signal.SIGKILL and point is not None:
                    deaths[point] += 1
                    if deaths.total() == kills:
                        killed.set()
                else:  # told to end, even before it could listen to that
                    assert stopping.is_set() and status in (0, -signal.SIGTERM), status

        over, mourned = asyncio.create_task(stopping.wait()), asyncio.create_task(killed.wait())
        working = [asyncio.create_task(run_workers()) for _ in range(workers)]
        done = asyncio.create_task(shop.wait_until_done(events, seconds=600))
        try:
            await asyncio.wait((done, *working), return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.set()
            if not done.done():  # a worker ended otherwise than it was meant to
                done.cancel()
            await asyncio.gather(*working)
            mourned.cancel()
        await done
        arrived = Counter(received.event_id for received in receiver.got)
        bodies = {(received.event_id, received.body) for received in receiver.got}
    states, attempts, rows = await shop.service.store.read(_read_outcome, webhook_id)
    assert set(arrived) == set(expected), f"{len(set(expected) - set(arrived))} events are lost"
    assert states == {"succeeded": events}, states
    assert len(bodies) == events, "an event arrived again with another body"
    assert rows == attempts, "an attempt has no row"
    assert all(arrived[event_id] <= len(rows[event_id]) for event_id in expected), "more was sent than is on record"
    for numbers in rows.values():
        assert numbers == list(range(1, len(numbers) + 1))
    assert sum(deaths.values()) == kills and len(deaths) == min(kills, len(POINTS)), deaths
    return {"events": events, "kills": kills, "attempts": sum(map(len, rows.values())), "arrived": arrived.total()}


async def _start_worker(job: Mapping[str, Any]) -> asyncio.subprocess.Process:
    return await asyncio.create_subprocess_exec(sys.executable, "-m", "tests.system.webhooks.child", json.dumps(job))


def _read_outcome(connection: Connection, webhook_id: str) -> tuple[dict[str, int], Any, dict[str, list[int]]]:
    """How many deliveries have which status; the attempts each counts, and those it has, by event."""
    of_webhook = deliveries.c.webhook_id == webhook_id
    counted = select(deliveries.c.event_id, deliveries.c.status, deliveries.c.attempts).where(of_webhook)
    counted_rows = connection.execute(counted).all()
    history = (
        select(deliveries.c.event_id, delivery_attempts.c.number)
        .join(delivery_attempts, delivery_attempts.c.delivery_id == deliveries.c.id)
        .where(of_webhook)
        .order_by(deliveries.c.event_id, delivery_attempts.c.number)
    )
    rows = itertools.groupby(connection.execute(history).all(), key=lambda row: row.event_id)
    return (
        dict(Counter(row.status for row in counted_rows)),
        {row.event_id: list(range(1, row.attempts + 1)) for row in counted_rows},
        {event_id: [row.number for row in group] for event_id, group in rows},
    )
