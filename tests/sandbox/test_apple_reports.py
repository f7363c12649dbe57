"""The reports of the simulated Apple Ads Platform API over real HTTP."""

from decimal import Decimal
from typing import Any

import httpx
import pytest

from tests.sandbox.apple_calls import TOKYO, refused, result

EVERGREEN, GONE = "700111", "700121"


def asked(start: str, end: str, *campaigns: str, granularity: str | None = "DAILY", **more: Any) -> dict[str, Any]:
    """The documented example, with other days and campaigns."""
    wanted = {"start": start, "end": end, "timeZone": "ORTZ", "granularity": granularity}
    return {
        "timeRange": {name: value for name, value in wanted.items() if value},
        "filters": [{"field": "campaignId", "operator": "IN", "value": [*campaigns]}],
        "fields": ["impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls"],
        "pagination": {"offset": 0, "pageSize": 1000},
        **more,
    }


async def report(web: httpx.AsyncClient, sent: dict[str, Any], level: str = "campaigns") -> Any:
    return (await result(web, "POST", f"reports/apps/{level}/query", sent))["rows"]


async def test_days_of_campaigns(web: httpx.AsyncClient) -> None:
    rows = await report(web, asked("2026-11-05", "2026-11-21", EVERGREEN, GONE))
    assert [(row["metadata"]["id"], row["metadata"]["deleted"]) for row in rows] == [(700111, False), (700121, True)]
    assert [len(row["granularMetrics"]) for row in rows] == [17, 7]  # one was deleted ten days ago
    first = rows[0]["granularMetrics"][0]
    assert first["date"] == "2026-11-05"
    assert first["totalInstalls"] == first["tapInstalls"] + first["viewInstalls"]
    assert first["localSpend"]["currency"] == "EUR"
    spent = sum(Decimal(day["localSpend"]["amount"]) for day in rows[0]["granularMetrics"])
    assert spent == Decimal(rows[0]["totalMetrics"]["localSpend"]["amount"])
    assert rows == await report(web, asked("2026-11-05", "2026-11-21", EVERGREEN, GONE))


async def test_one_day_and_one_campaign(web: httpx.AsyncClient) -> None:
    one = [{"field": "campaignId", "operator": "EQUALS", "value": EVERGREEN}]
    (row,) = await report(web, asked("2026-11-20", "2026-11-20", granularity=None, filters=one))
    assert "granularMetrics" not in row
    (two,) = await report(web, asked("2026-11-19", "2026-11-20", EVERGREEN))
    assert two["granularMetrics"][1] == {"date": "2026-11-20", **row["totalMetrics"]}


async def test_levels_add_up(web: httpx.AsyncClient) -> None:
    sent = asked("2026-11-19", "2026-11-20", EVERGREEN)
    (whole,) = await report(web, sent)
    for level in ("adgroups", "ads", "keywords", "searchterms"):
        rows = await report(web, sent, level)
        assert sum(row["totalMetrics"]["taps"] for row in rows) == whole["totalMetrics"]["taps"]


async def test_yen_and_idle_campaigns(web: httpx.AsyncClient) -> None:
    web.headers["X-AP-Context"] = f"adAccountId={TOKYO}"
    sent = asked("2026-11-19", "2026-11-20", "700311", "700321", options={"includeRows": ["EMPTY_METRICS"]})
    running, idle = await report(web, sent)
    assert "." not in running["totalMetrics"]["localSpend"]["amount"]
    assert idle["totalMetrics"]["taps"] is None


@pytest.mark.parametrize(
    ("sent", "field"),
    [
        (asked("2026-11-20", "2026-11-20", EVERGREEN), "timeRange.granularity"),
        (asked("2026-08-01", "2026-11-20", EVERGREEN), "timeRange.start"),
        (asked("2026-11-20", "2026-11-19", EVERGREEN), "timeRange.end"),
        (asked("2026-11-20", "2026-11-23", EVERGREEN), "timeRange.end"),
        (asked("2026-11-19", "2026-11-20"), "filters.0.value"),
        (asked("2026-11-19", "2026-11-20", EVERGREEN, filters=[]), "filters"),
        (asked("2026-11-19", "2026-11-20", EVERGREEN, fields=["installs"]), "fields.0"),
        (asked("2026-11-19", "2026-11-20", EVERGREEN, pagination={"pageSize": 5001}), "pagination.pageSize"),
    ],
)
async def test_reports_that_are_refused(web: httpx.AsyncClient, sent: dict[str, Any], field: str) -> None:
    assert await refused(web, "POST", "reports/apps/campaigns/query", sent) == field
