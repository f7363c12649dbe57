"""Amazon Ads API: regions, marketplaces, media types, enums, money, errors, and the requests that only read.

Sources: advertising.amazon.com/API/docs, as of 2025-09 (Sponsored Products guides; account management: authorization,
profiles; reporting v3; reference/concepts: errors, limits, rate-limiting, developer-notes; release notes and
deprecations); the Postman collection github.com/amzn/ads-advanced-tools-docs (2025-03); the OpenAPI descriptions of
Sponsored Products v3, profiles, eligibility and product metadata (2022-12, github.com/whitebox-co/amazon-ads-api).
Status 425 and 401 while a report is polled: github.com/airbytehq/airbyte source-amazon-ads (2026).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import cache

from attrs import frozen

from adsunify.adapter.account import Account, require_currency, require_timezone
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ItemResult, Level, ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.errors import Issue, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Step
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import to_local_days
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

CODE = "amazon"
VERSION = "Sponsored Products v3"
SCOPE_HEADER = "Amazon-Advertising-API-Scope"
REQUEST_ID_HEADERS = ("x-amzn-requestid", "x-amz-request-id")  # unverified: the names of these headers

HOSTS: Mapping[str, str] = {
    "NA": "advertising-api.amazon.com",
    "EU": "advertising-api-eu.amazon.com",
    "FE": "advertising-api-fe.amazon.com",
}

LOGIN = OAuth2(
    consent_url="https://www.amazon.com/ap/oa",
    # Codes and tokens are valid in all regions, so the endpoint of one region is enough.
    token_url="https://api.amazon.com/auth/o2/token",
    scopes=("advertising::campaign_management",),
    has_pkce=True,
    client_id_header="Amazon-Advertising-API-ClientId",
    note="Login with Amazon; there is no call to revoke it.",
)


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    asin budget/budgetType=DAILY creative dynamicBidding/placementBidding= name
    sku tags targetingType
    """)
)


@frozen
class Marketplace:
    """A marketplace: its region and currency, and the limits of a bid and of a daily budget, in major units."""

    region: str
    currency: str
    bid_limits: tuple[str, str]
    budget_limits: tuple[str, str]


# Amazon Ads documentation, "Limits", bids and budgets of Sponsored Products, 2025-09.
MARKETPLACES: Mapping[str, Marketplace] = {
    "US": Marketplace("NA", "USD", ("0.02", "1000"), ("1", "1000000")),
    "CA": Marketplace("NA", "CAD", ("0.02", "1000"), ("1", "1000000")),
    "MX": Marketplace("NA", "MXN", ("0.1", "20000"), ("1", "21000000")),
    "BR": Marketplace("NA", "BRL", ("0.07", "3700"), ("1.32", "5300000")),
    "UK": Marketplace("EU", "GBP", ("0.02", "1000"), ("1", "1000000")),
    "DE": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "FR": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "IT": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "ES": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "NL": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "BE": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "IE": Marketplace("EU", "EUR", ("0.02", "1000"), ("1", "1000000")),
    "AE": Marketplace("EU", "AED", ("0.24", "184"), ("4", "3700000")),
    "PL": Marketplace("EU", "PLN", ("0.04", "2000"), ("2", "2000000")),
    "TR": Marketplace("EU", "TRY", ("0.05", "2500"), ("2", "2500000")),
    "EG": Marketplace("EU", "EGP", ("0.15", ""), ("7", "7400000")),  # the documented 5.50 is probably a misprint
    "SA": Marketplace("EU", "SAR", ("0.10", "3670"), ("4", "3700000")),
    "SE": Marketplace("EU", "SEK", ("0.18", "9300"), ("9", "9300000")),
    "IN": Marketplace("EU", "INR", ("1", "5000"), ("50", "21000000")),
    "ZA": Marketplace("EU", "ZAR", ("1", "7000"), ("20", "7000000")),
    "JP": Marketplace("FE", "JPY", ("2", "100000"), ("100", "21000000")),
    "AU": Marketplace("FE", "AUD", ("0.02", "1410"), ("1.4", "1500000")),
    "SG": Marketplace("FE", "SGD", ("0.02", "1100"), ("1.39", "1300000")),
}
REGION_BY_CURRENCY: Mapping[str, str] = {
    marketplace.currency: marketplace.region for marketplace in MARKETPLACES.values()
}

