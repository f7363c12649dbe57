"""The simulated Google Ads API: the documented queries, pages, insights, catalogs."""

from collections import Counter
from datetime import UTC, datetime
from decimal import Decimal
from typing import Any

import httpx
import pytest
from hypothesis import given
from hypothesis import strategies as st

from adsunify.sandbox.networks.google import make_network, messages
from adsunify.sandbox.networks.google.gaql import compile_like, parse_query
from adsunify.sandbox.parsing import InvalidRequest
from tests.sandbox.google_calls import (
    AD,
    ADS,
    CAMPAIGN,
    CREATE,
    DIRECT,
    EU,
    GROUP,
    JAPAN,
    KEYWORD,
    MANAGER,
    US,
    Clock,
    change_example,
    get_ids,
    list_writes,
    log_in,
    mutate,
    open_client,
    read_refusal,
    read_resource_names,
    search,
    search_rows,
    send,
)

# Queries ----------------------------------------------------------------------------------------------------------
DOCUMENTED_QUERIES = (
    """SELECT campaign.resource_name, campaign.id, campaign.name, campaign.status, campaign.primary_status,
 campaign.advertising_channel_type,
 campaign.bidding_strategy_type, campaign.campaign_budget, campaign_budget.amount_micros,
 campaign_budget.explicitly_shared,
 campaign.start_date_time, campaign.end_date_time, campaign.contains_eu_political_advertising
FROM campaign WHERE campaign.status != 'REMOVED' ORDER BY campaign.id LIMIT 50""",
    """SELECT ad_group.id, ad_group.name, ad_group.status, ad_group.campaign, ad_group.type, ad_group.cpc_bid_micros
 FROM ad_group WHERE campaign.id = 88001 AND ad_group.status != 'REMOVED'""",
    """SELECT ad_group_ad.resource_name, ad_group_ad.ad.id, ad_group_ad.status, ad_group_ad.ad.type,
 ad_group_ad.ad.final_urls, ad_group_ad.ad.responsive_search_ad.headlines,
 ad_group_ad.ad.responsive_search_ad.descriptions, ad_group_ad.policy_summary.approval_status,
 ad_group_ad.policy_summary.review_status FROM ad_group_ad WHERE ad_group.id = 99001 AND ad_group_ad.status !=
 'REMOVED'""",
    """SELECT campaign.bidding_strategy, campaign_budget.resource_name, campaign_budget.reference_count,
 campaign_budget.period, campaign.target_spend.cpc_bid_ceiling_micros,
 campaign.maximize_conversions.target_cpa_micros, campaign.maximize_conversion_value.target_roas,
 campaign.target_cpa.target_cpa_micros, campaign.target_roas.target_roas FROM campaign WHERE campaign.id =
 88001""",
    """SELECT campaign_criterion.resource_name, campaign_criterion.criterion_id, campaign_criterion.type,
 campaign_criterion.negative, campaign_criterion.location.geo_target_constant,
 campaign_criterion.language.language_constant FROM campaign_criterion WHERE campaign.id = 88001 AND
 campaign_criterion.type IN ('LOCATION', 'LANGUAGE')""",
    """SELECT ad_group_criterion.resource_name, ad_group_criterion.criterion_id, ad_group_criterion.status,
 ad_group_criterion.keyword.text, ad_group_criterion.keyword.match_type, ad_group_criterion.cpc_bid_micros FROM
 ad_group_criterion WHERE ad_group_criterion.type = 'KEYWORD' AND ad_group_criterion.negative = FALSE AND
 ad_group.id = 99001""",
)


