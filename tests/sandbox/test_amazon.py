"""The simulated Amazon Ads network over real HTTP: the sheet's examples as they stand, and every rule it refuses by."""

import base64
import gzip
import hashlib
import json
import os
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from jsonschema import Draft202012Validator

from adsunify.sandbox import Running, sandbox
from adsunify.sandbox.networks.amazon import NETWORK
from adsunify.sandbox.networks.amazon.columns import REPORT_TYPES
from adsunify.sandbox.networks.amazon.tables import MARKETPLACES

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

# the sheet's four steps, word for word (section 5)
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
REPORT: dict[str, Any] = {  # section 12, word for word
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


class Clock:
    """The only thing that is not real here."""

    def __init__(self) -> None:
        self.instant = datetime(2026, 11, 20, 12, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.instant


class Amazon:
    """A connected client."""

    def __init__(self, http: httpx.AsyncClient) -> None:
        self.http = http

    async def call(
        self, method: str, path: str, body: Any = None, *, host: str = NA, profile: str | None = SELLER, **headers: str
    ) -> httpx.Response:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        if profile is not None:
            named["Amazon-Advertising-API-Scope"] = profile
        content = None if body is None else body if isinstance(body, str) else json.dumps(body)
        return await self.http.request(method, f"/{host}{path}", content=content, headers=named)

    async def sp(
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
        answer = await self.sp(method, f"/sp/{collection}", {collection: list(items)}, **more)
        assert answer.status_code == 207, answer.text
        assert answer.headers["Content-Type"] == MEDIA[collection]
        found: dict[str, Any] = answer.json()[collection]
        return found

    async def made(self, collection: str, item: Any, **more: str) -> str:
        """The id of one created entity."""
        outcome = await self.write("POST", collection, item, **more)
        assert outcome["error"] == []
        assert outcome["success"][0]["index"] == 0
        entity_id = outcome["success"][0][ID[collection]]
        assert isinstance(entity_id, str)
        return entity_id

    async def refused(self, method: str, collection: str, item: Any, **more: str) -> tuple[str, str, str]:
        """Error type, reason and place of one refused item, in the shape of section 15."""
        outcome = await self.write(method, collection, item, **more)
        assert outcome["success"] == []
        return reason_of(outcome["error"][0])

    async def listed(self, collection: str, body: Any, **more: str) -> dict[str, Any]:
        answer = await self.sp("POST", f"/sp/{collection}/list", body, **more)
        assert answer.status_code == 200, answer.text
        found: dict[str, Any] = json.loads(answer.text, parse_float=Decimal)
        return found

    async def one(self, collection: str, entity_id: str, **more: str) -> dict[str, Any]:
        """Section 11: list with the id filter and all three states."""
        states = {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}
        body = {f"{ID[collection]}Filter": {"include": [entity_id]}, "stateFilter": states}
        found: dict[str, Any] = (await self.listed(collection, body, **more))[collection][0]
        return found

    async def writes(self) -> list[tuple[str, str, str]]:
        rows = (await self.http.get("/_sandbox/writes?network=amazon")).json()["writes"]
        return [(row["method"], row["kind"], row["id"]) for row in rows]

    async def fault(self, fault: str, **more: Any) -> None:
        told = await self.http.post("/_sandbox/faults", json={"network": "amazon", "fault": fault, **more})
        assert told.status_code == 200

    async def report(self, request: Any = REPORT, **more: str) -> httpx.Response:
        return await self.call("POST", "/reporting/reports", request, **REPORT_MEDIA, **more)

    async def rows(self, request: Any, **more: str) -> list[dict[str, Any]]:
        """Create, look three times, download."""
        job = (await self.report(request, **more)).json()["reportId"]
        for _ in range(3):
            seen = (await self.call("GET", f"/reporting/reports/{job}", **more)).json()
        return unpacked((await self.download(seen["url"])).content)

    async def download(self, url: str, **headers: str) -> httpx.Response:
        async with httpx.AsyncClient(base_url=self.http.base_url) as stranger:
            return await stranger.get("/" + url.removeprefix("https://"), headers=headers)


def reason_of(failed: Any) -> tuple[str, str, str]:
    [error] = failed["errors"]
    [(name, value)] = error["errorValue"].items()
    assert error["errorType"] == name
    assert value["message"]
    return name, value["reason"], value["cause"]["location"]


def unpacked(content: bytes) -> list[dict[str, Any]]:
    assert content[:2] == b"\x1f\x8b"
    rows: list[dict[str, Any]] = json.loads(gzip.decompress(content), parse_float=Decimal)
    return rows


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def running(clock: Clock) -> AsyncIterator[Running]:
    async with sandbox(networks=[NETWORK], clock=clock) as running:
        yield running


@pytest.fixture
async def http(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    async with httpx.AsyncClient(base_url=running.url) as http:
        yield http


async def consent(http: httpx.AsyncClient, page: str = PAGES[0], **more: str) -> str:
    answer = await http.post(f"/{page}", params={**CONSENT, **more})
    assert answer.status_code == 302
    query = parse_qs(urlsplit(answer.headers["Location"]).query)
    assert query["state"] == ["st"]
    return query["code"][0]


async def redeem(http: httpx.AsyncClient, code: str, host: str = TOKENS[0], **more: str) -> httpx.Response:
    form = {"grant_type": "authorization_code", "code": code, "redirect_uri": CONSENT["redirect_uri"], **APP, **more}
    return await http.post(f"/{host}/auth/o2/token", data=form)


@pytest.fixture
async def amazon(http: httpx.AsyncClient) -> Amazon:
    tokens = (await redeem(http, await consent(http))).json()
    http.headers["Authorization"] = f"Bearer {tokens['access_token']}"
    http.headers["Amazon-Advertising-API-ClientId"] = "sandbox-amazon"
    return Amazon(http)


@pytest.fixture
async def campaign(amazon: Amazon) -> str:
    return await amazon.made("campaigns", CAMPAIGN)


@pytest.fixture
async def parents(amazon: Amazon, campaign: str) -> dict[str, str]:
    """Parent keys of an ad or keyword."""
    return {"campaignId": campaign, "adGroupId": await amazon.made("adGroups", {**AD_GROUP, "campaignId": campaign})}


# ---- connecting -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("host", TOKENS)
async def test_codes_of_every_page_are_redeemed_at_every_token_host(
    http: httpx.AsyncClient, page: str, host: str
) -> None:
    assert "<form" in (await http.get(f"/{page}", params=CONSENT)).text
    tokens = await redeem(http, await consent(http, page), host)
    assert tokens.status_code == 200
    body = tokens.json()
    assert body["access_token"].startswith("Atza|")
    assert body["refresh_token"].startswith("Atzr|")
    assert (body["token_type"], body["expires_in"]) == ("bearer", 3600)
    form = {"grant_type": "refresh_token", "refresh_token": body["refresh_token"], **APP}
    again = (await http.post(f"/{host}/auth/o2/token", data=form)).json()
    assert again["refresh_token"] == body["refresh_token"]
    assert again["access_token"] != body["access_token"]


async def test_proof_keys_are_checked(http: httpx.AsyncClient) -> None:
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    asked = {"code_challenge": challenge, "code_challenge_method": "S256"}
    assert (await redeem(http, await consent(http, **asked), code_verifier=verifier)).status_code == 200
    wrong = await redeem(http, await consent(http, **asked), code_verifier="w" * 43)
    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
    assert (await redeem(http, await consent(http, **asked))).json()["error"] == "invalid_grant"


async def test_refused_consents_and_tokens(http: httpx.AsyncClient, clock: Clock) -> None:
    for wrong in ({"scope": "other"}, {"client_id": "x"}, {"response_type": "token"}, {"redirect_uri": "http://a.b"}):
        assert (await http.post(f"/{PAGES[0]}", params={**CONSENT, **wrong})).status_code == 400
    code = await consent(http)
    assert (await redeem(http, code, client_secret="no")).json()["error"] == "invalid_client"
    assert (await redeem(http, code, redirect_uri="https://other.example")).json()["error"] == "invalid_grant"
    assert (await redeem(http, code, grant_type="password")).json()["error"] == "unsupported_grant_type"
    assert (await redeem(http, code, surplus="x")).json()["error"] == "invalid_request"
    assert (await redeem(http, code)).status_code == 200
    assert set((await redeem(http, code)).json()) == {"error", "error_description"}  # single use
    late = await consent(http)
    clock.instant += timedelta(minutes=5)
    assert (await redeem(http, late)).json()["error"] == "invalid_grant"


async def test_required_headers(amazon: Amazon, clock: Clock) -> None:
    path, body = "/sp/campaigns/list", dict[str, Any]()
    for header in ("Authorization", "Amazon-Advertising-API-ClientId"):
        kept = amazon.http.headers.pop(header)
        answer = await amazon.sp("POST", path, body)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHORIZED")
        assert (await amazon.call("GET", "/v2/profiles", profile=None)).json()["code"] == "401"
        amazon.http.headers[header] = kept
    bare = amazon.http.headers["Authorization"].replace("Atza|", "")
    assert (await amazon.sp("POST", path, body, Authorization=bare)).status_code == 401
    assert (await amazon.sp("POST", path, body, Amazon_Advertising_API_ClientId="another")).status_code == 401
    missing = await amazon.call("POST", path, body, profile=None, Content_Type=MEDIA["campaigns"])
    assert missing.status_code == 401
    clock.instant += timedelta(hours=1)
    expired = await amazon.sp("POST", path, body)
    assert (expired.status_code, set(expired.json())) == (401, {"code", "message"})


async def test_profiles_stand_at_the_host_of_their_region(amazon: Amazon) -> None:
    expected = {
        NA: (3301234567890121, "US", "USD", "America/Los_Angeles", "seller"),
        EU: (3301234567890122, "DE", "EUR", "Europe/Paris", "vendor"),
        FE: (9123456789012345, "JP", "JPY", "Asia/Tokyo", "seller"),
    }
    for host, wanted in expected.items():
        answer = await amazon.call("GET", "/v2/profiles?profileTypeFilter=seller,vendor", host=host, profile=None)
        [found] = answer.json()
        named = (found["profileId"], found["countryCode"], found["currencyCode"], found["timezone"])
        assert (*named, found["accountInfo"]["type"]) == wanted
        assert ("name" in found["accountInfo"]) == (host != FE)
        assert ("validPaymentMethod" in found["accountInfo"]) == (host == EU)
        one = await amazon.call("GET", f"/v2/profiles/{wanted[0]}", host=host, profile=None)
        assert one.json() == found
        for other in {NA, EU, FE} - {host}:
            assert (await amazon.call("GET", f"/v2/profiles/{wanted[0]}", host=other, profile=None)).status_code == 404
            refused = await amazon.sp("POST", "/sp/campaigns/list", {}, host=other, profile=str(wanted[0]))
            assert (refused.status_code, refused.json()["message"]) == (401, "Not authorized to access scope")
    unknown = await amazon.sp("POST", "/sp/campaigns/list", {}, profile="1")
    assert (unknown.status_code, unknown.json()["message"]) == (401, "No matching advertiser found for scope")
    assert (await amazon.call("GET", "/v2/profiles?profileTypeFilter=agency", profile=None)).json() == []
    assert (await amazon.call("GET", "/v2/profiles?validPaymentMethodFilter=false", profile=None)).json() == []
    assert (await amazon.call("GET", "/v2/profiles?profileTypeFilter=buyer", profile=None)).status_code == 400
    assert (await amazon.call("GET", "/v2/profiles")).status_code == 400  # no Scope header here


# ---- media types and request-level refusals -------------------------------------------------------------------------


@pytest.mark.parametrize("collection", list(ID))
async def test_media_types_are_required_both_ways(amazon: Amazon, collection: str) -> None:
    media, plain = MEDIA[collection], "application/json"
    for method, path in (("POST", ""), ("PUT", ""), ("POST", "/list"), ("POST", "/delete")):
        where = f"/sp/{collection}{path}"
        wrong = await amazon.call(method, where, {}, Content_Type=plain, Accept=media)
        assert (wrong.status_code, wrong.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert (await amazon.call(method, where, {}, Content_Type=media, Accept=plain)).status_code == 406
        assert (await amazon.call(method, where, {}, Content_Type=media, Accept="*/*")).status_code == 406
    other = next(one for name, one in MEDIA.items() if name != collection)
    assert (await amazon.call("POST", f"/sp/{collection}", {}, Content_Type=other, Accept=other)).status_code == 415


@pytest.mark.parametrize(
    "body",
    [
        "{",
        "[]",
        {},
        {"campaigns": {}},
        {"campaign": []},
        {"campaigns": [{**CAMPAIGN, "objective": "SALES"}]},
        {"campaigns": [{**CAMPAIGN, "campaignId": "1"}]},
        {"campaigns": [{**CAMPAIGN, "budget": {"budgetType": "DAILY", "budget": "35.5"}}]},
        {"campaigns": [{**CAMPAIGN, "budget": {"budgetType": "DAILY", "amount": 35.5}}]},
        {"campaigns": [{**CAMPAIGN, "name": 3}]},
        {"campaigns": [{**CAMPAIGN, "portfolioId": 3}]},
        {"campaigns": [{**CAMPAIGN, "portfolioId": None}]},
        {"campaigns": [{**CAMPAIGN, "startDate": None}]},
        {"campaigns": [{**CAMPAIGN, "tags": {"a": 1}}]},
        {"campaigns": [{**CAMPAIGN, "tags": {str(number): "x" for number in range(51)}}]},
        {"campaigns": [CAMPAIGN] * 1001},
        {"campaigns": [CAMPAIGN, {**CAMPAIGN, "dynamicBidding": {"strategy": "MANUAL", "placementBidding": {}}}]},
        '{"campaigns": [{"name": "a", "name": "b"}]}',
        '{"campaigns": [{"budget": {"budget": NaN}}]}',
    ],
)
async def test_malformed_requests_are_refused_as_a_whole(amazon: Amazon, body: Any) -> None:
    answer = await amazon.sp("POST", "/sp/campaigns", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_ARGUMENT")
    [error] = answer.json()["errors"]
    assert list(error["errorValue"]) == [error["errorType"]]
    assert await amazon.writes() == []


async def test_unknown_paths_methods_and_parameters(amazon: Amazon) -> None:
    assert (await amazon.sp("POST", "/sp/campaigns?dryRun=true", {"campaigns": []})).status_code == 400
    assert (await amazon.sp("POST", "/sp/campaigns", {"campaigns": []}, Prefer="return=all")).status_code == 400
    assert (await amazon.sp("PATCH", "/sp/campaigns", {})).status_code == 405
    assert (await amazon.sp("GET", "/sp/campaigns/1", None)).status_code == 404


# ---- create ---------------------------------------------------------------------------------------------------------


async def test_the_four_steps_of_the_sheet(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    ad = await amazon.made("productAds", {**parents, **PRODUCT_AD})
    keyword = await amazon.made("keywords", {**parents, **KEYWORD})
    assert await amazon.writes() == [
        ("POST", "campaign", campaign),
        ("POST", "adGroup", parents["adGroupId"]),
        ("POST", "productAd", ad),
        ("POST", "keyword", keyword),
    ]
    numbers = {"budget": {"budgetType": "DAILY", "budget": Decimal("35.5")}}
    assert await amazon.one("campaigns", campaign) == {"campaignId": campaign, **CAMPAIGN, **numbers}
    group = {**AD_GROUP, "adGroupId": parents["adGroupId"], "campaignId": campaign, "defaultBid": Decimal("0.75")}
    assert await amazon.one("adGroups", parents["adGroupId"]) == group
    assert await amazon.one("productAds", ad) == {"adId": ad, **parents, **PRODUCT_AD}
    expected = {"keywordId": keyword, **parents, **KEYWORD, "bid": Decimal("0.75")}
    assert await amazon.one("keywords", keyword) == expected


async def test_the_activation_of_the_sheet(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    ids = {
        "keywords": await amazon.made("keywords", {**parents, **KEYWORD}),
        "productAds": await amazon.made("productAds", {**parents, **PRODUCT_AD}),
        "adGroups": parents["adGroupId"],
        "campaigns": campaign,
    }
    for collection, entity_id in ids.items():
        outcome = await amazon.write("PUT", collection, {ID[collection]: entity_id, "state": "ENABLED"})
        assert outcome == {"success": [{ID[collection]: entity_id, "index": 0}], "error": []}
        assert (await amazon.one(collection, entity_id))["state"] == "ENABLED"


async def test_native_defaults(amazon: Amazon) -> None:
    least = {name: CAMPAIGN[name] for name in ("name", "targetingType", "state", "budget")}
    made = await amazon.one("campaigns", await amazon.made("campaigns", {**least, "state": "ENABLED", "endDate": None}))
    assert made["startDate"] == "2026-11-20"
    assert made["dynamicBidding"]["strategy"] == "LEGACY_FOR_SALES"
    assert (made["state"], "endDate" in made) == ("ENABLED", False)
    parents = {"campaignId": made["campaignId"]}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents})
    inherits = await amazon.made("keywords", {**parents, **KEYWORD, "bid": None})
    assert "bid" not in await amazon.one("keywords", inherits)


async def test_the_whole_entity_on_request(amazon: Amazon) -> None:
    outcome = await amazon.write("POST", "campaigns", CAMPAIGN, Prefer="return=representation")
    [row] = outcome["success"]
    assert row["campaign"] == {"campaignId": row["campaignId"], **CAMPAIGN}


async def test_numbers_are_exact(amazon: Amazon) -> None:
    kind = MEDIA["campaigns"]
    body = json.dumps({"campaigns": [CAMPAIGN]}).replace("35.5", "35.10")
    made = await amazon.call("POST", "/sp/campaigns", body, Content_Type=kind, Accept=kind)
    found = await amazon.one("campaigns", made.json()["campaigns"]["success"][0]["campaignId"])
    assert found["budget"]["budget"] == Decimal("35.1")
    binary = json.dumps({"campaigns": [CAMPAIGN]}).replace("35.5", "35.100000000000001")
    refused = await amazon.call("POST", "/sp/campaigns", binary, Content_Type=kind, Accept=kind)
    assert reason_of(refused.json()["campaigns"]["error"][0])[1] == "PATTERN_NOT_MATCHED"


def budget(amount: Any, **more: Any) -> dict[str, Any]:
    return {"budget": {"budgetType": "DAILY", "budget": amount, **more}}


@pytest.mark.parametrize(
    ("change", "type_", "reason", "place"),
    [
        ({"name": None}, "missingValueError", "MISSING_VALUE", "name"),
        ({"state": None}, "missingValueError", "MISSING_VALUE", "state"),
        ({"budget": None}, "missingValueError", "MISSING_VALUE", "budget"),
        ({"targetingType": None}, "missingValueError", "MISSING_VALUE", "targetingType"),
        ({"budget": {"budget": 5}}, "missingValueError", "MISSING_VALUE", "budget.budgetType"),
        ({"budget": {"budgetType": "DAILY"}}, "missingValueError", "MISSING_VALUE", "budget.budget"),
        ({"dynamicBidding": {}}, "missingValueError", "MISSING_VALUE", "dynamicBidding.strategy"),
        ({"state": "ARCHIVED"}, "rangeError", "INVALID_ENUM_VALUE", "state"),
        ({"state": "paused"}, "rangeError", "INVALID_ENUM_VALUE", "state"),
        ({"targetingType": "KEYWORD"}, "rangeError", "INVALID_ENUM_VALUE", "targetingType"),
        (budget(5, budgetType="LIFETIME"), "rangeError", "INVALID_ENUM_VALUE", "budget.budgetType"),
        (budget(0.99), "budgetError", "BUDGET_OUT_OF_MARKET_PLACE_RANGE", "budget.budget"),
        (budget(1000000.01), "budgetError", "BUDGET_OUT_OF_MARKET_PLACE_RANGE", "budget.budget"),
        (budget(35.505), "malformedValueError", "PATTERN_NOT_MATCHED", "budget.budget"),
        ({"name": "x" * 129}, "malformedValueError", "TOO_LONG", "name"),
        ({"name": ""}, "malformedValueError", "BLANK", "name"),
        ({"name": " x"}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE", "name"),
        ({"name": "x "}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE", "name"),
        ({"name": "a_b"}, "malformedValueError", "FORBIDDEN_CHARS", "name"),
        ({"name": "50% off!"}, "malformedValueError", "FORBIDDEN_CHARS", "name"),
        ({"name": "Evergreen US"}, "duplicateValueError", "NAME_NOT_UNIQUE", "name"),
        ({"startDate": "2026-11-19"}, "dateError", "START_DATE_EARLIER_THAN_TODAY", "startDate"),
        ({"startDate": "2026-02-30"}, "dateError", "INVALID_DATE", "startDate"),
        ({"startDate": "20261201"}, "dateError", "INVALID_DATE", "startDate"),
        ({"endDate": "2026-11-30"}, "dateError", "START_DATE_AFTER_END_DATE", "endDate"),
        ({"endDate": "2026-11-01"}, "dateError", "END_DATE_EARLIER_THAN_TODAY", "endDate"),
        ({"dynamicBidding": {"strategy": "AUTO"}}, "rangeError", "INVALID_ENUM_VALUE", "dynamicBidding.strategy"),
        ({"portfolioId": "missing"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND", "portfolioId"),
    ],
)
async def test_refused_campaigns(amazon: Amazon, change: dict[str, Any], type_: str, reason: str, place: str) -> None:
    item = {name: value for name, value in {**CAMPAIGN, **change}.items() if value is not None}
    assert await amazon.refused("POST", "campaigns", item) == (type_, reason, f"$.campaigns[0].{place}")
    assert await amazon.writes() == []


@pytest.mark.parametrize(
    ("adjustment", "type_", "reason"),
    [
        ({"placement": "PLACEMENT_TOP", "percentage": 901}, "rangeError", "TOO_HIGH"),
        ({"placement": "PLACEMENT_TOP", "percentage": -1}, "rangeError", "TOO_LOW"),
        ({"placement": "TOP", "percentage": 1}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"placement": "PLACEMENT_TOP"}, "missingValueError", "MISSING_VALUE"),
        ({"placement": "PLACEMENT_PRODUCT_PAGE", "percentage": 1}, "duplicateValueError", "DUPLICATE_VALUE"),
    ],
)
async def test_refused_placements(amazon: Amazon, adjustment: dict[str, Any], type_: str, reason: str) -> None:
    first = {"placement": "PLACEMENT_PRODUCT_PAGE", "percentage": 900}
    bidding = {"strategy": "LEGACY_FOR_SALES", "placementBidding": [first, adjustment]}
    found = await amazon.refused("POST", "campaigns", {**CAMPAIGN, "dynamicBidding": bidding})
    assert found[:2] == (type_, reason)
    assert found[2].startswith("$.campaigns[0].dynamicBidding.placementBidding[1].")


async def test_today_is_the_profiles_today(amazon: Amazon, clock: Clock) -> None:
    clock.instant = datetime(2026, 11, 20, 23, 30, tzinfo=UTC)  # the 21st in Tokyo, still the 20th in Los Angeles
    await redone(amazon)
    assert await amazon.made("campaigns", {**CAMPAIGN, "startDate": "2026-11-20"})
    late = {**CAMPAIGN, **budget(5000), "startDate": "2026-11-20"}
    refused = await amazon.refused("POST", "campaigns", late, host=FE, profile=YEN)
    assert refused[1] == "START_DATE_EARLIER_THAN_TODAY"
    assert await amazon.made("campaigns", {**late, "startDate": "2026-11-21"}, host=FE, profile=YEN)


async def redone(amazon: Amazon) -> None:
    """A fresh token, after the clock has moved."""
    tokens = (await redeem(amazon.http, await consent(amazon.http))).json()
    amazon.http.headers["Authorization"] = f"Bearer {tokens['access_token']}"


async def test_limits_of_the_marketplace_and_account_type(amazon: Amazon) -> None:
    long = {**CAMPAIGN, "name": "x" * 117}
    assert (await amazon.refused("POST", "campaigns", long, host=EU, profile=VENDOR))[1] == "TOO_LONG"
    first = await amazon.made("campaigns", {**CAMPAIGN, "name": "y" * 116}, host=EU, profile=VENDOR)
    second = await amazon.made("campaigns", {**CAMPAIGN, "name": "y" * 116}, host=EU, profile=VENDOR)
    assert first != second  # vendors may repeat a name
    await amazon.made("campaigns", {**CAMPAIGN, "name": "x" * 128})
    japanese: dict[str, str] = {"host": FE, "profile": YEN}
    for amount, reason in ((99, "BUDGET_OUT_OF_MARKET_PLACE_RANGE"), (100.5, "PATTERN_NOT_MATCHED")):
        assert (await amazon.refused("POST", "campaigns", {**CAMPAIGN, **budget(amount)}, **japanese))[1] == reason
    yen = await amazon.made("campaigns", {**CAMPAIGN, "name": "キャンプ用品", **budget(21000000)}, **japanese)
    group = {**AD_GROUP, "campaignId": yen}
    assert (await amazon.refused("POST", "adGroups", {**group, "defaultBid": 1}, **japanese))[1] == "TOO_LOW"
    assert (await amazon.refused("POST", "adGroups", {**group, "defaultBid": 100001}, **japanese))[1] == "TOO_HIGH"
    assert (await amazon.refused("POST", "adGroups", {**group, "defaultBid": 2.5}, **japanese))[
        1
    ] == "PATTERN_NOT_MATCHED"
    assert await amazon.made("adGroups", {**group, "defaultBid": 100000}, **japanese)


async def test_the_item_error_of_the_sheet(amazon: Amazon, campaign: str) -> None:
    outcome = await amazon.write("POST", "adGroups", {**AD_GROUP, "campaignId": campaign, "defaultBid": 0.001})
    [item] = outcome["error"]
    value = item["errors"][0]["errorValue"]["rangeError"]
    assert value.pop("message")
    assert item == {
        "index": 0,
        "errors": [
            {
                "errorType": "rangeError",
                "errorValue": {
                    "rangeError": {
                        "reason": "TOO_LOW",
                        "cause": {"location": "$.adGroups[0].defaultBid", "trigger": "0.001"},
                        "lowerLimit": "0.02",
                        "upperLimit": "1000",
                    }
                },
            }
        ],
    }


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"name": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"defaultBid": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": "1"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"name": "x" * 256}, "malformedValueError", "TOO_LONG"),
        ({"name": "Taken"}, "duplicateValueError", "NAME_NOT_UNIQUE"),
        ({"defaultBid": 1000.01}, "rangeError", "TOO_HIGH"),
        ({"defaultBid": 0.755}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"defaultBid": 35.51}, "biddingError", "BID_GT_BUDGET"),
    ],
)
async def test_refused_ad_groups(
    amazon: Amazon, campaign: str, change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.made("adGroups", {**AD_GROUP, "campaignId": campaign, "name": "Taken"})
    given = {**AD_GROUP, "campaignId": campaign, **change}
    item = {name: value for name, value in given.items() if value is not None}
    assert (await amazon.refused("POST", "adGroups", item))[:2] == (type_, reason)
    assert await amazon.made("adGroups", {**AD_GROUP, "campaignId": campaign, "name": "x" * 255, "defaultBid": 35.5})


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"adGroupId": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"sku": None}, "missingValueError", "MISSING_VALUE"),
        ({"sku": None, "asin": "B000000001"}, "productIdentifierError", "INVALID_ASIN"),
        ({"asin": "B000000001"}, "productIdentifierError", "INVALID_ASIN"),
        ({"sku": "SKU-missing"}, "productIdentifierError", "INVALID_SKU"),
        ({"sku": " SKU"}, "productIdentifierError", "INVALID_SKU"),
        ({"sku": "SKU-ineligible"}, "adEligibilityError", "AD_INELIGIBLE"),
        ({"sku": "SKU-processing"}, "adEligibilityError", "AD_INELIGIBLE"),
        ({"sku": "TAKEN"}, "duplicateValueError", "DUPLICATE_VALUE"),
        ({"adGroupId": "1"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"campaignId": "other"}, "parentEntityError", "PARENT_ENTITY_NOT_FOUND"),
        ({"customText": "X" * 50}, "unsupportedOperationError", "UNSUPPORTED_OPERATION"),
    ],
)
async def test_refused_product_ads(
    amazon: Amazon, parents: dict[str, str], change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.made("productAds", {**parents, **PRODUCT_AD, "sku": "TAKEN"})
    other = await amazon.made("campaigns", {**CAMPAIGN, "name": "Another"})
    given = {**parents, **PRODUCT_AD, **change}
    if given["campaignId"] == "other":  # exists, but the ad group is not in it
        given["campaignId"] = other
    item = {name: value for name, value in given.items() if value is not None}
    assert (await amazon.refused("POST", "productAds", item))[:2] == (type_, reason)


async def test_vendors_advertise_asins(amazon: Amazon) -> None:
    vendor = {"host": EU, "profile": VENDOR}
    parents = {"campaignId": await amazon.made("campaigns", CAMPAIGN, **vendor)}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents}, **vendor)
    item = {**parents, "state": "PAUSED"}
    assert (await amazon.refused("POST", "productAds", {**item, "sku": "X"}, **vendor))[1] == "INVALID_SKU"
    assert (await amazon.refused("POST", "productAds", {**item, "asin": "B01"}, **vendor))[1] == "INVALID_ASIN"
    assert (await amazon.refused("POST", "productAds", {**item, "asin": "missing"}, **vendor))[1] == "INVALID_ASIN"
    assert (await amazon.refused("POST", "productAds", {**item, "asin": "ineligible"}, **vendor))[1] == "AD_INELIGIBLE"
    assert await amazon.made("productAds", {**item, "asin": "B000000001"}, **vendor)


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"keywordText": None}, "missingValueError", "MISSING_VALUE"),
        ({"matchType": None}, "missingValueError", "MISSING_VALUE"),
        ({"state": None}, "missingValueError", "MISSING_VALUE"),
        ({"campaignId": None}, "missingValueError", "MISSING_VALUE"),
        ({"matchType": "exact"}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"keywordText": ""}, "malformedValueError", "TOO_SHORT"),
        ({"keywordText": "x" * 81}, "malformedValueError", "TOO_LONG"),
        ({"keywordText": "a b c d e f g h i j k"}, "malformedValueError", "TOO_LONG"),
        ({"keywordText": " stove"}, "malformedValueError", "LEADING_OR_TRAILING_WHITESPACE"),
        ({"keywordText": "-stove"}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove +gas"}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove."}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": 'a "stove'}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"keywordText": "stove!"}, "malformedValueError", "FORBIDDEN_CHARS"),
        ({"keywordText": "taken"}, "duplicateValueError", "DUPLICATE_VALUE"),
        ({"bid": 0.01}, "rangeError", "TOO_LOW"),
        ({"bid": 1000.5}, "biddingError", "BID_OUT_OF_MARKET_PLACE_RANGE"),
        ({"bid": 36}, "biddingError", "BID_GT_BUDGET"),
        ({"bid": 0.755}, "malformedValueError", "PATTERN_NOT_MATCHED"),
        ({"nativeLanguageLocale": "fr_FR"}, "localeError", "INVALID_LOCALE"),
    ],
)
async def test_refused_keywords(
    amazon: Amazon, parents: dict[str, str], change: dict[str, Any], type_: str, reason: str
) -> None:
    await amazon.made("keywords", {**parents, **KEYWORD, "keywordText": "taken"})
    given = {**parents, **KEYWORD, **change}
    item = {name: value for name, value in given.items() if value is not None}
    assert (await amazon.refused("POST", "keywords", item))[:2] == (type_, reason)


