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

from .agent import Agent, allow_agent, read_texts

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONFIRMED = {"confirmed": True}


async def set_approval_rule(server: Served, required: bool) -> None:
    await server.service.store.write(
        people.set_require_approval, server.people["admin"].actor.workspace_id, required, server.service.store.clock
    )


@pytest_asyncio.fixture(loop_scope="module")
async def strict_server(both: Served) -> AsyncIterator[Served]:
    """The rule holds in ``shop``."""
    await set_approval_rule(both, True)
    yield both
    await set_approval_rule(both, False)


async def prepare_campaign(server: Served, name: str = "member", network: str = "meta") -> str:
    body = {"accountId": server.accounts[network], "campaign": brief(network)}
    operation: str = (await server.person(name).post("/create", body, 201))["id"]
    return operation


async def list_stops(server: Served, operation_id: str) -> list[EventRecord]:
    """The events that tell that the rule stopped the operation."""
    operation_events = await server.service.store.read(list_operation_events, operation_id)
    return [event for event in operation_events if event.type == "rule.triggered"]


async def approve_operation(server: Served, operation_id: str, name: str = "admin") -> str:
    """A person signs in, and executes what is left; the operation's status then."""
    async with browser(server) as person:
        await person.sign_in(email(name))
        await person.open(f"/review/{operation_id}")
        await person.send({"confirmed": "true"}, action="/execute")
    status: str = (await server.admin.get(f"/operations/{operation_id}"))["status"]
    return status


def make_review_url(server: Served, operation_id: str) -> str:
    return f"{server.base_url}/review/{operation_id}"


async def test_over_rest_nobody_executes(strict_server: Served) -> None:
    """Keys of whatever role, an agent's token, one by one and in a batch: 403, and the review's address."""
    agent = strict_server.caller((await allow_agent(strict_server, "member")).token)
    body = {"accountId": strict_server.accounts["meta"], "campaign": brief("meta")}
    its_own = (await agent.post("/create", body, 201))["id"]
    members = await prepare_campaign(strict_server)
    request_count, writes = len(strict_server.networks.requests), strict_server.networks.writes()
    for caller, operation in (
        (strict_server.admin, members),
        (strict_server.person("member"), members),
        (agent, its_own),
    ):
        problem = await caller.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
        assert (problem["code"], problem["outcome"]) == ("approval_required", "not_applied")
        assert problem["operationId"] == operation and problem["operation"]["reviewUrl"] == make_review_url(
            strict_server, operation
        )
        assert make_review_url(strict_server, operation) in problem["detail"]
        batch = await caller.post("/operations/execute", {"operationIds": [operation], **CONFIRMED})
        (result,) = batch["results"]
        assert (result["operationId"], result["error"]["code"]) == (operation, "approval_required")
    assert (len(strict_server.networks.requests), strict_server.networks.writes()) == (request_count, writes)
    for operation, times in ((members, 4), (its_own, 2)):
        operation_data = await strict_server.admin.get(f"/operations/{operation}")
        assert (operation_data["status"], operation_data["receipt"]["steps"]) == ("prepared", [])
        stop_events = await list_stops(strict_server, operation)
        assert len(stop_events) == times
        assert dict(stop_events[0].data) == {
            "operationId": operation,
            "accountId": strict_server.accounts["meta"],
            "network": "meta",
            "status": "prepared",
            "kind": "approval",
            "rule": "require_approval",
        }
        assert await approve_operation(strict_server, operation) == "succeeded"
    assert strict_server.networks.writes() == writes + 8


async def test_an_agent_is_shown_where_the_person_executes(strict_server: Served) -> None:
    """``execute`` is no failure then: its result is the operation as it was, and the address."""
    for agent in (
        await allow_agent(strict_server),
        Agent(strict_server, strict_server.people["admin"].tokens["write"]),
    ):
        operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
        writes = strict_server.networks.writes()
        first = await agent.execute(operation)
        other = await agent.tool(
            "call_tool", operationId="post_operation_execute", path={"operationId": operation}, body=CONFIRMED
        )
        for result in (first, other):
            assert "isError" not in result and result["structuredContent"]["approvalRequired"] is True
            assert result["structuredContent"]["guardrails"] == []  # the workspace demands it
            data = result["structuredContent"]["data"]
            assert (data["id"], data["status"], data["reviewUrl"]) == (
                operation,
                "prepared",
                make_review_url(strict_server, operation),
            )
            assert (
                "A person must approve" in read_texts(result)
                and make_review_url(strict_server, operation) in result["content"][0]["text"]
            )
            assert "Nothing of this operation is written" in read_texts(result)
        batch = await agent.tool(
            "call_tool", operationId="post_operations_execute", body={"operationIds": [operation], **CONFIRMED}
        )
        assert batch["structuredContent"]["data"]["results"][0]["error"]["code"] == "approval_required"
        assert f"{operation}: " in read_texts(batch) and "Nothing of this operation is written" in read_texts(batch)
        assert strict_server.networks.writes() == writes and len(await list_stops(strict_server, operation)) == 3
        assert await approve_operation(strict_server, operation) == "succeeded"
        replay = await agent.execute(operation)
        assert replay["structuredContent"]["data"]["status"] == "succeeded"


