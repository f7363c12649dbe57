"""The simulated TikTok API over real HTTP: its example, log-in, accounts, lists, state, faults."""

import json
from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.tiktok_calls import (
    AD,
    AD_GROUP,
    API,
    APP,
    BERLIN,
    CAMPAIGN,
    CHICAGO,
    CONSENT,
    CREATIVE,
    HOST,
    NEW_YORK,
    TOKYO,
    Clock,
    create_example,
    create_smart_example,
    get,
    get_code,
    get_token,
    inject_fault,
    list_writes,
    post,
    read,
    read_data,
    read_entity,
    read_refusal,
    set_status,
)


async def test_the_example_of_the_documentation(web: httpx.AsyncClient) -> None:
    assert await create_example(web) == ("17900001", "17900002", "17900003")
    for kind, entity in (("ad", "17900003"), ("adgroup", "17900002"), ("campaign", "17900001")):
        more: dict[str, Any] = {"allow_partial_success": False} if kind == "adgroup" else {}
        switched = read_data(await set_status(web, kind, "ENABLE", entity, **more))
        assert (switched[f"{kind}_ids"], switched["status"]) == ([entity], "ENABLE")
    assert await list_writes(web) == [
        ("campaign", "17900001"), ("adgroup", "17900002"), ("ad", "17900003"),
        ("ad", "17900003"), ("adgroup", "17900002"), ("campaign", "17900001"),
    ]  # fmt: skip


# Log-in


@pytest.mark.parametrize("wrong", [
    {"app_id": "other"}, {"response_type": "code"}, {"scope": "2"}, {"redirect_uri": "http://app.example/back"},
    {"code_challenge": "c" * 43, "code_challenge_method": "S256"},
])  # fmt: skip
async def test_consent_is_refused(web: httpx.AsyncClient, wrong: dict[str, str]) -> None:
    assert (await web.get(f"{HOST}/portal/auth", params={**CONSENT, **wrong})).status_code == 400


async def test_a_code_is_redeemed_once_within_an_hour(web: httpx.AsyncClient, clock: Clock) -> None:
    path, first, second = f"{API}/oauth2/access_token/", await get_code(web), await get_code(web)
    issued = read_data(await web.post(path, json={**APP, "auth_code": first, "return_advertiser_ids": False}))
    assert list(issued) == ["access_token", "scope"]
    assert {2, 4, 6} <= {*issued["scope"]}
    read_refusal(await web.post(path, json={**APP, "auth_code": first}), 40110, "auth_code")
    clock.instant += timedelta(minutes=61)
    read_refusal(await web.post(path, json={**APP, "auth_code": second}), 40110, "auth_code")


@pytest.mark.parametrize(("change", "code"), [
    ({"secret": "wrong"}, 40113), ({"app_id": "wrong"}, 40113), ({"auth_code": "wrong"}, 40110),
    ({"grant_type": "authorization_code"}, 40002), ({"redirect_uri": "https://app.example/back"}, 40002),
    ({"auth_code": None}, 40002),
])  # fmt: skip
async def test_token_calls_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], code: int) -> None:
    body = {**APP, "auth_code": "x", **change}
    read_refusal(await web.post(f"{API}/oauth2/access_token/", json=body), code)


async def test_a_token_has_no_end_until_it_is_revoked(web: httpx.AsyncClient, clock: Clock) -> None:
    issued = await get_token(web)
    assert {*issued} == {"access_token", "advertiser_ids", "scope"}
    clock.instant += timedelta(days=1000)
    ids = [NEW_YORK, TOKYO, BERLIN, CHICAGO]
    own = {"Access-Token": issued["access_token"]}
    reached = read_data(await web.get(f"{API}/oauth2/advertiser/get/", params=APP, headers=own))["list"]
    assert reached[0] == {"advertiser_id": NEW_YORK, "advertiser_name": "Demo New York"}
    assert [row["advertiser_id"] for row in reached] == issued["advertiser_ids"] == ids
    body = {**APP, "access_token": issued["access_token"]}
    assert read_data(await web.post(f"{API}/oauth2/revoke_token/", json=body)) == {"advertiser_ids": ids}
    read_refusal(await web.get(f"{API}/bc/get/", headers=own), 40105)
    read_refusal(await web.post(f"{API}/oauth2/revoke_token/", json=body), 40105)
    read_data(await get(web, "/bc/get/"))  # the other consent lives on


