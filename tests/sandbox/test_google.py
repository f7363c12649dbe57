"""The simulated Google Ads API over real HTTP: log-in, accounts, headers, errors, faults, tables."""

import base64
import hashlib
from datetime import timedelta
from typing import Any
from urllib.parse import urlencode

import httpx
import pytest

from adsunify.sandbox.networks.google.messages import FieldType, MessageFields
from adsunify.sandbox.networks.google.tables import (
    MUTATE_MESSAGE,
    QUERY_FIELDS,
    RESOURCE_BY_NAME,
    SEARCH_MESSAGE,
    SUGGEST_MESSAGE,
)
from tests.sandbox.google_calls import (
    ACCOUNTS_HOST,
    ADS,
    APP,
    CAMPAIGN,
    CLOSED,
    CONSENT,
    CREATE,
    DIRECT,
    JAPAN,
    MANAGER,
    SPEC,
    TOKENS,
    US,
    Clock,
    change_example,
    get_code,
    list_writes,
    read_refusal,
    read_resource_names,
    redeem_code,
    search,
    search_rows,
    send,
)


# Log-in -----------------------------------------------------------------------------------------------------------
async def test_consent_token_refresh_and_revoke(web: httpx.AsyncClient) -> None:
    redeemed = await redeem_code(web, code=await get_code(web, include_granted_scopes="true"))
    tokens = redeemed.json()
    assert redeemed.status_code == 200
    assert {name: tokens[name] for name in ("expires_in", "scope", "token_type")} == {
        "expires_in": 3599, "scope": CONSENT["scope"], "token_type": "Bearer"}  # fmt: skip
    refreshed = await web.post(
        f"{TOKENS}/token", data={"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **APP}
    )
    assert refreshed.status_code == 200
    assert "refresh_token" not in refreshed.json()
    web.headers["Authorization"] = f"Bearer {refreshed.json()['access_token']}"
    assert (await search(web, "SELECT customer.id FROM customer")).status_code == 200

    revoked = await web.post(f"{TOKENS}/revoke", data={"token": tokens["refresh_token"]})
    assert (revoked.status_code, revoked.json()) == (200, {})
    assert read_refusal(await search(web, "SELECT customer.id FROM customer"))["code"] == (
        "authenticationError.OAUTH_TOKEN_INVALID")  # fmt: skip
    again = await web.post(f"{TOKENS}/revoke", data={"token": tokens["refresh_token"]})
    assert (again.status_code, again.json()["error"]) == (400, "invalid_token")
    refused = await web.post(
        f"{TOKENS}/token", data={"grant_type": "refresh_token", "refresh_token": tokens["refresh_token"], **APP}
    )
    assert (refused.status_code, refused.json()["error"]) == (400, "invalid_grant")


async def test_pkce_binds_the_code(web: httpx.AsyncClient) -> None:
    verifier = "v" * 43
    challenge = base64.urlsafe_b64encode(hashlib.sha256(verifier.encode()).digest()).rstrip(b"=").decode()
    proof_key = {"code_challenge": challenge, "code_challenge_method": "S256"}
    assert (await redeem_code(web, code=await get_code(web, **proof_key))).json()["error"] == "invalid_grant"
    assert (await redeem_code(web, code=await get_code(web, **proof_key), code_verifier="w" * 43)).status_code == 400
    assert (await redeem_code(web, code=await get_code(web, **proof_key), code_verifier=verifier)).status_code == 200


@pytest.mark.parametrize(
    ("member", "value"),
    [
        ("access_type", "online"), ("access_type", None), ("prompt", "none"), ("prompt", None), ("scope", "email"),
        ("scope", None), ("response_type", "token"), ("client_id", "other"), ("state", None), ("surprise", "x"),
    ],
)  # fmt: skip
async def test_the_consent_page_is_strict(web: httpx.AsyncClient, member: str, value: str | None) -> None:
    parameters = {name: text for name, text in {**CONSENT, member: value}.items() if text is not None}
    assert (await web.get(f"{ACCOUNTS_HOST}/o/oauth2/v2/auth?{urlencode(parameters)}")).status_code == 400


@pytest.mark.parametrize(
    ("form", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"redirect_uri": "http://127.0.0.1:9/other"}, 400, "invalid_grant"),
        ({"grant_type": "password"}, 400, "unsupported_grant_type"),
        ({"surprise": "x"}, 400, "invalid_request"),
    ],
)
async def test_token_calls_are_refused(web: httpx.AsyncClient, form: dict[str, str], status: int, error: str) -> None:
    answer = await redeem_code(web, **{"code": await get_code(web), **form})
    assert (answer.status_code, answer.json()["error"]) == (status, error)


