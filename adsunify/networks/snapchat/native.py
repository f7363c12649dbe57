"""Snap's own words: addresses, enums, limits; and how it says entities, pages, errors and waits."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from urllib.parse import parse_qs, urlsplit

from attrs import evolve

from adsunify.adapter.network import Account, Found, ItemAnswer, Level, Unit, currency_of, words
from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Step
from adsunify.values.dates import instant, utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, identifier, need, read, rows, text

CODE = "snapchat"
VERSION = "v1"
HOST, ACCOUNTS_HOST = "adsapi.snapchat.com", "accounts.snapchat.com"
API = f"https://{HOST}/{VERSION}"
CONSENT = f"https://{ACCOUNTS_HOST}/login/oauth2/authorize"
TOKEN = f"https://{ACCOUNTS_HOST}/login/oauth2/access_token"
PERMISSION = "snapchat-marketing-api"

SUCCESS, ERROR = "SUCCESS", "ERROR"
ACTIVE, PAUSED = "ACTIVE", "PAUSED"
STATUSES = (ACTIVE, PAUSED)
AWARENESS = "AWARENESS_AND_ENGAGEMENT"
AUCTION, SNAP_ADS, AUTOMATIC = "AUCTION", "SNAP_ADS", "AUTOMATIC"
IMPRESSION, IMPRESSIONS = "IMPRESSION", "IMPRESSIONS"
AUTO_BID, MAX_BID, TARGET_COST = "AUTO_BID", "LOWEST_COST_WITH_MAX_BID", "TARGET_COST"
STRATEGIES = (AUTO_BID, MAX_BID, TARGET_COST)
PACING = ("STANDARD", "ACCELERATED")
SMART_BUDGETS = "CAMPAIGN"  # a campaign's pacing_level: the budget lives there, and not on its ad squads
COLLECTION = "COLLECTION"
CATEGORIES = ("HOUSING", "CREDIT", "EMPLOYMENT")

MICROS = 1_000_000  # Ads API "Monetary values": of every currency
LEAST_BUDGET = "5"  # daily, the same number in every currency; of a lifetime budget no floor is documented (unverified)
LEAST_CAP = "20"
NAME_LENGTH = 375
SMALLEST_PAGE, LARGEST_PAGE = 50, 1000
NOT_READY_WAIT = 5.0  # seconds

# Ads API "Creatives": what an ad over a creative is called. LENS_WEB_VIEW: or LENS_REMOTE_WEBPAGE (unverified).
AD_TYPES: Mapping[str, str] = {
    "SNAP_AD": "SNAP_AD",
    "WEB_VIEW": "REMOTE_WEBPAGE",
    "COMPOSITE": "STORY",
    "DEEP_LINK": "DEEP_LINK",
    **{name: name for name in words("AD_TO_LENS AD_TO_CALL AD_TO_MESSAGE COLLECTION LEAD_GENERATION REMINDER")},
}
PLAIN_CREATIVES = words("SNAP_AD WEB_VIEW COMPOSITE")
UNFIT_CREATIVES: Mapping[str, str] = {
    "APP_INSTALL": "an ad for an app needs a measurement_spec on the campaign",
    **dict.fromkeys(
        words("LENS LENS_WEB_VIEW LENS_APP_INSTALL LENS_DEEP_LINK"), "a lens needs an ad squad of type LENS"
    ),
}
REVIEW_REJECTED = "REJECTED"
PACKAGING = "PENDING"  # packaging_status (unverified)

# Ads API: an update replaces the whole object; these stand in what is read, and are not written.
READ_ONLY = words(
    "created_at updated_at created_by_app_id created_by_user last_updated_by_app_id last_updated_by_user"
    " delivery_status review_status review_status_reasons review_status_details effective_status"
    " targeting_reach_status deleted render_type"
    " creation_state"  # it defaults to PUBLISHED (unverified)
)
MONEY = words("daily_budget_micro lifetime_budget_micro lifetime_spend_cap_micro bid_micro shared_properties")
TARGETING_NAMES = words(
    "geos demographics devices interests locations segments regulated_content app_install_states"
    " auto_expansion_options enable_targeting_expansion"
    " reserved_segments"  # (unverified)
)

PARENTS: Mapping[str, tuple[str, str]] = {
    "campaign": ("adaccounts", "ad_account_id"),
    "adGroup": ("campaigns", "campaign_id"),
    "ad": ("adsquads", "ad_squad_id"),
}
"""Kind to the path word and the member of what it is made under and updated through."""

NOT_READY, ITEM_ERROR = "not ready", "item ERROR"
_NOT_READY = re.compile(
    r"(?i)uploaded yet|(still|pending).{0,40}packag|packag.{0,40}(still|pending|in progress)"
).search
_CODE = re.compile(r"\bE([0-9]{4,5})\b").search


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Millionths of the account's currency, whichever it is."""
    currency_of(account)
    return _UNIT


_UNIT = Unit(MICROS)


def native_time(moment: datetime) -> str:
    """An instant as Snap takes it."""
    return utc_text(moment, "milliseconds")


def moment(value: Json) -> datetime | None:
    """An instant as Snap writes it, None where it is none."""
    try:
        return instant(value) if isinstance(value, str) else None
    except InvalidInput:
        return None


# -- requests -----------------------------------------------------------------------------------------------------


