"""The simulated X Ads network: creating, changing and deleting, one by one and in batches."""

import json
from typing import Any

import pytest

from tests.sandbox.x_calls import (
    BOOTS,
    CAMPAIGN,
    DOLLARS,
    EUROS,
    FRANCE,
    HOST,
    INSTRUMENT,
    LINE_ITEM,
    POST,
    YEN,
    X,
)

PATH = f"accounts/{DOLLARS}"


def make_creations(item: str, *criteria: dict[str, str]) -> list[Any]:
    return [{"operation_type": "Create", "params": {"line_item_id": item, **criterion}} for criterion in criteria]


async def send_batch(x: X, resource: str, body: Any) -> tuple[int, Any]:
    answer = await x.call("POST", f"batch/accounts/{DOLLARS}/{resource}", body)
    return answer.status_code, json.loads(answer.text)


async def test_the_four_steps_of_the_documentation(x: X) -> None:
    campaign = await x.fetch_data("POST", f"{PATH}/campaigns", **CAMPAIGN)
    assert (campaign["currency"], campaign["daily_budget_amount_local_micro"]) == ("USD", 42_500_000)
    assert (campaign["entity_status"], campaign["servable"]) == ("PAUSED", False)
    item = await x.fetch_data("POST", f"{PATH}/line_items", campaign_id=campaign["id"], **LINE_ITEM)
    assert (item["bid_amount_local_micro"], item["pay_by"], item["currency"]) == (1_500_000, "IMPRESSION", "USD")
    status, answer = await send_batch(x, "targeting_criteria", make_creations(item["id"], FRANCE, BOOTS))
    assert status == 200
    assert [result["targeting_value"] for result in answer["data"]] == ["0a1b2c3d4e5f6071", "ski boots"]
    posts = await x.fetch_data("POST", f"{PATH}/promoted_tweets", line_item_id=item["id"], tweet_ids=POST)
    assert [(post["tweet_id"], post["entity_status"]) for post in posts] == [(POST, "ACTIVE")]
    for level, entity in (("line_items", item), ("campaigns", campaign)):
        entity_data = await x.fetch_data("PUT", f"{PATH}/{level}/{entity['id']}", entity_status="ACTIVE")
        assert entity_data["entity_status"] == "ACTIVE"
    live = await x.fetch_data("GET", f"{PATH}/campaigns/{campaign['id']}")
    assert (live["servable"], live["effective_status"], live["reasons_not_servable"]) == (True, "RUNNING", [])
    kinds = ["campaign", "line_item", *["targeting_criterion"] * 2, "promoted_tweet", "line_item", "campaign"]
    assert [kind for _, kind, _ in await x.list_writes()] == kinds


async def test_what_is_left_out_is_active(x: X) -> None:
    bare = {name: value for name, value in CAMPAIGN.items() if name not in ("entity_status", "budget_optimization")}
    campaign = await x.fetch_data("POST", f"{PATH}/campaigns", **bare)
    assert (campaign["entity_status"], campaign["budget_optimization"]) == ("ACTIVE", "LINE_ITEM")
    needed = ("objective", "product_type", "placements", "start_time")
    parameters = {name: LINE_ITEM[name] for name in needed}
    item = await x.fetch_data("POST", f"{PATH}/line_items", campaign_id=campaign["id"], **parameters)
    assert (item["entity_status"], item["goal"], item["bid_strategy"]) == ("ACTIVE", "LINK_CLICKS", "AUTO")
    assert (item["end_time"], item["bid_amount_local_micro"]) == (None, None)


