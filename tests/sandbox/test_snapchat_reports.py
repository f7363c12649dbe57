"""The simulated Snap Marketing API over real HTTP: statistics."""

from datetime import UTC, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest

from tests.sandbox.calls import writes
from tests.sandbox.snapchat_calls import BERLIN, NEW_YORK, TOKYO, V1, Clock, campaign, read, refused, tell

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


def each(answer: Any) -> list[list[dict[str, Any]]]:
    """The rows of every campaign, those with the most impressions first."""
    found = answer["timeseries_stats"][0]["timeseries_stat"]["breakdown_stats"]["campaign"]
    rows = [list(one["timeseries"]) for one in found]
    return sorted(rows, key=lambda many: -sum(row["stats"]["impressions"] for row in many))


def series(answer: Any) -> list[dict[str, Any]]:
    """The rows of the campaign that delivers."""
    return each(answer)[0]


async def test_days_of_an_account(web: httpx.AsyncClient) -> None:
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS)
    stat = answer["timeseries_stats"][0]["timeseries_stat"]
    assert (stat["id"], stat["type"], stat["granularity"]) == (BERLIN, "AD_ACCOUNT", "DAY")
    assert stat["finalized_data_end_time"] == "2026-11-19T00:00:00.000+01:00"
    rows = series(answer)
    assert [row["start_time"] for row in rows] == [
        "2026-10-24T00:00:00.000+02:00", "2026-10-25T00:00:00.000+02:00", "2026-10-26T00:00:00.000+01:00",
    ]  # fmt: skip
    assert all(sorted(row["stats"]) == sorted(FIELDS.split(",")) for row in rows)
    assert all(row["stats"]["impressions"] > row["stats"]["swipes"] > 0 for row in rows)
    assert await read(web, f"adaccounts/{BERLIN}/stats", **DAYS) == answer


async def test_an_account_by_itself_has_only_spend(web: httpx.AsyncClient) -> None:
    query = {name: value for name, value in DAYS.items() if name != "breakdown"}
    refused(await web.get(f"{V1}/adaccounts/{BERLIN}/stats", params=query), 400, "E1008")
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **{**query, "fields": "spend"})
    plain = answer["timeseries_stats"][0]["timeseries_stat"]["timeseries"]
    parts = series(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))
    assert [row["stats"]["spend"] for row in plain] == [row["stats"]["spend"] for row in parts]


async def test_empty_days(web: httpx.AsyncClient) -> None:
    await campaign(web, BERLIN)
    rows = each(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))[1]
    assert [row["stats"]["impressions"] for row in rows] == [0, 0, 0]
    assert each(await read(web, f"adaccounts/{BERLIN}/stats", **{**DAYS, "omit_empty": "true"}))[1] == []


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
        ({"nonsense": "1"}, "E1001"),
    ],
)
async def test_queries_that_are_refused(web: httpx.AsyncClient, change: dict[str, str], code: str | None) -> None:
    answer = await web.get(f"{V1}/adaccounts/{BERLIN}/stats", params={**DAYS, **change})
    if code is None:
        assert len(series(answer.json())) == 73  # three days, of which one has 25 hours
    else:
        refused(answer, 400, code)


async def test_an_account_has_days_up_to_now(web: httpx.AsyncClient) -> None:
    query = {**DAYS, "start_time": "2026-11-20T00:00:00.000+09:00", "end_time": "2026-11-24T00:00:00.000+09:00"}
    rows = series(await read(web, f"adaccounts/{TOKYO}/stats", **query))
    assert [row["start_time"][:10] for row in rows] == ["2026-11-20", "2026-11-21"]


async def test_totals(web: httpx.AsyncClient) -> None:
    query = {**DAYS, "granularity": "TOTAL", "fields": "impressions,uniques"}
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **query)
    found = answer["total_stats"][0]["total_stat"]["breakdown_stats"]["campaign"]
    total = max(found, key=lambda one: one["stats"]["impressions"])
    days = series(await read(web, f"adaccounts/{BERLIN}/stats", **DAYS))
    assert total["stats"]["impressions"] == sum(row["stats"]["impressions"] for row in days)
    assert 0 < total["stats"]["uniques"] < total["stats"]["impressions"]


async def test_pages_of_statistics(web: httpx.AsyncClient) -> None:
    for _ in range(60):
        await campaign(web, BERLIN)
    answer = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS, limit=50)
    cursor = parse_qs(urlsplit(answer["paging"]["next_link"]).query)["cursor"][0]
    rest = await read(web, f"adaccounts/{BERLIN}/stats", **DAYS, limit=50, cursor=cursor)
    counts = [
        len(one["timeseries_stats"][0]["timeseries_stat"]["breakdown_stats"]["campaign"]) for one in (answer, rest)
    ]
    assert counts == [50, 12]
    assert "paging" not in rest


async def test_a_report(web: httpx.AsyncClient, clock: Clock) -> None:
    query = {**DAYS, "async": "true", "async_format": "json"}
    asked = (await read(web, f"adaccounts/{BERLIN}/stats", **query))["async_stats_reports"][0]["async_stats_report"]
    assert asked["async_status"] == "RUNNING"
    assert await writes(web) == []
    clock.instant += timedelta(seconds=1)
    path = f"adaccounts/{BERLIN}/stats_report"
    await tell(web, "error_in_200")
    found = (await read(web, path, report_run_id=asked["report_run_id"]))["async_stats_reports"][0]
    assert found["async_stats_report"]["async_status"] == "FAILED"
    found = (await read(web, path, report_run_id=asked["report_run_id"]))["async_stats_reports"][0]
    assert found["async_stats_report"]["async_status"] == "COMPLETED"
    link = found["async_stats_report"]["result"].replace("https://", "/")
    assert (await web.get(link)).status_code == 400  # no credentials belong there
    async with httpx.AsyncClient(base_url=web.base_url) as stranger:
        assert series((await stranger.get(link)).json()) == series(
            await read(web, f"adaccounts/{BERLIN}/stats", **DAYS)
        )
        clock.instant = datetime(2026, 12, 1, tzinfo=UTC)
        assert (await stranger.get(link)).status_code == 404
    refused(await web.get(f"{V1}/adaccounts/{NEW_YORK}/stats_report", params={"report_run_id": "1"}), 401, "E1101")