async def test_accepted_keywords(amazon: Amazon, parents: dict[str, str]) -> None:
    texts = [
        "x" * 80,
        "a b c d e f g h i j",
        "t-shirt",
        '"gas stove"',
        "3.5 liter",
        "men's c++x",
        "キャンプ",
        "Zelt für 2",
    ]
    outcome = await amazon.write("POST", "keywords", *({**parents, **KEYWORD, "keywordText": one} for one in texts))
    assert [row["index"] for row in outcome["success"]] == [0, 1, 2, 3, 4, 6, 7]  # "c++": a plus beside a plus
    again = [{**parents, **KEYWORD, "keywordText": "t-shirt", "matchType": match} for match in ("PHRASE", "BROAD")]
    assert (await amazon.write("POST", "keywords", *again))["error"] == []


async def test_keywords_do_not_go_with_automatic_targeting(amazon: Amazon) -> None:
    parents = {"campaignId": await amazon.made("campaigns", {**CAMPAIGN, "targetingType": "AUTO"})}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents})
    refused = await amazon.refused("POST", "keywords", {**parents, **KEYWORD})
    assert refused[:2] == ("targetingClauseSetupError", "TARGETING_TYPE_NOT_ALLOWED_FOR_AUTO_TARGETING_CAMPAIGN")


