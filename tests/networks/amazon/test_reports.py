"""Figures of Amazon Ads below the account."""

from __future__ import annotations

import gzip
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

import pytest

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery
from adsunify.adapter.flows import run_flow
from adsunify.errors import ProviderError, ProviderUnreadable
from adsunify.http.messages import Request, Response, build_request_url
from adsunify.networks.amazon import reports
from adsunify.networks.amazon.tables import REPORT_LEVELS
from adsunify.values.exact_json import dumps
from tests.networks.calls import make_responder, make_response, run

from .calls import HOST, NOW, SELLER, VENDOR

LEVELS = {level.kind: level for level in REPORT_LEVELS}
FILES = "https://storage.example/"
CAMPAIGN_ID, AD_GROUP_ID = 9_007_199_254_740_993, 72_320_882_861_500
FIGURES = {
    "impressions": 2216,
    "clicks": 13,
    "cost": Decimal("14.50"),
    "purchases7d": 2,
    "sales7d": Decimal("59.98"),
    "purchases14d": 3,
    "sales14d": 60,
}


def make_query(
    kind: str, *entity_ids: str, start: date = date(2026, 11, 1), end: date = date(2026, 11, 3)
) -> ReportQuery:
    return ReportQuery(LEVELS[kind], start, end, entity_ids)


def make_finished_reports(**files: Any) -> dict[str, Any]:
    """The answers for finished reports by their ids; a text in place of rows is the reason of a failure."""
    answers: dict[str, Any] = {}
    for report, rows in files.items():
        has_failed = isinstance(rows, str)
        state = {"status": "FAILED", "failureReason": rows} if has_failed else {"status": "COMPLETED"}
        answers[f"GET {HOST}/reporting/reports/{report}"] = {**state, "url": f"{FILES}{report}"}
        if not has_failed:
            answers[f"GET {FILES}{report}"] = Response(200, {}, gzip.compress(dumps(rows).encode()), "bytes")
    return answers


def read_page(
    query: ReportQuery, answers: Any, job: str = "r1", cursor: str | None = None, account: Account = SELLER
) -> EntityReportPage:
    return run_flow(reports.fetch_report_page(account, query, cursor, job, NOW), make_responder(answers))


@pytest.mark.parametrize("account", [SELLER, VENDOR])
@pytest.mark.parametrize(
    ("kind", "report_type", "groups", "columns"),
    [
        ("campaign", "spCampaigns", ["campaign"], "date campaignId campaignName"),
        ("adGroup", "spCampaigns", ["campaign", "adGroup"], "date campaignId adGroupId adGroupName"),
        (
            "ad",
            "spAdvertisedProduct",
            ["advertiser"],
            "date campaignId adGroupId adId advertisedSku advertisedAsin",
        ),
    ],
)
def test_a_level_is_a_type_of_report(
    account: Account, kind: str, report_type: str, groups: list[str], columns: str
) -> None:
    page, (request,) = run(
        reports.fetch_report_page(account, make_query(kind, "5"), None, None, NOW),
        make_response({"reportId": "r1", "status": "PENDING"}),
    )
    assert page.pending is not None
    assert page.pending.to_json() == {"job": "r1", "status": "PENDING", "retryAfterMs": 30000}
    assert (page.rows, page.cursor, page.coverage.is_complete, page.finished_days) == ((), None, False, None)
    days = 14 if account is VENDOR else 7
    metrics = f"impressions clicks cost purchases{days}d sales{days}d"
    assert (request.method, build_request_url(request)) == ("POST", f"{HOST}/reporting/reports")
    assert request.body == {
        "name": f"insights {kind} 2026-11-01..2026-11-03",
        "startDate": "2026-11-01",
        "endDate": "2026-11-03",
        "configuration": {
            "adProduct": "SPONSORED_PRODUCTS",
            "reportTypeId": report_type,
            "groupBy": groups,
            "timeUnit": "DAILY",
            "format": "GZIP_JSON",
            "columns": f"{columns} {metrics}".split(),
        },
    }