CAMPAIGNS_REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"name": "n" * 256}, "INVALID_PARAMETER", "name"),
    ({"entity_status": "DELETED"}, "INVALID_PARAMETER", "entity_status"),
    ({"budget_optimization": "CAMPAIGN"}, "INVALID_PARAMETER", "budget_optimization"),
    ({"daily_budget_amount_local_micro": "42.5"}, "INVALID_PARAMETER", "daily_budget_amount_local_micro"),
    ({"daily_budget_amount_local_micro": "0"}, "INVALID_PARAMETER", "daily_budget_amount_local_micro"),
    ({"daily_budget_amount_local_micro": "42505000"}, "INVALID_DENOMINATION", "daily_budget_amount_local_micro"),
    ({"total_budget_amount_local_micro": "42000000"}, "INVALID_PARAMETER", "daily_budget_amount_local_micro"),
    ({"purchase_order_number": "9" * 51}, "INVALID_PARAMETER", "purchase_order_number"),
    ({"start_time": "2026-12-01T00:00:00Z"}, "INVALID_PARAMETER", "start_time"),
    ({"funding_instrument_id": "missing1"}, "FUNDING_INSTRUMENT_NOT_FOUND", "funding_instrument_id"),
    ({"funding_instrument_id": "ineligible1"}, "INVALID_FUNDING_INSTRUMENT", "funding_instrument_id"),
]


@pytest.mark.parametrize(("change", "code", "parameter"), CAMPAIGNS_REFUSED)
async def test_campaigns_are_refused(x: X, change: dict[str, Any], code: str, parameter: str) -> None:
    refusal = await x.get_refusal("POST", f"{PATH}/campaigns", **{**CAMPAIGN, **change})
    assert refusal == (404 if code.endswith("NOT_FOUND") else 400, code, parameter)
    assert await x.list_writes() == []


@pytest.mark.parametrize("name", ["funding_instrument_id", "name", "daily_budget_amount_local_micro"])
async def test_what_a_campaign_needs(x: X, name: str) -> None:
    parameters = {member: value for member, value in CAMPAIGN.items() if member != name}
    assert await x.get_refusal("POST", f"{PATH}/campaigns", **parameters) == (400, "MISSING_PARAMETER", name)


async def test_a_total_budget_alone_and_instruments_that_insist_on_a_daily_one(x: X) -> None:
    total = {name: value for name, value in CAMPAIGN.items() if not name.startswith("daily")}
    total |= {"total_budget_amount_local_micro": "900000000"}
    campaign = await x.fetch_data("POST", f"{PATH}/campaigns", **total)
    assert (campaign["daily_budget_amount_local_micro"], campaign["total_budget_amount_local_micro"]) == (
        None,
        900_000_000,
    )
    refused = await x.get_refusal("POST", f"accounts/{EUROS}/campaigns", **{**total, "funding_instrument_id": "a3cl9"})
    assert refused == (400, "MISSING_PARAMETER", "daily_budget_amount_local_micro")


async def test_yen_have_no_fractions(x: X) -> None:
    budget = {"daily_budget_amount_local_micro": "5000500000", "funding_instrument_id": INSTRUMENT[YEN]}
    refused = await x.get_refusal("POST", f"accounts/{YEN}/campaigns", **{**CAMPAIGN, **budget})
    assert refused[1] == "INVALID_DENOMINATION"
    assert await x.create_campaign(YEN, daily_budget_amount_local_micro="5000000000")


