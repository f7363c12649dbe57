"""The simulated Pinterest API over real HTTP: what can be created, and what is refused."""

from datetime import UTC, datetime
from typing import Any

import httpx

from tests.sandbox.calls import NOTHING, list_writes, make_body
from tests.sandbox.pinterest_calls import (
    AD,
    AD_GROUP,
    CAMPAIGN,
    KEYWORDS,
    NEW_YORK,
    TOKYO,
    V5,
    Clock,
    create_ad_group,
    inject_fault,
    open_client,
    post,
    read,
    read_data,
    read_failure,
    read_refusal,
)


async def test_what_is_left_out(web: httpx.AsyncClient, clock: Clock) -> None:
    body = make_body(CAMPAIGN, status=NOTHING, start_time=NOTHING, end_time=NOTHING, is_flexible_daily_budgets=NOTHING)
    campaign = read_data(await post(web, "campaigns", [body]))
    assert (campaign["status"], campaign["summary_status"]) == ("ACTIVE", "RUNNING")
    assert (campaign["start_time"], campaign["end_time"]) == (int(clock.instant.timestamp()), None)
    assert campaign["intended_promotion_type"] == "STANDARD_AD"
    left_out = dict.fromkeys(("status", "pacing_delivery_type", "placement_group", "auto_targeting_enabled"), NOTHING)
    ad_group = read_data(await post(web, "ad_groups", [make_body(AD_GROUP, campaign_id=campaign["id"], **left_out)]))
    assert (ad_group["status"], ad_group["auto_targeting_enabled"], ad_group["placement_group"]) == (
        "ACTIVE",
        True,
        "ALL",
    )
    ad = read_data(await post(web, "ads", [make_body(AD, ad_group_id=ad_group["id"], status=NOTHING)]))
    assert (ad["status"], ad["campaign_id"], ad["review_status"]) == ("ACTIVE", campaign["id"], "PENDING")


CAMPAIGNS_THAT_ARE_ACCEPTED: list[dict[str, Any]] = [
    {"objective_type": "AWARENESS"},
    {"daily_spend_cap": NOTHING, "lifetime_spend_cap": 90000000},
    {"daily_spend_cap": 25000000, "lifetime_spend_cap": None, "is_flexible_daily_budgets": True},
    {"status": "DRAFT"},
    {"objective_type": "VIDEO_COMPLETION", "is_campaign_budget_optimization": False, "daily_spend_cap": NOTHING},
    {"objective_type": "WEB_CONVERSION"},
    {"end_time": NOTHING},
    {"tracking_urls": {"click": ["https://t.example/1", "https://t.example/2"]}, "order_line_id": "12"},
]


async def test_campaigns_that_are_accepted(web: httpx.AsyncClient) -> None:
    for change in CAMPAIGNS_THAT_ARE_ACCEPTED:
        assert read_data(await post(web, "campaigns", [make_body(CAMPAIGN, **change)]))["type"] == "campaign"


CAMPAIGNS_OF_THE_WRONG_SHAPE: list[dict[str, Any]] = [
    {"name": NOTHING},
    {"name": ""},
    {"name": "n" * 256},
    {"ad_account_id": NOTHING},
    {"ad_account_id": 549755885175},
    {"objective_type": NOTHING},
    {"objective_type": "TRAFFIC"},
    {"objective_type": "LEADS"},
    {"status": "ENABLED"},
    {"daily_spend_cap": "25000000"},
    {"daily_spend_cap": 25.5},
    {"daily_spend_cap": 0},
    {"start_time": 1793520000000},
    {"start_time": "2026-11-01"},
    {"end_time": -1},
    {"is_campaign_budget_optimization": "true"},
    {"tracking_urls": {"click": ["https://t.example/"] * 4}},
    {"tracking_urls": {"clicks": []}},
    {"budget": 25},
    {"id": "1"},
]


