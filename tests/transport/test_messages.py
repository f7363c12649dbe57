"""Requests and answers as bytes, against h11: the same is written, the same is read, and what it refuses is refused.

llhttp, which reads them, refuses more: bare line feeds, folded lines, a length given twice.
"""

from __future__ import annotations

import random
import re
import time
import zlib
from collections.abc import Iterator, Sequence
from itertools import pairwise
from typing import Any

import h11
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.messages import HEAD_BYTES, Answer, Body, Malformed, Reading, request

LIMIT = 300
HOST = ("Host", "receiver.example")

# -- requests -----------------------------------------------------------------------------------------------------


def by_h11(method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes | None) -> bytes | None:
    """What h11 writes; None where it refuses to."""
    sized = [] if content is None else [("content-length", str(len(content)))]
    http = h11.Connection(h11.CLIENT)
    try:
        written = http.send(h11.Request(method=method, target=target, headers=[*headers, *sized])) or b""
        written += (http.send(h11.Data(data=content)) or b"") if content else b""
        return written + (http.send(h11.EndOfMessage()) or b"")
    except (h11.LocalProtocolError, UnicodeEncodeError):
        return None


def by_us(method: str, target: str, headers: Sequence[tuple[str, str]], content: bytes | None) -> bytes | None:
    try:
        return request(method, target, headers, content)
    except ValueError:
        return None


ANY = st.text(st.characters(max_codepoint=0x180), max_size=6)
NAMES = st.one_of(st.sampled_from(["Host", "host", "X-A", "accept", "a b", "a:", "a: b", "", "\u0130"]), ANY)
VALUES = st.one_of(st.sampled_from(["x", "", " x", "x ", "\tx", "a  b", "a\r\nb: c", "a\nb", "\x01", "\xa0x"]), ANY)
METHODS = st.one_of(st.sampled_from(["GET", "POST", "PATCH", "", "GET ", "P\r\n"]), ANY)
TARGETS = st.one_of(st.sampled_from(["/", "/a?b", "*", "", "/a b", "/\r\nX: y", "/\x7f", "/\xe9"]), ANY)


@given(METHODS, TARGETS, st.lists(st.tuples(NAMES, VALUES), max_size=4), st.sampled_from([None, b"", b"body"]))
@settings(deadline=None, max_examples=500)
def test_a_request_is_written_or_refused_as_by_h11(
    method: str, target: str, headers: list[tuple[str, str]], content: bytes | None
) -> None:
    for given_ in (headers, [HOST, *headers], [*headers, HOST]):
        assert by_us(method, target, given_, content) == by_h11(method, target, given_, content)


def test_every_character_of_every_part() -> None:
    for number in (*range(0x180), 0x2028, 0x212A, 0xFF21, 0xD800):
        one = chr(number)
        for text in (one, f"a{one}", f"{one}a", f"a{one}a", f"a{one}{one}a"):
            for asked in (
                (text, "/", [HOST], None),
                ("GET", text, [HOST], None),
                ("GET", "/" + text, [HOST], None),
                ("GET", "/", [HOST, (text, "x")], None),
                ("GET", "/", [HOST, ("x", text)], None),
                ("GET", "/", [("host", text)], None),
            ):
                assert by_us(*asked) == by_h11(*asked), asked


@pytest.mark.parametrize(
    "headers",
    [
        *([HOST, (name, value)] for name, value in [("Content-Length", "4"), ("Transfer-Encoding", "chunked")]),
        *([HOST, (name, value)] for name, value in [("Connection", "close"), ("upgrade", "x"), ("Expect", "x")]),
        [],
        [HOST, HOST],
    ],
)
def test_nobody_else_frames_a_request(headers: list[tuple[str, str]]) -> None:
    """Stricter than h11, which would write some of these: each changes how the answer is read."""
    assert by_us("POST", "/", headers, b"body") is None


@pytest.mark.parametrize("method", ["CONNECT", "HEAD"])
def test_nothing_is_asked_whose_answer_would_be_read_otherwise(method: str) -> None:
    assert by_us(method, "receiver.example:443", [HOST], None) is None


