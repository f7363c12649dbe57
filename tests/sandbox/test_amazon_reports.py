"""The simulated Amazon Ads network: products, suggestions, budget usage, reports."""

from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

import pytest

from adsunify.sandbox.networks.amazon.columns import REPORT_TYPES
from tests.sandbox.amazon_calls import (
    AD_GROUP,
    EU,
    FE,
    KEYWORD,
    MEDIA,
    NA,
    PRODUCT_AD,
    REPORT,
    SELLER,
    VENDOR,
    YEN,
    Amazon,
    Clock,
    check_eligibility,
    get_metadata,
    log_in,
    unpack_rows,
)


async def test_eligibility(amazon: Amazon) -> None:
    plain = (await check_eligibility(amazon, asin="B000000001", sku="SELLER-SKU-1")).json()["productResponseList"]
    details = {"asin": "B000000001", "sku": "SELLER-SKU-1"}
    assert plain == [{"productDetails": details, "overallStatus": "ELIGIBLE", "eligibilityStatusList": []}]
    for product, status in (
        ({"asin": "ineligible"}, "INELIGIBLE"),
        ({"asin": "B000000001", "sku": "SKU-ineligible"}, "INELIGIBLE"),
        ({"asin": "B0WARNING1"}, "ELIGIBLE_WITH_WARNING"),
    ):
        [row] = (await check_eligibility(amazon, **product)).json()["productResponseList"]
        assert (row["overallStatus"], row["eligibilityStatusList"][0]["severity"]) == (status, status)
        assert set(row["eligibilityStatusList"][0]) >= {"name", "message"}
    assert (await check_eligibility(amazon, asin="B0-missing")).status_code == 404
    assert (await check_eligibility(amazon, sku="SELLER-SKU-1")).status_code == 400  # asin is required
    many = {"productDetailsList": [{"asin": "B000000001"}] * 31}
    refused = await amazon.call("POST", "/eligibility/product/list", many, Content_Type="application/json")
    assert (refused.status_code, set(refused.json())) == (400, {"code", "details"})


async def test_product_metadata(amazon: Amazon) -> None:
    # the documented pre-flight, word for word
    parameters = {"adType": "SP", "skus": ["SELLER-SKU-1"], "checkEligibility": True, "pageIndex": 0, "pageSize": 1}
    [row] = (await get_metadata(amazon, parameters)).json()["ProductMetadataList"]
    assert (row["sku"], row["eligibilityStatus"], "title" in row) == ("SELLER-SKU-1", "ELIGIBLE", False)
    assert (await check_eligibility(amazon, asin=row["asin"], sku=row["sku"])).json()["productResponseList"][0][
        "overallStatus"
    ] == "ELIGIBLE"
    unknown = (await get_metadata(amazon, {**parameters, "skus": ["missing-1"]})).json()
    assert unknown["ProductMetadataList"] == []
    [bad] = (await get_metadata(amazon, {**parameters, "skus": ["ineligible-1"]})).json()["ProductMetadataList"]
    assert (bad["eligibilityStatus"], bad["ineligibilityCodes"]) == ("INELIGIBLE", ["LISTING_SUPRESSED"])
    assert (await get_metadata(amazon, {**parameters, "asins": ["B000000001"]})).status_code == 400  # one of them
    assert (await get_metadata(amazon, {**parameters, "pageSize": 301})).status_code == 400
    assert (await get_metadata(amazon, {"checkEligibility": True, "pageIndex": 0, "pageSize": 1})).status_code == 400
    assert (await get_metadata(amazon, parameters, Accept="application/json")).status_code == 406
    assert (await get_metadata(amazon, parameters, Content_Type="application/json")).status_code == 415
    assert (await get_metadata(amazon, parameters, host=EU, profile=VENDOR)).status_code == 400  # skus are for sellers


