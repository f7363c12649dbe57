"""The simulated Apple Ads Platform API over real HTTP: logging in, accounts, the documented example, catalogs."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.apple_calls import (
    BERLIN,
    INVOICE,
    MAPS,
    NEW_YORK,
    TOKYO,
    Clock,
    call,
    create_example,
    get_refusal,
    get_result,
    inject_fault,
    make_client_secret,
    request_token,
    write_keywords,
)
from tests.sandbox.calls import NOTHING, list_writes

# The whole way


async def test_the_example_of_the_documentation_and_its_activation(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    kinds = {"campaigns": "campaign", "adgroups": "adGroup", "keywords": "keyword", "ads": "ad"}
    assert await list_writes(web) == [("POST", kinds[word], str(example[word])) for word in kinds]
    for word, native_id in example.items():
        row = await get_result(web, "GET", f"{word}/{native_id}")
        assert (row["id"], row["status"], row["deleted"]) == (native_id, "PAUSED", False)
    assert (await get_result(web, "GET", f"ads/{example['ads']}"))["campaignId"] == example["campaigns"]
    (row,) = (await write_keywords(web, {"id": example["keywords"], "status": "ENABLED"}, action="update"))["result"]
    assert (row["operation"], row["success"], row["result"]["status"]) == ("UPDATE", True, "ENABLED")
    for word in ("ads", "adgroups", "campaigns"):
        assert (await get_result(web, "PUT", f"{word}/{example[word]}", {"status": "ENABLED"}))["status"] == "ENABLED"
    campaign = await get_result(web, "GET", f"campaigns/{example['campaigns']}")
    assert (campaign["systemStatus"], campaign["displayStatus"]) == ("NOT_RUNNING", "ON_HOLD")  # it starts in March


# The login


async def test_a_token(web: httpx.AsyncClient, clock: Clock) -> None:
    answer = await request_token(web, make_client_secret(clock))
    tokens = answer.json()
    assert (tokens["token_type"], tokens["expires_in"], tokens["scope"]) == ("Bearer", 3600, "searchadsorg")
    assert "refresh_token" not in tokens
    clock.instant += timedelta(hours=1)
    assert await get_refusal(web, "GET", "me", None, 401) == "Authorization"


@pytest.mark.parametrize(
    "change",
    [
        {"iss": "SEARCHADS.other"},
        {"sub": "SEARCHADS.other"},
        {"aud": "https://appleid.apple.com/"},
        {"iat": "1795262400"},
        {"exp": 1795262400},
        {"exp": 1795262400 + 180 * 86400},
        {"iat": 1795262400 + 3600},
        {"iat": NOTHING},
        {"jti": "1"},
        {"header": {"alg": "ES256", "kid": "other"}},
        {"header": {"alg": "HS256", "kid": "sandbox-key"}},
        {"header": {"alg": "ES256"}},
        {"der": True},
    ],
    ids=str,
)
async def test_client_secrets_that_are_refused(web: httpx.AsyncClient, clock: Clock, change: dict[str, Any]) -> None:
    answer = await request_token(web, make_client_secret(clock, **change))
    assert (answer.status_code, answer.json()) == (400, {"error": "invalid_client"})


async def test_a_signature_of_something_else(web: httpx.AsyncClient, clock: Clock) -> None:
    header, _, signature = make_client_secret(clock).split(".")
    claims = make_client_secret(clock, exp=int(clock().timestamp()) + 900).split(".")[1]
    for wrong in (f"{header}.{claims}.{signature}", f"{header}.{claims}", "no jwt", f"{header}.{claims}.{signature}="):
        assert (await request_token(web, wrong)).json() == {"error": "invalid_client"}


@pytest.mark.parametrize(
    ("form", "error"),
    [
        ({"grant_type": "refresh_token"}, "unsupported_grant_type"),
        ({"scope": "ads"}, "invalid_scope"),
        ({"client_id": "SEARCHADS.other"}, "invalid_client"),
        ({"refresh_token": "x"}, "invalid_request"),
    ],
)
async def test_token_calls_that_are_refused(
    web: httpx.AsyncClient, clock: Clock, form: dict[str, str], error: str
) -> None:
    answer = await request_token(web, make_client_secret(clock), **form)
    assert (answer.status_code, answer.json()) == (400, {"error": error})


# Accounts


async def test_accounts(web: httpx.AsyncClient) -> None:
    del web.headers["X-AP-Context"]
    assert (await get_result(web, "GET", "me"))["orgId"] == 40669820
    rows = (await get_result(web, "GET", "acls"))["acls"]
    assert {str(row["adAccount"]["id"]) for row in rows} == {BERLIN, NEW_YORK, TOKYO, INVOICE, MAPS}
    assert list(rows[0]["adAccount"]) == ["id", "name", "orgId"]
    assert (await get_result(web, "GET", "orgs/40669820"))["id"] == 40669820
    providers = await get_result(web, "GET", "advertiser-resources", params={"resourceType": "CONTENT_PROVIDER"})
    assert len(providers) == 4
    assert (await call(web, "GET", f"ad-accounts/{TOKYO}")).status_code == 400  # without its context
    native = await get_result(web, "GET", f"ad-accounts/{TOKYO}", headers={"X-AP-Context": f"adAccountId={TOKYO}"})
    assert (native["timezone"], native["currency"], native["paymentModel"]) == ("Asia/Tokyo", "JPY", "PAYG")


@pytest.mark.parametrize(
    ("context", "status"), [("7001", 400), ("orgId=7001", 400), ("adAccountId=9", 403), ("adAccountId=7002", 403)]
)
async def test_the_context_names_the_ad_account(web: httpx.AsyncClient, context: str, status: int) -> None:
    web.headers["X-AP-Context"] = context
    assert (await call(web, "GET", f"ad-accounts/{BERLIN}")).status_code == status


# Catalogs


def make_app_filter(adam_id: Any) -> dict[str, Any]:
    return {"filters": [{"field": "adamId", "operator": "EQUALS", "value": adam_id}]}


async def test_catalogs_of_an_app(web: httpx.AsyncClient) -> None:
    assert {"DE", "AT"} < {*(await get_result(web, "GET", "apps/1440000001"))["availableStorefronts"]}
    assert await get_refusal(web, "GET", "apps/missing", None, 404) == "not_found"
    pages = await get_result(web, "POST", "product-pages/query", make_app_filter(1440000001))
    assert len(pages) == 4
    assert await get_refusal(web, "POST", "product-pages/query", make_app_filter("1440000001")) == "filters.0.value"
    assert await get_refusal(web, "POST", "product-pages/query", {}) == "filters"
    assert (await get_result(web, "POST", "eligibilities/apps/query", make_app_filter(1440000001)))[0][
        "state"
    ] == "ELIGIBLE"
    (app,) = await get_result(web, "GET", "search/apps", params={"query": "yoga", "returnOwnedApps": "true"})
    assert app["adamId"] == 1440000001
    assert await get_result(web, "POST", "metadata/apps/supported-languages/query", {})


async def test_places(web: httpx.AsyncClient) -> None:
    germany = {"supplySource": "APPSTORE", "countrycode": "DE"}
    rows = await get_result(web, "GET", "search/geo", params=germany)
    assert [row["entity"] for row in rows[:3]] == ["Country", "AdminArea", "Locality"]
    parameters = {**germany, "query": "be", "entity": "AdminArea", "offset": "0", "pageSize": "1"}
    answer = await call(web, "GET", "search/geo", params=parameters)
    assert answer.json()["pagination"] == {"offset": 0, "pageSize": 1, "totalCount": 1}
    assert answer.json()["result"][0]["displayName"] == "Berlin, DE"
    for wrong in ({"countrycode": "DE"}, {**germany, "query": "b"}, {**germany, "limit": "2"}):
        assert (await call(web, "GET", "search/geo", params=wrong)).status_code == 400


async def test_told_faults(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429)
    answer = await call(web, "GET", "me")
    assert (answer.status_code, answer.headers["Retry-After"]) == (429, "7")
    assert answer.json()["error"]["code"] == "rate_limit_exceeded"
    assert (await call(web, "GET", "keyword")).status_code == 404
    assert (await call(web, "DELETE", "me")).status_code == 405
