"""A receiver of webhooks that is slow at times, and refuses some events the first time."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from aiohttp import web
from attrs import define, field

SLOW_SECONDS = 3.0
SLOW, REFUSED = 0.03, 0.05
"""The shares of events whose first arrival is answered late, or with 503."""


@define
class Receiver:
    """Counts arrivals by path and event. ``accepted``: those that were answered 204."""

    chance: random.Random
    url: str = ""
    arrived: Counter[tuple[str, str]] = field(factory=Counter)
    accepted: set[tuple[str, str]] = field(factory=set)
    refused: int = 0

    async def take(self, request: web.Request) -> web.StreamResponse:
        """Answer one delivery."""
        await request.read()
        arrival = (request.path, request.headers["Service-Event-Id"])
        self.arrived[arrival] += 1
        drawn = self.chance.random() if self.arrived[arrival] == 1 else 1.0
        if drawn < SLOW:
            await asyncio.sleep(SLOW_SECONDS)
        elif drawn < SLOW + REFUSED:
            self.refused += 1
            return web.Response(status=503)
        self.accepted.add(arrival)
        return web.Response(status=204)


@asynccontextmanager
async def run_receiver(seed: int) -> AsyncIterator[Receiver]:
    """A receiver on 127.0.0.1 until the end of the block."""
    receiver = Receiver(random.Random(seed))
    app = web.Application()
    app.router.add_post("/{anything:.*}", receiver.take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, backlog=512).start()
    receiver.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
    try:
        yield receiver
    finally:
        await runner.cleanup()