async def test_the_product_catalogue_pages(amazon: Amazon) -> None:
    parameters = {"adType": "SP", "checkItemDetails": True, "searchStr": "demo", "pageIndex": 0, "pageSize": 20}
    first = (await get_metadata(amazon, parameters)).json()
    second = (await get_metadata(amazon, {**parameters, "pageIndex": 1})).json()
    assert (await get_metadata(amazon, {**parameters, "cursorToken": first["cursorToken"]})).json() == second
    third = (await get_metadata(amazon, {**parameters, "cursorToken": second["cursorToken"]})).json()
    rows = [*first["ProductMetadataList"], *second["ProductMetadataList"], *third["ProductMetadataList"]]
    assert (len({row["asin"] for row in rows}), third["cursorToken"]) == (45, "")
    assert all(row["title"] and "eligibilityStatus" not in row for row in rows)


async def test_keyword_recommendations(amazon: Amazon) -> None:
    media = {"Content_Type": "application/vnd.spkeywordsrecommendation.v5+json"}
    body = {
        "recommendationType": "KEYWORDS_FOR_ASINS",
        "asins": ["B000000001"],
        "sortDimension": "CLICKS",
        "maxRecommendations": 50,
    }
    answer = await amazon.call("POST", "/sp/targets/keywords/recommendations", body, **media)
    rows = answer.json()["keywordTargetList"]
    assert rows
    assert all(isinstance(bid["bid"], int) for row in rows for bid in row["bidInfo"])
    assert {bid["matchType"] for bid in rows[0]["bidInfo"]} == {"EXACT", "PHRASE", "BROAD"}
    few = await amazon.call("POST", "/sp/targets/keywords/recommendations", {**body, "maxRecommendations": 2}, **media)
    assert len(few.json()["keywordTargetList"]) == 2
    path = "/sp/targets/keywords/recommendations"
    assert (await amazon.call("POST", path, body, Content_Type="application/json")).status_code == 415
    assert (await amazon.call("POST", path, body, **media, Accept="text/html")).status_code == 406


async def test_budget_usage(amazon: Amazon, campaign: str) -> None:
    seeded = (await amazon.list_entities("campaigns", {}))["campaigns"][0]["campaignId"]
    body = {"campaignIds": [campaign, "1", seeded]}
    answer = await amazon.call_sp("POST", "/sp/campaigns/budget/usage", body, media="usage")
    assert (answer.status_code, answer.headers["Content-Type"]) == (207, MEDIA["usage"])
    used = {row["campaignId"]: (row["index"], row["budgetUsagePercent"]) for row in answer.json()["success"]}
    assert used[campaign] == (0, 0)
    assert used[seeded][0] == 2
    assert 0 < used[seeded][1] <= 100
    assert [(row["index"], row["campaignId"]) for row in answer.json()["error"]] == [(1, "1")]
    refused = await amazon.call_sp("POST", "/sp/campaigns/budget/usage", {"campaignIds": []}, media="usage")
    assert (refused.status_code, set(refused.json())) == (400, {"code", "details"})


async def test_a_report_from_order_to_rows(amazon: Amazon, clock: Clock) -> None:
    answer = await amazon.request_report()
    assert (answer.status_code, answer.json()["status"]) == (200, "PENDING")
    job = answer.json()["reportId"]
    looks = [(await amazon.call("GET", f"/reporting/reports/{job}")).json() for _ in range(4)]
    assert [look["status"] for look in looks] == ["PENDING", "PROCESSING", "COMPLETED", "COMPLETED"]
    assert [look["url"] is None for look in looks] == [True, True, False, False]
    finished_report = looks[2]
    assert urlsplit(finished_report["url"]).scheme == "https"
    assert urlsplit(finished_report["url"]).hostname not in (NA, EU, FE)
    content = (await amazon.download(finished_report["url"])).content
    assert len(content) == finished_report["fileSize"]
    rows = unpack_rows(content)
    assert [row["date"] for row in rows] == [f"2026-11-{day:02}" for day in range(1, 16)]
    for row in rows:
        assert list(row) == REPORT["configuration"]["columns"]
        assert isinstance(row["campaignId"], int)  # an integer here, a string in Sponsored Products
        assert row["impressions"] > row["clicks"] >= row["purchases14d"] >= row["purchases7d"]
        assert 0 < row["cost"] <= 50
    assert await amazon.list_writes() == []  # a report is no write

    refused = await amazon.download(finished_report["url"], Authorization=amazon.http.headers["Authorization"])
    assert (refused.status_code, b"Error" in refused.content) == (400, True)
    assert (await amazon.download(finished_report["url"].replace("Signature=", "Signature=0"))).status_code == 403
    assert (await amazon.download(finished_report["url"].partition("?")[0])).status_code == 403
    clock.instant = datetime.fromisoformat(finished_report["urlExpiresAt"])
    assert (await amazon.download(finished_report["url"])).status_code == 403
    await log_in(amazon)
    fresh = (await amazon.call("GET", f"/reporting/reports/{job}")).json()["url"]
    assert (await amazon.download(fresh)).content == content


