"""Rows of reports of Google Ads, and the loop that somebody would write by hand for them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import islice

from tests.performance.loops import MICRO, Day, Row, exact, scale, whole

ROWS_IN_PAGE = 1_000


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    figures = {"impressions": str(1000 + number), "clicks": str(number % 90), "costMicros": str(10_000 * number)}
    more = {
        "conversions": Decimal(number % 9) / 2,
        "conversionsValue": Decimal(number) / 8,
        "videoTrueviewViews": str(number),
    }
    return {"segments": {"date": day}, "metrics": {**figures, **more}}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    for row in native:
        figures = row["metrics"]
        yield (
            date.fromisoformat(row["segments"]["date"]),
            {
                "impressions": whole(figures.get("impressions", 0)),
                "clicks": whole(figures.get("clicks", 0)),
                "spend": scale(figures.get("costMicros", 0), MICRO),
                "conversions": exact(figures.get("conversions", 0)),
                "conversionValue": exact(figures.get("conversionsValue", 0)),
                "videoViews": whole(figures.get("videoTrueviewViews", 0)),
            },
        )


def paginate(native: Iterable[Row]) -> Iterator[Row]:
    """Google's pages, which name the fields that were selected."""
    selected = "metrics.impressions,metrics.clicks,metrics.costMicros,metrics.conversions,metrics.conversionsValue"
    mask = f"segments.date,{selected},metrics.videoTrueviewViews"
    rows = iter(native)
    for page in iter(lambda: list(islice(rows, ROWS_IN_PAGE)), []):
        yield {"results": page, "fieldMask": mask}
