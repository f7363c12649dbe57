"""A process that works on change sets as a server does, and kills itself.

The processes are forked from a server that has everything imported already, so that one costs little.
"""

from __future__ import annotations

import asyncio
import os
import signal
import time
from collections.abc import Mapping
from multiprocessing.connection import Connection as Pipe

from attrs import frozen

from adsunify.execution.executor import KillPoint
from adsunify.service.factory import open_service
from adsunify.service.launches import execution
from adsunify.service.launches.job import LaunchJob
from adsunify.store import Clock, change_sets

# the processes of the crash suite are made by the same server
from tests.system.crash.child import Child

PAUSE_SECONDS = 1.5
"""How long a process hangs: longer than the leases of the tests."""
__all__ = ["Child", "WorkerRun", "run_worker"]


@frozen
class WorkerRun:
    """One process: until when it works on a change set, and when it kills itself.

    Attributes:
        kill_at: the number of the execution point at which it kills itself, from 1; None means never.
        pause_at: the number of the execution point at which it hangs for a while, from 1.
        kill_after: the seconds after which it kills itself; None means never.
        writes_per_network: how many members of a network it executes at the same time.
        ahead: how far its clock is ahead, in milliseconds. So the leases of earlier processes have run out.
    """

    database: str
    environment: Mapping[str, str]
    sandbox_url: str
    change_set_id: str
    ahead: int
    kill_at: int | None = None
    pause_at: int | None = None
    kill_after: float | None = None
    writes_per_network: int = execution.WRITES_PER_NETWORK


async def run_worker(pipe: Pipe, run: WorkerRun) -> float:
    """Take over what earlier processes left until the change set is no longer worked on. Returns the seconds taken."""
    clock = Clock(lambda: time.time_ns() // 1_000_000 + run.ahead)
    opened = await open_service(run.database, run.environment, sandbox_url=run.sandbox_url, clock=clock)
    service, passed = opened.service, 0

    def count_point(point: KillPoint) -> None:
        nonlocal passed
        passed += 1
        if passed == run.kill_at:
            os.kill(os.getpid(), signal.SIGKILL)
        if passed == run.pause_at:
            time.sleep(PAUSE_SECONDS)  # the whole process hangs, and renews no lease

    service.kill_point_hook = count_point
    execution.WRITES_PER_NETWORK = run.writes_per_network
    if run.kill_after is not None:
        asyncio.get_running_loop().call_later(run.kill_after, os.kill, os.getpid(), signal.SIGKILL)
    started = time.monotonic()
    job = LaunchJob(service)
    while True:
        await job.take_over()
        record = await service.store.read(change_sets.read_change_set, run.change_set_id, clock)
        if record.status not in ("preparing", "running"):
            break
        await asyncio.sleep(0.02)
    taken = time.monotonic() - started
    await service.close()
    return taken
