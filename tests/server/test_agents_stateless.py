"""The agents' door in revision 2026-07-28: what a request says about itself, and what each result says."""

from __future__ import annotations

import base64
import json
from typing import Any

import httpx
import pytest

from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify_mcp.method_results import SERVER_INFO_KEY
from adsunify_mcp.request_metadata import CAPABILITIES_KEY, VERSION_KEY
from adsunify_mcp.versions import VERSIONS

from .mcp_messages import NEWEST, read_events, request, with_metadata
from .served import Served, brief

pytestmark = pytest.mark.asyncio(loop_scope="module")
HEADERS = {"Accept": "application/json, text/event-stream", "Content-Type": "application/json"}
LISTS = {
    "tools/list": "tools",
    "prompts/list": "prompts",
    "resources/list": "resources",
    "resources/templates/list": "resourceTemplates",
}


async def post(server: Served, message: Any, headers: dict[str, str | None] | None = None) -> httpx.Response:
    """One POST with the metadata of the newest revision; ``headers`` replaces headers, and None removes one."""
    message, own = with_metadata(message)
    sent: dict[str, str | None] = {**HEADERS, **own, **(headers or {})}
    token = server.people["admin"].tokens["write"]
    present_headers = {name: value for name, value in sent.items() if value is not None} | {
        "Authorization": f"Bearer {token}"
    }
    return await server.http.post("/api/mcp", content=json.dumps(message).encode(), headers=present_headers)


async def result(server: Served, method: str, **params: Any) -> dict[str, Any]:
    answer = await post(server, request(method, **params))
    assert answer.status_code == 200, answer.text
    result_object: dict[str, Any] = answer.json()["result"]
    return result_object


def error(answer: httpx.Response) -> tuple[int, int, Any]:
    """Status and code of an error that answers the request 1."""
    body = answer.json()
    assert body["id"] == 1, body
    return answer.status_code, body["error"]["code"], body["error"].get("data")


async def test_a_server_is_discovered(empty: Served) -> None:
    answer = await result(empty, "server/discover")
    assert answer["supportedVersions"] == list(VERSIONS)
    assert answer["capabilities"] == {"tools": {}, "prompts": {}, "resources": {}, "completions": {}}
    assert answer["_meta"][SERVER_INFO_KEY]["name"] == "adsunify" and answer["instructions"]


async def test_every_result_says_what_it_is(empty: Served) -> None:
    for method in ("server/discover", *LISTS):
        answer = await result(empty, method)
        assert answer["resultType"] == "complete" and answer["_meta"][SERVER_INFO_KEY]["version"]
        assert isinstance(answer["ttlMs"], int) and answer["ttlMs"] >= 0 and answer["cacheScope"] == "public"
    read = await result(empty, "resources/read", uri="adsunify://networks")
    assert read["ttlMs"] >= 0 and read["cacheScope"] == "public"
    called = await result(empty, "tools/call", name="account", arguments={})
    assert called["resultType"] == "complete" and "ttlMs" not in called
    refused = await result(empty, "tools/call", name="execute", arguments={})
    assert refused["resultType"] == "complete" and refused["isError"] is True


async def test_older_revisions_have_none_of_it(empty: Served) -> None:
    token = empty.people["admin"].tokens["write"]
    for version in VERSIONS:
        if version == NEWEST:
            continue
        sent = HEADERS | {"MCP-Protocol-Version": version, "Authorization": f"Bearer {token}"}
        for method in LISTS:
            answer = await empty.http.post("/api/mcp", json=request(method), headers=sent)
            assert set(answer.json()["result"]) == {LISTS[method]}
        answer = await empty.http.post("/api/mcp", json=request("server/discover"), headers=sent)
        assert (answer.status_code, answer.json()["error"]["code"]) == (200, -32601)


@pytest.mark.parametrize("method", list(LISTS))
async def test_lists_have_one_order(empty: Served, method: str) -> None:
    first, second = [await result(empty, method) for _ in range(2)]
    assert json.dumps(first) == json.dumps(second)


@pytest.mark.parametrize(
    ("metadata", "code"),
    [
        (None, -32602),
        ({}, -32602),
        ({VERSION_KEY: NEWEST}, -32602),
        ({CAPABILITIES_KEY: {}}, -32602),
        ({VERSION_KEY: NEWEST, CAPABILITIES_KEY: []}, -32602),
        ([], -32602),
        ({VERSION_KEY: "2025-11-25", CAPABILITIES_KEY: {}}, -32020),
        ({VERSION_KEY: 20260728, CAPABILITIES_KEY: {}}, -32020),
        ({VERSION_KEY: None, CAPABILITIES_KEY: {}}, -32020),
    ],
)
async def test_a_request_carries_its_metadata(empty: Served, metadata: Any, code: int) -> None:
    message = {**request("tools/list"), "params": {} if metadata is None else {"_meta": metadata}}
    token = empty.people["admin"].tokens["write"]
    sent = HEADERS | {
        "MCP-Protocol-Version": NEWEST,
        "Mcp-Method": "tools/list",
        "Authorization": f"Bearer {token}",
    }
    answer = await empty.http.post("/api/mcp", json=message, headers=sent)
    assert error(answer)[:2] == (400, code)


