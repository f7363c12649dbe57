"""OpenAI's own words: host, enums, limits, lists, money, times and errors."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from datetime import UTC, datetime, timedelta
from urllib.parse import quote, urlencode

from attrs import evolve

from adsunify.adapter.network import Account, Found, Level, Unit, currency_of, words
from adsunify.errors import refused
from adsunify.http.messages import Request, Response
from adsunify.values.currencies import exponent
from adsunify.values.dates import instant, utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import identifier, need, rows, text

CODE = "chatgpt"
VERSION = "v1"
HOST = "api.ads.openai.com"
API = f"https://{HOST}/{VERSION}"
# The edge refuses the signatures of some HTTP libraries ("error code: 1010", field report).
HEADERS: Mapping[str, str] = {"Accept": "application/json", "User-Agent": "adsunify"}
IDEMPOTENCY_KEY = "Idempotency-Key"

ACTIVE, PAUSED, ARCHIVED = "active", "paused", "archived"
BORN = (ACTIVE, PAUSED)
STATUSES = (*BORN, ARCHIVED)
ACTIVATE, PAUSE, ARCHIVE = "activate", "pause", "archive"
CALLS: Mapping[str, str] = {ACTIVE: ACTIVATE, PAUSED: PAUSE}
APPROVED = "approved"

CLICKS, IMPRESSIONS, CONVERSIONS = "clicks", "impressions", "conversions"
CLICK, IMPRESSION = "click", "impression"
FIXED_BID = "fixed_bid"
AUTOMATIC = words("maximize_clicks maximize_conversions")
CHAT_CARD = "chat_card"
LIFETIME_LIMIT, DAILY_LIMIT = "lifetime_spend_limit_micros", "daily_spend_limit_micros"
PLATFORMS = words("android_app android_web desktop_web ios_app ios_web web")
AUDIENCES = words("custom_audiences excluded_custom_audiences")
EXCLUDED_LOCATIONS = "excluded_locations"  # in the newest schema, described nowhere
TARGETING = ("locations", "platforms", *AUDIENCES, EXCLUDED_LOCATIONS)
BIDDING = words("billing_event_type strategy max_bid_micros custom_audience_bid_multipliers")
CREATIVE = words("type title body target_url file_id price")
READ_ONLY = words("id created_at updated_at review review_status serving_issues appeal")

MICROS = 1_000_000  # to one of every currency, those without minor units too
A_THOUSAND = 1_000  # impressions, for which people bid; natively it is a single one
LEAST_BUDGET = "1"
NAME_LENGTHS, TITLE_LENGTHS = (3, 1_000), (3, 50)
BODY_LENGTH, URL_LENGTH = 100, 2_048
MOST_LOCATIONS, MOST_HINTS = 2_500, 2_000
FIRST_SECOND, LAST_SECOND = 946_684_800, 4_102_444_800  # the years 2000 to 2100
LARGEST_PAGE, GEO_PAGE, REPORT_PAGE = 500, 100, 2_000
FIRST_WAIT = 5.0  # seconds; where a throttled answer names no time


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Micros of every currency."""
    currency_of(account)
    return _MICROS


def unit_of_impressions(account: Account) -> Unit:
    """Bids per impression in micros, as people count them: per thousand."""
    currency_of(account)
    return _OF_IMPRESSIONS


