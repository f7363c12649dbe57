"""X Ads API, version 12 (2022-10-27, the newest): what the API has and what the adapter uses, as tables.

Version 11 still answers. No sunset is announced.

Three surprises. The account has no currency: its funding instruments have one. A promoted post is active from its
creation and can never be paused: only its line item or campaign can stop it. Write parameters are in the query, where
each comma and colon counts in the OAuth 1.0a signature. Only batches have a JSON body, and X applies a batch as a
whole or not at all.

Sources: see ``native``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import partial
from types import NoneType
from typing import Literal

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Input, refused_inputs
from adsunify.adapter.metrics import Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Login,
    Network,
    PayloadRules,
    Template,
    project_sunset,
    split_words,
)
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns, find_values

from .native import (
    ACTIVE,
    ALL_PLACEMENTS,
    AUTO_BID,
    BID_MEMBER,
    CAMPAIGN_MEMBERS,
    CODE,
    COUNTRIES,
    DAILY_BUDGET_MEMBER,
    DELETED,
    DRAFT,
    HOST,
    LINE_ITEM_BUDGET,
    LINE_ITEM_MEMBERS,
    LINK_CLICKS,
    LOCATION_TYPES,
    LOGIN_HOST,
    MAX_BID,
    NEUTRAL_MEMBERS,
    OPERATION_ERROR,
    PAUSED,
    PROMOTED_POSTS,
    STATUSES,
    TARGET_BID,
    TIME,
    VERSION,
    WEBSITE_CLICKS,
    build_account_get_request,
    build_job_states_request,
    build_locations_request,
    build_posts_request,
    build_request,
    get_money_unit,
    parse_error,
    parse_item_results,
    parse_next_cursor,
    parse_retry_delay,
)
from .settings import EDITS, SETTINGS
from .targeting import check_batch_size, find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

_UNIFIED_STATUSES: Mapping[str, str] = {ACTIVE: "active", PAUSED: "paused", DRAFT: "paused"}
_WRITABLE_STATUSES: Mapping[str, str] = {"active": ACTIVE, "paused": PAUSED}

_level = partial(
    Level,
    id="/id",
    status="/entity_status",
    id_pattern=r"[0-9a-z]+",
    unified_statuses=_UNIFIED_STATUSES,
    status_filters=STATUSES,
    created="/created_at",
    hidden_statuses=(DRAFT, DELETED),
)


def _query_rules(create: str, update: str) -> PayloadRules:
    return PayloadRules(
        create=split_words(f"{create} {update}"),
        update=split_words(update),
        neutral=NEUTRAL_MEMBERS,
        bidding={"bid_strategy": (MAX_BID, TARGET_BID), "pay_by": ()},
        create_statuses=STATUSES,
    )


CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    name="/name",
    writable_statuses=_WRITABLE_STATUSES,
    initial_status=PAUSED,
    payload=_query_rules("funding_instrument_id", CAMPAIGN_MEMBERS),
    settings_context={"bidding": ("/budget_optimization", "/standard_delivery", "/servable", "/reasons_not_servable")},
)
LINE_ITEM = _level(
    *("adGroup", "line_item", "line_items"),
    name="/name",
    label="line item",
    parent="/campaign_id",
    parent_kind="campaign",
    writable_statuses=_WRITABLE_STATUSES,
    initial_status=PAUSED,
    payload=_query_rules(
        "campaign_id objective placements product_type primary_web_event_tag standard_delivery", LINE_ITEM_MEMBERS
    ),
    settings_context={
        "targeting": ("/targeting_criteria", "/placements"),
        "bidding": ("/objective", "/goal", "/bid_strategy", f"/{BID_MEMBER}", "/pay_by"),
    },
)
PROMOTED_POST = _level(
    *("ad", "promoted_tweet", "promoted_tweets"),
    name="",
    label="promoted post",
    parent="/line_item_id",
    parent_kind="adGroup",
    hidden_statuses=(DELETED,),
    payload=_query_rules("line_item_id tweet_ids", ""),
    settings_context={"creative": ("/tweet_id", "/approval_status")},
    note=(
        "A promoted post is active as it is created, cannot be created paused, and has no settable status: the paused"
        " line item and campaign above it hold it back. It has no name."
    ),
)
LEVELS = (CAMPAIGN, LINE_ITEM, PROMOTED_POST)


# -- formats ------------------------------------------------------------------------------------------------------

_match_base36 = re.compile(r"[0-9a-z]{1,20}").fullmatch
_match_decimal = re.compile(r"[0-9]{1,20}").fullmatch


def _find_instrument_id_error(value: Json) -> str | None:
    return None if _match_base36(value) else "its ids are small letters and digits"


def _find_post_id_error(value: Json) -> str | None:
    return None if _match_decimal(value) else "the id of a post is decimal digits"


FORMATS = (
    Format(
        "existing_promoted_post",
        "Existing promoted post",
        goals=("traffic",),
        periods=("daily", "lifetime"),
        bid_meanings={"traffic": "maximum cost per link click (MAX); without a bid X bids by itself (AUTO)"},
        inputs=(
            Input("bid", "optional"),
            Input("schedule.endAt", "required", "a total budget is spread up to it", periods=("lifetime",)),
            Input("schedule.endAt", "optional", periods=("daily",)),
            Input(
                "creative.existingId",
                "required",
                "the id of a published post that the account may promote",
                find_error=_find_post_id_error,
            ),
            Input(
                "platform.fundingInstrumentId",
                "required",
                "the id of a funding instrument; the catalog funding_instruments lists them",
                find_error=_find_instrument_id_error,
            ),
            Input("targeting.countries", "optional", "countries; their location ids are looked up"),
            Input("targeting.locationIds", "optional", "ids from the catalog geo_locations"),
            Input("targeting.keywords", "optional"),
            Input(
                "targeting.native",
                "optional",
                '{"criteria": [{"targeting_type", "targeting_value", "operator_type"}]}',
                find_error=find_native_targeting_error,
            ),
            deny_political_ads(),
            *refused_inputs("creative", CONTENT_MEMBERS, "the published post is the creative"),
        ),
        rules=(check_batch_size,),
        notes=(
            "The post must carry a website card or a link. It is promoted last, below a paused line item.",
            "Without targeting X serves all users worldwide; exact keywords act on search placement only.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

CatalogSuffix = Literal["none", "optional", "required"]


def _build_page_query(cursor: str | None, limit: int, **query: str) -> dict[str, str]:
    return {"count": str(limit), **({"cursor": cursor} if cursor is not None else {}), **query}


def _resource_catalog(resource: str, id_: str, name: str, note: str = "") -> Catalog:
    """Build a catalog of objects that belong to the account."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        return build_account_get_request(account, path, **_build_page_query(cursor, limit))

    path = "promoted_tweets" if resource == "promoted_posts" else resource
    return Catalog(resource, request, "/data", id_, name, parse_next_cursor, note=note)


