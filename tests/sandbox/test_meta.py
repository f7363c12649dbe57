"""The simulated Meta Marketing API over real HTTP: what it accepts, what it refuses, and how it says so."""

import hashlib
import hmac
import json
import re
from collections.abc import AsyncIterator
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from urllib.parse import parse_qs, urlsplit
from zoneinfo import ZoneInfo

import httpx
import pytest

from adsunify.sandbox import Running, sandbox
from adsunify.sandbox.networks.meta import NETWORK

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
# The example of the sheet, section 5, word for word.
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
NOTHING = "nothing of this name is sent"


class Clock:
    """The only thing that is not real here."""

    def __init__(self) -> None:
        self.instant = datetime(2027, 1, 20, 12, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.instant


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
async def running(clock: Clock) -> AsyncIterator[Running]:
    async with sandbox(networks=[NETWORK], clock=clock) as running:
        yield running


@pytest.fixture
async def web(running: Running) -> AsyncIterator[httpx.AsyncClient]:
    """A client that is logged in."""
    async with httpx.AsyncClient(base_url=running.url) as web:
        web.headers["Authorization"] = f"Bearer {(await token(web))['access_token']}"
        yield web


async def token(web: httpx.AsyncClient) -> dict[str, Any]:
    """A fresh token, after a person has pressed the one button."""
    page = await web.get(DIALOG, params=CONSENT)
    action = re.search('action="([^"]*)"', page.text)
    assert page.status_code == 200
    assert action is not None
    pressed = await web.post(action[1].replace("&amp;", "&"))
    assert pressed.status_code == 302
    code = parse_qs(urlsplit(pressed.headers["Location"]).query)["code"][0]
    answer = await web.get(f"{GRAPH}/oauth/access_token", params={**APP, "redirect_uri": CALLBACK, "code": code})
    assert answer.status_code == 200
    issued: dict[str, Any] = answer.json()
    return issued


def form(values: dict[str, Any]) -> dict[str, str]:
    """Values as a form body carries them: strings and integers plain, all else as compact JSON."""
    return {
        name: str(value)
        if isinstance(value, str) or (isinstance(value, int) and not isinstance(value, bool))
        else json.dumps(value, separators=(",", ":"))
        for name, value in values.items()
        if value is not NOTHING
    }


async def post(web: httpx.AsyncClient, path: str, values: dict[str, Any]) -> httpx.Response:
    return await web.post(f"{GRAPH}/{path}", data=form(values))


async def made(web: httpx.AsyncClient, path: str, values: dict[str, Any]) -> str:
    answer = await post(web, path, values)
    assert answer.status_code == 200, answer.text
    assert list(answer.json()) == ["id"]
    return str(answer.json()["id"])


async def read(web: httpx.AsyncClient, path: str, **query: Any) -> Any:
    answer = await web.get(f"{GRAPH}/{path}", params=form(query))
    assert answer.status_code == 200, answer.text
    return answer.json()


async def example(web: httpx.AsyncClient, account: str = "act_7007") -> list[str]:
    """The four steps of the sheet's example."""
    return [
        await made(web, f"{account}/campaigns", CAMPAIGN),
        await made(web, f"{account}/adsets", ADSET),
        await made(web, f"{account}/adcreatives", CREATIVE),
        await made(web, f"{account}/ads", AD),
    ]


async def writes(web: httpx.AsyncClient) -> list[tuple[str, str, str]]:
    rows = (await web.get("/_sandbox/writes", params={"network": "meta"})).json()["writes"]
    return [(row["method"], row["kind"], row["id"]) for row in rows]


def refused(answer: httpx.Response, code: int, field: str | None = None, subcode: int | None = None) -> dict[str, Any]:
    """The error, in the shape of section 15."""
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


async def test_the_example_of_the_sheet(web: httpx.AsyncClient) -> None:
    assert await example(web) == ["6101", "6102", "6103", "6104"]
    for node in ("6104", "6102", "6101"):  # activation: ad, ad set, campaign (section 10)
        assert (await post(web, node, {"status": "ACTIVE"})).json() == {"success": True}
    assert await writes(web) == [
        ("POST", "campaign", "6101"),
        ("POST", "adset", "6102"),
        ("POST", "adcreative", "6103"),
        ("POST", "ad", "6104"),
        ("POST", "ad", "6104"),
        ("POST", "adset", "6102"),
        ("POST", "campaign", "6101"),
    ]


# Log-in (section 2)


@pytest.mark.parametrize(
    "wrong",
    [
        {"scope": "ads_read"},
        {"scope": SCOPES.replace(",", " ")},
        {"response_type": "token"},
        {"client_id": "other"},
        {"code_challenge": "c" * 43, "code_challenge_method": "S256"},
    ],
)
async def test_consent_is_refused(running: Running, wrong: dict[str, str]) -> None:
    async with httpx.AsyncClient(base_url=running.url) as web:
        assert (await web.get(DIALOG, params={**CONSENT, **wrong})).status_code == 400


async def test_tokens_from_code_to_the_end(web: httpx.AsyncClient, clock: Clock) -> None:
    short = await token(web)
    assert short == {"access_token": short["access_token"], "token_type": "bearer", "expires_in": 5400}
    tokens = f"{GRAPH}/oauth/access_token"
    exchange = {**APP, "grant_type": "fb_exchange_token", "fb_exchange_token": short["access_token"]}
    refused(await web.get(tokens, params={**exchange, "client_secret": "no"}), 101)
    refused(await web.get(tokens, params={**APP, "redirect_uri": CALLBACK, "code": "no"}), 100)
    refused(await web.get(tokens, params={**APP, "code": "no"}), 100, "redirect_uri")
    long = (await web.get(tokens, params=exchange)).json()
    assert (long["token_type"], long["expires_in"]) == ("bearer", 5184000)

    async def inspected(wanted: str) -> Any:
        return (await read(web, "debug_token", input_token=wanted, access_token="sandbox-meta|sandbox-secret"))["data"]

    data = await inspected(long["access_token"])
    assert data["is_valid"] is True
    assert data["expires_at"] == int(clock.instant.timestamp()) + 5184000
    assert data["scopes"] == SCOPES.split(",")
    assert {"scope": "ads_management", "target_ids": ["1001", "2002", "7007", "3003"]} in data["granular_scopes"]
    stranger = {"input_token": long["access_token"], "access_token": "sandbox-meta|no"}
    refused(await web.get(f"{GRAPH}/debug_token", params=stranger), 101)

    clock.instant += timedelta(hours=2)
    web.headers["Authorization"] = f"Bearer {short['access_token']}"
    refused(await web.get(f"{GRAPH}/me"), 190, subcode=463)
    refused(await web.get(tokens, params=exchange), 190, subcode=463)  # an expired one cannot be exchanged
    again = (await web.get(tokens, params={**exchange, "fb_exchange_token": long["access_token"]})).json()
    one = {**APP, "revoke_token": again["access_token"], "access_token": long["access_token"]}
    assert (await web.get(f"{GRAPH}/oauth/revoke", params=one)).json() == {"success": "true"}
    assert (await inspected(again["access_token"]))["is_valid"] is False
    web.headers["Authorization"] = f"Bearer {long['access_token']}"
    assert (await read(web, "me", fields="name")) == {"id": "100200300", "name": "Demo Person"}
    assert (await web.delete(f"{GRAPH}/me/permissions")).json() == {"success": True}
    refused(await web.get(f"{GRAPH}/me"), 190, subcode=467)


async def test_the_token_and_its_proof(web: httpx.AsyncClient) -> None:
    bearer = web.headers.pop("Authorization").removeprefix("Bearer ")
    refused(await web.get(f"{GRAPH}/me"), 190)
    refused(await web.get(f"{GRAPH}/me", params={"access_token": "other"}), 190, subcode=467)
    proof = hmac.new(b"sandbox-secret", bearer.encode(), hashlib.sha256).hexdigest()
    for right, status in ((proof, 200), (proof[:-1], 400), (proof.upper(), 400), ("", 400)):
        given = {"access_token": bearer, "appsecret_proof": right}
        assert (await web.get(f"{GRAPH}/me", params=given)).status_code == status
        assert (await post(web, "act_7007/campaigns", {**CAMPAIGN, **given})).status_code == status
    web.headers["Authorization"] = f"Bearer {bearer}"
    answer = await web.delete(f"{GRAPH}/6101", params={"appsecret_proof": "0" * 64})
    refused(answer, 100, "appsecret_proof")
    assert (await web.delete(f"{GRAPH}/6101", params={"appsecret_proof": proof})).json() == {"success": True}


# Accounts (section 3)


async def test_accounts(web: httpx.AsyncClient) -> None:
    fields = (
        "id,account_id,name,currency,timezone_name,account_status,disable_reason,min_daily_budget,"
        "default_dsa_beneficiary,default_dsa_payor,business{id,name}"
    )
    found = await read(web, "me/adaccounts", fields=fields, limit=100)
    assert found["data"][0] == {
        "id": "act_1001",
        "account_id": "1001",
        "name": "Demo New York",
        "currency": "USD",
        "timezone_name": "America/New_York",
        "account_status": 1,
        "disable_reason": 0,
        "min_daily_budget": 100,
        "default_dsa_beneficiary": "Demo Tea Inc.",
        "default_dsa_payor": "Demo Tea Inc.",
        "business": {"id": "551001", "name": "Demo New York Business"},
    }
    assert [(one["currency"], one["timezone_name"]) for one in found["data"]] == [
        ("USD", "America/New_York"),
        ("JPY", "Asia/Tokyo"),
        ("EUR", "Europe/Berlin"),
        ("GBP", "Europe/London"),
    ]
    assert "default_dsa_payor" not in found["data"][3]  # not set: left out
    assert "next" not in found["paging"]
    assert (await read(web, "act_2002", fields="currency,business")) == {
        "id": "act_2002",
        "currency": "JPY",
        "business": {"id": "552002"},
    }
    refused(await web.get(f"{GRAPH}/act_1", params={"fields": "id"}), 100, subcode=33)


async def test_paging(web: httpx.AsyncClient) -> None:
    first = await read(web, "me/adaccounts", limit=3)
    assert [one["id"] for one in first["data"]] == ["act_1001", "act_2002", "act_7007"]
    assert first["paging"]["next"].startswith("https://graph.facebook.com/v26.0/me/adaccounts?after=")
    second = await read(web, "me/adaccounts", limit=3, after=first["paging"]["cursors"]["after"])
    assert [one["id"] for one in second["data"]] == ["act_3003"]
    assert "next" not in second["paging"]
    third = await read(web, "me/adaccounts", limit=3, after=second["paging"]["cursors"]["after"])
    assert third == {"data": []}
    back = await read(web, "me/adaccounts", limit=3, before=second["paging"]["cursors"]["before"])
    assert back["data"] == first["data"]
    for query in ({"after": "nonsense"}, {"after": "e30"}, {"limit": "0"}, {"limit": "x"}):
        assert (await web.get(f"{GRAPH}/me/adaccounts", params=query)).json()["error"]["code"] == 100


@pytest.mark.parametrize("gone", ["pretty", "debug", "date_format", "ids"])
async def test_query_parameters_that_are_gone(web: httpx.AsyncClient, gone: str) -> None:
    refused(await web.get(f"{GRAPH}/me/adaccounts", params={gone: "1"}), 100, gone)


# Create (sections 5 to 9)


async def test_a_status_left_out_is_active(web: httpx.AsyncClient, clock: Clock) -> None:
    for path, values in (("campaigns", CAMPAIGN), ("adsets", ADSET), ("adcreatives", CREATIVE), ("ads", AD)):
        await made(web, f"act_7007/{path}", {**values, "status": NOTHING})
    fields = "status,effective_status"
    assert await read(web, "6101", fields=fields) == {"id": "6101", "status": "ACTIVE", "effective_status": "ACTIVE"}
    ad = await read(web, "6104", fields=fields)
    assert (ad["status"], ad["effective_status"]) == ("ACTIVE", "PENDING_REVIEW")
    clock.instant += timedelta(minutes=2)
    for node, status, effective in (
        ("6104", "ACTIVE", "ACTIVE"),
        ("6102", "PAUSED", "ADSET_PAUSED"),
        ("6101", "PAUSED", "CAMPAIGN_PAUSED"),
        ("6104", "PAUSED", "PAUSED"),
        ("6101", "ARCHIVED", "ARCHIVED"),
    ):
        await post(web, node, {"status": status})
        assert (await read(web, "6104", fields=fields))["effective_status"] == effective
    assert (await read(web, "6102", fields="effective_status"))["effective_status"] == "ARCHIVED"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": NOTHING}, "name"),
        ({"name": "n" * 401}, "name"),
        ({"objective": NOTHING}, "objective"),
        ({"objective": "TRAFFIC"}, "objective"),
        ({"status": "ARCHIVED"}, "status"),
        ({"buying_type": "FIXED"}, "buying_type"),
        ({"special_ad_categories": NOTHING}, "special_ad_categories"),
        ({"special_ad_categories": ["ALCOHOL"]}, "special_ad_categories"),
        ({"special_ad_categories": "HOUSING"}, "special_ad_categories"),
        ({"special_ad_categories": ["HOUSING"]}, "special_ad_category_country"),
        ({"special_ad_categories": ["NONE", "HOUSING"]}, "special_ad_categories"),
        ({"special_ad_category_country": ["usa"]}, "special_ad_category_country"),
        ({"is_adset_budget_sharing_enabled": NOTHING}, "is_adset_budget_sharing_enabled"),
        ({"is_adset_budget_sharing_enabled": "False"}, "is_adset_budget_sharing_enabled"),
        ({"is_adset_budget_sharing_enabled": 0}, "is_adset_budget_sharing_enabled"),
        ({"daily_budget": "18.50"}, "daily_budget"),
        ({"daily_budget": -1}, "daily_budget"),
        ({"daily_budget": 99}, "daily_budget"),
        ({"daily_budget": 500, "lifetime_budget": 900}, "lifetime_budget"),
        ({"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}, "bid_strategy"),
        ({"spend_cap": 9999}, "spend_cap"),
        ({"goal": "traffic"}, "goal"),
        ({"effective_status": "PAUSED"}, "effective_status"),
    ],
)
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    refused(await post(web, "act_7007/campaigns", {**CAMPAIGN, **change}), 100, field)
    assert await writes(web) == []


@pytest.mark.parametrize(
    "change",
    [
        {"special_ad_categories": ["NONE"]},
        {"special_ad_categories": ["HOUSING", "CREDIT"], "special_ad_category_country": ["US"]},
        {"daily_budget": 500, "bid_strategy": "LOWEST_COST_WITHOUT_CAP", "is_adset_budget_sharing_enabled": NOTHING},
        {"spend_cap": 10000, "start_time": "2027-03-01T08:00:00+0100"},
    ],
)
async def test_campaigns_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    assert await made(web, "act_7007/campaigns", {**CAMPAIGN, **change}) == "6101"


def targeting(**members: Any) -> dict[str, Any]:
    return {"targeting": {**NORWAY, **members}}


NO_BID = {"bid_strategy": "LOWEST_COST_WITHOUT_CAP", "bid_amount": NOTHING, "billing_event": "IMPRESSIONS"}
LIFETIME = {"daily_budget": NOTHING, "lifetime_budget": 90000, "end_time": "2027-03-31T21:59:59+0000"}
REFUSED_ADSETS: list[tuple[dict[str, Any], str]] = [
    ({"name": NOTHING}, "name"),
    ({"campaign_id": NOTHING}, "campaign_id"),
    ({"campaign_id": "x"}, "campaign_id"),
    ({"status": "DELETED"}, "status"),
    ({"optimization_goal": NOTHING}, "optimization_goal"),
    ({"optimization_goal": "CLICKS"}, "optimization_goal"),
    ({"optimization_goal": "OFFSITE_CONVERSIONS"}, "optimization_goal"),
    ({"billing_event": "THRUPLAY"}, "billing_event"),
    ({"billing_event": "PURCHASES"}, "billing_event"),
    ({"destination_type": "SHOP"}, "destination_type"),
    ({"promoted_object": {"page_id": "9009"}}, "promoted_object"),
    ({"promoted_object": {"page": "9009"}}, "promoted_object"),
    ({"bid_strategy": "MANUAL"}, "bid_strategy"),
    ({"bid_amount": NOTHING}, "bid_amount"),
    ({"bid_amount": "0.42"}, "bid_amount"),
    ({"bid_amount": 0}, "bid_amount"),
    ({"bid_amount": 1, "billing_event": "IMPRESSIONS"}, "bid_amount"),
    ({"bid_strategy": "COST_CAP", "bid_amount": NOTHING}, "bid_amount"),
    ({"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}, "bid_amount"),
    ({"bid_strategy": NOTHING}, "bid_amount"),
    ({"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "bid_amount": NOTHING}, "bid_constraints"),
    ({**NO_BID, "bid_constraints": {"roas_average_floor": 10000}}, "bid_constraints"),
    ({"daily_budget": NOTHING}, "daily_budget"),
    ({"daily_budget": 99}, "daily_budget"),
    ({"daily_budget": 18.5}, "daily_budget"),
    ({"lifetime_budget": 90000}, "lifetime_budget"),
    ({**LIFETIME, "end_time": NOTHING}, "end_time"),
    ({**LIFETIME, "lifetime_budget": 3099}, "lifetime_budget"),
    ({"end_time": "2027-03-02T08:00:00+0000"}, "end_time"),
    ({**LIFETIME, "end_time": "2027-01-20T11:00:00+0000", "start_time": NOTHING}, "end_time"),
    ({**LIFETIME, "end_time": "2027-02-28T08:00:00+0000"}, "end_time"),
    ({"start_time": "2027-03-01"}, "start_time"),
    ({"start_time": "2027-03-01T08:00:00"}, "start_time"),
    ({"start_time": "2027-02-30T08:00:00+0000"}, "start_time"),
    ({"targeting": NOTHING}, "targeting"),
    ({"targeting": "NO"}, "targeting"),
    ({"targeting": {"geo_locations": {"countries": ["NO"]}}}, "targeting"),
    ({"targeting": {"targeting_automation": {"advantage_audience": 0}}}, "targeting"),
    (targeting(targeting_automation={"advantage_audience": False}), "targeting"),
    (targeting(geo_locations={}), "targeting"),
    (targeting(geo_locations={"location_types": ["home"]}), "targeting"),
    (targeting(geo_locations={"country": ["NO"]}), "targeting"),
    (targeting(geo_locations={"countries": ["Norway"]}), "targeting"),
    (targeting(geo_locations={"cities": ["1590653"]}), "targeting"),
    (targeting(geo_locations={"cities": [{"key": 1590653}]}), "targeting"),
    (targeting(geo_locations={"countries": ["NO"], "cities": [{"key": "1590653"}]}), "targeting"),
    (targeting(geo_locations={"countries": ["US"], "zips": [{"key": "US:90210"}]}), "targeting"),
    (targeting(geo_locations={"countries": ["US"], "geo_markets": [{"key": "DMA:807"}]}), "targeting"),
    (targeting(geo_locations={"cities": [{"key": "1590653", "radius": 20}]}), "targeting"),
    (
        targeting(geo_locations={"cities": [{"key": "1590653", "radius": 5, "distance_unit": "kilometer"}]}),
        "targeting",
    ),
    (targeting(age_min=12), "targeting"),
    (targeting(age_min=40, age_max=30), "targeting"),
    (targeting(genders=[3]), "targeting"),
    (targeting(locales=["6"]), "targeting"),
    (targeting(device_platforms=["tablet"]), "targeting"),
    (targeting(messenger_positions=["story"]), "targeting"),
    (targeting(instagram_positions=["explore"]), "targeting"),
    (targeting(keyword=["tea"]), "targeting"),
    (targeting(geo_locations={"countries": ["NO", "DE"]}), "dsa_beneficiary"),
    (targeting(geo_locations={"countries": ["RE"]}), "dsa_beneficiary"),
    (targeting(geo_locations={"cities": [{"key": "624477"}]}), "dsa_beneficiary"),
    (targeting(geo_locations={"zips": [{"key": "FR:75001"}]}), "dsa_beneficiary"),
    (targeting(geo_locations={"country_groups": ["worldwide"]}), "dsa_beneficiary"),
    ({**targeting(geo_locations={"countries": ["DE"]}), "dsa_beneficiary": "Tea"}, "dsa_payor"),
    ({"adset_name": "x"}, "adset_name"),
]


@pytest.mark.parametrize(("change", "field"), REFUSED_ADSETS)
async def test_ad_sets_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    await made(web, "act_7007/campaigns", CAMPAIGN)
    refused(await post(web, "act_7007/adsets", {**ADSET, **change}), 100, field)
    assert len(await writes(web)) == 1


@pytest.mark.parametrize(
    "change",
    [
        NO_BID,
        {**NO_BID, "bid_strategy": NOTHING},
        {"billing_event": "IMPRESSIONS", "bid_amount": 2},
        {"bid_strategy": "COST_CAP"},
        {
            "bid_strategy": "LOWEST_COST_WITH_MIN_ROAS",
            "bid_amount": NOTHING,
            "bid_constraints": {"roas_average_floor": 15000},
        },
        LIFETIME,
        {**LIFETIME, "lifetime_budget": 3100},
        {"daily_budget": 100, "end_time": "2027-03-02T08:00:01+0000"},
        {"end_time": "0"},
        {"start_time": NOTHING},
        {"start_time": "2020-01-01T00:00:00+00:00"},
        {"optimization_goal": "LANDING_PAGE_VIEWS", "billing_event": "IMPRESSIONS"},
        targeting(geo_locations={"countries": ["US"], "cities": [{"key": "1590653"}]}),
        targeting(geo_locations={"zips": [{"key": "US:94304"}], "geo_markets": [{"key": "DMA:501"}]}),
        targeting(geo_locations={"cities": [{"key": "1590653", "radius": 17, "distance_unit": "kilometer"}]}),
        targeting(age_min=18, age_max=65, genders=[1], locales=[6], publisher_platforms=["facebook"]),
        targeting(flexible_spec=[{"interests": [{"id": "6003384248805", "name": "Tea (drink)"}]}]),
        {
            **targeting(geo_locations={"country_groups": ["worldwide"]}),
            "dsa_beneficiary": "Tea",
            "dsa_payor": "Tea",
        },
        {
            "targeting": {"custom_audiences": [{"id": "8401"}], "targeting_automation": {"advantage_audience": 1}},
            "dsa_beneficiary": "Tea",
            "dsa_payor": "Tea",
        },
    ],
)
async def test_ad_sets_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await made(web, "act_7007/campaigns", CAMPAIGN)
    assert await made(web, "act_7007/adsets", {**ADSET, **change}) == "6102"


AWARENESS = {**ADSET, **NO_BID, "optimization_goal": "REACH", "destination_type": NOTHING,
             "promoted_object": {"page_id": "9009"}}  # fmt: skip
CONVERSIONS = {**ADSET, **NO_BID, "optimization_goal": "OFFSITE_CONVERSIONS",
               "promoted_object": {"pixel_id": "8001", "custom_event_type": "PURCHASE"}}  # fmt: skip


@pytest.mark.parametrize(
    ("objective", "adset", "field"),
    [
        ("OUTCOME_AWARENESS", AWARENESS, None),
        ("OUTCOME_AWARENESS", {**AWARENESS, "destination_type": "WEBSITE"}, "destination_type"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "promoted_object": NOTHING}, "promoted_object"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "promoted_object": {"page_id": "page"}}, "promoted_object"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "optimization_goal": "LINK_CLICKS"}, "optimization_goal"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "billing_event": "LINK_CLICKS"}, "billing_event"),
        ("OUTCOME_SALES", CONVERSIONS, None),
        ("OUTCOME_SALES", {**CONVERSIONS, "promoted_object": {"pixel_id": "8001"}}, "promoted_object"),
        ("OUTCOME_SALES", {**CONVERSIONS, "promoted_object": {"custom_event_type": "LEAD"}}, "promoted_object"),
        (
            "OUTCOME_SALES",
            {**CONVERSIONS, "promoted_object": {"pixel_id": "8001", "custom_event_type": "OTHER"}},
            "promoted_object",
        ),
        (
            "OUTCOME_SALES",
            {**CONVERSIONS, "promoted_object": {"pixel_id": "8001", "custom_event_type": "BUY"}},
            "promoted_object",
        ),
        ("OUTCOME_SALES", {**CONVERSIONS, "optimization_goal": "LANDING_PAGE_VIEWS"}, "optimization_goal"),
    ],
)
async def test_goals(web: httpx.AsyncClient, objective: str, adset: dict[str, Any], field: str | None) -> None:
    await made(web, "act_7007/campaigns", {**CAMPAIGN, "objective": objective})
    answer = await post(web, "act_7007/adsets", adset)
    if field is None:
        assert answer.json() == {"id": "6102"}
    else:
        refused(answer, 100, field)


async def test_the_budget_sits_in_one_place(web: httpx.AsyncClient) -> None:
    await made(web, "act_7007/campaigns", {**CAMPAIGN, "lifetime_budget": 90000})
    bare = {**ADSET, **NO_BID, "daily_budget": NOTHING, "bid_strategy": NOTHING}
    refused(await post(web, "act_7007/adsets", {**bare, "daily_budget": 1850}), 100, "daily_budget")
    refused(
        await post(web, "act_7007/adsets", {**bare, "bid_strategy": "LOWEST_COST_WITHOUT_CAP"}), 100, "bid_strategy"
    )
    refused(await post(web, "act_7007/adsets", bare), 100, "end_time")
    await made(web, "act_7007/adsets", {**bare, "end_time": "2027-03-31T21:59:59+0000"})


async def test_click_billing_that_an_account_does_not_have(web: httpx.AsyncClient) -> None:
    await made(web, "act_3003/campaigns", CAMPAIGN)
    refused(await post(web, "act_3003/adsets", ADSET), 100, "billing_event", 2446404)
    await made(web, "act_3003/adsets", {**ADSET, **NO_BID})


async def test_yen_have_no_minor_unit(web: httpx.AsyncClient) -> None:
    await made(web, "act_2002/campaigns", CAMPAIGN)
    for change, field in (({"daily_budget": 99}, "daily_budget"), ({"bid_amount": 1}, "bid_amount")):
        refused(await post(web, "act_2002/adsets", {**ADSET, **change}), 100, field)
    await made(web, "act_2002/adsets", {**ADSET, "daily_budget": 100, "bid_amount": 2})
    rows = (await read(web, "act_2002/insights", level="account", time_increment="1"))["data"]
    assert all(re.fullmatch("[0-9]+", row["spend"]) for row in rows)


def story(**members: Any) -> dict[str, Any]:
    link_data = {name: value for name, value in {**LINK_DATA, **members}.items() if value is not NOTHING}
    return {"object_story_spec": {"page_id": "9009", "link_data": link_data}}


@pytest.mark.parametrize(
    ("change", "code", "field", "subcode"),
    [
        ({"object_story_spec": NOTHING}, 100, "object_story_spec", None),
        ({"status": "PAUSED"}, 100, "status", None),
        ({"object_story_spec": {"link_data": LINK_DATA}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": "9009"}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": 9009, "link_data": LINK_DATA}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": "page-missing", "link_data": LINK_DATA}}, 100, "object_story_spec", 33),
        ({"object_story_spec": {"page_id": "ineligible", "link_data": LINK_DATA}}, 200, "object_story_spec", None),
        (story(link=NOTHING), 100, "object_story_spec", None),
        (story(link="tea.example"), 100, "object_story_spec", None),
        (story(link="ftp://tea.example/"), 100, "object_story_spec", None),
        (story(headline="x"), 100, "object_story_spec", None),
        (story(image_hash=NOTHING), 100, "object_story_spec", None),
        (story(picture="https://tea.example/leaf.jpg"), 100, "object_story_spec", None),
        (story(image_hash="missing1"), 100, "object_story_spec", 33),
        (story(image_hash=NOTHING, picture="http://localhost/leaf.jpg"), 100, "object_story_spec", None),
        (story(image_hash=NOTHING, picture="http://10.0.0.1/leaf.jpg"), 100, "object_story_spec", None),
        (story(image_hash=NOTHING, picture="https://tea.example/missing.jpg"), 100, "object_story_spec", 33),
        (story(call_to_action={"type": "CLICK_HERE"}), 100, "object_story_spec", None),
        (story(call_to_action={"value": {"link": "https://tea.example/"}}), 100, "object_story_spec", None),
        (
            story(call_to_action={"type": "LEARN_MORE", "value": {"link": "https://tea.example/shop"}}),
            100,
            "object_story_spec",
            None,
        ),
    ],
)
async def test_creatives_that_are_refused(
    web: httpx.AsyncClient, change: dict[str, Any], code: int, field: str, subcode: int | None
) -> None:
    refused(await post(web, "act_7007/adcreatives", {**CREATIVE, **change}), code, field, subcode)
    assert await writes(web) == []


async def test_creatives_that_are_accepted(web: httpx.AsyncClient) -> None:
    await made(
        web, "act_7007/adcreatives", {**CREATIVE, **story(image_hash=NOTHING, picture="https://t.example/a.jpg")}
    )
    await made(web, "act_7007/adcreatives", {**CREATIVE, "name": NOTHING})
    await made(web, "act_7007/adcreatives", {"object_story_id": "9009_77"})
    shown = await read(web, "6101", fields="object_story_spec,status,title,call_to_action_type,image_hash")
    assert shown["object_story_spec"]["link_data"]["picture"] == "https://t.example/a.jpg"
    assert (shown["status"], shown["title"], shown["call_to_action_type"]) == ("ACTIVE", "Spring tea", "LEARN_MORE")
    assert "image_hash" not in shown


async def test_ads_and_their_parents(web: httpx.AsyncClient) -> None:
    await example(web)
    for change, field, subcode in (
        ({"name": NOTHING}, "name", None),
        ({"adset_id": "6101"}, "adset_id", 33),
        ({"adset_id": "77"}, "adset_id", 33),
        ({"creative": NOTHING}, "creative", None),
        ({"creative": {"id": "6103"}}, "creative", None),
        ({"creative": {"creative_id": 6103}}, "creative", None),
        ({"creative": "6103"}, "creative", None),
        ({"creative": {"creative_id": "6101"}}, "creative", 33),
        ({"creative": {"creative_id": "creative-missing"}}, "creative", 33),
        ({"creative": {"creative_id": "processing"}}, "creative", None),
        ({"status": "ARCHIVED"}, "status", None),
        ({"campaign_id": "6101"}, "campaign_id", None),
    ):
        refused(await post(web, "act_7007/ads", {**AD, **change}), 100, field, subcode)
    # nothing of one account exists in another
    refused(await post(web, "act_1001/ads", AD), 100, "adset_id", 33)
    refused(await post(web, "act_1001/adsets", ADSET), 100, "campaign_id", 33)
    refused(await post(web, "act_9/campaigns", CAMPAIGN), 100, subcode=33)
    assert await made(web, "act_7007/ads", {**AD, "creative": {"creative_id": "120000000000001"}}) == "6105"
    ad = await read(web, "6105", fields="creative{id,name},campaign_id,adset{name}")
    assert ad == {
        "id": "6105",
        "creative": {"id": "120000000000001", "name": "Creative 120000000000001"},
        "campaign_id": "6101",
        "adset": {"id": "6102", "name": "Tea spring"},
    }


async def test_an_ad_set_holds_fifty_ads(web: httpx.AsyncClient) -> None:
    await example(web)
    for _ in range(49):
        await made(web, "act_7007/ads", AD)
    refused(await post(web, "act_7007/ads", AD), 1487809, "adset_id")
    await post(web, "6104", {"status": "ARCHIVED"})
    await made(web, "act_7007/ads", AD)


async def test_validate_only_writes_nothing(web: httpx.AsyncClient) -> None:
    dry = {"execution_options": ["validate_only"]}
    assert (await post(web, "act_7007/campaigns", {**CAMPAIGN, **dry})).json() == {"success": True}
    refused(await post(web, "act_7007/campaigns", {**CAMPAIGN, **dry, "objective": "X"}), 100, "objective")
    assert await writes(web) == []
    assert await read(web, "act_7007/campaigns") == {"data": []}


async def test_bodies_are_forms(web: httpx.AsyncClient) -> None:
    path = f"{GRAPH}/act_7007/campaigns"
    refused(await web.post(path, json=CAMPAIGN), 100)
    refused(await web.post(path), 100)
    refused(await web.post(path, params=form(CAMPAIGN), data={"name": "x"}), 100, "name")
    twice = {"Content-Type": "application/x-www-form-urlencoded"}
    refused(await web.post(path, content="name=a&name=b", headers=twice), 100, "name")
    broken = {**form(CAMPAIGN), "special_ad_categories": "['NONE']"}
    refused(await web.post(path, data=broken), 100, "special_ad_categories")
    assert await writes(web) == []


async def test_versions_and_paths(web: httpx.AsyncClient) -> None:
    for version in ("v23.0", "v27.0"):
        refused(await web.get(f"/graph.facebook.com/{version}/me"), 2635)
    refused(await web.get(f"{GRAPH}/act_7007/adgroups"), 100, subcode=33)
    refused(await web.patch(f"{GRAPH}/act_7007"), 100)


# Update and delete (sections 10, 11, 14)


async def test_updates(web: httpx.AsyncClient, clock: Clock) -> None:
    await example(web)
    for node, change, shown in (
        ("6101", {"name": "Tea"}, {"name": "Tea"}),
        ("6101", {"spend_cap": 20000}, {"spend_cap": "20000"}),
        ("6102", {"daily_budget": 2000}, {"daily_budget": "2000", "budget_remaining": "2000"}),
        ("6102", {"bid_amount": 43}, {"bid_amount": 43}),
        ("6102", {"end_time": "2027-04-01T00:00:00+0200"}, {"end_time": "2027-04-01T00:00:00+0200"}),
        ("6102", {"end_time": "0"}, {}),
        ("6102", {"start_time": "2027-03-02T08:00:00Z"}, {"start_time": "2027-03-02T09:00:00+0100"}),
        ("6104", {"creative": {"creative_id": "120000000000009"}}, {"creative": {"id": "120000000000009"}}),
        ("6103", {"name": "New"}, {"name": "New"}),
    ):
        answer = await post(web, node, change)
        assert answer.json() == {"success": True}, change
        assert await read(web, node, fields=",".join(shown or change)) == {"id": node, **shown}
    assert (await post(web, "6102", {"bid_strategy": "LOWEST_COST_WITHOUT_CAP"})).status_code == 200
    assert await read(web, "6102", fields="bid_amount,bid_strategy") == {
        "id": "6102",
        "bid_strategy": "LOWEST_COST_WITHOUT_CAP",
    }
    dry = {"name": "Dry", "execution_options": ["validate_only"]}
    assert (await post(web, "6101", dry)).json() == {"success": True}
    assert (await read(web, "6101", fields="name"))["name"] == "Tea"


@pytest.mark.parametrize(
    ("node", "change", "field"),
    [
        ("6101", {"objective": "OUTCOME_SALES"}, "objective"),
        ("6101", {"buying_type": "AUCTION"}, "buying_type"),
        ("6101", {"daily_budget": 1000}, "daily_budget"),
        ("6101", {"bid_strategy": "COST_CAP"}, "bid_strategy"),
        ("6101", {"spend_cap": 50}, "spend_cap"),
        ("6101", {"status": "OFF"}, "status"),
        ("6101", {"special_ad_categories": ["CREDIT"]}, "special_ad_category_country"),
        ("6102", {"lifetime_budget": 90000}, "lifetime_budget"),
        ("6102", {"daily_budget": 10}, "daily_budget"),
        ("6102", {"optimization_goal": "REACH"}, "optimization_goal"),
        ("6102", {"billing_event": "IMPRESSIONS"}, "billing_event"),
        ("6102", {"destination_type": "APP"}, "destination_type"),
        ("6102", {"promoted_object": {"page_id": "9009"}}, "promoted_object"),
        ("6102", {"frequency_control_specs": [{"event": "IMPRESSIONS"}]}, "frequency_control_specs"),
        ("6102", {"campaign_id": "6101"}, "campaign_id"),
        ("6102", {"end_time": "2027-01-01T00:00:00+0000"}, "end_time"),
        ("6102", {"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS"}, "bid_constraints"),
        ("6102", {"targeting": {"geo_locations": {"countries": ["SE"]}}}, "targeting"),
        ("6102", targeting(geo_locations={"countries": ["SE"]}), "dsa_beneficiary"),
        ("6104", {"adset_id": "6102"}, "adset_id"),
        ("6104", {"creative": {"creative_id": "6102"}}, "creative"),
        ("6103", {"object_story_spec": CREATIVE["object_story_spec"]}, "object_story_spec"),
        ("6103", {"status": "PAUSED"}, "status"),
    ],
)
async def test_updates_that_are_refused(web: httpx.AsyncClient, node: str, change: dict[str, Any], field: str) -> None:
    await example(web)
    before = await writes(web)
    refused(await post(web, node, change), 100, field, 33 if field == "creative" else None)
    assert await writes(web) == before


async def test_the_start_is_locked_once_started(web: httpx.AsyncClient, clock: Clock) -> None:
    await example(web)
    clock.instant = datetime(2027, 3, 5, tzinfo=UTC)
    web.headers["Authorization"] = f"Bearer {(await token(web))['access_token']}"
    refused(await post(web, "6102", {"start_time": "2027-03-09T08:00:00+0000"}), 100, "start_time")
    assert (await post(web, "6102", {"start_time": ADSET["start_time"], "name": "Same"})).status_code == 200


async def test_a_lifetime_budget_keeps_its_end(web: httpx.AsyncClient) -> None:
    await made(web, "act_7007/campaigns", CAMPAIGN)
    await made(web, "act_7007/adsets", {**ADSET, **LIFETIME})
    refused(await post(web, "6102", {"end_time": "0"}), 100, "end_time")
    refused(await post(web, "6102", {"lifetime_budget": 3000}), 100, "lifetime_budget")
    refused(await post(web, "6102", {"daily_budget": 3000}), 100, "daily_budget")
    assert (await post(web, "6102", {"lifetime_budget": 80000})).status_code == 200


async def test_four_budget_changes_an_hour(web: httpx.AsyncClient, clock: Clock) -> None:
    await example(web)
    for budget in (2000, 2100, 2200, 2300, 2300):  # the last changes nothing
        assert (await post(web, "6102", {"daily_budget": budget})).status_code == 200
    answer = await post(web, "6102", {"daily_budget": 2400})
    refused(answer, 613, "daily_budget", 1487632)
    usage = json.loads(answer.headers["X-Business-Use-Case-Usage"])["6102"][0]
    assert usage["estimated_time_to_regain_access"] == 1
    assert (await read(web, "6102", fields="daily_budget"))["daily_budget"] == "2300"
    clock.instant += timedelta(minutes=61)
    assert (await post(web, "6102", {"daily_budget": 2400})).status_code == 200


async def test_deletes_take_the_children_along(web: httpx.AsyncClient) -> None:
    await example(web)
    refused(await web.delete(f"{GRAPH}/6103"), 100)  # used by the ad
    assert (await web.delete(f"{GRAPH}/6101")).json() == {"success": True}
    for node in ("6101", "6102", "6104"):
        state = await read(web, node, fields="status,effective_status")
        assert (state["status"], state["effective_status"]) == ("DELETED", "DELETED")
        refused(await post(web, node, {"status": "ACTIVE"}), 100, "status")
        refused(await web.delete(f"{GRAPH}/{node}"), 100, "status")
    assert (await writes(web))[4:] == [
        ("DELETE", "campaign", "6101"),
        ("DELETE", "adset", "6102"),
        ("DELETE", "ad", "6104"),
    ]
    assert (await web.delete(f"{GRAPH}/6103")).json() == {"success": True}
    refused(await post(web, "act_7007/adsets", ADSET), 100, "campaign_id", 33)
    refused(await web.delete(f"{GRAPH}/9999"), 100, subcode=33)
    refused(await post(web, "9999", {"status": "PAUSED"}), 100, subcode=33)


async def test_what_is_archived_can_only_be_deleted(web: httpx.AsyncClient) -> None:
    await example(web)
    await post(web, "6104", {"status": "ARCHIVED"})
    refused(await post(web, "6104", {"name": "New"}), 100, "status")
    refused(await post(web, "6104", {"status": "ACTIVE"}), 100, "status")
    assert (await post(web, "6104", {"status": "DELETED"})).json() == {"success": True}


# Nodes and lists (section 11)


async def test_only_the_fields_that_were_asked_for(web: httpx.AsyncClient) -> None:
    await example(web)
    assert await read(web, "6101") == {"id": "6101"}
    adset = await read(
        web,
        "6102",
        fields="name,campaign_id,status,daily_budget,lifetime_budget,bid_amount,start_time,end_time,targeting,"
        "campaign{name},learning_stage_info",
    )
    assert adset == {
        "id": "6102",
        "name": "Tea spring",
        "campaign_id": "6101",
        "status": "PAUSED",
        "daily_budget": "1850",
        "bid_amount": 42,
        "start_time": "2027-03-01T09:00:00+0100",  # in the account's zone
        "targeting": NORWAY,
        "campaign": {"id": "6101", "name": "Tea spring"},
    }
    for fields in ("title", "name,creative{nothing}", "name{", "name}", "{name}", "name,,id", "name,name"):
        refused(await web.get(f"{GRAPH}/6104", params={"fields": fields}), 100, "fields")
    refused(await web.get(f"{GRAPH}/act_7007/ads", params={"fields": "titel"}), 100, "fields")
    refused(await web.get(f"{GRAPH}/777", params={"fields": "id,name,status"}), 100, subcode=33)
    foreign = await read(web, "777", fields="id,name,status,object_type,thumbnail_url")  # made elsewhere
    assert (foreign["id"], foreign["status"]) == ("777", "ACTIVE")
    refused(await web.get(f"{GRAPH}/missing", params={"fields": "id,object_type"}), 100, subcode=33)


async def test_every_field_of_the_sheet_can_be_read(web: httpx.AsyncClient) -> None:
    await example(web)
    for node, fields in {
        "6101": "id,name,objective,status,effective_status,buying_type,special_ad_categories,daily_budget,"
        "lifetime_budget,spend_cap,bid_strategy,is_adset_budget_sharing_enabled,start_time,stop_time,created_time,"
        "updated_time",
        "6102": "id,name,campaign_id,status,effective_status,daily_budget,lifetime_budget,budget_remaining,"
        "bid_strategy,bid_amount,billing_event,optimization_goal,destination_type,promoted_object,targeting,"
        "start_time,end_time,frequency_control_specs,dsa_beneficiary,dsa_payor,learning_stage_info,issues_info",
        "6104": "id,name,adset_id,campaign_id,status,effective_status,"
        "creative{id,name,object_story_spec,thumbnail_url},ad_review_feedback,issues_info",
        "6103": "id,name,status,object_type,thumbnail_url",
    }.items():
        shown = await read(web, node, fields=fields)
        assert (shown["id"], shown["name"]) == (node, "Tea spring")
    campaign = await read(web, "6101", fields="special_ad_categories,is_adset_budget_sharing_enabled,created_time")
    assert campaign == {
        "id": "6101",
        "special_ad_categories": [],
        "is_adset_budget_sharing_enabled": False,
        "created_time": "2027-01-20T13:00:00+0100",
    }


async def test_lists(web: httpx.AsyncClient) -> None:
    await example(web)
    for name in ("Coffee", "Green TEA", "Old"):
        await made(web, "act_7007/campaigns", {**CAMPAIGN, "name": name, "status": "ACTIVE"})
    await web.delete(f"{GRAPH}/6107")

    async def names(path: str, **query: Any) -> list[str]:
        return [one["name"] for one in (await read(web, path, fields="name", **query))["data"]]

    assert await names("act_7007/campaigns") == ["Green TEA", "Coffee", "Tea spring"]
    assert await names("act_7007/campaigns", effective_status=["ACTIVE", "DELETED"]) == ["Old", "Green TEA", "Coffee"]
    tea = [{"field": "name", "operator": "CONTAIN", "value": "tea"}]
    assert await names("act_7007/campaigns", filtering=tea) == ["Green TEA", "Tea spring"]
    assert await names("act_7007/campaigns", filtering=tea, effective_status=["PAUSED"]) == ["Tea spring"]
    assert await names("act_1001/campaigns") == []
    assert await names("6101/adsets") == ["Tea spring"]
    assert await names("6105/adsets") == []
    for parent in ("6101", "6102", "act_7007"):
        assert await names(f"{parent}/ads") == ["Tea spring"]
    assert await names("act_7007/adcreatives") == ["Tea spring"]
    assert await read(web, "act_7007/adsets", fields="id,name,status,effective_status,campaign_id", limit=100) == {
        "data": [
            {
                "id": "6102",
                "name": "Tea spring",
                "status": "PAUSED",
                "effective_status": "PAUSED",
                "campaign_id": "6101",
            }
        ],
        "paging": {"cursors": {"before": "eyJyb3ciOjB9", "after": "eyJyb3ciOjB9"}},
    }
    page = await read(web, "act_7007/campaigns", limit=2)
    rest = await read(web, "act_7007/campaigns", limit=2, after=page["paging"]["cursors"]["after"])
    assert ([one["id"] for one in page["data"]], [one["id"] for one in rest["data"]]) == (["6106", "6105"], ["6101"])
    for path, query, field in (
        ("act_7007/campaigns", {"effective_status": ["CAMPAIGN_PAUSED"]}, "effective_status"),
        ("act_7007/adsets", {"effective_status": ["ADSET_PAUSED"]}, "effective_status"),
        ("act_7007/ads", {"effective_status": "ACTIVE"}, "effective_status"),
        ("act_7007/ads", {"filtering": [{"field": "name", "operator": "LIKE", "value": "x"}]}, "filtering"),
        ("act_7007/ads", {"search": "x"}, "search"),
    ):
        refused(await web.get(f"{GRAPH}/{path}", params=form(query)), 100, field)
    refused(await web.get(f"{GRAPH}/6104/adsets"), 100, subcode=33)


# Insights (section 12)

INSIGHTS: dict[str, Any] = {
    "level": "account",
    "time_increment": "1",
    "time_range": {"since": "2027-01-01", "until": "2027-01-31"},
    "fields": "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values",
    "limit": "500",
}


async def test_daily_rows(web: httpx.AsyncClient) -> None:
    answer = await read(web, "act_1001/insights", **INSIGHTS)
    rows = {row["date_start"]: row for row in answer["data"]}
    # up to today, which is the 20th in New York; the 13th is a day without delivery, but not within a week
    assert list(rows) == [f"2027-01-{day:02}" for day in range(1, 21)]
    earlier = await read(
        web, "act_1001/insights", **{**INSIGHTS, "time_range": {"since": "2026-12-12", "until": "2026-12-14"}}
    )
    assert [row["date_start"] for row in earlier["data"]] == ["2026-12-12", "2026-12-14"]
    assert "next" not in answer["paging"]
    for day, row in rows.items():
        assert row["date_stop"] == day
        assert row["account_currency"] == "USD"
        assert re.fullmatch(r"[0-9]+\.[0-9]{2}", row["spend"])
        assert 0 < int(row["clicks"]) <= int(row["reach"]) <= int(row["impressions"])
        assert "inline_link_clicks" not in row
        weekday = datetime.fromisoformat(day).weekday()
        kinds = [one["action_type"] for one in row.get("actions", [])]
        assert ("actions" in row, "action_values" in row) == (weekday != 6, weekday < 5)
        assert ("omni_purchase" in kinds, "video_view" in kinds) == (weekday < 5, weekday != 6)
        for one in row.get("action_values", []):
            assert re.fullmatch(r"[0-9]+\.[0-9]{2}", one["value"])
    assert answer == await read(web, "act_1001/insights", **INSIGHTS)  # the same again
    other = await read(web, "act_7007/insights", **INSIGHTS)
    assert [row["spend"] for row in other["data"]] != [row["spend"] for row in answer["data"]]


async def test_days_are_those_of_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2027, 1, 20, 20, 0, tzinfo=UTC)
    web.headers["Authorization"] = f"Bearer {(await token(web))['access_token']}"
    for account, zone in (("act_1001", "America/New_York"), ("act_2002", "Asia/Tokyo")):
        rows = (await read(web, f"{account}/insights", **INSIGHTS))["data"]
        assert rows[-1]["date_start"] == clock.instant.astimezone(ZoneInfo(zone)).date().isoformat()


async def test_insights_are_paged_and_added_up(web: httpx.AsyncClient) -> None:
    daily = (await read(web, "act_1001/insights", **INSIGHTS))["data"]
    first = await read(web, "act_1001/insights", **{**INSIGHTS, "limit": "15"})
    after = first["paging"]["cursors"]["after"]
    second = await read(web, "act_1001/insights", **{**INSIGHTS, "limit": "15"}, after=after)
    assert first["data"] + second["data"] == daily
    whole = (await read(web, "act_1001/insights", **{**INSIGHTS, "time_increment": "all_days"}))["data"]
    assert [(row["date_start"], row["date_stop"]) for row in whole] == [("2027-01-01", "2027-01-31")]
    assert Decimal(whole[0]["spend"]) == sum(Decimal(row["spend"]) for row in daily)
    assert int(whole[0]["impressions"]) == sum(int(row["impressions"]) for row in daily)
    assert (await read(web, "act_1001/insights"))["data"][0].keys() == {
        "date_start", "date_stop", "impressions", "spend",
    }  # fmt: skip


async def test_levels_show_what_delivers(web: httpx.AsyncClient) -> None:
    await example(web)
    campaigns = {**INSIGHTS, "level": "campaign", "fields": "campaign_id,campaign_name,impressions"}
    assert await read(web, "act_7007/insights", **campaigns) == {"data": []}
    for node in ("6104", "6102", "6101"):
        await post(web, node, {"status": "ACTIVE"})
    rows = (await read(web, "act_7007/insights", **campaigns))["data"]
    assert [(row["campaign_id"], row["campaign_name"], row["date_start"]) for row in rows] == [
        ("6101", "Tea spring", "2027-01-20")
    ]
    for node, level in (("6101", "ad"), ("6102", "ad"), ("6104", "ad"), ("6101", "campaign")):
        rows = (await read(web, f"{node}/insights", **{**INSIGHTS, "level": level, "fields": "ad_id"}))["data"]
        assert [row.get("ad_id") for row in rows] == ["6104" if level == "ad" else None]
    refused(await web.get(f"{GRAPH}/6102/insights", params=form(campaigns)), 100, "level")


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fields": "impressions,cost"}, "fields"),
        ({"level": "adgroup"}, "level"),
        ({"time_increment": "0"}, "time_increment"),
        ({"time_increment": "monthly"}, "time_increment"),
        ({"time_range": {"since": "2027-01-01"}}, "time_range"),
        ({"time_range": {"since": "2027-01-02", "until": "2027-01-01"}}, "time_range"),
        ({"time_range": {"since": "2023-12-19", "until": "2024-01-01"}}, "time_range"),
        ({"time_range": "2027-01-01"}, "time_range"),
        ({"date_preset": "today"}, "time_range"),
        ({"breakdowns": ["age"]}, "breakdowns"),
        ({"pretty": "0"}, "pretty"),
    ],
)
async def test_insights_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    asked = {**INSIGHTS, **change}
    refused(await web.get(f"{GRAPH}/act_1001/insights", params=form(asked)), 100, field)
    refused(await post(web, "act_1001/insights", asked), 100, field)


