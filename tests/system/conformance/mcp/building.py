"""Our endpoint with the tools that the suite calls by name, and without tokens: the suite sends none."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web
from attrs import field, frozen

from adsunify.client.backends import Backend, open_backend
from adsunify.errors import AdsunifyError
from adsunify.models.base import ApiModel
from adsunify.values.exact_json import Json
from adsunify_mcp.http import MCP_PATH, add_endpoint
from adsunify_mcp.protocol import CountMessage, MethodHandler
from adsunify_mcp.server import make_methods
from adsunify_mcp.tools import TOOLS, Tool


class Nothing(ApiModel):
    """No arguments."""


@frozen
class Verbatim(Tool):
    """A tool whose schema is shown as the suite wrote it."""

    listing: Mapping[str, Json] = field(init=False)

    @listing.default
    def _show_verbatim(self) -> Mapping[str, Json]:
        return {**self._make_listing(), "inputSchema": SCHEMA}


SCHEMA: Json = {
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": {
        "address": {
            "$anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}},
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"$ref": "#/$defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"},
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": False,
}
"""The suite's own schema, which must come through unchanged."""


async def _text(door: Backend, asked: Nothing) -> Json:
    return {"data": "This is a simple text response for testing."}


async def _error(door: Backend, asked: Nothing) -> Json:
    raise AdsunifyError("This tool intentionally returns an error for testing")


SUITE: Mapping[str, Tool] = {
    "test_simple_text": Tool("test_simple_text", "Says something.", Nothing, _text),
    "test_error_handling": Tool("test_error_handling", "Fails.", Nothing, _error),
    "json_schema_2020_12_tool": Verbatim("json_schema_2020_12_tool", "Has a rich schema.", Nothing, _text),
}


@asynccontextmanager
async def endpoint(folder: Path) -> AsyncIterator[str]:
    """The endpoint over a database of its own; its address."""
    door = await open_backend(f"sqlite:///{folder / 'conformance.db'}", None, None, {})
    listening = socket.create_server(("127.0.0.1", 0))
    base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = web.Application()

    async def opened(authorization: str | None) -> tuple[Mapping[str, MethodHandler], CountMessage]:
        return make_methods(door, {**TOOLS, **SUITE}), lambda: None

    add_endpoint(app, base_url, opened)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        yield base_url + MCP_PATH
    finally:
        await runner.cleanup()
        await door.close()
