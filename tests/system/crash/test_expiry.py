"""O14: the 30 minutes for review and execution end at the millisecond, whatever is done to the machine's clock."""

from __future__ import annotations

import time
from typing import Any

import pytest
from attrs import define

from adsunify.execution.executor import KillPoint
from adsunify.service import operations as use
from adsunify.service.core import Service
from adsunify.store import Clock, operations
from adsunify.store.clock import MAX_AHEAD_MILLISECONDS

from .stage import FORMATS, NETWORK_PLANS, Stage, alternate_engines
from .stage import PLANS as ALL_PLANS

MINUTE = 60_000
PLANS = [plan for plan in ALL_PLANS if not plan[0].startswith("x-")]
"""X signs the time of each request, and refuses one from a machine whose clock is far from its own."""
CREATED = [plan for plan in NETWORK_PLANS if plan[1] == "create" and plan in PLANS]


@define
class Hands:
    """The machine's clocks, in milliseconds; set by the test."""

    wall: int
    monotonic: int = 0

    def clock(self) -> Clock:
        """A clock as a process that starts now has it."""
        return Clock(lambda: self.wall, lambda: self.monotonic)

    def pass_(self, milliseconds: int) -> None:
        """Time passes."""
        self.wall += milliseconds
        self.monotonic += milliseconds


@pytest.fixture
def hands() -> Hands:
    return Hands(time.time_ns() // 1_000_000 + 1_000)


async def _measure_remaining(stage: Stage, service: Service, operation_id: str) -> int:
    """Milliseconds until the operation expires."""
    clock = service.store.clock
    record = await service.store.read(operations.get_operation, stage.actor, operation_id, clock)
    return record.expires_at - clock.now()


async def _check_expired(stage: Stage, service: Service, operation_id: str, receipts: int) -> dict[str, Any]:
    """An execute call is refused, nothing is sent, and what was done before is kept."""
    before = len(stage.list_writes())
    refusal = await stage.refusal(service, operation_id)
    assert refusal is not None and (refusal.status, refusal.code) == (400, "operation_expired")
    assert len(stage.list_writes()) == before, "sent after the expiry"
    operation_data = await stage.read_operation(service, operation_id)
    assert (operation_data["status"], operation_data["expired"], len(operation_data["receipt"]["steps"])) == (
        "prepared",
        True,
        receipts,
    )
    return operation_data


async def _execute_once(stage: Stage, service: Service, operation_id: str) -> dict[str, Any]:
    operation_data: dict[str, Any] = await use.execute_operation(
        service, stage.actor, operation_id=operation_id, confirmed=True
    )
    return operation_data


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_accepted_until_the_last_millisecond(stage: Stage, hands: Hands, name: str, action: str) -> None:
    async with stage.service(clock=hands.clock()) as service:
        source = await stage.source(service, FORMATS[name][0], action)
        in_time, late = await source(), await source()
        assert (
            await _measure_remaining(stage, service, in_time)
            == await _measure_remaining(stage, service, late)
            == 30 * MINUTE
        )
        hands.pass_(30 * MINUTE - 1)
        assert (await stage.execute(service, in_time))["status"] == "succeeded"
        hands.pass_(1)
        await _check_expired(stage, service, late, 0)


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_going_on_is_under_the_first_expiry(stage: Stage, hands: Hands, name: str, action: str) -> None:
    async with stage.service(clock=hands.clock(), steps=1) as service:
        source = await stage.source(service, FORMATS[name][0], action)
        operation_id = await source()
        steps = len((await stage.read_operation(service, operation_id))["plan"]["steps"])
        if steps == 1:
            return  # never gone on with
        hands.pass_(10 * MINUTE)
        before = len(stage.list_writes())
        operation_data = await _execute_once(stage, service, operation_id)
        assert (operation_data["nextAction"], len(stage.list_writes()) - before) == ("execute", 1)
        assert await _measure_remaining(stage, service, operation_id) == 20 * MINUTE, "an execution extends nothing"
        hands.pass_(20 * MINUTE - 1)
        if steps > 2:
            assert (await _execute_once(stage, service, operation_id))["nextAction"] == "execute"
        hands.pass_(1)
        await _check_expired(stage, service, operation_id, min(steps - 1, 2))


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_expires_between_two_steps(stage: Stage, hands: Hands, name: str, action: str) -> None:
    async with stage.service(clock=hands.clock()) as service:
        source = await stage.source(service, FORMATS[name][0], action)
        operation_id = await source()
        steps = len((await stage.read_operation(service, operation_id))["plan"]["steps"])
        if steps == 1:
            return
        hands.pass_(30 * MINUTE - 1)
        before = len(stage.list_writes())

        def pass_point(point: KillPoint) -> None:
            if point is KillPoint.applied_before_read and len(stage.list_writes()) - before == steps - 1:
                hands.pass_(1)

        service.kill_point_hook = pass_point
        refusal = await stage.refusal(service, operation_id)
        assert refusal is not None and refusal.code == "operation_expired"
        assert len(stage.list_writes()) - before == steps - 1
        await _check_expired(stage, service, operation_id, steps - 1)


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(CREATED))
async def test_clock_set_back(stage: Stage, hands: Hands, name: str, action: str) -> None:
    async with stage.service(clock=hands.clock()) as service:
        operation_id = await stage.create(service, FORMATS[name][0])
        hands.pass_(10 * MINUTE)
        hands.wall -= MAX_AHEAD_MILLISECONDS
        assert await _measure_remaining(stage, service, operation_id) == 20 * MINUTE
        hands.pass_(20 * MINUTE)
        await _check_expired(stage, service, operation_id, 0)


@pytest.mark.parametrize("boot", [False, True])
@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(CREATED))
async def test_clock_set_back_and_started_again(stage: Stage, hands: Hands, name: str, action: str, boot: bool) -> None:
    async with stage.service(clock=hands.clock()) as service:
        operation_id, before_it_ends = [await stage.create(service, FORMATS[name][0]) for _ in range(2)]
        hands.pass_(30 * MINUTE - 1)
        await stage.execute(service, before_it_ends)
        hands.pass_(1)
        await _check_expired(stage, service, operation_id, 0)
    hands.wall -= MAX_AHEAD_MILLISECONDS
    hands.monotonic = 0 if boot else hands.monotonic
    async with stage.service(clock=hands.clock()) as service:
        # known is the last thing that was stored: what time has passed since then nobody wrote down
        assert await _measure_remaining(stage, service, operation_id) <= 1
        hands.pass_(1)
        await _check_expired(stage, service, operation_id, 0)
