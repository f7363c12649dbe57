"""O1: the process is killed at every point of every plan, and the operation is read and executed again."""

from __future__ import annotations

import asyncio
import signal
from typing import Any

import pytest
from attrs import frozen
from sqlalchemy import Connection, func, select

from adsunify.errors import OperationError
from adsunify.execution.state import LEASE_MILLISECONDS
from adsunify.service import operations
from adsunify.service.core import Service
from adsunify.store.schema import entities, events
from adsunify.store.schema import operations as operations_table
from tests.networks.samples import get_samples

from .child import Child, Done, Passed, execute_job
from .stage import (
    ENGINES,
    FORMATS,
    NETWORK_PLANS,
    PLANS,
    NativeWrite,
    Stage,
    alternate_engines,
    collect_ids,
    has_overlay,
)

PATIENCE = 20.0


def list_points(steps: int, single: bool) -> Passed:
    """The points of an execution in their order, each with the commits made before it, from the rules alone.

    The commit of a receipt is the commit of the next intent; with one step a call each has its own.
    """
    points: Passed = []
    commits = 0
    for n in range(steps):
        if n == 0 or single:
            points += [("before_intent_commit", commits), ("after_intent_commit", commits + 1)]
            commits += 1
        points.append(("applied_before_read", commits))
        goes_on = n + 1 < steps and not single
        points.append(("before_receipt_commit", commits))
        points += [("before_intent_commit", commits)] if goes_on else []
        commits += 1
        points.append(("after_receipt_commit", commits))
        points += [("after_intent_commit", commits)] if goes_on else []
    return points


@frozen
class _KilledRun:
    """What became of one operation whose process was killed: the commits before, the writes that had landed."""

    point: str
    operation_id: str
    commits: int
    landed: int
    writes: list[NativeWrite]

    def open(self, steps: int, single: bool) -> bool:
        """Whether the last intent has no receipt: by the count of commits alone."""
        return self.commits % 2 == 1 if single else 1 <= self.commits <= steps


async def _child(stage: Stage, operation_id: str, **more: Any) -> Done | None:
    child = Child(execute_job, stage.job(operation_id, **more))
    done: Done | None = await asyncio.to_thread(child.join)
    if more.get("signal") == signal.SIGKILL:
        assert child.exitcode == -signal.SIGKILL
    return done


async def _kill_in_flight(stage: Stage, operation_id: str, at: int, network: str, landed: int, **more: Any) -> None:
    """Kill the process while the network has applied a write and holds the answer back."""
    awaited = len(stage.list_writes()) + landed
    fault = {"network": network, "fault": "latency", "value": 60_000}
    child = Child(execute_job, stage.job(operation_id, at=at, fault=fault, **more))
    async with asyncio.timeout(PATIENCE):
        while len(stage.list_writes()) < awaited:
            await asyncio.sleep(0.01)
    child.process.kill()
    assert await asyncio.to_thread(child.join) is None


SINGLE = [(*plan, True) for plan in NETWORK_PLANS if plan[1] == "create"]
CASES = [(engine, *plan, False) for plan in PLANS for engine in ENGINES] + alternate_engines(SINGLE)


@pytest.mark.parametrize(("engine", "name", "action", "single"), CASES)
async def test_killed_at_every_point(stage: Stage, name: str, action: str, single: bool) -> None:
    more = {"steps": 1} if single else {}
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        clean_id = await source()
        steps = len((await stage.read_operation(service, clean_id))["plan"]["steps"])
        apart = single or has_overlay(name.split("-")[0], action)
        expected = list_points(steps, apart)
        flights = [at for at, (point, _) in enumerate(expected) if point == "after_intent_commit"]
        ids_ = [await source() for _ in range(len(expected) + len(flights))]
    before = len(stage.list_writes())
    done = await _child(stage, clean_id, **more)
    clean = [write.what for write in stage.list_writes()[before:]]
    assert done is not None and done.passed == expected and done.answers[-1] == "succeeded"
    assert done.commits == (2 * steps if apart else steps + 1) and len(clean) == steps

    killed: list[_KilledRun] = []
    async with stage.service() as service:
        for at, (point, commits) in enumerate(expected):
            before = len(stage.list_writes())
            operation_id = ids_.pop()
            assert await _child(stage, operation_id, at=at, signal=signal.SIGKILL, **more) is None
            landed = sum(passed == "applied_before_read" for passed, _ in expected[: at + 1])
            run = _KilledRun(f"{at} {point}", operation_id, commits, landed, stage.list_writes()[before:])
            if run.open(steps, apart):
                await _check_still_leased(stage, service, run)
            killed.append(run)
        for at in flights:
            before = len(stage.list_writes())
            operation_id = ids_.pop()
            landed = sum(passed == "applied_before_read" for passed, _ in expected[: at + 1]) + 1
            await _kill_in_flight(stage, operation_id, at, name.split("-")[0], landed, **more)
            run = _KilledRun(f"{at} in flight", operation_id, expected[at][1], landed, stage.list_writes()[before:])
            await _check_still_leased(stage, service, run)
            killed.append(run)

    async with stage.service(clock=stage.later(LEASE_MILLISECONDS)) as service:
        for run in killed:
            await _check_after_lease(stage, service, run, clean, action, apart)
        await service.store.read(_changes_in_order)


