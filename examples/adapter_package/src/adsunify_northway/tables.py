"""What Northway can do: levels, formats, catalogs, metrics, errors.

Three facts shape this adapter. The state of a create is LIVE by default, so each create sends HELD. Nothing can be
deleted, so a deletion archives. The path of an entity does not name its advertiser, so its owner is checked.

Source: https://docs.northway.example/ads/v3, read 2026-11-20 (``API.md``). No end of API v3 is announced.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from decimal import Decimal
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import Format, Goal, Input, Period
from adsunify.adapter.metrics import History, Metric
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Level,
    Network,
    PayloadRules,
    Template,
    list_locked_members,
    split_words,
)
from adsunify.errors import Issue
from adsunify.http.messages import Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Kind

from . import native as northway
from .settings import BUDGET_PERIODS, EDITS, SETTINGS, find_image_url_error, find_url_error, get_minimum_budget
from .targeting import EDITABLE_TARGETING, find_native_targeting_error

# -- levels ----------------------------------------------------------------------------------------------------------


NEUTRAL_MEMBERS = split_words("name objective targeting pixel_id headline body url image_url cta")
"""Members that do not change how much may be spent. The settings compute the others."""


def _payload_rules(kind: Kind, members: str, parent: str = "") -> PayloadRules:
    names = split_words(f"name state {members}")
    return PayloadRules(
        create=(*names, *split_words(parent)),
        update=names,
        read_only=("id", "advertiser_id", "review"),
        fixed=(*list_locked_members(SETTINGS, kind), *split_words(parent)),
        neutral=NEUTRAL_MEMBERS,
        create_statuses=(northway.LIVE, northway.HELD),
        update_statuses=northway.STATES,
    )


_level = partial(
    Level,
    account="/advertiser_id",
    id="/id",
    name="/name",
    status="/state",
    unified_statuses={northway.LIVE: "active", northway.HELD: "paused", northway.ARCHIVED: "archived"},
    writable_statuses={"active": northway.LIVE, "paused": northway.HELD},
    status_filters=northway.STATES,
    initial_status=northway.HELD,
    deletion_statuses={"": northway.ARCHIVED},
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    id_pattern="cmp_[0-9A-Za-z]+",
    payload=_payload_rules(
        "campaign",
        "objective daily_budget_minor total_budget_minor starts_at ends_at",
    ),
    settings_context={"bidding": ("/objective",)},
    note="It has the budget and the schedule.",
)
AD_GROUP = _level(
    *("adGroup", "ad set", "ad_sets"),
    id_pattern="set_[0-9A-Za-z]+",
    parent="/campaign_id",
    parent_kind="campaign",
    payload=_payload_rules("adGroup", "targeting bid pixel_id", "campaign_id"),
    settings_context={"targeting": ("/targeting",), "bidding": ("/bid", "/pixel_id")},
    note=f"It has the bid, the pixel and the targeting. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD = _level(
    *("ad", "ad", "ads"),
    id_pattern="ad_[0-9A-Za-z]+",
    parent="/ad_set_id",
    parent_kind="adGroup",
    payload=_payload_rules("ad", "headline body url image_url cta", "ad_set_id"),
    settings_context={"creative": ("/headline", "/body", "/url", "/image_url", "/cta", "/review")},
    note="It has the texts and the image. Northway reviews it.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD)


# -- formats ---------------------------------------------------------------------------------------------------------

OBJECTIVES: Mapping[Goal, str] = {"traffic": northway.VISITS, "conversions": northway.SALES}
PERIODS: Mapping[Period, str] = {period: member for member, period in BUDGET_PERIODS.items()}
BID_MEANING = "the maximum cost of a click"


def _make_length_check(maximum: int) -> Callable[[str], str | None]:
    return lambda value: None if len(value) <= maximum else f"the text has {len(value)} characters"


def _check_budget(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    minimum = get_minimum_budget(PERIODS[brief.budget.period], account)
    if Decimal(brief.budget.amount) < Decimal(minimum):
        message = f"Northway requires a {brief.budget.period} budget of at least {minimum} {account.currency}."
        yield Issue("budget.amount", "too_small", message)


def _check_start(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if now is not None and brief.schedule.start < now:
        yield Issue("schedule.startAt", "past", "The start must not be in the past.")


FORMATS = (
    Format(
        "image",
        "Single image",
        tuple(OBJECTIVES),
        tuple(PERIODS),
        inputs=(
            Input(
                "creative.headline",
                "required",
                find_error=_make_length_check(northway.MAX_HEADLINE_LENGTH),
                accepted_form=f"at most {northway.MAX_HEADLINE_LENGTH} characters",
            ),
            Input(
                "creative.body",
                "required",
                find_error=_make_length_check(northway.MAX_BODY_LENGTH),
                accepted_form=f"at most {northway.MAX_BODY_LENGTH} characters",
            ),
            Input("creative.url", "required", find_error=find_url_error, accepted_form="https"),
            Input(
                "creative.imageUrl",
                "required",
                find_error=find_image_url_error,
                accepted_form="https; Northway fetches it: JPEG or PNG, 1200x628",
            ),
            Input("creative.imageHash", "refused", reason="Northway fetches the image of an ad: use creative.imageUrl"),
            Input("creative.headlines", "refused", reason="an ad has one headline"),
            Input("creative.descriptions", "refused", reason="an ad has one text: use creative.body"),
            Input("creative.existingId", "refused", reason="an ad has its own texts and image"),
            Input("platform.pixelId", "required", goals=("conversions",), accepted_form="an id of the catalog pixels"),
            Input("targeting.countries", "one", group="geography", accepted_form="ISO 3166 codes"),
            Input(
                "targeting.native",
                "one",
                group="geography",
                find_error=find_native_targeting_error,
                accepted_form="the targeting object of Northway",
            ),
            Input(
                "targeting.locationIds", "refused", reason="Northway targets countries only: use targeting.countries"
            ),
            Input("targeting.keywords", "refused", reason="Northway has no keywords"),
            Input("schedule.endAt", "required", periods=("lifetime",), accepted_form="a total budget requires an end"),
            Input("schedule.endAt", "optional", accepted_form="without it the ads run on"),
            Input("bid", "optional", accepted_form=BID_MEANING),
            deny_political_ads(),
        ),
        bid_meanings=dict.fromkeys(OBJECTIVES, BID_MEANING),
        rules=(_check_budget, _check_start),
        notes=("The button of the ad is LEARN_MORE; an edit of the field cta changes it.",),
    ),
)


# -- catalogs --------------------------------------------------------------------------------------------------------


def _build_pixels_request(account: Account, search: str, cursor: str | None, limit: int) -> Request:
    return northway.build_account_get_request(account, "pixels", northway.build_list_query(limit, cursor))


def _build_countries_request(account: Account, search: str, cursor: str | None, limit: int) -> Request:
    return northway.build_get_request("geo/countries", northway.build_list_query(limit, cursor))


CATALOGS = (
    Catalog("pixels", _build_pixels_request, northway.parse_rows, "/id", "/name", northway.parse_next_cursor),
    Catalog("countries", _build_countries_request, northway.parse_rows, "/code", "/name", northway.parse_next_cursor),
)


# -- templates, metrics, errors --------------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Visits, 25.50 a day",
        {
            "name": "Autumn boots",
            "objective": northway.VISITS,
            "daily_budget_minor": 2_550,
            "starts_at": "2030-01-15T09:00:00Z",
        },
    ),
    Template(
        "adGroup",
        "At most 1.20 per click",
        {
            "name": "Autumn boots",
            "targeting": {"countries": ["DE"], "age": {"min": 18, "max": 65}, "genders": ["f", "m", "x"]},
            "bid": {"mode": northway.CAP, "cap_minor": 120},
        },
        "Its parentId is the campaign.",
    ),
    Template(
        "ad",
        "An image",
        {
            "name": "Autumn boots",
            "headline": "Boots for wet trails",
            "body": "Waterproof pairs from 89 euros.",
            "url": "https://northwind.example/boots",
            "image_url": "https://cdn.northwind.example/boots.jpg",
            "cta": "SHOP_NOW",
        },
        "Its parentId is the ad set.",
    ),
)

METRICS = (
    Metric("impressions", "/shown", "count"),
    Metric("clicks", "/clicked", "count"),
    Metric("spend", "/spent_minor", "minor"),
    Metric("conversions", "/sales", "decimal"),
    Metric("conversionValue", "/sales_value_minor", "minor"),
)

ERRORS = (
    ErrorRule("rejected", "input", "a value was refused", ("INVALID_FIELD",)),
    ErrorRule("rejected", "token", "the login has expired or was revoked", ("TOKEN_EXPIRED", "TOKEN_REVOKED")),
    ErrorRule("rejected", "permission", "the user has no access to this advertiser", ("NO_ACCESS",)),
    ErrorRule("rejected", "not_found", "the object does not exist", ("NOT_FOUND",)),
    ErrorRule("rejected", "input", "the entity changed at the same time", ("CONFLICT",)),
    ErrorRule("throttled", "limit", "more than 600 requests a minute for an advertiser", ("SLOW_DOWN",)),
    # unverified: that token calls answer with the codes of RFC 6749.
    ErrorRule("rejected", "token", "the consent was withdrawn or has expired", ("invalid_grant",)),
    ErrorRule("rejected", "permission", "the credentials of the app are wrong", ("invalid_client",)),
)

NETWORK = Network(
    code=northway.CODE,
    title="Northway Ads",
    version=northway.VERSION,
    hosts=(northway.HOST, northway.LOGIN_HOST),
    login=northway.LOGIN,
    time=northway.TIME,
    get_money_unit=northway.get_money_unit,
    parse_error=northway.parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    missing_day="zero",  # API v3, report: days without delivery have no row
    geographies=("/countries",),
    history=History(days=northway.HISTORY_DAYS),
    money_note="Native amounts are integers in minor units of the account's currency (cents, yen).",
    templates=TEMPLATES,
    example_account_id="adv_1",
    notes=(
        "Only advertisers that are OPEN can be written to.",
        "Northway deletes nothing: a deletion archives the entity.",
        "At most 600 requests a minute for each advertiser.",
    ),
)
