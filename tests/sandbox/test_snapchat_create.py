"""The simulated Snap Marketing API over real HTTP: what a create accepts, makes of it, refuses."""

from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.snapchat_calls import (
    AD,
    AD_SQUAD,
    BERLIN,
    CAMPAIGN,
    CREATIVE,
    NEW_YORK,
    TOKYO,
    V1,
    Clock,
    create_ad_squad,
    create_campaign,
    inject_fault,
    read_data,
    read_entity,
    read_failure,
    read_refusal,
    write,
)

PATH = f"adaccounts/{NEW_YORK}"


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"status": NOTHING}, "status: 'status' is required"),
        ({"status": "ENABLED"}, "status: must be one of ACTIVE, PAUSED"),
        ({"name": "x" * 376}, "name: must have 1 to 375"),
        ({"start_time": NOTHING}, "start_time: 'start_time' is required"),
        ({"start_time": "2026-12-01"}, "start_time: must be ISO 8601"),
        ({"end_time": "2026-12-01T08:00:00.000Z"}, "end_time: must be after start_time"),
        ({"start_time": "2026-10-01T08:00:00Z", "end_time": "2026-11-01T08:00:00Z"}, "end_time: must be in the future"),
        ({"objective": "BRAND_AWARENESS"}, "objective: cannot go with"),
        ({"objective_v2_properties": NOTHING}, "objective_v2_properties: is required"),
        ({"objective_v2_properties": {"objective_v2_type": "AWARENESS"}}, "objective_v2_type: must be one of"),
        ({"daily_budget_micro": 19999999}, "daily_budget_micro: must be 20000000 or more"),
        ({"lifetime_spend_cap_micro": 19999999}, "lifetime_spend_cap_micro: must be 20000000"),
        ({"daily_budget_micro": 20000000.5}, "daily_budget_micro: must be an integer"),
        ({"daily_budget_micro": "20000000"}, "daily_budget_micro: must be an integer"),
        ({"regulations": {"restricted_delivery_signals": True}}, "regulations: the ad account has not enabled"),
        ({"ad_account_id": TOKYO}, "ad_account_id: must be the ad account of the path"),
        ({"created_at": "2026-12-01T08:00:00.000Z"}, "created_at: must not be sent"),
        ({"budget": 1}, "budget: unknown member"),
    ],
)
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], reason: str) -> None:
    assert reason in read_failure(await write(web, "POST", PATH, "campaigns", make_body(CAMPAIGN, **change)))
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": NOTHING}, "type: 'type' is required"),
        ({"status": NOTHING}, "status: 'status' is required"),
        ({"placement_v2": NOTHING}, "placement_v2: 'placement_v2' is required"),
        ({"targeting": NOTHING}, "targeting: 'targeting' is required"),
        ({"billing_event": "SWIPE"}, "billing_event: must be one of IMPRESSION"),
        ({"optimization_goal": "PIXEL_PURCHASE"}, "optimization_goal: does not go with the objective"),
        ({"bid_strategy": "AUTO_BID"}, "bid_micro: must not be given with AUTO_BID"),
        ({"bid_strategy": "MIN_ROAS"}, "bid_strategy: must be one of"),
        ({"bid_micro": NOTHING}, "bid_micro: is required with LOWEST_COST_WITH_MAX_BID"),
        ({"daily_budget_micro": 5000000}, "exactly one of"),
        ({"lifetime_budget_micro": NOTHING}, "exactly one of"),
        ({"lifetime_budget_micro": NOTHING, "daily_budget_micro": 4999999}, "daily_budget_micro: must be 5000000"),
        ({"end_time": NOTHING}, "end_time: is required with lifetime_budget_micro"),
        ({"delivery_constraint": "LIFETIME_BUDGET"}, "delivery_constraint: must not be sent"),
        ({"child_ad_type": "SNAP_AD"}, "child_ad_type: must not be sent"),
        ({"auto_bid": True}, "auto_bid: must not be sent"),
        ({"campaign_id": CREATIVE}, "campaign_id: must be the parent of the path"),
        ({"targeting": {}}, "targeting.geos: 'geos' is required"),
        ({"targeting": {"geos": [{"country_code": "GB"}]}}, "country_code: must be a lower-case"),
        ({"targeting": {"geos": [{"country_code": "uk"}]}}, "country_code: must be a country code"),
        ({"targeting": {"geos": [{"country_code": "gb", "operation": "EXCLUDE"}]}}, "geos: nothing is included"),
        ({"targeting": {"geos": [{"country_code": "gb"}, {"country_code": "ie"}]}}, "operation: is required with"),
        (
            {"targeting": {"geos": [{"country_code": code, "operation": "INCLUDE"} for code in ("gb", "ie")]}},
            "several countries need exactly one language",
        ),
        (
            {"targeting": {"geos": [{"country_code": "us"}, {"country_code": "us", "region_id": ["10150"]}]}},
            "a whole country beside a part of it",
        ),
        ({"targeting": {"geos": [{"country_code": "us", "region_id": "10150"}]}}, "region_id: must be an array"),
        ({"targeting": {"geos": [{"country_code": "gb"}], "gender": "MALE"}}, "targeting.gender: unknown member"),
        (
            {"targeting": {"geos": [{"country_code": "gb"}], "demographics": [{"min_age": 18}]}},
            "min_age: must be a string",
        ),
    ],
)
async def test_ad_squads_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], reason: str) -> None:
    campaign_id = await create_campaign(web)
    body = make_body(AD_SQUAD, **{"campaign_id": campaign_id, **change})
    assert reason in read_failure(await write(web, "POST", f"campaigns/{campaign_id}", "adsquads", body))
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize(
    "targeting",
    [
        {
            "geos": [{"country_code": code, "operation": "INCLUDE"} for code in ("gb", "ie")],
            "demographics": [{"languages": ["en"]}],
        },
        {
            "geos": [
                {"country_code": "us", "region_id": ["1", "2"]},
                {"country_code": "us", "metro_id": ["501"]},
            ]
        },
        {
            "geos": [{"country_code": "gb"}, {"country_code": "gb", "region_id": ["1"], "operation": "EXCLUDE"}],
            "demographics": [{"gender": "FEMALE", "min_age": "18", "max_age": "34"}],
            "interests": [{"category_id": ["SLC_1"], "operation": "INCLUDE"}],
            "devices": [{"os_type": "iOS"}],
        },
    ],
)
async def test_targeting_that_is_accepted(web: httpx.AsyncClient, targeting: dict[str, Any]) -> None:
    squad = await read_entity(web, "adsquads", await create_ad_squad(web, targeting=targeting))
    assert {name: squad["targeting"][name] for name in targeting} == targeting
    assert squad["targeting"]["auto_expansion_options"]["interest_expansion_option"] == {"enabled": True}


