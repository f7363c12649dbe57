"""Apple Ads: Apple Ads Platform API 1.0 (August 2026). No sunset announced; its predecessor, version 5 of the Campaign
Management API, ends on 2027-01-26 and is not used.

Three surprises. There is no consent page: an account is connected with a key of its own, which signs a secret for every
token. A write of several keywords answers 200 also where it refuses them all. Queries and reports are POSTs that only
read, and want an ad account named in a header.

Sources: developer.apple.com/documentation/apple-ads-platform-api (OAuth, access overview, rate limits, campaigns, ad
groups, ads, keywords and bulk operations, creatives, geo targeting, reports, changelog).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import datetime
from functools import partial

from adsunify.adapter.brief_checks import deny_political_ads, times_held
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
from adsunify.errors import InvalidInput, Issue, refused
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import text

from . import native as apple
from .settings import EDITS, SETTINGS
from .targeting import (
    COUNTRIES,
    INCLUDE,
    PLACE_FORM,
    countries_of,
    misplaced,
    not_native,
    wrong_keywords,
)

# -- levels -------------------------------------------------------------------------------------------------------

_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    states={apple.ENABLED: "active", apple.PAUSED: "paused"},
    settable={"active": apple.ENABLED, "paused": apple.PAUSED},
    filters=apple.STATUSES,
    born=apple.PAUSED,
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    shows={"targeting": ("/targeting",), "bidding": ("/bidStrategy", "/billingEvent")},
    note="An edit's targeting takes its countries (locations).",
)
AD_GROUP = _level(
    *("adGroup", "adGroup", "adgroups"),
    parent="/campaignId",
    parent_kind="campaign",
    shows={"targeting": ("/targeting",), "bidding": ("/bidStrategy", "/pricingModel", "/automatedKeywordsOptIn")},
)
AD = _level(
    *("ad", "ad", "ads"),
    parent="/adGroupId",
    parent_kind="adGroup",
    shows={"creative": ("/creativeId", "/systemStatus", "/systemStatusReasons")},
    note="An ad group holds several ads, of which one may be enabled at a time.",
)
KEYWORD = _level(
    *("keyword", "keyword", "keywords"),
    name="/text",
    parent="/adGroupId",
    parent_kind="adGroup",
    note="Keywords are shown and switched on with their campaign; they have no endpoints of their own here.",
)
LEVELS = (CAMPAIGN, AD_GROUP, AD, KEYWORD)


# -- formats ------------------------------------------------------------------------------------------------------


def _app_store(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """What is known of the account has to let it advertise an app."""
    extras = account.extras
    features = extras.get("productFeatures")
    if features is not None and apple.APP_STORE_FEATURE not in features.split(","):
        message = f"Apple Ads: the ad account has no {apple.APP_STORE_FEATURE}; it advertises on Apple Maps only."
        yield Issue("account.extras.productFeatures", "not_supported", message)
    if extras.get("contentProvider") == "false":
        message = f"Apple Ads: no {apple.CONTENT_PROVIDER} has been delegated to the ad account, so it has no apps."
        yield Issue("account.extras.contentProvider", "not_supported", message)
    if extras.get("paymentModel") == apple.CREDIT_LINE:
        message = "Apple Ads asks accounts with a line of credit for invoiceDetail; create the campaign natively."
        yield Issue("account.extras.paymentModel", "not_supported", message)
    try:
        apple.number(account.native_id, "account.nativeId")
    except InvalidInput as problem:
        yield from problem.issues


def _one_country(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    # A rule of version 5, of which version 1.0 says nothing (unverified).
    if brief.targeting.location_ids and len(countries_of(brief)) != 1:
        message = "Apple Ads takes locations only within exactly one country in targeting.countries."
        yield Issue("targeting.locationIds", "conflict", message)


def _no_id(what: str, value: Json) -> str | None:
    try:
        apple.number(value, "")
    except InvalidInput:
        return what
    return None


_no_app = partial(_no_id, "the App Store id of an app is a number, written in digits")
_no_creative = partial(
    _no_id, "this is no id of a creative, which is a number (a product page's own id is another); see creatives"
)

GOALS: tuple[Goal, ...] = ("app_installs",)
PERIODS: tuple[Period, ...] = ("daily",)
BID = "the most that a tap may cost: of the ad group and of every keyword"
INHERITED = words("headline body url imageUrl imageHash headlines descriptions")

FORMATS = (
    Format(
        "custom_product_page",
        "search-results campaign with an existing custom product-page creative",
        GOALS,
        PERIODS,
        inputs=(
            Input("bid", "required", accepts=BID),
            Input("platform.appId", "required", test=_no_app, accepts="the App Store id of the app, in digits"),
            Input("creative.existingId", "required", test=_no_creative, accepts="an id of the catalog creatives"),
            *(Input(f"creative.{name}", "refused", reason="the product page brings its own") for name in INHERITED),
            Input("schedule.endAt", "optional"),
            Input("targeting.countries", "any", group="geography", accepts="countries, or native targeting with them"),
            Input(
                *("targeting.native", "any"),
                group="geography",
                test=not_native,
                accepts=f"Apple's own dimensions, each with {INCLUDE} and exclude; {COUNTRIES} is one of them",
            ),
            Input("targeting.locationIds", "optional", test=misplaced, accepts=f"{PLACE_FORM}; with one country"),
            Input(
                *("targeting.keywords", "optional"),
                test=wrong_keywords,
                accepts="exact or broad; without any Search Match chooses the search terms",
            ),
            deny_political_ads(),
        ),
        bid={"app_installs": BID},
        rules=(_app_store, times_held("Apple Ads", 3), _one_country),
        notes=("Without keywords Search Match chooses the search terms.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

Asked = Callable[[Account, str, str | None, int], Request]


def offset_of(cursor: str | None) -> int:
    """Where a page begins, by its cursor. Raises InvalidInput."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise refused("cursor", "malformed", "This is no cursor of this list.")
    return int(cursor or "0")


