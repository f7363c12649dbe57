"""The simulated Meta Marketing API over real HTTP: insights, report runs, catalogs and searches."""

import hashlib
import re
from collections import Counter
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

import httpx
import pytest

from tests.sandbox.calls import NOTHING, list_writes
from tests.sandbox.meta_calls import (
    AD,
    ADSET,
    CAMPAIGN,
    CREATIVE,
    GRAPH,
    Clock,
    create_entity,
    create_example,
    encode_form,
    get_token,
    inject_fault,
    post,
    read,
    read_refusal,
)

# Insights

INSIGHTS: dict[str, Any] = {
    "level": "account",
    "time_increment": "1",
    "time_range": {"since": "2027-01-01", "until": "2027-01-31"},
    "fields": "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values",
    "limit": "500",
}


async def test_daily_rows(web: httpx.AsyncClient) -> None:
    answer = await read(web, "act_1001/insights", **INSIGHTS)
    rows = {row["date_start"]: row for row in answer["data"]}
    # up to today, which is the 20th in New York; the 13th is a day without delivery, but not within a week
    assert list(rows) == [f"2027-01-{day:02}" for day in range(1, 21)]
    earlier = await read(
        web, "act_1001/insights", **{**INSIGHTS, "time_range": {"since": "2026-12-12", "until": "2026-12-14"}}
    )
    assert [row["date_start"] for row in earlier["data"]] == ["2026-12-12", "2026-12-14"]
    assert "next" not in answer["paging"]
    for day, row in rows.items():
        assert row["date_stop"] == day
        assert row["account_currency"] == "USD"
        assert re.fullmatch(r"[0-9]+\.[0-9]{2}", row["spend"])
        assert 0 < int(row["clicks"]) <= int(row["reach"]) <= int(row["impressions"])
        assert "inline_link_clicks" not in row
        weekday = datetime.fromisoformat(day).weekday()
        kinds = [action["action_type"] for action in row.get("actions", [])]
        assert ("actions" in row, "action_values" in row) == (weekday != 6, weekday < 5)
        assert ("omni_purchase" in kinds, "video_view" in kinds) == (weekday < 5, weekday != 6)
        for action in row.get("action_values", []):
            assert re.fullmatch(r"[0-9]+\.[0-9]{2}", action["value"])
    assert answer == await read(web, "act_1001/insights", **INSIGHTS)  # the same again
    other = await read(web, "act_7007/insights", **INSIGHTS)
    assert [row["spend"] for row in other["data"]] != [row["spend"] for row in answer["data"]]


async def test_days_are_those_of_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2027, 1, 20, 20, 0, tzinfo=UTC)
    web.headers["Authorization"] = f"Bearer {(await get_token(web))['access_token']}"
    for account, zone in (("act_1001", "America/New_York"), ("act_2002", "Asia/Tokyo")):
        rows = (await read(web, f"{account}/insights", **INSIGHTS))["data"]
        assert rows[-1]["date_start"] == clock.instant.astimezone(ZoneInfo(zone)).date().isoformat()


async def test_insights_are_paged_and_added_up(web: httpx.AsyncClient) -> None:
    daily = (await read(web, "act_1001/insights", **INSIGHTS))["data"]
    first = await read(web, "act_1001/insights", **{**INSIGHTS, "limit": "15"})
    after = first["paging"]["cursors"]["after"]
    second = await read(web, "act_1001/insights", **{**INSIGHTS, "limit": "15"}, after=after)
    assert first["data"] + second["data"] == daily
    whole = (await read(web, "act_1001/insights", **{**INSIGHTS, "time_increment": "all_days"}))["data"]
    assert [(row["date_start"], row["date_stop"]) for row in whole] == [("2027-01-01", "2027-01-31")]
    assert Decimal(whole[0]["spend"]) == sum(Decimal(row["spend"]) for row in daily)
    assert int(whole[0]["impressions"]) == sum(int(row["impressions"]) for row in daily)
    assert (await read(web, "act_1001/insights"))["data"][0].keys() == {
        "date_start", "date_stop", "impressions", "spend",
    }  # fmt: skip


LEVELS = {"campaign": ("6101", "6105"), "adset": ("6102", "6106"), "ad": ("6104", "6108")}
PARENTS = {"campaign": "account_id", "adset": "campaign_id", "ad": "adset_id"}
STATUSES = {
    "campaign": ["ACTIVE", "ARCHIVED", "DELETED", "IN_PROCESS", "PAUSED", "WITH_ISSUES"],
    "adset": ["CAMPAIGN_PAUSED"],
    "ad": ["ADSET_PAUSED", "DISAPPROVED", "PENDING_BILLING_INFO", "PENDING_REVIEW", "PREAPPROVED"],
}
STATUSES["adset"] += STATUSES["campaign"]
STATUSES["ad"] += STATUSES["adset"]


