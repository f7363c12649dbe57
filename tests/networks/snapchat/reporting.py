"""Rows of reports of Snapchat, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date, datetime, time
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.http.messages import Request
from tests.performance.loops import MICRO, ZONE, Day, Row, exact, scale, whole
from tests.system.insights.pages import REPORT_ZONE, SimulatedReport, Source


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


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    entities: dict[int, dict[str, Any]] = {}
    for part in source.take(200):
        names = {"id": f"22222222-aaaa-4bbb-8ccc-{part.entity:012d}", "type": "CAMPAIGN", "granularity": "DAY"}
        entity = entities.setdefault(part.entity, {**names, "timeseries": []})
        start = datetime.combine(part.day, time(), ZoneInfo(REPORT_ZONE)).isoformat(timespec="milliseconds")
        entity["timeseries"].append({"start_time": start, "end_time": start, "stats": part.row["stats"]})
    statistic = {
        "id": "1000001",
        "type": "AD_ACCOUNT",
        "breakdown_stats": {"campaign": list(entities.values())},
        "finalized_data_end_time": "2026-11-18T00:00:00.000-05:00",
    }
    link = f"https://adsapi.snapchat.com/v1/adaccounts/1000001/stats?cursor=c{source.page}"
    paging = {} if source.is_last_page else {"paging": {"next_link": link}}
    stats = [{"sub_request_status": "SUCCESS", "timeseries_stat": statistic}]
    return {"request_status": "SUCCESS", "request_id": "1", "timeseries_stats": stats, **paging}


REPORT = SimulatedReport(30, answer_report)
