"""OpenAI Advertiser API v1 (OpenAPI document 2.3.0, beta), for ads in ChatGPT: what it has and what is used, as tables.

No sunset is announced; OpenAI announces changes in the API's changelog.

Three surprises. Ad groups and ads do not name their parent: only the list that returned them does. A native bid for
impressions is for one impression, in micros, but advertisers count it per thousand. A response has members that a
write refuses, and a write replaces nested objects whole.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import date, datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import Format, Goal, Input
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.native_money import to_native_units
from adsunify.adapter.network import (
    Catalog,
    Credential,
    ErrorRule,
    Level,
    Login,
    Network,
    PayloadRules,
    Template,
    project_sunset,
    split_words,
)
from adsunify.errors import InvalidInput, Issue, invalid_input
from adsunify.http.messages import Request
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns

from . import native as openai
from .settings import EDITS, SETTINGS, find_body_error, find_title_error, find_url_error
from .targeting import TARGETING_FORM, find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    unified_statuses={openai.ACTIVE: "active", openai.PAUSED: "paused", openai.ARCHIVED: "archived"},
    writable_statuses={"active": openai.ACTIVE, "paused": openai.PAUSED},
    status_filters=openai.STATUSES,
    initial_status=openai.PAUSED,
    accepted_actions={openai.ARCHIVED: ()},  # OpenAI answers 422 to every change of an archived entity
    created="/created_at",
    payload=PayloadRules(
        read_only=openai.READ_ONLY_MEMBERS,
        fixed=("campaign_id", "ad_group_id"),
        neutral=openai.NEUTRAL_MEMBERS,
        bidding={"bidding_config/strategy": (openai.FIXED_BID,), "bidding_config/billing_event_type": ()},
        update_statuses=openai.STATUSES,
    ),
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    id_pattern=r"cmpn_[0-9A-Za-z_-]+",
    settings_context={"targeting": ("/targeting",), "bidding": ("/bidding_type", "/conversion_event_setting_ids")},
    note="Holds budget, schedule and targeting. Targeting edits take locations and devices (platforms).",
)
AD_GROUP = _level(
    *("adGroup", "ad_group", "ad_groups"),
    label="ad group",
    id_pattern=r"adgrp_[0-9A-Za-z_-]+",
    parent="/campaign_id",
    parent_kind="campaign",
    settings_context={"targeting": ("/context_hints",), "bidding": ("/bidding_config",)},
)
AD = _level(
    *("ad", "ad", "ads"),
    id_pattern=r"ad_[0-9A-Za-z_-]+",
    parent="/ad_group_id",
    parent_kind="adGroup",
    review_status="/review_status",
    disapproved_statuses=("rejected",),
    settings_context={"creative": ("/creative", "/review_status", "/review")},
    note="A new creative is reviewed at once, and so is every change of it.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD)


# -- formats ------------------------------------------------------------------------------------------------------

OBJECTIVES: Mapping[Goal, tuple[str, str]] = {
    "traffic": (openai.CLICKS, openai.CLICK),
    "awareness": (openai.IMPRESSIONS, openai.IMPRESSION),
    "conversions": (openai.CONVERSIONS, openai.CLICK),
}
"""Goal -> the campaign's ``bidding_type`` and the ad group's ``billing_event_type``."""

BID_MEANINGS: Mapping[Goal, str] = {
    "traffic": "maximum cost per click",
    "awareness": "maximum cost per thousand impressions, with at most 3 decimal places",
    "conversions": "target cost per conversion (a CPA bid); billing stays per click",
}


def get_native_bid(account: Account, brief: CampaignBrief) -> int:
    """Return the bid in native micros per impression, click or conversion. Raises InvalidInput if it is not whole."""
    impressions = OBJECTIVES[brief.goal][1] == openai.IMPRESSION
    unit = openai.get_impression_bid_unit(account) if impressions else openai.get_money_unit(account)
    return to_native_units(unit, brief.bid or "", "bid")


def _check_amounts(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if Decimal(brief.budget.amount) < Decimal(openai.MIN_BUDGET):
        yield Issue("budget.amount", "too_small", f"OpenAI takes a budget of at least {openai.MIN_BUDGET}.")
    try:
        get_native_bid(account, brief)
    except InvalidInput as problem:
        yield from problem.issues


def _check_name(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if not brief.name.strip():
        yield Issue("name", "invalid", "OpenAI takes no name of blanks only.")


_NOT_CONVERSIONS_REASON = "only the goal conversions is led by an event"
_NATIVE_TARGETING_REASON = "it is refused beside targeting.native, which says the same as"

FORMATS = (
    Format(
        "chat_card",
        "Chat card",
        goals=tuple(OBJECTIVES),
        periods=("lifetime",),
        bid_meanings=BID_MEANINGS,
        inputs=(
            Input("bid", "required", "a lifetime budget is spent with a fixed bid"),
            Input("schedule.endAt", "optional"),
            Input("targeting.native", "required", f"some of {TARGETING_FORM}", find_error=find_native_targeting_error),
            Input("targeting.countries", "refused", reason=f"{_NATIVE_TARGETING_REASON} locations.countries"),
            Input("targeting.locationIds", "refused", reason=f"{_NATIVE_TARGETING_REASON} locations.include[].id"),
            Input("targeting.keywords", "refused", reason="there is no targeting by keywords"),
            Input("creative.headline", "required", find_error=find_title_error),
            Input("creative.body", "required", find_error=find_body_error),
            Input("creative.url", "required", find_error=find_url_error),
            Input(
                "creative.imageUrl",
                "one",
                "an address of a JPEG, PNG or WebP of at least 640 x 640 pixels, or the id of a file",
                group="image",
                find_error=find_url_error,
            ),
            Input("creative.existingId", "one", "the id of an uploaded file", group="image"),
            Input("creative.imageHash", "refused", reason="an image is given by imageUrl or existingId"),
            Input("creative.headlines", "refused", reason="a chat card has one headline"),
            Input("creative.descriptions", "refused", reason="a chat card has one body"),
            Input(
                "platform.conversionEvent",
                "required",
                "an active standard event of the catalog conversion_events",
                goals=("conversions",),
            ),
            Input("platform.conversionEvent", "refused", reason=_NOT_CONVERSIONS_REASON),
            Input("platform.pixelId", "optional", "one of the event's sources, which decide", goals=("conversions",)),
            Input("platform.pixelId", "refused", reason=_NOT_CONVERSIONS_REASON),
            deny_political_ads(),
        ),
        rules=(_check_name, _check_amounts),
        notes=(
            "An existing creative is an uploaded file: headline, body and url are needed beside it.",
            "conversions: the bid is a target cost per conversion (CPA), while clicks are billed.",
        ),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

INTENDED_USES = split_words("inclusion exclusion bid_multiplier")
STATIC_CATALOG = "platforms"
"""The catalog with constant rows; it needs no request."""


def _parse_suffix_word(suffix: str) -> str:
    """Return the ID or word in a catalog's suffix, with the underscores that shared code replaced by spaces."""
    return suffix.replace(" ", "_")


