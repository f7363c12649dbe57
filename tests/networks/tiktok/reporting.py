"""Rows of reports of TikTok, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from tests.performance.loops import Day, Row, exact, whole


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
