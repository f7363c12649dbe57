"""Native names of Northway: addresses, enums, limits, and how a response gives pages and errors.

Sources, read 2026-11-20: docs.northway.example/ads/v3 (fictional).
"""

from __future__ import annotations

from collections.abc import Mapping

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.flows import next_page_builder
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ParsedError, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.http.messages import Request, Response
from adsunify.values.currencies import get_exponent
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id, require_objects
from adsunify.values.time_formats import ISO_TIME

CODE = "northway"
VERSION = "v3"
HOST, LOGIN_HOST = "api.northway.example", "login.northway.example"
API_URL = f"https://{HOST}/{VERSION}"
HEADERS: Mapping[str, str] = {"Accept": "application/json"}
LOGIN = OAuth2(
    consent_url=f"https://{LOGIN_HOST}/oauth/authorize",
    token_url=f"{API_URL}/oauth/token",
    revoke_url=f"{API_URL}/oauth/revoke",
    scopes=("ads.read", "ads.write"),
    has_pkce=True,
    is_client_in_header=True,
    revoke_members=("token",),
    revoked_tokens=("refresh_token",),
    headers=HEADERS,
)

LIVE, HELD, ARCHIVED = STATES = split_words("LIVE HELD ARCHIVED")
VISITS, SALES = "VISITS", "SALES"
AUTO, CAP = BID_MODES = ("AUTO", "CAP")
CALLS_TO_ACTION = split_words("LEARN_MORE SHOP_NOW SIGN_UP")
DAILY_BUDGET, TOTAL_BUDGET = BUDGET_MEMBERS = ("daily_budget_minor", "total_budget_minor")

MIN_BUDGETS: Mapping[str, int] = {DAILY_BUDGET: 500, TOTAL_BUDGET: 2_000}  # minor units of every currency
MAX_NAME_LENGTH, MAX_HEADLINE_LENGTH, MAX_BODY_LENGTH, MAX_URL_LENGTH = 120, 40, 160, 1_000
MAX_PAGE_SIZE = 100
REPORT_DAYS, RESTATED_DAYS, HISTORY_DAYS = 90, 2, 730


# -- money and time --------------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: minor units of the account's currency, by its ISO 4217 exponent."""
    return MoneyUnit(10 ** get_exponent(require_currency(account), "account.currency"))


TIME = ISO_TIME


# -- requests --------------------------------------------------------------------------------------------------------


def build_get_request(path: str, query: Mapping[str, str] | None = None, **slots: str) -> Request:
    """Build a read."""
    return Request("GET", f"{API_URL}/{path}", slots, query or {}, HEADERS)


def build_account_get_request(account: Account, path: str, query: Mapping[str, str] | None = None) -> Request:
    """Build a read below the advertiser of the account."""
    return build_get_request(f"advertisers/{{advertiser}}/{path}", query, advertiser=account.native_id)


def build_list_query(limit: int, cursor: str | None = None) -> dict[str, str]:
    """Return the query of one page."""
    return {"limit": str(min(limit, MAX_PAGE_SIZE))} | ({} if cursor is None else {"after": cursor})


def build_write_request(method: str, path: str, body: Mapping[str, Json], **slots: str) -> Request:
    """Build a write with a JSON body."""
    url = f"{API_URL}/{path}"
    return Request(method, url, slots, headers=HEADERS, body=dict(body), encoding="json", kind="write")


# -- answers ---------------------------------------------------------------------------------------------------------


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable if the member is missing; an empty list has it, too."""
    return require_objects(response.body, "/items", "list")


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page; None on the last page, where it is null."""
    return parse_id(get_value(response.body, "/after"))


build_next_request = next_page_builder("after", parse_next_cursor)


def parse_error(response: Response) -> ParsedError | None:
    """Return the error in a response of any status; None without one. Token calls may answer as RFC 6749 says."""
    body = response.body if response.state == "json" else None
    error, request_id = get_value(body, "/error"), response.headers.get("x-northway-trace")
    if isinstance(error, str):
        return ParsedError((error,), get_text(body, "/error_description"), request_id)
    if error is None and response.status < 400:
        return None
    code, message, member = (get_text(error, f"/{name}") for name in ("code", "message", "field"))
    return ParsedError((code,) if code else (), f"{message} ({member})" if message and member else message, request_id)
