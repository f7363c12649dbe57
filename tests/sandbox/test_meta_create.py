"""The simulated Meta Marketing API over real HTTP: what can be created, and what is refused."""

import re
from datetime import timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes
from tests.sandbox.meta_calls import (
    AD,
    ADSET,
    CAMPAIGN,
    CREATIVE,
    GRAPH,
    LIFETIME,
    LINK_DATA,
    NO_BID,
    Clock,
    create_entity,
    create_example,
    encode_form,
    make_targeting,
    post,
    read,
    read_refusal,
)

# Create


async def test_a_status_left_out_is_active(web: httpx.AsyncClient, clock: Clock) -> None:
    for path, values in (("campaigns", CAMPAIGN), ("adsets", ADSET), ("adcreatives", CREATIVE), ("ads", AD)):
        await create_entity(web, f"act_7007/{path}", {**values, "status": NOTHING})
    fields = "status,effective_status"
    assert await read(web, "6101", fields=fields) == {"id": "6101", "status": "ACTIVE", "effective_status": "ACTIVE"}
    ad = await read(web, "6104", fields=fields)
    assert (ad["status"], ad["effective_status"]) == ("ACTIVE", "PENDING_REVIEW")
    clock.instant += timedelta(minutes=2)
    for node, status, effective in (
        ("6104", "ACTIVE", "ACTIVE"),
        ("6102", "PAUSED", "ADSET_PAUSED"),
        ("6101", "PAUSED", "CAMPAIGN_PAUSED"),
        ("6104", "PAUSED", "PAUSED"),
        ("6101", "ARCHIVED", "ARCHIVED"),
    ):
        await post(web, node, {"status": status})
        assert (await read(web, "6104", fields=fields))["effective_status"] == effective
    assert (await read(web, "6102", fields="effective_status"))["effective_status"] == "ARCHIVED"


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": NOTHING}, "name"),
        ({"name": "n" * 401}, "name"),
        ({"objective": NOTHING}, "objective"),
        ({"objective": "TRAFFIC"}, "objective"),
        ({"status": "ARCHIVED"}, "status"),
        ({"buying_type": "FIXED"}, "buying_type"),
        ({"special_ad_categories": NOTHING}, "special_ad_categories"),
        ({"special_ad_categories": ["ALCOHOL"]}, "special_ad_categories"),
        ({"special_ad_categories": "HOUSING"}, "special_ad_categories"),
        ({"special_ad_categories": ["HOUSING"]}, "special_ad_category_country"),
        ({"special_ad_categories": ["NONE", "HOUSING"]}, "special_ad_categories"),
        ({"special_ad_category_country": ["usa"]}, "special_ad_category_country"),
        ({"is_adset_budget_sharing_enabled": NOTHING}, "is_adset_budget_sharing_enabled"),
        ({"is_adset_budget_sharing_enabled": "False"}, "is_adset_budget_sharing_enabled"),
        ({"is_adset_budget_sharing_enabled": 0}, "is_adset_budget_sharing_enabled"),
        ({"daily_budget": "18.50"}, "daily_budget"),
        ({"daily_budget": -1}, "daily_budget"),
        ({"daily_budget": 99}, "daily_budget"),
        ({"daily_budget": 500, "lifetime_budget": 900}, "lifetime_budget"),
        ({"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}, "bid_strategy"),
        ({"spend_cap": 9999}, "spend_cap"),
        ({"goal": "traffic"}, "goal"),
        ({"effective_status": "PAUSED"}, "effective_status"),
    ],
)
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    read_refusal(await post(web, "act_7007/campaigns", {**CAMPAIGN, **change}), 100, field)
    assert await list_writes(web) == []


@pytest.mark.parametrize(
    "change",
    [
        {"special_ad_categories": ["NONE"]},
        {"special_ad_categories": ["HOUSING", "CREDIT"], "special_ad_category_country": ["US"]},
        {"daily_budget": 500, "bid_strategy": "LOWEST_COST_WITHOUT_CAP", "is_adset_budget_sharing_enabled": NOTHING},
        {"spend_cap": 10000, "start_time": "2027-03-01T08:00:00+0100"},
    ],
)
async def test_campaigns_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    assert await create_entity(web, "act_7007/campaigns", {**CAMPAIGN, **change}) == "6101"


