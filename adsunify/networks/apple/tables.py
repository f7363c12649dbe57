"""Apple Ads Platform API 1.0 (August 2026): what the API has and what the adapter uses, as tables.

No sunset is announced. Its predecessor, version 5 of the Campaign Management API, ends on 2027-01-26 and is not used.

Three surprises. There is no consent page: an account is connected with an EC key, which signs a client secret for every
token. A write of several keywords answers 200 even where it refuses all of them. Queries and reports are POSTs that
only read, and require a header that names the ad account.

Sources: see ``native``.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from functools import partial

from adsunify.adapter.account import Account
from adsunify.adapter.brief_checks import deny_political_ads
from adsunify.adapter.formats import CONTENT_MEMBERS, Format, Goal, Input, Period, refused_inputs
from adsunify.adapter.metrics import History, Metric, ReportLevel
from adsunify.adapter.network import (
    Catalog,
    Credential,
    ErrorRule,
    Extra,
    Level,
    Login,
    NativeEntity,
    Network,
    PayloadRules,
    Template,
    first_text,
    list_locked_members,
    project_sunset,
    split_words,
)
from adsunify.errors import InvalidInput, Issue, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Kind
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text

from . import native as apple
from .settings import EDITS, SETTINGS
from .targeting import (
    COUNTRY_DIMENSION,
    INCLUDE,
    PLACE_FORM,
    find_keywords_error,
    find_locations_error,
    find_native_targeting_error,
    get_brief_countries,
)

# -- levels -------------------------------------------------------------------------------------------------------


def _level_payload_rules(kind: Kind) -> PayloadRules:
    """Build the rules of native payloads. A payload may have the whole targeting; an edit changes its members."""
    fixed = set(list_locked_members(SETTINGS, kind)) - {"targeting"}
    return PayloadRules(
        read_only=("id",),
        fixed=fixed,
        neutral=apple.NEUTRAL_MEMBERS,
        bidding={"bidStrategy/bidStrategyType": apple.MANUAL_STRATEGIES},
    )


def _is_deleted(entity: NativeEntity) -> bool:
    return entity.get("deleted") is True


_level = partial(
    Level,
    id="/id",
    name="/name",
    status="/status",
    is_deleted=_is_deleted,
    unified_statuses={apple.ENABLED: "active", apple.PAUSED: "paused"},
    writable_statuses={"active": apple.ENABLED, "paused": apple.PAUSED},
    status_filters=apple.STATUSES,
    initial_status=apple.PAUSED,
    created="/creationTime",
    hidden_statuses=(apple.DELETED,),
)

CAMPAIGN = _level(
    *("campaign", "campaign", "campaigns"),
    payload=_level_payload_rules("campaign"),
    settings_context={"targeting": ("/targeting",), "bidding": ("/bidStrategy", "/billingEvent")},
    note="An edit's targeting takes its countries (locations).",
)
AD_GROUP = _level(
    *("adGroup", "adGroup", "adgroups"),
    label="ad group",
    payload=_level_payload_rules("adGroup"),
    parent="/campaignId",
    parent_kind="campaign",
    settings_context={
        "targeting": ("/targeting",),
        "bidding": ("/bidStrategy", "/pricingModel", "/automatedKeywordsOptIn"),
    },
)
AD = _level(
    *("ad", "ad", "ads"),
    payload=_level_payload_rules("ad"),
    parent="/adGroupId",
    parent_kind="adGroup",
    settings_context={"creative": ("/creativeId", "/systemStatus", "/systemStatusReasons")},
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


def _check_app_store(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    """A rule of the format: the account can advertise apps. Unknown extras are not checked."""
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
        apple.parse_id_number(account.native_id, "account.nativeId")
    except InvalidInput as problem:
        yield from problem.issues


def _check_single_country(account: Account, brief: CampaignBrief, now: datetime | None) -> Iterator[Issue]:
    # unverified: locations need exactly one country, as in version 5.
    if brief.targeting.location_ids and len(get_brief_countries(brief)) != 1:
        message = "Apple Ads takes locations only within exactly one country in targeting.countries."
        yield Issue("targeting.locationIds", "conflict", message)


def _find_id_error(what: str, value: Json) -> str | None:
    try:
        apple.parse_id_number(value, "")
    except InvalidInput:
        return what
    return None


_find_app_id_error = partial(_find_id_error, "the App Store id of an app is a number, written in digits")
_find_creative_id_error = partial(
    _find_id_error, "this is no id of a creative, which is a number (a product page's own id is another); see creatives"
)

GOALS: tuple[Goal, ...] = ("app_installs",)
PERIODS: tuple[Period, ...] = ("daily",)
BID_MEANINGS = "the most that a tap may cost: of the ad group and of every keyword"

FORMATS = (
    Format(
        "custom_product_page",
        "Search-results campaign with an existing custom product-page creative",
        GOALS,
        PERIODS,
        inputs=(
            Input("bid", "required", BID_MEANINGS),
            Input(
                "platform.appId", "required", "the App Store id of the app, in digits", find_error=_find_app_id_error
            ),
            Input(
                "creative.existingId", "required", "an id of the catalog creatives", find_error=_find_creative_id_error
            ),
            *refused_inputs("creative", CONTENT_MEMBERS, "the product page brings its own"),
            Input("schedule.endAt", "optional"),
            Input("targeting.countries", "any", "countries, or native targeting with them", group="geography"),
            Input(
                "targeting.native",
                "any",
                f"Apple's dimensions, {COUNTRY_DIMENSION} among them, each with {INCLUDE} and exclude",
                group="geography",
                find_error=find_native_targeting_error,
            ),
            Input(
                "targeting.locationIds", "optional", f"{PLACE_FORM}; with one country", find_error=find_locations_error
            ),
            Input(
                "targeting.keywords",
                "optional",
                "exact or broad; without any Search Match chooses the search terms",
                find_error=find_keywords_error,
            ),
            deny_political_ads(),
        ),
        bid_meanings={"app_installs": BID_MEANINGS},
        rules=(_check_app_store, _check_single_country),
        notes=("Without keywords Search Match chooses the search terms.",),
    ),
)


# -- catalogs -----------------------------------------------------------------------------------------------------

CatalogRequestBuilder = Callable[[Account, str, str | None, int], Request]


def parse_offset_cursor(cursor: str | None) -> int:
    """Return the offset in a cursor. Raises InvalidInput for other text."""
    if cursor is not None and not (cursor.isascii() and cursor.isdigit() and len(cursor) < 10):
        raise invalid_input("cursor", "malformed", "This is no cursor of this list.")
    return int(cursor or "0")


def _query_request_builder(path: str, field: str = "", fixed: Json = None) -> CatalogRequestBuilder:
    """Build the query of a catalog. It filters a field by ``fixed``, or by the number in the catalog's suffix."""

    def request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
        value = apple.parse_id_number(suffix, "resource") if field and fixed is None else fixed
        filters = [apple.build_filter(field, "EQUALS", value)] if field else []
        return apple.build_account_query_request(account, path, filters, parse_offset_cursor(cursor), limit)

    return request


