"""Our endpoint with the features that the suite calls by name, and without tokens: the suite sends none."""

from __future__ import annotations

import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from aiohttp import web

from adsunify.client.backends import open_backend
from adsunify_mcp.http import MCP_PATH, add_endpoint
from adsunify_mcp.protocol import CallerMethods
from adsunify_mcp.request_states import make_request_states
from adsunify_mcp.server import make_methods

from .features import FEATURES, SUITE_METHODS


@asynccontextmanager
async def endpoint(folder: Path) -> AsyncIterator[str]:
    """The endpoint over a database of its own; its address."""
    door = await open_backend(f"sqlite:///{folder / 'conformance.db'}", None, None, {})
    listening = socket.create_server(("127.0.0.1", 0))
    base_url = f"http://127.0.0.1:{listening.getsockname()[1]}"
    app = web.Application()

    async def open_caller(authorization: str | None) -> CallerMethods:
        return CallerMethods({**make_methods(door, FEATURES, make_request_states(door)), **SUITE_METHODS})

    add_endpoint(app, base_url, open_caller)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=1)
    await runner.setup()
    await web.SockSite(runner, listening).start()
    try:
        yield base_url + MCP_PATH
    finally:
        await runner.cleanup()
        await door.close()
