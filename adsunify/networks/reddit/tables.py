"""Reddit: Ads API v3; v2 has answered 410 since 2025-09-30, no end of v3 is announced.

Three surprises. What is made without a status serves at once: the default is ACTIVE. Nothing can be deleted outright:
an update archives it, and a second one deletes what is archived. Every body, both ways, stands in an envelope
``{"data": ...}``, and the next page of a list is a whole address that is followed as it is.

Sources: ads-api.reddit.com/docs/v3 (the OpenAPI description of 2026-07-14, authentication, campaign set-up, migration
of objectives), the notice on pixels of 2026-04-13; public integrations for what the description leaves open.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from functools import partial

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
    Template,
    words,
)
from adsunify.errors import InvalidInput, Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import text

from . import native as reddit
from .settings import EDITS, SETTINGS
from .targeting import not_native

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    account="/ad_account_id",
    id="/id",
    name="/name",
    status="/configured_status",
    states={
        reddit.ACTIVE: "active",
        reddit.PAUSED: "paused",
        reddit.ARCHIVED: "archived",
        reddit.DELETED: "deleted",
    },
    settable={"active": reddit.ACTIVE, "paused": reddit.PAUSED},
    filters=reddit.STATUSES,
    born=reddit.PAUSED,
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    shows={"bidding": ("/objective", "/bid_strategy", "/bid_type", "/bid_value", "/goal_type")},
    note="It is reviewed and paid for as effective_status says; our status is the configured one.",
)
AD_GROUP = _level(
    *("adGroup", "ad group", "ad_groups"),
    parent="/campaign_id",
    parent_kind="campaign",
    shows={
        "targeting": ("/targeting",),
        "bidding": ("/bid_strategy", "/bid_type", "/bid_value", "/optimization_goal", "/goal_type"),
    },
    note="Budget, schedule, bid, pixel and targeting stand here; keywords are a part of its targeting.",
)
AD = _level(
    *("ad", "ad", "ads"),
    ids=r"[0-9A-Za-z_-]+",
    parent="/ad_group_id",
    parent_kind="adGroup",
    shows={"creative": ("/post_id", "/profile_id", "/click_url", "/effective_status", "/rejection_reason")},
    note="It promotes a post, which is a thing of its own.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD)


# -- formats ------------------------------------------------------------------------------------------------------


def _whole_seconds(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    for path, written in (("schedule.startAt", brief.schedule.start_at), ("schedule.endAt", brief.schedule.end_at)):
        try:
            if written is not None:
                reddit.native_time(written, path)
        except InvalidInput as problem:
            yield from problem.issues


GOALS: tuple[Goal, ...] = ("traffic",)
BID = "the most that a click may cost"  # the description speaks of 3.50 to 100 USD: Reddit decides (unverified)
INHERITED = words("headline body url imageUrl imageHash headlines descriptions")

FORMATS = (
    Format(
        "existing_post",
        "Existing post",
        GOALS,
        ("daily",),
        inputs=(
            Input("creative.existingId", "required", test=reddit.not_a_post, accepts="a completed post, t3_..."),
            *(Input(f"creative.{name}", "refused", reason="the existing post brings its own") for name in INHERITED),
            Input(
                "platform.fundingInstrumentId", "required", accepts="an id of the catalog funding_instruments that pays"
            ),
            Input("platform.pixelId", "required", accepts="an id of the catalog pixels"),
            Input("targeting.native", "required", test=not_native, accepts="Reddit's own targeting object"),
            *(
                Input(
                    f"targeting.{name}",
                    "refused",
                    reason="Reddit is targeted natively: use targeting.native.geolocations",
                )
                for name in ("countries", "locationIds")
            ),
            Input(
                "targeting.keywords",
                "refused",
                reason="Reddit's keywords have no match: use targeting.native.keywords, a list of texts",
            ),
            Input("schedule.endAt", "optional", accepts="without it the ads run on"),
            Input("bid", "optional", accepts=BID),
            Input(
                "platform.specialAdCategories",
                "refused",
                reason="special_ad_categories can only be read in the Ads API; it is set in Reddit's own interface",
            ),
            deny_political_ads(),
        ),
        bid={"traffic": BID},
        rules=(_whole_seconds,),
        notes=("Targeting without geolocations serves everywhere.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Asked = Callable[[Account, str], Request]
_COUNTRY = re.compile(r"[A-Z]{2}").fullmatch


def _catalog(resource: str, request: Asked, name: str = "/name", **cells: Json) -> Catalog:
    """A catalog whose cursor is the address of its next page."""

    def asked(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        return reddit.page(request(account, sought), cursor)

    whole: dict[str, Json] = {"items": reddit.listed, "id": "/id", "name": name, "next": reddit.next_url, **cells}
    return Catalog(resource, asked, **whole)


def _plain(resource: str, path: str) -> Catalog:
    return _catalog(resource, lambda account, sought: reddit.asked(path))


def _owned(resource: str, query: Mapping[str, str] | None = None, **cells: Json) -> Catalog:
    return _catalog(resource, lambda account, sought: reddit.of_account(account, resource, query), **cells)


def _of_profile(resource: str, query: Mapping[str, str] | None = None) -> Catalog:
    def request(account: Account, sought: str) -> Request:
        return reddit.asked(f"/profiles/{{profile}}/{resource}", {"profile": _id_of(sought)}, query)

    return _catalog(resource, request, "/headline", suffix="required", note=f"{resource}:t2_abc, an id of profiles")


def _id_of(sought: str) -> str:
    """An id after the colon: where a space stands, it had an underscore."""
    return sought.replace(" ", "_")


def _job(account: Account, sought: str) -> Request:
    return reddit.asked("/structured_posts/jobs/{job}", {"job": _id_of(sought)})


def _one_job(response: Response) -> Sequence[Mapping[str, Json]]:
    return [reddit.one_of(response, "job")]


def _job_id(row: Mapping[str, Json]) -> str:
    return text(row, "/id") or text(row, "/post_id") or ""


def _geolocations(account: Account, sought: str) -> Request:
    """A country, or the text of a city or (with a digit) of a postal code, or both."""
    country, _, rest = sought.partition(" ") if _COUNTRY(sought[:2]) and sought[2:3] in ("", " ") else ("", "", sought)
    query = {"country": country} if country else {}
    if rest:
        query["postal_code" if any(one.isdigit() for one in rest) else "cities_search"] = rest
    return reddit.asked("/targeting/geolocations", query=query)


def _value(row: Mapping[str, Json]) -> str:
    return text(row, "/id") or text(row, "/value") or ""


def _taxonomy(resource: str, **cells: Json) -> Catalog:
    return _catalog(resource, lambda account, sought: reddit.asked(f"/targeting/{resource}"), **cells)


def _communities(account: Account, sought: str) -> Request:
    return reddit.asked("/targeting/communities/search", query={"query": sought})


def _currency(row: Mapping[str, Json]) -> str:
    return text(row, "/name") or text(row, "/currency") or ""


CATALOGS = (
    _plain("businesses", "/me/businesses"),
    _owned(
        "funding_instruments",
        {"mode": "SELECTABLE"},
        name=_currency,
        note="is_servable and reasons_not_servable say whether it pays; its currency is the account's.",
    ),
    _owned("pixels"),
    _owned("profiles"),
    _of_profile("posts", {"source": "PROMOTED"}),
    _of_profile("structured_posts"),
    _catalog(
        *("post_job", _job, "/status"),
        items=_one_job,
        id=_job_id,
        suffix="required",
        note="post_job:<id>: a post that is being made; with SUCCESS it holds the post_id.",
    ),
    _catalog(
        *("geolocations", _geolocations),
        suffix="optional",
        note="geolocations:US, and a search for a city or a postal code.",
    ),
    _catalog("communities", _communities, id="/name", suffix="required", note="communities:<text> searches by name."),
    _taxonomy("interests"),
    *(_taxonomy(resource, id=_value) for resource in ("languages", "carriers", "devices")),
    _plain("time_zones", "/time_zones"),
    _owned("apps"),
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
    # Ads API: the values of conversions are hundredths, whereas all other money is micros.
    Metric("conversionValue", "/conversion_purchase_total_value", "cents", note="The value of purchases only."),
)

ERRORS = (
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",)),
    ErrorRule(
        "rejected", "permission", "the app's credentials are not right", ("invalid_client", "unauthorized_client")
    ),
)

NETWORK = Network(
    code=reddit.CODE,
    title="Reddit",
    version=reddit.VERSION,
    hosts=(reddit.HOST, reddit.LOGIN_HOST),
    login=Login(
        "oauth2",
        scopes=reddit.SCOPES,
        note="The app lives in Reddit's Business Manager, where an admin of the business makes it.",
    ),
    unit=reddit.unit,
    error=reddit.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Ads API v3, reports ("reddit: 12 Insights"): a day without a row is null, unless the report covers it and is
    # final: then it had no delivery.
    missing_day="zero_once_final",
    geographies=("/geolocations",),
    # Ads API v3, reports: 24 months.
    history=History(months=24),
    money="Native amounts are integers, 1,000,000 to one of the account's currency.",
    templates=TEMPLATES,
    extras=(
        Extra("businessId", "The business that owns the account.", settable=False),
        Extra("type", "MANAGED or SELF_SERVE.", settable=False),
        Extra("suspensionReason", "Why the account is suspended.", settable=False),
        Extra("attributionType", "What conversions are attributed to.", settable=False),
        Extra("clickAttributionWindow", "How long after a click a conversion counts.", settable=False),
        Extra("viewAttributionWindow", "How long after a view a conversion counts.", settable=False),
    ),
    wait=reddit.wait,
    notes=(
        "Accounts that serve are VALID, TRUSTED or ADMIN; there is no sandbox, what is made for tests stays paused.",
        "Deleting archives first; what is archived is deleted by a second operation.",
        "Every ad group needs a pixel, whatever its objective.",
        "A funding instrument counts in USD, GBP, CAD, EUR, AUD, NZD, SGD or BRL.",
    ),
)
