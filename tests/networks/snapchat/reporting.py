"""Rows of reports of Snapchat, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from zoneinfo import ZoneInfo

from tests.performance.loops import MICRO, ZONE, Day, Row, exact, scale, whole


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    stats = {"impressions": 1000 + number, "swipes": number % 90, "spend": 10_000 * number, "video_views": number}
    more = {"conversion_purchases": number % 9, "conversion_purchases_value": 125_000 * number}
    start = datetime.combine(date.fromisoformat(day), datetime.min.time(), ZoneInfo(ZONE))
    return {"type": "CAMPAIGN", "start_time": start.isoformat(timespec="milliseconds"), "stats": {**stats, **more}}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    zone = ZoneInfo(ZONE)
    for row in native:
        figures = row["stats"]
        spend, value = figures.get("spend"), figures.get("conversion_purchases_value")
        conversions = figures.get("conversion_purchases")
        yield (
            datetime.fromisoformat(row["start_time"]).astimezone(zone).date(),
            {
                "impressions": whole(figures.get("impressions")),
                "clicks": whole(figures.get("swipes")),
                "spend": scale(spend, MICRO),
                "conversions": exact(conversions),
                "conversionValue": scale(value, MICRO),
                "videoViews": whole(figures.get("video_views")),
            },
        )
