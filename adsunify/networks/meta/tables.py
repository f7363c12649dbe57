"""Meta Marketing API v26.0 (Graph API of 2026-07-29): what the API has and what the adapter uses, as tables.

A Marketing version ends about a year after its release (v24.0 ended on 2026-10-06). Responses of a version that has
ended carry the header ``X-Ad-Api-Version-Warning``.

Three surprises. ``billing_event`` decides what ``bid_amount`` buys: a bid is per link click only where link clicks are
billed. The minor unit of a currency is not that of ISO 4217: HUF and IDR have no fraction, JOD has two digits. A
written ``targeting`` replaces the whole object, so an edit reads it, applies the change and writes all of it.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Goal, Input, Period, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.native_money import to_native_units
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Login,
    Network,
    PayloadRules,
    Sunset,
    Template,
    split_words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import find_web_url_error
from adsunify.values.exact_json import Json, dumps
from adsunify.values.json_pointer import Columns, find_values, get_text
from adsunify.values.money import from_units

from . import native as meta
from .settings import EDITS, SETTINGS, get_minimum_budget, is_too_short
from .targeting import (
    EDITABLE_TARGETING,
    check_beneficiary,
    check_category_countries,
    check_location_overlap,
    find_locations_error,
    find_native_targeting_error,
)

# -- levels -------------------------------------------------------------------------------------------------------

UNIFIED_STATUSES = {meta.ACTIVE: "active", meta.PAUSED: "paused", meta.ARCHIVED: "archived", meta.DELETED: "deleted"}
WRITABLE_STATUSES = {"active": meta.ACTIVE, "paused": meta.PAUSED}
EFFECTIVE_STATUSES = (meta.ACTIVE, meta.PAUSED, meta.DELETED, meta.ARCHIVED, "IN_PROCESS", "WITH_ISSUES")
AD_EFFECTIVE_STATUSES = split_words(
    "CAMPAIGN_PAUSED ADSET_PAUSED DISAPPROVED PENDING_REVIEW PREAPPROVED PENDING_BILLING_INFO"
)
BIDDING_POINTERS = ("/bid_strategy", "/bid_amount", "/billing_event", "/optimization_goal")


def _edge_level(
    kind: str, label: str, node: str, edge: str, fields: str, filters: tuple[str, ...], **attributes: Json
) -> Level:
    """Build a level. All levels have the same members for ID, name and status, and are created paused."""
    attributes |= {
        "label": label,
        # Marketing API: Meta ignores unknown members, and a create accepts writable statuses only.
        "payload": PayloadRules(
            create=meta.CREATE_MEMBERS[kind],
            update=meta.UPDATE_MEMBERS[kind],
            neutral=meta.NEUTRAL_MEMBERS,
            bidding={"bid_strategy": meta.CAPPED_BID_STRATEGIES},
            update_statuses=tuple(UNIFIED_STATUSES),
        ),
        "fields": split_words(fields),
        "status_filters": filters,
        "unified_statuses": UNIFIED_STATUSES,
        "writable_statuses": WRITABLE_STATUSES,
        "initial_status": meta.PAUSED,
        "hidden_statuses": (meta.ARCHIVED, meta.DELETED),
        # unverified: an archived entity cannot be activated or paused, and takes nothing new below it.
        "accepted_actions": {meta.ARCHIVED: ("update", "delete")},
    }
    return Level(kind, node, edge, "/id", "/name", "/status", account=meta.get_owner_account, **attributes)


CAMPAIGN = _edge_level(
    *("campaign", "campaign", "Campaign", "campaigns"),
    "id name objective status effective_status buying_type special_ad_categories daily_budget lifetime_budget"
    " spend_cap bid_strategy is_adset_budget_sharing_enabled start_time stop_time created_time updated_time",
    EFFECTIVE_STATUSES,
    settings_context={"bidding": ("/bid_strategy",)},
    created="/created_time",
)
AD_SET = _edge_level(
    *("adGroup", "ad set", "AdSet", "adsets"),
    "id name campaign_id status effective_status daily_budget lifetime_budget budget_remaining bid_strategy"
    " bid_amount billing_event optimization_goal destination_type promoted_object targeting start_time end_time"
    " frequency_control_specs dsa_beneficiary dsa_payor learning_stage_info issues_info",
    (*EFFECTIVE_STATUSES, "CAMPAIGN_PAUSED"),
    parent="/campaign_id",
    parent_kind="campaign",
    settings_context={"targeting": ("/targeting",), "bidding": BIDDING_POINTERS},
    note=f"Holds budget, schedule, bid and targeting. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD = _edge_level(
    *("ad", "ad", "Ad", "ads"),
    "id name adset_id campaign_id status effective_status creative{id,name,object_story_spec,thumbnail_url}"
    " ad_review_feedback issues_info",
    (*EFFECTIVE_STATUSES, *AD_EFFECTIVE_STATUSES),
    parent="/adset_id",
    parent_kind="adGroup",
    review_status="/effective_status",
    disapproved_statuses=("DISAPPROVED",),
    settings_context={"creative": ("/creative",)},
    compared=("/creative/creative_id=/creative/id",),
    note="Creatives are a catalog, not a level: their content cannot be changed.",
)
LEVELS = (CAMPAIGN, AD_SET, AD)


# -- formats ------------------------------------------------------------------------------------------------------


def _build_page_member(brief: CampaignBrief) -> dict[str, Json]:
    return {"page_id": brief.platform.page_id}


def _build_pixel_members(brief: CampaignBrief) -> dict[str, Json]:
    return {"pixel_id": brief.platform.pixel_id, "custom_event_type": brief.platform.conversion_event}


@frozen
class NativeObjective:
    """The native members of a goal. ``with_bid``: the billing event if the brief has a bid.

    Marketing API, "Billing events": bid_amount is for 1,000 impressions, or for one of any other billing event.
    """

    objective: str
    optimization_goal: str
    billing_event: str
    with_bid: str
    destination_type: str | None
    promoted_object: Callable[[CampaignBrief], dict[str, Json]] | None


LINK_CLICKS, IMPRESSIONS, WEBSITE = "LINK_CLICKS", "IMPRESSIONS", "WEBSITE"
OBJECTIVES: Mapping[str, NativeObjective] = {
    "traffic": NativeObjective("OUTCOME_TRAFFIC", LINK_CLICKS, IMPRESSIONS, LINK_CLICKS, WEBSITE, None),
    "awareness": NativeObjective("OUTCOME_AWARENESS", "REACH", IMPRESSIONS, IMPRESSIONS, None, _build_page_member),
    "conversions": NativeObjective(
        "OUTCOME_SALES", "OFFSITE_CONVERSIONS", IMPRESSIONS, IMPRESSIONS, WEBSITE, _build_pixel_members
    ),
}
GOALS: tuple[Goal, ...] = ("traffic", "awareness", "conversions")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
BID_MEANINGS: Mapping[Goal, str] = {
    "traffic": "the most that one link click may cost",
    "awareness": "the most that 1,000 impressions may cost",
}


def _check_duration(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if is_too_short(brief.budget.period, brief.schedule.start, brief.schedule.end):
        message = "Meta takes a daily budget only for more than 24 hours; end later or use a lifetime budget."
        yield Issue("schedule.endAt", "too_short", message)


def _check_budget_floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    unit = meta.get_money_unit(account)
    least = get_minimum_budget(account, brief.budget.period, brief.schedule.start, brief.schedule.end)
    if to_native_units(unit, brief.budget.amount, "budget.amount") < least:
        message = f"The account's least budget for this time is {from_units(least, unit.offset)}."
        yield Issue("budget.amount", "too_small", message)


COMMON_INPUTS = (
    Input("targeting.countries", "any", "countries, locationIds or native targeting", group="geography"),
    Input(
        "targeting.locationIds",
        "any",
        "ids of the catalog locations",
        group="geography",
        find_error=find_locations_error,
    ),
    Input(
        "targeting.native",
        "any",
        "Meta's own targeting object",
        group="geography",
        find_error=find_native_targeting_error,
    ),
    Input("schedule.endAt", "required", "a lifetime budget is spent up to its end", periods=("lifetime",)),
    Input("schedule.endAt", "optional", "more than 24 hours after the start"),
    Input("bid", "refused", goals=("conversions",), reason="Meta would cap the cost of a conversion, not of a click"),
    Input("bid", "optional", "; ".join(f"{goal}: {meaning}" for goal, meaning in BID_MEANINGS.items())),
    Input("platform.pixelId", "required", "an id of the catalog pixels", goals=("conversions",)),
    Input("platform.pixelId", "refused", reason="only the goal conversions uses it"),
    Input("platform.conversionEvent", "required", goals=("conversions",), choices=meta.CONVERSION_EVENTS),
    Input("platform.conversionEvent", "refused", reason="only the goal conversions uses it"),
    Input("platform.specialAdCategories", "optional", choices=meta.SPECIAL_AD_CATEGORIES),
    deny_political_ads("name the special ad category of politics instead"),
    Input("targeting.keywords", "refused", reason="its ads are shown to people, not on searches"),
)
NEW_CREATIVE_INPUTS = (
    Input("platform.pageId", "required", "an id of the catalog pages"),
    Input("creative.url", "required", "http or https", find_error=find_web_url_error),
    Input("creative.body", "required", "the primary text"),
    Input("creative.headline", "required"),
    Input(
        "creative.imageUrl", "one", "a public address, which Meta fetches", group="image", find_error=find_web_url_error
    ),
    Input("creative.imageHash", "one", "a hash of the catalog images", group="image"),
    Input("creative.headlines", "refused", reason="the ad has one headline"),
    Input("creative.descriptions", "refused", reason="the ad has one text, the body"),
)
EXISTING_CREATIVE_INPUTS = (
    Input("creative.existingId", "required", "an id of the catalog creatives"),
    Input("platform.pageId", "required", "the page that people are to know", goals=("awareness",)),
    Input("platform.pageId", "refused", reason="the creative has its page; only the goal awareness names it again"),
    *refused_inputs("creative", CONTENT_MEMBERS, "the existing creative brings its own"),
)
FORMAT_RULES = (
    check_location_overlap,
    _check_duration,
    _check_budget_floor,
    check_category_countries,
    check_beneficiary,
)


def _has_creative(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" in members


def _has_no_creative(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" not in members


FORMATS = (
    Format(
        "page_link_ad",
        "Page link ad",
        GOALS,
        PERIODS,
        (*NEW_CREATIVE_INPUTS, *COMMON_INPUTS),
        BID_MEANINGS,
        _has_no_creative,
        FORMAT_RULES,
    ),
    Format(
        "existing_creative",
        "Existing creative",
        GOALS,
        PERIODS,
        (*EXISTING_CREATIVE_INPUTS, *COMMON_INPUTS),
        BID_MEANINGS,
        _has_creative,
        FORMAT_RULES,
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------


def _edge_catalog(resource: str, edge: str, fields: str = "", name: str = "/name", key: str = "/id") -> Catalog:
    """Build a catalog that lists an edge of the account."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        query = meta.build_fields_query(fields, limit, cursor) if fields else {}
        return Request("GET", f"{meta.API_URL}/{{account}}/{edge}", {"account": account.native_id}, query)

    return Catalog(resource, request, meta.parse_rows, key, name, meta.parse_next_cursor)