async def test_batches_are_judged_item_by_item(amazon: Amazon, parents: dict[str, str]) -> None:
    """Section 5: `index` is the position in the array as sent; duplicates inside a request count too."""
    texts = ["gas stove", "bad!", "pot", "gas stove", "pan"]
    items = [{**parents, **KEYWORD, "keywordText": one} for one in texts]
    outcome = await amazon.write("POST", "keywords", *items)
    assert [row["index"] for row in outcome["success"]] == [0, 2, 4]
    assert [(row["index"], reason_of(row)) for row in outcome["error"]] == [
        (1, ("malformedValueError", "FORBIDDEN_CHARS", "$.keywords[1].keywordText")),
        (3, ("duplicateValueError", "DUPLICATE_VALUE", "$.keywords[3].keywordText")),
    ]
    assert [kind for _, kind, _ in await amazon.writes()].count("keyword") == 3
    again = await amazon.write("POST", "keywords", {**items[1], "keywordText": "mug"})  # only what was not applied
    assert [row["index"] for row in again["success"]] == [0]


async def test_profiles_do_not_see_each_other(amazon: Amazon, campaign: str) -> None:
    vendor = {"host": EU, "profile": VENDOR}
    assert (await amazon.refused("POST", "adGroups", {**AD_GROUP, "campaignId": campaign}, **vendor))[1] == (
        "PARENT_ENTITY_NOT_FOUND"
    )
    gone = await amazon.refused("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"}, **vendor)
    assert gone == ("entityNotFoundError", "ENTITY_NOT_FOUND", "$.campaigns[0].campaignId")
    names = [row["name"] for row in (await amazon.listed("campaigns", {}, **vendor))["campaigns"]]
    assert names == ["Evergreen DE"]


