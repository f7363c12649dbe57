"""What the transport says of each thing that can happen to a request, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import time
from collections.abc import Awaitable, Callable
from contextlib import suppress
from pathlib import Path

import pytest

from adsunify import transport
from adsunify.errors import InvalidInput, RequestNotSent, ResponseLost
from adsunify.transport import HttpTransport
from adsunify.wire import Request

from .certificates import Authority
from .server import HOST, OK, READ, WRITE, Connection, answer, answering, send, serving

Act = Callable[[Connection], Awaitable[None]]


# -- surely not sent ----------------------------------------------------------------------------------------------


async def test_a_refused_connection_is_not_sent() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        async with HttpTransport(f"http://127.0.0.1:{closed.getsockname()[1]}") as sending:
            with pytest.raises(RequestNotSent) as problem:
                await sending.send(WRITE, hosts=(HOST,))
    assert problem.value.outcome == "not_applied"


async def test_a_connection_that_never_opens_is_not_sent() -> None:
    """A full backlog: the connection is neither accepted nor refused."""
    with socket.socket() as full, socket.socket() as first, socket.socket() as second:
        full.bind(("127.0.0.1", 0))
        full.listen(0)
        for filling in (first, second):
            filling.setblocking(False)
            filling.connect_ex(full.getsockname())
        async with HttpTransport(f"http://127.0.0.1:{full.getsockname()[1]}") as sending:
            with pytest.raises(RequestNotSent):
                await sending.send(WRITE, hosts=(HOST,), timeout=0.3)


async def test_waiting_for_a_free_connection_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "CONNECTIONS", 1)

    async def silent(connection: Connection) -> None:
        await connection.request()
        await asyncio.sleep(30)

    async with serving(silent) as server, HttpTransport(server.url) as sending:
        first = asyncio.create_task(sending.send(WRITE, hosts=(HOST,), timeout=1.0))
        await asyncio.sleep(0.1)
        with pytest.raises(RequestNotSent):
            await sending.send(WRITE, hosts=(HOST,), timeout=0.2)
        with pytest.raises(ResponseLost):
            await first
        assert len(server.requests) == 1


@pytest.mark.parametrize(
    ("request_", "why"),
    [
        (Request("POST", "http://network.example/x", nature="write"), "https"),
        (Request("POST", "https://other.example/x", nature="write"), "not a host"),
        (Request("GET", "https://other.example/x"), "not a host"),
        (Request("GET", "https://network.example:444/x"), "not a host"),
        (Request("GET", "https://user@network.example/x"), "not a host"),
        (Request("POST", "https://other.example/x", nature="write", signed=False), "not a host"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": ".."}, nature="write"), "a dot"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": "."}, nature="write"), "a dot"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": ""}, nature="write"), "empty"),
        (Request("GET", "https://network.example/x", headers={"a": "b\r\nc: d"}), "header"),
        (Request("GET", "https://network.example/x", headers={"a": "\u2713"}), "header"),
        (Request("GET /", "https://network.example/x"), "method"),
        (Request("GET", "https://network.example/x", query_raw="a=b c"), "https"),
        (Request("POST", "https://network.example/x", body={"a": [1]}, encoding="form", nature="write"), "text only"),
    ],
)
async def test_what_must_not_leave_does_not(request_: Request, why: str) -> None:
    async with serving(answering(OK)) as server:
        with pytest.raises(RequestNotSent, match=why):
            await send(server, request_)
        assert server.connections == 0


# -- nobody knows -------------------------------------------------------------------------------------------------


async def _reset_at_once(connection: Connection) -> None:
    await connection.reader.read(10)
    connection.reset()


async def _closed_at_once(connection: Connection) -> None:
    pass


async def _reset_after_request(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def _closed_after_request(connection: Connection) -> None:
    await connection.request()


async def _reset_in_headers(connection: Connection) -> None:
    await connection.request()
    await connection.say(OK[:30])
    connection.reset()


async def _not_http(connection: Connection) -> None:
    await connection.request()
    await connection.say(b"nonsense\r\n\r\n")


async def _endless_headers(connection: Connection) -> None:
    await connection.request()
    await connection.say(b"HTTP/1.1 200 OK\r\n")
    while True:
        await connection.say(b"a: " + b"x" * 1000 + b"\r\n")


@pytest.mark.parametrize(
    "act",
    [
        _reset_at_once,
        _closed_at_once,
        _reset_after_request,
        _closed_after_request,
        _reset_in_headers,
        _not_http,
        _endless_headers,
    ],
)
@pytest.mark.parametrize("nature", ["write", "read_once"])
async def test_a_connection_that_ends_is_lost_and_nothing_is_repeated(act: Act, nature: str) -> None:
    async with serving(act) as server:
        with pytest.raises(ResponseLost) as problem:
            await send(server, Request("POST", WRITE.url, body={}, encoding="json", nature=nature))  # type: ignore[arg-type] # both are natures
        assert server.connections == 1
        assert len(server.requests) <= 1
    assert problem.value.outcome == "unknown"


async def test_a_reset_after_the_headers_keeps_what_they_said() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(answer(201, b"x" * 100, "X-Request-Id: abc")[:-50])
        await asyncio.sleep(0.05)
        connection.reset()

    async with serving(act) as server:
        with pytest.raises(ResponseLost) as problem:
            await send(server, WRITE)
    assert problem.value.native.status == 201
    assert problem.value.headers["x-request-id"] == "abc"


@pytest.mark.parametrize("status", [200, 400, 429, 500])
async def test_a_truncated_body_is_lost_whatever_the_status(status: int) -> None:
    """The code that says what a 400 means may have been in the part that is missing."""

    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(answer(status, b'{"id":"777"}')[:-3])

    async with serving(act) as server:
        with pytest.raises(ResponseLost) as problem:
            await send(server, WRITE)
    assert problem.value.native.status == status


async def test_a_truncated_chunked_body_is_lost() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n')

    async with serving(act) as server:
        with pytest.raises(ResponseLost):
            await send(server, WRITE)


async def _silent(connection: Connection) -> None:
    await connection.request()
    await asyncio.sleep(30)


async def _slow_headers(connection: Connection) -> None:
    await connection.request()
    for byte in OK:
        await connection.say(bytes([byte]))
        await asyncio.sleep(0.2)


async def _slow_body(connection: Connection) -> None:
    await connection.request()
    await connection.say(OK[:-12])
    for byte in OK[-12:]:
        await connection.say(bytes([byte]))
        await asyncio.sleep(0.2)


async def _deaf(connection: Connection) -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize("act", [_silent, _slow_headers, _slow_body, _deaf])
async def test_time_is_up_means_lost(act: Act) -> None:
    big = Request("POST", WRITE.url, body={"x": "y" * 10_000_000}, encoding="json", nature="write")
    async with serving(act) as server:
        started = time.monotonic()
        with pytest.raises(ResponseLost, match="too long"):
            await send(server, big if act is _deaf else WRITE, timeout=0.5)
        assert time.monotonic() - started < 2
        assert server.connections == 1


async def test_a_cancelled_write_is_cancelled_and_its_connection_not_used_again() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        if connection.number == 1:
            await asyncio.sleep(30)
        await connection.say(OK)

    async with serving(act) as server, HttpTransport(server.url) as sending:
        task = asyncio.create_task(sending.send(WRITE, hosts=(HOST,)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        assert server.connections == 2


# -- connections --------------------------------------------------------------------------------------------------


async def test_a_connection_is_used_again() -> None:
    async with serving(answering(OK)) as server, HttpTransport(server.url) as sending:
        for _ in range(5):
            await sending.send(WRITE, hosts=(HOST,))
        assert (server.connections, len(server.requests)) == (1, 5)


async def test_a_connection_that_the_server_closed_while_idle_is_not_used_for_a_write() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(OK)  # and closes

    async with serving(act) as server, HttpTransport(server.url) as sending:
        for _ in range(3):
            assert (await sending.send(WRITE, hosts=(HOST,))).status == 200
            await asyncio.sleep(0.05)
        assert (server.connections, len(server.requests)) == (3, 3)


async def test_a_connection_closed_upon_the_next_write_is_lost_not_repeated() -> None:
    """The close crosses the write on the wire: the one case that looking cannot prevent."""

    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(OK)
        await connection.reader.read(1)

    async with serving(act) as server, HttpTransport(server.url) as sending:
        await sending.send(WRITE, hosts=(HOST,))
        with pytest.raises(ResponseLost):
            await sending.send(WRITE, hosts=(HOST,))
        assert (server.connections, len(server.requests)) == (1, 1)


async def test_an_idle_connection_is_given_up_early(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "IDLE_SECONDS", 0.1)
    async with serving(answering(OK)) as server, HttpTransport(server.url) as sending:
        await sending.send(WRITE, hosts=(HOST,))
        await asyncio.sleep(0.2)
        await sending.send(WRITE, hosts=(HOST,))
        assert server.connections == 2


async def test_what_comes_unasked_on_an_idle_connection_is_no_answer() -> None:
    """An answer that is sent twice must not become the answer to the next write."""

    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(OK)
        await asyncio.sleep(0.05)
        await connection.say(OK)
        await connection.request()
        await connection.say(answer(200, b'{"id":"888"}'))

    async with serving(act) as server, HttpTransport(server.url) as sending:
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        await asyncio.sleep(0.2)
        await sending.send(WRITE, hosts=(HOST,))
        assert server.connections == 2


async def test_an_answer_that_came_twice_at_once_is_not_the_answer_to_the_next_write() -> None:
    async with serving(answering(OK + OK)) as server, HttpTransport(server.url) as sending:
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        with pytest.raises(ResponseLost, match="before"):
            await sending.send(WRITE, hosts=(HOST,))
        assert server.connections == 1
        await sending.send(WRITE, hosts=(HOST,))
        assert server.connections == 2


@pytest.mark.parametrize("pause", [0.0, 0.2])
async def test_a_second_answer_behind_a_long_first_one_is_not_the_answer_to_the_next_write(pause: float) -> None:
    """The first fills exactly what is taken at a time (64 KiB): the second waits in a buffer that is no socket's."""
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    length = 64 * 1024 - len(head % 10_000)
    long = head % length + b'{"id":"777"}'.ljust(length)

    async def act(connection: Connection) -> None:
        while True:
            await connection.request()
            first = len(connection.requests) == 1
            await connection.say(long + answer(400, b'{"error":{}}') if first else answer(200, b'{"id":"888"}'))

    async with serving(act) as server, HttpTransport(server.url) as sending:
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        await asyncio.sleep(pause)
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "888"}
        assert server.connections == 2


