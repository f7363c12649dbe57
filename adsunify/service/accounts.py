"""Ad accounts and what the service reads through them: hierarchy, insights, catalogs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.hierarchy import EntityTree, ListQuery, ParsedEntity
from adsunify.adapter.insights import Insights, PendingReport
from adsunify.adapter.network import Extra
from adsunify.adapter.reports import require_history
from adsunify.adapter.settings import to_account_time
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    Issue,
    NotFound,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.execution.status_updates import read_entity_statuses
from adsunify.networks.registry import get_adapter
from adsunify.store import Store, connections, entities, events, reports
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.reports import ReportRecord
from adsunify.values.exact_json import Json

from . import cursors
from .core import Service, UseCaseResult, format_timestamp
from .network_session import NetworkSession

FIRST_SYNC_TRIES = 3
MAX_EXTRA_LENGTH = 250
FIRST_DAY = date(2000, 1, 1)
"""The first day of insights: no network has older figures."""
MAX_DAYS = 1100
"""The longest range of one call for insights: three years. Most networks do not report more."""
STARTING_REPORT = PendingReport(job="", status="starting", retry_after_ms=1000)
"""The result while another call is requesting the same report and the network has not returned a job yet."""
REPORT_START_TRIES, REPORT_START_PAUSE_SECONDS = 25, 0.2
TRANSIENT_ERRORS = (ProviderThrottled, ProviderUnreadable, TokenRefused)
"""Errors after which a later read may succeed, so the report has not failed for good."""
EventSummary = tuple[str, Mapping[str, str]]
"""The type of an event, and further members of its data."""


async def list_accounts(service: Service, actor: Actor, *, network: str | None) -> list[Json]:
    """List the workspace's ad accounts, or those on one network."""
    return [account_to_json(account) for account in await service.store.read(connections.list_accounts, actor, network)]


async def get_account(service: Service, actor: Actor, *, account_id: str) -> Json:
    """Return one ad account."""
    return account_to_json(await service.store.read(connections.get_account, actor, account_id))


def account_to_json(account: AccountRecord) -> dict[str, Json]:
    """Return an account as responses show it."""
    return {
        "accountId": account.id,
        "network": account.network,
        "nativeId": account.native_id,
        "name": account.name,
        "currency": account.currency,
        "timezone": account.timezone,
        "status": account.status,
        "nativeStatus": account.native_status,
        "connectionId": None if account.status == "disconnected" else account.connection_id,
        "extras": {name: str(value) for name, value in account.extras.items()},
    }


async def set_account_extras(store: Store, account_id: str, extras: Mapping[str, str | None]) -> Json:
    """Set extras of an account by hand. None restores the value that the network reported on connecting.

    Raises NotFound; InvalidInput for extras that the network does not declare or that cannot be set.
    """
    account = await store.read(connections.get_any_account, account_id)
    declared = get_adapter(account.network).network.extras
    issues = [
        issue for name, value in extras.items() for issue in _find_extra_issues(declared, account.network, name, value)
    ]
    if issues:
        raise InvalidInput(issues)
    return account_to_json(await store.write(connections.set_extras, account_id, extras, store.clock))


def _find_extra_issues(declared: Sequence[Extra], network: str, name: str, value: str | None) -> Iterator[Issue]:
    settable = {extra.name: extra for extra in declared if extra.is_settable}
    if name not in settable:
        refusal = (
            "is read from the network and cannot be set" if name in {known.name for known in declared} else "is unknown"
        )
        accepted = f"accepts {', '.join(settable)}" if settable else "has no extra that can be set"
        yield Issue(name, "unknown_extra", f"{refusal}; an account of {network} {accepted}.")
    elif value is not None and settable[name].choices and value not in settable[name].choices:
        yield Issue(name, "not_a_choice", f"must be one of {', '.join(settable[name].choices)}.")
    elif value is not None and len(value) > MAX_EXTRA_LENGTH:
        yield Issue(name, "length", f"has at most {MAX_EXTRA_LENGTH} characters.")


# -- tree ---------------------------------------------------------------------------------------------------------


