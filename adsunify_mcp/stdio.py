"""The stdio transport: one message per line; standard output holds only messages of the protocol."""

from __future__ import annotations

import asyncio
import sys
from collections.abc import Mapping

from adsunify.client.backends import Backend
from adsunify.values.exact_json import Json, dumps

from .protocol import CallerMethods, handle_message
from .request_states import make_request_states
from .server import make_methods


async def serve_stdio(backend: Backend) -> None:
    """Answer messages until standard input ends."""
    caller = CallerMethods(make_methods(backend, states=make_request_states(backend)))
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        if line.strip():
            reply = await handle_message(caller, line, notify=_write_notification)
            if reply.body is not None:
                _write_line(reply.body.decode("ascii"))


async def _write_notification(method: str, params: Mapping[str, Json]) -> None:
    _write_line(dumps({"jsonrpc": "2.0", "method": method, "params": params}))


def _write_line(text: str) -> None:
    sys.stdout.write(text + "\n")
    sys.stdout.flush()
