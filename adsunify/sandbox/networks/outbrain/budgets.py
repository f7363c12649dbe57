"""Budgets: amount, dates and pacing of the campaigns that share them."""

from collections.abc import Mapping
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, boolean, boolean_text, choice, number, record, rule_error, text
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain import answers, tables
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

_AMOUNT_CHECK = number(Decimal("0.01"), places=2)
_CHANGEABLE_MEMBERS: Mapping[str, Check] = {
    "amount": _AMOUNT_CHECK,
    "startDate": answers.check_date,
    "endDate": answers.check_date,
    "runForever": boolean,
    "type": choice(*tables.BUDGET_TYPES),
    "pacing": choice(*tables.PACINGS),
    "dailyTarget": _AMOUNT_CHECK,
}
# The documentation does not say which members are mandatory: those of every sample (our choice).
CREATE_CHECK = record(
    required={
        "name": text(1, tables.MAX_NAME_LENGTH),
        **{name: _CHANGEABLE_MEMBERS[name] for name in ("amount", "startDate", "runForever", "type", "pacing")},
    },
    optional={name: _CHANGEABLE_MEMBERS[name] for name in ("endDate", "dailyTarget")},
)
UPDATE_CHECK = record(optional=_CHANGEABLE_MEMBERS)


def create_budget(request: Request) -> Response:
    """POST /marketers/{marketer}/budgets."""
    request.parse_query()
    account = answers.require_account_by_id(request, request.path_parameters["marketer"])
    body = request.parse_json(CREATE_CHECK)
    for other in request.world.list_entities("budget", account.id):
        if other.data["name"].lower() == body["name"].lower():
            raise rule_error("/name", "a budget of this name exists")
    if date.fromisoformat(body["startDate"]) < answers.get_eastern_date(request.now):
        raise rule_error("/startDate", "lies in the past")
    _check_rules(body, account)
    entity = request.world.create("budget", account.id, body, id=allocate_native_id(request.world, "01"))
    return answers.build_response(request, render_budget(request.world, entity))


def update_budget(request: Request) -> Response:
    """PUT /budgets/{id}: absent members keep their values."""
    request.parse_query()
    entity = answers.require_entity(request, "budget", request.path_parameters["id"])
    body = request.parse_json(UPDATE_CHECK)
    present, old = answers.get_eastern_date(request.now), entity.data
    if body.get("startDate", old["startDate"]) != old["startDate"]:
        if date.fromisoformat(old["startDate"]) < present:
            raise rule_error("/startDate", "cannot be changed once it has passed")
        if date.fromisoformat(body["startDate"]) < present:
            raise rule_error("/startDate", "lies in the past")
    if "endDate" in body and body["endDate"] != old.get("endDate") and date.fromisoformat(body["endDate"]) < present:
        raise rule_error("/endDate", "lies in the past")
    if body.get("runForever") is False and "endDate" not in body and "endDate" not in old:
        raise rule_error("/endDate", "is required where runForever becomes false")
    if "maximumAmount" in old and body.get("amount", old["amount"]) > old["maximumAmount"]:
        raise rule_error("/amount", "is above maximumAmount")
    after = {**old, **body}
    if body.get("runForever") is True and "endDate" not in body:
        after.pop("endDate", None)
    if body.get("pacing", "DAILY_TARGET") != "DAILY_TARGET" and "dailyTarget" not in body:
        after.pop("dailyTarget", None)
    _check_rules(after, request.world.accounts[entity.account])
    return answers.build_response(request, render_budget(request.world, request.world.replace(entity, after)))


def _check_rules(budget: Mapping[str, Any], account: Account) -> None:
    """Check a budget as a whole. Raises InvalidRequest."""
    if budget["runForever"] == ("endDate" in budget):  # our choice: a budget without end has no endDate
        raise rule_error("/endDate", "goes with runForever false, and only with it")
    days = 1
    if "endDate" in budget:
        days = (date.fromisoformat(budget["endDate"]) - date.fromisoformat(budget["startDate"])).days + 1
        if days < 1:
            raise rule_error("/endDate", "lies before startDate")
    elif budget["type"] == "CAMPAIGN":
        raise rule_error("/endDate", "a CAMPAIGN budget needs an end")  # our choice, because the minimum is per day
    if budget["type"] == "DAILY" and budget["pacing"] != "SPEND_ASAP":
        raise rule_error("/pacing", "DAILY supports only SPEND_ASAP")
    if (budget["pacing"] == "DAILY_TARGET") != ("dailyTarget" in budget):
        raise rule_error("/dailyTarget", "goes with the pacing DAILY_TARGET, and only with it")
    for name in ("amount", "dailyTarget"):
        if name in budget:
            number(places=tables.CURRENCY_DECIMALS[account.currency])(budget[name], f"/{name}")
    times = {"DAILY": 1, "MONTHLY": tables.MIN_MONTHLY_DAYS, "CAMPAIGN": days}[budget["type"]]
    least = tables.CURRENCIES[account.currency][3] * times
    if budget["amount"] < least:
        raise rule_error("/amount", f"must be at least {least} {account.currency}")


def get_budget(request: Request) -> Response:
    """GET /budgets/{id}."""
    request.parse_query()
    return answers.build_response(
        request, render_budget(request.world, answers.require_entity(request, "budget", request.path_parameters["id"]))
    )


def list_budgets(request: Request) -> Response:
    """GET /marketers/{marketer}/budgets: all at once; `detachedOnly` selects those that no campaign uses."""
    query = request.parse_query({}, {"detachedOnly": boolean_text})
    account = answers.require_account_by_id(request, request.path_parameters["marketer"])
    budgets = [
        budget
        for budget in request.world.list_entities("budget", account.id)
        if not (query.get("detachedOnly") and count_campaigns(request.world, budget.id))
    ]
    return answers.build_response(
        request, {"count": len(budgets), "budgets": [render_budget(request.world, budget) for budget in budgets]}
    )


def delete_budget(request: Request) -> Response:
    """DELETE /budgets/{id}: only a budget that no campaign uses and that has no spend."""
    request.parse_query()
    entity = answers.require_entity(request, "budget", request.path_parameters["id"])
    if count_campaigns(request.world, entity.id) or entity.data.get("_spent"):
        raise InvalidRequest("rule", "", "the budget is attached to campaigns or was spent from")
    request.world.remove(entity)
    return answers.build_response(request, None)


def count_campaigns(world: World, budget: str) -> int:
    """The number of campaigns that use a budget."""
    return len(world.list_entities("campaign", parent=budget))


def render_budget(world: World, entity: StoredEntity) -> dict[str, Any]:
    """A budget in a response, with the marketer's currency."""
    account = world.accounts[entity.account]
    data = {name: value for name, value in entity.data.items() if not name.startswith("_")}
    spent = entity.data.get("_spent", Decimal(0))
    return {
        "id": entity.id,
        **data,
        "currency": account.currency,
        "shared": count_campaigns(world, entity.id) > 1,
        "amountSpent": spent,
        "amountRemaining": max(entity.data["amount"] - spent, Decimal(0)),
        "creationTime": answers.format_instant(entity.created_at),
        "lastModified": answers.format_instant(entity.updated_at),
    }


def allocate_native_id(world: World, first: str) -> str:
    """A new opaque id of 34 hex characters; `first` differs by kind."""
    return f"{first}{int(world.allocate_id()) * 0x9E3779B97F4A7C15F39CC0605CEDC834 % 2**128:032x}"
