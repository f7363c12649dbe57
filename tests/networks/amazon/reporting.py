"""Rows of reports of Amazon Ads, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal

from tests.performance.loops import Day, Row, exact, whole


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    figures = {
        "impressions": 1000 + number,
        "clicks": number % 90,
        "cost": Decimal(number) / 100,
        "purchases7d": number % 9,
    }
    return {"date": day, "campaignId": 91_000 + number, **figures, "sales7d": Decimal(number) / 8}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        cost, sales = row.get("cost"), row.get("sales7d")
        yield (
            date.fromisoformat(row["date"]),
            {
                "impressions": whole(row.get("impressions")),
                "clicks": whole(row.get("clicks")),
                "spend": exact(cost),
                "conversions": whole(row.get("purchases7d")),
                "conversionValue": exact(sales),
            },
        )
