"""Snapchat: Snap Marketing API (Ads API) v1, the only version since its launch; no sunset announced.

Three surprises. An update replaces the whole object, so every change reads it first and lays itself over it. A success
may hold a failure: an entity has a status of its own inside HTTP 200. Several countries are reached only together with
exactly one language.

Sources: developers.snap.com (Ads API: campaigns, ad squads, ads, creatives, targeting, measurement, errors, rate
limits, monetary values, announcements of 2026), public connectors for the shapes of targeting lists and statistics.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import datetime
from decimal import Decimal
from functools import partial
from urllib.parse import parse_qsl

from adsunify.adapter.brief_checks import deny_political_ads, times_held
from adsunify.adapter.network import (
    Account,
    Catalog,
    ErrorRule,
    Extra,
    Format,
    Goal,
    Input,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Template,
    words,
)
from adsunify.errors import Issue, ProviderUnreadable, refused
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import rows, text

from . import native as snap
from .settings import EDITS, SETTINGS
from .targeting import PARTS, PLACE_FORMS, misplaced, no_overlap, not_native, one_language

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    states={snap.ACTIVE: "active", snap.PAUSED: "paused"},
    settable={"active": snap.ACTIVE, "paused": snap.PAUSED},
    filters=snap.STATUSES,
    born=snap.PAUSED,
    ids=r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    account="/ad_account_id",
    shows={"bidding": ("/objective_v2_properties", "/buy_model")},
)
AD_SQUAD = _level(
    *("adGroup", "adsquad", "adsquads"),
    parent="/campaign_id",
    parent_kind="campaign",
    shows={
        "targeting": ("/targeting", "/placement_v2"),
        "bidding": ("/bid_strategy", "/bid_micro", "/optimization_goal", "/billing_event"),
    },
    note=f"Budget, schedule, bid and targeting stand here. An edit's targeting takes {', '.join(PARTS)}.",
)
AD = _level(
    *("ad", "ad", "ads"),
    parent="/ad_squad_id",
    parent_kind="adGroup",
    shows={"creative": ("/creative_id", "/type", "/review_status", "/review_status_reasons")},
    note="It points to a creative of the account, for good.",
)
LEVELS = (CAMPAIGN, AD_SQUAD, AD)


# -- formats ------------------------------------------------------------------------------------------------------


def _floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if Decimal(brief.budget.amount) < Decimal(snap.LEAST_BUDGET):
        message = f"Snapchat takes a budget of at least {snap.LEAST_BUDGET} in the account's currency."
        yield Issue("budget.amount", "too_small", message)


def _regulated(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    known = account.extras.get("restrictedDeliverySignals")
    if brief.platform.special_ad_categories and known is not None and known != "true":
        message = "Snapchat: the ad account has no restricted delivery signals; they are switched on there first."
        yield Issue("platform.specialAdCategories", "not_enabled", message)


GOALS: tuple[Goal, ...] = ("awareness",)
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
CPM = "the most that 1,000 impressions may cost"  # that Snap counts such bids per 1,000 is (unverified)
INHERITED = words("headline body url imageUrl imageHash headlines descriptions")

FORMATS = (
    Format(
        "existing_creative",
        "Existing creative",
        GOALS,
        PERIODS,
        inputs=(
            Input("creative.existingId", "required", accepts="an id of the catalog creatives"),
            *(
                Input(f"creative.{name}", "refused", reason="the existing creative brings its own")
                for name in INHERITED
            ),
            Input(
                "targeting.countries", "any", group="geography", accepts="countries, locationIds or native targeting"
            ),
            Input("targeting.locationIds", "any", group="geography", test=misplaced, accepts=PLACE_FORMS),
            Input("targeting.native", "any", group="geography", test=not_native, accepts="Snap's own targeting object"),
            Input("targeting.keywords", "refused", reason="its ads are shown to people, not on searches"),
            Input("schedule.endAt", "required", periods=("lifetime",), accepts="a lifetime budget is spent up to it"),
            Input("schedule.endAt", "optional"),
            Input("bid", "optional", accepts=CPM),
            Input("platform.locale", "optional", accepts="required for several countries; its country is one of them"),
            Input("platform.specialAdCategories", "optional", choices=snap.CATEGORIES),
            deny_political_ads(),
        ),
        bid={"awareness": CPM},
        rules=(times_held("Snapchat"), _floor, _regulated, no_overlap, one_language),
        notes=("Several countries are reached in exactly one language, that of platform.locale.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Rows = Callable[[Response], Sequence[Mapping[str, Json]]]


def _unwrapped(plural: str, name: str) -> Rows:
    return lambda response: snap.unwrapped(response, plural, name)


def _owned(resource: str, plural: str, name: str) -> Catalog:
    """A catalog that is a list of the account."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        url, path = f"{snap.API}/adaccounts/{{account}}/{plural}", {"account": account.native_id}
        return Request("GET", url, path, snap.paged(limit, cursor))

    return Catalog(resource, request, _unwrapped(plural, name), "/id", "/name", snap.next_cursor)


