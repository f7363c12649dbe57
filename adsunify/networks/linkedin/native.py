"""LinkedIn's own words: hosts, headers, URNs, enums, Rest.li queries, money, times and errors."""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import UTC, datetime, timedelta
from functools import cache
from typing import TypeGuard
from urllib.parse import quote

from adsunify.adapter.network import Account, Found, Level, Unit, currency_of, whole_units
from adsunify.errors import refused
from adsunify.http.messages import Request, Response
from adsunify.values.currencies import exponent
from adsunify.values.dates import instant, utc_text
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import found_at, need, rows, text

CODE = "linkedin"
HOST, LOGIN_HOST = "api.linkedin.com", "www.linkedin.com"
REST = f"https://{HOST}/rest"
CONSENT = f"https://{LOGIN_HOST}/oauth/v2/authorization"
TOKEN = f"https://{LOGIN_HOST}/oauth/v2/accessToken"
REVOKE = f"https://{LOGIN_HOST}/oauth/v2/revoke"
SCOPES = ("rw_ads", "r_ads_reporting", "r_organization_social")
VERSION = "202609"  # no version of a December exists, so it is never derived from the calendar
HEADERS: Mapping[str, str] = {"LinkedIn-Version": VERSION, "X-Restli-Protocol-Version": "2.0.0"}
METHOD = "X-RestLi-Method"
FINDER, PARTIAL_UPDATE = "FINDER", "PARTIAL_UPDATE"
ADDRESS_BYTES = 4_000  # longer addresses are refused

ACCOUNT_URN = "urn:li:sponsoredAccount:"
GROUP_URN = "urn:li:sponsoredCampaignGroup:"
CAMPAIGN_URN = "urn:li:sponsoredCampaign:"
CREATIVE_URN = "urn:li:sponsoredCreative:"
ORGANIZATION_URN = "urn:li:organization:"
VIDEO_URN = "urn:li:video:"
FACET_URN = "urn:li:adTargetingFacet:"

ACTIVE, PAUSED, DRAFT, ARCHIVED, CANCELED = "ACTIVE", "PAUSED", "DRAFT", "ARCHIVED", "CANCELED"
PENDING_DELETION, REMOVED, COMPLETED = "PENDING_DELETION", "REMOVED", "COMPLETED"
LIVE = (ACTIVE, PAUSED, DRAFT)
GONE = (ARCHIVED, CANCELED, PENDING_DELETION, REMOVED)
GROUP_BORN = ACTIVE  # Marketing API: a group is created ACTIVE or DRAFT; PAUSED is STATUS_CHANGE_NOT_ALLOWED
CAMPAIGN_BORN = PAUSED  # (unverified) that PAUSED is taken at creation: some integrations use DRAFT only
CREATIVE_BORN = DRAFT  # neither reviewed nor served

SPONSORED_UPDATES = "SPONSORED_UPDATES"
WEBSITE_VISIT, BRAND_AWARENESS = "WEBSITE_VISIT", "BRAND_AWARENESS"  # in the singular; read in the plural too
MANUAL = "NONE"
CPC, CPM = "CPC", "CPM"
OPTIMIZED, ROUND_ROBIN = "OPTIMIZED", "ROUND_ROBIN"
LIFETIME_PACING = "LIFETIME"
POLITICAL_INTENT: Mapping[bool | None, str] = {False: "NOT_POLITICAL", True: "POLITICAL", None: "NOT_DECLARED"}
PUBLISHED = "PUBLISHED"
BUSINESS, ENTERPRISE = "BUSINESS", "ENTERPRISE"
GROUP_NAME = 100
CAMPAIGN_NAME_BYTES = 200  # (unverified)
CREATIVE_NAME = 255  # (unverified)
SHORTEST = timedelta(hours=24)  # (unverified) between start and end
LEAST_AUDIENCE = 300
LEAST_DAILY_USD, LEAST_LIFETIME_USD = 10, 100  # (unverified) commonly reported
NEVER_SENT = ("id", "test", "version", "changeAuditStamps", "servingStatuses")
FIRST_WAIT = 60.0  # seconds; throttled answers name no time

# Marketing API, campaign objectives: the optimization targets of each, and what each is charged by.
TARGETS: Mapping[str, Mapping[str, str]] = {
    WEBSITE_VISIT: {
        MANUAL: CPC,
        "MAX_CLICK": CPM,
        "TARGET_COST_PER_CLICK": CPC,
        "CAP_COST_AND_MAXIMIZE_CLICKS": CPM,
    },
    BRAND_AWARENESS: {
        MANUAL: CPM,
        "MAX_IMPRESSION": CPM,
        "MAX_REACH": CPM,
        "TARGET_COST_PER_IMPRESSION": CPM,
        "CAP_COST_AND_MAXIMIZE_IMPRESSIONS": CPM,
    },
}
STRATEGIES = tuple(dict.fromkeys(target for targets in TARGETS.values() for target in targets))
BIDDING = (MANUAL, "ENHANCED_CONVERSION")  # besides TARGET_COST_* and CAP_COST_*


# -- money and time -----------------------------------------------------------------------------------------------


def unit(account: Account) -> Unit:
    """Decimal texts in major units, as fine as the currency's minor unit (finer writes are (unverified))."""
    return _unit(currency_of(account))


@cache
def _unit(currency: str) -> Unit:
    return Unit(10 ** exponent(currency, "account.currency"), form="major_text")


def money(account: Account, amount: str, path: str = "amount") -> dict[str, Json]:
    """A MoneyAmount: the digits as they were given, without zeros that mean nothing to the currency."""
    whole_units(unit(account), amount, path)
    whole, _, fraction = amount.partition(".")
    kept = fraction[: exponent(currency_of(account), "account.currency")]
    whole = whole.lstrip("0") or "0"
    return {"amount": f"{whole}.{kept}" if kept else whole, "currencyCode": currency_of(account)}


