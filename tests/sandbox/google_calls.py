"""Calls of the simulated Google Ads API over real HTTP, for its tests, and the create example of the documentation."""

import copy
import json
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlencode, urlsplit

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.network import Network
from adsunify.sandbox.networks.google import NETWORK

from . import calls

ADS, ACCOUNTS_HOST, TOKENS = "/googleads.googleapis.com/v26", "/accounts.google.com", "/oauth2.googleapis.com"
MANAGER, US, JAPAN, DIRECT, CLOSED = "5550001110", "5550001111", "5550001112", "5550002221", "5550003331"
APP = {"client_id": "sandbox-google", "client_secret": "sandbox-secret"}
CONSENT = {
    "client_id": "sandbox-google", "redirect_uri": "http://127.0.0.1:9/callback", "response_type": "code",
    "scope": "https://www.googleapis.com/auth/adwords", "access_type": "offline", "prompt": "consent", "state": "s1",
}  # fmt: skip
EU = "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"
SPECS = os.environ.get("ADSUNIFY_SPECS")
SPEC = json.loads((Path(SPECS) / "google/google-ads-v26.json").read_text()) if SPECS else None

# the documentation, word for word
CREATE = json.loads("""
{"partialFailure": false, "validateOnly": false, "mutateOperations": [
 {"campaignBudgetOperation": {"create": {
   "resourceName": "customers/5550001111/campaignBudgets/-1",
   "amountMicros": "12340000", "deliveryMethod": "STANDARD", "explicitlyShared": false}}},
 {"campaignOperation": {"create": {
   "resourceName": "customers/5550001111/campaigns/-2",
   "name": "Garden chairs autumn", "status": "PAUSED", "advertisingChannelType": "SEARCH",
   "campaignBudget": "customers/5550001111/campaignBudgets/-1",
   "manualCpc": {},
   "networkSettings": {"targetGoogleSearch": true, "targetSearchNetwork": false, "targetContentNetwork": false,
     "targetPartnerSearchNetwork": false},
   "geoTargetTypeSetting": {"positiveGeoTargetType": "PRESENCE"},
   "startDateTime": "2027-03-01 00:00:00", "endDateTime": "2027-03-31 23:59:59",
   "containsEuPoliticalAdvertising": "DOES_NOT_CONTAIN_EU_POLITICAL_ADVERTISING"}}},
 {"campaignCriterionOperation": {"create": {
   "campaign": "customers/5550001111/campaigns/-2",
   "location": {"geoTargetConstant": "geoTargetConstants/2578"}}}},
 {"adGroupOperation": {"create": {
   "resourceName": "customers/5550001111/adGroups/-3",
   "campaign": "customers/5550001111/campaigns/-2",
   "name": "Garden chairs autumn", "type": "SEARCH_STANDARD", "status": "PAUSED", "cpcBidMicros": "850000"}}},
 {"adGroupCriterionOperation": {"create": {
   "adGroup": "customers/5550001111/adGroups/-3", "status": "PAUSED",
   "keyword": {"text": "folding garden chair", "matchType": "PHRASE"}}}},
 {"adGroupAdOperation": {"create": {
   "adGroup": "customers/5550001111/adGroups/-3", "status": "PAUSED",
   "ad": {"finalUrls": ["https://shop.example/chairs"],
     "responsiveSearchAd": {
       "headlines": [{"text": "Folding Garden Chairs"}, {"text": "Built For Rain"}, {"text": "Free Delivery"}],
       "descriptions": [{"text": "Light, strong and easy to store."},
         {"text": "Order today, sit down on Friday."}]}}}}}
]}""")
BUDGET, CAMPAIGN, CRITERION, GROUP, KEYWORD, AD = range(6)


class Clock(calls.Clock):
    start = datetime(2027, 2, 10, 12, tzinfo=UTC)


@asynccontextmanager
async def open_client(clock: Clock, simulated: Network = NETWORK) -> AsyncIterator[httpx.AsyncClient]:
    """A client of a sandbox of its own, logged in, that reaches the manager's clients."""
    async with (
        sandbox(networks=[simulated], clock=clock) as running,
        httpx.AsyncClient(base_url=running.url) as web,
    ):
        await log_in(web)
        yield web