async def test_the_queries_of_the_documentation(web: httpx.AsyncClient) -> None:
    budget, campaign, criterion, group, keyword, ad = names = read_resource_names(await send(web, CREATE))
    numbers = get_ids(names)
    answers = []
    for query in DOCUMENTED_QUERIES:
        own = query.strip().replace("88001", numbers[CAMPAIGN]).replace("99001", numbers[GROUP])
        answers.append((await search(web, own)).json())
    assert answers[0]["fieldMask"] == (
        "campaign.resourceName,campaign.id,campaign.name,campaign.status,campaign.primaryStatus,"
        "campaign.advertisingChannelType,campaign.biddingStrategyType,campaign.campaignBudget,"
        "campaignBudget.amountMicros,campaignBudget.explicitlyShared,campaign.startDateTime,campaign.endDateTime,"
        "campaign.containsEuPoliticalAdvertising"
    )
    assert [answer["results"] for answer in answers] == [
        [{"campaign": {
            "resourceName": campaign, "id": numbers[CAMPAIGN], "name": "Garden chairs autumn", "status": "PAUSED",
            "primaryStatus": "PAUSED", "advertisingChannelType": "SEARCH", "biddingStrategyType": "MANUAL_CPC",
            "campaignBudget": budget, "startDateTime": "2027-03-01 00:00:00", "endDateTime": "2027-03-31 23:59:59",
            "containsEuPoliticalAdvertising": EU}, "campaignBudget": {"amountMicros": "12340000"}}],
        [{"adGroup": {"id": numbers[GROUP], "name": "Garden chairs autumn", "status": "PAUSED", "campaign": campaign,
                      "type": "SEARCH_STANDARD", "cpcBidMicros": "850000"}}],
        [{"adGroupAd": {
            "resourceName": ad, "status": "PAUSED", "policySummary": {"reviewStatus": "REVIEW_IN_PROGRESS"},
            "ad": {"id": numbers[AD].partition("~")[2], "type": "RESPONSIVE_SEARCH_AD",
                   "finalUrls": ["https://shop.example/chairs"],
                   "responsiveSearchAd": CREATE["mutateOperations"][AD]["adGroupAdOperation"]["create"]["ad"][
                       "responsiveSearchAd"]}}}],
        [{"campaign": {}, "campaignBudget": {"resourceName": budget, "referenceCount": "1", "period": "DAILY"}}],
        [{"campaignCriterion": {"resourceName": criterion, "criterionId": "2578", "type": "LOCATION",
                                "location": {"geoTargetConstant": "geoTargetConstants/2578"}}}],
        [{"adGroupCriterion": {"resourceName": keyword, "criterionId": numbers[KEYWORD].partition("~")[2],
                               "status": "PAUSED",
                               "keyword": {"text": "folding garden chair", "matchType": "PHRASE"}}}],
    ]  # fmt: skip
    assert group


async def test_no_rows_is_no_results_member(web: httpx.AsyncClient) -> None:
    answer = await search(web, "SELECT campaign.id FROM campaign WHERE campaign.id = 1")
    assert (answer.status_code, answer.json()) == (200, {"fieldMask": "campaign.id"})
    assert answer.headers["request-id"]


async def test_filters_order_and_keyset(web: httpx.AsyncClient) -> None:
    called = ("Alpha 100%", "Beta_x", "Gamma [x]", "O'Hara \\ Sons")
    ids = [
        get_ids(read_resource_names(await send(web, change_example(CAMPAIGN, name=name))))[CAMPAIGN] for name in called
    ]

    async def list_names(clause: str) -> list[str]:
        rows = await search_rows(web, f"SELECT campaign.id, campaign.name FROM campaign {clause}")
        return [row["campaign"]["name"].split()[0].split("_")[0] for row in rows]

    for clause, expected in (
        (r"WHERE campaign.name LIKE '%100[%]%'", ["Alpha"]),
        (r"WHERE campaign.name LIKE '%a[_]x'", ["Beta"]),
        (r"WHERE campaign.name LIKE '%[[]x[]]%'", ["Gamma"]),
        (r"WHERE campaign.name LIKE '%O\'Hara \\ S%'", ["O'Hara"]),
        (r"WHERE campaign.name LIKE 'beta_x'", ["Beta"]),
        (r"WHERE campaign.name NOT LIKE '%a%'", []),
        ("WHERE campaign.status = 'ENABLED'", []),
        ("WHERE campaign.status NOT IN ('ENABLED') AND campaign.name != 'Beta_x'", ["Alpha", "Gamma", "O'Hara"]),
        (f"WHERE campaign.id > {ids[0]} ORDER BY campaign.id LIMIT 2", ["Beta", "Gamma"]),
        (f"WHERE campaign.id BETWEEN {ids[1]} AND {ids[2]}", ["Beta", "Gamma"]),
        (f"WHERE campaign.id IN ({ids[3]}, {ids[0]}) ORDER BY campaign.name DESC", ["O'Hara", "Alpha"]),
        ("where campaign.name = \"Beta_x\" order by campaign.id asc limit 1", ["Beta"]),
        ("ORDER BY campaign.status, campaign.id DESC", ["O'Hara", "Gamma", "Beta", "Alpha"]),
    ):  # fmt: skip
        assert await list_names(clause) == expected, clause


