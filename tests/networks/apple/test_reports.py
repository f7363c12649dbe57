"""The reports of Apple below the account."""

from __future__ import annotations

from datetime import date
from typing import Any

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE
from adsunify.errors import InvalidInput, ProviderError
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.apple import reports
from adsunify.networks.apple.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, NOW, make_error_response, make_page

LEVELS = {level.kind: level for level in REPORT_LEVELS}
FIRST, LAST = date(2026, 11, 16), date(2026, 11, 18)
PARENTS = {"campaign": None, "adGroup": "11", "ad": "902"}


def read_page(
    query: ReportQuery, *answers: Response, cursor: str | None = None
) -> tuple[EntityReportPage, list[Request]]:
    return run(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), *answers)


def make_row(entity_id: int, *days: dict[str, Any], **members: Any) -> dict[str, Any]:
    metadata = {"id": entity_id, "name": f"E{entity_id}", "campaignId": 11, "adGroupId": 902, "deleted": False}
    return {"metadata": metadata, "totalMetrics": {"impressions": 9}, "granularMetrics": list(days), **members}


def make_day(day: str, **figures: Any) -> dict[str, Any]:
    return {"date": day, "impressions": 10, "localSpend": {"amount": "1.50", "currency": "EUR"}, **figures}


def make_report(*rows: dict[str, Any], offset: int = 0, total: int | None = None) -> Response:
    pagination = {"offset": offset, "pageSize": 1000, "totalCount": len(rows) if total is None else total}
    return make_response({"result": {"rows": list(rows)}, "pagination": pagination})


def read_condition(request: Request) -> tuple[str, Any]:
    (only,) = request.body["filters"]
    assert only["field"] == "campaignId"
    return only["operator"], only["value"]


@pytest.mark.parametrize("kind", LEVELS)
def test_a_level_is_read_for_the_campaigns_of_a_page_of_the_list(kind: str) -> None:
    days = (make_day("2026-11-16", taps=3, totalInstalls=1), make_day("2026-11-17"))
    page, (list_request, report_request) = read_page(
        ReportQuery(LEVELS[kind], FIRST, LAST), make_page({"id": 11}, {"id": 12}), make_report(make_row(7, *days))
    )
    assert list_request.body["filters"] == [{"field": "deleted", "operator": "IN", "value": [True, False]}]
    assert build_request_url(report_request) == f"{API}/reports/apps/{LEVELS[kind].native}/query"
    assert report_request.body == {
        "timeRange": {"start": "2026-11-16", "end": "2026-11-18", "timeZone": "ORTZ", "granularity": "DAILY"},
        "filters": [{"field": "campaignId", "operator": "IN", "value": ["11", "12"]}],
        "fields": ["impressions", "taps", "localSpend", "totalInstalls", "tapInstalls", "viewInstalls"],
        "pagination": {"offset": 0, "pageSize": 1000},
    }
    same = {"entityId": "7", "entityName": "E7", "parentId": PARENTS[kind], "impressions": 10, "spend": "1.5"}
    same |= {"conversionValue": None, "videoViews": None, "reach": None}
    assert [row.to_json() for row in page.rows] == [
        {**same, "date": "2026-11-16", "clicks": 3, "conversions": "1"},
        {**same, "date": "2026-11-17", "clicks": None, "conversions": None},  # Apple leaves metrics out
    ]
    assert (page.cursor, page.native_rows, page.coverage.is_complete) == (None, [make_row(7, *days)], True)


def test_figures_of_one_day_are_the_totals() -> None:
    query = ReportQuery(LEVELS["ad"], FIRST, FIRST)
    silent = make_row(8, totalMetrics=None)
    page, (_, report_request) = read_page(query, make_page({"id": 11}, {"id": 12}), make_report(make_row(7), silent))
    assert "granularity" not in report_request.body["timeRange"]
    assert [(row.entity_id, row.date, row.impressions, row.spend) for row in page.rows] == [("7", FIRST, 9, None)]


def test_pages_of_a_report_precede_the_next_page_of_campaigns() -> None:
    query = ReportQuery(LEVELS["ad"], FIRST, LAST)
    campaigns = make_page({"id": 11}, {"id": 12}, total=3)
    first, _ = read_page(query, campaigns, make_report(make_row(1), total=2))
    second, (list_request, report_request) = read_page(
        query, campaigns, make_report(make_row(2), offset=1, total=2), cursor=first.cursor
    )
    assert (list_request.body["pagination"]["offset"], report_request.body["pagination"]["offset"]) == (0, 1)
    third, (list_request, report_request) = read_page(
        query, make_page({"id": 13}, offset=2, total=3), make_report(make_row(3)), cursor=second.cursor
    )
    assert (list_request.body["pagination"]["offset"], read_condition(report_request)) == (2, ("EQUALS", "13"))
    assert third.cursor is None


