"""Who else has access: API keys, connected agents, webhooks."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from adsunify.contract import BY_ID
from adsunify.contract.access import permit
from adsunify.errors import AdsunifyError, refused
from adsunify.problem_details import described
from adsunify.store import people

from .visiting import Door, Visit

LIFETIMES = ("30", "90", "365")
"""Days that a new key may live, beside for ever."""


def add_pages(door: Door) -> None:
    """``/keys``, ``/connected-agents``, ``/webhooks``."""
    door.get("/keys", show_keys)
    door.post("/keys", create_key)
    door.post("/keys/{keyId}/revoke", revoke_key)
    door.get("/connected-agents", show_agents)
    door.post("/connected-agents/{grantId}/revoke", revoke_agent)
    door.get("/webhooks", show_webhooks)


async def show_keys(visit: Visit) -> web.Response:
    """The workspace's keys; an admin makes new ones."""
    return await _keys(visit)


async def create_key(visit: Visit) -> web.Response:
    """Make a key; its secret is shown this once."""
    permit(visit.actor, BY_ID["post_keys"])
    days = visit.form.get("days")
    if days not in ("", *LIFETIMES):
        raise refused("days", "not_a_choice", f"must be one of {', '.join(LIFETIMES)}, or empty: for ever.")
    body = {"name": visit.form.get("name", ""), "canWrite": visit.form.get("canWrite") == "true"}
    if days:
        body["expiresAt"] = (visit.service.now() + timedelta(days=int(days))).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        return await _keys(visit, 201, made=await visit.ask("post_keys", body))
    except AdsunifyError as problem:
        return await _keys(visit, problem.status, problem=described(problem))


async def _keys(visit: Visit, status: int = 200, **more: object) -> web.Response:
    found = await visit.ask("get_keys")
    owners = {
        id_: (await visit.service.store.read(people.user, id_)).email for id_ in {one["ownerId"] for one in found}
    }
    shown = {"keys": found, "owners": owners, "lifetimes": LIFETIMES, "made": None, "problem": None, **more}
    return visit.page("keys.html", status, **shown)


async def revoke_key(visit: Visit) -> web.Response:
    """End a key of one's own."""
    visit.confirmed()
    await visit.ask("delete_key", keyId=visit.path("keyId"))
    return visit.to("/keys")


async def show_agents(visit: Visit) -> web.Response:
    """The person's grants in this workspace."""
    return visit.page("agents.html", agents=await visit.ask("get_connected_agents"))


async def revoke_agent(visit: Visit) -> web.Response:
    """End a grant at once."""
    visit.confirmed()
    await visit.ask("delete_connected_agent", grantId=visit.path("grantId"))
    return visit.to("/connected-agents")


async def show_webhooks(visit: Visit) -> web.Response:
    """Where events are sent."""
    return visit.page("webhooks.html", webhooks=await visit.ask("get_webhooks"))
