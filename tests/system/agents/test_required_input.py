"""A person must approve, in revision 2026-07-28: the request needs input, and its state is sealed and used once."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
import pytest_asyncio
from attrs import evolve

from adsunify.service.request_states import STATE_MILLISECONDS
from adsunify_mcp import approval
from tests.server.mcp_messages import NEWEST, URL_CAPABILITIES
from tests.server.served import Served, brief

from .agent import Agent, allow_agent, read_texts, request
from .test_approval import approve_operation, list_stops, make_review_url, set_approval_rule

pytestmark = pytest.mark.asyncio(loop_scope="module")
ACCEPTED: dict[str, Any] = {"approval": {"action": "accept"}}


@pytest_asyncio.fixture(loop_scope="module")
async def strict_server(both: Served) -> AsyncIterator[Served]:
    """The rule holds in ``shop``."""
    await set_approval_rule(both, True)
    yield both
    await set_approval_rule(both, False)


@pytest.fixture(autouse=True)
def without_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    """A request that is sent again waits for nobody, unless a test says so."""
    monkeypatch.setattr(approval, "WAIT_SECONDS", 0.0)
    monkeypatch.setattr(approval, "POLL_SECONDS", 0.01)


async def modern(server: Served, name: str = "admin") -> Agent:
    return evolve(await allow_agent(server, name), version=NEWEST, capabilities=URL_CAPABILITIES)


async def send(agent: Agent, operation: str, *, tool: str = "execute", **more: Any) -> httpx.Response:
    """``execute`` as it is sent first, or again with ``more``."""
    arguments: dict[str, Any] = {"operationId": operation, "confirmed": True}
    if tool == "call_tool":
        arguments = {
            "operationId": "post_operation_execute",
            "path": {"operationId": operation},
            "body": {"confirmed": True},
        }
    return await agent.post(request("tools/call", name=tool, arguments=arguments, **more))


async def execute_for_result(agent: Agent, operation: str, **more: Any) -> dict[str, Any]:
    answer = await send(agent, operation, **more)
    assert answer.status_code == 200, answer.text
    result: dict[str, Any] = answer.json()["result"]
    return result


def reason(answer: httpx.Response) -> str:
    """Why a state was refused."""
    error = answer.json()["error"]
    assert (answer.status_code, error["code"]) == (400, -32602), error
    assert "Nothing was done" in error["message"]
    why: str = error["data"]["reason"]
    return why


@pytest.mark.parametrize("tool", ["execute", "call_tool"])
async def test_a_person_executes_and_the_agent_gets_the_result(strict_server: Served, tool: str) -> None:
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    writes = strict_server.networks.writes()
    first = await execute_for_result(agent, operation, tool=tool)
    assert first["resultType"] == "input_required" and "ttlMs" not in first
    approval_request = first["inputRequests"]["approval"]
    assert approval_request["method"] == "elicitation/create"
    assert (approval_request["params"]["mode"], approval_request["params"]["url"]) == (
        "url",
        make_review_url(strict_server, operation),
    )
    assert make_review_url(strict_server, operation) in approval_request["params"]["message"]
    # the person has not decided: the input is required again, with another state
    second = await execute_for_result(
        agent, operation, tool=tool, inputResponses=ACCEPTED, requestState=first["requestState"]
    )
    assert second["resultType"] == "input_required" and second["requestState"] != first["requestState"]
    assert strict_server.networks.writes() == writes and len(await list_stops(strict_server, operation)) == 2
    assert await approve_operation(strict_server, operation) == "succeeded"
    last = await execute_for_result(
        agent, operation, tool=tool, inputResponses=ACCEPTED, requestState=second["requestState"]
    )
    assert last["resultType"] == "complete"
    assert last["structuredContent"]["data"]["status"] == "succeeded"
    assert strict_server.networks.writes() == writes + 4


async def test_the_request_waits_for_the_person(strict_server: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(approval, "WAIT_SECONDS", 60.0)
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    first = await execute_for_result(agent, operation)
    again = asyncio.create_task(
        execute_for_result(agent, operation, inputResponses=ACCEPTED, requestState=first["requestState"])
    )
    assert await approve_operation(strict_server, operation) == "succeeded"
    assert (await again)["structuredContent"]["data"]["status"] == "succeeded"
    assert len(await list_stops(strict_server, operation)) == 1


@pytest.mark.parametrize("action", ["decline", "cancel"])
async def test_a_person_who_does_not_look_ends_the_request(strict_server: Served, action: str) -> None:
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    first = await execute_for_result(agent, operation)
    answer = {"approval": {"action": action}}
    last = await execute_for_result(agent, operation, inputResponses=answer, requestState=first["requestState"])
    assert last["resultType"] == "complete" and last["structuredContent"]["approvalRequired"] is True
    assert "did not open the review page" in read_texts(last) and len(await list_stops(strict_server, operation)) == 1
    assert await approve_operation(strict_server, operation) == "succeeded"


@pytest.mark.parametrize(
    ("version", "capabilities"),
    [
        (NEWEST, {}),
        (NEWEST, {"elicitation": {}}),
        (NEWEST, {"elicitation": {"form": {}}}),
        (NEWEST, {"elicitation": {"url": True}}),
        ("2025-11-25", URL_CAPABILITIES),
        ("2025-06-18", URL_CAPABILITIES),
    ],
)
async def test_a_client_that_shows_no_addresses_gets_the_operation(
    strict_server: Served, version: str, capabilities: dict[str, Any]
) -> None:
    agent = evolve(await modern(strict_server), version=version, capabilities=capabilities)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    first = await execute_for_result(agent, operation)
    assert first["structuredContent"]["approvalRequired"] is True and "inputRequests" not in first
    assert first.get("resultType", "complete") == "complete" and make_review_url(
        strict_server, operation
    ) in read_texts(first)


async def test_a_state_is_used_once(strict_server: Served) -> None:
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    state = (await execute_for_result(agent, operation))["requestState"]
    answers = await asyncio.gather(
        *(send(agent, operation, inputResponses=ACCEPTED, requestState=state) for _ in range(8))
    )
    opened = [answer for answer in answers if answer.status_code == 200]
    assert len(opened) == 1 and {reason(answer) for answer in answers if answer is not opened[0]} == {"used"}
    assert reason(await send(agent, operation, requestState=state)) == "used"


async def test_a_state_is_for_one_credential(strict_server: Served) -> None:
    """Another agent, another person and a key of the same person are refused; the agent itself is not."""
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    state = (await execute_for_result(agent, operation))["requestState"]
    key = strict_server.people["admin"].tokens["write"]
    for other in (await modern(strict_server), await modern(strict_server, "member"), evolve(agent, token=key)):
        assert reason(await send(other, operation, requestState=state)) == "other_principal"
    stranger = evolve(agent, token=strict_server.people["stranger"].tokens["write"])
    assert reason(await send(stranger, operation, requestState=state)) == "other_principal"
    assert (await execute_for_result(agent, operation, requestState=state))["resultType"] == "input_required"


async def test_a_state_is_for_one_request(strict_server: Served) -> None:
    agent = await modern(strict_server)
    operation, other = [await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta")) for _ in range(2)]
    state = (await execute_for_result(agent, operation))["requestState"]
    assert reason(await send(agent, other, requestState=state)) == "other_request"
    assert reason(await send(agent, operation, tool="call_tool", requestState=state)) == "other_request"
    prompt = request("prompts/get", name="weekly_report", requestState=state)
    assert reason(await agent.post(prompt)) == "other_request"
    assert (await execute_for_result(agent, operation, requestState=state))["resultType"] == "input_required"


async def test_a_state_that_was_altered(strict_server: Served) -> None:
    """Each character counts; a state is also no other text that the server has encrypted or made."""
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    state, other = [(await execute_for_result(agent, operation))["requestState"] for _ in range(2)]
    token, _, ciphertext = state.partition(".")
    step = max(1, len(state) // 12)
    changed = [
        state[:at_] + ("A" if state[at_] != "A" else "B") + state[at_ + 1 :] for at_ in range(0, len(state), step)
    ]
    for bad in (*changed, state + "A", state[:-1], "", "x", f"{other.partition('.')[0]}.{ciphertext}", token, "." * 9):
        assert reason(await send(agent, operation, requestState=bad)) == "altered", bad
    assert reason(await send(agent, operation, requestState="A" * 500_000)) == "altered"
    for bad in (1, ["x"], {"a": 1}, True):
        answer = await send(agent, operation, requestState=bad)
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)
    assert state not in json.dumps(await strict_server.rows())
    assert (await execute_for_result(agent, operation, requestState=state))["resultType"] == "input_required"


@pytest.mark.parametrize("responses", [1, [], "x", {"approval": 1}, {"approval": "accept"}])
async def test_what_is_no_answer_of_a_client(strict_server: Served, responses: Any) -> None:
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    answer = await send(agent, operation, inputResponses=responses)
    assert (answer.status_code, answer.json()["error"]["code"]) == (400, -32602)


async def test_answers_without_their_state_mean_nothing(strict_server: Served) -> None:
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    second = await execute_for_result(agent, operation, inputResponses={"approval": {"action": "decline"}, "more": {}})
    assert second["resultType"] == "input_required"


async def test_a_change_set_is_approved_on_its_page(strict_server: Served) -> None:
    agent = await modern(strict_server)
    accounts = [{"accountId": strict_server.accounts["meta"], "campaign": brief("meta")}]
    body = {"name": "By an agent", "campaign": {}, "accounts": accounts}
    launch = await agent.data("call_tool", operationId="post_launches", body=body, idempotencyKey="required-input")
    await strict_server.wait_for_background_tasks()
    path = {"changeSetId": launch["changeSets"][0]["id"]}
    change_set = await agent.data("call_tool", operationId="get_change_set", path=path)
    arguments = {
        "operationId": "post_change_set_execute",
        "path": path,
        "body": {"confirmed": True, "digest": change_set["digest"]},
    }
    first = (await agent.post(request("tools/call", name="call_tool", arguments=arguments))).json()["result"]
    assert first["inputRequests"]["approval"]["params"]["url"] == change_set["reviewUrl"]
    again = request("tools/call", name="call_tool", arguments=arguments, requestState=first["requestState"])
    assert (await agent.post(again)).json()["result"]["resultType"] == "input_required"


async def test_the_agent_executes_where_the_rule_has_ended(strict_server: Served) -> None:
    """The request is still the agent's own, confirmed when it was sent."""
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    writes = strict_server.networks.writes()
    state = (await execute_for_result(agent, operation))["requestState"]
    await set_approval_rule(strict_server, False)
    try:
        last = await execute_for_result(agent, operation, inputResponses=ACCEPTED, requestState=state)
    finally:
        await set_approval_rule(strict_server, True)
    assert last["structuredContent"]["data"]["status"] == "succeeded" and strict_server.networks.writes() == writes + 4


async def test_a_state_ends(strict_server: Served) -> None:
    """Last, since the clock is not turned back."""
    agent = await modern(strict_server)
    operation = await agent.prepare_campaign(strict_server.accounts["meta"], brief("meta"))
    state = (await execute_for_result(agent, operation))["requestState"]
    strict_server.hands.pass_(milliseconds=STATE_MILLISECONDS)
    assert reason(await send(agent, operation, requestState=state)) == "expired"
