"""Outbrain Amplify API: addresses, enums and limits, and how days, money, pages, errors and delays are read.

Sources, for v0.1: Outbrain's reference amplifyv01.docs.apiary.io, as of 2026-08-13 (Authentications, Rate Limits,
Marketers, Budgets, Geo Locations, Interest Targeting, Campaigns, PromotedLinks, Performance Reporting, Currencies, Meta
Data). Paths of reports and paging as public clients use them: github.com/singer-io/tap-outbrain,
github.com/dolead/py_outbrain, github.com/xy1m/outbrain-amplify-api-java-client, the PyPI package outbrain 0.0.9.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.native_money import MoneyUnit, is_number
from adsunify.adapter.network import ItemResult, Level, ParsedError, split_words
from adsunify.errors import Issue
from adsunify.http.messages import Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Step
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import get_timezone, to_local_days
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, parse_id
from adsunify.values.money import format_decimal

CODE = "outbrain"
VERSION = "v0.1"
HOST = "api.outbrain.com"
API_URL = f"https://{HOST}/amplify/{VERSION}"
TOKEN_HEADER, REQUEST_ID_HEADER, RETRY_DELAY_HEADER = "OB-TOKEN-V1", "amplify-request-id", "rate-limit-msec-left"
TOKEN_LIFETIME_DAYS = 30
TIMEZONE = "America/New_York"  # the time zone of all dates, times and report days of the API

ENABLED, DISABLED, ARCHIVED = "enabled", "disabled", "archived"  # our names; the native status consists of two flags
STATUSES = (ENABLED, DISABLED, ARCHIVED)
UNIFIED_STATUSES: Mapping[str, str] = {ENABLED: "active", DISABLED: "paused", ARCHIVED: "archived"}

DAILY, MONTHLY, LIFETIME = "DAILY", "MONTHLY", "CAMPAIGN"
BUDGET_TYPES = (DAILY, MONTHLY, LIFETIME)
SPEND_ASAP, AUTOMATIC, DAILY_TARGET = "SPEND_ASAP", "AUTOMATIC", "DAILY_TARGET"
PACING_TYPES = (SPEND_ASAP, AUTOMATIC, DAILY_TARGET)
BUDGET_TYPE_BY_PERIOD = {"daily": DAILY, "lifetime": LIFETIME}
PACING_BY_BUDGET_TYPE = {DAILY: SPEND_ASAP, LIFETIME: AUTOMATIC}  # the only pacing of a DAILY budget

TRAFFIC = "TRAFFIC"
OBJECTIVES = {"traffic": "Traffic", "awareness": "Awareness"}
_AUTOMATED_OPTIMIZATIONS = split_words(
    "MAX_CONVERSION_FULLY_AUTOMATED TARGET_CPA_FULLY_AUTOMATED TARGET_ROAS_FULLY_AUTOMATED"
)
# Amplify reference, "Campaigns": the optimization types of each objective; the first one is the default here.
OPTIMIZATIONS: Mapping[str, tuple[str, ...]] = {
    "Awareness": (TRAFFIC,),
    "Traffic": (TRAFFIC,),
    "Conversions": ("CPC", *_AUTOMATED_OPTIMIZATIONS),
    "AppInstalls": ("CPC", *_AUTOMATED_OPTIMIZATIONS),
}
CLICK_OPTIMIZATIONS = (TRAFFIC, "CPC")  # with this, the campaign's cost per click is a maximum
STANDARD_FORMAT = "Standard"
EMPTY_SUFFIX, EMPTY_PREFIX = "EMPTY_SUFFIX", "EMPTY_PREFIX"
SUCCESS, FAILURE = "Success", "Failure"

MAX_NAME_LENGTH, MAX_SUFFIX_LENGTH = 100, 9  # the suffix, a blank and 8 digits, makes a budget's name unique
MAX_PAGE_SIZE = 50
LINKS_PAGE_SIZE = 100  # unverified: the largest page of links; public clients use 50 to 100
REPORT_PAGE_SIZE, REPORT_DAYS = 500, 3 * 365
# Amplify reference, "Budgets": for budgets created since 2025-11-03. Other currencies have minimumCampaignBudget in GET
# /currencies.
MIN_BUDGETS_USD: Mapping[str, Decimal] = {DAILY: Decimal(25), MONTHLY: Decimal(750), LIFETIME: Decimal(25)}

EXTRA_CAMPAIGN_FIELDS = "Locations,PlatformTargeting,InterestsTargeting,CustomAudience,IABCategories,NetworkTargeting"


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    budget/dailyTarget budget/pacing creativeFormat description imageMetadata
    logoMetadata name objective prefixTrackingCode sectionName suffixTrackingCode targeting text url
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: decimal numbers in major units, with at most 2 fraction digits."""
    # unverified: amounts have no fraction in a currency without a minor unit.
    return _get_currency_unit(require_currency(account))


