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
    budget,
    reason_of,
    redone,
)


async def test_updates_are_partial(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    before = await amazon.one("campaigns", campaign)
    changes = [
        {"name": "Winter launch"},
        budget(40),
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
    after = await amazon.one("campaigns", campaign)
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
    assert (await amazon.one("adGroups", parents["adGroupId"]))["name"] == "Autumn launch"
    keyword = await amazon.made("keywords", {**parents, **KEYWORD})
    await amazon.write("PUT", "keywords", {"keywordId": keyword, "bid": None})
    assert "bid" not in await amazon.one("keywords", keyword)


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
        (budget(5), "budgetError", "BUDGET_LT_DEFAULT_BIDS"),
        (budget(8), "budgetError", "BUDGET_LT_KEYWORD_BIDS"),
    ],
)
async def test_refused_updates(amazon: Amazon, campaign: str, change: dict[str, Any], type_: str, reason: str) -> None:
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents, "defaultBid": 7})
    await amazon.made("keywords", {**parents, **KEYWORD, "bid": 9})
    before = await amazon.one("campaigns", campaign)
    assert (await amazon.refused("PUT", "campaigns", {"campaignId": campaign, **change}))[:2] == (type_, reason)
    assert await amazon.one("campaigns", campaign) == before


async def test_what_is_locked_is_not_even_a_member(amazon: Amazon, parents: dict[str, str]) -> None:
    locked = {
        "adGroups": ("campaignId",),
        "productAds": ("campaignId", "adGroupId", "sku", "asin"),
        "keywords": ("campaignId", "adGroupId", "keywordText", "matchType"),
    }
    for collection, names in locked.items():
        for name in names:
            body = {collection: [{ID[collection]: "1", name: "x"}]}
            assert (await amazon.sp("PUT", f"/sp/{collection}", body)).status_code == 400
    assert (await amazon.refused("PUT", "keywords", {"state": "PAUSED"}))[1] == "MISSING_VALUE"


async def test_a_started_campaign_keeps_its_start(amazon: Amazon, campaign: str, clock: Clock) -> None:
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await redone(amazon)
    moved = await amazon.refused("PUT", "campaigns", {"campaignId": campaign, "startDate": "2026-12-10"})
    assert moved == ("dateError", "UPDATING_READ_ONLY_START_DATE", "$.campaigns[0].startDate")
    past = await amazon.refused("PUT", "campaigns", {"campaignId": campaign, "endDate": "2026-12-04"})
    assert past[1] == "END_DATE_EARLIER_THAN_TODAY"
    same = {"campaignId": campaign, "startDate": "2026-12-01", "endDate": "2026-12-05"}
    assert (await amazon.write("PUT", "campaigns", same))["error"] == []