# ---- update and delete ----------------------------------------------------------------------------------------------


async def test_updates_are_partial(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    before = await amazon.one("campaigns", campaign)
    changes = [
        {"name": "Winter launch"},
        budget(40),
        {"endDate": None},
        {"startDate": "2026-12-02"},
        {"dynamicBidding": {"strategy": "MANUAL"}},
        {"portfolioId": "12"},
        {"portfolioId": None},
        {"tags": {"team": "a"}},
        {"targetingType": "MANUAL"},
    ]
    for change in changes:
        outcome = await amazon.write("PUT", "campaigns", {"campaignId": campaign, **change})
        assert outcome["error"] == []
    after = await amazon.one("campaigns", campaign)
    expected = {
        **before,
        "name": "Winter launch",
        "budget": {"budgetType": "DAILY", "budget": 40},
        "startDate": "2026-12-02",
        "dynamicBidding": {"strategy": "MANUAL"},
        "tags": {"team": "a"},
    }
    del expected["endDate"]
    assert after == expected
    group = await amazon.write("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "defaultBid": 0.8})
    assert group["error"] == []
    assert (await amazon.one("adGroups", parents["adGroupId"]))["name"] == "Autumn launch"
    keyword = await amazon.made("keywords", {**parents, **KEYWORD})
    await amazon.write("PUT", "keywords", {"keywordId": keyword, "bid": None})
    assert "bid" not in await amazon.one("keywords", keyword)


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"state": "ARCHIVED"}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"targetingType": "AUTO"}, "otherError", "OTHER_ERROR"),
        ({"name": "Evergreen US"}, "duplicateValueError", "NAME_NOT_UNIQUE"),
        ({"endDate": "2026-11-30"}, "dateError", "START_DATE_AFTER_END_DATE"),
        ({"startDate": "2026-12-21"}, "dateError", "START_DATE_AFTER_END_DATE"),
        ({"budget": {"budget": 40}}, "missingValueError", "MISSING_VALUE"),
        ({"dynamicBidding": {"placementBidding": []}}, "missingValueError", "MISSING_VALUE"),
        (budget(5), "budgetError", "BUDGET_LT_DEFAULT_BIDS"),
        (budget(8), "budgetError", "BUDGET_LT_KEYWORD_BIDS"),
    ],
)
async def test_refused_updates(amazon: Amazon, campaign: str, change: dict[str, Any], type_: str, reason: str) -> None:
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents, "defaultBid": 7})
    await amazon.made("keywords", {**parents, **KEYWORD, "bid": 9})
    before = await amazon.one("campaigns", campaign)
    assert (await amazon.refused("PUT", "campaigns", {"campaignId": campaign, **change}))[:2] == (type_, reason)
    assert await amazon.one("campaigns", campaign) == before


