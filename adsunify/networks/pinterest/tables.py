"""Pinterest REST API v5 (description 5.28): what the API has and what the adapter uses, as tables.

Releases are additive. There are no dated versions and no sunset; fields are deprecated one by one.

Three surprises. Traffic and awareness are campaign-budget objectives: the campaign holds budget and schedule, the ad
group holds bid and targeting. Writes take arrays and answer 200 even where items fail, and keyword results have no
positions. A new pin is published at once: it is the only part of a plan that is visible before the activation.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import partial
from typing import Literal

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import Format, Goal, Input, Period, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import Catalog, ErrorRule, Extra, Level, Network, PayloadRules, Template, project_sunset
from adsunify.errors import Issue, ProviderNotFound
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import find_web_url_error
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects

from . import native as pinterest
from .settings import EDITS, SETTINGS
from .targeting import EDITABLE_TARGETING, find_keywords_error, find_locations_error, find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

UNIFIED_STATUSES: Mapping[str, str] = {
    pinterest.ACTIVE: "active",
    pinterest.PAUSED: "paused",
    pinterest.ARCHIVED: "archived",
    pinterest.DRAFT: "paused",
    pinterest.DELETED_DRAFT: "deleted",
}
_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    unified_statuses=UNIFIED_STATUSES,
    writable_statuses={"active": pinterest.ACTIVE, "paused": pinterest.PAUSED},
    status_filters=pinterest.STATUSES,
    initial_status=pinterest.PAUSED,
    created="/created_time",
    hidden_statuses=tuple(status for status in pinterest.STATUSES if status not in pinterest.LIVE_STATUSES),
    # Only drafts can be deleted.
    # unverified: an archived entity cannot be restored or changed.
    deletion_statuses={"": pinterest.ARCHIVED, pinterest.DRAFT: pinterest.DELETED_DRAFT},
    accepted_actions={pinterest.ARCHIVED: ()},
    payload=PayloadRules(
        neutral=pinterest.NEUTRAL_MEMBERS,
        bidding={"bid_strategy_type": (pinterest.MAX_BID,)},
        create_statuses=pinterest.CREATE_STATUSES,
        update_statuses=pinterest.STATUSES,
    ),
)
CAMPAIGN = _level(
    "campaign",
    "campaign",
    "campaigns",
    settings_context={"bidding": ("/objective_type", "/is_campaign_budget_optimization", "/is_flexible_daily_budgets")},
    note="Holds budget and schedule.",
)
AD_GROUP = _level(
    "adGroup",
    "ad group",
    "ad_groups",
    parent="/campaign_id",
    parent_kind="campaign",
    settings_context={
        "targeting": ("/targeting_spec", "/auto_targeting_enabled", "/placement_group"),
        "bidding": ("/bid_strategy_type", "/bid_in_micro_currency", "/billable_event", "/budget_type"),
    },
    note=f"Holds bid and targeting. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD = _level(
    "ad",
    "ad",
    "ads",
    parent="/ad_group_id",
    parent_kind="adGroup",
    review_status="/review_status",
    disapproved_statuses=("REJECTED",),
    settings_context={
        "creative": ("/pin_id", "/creative_type", "/destination_url", "/review_status", "/rejected_reasons")
    },
    note="It promotes a pin, which holds image and texts.",
)
KEYWORD = Level(
    "keyword",
    "keyword",
    "keywords",
    "/id",
    "/value",
    "",
    parent="/parent_id",
    parent_kind="adGroup",
    catalog="keywords",
    note="It has no paused state: it serves as soon as its ad group does.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD, KEYWORD)


# -- formats ------------------------------------------------------------------------------------------------------


@frozen
class NativeObjective:
    """The native members of a goal."""

    objective: str
    billable_event: str


OBJECTIVES: Mapping[str, NativeObjective] = {
    "traffic": NativeObjective("CONSIDERATION", "CLICKTHROUGH"),
    "awareness": NativeObjective("AWARENESS", pinterest.IMPRESSION),
}
GOALS: tuple[Goal, ...] = ("traffic", "awareness")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
BID_MEANINGS: Mapping[Goal, str] = {
    "traffic": "the most that one Pin click may cost",
    "awareness": "the most that 1,000 impressions may cost",
}


def _find_digits_error(value: str) -> str | None:
    return None if pinterest.match_digits(value) else "its ids are digits"


def _length_test(longest: int) -> Callable[[str], str | None]:
    return lambda value: None if len(value) <= longest else f"the text has {len(value)} characters"


def _find_link_error(address: str) -> str | None:
    return find_web_url_error(address) or _length_test(pinterest.MAX_URL_LENGTH)(address)


def _check_account_writable(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    yield from pinterest.check_account_writable(account)


COMMON_INPUTS = (
    Input("targeting.countries", "any", "countries, locationIds or native targeting", group="geography"),
    Input(
        "targeting.locationIds", "any", "ids of locations and geo", group="geography", find_error=find_locations_error
    ),
    Input(
        "targeting.native",
        "any",
        "Pinterest's own targeting_spec",
        group="geography",
        find_error=find_native_targeting_error,
    ),
    Input("targeting.keywords", "optional", "up to 50 different keywords", find_error=find_keywords_error),
    Input("schedule.endAt", "required", "a lifetime budget is spent up to its end", periods=("lifetime",)),
    Input("schedule.endAt", "optional"),
    Input("bid", "optional", "; ".join(f"{goal}: {meaning}" for goal, meaning in BID_MEANINGS.items())),
    deny_political_ads(),
    Input("creative.imageHash", "refused", reason="a pin's image is given by its address, as imageUrl"),
    Input("creative.headlines", "refused", reason="a pin has one title, the headline"),
    Input("creative.descriptions", "refused", reason="a pin has one description, the body"),
)
find_title_error, find_description_error = (
    _length_test(pinterest.MAX_TITLE_LENGTH),
    _length_test(pinterest.MAX_DESCRIPTION_LENGTH),
)
NEW_CREATIVE_INPUTS = (
    Input("platform.boardId", "required", "an id of the catalog boards", find_error=_find_digits_error),
    Input("creative.imageUrl", "required", "a public address, which Pinterest fetches", find_error=find_web_url_error),
    Input(
        "creative.headline",
        "any",
        f"at most {pinterest.MAX_TITLE_LENGTH} characters",
        group="copy",
        find_error=find_title_error,
    ),
    Input(
        "creative.body",
        "any",
        f"at most {pinterest.MAX_DESCRIPTION_LENGTH}",
        group="copy",
        find_error=find_description_error,
    ),
    Input(
        "creative.url",
        "required",
        f"at most {pinterest.MAX_URL_LENGTH} characters",
        goals=("traffic",),
        find_error=_find_link_error,
    ),
    Input("creative.url", "optional", f"at most {pinterest.MAX_URL_LENGTH} characters", find_error=_find_link_error),
)
EXISTING_CREATIVE_INPUTS = (
    Input("creative.existingId", "required", "an id of the catalog pins", find_error=_find_digits_error),
    Input("platform.boardId", "refused", reason="the existing pin is on a board already"),
    *refused_inputs("creative", "headline body url imageUrl", "the existing pin brings its own"),
)
FORMAT_RULES = (_check_account_writable,)
NOTES = ("Budget days are days in UTC.",)
NEW_PIN_NOTES = (*NOTES, "The pin is published on its board at once; an ad-only board keeps it off the profile.")


def _has_pin(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" in members


def _has_no_creative(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" not in members


FORMATS = (
    Format(
        "image_pin",
        "Image pin",
        GOALS,
        PERIODS,
        (*NEW_CREATIVE_INPUTS, *COMMON_INPUTS),
        BID_MEANINGS,
        _has_no_creative,
        FORMAT_RULES,
        NEW_PIN_NOTES,
    ),
    Format(
        "existing_pin",
        "Existing pin",
        GOALS,
        PERIODS,
        (*EXISTING_CREATIVE_INPUTS, *COMMON_INPUTS),
        BID_MEANINGS,
        _has_pin,
        FORMAT_RULES,
        NOTES,
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

CatalogRequestBuilder = Callable[[Account, str, str | None, int], Request]


def _require_digits(text: str) -> str:
    if not pinterest.match_digits(text):
        raise ProviderNotFound("Pinterest's ids are digits: it has nothing of this name.")
    return text


def _pins_request_builder(url: str) -> CatalogRequestBuilder:
    """Build the request of a page of pins. The suffix of the resource replaces ``{board}`` in the path."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        path = {"board": _require_digits(suffix)} if suffix else {}
        return pinterest.build_organic_get_request(account, url, path, *pinterest.build_page_pairs(limit, cursor))

    return request


