"""Campaigns. The marketer is implied by the budget. Nothing deletes a campaign."""

from collections.abc import Collection, Mapping
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import (
    Account,
    Answer,
    Check,
    Entity,
    Problem,
    Request,
    World,
    anything,
    boolean,
    choice,
    integer_text,
    listing,
    number,
    record,
    text,
    visible,
)
from adsunify.sandbox.networks.outbrain import budgets, targeting
from adsunify.sandbox.networks.outbrain.answers import (
    answered,
    day,
    each,
    found,
    marketer,
    page,
    paging,
    refused,
    split_ids,
    today,
    truth,
    words,
    written,
)
from adsunify.sandbox.networks.outbrain.links import approval
from adsunify.sandbox.networks.outbrain.tables import (
    CAMPAIGN_EXTRAS,
    CAMPAIGN_PAGE,
    CREATIVE_FORMATS,
    CURRENCIES,
    LONGEST_NAME,
    MOST_CAMPAIGN_PAGE,
    MOST_CAMPAIGNS_READ,
    MOST_CAMPAIGNS_WRITTEN,
    ON_AIR_TYPES,
    OPTIMIZATIONS,
    PLACES,
)

_OPTIMIZATION_TYPES = dict.fromkeys(kind for kinds in OPTIMIZATIONS.values() for kind in kinds)
_HOUR = text(8, 8, r"(0[1-9]|1[0-2]):[0-5]\d (AM|PM)")
_BOTH: Mapping[str, Check] = {
    "name": visible(1, LONGEST_NAME),
    "enabled": boolean,
    "cpc": number(Decimal("0.01"), places=2),
    "suffixTrackingCode": text(),
    "prefixTrackingCode": record(required={"prefix": text()}, optional={"encode": boolean}),
    "blockedSites": anything,
    "startHour": _HOUR,
    "bids": anything,
    "campaignOptimization": record(
        required={"optimizationType": choice(*_OPTIMIZATION_TYPES)},
        optional={"targetCpa": number(Decimal("0.01")), "targetRoas": number(Decimal("0.01")), "conversions": anything},
    ),
    "onAirType": choice(*ON_AIR_TYPES),
    "scheduling": record(
        required={
            "onAir": listing(
                record(required={"startDay": text(), "endDay": text(), "startHour": anything, "endHour": anything}), 1
            )
        }
    ),
    "objective": choice(*OPTIMIZATIONS),
    "pixels": anything,
}
# Which members are mandatory is not said: what every campaign needs to run (chosen).
CREATE = record(
    required={"name": _BOTH["name"], "budgetId": text(), "cpc": _BOTH["cpc"], "targeting": targeting.CREATE},
    optional={**_BOTH, "feeds": listing(text()), "creativeFormat": choice(*CREATIVE_FORMATS),
              "dynamicRetargeting": anything},
)  # fmt: skip
_UPDATE: Mapping[str, Check] = {
    **_BOTH, "targeting": targeting.UPDATE, "archived": boolean, "volumeControl": anything,
}  # fmt: skip
UPDATE = record(optional=_UPDATE)
_UPDATE_ITEM = record(required={"id": text()}, optional=_UPDATE)
_EXTRAS = {"extraFields": words(*CAMPAIGN_EXTRAS)}
_LIST: Mapping[str, Check] = {
    **_EXTRAS,
    **paging(MOST_CAMPAIGN_PAGE),
    "includeArchived": truth,
    "fetch": choice("all", "basic"),
    "fromBudgetStartDate": day,
    "toBudgetEndDate": day,
    "daysToLookBackForChanges": integer_text(1),
}
# Answered only where it is asked for.
_ASIDE: Mapping[str, str] = {
    "campaignOptimization": "CampaignOptimization", "scheduling": "Scheduling", "bids": "BidBySections",
    "blockedSites": "BlockedSites", "pixels": "CampaignPixels", "volumeControl": "VolumeControl",
}  # fmt: skip


