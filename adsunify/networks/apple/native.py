"""Apple's own words: addresses, enums, money, times; and how it says pages, errors and waits."""

from __future__ import annotations

import base64
import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from adsunify.adapter.network import Account, Found, ItemAnswer, Level, Unit, currency_of
from adsunify.errors import InvalidInput, ProviderUnreadable, refused
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Step
from adsunify.values.dates import instant
from adsunify.values.exact_json import Json, json_bytes
from adsunify.values.json_pointer import identifier, need, read, rows, text

if TYPE_CHECKING:
    from cryptography.hazmat.primitives.asymmetric.ec import EllipticCurvePrivateKey

CODE = "apple"
VERSION = "Apple Ads Platform API 1.0"
HOST, TOKEN_HOST = "api.ads.apple.com", "appleid.apple.com"
API = f"https://{HOST}/v1"
TOKEN = f"https://{TOKEN_HOST}/auth/oauth2/token"
PERMISSION = "searchadsorg"
CONTEXT_HEADER = "X-AP-Context"
REQUEST_ID_HEADER = "x-request-id"  # (unverified)

ENABLED, PAUSED, DELETED = "ENABLED", "PAUSED", "DELETED"
STATUSES = (ENABLED, PAUSED)
APPSTORE_APP = "APPSTORE_APP"
TAPS = "TAPS"  # what is billed
CPT = "CPT"
MANUAL_CPT, MAX_CONVERSIONS = "MANUAL_CPT", "MAX_CONVERSIONS"
STRATEGIES: Mapping[str, str] = {
    MANUAL_CPT: "TAP",
    MAX_CONVERSIONS: "INSTALL",
    "MAX_ENGAGEMENTS": "TAP",
    "MANUAL_CPM": "IMPRESSION",
}
"""Bid strategy to its goal; they are always sent together. The last two are of Apple Maps."""
SUPPLY: Mapping[str, Mapping[str, Sequence[str]]] = {
    "supplySource": {"include": ["APPSTORE"]},
    "supplyPlacement": {"include": ["APPSTORE_SEARCH_RESULTS"]},
}
"""Where a campaign of the unified format is shown."""
CUSTOM_PRODUCT_PAGE = "CUSTOM_PRODUCT_PAGE"
INVALID, PENDING = "INVALID", "PENDING"
CREDIT_LINE = "LOC"
APP_STORE_FEATURE, CONTENT_PROVIDER = "APPSTORE_APP_MANUAL", "CONTENT_PROVIDER"
NAME_LENGTH = 200  # documented of campaigns, kept for the others

MINOR_DIGITS = 2  # (unverified): version 5 said at most 2
WHOLE_CURRENCIES = ("JPY",)  # (unverified)
CAMPAIGNS_AT_ONCE = 1000  # values of one IN
PAGE, REPORT_PAGE = 200, 1000
IDENTIFIER = re.compile(r"[1-9][0-9]{0,18}").fullmatch
LARGEST_ID = 2**63 - 1
ITEM_ERROR = "item_error"


# -- money and time -----------------------------------------------------------------------------------------------


def number(identifier: str, path: str) -> int:
    """An id as Apple's JSON holds it. Raises InvalidInput for what is no number of 64 bits."""
    if not IDENTIFIER(identifier) or int(identifier) > LARGEST_ID:
        raise refused(path, "malformed", "Apple Ads: this id is a number, written in digits.")
    return int(identifier)


def unit(account: Account) -> Unit:
    """Decimal texts in major units."""
    return _WHOLE if currency_of(account) in WHOLE_CURRENCIES else _MINOR


_WHOLE, _MINOR = Unit(1, form="major_text"), Unit(10**MINOR_DIGITS, form="major_text")


def money(account: Account, amount: Json) -> dict[str, Json]:
    """An amount beside its currency, which is the account's."""
    return {"amount": amount, "currency": currency_of(account)}


def native_time(moment: datetime) -> str:
    """An instant as Apple takes it: UTC to the millisecond, without saying so."""
    return moment.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds")


def moment(value: Json) -> datetime | None:
    """An instant as Apple writes it, None where it is none."""
    try:
        return instant(f"{value.removesuffix('Z')}Z") if isinstance(value, str) else None
    except InvalidInput:
        return None


