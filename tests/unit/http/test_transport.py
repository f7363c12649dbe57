"""What the transport says of each thing that can happen to a request, over real sockets."""

from __future__ import annotations

import asyncio
import socket
import threading
import time
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import httpcore
import pytest
from attrs import evolve

from adsunify.errors import InvalidInput, RequestNotSent, ResponseLost
from adsunify.http import backend, transport
from adsunify.http.egress import Egress
from adsunify.http.messages import Request, RequestKind
from adsunify.http.transport import HttpTransport

from .certificates import Authority
from .server import HOST, OK, READ, WRITE, Connection, answer, answer_in_turn, send, serve_script

Act = Callable[[Connection], Awaitable[None]]


# -- surely not sent ----------------------------------------------------------------------------------------------


async def test_a_refused_connection_is_not_sent() -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        sending = HttpTransport(f"http://127.0.0.1:{closed.getsockname()[1]}")
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
        sending = HttpTransport(f"http://127.0.0.1:{full.getsockname()[1]}")
        with pytest.raises(RequestNotSent):
            await sending.send(WRITE, hosts=(HOST,), timeout=0.3)


async def test_waiting_for_a_free_connection_is_not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "MAX_CONNECTIONS", 1)

    async def never_answer(connection: Connection) -> None:
        await connection.request()
        await asyncio.sleep(30)

    async with serve_script(never_answer) as server:
        sending = HttpTransport(server.url)
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
        (Request("POST", "http://network.example/x", kind="write"), "https"),
        (Request("POST", "https://other.example/x", kind="write"), "not a host"),
        (Request("GET", "https://other.example/x"), "not a host"),
        (Request("GET", "https://network.example:444/x"), "not a host"),
        (Request("GET", "https://user@network.example/x"), "not a host"),
        (Request("POST", "https://other.example/x", kind="write", is_signed=False), "not a host"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": ".."}, kind="write"), "a dot"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": "."}, kind="write"), "a dot"),
        (Request("DELETE", "https://network.example/x/{id}", path={"id": ""}, kind="write"), "empty"),
        (Request("GET", "https://network.example/x", headers={"a": "b\r\nc: d"}), "header"),
        (Request("GET", "https://network.example/x", headers={"a": "\u2713"}), "header"),
        (Request("GET /", "https://network.example/x"), "method"),
        (Request("GET", "https://network.example/x", query_raw="a=b c"), "https"),
        (Request("POST", "https://network.example/x", body={"a": [1]}, encoding="form", kind="write"), "text only"),
    ],
)
async def test_what_must_not_leave_does_not(request_: Request, why: str) -> None:
    async with serve_script(answer_in_turn(OK)) as server:
        with pytest.raises(RequestNotSent, match=why):
            await send(server, request_)
        assert server.connections == 0


# -- nobody knows -------------------------------------------------------------------------------------------------


async def _reset_at_once(connection: Connection) -> None:
    await connection.reader.read(10)
    connection.reset()


async def _close_at_once(connection: Connection) -> None:
    pass


async def _reset_after_request(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def _close_after_request(connection: Connection) -> None:
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
        _close_at_once,
        _reset_after_request,
        _close_after_request,
        _reset_in_headers,
        _not_http,
        _endless_headers,
    ],
)
@pytest.mark.parametrize("nature", ["write", "read_once"])
async def test_a_connection_that_ends_is_lost_and_nothing_is_repeated(act: Act, nature: RequestKind) -> None:
    async with serve_script(act) as server:
        with pytest.raises(ResponseLost) as problem:
            await send(server, Request("POST", WRITE.url, body={}, encoding="json", kind=nature))
        assert server.connections == 1
        assert len(server.requests) <= 1
    assert problem.value.outcome == "unknown"


async def test_a_reset_after_the_headers_keeps_what_they_said() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(answer(201, b"x" * 100, "X-Request-Id: abc")[:-50])
        await asyncio.sleep(0.05)
        connection.reset()

    async with serve_script(act) as server:
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

    async with serve_script(act) as server:
        with pytest.raises(ResponseLost) as problem:
            await send(server, WRITE)
    assert problem.value.native.status == status


