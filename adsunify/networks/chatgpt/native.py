"""OpenAI Advertiser API: host, enums, limits, lists, money, instants and errors.

Sources: OpenAI's OpenAPI document 2.3.0 (2026-06), and developers.openai.com/ads, as of 2026-09 (api-overview with its
changelog to 2026-09-10, api-quickstart, campaign-management, bidding-and-budgets, campaign-targeting,
location-targeting, platform-targeting, conversion-tracking, conversion-optimized-campaigns, reporting,
account-management, troubleshooting, api-reference). Reports were compared with github.com/airbytehq/airbyte
source-openai-ads (2026-10). "Field report" marks behaviour that public integrators saw on live accounts (2026-09).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from urllib.parse import quote, urlencode

from attrs import evolve

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.flows import next_page_builder
from adsunify.adapter.native_money import MoneyUnit, get_micros_unit
from adsunify.adapter.network import Level, ParsedError, split_words
from adsunify.http.messages import Request, Response
from adsunify.http.retry_after import parse_retry_after
from adsunify.values.currencies import get_exponent
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, parse_id, require_objects
from adsunify.values.time_formats import UNIX_SECONDS

CODE = "chatgpt"
VERSION = "v1"
HOST = "api.ads.openai.com"
API_URL = f"https://{HOST}/{VERSION}"
# Field report: the edge servers refuse the User-Agent of some HTTP libraries ("error code: 1010").
HEADERS: Mapping[str, str] = {"Accept": "application/json", "User-Agent": "adsunify"}
IDEMPOTENCY_KEY = "Idempotency-Key"

ACTIVE, PAUSED, ARCHIVED = "active", "paused", "archived"
STATUSES = (ACTIVE, PAUSED, ARCHIVED)
STATUS_CALLS: Mapping[str, str] = {ACTIVE: "activate", PAUSED: "pause", ARCHIVED: "archive"}
APPROVED = "approved"

CLICKS, IMPRESSIONS, CONVERSIONS = "clicks", "impressions", "conversions"
CLICK, IMPRESSION = "click", "impression"
FIXED_BID = "fixed_bid"
AUTOMATIC_STRATEGIES = split_words("maximize_clicks maximize_conversions")
CHAT_CARD = "chat_card"
LIFETIME_LIMIT_MEMBER, DAILY_LIMIT_MEMBER = "lifetime_spend_limit_micros", "daily_spend_limit_micros"
PLATFORMS = split_words("android_app android_web desktop_web ios_app ios_web web")
AUDIENCES = split_words("custom_audiences excluded_custom_audiences")
EXCLUDED_LOCATIONS = "excluded_locations"  # the newest schema has it without a description
TARGETING_MEMBERS = ("locations", "platforms", *AUDIENCES, EXCLUDED_LOCATIONS)
BIDDING_MEMBERS = split_words("billing_event_type strategy max_bid_micros custom_audience_bid_multipliers")
CREATIVE_MEMBERS = split_words("type title body target_url file_id price")
READ_ONLY_MEMBERS = split_words("id created_at updated_at review review_status serving_issues appeal")

MICROS = 1_000_000  # micros in one major unit, in every currency
IMPRESSIONS_PER_BID = 1_000  # of a bid in a brief; a native bid is for one impression
MIN_BUDGET = "1"
NAME_LENGTH_RANGE, TITLE_LENGTH_RANGE = (3, 1_000), (3, 50)
MAX_BODY_LENGTH, MAX_URL_LENGTH = 100, 2_048
MAX_LOCATIONS, MAX_HINTS = 2_500, 2_000
MAX_PAGE_SIZE, MAX_GEO_PAGE_SIZE, REPORT_PAGE_SIZE = 500, 100, 2_000
DEFAULT_RETRY_DELAY = 5.0  # seconds; for a throttled response that names no time


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    bidding_type context_hints
    conversion_event_setting_ids creative description file_id mode name product_feed_id targeting
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


get_money_unit = get_micros_unit


def get_impression_bid_unit(account: Account) -> MoneyUnit:
    """Return the unit of bids for impressions: a brief's bid is per thousand, the native bid is micros for one."""
    require_currency(account)
    return _IMPRESSION_BID_UNIT


