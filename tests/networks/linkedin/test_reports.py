"""Figures of LinkedIn below the account."""

from __future__ import annotations

from collections.abc import Callable
from datetime import UTC, date, datetime, timedelta
from typing import Any
from urllib.parse import parse_qs

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.errors import ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.linkedin import reports
from adsunify.networks.linkedin.reads import NO_ROWS_NOTE
from adsunify.networks.linkedin.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, HOST

LEVELS = {level.kind: level for level in REPORT_LEVELS}
URNS = {"campaign": "sponsoredCampaignGroup", "adGroup": "sponsoredCampaign", "ad": "sponsoredCreative"}
NOW = datetime(2026, 11, 10, 12, tzinfo=UTC)
FIRST = date(2026, 11, 1)


def make_row(kind: str, number: int, day: date = FIRST, **figures: Any) -> dict[str, Any]:
    native = {"year": day.year, "month": day.month, "day": day.day}
    return {
        "dateRange": {"start": native, "end": native},
        "pivotValues": [f"urn:li:{URNS[kind]}:{number}"],
        **figures,
    }


def make_query(kind: str, days: int = 3, *entity_ids: str) -> ReportQuery:
    return ReportQuery(LEVELS[kind], FIRST, FIRST + timedelta(days=days - 1), entity_ids)


@pytest.mark.parametrize(
    ("kind", "pivot", "entity_id", "filtered"),
    [
        ("campaign", "CAMPAIGN_GROUP", "7", "campaignGroups=List(urn%3Ali%3AsponsoredCampaignGroup%3A7)"),
        ("adGroup", "CAMPAIGN", "7", "campaigns=List(urn%3Ali%3AsponsoredCampaign%3A7)"),
        ("ad", "CREATIVE", "urn:li:sponsoredCreative:7", "creatives=List(urn%3Ali%3AsponsoredCreative%3A7)"),
    ],
)
def test_a_level_is_a_pivot_whose_rows_have_the_ids_of_lists(
    kind: str, pivot: str, entity_id: str, filtered: str
) -> None:
    native = [
        make_row(kind, 7, impressions=1200, clicks=14, costInLocalCurrency="53.970000000000000782", videoViews=0),
        make_row(kind, 8, impressions=1),
    ]
    for entity_ids, numbers in (((), 2), (("7",), 1), (("7", entity_id), 1)):
        page, (request,) = run(
            reports.fetch_report_page(ACCOUNT, make_query(kind, 3, *entity_ids), None, None, NOW),
            make_response({"elements": native}),
        )
        assert build_request_url(request) == (
            f"{HOST}/adAnalytics?q=analytics&pivot={pivot}&timeGranularity=DAILY"
            "&dateRange=(start:(year:2026,month:11,day:1),end:(year:2026,month:11,day:3))"
            "&accounts=List(urn%3Ali%3AsponsoredAccount%3A518121035)"
            + (f"&{filtered}" if entity_ids else "")
            + "&fields=dateRange,pivotValues,impressions,clicks,costInLocalCurrency,externalWebsiteConversions,"
            "conversionValueInLocalCurrency,videoViews,approximateMemberReach"
        )
        assert len(page.rows) == len(page.native_rows) == numbers
        assert page.rows[0].to_json() == {
            "date": "2026-11-01",
            "entityId": entity_id,
            "entityName": None,
            "parentId": None,
            "impressions": 1200,
            "clicks": 14,
            "spend": "53.97",
            "conversions": None,
            "conversionValue": None,
            "videoViews": 0,
            "reach": None,
        }
        assert (page.cursor, page.pending, page.coverage.is_complete) == (None, None, True)


def read_all(kind: str, days: int, answer: Callable[[date, date], list[Any]]) -> list[EntityReportPage]:
    """Read all pages from answers that are made from the first and the last day of a request."""

    def respond(request: Request) -> Response:
        text = parse_qs(request.query_raw or "")["dateRange"][0]
        numbers = [
            int(part) for part in "".join(character if character.isdigit() else " " for character in text).split()
        ]
        return make_response({"elements": answer(date(*numbers[:3]), date(*numbers[3:]))})

    pages: list[EntityReportPage] = []
    while not pages or pages[-1].cursor is not None:
        cursor = pages[-1].cursor if pages else None
        pages.append(run_flow(reports.fetch_report_page(ACCOUNT, make_query(kind, days), cursor, None, NOW), respond))
    return pages


def test_days_with_too_many_rows_are_read_in_smaller_ranges(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reports, "MAX_ELEMENTS", 10)
    requested_days: list[tuple[int, int]] = []

    def answer(first: date, last: date) -> list[Any]:
        """Four ads have rows on each day; the seventh day has 20, of which the first 10 are returned."""
        requested_days.append((first.day, last.day))
        days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
        rows = [make_row("ad", ad, day, impressions=1) for day in days for ad in range(20 if day.day == 7 else 4)]
        return rows[:10]

    pages = read_all("ad", 9, answer)
    assert requested_days == [(1, 9), (1, 4), (1, 2), (3, 4), (5, 6), (7, 8), (7, 7), (8, 8), (9, 9)]
    keys = [(row.date.day, row.entity_id) for page in pages for row in page.rows]
    assert len(keys) == len(set(keys)) == 4 * 8 + 10
    assert [page.coverage.is_complete for page in pages] == [True, True, True, False, False, False]
    assert pages[-1].finished_days is None
    (gap,) = pages[-1].coverage.missing_ranges
    assert (gap.start.day, gap.end.day) == (7, 7)
    assert reports.CUT_NOTE in pages[-1].coverage.notes


def test_a_long_range_is_read_in_parts_that_have_a_reach() -> None:
    requested_days: list[tuple[date, date]] = []

    def answer(first: date, last: date) -> list[Any]:
        requested_days.append((first, last))
        return []

    pages = read_all("campaign", 100, answer)
    assert [(last - first).days + 1 for first, last in requested_days] == [92, 8]
    assert requested_days[1][1] == FIRST + timedelta(days=99)
    assert NO_ROWS_NOTE in pages[-1].coverage.notes


@pytest.mark.parametrize("values", [[], ["urn:li:sponsoredCampaign:1"], [None]])
def test_a_row_of_another_level_is_unreadable(values: Any) -> None:
    flow = reports.fetch_report_page(ACCOUNT, make_query("ad"), None, None, NOW)
    with pytest.raises(ProviderUnreadable):
        run(flow, make_response({"elements": [{**make_row("ad", 1), "pivotValues": values}]}))


def test_the_days_of_the_longest_conversion_window_are_provisional() -> None:
    query = ReportQuery(LEVELS["campaign"], date(2026, 6, 1), NOW.date())
    page, _ = run(reports.fetch_report_page(ACCOUNT, query, None, None, NOW), make_response({"elements": []}))
    assert page.coverage.provisional_from == NOW.date() - timedelta(days=90)
