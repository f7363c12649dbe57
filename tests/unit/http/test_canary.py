"""What we rely on of httpx and httpcore. Where this fails after an update, read `adsunify/http/backend.py` again."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import httpcore
import httpx
import pytest

from adsunify.errors import RequestNotSent
from adsunify.http.transport import HttpTransport

from .certificates import Authority
from .server import HOST, OK, READ, WRITE


class Watching(httpcore.AsyncNetworkBackend):
    """Notes every call of the backend and its streams, in order."""

    def __init__(self) -> None:
        self.calls: list[str] = []
        self.task = asyncio.current_task()

    async def connect_tcp(self, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        self.note("connect_tcp")
        return WatchingStream(await httpcore.AnyIOBackend().connect_tcp(*args, **more), self)

    def note(self, call: str) -> None:
        assert asyncio.current_task() is self.task
        self.calls.append(call)


class WatchingStream(httpcore.AsyncNetworkStream):
    def __init__(self, stream: httpcore.AsyncNetworkStream, watching: Watching) -> None:
        self.stream, self.watching = stream, watching

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        self.watching.note("read")
        return await self.stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self.watching.note("write")
        await self.stream.write(buffer, timeout)

    async def aclose(self) -> None:
        self.watching.note("aclose")
        await self.stream.aclose()

    async def start_tls(self, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
        self.watching.note("start_tls")
        return WatchingStream(await self.stream.start_tls(*args, **more), self.watching)

    def get_extra_info(self, info: str) -> Any:
        return self.stream.get_extra_info(info)


async def test_a_pool_reaches_the_network_through_its_backend_alone(tmp_path: Path) -> None:
    """It connects, shakes hands, writes the request, and reads, in this order, in the caller's task.

    An error of a write comes out as it is, a pool that is closed closes its connections, and no connection is made
    that the backend did not make.
    """
    authority = Authority(tmp_path)

    async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(OK)
        writer.close()

    listener = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=authority.server("localhost"))
    watching = Watching()
    pool = httpcore.AsyncConnectionPool(
        ssl_context=authority.make_client_context(), retries=0, network_backend=watching
    )
    async with listener, pool:
        url = f"https://localhost:{listener.sockets[0].getsockname()[1]}/a/../b"
        response = await pool.request("GET", url, extensions={"target": b"/a/../b"})
        assert (response.status, response.content) == (200, b'{"id":"777"}')
    assert list(dict.fromkeys(watching.calls)) == ["connect_tcp", "start_tls", "write", "read", "aclose"]


class Refused(Exception):
    """An error of ours."""


@pytest.mark.parametrize("method", ["connect_tcp", "write"])
async def test_an_error_of_the_backend_comes_out_as_it_is(method: str) -> None:
    class Stream(httpcore.AsyncMockStream):
        async def write(self, buffer: bytes, timeout: float | None = None) -> None:
            raise Refused("write")

    class Backend(httpcore.AsyncMockBackend):
        async def connect_tcp(self, *args: Any, **more: Any) -> httpcore.AsyncNetworkStream:
            if method == "connect_tcp":
                raise Refused(method)
            return Stream([])

    async with httpcore.AsyncConnectionPool(network_backend=Backend([])) as pool:
        with pytest.raises(Refused, match=method):
            await pool.request("POST", "http://network.example/", content=b"{}")


async def test_the_transport_uses_what_is_watched_here(monkeypatch: pytest.MonkeyPatch) -> None:
    """Every request makes its connection with a pool of httpcore, with a backend of ours, and no retries."""
    pool_arguments: list[dict[str, Any]] = []
    create = httpcore.AsyncConnectionPool.__init__

    def record_pool(pool: httpcore.AsyncConnectionPool, **more: Any) -> None:
        pool_arguments.append(more)
        create(pool, **more)

    monkeypatch.setattr(httpcore.AsyncConnectionPool, "__init__", record_pool)
    for request in (READ, WRITE):
        with pytest.raises(RequestNotSent):
            await HttpTransport("http://127.0.0.1:9").send(request, hosts=(HOST,), timeout=0.2)
    assert all(
        arguments["retries"] == 0 and isinstance(arguments["network_backend"], httpcore.AsyncNetworkBackend)
        for arguments in pool_arguments
    )
    assert len(pool_arguments) >= 2


def test_the_versions_are_those_that_were_read() -> None:
    assert httpx.__version__.startswith("0.28.") and httpcore.__version__.startswith("1.0.")
