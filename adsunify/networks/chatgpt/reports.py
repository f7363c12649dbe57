"""Figures of OpenAI below the account: pages of the delivery report, with the conversions of the entities on them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta

from adsunify.adapter.account import Account, require_timezone
from adsunify.adapter.entity_reports import (
    MAX_ENTITY_IDS,
    EntityReportPage,
    ReportQuery,
    cover_report,
    decode_part_cursor,
    fetch_part,
    parse_entity_rows,
    read_row_id,
)
from adsunify.adapter.reports import parse_date
from adsunify.errors import PermissionRefused, ProviderNotFound
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.dates import get_timezone, split_date_range
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import require_id

from . import native as openai
from .reads import (
    CONVERSION_NOTE,
    NO_CONVERSIONS_NOTE,
    RESTATED_DAYS,
    TODAY_NOTE,
    build_delivery_request,
    drop_foreign_sales,
    fetch_conversion_rows,
    index_delivery_rows,
    list_entity_fields,
    turn_report_page,
)
from .tables import NETWORK

PART_DAYS = openai.REPORT_PAGE_SIZE // MAX_ENTITY_IDS
"""The days of one part of a report. With 50 entities, all rows fit on one page, and in one conversion report."""
MAX_CONVERSION_ROWS = 2_000  # the most rows of one report, which has one row per entity and day
MAX_CONVERSION_IDS = 100  # unverified: the most entities of one report; a public client sends no more
_ONE_DAY = timedelta(days=1)

EntityDay = tuple[str, str]
_Rows = Mapping[EntityDay, Mapping[str, Json]]


def fetch_report_page(
    account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime
) -> Flow[EntityReportPage]:
    """Read a page of rows with impressions and the conversions of their entities; there are no report jobs.

    A row is added for conversions on a day without impressions, if the page has another row of the entity and is the
    only page of its part. With several pages, another page could have the row of that entity and day.
    """
    timezone = require_timezone(account)
    ranges = split_date_range(query.start, query.end, PART_DAYS)
    level = query.level.native
    parts = [build_delivery_request(level, first, last, timezone, query.entity_ids) for first, last in ranges]
    number, native_cursor = decode_part_cursor(cursor, len(parts))
    response, following = yield from fetch_part(NETWORK, parts, cursor, turn_report_page, _parse_next_cursor)
    native = openai.parse_rows(response)
    if query.entity_ids:
        native = [row for row in native if read_row_id(query.level, row) in query.entity_ids]
    delivered = index_delivery_rows(native, f"/{level}_id")
    is_only_page = native_cursor is None and openai.parse_next_cursor(response) is None
    first, last = ranges[number] if is_only_page else _get_range(delivered, ranges[number])
    today = now.astimezone(get_timezone(timezone)).date()
    yesterday = today - _ONE_DAY
    notes = [CONVERSION_NOTE]
    converted: list[Mapping[str, Json]] = []
    try:
        converted = yield from _fetch_conversions(level, delivered, first, min(last, yesterday), timezone)
    except (PermissionRefused, ProviderNotFound):
        notes.append(NO_CONVERSIONS_NOTE)
    if query.end > yesterday:
        notes.append(TODAY_NOTE)
    converted_in_currency = drop_foreign_sales(account, converted)
    merged = list(_merge_rows(level, delivered, converted_in_currency, adds_days=is_only_page))
    rows = parse_entity_rows(query.level, query.level.metrics or NETWORK.metrics, merged, "/readable_time")
    coverage = cover_report(NETWORK, query, timezone, notes)
    coverage = coverage.mark_provisional(today - timedelta(days=RESTATED_DAYS))
    return EntityReportPage(rows, coverage, [*delivered.values(), *converted], following)


def _parse_next_cursor(request: Request, response: Response) -> str | None:
    return openai.parse_next_cursor(response)


def _get_range(rows: _Rows, default: tuple[date, date]) -> tuple[date, date]:
    """Return the first and the last day of the rows; ``default`` without rows."""
    days = [parse_date(day) for _, day in rows]
    return (min(days), max(days)) if days else default


def _fetch_conversions(
    level: str, delivered: _Rows, first: date, last: date, timezone: str
) -> Flow[list[Mapping[str, Json]]]:
    """Read the conversions of the entities of a page, in requests with as many entities as one report allows."""
    ids = list(dict.fromkeys(entity_id for entity_id, _ in delivered))
    size = min(MAX_CONVERSION_IDS, MAX_CONVERSION_ROWS // max(1, (last - first).days + 1))
    rows: list[Mapping[str, Json]] = []
    for position in range(0, len(ids) if first <= last else 0, size):
        some = ids[position : position + size]
        rows += yield from fetch_conversion_rows(level, first, last, timezone, some)
    return rows


def _merge_rows(
    level: str, delivered: _Rows, converted: Iterable[Mapping[str, Json]], *, adds_days: bool
) -> Iterator[Mapping[str, Json]]:
    """Yield the delivery rows with their conversions.

    ``adds_days``: also yield rows for conversions on days without a delivery row.
    """
    conversions: _Rows = {
        (require_id(row, "/entity_id", "report's row"), parse_date(row.get("date")).isoformat()): row
        for row in converted
    }
    for key, row in delivered.items():
        yield {**row, **_pick_members(conversions.get(key, {}), CONVERSION_MEMBERS)}
    entities = {entity_id: row for (entity_id, _), row in delivered.items()}
    members = [field.replace(".", "_") for field in list_entity_fields(level)]
    for (entity_id, day), row in conversions.items() if adds_days else ():
        if (entity_id, day) not in delivered and entity_id in entities and row.get("conversions"):
            entity = _pick_members(entities[entity_id], members)
            yield {**entity, "readable_time": day, **_pick_members(row, CONVERSION_MEMBERS)}


CONVERSION_MEMBERS = ("conversions", "order_created_attributed_sales")


def _pick_members(row: Mapping[str, Json], names: Sequence[str]) -> dict[str, Json]:
    return {name: row.get(name) for name in names}
