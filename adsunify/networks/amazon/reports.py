"""Figures of Amazon Ads below the account: a type of report for each level."""

from __future__ import annotations

from datetime import datetime

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    cover_report,
    decode_part_cursor,
    encode_part_cursor,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.network import split_words
from adsunify.http.messages import Flow

from .reads import (
    FIRST_POLL_MS,
    LATER_POLL_MS,
    ReportType,
    create_reports,
    describe_failure,
    fetch_report_rows,
    fetch_report_states,
    find_restated_day,
    find_unfinished_report,
    get_metrics,
    has_failed,
    list_metric_notes,
    make_pending_report,
    split_report_days,
)
from .tables import NETWORK

REPORT_TYPES = {
    "campaign": ReportType(
        "insights campaign", "spCampaigns", ("campaign",), split_words("date campaignId campaignName")
    ),
    "adGroup": ReportType(
        *("insights adGroup", "spCampaigns", ("campaign", "adGroup")),
        split_words("date campaignId adGroupId adGroupName"),
    ),
    "ad": ReportType(
        *("insights ad", "spAdvertisedProduct", ("advertiser",)),
        split_words("date campaignId adGroupId adId advertisedSku advertisedAsin"),
    ),
}
"""The report of each level. The columns of the metrics depend on the account."""


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read the file of a report, which has at most 31 days. The reports of a range are one job.

    Amazon has no filter by ids, so queries that differ only in their ids use the same reports.
    """
    if job is None:
        return (yield from _start_reports(account, query))
    states = yield from fetch_report_states(account, job)
    if find_unfinished_report(states) is not None:
        return EntityReportPage.from_pending_report(query, account.timezone, make_pending_report(states, LATER_POLL_MS))
    number, _ = decode_part_cursor(cursor, len(states))
    native = [] if has_failed(states[number]) else (yield from fetch_report_rows(states[number]))
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    parts = zip(states, split_report_days(query.start, query.end, len(states)), strict=True)
    failed = [(state, days) for state, days in parts if has_failed(state)]
    notes = [*list_metric_notes(account), *(describe_failure(state, days) for state, days in failed)]
    coverage = cover_report(NETWORK, query, account.timezone, notes, [days for _, days in failed])
    coverage = coverage.mark_provisional(find_restated_day(account, now))
    rows = parse_entity_rows(query.level, get_metrics(account), native, "/date")
    return EntityReportPage(rows, coverage, native, encode_part_cursor(number, None, len(states)))


def _start_reports(account: Account, query: ReportQuery) -> Flow[EntityReportPage]:
    report_type = REPORT_TYPES[query.level.kind]
    metric_columns = (metric.native.removeprefix("/") for metric in get_metrics(account))
    report_type = evolve(report_type, columns=(*report_type.columns, *metric_columns))
    states = yield from create_reports(account, report_type, query.start, query.end)
    pending = make_pending_report(states, FIRST_POLL_MS)
    return EntityReportPage.from_pending_report(query, account.timezone, pending)
