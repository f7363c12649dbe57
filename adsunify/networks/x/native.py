"""X Ads API: addresses, enums, parameter names, money, OAuth 1.0a signatures, errors, delays and pages.

Sources, for version 12, as of 2026-08-22: github.com/xdevplatform/docs, the source of docs.x.com (x-ads-api:
campaign-management, analytics, creatives/reference, fundamentals; fundamentals/authentication: oauth-1-0a,
api-reference); the PyPI package twitter-ads 11.0.0, which is written for API version 11. Reports were compared with
github.com/singer-io/tap-twitter-ads.
"""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta, timezone
from functools import cache
from urllib.parse import parse_qsl, quote, urlsplit

from attrs import evolve

from adsunify.adapter.account import Account, require_currency, require_timezone
from adsunify.adapter.flows import next_page_builder
from adsunify.adapter.native_money import MoneyUnit, is_number
from adsunify.adapter.network import ItemResult, ParsedError, split_words
from adsunify.adapter.oauth import OAuthClient
from adsunify.errors import InvalidInput, ProviderUnreadable, invalid_input
from adsunify.http.messages import BodyEncoding, Request, RequestKind, Response, build_request_url
from adsunify.http.retry_after import parse_http_date
from adsunify.plans.records import Step
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import format_utc, get_timezone, parse_instant
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_objects, get_text, get_value, parse_id
from adsunify.values.time_formats import ISO_TIME

CODE = "x"
VERSION = "12"
HOST = "ads-api.x.com"
LOGIN_HOST = "api.x.com"
DOWNLOAD_HOST = "ton.twimg.com"  # the host of finished reports; it gets no credentials
API_URL = f"https://{HOST}/{VERSION}"
REQUEST_TOKEN_URL = f"https://{LOGIN_HOST}/oauth/request_token"
CONSENT_URL = f"https://{LOGIN_HOST}/oauth/authorize"
ACCESS_TOKEN_URL = f"https://{LOGIN_HOST}/oauth/access_token"
REVOKE_URL = f"https://{LOGIN_HOST}/1.1/oauth/invalidate_token.json"
INVALID_TOKEN_CODE = "89"  # api.x.com: the token was already revoked
REQUEST_ID_HEADER = "x-transaction-id"  # unverified: the name of this header

ACTIVE, PAUSED, DRAFT = "ACTIVE", "PAUSED", "DRAFT"
STATUSES = (ACTIVE, PAUSED, DRAFT)
DELETED = "DELETED"  # our status: lists with `with_deleted` mark a deleted entity with the member `deleted`
LINE_ITEM_BUDGET = "LINE_ITEM"
WEBSITE_CLICKS, LINK_CLICKS = "WEBSITE_CLICKS", "LINK_CLICKS"
PROMOTED_POSTS = "PROMOTED_TWEETS"
ALL_PLACEMENTS = "ALL_ON_TWITTER"
AUTO_BID, MAX_BID, TARGET_BID = "AUTO", "MAX", "TARGET"
BID_STRATEGIES = (AUTO_BID, MAX_BID, TARGET_BID)
PAID_BY_IMPRESSION = "IMPRESSION"
OBJECTIVES_WITHOUT_MAX_BID = ("REACH", "FOLLOWERS")  # the objectives whose line items take no maximum bid
CAPPED_OBJECTIVES = ("REACH", "ENGAGEMENTS", "VIDEO_VIEWS", "PREROLL_VIEWS")
FREQUENCY_CAP_DAYS = ("1", "7", "30")
AUDIENCE_EXPANSIONS = ("BROAD", "DEFINED", "EXPANDED")
# The goals that an update may set. SITE_VISITS can only be set at creation.
LINE_ITEM_GOALS = split_words(
    "APP_CLICKS APP_INSTALLS APP_PURCHASES ENGAGEMENT FOLLOWERS LINK_CLICKS MAX_REACH PREROLL PREROLL_STARTS"
    " REACH_WITH_ENGAGEMENT VIDEO_VIEW VIEW_3S_100PCT VIEW_6S VIEW_15S WEBSITE_CONVERSIONS"
)
FULL_PROMOTABLE_USER = "FULL"  # the type of the promotable user whose posts a list has by default
COUNTRIES = "COUNTRIES"
LOCATION_TYPES = (COUNTRIES, "REGIONS", "METROS", "CITIES", "POSTAL_CODES")
MAX_NAME_LENGTH, MAX_ORDER_NUMBER_LENGTH = 255, 50
MAX_POSTS_PER_REQUEST = 50
PAGE_SIZE = "1000"
CREATE, DELETE = "Create", "Delete"
CRITERION_ID_MEMBER = "targeting_criterion_id"
DAILY_BUDGET_MEMBER, TOTAL_BUDGET_MEMBER, BID_MEMBER = (
    "daily_budget_amount_local_micro",
    "total_budget_amount_local_micro",
    "bid_amount_local_micro",
)

