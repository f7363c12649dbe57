"""Snap Marketing API (Ads API) v1, the only version so far: what the API has and what the adapter uses, as tables.

No sunset is announced.

Three surprises. An update replaces the whole object, so every change reads the object first and applies itself to it. A
successful response may hold a failure: each entity has a status of its own inside HTTP 200. A targeting of several
countries requires exactly one language.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import partial
from urllib.parse import parse_qsl

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Goal, Input, Period, refused_inputs
from adsunify.adapter.metrics import Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    ErrorRule,
    Extra,
    Level,
    NativeEntity,
    Network,
    PayloadRules,
    Template,
    first_text,
    project_sunset,
    split_words,
)
from adsunify.errors import Issue, ProviderUnreadable, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_text

from . import native as snap
from .settings import EDITS, SETTINGS
from .targeting import (
    EDITABLE_TARGETING,
    PLACE_FORM,
    check_language,
    check_location_overlap,
    find_locations_error,
    find_native_targeting_error,
)

# -- levels -------------------------------------------------------------------------------------------------------


def _is_deleted(entity: NativeEntity) -> bool:
    return entity.get("deleted") is True


_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    is_deleted=_is_deleted,
    unified_statuses={snap.ACTIVE: "active", snap.PAUSED: "paused"},
    writable_statuses={"active": snap.ACTIVE, "paused": snap.PAUSED},
    status_filters=snap.STATUSES,
    initial_status=snap.PAUSED,
    created="/created_at",
    hidden_statuses=(snap.DELETED,),
    payload=PayloadRules(
        read_only=("id", *snap.READ_ONLY_MEMBERS),
        neutral=snap.NEUTRAL_MEMBERS,
        bidding={"bid_strategy": (snap.MAX_BID, snap.TARGET_COST)},
    ),
    id_pattern=r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}",
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    account="/ad_account_id",
    settings_context={"bidding": ("/objective_v2_properties", "/buy_model")},
)
AD_SQUAD = _level(
    *("adGroup", "adsquad", "adsquads"),
    label="ad squad",
    parent="/campaign_id",
    parent_kind="campaign",
    settings_context={
        "targeting": ("/targeting", "/placement_v2"),
        "bidding": ("/bid_strategy", "/bid_micro", "/optimization_goal", "/billing_event"),
    },
    note=f"Holds budget, schedule, bid and targeting. Targeting edits take {', '.join(EDITABLE_TARGETING)}.",
)
AD = _level(
    *("ad", "ad", "ads"),
    parent="/ad_squad_id",
    parent_kind="adGroup",
    review_status="/review_status",
    disapproved_statuses=(snap.REVIEW_REJECTED,),
    settings_context={"creative": ("/creative_id", "/type", "/review_status", "/review_status_reasons")},
    note="It points to a creative of the account, for good.",
)
LEVELS = (CAMPAIGN, AD_SQUAD, AD)


# -- formats ------------------------------------------------------------------------------------------------------


def _check_budget_floor(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    if Decimal(brief.budget.amount) < Decimal(snap.MIN_BUDGET):
        message = f"Snapchat takes a budget of at least {snap.MIN_BUDGET} in the account's currency."
        yield Issue("budget.amount", "too_small", message)


def _check_regulated(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    known = account.extras.get("restrictedDeliverySignals")
    if brief.platform.special_ad_categories and known is not None and known != "true":
        message = "Snapchat: the ad account has no restricted delivery signals; they are switched on there first."
        yield Issue("platform.specialAdCategories", "not_enabled", message)


GOALS: tuple[Goal, ...] = ("awareness",)
PERIODS: tuple[Period, ...] = ("daily", "lifetime")
IMPRESSION_BID_MEANING = (
    "the most that 1,000 impressions may cost"  # unverified: Snap counts bids for impressions per 1,000
)

FORMATS = (
    Format(
        "existing_creative",
        "Existing creative",
        GOALS,
        PERIODS,
        inputs=(
            Input("creative.existingId", "required", "an id of the catalog creatives"),
            *refused_inputs("creative", CONTENT_MEMBERS, "the existing creative brings its own"),
            Input("targeting.countries", "any", "countries, locationIds or native targeting", group="geography"),
            Input("targeting.locationIds", "any", PLACE_FORM, group="geography", find_error=find_locations_error),
            Input(
                "targeting.native",
                "any",
                "Snap's own targeting object",
                group="geography",
                find_error=find_native_targeting_error,
            ),
            Input("targeting.keywords", "refused", reason="its ads are shown to people, not on searches"),
            Input("schedule.endAt", "required", "a lifetime budget is spent up to it", periods=("lifetime",)),
            Input("schedule.endAt", "optional"),
            Input("bid", "optional", IMPRESSION_BID_MEANING),
            Input("platform.locale", "optional", "required for several countries; its country is one of them"),
            Input("platform.specialAdCategories", "optional", choices=snap.SPECIAL_AD_CATEGORIES),
            deny_political_ads(),
        ),
        bid_meanings={"awareness": IMPRESSION_BID_MEANING},
        rules=(
            _check_budget_floor,
            _check_regulated,
            check_location_overlap,
            check_language,
        ),
        notes=("Several countries are reached in exactly one language, that of platform.locale.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

RowsParser = Callable[[Response], Sequence[Mapping[str, Json]]]


def _wrapped_rows_parser(plural: str, name: str) -> RowsParser:
    return lambda response: snap.parse_wrapped_rows(response, plural, name)


def _collection_catalog(resource: str, plural: str, name: str) -> Catalog:
    """Build a catalog of objects that belong to the account."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        url, path = f"{snap.API_URL}/adaccounts/{{account}}/{plural}", {"account": account.native_id}
        return Request("GET", url, path, snap.build_page_query(limit, cursor))

    return Catalog(resource, request, _wrapped_rows_parser(plural, name), "/id", "/name", snap.parse_next_cursor)


