"""Figures of Pinterest below the account: synchronous for a page of entities, or from a job for all entities."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    cover_report,
    decode_part_cursor,
    encode_part_cursor,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.insights import PendingReport
from adsunify.adapter.network import get_level, split_words
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import require_id

from . import native as pinterest
from .reads import (
    POLL_INTERVAL_MS,
    REPORT_COLUMNS,
    build_full_page_query,
    decode_job,
    download_rows,
    fetch_report_urls,
    fetch_sync_rows,
    get_report_timezone,
    get_restated_from,
    is_synchronous,
    list_zone_notes,
    start_reports,
)
from .tables import METRICS, NETWORK

ENTITY_COLUMNS = {
    "campaign": split_words("CAMPAIGN_ID CAMPAIGN_NAME"),
    "adGroup": split_words("AD_GROUP_ID AD_GROUP_NAME CAMPAIGN_ID"),
    "ad": split_words("AD_ID AD_NAME AD_GROUP_ID"),
}
"""The columns that name the entity and its parent, by level."""
ID_PARAMETERS = {"campaign": "campaign_ids", "adGroup": "ad_group_ids", "ad": "ad_ids"}
REPORTED_STATUSES = (*pinterest.LIVE_STATUSES, pinterest.ARCHIVED)  # drafts have no figures
# unverified: a request at once with the ids of archived entities has their rows, and a job without ids has them, too.


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of a report: of a page of entities in the last 90 days, else a file of a job.

    A synchronous report must name ids, so a page of the list of entities is read before each page.
    """
    if job is not None:
        return (yield from _fetch_file_page(account, query, cursor, job, now))
    if cursor is None and not is_synchronous(query.start, now):
        return (yield from _start_job(account, query))
    if query.entity_ids:
        native, in_utc = yield from _fetch_rows(account, query, query.entity_ids, None)
        return _build_page(account, query, native, in_utc, now)
    return (yield from _fetch_list_page(account, query, cursor, now))


def _fetch_list_page(account: Account, query: ReportQuery, cursor: str | None, now: datetime) -> Flow[EntityReportPage]:
    """Read the figures of a page of the list of entities."""
    in_utc, list_cursor = _split_cursor(cursor)
    part = _build_reported_entities_request(account, query)
    response, following = yield from fetch_part(NETWORK, [part], list_cursor, _turn_page, _parse_next_cursor)
    ids = [require_id(row, "/id", query.level.kind) for row in pinterest.parse_rows(response)]
    native: Sequence[Mapping[str, Json]] = ()
    if ids:
        native, in_utc = yield from _fetch_rows(account, query, ids, in_utc)
    page = _build_page(account, query, native, bool(in_utc), now)
    return page if following is None else evolve(page, cursor=_CURSOR_MARKS[in_utc] + following)


_CURSOR_MARKS = {None: "", True: "utc ", False: "own "}
"""The prefix of a cursor: whether the days of its report are UTC days or the account's. All pages then use the same."""


def _split_cursor(cursor: str | None) -> tuple[bool | None, str | None]:
    """Return whether the report has UTC days (None if no page has decided), and the cursor without its prefix."""
    for in_utc in (True, False):
        if cursor is not None and cursor.startswith(_CURSOR_MARKS[in_utc]):
            return in_utc, cursor.removeprefix(_CURSOR_MARKS[in_utc])
    return None, cursor


def _list_columns(query: ReportQuery) -> tuple[str, ...]:
    return (*REPORT_COLUMNS, *ENTITY_COLUMNS[query.level.kind])


def _fetch_rows(
    account: Account, query: ReportQuery, ids: Sequence[str], in_utc: bool | None
) -> Flow[tuple[list[Mapping[str, Json]], bool]]:
    parameter, path = ID_PARAMETERS[query.level.kind], get_level(NETWORK, query.level.kind).path
    pairs = [(parameter, entity_id) for entity_id in ids]
    return (
        yield from fetch_sync_rows(
            account, query.start, query.end, f"{path}/analytics", pairs, _list_columns(query), in_utc
        )
    )


def _start_job(account: Account, query: ReportQuery) -> Flow[EntityReportPage]:
    members: dict[str, Json] = {"level": query.level.native, "columns": list(_list_columns(query))}
    if query.entity_ids:
        members[ID_PARAMETERS[query.level.kind]] = list(query.entity_ids)
    job, in_utc = yield from start_reports(account, query.start, query.end, **members)
    return _build_pending_page(account, query, job, pinterest.IN_PROGRESS, in_utc)


def _fetch_file_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str, now: datetime
) -> Flow[EntityReportPage]:
    """Read the file of one report of the job. The first page waits for all reports."""
    tokens, in_utc = decode_job(job)
    number, _ = decode_part_cursor(cursor, len(tokens))
    urls = yield from fetch_report_urls(account, tokens if cursor is None else [tokens[number]])
    if isinstance(urls, str):
        return _build_pending_page(account, query, job, urls, in_utc)
    native = yield from download_rows(urls[0])
    page = _build_page(account, query, native, in_utc, now)
    return evolve(page, cursor=encode_part_cursor(number, None, len(tokens)))


def _build_pending_page(account: Account, query: ReportQuery, job: str, status: str, in_utc: bool) -> EntityReportPage:
    pending = PendingReport(job, status, POLL_INTERVAL_MS)
    return EntityReportPage.from_pending_report(query, get_report_timezone(account, in_utc), pending)


def _build_page(
    account: Account, query: ReportQuery, native: Sequence[Mapping[str, Json]], in_utc: bool, now: datetime
) -> EntityReportPage:
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    coverage = cover_report(NETWORK, query, get_report_timezone(account, in_utc), list_zone_notes(in_utc))
    coverage = coverage.mark_provisional(get_restated_from(now))
    return EntityReportPage(parse_entity_rows(query.level, METRICS, native, "/DATE"), coverage, native)


def _build_reported_entities_request(account: Account, query: ReportQuery) -> Request:
    statuses = pinterest.build_status_filter(*REPORTED_STATUSES)
    path = get_level(NETWORK, query.level.kind).path
    return pinterest.build_account_pairs_request(account, path, *statuses, *build_full_page_query())


def _turn_page(request: Request, native_cursor: str) -> Request:
    return pinterest.add_bookmark(request, native_cursor)


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return pinterest.parse_next_cursor(response)
