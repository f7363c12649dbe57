"""Rows of reports of ChatGPT ads, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.http.messages import Request
from adsunify.values.exact_json import loads
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import REPORT_ZONE, SimulatedReport, Source


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


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if request.url.endswith("/conversions/insights"):
        return {"object": "list", "data": list(list_conversions(request, source))}
    rows = [
        {
            "id": f"start={part.day}:entity_id=cmpn_{part.entity}",
            "campaign_id": f"cmpn_{part.entity}",
            "campaign_name": f"Campaign {part.entity}",
            **part.row,
        }
        for part in source.take(50)
    ]
    return {"object": "list", "data": rows, "has_more": not source.is_last_page, "last_id": rows[-1]["id"]}


def list_conversions(request: Request, source: Source) -> Iterator[Row]:
    """Yield the conversions of the entities and days of a request."""
    days = loads(request.body["time_ranges"][0])
    ids, zone = set(request.body["entity_ids"]), ZoneInfo(REPORT_ZONE)
    first, last = (datetime.fromtimestamp(int(days[name]), zone).date() for name in ("start", "end"))
    for part in source.parts:
        if f"cmpn_{part.entity}" in ids and first <= part.day < last:
            yield {
                "entity_id": f"cmpn_{part.entity}",
                "date": part.day.isoformat(),
                "conversions": part.entity % 9,
                "order_created_attributed_sales": f"{part.entity % 1000}.50",
                "order_created_attributed_sales_currency": "USD",
            }


REPORT = SimulatedReport(40, answer_report)
