"""Reddit Ads API: addresses, enums and limits, and how errors, pages and delays are read.

Sources, for v3: the OpenAPI description ads-api.reddit.com/docs/specs/reddit-ads-api-v3.yaml (2026-07-14);
ads-api.reddit.com/docs/v3, as of 2026 (quick-start/authenticate, programs/campaign/campaign-setup,
campaign-objective-migration, and the notice conversion-pixel-id-requirement of 2026-04-13); the client generated from
the description of 2025-09, github.com/selalipop/reddit-ad-sdk. Behaviour of the live API as public integrations report
it: github.com/camlowe/mcp-server-reddit-ads (2026-07), github.com/ndx-technologies/go-reddit-ads (2026-05),
github.com/airbytehq/airbyte source-reddit-ads.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.native_money import get_micros_unit
from adsunify.adapter.network import ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, require_objects
from adsunify.values.time_formats import ISO_TIME

CODE = "reddit"
VERSION = "v3"
HOST, LOGIN_HOST = "ads-api.reddit.com", "www.reddit.com"
API_PATH = f"/api/{VERSION}"
API_URL = f"https://{HOST}{API_PATH}"
# Ads API v3: Reddit answers 403 or 429 to the default User-Agent of a library.
HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "adsunify (unified advertising API; Reddit Ads API v3)",
}
LOGIN = OAuth2(
    consent_url=f"https://{LOGIN_HOST}/api/v1/authorize",
    token_url=f"https://{LOGIN_HOST}/api/v1/access_token",
    revoke_url=f"https://{LOGIN_HOST}/api/v1/revoke_token",
    scopes=("adsread", "adsedit"),
    scope_separator=",",
    consent_extras={"duration": "permanent"},  # without this Reddit returns no refresh token
    is_client_in_header=True,
    headers=HEADERS,
    client_refused_statuses=(401,),
    note="The app lives in Reddit's Business Manager, where an admin of the business makes it.",
)

ACTIVE, PAUSED, ARCHIVED, DELETED = STATUSES = split_words("ACTIVE PAUSED ARCHIVED DELETED")
CLOSED_STATUSES = (ARCHIVED, DELETED)
CLICKS = "CLICKS"  # the word is an objective and an optimization goal
CPC = "CPC"
MANUAL_BIDDING, MAXIMIZE_VOLUME, TARGET_CPX = BID_STRATEGIES = split_words("MANUAL_BIDDING MAXIMIZE_VOLUME TARGET_CPX")
"""The strategies that a write may send. Responses may also have BIDLESS."""
STRATEGIES_WITH_BID = (MANUAL_BIDDING, TARGET_CPX)
DAILY_SPEND, LIFETIME_SPEND = "DAILY_SPEND", "LIFETIME_SPEND"
CAMPAIGN_BUDGET_FLAG = "is_campaign_budget_optimization"  # true if the campaign holds budget, bid, schedule and pixel
UTC_TIMEZONE = "Etc/UTC"  # the time zone of an account that names none
TRACKER_TYPES = ("CLICK", "VIEW")

MIN_NAME_LENGTH, MAX_NAME_LENGTH = 3, 500
MAX_URL_LENGTH = 5000
MAX_PARAMETERS = 14
MAX_PAGE_SIZE = 1000
SETTLING_HOURS = 6

_match_id = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_match_post_id = re.compile(r"t3_[^\s/]+").fullmatch


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    click_url click_url_query_parameters conversion_pixel_id event_trackers
    funding_instrument_id goal_type is_campaign_budget_optimization name objective optimization_goal post_id
    preview_expiry products profile_id schedule targeting view_through_conversion_type
    """)
)


def find_post_id_error(post_id: str) -> str | None:
    """Return why a post's ID is invalid; None if it is valid. The ID of a job that creates a post is not accepted."""
    return None if _match_post_id(post_id) else "a post's id begins with t3_; the id of a job or a link is not accepted"


def ensure_valid_id(entity_id: str) -> str:
    """Return the ID for a URL. Raises InvalidInput if it does not have the form of Reddit's IDs."""
    if not _match_id(entity_id):
        raise invalid_input("entityId", "malformed", "An id of Reddit has letters, digits and underscores only.")
    return entity_id


# -- money and time -----------------------------------------------------------------------------------------------


get_money_unit = get_micros_unit
TIME = ISO_TIME


