"""The workspace rule "a person must approve": nobody executes but a person who signed in. SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
import pytest_asyncio
from attrs import evolve

from adsunify import AsyncAds, read_brief
from adsunify.client.local_backend import LocalBackend
from adsunify.errors import Forbidden
from adsunify.execution.executor import ExecutionLimits
from adsunify.service import execution
from adsunify.service.authentication import authenticate
from adsunify.store import events, people
from adsunify.store.events import EventRecord, list_operation_events
from adsunify.testing.connecting import get_sandbox_credentials
from tests.pages.browsing import browser, email
from tests.server.served import Served, brief

from .agent import Agent, allowed, said

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONFIRMED = {"confirmed": True}


async def rule(one: Served, required: bool) -> None:
    await one.service.store.write(
        people.set_require_approval, one.people["admin"].actor.workspace_id, required, one.service.store.clock
    )


@pytest_asyncio.fixture(loop_scope="module")
async def ruled(both: Served) -> AsyncIterator[Served]:
    """The rule holds in ``shop``."""
    await rule(both, True)
    yield both
    await rule(both, False)


async def prepared(one: Served, name: str = "member", network: str = "meta") -> str:
    body = {"accountId": one.accounts[network], "campaign": brief(network)}
    operation: str = (await one.person(name).post("/create", body, 201))["id"]
    return operation


async def stops(one: Served, operation_id: str) -> list[EventRecord]:
    """The events that tell that the rule stopped the operation."""
    found = await one.service.store.read(list_operation_events, operation_id)
    return [event for event in found if event.type == "rule.triggered"]


async def approved(one: Served, operation_id: str, name: str = "admin") -> str:
    """A person signs in, and executes what is left; the operation's status then."""
    async with browser(one) as person:
        await person.sign_in(email(name))
        await person.open(f"/review/{operation_id}")
        await person.send({"confirmed": "true"}, action="/execute")
    status: str = (await one.admin.get(f"/operations/{operation_id}"))["status"]
    return status


def at(one: Served, operation_id: str) -> str:
    return f"{one.base_url}/review/{operation_id}"


async def test_over_rest_nobody_executes(ruled: Served) -> None:
    """Keys of whatever role, an agent's token, one by one and in a batch: 403, and the review's address."""
    agent = ruled.caller((await allowed(ruled, "member")).token)
    body = {"accountId": ruled.accounts["meta"], "campaign": brief("meta")}
    its_own = (await agent.post("/create", body, 201))["id"]
    members = await prepared(ruled)
    asked, writes = len(ruled.networks.asked), ruled.networks.writes()
    for caller, operation in ((ruled.admin, members), (ruled.person("member"), members), (agent, its_own)):
        problem = await caller.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
        assert (problem["code"], problem["outcome"]) == ("approval_required", "not_applied")
        assert problem["operationId"] == operation and problem["operation"]["reviewUrl"] == at(ruled, operation)
        assert at(ruled, operation) in problem["detail"]
        batch = await caller.post("/operations/execute", {"operationIds": [operation], **CONFIRMED})
        (result,) = batch["results"]
        assert (result["operationId"], result["error"]["code"]) == (operation, "approval_required")
    assert (len(ruled.networks.asked), ruled.networks.writes()) == (asked, writes)
    for operation, times in ((members, 4), (its_own, 2)):
        shown = await ruled.admin.get(f"/operations/{operation}")
        assert (shown["status"], shown["receipt"]["steps"]) == ("prepared", [])
        told = await stops(ruled, operation)
        assert len(told) == times
        assert dict(told[0].data) == {
            "operationId": operation,
            "accountId": ruled.accounts["meta"],
            "network": "meta",
            "status": "prepared",
            "kind": "approval",
            "rule": "require_approval",
        }
        assert await approved(ruled, operation) == "succeeded"
    assert ruled.networks.writes() == writes + 8