async def read_account_tree(service: Service, actor: Actor, *, account_id: str) -> Json:
    """Read the native hierarchy as a flat list, parents first, with levels and parent keys."""
    session = await NetworkSession.load(service, actor, account_id)
    tree = await _read_tree(service, session)
    network = session.adapter.network
    return {
        "accountId": account_id,
        "network": network.code,
        "levels": [
            {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
            for level in network.levels
        ],
        "nodes": [node.to_json() for node in tree.nodes],
        "truncated": tree.is_truncated,
        "readAt": format_timestamp(service.store.clock.now()),
    }


async def _read_tree(service: Service, session: NetworkSession) -> EntityTree:
    tree = await session.run_flow(session.adapter.reads.fetch_tree(session.native_account))
    await service.store.write(_record_tree, session.account.id, tree.nodes, service.store.clock)
    return tree


def _record_tree(connection: Connection, account_id: str, nodes: Sequence[ParsedEntity], clock: Clock) -> None:
    entities.record_statuses(connection, account_id, read_entity_statuses(nodes), clock.now())
    connections.mark_first_synced(connection, account_id, clock)


async def sync_first_tree(service: Service, account: AccountRecord) -> None:
    """Read the tree of a new account, in up to three attempts. If all fail, ``sync.failed`` is recorded.

    It does not count as a failure if the account was disconnected or connected again during the reads.
    """
    for attempt in range(FIRST_SYNC_TRIES):
        try:
            await _read_tree(service, NetworkSession(service, account))
            return
        except AdsunifyError:
            current = await service.store.read(connections.get_any_account, account.id)
            if current.status == "disconnected" or current.connection_id != account.connection_id:
                return
            if attempt < FIRST_SYNC_TRIES - 1:
                await asyncio.sleep(2**attempt)
    await service.store.write(_record_account_event, "sync.failed", account, service.store.clock, {"what": "tree"})


def _record_account_event(
    connection: Connection, kind: str, account: AccountRecord, clock: Clock, more: Mapping[str, str]
) -> None:
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


# -- insights -----------------------------------------------------------------------------------------------------


async def read_account_insights(
    service: Service, actor: Actor, *, account_id: str, start_date: date, end_date: date
) -> Json:
    """Read normalized daily metrics in the account's currency and time zone.

    The range includes both dates and has at most 1100 days. Where ``pending`` is not null, the network is still
    preparing its report: call again with the same dates. Days that have not begun are listed as missing.
    """
    session = await NetworkSession.load(service, actor, account_id)
    if end_date < start_date:
        raise InvalidInput([Issue("endDate", "order", "cannot be before startDate.")])
    if (end_date - start_date).days >= MAX_DAYS:
        message = f"must be less than {MAX_DAYS} days after startDate; split the range into several calls."
        raise InvalidInput([Issue("endDate", "range_too_long", message)])
    if start_date < FIRST_DAY:
        raise InvalidInput([Issue("startDate", "too_early", f"cannot be before {FIRST_DAY}.")])
    today = _account_today(service, session)
    if start_date > today:
        raise InvalidInput([Issue("startDate", "future", "lies in the future; there are no figures yet.")])
    last = min(end_date, today)
    if not session.adapter.network.has_report_jobs:
        insights = await _read_untracked_report(service, session, start_date, last, None)
        return _insights_to_json(session, insights.extend_to(end_date))
    days = start_date.isoformat(), last.isoformat()
    for _ in range(REPORT_START_TRIES):
        record, is_mine = await service.store.write(
            reports.begin_report, actor.workspace_id, account_id, *days, service.store.clock
        )
        if not is_mine and record.job is None:
            await asyncio.sleep(REPORT_START_PAUSE_SECONDS)  # another call requests it at this moment
            continue
        try:
            insights = await _advance_report(service, session, record)
        except ProviderError as problem:
            if record.state != "read" or isinstance(problem, TRANSIENT_ERRORS):
                raise
            continue  # the network no longer has it
        return _insights_to_json(session, insights.extend_to(end_date))
    return _insights_to_json(
        session, Insights.from_pending_report(start_date, end_date, session.native_account.timezone, STARTING_REPORT)
    )


def _account_today(service: Service, session: NetworkSession) -> date:
    now = service.now()
    return (to_account_time(session.native_account, now) or now).date()


async def _advance_report(service: Service, session: NetworkSession, record: ReportRecord) -> Insights:
    """Request a report or read its progress. Its job is stored until the report was read or has failed for good.

    Several calls may see its end; only the transaction that ends it records the event.
    """
    store, start, end = service.store, date.fromisoformat(record.start_date), date.fromisoformat(record.end_date)
    try:
        insights = await _read_report(service, session, start, end, record.job)
    except AdsunifyError as problem:
        if record.job is None or not isinstance(problem, TRANSIENT_ERRORS):
            await store.write(_end_report, record, True, session.account, store.clock, _failure_event(problem))
        raise
    if insights.pending is not None:
        await store.write(reports.mark_started, record.id, insights.pending.job, store.clock)
    elif record.state != "read":  # a report that came at once is deleted: there is nothing to resume
        await store.write(
            _end_report, record, record.job is None, session.account, store.clock, _success_event(insights)
        )
    return insights


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
        _record_account_event(connection, event[0], account, clock, event[1])


async def _read_untracked_report(
    service: Service, session: NetworkSession, start: date, end: date, job: str | None
) -> Insights:
    """Read a report without storing a job, and record the event of its end."""
    store = service.store
    try:
        insights = await _read_report(service, session, start, end, job)
    except ProviderError as problem:
        failure_event = _failure_event(problem)
        if failure_event is not None:
            await store.write(_record_account_event, failure_event[0], session.account, store.clock, failure_event[1])
        raise
    success_event = _success_event(insights)
    if success_event is not None:
        await store.write(_record_account_event, success_event[0], session.account, store.clock, success_event[1])
    return insights


async def _read_report(service: Service, session: NetworkSession, start: date, end: date, job: str | None) -> Insights:
    if job is None:  # a job that was requested in time can be resumed later
        require_history(session.adapter.network, session.native_account, start, service.now())
    return await session.run_flow(
        session.adapter.reads.fetch_insights(session.native_account, start, end, job, service.now())
    )


def _failure_event(problem: AdsunifyError) -> EventSummary | None:
    """Return the event of a read that failed for good."""
    if not isinstance(problem, ProviderError) or isinstance(problem, TRANSIENT_ERRORS):
        return None
    return "sync.failed", {"what": "insights"}


def _success_event(insights: Insights) -> EventSummary | None:
    """Return the event of a read that is complete for its range."""
    if insights.pending is not None or not insights.coverage.is_complete:
        return None
    days = {"startDate": insights.coverage.start.isoformat(), "endDate": insights.coverage.end.isoformat()}
    return "analytics.synced", {"what": "insights", **days}


def _insights_to_json(session: NetworkSession, insights: Insights) -> Json:
    return {
        "accountId": session.account.id,
        "currency": session.native_account.currency,
        "timezone": session.native_account.timezone,
        **insights.to_json(),
    }


# -- catalogs -----------------------------------------------------------------------------------------------------


async def read_account_catalog(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    resource: str,
    search: str | None,
    cursor: str | None,
    limit: int,
) -> UseCaseResult:
    """List a catalog of the network. ``report:<job>`` resumes a report; the response is then that of insights."""
    session = await NetworkSession.load(service, actor, account_id)
    name, _, suffix = resource.partition(":")
    if name == "report" and suffix:
        return UseCaseResult(await _resume_report(service, session, suffix))
    query_key = {"resource": resource, "search": search, "limit": limit}
    position = cursors.decode_cursor(service.ring, account_id, query_key, cursor)
    query = ListQuery(limit=limit, cursor=position.native_cursor, search=search)
    page = await session.run_flow(session.adapter.reads.fetch_catalog_page(session.native_account, resource, query))
    rows, following = cursors.page_slice(page.rows, page.cursor, position, limit)
    return UseCaseResult(
        [row.to_json() for row in rows], cursors.encode_cursor(service.ring, account_id, query_key, following)
    )


async def _resume_report(service: Service, session: NetworkSession, job: str) -> Json:
    if not session.adapter.network.has_report_jobs:
        raise NotFound(f"{session.adapter.network.title} has no report jobs, so there is no report to resume.")
    record = await service.store.read(reports.find_report_by_job, session.account.id, job)
    if record is None:  # the job may belong to another account
        raise NotFound("This account has no such report, or no longer. Request its days again.")
    return _insights_to_json(session, await _advance_report(service, session, record))
