"""Sends httpx requests over an httpcore pool, with a network backend that records when a request leaves the machine.

httpcore reaches the network only through its ``AsyncNetworkBackend``. Our backend connects to exactly the given
address, and calls :meth:`RequestProgress.begin_sending` at the first ``write`` of a request. The bytes of the TLS
handshake do not pass through this ``write``, and neither do those of a proxy's ``CONNECT``
(:mod:`adsunify.http.egress`).
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

from .egress import Egress

CONNECT_TIMEOUT_SECONDS = 10.0
"""The maximum time to connect, TLS included."""
IDLE_TIMEOUT_SECONDS = 3.0
"""How long a pool keeps an idle connection. Servers close idle connections after 5 s or more."""
MAX_CONNECTIONS = 10
"""The maximum number of connections of one pool."""
MAX_READ_BYTES = 16 * 1024
"""The maximum number of bytes of one read."""
PROGRESS_EXTENSION = "adsunify_progress"
"""The extension of an httpx request that holds its :class:`RequestProgress`."""


def _allow_sending() -> None:
    """Allow every request to be sent."""


@define
class RequestProgress:
    """The progress of one request.

    Attributes:
        check_before_send: called right before the first byte of the request is sent. It raises RequestNotSent to
            prevent sending.
        state: "connecting" when httpcore has requested a connection, "sent" when the first byte may have been sent.
        status: the status of the response, None before its head has arrived.
        headers: the headers of the response, empty before its head has arrived.
    """

    check_before_send: Callable[[], None] = _allow_sending
    state: Literal["new", "connecting", "sent"] = "new"
    status: int | None = None
    headers: Mapping[str, str] = field(factory=dict)

    def begin_connecting(self) -> None:
        """Record that a connection is made for the request.

        Raises:
            ResponseLost: the request may have been sent over another connection already.
        """
        if self.state == "sent":
            raise ResponseLost("The HTTP client opened a second connection although the request may have been sent.")
        self.state = "connecting"

    def begin_sending(self) -> None:
        """Record that bytes of the request are about to be sent, unless ``check_before_send`` raises."""
        if self.state != "sent":
            self.check_before_send()
            self.state = "sent"

    def make_error(self, message: str, *, repeatable: bool = True) -> RequestNotSent | ResponseLost:
        """Make the error of a failed request: RequestNotSent only if it was connecting, else ResponseLost.

        A request that never asked for a connection also counts as lost, because that is a defect.
        """
        if self.state == "connecting":
            return RequestNotSent(message)
        return ResponseLost(message, self.status, self.headers, repeatable)


class NetworkBackend(httpcore.AsyncNetworkBackend):
    """Connects to ``address`` for every host, or to the host itself if ``address`` is None.

    ``sockets`` opens the connections. ``progress`` belongs to the request that is being sent. ``room`` is the number of
    bytes that may still be read.
    """

    def __init__(
        self, sockets: httpcore.AsyncNetworkBackend, address: str | None = None, room: float = math.inf
    ) -> None:
        self.progress = RequestProgress()
        self.room = room
        self._address = address
        self._sockets = sockets

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Open a connection, and record it in the progress of the request."""
        self.progress.begin_connecting()
        stream = await self._sockets.connect_tcp(self._address or host, port, timeout, local_address, socket_options)
        return NetworkStream(stream, self)


class NetworkStream(httpcore.AsyncNetworkStream):
    """A stream that bounds reads and records writes in its backend."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, backend: NetworkBackend) -> None:
        self._stream = stream
        self._backend = backend

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read at most as many bytes as the backend has room for."""
        most = min(max_bytes, MAX_READ_BYTES, self._backend.room)
        if most <= 0:
            raise httpcore.ReadError("the response is too long")
        try:
            data = await self._stream.read(int(most), timeout)
        except ssl.SSLError as problem:  # a broken record or a late alert, which httpcore does not map
            raise httpcore.ReadError(str(problem)) from problem
        self._backend.room -= len(data)
        return data

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write bytes, unless the check before sending raises."""
        self._backend.progress.begin_sending()
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the stream."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Start TLS on the stream, and close the stream if that fails."""
        try:
            stream = await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except BaseException:
            await self.aclose()  # httpcore closes it after an error, but not after a cancellation
            raise
        return NetworkStream(stream, self._backend)

    def get_extra_info(self, info: str) -> Any:
        """Return the value of ``info`` of the underlying stream."""
        return self._stream.get_extra_info(info)


class PoolTransport(httpx.AsyncBaseTransport):
    """An httpx transport over one httpcore pool, which sends one request at a time. Close it, or use ``async with``.

    It does not follow redirects, repeat requests, or read proxies from the environment.

    Args:
        egress: the TLS settings and the proxy.
        address: connect to this address instead of the request's host, also through a proxy. TLS still verifies
            the host name.
        room: how many bytes may be read in all.

    Attributes:
        via: names the proxy in error messages; empty without one.
    """

    def __init__(self, egress: Egress, *, address: str | None = None, room: float = math.inf) -> None:
        self.via = egress.via
        self._backend = NetworkBackend(egress.make_sockets(), address, room)
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=egress.tls,
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=IDLE_TIMEOUT_SECONDS,
            retries=0,
            network_backend=self._backend,
        )
        self._send_lock = asyncio.Lock()

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request and record its progress in its extension :data:`PROGRESS_EXTENSION`.

        Raises:
            Exception: the exceptions of httpcore and of the progress.
        """
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
        """Close all connections of the pool."""
        if self._pool.connections:  # most flows send nothing, and httpcore's shield against cancellation takes long
            await self._pool.aclose()


class _ResponseStream(httpx.AsyncByteStream):
    """Adapts the body of an httpcore response to httpx."""

    def __init__(self, stream: Any) -> None:
        self._stream = stream

    def __aiter__(self) -> AsyncIterator[bytes]:
        parts: AsyncIterator[bytes] = self._stream.__aiter__()
        return parts

    async def aclose(self) -> None:
        await self._stream.aclose()


def describe_error(problem: Exception) -> str:
    """Describe the reason of a failure in words."""
    if isinstance(problem, TimeoutError | httpcore.TimeoutException):
        return "it took too long"
    return str(problem) or type(problem).__name__