@pytest.mark.parametrize("length", [100, 16 * 1024, 64 * 1024])  # of a record, and of what is taken at a time
async def test_nor_is_one_that_came_over_tls(length: int, tmp_path: Path) -> None:
    authority, connections = Authority(tmp_path), 0
    head = b"HTTP/1.1 200 OK\r\nContent-Length: %d\r\n\r\n"
    content = b'{"id":"777"}'.ljust(length - len(head % length))

    async def accepted(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        nonlocal connections
        connections += 1
        twice = head % len(content) + content + answer(400, b'{"error":{}}')
        said = twice if connections == 1 else answer(200, b'{"id":"888"}')
        with suppress(asyncio.IncompleteReadError, ConnectionError):
            while await reader.readuntil(b"\r\n\r\n"):
                writer.write(said)
                await writer.drain()
        writer.close()

    listener = await asyncio.start_server(accepted, "127.0.0.1", 0, ssl=authority.server("localhost"))
    url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
    async with listener, HttpTransport(url, tls=authority.trusting()) as sending:
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        await asyncio.sleep(0.1)
        try:
            assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "888"}
        except ResponseLost as problem:  # what lay in the parser already is found there
            assert "before" in str(problem)


async def test_a_redirect_is_an_answer() -> None:
    async with serving(answering(answer(302, b"", "Location: https://network.example/elsewhere"))) as server:
        assert (await send(server, WRITE)).status == 302
        assert (await send(server, READ)).status == 302
        assert len(server.requests) == 2


