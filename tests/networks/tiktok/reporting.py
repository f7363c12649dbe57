"""Rows of reports of TikTok, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import PAGES, SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {"impressions": str(1000 + number), "clicks": str(number % 90), "reach": str(900 + number)}
    more = {
        "spend": f"{number}.34",
        "conversion": "-" if number % 7 == 0 else str(number % 9),
        "video_play_actions": str(number),
    }
    return {"dimensions": {"stat_time_day": f"{day} 00:00:00"}, "metrics": {**counts, **more}}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        figures = row["metrics"]
        conversions = figures["conversion"]
        yield (
            date.fromisoformat(row["dimensions"]["stat_time_day"][:10]),
            {
                "impressions": whole(figures["impressions"]),
                "clicks": whole(figures["clicks"]),
                "spend": exact(figures["spend"]),
                "conversions": None if conversions == "-" else exact(conversions),
                "videoViews": whole(figures["video_play_actions"]),
                "reach": whole(figures["reach"]),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    rows = [
        {
            "dimensions": {"campaign_id": f"{1_800_000_000_000_000 + part.entity}", **part.row["dimensions"]},
            "metrics": {"campaign_name": f"Campaign {part.entity}", **part.row["metrics"]},
        }
        for part in source.take(33)
    ]
    number = (source.page - 1) % PAGES + 1
    paging = {"page": number, "page_size": 1000, "total_number": 990 * PAGES, "total_page": PAGES}
    return {"code": 0, "message": "OK", "request_id": "1", "data": {"list": rows, "page_info": paging}}


REPORT = SimulatedReport(30, answer_report)
