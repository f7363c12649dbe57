"""The simulated Reddit Ads API over real HTTP: logging in, accounts, the documented example, lists, catalogs."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.reddit_calls import (
    ADELAIDE,
    APP,
    CAMPAIGN,
    CONSENT,
    CONSENT_PAGE,
    DUBLIN,
    LONDON,
    NEW_YORK,
    REVOKE,
    TOKEN,
    TOKYO,
    V3,
    Clock,
    check_refusal,
    create_entity,
    create_example,
    get_code,
    inject_fault,
    list_all_rows,
    log_in,
    open_client,
    patch_entity,
    post,
    read,
    read_refusal,
    request_token,
    send,
)

# The whole way


async def test_the_example_of_the_documentation(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    kinds = {"campaigns": "campaign", "ad_groups": "ad_group", "ads": "ad"}
    assert await list_writes(web) == [("POST", kinds[word], example[word]) for word in kinds]
    ad = (await read(web, f"ads/{example['ads']}"))["data"]
    assert (ad["campaign_id"], ad["effective_status"]) == (example["campaigns"], "PAUSED")
    for word in reversed(kinds):
        entity = await patch_entity(web, word, example[word], configured_status="ACTIVE")
        assert (entity["id"], entity["configured_status"]) == (example[word], "ACTIVE")
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "PENDING_APPROVAL"
    clock.instant += timedelta(minutes=2)
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "ACTIVE"
    await patch_entity(web, "ads", example["ads"], post_id="t3_other1")
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "PENDING_APPROVAL"
    clock.instant += timedelta(days=30)
    await log_in(web)
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "COMPLETED"


async def test_what_is_paused_above_is_told_below(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    await patch_entity(web, "ads", example["ads"], configured_status="ACTIVE")
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "AD_GROUP_PAUSED"
    await patch_entity(web, "ad_groups", example["ad_groups"], configured_status="ACTIVE")
    assert (await read(web, f"ads/{example['ads']}"))["data"]["effective_status"] == "CAMPAIGN_PAUSED"
    group = (await read(web, f"ad_groups/{example['ad_groups']}"))["data"]
    assert (group["campaign_objective_type"], group["is_campaign_budget_optimization"]) == ("CLICKS", False)


async def test_a_status_left_out_is_active(web: httpx.AsyncClient) -> None:
    bare = {"name": "Bare", "objective": "CLICKS"}
    campaign = (await post(web, "campaigns", bare)).json()["data"]
    assert (campaign["configured_status"], campaign["effective_status"]) == ("ACTIVE", "PENDING_BILLING_INFO")


# Logging in


async def test_tokens_and_their_rotation(web: httpx.AsyncClient, clock: Clock) -> None:
    first = (await request_token(web, code=await get_code(web))).json()
    assert (first["token_type"], first["expires_in"], first["scope"]) == ("bearer", 86400, "adsread adsedit")
    clock.instant += timedelta(days=400)  # a refresh token has no end
    second = (await request_token(web, refresh_token=first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    again = await request_token(web, refresh_token=first["refresh_token"])
    assert (again.status_code, again.json()) == (400, {"error": "invalid_grant"})


async def test_a_code_is_good_once_and_for_ten_minutes(web: httpx.AsyncClient, clock: Clock) -> None:
    code, late = await get_code(web), await get_code(web)
    assert (await request_token(web, code=code)).status_code == 200
    assert (await request_token(web, code=code)).json()["error"] == "invalid_grant"
    clock.instant += timedelta(minutes=10)
    assert (await request_token(web, code=late)).json()["error"] == "invalid_grant"


async def test_credentials_stand_in_the_basic_header_only(web: httpx.AsyncClient) -> None:
    assert (await request_token(web, ("sandbox-reddit", "wrong"), code=await get_code(web))).status_code == 401
    form = {"grant_type": "authorization_code", "code": await get_code(web), "redirect_uri": CONSENT["redirect_uri"]}
    app = {"client_id": APP[0], "client_secret": APP[1]}
    bare = httpx.AsyncClient(base_url=str(web.base_url), headers={"User-Agent": "server:demo-tea:1.0"})
    async with bare:
        assert (await bare.post(TOKEN, data={**form, **app})).status_code == 401
    both = await web.post(TOKEN, data={**form, **app}, auth=APP)
    assert (both.status_code, both.json()) == (400, {"error": "invalid_request"})


@pytest.mark.parametrize(
    "change",
    [
        {"duration": "temporary"},
        {"scope": "adsedit"},
        {"scope": "adsread,ads"},
        {"code_challenge": "x" * 43, "code_challenge_method": "S256"},
        {"redirect_uri": "http://app.example/back"},
        {"client_id": "another"},
    ],
)
async def test_consent_that_is_refused(web: httpx.AsyncClient, change: dict[str, str]) -> None:
    assert (await web.get(CONSENT_PAGE, params={**CONSENT, **change})).status_code == 400


async def test_revoking(web: httpx.AsyncClient) -> None:
    tokens = await log_in(web)
    form = {"token": tokens["refresh_token"], "token_type_hint": "refresh_token"}
    assert (await web.post(REVOKE, data=form, auth=("sandbox-reddit", "wrong"))).status_code == 401
    answer = await web.post(REVOKE, data=form, auth=APP)
    assert (answer.status_code, answer.content) == (204, b"")
    check_refusal(await web.get(f"{V3}/me/businesses"), 401)
    assert (await request_token(web, refresh_token=tokens["refresh_token"])).json()["error"] == "invalid_grant"


async def test_an_expired_token_and_headers(web: httpx.AsyncClient, clock: Clock) -> None:
    path = f"{V3}/me/businesses"
    check_refusal(await web.get(path, headers={"User-Agent": "python-httpx/0.28"}), 403)
    read_refusal(await web.get(path, headers={"Accept": "*/*"}), "Accept")
    clock.instant += timedelta(days=1)
    check_refusal(await web.get(path), 401)


async def test_reading_alone(clock: Clock) -> None:
    async with open_client(clock, scope="adsread") as web:
        assert await list_all_rows(web, f"ad_accounts/{NEW_YORK}/ads")
        check_refusal(await post(web, "campaigns", CAMPAIGN), 403)


# Accounts


async def test_businesses_and_accounts(web: httpx.AsyncClient) -> None:
    home, agency = await list_all_rows(web, "me/businesses", **{"page.size": 1})
    owned = await list_all_rows(web, f"businesses/{home['id']}/ad_accounts")
    assert [account["id"] for account in owned] == [NEW_YORK, TOKYO, ADELAIDE]
    answer = await send(web, "POST", f"businesses/{home['id']}/ad_accounts/query", {}, **{"page.size": 3})
    following = answer.json()["pagination"]["next_url"]
    rest = await web.post(following.replace("https:/", "", 1), json={"data": {}})
    assert [account["id"] for account in answer.json()["data"] + rest.json()["data"]] == [
        NEW_YORK,
        TOKYO,
        ADELAIDE,
        DUBLIN,
    ]
    shared = rest.json()["data"][0]
    assert (shared["business_id"], shared["time_zone_id"], shared["currency"]) == (agency["id"], None, "EUR")
    tokyo = (await read(web, f"ad_accounts/{TOKYO}"))["data"]
    assert (tokyo["currency"], tokyo["time_zone_id"], tokyo["admin_approval"]) == ("JPY", "Asia/Tokyo", "TRUSTED")
    check_refusal(await web.get(f"{V3}/ad_accounts/t2_nobody"), 404)
    check_refusal(await web.get(f"{V3}/businesses/nobody/ad_accounts"), 404)


async def test_a_suspended_account_is_read_only(web: httpx.AsyncClient) -> None:
    account = (await read(web, f"ad_accounts/{LONDON}"))["data"]
    assert (account["admin_approval"], account["suspension_reason"]) == ("SUSPENDED", "FRAUD")
    check_refusal(await post(web, "campaigns", CAMPAIGN, LONDON), 403)
    (ad,) = await list_all_rows(web, f"ad_accounts/{LONDON}/ads")
    check_refusal(await send(web, "PATCH", f"ads/{ad['id']}", {"name": "Another"}), 403)


# Lists


async def test_lists_pages_and_filters(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    base = f"ad_accounts/{NEW_YORK}"
    campaigns = await list_all_rows(web, f"{base}/campaigns", **{"page.size": 1})
    assert [row["name"] for row in campaigns] == ["Evergreen", "Budget optimized", "Autumn launch"]
    ids = f"{campaigns[0]['id']},{example['campaigns']}"
    assert [row["id"] for row in await list_all_rows(web, f"{base}/campaigns", id=ids)] == ids.split(",")
    groups = await list_all_rows(web, f"{base}/ad_groups", campaign_id=example["campaigns"])
    assert [row["id"] for row in groups] == [example["ad_groups"]]
    paused: dict[str, Any] = {"configured_status": "PAUSED,ARCHIVED", "campaign_id": ids}
    assert [row["id"] for row in await list_all_rows(web, f"{base}/ads", **paused)] == [example["ads"]]
    assert await list_all_rows(web, f"{base}/ads", effective_status="REJECTED") == []
    await patch_entity(web, "ads", example["ads"], configured_status="ARCHIVED")
    assert (await list_all_rows(web, f"{base}/ads", ad_group_id=example["ad_groups"]))[0][
        "effective_status"
    ] == "ARCHIVED"


@pytest.mark.parametrize(
    ("path", "query", "field"),
    [
        ("campaigns", {"page.size": "0"}, "page.size"),
        ("campaigns", {"page.size": "1001"}, "page.size"),
        ("campaigns", {"page.token": "x"}, "page.token"),
        ("campaigns", {"page_size": "5"}, "page_size"),
        ("campaigns", {"configured_status": "ACTIVE"}, "configured_status"),
        ("ads", {"configured_status": "LIVE"}, "configured_status"),
        ("ad_groups", {"id": ",".join(["1"] * 201)}, "id"),
    ],
)
async def test_lists_that_are_refused(web: httpx.AsyncClient, path: str, query: dict[str, str], field: str) -> None:
    read_refusal(await web.get(f"{V3}/ad_accounts/{NEW_YORK}/{path}", params=query), field)


async def test_unknown_paths_and_verbs(web: httpx.AsyncClient) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    check_refusal(await web.delete(f"{V3}/campaigns/{campaign}"), 404)
    check_refusal(await web.put(f"{V3}/campaigns/{campaign}", json={"data": {}}), 404)
    check_refusal(await web.get(f"{V3}/campaigns/1"), 404)
    check_refusal(await web.get(f"{V3}/nothing"), 404)


# Catalogs and posts


@pytest.mark.parametrize(
    ("path", "query", "first"),
    [
        (f"ad_accounts/{NEW_YORK}/funding_instruments", {"mode": "SELECTABLE"}, {"id": "4711", "is_servable": True}),
        (f"ad_accounts/{TOKYO}/funding_instruments", {}, {"currency": "USD"}),
        (f"ad_accounts/{NEW_YORK}/funding_instruments", {"mode": "INACTIVE"}, {"reasons_not_servable": ["EXPIRED"]}),
        (f"ad_accounts/{NEW_YORK}/funding_instruments", {"search": "line"}, {"id": "4712", "is_servable": False}),
        (f"ad_accounts/{NEW_YORK}/pixels", {}, {"id": "a2_pixel0001"}),
        (f"ad_accounts/{NEW_YORK}/profiles", {}, {"id": "t2_demotea"}),
        (f"ad_accounts/{NEW_YORK}/apps", {}, {"name": "Tea time"}),
        ("profiles/t2_demotea/posts", {"source": "PROMOTED"}, {"id": "t3_abc123", "headline": "Tea and more"}),
        ("profiles/t2_demotea/posts", {"source": "PROMOTED", "type": "TEXT"}, {"id": "t3_text123"}),
        ("profiles/t2_demotea/structured_posts", {}, {"profile_id": "t2_demotea"}),
        ("targeting/geolocations", {}, {"id": "AU", "name": "Australia"}),
        (
            "targeting/geolocations",
            {"cities_search": "toronto", "country": "CA"},
            {"id": "CA:6167865", "city": "Toronto"},
        ),
        ("targeting/geolocations", {"postal_code": "100"}, {"id": "US:10001"}),
        ("targeting/geolocations", {"country": "US"}, {"id": "US", "country": "US"}),
        ("targeting/communities/search", {"query": "improve"}, {"name": "homeimprovement"}),
        ("targeting/communities", {"names": "tea,cooking"}, {"name": "tea"}),
        ("targeting/interests", {}, {"category": "Food & Drink"}),
        ("targeting/languages", {}, {"id": "AR"}),
        ("targeting/devices", {}, {"value": "DESKTOP"}),
        ("time_zones", {"page.size": "1000"}, {"id": "Africa/Abidjan"}),
    ],
)
async def test_catalogs(web: httpx.AsyncClient, path: str, query: dict[str, str], first: dict[str, Any]) -> None:
    assert (await list_all_rows(web, path, **query))[0].items() >= first.items()


async def test_posts_and_their_jobs(web: httpx.AsyncClient) -> None:
    reddit_post = (await read(web, "posts/t3_abc123"))["data"]
    assert (reddit_post["type"], reddit_post["profile_id"]) == ("IMAGE", "t2_demotea")
    assert (await read(web, "structured_posts/t3_text9"))["data"]["type"] == "TEXT"
    for native_id in ("t3_missing", "t3_processing", "job_1"):
        check_refusal(await web.get(f"{V3}/posts/{native_id}"), 404)
    assert (await read(web, "structured_posts/jobs/job_1"))["data"]["post_id"] == "t3_abc123"
    assert (await read(web, "structured_posts/jobs/ineligible"))["data"]["status"] == "CLIENT_ERROR"
    await inject_fault(web, "slow_media", path="/api/v3/structured_posts")
    assert (await read(web, "structured_posts/jobs/job_1"))["data"]["status"] == "PROCESSING"


async def test_a_told_rate_limit(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429)
    answer = await web.get(f"{V3}/me/businesses")
    check_refusal(answer, 429)
    assert answer.headers["RateLimit"].endswith(";r=0;t=7")
    assert "Retry-After" not in answer.headers