CAMPAIGN_MEMBERS = (
    "name budget_optimization daily_budget_amount_local_micro entity_status purchase_order_number standard_delivery"
    " total_budget_amount_local_micro"
)
LINE_ITEM_MEMBERS = (
    "name advertiser_domain advertiser_user_id android_app_store_identifier audience_expansion bid_amount_local_micro"
    " bid_strategy categories daily_budget_amount_local_micro duration_in_days end_time entity_status frequency_cap"
    " goal ios_app_store_identifier pay_by start_time total_budget_amount_local_micro"
)
REQUIRED_MEMBERS: Mapping[str, tuple[str, ...]] = {
    "campaign": split_words("funding_instrument_id name"),
    # The reference requires end_time, but its example leaves it out.
    "adGroup": split_words("campaign_id objective placements product_type start_time"),
    "ad": split_words("line_item_id tweet_ids"),
}


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    advertiser_domain advertiser_user_id android_app_store_identifier audience_expansion
    budget_optimization=LINE_ITEM categories duration_in_days frequency_cap funding_instrument_id goal
    ios_app_store_identifier name objective placements primary_web_event_tag product_type
    purchase_order_number standard_delivery tweet_ids
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------

# X Ads API, "Currency": the currencies whose number of fraction digits is not 2.
_CURRENCY_DIGITS = {
    **dict.fromkeys(split_words("VND KRW CLP JPY"), 0),
    **dict.fromkeys(split_words("KWD IQD BHD TND"), 3),
}


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: micros, in multiples of the minor unit (X refuses finer amounts: INVALID_DENOMINATION)."""
    return _get_currency_unit(require_currency(account))


@cache
def _get_currency_unit(currency: str) -> MoneyUnit:
    get_exponent(currency, "account.currency")  # raises InvalidInput for text that is no currency
    return MoneyUnit(1_000_000, step=10 ** (6 - _CURRENCY_DIGITS.get(currency, 2)))


TIME = ISO_TIME


def get_utc_offset(account: Account, now: datetime) -> timedelta:
    """Return the account's present UTC offset. X uses it for all days of a request."""
    return now.astimezone(get_timezone(require_timezone(account))).utcoffset() or timedelta()


def format_midnight(day: date, offset: timedelta) -> str:
    """Write the first instant of a day of the account, in UTC."""
    return format_utc(datetime(day.year, day.month, day.day, tzinfo=timezone(offset)))


def parse_midnight_day(native: str | None, offset: timedelta) -> date:
    """Return the day that begins at this native midnight. Raises ProviderUnreadable for other text.

    The clocks may have changed since the request, so midnight may be off by up to six hours.
    """
    try:
        moment = parse_instant(native or "")
    except InvalidInput:
        raise ProviderUnreadable("X: the report does not say its days.") from None
    return (moment + offset + timedelta(hours=6)).date()


def format_parameter(value: Json, path: str) -> str:
    """Write a native value as a query parameter: lists are joined by commas, booleans are in lower case."""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return value
    if is_number(value):
        return format(value, "f") if not isinstance(value, int) else str(value)
    if isinstance(value, list | tuple) and value and not any(isinstance(item, list | tuple) for item in value):
        return ",".join(format_parameter(item, path) for item in value)
    raise invalid_input(path, "type", "X takes texts, numbers, booleans, and lists of them.")


