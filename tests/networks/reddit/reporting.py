"""Rows of reports of Reddit, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import CENT, MICRO, Day, Row, exact, scale, whole
from tests.system.insights.pages import SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {
        "impressions": 1000 + number,
        "clicks": number % 90,
        "reach": 900 + number,
        "video_viewable_impressions": number,
    }
    money = {"spend": 10_000 * number, "conversion_purchase_total_value": 125 * number}
    return {"date": day, **counts, **money, "key_conversion_total_count": number % 9}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        spend, value = row.get("spend"), row.get("conversion_purchase_total_value")
        conversions = row.get("key_conversion_total_count")
        yield (
            date.fromisoformat(row["date"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": scale(spend, MICRO),
                "reach": whole(row.get("reach")),
                "videoViews": whole(row.get("video_viewable_impressions")),
                "conversions": exact(conversions),
                "conversionValue": scale(value, CENT),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    rows = [{"campaign_id": f"{1_765_284_275_707_641_803 + part.entity}", **part.row} for part in source.take(32)]
    url = f"https://ads-api.reddit.com/api/v3/ad_accounts/1000001/reports?page.size=1000&page.token=t{source.page}"
    pagination = {"next_url": None if source.is_last_page else url, "previous_url": None}
    updated = "2026-11-20T02:16:44.167000+00:00"
    return {"data": {"metrics": rows, "metrics_updated_at": updated}, "pagination": pagination}


REPORT = SimulatedReport(31, answer_report)
