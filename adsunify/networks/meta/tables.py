"""Meta: Marketing API v26.0 (Graph API of 2026-07-29), what it has and what of it is used, as tables.

A Marketing version ends about a year after its release (v24.0 ended on 2026-10-06); an answer from a dead version
carries the header ``X-Ad-Api-Version-Warning``.

Three surprises. What ``bid_amount`` buys follows ``billing_event``: a bid per link click is only one where link clicks
are billed. The minor unit of a currency is not that of ISO 4217: HUF and IDR take no fraction, JOD takes two digits.
A changed ``targeting`` replaces the whole of it, so an edit reads it, lays the change over it and writes all of it.

Sources: developers.facebook.com (Marketing API reference and guides on bidding, budgets, billing events, currencies,
insights and rate limiting; Graph API error handling and changelog of version 26.0; Facebook Login); the package
facebook-business 26.0.3 for the names, types and enums.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime

from attrs import frozen

from adsunify.adapter.brief_checks import deny_political_ads, times_held
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    Goal,
    History,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Template,
    whole_units,
    words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import not_web
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import Columns, found_at, text
from adsunify.values.money import major

from . import native as meta
from .settings import EDITS, SETTINGS, least_budget, too_short
from .targeting import PARTS, beneficiary, category_countries, misplaced, no_overlap, not_native

# -- levels -------------------------------------------------------------------------------------------------------

STATES = {meta.ACTIVE: "active", meta.PAUSED: "paused", meta.ARCHIVED: "archived", meta.DELETED: "deleted"}
SETTABLE = {"active": meta.ACTIVE, "paused": meta.PAUSED}
EFFECTIVE = (meta.ACTIVE, meta.PAUSED, meta.DELETED, meta.ARCHIVED, "IN_PROCESS", "WITH_ISSUES")
AD_EFFECTIVE = words("CAMPAIGN_PAUSED ADSET_PAUSED DISAPPROVED PENDING_REVIEW PREAPPROVED PENDING_BILLING_INFO")
BIDDING = ("/bid_strategy", "/bid_amount", "/billing_event", "/optimization_goal")


def _level(kind: str, node: str, edge: str, fields: str, filters: tuple[str, ...], **more: Json) -> Level:
    """A level; all three have the same id, name and status, and are born paused."""
    more |= {"fields": words(fields), "filters": filters, "states": STATES, "settable": SETTABLE, "born": meta.PAUSED}
    return Level(kind, node, edge, "/id", "/name", "/status", account=meta.owner, **more)


LEVELS = (
    _level(
        *("campaign", "Campaign", "campaigns"),
        "id name objective status effective_status buying_type special_ad_categories daily_budget lifetime_budget"
        " spend_cap bid_strategy is_adset_budget_sharing_enabled start_time stop_time created_time updated_time",
        EFFECTIVE,
        shows={"bidding": ("/bid_strategy",)},
    ),
    _level(
        *("adGroup", "AdSet", "adsets"),
        "id name campaign_id status effective_status daily_budget lifetime_budget budget_remaining bid_strategy"
        " bid_amount billing_event optimization_goal destination_type promoted_object targeting start_time end_time"
        " frequency_control_specs dsa_beneficiary dsa_payor learning_stage_info issues_info",
        (*EFFECTIVE, "CAMPAIGN_PAUSED"),
        parent="/campaign_id",
        parent_kind="campaign",
        shows={"targeting": ("/targeting",), "bidding": BIDDING},
        note=f"Budget, schedule, bid and targeting stand here. An edit's targeting takes {', '.join(PARTS)}.",
    ),
    _level(
        *("ad", "Ad", "ads"),
        "id name adset_id campaign_id status effective_status creative{id,name,object_story_spec,thumbnail_url}"
        " ad_review_feedback issues_info",
        (*EFFECTIVE, *AD_EFFECTIVE),
        parent="/adset_id",
        parent_kind="adGroup",
        shows={"creative": ("/creative",)},
        note="Creatives are a catalog, not a level: their content cannot be changed.",
    ),
)


# -- formats ------------------------------------------------------------------------------------------------------


def _page(brief: CampaignBrief) -> dict[str, Json]:
    return {"page_id": brief.platform.page_id}


def _pixel(brief: CampaignBrief) -> dict[str, Json]:
    return {"pixel_id": brief.platform.pixel_id, "custom_event_type": brief.platform.conversion_event}


@frozen
class Aim:
    """What a goal is natively; ``with_bid``: the billing event under a bid.

    Marketing API: bid_amount is counted per 1,000 of the billing event where that is IMPRESSIONS, else per one.
    """

    objective: str
    optimization_goal: str
    billing_event: str
    with_bid: str
    destination_type: str | None
    promoted_object: Callable[[CampaignBrief], dict[str, Json]] | None


CLICKS, VIEWS, SITE = "LINK_CLICKS", "IMPRESSIONS", "WEBSITE"
AIMS: Mapping[str, Aim] = {
    "traffic": Aim("OUTCOME_TRAFFIC", CLICKS, VIEWS, CLICKS, SITE, None),
    "awareness": Aim("OUTCOME_AWARENESS", "REACH", VIEWS, VIEWS, None, _page),
    "conversions": Aim("OUTCOME_SALES", "OFFSITE_CONVERSIONS", VIEWS, VIEWS, SITE, _pixel),
}
GOALS: tuple[Goal, ...] = ("traffic", "awareness", "conversions")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
BID: Mapping[Goal, str] = {
    "traffic": "the most that one link click may cost",
    "awareness": "the most that 1,000 impressions may cost",
}


def _lasting(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if too_short(brief.budget.period, brief.schedule.start, brief.schedule.end):
        message = "Meta takes a daily budget only for more than 24 hours; end later or use a lifetime budget."
        yield Issue("schedule.endAt", "too_short", message)


def _floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    unit = meta.unit(account)
    least = least_budget(account, brief.budget.period, brief.schedule.start, brief.schedule.end)
    if whole_units(unit, brief.budget.amount, "budget.amount") < least:
        message = f"The account's least budget for this time is {major(least, unit.offset)}."
        yield Issue("budget.amount", "too_small", message)


COMMON = (
    Input("targeting.countries", "any", group="geography", accepts="countries, locationIds or native targeting"),
    Input("targeting.locationIds", "any", group="geography", test=misplaced, accepts="ids of the catalog locations"),
    Input("targeting.native", "any", group="geography", test=not_native, accepts="Meta's own targeting object"),
    Input("schedule.endAt", "required", periods=("lifetime",), accepts="a lifetime budget is spent up to its end"),
    Input("schedule.endAt", "optional", accepts="more than 24 hours after the start"),
    Input("bid", "refused", goals=("conversions",), reason="Meta would cap the cost of a conversion, not of a click"),
    Input("bid", "optional", accepts="; ".join(f"{goal}: {meaning}" for goal, meaning in BID.items())),
    Input("platform.pixelId", "required", goals=("conversions",), accepts="an id of the catalog pixels"),
    Input("platform.pixelId", "refused", reason="only the goal conversions uses it"),
    Input("platform.conversionEvent", "required", goals=("conversions",), choices=meta.CONVERSION_EVENTS),
    Input("platform.conversionEvent", "refused", reason="only the goal conversions uses it"),
    Input("platform.specialAdCategories", "optional", choices=meta.SPECIAL_AD_CATEGORIES),
    deny_political_ads("name the special ad category of politics instead"),
    Input("targeting.keywords", "refused", reason="its ads are shown to people, not on searches"),
)
NEW = (
    Input("platform.pageId", "required", accepts="an id of the catalog pages"),
    Input("creative.url", "required", test=not_web, accepts="http or https"),
    Input("creative.body", "required", accepts="the primary text"),
    Input("creative.headline", "required"),
    Input("creative.imageUrl", "one", group="image", test=not_web, accepts="a public address, which Meta fetches"),
    Input("creative.imageHash", "one", group="image", accepts="a hash of the catalog images"),
    Input("creative.headlines", "refused", reason="the ad has one headline"),
    Input("creative.descriptions", "refused", reason="the ad has one text, the body"),
)
INHERITED = words("headline body url imageUrl imageHash headlines descriptions")
EXISTING = (
    Input("creative.existingId", "required", accepts="an id of the catalog creatives"),
    Input("platform.pageId", "required", goals=("awareness",), accepts="the page that people are to know"),
    Input("platform.pageId", "refused", reason="the creative has its page; only the goal awareness names it again"),
    *(Input(f"creative.{name}", "refused", reason="the existing creative brings its own") for name in INHERITED),
)
RULES = (no_overlap, times_held("Meta"), _lasting, _floor, category_countries, beneficiary)


def _has_creative(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" in members


def _has_none(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" not in members


FORMATS = (
    Format("page_link_ad", "Page link ad", GOALS, PERIODS, (*NEW, *COMMON), BID, _has_none, RULES),
    Format("existing_creative", "Existing creative", GOALS, PERIODS, (*EXISTING, *COMMON), BID, _has_creative, RULES),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _listed(resource: str, edge: str, fields: str = "", name: str = "/name", key: str = "/id") -> Catalog:
    """A catalog that is an edge of the account."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        query = meta.paged(fields, limit, cursor) if fields else {}
        return Request("GET", f"{meta.GRAPH}/{{account}}/{edge}", {"account": account.native_id}, query)

    return Catalog(resource, request, meta.listed, key, name, meta.next_cursor)