_IMPRESSION_BID_UNIT = MoneyUnit(MICROS // IMPRESSIONS_PER_BID)


def is_finer_than_currency(account: Account, amount: str) -> bool:
    """Return whether an amount has more fraction digits than its currency has."""
    # unverified: OpenAI accepts amounts with more fraction digits than the currency has.
    digits = len(amount.partition(".")[2].rstrip("0"))
    return digits > get_exponent(require_currency(account), "account.currency")


TIME = evolve(UNIX_SECONDS, years=(2000, 2100))


# -- requests -----------------------------------------------------------------------------------------------------


def build_get_request(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """Build a GET request."""
    return Request("GET", f"{API_URL}/{path}", slots, query or {}, HEADERS)


def with_repeated_query(request: Request, query: Iterable[tuple[str, str]]) -> Request:
    """Return the request with a query in which names may repeat. The names of arrays end in ``[]``."""
    return evolve(request, query_raw=urlencode(list(query), quote_via=quote))


def build_level_entity_request(level: Level, entity_id: str) -> Request:
    """Build the read of one entity."""
    return build_get_request(f"{level.path}/{{id}}", id=entity_id)


def build_children_request(level: Level, parent_id: str | None, limit: int, cursor: str | None = None) -> Request:
    """Build the request of one page of a level.

    The documentation requires a parent, but OpenAI lists the whole account without one.
    """
    owner = {} if parent_id is None else {level.parent.removeprefix("/"): parent_id}
    return build_get_request(level.path, owner | build_page_query(limit, cursor))


def build_page_query(limit: int, cursor: str | None) -> dict[str, str]:
    """Build the query of one page."""
    return {"limit": str(min(limit, MAX_PAGE_SIZE))} | ({} if cursor is None else {"after": cursor})


def build_event_settings_request(limit: int, cursor: str | None = None) -> Request:
    """Build the request for the event settings, which can be the goals of campaigns."""
    return build_get_request("conversions/event_settings", build_page_query(limit, cursor))


# -- answers ------------------------------------------------------------------------------------------------------


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``data``, which even an empty list has."""
    return require_objects(response.body, "/data", "list")


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page; None at the end."""
    body = response.body
    has_more = isinstance(body, Mapping) and body.get("has_more") is True
    return parse_id(body.get("last_id")) if has_more else None


build_next_request = next_page_builder("after", parse_next_cursor)


NOT_JSON = "not_json"
"""Our error code for a response of a proxy or an edge server. The outcome of the request is then unknown."""


def parse_error(response: Response) -> ParsedError | None:
    """Return the error, which is an object or a text. A response that is not JSON has the code ``not_json``."""
    request_id = response.headers.get("x-request-id")
    if response.state == "unreadable" and response.status not in REFUSAL_HTTP_STATUSES:
        return ParsedError((NOT_JSON,), "The answer is no JSON.", request_id)
    body = response.body if response.state == "json" and isinstance(response.body, Mapping) else {}
    error = body.get("error")
    if response.status < 400 and error is None:
        return None
    if not isinstance(error, Mapping):
        return ParsedError((), error if isinstance(error, str) else None, request_id)
    codes = tuple(code for at in ("/code", "/type") if (code := get_text(error, at)))
    message, member = get_text(error, "/message"), get_text(error, "/param")
    return ParsedError(codes, f"{message} ({member})" if message and member else message or member, request_id)


# The edge servers refuse requests before the API gets them, with an HTML page: 403 ("error code: 1010") or 429. A 401
# means a wrong key.
REFUSAL_HTTP_STATUSES = (401, 403, 429)


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait after a throttled response without ``Retry-After``."""
    return DEFAULT_RETRY_DELAY if response.status == 429 and parse_retry_after(response.headers) is None else None