def create(request: Request) -> Answer:
    """POST /campaigns. Without `enabled` it would run (chosen); without `objective` it is for traffic."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    given = request.json(CREATE)
    budget = request.world.find("budget", given.pop("budgetId"))
    if budget is None:
        raise refused("/budgetId", "no such budget")
    given = {"enabled": True, "objective": "Traffic", "creativeFormat": "Standard", **given}
    given.setdefault("campaignOptimization", {"optimizationType": OPTIMIZATIONS[given["objective"]][0]})
    given["targeting"] = targeting.whole(given["targeting"], "/targeting")
    _check(request, given, request.world.accounts[budget.account], None)
    native_id = budgets.native_id(request.world, "02")
    made = request.world.create("campaign", budget.account, given, parent=budget.id, id=native_id)
    return answered(request, view(request.world, made, extras))


def update(request: Request) -> Answer:
    """PUT /campaigns/{id}: what is absent stays; `targeting` is one member."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    entity = found(request, "campaign", request.slots["id"])
    return answered(request, view(request.world, _changed(request, entity, request.json(UPDATE)), extras))


def update_several(request: Request) -> Answer:
    """PUT /campaigns: each alone, all inside one 200."""
    request.query()
    return each(request, MOST_CAMPAIGNS_WRITTEN, lambda item: view(request.world, _changed_item(request, item), ()))


def _changed_item(request: Request, item: Any) -> Entity:
    given = _UPDATE_ITEM(item, "")
    return _changed(request, found(request, "campaign", given.pop("id"), "/id"), given)


def _changed(request: Request, entity: Entity, given: dict[str, Any]) -> Entity:
    for member, empty in (("suffixTrackingCode", "EMPTY_SUFFIX"), ("prefixTrackingCode", {"prefix": "EMPTY_PREFIX"})):
        if given.get(member) == empty:
            given[member] = None
    if "targeting" in given:
        given["targeting"] = targeting.whole(given["targeting"], "/targeting")
    after = {name: value for name, value in {**entity.data, **given}.items() if value is not None}
    _check(request, after, request.world.accounts[entity.account], entity)
    return request.world.put(entity, after)


def _check(request: Request, given: Mapping[str, Any], account: Account, itself: Entity | None) -> None:
    """What holds of a campaign as a whole. Problem."""
    for other in request.world.entities("campaign", account.id):
        if (itself is None or other.id != itself.id) and other.data["name"].lower() == given["name"].lower():
            raise refused("/name", "a campaign of this name exists")
    number(places=PLACES[account.currency])(given["cpc"], "/cpc")
    _, least, most, _ = CURRENCIES[account.currency]
    if not least <= given["cpc"] <= most:
        raise refused("/cpc", f"must lie between {least} and {most} {account.currency}")
    fitting = OPTIMIZATIONS[given["objective"]]
    if given["campaignOptimization"]["optimizationType"] not in fitting:
        raise refused("/campaignOptimization/optimizationType", f"must be one of {', '.join(fitting)}")
    if (given.get("onAirType") == "Scheduled") != ("scheduling" in given):
        raise refused("/scheduling", "goes with the onAirType Scheduled, and only with it")