async def test_an_identical_request_is_a_duplicate(amazon: Amazon) -> None:
    job = (await amazon.request_report()).json()["reportId"]
    again = await amazon.request_report()
    assert again.status_code == 425
    assert again.json() == {"code": "425", "detail": f"The Request is a duplicate of : {job}"}
    assert (await amazon.request_report({**REPORT, "endDate": "2026-11-14"})).status_code == 200
    vendor = await amazon.request_report(host=EU, profile=VENDOR)
    assert vendor.status_code == 200
    other = vendor.json()["reportId"]
    assert (await amazon.call("GET", f"/reporting/reports/{other}")).status_code == 404
    assert (await amazon.call("DELETE", f"/reporting/reports/{job}")).status_code == 200
    assert (await amazon.call("GET", f"/reporting/reports/{job}")).status_code == 404
    assert (await amazon.request_report()).status_code == 200
    for _ in range(2):
        await amazon.call("GET", f"/reporting/reports/{other}", host=EU, profile=VENDOR)
    late = await amazon.call("DELETE", f"/reporting/reports/{other}", host=EU, profile=VENDOR)
    assert late.status_code == 400


def configure_report(**change: Any) -> dict[str, Any]:
    return {**REPORT, "configuration": {**REPORT["configuration"], **change}}


@pytest.mark.parametrize(
    "request_",
    [
        {**REPORT, "startDate": "2026-10-15"},  # 32 days
        {**REPORT, "startDate": "2026-08-15", "endDate": "2026-08-16"},  # 97 days back
        {**REPORT, "startDate": "2026-11-16"},
        {**REPORT, "startDate": "20261101"},
        {**REPORT, "extra": 1},
        {name: value for name, value in REPORT.items() if name != "configuration"},
        configure_report(adProduct="SPONSORED_BRANDS"),
        configure_report(reportTypeId="spSearchTerm"),
        configure_report(reportTypeId=["spCampaigns"]),
        configure_report(groupBy=["targeting"]),
        configure_report(groupBy=[]),
        configure_report(timeUnit="HOURLY"),
        configure_report(format="CSV"),
        configure_report(columns=[]),
        configure_report(columns=["date", "cost", "cost"]),
        configure_report(columns=["date", "adGroupId"]),
        configure_report(columns=["cost"]),
        configure_report(columns=["date", "startDate", "cost"]),
        configure_report(columns=["date", "cost"], timeUnit="SUMMARY"),
        configure_report(filters=[{"field": "matchType", "values": ["EXACT"]}]),
    ],
)
async def test_refused_reports(amazon: Amazon, request_: Any) -> None:
    refused = await amazon.request_report(request_)
    assert (refused.status_code, set(refused.json())) == (400, {"code", "detail"})


WRONG_FILTER = "configuration filters includes fields: (campaignStatus) which are invalid for groupBys: "


