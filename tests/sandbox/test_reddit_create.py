"""What the simulated Reddit Ads API refuses to make and to change, and what becomes of what it takes."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes
from tests.sandbox.reddit_calls import (
    AD,
    AD_GROUP,
    CAMPAIGN,
    NEW_YORK,
    TOKYO,
    V3,
    Clock,
    check_refusal,
    create_entity,
    create_example,
    inject_fault,
    list_all_rows,
    log_in,
    patch_entity,
    post,
    read,
    read_data,
    read_refusal,
    send,
)

OPTIMIZED = {
    **CAMPAIGN, "is_campaign_budget_optimization": True, "goal_type": "DAILY_SPEND", "goal_value": 50000000,
    "bid_strategy": "MAXIMIZE_VOLUME", "bid_type": "CPC",
}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": NOTHING}, "name"),
        ({"name": "ab"}, "name"),
        ({"name": "x" * 501}, "name"),
        ({"objective": NOTHING}, "objective"),
        ({"objective": "TRAFFIC"}, "objective"),
        ({"configured_status": "ON"}, "configured_status"),
        ({"funding_instrument_id": 4711}, "funding_instrument_id"),
        ({"funding_instrument_id": "missing1"}, "funding_instrument_id"),
        ({"spend_cap": "100"}, "spend_cap"),
        ({"spend_cap": -1}, "spend_cap"),
        ({"goal_type": "DAILY_SPEND"}, "goal_type"),
        ({"goal_value": 1}, "goal_value"),
        ({"start_time": "2026-12-01T08:00:00Z"}, "start_time"),
        ({"special_ad_categories": ["NONE"]}, "special_ad_categories"),
        ({"id": "1"}, "id"),
        ({"colour": "red"}, "colour"),
    ],
)
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    read_refusal(await post(web, "campaigns", {**CAMPAIGN, **change}), f"data/{field}")
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"campaign_id": NOTHING}, "campaign_id"),
        ({"campaign_id": "17"}, "campaign_id"),
        ({"conversion_pixel_id": NOTHING}, "conversion_pixel_id"),
        ({"conversion_pixel_id": "a2_missing"}, "conversion_pixel_id"),
        ({"bid_strategy": NOTHING}, "bid_strategy"),
        ({"bid_type": NOTHING}, "bid_type"),
        ({"bid_type": "CPM"}, "bid_type"),
        ({"bid_value": NOTHING}, "bid_value"),
        ({"bid_value": 3499999}, "bid_value"),
        ({"bid_value": 100000001}, "bid_value"),
        ({"bid_value": "4000000"}, "bid_value"),
        ({"bid_strategy": "BIDLESS"}, "bid_value"),
        ({"goal_type": NOTHING}, "goal_type"),
        ({"goal_value": NOTHING}, "goal_value"),
        ({"goal_value": 25.5}, "goal_value"),
        ({"start_time": NOTHING}, "start_time"),
        ({"start_time": "2026-12-01"}, "start_time"),
        ({"start_time": "2026-11-20T08:00:00Z"}, "start_time"),
        ({"end_time": "2026-12-01T08:00:00Z"}, "end_time"),
        ({"schedule": [{"start_day": 7, "start_hour": 0, "end_day": 6, "end_hour": 1}]}, "schedule/0/start_day"),
        ({"targeting": {"countries": ["US"]}}, "targeting/countries"),
        ({"targeting": {"geolocations": ["UK"]}}, "targeting/geolocations/0"),
        ({"targeting": {"age_targeting": {"min_age": 18, "max_age": 30}}}, "targeting/age_targeting"),
        ({"targeting": {"communities": ["t5_2qh1i"]}}, "targeting/communities/0"),
        ({"targeting": {"communities": ["r/tea"]}}, "targeting/communities/0"),
        ({"targeting": {"geolocations": ["us"]}}, "targeting/geolocations/0"),
        ({"targeting": {"languages": ["en"]}}, "targeting/languages/0"),
        ({"targeting": {"platforms": ["DESKTOP_LEGACY"]}}, "targeting/platforms/0"),
        ({"targeting": {"locations": ["INBOX"]}}, "targeting/locations/0"),
        ({"targeting": {"gender": "ALL"}}, "targeting/gender"),
        ({"targeting": {"devices": [{"os": "IOS"}]}}, "targeting/devices/0/type"),
        ({"targeting": {"keywords": ["x"] * 1001}}, "targeting/keywords"),
        ({"campaign_objective_type": "CLICKS"}, "campaign_objective_type"),
        ({"is_campaign_budget_optimization": False}, "is_campaign_budget_optimization"),
    ],
)
async def test_ad_groups_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    if change.get("goal_value") == 25.5:
        text = f'{{"data": {{"campaign_id": "{campaign}", "goal_value": 25.5}}}}'
        headers = {"Content-Type": "application/json"}
        answer = await web.post(f"{V3}/ad_accounts/{NEW_YORK}/ad_groups", content=text, headers=headers)
        assert answer.status_code == 400
        return
    read_refusal(await post(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign, **change}), f"data/{field}")
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"ad_group_id": NOTHING}, "ad_group_id"),
        ({"ad_group_id": "17"}, "ad_group_id"),
        ({"campaign_id": "17"}, "campaign_id"),
        ({"name": "ab"}, "name"),
        ({"post_id": NOTHING}, "post_id"),
        ({"post_id": "abc123"}, "post_id"),
        ({"post_id": "t3_missing"}, "post_id"),
        ({"post_id": "t3_ineligible"}, "post_id"),
        ({"post_id": "t3_processing"}, "post_id"),
        ({"profile_id": "u_demo"}, "profile_id"),
        ({"post_id": "t3_text123", "click_url": "https://shop.example/"}, "click_url"),
        ({"click_url": "https://shop.example/" + "x" * 5000}, "click_url"),
        ({"click_url_query_parameters": [{"name": "a", "value": "b"}] * 15}, "click_url_query_parameters"),
        ({"event_trackers": [{"type": "OPEN", "url": "https://t.example/"}]}, "event_trackers/0/type"),
        ({"products": [1] * 7}, "products"),
    ],
)
async def test_ads_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    ad_group = await create_entity(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign})
    read_refusal(await post(web, "ads", {**AD, "ad_group_id": ad_group, **change}), f"data/{field}")


async def test_bodies_that_are_refused(web: httpx.AsyncClient) -> None:
    path = f"{V3}/ad_accounts/{NEW_YORK}/campaigns"
    read_refusal(await web.post(path, json=CAMPAIGN), "name")  # no envelope: the first member is unknown
    read_refusal(await web.post(path, content="{", headers={"Content-Type": "application/json"}), "data")
    read_refusal(await web.post(path, content="{}", headers={"Content-Type": "text/plain"}), "Content-Type")
    check_refusal(await post(web, "campaigns", CAMPAIGN, "t2_nobody"), 404)


async def test_parents_are_of_the_account_and_alive(web: httpx.AsyncClient) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    group = {**AD_GROUP, "campaign_id": campaign, "bid_value": 400000000}
    read_refusal(await post(web, "ad_groups", group, TOKYO), "data/campaign_id")
    await patch_entity(web, "campaigns", campaign, configured_status="ARCHIVED")
    read_refusal(await post(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign}), "data/campaign_id")


async def test_without_a_bid_and_end(web: httpx.AsyncClient) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    group = {**AD_GROUP, "campaign_id": campaign, "bid_strategy": "MAXIMIZE_VOLUME", "bid_value": NOTHING}
    ad_group = read_data(await post(web, "ad_groups", {**group, "end_time": NOTHING}), 201)
    assert "bid_value" not in ad_group
    assert ad_group["targeting"] == AD_GROUP["targeting"]


async def test_a_bid_in_yen_has_no_band(web: httpx.AsyncClient) -> None:
    assert await create_example(web, TOKYO, bid_value=400000000, goal_value=2550000000)


async def test_a_campaign_that_optimizes_its_budget(web: httpx.AsyncClient) -> None:
    read_refusal(await post(web, "campaigns", {**OPTIMIZED, "goal_value": NOTHING}), "data/goal_value")
    read_refusal(await post(web, "campaigns", {**OPTIMIZED, "spend_cap": 1}), "data/spend_cap")
    campaign = await create_entity(web, "campaigns", OPTIMIZED)
    whole = {**AD_GROUP, "campaign_id": campaign}
    read_refusal(await post(web, "ad_groups", whole), "data/goal_type")
    bare = dict.fromkeys(("goal_type", "goal_value", "bid_value"), NOTHING)
    group = await create_entity(web, "ad_groups", {**whole, **bare, "bid_strategy": "MAXIMIZE_VOLUME"})
    assert (await read(web, f"ad_groups/{group}"))["data"]["is_campaign_budget_optimization"] is True
    read_refusal(await send(web, "PATCH", f"ad_groups/{group}", {"goal_value": 1}), "data/goal_value")
    assert (await patch_entity(web, "campaigns", campaign, goal_value=60000000))["goal_value"] == 60000000


async def test_a_post_that_is_still_processed(web: httpx.AsyncClient) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    ad_group = await create_entity(web, "ad_groups", {**AD_GROUP, "campaign_id": campaign})
    await inject_fault(web, "slow_media")
    read_refusal(await post(web, "ads", {**AD, "ad_group_id": ad_group}), "data/post_id")
    assert await create_entity(web, "ads", {**AD, "ad_group_id": ad_group})


# Changes


async def test_targeting_is_replaced_as_a_whole(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    ad_group = await patch_entity(web, "ad_groups", example["ad_groups"], targeting={"geolocations": ["CA:6167865"]})
    assert ad_group["targeting"] == {"geolocations": ["CA:6167865"]}
    assert (ad_group["goal_value"], ad_group["name"]) == (25500000, "Autumn launch")
    cleared = await patch_entity(web, "ad_groups", example["ad_groups"], end_time=None)
    assert cleared["end_time"] is None
    capped = await patch_entity(web, "campaigns", example["campaigns"], spend_cap=900000000, name="Another")
    assert (capped["spend_cap"], capped["name"], capped["objective"]) == (900000000, "Another", "CLICKS")


@pytest.mark.parametrize(
    ("kind", "change", "field"),
    [
        ("campaigns", {}, ""),
        ("campaigns", {"objective": "CLICKS"}, "objective"),
        ("campaigns", {"is_campaign_budget_optimization": True}, "is_campaign_budget_optimization"),
        ("campaigns", {"goal_value": 1}, "goal_value"),
        ("campaigns", {"special_ad_categories": ["NONE"]}, "special_ad_categories"),
        ("ad_groups", {"campaign_id": "1"}, "campaign_id"),
        ("ad_groups", {"goal_type": "LIFETIME_SPEND"}, "goal_type"),
        ("ad_groups", {"optimization_goal": "CLICKS"}, "optimization_goal"),
        ("ad_groups", {"bid_value": None}, "bid_value"),
        ("ad_groups", {"end_time": "2026-11-30T08:00:00Z"}, "end_time"),
        ("ad_groups", {"start_time": "2026-11-01T08:00:00Z"}, "start_time"),
        ("ads", {"ad_group_id": "1"}, "ad_group_id"),
        ("ads", {"post_id": "t3_missing"}, "post_id"),
        ("ads", {"configured_status": "REJECTED"}, "configured_status"),
    ],
)
async def test_changes_that_are_refused(web: httpx.AsyncClient, kind: str, change: Any, field: str) -> None:
    example = await create_example(web)
    read_refusal(await send(web, "PATCH", f"{kind}/{example[kind]}", change), f"data/{field}".rstrip("/"))
    assert len(await list_writes(web)) == 3


async def test_a_start_that_has_passed_stays(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    path = f"ad_groups/{example['ad_groups']}"
    assert await patch_entity(web, "ad_groups", example["ad_groups"], start_time="2026-12-02T08:00:00Z")
    clock.instant += timedelta(days=12)
    await log_in(web)
    read_refusal(await send(web, "PATCH", path, {"start_time": "2026-12-10T08:00:00Z"}), "data/start_time")
    assert await patch_entity(web, "ad_groups", example["ad_groups"], start_time="2026-12-02T08:00:00Z", name="Late")


async def test_deleting_is_archiving_and_three_hours_of_rest(web: httpx.AsyncClient, clock: Clock) -> None:
    example = await create_example(web)
    for kind in ("ads", "ad_groups", "campaigns"):
        await patch_entity(web, kind, example[kind], configured_status="ARCHIVED")
        path = f"{kind}/{example[kind]}"
        read_refusal(await send(web, "PATCH", path, {"name": "Another"}), "data/configured_status")
        read_refusal(await send(web, "PATCH", path, {"configured_status": "ACTIVE"}), "data/configured_status")
    await patch_entity(web, "ads", example["ads"], configured_status="DELETED")
    for kind in ("ad_groups", "campaigns"):
        path = f"{kind}/{example[kind]}"
        read_refusal(await send(web, "PATCH", path, {"configured_status": "DELETED"}), "data/configured_status")
    clock.instant += timedelta(hours=3)
    for kind in ("ad_groups", "campaigns"):
        gone = await patch_entity(web, kind, example[kind], configured_status="DELETED")
        assert gone["effective_status"] == "DELETED"
    read_refusal(
        await send(web, "PATCH", f"campaigns/{example['campaigns']}", {"name": "Back"}), "data/configured_status"
    )
    rows = await list_all_rows(web, f"ad_accounts/{NEW_YORK}/campaigns", id=example["campaigns"])
    assert [row["configured_status"] for row in rows] == ["DELETED"]


async def test_a_campaign_is_not_deleted_unarchived(web: httpx.AsyncClient, clock: Clock) -> None:
    campaign = await create_entity(web, "campaigns", CAMPAIGN)
    clock.instant += timedelta(hours=4)
    read_refusal(
        await send(web, "PATCH", f"campaigns/{campaign}", {"configured_status": "DELETED"}), "data/configured_status"
    )


# Faults


async def test_a_reset_after_the_write_leaves_it_applied(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "reset_after")
    with pytest.raises(httpx.TransportError):
        await post(web, "campaigns", CAMPAIGN)
    assert [kind for _, kind, _ in await list_writes(web)] == ["campaign"]


async def test_a_told_server_error_applies_nothing(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "status", value=503)
    check_refusal(await post(web, "campaigns", CAMPAIGN), 503)
    assert await list_writes(web) == []