@given(st.text(alphabet=st.sampled_from("SELECT campaign.id FROM WHERE='\"\\\\[%_]()<>!,0123\n"), max_size=80))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    for query in (text, f"SELECT campaign.id FROM campaign WHERE campaign.name LIKE '{text}'"):
        try:
            parse_query(query)
            compile_like(text)
        except InvalidRequest as problem:
            assert problem.code.startswith("queryError.")


async def test_a_query_cut_short_is_refused_or_answered(web: httpx.AsyncClient) -> None:
    for query in DOCUMENTED_QUERIES:
        for length in range(0, len(query), 7):
            answer = await search(web, query[:length])
            assert answer.status_code == 200 or read_refusal(answer)["status"] == "INVALID_ARGUMENT"


@pytest.mark.parametrize(
    ("query", "code"),
    [
        ("campaign.id FROM campaign", "EXPECTED_SELECT"),
        ("SELECT campaign.id", "EXPECTED_FROM"),
        ("SELECT campaign.id WHERE campaign.id = 1", "UNEXPECTED_INPUT"),
        ("SELECT * FROM campaign", "BAD_SYMBOL"),
        ("SELECT campaign FROM campaign", "BAD_FIELD_NAME"),
        ("SELECT campaign.startDateTime FROM campaign", "BAD_FIELD_NAME"),
        ("SELECT campaign.start_date FROM campaign", "UNRECOGNIZED_FIELD"),
        ("SELECT metrics.video_views FROM customer", "UNRECOGNIZED_FIELD"),
        ("SELECT nothing.id FROM campaign", "UNRECOGNIZED_FIELD"),
        ("SELECT campaign.manual_cpc FROM campaign", "PROHIBITED_FIELD_IN_SELECT_CLAUSE"),
        ("SELECT ad_group.id FROM campaign", "PROHIBITED_RESOURCE_TYPE_IN_SELECT_CLAUSE"),
        ("SELECT campaign.id FROM campaign WHERE ad_group.id = 1", "PROHIBITED_RESOURCE_TYPE_IN_WHERE_CLAUSE"),
        ("SELECT metrics.clicks FROM user_list", "PROHIBITED_METRIC_IN_SELECT_OR_WHERE_CLAUSE"),
        ("SELECT metrics.unique_users FROM campaign", "UNRECOGNIZED_FIELD"),
        ("SELECT metrics.clicks FROM ad_group", "EXPECTED_FILTERS_ON_DATE_RANGE"),
        (f"SELECT campaign.id FROM campaign WHERE campaign.id IN ({', '.join(['1'] * 20_001)})",
         "FILTER_HAS_TOO_MANY_VALUES"),
        ("SELECT campaign.id FROM metrics", "BAD_RESOURCE_TYPE_IN_FROM_CLAUSE"),
        ("SELECT campaign.id FROM campaign WHERE campaign.id = '1'", "BAD_VALUE"),
        ("SELECT campaign.id FROM campaign WHERE campaign.status = PAUSED", "BAD_VALUE"),
        ("SELECT campaign.id FROM campaign WHERE campaign.status = 'ACTIVE'", "BAD_ENUM_CONSTANT"),
        ("SELECT campaign.id FROM campaign WHERE campaign.status LIKE '%A%'", "OPERATOR_FIELD_MISMATCH"),
        ("SELECT campaign.id FROM campaign WHERE campaign.name LIKE '[ab]'", "INVALID_VALUE_WITH_LIKE_OPERATOR"),
        ("SELECT campaign.id FROM campaign WHERE campaign.name = 'x", "STRING_NOT_TERMINATED"),
        ("SELECT campaign.id FROM campaign WHERE campaign.name = '\\n'", "BAD_ESCAPE_SEQUENCE"),
        ("SELECT campaign.id FROM campaign WHERE campaign.id IN ()", "PROHIBITED_EMPTY_LIST_IN_CONDITION"),
        ("SELECT campaign.id FROM campaign WHERE campaign.id = 1 OR campaign.id = 2", "UNEXPECTED_INPUT"),
        ("SELECT campaign.id FROM campaign WHERE", "UNEXPECTED_END_OF_QUERY"),
        ("SELECT campaign.id FROM campaign LIMIT 0", "LIMIT_VALUE_TOO_LOW"),
        ("SELECT campaign.id FROM campaign ORDER campaign.id", "EXPECTED_BY"),
        ("SELECT ad_group_ad.ad.id FROM ad_group_ad WHERE ad_group_ad.ad.final_urls = 'x'",
         "PROHIBITED_FIELD_IN_WHERE_CLAUSE"),
        ("SELECT segments.date, metrics.clicks FROM customer", "EXPECTED_FILTERS_ON_DATE_RANGE"),
        ("SELECT segments.date FROM customer WHERE segments.date >= '2027-01-01'", "EXPECTED_FILTERS_ON_DATE_RANGE"),
        ("SELECT segments.date FROM customer WHERE segments.date BETWEEN '2027-1-1' AND '2027-01-02'",
         "INVALID_DATE_FORMAT"),
        ("SELECT metrics.clicks FROM customer WHERE segments.date BETWEEN '2027-02-30' AND '2027-03-02'",
         "INVALID_DATE_FORMAT"),
        ("SELECT metrics.clicks FROM customer WHERE segments.date BETWEEN '2027-01-02' AND '2027-01-01'",
         "INVALID_VALUE_WITH_BETWEEN_OPERATOR"),
    ],
)  # fmt: skip
async def test_queries_are_refused(web: httpx.AsyncClient, query: str, code: str) -> None:
    answer = await search(web, query)
    assert (answer.status_code, read_refusal(answer)["code"]) == (400, f"queryError.{code}")


