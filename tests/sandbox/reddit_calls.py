"""What the tests of the simulated Reddit Ads API share: the documented example, and a logged-in client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.reddit import NETWORK

from . import calls
from .calls import NOTHING, give_consent

HOST = "https://ads-api.reddit.com"
V3 = "/ads-api.reddit.com/api/v3"
CONSENT_PAGE = "/www.reddit.com/api/v1/authorize"
TOKEN = "/www.reddit.com/api/v1/access_token"
REVOKE = "/www.reddit.com/api/v1/revoke_token"
APP = ("sandbox-reddit", "sandbox-secret")
NEW_YORK, TOKYO, ADELAIDE, DUBLIN, LONDON = (
    "a2_newyork1", "t2_tokyo1", "t2_adelaide1", "a2_dublin1", "t2_london1",
)  # fmt: skip
CONSENT = {
    "client_id": APP[0],
    "redirect_uri": "https://app.example/back",
    "response_type": "code",
    "duration": "permanent",
    "scope": "adsread,adsedit",
    "state": "s1",
}
# The documented example, word for word; ids of parents are put in by `create_example`.
CAMPAIGN: dict[str, Any] = {
    "name": "Autumn launch",
    "objective": "CLICKS",
    "configured_status": "PAUSED",
    "funding_instrument_id": "4711",
}
AD_GROUP: dict[str, Any] = {
    "name": "Autumn launch",
    "configured_status": "PAUSED",
    "conversion_pixel_id": "a2_pixel0001",
    "optimization_goal": "CLICKS",
    "bid_strategy": "MANUAL_BIDDING",
    "bid_type": "CPC",
    "bid_value": 4000000,
    "goal_type": "DAILY_SPEND",
    "goal_value": 25500000,
    "start_time": "2026-12-01T08:00:00Z",
    "end_time": "2026-12-20T08:00:00Z",
    "targeting": {
        "geolocations": ["US", "CA"],
        "communities": ["homeimprovement"],
        "locations": ["FEED", "COMMENTS_PAGE"],
    },
}
AD: dict[str, Any] = {"name": "Autumn launch", "configured_status": "PAUSED", "post_id": "t3_abc123"}


class Clock(calls.Clock):
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock, **consent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    headers = {"User-Agent": "server:demo-tea:1.0", "Accept": "application/json"}
    async with (
        sandbox(networks=[NETWORK], clock=clock) as running,
        httpx.AsyncClient(base_url=running.url, headers=headers) as web,
    ):
        await log_in(web, **consent)
        yield web


async def log_in(web: httpx.AsyncClient, **consent: str) -> dict[str, Any]:
    """A fresh access token for everything that follows, and the whole answer."""
    answer = await request_token(web, code=await get_code(web, **consent))
    assert answer.status_code == 200, answer.text
    web.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"
    tokens: dict[str, Any] = answer.json()
    return tokens


async def get_code(web: httpx.AsyncClient, **consent: str) -> str:
    """A fresh code."""
    return (await give_consent(web, CONSENT_PAGE, {**CONSENT, **consent}))["code"]


async def request_token(web: httpx.AsyncClient, app: tuple[str, str] = APP, **form: str) -> httpx.Response:
    """A code or a refresh token against tokens; what is given overrides the form."""
    if "code" in form:
        form = {"grant_type": "authorization_code", "redirect_uri": CONSENT["redirect_uri"], **form}
    elif "refresh_token" in form:
        form = {"grant_type": "refresh_token", **form}
    return await web.post(TOKEN, data=form, auth=app)


async def send(web: httpx.AsyncClient, method: str, path: str, data: Any, **query: Any) -> httpx.Response:
    """POST or PATCH of `{"data": ...}` without what is NOTHING."""
    if isinstance(data, dict):
        data = {name: value for name, value in data.items() if value is not NOTHING}
    return await web.request(method, f"{V3}/{path}", json={"data": data}, params=query)


def read_data(answer: httpx.Response, status: int = 200) -> dict[str, Any]:
    assert answer.status_code == status, answer.text
    data: dict[str, Any] = answer.json()["data"]
    return data


async def post(web: httpx.AsyncClient, kind: str, data: Any, account: str = NEW_YORK) -> httpx.Response:
    return await send(web, "POST", f"ad_accounts/{account}/{kind}", data)


async def create_entity(web: httpx.AsyncClient, kind: str, data: Any, account: str = NEW_YORK) -> str:
    return str((read_data(await post(web, kind, data, account), 201))["id"])


async def patch_entity(web: httpx.AsyncClient, kind: str, native_id: str, **change: Any) -> dict[str, Any]:
    return read_data(await send(web, "PATCH", f"{kind}/{native_id}", change))


async def create_example(web: httpx.AsyncClient, account: str = NEW_YORK, **group: Any) -> dict[str, str]:
    """The three steps of the documented example; `group` changes the second."""
    campaign = await create_entity(web, "campaigns", CAMPAIGN, account)
    ad_group = await create_entity(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign, **group}, account)
    ad = await create_entity(web, "ads", {**AD, "ad_group_id": ad_group}, account)
    return {"campaigns": campaign, "ad_groups": ad_group, "ads": ad}


def read_refusal(answer: httpx.Response, field: str) -> str:
    """The message of a 400 that names this field."""
    assert answer.status_code == 400, answer.text
    error = answer.json()["error"]
    assert (error["code"], error["message"], list(error)) == (400, "Bad Request", ["code", "message", "fields"])
    assert error["fields"][0]["field"] == field, answer.text
    return str(error["fields"][0]["message"])


def check_refusal(answer: httpx.Response, status: int) -> None:
    """A refusal without fields."""
    assert (answer.status_code, answer.json()["error"]["code"]) == (status, status), answer.text


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{V3}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def list_all_rows(web: httpx.AsyncClient, path: str, **query: Any) -> list[dict[str, Any]]:
    """All rows of all pages, by the addresses that the answers name."""
    page, rows = await read(web, path, **query), []
    while True:
        rows += page["data"]
        following = page["pagination"]["next_url"]
        if following is None:
            return rows
        assert following.startswith(f"{HOST}/api/v3/")
        answer = await web.get(following.replace("https:/", "", 1))
        assert answer.status_code == 200, answer.text
        page = answer.json()


inject_fault = partial(calls.inject_fault, NETWORK.code)
