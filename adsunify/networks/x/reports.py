"""Figures of X below the account. Requests must name entities, so pages of their lists are read first."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime

from attrs import evolve

from adsunify.adapter.account import Account
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    ReportQuery,
    decode_part_cursor,
    fetch_part,
    parse_entity_rows,
)
from adsunify.adapter.insights import DateRange
from adsunify.adapter.network import Level, get_level
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, require_id

from . import native as x
from .reads import (
    SUM_METRICS,
    SYNC_DAYS,
    build_coverage,
    build_stats_queries,
    fetch_active_ids,
    fetch_stats_rows,
    get_id_column,
    sum_figures,
)
from .tables import NETWORK
from .targeting import fetch_rows

ENTITY_PAGE_SIZE = 200
"""The entities of a page, and the most ids of a filter. A page takes 60 requests; X allows 250 in 15 minutes."""


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read the figures of a page of the level's list, with deleted entities, for at most seven days.

    X returns so few days at once. Longer ranges are read in parts, so no report is a job.
    """
    level, entity = get_level(NETWORK, query.level.kind), query.level.native
    ranges = split_date_range(query.start, query.end, SYNC_DAYS)
    parts = [_build_lookup_request(account, level, query.entity_ids)] * len(ranges)
    response, following = yield from fetch_part(NETWORK, parts, cursor, _turn_page, _parse_next_cursor)
    start, end = ranges[decode_part_cursor(cursor, len(ranges))[0]]
    offset = x.get_utc_offset(account, now)
    entities = [
        row for row in x.parse_rows(response) if not query.entity_ids or get_text(row, "/id") in query.entity_ids
    ]
    foreign = yield from _find_foreign_ids(account, level, entities)
    # the report lacks these members
    member_names = [at.removeprefix("/") for at in (level.name, level.parent) if at]
    members = {
        entity_id: {name: get_text(row, f"/{name}") for name in member_names}
        for row in entities
        if (entity_id := require_id(row, "/id", level.native)) not in foreign
    }
    ids_by_placement = yield from fetch_active_ids(account, entity, list(members), start, offset, now)
    queries = build_stats_queries(entity, ids_by_placement, start, end, SYNC_DAYS, offset)
    id_member = get_id_column(entity)
    native = [
        {**row, **members[row[id_member]]}
        for row in (yield from fetch_stats_rows(account, entity, queries))
        if row[id_member] in members
    ]
    sums = sum_figures(native, ("date", id_member, *member_names))
    rows = parse_entity_rows(query.level, SUM_METRICS, sums, "/date")
    notes = [query.level.note] if query.level.note else []
    coverage = build_coverage(account, DateRange(query.start, query.end), now, notes=notes)
    return EntityReportPage(rows, coverage, native, following)


def _build_lookup_request(account: Account, level: Level, ids: Sequence[str]) -> Request:
    named = {f"{level.native}_ids": ",".join(ids)} if ids else {}
    return x.build_account_get_request(account, level.path, with_deleted="true", count=str(ENTITY_PAGE_SIZE), **named)


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, query={**request.query, "cursor": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return x.parse_next_cursor(response)


def _find_foreign_ids(account: Account, level: Level, entities: Sequence[Mapping[str, Json]]) -> Flow[set[str]]:
    """Return the IDs of entities that are paid in another currency. The account's figures leave these entities out.

    Promoted posts have no currency. An entity without one is paid in the currency of the entity above it.
    """
    if account.currency is None:
        return set()
    # unverified: a line item may lack its currency.
    unclear = [row for row in entities if level.parent and get_text(row, "/currency") is None]
    foreign_parents: set[str] = set()
    if unclear:
        above = get_level(NETWORK, level.parent_kind)
        parent_ids = dict.fromkeys(require_id(row, level.parent, level.native) for row in unclear)
        parents = yield from fetch_rows(NETWORK, _build_lookup_request(account, above, list(parent_ids)))
        foreign_parents = yield from _find_foreign_ids(account, above, parents)
    return {
        require_id(row, "/id", level.native)
        for row in entities
        if get_text(row, "/currency") not in (None, account.currency) or get_text(row, level.parent) in foreign_parents
    }
