"""Calls endpoints of the contract at a server, over REST."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from collections.abc import Awaitable, Callable, Mapping
from typing import Any, NamedTuple, Self
from urllib.parse import quote
from uuid import uuid4

import httpx
from attrs import evolve, field, frozen

from adsunify.contract import ApiRequest, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import (
    AdsunifyError,
    OperationError,
    ProviderThrottled,
    RateLimited,
    ServerConnectionError,
    ServerUnreachable,
    WriteOutcome,
    invalid_input,
)
from adsunify.http.deadline import patient_timeout
from adsunify.http.egress import Egress
from adsunify.http.retry_after import parse_retry_after
from adsunify.http.tunnel_transport import TunnelTransport
from adsunify.problem_details import from_problem_details
from adsunify.values.exact_json import Json, loads

from .inputs import is_utf8
from .options import ClientOptions, RequestInfo, ResponseInfo, change_options
from .retries import AttemptFailed, is_read, repeat_attempts

log = logging.getLogger("adsunify")
MAX_PORT = 65535
CONNECT_TIMEOUT_SECONDS = 10.0
UNSENT_ERRORS = (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, httpx.ProxyError)
"""What httpx raises before it sends the first byte of a request to the server."""
TRANSIENT_STATUSES = (429, 502, 503, 504)
PROXY_STATUSES = (502, 503, 504)
"""Statuses with which a proxy reports that the server behind it is down or too slow."""


class _Message(NamedTuple):
    """A request in its final form. ``path`` has no query."""

    endpoint: Endpoint
    path: str
    query: dict[str, str]
    headers: dict[bytes, bytes]
    content: bytes | None

    @property
    def outcome(self) -> WriteOutcome:
        """The outcome if the server may have received the request and no response has arrived."""
        return "not_applied" if is_read(self.endpoint) else "unknown"


@frozen
class HttpBackend:
    """Calls a server over REST. :mod:`adsunify.client.retries` says which requests are repeated.

    Attributes:
        http_client: sends the requests; closed with the backend.
        address: the server's address without a trailing slash.
        token: the bearer token.
        options: the options of the client.
        current_time: seconds since 1970, for a ``Retry-After`` with a date in a response without ``Date``.
        sleep: waits between two attempts, in seconds.
    """

    http_client: httpx.AsyncClient
    address: str
    token: str = field(repr=False)
    options: ClientOptions = ClientOptions()
    current_time: Callable[[], float] = time.time
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        """Call an endpoint and return the envelope of its response.

        A prepare without an idempotency key gets one, which is the same for all attempts.

        Raises InvalidInput for values that no request can carry, and ServerUnreachable without a usable response; its
        outcome is ``unknown`` where the server may have done the work.
        """
        if endpoint.takes_idempotency_key and request.idempotency_key is None:
            request = evolve(request, idempotency_key=str(uuid4()))
        message = _build_message(endpoint, request, self.token)
        seconds = self.options.deadline_seconds
        deadline = asyncio.get_running_loop().time() + seconds

        async def send(attempt: int) -> Mapping[str, Json]:
            return self._read_envelope(await self._send(message, attempt, deadline), message)

        return await repeat_attempts(
            endpoint, send, max_retries=self.options.max_retries, deadline_seconds=seconds, sleep=self.sleep
        )

    def with_options(self, changes: Mapping[str, Any]) -> Self:
        """Return a backend on the same connections with some options changed. Raises InvalidInput."""
        return evolve(self, options=change_options(self.options, changes))

    async def close(self) -> None:
        """Close the connections to the server."""
        await self.http_client.aclose()

    async def _send(self, message: _Message, attempt: int, deadline: float) -> httpx.Response:
        """Send a request once and return its complete response. Raises AttemptFailed."""
        about = (message.endpoint.operation_id, message.endpoint.method, message.path, attempt)
        if self.options.on_request is not None:
            self.options.on_request(RequestInfo(*about))
        loop = asyncio.get_running_loop()
        begun = loop.time()
        response: httpx.Response | None = None
        has_deadline = isinstance(self.options.timeout, float)
        try:
            async with patient_timeout(deadline if has_deadline else math.inf):
                response = await self.http_client.request(
                    message.endpoint.method,
                    self.address + message.path,
                    params=message.query,
                    content=message.content,
                    headers=message.headers,
                    auth=None,  # the token is the only credential
                    follow_redirects=False,
                    timeout=self._make_timeout(deadline - begun),
                )
                return response
        except (httpx.HTTPError, TimeoutError) as problem:
            raise self._make_failure(problem, message.outcome) from problem
        finally:
            elapsed = loop.time() - begun
            status = None if response is None else response.status_code
            request_id = None if response is None else response.headers.get("x-request-id")
            text = "%s: %s %s, attempt %d: status %s after %.3f s, request %s"
            log.debug(text, *about, status, elapsed, request_id)
            if self.options.on_response is not None:
                self.options.on_response(ResponseInfo(*about, status, elapsed, request_id))

    def _make_timeout(self, seconds: float) -> httpx.Timeout:
        """Limits of an attempt. ``seconds`` are left for the call; connecting takes at most half of them."""
        if isinstance(self.options.timeout, httpx.Timeout):
            return self.options.timeout
        if self.options.timeout is None:
            return self.http_client.timeout
        left = max(seconds, 0.0)
        connecting = min(CONNECT_TIMEOUT_SECONDS, left / 2)
        return httpx.Timeout(left, connect=connecting, pool=connecting)

    @property
    def _server(self) -> str:
        return f"the adsunify server at {self.address}"

    def _make_failure(self, problem: Exception, outcome: WriteOutcome) -> AttemptFailed:
        """Describe an attempt without a complete response."""
        reason = str(problem) or type(problem).__name__
        if isinstance(problem, UNSENT_ERRORS):
            text = f"Cannot connect to {self._server}; nothing was sent. ({reason})"
            return AttemptFailed(ServerConnectionError(text), is_transient=True, is_undone=True)
        if isinstance(problem, httpx.TimeoutException | TimeoutError):
            text = f"No response in time from {self._server}. ({reason})"
        else:
            text = f"The connection to {self._server} was lost before the response was complete. ({reason})"
        return AttemptFailed(ServerConnectionError(text, outcome=outcome), is_transient=True)

    def _read_envelope(self, response: httpx.Response, message: _Message) -> Mapping[str, Json]:
        """Return the envelope of a response. Raises AttemptFailed for an error and an unusable response."""
        retry_after = parse_retry_after(response.headers, self.current_time())
        error: AdsunifyError
        is_ours = True
        try:
            body: Mapping[str, Json] = loads(response.content)
            if not isinstance(body, Mapping):
                raise TypeError("a response must be an object")
            if response.status_code < 400 and "data" in body:
                return body
            error = from_problem_details(body)
        except (ValueError, LookupError, TypeError, AttributeError):
            error, is_ours = self._make_unusable_error(response, message.outcome), False
        if error.request_id is None:
            error.request_id = response.headers.get("x-request-id")
        if isinstance(error, ProviderThrottled | RateLimited | OperationError):
            if retry_after is not None and not error.retry_after:  # a wait in the body is more precise
                error.retry_after = retry_after
            retry_after = error.retry_after
        raise AttemptFailed(
            error,
            is_transient=response.status_code in TRANSIENT_STATUSES,
            is_undone=is_ours and isinstance(error, RateLimited),
            retry_after=retry_after,
        )

    def _make_unusable_error(self, response: httpx.Response, outcome: WriteOutcome) -> ServerUnreachable:
        kind = response.headers.get("content-type", "no content type")
        if response.status_code in PROXY_STATUSES:
            advice = "Something in front of the server answers: the server is down, too slow or overloaded."
        else:
            advice = "Check that this is the address of an adsunify server, without /api/v1/ads."
        text = f"Unexpected response from {self._server}: HTTP {response.status_code}, {kind}. {advice}"
        return ServerUnreachable(text, outcome=outcome)


def _build_message(endpoint: Endpoint, request: ApiRequest, token: str) -> _Message:
    """Build the request of a call. Raises InvalidInput for values that no request can carry."""
    path = PREFIX + endpoint.path
    for name, value in request.path.items():
        if value in (".", ".."):  # clients and proxies would resolve them to another path
            raise invalid_input(name, "malformed", 'must be an ID; "." and ".." are not allowed.')
        path = path.replace("{" + name + "}", quote(value, safe=":"))
    headers = {b"Authorization": b"Bearer " + token.encode("ascii"), b"Accept": b"application/json"}
    if request.idempotency_key is not None:
        key = request.idempotency_key
        if any(character in "\r\n\0" for character in key) or not is_utf8(key):  # a header cannot hold them
            raise invalid_input("Idempotency-Key", "malformed", "must be text in UTF-8 without control characters.")
        headers[b"Idempotency-Key"] = key.encode()
    if endpoint.body is not None:
        headers[b"Content-Type"] = b"application/json"
    content = request.body if endpoint.body is not None else None
    return _Message(endpoint, path, dict(request.query), headers, content)


def _make_http_client(egress: Egress) -> httpx.AsyncClient:
    """Make a client that reads nothing of the environment."""
    transport = None if egress.proxy is None else TunnelTransport(egress)
    return httpx.AsyncClient(trust_env=False, verify=egress.tls, transport=transport)


def make_http_backend(url: str, token: str | None, options: ClientOptions) -> HttpBackend:
    """Return a backend for a server. Raises InvalidInput for an address or a token that cannot be used."""
    if not token:
        raise invalid_input("token", "required", "is required to call a server.")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise invalid_input("token", "malformed", "must have visible ASCII characters only.")
    address = None
    try:
        address = httpx.URL(url.rstrip("/"))
        is_usable = bool(address.host) and (address.port or 0) <= MAX_PORT
    except httpx.InvalidURL:
        is_usable = False
    if address is None or not is_usable or address.userinfo or address.query or address.fragment:
        raise invalid_input(
            "server",
            "malformed",
            "must be an http or https address with a host, without a user name and without a query.",
        )
    http_client = options.http_client
    if http_client is None:
        http_client = _make_http_client(options.egress or Egress())
        options = options if options.timeout is not None else evolve(options, timeout=options.deadline_seconds)
    return HttpBackend(http_client, str(address), token, options)
