"""Apple Ads Platform API: addresses, enums, money, instants, the signed client secret, and how responses are read.

Sources, for version 1.0 (released 2026-08): developer.apple.com/documentation/apple-ads-platform-api
(changelog-apple-ads-platform-api, implementing-oauth-for-the-apple-ads-platform-api, calling-apple-ads-platform-api,
access-overview, rate-limits, campaigns-endpoints, adgroups-endpoints, keywords-and-negative-keywords,
bulk-operations-endpoints, creatives-endpoints, geo-targeting-endpoints, reports, money, adaccount). For what version
1.0 leaves open: version 5, developer.apple.com/documentation/apple_ads/apple-search-ads-campaign-management-api-5.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adsunify.adapter.account import Account, require_currency
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import ItemResult, Level, ParsedError, split_words
from adsunify.errors import invalid_input
from adsunify.http.messages import Request, Response
from adsunify.http.retry_after import parse_retry_after
from adsunify.plans.records import Step
from adsunify.values.base64url import encode_base64url
from adsunify.values.exact_json import Json, dumps_bytes
from adsunify.values.json_pointer import get_objects, get_text, get_value, parse_id, require_object, require_objects

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

from adsunify.values.time_formats import TimeFormat, parse_iso_time

CODE = "apple"
VERSION = "Apple Ads Platform API 1.0"
HOST, TOKEN_HOST = "api.ads.apple.com", "appleid.apple.com"
API_URL = f"https://{HOST}/v1"
TOKEN_URL = f"https://{TOKEN_HOST}/auth/oauth2/token"
OAUTH_SCOPE = "searchadsorg"
CONTEXT_HEADER = "X-AP-Context"
REQUEST_ID_HEADER = "x-request-id"  # unverified: the name of this header

ENABLED, PAUSED, DELETED = "ENABLED", "PAUSED", "DELETED"
STATUSES = (ENABLED, PAUSED)
DELETED = "DELETED"  # Platform API, `displayStatus`; lists show deleted entities only with a filter by `deleted`
APPSTORE_APP = "APPSTORE_APP"
TAPS = "TAPS"  # the event that is billed
CPT = "CPT"
MANUAL_CPT, MAX_CONVERSIONS = "MANUAL_CPT", "MAX_CONVERSIONS"
BID_STRATEGIES: Mapping[str, str] = {
    MANUAL_CPT: "TAP",
    MAX_CONVERSIONS: "INSTALL",
    "MAX_ENGAGEMENTS": "TAP",
    "MANUAL_CPM": "IMPRESSION",
}
"""Bid strategy -> its goal. A write sends both. The last two are for Apple Maps."""
MANUAL_STRATEGIES = (MANUAL_CPT, "MANUAL_CPM")
SUPPLY_TARGETING: Mapping[str, Mapping[str, Sequence[str]]] = {
    "supplySource": {"include": ["APPSTORE"]},
    "supplyPlacement": {"include": ["APPSTORE_SEARCH_RESULTS"]},
}
"""The supply sources of a campaign that the unified format creates."""
CUSTOM_PRODUCT_PAGE = "CUSTOM_PRODUCT_PAGE"
INVALID, PENDING = "INVALID", "PENDING"
CREDIT_LINE = "LOC"
APP_STORE_FEATURE, CONTENT_PROVIDER = "APPSTORE_APP_MANUAL", "CONTENT_PROVIDER"
MAX_NAME_LENGTH = 200  # documented for campaigns only; the other levels use it too

MINOR_DIGITS = 2  # unverified: the most fraction digits of an amount; version 5 had at most 2
ZERO_DECIMAL_CURRENCIES = ("JPY",)  # unverified: amounts in yen have no fraction
MAX_CAMPAIGNS_PER_REQUEST = 1000  # the most values of one IN filter
PAGE_SIZE, REPORT_PAGE_SIZE = 200, 1000
match_id_number = re.compile(r"[1-9][0-9]{0,18}").fullmatch
MAX_ID = 2**63 - 1
ITEM_ERROR = "item_error"


# Members that do not affect how much may be spent. Budgets, bids, dates and status are computed (PayloadRules).
NEUTRAL_MEMBERS = frozenset(
    split_words("""
    adAccountId automatedKeywordsOptIn automatedKeywordsRequired bidStrategy/bidStrategyGoal
    billingEvent creativeId invoiceDetail name pricingModel promotedObjectId
    promotedObjectType regulationResponses targeting
    """)
)


# -- money and time -----------------------------------------------------------------------------------------------


def parse_id_number(identifier: str, path: str) -> int:
    """Return an ID as a number. Raises InvalidInput if it is not a number of 64 bits."""
    if not match_id_number(identifier) or int(identifier) > MAX_ID:
        raise invalid_input(path, "malformed", "Apple Ads: this id is a number, written in digits.")
    return int(identifier)


def get_money_unit(account: Account) -> MoneyUnit:
    """Return the unit: decimal texts in major units."""
    return _WHOLE_UNIT if require_currency(account) in ZERO_DECIMAL_CURRENCIES else _MINOR_UNIT


_WHOLE_UNIT, _MINOR_UNIT = MoneyUnit(1, form="major_text"), MoneyUnit(10**MINOR_DIGITS, form="major_text")


def build_money(account: Account, amount: Json) -> dict[str, Json]:
    """Build a Money object: an amount and the account's currency."""
    return {"amount": amount, "currency": require_currency(account)}


