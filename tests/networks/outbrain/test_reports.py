"""The reports of Outbrain below the marketer."""

from __future__ import annotations

from datetime import date
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE
from adsunify.errors import InvalidInput, ProviderError
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.outbrain import reports
from adsunify.networks.outbrain.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, API, MARKETER, NOW

LEVELS = {level.kind: level for level in REPORT_LEVELS}
FIRST, LAST = date(2027, 4, 26), date(2027, 4, 28)
FULL_DAY = make_response({"fullDayDate": "2027-04-27"})
CAMPAIGNS = "0c1", "0c2"
REPORTS = f"{API}/reports/marketers/{MARKETER}/campaigns"


def read_page(
    query: ReportQuery, *answers: Response, cursor: str | None = None
) -> tuple[EntityReportPage, list[Request]]:
    return run(reports.fetch_report_page(ACCOUNT, query, cursor, None, NOW), *answers)


def make_day(day: str, **metrics: Any) -> dict[str, Any]:
    return {"metadata": {"id": day, "fromDate": day, "toDate": day}, "metrics": metrics}


def make_entry(entity_id: str, *days: dict[str, Any], total: int | None = None) -> dict[str, Any]:
    member = "campaignId" if entity_id.startswith("0c") else "promotedLinkId"
    return {member: entity_id, "results": list(days), "totalResults": len(days) if total is None else total}


def make_campaigns(*entries: dict[str, Any]) -> Response:
    return make_response({"campaignResults": list(entries), "totalCampaigns": len(entries)})


def make_links(*entries: dict[str, Any]) -> Response:
    return make_response({"promotedLinkResults": list(entries), "totalPromotedLinks": len(entries)})


def make_names(*ids: str) -> Response:
    return make_response({"campaigns": [{"id": entity_id, "name": "Boots"} for entity_id in ids]})


def test_campaigns_come_in_one_report() -> None:
    full = make_day(
        "2027-04-27",
        impressions=Decimal("93072.00"),
        clicks=101,
        spend=Decimal("85.96"),
        totalConversions=2,
        totalSumValue=Decimal("97.98"),
        videoPlays=0,
    )
    query = ReportQuery(LEVELS["campaign"], FIRST, LAST, CAMPAIGNS)
    reported = make_entry("0c1", full, make_day("2027-04-26", spend=0))
    page, (report_request, _) = read_page(query, make_campaigns(reported, make_entry("0c9", full)), FULL_DAY)
    assert build_request_url(report_request) == (
        f"{REPORTS}/periodic?from=2027-04-26&to=2027-04-28&breakdown=daily&limit=500&offset=0&campaignId=0c1%2C0c2"
        "&includeArchivedCampaigns=true&enabledCampaignsOnly=false&includeVideoStats=true"
    )
    same = {"entityId": "0c1", "entityName": None, "parentId": None, "reach": None}
    absent = dict.fromkeys(("impressions", "clicks", "conversions", "conversionValue", "videoViews"))
    assert [row.to_json() for row in page.rows] == [
        {**same, **absent, "date": "2027-04-26", "spend": "0"},
        {**same, "date": "2027-04-27", "impressions": 93072, "clicks": 101, "spend": "85.96"}
        | {"conversions": "2", "conversionValue": "97.98", "videoViews": 0},
    ]
    assert (page.native_rows, page.cursor) == ([reported], None)
    coverage = page.coverage
    assert (coverage.is_complete, coverage.provisional_from, coverage.timezone) == (True, LAST, "America/New_York")


def test_all_campaigns_are_asked_for_without_ids() -> None:
    _, (report_request, _) = read_page(ReportQuery(LEVELS["campaign"], FIRST, LAST), make_campaigns(), FULL_DAY)
    assert "campaignId" not in report_request.query and report_request.query["includeArchivedCampaigns"] == "true"


def test_links_are_read_campaign_by_campaign() -> None:
    query = ReportQuery(LEVELS["ad"], FIRST, LAST)
    first, (list_request, report_request, _) = read_page(
        query, make_names("0c2", "0c1"), make_links(make_entry("0a1", make_day("2027-04-27", clicks=3))), FULL_DAY
    )
    assert list_request.query["includeArchived"] == "true"
    assert build_request_url(report_request) == (
        f"{REPORTS}/0c1/periodicContent?from=2027-04-26&to=2027-04-28&breakdown=daily&limit=500&offset=0"
        "&includeVideoStats=true"
    )
    assert [(row.entity_id, row.parent_id, row.clicks) for row in first.rows] == [("0a1", "0c1", 3)]
    # a campaign that is new since the first page changes neither the order nor the freshness
    second, (_, report_request) = read_page(
        query, make_names("0c0", "0c2", "0c1"), make_links(make_entry("0a2")), cursor=first.cursor
    )
    assert "/0c2/" in build_request_url(report_request)
    assert (second.rows, second.cursor, second.coverage) == ((), None, first.coverage)


