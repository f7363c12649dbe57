"""Ad accounts and what is read through them: hierarchy, insights, catalogs."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from datetime import date

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.hierarchy import Entity, Query, Tree
from adsunify.adapter.insights import Insights, Pending
from adsunify.adapter.network import Extra
from adsunify.adapter.reports import require_history
from adsunify.adapter.settings import local_time
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
from adsunify.execution.status_updates import of_nodes
from adsunify.networks import adapter
from adsunify.store import Store, connections, entities, events, reports
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.reports import ReportRecord
from adsunify.values.exact_json import Json

from . import cursors
from .core import Result, Service, moment
from .session import Session

FIRST_TRIES = 3
LONGEST_EXTRA = 250
FIRST_DAY = date(2000, 1, 1)
"""No network has figures of a day before; and the first midnights of the calendar are none in every time zone."""
MOST_DAYS = 1100
"""Of one call for insights: three years, as far back as most networks report."""
STARTING = Pending(job="", status="starting", retry_after_ms=1000)
"""Another call is asking the network for the same report; the network has not named the job yet."""
STARTING_LOOKS, STARTING_SECONDS = 25, 0.2
PASSING = (ProviderThrottled, ProviderUnreadable, TokenRefused)
"""Failures that may be over at the next read: the report goes on, and nothing has failed for good."""
Told = tuple[str, Mapping[str, str]]
"""The name of an event, and what it says besides."""


async def list_(service: Service, actor: Actor, *, network: str | None) -> list[Json]:
    """The workspace's ad accounts, or those on one network."""
    return [shown(one) for one in await service.store.read(connections.list_accounts, actor.workspace_id, network)]


async def get(service: Service, actor: Actor, *, account_id: str) -> Json:
    """One ad account."""
    return shown(await service.store.read(connections.account, actor.workspace_id, account_id))


def shown(account: AccountRecord) -> dict[str, Json]:
    """An account as the answers show it."""
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


async def choose_extras(store: Store, account_id: str, extras: Mapping[str, str | None]) -> Json:
    """Set extras of an account by hand; None lets the one that was found on connecting show again.

    Raises NotFound, InvalidInput for what the network does not declare, or does not let anybody set.
    """
    home = await store.read(connections.home_of, account_id)
    found = await store.read(connections.account, home, account_id)
    declared = adapter(found.network).network.extras
    issues = [issue for name, value in extras.items() for issue in _extra_issues(declared, found.network, name, value)]
    if issues:
        raise InvalidInput(issues)
    return shown(await store.write(connections.choose_extras, home, account_id, extras, store.clock))


def _extra_issues(declared: Sequence[Extra], network: str, name: str, value: str | None) -> Iterator[Issue]:
    settable = {extra.name: extra for extra in declared if extra.settable}
    if name not in settable:
        what = "is read from the network and cannot be set" if name in {one.name for one in declared} else "is unknown"
        accepted = f"accepts {', '.join(settable)}" if settable else "has no extra that can be set"
        yield Issue(name, "unknown_extra", f"{what}; an account of {network} {accepted}.")
    elif value is not None and settable[name].choices and value not in settable[name].choices:
        yield Issue(name, "not_a_choice", f"must be one of {', '.join(settable[name].choices)}.")
    elif value is not None and len(value) > LONGEST_EXTRA:
        yield Issue(name, "length", f"has at most {LONGEST_EXTRA} characters.")


# -- tree ---------------------------------------------------------------------------------------------------------


async def tree(service: Service, actor: Actor, *, account_id: str) -> Json:
    """The native hierarchy, flat, parents first, with explicit levels and parent keys."""
    session = await Session.of(service, actor, account_id)
    found = await _read_tree(service, session)
    network = session.adapter.network
    return {
        "accountId": account_id,
        "network": network.code,
        "levels": [
            {"kind": level.kind, "native": level.native, "parentKey": level.parent.removeprefix("/") or None}
            for level in network.levels
        ],
        "nodes": [node.to_json() for node in found.nodes],
        "truncated": found.truncated,
        "readAt": moment(service.store.clock.now()),
    }


