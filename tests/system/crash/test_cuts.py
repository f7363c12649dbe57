"""O8: every await of an execution is cut once: by a cancellation, and by an error of the store or the network."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any

import pytest
from attrs import evolve

from adsunify.errors import AdsunifyError, RequestNotSent, ResponseLost, StoreError
from adsunify.execution.state import LEASE_MILLISECONDS
from adsunify.service import execution, operations
from adsunify.service.core import Service

from .cutting import Cancelling, Failing, FailingStore, FailingTransport
from .stage import FORMATS, NETWORK_PLANS, Stage, alternate_engines, has_overlay

PATIENCE = 30.0


def make_declared_error(of: str, done: bool) -> AdsunifyError:
    """What a store and a transport say that they may raise."""
    if of == "store":
        return StoreError("cut")
    return ResponseLost("cut") if done else RequestNotSent("cut")


def make_undeclared_error(of: str, done: bool) -> OSError:
    """What none of them may raise, and a defect would."""
    return OSError("cut")


async def _over(task: asyncio.Task[Any], at: int | None) -> None:
    """Wait for the call, and for all that was begun: it goes on without its caller."""
    tasks = {task}
    while tasks:
        _, hanging = await asyncio.wait(tasks, timeout=PATIENCE)
        assert not hanging, f"cut {at}: {hanging}"
        tasks = asyncio.all_tasks() - {asyncio.current_task()}
    if not task.cancelled():
        assert isinstance(task.exception(), OSError | AdsunifyError | None), f"cut {at}: {task.exception()}"


def _call(stage: Stage, service: Service, operation_id: str) -> Coroutine[Any, Any, Any]:
    return operations.execute_operation(service, stage.actor, operation_id=operation_id, confirmed=True)


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(NETWORK_PLANS))
async def test_every_await_is_cancelled(stage: Stage, name: str, action: str) -> None:
    async with stage.service() as service, stage.service(clock=stage.later(LEASE_MILLISECONDS)) as after:
        source = await stage.source(service, FORMATS[name][0], action)
        whole = Cancelling()
        before = len(stage.list_writes())
        await _over(whole.start(_call(stage, service, await source())), None)
        clean = [write.what for write in stage.list_writes()[before:]]
        assert clean and whole.count > 4 * len(clean)
        for at in range(whole.count):
            before = len(stage.list_writes())
            operation_id = await source()
            await _over(Cancelling(at).start(_call(stage, service, operation_id)), at)
            await stage.wait_until_settled(service)
            await _judge(stage, after, operation_id, before, clean, f"cut {at}")


PROBLEMS = [
    (*turn, (make_declared_error, make_undeclared_error)[n])
    for n in range(2)
    for turn in alternate_engines(NETWORK_PLANS, n)
]


@pytest.mark.parametrize(("engine", "name", "action", "problem"), PROBLEMS)
async def test_every_answer_fails(
    stage: Stage, name: str, action: str, problem: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "EVIDENCE_PAUSE_SECONDS", 0.01)
    async with stage.service() as service, stage.service(clock=stage.later(LEASE_MILLISECONDS)) as after:
        source = await stage.source(service, FORMATS[name][0], action)

        async def run(operation_id: str, failing: Failing) -> None:
            cut: Any = evolve(service)
            cut.store = FailingStore(service.store, failing)
            cut.transport = FailingTransport(service.transport, failing)
            await _over(asyncio.create_task(_call(stage, cut, operation_id)), failing.at)

        whole = Failing(problem)
        before = len(stage.list_writes())
        await run(await source(), whole)
        clean = [write.what for write in stage.list_writes()[before:]]
        # the operation is read, whether a person must approve, then it is loaded, with the credentials; N + 1 commits
        # and N writes; and it is read again, and its receipts
        more = 2 * len(clean) - 1 if has_overlay(name.split("-")[0], action) else 0  # reads, and commits before them
        expected = 2 * len(clean) + 1 + 6 + more
        # an activation also reads its account, the credentials, and the budgets on which it rests
        assert whole.count >= expected + 3 if action == "activate" else whole.count == expected
        for at in range(whole.count):
            for done in (False, True):
                before = len(stage.list_writes())
                operation_id = await source()
                await run(operation_id, Failing(problem, at, done))
                await _judge(stage, after, operation_id, before, clean, f"cut {at}, done {done}")


async def _judge(stage: Stage, after: Service, operation_id: str, before: int, clean: list[str], cut: str) -> None:
    """What was written has a receipt or an open intent, and nothing is ever written again."""
    writes = [write.what for write in stage.list_writes()[before:]]
    assert writes == clean[: len(writes)], f"{cut}: repeated or out of order"
    operation_data = await stage.read_operation(after, operation_id)
    states = [receipt["state"] for receipt in operation_data["receipt"]["steps"]]
    doubtful = states.count("in_flight") + states.count("ambiguous")
    assert states.count("applied") <= len(writes) <= states.count("applied") + doubtful, f"{cut}: lost"
    if doubtful:
        refusal = await stage.refusal(after, operation_id)
        assert refusal is not None and refusal.outcome == "unknown", f"{cut}: {operation_data['status']}"
        assert refusal.code in ("operation_stalled", "outcome_unknown")
        assert len(stage.list_writes()) == before + len(writes), f"{cut}: sent again"
    else:
        operation_data = await stage.execute(after, operation_id)
        if "retryAfterMs" in operation_data:  # it was not sent, and waits a moment
            after.store.clock.observe(after.store.clock.now() + operation_data["retryAfterMs"])
            operation_data = await stage.execute(after, operation_id)
        assert operation_data["status"] == "succeeded", cut
        assert [write.what for write in stage.list_writes()[before:]] == clean, f"{cut}: repeated or left out"
