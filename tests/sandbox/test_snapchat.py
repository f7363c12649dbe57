"""The simulated Snap Marketing API over real HTTP: logging in, accounts, the documented example, lists, catalogs."""

from datetime import timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.snapchat_calls import (
    CONSENT,
    CONSENT_PAGE,
    CREATIVE,
    LONDON,
    NEW_YORK,
    TOKYO,
    V1,
    Clock,
    create_campaign,
    create_example,
    get_code,
    inject_fault,
    log_in,
    read,
    read_data,
    read_entity,
    read_refusal,
    read_writable_members,
    request_token,
    write,
)

# The whole way


async def test_the_example_of_the_documentation(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    kinds = {"campaigns": "campaign", "adsquads": "adsquad", "ads": "ad"}
    assert await list_writes(web) == [("POST", kinds[word], example[word]) for word in kinds]
    parents = {
        "ads": f"adsquads/{example['adsquads']}",
        "adsquads": f"campaigns/{example['campaigns']}",
        "campaigns": f"adaccounts/{NEW_YORK}",
    }
    for word, path in parents.items():
        body = {**await read_writable_members(web, word, example[word]), "status": "ACTIVE"}
        entity = read_data(await write(web, "PUT", path, word, body))
        assert (entity["id"], entity["status"]) == (example[word], "ACTIVE")
    squad = await read_entity(web, "adsquads", example["adsquads"], return_placement_v2="true")
    assert squad["delivery_constraint"] == "LIFETIME_BUDGET"
    assert squad["child_ad_type"] == "REMOTE_WEBPAGE"
    assert squad["placement_v2"] == {"config": "AUTOMATIC"}
    assert squad["targeting"]["geos"] == [{"country_code": "gb"}]
    assert (squad["delivery_status"], squad["targeting_reach_status"]) == (["INVALID_START_TIME"], "PENDING")
    clock.instant += timedelta(days=11)
    await log_in(web)
    for word in parents:
        assert (await read_entity(web, word, example[word]))["delivery_status"] == ["VALID"]


async def test_what_is_paused_above_is_told_below(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    ad = await read_entity(web, "ads", example["ads"])
    assert ad["delivery_status"] == [
        "INVALID_NOT_ACTIVE", "INVALID_NOT_EFFECTIVE_ACTIVE", "INVALID_PENDING_REVIEW_STATUS",
    ]  # fmt: skip
    assert ad["review_status"] == "PENDING"


# Logging in


async def test_tokens_and_their_rotation(web: httpx.AsyncClient, clock: Clock) -> None:
    first = (await request_token(web, grant_type="authorization_code", code=await get_code(web))).json()
    assert (first["token_type"], first["expires_in"]) == ("Bearer", 3600)
    assert first["scope"] == "snapchat-marketing-api"
    clock.instant += timedelta(days=400)  # a refresh token has no end
    second = (await request_token(web, grant_type="refresh_token", refresh_token=first["refresh_token"])).json()
    assert second["refresh_token"] != first["refresh_token"]
    again = await request_token(web, grant_type="refresh_token", refresh_token=first["refresh_token"])
    assert (again.status_code, again.json()["error"]) == (400, "invalid_grant")


async def test_a_code_is_good_once(web: httpx.AsyncClient) -> None:
    code = await get_code(web)
    assert (await request_token(web, grant_type="authorization_code", code=code)).status_code == 200
    assert (await request_token(web, grant_type="authorization_code", code=code)).json()["error"] == "invalid_grant"


@pytest.mark.parametrize(
    ("change", "status", "error"),
    [
        ({"client_secret": "wrong"}, 401, "invalid_client"),
        ({"redirect_uri": "https://other.example/"}, 400, "invalid_grant"),
        ({"code_verifier": "x" * 43}, 400, "invalid_request"),
    ],
)
async def test_token_calls_that_are_refused(
    web: httpx.AsyncClient, change: dict[str, str], status: int, error: str
) -> None:
    form = {"grant_type": "authorization_code", "code": await get_code(web), **change}
    answer = await request_token(web, **form)
    assert (answer.status_code, answer.json()["error"]) == (status, error)


@pytest.mark.parametrize(
    "change",
    [
        {"scope": "snapchat-profile-api"},
        {"code_challenge": "x" * 43, "code_challenge_method": "S256"},
        {"redirect_uri": "http://app.example/back"},
        {"client_id": "another"},
    ],
)
async def test_consent_that_is_refused(web: httpx.AsyncClient, change: dict[str, str]) -> None:
    assert (await web.get(CONSENT_PAGE, params={**CONSENT, **change})).status_code == 400


async def test_an_expired_token(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant += timedelta(hours=1)
    answer = await web.get(f"{V1}/me")
    read_refusal(answer, 401, "E1101")
    assert answer.headers["WWW-Authenticate"] == 'Bearer error="invalid_token"'


# Accounts


async def test_organizations_and_accounts(web: httpx.AsyncClient) -> None:
    assert (await read(web, "me"))["me"]["email"] == "demo@tea.example"
    plain = await read(web, "me/organizations")
    assert plain["request_status"] == "success"
    assert "ad_accounts" not in plain["organizations"][0]["organization"]
    rows = (await read(web, "me/organizations", with_ad_accounts="true"))["organizations"]
    short = [account["id"] for row in rows for account in row["organization"]["ad_accounts"]]
    full = []
    for row in rows:
        page = await read(web, f"organizations/{row['organization']['id']}/adaccounts")
        full += [item["adaccount"] for item in page["adaccounts"]]
    assert [account["id"] for account in full] == short
    facts = {account["id"]: (account["currency"], account["timezone"], account["status"]) for account in full}
    assert facts[NEW_YORK] == ("USD", "America/New_York", "ACTIVE")
    assert facts[TOKYO] == ("JPY", "Asia/Tokyo", "ACTIVE")
    tokyo = (await read(web, f"adaccounts/{TOKYO}"))["adaccounts"][0]["adaccount"]
    assert tokyo == next(account for account in full if account["id"] == TOKYO)
    sources = await read(web, f"organizations/{tokyo['organization_id']}/fundingsources")
    assert sources["fundingsources"][1]["fundingsource"]["id"] == tokyo["funding_source_ids"][0]


async def test_accounts_of_others(web: httpx.AsyncClient) -> None:
    read_refusal(await web.get(f"{V1}/adaccounts/11111111-aaaa-4bbb-8ccc-000000000099"), 403, "E1102")
    read_refusal(await web.get(f"{V1}/organizations/11111111-aaaa-4bbb-8ccc-000000000099/adaccounts"), 403, "E1102")


# Lists


async def test_pages_of_a_list(web: httpx.AsyncClient) -> None:
    path = f"adaccounts/{NEW_YORK}/campaigns"
    begun = [item["campaign"]["id"] for item in (await read(web, path, limit=50))["campaigns"]]
    ids = begun + [await create_campaign(web, name=f"Campaign {number}") for number in range(60)]
    first = await read(web, path, limit=50)
    link = urlsplit(first["paging"]["next_link"])
    assert link.hostname != "adsapi.snapchat.com"
    query = parse_qs(link.query)
    assert query["limit"] == ["50"]
    second = await read(web, path, limit=50, cursor=query["cursor"][0])
    assert second["paging"] == {}
    assert [item["campaign"]["id"] for item in first["campaigns"] + second["campaigns"]] == ids
    every = await read(web, path)
    assert sorted(item["campaign"]["id"] for item in every["campaigns"]) == sorted(ids)
    assert "paging" not in every


@pytest.mark.parametrize(
    "query", [{"limit": "49"}, {"limit": "1001"}, {"cursor": "x"}, {"limit": "50", "cursor": "x"}, {"status": "ACTIVE"}]
)
async def test_list_parameters_that_are_refused(web: httpx.AsyncClient, query: dict[str, str]) -> None:
    read_refusal(await web.get(f"{V1}/adaccounts/{NEW_YORK}/campaigns", params=query), 400, "E1001")


async def test_lists_below_a_parent(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    for path, word in (
        (f"campaigns/{example['campaigns']}/adsquads", "adsquads"),
        (f"campaigns/{example['campaigns']}/ads", "ads"),
        (f"adsquads/{example['adsquads']}/ads", "ads"),
    ):
        (item,) = (await read(web, path))[word]
        assert item[word.removesuffix("s")]["id"] == example[word]
    squads = (await read(web, f"adaccounts/{NEW_YORK}/adsquads", limit=1000, return_placement_v2="true"))["adsquads"]
    assert all("placement_v2" in item["adsquad"] for item in squads)
    squads = (await read(web, f"adaccounts/{NEW_YORK}/adsquads"))["adsquads"]
    assert not any("placement_v2" in item["adsquad"] for item in squads)
    read_refusal(await web.get(f"{V1}/campaigns/{CREATIVE}/adsquads"), 404, "E1103")


# Creatives and catalogs


async def test_creatives(web: httpx.AsyncClient) -> None:
    foreign = await read_entity(web, "creatives", CREATIVE)
    assert (foreign["ad_account_id"], foreign["type"]) == (NEW_YORK, "WEB_VIEW")
    assert (foreign["review_status"], foreign["packaging_status"]) == ("APPROVED", "SUCCESS")
    assert (await read_entity(web, "creatives", "ineligible-1"))["review_status"] == "REJECTED"
    assert (await read_entity(web, "creatives", "processing-1"))["packaging_status"] == "PENDING"
    read_refusal(await web.get(f"{V1}/creatives/missing-1"), 404, "E1103")
    creatives = (await read(web, f"adaccounts/{TOKYO}/creatives", limit=50))["creatives"]
    for item in creatives:
        assert item["creative"]["ad_account_id"] == TOKYO
        assert await read_entity(web, "creatives", item["creative"]["id"]) == item["creative"]
    types = {item["creative"]["type"] for item in creatives}
    assert {"SNAP_AD", "WEB_VIEW", "COMPOSITE", "LENS", "PREVIEW", "APP_INSTALL"} <= types


@pytest.mark.parametrize(
    ("path", "first"),
    [
        ("targeting/geo/country", {"country": {"country": {"code": "ae", "name": "United Arab Emirates"}}}),
        (
            "targeting/geo/us/region",
            {"region": {"region": {"id": "10150", "name": "US region 10150"},
                        "country": {"code": "us", "name": "United States"}}},
        ),
        (
            "targeting/geo/gb/postal_code",
            {"postal_code": {"postal_code": {"code": "10001", "name": "GB postal_code 10001"},
                             "country": {"code": "gb", "name": "United Kingdom"}}},
        ),
        ("targeting/demographics/languages", {"languages": {"id": "ar", "name": "Arabic"}}),
        ("targeting/demographics/age_group", {"age_group": {"id": "13-17", "name": "13-17"}}),
        ("targeting/demographics/gender", {"gender": {"id": "MALE", "name": "Male"}}),
        ("targeting/interests/scls?country_code=us", {"scls": {"id": "SLC_1", "name": "Adventure Seekers"}}),
        ("targeting/device/os_type", {"os_type": {"id": "iOS", "name": "iOS"}}),
        ("targeting/device/connection_type", {"connection_type": {"id": "CELL", "name": "Cell"}}),
        ("targeting/device/carrier", {"carrier": {"id": "US_VERIZON", "name": "Verizon"}}),
    ],
)  # fmt: skip
async def test_targeting_catalogs(web: httpx.AsyncClient, path: str, first: dict[str, Any]) -> None:
    answer = await web.get(f"{V1}/{path}")
    assert {"sub_request_status": "success", **first} in answer.json()["targeting_dimensions"]


async def test_catalogs_of_an_account(web: httpx.AsyncClient) -> None:
    media = (await read(web, f"adaccounts/{NEW_YORK}/media"))["media"]
    assert [item["media"]["media_status"] for item in media] == ["READY", "PENDING_UPLOAD"]
    assert (await read(web, f"media/{media[0]['media']['id']}"))["media"] == media[:1]
    segments = (await read(web, f"adaccounts/{NEW_YORK}/segments"))["segments"]
    assert segments[0]["segment"]["id"].isdigit()
    assert (await read(web, f"adaccounts/{NEW_YORK}/pixels"))["pixels"][0]["pixel"]["name"] == "Shop pixel 1"


async def test_regions_page_too(web: httpx.AsyncClient) -> None:
    first = await read(web, "targeting/geo/us/region", limit=50)
    cursor = parse_qs(urlsplit(first["paging"]["next_link"]).query)["cursor"][0]
    second = await read(web, "targeting/geo/us/region", limit=50, cursor=cursor)
    assert (len(first["targeting_dimensions"]), len(second["targeting_dimensions"])) == (50, 10)
    read_refusal(await web.get(f"{V1}/targeting/geo/US/region"), 404, "E1103")


# Faults and roles


async def test_faults(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=429)
    answer = await web.get(f"{V1}/me")
    read_refusal(answer, 429, "E1105")
    assert "Retry-After" not in answer.headers
    read_refusal(await web.get(f"{V1}/nowhere"), 404, "E1103")
    read_refusal(await web.patch(f"{V1}/campaigns/{CREATIVE}"), 405, "E1104")


async def test_a_member_who_may_only_read(web: httpx.AsyncClient) -> None:
    (first, *_) = (await read(web, f"adaccounts/{LONDON}/campaigns"))["campaigns"]
    answer = await web.delete(f"{V1}/campaigns/{first['campaign']['id']}")
    read_refusal(answer, 403, "E1102")
    assert await list_writes(web) == []