def make_filters(level: str, *ids: str, statuses: list[str] | None = None) -> list[dict[str, Any]]:
    values_by_member = {"id": list(ids), "effective_status": STATUSES[level] if statuses is None else statuses}
    return [
        {"field": f"{level}.{name}", "operator": "IN", "value": value}
        for name, value in values_by_member.items()
        if value
    ]


async def read_report(web: httpx.AsyncClient, level: str, **more: Any) -> list[dict[str, Any]]:
    fields = f"{level}_id,{level}_name,{PARENTS[level]},{INSIGHTS['fields']}"
    week = {"since": "2027-01-11", "until": "2027-01-17"}
    parameters = {**INSIGHTS, "level": level, "fields": fields, "time_range": week, **more}
    rows: list[dict[str, Any]] = (await read(web, "act_7007/insights", **parameters))["data"]
    return rows


async def create_trees(web: httpx.AsyncClient) -> None:
    """The example twice; the second campaign is deleted."""
    await create_example(web)
    second = await create_entity(web, "act_7007/campaigns", CAMPAIGN)
    group = await create_entity(web, "act_7007/adsets", {**ADSET, "campaign_id": second})
    creative = await create_entity(web, "act_7007/adcreatives", {**CREATIVE, "name": "Second"})
    await create_entity(web, "act_7007/ads", {**AD, "adset_id": group, "creative": {"creative_id": creative}})
    assert (await post(web, second, {"status": "DELETED"})).status_code == 200


def add_up(rows: list[dict[str, Any]]) -> Counter[str]:
    sums: Counter[str] = Counter()
    for row in rows:
        values = {name: row[name] for name in ("impressions", "clicks", "spend")}
        for member in ("actions", "action_values"):
            values |= {f"{member}.{action['action_type']}": action["value"] for action in row.get(member, [])}
        sums.update({f"{row['date_start']} {name}": Decimal(value) for name, value in values.items()})
    return sums


@pytest.mark.parametrize("level", LEVELS)
async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, level: str) -> None:
    whole = {**INSIGHTS, "time_range": {"since": "2027-01-11", "until": "2027-01-17"}}
    account = (await read(web, "act_7007/insights", **whole))["data"]
    assert await read_report(web, level) == []
    await create_trees(web)
    assert (await read(web, "act_7007/insights", **whole))["data"] == account
    rows = await read_report(web, level, filtering=make_filters(level))
    assert add_up(rows) == add_up(account)
    assert {row[f"{level}_id"] for row in rows} == {*LEVELS[level]}
    parents = {"account_id": ("7007", "7007"), "campaign_id": LEVELS["campaign"], "adset_id": LEVELS["adset"]}
    assert {row[PARENTS[level]] for row in rows} == {*parents[PARENTS[level]]}
    assert {row[f"{level}_name"] for row in rows} == {"Tea spring"}
    assert all(int(row["reach"]) <= int(row["impressions"]) for row in rows)
    first = [row for row in rows if row[f"{level}_id"] == LEVELS[level][0]]
    assert await read_report(web, level) == first  # deleted entities only with their status
    assert await read_report(web, level, filtering=make_filters(level, LEVELS[level][0], "1")) == first
    second = await read_report(web, level, filtering=make_filters(level, LEVELS[level][1]))
    assert await read_report(web, level, filtering=make_filters(level, LEVELS[level][1], statuses=[])) == []
    assert add_up(first + second) == add_up(account)
    started = await post(
        web, "act_7007/insights", {**whole, "level": level, "fields": "clicks", "filtering": make_filters(level)}
    )
    run = started.json()["report_run_id"]
    for _ in range(4):
        await read(web, run, fields=POLL)
    page = await read(web, f"{run}/insights", limit=500)
    assert [row["clicks"] for row in page["data"]] == [row["clicks"] for row in rows]


async def test_an_entity_reports_what_is_below_it(web: httpx.AsyncClient) -> None:
    await create_trees(web)
    for node, level in (("6101", "ad"), ("6102", "ad"), ("6104", "ad"), ("6101", "campaign"), ("6108", "ad")):
        rows = (await read(web, f"{node}/insights", **{**INSIGHTS, "level": level, "fields": "ad_id"}))["data"]
        assert {row.get("ad_id") for row in rows} == {{"6108": "6108"}.get(node, "6104") if level == "ad" else None}
    read_refusal(
        await web.get(f"{GRAPH}/6102/insights", params=encode_form({**INSIGHTS, "level": "campaign"})), 100, "level"
    )


