"""Whose token it is and what it is for, what a batch does, and what results say. SQLite and PostgreSQL."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest
from aiohttp import web
from attrs import evolve

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.execution.executor import ExecutionLimits
from adsunify_mcp.versions import INVALID_REQUEST, VERSIONS
from tests.server.served import NEVER, Served, brief

from .agent import Agent, allow_agent, client, read_texts, request
from .careless import for_elsewhere

pytestmark = pytest.mark.asyncio(loop_scope="module")
CONFIRMED = {"confirmed": True}


async def test_a_token_for_elsewhere_opens_no_door(both: Served) -> None:
    token = await for_elsewhere(both)
    answer = await Agent(both, token).post(request("tools/list"))
    assert answer.status_code == 401 and "resource_metadata=" in answer.headers["WWW-Authenticate"]
    assert (await both.caller(token).send("GET", "/auth/verify")).status_code == 401


async def test_a_token_stands_in_its_header(both: Served) -> None:
    """A token in the query, in the form or under another scheme is refused, and the response does not repeat it."""
    token = (await allow_agent(both)).token
    nobody = Agent(both, None)
    for query in (f"access_token={token}", f"token={token}", f"Authorization=Bearer%20{token}"):
        answer = await both.http.post(
            f"/api/mcp?{query}",
            json=request("tools/list"),
            headers={"Accept": "application/json, text/event-stream"},
        )
        assert answer.status_code == 401 and token not in answer.text + str(answer.headers)
        rest = await both.http.get(f"/api/v1/ads/auth/verify?{query}")
        assert rest.status_code == 401 and token not in rest.text
    for scheme in ("Basic", "Token", "MAC", ""):
        assert (await nobody.post(request("ping"), Authorization=f"{scheme} {token}".strip())).status_code == 401


async def test_an_agent_neither_sees_keys_nor_makes_webhooks_at_either_door(both: Served) -> None:
    agent = await allow_agent(both)
    key_id, _ = await both.key("admin")
    webhook = {"url": "https://hooks.example.com/ads"}
    rows = await both.rows()
    for operation_id, method, address, body in (
        ("get_keys", "GET", "/keys", None),
        ("post_keys", "POST", "/keys", {"name": "spare"}),
        ("delete_key", "DELETE", f"/keys/{key_id}", None),
        ("post_webhooks", "POST", "/webhooks", webhook),
        ("patch_webhook", "PATCH", f"/webhooks/{NEVER}", {"active": True}),
        ("delete_webhook", "DELETE", f"/webhooks/{NEVER}", None),
        ("post_webhook_test", "POST", f"/webhooks/{NEVER}/test", {}),
        ("post_webhook_delivery_redeliver", "POST", f"/webhooks/{NEVER}/deliveries/{NEVER}/redeliver", {}),
    ):
        names = ENDPOINTS_BY_ID[operation_id].parameters
        path = {"path": {name: key_id if name == "keyId" else NEVER for name in names}} if names else {}
        content = {} if body is None else {"body": body}
        result = await agent.tool("call_tool", operationId=operation_id, **path, **content)
        error = result["structuredContent"]["error"]
        assert (error["status"], error["code"], error["outcome"]) == (403, "not_for_agents", "not_applied")
        problem = await both.caller(agent.token).problem(403, method, address, body)
        assert (problem["code"], problem["outcome"]) == ("not_for_agents", "not_applied"), operation_id
    assert await both.rows() == rows
    assert await both.caller(agent.token).get("/webhooks") == []


async def test_a_message_names_a_member_once(both: Served) -> None:
    agent = await allow_agent(both)
    id_ = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    message = json.dumps(request("tools/call", name="execute", arguments={"operationId": id_, "confirmed": True}))
    for member, first in (("confirmed", "false"), ("arguments", "{}"), ("method", '"ping"'), ("jsonrpc", '"2.0"')):
        twice = message.replace(f'"{member}": ', f'"{member}": {first}, "{member}": ', 1)
        answer = await agent.post(twice.encode())
        assert (answer.status_code, answer.json()["error"]["code"]) == (400, INVALID_REQUEST), answer.text
    assert (await both.admin.get(f"/operations/{id_}"))["status"] == "prepared"


async def test_no_token_of_ours_reaches_a_network(both: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """Everything that the networks were sent while an agent works: head and body."""
    sent: list[bytes] = []
    answer = type(both.networks.state)._handle_native_request

    async def record_request(self: Any, http: web.Request, *route: Any) -> web.StreamResponse:
        sent.append(b"\n".join((http.raw_path.encode(), *(b": ".join(header) for header in http.raw_headers))))
        sent.append(await http.read())
        return await answer(self, http, *route)

    monkeypatch.setattr(type(both.networks.state), "_handle_native_request", record_request)
    oauth_client = await client(both)
    tokens = await oauth_client.tokens()
    key = both.people["admin"].tokens["write"]
    for token in (tokens["access_token"], key):
        agent = Agent(both, token)
        for network in ("meta", "snapchat"):
            account = both.accounts[network]
            operation = await agent.prepare_campaign(account, brief(network))
            assert (await agent.execute(operation))["structuredContent"]["data"]["status"] == "succeeded"
            body = {"accountId": account, "sourceOperationId": operation}
            live = (await agent.data("call_tool", operationId="post_activate", body=body))["id"]
            assert (await agent.execute(live))["structuredContent"]["data"]["status"] == "succeeded"
            await agent.data("call_tool", operationId="get_account_tree", path={"accountId": account})
    everything = b"\n".join(sent)
    assert len(sent) > 40
    for secret in (*tokens.values(), key):
        if isinstance(secret, str) and len(secret) > 20:
            assert secret.encode() not in everything
    for prefix in (b"ada_", b"adr_", b"adu_"):
        assert prefix not in everything


@pytest.mark.parametrize("version", VERSIONS)
async def test_a_batch_executes_once(both: Served, version: str) -> None:
    """Twice in one batch, where the revision has them; where it has none, nothing of it is done."""
    agent = evolve(await allow_agent(both), version=version)
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    writes = both.networks.writes()
    call = request("tools/call", name="execute", arguments={"operationId": operation, **CONFIRMED})
    answer = await agent.post([call, {**call, "id": 2}, {"jsonrpc": "2.0", "method": "notifications/initialized"}])
    if VERSIONS[version].allows_batches:
        assert [response["id"] for response in answer.json()] == [1, 2]
        assert {response["result"]["structuredContent"]["data"]["status"] for response in answer.json()} == {
            "succeeded"
        }
        assert both.networks.writes() == writes + 4
    else:
        assert answer.status_code == 400 and both.networks.writes() == writes


async def test_an_empty_batch_is_said_to_be_empty(both: Served) -> None:
    """Where the revision has batches, it is not refused for being one."""
    for version, revision in VERSIONS.items():
        answer = await evolve(await allow_agent(both), version=version).post([])
        assert answer.status_code == 400
        assert ("empty" in answer.json()["error"]["message"]) is revision.allows_batches


async def test_a_method_that_there_is_not_is_not_said_back(both: Served) -> None:
    error = (await (await allow_agent(both)).post(request("adu_12345678_secret"))).json()["error"]
    assert error["code"] == -32601 and "secret" not in error["message"] and "tools/call" in error["message"]


async def test_a_call_that_is_only_notified_writes_nothing(both: Served) -> None:
    agent = await allow_agent(both)
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    writes = both.networks.writes()
    call = request("tools/call", name="execute", arguments={"operationId": operation, **CONFIRMED})
    del call["id"]
    assert (await agent.post(call)).status_code == 202
    assert both.networks.writes() == writes


async def test_a_session_id_is_nobodys(both: Served) -> None:
    """There are no sessions: whose call it is, the token alone says."""
    member, admin = await allow_agent(both, "member"), await allow_agent(both)
    operation = await member.prepare_campaign(both.accounts["meta"], brief("meta"))
    call = request("tools/call", name="operation", arguments={"operationId": operation})
    answer = await admin.post(call, Mcp_Session_Id=operation)
    assert answer.json()["result"]["structuredContent"]["error"]["code"] == "not_found"
    assert "Mcp-Session-Id" not in answer.headers


async def test_who_hangs_up_is_no_fault_of_ours(both: Served, caplog: pytest.LogCaptureFixture) -> None:
    """A caller that goes in the middle of its request leaves no error in the log, at either door."""
    host = both.base_url.removeprefix("http://")
    token = both.people["admin"].tokens["write"]
    common = (
        f"Host: {host}\r\nAuthorization: Bearer {token}\r\nContent-Type: application/json\r\nContent-Length: 100\r\n"
    )
    for path in ("/api/mcp", "/api/v1/ads/create"):
        _, writer = await asyncio.open_connection(*host.split(":"))
        accept = "Accept: application/json, text/event-stream\r\n"
        writer.write(f"POST {path} HTTP/1.1\r\n{common}{accept}\r\n{{".encode())
        await writer.drain()
        await asyncio.sleep(0.2)  # until it waits for the rest
        writer.transport.abort()
    await asyncio.sleep(0.2)
    assert (await both.admin.send("GET", "/auth/verify")).status_code == 200
    assert not [record for record in caplog.records if record.levelno >= logging.ERROR]


# -- what results say ---------------------------------------------------------------------------------------------


async def test_what_is_prepared_names_its_review(both: Served) -> None:
    agent = await allow_agent(both)
    body = {"accountId": both.accounts["meta"], "campaign": brief("meta")}
    result = await agent.tool("call_tool", operationId="post_create", body=body)
    assert "nothing is written yet" in read_texts(result)
    assert result["structuredContent"]["data"]["reviewUrl"] in result["content"][1]["text"]


async def test_a_bulk_edit_that_is_refused_says_what_to_use(both: Served) -> None:
    agent = await allow_agent(both)
    account = both.accounts["meta"]
    operation = await agent.prepare_campaign(account, brief("meta", budget__amount="25"))
    steps = (await agent.execute(operation))["structuredContent"]["data"]["receipt"]["steps"]
    created = {step["key"]: step["outputs"]["id"] for step in steps}
    body = {"accountId": account, "kind": "adGroup", "entityIds": [created["adGroup"]], "mode": "set", "value": 25}
    for field, path, code, word in (
        ("daily_budget", "field", "unknown_field", "under the name budget"),
        ("budget", "entityIds.0", "no_change", "fields.budget"),
    ):
        result = await agent.tool("call_tool", operationId="post_bulk_edit", body={**body, "field": field})
        (issue,) = result["structuredContent"]["error"]["issues"]
        assert (issue["path"], issue["code"]) == (path, code)
        assert word in issue["message"] and word in result["content"][0]["text"]


async def test_what_is_handed_back_says_so(both: Served) -> None:
    agent = await allow_agent(both)
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    before = both.service.settings
    try:
        both.service.settings = evolve(before, limits=ExecutionLimits(max_steps=1))
        result = await agent.execute(operation)
    finally:
        both.service.settings = before
    assert result["structuredContent"]["data"]["nextAction"] == "execute"
    assert f"{operation} is not finished: call execute again with this same operationId" in read_texts(result)
    await both.networks.fault("meta", "status", method="POST", value=429)
    result = await agent.execute(operation)
    wait = result["structuredContent"]["data"]["retryAfterMs"]
    assert f"call execute again after {wait} ms" in read_texts(result)


@pytest.mark.parametrize(
    ("fault", "code", "words"),
    [
        ({"fault": "status", "value": 400}, "provider_rejected", "Written: campaign. Not written: adGroup"),
        ({"fault": "reset_after"}, "outcome_unknown", "Do not repeat the change"),
        ({"fault": "truncate"}, "outcome_unknown", "Do not repeat the change"),
        ({"fault": "status", "value": 500}, "outcome_unknown", "Do not repeat the change"),
    ],
    ids=str,
)
async def test_a_failed_execution_says_what_was_written(
    both: Served, fault: dict[str, Any], code: str, words: str
) -> None:
    """The operation_result step fails: what the first one wrote stays, and the text does not deny it."""
    agent = await allow_agent(both)
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    await both.networks.fault("meta", **fault, method="POST", path="/v26.0/act_1001/adsets")
    result = await agent.execute(operation)
    assert result["isError"] is True and result["structuredContent"]["error"]["code"] == code, result
    text = result["content"][0]["text"]
    assert words in text and "Nothing was written" not in text
    assert json.loads(result["content"][1]["text"]) == result["structuredContent"]
    again = await agent.execute(operation)
    if code == "outcome_unknown":
        assert again["structuredContent"]["error"]["code"] == code
        operation_result = await agent.tool("operation", operationId=operation)
        assert f"whether the last write of {operation} was done" in read_texts(operation_result)


async def test_a_wait_is_told(both: Served) -> None:
    """A read that the network throttles: when it may be asked again, and that nothing was written."""
    agent = await allow_agent(both)
    account = both.accounts["meta"]
    await both.networks.fault("meta", "status", value=429, times=20)
    result = await agent.tool("call_tool", operationId="get_account_campaigns", path={"accountId": account})
    error = result["structuredContent"]["error"]
    assert (error["code"], error["outcome"]) == ("provider_throttled", "not_applied")
    assert "Nothing was written" in read_texts(result)
    if "retryAfterMs" in error:
        assert f"Wait {error['retryAfterMs']} ms" in result["content"][0]["text"]