def _build_boards_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    query = (("privacy", "ALL"), *pinterest.build_page_pairs(pinterest.PAGE_SIZE, cursor))
    return pinterest.build_organic_get_request(account, "/boards", {}, *query)


def _account_request_builder(path: str, *more: tuple[str, str]) -> CatalogRequestBuilder:
    """Build the request of a page of a list of the ad account."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return pinterest.build_account_pairs_request(account, path, *more, *pinterest.build_page_pairs(limit, cursor))

    return request


def _build_keywords_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return pinterest.build_account_pairs_request(
        account, KEYWORD.path, ("ad_group_id", _require_digits(suffix)), *pinterest.build_page_pairs(limit, cursor)
    )


def _build_tags_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return pinterest.build_account_pairs_request(account, "conversion_tags")


def _build_countries_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return pinterest.build_countries_request()


def _options_catalog(kind: str) -> Catalog:
    """Build a catalog of the targeting options of one kind; it has no pages."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        if pinterest.match_digits(suffix):
            return pinterest.build_pairs_request("/resources/targeting/interests/{interest}", {"interest": suffix})
        return pinterest.build_pairs_request("/resources/targeting/{kind}", {"kind": kind})

    resource, suffix = TARGETING_CATALOGS[kind]
    note = f"{resource}:<id> for one of them" if suffix == "optional" else ""
    return Catalog(resource, request, _parse_pairs, "/id", "/name", suffix=suffix, note=note)


