"""Pages of guardrails: the list with their windows, a form for each, and the credentials that they have frozen."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

from aiohttp import web

from adsunify.errors import AdsunifyError, InvalidInput
from adsunify.models.guardrail import GuardedAction
from adsunify.problem_details import to_problem_details
from adsunify.review.guardrails import PERIODS, describe_limits
from adsunify.service.sessions import list_members
from adsunify.values.exact_json import Json

from .request import PageRequest, PageRouter

LIMIT_MEMBERS = ("perOperation", "perWindow", "approvalAbove")
SCOPE_BOXES = (
    ("networks", "network"),
    ("accountIds", "account"),
    ("keyIds", "key"),
    ("userIds", "user"),
    ("clients", "agent"),
)
"""The members of a scope, and the kind of their boxes in the form."""


def add_pages(router: PageRouter) -> None:
    """Add ``/guardrails`` and a page for each guardrail."""
    router.add_get("/guardrails", show_guardrails)
    router.add_post("/guardrails", create_guardrail)
    router.add_get("/guardrails/new", show_new_guardrail)
    router.add_post("/guardrails/lift", lift_freeze)
    router.add_get("/guardrails/{guardrailId}", show_guardrail)
    router.add_post("/guardrails/{guardrailId}", update_guardrail)
    router.add_post("/guardrails/{guardrailId}/delete", delete_guardrail)


async def show_guardrails(visit: PageRequest) -> web.Response:
    """Show the guardrails, how full their windows are, and the frozen credentials."""
    rules = await visit.call_endpoint("get_guardrails")
    usages = {
        rule["id"]: await visit.call_endpoint("get_guardrail_usage", guardrailId=rule["id"])
        for rule in rules
        if rule["perWindow"] is not None
    }
    return visit.render_page(
        "guardrails.html",
        rules=[(rule, list(describe_limits(rule)), usages.get(rule["id"])) for rule in rules],
        names=await _read_names(visit, rules),
        rule_names={rule["id"]: rule["name"] for rule in rules},
        freezes=await visit.call_endpoint("get_guardrails_freezes"),
        keys={key["keyId"]: key["name"] for key in await visit.call_endpoint("get_keys")},
        periods=PERIODS,
        scope_boxes=SCOPE_BOXES,
    )


async def show_new_guardrail(visit: PageRequest) -> web.Response:
    """Show the form of a new guardrail."""
    return await _form_page(visit, None, {"active": "true"})


async def show_guardrail(visit: PageRequest) -> web.Response:
    """Show the form of a guardrail."""
    rule = await _read_rule(visit)
    return await _form_page(visit, rule, dict(_list_form_fields(rule)))


async def create_guardrail(visit: PageRequest) -> web.Response:
    """Create a guardrail from the form."""
    try:
        await visit.call_endpoint("post_guardrails", _build_body(visit))
    except InvalidInput as problem:
        return await _form_page(visit, None, visit.form, problem)
    return visit.redirect("/guardrails")


async def update_guardrail(visit: PageRequest) -> web.Response:
    """Change a guardrail: the form holds all its members."""
    rule = await _read_rule(visit)
    try:
        await visit.call_endpoint("patch_guardrail", _build_body(visit), guardrailId=rule["id"])
    except InvalidInput as problem:
        return await _form_page(visit, rule, visit.form, problem)
    return visit.redirect("/guardrails")


async def delete_guardrail(visit: PageRequest) -> web.Response:
    """Delete a guardrail."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_guardrail", guardrailId=visit.path_parameter("guardrailId"))
    return visit.redirect("/guardrails")


async def lift_freeze(visit: PageRequest) -> web.Response:
    """Lift the freeze of a credential."""
    visit.require_confirmed()
    await visit.call_endpoint("delete_guardrails_freeze", credential=visit.form.get("credential", ""))
    return visit.redirect("/guardrails")


async def _read_rule(visit: PageRequest) -> dict[str, Any]:
    rule: dict[str, Any] = await visit.call_endpoint("get_guardrail", guardrailId=visit.path_parameter("guardrailId"))
    return rule


# -- the form -----------------------------------------------------------------------------------------------------