async def test_what_is_locked_is_not_even_a_member(amazon: Amazon, parents: dict[str, str]) -> None:
    locked = {
        "adGroups": ("campaignId",),
        "productAds": ("campaignId", "adGroupId", "sku", "asin"),
        "keywords": ("campaignId", "adGroupId", "keywordText", "matchType"),
    }
    for collection, names in locked.items():
        for name in names:
            body = {collection: [{ID[collection]: "1", name: "x"}]}
            assert (await amazon.sp("PUT", f"/sp/{collection}", body)).status_code == 400
    assert (await amazon.refused("PUT", "keywords", {"state": "PAUSED"}))[1] == "MISSING_VALUE"


async def test_a_started_campaign_keeps_its_start(amazon: Amazon, campaign: str, clock: Clock) -> None:
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await redone(amazon)
    moved = await amazon.refused("PUT", "campaigns", {"campaignId": campaign, "startDate": "2026-12-10"})
    assert moved == ("dateError", "UPDATING_READ_ONLY_START_DATE", "$.campaigns[0].startDate")
    past = await amazon.refused("PUT", "campaigns", {"campaignId": campaign, "endDate": "2026-12-04"})
    assert past[1] == "END_DATE_EARLIER_THAN_TODAY"
    same = {"campaignId": campaign, "startDate": "2026-12-01", "endDate": "2026-12-05"}
    assert (await amazon.write("PUT", "campaigns", same))["error"] == []


async def test_delete_archives_for_good(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    keyword = await amazon.made("keywords", {**parents, **KEYWORD})
    body = {"keywordIdFilter": {"include": [keyword, "1"]}}
    outcome = (await amazon.sp("POST", "/sp/keywords/delete", body)).json()["keywords"]
    assert outcome["success"] == [{"keywordId": keyword, "index": 0}]
    assert reason_of(outcome["error"][0])[2] == "$.keywordIdFilter.include[1]"
    assert (await amazon.one("keywords", keyword))["state"] == "ARCHIVED"
    states = {"stateFilter": {"include": ["ENABLED", "PAUSED"]}, "keywordIdFilter": {"include": [keyword]}}
    assert (await amazon.listed("keywords", states))["keywords"] == []
    back = await amazon.refused("PUT", "keywords", {"keywordId": keyword, "state": "ENABLED"})
    assert back[:2] == ("entityStateError", "ARCHIVED_ENTITY_CANNOT_BE_MODIFIED")
    assert await amazon.made("keywords", {**parents, **KEYWORD})  # the text is free again

    gone = await amazon.sp("POST", "/sp/campaigns/delete", {"campaignIdFilter": {"include": [campaign]}})
    assert gone.status_code == 207
    assert gone.json()["campaigns"]["success"] == [{"campaignId": campaign, "index": 0}]
    child = await amazon.refused("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "state": "ENABLED"})
    assert child[:2] == ("entityStateError", "PARENT_ARCHIVED_FORBIDS_UPDATES")
    new = await amazon.refused("POST", "adGroups", {**AD_GROUP, "name": "New", "campaignId": campaign})
    assert new[:2] == ("parentEntityError", "PARENT_ENTITY_ARCHIVED")
    assert (await amazon.sp("POST", "/sp/campaigns/delete", {"campaignIds": [campaign]})).status_code == 400


# ---- lists ----------------------------------------------------------------------------------------------------------


async def test_pages(amazon: Amazon) -> None:
    for number in range(5):
        await amazon.made("campaigns", {**CAMPAIGN, "name": f"Page {number}"})
    asked = {"stateFilter": {"include": ["PAUSED"]}, "maxResults": 2}
    names, token = list[str](), None
    for expected in (2, 2, 1):
        page = await amazon.listed("campaigns", {**asked, **({"nextToken": token} if token else {})})
        assert (len(page["campaigns"]), page["totalResults"]) == (expected, 5)
        names += [row["name"] for row in page["campaigns"]]
        token = page.get("nextToken")
    assert (names, token) == ([f"Page {number}" for number in range(5)], None)
    first = (await amazon.listed("campaigns", asked))["nextToken"]
    for wrong in (
        {**asked, "nextToken": "x"},
        {"maxResults": 2, "nextToken": first},
        {**asked, "nextToken": first, "nameFilter": {"include": ["Page"]}},
    ):
        answer = await amazon.sp("POST", "/sp/campaigns/list", wrong)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["errorValue"]["invalidInputError"]["reason"] == "INVALID_TOKEN"
    assert (await amazon.sp("POST", "/sp/adGroups/list", {**asked, "nextToken": first})).status_code == 400


async def test_filters(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    names = {"queryTermMatchType": "BROAD_MATCH", "include": ["launch"]}

    async def found(collection: str, body: Any) -> list[str]:
        return [row[ID[collection]] for row in (await amazon.listed(collection, body))[collection]]

    assert await found("campaigns", {"nameFilter": names}) == [campaign]
    assert await found("campaigns", {"nameFilter": {**names, "queryTermMatchType": "EXACT_MATCH"}}) == []
    exact = {"queryTermMatchType": "EXACT_MATCH", "include": ["Autumn launch"]}
    assert await found("campaigns", {"nameFilter": exact}) == [campaign]
    assert await found("campaigns", {"portfolioIdFilter": {"include": ["1"]}}) == []
    assert await found("adGroups", {"campaignIdFilter": {"include": [campaign]}}) == [parents["adGroupId"]]
    assert await found("adGroups", {"campaignTargetingTypeFilter": "AUTO"}) == []
    stove = await amazon.made("keywords", {**parents, **KEYWORD})
    pot = await amazon.made("keywords", {**parents, **KEYWORD, "keywordText": "pot", "matchType": "BROAD"})
    mine = {"adGroupIdFilter": {"include": [parents["adGroupId"]]}}
    assert await found("keywords", mine) == [stove, pot]
    assert await found("keywords", {**mine, "matchTypeFilter": ["BROAD"]}) == [pot]
    assert await found("keywords", {**mine, "keywordTextFilter": {"include": ["stove"]}}) == [stove]
    assert await found("keywords", {**mine, "keywordIdFilter": {"include": [pot]}}) == [pot]
    assert await found("productAds", mine) == []
    assert await found("keywords", {"campaignIdFilter": {"include": []}}) == []


@pytest.mark.parametrize(
    ("collection", "body"),
    [
        ("productAds", {"nameFilter": {"include": ["x"]}}),
        ("keywords", {"nameFilter": {"include": ["x"]}}),
        ("campaigns", {"stateFilter": ["PAUSED"]}),
        ("campaigns", {"stateFilter": {"include": ["paused"]}}),
        ("campaigns", {"campaignIdFilter": {"include": [1]}}),
        ("adGroups", {"campaignIdFilter": {"include": ["1"] * 101}}),
        ("adGroups", {"adGroupIdFilter": {"include": ["1"] * 1001}}),
        ("campaigns", {"maxResults": 0}),
        ("campaigns", {"maxResults": 1001}),
        ("campaigns", {"startIndex": 0}),
    ],
)
async def test_refused_lists(amazon: Amazon, collection: str, body: Any) -> None:
    assert (await amazon.sp("POST", f"/sp/{collection}/list", body)).status_code == 400


async def test_extended_data_tells_why_something_does_not_serve(amazon: Amazon, campaign: str, clock: Clock) -> None:
    async def status(collection: str, entity_id: str) -> str:
        body = {f"{ID[collection]}Filter": {"include": [entity_id]}, "includeExtendedDataFields": True,
                "stateFilter": {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}}  # fmt: skip
        [row] = (await amazon.listed(collection, body))[collection]
        told = row["extendedData"]["servingStatus"]
        assert row["extendedData"]["servingStatusDetails"][0]["name"] == f"{told}_DETAIL"
        return str(told)

    assert await status("campaigns", campaign) == "CAMPAIGN_PAUSED"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    assert await status("campaigns", campaign) == "PENDING_START_DATE"
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await redone(amazon)
    assert await status("campaigns", campaign) == "CAMPAIGN_INCOMPLETE"
    on = {"state": "ENABLED"}
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents, **on})
    assert await status("adGroups", parents["adGroupId"]) == "AD_GROUP_INCOMPLETE"
    ad = await amazon.made("productAds", {**parents, **PRODUCT_AD, **on})
    keyword = await amazon.made("keywords", {**parents, **KEYWORD, **on})
    assert await status("campaigns", campaign) == "CAMPAIGN_STATUS_ENABLED"
    assert await status("productAds", ad) == "AD_STATUS_LIVE"
    assert await status("keywords", keyword) == "TARGETING_CLAUSE_STATUS_LIVE"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "PAUSED"})
    assert await status("keywords", keyword) == "CAMPAIGN_PAUSED"
    await amazon.sp("POST", "/sp/productAds/delete", {"adIdFilter": {"include": [ad]}})
    assert await status("productAds", ad) == "AD_ARCHIVED"
    assert "extendedData" not in await amazon.one("campaigns", campaign)


