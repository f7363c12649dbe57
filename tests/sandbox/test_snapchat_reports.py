"""The simulated Snap Marketing API over real HTTP: statistics."""

from collections import Counter
from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.sandbox.calls import list_writes
from tests.sandbox.snapchat_calls import (
    AD,
    BERLIN,
    NEW_YORK,
    TOKYO,
    V1,
    Clock,
    create_ad_squad,
    create_campaign,
    create_example,
    inject_fault,
    log_in,
    read,
    read_data,
    read_refusal,
    write,
)

FIELDS = "impressions,swipes,spend,video_views,conversion_purchases,conversion_purchases_value"
DAYS: dict[str, Any] = {
    "granularity": "DAY",
    "breakdown": "campaign",
    "fields": FIELDS,
    "start_time": "2026-10-24T00:00:00.000+02:00",
    "end_time": "2026-10-27T00:00:00.000+01:00",  # the clocks of Berlin went back on the 25th
    "omit_empty": "false",
    "swipe_up_attribution_window": "28_DAY",
    "view_attribution_window": "1_DAY",
}


def list_campaign_rows(answer: Any) -> list[list[dict[str, Any]]]:
    """The rows of every campaign, those with the most impressions first."""
    campaigns = answer["timeseries_stats"][0]["timeseries_stat"]["breakdown_stats"]["campaign"]
    rows = [list(campaign["timeseries"]) for campaign in campaigns]
    return sorted(rows, key=lambda many: -sum(row["stats"]["impressions"] for row in many))


def get_first_campaign_rows(answer: Any) -> list[dict[str, Any]]:
    """The rows of the campaign that delivers."""
    return list_campaign_rows(answer)[0]


async def test_days_of_an_account(web: httpx.AsyncClient) -> None:
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS)
    stat = answer["timeseries_stats"][0]["timeseries_stat"]
    assert (stat["id"], stat["type"], stat["granularity"]) == (BERLIN, "AD_ACCOUNT", "DAY")
    assert stat["finalized_data_end_time"] == "2026-11-19T00:00:00.000+01:00"
    rows = get_first_campaign_rows(answer)
    assert [row["start_time"] for row in rows] == [
        "2026-10-24T00:00:00.000+02:00", "2026-10-25T00:00:00.000+02:00", "2026-10-26T00:00:00.000+01:00",
    ]  # fmt: skip
    assert all(sorted(row["stats"]) == sorted(FIELDS.split(",")) for row in rows)
    assert all(row["stats"]["impressions"] > row["stats"]["swipes"] > 0 for row in rows)
    assert await read(web, f"adaccounts/{BERLIN}/stats", **DAYS) == answer


async def test_an_account_by_itself_has_only_spend(web: httpx.AsyncClient) -> None:
    query = {name: value for name, value in DAYS.items() if name != "breakdown"}
    read_refusal(await web.get(f"{V1}/adaccounts/{BERLIN}/stats", params=query), 400, "E1008")
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **{**query, "fields": "spend"})
    plain = answer["timeseries_stats"][0]["timeseries_stat"]["timeseries"]
    parts = get_first_campaign_rows(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))
    assert [row["stats"]["spend"] for row in plain] == [row["stats"]["spend"] for row in parts]


async def test_empty_days(web: httpx.AsyncClient) -> None:
    await create_campaign(web, BERLIN)
    rows = list_campaign_rows(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))[1]
    assert [row["stats"]["impressions"] for row in rows] == [0, 0, 0]
    assert list_campaign_rows(await read(web, f"adaccounts/{BERLIN}/stats", **{**DAYS, "omit_empty": "true"}))[1] == []


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"start_time": "2026-10-24T00:00:00.000+01:00"}, "E1008"),
        ({"start_time": "2026-10-24T00:30:00.000+02:00"}, "E1008"),
        ({"start_time": "2026-10-23T22:00:00.000Z"}, "E1008"),
        ({"end_time": "2026-10-27T00:00:00.000+02:00"}, "E1008"),
        ({"start_time": "2026-10-28T00:00:00.000+01:00"}, "E1008"),
        ({"start_time": "2026-09-25T00:00:00.000+02:00"}, "E3002"),
        # 31 days in which the clocks go back are an hour too long
        ({"start_time": "2026-09-26T00:00:00.000+02:00"}, "E3002"),
        ({"fields": "uniques"}, "E1008"),
        ({"granularity": "HOUR"}, None),
        ({"granularity": "WEEK"}, "E1001"),
        ({"breakdown": "adset"}, "E1001"),
        ({"breakdown": "adsquad"}, "E1008"),
        ({"nonsense": "1"}, "E1001"),
    ],
)
async def test_queries_that_are_refused(web: httpx.AsyncClient, change: dict[str, str], code: str | None) -> None:
    answer = await web.get(f"{V1}/adaccounts/{BERLIN}/stats", params={**DAYS, **change})
    if code is None:
        assert len(get_first_campaign_rows(answer.json())) == 73  # three days, of which one has 25 hours
    else:
        read_refusal(answer, 400, code)