@pytest.mark.parametrize(
    ("kind", "entity", "expected"),
    [
        ("campaign", {"campaignId": CAMPAIGN_ID, "campaignName": "Autumn"}, (str(CAMPAIGN_ID), "Autumn", None)),
        (
            "adGroup",
            {"campaignId": CAMPAIGN_ID, "adGroupId": AD_GROUP_ID, "adGroupName": "Shoes"},
            (str(AD_GROUP_ID), "Shoes", str(CAMPAIGN_ID)),
        ),
        (
            "ad",
            {"campaignId": CAMPAIGN_ID, "adGroupId": AD_GROUP_ID, "adId": 7, "advertisedSku": "SKU-1"},
            ("7", None, str(AD_GROUP_ID)),
        ),
    ],
)
def test_rows_are_those_of_the_named_entities(kind: str, entity: dict[str, Any], expected: tuple[Any, ...]) -> None:
    own = {"date": "2026-11-01", **entity, **FIGURES}
    other = {**own, str(LEVELS[kind].id).removeprefix("/"): 99}
    answers = make_finished_reports(r1=[own, other, {**own, "clicks": 1}])
    page = read_page(make_query(kind, expected[0]), answers)
    assert [row.to_json() for row in page.rows] == [
        {
            "date": "2026-11-01",
            **dict(zip(("entityId", "entityName", "parentId"), expected, strict=True)),
            "impressions": 4432,
            "clicks": 14,
            "spend": "29",
            "conversions": "4",
            "conversionValue": "119.96",
            "videoViews": None,
            "reach": None,
        }
    ]
    assert (page.cursor, page.pending, page.coverage.is_complete) == (None, None, True)
    assert len(page.native_rows) == 2
    assert [row.entity_id for row in read_page(make_query(kind), answers).rows] == [expected[0], "99"]
    assert read_page(make_query(kind), answers, account=VENDOR).rows[0].conversions == "6"
    assert read_page(make_query(kind, "123"), answers).rows == ()
    with pytest.raises(ProviderUnreadable):
        read_page(make_query(kind), make_finished_reports(r1=[{"date": "2026-11-01", **FIGURES}]))


LONG = make_query("campaign", start=date(2026, 8, 28), end=date(2026, 11, 15))


def start_long_report() -> str:
    """Request the three reports of 80 days. Returns their job."""
    requests: list[Request] = []

    def create_report(request: Request) -> Response:
        requests.append(request)
        return make_response({"reportId": f"r{len(requests)}", "status": "PENDING"})

    page = run_flow(reports.fetch_report_page(SELLER, LONG, None, None, NOW), create_report)
    assert [(request.body["startDate"], request.body["endDate"]) for request in requests] == [
        ("2026-08-28", "2026-09-27"),
        ("2026-09-28", "2026-10-28"),
        ("2026-10-29", "2026-11-15"),
    ]
    assert page.pending is not None
    return page.pending.job


def make_row(day: str) -> dict[str, Any]:
    return {"date": day, "campaignId": 1, "campaignName": "Autumn", **FIGURES}


def test_each_file_of_a_job_is_a_page() -> None:
    job = start_long_report()
    answers = make_finished_reports(r1=[make_row("2026-09-01")], r2=[], r3=[make_row("2026-11-01")])
    waiting = read_page(LONG, {**answers, f"GET {HOST}/reporting/reports/r2": {"status": "PROCESSING"}}, job)
    assert waiting.pending is not None
    assert waiting.pending.to_json() == {"job": job, "status": "PROCESSING", "retryAfterMs": 60000}
    pages = [read_page(LONG, answers, job)]
    while pages[-1].cursor is not None:
        pages.append(read_page(LONG, answers, job, pages[-1].cursor))
    assert [[row.date.isoformat() for row in page.rows] for page in pages] == [["2026-09-01"], [], ["2026-11-01"]]
    assert [page.finished_days is not None for page in pages] == [False, False, True]


def test_every_page_names_the_days_of_a_failed_file() -> None:
    job = start_long_report()
    answers = make_finished_reports(r1=[make_row("2026-09-01")], r2="too large", r3=[make_row("2026-11-01")])
    cursor = None
    for _ in range(3):
        page = read_page(LONG, answers, job, cursor)
        cursor = page.cursor
        assert [days.to_json() for days in page.coverage.missing_ranges] == [
            {"startDate": "2026-09-28", "endDate": "2026-10-28"}
        ]
        assert "The report of 2026-09-28 to 2026-10-28 failed: too large." in page.coverage.notes
        assert page.finished_days is None
    assert cursor is None
    with pytest.raises(ProviderError, match="too large"):
        read_page(LONG, make_finished_reports(r1="too large", r2="too large", r3="too large"), job)


def test_a_report_of_other_entities_is_the_first_one() -> None:
    duplicate = make_response({"code": "425", "detail": "The Request is a duplicate of : r1"}, 425)
    page, _ = run(reports.fetch_report_page(SELLER, make_query("ad", "8"), None, None, NOW), duplicate)
    assert page.pending is not None and page.pending.job == "r1"


@pytest.mark.parametrize(("account", "days"), [(SELLER, 28 + 7), (VENDOR, 28 + 14)])
def test_figures_change_for_28_days_after_the_last_conversion(account: Account, days: int) -> None:
    """Reporting v3, FAQ: a conversion is restated for 28 days. It counts on the day of its click, in a window."""
    today = NOW.date()
    query = make_query("campaign", start=today - timedelta(days=60), end=today)
    assert read_page(
        query, make_finished_reports(r1=[]), account=account
    ).coverage.provisional_from == today - timedelta(days=days)
