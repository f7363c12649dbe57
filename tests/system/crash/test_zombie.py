"""O4: a process is stopped at its native write, its lease passes, others act, and it wakes."""

from __future__ import annotations

import asyncio
import os
import signal
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import pytest
from attrs import frozen

from adsunify.errors import AdsunifyError
from adsunify.service import operations
from adsunify.store import attempts

from .child import Child, Job, open_job, tell
from .stage import FORMATS, NETWORK_PLANS, Stage, alternate_engines
from .test_kill import list_points

LEASE = 3_000
PATIENCE = 30.0


async def execute_in_one_call(pipe: Pipe, job: Job) -> str:
    """Execute an operation in one call, stopping oneself at the point; the answer's status, or the refusal's code."""
    passed = 0
    async with open_job(job) as service:

        def pass_point(point: object) -> None:
            nonlocal passed
            passed += 1
            if passed - 1 == job.at:
                if job.fault is not None:
                    tell(job.sandbox_url, job.fault)
                if job.signal is not None:
                    os.kill(os.getpid(), job.signal)

        service.kill_point_hook = pass_point
        try:
            operation_data = await operations.execute_operation(
                service, job.actor, operation_id=job.operation_id, confirmed=True
            )
        except AdsunifyError as refusal:
            return refusal.code
        return str(operation_data["status"])


@frozen
class _Zombie:
    """A stopped process; before it stopped, ``receipts`` steps had theirs; ``landed``: its last write is applied."""

    child: Child
    operation_id: str
    receipts: int
    landed: bool


async def _wait_until_stopped(process_id: int) -> None:
    """Wait until the process is stopped."""
    async with asyncio.timeout(PATIENCE):
        while Path(f"/proc/{process_id}/stat").read_text().rsplit(")", 1)[1].split()[0] != "T":
            await asyncio.sleep(0.02)


async def stop_after_intent(stage: Stage, operation_id: str, at: int, receipts: int) -> _Zombie:
    """It stops itself between the commit of an intent and the request."""
    child = Child(execute_in_one_call, stage.job(operation_id, at=at, signal=signal.SIGSTOP, lease=LEASE))
    assert child.process.pid is not None
    await _wait_until_stopped(child.process.pid)
    return _Zombie(child, operation_id, receipts, False)


async def _in_flight(stage: Stage, operation_id: str, at: int, receipts: int, network: str) -> _Zombie:
    """It is stopped while the network, which has applied the write, holds the answer back."""
    awaited = len(stage.list_writes()) + receipts + 1
    fault = {"network": network, "fault": "latency", "value": LEASE + 1_000}
    child = Child(execute_in_one_call, stage.job(operation_id, at=at, fault=fault, lease=LEASE))
    async with asyncio.timeout(PATIENCE):
        while len(stage.list_writes()) < awaited:
            await asyncio.sleep(0.02)
    assert child.process.pid is not None
    os.kill(child.process.pid, signal.SIGSTOP)
    await _wait_until_stopped(child.process.pid)
    return _Zombie(child, operation_id, receipts, True)


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(NETWORK_PLANS))
async def test_woken_after_its_lease(stage: Stage, name: str, action: str) -> None:
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        before = len(stage.list_writes())
        await stage.execute(service, await source())
        clean = [write.what for write in stage.list_writes()[before:]]
        expected = list_points(len(clean), False)
        flights = [at for at, (point, _) in enumerate(expected) if point == "after_intent_commit"]
        zombies = []
        for n, at in enumerate(flights):
            zombies.append(await stop_after_intent(stage, await source(), at, n))
            zombies.append(await _in_flight(stage, await source(), at, n, name.split("-")[0]))
        before = len(stage.list_writes())
        await asyncio.sleep(LEASE / 1000 + 0.1)

        for zombie in zombies:  # others read, and try
            assert (await stage.read_operation(service, zombie.operation_id))["stalled"] is True
            refusal = await stage.refusal(service, zombie.operation_id)
            assert refusal is not None and (refusal.code, refusal.outcome) == ("operation_stalled", "unknown")
        assert len(stage.list_writes()) == before, "others sent what nobody knows of"

        for zombie in zombies:
            assert zombie.child.process.pid is not None
            os.kill(zombie.child.process.pid, signal.SIGCONT)
        answers = [await asyncio.to_thread(zombie.child.join) for zombie in zombies]
        assert len(stage.list_writes()) == before, "the woken process has written"
        for zombie, answer in zip(zombies, answers, strict=True):
            await _check_evidence(stage, service, zombie, answer, clean)


async def _check_evidence(stage: Stage, service: Any, zombie: _Zombie, answer: str | None, clean: list[str]) -> None:
    """The receipt landed, is marked late, and tells the truth: what is executed after it repeats nothing."""
    tried = await service.store.read(attempts.list_attempts, zombie.operation_id)
    assert [each.late for each in tried] == [False] * zombie.receipts + [True]
    state = "applied" if zombie.landed else "throttled"
    assert [each.state for each in tried] == ["applied"] * zombie.receipts + [state]
    complete = zombie.landed and zombie.receipts + 1 == len(clean)
    assert answer == ("succeeded" if complete else "prepared"), answer
    before = len(stage.list_writes())
    operation_data = await stage.read_operation(service, zombie.operation_id)
    await asyncio.sleep(operation_data.get("retryAfterMs", 0) / 1000)
    assert (await stage.execute(service, zombie.operation_id))["status"] == "succeeded"
    rest = clean[zombie.receipts + zombie.landed :]
    assert [each.what for each in stage.list_writes()[before:]] == rest, "repeated or left out"


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(NETWORK_PLANS))
async def test_woken_before_its_claim(stage: Stage, name: str, action: str) -> None:
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        zombie = await stop_after_intent(stage, await source(), 0, 0)
        operation_data = await stage.execute(service, zombie.operation_id)
        assert operation_data["status"] == "succeeded"
        before = len(stage.list_writes())
        assert zombie.child.process.pid is not None
        os.kill(zombie.child.process.pid, signal.SIGCONT)
        assert await asyncio.to_thread(zombie.child.join) == "succeeded", "it gets the receipt of the other execution"
        assert len(stage.list_writes()) == before, "the woken process has written"
        assert await stage.read_operation(service, zombie.operation_id) == operation_data