YEARS = {**INSIGHTS, "time_range": {"since": "2023-12-20", "until": "2027-01-20"}}
POLL = "async_status,async_percent_completion,error_code,error_message,error_subcode"


async def test_a_report_run(web: httpx.AsyncClient, clock: Clock) -> None:
    refused(await web.get(f"{GRAPH}/act_1001/insights", params=form(YEARS)), 100, subcode=1487534)
    started = (await post(web, "act_1001/insights", YEARS)).json()
    assert list(started) == ["report_run_id"]
    run = started["report_run_id"]
    seen: list[tuple[str, int]] = []
    for _ in range(5):
        early = await web.get(f"{GRAPH}/{run}/insights")
        assert early.status_code == (400 if len(seen) < 4 else 200)
        state = await read(web, run, fields=POLL)
        assert set(state) == {"id", "async_status", "async_percent_completion"}
        seen.append((state["async_status"], state["async_percent_completion"]))
    assert seen == [
        ("Job Not Started", 0),
        ("Job Started", 0),
        ("Job Running", 100),
        ("Job Completed", 100),
        ("Job Completed", 100),
    ]
    rows: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = await read(web, f"{run}/insights", limit=500, **after)
        rows += page["data"]
        if "next" not in page["paging"]:
            break
        after = {"after": page["paging"]["cursors"]["after"]}
    assert (rows[0]["date_start"], rows[-1]["date_start"]) == ("2023-12-20", "2027-01-20")
    assert len(rows) > 1000
    assert rows[-20:] == (await read(web, "act_1001/insights", **INSIGHTS))["data"]
    assert await writes(web) == []
    clock.instant += timedelta(days=31)
    web.headers["Authorization"] = f"Bearer {(await token(web))['access_token']}"
    refused(await web.get(f"{GRAPH}/{run}", params={"fields": POLL}), 100, subcode=33)