async def test_search_takes_no_page_size_and_no_foreign_token(web: httpx.AsyncClient) -> None:
    query = "SELECT campaign.id FROM campaign"
    assert read_refusal(await search(web, query, pageSize=100))["code"] == "requestError.PAGE_SIZE_NOT_SUPPORTED"
    assert read_refusal(await search(web, query, pageToken="x"))["code"] == "requestError.INVALID_PAGE_TOKEN"
    assert read_refusal(await search(web, ""))["code"] == "requestError.REQUIRED_FIELD_MISSING"
    assert read_refusal(await search(web, query, page_token="x"))["code"] == "fieldError.INVALID_VALUE"


async def test_pages(clock: Clock) -> None:
    async with open_client(clock, make_network(page_size=2)) as web:
        query, token, pages = "SELECT language_constant.id FROM language_constant LIMIT 5", "", []
        while True:
            more = {"pageToken": token} if token else {}
            answer = (await search(web, query, **more, searchSettings={"returnTotalResultsCount": True})).json()
            pages.append([row["languageConstant"]["id"] for row in answer["results"]])
            assert answer["totalResultsCount"] == "5"
            token = answer.get("nextPageToken", "")
            if not token:
                break
            other = query.replace("5", "6")
            assert read_refusal(await search(web, other, pageToken=token))["code"] == "requestError.INVALID_PAGE_TOKEN"
        assert pages == [["1000", "1001"], ["1002", "1003"], ["1004"]]