LINE_ITEMS_REFUSED: list[tuple[dict[str, Any], str, str]] = [
    ({"campaign_id": "zzzz9"}, "CAMPAIGN_NOT_FOUND", "campaign_id"),
    ({"objective": "AWARENESS"}, "INVALID_PARAMETER", "objective"),
    ({"goal": "APP_INSTALLS"}, "INVALID_PARAMETER", "goal"),
    ({"goal": "WEBSITE_CONVERSIONS"}, "INCLUSIVE_PARAMETERS", "primary_web_event_tag"),
    ({"placements": "ALL_ON_TWITTER,NOWHERE"}, "INVALID_PARAMETER", "placements"),
    ({"product_type": "PROMOTED_POSTS"}, "INVALID_PARAMETER", "product_type"),
    ({"start_time": "2026-12-01T08:00:00"}, "INVALID_PARAMETER", "start_time"),
    ({"start_time": "1796112000"}, "INVALID_PARAMETER", "start_time"),
    ({"end_time": "2026-12-01T08:00:00Z"}, "INVALID_TIME_WINDOW", "end_time"),
    ({"bid_amount_local_micro": "1505000"}, "INVALID_DENOMINATION", "bid_amount_local_micro"),
    ({"bid_amount_local_micro": "-1"}, "INVALID_PARAMETER", "bid_amount_local_micro"),
    ({"bid_strategy": "MAXIMUM"}, "INVALID_PARAMETER", "bid_strategy"),
    ({"bid_strategy": "TARGET", "pay_by": "IMPRESSION"}, "INVALID_PARAMETER", "pay_by"),
    ({"objective": "REACH", "goal": "MAX_REACH"}, "INVALID_PARAMETER", "bid_strategy"),
    ({"total_budget_amount_local_micro": "9000000", "frequency_cap": "2"}, "INCLUSIVE_PARAMETERS", "frequency_cap"),
    ({"frequency_cap": "2", "duration_in_days": "7"}, "INVALID_PARAMETER", "frequency_cap"),
    ({"daily_budget_amount_local_micro": "99000000"}, "INVALID_PARAMETER", "daily_budget_amount_local_micro"),
    ({"charge_by": "LINK_CLICK"}, "INVALID_PARAMETER", "charge_by"),
    ({"name": ""}, "INVALID_PARAMETER", "name"),
]


@pytest.mark.parametrize(("change", "code", "parameter"), LINE_ITEMS_REFUSED)
async def test_line_items_are_refused(x: X, change: dict[str, Any], code: str, parameter: str) -> None:
    parameters = {"campaign_id": await x.create_campaign(), **LINE_ITEM, **change}
    refusal = await x.get_refusal("POST", f"{PATH}/line_items", **parameters)
    assert refusal == (404 if code.endswith("NOT_FOUND") else 400, code, parameter)


@pytest.mark.parametrize("name", ["campaign_id", "objective", "product_type", "placements", "start_time"])
async def test_what_a_line_item_needs(x: X, name: str) -> None:
    parameters = {"campaign_id": "abc12", **LINE_ITEM}
    del parameters[name]
    assert await x.get_refusal("POST", f"{PATH}/line_items", **parameters) == (400, "MISSING_PARAMETER", name)


async def test_bids_and_strategies(x: X) -> None:
    campaign = await x.create_campaign()
    unbid = {name: value for name, value in LINE_ITEM.items() if name != "bid_amount_local_micro"}
    refused = await x.get_refusal("POST", f"{PATH}/line_items", campaign_id=campaign, **unbid)
    assert refused == (400, "MISSING_PARAMETER", "bid_amount_local_micro")
    ignored = await x.create_line_item(campaign_id=campaign, bid_strategy="AUTO")
    assert (await x.fetch_data("GET", f"{PATH}/line_items/{ignored}"))["bid_amount_local_micro"] is None
    target = await x.create_line_item(campaign_id=campaign, bid_strategy="TARGET")
    assert (await x.fetch_data("GET", f"{PATH}/line_items/{target}"))["pay_by"] == "LINK_CLICK"
    change = {"bid_strategy": "MAX", "bid_amount_local_micro": "800000"}
    assert (await x.fetch_data("PUT", f"{PATH}/line_items/{ignored}", **change))["bid_amount_local_micro"] == 800_000


async def test_line_items_of_a_campaign_share_their_objective(x: X) -> None:
    campaign = await x.create_campaign()
    await x.create_line_item(campaign_id=campaign)
    other = {**LINE_ITEM, "objective": "ENGAGEMENTS", "goal": "ENGAGEMENT", "campaign_id": campaign}
    assert await x.get_refusal("POST", f"{PATH}/line_items", **other) == (400, "INVALID_PARAMETER", "objective")


