"""Figures of Reddit below the account."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.http.messages import Request, build_request_url
from adsunify.networks.reddit import reports
from adsunify.networks.reddit.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, BELOW, NOW

LEVELS = {level.kind: level for level in REPORT_LEVELS}
START, END = date(2026, 11, 1), date(2026, 11, 3)
ROW = {
    "date": "2026-11-01",
    "campaign_id": "5",
    "impressions": 50000,
    "clicks": 124,
    "spend": 51036973,
    "reach": 41000,
    "video_viewable_impressions": None,
    "key_conversion_total_count": 3,
    "conversion_purchase_total_value": 2525,
}


def read_page(
    kind: str, *rows: Any, ids: tuple[str, ...] = (), cursor: str | None = None, **more: Any
) -> tuple[EntityReportPage, Request]:
    body = {
        "data": {"metrics": rows, "metrics_updated_at": more.get("updated")},
        "pagination": {"next_url": more.get("following")},
    }
    query = ReportQuery(LEVELS[kind], START, END, ids)
    page, (request,) = run(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), make_response(body))
    return page, request


@pytest.mark.parametrize(
    ("kind", "breakdowns", "ids", "condition"),
    [
        ("campaign", ["CAMPAIGN_ID"], {"campaign_id": "5"}, "campaign:id==5,campaign:id==6"),
        (
            "adGroup",
            ["AD_GROUP_ID", "CAMPAIGN_ID"],
            {"ad_group_id": "5", "campaign_id": "1"},
            "ad_group:id==5,ad_group:id==6",
        ),
        ("ad", ["AD_ID", "AD_GROUP_ID"], {"ad_id": "5", "ad_group_id": "1"}, "ad:id==5,ad:id==6"),
    ],
)
def test_a_level_is_a_breakdown(kind: str, breakdowns: list[str], ids: dict[str, str], condition: str) -> None:
    own = {**ROW, **ids}
    foreign = {**own, f"{LEVELS[kind].native}_id": "99"}
    page, request = read_page(kind, own, foreign, {**own, "date": "2026-10-31"}, ids=("5", "6"))
    assert (request.method, build_request_url(request)) == ("POST", f"{BELOW}/reports?page.size=1000")
    body = request.body["data"]
    assert (body["breakdowns"], body["filter"]) == (["DATE", *breakdowns], condition)
    assert [row.to_json() for row in page.rows] == [
        {
            "date": "2026-11-01",
            "entityId": "5",
            "entityName": None,
            "parentId": None if kind == "campaign" else "1",
            "impressions": 50000,
            "clicks": 124,
            "spend": "51.036973",
            "conversions": "3",
            "conversionValue": "25.25",
            "videoViews": None,
            "reach": 41000,
        }
    ]
    assert page.native_rows == [own]
    unfiltered, request = read_page(kind, own, foreign)
    assert "filter" not in request.body["data"]
    assert [row.entity_id for row in unfiltered.rows] == ["5", "99"]


def test_a_cursor_leads_to_the_next_page_with_the_same_body() -> None:
    following = f"{BELOW}/reports?page.size=1000&page.token=2"
    first, opening = read_page("campaign", ROW, following=following)
    assert first.finished_days is None and first.cursor is not None
    zeros = {**dict.fromkeys(ROW, 0), "date": "2026-11-02", "campaign_id": "5", "video_viewable_impressions": None}
    second, request = read_page("campaign", zeros, cursor=first.cursor)
    assert (request.method, build_request_url(request), request.body) == ("POST", following, opening.body)
    assert [(row.impressions, row.spend, row.video_views) for row in second.rows] == [(0, "0", None)]
    assert second.cursor is None and second.finished_days is not None
    with pytest.raises(ProviderUnreadable):
        read_page("campaign", ROW, cursor=first.cursor, following=following)
    with pytest.raises(InvalidInput):
        read_page("campaign", ROW, cursor=f"0:{BELOW}/campaigns?page.token=2")


def test_days_are_provisional_until_hours_after_the_last_update() -> None:
    page, _ = read_page("campaign", updated="2026-11-03T06:00:00Z")
    assert (page.rows, page.coverage.provisional_from) == ((), date(2026, 11, 2))


def test_a_row_without_its_entity_is_unreadable() -> None:
    with pytest.raises(ProviderUnreadable):
        read_page("ad", ROW)
