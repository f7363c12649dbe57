"""Ad accounts and what is read through them: hierarchy, insights, catalogs."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from datetime import date

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.editing import local_time
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    Issue,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    TokenRefused,
)
from adsunify.insights import Insights, Pending
from adsunify.reading import Entity, Query, Tree
from adsunify.steps import Kind
from adsunify.store import connections, entities, events, reports
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.entities import Seen
from adsunify.store.reports import ReportRecord
from adsunify.wire import Json

from . import cursors
from .core import Result, Service, moment
from .session import Session

FIRST_TRIES = 3
STARTING = Pending(job="", status="starting", retry_after_ms=1000)
"""Another call is asking the network for the same report; the network has not named the job yet."""
STARTING_LOOKS, STARTING_SECONDS = 25, 0.2
PASSING = (ProviderThrottled, ProviderUnreadable, TokenRefused)
"""Failures that may be over at the next read: the report goes on, and nothing has failed for good."""
KINDS: tuple[Kind, ...] = ("campaign", "adGroup", "ad")


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
    seen = [
        Seen(kind, node.id, node.status)
        for node in nodes
        if node.status is not None
        for kind in KINDS
        if kind == node.kind
    ]
    entities.record_seen(connection, account_id, seen, clock)
    connections.first_synced(connection, account_id, clock)


async def first_sync(service: Service, account: AccountRecord) -> None:
    """Read a new account's tree once, in three tries; ``sync.failed`` where it cannot be read."""
    for tried in range(FIRST_TRIES):
        try:
            await _read_tree(service, Session(service, account))
            return
        except AdsunifyError:
            if tried < FIRST_TRIES - 1:
                await asyncio.sleep(2**tried)
    await service.store.write(_event, "sync.failed", account, "tree", service.store.clock)


def _event(connection: Connection, kind: str, account: AccountRecord, what: str, clock: Clock) -> None:
    row = events.event_row(
        kind,
        account.workspace_id,
        clock.now(),
        status=account.status,
        account_id=account.id,
        network=account.network,
        more={"what": what},
    )
    events.record(connection, [row])


# -- insights -----------------------------------------------------------------------------------------------------


async def insights(service: Service, actor: Actor, *, account_id: str, start_date: date, end_date: date) -> Json:
    """Normalized daily metrics in the account's currency and time zone, both dates included.

    ``pending`` says that the network is still making its report: ask again with the same dates.
    """
    session = await Session.of(service, actor, account_id)
    if end_date < start_date:
        raise InvalidInput([Issue("endDate", "order", "cannot be before startDate.")])
    if start_date > _today(service, session):
        raise InvalidInput([Issue("startDate", "future", "lies in the future; nothing can be reported yet.")])
    if not session.adapter.network.reports:
        return _insights(session, await _report(service, session, start_date, end_date, None))
    days = start_date.isoformat(), end_date.isoformat()
    for _ in range(STARTING_LOOKS):
        record, mine = await service.store.write(
            reports.begin, actor.workspace_id, account_id, *days, service.store.clock
        )
        if mine or record.job is not None:
            return _insights(session, await _advanced(service, session, record))
        await asyncio.sleep(STARTING_SECONDS)  # another call asks for it at this moment
    return _insights(session, Insights.waiting(start_date, end_date, session.native.timezone, STARTING))


def _today(service: Service, session: Session) -> date:
    now = service.now()
    return (local_time(session.native, now) or now).date()


async def _advanced(service: Service, session: Session, record: ReportRecord) -> Insights:
    """Ask for a report, or how far it is; keep what resumes it, until it was read or has failed for good."""
    start, end = date.fromisoformat(record.start_date), date.fromisoformat(record.end_date)
    try:
        found = await _report(service, session, start, end, record.job)
    except AdsunifyError as problem:
        if record.job is None or not isinstance(problem, PASSING):
            await service.store.write(reports.finished, record.id)
        raise
    if found.pending is not None:
        await service.store.write(reports.started, record.id, found.pending.job, service.store.clock)
    else:
        await service.store.write(reports.finished, record.id)
    return found


async def _report(service: Service, session: Session, start: date, end: date, job: str | None) -> Insights:
    flow = session.adapter.reads.insights(session.native, start, end, job, service.now())
    try:
        found = await session.run(flow)
    except ProviderError as problem:
        if not isinstance(problem, PASSING):
            await service.store.write(_event, "sync.failed", session.account, "insights", service.store.clock)
        raise
    if found.pending is None and found.coverage.complete:
        await service.store.write(_event, "analytics.synced", session.account, "insights", service.store.clock)
    return found


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
    record = await service.store.read(reports.of_job, session.account.id, job)
    if record is not None:
        return _insights(session, await _advanced(service, session, record))
    today = _today(service, session)  # read to its end before: the network names its days
    return _insights(session, await _report(service, session, today, today, job))
