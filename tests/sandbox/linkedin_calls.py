"""What the tests of the simulated LinkedIn API share: the documented examples, and a logged-in client."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from typing import Any
from urllib.parse import quote, unquote

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.linkedin import NETWORK

from . import calls
from .calls import give_consent, make_body

REST = "/api.linkedin.com/rest"
OAUTH = "/www.linkedin.com/oauth/v2"
CALLBACK = "https://app.example/back"
APP = {"client_id": "sandbox-linkedin", "client_secret": "sandbox-secret"}
US_ACCOUNT, TOKYO, ENTERPRISE, VIEWED = "518121035", "518121036", "518121037", "518121038"
CONSENT = {
    "client_id": "sandbox-linkedin",
    "redirect_uri": CALLBACK,
    "response_type": "code",
    "scope": "rw_ads r_ads_reporting r_organization_social",
    "state": "s1",
}
HEADERS = {"LinkedIn-Version": "202609", "X-Restli-Protocol-Version": "2.0.0"}
PARTIAL_UPDATE = {"X-RestLi-Method": "PARTIAL_UPDATE"}
FINDER = {"X-RestLi-Method": "FINDER"}
LOCATIONS = "urn:li:adTargetingFacet:locations"
TARGETING: dict[str, Any] = {
    "include": {
        "and": [
            {"or": {LOCATIONS: ["urn:li:geo:103644278"]}},
            {"or": {"urn:li:adTargetingFacet:interfaceLocales": ["urn:li:locale:en_US"]}},
        ]
    }
}
# The documented examples, word for word.
GROUP: dict[str, Any] = {
    "account": "urn:li:sponsoredAccount:518121035",
    "name": "Autumn webinar",
    "status": "ACTIVE",
    "runSchedule": {"start": 1793520000000, "end": 1794729600000},
}
CAMPAIGN: dict[str, Any] = {
    "account": "urn:li:sponsoredAccount:518121035",
    "campaignGroup": "urn:li:sponsoredCampaignGroup:7021",
    "name": "Autumn webinar",
    "type": "SPONSORED_UPDATES",
    "status": "PAUSED",
    "objectiveType": "WEBSITE_VISIT",
    "optimizationTargetType": "NONE",
    "costType": "CPC",
    "unitCost": {"amount": "4.50", "currencyCode": "USD"},
    "dailyBudget": {"amount": "40", "currencyCode": "USD"},
    "associatedEntity": "urn:li:organization:7700123",
    "locale": {"country": "US", "language": "en"},
    "runSchedule": {"start": 1793520000000, "end": 1794729600000},
    "creativeSelection": "OPTIMIZED",
    "audienceExpansionEnabled": False,
    "offsiteDeliveryEnabled": False,
    "politicalIntent": "NOT_POLITICAL",
    "targetingCriteria": TARGETING,
}
CREATIVE: dict[str, Any] = {
    "campaign": "urn:li:sponsoredCampaign:7022",
    "content": {"reference": "urn:li:share:6850000000000000001"},
    "intendedStatus": "DRAFT",
    "name": "Autumn webinar",
}
EVERY = "search=(status:(values:List(ACTIVE,PAUSED,DRAFT)))"


class Clock(calls.Clock):
    start = datetime(2026, 10, 31, 12, 0, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock, **consent: str) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in to a sandbox of its own."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as web:
        answer = await request_token(web, code=await get_code(web, **consent))
        assert answer.status_code == 200, answer.text
        web.headers.update({"Authorization": f"Bearer {answer.json()['access_token']}", **HEADERS})
        yield web


async def get_code(web: httpx.AsyncClient, **consent: str) -> str:
    """A fresh code."""
    return (await give_consent(web, f"{OAUTH}/authorization", {**CONSENT, **consent}))["code"]


async def post_form(web: httpx.AsyncClient, path: str, **members: str) -> httpx.Response:
    """A call of the log-in host: there is no Authorization header on these."""
    request = web.build_request("POST", f"{OAUTH}/{path}", data={**APP, **members})
    request.headers.pop("Authorization", None)
    return await web.send(request)


async def request_token(web: httpx.AsyncClient, **members: str) -> httpx.Response:
    if "refresh_token" in members:
        return await post_form(web, "accessToken", grant_type="refresh_token", **members)
    return await post_form(
        web, "accessToken", **{"grant_type": "authorization_code", "redirect_uri": CALLBACK, **members}
    )  # fmt: skip


def build_url(what: str, account: str = US_ACCOUNT) -> str:
    return f"{REST}/adAccounts/{account}/{what}"


async def post(
    web: httpx.AsyncClient, what: str, body: Any, account: str = US_ACCOUNT, **headers: str
) -> httpx.Response:
    return await web.post(build_url(what, account), json=body, headers=headers)


def read_created_id(answer: httpx.Response) -> str:
    """The id of what was created: it stands in a header, and there is no body."""
    assert answer.status_code == 201, (answer.text, answer.request.content)
    assert answer.content == b""
    return unquote(answer.headers["x-restli-id"])


async def change(
    web: httpx.AsyncClient, where: str, *, within: str = US_ACCOUNT, delete: list[str] | None = None, **to: Any
) -> httpx.Response:
    """PARTIAL_UPDATE of `adCampaigns/1`, or of a creative by its URN."""
    collection, _, key = where.partition("/")
    patch = {**({"$set": to} if to else {}), **({"$delete": delete} if delete else {})}
    path = build_url(f"{collection}/{quote(key, safe='')}", within)
    return await web.post(path, json={"patch": patch}, headers=PARTIAL_UPDATE)


def check_success(answer: httpx.Response) -> None:
    assert (answer.status_code, answer.content) == (204, b""), answer.text


def read_refusal(answer: httpx.Response, status: int, code: str) -> str:
    """The message of a refusal."""
    assert (answer.status_code, answer.json().get("code")) == (status, code), (answer.text, answer.request.content)
    assert answer.json()["status"] == status
    return str(answer.json()["message"])


async def read(web: httpx.AsyncClient, path: str, **headers: str) -> Any:
    answer = await web.get(f"{REST}/{path}", headers=headers)
    assert answer.status_code == 200, answer.text
    return answer.json()


async def read_entity(web: httpx.AsyncClient, where: str, account: str = US_ACCOUNT) -> Any:
    collection, _, key = where.partition("/")
    return await read(web, f"adAccounts/{account}/{collection}/{quote(key, safe='')}")


async def create_example(web: httpx.AsyncClient, **campaign: Any) -> dict[str, str]:
    """The three steps of the documented example: where each of them is."""
    group = read_created_id(await post(web, "adCampaignGroups", GROUP))
    parent = f"urn:li:sponsoredCampaignGroup:{group}"
    campaign_id = read_created_id(await post(web, "adCampaigns", make_body(CAMPAIGN, campaignGroup=parent, **campaign)))
    body = make_body(CREATIVE, campaign=f"urn:li:sponsoredCampaign:{campaign_id}")
    creative = read_created_id(await post(web, "creatives", body))
    return {
        "group": f"adCampaignGroups/{group}",
        "campaign": f"adCampaigns/{campaign_id}",
        "creative": f"creatives/{creative}",
    }


async def activate_example(web: httpx.AsyncClient, example: dict[str, str]) -> None:
    """Leaf to root."""
    check_success(await change(web, example["creative"], intendedStatus="ACTIVE"))
    check_success(await change(web, example["campaign"], status="ACTIVE"))
    check_success(await change(web, example["group"], status="ACTIVE"))


async def inject_fault(web: httpx.AsyncClient, **fault: Any) -> None:
    assert (await web.post("/_sandbox/faults", json={"network": "linkedin", **fault})).status_code == 200