def _build_geo_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return openai.build_get_request(
        "geo_lookup/search", {"q": suffix, "limit": str(min(limit, openai.MAX_GEO_PAGE_SIZE))}
    )


def _build_events_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return openai.build_event_settings_request(limit, cursor)


def _build_pixels_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return openai.build_get_request("conversions/pixels", openai.build_page_query(limit, cursor))


def _build_audiences_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    use = _parse_suffix_word(suffix)
    if use and use not in INTENDED_USES:
        message = f"After the colon comes one of {', '.join(INTENDED_USES)}."
        raise invalid_input("resource", "catalog_suffix", message)
    return openai.build_get_request(
        "custom_audiences", openai.build_page_query(limit, cursor) | ({"intended_use": use} if use else {})
    )


def _build_ads_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return openai.build_children_request(AD, _parse_suffix_word(suffix), limit, cursor)


def _refuse_suffix(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    raise invalid_input("resource", "catalog_suffix", "This catalog is a fixed list.")


CATALOGS = (
    Catalog(
        *("geo_locations", _build_geo_request, "/results", "/id", "/canonical_name"),
        suffix="required",
        note="geo_locations:<text>; its ids are locations.include[].id",
    ),
    Catalog("conversion_events", _build_events_request, "/data", "/id", "/name", openai.parse_next_cursor),
    Catalog(
        "pixels",
        _build_pixels_request,
        "/data",
        "/id",
        "/name",
        openai.parse_next_cursor,
        note="The sources of events.",
    ),
    Catalog(
        *("custom_audiences", _build_audiences_request, "/data", "/id", "/name", openai.parse_next_cursor),
        suffix="optional",
        note=f"custom_audiences:<{'|'.join(INTENDED_USES)}>",
    ),
    Catalog(
        *("ads", _build_ads_request, "/data", "/id", "/name", openai.parse_next_cursor),
        suffix="required",
        note="ads:<ad group id>; creative.file_id of a row is an image that can be used again",
    ),
    Catalog(
        STATIC_CATALOG, _refuse_suffix, "", "/id", "/id", note="What platforms.included takes; web is all of the web."
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Clicks, 320 over its life",
        {
            "name": "Autumn boots",
            "status": openai.PAUSED,
            "bidding_type": openai.CLICKS,
            "budget": {openai.LIFETIME_LIMIT_MEMBER: 320_000_000},
            "start_time": 1_894_701_600,
            "targeting": {"locations": {"countries": ["FR"]}},
        },
    ),
    Template(
        "adGroup",
        "At most 1.85 for a click",
        {
            "name": "Autumn boots",
            "status": openai.PAUSED,
            "bidding_config": {
                "billing_event_type": openai.CLICK,
                "strategy": openai.FIXED_BID,
                "max_bid_micros": 1_850_000,
            },
        },
        "Its parentId is the campaign. A bid for impressions is per single impression.",
    ),
    Template(
        "ad",
        "A chat card",
        {
            "name": "Autumn boots",
            "status": openai.PAUSED,
            "creative": {
                "type": openai.CHAT_CARD,
                "title": "Boots for wet trails",
                "body": "Waterproof pairs from 89 euros.",
                "target_url": "https://northwind.example/boots",
                "file_id": "file_31",
            },
        },
        "Its parentId is the ad group.",
    ),
)


def _read_delivery_metric(name: str, native_level: str, columns: Columns) -> list[Json]:
    """Return the column of a metric of the delivery report. The column's name may have the level as a prefix."""
    totals = columns.get_column(f"/{name}")
    if None not in totals:
        return totals
    longer = columns.get_column(f"/{native_level}_{name}")
    return [other if total is None else total for total, other in zip(totals, longer, strict=True)]


def _build_delivery_metrics(native_level: str) -> tuple[Metric, ...]:
    return (
        Metric(
            "impressions", "/impressions", "count", read=partial(_read_delivery_metric, "impressions", native_level)
        ),
        Metric("clicks", "/clicks", "count", read=partial(_read_delivery_metric, "clicks", native_level)),
        Metric("spend", "/spend", "major", read=partial(_read_delivery_metric, "spend", native_level)),
    )


METRICS = _build_delivery_metrics(CAMPAIGN.native)
CONVERSION_METRICS = (
    Metric("conversions", "/conversions", "decimal", note="Within 30 days of a click or a day of a view."),
    Metric(
        *("conversionValue", "/order_created_attributed_sales", "major"),
        note="The sales of the orders, where they are in the account's currency.",
    ),
)
# unverified: the figures of the entities of a level add up to those of the account. In an example of the reference they
# do; no text states it.
REPORT_SOURCE = "OpenAI, api-reference/insights (2026-07) and Reporting (2026-09), read 2026-11-23"
_CONVERSIONS_NOTE = "Conversions of a day on which their entity had no impression may have no row."
REPORT_LEVELS = tuple(
    ReportLevel(
        *(level.kind, level.native, f"/{level.native}_id", f"/{level.native}_name"),
        parent_id=level.parent or None,
        metrics=(*_build_delivery_metrics(level.native), *CONVERSION_METRICS),
        adds_up=False,
        note=_CONVERSIONS_NOTE,
        source=REPORT_SOURCE,
    )
    for level in LEVELS
)

ERRORS = (
    ErrorRule(
        *("ambiguous", "network", "a page of something in between, which does not say what was done"),
        (openai.NOT_JSON,),
    ),
    ErrorRule(
        *("ambiguous", "network", "something with our key is there already, and we sent it once only"),
        status=409,
        actions=("create",),
    ),
    ErrorRule("rejected", "input", "the entity has changed in the meantime", status=409, actions=("update", "delete")),
    ErrorRule("rejected", "input", "the request is malformed", status=400),
    ErrorRule("rejected", "permission", "no access, or a feature that is not enabled", status=403),
    ErrorRule("rejected", "not_found", "there is no such thing in the key's account", status=404),
    ErrorRule("rejected", "input", "too large, or a report of too many rows", status=413),
    ErrorRule("rejected", "input", "a value is not one that it takes", status=422),
)

NETWORK = Network(
    code=openai.CODE,
    title="ChatGPT Ads",
    version=openai.VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(openai.HOST,),
    login=Login(
        "credentials",
        note="An API key of Ads Manager (Settings, API keys) belongs to one ad account. There is no call to revoke it: "
        "remove it there.",
        credentials=((Credential("api_key", "API key", "hidden"),),),
    ),
    get_money_unit=openai.get_money_unit,
    parse_error=openai.parse_error,
    time=openai.TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=(*METRICS, *CONVERSION_METRICS),
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Ads API, "Reporting": a day without impressions has no row, so a missing row means no delivery.
    missing_day="zero",
    geographies=("/locations",),
    # Ads API, "Reporting": daily data is kept for 365 days.
    history=History(days=365),
    money_note="Native amounts are integers, 1,000,000 to one of every currency; a bid for impressions is for one.",
    templates=TEMPLATES,
    parse_retry_delay=openai.parse_retry_delay,
    notes=(
        "Nothing can be deleted: what is deleted here is archived, which is final.",
        "An active ad serves once it is reviewed, which takes minutes.",
        "An account holds 5,000 campaigns that are not archived, 5,000 ad groups and 5,000 ads.",
        "maximize_clicks and maximize_conversions need a daily budget: native endpoints only.",
    ),
    brief_catalogs={"platform.conversionEvent": "conversion_events"},
)
