"""What is refused before an endpoint is asked: methods, media types, bodies that are too large; on every endpoint."""

from __future__ import annotations

import re
import zlib
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from adsunify.contract import ENDPOINTS, Endpoint
from adsunify_server.app import MAX_BODY_BYTES
from adsunify_server.examples import EXAMPLE_ID, PATH_EXAMPLES

from .served import PREFIX, Served

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}
METHODS = ("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS", "TRACE")
FORMS = ("/oauth/token", "/oauth/revoke", "/sign-in")
DOORS = (*FORMS, "/oauth/register", "/api/mcp")
every = pytest.mark.parametrize("endpoint", ENDPOINTS, ids=lambda endpoint: endpoint.operation_id)


def make_address(endpoint: Endpoint) -> str:
    return re.sub(r"\{(\w+)\}", lambda match: PATH_EXAMPLES.get(match[1], EXAMPLE_ID), endpoint.path)


async def send_request(server: Served, endpoint: Endpoint, **more: Any) -> httpx.Response:
    """A request of the admin's; the answer is held against the contract."""
    return await server.admin.send(endpoint.method, make_address(endpoint), **more)


def check_refusal(answer: httpx.Response, status: int, code: str) -> None:
    assert (answer.status_code, answer.json()["code"]) == (status, code), answer.text
    assert answer.json()["outcome"] == "not_applied"


async def make_chunks(size: int) -> AsyncIterator[bytes]:
    """A body whose length is not said."""
    for _ in range(size // 65_536 + 1):
        yield b" " * 65_536


@every
async def test_a_body_may_be_so_large(empty: Served, endpoint: Endpoint) -> None:
    """Two megabytes, with their length and without."""
    before = await empty.rows()
    for large in (b"{" + b" " * 2 * MAX_BODY_BYTES, make_chunks(2 * MAX_BODY_BYTES)):
        headers = {**JSON, "Authorization": f"Bearer {empty.people['admin'].tokens['write']}"}
        answer = await empty.http.request(
            endpoint.method, PREFIX + make_address(endpoint), content=large, headers=headers
        )
        empty.schemas.check(endpoint.method, make_address(endpoint), answer)
        if endpoint.body is None:
            check_refusal(answer, 422, "invalid_input")
        else:
            check_refusal(answer, 413, "body_too_large")
    assert await empty.rows() == before


@every
async def test_the_largest_body_is_read(empty: Served, endpoint: Endpoint) -> None:
    if endpoint.body is not None and not endpoint.needs_person:
        answer = await send_request(empty, endpoint, content=b"[" + b" " * (MAX_BODY_BYTES - 2) + b"]")
        check_refusal(answer, 422, "invalid_input")


@every
async def test_a_body_is_json(empty: Served, endpoint: Endpoint) -> None:
    answer = await send_request(empty, endpoint, content=b"<x/>", headers={"Content-Type": "text/xml"})
    if endpoint.body is None:
        check_refusal(answer, 422, "invalid_input")
    else:
        check_refusal(answer, 415, "unsupported_media_type")


@pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.body is None],
    ids=lambda endpoint: endpoint.operation_id,
)
async def test_a_body_that_nothing_would_read_is_refused(empty: Served, endpoint: Endpoint) -> None:
    """A caller may think that what is in it counts: ``confirmed``, ``parentId``."""
    for content in (b"{}", b'{"confirmed": false}', make_chunks(10)):
        answer = await send_request(empty, endpoint, content=content)
        check_refusal(answer, 422, "invalid_input")
        assert [(issue["path"], issue["code"]) for issue in answer.json()["issues"]] == [("", "not_supported")]
    for nothing in (b"", no_chunks()):
        answer = await send_request(empty, endpoint, content=nothing, headers=JSON)
        assert answer.status_code in (200, 404, 422) and "does not accept a body" not in answer.text


async def no_chunks() -> AsyncIterator[bytes]:
    """A body whose length is not said, and which is empty."""
    for nothing in ():
        yield nothing


