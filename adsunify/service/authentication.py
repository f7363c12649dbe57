"""Authentication: the one place that reads bearer tokens, for REST and MCP."""

from __future__ import annotations

from contextvars import ContextVar

from attrs import define, field

from adsunify.actor import Actor
from adsunify.errors import Unauthenticated
from adsunify.service import api_keys, oauth_server
from adsunify.service.core import Service

TOKEN_MISSING = "A bearer token is needed: Authorization: Bearer <token>."
TOKEN_INVALID = "The bearer token is invalid, expired or revoked."


@define(eq=False)
class RequestContext:
    """The context of a request: its id, the caller's IP address, and the caller once it is known.

    ``owner``: the credential, or the user id of a session. ``operation_ids``: the operations that it prepared or
    executed.
    """

    request_id: str
    client_ip: str
    owner: str | None = None
    workspace_id: str | None = None
    operation_ids: set[str] = field(factory=set)

    @property
    def operation_id(self) -> str | None:
        """The operation of the request; None if there are none or several."""
        return next(iter(self.operation_ids)) if len(self.operation_ids) == 1 else None


REQUEST_CONTEXT: ContextVar[RequestContext | None] = ContextVar("request_context", default=None)
"""The request in progress; None outside a server."""


def note_operation(operation_id: str) -> None:
    """Record that the request in progress is about this operation, for its log line and its span."""
    context = REQUEST_CONTEXT.get()
    if context is not None:
        context.operation_ids.add(operation_id)


async def authenticate(service: Service, authorization: str | None) -> Actor:
    """Return the actor behind an ``Authorization`` header: of an API key or of an agent's token.

    Raises Unauthenticated; RateLimited where too many bad tokens came from the IP address. Valid tokens always pass,
    since several callers may share the address.
    """
    scheme, _, credentials = (authorization or "").strip().partition(" ")
    token = credentials.strip()
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated(TOKEN_MISSING, code="token_missing")
    find = oauth_server.actor_from_token if token.startswith(oauth_server.ACCESS_PREFIX) else api_keys.actor_from_key
    caller = await find(service, token)
    context = REQUEST_CONTEXT.get()
    if caller is None:
        if context is not None:
            service.rate_limiter.count_bad_token(context.client_ip)
        raise Unauthenticated(TOKEN_INVALID)
    if context is not None:
        context.owner, context.workspace_id = caller.credential, caller.workspace_id
    return caller