def _search_request_builder(kind: str, **parameters: str) -> Callable[[Account, str, str | None, int], Request]:
    """Build the request of a catalog that searches targeting options."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        search_query = {"type": kind, "q": suffix, **parameters, "after": cursor or ""}
        return Request(
            "GET", f"{meta.API_URL}/search", query={name: value for name, value in search_query.items() if value}
        )

    return request


def _get_place_id(row: Mapping[str, Json]) -> str:
    kind, key = get_text(row, "/type"), get_text(row, "/key")
    return f"{kind}:{key}" if kind and key else ""


def _parse_names(response: Response) -> list[Mapping[str, Json]]:
    names = [*find_values(response.body, "/data/*"), *find_values(response.body, "/data/*/recommendations/*")]
    return [{"name": text} for text in names if isinstance(text, str)]


PLACE_SEARCH_QUERY = {"location_types": dumps(["country", "region", "city", "zip", "geo_market"]), "limit": "25"}
CATALOGS = (
    _edge_catalog("pages", "promote_pages", "id,name"),
    _edge_catalog("pixels", "adspixels", "id,name,last_fired_time,is_unavailable"),
    _edge_catalog("custom_conversions", "customconversions", "id,name,custom_event_type,pixel"),
    _edge_catalog("creatives", "adcreatives", "id,name,status,object_type,thumbnail_url"),
    _edge_catalog("images", "adimages", "hash,name,url,width,height,status", key="/hash"),
    _edge_catalog("videos", "advideos", "id,title,length,status", name="/title"),
    _edge_catalog("instagram_accounts", "instagram_accounts", "id,username", name="/username"),
    _edge_catalog("audiences", "customaudiences", "id,name,subtype"),
    _edge_catalog("saved_audiences", "saved_audiences", "id,name"),
    _edge_catalog("minimum_budgets", "minimum_budgets", key="/currency", name="/currency"),
    Catalog("dsa_recommendations", _edge_catalog("", "dsa_recommendations").request, _parse_names, "/name", "/name"),
    Catalog(
        "locations",
        _search_request_builder("adgeolocation", **PLACE_SEARCH_QUERY),
        meta.parse_rows,
        _get_place_id,
        "/name",
        meta.parse_next_cursor,
        "required",
    ),
    Catalog(
        "interests",
        _search_request_builder("adinterest"),
        meta.parse_rows,
        "/id",
        "/name",
        meta.parse_next_cursor,
        "required",
    ),
    Catalog(
        "locales",
        _search_request_builder("adlocale"),
        meta.parse_rows,
        "/key",
        "/name",
        meta.parse_next_cursor,
        "optional",
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATE_TARGETING = {
    "geo_locations": {"countries": ["NO"]},
    "targeting_automation": {"advantage_audience": meta.NO_AUDIENCE_EXPANSION},
}
CAMPAIGN_TEMPLATE = {
    "name": "Tea spring",
    "objective": OBJECTIVES["traffic"].objective,
    "buying_type": meta.AUCTION,
    "special_ad_categories": [],
    "is_adset_budget_sharing_enabled": False,
}
AD_SET_TEMPLATE = {
    "name": "Tea spring",
    "campaign_id": "6101",
    "optimization_goal": OBJECTIVES["traffic"].optimization_goal,
    "billing_event": OBJECTIVES["traffic"].billing_event,
    "bid_strategy": meta.UNCAPPED,
    "daily_budget": 1850,
    "start_time": "2027-03-01T08:00:00+0000",
    "targeting": TEMPLATE_TARGETING,
}
AD_TEMPLATE = {"name": "Tea spring", "adset_id": "6102", "creative": {"creative_id": "6103"}}
TEMPLATES = (
    Template("campaign", "Traffic, the budget on its ad sets", CAMPAIGN_TEMPLATE),
    Template("adGroup", "Link clicks, 18.50 a day", AD_SET_TEMPLATE, "In the EU also dsa_beneficiary and dsa_payor."),
    Template("ad", "An existing creative", AD_TEMPLATE),
)

# The kinds overlap, so their values are never added up. Only the first of these kinds that a row has counts.
PURCHASE_ACTIONS = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")


def _group_by_kind(actions: Json) -> Mapping[Json, Json]:
    """Return the value of each kind of action, and the first value of a repeated kind; empty if there is no list."""
    try:
        return {action.get("action_type"): action.get("value") for action in reversed(actions)}
    except (AttributeError, TypeError):
        return {}


def _find_purchase_kind(actions: Mapping[Json, Json]) -> str | None:
    for kind in PURCHASE_ACTIONS:
        if kind in actions:
            return kind
    return None


def _read_conversions(columns: Columns) -> list[Json]:
    groups = columns.map_column("/actions", _group_by_kind)
    return [None if (kind := _find_purchase_kind(actions)) is None else actions[kind] for actions in groups]


def _read_conversion_values(columns: Columns) -> list[Json]:
    pairs = zip(
        columns.map_column("/actions", _group_by_kind),
        columns.map_column("/action_values", _group_by_kind),
        strict=True,
    )
    return [None if (kind := _find_purchase_kind(actions)) is None else values.get(kind) for actions, values in pairs]


def _read_video_views(columns: Columns) -> list[Json]:
    return [actions.get("video_view") for actions in columns.map_column("/actions", _group_by_kind)]


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="All clicks, not only those on links."),
    Metric("spend", "/spend", "major"),
    Metric("conversions", "/actions", "decimal", _read_conversions, note="Purchases, counted once."),
    Metric(
        "conversionValue", "/action_values", "major", _read_conversion_values, note="The value of the same purchases."
    ),
    Metric("videoViews", "/actions", "count", _read_video_views, note="Views of 3 seconds."),
    Metric("reach", "/reach", "count", note="Of one day; days do not add up."),
)

REPORT_SOURCE = "Marketing API v26.0, AdsInsights.Level and AdsInsights.Field (read 2026-11-23)"
# unverified: the figures of all campaigns, ad sets or ads add up to those of the account.
REPORT_LEVELS = (
    ReportLevel("campaign", "campaign", "/campaign_id", "/campaign_name", source=REPORT_SOURCE),
    ReportLevel("adGroup", "adset", "/adset_id", "/adset_name", "/campaign_id", source=REPORT_SOURCE),
    ReportLevel("ad", "ad", "/ad_id", "/ad_name", "/adset_id", source=REPORT_SOURCE),
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
    ErrorRule(
        "ambiguous", "network", "Meta had a passing fault; it may have been done", ("1", "2", meta.TRANSIENT_CODE)
    ),
)

NETWORK = Network(
    code="meta",
    title="Meta",
    version=meta.VERSION,
    sunset=Sunset(
        date(2027, 7, 29),
        "A Marketing version ends about a year after its release; v26.0 was released on 2026-07-29.",
        is_projected=True,
    ),
    hosts=(meta.HOST, meta.CONSENT_HOST),
    # There is no refresh token: a token of about 60 days can be exchanged for a new one until it expires.
    login=Login("oauth2", scopes=meta.OAUTH_SCOPES, refresh_before_seconds=30 * 24 * 60 * 60),
    get_money_unit=meta.get_money_unit,
    parse_error=meta.parse_error,
    time=meta.TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Marketing API, "Insights": a day without delivery has no row.
    missing_day="zero",
    geographies=("/geo_locations",),
    # Marketing API, "Insights": reports reach 37 months back.
    history=History(months=37),
    has_report_jobs=True,
    money_note="Native amounts are integers in the currency's minor unit (most currencies 100 to one, some 1).",
    templates=TEMPLATES,
    extras=(
        Extra(
            "defaultDsaBeneficiary",
            "Who benefits from ads in the EU; empty: read and not set.",
            is_settable=True,
            label="Beneficiary of ads in the EU",
        ),
        Extra(
            "defaultDsaPayor",
            "Who pays for ads in the EU; empty: read and not set.",
            is_settable=True,
            label="Payor of ads in the EU",
        ),
        Extra(
            "minDailyBudget",
            "The account's least daily budget, in native units.",
            label="Least daily budget",
            form="native_amount",
            native="/min_daily_budget",
        ),
        Extra("accountStatus", "Meta's number for the account's status.", native="/account_status"),
    ),
    other_names=("facebook",),
    example_account_id="act_1",
    parse_retry_delay=meta.parse_retry_delay,
    notes=(
        "A daily budget may be overspent on one day, not over a week.",
        "At most 4 budget changes per ad set and hour.",
        "Figures follow the account's attribution setting; the last days are restated.",
    ),
    brief_catalogs={
        "platform.pageId": "pages",
        "platform.pixelId": "pixels",
        "creative.existingId": "creatives",
        "creative.imageHash": "images",
    },
    build_validation=meta.build_validation_request,
)
