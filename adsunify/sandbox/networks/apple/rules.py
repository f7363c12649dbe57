"""What must be true of an object beside its members' types."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.framework import Account, Entity, Problem, World
from adsunify.sandbox.networks.apple.answers import moment, refused
from adsunify.sandbox.networks.apple.catalogs import place_of
from adsunify.sandbox.networks.apple.creatives import creative
from adsunify.sandbox.networks.apple.fields import MAPS_ONLY
from adsunify.sandbox.networks.apple.tables import (
    APP,
    CUSTOM_PAGE,
    MATCHES,
    PLACEMENTS,
    SOURCES,
    STOREFRONTS,
    STRATEGIES,
    WHOLE_CURRENCIES,
)

Data = dict[str, Any]
_FEATURES = {APP: "APPSTORE_APP_MANUAL"}


def campaign(data: Data, old: Mapping[str, Any] | None, world: World, account: Account) -> Data:
    """The campaign as it is kept. Problem."""
    native = account.extra["native"]
    promoted = data["promotedObjectType"]
    if data["adAccountId"] != native["id"]:
        raise Problem("forbidden", "/adAccountId", "must be the ad account of X-AP-Context")
    if _FEATURES.get(promoted, "BUSINESS_BRAND_MANUAL") not in native["productFeatures"]:
        raise Problem("forbidden", "/promotedObjectType", f"the ad account cannot promote {promoted}")
    if promoted == APP and data["billingEvent"] != "TAPS":
        raise refused("/billingEvent", "an app is billed by TAPS")
    if native["paymentModel"] == "LOC" and "invoiceDetail" not in data:
        raise refused("/invoiceDetail", "is required where the payment model is LOC")
    if native["paymentModel"] != "LOC" and "sharedBudgets" in data:
        raise refused("/sharedBudgets", "exist only where the payment model is LOC")
    _money(data["dailyBudget"]["value"], "/dailyBudget/value", account)
    _times(data, old, world)
    _where_it_runs(data["targeting"], promoted)
    _bidding(data["bidStrategy"], promoted, account)
    return {"status": "ENABLED", **data}  # Apple Ads Platform API names no default: this one is chosen


def _where_it_runs(targeting: Mapping[str, Any], promoted: str) -> None:
    given = {name: value.get("include", []) for name, value in targeting.items()}
    if given.get("supplySource") != [SOURCES[promoted]]:
        raise refused("/targeting/supplySource", f"must include {SOURCES[promoted]} and nothing else")
    placements = given.get("supplyPlacement", [])
    if not placements or not set(placements) <= set(PLACEMENTS[promoted]):
        raise refused("/targeting/supplyPlacement", f"must be of {', '.join(PLACEMENTS[promoted])}")
    countries = given.get("countryOrRegion", [])
    if not countries:
        raise refused("/targeting/countryOrRegion", "must include a country")
    if len(set(countries)) < len(countries) or not set(countries) <= set(STOREFRONTS):
        raise refused("/targeting/countryOrRegion", "must be available storefronts, each once")


def _bidding(given: Mapping[str, Any], promoted: str, account: Account) -> None:
    goal, promotes = STRATEGIES[given["bidStrategyType"]]
    if given["bidStrategyGoal"] != goal:
        raise refused("/bidStrategy/bidStrategyGoal", f"must be {goal} with {given['bidStrategyType']}")
    if promoted not in promotes:
        raise refused("/bidStrategy/bidStrategyType", f"does not go with {promoted}")
    if "bid" in given:
        _money(given["bid"], "/bidStrategy/bid", account)


def ad_group(data: Data, old: Mapping[str, Any] | None, world: World, account: Account, above: Entity) -> Data:
    """The ad group as it is kept. Problem."""
    promoted, strategy = above.data["promotedObjectType"], above.data["bidStrategy"]
    automatic = strategy["bidStrategyType"] == "MAX_CONVERSIONS"
    fitting = ("CPM",) if above.data["billingEvent"] == "IMPRESSIONS" else ("CPT", "CPA") if automatic else ("CPT",)
    if data["pricingModel"] not in fitting:
        raise refused("/pricingModel", f"must be {' or '.join(fitting)} in this campaign")
    if automatic and not data.get("automatedKeywordsRequired"):
        raise refused("/automatedKeywordsRequired", "must be true with MAX_CONVERSIONS")
    bidding = data.get("bidStrategy")
    if bidding is not None:
        _bidding(bidding, promoted, account)
        if bidding["bidStrategyType"] != strategy["bidStrategyType"]:  # chosen
            raise refused("/bidStrategy/bidStrategyType", "must be the campaign's")
    if not automatic and "bid" not in (bidding or strategy):
        raise refused("/bidStrategy/bid", f"is required with {strategy['bidStrategyType']}")
    _times(data, old, world)
    _audience(data.get("targeting", {}), above, promoted)
    return {"status": "ENABLED", "automatedKeywordsOptIn": False, "automatedKeywordsRequired": False, **data}


def _audience(targeting: Mapping[str, Any], above: Entity, promoted: str) -> None:
    given = {name: value.get("include", []) for name, value in targeting.items() if isinstance(value, dict)}
    for name in MAPS_ONLY:
        if name in targeting and promoted == APP:
            raise refused(f"/targeting/{name}", "is for Maps only")
    countries = above.data["targeting"]["countryOrRegion"]["include"]
    if not set(given.get("country", [])) <= set(countries):
        raise refused("/targeting/country", "must be of the campaign's countries")
    for name in ("adminArea", "locality"):  # a rule of v5, unverified
        if name in targeting and len(countries) != 1:
            raise refused(f"/targeting/{name}", "needs a campaign with exactly one country")
    for name, entity in (("adminArea", "AdminArea"), ("locality", "Locality")):
        for id_ in given.get(name, []):
            place = place_of(id_)
            if place is not None and (place["entity"] != entity or place["countryOrRegion"] not in countries):
                raise refused(f"/targeting/{name}", f"must name an {entity} of the campaign's country")
    for name in ("minAge", "maxAge"):
        if name in targeting and len(given[name]) != 1:
            raise refused(f"/targeting/{name}", "must be one age")
    if "minAge" in given and "maxAge" in given and given["minAge"][0] > given["maxAge"][0]:
        raise refused("/targeting/maxAge", "must not be below minAge")


def ad(data: Data, world: World, account: Account, group: Entity, itself: str | None = None) -> Data:
    """The ad as it is kept. Problem."""
    found = creative(world, account, data["creativeId"])
    if found is None or found["deleted"]:
        raise refused("/creativeId", "no such creative in this ad account")
    if found["systemStatus"] == "INVALID":
        raise refused("/creativeId", "the creative is INVALID")
    above = world.find("campaign", str(group.data["campaignId"]))
    assert above is not None
    promoted = found["destination"]["parameters"]["adamId"]
    # what a creative from elsewhere promotes is not known here: it goes with any app
    if found["creativeType"] != CUSTOM_PAGE or (
        promoted != above.data["promotedObjectId"] and world.find("creative", str(found["id"]), account.id) is not None
    ):
        raise refused("/creativeId", "must be a custom product page of the app that the campaign promotes")
    kept = {"status": "ENABLED", **data, "campaignId": group.data["campaignId"]}
    if kept["status"] == "ENABLED" and any(
        one.id != itself and one.data["status"] == "ENABLED" and "_deleted" not in one.data
        for one in world.entities("ad", account.id, group.id)
    ):
        raise refused("/status", "only one ad of an ad group may be ENABLED")
    return kept


def keyword(data: Data, world: World, account: Account, group: Entity, itself: str | None = None) -> Data:
    """The keyword as it is kept. Problem."""
    above = world.find("campaign", str(group.data["campaignId"]))
    assert above is not None
    matches = MATCHES[above.data["promotedObjectType"]]
    kept = {"matchType": matches[-1], "status": "ENABLED", **data, "campaignId": group.data["campaignId"]}
    if kept["matchType"] not in matches:
        raise refused("/matchType", f"must be {' or '.join(matches)} here")
    if above.data["bidStrategy"]["bidStrategyType"] == "MAX_CONVERSIONS" and "bid" in data:
        raise refused("/bid", "does not go with MAX_CONVERSIONS")
    if "bid" in data:
        _money(data["bid"], "/bid", account)
    for one in world.entities("keyword", account.id, group.id):
        same = (one.data["text"].lower(), one.data["matchType"]) == (kept["text"].lower(), kept["matchType"])
        if same and one.id != itself and "_deleted" not in one.data:  # chosen
            raise refused("/text", "the ad group has this keyword")
    return kept


def _money(value: Data, where: str, account: Account) -> None:
    """The currency of the ad account, which is put in where it was left out, and its decimals."""
    if value.setdefault("currency", account.currency) != account.currency:
        raise refused(f"{where}/currency", "must be the currency of the ad account")
    if account.currency in WHOLE_CURRENCIES and "." in value["amount"]:  # unverified
        raise refused(f"{where}/amount", f"{account.currency} has no decimals")


def _times(data: Mapping[str, Any], old: Mapping[str, Any] | None, world: World) -> None:
    end = data.get("endTime")
    if end is None:
        return
    if end <= data.get("startTime", ""):
        raise refused("/endTime", "must be after startTime")
    if end != (old or {}).get("endTime") and moment(end) <= world.now:  # chosen
        raise refused("/endTime", "must be in the future")