@pytest.mark.parametrize("offset", ["Z", "+00:00", "+0000", "+00"])
async def test_times_come_back_in_utc(x: X, offset: str) -> None:
    line_item_id = await x.create_line_item(
        start_time=f"2026-12-01T08:00:00{offset}", end_time="2026-12-21T09:30:00+05:30"
    )
    item = await x.fetch_data("GET", f"{PATH}/line_items/{line_item_id}")
    assert (item["start_time"], item["end_time"]) == ("2026-12-01T08:00:00Z", "2026-12-21T04:00:00Z")


async def test_changes_keep_what_is_not_sent(x: X) -> None:
    item = await x.create_line_item()
    line_item = await x.fetch_data("PUT", f"{PATH}/line_items/{item}", name="Other", end_time="")
    assert (line_item["name"], line_item["end_time"], line_item["bid_amount_local_micro"]) == ("Other", None, 1_500_000)
    for wrong in ("campaign_id", "objective", "placements", "product_type", "pay_by"):
        refused = await x.get_refusal("PUT", f"{PATH}/line_items/{item}", **{wrong: "IMPRESSION"})
        assert refused == (400, "INVALID_PARAMETER", wrong)
    campaign = line_item["campaign_id"]
    for name, value in (("funding_instrument_id", "k9x2"), ("currency", "EUR"), ("entity_status", "DRAFT")):
        refused = await x.get_refusal("PUT", f"{PATH}/campaigns/{campaign}", **{name: value})
        assert refused == (400, "INVALID_PARAMETER", name)
    budget = {"total_budget_amount_local_micro": "900000000", "purchase_order_number": "PO-7"}
    assert (await x.fetch_data("PUT", f"{PATH}/campaigns/{campaign}", **budget))["purchase_order_number"] == "PO-7"


async def test_deleting_is_for_good_and_hides_the_children(x: X) -> None:
    item = await x.create_line_item()
    [post] = await x.fetch_data("POST", f"{PATH}/promoted_tweets", line_item_id=item, tweet_ids=POST)
    assert (await x.fetch_data("DELETE", f"{PATH}/line_items/{item}"))["deleted"] is True
    assert (await x.get_refusal("DELETE", f"{PATH}/line_items/{item}"))[:2] == (404, "LINE_ITEM_NOT_FOUND")
    assert (await x.get_refusal("PUT", f"{PATH}/line_items/{item}", name="x"))[0] == 404
    assert (await x.get_refusal("GET", f"{PATH}/line_items/{item}"))[0] == 404
    assert (await x.fetch_data("GET", f"{PATH}/line_items/{item}", with_deleted="true"))["deleted"] is True
    parameters = {"promoted_tweet_ids": post["id"]}
    assert await x.fetch_data("GET", f"{PATH}/promoted_tweets", **parameters) == []
    [hidden] = await x.fetch_data("GET", f"{PATH}/promoted_tweets", **parameters, with_deleted="true")
    assert hidden["deleted"] is False
    refused = await x.get_refusal("POST", f"{PATH}/promoted_tweets", line_item_id=item, tweet_ids=POST)
    assert refused[:2] == (404, "LINE_ITEM_NOT_FOUND")


