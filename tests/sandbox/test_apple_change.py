"""The simulated Apple Ads Platform API over real HTTP: rules of creating, lists, updates, deletes, bulk calls."""

from typing import Any

import httpx
import pytest

from tests.sandbox.apple_calls import (
    AD,
    AD_GROUP,
    BERLIN,
    CAMPAIGN,
    CREATIVE,
    DEFAULT_PAGE,
    INVALID,
    INVOICE,
    KEYWORD,
    MAPS,
    NEW_YORK,
    OTHER_APP,
    PENDING,
    TOKYO,
    call,
    create_ad_group,
    create_campaign,
    create_example,
    get_refusal,
    get_result,
    inject_fault,
    write_keywords,
)
from tests.sandbox.calls import NOTHING, list_writes, make_body

TARGETING = CAMPAIGN["targeting"]
BIDDING = AD_GROUP["bidStrategy"]


def make_amount(amount: str, currency: str = "EUR") -> dict[str, Any]:
    return {"value": {"amount": amount, "currency": currency}}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"name": ""}, "name"),
        ({"name": "n" * 201}, "name"),
        ({"name": NOTHING}, "name"),
        ({"adAccountId": "7001"}, "adAccountId"),
        ({"promotedObjectId": 1440000001}, "promotedObjectId"),
        ({"promotedObjectId": "missing"}, "promotedObjectId"),
        ({"billingEvent": "IMPRESSIONS"}, "billingEvent"),
        ({"dailyBudget": {"amount": "45.00", "currency": "EUR"}}, "dailyBudget.amount"),
        ({"dailyBudget": make_amount("45.001")}, "dailyBudget.value.amount"),
        ({"dailyBudget": make_amount("045.00")}, "dailyBudget.value.amount"),
        ({"dailyBudget": make_amount("0")}, "dailyBudget.value.amount"),
        ({"dailyBudget": make_amount("45", "USD")}, "dailyBudget.value.currency"),
        ({"dailyBudget": {"value": {"amount": 45, "currency": "EUR"}}}, "dailyBudget.value.amount"),
        ({"startTime": "2027-03-01T08:00:00Z"}, "startTime"),
        ({"startTime": "2027-03-01T08:00:00.000Z"}, "startTime"),
        ({"startTime": "2027-02-30T08:00:00.000"}, "startTime"),
        ({"endTime": "2027-03-01T08:00:00.000"}, "endTime"),
        ({"startTime": NOTHING, "endTime": "2026-11-21T12:00:00.000"}, "endTime"),
        ({"targeting": make_body(TARGETING, supplySource=NOTHING)}, "targeting.supplySource"),
        ({"targeting": {**TARGETING, "supplySource": {"include": ["MAPS"]}}}, "targeting.supplySource"),
        ({"targeting": {**TARGETING, "supplyPlacement": {"include": []}}}, "targeting.supplyPlacement"),
        ({"targeting": {**TARGETING, "countryOrRegion": {"include": []}}}, "targeting.countryOrRegion"),
        ({"targeting": {**TARGETING, "countryOrRegion": {"include": ["CU"]}}}, "targeting.countryOrRegion"),
        ({"targeting": {**TARGETING, "countryOrRegion": ["DE"]}}, "targeting.countryOrRegion"),
        ({"targeting": {**TARGETING, "gender": {"include": ["M"]}}}, "targeting.gender"),
        ({"bidStrategy": {"bidStrategyType": "MANUAL_CPT"}}, "bidStrategy.bidStrategyGoal"),
        ({"bidStrategy": {**BIDDING, "bidStrategyGoal": "INSTALL"}}, "bidStrategy.bidStrategyGoal"),
        ({"bidStrategy": {"bidStrategyType": "MANUAL_CPM", "bidStrategyGoal": "IMPRESSION"}},
         "bidStrategy.bidStrategyType"),
        ({"status": "ACTIVE"}, "status"),
        ({"sharedBudgets": [{"budgetId": 1}]}, "sharedBudgets"),
        ({"adamId": 1440000001}, "adamId"),
    ],
    ids=str,
)  # fmt: skip
async def test_campaigns_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    assert await get_refusal(web, "POST", "campaigns", make_body(CAMPAIGN, **change)) == field
    assert not await list_writes(web)