def test_links_are_asked_for_by_their_campaigns() -> None:
    query = ReportQuery(LEVELS["ad"], FIRST, LAST, ("0a1", "0a2", "0a3", "0a4", "0a5"))
    link_responses = [make_response({"id": "0a", "campaignId": campaign}) for campaign in ("0c2", "0c1", "0cf")]
    error_responses = make_response({"errorMessage": "no"}, 403), make_response({"errorMessage": "no"}, 404)
    figures = make_day("2027-04-27", clicks=3)
    links = make_links(make_entry("0a2", figures), make_entry("0a9", figures))
    first, requests = read_page(
        query, make_names("0c1", "0c2", "0c3"), *link_responses, *error_responses, links, FULL_DAY
    )
    assert [build_request_url(request) for request in requests[1:6]] == [
        f"{API}/promotedLinks/0a{digit}" for digit in "12345"
    ]
    assert [(row.entity_id, row.parent_id) for row in first.rows] == [("0a2", "0c1")]
    second, (next_request,) = read_page(query, make_links(make_entry("0a1", figures)), cursor=first.cursor)
    assert "/0c2/" in build_request_url(next_request)
    assert ([row.parent_id for row in second.rows], second.cursor) == (["0c2"], None)  # 0cf is of another marketer


def test_an_entity_with_more_days_than_a_page_has_is_read_on() -> None:
    query = ReportQuery(LEVELS["campaign"], FIRST, LAST)
    full, more = (
        make_entry("0c1", make_day("2027-04-28"), total=1),
        make_entry("0c2", make_day("2027-04-28"), total=501),
    )
    first, _ = read_page(query, make_campaigns(full, more), FULL_DAY)
    second, (request,) = read_page(
        query, make_campaigns(make_entry("0c2", make_day("2027-04-26"), total=501)), cursor=first.cursor
    )
    assert (request.query["offset"], [row.date for row in second.rows], second.cursor) == ("500", [FIRST], None)


@pytest.mark.parametrize(("rows", "has_more"), [(499, False), (500, True), (501, False)])
def test_a_full_page_of_all_entities_together_is_not_the_last(rows: int, has_more: bool) -> None:
    entries = [make_entry(f"0a{number:x}", make_day("2027-04-28")) for number in range(rows)]
    query = ReportQuery(LEVELS["ad"], FIRST, LAST)
    page, _ = read_page(query, make_names("0c1"), make_links(*entries), FULL_DAY)
    assert (page.cursor is not None) == has_more
    if has_more:
        last, (_, report_request) = read_page(query, make_names("0c1"), make_links(), cursor=page.cursor)
        assert (report_request.query["offset"], last.rows, last.cursor) == ("500", (), None)


def test_a_long_range_is_read_in_parts() -> None:
    query = ReportQuery(LEVELS["campaign"], date(2027, 1, 1), LAST)
    first, (first_request, _) = read_page(query, make_campaigns(), FULL_DAY)
    second, (next_request,) = read_page(query, make_campaigns(), cursor=first.cursor)
    assert [(request.query["from"], request.query["to"]) for request in (first_request, next_request)] == [
        ("2027-01-01", "2027-03-31"),
        ("2027-04-01", "2027-04-28"),
    ]
    assert second.cursor is None


def test_without_campaigns_no_report_is_asked_for() -> None:
    page, requests = read_page(ReportQuery(LEVELS["ad"], FIRST, LAST), make_names(), FULL_DAY)
    assert (page.rows, page.cursor, len(requests)) == ((), None, 2)
    assert NO_CAMPAIGNS_NOTE in page.coverage.notes
    foreign, _ = read_page(
        ReportQuery(LEVELS["ad"], FIRST, LAST, ("0a1",)), make_names("0c1"), make_response({}, 404), FULL_DAY
    )
    assert foreign.rows == () and NO_CAMPAIGNS_NOTE not in foreign.coverage.notes


@pytest.mark.parametrize("cursor", ["", "0:", "2027-04-28.0c1.x", "2027-04-28..9:"])
def test_other_cursors_are_refused(cursor: str) -> None:
    with pytest.raises(InvalidInput):
        read_page(ReportQuery(LEVELS["campaign"], FIRST, LAST), cursor=cursor)


@pytest.mark.parametrize(
    "body", [{}, {"campaignResults": 5}, {"campaignResults": [{"results": [make_day("2027-04-28")]}]}]
)
def test_reports_that_cannot_be_read(body: Any) -> None:
    with pytest.raises(ProviderError):
        read_page(ReportQuery(LEVELS["campaign"], FIRST, LAST), make_response(body), FULL_DAY)
