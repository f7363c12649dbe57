"""Pages of webhooks: the list with a form for a new one, one webhook with its deliveries, and a delivery's attempts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError, Conflict, InvalidInput, NotFound
from adsunify.events import DEFAULT_EVENTS, EVENT_DESCRIPTIONS
from adsunify.problem_details import to_problem_details
from adsunify.values.exact_json import Json

from .request import PageRequest, PageRouter

EVENT_BOX = "event"
"""The kind of the boxes of events: each is the field ``event.<name>``."""


def add_pages(router: PageRouter) -> None:
    """Add ``/webhooks``, ``/webhooks/<id>`` and ``/webhooks/<id>/deliveries/<id>``."""
    router.add_get("/webhooks", show_webhooks)
    router.add_post("/webhooks", create_webhook)
    router.add_get("/webhooks/{webhookId}", show_webhook)
    router.add_post("/webhooks/{webhookId}", update_webhook)
    router.add_post("/webhooks/{webhookId}/test", queue_test)
    router.add_post("/webhooks/{webhookId}/delete", delete_webhook)
    router.add_get("/webhooks/{webhookId}/deliveries/{deliveryId}", show_delivery)
    router.add_post("/webhooks/{webhookId}/deliveries/{deliveryId}/redeliver", redeliver)


# -- all webhooks -------------------------------------------------------------------------------------------------


async def show_webhooks(visit: PageRequest) -> web.Response:
    """Show the webhooks, and the form for a new one."""
    return await _render_webhooks(visit)


async def create_webhook(visit: PageRequest) -> web.Response:
    """Create a webhook, and show its signing secret once."""
    body: dict[str, Json] = {"url": visit.form.get("url", "").strip(), "events": visit.list_ticked(EVENT_BOX)}
    if account_id := visit.form.get("accountId"):
        body["accountId"] = account_id
    try:
        created = await visit.call_endpoint("post_webhooks", body)
    except InvalidInput as problem:
        return await _render_webhooks(visit, problem)
    return await _render_webhooks(visit, created=created)


async def _render_webhooks(
    visit: PageRequest, problem: InvalidInput | None = None, created: Mapping[str, Any] | None = None
) -> web.Response:
    accounts = await visit.call_endpoint("get_accounts")
    is_new = problem is None
    return visit.render_page(
        "webhooks.html",
        201 if created else 200 if problem is None else problem.status,
        webhooks=await visit.call_endpoint("get_webhooks"),
        accounts=[account for account in accounts if account["status"] != "disconnected"],
        account_names={account["accountId"]: account["name"] or account["nativeId"] for account in accounts},
        events=EVENT_DESCRIPTIONS,
        ticked=DEFAULT_EVENTS if is_new else visit.list_ticked(EVENT_BOX),
        fields={} if is_new else visit.form,
        created=created,
        problem=None if problem is None else to_problem_details(problem),
    )


# -- one webhook --------------------------------------------------------------------------------------------------


async def show_webhook(visit: PageRequest) -> web.Response:
    """Show a webhook with its latest deliveries."""
    return await _render_webhook(visit)


async def update_webhook(visit: PageRequest) -> web.Response:
    """Pause or resume a webhook, or change its address and its events; the page shows why a change is refused."""
    if "active" in visit.form:
        body: dict[str, Json] = {"active": visit.form["active"] == "true"}
    else:
        body = {"url": visit.form.get("url", "").strip(), "events": visit.list_ticked(EVENT_BOX)}
    return await _change(visit, "patch_webhook", body)


async def queue_test(visit: PageRequest) -> web.Response:
    """Queue a test notification."""
    return await _change(visit, "post_webhook_test", {})


async def _change(visit: PageRequest, operation_id: str, body: Json) -> web.Response:
    id_ = visit.path_parameter("webhookId")
    try:
        await visit.call_endpoint(operation_id, body, webhookId=id_)
    except (Conflict, InvalidInput) as problem:
        return await _render_webhook(visit, problem)
    return visit.redirect(f"/webhooks/{id_}")


async def delete_webhook(visit: PageRequest) -> web.Response:
    """Delete a webhook and its queued deliveries."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_webhook", webhookId=visit.path_parameter("webhookId"))
    return visit.redirect("/webhooks")


async def _render_webhook(visit: PageRequest, problem: AdsunifyError | None = None) -> web.Response:
    webhook = await _find_webhook(visit)
    accounts = {account["accountId"]: account for account in await visit.call_endpoint("get_accounts")}
    is_edit = isinstance(problem, InvalidInput)
    return visit.render_page(
        "webhook.html",
        200 if problem is None else problem.status,
        webhook=webhook,
        account=accounts.get(webhook["accountId"]),
        deliveries=await visit.call_endpoint("get_webhook_deliveries", webhookId=webhook["webhookId"]),
        events=EVENT_DESCRIPTIONS,
        url=visit.form.get("url", "") if is_edit else webhook["url"],
        ticked=visit.list_ticked(EVENT_BOX) if is_edit else webhook["events"],
        problem=None if problem is None else to_problem_details(problem),
    )


async def _find_webhook(visit: PageRequest) -> Mapping[str, Any]:
    id_ = visit.path_parameter("webhookId")
    for webhook in await visit.call_endpoint("get_webhooks"):
        if webhook["webhookId"] == id_:
            match: Mapping[str, Any] = webhook
            return match
    raise NotFound("The webhook does not exist, or you may not see it.")


# -- one delivery -------------------------------------------------------------------------------------------------


async def show_delivery(visit: PageRequest) -> web.Response:
    """Show a delivery with its attempts."""
    return await _render_delivery(visit)


async def redeliver(visit: PageRequest) -> web.Response:
    """Queue a finished notification again."""
    ids = {name: visit.path_parameter(name) for name in ("webhookId", "deliveryId")}
    try:
        await visit.call_endpoint("post_webhook_delivery_redeliver", {}, **ids)
    except Conflict as problem:
        return await _render_delivery(visit, problem)
    return visit.redirect(f"/webhooks/{ids['webhookId']}/deliveries/{ids['deliveryId']}")


async def _render_delivery(visit: PageRequest, problem: AdsunifyError | None = None) -> web.Response:
    webhook = await _find_webhook(visit)
    ids = {name: visit.path_parameter(name) for name in ("webhookId", "deliveryId")}
    attempts = await visit.call_endpoint("get_webhook_delivery_attempts", **ids)
    deliveries = await visit.call_endpoint("get_webhook_deliveries", webhookId=ids["webhookId"])
    return visit.render_page(
        "delivery.html",
        200 if problem is None else problem.status,
        webhook=webhook,
        delivery=next((delivery for delivery in deliveries if delivery["deliveryId"] == ids["deliveryId"]), None),
        delivery_id=ids["deliveryId"],
        attempts=attempts,
        problem=None if problem is None else to_problem_details(problem),
    )
