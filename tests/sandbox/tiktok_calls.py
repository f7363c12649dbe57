"""What the tests of the simulated TikTok API share: the documented examples, and a logged-in client."""

import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.tiktok import NETWORK

from . import calls
from .calls import NOTHING, give_consent

HOST = "/business-api.tiktok.com"
API = f"{HOST}/open_api/v1.3"
APP = {"app_id": "sandbox-tiktok", "secret": "sandbox-secret"}
CONSENT = {"app_id": "sandbox-tiktok", "state": "s1", "redirect_uri": "https://app.example/back"}
NEW_YORK, TOKYO, BERLIN, CHICAGO = "7011112222", "7011113333", "7011114444", "7011115555"
# The documented examples, word for word.
CAMPAIGN: dict[str, Any] = {
    "advertiser_id": "7011112222",
    "request_id": "4611686018427387001",
    "campaign_name": "Autumn shoes",
    "objective_type": "TRAFFIC",
    "budget_mode": "BUDGET_MODE_INFINITE",
    "budget_optimize_on": False,
    "operation_status": "DISABLE",
}
AD_GROUP: dict[str, Any] = {
    "advertiser_id": "7011112222",
    "request_id": "4611686018427387002",
    "campaign_id": "17900001",
    "adgroup_name": "Autumn shoes",
    "promotion_type": "WEBSITE",
    "placement_type": "PLACEMENT_TYPE_NORMAL",
    "placements": ["PLACEMENT_TIKTOK"],
    "location_ids": ["2635167"],
    "budget_mode": "BUDGET_MODE_TOTAL",
    "budget": 640.5,
    "schedule_type": "SCHEDULE_START_END",
    "schedule_start_time": "2026-12-01 08:00:00",
    "schedule_end_time": "2026-12-21 08:00:00",
    "optimization_goal": "CLICK",
    "billing_event": "CPC",
    "bid_type": "BID_TYPE_CUSTOM",
    "bid_price": 0.35,
    "pacing": "PACING_MODE_SMOOTH",
    "operation_status": "DISABLE",
}
CREATIVE: dict[str, Any] = {
    "ad_name": "Autumn shoes",
    "ad_format": "SINGLE_VIDEO",
    "identity_type": "TT_USER",
    "identity_id": "6bd1-aa",
    "video_id": "v10033g50000abc",
    "image_ids": ["ad-site-i18n-sg/20261101abc"],
    "ad_text": "New season, same street",
    "call_to_action": "LEARN_MORE",
    "landing_page_url": "https://shop.example/autumn",
    "dark_post_status": "ON",
    "operation_status": "DISABLE",
}
AD: dict[str, Any] = {"advertiser_id": "7011112222", "adgroup_id": "17900002", "creatives": [CREATIVE]}
NO_BID = {"bid_type": "BID_TYPE_NO_BID", "bid_price": NOTHING}
DAILY = {"budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET", "budget": 20}
# Upgraded Smart+, as documented.
SMART_CAMPAIGN = {name: value for name, value in CAMPAIGN.items() if name != "budget_mode"}
SMART_AD_GROUP: dict[str, Any] = {
    **{name: value for name, value in AD_GROUP.items() if name not in ("location_ids", "pacing")},
    "targeting_optimization_mode": "MANUAL",
    "targeting_spec": {"location_ids": ["2635167"]},
}
INFO: dict[str, Any] = {
    "ad_format": "SINGLE_VIDEO",
    "video_info": {"video_id": "v10033g50000abc"},
    "image_info": [{"web_uri": "ad-site-i18n-sg/20261101abc"}],
    "identity_type": "TT_USER",
    "identity_id": "6bd1-aa",
}
SMART_AD: dict[str, Any] = {
    "advertiser_id": "7011112222",
    "adgroup_id": "17900002",
    "ad_name": "Autumn shoes",
    "operation_status": "DISABLE",
    "creative_list": [{"creative_info": INFO}],
    "ad_text_list": [{"ad_text": "New season, same street"}],
    "call_to_action_list": [{"call_to_action": "LEARN_MORE"}],
    "landing_page_url_list": [{"landing_page_url": "https://shop.example/autumn"}],
    "ad_configuration": {"dark_post_status": "ON"},
}


