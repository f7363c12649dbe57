"""The page of alerts: the list with what was not evaluated, a form for a new alert, pausing and deleting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import get_args

from aiohttp import web

from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.models.alert import AlertKind, AlertLevel
from adsunify.problem_details import to_problem_details
from adsunify.review.alerts import LEVEL_WORDS, describe_alert
from adsunify.values.exact_json import Json

from .guardrails import parse_number
from .request import PageRequest, PageRouter

KIND_WORDS: Mapping[str, str] = {
    "spendAbove": "too much is spent",
    "noDeliveryFor": "nothing is delivered after an activation",
    "disapproved": "the network disapproves",
    "paceAbove": "the budget is spent too fast",
}
TEXT_FIELDS = ("level", "amount", "currency")
NUMBER_FIELDS = ("days", "hours", "percent")
SCOPE_BOXES = (("networks", "network"), ("accountIds", "account"))


def add_pages(router: PageRouter) -> None:
    """Add ``/alerts``."""
    router.add_get("/alerts", show_alerts)
    router.add_post("/alerts", create_alert)
    router.add_post("/alerts/{alertId}", update_alert)
    router.add_post("/alerts/{alertId}/delete", delete_alert)


async def show_alerts(visit: PageRequest) -> web.Response:
    """Show the alerts, and the form for a new one."""
    return await _render_alerts(visit, {})


async def create_alert(visit: PageRequest) -> web.Response:
    """Create an alert from the form."""
    try:
        await visit.call_endpoint("post_alerts", _build_body(visit))
    except InvalidInput as problem:
        return await _render_alerts(visit, visit.form, problem)
    return visit.redirect("/alerts")


async def update_alert(visit: PageRequest) -> web.Response:
    """Pause or resume an alert."""
    body = {"active": visit.form.get("active") == "true"}
    await visit.call_endpoint("patch_alert", body, alertId=visit.path_parameter("alertId"))
    return visit.redirect("/alerts")


async def delete_alert(visit: PageRequest) -> web.Response:
    """Delete an alert."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_alert", alertId=visit.path_parameter("alertId"))
    return visit.redirect("/alerts")


async def _render_alerts(
    visit: PageRequest, fields: Mapping[str, str], problem: AdsunifyError | None = None
) -> web.Response:
    """Render the page. ``fields`` are the fields of the form for a new alert."""
    accounts = await visit.call_endpoint("get_accounts")
    networks = await visit.call_endpoint("get_networks")
    alerts = await visit.call_endpoint("get_alerts")
    return visit.render_page(
        "alerts.html",
        200 if problem is None else problem.status,
        alerts=[(alert, describe_alert(alert)) for alert in alerts],
        names={
            "network": {network["network"]: network["title"] for network in networks},
            "account": {account["accountId"]: account["name"] or account["nativeId"] for account in accounts},
        },
        fields=fields,
        problem=None if problem is None else to_problem_details(problem),
        issues={issue.path: issue.message for issue in problem.issues} if isinstance(problem, InvalidInput) else {},
        kinds=[(kind, KIND_WORDS[kind]) for kind in get_args(AlertKind)],
        levels=[(level, LEVEL_WORDS[level]) for level in get_args(AlertLevel)],
        scope_boxes=SCOPE_BOXES,
    )


def _build_body(visit: PageRequest) -> dict[str, Json]:
    """Build the body of the API from the form. Empty fields are left out."""
    fields = {name: value.strip() for name, value in visit.form.items()}
    scope: dict[str, Json] = {member: ids for member, box in SCOPE_BOXES if (ids := visit.list_ticked(box))}
    if fields.get("entityIds"):
        scope["entityIds"] = [entity_id.strip() for entity_id in fields["entityIds"].split(",")]
    body: dict[str, Json] = {"name": fields.get("name", ""), "kind": fields.get("kind", ""), "scope": scope}
    body |= {name: fields[name] for name in TEXT_FIELDS if fields.get(name)}
    return body | {name: parse_number(fields[name]) for name in NUMBER_FIELDS if fields.get(name)}
