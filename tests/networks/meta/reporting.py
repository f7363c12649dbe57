"""Rows of reports of Meta, the loop that somebody would write by hand for them, and pages of a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date
from typing import Any

from adsunify.http.messages import Request
from tests.performance.loops import Day, Row, exact, whole
from tests.system.insights.pages import SimulatedReport, Source


def make_row(number: int, day: str) -> Row:
    """A row of a report, as JSON reads it."""
    counts = {"link_click": number % 80, "video_view": number, "purchase": number % 9, "omni_purchase": number % 9}
    values = {"purchase": f"{number}.10", "omni_purchase": f"{number}.50"}
    figures = {
        "impressions": str(1000 + number),
        "clicks": str(number % 90),
        "spend": f"{number}.34",
        "reach": str(900 + number),
    }
    actions = [{"action_type": kind, "value": str(value)} for kind, value in counts.items()]
    amounts = [{"action_type": kind, "value": value} for kind, value in values.items()]
    return {"date_start": day, "date_stop": day, **figures, "actions": actions, "action_values": amounts}


def parse_days(native: Iterable[Row]) -> Iterator[Day]:
    """The loop that somebody would write by hand for the rows."""
    kinds = ("omni_purchase", "purchase", "offsite_conversion.fb_pixel_purchase")
    for row in native:
        actions = {action["action_type"]: action["value"] for action in row.get("actions", ())}
        values = {action["action_type"]: action["value"] for action in row.get("action_values", ())}
        kind = next((kind for kind in kinds if kind in actions), None)
        views, value = actions.get("video_view"), values.get(kind)
        yield (
            date.fromisoformat(row["date_start"]),
            {
                "impressions": whole(row["impressions"]),
                "clicks": whole(row["clicks"]),
                "spend": exact(row["spend"]),
                "conversions": None if kind is None else exact(actions[kind]),
                "conversionValue": exact(value),
                "videoViews": whole(views),
                "reach": whole(row["reach"]),
            },
        )


def answer_report(request: Request, source: Source) -> Any:
    """The JSON of the answer to a request of a report of campaigns."""
    rows = [
        {"campaign_id": f"{120_210_000_000_000 + part.entity}", "campaign_name": f"Campaign {part.entity}", **part.row}
        for part in source.take(16)
    ]
    paging: dict[str, Any] = {"cursors": {"before": "MA", "after": f"M{source.page}"}}
    if not source.is_last_page:
        paging["next"] = "https://graph.facebook.com/v26.0/act_1000001/insights?after=M"
    return {"data": rows, "paging": paging}


REPORT = SimulatedReport(31, answer_report)
