"""Reads daily figures from the networks and stores them, with a version for each change."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from functools import partial
from typing import Literal, TypeVar

from attrs import asdict, frozen

from adsunify.adapter.entity_reports import EntityMetrics, EntityReportPage, ReportQuery
from adsunify.adapter.insights import Coverage, DateRange, Insights
from adsunify.adapter.reports import find_earliest_day
from adsunify.errors import AdsunifyError, NotFound, ProviderUnreadable
from adsunify.networks.registry import get_adapter
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import connections, kept_figures
from adsunify.store.connections import AccountRecord
from adsunify.store.entities import MAX_ID_LENGTH
from adsunify.store.kept_figures import Days, DaysRead, FigureRow, FigureSubject

from .accounts import read_insights
from .entities import get_account_today, read_report_page, require_level

DEFAULT_DAYS = 45
"""How many days a sync reads. Networks correct their figures for 42 days or less, but Google and LinkedIn may correct
conversions for 90."""
PATIENCE_SECONDS = 600.0
"""How long a sync waits for a report that a network prepares. The next sync resumes the report."""
MAX_PAUSE_SECONDS = 30.0
"""The longest time between two checks whether a report is ready."""
READS_PER_NETWORK = 4
"""How many accounts of one network are read at the same time."""
ROWS_PER_COMMIT = 5_000
"""How many rows one transaction stages or compares.