def show(request: Request) -> Answer:
    """GET /campaigns/{id}."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    return answered(request, view(request.world, found(request, "campaign", request.slots["id"]), extras))


def show_several(request: Request) -> Answer:
    """GET /campaigns/{ids}/multiple (the shape of the answer is chosen: as a list)."""
    extras = request.query({}, _EXTRAS).get("extraFields", ())
    ids = split_ids(request.slots["ids"], MOST_CAMPAIGNS_READ)
    rows = [view(request.world, found(request, "campaign", native_id), extras) for native_id in ids]
    return answered(request, {"count": len(rows), "totalCount": len(rows), "campaigns": rows})


def list_of_marketer(request: Request) -> Answer:
    """GET /marketers/{marketer}/campaigns."""
    account = marketer(request, request.slots["marketer"])
    return _list(request, request.world.entities("campaign", account.id))


def list_of_budget(request: Request) -> Answer:
    """GET /budgets/{id}/campaigns."""
    budget = found(request, "budget", request.slots["id"])
    return _list(request, request.world.entities("campaign", parent=budget.id))


def _list(request: Request, entities: list[Entity]) -> Answer:
    wanted = request.query({}, _LIST)
    world = request.world
    if ("fromBudgetStartDate" in wanted) != ("toBudgetEndDate" in wanted):
        raise Problem("required", "/toBudgetEndDate", "goes with fromBudgetStartDate")
    kept = [one for one in entities if wanted.get("includeArchived") or not one.data.get("archived")]
    if "fromBudgetStartDate" in wanted:
        first, last = wanted["fromBudgetStartDate"], wanted["toBudgetEndDate"]
        kept = [one for one in kept if first <= (budget := _budget(world, one).data)["startDate"]
                and budget.get("endDate", "9") <= last]  # fmt: skip
    if "daysToLookBackForChanges" in wanted:
        since = world.now - timedelta(days=wanted["daysToLookBackForChanges"])
        kept = [one for one in kept if one.updated_at >= since]
    if wanted.get("fetch") == "basic":  # knows no pages
        rows = [{"id": one.id, "name": one.data["name"]} for one in kept]
    else:
        extras = wanted.get("extraFields", ())
        rows = [view(world, one, extras) for one in page(kept, wanted, CAMPAIGN_PAGE)]
    return answered(request, {"count": len(rows), "totalCount": len(kept), "campaigns": rows})


def locations(request: Request) -> Answer:
    """GET /campaigns/{id}/locations."""
    request.query()
    kept = found(request, "campaign", request.slots["id"]).data["targeting"]
    return answered(
        request,
        {
            "geoLocations": targeting.places(kept.get("locations", [])),
            "excludedGeoLocations": targeting.places(kept.get("excludedLocations", [])),
        },
    )


def view(world: World, entity: Entity, extras: Collection[str]) -> dict[str, Any]:
    """A campaign as it is answered."""
    budget = _budget(world, entity)
    data = {name: value for name, value in entity.data.items()
            if not name.startswith("_") and _ASIDE.get(name) in (None, *extras)}  # fmt: skip
    reason = on_air_reason(world, entity)
    account = world.accounts[entity.account]
    archived = bool(data.pop("archived", False))
    return {
        "id": entity.id,
        "marketerId": entity.account,
        "creationTime": written(entity.created_at),
        "lastModified": written(entity.updated_at),
        **data,
        "targeting": targeting.view(data["targeting"], extras),
        "currency": account.currency,
        "minimumCpc": CURRENCIES[account.currency][1],
        "autoArchived": archived,  # chosen: the one member that readers are told of says it, whoever archived
        "contentType": "ARTICLES",
        "budget": budgets.view(world, budget),
        "liveStatus": {
            "campaignOnAir": reason == "CAMPAIGN_ON_AIR",
            "onAirReason": reason,
            "amountSpent": budget.data.get("_spent", Decimal(0)),
        },
    }


def on_air_reason(world: World, entity: Entity) -> str:
    """Why a campaign is on air, or is not."""
    if entity.data.get("archived"):
        return "MARKED_DELETED"
    if not entity.data["enabled"]:
        return "CAMPAIGN_DISABLED"
    present, dates = today(world.now), _budget(world, entity).data
    if date.fromisoformat(dates["startDate"]) > present:
        return "CAMPAIGN_FLY_DATES_FUTURE"
    if date.fromisoformat(dates.get("endDate", "9999-12-31")) < present:
        return "CAMPAIGN_FLY_DATES_PAST"
    links = world.entities("promotedLink", parent=entity.id)
    running = [approval(world, link)["status"] for link in links if link.data["enabled"]]
    if not running:
        return "CAMPAIGN_ALL_PROMOTED_LINKS_DISABLED" if links else "NO_RUNNING_PROMOTED_LINKS"
    for status, reason in (("Pending", "ALL_PROMOTED_LINKS_PENDING"),
                           ("Rejected", "CAMPAIGN_ALL_PROMOTED_LINKS_REJECTED")):  # fmt: skip
        if set(running) == {status}:
            return reason
    return "CAMPAIGN_ON_AIR" if "Approved" in running else "NO_RUNNING_PROMOTED_LINKS"


def _budget(world: World, entity: Entity) -> Entity:
    budget = world.find("budget", str(entity.parent))
    assert budget is not None, "a budget with campaigns is never deleted"
    return budget