async def test_what_the_network_makes_of_what_is_left_out(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web, buy_model=NOTHING, end_time=NOTHING)
    assert (await read_entity(web, "campaigns", campaign_id))["buy_model"] == "AUCTION"
    change = dict.fromkeys(("bid_strategy", "bid_micro", "lifetime_budget_micro", "end_time"), NOTHING)
    squad = await read_entity(
        web, "adsquads", await create_ad_squad(web, campaign_id, **change | {"daily_budget_micro": 5000000})
    )
    assert (squad["bid_strategy"], squad["pacing_type"]) == ("AUTO_BID", "STANDARD")
    assert squad["delivery_constraint"] == "DAILY_BUDGET"
    assert "child_ad_type" not in squad


async def test_instants_are_answered_in_utc(web: httpx.AsyncClient) -> None:
    campaign = await read_entity(web, "campaigns", await create_campaign(web, start_time="2026-12-01T08:00:00+01:00"))
    assert campaign["start_time"] == "2026-12-01T07:00:00.000Z"


async def test_restricted_delivery_where_it_is_enabled(web: httpx.AsyncClient) -> None:
    made_id = await create_campaign(web, BERLIN, regulations={"restricted_delivery_signals": True})
    assert (await read_entity(web, "campaigns", made_id))["regulations"] == {"restricted_delivery_signals": True}


async def test_smart_budgets_leave_none_to_the_ad_squad(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web, pacing_level="CAMPAIGN", daily_budget_micro=20000000)
    body = make_body(AD_SQUAD, campaign_id=campaign_id)
    assert "the budget is the campaign's" in read_failure(
        await write(web, "POST", f"campaigns/{campaign_id}", "adsquads", body)
    )
    await create_ad_squad(web, campaign_id, lifetime_budget_micro=NOTHING)


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ({"type": "SNAP_AD"}, "type: does not go with a creative of type WEB_VIEW"),
        ({"status": NOTHING}, "status: 'status' is required"),
        ({"creative_id": "44440001-aaaa-4bbb-8ccc-000000000002"}, "creative_id: no such creative in this ad account"),
        (
            {"creative_id": "44440007-aaaa-4bbb-8ccc-000000000001", "type": "SNAP_AD"},
            "creative_id: the creative was rejected",
        ),
        ({"creative_id": "44440008-aaaa-4bbb-8ccc-000000000001", "type": "SNAP_AD"}, "hasn't been uploaded yet"),
        (
            {"creative_id": "44440005-aaaa-4bbb-8ccc-000000000001", "type": "LENS"},
            "type: does not go with an ad squad of type SNAP_ADS",
        ),
        ({"creative_id": "44440006-aaaa-4bbb-8ccc-000000000001", "type": "SNAP_AD"}, "creative of type PREVIEW"),
    ],
)
async def test_ads_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], reason: str) -> None:
    squad = await create_ad_squad(web)
    answer = await write(web, "POST", f"adsquads/{squad}", "ads", make_body(AD, ad_squad_id=squad, **change))
    assert reason in read_failure(answer)
    assert len(await list_writes(web)) == 2