SELLER, VENDOR = "seller", "vendor"
MANUAL_TARGETING = "MANUAL"
DAILY = "DAILY"
DOWN_ONLY = "LEGACY_FOR_SALES"  # Amazon only lowers bids, so a bid is a maximum
FIXED_BID = "MANUAL"
BID_STRATEGIES = (DOWN_ONLY, "AUTO_FOR_SALES", FIXED_BID, "RULE_BASED")
PLACEMENTS = ("PLACEMENT_TOP", "PLACEMENT_PRODUCT_PAGE", "PLACEMENT_REST_OF_SEARCH")
ENABLED, PAUSED, ARCHIVED = "ENABLED", "PAUSED", "ARCHIVED"
BROAD_MATCH = "BROAD_MATCH"
# Amazon Ads documentation, entity names: "selected ranges" of these scripts. We accept the letters of each script.
_NAME_PATTERN = re.compile(
    r"[A-Za-z0-9\u00c0-\u017f\u0600-\u06ff\u0900-\u097f\u0b80-\u0bff\u3005\u3040-\u30ff\u4e00-\u9fff"
    r"""$ "'&()*+,./:;=?|-]*"""
)
NAME_CHARACTERS = (
    "Latin letters, digits, kana, kanji, Devanagari, Tamil, Arabic, blanks and - $ \" ' & ( ) * + , . / : ; = ? |"
)
MAX_SELLER_NAME_LENGTH, MAX_VENDOR_NAME_LENGTH = 128, 116  # characters of a campaign's name
MAX_AD_GROUP_NAME_LENGTH = 255
INELIGIBLE, ELIGIBLE_WITH_WARNING = "INELIGIBLE", "ELIGIBLE_WITH_WARNING"
ITEM_ERROR = "207 error"
THROTTLED_ITEM_CODE, BROKEN_ITEM_CODE = "throttledError", "internalServerError"
REPORTS_PATH = "/reporting/reports"
REPORT_MEDIA_TYPE = "application/vnd.createasyncreportrequest.v3+json"
REPORT_DAYS = 31
REPORT_COLUMNS = (
    *("date", "campaignId", "campaignName", "campaignStatus", "impressions", "clicks", "cost"),
    *("purchases7d", "sales7d", "purchases14d", "sales14d"),
)


# -- money and time -----------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: decimal numbers in major units, with the digits of the currency's minor unit."""
    return _get_currency_unit(require_currency(account))


@cache
def _get_currency_unit(currency: str) -> MoneyUnit:
    return MoneyUnit(10 ** get_exponent(currency, "account.currency"), form="major")


def build_daily_budget(amount: Json) -> dict[str, Json]:
    """Build a campaign's budget. A write has to send both members."""
    return {"budgetType": DAILY, "budget": amount}


def check_amount_limits(account: Account, member: str, path: str, amount: Decimal) -> Iterator[Issue]:
    """Check a bid (``bids``) or a daily budget (``budgets``) against the limits of the marketplace, if it is known."""
    country = account.extras.get("countryCode", "")
    if country not in MARKETPLACES:
        return
    market = MARKETPLACES[country]
    lowest, highest = market.bid_limits if member == "bids" else market.budget_limits
    if amount < Decimal(lowest) or (highest and amount > Decimal(highest)):
        limits = f"from {lowest} to {highest}" if highest else f"of at least {lowest}"
        what = "a bid" if member == "bids" else "a daily budget"
        code = "too_small" if amount < Decimal(lowest) else "too_large"
        yield Issue(path, code, f"Amazon Ads ({country}) takes {what} {limits} {market.currency}.")


def get_serving_days(account: Account, brief: CampaignBrief) -> tuple[date, date | None]:
    """Return the first and last day of the campaign in the profile's time zone."""
    # unverified: the campaign serves on its last day, too.
    return to_local_days(brief.schedule.start, brief.schedule.end, require_timezone(account))


# -- requests -----------------------------------------------------------------------------------------------------


def get_base_url(account: Account) -> str:
    """Return the URL of the account's region, which an extra, the marketplace or the currency gives, in this order."""
    country = MARKETPLACES.get(account.extras.get("countryCode", ""))
    region = account.extras.get("region") or (country.region if country is not None else "")
    if not region:
        region = REGION_BY_CURRENCY.get(require_currency(account), "")  # every currency belongs to one region
    if region not in HOSTS:
        raise invalid_input(
            "account.region",
            "account_extra_missing",
            f"Amazon Ads needs to know the profile's region: {', '.join(HOSTS)} (account extra region).",
        )
    return f"https://{HOSTS[region]}"


def build_post_read_request(account: Account, path: str, media: tuple[str, str], body: Json) -> Request:
    """Build a POST that only reads and may be repeated. ``media``: Content-Type and Accept."""
    headers = {"Content-Type": media[0], "Accept": media[1], SCOPE_HEADER: account.native_id}
    return Request("POST", get_base_url(account) + path, headers=headers, body=body, encoding="json")


@cache
def get_media_type(level: Level) -> str:
    """Return the media type of a level's resource: spCampaign, spAdGroup, spProductAd, spKeyword."""
    return f"application/vnd.sp{level.native[0].upper()}{level.native[1:]}.v3+json"


