"""Pages of what has access to the workspace: API keys, connected agents, webhooks."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.contract.access import authorize
from adsunify.errors import AdsunifyError, invalid_input
from adsunify.problem_details import to_problem_details
from adsunify.service.users import read_emails

from .request import PageRequest, PageRouter

KEY_LIFETIMES = ("30", "90", "365")
"""Lifetimes of a new key in days; a key can also have no expiry."""


def add_pages(router: PageRouter) -> None:
    """Add ``/keys``, ``/connected-agents`` and ``/webhooks``."""
    router.add_get("/keys", show_keys)
    router.add_post("/keys", create_key)
    router.add_post("/keys/{keyId}/revoke", revoke_key)
    router.add_get("/connected-agents", show_agents)
    router.add_post("/connected-agents/{grantId}/revoke", revoke_agent)
    router.add_get("/webhooks", show_webhooks)


async def show_keys(visit: PageRequest) -> web.Response:
    """Show the workspace's keys."""
    return await _keys_page(visit)


async def create_key(visit: PageRequest) -> web.Response:
    """Create a key and show its secret once."""
    authorize(visit.actor, ENDPOINTS_BY_ID["post_keys"])
    days = visit.form.get("days")
    if days not in ("", *KEY_LIFETIMES):
        raise invalid_input(
            "days", "not_a_choice", f"must be one of {', '.join(KEY_LIFETIMES)}, or empty for no expiry."
        )
    body = {"name": visit.form.get("name", ""), "canWrite": visit.form.get("canWrite") == "true"}
    if days:
        body["expiresAt"] = (visit.service.now() + timedelta(days=int(days))).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        return await _keys_page(visit, 201, new_key=await visit.call_endpoint("post_keys", body))
    except AdsunifyError as problem:
        return await _keys_page(visit, problem.status, problem=to_problem_details(problem))


async def _keys_page(visit: PageRequest, status: int = 200, **more: object) -> web.Response:
    keys = await visit.call_endpoint("get_keys")
    owners = await read_emails(visit.service, (key["ownerId"] for key in keys))
    values = {"keys": keys, "owners": owners, "lifetimes": KEY_LIFETIMES, "new_key": None, "problem": None, **more}
    return visit.render_page("keys.html", status, **values)


async def revoke_key(visit: PageRequest) -> web.Response:
    """Revoke a key of the person."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_key", keyId=visit.path_parameter("keyId"))
    return visit.redirect("/keys")


async def show_agents(visit: PageRequest) -> web.Response:
    """Show the person's grants in this workspace."""
    return visit.render_page("agents.html", agents=await visit.call_endpoint("get_connected_agents"))


async def revoke_agent(visit: PageRequest) -> web.Response:
    """Revoke a grant."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_connected_agent", grantId=visit.path_parameter("grantId"))
    return visit.redirect("/connected-agents")


async def show_webhooks(visit: PageRequest) -> web.Response:
    """Show the webhook subscriptions."""
    return visit.render_page("webhooks.html", webhooks=await visit.call_endpoint("get_webhooks"))
