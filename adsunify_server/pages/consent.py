"""OAuth consent: a person allows an agent into one of his workspaces, or does not."""

from __future__ import annotations

import re
from urllib.parse import urlsplit

from aiohttp import web

from adsunify.errors import Forbidden
from adsunify.service import agents
from adsunify.service.agents import Asked, OAuthError

from .visiting import Door, Visit, stored

PLAIN = re.compile(r"[A-Za-z0-9.-]+(:[0-9]+)?")


def add_pages(door: Door) -> None:
    """``/oauth/authorize``."""
    door.get("/oauth/authorize", show)
    door.post("/oauth/authorize", decide)


async def show(visit: Visit) -> web.Response:
    """Who asks for what, and where the answer goes."""
    try:
        return _consent(visit, await _asked(visit))
    except OAuthError as problem:
        return visit.to(agents.refusal(visit.service, dict(visit.request.query), problem))


async def decide(visit: Visit) -> web.Response:
    """Tell the client what the person decided."""
    try:
        asked = await _asked(visit)
        if visit.form.get("decision") != "allow":
            raise OAuthError("access_denied", "The person did not allow it.")
    except OAuthError as problem:
        return visit.to(agents.refusal(visit.service, dict(visit.request.query), problem))
    workspace, write = visit.form.get("workspaceId", ""), visit.form.get("access") == "write"
    try:
        return visit.to(await agents.allow(visit.service, asked, visit.person.user_id, workspace, write=write))
    except Forbidden as refusal:
        return _consent(visit, asked, refusal.status, refusal.message)


async def _asked(visit: Visit) -> Asked:
    return await agents.asked(visit.service, stored(dict(visit.request.query)))


def _consent(visit: Visit, asked: Asked, status: int = 200, problem: str | None = None) -> web.Response:
    homes = visit.person.homes
    return visit.page(
        "consent.html",
        status,
        targets=f"'self' {_target(asked.redirect_uri)}",
        asked=asked,
        homes=homes,
        writes=asked.write and any(home.role != "viewer" for home in homes),
        problem=problem,
    )


def _target(redirect: str) -> str:
    """The client's origin, for the policy of forms: browsers hold redirects against it, too.

    A policy cannot name an IPv6 address, and whatever is no plain host must not write policies: then it is the scheme.
    """
    parts = urlsplit(redirect)
    return f"{parts.scheme}://{parts.netloc}" if PLAIN.fullmatch(parts.netloc) else f"{parts.scheme}:"
