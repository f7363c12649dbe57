"""Endpoints of the authorization server that agents call: metadata, registration, tokens, revocation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from adsunify.models.parsing import MAX_VALUES, count_values
from adsunify.service import oauth_server
from adsunify.service.authentication import REQUEST_CONTEXT
from adsunify.service.client_metadata import OAuthError
from adsunify.service.core import Service
from adsunify.values.exact_json import Json, dumps_bytes, loads
from adsunify_mcp.http import METADATA_PATH

CORS_HEADERS = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
"""Agents in browsers call these endpoints too. None of them uses cookies."""
OAuthHandler = Callable[[web.Request], Awaitable[web.Response]]


def add_routes(app: web.Application, service: Service) -> None:
    """Add the metadata of RFC 9728 and 8414, ``/oauth/register``, ``/oauth/token`` and ``/oauth/revoke``."""

    async def get_protected_resource(request: web.Request) -> web.Response:
        return _json_response(200, oauth_server.protected_resource_metadata(service))

    async def get_authorization_server(request: web.Request) -> web.Response:
        return _json_response(200, oauth_server.authorization_server_metadata(service))

    async def register(request: web.Request) -> web.Response:
        try:
            body = await _read_body(request)
            metadata = loads(body) if count_values(body) <= MAX_VALUES else None
        except ValueError:
            metadata = None
        if not isinstance(metadata, Mapping):
            raise OAuthError(
                "invalid_request", "The body must be a JSON object with redirect_uris; each member may appear once."
            )
        service.rate_limiter.count_registration(_client_ip())
        return _json_response(201, await oauth_server.register_client(service, metadata))

    async def token(request: web.Request) -> web.Response:
        try:
            return _json_response(200, await oauth_server.issue_tokens(service, await _read_form(request)))
        except OAuthError as problem:
            if problem.error == "invalid_grant":
                service.rate_limiter.count_bad_token(_client_ip())
            raise

    async def revoke(request: web.Request) -> web.Response:
        await oauth_server.revoke_token(service, await _read_form(request))
        return web.Response(headers=CORS_HEADERS)

    app.router.add_get(METADATA_PATH, get_protected_resource)
    app.router.add_get("/.well-known/oauth-protected-resource", get_protected_resource)
    app.router.add_get("/.well-known/oauth-authorization-server", get_authorization_server)
    for path, answer in (("register", register), ("token", token), ("revoke", revoke)):
        app.router.add_post(f"/oauth/{path}", _with_oauth_errors(answer))
        app.router.add_options(f"/oauth/{path}", _answer_preflight)


async def _answer_preflight(request: web.Request) -> web.Response:
    return web.Response(status=204, headers={**CORS_HEADERS, "Access-Control-Allow-Methods": "POST"})


def _client_ip() -> str:
    context = REQUEST_CONTEXT.get()
    return "" if context is None else context.client_ip


def _with_oauth_errors(answer: OAuthHandler) -> OAuthHandler:
    """Answer errors in the protocol's form."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return await answer(request)
        except OAuthError as problem:
            return _json_response(problem.status, problem.to_json())

    return handle


async def _read_body(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError:
        raise OAuthError("invalid_request", "The body is incomplete or malformed.") from None


async def _read_form(request: web.Request) -> dict[str, str]:
    """Read the members of a form. Raises OAuthError for repeated members and for other content."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "The body must be application/x-www-form-urlencoded.")
    try:
        text = (await _read_body(request)).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError:
        raise OAuthError("invalid_request", "The body must be a form in UTF-8.") from None
    form = dict(pairs)
    if len(form) < len(pairs):
        raise OAuthError("invalid_request", "A parameter appears twice.")
    if any("\0" in value for value in form.values()):
        raise OAuthError("invalid_request", "A parameter holds a NUL character.")
    return form


def _json_response(status: int, body: Json) -> web.Response:
    return web.Response(status=status, body=dumps_bytes(body), content_type="application/json", headers=CORS_HEADERS)
