"""A server on 127.0.0.1 that speaks exactly the bytes a test wants, and remembers what reached it."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager

from attrs import define, field

from adsunify.http.messages import Request, Response
from adsunify.http.transport import HttpTransport

Script = Callable[["Connection"], Awaitable[None]]

HOST = "network.example"
WRITE = Request("POST", f"https://{HOST}/v1/things", body={"name": "x"}, encoding="json", kind="write")
READ = Request("GET", f"https://{HOST}/v1/things")
OK = b'HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: 12\r\n\r\n{"id":"777"}'


@define
class Connection:
    """One accepted connection; ``requests`` are all requests the server ever read whole."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    number: int
    requests: list[bytes]

    async def request(self) -> bytes:
        """Read one whole request."""
        head = await self.reader.readuntil(b"\r\n\r\n")
        length = 0
        for line in head.split(b"\r\n"):
            if line.lower().startswith(b"content-length:"):
                length = int(line.split(b":")[1])
        body = await self.reader.readexactly(length)
        self.requests.append(head + body)
        return head + body

    async def say(self, data: bytes) -> None:
        self.writer.write(data)
        await self.writer.drain()

    def reset(self) -> None:
        """Close with RST, not FIN."""
        self.writer.transport.abort()


@define
class Server:
    """``url`` is what the transport takes for the simulated networks."""

    url: str
    port: int
    connections: int = 0
    requests: list[bytes] = field(factory=list)


@asynccontextmanager
async def serve_script(script: Script, tls: ssl.SSLContext | None = None) -> AsyncIterator[Server]:
    """Serve every connection with the script; it is closed when the script returns."""
    tasks: set[asyncio.Task[None]] = set()

    async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        tasks.add(task)
        server.connections += 1
        try:
            await script(Connection(reader, writer, server.connections, server.requests))
        except (asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            pass  # the client is gone, or the test is over
        finally:
            writer.close()
            tasks.discard(task)

    listener = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=tls)
    port = listener.sockets[0].getsockname()[1]
    server = Server(f"http://127.0.0.1:{port}", port)
    try:
        yield server
    finally:
        listener.close()
        for task in list(tasks):
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)


def answer_in_turn(*answers: bytes) -> Script:
    """One answer per request, in turn; the last one again and again."""
    answer_count = 0

    async def script(connection: Connection) -> None:
        nonlocal answer_count
        while True:
            await connection.request()
            await connection.say(answers[min(answer_count, len(answers) - 1)])
            answer_count += 1

    return script


def answer(status: int, body: bytes = b"{}", *headers: str) -> bytes:
    """The bytes of an answer."""
    lines = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", *headers, "", ""]
    return "\r\n".join(lines).encode() + body


async def send(server: Server, request: Request, timeout: float = 5.0) -> Response:
    async def at_once(_: float) -> None:
        return None

    sending = HttpTransport(server.url, sleep=at_once)
    return await sending.send(request, hosts=(HOST,), timeout=timeout)
