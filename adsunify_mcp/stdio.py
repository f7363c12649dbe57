"""The stdio transport: one message a line, answers on standard output, nothing else there."""

from __future__ import annotations

import asyncio
import sys

from adsunify.client.doors import Door

from .protocol import UNSAID, VERSIONS, answer
from .server import methods


async def serve(door: Door) -> None:
    """Answer until standard input ends."""
    known = methods(door)
    loop = asyncio.get_running_loop()
    while line := await loop.run_in_executor(None, sys.stdin.buffer.readline):
        if line.strip():
            reply = await answer(known, line, VERSIONS[UNSAID])
            if reply.body is not None:
                sys.stdout.write(reply.body.decode("ascii") + "\n")
                sys.stdout.flush()