async def test_native_defaults(web: httpx.AsyncClient) -> None:
    body = make_body(CAMPAIGN, status=NOTHING, startTime=NOTHING, endTime=NOTHING)
    campaign = await get_result(web, "POST", "campaigns", body)
    assert (campaign["status"], campaign["displayStatus"]) == ("ENABLED", "RUNNING")
    group = await get_result(
        web, "POST", "adgroups", make_body({**AD_GROUP, "campaignId": campaign["id"]}, status=NOTHING)
    )
    assert group["status"] == "ENABLED"
    (row,) = (await write_keywords(web, {"adGroupId": group["id"], "text": "tea"}))["result"]
    assert (row["result"]["status"], row["result"]["matchType"]) == ("ENABLED", "BROAD")


@pytest.mark.parametrize(
    ("account", "change", "status", "field"),
    [
        (INVOICE, {}, 400, "invoiceDetail"),
        (MAPS, {}, 403, "promotedObjectType"),
        (NEW_YORK, {"adAccountId": 7001}, 403, "adAccountId"),
        (TOKYO, {"dailyBudget": make_amount("4500.00", "JPY")}, 400, "dailyBudget.value.amount"),
    ],
)
async def test_what_an_account_cannot_run(
    web: httpx.AsyncClient, account: str, change: dict[str, Any], status: int, field: str
) -> None:
    web.headers["X-AP-Context"] = f"adAccountId={account}"
    currency = {INVOICE: "GBP", TOKYO: "JPY"}.get(account, "USD")
    body = {**CAMPAIGN, "adAccountId": int(account), "dailyBudget": make_amount("45", currency), **change}
    assert await get_refusal(web, "POST", "campaigns", body, status) == field


async def test_a_campaign_in_yen_and_one_that_is_paid_by_invoice(web: httpx.AsyncClient) -> None:
    for account, currency, more in ((TOKYO, "JPY", {}), (INVOICE, "GBP", {"invoiceDetail": {"orderNumber": "1"}})):
        web.headers["X-AP-Context"] = f"adAccountId={account}"
        await create_campaign(web, adAccountId=int(account), dailyBudget=make_amount("4500", currency), **more)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"campaignId": "1"}, "campaignId"),
        ({"campaignId": 1}, "campaignId"),
        ({"pricingModel": "CPM"}, "pricingModel"),
        ({"pricingModel": "CPC"}, "pricingModel"),
        ({"bidStrategy": NOTHING}, "bidStrategy.bid"),
        ({"bidStrategy": make_body(BIDDING, bid=NOTHING)}, "bidStrategy.bid"),
        ({"bidStrategy": {"bidStrategyType": "MAX_CONVERSIONS", "bidStrategyGoal": "INSTALL"}},
         "bidStrategy.bidStrategyType"),
        ({"bidStrategy": {**BIDDING, "bid": {"amount": "1.35", "currency": "USD"}}}, "bidStrategy.bid.currency"),
        ({"targeting": {"adminArea": {"include": ["20039"]}}}, "targeting.adminArea"),
        ({"targeting": {"postalCode": {"include": ["1"]}}}, "targeting.postalCode"),
        ({"targeting": {"country": {"include": ["US"]}}}, "targeting.country"),
        ({"targeting": {"daypart": {"include": ["168"]}}}, "targeting.daypart.include.0"),
        ({"targeting": {"daypart": {"include": [10]}}}, "targeting.daypart.include.0"),
        ({"targeting": {"daypart": {"exclude": ["10"]}}}, "targeting.daypart.exclude"),
        ({"targeting": {"minAge": {"include": ["17"]}}}, "targeting.minAge.include.0"),
        ({"targeting": {"minAge": {"include": ["30"]}, "maxAge": {"include": ["20"]}}}, "targeting.maxAge"),
        ({"targeting": {"gender": {"include": ["MALE"]}}}, "targeting.gender.include.0"),
        ({"targeting": {"deviceClass": {"include": ["MAC"]}}}, "targeting.deviceClass.include.0"),
        ({"keywords": []}, "keywords"),
    ],
    ids=str,
)  # fmt: skip
async def test_ad_groups_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    body = make_body({**AD_GROUP, "campaignId": await create_campaign(web)}, **change)
    assert await get_refusal(web, "POST", "adgroups", body) == field


