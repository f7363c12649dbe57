"""Rows of reports of Apple Ads, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, timedelta

from tests.performance.loops import Day, Row, exact, whole

DAYS_IN_ROW = 30
"""A row of Apple's is a campaign, with its days."""


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    figures = {"impressions": 1000 + number, "taps": number % 90, "totalInstalls": number % 9}
    days = [(date.fromisoformat(day) + timedelta(more)).isoformat() for more in range(DAYS_IN_ROW)]
    spend = {"amount": f"{number}.25", "currency": "EUR"}
    return {"granularMetrics": [{"date": day, **figures, "localSpend": spend} for day in days]}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for campaign in native:
        for row in campaign["granularMetrics"]:
            spend = row.get("localSpend")
            yield (
                date.fromisoformat(row["date"]),
                {
                    "impressions": whole(row.get("impressions")),
                    "clicks": whole(row.get("taps")),
                    "spend": None if spend is None else exact(spend["amount"]),
                    "conversions": whole(row.get("totalInstalls")),
                },
            )