class Clock(calls.Clock):
    start = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with (
        sandbox(networks=[NETWORK], clock=clock) as running,
        httpx.AsyncClient(base_url=running.url, verify=False) as web,  # there is no TLS on the loopback
    ):
        web.headers["Access-Token"] = (await get_token(web))["access_token"]
        yield web


async def get_code(web: httpx.AsyncClient) -> str:
    """A fresh code."""
    return (await give_consent(web, f"{HOST}/portal/auth", CONSENT))["auth_code"]


async def get_token(web: httpx.AsyncClient) -> dict[str, Any]:
    answer = await web.post(f"{API}/oauth2/access_token/", json={**APP, "auth_code": await get_code(web)})
    return read_data(answer)


def read_data(answer: httpx.Response) -> dict[str, Any]:
    """`data` of a success: HTTP 200 and code 0."""
    assert answer.status_code == 200, answer.text
    body = json.loads(answer.text, parse_float=Decimal)
    assert list(body) == ["code", "message", "request_id", "data"]
    assert (body["code"], body["message"]) == (0, "OK"), answer.text
    data: dict[str, Any] = body["data"]
    return data


def read_refusal(answer: httpx.Response, code: int, field: str = "") -> str:
    """The message of a refusal: HTTP 200 and another code."""
    assert answer.status_code == 200, answer.text
    body = answer.json()
    assert body["code"] == code, body
    assert body["message"].startswith(field), body
    assert body["data"] == {}
    assert re.fullmatch("[0-9A-F]{32}", body["request_id"])
    return str(body["message"])


async def post(web: httpx.AsyncClient, path: str, body: dict[str, Any]) -> httpx.Response:
    return await web.post(f"{API}{path}", json={name: value for name, value in body.items() if value is not NOTHING})


async def get(web: httpx.AsyncClient, path: str, **query: Any) -> httpx.Response:
    """Lists and objects go as JSON text."""
    texts = {name: value if isinstance(value, str | int) else json.dumps(value) for name, value in query.items()}
    return await web.get(f"{API}{path}", params=texts)


async def read(web: httpx.AsyncClient, path: str, advertiser_id: str = NEW_YORK, **query: Any) -> dict[str, Any]:
    return read_data(await get(web, path, advertiser_id=advertiser_id, **query))


async def read_entity(
    web: httpx.AsyncClient, kind: str, entity_id: str, advertiser_id: str = NEW_YORK
) -> dict[str, Any]:
    """The entity of this id, deleted ones too."""
    filtering = {f"{kind}_ids": [entity_id], "primary_status": "STATUS_ALL"}
    [entity] = (await read(web, f"/{kind}/get/", advertiser_id, filtering=filtering))["list"]
    assert isinstance(entity, dict)
    return entity


async def create_example(web: httpx.AsyncClient, **creative: Any) -> tuple[str, str, str]:
    """The three steps of the documented example."""
    campaign = read_data(await post(web, "/campaign/create/", CAMPAIGN))["campaign_id"]
    group = read_data(await post(web, "/adgroup/create/", AD_GROUP))["adgroup_id"]
    [ad] = read_data(await post(web, "/ad/create/", {**AD, "creatives": [{**CREATIVE, **creative}]}))["ad_ids"]
    return campaign, group, ad


async def create_smart_example(web: httpx.AsyncClient) -> tuple[str, str, str]:
    campaign = read_data(await post(web, "/smart_plus/campaign/create/", SMART_CAMPAIGN))["campaign_id"]
    group = read_data(await post(web, "/smart_plus/adgroup/create/", SMART_AD_GROUP))["adgroup_id"]
    ad = read_data(await post(web, "/smart_plus/ad/create/", SMART_AD))["smart_plus_ad_id"]
    return campaign, group, ad


async def set_status(
    web: httpx.AsyncClient, kind: str, status: str, *ids: str, flow: str = "", **more: Any
) -> httpx.Response:
    name = "smart_plus_ad_ids" if flow and kind == "ad" else f"{kind}_ids"
    body = {"advertiser_id": NEW_YORK, name: [*ids], "operation_status": status, **more}
    return await post(web, f"{flow}/{kind}/status/update/", body)


async def list_writes(web: httpx.AsyncClient) -> list[tuple[str, str]]:
    return [(kind, native_id) for _, kind, native_id in await calls.list_writes(web)]


inject_fault = partial(calls.inject_fault, NETWORK.code)