async def test_a_revision_that_is_not_served_is_answered_with_those_that_are(empty: Served) -> None:
    for version in ("v999.0.0", "2024-11-05", "DRAFT"):
        message = request("server/discover", _meta={VERSION_KEY: version, CAPABILITIES_KEY: {}})
        answer = await post(empty, message, {"MCP-Protocol-Version": version})
        assert error(answer) == (400, -32022, {"supported": list(VERSIONS), "requested": version})
        answer = await post(empty, {**message, "params": {}}, {"MCP-Protocol-Version": version})
        assert answer.status_code == 400  # the metadata names another revision than the header


@pytest.mark.parametrize(
    ("message", "headers"),
    [
        (request("tools/list"), {"Mcp-Method": None}),
        (request("tools/list"), {"Mcp-Method": "prompts/list"}),
        (request("tools/list"), {"Mcp-Method": "TOOLS/LIST"}),
        (request("tools/list"), {"MCP-Protocol-Version": None}),
        (request("tools/list"), {"MCP-Protocol-Version": "2025-11-25"}),
        (request("tools/call", name="account", arguments={}), {"Mcp-Name": None}),
        (request("tools/call", name="account", arguments={}), {"Mcp-Name": "execute"}),
        (request("tools/call", name="account", arguments={}), {"Mcp-Name": "=?base64?!?="}),
        (request("tools/call", name="account", arguments={}), {"Mcp-Name": "=?base64?ZXhlY3V0ZQ==?="}),
        (request("resources/read", uri="adsunify://networks"), {"Mcp-Name": "adsunify://workflows"}),
        (request("prompts/get", name="weekly_report"), {"Mcp-Name": "launch_campaign"}),
    ],
)
async def test_headers_repeat_the_body(empty: Served, message: Any, headers: Any) -> None:
    assert error(await post(empty, message, headers))[:2] == (400, -32020)


async def test_a_header_may_be_encoded_and_is_not_given_twice(empty: Served) -> None:
    call = request("tools/call", name="account", arguments={})
    encoded = f"=?base64?{base64.b64encode(b'account').decode()}?="
    assert (await post(empty, call, {"Mcp-Name": encoded})).status_code == 200
    message, own = with_metadata(call)
    token = empty.people["admin"].tokens["write"]
    pairs = [*HEADERS.items(), *own.items(), ("Authorization", f"Bearer {token}"), ("Mcp-Name", "execute")]
    answer = await empty.http.post("/api/mcp", content=json.dumps(message).encode(), headers=pairs)
    assert error(answer)[:2] == (400, -32020)


@pytest.mark.parametrize(
    "method", ["initialize", "ping", "logging/setLevel", "resources/subscribe", "subscriptions/listen", "no/method"]
)
async def test_methods_that_the_revision_does_not_have(empty: Served, method: str) -> None:
    assert error(await post(empty, request(method)))[:2] == (404, -32601)


async def test_what_is_no_request(empty: Served) -> None:
    assert (await post(empty, [request("tools/list")])).status_code == 400
    assert (await post(empty, {"jsonrpc": "2.0", "id": 1, "result": {}})).status_code == 400
    assert (await post(empty, {"jsonrpc": "2.0", "method": "notifications/cancelled"})).status_code == 202
    assert error(await post(empty, request("tools/call", name="nothing", arguments={})))[:2] == (400, -32602)
    for method in ("GET", "DELETE"):
        assert (await empty.http.request(method, "/api/mcp", headers=HEADERS)).status_code == 405


async def test_the_handshake_never_leads_to_this_revision(empty: Served) -> None:
    token = empty.people["admin"].tokens["write"]
    sent = HEADERS | {"Authorization": f"Bearer {token}"}
    answer = await empty.http.post("/api/mcp", json=request("initialize", protocolVersion=NEWEST), headers=sent)
    assert answer.json()["result"]["protocolVersion"] == "2025-11-25"


# -- resources, prompts and completion ---------------------------------------------------------------------------------


async def test_resources_are_what_the_api_answers(empty: Served) -> None:
    resources = (await result(empty, "resources/list"))["resources"]
    assert [resource["uri"] for resource in resources][:2] == ["adsunify://networks", "adsunify://workflows"]
    for uri, path in (
        *((resource["uri"], "/" + resource["uri"].partition("://")[2]) for resource in resources),
        ("adsunify://networks/meta", "/networks/meta"),
    ):
        (contents,) = (await result(empty, "resources/read", uri=uri))["contents"]
        assert contents["uri"] == uri and contents["mimeType"] == "application/json"
        assert json.loads(contents["text"]) == await empty.admin.get(path)