async def test_portfolios(amazon: Amazon) -> None:
    found = (await amazon.sp("POST", "/portfolios/list", {}, media="portfolios")).json()
    assert [row["name"] for row in found["portfolios"]] == ["Brand", "Launches"]
    portfolio = found["portfolios"][0]["portfolioId"]
    campaign = await amazon.made("campaigns", {**CAMPAIGN, "portfolioId": portfolio})
    listed = await amazon.listed("campaigns", {"portfolioIdFilter": {"include": [portfolio]}})
    assert [row["campaignId"] for row in listed["campaigns"]] == [campaign]
    assert (await amazon.call("POST", "/portfolios/list", {}, Content_Type="application/json")).status_code == 415


# ---- products, suggestions, budget usage ----------------------------------------------------------------------------


async def eligible(amazon: Amazon, **product: str) -> httpx.Response:
    body = {"adType": "sp", "productDetailsList": [product]}
    return await amazon.call("POST", "/eligibility/product/list", body, Content_Type="application/json")


async def metadata(amazon: Amazon, body: Any, **more: str) -> httpx.Response:
    media = "application/vnd.productmetadata{}.v1+json"
    headers = {"Content_Type": media.format("request"), "Accept": media.format("response"), **more}
    return await amazon.call("POST", "/product/metadata", body, **headers)


async def test_eligibility(amazon: Amazon) -> None:
    plain = (await eligible(amazon, asin="B000000001", sku="SELLER-SKU-1")).json()["productResponseList"]
    details = {"asin": "B000000001", "sku": "SELLER-SKU-1"}
    assert plain == [{"productDetails": details, "overallStatus": "ELIGIBLE", "eligibilityStatusList": []}]
    for product, status in (
        ({"asin": "ineligible"}, "INELIGIBLE"),
        ({"asin": "B000000001", "sku": "SKU-ineligible"}, "INELIGIBLE"),
        ({"asin": "B0WARNING1"}, "ELIGIBLE_WITH_WARNING"),
    ):
        [row] = (await eligible(amazon, **product)).json()["productResponseList"]
        assert (row["overallStatus"], row["eligibilityStatusList"][0]["severity"]) == (status, status)
        assert set(row["eligibilityStatusList"][0]) >= {"name", "message"}
    assert (await eligible(amazon, asin="B0-missing")).status_code == 404
    assert (await eligible(amazon, sku="SELLER-SKU-1")).status_code == 400  # asin is required
    many = {"productDetailsList": [{"asin": "B000000001"}] * 31}
    refused = await amazon.call("POST", "/eligibility/product/list", many, Content_Type="application/json")
    assert (refused.status_code, set(refused.json())) == (400, {"code", "details"})


async def test_product_metadata(amazon: Amazon) -> None:
    # section 5's pre-flight, word for word
    asked = {"adType": "SP", "skus": ["SELLER-SKU-1"], "checkEligibility": True, "pageIndex": 0, "pageSize": 1}
    [row] = (await metadata(amazon, asked)).json()["ProductMetadataList"]
    assert (row["sku"], row["eligibilityStatus"], "title" in row) == ("SELLER-SKU-1", "ELIGIBLE", False)
    assert (await eligible(amazon, asin=row["asin"], sku=row["sku"])).json()["productResponseList"][0][
        "overallStatus"
    ] == "ELIGIBLE"
    unknown = (await metadata(amazon, {**asked, "skus": ["missing-1"]})).json()
    assert unknown["ProductMetadataList"] == []
    [bad] = (await metadata(amazon, {**asked, "skus": ["ineligible-1"]})).json()["ProductMetadataList"]
    assert (bad["eligibilityStatus"], bad["ineligibilityCodes"]) == ("INELIGIBLE", ["LISTING_SUPRESSED"])
    assert (await metadata(amazon, {**asked, "asins": ["B000000001"]})).status_code == 400  # one of them
    assert (await metadata(amazon, {**asked, "pageSize": 301})).status_code == 400
    assert (await metadata(amazon, {"checkEligibility": True, "pageIndex": 0, "pageSize": 1})).status_code == 400
    assert (await metadata(amazon, asked, Accept="application/json")).status_code == 406
    assert (await metadata(amazon, asked, Content_Type="application/json")).status_code == 415
    assert (await metadata(amazon, asked, host=EU, profile=VENDOR)).status_code == 400  # skus are for sellers


async def test_the_product_catalogue_pages(amazon: Amazon) -> None:
    asked = {"adType": "SP", "checkItemDetails": True, "searchStr": "demo", "pageIndex": 0, "pageSize": 20}
    first = (await metadata(amazon, asked)).json()
    second = (await metadata(amazon, {**asked, "pageIndex": 1})).json()
    assert (await metadata(amazon, {**asked, "cursorToken": first["cursorToken"]})).json() == second
    third = (await metadata(amazon, {**asked, "cursorToken": second["cursorToken"]})).json()
    rows = [*first["ProductMetadataList"], *second["ProductMetadataList"], *third["ProductMetadataList"]]
    assert (len({row["asin"] for row in rows}), third["cursorToken"]) == (45, "")
    assert all(row["title"] and "eligibilityStatus" not in row for row in rows)


