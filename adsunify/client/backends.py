"""Backends of the client: they call endpoints of the contract on a local store or at a server."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from attrs import frozen

from adsunify.contract import ApiRequest, Endpoint
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import (
    OperationError,
    ProviderThrottled,
    RateLimited,
    ServerUnreachable,
    WriteOutcome,
    invalid_input,
)
from adsunify.http.retry_after import parse_retry_after
from adsunify.models.error_messages import is_web_address
from adsunify.problem_details import from_problem_details
from adsunify.values.exact_json import Json, loads

if TYPE_CHECKING:
    import httpx

MAX_PORT = 65535
ADDRESS_EXAMPLES = ", such as https://ads.acme.example for a server, or sqlite:///ads.db for a local store"


class Backend(Protocol):
    """Calls endpoints of the contract, in this process or at a server."""

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        """Call an endpoint and return the envelope of its response. Raises the errors of :mod:`adsunify.errors`."""
        ...

    async def close(self) -> None:
        """Let a write in flight finish, and close what was opened."""
        ...


@frozen
class HttpBackend:
    """Calls a server over REST. It never sends a request twice: a lost response raises an error.

    ``current_time``: seconds since 1970, for a ``Retry-After`` with a date in a response without ``Date``.
    """

    http_client: httpx.AsyncClient
    current_time: Callable[[], float] = time.time

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        """Call an endpoint and return the envelope of its response.

        Raises InvalidInput for values that no request can carry, and ServerUnreachable without a usable response; its
        outcome is ``unknown`` where the server may have done the work.
        """
        import httpx

        path = PREFIX + endpoint.path
        for name, value in request.path.items():
            if value in (".", ".."):  # clients and proxies would resolve them to another path
                raise invalid_input(name, "malformed", 'must be an ID; "." and ".." are not allowed.')
            path = path.replace("{" + name + "}", quote(value, safe=":", errors="replace"))
        headers: dict[bytes, bytes] = {}
        if request.idempotency_key is not None:
            if any(character in "\r\n\0" for character in request.idempotency_key):  # a header cannot hold them
                raise invalid_input("Idempotency-Key", "malformed", "must be text in UTF-8 without control characters.")
            headers[b"Idempotency-Key"] = request.idempotency_key.encode("utf-8", "replace")
        if endpoint.body is not None:
            headers[b"Content-Type"] = b"application/json"
        content = request.body if endpoint.body is not None else None
        outcome: WriteOutcome = "not_applied" if endpoint.method == "GET" else "unknown"
        server = f"the adsunify server at {self.http_client.base_url}"
        try:
            answer = await self.http_client.request(
                endpoint.method, path, params=dict(request.query), content=content, headers=headers
            )
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout) as problem:
            text = f"Cannot connect to {server}; nothing was sent. ({_describe_error(problem)})"
            raise ServerUnreachable(text) from problem
        except httpx.TimeoutException as problem:
            text = f"No response in time from {server}. ({_describe_error(problem)})"
            raise ServerUnreachable(text, outcome=outcome) from problem
        except httpx.HTTPError as problem:
            text = f"The connection to {server} was lost before the response was complete. ({_describe_error(problem)})"
            raise ServerUnreachable(text, outcome=outcome) from problem
        try:
            body: Mapping[str, Json] = loads(answer.content)
            if not isinstance(body, Mapping):
                raise TypeError("a response must be an object")
            if answer.status_code < 400 and "data" in body:
                return body
            error = from_problem_details(body)
        except (ValueError, LookupError, TypeError, AttributeError) as problem:
            kind = answer.headers.get("content-type", "no content type")
            text = (
                f"Unexpected response from {server}: HTTP {answer.status_code}, {kind}. Check that this is the address "
                "of an adsunify server, without /api/v1/ads."
            )
            raise ServerUnreachable(text, outcome=outcome) from problem
        if isinstance(error, ProviderThrottled | RateLimited | OperationError):
            wait = parse_retry_after(answer.headers, self.current_time())
            if wait is not None and not error.retry_after:  # the body is more precise
                error.retry_after = wait
        raise error

    async def close(self) -> None:
        """Close the connections to the server."""
        await self.http_client.aclose()


def _describe_error(problem: Exception) -> str:
    return str(problem) or type(problem).__name__


async def open_backend(url: str, token: str | None, workspace: str | None, environment: Mapping[str, str]) -> Backend:
    """Return a backend for a server at an http(s) address, or for a database, which is opened.

    Raises InvalidInput, StoreError.
    """
    for name, value in (("server", url), ("token", token), ("workspace", workspace)):
        if not isinstance(value, str) and (value is not None or name == "server"):
            raise invalid_input(name, "type", f"must be text{ADDRESS_EXAMPLES if name == 'server' else ''}.")
    if is_web_address(url):
        return _open_http_backend(url, token)
    if token is not None:
        raise invalid_input(
            "token", "not_supported", "is only for a server, whose address begins with http:// or https://."
        )
    # a client of a server does not load the store and its libraries
    from adsunify.client.local_backend import open_local

    return await open_local(url, workspace, environment)


def _open_http_backend(url: str, token: str | None) -> HttpBackend:
    import httpx

    if not token:
        raise invalid_input("token", "required", "is required to call a server.")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise invalid_input("token", "malformed", "must have visible ASCII characters only.")
    address = None
    try:
        address = httpx.URL(url.rstrip("/"))
        usable = bool(address.host) and (address.port or 0) <= MAX_PORT
    except httpx.InvalidURL:
        usable = False
    if address is None or not usable or address.userinfo:  # a user name would replace the token
        raise invalid_input(
            "server", "malformed", "must be an http or https address with a host and without a user name."
        )
    return HttpBackend(
        httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=httpx.Timeout(120.0, connect=10.0),
            trust_env=False,
        )
    )
