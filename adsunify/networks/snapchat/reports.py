"""Figures of Snapchat below the account: statistics of an account or a campaign by entity, or of one entity."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime
from functools import partial

from attrs import evolve

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.entity_reports import (
    EntityReportPage,
    EntityRows,
    ReportQuery,
    cover_report,
    decode_part_cursor,
    encode_part_cursor,
    fetch_part,
    parse_entity_rows,
)
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import get_level
from adsunify.errors import ProviderNotFound, ProviderUnreadable
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import split_date_range
from adsunify.values.exact_json import Json, dumps, loads
from adsunify.values.json_pointer import get_text, require_id

from . import native as snap
from .reads import (
    STATS_DAYS,
    build_stats_request,
    fetch_entity,
    find_finalized_from,
    parse_breakdown,
    parse_own_series,
    parse_statistics,
    parse_zoned_day,
)
from .tables import CAMPAIGN, METRICS, NETWORK

UNKNOWN_ID_NOTE = "Snapchat does not show one of the ids in this account, so the report has no rows of it."


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of statistics of at most 30 days; no report job is started.

    With ids, each entity is read by itself. Otherwise the account is read by campaign or by ad, and each campaign by ad
    squad, because Snap documents no statistics of an account by ad squad.
    """
    if query.entity_ids:
        return (yield from _fetch_page_of_id(account, query, cursor, now))
    if query.level.kind == "adGroup":
        return (yield from _fetch_page_of_campaign(account, query, cursor, now))
    parts = _build_owner_requests(account, query, "adaccounts", [account.native_id])
    return (yield from _fetch_stats_page(account, query, parts, cursor, now))


def _fetch_page_of_id(
    account: Account, query: ReportQuery, cursor: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read statistics of one of the ids.

    The address of statistics does not name the account. So the entity and its parents are read first, and an entity of
    another account has no rows.
    """
    level = get_level(NETWORK, query.level.kind)
    parts = _build_owner_requests(account, query, level.path, query.entity_ids)
    position, _ = _find_part(query, parts, cursor)
    try:
        entity = yield from fetch_entity(account, level.kind, query.entity_ids[position])
    except ProviderNotFound:
        last_part = (position + 1) * len(_split_range(query)) - 1
        following = encode_part_cursor(last_part, None, len(parts))
        coverage = cover_report(NETWORK, query, account.timezone, (UNKNOWN_ID_NOTE,))
        return EntityReportPage(EntityRows(), coverage, cursor=following)
    return (yield from _fetch_stats_page(account, query, parts, cursor, now, entity))


def _fetch_page_of_campaign(
    account: Account, query: ReportQuery, cursor: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read statistics of the ad squads of one campaign.

    The cursor holds two cursors: of a page of the list of campaigns, which includes deleted campaigns, and of a part of
    this page.
    """
    list_cursor, part_cursor = (None, None) if cursor is None else loads(cursor)
    request = snap.build_edge_list_request(CAMPAIGN, "adaccounts", account.native_id, snap.MIN_PAGE_SIZE, list_cursor)
    request = evolve(request, query={**request.query, "read_deleted_entities": "true"})
    response = yield from fetch_response(NETWORK, request)
    # A campaign that is created between two pages comes last in this order.
    campaigns = sorted(
        (get_text(row, "/created_at", ""), require_id(row, "/id", "campaign"))
        for row in snap.parse_wrapped_rows(response, CAMPAIGN.path, CAMPAIGN.native)
    )
    next_list = snap.parse_next_cursor(response)
    if next_list is not None and next_list == list_cursor:
        raise ProviderUnreadable("The list of Snapchat does not end: its cursor repeats.")
    parts = _build_owner_requests(account, query, CAMPAIGN.path, [native_id for _, native_id in campaigns])
    page = EntityReportPage(EntityRows(), cover_report(NETWORK, query, account.timezone))
    if parts:
        position, _ = _find_part(query, parts, part_cursor)
        page = yield from _fetch_stats_page(account, query, parts, part_cursor, now, parent_id=campaigns[position][1])
    if page.cursor is not None:
        return evolve(page, cursor=dumps([list_cursor, page.cursor]))
    return page if next_list is None else evolve(page, cursor=dumps([next_list, None]))


def _split_range(query: ReportQuery) -> list[tuple[date, date]]:
    return split_date_range(query.start, query.end, STATS_DAYS)


def _build_owner_requests(account: Account, query: ReportQuery, owner: str, owner_ids: Sequence[str]) -> list[Request]:
    """Build the requests for the statistics of each owner in each range of days."""
    breakdown = None if query.entity_ids else query.level.native
    return [
        build_stats_request(account, first, last, owner, owner_id, breakdown)
        for owner_id in owner_ids
        for first, last in _split_range(query)
    ]


def _find_part(query: ReportQuery, parts: Sequence[Request], cursor: str | None) -> tuple[int, int]:
    """Return the position of the owner and the position of the range of days of the part that a cursor names."""
    return divmod(decode_part_cursor(cursor, len(parts))[0], len(_split_range(query)))


def _fetch_stats_page(
    account: Account,
    query: ReportQuery,
    parts: Sequence[Request],
    cursor: str | None,
    now: datetime,
    entity: ParsedEntity | None = None,
    parent_id: str | None = None,
) -> Flow[EntityReportPage]:
    """Read a page of statistics.

    Args:
        account: the account.
        query: the report.
        parts: the requests of :func:`_build_owner_requests`.
        cursor: the cursor of a part.
        now: the present.
        entity: the entity to which the statistics belong; None if they name their entities.
        parent_id: the parent of the entities, if it is known.
    """
    response, following = yield from fetch_part(NETWORK, parts, cursor, _turn_page, _parse_next_cursor)
    native = list(_parse_rows(response.body, query.level.native, entity))
    timezone = require_timezone(account)
    rows = parse_entity_rows(query.level, METRICS, native, "/start_time", partial(parse_zoned_day, timezone=timezone))
    if entity is not None:
        rows = rows.replace_column("entity_name", entity.name).replace_column("parent_id", entity.parent_id)
    elif parent_id is not None:
        rows = rows.replace_column("parent_id", parent_id)
    _, position = _find_part(query, parts, cursor)
    restated_from = find_finalized_from([response.body], timezone, now)
    if restated_from > _split_range(query)[position][1]:  # this whole part is final, but later parts may not be
        restated_from = max(restated_from, find_finalized_from((), timezone, now))
    coverage = cover_report(NETWORK, query, timezone).mark_provisional(restated_from)
    return EntityReportPage(rows, coverage, native, following)


def _parse_rows(body: Json, breakdown: str, entity: ParsedEntity | None) -> Iterator[Mapping[str, Json]]:
    """Yield the rows of a page, with the id of the entity."""
    for statistics in parse_statistics(body):
        if entity is None:
            yield from parse_breakdown(statistics, breakdown)
        else:
            yield from ({"id": entity.id, **row} for row in parse_own_series(statistics))


def _turn_page(request: Request, native_cursor: str) -> Request:
    return evolve(request, query={**request.query, "cursor": native_cursor})


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return snap.parse_next_cursor(response)
