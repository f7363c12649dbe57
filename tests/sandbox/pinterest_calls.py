"""What the tests of the simulated Pinterest API share: the documented examples, and a logged-in client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.pinterest import NETWORK

from . import calls
from .calls import give_consent, make_body

V5 = "/api.pinterest.com/v5"
CONSENT_PAGE = "/www.pinterest.com/oauth/"
APP = ("sandbox-pinterest", "sandbox-secret")
CALLBACK = "https://app.example/back"
NEW_YORK, TOKYO, BERLIN, LONDON = (str(549755885170 + last) for last in (5, 6, 7, 8))
CONSENT = {
    "client_id": "sandbox-pinterest",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope": "ads:read,ads:write,boards:read,boards:write,pins:read,pins:write,user_accounts:read",
    "state": "s1",
}
# The documented examples, word for word; ids of parents are put in by `create_example`.
PIN: dict[str, Any] = {
    "board_id": "730146114520000001",
    "title": "Autumn kit",
    "description": "Everything for a weekend.",
    "link": "https://shop.example/kit",
    "media_source": {"source_type": "image_url", "url": "https://cdn.example/kit.jpg"},
}
CAMPAIGN: dict[str, Any] = {
    "ad_account_id": NEW_YORK,
    "name": "Autumn kit",
    "objective_type": "CONSIDERATION",
    "status": "PAUSED",
    "is_campaign_budget_optimization": True,
    "is_flexible_daily_budgets": False,
    "daily_spend_cap": 25000000,
    "start_time": 1793520000,
    "end_time": 1794729600,
}
AD_GROUP: dict[str, Any] = {
    "campaign_id": "626735565838",
    "name": "Autumn kit",
    "status": "PAUSED",
    "billable_event": "CLICKTHROUGH",
    "bid_strategy_type": "MAX_BID",
    "bid_in_micro_currency": 850000,
    "budget_type": "CBO_ADGROUP",
    "pacing_delivery_type": "STANDARD",
    "placement_group": "ALL",
    "auto_targeting_enabled": False,
    "targeting_spec": {"LOCATION": ["US", "CA"]},
}
KEYWORDS: dict[str, Any] = {
    "parent_id": "2680060704746",
    "keywords": [{"match_type": "PHRASE", "value": "camping kit"}],
}
AD: dict[str, Any] = {
    "ad_group_id": "2680060704746",
    "pin_id": "394205773611545468",
    "creative_type": "REGULAR",
    "name": "Autumn kit",
    "status": "PAUSED",
    "destination_url": "https://shop.example/kit",
}
REPORT: dict[str, Any] = {
    "start_date": "2026-03-01",
    "end_date": "2026-05-31",
    "granularity": "DAY",
    "level": "ADVERTISER",
    "columns": ["SPEND_IN_MICRO_DOLLAR", "TOTAL_IMPRESSION", "TOTAL_CLICKTHROUGH"],
    "report_format": "JSON",
}


class Clock(calls.Clock):
    start = datetime(2026, 10, 31, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock, **consent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        answer = await request_token(web, grant_type="authorization_code", code=await get_code(web, **consent))
        assert answer.status_code == 200, answer.text
        web.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
        yield web


async def get_code(web: httpx.AsyncClient, **consent: str) -> str:
    """A fresh code."""
    return (await give_consent(web, CONSENT_PAGE, {**CONSENT, **consent}))["code"]


async def request_token(web: httpx.AsyncClient, **form: str) -> httpx.Response:
    if form.get("grant_type") == "authorization_code":
        form = {"redirect_uri": CALLBACK, "continuous_refresh": "true", **form}
    return await web.post(f"{V5}/oauth/token", data=form, auth=APP)


async def post(web: httpx.AsyncClient, what: str, body: Any, account: str = NEW_YORK) -> httpx.Response:
    return await web.post(f"{V5}/ad_accounts/{account}/{what}", json=body)


async def patch(web: httpx.AsyncClient, what: str, body: Any, account: str = NEW_YORK) -> httpx.Response:
    return await web.patch(f"{V5}/ad_accounts/{account}/{what}", json=body)


def read_data(answer: httpx.Response) -> dict[str, Any]:
    """The one object of an array write that succeeded."""
    assert answer.status_code == 200, answer.text
    (item,) = answer.json()["items"]
    assert not item["exceptions"], item
    data: dict[str, Any] = item["data"]
    return data


def read_failure(answer: httpx.Response, code: int = 1) -> str:
    """The message of the one object of an array write that failed; for ads `exceptions` is no list."""
    assert answer.status_code == 200, (answer.text, _describe_request(answer))
    (item,) = answer.json()["items"]
    assert item["data"] is None, _describe_request(answer)
    ads = str(answer.request.url).endswith("/ads")
    exceptions: Any = item["exceptions"]
    assert isinstance(exceptions, dict if ads else list)
    exceptions = exceptions if ads else exceptions[0]
    assert exceptions["code"] == code, exceptions
    return str(exceptions["message"])


def _describe_request(answer: httpx.Response) -> str:
    return f"{answer.request.url} {answer.request.content.decode()}"


def read_refusal(answer: httpx.Response, status: int, code: int) -> str:
    """The message of a request that was refused as a whole."""
    assert (answer.status_code, answer.json()["code"]) == (status, code), (answer.text, _describe_request(answer))
    assert list(answer.json()) == ["code", "message"]
    return str(answer.json()["message"])


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{V5}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def create_ad_group(web: httpx.AsyncClient, **change: Any) -> str:
    """A new campaign and ad group of the examples; the id of the ad group."""
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    return str(read_data(await post(web, "ad_groups", [make_body(AD_GROUP, campaign_id=campaign, **change)]))["id"])


async def create_example(web: httpx.AsyncClient) -> dict[str, str]:
    """The five steps of the documented example."""
    pin = await web.post(f"{V5}/pins", params={"ad_account_id": NEW_YORK}, json=PIN)
    assert pin.status_code == 201, pin.text
    ids = {"pin": pin.json()["id"], "campaign": read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]}
    body = make_body(AD_GROUP, campaign_id=ids["campaign"])
    ids["ad_group"] = read_data(await post(web, "ad_groups", [body]))["id"]
    keywords = await post(web, "keywords", {**KEYWORDS, "parent_id": ids["ad_group"]})
    assert keywords.json()["errors"] == []
    ids["keyword"] = keywords.json()["keywords"][0]["id"]
    body = make_body(AD, ad_group_id=ids["ad_group"], pin_id=ids["pin"])
    ids["ad"] = read_data(await post(web, "ads", [body]))["id"]
    return ids


inject_fault = partial(calls.inject_fault, NETWORK.code)