REFUSED_ADSETS: list[tuple[dict[str, Any], str]] = [
    ({"name": NOTHING}, "name"),
    ({"campaign_id": NOTHING}, "campaign_id"),
    ({"campaign_id": "x"}, "campaign_id"),
    ({"status": "DELETED"}, "status"),
    ({"optimization_goal": NOTHING}, "optimization_goal"),
    ({"optimization_goal": "CLICKS"}, "optimization_goal"),
    ({"optimization_goal": "OFFSITE_CONVERSIONS"}, "optimization_goal"),
    ({"billing_event": "THRUPLAY"}, "billing_event"),
    ({"billing_event": "PURCHASES"}, "billing_event"),
    ({"destination_type": "SHOP"}, "destination_type"),
    ({"promoted_object": {"page_id": "9009"}}, "promoted_object"),
    ({"promoted_object": {"page": "9009"}}, "promoted_object"),
    ({"bid_strategy": "MANUAL"}, "bid_strategy"),
    ({"bid_amount": NOTHING}, "bid_amount"),
    ({"bid_amount": "0.42"}, "bid_amount"),
    ({"bid_amount": 0}, "bid_amount"),
    ({"bid_amount": 1, "billing_event": "IMPRESSIONS"}, "bid_amount"),
    ({"bid_strategy": "COST_CAP", "bid_amount": NOTHING}, "bid_amount"),
    ({"bid_strategy": "LOWEST_COST_WITHOUT_CAP"}, "bid_amount"),
    ({"bid_strategy": NOTHING}, "bid_amount"),
    ({"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS", "bid_amount": NOTHING}, "bid_constraints"),
    ({**NO_BID, "bid_constraints": {"roas_average_floor": 10000}}, "bid_constraints"),
    ({"daily_budget": NOTHING}, "daily_budget"),
    ({"daily_budget": 99}, "daily_budget"),
    ({"daily_budget": 18.5}, "daily_budget"),
    ({"lifetime_budget": 90000}, "lifetime_budget"),
    ({**LIFETIME, "end_time": NOTHING}, "end_time"),
    ({**LIFETIME, "lifetime_budget": 3099}, "lifetime_budget"),
    ({"end_time": "2027-03-02T08:00:00+0000"}, "end_time"),
    ({**LIFETIME, "end_time": "2027-01-20T11:00:00+0000", "start_time": NOTHING}, "end_time"),
    ({**LIFETIME, "end_time": "2027-02-28T08:00:00+0000"}, "end_time"),
    ({"start_time": "2027-03-01"}, "start_time"),
    ({"start_time": "2027-03-01T08:00:00"}, "start_time"),
    ({"start_time": "2027-02-30T08:00:00+0000"}, "start_time"),
    ({"targeting": NOTHING}, "targeting"),
    ({"targeting": "NO"}, "targeting"),
    ({"targeting": {"geo_locations": {"countries": ["NO"]}}}, "targeting"),
    ({"targeting": {"targeting_automation": {"advantage_audience": 0}}}, "targeting"),
    (make_targeting(targeting_automation={"advantage_audience": False}), "targeting"),
    (make_targeting(geo_locations={}), "targeting"),
    (make_targeting(geo_locations={"location_types": ["home"]}), "targeting"),
    (make_targeting(geo_locations={"country": ["NO"]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["Norway"]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["UK"]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["ZZ"]}), "targeting"),
    (make_targeting(geo_locations={"cities": ["1590653"]}), "targeting"),
    (make_targeting(geo_locations={"cities": [{"key": 1590653}]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["NO"], "cities": [{"key": "1590653"}]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["US"], "zips": [{"key": "US:90210"}]}), "targeting"),
    (make_targeting(geo_locations={"countries": ["US"], "geo_markets": [{"key": "DMA:807"}]}), "targeting"),
    (make_targeting(geo_locations={"cities": [{"key": "1590653", "radius": 20}]}), "targeting"),
    (
        make_targeting(geo_locations={"regions": [{"key": "3847", "radius": 20, "distance_unit": "kilometer"}]}),
        "targeting",
    ),
    (make_targeting(geo_locations={"regions": [{"key": "1590653"}]}), "targeting"),
    (make_targeting(geo_locations={"cities": [{"key": "3847"}]}), "targeting"),
    (make_targeting(geo_locations={"cities": [{"key": "1590653", "country": "US"}]}), "targeting"),
    (make_targeting(excluded_geo_locations={"cities": [{"key": "US:94304"}]}), "targeting"),
    (
        make_targeting(geo_locations={"cities": [{"key": "1590653", "radius": 5, "distance_unit": "kilometer"}]}),
        "targeting",
    ),
    (make_targeting(age_min=12), "targeting"),
    (make_targeting(age_min=40, age_max=30), "targeting"),
    (make_targeting(genders=[3]), "targeting"),
    (make_targeting(locales=["6"]), "targeting"),
    (make_targeting(device_platforms=["tablet"]), "targeting"),
    (make_targeting(messenger_positions=["story"]), "targeting"),
    (make_targeting(instagram_positions=["explore"]), "targeting"),
    (make_targeting(keyword=["tea"]), "targeting"),
    (make_targeting(geo_locations={"countries": ["NO", "DE"]}), "dsa_beneficiary"),
    (make_targeting(geo_locations={"countries": ["RE"]}), "dsa_beneficiary"),
    (make_targeting(geo_locations={"cities": [{"key": "624477"}]}), "dsa_beneficiary"),
    (make_targeting(geo_locations={"zips": [{"key": "FR:75001"}]}), "dsa_beneficiary"),
    (make_targeting(geo_locations={"country_groups": ["worldwide"]}), "dsa_beneficiary"),
    ({**make_targeting(geo_locations={"countries": ["DE"]}), "dsa_beneficiary": "Tea"}, "dsa_payor"),
    ({"adset_name": "x"}, "adset_name"),
]


