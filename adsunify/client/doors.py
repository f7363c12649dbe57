"""How a row of the contract is called: here, over a store of one's own, or at a server."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Protocol
from urllib.parse import quote

from attrs import frozen

from adsunify.actor import Actor
from adsunify.contract import Call, Endpoint, call
from adsunify.contract.endpoint import PREFIX
from adsunify.errors import ProviderThrottled, ProviderUnreadable, refused
from adsunify.problems import error_from
from adsunify.service.opening import BASE_URL, DEFAULT_BASE_URL, SANDBOX_URL, open_service
from adsunify.service.people import embedded
from adsunify.wire import Json, dumps, loads

if TYPE_CHECKING:
    import httpx

    from adsunify.service.core import Service

LAST_PORT = 65535


class Door(Protocol):
    """How a row of the contract is called: here, or at a server."""

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        """The envelope of the answer; raises the errors of :mod:`adsunify.errors`."""
        ...

    async def close(self) -> None:
        """Let a write in flight finish, and close what was opened."""
        ...


@frozen
class LocalDoor:
    """A store of our own, as :func:`adsunify.service.people.embedded` says."""

    service: Service
    actor: Actor

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        """The envelope of the answer, a copy that is the caller's own."""
        envelope: Mapping[str, Json] = loads(dumps((await call(self.service, self.actor, endpoint, asked)).envelope()))
        return envelope  # the caller's own, as from a server

    async def close(self) -> None:
        """Let a write in flight finish, and close the store."""
        await self.service.close()


@frozen
class RemoteDoor:
    """A server, over REST. Nothing is sent twice: an answer that is lost is an error that says so."""

    client: httpx.AsyncClient

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        """The envelope of the answer. Raises InvalidInput for what no request can carry, and ProviderUnreadable
        ``server_unreachable`` where there is no answer; its outcome is ``unknown`` where the server may have done it.
        """
        import httpx

        path = PREFIX + endpoint.path
        for name, value in asked.path.items():
            if value in (".", ".."):  # on the way they would be folded into another address
                raise refused(name, "malformed", "must be an id; . and .. are none.")
            path = path.replace("{" + name + "}", quote(value, safe=":", errors="replace"))
        headers: dict[bytes, bytes] = {}
        if asked.idempotency_key is not None:
            if any(one in "\r\n\0" for one in asked.idempotency_key):  # no header can carry it
                raise refused("Idempotency-Key", "malformed", "must be text in UTF-8 without control characters.")
            headers[b"Idempotency-Key"] = asked.idempotency_key.encode("utf-8", "replace")
        if endpoint.body is not None:
            headers[b"Content-Type"] = b"application/json"
        content = asked.body if endpoint.body is not None else None
        try:
            answer = await self.client.request(
                endpoint.method, path, params=dict(asked.query), content=content, headers=headers
            )
            body: Mapping[str, Json] = loads(answer.content)
            if answer.status_code >= 400:
                error = error_from(body)
            elif "data" in body:
                return body
            else:
                raise ValueError("it is no answer of this API")
        except (httpx.HTTPError, ValueError, LookupError, TypeError) as problem:
            unsent = isinstance(problem, httpx.ConnectError | httpx.ConnectTimeout | httpx.PoolTimeout)
            raise ProviderUnreadable(
                f"The server gave no usable answer: {problem}",
                code="server_unreachable",
                outcome="not_applied" if unsent or endpoint.method == "GET" else "unknown",
            ) from problem
        if isinstance(error, ProviderThrottled) and "Retry-After" in answer.headers:
            error.retry_after = float(answer.headers["Retry-After"])
        raise error

    async def close(self) -> None:
        """Close the connections to the server."""
        await self.client.aclose()


async def open_door(url: str, token: str | None, workspace: str | None, environment: Mapping[str, str]) -> Door:
    """The server at an http(s) address, or a database, migrated, and a workspace in it as :func:`embedded` chooses it.

    Raises InvalidInput, StoreError.
    """
    if url.startswith(("http://", "https://")):
        return _remote(url, token)
    if token is not None:
        raise refused("token", "not_supported", "goes with a server, whose address begins with http:// or https://.")
    opened = await open_service(
        url,
        environment,
        base_url=environment.get(BASE_URL) or DEFAULT_BASE_URL,
        sandbox_url=environment.get(SANDBOX_URL) or None,
    )
    try:
        return LocalDoor(opened.service, await embedded(opened.service.store, workspace))
    except BaseException:
        await opened.service.close()
        raise


def _remote(url: str, token: str | None) -> RemoteDoor:
    import httpx

    if not token:
        raise refused("token", "required", "is needed to call a server.")
    if not (token.isascii() and token.isprintable() and " " not in token):
        raise refused("token", "malformed", "is made of visible ASCII characters only.")
    try:
        address = httpx.URL(url.rstrip("/"))
        usable = bool(address.host) and (address.port or 0) <= LAST_PORT
    except httpx.InvalidURL:
        usable = False
    if not usable or address.userinfo:  # which would take the token's place
        raise refused("server", "malformed", "must be an http or https address with a host, and without a user name.")
    return RemoteDoor(
        httpx.AsyncClient(
            base_url=address,
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=httpx.Timeout(120.0, connect=10.0),
            trust_env=False,
        )
    )
