"""Operations: executed, replayed, refused, throttled, unknown, cancelled, expired; and the response to each."""

from __future__ import annotations

import asyncio
from datetime import datetime
from typing import Any

import httpx
import pytest
from attrs import evolve
from sqlalchemy import update

from adsunify.errors import StoreError
from adsunify.execution.executor import ExecutionLimits, KillPoint
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import execution
from adsunify.store.schema import operations
from adsunify.store.state_commits import commit_state
from tests.markers import exhaustive
from tests.networks.samples import get_samples

from .served import NEVER, Caller, Served, brief, stock_entities

pytestmark = pytest.mark.asyncio(loop_scope="module")
networks = pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
CONFIRMED = {"confirmed": True}
CREATES = {code: get_samples(code).first_write_path for code in ADAPTER_PACKAGES}
"""The first write of a create, as the faults name it."""


@pytest.fixture(autouse=True)
def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()


async def prepare_campaign(server: Served, network: str = "meta", caller: Caller | None = None) -> str:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    operation: str = (await (caller or server.admin).post("/create", body, 201))["id"]
    return operation


async def execute_refused(server: Served, operation: str, code: str, outcome: str, status: int = 400) -> Any:
    """The problem that an execute is answered with; the operation in it is the operation as it stands."""
    problem = await server.admin.problem(status, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert (problem["code"], problem["outcome"], problem["operationId"]) == (code, outcome, operation)
    record = await server.admin.get(f"/operations/{operation}")
    assert problem["operation"] == record
    return problem


async def list_event_types(server: Served, operation: str) -> list[str]:
    return [event.type.removeprefix("operation.") for event in await server.events() if event.operation_id == operation]


def list_states(operation: Any) -> list[tuple[str, int, str]]:
    return [(step["key"], step["attempt"], step["state"]) for step in operation["receipt"]["steps"]]


# -- succeeding ---------------------------------------------------------------------------------------------------


@networks
async def test_executing(server: Served, network: str) -> None:
    operation, writes = await prepare_campaign(server, network), server.networks.writes()
    done = await server.admin.execute(operation)
    assert (done["status"], done["expired"], done["stalled"]) == ("succeeded", False, False)
    keys = [step["key"] for step in done["plan"]["steps"]]
    assert list_states(done) == [(key, 1, "applied") for key in keys]
    for step in done["receipt"]["steps"]:
        assert step["httpStatus"] in (200, 201, 207) and step["outputs"] and step["error"] is None
        assert (step["response"] is None) == ("create" in get_samples(network).empty_answers)
        assert datetime.fromisoformat(step["intentAt"]) <= datetime.fromisoformat(step["receiptAt"])
    after = server.networks.writes()
    assert after > writes
    for _ in range(2):  # replays: the saved receipt
        assert await server.admin.execute(operation) == done
    assert server.networks.writes() == after
    assert await list_event_types(server, operation) == ["prepared", "running", "succeeded"]
    listed_operation = next(row for row in await server.admin.get("/operations") if row["id"] == operation)
    assert listed_operation["plan"] == {"version": done["plan"]["version"], "digest": done["plan"]["digest"]}
    assert list_states(listed_operation) == list_states(done)


async def test_a_hundred_executes_at_once_write_once(server: Served) -> None:
    operation, writes = await prepare_campaign(server), server.networks.writes()
    answers = await asyncio.gather(
        *(server.admin.send("POST", f"/operations/{operation}/execute", CONFIRMED) for _ in range(100))
    )
    assert {answer.status_code for answer in answers} == {200}
    assert {answer.json()["data"]["status"] for answer in answers} <= {"running", "succeeded"}
    assert (await server.admin.execute(operation))["status"] == "succeeded"
    assert server.networks.writes() == writes + 4
    assert await list_event_types(server, operation) == ["prepared", "running", "succeeded"]


async def test_while_it_runs_it_is_running(server: Served) -> None:
    """A second execute answers 200 with the operation as it is, and writes nothing."""
    operation, writes = await prepare_campaign(server), server.networks.writes()
    await server.networks.fault("meta", "latency", path=CREATES["meta"], value=400)
    first = asyncio.create_task(server.admin.execute(operation))
    while server.networks.writes() == writes:
        await asyncio.sleep(0.01)
    second = await server.admin.execute(operation)
    assert (second["status"], second["stalled"]) == ("running", False)
    assert list_states(second) == [("campaign", 1, "in_flight")]
    problem = await server.admin.problem(400, "POST", f"/operations/{operation}/cancel", {})
    assert (problem["code"], problem["operationId"]) == ("operation_running", operation)
    assert (await first)["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_a_write_that_takes_its_time_is_not_taken_for_lost(
    server: Served, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(execution, "RENEW_SECONDS", 0.02)
    operation, writes = await prepare_campaign(server), server.networks.writes()
    await server.networks.fault("meta", "latency", path=CREATES["meta"], value=600)
    first = asyncio.create_task(server.admin.execute(operation))
    while server.networks.writes() == writes:
        await asyncio.sleep(0.01)
    for _ in range(2):  # longer than the lease, and never so long without being renewed
        server.hands.pass_(seconds=20)
        await asyncio.sleep(0.1)
    assert not (await server.admin.get(f"/operations/{operation}"))["stalled"]
    assert (await first)["nextAction"] == "execute"  # the time of the call is over
    assert (await server.admin.execute(operation))["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_a_client_that_hangs_up_stops_nothing(server: Served) -> None:
    operation, writes = await prepare_campaign(server), server.networks.writes()
    await server.networks.fault("meta", "latency", path=CREATES["meta"], value=300)
    with pytest.raises(httpx.ReadTimeout):
        async with httpx.AsyncClient(timeout=0.1, trust_env=False) as hasty:
            headers = {"Authorization": f"Bearer {server.people['admin'].tokens['write']}"}
            await hasty.post(
                f"{server.base_url}/api/v1/ads/operations/{operation}/execute", json=CONFIRMED, headers=headers
            )
    while server.service.shielded_tasks:
        await asyncio.wait(server.service.shielded_tasks)
    assert (await server.admin.get(f"/operations/{operation}"))["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_a_call_works_for_so_long_and_hands_back(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = await prepare_campaign(server)
    monkeypatch.setattr(
        server.service, "settings", evolve(server.service.settings, limits=ExecutionLimits(max_steps=1))
    )
    for applied in (1, 2, 3):
        back = await server.admin.execute(operation)
        assert (back["status"], back["nextAction"], len(list_states(back))) == ("prepared", "execute", applied)
        assert "retryAfterMs" not in back and "error" not in back
    assert (await server.admin.execute(operation))["status"] == "succeeded"
    # once at preparation, running at every claim, nothing when it is handed back
    assert await list_event_types(server, operation) == ["prepared", *["running"] * 4, "succeeded"]


async def test_no_step_begins_when_the_time_of_a_call_is_over(server: Served) -> None:
    """However long the steps last: what counts is when the last of them was answered."""
    operation = await prepare_campaign(server)
    writes = server.networks.writes()
    hands, passes = server.hands, server.service.kill_point_hook

    def slowly(point: KillPoint) -> None:
        if point is KillPoint.applied_before_read:
            hands.pass_(seconds=11)
        passes(point)

    server.service.kill_point_hook = slowly
    back = await server.admin.execute(operation)
    assert (back["status"], back["nextAction"], len(list_states(back))) == ("prepared", "execute", 2)
    assert server.networks.writes() == writes + 2
    server.service.kill_point_hook = passes
    assert (await server.admin.execute(operation))["status"] == "succeeded"


async def test_a_server_that_stops_begins_nothing(server: Served) -> None:
    """And says that the same operation is to be continued, though nothing of it is stored."""
    operation, rows = await prepare_campaign(server), await server.rows()
    server.service.is_stopping = True
    back = await server.admin.execute(operation)
    server.service.is_stopping = False
    assert (back["status"], back["nextAction"], list_states(back)) == ("prepared", "execute", [])
    assert await server.rows() == rows and await list_event_types(server, operation) == ["prepared"]
    assert (await server.admin.execute(operation))["status"] == "succeeded"


# -- refused by the network ---------------------------------------------------------------------------------------


@networks
async def test_a_refused_step(server: Served, network: str) -> None:
    """Surely not applied: back to prepared, with the native error; executing again goes on."""
    operation, writes = await prepare_campaign(server, network), server.networks.writes()
    await server.networks.fault(network, "status", method="POST", path=CREATES[network], value=400)
    problem = await execute_refused(server, operation, "provider_rejected", "not_applied")
    assert problem["network"]["status"] == 400 and problem["network"]["message"]
    record = problem["operation"]
    assert record["status"] == "prepared" and "nextAction" not in record
    assert record["receipt"]["steps"][0]["error"] == problem["network"] == record["error"]["network"]
    assert server.networks.writes() == writes
    assert (await server.admin.execute(operation))["status"] == "succeeded"
    assert await list_event_types(server, operation) == ["prepared", "running", "running", "succeeded"]


async def test_executing_again_continues_where_it_was_refused(server: Served) -> None:
    operation, writes = await prepare_campaign(server), server.networks.writes()
    await server.networks.fault("meta", "status", path="/v26.0/act_1001/adcreatives", value=400)
    record = (await execute_refused(server, operation, "provider_rejected", "partly_applied"))["operation"]
    assert list_states(record) == [("campaign", 1, "applied"), ("adGroup", 1, "applied"), ("creative", 1, "rejected")]
    done = await server.admin.execute(operation)
    assert done["status"] == "succeeded"
    assert list_states(done)[2:] == [("creative", 1, "rejected"), ("creative", 2, "applied"), ("ad", 1, "applied")]
    assert server.networks.writes() == writes + 4


async def test_some_items_of_a_step_are_refused(server: Served) -> None:
    """Amazon's 207: what was applied stays, and only the rest is sent again."""
    operation, writes = await prepare_campaign(server, "amazon"), server.networks.writes()
    await server.networks.fault("amazon", "partial", path="/sp/keywords")
    record = (await execute_refused(server, operation, "provider_rejected", "partly_applied"))["operation"]
    items = [item["state"] for item in record["receipt"]["steps"][-1]["items"]]
    assert sorted(items) == ["applied", "rejected"]
    sent = server.networks.writes()
    done = await server.admin.execute(operation)
    assert done["status"] == "succeeded"
    assert len(done["receipt"]["steps"][-1]["outputs"]["id"]) == 2
    assert server.networks.writes() == sent + 1 == writes + 5


# -- later --------------------------------------------------------------------------------------------------------


@networks
async def test_a_throttled_step_waits(server: Served, network: str) -> None:
    operation, writes = await prepare_campaign(server, network), server.networks.writes()
    await server.networks.fault(network, "status", method="POST", path=CREATES[network], value=429)
    back = await server.admin.execute(operation)
    assert (back["status"], back["nextAction"]) == ("prepared", "execute")
    assert back["retryAfterMs"] > 0
    assert back["error"]["code"] == "provider_throttled"
    assert [state for _, _, state in list_states(back)] == ["throttled"]
    request_count = len(server.networks.requests)
    early = await server.admin.execute(operation)  # nothing is sent before the time
    assert (early["status"], early["nextAction"]) == ("prepared", "execute")
    assert 0 < early["retryAfterMs"] <= back["retryAfterMs"]
    assert len(server.networks.requests) == request_count
    batch = await server.admin.post("/operations/execute", {"operationIds": [operation], **CONFIRMED})
    assert batch["results"][0]["operation"]["retryAfterMs"] > 0
    assert len(server.networks.requests) == request_count and server.networks.writes() == writes
    server.hands.pass_(milliseconds=back["retryAfterMs"])
    assert (await server.admin.execute(operation))["status"] == "succeeded"
    assert await list_event_types(server, operation) == ["prepared", "running", "running", "succeeded"]


async def test_a_network_that_cannot_be_reached(server: Served) -> None:
    """Not a byte was sent: prepared, to be continued."""
    operation = await prepare_campaign(server)
    transport = server.service.transport
    url, transport._sandbox_url = transport._sandbox_url, "http://127.0.0.1:9"  # nobody listens there
    back = await server.admin.execute(operation)
    transport._sandbox_url = url
    assert (back["status"], back["nextAction"], back["error"]["code"]) == ("prepared", "execute", "not_sent")
    server.hands.pass_(milliseconds=back["retryAfterMs"])
    assert (await server.admin.execute(operation))["status"] == "succeeded"


# -- nobody knows -------------------------------------------------------------------------------------------------


@networks
@pytest.mark.parametrize("fault", ["reset_after", "truncate", "status", exhaustive("html"), exhaustive("empty")])
async def test_an_ambiguous_outcome_is_never_repeated(server: Served, network: str, fault: str) -> None:
    if fault == "empty" and "create" in get_samples(network).empty_answers:
        return
    operation, writes = await prepare_campaign(server, network), server.networks.writes()
    value = {"value": 502} if fault == "status" else {}
    await server.networks.fault(network, fault, method="POST", path=CREATES[network], **value)
    problem = await execute_refused(server, operation, "outcome_unknown", "unknown")
    assert problem["operation"]["status"] == "unknown"
    assert "again" not in problem["detail"]
    assert [state for _, _, state in list_states(problem["operation"])] == ["ambiguous"]
    sent = server.networks.writes()
    assert sent == writes if fault == "status" else sent > writes
    for _ in range(2):
        await execute_refused(server, operation, "outcome_unknown", "unknown")
    cancel = await server.admin.problem(400, "POST", f"/operations/{operation}/cancel", {})
    assert (cancel["code"], cancel["outcome"]) == ("operation_unknown", "unknown")
    assert server.networks.writes() == sent
    assert await list_event_types(server, operation) == ["prepared", "running", "unknown"]


async def test_a_write_whose_process_died_is_left_alone(server: Served) -> None:
    """The lease ran out with a write in flight: stalled, and no call changes that."""
    operation = await prepare_campaign(server)
    await server.networks.fault("meta", "latency", path=CREATES["meta"], value=1)
    await _interrupt_operation(server, operation, in_flight=True)
    writes, rows = server.networks.writes(), await server.rows()
    record = (await execute_refused(server, operation, "operation_stalled", "unknown"))["operation"]
    assert (record["status"], record["stalled"]) == ("running", True)
    problem = await server.admin.problem(400, "POST", f"/operations/{operation}/cancel", {})
    assert (problem["code"], problem["outcome"]) == ("operation_stalled", "unknown")
    assert server.networks.writes() == writes and await server.rows() == rows


async def test_an_execution_that_died_between_two_writes_goes_on(server: Served) -> None:
    operation = await prepare_campaign(server)
    await _interrupt_operation(server, operation, in_flight=False)
    record = await server.admin.get(f"/operations/{operation}")
    assert (record["status"], record["nextAction"], record["stalled"]) == ("prepared", "execute", False)
    assert (await server.admin.execute(operation))["status"] == "succeeded"


async def _interrupt_operation(server: Served, operation: str, *, in_flight: bool) -> None:
    """As a killed process leaves an operation, its lease over."""
    now = server.service.store.clock.now()
    values = {"status": "running", "fence": 1, "in_flight": in_flight, "lease_until": now - 1}
    statement = update(operations).where(operations.c.id == operation).values(**values).returning(operations.c.id)
    await server.service.store.write(lambda connection: connection.execute(statement).all())


# -- cancelling and expiry ----------------------------------------------------------------------------------------


async def test_cancelling(server: Served) -> None:
    operation = await prepare_campaign(server)
    cancelled = await server.admin.post(f"/operations/{operation}/cancel", {})
    assert cancelled["status"] == "cancelled"
    assert await server.admin.post(f"/operations/{operation}/cancel", None) == cancelled
    writes = server.networks.writes()
    await execute_refused(server, operation, "operation_cancelled", "not_applied")
    assert server.networks.writes() == writes
    assert await list_event_types(server, operation) == ["prepared", "cancelled"]


async def test_what_cannot_be_cancelled(server: Served) -> None:
    operation = await prepare_campaign(server)
    done = await server.admin.execute(operation)
    problem = await server.admin.problem(400, "POST", f"/operations/{operation}/cancel", {})
    assert (problem["code"], problem["outcome"]) == ("operation_succeeded", "applied")
    assert problem["operation"] == done


async def test_a_partly_executed_operation_is_cancelled(server: Served) -> None:
    """Its receipts stay; it cannot be activated."""
    operation = await prepare_campaign(server)
    await server.networks.fault("meta", "status", path="/v26.0/act_1001/adsets", value=400)
    await execute_refused(server, operation, "provider_rejected", "partly_applied")
    cancelled = await server.admin.post(f"/operations/{operation}/cancel", {})
    assert list_states(cancelled) == [("campaign", 1, "applied"), ("adGroup", 1, "rejected")]
    body = {"accountId": server.accounts["meta"], "sourceOperationId": operation}
    assert await server.admin.read_issues("POST", "/activate", body) == {
        ("sourceOperationId", "source_not_activatable")
    }


async def test_the_review_time(server: Served) -> None:
    """30 minutes, for continuations too; afterwards it stays as it is, and can be cancelled."""
    untouched, continued = await prepare_campaign(server), await prepare_campaign(server)
    await server.networks.fault("meta", "status", path="/v26.0/act_1001/adcreatives", value=429)
    record = await server.admin.get(f"/operations/{untouched}")
    lifetime = datetime.fromisoformat(record["expiresAt"]) - datetime.fromisoformat(record["createdAt"])
    assert lifetime.total_seconds() == 30 * 60
    assert (await server.admin.execute(continued))["nextAction"] == "execute"
    writes = server.networks.writes()
    server.hands.pass_(minutes=30)
    for operation, outcome in ((untouched, "not_applied"), (continued, "partly_applied")):
        problem = await execute_refused(server, operation, "operation_expired", outcome)
        assert (problem["operation"]["status"], problem["operation"]["expired"]) == ("prepared", True)
    assert server.networks.writes() == writes
    assert (await server.admin.post(f"/operations/{untouched}/cancel", {}))["status"] == "cancelled"


async def test_nothing_at_all(server: Served) -> None:
    for path, body in ((f"/operations/{NEVER}/execute", CONFIRMED), (f"/operations/{NEVER}/cancel", {})):
        assert (await server.admin.problem(404, "POST", path, body))["code"] == "not_found"
    await server.admin.problem(404, "GET", f"/operations/{NEVER}")


async def test_a_store_that_fails_in_an_execution(server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Nobody can say here what was written: the answer does not pretend to know, and shows nothing of the inside."""
    operation = await prepare_campaign(server)

    async def fail_write(*_: object, **__: object) -> None:
        raise StoreError("disk full at /var/lib/secret.db")

    monkeypatch.setattr(type(server.service.store), "write", fail_write)
    problem = await server.admin.problem(503, "POST", f"/operations/{operation}/execute", CONFIRMED)
    monkeypatch.undo()
    assert (problem["code"], problem["outcome"]) == ("store_unavailable", "unknown")
    assert "secret" not in str(problem) and "again" not in problem["detail"]
    assert (await server.admin.execute(operation))["status"] == "succeeded"


@pytest.mark.parametrize("done", [False, True])
async def test_a_receipt_lands_though_the_store_fails_for_a_while(
    server: Served, monkeypatch: pytest.MonkeyPatch, done: bool
) -> None:
    """``done``: the commit was made, and its answer was lost."""
    monkeypatch.setattr(execution, "EVIDENCE_PAUSE_SECONDS", 0.0)
    operation, writes, failures = await prepare_campaign(server), server.networks.writes(), 0
    write = type(server.service.store).write

    async def write_with_failures(store: Any, function: Any, *arguments: Any) -> Any:
        nonlocal failures
        receipt = function is commit_state and arguments[0].receipt is not None
        outcome = await write(store, function, *arguments) if done or not receipt or failures % 3 == 2 else None
        failures += receipt
        if receipt and failures % 3:
            raise StoreError("gone")
        return outcome

    monkeypatch.setattr(type(server.service.store), "write", write_with_failures)
    record = await server.admin.execute(operation)
    assert (record["status"], failures) == ("succeeded", 3 * 4)
    assert list_states(record) == [(step["key"], 1, "applied") for step in record["plan"]["steps"]]
    assert server.networks.writes() == writes + 4


# -- batches ------------------------------------------------------------------------------------------------------


async def test_a_batch_reports_each_operation(server: Served) -> None:
    good, bad, slow, gone, done = [
        await prepare_campaign(server, network) for network in ("meta", "amazon", "google", "meta", "meta")
    ]
    await server.admin.post(f"/operations/{gone}/cancel", {})
    await server.admin.execute(done)
    await server.networks.fault("amazon", "status", path=CREATES["amazon"], value=400)
    await server.networks.fault("google", "status", method="POST", path=CREATES["google"], value=429)
    ids = [good, bad, slow, gone, done, NEVER]
    results = (await server.admin.post("/operations/execute", {"operationIds": ids, **CONFIRMED}))["results"]
    assert [result["operationId"] for result in results] == ids
    assert [result.get("status") for result in results] == ["succeeded", None, "prepared", None, "succeeded", None]
    assert results[2]["operation"]["nextAction"] == "execute" and results[2]["operation"]["retryAfterMs"] > 0
    assert [result["error"]["code"] for result in results if "error" in result] == [
        "provider_rejected",
        "operation_cancelled",
        "not_found",
    ]
    assert results[1]["error"]["operation"] == await server.admin.get(f"/operations/{bad}")
    assert results[1]["error"]["network"]["status"] == 400
    # each error is the one that the single call answers
    single = await server.admin.problem(400, "POST", f"/operations/{gone}/execute", CONFIRMED)
    assert {name: value for name, value in single.items() if name != "requestId"} == results[3]["error"]


async def test_fifty_in_a_batch(server: Served) -> None:
    ids = await stock_entities(server, "ad", 50)
    body = {"accountId": server.accounts["meta"], "kind": "ad", "entityIds": ids, "status": "paused"}
    operations_ = [row["id"] for row in (await server.admin.post("/bulk-status", body, 201))["operations"]]
    world = server.networks.state.worlds["meta"]
    for ad in [world.find("ad", id_) for id_ in ids]:
        assert ad is not None
        world.remove(ad, logged=False)
    results = (await server.admin.post("/operations/execute", {"operationIds": operations_, **CONFIRMED}))["results"]
    assert [result["operationId"] for result in results] == operations_
    assert all("error" in result for result in results)  # Meta has none of these ads any more
    assert {result["error"]["outcome"] for result in results} == {"not_applied"}


async def test_the_list_holds_the_latest_fifty(server: Served) -> None:
    operation_ids = [await prepare_campaign(server) for _ in range(52)]
    listed_ids = [row["id"] for row in await server.admin.get("/operations")]
    assert listed_ids == operation_ids[:1:-1]