async def test_campaigns_of_the_wrong_shape(web: httpx.AsyncClient) -> None:
    for change in CAMPAIGNS_OF_THE_WRONG_SHAPE:
        read_refusal(await post(web, "campaigns", [make_body(CAMPAIGN, **change)]), 400, 1)
        assert await list_writes(web) == []


CAMPAIGNS_THAT_BREAK_A_RULE: list[tuple[dict[str, Any], str]] = [
    ({"ad_account_id": TOKYO}, "ad_account_id"),
    ({"daily_spend_cap": NOTHING}, "daily_spend_cap"),
    ({"lifetime_spend_cap": 90000000}, "lifetime_spend_cap"),
    ({"daily_spend_cap": NOTHING, "lifetime_spend_cap": 90000000, "end_time": NOTHING}, "end_time"),
    (
        {"daily_spend_cap": NOTHING, "lifetime_spend_cap": 9000000, "is_flexible_daily_budgets": True},
        "is_flexible_daily_budgets",
    ),
    ({"is_campaign_budget_optimization": False}, "is_campaign_budget_optimization"),
    ({"is_campaign_budget_optimization": NOTHING}, "is_campaign_budget_optimization"),
    ({"end_time": 1793520000}, "end_time"),
    ({"status": "ARCHIVED"}, "status"),
    ({"status": "DELETED_DRAFT"}, "status"),
]


async def test_campaigns_that_break_a_rule(web: httpx.AsyncClient) -> None:
    for change, field in CAMPAIGNS_THAT_BREAK_A_RULE:
        assert read_failure(await post(web, "campaigns", [make_body(CAMPAIGN, **change)])).startswith(f"{field}: ")
        assert await list_writes(web) == []


async def test_objectives_end(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2027, 2, 1, tzinfo=UTC)
    answer = await web.get(f"{V5}/ad_accounts")
    read_refusal(answer, 401, 2)  # and so does the token
    async with open_client(clock) as web:
        body = make_body(CAMPAIGN, start_time=NOTHING, end_time=NOTHING)
        for ended in ("WEB_CONVERSION", "CATALOG_SALES"):
            read_failure(await post(web, "campaigns", [{**body, "objective_type": ended}]))
        read_data(await post(web, "campaigns", [{**body, "objective_type": "SALES"}]))


WRITES_ARE_ARRAYS_OF_ONE_TO_THIRTY: list[Any] = [CAMPAIGN, [], [CAMPAIGN] * 31, "x", [[]]]


async def test_writes_are_arrays_of_one_to_thirty(web: httpx.AsyncClient) -> None:
    for body in WRITES_ARE_ARRAYS_OF_ONE_TO_THIRTY:
        read_refusal(await post(web, "campaigns", body), 400, 1)


async def test_bodies_are_json(web: httpx.AsyncClient) -> None:
    path = f"{V5}/ad_accounts/{NEW_YORK}/campaigns"
    read_refusal(await web.post(path, content=b"[]"), 415, 415)
    read_refusal(await web.post(path, content=b"[", headers={"Content-Type": "application/json"}), 400, 1)
    read_refusal(await web.post(path, json=[CAMPAIGN], params={"validate": "true"}), 400, 1)


async def test_items_succeed_and_fail_alone(web: httpx.AsyncClient) -> None:
    answer = await post(web, "campaigns", [CAMPAIGN, make_body(CAMPAIGN, end_time=1), CAMPAIGN])
    read_refusal(answer, 400, 1)  # the shape of one refuses all
    answer = await post(web, "campaigns", [CAMPAIGN, make_body(CAMPAIGN, end_time=1793520000), CAMPAIGN])
    first, second, third = answer.json()["items"]
    assert (first["exceptions"], third["exceptions"]) == ([], [])
    assert second == {"data": None, "exceptions": [{"code": 1, "message": "end_time: must be after start_time"}]}
    assert [row[2] for row in await list_writes(web)] == [first["data"]["id"], third["data"]["id"]]


