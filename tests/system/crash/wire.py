"""The wire between the service and the simulated networks: counts the requests, and breaks where a test asks for it.

One HTTP/1.1 request a connection, in the test's own event loop, over real sockets.
"""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

from attrs import define, field, frozen


@define
class Call:
    """One request as it came over the wire, and the socket that waits for its answer."""

    wire: Wire
    head: bytes
    body: bytes
    writer: asyncio.StreamWriter
    over: asyncio.Event = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.over = self.wire.over

    @property
    def line(self) -> str:
        """Method and target."""
        return self.head.split(b"\r\n", 1)[0].removesuffix(b" HTTP/1.1").decode()

    async def apply(self) -> bytes:
        """Let the network have the request; returns the whole of its answer."""
        place = urlsplit(self.wire.sandbox_url)
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        head = self.head.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n")
        writer.write(head + self.body)
        answer = await reader.read()
        writer.close()
        return answer

    async def say(self, answer: bytes) -> None:
        """Write these bytes to the service."""
        self.writer.write(answer)
        await self.writer.drain()

    def reset(self) -> None:
        """End the connection with a reset."""
        linger = b"\x01\x00\x00\x00\x00\x00\x00\x00"
        self.writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, linger)
        self.writer.transport.abort()

    async def silence(self) -> None:
        """Say nothing for as long as the service holds the line."""
        await self.over.wait()


def make_answer(content: bytes, status: str = "200 OK", kind: str = "application/json", headers: str = "") -> bytes:
    """A whole HTTP answer."""
    head = (
        f"HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {len(content)}\r\nConnection: close\r\n{headers}"
    )
    return head.encode() + b"\r\n" + content


Act = Callable[[Call], Awaitable[None]]


@frozen
class Unread:
    """What is done with a connection of which nothing is read."""

    act: Act


@define
class Wire:
    """The address that the service takes for the sandbox. ``fault`` is what becomes of the next request, once."""

    sandbox_url: str
    fault: Act | Unread | None = None
    first_byte: Callable[[], Awaitable[None]] | None = None
    calls: list[str] = field(factory=list)
    over: asyncio.Event = field(factory=asyncio.Event)
    port: int = 0
    serving: set[asyncio.Task[None]] = field(factory=set)
    _server: asyncio.Server | None = None

    @property
    def url(self) -> str:
        """Where the service finds the networks."""
        return f"http://127.0.0.1:{self.port}"

    async def open(self) -> None:
        """Listen, after :meth:`shut` at the same place as before."""
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", self.port)
        self.port = self._server.sockets[0].getsockname()[1]

    def shut(self) -> None:
        """Stop listening, so that every connection is refused."""
        if self._server is not None:
            self._server.close()

    def forget(self) -> None:
        """Let go of every request that waits in silence, and of a fault that did not happen."""
        self.over.set()
        self.over = asyncio.Event()
        self.fault = None

    async def done(self) -> None:
        """Wait for every request: the service may have lost its patience before the network had applied it."""
        while self.serving:
            await asyncio.wait(self.serving)

    def _take_fault(self) -> Act | Unread | None:
        fault, self.fault = self.fault, None
        return fault

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self.serving.add(task)
        try:
            with suppress(ConnectionError, asyncio.IncompleteReadError):
                await self._break_connection(reader, writer)
        finally:
            writer.close()
            self.serving.discard(task)

    async def _break_connection(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        if isinstance(self.fault, Unread):
            fault = self._take_fault()
            assert isinstance(fault, Unread)
            self.calls.append("unread")
            reader._transport.pause_reading()  # type: ignore[attr-defined]  # nothing of it is read, ever
            await fault.act(Call(self, b"", b"", writer))
        else:
            await self._exchange(reader, writer)

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        first = await reader.readexactly(1)
        if self.first_byte is not None:
            await self.first_byte()
        head = first + await reader.readuntil(b"\r\n\r\n")
        length = next(
            (int(line.split(b":")[1]) for line in head.split(b"\r\n") if line.lower().startswith(b"content-length:")), 0
        )
        call = Call(self, head, await reader.readexactly(length), writer)
        self.calls.append(call.line)
        fault = self._take_fault()
        if fault is None:
            await call.say(await call.apply())
        else:
            assert not isinstance(fault, Unread)
            await fault(call)


@asynccontextmanager
async def open_wire(sandbox_url: str) -> AsyncIterator[Wire]:
    """A wire to the sandbox."""
    wire = Wire(sandbox_url)
    await wire.open()
    try:
        yield wire
    finally:
        wire.shut()
        tasks = list(wire.serving)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