A comparison never divides a day. Other writers of an SQLite file wait for the transaction.
"""
PageT = TypeVar("PageT", Insights, EntityReportPage)


@frozen
class SyncResult:
    """How the sync of a level of an account ended.

    ``rows``: the rows that the network reports. ``versions``: how many of them were new or had changed, and how many
    known rows had vanished.
    """

    account: AccountRecord
    level: str
    state: Literal["synced", "pending", "failed"]
    rows: int = 0
    versions: int = 0
    error: AdsunifyError | None = None


class _NotReadyError(Exception):
    """The network has not prepared a report in time."""


async def list_accounts(service: Service, account_ids: Sequence[str] = ()) -> list[AccountRecord]:
    """Return the connected accounts of all workspaces, or those with these ids. Raises NotFound."""
    all_accounts = await service.store.read(connections.list_all_accounts)
    accounts = [account for account in all_accounts if account.status != "disconnected"]
    if not {account.id for account in accounts}.issuperset(account_ids):
        raise NotFound("This database has no connected account with one of these ids. `adsunify accounts` lists them.")
    return [account for account in accounts if not account_ids or account.id in account_ids]


def list_levels(account: AccountRecord) -> list[str]:
    """Return the levels that the network of an account reports."""
    return ["account", *(level.kind for level in get_adapter(account.network).network.report_levels)]


def choose_levels(account: AccountRecord, levels: Sequence[str], is_named: bool) -> Sequence[str]:
    """Return the levels to sync; without ``levels``, all that the network reports.

    A level that it does not report is left out. If the caller has named the account, it stays, and its sync fails.
    """
    reported = list_levels(account)
    if not levels:
        return reported
    return levels if is_named else [level for level in reported if level in levels]


async def sync_accounts(
    service: Service,
    subjects: Iterable[tuple[AccountRecord, Sequence[str]]],
    days: int = DEFAULT_DAYS,
    patience: float = PATIENCE_SECONDS,
    announce: Callable[[str, str], None] = lambda account_id, level: None,
) -> AsyncIterator[SyncResult]:
    """Read the latest days of levels of accounts and store them. Yields the result of each level when it is known.

    Several accounts are read at the same time; the levels of an account are read one after another. ``patience``: the
    longest time in seconds that a level waits for a report. ``announce`` is called with the id of the account
    and the level when a read begins.
    """
    slots: defaultdict[str, asyncio.Semaphore] = defaultdict(partial(asyncio.Semaphore, READS_PER_NETWORK))
    results: asyncio.Queue[SyncResult | None] = asyncio.Queue()

    async def sync(account: AccountRecord, levels: Sequence[str]) -> None:
        async with slots[account.network]:
            for level in levels:
                announce(account.id, level)
                results.put_nowait(await sync_level(service, account, level, days, patience))

    async def sync_all() -> None:
        try:
            async with asyncio.TaskGroup() as group:
                for account, levels in subjects:
                    group.create_task(sync(account, levels))
        finally:
            results.put_nowait(None)

    task = asyncio.create_task(sync_all())
    try:
        while (result := await results.get()) is not None:
            yield result
        await task
    finally:
        task.cancel()


async def sync_level(
    service: Service, account: AccountRecord, level: str, days: int = DEFAULT_DAYS, patience: float = PATIENCE_SECONDS
) -> SyncResult:
    """Read the latest days of a level of an account, today included, and store them.

    The days begin later where the network does not report so far back. A failure is part of the result.
    """
    try:
        rows, versions = await _sync_level(service, NetworkSession(service, account), level, days, patience)
    except _NotReadyError:
        return SyncResult(account, level, "pending")
    except AdsunifyError as error:
        return SyncResult(account, level, "failed", error=error)
    return SyncResult(account, level, "synced", rows, versions)


async def _sync_level(
    service: Service, session: NetworkSession, level: str, days: int, patience: float
) -> tuple[int, int]:
    """Return the number of rows and the number of new versions."""
    store = service.store
    today = get_account_today(service, session)
    start = _find_first_day(service, session, level, today - timedelta(days=days - 1))
    read = await store.write(kept_figures.begin_read, FigureSubject(session.account.id, level), store.clock)
    deadline = asyncio.get_running_loop().time() + patience
    count = 0
    coverage = Coverage(start, today, session.account.timezone)
    try:
        async for rows, page_coverage in _read_pages(service, session, level, start, today, deadline):
            coverage = page_coverage.limit_final_days(today)
            for first in range(0, len(rows), ROWS_PER_COMMIT):  # a page may be a whole report
                some_rows = [_make_row(row) for row in rows[first : first + ROWS_PER_COMMIT]]
                await store.write(kept_figures.stage_rows, read, some_rows)
            count += len(rows)
        row_counts = await store.read(kept_figures.count_staged_rows, read)
        if sum(row_counts.values()) != count:
            raise ProviderUnreadable("The report has two rows of one entity and day.")
        missing = coverage.missing_ranges
        if not coverage.is_complete and not missing:  # the network does not say which rows are missing
            missing = [DateRange(start, today)]
        versions = 0
        for some_days in split_days(start, today, row_counts):
            facts = DaysRead(
                some_days,
                None if coverage.provisional_from is None else coverage.provisional_from.isoformat(),
                [(window.start.isoformat(), window.end.isoformat()) for window in missing],
                coverage.notes,
            )
            versions += await store.write(kept_figures.keep_days, read, facts, store.clock)
    finally:
        await store.write(kept_figures.discard_read, read)
    return count, versions


def _find_first_day(service: Service, session: NetworkSession, kind: str, start: date) -> date:
    """Return the first day that the network reports, at the earliest ``start``."""
    network = session.adapter.network
    level = None if kind == "account" else require_level(session, kind)
    history = network.history if level is None or level.history is None else level.history
    return max(start, find_earliest_day(history, session.native_account, service.now()) or start)


async def _read_pages(
    service: Service, session: NetworkSession, kind: str, start: date, end: date, deadline: float
) -> AsyncIterator[tuple[Sequence[EntityMetrics], Coverage]]:
    """Yield the rows of each page of a report, with the days that the whole report covers."""
    if kind == "account":
        insights = await _wait_for_report(lambda: read_insights(service, session, start, end), deadline)
        entity_id = session.account.native_id
        yield [EntityMetrics(entity_id=entity_id, **asdict(row)) for row in insights.rows], insights.coverage
        return
    query = ReportQuery(require_level(session, kind), start, end)
    job, cursor = None, None
    while True:
        page = await _wait_for_report(partial(read_report_page, service, session, query, job, cursor), deadline)
        yield page.rows, page.coverage
        if page.cursor is None:
            return
        job, cursor = page.job, page.cursor


async def _wait_for_report(read: Callable[[], Awaitable[PageT]], deadline: float) -> PageT:
    """Read until the report is ready. Raises _NotReadyError at the deadline, a time of the event loop."""
    while (report := await read()).pending is not None:
        pause = min(max((report.pending.retry_after_ms or 0) / 1000, 1.0), MAX_PAUSE_SECONDS)
        if asyncio.get_running_loop().time() + pause > deadline:
            raise _NotReadyError
        await asyncio.sleep(pause)
    return report


def _make_row(row: EntityMetrics) -> FigureRow:
    entity_id = row.entity_id
    if len(entity_id) > MAX_ID_LENGTH or not entity_id.isprintable():
        raise ProviderUnreadable("A row of the report has an id that is too long, or has characters of no id.")
    return FigureRow(**{**asdict(row), "date": row.date.isoformat()})


def split_days(start: date, end: date, row_counts: Mapping[str, int]) -> Iterator[Days]:
    """Yield ranges of days that have at most :data:`ROWS_PER_COMMIT` rows each, or that are one day."""
    first, count = start, 0
    for number in range((end - start).days + 1):
        day = start + timedelta(days=number)
        rows = row_counts.get(day.isoformat(), 0)
        if count + rows > ROWS_PER_COMMIT and day > first:
            yield first.isoformat(), (day - timedelta(days=1)).isoformat()
            first, count = day, 0
        count += rows
    yield first.isoformat(), end.isoformat()
