"""What the tests of the simulated Meta Marketing API share: the documented example, and a logged-in client."""

import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.meta import NETWORK

from . import calls
from .calls import NOTHING, give_consent

GRAPH = "/graph.facebook.com/v26.0"
DIALOG = "/www.facebook.com/v26.0/dialog/oauth"
APP = {"client_id": "sandbox-meta", "client_secret": "sandbox-secret"}
CALLBACK = "https://app.example/back"
SCOPES = "ads_management,ads_read,business_management,pages_show_list,pages_read_engagement,pages_manage_ads"
CONSENT = {
    "client_id": "sandbox-meta",
    "redirect_uri": CALLBACK,
    "state": "s1",
    "response_type": "code",
    "scope": SCOPES,
}
NORWAY = {"geo_locations": {"countries": ["NO"]}, "targeting_automation": {"advantage_audience": 0}}
# The documented example, word for word.
CAMPAIGN: dict[str, Any] = {
    "name": "Tea spring",
    "objective": "OUTCOME_TRAFFIC",
    "status": "PAUSED",
    "buying_type": "AUCTION",
    "special_ad_categories": [],
    "is_adset_budget_sharing_enabled": False,
}
ADSET: dict[str, Any] = {
    "name": "Tea spring",
    "campaign_id": "6101",
    "status": "PAUSED",
    "optimization_goal": "LINK_CLICKS",
    "billing_event": "LINK_CLICKS",
    "destination_type": "WEBSITE",
    "bid_strategy": "LOWEST_COST_WITH_BID_CAP",
    "bid_amount": 42,
    "daily_budget": 1850,
    "start_time": "2027-03-01T08:00:00+0000",
    "targeting": NORWAY,
}
LINK_DATA: dict[str, Any] = {
    "link": "https://tea.example/",
    "message": "Fresh leaves.",
    "name": "Spring tea",
    "image_hash": "0f1e2d",
    "call_to_action": {"type": "LEARN_MORE", "value": {"link": "https://tea.example/"}},
}
CREATIVE: dict[str, Any] = {"name": "Tea spring", "object_story_spec": {"page_id": "9009", "link_data": LINK_DATA}}
AD: dict[str, Any] = {
    "name": "Tea spring",
    "adset_id": "6102",
    "creative": {"creative_id": "6103"},
    "status": "PAUSED",
}
NO_BID = {"bid_strategy": "LOWEST_COST_WITHOUT_CAP", "bid_amount": NOTHING, "billing_event": "IMPRESSIONS"}
LIFETIME = {"daily_budget": NOTHING, "lifetime_budget": 90000, "end_time": "2027-03-31T21:59:59+0000"}


class Clock(calls.Clock):
    start = datetime(2027, 1, 20, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        web.headers["Authorization"] = f"Bearer {(await get_token(web))['access_token']}"
        yield web


async def get_token(web: httpx.AsyncClient) -> dict[str, Any]:
    """A fresh token, after a person has pressed the one button."""
    code = (await give_consent(web, DIALOG, CONSENT))["code"]
    answer = await web.get(f"{GRAPH}/oauth/access_token", params={**APP, "redirect_uri": CALLBACK, "code": code})
    assert answer.status_code == 200
    issued: dict[str, Any] = answer.json()
    return issued


def encode_form(values: dict[str, Any]) -> dict[str, str]:
    """Values as a form body carries them: strings and integers plain, all else as compact JSON."""
    return {
        name: str(value)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
        else json.dumps(value, separators=(",", ":"))
        for name, value in values.items()
        if value is not NOTHING
    }


async def post(web: httpx.AsyncClient, path: str, values: dict[str, Any]) -> httpx.Response:
    return await web.post(f"{GRAPH}/{path}", data=encode_form(values))


async def create_entity(web: httpx.AsyncClient, path: str, values: dict[str, Any]) -> str:
    answer = await post(web, path, values)
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["id"]
    return str(answer.json()["id"])


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{GRAPH}/{path}", params=encode_form(query))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def create_example(web: httpx.AsyncClient, account: str = "act_7007") -> list[str]:
    """The four steps of the documented example."""
    return [
        await create_entity(web, f"{account}/campaigns", CAMPAIGN),
        await create_entity(web, f"{account}/adsets", ADSET),
        await create_entity(web, f"{account}/adcreatives", CREATIVE),
        await create_entity(web, f"{account}/ads", AD),
    ]


def read_refusal(
    answer: httpx.Response, code: int, field: str | None = None, subcode: int | None = None
) -> dict[str, Any]:
    """The error, in the documented shape."""
    assert answer.status_code >= 400, answer.text
    error: dict[str, Any] = answer.json()["error"]
    assert (error["code"], error.get("error_subcode")) == (code, subcode), error
    assert error["type"] == "OAuthException"
    assert error["message"].startswith(f"(#{code}) ")
    assert error["fbtrace_id"].startswith("A")
    assert isinstance(error["is_transient"], bool)
    assert answer.headers["x-fb-request-id"]
    assert answer.headers["x-fb-trace-id"]
    data = error.get("error_data", {})
    blamed = json.loads(data) if isinstance(data, str) else data
    assert blamed.get("blame_field_specs") == (None if field is None else [[field]]), error
    return error


inject_fault = partial(calls.inject_fault, NETWORK.code)


def make_targeting(**members: Any) -> dict[str, Any]:
    return {"targeting": {**NORWAY, **members}}
