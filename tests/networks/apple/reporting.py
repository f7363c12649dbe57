"""Rows of reports of Apple Ads, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import SimulatedReport, Source

DAYS_IN_ROW = 30
"""A row of Apple's is a campaign, with its days."""
DAYS_MEMBER = "granularMetrics"
"""Where a row has its days."""


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    figures = {"impressions": 1000 + number, "taps": number % 90, "totalInstalls": number % 9}
    days = [(date.fromisoformat(day) + timedelta(more)).isoformat() for more in range(DAYS_IN_ROW)]
    spend = {"amount": f"{number}.25", "currency": "EUR"}
    return {"granularMetrics": [{"date": day, **figures, "localSpend": spend} for day in days]}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for campaign in native:
        for row in campaign["granularMetrics"]:
            spend = row.get("localSpend")
            yield (
                date.fromisoformat(row["date"]),
                {
                    "impressions": whole(row.get("impressions")),
                    "clicks": whole(row.get("taps")),
                    "spend": None if spend is None else exact(spend["amount"]),
                    "conversions": whole(row.get("totalInstalls")),
                },
            )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if "/reports/" not in request.url:
        campaigns = [{"id": 1, "name": "Campaign 1", "deleted": False}, {"id": 2, "name": "Campaign 2"}]
        return {"result": campaigns, "pagination": {"totalCount": 2, "offset": 0, "pageSize": 1000}}
    rows: dict[int, dict[str, Any]] = {}
    for part in source.take(300):
        names = {"id": part.entity + 1, "name": f"Campaign {part.entity}", "adAccountId": 1_000_001}
        rows.setdefault(part.entity, {"metadata": names, "granularMetrics": []})["granularMetrics"].append(part.row)
    offset = request.body["pagination"]["offset"]
    total = offset + (len(rows) if source.is_last_page else len(rows) + 1)
    pagination = {"totalCount": total, "offset": offset, "pageSize": 1000}
    return {"result": {"rows": list(rows.values())}, "pagination": pagination}


REPORT = SimulatedReport(30, answer_report)
