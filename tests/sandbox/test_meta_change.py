"""The simulated Meta Marketing API over real HTTP: updates, deletes, nodes and lists."""

import json
from datetime import UTC, datetime, timedelta
from typing import Any

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.meta_calls import (
    ADSET,
    CAMPAIGN,
    CREATIVE,
    GRAPH,
    LIFETIME,
    NORWAY,
    Clock,
    create_entity,
    create_example,
    encode_form,
    get_token,
    make_targeting,
    post,
    read,
    read_refusal,
)

# Update and delete


async def test_updates(web: httpx.AsyncClient, clock: Clock) -> None:
    await create_example(web)
    for node, change, expected in (
        ("6101", {"name": "Tea"}, {"name": "Tea"}),
        ("6101", {"spend_cap": 20000}, {"spend_cap": "20000"}),
        ("6102", {"daily_budget": 2000}, {"daily_budget": "2000", "budget_remaining": "2000"}),
        ("6102", {"bid_amount": 43}, {"bid_amount": 43}),
        ("6102", {"end_time": "2027-04-01T00:00:00+0200"}, {"end_time": "2027-04-01T00:00:00+0200"}),
        ("6102", {"end_time": "0"}, {}),
        ("6102", {"start_time": "2027-03-02T08:00:00Z"}, {"start_time": "2027-03-02T09:00:00+0100"}),
        ("6104", {"creative": {"creative_id": "120000000000009"}}, {"creative": {"id": "120000000000009"}}),
        ("6103", {"name": "New"}, {"name": "New"}),
    ):
        answer = await post(web, node, change)
        assert answer.json() == {"success": True}, change
        assert await read(web, node, fields=",".join(expected or change)) == {"id": node, **expected}
    assert (await post(web, "6102", {"bid_strategy": "LOWEST_COST_WITHOUT_CAP"})).status_code == 200
    assert await read(web, "6102", fields="bid_amount,bid_strategy") == {
        "id": "6102",
        "bid_strategy": "LOWEST_COST_WITHOUT_CAP",
    }
    dry = {"name": "Dry", "execution_options": ["validate_only"]}
    assert (await post(web, "6101", dry)).json() == {"success": True}
    assert (await read(web, "6101", fields="name"))["name"] == "Tea"


@pytest.mark.parametrize(
    ("node", "change", "field"),
    [
        ("6101", {"objective": "OUTCOME_SALES"}, "objective"),
        ("6101", {"buying_type": "AUCTION"}, "buying_type"),
        ("6101", {"daily_budget": 1000}, "daily_budget"),
        ("6101", {"bid_strategy": "COST_CAP"}, "bid_strategy"),
        ("6101", {"spend_cap": 50}, "spend_cap"),
        ("6101", {"status": "OFF"}, "status"),
        ("6101", {"special_ad_categories": ["CREDIT"]}, "special_ad_category_country"),
        ("6102", {"lifetime_budget": 90000}, "lifetime_budget"),
        ("6102", {"daily_budget": 10}, "daily_budget"),
        ("6102", {"optimization_goal": "REACH"}, "optimization_goal"),
        ("6102", {"billing_event": "IMPRESSIONS"}, "billing_event"),
        ("6102", {"destination_type": "APP"}, "destination_type"),
        ("6102", {"promoted_object": {"page_id": "9009"}}, "promoted_object"),
        ("6102", {"frequency_control_specs": [{"event": "IMPRESSIONS"}]}, "frequency_control_specs"),
        ("6102", {"campaign_id": "6101"}, "campaign_id"),
        ("6102", {"end_time": "2027-01-01T00:00:00+0000"}, "end_time"),
        ("6102", {"bid_strategy": "LOWEST_COST_WITH_MIN_ROAS"}, "bid_constraints"),
        ("6102", {"targeting": {"geo_locations": {"countries": ["SE"]}}}, "targeting"),
        ("6102", make_targeting(geo_locations={"countries": ["SE"]}), "dsa_beneficiary"),
        ("6104", {"adset_id": "6102"}, "adset_id"),
        ("6104", {"creative": {"creative_id": "6102"}}, "creative"),
        ("6103", {"object_story_spec": CREATIVE["object_story_spec"]}, "object_story_spec"),
        ("6103", {"status": "PAUSED"}, "status"),
    ],
)
async def test_updates_that_are_refused(web: httpx.AsyncClient, node: str, change: dict[str, Any], field: str) -> None:
    await create_example(web)
    before = await list_writes(web)
    read_refusal(await post(web, node, change), 100, field, 33 if field == "creative" else None)
    assert await list_writes(web) == before