async def test_only_the_header_takes_the_token(web: httpx.AsyncClient) -> None:
    good = web.headers.pop("Access-Token")
    read_refusal(await web.get(f"{API}/bc/get/"), 40104, "Access-Token")
    read_refusal(await web.get(f"{API}/bc/get/", headers={"Authorization": f"Bearer {good}"}), 40104)
    read_refusal(await web.get(f"{API}/bc/get/", params={"access_token": good}), 40104)
    read_refusal(await web.get(f"{API}/bc/get/", headers={"Access-Token": "wrong"}), 40105)
    headers = {"Access-Token": good}
    read_refusal(await web.get(f"{API}/oauth2/advertiser/get/", params={**APP, "secret": "x"}, headers=headers), 40113)


# Paths and bodies


async def test_the_slash_at_the_end_is_mandatory(web: httpx.AsyncClient) -> None:
    for answer in (
        await web.get(f"{API}/campaign/get", params={"advertiser_id": NEW_YORK}),
        await web.get(f"{HOST}/open_api/v1.2/campaign/get/"),
    ):
        assert (answer.status_code, answer.text) == (404, "404 page not found")
    assert (await web.get(f"{API}/campaign/create/")).status_code == 405


async def test_bodies_are_json(web: httpx.AsyncClient) -> None:
    read_refusal(await web.post(f"{API}/campaign/create/", data=CAMPAIGN), 40002, "Content-Type")
    json_type = {"Content-Type": "application/json"}
    read_refusal(await web.post(f"{API}/campaign/create/", content="{", headers=json_type), 40002)
    read_refusal(await web.post(f"{API}/campaign/create/?debug=1", json=CAMPAIGN), 40002, "debug")
    assert await list_writes(web) == []


# Accounts


async def test_accounts(web: httpx.AsyncClient) -> None:
    rows = read_data(await get(web, "/advertiser/info/", advertiser_ids=[NEW_YORK, TOKYO]))["list"]
    assert "can_use_custom_identity" not in rows[0]  # only when asked for
    assert "ads_only_mode" not in rows[0]
    assert (rows[0]["timezone"], rows[0]["display_timezone"]) == ("Etc/GMT+5", "America/New_York")
    fields = ["advertiser_id", "currency", "display_timezone", "status", "can_use_custom_identity", "ads_only_mode"]
    rows = read_data(await get(web, "/advertiser/info/", advertiser_ids=[TOKYO, BERLIN, CHICAGO], fields=fields))[
        "list"
    ]
    assert [list(row.values()) for row in rows] == [
        [TOKYO, "JPY", "Asia/Tokyo", "STATUS_ENABLE", True, False],
        [BERLIN, "EUR", "Europe/Berlin", "STATUS_ENABLE", False, True],
        [CHICAGO, "USD", "America/Chicago", "STATUS_LIMIT", True, False],
    ]


@pytest.mark.parametrize(("query", "code"), [
    ({"advertiser_ids": [NEW_YORK], "fields": ["nickname"]}, 40002),
    ({"advertiser_ids": NEW_YORK}, 40002),
    ({"advertiser_ids": []}, 40002),
    ({"advertiser_ids": ["1"] * 101}, 40002),
    ({"advertiser_ids": ["999"]}, 40300),
    ({}, 40002),
])  # fmt: skip
async def test_accounts_that_are_refused(web: httpx.AsyncClient, query: dict[str, Any], code: int) -> None:
    read_refusal(await get(web, "/advertiser/info/", **query), code)


async def test_foreign_advertisers(web: httpx.AsyncClient) -> None:
    await create_example(web)
    read_refusal(await get(web, "/campaign/get/", advertiser_id="999"), 40300, "advertiser_id")
    read_refusal(await post(web, "/ad/create/", {**AD, "advertiser_id": "999"}), 40300, "advertiser_id")
    read_refusal(await post(web, "/ad/create/", {**AD, "advertiser_id": TOKYO}), 40301, "adgroup_id")
    assert (await read(web, "/campaign/get/", TOKYO))["list"] == []


# Lists