@cache
def get_collection_member(level: Level) -> str:
    """Return the member that holds the entities of a level, in requests and responses."""
    return level.path.rpartition("/")[2]


def get_id_member(level: Level) -> str:
    """Return the member that holds the ID of an entity."""
    return level.id.removeprefix("/")


def build_level_list_request(account: Account, level: Level, body: Mapping[str, Json]) -> Request:
    """Build the request of one page of a level's entities."""
    return build_post_read_request(
        account, f"{level.path}/list", (get_media_type(level), get_media_type(level)), dict(body)
    )


def get_id_filter_member(level: Level | str) -> str:
    """Return the member that filters a list by the IDs of a level, or of a parent (given as the pointer to its ID)."""
    return f"{level.removeprefix('/') if isinstance(level, str) else get_id_member(level)}Filter"


def build_profiles_request(address: str) -> Request:
    """Build the request for the profiles of one region, without agencies (DSP). It has no scope header."""
    return Request("GET", f"{address}/v2/profiles", query={"profileTypeFilter": f"{SELLER},{VENDOR}"})


def has_invalid_name_characters(name: str) -> bool:
    """Return whether a name has a character that Amazon refuses in names (malformedValueError)."""
    return _NAME_PATTERN.fullmatch(name) is None


def get_profile_name(profile: Mapping[str, Json]) -> str:
    """Return the account's name; a seller may have no name."""
    name = get_text(profile, "/accountInfo/name")
    return name or " ".join(get_text(profile, at) or "" for at in ("/accountInfo/id", "/countryCode")).strip()


# -- answers ------------------------------------------------------------------------------------------------------


def parse_error(response: Response) -> ParsedError | None:
    """Parse the error of a whole request, which has one of three shapes.

    :func:`parse_level_results` finds the errors of single items.
    """
    body = response.body if response.state == "json" else None
    code = get_text(body, "/code") or get_text(body, "/error")
    if code is None and response.status < 400:
        return None
    message = next((error_code for at in _MESSAGE_POINTERS if (error_code := get_text(body, at)) is not None), None)
    return ParsedError((code,) if code else (), message, parse_request_id(response))


# In this order: Sponsored Products, the platform, a duplicate report, the token endpoint.
_MESSAGE_POINTERS = ("/message", "/details", "/detail", "/error_description")


def parse_request_id(response: Response) -> str | None:
    """Return Amazon's ID of the request, which its support asks for."""
    return next((response.headers[name] for name in REQUEST_ID_HEADERS if name in response.headers), None)


def parse_item_error(item: Json, request_id: str | None) -> ParsedError:
    """Return one of an item's errors: the one that leaves the item's outcome least certain."""
    errors: list[ParsedError] = []
    listed_errors = get_value(item, "/errors")
    for entry in listed_errors if isinstance(listed_errors, list) else ():
        kind, value = get_text(entry, "/errorType"), get_value(entry, "/errorValue")
        if kind is None and isinstance(value, Mapping) and len(value) == 1:
            kind = next(iter(value))
        if kind is None:
            return ParsedError((), None, request_id)
        reason, message, place = (get_text(value, f"/{kind}{at}") for at in ("/reason", "/message", "/cause/location"))
        text = f"{message or reason or kind}{f' (at {place})' if place else ''}"
        listed_ = () if kind in (BROKEN_ITEM_CODE, THROTTLED_ITEM_CODE) else (ITEM_ERROR,)
        errors.append(ParsedError((*((reason,) if reason else ()), kind, *listed_), text, request_id))
    errors.sort(
        key=lambda entry: 0 if BROKEN_ITEM_CODE in entry.codes else 2 if THROTTLED_ITEM_CODE in entry.codes else 1
    )
    return errors[0] if errors else ParsedError((), None, request_id)


def parse_level_results(
    levels: Sequence[Level], step: Step, request: Request, response: Response
) -> Sequence[ItemResult] | None:
    """Return the result of each sent item in a response 207, by ``index`` and never by the position in the list."""
    native_level = next(level for level in levels if level.kind == step.kind)
    collection = get_value(response.body, f"/{get_collection_member(native_level)}")
    success, failed = (get_value(collection, at, []) for at in ("/success", "/error"))
    if not isinstance(collection, Mapping) or not isinstance(success, list) or not isinstance(failed, list):
        return None
    answers: list[ItemResult] = []
    for item, refused_ in [(item, False) for item in success] + [(item, True) for item in failed]:
        position = get_value(item, "/index")
        if not isinstance(position, int) or isinstance(position, bool):
            return None
        answers.append(
            ItemResult(position, error=parse_item_error(item, parse_request_id(response)))
            if refused_
            else ItemResult(position, parse_id(get_value(item, native_level.id)))
        )
    return answers


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page of a list; None at the end. An empty cursor is the end, too."""
    return get_text(response.body, "/nextToken") or None