async def _check_still_leased(stage: Stage, service: Service, run: _KilledRun) -> None:
    """Within the lease nobody knows that the process is gone: the operation is running, and nothing is sent."""
    before = len(stage.list_writes())
    operation_data = await stage.execute(service, run.operation_id)
    assert (operation_data["status"], operation_data["stalled"]) == ("running", False), run.point
    assert len(stage.list_writes()) == before, run.point


async def _check_after_lease(
    stage: Stage, service: Service, run: _KilledRun, clean: list[str], action: str, single: bool
) -> None:
    assert [write.what for write in run.writes] == clean[: run.landed], run.point
    operation_data = await stage.read_operation(service, run.operation_id)
    before = len(stage.list_writes())
    if run.open(len(clean), single):
        assert (operation_data["status"], operation_data["stalled"]) == ("running", True), run.point
        for _ in range(2):
            refusal = await stage.refusal(service, run.operation_id)
            assert refusal is not None and (refusal.code, refusal.outcome) == ("operation_stalled", "unknown")
        with pytest.raises(OperationError):
            await operations.cancel_operation(service, stage.actor, operation_id=run.operation_id)
        assert len(stage.list_writes()) == before, f"{run.point}: something was sent again"
        writes = run.writes
    else:
        operation_data = await stage.execute(service, run.operation_id)
        assert operation_data["status"] == "succeeded", run.point
        writes = [*run.writes, *stage.list_writes()[before:]]
        assert [write.what for write in writes] == clean, f"{run.point}: repeated or left out"
        assert await stage.execute(service, run.operation_id) == operation_data
        assert len(stage.list_writes()) == before + len(clean) - run.landed, f"{run.point}: a replay has written"
    operation_data = await stage.read_operation(service, run.operation_id)
    receipts = operation_data["receipt"]["steps"]
    applied = [receipt for receipt in receipts if receipt["state"] == "applied"]
    in_flight = [receipt for receipt in receipts if receipt["state"] == "in_flight"]
    assert len(in_flight) == run.open(len(clean), single) and len(receipts) == len(applied) + len(in_flight)
    assert len(applied) <= len(writes) <= len(applied) + len(in_flight), f"{run.point}: a receipt is lost"
    for receipt, write in zip(applied, writes, strict=False):
        assert receipt["httpStatus"] is not None, run.point
        assert receipt["response"] is not None or action in get_samples(operation_data["network"]).empty_answers, (
            run.point
        )
        assert collect_ids(receipt) & write.ids or (action != "create" and not receipt["outputs"]), run.point
    event_counts = await service.store.read(_count_events, run.operation_id)
    assert event_counts.pop("operation.running") == event_counts.pop("claims"), run.point
    ended = ["operation.succeeded"] if operation_data["status"] == "succeeded" else []
    assert event_counts == dict.fromkeys(["operation.prepared", *ended], 1), (
        f"{run.point}: a transition without its event"
    )


def _count_events(connection: Connection, operation_id: str) -> dict[str, int]:
    """How often each event of the operation's own was recorded; ``claims``: how often it was claimed."""
    of_operation = events.c.operation_id == operation_id
    own = events.c.type.like("operation.%")
    counted = select(events.c.type, func.count().label("times")).where(of_operation, own).group_by(events.c.type)
    claims = select(operations_table.c.fence).where(operations_table.c.id == operation_id)
    return {
        "operation.running": 0,
        **{row.type: row.times for row in connection.execute(counted).all()},
        "claims": connection.execute(claims).scalar_one(),
    }


def _changes_in_order(connection: Connection) -> None:
    """Each change of status begins where the one before it ended, and the last one is what is known."""
    last = {(row.account_id, row.kind, row.native_id): row.status for row in connection.execute(select(entities)).all()}
    statuses: dict[tuple[Any, ...], str] = {}
    changes = select(events).where(events.c.type.like("%.status_changed")).order_by(events.c.created_at, events.c.id)
    for event in connection.execute(changes).all():
        key = (event.account_id, event.data["kind"], event.data["entityId"])
        assert statuses.get(key, event.data["before"]) == event.data["before"] != event.data["status"]
        statuses[key] = event.data["status"]
    assert statuses == {key: last[key] for key in statuses}