def _parse_pairs(response: Response) -> list[Mapping[str, Json]]:
    """Return rows of ID and name from a list of objects ``{ID: name}``, or the one interest that an ID requested."""
    if isinstance(response.body, Mapping) and "id" in response.body:
        return [response.body]
    maps = get_objects(response.body, "", "list of targeting options")
    return [{"id": key, "name": name} for option_map in maps for key, name in option_map.items()]


INTERESTS_CATALOG = "interests"
TARGETING_CATALOGS: Mapping[str, tuple[str, Literal["none", "optional"]]] = {
    "LOCATION": ("locations", "none"),
    "GEO": ("geo", "none"),
    "INTEREST": (INTERESTS_CATALOG, "optional"),
    "LOCALE": ("locales", "none"),
    "AGE_BUCKET": ("age_buckets", "none"),
    "GENDER": ("genders", "none"),
    "APPTYPE": ("app_types", "none"),
}
"""Targeting type -> its catalog."""


def _account_catalog(resource: str, request: CatalogRequestBuilder, name: str = "/name", suffix: str = "") -> Catalog:
    note = f"{resource}:<{suffix}>" if suffix else ""
    need: Literal["none", "required"] = "required" if suffix else "none"
    return Catalog(resource, request, pinterest.parse_rows, "/id", name, pinterest.parse_next_cursor, need, note)


CATALOGS = (
    _account_catalog("boards", _build_boards_request),
    _account_catalog("board_pins", _pins_request_builder("/boards/{board}/pins"), "/title", "board id"),
    _account_catalog("pins", _pins_request_builder("/pins"), "/title"),
    *map(_options_catalog, TARGETING_CATALOGS),
    Catalog("countries", _build_countries_request, pinterest.parse_rows, "/code", "/name"),
    _account_catalog("audiences", _account_request_builder("audiences")),
    Catalog("conversion_tags", _build_tags_request, pinterest.parse_rows, "/id", "/name"),
    *(
        _account_catalog(
            level.path, _account_request_builder(level.path, *pinterest.build_status_filter(*pinterest.LIVE_STATUSES))
        )
        for level in (CAMPAIGN, AD_GROUP, AD)
    ),
    _account_catalog("keywords", _build_keywords_request, "/value", "ad group id"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Traffic, 25.00 a day",
        {
            "name": "Autumn kit",
            "objective_type": OBJECTIVES["traffic"].objective,
            "status": pinterest.PAUSED,
            "is_campaign_budget_optimization": True,
            "is_flexible_daily_budgets": False,
            pinterest.SPEND_CAP_MEMBERS["daily"]: 25_000_000,
            "start_time": 1_893_456_000,
        },
    ),
    Template(
        "adGroup",
        "Pin clicks, at most 0.85 each",
        {
            "campaign_id": "626735565838",
            "name": "Autumn kit",
            "status": pinterest.PAUSED,
            "billable_event": OBJECTIVES["traffic"].billable_event,
            "bid_strategy_type": pinterest.MAX_BID,
            "bid_in_micro_currency": 850_000,
            "budget_type": pinterest.CAMPAIGN_BUDGET_TYPE,
            "pacing_delivery_type": pinterest.STANDARD_PACING,
            "placement_group": pinterest.ALL_PLACEMENTS,
            "auto_targeting_enabled": False,
            "targeting_spec": {"LOCATION": ["US"]},
        },
    ),
    Template(
        "ad",
        "An existing pin",
        {
            "ad_group_id": "2680060704746",
            "pin_id": "394205773611545468",
            "creative_type": pinterest.REGULAR,
            "name": "Autumn kit",
            "status": pinterest.PAUSED,
        },
    ),
)