# -- requests -----------------------------------------------------------------------------------------------------


def context(account: Account) -> dict[str, str]:
    """The header that names the ad account; only what is asked beyond one account goes without."""
    return {CONTEXT_HEADER: f"adAccountId={account.native_id}"}


def fetched(account: Account, path: str, /, **query: str) -> Request:
    """A GET in the account."""
    return Request("GET", f"{API}/{path}", query=query, headers=context(account))


def single(account: Account, one: Level, entity_id: str) -> Request:
    """A read of one entity."""
    return Request("GET", f"{API}/{one.path}/{{id}}", {"id": entity_id}, headers=context(account))


def where(field: str, operator: str, value: Json, **more: Json) -> dict[str, Json]:
    """A filter of a query."""
    return {"field": field, "operator": operator, "value": value, **more}


def queried(account: Account, path: str, filters: Sequence[Json], offset: int = 0, size: int = PAGE) -> Request:
    """One page of what a POST only reads; it may be repeated."""
    body: dict[str, Json] = {"filters": list(filters)} if filters else {}
    body["pagination"] = {"offset": offset, "pageSize": size, "fetchTotalCount": True}
    return Request("POST", f"{API}/{path}/query", headers=context(account), body=body, encoding="json")


# -- signing ------------------------------------------------------------------------------------------------------

AUDIENCE = "https://appleid.apple.com"
LIFETIME = 5 * 60
"""Seconds. Apple takes less than 180 days; each secret serves one request."""
_HALF = 32  # bytes of each of the two numbers of a P-256 signature


def private_key(pem: str) -> EllipticCurvePrivateKey:
    """The key of a PEM text, ``BEGIN EC PRIVATE KEY`` or ``BEGIN PRIVATE KEY``.

    Raises InvalidInput at ``privateKey`` for what is no unencrypted EC P-256 key; nothing of it is told.
    """
    # heavy, and only a token is asked for with it
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.primitives import serialization
    from cryptography.hazmat.primitives.asymmetric import ec

    try:
        found = serialization.load_pem_private_key(pem.encode(), None)
    except (ValueError, TypeError, UnsupportedAlgorithm):  # no PEM; encrypted; a curve that nobody knows
        found = None
    if not isinstance(found, ec.EllipticCurvePrivateKey) or not isinstance(found.curve, ec.SECP256R1):
        raise refused("privateKey", "malformed", "must be an EC P-256 private key in PEM form, without a password.")
    return found


def client_secret(client_id: str, team_id: str, key_id: str, pem: str, now: int) -> str:
    """The signed secret. ``now``: milliseconds. Raises InvalidInput as :func:`private_key`.

    The signature's own random number follows from key and text (RFC 6979): equal input, equal secret.
    """
    from cryptography.hazmat.primitives import hashes
    from cryptography.hazmat.primitives.asymmetric import ec
    from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature

    issued = now // 1000
    header = {"alg": "ES256", "kid": key_id}
    claims = {"iss": team_id, "sub": client_id, "aud": AUDIENCE, "iat": issued, "exp": issued + LIFETIME}
    signed = f"{_part(header)}.{_part(claims)}"
    algorithm = ec.ECDSA(hashes.SHA256(), deterministic_signing=True)
    # JOSE takes the two numbers as they are, one after the other, not the DER that cryptography makes.
    numbers = decode_dss_signature(private_key(pem).sign(signed.encode("ascii"), algorithm))
    return f"{signed}.{_text(b''.join(number.to_bytes(_HALF, 'big') for number in numbers))}"


def _part(value: Json) -> str:
    return _text(json_bytes(value))


def _text(content: bytes) -> str:
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode("ascii")


# -- answers ------------------------------------------------------------------------------------------------------


def result(response: Response, what: str) -> Mapping[str, Json]:
    """The one object of an answer."""
    found = need(response.body, "/result", what)
    if not isinstance(found, Mapping):
        raise ProviderUnreadable(f"The {what} in the answer is no object.")
    return found


def results(response: Response, at: str = "/result") -> list[Mapping[str, Json]]:
    """The objects of an answer; an answer without their list is unreadable."""
    need(response.body, at)
    return rows(response.body, at)


