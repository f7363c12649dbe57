"""The reports of the simulated Apple Ads Platform API over real HTTP."""

from datetime import timedelta
from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.apple_calls import (
    AD,
    CREATIVE,
    TOKYO,
    Clock,
    call,
    create_ad_group,
    create_campaign,
    get_refusal,
    get_result,
    log_in,
)

EVERGREEN, GONE = "700111", "700121"


def make_query(start: str, end: str, *campaigns: str, granularity: str | None = "DAILY", **more: Any) -> dict[str, Any]:
    """The documented example, with other days and campaigns."""
    time_range = {"start": start, "end": end, "timeZone": "ORTZ", "granularity": granularity}
    return {
        "timeRange": {name: value for name, value in time_range.items() if value},
        "filters": [{"field": "campaignId", "operator": "IN", "value": [*campaigns]}],
        "fields": ["impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls"],
        "pagination": {"offset": 0, "pageSize": 1000},
        **more,
    }


async def read_report(web: httpx.AsyncClient, body: dict[str, Any], level: str = "campaigns") -> Any:
    return (await get_result(web, "POST", f"reports/apps/{level}/query", body))["rows"]


async def test_days_of_campaigns(web: httpx.AsyncClient) -> None:
    rows = await read_report(web, make_query("2026-11-05", "2026-11-21", EVERGREEN, GONE))
    assert [(row["metadata"]["id"], row["metadata"]["deleted"]) for row in rows] == [(700111, False), (700121, True)]
    assert [len(row["granularMetrics"]) for row in rows] == [17, 7]  # one was deleted ten days ago
    first = rows[0]["granularMetrics"][0]
    assert first["date"] == "2026-11-05"
    assert first["totalInstalls"] == first["tapInstalls"] + first["viewInstalls"]
    assert first["localSpend"]["currency"] == "EUR"
    spent = sum(Decimal(day["localSpend"]["amount"]) for day in rows[0]["granularMetrics"])
    assert spent == Decimal(rows[0]["totalMetrics"]["localSpend"]["amount"])
    assert rows == await read_report(web, make_query("2026-11-05", "2026-11-21", EVERGREEN, GONE))


async def test_one_day_and_one_campaign(web: httpx.AsyncClient) -> None:
    filters = [{"field": "campaignId", "operator": "EQUALS", "value": EVERGREEN}]
    (row,) = await read_report(web, make_query("2026-11-20", "2026-11-20", granularity=None, filters=filters))
    assert "granularMetrics" not in row
    (two,) = await read_report(web, make_query("2026-11-19", "2026-11-20", EVERGREEN))
    assert two["granularMetrics"][1] == {"date": "2026-11-20", **row["totalMetrics"]}


async def test_levels_add_up(web: httpx.AsyncClient) -> None:
    body = make_query("2026-11-19", "2026-11-20", EVERGREEN)
    (whole,) = await read_report(web, body)
    for level in ("adgroups", "ads", "keywords", "searchterms"):
        rows = await read_report(web, body, level)
        assert sum(row["totalMetrics"]["taps"] for row in rows) == whole["totalMetrics"]["taps"]


async def test_each_level_adds_up_to_the_campaigns(web: httpx.AsyncClient, clock: Clock) -> None:
    """Also with an ad group and an ad that were deleted, and with a paused ad."""
    campaigns, groups, ads = [], [], []
    for _ in range(2):
        campaign_id = await create_campaign(web, startTime="2026-11-21T08:00:00.000", status="ENABLED")
        campaigns.append(campaign_id)
        for _ in range(2):
            group = await create_ad_group(web, campaign_id, startTime="2026-11-21T08:00:00.000", status="ENABLED")
            groups.append(group)
            ads.append([(await get_result(web, "POST", "ads", {**AD, "adGroupId": group, "status": status}))["id"]
                        for status in ("ENABLED", "PAUSED")])  # fmt: skip
    clock.instant += timedelta(days=4)
    await log_in(web, clock)
    for path in (f"ads/{ads[0][0]}", f"adgroups/{groups[-1]}"):
        assert (await call(web, "DELETE", path)).is_success
    clock.instant += timedelta(days=4)
    await log_in(web, clock)
    names = [EVERGREEN, GONE, *map(str, campaigns)]
    sums, rows = {}, {}
    for level in ("campaigns", "adgroups", "ads"):
        rows[level] = await read_report(web, make_query("2026-11-22", "2026-11-28", *names), level)
        days: dict[str, list[Decimal]] = {}
        for row in rows[level]:
            for day in row["granularMetrics"]:
                counts = [day[name] for name in ("impressions", "taps", "totalInstalls")]
                figures = [*map(Decimal, counts), Decimal(day["localSpend"]["amount"])]
                before = days.get(day["date"], [Decimal(0)] * 4)
                days[day["date"]] = [figure + other for figure, other in zip(before, figures, strict=True)]
        sums[level] = days
    assert len(sums["campaigns"]) == 7
    assert sums["campaigns"] == sums["adgroups"] == sums["ads"]
    days_of = {row["metadata"]["id"]: len(row["granularMetrics"]) for row in rows["adgroups"]}
    assert [days_of[group] for group in groups] == [7, 7, 7, 4]
    metadata = {row["metadata"]["id"]: row["metadata"] for row in rows["ads"]}[ads[0][0]]
    assert metadata["deleted"] is True
    assert (metadata["adAccountId"], metadata["campaignId"], metadata["adGroupId"]) == (7001, campaigns[0], groups[0])
    assert metadata["creative"] == {"id": CREATIVE, "creativeType": "CUSTOM_PRODUCT_PAGE", "systemStatus": "VALID"}
    page = await read_report(
        web, make_query("2026-11-22", "2026-11-28", *names, pagination={"offset": 2, "pageSize": 2}), "adgroups"
    )
    assert page == rows["adgroups"][2:4]