async def test_pages(web: httpx.AsyncClient) -> None:
    for number in range(12):
        name = f"Shoes {number}" if number % 2 else f"Boots {number}"
        answer = await post(web, "/campaign/create/", {**CAMPAIGN, "request_id": str(number), "campaign_name": name})
        assert read_data(answer)["campaign_name"] == name
    first = await read(web, "/campaign/get/")
    assert first["page_info"] == {"page": 1, "page_size": 10, "total_number": 12, "total_page": 2}
    assert [row["campaign_id"] for row in first["list"]] == [str(17900012 - number) for number in range(10)]
    last = await read(web, "/campaign/get/", page=3, page_size=5)
    assert [row["campaign_name"] for row in last["list"]] == ["Shoes 1", "Boots 0"]
    assert (await read(web, "/campaign/get/", page=4, page_size=5))["list"] == []
    page = await read(web, "/campaign/get/", filtering={"campaign_name": "boots"}, fields=["campaign_name"])
    assert page["list"][0] == {"campaign_name": "Boots 10"}
    assert page["page_info"]["total_number"] == 6
    for wrong in ({"page_size": 1001}, {"page": 0}, {"page": "x"}, {"limit": 5}, {"fields": ["nickname"]}):
        read_refusal(await get(web, "/campaign/get/", advertiser_id=NEW_YORK, **wrong), 40002, next(iter(wrong)))


FILTERS: list[tuple[str, dict[str, Any], int]] = [
    ("campaign", {"campaign_ids": ["17900001"]}, 1),
    ("campaign", {"campaign_ids": ["1"]}, 0),
    ("campaign", {"primary_status": "STATUS_DISABLE"}, 1),
    ("campaign", {"primary_status": "STATUS_DELIVERY_OK"}, 0),
    ("campaign", {"primary_status": "STATUS_DELETE"}, 0),
    ("campaign", {"secondary_status": "CAMPAIGN_STATUS_DISABLE"}, 1),
    ("campaign", {"secondary_status": "CAMPAIGN_STATUS_ENABLE"}, 0),
    ("campaign", {"objective_type": "TRAFFIC", "buying_types": ["AUCTION"]}, 1),
    ("campaign", {"creation_filter_start_time": "2026-11-20 12:00:01"}, 0),
    ("campaign", {"creation_filter_end_time": "2026-11-20 12:00:00"}, 1),
    ("adgroup", {"campaign_ids": ["17900001"], "adgroup_ids": ["17900002"]}, 1),
    ("adgroup", {"campaign_ids": ["17900002"]}, 0),
    ("adgroup", {"adgroup_name": "AUTUMN", "optimization_goal": "CLICK", "billing_events": ["CPC"]}, 1),
    ("adgroup", {"billing_events": ["CPM"]}, 0),
    ("ad", {"campaign_ids": ["17900001"], "adgroup_ids": ["17900002"], "ad_ids": ["17900003"]}, 1),
    ("ad", {"adgroup_ids": ["17900001"]}, 0),
    ("ad", {"ad_name": "shoes", "modified_after": "2026-11-20 12:00:00"}, 1),
    ("ad", {"modified_after": "2026-11-20 12:00:01"}, 0),
    ("ad", {"optimization_goal": "SHOW"}, 0),
]


@pytest.mark.parametrize(("kind", "filtering", "number"), FILTERS)
async def test_filters(web: httpx.AsyncClient, kind: str, filtering: dict[str, Any], number: int) -> None:
    await create_example(web)
    assert len((await read(web, f"/{kind}/get/", filtering=filtering))["list"]) == number


@pytest.mark.parametrize(("kind", "filtering"), [
    ("campaign", {"adgroup_ids": ["1"]}), ("campaign", {"campaign_ids": ["1"] * 101}),
    ("campaign", {"primary_status": "DISABLE"}), ("campaign", {"secondary_status": "AD_STATUS_DISABLE"}),
    ("campaign", {"campaign_ids": [1]}), ("adgroup", {"name": "x"}), ("ad", {"modified_after": "2026-11-20"}),
])  # fmt: skip
async def test_filters_that_are_refused(web: httpx.AsyncClient, kind: str, filtering: dict[str, Any]) -> None:
    read_refusal(await get(web, f"/{kind}/get/", advertiser_id=NEW_YORK, filtering=filtering), 40002, "filtering")


