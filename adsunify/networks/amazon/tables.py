"""Amazon Ads API: Sponsored Products v3, Profiles v2, Reporting v3: what they have and what is used, as tables.

No sunset is announced.

Three surprises. Every resource has its own media type, which both Content-Type and Accept have to name. Every write
answers 207 with a result for each sent item by its ``index``, so a batch may be applied in part. A profile belongs to
one of three regional hosts, and its marketplace is its geography.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.brief_checks import check_start_is_midnight, deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Input, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import Catalog, ErrorRule, Extra, Level, Network, PayloadRules, Template, project_sunset
from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.dates import get_timezone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text

from .native import (
    ARCHIVED,
    BROKEN_ITEM_CODE,
    CODE,
    DOWN_ONLY,
    ENABLED,
    FIXED_BID,
    HOSTS,
    ITEM_ERROR,
    LOGIN,
    MANUAL_TARGETING,
    MARKETPLACES,
    NAME_CHARACTERS,
    NEUTRAL_MEMBERS,
    PAUSED,
    SELLER,
    THROTTLED_ITEM_CODE,
    VENDOR,
    VERSION,
    build_daily_budget,
    build_post_read_request,
    build_profiles_request,
    check_amount_limits,
    get_base_url,
    get_money_unit,
    get_profile_name,
    get_serving_days,
    has_invalid_name_characters,
    parse_error,
    parse_level_results,
    parse_next_cursor,
)
from .settings import EDITS, SETTINGS
from .targeting import build_eligibility_request, build_products_request, find_keywords_error, parse_products

# -- levels -------------------------------------------------------------------------------------------------------

_UNIFIED_STATUSES: Mapping[str, str] = {
    ENABLED: "active",
    "ENABLING": "active",
    PAUSED: "paused",
    ARCHIVED: "archived",
    "USER_DELETED": "deleted",
}
_WRITABLE_STATUSES: Mapping[str, str] = {"active": ENABLED, "paused": PAUSED}
STATUS_FILTERS = (ENABLED, PAUSED, ARCHIVED)
LIVE_STATUSES = (ENABLED, PAUSED)

_level = partial(
    Level,
    status="/state",
    unified_statuses=_UNIFIED_STATUSES,
    writable_statuses=_WRITABLE_STATUSES,
    status_filters=STATUS_FILTERS,
    initial_status=PAUSED,
    created="/extendedData/creationDateTime",
    hidden_statuses=(ARCHIVED,),
    accepted_actions={ARCHIVED: ()},  # Amazon's error ARCHIVED_ENTITY_CANNOT_BE_MODIFIED
    payload=PayloadRules(neutral=NEUTRAL_MEMBERS, bidding={"dynamicBidding/strategy": (DOWN_ONLY, FIXED_BID)}),
)

CAMPAIGN = _level(
    "campaign",
    "campaign",
    "/sp/campaigns",
    "/campaignId",
    "/name",
    settings_context={"targeting": ("/targetingType",), "bidding": ("/dynamicBidding",)},
)
AD_GROUP = _level(
    "adGroup",
    "adGroup",
    "/sp/adGroups",
    "/adGroupId",
    "/name",
    parent=CAMPAIGN.id,
    parent_kind="campaign",
    settings_context={"bidding": ("/defaultBid",)},
)
AD = _level(
    "ad",
    "productAd",
    "/sp/productAds",
    "/adId",
    "",
    parent=AD_GROUP.id,
    parent_kind="adGroup",
    settings_context={"creative": ("/sku", "/asin")},
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
SEARCHABLE_KINDS = ("campaign", "adGroup")
"""The kinds whose lists take a search: product ads have no name filter."""


# -- formats ------------------------------------------------------------------------------------------------------


def _other_type_test(kind: str) -> Callable[[Account], bool]:
    return lambda account: account.extras.get("accountType") != kind


def _has_known_type(account: Account) -> bool:
    return account.extras.get("accountType") in (SELLER, VENDOR)


def _check_days(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    try:
        yield from check_start_is_midnight(NETWORK.title, brief, require_timezone(account))
        first, _ = get_serving_days(account, brief)
    except InvalidInput as problem:
        yield from problem.issues
        return
    if now is not None and first < now.astimezone(get_timezone(require_timezone(account))).date():
        yield Issue("schedule.startAt", "past", "Amazon Ads takes no start before today in the profile's time zone.")


def _check_amounts(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    budget, bid = Decimal(brief.budget.amount), Decimal(brief.bid or "0")
    yield from check_amount_limits(account, "budgets", "budget.amount", budget)
    yield from check_amount_limits(account, "bids", "bid", bid)
    if bid > budget:  # Amazon's biddingError BID_GT_BUDGET
        yield Issue("bid", "too_large", "Amazon Ads takes no bid above the daily budget.")


def _check_name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if brief.name != brief.name.strip():
        yield Issue("name", "invalid", "Amazon Ads takes no name that begins or ends with a blank.")
    elif has_invalid_name_characters(brief.name):
        yield Issue("name", "invalid", f"Amazon Ads takes these in a name: {NAME_CHARACTERS}.")


_ACCOUNT_TYPE_CONDITION = "where the account's extra accountType is %s"
_UNKNOWN_TYPE_CONDITION = "where the account's extra accountType is not known"
_SKU_FORM = "the seller's own number of an eligible listing"
_ASIN_FORM = "the ASIN of an eligible listing"

FORMATS = (
    Format(
        "product_ads",
        "Product ads with manual keywords",
        goals=("conversions",),
        periods=("daily",),
        bid_meanings={"conversions": "maximum cost per click: the ad group's default bid and every keyword's bid"},
        inputs=(
            Input("bid", "required", "an ad group needs a default bid"),
            Input("schedule.endAt", "optional"),
            Input("targeting.keywords", "required", "1 to 50 different keywords", find_error=find_keywords_error),
            *(
                Input(path, "one", accepts, group="product", is_exempt=_has_known_type, reason=_UNKNOWN_TYPE_CONDITION)
                for path, accepts in (
                    ("platform.sku", f"{_SKU_FORM}, or {_ASIN_FORM}"),
                    ("platform.asin", f"{_ASIN_FORM}, or {_SKU_FORM}"),
                )
            ),
            Input(
                "platform.sku",
                "required",
                _SKU_FORM,
                is_exempt=_other_type_test(SELLER),
                reason=_ACCOUNT_TYPE_CONDITION % SELLER,
            ),
            Input(
                "platform.asin",
                "required",
                _ASIN_FORM,
                is_exempt=_other_type_test(VENDOR),
                reason=_ACCOUNT_TYPE_CONDITION % VENDOR,
            ),
            Input("platform.sku", "refused", reason="vendors and KDP authors advertise by platform.asin"),
            Input("platform.asin", "refused", reason="sellers advertise by platform.sku"),
            deny_political_ads(),
            *refused_inputs("targeting", "countries locationIds", "the profile's marketplace is the geography"),
            Input("targeting.native", "refused", reason="keywords are all that this format targets by"),
            *refused_inputs("creative", f"existingId {CONTENT_MEMBERS}", "the listing is the creative"),
        ),
        rules=(_check_name, _check_days, _check_amounts),
        notes=(
            "The daily budget is an average: a day may spend up to twice as much.",
            "Days are whole days in the profile's time zone.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _build_profiles_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_profiles_request(get_base_url(account))


def _build_eligibility_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_eligibility_request(account, {"asin": suffix})


def _build_suggestions_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spkeywordsrecommendation.v5+json"
    body = {"recommendationType": "KEYWORDS_FOR_ASINS", "asins": [suffix], "sortDimension": "CLICKS"}
    return build_post_read_request(
        account, "/sp/targets/keywords/recommendations", (media, media), body | {"maxRecommendations": limit}
    )


def _build_portfolios_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spPortfolio.v3+json"
    return build_post_read_request(account, "/portfolios/list", (media, media), {"nextToken": cursor} if cursor else {})


def _build_usage_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    media = "application/vnd.spcampaignbudgetusage.v1+json"
    return build_post_read_request(account, "/sp/campaigns/budget/usage", (media, media), {"campaignIds": [suffix]})


def _get_used_percent(row: Mapping[str, Json]) -> str:
    return get_text(row, "/budgetUsagePercent") or ""


def _parse_cursor_token(response: Response) -> str | None:
    return get_text(response.body, "/cursorToken") or None


CATALOGS = (
    Catalog("profiles", _build_profiles_request, "", "/profileId", get_profile_name),
    Catalog(
        "products",
        build_products_request,
        parse_products,
        "/asin",
        "/title",
        _parse_cursor_token,
        "optional",
        note="products:<ASIN>, or words of the title",
    ),
    Catalog(
        "product_eligibility",
        _build_eligibility_request,
        "/productResponseList",
        "/productDetails/asin",
        "/overallStatus",
        suffix="required",
        note="product_eligibility:<ASIN>",
    ),
    Catalog(
        "keyword_suggestions",
        _build_suggestions_request,
        "/keywordTargetList",
        "/keyword",
        "/keyword",
        suffix="required",
        # unverified: the bids of keyword_suggestions are in hundredths.
        note="keyword_suggestions:<ASIN>; bids are shown as they come, in hundredths (unverified)",
    ),
    Catalog("portfolios", _build_portfolios_request, "/portfolios", "/portfolioId", "/name", parse_next_cursor),
    Catalog(
        "campaign_budget_usage",
        _build_usage_request,
        "/success",
        "/campaignId",
        _get_used_percent,
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
            "budget": build_daily_budget(Decimal("35.5")),
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


# unverified: the console counts conversions within 7 days for sellers and within 14 for vendors.
def _build_metrics(days: int) -> tuple[Metric, ...]:
    note = f"Conversions count within {days} days of the click (7 days for sellers, 14 for vendors)."
    return (
        Metric("impressions", "/impressions", "count"),
        Metric("clicks", "/clicks", "count"),
        Metric("spend", "/cost", "major"),
        Metric("conversions", f"/purchases{days}d", "count", note=note),
        Metric("conversionValue", f"/sales{days}d", "major", note=note),
    )


METRICS = _build_metrics(7)
VENDOR_METRICS = _build_metrics(14)

# A product ad has no name. Only days with impressions have a row.
_report_level = partial(ReportLevel, source="Amazon Ads Reporting v3, report types (2025-09-16, read 2026-11-23)")
REPORT_LEVELS = (
    _report_level("campaign", "campaign", CAMPAIGN.id, "/campaignName"),
    _report_level("adGroup", "adGroup", AD_GROUP.id, "/adGroupName", CAMPAIGN.id),
    _report_level("ad", "advertiser", AD.id, None, AD_GROUP.id),
)

ERRORS = (
    ErrorRule("ambiguous", "network", "an internal error, whose item may have been written", (BROKEN_ITEM_CODE,)),
    ErrorRule("throttled", "limit", "too many writes for now", (THROTTLED_ITEM_CODE,)),
    ErrorRule("rejected", "not_found", "the entity or its parent is not there", ("entityNotFoundError",)),
    # unverified: a new parent may not be visible yet; the step is rejected in any case.
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
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(*HOSTS.values(), "api.amazon.com", "www.amazon.com"),
    login=LOGIN,
    get_money_unit=get_money_unit,
    parse_error=parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Reporting v3: only campaigns with activity on a day have a row. A day without rows had no activity, but its
    # figures are null (our choice).
    missing_day="gap",
    # Reporting v3: reports reach 95 days back.
    history=History(days=95),
    money_note="Native amounts are decimal numbers in major units.",
    has_report_jobs=True,
    has_whole_days=True,
    templates=TEMPLATES,
    extras=(
        Extra("region", "the region whose host the profile lives on", tuple(HOSTS), is_settable=True, label="Region"),
        Extra(
            "accountType",
            "whether listings are named by sku or by asin (KDP authors: vendor)",
            (SELLER, VENDOR),
            is_settable=True,
            label="Kind of account",
            form="words",
        ),
        Extra(
            "countryCode",
            "the marketplace, whose limits of bids and budgets then count",
            tuple(MARKETPLACES),
            is_settable=True,
            label="Marketplace",
        ),
    ),
    parse_item_results=partial(parse_level_results, LEVELS),
    notes=(
        "A profile is a marketplace: there is no geographic targeting. Deleting archives, which is final.",
        "Report figures are restated for 3 days, conversions for longer.",
    ),
)
