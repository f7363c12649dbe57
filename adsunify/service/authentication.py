"""Who calls: the one place that reads a bearer token, whatever the door."""

from __future__ import annotations

from contextvars import ContextVar

from attrs import define

from adsunify.actor import Actor
from adsunify.errors import Unauthenticated
from adsunify.service import api_keys, oauth_server
from adsunify.service.core import Service

TOKEN_MISSING = "A bearer token is needed: Authorization: Bearer <token>."
TOKEN_INVALID = "The bearer token is invalid, expired or revoked."


@define(eq=False)
class RequestContext:
    """A request at one of the doors: our id for it, the network address it came from, and who asks once that is known.

    ``owner``: the credential, or the person behind a session.
    """

    request_id: str
    client_ip: str
    owner: str | None = None
    workspace_id: str | None = None


REQUEST_CONTEXT: ContextVar[RequestContext | None] = ContextVar("asked", default=None)
"""The request that is being answered; None outside a server."""


async def authenticate(service: Service, authorization: str | None) -> Actor:
    """The caller behind an ``Authorization`` header: an API key's, or an agent's.

    Raises Unauthenticated; RateLimited where too many bad tokens came from the address. A good one is always good:
    others may share the address.
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
