"""Rows of reports of X, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import MICRO, Day, Row, scale, whole
from tests.system.insights.pages import SimulatedReport, Source

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


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    if "/stats/" not in request.url:
        entities = sorted({part.entity for part in source.take(200)})
        rows = [{"id": f"c{entity:09}", "name": f"Campaign {entity}", "currency": "USD"} for entity in entities]
        return {"data": rows, "next_cursor": None}
    if request.url.endswith("/active_entities"):
        ids = dict.fromkeys(f"c{part.entity:09}" for part in source.parts)
        return {"data": [{"entity_id": id_, "placements": ["ALL_ON_TWITTER"]} for id_ in ids]}
    days: dict[str, list[Row]] = {id_: [] for id_ in request.query["entity_ids"].split(",")}
    for part in source.parts:
        if f"c{part.entity:09}" in days:
            days[f"c{part.entity:09}"].append(part.row)
    is_conversion = request.query["metric_groups"] == "WEB_CONVERSION"
    names = [name for name in source.parts[0].row if name not in ("date", "campaign_id")]
    chosen = [name for name in names if name.startswith("conversion_") is is_conversion]
    data = [
        {"id": id_, "id_data": [{"segment": None, "metrics": {name: make_series(rows, name) for name in chosen}}]}
        for id_, rows in days.items()
    ]
    return {"data_type": "stats", "time_series_length": len(source.days), "data": data}


def make_series(rows: list[Row], name: str) -> Any:
    values = [row[name] for row in rows]
    if not isinstance(values[0], dict):
        return values
    return {member: [value[member] for value in values] for member in values[0]}


REPORT = SimulatedReport(7, answer_report)
