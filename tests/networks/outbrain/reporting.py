"""Rows of reports of Outbrain, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {"impressions": Decimal(f"{1000 + number}.0"), "clicks": Decimal(f"{number % 90}.0"), "videoPlays": number}
    money = {
        "spend": Decimal(number) / 100,
        "totalConversions": Decimal(f"{number % 9}.0"),
        "totalSumValue": Decimal(number) / 8,
    }
    return {"metadata": {"id": day, "fromDate": day, "toDate": day}, "metrics": {**counts, **money}}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        figures = row["metrics"]
        impressions, clicks, plays = figures["impressions"], figures["clicks"], figures["videoPlays"]
        yield (
            date.fromisoformat(row["metadata"]["fromDate"]),
            {
                "impressions": whole(impressions) if impressions == int(impressions) else None,
                "clicks": whole(clicks) if clicks == int(clicks) else None,
                "spend": exact(figures["spend"]),
                "conversions": exact(figures["totalConversions"]),
                "conversionValue": exact(figures["totalSumValue"]),
                "videoViews": whole(plays) if plays == int(plays) else None,
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if request.url.endswith("fullDay"):
        return {"fullDayDate": "2026-11-30", "modificationTime": "2026-12-01 07:41:02"}
    entries: dict[int, dict[str, Any]] = {}
    for part in source.take(301):
        entry = entries.setdefault(part.entity, {"campaignId": f"{part.entity:034x}", "results": []})
        entry["results"].append(part.row)
    return {"campaignResults": [{**entry, "totalResults": len(source.days)} for entry in entries.values()]}


REPORT = SimulatedReport(30, answer_report)
