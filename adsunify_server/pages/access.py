"""Pages of what has access to the workspace: API keys and connected agents."""

from __future__ import annotations

from datetime import timedelta

from aiohttp import web

from adsunify.contract import ENDPOINTS_BY_ID
from adsunify.contract.access import authorize
from adsunify.errors import AdsunifyError, invalid_input
from adsunify.problem_details import to_problem_details
from adsunify.service.users import read_emails
from adsunify.values.exact_json import Json

from .oauth_server import MAX_ACCOUNTS
from .request import PageRequest, PageRouter

KEY_LIFETIMES = ("30", "90", "365")
"""Lifetimes of a new key in days; a key can also have no expiry."""


def add_pages(router: PageRouter) -> None:
    """Add ``/keys`` and ``/connected-agents``."""
    router.add_get("/keys", show_keys)
    router.add_post("/keys", create_key)
    router.add_post("/keys/{keyId}/revoke", revoke_key)
    router.add_get("/connected-agents", show_agents)
    router.add_post("/connected-agents/{grantId}/revoke", revoke_agent)


async def show_keys(visit: PageRequest) -> web.Response:
    """Show the workspace's keys."""
    return await _keys_page(visit)


async def create_key(visit: PageRequest) -> web.Response:
    """Create a key and show its secret once."""
    scope = {"networks": visit.list_ticked("network"), "accountIds": visit.list_ticked("account")}
    scope = {name: values for name, values in scope.items() if values}
    operation_id = "post_keys_scoped" if scope else "post_keys"
    authorize(visit.actor, ENDPOINTS_BY_ID[operation_id])
    days = visit.form.get("days")
    if days not in ("", *KEY_LIFETIMES):
        raise invalid_input(
            "days", "not_a_choice", f"must be one of {', '.join(KEY_LIFETIMES)}, or empty for no expiry."
        )
    body: dict[str, Json] = {"name": visit.form.get("name", ""), "canWrite": visit.form.get("canWrite") == "true"}
    if scope:
        body["scope"] = scope
    if days:
        body["expiresAt"] = (visit.service.now() + timedelta(days=int(days))).strftime("%Y-%m-%dT%H:%M:%SZ")
    try:
        return await _keys_page(visit, 201, new_key=await visit.call_endpoint(operation_id, body))
    except AdsunifyError as problem:
        return await _keys_page(visit, problem.status, problem=to_problem_details(problem))


async def _keys_page(visit: PageRequest, status: int = 200, **more: object) -> web.Response:
    keys = await visit.call_endpoint("get_keys")
    owners = await read_emails(visit.service, (key["ownerId"] for key in keys))
    accounts = await visit.call_endpoint("get_accounts")
    connected = [account for account in accounts if account["status"] != "disconnected"]
    values = {
        "keys": keys,
        "owners": owners,
        "lifetimes": KEY_LIFETIMES,
        "accounts": accounts,
        "open_accounts": connected[:MAX_ACCOUNTS],
        "ticked": visit.form if "problem" in more else {},
        "networks": list(dict.fromkeys(account["network"] for account in connected)),
        "new_key": None,
        "problem": None,
        **more,
    }
    return visit.render_page("keys.html", status, **values)


async def revoke_key(visit: PageRequest) -> web.Response:
    """Revoke a key of the person."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_key", keyId=visit.path_parameter("keyId"))
    return visit.redirect("/keys")


async def show_agents(visit: PageRequest) -> web.Response:
    """Show the person's grants in this workspace."""
    agents = await visit.call_endpoint("get_connected_agents")
    return visit.render_page("agents.html", agents=agents, accounts=await visit.call_endpoint("get_accounts"))


async def revoke_agent(visit: PageRequest) -> web.Response:
    """Revoke a grant."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_connected_agent", grantId=visit.path_parameter("grantId"))
    return visit.redirect("/connected-agents")
