"""Figures of Apple Ads below the account: one report per level, for the campaigns of one page of the campaign list."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime

from attrs import evolve, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    EntityRows,
    ReportQuery,
    cover_report,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.insights import NO_CAMPAIGNS_NOTE
from adsunify.adapter.network import get_level
from adsunify.adapter.settings import to_account_time
from adsunify.errors import ProviderError, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_objects, get_value, require_id

from . import native as apple
from .reads import (
    build_campaigns_request,
    build_level_report_request,
    fetch_query_rows,
    get_following_offset,
    parse_query_rows,
    turn_page,
)
from .tables import CAMPAIGN, METRICS, NETWORK, parse_offset_cursor

MAX_PAGE_ROWS = 20_000
"""The most rows of one page. A page of Apple has a number of entities, each with the rows of all its days."""


@frozen
class _Position:
    """A position in a report.

    Attributes:
        offset: the offset of the current page of the list of campaigns.
        operator: IN: one report covers all campaigns of that page. EQUALS: each campaign has its own report.
        cursor: the cursor of :func:`~adsunify.adapter.entity_reports.fetch_part` within these reports.
    """

    offset: int = 0
    operator: str = "IN"
    cursor: str | None = None

    @classmethod
    def parse(cls, text: str | None) -> _Position:
        if text is None:
            return cls()
        match = _match_position(text)
        if match is None:
            raise invalid_input("cursor", "malformed", "must be the nextCursor of the same report, or left out.")
        return cls(int(match[1]), match[2], match[3] or None)

    def __str__(self) -> str:
        return f"{self.offset}.{self.operator}.{self.cursor or ''}"


_match_position = re.compile(r"([0-9]{1,9})\.(IN|EQUALS)\.(.*)").fullmatch


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of the report about a page of campaigns, or about one campaign; there are no report jobs."""
    position, next_offset = _Position.parse(cursor), None
    if query.entity_ids:
        campaigns = yield from _fetch_campaign_ids(account, query)
    else:
        campaigns, next_offset = yield from _fetch_campaigns_page(account, position.offset)
    today = (to_account_time(account, now) or now).date()
    notes = [metric.note for metric in METRICS if metric.note]
    if not campaigns and not query.entity_ids and position.offset == 0:
        notes.append(NO_CAMPAIGNS_NOTE)
    coverage = cover_report(NETWORK, query, account.timezone, notes).mark_provisional(today)
    if not campaigns:  # a report needs a filter of campaigns
        return EntityReportPage(EntityRows(), coverage)
    position, response = yield from _fetch_reports_page(account, query, campaigns, position)
    native = parse_query_rows(response)
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    rows = parse_entity_rows(query.level, METRICS, list(_list_granular_days(query, native)), "/date")
    following: _Position | None = position
    if position.cursor is None:
        following = None if next_offset is None else evolve(position, offset=next_offset)
    return EntityReportPage(rows, coverage, native, None if following is None else str(following))


def _fetch_campaigns_page(account: Account, offset: int) -> Flow[tuple[list[str], int | None]]:
    """Read the ids of a page of campaigns, and the offset of the next page."""
    request = build_campaigns_request(account, offset)
    response = yield from fetch_response(NETWORK, request)
    ids = [require_id(row, CAMPAIGN.id, CAMPAIGN.native) for row in apple.parse_rows(response)]
    return ids, get_following_offset(request, response)


def _fetch_campaign_ids(account: Account, query: ReportQuery) -> Flow[list[str]]:
    """Return the sorted ids of the campaigns of the query's entities. Entities of other accounts are skipped."""
    if query.level.kind == CAMPAIGN.kind:
        return list(query.entity_ids)
    level = get_level(NETWORK, query.level.kind)
    id_condition = apple.build_filter(
        "id", "IN", [apple.parse_id_number(entity_id, "entityIds") for entity_id in query.entity_ids]
    )
    deleted = apple.build_filter("deleted", "EQUALS", True)
    campaigns: set[str] = set()
    for conditions in ([id_condition], [id_condition, deleted]):  # the list has deleted entities only with this filter
        rows = yield from fetch_query_rows(apple.build_account_query_request(account, level.path, conditions))
        campaigns |= {require_id(row, "/campaignId", level.native) for row in rows}
    return sorted(campaigns)


def _fetch_reports_page(
    account: Account, query: ReportQuery, campaigns: Sequence[str], position: _Position
) -> Flow[tuple[_Position, Response]]:
    """Read the page at a position. Returns its response, and the position of the next page of these campaigns.

    The first request is for one report about all campaigns. If Apple refuses it, each campaign gets its own report.
    """
    if len(campaigns) == 1:
        position = evolve(position, operator="EQUALS")
    try:
        parts = _build_campaign_requests(account, query, campaigns, position.operator)
        page = yield from fetch_part(NETWORK, parts, position.cursor, _turn_page, _parse_next_cursor)
    except ProviderError as problem:
        if position.operator == "EQUALS" or position.cursor is not None or problem.native.status != 400:
            raise
        position = evolve(position, operator="EQUALS")
        parts = _build_campaign_requests(account, query, campaigns, position.operator)
        page = yield from fetch_part(NETWORK, parts, None, _turn_page, _parse_next_cursor)
    response, following = page
    return evolve(position, cursor=following), response


def _build_campaign_requests(
    account: Account, query: ReportQuery, campaigns: Sequence[str], operator: str
) -> list[Request]:
    level, days = get_level(NETWORK, query.level.kind), (query.end - query.start).days + 1
    size = min(apple.REPORT_PAGE_SIZE, MAX_PAGE_ROWS // days)
    values: Sequence[Json] = [list(campaigns)] if operator == "IN" else campaigns
    return [
        build_level_report_request(
            account, level, query.start, query.end, apple.build_filter("campaignId", operator, value), size
        )
        for value in values
    ]


def _turn_page(request: Request, native_cursor: str) -> Request:
    return turn_page(request, parse_offset_cursor(native_cursor))


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    offset = get_following_offset(request, response)
    return None if offset is None else str(offset)


def _list_granular_days(query: ReportQuery, native: Sequence[Mapping[str, Json]]) -> Iterator[Mapping[str, Json]]:
    """Yield a row for each entity and day, with the entity's metadata. For a single day the totals are the figures."""
    for row in native:
        entity = {"metadata": row.get("metadata")}
        if query.start != query.end:
            yield from ({**entity, **day} for day in get_objects(row, "/granularMetrics", "report"))
        elif isinstance(totals := get_value(row, "/totalMetrics"), Mapping):
            yield {**entity, **totals, "date": query.start.isoformat()}
