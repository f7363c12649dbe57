"""Pinterest: REST API v5 (description 5.28, releases are additive), what it has and what of it is used, as tables.

It has no dated versions and no sunset; fields are deprecated one by one.

Three surprises. Traffic and awareness are campaign-budget objectives: budget and schedule stand on the campaign, bid
and targeting on the ad group. Writes take arrays and answer 200 whatever becomes of their items; keywords come back
without positions. A new pin is published at once: it alone of a plan is to be seen before the activation.

Sources: the API description (github pinterest/api-description 5.23.0; the package pinterestsdk 2.1.0 for 5.28.0);
developers.pinterest.com (authentication, campaigns and ad groups, reporting, rate limits, access tiers, changelog);
help.pinterest.com (campaign objectives, campaign budgets).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial
from typing import Literal

from attrs import frozen

from adsunify.adapter.brief_checks import deny_political_ads
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
    words,
)
from adsunify.errors import InvalidInput, Issue, ProviderNotFound
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.models.error_messages import not_web
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import rows

from . import native as pinterest
from .settings import EDITS, SETTINGS
from .targeting import PARTS, misplaced, not_native, wrong_keywords

# -- levels -------------------------------------------------------------------------------------------------------

STATES: Mapping[str, str] = {
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
    states=STATES,
    settable={"active": pinterest.ACTIVE, "paused": pinterest.PAUSED},
    filters=pinterest.STATUSES,
    born=pinterest.PAUSED,
)
CAMPAIGN = _level(
    "campaign",
    "campaign",
    "campaigns",
    shows={"bidding": ("/objective_type", "/is_campaign_budget_optimization", "/is_flexible_daily_budgets")},
    note="Budget and schedule stand here.",
)
AD_GROUP = _level(
    "adGroup",
    "ad group",
    "ad_groups",
    parent="/campaign_id",
    parent_kind="campaign",
    shows={
        "targeting": ("/targeting_spec", "/auto_targeting_enabled", "/placement_group"),
        "bidding": ("/bid_strategy_type", "/bid_in_micro_currency", "/billable_event", "/budget_type"),
    },
    note=f"Bid and targeting stand here. An edit's targeting takes {', '.join(PARTS)}.",
)
AD = _level(
    "ad",
    "ad",
    "ads",
    parent="/ad_group_id",
    parent_kind="adGroup",
    shows={"creative": ("/pin_id", "/creative_type", "/destination_url", "/review_status", "/rejected_reasons")},
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
    note="It has no paused state: it serves as soon as its ad group does.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD, KEYWORD)


# -- formats ------------------------------------------------------------------------------------------------------


@frozen
class Aim:
    """What a goal is natively."""

    objective: str
    billable_event: str


AIMS: Mapping[str, Aim] = {
    "traffic": Aim("CONSIDERATION", "CLICKTHROUGH"),
    "awareness": Aim("AWARENESS", pinterest.IMPRESSION),
}
GOALS: tuple[Goal, ...] = ("traffic", "awareness")
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
BID: Mapping[Goal, str] = {
    "traffic": "the most that one Pin click may cost",
    "awareness": "the most that 1,000 impressions may cost",
}


def _number(value: str) -> str | None:
    return None if pinterest.DIGITS(value) else "its ids are digits"


def _at_most(longest: int) -> Callable[[str], str | None]:
    return lambda value: None if len(value) <= longest else f"the text has {len(value)} characters"


def _link(address: str) -> str | None:
    return not_web(address) or _at_most(pinterest.LINK)(address)


def _open(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    yield from pinterest.closed(account)


def _whole_seconds(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    for path, written in (("schedule.startAt", brief.schedule.start_at), ("schedule.endAt", brief.schedule.end_at)):
        try:
            if written is not None:
                pinterest.native_time(written, path)
        except InvalidInput as problem:
            yield from problem.issues


COMMON = (
    Input("targeting.countries", "any", group="geography", accepts="countries, locationIds or native targeting"),
    Input("targeting.locationIds", "any", group="geography", test=misplaced, accepts="ids of locations and geo"),
    Input("targeting.native", "any", group="geography", test=not_native, accepts="Pinterest's own targeting_spec"),
    Input("targeting.keywords", "optional", test=wrong_keywords, accepts="up to 50 different keywords"),
    Input("schedule.endAt", "required", periods=("lifetime",), accepts="a lifetime budget is spent up to its end"),
    Input("schedule.endAt", "optional"),
    Input("bid", "optional", accepts="; ".join(f"{goal}: {meaning}" for goal, meaning in BID.items())),
    deny_political_ads(),
    Input("creative.imageHash", "refused", reason="a pin's image is given by its address, as imageUrl"),
    Input("creative.headlines", "refused", reason="a pin has one title, the headline"),
    Input("creative.descriptions", "refused", reason="a pin has one description, the body"),
)
TITLE, DESCRIPTION = _at_most(pinterest.PIN_TITLE), _at_most(pinterest.PIN_DESCRIPTION)
NEW = (
    Input("platform.boardId", "required", test=_number, accepts="an id of the catalog boards"),
    Input("creative.imageUrl", "required", test=not_web, accepts="a public address, which Pinterest fetches"),
    Input("creative.headline", "any", group="copy", test=TITLE, accepts=f"at most {pinterest.PIN_TITLE} characters"),
    Input("creative.body", "any", group="copy", test=DESCRIPTION, accepts=f"at most {pinterest.PIN_DESCRIPTION}"),
    Input("creative.url", "required", goals=("traffic",), test=_link, accepts=f"at most {pinterest.LINK} characters"),
    Input("creative.url", "optional", test=_link, accepts=f"at most {pinterest.LINK} characters"),
)
INHERITED = words("headline body url imageUrl")
EXISTING = (
    Input("creative.existingId", "required", test=_number, accepts="an id of the catalog pins"),
    Input("platform.boardId", "refused", reason="the existing pin is on a board already"),
    *(Input(f"creative.{name}", "refused", reason="the existing pin brings its own") for name in INHERITED),
)
RULES = (_open, _whole_seconds)
NOTES = ("Budget days are days in UTC.",)
NEW_NOTES = (*NOTES, "The pin is published on its board at once; an ad-only board keeps it off the profile.")


def _has_pin(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" in members


def _has_none(members: Mapping[str, Json]) -> bool:
    return "creative.existingId" not in members


FORMATS = (
    Format("image_pin", "Image pin", GOALS, PERIODS, (*NEW, *COMMON), BID, _has_none, RULES, NEW_NOTES),
    Format("existing_pin", "Existing pin", GOALS, PERIODS, (*EXISTING, *COMMON), BID, _has_pin, RULES, NOTES),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Asking = Callable[[Account, str, str | None, int], Request]


def _known(sought: str) -> str:
    if not pinterest.DIGITS(sought):
        raise ProviderNotFound("Pinterest's ids are digits: it has nothing of this name.")
    return sought


def _pins(url: str) -> Asking:
    """A page of pins; ``{board}`` is the suffix."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        path = {"board": _known(sought)} if sought else {}
        return pinterest.organic(account, url, path, *pinterest.paged(limit, cursor))

    return request