# -- requests -----------------------------------------------------------------------------------------------------


def build_get_request(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """Build a GET request."""
    return Request("GET", f"{API_URL}/{path}", slots, query or {}, HEADERS)


def build_account_get_request(account: Account, path: str, **query: Json) -> Request:
    """Build a read below the ad account."""
    return build_get_request(f"ad_accounts/{{account}}/{path}", query, account=account.native_id)


def build_write_request(method: str, path: str, body: Json, **slots: str) -> Request:
    """Build a write with its body in Reddit's envelope."""
    url, envelope = f"{API_URL}/{path}", {"data": dict(body)}
    return Request(method, url, slots, headers=HEADERS, body=envelope, encoding="json", kind="write")


def build_query_request(path: str, query: Mapping[str, str], body: Json, **slots: str) -> Request:
    """Build a POST that only reads and may be repeated."""
    return Request("POST", f"{API_URL}/{path}", slots, query, HEADERS, {"data": dict(body)}, "json")


# -- answers ------------------------------------------------------------------------------------------------------


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``data``, which even an empty list has."""
    return require_objects(response.body, "/data")


def parse_next_cursor(response: Response) -> str | None:
    """Return the URL of the next page; None at the end. Raises ProviderUnreadable if it is not a URL of the Ads API."""
    url = get_value(response.body, "/pagination/next_url")
    if url is None or url == "":
        return None
    if not _is_api_url(url):
        raise ProviderUnreadable("The address of the next page is not one of the Reddit Ads API.")
    return str(url)


def _is_api_url(address: Json) -> bool:
    if not isinstance(address, str) or not address.isascii() or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    below = parts.path.startswith(f"{API_PATH}/") and not {"\\", "%"}.intersection(parts.path)
    return below and (parts.scheme, parts.netloc) == ("https", HOST) and ".." not in parts.path.split("/")


def with_cursor(request: Request, cursor: str | None) -> Request:
    """Return the request for the page of a cursor. The cursor is the whole URL of that page."""
    if cursor is None:
        return request
    if not _is_api_url(cursor) or urlsplit(cursor).path != urlsplit(build_request_url(request)).path:
        raise invalid_input("cursor", "malformed", "This is no cursor of this list.")
    return evolve(request, url=cursor, path={}, query={})


def build_next_request(request: Request, response: Response) -> Request | None:
    """Build the request of the next page; a POST sends its body again."""
    url = parse_next_cursor(response)
    return None if url is None else evolve(request, url=url, path={}, query={})


MAX_ERROR_FIELDS, MAX_ERROR_LENGTH = 5, 300  # limits of an error message, which may list every value of an enum
_find_limits = re.compile(r";\s*(r|t)\s*=\s*([0-9]{1,7})(?![0-9.])").findall


def parse_error(response: Response) -> ParsedError | None:
    """Return the error in a response of any status. In a response of the login service, the error is a text."""
    body = response.body if response.state == "json" else None
    error = get_value(body, "/error")
    word = error if isinstance(error, str) else None
    if error is None:
        error = get_value(body, "/errors/0")  # some endpoints return a list of errors
    if error is None and response.status < 400:
        return None
    code = get_text(error, "/code") or word
    texts = [
        get_text(body, "/error_description"),
        get_text(error, "/message"),
        *_parse_error_fields(error),
        get_text(body, "/message"),
    ]
    texts += [error] if isinstance(error, str) and word is None else []
    message = "; ".join(dict.fromkeys(text[:MAX_ERROR_LENGTH] for text in texts if text))
    return ParsedError((code,) if code else (), message or None)


def _parse_error_fields(error: Json) -> Iterator[str]:
    fields = get_value(error, "/fields")
    for field in fields[:MAX_ERROR_FIELDS] if isinstance(fields, list) else ():
        yield ": ".join(part for name in ("field", "message") if (part := get_text(field, f"/{name}")))


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds until all used-up limits are reset (``RateLimit: "name";r=remaining;t=seconds``)."""
    limits = [dict(_find_limits(limit)) for limit in response.headers.get("ratelimit", "").split(",")]
    timed = [limit for limit in limits if "t" in limit]
    used_up = [limit for limit in timed if int(limit.get("r", "0")) == 0] or timed
    return max((float(limit["t"]) for limit in used_up), default=None)
