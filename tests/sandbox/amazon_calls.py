"""Calls to the simulated Amazon Ads network over real HTTP, and the documented examples as they stand."""

import gzip
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx

from adsunify.sandbox import sandbox
from adsunify.sandbox.networks.amazon import NETWORK

from . import calls

NA, EU, FE = "advertising-api.amazon.com", "advertising-api-eu.amazon.com", "advertising-api-fe.amazon.com"
SELLER, VENDOR, YEN = "3301234567890121", "3301234567890122", "9123456789012345"
PAGES = ("www.amazon.com/ap/oa", "eu.account.amazon.com/ap/oa", "apac.account.amazon.com/ap/oa")
TOKENS = ("api.amazon.com", "api.amazon.co.uk", "api.amazon.co.jp")
APP = {"client_id": "sandbox-amazon", "client_secret": "sandbox-secret"}
CONSENT = {
    "client_id": "sandbox-amazon",
    "scope": "advertising::campaign_management",
    "response_type": "code",
    "redirect_uri": "https://app.example/callback",
    "state": "st",
}
MEDIA = {
    "campaigns": "application/vnd.spCampaign.v3+json",
    "adGroups": "application/vnd.spAdGroup.v3+json",
    "productAds": "application/vnd.spProductAd.v3+json",
    "keywords": "application/vnd.spKeyword.v3+json",
    "portfolios": "application/vnd.spPortfolio.v3+json",
    "usage": "application/vnd.spcampaignbudgetusage.v1+json",
}
ID = {"campaigns": "campaignId", "adGroups": "adGroupId", "productAds": "adId", "keywords": "keywordId"}
REPORT_MEDIA = {"Content-Type": "application/vnd.createasyncreportrequest.v3+json"}

# the four documented steps, word for word
CAMPAIGN = {
    "name": "Autumn launch",
    "targetingType": "MANUAL",
    "state": "PAUSED",
    "budget": {"budgetType": "DAILY", "budget": 35.5},
    "startDate": "2026-12-01",
    "endDate": "2026-12-20",
    "dynamicBidding": {"strategy": "LEGACY_FOR_SALES", "placementBidding": []},
}
AD_GROUP = {"name": "Autumn launch", "state": "PAUSED", "defaultBid": 0.75}
PRODUCT_AD = {"state": "PAUSED", "sku": "SELLER-SKU-1"}
KEYWORD = {"state": "PAUSED", "keywordText": "camping stove", "matchType": "EXACT", "bid": 0.75}
REPORT: dict[str, Any] = {  # the documentation, word for word
    "name": "insights 2026-11-01..2026-11-15",
    "startDate": "2026-11-01",
    "endDate": "2026-11-15",
    "configuration": {
        "adProduct": "SPONSORED_PRODUCTS",
        "reportTypeId": "spCampaigns",
        "groupBy": ["campaign"],
        "timeUnit": "DAILY",
        "format": "GZIP_JSON",
        "columns": ["date", "campaignId", "campaignName", "campaignStatus", "impressions", "clicks", "cost",
                    "purchases7d", "sales7d", "purchases14d", "sales14d"],
    },
}  # fmt: skip


class Clock(calls.Clock):
    start = datetime(2026, 11, 20, 12, tzinfo=UTC)