async def test_an_agent_does_not_go_on_with_what_a_person_began(strict_server: Served) -> None:
    agent = await allow_agent(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    writes, before = strict_server.networks.writes(), strict_server.service.settings
    try:
        strict_server.service.settings = evolve(before, limits=ExecutionLimits(max_steps=1))
        assert await approve_operation(strict_server, operation) == "prepared"
        for caller in (agent, Agent(strict_server, strict_server.people["admin"].tokens["write"])):
            operation_data = await caller.data("operation", operationId=operation)
            assert operation_data["nextAction"] == "execute"
            result = await caller.execute(operation)
            assert result["structuredContent"]["approvalRequired"] is True
            assert "nextAction" not in result["structuredContent"]["data"]
            assert "Written: campaign. Not written: adGroup, creative, ad." in read_texts(result)
        assert strict_server.networks.writes() == writes + 1
    finally:
        strict_server.service.settings = before
    assert await approve_operation(strict_server, operation) == "succeeded"
    assert strict_server.networks.writes() == writes + 4


async def test_no_wait_is_promised_to_an_agent(strict_server: Served) -> None:
    """A network asked the person to wait: the response to an agent names the rule, not the wait."""
    operation = await prepare_campaign(strict_server)
    await strict_server.networks.fault("meta", "status", method="POST", value=429)
    assert await approve_operation(strict_server, operation) == "prepared"
    operation_data = await strict_server.admin.get(f"/operations/{operation}")
    assert (operation_data["nextAction"], operation_data["retryAfterMs"] > 0) == ("execute", True)
    problem = await strict_server.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert problem["code"] == "approval_required"


async def test_nothing_is_read_for_an_agent(strict_server: Served) -> None:
    """Where each object is read before it is changed (snapchat), the rule stops before the read."""
    created = await prepare_campaign(strict_server, "admin", "snapchat")
    assert await approve_operation(strict_server, created) == "succeeded"
    body = {"accountId": strict_server.accounts["snapchat"], "sourceOperationId": created}
    operation = (await strict_server.admin.post("/activate", body, 201))["id"]
    request_count = len(strict_server.networks.requests)
    await strict_server.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    assert len(strict_server.networks.requests) == request_count
    assert await approve_operation(strict_server, operation) == "succeeded"


async def test_the_rule_stops_what_runs_before_its_next_write(both: Served) -> None:
    operation = await prepare_campaign(both)
    writes = both.networks.writes()
    await both.networks.fault("meta", "latency", path="/v26.0/act_1001/campaigns", value=300)
    agent = Agent(both, both.people["member"].tokens["write"])
    running = asyncio.create_task(agent.execute(operation))
    while both.networks.writes() == writes:
        await asyncio.sleep(0.01)
    await set_approval_rule(both, True)
    try:
        result = await running
        assert result["structuredContent"]["approvalRequired"] is True
        assert "Written: campaign. Not written: adGroup, creative, ad." in read_texts(result)
        assert "Nothing of this operation is written" not in read_texts(result)
        assert both.networks.writes() == writes + 1 and len(await list_stops(both, operation)) == 1
        operation_data = await both.admin.get(f"/operations/{operation}")
        assert (operation_data["status"], operation_data["error"]["code"]) == ("prepared", "approval_required")
        assert await approve_operation(both, operation) == "succeeded"
        assert both.networks.writes() == writes + 4
    finally:
        await set_approval_rule(both, False)


async def test_the_claim_asks_by_itself(strict_server: Served) -> None:
    """The rule may begin between a look and the claim: the claim is refused, and tells it in its transaction."""
    operation = await prepare_campaign(strict_server)
    actor = await authenticate(strict_server.service, f"Bearer {strict_server.people['member'].tokens['write']}")
    writes = strict_server.networks.writes()
    ending = await execution.run_execution(strict_server.service, actor, operation)
    assert (ending.refusal, strict_server.networks.writes()) == ("approval", writes)
    assert len(await list_stops(strict_server, operation)) == 1


async def test_a_stop_is_told_or_nothing_happens(strict_server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    operation = await prepare_campaign(strict_server)
    rows, writes = await strict_server.rows(), strict_server.networks.writes()

    def fail(*_: object) -> None:
        raise ZeroDivisionError

    monkeypatch.setattr(events, "record_events", fail)
    await strict_server.admin.problem(500, "POST", f"/operations/{operation}/execute", CONFIRMED)
    monkeypatch.undo()
    assert (await strict_server.rows(), strict_server.networks.writes()) == (rows, writes)


async def test_the_rule_is_of_one_workspace(strict_server: Served) -> None:
    body = {"accountId": strict_server.foreign["meta"], "campaign": brief("meta")}
    operation = (await strict_server.person("stranger").post("/create", body, 201))["id"]
    assert (await strict_server.person("stranger").execute(operation))["status"] == "succeeded"


async def test_a_subscriber_is_told(strict_server: Served) -> None:
    url = "http://127.0.0.1:9/rule"
    strict_server.service.settings = evolve(strict_server.service.settings, webhook_dev_targets=frozenset({url}))
    body = {"url": url, "events": ["rule.triggered"]}
    webhook = (await strict_server.admin.post("/webhooks", body, 201))["webhookId"]
    operation = await prepare_campaign(strict_server)
    await strict_server.admin.problem(403, "POST", f"/operations/{operation}/execute", CONFIRMED)
    (delivery,) = await strict_server.admin.get(f"/webhooks/{webhook}/deliveries")
    assert (delivery["type"], delivery["eventId"]) == (
        "rule.triggered",
        (await list_stops(strict_server, operation))[0].id,
    )
    await strict_server.admin.delete(f"/webhooks/{webhook}")


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
