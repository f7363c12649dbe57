"""Outbrain's own words: addresses, enums, limits; and how it says days, money, pages, errors and waits."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from decimal import Decimal
from functools import cache

from adsunify.adapter.network import Account, Found, ItemAnswer, Level, Unit, currency_of, is_number, words
from adsunify.errors import Issue
from adsunify.http.messages import Nature, Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Step
from adsunify.values.currencies import exponent
from adsunify.values.dates import local_days, zone
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, identifier, read, rows, text
from adsunify.values.money import written

CODE = "outbrain"
VERSION = "v0.1"
HOST = "api.outbrain.com"
API = f"https://{HOST}/amplify/{VERSION}"
TOKEN_HEADER, REQUEST_ID_HEADER, WAIT_HEADER = "OB-TOKEN-V1", "amplify-request-id", "rate-limit-msec-left"
TOKEN_DAYS = 30
ZONE = "America/New_York"  # all dates, times and report days of the API are Eastern time, whatever the marketer's

ENABLED, DISABLED, ARCHIVED = "enabled", "disabled", "archived"  # our words: natively these are flags
STATUSES = (ENABLED, DISABLED, ARCHIVED)
STATES: Mapping[str, str] = {ENABLED: "active", DISABLED: "paused", ARCHIVED: "archived"}

DAILY, MONTHLY, WHOLE = "DAILY", "MONTHLY", "CAMPAIGN"
BUDGET_TYPES = (DAILY, MONTHLY, WHOLE)
SPEND_ASAP, AUTOMATIC, DAILY_TARGET = "SPEND_ASAP", "AUTOMATIC", "DAILY_TARGET"
PACING = (SPEND_ASAP, AUTOMATIC, DAILY_TARGET)
TYPE_OF = {"daily": DAILY, "lifetime": WHOLE}
PACING_OF = {DAILY: SPEND_ASAP, WHOLE: AUTOMATIC}  # a DAILY budget supports no other

TRAFFIC = "TRAFFIC"
OBJECTIVE_OF = {"traffic": "Traffic", "awareness": "Awareness"}
_AUTOMATED = words("MAX_CONVERSION_FULLY_AUTOMATED TARGET_CPA_FULLY_AUTOMATED TARGET_ROAS_FULLY_AUTOMATED")
# Amplify reference "Campaigns": the optimization types of each objective; the first is the one we choose.
OPTIMIZATIONS: Mapping[str, tuple[str, ...]] = {
    "Awareness": (TRAFFIC,),
    "Traffic": (TRAFFIC,),
    "Conversions": ("CPC", *_AUTOMATED),
    "AppInstalls": ("CPC", *_AUTOMATED),
}
STANDARD = "Standard"
EMPTY_SUFFIX, EMPTY_PREFIX = "EMPTY_SUFFIX", "EMPTY_PREFIX"
SUCCESS, FAILURE = "Success", "Failure"

NAME_LENGTH, SUFFIX_LENGTH = 100, 9  # a budget's name is unique, too: a blank and 8 digits keep it apart
LARGEST_PAGE, LINKS_PAGE = 50, 100  # of campaigns; of links the maximum is not documented, other clients take 50 to 100
REPORT_PAGE, REPORT_DAYS = 500, 3 * 365
# Budgets created since 2025-11-03, in USD; other currencies: minimumCampaignBudget of GET /currencies.
LEAST_USD: Mapping[str, Decimal] = {DAILY: Decimal(25), MONTHLY: Decimal(750), WHOLE: Decimal(25)}

CAMPAIGN_EXTRAS = "Locations,PlatformTargeting,InterestsTargeting,CustomAudience,IABCategories,NetworkTargeting"


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Decimal numbers of at most 2 digits after the point; none where the currency has none (unverified)."""
    return _unit(currency_of(account))


@cache
def _unit(currency: str) -> Unit:
    return Unit(10 ** min(2, exponent(currency, "account.currency")), form="major")


def today(now: datetime) -> date:
    """The day that it is in Eastern time."""
    return now.astimezone(zone(ZONE)).date()


def serving_days(brief: CampaignBrief) -> tuple[date, date | None]:
    """The first and last day; that the last one is served, too, is (unverified)."""
    return local_days(brief.schedule.start, brief.schedule.end, ZONE)


def days_between(first: Json, last: Json) -> int | None:
    """How many days a budget runs, both included (unverified); None where its dates are none."""
    try:
        return (date.fromisoformat(last) - date.fromisoformat(first)).days + 1
    except (TypeError, ValueError):
        return None


def too_small(least: Mapping[str, Decimal], budget: Mapping[str, Json], path: str, currency: str) -> Iterator[Issue]:
    """What is wrong with a budget's amount; ``least``: by budget type, for CAMPAIGN by day."""
    kind, amount = budget.get("type"), budget.get("amount")
    days = days_between(budget.get("startDate"), budget.get("endDate")) if kind == WHOLE else 1
    if not isinstance(kind, str) or kind not in least or not is_number(amount) or days is None:
        return
    if Decimal(amount or 0) < least[kind] * days:
        each = f" ({written(least[kind])} for each of {days} days)" if kind == WHOLE else ""
        message = f"Outbrain takes a {kind} budget of at least {written(least[kind] * days)} {currency}{each}."
        yield Issue(path, "too_small", message)