def _parse_time(value: Json) -> datetime | None:
    return parse_iso_time(f"{value.removesuffix('Z')}Z") if isinstance(value, str) else None


def _format_time(moment: datetime) -> str:
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


TIME = TimeFormat(_parse_time, _format_time, digits=3, shows_milliseconds=True)
"""UTC in milliseconds, without a designator."""


# -- requests -----------------------------------------------------------------------------------------------------


def build_context_headers(account: Account) -> dict[str, str]:
    """Return the header that names the ad account. Requests about several accounts have none."""
    return {CONTEXT_HEADER: f"adAccountId={account.native_id}"}


def build_account_get_request(account: Account, path: str, **query: Json) -> Request:
    """Build a GET with the header of the account."""
    return Request("GET", f"{API_URL}/{path}", query=query, headers=build_context_headers(account))


def build_entity_request(account: Account, level: Level, entity_id: str) -> Request:
    """Build the read of one entity."""
    return Request("GET", f"{API_URL}/{level.path}/{{id}}", {"id": entity_id}, headers=build_context_headers(account))


def build_filter(field: str, operator: str, value: Json, **more: Json) -> dict[str, Json]:
    """Build a filter of a query."""
    return {"field": field, "operator": operator, "value": value, **more}


def build_account_query_request(
    account: Account, path: str, filters: Sequence[Json], offset: int = 0, size: int = PAGE_SIZE
) -> Request:
    """Build the request of one page of a query: a POST that only reads and may be repeated."""
    body: dict[str, Json] = {"filters": list(filters)} if filters else {}
    body["pagination"] = {"offset": offset, "pageSize": size, "fetchTotalCount": True}
    return Request(
        "POST", f"{API_URL}/{path}/query", headers=build_context_headers(account), body=body, encoding="json"
    )


# -- signing ------------------------------------------------------------------------------------------------------

JWT_AUDIENCE = "https://appleid.apple.com"
CLIENT_SECRET_LIFETIME = 5 * 60
"""In seconds. Apple accepts less than 180 days; each secret is used for one request."""
_SIGNATURE_PART_BYTES = 32  # bytes of each of the two numbers of a P-256 signature


def load_private_key(pem: str) -> EllipticCurvePrivateKey:
    """Load the key of a PEM text, ``BEGIN EC PRIVATE KEY`` or ``BEGIN PRIVATE KEY``.

    Raises InvalidInput at ``privateKey`` for anything but an unencrypted EC P-256 key. The message does not quote it.
    """
    # imported here, since the import is slow and only tokens need it
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        key = serialization.load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # not PEM, an encrypted key, or an unknown curve
        key = None
    if not isinstance(key, ec.EllipticCurvePrivateKey) or not isinstance(key.curve, ec.SECP256R1):
        raise invalid_input(
            "privateKey", "malformed", "must be an EC P-256 private key in PEM form, without a password."
        )
    return key


