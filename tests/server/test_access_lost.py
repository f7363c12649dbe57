"""Access that ends while an operation runs, and races for an operation. SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import pytest

from adsunify.store import connections, events, keys, people

from .served import Caller, Served, brief, connect

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONFIRMED = {"confirmed": True}


@pytest.fixture(autouse=True)
def no_faults_left(both: Served) -> None:
    both.networks.state.faults.pending.clear()


async def prepare_change(server: Served, caller: Caller) -> str:
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    operation: str = (await caller.post("/create", body, 201))["id"]
    return operation


async def revoke(server: Served, key_id: str) -> None:
    actor = server.people["member"].actor
    await server.service.store.write(keys.revoke_key, actor, key_id, server.service.store.clock)


async def demote(server: Served, key_id: str) -> None:
    actor, store = server.people["member"].actor, server.service.store
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "viewer", store.clock)


async def remove(server: Served, key_id: str) -> None:
    actor = server.people["member"].actor
    await server.service.store.write(
        people.remove_membership, actor.workspace_id, actor.user_id, server.service.store.clock
    )


async def disconnect(server: Served, key_id: str) -> None:
    account = await server.admin.get(f"/accounts/{server.accounts['meta']}")
    store, actor = server.service.store, server.people["admin"].actor
    await store.write(connections.disconnect, actor, account["connectionId"], store.clock)


async def let_expire(server: Served, key_id: str) -> None:
    server.hands.pass_(seconds=11)  # within the lease


@pytest.mark.parametrize("end", [revoke, demote, remove, disconnect, let_expire])
async def test_access_is_checked_before_every_native_write(
    both: Served, end: Callable[[Served, str], Awaitable[None]]
) -> None:
    """The write in flight is not cut and its receipt is kept; the next one is not sent. Who still may, goes on."""
    key_id, secret = await both.key("member", expires_in=10_000)
    operation = await prepare_change(both, both.caller(secret))
    writes = both.networks.writes()
    await both.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=300)
    running = asyncio.create_task(both.caller(secret).send("POST", f"/operations/{operation}/execute", CONFIRMED))
    while both.networks.writes() == writes:
        await asyncio.sleep(0.01)
    await end(both, key_id)
    answer = await running
    problem = answer.json()
    assert (answer.status_code, problem["code"], problem["outcome"]) == (403, "access_lost", "partly_applied")
    assert both.networks.writes() == writes + 1
    store, actor = both.service.store, both.people["member"].actor
    await store.write(people.set_membership, actor.workspace_id, actor.user_id, "member", store.clock)
    if end is disconnect:
        await connect(both, "meta")
    record = await both.admin.get(f"/operations/{operation}")
    assert problem["operationId"] == operation
    assert (record["status"], record["error"]["code"]) == ("prepared", "access_lost")
    assert [(step["key"], step["state"]) for step in record["receipt"]["steps"]] == [("campaign", "applied")]
    assert (await both.admin.execute(operation))["status"] == "succeeded"
    assert both.networks.writes() == writes + 4


async def test_executes_and_cancels_race(both: Served) -> None:
    """Of all who try, either one executes or one cancels; and what is cancelled was not written."""
    operations = [await prepare_change(both, both.admin) for _ in range(10)]
    writes = both.networks.writes()

    async def ask(operation: str, number: int) -> Any:
        path = f"/operations/{operation}/" + ("execute" if number % 2 else "cancel")
        return await both.admin.send("POST", path, CONFIRMED if number % 2 else {})

    answers = await asyncio.gather(*(ask(operation, number) for number in range(8) for operation in operations))
    assert {answer.status_code for answer in answers} <= {200, 400}
    ends = []
    for operation in operations:
        record = await both.admin.get(f"/operations/{operation}")
        event_types = [event.type for event in await both.events() if event.operation_id == operation]
        ends.append(record["status"])
        ran = (
            ["operation.running", "operation.succeeded"] if record["status"] == "succeeded" else ["operation.cancelled"]
        )
        assert event_types == ["operation.prepared", *ran]
    assert set(ends) <= {"succeeded", "cancelled"}
    assert both.networks.writes() == writes + 4 * ends.count("succeeded")


async def test_two_keys_execute_everything_once(both: Served) -> None:
    _, second = await both.key("admin")
    operations = [await prepare_change(both, both.admin) for _ in range(5)]
    writes = both.networks.writes()
    body = {"operationIds": operations, "confirmed": True}
    await asyncio.gather(
        *(caller.post("/operations/execute", body) for caller in (both.admin, both.caller(second)) for _ in range(5))
    )
    assert {(await both.admin.execute(operation))["status"] for operation in operations} == {"succeeded"}
    assert both.networks.writes() == writes + 4 * len(operations)


async def test_an_event_is_recorded_with_its_transition_or_not_at_all(
    both: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A transaction that fails at its event leaves the operation as it was."""
    operation = await prepare_change(both, both.admin)
    rows = await both.rows()

    row = events.make_event_row

    def make_refused_row(*arguments: Any, **more: Any) -> dict[str, Any]:
        return row(*arguments, **more) | {"type": None}  # which the database refuses

    monkeypatch.setattr(events, "make_event_row", make_refused_row)
    body = {"accountId": both.accounts["meta"], "campaign": brief("meta")}
    await both.admin.problem(500, "POST", "/create", body, headers={"Idempotency-Key": "never bound"})
    await both.admin.problem(500, "POST", f"/operations/{operation}/cancel", {})
    writes = both.networks.writes()
    await both.admin.problem(500, "POST", f"/operations/{operation}/execute", CONFIRMED)
    monkeypatch.undo()
    assert await both.rows() == rows and both.networks.writes() == writes
    assert (await both.admin.get(f"/operations/{operation}"))["status"] == "prepared"
    assert (await both.admin.execute(operation))["status"] == "succeeded"
