"""The TikTok adapter: figures of campaigns, ad groups and ads."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from typing import Any

import pytest
from attrs import evolve

from adsunify.adapter.entity_reports import ReportQuery
from adsunify.errors import InvalidInput, ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.networks.tiktok import reports
from adsunify.networks.tiktok.tables import REPORT_LEVELS
from adsunify.values.exact_json import dumps
from tests.networks.calls import run

from .calls import ACCOUNT, make_page

NOW = datetime(2026, 11, 20, 12, tzinfo=UTC)
LEVELS = {level.kind: level for level in REPORT_LEVELS}
METRICS = ("spend", "impressions", "clicks", "conversion", "video_play_actions", "reach")
FIGURES = {"spend": "10.00", "impressions": "1000", "clicks": "0", "conversion": "-"}
THROTTLED = {"x-tt-ads-throttle": "Number of ad ids is equal or more than 20k, only the newest 20k are returned"}


def read_page(
    *answers: Response,
    kind: str = "campaign",
    ids: tuple[str, ...] = (),
    end: date = date(2026, 10, 30),
    cursor: str | None = None,
) -> tuple[Any, list[Request]]:
    query = ReportQuery(LEVELS[kind], date(2026, 10, 1), end, ids)
    return run(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), *answers)


def make_row(name: str, entity_id: str, day: str = "2026-10-03", **metrics: str) -> dict[str, Any]:
    return {"dimensions": {name: entity_id, "stat_time_day": f"{day} 00:00:00"}, "metrics": FIGURES | metrics}


@pytest.mark.parametrize(
    ("kind", "native", "dimension", "attributes", "ids_name", "status_name", "parent"),
    [
        ("campaign", "CAMPAIGN", "campaign_id", ["campaign_name"], "campaign_ids", "campaign_status", None),
        (
            *("adGroup", "ADGROUP", "adgroup_id", ["adgroup_name", "campaign_id"], "adgroup_ids", "adgroup_status"),
            "5",
        ),
        ("ad", "AD", "ad_id_v2", ["ad_name", "adgroup_id"], "ad_ids_v2", "ad_status", "5"),
    ],
)
def test_each_level_has_its_dimension_and_filters(
    kind: str, native: str, dimension: str, attributes: list[str], ids_name: str, status_name: str, parent: str | None
) -> None:
    values = dict(zip(attributes, ("Tea", "5"), strict=False))
    page, (request,) = read_page(make_page(make_row(dimension, "6", **values)), kind=kind, ids=("6", "7"))
    assert dict(request.query) == {
        "advertiser_id": "7011112222",
        "service_type": "AUCTION",
        "report_type": "BASIC",
        "data_level": f"AUCTION_{native}",
        "dimensions": f'["{dimension}","stat_time_day"]',
        "metrics": dumps([*attributes, *METRICS]),
        "start_date": "2026-10-01",
        "end_date": "2026-10-30",
        "page": "1",
        "page_size": "1000",
        "filtering": (
            f'[{{"field_name":"{ids_name}","filter_type":"IN","filter_value":"[\\"6\\",\\"7\\"]"}},'
            f'{{"field_name":"{status_name}","filter_type":"IN","filter_value":"[\\"STATUS_ALL\\"]"}}]'
        ),
    }
    (only,) = page.rows
    assert (only.entity_id, only.entity_name, only.parent_id) == ("6", "Tea", parent)
    assert (only.date, only.spend, only.clicks, only.conversions) == (date(2026, 10, 3), "10", 0, None)
    assert (page.cursor, page.coverage.is_complete) == (None, True)


def test_a_long_range_has_a_part_for_each_30_days() -> None:
    days, end = [], date(2026, 11, 5)
    cursor = None
    for answer in (make_page(pages=2), make_page(page=2, pages=2), make_page()):
        page, (request,) = read_page(answer, end=end, cursor=cursor)
        days.append((request.query["start_date"], request.query["end_date"], request.query["page"]))
        cursor = page.cursor
        assert page.coverage.end == end
    assert cursor is None
    assert days == [
        ("2026-10-01", "2026-10-30", "1"),
        ("2026-10-01", "2026-10-30", "2"),
        ("2026-10-31", "2026-11-05", "1"),
    ]
    assert "campaign_ids" not in request.query["filtering"]
    with pytest.raises(InvalidInput):
        read_page(end=end, cursor="2:")


def test_a_report_without_all_ads_is_never_complete() -> None:
    """The header is on one page; neither this page nor a later one is complete."""
    ads = make_page(make_row("ad_id_v2", "6"), pages=2)
    first, _ = read_page(evolve(ads, headers=THROTTLED), kind="ad")
    last, (request,) = read_page(make_page(page=2, pages=2), kind="ad", cursor=first.cursor)
    assert (request.query["page"], last.cursor) == ("2", None)
    for page in (first, last):
        assert (page.coverage.is_complete, page.finished_days) == (False, None)
        assert any("newest 20,000 ads" in note for note in page.coverage.notes)


def test_a_row_without_its_entity_or_day_is_refused() -> None:
    for row in (make_row("adgroup_id", "6"), make_row("campaign_id", "6", day="?")):
        with pytest.raises(ProviderUnreadable):
            read_page(make_page(row))


def test_the_days_of_the_longest_conversion_window_are_provisional() -> None:
    page, _ = read_page(make_page(), end=date(2026, 11, 5))
    assert page.coverage.provisional_from == NOW.date() - timedelta(days=28)
