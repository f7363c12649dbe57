"""Receivers of webhooks on loopback: polite ones, and such as do what no receiver should."""

from __future__ import annotations

import asyncio
import json
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web
from attrs import define, field, frozen


@frozen
class Received:
    """One request that a receiver got."""

    body: bytes
    headers: dict[str, str]
    path: str = "/hook"

    @property
    def event(self) -> Any:
        return json.loads(self.body)

    @property
    def event_id(self) -> str:
        return self.headers["Service-Event-Id"]


@define
class Receiver:
    """A receiver that answers whole requests. ``answer`` gives the response (204); ``arrived`` is called with each."""

    url: str = ""
    got: list[Received] = field(factory=list)
    answer: Callable[[], web.StreamResponse] = field(default=lambda: web.Response(status=204))
    arrived: Callable[[Received], None] = field(default=lambda received: None)

    async def count(self, least: int, seconds: float = 20) -> list[Received]:
        """Wait until so many requests came."""
        async with asyncio.timeout(seconds):
            while len(self.got) < least:
                await asyncio.sleep(0.005)
        return self.got


@asynccontextmanager
async def run_receiver(tls: ssl.SSLContext | None = None) -> AsyncIterator[Receiver]:
    """A receiver; with ``tls`` it speaks https."""
    receiver = Receiver()

    async def take(request: web.Request) -> web.StreamResponse:
        receiver.got.append(Received(await request.read(), dict(request.headers), request.path))
        receiver.arrived(receiver.got[-1])
        return receiver.answer()

    app = web.Application()
    app.router.add_route("*", "/{anything:.*}", take)
    runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.2)
    await runner.setup()
    await web.TCPSite(runner, "127.0.0.1", 0, ssl_context=tls, backlog=512).start()
    receiver.url = f"http{'s' if tls else ''}://127.0.0.1:{runner.addresses[0][1]}/hook"
    try:
        yield receiver
    finally:
        await runner.cleanup()


@define
class Hostile:
    """``got``: requests that were read whole; ``sent``: bytes that the other side took."""

    url: str = ""
    got: int = 0
    sent: int = 0


Misbehaviour = Callable[[Hostile, asyncio.StreamReader, asyncio.StreamWriter], Awaitable[None]]


@asynccontextmanager
async def run_hostile_server(script: Misbehaviour) -> AsyncIterator[Hostile]:
    """A server that follows the script on each connection after it has read the request."""
    hostile, tasks = Hostile(), set[asyncio.Task[Any]]()

    async def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            head = await reader.readuntil(b"\r\n\r\n")
            length = next(int(line[15:]) for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:"))
            await reader.readexactly(length)
            hostile.got += 1
            await script(hostile, reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the worker is gone, or the test is over
        finally:
            writer.transport.abort()
            tasks.discard(task)

    server = await asyncio.start_server(handle_connection, "127.0.0.1", 0, backlog=512)
    hostile.url = f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/hook"
    try:
        yield hostile
    finally:
        server.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


async def stay_silent(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Accepts, and never answers."""
    await asyncio.Event().wait()


async def _slowly(hostile: Hostile, writer: asyncio.StreamWriter, text: bytes) -> None:
    while True:
        for byte in text:
            writer.write(bytes([byte]))
            await writer.drain()
            hostile.sent += 1
            await asyncio.sleep(0.05)


async def slow_head(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """A head that never ends, a byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\n")
    await _slowly(hostile, writer, b"X-Long: x\r\n")


async def slow_body(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """200 at once, and a body that never ends, a byte at a time."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    await _slowly(hostile, writer, b"x")


async def endless_body(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """200 at once, and as much of a body as the other side takes."""
    writer.write(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        writer.write(b"x" * 4096)
        await writer.drain()
        hostile.sent += 4096


async def reset(hostile: Hostile, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    """Reads the request, and resets the connection."""
    writer.transport.abort()
