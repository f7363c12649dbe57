"""X Ads API, version 12 (October 2022, the newest; 11 answers still). No sunset announced.

Sources: X's documentation repository (August 2026) and the official Python SDK, twitter-ads 11.

Three surprises. The account has no currency: it stands in the funding instrument. A promoted post is active from
birth and can never be paused: what stands above it holds it back. Parameters of writes stand in the query, where each
comma and colon counts in the OAuth 1.0a signature; only batches have a JSON body, and are all or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from datetime import datetime

from adsunify.network import (
    Account,
    Entity,
    ErrorRule,
    Extra,
    Format,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Setting,
    Template,
    is_number,
    words,
)
from adsunify.steps import Kind
from adsunify.wire import Json

from .catalogs import CATALOGS
from .native import (
    ACTIVE,
    AUTO,
    BID,
    CAP_DAYS,
    CAPPED_OBJECTIVES,
    CODE,
    DAILY,
    DRAFT,
    EVERYWHERE,
    EXPANSIONS,
    GOALS,
    HOST,
    LINE_ITEM_BUDGET,
    LINK_CLICKS,
    LOGIN_HOST,
    NAME_LENGTH,
    OPERATION_ERROR,
    ORDER_NUMBER_LENGTH,
    PAUSED,
    PROMOTED_POSTS,
    STATUSES,
    STRATEGIES,
    TOTAL,
    VERSION,
    WEBSITE_CLICKS,
    error,
    items,
    native_time,
    unit,
    wait,
)
from .targeting import one_batch, wrong_criteria

# -- levels -------------------------------------------------------------------------------------------------------

_STATES: Mapping[str, str] = {ACTIVE: "active", PAUSED: "paused", DRAFT: "paused"}
_SETTABLE: Mapping[str, str] = {"active": ACTIVE, "paused": PAUSED}

CAMPAIGN = Level(
    "campaign",
    "campaign",
    "campaigns",
    "/id",
    "/name",
    "/entity_status",
    states=_STATES,
    settable=_SETTABLE,
    filters=STATUSES,
    born=PAUSED,
    shows={"bidding": ("/budget_optimization", "/standard_delivery", "/servable", "/reasons_not_servable")},
)
LINE_ITEM = Level(
    "adGroup",
    "line_item",
    "line_items",
    "/id",
    "/name",
    "/entity_status",
    parent="/campaign_id",
    parent_kind="campaign",
    states=_STATES,
    settable=_SETTABLE,
    filters=STATUSES,
    born=PAUSED,
    shows={
        "targeting": ("/targeting_criteria", "/placements"),
        "bidding": ("/objective", "/goal", "/bid_strategy", f"/{BID}", "/pay_by"),
    },
)
POST = Level(
    "ad",
    "promoted_tweet",
    "promoted_tweets",
    "/id",
    "",
    "/entity_status",
    parent="/line_item_id",
    parent_kind="adGroup",
    states=_STATES,
    filters=STATUSES,
    shows={"creative": ("/tweet_id", "/approval_status")},
    note=(
        "A promoted post is active as it is created, cannot be created paused, and has no settable status: the paused"
        " line item and campaign above it hold it back. It has no name."
    ),
)
LEVELS = (CAMPAIGN, LINE_ITEM, POST)


# -- formats ------------------------------------------------------------------------------------------------------

_BASE_36 = re.compile(r"[0-9a-z]{1,20}").fullmatch
_DECIMAL = re.compile(r"[0-9]{1,20}").fullmatch


def _no_instrument(value: Json) -> str | None:
    return None if _BASE_36(value) else "its ids are small letters and digits"


def _no_post(value: Json) -> str | None:
    return None if _DECIMAL(value) else "the id of a post is decimal digits"


_INHERITED = "the published post is the creative"
_CREATIVE = words("headline body url imageUrl imageHash headlines descriptions")

FORMATS = (
    Format(
        "existing_promoted_post",
        "existing promoted post",
        goals=("traffic",),
        periods=("daily", "lifetime"),
        bid={"traffic": "maximum cost per link click (MAX); without a bid X bids by itself (AUTO)"},
        inputs=(
            Input("bid", "optional"),
            Input("schedule.endAt", "required", periods=("lifetime",), accepts="a total budget is spread up to it"),
            Input("schedule.endAt", "optional", periods=("daily",)),
            Input(
                "creative.existingId",
                "required",
                test=_no_post,
                accepts="the id of a published post that the account may promote",
            ),
            Input(
                "platform.fundingInstrumentId",
                "required",
                test=_no_instrument,
                accepts="the id of a funding instrument; the catalog funding_instruments lists them",
            ),
            Input("targeting.countries", "optional", accepts="countries; their location ids are looked up"),
            Input("targeting.locationIds", "optional", accepts="ids from the catalog geo_locations"),
            Input("targeting.keywords", "optional"),
            Input(
                "targeting.native",
                "optional",
                test=wrong_criteria,
                accepts='{"criteria": [{"targeting_type", "targeting_value", "operator_type"}]}',
            ),
            *(Input(f"creative.{member}", "refused", reason=_INHERITED) for member in _CREATIVE),
        ),
        rules=(one_batch,),
        notes=(
            "The post must carry a website card or a link. It is promoted last, below a paused line item.",
            "Without targeting X serves all users worldwide; exact keywords act on search placement only.",
        ),
    ),
)


# -- settings -----------------------------------------------------------------------------------------------------


def _held(entity: Entity, name: str) -> bool:
    return entity.get(name) is not None


def _budget(entity: Entity) -> str:
    return f"/{DAILY}" if _held(entity, DAILY) or not _held(entity, TOTAL) else f"/{TOTAL}"


def _period(entity: Entity) -> Period | None:
    if not (_held(entity, DAILY) or _held(entity, TOTAL)):
        return None
    return "daily" if _held(entity, DAILY) else "lifetime"


def _without_budget(entity: Entity, now: datetime | None) -> str | None:
    return f"there is none here yet; set {DAILY} or {TOTAL}" if _period(entity) is None else None


def _is_budget(name: str) -> Callable[[Entity, datetime | None], str | None]:
    """The lock of an amount under its native name: an entity may have a daily budget and a total one beside it."""

    def lock(entity: Entity, now: datetime | None) -> str | None:
        return "it is the budget; edit that" if _held(entity, name) and _budget(entity) == f"/{name}" else None

    return lock


def _budgets(kind: Kind) -> tuple[Setting, ...]:
    return (
        Setting(kind, "budget", _budget, "money", period=_period, lock=_without_budget),
        *(Setting(kind, name, f"/{name}", "money", lock=_is_budget(name)) for name in (DAILY, TOTAL)),
    )


def _automatic(entity: Entity, now: datetime | None) -> str | None:
    return "X bids by itself (AUTO); set bidStrategy too" if entity.get("bid_strategy") == AUTO else None


def _uncapped(entity: Entity, now: datetime | None) -> str | None:
    if entity.get("objective") in CAPPED_OBJECTIVES:
        return None
    return f"only line items with the objectives {', '.join(CAPPED_OBJECTIVES)} have one"


def _write_start(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/start_time": native_time(value, "fields.startAt")}


def _write_end(value: Json, entity: Entity, account: Account) -> Mapping[str, Json]:
    return {"/end_time": None if value is None else native_time(value, "fields.endAt")}


_ABOVE = "it stands on the line items"
_FINAL = "fixed when it is made"
_FIXED_POST = "a post cannot be swapped or paused: delete it and promote another"

SETTINGS = (
    Setting("campaign", "name", "/name", longest=NAME_LENGTH),
    *_budgets("campaign"),
    Setting("campaign", "purchase_order_number", "/purchase_order_number", longest=ORDER_NUMBER_LENGTH),
    Setting("campaign", "entity_status", "/entity_status", "choice", choices=(ACTIVE, PAUSED)),
    Setting("campaign", "startAt", "/start_time", "instant", lock=_ABOVE),
    Setting("campaign", "endAt", "/end_time", "instant", lock=_ABOVE),
    Setting("campaign", "frequencyCap", "/frequency_cap", "number", lock=_ABOVE),
    Setting("campaign", "funding_instrument_id", "/funding_instrument_id", lock=_FINAL),
    Setting("campaign", "currency", "/currency", lock="it is the funding instrument's"),
    Setting("campaign", "budget_optimization", "/budget_optimization", lock="it has one value only"),
    Setting("adGroup", "name", "/name", longest=NAME_LENGTH),
    *_budgets("adGroup"),
    Setting("adGroup", "bidStrategy", "/bid_strategy", "choice", choices=STRATEGIES),
    Setting("adGroup", "bid", f"/{BID}", "money", lock=_automatic),
    Setting("adGroup", "startAt", "/start_time", "instant", write=_write_start),
    Setting("adGroup", "endAt", "/end_time", "instant", clears=True, write=_write_end),
    Setting("adGroup", "goal", "/goal", "choice", choices=GOALS),
    Setting(
        "adGroup",
        "audience_expansion",
        "/audience_expansion",
        "choice",
        choices=EXPANSIONS,
        note="X does not show the audience_expansion that is set.",
    ),
    Setting("adGroup", "frequencyCap", "/frequency_cap", "number", minimum="1", lock=_uncapped),
    Setting(
        "adGroup",
        "duration_in_days",
        "/duration_in_days",
        "choice",
        choices=CAP_DAYS,
        lock=_uncapped,
        note="duration_in_days: the days that frequencyCap counts in.",
    ),
    Setting("adGroup", "campaign_id", "/campaign_id", lock=_FINAL),
    Setting("adGroup", "objective", "/objective", lock=_FINAL),
    Setting("adGroup", "product_type", "/product_type", lock=_FINAL),
    Setting("adGroup", "placements", "/placements", lock=_FINAL),
    Setting("adGroup", "pay_by", "/pay_by", lock=_FINAL),
    Setting("ad", "tweet_id", "/tweet_id", lock=_FIXED_POST),
    Setting("ad", "entity_status", "/entity_status", lock=_FIXED_POST),
    Setting("ad", "line_item_id", "/line_item_id", lock=_FIXED_POST),
)


# -- templates, metrics and errors ---------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Campaign with a daily budget",
        {
            "funding_instrument_id": "k9x2",
            "name": "Winter sale",
            "entity_status": PAUSED,
            "budget_optimization": LINE_ITEM_BUDGET,
            DAILY: 42_500_000,
        },
        note="Amounts are micros of the funding instrument's currency.",
    ),
    Template(
        "adGroup",
        "Line item for website clicks",
        {
            "campaign_id": "8wku2",
            "name": "Winter sale",
            "entity_status": PAUSED,
            "objective": WEBSITE_CLICKS,
            "goal": LINK_CLICKS,
            "product_type": PROMOTED_POSTS,
            "placements": [EVERYWHERE],
            "bid_strategy": AUTO,
            "start_time": "2030-01-15T09:00:00Z",
        },
    ),
    Template("ad", "Promoted post", {"line_item_id": "9cqz1", "tweet_ids": ["1166476031668015104"]}, note=POST.note),
)


CONVERSIONS = words(
    "conversion_purchases conversion_sign_ups conversion_site_visits conversion_downloads conversion_custom"
)


def _conversions(row: Mapping[str, Json]) -> Json:
    """The sum of the conversions of all kinds; what is no number is left to be refused."""
    total: Json = None
    for name in CONVERSIONS:
        told = row.get(name)
        count = told.get("metric") if isinstance(told, dict) else None
        if count is None:
            continue
        if type(count) is not int and not is_number(count):
            return count
        total = count if total is None else total + count
    return total


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="All clicks; link clicks stand in the native rows as url_clicks."),
    Metric(
        "spend",
        "/billed_charge_local_micro",
        "micros",
        note="Spend is an estimate for 3 days and may change for 14. Campaigns paid in another currency are left out.",
    ),
    Metric("conversions", f"/{CONVERSIONS[0]}/metric", "count", _conversions, note="Web conversions of five kinds."),
    Metric("videoViews", "/video_total_views", "count"),
)

ERRORS = (
    ErrorRule(
        "rejected",
        "permission",
        "the app is not approved for the Ads API",
        words("UNAUTHORIZED_CLIENT_APPLICATION READONLY_CLIENT_APPLICATION"),
    ),
    ErrorRule(
        "rejected",
        "permission",
        "the user may not do this in the account",
        words(
            "ACTION_NOT_ALLOWED ACCOUNT_NOT_FOUND ACCOUNT_LOCKED_OUT CURRENT_USER_SUSPENDED"
            " FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED"
        ),
    ),
    ErrorRule(
        "rejected", "limit", "the account holds as many as it may", words("TOO_MANY_CAMPAIGNS TOO_MANY_LINE_ITEMS")
    ),
    ErrorRule(
        "rejected",
        "not_found",
        "what the request names is not there",
        words(
            "NOT_FOUND CAMPAIGN_NOT_FOUND LINE_ITEM_NOT_FOUND TWEET_NOT_FOUND PROMOTED_TWEET_NOT_FOUND"
            " FUNDING_INSTRUMENT_NOT_FOUND TARGETING_CRITERION_NOT_FOUND"
        ),
    ),
    # A batch is all or nothing, also where it is answered as a success.
    ErrorRule("rejected", "input", "an operation of the batch was refused, and with it all", (OPERATION_ERROR,)),
    ErrorRule("throttled", "limit", "the entity is locked by another change", status=423),
)


NETWORK = Network(
    code=CODE,
    title="X Ads",
    version=VERSION,
    hosts=(HOST, LOGIN_HOST),
    login=Login(
        "oauth1", note="The app itself needs access to the Ads API; tokens from before that are to be renewed."
    ),
    unit=unit,
    error=error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    money="Native amounts are micros of the funding instrument's currency: 1,000,000 make one unit.",
    reports=True,
    templates=TEMPLATES,
    extras=(Extra("timezoneSwitchAt", "when the account changed its time zone; that day has a gap", settable=False),),
    wait=wait,
    items=items,
    notes=(
        "The account has no currency: it is that of the first funding instrument that is able to fund.",
        "Reach is reported for a whole period only, so that days have none. Conversion values are in the native rows.",
        "Deleting is permanent. Posts are reviewed after they were promoted.",
    ),
)
