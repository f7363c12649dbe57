"""Rows of reports of Google Ads, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from decimal import Decimal
from itertools import islice
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import MICRO, Day, Row, exact, scale, whole
from tests.system.insights.pages import SimulatedReport, Source

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


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    rows = [
        {
            "campaign": {"resourceName": f"customers/1000001/campaigns/{part.entity}", "id": f"{part.entity}"}
            | {"name": f"Campaign {part.entity}"},
            **part.row,
        }
        for part in source.take(320)
    ]
    figures = ["impressions", "clicks", "costMicros", "conversions", "conversionsValue", "videoTrueviewViews"]
    fields = ["segments.date", "campaign.id", "campaign.name", *(f"metrics.{name}" for name in figures)]
    page = {} if source.is_last_page else {"nextPageToken": f"page{source.page}"}
    return {"results": rows, **page, "fieldMask": ",".join(fields)}


REPORT = SimulatedReport(31, answer_report)