def _build_sources_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    organization = account.extras.get("organizationId")
    if not organization:
        message = "Snapchat lists funding sources by organization; the account extra organizationId is not known."
        raise invalid_input("account.extras.organizationId", "account_extra_missing", message)
    url, path = f"{snap.API_URL}/organizations/{{id}}/fundingsources", {"id": organization}
    return Request("GET", url, path, snap.build_page_query(limit, cursor))


def parse_suffix_country(suffix: str) -> str:
    """Return the country in the suffix of a catalog, in lower case. Raises InvalidInput for other text."""
    if not (len(suffix) == 2 and suffix.isascii() and suffix.isalpha()):
        raise invalid_input("resource", "catalog_suffix", "After the colon comes a country of two letters, such as US.")
    return suffix.lower()


def _dimension_parser(word: str) -> RowsParser:
    """Build the parser of a targeting list. A row is in a member ``word``, possibly within another member ``word``."""
    # unverified: a row of a targeting list may be nested in a member of its own name.

    def parse_rows(response: Response) -> list[Mapping[str, Json]]:
        inner = [_get_innermost(row, word) for row in get_objects(response.body, "/targeting_dimensions", "catalog")]
        if any(inner_row is None for inner_row in inner):
            raise ProviderUnreadable(f"A row of the targeting list holds no {word}.")
        return [inner_row for inner_row in inner if inner_row is not None]

    return parse_rows


def _get_innermost(row: Mapping[str, Json], word: str) -> Mapping[str, Json] | None:
    inner = row.get(word)
    while isinstance(inner, Mapping) and isinstance(inner.get(word), Mapping):
        inner = inner[word]
    return inner if isinstance(inner, Mapping) else None


_get_id = first_text("/id", "/code")


def _get_country_id(row: Mapping[str, Json]) -> str:
    codes = [get_text(row, at) or "" for at in ("/id", "/code", "/code2")]
    return next((code.lower() for code in codes if len(code) == 2 and code.isalpha()), _get_id(row))


