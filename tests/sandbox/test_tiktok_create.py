"""The simulated TikTok API over real HTTP: what can be created, and what is refused."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING
from tests.sandbox.tiktok_calls import (
    AD,
    AD_GROUP,
    BERLIN,
    CAMPAIGN,
    CREATIVE,
    DAILY,
    INFO,
    NEW_YORK,
    NO_BID,
    SMART_AD,
    SMART_AD_GROUP,
    SMART_CAMPAIGN,
    TOKYO,
    Clock,
    create_smart_example,
    list_writes,
    post,
    read,
    read_data,
    read_entity,
    read_refusal,
)

# Native defaults


async def test_what_is_left_out_is_enabled(web: httpx.AsyncClient) -> None:
    left_out = {"operation_status": NOTHING, "request_id": NOTHING}
    bare = {**CAMPAIGN, **left_out, "budget_mode": NOTHING, "budget_optimize_on": NOTHING}
    created = read_data(await post(web, "/campaign/create/", bare))
    assert (created["operation_status"], created["budget_mode"], created["budget"]) == (
        "ENABLE",
        "BUDGET_MODE_INFINITE",
        0,
    )
    placement = {"placement_type": NOTHING, "placements": NOTHING}
    body = {**AD_GROUP, **left_out, **placement, "bid_type": NOTHING, "bid_price": NOTHING}
    created = read_data(await post(web, "/adgroup/create/", body))
    assert (created["operation_status"], created["bid_type"]) == ("ENABLE", "BID_TYPE_NO_BID")
    assert created["placement_type"] == "PLACEMENT_TYPE_AUTOMATIC"
    creative = {name: value for name, value in CREATIVE.items() if name != "operation_status"}
    created = read_data(await post(web, "/ad/create/", {**AD, "creatives": [creative]}))
    assert (created["creatives"][0]["operation_status"], created["need_audit"]) == ("ENABLE", True)


async def test_a_request_id_succeeds_once(web: httpx.AsyncClient) -> None:
    read_refusal(
        await post(web, "/campaign/create/", {**CAMPAIGN, "objective_type": "CLICKS"}), 40002, "objective_type"
    )
    read_data(await post(web, "/campaign/create/", CAMPAIGN))  # a refused one leaves the number free
    read_refusal(await post(web, "/campaign/create/", CAMPAIGN), 40050, "request_id")
    same = {**AD_GROUP, "request_id": CAMPAIGN["request_id"]}
    read_refusal(await post(web, "/adgroup/create/", same), 40050, "request_id")
    read_data(await post(web, "/campaign/create/", {**CAMPAIGN, "advertiser_id": TOKYO}))
    assert len(await list_writes(web)) == 2


@pytest.mark.parametrize(("change", "field"), [
    ({"campaign_name": NOTHING}, "campaign_name"),
    ({"campaign_name": ""}, "campaign_name"),
    ({"campaign_name": "n" * 513}, "campaign_name"),
    ({"campaign_name": "靴" * 257}, "campaign_name"),
    ({"campaign_name": "Shoes 👟"}, "campaign_name"),
    ({"objective_type": NOTHING}, "objective_type"),
    ({"objective_type": "CLICKS"}, "objective_type"),
    ({"advertiser_id": 7011112222}, "advertiser_id"),
    ({"advertiser_id": NOTHING}, "advertiser_id"),
    ({"request_id": 1}, "request_id"),
    ({"request_id": str(2**63)}, "request_id"),
    ({"request_id": "abc"}, "request_id"),
    ({"operation_status": "PAUSED"}, "operation_status"),
    ({"operation_status": "DELETE"}, "operation_status"),
    ({"special_industries": ["ALCOHOL"]}, "special_industries.0"),
    ({"special_industries": "HOUSING"}, "special_industries"),
    ({"budget": 50}, "budget"),
    ({"budget_optimize_on": True}, "budget_mode"),
    ({"budget_optimize_on": "false"}, "budget_optimize_on"),
    ({"budget_mode": "BUDGET_MODE_DAY"}, "budget"),
    ({"budget_mode": "BUDGET_MODE_DAY", "budget": 49.99}, "budget"),
    ({"budget_mode": "BUDGET_MODE_DAY", "budget": 10000000}, "budget"),
    ({"budget_mode": "BUDGET_MODE_DAY", "budget": 50.001}, "budget"),
    ({"budget_mode": "BUDGET_MODE_DAY", "budget": "50"}, "budget"),
    ({"goal": "traffic"}, "goal"),
    ({"campaign_automation_type": "MANUAL"}, "campaign_automation_type"),
])  # fmt: skip
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    read_refusal(await post(web, "/campaign/create/", {**CAMPAIGN, **change}), 40002, f"{field}: ")
    assert await list_writes(web) == []


@pytest.mark.parametrize("change", [
    {"special_industries": ["HOUSING", "CREDIT"]},
    {"campaign_name": "靴" * 256},
    {"request_id": NOTHING},
    {"budget_mode": "BUDGET_MODE_TOTAL", "budget": 20000000},
    {"budget_mode": "BUDGET_MODE_DYNAMIC_DAILY_BUDGET", "budget": 50, "budget_optimize_on": True},
])  # fmt: skip
async def test_campaigns_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    assert read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **change}))["campaign_id"] == "17900001"


REFUSED_AD_GROUPS: list[tuple[dict[str, Any], str]] = [
    ({"adgroup_name": NOTHING}, "adgroup_name"),
    ({"campaign_id": NOTHING}, "campaign_id"),
    ({"promotion_type": NOTHING}, "promotion_type"),
    ({"promotion_type": "SITE"}, "promotion_type"),
    ({"pacing": NOTHING}, "pacing"),
    ({"pacing": "PACING_MODE_FAST", **NO_BID}, "pacing"),
    ({"placements": NOTHING}, "placements"),
    ({"placements": ["TIKTOK"]}, "placements.0"),
    ({"placement_type": "PLACEMENT_TYPE_AUTOMATIC"}, "placements"),
    ({"location_ids": NOTHING}, "location_ids"),
    ({"location_ids": []}, "location_ids"),
    ({"location_ids": ["GB"]}, "location_ids.0"),
    ({"location_ids": [2635167]}, "location_ids.0"),
    ({"location_ids": ["1269750"]}, "location_ids.0"),  # India
    ({"location_ids": ["2635167", "2643743"]}, "location_ids.1"),  # London is in the United Kingdom
    ({"location_ids": ["2635167", "2635167"]}, "location_ids.1"),
    ({"zipcode_ids": [str(number) for number in range(3000)]}, "location_ids"),
    ({"geo_locations": {"countries": ["GB"]}}, "geo_locations"),
    ({"gender": "MALE"}, "gender"),
    ({"age_groups": ["18_24"]}, "age_groups.0"),
    ({"languages": ["EN"]}, "languages.0"),
    ({"operating_systems": "IOS"}, "operating_systems"),
    ({"budget_mode": NOTHING}, "budget_mode"),
    ({"budget_mode": "BUDGET_MODE_INFINITE"}, "budget_mode"),
    ({"budget": NOTHING}, "budget"),
    ({"budget": 399.99}, "budget"),  # 20 days
    ({"budget": 640.505}, "budget"),
    ({"budget": "640.50"}, "budget"),
    ({"schedule_end_time": "2027-01-02 08:00:01"}, "budget"),  # 33 days, begun ones counted: 660 at least
    ({**DAILY, "budget": 19.99}, "budget"),
    ({**DAILY, "budget": 10000000}, "budget"),
    ({"schedule_type": NOTHING}, "schedule_type"),
    ({"schedule_start_time": NOTHING}, "schedule_start_time"),
    ({"schedule_start_time": "2026-12-01T08:00:00Z"}, "schedule_start_time"),
    ({"schedule_start_time": "2026-12-01 08:00:00.5"}, "schedule_start_time"),
    ({"schedule_start_time": "2026-11-19 23:59:59"}, "schedule_start_time"),
    ({"schedule_start_time": "2028-01-01 00:00:01", "schedule_end_time": "2028-01-09 00:00:00"}, "schedule_start_time"),
    ({"schedule_end_time": NOTHING}, "schedule_end_time"),
    ({"schedule_end_time": "2026-12-01 08:00:00"}, "schedule_end_time"),
    ({"schedule_end_time": "2038-01-01 00:00:01"}, "schedule_end_time"),
    ({"schedule_type": "SCHEDULE_FROM_NOW"}, "schedule_end_time"),
    ({"schedule_type": "SCHEDULE_FROM_NOW", "schedule_end_time": NOTHING}, "budget_mode"),
    ({"dayparting": "1" * 335}, "dayparting"),
    ({"billing_event": "CPM"}, "billing_event"),
    ({"optimization_goal": "CLICKS"}, "optimization_goal"),
    ({"optimization_goal": "TRAFFIC_LANDING_PAGE_VIEW"}, "billing_event"),
    ({"optimization_goal": "CONVERT", "billing_event": "OCPM"}, "bid_price"),
    ({"pixel_id": "8001"}, "pixel_id"),
    ({"optimization_event": "SHOPPING"}, "optimization_event"),
    ({"bid_price": NOTHING}, "bid_price"),
    ({"bid_price": 0}, "bid_price"),
    ({"bid_price": 0.355}, "bid_price"),
    ({"bid_price": 640.5}, "bid_price"),
    ({"bid_type": "BID_TYPE_NO_BID"}, "bid_price"),
    ({"bid_type": NOTHING}, "bid_price"),
    ({"conversion_bid_price": 1}, "conversion_bid_price"),
    ({"operation_status": "FROZEN"}, "operation_status"),
    ({"targeting_spec": {}}, "targeting_spec"),
]


@pytest.mark.parametrize(("change", "field"), REFUSED_AD_GROUPS)
async def test_ad_groups_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    read_data(await post(web, "/campaign/create/", CAMPAIGN))
    read_refusal(await post(web, "/adgroup/create/", {**AD_GROUP, **change}), 40002, f"{field}: ")
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize("change", [
    {**DAILY, "bid_price": 19.99},
    {**NO_BID, "budget": 400},
    {"budget_mode": "BUDGET_MODE_DAY", "schedule_type": "SCHEDULE_FROM_NOW", "schedule_end_time": NOTHING},
    {"schedule_start_time": "2026-11-20 00:00:00"},  # just 12 hours ago
    {"location_ids": NOTHING, "zipcode_ids": ["US10001"]},
    {"location_ids": ["2643743", "2638360"], "languages": ["en", "ja"], "gender": "GENDER_FEMALE"},
    {"location_ids": ["1861060"], "age_groups": ["AGE_13_17", "AGE_18_24"]},
    {"pacing": "PACING_MODE_FAST"},
    {"optimization_goal": "CONVERT", "billing_event": "OCPM", "bid_price": NOTHING, "conversion_bid_price": 2,
     "pixel_id": "8001", "optimization_event": "SHOPPING"},
])  # fmt: skip
async def test_ad_groups_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    read_data(await post(web, "/campaign/create/", CAMPAIGN))
    assert read_data(await post(web, "/adgroup/create/", {**AD_GROUP, **change}))["adgroup_id"] == "17900002"


async def test_ad_groups_below_campaigns(web: httpx.AsyncClient) -> None:
    read_refusal(await post(web, "/adgroup/create/", AD_GROUP), 40007, "campaign_id")
    daily = {"budget_mode": "BUDGET_MODE_DAY", "budget": 50}
    read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **daily}))
    read_refusal(await post(web, "/adgroup/create/", AD_GROUP), 40002, "budget_mode")
    optimized = {**daily, "budget_optimize_on": True, "request_id": "1"}
    campaign = read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **optimized}))["campaign_id"]
    below = {**AD_GROUP, "campaign_id": campaign}
    read_refusal(await post(web, "/adgroup/create/", {**below, **DAILY}), 40002, "budget")
    read_data(await post(web, "/adgroup/create/", {**below, "budget": NOTHING, "budget_mode": NOTHING}))


@pytest.mark.parametrize("place", ["6252001", "5368361", "2635167", "3144096", "2658434", "3469034"])
async def test_minors(web: httpx.AsyncClient, place: str) -> None:
    read_data(await post(web, "/campaign/create/", CAMPAIGN))
    body = {**AD_GROUP, "location_ids": [place], "age_groups": ["AGE_13_17"]}
    read_refusal(await post(web, "/adgroup/create/", body), 40065, "age_groups")


async def test_yen_have_no_fractions_and_floors_of_their_own(web: httpx.AsyncClient) -> None:
    tokyo = {"advertiser_id": TOKYO}
    read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **tokyo}))
    body = {**AD_GROUP, **tokyo, **DAILY, "bid_price": 35}
    for budget in (1999, 2000.5, 1000000000):
        read_refusal(await post(web, "/adgroup/create/", {**body, "budget": budget}), 40002, "budget")
    read_refusal(await post(web, "/adgroup/create/", {**body, "budget": 2000, "bid_price": 35.5}), 40002, "bid_price")
    assert read_data(await post(web, "/adgroup/create/", {**body, "budget": 2000}))["budget"] == 2000


# Ads


CUSTOM = {"identity_type": "CUSTOMIZED_USER", "identity_id": "7088880001", "dark_post_status": NOTHING}
CENTER = {"identity_type": "BC_AUTH_TT", "identity_id": "6bd1-bc", "identity_authorized_bc_id": "7077770001"}
REFUSED_CREATIVES: list[tuple[dict[str, Any], int, str]] = [
    ({"ad_name": NOTHING}, 40002, "ad_name"),
    ({"ad_format": NOTHING}, 40002, "ad_format"),
    ({"ad_format": "VIDEO"}, 40002, "ad_format"),
    ({"identity_type": NOTHING}, 40002, "identity_type"),
    ({"identity_id": NOTHING}, 40002, "identity_id"),
    ({"identity_id": "missing-1"}, 40007, "identity_id"),
    ({"identity_id": "6bd1-private"}, 40001, "identity_id"),
    ({"identity_id": "6bd1-nopush"}, 40001, "identity_id"),
    ({"identity_id": "6bd1-gpppa"}, 40001, "identity_id"),
    ({"identity_id": "7088880001"}, 40002, "identity_type"),
    ({"identity_authorized_bc_id": "7077770001"}, 40002, "identity_authorized_bc_id"),
    ({**CENTER, "identity_authorized_bc_id": NOTHING}, 40002, "identity_authorized_bc_id"),
    ({**CENTER, "identity_authorized_bc_id": "1"}, 40002, "identity_authorized_bc_id"),
    ({**CUSTOM, "dark_post_status": "ON"}, 40002, "dark_post_status"),
    ({"identity_type": "AUTH_CODE", "identity_id": "7088880002", "dark_post_status": NOTHING}, 40002, "tiktok_item_id"),
    ({"video_id": NOTHING}, 40002, "video_id"),
    ({"video_id": "v1-missing"}, 40053, "video_id"),
    ({"video_id": "v1-processing"}, 40901, "video_id"),
    ({"video_id": "v1-ineligible"}, 40002, "video_id"),
    ({"image_ids": NOTHING}, 40002, "image_ids"),
    ({"image_ids": []}, 40002, "image_ids"),
    ({"image_ids": ["a", "b"]}, 40002, "image_ids"),
    ({"image_ids": ["ad-site-i18n-sg/20261101square"]}, 40002, "image_ids.0"),
    ({"ad_text": NOTHING}, 40002, "ad_text"),
    ({"ad_text": "t" * 101}, 40002, "ad_text"),
    ({"ad_text": "靴" * 51}, 40002, "ad_text"),
    ({"ad_text": "new ✨"}, 40002, "ad_text"),
    ({"call_to_action": NOTHING}, 40002, "call_to_action"),
    ({"call_to_action": "LEARN"}, 40002, "call_to_action"),
    ({"landing_page_url": NOTHING}, 40002, "landing_page_url"),
    ({"landing_page_url": "shop.example"}, 40002, "landing_page_url"),
    ({"dark_post_status": True}, 40002, "dark_post_status"),
    ({"operation_status": "DELETE"}, 40002, "operation_status"),
    ({"request_id": "1"}, 40002, "request_id"),
    ({"headline": "New"}, 40002, "headline"),
]


async def create_group(web: httpx.AsyncClient, advertiser_id: str = NEW_YORK, **change: Any) -> None:
    own = {"advertiser_id": advertiser_id}
    read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **own}))
    read_data(await post(web, "/adgroup/create/", {**AD_GROUP, **own, **change}))


def make_ad(*changes: dict[str, Any], **more: Any) -> dict[str, Any]:
    creatives = [{**CREATIVE, **change} for change in changes]
    body = [{name: value for name, value in creative.items() if value is not NOTHING} for creative in creatives]
    return {**AD, "creatives": body, **more}


@pytest.mark.parametrize(("change", "code", "field"), REFUSED_CREATIVES)
async def test_ads_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], code: int, field: str) -> None:
    await create_group(web)
    read_refusal(await post(web, "/ad/create/", make_ad(change)), code, f"creatives.0.{field}")
    read_refusal(await post(web, "/ad/create/", make_ad({}, change)), code, f"creatives.1.{field}")
    assert len(await list_writes(web)) == 2  # neither of the two


@pytest.mark.parametrize("change", [
    CUSTOM,
    CENTER,
    {"identity_id": "made-elsewhere"},
    {"dark_post_status": NOTHING},
    {"call_to_action": NOTHING, "call_to_action_id": "1"},
    {"video_id": "v1", "image_ids": ["made-elsewhere"], "ad_text": "靴" * 50},
    {"identity_type": "AUTH_CODE", "identity_id": "7088880002", "tiktok_item_id": "73", "dark_post_status": NOTHING,
     "video_id": NOTHING, "image_ids": NOTHING, "ad_text": NOTHING},
])  # fmt: skip
async def test_ads_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await create_group(web)
    created = read_data(await post(web, "/ad/create/", make_ad(change, {})))
    assert created["ad_ids"] == ["17900003", "17900004"]
    assert [row["ad_id"] for row in created["creatives"]] == created["ad_ids"]


async def test_calls_with_too_few_or_many_creatives(web: httpx.AsyncClient) -> None:
    await create_group(web)
    read_refusal(await post(web, "/ad/create/", make_ad()), 40002, "creatives")
    read_refusal(await post(web, "/ad/create/", make_ad(*[{}] * 21)), 40002, "creatives")
    read_refusal(await post(web, "/ad/create/", {**AD, "request_id": "1"}), 40002, "request_id")  # has none
    read_refusal(await post(web, "/ad/create/", {**AD, "adgroup_id": "999"}), 40007, "adgroup_id")


async def test_an_account_without_custom_identities_and_with_dark_posts_only(web: httpx.AsyncClient) -> None:
    await create_group(web, BERLIN)
    own = {"advertiser_id": BERLIN}
    read_refusal(await post(web, "/ad/create/", make_ad(CUSTOM, **own)), 40002, "creatives.0.identity_type")
    for status in ("OFF", NOTHING):
        change = {"dark_post_status": status}
        read_refusal(await post(web, "/ad/create/", make_ad(change, **own)), 40002, "creatives.0.dark_post_status")
    read_data(await post(web, "/ad/create/", make_ad({}, **own)))


# Upgraded Smart+


async def test_the_smart_plus_flow(web: httpx.AsyncClient) -> None:
    campaign, group, ad = await create_smart_example(web)
    assert await list_writes(web) == [("campaign", campaign), ("adgroup", group), ("ad", ad)]
    assert (await read_entity(web, "campaign", campaign))["campaign_automation_type"] == "UPGRADED_SMART_PLUS"
    [row] = (await read(web, "/smart_plus/adgroup/get/", filtering={"adgroup_ids": [group]}))["list"]
    assert row["targeting_spec"] == {"location_ids": ["2635167"]}
    [row] = (await read(web, "/smart_plus/ad/get/", fields=["smart_plus_ad_id", "adgroup_id", "ad_text_list"]))["list"]
    assert row == {"smart_plus_ad_id": ad, "adgroup_id": group, "ad_text_list": SMART_AD["ad_text_list"]}


@pytest.mark.parametrize(("path", "change", "code", "field"), [
    ("campaign", {"request_id": NOTHING}, 40002, "request_id"),
    ("campaign", {"request_id": "4611686018427387001"}, 40050, "request_id"),
    ("campaign", {"budget_optimize_on": NOTHING}, 40002, "budget_mode"),  # on by default: needs a budget
    ("campaign", {"budget_mode": "BUDGET_MODE_INFINITE"}, 40002, "budget_mode"),
    ("campaign", {"objective_type": "REACH"}, 40002, "objective_type"),
    ("adgroup", {"request_id": NOTHING}, 40002, "request_id"),
    ("adgroup", {"targeting_spec": NOTHING}, 40002, "targeting_spec"),
    ("adgroup", {"targeting_spec": {}}, 40002, "targeting_spec.location_ids"),
    ("adgroup", {"targeting_spec": {"location_ids": ["2635167"], "brand_safety_type": "THIRD_PARTY"}}, 40002,
     "targeting_spec.brand_safety_type"),
    ("adgroup", {"location_ids": ["2635167"]}, 40002, "location_ids"),
    ("adgroup", {"pacing": "PACING_MODE_SMOOTH"}, 40002, "pacing"),
    ("adgroup", {"budget": 399}, 40002, "budget"),
    ("ad", {"creative_list": NOTHING}, 40002, "creative_list"),
    ("ad", {"creative_list": [{"creative_info": INFO}] * 32}, 40002, "creative_list"),
    ("ad", {"creative_list": [{"creative_info": {**INFO, "image_info": []}}]}, 40002,
     "creative_list.0.creative_info.image_ids"),
    ("ad", {"creative_list": [{"creative_info": {**INFO, "video_info": {"video_id": "v-processing"}}}]}, 40901,
     "creative_list.0.creative_info.video_id"),
    ("ad", {"ad_text_list": [{"ad_text": "x"}] * 6}, 40002, "ad_text_list"),
    ("ad", {"ad_text_list": ["x"]}, 40002, "ad_text_list.0"),
    ("ad", {"call_to_action_list": [{"call_to_action": "SHOP_NOW"}] * 4}, 40002, "call_to_action_list"),
    ("ad", {"landing_page_url_list": NOTHING}, 40002, "creative_list.0.creative_info.landing_page_url"),
    ("ad", {"creatives": []}, 40002, "creatives"),
])  # fmt: skip
async def test_smart_plus_bodies_that_are_refused(
    web: httpx.AsyncClient, path: str, change: dict[str, Any], code: int, field: str
) -> None:
    await create_smart_example(web)
    body = {"campaign": {**SMART_CAMPAIGN, "request_id": "1"}, "adgroup": {**SMART_AD_GROUP, "request_id": "2"}}
    payload = {**body.get(path, SMART_AD), **change}
    read_refusal(await post(web, f"/smart_plus/{path}/create/", payload), code, field)
    assert len(await list_writes(web)) == 3


async def test_smart_plus_budgets_on_the_campaign(web: httpx.AsyncClient) -> None:
    budget = {"budget_optimize_on": True, "budget_mode": "BUDGET_MODE_TOTAL", "budget": 500}
    read_data(await post(web, "/smart_plus/campaign/create/", {**SMART_CAMPAIGN, **budget}))
    read_refusal(await post(web, "/smart_plus/adgroup/create/", SMART_AD_GROUP), 40002, "budget")
    below = {**SMART_AD_GROUP, "budget": NOTHING, "budget_mode": NOTHING, "targeting_optimization_mode": NOTHING}
    created = read_data(await post(web, "/smart_plus/adgroup/create/", below))
    assert created["targeting_optimization_mode"] == "AUTOMATIC"  # unless MANUAL is said


async def test_an_end_in_the_past_is_refused(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant += timedelta(days=11, hours=6)
    read_data(await post(web, "/campaign/create/", CAMPAIGN))
    body = {**AD_GROUP, **DAILY, "schedule_end_time": "2026-12-01 09:00:00"}
    read_refusal(await post(web, "/adgroup/create/", body), 40002, "schedule_end_time")
