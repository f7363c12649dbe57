"""The simulated Meta Marketing API over real HTTP: its example, log-in, accounts, paging, faults."""

import hashlib
import hmac
import json
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.meta_calls import (
    APP,
    CALLBACK,
    CAMPAIGN,
    CONSENT,
    DIALOG,
    GRAPH,
    SCOPES,
    Clock,
    create_entity,
    create_example,
    get_token,
    inject_fault,
    post,
    read,
    read_refusal,
)


async def test_the_example_of_the_documentation(web: httpx.AsyncClient) -> None:
    assert await create_example(web) == ["6101", "6102", "6103", "6104"]
    for node in ("6104", "6102", "6101"):  # activation: ad, ad set, campaign
        assert (await post(web, node, {"status": "ACTIVE"})).json() == {"success": True}
    assert await list_writes(web) == [
        ("POST", "campaign", "6101"),
        ("POST", "adset", "6102"),
        ("POST", "adcreative", "6103"),
        ("POST", "ad", "6104"),
        ("POST", "ad", "6104"),
        ("POST", "adset", "6102"),
        ("POST", "campaign", "6101"),
    ]


# Log-in


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
async def test_consent_is_refused(web: httpx.AsyncClient, wrong: dict[str, str]) -> None:
    assert (await web.get(DIALOG, params={**CONSENT, **wrong})).status_code == 400


async def test_tokens_from_code_to_the_end(web: httpx.AsyncClient, clock: Clock) -> None:
    short = await get_token(web)
    assert short == {"access_token": short["access_token"], "token_type": "bearer", "expires_in": 5400}
    tokens = f"{GRAPH}/oauth/access_token"
    exchange = {**APP, "grant_type": "fb_exchange_token", "fb_exchange_token": short["access_token"]}
    read_refusal(await web.get(tokens, params={**exchange, "client_secret": "no"}), 101)
    read_refusal(await web.get(tokens, params={**APP, "redirect_uri": CALLBACK, "code": "no"}), 100)
    read_refusal(await web.get(tokens, params={**APP, "code": "no"}), 100, "redirect_uri")
    long = (await web.get(tokens, params=exchange)).json()
    assert (long["token_type"], long["expires_in"]) == ("bearer", 5184000)

    async def inspect_token(token: str) -> Any:
        return (await read(web, "debug_token", input_token=token, access_token="sandbox-meta|sandbox-secret"))["data"]

    data = await inspect_token(long["access_token"])
    assert data["is_valid"] is True
    assert data["expires_at"] == int(clock.instant.timestamp()) + 5184000
    assert data["scopes"] == SCOPES.split(",")
    assert {"scope": "ads_management", "target_ids": ["1001", "2002", "7007", "3003"]} in data["granular_scopes"]
    stranger = {"input_token": long["access_token"], "access_token": "sandbox-meta|no"}
    read_refusal(await web.get(f"{GRAPH}/debug_token", params=stranger), 101)

    clock.instant += timedelta(hours=2)
    web.headers["Authorization"] = f"Bearer {short['access_token']}"
    read_refusal(await web.get(f"{GRAPH}/me"), 190, subcode=463)
    read_refusal(await web.get(tokens, params=exchange), 190, subcode=463)  # an expired one cannot be exchanged
    again = (await web.get(tokens, params={**exchange, "fb_exchange_token": long["access_token"]})).json()
    form = {**APP, "revoke_token": again["access_token"], "access_token": long["access_token"]}
    assert (await web.get(f"{GRAPH}/oauth/revoke", params=form)).json() == {"success": "true"}
    assert (await inspect_token(again["access_token"]))["is_valid"] is False
    web.headers["Authorization"] = f"Bearer {long['access_token']}"
    assert (await read(web, "me", fields="name")) == {"id": "100200300", "name": "Demo Person"}
    assert (await web.delete(f"{GRAPH}/me/permissions")).json() == {"success": True}
    read_refusal(await web.get(f"{GRAPH}/me"), 190, subcode=467)