async def test_an_agent_is_shown_where_the_person_executes(ruled: Served) -> None:
    """``execute`` is no failure then: its result is the operation as it was, and the address."""
    for agent in (await allowed(ruled), Agent(ruled, ruled.people["admin"].tokens["write"])):
        operation = await agent.created(ruled.accounts["meta"], brief("meta"))
        writes = ruled.networks.writes()
        one = await agent.execute(operation)
        other = await agent.tool(
            "call_tool", operationId="post_operation_execute", path={"operationId": operation}, body=CONFIRMED
        )
        for result in (one, other):
            assert "isError" not in result and result["structuredContent"]["approvalRequired"] is True
            assert result["structuredContent"]["guardrails"] == []  # the workspace demands it
            data = result["structuredContent"]["data"]
            assert (data["id"], data["status"], data["reviewUrl"]) == (operation, "prepared", at(ruled, operation))
            assert "A person must approve" in said(result) and at(ruled, operation) in result["content"][0]["text"]
            assert "Nothing of this operation is written" in said(result)
        batch = await agent.tool(
            "call_tool", operationId="post_operations_execute", body={"operationIds": [operation], **CONFIRMED}
        )
        assert batch["structuredContent"]["data"]["results"][0]["error"]["code"] == "approval_required"
        assert f"{operation}: " in said(batch) and "Nothing of this operation is written" in said(batch)
        assert ruled.networks.writes() == writes and len(await stops(ruled, operation)) == 3
        assert await approved(ruled, operation) == "succeeded"
        replay = await agent.execute(operation)
        assert replay["structuredContent"]["data"]["status"] == "succeeded"


async def test_an_agent_does_not_go_on_with_what_a_person_began(ruled: Served) -> None:
    agent = await allowed(ruled)
    operation = await agent.created(ruled.accounts["meta"], brief("meta"))
    writes, before = ruled.networks.writes(), ruled.service.settings
    try:
        ruled.service.settings = evolve(before, limits=ExecutionLimits(max_steps=1))
        assert await approved(ruled, operation) == "prepared"
        for caller in (agent, Agent(ruled, ruled.people["admin"].tokens["write"])):
            shown = await caller.data("operation", operationId=operation)
            assert shown["nextAction"] == "execute"
            result = await caller.execute(operation)
            assert result["structuredContent"]["approvalRequired"] is True
            assert "nextAction" not in result["structuredContent"]["data"]
            assert "Written: campaign. Not written: adGroup, creative, ad." in said(result)
        assert ruled.networks.writes() == writes + 1
    finally:
        ruled.service.settings = before
    assert await approved(ruled, operation) == "succeeded"
    assert ruled.networks.writes() == writes + 4


async def test_no_wait_is_promised_to_an_agent(ruled: Served) -> None:
    """A network asked the person to wait: an agent is told of the rule, not of the wait."""
    operation = await prepared(ruled)
    await ruled.networks.fault("meta", "status", method="POST", value=429)
    assert await approved(ruled, operation) == "prepared"
    shown = await ruled.admin.get(f"/operations/{operation}")
    assert (shown["nextAction"], shown["retryAfterMs"] > 0) == ("execute", True)
    problem = await ruled.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert problem["code"] == "approval_required"


async def test_nothing_is_read_for_an_agent(ruled: Served) -> None:
    """Where each object is read before it is changed (snapchat), the rule stops before the read."""
    created = await prepared(ruled, "admin", "snapchat")
    assert await approved(ruled, created) == "succeeded"
    body = {"accountId": ruled.accounts["snapchat"], "sourceOperationId": created}
    operation = (await ruled.admin.post("/activate", body, 201))["id"]
    asked = len(ruled.networks.asked)
    await ruled.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert len(ruled.networks.asked) == asked
    assert await approved(ruled, operation) == "succeeded"


