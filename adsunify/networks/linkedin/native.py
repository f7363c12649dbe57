"""LinkedIn Marketing API: hosts, headers, URNs, enums, Rest.li queries, money, instants and errors.

Sources, for version 202609, as of 2026-08: learn.microsoft.com/en-us/linkedin, below ``marketing/`` (versioning,
integrations/recent-changes, integrations/migrations, integrations/ads/account-structure, integrations/ads-reporting,
integrations/ads/advertising-targeting/ads-targeting, error-responses) and below ``shared/`` (api-guide/concepts on rate
limits, pagination, query tunneling and errors; authentication; references/v2/ads/adtargetingentities). Headers, Rest.li
encoding and batch shapes: github.com/linkedin-developers/linkedin-api-python-client 0.3.0. Behaviour reported by public
integrations of 2026: the status of new groups, drafts of creatives, ``q=criteria``, costs of 18 digits, no version in
December, revocation, daily figures for six months.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import date, timedelta
from functools import cache
from typing import TypeGuard
from urllib.parse import quote

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.native_money import MoneyUnit, to_native_units
from adsunify.adapter.network import Level, ParsedError, Sunset, split_words
from adsunify.adapter.oauth import OAuth2
from adsunify.http.messages import Request, Response
from adsunify.http.retry_after import parse_retry_after
from adsunify.values.currencies import get_exponent
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_values, get_text, require_objects
from adsunify.values.time_formats import UNIX_MILLISECONDS

CODE = "linkedin"
HOST, LOGIN_HOST = "api.linkedin.com", "www.linkedin.com"
API_URL = f"https://{HOST}/rest"
VERSION = "202609"  # not computed from the date, because LinkedIn releases no version in December
SUNSET = Sunset(
    date(2027, 9, 15),
    "A version is supported for at least 12 months, 202608 until mid-August 2027.",
    is_projected=True,
)
HEADERS: Mapping[str, str] = {"LinkedIn-Version": VERSION, "X-Restli-Protocol-Version": "2.0.0"}
METHOD_HEADER = "X-RestLi-Method"
FINDER, PARTIAL_UPDATE = "FINDER", "PARTIAL_UPDATE"
MAX_URL_BYTES = 4_000  # the longest URL that LinkedIn accepts
LOGIN = OAuth2(
    consent_url=f"https://{LOGIN_HOST}/oauth/v2/authorization",  # without PKCE, which needs another endpoint
    token_url=f"https://{LOGIN_HOST}/oauth/v2/accessToken",
    revoke_url=f"https://{LOGIN_HOST}/oauth/v2/revoke",
    scopes=("rw_ads", "r_ads_reporting", "r_organization_social"),
    revoke_members=("token", "client_id", "client_secret"),
    is_revoking_all=True,
    note="Consent lasts 60 days; apps of approved partners renew it for up to 365 days.",
)

URN_OUTPUT = "urn"
ACCOUNT_URN = "urn:li:sponsoredAccount:"
GROUP_URN = "urn:li:sponsoredCampaignGroup:"
CAMPAIGN_URN = "urn:li:sponsoredCampaign:"
CREATIVE_URN = "urn:li:sponsoredCreative:"
ORGANIZATION_URN = "urn:li:organization:"
VIDEO_URN = "urn:li:video:"
FACET_URN = "urn:li:adTargetingFacet:"

ACTIVE, PAUSED, DRAFT, ARCHIVED, CANCELED = "ACTIVE", "PAUSED", "DRAFT", "ARCHIVED", "CANCELED"
PENDING_DELETION, REMOVED, COMPLETED = "PENDING_DELETION", "REMOVED", "COMPLETED"
LIVE_STATUSES = (ACTIVE, PAUSED, DRAFT)
INITIAL_GROUP_STATUS = ACTIVE  # LinkedIn accepts DRAFT, too, but refuses PAUSED: STATUS_CHANGE_NOT_ALLOWED
INITIAL_CAMPAIGN_STATUS = PAUSED  # unverified: a campaign can be created PAUSED; some integrations use DRAFT
INITIAL_CREATIVE_STATUS = DRAFT  # LinkedIn neither reviews nor serves a draft

SPONSORED_UPDATES = "SPONSORED_UPDATES"
WEBSITE_VISIT, BRAND_AWARENESS = (
    "WEBSITE_VISIT",
    "BRAND_AWARENESS",
)  # some reads show these words in the plural
MANUAL_TARGET = "NONE"
CPC, CPM = "CPC", "CPM"
OPTIMIZED, ROUND_ROBIN = "OPTIMIZED", "ROUND_ROBIN"
LIFETIME_PACING = "LIFETIME"
POLITICAL_INTENT: Mapping[bool | None, str] = {False: "NOT_POLITICAL", True: "POLITICAL", None: "NOT_DECLARED"}
PUBLISHED = "PUBLISHED"
BUSINESS, ENTERPRISE = "BUSINESS", "ENTERPRISE"
MAX_GROUP_NAME_LENGTH = 100
MAX_CAMPAIGN_NAME_BYTES = 200  # unverified: the longest name of a campaign, in bytes of UTF-8
MAX_CREATIVE_NAME_LENGTH = 255  # unverified: the longest name of a creative, in characters
MIN_RUN_TIME = timedelta(hours=24)  # unverified: the shortest time between start and end
MIN_AUDIENCE_SIZE = 300
MIN_DAILY_BUDGET_USD, MIN_LIFETIME_BUDGET_USD = 10, 100  # unverified: both minimums; public integrations report them
READ_ONLY_MEMBERS = ("id", "test", "version", "changeAuditStamps", "servingStatuses")
DEFAULT_RETRY_DELAY = 60.0  # seconds; throttled responses name no time

# Marketing API, "Campaign objectives": the optimization targets of each objective, with their cost types.
OPTIMIZATION_TARGETS: Mapping[str, Mapping[str, str]] = {
    WEBSITE_VISIT: {
        MANUAL_TARGET: CPC,
        "MAX_CLICK": CPM,
        "TARGET_COST_PER_CLICK": CPC,
        "CAP_COST_AND_MAXIMIZE_CLICKS": CPM,
    },
    BRAND_AWARENESS: {
        MANUAL_TARGET: CPM,
        "MAX_IMPRESSION": CPM,
        "MAX_REACH": CPM,
        "TARGET_COST_PER_IMPRESSION": CPM,
        "CAP_COST_AND_MAXIMIZE_IMPRESSIONS": CPM,
    },
}
BID_STRATEGIES = tuple(dict.fromkeys(target for targets in OPTIMIZATION_TARGETS.values() for target in targets))
BID_TARGETS = (MANUAL_TARGET, "ENHANCED_CONVERSION")  # with TARGET_COST_* and CAP_COST_*: the targets with a bid
LIMITING_TARGETS = (*BID_TARGETS, *(target for target in BID_STRATEGIES if target.startswith(("TARGET_", "CAP_"))))


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    account associatedEntity audienceExpansionEnabled connectedTelevisionOnly content creativeSelection
    format leadgenCallToAction locale name objectiveType offsiteDeliveryEnabled offsitePreferences
    politicalIntent targetingCriteria type
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: decimal texts in major units, with the digits of the currency's minor unit."""
    # unverified: LinkedIn takes no more fraction digits than the minor unit of the currency has.
    return _get_currency_unit(require_currency(account))


