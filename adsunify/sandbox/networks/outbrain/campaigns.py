"""Campaigns. The marketer is implied by the budget. No call deletes a campaign."""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import (
    Check,
    any_value,
    array,
    boolean,
    boolean_text,
    choice,
    comma_separated,
    integer_text,
    number,
    record,
    rule_error,
    text,
    visible_text,
)
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.outbrain import answers, budgets, tables, targeting
from adsunify.sandbox.networks.outbrain.links import get_approval
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

_OPTIMIZATION_TYPES = dict.fromkeys(kind for kinds in tables.OPTIMIZATIONS_BY_OBJECTIVE.values() for kind in kinds)
_HOUR_CHECK = text(8, 8, r"(0[1-9]|1[0-2]):[0-5]\d (AM|PM)")
_COMMON_MEMBERS: Mapping[str, Check] = {
    "name": visible_text(1, tables.MAX_NAME_LENGTH),
    "enabled": boolean,
    "cpc": number(Decimal("0.01"), places=2),
    "suffixTrackingCode": text(),
    "prefixTrackingCode": record(required={"prefix": text()}, optional={"encode": boolean}),
    "blockedSites": any_value,
    "startHour": _HOUR_CHECK,
    "bids": any_value,
    "campaignOptimization": record(
        required={"optimizationType": choice(*_OPTIMIZATION_TYPES)},
        optional={
            "targetCpa": number(Decimal("0.01")),
            "targetRoas": number(Decimal("0.01")),
            "conversions": any_value,
        },
    ),
    "onAirType": choice(*tables.ON_AIR_TYPES),
    "scheduling": record(
        required={
            "onAir": array(
                record(required={"startDay": text(), "endDay": text(), "startHour": any_value, "endHour": any_value}), 1
            )
        }
    ),
    "objective": choice(*tables.OPTIMIZATIONS_BY_OBJECTIVE),
    "pixels": any_value,
}
# The documentation does not say which members are mandatory: those that a campaign needs to run (our choice).
CREATE_CHECK = record(
    required={
        "name": _COMMON_MEMBERS["name"],
        "budgetId": text(),
        "cpc": _COMMON_MEMBERS["cpc"],
        "targeting": targeting.CREATE_CHECK,
    },
    optional={
        **_COMMON_MEMBERS,
        "feeds": array(text()),
        "creativeFormat": choice(*tables.CREATIVE_FORMATS),
        "dynamicRetargeting": any_value,
    },
)
_UPDATE_MEMBERS: Mapping[str, Check] = {
    **_COMMON_MEMBERS,
    "targeting": targeting.UPDATE_CHECK,
    "archived": boolean,
    "volumeControl": any_value,
}
UPDATE_CHECK = record(optional=_UPDATE_MEMBERS)
_UPDATE_ITEM_CHECK = record(required={"id": text()}, optional=_UPDATE_MEMBERS)
_EXTRAS_CHECK = {"extraFields": comma_separated(choice(*tables.CAMPAIGN_EXTRA_FIELDS))}
_LIST_CHECKS: Mapping[str, Check] = {
    **_EXTRAS_CHECK,
    **answers.PAGING.make_checks(tables.MAX_CAMPAIGN_PAGE_SIZE),
    "includeArchived": boolean_text,
    "fetch": choice("all", "basic"),
    "fromBudgetStartDate": answers.check_date,
    "toBudgetEndDate": answers.check_date,
    "daysToLookBackForChanges": integer_text(1),
}
# Returned only if requested.
_EXTRA_FIELD_BY_MEMBER: Mapping[str, str] = {
    "campaignOptimization": "CampaignOptimization",
    "scheduling": "Scheduling",
    "bids": "BidBySections",
    "blockedSites": "BlockedSites",
    "pixels": "CampaignPixels",
    "volumeControl": "VolumeControl",
}


def create_campaign(request: Request) -> Response:
    """POST /campaigns. `enabled` is true by default (our choice), and `objective` is traffic."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    body = request.parse_json(CREATE_CHECK)
    budget = request.world.find("budget", body.pop("budgetId"))
    if budget is None:
        raise rule_error("/budgetId", "no such budget")
    body = {"enabled": True, "objective": "Traffic", "creativeFormat": "Standard", **body}
    body.setdefault(
        "campaignOptimization", {"optimizationType": tables.OPTIMIZATIONS_BY_OBJECTIVE[body["objective"]][0]}
    )
    body["targeting"] = targeting.complete_targeting(body["targeting"], "/targeting")
    _check_rules(request, body, request.world.accounts[budget.account], None)
    native_id = budgets.allocate_native_id(request.world, "02")
    entity = request.world.create("campaign", budget.account, body, parent=budget.id, id=native_id)
    return answers.build_response(request, render_campaign(request.world, entity, extras))


def update_campaign(request: Request) -> Response:
    """PUT /campaigns/{id}: absent members keep their values; `targeting` is one member."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    entity = answers.require_entity(request, "campaign", request.path_parameters["id"])
    return answers.build_response(
        request,
        render_campaign(request.world, _update_campaign(request, entity, request.parse_json(UPDATE_CHECK)), extras),
    )