@pytest.mark.parametrize(("change", "field"), REFUSED_ADSETS)
async def test_ad_sets_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    await create_entity(web, "act_7007/campaigns", CAMPAIGN)
    read_refusal(await post(web, "act_7007/adsets", {**ADSET, **change}), 100, field)
    assert len(await list_writes(web)) == 1


@pytest.mark.parametrize(
    "change",
    [
        NO_BID,
        {**NO_BID, "bid_strategy": NOTHING},
        {"billing_event": "IMPRESSIONS", "bid_amount": 2},
        {"bid_strategy": "COST_CAP"},
        {
            "bid_strategy": "LOWEST_COST_WITH_MIN_ROAS",
            "bid_amount": NOTHING,
            "bid_constraints": {"roas_average_floor": 15000},
        },
        LIFETIME,
        {**LIFETIME, "lifetime_budget": 3100},
        {"daily_budget": 100, "end_time": "2027-03-02T08:00:01+0000"},
        {"end_time": "0"},
        {"start_time": NOTHING},
        {"start_time": "2020-01-01T00:00:00+00:00"},
        {"optimization_goal": "LANDING_PAGE_VIEWS", "billing_event": "IMPRESSIONS"},
        make_targeting(geo_locations={"countries": ["US"], "cities": [{"key": "1590653"}]}),
        make_targeting(geo_locations={"zips": [{"key": "US:94304"}], "geo_markets": [{"key": "DMA:501"}]}),
        make_targeting(geo_locations={"cities": [{"key": "1590653", "radius": 17, "distance_unit": "kilometer"}]}),
        make_targeting(age_min=18, age_max=65, genders=[1], locales=[6], publisher_platforms=["facebook"]),
        make_targeting(flexible_spec=[{"interests": [{"id": "6003384248805", "name": "Tea (drink)"}]}]),
        {
            **make_targeting(geo_locations={"country_groups": ["worldwide"]}),
            "dsa_beneficiary": "Tea",
            "dsa_payor": "Tea",
        },
        {
            "targeting": {"custom_audiences": [{"id": "8401"}], "targeting_automation": {"advantage_audience": 1}},
            "dsa_beneficiary": "Tea",
            "dsa_payor": "Tea",
        },
    ],
)
async def test_ad_sets_that_are_accepted(web: httpx.AsyncClient, change: dict[str, Any]) -> None:
    await create_entity(web, "act_7007/campaigns", CAMPAIGN)
    assert await create_entity(web, "act_7007/adsets", {**ADSET, **change}) == "6102"