def _sources(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    organization = account.extras.get("organizationId")
    if not organization:
        message = "Snapchat lists funding sources by organization; the account extra organizationId is not known."
        raise refused("account.extras.organizationId", "account_extra_missing", message)
    url, path = f"{snap.API}/organizations/{{id}}/fundingsources", {"id": organization}
    return Request("GET", url, path, snap.paged(limit, cursor))


def country_of(sought: str) -> str:
    """The country that a catalog is asked for, in small letters."""
    if not (len(sought) == 2 and sought.isascii() and sought.isalpha()):
        raise refused("resource", "catalog_suffix", "After the colon stands a country of two letters, such as US.")
    return sought.lower()


def _dimension(word: str) -> Rows:
    """The rows of a targeting list: each stands under its type, some of them twice (unverified)."""

    def found(response: Response) -> list[Mapping[str, Json]]:
        inner = [_innermost(row, word) for row in rows(response.body, "/targeting_dimensions", "catalog")]
        if any(one is None for one in inner):
            raise ProviderUnreadable(f"A row of the targeting list holds no {word}.")
        return [one for one in inner if one is not None]

    return found


def _innermost(row: Mapping[str, Json], word: str) -> Mapping[str, Json] | None:
    inner = row.get(word)
    while isinstance(inner, Mapping) and isinstance(inner.get(word), Mapping):
        inner = inner[word]
    return inner if isinstance(inner, Mapping) else None


def _id(row: Mapping[str, Json]) -> str:
    return text(row, "/id") or text(row, "/code") or ""


def _country_id(row: Mapping[str, Json]) -> str:
    codes = [text(row, at) or "" for at in ("/id", "/code", "/code2")]
    return next((one.lower() for one in codes if len(one) == 2 and one.isalpha()), _id(row))


def _targeting(resource: str, path: str, word: str) -> Catalog:
    """A catalog of what targeting can name; ``{country}`` in the path stands for the text after the colon.

    Only places are so many that they come in pages.
    """
    takes = "{country}" in path

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        place = country_of(sought) if takes else ""
        address, _, query = path.replace("{country}", place).partition("?")
        asked = snap.paged(limit, cursor) if path.startswith("geo/") else dict(parse_qsl(query))
        return Request("GET", f"{snap.API}/targeting/{address}", query=asked)

    return Catalog(
        *(resource, request, _dimension(word), _country_id if word == "country" else _id, "/name", snap.next_cursor),
        suffix="required" if takes else "none",
        note=f"{resource}:US" if takes else "",
    )


PLACE_CATALOGS: Mapping[str, str] = {"regions": "region", "metros": "metro", "postal_codes": "postal"}
"""Catalogs whose ids become locations: what stands between the country and the id."""

CATALOGS = (
    _owned("creatives", "creatives", "creative"),
    _owned("media", "media", "media"),
    _targeting("countries", "geo/country", "country"),
    _targeting("regions", "geo/{country}/region", "region"),
    _targeting("metros", "geo/{country}/metro", "metro"),
    _targeting("postal_codes", "geo/{country}/postal_code", "postal_code"),
    _targeting("languages", "demographics/languages", "languages"),
    _targeting("age_groups", "demographics/age_group", "age_group"),
    _targeting("genders", "demographics/gender", "gender"),
    _targeting("interests", "interests/scls?country_code={country}", "scls"),
    _targeting("os_types", "device/os_type", "os_type"),
    _targeting("connection_types", "device/connection_type", "connection_type"),
    _targeting("carriers", "device/carrier", "carrier"),
    _owned("audiences", "segments", "segment"),
    _owned("pixels", "pixels", "pixel"),
    Catalog("funding_sources", _sources, _unwrapped("fundingsources", "fundingsource"), "/id", "/type"),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

TEMPLATES = (
    Template(
        "campaign",
        "Awareness",
        {
            "name": "Tea spring",
            "start_time": "2030-01-15T09:00:00.000Z",
            "buy_model": snap.AUCTION,
            "objective_v2_properties": {"objective_v2_type": snap.AWARENESS},
        },
    ),
    Template(
        "adGroup",
        "Impressions, 18.50 a day",
        {
            "name": "Tea spring",
            "type": snap.SNAP_ADS,
            "placement_v2": {"config": snap.AUTOMATIC},
            "billing_event": snap.IMPRESSION,
            "optimization_goal": snap.IMPRESSIONS,
            "bid_strategy": snap.AUTO_BID,
            "daily_budget_micro": 18_500_000,
            "targeting": {"geos": [{"country_code": "no"}]},
        },
        "Its parentId is the campaign.",
    ),
    Template(
        "ad",
        "An existing creative",
        {"name": "Tea spring", "creative_id": "44444444-aaaa-4bbb-8ccc-000000000004", "type": "SNAP_AD"},
        "Its parentId is the ad squad; its type follows from the creative's.",
    ),
)

METRICS = (
    Metric("impressions", "/stats/impressions", "count"),
    Metric("clicks", "/stats/swipes", "count", note="Swipes."),
    Metric("spend", "/stats/spend", "micros"),
    Metric("conversions", "/stats/conversion_purchases", "decimal", note="Purchases."),
    Metric("conversionValue", "/stats/conversion_purchases_value", "micros", note="The value of the same purchases."),
    Metric("videoViews", "/stats/video_views", "count", note="Views of 2 seconds."),
)

ERRORS = (
    ErrorRule("throttled", "limit", "the creative or its media is not ready yet; nothing was made", (snap.NOT_READY,)),
    ErrorRule("rejected", "input", "the request is not one that Snap takes", words("E1008 E3002 E1165 E1166 E4001")),
    ErrorRule("rejected", "input", "the field cannot be changed once set", ("E2023",)),
    ErrorRule("rejected", "input", "a field breaks a rule", ("2000-2999",)),
    ErrorRule("rejected", "input", "the entity is refused inside a success", (snap.ITEM_ERROR,)),
    ErrorRule("rejected", "token", "the consent was withdrawn or has run out", ("invalid_grant",)),
    ErrorRule(
        "rejected", "permission", "the app's credentials are not right", ("invalid_client", "unauthorized_client")
    ),
)

NETWORK = Network(
    code=snap.CODE,
    title="Snapchat",
    version=snap.VERSION,
    hosts=(snap.HOST, snap.ACCOUNTS_HOST),
    login=Login(
        "oauth2",
        scopes=(snap.PERMISSION,),
        ahead=60,
        note="There is no call to revoke it: the user removes the app in the Snapchat account.",
    ),
    unit=snap.unit,
    error=snap.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Ads API, stats ("snapchat: 12 Insights"): a campaign without a row counts as 0 only if omit_empty=false was
    # honoured. It gives every day a row, so where a day has none, it was not honoured.
    missing_day="gap",
    geographies=("/geos", "/locations"),
    money="Native amounts are integers, 1,000,000 to one of every currency.",
    templates=TEMPLATES,
    extras=(
        Extra("organizationId", "The organization that the account belongs to.", settable=False),
        Extra("restrictedDeliverySignals", "Whether housing, credit and employment are enabled.", ("true", "false")),
    ),
    wait=snap.wait,
    items=partial(snap.items, LEVELS),
    notes=(
        "An ad account made for tests never serves.",
        "Figures are final about 48 hours after the day; reach is not told by day.",
        "Ad squads of the type COLLECTION are reported to refuse every change.",
    ),
)
