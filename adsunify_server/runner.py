"""The listener: answers requests that aiohttp refuses before any handler with problem details.

It limits the number of connections, the time of a request head, and the time between requests.
"""

from __future__ import annotations

import asyncio
import errno
import gc
import logging
import resource
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any
from uuid import uuid4

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify_server.problems import http_problem, problem_response

log = logging.getLogger("adsunify.server")
MAX_LINE_BYTES = 32 * 1024
"""The longest request line: a native id, a cursor and a search, every character of them percent-encoded."""
HEAD_TIMEOUT_SECONDS = 10.0
"""A connection is closed if a request head is not complete this many seconds after its first byte."""
IDLE_TIMEOUT_SECONDS = 75.0
"""A connection is closed if it is idle for this many seconds. Reverse proxies close idle connections after 60 s."""
READ_BYTES = 64 * 1024
"""How much the server reads of a connection before it serves the others. The default of asyncio is 256 KiB."""
MAX_CONNECTIONS = 4096
FULL_RESPONSE = b"HTTP/1.1 503 Service Unavailable\r\nRetry-After: 1\r\nContent-Length: 0\r\nConnection: close\r\n\r\n"
"""The response to a connection beyond the limit."""
FULL_LOG_SECONDS = 1.0
RESOURCE_ERRNOS = (errno.EMFILE, errno.ENFILE, errno.ENOBUFS, errno.ENOMEM)
Handler = Callable[[web.BaseRequest], Awaitable[web.StreamResponse]]


def get_max_connections() -> int:
    """Return how many connections of callers this process accepts: half of its descriptors, 4,096 at most.

    The other half serves the database, the networks and the receivers of webhooks.
    """
    descriptors, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    return MAX_CONNECTIONS if descriptors == resource.RLIM_INFINITY else min(MAX_CONNECTIONS, descriptors // 2)


class ServerRunner(web.AppRunner):
    """Runs the application. ``shutdown_seconds``: how long requests in flight may take to finish."""

    def __init__(self, app: web.Application, shutdown_seconds: float) -> None:
        super().__init__(app, access_log=None, shutdown_timeout=shutdown_seconds)

    async def setup(self) -> None:
        """Prepare to serve. The garbage collector skips the objects made until then, so that requests wait less."""
        await super().setup()
        asyncio.get_running_loop().set_exception_handler(AcceptErrorHandler())
        gc.collect()
        gc.freeze()

    async def _make_server(self) -> web.Server:
        server = await super()._make_server()
        handler = partial(_handle_expectation, server.request_handler)
        return _Listener(
            handler,
            request_factory=server.request_factory,
            access_log=None,
            max_line_size=MAX_LINE_BYTES,
            keepalive_timeout=IDLE_TIMEOUT_SECONDS,
            auto_decompress=False,  # a body with a Content-Encoding is refused before it is unpacked
        )


class AcceptErrorHandler:
    """The loop's exception handler. asyncio reports a failed accept 128 times a second; this logs one line."""

    def __init__(self) -> None:
        self._last: float | None = None

    def __call__(self, loop: asyncio.AbstractEventLoop, context: dict[str, Any]) -> None:
        """Log a connection that could not be accepted, at most once a second; leave other errors to asyncio."""
        failure = context.get("exception")
        if not isinstance(failure, OSError) or failure.errno not in RESOURCE_ERRNOS or "socket" not in context:
            loop.default_exception_handler(context)
        elif self._last is None or loop.time() - self._last >= FULL_LOG_SECONDS:
            self._last = loop.time()
            log.error("No connection can be accepted: %s", failure.strerror)


class _Listener(web.Server):
    def __init__(self, handler: Handler, **settings: Any) -> None:
        super().__init__(handler, **settings)
        self.max_connections = get_max_connections()
        self.open_connections = 0
        self.read_buffer = memoryview(bytearray(READ_BYTES))

    def __call__(self) -> web.RequestHandler:
        return _Connection(self, loop=self._loop, **self._kwargs)


class _Connection(web.RequestHandler, asyncio.BufferedProtocol):
    def __init__(self, listener: _Listener, **settings: Any) -> None:
        super().__init__(listener, **settings)
        self._listener = listener
        self._head_timer: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Start to read. A connection beyond the limit gets 503 and is closed."""
        self._listener.open_connections += 1
        if self._listener.open_connections > self._listener.max_connections:
            assert isinstance(transport, asyncio.Transport)
            self._force_close = True
            transport.write(FULL_RESPONSE)
            transport.close()
            return
        super().connection_made(transport)
        self._start_head_timer()

    def connection_lost(self, exc: BaseException | None) -> None:
        """Make room for another connection."""
        self._listener.open_connections -= 1
        self._stop_head_timer()
        super().connection_lost(exc)

    def get_buffer(self, sizehint: int) -> memoryview:
        """Return the buffer that all connections share. Each read is copied from it before the next read."""
        return self._listener.read_buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse the bytes that have arrived in the buffer."""
        self.data_received(bytes(self._listener.read_buffer[:nbytes]))

    def data_received(self, data: bytes) -> None:
        """Parse bytes. The timer of a request head runs from its first byte to its last."""
        super().data_received(data)
        if self._messages:
            self._stop_head_timer()
        elif data and self._head_timer is None and self._is_idle():
            self._start_head_timer()

    def _is_idle(self) -> bool:
        """Whether no request is in progress, so that the next bytes belong to a request head."""
        return self._waiter is not None and not self._waiter.done()

    def _start_head_timer(self) -> None:
        self._head_timer = self._loop.call_later(HEAD_TIMEOUT_SECONDS, self.force_close)

    def _stop_head_timer(self) -> None:
        if self._head_timer is not None:
            self._head_timer.cancel()
            self._head_timer = None

    def handle_error(
        self,
        request: web.BaseRequest,
        status: int = 500,
        exc: BaseException | None = None,
        message: str | None = None,
    ) -> web.StreamResponse:
        """Answer without the message of aiohttp, which repeats received bytes: they may hold a token."""
        if request.writer.output_size > 0:
            raise ConnectionError("The response has already started.")
        if status < 500:
            return _closing_response(http_problem(400))
        log.error("A request failed outside of its handler.", exc_info=exc)
        return _closing_response(AdsunifyError("", outcome="unknown"))


async def _handle_expectation(handler: Handler, request: web.BaseRequest) -> web.StreamResponse:
    try:
        return await handler(request)
    except web.HTTPExpectationFailed:
        return _closing_response(http_problem(400))


def _closing_response(error: AdsunifyError) -> web.StreamResponse:
    request_id = uuid4().hex
    answer = problem_response(error, request_id, {"X-Request-Id": request_id, "Cache-Control": "no-store"})
    answer.force_close()
    return answer