_MICROS, _OF_IMPRESSIONS = Unit(MICROS), Unit(MICROS // A_THOUSAND)


def finer(account: Account, amount: str) -> bool:
    """Whether an amount has more digits than the currency; that such amounts are taken is (unverified)."""
    digits = len(amount.partition(".")[2].rstrip("0"))
    return digits > exponent(currency_of(account), "account.currency")


_BELOW_SECOND = re.compile(r"\.[0-9]*[1-9]").search
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


def whole_seconds(moment_: datetime) -> int:
    """An instant as OpenAI counts it."""
    return (moment_ - _EPOCH) // timedelta(seconds=1)


def seconds(written: str, path: str) -> int:
    """An instant of a caller in Unix seconds; InvalidInput for one that OpenAI cannot hold."""
    if _BELOW_SECOND(written):
        raise refused(path, "over_precision", "OpenAI counts whole seconds; nothing is rounded.")
    found = whole_seconds(instant(written, path))
    if not FIRST_SECOND <= found <= LAST_SECOND:
        raise refused(path, "out_of_range", "OpenAI takes instants of the years 2000 to 2100.")
    return found


def moment(value: Json) -> datetime | None:
    """An instant as OpenAI writes it, None where it is none."""
    if not isinstance(value, int) or isinstance(value, bool):
        return None
    try:
        return _EPOCH + timedelta(seconds=value)
    except OverflowError:
        return None


def shown_time(value: Json) -> str | None:
    """An instant for people."""
    found = moment(value)
    return None if found is None else utc_text(found)


# -- requests -----------------------------------------------------------------------------------------------------


def get(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """A read."""
    return Request("GET", f"{API}/{path}", slots, query or {}, HEADERS)


def arrays(request: Request, query: Iterable[tuple[str, str]]) -> Request:
    """The read with a query in which names come again: arrays have names that end in ``[]``."""
    return evolve(request, query_raw=urlencode(list(query), quote_via=quote))


def single(one: Level, entity_id: str) -> Request:
    """The read of one entity."""
    return get(f"{one.path}/{{id}}", id=entity_id)


def listed(one: Level, parent_id: str | None, limit: int, cursor: str | None = None) -> Request:
    """One page of a level. Ads API: the parent is required, though without it the whole account is told."""
    owner = {} if parent_id is None else {one.parent.removeprefix("/"): parent_id}
    return get(one.path, owner | paged(limit, cursor))


def paged(limit: int, cursor: str | None = None) -> dict[str, str]:
    """The query of one page."""
    return {"limit": str(min(limit, LARGEST_PAGE))} | ({} if cursor is None else {"after": cursor})


def event_settings(limit: int, cursor: str | None = None) -> Request:
    """The events that campaigns can be led by."""
    return get("conversions/event_settings", paged(limit, cursor))


# -- answers ------------------------------------------------------------------------------------------------------


def data(response: Response) -> list[Mapping[str, Json]]:
    """The rows of a list; one that has none is empty, but it is there."""
    need(response.body, "/data", "list")
    return rows(response.body, "/data", "list")


def next_cursor(response: Response) -> str | None:
    """The cursor of the next page."""
    body = response.body
    more = isinstance(body, Mapping) and body.get("has_more") is True
    return identifier(body.get("last_id")) if more else None


def following(request: Request, response: Response) -> Request | None:
    """The request of the next page."""
    cursor = next_cursor(response)
    return None if cursor is None else evolve(request, query={**request.query, "after": cursor})


NOT_JSON = "not_json"
"""What we call an answer that is a page of something in between, and so may stand for anything."""


def error(response: Response) -> Found | None:
    """The native error: an object, now and then a text; of an answer that is no JSON, that it is none."""
    request_id = response.headers.get("x-request-id")
    if response.state == "unreadable" and response.status not in BLOCKS:
        return Found((NOT_JSON,), "The answer is no JSON.", request_id)
    body = response.body if response.state == "json" and isinstance(response.body, Mapping) else {}
    said = body.get("error")
    if response.status < 400 and said is None:
        return None
    if not isinstance(said, Mapping):
        return Found((), said if isinstance(said, str) else None, request_id)
    codes = tuple(found for at in ("/code", "/type") if (found := text(said, at)))
    message, member = text(said, "/message"), text(said, "/param")
    return Found(codes, f"{message} ({member})" if message and member else message or member, request_id)


# The edge refuses with pages of its own before anything is done: 403 ("error code: 1010"), 429; 401 is the key's.
BLOCKS = (401, 403, 429)


def wait(response: Response) -> float | None:
    """Seconds to wait after a throttled answer that does not say."""
    return FIRST_WAIT if response.status == 429 and "retry-after" not in response.headers else None
