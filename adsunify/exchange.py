"""One HTTP/1.1 connection to one address: a request out, a bounded answer in, again while both sides like.

asyncio moves the bytes, and :mod:`adsunify.messages` knows what they say. The address is whatever the caller has
checked, and TLS verifies the name all the same. Nothing is followed, and nothing is taken from the environment.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import Callable, Sequence

from .messages import Answer, Malformed, Reading, request

IDLE_SECONDS = 15.0
"""How long a connection is kept for another request."""
IDLE_EACH = 400
"""So many are kept to one place: many subscriptions may lead to one host."""

_BUFFER = 16 * 1024

Place = tuple[str, str, int]
"""Scheme, host name and port."""


class LineLost(Exception):
    """The connection ended, or what came over it is no HTTP. ``heard``: bytes of an answer had arrived."""

    def __init__(self, reason: str, heard: bool) -> None:
        super().__init__(reason)
        self.heard = heard


class Line(asyncio.BufferedProtocol):
    """A connection. ``ready``: it may carry another request."""

    def __init__(self) -> None:
        self._buffer = bytearray(_BUFFER)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._reading = Reading(0)
        self._spent = False

    @classmethod
    async def opened(cls, address: str, port: int, name: str, tls: ssl.SSLContext | None) -> Line:
        """Connect to ``address``; with ``tls``, to whoever proves to be ``name``. Raises OSError."""
        loop = asyncio.get_running_loop()
        server_name = None if tls is None else name
        _, line = await loop.create_connection(cls, address, port, ssl=tls, server_hostname=server_name)
        return line

    @property
    def ready(self) -> bool:
        return not self._spent and self._answer is None

    def close(self) -> None:
        """End the connection at once."""
        self._spent = True
        if self._transport is not None:
            self._transport.abort()

    async def ask(
        self, method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes | None, limit: int
    ) -> Answer:
        """Send a request and wait for its answer; the body is cut after ``limit`` bytes (inflated).

        Raises ValueError for a request that cannot be written; LineLost; zlib.error as :class:`Body`. A connection
        whose answer was not read to its end is closed, also where the caller is cancelled.
        """
        if self._transport is None or not self.ready:
            raise LineLost("the connection is closed", heard=False)
        written = request(method, target, headers, content)
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answer = answer
        reading = self._reading = Reading(limit)
        self._transport.write(written)
        try:
            return await answer
        finally:
            self._answer = None
            if reading.answer is None or not reading.again:
                self.close()

    # -- asyncio says ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """No more is read than may be kept."""
        return memoryview(self._buffer)[: min(_BUFFER, self._reading.room)]

    def buffer_updated(self, nbytes: int) -> None:
        self._read(self._reading.take, self._buffer[:nbytes])

    def eof_received(self) -> None:
        self._read(self._reading.end)

    def connection_lost(self, reason: Exception | None) -> None:
        self._spent = True
        self._fail(LineLost("the connection ended", self._reading.heard))

    def _read(self, step: Callable[..., None], *data: bytes | bytearray) -> None:
        reading, answer = self._reading, self._answer
        if answer is None or answer.done():
            self.close()  # nobody asked, or the rest is not wanted
            return
        try:
            step(*data)
        except (Malformed, zlib.error) as problem:
            self.close()
            self._fail(problem if isinstance(problem, zlib.error) else LineLost(str(problem), reading.heard))
        else:
            if reading.answer is not None:
                answer.set_result(reading.answer)

    def _fail(self, problem: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(problem)


class Lines:
    """Connections that wait for another request to their place. Each leads to the address checked when it was made."""

    def __init__(self) -> None:
        self._waiting: dict[Place, list[tuple[float, Line]]] = {}

    def take(self, place: Place) -> Line | None:
        """The connection used last, None where none waits."""
        waiting = self._waiting.get(place, [])
        over = time.monotonic() - IDLE_SECONDS
        while waiting:
            kept_at, line = waiting.pop()
            if line.ready and kept_at > over:
                return line
            line.close()
        return None

    def keep(self, place: Place, line: Line) -> None:
        """Keep a connection whose answer was read to its end."""
        waiting = self._waiting.setdefault(place, [])
        if line.ready and len(waiting) < IDLE_EACH:
            waiting.append((time.monotonic(), line))
        else:
            line.close()

    def tidy(self) -> None:
        """Close those that waited too long."""
        over = time.monotonic() - IDLE_SECONDS
        for place, waiting in list(self._waiting.items()):
            while waiting and (waiting[0][0] <= over or not waiting[0][1].ready):
                waiting.pop(0)[1].close()
            if not waiting:
                del self._waiting[place]

    def close(self) -> None:
        """Close all."""
        for waiting in self._waiting.values():
            for _, line in waiting:
                line.close()
        self._waiting.clear()