METRICS = (
    Metric("impressions", "/TOTAL_IMPRESSION", "count", note="Paid and earned."),
    Metric("clicks", "/TOTAL_CLICKTHROUGH", "count", note="Pin clicks, not only those that leave Pinterest."),
    Metric("spend", "/SPEND_IN_MICRO_DOLLAR", "micros", note="Of the account's currency, despite the name."),
    Metric("conversions", "/TOTAL_CONVERSIONS", "decimal", note="Within 30 days of a click, 1 of a view."),
    Metric("conversionValue", "/TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR", "micros", note="Of checkouts."),
    Metric("videoViews", "/TOTAL_VIDEO_MRC_VIEWS", "count", note="2 seconds with half of the video in view."),
    Metric("reach", "/TOTAL_IMPRESSION_USER", "count", note="Of one day; days do not add up."),
)

REPORT_SOURCE = "API v5, analytics of campaigns, ad groups and ads, and reports (read 2026-11-23)"
# unverified: the figures of all campaigns or ad groups add up to those of the account.
REPORT_LEVELS = (
    ReportLevel("campaign", "CAMPAIGN", "/CAMPAIGN_ID", "/CAMPAIGN_NAME", source=REPORT_SOURCE),
    ReportLevel("adGroup", "AD_GROUP", "/AD_GROUP_ID", "/AD_GROUP_NAME", "/CAMPAIGN_ID", source=REPORT_SOURCE),
    ReportLevel(
        *("ad", "PIN_PROMOTION", "/AD_ID", "/AD_NAME", "/AD_GROUP_ID"),
        adds_up=False,
        note="Ads may add up to less than their ad group, because some have figures as part of the ad group only.",
        source=f"{REPORT_SOURCE}; github.com/fivetran/dbt_pinterest, DECISIONLOG",
    ),
)

ERRORS = (
    ErrorRule(
        "rejected", "input", "an item that has an exception and no data was not written", (pinterest.ITEM_ERROR,)
    ),
    ErrorRule("throttled", "limit", "the message names the seconds to wait", (pinterest.RETRY_LATER,), 400),
    ErrorRule("rejected", "input", "the request is not valid", status=400),
    ErrorRule("rejected", "token", "the token is expired, revoked or invalid", status=401),
    ErrorRule("rejected", "permission", "the token, its scope or the role in the account do not permit it", status=403),
    ErrorRule("rejected", "not_found", "no such thing, or not visible to the token", status=404),
    ErrorRule("rejected", "input", "it conflicts with what is there, such as a board in somebody's use", status=409),
    ErrorRule("throttled", "limit", "too many calls, or several writes to one object in a short time", status=429),
)


def _join_permissions(account: Mapping[str, Json]) -> str | None:
    permissions = account.get("permissions")
    return ",".join(map(str, permissions)) if isinstance(permissions, list) else None


NETWORK = Network(
    code=pinterest.CODE,
    title="Pinterest",
    version=pinterest.VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(pinterest.HOST, pinterest.CONSENT_HOST),
    login=pinterest.LOGIN,
    time=pinterest.TIME,
    get_money_unit=pinterest.get_money_unit,
    parse_error=pinterest.parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # API v5, "Ads reporting": a day without a row had no delivery. We report null or a gap in the coverage, not 0.
    missing_day="gap",
    geographies=("/LOCATION", "/GEO"),
    # API v5, reports: they reach 914 days back, counted in UTC.
    history=History(days=914, timezone=pinterest.UTC_TIMEZONE),
    money_note="Native amounts are integers in micros (1,000,000 to one major unit) of every currency, yen included.",
    has_report_jobs=True,
    templates=TEMPLATES,
    extras=(
        Extra(
            "permissions",
            f"What the user may do here; {', '.join(pinterest.WRITE_PERMISSIONS)} may write.",
            label="Permissions here",
            form="words",
            native=_join_permissions,
        ),
        Extra("country", "The account's country.", label="Country", native="/country"),
        Extra("owner", "The user name of the account's owner.", label="Owner", native="/owner/username"),
        Extra(
            "createdTime",
            "When the account was made, in seconds since 1970.",
            label="Opened",
            form="seconds",
            native="/created_time",
        ),
    ),
    parse_retry_delay=pinterest.parse_retry_delay,
    parse_item_results=pinterest.parse_item_results,
    notes=(
        "Deleting archives, which is final; drafts are deleted.",
        "Budget days are days in UTC. With trial access, pins and boards made are visible only to their creator.",
    ),
    brief_catalogs={"platform.boardId": "boards", "creative.existingId": "pins"},
)
