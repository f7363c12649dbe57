"""Amazon Ads API: Sponsored Products v3, Profiles v2, Reporting v3. No sunset announced.

Sources: Amazon's OpenAPI descriptions and Postman collection, documentation of September 2025.

Three surprises. Every resource has a media type of its own, to be named in both Content-Type and Accept. Every write
answers 207 and judges each sent item by its ``index``, so a batch may be done in part. A profile lives on one of three
regional hosts, and its marketplace is its geography.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial

from adsunify.brief import CampaignBrief
from adsunify.editing import whole_day
from adsunify.errors import InvalidInput, Issue, refused
from adsunify.network import (
    Account,
    Catalog,
    Entity,
    ErrorRule,
    Extra,
    Format,
    Input,
    ItemAnswer,
    Level,
    Login,
    Metric,
    Network,
    Setting,
    Template,
    timezone_of,
)
from adsunify.schedule import zone
from adsunify.steps import Step
from adsunify.wire import Json, Request, Response, identifier, read, text

from .native import (
    AD_GROUP_NAME,
    ARCHIVED,
    BROKEN_ITEM,
    CODE,
    DOWN_ONLY,
    ENABLED,
    HOSTS,
    ITEM_ERROR,
    MANUAL_TARGETING,
    MARKETPLACES,
    PAUSED,
    PERMISSION,
    PLACEMENTS,
    SELLER,
    SELLER_NAME,
    STRATEGIES,
    THROTTLED_ITEM,
    VENDOR,
    VERSION,
    collection,
    daily_budget,
    eligibility,
    error,
    found_products,
    host,
    item_error,
    limit_issues,
    next_token,
    posted,
    products,
    profile_name,
    profiles,
    request_id_of,
    serving_days,
    unit,
    wrong_keywords,
)

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


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What a 207 says of each sent item, by its ``index``; never by its place in the list."""
    one = next(level for level in LEVELS if level.kind == step.kind)
    found = read(response.body, f"/{collection(one)}")
    success, failed = (read(found, at, []) for at in ("/success", "/error"))
    if not isinstance(found, Mapping) or not isinstance(success, list) or not isinstance(failed, list):
        return None
    answers: list[ItemAnswer] = []
    for item, refused_ in [(item, False) for item in success] + [(item, True) for item in failed]:
        position = read(item, "/index")
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        answers.append(
            ItemAnswer(position, error=item_error(item, request_id_of(response)))
            if refused_
            else ItemAnswer(position, identifier(read(item, one.id)))
        )
    return answers


# -- formats ------------------------------------------------------------------------------------------------------


def _other_than(kind: str) -> Callable[[Account], bool]:
    return lambda account: account.extras.get("accountType") != kind


def _is_known(account: Account) -> bool:
    return account.extras.get("accountType") in (SELLER, VENDOR)


def _days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    try:
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


_CREATIVE = tuple(
    f"creative.{member}"
    for member in ["existingId", "headline", "body", "url", "imageUrl", "imageHash", "headlines", "descriptions"]
)
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
            Input("platform.sku", "one", group="product", unless=_is_known, accepts=f"{_SKU}, or {_ASIN}"),
            Input("platform.asin", "one", group="product", unless=_is_known, accepts=f"{_ASIN}, or {_SKU}"),
            Input("platform.sku", "required", unless=_other_than(SELLER), accepts=_SKU),
            Input("platform.asin", "required", unless=_other_than(VENDOR), accepts=_ASIN),
            Input("platform.sku", "refused", reason="vendors and KDP authors advertise by platform.asin"),
            Input("platform.asin", "refused", reason="sellers advertise by platform.sku"),
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


# -- settings -----------------------------------------------------------------------------------------------------


def _unless_archived(entity: Entity, now: datetime | None) -> str | None:
    # ARCHIVED_ENTITY_CANNOT_BE_MODIFIED
    return "it is archived, which is final" if entity.get("state") == ARCHIVED else None


def _before_start(entity: Entity, now: datetime | None) -> str | None:
    # UPDATING_READ_ONLY_START_DATE. Dates in ISO form sort as text.
    start = entity.get("startDate")
    if now is not None and isinstance(start, str) and start <= now.date().isoformat():
        return "the campaign has started"
    return _unless_archived(entity, now)


