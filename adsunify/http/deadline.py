"""A timeout that tolerates a blocked event loop: an answer that arrived meanwhile is still read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

TICK_INTERVAL_SECONDS = 1.0
"""How often the loop is observed, and how long it reads on after it was blocked."""
BLOCKED_THRESHOLD_SECONDS = 0.5
"""A tick that is so late shows that the loop was blocked."""


@asynccontextmanager
async def patient_timeout(deadline: float) -> AsyncIterator[asyncio.Timeout]:
    """Raise TimeoutError at ``deadline``, in seconds of the running loop; infinity means never.

    Yields the timeout, whose ``expired`` tells whether it ended the block.

    ``asyncio.timeout`` cancels a task whose answer lies in the socket, where the event loop was blocked past the
    deadline and the answer came meanwhile. Here the deadline moves to one tick after the loop runs again.
    """
    loop = asyncio.get_running_loop()
    timer: asyncio.TimerHandle

    def check_deadline(expected: float) -> None:
        nonlocal deadline, timer
        now = loop.time()
        if now - expected > BLOCKED_THRESHOLD_SECONDS:
            deadline = max(deadline, now + TICK_INTERVAL_SECONDS)
        if now >= deadline:
            limit.reschedule(now)
        else:
            timer = schedule_check(min(deadline, now + TICK_INTERVAL_SECONDS))

    def schedule_check(expected: float) -> asyncio.TimerHandle:
        return loop.call_at(expected, check_deadline, expected)

    async with asyncio.timeout(None) as limit:
        begun = loop.time()
        timer = schedule_check(max(begun, min(deadline, begun + TICK_INTERVAL_SECONDS)))
        try:
            yield limit
        finally:
            timer.cancel()