AUTOMATIC = {"bid_strategy_type": "AUTOMATIC_BID", "bid_in_micro_currency": NOTHING}


def make_targeting(**members: Any) -> dict[str, Any]:
    return {"targeting_spec": {"LOCATION": ["US"], **members}}


AD_GROUPS_THAT_ARE_ACCEPTED: list[dict[str, Any]] = [
    AUTOMATIC,
    {"bid_strategy_type": NOTHING},
    {"bid_strategy_type": "AUTOMATIC_BID", "bid_in_micro_currency": None, "bid_multiplier": 2.5},
    {"targeting_spec": {"GEO": ["US-CA", "BE-VOV", "JP-13"]}},
    {"targeting_spec": {"GEO": ["US-94107", "94103"]}},
    make_targeting(
        MINIMUM_AGE="18", MAXIMUM_AGE="65+", GENDER=["male"], LOCALE=["en-US", "de"], INTEREST=["925056443165"]
    ),
    make_targeting(AGE_BUCKET=["35-44", "65+"], APPTYPE=["ipad"], AUDIENCE_INCLUDE=["2542620905473"]),
    make_targeting(LOCATION=["US", "501"], LOCATION_EXCLUDE=["807"], GEO_EXCLUDE=["US-NY"], MINIMUM_AGE=None),
    {"targeting_spec": NOTHING, "targeting_template_ids": ["643"]},
    {"optimization_goal_metadata": {"frequency_goal_metadata": {"frequency": 2, "timerange": "SEVEN_DAY"}}},
    {"status": "DRAFT", "placement_group": "SEARCH"},
]


async def test_ad_groups_that_are_accepted(web: httpx.AsyncClient) -> None:
    for change in AD_GROUPS_THAT_ARE_ACCEPTED:
        assert await create_ad_group(web, **change)


AD_GROUPS_OF_THE_WRONG_SHAPE: list[dict[str, Any]] = [
    {"name": NOTHING},
    {"campaign_id": NOTHING},
    {"campaign_id": "X1"},
    {"billable_event": NOTHING},
    {"billable_event": "CLICK"},
    {"bid_in_micro_currency": "850000"},
    {"bid_in_micro_currency": 0.85},
    {"budget_type": "CBO"},
    {"pacing_delivery_type": "EVEN"},
    {"placement_group": "BOTH"},
    {"auto_targeting_enabled": "false"},
    make_targeting(LOCATION="US"),
    make_targeting(LOCATION={"country_codes": ["US"]}),
    make_targeting(LOCATION=["us"]),
    make_targeting(LOCATION=["US-CA"]),
    make_targeting(GEO=["501"]),
    make_targeting(LANGUAGE=["en"]),
    make_targeting(MINIMUM_AGE="17", MAXIMUM_AGE="30"),
    make_targeting(MINIMUM_AGE="65+", MAXIMUM_AGE="65+"),
    make_targeting(MINIMUM_AGE=["18"], MAXIMUM_AGE=["30"]),
    make_targeting(AGE_BUCKET=["18-24", "25-44"]),
    make_targeting(GENDER=["MALE"]),
    make_targeting(APPTYPE=["tablet"]),
    make_targeting(LOCALE=["en_US"]),
    make_targeting(AUDIENCE_INCLUDE=["x"]),
    {"optimization_goal_metadata": {"frequency_goal_metadata": {"frequency": 21, "timerange": "DAY"}}},
    {"targeting_template_ids": ["1", "2"]},
]


async def test_ad_groups_of_the_wrong_shape(web: httpx.AsyncClient) -> None:
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    for change in AD_GROUPS_OF_THE_WRONG_SHAPE:
        read_refusal(await post(web, "ad_groups", [make_body(AD_GROUP, **{"campaign_id": campaign, **change})]), 400, 1)


