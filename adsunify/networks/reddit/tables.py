"""Reddit Ads API v3: what the API has and what the adapter uses, as tables.

v2 has answered 410 since 2025-09-30. No sunset of v3 is announced.

Three surprises. An entity that is created without a status serves at once: the default is ACTIVE. Nothing is deleted in
one write: an update archives the entity, and another update deletes the archived one. Every request and response body
has the envelope ``{"data": ...}``, and the next page of a list is a whole URL.

Sources: see ``native``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from datetime import date
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Input, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    Network,
    PayloadRules,
    Template,
    first_text,
    list_locked_members,
    project_sunset,
    split_words,
)
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import require_object

from . import native as reddit
from .settings import EDITS, SETTINGS
from .targeting import find_native_targeting_error

# -- levels -------------------------------------------------------------------------------------------------------

# Ads API v3: Reddit refuses unknown members (additionalProperties: false) and read-only ones.
_BUDGET_MEMBERS = (
    "goal_type goal_value bid_strategy bid_type bid_value optimization_goal start_time end_time conversion_pixel_id"
    " view_through_conversion_type schedule"
)


def _payload_rules(kind: Kind, members: str) -> PayloadRules:
    names = split_words(f"name configured_status {members}")
    return PayloadRules(
        create=names,
        update=names,
        fixed=list_locked_members(SETTINGS, kind),
        neutral=reddit.NEUTRAL_MEMBERS,
        bidding={"bid_strategy": reddit.STRATEGIES_WITH_BID, "bid_type": ()},
        create_statuses=reddit.STATUSES,
        update_statuses=reddit.STATUSES,
    )


_level = partial(
    Level,
    account="/ad_account_id",
    id="/id",
    name="/name",
    status="/configured_status",
    unified_statuses={
        reddit.ACTIVE: "active",
        reddit.PAUSED: "paused",
        reddit.ARCHIVED: "archived",
        reddit.DELETED: "deleted",
    },
    writable_statuses={"active": reddit.ACTIVE, "paused": reddit.PAUSED},
    status_filters=reddit.STATUSES,
    initial_status=reddit.PAUSED,
    created="/created_at",
    hidden_statuses=reddit.CLOSED_STATUSES,
    deletion_statuses={"": reddit.ARCHIVED, reddit.ARCHIVED: reddit.DELETED},
    # unverified: an archived entity cannot be activated or paused, and takes nothing new below it.
    accepted_actions={reddit.ARCHIVED: ("update", "delete")},
    review_status="/effective_status",
    disapproved_statuses=("REJECTED",),
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    payload=_payload_rules(
        "campaign", f"objective funding_instrument_id spend_cap {reddit.CAMPAIGN_BUDGET_FLAG} {_BUDGET_MEMBERS}"
    ),
    settings_context={"bidding": ("/objective", "/bid_strategy", "/bid_type", "/bid_value", "/goal_type")},
    note="It is reviewed and paid for as effective_status says; our status is the configured one.",
)
AD_GROUP = _level(
    *("adGroup", "ad group", "ad_groups"),
    parent="/campaign_id",
    parent_kind="campaign",
    payload=_payload_rules("adGroup", f"campaign_id targeting {_BUDGET_MEMBERS}"),
    settings_context={
        "targeting": ("/targeting",),
        "bidding": ("/bid_strategy", "/bid_type", "/bid_value", "/optimization_goal", "/goal_type"),
    },
    note="Holds budget, schedule, bid, pixel and targeting. Keywords are a part of its targeting.",
)
AD = _level(
    *("ad", "ad", "ads"),
    id_pattern=r"[0-9A-Za-z_-]+",
    parent="/ad_group_id",
    parent_kind="adGroup",
    payload=_payload_rules(
        "ad",
        "ad_group_id post_id profile_id click_url click_url_query_parameters event_trackers preview_expiry products",
    ),
    settings_context={"creative": ("/post_id", "/profile_id", "/click_url", "/effective_status", "/rejection_reason")},
    note="It promotes a post, which is a thing of its own.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD)


# -- formats ------------------------------------------------------------------------------------------------------


# unverified: whether a bid per click has to be between 3.50 and 100 USD, so the range is not checked.
BID_MEANINGS = "the most that a click may cost"
NO_PLACES_REASON = "Reddit is targeted natively: use targeting.native.geolocations"
NO_KEYWORDS_REASON = "Reddit's keywords have no match: use targeting.native.keywords, a list of texts"
NO_CATEGORIES_REASON = "special_ad_categories can only be read in the Ads API; it is set in Reddit's own interface"

FORMATS = (
    Format(
        "existing_post",
        "Existing post",
        goals=("traffic",),
        periods=("daily",),
        inputs=(
            Input("creative.existingId", "required", "a completed post, t3_...", find_error=reddit.find_post_id_error),
            *refused_inputs("creative", CONTENT_MEMBERS, "the existing post brings its own"),
            Input("platform.fundingInstrumentId", "required", "an id of the catalog funding_instruments that pays"),
            Input("platform.pixelId", "required", "an id of the catalog pixels"),
            Input(
                "targeting.native", "required", "Reddit's own targeting object", find_error=find_native_targeting_error
            ),
            *refused_inputs("targeting", "countries locationIds", NO_PLACES_REASON),
            *refused_inputs("targeting", "keywords", NO_KEYWORDS_REASON),
            Input("schedule.endAt", "optional", "without it the ads run on"),
            Input("bid", "optional", BID_MEANINGS),
            *refused_inputs("platform", "specialAdCategories", NO_CATEGORIES_REASON),
            deny_political_ads(),
        ),
        bid_meanings={"traffic": BID_MEANINGS},
        notes=("Targeting without geolocations serves everywhere.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

_match_country = re.compile(r"[A-Z]{2}").fullmatch
_catalog = partial(Catalog, items=reddit.parse_rows, id="/id", name="/name", next=reddit.parse_next_cursor)


def _list_catalog(resource: str, path: str, query: Mapping[str, str] | None = None, **cells: Json) -> Catalog:
    """Build a catalog of one list. The suffix of the resource replaces ``{suffix}`` in the path."""

    def build_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        slots = {"account": account.native_id, "suffix": suffix.replace(" ", "_")}  # a suffix has spaces for _
        named = {name: value for name, value in slots.items() if f"{{{name}}}" in path}
        return reddit.with_cursor(reddit.build_get_request(path, query, **named), cursor)

    return _catalog(resource, build_request, suffix="required" if "{suffix}" in path else "none", **cells)


def _parse_single_job(response: Response) -> Sequence[Mapping[str, Json]]:
    return [require_object(response.body, "/data", "job")]


def _build_geolocations_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    """Build a search by country, by the text of a city or of a postal code (with a digit), or by both."""
    has_country = _match_country(suffix[:2]) and suffix[2:3] in ("", " ")
    country, _, rest = suffix.partition(" ") if has_country else ("", "", suffix)
    query = {"country": country} if country else {}
    if rest:
        query["postal_code" if any(character.isdigit() for character in rest) else "cities_search"] = rest
    return reddit.with_cursor(reddit.build_get_request("targeting/geolocations", query), cursor)


def _build_communities_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return reddit.with_cursor(reddit.build_get_request("targeting/communities/search", {"query": suffix}), cursor)


CATALOGS = (
    _list_catalog("businesses", "me/businesses"),
    _list_catalog(
        *("funding_instruments", "ad_accounts/{account}/funding_instruments", {"mode": "SELECTABLE"}),
        name=first_text("/name", "/currency"),
        note="is_servable and reasons_not_servable say whether it pays; its currency is the account's.",
    ),
    _list_catalog("pixels", "ad_accounts/{account}/pixels"),
    _list_catalog("profiles", "ad_accounts/{account}/profiles"),
    *(
        _list_catalog(
            name, f"profiles/{{suffix}}/{name}", query, name="/headline", note=f"{name}:t2_abc, an id of profiles"
        )
        for name, query in (("posts", {"source": "PROMOTED"}), ("structured_posts", None))
    ),
    _list_catalog(
        *("post_job", "structured_posts/jobs/{suffix}"),
        items=_parse_single_job,
        id=first_text("/id", "/post_id"),
        name="/status",
        note="post_job:<id>: a post that is being made; with SUCCESS it holds the post_id.",
    ),
    _catalog(
        *("geolocations", _build_geolocations_request),
        suffix="optional",
        note="geolocations:US, and a search for a city or a postal code.",
    ),
    _catalog(
        *("communities", _build_communities_request),
        id="/name",
        suffix="required",
        note="communities:<text> searches by name.",
    ),
    _list_catalog("interests", "targeting/interests"),
    *(
        _list_catalog(name, f"targeting/{name}", id=first_text("/id", "/value"))
        for name in ("languages", "carriers", "devices")
    ),
    _list_catalog("time_zones", "time_zones"),
    _list_catalog("apps", "ad_accounts/{account}/apps"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Traffic",
        {"name": "Autumn launch", "objective": reddit.CLICKS, "funding_instrument_id": "4711"},
    ),
    Template(
        "adGroup",
        "Clicks, 25.50 a day",
        {
            "name": "Autumn launch",
            "conversion_pixel_id": "a2_pixel0001",
            "optimization_goal": reddit.CLICKS,
            "bid_strategy": reddit.MANUAL_BIDDING,
            "bid_type": reddit.CPC,
            "bid_value": 4_000_000,
            "goal_type": reddit.DAILY_SPEND,
            "goal_value": 25_500_000,
            "start_time": "2030-01-15T09:00:00Z",
            "targeting": {"geolocations": ["US", "CA"], "communities": ["homeimprovement"]},
        },
        "Its parentId is the campaign.",
    ),
    Template("ad", "An existing post", {"name": "Autumn launch", "post_id": "t3_abc123"}, "Its parentId is the group."),
)

METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/clicks", "count"),
    Metric("spend", "/spend", "micros"),
    Metric("reach", "/reach", "count"),
    Metric("videoViews", "/video_viewable_impressions", "count", note="Viewable impressions of videos."),
    Metric("conversions", "/key_conversion_total_count", "decimal", note="Key conversions, by clicks and views."),
    # Ads API v3: values of conversions are in hundredths, all other amounts are in micros.
    Metric("conversionValue", "/conversion_purchase_total_value", "cents", note="The value of purchases only."),
)

# The id of the parent is a breakdown, too. Reddit has no field for a name.
_report_level = partial(ReportLevel, source="Reddit Ads API v3, POST /ad_accounts/{id}/reports (read 2026-11-23)")
REPORT_LEVELS = (
    _report_level("campaign", "campaign", "/campaign_id"),
    _report_level("adGroup", "ad_group", "/ad_group_id", parent_id="/campaign_id"),
    _report_level("ad", "ad", "/ad_id", parent_id="/ad_group_id"),
)

ERRORS = (
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",)),
    ErrorRule(
        "rejected", "permission", "the app's credentials are not right", ("invalid_client", "unauthorized_client")
    ),
)

_words_extra = partial(Extra, form="words")
EXTRAS = (
    Extra("businessId", "The business that owns the account.", label="Business", native="/business_id"),
    _words_extra("type", "MANAGED or SELF_SERVE.", label="Kind of account", native="/type"),
    _words_extra(
        "suspensionReason", "Why the account is suspended.", label="Suspended because of", native="/suspension_reason"
    ),
    _words_extra(
        "attributionType", "What conversions are attributed to.", label="Attributed to", native="/attribution_type"
    ),
    _words_extra(
        *("clickAttributionWindow", "How long after a click a conversion counts."),
        label="A conversion counts after a click for a",
        native="/click_attribution_window",
    ),
    _words_extra(
        *("viewAttributionWindow", "How long after a view a conversion counts."),
        label="A conversion counts after a view for a",
        native="/view_attribution_window",
    ),
)

NETWORK = Network(
    code=reddit.CODE,
    title="Reddit",
    version=reddit.VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(reddit.HOST, reddit.LOGIN_HOST),
    login=reddit.LOGIN,
    time=reddit.TIME,
    get_money_unit=reddit.get_money_unit,
    parse_error=reddit.parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Ads API v3, reports: a day without a row had no delivery if the report covers the day and is final. Otherwise its
    # figures are null.
    missing_day="zero_once_final",
    geographies=("/geolocations",),
    # Ads API v3, reports: they reach 24 months back.
    history=History(months=24),
    money_note="Native amounts are integers, 1,000,000 to one of the account's currency.",
    templates=TEMPLATES,
    extras=EXTRAS,
    parse_retry_delay=reddit.parse_retry_delay,
    notes=(
        "Accounts that serve are VALID, TRUSTED or ADMIN; there is no sandbox, what is made for tests stays paused.",
        "Deleting archives first; what is archived is deleted by a second operation.",
        "Every ad group needs a pixel, whatever its objective.",
        "A funding instrument counts in USD, GBP, CAD, EUR, AUD, NZD, SGD or BRL.",
    ),
    brief_catalogs={"platform.fundingInstrumentId": "funding_instruments", "platform.pixelId": "pixels"},
)