async def test_promoted_posts(x: X) -> None:
    item = await x.create_line_item()
    repost, without_link = "1880000000000000002", "1880000000000000003"
    for wrong, status, code in (
        ("missing1", 404, "TWEET_NOT_FOUND"),
        ("abc", 404, "TWEET_NOT_FOUND"),
        (without_link, 400, "INVALID_TWEET"),
        ("ineligible1", 400, "INVALID_TWEET"),
        (f"{POST},{POST}", 400, "INVALID_PARAMETER"),
        (",".join(["1"] * 51), 400, "REQUEST_TOO_COMPLEX"),
    ):
        refused = await x.get_refusal("POST", f"{PATH}/promoted_tweets", line_item_id=item, tweet_ids=wrong)
        assert refused == (status, code, "tweet_ids")
    promoted = await x.fetch_data("POST", f"{PATH}/promoted_tweets", line_item_id=item, tweet_ids=f"{POST},{repost}")
    assert promoted[0]["tweet_id"] == POST
    assert promoted[1]["tweet_id"] not in (POST, repost)
    gone = await x.fetch_data("DELETE", f"{PATH}/promoted_tweets/{promoted[0]['id']}")
    assert gone["deleted"] is True
    assert (await x.get_refusal("DELETE", f"{PATH}/promoted_tweets/{gone['id']}"))[1] == "PROMOTED_TWEET_NOT_FOUND"


async def test_posts_are_those_of_one_user(x: X) -> None:
    parameters = {"tweet_type": "PUBLISHED", "timeline_type": "ALL", "trim_user": "true"}
    [post] = await x.fetch_data("GET", f"{PATH}/tweets", **parameters, tweet_ids="1442212345678901234")
    assert (post["tweet_id"], post["id_str"], post["id"]) == (*["1442212345678901234"] * 2, 1442212345678901234)
    repost = "1880000000000000002"
    assert await x.fetch_data("GET", f"{PATH}/tweets", **parameters, tweet_ids=repost) == []
    users = await x.fetch_data("GET", f"{PATH}/promotable_users")
    assert [user["promotable_user_type"] for user in users] == ["FULL", "RETWEETS_ONLY"]
    [post] = await x.fetch_data("GET", f"{PATH}/tweets", **parameters, tweet_ids=repost, user_id=users[1]["user_id"])
    assert post["tweet_id"] == repost
    assert await x.fetch_data("GET", f"{PATH}/tweets", tweet_type="PUBLISHED", tweet_ids=POST) == []  # NULLCAST
    assert (await x.get_refusal("GET", f"{PATH}/tweets", tweet_ids=POST))[1:] == ("MISSING_PARAMETER", "tweet_type")


CRITERIA_REFUSED = [
    ({"targeting_type": "COUNTRY"}, "targeting_type"),
    ({"targeting_value": "FR"}, "targeting_value"),
    ({"operator_type": "EQUALS"}, "operator_type"),
    ({"targeting_type": "GENDER", "targeting_value": "male"}, "targeting_value"),
    ({"targeting_type": "AGE", "targeting_value": "AGE_18"}, "targeting_value"),
    ({"bid": "1"}, "bid"),
]


@pytest.mark.parametrize(("change", "where"), CRITERIA_REFUSED)
async def test_a_batch_is_all_or_nothing(x: X, change: dict[str, str], where: str) -> None:
    item = await x.create_line_item()
    before = await x.list_writes()
    status, answer = await send_batch(x, "targeting_criteria", make_creations(item, BOOTS, {**FRANCE, **change}))
    assert (status, answer["data"]) == (400, [])
    assert answer["operation_errors"][0] == []
    assert answer["operation_errors"][1][0]["parameter"] == where
    assert await x.list_writes() == before
    assert await x.fetch_data("GET", f"{PATH}/targeting_criteria", line_item_ids=item) == []


