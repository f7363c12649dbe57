"""Daily figures of the campaigns, ad groups or ads of an account, page by page."""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from datetime import date

from attrs import evolve

from adsunify.adapter.entity_reports import MAX_ENTITY_IDS, EntityReportPage, ReportQuery
from adsunify.adapter.hierarchy import is_valid_id
from adsunify.adapter.metrics import ReportLevel
from adsunify.adapter.reports import require_history
from adsunify.adapter.settings import to_account_time
from adsunify.errors import InvalidInput, Issue, invalid_input
from adsunify.service import cursors
from adsunify.service.core import Service, UseCaseResult
from adsunify.service.network_session import NetworkSession
from adsunify.store.reports import ReportSubject
from adsunify.values.exact_json import Json, dumps_canonical, loads

from .jobs import STARTING_REPORT, read_report, read_untracked_report
from .known import read_known_page


def require_level(session: NetworkSession, kind: str) -> ReportLevel:
    """Return the level of a report. Raises InvalidInput ``level_not_supported`` if the network does not report it."""
    network = session.adapter.network
    level = next((level for level in network.report_levels if level.kind == kind), None)
    if level is None:
        kinds = ["account", *(level.kind for level in network.report_levels)]
        message = f"{network.title} does not report this level. It reports: {', '.join(kinds)}."
        raise invalid_input("level", "level_not_supported", message)
    return level


def make_entity_ids(session: NetworkSession, level: ReportLevel, entity_ids: Sequence[str]) -> tuple[str, ...]:
    """Return the ids of a query, in order and without repeats. Raises InvalidInput for texts that cannot be an id."""
    network = session.adapter.network
    if len(set(entity_ids)) > MAX_ENTITY_IDS:
        message = f"has more than {MAX_ENTITY_IDS} ids. Ask for the others in another call."
        raise invalid_input("entityIds", "too_long", message)
    issues = [
        Issue(f"entityIds.{position}", "malformed", f"is not the id of a {level.kind} at {network.title}.")
        for position, entity_id in enumerate(entity_ids)
        if not is_valid_id(network, level.kind, entity_id)
    ]
    if issues:
        raise InvalidInput(issues)
    return tuple(sorted(set(entity_ids)))


async def read_entity_insights(
    service: Service, session: NetworkSession, query: ReportQuery, end: date, cursor: str | None, as_of: str | None
) -> UseCaseResult:
    """Read one page of a report: from the network, or as it was known at a time.

    ``end`` may be later than the end of the report, if the last days have not begun.
    """
    entity_ids: list[Json] = list(query.entity_ids)
    signed: list[Json] = ["insights", query.level.kind, query.start.isoformat(), end.isoformat(), entity_ids]
    signed += [] if as_of is None else [as_of]
    position = cursors.decode_cursor(service.ring, session.account.id, signed, cursor)
    job, native_cursor = None, None
    if position.native_cursor is not None:  # later pages have the same last day as the first page, also after midnight
        job, native_cursor, last = loads(position.native_cursor)
        query = evolve(query, end=date.fromisoformat(last))
    if as_of is None:
        page = await read_report_page(service, session, query, job, native_cursor)
    else:
        page = await read_known_page(service, session, query, native_cursor, as_of)
    following = None
    if page.cursor is not None:
        following = cursors.Position(dumps_canonical([page.job, page.cursor, query.end.isoformat()]).decode())
    next_cursor = cursors.encode_cursor(service.ring, session.account.id, signed, following)
    return UseCaseResult(_page_to_json(session, query, page.extend_to(end)), next_cursor, is_page=True)


async def read_report_page(
    service: Service, session: NetworkSession, query: ReportQuery, job: str | None, cursor: str | None
) -> EntityReportPage:
    """Read one page of a report from the network. ``job`` and ``cursor`` are those of the page before."""

    async def read(job: str | None) -> EntityReportPage:
        return await _read_page(service, session, query, cursor, job)

    if cursor is None:
        subject = ReportSubject(
            session.account.id,
            query.start.isoformat(),
            query.end.isoformat(),
            query.level.kind,
            _hash_ids(query.entity_ids),
        )
        page = await read_report(service, session, subject, read)
    else:  # the cursor names the job of its first page
        page = await read_untracked_report(service, session, job, read)
    return page or EntityReportPage.from_pending_report(query, session.native_account.timezone, STARTING_REPORT)


async def _read_page(
    service: Service, session: NetworkSession, query: ReportQuery, cursor: str | None, job: str | None
) -> EntityReportPage:
    adapter, account, now = session.adapter, session.native_account, service.now()
    if job is None:  # no check with a job: a report that was requested in time can be resumed later
        require_history(adapter.network, account, query.start, now, query.level)
    if adapter.reports is None:
        raise LookupError(f"The adapter of {adapter.network.title} declares levels of reports and cannot read them.")
    page = await session.run_flow(adapter.reports.fetch_report_page(account, query, cursor, job, now))
    return evolve(page, job=job, coverage=page.coverage.limit_final_days(get_account_today(service, session)))


def get_account_today(service: Service, session: NetworkSession) -> date:
    """Return the present day in the account's time zone."""
    now = service.now()
    return (to_account_time(session.native_account, now) or now).date()


def _hash_ids(entity_ids: Sequence[str]) -> str:
    """Return the SHA-256 of the ids, in hexadecimal digits; empty if the report is about all entities."""
    return hashlib.sha256(dumps_canonical(list(entity_ids))).hexdigest() if entity_ids else ""


def _page_to_json(session: NetworkSession, query: ReportQuery, page: EntityReportPage) -> Json:
    return {
        "accountId": session.account.id,
        "currency": session.native_account.currency,
        "timezone": session.native_account.timezone,
        "level": query.level.kind,
        "rows": page.rows.to_json(),
        "totals": None,
        "nativeRows": list(page.native_rows),
        "coverage": page.coverage.to_json(),
        "pending": None if page.pending is None else page.pending.to_json(),
    }
