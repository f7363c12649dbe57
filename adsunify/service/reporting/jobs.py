"""Reports that a network may prepare asynchronously. A second read of a report resumes the job of the first one."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Mapping
from contextlib import suppress
from typing import Protocol, TypeVar

from sqlalchemy import Connection

from adsunify.adapter.insights import DateRange, PendingReport
from adsunify.errors import (
    AdsunifyError,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    StoreError,
    TokenRefused,
)
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import events, reports
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.reports import ReportRecord, ReportSubject

STARTING_REPORT = PendingReport(job="", status="starting", retry_after_ms=1000)
"""The result while another call is requesting the same report and the network has not returned a job yet."""
REPORT_START_TRIES, REPORT_START_PAUSE_SECONDS = 25, 0.2
TRANSIENT_ERRORS = (ProviderThrottled, ProviderUnreadable, TokenRefused)
"""Errors after which a later read may succeed, so the report has not failed for good."""
EventSummary = tuple[str, Mapping[str, str]]
"""The type of an event, and further members of its data."""


class ReportResult(Protocol):
    """The result of one read of a report."""

    @property
    def pending(self) -> PendingReport | None:
        """The network's job, if it has not finished the report."""
        ...

    @property
    def finished_days(self) -> DateRange | None:
        """The days of the report, if this read completes them."""
        ...


ReportT = TypeVar("ReportT", bound=ReportResult)
ReadReport = Callable[[str | None], Awaitable[ReportT]]
"""Requests a report, or reads the report of a job."""


async def read_report(
    service: Service, session: NetworkSession, subject: ReportSubject, read: ReadReport[ReportT]
) -> ReportT | None:
    """Request a report, or resume the job of an earlier call for the same subject.

    Returns None if another call is requesting it and the network has not returned a job to that call.
    """
    if not session.adapter.network.has_report_jobs:
        return await read_untracked_report(service, session, None, read)
    for _ in range(REPORT_START_TRIES):
        record, is_mine = await service.store.write(
            reports.begin_report, session.account.workspace_id, subject, service.store.clock
        )
        if not is_mine and record.job is None:
            await asyncio.sleep(REPORT_START_PAUSE_SECONDS)  # another call requests it at this moment
            continue
        try:
            return await advance_report(service, session, record, read)
        except ProviderError as problem:
            if record.state != "read" or isinstance(problem, TRANSIENT_ERRORS):
                raise
            continue  # the network no longer has the report
    return None


async def advance_report(
    service: Service, session: NetworkSession, record: ReportRecord, read: ReadReport[ReportT]
) -> ReportT:
    """Request a report or read its progress. Its job is stored until the report was read or has failed for good.

    Several calls may see the end of the report; only the transaction that deletes its job records the event.
    """
    store = service.store
    try:
        report = await read(record.job)
    except asyncio.CancelledError:
        if record.job is None:  # the next call requests the report, instead of waiting for this one
            with suppress(StoreError):
                await store.write(reports.delete_report, record.id)
        raise
    except AdsunifyError as problem:
        if record.job is None or not isinstance(problem, TRANSIENT_ERRORS):
            await store.write(_end_report, record, True, session.account, store.clock, _failure_event(problem))
        raise
    if report.pending is not None:
        await store.write(reports.mark_started, record.id, report.pending.job, store.clock)
    elif record.state != "read":  # a report that was ready at once is deleted, because there is nothing to resume
        await store.write(_end_report, record, record.job is None, session.account, store.clock, _success_event(report))
    return report


def _end_report(
    connection: Connection,
    record: ReportRecord,
    is_over: bool,
    account: AccountRecord,
    clock: Clock,
    event: EventSummary | None,
) -> None:
    has_ended = (
        reports.delete_report(connection, record.id) if is_over else reports.mark_read(connection, record.id, clock)
    )
    if has_ended and event is not None:
        record_account_event(connection, event[0], account, clock, event[1])


async def read_untracked_report(
    service: Service, session: NetworkSession, job: str | None, read: ReadReport[ReportT]
) -> ReportT:
    """Read a report without storing a job, and record the event of its end."""
    store = service.store
    try:
        report = await read(job)
    except ProviderError as problem:
        failure_event = _failure_event(problem)
        if failure_event is not None:
            await store.write(record_account_event, failure_event[0], session.account, store.clock, failure_event[1])
        raise
    success_event = _success_event(report)
    if success_event is not None:
        await store.write(record_account_event, success_event[0], session.account, store.clock, success_event[1])
    return report


def _failure_event(problem: AdsunifyError) -> EventSummary | None:
    """Return the event of a read that failed for good."""
    if not isinstance(problem, ProviderError) or isinstance(problem, TRANSIENT_ERRORS):
        return None
    return "sync.failed", {"what": "insights"}


def _success_event(report: ReportResult) -> EventSummary | None:
    """Return the event of a read that is complete for its range."""
    days = report.finished_days
    if days is None:
        return None
    return "analytics.synced", {
        "what": "insights",
        "startDate": days.start.isoformat(),
        "endDate": days.end.isoformat(),
    }


def record_account_event(
    connection: Connection, kind: str, account: AccountRecord, clock: Clock, more: Mapping[str, str]
) -> None:
    """Record an event of an account. ``more``: further members of its data."""
    row = events.make_event_row(
        kind,
        account.workspace_id,
        clock.now(),
        status=account.status,
        account_id=account.id,
        network=account.network,
        more=more,
    )
    events.record_events(connection, [row])
