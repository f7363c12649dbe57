"""Rows of reports of ChatGPT ads, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal

from tests.performance.loops import Day, Row, exact, whole


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    return {"readable_time": day, "impressions": 1000 + number, "clicks": number % 90, "spend": Decimal(number) / 100}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        impressions, clicks, spend = row.get("impressions"), row.get("clicks"), row.get("spend")
        yield (
            date.fromisoformat(row["readable_time"]),
            {
                "impressions": whole(row.get("campaign_impressions") if impressions is None else impressions),
                "clicks": whole(row.get("campaign_clicks") if clicks is None else clicks),
                "spend": exact(row.get("campaign_spend") if spend is None else spend),
            },
        )
