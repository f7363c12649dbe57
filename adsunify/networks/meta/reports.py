"""Figures of Meta below the account: the account's report with another ``level``, synchronously or as a job."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime, timedelta

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import EntityReportPage, ReportQuery, cover_report, fetch_part, parse_entity_rows
from adsunify.adapter.insights import PendingReport
from adsunify.adapter.network import get_level
from adsunify.adapter.settings import to_account_time
from adsunify.errors import ProviderError
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.exact_json import Json, dumps

from . import native as meta
from .reads import (
    NEW_STATE,
    POLL_INTERVAL_MS,
    REPORT_FIELDS,
    REPORT_PAGE_SIZE,
    RESTATED_DAYS,
    build_report_query,
    fetch_pending_state,
    is_short_range,
    is_too_much_data,
    start_report,
)
from .tables import METRICS, NETWORK

ENTITY_FIELDS = {
    "campaign": "campaign_id,campaign_name",
    "adGroup": "adset_id,adset_name,campaign_id",
    "ad": "ad_id,ad_name,adset_id",
}
"""The fields that name the entity and its parents, by level."""


def _build_query(query: ReportQuery) -> dict[str, str]:
    """Build the query of a level's report.

    It names all statuses, because Meta otherwise leaves out deleted entities.
    """
    # unverified: a filter that names DELETED and ARCHIVED returns those entities, too.
    level = query.level.native
    statuses = sorted(get_level(NETWORK, query.level.kind).status_filters)
    filters = [_build_list_filter(f"{level}.id", query.entity_ids)] if query.entity_ids else []
    filters.append(_build_list_filter(f"{level}.effective_status", statuses))
    fields = f"{ENTITY_FIELDS[query.level.kind]},{REPORT_FIELDS}"
    return build_report_query(level, query.start, query.end, fields) | {"filtering": dumps(filters)}


def _build_list_filter(field: str, values: Iterable[str]) -> dict[str, Json]:
    return {"field": field, "operator": "IN", "value": list(values)}


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of the report: synchronously for at most 90 days, else from a job.

    A report that is too large for a synchronous response becomes a job.
    """
    native_query = _build_query(query)
    if job is None and is_short_range(query.start, query.end):
        try:
            return (yield from _fetch_insights_page(account, query, account.native_id, native_query, cursor, now))
        except ProviderError as problem:
            if cursor is not None or not is_too_much_data(problem):
                raise
    status: str | None = None  # a report with a cursor is finished
    if job is None:
        job, status = (yield from start_report(account, native_query)), NEW_STATE
    elif cursor is None:
        status = yield from fetch_pending_state(job)
    if status is not None:
        pending = PendingReport(job, status, POLL_INTERVAL_MS)
        return EntityReportPage.from_pending_report(query, account.timezone, pending)
    return (yield from _fetch_insights_page(account, query, job, {}, cursor, now))


def _fetch_insights_page(
    account: Account, query: ReportQuery, owner: str, native_query: Mapping[str, str], cursor: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of rows: of the account (a synchronous report), or of a finished job."""
    part = meta.build_edge_request(owner, "insights", {**native_query, "limit": REPORT_PAGE_SIZE})
    response, following = yield from fetch_part(NETWORK, [part], cursor, _turn_page, _parse_next_cursor)
    native = meta.parse_rows(response)
    today = (to_account_time(account, now) or now).date()
    coverage = cover_report(NETWORK, query, account.timezone)
    coverage = coverage.mark_provisional(today - timedelta(days=RESTATED_DAYS))
    return EntityReportPage(parse_entity_rows(query.level, METRICS, native, "/date_start"), coverage, native, following)


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, query={**request.query, "after": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return meta.parse_next_cursor(response)