def floors_of(row: Mapping[str, Json] | None) -> dict[str, Decimal]:
    """The least budgets that a row of the currencies names; the one of a CAMPAIGN budget by day (unverified)."""
    least = read(row, "/minimumCampaignBudget")
    return {DAILY: Decimal(least), WHOLE: Decimal(least)} if is_number(least) else {}


def cost_issues(row: Mapping[str, Json] | None, cost: Decimal, path: str, currency: str) -> Iterator[Issue]:
    """What is wrong with a cost per click, by a row of the currencies."""
    low, high = read(row, "/minimumCpc"), read(row, "/maximumCpc")
    if is_number(low) and cost < low:
        yield Issue(path, "too_small", f"Outbrain takes a cost per click of at least {written(low)} {currency}.")
    if is_number(high) and cost > high:
        yield Issue(path, "too_large", f"Outbrain takes a cost per click of at most {written(high)} {currency}.")


# -- requests -----------------------------------------------------------------------------------------------------


def get(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """A read."""
    return Request("GET", f"{API}/{path}", slots, query or {})


def send(method: str, path: str, body: Json, nature: Nature = "write", **slots: str) -> Request:
    """A write."""
    return Request(method, f"{API}/{path}", slots, body=body, encoding="json", nature=nature)


def currencies() -> Request:
    """The currencies with their bounds."""
    return get("currencies")


def currency_row(response: Response | None, currency: str) -> Mapping[str, Json] | None:
    """What the currencies say of one."""
    listed = rows(response.body, "/currencies", "currencies") if response is not None else []
    return next((row for row in listed if row.get("code") == currency), None)


def paged(limit: int, offset: int) -> dict[str, str]:
    """The query of a list."""
    return {"limit": str(limit), "offset": str(offset)}


def names(account: Account, *, archived: bool) -> Request:
    """Id and name of all campaigns at once: such a list has no pages."""
    query = {"fetch": "basic", "includeArchived": str(archived).lower()}
    return get("marketers/{marketer}/campaigns", query, marketer=account.native_id)


def listed(one: Level, owner: str, limit: int, offset: int, query: Mapping[str, str]) -> Request:
    """A page of the campaigns of a marketer, or of the promoted links of a campaign."""
    path = "marketers/{id}/campaigns" if one.kind == "campaign" else "campaigns/{id}/promotedLinks"
    return get(path, {**paged(limit, offset), **query}, id=owner)


def total(response: Response, at: str) -> int | None:
    """How many rows there are on all pages, where the answer says it."""
    found = read(response.body, at)
    return int(found) if is_number(found) and found == int(found) else None


# -- answers ------------------------------------------------------------------------------------------------------


def native_status(native: Mapping[str, Json]) -> str | None:
    """The status in one word: natively it is two flags."""
    if native.get("archived") is True or native.get("autoArchived") is True:
        return ARCHIVED
    words_ = {True: ENABLED, False: DISABLED}
    enabled = native.get("enabled")
    return words_[enabled] if isinstance(enabled, bool) else None


def status_sent(kind: str, sent: Json) -> tuple[str, str | None]:
    """The status in what was sent: flags of a campaign or a link."""
    flags = sent if isinstance(sent, list) else [sent]
    return kind, next((status for one in flags if isinstance(one, Mapping) and (status := native_status(one))), None)


def error(response: Response) -> Found | None:
    """The native error: a sentence without a code, in two shapes."""
    body = response.body if response.state == "json" else None
    said = text(body, "/errorMessage")
    if response.status < 400 and said is None:
        return None
    hints = [said or text(body, "/message"), text(body, "/moreInfo")]
    return Found((), ": ".join(one for one in hints if one) or None, response.headers.get(REQUEST_ID_HEADER))


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What the answer to an array says of each item: HTTP 200 does not mean success."""
    sent, listed = request.body, response.body
    if not isinstance(sent, list) or not isinstance(listed, list) or len(listed) != len(sent):
        return None
    ids = [read(one, "/id") for one in sent]
    answers = []
    for index, row in enumerate(listed):
        native_id = identifier(read(row, "/id")) or ids[index]
        position = ids.index(native_id) if native_id in ids else index
        if text(row, "/operationStatus/status") == SUCCESS:
            answers.append(ItemAnswer(position, native_id))
        else:
            answers.append(ItemAnswer(position, error=item_error(row, response.headers.get(REQUEST_ID_HEADER))))
    return answers


def item_error(item: Json, request_id: str | None) -> Found:
    """The error of one item of an array: a code only where it says Failure, since anything else is doubt."""
    status = text(item, "/operationStatus/status")
    said = [one for one in found_at(item, "/operationStatus/reason/*") if isinstance(one, str)]
    return Found((FAILURE,) if status == FAILURE else (), "; ".join(said) or None, request_id)


def wait(response: Response) -> float | None:
    """Seconds to wait: Outbrain counts them in milliseconds, in a header of its own."""
    said = response.headers.get(WAIT_HEADER, "").strip()
    return int(said) / 1000 if said.isascii() and said.isdigit() and len(said) < 12 else None