# -- answers ------------------------------------------------------------------------------------------------------

Told = tuple[Any, ...]
"""How the reading of some bytes ended: what was read and whether the connection may go on; or why nothing was."""


def joined(response: h11.Response) -> dict[str, str]:
    headers: dict[str, str] = {}
    for name, value in response.headers:
        key, text = name.decode("ascii"), value.decode("latin-1")
        headers[key] = f"{headers[key]}, {text}" if key in headers else text
    return headers


def of_h11(pieces: Sequence[bytes], ended: bool, limit: int = LIMIT) -> Told:
    """The same bytes read by h11."""
    http = h11.Connection(h11.CLIENT, max_incomplete_event_size=HEAD_BYTES)
    http.send(h11.Request(method="POST", target="/", headers=[HOST]))
    http.send(h11.EndOfMessage())
    response: h11.Response | None = None
    body, head = Body("", limit), 0

    def told(whole: bool) -> Told:
        assert response is not None
        return ("read", response.status_code, joined(response), bytes(body.content), whole)

    def read() -> Told | None:
        nonlocal response, body
        while True:
            event = http.next_event()
            if isinstance(event, h11.Response):
                response = event
                body = Body(joined(event).get("content-encoding", ""), limit)
            elif isinstance(event, h11.Data):
                if not body.append(bytes(event.data)):
                    return told(False)
            elif isinstance(event, h11.EndOfMessage):
                body.end()
                return told(True)
            elif not isinstance(event, h11.InformationalResponse):
                return None

    try:
        for piece in (*pieces, b"") if ended else pieces:
            http.receive_data(piece)
            head += len(piece) if response is None else 0
            if response is None and head > HEAD_BYTES:
                return ("malformed",)
            found = read()
            if found is not None:
                again = http.our_state is h11.DONE and http.their_state is h11.DONE
                rest, over = http.trailing_data
                return (*found, again and not rest and not over)
    except h11.RemoteProtocolError:
        return ("malformed",)
    except zlib.error:
        return ("encoding",)
    return ("waiting",)


def of_us(pieces: Sequence[bytes], ended: bool, limit: int = LIMIT) -> Told:
    reading = Reading(limit)
    try:
        for piece in pieces:
            reading.take(piece)
            if reading.answer is not None:
                break
        else:
            if not ended:
                return ("waiting",)
            reading.end()
    except Malformed:
        return ("malformed",)
    except zlib.error:
        return ("encoding",)
    one = reading.answer
    assert isinstance(one, Answer)
    headers = dict(one.headers) | {
        name: value.lower() for name, value in one.headers.items() if name == "transfer-encoding"
    }
    return ("read", one.status, headers, one.content, one.whole, reading.again)


MILDER = re.compile(rb"(?s)(HTTP/1.1 1.*\r\n\r\n)*([\r\n]|HTTP/1.. \d\d\d [^\r\n]*[\0-\x1f])")
"""Where llhttp reads on and h11 does not: newlines before an answer, characters of the reason. Neither is used."""


def same(data: bytes, cuts: Sequence[int], ended: bool, limit: int = LIMIT) -> Told:
    """Assert that we read what h11 reads, or refuse, and refuse what it refuses, however it arrives; what we read."""
    places = [0, *sorted({cut for cut in cuts if 0 < cut < len(data)}), len(data)]
    pieces = [data[one:other] for one, other in pairwise(places) if one < other]
    ours, theirs = of_us(pieces, ended, limit), of_h11(pieces, ended, limit)
    if ours != ("malformed",) and not (theirs == ("malformed",) and MILDER.match(data)):
        assert ours[:-1] == theirs[:-1], (pieces, ended)
        assert ours[-1] in (theirs[-1], False) or data[-1:] in (b"\r", b"\n")
    return ours


def head(*fields: bytes, status: bytes = b"HTTP/1.1 200 OK") -> bytes:
    return b"\r\n".join([status, *fields, b"", b""])


