"""Rows of reports of Amazon Ads, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import JOB_URL, SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    figures = {
        "impressions": 1000 + number,
        "clicks": number % 90,
        "cost": Decimal(number) / 100,
        "purchases7d": number % 9,
    }
    return {"date": day, "campaignId": 91_000 + number, **figures, "sales7d": Decimal(number) / 8}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        cost, sales = row.get("cost"), row.get("sales7d")
        yield (
            date.fromisoformat(row["date"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": exact(cost),
                "conversions": whole(row.get("purchases7d")),
                "conversionValue": exact(sales),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if request.url == JOB_URL:
        return [
            {**part.row, "campaignId": part.entity + 1, "campaignName": f"Campaign {part.entity}"}
            for part in source.take(400)
        ]
    return {"reportId": "report-1", "status": "PENDING" if request.method == "POST" else "COMPLETED", "url": JOB_URL}


REPORT = SimulatedReport(31, answer_report, {"region": "NA", "accountType": "seller"})
