"""Pinterest API v5: addresses, enums, money and instants, and how items, errors, pages and delays are read.

Sources: the API description github.com/pinterest/api-description v5/openapi.json (5.23.0, 2025-12) and the PyPI package
pinterestsdk 2.1.0 (description 5.28.0, 2026); developers.pinterest.com/docs, as of 2026
(getting-started/set-up-authentication-and-authorization, work-with-ads/create-campaigns-and-ad-groups,
work-with-ads/try-out-campaign-objective-type-simplification, api-features/ads-reporting, reference/rate-limits,
key-concepts/access-tiers, changelog); help.pinterest.com/en/business/article (campaign-objectives,
set-up-campaign-budgets).
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import parse_qsl, quote, urlencode

from attrs import evolve

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.native_money import MoneyUnit, get_micros_unit
from adsunify.adapter.network import ItemResult, ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, invalid_input
from adsunify.http.messages import Request, Response
from adsunify.http.retry_after import parse_retry_after
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_text, get_value, parse_id, require_objects
from adsunify.values.time_formats import UNIX_SECONDS

CODE = "pinterest"
VERSION = "v5"
HOST = "api.pinterest.com"
CONSENT_HOST = "www.pinterest.com"
API_URL = f"https://{HOST}/{VERSION}"
HEADERS: Mapping[str, str] = {"Accept": "application/json"}
REQUEST_ID_HEADER = "x-pinterest-rid"  # unverified: the name of this header
LOGIN = OAuth2(
    consent_url=f"https://{CONSENT_HOST}/oauth/",
    token_url=f"{API_URL}/oauth/token",
    revoke_url=f"{API_URL}/oauth/token/revoke",
    scopes=split_words("ads:read ads:write boards:read boards:write pins:read pins:write user_accounts:read"),
    scope_separator=",",
    # Authentication guide: an app from before 2025-09-25 has to request refresh tokens that can be renewed.
    exchange_extras={"continuous_refresh": "true"},
    is_client_in_header=True,
    headers=HEADERS,
    revoked_tokens=("access_token",),  # works for system users only; Pinterest refuses a user's token (403)
    grant_refused_statuses=(400,),
    note="A refresh token is good for 60 days and renewed with each use. A user's token cannot be revoked by us.",
)

CURRENCIES = split_words(
    "USD GBP CAD EUR AUD NZD SEK ILS CHF HKD JPY SGD KRW NOK DKK PLN RON HUF CZK BRL MXN ARS CLP COP INR TRY"
)
WRITE_PERMISSIONS = ("OWNER", "ADMIN", "CAMPAIGN_MANAGER")  # the permissions that may change an ad account
UTC_TIMEZONE = "UTC"  # the time zone of budget days, of reports by default, and of an account without a time zone

ACTIVE, PAUSED, ARCHIVED, DRAFT, DELETED_DRAFT = split_words("ACTIVE PAUSED ARCHIVED DRAFT DELETED_DRAFT")
STATUSES = (ACTIVE, PAUSED, ARCHIVED, DRAFT, DELETED_DRAFT)
LIVE_STATUSES = (ACTIVE, PAUSED)
CREATE_STATUSES = (PAUSED, DRAFT, ACTIVE)  # the statuses that a native create takes
AUTOMATIC_BID, MAX_BID = "AUTOMATIC_BID", "MAX_BID"
BID_STRATEGIES = (AUTOMATIC_BID, MAX_BID)  # responses may also have TARGET_AVG
IMPRESSION = "IMPRESSION"
CAMPAIGN_BUDGET_TYPE = "CBO_ADGROUP"  # budget_type of an ad group whose campaign holds the budget
AD_GROUP_BUDGET_PERIODS: Mapping[Json, str] = {"DAILY": "daily", "LIFETIME": "lifetime"}
SPEND_CAP_MEMBERS: Mapping[str, str] = {  # a campaign's budget, by period
    "daily": "daily_spend_cap",
    "lifetime": "lifetime_spend_cap",
}
STANDARD_PACING = "STANDARD"
ALL_PLACEMENTS = "ALL"
PLACEMENTS = (ALL_PLACEMENTS, "SEARCH", "BROWSE", "OTHER")
REGULAR = "REGULAR"
PROMOTABLE_PIN_TYPES = (REGULAR, "VIDEO", "CAROUSEL", "COLLECTION", "IDEA")
IMAGE_URL = "image_url"
NO_END = -1  # end_time of a campaign without an end
NO_ORDER_LINE = "0"
TRACKED_EVENTS = split_words("audience_verification buyable_button click engagement impression")
MAX_TRACKING_URLS, MAX_TRACKING_URL_LENGTH = 3, 2000  # URLs per event, characters per URL
MAX_TITLE_LENGTH, MAX_DESCRIPTION_LENGTH, MAX_URL_LENGTH = 100, 800, 2048
MAX_NAME_LENGTH = 255  # unverified: the longest name of an ad group, in characters
PAGE_SIZE = 250
DEFAULT_RETRY_DELAY = 60.0  # seconds; for a rate error that names no time
# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    ad_account_id android_deep_link auto_targeting_enabled billable_event budget_type
    carousel_android_deep_links carousel_destination_urls carousel_ios_deep_links click_tracking_url creative_type
    customizable_cta_type destination_url feed_profile_id grid_click_type intended_promotion_type ios_deep_link
    is_automated_campaign is_campaign_budget_optimization is_flexible_daily_budgets=false is_performance_plus
    is_pin_deleted is_removable lead_form_id lifetime_frequency_cap name objective_type optimization_goal_metadata
    pacing_delivery_type=STANDARD pin_id placement_group quiz_pin_data
    targeting_spec targeting_template_ids tracking_urls view_tracking_url
    """)
)

