"""Figures of LinkedIn below the account: one pivot for each level."""

from __future__ import annotations

from datetime import date, datetime, timedelta

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
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.insights import DateRange
from adsunify.adapter.network import get_level
from adsunify.http.messages import Flow, Request

from . import native as linkedin
from .reads import (
    MAX_ELEMENTS,
    NO_ROWS_NOTE,
    REACH_DAYS,
    TIMEZONE,
    build_analytics_request,
    get_restated_from,
    parse_day,
)
from .tables import METRICS, NETWORK

# unverified: LinkedIn applies the filter of a level together with `accounts`.
ID_FILTERS = {"campaign": "campaignGroups", "adGroup": "campaigns", "ad": "creatives"}
"""The parameter that names entities, by level."""
CUT_NOTE = f"LinkedIn leaves out the rows of a day after the first {MAX_ELEMENTS}. The missing days have more."


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read the rows of some days, all in one response; there are no report jobs.

    A page has the most days for which LinkedIn reports the reach, or fewer days if these have too many rows. The cursor
    has the number of the page's first day, the number of days of a page, and the numbers of the days that have too many
    rows.
    """
    count = (query.end - query.start).days + 1
    first, position = decode_part_cursor(cursor, count)
    days, *cut_days = [REACH_DAYS] if position is None else map(int, position.split(","))
    while True:
        days = min(days, count - first)
        start = query.start + timedelta(days=first)
        response = yield from fetch_response(NETWORK, _build_request(account, query, start, days))
        native = linkedin.parse_rows(response)
        if len(native) < MAX_ELEMENTS or days == 1:
            break
        days //= 2
    if len(native) >= MAX_ELEMENTS:
        cut_days.append(first)
    following = None
    if first + days < count:
        following = encode_part_cursor(first + days, ",".join(map(str, (days, *cut_days))), count)
    if query.entity_ids:
        ids = _list_ids(query)
        native = [row for row in native if read_row_id(query.level, row) in ids]
    rows = parse_entity_rows(query.level, METRICS, native, "/dateRange/start", parse_day)
    missing = DateRange.join_days(query.start + timedelta(days=day) for day in cut_days)
    notes = [*([CUT_NOTE] if missing else []), *([] if rows else [NO_ROWS_NOTE])]
    coverage = cover_report(NETWORK, query, TIMEZONE, notes, missing).mark_provisional(get_restated_from(now))
    return EntityReportPage(rows, coverage, native, following)


def _build_request(account: Account, query: ReportQuery, start: date, days: int) -> Request:
    kind = query.level.kind
    urns = dict.fromkeys(linkedin.build_urn(linkedin.URN_PREFIXES[kind], entity_id) for entity_id in query.entity_ids)
    end = start + timedelta(days=days - 1)
    filters = {ID_FILTERS[kind]: list(urns)} if urns else None
    return build_analytics_request(account, start, end, query.level.native, filters)


def _list_ids(query: ReportQuery) -> set[str]:
    level = get_level(NETWORK, query.level.kind)
    return {linkedin.get_path_id(level, entity_id) for entity_id in query.entity_ids}