async def test_a_report_run_that_fails(web: httpx.AsyncClient) -> None:
    await tell(web, "error_in_200")
    run = (await post(web, "act_1001/insights", YEARS)).json()["report_run_id"]
    states = [await read(web, run, fields=POLL) for _ in range(4)]
    assert states[-1] == {
        "id": run,
        "async_status": "Job Failed",
        "async_percent_completion": 100,
        "error_code": 2,
        "error_subcode": 1504018,
        "error_message": "The report could not be made",
    }
    refused(await web.get(f"{GRAPH}/{run}/insights"), 100)


# Catalogs (section 13)


@pytest.mark.parametrize(
    ("edge", "fields", "first"),
    [
        ("promote_pages", "id,name", {"id": "9009", "name": "Tea House"}),
        (
            "adspixels",
            "id,name,last_fired_time,is_unavailable",
            {
                "id": "8001",
                "name": "Tea pixel",
                "last_fired_time": "2026-11-20T09:30:00+0000",
                "is_unavailable": False,
            },
        ),
        (
            "customconversions",
            "id,name,custom_event_type,pixel",
            {"id": "8101", "name": "Big basket", "custom_event_type": "PURCHASE", "pixel": {"id": "8001"}},
        ),
        (
            "adimages",
            "hash,name,url,width,height,status",
            {
                "id": "1:0f1e2d",
                "hash": "0f1e2d",
                "name": "leaves.jpg",
                "url": "https://scontent.example/0f1e2d.jpg",
                "width": 1200,
                "height": 628,
                "status": "ACTIVE",
            },
        ),
        (
            "advideos",
            "id,title,length,status",
            {"id": "8201", "title": "Brewing tea", "length": 14.8, "status": {"video_status": "ready"}},
        ),
        ("instagram_accounts", "id,username", {"id": "8301", "username": "teahouse"}),
        ("customaudiences", "id,name,subtype", {"id": "8401", "name": "Newsletter readers", "subtype": "CUSTOM"}),
        ("saved_audiences", "id,name", {"id": "8501", "name": "Norway, 25 to 45"}),
        ("dsa_recommendations", None, {"recommendations": ["Demo Berlin", "Demo Berlin Business"]}),
        (
            "minimum_budgets",
            None,
            {
                "currency": "EUR",
                "min_daily_budget_imp": 100,
                "min_daily_budget_high_freq": 100,
                "min_daily_budget_low_freq": 4000,
                "min_daily_budget_video_views": 100,
            },
        ),
    ],
)
async def test_catalogs(web: httpx.AsyncClient, edge: str, fields: str | None, first: dict[str, Any]) -> None:
    found = await read(web, f"act_7007/{edge}", **({} if fields is None else {"fields": fields}))
    assert found["data"][0] == first
    refused(await web.get(f"{GRAPH}/act_7007/{edge}", params={"fields": "nothing"}), 100, "fields")
    refused(await web.get(f"{GRAPH}/act_9/{edge}"), 100, subcode=33)


