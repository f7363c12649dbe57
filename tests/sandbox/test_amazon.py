"""The simulated Amazon Ads network: connecting, headers, media types, and faults."""

import base64
import hashlib
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.amazon_calls import (
    APP,
    CAMPAIGN,
    CONSENT,
    EU,
    FE,
    ID,
    KEYWORD,
    MEDIA,
    NA,
    PAGES,
    TOKENS,
    Amazon,
    Clock,
    get_code,
    read_reason,
    redeem_code,
)


@pytest.fixture
def http(amazon: Amazon) -> httpx.AsyncClient:
    return amazon.http


@pytest.mark.parametrize("page", PAGES)
@pytest.mark.parametrize("host", TOKENS)
async def test_codes_of_every_page_are_redeemed_at_every_token_host(
    http: httpx.AsyncClient, page: str, host: str
) -> None:
    assert "<form" in (await http.get(f"/{page}", params=CONSENT)).text
    tokens = await redeem_code(http, await get_code(http, page), host)
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
    proof_key = {"code_challenge": challenge, "code_challenge_method": "S256"}
    assert (await redeem_code(http, await get_code(http, **proof_key), code_verifier=verifier)).status_code == 200
    wrong = await redeem_code(http, await get_code(http, **proof_key), code_verifier="w" * 43)
    assert (wrong.status_code, wrong.json()["error"]) == (400, "invalid_grant")
    assert (await redeem_code(http, await get_code(http, **proof_key))).json()["error"] == "invalid_grant"


async def test_refused_consents_and_tokens(http: httpx.AsyncClient, clock: Clock) -> None:
    for wrong in ({"scope": "other"}, {"client_id": "x"}, {"response_type": "token"}, {"redirect_uri": "http://a.b"}):
        assert (await http.post(f"/{PAGES[0]}", params={**CONSENT, **wrong})).status_code == 400
    code = await get_code(http)
    assert (await redeem_code(http, code, client_secret="no")).json()["error"] == "invalid_client"
    assert (await redeem_code(http, code, redirect_uri="https://other.example")).json()["error"] == "invalid_grant"
    assert (await redeem_code(http, code, grant_type="password")).json()["error"] == "unsupported_grant_type"
    assert (await redeem_code(http, code, surplus="x")).json()["error"] == "invalid_request"
    assert (await redeem_code(http, code)).status_code == 200
    assert set((await redeem_code(http, code)).json()) == {"error", "error_description"}  # single use
    late = await get_code(http)
    clock.instant += timedelta(minutes=5)
    assert (await redeem_code(http, late)).json()["error"] == "invalid_grant"


async def test_required_headers(amazon: Amazon, clock: Clock) -> None:
    path, body = "/sp/campaigns/list", dict[str, Any]()
    for header in ("Authorization", "Amazon-Advertising-API-ClientId"):
        value = amazon.http.headers.pop(header)
        answer = await amazon.call_sp("POST", path, body)
        assert (answer.status_code, answer.json()["code"]) == (401, "UNAUTHORIZED")
        assert (await amazon.call("GET", "/v2/profiles", profile=None)).json()["code"] == "401"
        amazon.http.headers[header] = value
    bare = amazon.http.headers["Authorization"].replace("Atza|", "")
    assert (await amazon.call_sp("POST", path, body, Authorization=bare)).status_code == 401
    assert (await amazon.call_sp("POST", path, body, Amazon_Advertising_API_ClientId="another")).status_code == 401
    missing = await amazon.call("POST", path, body, profile=None, Content_Type=MEDIA["campaigns"])
    assert missing.status_code == 401
    clock.instant += timedelta(hours=1)
    expired = await amazon.call_sp("POST", path, body)
    assert (expired.status_code, set(expired.json())) == (401, {"code", "message"})


async def test_profiles_stand_at_the_host_of_their_region(amazon: Amazon) -> None:
    expected = {
        NA: (3301234567890121, "US", "USD", "America/Los_Angeles", "seller"),
        EU: (3301234567890122, "DE", "EUR", "Europe/Paris", "vendor"),
        FE: (9123456789012345, "JP", "JPY", "Asia/Tokyo", "seller"),
    }
    for host, expected_profile in expected.items():
        answer = await amazon.call("GET", "/v2/profiles?profileTypeFilter=seller,vendor", host=host, profile=None)
        [profile] = answer.json()
        facts = (profile["profileId"], profile["countryCode"], profile["currencyCode"], profile["timezone"])
        assert (*facts, profile["accountInfo"]["type"]) == expected_profile
        assert ("name" in profile["accountInfo"]) == (host != FE)
        assert ("validPaymentMethod" in profile["accountInfo"]) == (host == EU)
        by_id = await amazon.call("GET", f"/v2/profiles/{expected_profile[0]}", host=host, profile=None)
        assert by_id.json() == profile
        for other in {NA, EU, FE} - {host}:
            assert (
                await amazon.call("GET", f"/v2/profiles/{expected_profile[0]}", host=other, profile=None)
            ).status_code == 404
            refused = await amazon.call_sp(
                "POST", "/sp/campaigns/list", {}, host=other, profile=str(expected_profile[0])
            )
            assert (refused.status_code, refused.json()["message"]) == (401, "Not authorized to access scope")
    unknown = await amazon.call_sp("POST", "/sp/campaigns/list", {}, profile="1")
    assert (unknown.status_code, unknown.json()["message"]) == (401, "No matching advertiser found for scope")
    assert (await amazon.call("GET", "/v2/profiles?profileTypeFilter=agency", profile=None)).json() == []
    assert (await amazon.call("GET", "/v2/profiles?validPaymentMethodFilter=false", profile=None)).json() == []
    assert (await amazon.call("GET", "/v2/profiles?profileTypeFilter=buyer", profile=None)).status_code == 400
    assert (await amazon.call("GET", "/v2/profiles")).status_code == 400  # no Scope header here