async def test_keyword_recommendations(amazon: Amazon) -> None:
    media = {"Content_Type": "application/vnd.spkeywordsrecommendation.v5+json"}
    body = {
        "recommendationType": "KEYWORDS_FOR_ASINS",
        "asins": ["B000000001"],
        "sortDimension": "CLICKS",
        "maxRecommendations": 50,
    }
    answer = await amazon.call("POST", "/sp/targets/keywords/recommendations", body, **media)
    rows = answer.json()["keywordTargetList"]
    assert rows
    assert all(isinstance(bid["bid"], int) for row in rows for bid in row["bidInfo"])
    assert {bid["matchType"] for bid in rows[0]["bidInfo"]} == {"EXACT", "PHRASE", "BROAD"}
    few = await amazon.call("POST", "/sp/targets/keywords/recommendations", {**body, "maxRecommendations": 2}, **media)
    assert len(few.json()["keywordTargetList"]) == 2
    path = "/sp/targets/keywords/recommendations"
    assert (await amazon.call("POST", path, body, Content_Type="application/json")).status_code == 415
    assert (await amazon.call("POST", path, body, **media, Accept="text/html")).status_code == 406


async def test_budget_usage(amazon: Amazon, campaign: str) -> None:
    seeded = (await amazon.listed("campaigns", {}))["campaigns"][0]["campaignId"]
    body = {"campaignIds": [campaign, "1", seeded]}
    answer = await amazon.sp("POST", "/sp/campaigns/budget/usage", body, media="usage")
    assert (answer.status_code, answer.headers["Content-Type"]) == (207, MEDIA["usage"])
    used = {row["campaignId"]: (row["index"], row["budgetUsagePercent"]) for row in answer.json()["success"]}
    assert used[campaign] == (0, 0)
    assert used[seeded][0] == 2
    assert 0 < used[seeded][1] <= 100
    assert [(row["index"], row["campaignId"]) for row in answer.json()["error"]] == [(1, "1")]
    refused = await amazon.sp("POST", "/sp/campaigns/budget/usage", {"campaignIds": []}, media="usage")
    assert (refused.status_code, set(refused.json())) == (400, {"code", "details"})


# ---- reports --------------------------------------------------------------------------------------------------------


async def test_a_report_from_order_to_rows(amazon: Amazon, clock: Clock) -> None:
    made = await amazon.report()
    assert (made.status_code, made.json()["status"]) == (200, "PENDING")
    job = made.json()["reportId"]
    looks = [(await amazon.call("GET", f"/reporting/reports/{job}")).json() for _ in range(4)]
    assert [look["status"] for look in looks] == ["PENDING", "PROCESSING", "COMPLETED", "COMPLETED"]
    assert [look["url"] is None for look in looks] == [True, True, False, False]
    done = looks[2]
    assert urlsplit(done["url"]).scheme == "https"
    assert urlsplit(done["url"]).hostname not in (NA, EU, FE)
    content = (await amazon.download(done["url"])).content
    assert len(content) == done["fileSize"]
    rows = unpacked(content)
    assert [row["date"] for row in rows] == [f"2026-11-{day:02}" for day in range(1, 16)]
    for row in rows:
        assert list(row) == REPORT["configuration"]["columns"]
        assert isinstance(row["campaignId"], int)  # an integer here, a string in Sponsored Products (section 4)
        assert row["impressions"] > row["clicks"] >= row["purchases14d"] >= row["purchases7d"]
        assert 0 < row["cost"] <= 50
    assert await amazon.writes() == []  # a report is no write

    refused = await amazon.download(done["url"], Authorization=amazon.http.headers["Authorization"])
    assert (refused.status_code, b"Error" in refused.content) == (400, True)
    assert (await amazon.download(done["url"].replace("Signature=", "Signature=0"))).status_code == 403
    assert (await amazon.download(done["url"].partition("?")[0])).status_code == 403
    clock.instant = datetime.fromisoformat(done["urlExpiresAt"])
    assert (await amazon.download(done["url"])).status_code == 403
    await redone(amazon)
    fresh = (await amazon.call("GET", f"/reporting/reports/{job}")).json()["url"]
    assert (await amazon.download(fresh)).content == content


async def test_an_identical_request_is_a_duplicate(amazon: Amazon) -> None:
    job = (await amazon.report()).json()["reportId"]
    again = await amazon.report()
    assert again.status_code == 425
    assert again.json() == {"code": "425", "detail": f"The Request is a duplicate of : {job}"}
    assert (await amazon.report({**REPORT, "endDate": "2026-11-14"})).status_code == 200
    vendor = await amazon.report(host=EU, profile=VENDOR)
    assert vendor.status_code == 200
    other = vendor.json()["reportId"]
    assert (await amazon.call("GET", f"/reporting/reports/{other}")).status_code == 404
    assert (await amazon.call("DELETE", f"/reporting/reports/{job}")).status_code == 200
    assert (await amazon.call("GET", f"/reporting/reports/{job}")).status_code == 404
    assert (await amazon.report()).status_code == 200
    for _ in range(2):
        await amazon.call("GET", f"/reporting/reports/{other}", host=EU, profile=VENDOR)
    late = await amazon.call("DELETE", f"/reporting/reports/{other}", host=EU, profile=VENDOR)
    assert late.status_code == 400


def configured(**change: Any) -> dict[str, Any]:
    return {**REPORT, "configuration": {**REPORT["configuration"], **change}}


@pytest.mark.parametrize(
    "request_",
    [
        {**REPORT, "startDate": "2026-10-15"},  # 32 days
        {**REPORT, "startDate": "2026-08-15", "endDate": "2026-08-16"},  # 97 days back
        {**REPORT, "startDate": "2026-11-16"},
        {**REPORT, "startDate": "20261101"},
        {**REPORT, "extra": 1},
        {name: value for name, value in REPORT.items() if name != "configuration"},
        configured(adProduct="SPONSORED_BRANDS"),
        configured(reportTypeId="spSearchTerm"),
        configured(groupBy=["targeting"]),
        configured(groupBy=[]),
        configured(timeUnit="HOURLY"),
        configured(format="CSV"),
        configured(columns=[]),
        configured(columns=["date", "cost", "cost"]),
        configured(columns=["date", "adGroupId"]),
        configured(columns=["cost"]),
        configured(columns=["date", "startDate", "cost"]),
        configured(columns=["date", "cost"], timeUnit="SUMMARY"),
        configured(filters=[{"field": "matchType", "values": ["EXACT"]}]),
    ],
)
async def test_refused_reports(amazon: Amazon, request_: Any) -> None:
    refused = await amazon.report(request_)
    assert (refused.status_code, set(refused.json())) == (400, {"code", "details"})


async def test_reports_at_their_limits(amazon: Amazon) -> None:
    assert (await amazon.report({**REPORT, "startDate": "2026-10-16"})).status_code == 200  # 31 days
    assert (await amazon.report({**REPORT, "startDate": "2026-08-17", "endDate": "2026-08-17"})).status_code == 200
    plain = await amazon.call("POST", "/reporting/reports", REPORT, Content_Type="application/json")
    assert (plain.status_code, plain.json()["code"]) == (415, "415")


@pytest.mark.parametrize(("host", "profile"), [(NA, SELLER), (EU, VENDOR), (FE, YEN)])
async def test_every_profile_has_rows_up_to_today(amazon: Amazon, host: str, profile: str) -> None:
    rows = await amazon.rows({**REPORT, "startDate": "2026-11-10", "endDate": "2026-12-05"}, host=host, profile=profile)
    assert [row["date"] for row in rows] == [f"2026-11-{day}" for day in range(10, 21)]
    again = {**REPORT, "name": "another", "startDate": "2026-11-10", "endDate": "2026-11-20"}
    assert await amazon.rows(again, host=host, profile=profile) == rows
    if profile == YEN:
        assert all(row["cost"] == int(row["cost"]) for row in rows)


async def test_report_types_add_up(amazon: Amazon) -> None:
    async def total(**change: Any) -> tuple[Any, ...]:
        rows = await amazon.rows(configured(**change))
        return tuple(sum(row[name] for row in rows) for name in ("clicks", "cost", "sales7d"))

    whole = await total(columns=["date", "clicks", "cost", "sales7d"])
    assert whole[0] > 0
    for type_, group, column in (
        ("spCampaigns", "adGroup", "adGroupId"),
        ("spCampaigns", "campaignPlacement", "placementClassification"),
        ("spAdvertisedProduct", "advertiser", "advertisedSku"),
        ("spTargeting", "targeting", "keywordId"),
    ):
        columns = ["date", column, "clicks", "cost", "sales7d"]
        assert await total(reportTypeId=type_, groupBy=[group], columns=columns) == whole
    summary = ["startDate", "endDate", "clicks", "cost", "sales7d", "costPerClick"]
    [row] = await amazon.rows(configured(timeUnit="SUMMARY", columns=summary))
    assert (row["clicks"], row["cost"], row["sales7d"]) == whole
    assert (row["startDate"], row["endDate"]) == ("2026-11-01", "2026-11-15")
    paused = [{"field": "campaignStatus", "values": ["PAUSED"]}]
    assert await amazon.rows(configured(filters=paused)) == []


