"""A process is killed at each of its commits and writes, and its operation is resumed: every write is done once."""

from __future__ import annotations

import asyncio
import os
import signal

import pytest

from adsunify.errors import Conflict, InvalidInput, OperationError
from adsunify.execution.executor import KillPoint
from adsunify.service.core import Service
from adsunify.service.outcomes.resumption import resume_operation

from .child import Child, execute_job
from .stage import FORMATS, NETWORK_PLANS, Stage, alternate_engines
from .test_kill import list_points
from .test_zombie import LEASE, stop_after_intent

LATER = 1_000_000
"""How far the clock is ahead after the crash, in milliseconds: past the lease, and past the time of visibility."""
RESUMED = ("meta", "tiktok")
PLANS = [plan for plan in NETWORK_PLANS if plan[0].split("-")[0] in RESUMED]
CREATIONS = [plan for plan in PLANS if plan[1] == "create"]


async def resume(service: Service, stage: Stage, operation: str) -> str | None:
    """Resume an operation. That a create was not applied needs two inspections. None: nothing is left."""
    for _ in range(2):
        try:
            resumed = await resume_operation(service, stage.actor, operation_id=operation, idempotency=None)
        except Conflict as refusal:
            assert refusal.code == "outcome_undecided"
        except InvalidInput as refusal:
            assert refusal.code == "nothing_to_resume"
            return None
        else:
            return str(resumed.data["id"])
    raise AssertionError("two inspections have not decided the step")


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_a_killed_operation_is_resumed_without_a_double(stage: Stage, name: str, action: str) -> None:
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        before = len(stage.list_writes())
        await stage.execute(service, await source())
        clean = [write.what for write in stage.list_writes()[before:]]
        points = list_points(len(clean), False)
        killed = []
        for at, (point, _) in enumerate(points):
            # An activation needs a campaign that is not active yet: another one would show the statuses already.
            operation = await (await stage.source(service, FORMATS[name][0], action))()
            before = len(stage.list_writes())
            child = Child(execute_job, stage.job(operation, at=at, signal=signal.SIGKILL))
            await asyncio.to_thread(child.join)
            await stage.wait_until_settled(service)
            killed.append((point, operation, [write.what for write in stage.list_writes()[before:]]))
    async with stage.service(clock=stage.later(LATER)) as service:
        for point, operation, writes in killed:
            if not (await stage.read_operation(service, operation))["stalled"]:
                continue  # no write was in flight, so the operation itself goes on
            before = len(stage.list_writes())
            tail = await resume(service, stage, operation)
            assert len(stage.list_writes()) == before, f"{point}: resuming has written"
            if tail is not None:
                assert (await stage.execute(service, tail))["status"] == "succeeded", point
            rest = [write.what for write in stage.list_writes()[before:]]
            assert writes + rest == clean, f"{point}: repeated or left out"


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(CREATIONS, 1))
async def test_a_woken_process_stops_the_resumption(stage: Stage, name: str, action: str) -> None:
    """A process is stopped before its write. Its receipt arrives between two writes of the operation that resumes."""
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        before = len(stage.list_writes())
        await stage.execute(service, await source())
        clean = [write.what for write in stage.list_writes()[before:]]
        (at, *_) = [
            at for at, (point, _) in enumerate(list_points(len(clean), False)) if point == "after_intent_commit"
        ]
        zombie = await stop_after_intent(stage, await source(), at, 0)
        await asyncio.sleep(LEASE / 1000 + 0.1)
    before = len(stage.list_writes())
    async with stage.service(clock=stage.later(LATER)) as service:
        tail = await resume(service, stage, zombie.operation_id)
        assert tail is not None
        woken: list[object] = []

        def wake(point: KillPoint) -> None:
            if point is KillPoint.before_receipt_commit and not woken:
                assert zombie.child.process.pid is not None
                os.kill(zombie.child.process.pid, signal.SIGCONT)
                woken.append(zombie.child.join())

        service.kill_point_hook = wake
        with pytest.raises(OperationError) as refusal:
            await stage.execute(service, tail)
        assert (refusal.value.code, refusal.value.outcome, woken) == ("outcome_changed", "partly_applied", ["not_sent"])
        assert [write.what for write in stage.list_writes()[before:]] == clean[:1]
        assert "nextAction" not in await stage.read_operation(service, tail)
        last = await resume(service, stage, tail)
        assert last is not None and (await stage.execute(service, last))["status"] == "succeeded"
        assert [write.what for write in stage.list_writes()[before:]] == clean, "repeated or left out"
