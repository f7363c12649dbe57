"""What is no request, on a bare socket: refused as problem details, and nothing of it is repeated or logged."""

from __future__ import annotations

import asyncio
import errno
import json
import logging
import sys
from contextlib import suppress
from pathlib import Path
from urllib.parse import SplitResult, quote, urlsplit

import pytest
from aiohttp import web

from adsunify_server import runner
from adsunify_server.app import MAX_BODY_BYTES

from .served import NEVER, PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = b"adu_AAAAAAAA_s3cr3t"
KEYS = f"{PREFIX}/keys".encode()
HOST = b"Host: 127.0.0.1\r\n"

NO_REQUESTS = {
    "no HTTP": SECRET + b"\r\n\r\n",
    "another method": b"FETCH " + KEYS + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "no host": b"GET " + KEYS + b" HTTP/1.1\r\nX: " + SECRET + b"\r\n\r\n",
    "two hosts": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Host: " + SECRET + b"\r\n\r\n",
    "two lengths": b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Content-Length: 2\r\nContent-Length: 2\r\n\r\n{}",
    "a NUL in a header": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Authorization: Bearer " + SECRET + b"\0\r\n\r\n",
    "a long line": b"GET " + KEYS + b"?a=" + SECRET * 4000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a long header": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Authorization: " + SECRET * 1000 + b"\r\n\r\n",
    "many headers": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"X: " + SECRET + b"\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "a broken length": b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Content-Length: -5\r\n\r\n",
    "a broken chunk": b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + SECRET,
    "an expectation": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Expect: " + SECRET + b"\r\n\r\n",
}