async def test_a_filter_is_of_a_level_that_the_rows_have(web: httpx.AsyncClient) -> None:
    for level, condition, subcode in (
        ("campaign", make_filters("ad"), None),
        ("account", make_filters("campaign", "1"), None),
        ("campaign", make_filters("campaign", statuses=["CAMPAIGN_PAUSED"]), 1487561),
        ("ad", [{"field": "ad.color", "operator": "IN", "value": ["1"]}], None),
        ("ad", [{"field": "ad.id", "operator": "IN", "value": "1"}], None),
    ):
        parameters = encode_form({**INSIGHTS, "level": level, "filtering": condition})
        read_refusal(await web.get(f"{GRAPH}/act_1001/insights", params=parameters), 100, "filtering", subcode)


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"fields": "impressions,cost"}, "fields"),
        ({"level": "adgroup"}, "level"),
        ({"time_increment": "0"}, "time_increment"),
        ({"time_increment": "monthly"}, "time_increment"),
        ({"time_range": {"since": "2027-01-01"}}, "time_range"),
        ({"time_range": {"since": "2027-01-02", "until": "2027-01-01"}}, "time_range"),
        ({"time_range": {"since": "2023-12-19", "until": "2024-01-01"}}, "time_range"),
        ({"time_range": "2027-01-01"}, "time_range"),
        ({"date_preset": "today"}, "time_range"),
        ({"breakdowns": ["age"]}, "breakdowns"),
        ({"pretty": "0"}, "pretty"),
    ],
)
async def test_insights_that_are_refused(web: httpx.AsyncClient, change: dict[str, Any], field: str) -> None:
    parameters = {**INSIGHTS, **change}
    read_refusal(await web.get(f"{GRAPH}/act_1001/insights", params=encode_form(parameters)), 100, field)
    read_refusal(await post(web, "act_1001/insights", parameters), 100, field)


YEARS = {**INSIGHTS, "time_range": {"since": "2023-12-20", "until": "2027-01-20"}}
POLL = "async_status,async_percent_completion,error_code,error_message,error_subcode"


async def test_a_report_run(web: httpx.AsyncClient, clock: Clock) -> None:
    read_refusal(await web.get(f"{GRAPH}/act_1001/insights", params=encode_form(YEARS)), 100, subcode=1487534)
    started = (await post(web, "act_1001/insights", YEARS)).json()
    assert list(started) == ["report_run_id"]
    run = started["report_run_id"]
    percentages: list[tuple[str, int]] = []
    for _ in range(5):
        early = await web.get(f"{GRAPH}/{run}/insights")
        assert early.status_code == (400 if len(percentages) < 4 else 200)
        state = await read(web, run, fields=POLL)
        assert set(state) == {"id", "async_status", "async_percent_completion"}
        percentages.append((state["async_status"], state["async_percent_completion"]))
    assert percentages == [
        ("Job Not Started", 0),
        ("Job Started", 0),
        ("Job Running", 100),
        ("Job Completed", 100),
        ("Job Completed", 100),
    ]
    rows: list[dict[str, Any]] = []
    after: dict[str, str] = {}
    while True:
        page = await read(web, f"{run}/insights", limit=500, **after)
        rows += page["data"]
        if "next" not in page["paging"]:
            break
        after = {"after": page["paging"]["cursors"]["after"]}
    assert (rows[0]["date_start"], rows[-1]["date_start"]) == ("2023-12-20", "2027-01-20")
    assert len(rows) > 1000
    assert rows[-20:] == (await read(web, "act_1001/insights", **INSIGHTS))["data"]
    assert await list_writes(web) == []
    clock.instant += timedelta(days=31)
    web.headers["Authorization"] = f"Bearer {(await get_token(web))['access_token']}"
    read_refusal(await web.get(f"{GRAPH}/{run}", params={"fields": POLL}), 100, subcode=33)


async def test_a_report_run_that_fails(web: httpx.AsyncClient) -> None:
    await inject_fault(web, "error_in_200")
    run = (await post(web, "act_1001/insights", YEARS)).json()["report_run_id"]
    states = [await read(web, run, fields=POLL) for _ in range(4)]
    assert states[-1] == {
        "id": run,
        "async_status": "Job Failed",
        "async_percent_completion": 100,
        "error_code": 2,
        "error_subcode": 1504018,
        "error_message": "The report could not be made",
    }
    read_refusal(await web.get(f"{GRAPH}/{run}/insights"), 100)


# Catalogs


