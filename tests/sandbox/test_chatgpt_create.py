"""The simulated OpenAI Advertiser API over real HTTP: what creating takes and refuses, and faults."""

from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, make_body
from tests.sandbox.chatgpt_calls import (
    AD,
    AD_GROUP,
    CAMPAIGN,
    PARIS,
    TOKYO,
    V1,
    create_ad_group,
    create_campaign,
    list_writes,
    post,
    read,
    read_data,
    read_refusal,
    use_key,
)

DAILY, LIFETIME = "daily_spend_limit_micros", "lifetime_spend_limit_micros"
GOAL = {"bidding_type": "conversions", "conversion_event_setting_ids": ["ces_501"]}


async def test_what_is_not_told(web: httpx.AsyncClient) -> None:
    body = {"name": "Boots", "status": "active", "budget": {LIFETIME: 1000000}}
    campaign = read_data(await post(web, "campaigns", body))
    defaults = {name: campaign[name] for name in ("bidding_type", "start_time", "end_time", "targeting", "mode")}
    assert defaults == {
        "bidding_type": "impressions",
        "start_time": None,
        "end_time": None,
        "targeting": {},
        "mode": None,
    }


@pytest.mark.parametrize(
    ("change", "status", "param"),
    [
        ({"name": NOTHING}, 400, "name"),
        ({"name": "ab"}, 400, "name"),
        ({"name": "   "}, 400, "name"),
        ({"name": "n" * 1001}, 400, "name"),
        ({"status": NOTHING}, 400, "status"),
        ({"status": "archived"}, 400, "status"),
        ({"status": "PAUSED"}, 400, "status"),
        ({"bidding_type": "cpc"}, 400, "bidding_type"),
        ({"budget": NOTHING}, 400, "budget"),
        ({"budget": {}}, 400, "budget.lifetime_spend_limit_micros"),
        ({"budget": {LIFETIME: 20000000, DAILY: 20000000}}, 400, f"budget.{DAILY}"),
        ({"budget": {LIFETIME: 999999}}, 400, f"budget.{LIFETIME}"),
        ({"budget": {LIFETIME: "320000000"}}, 400, f"budget.{LIFETIME}"),
        ({"budget": {LIFETIME: 320000001}}, 400, f"budget.{LIFETIME}"),
        ({"budget": {DAILY: 4990000}}, 400, f"budget.{DAILY}"),
        ({"start_time": "2026-12-01T00:00:00Z"}, 400, "start_time"),
        ({"start_time": 1796083200000}, 400, "start_time"),
        ({"end_time": 1796083200}, 422, "end_time"),
        ({"start_time": NOTHING, "end_time": 1790000000}, 422, "end_time"),
        ({"targeting": {"countries": ["FR"]}}, 400, "targeting.countries"),
        ({"targeting": {"locations": {"countries": ["France"]}}}, 400, "targeting.locations.countries.0"),
        ({"targeting": {"locations": {"countries": ["UK"]}}}, 400, "targeting.locations.countries.0"),
        ({"targeting": {"locations": {"include": ["geo_fr"]}}}, 400, "targeting.locations.include.0"),
        ({"targeting": {"locations": {"include": [{"id": "geo_missing"}]}}}, 404, "targeting.locations.include.0.id"),
        ({"targeting": {"platforms": {"included": []}}}, 400, "targeting.platforms.included"),
        ({"targeting": {"platforms": {"included": ["ios"]}}}, 400, "targeting.platforms.included.0"),
        ({"targeting": {"custom_audiences": {}}}, 400, "targeting.custom_audiences.ids"),
        ({"mode": "product_feed"}, 403, None),
        ({"context_hints": ["boots"]}, 400, "context_hints"),
        ({"goal": "traffic"}, 400, "goal"),
    ],
)
async def test_campaigns_that_are_refused(
    web: httpx.AsyncClient, change: dict[str, Any], status: int, param: str | None
) -> None:
    read_refusal(await post(web, "campaigns", make_body(CAMPAIGN, **change)), status, param)
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    ("events", "param"),
    [
        (NOTHING, "conversion_event_setting_ids"),
        ([], "conversion_event_setting_ids"),
        (["ces_501", "ces_lead1"], "conversion_event_setting_ids"),
        (["ces_archived1"], "conversion_event_setting_ids"),
        (["ces_custom1"], "conversion_event_setting_ids"),
        (["ces_unlinked1"], "conversion_event_setting_ids"),
        (["ces_ineligible"], "conversion_event_setting_ids.0"),
    ],
)
async def test_goals_that_are_refused(web: httpx.AsyncClient, events: Any, param: str) -> None:
    body = make_body(CAMPAIGN, bidding_type="conversions", conversion_event_setting_ids=events)
    read_refusal(await post(web, "campaigns", body), 422, param)


