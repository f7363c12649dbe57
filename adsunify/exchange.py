"""One HTTP/1.1 connection to one address: a request out, a bounded answer in, again while both sides like.

asyncio moves the bytes and h11 reads them; the address is whatever the caller has checked, and TLS verifies the name
all the same. Nothing is followed, and nothing is taken from the environment.
"""

from __future__ import annotations

import asyncio
import ssl
import time
import zlib
from collections.abc import Mapping, Sequence

import h11
from attrs import frozen

HEAD_BYTES = 16 * 1024
"""The longest head of an answer."""
IDLE_SECONDS = 15.0
"""How long a connection is kept for another request."""
IDLE_EACH = 50
"""So many are kept to one place."""

_PIECE = 1024 * 1024
_BUFFER = 16 * 1024

Place = tuple[str, str, int]
"""Scheme, host name and port."""


class LineLost(Exception):
    """The connection ended, or what came over it is no HTTP. ``heard``: bytes of an answer had arrived."""

    def __init__(self, reason: str, heard: bool) -> None:
        super().__init__(reason)
        self.heard = heard


@frozen
class Answer:
    """Header names in lower case; ``whole`` false where the body was longer than the limit, and was cut there."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    whole: bool


class Body:
    """The body of an answer, inflated, at most ``limit`` bytes of it.

    Raises zlib.error where the body is not what its Content-Encoding says, or ends too early.
    """

    def __init__(self, coding: str, limit: int) -> None:
        coding = coding.strip().lower()
        if coding not in ("gzip", "x-gzip", "deflate", "identity", ""):
            raise zlib.error("an encoding that was not asked for")
        self._member = None if coding in ("identity", "") else zlib.decompressobj(wbits=47)
        self._complete = True
        self._limit = limit
        self.content = bytearray()

    def append(self, chunk: bytes) -> bool:
        """Take what arrived; false: there is more than the limit, and the rest is not wanted."""
        if self._member is None:
            self.content += chunk
        else:
            self._inflate(chunk)
        if len(self.content) <= self._limit:
            return True
        del self.content[self._limit :]
        return False

    def _inflate(self, chunk: bytes) -> None:
        """gzip (one member or several) and zlib, never far beyond the limit whatever the input claims."""
        while chunk and len(self.content) <= self._limit:
            if self._member is None or self._member.eof:
                self._member = zlib.decompressobj(wbits=47)
            self.content += self._member.decompress(chunk, min(_PIECE, self._limit + 1 - len(self.content)))
            chunk = self._member.unused_data if self._member.eof else self._member.unconsumed_tail
        self._complete = self._member is None or self._member.eof

    def end(self) -> None:
        """Nothing more comes."""
        if not self._complete:
            raise zlib.error("the body ends too early")


class Line(asyncio.BufferedProtocol):
    """A connection. ``ready``: it may carry another request."""

    def __init__(self) -> None:
        self._http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
        self._buffer = bytearray(_BUFFER)
        self._transport: asyncio.Transport | None = None
        self._answer: asyncio.Future[Answer] | None = None
        self._limit = self._head = 0
        self._response: h11.Response | None = None
        self._body = Body("", 0)
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
        http = self._http
        sized = [] if content is None else [("content-length", str(len(content)))]
        try:
            if http.our_state is not h11.IDLE:
                http.start_next_cycle()
            written = http.send(h11.Request(method=method, target=target, headers=[*headers, *sized]))
            if content:
                written = (written or b"") + (http.send(h11.Data(data=content)) or b"")
            http.send(h11.EndOfMessage())
        except h11.LocalProtocolError as reason:
            self.close()
            raise ValueError(str(reason)) from reason
        answer: asyncio.Future[Answer] = asyncio.get_running_loop().create_future()
        self._answer = answer
        self._limit, self._head, self._response = limit, 0, None
        self._transport.write(written or b"")
        try:
            return await answer
        finally:
            self._answer = None
            if http.our_state is not h11.DONE or http.their_state is not h11.DONE or http.trailing_data[0]:
                self.close()

    # -- asyncio says ---------------------------------------------------------------------------------------------

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, asyncio.Transport)
        self._transport = transport

    def get_buffer(self, sizehint: int) -> memoryview:
        """No more is read than may be kept: of a head its longest, of a body what is left of the limit."""
        left = HEAD_BYTES - self._head if self._response is None else self._limit + 1 - len(self._body.content)
        return memoryview(self._buffer)[: max(1, min(_BUFFER, left))]

    def buffer_updated(self, nbytes: int) -> None:
        self._heard(bytes(self._buffer[:nbytes]))

    def eof_received(self) -> None:
        self._heard(b"")

    def connection_lost(self, reason: Exception | None) -> None:
        self._spent = True
        self._fail(LineLost("the connection ended", self._head > 0))

    def _heard(self, data: bytes) -> None:
        if self._answer is None or self._answer.done():
            self.close()  # nobody asked, or the rest is not wanted
            return
        try:
            self._read(data, self._answer)
        except (h11.RemoteProtocolError, zlib.error) as problem:
            self.close()
            self._fail(problem if isinstance(problem, zlib.error) else LineLost(str(problem), self._head > 0))

    def _read(self, data: bytes, answer: asyncio.Future[Answer]) -> None:
        self._http.receive_data(data)
        if self._response is None:
            self._head += len(data)
            if self._head >= HEAD_BYTES + 1:
                raise h11.RemoteProtocolError("the head of the answer is too long")
        while True:
            event = self._http.next_event()
            if isinstance(event, h11.Response):
                self._response = event
                self._body = Body(_header(event, b"content-encoding"), self._limit)
            elif isinstance(event, h11.Data):
                if not self._body.append(bytes(event.data)):
                    self._done(answer, whole=False)
                    return
            elif isinstance(event, h11.EndOfMessage):
                self._body.end()
                self._done(answer, whole=True)
                return
            elif not isinstance(event, h11.InformationalResponse):
                return  # more is needed, or the connection has ended

    def _done(self, answer: asyncio.Future[Answer], whole: bool) -> None:
        assert self._response is not None
        headers = {name.decode("ascii"): value.decode("latin-1") for name, value in self._response.headers}
        answer.set_result(Answer(self._response.status_code, headers, bytes(self._body.content), whole))

    def _fail(self, problem: Exception) -> None:
        if self._answer is not None and not self._answer.done():
            self._answer.set_exception(problem)


def _header(response: h11.Response, wanted: bytes) -> str:
    return next((value.decode("latin-1") for name, value in response.headers if name == wanted), "")


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