def _build_apps_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    # unverified: the parameters of the search for apps, which are those of version 5.
    return apple.build_account_get_request(account, "search/apps", query=suffix, returnOwnedApps="true")


def build_app_request(account: Account, app_id: str) -> Request:
    """Build the read of an app in the App Store."""
    return Request(
        "GET", f"{apple.API_URL}/apps/{{adamId}}", {"adamId": app_id}, headers=apple.build_context_headers(account)
    )


def _build_app_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    return build_app_request(account, str(apple.parse_id_number(suffix, "resource")))


def _parse_single_app(response: Response) -> list[Mapping[str, Json]]:
    return [apple.parse_object(response, "app")]


def _build_places_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    country, _, query = suffix.partition("-")
    if not (len(country) == 2 and country.isascii() and country.isalpha()) or len(query) == 1:
        message = "This catalog is asked for as locations:US or locations:US-<text of two characters or more>."
        raise invalid_input("resource", "catalog_suffix", message)
    query_members = {"supplySource": "APPSTORE", "countrycode": country.upper(), **({"query": query} if query else {})}
    return apple.build_account_get_request(
        account, "search/geo", **query_members, offset=str(parse_offset_cursor(cursor)), pageSize=str(limit)
    )


def _build_resources_request(account: Account, suffix: str, cursor: str | None, limit: int) -> Request:
    # Platform API, "Access overview": the request is about all accounts, so no header names one.
    return Request("GET", f"{apple.API_URL}/advertiser-resources", query={"resourceType": apple.CONTENT_PROVIDER})