@cache
def _get_currency_unit(currency: str) -> MoneyUnit:
    return MoneyUnit(10 ** min(2, get_exponent(currency, "account.currency")), form="major")


def get_eastern_date(now: datetime) -> date:
    """Return the current day in Eastern time."""
    return now.astimezone(get_timezone(TIMEZONE)).date()


def get_eastern_serving_days(brief: CampaignBrief) -> tuple[date, date | None]:
    """Return the first and last day of the campaign in Eastern time."""
    # unverified: the campaign serves on its last day, too.
    return to_local_days(brief.schedule.start, brief.schedule.end, TIMEZONE)


def count_budget_days(first: Json, last: Json) -> int | None:
    """Return the number of days of a budget; None if one of its dates is missing or malformed."""
    # unverified: both the first and the last day of a budget count.
    try:
        return (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    except (TypeError, ValueError):
        return None


def check_budget_floor(
    least: Mapping[str, Decimal], budget: Mapping[str, Json], path: str, currency: str
) -> Iterator[Issue]:
    """Check a budget's amount. ``least``: the minimum by budget type. For CAMPAIGN it is the minimum per day."""
    kind, amount = budget.get("type"), budget.get("amount")
    days = count_budget_days(budget.get("startDate"), budget.get("endDate")) if kind == LIFETIME else 1
    if not isinstance(kind, str) or kind not in least or not is_number(amount) or days is None:
        return
    if Decimal(amount or 0) < least[kind] * days:
        each = f" ({format_decimal(least[kind])} for each of {days} days)" if kind == LIFETIME else ""
        message = f"Outbrain takes a {kind} budget of at least {format_decimal(least[kind] * days)} {currency}{each}."
        yield Issue(path, "too_small", message)


def parse_budget_floors(row: Mapping[str, Json] | None) -> dict[str, Decimal]:
    """Return the minimum budgets in a row of Outbrain's currencies, by budget type."""
    # unverified: the minimum of a CAMPAIGN budget is that of a DAILY budget for each of its days.
    least = get_value(row, "/minimumCampaignBudget")
    return {DAILY: Decimal(least), LIFETIME: Decimal(least)} if is_number(least) else {}


def check_click_cost(row: Mapping[str, Json] | None, cost: Decimal, path: str, currency: str) -> Iterator[Issue]:
    """Check a cost per click against the limits in a row of Outbrain's currencies."""
    low, high = get_value(row, "/minimumCpc"), get_value(row, "/maximumCpc")
    if is_number(low) and cost < low:
        yield Issue(path, "too_small", f"Outbrain takes a cost per click of at least {format_decimal(low)} {currency}.")
    if is_number(high) and cost > high:
        yield Issue(path, "too_large", f"Outbrain takes a cost per click of at most {format_decimal(high)} {currency}.")


# -- requests -----------------------------------------------------------------------------------------------------


def build_get_request(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """Build a GET request."""
    return Request("GET", f"{API_URL}/{path}", slots, query or {})


def build_write_request(method: str, path: str, body: Json, **slots: str) -> Request:
    """Build the request of a write."""
    return Request(method, f"{API_URL}/{path}", slots, body=body, encoding="json", kind="write")


def build_currencies_request() -> Request:
    """Build the request for the currencies with their limits."""
    return build_get_request("currencies")


def find_currency_row(response: Response | None, currency: str) -> Mapping[str, Json] | None:
    """Return the row of a currency; None if Outbrain does not list the currency."""
    rows = get_objects(response.body, "/currencies", "currencies") if response is not None else []
    return next((row for row in rows if row.get("code") == currency), None)


def build_offset_query(limit: int, offset: int) -> dict[str, str]:
    """Build the query of a list."""
    return {"limit": str(limit), "offset": str(offset)}


def build_campaign_names_request(account: Account, *, archived: bool) -> Request:
    """Build the request for the ID and name of all campaigns; this list has no pages."""
    query = {"fetch": "basic", "includeArchived": str(archived).lower()}
    return build_get_request("marketers/{marketer}/campaigns", query, marketer=account.native_id)


def build_owner_list_request(level: Level, owner: str, limit: int, offset: int, query: Mapping[str, str]) -> Request:
    """Build the request of a page of a marketer's campaigns, or of a campaign's promoted links."""
    path = "marketers/{id}/campaigns" if level.kind == "campaign" else "campaigns/{id}/promotedLinks"
    return build_get_request(path, {**build_offset_query(limit, offset), **query}, id=owner)


def parse_total(body: Json, at: str) -> int | None:
    """Return the number of rows on all pages; None if there is no total."""
    total = get_value(body, at)
    return int(total) if is_number(total) and total == int(total) else None


# -- answers ------------------------------------------------------------------------------------------------------


def parse_native_status(native: Mapping[str, Json]) -> str | None:
    """Return the status as one word. The native status consists of two flags."""
    if native.get("archived") is True or native.get("autoArchived") is True:
        return ARCHIVED
    words_ = {True: ENABLED, False: DISABLED}
    enabled = native.get("enabled")
    return words_[enabled] if isinstance(enabled, bool) else None


def parse_creation_time(native: Mapping[str, Json]) -> datetime | None:
    """Return the instant of an entity's creation, which Outbrain writes in US Eastern time."""
    text = native.get("creationTime")
    try:
        local = datetime.strptime(text, "%Y-%m-%d %H:%M:%S") if isinstance(text, str) else None
    except ValueError:
        return None
    return None if local is None else local.replace(tzinfo=get_timezone(TIMEZONE))


def parse_error(response: Response) -> ParsedError | None:
    """Return the error: a text without a code, in one of two forms."""
    body = response.body if response.state == "json" else None
    text = get_text(body, "/errorMessage")
    if response.status < 400 and text is None:
        return None
    hints = [text or get_text(body, "/message"), get_text(body, "/moreInfo")]
    return ParsedError((), ": ".join(hint for hint in hints if hint) or None, response.headers.get(REQUEST_ID_HEADER))


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the result of each item of an array. An item may have failed although the status is HTTP 200."""
    sent_items, results = request.body, response.body
    if not isinstance(sent_items, list) or not isinstance(results, list) or len(results) != len(sent_items):
        return None
    ids = [get_value(item, "/id") for item in sent_items]
    answers = []
    for index, row in enumerate(results):
        native_id = parse_id(get_value(row, "/id")) or ids[index]
        position = ids.index(native_id) if native_id in ids else index
        if get_text(row, "/operationStatus/status") == SUCCESS:
            answers.append(ItemResult(position, native_id))
        else:
            answers.append(ItemResult(position, error=parse_item_error(row, response.headers.get(REQUEST_ID_HEADER))))
    return answers


def parse_item_error(item: Json, request_id: str | None) -> ParsedError:
    """Return the error of one item of an array. Without the status Failure, the outcome is unknown: no code."""
    status = get_text(item, "/operationStatus/status")
    reasons = [reason for reason in find_values(item, "/operationStatus/reason/*") if isinstance(reason, str)]
    return ParsedError((FAILURE,) if status == FAILURE else (), "; ".join(reasons) or None, request_id)


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait, from Outbrain's header in milliseconds."""
    text = response.headers.get(RETRY_DELAY_HEADER, "").strip()
    return int(text) / 1000 if text.isascii() and text.isdigit() and len(text) < 12 else None