# -- the simulated networks ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "url",
    [
        "http://10.0.0.1:80",
        "https://sandbox.example",
        "ftp://127.0.0.1",
        "http://127.0.0.1.example",
        "http://a@127.0.0.1",
    ],
)
def test_simulated_networks_are_only_on_this_machine(url: str) -> None:
    with pytest.raises(InvalidInput):
        HttpTransport(url)


async def test_downloads_from_elsewhere_go_to_the_simulated_networks_too() -> None:
    async with serving(answering(answer(200, b"a,b\n1,2\n"))) as server:
        found = await send(server, Request("GET", "https://files.example/r.csv?s=1", answer="bytes", signed=False))
        assert found.body == b"a,b\n1,2\n"
        assert server.requests[0].startswith(b"GET /files.example/r.csv?s=1 HTTP/1.1\r\n")


async def test_downloads_from_elsewhere_go_through_the_guard() -> None:
    async with HttpTransport() as sending:
        for url in ("https://127.0.0.1/r", "https://localhost/r", "https://files.example:444/r"):
            with pytest.raises(RequestNotSent, match="Only https on port 443"):
                await sending.send(Request("GET", url, signed=False), hosts=(HOST,))


def test_nothing_of_the_environment_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    async def run() -> None:
        async with serving(answering(OK)) as server:
            assert (await send(server, WRITE)).status == 200

    asyncio.run(run())
