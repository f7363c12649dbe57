"""Who calls: the one place that reads a bearer token, whatever the door."""

from __future__ import annotations

from adsunify.actor import Actor
from adsunify.errors import Unauthenticated

from . import access, agents
from .core import Service

MISSING = "A bearer token is needed: Authorization: Bearer <token>."
INVALID = "The bearer token is invalid, expired or revoked."


async def authenticate(service: Service, authorization: str | None) -> Actor:
    """The caller behind an ``Authorization`` header: an API key's, or an agent's; raises Unauthenticated."""
    scheme, _, rest = (authorization or "").strip().partition(" ")
    token = rest.strip()
    if scheme.lower() != "bearer" or not token:
        raise Unauthenticated(MISSING, code="token_missing")
    find = agents.actor if token.startswith(agents.ACCESS_PREFIX) else access.actor
    caller = await find(service, token)
    if caller is None:
        raise Unauthenticated(INVALID)
    return caller
