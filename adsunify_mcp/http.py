"""The streamable HTTP transport, stateless: every POST stands for itself, and is answered with JSON."""

from __future__ import annotations

from urllib.parse import urlsplit

from aiohttp import web

from adsunify.actor import Actor
from adsunify.client.doors import LocalDoor
from adsunify.errors import AdsunifyError, Unauthenticated
from adsunify.service.authenticating import authenticate
from adsunify.service.core import Service
from adsunify.wire import dumps

from .protocol import INVALID_REQUEST, UNSAID, VERSIONS, Reply, answer
from .server import methods

PATH = "/api/mcp"
METADATA = "/.well-known/oauth-protected-resource/api/mcp"
HEADER = "MCP-Protocol-Version"
ACCEPTED = ("application/json", "text/event-stream")


def add_routes(app: web.Application, service: Service) -> None:
    """``/api/mcp``. GET and DELETE belong to sessions and streams, which there are none of: 405."""

    async def post(request: web.Request) -> web.Response:
        refusal = _refusal(request, service)
        if refusal is not None:
            return _sent(refusal)
        try:
            actor = await _actor(request, service)
        except Unauthenticated as problem:
            return _sent(_problem(401, problem), {"WWW-Authenticate": challenge(service)})
        version = VERSIONS[request.headers.get(HEADER, UNSAID)]
        return _sent(await answer(methods(LocalDoor(service, actor)), await request.read(), version))

    app.router.add_post(PATH, post)


async def _actor(request: web.Request, service: Service) -> Actor:
    return await authenticate(service, request.headers.get("Authorization"))


def challenge(service: Service) -> str:
    """Where a client without a token learns how to get one (RFC 9728 section 5.1)."""
    return f'Bearer resource_metadata="{service.settings.base_url}{METADATA}", scope="ads:read ads:write"'


def _refusal(request: web.Request, service: Service) -> Reply | None:
    """What is wrong with the request before its body counts."""
    origin = request.headers.get("Origin")
    own = urlsplit(service.settings.base_url)
    if origin is not None and origin != f"{own.scheme}://{own.netloc}":
        return _said(403, "This Origin may not call the endpoint.")
    if request.host != own.netloc:
        return _said(403, "This Host is not ours.")
    accepted = ",".join(request.headers.getall("Accept", []))
    if not all(one in accepted for one in ACCEPTED) and "*/*" not in accepted:
        return _said(406, f"Accept must name {' and '.join(ACCEPTED)}.")
    if request.content_type != "application/json":
        return _said(415, "A body is application/json.")
    if request.headers.get(HEADER, UNSAID) not in VERSIONS:
        return _said(400, f"{HEADER} is one of {', '.join(VERSIONS)}.")
    return None


def _said(status: int, message: str) -> Reply:
    return Reply(status, {"jsonrpc": "2.0", "id": None, "error": {"code": INVALID_REQUEST, "message": message}})


def _problem(status: int, problem: AdsunifyError) -> Reply:
    return _said(status, problem.message)


def _sent(reply: Reply, headers: dict[str, str] | None = None) -> web.Response:
    if reply.body is None:
        return web.Response(status=reply.status, headers=headers)
    return web.Response(
        status=reply.status,
        body=dumps(reply.body).encode("ascii"),
        content_type="application/json",
        headers=headers,
    )
