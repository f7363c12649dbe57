"""Reddit's own words: addresses, enums, limits; and how it says pages, errors and waits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from urllib.parse import urlsplit

from attrs import evolve

from adsunify.adapter.network import Account, Found, Unit, currency_of, words
from adsunify.errors import InvalidInput, ProviderUnreadable, refused
from adsunify.http.messages import Request, Response, filled
from adsunify.values.dates import instant, utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import need, read, rows, text
from adsunify.values.money import MICROS

CODE = "reddit"
VERSION = "v3"
HOST, LOGIN_HOST = "ads-api.reddit.com", "www.reddit.com"
ROOT = f"/api/{VERSION}"
API = f"https://{HOST}{ROOT}"
CONSENT = f"https://{LOGIN_HOST}/api/v1/authorize"
TOKEN = f"https://{LOGIN_HOST}/api/v1/access_token"
REVOKE = f"https://{LOGIN_HOST}/api/v1/revoke_token"
SCOPES = ("adsread", "adsedit")
# Ads API: a client that does not name itself in its own words is answered 403 or 429.
HEADERS: Mapping[str, str] = {
    "Accept": "application/json",
    "User-Agent": "adsunify (unified advertising API; Reddit Ads API v3)",
}

ACTIVE, PAUSED, ARCHIVED, DELETED = STATUSES = words("ACTIVE PAUSED ARCHIVED DELETED")
CLOSED = (ARCHIVED, DELETED)
CLICKS = "CLICKS"  # the objective, and the optimization goal
CPC = "CPC"
MANUAL_BIDDING, MAXIMIZE_VOLUME, TARGET_CPX = STRATEGIES = words("MANUAL_BIDDING MAXIMIZE_VOLUME TARGET_CPX")
"""BIDLESS is met in answers only."""
NEEDS_BID = (MANUAL_BIDDING, TARGET_CPX)
DAILY_SPEND, LIFETIME_SPEND = "DAILY_SPEND", "LIFETIME_SPEND"
CAMPAIGN_BUDGET = "is_campaign_budget_optimization"  # the campaign holds budget, bid, schedule and pixel
UTC_NAME = "Etc/UTC"  # the zone of an account that names none
TRACKED = ("CLICK", "VIEW")
QUEUED, PROCESSING = "QUEUED", "PROCESSING"

SHORTEST_NAME, LONGEST_NAME = 3, 500
LONGEST_URL = 5000
MOST_PARAMETERS = 14
LARGEST_PAGE = 1000
SETTLING_HOURS = 6

# Ads API: an unknown key is refused (additionalProperties: false), and so are keys that are only read.
_ON_CAMPAIGN_BUDGET = words(
    "goal_type goal_value bid_strategy bid_type bid_value optimization_goal start_time end_time conversion_pixel_id"
    " view_through_conversion_type schedule"
)
WRITABLE: Mapping[str, tuple[str, ...]] = {
    "campaign": (
        *words("name objective configured_status funding_instrument_id spend_cap"),
        CAMPAIGN_BUDGET,
        *_ON_CAMPAIGN_BUDGET,
    ),
    "adGroup": (*words("campaign_id name configured_status targeting"), *_ON_CAMPAIGN_BUDGET),
    "ad": words(
        "ad_group_id name configured_status post_id profile_id click_url click_url_query_parameters event_trackers"
        " preview_expiry products"
    ),
}
"""What a create may carry, by kind."""
MONEY = words("goal_value bid_value spend_cap bid_strategy")
"""Members that decide what may be spent: whether that is more is known only where it was read before."""

_ID = re.compile(r"[A-Za-z0-9_-]+").fullmatch
_POST = re.compile(r"t3_[^\s/]+").fullmatch
_FRACTION = re.compile(r"\.0*[1-9]").search


def not_a_post(post_id: str) -> str | None:
    """What is wrong with the id of a post; None where nothing is. A job that makes a post is none yet."""
    return None if _POST(post_id) else "a post's id begins with t3_; the id of a job or a link is none"


def known_id(entity_id: str) -> str:
    """The id as it stands in an address; InvalidInput for what is none of Reddit's."""
    if not _ID(entity_id):
        raise refused("entityId", "malformed", "An id of Reddit has letters, digits and underscores only.")
    return entity_id


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Millionths of the account's currency, whichever it is."""
    currency_of(account)
    return _UNIT


_UNIT = Unit(MICROS)


def native_time(written: str, path: str) -> str:
    """An instant in UTC and whole seconds; InvalidInput for a fraction of a second, which would be lost."""
    found = instant(written, path)
    if _FRACTION(written):
        raise refused(path, "over_precision", "Reddit's schedules are in whole seconds; leave the fraction out.")
    return utc_text(found)


def moment(value: Json) -> datetime | None:
    """An instant as Reddit writes it, None where it is none."""
    try:
        return instant(value) if isinstance(value, str) else None
    except InvalidInput:
        return None