async def test_a_truncated_chunked_body_is_lost() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"id"\r\n')

    async with serve_script(act) as server:
        with pytest.raises(ResponseLost):
            await send(server, WRITE)


@pytest.mark.parametrize("status", [200, 400])
async def test_an_answer_that_does_not_say_how_long_it_is_counts_where_it_shows_its_end(status: int) -> None:
    """Without a length it ends where the connection ends, and that may be too early (RFC 9112, 8)."""
    head = f"HTTP/1.1 {status} X\r\n\r\n".encode()

    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(head + bodies[connection.number - 1])

    bodies = [b'{"id":"777"}', b'{"id":"777"', b""]
    async with serve_script(act) as server:
        assert (await send(server, WRITE)).body == {"id": "777"}
        for _ in bodies[1:]:
            with pytest.raises(ResponseLost) as problem:
                await send(server, WRITE)
            assert problem.value.native.status == status


async def _never_answer(connection: Connection) -> None:
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


async def _never_read(connection: Connection) -> None:
    await asyncio.sleep(30)


@pytest.mark.parametrize("act", [_never_answer, _slow_headers, _slow_body, _never_read])
async def test_time_is_up_means_lost(act: Act) -> None:
    big = Request("POST", WRITE.url, body={"x": "y" * 10_000_000}, encoding="json", kind="write")
    async with serve_script(act) as server:
        started = time.monotonic()
        with pytest.raises(ResponseLost, match="too long"):
            await send(server, big if act is _never_read else WRITE, timeout=0.5)
        assert time.monotonic() - started < 2
        assert server.connections == 1


async def test_a_cancelled_write_is_cancelled_and_its_connection_not_used_again() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        if connection.number == 1:
            await asyncio.sleep(30)
        await connection.say(OK)

    async with serve_script(act) as server:
        sending = HttpTransport(server.url)
        task = asyncio.create_task(sending.send(WRITE, hosts=(HOST,)))
        await asyncio.sleep(0.1)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
        assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": "777"}
        assert server.connections == 2


# -- connections --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("nature", ["write", "read_once"])
async def test_what_must_not_be_repeated_has_a_connection_that_is_closed_after_its_answer(nature: RequestKind) -> None:
    closed: list[int] = []

    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(OK)
        await connection.reader.read()
        closed.append(connection.number)

    request = evolve(WRITE, kind=nature)
    async with serve_script(act) as server:
        sending = HttpTransport(server.url)
        async with sending.open_pool() as pool:
            for number in range(1, 4):
                await sending.send(request, hosts=(HOST,), pool=pool)
                async with asyncio.timeout(5):
                    while number not in closed:
                        await asyncio.sleep(0.01)


async def test_reads_share_the_connections_of_their_pool_and_of_no_other() -> None:
    async with serve_script(answer_in_turn(OK)) as server:
        sending = HttpTransport(server.url)
        for opened in (1, 2):
            async with sending.open_pool() as pool:
                for _ in range(3):
                    await sending.send(READ, hosts=(HOST,), pool=pool)
            assert server.connections == opened


async def test_a_pooled_connection_that_the_server_closed_costs_a_read_nothing() -> None:
    async def act(connection: Connection) -> None:
        await connection.request()
        await connection.say(OK)  # and closes

    async with serve_script(act) as server:
        sending = HttpTransport(server.url)
        async with sending.open_pool() as pool:
            for _ in range(3):
                assert (await sending.send(READ, hosts=(HOST,), pool=pool)).status == 200
                await asyncio.sleep(0.05)


@pytest.mark.parametrize("late", [None, 0.0, 0.002, 0.01, 0.05])
@pytest.mark.parametrize("length", [12, 16 * 1024, 64 * 1024])
async def test_a_copy_of_an_answer_is_not_the_answer_to_the_next_write(late: float | None, length: int) -> None:
    """``late``: seconds between an answer and its copy, which come together where it is None."""

    async def act(connection: Connection) -> None:
        while True:
            await connection.request()
            response = answer(200, b'{"id":"%d"}'.ljust(length) % len(connection.requests))
            await connection.say(response + response if late is None else response)
            if late is not None:
                await asyncio.sleep(late)
                await connection.say(response)

    async with serve_script(act) as server:
        sending = HttpTransport(server.url)
        for number in range(1, 6):
            assert (await sending.send(WRITE, hosts=(HOST,))).body == {"id": str(number)}


