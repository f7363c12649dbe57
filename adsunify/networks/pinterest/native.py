"""Pinterest's own words: addresses, enums, money and instants, and how it says errors, waits, items and pages."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from urllib.parse import parse_qsl, quote, urlencode

from attrs import evolve

from adsunify.adapter.network import Account, Found, ItemAnswer, Unit, currency_of, words
from adsunify.errors import InvalidInput, Issue, ProviderUnreadable, refused
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Step
from adsunify.values.dates import instant
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, identifier, need, read, rows, text
from adsunify.values.money import MICROS

CODE = "pinterest"
VERSION = "v5"
HOST = "api.pinterest.com"
CONSENT_HOST = "www.pinterest.com"
API = f"https://{HOST}/{VERSION}"
CONSENT = f"https://{CONSENT_HOST}/oauth/"
TOKEN = f"{API}/oauth/token"
REVOKE = f"{API}/oauth/token/revoke"
SCOPES = words("ads:read ads:write boards:read boards:write pins:read pins:write user_accounts:read")
ACCEPT: Mapping[str, str] = {"Accept": "application/json"}
REQUEST_ID_HEADER = "x-pinterest-rid"  # (unverified)

CURRENCIES = words(
    "USD GBP CAD EUR AUD NZD SEK ILS CHF HKD JPY SGD KRW NOK DKK PLN RON HUF CZK BRL MXN ARS CLP COP INR TRY"
)
WRITERS = ("OWNER", "ADMIN", "CAMPAIGN_MANAGER")  # the permissions that may change an ad account
UTC_NAME = "UTC"  # budget days and default reports; also the zone of an account that names none

ACTIVE, PAUSED, ARCHIVED, DRAFT, DELETED_DRAFT = words("ACTIVE PAUSED ARCHIVED DRAFT DELETED_DRAFT")
STATUSES = (ACTIVE, PAUSED, ARCHIVED, DRAFT, DELETED_DRAFT)
LIVE = (ACTIVE, PAUSED)
BORN = (PAUSED, DRAFT, ACTIVE)  # what a native create may ask for
AUTOMATIC_BID, MAX_BID = "AUTOMATIC_BID", "MAX_BID"
STRATEGIES = (AUTOMATIC_BID, MAX_BID)  # TARGET_AVG is met in answers only
IMPRESSION = "IMPRESSION"
UNDER_CAMPAIGN = "CBO_ADGROUP"  # budget_type of an ad group whose campaign holds the budget
AD_GROUP_PERIODS: Mapping[Json, str] = {"DAILY": "daily", "LIFETIME": "lifetime"}
CAPS: Mapping[str, str] = {"daily": "daily_spend_cap", "lifetime": "lifetime_spend_cap"}  # of a campaign, by period
PACING = "STANDARD"
ALL_PLACEMENTS = "ALL"
PLACEMENTS = (ALL_PLACEMENTS, "SEARCH", "BROWSE", "OTHER")
REGULAR = "REGULAR"
PROMOTABLE = (REGULAR, "VIDEO", "CAROUSEL", "COLLECTION", "IDEA")
IMAGE_URL = "image_url"
NO_END = -1  # end_time of a campaign that runs on
NO_ORDER_LINE = "0"
TRACKED = words("audience_verification buyable_button click engagement impression")
TRACKING_URLS, TRACKING_LENGTH = 3, 2000  # of each event; characters of each
PIN_TITLE, PIN_DESCRIPTION, LINK = 100, 800, 2048
NAME_LENGTH = 255  # of an ad group: (unverified)
PAGE = 250
FIRST_WAIT = 60.0  # seconds, where a rate error comes without a figure
MONEY_NAMES = frozenset(
    words(
        "daily_spend_cap lifetime_spend_cap default_ad_group_budget_in_micro_currency budget_in_micro_currency"
        " bid_in_micro_currency bid_multiplier bid_options"
    )
)
"""Members that name money: whether one is raised is known only where it was read before."""

SYNC_DAYS = 90  # back from today (UTC)
REPORT_DAYS = 186
IN_PROGRESS, FINISHED = "IN_PROGRESS", "FINISHED"

REFUSED_ITEM = "refused_item"
"""The code, beside its own, of an error that an answer gives to one sent item."""

DIGITS = re.compile(r"[0-9]+").fullmatch
_FRACTION = re.compile(r"\.0*[1-9]").search


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Micros of every currency, those without a minor unit included; InvalidInput for a currency that is not billed."""
    currency = currency_of(account)
    if currency not in CURRENCIES:
        message = f"Pinterest bills in {', '.join(CURRENCIES)}; this account's currency is none of them."
        raise refused("account.currency", "currency_not_supported", message)
    return _UNIT