AWARENESS = {**ADSET, **NO_BID, "optimization_goal": "REACH", "destination_type": NOTHING,
             "promoted_object": {"page_id": "9009"}}  # fmt: skip
CONVERSIONS = {**ADSET, **NO_BID, "optimization_goal": "OFFSITE_CONVERSIONS",
               "promoted_object": {"pixel_id": "8001", "custom_event_type": "PURCHASE"}}  # fmt: skip


@pytest.mark.parametrize(
    ("objective", "adset", "field"),
    [
        ("OUTCOME_AWARENESS", AWARENESS, None),
        ("OUTCOME_AWARENESS", {**AWARENESS, "destination_type": "WEBSITE"}, "destination_type"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "promoted_object": NOTHING}, "promoted_object"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "promoted_object": {"page_id": "page"}}, "promoted_object"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "optimization_goal": "LINK_CLICKS"}, "optimization_goal"),
        ("OUTCOME_AWARENESS", {**AWARENESS, "billing_event": "LINK_CLICKS"}, "billing_event"),
        ("OUTCOME_SALES", CONVERSIONS, None),
        ("OUTCOME_SALES", {**CONVERSIONS, "promoted_object": {"pixel_id": "8001"}}, "promoted_object"),
        ("OUTCOME_SALES", {**CONVERSIONS, "promoted_object": {"custom_event_type": "LEAD"}}, "promoted_object"),
        (
            "OUTCOME_SALES",
            {**CONVERSIONS, "promoted_object": {"pixel_id": "8001", "custom_event_type": "OTHER"}},
            "promoted_object",
        ),
        (
            "OUTCOME_SALES",
            {**CONVERSIONS, "promoted_object": {"pixel_id": "8001", "custom_event_type": "BUY"}},
            "promoted_object",
        ),
        ("OUTCOME_SALES", {**CONVERSIONS, "optimization_goal": "LANDING_PAGE_VIEWS"}, "optimization_goal"),
    ],
)
async def test_goals(web: httpx.AsyncClient, objective: str, adset: dict[str, Any], field: str | None) -> None:
    await create_entity(web, "act_7007/campaigns", {**CAMPAIGN, "objective": objective})
    answer = await post(web, "act_7007/adsets", adset)
    if field is None:
        assert answer.json() == {"id": "6102"}
    else:
        read_refusal(answer, 100, field)


async def test_the_budget_sits_in_one_place(web: httpx.AsyncClient) -> None:
    await create_entity(web, "act_7007/campaigns", {**CAMPAIGN, "lifetime_budget": 90000})
    bare = {**ADSET, **NO_BID, "daily_budget": NOTHING, "bid_strategy": NOTHING}
    read_refusal(await post(web, "act_7007/adsets", {**bare, "daily_budget": 1850}), 100, "daily_budget")
    read_refusal(
        await post(web, "act_7007/adsets", {**bare, "bid_strategy": "LOWEST_COST_WITHOUT_CAP"}), 100, "bid_strategy"
    )
    read_refusal(await post(web, "act_7007/adsets", bare), 100, "end_time")
    await create_entity(web, "act_7007/adsets", {**bare, "end_time": "2027-03-31T21:59:59+0000"})


async def test_click_billing_that_an_account_does_not_have(web: httpx.AsyncClient) -> None:
    await create_entity(web, "act_3003/campaigns", CAMPAIGN)
    read_refusal(await post(web, "act_3003/adsets", ADSET), 100, "billing_event", 2446404)
    await create_entity(web, "act_3003/adsets", {**ADSET, **NO_BID})