# -- when a request leaves ----------------------------------------------------------------------------------------


async def _once_over_tls(tmp_path: Path, check: Callable[[list[bytes]], None]) -> list[bytes]:
    """Send a write over TLS; ``check`` is given what the server has read so far. Returns what it read in the end."""
    authority, read = Authority(tmp_path), list[bytes]()
    shaken = asyncio.Event()

    async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        shaken.set()
        with suppress(ConnectionError):
            while data := await reader.read(1024):
                read.append(data)
                if data.endswith(b'{"name":"x"}'):
                    writer.write(OK)
        writer.close()

    listener = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=authority.server("localhost"))
    url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        try:
            await HttpTransport(url, egress=Egress(authority.make_client_context())).send(
                WRITE, hosts=(HOST,), check=lambda: check(read)
            )
        finally:
            await asyncio.wait_for(shaken.wait(), 5)  # the handshake was over
            await asyncio.sleep(0.05)
    return read


async def test_the_check_is_asked_once_after_the_handshake_and_before_the_first_byte(tmp_path: Path) -> None:
    reads_at_check: list[list[bytes]] = []
    read = await _once_over_tls(tmp_path, lambda read: reads_at_check.append(list(read)))
    assert reads_at_check == [[]]
    assert b"".join(read).startswith(b"POST /network.example/v1/things HTTP/1.1\r\n")


async def test_what_the_check_refuses_stays_here(tmp_path: Path) -> None:
    read: list[bytes] = []

    def refuse(so_far: list[bytes]) -> None:
        nonlocal read
        read = so_far
        raise RequestNotSent("The lease ended.")

    with pytest.raises(RequestNotSent, match="lease") as problem:
        await _once_over_tls(tmp_path, refuse)
    assert (read, problem.value.outcome) == ([], "not_applied")


async def test_a_failure_is_lost_where_the_backend_saw_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    """httpcore would have found another way to the network: then nothing is known of what left."""

    async def raise_elsewhere(*_: object) -> None:
        raise httpcore.ConnectError("by another way")

    monkeypatch.setattr(httpcore.AsyncConnectionPool, "handle_async_request", raise_elsewhere)
    with pytest.raises(ResponseLost):
        await HttpTransport("http://127.0.0.1:9").send(WRITE, hosts=(HOST,))