def _boards(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    query = (("privacy", "ALL"), *pinterest.paged(pinterest.PAGE, cursor))
    return pinterest.organic(account, "/boards", {}, *query)


def _below(edge: str, *more: tuple[str, str]) -> Asking:
    """A page of a list of the ad account."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        return pinterest.of_account(account, edge, *more, *pinterest.paged(limit, cursor))

    return request


def _keywords(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    return pinterest.of_account(account, KEYWORD.path, ("ad_group_id", _known(sought)), *pinterest.paged(limit, cursor))


def _tags(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    return pinterest.of_account(account, "conversion_tags")


def _countries(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    return pinterest.countries()


def _options(kind: str) -> Catalog:
    """What targeting can name of one kind: all of it at once."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        if pinterest.DIGITS(sought):
            return pinterest.asked("/resources/targeting/interests/{interest}", {"interest": sought})
        return pinterest.asked("/resources/targeting/{kind}", {"kind": kind})

    resource, suffix = OPTIONS[kind]
    note = f"{resource}:<id> for one of them" if suffix == "optional" else ""
    return Catalog(resource, request, _pairs, "/id", "/name", suffix=suffix, note=note)


def _pairs(response: Response) -> list[Mapping[str, Json]]:
    """The rows of a list of maps from id to name; a single interest is an object that names its members."""
    if isinstance(response.body, Mapping) and "id" in response.body:
        return [response.body]
    maps = rows(response.body, "", "list of targeting options")
    return [{"id": key, "name": name} for one in maps for key, name in one.items()]


INTERESTS = "interests"
OPTIONS: Mapping[str, tuple[str, Literal["none", "optional"]]] = {
    "LOCATION": ("locations", "none"),
    "GEO": ("geo", "none"),
    "INTEREST": (INTERESTS, "optional"),
    "LOCALE": ("locales", "none"),
    "AGE_BUCKET": ("age_buckets", "none"),
    "GENDER": ("genders", "none"),
    "APPTYPE": ("app_types", "none"),
}
"""Targeting type to its catalog."""


def _listed(resource: str, request: Asking, name: str = "/name", suffix: str = "") -> Catalog:
    note = f"{resource}:<{suffix}>" if suffix else ""
    need: Literal["none", "required"] = "required" if suffix else "none"
    return Catalog(resource, request, pinterest.listed, "/id", name, pinterest.bookmark, need, note)


CATALOGS = (
    _listed("boards", _boards),
    _listed("board_pins", _pins("/boards/{board}/pins"), "/title", "board id"),
    _listed("pins", _pins("/pins"), "/title"),
    *map(_options, OPTIONS),
    Catalog("countries", _countries, pinterest.listed, "/code", "/name"),
    _listed("audiences", _below("audiences")),
    Catalog("conversion_tags", _tags, pinterest.listed, "/id", "/name"),
    *(_listed(one.path, _below(one.path, *pinterest.statuses(*pinterest.LIVE))) for one in (CAMPAIGN, AD_GROUP, AD)),
    _listed("keywords", _keywords, "/value", "ad group id"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Traffic, 25.00 a day",
        {
            "name": "Autumn kit",
            "objective_type": AIMS["traffic"].objective,
            "status": pinterest.PAUSED,
            "is_campaign_budget_optimization": True,
            "is_flexible_daily_budgets": False,
            pinterest.CAPS["daily"]: 25_000_000,
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
            "billable_event": AIMS["traffic"].billable_event,
            "bid_strategy_type": pinterest.MAX_BID,
            "bid_in_micro_currency": 850_000,
            "budget_type": pinterest.UNDER_CAMPAIGN,
            "pacing_delivery_type": pinterest.PACING,
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

ERRORS = (
    ErrorRule(
        "rejected", "input", "an item that has an exception and no data was not written", (pinterest.REFUSED_ITEM,)
    ),
    ErrorRule("rejected", "input", "the request is not valid", status=400),
    ErrorRule("rejected", "token", "the token is expired, revoked or invalid", status=401),
    ErrorRule("rejected", "permission", "the token, its scope or the role in the account do not permit it", status=403),
    ErrorRule("rejected", "not_found", "no such thing, or not visible to the token", status=404),
    ErrorRule("rejected", "input", "it conflicts with what is there, such as a board in somebody's use", status=409),
    ErrorRule("throttled", "limit", "too many calls, or several writes to one object in a short time", status=429),
)

NETWORK = Network(
    code=pinterest.CODE,
    title="Pinterest",
    version=pinterest.VERSION,
    hosts=(pinterest.HOST, pinterest.CONSENT_HOST),
    login=Login(
        "oauth2",
        scopes=pinterest.SCOPES,
        note="A refresh token is good for 60 days and renewed with each use. A user's token cannot be revoked by us.",
    ),
    unit=pinterest.unit,
    error=pinterest.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # API v5, analytics ("pinterest: 12 Insights"): a day without a row had no delivery, and is still null or a gap in
    # the coverage, not 0.
    missing_day="gap",
    geographies=("/LOCATION", "/GEO"),
    # API v5, reports: 914 days back, counted in UTC.
    history=History(days=914, timezone=pinterest.UTC_NAME),
    money="Native amounts are integers in micros (1,000,000 to one major unit) of every currency, yen included.",
    reports=True,
    templates=TEMPLATES,
    extras=(
        Extra("permissions", f"What the user may do here; {', '.join(pinterest.WRITERS)} may write.", settable=False),
        Extra("country", "The account's country.", settable=False),
        Extra("owner", "The user name of the account's owner.", settable=False),
        Extra("createdTime", "When the account was made, in seconds since 1970.", settable=False),
    ),
    wait=pinterest.wait,
    items=pinterest.items,
    notes=(
        "Deleting archives, which is final; drafts are deleted.",
        "Budget days are days in UTC. With trial access, pins and boards made are visible only to their creator.",
    ),
)