class Amazon:
    """A connected client."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def call(
        self, method: str, path: str, body: Any = None, *, host: str = NA, profile: str | None = SELLER, **headers: str
    ) -> httpx.Response:
        header_fields = {name.replace("_", "-"): value for name, value in headers.items()}
        if profile is not None:
            header_fields["Amazon-Advertising-API-Scope"] = profile
        content = None if body is None else body if isinstance(body, str) else json.dumps(body)
        return await self.http.request(method, f"/{host}{path}", content=content, headers=header_fields)

    async def call_sp(
        self,
        method: str,
        path: str,
        body: Any,
        media: str | None = None,
        host: str = NA,
        profile: str = SELLER,
        **more: str,
    ) -> httpx.Response:
        """A call with the vendor media type both ways."""
        kind = MEDIA[media or urlsplit(path).path.split("/")[2]]
        return await self.call(method, path, body, host=host, profile=profile, Content_Type=kind, Accept=kind, **more)

    async def write(self, method: str, collection: str, *items: Any, **more: str) -> dict[str, Any]:
        answer = await self.call_sp(method, f"/sp/{collection}", {collection: list(items)}, **more)
        assert answer.status_code == 207, answer.text
        assert answer.headers["Content-Type"] == MEDIA[collection]
        outcome: dict[str, Any] = answer.json()[collection]
        return outcome

    async def create_entity(self, collection: str, item: Any, **more: str) -> str:
        """The id of one created entity."""
        outcome = await self.write("POST", collection, item, **more)
        assert outcome["error"] == []
        assert outcome["success"][0]["index"] == 0
        entity_id = outcome["success"][0][ID[collection]]
        assert isinstance(entity_id, str)
        return entity_id

    async def get_refusal(self, method: str, collection: str, item: Any, **more: str) -> tuple[str, str, str]:
        """Error type, reason and place of one refused item, in the documented shape."""
        outcome = await self.write(method, collection, item, **more)
        assert outcome["success"] == []
        return read_reason(outcome["error"][0])

    async def list_entities(self, collection: str, body: Any, **more: str) -> dict[str, Any]:
        answer = await self.call_sp("POST", f"/sp/{collection}/list", body, **more)
        assert answer.status_code == 200, answer.text
        page: dict[str, Any] = json.loads(answer.text, parse_float=Decimal)
        return page

    async def read_entity(self, collection: str, entity_id: str, **more: str) -> dict[str, Any]:
        """List with the id filter and all three states."""
        states = {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}
        body = {f"{ID[collection]}Filter": {"include": [entity_id]}, "stateFilter": states}
        entity: dict[str, Any] = (await self.list_entities(collection, body, **more))[collection][0]
        return entity

    async def list_writes(self) -> list[tuple[str, str, str]]:
        rows = (await self.http.get("/_sandbox/writes?network=amazon")).json()["writes"]
        return [(row["method"], row["kind"], row["id"]) for row in rows]

    async def inject_fault(self, fault: str, **more: Any) -> None:
        answer = await self.http.post("/_sandbox/faults", json={"network": "amazon", "fault": fault, **more})
        assert answer.status_code == 200

    async def request_report(self, request: Any = REPORT, **more: str) -> httpx.Response:
        return await self.call("POST", "/reporting/reports", request, **REPORT_MEDIA, **more)

    async def fetch_report_rows(self, request: Any, **more: str) -> list[dict[str, Any]]:
        """Create, look three times, download."""
        job = (await self.request_report(request, **more)).json()["reportId"]
        for _ in range(3):
            report = (await self.call("GET", f"/reporting/reports/{job}", **more)).json()
        return unpack_rows((await self.download(report["url"])).content)

    async def download(self, url: str, **headers: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.http.base_url) as stranger:
            return await stranger.get("/" + url.removeprefix("https://"), headers=headers)


def read_reason(failed: Any) -> tuple[str, str, str]:
    [error] = failed["errors"]
    [(name, value)] = error["errorValue"].items()
    assert error["errorType"] == name
    assert value["message"]
    return name, value["reason"], value["cause"]["location"]


def unpack_rows(content: bytes) -> list[dict[str, Any]]:
    assert content[:2] == b"\x1f\x8b"
    rows: list[dict[str, Any]] = json.loads(gzip.decompress(content), parse_float=Decimal)
    return rows


async def get_code(http: httpx.AsyncClient, page: str = PAGES[0], **more: str) -> str:
    answer = await http.post(f"/{page}", params={**CONSENT, **more})
    assert answer.status_code == 302
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert query["state"] == ["st"]
    return query["code"][0]


async def redeem_code(http: httpx.AsyncClient, code: str, host: str = TOKENS[0], **more: str) -> httpx.Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CONSENT["redirect_uri"], **APP, **more}
    return await http.post(f"/{host}/auth/o2/token", data=form)


async def log_in(amazon: Amazon) -> None:
    """A fresh token, after the clock has moved."""
    tokens = (await redeem_code(amazon.http, await get_code(amazon.http))).json()
    amazon.http.headers["Authorization"] = f"Bearer {tokens['access_token']}"


def make_budget(amount: Any, **more: Any) -> dict[str, Any]:
    return {"budget": {"budgetType": "DAILY", "budget": amount, **more}}


@asynccontextmanager
async def open_client(clock: Clock) -> AsyncIterator[Amazon]:
    """A sandbox with this network alone, and a client that has consented."""
    async with sandbox(networks=[NETWORK], clock=clock) as running, httpx.AsyncClient(base_url=running.url) as http:
        amazon = Amazon(http)
        await log_in(amazon)
        http.headers["Amazon-Advertising-API-ClientId"] = "sandbox-amazon"
        yield amazon


async def create_parents(amazon: Amazon, campaign: str) -> dict[str, str]:
    """Parent keys of an ad or keyword: the campaign and a new ad group in it."""
    return {
        "campaignId": campaign,
        "adGroupId": await amazon.create_entity("adGroups", {**AD_GROUP, "campaignId": campaign}),
    }


async def check_eligibility(amazon: Amazon, **product: str) -> httpx.Response:
    body = {"adType": "sp", "productDetailsList": [product]}
    return await amazon.call("POST", "/eligibility/product/list", body, Content_Type="application/json")


async def get_metadata(amazon: Amazon, body: Any, **more: str) -> httpx.Response:
    media = "application/vnd.productmetadata{}.v1+json"
    headers = {"Content_Type": media.format("request"), "Accept": media.format("response"), **more}
    return await amazon.call("POST", "/product/metadata", body, **headers)