_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
_MILLISECOND = timedelta(milliseconds=1)
_BELOW_MILLISECOND = re.compile(r"\.[0-9]{3}[0-9]*[1-9]").search


def milliseconds(moment: datetime) -> int:
    """An instant as LinkedIn counts it."""
    return (moment - _EPOCH) // _MILLISECOND


def too_fine(written: str) -> bool:
    """Whether an instant names less than a millisecond, which LinkedIn cannot hold."""
    return _BELOW_MILLISECOND(written) is not None


def native_time(written: str, path: str) -> int:
    """An instant of a caller in milliseconds; InvalidInput for one that is finer."""
    if too_fine(written):
        raise refused(path, "over_precision", "LinkedIn counts whole milliseconds; nothing is rounded.")
    return milliseconds(instant(written, path))


def is_integer(value: Json) -> TypeGuard[int]:
    """A JSON integer; booleans are none."""
    return isinstance(value, int) and not isinstance(value, bool)


def moment(value: Json) -> datetime | None:
    """An instant as LinkedIn writes it, None where it is none."""
    try:
        return _EPOCH + value * _MILLISECOND if is_integer(value) else None
    except OverflowError:
        return None


def shown_time(value: Json) -> str | None:
    """An instant for people."""
    found = moment(value)
    if found is None:
        return None
    return utc_text(found) if not found.microsecond else found.isoformat(timespec="milliseconds").replace("+00:00", "Z")


# -- requests -----------------------------------------------------------------------------------------------------


def restli(value: Json) -> str:
    """A value as Rest.li 2.0 writes it in a query: ``( ) , :`` of the structure stay, what is inside is encoded."""
    if isinstance(value, Mapping):
        return f"({','.join(f'{restli(name)}:{restli(one)}' for name, one in value.items())})"
    if isinstance(value, list | tuple):
        return f"List({','.join(map(restli, value))})"
    return quote(str(value), safe="", errors="surrogatepass")


def get(path: str, slots: Mapping[str, str], query: Mapping[str, Json], method: str = "") -> Request:
    """A read. The query is written here, byte by byte: an encoder that knows no Rest.li would break it."""
    raw = "&".join(f"{name}={restli(value)}" for name, value in query.items())
    headers = {**HEADERS, METHOD: method} if method else HEADERS
    return Request("GET", f"{REST}/{path}", slots, headers=headers, query_raw=raw or None)


def owned(account: Account) -> dict[str, str]:
    """The path slot of what belongs to the account: the bare number."""
    return {"account": account.native_id}


def one_of(account: Account, one: Level, entity_id: str) -> Request:
    """The read of one entity."""
    return get(f"adAccounts/{{account}}/{one.path}/{{id}}", owned(account) | {"id": own_id(one, entity_id)}, {})


def account_urn(account: Account) -> str:
    """How bodies and filters name the account."""
    return ACCOUNT_URN + account.native_id


def urn(prefix: str, entity_id: str) -> str:
    """An id as a URN; one that is a URN already stays."""
    return entity_id if entity_id.startswith(prefix) else prefix + entity_id


def bytes_of(name: Json) -> int:
    """How long a name is in UTF-8, as LinkedIn measures a campaign's."""
    return len(str(name or "").encode(errors="surrogatepass"))


def last(name: str | None) -> str | None:
    """The part of a URN that is the id."""
    return None if name is None else name.rpartition(":")[2]


URNS: Mapping[str, str] = {"campaign": GROUP_URN, "adGroup": CAMPAIGN_URN, "ad": CREATIVE_URN}


def own_id(one: Level, entity_id: str) -> str:
    """An entity's id as paths name it, and we do: groups and campaigns by their number, creatives by their URN."""
    prefix = URNS[one.kind]
    return urn(prefix, entity_id) if one.kind == "ad" else entity_id.removeprefix(prefix)


# -- answers ------------------------------------------------------------------------------------------------------


def page_token(response: Response) -> str | None:
    """The cursor of the next page; absent or null at the end."""
    return text(response.body, "/metadata/nextPageToken") or None


def elements(response: Response) -> list[Mapping[str, Json]]:
    """The rows of a list; a list that has none is empty, but it is there."""
    need(response.body, "/elements", "list")
    return rows(response.body, "/elements", "list")


def error(response: Response) -> Found | None:
    """The native error: ``code``, ``serviceErrorCode``; of the token endpoint ``error``."""
    headers = response.headers
    request_id = headers.get("x-li-uuid") or headers.get("x-li-request-id")
    body = response.body if response.state == "json" and isinstance(response.body, Mapping) else {}
    if response.status < 400 and not _says_error(body):
        return None
    named = [text(body, at) for at in ("/code", "/serviceErrorCode")]
    named += [one] if isinstance(one := body.get("error"), str) else []
    said = [text(body, at) for at in ("/message", "/error_description")]
    said += [one for at in _DESCRIPTIONS for one in found_at(body, at) if isinstance(one, str)]
    message = " ".join(dict.fromkeys(one for one in said if one))
    return Found(tuple(one for one in named if one), message or None, request_id)


_DESCRIPTIONS = ("/errorDetails/inputErrors/*/description", "/errorDetails/conditionalInputErrors/*/description")


def _says_error(body: Mapping[str, Json]) -> bool:
    status: Json = body.get("status")  # of an entity it is a word
    return "serviceErrorCode" in body or "errorDetails" in body or (is_integer(status) and status >= 400)


def wait(response: Response) -> float | None:
    """Seconds to wait after a throttled answer, which says nothing itself."""
    return FIRST_WAIT if response.status == 429 and "retry-after" not in response.headers else None
