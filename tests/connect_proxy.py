"""A proxy on 127.0.0.1 that accepts ``CONNECT``, and fails where a test wants it to."""

from __future__ import annotations

import asyncio
import base64
import ssl
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, suppress
from typing import Literal

from attrs import define, field

USER, PASSWORD = "robot", "hush:h%ush/"
QUOTED = "robot:hush%3Ah%25ush%2F"
SECRETS = (PASSWORD, QUOTED, base64.b64encode(f"{USER}:{PASSWORD}".encode()).decode())
"""The texts that no error and no log may show."""
TUNNEL = b"HTTP/1.1 200 Connection established\r\n\r\n"

Fault = Literal[
    "wrong password",
    "forbidden",
    "bad gateway",
    "silent",
    "cut before answer",
    "reset",
    "cut in answer",
    "not http",
    "cut after 200",
]
FAULTS: dict[Fault, bytes] = {
    "wrong password": b'HTTP/1.1 407 X\r\nProxy-Authenticate: Basic realm="x"\r\nContent-Length: 0\r\n\r\n',
    "forbidden": b"HTTP/1.1 403 X\r\nContent-Length: 5\r\n\r\nnever",
    "bad gateway": b"HTTP/1.1 502 X\r\nContent-Length: 0\r\n\r\n",
    "cut before answer": b"",
    "reset": b"",
    "cut in answer": TUNNEL[:20],
    "not http": b"SSH-2.0-OpenSSH_9.6\r\n\r\n",
    "cut after 200": TUNNEL,
}
"""What the proxy sends before it closes the connection."""


@define
class ConnectProxy:
    """``route``: the port of this machine that stands for a host and a port; None refuses the tunnel with 403.

    ``faults``: the faults of the next tunnels, in turn; None is no fault. ``heads`` are those of all requests.
    """

    route: Callable[[str, int], int | None]
    scheme: str = "http"
    port: int = 0
    faults: list[Fault | None] = field(factory=list)
    heads: list[bytes] = field(factory=list)
    open_tunnels: int = 0

    @property
    def url(self) -> str:
        """The address with user name and password."""
        return f"{self.scheme}://{QUOTED}@localhost:{self.port}"

    @property
    def name(self) -> str:
        """The address that errors show."""
        return f"{self.scheme}://localhost:{self.port}"

    @property
    def targets(self) -> list[str]:
        """The host and port of each CONNECT."""
        return [head.split(b" ")[1].decode() for head in self.heads]

    async def handle(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Answer one CONNECT and relay what follows."""
        head = await reader.readuntil(b"\r\n\r\n")
        self.heads.append(head)
        method, target, _ = head.split(b"\r\n")[0].decode().split(" ")
        authorization = f"Proxy-Authorization: Basic {SECRETS[2]}\r\n".encode()
        fault = self.faults.pop(0) if self.faults else None
        if authorization not in head:
            fault = "wrong password"
        host, _, number = target.rpartition(":")
        port = self.route(host, int(number))
        if method != "CONNECT" or port is None:
            fault = "forbidden"
        if fault == "silent":
            await reader.read()
        elif fault == "reset":
            writer.transport.abort()
        elif fault is not None:
            writer.write(FAULTS[fault])
        else:
            await self._relay(reader, writer, port or 0)

    async def _relay(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter, port: int) -> None:
        there, back = await asyncio.open_connection("127.0.0.1", port)
        writer.write(TUNNEL)
        self.open_tunnels += 1
        try:
            await asyncio.gather(_copy(reader, back), _copy(there, writer))
        finally:
            self.open_tunnels -= 1
            back.close()


async def _copy(source: asyncio.StreamReader, sink: asyncio.StreamWriter) -> None:
    """Copy until the source ends, and then end the sink."""
    with suppress(ConnectionError, ssl.SSLError):
        while data := await source.read(64 * 1024):
            sink.write(data)
            await sink.drain()
    sink.close()


@asynccontextmanager
async def connect_proxy(
    route: Callable[[str, int], int | None], tls: ssl.SSLContext | None = None
) -> AsyncIterator[ConnectProxy]:
    """Run a proxy; with ``tls`` it speaks https."""
    proxy = ConnectProxy(route, "https" if tls else "http")
    tasks: set[asyncio.Task[None]] = set()

    async def handle_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        try:
            await proxy.handle(reader, writer)
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError, ssl.SSLError):
            pass  # the client is gone, or the test is over
        finally:
            writer.close()
            tasks.discard(task)

    listener = await asyncio.start_server(handle_connection, "127.0.0.1", 0, ssl=tls)
    proxy.port = listener.sockets[0].getsockname()[1]
    try:
        yield proxy
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
