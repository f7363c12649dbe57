"""Rows of reports of LinkedIn, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, clean, whole
from tests.system.insights.pages import SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    whole = date.fromisoformat(day)
    start = {"year": whole.year, "month": whole.month, "day": whole.day}
    counts = {
        "impressions": 1000 + number,
        "clicks": number % 90,
        "externalWebsiteConversions": number % 9,
        "videoViews": number,
    }
    money = {"costInLocalCurrency": f"{number}.130000000000000782", "conversionValueInLocalCurrency": f"{number}.5"}
    return {"dateRange": {"start": start, "end": start}, **counts, **money, "approximateMemberReach": 900 + number}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        first = row["dateRange"]["start"]
        cost, value = row.get("costInLocalCurrency"), row.get("conversionValueInLocalCurrency")
        yield (
            date(first["year"], first["month"], first["day"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": clean(cost),
                "conversions": whole(row.get("externalWebsiteConversions")),
                "conversionValue": clean(value),
                "videoViews": whole(row.get("videoViews")),
                "reach": whole(row.get("approximateMemberReach")),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    rows = [
        {"pivotValues": [f"urn:li:sponsoredCampaignGroup:{part.entity + 1}"], **part.row} for part in source.take(450)
    ]
    return {"paging": {"start": 0, "count": 10, "links": []}, "elements": rows}


REPORT = SimulatedReport(31, answer_report)