def _searched_catalog(resource: str, path: str, word: str) -> Catalog:
    """Build a catalog of targeting options. The suffix of the resource replaces ``{country}`` in the path.

    Only the lists of places have pages.
    """
    takes = "{country}" in path

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        place = parse_suffix_country(suffix) if takes else ""
        address, _, query = path.replace("{country}", place).partition("?")
        page_query = snap.build_page_query(limit, cursor) if path.startswith("geo/") else dict(parse_qsl(query))
        return Request("GET", f"{snap.API_URL}/targeting/{address}", query=page_query)

    return Catalog(
        *(
            resource,
            request,
            _dimension_parser(word),
            _get_country_id if word == "country" else _get_id,
            "/name",
            snap.parse_next_cursor,
        ),
        suffix="required" if takes else "none",
        note=f"{resource}:US" if takes else "",
    )


PLACE_CATALOGS: Mapping[str, str] = {"regions": "region", "metros": "metro", "postal_codes": "postal"}
"""The catalogs whose ids are parts of location IDs -> the text between the country and the id."""

CATALOGS = (
    _collection_catalog("creatives", "creatives", "creative"),
    _collection_catalog("media", "media", "media"),
    _searched_catalog("countries", "geo/country", "country"),
    _searched_catalog("regions", "geo/{country}/region", "region"),
    _searched_catalog("metros", "geo/{country}/metro", "metro"),
    _searched_catalog("postal_codes", "geo/{country}/postal_code", "postal_code"),
    _searched_catalog("languages", "demographics/languages", "languages"),
    _searched_catalog("age_groups", "demographics/age_group", "age_group"),
    _searched_catalog("genders", "demographics/gender", "gender"),
    _searched_catalog("interests", "interests/scls?country_code={country}", "scls"),
    _searched_catalog("os_types", "device/os_type", "os_type"),
    _searched_catalog("connection_types", "device/connection_type", "connection_type"),
    _searched_catalog("carriers", "device/carrier", "carrier"),
    _collection_catalog("audiences", "segments", "segment"),
    _collection_catalog("pixels", "pixels", "pixel"),
    Catalog(
        "funding_sources",
        _build_sources_request,
        _wrapped_rows_parser("fundingsources", "fundingsource"),
        "/id",
        "/type",
    ),
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

REPORT_SOURCE = "Ads API v1, measurement (read 2026-11-23)"
# unverified: the statistics of an account or a campaign by entity have its deleted entities, too.
REPORT_LEVELS = (
    ReportLevel("campaign", "campaign", "/id", source=REPORT_SOURCE),
    ReportLevel("adGroup", "adsquad", "/id", source=REPORT_SOURCE),
    ReportLevel("ad", "ad", "/id", source=REPORT_SOURCE),
)
"""The reports below the account. A row has no name and no parent; they are added if another request returns them."""

ERRORS = (
    ErrorRule("throttled", "limit", "the creative or its media is not ready yet; nothing was made", (snap.NOT_READY,)),
    ErrorRule(
        "rejected", "input", "the request is not one that Snap takes", split_words("E1008 E3002 E1165 E1166 E4001")
    ),
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
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(snap.HOST, snap.LOGIN_HOST),
    login=snap.LOGIN,
    time=snap.TIME,
    get_money_unit=snap.get_money_unit,
    parse_error=snap.parse_error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Ads API, stats: with omit_empty=false every day has a row. A day without a row means that Snap ignored that
    # parameter, so the day is unknown and not zero.
    missing_day="gap",
    geographies=("/geos", "/locations"),
    money_note="Native amounts are integers, 1,000,000 to one of every currency.",
    templates=TEMPLATES,
    extras=(
        Extra(
            "organizationId",
            "The organization that the account belongs to.",
            label="Organization",
            native="/organization_id",
        ),
        Extra(
            "restrictedDeliverySignals",
            "Whether housing, credit and employment are enabled.",
            ("true", "false"),
            is_settable=True,
            label="Housing, credit and employment enabled",
            form="flag",
            native="/regulations/restricted_delivery_signals",
        ),
    ),
    parse_retry_delay=snap.parse_retry_delay,
    parse_item_results=partial(snap.parse_level_results, LEVELS),
    notes=(
        "An ad account made for tests never serves.",
        "Figures are final about 48 hours after the day; reach is not reported by day.",
        "Ad squads of the type COLLECTION are reported to refuse every change.",
    ),
    brief_catalogs={"creative.existingId": "creatives"},
)