@cache
def _get_currency_unit(currency: str) -> MoneyUnit:
    return MoneyUnit(10 ** get_exponent(currency, "account.currency"), form="major_text")


def build_money_amount(account: Account, amount: str, path: str = "amount") -> dict[str, Json]:
    """Build a MoneyAmount with the given digits. Zeros beyond the currency's minor unit are cut."""
    to_native_units(get_money_unit(account), amount, path)
    whole, _, fraction = amount.partition(".")
    digits = fraction[: get_exponent(require_currency(account), "account.currency")]
    whole = whole.lstrip("0") or "0"
    return {"amount": f"{whole}.{digits}" if digits else whole, "currencyCode": require_currency(account)}


TIME = UNIX_MILLISECONDS


def is_integer(value: Json) -> TypeGuard[int]:
    """Return whether the value is an integer and not a boolean."""
    return isinstance(value, int) and not isinstance(value, bool)


# -- requests -----------------------------------------------------------------------------------------------------


def encode_restli(value: Json) -> str:
    """Encode a query value for Rest.li 2.0. Texts are percent-encoded; the ``( ) , :`` of the structure are not."""
    if isinstance(value, Mapping):
        return f"({','.join(f'{encode_restli(name)}:{encode_restli(member)}' for name, member in value.items())})"
    if isinstance(value, list | tuple):
        return f"List({','.join(map(encode_restli, value))})"
    return quote(str(value), safe="", errors="surrogatepass")


def build_restli_request(path: str, slots: Mapping[str, str], query: Mapping[str, Json], method: str = "") -> Request:
    """Build a GET request. The query is encoded here, because a standard encoder would break Rest.li's syntax."""
    raw = "&".join(f"{name}={encode_restli(value)}" for name, value in query.items())
    headers = {**HEADERS, METHOD_HEADER: method} if method else HEADERS
    return Request("GET", f"{API_URL}/{path}", slots, headers=headers, query_raw=raw or None)


def build_account_slots(account: Account) -> dict[str, str]:
    """Return the path parameter of the account: its number."""
    return {"account": account.native_id}


