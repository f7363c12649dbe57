"""The access rule of endpoints, and a Markdown table of its results for each endpoint and kind of caller."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from adsunify.actor import Actor, ActorKind, Role
from adsunify.errors import Forbidden
from adsunify.review.capabilities import render_markdown_table

from .endpoint import Endpoint
from .endpoints import ENDPOINTS


def authorize(actor: Actor, endpoint: Endpoint) -> None:
    """Raise Forbidden if the endpoint needs more authority than the actor has."""
    if actor.kind == "agent" and not (endpoint.allows_agents or endpoint.needs_person):
        raise Forbidden(
            "An agent's token cannot list or change API keys, guardrails or alerts, change webhooks, or read the "
            "ledger. Use an API key.",
            code="not_for_agents",
        )
    if endpoint.access == "write" and not actor.can_operate:
        raise Forbidden("This needs a write-enabled credential of a member or admin.", code="write_required")
    if endpoint.access == "admin" and not actor.can_administer:
        raise Forbidden("This needs a write-enabled credential of an admin.", code="admin_required")
    if endpoint.needs_person and actor.kind not in ("session", "local"):
        raise Forbidden("Only a signed-in person can do this; sign in at the pages.", code="person_required")
    if endpoint.access == "auditor" and actor.role != "admin":
        raise Forbidden("This needs a credential of an admin.", code="admin_required")


def _make_caller(kind: ActorKind, role: Role, writes: bool) -> Actor:
    return Actor("", "", "", role, writes, kind)


CALLERS: Mapping[str, Actor | None] = {
    "no valid token": None,
    "read key, member": _make_caller("key", "member", False),
    "read key, admin": _make_caller("key", "admin", False),
    "write key, viewer": _make_caller("key", "viewer", True),
    "write key, member": _make_caller("key", "member", True),
    "write key, admin": _make_caller("key", "admin", True),
    "OAuth, read": _make_caller("agent", "admin", False),
    "OAuth, write, member": _make_caller("agent", "member", True),
    "OAuth, write, admin": _make_caller("agent", "admin", True),
}
"""Every kind of caller. A viewer's read-only credential has the same authority as a member's."""


def render_access_matrix() -> str:
    """Render the result of each endpoint for each kind of caller: ``yes``, 401, or 403 with its code."""
    return "\n".join([*render_markdown_table(("endpoint", *CALLERS), _matrix_rows()), ""])


def _matrix_rows() -> Iterator[Sequence[str]]:
    for endpoint in ENDPOINTS:
        yield (
            f"`{endpoint.method} {endpoint.path}`",
            *(_expected_answer(caller, endpoint) for caller in CALLERS.values()),
        )


def _expected_answer(caller: Actor | None, endpoint: Endpoint) -> str:
    if caller is None:
        return "401"
    try:
        authorize(caller, endpoint)
    except Forbidden as refusal:
        return f"403 `{refusal.code}`"
    return "yes"
