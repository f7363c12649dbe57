"""Daily figures as they were known at a time, from the figures that syncs have stored."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta

from attrs import asdict, fields

from adsunify.adapter.entity_reports import EntityMetrics, EntityReportPage, EntityRows, ReportQuery
from adsunify.adapter.insights import Coverage, DailyMetrics, DateRange, Insights, MetricValues, sum_metrics
from adsunify.errors import NotFound, invalid_input
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import kept_figures
from adsunify.store.kept_figures import FigureRow, FigureSubject, KnownDays
from adsunify.values.dates import parse_instant
from adsunify.values.exact_json import dumps, loads

EPOCH = datetime(1970, 1, 1, tzinfo=UTC)
PAGE_ROWS = 1_000
"""How many rows a page of a level has."""


async def read_known_insights(
    service: Service, session: NetworkSession, start: date, end: date, as_of: str
) -> Insights:
    """Return the figures of an account as they were known. They have no native rows.

    Raises NotFound if a day was not synced before ``as_of``, and InvalidInput for a time in the future.
    """
    subject = FigureSubject(session.account.id, "account")
    known = await _find_days(service, subject, start, end, as_of)
    days = start.isoformat(), end.isoformat()
    limit = (end - start).days + 1
    rows = await service.store.read(kept_figures.list_known_rows, subject, days, known.number, limit)
    metrics = [_make_day(row) for row in rows]
    coverage = _make_coverage(session, start, end, known)
    return Insights(metrics, sum_metrics(metrics) if coverage.is_complete else MetricValues(), coverage)


async def read_known_page(
    service: Service, session: NetworkSession, query: ReportQuery, cursor: str | None, as_of: str
) -> EntityReportPage:
    """Return a page of the figures of a level as they were known, in order of days and entities.

    It has no native rows. ``cursor``: the cursor that the page before returned. Raises as :func:`read_known_insights`.
    """
    subject = FigureSubject(session.account.id, query.level.kind)
    known = await _find_days(service, subject, query.start, query.end, as_of)
    days = query.start.isoformat(), query.end.isoformat()
    after = ("", "") if cursor is None else tuple(loads(cursor))
    rows = await service.store.read(
        kept_figures.list_known_rows, subject, days, known.number, PAGE_ROWS + 1, after, query.entity_ids
    )
    following = dumps([rows[PAGE_ROWS - 1].date, rows[PAGE_ROWS - 1].entity_id]) if len(rows) > PAGE_ROWS else None
    coverage = _make_coverage(session, query.start, query.end, known)
    return EntityReportPage(EntityRows.from_rows(map(_make_metrics, rows[:PAGE_ROWS])), coverage, cursor=following)


def parse_as_of(service: Service, as_of: str) -> int:
    """Return the time in milliseconds since 1970. Raises InvalidInput for a time in the future."""
    at = (parse_instant(as_of, "asOf") - EPOCH) // timedelta(milliseconds=1)
    if at > service.store.clock.now():
        raise invalid_input("asOf", "future", "lies in the future. Leave it out to ask the network.")
    return at


async def _find_days(service: Service, subject: FigureSubject, start: date, end: date, as_of: str) -> KnownDays:
    """Return the facts known about days at a time. Raises NotFound, InvalidInput."""
    days = start.isoformat(), end.isoformat()
    known = await service.store.read(kept_figures.find_known_days, subject, days, parse_as_of(service, as_of))
    if known is None:
        raise NotFound(
            "Before asOf, some of these days of this level were not synced, or their versions are no longer kept. "
            "`adsunify insights sync` keeps daily figures from now on. Without asOf, the network is asked."
        )
    return known


def _make_metrics(row: FigureRow) -> EntityMetrics:
    return EntityMetrics(**{**asdict(row), "date": date.fromisoformat(row.date)})


def _make_day(row: FigureRow) -> DailyMetrics:
    """Return the figures of the account for one day, without the members that name the entity."""
    members = _make_metrics(row)
    return DailyMetrics(**{metric.name: getattr(members, metric.name) for metric in fields(DailyMetrics)})


def _make_coverage(session: NetworkSession, start: date, end: date, known: KnownDays) -> Coverage:
    return Coverage(
        start,
        end,
        session.native_account.timezone,
        not known.missing,
        None if known.provisional_from is None else date.fromisoformat(known.provisional_from),
        [DateRange(date.fromisoformat(first), date.fromisoformat(last)) for first, last in known.missing],
        known.notes,
    )