def _targeting_catalog(
    resource: str, parameter: str, *, paged: bool = True, required: bool = False, most: int = 1000, note: str = ""
) -> Catalog:
    """Build a catalog of targeting options.

    ``parameter``: the name of the parameter for the suffix. ``most``: the largest page.
    """

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        value = suffix if parameter in ("q", "locale") else suffix.replace(" ", "_").upper()
        query = {parameter: value} if suffix else {}
        return build_request(
            "GET",
            f"/targeting_criteria/{resource}",
            _build_page_query(cursor, min(limit, most), **query) if paged else query,
        )

    form: CatalogSuffix = "required" if required else "optional"
    following = parse_next_cursor if paged else None
    return Catalog(resource, request, "/data", "/targeting_value", "/name", following, form, note)


def _build_posts_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_posts_request(account, _build_page_query(cursor, limit, **({"user_id": suffix} if suffix else {})))


def _build_criteria_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    if not suffix:
        return build_locations_request(_build_page_query(cursor, limit, location_type=COUNTRIES))
    country, _, kind = suffix.replace(" ", "_").upper().partition("-")
    kind = kind or "REGIONS"
    if kind not in LOCATION_TYPES:
        raise invalid_input("resource", "catalog_suffix", f"Places are asked for as US-<{'|'.join(LOCATION_TYPES)}>.")
    return build_locations_request(_build_page_query(cursor, limit, location_type=kind, country_code=country))


