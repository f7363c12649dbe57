"""Rules for objects, beyond the types of their members."""

from collections.abc import Mapping
from typing import Any

from adsunify.sandbox.checks import rule_error
from adsunify.sandbox.networks.apple import tables
from adsunify.sandbox.networks.apple.answers import INSTANT
from adsunify.sandbox.networks.apple.catalogs import find_place
from adsunify.sandbox.networks.apple.creatives import find_creative
from adsunify.sandbox.networks.apple.fields import MAPS_ONLY_DIMENSIONS
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, StoredEntity, World

Data = dict[str, Any]
_REQUIRED_FEATURES = {tables.APP_PROMOTION: "APPSTORE_APP_MANUAL"}


def check_campaign(data: Data, old: Mapping[str, Any] | None, world: World, account: Account) -> Data:
    """Check a campaign and return it as the network stores it. Raises InvalidRequest."""
    native = account.extra["native"]
    promoted = data["promotedObjectType"]
    if data["adAccountId"] != native["id"]:
        raise InvalidRequest("forbidden", "/adAccountId", "must be the ad account of X-AP-Context")
    if _REQUIRED_FEATURES.get(promoted, "BUSINESS_BRAND_MANUAL") not in native["productFeatures"]:
        raise InvalidRequest("forbidden", "/promotedObjectType", f"the ad account cannot promote {promoted}")
    if promoted == tables.APP_PROMOTION and data["billingEvent"] != "TAPS":
        raise rule_error("/billingEvent", "an app is billed by TAPS")
    if native["paymentModel"] == "LOC" and "invoiceDetail" not in data:
        raise rule_error("/invoiceDetail", "is required where the payment model is LOC")
    if native["paymentModel"] != "LOC" and "sharedBudgets" in data:
        raise rule_error("/sharedBudgets", "exist only where the payment model is LOC")
    _check_money(data["dailyBudget"]["value"], "/dailyBudget/value", account)
    _check_times(data, old, world)
    _check_placements(data["targeting"], promoted)
    _check_bidding(data["bidStrategy"], promoted, account)
    return {"status": "ENABLED", **data}  # Apple Ads Platform API names no default: this one is our choice


def _check_placements(targeting: Mapping[str, Any], promoted: str) -> None:
    included = {name: value.get("include", []) for name, value in targeting.items()}
    if included.get("supplySource") != [tables.SUPPLY_SOURCES[promoted]]:
        raise rule_error("/targeting/supplySource", f"must include {tables.SUPPLY_SOURCES[promoted]} and nothing else")
    placements = included.get("supplyPlacement", [])
    if not placements or not set(placements) <= set(tables.SUPPLY_PLACEMENTS[promoted]):
        raise rule_error("/targeting/supplyPlacement", f"must be of {', '.join(tables.SUPPLY_PLACEMENTS[promoted])}")
    countries = included.get("countryOrRegion", [])
    if not countries:
        raise rule_error("/targeting/countryOrRegion", "must include a country")
    if len(set(countries)) < len(countries) or not set(countries) <= set(tables.STOREFRONTS):
        raise rule_error("/targeting/countryOrRegion", "must be available storefronts, each once")


def _check_bidding(bidding: Mapping[str, Any], promoted: str, account: Account) -> None:
    goal, promotes = tables.BID_STRATEGIES[bidding["bidStrategyType"]]
    if bidding["bidStrategyGoal"] != goal:
        raise rule_error("/bidStrategy/bidStrategyGoal", f"must be {goal} with {bidding['bidStrategyType']}")
    if promoted not in promotes:
        raise rule_error("/bidStrategy/bidStrategyType", f"does not go with {promoted}")
    if "bid" in bidding:
        _check_money(bidding["bid"], "/bidStrategy/bid", account)


def check_ad_group(
    data: Data, old: Mapping[str, Any] | None, world: World, account: Account, above: StoredEntity
) -> Data:
    """Check an ad group and return it as the network stores it. Raises InvalidRequest."""
    promoted, strategy = above.data["promotedObjectType"], above.data["bidStrategy"]
    automatic = strategy["bidStrategyType"] == "MAX_CONVERSIONS"
    fitting = ("CPM",) if above.data["billingEvent"] == "IMPRESSIONS" else ("CPT", "CPA") if automatic else ("CPT",)
    if data["pricingModel"] not in fitting:
        raise rule_error("/pricingModel", f"must be {' or '.join(fitting)} in this campaign")
    if automatic and not data.get("automatedKeywordsRequired"):
        raise rule_error("/automatedKeywordsRequired", "must be true with MAX_CONVERSIONS")
    bidding = data.get("bidStrategy")
    if bidding is not None:
        _check_bidding(bidding, promoted, account)
        if bidding["bidStrategyType"] != strategy["bidStrategyType"]:  # our choice: undocumented
            raise rule_error("/bidStrategy/bidStrategyType", "must be the campaign's")
    if not automatic and "bid" not in (bidding or strategy):
        raise rule_error("/bidStrategy/bid", f"is required with {strategy['bidStrategyType']}")
    _check_times(data, old, world)
    _check_audience(data.get("targeting", {}), above, promoted)
    return {"status": "ENABLED", "automatedKeywordsOptIn": False, "automatedKeywordsRequired": False, **data}