async def test_every_documented_column_can_be_had(amazon: Amazon) -> None:
    for name, type_ in REPORT_TYPES.items():
        for group, added in type_.groups.items():
            columns = sorted((type_.columns | added.columns) - {"startDate", "endDate"})
            rows = await amazon.rows(configured(reportTypeId=name, groupBy=[group], columns=columns))
            assert [list(row) for row in rows] == [columns] * len(rows)
            assert rows


async def test_only_what_serves_has_rows(amazon: Amazon, campaign: str, parents: dict[str, str], clock: Clock) -> None:
    await amazon.made("productAds", {**parents, **PRODUCT_AD, "state": "ENABLED"})
    await amazon.made("keywords", {**parents, **KEYWORD, "state": "ENABLED"})
    await amazon.write("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "state": "ENABLED"})
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await redone(amazon)
    rows = await amazon.rows({**REPORT, "startDate": "2026-11-25", "endDate": "2026-12-10"})
    mine = [row["date"] for row in rows if row["campaignId"] == int(campaign)]
    assert mine == [f"2026-12-0{day}" for day in range(1, 6)]


# ---- faults ---------------------------------------------------------------------------------------------------------


async def test_partial_fails_the_last_item_only(amazon: Amazon, parents: dict[str, str]) -> None:
    await amazon.fault("partial", method="POST", path="/sp/keywords")
    items = [{**parents, **KEYWORD, "keywordText": one} for one in ("a", "b", "c")]
    outcome = await amazon.write("POST", "keywords", *items)
    assert [row["index"] for row in outcome["success"]] == [0, 1]
    assert [(row["index"], reason_of(row)[0]) for row in outcome["error"]] == [(2, "otherError")]
    assert [kind for _, kind, _ in await amazon.writes()].count("keyword") == 2
    assert (await amazon.write("POST", "keywords", items[2]))["error"] == []


async def test_error_in_200_throttles_every_item(amazon: Amazon) -> None:
    await amazon.fault("error_in_200")
    outcome = await amazon.write("POST", "campaigns", CAMPAIGN, {**CAMPAIGN, "name": "Second"})
    assert outcome["success"] == []
    assert [reason_of(row)[:2] for row in outcome["error"]] == [("throttledError", "THROTTLED")] * 2
    assert await amazon.writes() == []
    assert await amazon.made("campaigns", CAMPAIGN)


async def test_a_report_can_fail(amazon: Amazon) -> None:
    job = (await amazon.report()).json()["reportId"]
    await amazon.fault("error_in_200", path="/reporting")
    failed = (await amazon.call("GET", f"/reporting/reports/{job}")).json()
    assert (failed["status"], bool(failed["failureReason"]), failed["url"]) == ("FAILED", True, None)


@pytest.mark.parametrize(("status", "code"), [(429, "THROTTLED"), (500, "INTERNAL_ERROR"), (503, "INTERNAL_ERROR"),
                                              (403, "ACCESS_DENIED")])  # fmt: skip
async def test_told_statuses(amazon: Amazon, status: int, code: str) -> None:
    await amazon.fault("status", value=status, path=f"/{NA}/sp", times=1)
    answer = await amazon.sp("POST", "/sp/campaigns", {"campaigns": [CAMPAIGN]})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert ("Retry-After" in answer.headers) == (status == 429)
    assert await amazon.writes() == []
    await amazon.fault("status", value=status)
    platform = await amazon.report()
    assert (platform.status_code, platform.json()["code"], "details" in platform.json()) == (status, str(status), True)


async def test_a_lost_answer_is_applied_and_a_repeat_never_doubles(amazon: Amazon) -> None:
    """Section 15: creating the same name again gives duplicateValueError."""
    await amazon.fault("reset_after")
    with pytest.raises(httpx.TransportError):
        await amazon.write("POST", "campaigns", CAMPAIGN)
    assert len(await amazon.writes()) == 1
    assert (await amazon.refused("POST", "campaigns", CAMPAIGN))[1] == "NAME_NOT_UNIQUE"


async def test_a_reset_forgets_everything_but_tokens(amazon: Amazon, campaign: str) -> None:
    await amazon.http.post("/_sandbox/reset")
    assert [row["name"] for row in (await amazon.listed("campaigns", {}))["campaigns"]] == ["Evergreen US"]
    assert await amazon.writes() == []


# ---- the official descriptions, where ADSUNIFY_SPECS names their folder ------------------------------------------


def described(name: str, schema: str) -> Draft202012Validator:
    """A validator of one schema of an OpenAPI 3.0 file: `nullable` becomes a null type."""

    def translated(node: Any) -> Any:
        if isinstance(node, list):
            return [translated(one) for one in node]
        if not isinstance(node, dict):
            return node
        made = {key: translated(value) for key, value in node.items() if key not in ("nullable", "example", "default")}
        if isinstance(made.get("format"), str):
            del made["format"]
        return {"anyOf": [made, {"type": "null"}]} if node.get("nullable") is True else made

    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / f"{name}.openapi.json").read_text())
    components = translated(document["components"])
    return Draft202012Validator({"$ref": f"#/components/schemas/{schema}", "components": components})


async def test_answers_hold_against_the_official_descriptions(
    amazon: Amazon, campaign: str, parents: dict[str, str]
) -> None:
    ids = {
        "campaigns": campaign,
        "adGroups": parents["adGroupId"],
        "productAds": await amazon.made("productAds", {**parents, **PRODUCT_AD}),
        "keywords": await amazon.made("keywords", {**parents, **KEYWORD}),
    }
    bad = {
        "campaigns": {**CAMPAIGN, "name": "a_b", "startDate": "x"},
        "adGroups": {**AD_GROUP, "campaignId": "1"},
        "productAds": {**parents, "state": "PAUSED", "sku": "ineligible"},
        "keywords": {**parents, **KEYWORD, "bid": 1001},
    }
    for collection, entity_id in ids.items():
        native = collection[0].upper() + collection[1:]
        states = {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}
        listed = await amazon.sp(
            "POST", f"/sp/{collection}/list", {"stateFilter": states, "includeExtendedDataFields": True}
        )
        updated = await amazon.sp(
            "PUT", f"/sp/{collection}",
            {collection: [{ID[collection]: entity_id, "state": "ENABLED"}, {ID[collection]: "1"}]},
            Prefer="return=representation",
        )  # fmt: skip
        created = await amazon.sp("POST", f"/sp/{collection}", {collection: [bad[collection], {}]})
        for verb, answer in (("List", listed), ("Update", updated), ("Create", created)):
            schema = f"SponsoredProducts{verb}SponsoredProducts{native}ResponseContent"
            described("sponsored-products-v3", schema).validate(answer.json())
    asins = {"adType": "SP", "skus": ["a"], "checkEligibility": True, "checkItemDetails": True}
    products = await metadata(amazon, {**asins, "pageIndex": 0, "pageSize": 1})
    described("product-metadata", "ProductMetadataResponse").validate(products.json())
    described("product-eligibility", "ProductEligibilityResponse").validate(
        (await eligible(amazon, asin="ineligible")).json()
    )
    for profile in (await amazon.call("GET", "/v2/profiles", profile=None)).json():
        described("profiles-v2", "Profile").validate(profile)
    usage = await amazon.sp("POST", "/sp/campaigns/budget/usage", {"campaignIds": [campaign, "1"]}, media="usage")
    described("sponsored-products-v3", "BudgetUsageCampaignResponse").validate(usage.json())


def test_columns_are_those_of_the_documentation() -> None:
    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / "reporting-v3.columns.json").read_text())["reportTypes"]
    assert set(REPORT_TYPES) == set(document)
    for name, documented in document.items():
        assert REPORT_TYPES[name].columns == set(documented["baseColumns"])
        for group, added in documented["groupBy"].items():
            assert REPORT_TYPES[name].groups[group].columns == set(added["additionalColumns"])
            assert REPORT_TYPES[name].groups[group].filters == {field for field, _ in added["filters"]}


def test_the_marketplace_limits_are_those_of_the_documentation() -> None:
    folder = os.environ.get("ADSUNIFY_SPECS")
    if folder is None:
        pytest.skip("ADSUNIFY_SPECS names no folder of official descriptions")
    document = json.loads((Path(folder) / "amazon" / "marketplace-limits.json").read_text())
    for country, limits in MARKETPLACES.items():
        for amounts, kind in ((limits.bid, "spBid"), (limits.budget, "spDailyBudget")):
            documented = document[kind][country]
            assert amounts == (Decimal(documented["min"]), Decimal(documented["max"]))