async def test_an_ad_group_with_every_dimension(web: httpx.AsyncClient) -> None:
    campaign_id = await create_campaign(web, targeting={**TARGETING, "countryOrRegion": {"include": ["DE"]}})
    values = {"country": ["DE"], "adminArea": ["20039"], "locality": ["30039"], "deviceClass": ["IPHONE"],
              "minAge": ["18"], "maxAge": ["64"], "gender": ["F"], "appCategory": ["100"], "daypart": ["0", "167"],
              "appDownloader": ["1440000001"]}  # fmt: skip
    await create_ad_group(web, campaign_id, targeting={name: {"include": value} for name, value in values.items()})


@pytest.mark.parametrize(
    ("name", "native_id"),
    [("adminArea", "30030"), ("locality", "20030"), ("adminArea", "20040"), ("locality", "30050")],
)
async def test_a_place_of_another_kind_or_country_is_refused(web: httpx.AsyncClient, name: str, native_id: str) -> None:
    campaign_id = await create_campaign(web, targeting={**TARGETING, "countryOrRegion": {"include": ["DE"]}})
    body = make_body({**AD_GROUP, "campaignId": campaign_id}, targeting={name: {"include": [native_id]}})
    assert await get_refusal(web, "POST", "adgroups", body) == f"targeting.{name}"


async def test_the_most_conversions_need_an_automated_ad_group(web: httpx.AsyncClient) -> None:
    strategy = {"bidStrategyType": "MAX_CONVERSIONS", "bidStrategyGoal": "INSTALL"}
    campaign_id = await create_campaign(web, bidStrategy=strategy)
    body = make_body({**AD_GROUP, "campaignId": campaign_id}, bidStrategy=NOTHING)
    assert await get_refusal(web, "POST", "adgroups", body) == "automatedKeywordsRequired"
    group = await create_ad_group(web, campaign_id, bidStrategy=NOTHING, automatedKeywordsRequired=True)
    (row,) = (await write_keywords(web, {**KEYWORD, "adGroupId": group}))["result"]
    assert row["error"]["details"][0]["info"]["field"] == "bid"


@pytest.mark.parametrize("creative", [INVALID, DEFAULT_PAGE, OTHER_APP, "880001"])
async def test_ads_that_are_refused(web: httpx.AsyncClient, creative: Any) -> None:
    body = {**AD, "adGroupId": await create_ad_group(web), "creativeId": creative}
    assert await get_refusal(web, "POST", "ads", body) == "creativeId"


async def test_one_enabled_ad_in_an_ad_group(web: httpx.AsyncClient) -> None:
    group = await create_ad_group(web)
    first, second = [
        (await get_result(web, "POST", "ads", {**AD, "adGroupId": group, "creativeId": creative}))["id"]
        for creative in (CREATIVE, PENDING)
    ]
    await get_result(web, "PUT", f"ads/{first}", {"status": "ENABLED"})
    assert await get_refusal(web, "PUT", f"ads/{second}", {"status": "ENABLED"}) == "status"
    await get_result(web, "PUT", f"ads/{first}", {"status": "ENABLED"})
    assert (await call(web, "DELETE", f"ads/{first}")).status_code == 204
    await get_result(web, "PUT", f"ads/{second}", {"status": "ENABLED"})


# Bulk calls


