"""From a brief to a running campaign as an agent does it, whatever client it uses."""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from adsunify_mcp.tools import TOOLS
from tests.server.served import Served, brief

Call = Callable[[str, Mapping[str, Any]], Awaitable[Any]]
"""A tool by name with its arguments; the structured content of a good result."""


async def from_brief_to_live(server: Served, tool_names: Sequence[str], call: Call) -> None:
    """List, search, validate, create (twice, with one key), execute (twice), activate, execute; nothing twice."""
    assert list(tool_names) == list(TOOLS), tool_names
    matches = (await call("search_tools", {"query": "validate my campaign brief"}))["data"]
    assert matches[0]["operationId"] == "post_validate_campaign", matches
    account = (await call("account", {"network": "meta"}))["data"][0]["accountId"]
    body = {"accountId": account, "campaign": brief("meta")}
    valid = (await call("call_tool", {"operationId": "post_validate_campaign", "body": body}))["data"]
    assert valid["valid"] is True
    arguments = {"operationId": "post_create", "body": body, "idempotencyKey": json.dumps(body["campaign"]["name"])}
    writes = server.networks.writes()
    operation_id = (await call("call_tool", arguments))["data"]["id"]
    assert (await call("call_tool", arguments))["data"]["id"] == operation_id
    for _ in range(2):
        done = (await call("execute", {"operationId": operation_id, "confirmed": True}))["data"]
        assert done["status"] == "succeeded", done
    assert server.networks.writes() == writes + 4
    source = {"accountId": account, "sourceOperationId": operation_id}
    live = (await call("call_tool", {"operationId": "post_activate", "body": source}))["data"]["id"]
    for _ in range(2):
        done = (await call("execute", {"operationId": live, "confirmed": True}))["data"]
        assert done["status"] == "succeeded", done
    activation = (await call("operation", {"operationId": live}))["data"]
    assert all(step["state"] == "applied" for step in activation["receipt"]["steps"])
    assert server.networks.writes() == writes + 4 + len(activation["receipt"]["steps"])
