"""A receiver of webhooks: reads each request and answers 204 at once, on every path but ``/dead``, which never answers.

Prints ``{"url"}`` when it answers; each line of its input is answered with ``{"count", "at"}``: how many requests were
answered since the line before, and when the last one came (seconds of the machine's monotonic clock). Ends when its
input ends.
"""

from __future__ import annotations

import asyncio
import json
import socket
import sys
import threading
import time

from aiohttp import web
from attrs import define


@define
class Received:
    count: int = 0
    at: float = 0.0

    async def alive(self, request: web.Request) -> web.Response:
        self.at = time.monotonic()
        await request.read()
        self.count += 1
        return web.Response(status=204)

    def report(self) -> None:
        print(json.dumps({"count": self.count, "at": self.at}), flush=True)
        self.count = 0


async def _dead(request: web.Request) -> web.Response:
    await asyncio.Event().wait()
    return web.Response()


async def _serve() -> None:
    loop, received, ended = asyncio.get_running_loop(), Received(), asyncio.Event()
    app = web.Application()
    app.router.add_post("/dead", _dead)
    app.router.add_post("/{name}", received.alive)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.1)
    await runner.setup()
    listening = socket.create_server(("127.0.0.1", 0), backlog=512)
    await web.SockSite(runner, listening).start()

    def read_input() -> None:
        for _ in sys.stdin:
            loop.call_soon_threadsafe(received.report)
        loop.call_soon_threadsafe(ended.set)

    threading.Thread(target=read_input, daemon=True).start()
    print(json.dumps({"url": f"http://127.0.0.1:{listening.getsockname()[1]}"}), flush=True)
    await ended.wait()
    await runner.cleanup()


if __name__ == "__main__":
    asyncio.run(_serve())