async def _form_page(
    visit: PageRequest, rule: Mapping[str, Json] | None, fields: Mapping[str, str], problem: AdsunifyError | None = None
) -> web.Response:
    """Render the form with these fields. ``rule`` is None for a new guardrail."""
    names = await _read_names(visit, [] if rule is None else [rule])
    details = None if problem is None else to_problem_details(problem)
    return visit.render_page(
        "guardrail.html",
        200 if problem is None else problem.status,
        rule=rule,
        fields=fields,
        names=names,
        problem=details,
        issues={issue.path: issue.message for issue in problem.issues} if isinstance(problem, InvalidInput) else {},
        actions=get_args(GuardedAction),
        limit_members=LIMIT_MEMBERS,
        periods=PERIODS,
        scope_boxes=SCOPE_BOXES,
    )


def _build_body(visit: PageRequest) -> dict[str, Json]:
    """Build the body of the API from the form. An empty field is no limit."""
    fields = {name: value.strip() for name, value in visit.form.items()}
    scope = {member: visit.list_ticked(box) for member, box in SCOPE_BOXES}
    clients = [client.rpartition(":") for client in scope.pop("clients")]
    named: dict[str, Json] = {member: ids for member, ids in scope.items() if ids}
    if clients:
        named["clients"] = [{"clientId": client, "userId": user} for client, _, user in clients]
    return {
        "name": fields.get("name", ""),
        "scope": named,
        "currency": fields.get("currency") or None,
        **{member: _build_limits(fields, member) for member in LIMIT_MEMBERS},
        "maxIncreasePercent": parse_number(fields.get("maxIncreasePercent", "")),
        "maxBid": fields.get("maxBid") or None,
        "blockedActions": visit.list_ticked("blocked"),
        "onBreach": fields.get("onBreach", "refuse"),
        "otherCurrencies": fields.get("otherCurrencies", "refuse"),
        "active": fields.get("active") == "true",
    }


def _build_limits(fields: Mapping[str, str], member: str) -> dict[str, Json] | None:
    amounts: dict[str, Json] = {name: fields.get(f"{member}.{name}") or None for name, _ in PERIODS}
    hours = fields.get(f"{member}.hours", "")
    if not hours and not any(amounts.values()):
        return None
    return amounts | {"hours": parse_number(hours)} if member == "perWindow" else amounts


def parse_number(text: str) -> Json:
    """Return the number in a field; None if it is empty. The API refuses a text that is not a number."""
    try:
        number = Decimal(text) if text else None
    except InvalidOperation:
        return text
    return number if number is None or number.is_finite() else text


def _list_form_fields(rule: Mapping[str, Json]) -> Iterator[tuple[str, str]]:
    """Yield the fields of the form that show a rule."""
    for name in ("name", "currency", "maxIncreasePercent", "maxBid", "onBreach", "otherCurrencies"):
        if rule[name] is not None:
            yield name, str(rule[name])
    for member in LIMIT_MEMBERS:
        for name, value in (rule[member] or {}).items():
            if value is not None:
                yield f"{member}.{name}", str(value)
    for action in rule["blockedActions"]:
        yield f"blocked.{action}", "true"
    for member, box in SCOPE_BOXES:
        for item in rule["scope"].get(member, ()):
            yield f"{box}.{_get_box_value(item)}", "true"
    if rule["active"]:
        yield "active", "true"


def _get_box_value(item: Json) -> str:
    return f"{item['clientId']}:{item['userId']}" if isinstance(item, Mapping) else str(item)


async def _read_names(visit: PageRequest, rules: list[Any]) -> dict[str, dict[str, str]]:
    """Return the labels of everything that a scope can name: kind of box -> value -> label.

    They include members of rules that no longer exist, such as a revoked key.
    """
    accounts = await visit.call_endpoint("get_accounts")
    keys = [key for key in await visit.call_endpoint("get_keys") if key["revokedAt"] is None]
    grants = await visit.call_endpoint("get_connected_agents")
    emails = {member["userId"]: member["email"] for member in await list_members(visit.service, visit.actor)}
    names: dict[str, dict[str, str]] = {
        "network": {network["network"]: network["title"] for network in await visit.call_endpoint("get_networks")},
        "account": {account["accountId"]: account["name"] or account["nativeId"] for account in accounts},
        "key": {key["keyId"]: key["name"] for key in keys},
        "user": emails,
        "agent": {f"{grant['clientId']}:{visit.actor.user_id}": grant["clientName"] for grant in grants},
    }
    for rule in rules:
        for member, box in SCOPE_BOXES:
            for item in rule["scope"].get(member, ()):
                names[box].setdefault(_get_box_value(item), _describe_item(item, emails))
    return names


def _describe_item(item: Json, emails: Mapping[str, str]) -> str:
    if isinstance(item, Mapping):
        return f"{item['clientId']} of {emails.get(item['userId'], item['userId'])}"
    return str(item)