AD_GROUPS_THAT_BREAK_A_RULE: list[tuple[dict[str, Any], str]] = [
    ({"billable_event": "IMPRESSION"}, "billable_event"),
    ({"budget_type": NOTHING}, "budget_type"),
    ({"budget_type": "DAILY", "budget_in_micro_currency": 5000000}, "budget_type"),
    ({"budget_in_micro_currency": 5000000}, "budget_in_micro_currency"),
    ({"pacing_delivery_type": "ACCELERATED"}, "pacing_delivery_type"),
    ({"start_time": 1793520000}, "start_time"),
    ({"end_time": 1794729600}, "end_time"),
    ({"bid_in_micro_currency": NOTHING}, "bid_in_micro_currency"),
    ({"bid_in_micro_currency": 99999}, "bid_in_micro_currency"),
    ({"bid_strategy_type": "AUTOMATIC_BID"}, "bid_in_micro_currency"),
    ({"bid_strategy_type": "TARGET_AVG"}, "bid_strategy_type"),
    ({"bid_multiplier": 2}, "bid_multiplier"),
    ({"lifetime_frequency_cap": 3}, "lifetime_frequency_cap"),
    ({"targeting_spec": NOTHING}, "targeting_spec"),
    ({"targeting_spec": {}}, "targeting_spec"),
    ({"targeting_spec": {"INTEREST": ["925056443165"]}}, "targeting_spec"),
    ({"targeting_spec": {"LOCATION": []}}, "targeting_spec"),
    (make_targeting(LOCATION=["US", "US"]), "targeting_spec/LOCATION"),
    (make_targeting(LOCATION=["AQ"]), "0/targeting_spec/LOCATION/0"),
    (make_targeting(MINIMUM_AGE="18"), "targeting_spec"),
    (make_targeting(MINIMUM_AGE="40", MAXIMUM_AGE="30"), "targeting_spec"),
    (make_targeting(MINIMUM_AGE="18", MAXIMUM_AGE="30", AGE_BUCKET=["65+"]), "targeting_spec"),
    (make_targeting(GEO=["US-CA", "US-94107"]), "targeting_spec/GEO"),
    (make_targeting(LOCATION_EXCLUDE=["US"]), "targeting_spec/LOCATION_EXCLUDE"),
    ({"targeting_template_ids": ["643"]}, "targeting_template_ids"),
    ({"status": "ARCHIVED"}, "status"),
]


async def test_ad_groups_that_break_a_rule(web: httpx.AsyncClient) -> None:
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    for change, field in AD_GROUPS_THAT_BREAK_A_RULE:
        answer = await post(web, "ad_groups", [make_body(AD_GROUP, campaign_id=campaign, **change)])
        assert read_failure(answer).startswith(f"{field}: ")
    assert len(await list_writes(web)) == 1


async def test_awareness_is_billed_by_impressions(web: httpx.AsyncClient) -> None:
    campaign = read_data(await post(web, "campaigns", [make_body(CAMPAIGN, objective_type="AWARENESS")]))["id"]
    body = make_body(AD_GROUP, campaign_id=campaign)
    assert read_failure(await post(web, "ad_groups", [body])).startswith("billable_event: ")
    read_data(await post(web, "ad_groups", [{**body, "billable_event": "IMPRESSION"}]))


async def test_ad_groups_with_budgets_of_their_own(web: httpx.AsyncClient) -> None:
    campaign = make_body(
        CAMPAIGN,
        objective_type="WEB_CONVERSION",
        is_campaign_budget_optimization=False,
        daily_spend_cap=NOTHING,
    )
    campaign_id = read_data(await post(web, "campaigns", [campaign]))["id"]
    body = make_body(AD_GROUP, campaign_id=campaign_id, budget_type=NOTHING, budget_in_micro_currency=5000000)
    ad_group = read_data(await post(web, "ad_groups", [{**body, "end_time": 1799999999}]))
    assert (ad_group["budget_type"], ad_group["end_time"]) == (
        "DAILY",
        1794729600,
    )  # the end of the campaign wins, silently
    for change, field in (
        ({"budget_type": "CBO_ADGROUP"}, "budget_type"),
        ({"budget_in_micro_currency": None}, "budget_in_micro_currency"),
        ({"budget_type": "LIFETIME"}, "end_time"),
        ({"start_time": 1793510000}, "start_time"),
    ):
        assert read_failure(await post(web, "ad_groups", [{**body, **change}])).startswith(f"{field}: ")


