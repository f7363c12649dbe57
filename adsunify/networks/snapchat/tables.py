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

from attrs import evolve

from adsunify.brief import CampaignBrief
from adsunify.errors import Issue, ProviderUnreadable, refused
from adsunify.network import (
    Account,
    Catalog,
    Entity,
    ErrorRule,
    Extra,
    Format,
    Goal,
    Input,
    ItemAnswer,
    Level,
    Login,
    Metric,
    Network,
    Period,
    Setting,
    Template,
    words,
)
from adsunify.schedule import instant
from adsunify.steps import Step
from adsunify.wire import Json, Request, Response, identifier, read, rows, text

from . import native as snap
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
)

CAMPAIGN = _level("campaign", "campaign", "campaigns", shows={"bidding": ("/objective_v2_properties", "/buy_model")})
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


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What an answer says of the one entity that was sent: success counts only on both levels and with an id."""
    one = next(level for level in LEVELS if level.kind == step.kind)
    listed = read(response.body, f"/{one.path}")
    if not isinstance(listed, list) or len(listed) != 1:
        return None
    native_id = identifier(read(listed[0], f"/{one.native}/id"))
    done = snap.succeeded(read(response.body, "/request_status")) and snap.succeeded(
        read(listed[0], "/sub_request_status")
    )
    if done:
        return [ItemAnswer(0, native_id)]
    failed = snap.error(response)
    if failed is None:
        return None
    if native_id is not None and step.action == "create":  # refused, and yet there is something new: nobody knows
        return [ItemAnswer(0, native_id, evolve(failed, codes=()))]
    return [ItemAnswer(0, error=failed)]


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
            Input("platform.euPoliticalAdvertising", "refused", reason="it has no such declaration"),
        ),
        bid={"awareness": CPM},
        rules=(_floor, _regulated, no_overlap, one_language),
        notes=("Several countries are reached in exactly one language, that of platform.locale.",),
    ),
)


# -- settings -----------------------------------------------------------------------------------------------------

PACING_LEVEL = "campaign_pacing_level"
"""What :func:`reads.editable` puts beside an ad squad: the pacing level of its campaign."""


def period_of(entity: Entity) -> Period | None:
    """The period of an ad squad's budget."""
    if entity.get("lifetime_budget_micro") is not None:
        return "lifetime"
    return "daily" if entity.get("daily_budget_micro") is not None else None


def _budget(entity: Entity) -> str:
    return f"/{period_of(entity) or 'daily'}_budget_micro"


def _not_smart(entity: Entity, now: datetime | None) -> str | None:
    smart = entity.get("pacing_level") == snap.SMART_BUDGETS
    return None if smart else "the budget is set on ad squads; a campaign has dailyCap and spendCap"


def _on_campaign(entity: Entity, now: datetime | None) -> str | None:
    return "the campaign holds the budget (Smart Budgets)" if entity.get(PACING_LEVEL) == snap.SMART_BUDGETS else None


def _started(entity: Entity, now: datetime | None) -> str | None:  # (unverified)
    start = snap.moment(entity.get("start_time"))
    return "it has started" if now is not None and start is not None and start <= now else None


def _automatic(entity: Entity, now: datetime | None) -> str | None:
    # Ads API: a bid together with AUTO_BID is refused.
    automatic = entity.get("bid_strategy") == snap.AUTO_BID
    return f"{snap.AUTO_BID} takes no bid; change bidStrategy too" if automatic else None


def _instant(member: str) -> Callable[[Json, Entity, Account], dict[str, Json]]:
    def write(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
        return {f"/{member}": None if value is None else snap.native_time(instant(value))}

    return write


def _strategy(value: Json, entity: Entity, account: Account) -> dict[str, Json]:
    return {"/bid_strategy": value} | ({"/bid_micro": None} if value == snap.AUTO_BID else {})


FIXED = "Snap does not let it be changed once set"
_cap = partial(Setting, "campaign", unit="money", minimum=snap.LEAST_CAP)
_status = partial(Setting, field="status", native="/status", unit="choice", choices=snap.STATUSES)
_name = partial(Setting, field="name", native="/name", longest=snap.NAME_LENGTH)
_start = partial(Setting, field="startAt", native="/start_time", unit="instant", write=_instant("start_time"))
_end = partial(Setting, field="endAt", native="/end_time", unit="instant", clears=True, write=_instant("end_time"))

SETTINGS = (
    _name("campaign"),
    _status("campaign"),
    _start("campaign", lock=_started),
    _end("campaign"),
    _cap("budget", "/daily_budget_micro", period="daily", lock=_not_smart),
    _cap(
        *("dailyCap", "/daily_budget_micro"),
        period="daily",
        clears=True,
        note="dailyCap: a cap; under Smart Budgets it is the campaign's budget itself.",
    ),
    _cap("spendCap", "/lifetime_spend_cap_micro", clears=True),
    *(Setting("campaign", name, f"/{name}", lock=FIXED) for name in words("objective_v2_properties buy_model")),
    Setting("campaign", "ad_account_id", "/ad_account_id", lock=FIXED),
    _name("adGroup"),
    _status("adGroup"),
    _start("adGroup"),
    _end("adGroup"),
    Setting(
        *("adGroup", "budget", _budget, "money", period_of),
        minimum=snap.LEAST_BUDGET,
        lock=_on_campaign,
        note="A daily budget stays daily, a lifetime budget lifetime.",
    ),
    Setting(
        *("adGroup", "bidStrategy", "/bid_strategy", "choice"),
        choices=snap.STRATEGIES,
        write=_strategy,
        note=f"{snap.AUTO_BID} drops the bid; the others need one.",
    ),
    Setting("adGroup", "bid", "/bid_micro", "money", lock=_automatic),
    Setting("adGroup", "pacing", "/pacing_type", "choice", choices=snap.PACING),
    Setting(
        *("adGroup", "frequencyCap", "/cap_and_exclusion_config"),
        lock="it is an object of several members: change cap_and_exclusion_config with a native update",
    ),
    *(
        Setting("adGroup", name, f"/{name}", lock=FIXED)
        for name in words("optimization_goal type billing_event child_ad_type campaign_id")
    ),
    _name("ad"),
    _status("ad"),
    # That an ad's creative is fixed is (unverified).
    *(
        Setting("ad", name, f"/{name}", lock=f"{FIXED}; make a new ad")
        for name in words("creative_id type ad_squad_id")
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
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    money="Native amounts are integers, 1,000,000 to one of every currency.",
    templates=TEMPLATES,
    extras=(
        Extra("organizationId", "The organization that the account belongs to.", settable=False),
        Extra("restrictedDeliverySignals", "Whether housing, credit and employment are enabled.", ("true", "false")),
    ),
    wait=snap.wait,
    items=items,
    notes=(
        "An ad account made for tests never serves.",
        "Figures are final about 48 hours after the day; reach is not told by day.",
        "Ad squads of the type COLLECTION are reported to refuse every change.",
    ),
)
