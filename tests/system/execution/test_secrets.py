"""No credential gets into what is kept or told."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.error_rules import find_read_error
from adsunify.errors import RequestNotSent
from adsunify.execution.redaction import redact_response
from adsunify.http.messages import Request, Response
from adsunify.http.redaction import redact_text
from adsunify.networks.registry import get_adapter
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import dumps
from tests.unit.http.server import OK, WRITE, answer_in_turn, send, serve_script

TOKEN = "EAABsbCS1iHgBO7rZCxq4ZAcd1z8"


@pytest.mark.parametrize(
    "text",
    [
        f"Malformed access token {TOKEN}",
        f"Malformed access token: {TOKEN}.",
        f'The token "{TOKEN}" is not known',
        f"Illegal header value b'Bearer {TOKEN}'",
        f'{{"access_token":"{TOKEN}","expires_in":60}}',
        f"{{'refresh_token': '{TOKEN}'}}",
        f"https://network.example/x?access_token={TOKEN}&a=b",
    ],
)
def test_a_token_that_a_network_repeats_is_redacted(text: str) -> None:
    assert TOKEN not in redact_text(text)
    assert TOKEN not in dumps(redact_response(Response(400, {}, {"error": {"message": text}})))
    assert TOKEN not in dumps(redact_response(Response(200, {}, f"not JSON: {text}", "unreadable")))


@pytest.mark.parametrize(
    "text",
    [
        "Error validating access token: Session has expired on Friday, 21-Nov-25 04:00:00 PST.",
        "Invalid OAuth access token - Cannot parse access token",
        "The token is expired, revoked or invalid",
        "authenticationError.OAUTH_TOKEN_EXPIRED",
        "Missing access token",
    ],
)
def test_a_sentence_about_tokens_stays_as_it_is(text: str) -> None:
    assert redact_text(text) == text


@pytest.mark.parametrize("status", [400, 401, 403, 404, 429, 500])
@pytest.mark.parametrize(
    ("network", "body"),
    [
        ("meta", {"error": {"message": f"Malformed access token {TOKEN}", "type": "OAuthException", "code": 190}}),
        ("linkedin", {"message": f"Invalid access_token={TOKEN}", "serviceErrorCode": 65600, "status": 401}),
        ("tiktok", {"code": 40105, "message": f"The token {TOKEN} is not valid", "request_id": "1"}),
    ],
)
def test_the_error_of_a_read_repeats_no_token(network: str, body: dict[str, Any], status: int) -> None:
    """It goes to the caller, and into logs."""
    problem = find_read_error(get_adapter(network).network, Response(status, {}, body))
    assert problem is not None and problem.native.message is not None
    assert "[redacted]" in problem.message
    assert TOKEN not in dumps(to_problem_details(problem))


@pytest.mark.parametrize("value", [f"Bearer {TOKEN} ", f" Bearer {TOKEN}", f"Bearer {TOKEN}\t"])
async def test_a_header_that_cannot_be_written_is_not_sent_and_not_repeated(value: str) -> None:
    """A pasted token with a blank behind it: not one byte left, and the message does not hold the token."""
    async with serve_script(answer_in_turn(OK)) as server:
        with pytest.raises(RequestNotSent) as problem:
            await send(server, evolve(WRITE, headers={"Authorization": value}))
        assert server.connections == 0
    assert TOKEN not in str(problem.value)


@pytest.mark.parametrize(
    "request_",
    [
        Request("DELETE", "https://network.example/x/{id}", path={"id": "\ud800"}, kind="write"),
        Request("DELETE", "https://network.example/x", query={"id": "\ud800"}, kind="write"),
        Request("DELETE", "https://[network.example/x", kind="write"),
    ],
)
async def test_an_address_that_cannot_be_written_is_not_sent(request_: Request) -> None:
    """Its intent is saved already: whatever else escaped would leave the operation in doubt for ever."""
    async with serve_script(answer_in_turn(OK)) as server:
        with pytest.raises(RequestNotSent):
            await send(server, request_)
        assert server.connections == 0