async def get_code(web: httpx.AsyncClient, **more: str) -> str:
    """Consent, by the form's one button; the code that comes back."""
    path = f"{ACCOUNTS_HOST}/o/oauth2/v2/auth?{urlencode({**CONSENT, **more})}"
    page = await web.get(path)
    assert page.status_code == 200, page.text
    redirect = await web.post(path)
    assert redirect.status_code == 302
    callback = parse_qs(urlsplit(redirect.headers["Location"]).query)
    assert callback["state"] == ["s1"]
    return callback["code"][0]


async def redeem_code(web: httpx.AsyncClient, **more: str) -> httpx.Response:
    form = {"grant_type": "authorization_code", "redirect_uri": CONSENT["redirect_uri"], **APP, **more}
    return await web.post(f"{TOKENS}/token", data=form)


async def log_in(web: httpx.AsyncClient) -> dict[str, Any]:
    tokens: dict[str, Any] = (await redeem_code(web, code=await get_code(web))).json()
    web.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    web.headers["login-customer-id"] = MANAGER
    return tokens


async def mutate(web: httpx.AsyncClient, *operations: Any, customer: str = US, **more: Any) -> httpx.Response:
    body = {"mutateOperations": list(operations), **more}
    return await web.post(f"{ADS}/customers/{customer}/googleAds:mutate", json=body)


async def search(web: httpx.AsyncClient, query: str, customer: str = US, **more: Any) -> httpx.Response:
    return await web.post(f"{ADS}/customers/{customer}/googleAds:search", json={"query": query, **more})


async def search_rows(web: httpx.AsyncClient, query: str, customer: str = US) -> list[dict[str, Any]]:
    answer = await search(web, query, customer)
    assert answer.status_code == 200, answer.text
    results: list[dict[str, Any]] = answer.json().get("results", [])
    return results


async def list_writes(web: httpx.AsyncClient) -> list[dict[str, str]]:
    logged: list[dict[str, str]] = (await web.get("/_sandbox/writes")).json()["writes"]
    return logged


def read_resource_names(answer: httpx.Response) -> list[str]:
    """The resource name of every result."""
    assert answer.status_code == 200, answer.text
    return [next(iter(result.values()))["resourceName"] for result in answer.json()["mutateOperationResponses"]]


def read_refusal(answer: httpx.Response) -> dict[str, Any]:
    """The one GoogleAdsError of an error answer; its shape and its code are checked."""
    error = answer.json()["error"]
    assert error["code"] == answer.status_code
    (detail,) = error["details"]
    assert detail["@type"] == "type.googleapis.com/google.ads.googleads.v26.errors.GoogleAdsFailure"
    assert detail["requestId"] == answer.headers["request-id"]
    (native_error,) = detail["errors"]
    ((category, name),) = native_error["errorCode"].items()
    assert SPEC is None or name in SPEC["errorCodes"][category]
    return {"code": f"{category}.{name}", "status": error["status"], **native_error}


def change_example(index: int, **members: Any) -> dict[str, Any]:
    """The documented create with other members in the created resource of one operation; None takes one away."""
    body = copy.deepcopy(CREATE)
    created = next(iter(body["mutateOperations"][index].values()))["create"]
    for name, value in members.items():
        created[name] = value
        if value is None:
            del created[name]
    return body


async def send(web: httpx.AsyncClient, body: Any, customer: str = US) -> httpx.Response:
    return await web.post(f"{ADS}/customers/{customer}/googleAds:mutate", json=body)


def get_ids(names: list[str]) -> list[str]:
    return [name.rpartition("/")[2] for name in names]


def make_update(kind: str, resource: str, mask: str | None, /, **members: Any) -> dict[str, Any]:
    """One update operation."""
    operation: dict[str, Any] = {"update": {"resourceName": resource, **members}}
    return {f"{kind}Operation": operation if mask is None else {"updateMask": mask, **operation}}


def make_texts(*texts: str) -> list[dict[str, str]]:
    """Texts of an ad."""
    return [{"text": text} for text in texts]
