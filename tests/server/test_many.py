"""Many executions at once: a workspace has so many under way at a time, and none of another's waits for them."""

from __future__ import annotations

import asyncio

import pytest

from adsunify.actor import Actor
from adsunify.execution.executor import ExecutionResult
from adsunify.service import execution
from adsunify.service.core import Service

from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


async def prepare_operation(server: Served, name: str) -> str:
    account = (server.accounts if name == "admin" else server.foreign)["meta"]
    body = {"accountId": account, "campaign": brief("meta")}
    operation = await server.person(name).post("/create", body, 201)
    return str(operation["id"])


async def test_a_workspace_waits_for_itself_alone(both: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    own, others = [await prepare_operation(both, "admin") for _ in range(5)], await prepare_operation(both, "stranger")
    shop, gate, most = both.people["admin"].actor.workspace_id, asyncio.Event(), 0
    executed = execution._drive_executor

    async def slow(
        service: Service, actor: Actor, loaded: execution.LoadedOperation, allows_stale: bool
    ) -> ExecutionResult:
        nonlocal most
        most = max(most, service.counters.executions_in_flight)
        if actor.workspace_id == shop:
            await gate.wait()
        return await executed(service, actor, loaded, allows_stale)

    monkeypatch.setattr(execution, "_drive_executor", slow)
    monkeypatch.setattr(execution, "MAX_CONCURRENT_EXECUTIONS", 2)
    both.service.execution_slots.clear()
    running = [asyncio.create_task(both.admin.execute(operation_id)) for operation_id in own]
    while both.service.counters.executions_in_flight < 2:
        await asyncio.sleep(0.01)
    assert (await both.person("stranger").execute(others))["status"] == "succeeded"
    listed_operations = await both.admin.get("/operations")  # they can be looked at
    assert {operation["status"] for operation in listed_operations} == {"prepared"}
    assert both.service.counters.executions_in_flight == 2
    gate.set()
    assert {operation["status"] for operation in await asyncio.gather(*running)} == {"succeeded"}
    assert most == 3
    both.service.execution_slots.clear()
