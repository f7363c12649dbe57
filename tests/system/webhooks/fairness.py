"""Many receivers that never answer beside as many that do: how long the good ones wait.

Held against as many subscriptions that are paused: what an event costs for each subscription is not the slow ones'.
"""

from __future__ import annotations

import asyncio
import gc
import socket
import statistics
import time
from collections.abc import Sequence
from contextlib import AsyncExitStack

from adsunify.service import webhooks

from .receiving import run_receiver
from .world import World

EVENTS, WARM_UP = 60, 8
"""So many events; those at first, in which the silent ones take what they get, do not count."""
PAUSE = 0.15


async def waits(shop: World, good: int, slow: int, paused: bool) -> list[float]:
    """Seconds from each event to its arrival at each good receiver. ``paused``: the slow ones are not tried."""
    async with AsyncExitStack() as stack:
        answering = [await stack.enter_async_context(run_receiver()) for _ in range(good)]
        silent = [stack.enter_context(socket.create_server(("127.0.0.1", 0), backlog=512)) for _ in range(slow)]
        addresses = [f"http://127.0.0.1:{listener.getsockname()[1]}/hook" for listener in silent]  # the kernel accepts
        subscriptions = [await shop.subscribe(url) for url in (*(receiver.url for receiver in answering), *addresses)]
        for subscription in subscriptions[good:] if paused else ():
            await webhooks.update_webhook(
                shop.service, shop.actor, webhook_id=subscription["webhookId"], url=None, active=False, events=None
            )
        arrived: list[tuple[str, float]] = []
        for receiver in answering:
            receiver.arrived = lambda received: arrived.append((received.event_id, time.monotonic()))
        happened: dict[str, float] = {}
        gc.collect()
        gc.freeze()  # as a server does when it starts; the receivers share this process, and are not measured
        async with shop.run_worker(patient=False):
            for _ in range(EVENTS):
                began = time.monotonic()
                for event_id in await shop.happen():
                    happened[event_id] = began
                await asyncio.sleep(PAUSE)
            async with asyncio.timeout(60):
                while len(arrived) < EVENTS * good:
                    await asyncio.sleep(0.01)
        for subscription in subscriptions:
            await webhooks.remove_webhook(shop.service, shop.actor, webhook_id=subscription["webhookId"])
    counted = list(happened)[WARM_UP:]
    return [at - happened[event_id] for event_id, at in arrived if event_id in counted]


def p99(delays: Sequence[float]) -> float:
    return statistics.quantiles(delays, n=100)[98]


async def fairness(shop: World, good: int, slow: int, rounds: int) -> dict[str, float]:
    """The 99th percentile of the waits with the slow ones over that with them paused, in turns: best against best, and
    the median of the rounds."""
    without, beside = [], []
    for _ in range(rounds):
        without.append(p99(await waits(shop, good, slow, paused=True)))
        beside.append(p99(await waits(shop, good, slow, paused=False)))
    paired = statistics.median(
        with_slow / without_slow for with_slow, without_slow in zip(beside, without, strict=True)
    )
    return {"best": min(beside) / min(without), "paired": paired, "seconds": min(beside)}