@pytest.mark.parametrize("uri", ["adsunify://networks/none", "adsunify://networks/", "file:///etc/passwd", "x", ""])
async def test_a_resource_that_there_is_not(empty: Served, uri: str) -> None:
    status, code, data = error(await post(empty, request("resources/read", uri=uri), {"Mcp-Name": uri}))
    assert (status, code, data) == (400, -32602, {"uri": uri})


async def test_prompts_tell_how_to_launch_and_to_report(empty: Served) -> None:
    prompts = (await result(empty, "prompts/list"))["prompts"]
    assert [prompt["name"] for prompt in prompts] == ["launch_campaign", "weekly_report"]
    wishes = {"network": "meta", "budget": "20 EUR a day"}
    launch = await result(empty, "prompts/get", name="launch_campaign", arguments=wishes)
    text = launch["messages"][0]["content"]["text"]
    for word in ("meta", "20 EUR a day", "post_validate_campaign", "reviewUrl", "after I have agreed", "post_activate"):
        assert word in text
    report = await result(empty, "prompts/get", name="weekly_report")
    assert "get_account_insights" in report["messages"][0]["content"]["text"]


@pytest.mark.parametrize(
    ("name", "arguments"),
    [
        ("nothing", {}),
        ("launch_campaign", {}),
        ("launch_campaign", {"network": "  "}),
        ("launch_campaign", {"network": "meta", "unknown": "x"}),
        ("launch_campaign", {"network": 1}),
        ("launch_campaign", {"network": "x" * 2_001}),
        ("weekly_report", []),
    ],
)
async def test_a_prompt_that_cannot_be_written(empty: Served, name: str, arguments: Any) -> None:
    answer = await post(empty, request("prompts/get", name=name, arguments=arguments))
    assert error(answer)[:2] == (400, -32602)


async def test_arguments_are_completed(empty: Served) -> None:
    for reference in (
        {"type": "ref/prompt", "name": "launch_campaign"},
        {"type": "ref/resource", "uri": "adsunify://networks/{network}"},
    ):
        for value in ("", "me", "zzz"):
            parameters = {"ref": reference, "argument": {"name": "network", "value": value}}
            completion = (await result(empty, "completion/complete", **parameters))["completion"]
            assert completion["values"] == [code for code in ADAPTER_PACKAGES if code.startswith(value)]
            assert (completion["total"], completion["hasMore"]) == (len(completion["values"]), False)
    for parameters in (
        {},
        {"ref": {"type": "ref/prompt", "name": "none"}, "argument": {"name": "network", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "launch_campaign"}, "argument": {"name": "none", "value": ""}},
        {"ref": {"type": "ref/prompt", "name": "launch_campaign"}, "argument": {"name": "network", "value": 1}},
        {"ref": {"type": "ref/resource", "uri": "adsunify://networks"}, "argument": {"name": "x", "value": ""}},
    ):
        assert error(await post(empty, request("completion/complete", **parameters)))[:2] == (400, -32602)


# -- progress ----------------------------------------------------------------------------------------------------------


async def test_an_execution_reports_its_progress(server: Served) -> None:
    """The response is a stream: reports that grow, and the result as the last event."""
    body = {"accountId": server.accounts["meta"], "campaign": brief("meta")}
    operation = (await server.admin.post("/create", body, 201))["id"]
    writes = server.networks.writes()
    arguments = {"operationId": operation, "confirmed": True}
    call = request("tools/call", name="execute", arguments=arguments, _meta={"progressToken": "p"})
    answer = await post(server, call)
    assert answer.headers["Content-Type"] == "text/event-stream" and answer.headers["X-Accel-Buffering"] == "no"
    *reports, last = read_events(answer.text)
    assert reports and all(report["method"] == "notifications/progress" for report in reports)
    figures = [(report["params"]["progress"], report["params"]["total"]) for report in reports]
    assert figures == sorted(set(figures)) and {total for _, total in figures} == {4}
    assert {report["params"]["progressToken"] for report in reports} == {"p"}
    assert last["id"] == 1 and last["result"]["structuredContent"]["data"]["status"] == "succeeded"
    assert server.networks.writes() == writes + 4


async def test_without_a_token_there_is_no_stream(server: Served) -> None:
    for token in (None, True, [1], {"a": 1}):
        call = request("tools/call", name="execute", arguments={}, _meta={"progressToken": token})
        assert (await post(server, call)).headers["Content-Type"].startswith("application/json")