async def _read_tree(service: Service, session: Session) -> Tree:
    found = await session.run(session.adapter.reads.tree(session.native))
    await service.store.write(_seen, session.account.id, found.nodes, service.store.clock)
    return found


def _seen(connection: Connection, account_id: str, nodes: Sequence[Entity], clock: Clock) -> None:
    entities.record_seen(connection, account_id, of_nodes(nodes), clock.now())
    connections.first_synced(connection, account_id, clock)


async def first_sync(service: Service, account: AccountRecord) -> None:
    """Read a new account's tree once, in three tries; ``sync.failed`` where it cannot be read.

    Nothing failed where the account was disconnected meanwhile, or connected anew: that reads it.
    """
    for tried in range(FIRST_TRIES):
        try:
            await _read_tree(service, Session(service, account))
            return
        except AdsunifyError:
            found = await service.store.read(connections.account, account.workspace_id, account.id)
            if found.status == "disconnected" or found.connection_id != account.connection_id:
                return
            if tried < FIRST_TRIES - 1:
                await asyncio.sleep(2**tried)
    await service.store.write(_event, "sync.failed", account, service.store.clock, {"what": "tree"})


def _event(connection: Connection, kind: str, account: AccountRecord, clock: Clock, more: Mapping[str, str]) -> None:
    row = events.event_row(
        kind,
        account.workspace_id,
        clock.now(),
        status=account.status,
        account_id=account.id,
        network=account.network,
        more=more,
    )
    events.record(connection, [row])


# -- insights -----------------------------------------------------------------------------------------------------


async def insights(service: Service, actor: Actor, *, account_id: str, start_date: date, end_date: date) -> Json:
    """Normalized daily metrics in the account's currency and time zone, both dates included; at most 1100 days a
    call.

    ``pending`` says that the network is still making its report: ask again with the same dates. Days that have not
    begun are missing.
    """
    session = await Session.of(service, actor, account_id)
    if end_date < start_date:
        raise InvalidInput([Issue("endDate", "order", "cannot be before startDate.")])
    if (end_date - start_date).days >= MOST_DAYS:
        message = f"must be less than {MOST_DAYS} days after startDate; ask in several calls."
        raise InvalidInput([Issue("endDate", "range_too_long", message)])
    if start_date < FIRST_DAY:
        raise InvalidInput([Issue("startDate", "too_early", f"cannot be before {FIRST_DAY}.")])
    today = _today(service, session)
    if start_date > today:
        raise InvalidInput([Issue("startDate", "future", "lies in the future; nothing can be reported yet.")])
    last = min(end_date, today)
    if not session.adapter.network.reports:
        found = await _report(service, session, start_date, last, None)
        return _insights(session, found.until(end_date))
    days = start_date.isoformat(), last.isoformat()
    for _ in range(STARTING_LOOKS):
        record, mine = await service.store.write(
            reports.begin, actor.workspace_id, account_id, *days, service.store.clock
        )
        if not mine and record.job is None:
            await asyncio.sleep(STARTING_SECONDS)  # another call asks for it at this moment
            continue
        try:
            found = await _advanced(service, session, record)
        except ProviderError as problem:
            if record.state != "read" or isinstance(problem, PASSING):
                raise
            continue  # the network has it no more
        return _insights(session, found.until(end_date))
    return _insights(session, Insights.waiting(start_date, end_date, session.native.timezone, STARTING))


def _today(service: Service, session: Session) -> date:
    now = service.now()
    return (local_time(session.native, now) or now).date()


