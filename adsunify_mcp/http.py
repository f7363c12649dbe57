"""The streamable HTTP transport, without sessions: every POST gets a JSON response.

A request whose client asks for progress gets a stream of events instead, whose last event is the response. The stream
begins with the first notification, so an error before it still has its HTTP status.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from urllib.parse import urlsplit

from aiohttp import web
from attrs import define, frozen

from adsunify.client.local_backend import LocalBackend
from adsunify.contract import ApiRequest, Endpoint
from adsunify.errors import Unauthenticated
from adsunify.service.authentication import REQUEST_CONTEXT, authenticate
from adsunify.service.core import Service
from adsunify.values.exact_json import Json, dumps_bytes

from .protocol import CallerMethods, Reply, handle_message, refuse_body
from .request_metadata import METHOD_HEADER, NAME_HEADER, VERSION_HEADER, RequestHeaders
from .request_states import make_request_states
from .server import make_methods
from .versions import INVALID_REQUEST

MCP_PATH = "/api/mcp"
METADATA_PATH = "/.well-known/oauth-protected-resource/api/mcp"
REQUIRED_MEDIA_TYPES = ("application/json", "text/event-stream")


STREAM_HEADERS: Mapping[str, str] = {
    "Content-Type": "text/event-stream",
    "Cache-Control": "no-store",
    "X-Accel-Buffering": "no",
}
"""The headers of a stream of events (MCP 2026-07-28, Streamable HTTP, "Receiving Messages")."""

OpenCaller = Callable[[str | None], Awaitable[CallerMethods]]
"""Takes an ``Authorization`` header; returns the caller. Raises Unauthenticated."""


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

    async def open_caller(authorization: str | None) -> CallerMethods:
        backend = _CountedBackend(service, await authenticate(service, authorization))
        return CallerMethods(make_methods(backend, states=make_request_states(backend)), backend.count_message)

    add_endpoint(app, service.settings.base_url, open_caller)


def add_endpoint(app: web.Application, base_url: str, open_caller: OpenCaller) -> None:
    """Add ``/api/mcp``. GET and DELETE get 405, since there are no sessions or streams."""

    async def post(request: web.Request) -> web.StreamResponse:
        refusal = _find_request_error(request, base_url)
        if refusal is not None:
            return _to_response(refusal)
        authorization = request.headers.get("Authorization")
        try:
            caller = await open_caller(authorization)
        except Unauthenticated as problem:
            headers = {"WWW-Authenticate": make_bearer_challenge(base_url, problem)}
            return _to_response(_error_reply(problem.status, problem.message), headers)
        try:
            body = await request.read()
        except web.RequestPayloadError:
            return _to_response(_error_reply(400, "The body is incomplete or malformed."))
        stream = _EventStream(request)
        return await stream.finish(await handle_message(caller, body, _read_headers(request), stream.notify))

    app.router.add_post(MCP_PATH, post)


@define
class _EventStream:
    """The events of a response, which begin with the first notification.

    A client that hangs up does not end its request: an execution in flight must end with a receipt.
    """

    request: web.Request
    _response: web.StreamResponse | None = None

    async def notify(self, method: str, params: Mapping[str, Json]) -> None:
        """Send a notification, and begin the stream if it is the first."""
        if self._response is None:
            context = REQUEST_CONTEXT.get()
            identity = {} if context is None else {"X-Request-Id": context.request_id}
            self._response = web.StreamResponse(headers={**STREAM_HEADERS, **identity})
            with suppress(ConnectionError):
                await self._response.prepare(self.request)
        await self._send(self._response, dumps_bytes({"jsonrpc": "2.0", "method": method, "params": params}))

    async def finish(self, reply: Reply) -> web.StreamResponse:
        """Send the response: as the last event of a stream that has begun, otherwise as JSON."""
        if self._response is None:
            return _to_response(reply)
        if reply.body is not None:
            await self._send(self._response, reply.body)
        return self._response

    async def _send(self, response: web.StreamResponse, message: bytes) -> None:
        if response.prepared:
            with suppress(ConnectionError):
                await response.write(b"event: message\ndata: " + message + b"\n\n")


def _read_headers(request: web.Request) -> RequestHeaders:
    values = (tuple(request.headers.getall(name, ())) for name in (VERSION_HEADER, METHOD_HEADER, NAME_HEADER))
    return RequestHeaders(*values)


def make_bearer_challenge(base_url: str, problem: Unauthenticated) -> str:
    """Return the header that says how to get a token (RFC 9728 section 5.1, RFC 6750 section 3.1)."""
    error = "" if problem.code == "token_missing" else 'error="invalid_token", '
    return f'Bearer {error}resource_metadata="{base_url}{METADATA_PATH}", scope="ads:read ads:write"'


def _find_request_error(request: web.Request, base_url: str) -> Reply | None:
    """Return the error in the headers of a request; None if the headers are valid."""
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