async def test_a_code_is_redeemed_once(web: httpx.AsyncClient) -> None:
    once = await get_code(web)
    assert (await redeem_code(web, code=once)).status_code == 200
    assert (await redeem_code(web, code=once)).json()["error"] == "invalid_grant"


# Headers and accounts ---------------------------------------------------------------------------------------------
async def test_a_token_is_needed_and_expires(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant += timedelta(seconds=3600)
    expired = await search(web, "SELECT customer.id FROM customer")
    assert (expired.status_code, read_refusal(expired)["status"]) == (401, "UNAUTHENTICATED")
    assert read_refusal(expired)["code"] == "authenticationError.OAUTH_TOKEN_EXPIRED"
    web.headers["Authorization"] = "Bearer nonsense"
    assert read_refusal(await send(web, CREATE))["code"] == "authenticationError.OAUTH_TOKEN_INVALID"
    del web.headers["Authorization"]
    missing = await send(web, CREATE)
    assert (missing.status_code, missing.json()["error"]["status"]) == (401, "UNAUTHENTICATED")
    assert "details" not in missing.json()["error"]


async def test_accounts_are_found_as_the_documentation_finds_them(web: httpx.AsyncClient) -> None:
    web.headers["login-customer-id"] = "not looked at"
    accounts = (await web.get(f"{ADS}/customers:listAccessibleCustomers")).json()
    assert accounts == {"resourceNames": [f"customers/{customer}" for customer in (DIRECT, MANAGER, CLOSED)]}
    query = """SELECT customer_client.id, customer_client.descriptive_name, customer_client.currency_code,
 customer_client.time_zone,
 customer_client.manager, customer_client.test_account, customer_client.status, customer_client.level,
 customer_client.hidden
FROM customer_client WHERE customer_client.status = 'ENABLED'"""
    web.headers["login-customer-id"] = MANAGER
    by_id = {row["customerClient"]["id"]: row["customerClient"] for row in await search_rows(web, query, MANAGER)}
    assert by_id.keys() == {MANAGER, US, JAPAN}
    assert by_id[MANAGER] == {
        "id": MANAGER, "descriptiveName": "Demo Manager", "currencyCode": "USD", "timeZone": "America/New_York",
        "manager": True, "testAccount": True, "status": "ENABLED"}  # fmt: skip
    assert by_id[JAPAN] == {
        "id": JAPAN, "descriptiveName": "Demo Japan", "currencyCode": "JPY", "timeZone": "Asia/Tokyo",
        "testAccount": True, "status": "ENABLED", "level": "1"}  # fmt: skip
    web.headers["login-customer-id"] = DIRECT
    (alone,) = await search_rows(web, query, DIRECT)
    assert alone["customerClient"]["id"] == DIRECT
    assert alone["customerClient"].keys().isdisjoint({"manager", "level", "hidden", "testAccount"})
    web.headers["login-customer-id"] = CLOSED
    closed = await search(web, query, CLOSED)
    assert (closed.status_code, read_refusal(closed)["code"]) == (403, "authorizationError.CUSTOMER_NOT_ENABLED")


@pytest.mark.parametrize(
    ("login", "customer", "code"),
    [
        (MANAGER, US, None), (MANAGER, MANAGER, None), (DIRECT, DIRECT, None), (None, DIRECT, None),
        (None, MANAGER, None),
        (None, US, "authorizationError.USER_PERMISSION_DENIED"),
        (US, US, "authorizationError.USER_PERMISSION_DENIED"),
        (MANAGER, DIRECT, "authorizationError.USER_PERMISSION_DENIED"),
        (DIRECT, US, "authorizationError.USER_PERMISSION_DENIED"),
        ("1234567890", US, "authorizationError.USER_PERMISSION_DENIED"),
        (MANAGER, "1234567890", "authorizationError.USER_PERMISSION_DENIED"),
        ("555-000-1110", US, "headerError.INVALID_LOGIN_CUSTOMER_ID"),
        (MANAGER, "555-000-1111", "requestError.INVALID_CUSTOMER_ID"),
    ],
)  # fmt: skip
async def test_login_customer_id(web: httpx.AsyncClient, login: str | None, customer: str, code: str | None) -> None:
    del web.headers["login-customer-id"]
    if login is not None:
        web.headers["login-customer-id"] = login
    web.headers["developer-token"] = "ignored since its sunset"
    answer = await search(web, "SELECT customer.id FROM customer", customer)
    if code is None:
        assert answer.json()["results"] == [{"customer": {"id": customer}}]
    else:
        assert read_refusal(answer)["code"] == code
        assert answer.status_code == (403 if "authorization" in code else 400)


async def test_a_manager_has_no_campaigns_and_no_metrics(web: httpx.AsyncClient) -> None:
    refused = await send(web, CREATE, MANAGER)
    assert read_refusal(refused)["code"] == "requestError.CANNOT_BE_EXECUTED_BY_MANAGER_ACCOUNT"
    query = "SELECT metrics.clicks FROM customer WHERE segments.date BETWEEN '2027-01-01' AND '2027-01-02'"
    assert read_refusal(await search(web, query, MANAGER))["code"] == "queryError.REQUESTED_METRICS_FOR_MANAGER"


# Errors and faults ------------------------------------------------------------------------------------------------
async def inject_fault(web: httpx.AsyncClient, fault: str, **more: Any) -> None:
    answer = await web.post("/_sandbox/faults", json={"network": "google", "fault": fault, **more})
    assert "note" not in answer.json(), answer.text


@pytest.mark.parametrize(
    ("status", "canonical", "code"),
    [
        (400, "INVALID_ARGUMENT", "fieldError.INVALID_VALUE"),
        (401, "UNAUTHENTICATED", "authenticationError.OAUTH_TOKEN_INVALID"),
        (403, "PERMISSION_DENIED", "authorizationError.USER_PERMISSION_DENIED"),
        (404, "NOT_FOUND", "requestError.RESOURCE_NOT_FOUND"),
        (409, "ABORTED", "databaseError.CONCURRENT_MODIFICATION"),
        (429, "RESOURCE_EXHAUSTED", "quotaError.RESOURCE_TEMPORARILY_EXHAUSTED"),
        (500, "INTERNAL", "internalError.INTERNAL_ERROR"),
        (503, "UNAVAILABLE", "internalError.TRANSIENT_ERROR"),
        (504, "DEADLINE_EXCEEDED", "internalError.DEADLINE_EXCEEDED"),
    ],
)
async def test_told_statuses_have_the_native_shape(
    web: httpx.AsyncClient, status: int, canonical: str, code: str
) -> None:
    await inject_fault(web, "status", value=status)
    answer = await send(web, CREATE)
    refusal = read_refusal(answer)
    assert (answer.status_code, refusal["status"], refusal["code"]) == (status, canonical, code)
    if status == 429:
        assert refusal["details"]["quotaErrorDetails"]["retryDelay"] == "2s"
    assert await list_writes(web) == []
    read_resource_names(await send(web, CREATE))


async def test_a_told_partial_applies_all_but_the_last(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "partial")
    answer = (await send(web, CREATE)).json()
    assert [bool(result) for result in answer["mutateOperationResponses"]] == [True] * 5 + [False]
    (error,) = answer["partialFailureError"]["details"][0]["errors"]
    assert error["errorCode"] == {"databaseError": "CONCURRENT_MODIFICATION"}
    assert [write["kind"] for write in await list_writes(web)] == [
        "budget",
        "campaign",
        "criterion",
        "adGroup",
        "keyword",
    ]


async def test_a_told_error_in_200_applies_nothing(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "error_in_200")
    answer = await send(web, CREATE)
    assert answer.status_code == 200
    assert answer.json()["mutateOperationResponses"] == [{}] * 6
    assert len(answer.json()["partialFailureError"]["details"][0]["errors"]) == 6
    assert await list_writes(web) == []


async def test_lost_answers(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "reset_after")
    with pytest.raises(httpx.TransportError):
        await send(web, CREATE)
    assert len(await list_writes(web)) == 6
    await inject_fault(web, "reset_before")
    with pytest.raises(httpx.TransportError):
        await send(web, change_example(CAMPAIGN, name="Other"))
    assert len(await list_writes(web)) == 6


async def test_malformed_requests(web: httpx.AsyncClient) -> None:
    path = f"{ADS}/customers/{US}/googleAds:mutate"
    for content, media in (
        ("{", "application/json"),
        ('{"\\ud800": 1}', "application/json"),
        ("{}", "text/plain"),
    ):
        answer = await web.post(path, content=content, headers={"Content-Type": media})
        assert (answer.status_code, answer.json()["error"]["status"]) == (400, "INVALID_ARGUMENT")
        assert answer.headers["request-id"]
    assert read_refusal(await web.post(f"{path}?alt=json", json=CREATE))["code"] == "fieldError.INVALID_VALUE"
    assert (await web.post(f"{ADS[:-3]}v22/customers/{US}/googleAds:mutate", json=CREATE)).status_code == 404
    assert (await web.get(path)).status_code == 405


async def test_a_reset_keeps_tokens_and_forgets_campaigns(web: httpx.AsyncClient) -> None:
    read_resource_names(await send(web, CREATE))
    await web.post("/_sandbox/reset")
    assert await search_rows(web, "SELECT campaign.id FROM campaign") == []
    read_resource_names(await send(web, CREATE))


# The tables against the descriptors -------------------------------------------------------------------------------
MESSAGES = {
    "campaign_budget": "resources.CampaignBudget", "campaign": "resources.Campaign", "ad_group": "resources.AdGroup",
    "campaign_criterion": "resources.CampaignCriterion", "ad_group_criterion": "resources.AdGroupCriterion",
    "ad_group_ad": "resources.AdGroupAd", "campaign_conversion_goal": "resources.CampaignConversionGoal",
    "customer": "resources.Customer", "customer_client": "resources.CustomerClient",
    "geo_target_constant": "resources.GeoTargetConstant", "language_constant": "resources.LanguageConstant",
    "currency_constant": "resources.CurrencyConstant", "conversion_action": "resources.ConversionAction",
    "metrics": "common.Metrics",
}  # fmt: skip
TYPES = {
    "text": {"string"}, "integer": {"int64 (JSON string)"}, "money": {"int64 (JSON string)"}, "whole": {"int32"},
    "number": {"double", "float"}, "boolean": {"bool"},
}  # fmt: skip


@pytest.mark.specs
@pytest.mark.skipif(SPEC is None, reason="ADSUNIFY_SPECS names no folder of specs")
def test_the_tables_agree_with_the_descriptors() -> None:
    messages, enums = SPEC["messages"], SPEC["enums"]
    compared = 0

    def compare(fields: MessageFields, name: str) -> None:
        nonlocal compared
        for member, field in fields.items():
            spec = messages[name][member]
            kind: FieldType = field.kind if field.kind.item is None else field.kind.item
            assert (field.kind.item is not None) == bool(spec.get("repeated")), (name, member)
            assert field.oneof == spec.get("oneof", ""), (name, member)
            compared += 1
            if kind.name == "message":
                if spec["type"] in messages:
                    compare(kind.fields, spec["type"])
            elif kind.name == "enum":
                assert set(kind.choices) <= set(enums[spec["type"].removeprefix("enum ")]), (name, member)
            elif spec["type"] != "google.protobuf.FieldMask":
                assert spec["type"] in TYPES[kind.name], (name, member)

    for resource, name in MESSAGES.items():
        compare(QUERY_FIELDS[resource], name)
    compare(SEARCH_MESSAGE.fields, "services.SearchGoogleAdsRequest")
    compare(SUGGEST_MESSAGE.fields, "services.SuggestGeoTargetConstantsRequest")
    compare(RESOURCE_BY_NAME["ad"].fields, "resources.Ad")
    for name, field in MUTATE_MESSAGE.fields.items():
        assert name in messages["services.MutateGoogleAdsRequest"], field
    assert compared > 150