GZIP = zlib.compressobj(wbits=31)
GZIPPED = GZIP.compress(b"hello " * 20) + GZIP.flush()
CHUNKED, CHUNKS = b"Transfer-Encoding: chunked", b"5\r\nhello\r\n0\r\n\r\n"
STATUSES = [
    *(b"HTTP/1.1 200 OK", b"HTTP/1.1 200", b"HTTP/1.1 200 ", b"HTTP/1.0 200 OK", b"HTTP/0.9 200 OK", b"HTTP/2.0 200 X"),
    *(b"HTTP/1.1 204 X", b"HTTP/1.1 304 X", b"HTTP/1.1 100 X", b"HTTP/1.1 101 X", b"HTTP/1.1 103", b"HTTP/1.1 999 X"),
    *(b"HTTP/1.1 099 X", b"HTTP/1.1 000 X", b"HTTP/1.1 20 X", b"HTTP/1.1 2000 X", b"HTTP/1.1  200 X", b"HTTP/1.1\t200"),
    *(b"HTTP/1.1 200\tOK", b"http/1.1 200 OK", b"HTTP/11 200 OK", b"HTTP/1.10 200 OK", b"HTTP 200 OK", b"ICY 200 OK"),
    *(b"HTTP/1.1 +20 X", b"HTTP/1.1 2\xb20 X", b"HTTP/1.1 200 \xe9\x01", b"HTTP/1.1 200 a\rb", b"HTTP/1.1 200 a\x00"),
    *(
        b"HTTP/1.1 200 a\x0bb",
        b" HTTP/1.1 200 OK",
        b"",
        b"\r",
        b"\x16\x03\x01",
        b"HTTP/1.1 200 OK\r",
        b"GET / HTTP/1.1",
    ),
]
FIELDS = [
    *(b"Content-Length: 5", b"content-length:5", b"Content-Length: 0", b"Content-Length: 05", b"Content-Length: +5"),
    *(
        b"Content-Length: -5",
        b"Content-Length: 5, 5",
        b"Content-Length: 5,6",
        b"Content-Length: 5,",
        b"Content-Length:",
    ),
    *(
        b"Content-Length: 0x5",
        b"Content-Length: 5 5",
        b"Content-Length: 5;",
        b"Content-Length: \xb2",
        b"Content-Length: 5_0",
    ),
    *(b"Content-Length: " + b"0" * 19 + b"5", b"Content-Length: " + b"0" * 20 + b"5", b"Content-Length: 6"),
    *(CHUNKED, b"transfer-encoding:CHUNKED", b"Transfer-Encoding: gzip, chunked", b"Transfer-Encoding: identity"),
    *(b"Transfer-Encoding: chunked, chunked", b"Transfer-Encoding:", b"Transfer-Encoding: \xa0chunked"),
    *(b"Transfer-Encoding : chunked", b"Transfer-Encoding: chunked\x0b", b" Transfer-Encoding: chunked"),
    *(
        b"Connection: close",
        b"connection: Keep-Alive, CLOSE",
        b"Connection: closed",
        b"Connection:",
        b"Connection: ,close",
    ),
    *(b"Content-Encoding: gzip", b"Content-Encoding: identity", b"Content-Encoding: br", b"Content-Encoding: x-gzip"),
    *(
        b"A: b",
        b"A:",
        b"A: b c\td",
        b"A:\tb \t",
        b"A: \xe9",
        b"A: \x01",
        b"A: b\x00",
        b"A: b\rc",
        b"A: b\r",
        b"A: b\x0c",
    ),
    *(
        b"A : b",
        b": b",
        b"A",
        b"A b: c",
        b"\xe9: b",
        b"A\x00: b",
        b"A: b\n",
        b"A: b\nC: d",
        b"A: b\r\n c",
        b"A: b\r\n\tc",
    ),
    *(b"A: b\n \n c", b" b", b"\tb", b"A: b \r\n  c ", b"A: b\r\n :c", b"A:\r\n b", b"A: b\r\r\n c"),
]
BODIES = [
    *(b"", b"hello", b"hello ", b"hell", b"x" * LIMIT, b"x" * (LIMIT + 1), GZIPPED, GZIPPED[:-3], GZIPPED * 2),
    *(
        CHUNKS,
        CHUNKS + b"x",
        CHUNKS[:-1],
        CHUNKS[:-2],
        CHUNKS[:-4],
        CHUNKS[:7],
        b"0\r\n\r\n",
        b"00\r\n\r\n",
        b"0\r\n\n",
    ),
    *(
        b"0\n\n",
        b"\r\n",
        b"5 \r\nhello\r\n0\r\n\r\n",
        b"5;a=b\r\nhello\r\n0\r\nA: b\r\n\r\n",
        b"5\t \r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"5;a=\rb\r\nhello\r\n0\r\n\r\n",
        b"5;\nx\r\nhello\r\n0\r\n\r\n",
        b" 5\r\nhello\r\n0\r\n\r\n",
        b"5;\xe9 \r\nhello\r\n0\r\n\r\n",
    ),
    *(
        b"5\nhello\n0\n\n",
        b"5\r\nhello0\r\n\r\n",
        b"5\r\nhello\n0\r\n\r\n",
        b"5\r\nhello\r0\r\n\r\n",
        b"5\r\nhellooo\r\n",
    ),
    *(
        b"0x5\r\nhello\r\n0\r\n\r\n",
        b"+5\r\n",
        b"-5\r\n",
        b"g\r\n",
        b"\r\n\r\n",
        b"5 ;a\r\nhello\r\n0\r\n\r\n",
        b"5_0\r\n",
    ),
    *(b"0" * 19 + b"5\r\nhello\r\n0\r\n\r\n", b"0" * 21 + b"5\r\n", b"f" * 20 + b"\r\nhello", b"f" * 21 + b"\r\nhello"),
    *(
        b"0\r\nA b\r\n\r\n",
        b"0\r\n A: b\r\n\r\n",
        b"0\r\nContent-Length: 1, 2\r\n\r\n",
        b"0\r\nA: b\n\n",
        b"0\r\nA: b\r\n\r\nx",
    ),
    *(b"0\r\nTransfer-Encoding: gzip\r\n\r\n", b"0\r\n\r", b"0\r\nA: b\r\n", b"0\r\n\x01\r\n\r\n"),
    *(b"1\r\nh\r\n4\r\nello\r\n0\r\n\r\n", b"%x\r\n%b\r\n0\r\n\r\n" % (len(GZIPPED), GZIPPED), b"12d\r\n" + b"x" * 301),
]