def single(one: Level, entity_id: str) -> Request:
    """A read of one entity. Snap leaves placement_v2 out of an ad squad unless it is asked for."""
    return Request("GET", f"{API}/{one.path}/{{id}}", {"id": entity_id}, _placement(one))


def listed(one: Level, owner: str, owner_id: str, limit: int, cursor: str | None = None) -> Request:
    """One page of a level's entities. ``owner``: the path word of the account or the parent."""
    query = _placement(one) | paged(limit, cursor)
    return Request("GET", f"{API}/{owner}/{{owner}}/{one.path}", {"owner": owner_id}, query)


def paged(limit: int, cursor: str | None) -> dict[str, str]:
    """The query of a list. Ads API: a page has at least 50 rows."""
    return {"limit": str(max(SMALLEST_PAGE, limit))} | ({} if cursor is None else {"cursor": cursor})


def _placement(one: Level) -> dict[str, str]:
    return {"return_placement_v2": "true"} if one.kind == "adGroup" else {}


# -- answers ------------------------------------------------------------------------------------------------------


def says(status: Json, word: str) -> bool:
    """Whether a status is this word; it occurs in capitals and in small letters."""
    return isinstance(status, str) and status.upper() == word


def succeeded(status: Json) -> bool:
    """Whether a status says success."""
    return says(status, SUCCESS)


def unwrapped(response: Response, plural: str, name: str) -> list[Mapping[str, Json]]:
    """The entities of an answer, each out of its envelope: ``{"ads": [{"sub_request_status", "ad": {...}}]}``."""
    need(response.body, f"/{plural}")
    found = [need(row, f"/{name}") for row in rows(response.body, f"/{plural}")]
    if not all(isinstance(one, Mapping) for one in found):
        raise ProviderUnreadable(f"A {name} in the answer is no object.")
    return found


def next_cursor(response: Response) -> str | None:
    """The cursor of the next page. The link itself is not followed: it may name another host."""
    for link in (one for at in _LINKS for one in found_at(response.body, at)):
        if link is None or link == "":
            continue
        try:
            cursors = parse_qs(urlsplit(link).query).get("cursor") if isinstance(link, str) else None
        except ValueError:
            cursors = None
        if not cursors:
            raise ProviderUnreadable("The link to the next page has no cursor.")
        return cursors[0]
    return None


# Statistics are reported to have it inside the item.
_ITEM = "/timeseries_stats/*"
_LINKS = ("/paging/next_link", f"{_ITEM}/paging/next_link", f"{_ITEM}/timeseries_stat/paging/next_link")


def _envelopes(body: Json) -> Iterator[Mapping[str, Json]]:
    for one in found_at(body, "/*/*"):
        if isinstance(one, Mapping) and "sub_request_status" in one:
            yield one


def error(response: Response) -> Found | None:
    """The error of an answer or of its item, inside a success too.

    Codes: ``not ready``, Snap's own, its number alone (for ranges; only where the status tells no more), ``item
    ERROR``. Where an item says anything but ERROR there is no code: nobody knows what was done.
    """
    body = response.body if response.state == "json" else None
    judged = list(_envelopes(body))
    failed = [one for one in judged if not succeeded(one["sub_request_status"])]
    status = read(body, "/request_status")
    if response.status < 400 and not failed and (status is None or succeeded(status)) and read(body, "/error") is None:
        return None
    said = [text(one, "/sub_request_error_reason") for one in failed]
    said += [text(body, f"/{name}") for name in _MESSAGES]
    message = "; ".join(dict.fromkeys(one for one in said if one))
    coded = _CODE(f"{text(body, '/error_code')} {message}")
    codes = [NOT_READY] if _NOT_READY(message) else []
    if coded is not None:
        codes.append(coded.group())
        codes += [coded.group(1)] if response.status < 300 or response.status == 400 else []
    oauth = read(body, "/error")
    codes += [oauth] if isinstance(oauth, str) else []
    codes += [ITEM_ERROR] if judged else []
    refused = all(says(one["sub_request_status"], ERROR) for one in judged)
    return Found(
        tuple(codes) if refused else (),
        message or None,
        text(body, "/request_id") or response.headers.get("x-request-id"),
    )


_MESSAGES = ("sub_request_error_reason", "debug_message", "display_message", "error_description")


def wait(response: Response) -> float | None:
    """Seconds to wait for what is not ready. Of rate limits Snap says nothing: the waits grow by themselves."""
    found = error(response)
    if found is not None and NOT_READY in found.codes:
        return NOT_READY_WAIT
    return None


def items(levels: Sequence[Level], step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What an answer says of the one entity that was sent: success counts only on both levels and with an id."""
    one = next(level for level in levels if level.kind == step.kind)
    listed = read(response.body, f"/{one.path}")
    if not isinstance(listed, list) or len(listed) != 1:
        return None
    native_id = identifier(read(listed[0], f"/{one.native}/id"))
    done = succeeded(read(response.body, "/request_status")) and succeeded(read(listed[0], "/sub_request_status"))
    if done:
        return [ItemAnswer(0, native_id)]
    failed = error(response)
    if failed is None:
        return None
    if native_id is not None and step.action == "create":  # refused, and yet there is something new: nobody knows
        return [ItemAnswer(0, native_id, evolve(failed, codes=()))]
    return [ItemAnswer(0, error=failed)]
