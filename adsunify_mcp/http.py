"""The streamable HTTP transport, stateless: every POST stands for itself, and is answered with JSON."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from aiohttp import web
from attrs import frozen

from adsunify.client.local import LocalDoor
from adsunify.contract import Call, Endpoint
from adsunify.errors import Unauthenticated
from adsunify.service.authenticating import authenticate
from adsunify.service.core import Service
from adsunify.values.exact_json import Json

from .protocol import INVALID_REQUEST, UNSAID, VERSIONS, Count, Method, Reply, answer, refused
from .server import methods

PATH = "/api/mcp"
METADATA = "/.well-known/oauth-protected-resource/api/mcp"
HEADER = "MCP-Protocol-Version"
ACCEPTED = ("application/json", "text/event-stream")


Opening = Callable[[str | None], Awaitable[tuple[Mapping[str, Method], Count]]]
"""From an ``Authorization`` header to the methods of its caller, and what counts his messages.

Raises Unauthenticated.
"""


@frozen
class _CountedDoor(LocalDoor):
    """A door where every call that is no read counts as a write of its credential, beside its message."""

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        if endpoint.access != "read":
            self.service.limiting.admit(self.actor.credential, True, self.service.store.clock.wall())
        return await LocalDoor.call(self, endpoint, asked)

    def count(self) -> None:
        """Count a message as a read. Raises RateLimited."""
        self.service.limiting.admit(self.actor.credential, False, self.service.store.clock.wall())


def add_routes(app: web.Application, service: Service) -> None:
    """``/api/mcp`` over a service: keys and agents' tokens, the seven tools."""

    async def opened(authorization: str | None) -> tuple[Mapping[str, Method], Count]:
        door = _CountedDoor(service, await authenticate(service, authorization))
        return methods(door), door.count

    add_endpoint(app, service.settings.base_url, opened)


def add_endpoint(app: web.Application, base_url: str, opened: Opening) -> None:
    """``/api/mcp``. GET and DELETE belong to sessions and streams, which there are none of: 405."""

    async def post(request: web.Request) -> web.Response:
        refusal = _refusal(request, base_url)
        if refusal is not None:
            return _sent(refusal)
        authorization = request.headers.get("Authorization")
        try:
            known, count = await opened(authorization)
        except Unauthenticated as problem:
            headers = {"WWW-Authenticate": challenge(base_url, problem)}
            return _sent(_said(problem.status, problem.message), headers)
        version = VERSIONS[request.headers.get(HEADER, UNSAID)]
        try:
            body = await request.read()
        except web.RequestPayloadError:
            return _sent(_said(400, "The body is not complete, or not well-formed."))
        return _sent(await answer(known, body, version, count))

    app.router.add_post(PATH, post)


def challenge(base_url: str, problem: Unauthenticated) -> str:
    """Where a client without a good token learns how to get one (RFC 9728 section 5.1, RFC 6750 section 3.1)."""
    error = "" if problem.code == "token_missing" else 'error="invalid_token", '
    return f'Bearer {error}resource_metadata="{base_url}{METADATA}", scope="ads:read ads:write"'


def _refusal(request: web.Request, base_url: str) -> Reply | None:
    """What is wrong with the request before its body counts."""
    origin = request.headers.get("Origin")
    own = urlsplit(base_url)
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
    return refused(status, INVALID_REQUEST, message)


def _sent(reply: Reply, headers: dict[str, str] | None = None) -> web.Response:
    if reply.body is None:
        return web.Response(status=reply.status, headers=headers)
    return web.Response(
        status=reply.status,
        body=reply.body,
        content_type="application/json",
        headers=headers,
    )