# Insights and catalogs --------------------------------------------------------------------------------------------
INSIGHTS = """SELECT segments.date, customer.currency_code, customer.time_zone, metrics.impressions, metrics.clicks,
 metrics.cost_micros,
 metrics.conversions, metrics.conversions_value, metrics.video_trueview_views
FROM customer WHERE segments.date BETWEEN '2027-01-01' AND '2027-01-31' ORDER BY segments.date"""


@pytest.mark.parametrize("customer", [US, JAPAN, DIRECT])
async def test_every_account_has_a_row_for_every_day(web: httpx.AsyncClient, customer: str) -> None:
    web.headers["login-customer-id"] = DIRECT if customer == DIRECT else MANAGER
    first = await search_rows(web, INSIGHTS, customer)
    assert [row["segments"]["date"] for row in first] == [f"2027-01-{day:02}" for day in range(1, 32)]
    assert first == await search_rows(web, INSIGHTS, customer)
    unit = 1_000_000 if customer == JAPAN else 10_000
    for row in first:
        metrics = row["metrics"]
        assert int(metrics["impressions"]) > int(metrics["clicks"]) > 0
        assert int(metrics["costMicros"]) % unit == 0
        assert isinstance(metrics.get("conversions", 1.5), float | int)
        assert "videoTrueviewViews" not in metrics
    assert any("conversions" not in row["metrics"] for row in first)  # a zero is left out
    undated = INSIGHTS.replace("segments.date, customer", "customer").replace("ORDER BY segments.date", "")
    total = await search_rows(web, undated, customer)
    assert len(total) == 1
    assert int(total[0]["metrics"]["clicks"]) == sum(int(row["metrics"]["clicks"]) for row in first)


async def test_rows_end_today_and_begin_37_months_ago(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2027, 2, 11, 3, tzinfo=UTC)
    await log_in(web)
    query = """SELECT segments.date, metrics.clicks FROM customer
        WHERE segments.date BETWEEN '2024-01-11' AND '2027-12-31' ORDER BY segments.date"""
    for customer, last in ((US, "2027-02-10"), (JAPAN, "2027-02-11")):
        days = [row["segments"]["date"] for row in await search_rows(web, query, customer)]
        assert (days[0], days[-1]) == ("2024-01-11", last)
    for source in LEVELS:
        older = query.replace("customer", source).replace("2024-01-11", "2024-01-09")
        code = "dateRangeError.REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED"
        assert read_refusal(await search(web, older))["code"] == code


LEVELS = {
    "campaign": "campaign.id, campaign.name",
    "ad_group": "ad_group.id, ad_group.name, campaign.id",
    "ad_group_ad": "ad_group_ad.ad.id, ad_group_ad.ad.name, ad_group_ad.ad.responsive_search_ad.headlines, ad_group.id",
}
DAILY = """SELECT {fields}, segments.date, customer.currency_code, metrics.impressions, metrics.clicks,
 metrics.cost_micros, metrics.conversions, metrics.conversions_value, metrics.video_trueview_views FROM {source}
 WHERE segments.date BETWEEN '2027-02-01' AND '2027-02-07'{more} ORDER BY segments.date"""


async def create_trees(web: httpx.AsyncClient) -> list[list[str]]:
    """Three campaigns with a group and an ad each, the last one removed."""
    trees = [
        read_resource_names(await send(web, change_example(CAMPAIGN, name=f"Tree {number}"))) for number in range(3)
    ]
    removed = {"campaignOperation": {"remove": trees[2][CAMPAIGN]}}
    assert (await mutate(web, removed)).status_code == 200
    return trees


