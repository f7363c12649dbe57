"""Amazon Ads API: Sponsored Products v3, Profiles v2, Reporting v3. No sunset announced.

Sources: Amazon's OpenAPI descriptions and Postman collection, documentation of September 2025.

Three surprises. Every resource has a media type of its own, to be named in both Content-Type and Accept. Every write
answers 207 and judges each sent item by its ``index``, so a batch may be done in part. A profile lives on one of three
regional hosts, and its marketplace is its geography.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.brief_checks import deny_political_ads, start_issues
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    History,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Template,
    timezone_of,
)
from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.dates import zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import text

from .native import (
    ARCHIVED,
    BROKEN_ITEM,
    CODE,
    DOWN_ONLY,
    ENABLED,
    HOSTS,
    ITEM_ERROR,
    MANUAL_TARGETING,
    MARKETPLACES,
    NAME_CHARACTERS,
    PAUSED,
    PERMISSION,
    SELLER,
    THROTTLED_ITEM,
    VENDOR,
    VERSION,
    daily_budget,
    error,
    foreign_to_names,
    host,
    items,
    limit_issues,
    next_token,
    posted,
    profile_name,
    profiles,
    serving_days,
    unit,
)
from .settings import EDITS, SETTINGS
from .targeting import eligibility, found_products, products, wrong_keywords

# -- levels -------------------------------------------------------------------------------------------------------

_STATES: Mapping[str, str] = {
    ENABLED: "active",
    "ENABLING": "active",
    PAUSED: "paused",
    ARCHIVED: "archived",
    "USER_DELETED": "deleted",
}
_SETTABLE: Mapping[str, str] = {"active": ENABLED, "paused": PAUSED}
FILTERS = (ENABLED, PAUSED, ARCHIVED)
LIVE = (ENABLED, PAUSED)

_level = partial(Level, status="/state", states=_STATES, settable=_SETTABLE, filters=FILTERS, born=PAUSED)

CAMPAIGN = _level(
    "campaign",
    "campaign",
    "/sp/campaigns",
    "/campaignId",
    "/name",
    shows={"targeting": ("/targetingType",), "bidding": ("/dynamicBidding",)},
)
AD_GROUP = _level(
    "adGroup",
    "adGroup",
    "/sp/adGroups",
    "/adGroupId",
    "/name",
    parent=CAMPAIGN.id,
    parent_kind="campaign",
    shows={"bidding": ("/defaultBid",)},
)
AD = _level(
    "ad",
    "productAd",
    "/sp/productAds",
    "/adId",
    "",
    parent=AD_GROUP.id,
    parent_kind="adGroup",
    shows={"creative": ("/sku", "/asin")},
    note="It has no name: the listing is the ad.",
)
KEYWORD = _level(
    "keyword",
    "keyword",
    "/sp/keywords",
    "/keywordId",
    "/keywordText",
    parent=AD_GROUP.id,
    parent_kind="adGroup",
    note="Shown in the tree and switched on by an activation.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD, KEYWORD)
NAMED = ("campaign", "adGroup")
"""The kinds whose lists take a search: product ads have no name filter."""


# -- formats ------------------------------------------------------------------------------------------------------


def _other_than(kind: str) -> Callable[[Account], bool]:
    return lambda account: account.extras.get("accountType") != kind


def _is_known(account: Account) -> bool:
    return account.extras.get("accountType") in (SELLER, VENDOR)


def _days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    try:
        yield from start_issues(NETWORK.title, brief, timezone_of(account))
        first, _ = serving_days(account, brief)
    except InvalidInput as problem:
        yield from problem.issues
        return
    if now is not None and first < now.astimezone(zone(timezone_of(account))).date():
        yield Issue("schedule.startAt", "past", "Amazon Ads takes no start before today in the profile's time zone.")


def _amounts(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    budget, bid = Decimal(brief.budget.amount), Decimal(brief.bid or "0")
    yield from limit_issues(account, "budgets", "budget.amount", budget)
    yield from limit_issues(account, "bids", "bid", bid)
    if bid > budget:  # biddingError BID_GT_BUDGET
        yield Issue("bid", "too_large", "Amazon Ads takes no bid above the daily budget.")


def _name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if brief.name != brief.name.strip():
        yield Issue("name", "invalid", "Amazon Ads takes no name that begins or ends with a blank.")
    elif foreign_to_names(brief.name):
        yield Issue("name", "invalid", f"Amazon Ads takes these in a name: {NAME_CHARACTERS}.")


_CREATIVE = tuple(
    f"creative.{member}"
    for member in ["existingId", "headline", "body", "url", "imageUrl", "imageHash", "headlines", "descriptions"]
)
_OF_TYPE = "where the account's extra accountType is %s"
_UNKNOWN = "where the account's extra accountType is not known"
_MARKETPLACE = "the profile's marketplace is the geography"
_SKU = "the seller's own number of an eligible listing"
_ASIN = "the ASIN of an eligible listing"

FORMATS = (
    Format(
        "product_ads",
        "product ads with manual keywords",
        goals=("conversions",),
        periods=("daily",),
        bid={"conversions": "maximum cost per click: the ad group's default bid and every keyword's bid"},
        inputs=(
            Input("bid", "required", accepts="an ad group needs a default bid"),
            Input("schedule.endAt", "optional"),
            Input("targeting.keywords", "required", test=wrong_keywords, accepts="1 to 50 different keywords"),
            *(
                Input(path, "one", group="product", unless=_is_known, reason=_UNKNOWN, accepts=accepts)
                for path, accepts in (("platform.sku", f"{_SKU}, or {_ASIN}"), ("platform.asin", f"{_ASIN}, or {_SKU}"))
            ),
            Input("platform.sku", "required", unless=_other_than(SELLER), reason=_OF_TYPE % SELLER, accepts=_SKU),
            Input("platform.asin", "required", unless=_other_than(VENDOR), reason=_OF_TYPE % VENDOR, accepts=_ASIN),
            Input("platform.sku", "refused", reason="vendors and KDP authors advertise by platform.asin"),
            Input("platform.asin", "refused", reason="sellers advertise by platform.sku"),
            deny_political_ads(),
            Input("targeting.countries", "refused", reason=_MARKETPLACE),
            Input("targeting.locationIds", "refused", reason=_MARKETPLACE),
            Input("targeting.native", "refused", reason="keywords are all that this format targets by"),
            *(Input(path, "refused", reason="the listing is the creative") for path in _CREATIVE),
        ),
        rules=(_name, _days, _amounts),
        notes=(
            "The daily budget is an average: a day may spend up to twice as much.",
            "Days are whole days in the profile's time zone.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _profiles(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return profiles(host(account))


def _eligibility(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return eligibility(account, {"asin": suffix})


def _suggestions(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spkeywordsrecommendation.v5+json"
    body = {"recommendationType": "KEYWORDS_FOR_ASINS", "asins": [suffix], "sortDimension": "CLICKS"}
    return posted(account, "/sp/targets/keywords/recommendations", (media, media), body | {"maxRecommendations": limit})


def _portfolios(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spPortfolio.v3+json"
    return posted(account, "/portfolios/list", (media, media), {"nextToken": cursor} if cursor else {})


def _usage(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spcampaignbudgetusage.v1+json"
    return posted(account, "/sp/campaigns/budget/usage", (media, media), {"campaignIds": [suffix]})


def _used(row: Mapping[str, Json]) -> str:
    return text(row, "/budgetUsagePercent") or ""


def _cursor_token(response: Response) -> str | None:
    return text(response.body, "/cursorToken") or None


CATALOGS = (
    Catalog("profiles", _profiles, "", "/profileId", profile_name),
    Catalog(
        "products",
        products,
        found_products,
        "/asin",
        "/title",
        _cursor_token,
        "optional",
        note="products:<ASIN>, or words of the title",
    ),
    Catalog(
        "product_eligibility",
        _eligibility,
        "/productResponseList",
        "/productDetails/asin",
        "/overallStatus",
        suffix="required",
        note="product_eligibility:<ASIN>",
    ),
    Catalog(
        "keyword_suggestions",
        _suggestions,
        "/keywordTargetList",
        "/keyword",
        "/keyword",
        suffix="required",
        note="keyword_suggestions:<ASIN>; bids are shown as they come, in hundredths (unverified)",
    ),
    Catalog("portfolios", _portfolios, "/portfolios", "/portfolioId", "/name", next_token),
    Catalog(
        "campaign_budget_usage",
        _usage,
        "/success",
        "/campaignId",
        _used,
        suffix="required",
        note="campaign_budget_usage:<campaign id>",
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Sponsored Products campaign with manual keywords",
        {
            "name": "Autumn launch",
            "targetingType": MANUAL_TARGETING,
            "state": PAUSED,
            "budget": daily_budget(Decimal("35.5")),
            "startDate": "2030-01-15",
            "dynamicBidding": {"strategy": DOWN_ONLY, "placementBidding": []},
        },
    ),
    Template(
        "adGroup",
        "Ad group",
        {"campaignId": "1", "name": "Autumn launch", "state": PAUSED, "defaultBid": Decimal("0.75")},
    ),
    Template(
        "ad",
        "Product ad",
        {"campaignId": "1", "adGroupId": "2", "state": PAUSED, "sku": "SELLER-SKU-1"},
        note="Vendors and KDP authors give asin in place of sku.",
    ),
)


# Reporting v3, the advertising console's own windows: 7 days for sellers, 14 for vendors (unverified).
def _metrics(days: int) -> tuple[Metric, ...]:
    note = f"Conversions count within {days} days of the click (7 days for sellers, 14 for vendors)."
    return (
        Metric("impressions", "/impressions", "count"),
        Metric("clicks", "/clicks", "count"),
        Metric("spend", "/cost", "major"),
        Metric("conversions", f"/purchases{days}d", "count", note=note),
        Metric("conversionValue", f"/sales{days}d", "major", note=note),
    )


METRICS = _metrics(7)
VENDOR_METRICS = _metrics(14)

ERRORS = (
    ErrorRule("ambiguous", "network", "an internal error, whose item may have been written", (BROKEN_ITEM,)),
    ErrorRule("throttled", "limit", "too many writes for now", (THROTTLED_ITEM,)),
    ErrorRule("rejected", "not_found", "the entity or its parent is not there", ("entityNotFoundError",)),
    # A parent made a moment ago may not be visible yet (unverified): a definite failure all the same.
    ErrorRule("rejected", "not_found", "the parent is not there, or archived", ("parentEntityError",)),
    ErrorRule("rejected", "limit", "the account holds as many entities as it may", ("entityQuotaError",)),
    ErrorRule("rejected", "permission", "the advertiser's payment is not in order", ("billingError",)),
    ErrorRule("rejected", "permission", "the product belongs to somebody else", ("asinOwnershipError",)),
    ErrorRule("rejected", "input", "an item that a 207 lists under error was not written", (ITEM_ERROR,)),
    ErrorRule("rejected", "input", "the request is malformed", ("INVALID_ARGUMENT",), 400),
    ErrorRule("rejected", "permission", "not permitted, or an endpoint that was shut off", ("ACCESS_DENIED",), 403),
    ErrorRule("rejected", "input", "not the media type of the resource", ("UNSUPPORTED_MEDIA_TYPE",), 415),
    ErrorRule("throttled", "limit", "too many requests", ("THROTTLED",), 429),
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",), 400),
    ErrorRule(
        "rejected", "permission", "the app's credentials are not right", ("invalid_client", "unauthorized_client"), 400
    ),
)

NETWORK = Network(
    code=CODE,
    title="Amazon Ads",
    version=VERSION,
    hosts=(*HOSTS.values(), "api.amazon.com", "www.amazon.com"),
    login=Login("oauth2", scopes=(PERMISSION,), pkce=True, note="Login with Amazon; there is no call to revoke it."),
    unit=unit,
    error=error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Reporting v3 ("amazon: 12 Insights"): rows exist only for campaigns with activity on that day. An absent day of a
    # completed report had no activity, and stays null all the same (choice).
    missing_day="gap",
    # Reporting v3: 95 days.
    history=History(days=95),
    money="Native amounts are decimal numbers in major units.",
    reports=True,
    templates=TEMPLATES,
    extras=(
        Extra("region", "the region whose host the profile lives on", tuple(HOSTS)),
        Extra("accountType", "whether listings are named by sku or by asin (KDP authors: vendor)", (SELLER, VENDOR)),
        Extra("countryCode", "the marketplace, whose limits of bids and budgets then count", tuple(MARKETPLACES)),
    ),
    items=partial(items, LEVELS),
    notes=(
        "A profile is a marketplace: there is no geographic targeting. Deleting archives, which is final.",
        "Report figures are restated for 3 days, conversions for longer.",
    ),
)