def sign_client_secret(client_id: str, team_id: str, key_id: str, pem: str, now: int) -> str:
    """Sign the client secret, a JWT. ``now``: milliseconds. Raises InvalidInput as :func:`load_private_key`.

    The signature is deterministic (RFC 6979): equal input gives an equal secret.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    issued = now // 1000
    header = {"alg": "ES256", "kid": key_id}
    claims = {
        "iss": team_id,
        "sub": client_id,
        "aud": JWT_AUDIENCE,
        "iat": issued,
        "exp": issued + CLIENT_SECRET_LIFETIME,
    }
    signed = f"{_encode_jwt_part(header)}.{_encode_jwt_part(claims)}"
    algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    # JOSE needs the two numbers of a signature concatenated; cryptography returns them as DER.
    numbers = decode_dss_signature(load_private_key(pem).sign(signed.encode("ascii"), algorithm))
    return f"{signed}.{encode_base64url(b''.join(number.to_bytes(_SIGNATURE_PART_BYTES, 'big') for number in numbers))}"


def _encode_jwt_part(value: Json) -> str:
    return encode_base64url(dumps_bytes(value))


# -- answers ------------------------------------------------------------------------------------------------------


def parse_object(response: Response, what: str) -> Mapping[str, Json]:
    """Return the single object of a response."""
    return require_object(response.body, "/result", what)


def parse_rows(response: Response) -> list[Mapping[str, Json]]:
    """Return the rows of a list. Raises ProviderUnreadable without ``result``, which even an empty list has."""
    return require_objects(response.body, "/result")


def get_next_offset(response: Response, offset: int, count: int) -> int | None:
    """Return the offset of the next page; None at the end. ``offset`` and ``count``: of the page in ``response``.

    A page may have fewer rows than were requested, so the list ends at its total or with an empty page.
    """
    total = get_value(response.body, "/pagination/totalCount")
    if not count or (isinstance(total, int) and not isinstance(total, bool) and offset + count >= total):
        return None
    return offset + count


def parse_next_cursor(response: Response) -> str | None:
    """Return the cursor of the next page of a response that has its own offset; None at the end."""
    offset = get_value(response.body, "/pagination/offset")
    if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
        return None
    next_offset = get_next_offset(response, offset, len(get_objects(response.body, "/result")))
    return None if next_offset is None else str(next_offset)


def parse_error(response: Response) -> ParsedError | None:
    """Return the error of a response. Errors of single items are read by ``parse_item_results``."""
    body = response.body if response.state == "json" else None
    error = get_value(body, "/error")
    if response.status < 400 and error is None:
        return None
    return parse_error_object(error, response.headers.get(REQUEST_ID_HEADER), get_text(body, "/error_description"))


def parse_error_object(error: Json, request_id: str | None, more: str | None = None) -> ParsedError:
    """Return an error's codes, with the codes of its details first, and all of its texts."""
    if isinstance(error, str):  # the error of the token endpoint
        return ParsedError((error,), more or error, request_id)
    parts = [*_get_error_details(error, "details"), *_get_error_details(error, "errors"), error]
    codes = [get_text(part, "/code") for part in parts]
    texts = [_format_error_message(part) for part in parts]
    message = "; ".join(dict.fromkeys(part for part in texts if part))
    return ParsedError(tuple(dict.fromkeys(part for part in codes if part)), message or None, request_id)


def _get_error_details(error: Json, name: str) -> Iterator[Json]:
    details = get_value(error, f"/{name}")
    yield from details if isinstance(details, list) else ()


def _format_error_message(detail: Json) -> str | None:
    message, field = get_text(detail, "/message"), get_text(detail, "/info/field")
    return f"{message} ({field})" if message and field else message


def parse_item_results(step: Step, request: Request, response: Response) -> Sequence[ItemResult] | None:
    """Return the result of each sent item of a bulk request, by ``correlationId``.

    Platform API, "Bulk operations": all items are applied or none. So one refused item, or an error outside the items,
    rejects all of them. An item with a new ID in such a response contradicts that: its outcome is unknown.
    """
    sent_items = get_value(request.body, "/items")
    if not isinstance(sent_items, list):
        return None
    request_id = response.headers.get(REQUEST_ID_HEADER)
    outer = get_value(response.body, "/error")
    results = get_value(response.body, "/result")
    if results is None and outer is not None:  # Apple processed no item
        failed = parse_error_object(outer, request_id)
        return [ItemResult(position, error=_mark_item_error(failed)) for position in range(len(sent_items))]
    if not isinstance(results, list):
        return None
    positions = {get_value(result, "/correlationId"): position for position, result in enumerate(sent_items)}
    results_by_position: dict[int, Json] = {}
    for result in results:
        correlation = get_value(result, "/correlationId")
        if (
            not isinstance(correlation, int)
            or correlation not in positions
            or positions[correlation] in results_by_position
        ):
            return None
        results_by_position[positions[correlation]] = result
    bad = next((result for result in results_by_position.values() if get_value(result, "/success") is not True), None)
    failed = parse_error_object(outer if outer is not None else _get_error_object(bad), request_id)
    answers = []
    for position, result in results_by_position.items():
        done = get_value(result, "/success") is True
        answered_id = parse_id(get_value(result, "/result/id")) if done else None
        sent_id = parse_id(get_value(sent_items[position], "/data/id"))
        if bad is None and outer is None:
            answers.append(ItemResult(position, answered_id if sent_id in (None, answered_id) else None))
        elif answered_id is not None and step.action == "create":
            answers.append(ItemResult(position, answered_id, parse_error_object(None, request_id)))
        else:
            own = failed if done else parse_error_object(_get_error_object(result) or outer, request_id)
            answers.append(ItemResult(position, error=_mark_item_error(own)))
    return answers


def _get_error_object(item: Json) -> Json:
    error = get_value(item, "/error")
    return error if error is not None else get_value(item, "/errors/0")


def _mark_item_error(error: ParsedError) -> ParsedError:
    return ParsedError((*error.codes, ITEM_ERROR), error.message, error.request_id)


def parse_retry_delay(response: Response) -> float | None:
    """Return the seconds until the limit is reset, if the response has no ``Retry-After``."""
    reset = response.headers.get("ratelimit-reset", "").strip()
    if parse_retry_after(response.headers) is not None or not (reset.isascii() and reset.isdigit() and len(reset) < 9):
        return None
    return float(reset)