async def test_an_account_has_days_up_to_now(web: httpx.AsyncClient) -> None:
    query = {**DAYS, "start_time": "2026-11-20T00:00:00.000+09:00", "end_time": "2026-11-24T00:00:00.000+09:00"}
    rows = get_first_campaign_rows(await read(web, f"adaccounts/{TOKYO}/stats", **query))
    assert [row["start_time"][:10] for row in rows] == ["2026-11-20", "2026-11-21"]


async def test_totals(web: httpx.AsyncClient) -> None:
    query = {**DAYS, "granularity": "TOTAL", "fields": "impressions,uniques"}
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **query)
    campaigns = answer["total_stats"][0]["total_stat"]["breakdown_stats"]["campaign"]
    total = max(campaigns, key=lambda campaign: campaign["stats"]["impressions"])
    days = get_first_campaign_rows(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))
    assert total["stats"]["impressions"] == sum(row["stats"]["impressions"] for row in days)
    assert 0 < total["stats"]["uniques"] < total["stats"]["impressions"]


async def test_pages_of_statistics(web: httpx.AsyncClient) -> None:
    for _ in range(60):
        await create_campaign(web, BERLIN)
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS, limit=50)
    cursor = parse_qs(urlsplit(answer["paging"]["next_link"]).query)["cursor"][0]
    rest = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS, limit=50, cursor=cursor)
    counts = [
        len(page["timeseries_stats"][0]["timeseries_stat"]["breakdown_stats"]["campaign"]) for page in (answer, rest)
    ]
    assert counts == [50, 12]
    assert "paging" not in rest


async def test_a_report(web: httpx.AsyncClient, clock: Clock) -> None:
    query = {**DAYS, "async": "true", "async_format": "json"}
    report = (await read(web, f"adaccounts/{BERLIN}/stats", **query))["async_stats_reports"][0]["async_stats_report"]
    assert report["async_status"] == "RUNNING"
    assert await list_writes(web) == []
    clock.instant += timedelta(seconds=1)
    path = f"adaccounts/{BERLIN}/stats_report"
    await inject_fault(web, "error_in_200")
    stats = (await read(web, path, report_run_id=report["report_run_id"]))["async_stats_reports"][0]
    assert stats["async_stats_report"]["async_status"] == "FAILED"
    stats = (await read(web, path, report_run_id=report["report_run_id"]))["async_stats_reports"][0]
    assert stats["async_stats_report"]["async_status"] == "COMPLETED"
    link = stats["async_stats_report"]["result"].replace("https://", "/")
    assert (await web.get(link)).status_code == 400  # no credentials belong there
    async with httpx.AsyncClient(base_url=web.base_url) as stranger:
        assert get_first_campaign_rows((await stranger.get(link)).json()) == get_first_campaign_rows(
            await read(web, f"adaccounts/{BERLIN}/stats", **DAYS)
        )
        clock.instant = datetime(2026, 12, 1, tzinfo=UTC)
        assert (await stranger.get(link)).status_code == 404
    read_refusal(await web.get(f"{V1}/adaccounts/{NEW_YORK}/stats_report", params={"report_run_id": "1"}), 401, "E1101")


# Levels

WEEK = {**DAYS, "start_time": "2026-11-14T00:00:00.000-05:00", "end_time": "2026-11-22T00:00:00.000-05:00"}
NO_BREAKDOWN = {name: value for name, value in WEEK.items() if name != "breakdown"}

DELETED = {"read_deleted_entities": "true"}


def sum_items(answer: Any, kind: str) -> dict[str, Counter[str]]:
    """The figures of each item of a breakdown by day and metric."""
    items = answer["timeseries_stats"][0]["timeseries_stat"]["breakdown_stats"][kind]
    return {item["id"]: count_figures(item["timeseries"]) for item in items}


def count_figures(timeseries: list[dict[str, Any]]) -> Counter[str]:
    return Counter(
        {f"{row['start_time']} {name}": value for row in timeseries for name, value in row["stats"].items() if value}
    )


