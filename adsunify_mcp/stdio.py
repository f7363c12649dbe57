"""The stdio transport: one message per line; standard output holds only responses."""

from __future__ import annotations

import asyncio
import sys

from adsunify.client.backends import Backend

from .protocol import DEFAULT_VERSION, VERSIONS, handle_message
from .server import make_methods


async def serve_stdio(backend: Backend) -> None:
    """Answer messages until standard input ends."""
    methods = make_methods(backend)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        if line.strip():
            reply = await handle_message(methods, line, VERSIONS[DEFAULT_VERSION])
            if reply.body is not None:
                sys.stdout.write(reply.body.decode("ascii") + "\n")
                sys.stdout.flush()
