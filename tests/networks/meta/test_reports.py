"""The Meta adapter: figures of campaigns, ad sets and ads."""

from __future__ import annotations

import json
from datetime import date, timedelta
from typing import Any

import pytest

from adsunify.adapter.entity_reports import ReportQuery
from adsunify.errors import ProviderError, ProviderUnreadable
from adsunify.http.messages import Request, Response
from adsunify.networks.meta import reports
from adsunify.networks.meta.tables import REPORT_LEVELS
from tests.networks.calls import make_response, run

from .calls import ACCOUNT, GRAPH, NOW, make_error_response, make_page

LEVELS = {level.kind: level for level in REPORT_LEVELS}
METRIC_FIELDS = "date_start,date_stop,account_currency,impressions,clicks,spend,reach,actions,action_values"
FIGURES = {"date_start": "2026-10-01", "date_stop": "2026-10-01", "spend": "10.50", "impressions": "7"}


def read_page(
    *answers: Response,
    kind: str = "campaign",
    ids: tuple[str, ...] = (),
    start: date = date(2026, 10, 1),
    cursor: str | None = None,
    job: str | None = None,
) -> tuple[Any, list[Request]]:
    query = ReportQuery(LEVELS[kind], start, date(2026, 10, 31), ids)
    return run(reports.fetch_report_page(ACCOUNT, query, cursor, job, NOW), *answers)


@pytest.mark.parametrize(
    ("kind", "level", "fields", "row", "parent", "statuses"),
    [
        ("campaign", "campaign", "campaign_id,campaign_name", {"campaign_id": "6", "campaign_name": "Tea"}, None, 6),
        (
            *("adGroup", "adset", "adset_id,adset_name,campaign_id"),
            *({"adset_id": "6", "adset_name": "Tea", "campaign_id": "5"}, "5", 7),
        ),
        ("ad", "ad", "ad_id,ad_name,adset_id", {"ad_id": "6", "ad_name": "Tea", "adset_id": "4"}, "4", 12),
    ],
)
def test_each_level_names_its_fields_and_all_statuses(
    kind: str, level: str, fields: str, row: dict[str, str], parent: str | None, statuses: int
) -> None:
    page, (request,) = read_page(make_page(row | FIGURES), kind=kind, ids=("6", "7"))
    filters = json.loads(dict(request.query)["filtering"])
    assert dict(request.query) | {"filtering": ""} == {
        "level": level,
        "time_increment": "1",
        "time_range": '{"since":"2026-10-01","until":"2026-10-31"}',
        "fields": f"{fields},{METRIC_FIELDS}",
        "filtering": "",
        "limit": "500",
    }
    assert filters[0] == {"field": f"{level}.id", "operator": "IN", "value": ["6", "7"]}
    assert (filters[1]["field"], len(filters[1]["value"])) == (f"{level}.effective_status", statuses)
    assert {"DELETED", "ARCHIVED"} <= set(filters[1]["value"])
    (only,) = page.rows
    assert (only.entity_id, only.entity_name, only.parent_id) == ("6", "Tea", parent)
    assert (only.date, only.spend, only.impressions, only.conversions) == (date(2026, 10, 1), "10.5", 7, None)
    assert (page.cursor, page.pending, page.coverage.is_complete) == (None, None, True)


def test_pages_follow_the_cursor_and_not_the_link() -> None:
    row = {"campaign_id": "6"} | FIGURES
    first, (request,) = read_page(make_page(row, after="C"))
    assert "campaign.id" not in request.query["filtering"]
    last, (request,) = read_page(make_page(row | {"date_start": "2026-10-02"}), cursor=first.cursor)
    assert (request.url, request.query["after"]) == (f"{GRAPH}/{{owner}}/insights", "C")
    assert (last.cursor, last.rows[0].date) == (None, date(2026, 10, 2))
    with pytest.raises(ProviderUnreadable, match="cursor repeats"):
        read_page(make_page(row, after="C"), cursor=first.cursor)


def test_a_long_range_is_a_job_from_the_start() -> None:
    page, (request,) = read_page(make_response({"report_run_id": "R1"}), kind="ad", start=date(2026, 8, 2))
    assert (request.method, request.kind, request.body["level"]) == ("POST", "read", "ad")
    assert "limit" not in request.body
    assert (page.pending.job, page.rows, page.coverage.is_complete) == ("R1", (), False)
    assert read_page(make_page(), start=date(2026, 8, 3))[0].pending is None


def test_too_much_data_becomes_a_job_on_the_first_page_only() -> None:
    page, requests = read_page(make_error_response(100, 1487534), make_response({"report_run_id": "R1"}))
    assert ([request.method for request in requests], page.pending.job) == (["GET", "POST"], "R1")
    with pytest.raises(ProviderError):
        read_page(make_error_response(100, 1487534), cursor="0:C")
    with pytest.raises(ProviderError):
        read_page(make_error_response(100, 1487561))


def test_a_job_is_read_page_by_page() -> None:
    state = {"async_status": "Job Running", "async_percent_completion": 40}
    pending, requests = read_page(make_response(state), job="R1")
    assert (pending.pending.job, pending.pending.status, len(requests)) == ("R1", "Job Running", 1)
    done = make_response({"async_status": "Job Completed", "async_percent_completion": 100})
    first, requests = read_page(done, make_page({"campaign_id": "6"} | FIGURES, after="C"), job="R1")
    assert (requests[1].path["owner"], dict(requests[1].query)) == ("R1", {"limit": "500"})
    last, requests = read_page(make_page({"campaign_id": "7"} | FIGURES), cursor=first.cursor, job="R1")
    assert (requests[0].path["owner"], dict(requests[0].query)) == ("R1", {"limit": "500", "after": "C"})
    assert [row.entity_id for page in (first, last) for row in page.rows] == ["6", "7"]
    with pytest.raises(ProviderError, match="Job Skipped"):
        read_page(make_response({"async_status": "Job Skipped"}), job="R1")


def test_a_row_without_its_entity_is_refused() -> None:
    with pytest.raises(ProviderUnreadable):
        read_page(make_page(FIGURES))


def test_figures_change_for_28_days() -> None:
    """They are final 28 days after the day, and a deleted ad gets figures for as long."""
    page, _ = read_page(make_page())
    assert page.coverage.provisional_from == NOW.date() - timedelta(days=28)