async def _advanced(service: Service, session: Session, record: ReportRecord) -> Insights:
    """Ask for a report, or how far it is; keep what resumes it, until it was read or has failed for good.

    Several may see how it ends: it is told once, in the transaction of its end.
    """
    store, start, end = service.store, date.fromisoformat(record.start_date), date.fromisoformat(record.end_date)
    try:
        found = await _read_report(service, session, start, end, record.job)
    except AdsunifyError as problem:
        if record.job is None or not isinstance(problem, PASSING):
            await store.write(_ended, record, True, session.account, store.clock, _failure(problem))
        raise
    if found.pending is not None:
        await store.write(reports.started, record.id, found.pending.job, store.clock)
    elif record.state != "read":  # one that was answered at once is forgotten: there is nothing to resume
        await store.write(_ended, record, record.job is None, session.account, store.clock, _success(found))
    return found


def _ended(
    connection: Connection, record: ReportRecord, over: bool, account: AccountRecord, clock: Clock, told: Told | None
) -> None:
    ended = reports.forgotten(connection, record.id) if over else reports.read(connection, record.id, clock)
    if ended and told is not None:
        _event(connection, told[0], account, clock, told[1])


async def _report(service: Service, session: Session, start: date, end: date, job: str | None) -> Insights:
    """Read a report that nothing is kept of, and tell how it ended."""
    store = service.store
    try:
        found = await _read_report(service, session, start, end, job)
    except ProviderError as problem:
        failure = _failure(problem)
        if failure is not None:
            await store.write(_event, failure[0], session.account, store.clock, failure[1])
        raise
    success = _success(found)
    if success is not None:
        await store.write(_event, success[0], session.account, store.clock, success[1])
    return found


async def _read_report(service: Service, session: Session, start: date, end: date, job: str | None) -> Insights:
    if job is None:  # a report that was asked for in time can be resumed later
        require_history(session.adapter.network, session.native, start, service.now())
    return await session.run(session.adapter.reads.insights(session.native, start, end, job, service.now()))


def _failure(problem: AdsunifyError) -> Told | None:
    """The event of a read that failed for good."""
    if not isinstance(problem, ProviderError) or isinstance(problem, PASSING):
        return None
    return "sync.failed", {"what": "insights"}


def _success(found: Insights) -> Told | None:
    """The event of a read that is complete for its range."""
    if found.pending is not None or not found.coverage.complete:
        return None
    days = {"startDate": found.coverage.start.isoformat(), "endDate": found.coverage.end.isoformat()}
    return "analytics.synced", {"what": "insights", **days}


def _insights(session: Session, found: Insights) -> Json:
    return {
        "accountId": session.account.id,
        "currency": session.native.currency,
        "timezone": session.native.timezone,
        **found.to_json(),
    }


# -- catalogs -----------------------------------------------------------------------------------------------------


async def catalog(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    resource: str,
    search: str | None,
    cursor: str | None,
    limit: int,
) -> Result:
    """An allow-listed catalog, or, as ``report:<job>``, a report resumed (then the answer is that of insights)."""
    session = await Session.of(service, actor, account_id)
    name, _, suffix = resource.partition(":")
    if name == "report" and suffix:
        return Result(await _resumed(service, session, suffix))
    asked = {"resource": resource, "search": search, "limit": limit}
    before = cursors.unsigned(service.ring, account_id, asked, cursor)
    query = Query(limit=limit, cursor=before.native, search=search)
    page = await session.run(session.adapter.reads.catalog(session.native, resource, query))
    rows, following = cursors.cut(page.rows, page.cursor, before, limit)
    return Result([row.to_json() for row in rows], cursors.signed(service.ring, account_id, asked, following))


async def _resumed(service: Service, session: Session, job: str) -> Json:
    if not session.adapter.network.reports:
        raise NotFound(f"{session.adapter.network.title} answers at once: there is no report to resume.")
    record = await service.store.read(reports.of_job, session.account.id, job)
    if record is None:  # a network may know it, and tell another account's figures as this one's
        raise NotFound("There is no such report of this account, or not any more; ask for its days again.")
    return _insights(session, await _advanced(service, session, record))
