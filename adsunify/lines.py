"""HTTP/1.1 connections that are kept open: one request at a time on each, the one used last is used first.

httpx's pool looks at every connection for every request: with fifty executions at once it took ten times the processor
time of this, and more than all the rest. And it does not say when the first byte leaves: :meth:`Lines.exchange` does.
"""

from __future__ import annotations

import asyncio
import select
import ssl
import time
from collections import deque
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from typing import Any

import h11
from attrs import frozen

MAX_HEADER_BYTES = 100 * 1024
ADDRESS_SECONDS = 0.25
"""How long one address of a host may take before the next one is tried beside it."""

Place = tuple[str, int, bool]
"""Host, port, and whether TLS is spoken there."""
Headers = Sequence[tuple[bytes, bytes]]


@frozen
class Written:
    """A request as it is written; ``headers`` are all there are, ``host`` and ``content-length`` too."""

    method: str
    target: str
    headers: list[tuple[str, str]]
    content: bytes | None


@frozen
class Answer:
    """The head of an answer, and its body as it comes."""

    status: int
    headers: Headers
    body: AsyncIterator[bytes]


class Line(asyncio.Protocol):
    """One connection. Whatever comes while nothing was asked makes it useless: it would answer the next request."""

    def __init__(self) -> None:
        self.ended = asyncio.get_running_loop().create_future()
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=MAX_HEADER_BYTES)
        self._transport: Any = None
        self._news: asyncio.Future[None] | None = None
        self._asked = False
        self._spoiled = False
        self._fault: Exception | None = None

    # -- told by the loop -----------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        if self._asked:
            self._http.receive_data(data)
            self._tell()
        else:
            self.close()

    def eof_received(self) -> None:
        if self._asked and self._fault is None:
            self._http.receive_data(b"")
        self._spoiled = True
        self._tell()

    def connection_lost(self, problem: Exception | None) -> None:
        self._spoiled = True
        self._fault = problem or ConnectionError("the connection was closed")
        self._tell()
        self.ended.set_result(None)

    def _tell(self) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    # -- asked by an exchange -------------------------------------------------------------------------------------

    @property
    def usable(self) -> bool:
        """Whether a request may be written: nothing came, not even an end that the loop has not seen yet."""
        return not self._spoiled and not _readable(self._transport.get_extra_info("socket").fileno())

    def write(self, request: Written, writing: Callable[[], None]) -> None:
        """Write a request; nobody waits until it has left, since the answer tells."""
        events: list[h11.Event] = [h11.Request(method=request.method, target=request.target, headers=request.headers)]
        if request.content:
            events.append(h11.Data(data=request.content))
        content = b"".join(self._http.send(event) or b"" for event in (*events, h11.EndOfMessage()))
        if self._spoiled:
            raise ConnectionError("the connection was closed at once")
        self._asked = True
        writing()
        self._transport.write(content)

    async def answer(self) -> Answer:
        """The head of the answer, whatever comes before it."""
        while True:
            event = await self._event()
            if isinstance(event, h11.Response):
                return Answer(event.status_code, list(event.headers), self._body())
            if not isinstance(event, h11.InformationalResponse):
                raise ConnectionError("the connection ended without an answer")

    async def _body(self) -> AsyncIterator[bytes]:
        while isinstance(event := await self._event(), h11.Data):
            yield bytes(event.data)

    async def _event(self) -> Any:
        while (event := self._http.next_event()) is h11.NEED_DATA:
            if self._fault is not None:
                raise self._fault
            self._news = asyncio.get_running_loop().create_future()
            await self._news
        return event

    def free(self) -> bool:
        """Whether it can serve another request: the answer was read whole and nothing came after it."""
        done = self._http.our_state is h11.DONE and self._http.their_state is h11.DONE
        if self._spoiled or not done or self._http.trailing_data[0]:
            return False
        self._http.start_next_cycle()
        self._asked = False
        return True

    def close(self) -> None:
        self._spoiled = True
        self._transport.abort()


class Lines:
    """At most ``limit`` exchanges at once; idle connections are given up after ``idle`` seconds."""

    def __init__(self, tls: ssl.SSLContext, limit: int, idle: float, patience: float) -> None:
        tls.set_alpn_protocols(["http/1.1"])
        self._tls = tls
        self._seconds = idle
        self._patience = patience
        self._slots = asyncio.Semaphore(limit)
        self._idle: dict[Place, deque[tuple[float, Line]]] = {}

    @asynccontextmanager
    async def exchange(self, place: Place, request: Written, writing: Callable[[], None]) -> AsyncIterator[Answer]:
        """Write a request and give its answer; ``writing`` is called just before the first byte may leave.

        The connection serves others when the block ends, unless the answer was not read whole. ``patience`` seconds are
        waited for a slot, and as long for a connection. Raises OSError (TimeoutError, ssl.SSLError too) and
        h11.ProtocolError.
        """
        if self._slots.locked():
            async with asyncio.timeout(self._patience):
                await self._slots.acquire()
        else:
            await self._slots.acquire()
        try:
            line = self._kept(place) or await self._opened(place)
            try:
                line.write(request, writing)
                yield await line.answer()
            finally:
                if line.free():
                    self._idle.setdefault(place, deque()).append((time.monotonic(), line))
                else:
                    line.close()
        finally:
            self._slots.release()

    async def aclose(self) -> None:
        """Close all idle connections."""
        lines = [line for kept in self._idle.values() for _, line in kept]
        self._idle.clear()
        for line in lines:
            line.close()
        for line in lines:
            await line.ended

    def _kept(self, place: Place) -> Line | None:
        """An idle connection that is still good."""
        over = time.monotonic() - self._seconds
        for kept in self._idle.values():
            while kept and kept[0][0] < over:
                kept.popleft()[1].close()
        kept = self._idle.get(place, deque())
        while kept:
            line = kept.pop()[1]
            if line.usable:
                return line
            line.close()
        return None

    async def _opened(self, place: Place) -> Line:
        host, port, secure = place
        async with asyncio.timeout(self._patience):
            _, line = await asyncio.get_running_loop().create_connection(
                Line, host, port, ssl=self._tls if secure else None, happy_eyeballs_delay=ADDRESS_SECONDS
            )
        return line


def _readable(descriptor: int) -> bool:
    if not hasattr(select, "poll"):  # Windows
        return bool(select.select([descriptor], [], [], 0)[0])
    poll = select.poll()
    poll.register(descriptor, select.POLLIN)
    return bool(poll.poll(0))