async def test_an_ad_of_a_creative_that_is_not_there(web: httpx.AsyncClient) -> None:
    squad = await create_ad_squad(web)
    body = make_body(AD, ad_squad_id=squad, creative_id="missing-1")
    answer = await write(web, "POST", f"adsquads/{squad}", "ads", body)
    assert "creative_id: the object is missing" in read_failure(answer, "E1103")


async def test_the_first_ad_sets_the_type_of_all(web: httpx.AsyncClient) -> None:
    squad = await create_ad_squad(web)
    story = {"creative_id": "44440003-aaaa-4bbb-8ccc-000000000001", "type": "STORY"}
    read_data(await write(web, "POST", f"adsquads/{squad}", "ads", make_body(AD, ad_squad_id=squad, **story)))
    answer = await write(web, "POST", f"adsquads/{squad}", "ads", make_body(AD, ad_squad_id=squad))
    assert "the ads of this ad squad are of type STORY" in read_failure(answer)


async def test_one_creative_several_times_within_a_second(web: httpx.AsyncClient, clock: Clock) -> None:
    squad = await create_ad_squad(web)
    body = make_body(AD, ad_squad_id=squad)
    for _ in range(2):
        read_data(await write(web, "POST", f"adsquads/{squad}", "ads", body))
    read_refusal(await write(web, "POST", f"adsquads/{squad}", "ads", body), 429, "E1105")
    clock.instant += timedelta(seconds=1)
    read_data(await write(web, "POST", f"adsquads/{squad}", "ads", body))


async def test_a_repeated_create_makes_a_second_one(web: httpx.AsyncClient) -> None:
    assert await create_campaign(web) != await create_campaign(web)


async def test_items_fail_alone(web: httpx.AsyncClient) -> None:
    answer = await write(web, "POST", PATH, "campaigns", CAMPAIGN, make_body(CAMPAIGN, status="ENABLED"))
    content = answer.json()
    assert (answer.status_code, content["request_status"]) == (200, "PARTIAL")
    assert [item["sub_request_status"] for item in content["campaigns"]] == ["SUCCESS", "ERROR"]
    assert [kind for _, kind, _ in await list_writes(web)] == ["campaign"]


@pytest.mark.parametrize(
    ("body", "status"),
    [
        ({"json": {"campaign": CAMPAIGN}}, 400),
        ({"json": CAMPAIGN}, 400),
        ({"json": {"campaigns": []}}, 400),
        ({"json": {"campaigns": [CAMPAIGN] * 31}}, 400),
        ({"content": b"{", "headers": {"Content-Type": "application/json"}}, 400),
        ({"content": b"{}", "headers": {"Content-Type": "text/plain"}}, 415),
    ],
)
async def test_bodies_that_are_refused(web: httpx.AsyncClient, body: dict[str, Any], status: int) -> None:
    read_refusal(await web.post(f"{V1}/{PATH}/campaigns", **body), status, "E1001")
    assert await list_writes(web) == []


async def test_told_faults(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "error_in_200")
    assert "this write fails by request" in read_failure(await write(web, "POST", PATH, "campaigns", CAMPAIGN))
    await inject_fault(web, "partial")
    answer = await write(web, "POST", PATH, "campaigns", CAMPAIGN, CAMPAIGN)
    assert answer.json()["request_status"] == "PARTIAL"
    squad = await create_ad_squad(web)
    await inject_fault(web, "slow_media", value=5000)
    body = make_body(AD, ad_squad_id=squad)
    assert "hasn't been uploaded yet" in read_failure(await write(web, "POST", f"adsquads/{squad}", "ads", body))
    read_data(await write(web, "POST", f"adsquads/{squad}", "ads", body))
    read_refusal(await write(web, "POST", f"adsquads/{CREATIVE}", "ads", body), 404, "E1103")