async def test_the_start_is_locked_once_started(web: httpx.AsyncClient, clock: Clock) -> None:
    await create_example(web)
    clock.instant = datetime(2027, 3, 5, tzinfo=UTC)
    web.headers["Authorization"] = f"Bearer {(await get_token(web))['access_token']}"
    read_refusal(await post(web, "6102", {"start_time": "2027-03-09T08:00:00+0000"}), 100, "start_time")
    assert (await post(web, "6102", {"start_time": ADSET["start_time"], "name": "Same"})).status_code == 200


async def test_a_lifetime_budget_keeps_its_end(web: httpx.AsyncClient) -> None:
    await create_entity(web, "act_7007/campaigns", CAMPAIGN)
    await create_entity(web, "act_7007/adsets", {**ADSET, **LIFETIME})
    read_refusal(await post(web, "6102", {"end_time": "0"}), 100, "end_time")
    read_refusal(await post(web, "6102", {"lifetime_budget": 3000}), 100, "lifetime_budget")
    read_refusal(await post(web, "6102", {"daily_budget": 3000}), 100, "daily_budget")
    assert (await post(web, "6102", {"lifetime_budget": 80000})).status_code == 200


async def test_four_budget_changes_an_hour(web: httpx.AsyncClient, clock: Clock) -> None:
    await create_example(web)
    for budget in (2000, 2100, 2200, 2300, 2300):  # the last changes nothing
        assert (await post(web, "6102", {"daily_budget": budget})).status_code == 200
    answer = await post(web, "6102", {"daily_budget": 2400})
    read_refusal(answer, 613, "daily_budget", 1487632)
    usage = json.loads(answer.headers["X-Business-Use-Case-Usage"])["6102"][0]
    assert usage["estimated_time_to_regain_access"] == 1
    assert (await read(web, "6102", fields="daily_budget"))["daily_budget"] == "2300"
    clock.instant += timedelta(minutes=61)
    assert (await post(web, "6102", {"daily_budget": 2400})).status_code == 200


async def test_deletes_take_the_children_along(web: httpx.AsyncClient) -> None:
    await create_example(web)
    read_refusal(await web.delete(f"{GRAPH}/6103"), 100)  # used by the ad
    assert (await web.delete(f"{GRAPH}/6101")).json() == {"success": True}
    for node in ("6101", "6102", "6104"):
        state = await read(web, node, fields="status,effective_status")
        assert (state["status"], state["effective_status"]) == ("DELETED", "DELETED")
        read_refusal(await post(web, node, {"status": "ACTIVE"}), 100, "status")
        read_refusal(await web.delete(f"{GRAPH}/{node}"), 100, "status")
    assert (await list_writes(web))[4:] == [
        ("DELETE", "campaign", "6101"),
        ("DELETE", "adset", "6102"),
        ("DELETE", "ad", "6104"),
    ]
    assert (await web.delete(f"{GRAPH}/6103")).json() == {"success": True}
    read_refusal(await post(web, "act_7007/adsets", ADSET), 100, "campaign_id", 33)
    read_refusal(await web.delete(f"{GRAPH}/9999"), 100, subcode=33)
    read_refusal(await post(web, "9999", {"status": "PAUSED"}), 100, subcode=33)


async def test_what_is_archived_can_only_be_deleted(web: httpx.AsyncClient) -> None:
    await create_example(web)
    await post(web, "6104", {"status": "ARCHIVED"})
    read_refusal(await post(web, "6104", {"name": "New"}), 100, "status")
    read_refusal(await post(web, "6104", {"status": "ACTIVE"}), 100, "status")
    assert (await post(web, "6104", {"status": "DELETED"})).json() == {"success": True}


# Nodes and lists


async def test_only_the_fields_that_were_asked_for(web: httpx.AsyncClient) -> None:
    await create_example(web)
    assert await read(web, "6101") == {"id": "6101"}
    adset = await read(
        web,
        "6102",
        fields="name,campaign_id,status,daily_budget,lifetime_budget,bid_amount,start_time,end_time,targeting,"
        "campaign{name},learning_stage_info",
    )
    assert adset == {
        "id": "6102",
        "name": "Tea spring",
        "campaign_id": "6101",
        "status": "PAUSED",
        "daily_budget": "1850",
        "bid_amount": 42,
        "start_time": "2027-03-01T09:00:00+0100",  # in the account's zone
        "targeting": NORWAY,
        "campaign": {"id": "6101", "name": "Tea spring"},
    }
    for fields in ("title", "name,creative{nothing}", "name{", "name}", "{name}", "name,,id", "name,name"):
        read_refusal(await web.get(f"{GRAPH}/6104", params={"fields": fields}), 100, "fields")
    read_refusal(await web.get(f"{GRAPH}/act_7007/ads", params={"fields": "titel"}), 100, "fields")
    read_refusal(await web.get(f"{GRAPH}/777", params={"fields": "id,name,effective_status"}), 100, subcode=33)
    foreign = await read(web, "777", fields="id,name,status,object_type,thumbnail_url")  # made elsewhere
    assert (foreign["id"], foreign["status"]) == ("777", "ACTIVE")
    read_refusal(await web.get(f"{GRAPH}/missing", params={"fields": "id,object_type"}), 100, subcode=33)