def answers() -> Iterator[bytes]:
    """Each status line, each field, and each two fields, with each body."""
    for status in STATUSES:
        for body in (b"", b"hello", CHUNKS):
            yield head(status=status) + body
            yield head(b"Content-Length: 5", status=status) + body
            yield head(CHUNKED, status=status) + body
            yield head(status=status).replace(b"\r", b"") + body
    for one in FIELDS:
        for body in BODIES:
            yield head(one) + body
        for other in FIELDS:
            for body in (b"hello", CHUNKS):
                yield head(one, other) + body


def test_answers_are_read_and_refused_as_by_h11() -> None:
    """Whole, and torn at a place drawn anew each time; with the connection ended, and open."""
    draw = random.Random(time.time_ns())
    told: dict[str, int] = {}
    for data in answers():
        cuts = [draw.randrange(len(data) + 1) for _ in range(draw.randrange(3))]
        ended = draw.random() < 0.5
        for given_ in ([], cuts):
            kind = same(data, given_, ended)[0]
            told[kind] = told.get(kind, 0) + 1
    assert min(told.values()) > 100 and told.keys() == {"read", "malformed", "encoding", "waiting"}, told


def test_byte_by_byte() -> None:
    draw = random.Random(time.time_ns())
    for data in draw.sample([*answers()], 400):
        same(data, range(len(data)), draw.random() < 0.5)