async def test_a_bad_item_refuses_all(web: httpx.AsyncClient) -> None:
    group = await create_ad_group(web)
    good, bad = {**KEYWORD, "adGroupId": group}, {**KEYWORD, "adGroupId": group, "matchType": "PHRASE"}
    before = await list_writes(web)
    rows = (await write_keywords(web, good, bad))["result"]
    assert [row["success"] for row in rows] == [False, False]
    assert rows[1]["error"]["details"][0]["info"]["field"] == "matchType"
    assert await list_writes(web) == before
    rows = (await write_keywords(web, good, bad, good, allowPartialSuccess=True))["result"]
    assert [(row["correlationId"], row["success"]) for row in rows] == [(0, True), (1, False), (2, False)]
    assert len(await list_writes(web)) == len(before) + 1


async def test_faults_of_bulk_calls(web: httpx.AsyncClient) -> None:
    group = await create_ad_group(web)
    before = await list_writes(web)
    for fault in ("error_in_200", "partial"):
        await inject_fault(web, fault)
        created = await write_keywords(web, {**KEYWORD, "adGroupId": group})
        assert ("result" in created) == (fault == "partial")
        assert fault == "partial" or created["error"]["details"]
    assert await list_writes(web) == before


async def test_keywords_one_by_one(web: httpx.AsyncClient) -> None:
    group = await create_ad_group(web)
    keyword = await get_result(web, "POST", "keywords", {**KEYWORD, "adGroupId": group})
    assert await get_refusal(web, "POST", "keywords", {**KEYWORD, "adGroupId": group}) == "text"
    bid = {"bid": {"amount": "2", "currency": "EUR"}}
    assert (await get_result(web, "PUT", f"keywords/{keyword['id']}", bid))["bid"]["amount"] == "2"
    assert await get_refusal(web, "PUT", f"keywords/{keyword['id']}", {"text": "other"}) == "text"
    rows = (await write_keywords(web, {"id": keyword["id"]}, {"id": 9}, action="delete", allowPartialSuccess=True))[
        "result"
    ]
    assert [row["success"] for row in rows] == [True, False]


# Updates and deletes


@pytest.mark.parametrize(
    ("word", "change", "field"),
    [
        ("campaigns", {"billingEvent": "TAPS"}, "billingEvent"),
        ("campaigns", {"promotedObjectId": "1440000001"}, "promotedObjectId"),
        ("campaigns", {"targeting": {"countryOrRegion": {"include": ["DE"]}}}, "targeting.supplySource"),
        ("campaigns", {"endTime": "2027-02-01T00:00:00.000"}, "endTime"),
        ("campaigns", {}, "VALIDATION_ERROR"),
        ("adgroups", {"bidStrategy": {"bid": BIDDING["bid"]}}, "bidStrategy.bidStrategyType"),
        ("adgroups", {"pricingModel": "CPT"}, "pricingModel"),
        ("ads", {"creativeId": CREATIVE}, "creativeId"),
    ],
)
async def test_updates_that_are_refused(web: httpx.AsyncClient, word: str, change: dict[str, Any], field: str) -> None:
    example = await create_example(web)
    assert await get_refusal(web, "PUT", f"{word}/{example[word]}", change) == field