async def test_what_may_have_left_makes_no_second_connection(monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever httpcore repeats: it meets our backend, which knows the request."""
    handle = httpcore.AsyncConnectionPool.handle_async_request

    async def send_twice(pool: httpcore.AsyncConnectionPool, request: httpcore.Request) -> httpcore.Response:
        await handle(pool, request)
        return await handle(pool, request)

    monkeypatch.setattr(httpcore.AsyncConnectionPool, "handle_async_request", send_twice)
    async with serve_script(answer_in_turn(OK)) as server:
        with pytest.raises(ResponseLost):
            await send(server, WRITE)
        assert (server.connections, len(server.requests)) == (1, 1)


async def test_an_error_of_httpcore_after_the_first_byte_is_lost_whatever_its_class() -> None:
    """Events and classes of errors are httpcore's own; what counts is that a byte may have left."""

    async def raise_connect_error(stream: object, max_bytes: int, timeout: float | None = None) -> bytes:
        raise httpcore.ConnectError("it says that it could not connect")

    async with serve_script(answer_in_turn(OK)) as server:
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(backend.NetworkStream, "read", raise_connect_error)
            with pytest.raises(ResponseLost):
                await send(server, WRITE)


# -- a loop that was blocked --------------------------------------------------------------------------------------


@contextmanager
def _answering_thread(blocked: threading.Event) -> Iterator[str]:
    """A server that needs no event loop; it answers once ``blocked`` is set."""

    def serve() -> None:
        with suppress(OSError):
            connection, _ = listener.accept()
            with connection:
                while not connection.recv(65_536).endswith(b'{"name":"x"}'):
                    pass
                has_request.set()
                blocked.wait(10)
                connection.sendall(OK)

    has_request = threading.Event()
    with socket.create_server(("127.0.0.1", 0)) as listener:
        thread = threading.Thread(target=serve)
        thread.start()
        try:
            yield f"http://127.0.0.1:{listener.getsockname()[1]}"
        finally:
            blocked.set()
            listener.close()
            thread.join(10)


async def test_an_answer_that_came_while_the_loop_was_blocked_is_read() -> None:
    blocked = threading.Event()
    with _answering_thread(blocked) as url:
        task = asyncio.create_task(HttpTransport(url).send(WRITE, hosts=(HOST,), timeout=0.5))
        await asyncio.sleep(0.2)
        blocked.set()
        time.sleep(1.5)  # the answer comes at once, and the deadline passes
        assert (await task).body == {"id": "777"}


async def test_an_answer_that_was_read_counts_although_closing_takes_longer(monkeypatch: pytest.MonkeyPatch) -> None:
    aclose = backend.NetworkStream.aclose

    async def close_late(stream: backend.NetworkStream) -> None:
        await asyncio.sleep(0.6)
        await aclose(stream)

    monkeypatch.setattr(backend.NetworkStream, "aclose", close_late)
    async with serve_script(answer_in_turn(OK.replace(b"\r\n", b"\r\nConnection: close\r\n", 1))) as server:
        assert (await send(server, WRITE, timeout=0.3)).body == {"id": "777"}


async def test_a_deadline_that_passes_while_somebody_looks_ends_the_request() -> None:
    with _answering_thread(threading.Event()) as url, pytest.raises(ResponseLost, match="too long"):
        await HttpTransport(url).send(WRITE, hosts=(HOST,), timeout=0.5)


async def test_a_long_address_is_sent_as_it_is() -> None:
    """Filters of a network may be longer than the 64 KiB that httpx reads of an address."""
    ids = ",".join(str(number) for number in range(12_000))

    async def act(connection: Connection) -> None:
        connection.reader._limit = 1_000_000  # type: ignore[attr-defined] # of a line
        await connection.request()
        await connection.say(OK)

    async with serve_script(act) as server:
        assert (await send(server, Request("DELETE", WRITE.url, query_raw=f"ids={ids}", kind="write"))).status == 200
        assert server.requests[0].startswith(f"DELETE /{HOST}/v1/things?ids={ids} HTTP/1.1\r\n".encode())


async def test_a_redirect_is_an_answer() -> None:
    async with serve_script(answer_in_turn(answer(302, b"", "Location: https://network.example/elsewhere"))) as server:
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
    async with serve_script(answer_in_turn(answer(200, b"a,b\n1,2\n"))) as server:
        response = await send(
            server, Request("GET", "https://files.example/r.csv?s=1", response_format="bytes", is_signed=False)
        )
        assert response.body == b"a,b\n1,2\n"
        assert server.requests[0].startswith(b"GET /files.example/r.csv?s=1 HTTP/1.1\r\n")


async def test_downloads_from_elsewhere_go_through_the_guard() -> None:
    sending = HttpTransport()
    for url in ("https://127.0.0.1/r", "https://localhost/r", "https://files.example:444/r"):
        with pytest.raises(RequestNotSent, match="Only https on port 443"):
            await sending.send(Request("GET", url, is_signed=False), hosts=(HOST,))


def test_nothing_of_the_environment_is_heeded(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("HTTPS_PROXY", "http://127.0.0.1:9")
    monkeypatch.setenv("ALL_PROXY", "http://127.0.0.1:9")

    async def send_once() -> None:
        async with serve_script(answer_in_turn(OK)) as server:
            assert (await send(server, WRITE)).status == 200

    asyncio.run(send_once())
