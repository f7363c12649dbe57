"""A timeout that tolerates a blocked event loop: a response that arrived during the block is still read."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

TICK_INTERVAL_SECONDS = 1.0
"""How often the loop is checked, and how long it may read after it was blocked."""
BLOCKED_THRESHOLD_SECONDS = 0.5
"""The loop was blocked if a check runs this much later than planned."""


@asynccontextmanager
async def patient_timeout(deadline: float) -> AsyncIterator[asyncio.Timeout]:
    """Raise TimeoutError at ``deadline``, in seconds of the running loop; infinity means never.

    Yields the timeout; its ``expired`` method says whether the deadline ended the block.

    If the event loop is blocked past the deadline, ``asyncio.timeout`` cancels the task although its response may
    already wait in the socket. This function moves the deadline to one tick after the loop runs again.
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