def update_campaigns(request: Request) -> Response:
    """PUT /campaigns: updates each campaign alone; the response is a 200."""
    request.parse_query()
    return answers.apply_each(
        request,
        tables.MAX_CAMPAIGNS_PER_WRITE,
        lambda item: render_campaign(request.world, _update_item(request, item), ()),
    )


def _update_item(request: Request, item: Any) -> StoredEntity:
    members = _UPDATE_ITEM_CHECK(item, "")
    return _update_campaign(request, answers.require_entity(request, "campaign", members.pop("id"), "/id"), members)


def _update_campaign(request: Request, entity: StoredEntity, members: dict[str, Any]) -> StoredEntity:
    for member, empty in (("suffixTrackingCode", "EMPTY_SUFFIX"), ("prefixTrackingCode", {"prefix": "EMPTY_PREFIX"})):
        if members.get(member) == empty:
            members[member] = None
    if "targeting" in members:
        members["targeting"] = targeting.complete_targeting(members["targeting"], "/targeting")
    after = {name: value for name, value in {**entity.data, **members}.items() if value is not None}
    _check_rules(request, after, request.world.accounts[entity.account], entity)
    return request.world.replace(entity, after)


def _check_rules(request: Request, members: Mapping[str, Any], account: Account, itself: StoredEntity | None) -> None:
    """Check a campaign as a whole. Raises InvalidRequest."""
    for other in request.world.list_entities("campaign", account.id):
        if (itself is None or other.id != itself.id) and other.data["name"].lower() == members["name"].lower():
            raise rule_error("/name", "a campaign of this name exists")
    number(places=tables.CURRENCY_DECIMALS[account.currency])(members["cpc"], "/cpc")
    _, least, most, _ = tables.CURRENCIES[account.currency]
    if not least <= members["cpc"] <= most:
        raise rule_error("/cpc", f"must lie between {least} and {most} {account.currency}")
    fitting = tables.OPTIMIZATIONS_BY_OBJECTIVE[members["objective"]]
    if members["campaignOptimization"]["optimizationType"] not in fitting:
        raise rule_error("/campaignOptimization/optimizationType", f"must be one of {', '.join(fitting)}")
    if (members.get("onAirType") == "Scheduled") != ("scheduling" in members):
        raise rule_error("/scheduling", "goes with the onAirType Scheduled, and only with it")


