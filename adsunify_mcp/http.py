"""The streamable HTTP transport, without sessions: every POST gets a JSON response."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from urllib.parse import urlsplit

from aiohttp import web
from attrs import frozen

from adsunify.client.local_backend import LocalBackend
from adsunify.contract import ApiRequest, Endpoint
from adsunify.errors import Unauthenticated
from adsunify.service.authentication import authenticate
from adsunify.service.core import Service
from adsunify.values.exact_json import Json

from .protocol import (
    DEFAULT_VERSION,
    INVALID_REQUEST,
    VERSIONS,
    CountMessage,
    MethodHandler,
    Reply,
    handle_message,
    refuse_body,
)
from .server import make_methods

MCP_PATH = "/api/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource/api/mcp"
VERSION_HEADER = "MCP-Protocol-Version"
REQUIRED_MEDIA_TYPES = ("application/json", "text/event-stream")


OpenCaller = Callable[[str | None], Awaitable[tuple[Mapping[str, MethodHandler], CountMessage]]]
"""Takes an ``Authorization`` header; returns the caller's methods, and a function that counts the caller's messages.

Raises Unauthenticated.
"""


@frozen
class _CountedBackend(LocalBackend):
    """A backend that counts every call that is not a read as a write of its credential."""

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        if endpoint.access != "read":
            self.service.rate_limiter.admit_request(self.actor.credential, is_write=True)
        return await LocalBackend.call(self, endpoint, request)

    def count_message(self) -> None:
        """Count a message as a read. Raises RateLimited."""
        self.service.rate_limiter.admit_request(self.actor.credential, is_write=False)


def add_routes(app: web.Application, service: Service) -> None:
    """Add ``/api/mcp`` with the seven tools, for API keys and agents' tokens."""

    async def open_caller(authorization: str | None) -> tuple[Mapping[str, MethodHandler], CountMessage]:
        backend = _CountedBackend(service, await authenticate(service, authorization))
        return make_methods(backend), backend.count_message

    add_endpoint(app, service.settings.base_url, open_caller)


def add_endpoint(app: web.Application, base_url: str, open_caller: OpenCaller) -> None:
    """Add ``/api/mcp``. GET and DELETE get 405, since there are no sessions or streams."""

    async def post(request: web.Request) -> web.Response:
        refusal = _find_request_error(request, base_url)
        if refusal is not None:
            return _to_response(refusal)
        authorization = request.headers.get("Authorization")
        try:
            methods, count = await open_caller(authorization)
        except Unauthenticated as problem:
            headers = {"WWW-Authenticate": make_bearer_challenge(base_url, problem)}
            return _to_response(_error_reply(problem.status, problem.message), headers)
        version = VERSIONS[request.headers.get(VERSION_HEADER, DEFAULT_VERSION)]
        try:
            body = await request.read()
        except web.RequestPayloadError:
            return _to_response(_error_reply(400, "The body is incomplete or malformed."))
        return _to_response(await handle_message(methods, body, version, count))

    app.router.add_post(MCP_PATH, post)


def make_bearer_challenge(base_url: str, problem: Unauthenticated) -> str:
    """Return the header that says how to get a token (RFC 9728 section 5.1, RFC 6750 section 3.1)."""
    error = "" if problem.code == "token_missing" else 'error="invalid_token", '
    return f'Bearer {error}resource_metadata="{base_url}{METADATA_PATH}", scope="ads:read ads:write"'


def _find_request_error(request: web.Request, base_url: str) -> Reply | None:
    """The error of a request's headers."""
    origin = request.headers.get("Origin")
    own = urlsplit(base_url)
    if origin is not None and origin != f"{own.scheme}://{own.netloc}":
        return _error_reply(403, "This Origin may not call the endpoint.")
    if request.host != own.netloc:
        return _error_reply(403, "The Host header must name this server.")
    accepted = ",".join(request.headers.getall("Accept", []))
    if not all(media_type in accepted for media_type in REQUIRED_MEDIA_TYPES) and "*/*" not in accepted:
        return _error_reply(406, f"Accept must name {' and '.join(REQUIRED_MEDIA_TYPES)}.")
    if request.content_type != "application/json":
        return _error_reply(415, "The body must be application/json.")
    if request.headers.get(VERSION_HEADER, DEFAULT_VERSION) not in VERSIONS:
        return _error_reply(400, f"{VERSION_HEADER} must be one of {', '.join(VERSIONS)}.")
    return None


def _error_reply(status: int, message: str) -> Reply:
    return refuse_body(status, INVALID_REQUEST, message)


def _to_response(reply: Reply, headers: dict[str, str] | None = None) -> web.Response:
    if reply.body is None:
        return web.Response(status=reply.status, headers=headers)
    return web.Response(
        status=reply.status,
        body=reply.body,
        content_type="application/json",
        headers=headers,
    )