def _get_place_id(row: Mapping[str, Json]) -> str:
    return f"{get_text(row, '/entity') or ''}:{get_text(row, '/id') or ''}"


def _get_eligibility_id(row: Mapping[str, Json]) -> str:
    parts = [get_text(row, at) for at in ("/adamId", "/countryOrRegion", "/deviceClass", "/supplyPlacement")]
    return "-".join(part for part in parts if part)


# unverified: which of several members the rows of a catalog have.
_get_app_id = first_text("/adamId", "/id")
_get_app_name = first_text("/name", "/appName")
_get_language = first_text("/countryCode", "/countryOrRegion", "/code", "/id")
_paged_catalog = partial(Catalog, next=apple.parse_next_cursor, items="/result")

CATALOGS = (
    _paged_catalog(
        "creatives",
        _query_request_builder("creatives", "creativeType", apple.CUSTOM_PRODUCT_PAGE),
        id="/id",
        name="/name",
    ),
    _paged_catalog(
        "product_pages",
        _query_request_builder("product-pages", "adamId"),
        id="/id",
        name="/name",
        suffix="required",
        note="product_pages:<App Store id>",
    ),
    Catalog(
        "apps",
        _build_apps_request,
        "/result",
        _get_app_id,
        _get_app_name,
        suffix="required",
        note="apps:<words of the name>",
    ),
    Catalog(
        "app",
        _build_app_request,
        _parse_single_app,
        _get_app_id,
        _get_app_name,
        suffix="required",
        note="app:<App Store id>",
    ),
    _paged_catalog(
        "eligibility",
        _query_request_builder("eligibilities/apps", "adamId"),
        id=_get_eligibility_id,
        name=first_text("/state", "/status"),
        suffix="required",
        note="eligibility:<App Store id>; it does not refuse a campaign",
    ),
    _paged_catalog(
        "locations",
        _build_places_request,
        id=_get_place_id,
        name="/displayName",
        suffix="required",
        note="locations:US, or locations:US-<text>; a campaign's locations are those of AdminArea and Locality",
    ),
    _paged_catalog(
        "supported_languages",
        _query_request_builder("metadata/apps/supported-languages"),
        id=_get_language,
        name=_get_language,
    ),
    _paged_catalog(
        "keywords",
        _query_request_builder("keywords", "adGroupId"),
        id="/id",
        name="/text",
        suffix="required",
        note="keywords:<ad group id>",
    ),
    Catalog(
        "accounts_resources",
        _build_resources_request,
        "/result",
        "/resourceId",
        first_text("/resourceName", "/name"),
    ),
)


# -- templates, metrics, errors -----------------------------------------------------------------------------------

_TEMPLATE_BID_STRATEGY = {
    "bidStrategyType": apple.MANUAL_CPT,
    "bidStrategyGoal": apple.BID_STRATEGIES[apple.MANUAL_CPT],
}

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
            "targeting": {**apple.SUPPLY_TARGETING, COUNTRY_DIMENSION: {INCLUDE: ["US"]}},
            "bidStrategy": _TEMPLATE_BID_STRATEGY,
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
            "bidStrategy": {**_TEMPLATE_BID_STRATEGY, "bid": {"amount": "1.35", "currency": "USD"}},
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
_DELETED_NOTE = "Apple does not document whether deleted ad groups and ads are in the reports of past days."
# unverified: the figures of the ad groups and of the ads add up to those of the account. Deleted ones could be missing,
# and version 5 has an ad -1 for old figures of the Search tab.
REPORT_SOURCE = "Platform API 1.0, get-app-campaign-reports, get-app-ad-group-reports, get-app-ad-reports (2026-11-23)"
REPORT_LEVELS = (
    ReportLevel("campaign", "campaigns", "/metadata/id", "/metadata/name", source=REPORT_SOURCE),
    ReportLevel(
        *("adGroup", "adgroups", "/metadata/id", "/metadata/name", "/metadata/campaignId"),
        note=_DELETED_NOTE,
        source=REPORT_SOURCE,
    ),
    ReportLevel(
        *("ad", "ads", "/metadata/id", "/metadata/name", "/metadata/adGroupId"),
        note=_DELETED_NOTE,
        source=REPORT_SOURCE,
    ),
)