@pytest.mark.parametrize("collection", list(ID))
async def test_media_types_are_required_both_ways(amazon: Amazon, collection: str) -> None:
    media, plain = MEDIA[collection], "application/json"
    for method, path in (("POST", ""), ("PUT", ""), ("POST", "/list"), ("POST", "/delete")):
        where = f"/sp/{collection}{path}"
        wrong = await amazon.call(method, where, {}, Content_Type=plain, Accept=media)
        assert (wrong.status_code, wrong.json()["code"]) == (415, "UNSUPPORTED_MEDIA_TYPE")
        assert (await amazon.call(method, where, {}, Content_Type=media, Accept=plain)).status_code == 406
        assert (await amazon.call(method, where, {}, Content_Type=media, Accept="*/*")).status_code == 406
    other = next(media_type for name, media_type in MEDIA.items() if name != collection)
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
    answer = await amazon.call_sp("POST", "/sp/campaigns", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "INVALID_ARGUMENT")
    [error] = answer.json()["errors"]
    assert list(error["errorValue"]) == [error["errorType"]]
    assert await amazon.list_writes() == []


async def test_unknown_paths_methods_and_parameters(amazon: Amazon) -> None:
    assert (await amazon.call_sp("POST", "/sp/campaigns?dryRun=true", {"campaigns": []})).status_code == 400
    assert (await amazon.call_sp("POST", "/sp/campaigns", {"campaigns": []}, Prefer="return=all")).status_code == 400
    assert (await amazon.call_sp("PATCH", "/sp/campaigns", {})).status_code == 405
    assert (await amazon.call_sp("GET", "/sp/campaigns/1", None)).status_code == 404


async def test_partial_fails_the_last_item_only(amazon: Amazon, parents: dict[str, str]) -> None:
    await amazon.inject_fault("partial", method="POST", path="/sp/keywords")
    items = [{**parents, **KEYWORD, "keywordText": name} for name in ("a", "b", "c")]
    outcome = await amazon.write("POST", "keywords", *items)
    assert [row["index"] for row in outcome["success"]] == [0, 1]
    assert [(row["index"], read_reason(row)[0]) for row in outcome["error"]] == [(2, "otherError")]
    assert [kind for _, kind, _ in await amazon.list_writes()].count("keyword") == 2
    assert (await amazon.write("POST", "keywords", items[2]))["error"] == []


async def test_error_in_200_throttles_every_item(amazon: Amazon) -> None:
    await amazon.inject_fault("error_in_200")
    outcome = await amazon.write("POST", "campaigns", CAMPAIGN, {**CAMPAIGN, "name": "Second"})
    assert outcome["success"] == []
    assert [read_reason(row)[:2] for row in outcome["error"]] == [("throttledError", "THROTTLED")] * 2
    assert await amazon.list_writes() == []
    assert await amazon.create_entity("campaigns", CAMPAIGN)


async def test_a_report_can_fail(amazon: Amazon) -> None:
    job = (await amazon.request_report()).json()["reportId"]
    await amazon.inject_fault("error_in_200", path="/reporting")
    failed = (await amazon.call("GET", f"/reporting/reports/{job}")).json()
    assert (failed["status"], bool(failed["failureReason"]), failed["url"]) == ("FAILED", True, None)


@pytest.mark.parametrize(("status", "code"), [(429, "THROTTLED"), (500, "INTERNAL_ERROR"), (503, "INTERNAL_ERROR"),
                                              (403, "ACCESS_DENIED")])  # fmt: skip
async def test_told_statuses(amazon: Amazon, status: int, code: str) -> None:
    await amazon.inject_fault("status", value=status, path=f"/{NA}/sp", times=1)
    answer = await amazon.call_sp("POST", "/sp/campaigns", {"campaigns": [CAMPAIGN]})
    assert (answer.status_code, answer.json()["code"]) == (status, code)
    assert ("Retry-After" in answer.headers) == (status == 429)
    assert await amazon.list_writes() == []
    await amazon.inject_fault("status", value=status)
    platform = await amazon.request_report()
    assert (platform.status_code, platform.json()["code"], "detail" in platform.json()) == (status, str(status), True)


async def test_a_lost_answer_is_applied_and_a_repeat_never_doubles(amazon: Amazon) -> None:
    """Creating the same name again gives duplicateValueError."""
    await amazon.inject_fault("reset_after")
    with pytest.raises(httpx.TransportError):
        await amazon.write("POST", "campaigns", CAMPAIGN)
    assert len(await amazon.list_writes()) == 1
    assert (await amazon.get_refusal("POST", "campaigns", CAMPAIGN))[1] == "NAME_NOT_UNIQUE"


async def test_a_reset_forgets_everything_but_tokens(amazon: Amazon, campaign: str) -> None:
    await amazon.http.post("/_sandbox/reset")
    assert [row["name"] for row in (await amazon.list_entities("campaigns", {}))["campaigns"]] == ["Evergreen US"]
    assert await amazon.list_writes() == []