async def test_searches(web: httpx.AsyncClient) -> None:
    types = ["country", "region", "city", "zip", "geo_market"]
    found = await read(web, "search", type="adgeolocation", q="new york", location_types=types, limit=25)
    assert [f"{one['type']}:{one['key']}" for one in found["data"]] == [
        "region:3875",
        "city:2490299",
        "geo_market:DMA:501",
    ]
    assert found["data"][1] == {
        "key": "2490299",
        "name": "New York",
        "type": "city",
        "country_code": "US",
        "country_name": "United States",
        "region": "New York",
        "region_id": 3875,
        "supports_region": False,
        "supports_city": False,
    }
    assert [one["name"] for one in (await read(web, "search", type="adinterest", q="tea"))["data"]] == [
        "Tea (drink)",
        "Green tea (drink)",
    ]
    assert (await read(web, "search", type="adlocale", q="english"))["data"] == [
        {"key": 6, "name": "English (US)"},
        {"key": 24, "name": "English (UK)"},
    ]
    assert len((await read(web, "search", type="adlocale"))["data"]) == 6
    assert (await read(web, "search", type="adgeolocation", q="nowhere"))["data"] == []
    for query, field in (
        ({"type": "adgeolocation"}, "q"),
        ({"type": "adinterest"}, "q"),
        ({"type": "adcity", "q": "x"}, "type"),
        ({"q": "x"}, "type"),
        ({"type": "adgeolocation", "q": "x", "location_types": '["town"]'}, "location_types"),
        ({"type": "adgeolocation", "q": "x", "location_types": "city"}, "location_types"),
    ):
        refused(await web.get(f"{GRAPH}/search", params=query), 100, field)