def add_up(rows: list[dict[str, Any]]) -> dict[str, Counter[str]]:
    sums: dict[str, Counter[str]] = {}
    for row in rows:
        sums.setdefault(row["segments"]["date"], Counter()).update(
            {name: Decimal(str(value)) for name, value in row["metrics"].items()}
        )
    return sums


@pytest.mark.parametrize("source", LEVELS)
async def test_each_level_adds_up_to_the_customer(web: httpx.AsyncClient, source: str) -> None:
    trees = await create_trees(web)
    whole = await search_rows(web, DAILY.format(fields="customer.id", source="customer", more=""))
    assert not await search_rows(
        web, DAILY.format(fields="ad_group.id", source="ad_group", more=" AND campaign.id = 1")
    )
    query = DAILY.format(fields=LEVELS[source], source=source, more="")
    rows = await search_rows(web, query)
    assert len(whole) == 7
    assert add_up(rows) == add_up(whole)
    assert all(int(row["metrics"].get("costMicros", 0)) % 10_000 == 0 for row in rows)  # the billable unit
    position = {"campaign": CAMPAIGN, "ad_group": GROUP, "ad_group_ad": AD}[source]
    numbers = [name.rpartition("/")[2].rpartition("~")[2] for name in (tree[position] for tree in trees)]
    name = messages.to_camel_case(source)
    ids = {row[name].get("ad", row[name])["id"] for row in rows}
    assert ids == {*numbers}
    assert len(rows) < 7 * len(numbers)  # an entity without delivery has no row
    number, condition = numbers[1], f" AND {LEVELS[source].partition(',')[0]} IN ({numbers[1]}, 1)"
    source_rows = await search_rows(web, DAILY.format(fields=LEVELS[source], source=source, more=condition))
    assert source_rows == [row for row in rows if row[name].get("ad", row[name])["id"] == number]
    if source == "ad_group_ad":
        exact = f" AND ad_group_ad.resource_name IN ('{trees[1][AD]}')"
        assert await search_rows(web, DAILY.format(fields=LEVELS[source], source=source, more=exact)) == source_rows
    parent = {"ad_group": ("campaign", CAMPAIGN), "ad_group_ad": ("adGroup", GROUP)}.get(source)
    if parent:
        assert {row[parent[0]]["id"] for row in source_rows} == {trees[1][parent[1]].rpartition("/")[2]}
    (total,) = await search_rows(web, query.replace("segments.date,", "").replace("ORDER BY segments.date", "LIMIT 1"))
    first = [row for row in rows if row[name] == total[name]]
    assert int(total["metrics"]["clicks"]) == sum(int(row["metrics"]["clicks"]) for row in first)


async def test_a_row_needs_a_metric_that_is_not_zero(web: httpx.AsyncClient) -> None:
    await create_trees(web)
    for source in LEVELS:
        between = "segments.date BETWEEN '2027-02-01' AND '2027-02-07'"
        query = f"SELECT segments.date, metrics.video_trueview_views FROM {source} WHERE {between}"
        assert not await search_rows(web, query)
        assert {
            len(row["segments"]) for row in await search_rows(web, query.replace("video_trueview_views", "clicks"))
        } == {1}


async def test_without_ads_the_campaigns_have_the_metrics(web: httpx.AsyncClient) -> None:
    web.headers["login-customer-id"] = DIRECT
    whole = await search_rows(web, DAILY.format(fields="customer.id", source="customer", more=""), DIRECT)
    rows = await search_rows(web, DAILY.format(fields="campaign.name", source="campaign", more=""), DIRECT)
    assert add_up(rows) == add_up(whole)
    assert {row["campaign"]["name"] for row in rows} == {"Undeclared campaign"}
    assert not await search_rows(web, DAILY.format(fields="ad_group.id", source="ad_group", more=""), DIRECT)