def _build_bidding_rules_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_request("GET", "/bidding_rules", {"currency": suffix.upper()})


def _build_placements_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_request("GET", "/line_items/placements", {"product_type": PROMOTED_POSTS})


def _parse_combinations(response: Response) -> Sequence[Mapping[str, Json]]:
    """Return one row for each allowed combination of placements."""
    placements = find_values(response.body, "/data/*/placements/*")
    joined = [
        ",".join(map(str, combination)) if isinstance(combination, list) else combination for combination in placements
    ]
    return [{"placements": text} for text in joined if isinstance(text, str)]


def _build_job_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_job_states_request(account, suffix)


CATALOGS = (
    _resource_catalog("funding_instruments", "/id", "/description"),
    Catalog(
        "posts",
        _build_posts_request,
        "/data",
        "/tweet_id",
        "/full_text",
        parse_next_cursor,
        "optional",
        "posts of the account's own user, or posts:<user id> of a promotable user",
    ),
    _resource_catalog("promotable_users", "/user_id", "/promotable_user_type"),
    Catalog(
        "geo_locations",
        _build_criteria_request,
        "/data",
        "/targeting_value",
        "/name",
        parse_next_cursor,
        "optional",
        "countries; geo_locations:US its regions; geo_locations:US-CITIES (METROS, CITIES, POSTAL_CODES)",
    ),
    _targeting_catalog("interests", "q"),
    _targeting_catalog("languages", "q"),
    _targeting_catalog("platforms", "q", paged=False),
    _targeting_catalog("devices", "q", paged=False),
    _targeting_catalog("platform_versions", "q", paged=False),
    _targeting_catalog("conversations", "conversation_type", note="conversations:<conversation type>, such as SPORTS"),
    _targeting_catalog("network_operators", "q"),
    _targeting_catalog("app_store_categories", "q", paged=False),
    _targeting_catalog("events", "event_types", required=True, note="events:<event type>, such as SPORTS"),
    _targeting_catalog("tv_shows", "locale", required=True, most=50, note="tv_shows:<locale>, such as en-US"),
    _resource_catalog("custom_audiences", "/id", "/name", "only audiences that are targetable can be used"),
    _resource_catalog("promoted_posts", "/id", "/tweet_id"),
    Catalog(
        "bidding_rules",
        _build_bidding_rules_request,
        "/data",
        "/currency",
        "/currency",
        suffix="required",
        note="bidding_rules:<currency>",
    ),
    Catalog("placements", _build_placements_request, _parse_combinations, "/placements", "/placements"),
    _resource_catalog("tracking_tags", "/id", "/tracking_tag_url"),
    Catalog(
        "analytics_job",
        _build_job_request,
        "/data",
        "/id_str",
        "/status",
        suffix="required",
        note="analytics_job:<job id>",
    ),
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
            DAILY_BUDGET_MEMBER: 42_500_000,
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
            "placements": [ALL_PLACEMENTS],
            "bid_strategy": AUTO_BID,
            "start_time": "2030-01-15T09:00:00Z",
        },
    ),
    Template(
        "ad", "Promoted post", {"line_item_id": "9cqz1", "tweet_ids": ["1166476031668015104"]}, note=PROMOTED_POST.note
    ),
)
CONVERSION_COLUMNS = split_words(
    "conversion_purchases conversion_sign_ups conversion_site_visits conversion_downloads conversion_custom"
)


def _read_conversions(columns: Columns) -> list[Json]:
    """Return the sums of the conversions of all kinds. Raises ProviderUnreadable for text that is no number."""
    sums: list[Json] = [None] * len(columns.rows)
    for name in CONVERSION_COLUMNS:
        if columns.get_column(f"/{name}").count(None) < len(sums):
            counts = columns.get_column(f"/{name}/metric")
            if not set(map(type, counts)) <= {int, Decimal, NoneType}:
                raise ProviderUnreadable(f"X: the report says no number for {name}.")
            sums = [total if count is None else count + (total or 0) for total, count in zip(sums, counts, strict=True)]
    return sums


METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count", note="All clicks; the native rows have link clicks as url_clicks."),
    Metric(
        "spend",
        "/billed_charge_local_micro",
        "micros",
        note="Spend is an estimate for 3 days and may change for 14. Campaigns paid in another currency are left out.",
    ),
    Metric(
        "conversions",
        f"/{CONVERSION_COLUMNS[0]}/metric",
        "count",
        _read_conversions,
        note="Web conversions of five kinds.",
    ),
    Metric("videoViews", "/video_total_views", "count"),
)
_report_level = partial(ReportLevel, source="X Ads API 12, Analytics (2026-08-22, read 2026-11-23)")
# Names and parents come from the list of the level, which has deleted entities, too.
REPORT_LEVELS = (
    _report_level("campaign", "CAMPAIGN", "/campaign_id", "/name"),
    _report_level("adGroup", "LINE_ITEM", "/line_item_id", "/name", LINE_ITEM.parent),
    _report_level(
        *("ad", "PROMOTED_TWEET", "/promoted_tweet_id", None, PROMOTED_POST.parent),
        adds_up=False,
        # unverified: the figures of media creatives and promoted accounts are in no promoted post.
        note="A line item may have media creatives and promoted accounts, whose figures belong to no promoted post.",
    ),
)
ERRORS = (
    ErrorRule(
        "rejected",
        "permission",
        "the app is not approved for the Ads API",
        split_words("UNAUTHORIZED_CLIENT_APPLICATION READONLY_CLIENT_APPLICATION"),
    ),
    ErrorRule(
        "rejected",
        "permission",
        "the user may not do this in the account",
        split_words(
            "ACTION_NOT_ALLOWED ACCOUNT_NOT_FOUND ACCOUNT_LOCKED_OUT CURRENT_USER_SUSPENDED"
            " FUNDING_INSTRUMENT_ACCESS_NOT_ALLOWED"
        ),
    ),
    ErrorRule(
        "rejected",
        "limit",
        "the account holds as many as it may",
        split_words("TOO_MANY_CAMPAIGNS TOO_MANY_LINE_ITEMS"),
    ),
    ErrorRule(
        "rejected",
        "not_found",
        "what the request names is not there",
        split_words(
            "NOT_FOUND CAMPAIGN_NOT_FOUND LINE_ITEM_NOT_FOUND TWEET_NOT_FOUND PROMOTED_TWEET_NOT_FOUND"
            " FUNDING_INSTRUMENT_NOT_FOUND TARGETING_CRITERION_NOT_FOUND"
        ),
    ),
    # X applies a batch as a whole or not at all, even if its response has a successful status.
    ErrorRule("rejected", "input", "an operation of the batch was refused, and with it all", (OPERATION_ERROR,)),
    ErrorRule("throttled", "limit", "the entity is locked by another change", status=423),
)
NETWORK = Network(
    code=CODE,
    title="X Ads",
    version=VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(HOST, LOGIN_HOST),
    login=Login(
        "oauth1", note="The app itself needs access to the Ads API; tokens from before that are to be renewed."
    ),
    get_money_unit=get_money_unit,
    parse_error=parse_error,
    time=TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Ads API, "Analytics": a null series is a period without data. Its figures are null, though X's pages show 0. An
    # account without campaigns has no series: reads.fetch_insights reports that nothing was delivered.
    missing_day="gap",
    geographies=("/criteria",),
    money_note="Native amounts are micros of the funding instrument's currency: 1,000,000 make one unit.",
    has_report_jobs=True,
    templates=TEMPLATES,
    extras=(
        Extra(
            "timezoneSwitchAt",
            "when the account changed its time zone; that day has a gap",
            label="Time zone changed",
            form="instant",
            native="/timezone_switch_at",
        ),
    ),
    other_names=("twitter",),
    parse_retry_delay=parse_retry_delay,
    parse_item_results=parse_item_results,
    notes=(
        "The account has no currency: it is that of the first funding instrument that is able to fund.",
        "Reach is reported for a whole period only, so that days have none. Conversion values are in the native rows.",
        "Deleting is permanent. Posts are reviewed after they were promoted.",
    ),
    brief_catalogs={"platform.fundingInstrumentId": "funding_instruments", "creative.existingId": "posts"},
)
