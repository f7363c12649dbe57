"""Rows of reports of X, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from tests.performance.loops import MICRO, Day, Row, scale, whole

COUNTS = {"impressions": "impressions", "clicks": "clicks", "videoViews": "video_total_views"}
CONVERSIONS = (
    "conversion_purchases",
    "conversion_sign_ups",
    "conversion_site_visits",
    "conversion_downloads",
    "conversion_custom",
)


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {"impressions": 1000 + number, "clicks": number % 90, "video_total_views": number}
    more = {
        "billed_charge_local_micro": 10_000 * number,
        "conversion_purchases": {"metric": number % 9, "order_quantity": number},
    }
    return {"date": day, "campaign_id": "c7", **counts, **more, "conversion_sign_ups": {"metric": 1}}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    days: dict[date, dict[str, Any]] = {}
    for row in native:
        sums = days.setdefault(date.fromisoformat(row["date"]), {})
        for name, native_name in COUNTS.items():
            if (count := row.get(native_name)) is not None:
                sums[name] = sums.get(name, 0) + whole(count)
        if (spend := row.get("billed_charge_local_micro")) is not None:
            sums["spend"] = sums.get("spend", 0) + whole(spend)
        for kind in CONVERSIONS:
            if (figures := row.get(kind)) is not None and (count := figures.get("metric")) is not None:
                sums["conversions"] = sums.get("conversions", 0) + whole(count)
    for day, sums in days.items():
        spend = sums.get("spend")
        yield day, {**sums, "spend": scale(spend, MICRO)}