async def test_what_is_read_of_entities(web: httpx.AsyncClient) -> None:
    campaign, group, ad = await create_example(web)
    first = await read_entity(web, "campaign", campaign)
    assert (first["budget"], first["campaign_automation_type"], first["create_time"]) == (
        0, "MANUAL", "2026-11-20 12:00:00",
    )  # fmt: skip
    assert first["special_industries"] is None
    second = await read_entity(web, "adgroup", group)
    body = {name: value for name, value in AD_GROUP.items() if name not in ("request_id", "budget", "bid_price")}
    assert {**second, **body} == second
    assert (second["budget"], second["bid_price"]) == (Decimal("640.5"), Decimal("0.35"))
    assert (second["campaign_name"], second["age_groups"]) == ("Autumn shoes", None)
    third = await read_entity(web, "ad", ad)
    assert {**third, **CREATIVE} == third
    assert (third["adgroup_id"], third["campaign_id"], third["smart_plus_ad_id"]) == (group, campaign, None)


# State


async def test_state_follows_from_switches_review_and_schedule(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign, group, ad = await create_example(web)

    async def list_states() -> list[str]:
        kinds = (("campaign", campaign), ("adgroup", group), ("ad", ad))
        return [(await read_entity(web, kind, entity))["secondary_status"] for kind, entity in kinds]

    assert await list_states() == ["CAMPAIGN_STATUS_DISABLE", "ADGROUP_STATUS_DISABLE", "AD_STATUS_DISABLE"]
    await set_status(web, "ad", "ENABLE", ad)
    assert (await list_states())[2] == "AD_STATUS_ADGROUP_DISABLE"
    await set_status(web, "adgroup", "ENABLE", group)
    assert (await list_states())[1:] == ["ADGROUP_STATUS_CAMPAIGN_DISABLE", "AD_STATUS_CAMPAIGN_DISABLE"]
    await set_status(web, "campaign", "ENABLE", campaign)
    assert await list_states() == ["CAMPAIGN_STATUS_ENABLE", "ADGROUP_STATUS_NOT_START", "AD_STATUS_NOT_START"]
    clock.instant += timedelta(days=12)
    assert await list_states() == ["CAMPAIGN_STATUS_ENABLE", "ADGROUP_STATUS_DELIVERY_OK", "AD_STATUS_DELIVERY_OK"]
    rename = {"advertiser_id": NEW_YORK, "adgroup_id": group, "patch_update": True}
    read_data(await post(web, "/ad/update/", {**rename, "creatives": [{"ad_id": ad, "ad_name": "New"}]}))
    assert (await list_states())[2] == "AD_STATUS_AUDIT"
    clock.instant += timedelta(days=20)
    assert (await list_states())[1:] == ["ADGROUP_STATUS_TIME_DONE", "AD_STATUS_DONE"]
    await set_status(web, "campaign", "DELETE", campaign)
    assert await list_states() == [
        "CAMPAIGN_STATUS_DELETE", "ADGROUP_STATUS_CAMPAIGN_DELETE", "AD_STATUS_CAMPAIGN_DELETE",
    ]  # fmt: skip


async def test_deleted_entities_are_hidden_and_stay_deleted(web: httpx.AsyncClient) -> None:
    campaign, group, _ = await create_example(web)
    await set_status(web, "adgroup", "DELETE", group)
    assert (await read(web, "/adgroup/get/", filtering={"adgroup_ids": [group]}))["list"] == []
    assert len((await read(web, "/adgroup/get/", filtering={"primary_status": "STATUS_DELETE"}))["list"]) == 1
    assert len((await read(web, "/campaign/get/"))["list"]) == 1
    read_refusal(await set_status(web, "adgroup", "ENABLE", group), 40002, "adgroup_ids.0")
    read_refusal(await post(web, "/ad/create/", AD), 40002, "adgroup_id")
    change = {"advertiser_id": NEW_YORK, "adgroup_id": group, "adgroup_name": "x"}
    read_refusal(await post(web, "/adgroup/update/", change), 40002, "adgroup_id")
    read_data(await set_status(web, "campaign", "DISABLE", campaign))


async def test_switches_are_all_or_none_unless_partial_success_is_allowed(web: httpx.AsyncClient) -> None:
    _, group, ad = await create_example(web)
    before = await list_writes(web)
    read_refusal(await set_status(web, "adgroup", "ENABLE", group, "999"), 40007, "adgroup_ids.1")
    read_refusal(await set_status(web, "ad", "ENABLE", ad, "999"), 40007, "ad_ids.1")
    assert await list_writes(web) == before
    data = read_data(await set_status(web, "adgroup", "ENABLE", "999", group, allow_partial_success=True))
    assert data["adgroup_ids"] == [group]
    assert [row["adgroup_id"] for row in data["error_list"]] == ["999"]
    for ids, status in (((), "ENABLE"), (("1",) * 21, "ENABLE"), ((ad,), "FROZEN"), ((ad,), "PAUSED")):
        read_refusal(await set_status(web, "ad", status, *ids), 40002)
    read_refusal(await set_status(web, "ad", "ENABLE", ad, allow_partial_success=True), 40002, "allow_partial_success")


# Faults


async def test_told_errors_in_200_apply_nothing(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "error_in_200")
    read_refusal(await post(web, "/campaign/create/", CAMPAIGN), 40100)
    assert await list_writes(web) == []
    read_data(await post(web, "/campaign/create/", CAMPAIGN))  # with the same request_id


async def test_told_slow_media(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "slow_media", value=1500)
    assert len(await create_example_until_ad(web)) == 2
    read_data(await post(web, "/ad/create/", AD))


async def create_example_until_ad(web: httpx.AsyncClient) -> list[tuple[str, str]]:
    with pytest.raises(AssertionError):
        await create_example(web)
    return await list_writes(web)


async def test_told_partial_fails_the_last(web: httpx.AsyncClient) -> None:
    campaign, group, ad = await create_example(web)
    before = await list_writes(web)
    await inject_fault(web, "partial", times=3)
    data = read_data(await set_status(web, "adgroup", "ENABLE", group))
    assert (data["adgroup_ids"], data["error_list"][0]["adgroup_id"]) == ([], group)
    for kind, entity in (("ad", ad), ("campaign", campaign)):
        body = (await set_status(web, kind, "ENABLE", entity)).json()
        assert (body["code"], body["data"][f"{kind}_ids"]) == (20001, [])
    assert await list_writes(web) == before


@pytest.mark.parametrize("status", [429, 404, 500, 503])
async def test_told_statuses_are_of_the_edge(web: httpx.AsyncClient, status: int) -> None:
    await inject_fault(web, "status", value=status)
    answer = await post(web, "/campaign/create/", CAMPAIGN)
    assert answer.status_code == status
    with pytest.raises(json.JSONDecodeError):
        answer.json()
    assert await list_writes(web) == []


async def test_the_old_smart_plus_can_only_be_read(web: httpx.AsyncClient) -> None:
    [campaign] = (await read(web, "/campaign/get/", CHICAGO))["list"]
    assert campaign["campaign_automation_type"] == "SMART_PLUS"
    assert campaign["secondary_status"] == "CAMPAIGN_STATUS_ADVERTISER_AUDIT_DENY"
    assert (await read(web, "/smart_plus/campaign/get/", CHICAGO))["list"] == []
    body = {"advertiser_id": CHICAGO, "campaign_ids": [campaign["campaign_id"]], "operation_status": "DISABLE"}
    for flow in ("", "/smart_plus"):
        read_refusal(await post(web, f"{flow}/campaign/status/update/", body), 40002, "campaign_ids.0")
    assert await list_writes(web) == []


async def test_each_flow_keeps_to_its_own(web: httpx.AsyncClient) -> None:
    campaign, group, ad = await create_smart_example(web)
    for kind, entity in (("campaign", campaign), ("adgroup", group), ("ad", ad)):
        read_refusal(await set_status(web, kind, "ENABLE", entity), 40002, f"{kind}_ids.0")
    assert await create_manual_ad(web) == 40002
    for kind, entity in (("ad", ad), ("adgroup", group), ("campaign", campaign)):
        switched = read_data(await set_status(web, kind, "ENABLE", entity, flow="/smart_plus"))
        assert entity in next(iter(switched.values()))
    [row] = (await read(web, "/ad/get/"))["list"]
    assert (row["smart_plus_ad_id"], row["ad_id"] == ad, row["video_id"]) == (ad, False, "v10033g50000abc")
    assert (row["campaign_automation_type"], row["ad_text"]) == ("UPGRADED_SMART_PLUS", "New season, same street")
    assert (await read_entity(web, "adgroup", group))["location_ids"] == ["2635167"]
    filtering = {"smart_plus_ad_ids": [ad]}
    [row] = (await read(web, "/smart_plus/ad/get/", filtering=filtering))["list"]
    assert (row["smart_plus_ad_id"], row["operation_status"]) == (ad, "ENABLE")


async def create_manual_ad(web: httpx.AsyncClient) -> int:
    """The code of a manual ad in an ad group of Upgraded Smart+."""
    return int((await post(web, "/ad/create/", AD)).json()["code"])
