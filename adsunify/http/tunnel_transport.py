"""An httpx transport that connects through a proxy, for a client of a server.

httpx can use a proxy too, but it reports some failures of the proxy as failures of a request that was sent. Here every
failure before the tunnel is complete is an ``httpx.ConnectError``.
"""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator
from contextlib import contextmanager
from typing import Any

import httpcore
import httpx

from .egress import Egress

MAX_CONNECTIONS = 100
IDLE_TIMEOUT_SECONDS = 5.0


class TunnelTransport(httpx.AsyncBaseTransport):
    """Sends requests over a pool of tunnels, also to http addresses."""

    def __init__(self, egress: Egress) -> None:
        self._pool = httpcore.AsyncConnectionPool(
            ssl_context=egress.tls,
            max_connections=MAX_CONNECTIONS,
            keepalive_expiry=IDLE_TIMEOUT_SECONDS,
            network_backend=egress.make_sockets(),
        )

    async def handle_async_request(self, request: httpx.Request) -> httpx.Response:
        """Send the request. Raises the exceptions of httpx."""
        url = request.url
        core_request = httpcore.Request(
            request.method,
            httpcore.URL(scheme=url.raw_scheme, host=url.raw_host, port=url.port, target=url.raw_path),
            headers=request.headers.raw,
            content=request.stream,
            extensions=request.extensions,
        )
        with _map_errors():
            response = await self._pool.handle_async_request(core_request)
        return httpx.Response(
            response.status,
            headers=response.headers,
            stream=_ResponseStream(response.stream),
            extensions=response.extensions,
        )

    async def aclose(self) -> None:
        """Close all connections."""
        await self._pool.aclose()


class _ResponseStream(httpx.AsyncByteStream):
    def __init__(self, stream: Any) -> None:
        self._stream = stream

    async def __aiter__(self) -> AsyncIterator[bytes]:
        with _map_errors():
            async for part in self._stream:
                yield part

    async def aclose(self) -> None:
        await self._stream.aclose()


@contextmanager
def _map_errors() -> Iterator[None]:
    """Raise the exception of httpx with the same name as the exception of httpcore."""
    try:
        yield
    except (httpcore.TimeoutException, httpcore.NetworkError, httpcore.ProtocolError) as problem:
        raise getattr(httpx, type(problem).__name__)(str(problem)) from problem