async def test_yen_have_no_minor_unit(web: httpx.AsyncClient) -> None:
    await create_entity(web, "act_2002/campaigns", CAMPAIGN)
    for change, field in (({"daily_budget": 99}, "daily_budget"), ({"bid_amount": 1}, "bid_amount")):
        read_refusal(await post(web, "act_2002/adsets", {**ADSET, **change}), 100, field)
    await create_entity(web, "act_2002/adsets", {**ADSET, "daily_budget": 100, "bid_amount": 2})
    rows = (await read(web, "act_2002/insights", level="account", time_increment="1"))["data"]
    assert all(re.fullmatch("[0-9]+", row["spend"]) for row in rows)


def make_story(**members: Any) -> dict[str, Any]:
    link_data = {name: value for name, value in {**LINK_DATA, **members}.items() if value is not NOTHING}
    return {"object_story_spec": {"page_id": "9009", "link_data": link_data}}


@pytest.mark.parametrize(
    ("change", "code", "field", "subcode"),
    [
        ({"object_story_spec": NOTHING}, 100, "object_story_spec", None),
        ({"status": "PAUSED"}, 100, "status", None),
        ({"object_story_spec": {"link_data": LINK_DATA}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": "9009"}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": 9009, "link_data": LINK_DATA}}, 100, "object_story_spec", None),
        ({"object_story_spec": {"page_id": "page-missing", "link_data": LINK_DATA}}, 100, "object_story_spec", 33),
        ({"object_story_spec": {"page_id": "ineligible", "link_data": LINK_DATA}}, 200, "object_story_spec", None),
        (make_story(link=NOTHING), 100, "object_story_spec", None),
        (make_story(link="tea.example"), 100, "object_story_spec", None),
        (make_story(link="ftp://tea.example/"), 100, "object_story_spec", None),
        (make_story(headline="x"), 100, "object_story_spec", None),
        (make_story(image_hash=NOTHING), 100, "object_story_spec", None),
        (make_story(picture="https://tea.example/leaf.jpg"), 100, "object_story_spec", None),
        (make_story(image_hash="missing1"), 100, "object_story_spec", 33),
        (make_story(image_hash=NOTHING, picture="http://localhost/leaf.jpg"), 100, "object_story_spec", None),
        (make_story(image_hash=NOTHING, picture="http://10.0.0.1/leaf.jpg"), 100, "object_story_spec", None),
        (make_story(image_hash=NOTHING, picture="https://tea.example/missing.jpg"), 100, "object_story_spec", 33),
        (make_story(call_to_action={"type": "CLICK_HERE"}), 100, "object_story_spec", None),
        (make_story(call_to_action={"value": {"link": "https://tea.example/"}}), 100, "object_story_spec", None),
        (
            make_story(call_to_action={"type": "LEARN_MORE", "value": {"link": "https://tea.example/shop"}}),
            100,
            "object_story_spec",
            None,
        ),
    ],
)
async def test_creatives_that_are_refused(
    web: httpx.AsyncClient, change: dict[str, Any], code: int, field: str, subcode: int | None
) -> None:
    read_refusal(await post(web, "act_7007/adcreatives", {**CREATIVE, **change}), code, field, subcode)
    assert await list_writes(web) == []


async def test_creatives_that_are_accepted(web: httpx.AsyncClient) -> None:
    await create_entity(
        web, "act_7007/adcreatives", {**CREATIVE, **make_story(image_hash=NOTHING, picture="https://t.example/a.jpg")}
    )
    await create_entity(web, "act_7007/adcreatives", {**CREATIVE, "name": NOTHING})
    await create_entity(web, "act_7007/adcreatives", {"object_story_id": "9009_77"})
    creative = await read(web, "6101", fields="object_story_spec,status,title,call_to_action_type,image_hash")
    assert creative["object_story_spec"]["link_data"]["picture"] == "https://t.example/a.jpg"
    assert (creative["status"], creative["title"], creative["call_to_action_type"]) == (
        "ACTIVE",
        "Spring tea",
        "LEARN_MORE",
    )
    assert "image_hash" not in creative