def _write_budget(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/budget": daily_budget(value)}


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/startDate": whole_day(value, account, "fields.startAt").isoformat()}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/endDate": whole_day(value, account, "fields.endAt", ends=True).isoformat() if value else None}


def _write_strategy(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/dynamicBidding": {"strategy": value, "placementBidding": _placements(entity)}}


def _placements(entity: Entity) -> list[Json]:
    found = read(entity, "/dynamicBidding/placementBidding")
    return list(found) if isinstance(found, list) else []


def _placement(name: str) -> Setting:
    """A placement's adjustment; the strategy has to be sent along."""

    def show(entity: Entity, account: Account) -> Json:
        return next((read(one, "/percentage") for one in _placements(entity) if read(one, "/placement") == name), None)

    def write(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
        strategy = text(entity, "/dynamicBidding/strategy")
        if strategy is None:
            raise refused(f"fields.{name}", "required", "The campaign has no bidStrategy yet; set it in the same edit.")
        if isinstance(value, Decimal):
            raise refused(f"fields.{name}", "type", f"{name} is a whole number of percent.")
        others = [one for one in _placements(entity) if read(one, "/placement") != name]
        own = [] if value is None else [{"placement": name, "percentage": value}]
        return {"/dynamicBidding": {"strategy": strategy, "placementBidding": others + own}}

    return Setting(
        "campaign",
        name,
        "/dynamicBidding/placementBidding",
        "number",
        minimum="0",
        maximum="900",
        clears=True,
        lock=_unless_archived,
        read=show,
        write=write,
        note=f"{name}: bids there are raised by so many percent.",
    )


_DAYS_NOTE = "startAt, endAt: a date, or an instant, which means its whole day in the profile's time zone."
_FINAL = "fixed when it is made; delete it and make another"

SETTINGS = (
    Setting("campaign", "name", "/name", longest=SELLER_NAME, lock=_unless_archived),
    Setting(
        "campaign", "budget", "/budget/budget", "money", period="daily", lock=_unless_archived, write=_write_budget
    ),
    Setting("campaign", "startAt", "/startDate", "day", lock=_before_start, write=_write_start, note=_DAYS_NOTE),
    Setting("campaign", "endAt", "/endDate", "day", clears=True, lock=_unless_archived, write=_write_end),
    Setting(
        "campaign",
        "bidStrategy",
        "/dynamicBidding/strategy",
        "choice",
        choices=STRATEGIES,
        lock=_unless_archived,
        write=_write_strategy,
    ),
    *(_placement(name) for name in PLACEMENTS),
    Setting("campaign", "portfolio", "/portfolioId", clears=True, lock=_unless_archived),
    Setting("campaign", "targetingType", "/targetingType", lock=_FINAL),  # (unverified)
    Setting("adGroup", "name", "/name", longest=AD_GROUP_NAME, lock=_unless_archived),
    Setting(
        "adGroup", "bid", "/defaultBid", "money", lock=_unless_archived, note="Keywords with a bid keep their own."
    ),
    Setting("adGroup", "campaignId", "/campaignId", lock=_FINAL),
    Setting("ad", "sku", "/sku", lock=_FINAL),
    Setting("ad", "asin", "/asin", lock=_FINAL),
    Setting("ad", "campaignId", "/campaignId", lock=_FINAL),
    Setting("ad", "adGroupId", "/adGroupId", lock=_FINAL),
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
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    money="Native amounts are decimal numbers in major units.",
    reports=True,
    templates=TEMPLATES,
    extras=(
        Extra("region", "the region whose host the profile lives on", tuple(HOSTS)),
        Extra("accountType", "whether listings are named by sku or by asin (KDP authors: vendor)", (SELLER, VENDOR)),
        Extra("countryCode", "the marketplace, whose limits of bids and budgets then count", tuple(MARKETPLACES)),
    ),
    items=items,
    notes=(
        "A profile is a marketplace: there is no geographic targeting. Deleting archives, which is final.",
        "Report figures are restated for 3 days, conversions for longer.",
    ),
)