async def test_the_token_and_its_proof(web: httpx.AsyncClient) -> None:
    bearer = web.headers.pop("Authorization").removeprefix("Bearer ")
    read_refusal(await web.get(f"{GRAPH}/me"), 190)
    read_refusal(await web.get(f"{GRAPH}/me", params={"access_token": "other"}), 190, subcode=467)
    proof = hmac.new(b"sandbox-secret", bearer.encode(), hashlib.sha256).hexdigest()
    for right, status in ((proof, 200), (proof[:-1], 400), (proof.upper(), 400), ("", 400)):
        parameters = {"access_token": bearer, "appsecret_proof": right}
        assert (await web.get(f"{GRAPH}/me", params=parameters)).status_code == status
        assert (await post(web, "act_7007/campaigns", {**CAMPAIGN, **parameters})).status_code == status
    web.headers["Authorization"] = f"Bearer {bearer}"
    answer = await web.delete(f"{GRAPH}/6101", params={"appsecret_proof": "0" * 64})
    read_refusal(answer, 100, "appsecret_proof")
    assert (await web.delete(f"{GRAPH}/6101", params={"appsecret_proof": proof})).json() == {"success": True}


# Accounts


async def test_accounts(web: httpx.AsyncClient) -> None:
    fields = (
        "id,account_id,name,currency,timezone_name,account_status,disable_reason,min_daily_budget,"
        "default_dsa_beneficiary,default_dsa_payor,business{id,name}"
    )
    page = await read(web, "me/adaccounts", fields=fields, limit=100)
    assert page["data"][0] == {
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
    assert [(account["currency"], account["timezone_name"]) for account in page["data"]] == [
        ("USD", "America/New_York"),
        ("JPY", "Asia/Tokyo"),
        ("EUR", "Europe/Berlin"),
        ("GBP", "Europe/London"),
    ]
    assert "default_dsa_payor" not in page["data"][3]  # not set: left out
    assert "next" not in page["paging"]
    assert (await read(web, "act_2002", fields="currency,business")) == {
        "id": "act_2002",
        "currency": "JPY",
        "business": {"id": "552002"},
    }
    read_refusal(await web.get(f"{GRAPH}/act_1", params={"fields": "id"}), 100, subcode=33)


async def test_paging(web: httpx.AsyncClient) -> None:
    first = await read(web, "me/adaccounts", limit=3)
    assert [row["id"] for row in first["data"]] == ["act_1001", "act_2002", "act_7007"]
    assert first["paging"]["next"].startswith("https://graph.facebook.com/v26.0/me/adaccounts?after=")
    second = await read(web, "me/adaccounts", limit=3, after=first["paging"]["cursors"]["after"])
    assert [row["id"] for row in second["data"]] == ["act_3003"]
    assert "next" not in second["paging"]
    third = await read(web, "me/adaccounts", limit=3, after=second["paging"]["cursors"]["after"])
    assert third == {"data": []}
    previous_page = await read(web, "me/adaccounts", limit=3, before=second["paging"]["cursors"]["before"])
    assert previous_page["data"] == first["data"]
    for query in ({"after": "nonsense"}, {"after": "e30"}, {"limit": "0"}, {"limit": "x"}):
        assert (await web.get(f"{GRAPH}/me/adaccounts", params=query)).json()["error"]["code"] == 100


@pytest.mark.parametrize("gone", ["pretty", "debug", "date_format", "ids"])
async def test_query_parameters_that_are_gone(web: httpx.AsyncClient, gone: str) -> None:
    read_refusal(await web.get(f"{GRAPH}/me/adaccounts", params={gone: "1"}), 100, gone)


# Faults and rate limits


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
    await inject_fault(web, "status", value=status, method="POST")
    answer = await post(web, "act_7007/campaigns", CAMPAIGN)
    assert answer.status_code == status
    assert read_refusal(answer, code, subcode=subcode)["is_transient"] is transient
    assert await list_writes(web) == []
    assert await create_entity(web, "act_7007/campaigns", CAMPAIGN) == "6101"


async def test_rate_headers(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429, path="/v26.0/act_7007")
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
        await inject_fault(web, "status", value=status)
        read_refusal(await web.get(f"{GRAPH}/act_7007/insights"), code, subcode=subcode)


@pytest.mark.parametrize("fault", ["reset_after", "truncate", "html", "empty"])
async def test_after_these_faults_the_write_stands(web: httpx.AsyncClient, fault: str) -> None:
    await inject_fault(web, fault)
    try:
        answer = await post(web, "act_7007/campaigns", CAMPAIGN)
    except httpx.RemoteProtocolError:
        assert fault in ("reset_after", "truncate")
    else:
        assert fault in ("html", "empty")
        assert answer.content[:1] in (b"<", b"")
    assert await list_writes(web) == [("POST", "campaign", "6101")]


async def test_faults_that_mean_nothing_here(web: httpx.AsyncClient) -> None:
    for fault in ("partial", "slow_media"):
        answer = await web.post("/_sandbox/faults", json={"network": "meta", "fault": fault})
        assert "never happen" in answer.json()["note"]
