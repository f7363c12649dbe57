"""The simulated Amazon Ads network: updates, deletion, lists."""

from datetime import UTC, datetime
from typing import Any

import pytest

from tests.sandbox.amazon_calls import (
    AD_GROUP,
    CAMPAIGN,
    ID,
    KEYWORD,
    PRODUCT_AD,
    Amazon,
    Clock,
    log_in,
    make_budget,
    read_reason,
)


async def test_updates_are_partial(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    before = await amazon.read_entity("campaigns", campaign)
    changes = [
        {"name": "Winter launch"},
        make_budget(40),
        {"endDate": None},
        {"startDate": "2026-12-02"},
        {"dynamicBidding": {"strategy": "MANUAL"}},
        {"portfolioId": "12"},
        {"portfolioId": None},
        {"tags": {"team": "a"}},
        {"targetingType": "MANUAL"},
    ]
    for change in changes:
        outcome = await amazon.write("PUT", "campaigns", {"campaignId": campaign, **change})
        assert outcome["error"] == []
    after = await amazon.read_entity("campaigns", campaign)
    expected = {
        **before,
        "name": "Winter launch",
        "budget": {"budgetType": "DAILY", "budget": 40},
        "startDate": "2026-12-02",
        "dynamicBidding": {"strategy": "MANUAL"},
        "tags": {"team": "a"},
    }
    del expected["endDate"]
    assert after == expected
    group = await amazon.write("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "defaultBid": 0.8})
    assert group["error"] == []
    assert (await amazon.read_entity("adGroups", parents["adGroupId"]))["name"] == "Autumn launch"
    keyword = await amazon.create_entity("keywords", {**parents, **KEYWORD})
    await amazon.write("PUT", "keywords", {"keywordId": keyword, "bid": None})
    assert "bid" not in await amazon.read_entity("keywords", keyword)


@pytest.mark.parametrize(
    ("change", "type_", "reason"),
    [
        ({"state": "ARCHIVED"}, "rangeError", "INVALID_ENUM_VALUE"),
        ({"targetingType": "AUTO"}, "otherError", "OTHER_ERROR"),
        ({"name": "Evergreen US"}, "duplicateValueError", "NAME_NOT_UNIQUE"),
        ({"endDate": "2026-11-30"}, "dateError", "START_DATE_AFTER_END_DATE"),
        ({"startDate": "2026-12-21"}, "dateError", "START_DATE_AFTER_END_DATE"),
        ({"budget": {"budget": 40}}, "missingValueError", "MISSING_VALUE"),
        ({"dynamicBidding": {"placementBidding": []}}, "missingValueError", "MISSING_VALUE"),
        (make_budget(5), "budgetError", "BUDGET_LT_DEFAULT_BIDS"),
        (make_budget(8), "budgetError", "BUDGET_LT_KEYWORD_BIDS"),
    ],
)
async def test_refused_updates(amazon: Amazon, campaign: str, change: dict[str, Any], type_: str, reason: str) -> None:
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.create_entity("adGroups", {**AD_GROUP, **parents, "defaultBid": 7})
    await amazon.create_entity("keywords", {**parents, **KEYWORD, "bid": 9})
    before = await amazon.read_entity("campaigns", campaign)
    assert (await amazon.get_refusal("PUT", "campaigns", {"campaignId": campaign, **change}))[:2] == (type_, reason)
    assert await amazon.read_entity("campaigns", campaign) == before


async def test_what_is_locked_is_not_even_a_member(amazon: Amazon, parents: dict[str, str]) -> None:
    locked = {
        "adGroups": ("campaignId",),
        "productAds": ("campaignId", "adGroupId", "sku", "asin"),
        "keywords": ("campaignId", "adGroupId", "keywordText", "matchType"),
    }
    for collection, names in locked.items():
        for name in names:
            body = {collection: [{ID[collection]: "1", name: "x"}]}
            assert (await amazon.call_sp("PUT", f"/sp/{collection}", body)).status_code == 400
    assert (await amazon.get_refusal("PUT", "keywords", {"state": "PAUSED"}))[1] == "MISSING_VALUE"


async def test_a_started_campaign_keeps_its_start(amazon: Amazon, campaign: str, clock: Clock) -> None:
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await log_in(amazon)
    moved = await amazon.get_refusal("PUT", "campaigns", {"campaignId": campaign, "startDate": "2026-12-10"})
    assert moved == ("dateError", "UPDATING_READ_ONLY_START_DATE", "$.campaigns[0].startDate")
    past = await amazon.get_refusal("PUT", "campaigns", {"campaignId": campaign, "endDate": "2026-12-04"})
    assert past[1] == "END_DATE_EARLIER_THAN_TODAY"
    same = {"campaignId": campaign, "startDate": "2026-12-01", "endDate": "2026-12-05"}
    assert (await amazon.write("PUT", "campaigns", same))["error"] == []


async def test_delete_archives_for_good(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    keyword = await amazon.create_entity("keywords", {**parents, **KEYWORD})
    body = {"keywordIdFilter": {"include": [keyword, "1"]}}
    outcome = (await amazon.call_sp("POST", "/sp/keywords/delete", body)).json()["keywords"]
    assert outcome["success"] == [{"keywordId": keyword, "index": 0}]
    assert read_reason(outcome["error"][0])[2] == "$.keywordIdFilter.include[1]"
    assert (await amazon.read_entity("keywords", keyword))["state"] == "ARCHIVED"
    states = {"stateFilter": {"include": ["ENABLED", "PAUSED"]}, "keywordIdFilter": {"include": [keyword]}}
    assert (await amazon.list_entities("keywords", states))["keywords"] == []
    refusal = await amazon.get_refusal("PUT", "keywords", {"keywordId": keyword, "state": "ENABLED"})
    assert refusal[:2] == ("entityStateError", "ARCHIVED_ENTITY_CANNOT_BE_MODIFIED")
    assert await amazon.create_entity("keywords", {**parents, **KEYWORD})  # the text is free again

    gone = await amazon.call_sp("POST", "/sp/campaigns/delete", {"campaignIdFilter": {"include": [campaign]}})
    assert gone.status_code == 207
    assert gone.json()["campaigns"]["success"] == [{"campaignId": campaign, "index": 0}]
    child = await amazon.get_refusal("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "state": "ENABLED"})
    assert child[:2] == ("entityStateError", "PARENT_ARCHIVED_FORBIDS_UPDATES")
    new = await amazon.get_refusal("POST", "adGroups", {**AD_GROUP, "name": "New", "campaignId": campaign})
    assert new[:2] == ("parentEntityError", "PARENT_ENTITY_ARCHIVED")
    assert (await amazon.call_sp("POST", "/sp/campaigns/delete", {"campaignIds": [campaign]})).status_code == 400


async def test_pages(amazon: Amazon) -> None:
    for number in range(5):
        await amazon.create_entity("campaigns", {**CAMPAIGN, "name": f"Page {number}"})
    parameters = {"stateFilter": {"include": ["PAUSED"]}, "maxResults": 2}
    names, token = list[str](), None
    for expected in (2, 2, 1):
        page = await amazon.list_entities("campaigns", {**parameters, **({"nextToken": token} if token else {})})
        assert (len(page["campaigns"]), page["totalResults"]) == (expected, 5)
        names += [row["name"] for row in page["campaigns"]]
        token = page.get("nextToken")
    assert (names, token) == ([f"Page {number}" for number in range(5)], None)
    first = (await amazon.list_entities("campaigns", parameters))["nextToken"]
    for wrong in (
        {**parameters, "nextToken": "x"},
        {"maxResults": 2, "nextToken": first},
        {**parameters, "nextToken": first, "nameFilter": {"include": ["Page"]}},
    ):
        answer = await amazon.call_sp("POST", "/sp/campaigns/list", wrong)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["errorValue"]["invalidInputError"]["reason"] == "INVALID_TOKEN"
    assert (await amazon.call_sp("POST", "/sp/adGroups/list", {**parameters, "nextToken": first})).status_code == 400


async def test_filters(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    names = {"queryTermMatchType": "BROAD_MATCH", "include": ["launch"]}

    async def list_ids(collection: str, body: Any) -> list[str]:
        return [row[ID[collection]] for row in (await amazon.list_entities(collection, body))[collection]]

    assert await list_ids("campaigns", {"nameFilter": names}) == [campaign]
    assert await list_ids("campaigns", {"nameFilter": {**names, "queryTermMatchType": "EXACT_MATCH"}}) == []
    exact = {"queryTermMatchType": "EXACT_MATCH", "include": ["Autumn launch"]}
    assert await list_ids("campaigns", {"nameFilter": exact}) == [campaign]
    assert await list_ids("campaigns", {"portfolioIdFilter": {"include": ["1"]}}) == []
    assert await list_ids("adGroups", {"campaignIdFilter": {"include": [campaign]}}) == [parents["adGroupId"]]
    assert await list_ids("adGroups", {"campaignTargetingTypeFilter": "AUTO"}) == []
    stove = await amazon.create_entity("keywords", {**parents, **KEYWORD})
    pot = await amazon.create_entity("keywords", {**parents, **KEYWORD, "keywordText": "pot", "matchType": "BROAD"})
    mine = {"adGroupIdFilter": {"include": [parents["adGroupId"]]}}
    assert await list_ids("keywords", mine) == [stove, pot]
    assert await list_ids("keywords", {**mine, "matchTypeFilter": ["BROAD"]}) == [pot]
    assert await list_ids("keywords", {**mine, "keywordTextFilter": {"include": ["stove"]}}) == [stove]
    assert await list_ids("keywords", {**mine, "keywordIdFilter": {"include": [pot]}}) == [pot]
    assert await list_ids("productAds", mine) == []
    assert await list_ids("keywords", {"campaignIdFilter": {"include": []}}) == []


@pytest.mark.parametrize(
    ("collection", "body"),
    [
        ("productAds", {"nameFilter": {"include": ["x"]}}),
        ("keywords", {"nameFilter": {"include": ["x"]}}),
        ("campaigns", {"stateFilter": ["PAUSED"]}),
        ("campaigns", {"stateFilter": {"include": ["paused"]}}),
        ("campaigns", {"campaignIdFilter": {"include": [1]}}),
        ("adGroups", {"campaignIdFilter": {"include": ["1"] * 101}}),
        ("adGroups", {"adGroupIdFilter": {"include": ["1"] * 1001}}),
        ("campaigns", {"maxResults": 0}),
        ("campaigns", {"maxResults": 1001}),
        ("campaigns", {"startIndex": 0}),
    ],
)
async def test_refused_lists(amazon: Amazon, collection: str, body: Any) -> None:
    assert (await amazon.call_sp("POST", f"/sp/{collection}/list", body)).status_code == 400


async def test_extended_data_tells_why_something_does_not_serve(amazon: Amazon, campaign: str, clock: Clock) -> None:
    async def read_status(collection: str, entity_id: str) -> str:
        body = {f"{ID[collection]}Filter": {"include": [entity_id]}, "includeExtendedDataFields": True,
                "stateFilter": {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}}  # fmt: skip
        [row] = (await amazon.list_entities(collection, body))[collection]
        serving_status = row["extendedData"]["servingStatus"]
        assert row["extendedData"]["servingStatusDetails"][0]["name"] == f"{serving_status}_DETAIL"
        return str(serving_status)

    assert await read_status("campaigns", campaign) == "CAMPAIGN_PAUSED"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    assert await read_status("campaigns", campaign) == "PENDING_START_DATE"
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await log_in(amazon)
    assert await read_status("campaigns", campaign) == "CAMPAIGN_INCOMPLETE"
    on = {"state": "ENABLED"}
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.create_entity("adGroups", {**AD_GROUP, **parents, **on})
    assert await read_status("adGroups", parents["adGroupId"]) == "AD_GROUP_INCOMPLETE"
    ad = await amazon.create_entity("productAds", {**parents, **PRODUCT_AD, **on})
    keyword = await amazon.create_entity("keywords", {**parents, **KEYWORD, **on})
    assert await read_status("campaigns", campaign) == "CAMPAIGN_STATUS_ENABLED"
    assert await read_status("productAds", ad) == "AD_STATUS_LIVE"
    assert await read_status("keywords", keyword) == "TARGETING_CLAUSE_STATUS_LIVE"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "PAUSED"})
    assert await read_status("keywords", keyword) == "CAMPAIGN_PAUSED"
    await amazon.call_sp("POST", "/sp/productAds/delete", {"adIdFilter": {"include": [ad]}})
    assert await read_status("productAds", ad) == "AD_ARCHIVED"
    assert "extendedData" not in await amazon.read_entity("campaigns", campaign)


async def test_portfolios(amazon: Amazon) -> None:
    portfolios = (await amazon.call_sp("POST", "/portfolios/list", {}, media="portfolios")).json()
    assert [row["name"] for row in portfolios["portfolios"]] == ["Brand", "Launches"]
    portfolio = portfolios["portfolios"][0]["portfolioId"]
    campaign = await amazon.create_entity("campaigns", {**CAMPAIGN, "portfolioId": portfolio})
    campaigns = await amazon.list_entities("campaigns", {"portfolioIdFilter": {"include": [portfolio]}})
    assert [row["campaignId"] for row in campaigns["campaigns"]] == [campaign]
    assert (await amazon.call("POST", "/portfolios/list", {}, Content_Type="application/json")).status_code == 415