async def test_an_update_changes_what_it_gives(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    campaign = await get_result(web, "PUT", f"campaigns/{example['campaigns']}", {"dailyBudget": make_amount("50.00")})
    assert (campaign["dailyBudget"], campaign["name"]) == (make_amount("50.00"), "Brief name")


async def test_a_delete_takes_what_is_below(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    answer = await call(web, "DELETE", f"campaigns/{example['campaigns']}")
    assert (answer.status_code, answer.content) == (204, b"")
    for word in ("adgroups", "ads", "keywords"):
        assert (await get_result(web, "GET", f"{word}/{example[word]}"))["deleted"] is True
    assert await get_refusal(web, "DELETE", f"campaigns/{example['campaigns']}", None, 404) == "not_found"
    gone = [{"field": "deleted", "operator": "EQUALS", "value": True}]
    assert [row["id"] for row in await get_result(web, "POST", "ads/query", {"filters": gone})][-1] == example["ads"]
    assert example["ads"] not in [row["id"] for row in await get_result(web, "POST", "ads/query", {})]


# Lists


async def test_pages(web: httpx.AsyncClient) -> None:
    ids = [await create_campaign(web) for _ in range(3)]
    page = {"pagination": {"offset": 1, "pageSize": 2, "fetchTotalCount": True}}
    answer = (await call(web, "POST", "campaigns/query", page)).json()
    assert [row["id"] for row in answer["result"]] == ids[:2]  # the seeded one comes first
    assert answer["pagination"] == {"offset": 1, "pageSize": 2, "totalCount": 4}
    newest = {"sorting": [{"field": "id", "order": "DESC"}], "pagination": {"pageSize": 5000}}
    answer = (await call(web, "POST", "campaigns/query", newest)).json()
    assert (answer["result"][0]["id"], answer["pagination"]) == (ids[2], {"offset": 0, "pageSize": 1000})


def make_filters(field: str, operator: str, value: Any, **more: Any) -> dict[str, Any]:
    return {"filters": [{"field": field, "operator": operator, "value": value, **more}]}


async def test_filters(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    campaign_id = example["campaigns"]
    for word, filters in (
        ("campaigns", make_filters("name", "LIKE", "BRIEF", ignoreCase=True)),
        ("campaigns", make_filters("id", "IN", [campaign_id])),
        ("campaigns", make_filters("status", "EQUALS", "PAUSED")),
        ("campaigns", make_filters("startTime", "GREATER_THAN", "2027-01-01T00:00:00.000")),
        ("adgroups", make_filters("campaignId", "EQUALS", campaign_id)),
        ("ads", make_filters("adGroupId", "EQUALS", example["adgroups"])),
        ("keywords", make_filters("campaignId", "EQUALS", campaign_id)),
    ):
        assert [row["id"] for row in await get_result(web, "POST", f"{word}/query", filters)] == [example[word]]
    both = await get_result(web, "POST", "campaigns/query", make_filters("deleted", "IN", [True, False]))
    assert [row["deleted"] for row in both] == [False, True, False]


@pytest.mark.parametrize(
    ("word", "filters", "field"),
    [
        ("campaigns", make_filters("id", "EQUALS", "1"), "filters.0.value"),
        ("campaigns", make_filters("dailyBudget", "EQUALS", 1), "filters.0.field"),
        ("campaigns", make_filters("id", "IN", []), "filters.0.value"),
        ("adgroups", make_filters("name", "LIKE", "x"), "filters.0.operator"),
        ("adgroups", make_filters("campaignId", "IN", [1]), "filters.0.operator"),
        ("ads", make_filters("name", "EQUALS", "x"), "filters.0.field"),
        ("keywords", {}, "filters"),
        ("campaigns", {"pagination": {"limit": 3}}, "pagination.limit"),
    ],
)
async def test_filters_that_are_refused(web: httpx.AsyncClient, word: str, filters: dict[str, Any], field: str) -> None:
    assert await get_refusal(web, "POST", f"{word}/query", filters) == field


# Creatives


async def test_creatives(web: httpx.AsyncClient) -> None:
    rows = await get_result(
        web, "POST", "creatives/query", make_filters("creativeType", "EQUALS", "CUSTOM_PRODUCT_PAGE")
    )
    assert [row["id"] for row in rows] == [CREATIVE, PENDING, INVALID, OTHER_APP]
    foreign = await get_result(web, "GET", "creatives/123456")
    assert (foreign["systemStatus"], foreign["destination"]["parameters"]["adamId"]) == ("VALID", "1440000001")
    assert foreign["adAccountId"] == int(BERLIN)
    body = {"name": "New", "creativeType": "CUSTOM_PRODUCT_PAGE", "destination": rows[0]["destination"]}
    created = await get_result(web, "POST", "creatives", body)
    assert created["systemStatus"] == "PENDING"
    assert (
        await get_refusal(web, "PUT", f"creatives/{created['id']}", {"creativeType": "DEFAULT_PRODUCT_PAGE"})
        == "creativeType"
    )