def _search(kind: str, **more: str) -> Callable[[Account, str, str | None, int], Request]:
    """A search over what targeting can name."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        asked = {"type": kind, "q": sought, **more, "after": cursor or ""}
        return Request("GET", f"{meta.GRAPH}/search", query={name: value for name, value in asked.items() if value})

    return request


def _place(row: Mapping[str, Json]) -> str:
    kind, key = text(row, "/type"), text(row, "/key")
    return f"{kind}:{key}" if kind and key else ""


def _strings(response: Response) -> list[Mapping[str, Json]]:
    found = [*found_at(response.body, "/data/*"), *found_at(response.body, "/data/*/recommendations/*")]
    return [{"name": one} for one in found if isinstance(one, str)]


PLACES = {"location_types": dumps(["country", "region", "city", "zip", "geo_market"]), "limit": "25"}
CATALOGS = (
    _listed("pages", "promote_pages", "id,name"),
    _listed("pixels", "adspixels", "id,name,last_fired_time,is_unavailable"),
    _listed("custom_conversions", "customconversions", "id,name,custom_event_type,pixel"),
    _listed("creatives", "adcreatives", "id,name,status,object_type,thumbnail_url"),
    _listed("images", "adimages", "hash,name,url,width,height,status", key="/hash"),
    _listed("videos", "advideos", "id,title,length,status", name="/title"),
    _listed("instagram_accounts", "instagram_accounts", "id,username", name="/username"),
    _listed("audiences", "customaudiences", "id,name,subtype"),
    _listed("saved_audiences", "saved_audiences", "id,name"),
    _listed("minimum_budgets", "minimum_budgets", key="/currency", name="/currency"),
    Catalog("dsa_recommendations", _listed("", "dsa_recommendations").request, _strings, "/name", "/name"),
    Catalog(
        "locations", _search("adgeolocation", **PLACES), meta.listed, _place, "/name", meta.next_cursor, "required"
    ),
    Catalog("interests", _search("adinterest"), meta.listed, "/id", "/name", meta.next_cursor, "required"),
    Catalog("locales", _search("adlocale"), meta.listed, "/key", "/name", meta.next_cursor, "optional"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

PLACE = {"geo_locations": {"countries": ["NO"]}, "targeting_automation": {"advantage_audience": meta.KEEP_AUDIENCE}}
CAMPAIGN = {
    "name": "Tea spring",
    "objective": AIMS["traffic"].objective,
    "buying_type": meta.AUCTION,
    "special_ad_categories": [],
    "is_adset_budget_sharing_enabled": False,
}
AD_SET = {
    "name": "Tea spring",
    "campaign_id": "6101",
    "optimization_goal": AIMS["traffic"].optimization_goal,
    "billing_event": AIMS["traffic"].billing_event,
    "bid_strategy": meta.UNCAPPED,
    "daily_budget": 1850,
    "start_time": "2027-03-01T08:00:00+0000",
    "targeting": PLACE,
}
AD = {"name": "Tea spring", "adset_id": "6102", "creative": {"creative_id": "6103"}}
TEMPLATES = (
    Template("campaign", "Traffic, the budget on its ad sets", CAMPAIGN),
    Template("adGroup", "Link clicks, 18.50 a day", AD_SET, "In the EU also dsa_beneficiary and dsa_payor."),
    Template("ad", "An existing creative", AD),
)

# They overlap, so the first that a row has is taken, and they are never summed.
PURCHASES = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")


def _by_kind(actions: Json) -> Mapping[Json, Json]:
    """The value of each kind of action, the first where one is told twice; nothing of what is no list of them."""
    try:
        return {action.get("action_type"): action.get("value") for action in reversed(actions)}
    except (AttributeError, TypeError):
        return {}


def _purchase(actions: Mapping[Json, Json]) -> str | None:
    for kind in PURCHASES:
        if kind in actions:
            return kind
    return None


def _conversions(columns: Columns) -> list[Json]:
    told = columns.made("/actions", _by_kind)
    return [None if (kind := _purchase(actions)) is None else actions[kind] for actions in told]


def _conversion_values(columns: Columns) -> list[Json]:
    told = zip(columns.made("/actions", _by_kind), columns.made("/action_values", _by_kind), strict=True)
    return [None if (kind := _purchase(actions)) is None else values.get(kind) for actions, values in told]


def _video_views(columns: Columns) -> list[Json]:
    return [actions.get("video_view") for actions in columns.made("/actions", _by_kind)]


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="All clicks, not only those on links."),
    Metric("spend", "/spend", "major"),
    Metric("conversions", "/actions", "decimal", _conversions, note="Purchases, counted once."),
    Metric("conversionValue", "/action_values", "major", _conversion_values, note="The value of the same purchases."),
    Metric("videoViews", "/actions", "count", _video_views, note="Views of 3 seconds."),
    Metric("reach", "/reach", "count", note="Of one day; days do not add up."),
)

ERRORS = (
    ErrorRule("rejected", "token", "the token is expired, revoked or invalid", ("190", "102")),
    ErrorRule("rejected", "permission", "the token may not do this", ("3", "10", "200-299")),
    ErrorRule("rejected", "permission", "blocked for integrity: stop, do not try again", ("368",)),
    ErrorRule("throttled", "limit", "too many calls or changes", ("4", "17", "32", "341", "613", "80000-80014")),
    ErrorRule("rejected", "not_found", "no such object, or not visible to the token", ("100/33", "803")),
    ErrorRule("rejected", "input", "a parameter is refused", ("100",)),
    ErrorRule("rejected", "input", "the version is gone", ("2635",)),
    ErrorRule("rejected", "limit", "the account holds too many objects", ("1487809",)),
    ErrorRule("ambiguous", "network", "Meta had a passing fault; it may have been done", ("1", "2", meta.TRANSIENT)),
)

NETWORK = Network(
    code="meta",
    title="Meta",
    version=meta.VERSION,
    hosts=(meta.HOST, meta.CONSENT_HOST),
    # There is no refresh token: a token of about 60 days is exchanged for the next while it lives, or never.
    login=Login("oauth2", scopes=meta.SCOPES, ahead=30 * 24 * 60 * 60),
    unit=meta.unit,
    error=meta.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Marketing API, insights ("meta: 12 Insights"): a day without delivery has no row.
    missing_day="zero",
    geographies=("/geo_locations",),
    # Marketing API, insights: 37 months back at most.
    history=History(months=37),
    reports=True,
    money="Native amounts are integers in the currency's minor unit (most currencies 100 to one, some 1).",
    templates=TEMPLATES,
    extras=(
        Extra("defaultDsaBeneficiary", "Who benefits from ads in the EU; empty: read and not set."),
        Extra("defaultDsaPayor", "Who pays for ads in the EU; empty: read and not set."),
        Extra("minDailyBudget", "The account's least daily budget, in native units.", settable=False),
        Extra("accountStatus", "Meta's number for the account's status.", settable=False),
    ),
    wait=meta.wait,
    notes=(
        "A daily budget may be overspent on one day, not over a week.",
        "At most 4 budget changes per ad set and hour.",
        "Figures follow the account's attribution setting; the last days are restated.",
    ),
)