async def test_the_rule_stops_what_runs_before_its_next_write(both: Served) -> None:
    operation = await prepared(both)
    writes = both.networks.writes()
    await both.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=300)
    agent = Agent(both, both.people["member"].tokens["write"])
    running = asyncio.create_task(agent.execute(operation))
    while both.networks.writes() == writes:
        await asyncio.sleep(0.01)
    await rule(both, True)
    try:
        result = await running
        assert result["structuredContent"]["approvalRequired"] is True
        assert "Written: campaign. Not written: adGroup, creative, ad." in said(result)
        assert "Nothing of this operation is written" not in said(result)
        assert both.networks.writes() == writes + 1 and len(await stops(both, operation)) == 1
        shown = await both.admin.get(f"/operations/{operation}")
        assert (shown["status"], shown["error"]["code"]) == ("prepared", "approval_required")
        assert await approved(both, operation) == "succeeded"
        assert both.networks.writes() == writes + 4
    finally:
        await rule(both, False)


async def test_the_claim_asks_by_itself(ruled: Served) -> None:
    """The rule may begin between a look and the claim: the claim is refused, and tells it in its transaction."""
    operation = await prepared(ruled)
    actor = await authenticate(ruled.service, f"Bearer {ruled.people['member'].tokens['write']}")
    writes = ruled.networks.writes()
    ending = await execution.run_execution(ruled.service, actor, operation)
    assert (ending.refusal, ruled.networks.writes()) == ("approval", writes)
    assert len(await stops(ruled, operation)) == 1


async def test_a_stop_is_told_or_nothing_happens(ruled: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = await prepared(ruled)
    rows, writes = await ruled.rows(), ruled.networks.writes()

    def broken(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(events, "record_events", broken)
    await ruled.admin.problem(500, "POST", f"/operations/{operation}/execute", CONFIRMED)
    monkeypatch.undo()
    assert (await ruled.rows(), ruled.networks.writes()) == (rows, writes)


async def test_the_rule_is_of_one_workspace(ruled: Served) -> None:
    body = {"accountId": ruled.foreign["meta"], "campaign": brief("meta")}
    operation = (await ruled.person("stranger").post("/create", body, 201))["id"]
    assert (await ruled.person("stranger").execute(operation))["status"] == "succeeded"


async def test_a_subscriber_is_told(ruled: Served) -> None:
    url = "http://127.0.0.1:9/rule"
    ruled.service.settings = evolve(ruled.service.settings, webhook_dev_targets=frozenset({url}))
    body = {"url": url, "events": ["rule.triggered"]}
    webhook = (await ruled.admin.post("/webhooks", body, 201))["webhookId"]
    operation = await prepared(ruled)
    await ruled.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    (delivery,) = await ruled.admin.get(f"/webhooks/{webhook}/deliveries")
    assert (delivery["type"], delivery["eventId"]) == ("rule.triggered", (await stops(ruled, operation))[0].id)
    await ruled.admin.delete(f"/webhooks/{webhook}")


async def test_the_library_is_a_program_too(both: Served, tmp_path: Path) -> None:
    """Over a store of its own, with nobody signed in, the rule of the workspace ``local`` holds as well."""
    environment = {"ADSUNIFY_SANDBOX_URL": both.networks.url}
    async with AsyncAds(f"sqlite:///{tmp_path / 'ads.db'}", environment=environment) as ads:
        connection = await ads.connections.create("chatgpt", **get_sandbox_credentials("chatgpt"))
        operation = await ads.campaigns.create(connection.accounts[0], read_brief(brief("chatgpt")))
        door = ads._backend
        assert isinstance(door, LocalBackend)
        await door.service.store.write(
            people.set_require_approval, door.actor.workspace_id, True, door.service.store.clock
        )
        writes = both.networks.writes()
        with pytest.raises(Forbidden) as refused:
            await ads.operations.run(operation, confirmed=True)
        assert refused.value.code == "approval_required" and both.networks.writes() == writes
        assert refused.value.operation is not None and refused.value.operation.review_url in refused.value.message
