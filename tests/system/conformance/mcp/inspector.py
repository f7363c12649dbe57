"""The MCP Inspector on the command line, with a token that a person allowed: the tools, and the whole flow."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from adsunify_mcp.http import MCP_PATH
from tests.server.served import Served
from tests.system.agents.agent import client

from .flow import from_brief_to_live
from .suite import Failed, run


async def inspect(environment: Mapping[str, str], site: Served) -> None:
    """List the tools, with schemas that every client can carry, and go from a brief to a running campaign."""
    token = (await (await client(site)).tokens())["access_token"]
    command = ("mcp-inspector", "--cli", site.base_url + MCP_PATH, "--transport", "http")
    header = ("--header", f"Authorization: Bearer {token}")
    strict = await run(environment, *command, *header, "--method", "tools/list", "--strict")
    if "Warning" in strict:
        raise Failed(f"a tool's schema is not portable:\n{strict}")
    tool_names = [tool["name"] for tool in json.loads(strict)["tools"]]

    async def call(name: str, arguments: Mapping[str, Any]) -> Any:
        tool_arguments = [
            f"{key}={value if isinstance(value, str) else json.dumps(value)}" for key, value in arguments.items()
        ]
        chosen = ("--method", "tools/call", "--tool-name", name, "--tool-arg", *tool_arguments)
        result = json.loads(await run(environment, *command, *header, *chosen))
        if result.get("isError"):
            raise Failed(f"{name}: {result}")
        return result["structuredContent"]

    await from_brief_to_live(site, tool_names, call)
    print("inspector: the tools are portable, and the whole flow over OAuth")
