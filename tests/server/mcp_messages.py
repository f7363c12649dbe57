"""Messages of the agents' protocol as a client of each revision sends them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adsunify_mcp.request_metadata import (
    CAPABILITIES_KEY,
    METHOD_HEADER,
    NAME_HEADER,
    NAME_MEMBERS,
    VERSION_HEADER,
    VERSION_KEY,
)
from adsunify_mcp.versions import VERSIONS

NEWEST = "2026-07-28"
URL_CAPABILITIES = {"elicitation": {"url": {}}}
"""A client that shows its user addresses."""


def request(method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": 1, "method": method, "params": params}


def with_metadata(
    message: Any, version: str = NEWEST, capabilities: Mapping[str, Any] | None = None
) -> tuple[Any, dict[str, str]]:
    """The message with what its revision has in ``_meta``, and the headers that go with it."""
    headers = {VERSION_HEADER: version}
    if not VERSIONS[version].is_stateless or not isinstance(message, dict) or "method" not in message:
        return message, headers
    params = message.get("params", {})
    metadata = {VERSION_KEY: version, CAPABILITIES_KEY: dict(capabilities or {}), **params.get("_meta", {})}
    headers[METHOD_HEADER] = message["method"]
    name = params.get(NAME_MEMBERS.get(message["method"], ""))
    if isinstance(name, str):
        headers[NAME_HEADER] = name
    return {**message, "params": {**params, "_meta": metadata}}, headers


def read_events(text: str) -> list[dict[str, Any]]:
    """The messages of a stream of events."""
    blocks = [block for block in text.split("\n\n") if block]
    assert all(block.startswith("event: message\ndata: ") for block in blocks), text
    return [json.loads(block.partition("data: ")[2]) for block in blocks]