async def test_parents_are_of_the_ad_account_and_alive(web: httpx.AsyncClient) -> None:
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    body = make_body(AD_GROUP, campaign_id=campaign)
    read_failure(await post(web, "ad_groups", [body], TOKYO), 404)
    read_failure(await post(web, "ad_groups", [{**body, "campaign_id": "1"}]), 404)
    read_failure(await post(web, "ads", [{**AD, "ad_group_id": campaign}]), 404)
    assert read_data(await post(web, "ad_groups", [{**body, "campaign_id": f"C{campaign}"}]))["campaign_id"] == campaign
    archived = (await read(web, f"ad_accounts/{NEW_YORK}/campaigns", entity_statuses="ARCHIVED"))["items"][0]["id"]
    read_failure(await post(web, "ad_groups", [{**body, "campaign_id": archived}]))


async def test_at_most_seventy_ad_groups(web: httpx.AsyncClient) -> None:
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    body = make_body(AD_GROUP, campaign_id=campaign)
    for many in (30, 30, 10):
        assert all(item["data"] for item in (await post(web, "ad_groups", [body] * many)).json()["items"])
    assert "at most 70" in read_failure(await post(web, "ad_groups", [body]))


ADS_THAT_ARE_REFUSED: list[tuple[dict[str, Any], int]] = [
    ({"creative_type": NOTHING}, 400),
    ({"creative_type": "IMAGE"}, 400),
    ({"pin_id": NOTHING}, 400),
    ({"pin_id": 394205773611545468}, 400),
    ({"pin_id": "x"}, 400),
    ({"name": "n" * 256}, 400),
    ({"destination_url": "shop.example"}, 400),
    ({"headline": "Autumn"}, 400),
    ({"pin_id": "missing-pin"}, 200),
    ({"pin_id": "ineligible"}, 200),
    ({"pin_id": "394205773611545001"}, 200),
    ({"status": "ARCHIVED"}, 200),
]


async def test_ads_that_are_refused(web: httpx.AsyncClient) -> None:
    parent = await create_ad_group(web)
    before = await list_writes(web)
    for change, status in ADS_THAT_ARE_REFUSED:
        answer = await post(web, "ads", [make_body(AD, ad_group_id=parent, **change)])
        if status == 400:
            read_refusal(answer, 400, 1)
        else:
            read_failure(answer, {"missing-pin": 50, "ineligible": 29}.get(change.get("pin_id", ""), 1))
        assert await list_writes(web) == before


async def test_ads_of_existing_pins(web: httpx.AsyncClient) -> None:
    parent = await create_ad_group(web)
    for change in (
        {"pin_id": "394205773611545001", "creative_type": "VIDEO"},
        {"pin_id": "394205773611545006"},
        {"pin_id": "99988877766655544433322"},
        {"ad_group_id": f"AG{parent}", "destination_url": NOTHING, "name": None, "grid_click_type": "CLOSEUP"},
    ):
        ad = read_data(await post(web, "ads", [make_body(AD, **{"ad_group_id": parent, **change})]))
        assert (ad["ad_group_id"], ad["grid_click_type"]) == (parent, "DIRECT_TO_DESTINATION")


# Keywords


