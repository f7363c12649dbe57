"""X Ads API, version 12 (October 2022, the newest; 11 answers still). No sunset announced.

Sources: X's documentation repository (August 2026) and the official Python SDK, twitter-ads 11.

Three surprises. The account has no currency: it stands in the funding instrument. A promoted post is active from
birth and can never be paused: what stands above it holds it back. Parameters of writes stand in the query, where each
comma and colon counts in the OAuth 1.0a signature; only batches have a JSON body, and are all or nothing.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from decimal import Decimal
from types import NoneType
from typing import Literal

from adsunify.adapter.brief_checks import deny_political_ads, times_held
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Template,
    words,
)
from adsunify.errors import ProviderUnreadable, refused
from adsunify.http.messages import Request, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns, found_at

from .native import (
    ACTIVE,
    AUTO,
    BID,
    CODE,
    COUNTRIES,
    DAILY,
    DRAFT,
    EVERYWHERE,
    HOST,
    LINE_ITEM_BUDGET,
    LINK_CLICKS,
    LOCATION_TYPES,
    LOGIN_HOST,
    OPERATION_ERROR,
    PAUSED,
    PROMOTED_POSTS,
    STATUSES,
    VERSION,
    WEBSITE_CLICKS,
    call,
    error,
    items,
    job_states,
    locations,
    next_cursor,
    of_account,
    posts,
    unit,
    wait,
)
from .settings import EDITS, SETTINGS
from .targeting import one_batch, wrong_criteria

# -- levels -------------------------------------------------------------------------------------------------------

_STATES: Mapping[str, str] = {ACTIVE: "active", PAUSED: "paused", DRAFT: "paused"}
_SETTABLE: Mapping[str, str] = {"active": ACTIVE, "paused": PAUSED}

BASE36 = r"[0-9a-z]+"
CAMPAIGN = Level(
    "campaign",
    "campaign",
    "campaigns",
    "/id",
    "/name",
    "/entity_status",
    ids=BASE36,
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
    ids=BASE36,
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
    ids=BASE36,
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
            deny_political_ads(),
            *(Input(f"creative.{member}", "refused", reason=_INHERITED) for member in _CREATIVE),
        ),
        rules=(times_held("X"), one_batch),
        notes=(
            "The post must carry a website card or a link. It is promoted last, below a paused line item.",
            "Without targeting X serves all users worldwide; exact keywords act on search placement only.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Suffix = Literal["none", "optional", "required"]


def _page(cursor: str | None, limit: int, **query: str) -> dict[str, str]:
    return {"count": str(limit), **({"cursor": cursor} if cursor is not None else {}), **query}


def _owned(resource: str, id_: str, name: str, note: str = "") -> Catalog:
    """A list that the account has."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return of_account(account, path, **_page(cursor, limit))

    path = "promoted_tweets" if resource == "promoted_posts" else resource
    return Catalog(resource, request, "/data", id_, name, next_cursor, note=note)


def _options(
    resource: str, sought: str, *, paged: bool = True, required: bool = False, most: int = 1000, note: str = ""
) -> Catalog:
    """What can be targeted; the suffix is the parameter ``sought``. ``most``: the largest page."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        value = suffix if sought in ("q", "locale") else suffix.replace(" ", "_").upper()
        query = {sought: value} if suffix else {}
        return call(
            "GET", f"/targeting_criteria/{resource}", _page(cursor, min(limit, most), **query) if paged else query
        )

    form: Suffix = "required" if required else "optional"
    following = next_cursor if paged else None
    return Catalog(resource, request, "/data", "/targeting_value", "/name", following, form, note)


def _posts(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return posts(account, _page(cursor, limit, **({"user_id": suffix} if suffix else {})))


def _places(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    if not suffix:
        return locations(_page(cursor, limit, location_type=COUNTRIES))
    country, _, kind = suffix.replace(" ", "_").upper().partition("-")
    kind = kind or "REGIONS"
    if kind not in LOCATION_TYPES:
        raise refused("resource", "catalog_suffix", f"Places are asked for as US-<{'|'.join(LOCATION_TYPES)}>.")
    return locations(_page(cursor, limit, location_type=kind, country_code=country))


def _rules(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return call("GET", "/bidding_rules", {"currency": suffix.upper()})


def _placements(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return call("GET", "/line_items/placements", {"product_type": PROMOTED_POSTS})


def _combinations(response: Response) -> Sequence[Mapping[str, Json]]:
    """Placements that may stand together, one row each."""
    found = found_at(response.body, "/data/*/placements/*")
    joined = [",".join(map(str, one)) if isinstance(one, list) else one for one in found]
    return [{"placements": one} for one in joined if isinstance(one, str)]


def _job(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return job_states(account, suffix)


CATALOGS = (
    _owned("funding_instruments", "/id", "/description"),
    Catalog(
        "posts",
        _posts,
        "/data",
        "/tweet_id",
        "/full_text",
        next_cursor,
        "optional",
        "posts of the account's own user, or posts:<user id> of a promotable user",
    ),
    _owned("promotable_users", "/user_id", "/promotable_user_type"),
    Catalog(
        "geo_locations",
        _places,
        "/data",
        "/targeting_value",
        "/name",
        next_cursor,
        "optional",
        "countries; geo_locations:US its regions; geo_locations:US-CITIES (METROS, CITIES, POSTAL_CODES)",
    ),
    _options("interests", "q"),
    _options("languages", "q"),
    _options("platforms", "q", paged=False),
    _options("devices", "q", paged=False),
    _options("platform_versions", "q", paged=False),
    _options("conversations", "conversation_type", note="conversations:<conversation type>, such as SPORTS"),
    _options("network_operators", "q"),
    _options("app_store_categories", "q", paged=False),
    _options("events", "event_types", required=True, note="events:<event type>, such as SPORTS"),
    _options("tv_shows", "locale", required=True, most=50, note="tv_shows:<locale>, such as en-US"),
    _owned("custom_audiences", "/id", "/name", "only audiences that are targetable can be used"),
    _owned("promoted_posts", "/id", "/tweet_id"),
    Catalog(
        "bidding_rules", _rules, "/data", "/currency", "/currency", suffix="required", note="bidding_rules:<currency>"
    ),
    Catalog("placements", _placements, _combinations, "/placements", "/placements"),
    _owned("tracking_tags", "/id", "/tracking_tag_url"),
    Catalog("analytics_job", _job, "/data", "/id_str", "/status", suffix="required", note="analytics_job:<job id>"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

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


def _conversions(columns: Columns) -> list[Json]:
    """The sums of the conversions of all kinds. Raises ProviderUnreadable for what is no number."""
    sums: list[Json] = [None] * len(columns.rows)
    for name in CONVERSIONS:
        if columns.at(f"/{name}").count(None) < len(sums):
            counts = columns.at(f"/{name}/metric")
            if not set(map(type, counts)) <= {int, Decimal, NoneType}:
                raise ProviderUnreadable(f"X: the report says no number for {name}.")
            sums = [one if more is None else more + (one or 0) for one, more in zip(sums, counts, strict=True)]
    return sums


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
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Ads API, analytics ("x: 12 Insights"): a null series is a period without data; it stays null, though X's own pages
    # show 0. An account without campaigns has no series: reads.insights reports that nothing was delivered.
    missing_day="gap",
    geographies=("/criteria",),
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