@pytest.mark.parametrize(
    ("edge", "fields", "first"),
    [
        ("promote_pages", "id,name", {"id": "9009", "name": "Tea House"}),
        (
            "adspixels",
            "id,name,last_fired_time,is_unavailable",
            {
                "id": "8001",
                "name": "Tea pixel",
                "last_fired_time": "2026-11-20T09:30:00+0000",
                "is_unavailable": False,
            },
        ),
        (
            "customconversions",
            "id,name,custom_event_type,pixel",
            {"id": "8101", "name": "Big basket", "custom_event_type": "PURCHASE", "pixel": {"id": "8001"}},
        ),
        (
            "adimages",
            "hash,name,url,width,height,status",
            {
                "id": "1:0f1e2d",
                "hash": "0f1e2d",
                "name": "leaves.jpg",
                "url": "https://scontent.example/0f1e2d.jpg",
                "width": 1200,
                "height": 628,
                "status": "ACTIVE",
            },
        ),
        (
            "advideos",
            "id,title,length,status",
            {"id": "8201", "title": "Brewing tea", "length": 14.8, "status": {"video_status": "ready"}},
        ),
        ("instagram_accounts", "id,username", {"id": "8301", "username": "teahouse"}),
        ("customaudiences", "id,name,subtype", {"id": "8401", "name": "Newsletter readers", "subtype": "CUSTOM"}),
        ("saved_audiences", "id,name", {"id": "8501", "name": "Norway, 25 to 45"}),
        ("dsa_recommendations", None, {"recommendations": ["Demo Berlin", "Demo Berlin Business"]}),
        (
            "minimum_budgets",
            None,
            {
                "currency": "EUR",
                "min_daily_budget_imp": 100,
                "min_daily_budget_high_freq": 100,
                "min_daily_budget_low_freq": 4000,
                "min_daily_budget_video_views": 100,
            },
        ),
    ],
)
async def test_catalogs(web: httpx.AsyncClient, edge: str, fields: str | None, first: dict[str, Any]) -> None:
    page = await read(web, f"act_7007/{edge}", **({} if fields is None else {"fields": fields}))
    assert page["data"][0] == first
    read_refusal(await web.get(f"{GRAPH}/act_7007/{edge}", params={"fields": "nothing"}), 100, "fields")
    read_refusal(await web.get(f"{GRAPH}/act_9/{edge}"), 100, subcode=33)


async def test_searches(web: httpx.AsyncClient) -> None:
    types = ["country", "region", "city", "zip", "geo_market"]
    page = await read(web, "search", type="adgeolocation", q="new york", location_types=types, limit=25)
    assert [f"{place['type']}:{place['key']}" for place in page["data"]] == [
        "region:3875",
        "city:2490299",
        "geo_market:DMA:501",
    ]
    assert page["data"][1] == {
        "key": "2490299",
        "name": "New York",
        "type": "city",
        "country_code": "US",
        "country_name": "United States",
        "region": "New York",
        "region_id": 3875,
        "supports_region": False,
        "supports_city": False,
    }
    assert [interest["name"] for interest in (await read(web, "search", type="adinterest", q="tea"))["data"]] == [
        "Tea (drink)",
        "Green tea (drink)",
    ]
    assert (await read(web, "search", type="adlocale", q="english"))["data"] == [
        {"key": 6, "name": "English (US)"},
        {"key": 24, "name": "English (UK)"},
    ]
    assert len((await read(web, "search", type="adlocale"))["data"]) == 6
    assert (await read(web, "search", type="adgeolocation", q="nowhere"))["data"] == []
    for query, field in (
        ({"type": "adgeolocation"}, "q"),
        ({"type": "adinterest"}, "q"),
        ({"type": "adcity", "q": "x"}, "type"),
        ({"q": "x"}, "type"),
        ({"type": "adgeolocation", "q": "x", "location_types": '["town"]'}, "location_types"),
        ({"type": "adgeolocation", "q": "x", "location_types": "city"}, "location_types"),
    ):
        read_refusal(await web.get(f"{GRAPH}/search", params=query), 100, field)


async def test_images_and_pages(web: httpx.AsyncClient) -> None:
    answer = await post(web, "act_7007/adimages", {"bytes": "aW1hZ2U="})
    digest = hashlib.md5(b"image").hexdigest()
    assert answer.json() == {"images": {"bytes": {"hash": digest, "url": f"https://scontent.example/{digest}.jpg"}}}
    assert [image["hash"] for image in (await read(web, "act_7007/adimages", fields="hash"))["data"]][-1] == digest
    assert await list_writes(web) == [("POST", "adimage", f"7007:{digest}")]
    for wrong in ({"bytes": "not base64!"}, {"bytes": NOTHING, "copy_from": {}}):
        read_refusal(await post(web, "act_7007/adimages", wrong), 100, "bytes")
    assert (await read(web, "me/accounts", fields="id,name"))["data"][0] == {"id": "9009", "name": "Tea House"}