_UNIT = Unit(MICROS)


def closed(account: Account) -> Iterator[Issue]:
    """Why nothing can be written to the account: no role that may, or no known currency."""
    permissions = account.extras.get("permissions")
    if permissions is not None and not set(permissions.split(",")).intersection(WRITERS):
        message = f"The connected user may only read this account; one of {', '.join(WRITERS)} may change it."
        yield Issue("account.permissions", "read_only", message)
    if account.currency is not None:
        try:
            unit(account)
        except InvalidInput as problem:
            yield from problem.issues


def native_time(written: str, path: str) -> int:
    """An instant in whole seconds since 1970; InvalidInput for a fraction of a second, which would be lost."""
    moment = instant(written, path)
    if _FRACTION(written):
        raise refused(path, "over_precision", "Pinterest counts whole seconds; leave the fraction out.")
    return whole_seconds(moment)


def whole_seconds(moment_: datetime) -> int:
    """An instant as Pinterest counts it."""
    return int(moment_.timestamp())


def moment(value: Json) -> datetime | None:
    """An instant as Pinterest writes it, None where it is none."""
    if not isinstance(value, int) or isinstance(value, bool) or not 0 < value < 10**11:
        return None
    return datetime.fromtimestamp(value, UTC)


# -- requests -----------------------------------------------------------------------------------------------------


def asked(url: str, path: Mapping[str, str] | None = None, *query: tuple[str, str]) -> Request:
    """A GET. A name of the query may come several times: that is how v5 takes lists."""
    raw = urlencode(query, quote_via=quote) if query else None
    return Request("GET", f"{API}{url}", path or {}, headers=ACCEPT, query_raw=raw)


def of_account(account: Account, edge: str, *query: tuple[str, str]) -> Request:
    """A GET below the ad account."""
    return asked(f"/ad_accounts/{{account}}/{edge}", {"account": account.native_id}, *query)


def organic(account: Account, url: str, path: Mapping[str, str], *query: tuple[str, str]) -> Request:
    """A GET of pins or boards, with the owner of the ad account as the acting user."""
    return asked(url, path, ("ad_account_id", account.native_id), *query)


def sent(account: Account, method: str, edge: str, body: Json) -> Request:
    """A write below the ad account."""
    url, path = f"{API}/ad_accounts/{{account}}/{edge}", {"account": account.native_id}
    return Request(method, url, path, headers=ACCEPT, body=body, encoding="json", nature="write")


def pin(account: Account, pin_id: str) -> Request:
    """A pin as the owner of the ad account sees it."""
    return organic(account, "/pins/{pin}", {"pin": pin_id})


def countries() -> Request:
    """The countries that ads are sold in."""
    return asked("/resources/ad_account_countries")


def statuses(*wanted: str) -> list[tuple[str, str]]:
    """The filter of a list by status."""
    return [("entity_statuses", status) for status in wanted]


def listed(response: Response) -> list[Mapping[str, Json]]:
    """The rows of a list; an empty one has its ``items`` too, and without them the answer is unreadable."""
    need(response.body, "/items")
    return rows(response.body, "/items")


# -- answers ------------------------------------------------------------------------------------------------------


