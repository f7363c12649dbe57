"""Connections that are kept open, one request at a time on each; the one that was used last is used first.

httpx's pool looks at every connection for every request: with fifty executions at once that costs more than the
requests themselves. Here a request costs the same however many connections there are.
"""

from __future__ import annotations

import asyncio
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress

import httpcore

Place = tuple[bytes, bytes, int | None]
FAULTS = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException, OSError)


class Lines:
    """At most ``limit`` requests at once; idle connections are given up after ``idle`` seconds."""

    def __init__(self, tls: ssl.SSLContext, limit: int, idle: float) -> None:
        self._tls = tls
        self._seconds = idle
        self._free = asyncio.Semaphore(limit)
        self._idle: dict[Place, deque[tuple[float, httpcore.AsyncHTTPConnection]]] = {}

    @asynccontextmanager
    async def exchange(self, request: httpcore.Request, patience: float) -> AsyncIterator[httpcore.Response]:
        """Send a request; its connection serves others when the block ends, unless the answer was not read whole.

        ``patience``: seconds to wait for a free connection. Raises TimeoutError, and what httpcore raises.
        """
        if self._free.locked():
            async with asyncio.timeout(patience):
                await self._free.acquire()
        else:
            await self._free.acquire()
        try:
            line = await self._line(request.url)
            try:
                response = await line.handle_async_request(request)
                try:
                    yield response
                finally:
                    with suppress(*FAULTS):  # the answer counts, not how the connection ends
                        await response.aclose()
            finally:
                if line.is_available():  # else it has closed itself
                    self._idle.setdefault(_place(request.url), deque()).append((time.monotonic(), line))
        finally:
            self._free.release()

    async def aclose(self) -> None:
        """Close all idle connections."""
        while self._idle:
            _, lines = self._idle.popitem()
            for _, line in lines:
                await _closed(line)

    async def _line(self, url: httpcore.URL) -> httpcore.AsyncHTTPConnection:
        """An idle connection that is still good, or a new one."""
        over = time.monotonic() - self._seconds
        for lines in self._idle.values():
            while lines and lines[0][0] < over:
                await _closed(lines.popleft()[1])
        kept = self._idle.get(_place(url))
        while kept:
            line = kept.pop()[1]
            if not line.has_expired():
                return line
            await _closed(line)
        return httpcore.AsyncHTTPConnection(url.origin, ssl_context=self._tls)


def _place(url: httpcore.URL) -> Place:
    return url.scheme, url.host, url.port


async def _closed(line: httpcore.AsyncHTTPConnection) -> None:
    with suppress(*FAULTS):
        await line.aclose()
