"""The simulated LinkedIn API: Rest.li queries, cursors, figures and catalogs."""

from collections import Counter
from decimal import Decimal
from typing import Any
from urllib.parse import quote

import httpx
import pytest

from tests.sandbox.calls import make_body
from tests.sandbox.linkedin_calls import (
    CREATIVE,
    EVERY,
    FINDER,
    GROUP,
    REST,
    TOKYO,
    US_ACCOUNT,
    Clock,
    activate_example,
    build_url,
    create_example,
    open_client,
    post,
    read,
    read_created_id,
    read_refusal,
)

ACCOUNTS = "accounts=List(urn%3Ali%3AsponsoredAccount%3A518121035)"
FIELDS = (
    "fields=dateRange,pivotValues,impressions,clicks,costInLocalCurrency,externalWebsiteConversions,"
    "conversionValueInLocalCurrency,videoViews,approximateMemberReach"
)
OCTOBER = "dateRange=(start:(year:2026,month:10,day:1),end:(year:2026,month:10,day:31))"
DAILY = f"adAnalytics?q=analytics&pivot=ACCOUNT&timeGranularity=DAILY&{OCTOBER}&{ACCOUNTS}&{FIELDS}"
CRITERIA = "(include:(and:List((or:(urn%3Ali%3AadTargetingFacet%3Alocations:List(urn%3Ali%3Ageo%3A103644278))))))"


# Queries


NO_REST_LI = [
    "q=search&search=(status:(values:List%28ACTIVE%29))",
    "q=search&search=%28status%3A%28values%3AList%28ACTIVE%29%29%29",
    "q=search&search=(campaignGroup:(values:List(urn:li:sponsoredCampaignGroup:7021)))",
    "q=search&search=(campaignGroup:(values:List(urn%253Ali%253AsponsoredCampaignGroup%253A7021)))",
    "q=search&search=(campaignGroup:(values:List(7021)))",
    "q=search&search=(status:(values:List(ACTIVE)))&pageSize=1001",
    "q=search&search=(status:(values:List(ACTIVE))",
    "q=search&search=(status:(values:List(ACTIVE))))",
    "q=search&search=(status:List(ACTIVE))",
    "q=search&search=(status:(values:ACTIVE))",
    "q=search&search=(status:(values:List(ENABLED)))",
    "q=search&search=(name:(values:List(Autumn+webinar)))",
    "q=search&search=(status:(values:List(ACTIVE)),status:(values:List(PAUSED)))",
    "q=search&q=search",
    "q=search&start=0&count=10",
    "q=search&pageToken=MQ",
    "search=(status:(values:List(ACTIVE)))",
]


async def test_queries_that_are_no_rest_li(web: httpx.AsyncClient) -> None:
    await create_example(web)
    for query in NO_REST_LI:
        assert (await web.get(build_url(f"adCampaigns?{query}"))).status_code == 400, query
    parent = "campaignGroup:(values:List(urn%3Ali%3AsponsoredCampaignGroup%3A7021))"
    valid = f"q=search&search=({parent},status:(values:List(PAUSED)))"
    assert len((await read(web, f"adAccounts/{US_ACCOUNT}/adCampaigns?{valid}"))["elements"]) == 1


async def test_a_long_query_is_tunnelled(web: httpx.AsyncClient) -> None:
    await create_example(web)
    urns = ",".join(quote(f"urn:li:sponsoredCampaign:{number}", safe="") for number in range(7000, 7120))
    query = f"q=criteria&campaigns=List({urns})&pageSize=100"
    too_long = await web.get(build_url(f"creatives?{query}"), headers=FINDER)
    read_refusal(too_long, 414, "URI_TOO_LONG")
    form = {"Content-Type": "application/x-www-form-urlencoded", "X-HTTP-Method-Override": "GET", **FINDER}
    answer = await web.post(build_url("creatives"), content=query, headers=form)
    assert [row["id"] for row in answer.json()["elements"]] == ["urn:li:sponsoredCreative:7023"]
    as_json = {**form, "Content-Type": "application/json"}
    assert (await web.post(build_url("creatives"), content=query, headers=as_json)).status_code == 415
    assert (await web.post(f"{REST}/adTargetingFacets", content="{}")).status_code == 405