def bookmark(response: Response) -> str | None:
    """The cursor of the next page; none, or an empty one, is the end. ProviderUnreadable for one no query can carry."""
    found = text(response.body, "/bookmark") or None
    try:
        (found or "").encode()
    except UnicodeEncodeError:  # half of a surrogate pair
        raise ProviderUnreadable("The bookmark of the next page is no text.") from None
    return found


def following(request: Request, response: Response) -> Request | None:
    """The request of the next page."""
    cursor = bookmark(response)
    if cursor is None:
        return None
    query = [pair for pair in parse_qsl(request.query_raw or "") if pair[0] != "bookmark"]
    return evolve(request, query_raw=urlencode([*query, ("bookmark", cursor)], quote_via=quote))


def paged(limit: int, cursor: str | None) -> list[tuple[str, str]]:
    """The size of a page, and where it begins."""
    return [("page_size", str(limit)), *([] if cursor is None else [("bookmark", cursor)])]


def error(response: Response) -> Found | None:
    """The error of a whole request; errors of single items are found by :func:`items`."""
    body = response.body if response.state == "json" else None
    code = text(body, "/code")
    if code is None and response.status < 400:
        return None
    return Found((code,) if code else (), text(body, "/message"), request_id_of(response))


def request_id_of(response: Response) -> str | None:
    """The network's own id of the request, for its support."""
    return response.headers.get(REQUEST_ID_HEADER)


def wait(response: Response) -> float | None:
    """Seconds until the limit is reset; a figure of another kind (an instant) does not count."""
    reset = response.headers.get("x-ratelimit-reset", "").strip()  # (unverified) seconds
    if reset.isascii() and reset.isdigit() and len(reset) < 7:
        return float(reset)
    return None if "retry-after" in response.headers else FIRST_WAIT


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What an answer says of each sent item: keywords by their own words, all others by their place in the array."""
    if step.kind == "keyword":
        return _keywords(request, response)
    found = read(response.body, "/items")
    if not isinstance(found, list):
        return None
    return [_item(index, one, request_id_of(response)) for index, one in enumerate(found)]


def _item(index: int, item: Json, request_id: str | None) -> ItemAnswer:
    """Surely refused is what has an exception and no data; both, or neither, leave it open."""
    data, exceptions = read(item, "/data"), read(item, "/exceptions")
    # An array for campaigns and ad groups, a single object for ads.
    told = [exceptions] if isinstance(exceptions, Mapping) and exceptions else exceptions or []
    if not told:
        return ItemAnswer(index, identifier(read(data, "/id")))
    if data is not None or not isinstance(told, list) or not all(isinstance(one, Mapping) for one in told):
        return ItemAnswer(index)
    codes = dict.fromkeys(code for one in told if (code := text(one, "/code")))
    said = "; ".join(message for one in told if (message := text(one, "/message")))
    return ItemAnswer(index, error=Found((*codes, REFUSED_ITEM), said or None, request_id))


def _word(keyword: Json) -> tuple[str | None, str]:
    # Whether the server folds the letters' case is (unverified), so it does not count.
    return text(keyword, "/match_type"), (text(keyword, "/value") or "").casefold()


def _keywords(request: Request, response: Response) -> list[ItemAnswer] | None:
    """An answer has no positions: a keyword is known by its match and words."""
    made, failed = read(response.body, "/keywords"), read(response.body, "/errors") or []
    if not isinstance(made, list) or not isinstance(failed, list):
        return None
    places = {_word(keyword): index for index, keyword in enumerate(read(request.body, "/keywords") or ())}
    answers: list[ItemAnswer] = []
    for keyword in made:
        place = places.get(_word(keyword))
        if place is None:
            return None
        answers.append(ItemAnswer(place, identifier(read(keyword, "/id"))))
    for one in failed:
        place = places.get(_word(read(one, "/data")))
        if place is None:
            return None
        said = "; ".join(message for message in found_at(one, "/error_messages/*") if isinstance(message, str))
        refusal = Found((REFUSED_ITEM,), said or None, request_id_of(response))
        made_too = identifier(read(one, "/data/id"))
        answers.append(ItemAnswer(place, error=refusal) if made_too is None else ItemAnswer(place))
    return answers
