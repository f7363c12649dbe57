"""What the tests of the simulated Snap Marketing API share: the documented examples, and a logged-in client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial
from typing import Any

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.snapchat import NETWORK

from . import calls
from .calls import give_consent, make_body

V1 = "/adsapi.snapchat.com/v1"
CONSENT_PAGE = "/accounts.snapchat.com/login/oauth2/authorize"
TOKEN = "/accounts.snapchat.com/login/oauth2/access_token"
CALLBACK = "https://app.example/back"
NEW_YORK, TOKYO, BERLIN, LONDON = (f"11111111-aaaa-4bbb-8ccc-00000000000{last}" for last in (1, 2, 3, 4))
CREATIVE = "44444444-aaaa-4bbb-8ccc-000000000004"
CONSENT = {
    "client_id": "sandbox-snapchat",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope": "snapchat-marketing-api",
    "state": "s1",
}
# The documented example, word for word; ids of parents are put in by `create_example`.
CAMPAIGN: dict[str, Any] = {
    "ad_account_id": NEW_YORK,
    "name": "Winter launch",
    "status": "PAUSED",
    "buy_model": "AUCTION",
    "start_time": "2026-12-01T08:00:00.000Z",
    "end_time": "2026-12-20T22:59:00.000Z",
    "objective_v2_properties": {"objective_v2_type": "AWARENESS_AND_ENGAGEMENT"},
}
AD_SQUAD: dict[str, Any] = {
    "campaign_id": "22222222-aaaa-4bbb-8ccc-000000000002",
    "name": "Winter launch",
    "type": "SNAP_ADS",
    "status": "PAUSED",
    "placement_v2": {"config": "AUTOMATIC"},
    "billing_event": "IMPRESSION",
    "optimization_goal": "IMPRESSIONS",
    "bid_strategy": "LOWEST_COST_WITH_MAX_BID",
    "bid_micro": 4250000,
    "lifetime_budget_micro": 900000000,
    "start_time": "2026-12-01T08:00:00.000Z",
    "end_time": "2026-12-20T22:59:00.000Z",
    "targeting": {"geos": [{"country_code": "gb"}]},
}
AD: dict[str, Any] = {
    "ad_squad_id": "33333333-aaaa-4bbb-8ccc-000000000003",
    "creative_id": CREATIVE,
    "name": "Winter launch",
    "type": "REMOTE_WEBPAGE",
    "status": "PAUSED",
}
READ_ONLY = (
    "created_at", "updated_at", "created_by_app_id", "created_by_user", "last_updated_by_app_id",
    "last_updated_by_user", "delivery_status", "review_status", "review_status_reasons", "review_status_details",
    "effective_status", "targeting_reach_status", "deleted", "render_type", "creation_state",
)  # fmt: skip
WORDS = {"campaigns": "campaign", "adsquads": "adsquad", "ads": "ad", "creatives": "creative"}


class Clock(calls.Clock):
    start = datetime(2026, 11, 21, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock, **consent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        await log_in(web, **consent)
        yield web


async def log_in(web: httpx.AsyncClient, **consent: str) -> None:
    """A fresh access token for everything that follows; the last one ends after an hour."""
    answer = await request_token(web, grant_type="authorization_code", code=await get_code(web, **consent))
    assert answer.status_code == 200, answer.text
    web.headers["Authorization"] = f"Bearer {answer.json()['access_token']}"


async def get_code(web: httpx.AsyncClient, **consent: str) -> str:
    """A fresh code."""
    return (await give_consent(web, CONSENT_PAGE, {**CONSENT, **consent}))["code"]


async def request_token(web: httpx.AsyncClient, **form: str) -> httpx.Response:
    if form.get("grant_type") == "authorization_code":
        form = {"redirect_uri": CALLBACK, **form}
    return await web.post(TOKEN, data={"client_id": "sandbox-snapchat", "client_secret": "sandbox-secret", **form})


async def write(
    web: httpx.AsyncClient, method: str, parent_path: str, word: str, *items: dict[str, Any]
) -> httpx.Response:
    """POST or PUT of `{word: items}` below `parent_path` (`adaccounts/<id>` and the like)."""
    return await web.request(method, f"{V1}/{parent_path}/{word}", json={word: list(items)})


def read_data(answer: httpx.Response) -> dict[str, Any]:
    """The one object of a write that succeeded."""
    assert answer.status_code == 200, answer.text
    content = answer.json()
    assert content["request_status"] == "SUCCESS", content
    word = next(name for name in WORDS if name in content)
    (item,) = content[word]
    assert item["sub_request_status"] == "SUCCESS"
    entity: dict[str, Any] = item[WORDS[word]]
    return entity


def read_failure(answer: httpx.Response, code: str = "E2002") -> str:
    """The reason of the one object of a write that failed inside a 200."""
    assert answer.status_code == 200, answer.text
    content = answer.json()
    assert content["request_status"] == "ERROR", content
    (item,) = next(content[word] for word in WORDS if word in content)
    assert item["sub_request_status"] == "ERROR"
    reason = str(item["sub_request_error_reason"])
    assert reason.startswith(f"Error code: {code}, message: "), reason
    return reason


def read_refusal(answer: httpx.Response, status: int, code: str) -> str:
    """The message of a request that was refused as a whole."""
    content = answer.json()
    assert (answer.status_code, content.get("error_code")) == (status, code), answer.text
    assert list(content) == ["request_status", "request_id", "debug_message", "display_message", "error_code"]
    return str(content["debug_message"])


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{V1}/{path}", params=query)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def read_entity(web: httpx.AsyncClient, word: str, native_id: str, **query: Any) -> dict[str, Any]:
    entity = (await read(web, f"{word}/{native_id}", **query))[word][0][WORDS[word]]
    return dict(entity)


async def read_writable_members(web: httpx.AsyncClient, word: str, native_id: str) -> dict[str, Any]:
    """What a PUT sends: the object as it was read, without what is read-only."""
    query = {"return_placement_v2": "true"} if word == "adsquads" else {}
    entity = await read_entity(web, word, native_id, **query)
    return {name: value for name, value in entity.items() if name not in READ_ONLY}


async def create_campaign(web: httpx.AsyncClient, account: str = NEW_YORK, **change: Any) -> str:
    body = make_body(CAMPAIGN, ad_account_id=account, **change)
    return str(read_data(await write(web, "POST", f"adaccounts/{account}", "campaigns", body))["id"])


async def create_ad_squad(web: httpx.AsyncClient, parent_id: str | None = None, **change: Any) -> str:
    parent_id = parent_id or await create_campaign(web)
    body = make_body(AD_SQUAD, campaign_id=parent_id, **change)
    return str(read_data(await write(web, "POST", f"campaigns/{parent_id}", "adsquads", body))["id"])


async def create_example(web: httpx.AsyncClient) -> dict[str, str]:
    """The three steps of the documented example."""
    ids = {"campaigns": await create_campaign(web)}
    ids["adsquads"] = await create_ad_squad(web, ids["campaigns"])
    body = make_body(AD, ad_squad_id=ids["adsquads"])
    ids["ads"] = read_data(await write(web, "POST", f"adsquads/{ids['adsquads']}", "ads", body))["id"]
    return ids


inject_fault = partial(calls.inject_fault, NETWORK.code)