# Lists


async def test_pages_follow_a_cursor(web: httpx.AsyncClient) -> None:
    group_ids = [
        read_created_id(await post(web, "adCampaignGroups", make_body(GROUP, name=f"Group {number}")))
        for number in range(5)
    ]
    path = f"adAccounts/{US_ACCOUNT}/adCampaignGroups?q=search&{EVERY}&sortOrder=ASCENDING&pageSize=2"
    listed_ids: list[str] = []
    token: str | None = ""
    while token is not None:
        page = await read(web, path + (f"&pageToken={quote(token, safe='')}" if token else ""))
        listed_ids += [str(row["id"]) for row in page["elements"]]
        token = page.get("metadata", {}).get("nextPageToken")
    assert listed_ids == [*group_ids, "60518121035"]
    groups = await read(
        web, f"adAccounts/{US_ACCOUNT}/adCampaignGroups?q=search&search=(name:(values:List(Group%203)))"
    )
    assert [row["name"] for row in groups["elements"]] == ["Group 3"]
    read_refusal(await web.get(build_url("adCampaignGroups?q=search&pageSize=10")), 400, "MISSING_FIELD")


async def test_creatives_have_a_finder_of_their_own(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    await post(web, "creatives", make_body(CREATIVE, intendedStatus="ACTIVE"))
    read_refusal(await web.get(build_url("creatives?q=search"), headers=FINDER), 404, "NOT_FOUND")
    assert (await web.get(build_url("creatives?q=criteria"))).status_code == 400
    assert (await web.get(build_url("creatives?q=criteria&pageSize=101"), headers=FINDER)).status_code == 400
    base = f"adAccounts/{US_ACCOUNT}/creatives?q=criteria"

    async def list_ids(query: str) -> list[str]:
        return [row["id"].rpartition(":")[2] for row in (await read(web, base + query, **FINDER))["elements"]]

    assert await list_ids("") == ["7023", "7024"]
    assert await list_ids("&campaigns=List(urn%3Ali%3AsponsoredCampaign%3A7022)&intendedStatuses=List(ACTIVE)") == [
        "7024"
    ]
    assert await list_ids("&campaigns=List(urn%3Ali%3AsponsoredCampaign%3A5)") == []
    assert await list_ids(f"&creatives=List({quote(example['creative'].partition('/')[2], safe='')})") == ["7023"]
    assert await list_ids("&contentReferences=List(urn%3Ali%3Ashare%3A1)") == []


# Figures


async def test_every_day_has_figures(web: httpx.AsyncClient) -> None:
    rows = (await read(web, DAILY))["elements"]
    assert [row["dateRange"]["start"]["day"] for row in rows] == [*range(1, 32)]
    assert rows == (await read(web, DAILY))["elements"]
    for row in rows:
        assert row["pivotValues"] == ["urn:li:sponsoredAccount:518121035"]
        assert row["dateRange"]["start"] == row["dateRange"]["end"]
        assert row["clicks"] <= row["impressions"]
        assert isinstance(row["costInLocalCurrency"], str)
        assert Decimal(row["costInLocalCurrency"]) > 0
    noisy = [row for row in rows if len(row["costInLocalCurrency"].partition(".")[2]) == 18]
    silent = [row for row in rows if "conversionValueInLocalCurrency" not in row]
    assert 0 < len(noisy) <= 31
    assert 0 < len(silent) < 31
    plain = (await read(web, DAILY.replace(f"&{FIELDS}", "")))["elements"]
    assert {*plain[0]} == {"impressions", "clicks"}


async def test_yen_are_larger_and_nobody_elses_figures_are_seen(web: httpx.AsyncClient) -> None:
    yen = (await read(web, DAILY.replace(US_ACCOUNT, TOKYO)))["elements"]
    assert Decimal(yen[0]["costInLocalCurrency"]) > 1000
    assert (await read(web, DAILY.replace(US_ACCOUNT, "9")))["elements"] == []


async def test_days_are_kept_for_half_a_year(web: httpx.AsyncClient) -> None:
    year = DAILY.replace("year:2026,month:10,day:1)", "year:2026,month:1,day:1)").replace(",approximateMemberReach", "")
    rows = (await read(web, year))["elements"]
    assert rows[0]["dateRange"]["start"] == {"year": 2026, "month": 5, "day": 1}
    months = (await read(web, year.replace("DAILY", "MONTHLY")))["elements"]
    assert [row["dateRange"]["start"]["month"] for row in months] == [*range(1, 11)]
    october = sum(row["impressions"] for row in rows if row["dateRange"]["start"]["month"] == 10)
    assert months[-1]["impressions"] == october
    assert len((await read(web, year.replace("DAILY", "ALL")))["elements"]) == 1


async def test_the_future_has_no_figures(web: httpx.AsyncClient) -> None:
    november = DAILY.replace("month:10", "month:11").replace("day:31", "day:30")
    assert (await read(web, november))["elements"] == []


LEVELS = {  # pivot: filter, its prefix, pivot of the parent, where the example is
    "CAMPAIGN_GROUP": ("campaignGroups", "urn:li:sponsoredCampaignGroup:", "ACCOUNT", "group"),
    "CAMPAIGN": ("campaigns", "urn:li:sponsoredCampaign:", "CAMPAIGN_GROUP", "campaign"),
    "CREATIVE": ("creatives", "urn:li:sponsoredCreative:", "CAMPAIGN", "creative"),
}
WEEK = "dateRange=(start:(year:2026,month:10,day:25),end:(year:2026,month:10,day:31))"


def add_up(rows: list[dict[str, Any]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for row in rows:
        for name, value in row.items():
            if name not in ("dateRange", "pivotValues", "approximateMemberReach"):
                sums[f"{row['dateRange']['start']['day']} {name}"] += Decimal(value).quantize(Decimal("0.000001"))
    return sums


def replace_pivots(row: dict[str, Any], urns: list[str]) -> dict[str, Any]:
    """A row with other URNs, without the reach, which depends on the pivots."""
    return {name: value for name, value in row.items() if name != "approximateMemberReach"} | {"pivotValues": urns}


def encode_list(*urns: str) -> str:
    return f"List({','.join(quote(urn, safe='') for urn in urns)})"


@pytest.mark.parametrize("pivot", LEVELS)
async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, pivot: str) -> None:
    name, prefix, parent, kind = LEVELS[pivot]
    daily = DAILY.replace(OCTOBER, WEEK)
    level = daily.replace("ACCOUNT&", f"{pivot}&")
    before = (await read(web, daily))["elements"]
    default = [row["pivotValues"] for row in (await read(web, level))["elements"]]
    assert {urn for values in default for urn in values} == (
        {f"{prefix}60{US_ACCOUNT}"} if pivot == "CAMPAIGN_GROUP" else set()
    )
    trees = [await create_example(web, name=f"Tree {number}") for number in range(3)]
    assert (await read(web, daily))["elements"] == before
    await activate_example(web, trees[0])
    account = (await read(web, daily))["elements"]
    rows = (await read(web, level))["elements"]
    assert add_up(rows) == add_up(account)
    urns = [prefix + tree[kind].partition("/")[2].rpartition(":")[2] for tree in trees]
    assert {row["pivotValues"][0] for row in rows} == {*urns}
    assert len(rows) < 7 * len(urns)  # an entity without delivery has no element
    assert all(row["approximateMemberReach"] <= row["impressions"] for row in rows)
    two = level.replace(ACCOUNTS, f"{ACCOUNTS}&{name}={encode_list(*urns[:2], prefix + '5')}")
    assert (await read(web, two))["elements"] == [row for row in rows if row["pivotValues"][0] in urns[:2]]
    assert (await read(web, two.replace(US_ACCOUNT, TOKYO)))["elements"] == []
    both = level.replace("q=analytics", "q=statistics").replace(f"pivot={pivot}", f"pivots=List({pivot},{parent})")
    pairs = (await read(web, both))["elements"]
    assert [replace_pivots(row, row["pivotValues"][:1]) for row in pairs] == [
        replace_pivots(row, row["pivotValues"]) for row in rows
    ]
    parent_pivots = {"ACCOUNT": f"urn:li:sponsoredAccount:{US_ACCOUNT}"}
    for tree in trees:
        parent_pivots |= {of: start + tree[what].partition("/")[2] for of, (_, start, _, what) in LEVELS.items()}
        urn = parent_pivots[pivot] if pivot != "CREATIVE" else tree["creative"].partition("/")[2]
        assert {row["pivotValues"][1] for row in pairs if row["pivotValues"][0] == urn} <= {parent_pivots[parent]}


async def test_a_draft_that_is_deleted_leaves_its_figures_to_the_others(web: httpx.AsyncClient) -> None:
    trees = [await create_example(web, name=f"Tree {number}") for number in range(2)]
    account = (await read(web, DAILY))["elements"]
    creative = trees[0]["creative"].partition("/")[2]
    assert (await web.delete(build_url(f"creatives/{quote(creative, safe='')}"))).status_code == 204
    for pivot in LEVELS:
        assert add_up((await read(web, DAILY.replace("ACCOUNT&", f"{pivot}&")))["elements"]) == add_up(account)


ANALYTICS_REFUSED = [
    ("month:10,day:1)", "month:10,day:01)"),
    ("day:31", "day:32"),
    ("start:(year:2026,month:10", "start:(year:2027,month:10"),
    ("start:(year:2026,month:10", "start:(year:2026,month:7"),  # 123 days with reach
    ("pivot=ACCOUNT&", ""),
    ("pivot=ACCOUNT&", "pivot=ACCOUNTS&"),
    ("q=analytics&pivot=ACCOUNT&", "q=statistics&pivot=ACCOUNT&"),
    ("q=analytics&pivot=ACCOUNT&", "q=analytics&pivots=List(ACCOUNT)&"),
    ("q=analytics&pivot=ACCOUNT&", "q=statistics&pivots=List(CAMPAIGN,MEMBER_COUNTRY_V2)&"),
    ("q=analytics&pivot=ACCOUNT&", "q=statistics&pivots=List(CAMPAIGN,CAMPAIGN)&"),
    ("q=analytics&pivot=ACCOUNT&", "q=statistics&pivots=List(CREATIVE,CAMPAIGN,CAMPAIGN_GROUP,ACCOUNT)&"),
    (f"&{ACCOUNTS}", ""),
    (ACCOUNTS, "accounts=List(518121035)"),
    (ACCOUNTS, "accounts[0]=urn:li:sponsoredAccount:518121035"),
    (ACCOUNTS, "accounts=List(urn:li:sponsoredAccount:518121035)"),
    ("fields=dateRange,pivotValues", "fields=dateRange%2CpivotValues"),
    ("fields=dateRange", "fields=List(dateRange)"),
    ("fields=dateRange", "fields=spend"),
    ("fields=dateRange", "fields=" + "dateRange," * 20),
]


async def test_analytics_that_are_refused(web: httpx.AsyncClient) -> None:
    for old, new in ANALYTICS_REFUSED:
        assert old in DAILY
        assert (await web.get(f"{REST}/{DAILY.replace(old, new)}")).status_code == 400, new


# Catalogs


async def test_targeting_catalogs(web: httpx.AsyncClient) -> None:
    facets = (await read(web, "adTargetingFacets"))["elements"]
    seniorities = next(row for row in facets if row["facetName"] == "seniorities")
    assert seniorities["adTargetingFacetUrn"] == "urn:li:adTargetingFacet:seniorities"
    assert "AD_TARGETING_FACET" in seniorities["availableEntityFinders"]
    base = "adTargetingEntities?queryVersion=QUERY_USES_URNS&facet=urn%3Ali%3AadTargetingFacet%3A"
    page = await read(web, f"{base}seniorities&q=adTargetingFacet&locale=(language:en,country:US)&start=0&count=4")
    assert page["elements"][3] == {
        "urn": "urn:li:seniority:4", "name": "Senior", "facetUrn": "urn:li:adTargetingFacet:seniorities",
    }  # fmt: skip
    assert (len(page["elements"]), page["paging"]["total"]) == (4, 10)
    typed = await read(web, f"{base}locations&q=typeahead&query=paris")
    assert [row["urn"] for row in typed["elements"]] == ["urn:li:geo:106383538"]
    for wrong in ("locations&q=adTargetingFacet", "locations&q=typeahead", "cities&q=typeahead&query=paris"):
        assert (await web.get(f"{REST}/{base}{wrong}")).status_code == 400


async def test_audiences_and_prices(web: httpx.AsyncClient) -> None:
    counts = await read(web, f"audienceCounts?q=targetingCriteriaV2&targetingCriteria={CRITERIA}")
    assert counts["elements"] == [{"active": 0, "total": 25312600}]
    parameters = "&campaignType=SPONSORED_UPDATES&bidType=CPC&matchType=EXACT&objectiveType=WEBSITE_VISIT"
    parameters += f"&targetingCriteria={CRITERIA}"
    for account, least in ((US_ACCOUNT, "10.00"), (TOKYO, "1500")):
        urn = f"urn%3Ali%3AsponsoredAccount%3A{account}"
        (row,) = (await read(web, f"adBudgetPricing?q=criteriaV2&account={urn}{parameters}"))["elements"]
        assert row["dailyBudgetLimits"]["min"]["amount"] == least


async def test_posts(web: httpx.AsyncClient) -> None:
    post = await read(web, "posts/urn%3Ali%3Ashare%3A6850000000000000001")
    assert (post["author"], post["lifecycleState"]) == ("urn:li:organization:7700123", "PUBLISHED")
    film = await read(web, "posts/urn%3Ali%3AugcPost%3A6850000000000000002")
    video = film["content"]["media"]["id"]
    assert (await read(web, f"videos/{quote(video, safe='')}"))["status"] == "AVAILABLE"
    assert (await read(web, "videos/urn%3Ali%3Avideo%3APROCESSING1"))["status"] == "PROCESSING"
    assert "carousel" in (await read(web, "posts/urn%3Ali%3Ashare%3A6850000000000000003"))["content"]
    for gone in ("urn%3Ali%3Ashare%3Amissing", "urn%3Ali%3Aperson%3A1"):
        read_refusal(await web.get(f"{REST}/posts/{gone}"), 404, "NOT_FOUND")
    author = "posts?q=author&author=urn%3Ali%3Aorganization%3A7700123&count=2&start=0&sortBy=LAST_MODIFIED"
    assert len((await read(web, author, **FINDER))["elements"]) == 2
    assert (await web.get(f"{REST}/{author}")).status_code == 400
    direct = "posts?q=dscAdAccount&dscAdAccount=urn%3Ali%3AsponsoredAccount%3A518121035&dscAdTypes=List(VIDEO)"
    (row,) = (await read(web, direct, **FINDER))["elements"]
    assert row["adContext"]["dscName"] == "Webinar, film"


async def test_conversions_and_pages() -> None:
    async with open_client(Clock(), scope="rw_ads r_organization_admin") as web:
        urn = "urn%3Ali%3AsponsoredAccount%3A518121035"
        rows = (await read(web, f"conversions?q=account&account={urn}"))["elements"]
        assert [row["name"] for row in rows] == ["Sign-up", "Download"]
        (page,) = (await read(web, "organizationAcls?q=roleAssignee&state=APPROVED"))["elements"]
        assert page["organization"] == "urn:li:organization:7700123"