async def test_ads_and_their_parents(web: httpx.AsyncClient) -> None:
    await create_example(web)
    for change, field, subcode in (
        ({"name": NOTHING}, "name", None),
        ({"adset_id": "6101"}, "adset_id", 33),
        ({"adset_id": "77"}, "adset_id", 33),
        ({"creative": NOTHING}, "creative", None),
        ({"creative": {"id": "6103"}}, "creative", None),
        ({"creative": {"creative_id": 6103}}, "creative", None),
        ({"creative": "6103"}, "creative", None),
        ({"creative": {"creative_id": "6101"}}, "creative", 33),
        ({"creative": {"creative_id": "creative-missing"}}, "creative", 33),
        ({"creative": {"creative_id": "processing"}}, "creative", None),
        ({"status": "ARCHIVED"}, "status", None),
        ({"campaign_id": "6101"}, "campaign_id", None),
    ):
        read_refusal(await post(web, "act_7007/ads", {**AD, **change}), 100, field, subcode)
    # nothing of one account exists in another
    read_refusal(await post(web, "act_1001/ads", AD), 100, "adset_id", 33)
    read_refusal(await post(web, "act_1001/adsets", ADSET), 100, "campaign_id", 33)
    read_refusal(await post(web, "act_9/campaigns", CAMPAIGN), 100, subcode=33)
    assert await create_entity(web, "act_7007/ads", {**AD, "creative": {"creative_id": "120000000000001"}}) == "6105"
    ad = await read(web, "6105", fields="creative{id,name},campaign_id,adset{name}")
    assert ad == {
        "id": "6105",
        "creative": {"id": "120000000000001", "name": "Creative 120000000000001"},
        "campaign_id": "6101",
        "adset": {"id": "6102", "name": "Tea spring"},
    }


async def test_an_ad_set_holds_fifty_ads(web: httpx.AsyncClient) -> None:
    await create_example(web)
    for _ in range(49):
        await create_entity(web, "act_7007/ads", AD)
    read_refusal(await post(web, "act_7007/ads", AD), 1487809, "adset_id")
    await post(web, "6104", {"status": "ARCHIVED"})
    await create_entity(web, "act_7007/ads", AD)


async def test_validate_only_writes_nothing(web: httpx.AsyncClient) -> None:
    dry = {"execution_options": ["validate_only"]}
    assert (await post(web, "act_7007/campaigns", {**CAMPAIGN, **dry})).json() == {"success": True}
    read_refusal(await post(web, "act_7007/campaigns", {**CAMPAIGN, **dry, "objective": "X"}), 100, "objective")
    assert await list_writes(web) == []
    assert await read(web, "act_7007/campaigns") == {"data": []}


async def test_bodies_are_forms(web: httpx.AsyncClient) -> None:
    path = f"{GRAPH}/act_7007/campaigns"
    read_refusal(await web.post(path, json=CAMPAIGN), 100)
    read_refusal(await web.post(path), 100)
    read_refusal(await web.post(path, params=encode_form(CAMPAIGN), data={"name": "x"}), 100, "name")
    twice = {"Content-Type": "application/x-www-form-urlencoded"}
    read_refusal(await web.post(path, content="name=a&name=b", headers=twice), 100, "name")
    broken = {**encode_form(CAMPAIGN), "special_ad_categories": "['NONE']"}
    read_refusal(await web.post(path, data=broken), 100, "special_ad_categories")
    assert await list_writes(web) == []


async def test_versions_and_paths(web: httpx.AsyncClient) -> None:
    for version in ("v23.0", "v27.0"):
        read_refusal(await web.get(f"/graph.facebook.com/{version}/me"), 2635)
    read_refusal(await web.get(f"{GRAPH}/act_7007/adgroups"), 100, subcode=33)
    read_refusal(await web.patch(f"{GRAPH}/act_7007"), 100)