async def test_criteria_are_limited_listed_and_deleted(x: X) -> None:
    item = await x.create_line_item()
    ages = [{**FRANCE, "targeting_type": "AGE", "targeting_value": age} for age in ("AGE_OVER_18", "AGE_OVER_21")]
    assert (await send_batch(x, "targeting_criteria", make_creations(item, *ages)))[0] == 400
    assert (await send_batch(x, "targeting_criteria", make_creations(item, *[BOOTS] * 501)))[0] == 400
    _, answer = await send_batch(x, "targeting_criteria", make_creations(item, FRANCE, BOOTS))
    swap = [
        *make_creations(item, {**BOOTS, "targeting_type": "BROAD_KEYWORD"}),
        {"operation_type": "Delete", "params": {"targeting_criterion_id": answer["data"][1]["id"]}},
    ]
    assert (await send_batch(x, "targeting_criteria", swap))[0] == 200
    criteria = await x.fetch_data("GET", f"{PATH}/targeting_criteria", line_item_ids=item)
    assert [criterion["targeting_type"] for criterion in criteria] == ["LOCATION", "BROAD_KEYWORD"]
    assert (await send_batch(x, "targeting_criteria", swap[1:]))[1]["operation_errors"][0][0]["code"] == (
        "TARGETING_CRITERION_NOT_FOUND"
    )
    assert (await x.get_refusal("GET", f"{PATH}/targeting_criteria"))[1:] == ("MISSING_PARAMETER", "line_item_ids")


async def test_batches_of_campaigns(x: X) -> None:
    ids = [await x.create_campaign(), await x.create_campaign(name="Second")]
    update = [
        {"operation_type": "Update", "params": {"campaign_id": campaign_id, "entity_status": "ACTIVE"}}
        for campaign_id in ids
    ]
    status, batch_answer = await send_batch(x, "campaigns", update)
    assert (status, [result["entity_status"] for result in batch_answer["data"]]) == (200, ["ACTIVE", "ACTIVE"])
    numbers = {**CAMPAIGN, "daily_budget_amount_local_micro": 42_500_000}
    status, batch_answer = await send_batch(x, "campaigns", [{"operation_type": "Create", "params": numbers}])
    assert (status, batch_answer["data"][0]["name"]) == (200, "Winter sale")
    assert (await send_batch(x, "campaigns", update * 21))[0] == 400
    await x.inject_fault("error_in_200")
    before = await x.list_writes()
    status, answer = await send_batch(x, "campaigns", update)
    assert (status, answer["operation_errors"][1][0]["code"]) == (200, "LOCK_ACQUISITION_TIMEOUT")
    assert await x.list_writes() == before


async def test_lists_are_filtered_searched_sorted_and_paged(x: X) -> None:
    campaign_ids = [await x.create_campaign(name=f"Sale {number}") for number in range(3)]
    draft = await x.create_campaign(name="Sale draft", entity_status="DRAFT")
    campaigns = await x.fetch_data("GET", f"{PATH}/campaigns", q="sale", sort_by="name-desc")
    assert [campaign["id"] for campaign in campaigns] == campaign_ids[::-1]
    assert draft in [campaign["id"] for campaign in await x.fetch_data("GET", f"{PATH}/campaigns", with_draft="true")]
    first = (await x.call("GET", f"{PATH}/campaigns", campaign_ids=",".join(campaign_ids), count=2)).json()
    rest = (
        await x.call(
            "GET", f"{PATH}/campaigns", campaign_ids=",".join(campaign_ids), count=2, cursor=first["next_cursor"]
        )
    ).json()
    assert [campaign["id"] for campaign in first["data"] + rest["data"]] == campaign_ids
    assert rest["next_cursor"] is None
    item = await x.create_line_item(campaign_id=campaign_ids[0])
    assert [
        campaign["id"] for campaign in await x.fetch_data("GET", f"{PATH}/line_items", campaign_ids=campaign_ids[0])
    ] == [item]
    too_many = ",".join(["a"] * 201)
    assert (await x.get_refusal("GET", f"{PATH}/campaigns", campaign_ids=too_many))[1] == "REQUEST_TOO_COMPLEX"


async def test_json_is_no_body_of_a_single_call(x: X) -> None:
    assert (await x.get_refusal("POST", f"{PATH}/campaigns", CAMPAIGN))[:2] == (400, "INVALID_PARAMETER")
    url = f"https://{HOST}/12/batch/{PATH}/campaigns"
    answer = await x.send("POST", url, x.build_authorization("POST", url, x.token), content=b"{}")
    assert answer.status_code == 400
