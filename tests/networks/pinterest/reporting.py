"""Rows of reports of Pinterest, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import MICRO, Day, Row, exact, scale, whole
from tests.system.insights.pages import JOB_URL, SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {"TOTAL_IMPRESSION": 1000 + number, "TOTAL_CLICKTHROUGH": number % 90, "TOTAL_VIDEO_MRC_VIEWS": number}
    money = {"SPEND_IN_MICRO_DOLLAR": 10_000 * number, "TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR": 125_000 * number}
    return {"DATE": day, **counts, **money, "TOTAL_CONVERSIONS": number % 9, "TOTAL_IMPRESSION_USER": 900 + number}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        spend, value = row.get("SPEND_IN_MICRO_DOLLAR"), row.get("TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR")
        conversions = row.get("TOTAL_CONVERSIONS")
        yield (
            date.fromisoformat(row["DATE"]),
            {
                "impressions": whole(row.get("TOTAL_IMPRESSION")),
                "clicks": whole(row.get("TOTAL_CLICKTHROUGH")),
                "spend": scale(spend, MICRO),
                "conversions": exact(conversions),
                "conversionValue": scale(value, MICRO),
                "videoViews": whole(row.get("TOTAL_VIDEO_MRC_VIEWS")),
                "reach": whole(row.get("TOTAL_IMPRESSION_USER")),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if request.url == JOB_URL:
        file: dict[str, list[Row]] = {}
        for part in source.take(300):
            names = {"CAMPAIGN_ID": str(part.entity), "CAMPAIGN_NAME": f"Campaign {part.entity}"}
            file.setdefault(str(part.entity), []).append({**names, **part.row})
        return file
    if request.method == "POST":
        return {"report_status": "IN_PROGRESS", "token": "token-1", "message": ""}
    return {"report_status": "FINISHED", "url": JOB_URL, "size": 900}


REPORT = SimulatedReport(31, answer_report)