@pytest.mark.parametrize(
    ("change", "detail"),
    [
        ({"reportTypeId": "spAds"}, "configuration reportTypeId is unknown or invalid"),
        ({"groupBy": ["campaigns"]}, "configuration invalid groupBy values: (campaigns). Allowed values: (adGroup, "),
        (
            {"groupBy": ["adGroup"], "columns": ["date", "campaignId", "cost"]},
            "configuration columns includes invalid values: (campaignId). Allowed values: (",
        ),
        (
            {"reportTypeId": "spAdvertisedProduct", "groupBy": ["advertiser"], "columns": ["date", "adId"],
             "filters": [{"field": "campaignStatus", "values": ["ENABLED"]}]},
            f"{WRONG_FILTER}advertiser. Allowed filters for groupBy advertiser: (field: adCreativeStatus, values: ",
        ),
        (
            {"groupBy": ["campaign", "adGroup"], "filters": [{"field": "campaignStatus", "values": ["ENABLED"]}]},
            f"{WRONG_FILTER}adGroup. Allowed filters for groupBy adGroup: (field: adStatus, ",
        ),
        (
            {"filters": [{"field": "campaignStatus", "values": ["DELETED"]}]},
            f"{WRONG_FILTER}campaign. Allowed filters for groupBy campaign: (field: campaignStatus, ",
        ),
    ],
)  # fmt: skip
async def test_the_words_of_refused_reports(amazon: Amazon, change: dict[str, Any], detail: str) -> None:
    refused = await amazon.request_report(configure_report(**change))
    assert (refused.status_code, refused.json()["code"]) == (400, "400")
    assert refused.json()["detail"].startswith(detail)


async def test_reports_at_their_limits(amazon: Amazon) -> None:
    assert (await amazon.request_report({**REPORT, "startDate": "2026-10-16"})).status_code == 200  # 31 days
    assert (
        await amazon.request_report({**REPORT, "startDate": "2026-08-17", "endDate": "2026-08-17"})
    ).status_code == 200
    plain = await amazon.call("POST", "/reporting/reports", REPORT, Content_Type="application/json")
    assert (plain.status_code, plain.json()["code"]) == (415, "415")


@pytest.mark.parametrize(("host", "profile"), [(NA, SELLER), (EU, VENDOR), (FE, YEN)])
async def test_every_profile_has_rows_up_to_today(amazon: Amazon, host: str, profile: str) -> None:
    rows = await amazon.fetch_report_rows(
        {**REPORT, "startDate": "2026-11-10", "endDate": "2026-12-05"}, host=host, profile=profile
    )
    assert [row["date"] for row in rows] == [f"2026-11-{day}" for day in range(10, 21)]
    again = {**REPORT, "name": "another", "startDate": "2026-11-10", "endDate": "2026-11-20"}
    assert await amazon.fetch_report_rows(again, host=host, profile=profile) == rows
    if profile == YEN:
        assert all(row["cost"] == int(row["cost"]) for row in rows)


async def test_report_types_add_up(amazon: Amazon) -> None:
    async def sum_figures(**change: Any) -> tuple[Any, ...]:
        rows = await amazon.fetch_report_rows(configure_report(**change))
        return tuple(sum(row[name] for row in rows) for name in ("clicks", "cost", "sales7d"))

    whole = await sum_figures(columns=["date", "clicks", "cost", "sales7d"])
    assert whole[0] > 0
    for type_, group, column in (
        ("spCampaigns", "adGroup", "adGroupId"),
        ("spCampaigns", "campaignPlacement", "placementClassification"),
        ("spAdvertisedProduct", "advertiser", "advertisedSku"),
        ("spTargeting", "targeting", "keywordId"),
    ):
        columns = ["date", column, "clicks", "cost", "sales7d"]
        assert await sum_figures(reportTypeId=type_, groupBy=[group], columns=columns) == whole
    summary = ["startDate", "endDate", "clicks", "cost", "sales7d", "costPerClick"]
    [row] = await amazon.fetch_report_rows(configure_report(timeUnit="SUMMARY", columns=summary))
    assert (row["clicks"], row["cost"], row["sales7d"]) == whole
    assert (row["startDate"], row["endDate"]) == ("2026-11-01", "2026-11-15")
    paused = [{"field": "campaignStatus", "values": ["PAUSED"]}]
    assert await amazon.fetch_report_rows(configure_report(filters=paused)) == []