# -- requests -----------------------------------------------------------------------------------------------------


def build_request(
    method: str, path: str, query: Mapping[str, str], *, nature: RequestKind = "read", body: Json = None, **slots: str
) -> Request:
    """Build a request. Every method has its parameters in the query, in the order of their names."""
    in_order = dict(sorted(query.items()))
    encoding: BodyEncoding = "none" if body is None else "json"
    return Request(method, f"{API_URL}{path}", slots, in_order, body=body, encoding=encoding, kind=nature)


def build_account_get_request(account: Account, path: str, **query: Json) -> Request:
    """Build a read below the account."""
    return build_request("GET", f"/accounts/{{account}}/{path}", query, account=account.native_id)


def build_locations_request(query: Mapping[str, str]) -> Request:
    """Build the search for places that can be targeted."""
    return build_request("GET", "/targeting_criteria/locations", query)


def build_posts_request(account: Account, query: Mapping[str, str]) -> Request:
    """Build the read of published posts. Without ``timeline_type`` X lists only posts that followers do not see."""
    fixed = {"tweet_type": "PUBLISHED", "timeline_type": "ALL", "trim_user": "true"}
    return build_account_get_request(account, "tweets", **fixed, **query)


def build_job_states_request(account: Account, ids: str) -> Request:
    """Build the read of the states of reports. The response is complete even if it has a cursor."""
    return build_request("GET", "/stats/jobs/accounts/{account}", {"job_ids": ids}, account=account.native_id)


# -- signing ------------------------------------------------------------------------------------------------------

SIGNATURE_METHOD, OAUTH_VERSION = "HMAC-SHA1", "1.0"