async def test_catalogs(web: httpx.AsyncClient) -> None:
    async def list_catalog(resource: str, fields: str, where: str = "", customer: str = US) -> list[dict[str, Any]]:
        selected = ", ".join(f"{resource}.{field}" for field in fields.split())
        rows = await search_rows(web, f"SELECT {selected} FROM {resource}{where}", customer)
        return [next(iter(row.values())) for row in rows]

    languages = await list_catalog("language_constant", "id code name", " WHERE language_constant.targetable = TRUE")
    assert {"id": "1013", "code": "no", "name": "Norwegian"} in languages
    assert "1999" not in {language["id"] for language in languages}
    enabled = " WHERE conversion_action.status = 'ENABLED'"
    actions = await list_catalog("conversion_action", "id name category type", enabled)
    assert [action["category"] for action in actions] == ["PURCHASE", "SIGNUP", "PHONE_CALL_LEAD"]
    lists = await list_catalog("user_list", "id name size_for_search membership_status")
    assert lists[0] == {"id": "8001", "name": "All visitors", "sizeForSearch": "12500", "membershipStatus": "OPEN"}
    assert "sizeForSearch" not in lists[2]
    currencies = await list_catalog("currency_constant", "code name billable_unit_micros")
    assert {"code": "JPY", "name": "Japanese Yen", "billableUnitMicros": "1000000"} in currencies
    resource_names = ", ".join(f"'geoTargetConstants/{place_id}'" for place_id in (2578, 1234567, 2999))
    within = f" WHERE geo_target_constant.resource_name IN ({resource_names})"
    assert await list_catalog("geo_target_constant", "resource_name status", within) == [
        {"resourceName": f"geoTargetConstants/{place_id}", "status": "ENABLED"} for place_id in (2578, 1234567)
    ]
    web.headers["login-customer-id"] = DIRECT
    explicit = " WHERE campaign_budget.explicitly_shared = TRUE"
    (shared,) = await list_catalog("campaign_budget", "id name", explicit, DIRECT)
    assert shared["name"] == "Shared spring budget"


async def test_suggestions(web: httpx.AsyncClient) -> None:
    async def suggest_places(body: Any) -> httpx.Response:
        return await web.post(f"{ADS}/geoTargetConstants:suggest", json=body)

    answer = (await suggest_places({"locale": "en", "locationNames": {"names": ["Bergen"]}})).json()
    assert [
        suggestion["geoTargetConstant"]["canonicalName"] for suggestion in answer["geoTargetConstantSuggestions"]
    ] == ["Bergen,Vestland,Norway", "Bergen,New York,United States"]
    assert answer["geoTargetConstantSuggestions"][0]["geoTargetConstant"] == {
        "resourceName": "geoTargetConstants/1010826", "id": "1010826", "name": "Bergen", "countryCode": "NO",
        "targetType": "City", "status": "ENABLED", "canonicalName": "Bergen,Vestland,Norway"}  # fmt: skip
    only = (await suggest_places({"locale": "en", "countryCode": "US", "locationNames": {"names": ["bergen"]}})).json()
    assert len(only["geoTargetConstantSuggestions"]) == 1
    assert (await suggest_places({"locale": "en", "locationNames": {"names": ["Nowhere at all"]}})).json() == {}
    by_name = (await suggest_places({"geoTargets": {"geoTargetConstants": ["geoTargetConstants/2276"]}})).json()
    germany = by_name["geoTargetConstantSuggestions"][0]["geoTargetConstant"]
    assert (germany["name"], germany["requireEuPoliticalAdvertisingDeclaration"]) == ("Germany", True)
    for body, code in (
        ({"locale": "en"}, "REQUEST_PARAMETERS_UNSET"),
        ({"locationNames": {"names": ["x"] * 26}}, "LOCATION_NAME_LIMIT"),
        ({"locationNames": {"names": ["x"]}, "countryCode": "XX"}, "INVALID_COUNTRY_CODE"),
    ):
        assert read_refusal(await suggest_places(body))["code"] == f"geoTargetConstantSuggestionError.{code}"
    assert await list_writes(web) == []