async def send_bytes(server: Served, data: bytes) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body of the answer to these bytes; the connection is closed after it."""
    at = urlsplit(server.base_url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(data)
    async with asyncio.timeout(20):
        answer = await reader.read()
    writer.close()
    head, _, body = answer.partition(b"\r\n\r\n")
    status, *lines = head.decode().split("\r\n")
    return int(status.split()[1]), dict(line.split(": ", 1) for line in lines), body


@pytest.mark.parametrize("data", NO_REQUESTS.values(), ids=NO_REQUESTS)
async def test_what_is_no_request(empty: Served, data: bytes, caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        status, headers, body = await send_bytes(empty, data)
    assert (status, headers["Content-Type"]) == (400, "application/problem+json")
    problem = json.loads(body)
    empty.schemas.validator("/components/schemas/Problem").validate(problem)
    assert (problem["code"], problem["outcome"]) == ("malformed_request", "not_applied")
    assert problem["requestId"] == headers["X-Request-Id"]
    assert headers["Cache-Control"] == "no-store"
    assert SECRET.decode() not in body.decode() + caplog.text


async def test_the_longest_line_that_the_contract_allows(empty: Served) -> None:
    """Each of the characters takes twelve in an address."""
    entity, query = quote("🗝" * 250), {"parentId": "🗝" * 250, "search": "🗝" * 200, "cursor": "x" * 4000}
    answer = await empty.admin.send("GET", f"/accounts/{NEVER}/campaigns", query=query)
    assert answer.status_code == 404, answer.text
    answer = await empty.admin.send("GET", f"/accounts/{NEVER}/campaigns/{entity}/settings")
    assert answer.status_code == 404, answer.text


async def test_an_expectation_that_is_met(empty: Served) -> None:
    token = empty.people["admin"].tokens["write"].encode()
    head = b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Connection: close\r\nExpect: 100-continue\r\n"
    head += b"Authorization: Bearer " + token + b"\r\nContent-Type: application/json\r\nContent-Length: 13\r\n\r\n"
    status, _, rest = await send_bytes(empty, head + b'{"name": "x"}')
    assert status == 100
    assert rest.startswith(b"HTTP/1.1 201 ")


# -- bounds -------------------------------------------------------------------------------------------------------


async def drip(server: Served, before: bytes, data: bytes) -> bytes:
    """The answer to bytes at once and more one by one, until the server closes or all are sent."""
    at = urlsplit(server.base_url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(before)
    answer = asyncio.create_task(read_until_closed(reader))
    async with asyncio.timeout(60):
        for byte in data:
            if answer.done() or writer.is_closing():
                break
            writer.write(bytes([byte]))
            await asyncio.sleep(0.02)
        received = await answer
    writer.close()
    return received


async def read_until_closed(reader: asyncio.StreamReader) -> bytes:
    """What arrives; a server that closes before it has read all resets the connection."""
    received = b""
    with suppress(ConnectionResetError):
        while part := await reader.read(65536):
            received += part
    return received


@pytest.mark.parametrize(
    "before", [b"", b"GET /healthz HTTP/1.1\r\n" + HOST + b"\r\n"], ids=["first head", "later head"]
)
async def test_a_head_that_does_not_end_is_closed(
    empty: Served, monkeypatch: pytest.MonkeyPatch, before: bytes
) -> None:
    """However its bytes are spread; a connection that sends none at all ends, too."""
    monkeypatch.setattr(runner, "HEAD_TIMEOUT_SECONDS", 1.5)
    answer = await drip(empty, before, b"GET /healthz HTTP/1.1\r\nX: " + b"x" * 1000)
    assert answer.count(b"HTTP/1.1 200 OK") == (1 if before else 0)
    assert answer.count(b"HTTP/1.1") == answer.count(b"HTTP/1.1 200 OK")
    assert before or await drip(empty, b"", b"") == b""


async def test_a_whole_head_ends_its_time(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """A body may take longer, and so may the pause before the next request."""
    monkeypatch.setattr(runner, "HEAD_TIMEOUT_SECONDS", 1.5)
    token = empty.people["admin"].tokens["write"].encode()
    head = b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Content-Type: application/json\r\nContent-Length: 13\r\n"
    at = urlsplit(empty.base_url)
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    writer.write(head + b"Authorization: Bearer " + token + b"\r\n\r\n" + b'{"name"')
    await asyncio.sleep(2)
    writer.write(b': "x"}')
    assert (await reader.readline()).startswith(b"HTTP/1.1 201 ")
    await asyncio.sleep(2)
    writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
    async with asyncio.timeout(20):
        assert b"HTTP/1.1 200 OK" in await reader.read()
    writer.close()


async def test_a_connection_is_read_in_parts(empty: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    """The requests of other connections have their turn between the parts of a large body."""
    sizes: list[int] = []
    receive = web.RequestHandler.data_received

    def record_size(connection: web.RequestHandler, data: bytes) -> None:
        sizes.append(len(data))
        receive(connection, data)

    monkeypatch.setattr(web.RequestHandler, "data_received", record_size)
    body = b'{"name": "' + b"x" * (MAX_BODY_BYTES - 12) + b'"}'
    answer = await empty.admin.send("POST", "/keys", content=body, headers={"Content-Type": "application/json"})
    assert answer.status_code == 422
    assert sum(sizes) > MAX_BODY_BYTES
    assert max(sizes) <= runner.READ_BYTES


async def test_connections_are_capped_below_the_descriptors(tmp_path: Path) -> None:
    """Beyond the cap a connection is answered 503; where one ends, another one is answered."""
    descriptors, many = 512, 400  # one turn of the loop may accept 128 more than the cap before it answers them
    command = [sys.executable, "-m", "adsunify", "serve", "--database", "sqlite:///x.db", "--port", "0", "--json"]
    with (tmp_path / "log").open("wb") as log:
        server = await asyncio.create_subprocess_exec(
            *("sh", "-c", f'ulimit -n {descriptors}; exec "$@"', "sh", *command),
            cwd=tmp_path,
            stdout=asyncio.subprocess.PIPE,
            stderr=log,
        )
    assert server.stdout is not None
    try:
        at = urlsplit(json.loads(await server.stdout.readline())["baseUrl"])
        connections = [await asyncio.open_connection(at.hostname, at.port) for _ in range(many)]
        answers = [asyncio.create_task(reader.readline()) for reader, _ in connections]
        async with asyncio.timeout(20):
            while sum(answer.done() and b" 503 " in answer.result() for answer in answers) < many - descriptors // 2:
                await asyncio.sleep(0.1)
        assert not all(answer.done() for answer in answers)
        for _, writer in connections:
            writer.close()
        async with asyncio.timeout(20):
            while not (await read_health_answer(at)).startswith(b"HTTP/1.1 200 "):
                await asyncio.sleep(0.1)
    finally:
        server.terminate()
        await server.wait()
    assert (tmp_path / "log").read_text().count("accept") == 0


async def read_health_answer(at: SplitResult) -> bytes:
    """The answer of /healthz on a connection of its own."""
    reader, writer = await asyncio.open_connection(at.hostname, at.port)
    try:
        writer.write(b"GET /healthz HTTP/1.1\r\n" + HOST + b"Connection: close\r\n\r\n")
        return await reader.read()
    except ConnectionResetError:
        return b""
    finally:
        writer.close()


async def test_a_full_process_logs_once_a_second(empty: Served, caplog: pytest.LogCaptureFixture) -> None:
    """The server's loop reports each accept that fails, 128 times a second."""
    loop = asyncio.get_running_loop()
    full = {
        "message": "socket.accept() out of system resource",
        "exception": OSError(errno.EMFILE, "Too many open files"),
    }
    begun = loop.time()
    for _ in range(500):
        loop.call_exception_handler({**full, "socket": None})
    seconds = loop.time() - begun
    lines = [record for record in caplog.records if "accept" in record.getMessage()]
    assert 1 <= len(lines) <= 1 + seconds
    loop.call_exception_handler({"message": "something else"})
    assert "something else" in caplog.text