def authorize_request(
    request: Request, app: OAuthClient, now: int, nonce: str, token: str | None = None, secret: str = "", **more: str
) -> Request:
    """Return the request with its ``Authorization: OAuth`` header.

    ``now``: milliseconds. ``token`` and ``secret``: of the user or of the request token; absent in the first request.
    ``more``: further OAuth parameters (``oauth_callback``, ``oauth_verifier``).
    """
    oauth = {
        "oauth_consumer_key": app.client_id,
        "oauth_nonce": nonce,
        "oauth_signature_method": SIGNATURE_METHOD,
        "oauth_timestamp": str(now // 1000),
        "oauth_version": OAUTH_VERSION,
        **({} if token is None else {"oauth_token": token}),
        **more,
    }
    oauth["oauth_signature"] = _compute_signature(request, oauth, app.client_secret, secret)
    header = ", ".join(f'{name}="{_percent_encode(oauth[name])}"' for name in sorted(oauth))
    return evolve(request, headers={**request.headers, "Authorization": f"OAuth {header}"})


def derive_nonce(value: str) -> str:
    """Return a nonce for a request, from a value that no other request has."""
    return hashlib.sha256(value.encode()).hexdigest()


def _percent_encode(value: str) -> str:
    return quote(value, safe="~")


def _get_signed_parameters(request: Request) -> Iterator[tuple[str, str]]:
    """Yield the parameters of the query and of a form. A JSON body is not signed."""
    if request.query_raw is not None:
        yield from parse_qsl(request.query_raw, keep_blank_values=True)
    else:
        yield from request.query.items()
    if request.encoding == "form" and request.body:
        yield from request.body.items()


def _compute_signature(request: Request, oauth: dict[str, str], client_secret: str, secret: str) -> str:
    pairs = sorted(
        (_percent_encode(name), _percent_encode(value))
        for name, value in (*_get_signed_parameters(request), *oauth.items())
    )
    address = urlsplit(build_request_url(request))
    place = f"{address.scheme}://{address.netloc.lower().removesuffix(':443')}{address.path or '/'}"
    joined = "&".join(f"{name}={value}" for name, value in pairs)
    base = "&".join(_percent_encode(part) for part in (request.method.upper(), place, joined))
    key = f"{_percent_encode(client_secret)}&{_percent_encode(secret)}"
    return base64.b64encode(hmac.new(key.encode(), base.encode(), hashlib.sha1).digest()).decode("ascii")


# -- answers ------------------------------------------------------------------------------------------------------

OPERATION_ERROR = "operation_errors"
"""Our code, added to the codes of every error of a batch. X applies a batch as a whole or not at all."""


def _parse_operation_errors(body: Json) -> Iterator[tuple[int, Json]]:
    """Yield the errors of a batch, each with the position of its operation."""
    # unverified: an entry of operation_errors is a list of errors.
    entries = get_value(body, f"/{OPERATION_ERROR}")
    for position, entry in enumerate(entries if isinstance(entries, list) else ()):
        yield from ((position, error) for error in (entry if isinstance(entry, list) else [entry]) if error)


def _parse_error_entry(entry: Json, request_id: str | None, *more: str) -> ParsedError:
    code, texts = get_text(entry, "/code"), [get_text(entry, at) for at in ("/message", "/parameter", "/details")]
    message = "; ".join(part for part in texts if part)
    return ParsedError((*((code,) if code else ()), *more), message or None, request_id)


def parse_error(response: Response) -> ParsedError | None:
    """Return the first error of the response. An error of a batch also has the code OPERATION_ERROR."""
    body, request_id = response.body if response.state == "json" else None, response.headers.get(REQUEST_ID_HEADER)
    for entry in find_values(body, "/errors/*"):
        return _parse_error_entry(entry, request_id)
    for _, entry in _parse_operation_errors(body):
        return _parse_error_entry(entry, request_id, OPERATION_ERROR)
    return ParsedError((), None, request_id) if response.status >= 400 else None


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the result of each operation. ``data`` has the order of the operations; any error rejects all of them."""
    operations = request.body if isinstance(request.body, list) else []
    data = find_values(response.body, "/data/*")
    answers = [
        ItemResult(position, _match_answered_id(operations, position, item)) for position, item in enumerate(data)
    ]
    request_id = response.headers.get(REQUEST_ID_HEADER)
    errors = dict(reversed(list(_parse_operation_errors(response.body))))
    if errors:
        # An operation with both an ID and an error gets both results, which makes its outcome unknown.
        first = next(iter(sorted(errors)))
        whole = (
            _parse_error_entry(errors.get(position, errors[first]), request_id, OPERATION_ERROR)
            for position in range(len(operations))
        )
        return [*answers, *(ItemResult(position, error=item) for position, item in enumerate(whole))]
    return answers if len(answers) == len(operations) else None


def _match_answered_id(operations: Sequence[Json], position: int, item: Json) -> str | None:
    """Return the ID of a result; None if the result of a deletion names another criterion than the deleted one."""
    id_ = parse_id(get_value(item, "/id"))
    sent_id = get_value(operations, f"/{position}/params/{CRITERION_ID_MEMBER}")
    return id_ if sent_id is None or sent_id == id_ else None


LOCKED_RETRY_DELAY, DEFAULT_RETRY_DELAY = 5.0, 60.0
# The account's limit is tried before the app's limit.
RESET_HEADERS = ("x-account-rate-limit-reset", "x-rate-limit-reset")


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds until the limit is reset: the header's Unix time less the ``Date`` of the response."""
    if response.status == 423:
        return LOCKED_RETRY_DELAY
    if response.status != 429:
        return None
    reset = next((response.headers[name] for name in RESET_HEADERS if name in response.headers), "")
    moment = parse_http_date(response.headers.get("date", ""))
    if moment is None or not (reset.isascii() and reset.isdigit() and len(reset) < 13):
        return DEFAULT_RETRY_DELAY
    return max(1.0, int(reset) - moment)


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list."""
    return get_objects(response.body, "/data")


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page; None at the end. An empty cursor is the end, too."""
    return get_text(response.body, "/next_cursor") or None


build_next_request = next_page_builder("cursor", parse_next_cursor)