async def test_goals(web: httpx.AsyncClient) -> None:
    native_id = await create_campaign(web, **GOAL)
    events = (await read(web, "conversions/event_settings"))["data"]
    assert events[0]["campaigns"] == [{"id": native_id, "name": "Autumn boots"}]
    await create_ad_group(web, native_id)
    change = {"conversion_event_setting_ids": ["ces_lead1"]}
    read_refusal(await post(web, f"campaigns/{native_id}", change), 422, "conversion_event_setting_ids")
    use_key(web, PARIS)
    body = make_body(CAMPAIGN, bidding_type="conversions", conversion_event_setting_ids=["ces_503"])
    answer = await post(web, "campaigns", body)
    assert read_refusal(answer, 403) == "Conversion bidding is not enabled"
    assert answer.json()["error"]["type"] == "server_error"


async def test_yen(web: httpx.AsyncClient) -> None:
    use_key(web, TOKYO)
    native_id = await create_campaign(web, budget={LIFETIME: 500000000})
    assert (await read(web, f"campaigns/{native_id}"))["budget"] == {LIFETIME: 500000000}
    body = make_body(CAMPAIGN, budget={LIFETIME: 500500000})
    read_refusal(await post(web, "campaigns", body), 400, f"budget.{LIFETIME}")
    dear = {**AD_GROUP["bidding_config"], "max_bid_micros": 150000000}
    await create_ad_group(web, native_id, bidding_config=dear)


@pytest.mark.parametrize(
    ("campaign_members", "bidding", "status", "param"),
    [
        ({}, {"billing_event_type": "impression", "max_bid_micros": 5}, 422, "bidding_config.billing_event_type"),
        (
            {"bidding_type": "impressions"},
            {"billing_event_type": "click", "max_bid_micros": 5},
            422,
            "bidding_config.billing_event_type",
        ),
        (GOAL, {"billing_event_type": "impression", "max_bid_micros": 5}, 422, "bidding_config.billing_event_type"),
        ({}, {"billing_event_type": "click"}, 422, "bidding_config.max_bid_micros"),
        ({}, {"billing_event_type": "click", "max_bid_micros": 0}, 400, "bidding_config.max_bid_micros"),
        ({}, {"billing_event_type": "click", "max_bid_micros": 100000001}, 400, "bidding_config.max_bid_micros"),
        ({}, {"billing_event_type": "click", "strategy": "maximize_clicks"}, 422, "bidding_config.strategy"),
        (
            {"budget": {DAILY: 20000000}},
            {"billing_event_type": "click", "strategy": "maximize_clicks", "max_bid_micros": 5},
            422,
            "bidding_config.max_bid_micros",
        ),
        (
            {"budget": {DAILY: 20000000}},
            {"billing_event_type": "click", "strategy": "maximize_conversions"},
            422,
            "bidding_config.strategy",
        ),
        ({}, {"max_bid_micros": 5}, 400, "bidding_config.billing_event_type"),
    ],
)
async def test_bids_that_are_refused(
    web: httpx.AsyncClient, campaign_members: dict[str, Any], bidding: dict[str, Any], status: int, param: str
) -> None:
    body = make_body(AD_GROUP, campaign_id=await create_campaign(web, **campaign_members), bidding_config=bidding)
    read_refusal(await post(web, "ad_groups", body), status, param)