# -- requests -----------------------------------------------------------------------------------------------------


def asked(url: str, path: Mapping[str, str] | None = None, query: Mapping[str, str] | None = None) -> Request:
    """A GET."""
    return Request("GET", f"{API}{url}", path or {}, query or {}, HEADERS)


def of_account(account: Account, edge: str, query: Mapping[str, str] | None = None) -> Request:
    """A GET below the ad account."""
    return asked(f"/ad_accounts/{{account}}/{edge}", {"account": account.native_id}, query)


def sent(method: str, url: str, path: Mapping[str, str], data: Mapping[str, Json]) -> Request:
    """A POST or PATCH with its body in Reddit's envelope. It is a write; :func:`searched` is not."""
    return Request(method, f"{API}{url}", path, headers=HEADERS, body=_wrapped(data), encoding="json", nature="write")


def searched(url: str, path: Mapping[str, str], query: Mapping[str, str], data: Mapping[str, Json]) -> Request:
    """A POST that only reads, and may be repeated."""
    return Request("POST", f"{API}{url}", path, query, HEADERS, _wrapped(data), "json")


def _wrapped(data: Mapping[str, Json]) -> dict[str, Json]:
    return {"data": dict(data)}


# -- answers ------------------------------------------------------------------------------------------------------


def listed(response: Response, at: str = "/data") -> list[Mapping[str, Json]]:
    """The rows of a list; an empty one has its member too, and without it the answer is unreadable."""
    need(response.body, at)
    return rows(response.body, at)


def one_of(response: Response, what: str) -> Mapping[str, Json]:
    """The single object of an answer."""
    found = need(response.body, "/data", what)
    if not isinstance(found, Mapping):
        raise ProviderUnreadable(f"The {what} in the answer is no object.")
    return found


def next_url(response: Response) -> str | None:
    """The address of the next page, as it is to be followed; None at the end. Raises for one that leads elsewhere."""
    found = read(response.body, "/pagination/next_url")
    if found is None or found == "":
        return None
    if not _ours(found):
        raise ProviderUnreadable("The address of the next page is not one of the Reddit Ads API.")
    return str(found)


def _ours(address: Json) -> bool:
    if not isinstance(address, str) or not address.isascii() or not address.isprintable() or " " in address:
        return False
    try:
        parts = urlsplit(address)
    except ValueError:
        return False
    below = parts.path.startswith(f"{ROOT}/") and not {"\\", "%"}.intersection(parts.path)
    return below and (parts.scheme, parts.netloc) == ("https", HOST) and ".." not in parts.path.split("/")


def page(request: Request, cursor: str | None) -> Request:
    """The request of a list at the page of a cursor: Reddit's address of it, which says everything by itself."""
    if cursor is None:
        return request
    if not _ours(cursor) or urlsplit(cursor).path != urlsplit(filled(request)).path:
        raise refused("cursor", "malformed", "This is no cursor of this list.")
    return _at(request, cursor)


def _at(request: Request, address: str) -> Request:
    return evolve(request, url=address, path={}, query={})


def following(request: Request, response: Response) -> Request | None:
    """The request of the next page; a POST sends its body again."""
    found = next_url(response)
    return None if found is None else _at(request, found)


MOST_FIELDS, MOST_WORDS = 5, 300  # of a refusal: it may list every value of an enum
_LIMIT = re.compile(r";\s*(r|t)\s*=\s*([0-9]{1,7})(?![0-9.])").findall


def error(response: Response) -> Found | None:
    """The error of an answer, inside a success too. The login service names its errors by a word."""
    body = response.body if response.state == "json" else None
    found = read(body, "/error")
    word = found if isinstance(found, str) else None
    if found is None:
        found = read(body, "/errors/0")  # some surfaces answer a list
    if found is None and response.status < 400:
        return None
    code = text(found, "/code") or word
    said = [text(body, "/error_description"), text(found, "/message"), *_fields(found), text(body, "/message")]
    said += [found] if isinstance(found, str) and word is None else []
    message = "; ".join(dict.fromkeys(one[:MOST_WORDS] for one in said if one))
    return Found((code,) if code else (), message or None)


def _fields(found: Json) -> Iterator[str]:
    fields = read(found, "/fields")
    for field in fields[:MOST_FIELDS] if isinstance(fields, list) else ():
        yield ": ".join(part for name in ("field", "message") if (part := text(field, f"/{name}")))


def wait(response: Response) -> float | None:
    """Seconds until every used-up limit is open again (``RateLimit: "name";r=remaining;t=seconds``)."""
    limits = [dict(_LIMIT(one)) for one in response.headers.get("ratelimit", "").split(",")]
    timed = [one for one in limits if "t" in one]
    used_up = [one for one in timed if int(one.get("r", "0")) == 0] or timed
    return max((float(one["t"]) for one in used_up), default=None)
