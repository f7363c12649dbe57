"""HTTP/1.1 as a client speaks it: a request becomes bytes, bytes become an answer. No connection, no clock.

The grammar is that of h11, which the tests hold this against. h11 itself took more time over a webhook and its short
answer than all the rest of the worker did.
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Callable, Mapping, Sequence

from attrs import frozen

HEAD_BYTES = 16 * 1024
"""The longest head of an answer, with all that was said before it; and the longest line between chunks of a body."""

_PIECE = 1024 * 1024
_TOKEN = r"[-!#$%&'*+.^_`|~0-9a-zA-Z]+"
_TEXT = r"[^\0\n\v\f\r]*+"

# -- requests -----------------------------------------------------------------------------------------------------

_NAME = _METHOD = re.compile(_TOKEN)
_VALUE = re.compile(rf"(?![ \t]){_TEXT}(?<![ \t])")
_TARGET = re.compile(r"[\x21-\x7e]+")
_OURS = frozenset({"connection", "content-length", "expect", "transfer-encoding", "upgrade"})
"""How a request is framed, and what it asks of the connection, is said here and by nobody else."""


def request(method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes | None) -> bytes:
    """A request as it is sent. Raises ValueError for one that cannot be written, or that has not just one Host."""
    names = [name.lower() for name, _ in headers]
    if names.count("host") != 1 or not _OURS.isdisjoint(names):
        raise ValueError("a request names one host, and is framed by nobody else")
    if not _METHOD.fullmatch(method) or method == "CONNECT" or not _TARGET.fullmatch(target):
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

_BLANK = re.compile(rb"\n\r?\n")
_STATUS = re.compile(rf"HTTP/([0-9]\.[0-9]) ([1-9][0-9]{{2}})(?: {_TEXT})?\r?\n")
_FIELD = re.compile(rf"({_TOKEN}):({_TEXT})\r?\n")
_FIELDS = re.compile(rf"(?:{_TOKEN}:{_TEXT}\r?\n)*+")
_FOLD = re.compile(r"\r?\n[ \t]+")
_LENGTH = re.compile(r"[0-9]{1,20}")
_CHUNK = re.compile(rb"([0-9A-Fa-f]{1,20})(?:;[^\n]*|[ \t]*)\r\n")
_SWITCHING = 101
_BODILESS = (204, 304)


class Malformed(Exception):
    """What came is no answer, or ended before its end."""


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


class Reading:
    """One answer as it arrives. ``answer``: all of it has, or as much of it as is wanted.

    ``again``: nothing speaks against another request on its connection. Raises Malformed; zlib.error as :class:`Body`.
    """

    def __init__(self, method: str, limit: int) -> None:
        self.answer: Answer | None = None
        self.again = True
        self._bodiless, self._limit = method == "HEAD", limit
        self._head = self._looked = self._left = self._status = 0
        self._headers: dict[str, str] = {}
        self._body: Body | None = None
        self._rest = bytearray()
        self._step: Callable[[Reading], bool] = Reading._read_head

    @property
    def heard(self) -> bool:
        """Whether a byte of it has arrived."""
        return self._head > 0

    @property
    def room(self) -> int:
        """So much may be read now: of a head its longest, of a body what is left of the limit."""
        return max(1, HEAD_BYTES - self._head if self._body is None else self._limit + 1 - len(self._body.content))

    def take(self, data: bytes | bytearray) -> None:
        """Read what arrived."""
        if self._body is None:
            self._head += len(data)
            if self._head > HEAD_BYTES:
                raise Malformed("the head of the answer is too long")
        self._rest += data
        while self._step(self):
            pass
        if self.answer is not None and self._rest:
            self.again = False  # nobody asked for what follows

    def end(self) -> None:
        """The other side has ended the connection."""
        self.again = False
        if self._step is not Reading._read_on:
            raise Malformed("the answer ends too early")
        self._done()

    # -- steps: each reads one thing; true: there may be more to read ---------------------------------------------

    def _read_head(self) -> bool:
        lines = self._lines()
        if lines is None:
            if self._rest and self._rest[0] < 0x21:
                raise Malformed("this is no HTTP")
            return False
        status = _STATUS.match(lines)
        if status is None:
            raise Malformed("illegal status line")
        self._status = int(status[2])
        fields = _fields(lines[status.end() :])
        if self._status == _SWITCHING:
            raise Malformed("nobody asked for another protocol")
        if self._status < 200:
            return True
        self._headers = {name: values[-1] for name, values in fields.items()}
        if status[1] < "1.1" or "close" in map(str.lower, _listed(fields.get("connection", ()))):
            self.again = False
        self._body = Body(fields.get("content-encoding", ("",))[0], self._limit)
        if self._bodiless or self._status in _BODILESS:
            return self._done()
        if "transfer-encoding" in fields:
            self._step = Reading._read_size
        elif "content-length" in fields:
            self._left, self._step = int(self._headers["content-length"]), Reading._read_sized
        else:
            self.again, self._step = False, Reading._read_on
        return True

    def _read_sized(self) -> bool:
        return self._moved() and self._done()

    def _read_on(self) -> bool:
        """Whatever comes until the other side ends."""
        self._left = len(self._rest)
        self._moved()
        return False

    def _read_size(self) -> bool:
        """The line before a chunk."""
        end = self._rest.find(b"\r\n") + 2
        if end < 2:
            self._waits()
            return False
        size = _CHUNK.fullmatch(self._rest, 0, end)
        if size is None:
            raise Malformed("illegal size of a chunk")
        self._left = int(size[1], 16)
        self._step = Reading._read_chunk if self._left else Reading._read_trailer
        del self._rest[:end]
        return True

    def _read_chunk(self) -> bool:
        if not self._moved():
            return False
        self._step = Reading._read_chunk_end
        return True

    def _read_chunk_end(self) -> bool:
        if bytes(self._rest[:2]) not in (b"\r\n", b"\r", b""):
            raise Malformed("a chunk is longer than it says")
        if len(self._rest) < 2:
            return False
        del self._rest[:2]
        self._step = Reading._read_size
        return True

    def _read_trailer(self) -> bool:
        """Fields after the last chunk; they are held to the rules, and dropped."""
        if self._rest.startswith((b"\n", b"\r\n")):
            del self._rest[: self._rest.index(b"\n") + 1]
            return self._done()
        lines = self._lines()
        if lines is None:
            self._waits()
            return False
        _fields(lines)
        return self._done()

    # -------------------------------------------------------------------------------------------------------------

    def _lines(self) -> str | None:
        """Everything up to the next blank line, which is dropped; None where it has not arrived."""
        blank = _BLANK.search(self._rest, self._looked)
        if blank is None:
            self._looked = max(0, len(self._rest) - 2)
            return None
        lines = self._rest[: blank.start() + 1].decode("latin-1")
        del self._rest[: blank.end()]
        self._looked = 0
        return lines

    def _waits(self) -> None:
        if len(self._rest) > HEAD_BYTES:
            raise Malformed("a line between the chunks is too long")

    def _moved(self) -> bool:
        """What is there becomes part of the body; true: nothing of it is left to come."""
        assert self._body is not None
        piece = bytes(self._rest[: self._left])
        del self._rest[: len(piece)]
        self._left -= len(piece)
        if piece and not self._body.append(piece):
            self._done(whole=False)
            return False
        return not self._left

    def _done(self, whole: bool = True) -> bool:
        assert self._body is not None
        if whole:
            self._body.end()
        else:
            self.again = False
        self.answer = Answer(self._status, self._headers, bytes(self._body.content), whole)
        return False


def _fields(text: str) -> dict[str, list[str]]:
    """Header fields by their names in lower case; they say in one way, or not, how long the body is."""
    if "\n " in text or "\n\t" in text:
        text = _FOLD.sub(" ", text)
    if not _FIELDS.fullmatch(text):
        raise Malformed("illegal header line")
    fields: dict[str, list[str]] = {}
    for name, value in _FIELD.findall(text):
        fields.setdefault(name.lower(), []).append(value.strip(" \t"))
    if "content-length" in fields:
        lengths = set(_listed(fields["content-length"]))
        if len(lengths) != 1 or not all(map(_LENGTH.fullmatch, lengths)):
            raise Malformed("the answer has no one length")
        fields["content-length"] = [*lengths]
    if "transfer-encoding" in fields:
        codings = fields["transfer-encoding"] = [coding.lower() for coding in fields["transfer-encoding"]]
        if codings != ["chunked"]:
            raise Malformed("a transfer coding that is not understood")
    return fields


def _listed(values: Sequence[str]) -> list[str]:
    """The members of a header field that is a list, or several such fields."""
    return [one.strip(" \t") for value in values for one in value.split(",")]
