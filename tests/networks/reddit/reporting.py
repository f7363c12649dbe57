"""Rows of reports of Reddit, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from tests.performance.loops import CENT, MICRO, Day, Row, exact, scale, whole


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