def build_entity_request(account: Account, level: Level, entity_id: str) -> Request:
    """Build the read of one entity."""
    return build_restli_request(
        f"adAccounts/{{account}}/{level.path}/{{id}}",
        build_account_slots(account) | {"id": get_path_id(level, entity_id)},
        {},
    )


def build_list_request(
    account: Account,
    level: Level,
    *,
    parents: Sequence[str] = (),
    statuses: Sequence[str] = LIVE_STATUSES,
    limit: int,
    cursor: str | None = None,
) -> Request:
    """Build the request of one page of a level's entities. ``parents`` (URNs) restrict it to entities below them."""
    query: dict[str, Json]
    if level.kind == "ad":  # LinkedIn answers 404 to q=search for creatives
        # unverified: a request without campaigns lists all creatives of the account.
        query = {"q": "criteria", **({"campaigns": list(parents)} if parents else {})}
        query |= {"intendedStatuses": list(statuses)}
    else:
        parent = {"campaignGroup": {"values": list(parents)}} if parents else {}
        query = {"q": "search", "search": {**parent, "status": {"values": list(statuses)}}}
    query |= {"pageSize": limit, **({"pageToken": cursor} if cursor is not None else {}), "sortOrder": "ASCENDING"}
    method = FINDER if level.kind == "ad" else ""
    return build_restli_request(f"adAccounts/{{account}}/{level.path}", build_account_slots(account), query, method)


def build_account_urn(account: Account) -> str:
    """Return the URN of the account, for bodies and filters."""
    return ACCOUNT_URN + account.native_id


def build_urn(prefix: str, entity_id: str) -> str:
    """Return an ID as a URN; a URN is returned unchanged."""
    return entity_id if entity_id.startswith(prefix) else prefix + entity_id


def count_utf8_bytes(name: Json) -> int:
    """Return the length of a name in bytes of UTF-8, which LinkedIn limits for campaigns."""
    return len(str(name or "").encode(errors="surrogatepass"))


def parse_urn_id(name: str | None) -> str | None:
    """Return the ID in a URN."""
    return None if name is None else name.rpartition(":")[2]


URN_PREFIXES: Mapping[str, str] = {"campaign": GROUP_URN, "adGroup": CAMPAIGN_URN, "ad": CREATIVE_URN}


def get_path_id(level: Level, entity_id: str) -> str:
    """Return an entity's ID as paths and this product have it: a number, or for a creative its URN."""
    prefix = URN_PREFIXES[level.kind]
    return build_urn(prefix, entity_id) if level.kind == "ad" else entity_id.removeprefix(prefix)


# -- answers ------------------------------------------------------------------------------------------------------


def parse_report_id(level: Level, row: Mapping[str, Json]) -> str | None:
    """Return the ID of the entity of a report's row, in the form that lists have; None for another level."""
    urn = get_text(row, "/pivotValues/0") or ""
    return get_path_id(level, urn) if urn.startswith(URN_PREFIXES[level.kind]) else None


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page; None at the end."""
    return get_text(response.body, "/metadata/nextPageToken") or None


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``elements``, which even an empty list has."""
    return require_objects(response.body, "/elements", "list")


def parse_error(response: Response) -> ParsedError | None:
    """Return the error. Its codes are ``code`` and ``serviceErrorCode``, or ``error`` of the token endpoint."""
    headers = response.headers
    request_id = headers.get("x-li-uuid") or headers.get("x-li-request-id")
    body = response.body if response.state == "json" and isinstance(response.body, Mapping) else {}
    if response.status < 400 and not _is_error_body(body):
        return None
    codes = [get_text(body, at) for at in ("/code", "/serviceErrorCode")]
    codes += [text] if isinstance(text := body.get("error"), str) else []
    texts = [get_text(body, at) for at in ("/message", "/error_description")]
    texts += [text for at in _ERROR_DESCRIPTION_POINTERS for text in find_values(body, at) if isinstance(text, str)]
    message = " ".join(dict.fromkeys(text for text in texts if text))
    return ParsedError(tuple(text for text in codes if text), message or None, request_id)


_ERROR_DESCRIPTION_POINTERS = (
    "/errorDetails/inputErrors/*/description",
    "/errorDetails/conditionalInputErrors/*/description",
)


def _is_error_body(body: Mapping[str, Json]) -> bool:
    status: Json = body.get("status")  # an entity has a text here, an error a number
    return "serviceErrorCode" in body or "errorDetails" in body or (is_integer(status) and status >= 400)


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds to wait after a throttled response without ``Retry-After``."""
    return DEFAULT_RETRY_DELAY if response.status == 429 and parse_retry_after(response.headers) is None else None