def following(response: Response, asked: int, count: int) -> int | None:
    """Where the page after this one begins, None at the end. ``asked``: where this one was to begin.

    A page may be shorter than it was asked to be, so only the total, or an empty page, says that the list has ended.
    """
    total = read(response.body, "/pagination/totalCount")
    if not count or (isinstance(total, int) and not isinstance(total, bool) and asked + count >= total):
        return None
    return asked + count


def next_offset(response: Response) -> str | None:
    """The cursor after an answer that says itself where it began."""
    offset = read(response.body, "/pagination/offset")
    if not isinstance(offset, int) or isinstance(offset, bool) or offset < 0:
        return None
    found = following(response, offset, len(rows(response.body, "/result")))
    return None if found is None else str(found)


def error(response: Response) -> Found | None:
    """The error of an answer, in its shapes, inside a success too; those of single items are found by ``items``."""
    body = response.body if response.state == "json" else None
    given = read(body, "/error")
    if response.status < 400 and given is None:
        return None
    return told(given, response.headers.get(REQUEST_ID_HEADER), text(body, "/error_description"))


def told(given: Json, request_id: str | None, more: str | None = None) -> Found:
    """An error's codes, those of its details first, and all that it says."""
    if isinstance(given, str):  # the token endpoint's
        return Found((given,), more or given, request_id)
    parts = [*_parts(given, "details"), *_parts(given, "errors"), given]
    codes = [text(one, "/code") for one in parts]
    said = [_said(one) for one in parts]
    message = "; ".join(dict.fromkeys(one for one in said if one))
    return Found(tuple(dict.fromkeys(one for one in codes if one)), message or None, request_id)


def _parts(given: Json, name: str) -> Iterator[Json]:
    listed = read(given, f"/{name}")
    yield from listed if isinstance(listed, list) else ()


def _said(one: Json) -> str | None:
    message, field = text(one, "/message"), text(one, "/info/field")
    return f"{message} ({field})" if message and field else message


def items(step: Step, request: Request, response: Response) -> Sequence[ItemAnswer] | None:
    """What a bulk answer says of each sent item, by ``correlationId``.

    Bulk operations: all or nothing, so one refused item, or an error beside the items, refuses them all; a new id
    beside a refusal contradicts that, and leaves its item open.
    """
    sent = read(request.body, "/items")
    if not isinstance(sent, list):
        return None
    request_id = response.headers.get(REQUEST_ID_HEADER)
    outer = read(response.body, "/error")
    listed = read(response.body, "/result")
    if listed is None and outer is not None:  # no item was processed
        failed = told(outer, request_id)
        return [ItemAnswer(position, error=_refused(failed)) for position in range(len(sent))]
    if not isinstance(listed, list):
        return None
    positions = {read(one, "/correlationId"): position for position, one in enumerate(sent)}
    answered: dict[int, Json] = {}
    for one in listed:
        correlation = read(one, "/correlationId")
        if not isinstance(correlation, int) or correlation not in positions or positions[correlation] in answered:
            return None
        answered[positions[correlation]] = one
    bad = next((one for one in answered.values() if read(one, "/success") is not True), None)
    failed = told(outer if outer is not None else _error_of(bad), request_id)
    answers = []
    for position, one in answered.items():
        done = read(one, "/success") is True
        named = identifier(read(one, "/result/id")) if done else None
        wanted = identifier(read(sent[position], "/data/id"))
        if bad is None and outer is None:
            answers.append(ItemAnswer(position, named if wanted in (None, named) else None))
        elif named is not None and step.action == "create":
            answers.append(ItemAnswer(position, named, told(None, request_id)))
        else:
            own = failed if done else told(_error_of(one) or outer, request_id)
            answers.append(ItemAnswer(position, error=_refused(own)))
    return answers


def _error_of(item: Json) -> Json:
    given = read(item, "/error")
    return given if given is not None else read(item, "/errors/0")


def _refused(found: Found) -> Found:
    return Found((*found.codes, ITEM_ERROR), found.message, found.request_id)


def wait(response: Response) -> float | None:
    """Seconds until the limit is lifted, where there is no ``Retry-After``."""
    reset = response.headers.get("ratelimit-reset", "").strip()
    if "retry-after" in response.headers or not (reset.isascii() and reset.isdigit() and len(reset) < 9):
        return None
    return float(reset)
