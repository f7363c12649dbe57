"""What the tests of the simulated Apple Ads Platform API share: the documented examples, and a logged-in client."""

import base64
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.hazmat.primitives.asymmetric.utils import decode_dss_signature
from cryptography.hazmat.primitives.serialization import load_pem_private_key

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.apple import NETWORK

from . import calls
from .calls import make_body

V1 = "/api.ads.apple.com/v1"
TOKEN = "/appleid.apple.com/auth/oauth2/token"
BERLIN, NEW_YORK, TOKYO, INVOICE, MAPS = "7001", "7002", "7003", "7004", "7005"
CREATIVE, PENDING, INVALID, DEFAULT_PAGE, OTHER_APP = 880001, 880002, 880003, 880004, 880005
# of no value: the simulated network holds the public half
PRIVATE_KEY = b"""-----BEGIN PRIVATE KEY-----
MIGHAgEAMBMGByqGSM49AgEGCCqGSM49AwEHBG0wawIBAQQgYWRzdW5pZnkgc2Fu
ZGJveCBrZXkgb2Ygbm8gdmFsdWWhRANCAAT0S388m4eNA+993L836BtcmJ4fvX9l
tcvTi452qyxkDCUBklawaRVvXQvTqaPhenWz+uB9eUVxrRFbGpJ8SgZl
-----END PRIVATE KEY-----
"""
# The documented example, word for word; ids of parents are put in by `create_example`.
CAMPAIGN: dict[str, Any] = {
    "name": "Brief name",
    "adAccountId": 7001,
    "promotedObjectType": "APPSTORE_APP",
    "promotedObjectId": "1440000001",
    "billingEvent": "TAPS",
    "status": "PAUSED",
    "startTime": "2027-03-01T08:00:00.000",
    "endTime": "2027-04-01T07:59:59.000",
    "dailyBudget": {"value": {"amount": "45.00", "currency": "EUR"}},
    "targeting": {
        "supplySource": {"include": ["APPSTORE"]},
        "supplyPlacement": {"include": ["APPSTORE_SEARCH_RESULTS"]},
        "countryOrRegion": {"include": ["DE", "AT"]},
    },
    "bidStrategy": {"bidStrategyType": "MANUAL_CPT", "bidStrategyGoal": "TAP"},
}
AD_GROUP: dict[str, Any] = {
    "name": "Brief name - ad group",
    "pricingModel": "CPT",
    "status": "PAUSED",
    "startTime": "2027-03-01T08:00:00.000",
    "automatedKeywordsOptIn": False,
    "bidStrategy": {
        "bidStrategyType": "MANUAL_CPT",
        "bidStrategyGoal": "TAP",
        "bid": {"amount": "1.35", "currency": "EUR"},
    },
}
KEYWORD: dict[str, Any] = {
    "text": "yoga timer",
    "matchType": "EXACT",
    "status": "PAUSED",
    "bid": {"amount": "1.35", "currency": "EUR"},
}
AD: dict[str, Any] = {"name": "Brief name - ad", "creativeId": CREATIVE, "status": "PAUSED"}


class Clock(calls.Clock):
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


def _encode_part(value: Any) -> str:
    content = value if isinstance(value, bytes) else json.dumps(value, separators=(",", ":")).encode()
    return base64.urlsafe_b64encode(content).rstrip(b"=").decode()


def make_client_secret(clock: Clock, *, header: Any = None, der: bool = False, **change: Any) -> str:
    """The documented JWT; `change`: other claims."""
    now = int(clock().timestamp())
    claims = {
        "iss": "SEARCHADS.sandbox-team",
        "sub": "SEARCHADS.sandbox-apple",
        "aud": "https://appleid.apple.com",
        "iat": now,
        "exp": now + 600,
    }
    signed = (
        f"{_encode_part(header or {'alg': 'ES256', 'kid': 'sandbox-key'})}.{_encode_part(make_body(claims, **change))}"
    )
    key = load_pem_private_key(PRIVATE_KEY, None)
    assert isinstance(key, ec.EllipticCurvePrivateKey)
    signature = key.sign(signed.encode(), ec.ECDSA(hashes.SHA256()))
    if not der:
        signature = b"".join(number.to_bytes(32) for number in decode_dss_signature(signature))
    return f"{signed}.{_encode_part(signature)}"


async def request_token(web: httpx.AsyncClient, secret: str, **form: str) -> httpx.Response:
    body = {
        "grant_type": "client_credentials",
        "client_id": "SEARCHADS.sandbox-apple",
        "client_secret": secret,
        "scope": "searchadsorg",
        **form,
    }
    return await web.post(TOKEN, data=body, headers={"Authorization": "", "X-AP-Context": ""})


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own, in the documented ad account."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        await log_in(web, clock)
        web.headers["X-AP-Context"] = f"adAccountId={BERLIN}"
        yield web


async def log_in(web: httpx.AsyncClient, clock: Clock) -> None:
    """A fresh access token for everything that follows."""
    answer = await request_token(web, make_client_secret(clock))
    assert answer.status_code == 200, answer.text
    web.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


async def call(web: httpx.AsyncClient, method: str, path: str, body: Any = None, **more: Any) -> httpx.Response:
    return await web.request(method, f"{V1}/{path}", **({} if body is None else {"json": body}), **more)


async def get_result(web: httpx.AsyncClient, method: str, path: str, body: Any = None, **more: Any) -> Any:
    """The `result` of a call that succeeded."""
    answer = await call(web, method, path, body, **more)
    assert answer.status_code == 200, answer.text
    assert answer.headers["RateLimit-Limit"]
    return answer.json()["result"]


async def get_refusal(web: httpx.AsyncClient, method: str, path: str, body: Any, status: int = 400) -> str:
    """The field (or the word) of a refusal."""
    answer = await call(web, method, path, body)
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    if "errors" in error:
        return str(error["errors"][0]["code"])
    return str(error["details"][0]["info"]["field"] if error["details"] else error["code"])


async def create_campaign(web: httpx.AsyncClient, **change: Any) -> int:
    return int((await get_result(web, "POST", "campaigns", make_body(CAMPAIGN, **change)))["id"])


async def create_ad_group(web: httpx.AsyncClient, parent_id: int | None = None, **change: Any) -> int:
    body = make_body({**AD_GROUP, "campaignId": parent_id or await create_campaign(web)}, **change)
    return int((await get_result(web, "POST", "adgroups", body))["id"])


async def write_keywords(web: httpx.AsyncClient, *items: dict[str, Any], action: str = "create", **more: Any) -> Any:
    """The answer to a bulk call."""
    numbered = [{"correlationId": number, "data": item} for number, item in enumerate(items)]
    answer = await call(
        web, "POST", f"keywords/bulk-{action}", {"allowPartialSuccess": False, "items": numbered, **more}
    )
    assert answer.status_code == 200, answer.text
    return answer.json()


async def create_example(web: httpx.AsyncClient) -> dict[str, int]:
    """The four steps of the documented example."""
    parent_id = await create_campaign(web)
    group = await create_ad_group(web, parent_id)
    (row,) = (await write_keywords(web, {**KEYWORD, "adGroupId": group}))["result"]
    assert (row["correlationId"], row["operation"], row["success"]) == (0, "CREATE", True)
    ad = (await get_result(web, "POST", "ads", {**AD, "adGroupId": group}))["id"]
    return {"campaigns": parent_id, "adgroups": group, "keywords": row["result"]["id"], "ads": ad}


inject_fault = partial(calls.inject_fault, NETWORK.code)