async def test_images_and_pages(web: httpx.AsyncClient) -> None:
    answer = await post(web, "act_7007/adimages", {"bytes": "aW1hZ2U="})
    digest = hashlib.md5(b"image").hexdigest()
    assert answer.json() == {"images": {"bytes": {"hash": digest, "url": f"https://scontent.example/{digest}.jpg"}}}
    assert [one["hash"] for one in (await read(web, "act_7007/adimages", fields="hash"))["data"]][-1] == digest
    assert await writes(web) == [("POST", "adimage", f"7007:{digest}")]
    for wrong in ({"bytes": "not base64!"}, {"bytes": NOTHING, "copy_from": {}}):
        refused(await post(web, "act_7007/adimages", wrong), 100, "bytes")
    assert (await read(web, "me/accounts", fields="id,name"))["data"][0] == {"id": "9009", "name": "Tea House"}


# Faults and rate limits (section 15)


async def tell(web: httpx.AsyncClient, fault: str, **more: Any) -> None:
    answer = await web.post("/_sandbox/faults", json={"network": "meta", "fault": fault, **more})
    assert (answer.status_code, answer.json().get("note")) == (200, None)


@pytest.mark.parametrize(
    ("status", "code", "subcode", "transient"),
    [
        (400, 100, None, False),
        (401, 190, 463, False),
        (403, 200, 294, False),
        (404, 100, 33, False),
        (429, 80004, None, True),
        (500, 1, None, True),
        (503, 2, None, True),
        (504, 1, 1504018, True),
    ],
)
async def test_told_statuses(
    web: httpx.AsyncClient, status: int, code: int, subcode: int | None, transient: bool
) -> None:
    await tell(web, "status", value=status, method="POST")
    answer = await post(web, "act_7007/campaigns", CAMPAIGN)
    assert answer.status_code == status
    assert refused(answer, code, subcode=subcode)["is_transient"] is transient
    assert await writes(web) == []
    assert await made(web, "act_7007/campaigns", CAMPAIGN) == "6101"