@pytest.mark.parametrize("value", ["700112", ["700112"], 700112])
async def test_one_ad_group(web: httpx.AsyncClient, value: Any) -> None:
    group = {"field": "adGroupId", "operator": "EQUALS", "value": value}
    condition = {"field": "campaignId", "operator": "EQUALS", "value": EVERGREEN}
    for level in ("adgroups", "ads"):
        (row,) = await read_report(web, make_query("2026-11-19", "2026-11-20", filters=[condition, group]), level)
        assert (row["metadata"]["campaignId"], row["totalMetrics"]["taps"] > 0) == (700111, True)
        other = {**condition, "value": GONE}
        assert await read_report(web, make_query("2026-11-10", "2026-11-11", filters=[other, group]), level) == []


@pytest.mark.parametrize(
    ("level", "filters", "field"),
    [
        ("campaigns", [("campaignId", "EQUALS", EVERGREEN), ("adGroupId", "EQUALS", "700112")], "filters.1.field"),
        ("ads", [("adGroupId", "EQUALS", "700112")], "filters"),
        ("ads", [("campaignId", "EQUALS", EVERGREEN), ("id", "EQUALS", "700115")], "filters.1.field"),
        ("ads", [("campaignId", "EQUALS", EVERGREEN), ("adGroupId", "IN", ["700112"])], "filters.1.operator"),
        ("ads", [("campaignId", "EQUALS", [EVERGREEN, GONE])], "filters.0.value"),
        ("ads", [("campaignId", "EQUALS", EVERGREEN), ("campaignId", "EQUALS", GONE)], "filters.1.field"),
    ],
)
async def test_filters_that_are_refused(web: httpx.AsyncClient, level: str, filters: Any, field: str) -> None:
    conditions = [{"field": name, "operator": operator, "value": value} for name, operator, value in filters]
    body = make_query("2026-11-19", "2026-11-20", filters=conditions)
    assert await get_refusal(web, "POST", f"reports/apps/{level}/query", body) == field


async def test_yen_and_idle_campaigns(web: httpx.AsyncClient) -> None:
    web.headers["X-AP-Context"] = f"adAccountId={TOKYO}"
    body = make_query("2026-11-19", "2026-11-20", "700311", "700321", options={"includeRows": ["EMPTY_METRICS"]})
    running, idle = await read_report(web, body)
    assert "." not in running["totalMetrics"]["localSpend"]["amount"]
    assert idle["totalMetrics"]["taps"] is None


@pytest.mark.parametrize(
    ("body", "field"),
    [
        (make_query("2026-11-20", "2026-11-20", EVERGREEN), "timeRange.granularity"),
        (make_query("2026-08-01", "2026-11-20", EVERGREEN), "timeRange.start"),
        (make_query("2026-11-20", "2026-11-19", EVERGREEN), "timeRange.end"),
        (make_query("2026-11-20", "2026-11-23", EVERGREEN), "timeRange.end"),
        (make_query("2026-11-19", "2026-11-20"), "filters.0.value"),
        (make_query("2026-11-19", "2026-11-20", EVERGREEN, filters=[]), "filters"),
        (make_query("2026-11-19", "2026-11-20", EVERGREEN, fields=["installs"]), "fields.0"),
        (make_query("2026-11-19", "2026-11-20", EVERGREEN, pagination={"pageSize": 5001}), "pagination.pageSize"),
    ],
)
async def test_reports_that_are_refused(web: httpx.AsyncClient, body: dict[str, Any], field: str) -> None:
    assert await get_refusal(web, "POST", "reports/apps/campaigns/query", body) == field