def _query(path: str, field: str = "", fixed: Json = None) -> Asked:
    """A catalog that is queried: by a field that equals ``fixed``, or the number after the colon."""

    def request(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
        value = apple.number(sought, "resource") if field and fixed is None else fixed
        filters = [apple.where(field, "EQUALS", value)] if field else []
        return apple.queried(account, path, filters, offset_of(cursor), limit)

    return request


def _apps(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    # The query's members are those of version 5 (unverified).
    return apple.fetched(account, "search/apps", query=sought, returnOwnedApps="true")


def app(account: Account, app_id: str) -> Request:
    """What the App Store says of an app."""
    return Request("GET", f"{apple.API}/apps/{{adamId}}", {"adamId": app_id}, headers=apple.context(account))


def _app(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    return app(account, str(apple.number(sought, "resource")))


def _one_app(response: Response) -> list[Mapping[str, Json]]:
    return [apple.result(response, "app")]


def _places(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    country, _, query = sought.partition("-")
    if not (len(country) == 2 and country.isascii() and country.isalpha()) or len(query) == 1:
        message = "This catalog is asked for as locations:US or locations:US-<text of two characters or more>."
        raise refused("resource", "catalog_suffix", message)
    asked = {"supplySource": "APPSTORE", "countrycode": country.upper(), **({"query": query} if query else {})}
    return apple.fetched(account, "search/geo", **asked, offset=str(offset_of(cursor)), pageSize=str(limit))


def _resources(account: Account, sought: str, cursor: str | None, limit: int) -> Request:
    # Access overview: it is asked across accounts, so it names none.
    return Request("GET", f"{apple.API}/advertiser-resources", query={"resourceType": apple.CONTENT_PROVIDER})


def _first(*pointers: str) -> Callable[[Mapping[str, Json]], str]:
    """The first of several members that a row has; which of them it is, is (unverified)."""
    return lambda row: next((found for at in pointers if (found := text(row, at))), "")


def _place_id(row: Mapping[str, Json]) -> str:
    return f"{text(row, '/entity') or ''}:{text(row, '/id') or ''}"


def _eligibility_id(row: Mapping[str, Json]) -> str:
    parts = [text(row, at) for at in ("/adamId", "/countryOrRegion", "/deviceClass", "/supplyPlacement")]
    return "-".join(part for part in parts if part)


_app_id = _first("/adamId", "/id")
_app_name = _first("/name", "/appName")
_language = _first("/countryCode", "/countryOrRegion", "/code", "/id")
_asked = partial(Catalog, next=apple.next_offset, items="/result")

CATALOGS = (
    _asked("creatives", _query("creatives", "creativeType", apple.CUSTOM_PRODUCT_PAGE), id="/id", name="/name"),
    _asked(
        "product_pages",
        _query("product-pages", "adamId"),
        id="/id",
        name="/name",
        suffix="required",
        note="product_pages:<App Store id>",
    ),
    Catalog("apps", _apps, "/result", _app_id, _app_name, suffix="required", note="apps:<words of the name>"),
    Catalog("app", _app, _one_app, _app_id, _app_name, suffix="required", note="app:<App Store id>"),
    _asked(
        "eligibility",
        _query("eligibilities/apps", "adamId"),
        id=_eligibility_id,
        name=_first("/state", "/status"),
        suffix="required",
        note="eligibility:<App Store id>; it does not refuse a campaign",
    ),
    _asked(
        "locations",
        _places,
        id=_place_id,
        name="/displayName",
        suffix="required",
        note="locations:US, or locations:US-<text>; a campaign's locations are those of AdminArea and Locality",
    ),
    _asked("supported_languages", _query("metadata/apps/supported-languages"), id=_language, name=_language),
    _asked(
        "keywords",
        _query("keywords", "adGroupId"),
        id="/id",
        name="/text",
        suffix="required",
        note="keywords:<ad group id>",
    ),
    Catalog("accounts_resources", _resources, "/result", "/resourceId", _first("/resourceName", "/name")),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

_PAIR = {"bidStrategyType": apple.MANUAL_CPT, "bidStrategyGoal": apple.STRATEGIES[apple.MANUAL_CPT]}

TEMPLATES = (
    Template(
        "campaign",
        "Search results of the App Store",
        {
            "name": "Tea spring",
            "promotedObjectType": apple.APPSTORE_APP,
            "promotedObjectId": "1440000001",
            "billingEvent": apple.TAPS,
            "status": apple.PAUSED,
            "startTime": "2030-01-15T09:00:00.000",
            "dailyBudget": {"value": {"amount": "18.5", "currency": "USD"}},
            "targeting": {**apple.SUPPLY, COUNTRIES: {INCLUDE: ["US"]}},
            "bidStrategy": _PAIR,
        },
        "adAccountId is put in. Accounts with a line of credit add invoiceDetail.",
    ),
    Template(
        "adGroup",
        "Cost per tap",
        {
            "name": "Tea spring",
            "campaignId": 1,
            "pricingModel": apple.CPT,
            "status": apple.PAUSED,
            "startTime": "2030-01-15T09:00:00.000",
            "automatedKeywordsOptIn": True,
            "bidStrategy": {**_PAIR, "bid": {"amount": "1.35", "currency": "USD"}},
        },
    ),
    Template(
        "ad", "An existing creative", {"name": "Tea spring", "adGroupId": 2, "creativeId": 3, "status": apple.PAUSED}
    ),
)

METRICS = (
    Metric("impressions", "/impressions", "count"),
    Metric("clicks", "/taps", "count", note="Taps."),
    Metric("spend", "/localSpend/amount", "major"),
    Metric("conversions", "/totalInstalls", "count", note="Installs after a tap or a view."),
)

ERRORS = (
    ErrorRule("rejected", "input", "a field is not as it has to be", words("bad_request VALIDATION_ERROR"), 400),
    ErrorRule("rejected", "token", "the token is expired or invalid", ("unauthorized",), 401),
    ErrorRule("rejected", "permission", "the role, the delegation or the ad account is another", ("forbidden",), 403),
    ErrorRule("rejected", "not_found", "there is no such thing in the ad account", ("not_found",), 404),
    ErrorRule("throttled", "limit", "too many requests", ("rate_limit_exceeded",), 429),
    ErrorRule("rejected", "input", "an item refuses the whole of a bulk request", (apple.ITEM_ERROR,)),
    # OAuth's word; Apple documents none (unverified).
    ErrorRule("rejected", "token", "the key is not right, or was removed", words("invalid_client invalid_grant")),
)

NETWORK = Network(
    code=apple.CODE,
    title="Apple Ads",
    version=apple.VERSION,
    hosts=(apple.HOST, apple.TOKEN_HOST),
    login=Login(
        "credentials",
        scopes=(apple.PERMISSION,),
        note="clientId, teamId, keyId and privateKey of an API user; the key is removed in the account's settings.",
    ),
    unit=apple.unit,
    error=apple.error,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    errors=ERRORS,
    # Ads Platform API, reports ("apple: 12 Insights"): campaigns and days without rows stay null, since nothing says
    # that a missing day means zero. No campaigns at all are an empty result: reads.insights reports no delivery.
    missing_day="gap",
    geographies=("/countryOrRegion/include", "/country/include", "/adminArea/include", "/locality/include"),
    # Ads Platform API, reports: a DAILY report starts within the last 90 days.
    history=History(days=90),
    money="Native amounts are objects of a decimal text in major units and the account's currency.",
    templates=TEMPLATES,
    extras=(
        Extra("orgId", "The organization that the ad account belongs to.", settable=False),
        Extra("paymentModel", "How it pays: LOC (a line of credit) asks campaigns for invoiceDetail.", ("LOC", "PAYG")),
        Extra("productFeatures", f"What it may advertise; apps with {apple.APP_STORE_FEATURE}.", settable=False),
        Extra("contentProvider", "Whether a provider of apps is delegated to it.", ("true", "false")),
    ),
    wait=apple.wait,
    items=apple.items,
    notes=(
        "Of the ads of an ad group one may be enabled at a time.",
        "Daily figures reach back 90 days.",
        "Deleting a campaign or an ad group deletes all below it.",
    ),
)
