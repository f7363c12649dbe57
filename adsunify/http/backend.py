"""Connections: httpx requests over an httpcore pool, with a network backend that knows when a request leaves.

httpcore reaches the network only through its ``AsyncNetworkBackend``. Ours connects to exactly the address it is given,
and calls :meth:`RequestProgress.leave` at the first ``write`` of a request. The bytes of a TLS handshake do not pass
there.
"""

from __future__ import annotations

import asyncio
import math
import ssl
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import Any, Literal

import httpcore
import httpx
from attrs import define, field

from adsunify.errors import RequestNotSent, ResponseLost

CONNECT_TIMEOUT_SECONDS = 10.0
"""How long a connection may take, TLS included."""
IDLE_TIMEOUT_SECONDS = 3.0
"""How long a pool keeps an idle connection: less than servers do (5 s and more), which may close it at any moment."""
MAX_CONNECTIONS = 10
"""The most connections of one pool."""
MAX_READ_BYTES = 16 * 1024
"""The most bytes of one read."""
PROGRESS_EXTENSION = "adsunify_progress"
"""The extension of an httpx request that holds its :class:`RequestProgress`."""


def _allow_sending() -> None:
    """Let every request leave."""


@define
class RequestProgress:
    """How far one request got; ``status`` and ``headers`` are set when the head of the response is there.

    ``check_before_send`` is called right before the first byte of the request leaves; it raises RequestNotSent to
    prevent that. ``state`` is "connecting" once the backend was asked for a connection, "sent" once the first byte may
    have left.
    """

    check_before_send: Callable[[], None] = _allow_sending
    state: Literal["new", "connecting", "sent"] = "new"
    status: int | None = None
    headers: Mapping[str, str] = field(factory=dict)

    def begin_connecting(self) -> None:
        """A connection is made for the request; raises ResponseLost where the request may have left over another."""
        if self.state == "sent":
            raise ResponseLost("A second connection was asked for, although the request may have left.")
        self.state = "connecting"

    def begin_sending(self) -> None:
        """Bytes of the request are about to leave; raises RequestNotSent where ``check_before_send`` does."""
        if self.state != "sent":
            self.check_before_send()
            self.state = "sent"

    def make_error(self, message: str, *, repeatable: bool = True) -> RequestNotSent | ResponseLost:
        """What is known of a request that failed; lost too where the backend was never asked, which means a defect."""
        if self.state == "connecting":
            return RequestNotSent(message)
        return ResponseLost(message, self.status, self.headers, repeatable)


class NetworkBackend(httpcore.AsyncNetworkBackend):
    """Connects to ``address`` whatever host is asked for, or to that host where it is None.

    ``progress`` belongs to the request that is being sent. ``room``: how many bytes may still be read.
    """

    def __init__(self, address: str | None = None, room: float = math.inf) -> None:
        self.progress = RequestProgress()
        self.room = room
        self._address = address
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        self.progress.begin_connecting()
        stream = await self._sockets.connect_tcp(self._address or host, port, timeout, local_address, socket_options)
        return NetworkStream(stream, self)


class NetworkStream(httpcore.AsyncNetworkStream):
    """A stream that asks the backend before it writes and reads."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, backend: NetworkBackend) -> None:
        self._stream = stream
        self._backend = backend

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        most = min(max_bytes, MAX_READ_BYTES, self._backend.room)
        if most <= 0:
            raise httpcore.ReadError("the response is too long")
        try:
            data = await self._stream.read(int(most), timeout)
        except ssl.SSLError as problem:  # httpcore does not map it: a broken record, or an alert after the handshake
            raise httpcore.ReadError(str(problem)) from problem
        self._backend.room -= len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        self._backend.progress.begin_sending()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self.aclose()  # httpcore closes it after an error, but not after a cancellation
            raise
        return NetworkStream(stream, self._backend)

    def get_extra_info(self, info: str) -> Any:
        return self._stream.get_extra_info(info)


class PoolTransport(httpx.AsyncBaseTransport):
    """An httpx transport over one httpcore pool; it sends one request at a time. Close it, or use ``async with``.

    ``address``: where to connect instead of the request's host, whose name TLS still verifies. ``room``: how many bytes
    may be read in all. Nothing is followed, repeated or taken from the environment.
    """

    def __init__(self, tls: ssl.SSLContext, *, address: str | None = None, room: float = math.inf) -> None:
        self._backend = NetworkBackend(address, room)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=tls,
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=IDLE_TIMEOUT_SECONDS,
            retries=0,
            network_backend=self._backend,
        )
        self._send_lock = asyncio.Lock()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request, whose extension :data:`PROGRESS_EXTENSION` is told of it; raises what httpcore raises."""
        url = httpcore.URL(
            scheme=request.url.raw_scheme,
            host=request.url.raw_host,
            port=request.url.port,
            target=request.url.raw_path,
        )
        core_request = httpcore.Request(
            request.method,
            url,
            headers=request.headers.raw,
            content=request.stream,
            extensions={
                "timeout": {"connect": CONNECT_TIMEOUT_SECONDS, "pool": CONNECT_TIMEOUT_SECONDS},
                **request.extensions,
            },
        )
        async with self._send_lock:
            self._backend.progress = request.extensions[PROGRESS_EXTENSION]
            response = await self._pool.handle_async_request(core_request)
        return httpx.Response(response.status, headers=response.headers, stream=_ResponseStream(response.stream))

    async def aclose(self) -> None:
        await self._pool.aclose()


class _ResponseStream(httpx.AsyncByteStream):
    """The body of a response of httpcore, as httpx wants it."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        parts: AsyncIterator[bytes] = self._stream.__aiter__()
        return parts

    async def aclose(self) -> None:
        await self._stream.aclose()


def describe_error(problem: Exception) -> str:
    """The reason of a failure in words."""
    if isinstance(problem, TimeoutError | httpcore.TimeoutException):
        return "it took too long"
    return str(problem) or type(problem).__name__
