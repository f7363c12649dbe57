"""The methods of an MCP server over a backend of the API."""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.client.backends import Backend
from adsunify.values.exact_json import Json

from .protocol import INVALID_PARAMS, MethodHandler, RpcError, negotiate_version
from .tools import TOOLS, Tool, call_tool

INSTRUCTIONS = (
    "One advertising API over many ad networks. Changes are prepared, reviewed, and only then executed: validate or "
    "search first, prepare with call_tool, prepare or set_status, show the plan to the person, then execute with "
    "confirmed true. Never repeat a change whose outcome is unknown. Where the workspace requires a person's "
    "approval, execute writes nothing: show the reviewUrl to the person, who executes there."
)


def make_methods(backend: Backend, tools: Mapping[str, Tool] = TOOLS) -> Mapping[str, MethodHandler]:
    """Return the methods for one caller, by name."""

    async def initialize(params: Mapping[str, Json]) -> Json:
        return {
            "protocolVersion": negotiate_version(params.get("protocolVersion")),
            "capabilities": {"tools": {}},
            "serverInfo": {"name": "adsunify", "title": "adsunify", "version": "0.1.0"},
            "instructions": INSTRUCTIONS,
        }

    async def ping(params: Mapping[str, Json]) -> Json:
        return {}

    async def list_tools(params: Mapping[str, Json]) -> Json:
        return {"tools": [tool.listing for tool in tools.values()]}

    async def call(params: Mapping[str, Json]) -> Json:
        name, arguments = params.get("name"), params.get("arguments", {})
        if not isinstance(name, str) or name not in tools:
            raise RpcError(INVALID_PARAMS, f"Unknown tool; the tools are {', '.join(tools)}.")
        if not isinstance(arguments, Mapping):
            raise RpcError(INVALID_PARAMS, "arguments must be an object.")
        return await call_tool(tools[name], backend, arguments)

    return {"initialize": initialize, "ping": ping, "tools/list": list_tools, "tools/call": call}
