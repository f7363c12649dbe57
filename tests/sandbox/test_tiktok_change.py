"""The simulated TikTok API over real HTTP: what can be changed."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.tiktok_calls import (
    AD_GROUP,
    CAMPAIGN,
    CREATIVE,
    INFO,
    NEW_YORK,
    Clock,
    create_example,
    create_smart_example,
    list_writes,
    post,
    read,
    read_data,
    read_entity,
    read_refusal,
)

CAMPAIGN_ID, GROUP_ID, AD_ID = "17900001", "17900002", "17900003"
BODIES: dict[str, dict[str, Any]] = {
    "campaign": {"advertiser_id": NEW_YORK, "campaign_id": CAMPAIGN_ID},
    "adgroup": {"advertiser_id": NEW_YORK, "adgroup_id": GROUP_ID},
}


@pytest.mark.parametrize(("kind", "change"), [
    ("campaign", {"campaign_name": "Winter shoes", "special_industries": []}),
    ("adgroup", {"adgroup_name": "Winter shoes", "budget": 800, "gender": "GENDER_MALE"}),
    ("adgroup", {"bid_price": 1, "bid_type": "BID_TYPE_CUSTOM"}),
    ("adgroup", {"schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2026-12-22 08:00:00"}),
    ("adgroup", {"schedule_type": "SCHEDULE_START_END", "schedule_start_time": "2026-12-02 08:00:00"}),
    ("adgroup", {"location_ids": ["1861060"], "languages": ["ja"]}),
])  # fmt: skip
async def test_changes(web: httpx.AsyncClient, clock: Clock, kind: str, change: dict[str, Any]) -> None:
    entity = (await create_example(web))[("campaign", "adgroup").index(kind)]
    before = await read_entity(web, kind, entity)
    clock.instant += timedelta(seconds=5)
    read_data(await post(web, f"/{kind}/update/", {**BODIES[kind], **change}))
    after = await read_entity(web, kind, entity)
    assert after == {**before, **change, "modify_time": "2026-11-20 12:00:05"}  # what is left out stays
    assert (await list_writes(web))[-1] == (kind, entity)


@pytest.mark.parametrize(("kind", "change", "code", "field"), [
    ("campaign", {"campaign_id": "999"}, 40007, "campaign_id"),
    ("campaign", {"budget": 50}, 40002, "budget"),
    ("campaign", {"special_industries": ["HOUSING"]}, 40002, "special_industries"),
    ("campaign", {"objective_type": "REACH"}, 40002, "objective_type"),
    ("campaign", {"operation_status": "ENABLE"}, 40002, "operation_status"),
    ("campaign", {"budget_mode": "BUDGET_MODE_DAY"}, 40002, "budget_mode"),
    ("campaign", {"campaign_name": None}, 40002, "campaign_name"),
    ("adgroup", {"operation_status": "ENABLE"}, 40002, "operation_status"),
    ("adgroup", {"placements": ["PLACEMENT_TIKTOK"]}, 40002, "placements"),
    ("adgroup", {"promotion_type": "WEBSITE"}, 40002, "promotion_type"),
    ("adgroup", {"optimization_goal": "SHOW"}, 40002, "optimization_goal"),
    ("adgroup", {"billing_event": "CPM"}, 40002, "billing_event"),
    ("adgroup", {"budget_mode": "BUDGET_MODE_DAY"}, 40002, "budget_mode"),
    ("adgroup", {"budget": 399}, 40002, "budget"),
    ("adgroup", {"budget": 640.555}, 40002, "budget"),
    ("adgroup", {"bid_price": 700}, 40002, "bid_price"),
    ("adgroup", {"location_ids": []}, 40002, "location_ids"),
    ("adgroup", {"schedule_end_time": "2026-12-22 08:00:00"}, 40002, "schedule_type"),
    ("adgroup", {"schedule_start_time": "2026-12-02 08:00:00"}, 40002, "schedule_type"),
    ("adgroup", {"schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2026-11-30 08:00:00"}, 40002,
     "schedule_end_time"),
])  # fmt: skip
async def test_changes_that_are_refused(
    web: httpx.AsyncClient, kind: str, change: dict[str, Any], code: int, field: str
) -> None:
    await create_example(web)
    read_refusal(await post(web, f"/{kind}/update/", {**BODIES[kind], **change}), code, field)
    assert len(await list_writes(web)) == 3


async def test_the_bid_goes_with_its_type(web: httpx.AsyncClient) -> None:
    await create_example(web)
    read_data(await post(web, "/adgroup/update/", {**BODIES["adgroup"], "bid_type": "BID_TYPE_NO_BID"}))
    assert (await read_entity(web, "adgroup", GROUP_ID))["bid_price"] is None
    read_refusal(await post(web, "/adgroup/update/", {**BODIES["adgroup"], "bid_price": 1}), 40002, "bid_price")
    change = {"bid_price": 1.25, "bid_type": "BID_TYPE_CUSTOM"}
    read_data(await post(web, "/adgroup/update/", {**BODIES["adgroup"], **change}))
    assert (await read_entity(web, "adgroup", GROUP_ID))["bid_price"] == Decimal("1.25")


async def test_a_start_in_the_past_stays(web: httpx.AsyncClient, clock: Clock) -> None:
    await create_example(web)
    clock.instant += timedelta(days=12)
    schedule = {"schedule_type": "SCHEDULE_START_END", "schedule_start_time": "2026-12-05 08:00:00"}
    body = {**BODIES["adgroup"], **schedule}
    read_refusal(await post(web, "/adgroup/update/", body), 40002, "schedule_start_time")
    read_data(await post(web, "/adgroup/update/", {**BODIES["adgroup"], "adgroup_name": "x"}))
    same = {**body, "schedule_start_time": "2026-12-01 08:00:00"}
    read_data(await post(web, "/adgroup/update/", same))


async def test_the_us_once_targeted_stays(web: httpx.AsyncClient) -> None:
    read_data(await post(web, "/campaign/create/", CAMPAIGN))
    read_data(await post(web, "/adgroup/create/", {**AD_GROUP, "location_ids": ["6252001", "2635167"]}))
    body = {**BODIES["adgroup"], "location_ids": ["2635167"]}
    read_refusal(await post(web, "/adgroup/update/", body), 40002, "location_ids")
    read_data(await post(web, "/adgroup/update/", {**body, "location_ids": ["5368361"]}))  # Los Angeles


async def test_budgets_of_campaigns(web: httpx.AsyncClient) -> None:
    budget = {"budget_mode": "BUDGET_MODE_DAY", "budget": 60, "budget_optimize_on": True}
    read_data(await post(web, "/campaign/create/", {**CAMPAIGN, **budget}))
    below = {name: value for name, value in AD_GROUP.items() if name not in ("budget", "budget_mode")}
    read_data(await post(web, "/adgroup/create/", below))
    read_refusal(await post(web, "/campaign/update/", {**BODIES["campaign"], "budget": 49}), 40002, "budget")
    read_data(await post(web, "/campaign/update/", {**BODIES["campaign"], "budget": 70.25}))
    assert (await read_entity(web, "campaign", CAMPAIGN_ID))["budget"] == Decimal("70.25")
    for change in ({"budget": 100}, {"bid_price": 1}, {"bid_type": "BID_TYPE_NO_BID"}):
        read_refusal(await post(web, "/adgroup/update/", {**BODIES["adgroup"], **change}), 40002, next(iter(change)))


# Ads: a patch, or the whole creative anew


def make_update(creative: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"advertiser_id": NEW_YORK, "adgroup_id": GROUP_ID, "creatives": [{"ad_id": AD_ID, **creative}], **more}


WHOLE = {name: value for name, value in CREATIVE.items() if name != "operation_status"}


async def test_ads_are_patched(web: httpx.AsyncClient) -> None:
    await create_example(web)
    before = await read_entity(web, "ad", AD_ID)
    data = read_data(await post(web, "/ad/update/", make_update({"ad_name": "n", "ad_text": "t"}, patch_update=True)))
    assert data["ad_ids"] == [AD_ID]
    after = await read_entity(web, "ad", AD_ID)
    assert after == {**before, "ad_name": "n", "ad_text": "t"}


async def test_without_patch_update_the_whole_creative_is_replaced(web: httpx.AsyncClient) -> None:
    await create_example(web, click_tracking_url="https://t.example/c")
    for patch in ({}, {"patch_update": False}):
        read_refusal(
            await post(web, "/ad/update/", make_update({"ad_name": "n"}, **patch)), 40002, "creatives.0.ad_format"
        )
    read_data(await post(web, "/ad/update/", make_update({**WHOLE, "landing_page_url": "https://shop.example/winter"})))
    after = await read_entity(web, "ad", AD_ID)
    assert after["landing_page_url"] == "https://shop.example/winter"
    assert after["click_tracking_url"] is None  # what was left out is gone
    assert after["operation_status"] == "DISABLE"
    read_only = {**WHOLE, "create_time": after["create_time"]}
    read_refusal(await post(web, "/ad/update/", make_update(read_only)), 40002, "creatives.0.create_time")
    read_refusal(
        await post(web, "/ad/update/", make_update({**WHOLE, "music_id": None})), 40002, "creatives.0.music_id"
    )


@pytest.mark.parametrize(("creative", "code", "field"), [
    ({"landing_page_url": "https://shop.example/"}, 40002, "landing_page_url"),
    ({"call_to_action": "SHOP_NOW"}, 40002, "call_to_action"),
    ({"operation_status": "ENABLE"}, 40002, "operation_status"),
    ({"ad_id": "999"}, 40007, "ad_id"),
    ({"video_id": "v-processing"}, 40901, "video_id"),
    ({"video_id": "v10033g50000wide"}, 40002, "image_ids.0"),
    ({"identity_id": "6bd1-private"}, 40001, "identity_id"),
    ({"ad_text": "t" * 101}, 40002, "ad_text"),
])  # fmt: skip
async def test_patches_that_are_refused(
    web: httpx.AsyncClient, creative: dict[str, Any], code: int, field: str
) -> None:
    await create_example(web)
    read_refusal(await post(web, "/ad/update/", make_update(creative, patch_update=True)), code, f"creatives.0.{field}")
    assert len(await list_writes(web)) == 3


async def test_an_ad_is_updated_in_its_own_ad_group(web: httpx.AsyncClient) -> None:
    await create_example(web)
    other = read_data(await post(web, "/adgroup/create/", {**AD_GROUP, "request_id": "7"}))["adgroup_id"]
    body = {**make_update({"ad_name": "n"}, patch_update=True), "adgroup_id": other}
    read_refusal(await post(web, "/ad/update/", body), 40002, "creatives.0.ad_id")
    body = make_update({"ad_name": "n"}, patch_update=True)
    del body["creatives"][0]["ad_id"]
    read_refusal(await post(web, "/ad/update/", body), 40002, "creatives.0.ad_id")


# Upgraded Smart+


async def test_smart_plus_updates(web: httpx.AsyncClient) -> None:
    campaign, group, ad = await create_smart_example(web)
    own: dict[str, Any] = {"advertiser_id": NEW_YORK}
    for path, body in (
        ("campaign", {**own, "campaign_id": campaign, "campaign_name": "Winter"}),
        ("adgroup", {**own, "adgroup_id": group, "targeting_spec": {"location_ids": ["1861060"]}}),
        ("ad", {**own, "smart_plus_ad_id": ad, "ad_text_list": [{"ad_text": "New"}]}),
    ):
        read_data(await post(web, f"/smart_plus/{path}/update/", body))
    [row] = (await read(web, "/smart_plus/ad/get/"))["list"]
    assert (row["ad_text_list"], row["creative_list"]) == ([{"ad_text": "New"}], [{"creative_info": INFO}])
    assert (row["campaign_name"], row["smart_plus_ad_id"]) == ("Winter", ad)
    for path, body, field in (
        ("campaign", {**own, "campaign_id": campaign, "special_industries": []}, "special_industries"),
        ("adgroup", {**own, "adgroup_id": group, "bid_type": "BID_TYPE_NO_BID"}, "bid_type"),
        ("ad", {**own, "smart_plus_ad_id": ad, "operation_status": "ENABLE"}, "operation_status"),
        ("ad", {**own, "ad_id": ad, "ad_name": "x"}, "ad_id"),
    ):
        read_refusal(await post(web, f"/smart_plus/{path}/update/", body), 40002, field)
    manual = {**own, "campaign_id": campaign, "campaign_name": "x"}
    read_refusal(await post(web, "/campaign/update/", manual), 40002, "campaign_id")