SYNC_DAYS = 90  # a synchronous report begins at most so many days before today (UTC)
REPORT_DAYS = 186
IN_PROGRESS, FINISHED = "IN_PROGRESS", "FINISHED"

ITEM_ERROR = "refused_item"
"""Our code, added to the codes of an error that a response reports for one item."""

RETRY_LATER = "retry_later"
"""Our code, added to the codes of an error whose message names the seconds to wait. The HTTP status may be 400."""
PASSING_FAULT_CODE = "12"  # unverified: with the status 400, a fault of Pinterest's that passes

match_digits = re.compile(r"[0-9]+").fullmatch
_find_wait = re.compile(r"[Rr]etry after ([0-9]{1,6}) second").search


# -- money and time -----------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: micros of every currency. Raises InvalidInput for a currency that Pinterest does not bill in."""
    if require_currency(account) not in CURRENCIES:
        message = f"Pinterest bills in {', '.join(CURRENCIES)}; the currency of this account is another one."
        raise invalid_input("account.currency", "currency_not_supported", message)
    return get_micros_unit(account)


def check_account_writable(account: Account) -> Iterator[Issue]:
    """Check that the account can be written to: the user's role permits it, and the currency is known."""
    permissions = account.extras.get("permissions")
    if permissions is not None and not set(permissions.split(",")).intersection(WRITE_PERMISSIONS):
        message = f"The connected user may only read this account; one of {', '.join(WRITE_PERMISSIONS)} may change it."
        yield Issue("account.permissions", "read_only", message)
    if account.currency is not None:
        try:
            get_money_unit(account)
        except InvalidInput as problem:
            yield from problem.issues


TIME = UNIX_SECONDS


# -- requests -----------------------------------------------------------------------------------------------------


def build_pairs_request(url: str, path: Mapping[str, str] | None = None, *query: tuple[str, str]) -> Request:
    """Build a GET. A name may repeat in the query, because v5 takes lists in this form."""
    raw = urlencode(query, quote_via=quote) if query else None
    return Request("GET", f"{API_URL}{url}", path or {}, headers=HEADERS, query_raw=raw)


def build_account_pairs_request(account: Account, edge: str, *query: tuple[str, str]) -> Request:
    """Build a GET below the ad account."""
    return build_pairs_request(f"/ad_accounts/{{account}}/{edge}", {"account": account.native_id}, *query)


def build_organic_get_request(account: Account, url: str, path: Mapping[str, str], *query: tuple[str, str]) -> Request:
    """Build a GET of pins or boards, as the owner of the ad account."""
    return build_pairs_request(url, path, ("ad_account_id", account.native_id), *query)


def build_account_write_request(account: Account, method: str, edge: str, body: Json) -> Request:
    """Build a write below the ad account."""
    url, path = f"{API_URL}/ad_accounts/{{account}}/{edge}", {"account": account.native_id}
    return Request(method, url, path, headers=HEADERS, body=body, encoding="json", kind="write")


def build_pin_request(account: Account, pin_id: str) -> Request:
    """Build the read of a pin, as the owner of the ad account."""
    return build_organic_get_request(account, "/pins/{pin}", {"pin": pin_id})


def build_countries_request() -> Request:
    """Build the request for the countries in which Pinterest sells ads."""
    return build_pairs_request("/resources/ad_account_countries")


def build_status_filter(*statuses: str) -> list[tuple[str, str]]:
    """Build the filter of a list by status."""
    return [("entity_statuses", status) for status in statuses]


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``items``, which even an empty list has."""
    return require_objects(response.body, "/items")


# -- answers ------------------------------------------------------------------------------------------------------


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page; None at the end. Raises ProviderUnreadable if no URL can contain it."""
    bookmark = get_text(response.body, "/bookmark") or None
    try:
        (bookmark or "").encode()
    except UnicodeEncodeError:  # the text has half of a surrogate pair
        raise ProviderUnreadable("The bookmark of the next page is no text.") from None
    return bookmark