async def test_each_level_adds_up_to_the_account(web: httpx.AsyncClient, clock: Clock) -> None:
    clock.instant = datetime(2026, 11, 15, 12, tzinfo=UTC)
    await log_in(web)
    start = {"start_time": "2026-11-15T00:00:00.000Z"}
    campaign_id = await create_campaign(web, status="ACTIVE", **start)
    squads = [await create_ad_squad(web, campaign_id, status="ACTIVE", **start) for _ in range(2)]
    for squad in (*squads, squads[0]):
        clock.instant += timedelta(minutes=1)
        read_data(
            await write(web, "POST", f"adsquads/{squad}", "ads", {**AD, "ad_squad_id": squad, "status": "ACTIVE"})
        )
    clock.instant = datetime(2026, 11, 18, 12, tzinfo=UTC)
    await log_in(web)
    deleted = (await read(web, f"adsquads/{squads[1]}/ads"))["ads"][0]["ad"]["id"]
    assert (await web.delete(f"{V1}/adsquads/{squads[1]}")).status_code == 200
    clock.instant = datetime(2026, 11, 21, 12, tzinfo=UTC)
    await log_in(web)
    alone = await read(web, f"adaccounts/{NEW_YORK}/stats", **{**NO_BREAKDOWN, "fields": "spend"})
    account = count_figures(alone["timeseries_stats"][0]["timeseries_stat"]["timeseries"])
    assert len(account) == 8
    campaigns = sum_items(await read(web, f"adaccounts/{NEW_YORK}/stats", **WEEK), "campaign")
    ads = sum_items(await read(web, f"adaccounts/{NEW_YORK}/stats", **{**WEEK, "breakdown": "ad"}), "ad")
    for level in (campaigns, ads):
        spend = {day: value for day, value in sum(level.values(), Counter()).items() if day.endswith(" spend")}
        assert spend == account
    assert campaigns[campaign_id]
    days = {name[:10] for name in ads[deleted]}
    assert days == {"2026-11-15", "2026-11-16", "2026-11-17", "2026-11-18"}
    parents = {
        row["ad"]["id"]: row["ad"]["ad_squad_id"]
        for row in (await read(web, f"adaccounts/{NEW_YORK}/ads", **DELETED))["ads"]
    }
    ad_squads: dict[str, Counter[str]] = {}
    for native_id, figures in campaigns.items():
        answer = await read(web, f"campaigns/{native_id}/stats", **{**WEEK, "breakdown": "adsquad"})
        stat = answer["timeseries_stats"][0]["timeseries_stat"]
        assert (stat["id"], stat["type"]) == (native_id, "CAMPAIGN")
        assert {squad_stat["type"] for squad_stat in stat["breakdown_stats"]["adsquad"]} <= {"AD_SQUAD"}
        groups = sum_items(answer, "adsquad")
        assert sum(groups.values(), Counter()) == figures
        assert {*groups} == {*squads} or native_id != campaign_id
        ad_squads |= groups
        for squad, group in groups.items():
            below = sum_items(await read(web, f"adsquads/{squad}/stats", **{**WEEK, "breakdown": "ad"}), "ad")
            assert sum(below.values(), Counter()) == group
            assert below == {ad: ads[ad] for ad, parent in parents.items() if parent == squad}
    for word, type_name, level in (
        ("campaigns", "CAMPAIGN", campaigns),
        ("adsquads", "AD_SQUAD", ad_squads),
        ("ads", "AD", ads),
    ):
        for native_id, figures in level.items():
            own = await read(web, f"{word}/{native_id}/stats", **NO_BREAKDOWN)
            stat = own["timeseries_stats"][0]["timeseries_stat"]
            assert (stat["id"], stat["type"]) == (native_id, type_name)
            assert count_figures(stat["timeseries"]) == figures


async def test_the_stats_of_an_entity_that_are_refused(web: httpx.AsyncClient) -> None:
    example = await create_example(web)
    for word, change, status, code in (
        ("campaigns", {"breakdown": "campaign"}, 400, "E1008"),
        ("adsquads", {"breakdown": "adsquad"}, 400, "E1008"),
        ("ads", {"breakdown": "ad"}, 400, "E1008"),
        ("ads", {"fields": "uniques"}, 400, "E1008"),
        ("ads", {"start_time": "2026-10-01T00:00:00.000-04:00"}, 400, "E3002"),
        ("ads", {"async": "true", "async_format": "json"}, 400, "E1008"),
    ):
        query = {**NO_BREAKDOWN, **change}
        read_refusal(await web.get(f"{V1}/{word}/{example[word]}/stats", params=query), status, code)
    read_refusal(await web.get(f"{V1}/ads/{example['campaigns']}/stats", params=NO_BREAKDOWN), 404, "E1103")