async def test_rate_headers(web: httpx.AsyncClient) -> None:
    await tell(web, "status", value=429, path="/v26.0/act_7007")
    for minutes, percent in ((1, 100), (0, 1)):  # the second call is answered well
        headers = (await web.get(f"{GRAPH}/act_7007/campaigns")).headers
        assert json.loads(headers["X-Business-Use-Case-Usage"]) == {
            "7007": [
                {
                    "type": "ads_management",
                    "call_count": percent,
                    "total_cputime": 1,
                    "total_time": percent,
                    "estimated_time_to_regain_access": minutes,
                    "ads_api_access_tier": "standard_access",
                }
            ]
        }
        assert json.loads(headers["X-App-Usage"])["call_count"] == percent
        assert json.loads(headers["X-Ad-Account-Usage"]) == {
            "acc_id_util_pct": percent,
            "reset_time_duration": 60 * minutes,
        }


async def test_insights_have_limits_of_their_own(web: httpx.AsyncClient) -> None:
    for status, code, subcode in ((400, 100, 1487534), (429, 80000, None)):
        await tell(web, "status", value=status)
        refused(await web.get(f"{GRAPH}/act_7007/insights"), code, subcode=subcode)


@pytest.mark.parametrize("fault", ["reset_after", "truncate", "html", "empty"])
async def test_after_these_faults_the_write_stands(web: httpx.AsyncClient, fault: str) -> None:
    await tell(web, fault)
    try:
        answer = await post(web, "act_7007/campaigns", CAMPAIGN)
    except httpx.RemoteProtocolError:
        assert fault in ("reset_after", "truncate")
    else:
        assert fault in ("html", "empty")
        assert answer.content[:1] in (b"<", b"")
    assert await writes(web) == [("POST", "campaign", "6101")]


async def test_faults_that_mean_nothing_here(web: httpx.AsyncClient) -> None:
    for fault in ("partial", "slow_media"):
        told = await web.post("/_sandbox/faults", json={"network": "meta", "fault": fault})
        assert "never happen" in told.json()["note"]
