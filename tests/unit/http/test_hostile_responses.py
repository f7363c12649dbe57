"""Answers that are hostile or merely bad: their bounds, and which requests are repeated."""

from __future__ import annotations

import gzip
import time
import tracemalloc

import pytest
from attrs import evolve

from adsunify.errors import ResponseLost
from adsunify.http.messages import Request, RequestKind
from adsunify.http.transport import HttpTransport
from tests.markers import exhaustive

from .server import HOST, OK, READ, WRITE, Connection, answer, answer_in_turn, send, serve_script

# -- hostile answers ----------------------------------------------------------------------------------------------


def _bomb(size: int) -> bytes:
    return gzip.compress(b"[" + b" " * size + b"]", 9)


@pytest.mark.parametrize("nature", ["write", exhaustive("read")])
async def test_a_gzip_bomb_is_not_inflated(nature: RequestKind) -> None:
    bomb = _bomb(300_000_000)
    async with serve_script(answer_in_turn(answer(200, bomb, "Content-Encoding: gzip"))) as server:
        tracemalloc.start()
        with pytest.raises(ResponseLost, match="larger"):
            await send(server, Request("POST", WRITE.url, kind=nature))
        peak = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert server.connections == 1
    assert peak < 64 * 1024 * 1024


@pytest.mark.parametrize("framing", ["Content-Length: 100000000", "X: close"])
async def test_a_body_of_100_megabytes_is_not_read(framing: str) -> None:
    byte_count = 0

    async def act(connection: Connection) -> None:
        nonlocal byte_count
        await connection.request()
        await connection.say(f"HTTP/1.1 200 OK\r\n{framing}\r\n\r\n".encode())
        for _ in range(1_600):
            await connection.say(b" " * 62_500)
            byte_count += 62_500

    async with serve_script(act) as server:
        with pytest.raises(ResponseLost, match="larger"):
            await send(server, WRITE)
        assert server.connections == 1
    assert byte_count < 40_000_000


async def test_gzip_is_read_in_any_pieces() -> None:
    body = gzip.compress(b'{"id":') + gzip.compress(b'"777"}')  # two members

    async def act(connection: Connection) -> None:
        await connection.request()
        head, rest = answer(200, body, "Content-Encoding: gzip").split(b"\r\n\r\n", 1)
        await connection.say(head + b"\r\n\r\n")
        for byte in rest:
            await connection.say(bytes([byte]))

    async with serve_script(act) as server:
        assert (await send(server, WRITE)).body == {"id": "777"}


@pytest.mark.parametrize(
    ("body", "coding"),
    [
        (gzip.compress(b"{}" * 100, mtime=0)[:-9], "gzip"),
        (b"not gzip", "gzip"),
        (b"{}", "br"),
    ],
)
async def test_a_body_that_is_not_its_encoding_is_lost(body: bytes, coding: str) -> None:
    async with serve_script(answer_in_turn(answer(200, body, f"Content-Encoding: {coding}"))) as server:
        with pytest.raises(ResponseLost, match="encoding"):
            await send(server, WRITE)


@pytest.mark.parametrize(
    "body",
    [
        b"<html>",
        b"{",
        b'{"a":NaN}',
        b'{"a":1e999999999}',
        b'{"id":"1","id":"2"}',
        b'{"id":"1"}{"id":"2"}',
        b"[" * 100_000,
        b"\xff\xfe",
    ],
)
async def test_a_body_that_is_no_json_is_unreadable(body: bytes) -> None:
    async with serve_script(answer_in_turn(answer(200, body))) as server:
        assert (await send(server, WRITE)).state == "unreadable"


# -- repeating reads ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("first", "tries"),
    [
        (answer(500), 2),
        (answer(503, b"", "Retry-After: 1"), 2),
        (answer(429, b"{}", "Retry-After: 3"), 2),
        (answer(429, b"{}", "Retry-After: 600"), 1),
        (answer(400), 1),
        (answer(401), 1),
        (answer(404), 1),
    ],
)
async def test_a_read_is_repeated_where_that_may_help(first: bytes, tries: int) -> None:
    async with serve_script(answer_in_turn(first, OK)) as server:
        response = await send(server, Request("POST", READ.url))  # a POST that reads
        assert len(server.requests) == tries
        assert (response.status == 200) == (tries == 2)


@pytest.mark.parametrize("nature", ["write", "read_once"])
@pytest.mark.parametrize("status", [500, 503, 429])
async def test_only_reads_are_repeated(nature: RequestKind, status: int) -> None:
    async with serve_script(answer_in_turn(answer(status, b"{}", "Retry-After: 0"), OK)) as server:
        assert (await send(server, Request("POST", READ.url, kind=nature))).status == status
        assert len(server.requests) == 1


async def test_a_read_is_tried_three_times_and_its_last_answer_stands() -> None:
    async with serve_script(answer_in_turn(answer(500), answer(502), answer(503, b'{"last":1}'), OK)) as server:
        assert (await send(server, READ)).body == {"last": 1}
        assert len(server.requests) == 3


async def test_a_lost_read_is_repeated() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        if connection.number == 1:
            connection.reset()
        else:
            await connection.say(OK)

    async with serve_script(act) as server:
        assert (await send(server, READ)).body == {"id": "777"}


async def test_retry_after_is_waited_for() -> None:
    waits: list[float] = []

    async def sleep(seconds: float) -> None:
        waits.append(seconds)

    async with serve_script(answer_in_turn(answer(429, b"{}", "Retry-After: 3"), OK)) as server:
        await HttpTransport(server.url, sleep=sleep).send(READ, hosts=(HOST,))
    assert waits == [3.0]


async def test_each_try_of_a_read_is_signed_anew() -> None:
    """X answers a nonce that it knows with 401."""
    nonces = iter("abc")

    def sign(request: Request) -> Request:
        return evolve(request, headers={"x-nonce": next(nonces)})

    async with serve_script(answer_in_turn(answer(500), answer(503), OK)) as server:
        sending = HttpTransport(server.url, sleep=_at_once)
        assert (await sending.send(READ, hosts=(HOST,), sign=sign)).status == 200
        assert [request.split(b"x-nonce: ")[1][:1] for request in server.requests] == [b"a", b"b", b"c"]


async def _at_once(seconds: float) -> None:
    """Nobody waits between tries."""


async def test_repeats_stay_within_the_time() -> None:
    async with serve_script(answer_in_turn(answer(429, b"{}", "Retry-After: 3"), OK)) as server:
        transport = HttpTransport(server.url)
        started = time.monotonic()
        assert (await transport.send(READ, hosts=(HOST,), timeout=1.0)).status == 429
        assert time.monotonic() - started < 2.5