async def test_every_field_of_the_documentation_can_be_read(web: httpx.AsyncClient) -> None:
    await create_example(web)
    for node, fields in {
        "6101": "id,name,objective,status,effective_status,buying_type,special_ad_categories,daily_budget,"
        "lifetime_budget,spend_cap,bid_strategy,is_adset_budget_sharing_enabled,start_time,stop_time,created_time,"
        "updated_time",
        "6102": "id,name,campaign_id,status,effective_status,daily_budget,lifetime_budget,budget_remaining,"
        "bid_strategy,bid_amount,billing_event,optimization_goal,destination_type,promoted_object,targeting,"
        "start_time,end_time,frequency_control_specs,dsa_beneficiary,dsa_payor,learning_stage_info,issues_info",
        "6104": "id,name,adset_id,campaign_id,status,effective_status,"
        "creative{id,name,object_story_spec,thumbnail_url},ad_review_feedback,issues_info",
        "6103": "id,name,status,object_type,thumbnail_url",
    }.items():
        entity = await read(web, node, fields=fields)
        assert (entity["id"], entity["name"]) == (node, "Tea spring")
    campaign = await read(web, "6101", fields="special_ad_categories,is_adset_budget_sharing_enabled,created_time")
    assert campaign == {
        "id": "6101",
        "special_ad_categories": [],
        "is_adset_budget_sharing_enabled": False,
        "created_time": "2027-01-20T13:00:00+0100",
    }


async def test_lists(web: httpx.AsyncClient) -> None:
    await create_example(web)
    for name in ("Coffee", "Green TEA", "Old"):
        await create_entity(web, "act_7007/campaigns", {**CAMPAIGN, "name": name, "status": "ACTIVE"})
    await web.delete(f"{GRAPH}/6107")

    async def list_names(path: str, **query: Any) -> list[str]:
        return [row["name"] for row in (await read(web, path, fields="name", **query))["data"]]

    assert await list_names("act_7007/campaigns") == ["Green TEA", "Coffee", "Tea spring"]
    assert await list_names("act_7007/campaigns", effective_status=["ACTIVE", "DELETED"]) == [
        "Old",
        "Green TEA",
        "Coffee",
    ]
    tea = [{"field": "name", "operator": "CONTAIN", "value": "tea"}]
    assert await list_names("act_7007/campaigns", filtering=tea) == ["Green TEA", "Tea spring"]
    assert await list_names("act_7007/campaigns", filtering=tea, effective_status=["PAUSED"]) == ["Tea spring"]
    assert await list_names("act_1001/campaigns") == []
    assert await list_names("6101/adsets") == ["Tea spring"]
    assert await list_names("6105/adsets") == []
    for parent in ("6101", "6102", "act_7007"):
        assert await list_names(f"{parent}/ads") == ["Tea spring"]
    assert await list_names("act_7007/adcreatives") == ["Tea spring"]
    assert await read(web, "act_7007/adsets", fields="id,name,status,effective_status,campaign_id", limit=100) == {
        "data": [
            {
                "id": "6102",
                "name": "Tea spring",
                "status": "PAUSED",
                "effective_status": "PAUSED",
                "campaign_id": "6101",
            }
        ],
        "paging": {"cursors": {"before": "eyJyb3ciOjB9", "after": "eyJyb3ciOjB9"}},
    }
    page = await read(web, "act_7007/campaigns", limit=2)
    rest = await read(web, "act_7007/campaigns", limit=2, after=page["paging"]["cursors"]["after"])
    assert ([row["id"] for row in page["data"]], [row["id"] for row in rest["data"]]) == (["6106", "6105"], ["6101"])
    for path, query, field in (
        ("act_7007/campaigns", {"effective_status": ["CAMPAIGN_PAUSED"]}, "effective_status"),
        ("act_7007/adsets", {"effective_status": ["ADSET_PAUSED"]}, "effective_status"),
        ("act_7007/ads", {"effective_status": "ACTIVE"}, "effective_status"),
        ("act_7007/ads", {"filtering": [{"field": "name", "operator": "LIKE", "value": "x"}]}, "filtering"),
        ("act_7007/ads", {"search": "x"}, "search"),
    ):
        read_refusal(await web.get(f"{GRAPH}/{path}", params=encode_form(query)), 100, field)
    read_refusal(await web.get(f"{GRAPH}/6104/adsets"), 100, subcode=33)