@given(
    st.lists(st.sampled_from(STATUSES), min_size=1, max_size=2),
    st.lists(st.sampled_from(FIELDS), max_size=4),
    st.sampled_from(BODIES),
    st.lists(st.tuples(st.integers(0, 400), st.binary(max_size=2)), max_size=3),
    st.lists(st.integers(0, 400), max_size=4),
    st.booleans(),
)
@settings(deadline=None, max_examples=1_000)
def test_mutilated_answers(
    statuses: list[bytes],
    fields: list[bytes],
    body: bytes,
    changes: list[tuple[int, bytes]],
    cuts: list[int],
    ended: bool,
) -> None:
    """Informational answers before the answer, several fields, and bytes of it replaced."""
    data = b"".join(head(status=status) for status in statuses[1:]) + head(*fields, status=statuses[0]) + body
    for place, change in changes:
        data = data[:place] + change + data[place + 1 :]
    same(data, cuts, ended)


def test_a_head_may_be_so_long_and_no_longer() -> None:
    for length, kind in ((HEAD_BYTES, "read"), (HEAD_BYTES + 1, "malformed")):
        start, end = b"HTTP/1.1 204 OK\r\nA: ", b"\r\n\r\n"
        data = start + b"x" * (length - len(start) - len(end)) + end
        assert same(data, [], False)[0] == kind
        assert same(data, [length - 1], False)[0] == kind
    before = head(status=b"HTTP/1.1 100 X") * 1_000
    assert same(before, [*range(0, len(before), 1_000)], False) == ("malformed",)


def test_a_line_between_chunks_is_not_endless() -> None:
    for line in (b"5;" + b"x" * (HEAD_BYTES + 10), b"0\r\n" + b"A: b\r\n" * 4_000):
        assert same(head(CHUNKED) + line, [40], False) == ("malformed",)


def test_a_body_is_cut_at_its_limit() -> None:
    for limit in (0, 1, 4, 5, 6):
        for data in (head(b"Content-Length: 5") + b"hello", head(CHUNKED) + CHUNKS, head() + b"hello"):
            found = same(data, [], True, limit)
            assert found[3:5] == (b"hello"[:limit], limit >= 5)


SLOW = {
    "spaces in a value": head(b"A:" + b" " * 16_000 + b"\x00"),
    "spaces after a value": head(b"A: b" + b" " * 16_000 + b"\x00"),
    "folds": head(b"A: b" + b"\r\n " * 5_000 + b"\x00"),
    "fields": head(*[b"A: b"] * 2_600, b"A"),
    "names": head(b"a" * 16_000),
    "commas": head(b"Content-Length: " + b"5," * 7_900),
    "an extension of a chunk": head(CHUNKED) + b"5;" + b" " * 16_000 + b"\nx\r\n",
    "spaces after the size of a chunk": head(CHUNKED) + b"5" + b" " * 16_000 + b"x\r\n",
}


@pytest.mark.parametrize("name", SLOW)
def test_nobody_keeps_us_reading(name: str) -> None:
    """No answer takes more than a moment, however it is made: what is refused is refused at once."""
    before = time.process_time()
    for _ in range(5):
        assert of_us([SLOW[name]], False) == ("malformed",)
    assert time.process_time() - before < 0.25


def test_the_alphabets_are_those_of_h11() -> None:
    for number in range(256):
        one = bytes([number])
        for data in (
            head(one + b": b"),
            head(b"A" + one + b": b"),
            head(b"A: b" + one + b"c"),
            head(b"A:" + one),
            head(b"A: b" + one),
            head(b"A: b", one),
            head(status=b"HTTP/1.1 204 " + one),
            head(status=b"HTTP/1.1 204" + one),
            head(status=b"HTTP/1." + one + b" 204"),
            head(CHUNKED) + one + b"\r\n",
            head(CHUNKED) + b"5" + one + b"\r\nhello\r\n",
            head(CHUNKED) + b"5;" + one + b"\r\nhello\r\n",
        ):
            same(data, [], True)
