"""HTTP/1.1 as a client speaks it: a request becomes bytes, bytes become an answer. No connection, no clock.

Answers are read by llhttp, which is strict; requests are written by the rules of h11. The tests hold both against h11,
which itself takes more time over a webhook and its short answer than all the rest of the worker does.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Mapping, Sequence

from attrs import frozen
from httptools import HttpParserError, HttpParserUpgrade, HttpResponseParser

HEAD_BYTES = 16 * 1024
"""The longest head of an answer, with all that was said before it; and the most that may stand between two chunks."""

_PIECE = 1024 * 1024
_TOKEN = r"[-!#$%&'*+.^_`|~0-9a-zA-Z]+"
_TEXT = r"[^\0\n\v\f\r]*+"

# -- requests -----------------------------------------------------------------------------------------------------

_NAME = _METHOD = re.compile(_TOKEN)
_VALUE = re.compile(rf"(?![ \t]){_TEXT}(?<![ \t])")
_TARGET = re.compile(r"[\x21-\x7e]+")
_OURS = frozenset({"connection", "content-length", "expect", "transfer-encoding", "upgrade"})
"""How a request is framed, and what it asks of the connection, is said here and by nobody else."""
_UNREAD = ("CONNECT", "HEAD")
"""Their answers have no body, whatever they say: nothing here asks for one."""


def request(method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes | None) -> bytes:
    """A request as it is sent. Raises ValueError for one that cannot be written, or that has not just one Host."""
    names = [name.lower() for name, _ in headers]
    if names.count("host") != 1 or not _OURS.isdisjoint(names):
        raise ValueError("a request names one host, and is framed by nobody else")
    if not _METHOD.fullmatch(method) or method in _UNREAD or not _TARGET.fullmatch(target):
        raise ValueError("illegal method or target")
    lines = [f"{method} {target} HTTP/1.1"]
    for name, value in headers:
        if not _NAME.fullmatch(name) or not _VALUE.fullmatch(value):
            raise ValueError("illegal header")
        lines.append(f"{name}: {value}")
    if names[0] != "host":
        lines.insert(1, lines.pop(1 + names.index("host")))
    if content is not None:
        lines.append(f"content-length: {len(content)}")
    return ("\r\n".join(lines) + "\r\n\r\n").encode("ascii") + (content or b"")


# -- answers ------------------------------------------------------------------------------------------------------


class Malformed(Exception):
    """What came is no answer, or ended before its end."""


@frozen
class Answer:
    """Header names in lower case, what was given twice joined by commas (RFC 9110 5.3).

    ``whole`` false where the body was longer than the limit, and was cut there.
    """

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


class Reading:
    """One answer as it arrives, read by llhttp. ``answer``: all of it has, or as much of it as is wanted.

    ``again``: nothing speaks against another request on its connection. Raises Malformed; zlib.error as :class:`Body`.
    """

    def __init__(self, limit: int) -> None:
        self.answer: Answer | None = None
        self.again = True
        self.heard = False
        self._limit = limit
        self._status = self._unread = 0
        self._headers: dict[str, str] = {}
        self._body: Body | None = None
        self._problem: Malformed | zlib.error | None = None
        self._parser = HttpResponseParser(self)

    @property
    def room(self) -> int:
        """So much may be read now: of a head its longest, of a body what is left of the limit."""
        return max(1, HEAD_BYTES - self._unread if self._body is None else self._limit + 1 - len(self._body.content))

    def take(self, data: bytes | bytearray) -> None:
        """Read what arrived."""
        self.heard = True
        self._unread += len(data)
        if self._body is None and self._unread > HEAD_BYTES:
            raise Malformed("the head of the answer is too long")
        try:
            self._parser.feed_data(data)
        except HttpParserUpgrade:
            raise Malformed("nobody asked for another protocol") from None
        except HttpParserError as reason:
            self.again = False  # where the answer is whole already, it is what follows that nobody asked for
            if self.answer is None:
                raise self._problem or Malformed(str(reason)) from None
        if self._problem is not None:
            raise self._problem
        if self.answer is None and self._unread > HEAD_BYTES:
            raise Malformed("what stands between the chunks is too long")

    def end(self) -> None:
        """The other side has ended the connection."""
        self.again = False
        if self._body is None or not {"content-length", "transfer-encoding"}.isdisjoint(self._headers):
            raise Malformed("the answer ends too early")
        self._done()

    # -- llhttp says; an exception here would not come through ------------------------------------------------------

    def on_message_begin(self) -> None:
        if self.answer is not None:
            self.again = False  # nobody asked for another

    def on_header(self, name: bytes, value: bytes) -> None:
        if self._body is None:  # those after the last chunk are dropped
            key, text = name.decode("ascii").lower(), value.decode("latin-1").rstrip(" \t")
            self._headers[key] = f"{self._headers[key]}, {text}" if key in self._headers else text

    def on_headers_complete(self) -> None:
        if self.answer is not None:
            return
        self._status = self._parser.get_status_code()
        if self._status < 100:
            self._problem = Malformed("illegal status")
        if self._status < 200:
            return
        self.again = self._parser.should_keep_alive()
        if self._headers.get("transfer-encoding", "chunked").lower() != "chunked":
            self._problem = Malformed("a transfer coding that is not understood")
        try:
            self._body = Body(self._headers.get("content-encoding", ""), self._limit)
        except zlib.error as problem:
            self._body, self._problem = Body("", self._limit), problem

    def on_body(self, piece: bytes) -> None:
        self._unread = 0
        if self._body is None or self.answer is not None or self._problem is not None:
            return
        try:
            if not self._body.append(piece):
                self.again = False
                self._done(whole=False)
        except zlib.error as problem:
            self._problem = problem

    def on_message_complete(self) -> None:
        if self._body is None:  # an informational answer: the answer follows
            self._headers = {}
        elif self.answer is None and self._problem is None:
            try:
                self._done()
            except zlib.error as problem:
                self._problem = problem

    def _done(self, whole: bool = True) -> None:
        assert self._body is not None
        if whole:
            self._body.end()
        self.answer = Answer(self._status, self._headers, bytes(self._body.content), whole)