def _check_audience(targeting: Mapping[str, Any], above: StoredEntity, promoted: str) -> None:
    included = {name: value.get("include", []) for name, value in targeting.items() if isinstance(value, dict)}
    for name in MAPS_ONLY_DIMENSIONS:
        if name in targeting and promoted == tables.APP_PROMOTION:
            raise rule_error(f"/targeting/{name}", "is for Maps only")
    countries = above.data["targeting"]["countryOrRegion"]["include"]
    if not set(included.get("country", [])) <= set(countries):
        raise rule_error("/targeting/country", "must be of the campaign's countries")
    for name in ("adminArea", "locality"):  # a rule of API v5; unverified for this version
        if name in targeting and len(countries) != 1:
            raise rule_error(f"/targeting/{name}", "needs a campaign with exactly one country")
    for name, entity in (("adminArea", "AdminArea"), ("locality", "Locality")):
        for id_ in included.get(name, []):
            place = find_place(id_)
            if place is not None and (place["entity"] != entity or place["countryOrRegion"] not in countries):
                raise rule_error(f"/targeting/{name}", f"must name an {entity} of the campaign's country")
    for name in ("minAge", "maxAge"):
        if name in targeting and len(included[name]) != 1:
            raise rule_error(f"/targeting/{name}", "must be one age")
    if "minAge" in included and "maxAge" in included and included["minAge"][0] > included["maxAge"][0]:
        raise rule_error("/targeting/maxAge", "must not be below minAge")


def check_ad(data: Data, world: World, account: Account, group: StoredEntity, itself: str | None = None) -> Data:
    """Check an ad and return it as the network stores it. Raises InvalidRequest."""
    creative = find_creative(world, account, data["creativeId"])
    if creative is None or creative["deleted"]:
        raise rule_error("/creativeId", "no such creative in this ad account")
    if creative["systemStatus"] == "INVALID":
        raise rule_error("/creativeId", "the creative is INVALID")
    above = world.find("campaign", str(group.data["campaignId"]))
    assert above is not None
    promoted = creative["destination"]["parameters"]["adamId"]
    # the app of a creative made elsewhere is unknown: any app is accepted
    if creative["creativeType"] != tables.CUSTOM_PRODUCT_PAGE or (
        promoted != above.data["promotedObjectId"]
        and world.find("creative", str(creative["id"]), account.id) is not None
    ):
        raise rule_error("/creativeId", "must be a custom product page of the app that the campaign promotes")
    members = {"status": "ENABLED", **data, "campaignId": group.data["campaignId"]}
    if members["status"] == "ENABLED" and any(
        other.id != itself and other.data["status"] == "ENABLED" and "_deleted" not in other.data
        for other in world.list_entities("ad", account.id, group.id)
    ):
        raise rule_error("/status", "only one ad of an ad group may be ENABLED")
    return members


def check_keyword(data: Data, world: World, account: Account, group: StoredEntity, itself: str | None = None) -> Data:
    """Check a keyword and return it as the network stores it. Raises InvalidRequest."""
    above = world.find("campaign", str(group.data["campaignId"]))
    assert above is not None
    matches = tables.MATCH_TYPES[above.data["promotedObjectType"]]
    members = {"matchType": matches[-1], "status": "ENABLED", **data, "campaignId": group.data["campaignId"]}
    if members["matchType"] not in matches:
        raise rule_error("/matchType", f"must be {' or '.join(matches)} here")
    if above.data["bidStrategy"]["bidStrategyType"] == "MAX_CONVERSIONS" and "bid" in data:
        raise rule_error("/bid", "does not go with MAX_CONVERSIONS")
    if "bid" in data:
        _check_money(data["bid"], "/bid", account)
    for other in world.list_entities("keyword", account.id, group.id):
        same = (other.data["text"].lower(), other.data["matchType"]) == (members["text"].lower(), members["matchType"])
        if same and other.id != itself and "_deleted" not in other.data:  # our choice: undocumented
            raise rule_error("/text", "the ad group has this keyword")
    return members


def _check_money(value: Data, where: str, account: Account) -> None:
    """Fill in the ad account's currency if it is absent, and check the currency and the decimals."""
    if value.setdefault("currency", account.currency) != account.currency:
        raise rule_error(f"{where}/currency", "must be the currency of the ad account")
    if account.currency in tables.ZERO_DECIMAL_CURRENCIES and "." in value["amount"]:  # unverified
        raise rule_error(f"{where}/amount", f"{account.currency} has no decimals")


def _check_times(data: Mapping[str, Any], old: Mapping[str, Any] | None, world: World) -> None:
    end = data.get("endTime")
    if end is None:
        return
    if end <= data.get("startTime", ""):
        raise rule_error("/endTime", "must be after startTime")
    if end != (old or {}).get("endTime") and INSTANT.check_datetime(end, "") <= world.now:  # our choice: undocumented
        raise rule_error("/endTime", "must be in the future")
