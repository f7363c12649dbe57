"""What the tests of the simulated OpenAI Advertiser API share: the documented bodies, and a client with a key."""

import itertools
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.chatgpt import NETWORK

from . import calls
from .calls import make_body

V1 = "/api.ads.openai.com/v1"
KEY = "sandbox-chatgpt-key"
TOKYO, PARIS = "sandbox-chatgpt-key-tokyo", "sandbox-chatgpt-key-paris"
# The documented bodies, word for word; ids of parents are put in by `create_example`.
CAMPAIGN: dict[str, Any] = {
    "name": "Autumn boots",
    "status": "paused",
    "bidding_type": "clicks",
    "budget": {"lifetime_spend_limit_micros": 320000000},
    "start_time": 1796083200,
    "end_time": 1797292800,
    "targeting": {"locations": {"countries": ["FR"]}},
}
AD_GROUP: dict[str, Any] = {
    "campaign_id": "cmpn_9",
    "name": "Autumn boots",
    "status": "paused",
    "bidding_config": {"billing_event_type": "click", "strategy": "fixed_bid", "max_bid_micros": 1850000},
}
AD: dict[str, Any] = {
    "ad_group_id": "adgrp_4",
    "name": "Autumn boots",
    "status": "paused",
    "creative": {
        "type": "chat_card",
        "title": "Boots for wet trails",
        "body": "Waterproof pairs from 89 euros.",
        "target_url": "https://northwind.example/boots",
        "file_id": "file_31",
    },
}
_counted = itertools.count()


class Clock(calls.Clock):
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    """A client with the key of New York, and a sandbox of its own."""
    headers = {"Authorization": f"Bearer {KEY}", "Accept": "application/json", "User-Agent": "tea-shop/1.0"}
    async with (
        sandbox(networks=[NETWORK], clock=clock) as running,
        httpx.AsyncClient(base_url=running.url, headers=headers) as web,
    ):
        yield web


def use_key(web: httpx.AsyncClient, key: str) -> None:
    web.headers["Authorization"] = f"Bearer {key}"


async def post(web: httpx.AsyncClient, path: str, body: Any = None, **headers: str) -> httpx.Response:
    return await web.post(f"{V1}/{path}", headers=headers, **({} if body is None else {"json": body}))


def read_data(answer: httpx.Response) -> dict[str, Any]:
    assert answer.status_code == 200, answer.text
    assert answer.headers["x-request-id"]
    data: dict[str, Any] = answer.json()
    return data


def read_refusal(answer: httpx.Response, status: int, param: str | None = None) -> str:
    """The message of a refused request."""
    assert answer.status_code == status, answer.text
    error = answer.json()["error"]
    assert sorted(error) == ["code", "message", "param", "type"]
    assert error["param"] == param
    assert answer.headers["x-request-id"]
    return str(error["message"])


async def read(web: httpx.AsyncClient, path: str, query: Any = None) -> dict[str, Any]:
    return read_data(await web.get(f"{V1}/{path}", params=query or {}))


async def create_campaign(web: httpx.AsyncClient, **change: Any) -> str:
    return str(read_data(await post(web, "campaigns", make_body(CAMPAIGN, **change)))["id"])


async def create_ad_group(web: httpx.AsyncClient, parent_id: str | None = None, **change: Any) -> str:
    body = make_body(AD_GROUP, campaign_id=parent_id or await create_campaign(web), **change)
    return str(read_data(await post(web, "ad_groups", body))["id"])


async def create_ad(web: httpx.AsyncClient, parent_id: str | None = None, **creative: Any) -> str:
    body = make_body(
        AD, ad_group_id=parent_id or await create_ad_group(web), creative=make_body(AD["creative"], **creative)
    )
    return str(read_data(await post(web, "ads", body))["id"])


async def create_example(web: httpx.AsyncClient) -> dict[str, str]:
    """The four documented steps, with the keys that a plan gives them."""
    number = next(_counted)
    file = read_data(await post(web, "upload", {"image_url": "https://northwind.example/boots.png"}))["file_id"]
    ids = {"files": str(file)}
    creative = {**AD["creative"], "file_id": file}
    for word, body in (("campaigns", CAMPAIGN), ("ad_groups", AD_GROUP), ("ads", {**AD, "creative": creative})):
        if word == "ad_groups":
            body = make_body(body, campaign_id=ids["campaigns"])
        if word == "ads":
            body = make_body(body, ad_group_id=ids["ad_groups"])
        created = read_data(await post(web, word, body, **{"Idempotency-Key": f"plan{number}-{word}"}))
        ids[word] = created["id"]
    return ids


async def list_writes(web: httpx.AsyncClient) -> list[tuple[str, str]]:
    return [(kind, native_id) for _, kind, native_id in await calls.list_writes(web)]


def make_date_range(since: str, until: str, **more: str) -> str:
    return json.dumps({"type": "date_range", "since": since, "until": until, **more})


def make_unix_range(start: int, end: int) -> str:
    return json.dumps({"type": "unix_range", "start": str(start), "end": str(end)})