@pytest.mark.parametrize(
    "endpoint",
    [endpoint for endpoint in ENDPOINTS if endpoint.method == "GET"],
    ids=lambda endpoint: endpoint.operation_id,
)
async def test_head_is_get_without_its_body(empty: Served, endpoint: Endpoint) -> None:
    headers = {"Authorization": f"Bearer {empty.people['admin'].tokens['write']}"}
    for request_headers in (headers, {}):
        answers = [
            await empty.http.request(method, PREFIX + make_address(endpoint), headers=request_headers)
            for method in ("GET", "HEAD")
        ]
        get_answer, head = [
            (answer.status_code, {**answer.headers, "x-request-id": "", "date": ""}) for answer in answers
        ]
        for changing in ("ratelimit-remaining", "ratelimit-reset"):
            get_answer[1].pop(changing, None), head[1].pop(changing, None)
        assert head == get_answer and answers[1].content == b"" and answers[0].content


@every
async def test_an_answer_is_json(empty: Served, endpoint: Endpoint) -> None:
    """Never a page, whatever a browser would rather have."""
    check_refusal(await send_request(empty, endpoint, headers={"Accept": "text/html"}), 406, "not_acceptable")


@pytest.mark.parametrize("path", dict.fromkeys(endpoint.path for endpoint in ENDPOINTS))
async def test_other_methods_are_refused_with_those_there_are(empty: Served, path: str) -> None:
    own = [endpoint for endpoint in ENDPOINTS if endpoint.path == path]
    allowed = {endpoint.method for endpoint in own}
    allowed |= {"HEAD"} if "GET" in allowed else set()
    for method in METHODS:
        if method in allowed:
            continue
        answer = await empty.http.request(method, PREFIX + make_address(own[0]), headers={"Accept": "text/html"})
        assert answer.status_code == 405, method
        assert set(answer.headers["Allow"].split(",")) == allowed
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])
        assert answer.headers["Content-Type"] == "application/problem+json"


def headers_for(server: Served, path: str) -> dict[str, str]:
    media_type = "application/x-www-form-urlencoded" if path in FORMS else "application/json"
    return {
        "Content-Type": media_type,
        "Accept": "application/json, text/event-stream",
        "Authorization": f"Bearer {server.people['admin'].tokens['write']}",
    }


@pytest.mark.parametrize("path", DOORS)
async def test_other_doors_take_no_more(empty: Served, path: str) -> None:
    headers = headers_for(empty, path)
    for large in (b"a=" + b"b" * 2 * MAX_BODY_BYTES, make_chunks(2 * MAX_BODY_BYTES)):
        answer = await empty.http.post(path, content=large, headers=headers)
        check_refusal(answer, 413, "body_too_large")
        assert re.fullmatch("[0-9a-f]{32}", answer.headers["X-Request-Id"])


@pytest.mark.parametrize("path", [*DOORS, f"{PREFIX}/keys", f"{PREFIX}/validate-campaign"])
@pytest.mark.parametrize("encoding", ["gzip", "deflate", "br", "GZIP, identity", "no-such-encoding"])
async def test_no_body_has_a_content_encoding(empty: Served, path: str, encoding: str) -> None:
    """A compressed body is neither unpacked nor read, whatever it holds."""
    bomb = zlib.compress(b" " * 8 * MAX_BODY_BYTES)
    headers = {**headers_for(empty, path), "Content-Encoding": encoding}
    answer = await empty.http.post(path, content=bomb, headers=headers)
    check_refusal(answer, 415, "unsupported_media_type")
    assert "Content-Encoding" in answer.json()["detail"]
    assert answer.headers["Accept-Encoding"] == "identity"


async def test_the_identity_is_no_encoding(empty: Served) -> None:
    answer = await empty.admin.send("POST", "/keys", {"name": "x"}, headers={"Content-Encoding": "identity"})
    assert answer.status_code == 201