def get_campaign(request: Request) -> Response:
    """GET /campaigns/{id}."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    return answers.build_response(
        request,
        render_campaign(
            request.world, answers.require_entity(request, "campaign", request.path_parameters["id"]), extras
        ),
    )


def get_campaigns(request: Request) -> Response:
    """GET /campaigns/{ids}/multiple (that the response is a list is our choice)."""
    extras = request.parse_query({}, _EXTRAS_CHECK).get("extraFields", ())
    ids = answers.split_ids(request.path_parameters["ids"], tables.MAX_CAMPAIGNS_PER_READ)
    rows = [
        render_campaign(request.world, answers.require_entity(request, "campaign", native_id), extras)
        for native_id in ids
    ]
    return answers.build_response(request, {"count": len(rows), "totalCount": len(rows), "campaigns": rows})


def list_marketer_campaigns(request: Request) -> Response:
    """GET /marketers/{marketer}/campaigns."""
    account = answers.require_account_by_id(request, request.path_parameters["marketer"])
    return _list_campaigns(request, request.world.list_entities("campaign", account.id))


def list_budget_campaigns(request: Request) -> Response:
    """GET /budgets/{id}/campaigns."""
    budget = answers.require_entity(request, "budget", request.path_parameters["id"])
    return _list_campaigns(request, request.world.list_entities("campaign", parent=budget.id))


def _list_campaigns(request: Request, entities: list[StoredEntity]) -> Response:
    query = request.parse_query({}, _LIST_CHECKS)
    world = request.world
    if ("fromBudgetStartDate" in query) != ("toBudgetEndDate" in query):
        raise InvalidRequest("required", "/toBudgetEndDate", "goes with fromBudgetStartDate")
    campaigns = [campaign for campaign in entities if query.get("includeArchived") or not campaign.data.get("archived")]
    if "fromBudgetStartDate" in query:
        first, last = query["fromBudgetStartDate"], query["toBudgetEndDate"]
        campaigns = [
            campaign
            for campaign in campaigns
            if first <= (budget := _require_budget(world, campaign).data)["startDate"]
            and budget.get("endDate", "9") <= last
        ]
    if "daysToLookBackForChanges" in query:
        since = world.now - timedelta(days=query["daysToLookBackForChanges"])
        campaigns = [campaign for campaign in campaigns if campaign.updated_at >= since]
    if query.get("fetch") == "basic":  # this list has no pages
        rows = [{"id": campaign.id, "name": campaign.data["name"]} for campaign in campaigns]
    else:
        extras = query.get("extraFields", ())
        rows = [
            render_campaign(world, campaign, extras)
            for campaign in answers.PAGING.slice(campaigns, query, tables.DEFAULT_CAMPAIGN_PAGE_SIZE)
        ]
    return answers.build_response(request, {"count": len(rows), "totalCount": len(campaigns), "campaigns": rows})


def get_locations(request: Request) -> Response:
    """GET /campaigns/{id}/locations."""
    request.parse_query()
    stored_targeting = answers.require_entity(request, "campaign", request.path_parameters["id"]).data["targeting"]
    return answers.build_response(
        request,
        {
            "geoLocations": targeting.render_locations(stored_targeting.get("locations", [])),
            "excludedGeoLocations": targeting.render_locations(stored_targeting.get("excludedLocations", [])),
        },
    )


def render_campaign(world: World, entity: StoredEntity, extras: Collection[str]) -> dict[str, Any]:
    """A campaign in a response."""
    budget = _require_budget(world, entity)
    data = {
        name: value
        for name, value in entity.data.items()
        if not name.startswith("_") and _EXTRA_FIELD_BY_MEMBER.get(name) in (None, *extras)
    }
    reason = get_on_air_reason(world, entity)
    account = world.accounts[entity.account]
    archived = bool(data.pop("archived", False))
    return {
        "id": entity.id,
        "marketerId": entity.account,
        "creationTime": answers.format_instant(entity.created_at),
        "lastModified": answers.format_instant(entity.updated_at),
        **data,
        "targeting": targeting.render_targeting(data["targeting"], extras),
        "currency": account.currency,
        "minimumCpc": tables.CURRENCIES[account.currency][1],
        "autoArchived": archived,  # our choice: true for every archived campaign, because no other member is documented
        "contentType": "ARTICLES",
        "budget": budgets.render_budget(world, budget),
        "liveStatus": {
            "campaignOnAir": reason == "CAMPAIGN_ON_AIR",
            "onAirReason": reason,
            "amountSpent": budget.data.get("_spent", Decimal(0)),
        },
    }


def get_on_air_reason(world: World, entity: StoredEntity) -> str:
    """The reason why a campaign is on air, or is not."""
    if entity.data.get("archived"):
        return "MARKED_DELETED"
    if not entity.data["enabled"]:
        return "CAMPAIGN_DISABLED"
    present, dates = answers.get_eastern_date(world.now), _require_budget(world, entity).data
    if date.fromisoformat(dates["startDate"]) > present:
        return "CAMPAIGN_FLY_DATES_FUTURE"
    if date.fromisoformat(dates.get("endDate", "9999-12-31")) < present:
        return "CAMPAIGN_FLY_DATES_PAST"
    links = world.list_entities("promotedLink", parent=entity.id)
    running = [get_approval(world, link)["status"] for link in links if link.data["enabled"]]
    if not running:
        return "CAMPAIGN_ALL_PROMOTED_LINKS_DISABLED" if links else "NO_RUNNING_PROMOTED_LINKS"
    for status, reason in (
        ("Pending", "ALL_PROMOTED_LINKS_PENDING"),
        ("Rejected", "CAMPAIGN_ALL_PROMOTED_LINKS_REJECTED"),
    ):
        if set(running) == {status}:
            return reason
    return "CAMPAIGN_ON_AIR" if "Approved" in running else "NO_RUNNING_PROMOTED_LINKS"


def _require_budget(world: World, entity: StoredEntity) -> StoredEntity:
    budget = world.find("budget", str(entity.parent))
    assert budget is not None, "a budget with campaigns is never deleted"
    return budget