async def test_each_level_adds_up_to_the_account(amazon: Amazon, campaign: str, clock: Clock) -> None:
    """With a campaign whose ad groups have one and two ads, and one ad that is paused."""
    ads = {}
    for products in (["B1"], ["B2", "B3", "B4"]):
        ad_group = {**AD_GROUP, "name": products[0], "campaignId": campaign}
        keys = {"campaignId": campaign, "adGroupId": await amazon.create_entity("adGroups", ad_group)}
        for number, sku in enumerate(products):
            state = "PAUSED" if number == 2 else "ENABLED"
            ads[int(await amazon.create_entity("productAds", {**keys, "state": state, "sku": sku}))] = int(
                keys["adGroupId"]
            )
        await amazon.create_entity("keywords", {**keys, **KEYWORD, "state": "ENABLED"})
        await amazon.write("PUT", "adGroups", {"adGroupId": keys["adGroupId"], "state": "ENABLED"})
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    clock.instant = datetime(2026, 12, 9, 12, tzinfo=UTC)
    await log_in(amazon)
    metrics = ["impressions", "clicks", "cost", "purchases7d", "sales7d", "purchases14d", "sales14d"]
    week = {"startDate": "2026-12-01", "endDate": "2026-12-07"}

    async def read_report(report_type: str, groups: list[str], *columns: str) -> list[dict[str, Any]]:
        change = {"reportTypeId": report_type, "groupBy": groups, "columns": ["date", *columns, *metrics]}
        return await amazon.fetch_report_rows({**configure_report(**change), **week})

    def add_up(rows: list[dict[str, Any]], *key: str) -> dict[tuple[Any, ...], list[Any]]:
        sums: dict[tuple[Any, ...], list[Any]] = {}
        for row in rows:
            of = tuple(row[name] for name in key)
            sums[of] = [before + row[name] for before, name in zip(sums.get(of, [0] * 7), metrics, strict=True)]
        return sums

    campaigns = await read_report("spCampaigns", ["campaign"], "campaignId", "campaignName")
    ad_groups = await read_report("spCampaigns", ["campaign", "adGroup"], "campaignId", "adGroupId", "adGroupName")
    product_ads = await read_report(
        "spAdvertisedProduct", ["advertiser"], "campaignId", "adGroupId", "adId", "advertisedSku"
    )
    assert len(add_up(campaigns, "date")) == 7
    assert add_up(campaigns, "date") == add_up(ad_groups, "date")
    assert add_up(campaigns, "date", "campaignId") == add_up(product_ads, "date", "campaignId")
    assert add_up(ad_groups, "date", "adGroupId") == add_up(product_ads, "date", "adGroupId")
    mine = {row["adId"]: (row["adGroupId"], row["advertisedSku"]) for row in product_ads if row["adId"] in ads}
    assert mine == {ad: (group, sku) for (ad, group), sku in zip(ads.items(), ("B1", "B2", "B3"), strict=False)}


async def test_every_documented_column_can_be_had(amazon: Amazon) -> None:
    for name, type_ in REPORT_TYPES.items():
        for group, added in type_.groups.items():
            columns = sorted((type_.columns | added.columns) - {"startDate", "endDate"})
            rows = await amazon.fetch_report_rows(configure_report(reportTypeId=name, groupBy=[group], columns=columns))
            assert [list(row) for row in rows] == [columns] * len(rows)
            assert rows


async def test_only_what_serves_has_rows(amazon: Amazon, campaign: str, parents: dict[str, str], clock: Clock) -> None:
    await amazon.create_entity("productAds", {**parents, **PRODUCT_AD, "state": "ENABLED"})
    await amazon.create_entity("keywords", {**parents, **KEYWORD, "state": "ENABLED"})
    await amazon.write("PUT", "adGroups", {"adGroupId": parents["adGroupId"], "state": "ENABLED"})
    await amazon.write("PUT", "campaigns", {"campaignId": campaign, "state": "ENABLED"})
    clock.instant = datetime(2026, 12, 5, 12, tzinfo=UTC)
    await log_in(amazon)
    rows = await amazon.fetch_report_rows({**REPORT, "startDate": "2026-11-25", "endDate": "2026-12-10"})
    mine = [row["date"] for row in rows if row["campaignId"] == int(campaign)]
    assert mine == [f"2026-12-0{day}" for day in range(1, 6)]
