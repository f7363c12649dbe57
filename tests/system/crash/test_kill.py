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
from .stage import ENGINES, FORMATS, NETWORK_PLANS, PLANS, Stage, Written, alternate_engines, collect_ids, has_overlay

PATIENCE = 20.0


def list_points(steps: int, single: bool) -> Passed:
    """The points of an execution in their order, each with the commits made before it, from the rules alone.

    The commit of a receipt is the commit of the next intent; with one step a call each has its own.
    """
    found: Passed = []
    commits = 0
    for n in range(steps):
        if n == 0 or single:
            found += [("before_intent_commit", commits), ("after_intent_commit", commits + 1)]
            commits += 1
        found.append(("applied_before_read", commits))
        goes_on = n + 1 < steps and not single
        found.append(("before_receipt_commit", commits))
        found += [("before_intent_commit", commits)] if goes_on else []
        commits += 1
        found.append(("after_receipt_commit", commits))
        found += [("after_intent_commit", commits)] if goes_on else []
    return found


@frozen
class _Killed:
    """What became of one operation whose process was killed: the commits before, the writes that had landed."""

    point: str
    operation_id: str
    commits: int
    landed: int
    written: list[Written]

    def open(self, steps: int, single: bool) -> bool:
        """Whether the last intent has no receipt: by the count of commits alone."""
        return self.commits % 2 == 1 if single else 1 <= self.commits <= steps


async def _child(stage: Stage, operation_id: str, **more: Any) -> Done | None:
    child = Child(execute_job, stage.job(operation_id, **more))
    done: Done | None = await asyncio.to_thread(child.join)
    if more.get("signal") == signal.SIGKILL:
        assert child.exitcode == -signal.SIGKILL
    return done


async def _killed_in_flight(stage: Stage, operation_id: str, at: int, network: str, landed: int, **more: Any) -> None:
    """Kill the process while the network has applied a write and holds the answer back."""
    awaited = len(stage.written()) + landed
    fault = {"network": network, "fault": "latency", "value": 60_000}
    child = Child(execute_job, stage.job(operation_id, at=at, fault=fault, **more))
    async with asyncio.timeout(PATIENCE):
        while len(stage.written()) < awaited:
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
        steps = len((await stage.shown(service, clean_id))["plan"]["steps"])
        apart = single or has_overlay(name.split("-")[0], action)
        expected = list_points(steps, apart)
        flights = [at for at, (point, _) in enumerate(expected) if point == "after_intent_commit"]
        ids_ = [await source() for _ in range(len(expected) + len(flights))]
    before = len(stage.written())
    done = await _child(stage, clean_id, **more)
    clean = [one.what for one in stage.written()[before:]]
    assert done is not None and done.passed == expected and done.answers[-1] == "succeeded"
    assert done.commits == (2 * steps if apart else steps + 1) and len(clean) == steps

    killed: list[_Killed] = []
    async with stage.service() as service:
        for at, (point, commits) in enumerate(expected):
            before = len(stage.written())
            operation_id = ids_.pop()
            assert await _child(stage, operation_id, at=at, signal=signal.SIGKILL, **more) is None
            landed = sum(passed == "applied_before_read" for passed, _ in expected[: at + 1])
            one = _Killed(f"{at} {point}", operation_id, commits, landed, stage.written()[before:])
            if one.open(steps, apart):
                await _still_leased(stage, service, one)
            killed.append(one)
        for at in flights:
            before = len(stage.written())
            operation_id = ids_.pop()
            landed = sum(passed == "applied_before_read" for passed, _ in expected[: at + 1]) + 1
            await _killed_in_flight(stage, operation_id, at, name.split("-")[0], landed, **more)
            one = _Killed(f"{at} in flight", operation_id, expected[at][1], landed, stage.written()[before:])
            await _still_leased(stage, service, one)
            killed.append(one)

    async with stage.service(clock=stage.later(LEASE_MILLISECONDS)) as service:
        for one in killed:
            await _after(stage, service, one, clean, action, apart)
        await service.store.read(_changes_in_order)


async def _still_leased(stage: Stage, service: Service, one: _Killed) -> None:
    """Within the lease nobody knows that the process is gone: the operation is running, and nothing is sent."""
    before = len(stage.written())
    shown = await stage.execute(service, one.operation_id)
    assert (shown["status"], shown["stalled"]) == ("running", False), one.point
    assert len(stage.written()) == before, one.point


async def _after(stage: Stage, service: Service, one: _Killed, clean: list[str], action: str, single: bool) -> None:
    assert [each.what for each in one.written] == clean[: one.landed], one.point
    shown = await stage.shown(service, one.operation_id)
    before = len(stage.written())
    if one.open(len(clean), single):
        assert (shown["status"], shown["stalled"]) == ("running", True), one.point
        for _ in range(2):
            refusal = await stage.refusal(service, one.operation_id)
            assert refusal is not None and (refusal.code, refusal.outcome) == ("operation_stalled", "unknown")
        with pytest.raises(OperationError):
            await operations.cancel_operation(service, stage.actor, operation_id=one.operation_id)
        assert len(stage.written()) == before, f"{one.point}: something was sent again"
        written = one.written
    else:
        shown = await stage.execute(service, one.operation_id)
        assert shown["status"] == "succeeded", one.point
        written = [*one.written, *stage.written()[before:]]
        assert [each.what for each in written] == clean, f"{one.point}: repeated or left out"
        assert await stage.execute(service, one.operation_id) == shown
        assert len(stage.written()) == before + len(clean) - one.landed, f"{one.point}: a replay has written"
    shown = await stage.shown(service, one.operation_id)
    receipts = shown["receipt"]["steps"]
    applied = [receipt for receipt in receipts if receipt["state"] == "applied"]
    in_flight = [receipt for receipt in receipts if receipt["state"] == "in_flight"]
    assert len(in_flight) == one.open(len(clean), single) and len(receipts) == len(applied) + len(in_flight)
    assert len(applied) <= len(written) <= len(applied) + len(in_flight), f"{one.point}: a receipt is lost"
    for receipt, each in zip(applied, written, strict=False):
        assert receipt["httpStatus"] is not None, one.point
        assert receipt["response"] is not None or action in get_samples(shown["network"]).empty_answers, one.point
        assert collect_ids(receipt) & each.ids or (action != "create" and not receipt["outputs"]), one.point
    told = await service.store.read(_count_events, one.operation_id)
    assert told.pop("operation.running") == told.pop("claims"), one.point
    ended = ["operation.succeeded"] if shown["status"] == "succeeded" else []
    assert told == dict.fromkeys(["operation.prepared", *ended], 1), f"{one.point}: a transition without its event"


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
    seen: dict[tuple[Any, ...], str] = {}
    changes = select(events).where(events.c.type.like("%.status_changed")).order_by(events.c.created_at, events.c.id)
    for event in connection.execute(changes).all():
        key = (event.account_id, event.data["kind"], event.data["entityId"])
        assert seen.get(key, event.data["before"]) == event.data["before"] != event.data["status"]
        seen[key] = event.data["status"]
    assert seen == {key: last[key] for key in seen}
