"""Who may call what: the rule, and a Markdown table of what it gives for each endpoint."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adsunify.actor import Actor, ActorKind, Role
from adsunify.errors import Forbidden
from adsunify.review.capabilities import table

from .endpoint import Endpoint
from .endpoints import ENDPOINTS


def permit(actor: Actor, endpoint: Endpoint) -> None:
    """Raise Forbidden where the actor's authority is less than the endpoint needs."""
    if actor.kind == "agent" and not endpoint.agents:
        raise Forbidden(
            "An agent's token cannot list or change API keys, or change webhooks. Use an API key.",
            code="not_for_agents",
        )
    if endpoint.access == "write" and not actor.writes:
        raise Forbidden("This needs a write-enabled credential of a member or admin.", code="write_required")
    if endpoint.access == "admin" and not actor.administers:
        raise Forbidden("This needs a write-enabled credential of an admin.", code="admin_required")


def _caller(kind: ActorKind, role: Role, writes: bool) -> Actor:
    return Actor("", "", "", role, writes, kind)


CALLERS: Mapping[str, Actor | None] = {
    "no valid token": None,
    "read key": _caller("key", "admin", False),
    "write key, viewer": _caller("key", "viewer", True),
    "write key, member": _caller("key", "member", True),
    "write key, admin": _caller("key", "admin", True),
    "OAuth, read": _caller("agent", "admin", False),
    "OAuth, write, member": _caller("agent", "member", True),
    "OAuth, write, admin": _caller("agent", "admin", True),
}
"""Every kind of caller. A read-only credential reads whatever the role: an admin's stands for all."""


def access_matrix() -> str:
    """Every endpoint and what each kind of caller is answered: ``yes``, 401, or 403 with its code."""
    return "\n".join([*table(("endpoint", *CALLERS), _rows()), ""])


def _rows() -> Iterator[Sequence[str]]:
    for endpoint in ENDPOINTS:
        yield f"`{endpoint.method} {endpoint.path}`", *(_answer(caller, endpoint) for caller in CALLERS.values())


def _answer(caller: Actor | None, endpoint: Endpoint) -> str:
    if caller is None:
        return "401"
    try:
        permit(caller, endpoint)
    except Forbidden as refusal:
        return f"403 `{refusal.code}`"
    return "yes"