def build_next_request(request: Request, response: Response) -> Request | None:
    """Build the request of the next page; None at the end."""
    cursor = parse_next_cursor(response)
    return None if cursor is None else add_bookmark(request, cursor)


def add_bookmark(request: Request, cursor: str) -> Request:
    """Build the request of the page of a cursor."""
    query = [pair for pair in parse_qsl(request.query_raw or "", keep_blank_values=True) if pair[0] != "bookmark"]
    return evolve(request, query_raw=urlencode([*query, ("bookmark", cursor)], quote_via=quote))


def build_page_pairs(limit: int, cursor: str | None) -> list[tuple[str, str]]:
    """Build the query of one page: its size and its cursor."""
    return [("page_size", str(limit)), *([] if cursor is None else [("bookmark", cursor)])]


def parse_error(response: Response) -> ParsedError | None:
    """Return the error of a whole request. :func:`parse_item_results` reads the errors of single items."""
    body = response.body if response.state == "json" else None
    code = get_text(body, "/code")
    if code is None and response.status < 400:
        return None
    message = get_text(body, "/message")
    codes = ((code,) if code else ()) + ((RETRY_LATER,) if _find_wait(message or "") else ())
    return ParsedError(codes, message, parse_request_id(response))


def is_transient(response: Response) -> bool:
    """Return whether a later repeat of a refused request may succeed."""
    error = parse_error(response)
    return error is not None and not {RETRY_LATER, PASSING_FAULT_CODE}.isdisjoint(error.codes)


def parse_request_id(response: Response) -> str | None:
    """Return Pinterest's ID of the request, which its support asks for."""
    return response.headers.get(REQUEST_ID_HEADER)


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait, from the message or the reset header. A header with an instant is ignored."""
    error = parse_error(response)
    wait = None if error is None else _find_wait(error.message or "")
    if wait is not None:
        return float(wait[1])
    # unverified: the header x-ratelimit-reset counts seconds.
    reset = response.headers.get("x-ratelimit-reset", "").strip()
    if reset.isascii() and reset.isdigit() and len(reset) < 7:
        return float(reset)
    return DEFAULT_RETRY_DELAY if parse_retry_after(response.headers) is None else None


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the result of each sent item: keywords by their text, all others by their position."""
    if step.kind == "keyword":
        return _parse_keyword_results(request, response)
    results = get_value(response.body, "/items")
    if not isinstance(results, list):
        return None
    return [_parse_item_result(index, result, parse_request_id(response)) for index, result in enumerate(results)]


def _parse_item_result(index: int, item: Json, request_id: str | None) -> ItemResult:
    """Return the result of an item. An exception without data: rejected. Both or neither: the outcome is unknown."""
    data, exceptions = get_value(item, "/data"), get_value(item, "/exceptions")
    # Exceptions are an array for campaigns and ad groups, and an object for ads.
    errors = [exceptions] if isinstance(exceptions, Mapping) and exceptions else exceptions or []
    if not errors:
        return ItemResult(index, parse_id(get_value(data, "/id")))
    if data is not None or not isinstance(errors, list) or not all(isinstance(error, Mapping) for error in errors):
        return ItemResult(index)
    codes = dict.fromkeys(code for error in errors if (code := get_text(error, "/code")))
    text = "; ".join(message for error in errors if (message := get_text(error, "/message")))
    return ItemResult(index, error=ParsedError((*codes, ITEM_ERROR), text or None, request_id))


def _get_keyword_key(keyword: Json) -> tuple[str | None, str]:
    # unverified: whether Pinterest changes the case of letters in keywords, so the case is ignored.
    return get_text(keyword, "/match_type"), (get_text(keyword, "/value") or "").casefold()


def _parse_keyword_results(request: Request, response: Response) -> list[ItemResult] | None:
    """Return the result of each keyword. The response has no positions, so match type and text identify a keyword."""
    created, failed = get_value(response.body, "/keywords"), get_value(response.body, "/errors") or []
    if not isinstance(created, list) or not isinstance(failed, list):
        return None
    places = {
        _get_keyword_key(keyword): index for index, keyword in enumerate(get_value(request.body, "/keywords") or ())
    }
    answers: list[ItemResult] = []
    for keyword in created:
        place = places.get(_get_keyword_key(keyword))
        if place is None:
            return None
        answers.append(ItemResult(place, parse_id(get_value(keyword, "/id"))))
    for failure in failed:
        place = places.get(_get_keyword_key(get_value(failure, "/data")))
        if place is None:
            return None
        text = "; ".join(message for message in find_values(failure, "/error_messages/*") if isinstance(message, str))
        refusal = ParsedError((ITEM_ERROR,), text or None, parse_request_id(response))
        made_too = parse_id(get_value(failure, "/data/id"))
        answers.append(ItemResult(place, error=refusal) if made_too is None else ItemResult(place))
    return answers
