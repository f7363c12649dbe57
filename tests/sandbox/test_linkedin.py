"""The simulated LinkedIn API, whole paths: log-in, accounts, create, activate, read, report."""

from datetime import timedelta

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.linkedin_calls import (
    APP,
    CALLBACK,
    CONSENT,
    EVERY,
    FINDER,
    GROUP,
    HEADERS,
    OAUTH,
    REST,
    US_ACCOUNT,
    Clock,
    activate_example,
    build_url,
    create_example,
    get_code,
    inject_fault,
    open_client,
    post,
    post_form,
    read,
    read_entity,
    read_refusal,
    request_token,
)

# The documented example


async def test_the_example_is_created_and_activated(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    assert example == {
        "group": "adCampaignGroups/7021",
        "campaign": "adCampaigns/7022",
        "creative": "creatives/urn:li:sponsoredCreative:7023",
    }
    assert await list_writes(web) == [
        ("POST", "campaignGroup", "7021"), ("POST", "campaign", "7022"), ("POST", "creative", "7023"),
    ]  # fmt: skip
    campaign = await read_entity(web, example["campaign"])
    assert (campaign["id"], campaign["status"], campaign["format"]) == (7022, "PAUSED", "STANDARD_UPDATE")
    assert campaign["servingStatuses"] == ["STOPPED", "CAMPAIGN_START_DATE_HOLD"]
    assert (await read_entity(web, example["creative"]))["intendedStatus"] == "DRAFT"
    await activate_example(web, example)
    clock.instant += timedelta(days=2)
    assert (await read_entity(web, example["group"]))["servingStatuses"] == ["RUNNABLE"]
    assert (await read_entity(web, example["campaign"]))["servingStatuses"] == ["RUNNABLE"]
    creative = await read_entity(web, example["creative"])
    assert (creative["id"], creative["isServing"]) == ("urn:li:sponsoredCreative:7023", True)
    assert creative["review"] == {"status": "APPROVED"}


async def test_ids_stand_in_headers_beside_misleading_ones(web: httpx.AsyncClient) -> None:
    group = await post(web, "adCampaignGroups", GROUP)
    assert (group.content, group.headers["x-restli-id"]) == (b"", "7021")
    assert group.headers["Location"] == "/adAccounts/518121035/adCampaignGroups/7021"
    assert {"x-li-uuid", "x-li-fabric", "x-li-request-id"} <= {*group.headers}


# Logging in


async def test_a_refresh_does_not_lengthen_the_refresh_token(web: httpx.AsyncClient, clock: Clock) -> None:
    first = (await request_token(web, code=await get_code(web))).json()
    assert (first["expires_in"], first["refresh_token_expires_in"]) == (5184000, 31536000)
    assert first["scope"] == CONSENT["scope"]
    clock.instant += timedelta(days=60)
    second = (await request_token(web, refresh_token=first["refresh_token"])).json()
    assert second["refresh_token"] == first["refresh_token"]
    assert second["refresh_token_expires_in"] == 31536000 - 60 * 86400
    assert second["scope"] == CONSENT["scope"].replace(" ", ",")
    clock.instant += timedelta(days=305)
    late = await request_token(web, refresh_token=first["refresh_token"])
    assert (late.status_code, late.json()["error"]) == (400, "invalid_grant")


async def test_a_code_is_good_for_once_and_for_its_redirect(web: httpx.AsyncClient) -> None:
    code = await get_code(web)
    elsewhere = await request_token(web, code=code, redirect_uri="https://app.example/other")
    assert elsewhere.json()["error"] == "invalid_grant"
    assert (await request_token(web, code=code)).status_code == 200
    assert (await request_token(web, code=code)).json()["error"] == "invalid_grant"
    wrong = await request_token(web, code=await get_code(web), client_secret="guessed")
    assert (wrong.status_code, wrong.json()["error"]) == (401, "invalid_client")


async def test_credentials_stand_in_the_form_and_never_in_basic(web: httpx.AsyncClient) -> None:
    body = {"grant_type": "authorization_code", "code": await get_code(web), "redirect_uri": CALLBACK, **APP}
    answer = await web.post(f"{OAUTH}/accessToken", data=body, auth=(APP["client_id"], APP["client_secret"]))
    assert (answer.status_code, answer.json()["error"]) == (400, "invalid_request")


@pytest.mark.parametrize(
    "wrong", [{"scope": "rw_ads rw_everything"}, {"code_challenge": "a" * 43}, {"redirect_uri": "http://app.example/"}]
)
async def test_consent_is_refused(web: httpx.AsyncClient, wrong: dict[str, str]) -> None:
    page = await web.get(f"{OAUTH}/authorization", params={**CONSENT, **wrong})
    assert page.status_code == 400, page.text


async def test_a_token_is_introspected_and_revoked(web: httpx.AsyncClient) -> None:
    issued = (await request_token(web, code=await get_code(web))).json()
    for which in ("access_token", "refresh_token"):
        introspection = (await post_form(web, "introspectToken", token=issued[which])).json()
        assert (introspection["active"], introspection["auth_type"]) == (True, "3L")
        assert (await post_form(web, "revoke", token=issued[which])).status_code == 200
        assert not (await post_form(web, "introspectToken", token=issued[which])).json()["active"]
    answer = await web.get(f"{REST}/adAccounts?q=search", headers={"Authorization": f"Bearer {issued['access_token']}"})
    assert answer.json()["serviceErrorCode"] == 65600
    read_refusal(answer, 401, "INVALID_ACCESS_TOKEN")


async def test_an_expired_token_has_its_own_number(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant += timedelta(days=60)
    answer = await web.get(f"{REST}/adAccounts?q=search")
    read_refusal(answer, 401, "EXPIRED_ACCESS_TOKEN")
    assert answer.json()["serviceErrorCode"] == 65602


async def test_scopes_open_only_their_own_doors(clock: Clock) -> None:
    async with open_client(clock, scope="r_ads") as web:
        assert len((await read(web, "adAccounts?q=search"))["elements"]) == 4
        read_refusal(await post(web, "adCampaignGroups", GROUP), 403, "ACCESS_DENIED")
        read_refusal(await web.get(f"{REST}/posts/urn%3Ali%3Ashare%3A1"), 403, "ACCESS_DENIED")
        read_refusal(await web.get(f"{REST}/adAnalytics?q=analytics"), 403, "ACCESS_DENIED")
        read_refusal(await web.get(f"{REST}/organizationAcls?q=roleAssignee"), 403, "ACCESS_DENIED")


# Headers


@pytest.mark.parametrize(
    ("name", "value", "status", "code"),
    [
        ("LinkedIn-Version", None, 400, "VERSION_MISSING"),
        ("LinkedIn-Version", "202512", 426, "NONEXISTENT_VERSION"),
        ("LinkedIn-Version", "202401", 426, "NONEXISTENT_VERSION"),
        ("LinkedIn-Version", "2026-09", 426, "NONEXISTENT_VERSION"),
        ("X-Restli-Protocol-Version", None, 400, "INVALID_VALUE_FOR_FIELD"),
        ("X-Restli-Protocol-Version", "1.0.0", 400, "INVALID_VALUE_FOR_FIELD"),
        ("Authorization", "Bearer nobody", 401, "INVALID_ACCESS_TOKEN"),
    ],
)
async def test_headers_of_every_call(
    web: httpx.AsyncClient, name: str, value: str | None, status: int, code: str
) -> None:
    request = web.build_request("GET", f"{REST}/adAccounts?q=search", headers=HEADERS)
    if value is None:
        del request.headers[name]
    else:
        request.headers[name] = value
    read_refusal(await web.send(request), status, code)


# Accounts


async def test_accounts(web: httpx.AsyncClient) -> None:
    page = await read(web, "adAccounts?q=search&search=(status:(values:List(ACTIVE)))&pageSize=500")
    assert [(row["id"], row["currency"], row["type"]) for row in page["elements"]] == [
        (518121035, "USD", "BUSINESS"),
        (518121036, "JPY", "BUSINESS"),
        (518121037, "EUR", "ENTERPRISE"),
        (518121038, "GBP", "BUSINESS"),
    ]
    assert "metadata" not in page
    account = await read(web, f"adAccounts/{US_ACCOUNT}")
    assert (account["reference"], account["status"], account["test"]) == (
        "urn:li:organization:7700123",
        "ACTIVE",
        False,
    )
    roles = await read(web, "adAccountUsers?q=authenticatedUser&start=3")
    assert [(row["account"], row["role"]) for row in roles["elements"]] == [
        ("urn:li:sponsoredAccount:518121038", "VIEWER")
    ]
    read_refusal(await web.get(f"{REST}/adAccounts/9"), 404, "NOT_FOUND")


# Faults


async def test_errors_have_two_shapes(web: httpx.AsyncClient) -> None:
    newer = (await web.get(build_url("adCampaignGroups?q=search"))).json()
    assert newer["errorDetailType"] == "com.linkedin.common.error.BadRequest"
    assert newer["errorDetails"]["inputErrors"][0]["input"] == {"inputPath": {"fieldPath": "/search"}}
    legacy = (await web.get(build_url("creatives?q=criteria&campaigns=List()"), headers=FINDER)).json()
    assert {*legacy} == {"status", "serviceErrorCode", "code", "message"}


async def test_a_throttled_call_names_no_time(web: httpx.AsyncClient) -> None:
    await inject_fault(web, fault="status", value=429)
    answer = await post(web, "adCampaignGroups", GROUP)
    assert answer.json()["message"] == "Resource level throttle limit for calls to this resource is reached."
    assert (answer.status_code, "Retry-After" in answer.headers) == (429, False)
    assert await list_writes(web) == []
    await inject_fault(web, fault="reset_after")
    with pytest.raises(httpx.TransportError):
        await post(web, "adCampaignGroups", GROUP)
    groups = await read(web, f"adAccounts/{US_ACCOUNT}/adCampaignGroups?q=search&{EVERY}")
    assert [row["id"] for row in groups["elements"]] == [7021, 60518121035]