async def test_delete_archives_for_good(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    keyword = await amazon.made("keywords", {**parents, **KEYWORD})
    body = {"keywordIdFilter": {"include": [keyword, "1"]}}
    outcome = (await amazon.sp("POST", "/sp/keywords/delete", body)).json()["keywords"]
    assert outcome["success"] == [{"keywordId": keyword, "index": 0}]
    assert reason_of(outcome["error"][0])[2] == "$.keywordIdFilter.include[1]"
    assert (await amazon.one("keywords", keyword))["state"] == "ARCHIVED"
    states = {"stateFilter": {"include": ["ENABLED", "PAUSED"]}, "keywordIdFilter": {"include": [keyword]}}
    assert (await amazon.listed("keywords", states))["keywords"] == []
    back = await amazon.refused("PUT", "keywords", {"keywordId": keyword, "state": "ENABLED"})
    assert back[:2] == ("entityStateError", "ARCHIVED_ENTITY_CANNOT_BE_MODIFIED")
    assert await amazon.made("keywords", {**parents, **KEYWORD})  # the text is free again

    gone = await amazon.sp("POST", "/sp/campaigns/delete", {"campaignIdFilter": {"include": [campaign]}})
    assert gone.status_code == 207
    assert gone.json()["campaigns"]["success"] == [{"campaignId": campaign, "index": 0}]
    child = await amazon.refused("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "state": "ENABLED"})
    assert child[:2] == ("entityStateError", "PARENT_ARCHIVED_FORBIDS_UPDATES")
    new = await amazon.refused("POST", "adGroups", {**AD_GROUP, "name": "New", "campaignId": campaign})
    assert new[:2] == ("parentEntityError", "PARENT_ENTITY_ARCHIVED")
    assert (await amazon.sp("POST", "/sp/campaigns/delete", {"campaignIds": [campaign]})).status_code == 400


async def test_pages(amazon: Amazon) -> None:
    for number in range(5):
        await amazon.made("campaigns", {**CAMPAIGN, "name": f"Page {number}"})
    asked = {"stateFilter": {"include": ["PAUSED"]}, "maxResults": 2}
    names, token = list[str](), None
    for expected in (2, 2, 1):
        page = await amazon.listed("campaigns", {**asked, **({"nextToken": token} if token else {})})
        assert (len(page["campaigns"]), page["totalResults"]) == (expected, 5)
        names += [row["name"] for row in page["campaigns"]]
        token = page.get("nextToken")
    assert (names, token) == ([f"Page {number}" for number in range(5)], None)
    first = (await amazon.listed("campaigns", asked))["nextToken"]
    for wrong in (
        {**asked, "nextToken": "x"},
        {"maxResults": 2, "nextToken": first},
        {**asked, "nextToken": first, "nameFilter": {"include": ["Page"]}},
    ):
        answer = await amazon.sp("POST", "/sp/campaigns/list", wrong)
        assert answer.status_code == 400
        assert answer.json()["errors"][0]["errorValue"]["invalidInputError"]["reason"] == "INVALID_TOKEN"
    assert (await amazon.sp("POST", "/sp/adGroups/list", {**asked, "nextToken": first})).status_code == 400


async def test_filters(amazon: Amazon, campaign: str, parents: dict[str, str]) -> None:
    names = {"queryTermMatchType": "BROAD_MATCH", "include": ["launch"]}

    async def found(collection: str, body: Any) -> list[str]:
        return [row[ID[collection]] for row in (await amazon.listed(collection, body))[collection]]

    assert await found("campaigns", {"nameFilter": names}) == [campaign]
    assert await found("campaigns", {"nameFilter": {**names, "queryTermMatchType": "EXACT_MATCH"}}) == []
    exact = {"queryTermMatchType": "EXACT_MATCH", "include": ["Autumn launch"]}
    assert await found("campaigns", {"nameFilter": exact}) == [campaign]
    assert await found("campaigns", {"portfolioIdFilter": {"include": ["1"]}}) == []
    assert await found("adGroups", {"campaignIdFilter": {"include": [campaign]}}) == [parents["adGroupId"]]
    assert await found("adGroups", {"campaignTargetingTypeFilter": "AUTO"}) == []
    stove = await amazon.made("keywords", {**parents, **KEYWORD})
    pot = await amazon.made("keywords", {**parents, **KEYWORD, "keywordText": "pot", "matchType": "BROAD"})
    mine = {"adGroupIdFilter": {"include": [parents["adGroupId"]]}}
    assert await found("keywords", mine) == [stove, pot]
    assert await found("keywords", {**mine, "matchTypeFilter": ["BROAD"]}) == [pot]
    assert await found("keywords", {**mine, "keywordTextFilter": {"include": ["stove"]}}) == [stove]
    assert await found("keywords", {**mine, "keywordIdFilter": {"include": [pot]}}) == [pot]
    assert await found("productAds", mine) == []
    assert await found("keywords", {"campaignIdFilter": {"include": []}}) == []


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
    assert (await amazon.sp("POST", f"/sp/{collection}/list", body)).status_code == 400


async def test_extended_data_tells_why_something_does_not_serve(amazon: Amazon, campaign: str, clock: Clock) -> None:
    async def status(collection: str, entity_id: str) -> str:
        body = {f"{ID[collection]}Filter": {"include": [entity_id]}, "includeExtendedDataFields": True,
                "stateFilter": {"include": ["ENABLED", "PAUSED", "ARCHIVED"]}}  # fmt: skip
        [row] = (await amazon.listed(collection, body))[collection]
        told = row["extendedData"]["servingStatus"]
        assert row["extendedData"]["servingStatusDetails"][0]["name"] == f"{told}_DETAIL"
        return str(told)

    assert await status("campaigns", campaign) == "CAMPAIGN_PAUSED"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    assert await status("campaigns", campaign) == "PENDING_START_DATE"
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await redone(amazon)
    assert await status("campaigns", campaign) == "CAMPAIGN_INCOMPLETE"
    on = {"state": "ENABLED"}
    parents = {"campaignId": campaign}
    parents["adGroupId"] = await amazon.made("adGroups", {**AD_GROUP, **parents, **on})
    assert await status("adGroups", parents["adGroupId"]) == "AD_GROUP_INCOMPLETE"
    ad = await amazon.made("productAds", {**parents, **PRODUCT_AD, **on})
    keyword = await amazon.made("keywords", {**parents, **KEYWORD, **on})
    assert await status("campaigns", campaign) == "CAMPAIGN_STATUS_ENABLED"
    assert await status("productAds", ad) == "AD_STATUS_LIVE"
    assert await status("keywords", keyword) == "TARGETING_CLAUSE_STATUS_LIVE"
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "PAUSED"})
    assert await status("keywords", keyword) == "CAMPAIGN_PAUSED"
    await amazon.sp("POST", "/sp/productAds/delete", {"adIdFilter": {"include": [ad]}})
    assert await status("productAds", ad) == "AD_ARCHIVED"
    assert "extendedData" not in await amazon.one("campaigns", campaign)


async def test_portfolios(amazon: Amazon) -> None:
    found = (await amazon.sp("POST", "/portfolios/list", {}, media="portfolios")).json()
    assert [row["name"] for row in found["portfolios"]] == ["Brand", "Launches"]
    portfolio = found["portfolios"][0]["portfolioId"]
    campaign = await amazon.made("campaigns", {**CAMPAIGN, "portfolioId": portfolio})
    listed = await amazon.listed("campaigns", {"portfolioIdFilter": {"include": [portfolio]}})
    assert [row["campaignId"] for row in listed["campaigns"]] == [campaign]
    assert (await amazon.call("POST", "/portfolios/list", {}, Content_Type="application/json")).status_code == 415
