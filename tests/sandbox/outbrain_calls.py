"""What the tests of the simulated Amplify API share: the documented examples, and a logged-in client."""

import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.outbrain import NETWORK

from . import calls
from .calls import make_body

BASE = "/api.outbrain.com/amplify/v0.1"
USER = ("sandbox-outbrain", "sandbox-secret")
NEW_YORK, TOKYO, BERLIN, NEWCOMER = (f"00{last:032x}" for last in (1, 2, 3, 4))
# The documented examples, word for word; ids of parents are put in by `create_example`.
DAILY: dict[str, Any] = {
    "name": "Brief name 4f2a", "amount": 60.5, "startDate": "2027-05-03", "runForever": True, "type": "DAILY",
    "pacing": "SPEND_ASAP",
}  # fmt: skip
LIFETIME: dict[str, Any] = {
    "name": "Brief name 4f2a", "amount": 1800, "startDate": "2027-05-03", "endDate": "2027-05-31", "runForever": False,
    "type": "CAMPAIGN", "pacing": "AUTOMATIC",
}  # fmt: skip
CAMPAIGN: dict[str, Any] = {
    "name": "Brief name", "enabled": False, "cpc": 0.42, "objective": "Traffic", "creativeFormat": "Standard",
    "campaignOptimization": {"optimizationType": "TRAFFIC"},
    "targeting": {"platform": ["DESKTOP", "MOBILE", "TABLET"], "locations": ["0a1b2c3d4e5f60718293a4b5c6d7e8f9"],
                  "locationsVersion": "V2"},
}  # fmt: skip
LINK: dict[str, Any] = {
    "url": "https://shop.example/guide", "enabled": False, "text": "Ten ways to sleep better",
    "description": "Short body", "sectionName": "Example Shop",
    "imageMetadata": {"url": "https://shop.example/sleep.jpg"},
}  # fmt: skip


class Clock(calls.Clock):
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        await log_in(web)
        yield web


async def log_in(web: httpx.AsyncClient) -> str:
    """A fresh token for everything that follows."""
    answer = await web.get(f"{BASE}/login", auth=USER)
    assert answer.status_code == 200, answer.text
    web.headers["OB-TOKEN-V1"] = answer.json()["OB-TOKEN-V1"]
    return str(answer.json()["OB-TOKEN-V1"])


async def send(web: httpx.AsyncClient, method: str, path: str, content: Any) -> httpx.Response:
    return await web.request(method, f"{BASE}/{path}", json=content)


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{BASE}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    assert re.fullmatch("[0-9a-f-]{36}", answer.headers["AMPLIFY-REQUEST-ID"])
    return answer.json()


def read_data(answer: httpx.Response) -> Any:
    assert answer.status_code == 200, answer.text
    return answer.json()


def read_refusal(answer: httpx.Response, status: int = 400) -> str:
    """The message of a request that was refused as a whole."""
    assert answer.status_code == status, answer.text
    assert list(answer.json()) == ["moreInfo", "errorMessage"]
    return str(answer.json()["errorMessage"])


async def create_budget(web: httpx.AsyncClient, marketer: str = NEW_YORK, **change: Any) -> str:
    return str(read_data(await send(web, "POST", f"marketers/{marketer}/budgets", make_body(DAILY, **change)))["id"])


async def create_campaign(web: httpx.AsyncClient, parent_id: str | None = None, **change: Any) -> str:
    parent_id = parent_id or await create_budget(web)
    return str(read_data(await send(web, "POST", "campaigns", make_body(CAMPAIGN, budgetId=parent_id, **change)))["id"])


async def create_link(web: httpx.AsyncClient, parent_id: str, **change: Any) -> str:
    return str(
        read_data(await send(web, "POST", f"campaigns/{parent_id}/promotedLinks", make_body(LINK, **change)))["id"]
    )


async def create_example(web: httpx.AsyncClient) -> dict[str, str]:
    """The three steps of the documented example."""
    first = await create_budget(web)
    second = await create_campaign(web, first)
    return {"budget": first, "campaign": second, "promotedLink": await create_link(web, second)}


inject_fault = partial(calls.inject_fault, NETWORK.code)
