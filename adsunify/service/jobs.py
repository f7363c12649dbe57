"""Runs the jobs of a process: the work beside requests until the process ends, such as the delivery of webhooks."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Coroutine
from typing import Any

from .core import Service
from .counters import JobName

RESTART_SECONDS = 30.0
"""The pause before a job is started again after a defect ended it."""
POLL_SECONDS = 1.0
"""The wait between two checks, during this pause, whether the process ends."""
_LOGGER = logging.getLogger("adsunify.worker")


async def keep_running(service: Service, name: JobName, run: Callable[[], Coroutine[Any, Any, None]]) -> None:
    """Run a job until it returns or the task is cancelled.

    An error that ends the job is a defect. It is logged and counted, and the job begins again after a pause: otherwise
    its work would wait until somebody starts the process again.
    """
    while True:
        task = asyncio.create_task(run(), name=name)
        try:
            await asyncio.wait((task,))
        finally:
            task.cancel()  # nothing happens if the job has ended
            await asyncio.wait((task,))
        defect = None if task.cancelled() else task.exception()
        if defect is None:
            return
        service.counters.job_failures[name] += 1
        _LOGGER.error("The job %s has stopped", name, exc_info=defect)
        await _pause(service)
        if service.is_stopping:
            return


async def _pause(service: Service) -> None:
    loop = asyncio.get_running_loop()
    end = loop.time() + RESTART_SECONDS
    while not service.is_stopping and loop.time() < end:
        await asyncio.sleep(POLL_SECONDS)