def test_a_report_that_takes_one_campaign_only() -> None:
    query = ReportQuery(LEVELS["adGroup"], FIRST, LAST)
    campaigns = make_page({"id": 11}, {"id": 12}, total=4)
    first, requests = read_page(
        query, campaigns, make_error_response("VALIDATION_ERROR", 400), make_report(make_row(1), total=2)
    )
    assert list(map(read_condition, requests[1:])) == [("IN", ["11", "12"]), ("EQUALS", "11")]
    second, requests = read_page(query, campaigns, make_report(make_row(2), offset=1, total=2), cursor=first.cursor)
    assert (read_condition(requests[1]), requests[1].body["pagination"]["offset"]) == (("EQUALS", "11"), 1)
    third, requests = read_page(query, campaigns, make_report(make_row(3)), cursor=second.cursor)
    assert read_condition(requests[1]) == ("EQUALS", "12")
    more = make_page({"id": 13}, {"id": 14}, offset=2, total=4)
    fourth, requests = read_page(query, more, make_report(), cursor=third.cursor)
    assert read_condition(requests[1]) == ("EQUALS", "13")  # IN is not tried again
    last, requests = read_page(query, more, make_report(), cursor=fourth.cursor)
    assert (read_condition(requests[1]), last.cursor) == (("EQUALS", "14"), None)


@pytest.mark.parametrize(("status", "cursor"), [(403, None), (400, "0.IN.0:1"), (400, "0.EQUALS.0:")])
def test_another_refusal_is_raised(status: int, cursor: str | None) -> None:
    with pytest.raises(ProviderError):
        read_page(
            ReportQuery(LEVELS["ad"], FIRST, LAST),
            make_page({"id": 11}, {"id": 12}),
            make_error_response("VALIDATION_ERROR", status),
            cursor=cursor,
        )


def test_campaigns_are_asked_for_by_their_ids() -> None:
    query = ReportQuery(LEVELS["campaign"], FIRST, LAST, ("11", "12"))
    page, (request,) = read_page(
        query, make_report(make_row(11, make_day("2026-11-16")), make_row(99, make_day("2026-11-16")))
    )
    assert read_condition(request) == ("IN", ["11", "12"])
    assert [(row.entity_id, row.clicks) for row in page.rows] == [("11", None)]


@pytest.mark.parametrize("kind", ["adGroup", "ad"])
def test_entities_are_asked_for_by_their_campaigns(kind: str) -> None:
    query = ReportQuery(LEVELS[kind], FIRST, LAST, ("7", "8"))
    answers = (
        make_page({"id": 7, "campaignId": 12}),
        make_page({"id": 8, "campaignId": 11}),
        make_report(make_row(7, make_day("2026-11-16")), make_row(9)),
    )
    page, (living, deleted, report_request) = read_page(query, *answers)
    assert build_request_url(living) == f"{API}/{LEVELS[kind].native}/query"
    assert living.body["filters"] == [{"field": "id", "operator": "IN", "value": [7, 8]}]
    assert deleted.body["filters"][1:] == [{"field": "deleted", "operator": "EQUALS", "value": True}]
    assert read_condition(report_request) == ("IN", ["11", "12"])
    assert [row.entity_id for row in page.rows] == ["7"]
    foreign, foreign_requests = read_page(query, make_page(), make_page())
    assert (foreign.rows, foreign.cursor, len(foreign_requests)) == ((), None, 2)


def test_without_campaigns_no_report_is_asked_for() -> None:
    page, requests = read_page(ReportQuery(LEVELS["campaign"], FIRST, LAST), make_page())
    assert (page.rows, page.cursor, len(requests)) == ((), None, 1)
    assert NO_CAMPAIGNS_NOTE in page.coverage.notes


def test_a_page_of_a_long_report_has_fewer_entities() -> None:
    _, (_, report_request) = read_page(
        ReportQuery(LEVELS["ad"], date(2026, 8, 25), date(2026, 11, 20)), make_page({"id": 11}), make_report()
    )
    assert report_request.body["pagination"]["pageSize"] == 227


@pytest.mark.parametrize("cursor", ["", "x", "0", "0.LIKE.", "-1.IN."])
def test_other_cursors_are_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        read_page(ReportQuery(LEVELS["ad"], FIRST, LAST), cursor=cursor)