ERRORS = (
    ErrorRule("rejected", "input", "a field is not as it has to be", split_words("bad_request VALIDATION_ERROR"), 400),
    ErrorRule("rejected", "token", "the token is expired or invalid", ("unauthorized",), 401),
    ErrorRule("rejected", "permission", "the role, the delegation or the ad account is another", ("forbidden",), 403),
    ErrorRule("rejected", "not_found", "there is no such thing in the ad account", ("not_found",), 404),
    ErrorRule("throttled", "limit", "too many requests", ("rate_limit_exceeded",), 429),
    ErrorRule("rejected", "input", "an item refuses the whole of a bulk request", (apple.ITEM_ERROR,)),
    # unverified: the token endpoint has the error codes of OAuth; Apple documents none.
    ErrorRule("rejected", "token", "the key is not right, or was removed", split_words("invalid_client invalid_grant")),
)

NETWORK = Network(
    code=apple.CODE,
    title="Apple Ads",
    version=apple.VERSION,
    sunset=project_sunset(date(2026, 11, 20)),
    hosts=(apple.HOST, apple.TOKEN_HOST),
    login=Login(
        "credentials",
        scopes=(apple.OAUTH_SCOPE,),
        note="clientId, teamId, keyId and privateKey of an API user; the key is removed in the account's settings.",
        credentials=(
            (
                Credential("client_id", "Client ID"),
                Credential("team_id", "Team ID"),
                Credential("key_id", "Key ID"),
                Credential("private_key", "Private key (PEM)", "lines"),
            ),
        ),
    ),
    get_money_unit=apple.get_money_unit,
    parse_error=apple.parse_error,
    time=apple.TIME,
    levels=LEVELS,
    formats=FORMATS,
    settings=SETTINGS,
    edits=EDITS,
    catalogs=CATALOGS,
    metrics=METRICS,
    report_levels=REPORT_LEVELS,
    errors=ERRORS,
    # Platform API, "Reports": nothing says that a missing day means zero, so its figures are null. An account without
    # campaigns has no report: reads.fetch_insights reports that nothing was delivered.
    missing_day="gap",
    geographies=("/countryOrRegion/include", "/country/include", "/adminArea/include", "/locality/include"),
    # Platform API, "Reports": a DAILY report starts within the last 90 days.
    history=History(days=90),
    money_note="Native amounts are objects of a decimal text in major units and the account's currency.",
    templates=TEMPLATES,
    extras=(
        Extra("orgId", "The organization that the ad account belongs to.", label="Organization"),
        Extra(
            "paymentModel",
            "How it pays: LOC (a line of credit) asks campaigns for invoiceDetail.",
            ("LOC", "PAYG"),
            is_settable=True,
            label="Payment",
            texts={"LOC": "line of credit", "PAYG": "as it is spent"},
        ),
        Extra(
            "productFeatures",
            f"What it may advertise; apps with {apple.APP_STORE_FEATURE}.",
            label="May advertise",
            form="words",
        ),
        Extra(
            "contentProvider",
            "Whether a provider of apps is delegated to it.",
            ("true", "false"),
            is_settable=True,
            label="A provider of apps is delegated to it",
            form="flag",
        ),
    ),
    parse_retry_delay=apple.parse_retry_delay,
    parse_item_results=apple.parse_item_results,
    notes=(
        "Of the ads of an ad group one may be enabled at a time.",
        "Daily figures reach back 90 days.",
        "Deleting a campaign or an ad group deletes all below it.",
    ),
    brief_catalogs={"creative.existingId": "creatives"},
)