async def test_parents(web: httpx.AsyncClient) -> None:
    read_refusal(await post(web, "ad_groups", AD_GROUP), 404)
    read_refusal(await post(web, "ads", AD), 404)
    campaign_id = await create_campaign(web)
    read_data(await post(web, f"campaigns/{campaign_id}/archive"))
    read_refusal(await post(web, "ad_groups", make_body(AD_GROUP, campaign_id=campaign_id)), 422, "campaign_id")


@pytest.mark.parametrize(
    ("creative", "status", "param"),
    [
        ({"type": NOTHING}, 400, "creative.type"),
        ({"type": "product_ad_template"}, 403, None),
        ({"title": "ab"}, 400, "creative.title"),
        ({"title": "t" * 51}, 400, "creative.title"),
        ({"title": "    "}, 400, "creative.title"),
        ({"body": NOTHING}, 400, "creative.body"),
        ({"body": "b" * 101}, 400, "creative.body"),
        ({"target_url": NOTHING}, 400, "creative.target_url"),
        ({"target_url": "ftp://northwind.example"}, 400, "creative.target_url"),
        ({"target_url": f"https://northwind.example/{'b' * 2048}"}, 400, "creative.target_url"),
        ({"file_id": NOTHING}, 400, "creative.file_id"),
        ({"file_id": "image_31"}, 400, "creative.file_id"),
        ({"file_id": "file_missing"}, 404, "creative.file_id"),
        ({"image_url": "https://northwind.example/boots.png"}, 400, "creative.image_url"),
    ],
)
async def test_creatives_that_are_refused(
    web: httpx.AsyncClient, creative: dict[str, Any], status: int, param: str | None
) -> None:
    body = make_body(AD, ad_group_id=await create_ad_group(web), creative=make_body(AD["creative"], **creative))
    read_refusal(await post(web, "ads", body), status, param)


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({}, 400),
        ({"image_url": "boots.png"}, 400),
        ({"image_url": "https://northwind.example/missing.png"}, 404),
        ({"image_url": "https://northwind.example/processing.png"}, 422),
    ],
)
async def test_uploads_that_are_refused(web: httpx.AsyncClient, body: dict[str, Any], status: int) -> None:
    read_refusal(await post(web, "upload", body), status, "image_url")
    assert await list_writes(web) == []


async def test_bodies_that_cannot_be_read(web: httpx.AsyncClient) -> None:
    headers = {"Content-Type": "application/json"}
    read_refusal(await web.post(f"{V1}/campaigns", content=b"{", headers=headers), 400)
    read_refusal(await web.post(f"{V1}/campaigns", data={"name": "Boots"}), 400, "Content-Type")


async def test_faults(web: httpx.AsyncClient) -> None:
    async def inject_fault(fault: str, **more: Any) -> dict[str, Any]:
        answer = await web.post("/_sandbox/faults", json={"network": "chatgpt", "fault": fault, **more})
        assert answer.status_code == 200
        return dict(answer.json())

    await inject_fault("status", value=429)
    answer = await post(web, "campaigns", CAMPAIGN)
    read_refusal(answer, 429)
    assert "Retry-After" not in answer.headers
    await inject_fault("status", value=503)
    answer = await post(web, "campaigns", CAMPAIGN)
    assert (answer.status_code, type(answer.json()["error"])) == (503, str)
    assert await list_writes(web) == []
    await inject_fault("reset_after", path="/v1/campaigns")
    with pytest.raises(httpx.TransportError):
        await post(web, "campaigns", CAMPAIGN, **{"Idempotency-Key": "k1"})
    ((_, native_id),) = await list_writes(web)
    assert read_data(await post(web, "campaigns", CAMPAIGN, **{"Idempotency-Key": "k1"}))["id"] == native_id
    for never in ("partial", "error_in_200", "slow_media"):
        assert "never happen" in (await inject_fault(never))["note"]
