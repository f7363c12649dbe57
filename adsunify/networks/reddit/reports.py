"""Figures of Reddit below the account: breakdowns by the entities of a level and their parents."""

from __future__ import annotations

from datetime import datetime

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    cover_report,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.http.messages import Flow, Request, Response

from . import native as reddit
from .reads import METRIC_NOTES, build_report_request, find_unsettled_day, parse_native_rows
from .tables import METRICS, NETWORK

BREAKDOWNS = {
    "campaign": ("CAMPAIGN_ID",),
    "adGroup": ("AD_GROUP_ID", "CAMPAIGN_ID"),
    "ad": ("AD_ID", "AD_GROUP_ID"),
}
"""The breakdowns in addition to ``DATE``, by level. Reddit accepts three."""


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of the rows of a level; there are no report jobs."""
    # unverified: an entity has a row if it meets any condition, and 50 conditions are not too many.
    conditions = [f"{query.level.native}:id=={entity_id}" for entity_id in query.entity_ids]
    part = build_report_request(account, query.start, query.end, BREAKDOWNS[query.level.kind], conditions)
    response, following = yield from fetch_part(NETWORK, [part], cursor, reddit.with_cursor, _parse_next_cursor)
    native = parse_native_rows(response, query.start, query.end)
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    rows = parse_entity_rows(query.level, METRICS, native, "/date")
    timezone = require_timezone(account)
    coverage = cover_report(NETWORK, query, timezone, METRIC_NOTES)
    coverage = coverage.mark_provisional(find_unsettled_day([response], timezone, now))
    return EntityReportPage(rows, coverage, native, following)


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return reddit.parse_next_cursor(response)
