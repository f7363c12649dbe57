"""The authorization server's endpoints for machines: metadata, registration, tokens, revocation."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import parse_qsl

from aiohttp import web

from adsunify.models.base import MAX_VALUES, count_values
from adsunify.service import agents
from adsunify.service.agents import OAuthError
from adsunify.service.authenticating import ASKED
from adsunify.service.core import Service
from adsunify.values.exact_json import Json, json_bytes, loads
from adsunify_mcp.http import METADATA

OPEN = {"Access-Control-Allow-Origin": "*", "Access-Control-Allow-Headers": "*"}
"""Agents in browsers read these, too; nothing here goes by cookies."""
Answer = Callable[[web.Request], Awaitable[web.Response]]


def add_routes(app: web.Application, service: Service) -> None:
    """RFC 9728 and 8414 metadata, ``/oauth/register``, ``/oauth/token``, ``/oauth/revoke``."""

    async def protected(request: web.Request) -> web.Response:
        return _sent(200, agents.protected_resource(service))

    async def server(request: web.Request) -> web.Response:
        return _sent(200, agents.authorization_server(service))

    async def register(request: web.Request) -> web.Response:
        try:
            body = await _body(request)
            asked = loads(body) if count_values(body) <= MAX_VALUES else None
        except ValueError:
            asked = None
        if not isinstance(asked, Mapping):
            raise OAuthError(
                "invalid_request", "The body is a JSON object with redirect_uris that names each member once."
            )
        service.limiting.registered(_source(), service.store.clock.wall())
        return _sent(201, await agents.register(service, asked))

    async def token(request: web.Request) -> web.Response:
        try:
            return _sent(200, await agents.exchange(service, await _form(request)))
        except OAuthError as problem:
            if problem.error == "invalid_grant":
                service.limiting.failed(_source(), service.store.clock.wall())
            raise

    async def revoke(request: web.Request) -> web.Response:
        await agents.revoke_token(service, await _form(request))
        return web.Response(headers=OPEN)

    app.router.add_get(METADATA, protected)
    app.router.add_get("/.well-known/oauth-protected-resource", protected)
    app.router.add_get("/.well-known/oauth-authorization-server", server)
    for path, answer in (("register", register), ("token", token), ("revoke", revoke)):
        app.router.add_post(f"/oauth/{path}", _told(answer))
        app.router.add_options(f"/oauth/{path}", _preflight)


async def _preflight(request: web.Request) -> web.Response:
    return web.Response(status=204, headers={**OPEN, "Access-Control-Allow-Methods": "POST"})


def _source() -> str:
    asked = ASKED.get()
    return "" if asked is None else asked.source


def _told(answer: Answer) -> Answer:
    """Errors in the protocol's own shape."""

    async def handle(request: web.Request) -> web.Response:
        try:
            return await answer(request)
        except OAuthError as problem:
            return _sent(problem.status, problem.to_json())

    return handle


async def _body(request: web.Request) -> bytes:
    try:
        return await request.read()
    except web.RequestPayloadError:
        raise OAuthError("invalid_request", "The body is not complete, or not well-formed.") from None


async def _form(request: web.Request) -> dict[str, str]:
    """The members of a form; one that is given twice, or that is no text, is refused."""
    if request.content_type != "application/x-www-form-urlencoded":
        raise OAuthError("invalid_request", "The body is application/x-www-form-urlencoded.")
    try:
        text = (await _body(request)).decode("ascii")
        pairs = parse_qsl(text, keep_blank_values=True, max_num_fields=50, errors="strict")
    except ValueError:
        raise OAuthError("invalid_request", "The body is no form in UTF-8.") from None
    form = dict(pairs)
    if len(form) < len(pairs):
        raise OAuthError("invalid_request", "A parameter is given twice.")
    if any("\0" in value for value in form.values()):
        raise OAuthError("invalid_request", "A parameter is no text.")
    return form


def _sent(status: int, body: Json) -> web.Response:
    return web.Response(status=status, body=json_bytes(body), content_type="application/json", headers=OPEN)