async def test_keywords_are_folded_and_in_another_order(web: httpx.AsyncClient) -> None:
    parent = await create_ad_group(web)
    expected = [("PHRASE", "Camping Kit"), ("EXACT", "Zelt"), ("BROAD", "camping kit")]
    body = {"parent_id": parent, "keywords": [{"match_type": match, "value": value} for match, value in expected]}
    answer = (await post(web, "keywords", body)).json()
    assert answer["errors"] == []
    assert [(row["match_type"], row["value"]) for row in answer["keywords"]] == [
        ("PHRASE", "camping kit"),
        ("BROAD", "camping kit"),
        ("EXACT", "zelt"),
    ]
    assert {(row["parent_id"], row["parent_type"], row["type"]) for row in answer["keywords"]} == {
        (parent, "ad_group", "keyword")
    }
    again = (await post(web, "keywords", {**body, "keywords": [*body["keywords"][:1], {
        "match_type": "EXACT", "value": "tent", "bid": 5}]})).json()  # fmt: skip
    assert [row["value"] for row in again["keywords"]] == ["tent"]
    assert again["keywords"][0]["bid"] is None
    (error,) = again["errors"]
    assert (error["data"]["id"], error["data"]["value"]) == (None, "Camping Kit")
    assert error["error_messages"] == ["The keyword exists already."]


async def test_keywords_that_are_refused(web: httpx.AsyncClient) -> None:
    parent = await create_ad_group(web)
    for change in ({"value": "v" * 121}, {"value": ""}, {"match_type": "phrase"}, {"text": "x"}):
        body = {"parent_id": parent, "keywords": [{**KEYWORDS["keywords"][0], **change}]}
        read_refusal(await post(web, "keywords", body), 400, 1)
    read_refusal(await post(web, "keywords", [{**KEYWORDS, "parent_id": parent}]), 400, 1)
    read_refusal(await post(web, "keywords", KEYWORDS), 404, 404)
    campaign = read_data(await post(web, "campaigns", [CAMPAIGN]))["id"]
    answer = (await post(web, "keywords", {**KEYWORDS, "parent_id": campaign})).json()
    assert answer["keywords"] == []
    assert answer["errors"][0]["error_messages"] == [
        "Advertisers and Campaigns only accept excluded targeting attributes."
    ]
    negative = {"parent_id": NEW_YORK, "keywords": [{"match_type": "EXACT_NEGATIVE", "value": "free"}]}
    assert (await post(web, "keywords", negative)).json()["keywords"][0]["parent_type"] == "advertiser"


# Faults


async def test_told_failures_inside_a_200(web: httpx.AsyncClient) -> None:
    parent = await create_ad_group(web)
    before = await list_writes(web)
    for fault in ("error_in_200", "partial"):
        for what, body in (
            ("campaigns", CAMPAIGN),
            ("ad_groups", AD_GROUP),
            ("ads", {**AD, "ad_group_id": parent}),
        ):
            await inject_fault(web, fault, method="POST")
            read_failure(await post(web, what, [body]))
    await inject_fault(web, "slow_media")
    assert read_failure(await post(web, "ads", [{**AD, "ad_group_id": parent}]), 50) == "Pin not found."
    await inject_fault(web, "error_in_200")
    answer = (await post(web, "keywords", {**KEYWORDS, "parent_id": parent})).json()
    assert (answer["keywords"], len(answer["errors"])) == ([], 1)
    assert await list_writes(web) == before
    await inject_fault(web, "partial")
    items = (await post(web, "campaigns", [CAMPAIGN, CAMPAIGN])).json()["items"]
    assert [item["data"] is None for item in items] == [False, True]
    await inject_fault(web, "partial")
    two = [{"match_type": "EXACT", "value": "one"}, {"match_type": "EXACT", "value": "two"}]
    answer = (await post(web, "keywords", {"parent_id": parent, "keywords": two})).json()
    assert [row["value"] for row in answer["keywords"]] == ["one"]
    assert [row["data"]["value"] for row in answer["errors"]] == ["two"]
