"""What is no request, on a bare socket: refused as problem details, and nothing of it is repeated or logged."""

from __future__ import annotations

import asyncio
import json
import logging
from urllib.parse import quote, urlsplit

import pytest

from .served import NEVER, PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")
SECRET = b"adu_AAAAAAAA_s3cr3t"
KEYS = f"{PREFIX}/keys".encode()
HOST = b"Host: 127.0.0.1\r\n"

NO_REQUESTS = {
    "no HTTP": SECRET + b"\r\n\r\n",
    "another method": b"FETCH " + KEYS + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "no host": b"GET " + KEYS + b" HTTP/1.1\r\nX: " + SECRET + b"\r\n\r\n",
    "a NUL in a header": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Authorization: Bearer " + SECRET + b"\0\r\n\r\n",
    "a long line": b"GET " + KEYS + b"?a=" + SECRET * 4000 + b" HTTP/1.1\r\n" + HOST + b"\r\n",
    "a long header": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Authorization: " + SECRET * 1000 + b"\r\n\r\n",
    "many headers": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"X: " + SECRET + b"\r\n" + b"X: y\r\n" * 200 + b"\r\n",
    "a broken length": b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Content-Length: -5\r\n\r\n",
    "a broken chunk": b"POST " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Transfer-Encoding: chunked\r\n\r\n" + SECRET,
    "an expectation": b"GET " + KEYS + b" HTTP/1.1\r\n" + HOST + b"Expect: " + SECRET + b"\r\n\r\n",
}


async def sent(server: Served, data: bytes) -> tuple[int, dict[str, str], bytes]:
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
        status, headers, body = await sent(empty, data)
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
    status, _, rest = await sent(empty, head + b'{"name": "x"}')
    assert status == 100
    assert rest.startswith(b"HTTP/1.1 201 ")
