"""Operations whose bodies retention has removed: everything still shows them, and what needs a body says so."""

from __future__ import annotations

import json
from typing import Any

import pytest
import pytest_asyncio

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service.desired.written_fields import read_written_fields
from adsunify.service.network_session import NetworkSession
from adsunify.service.retention import DAY_MILLISECONDS, delete_due
from adsunify.store.retention import RULES, RetentionKind

from .served import Served, brief
from .test_agents import tool
from .test_stale_plans import build_path, create_campaign, find_budget, read_fields

pytestmark = pytest.mark.asyncio(loop_scope="module")
DAYS: dict[RetentionKind, int] = {rule.kind: 1 if rule.is_body else 0 for rule in RULES}
KEPT_MEMBERS = ("key", "kind", "action", "does", "method", "changes")


async def prepare(server: Served, network: str, key: str) -> Any:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    return body, await server.admin.post("/create", body, 201, **{"Idempotency-Key": key})


async def remove_bodies(server: Served, kinds: tuple[str, ...] = ("plans", "responses")) -> None:
    server.hands.pass_(milliseconds=DAY_MILLISECONDS)
    days: dict[RetentionKind, int] = {kind: days if kind in kinds else 0 for kind, days in DAYS.items()}
    assert sum(result.count for result in await delete_due(server.service.store, days))


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_an_operation_without_bodies_is_shown_everywhere(server: Served, network: str) -> None:
    body, prepared = await prepare(server, network, f"key {network}")
    done = await server.admin.execute(prepared["id"])
    source = {"accountId": done["accountId"], "sourceOperationId": done["id"]}
    activated = await server.admin.execute((await server.admin.post("/activate", source, 201))["id"])
    await remove_bodies(server)
    for before in (done, activated):
        record = await server.admin.get(f"/operations/{before['id']}")
        removed_at = record["plan"]["bodyRemovedAt"]
        assert removed_at > before["createdAt"]
        has_responses = any(step["response"] is not None for step in before["receipt"]["steps"])
        assert ("responsesRemovedAt" in record["receipt"]) is has_responses
        for member in ("id", "status", "action", "accountId", "risk", "created", "executedBy"):
            assert record[member] == before[member], member
        for member in ("version", "digest", "exposure", "planned"):
            assert record["plan"][member] == before["plan"][member], member
        for now, then in zip(record["plan"]["steps"], before["plan"]["steps"], strict=True):
            assert {name: now[name] for name in KEPT_MEMBERS} == {name: then[name] for name in KEPT_MEMBERS}
            assert (now["body"], now["bindings"]) == (None, []) and now["path"] == then["path"].partition("?")[0]
        assert record["receipt"]["steps"] == [{**step, "response": None} for step in before["receipt"]["steps"]]
        assert await server.admin.execute(before["id"]) == record
        result = await tool(server, "operation", operationId=before["id"])
        assert not result.get("isError") and removed_at in json.dumps(result)
    listed_ids = [row["id"] for row in await server.admin.get("/operations")]
    assert {done["id"], activated["id"]} <= set(listed_ids)
    replayed = await server.admin.post("/create", body, 201, **{"Idempotency-Key": f"key {network}"})
    assert replayed["id"] == done["id"] and replayed["plan"]["bodyRemovedAt"]
    batch = {"operationIds": [done["id"]], "confirmed": True}
    assert (await server.admin.post("/operations/execute", batch))["results"][0]["status"] == "succeeded"


async def test_what_needs_a_body_is_refused_and_writes_nothing(server: Served) -> None:
    _, prepared = await prepare(server, "meta", "refused")
    done = await server.admin.execute(prepared["id"])
    await remove_bodies(server)
    before, write_count = await server.rows(), server.networks.writes()
    for verb, body in (
        ("undo", {}),
        ("inspect", {}),
        ("resume", {}),
        ("settle", {"step": "campaign", "verdict": "not_applied"}),
    ):
        problem = await send_as_person(server, f"/operations/{done['id']}/{verb}", body)
        assert (problem["code"], problem["status"]) == ("body_removed", 409), (verb, problem)
    source = {"accountId": done["accountId"], "sourceOperationId": done["id"]}
    problem = await server.admin.problem(409, "POST", "/activate", source)
    assert (problem["code"], problem["outcome"]) == ("body_removed", "not_applied")
    assert "retention" in problem["detail"]
    assert (await server.rows(), server.networks.writes()) == (before, write_count)


async def send_as_person(server: Served, path: str, body: Any) -> Any:
    if path.endswith("settle"):
        from adsunify.errors import Conflict
        from adsunify.problem_details import to_problem_details
        from adsunify.service.outcomes.settlement import settle_step

        with pytest.raises(Conflict) as refused:  # only a person who is signed in may settle
            actor = server.people["admin"].actor
            await settle_step(server.service, actor, operation_id=path.split("/")[2], **body)
        return to_problem_details(refused.value)
    return await server.admin.problem(409, "POST", path, body)


async def test_an_undo_needs_the_responses(server: Served) -> None:
    """They show which statuses an operation has set."""
    _, prepared = await prepare(server, "meta", "undo")
    done = await server.admin.execute(prepared["id"])
    await remove_bodies(server, ("responses",))
    problem = await server.admin.problem(409, "POST", f"/operations/{done['id']}/undo", {})
    assert problem["code"] == "body_removed" and "responses" in problem["detail"]
    inspected = await server.admin.post(f"/operations/{done['id']}/inspect", {})
    assert {step["state"] for step in inspected["steps"]} == {"applied"}


async def test_what_was_never_sent_is_neither_resumed_nor_executed(server: Served) -> None:
    _, prepared = await prepare(server, "meta", "expired")
    server.hands.pass_(minutes=31)
    await remove_bodies(server)
    path = f"/operations/{prepared['id']}"
    record = await server.admin.get(path)
    assert (record["expired"], record["receipt"]["steps"]) == (True, []) and record["plan"]["bodyRemovedAt"]
    refused = await server.admin.problem(400, "POST", f"{path}/execute", {"confirmed": True})
    assert (refused["code"], refused["outcome"]) == ("operation_expired", "not_applied")
    assert (await server.admin.problem(409, "POST", f"{path}/resume", {}))["code"] == "body_removed"
    assert (await server.admin.post(f"{path}/cancel", {}))["status"] == "cancelled"


@pytest.mark.parametrize("network", list(ADAPTER_PACKAGES))
async def test_what_was_written_last_is_not_known_any_more(server: Served, network: str) -> None:
    """A file compares with what adsunify wrote last. An older edit never counts in the place of a removed one."""
    ids = await create_campaign(server, network)
    kind, budget = await find_budget(server, network, ids)
    account = server.accounts[network]
    session = await NetworkSession.load(server.service, server.people["admin"].actor, account)
    older = {"budget": f"{float(budget) + 10:.0f}"}
    path = build_path(server, network, kind, ids[kind], "edit")
    await server.admin.execute((await server.admin.post(path, {"fields": older}, 201))["id"])
    place: Any = (kind, ids[kind])
    before = await read_written_fields(session)
    assert float(before[place]["budget"]) == float(older["budget"])
    await remove_bodies(server)
    removed = await read_written_fields(session)
    assert removed.get(place, {}) == {}
    name = f"{(await read_fields(server, network, kind, ids[kind]))['name']} B"
    await server.admin.execute((await server.admin.post(path, {"fields": {"name": name}}, 201))["id"])
    assert set((await read_written_fields(session))[place]) == {"name"}


@pytest_asyncio.fixture(autouse=True)
async def no_faults_left(server: Served) -> None:
    server.networks.state.faults.pending.clear()
