"""Daily figures of one account: of the account itself, or of the entities of a level."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import date

from adsunify.actor import Actor
from adsunify.adapter.entity_reports import ReportQuery
from adsunify.adapter.insights import Insights
from adsunify.adapter.reports import require_history
from adsunify.contract.requests import ReportedLevel
from adsunify.errors import InvalidInput, Issue, NotFound
from adsunify.service.core import Service, UseCaseResult
from adsunify.service.network_session import NetworkSession
from adsunify.store import reports
from adsunify.store.reports import ReportSubject
from adsunify.values.exact_json import Json

from .entities import get_account_today, make_entity_ids, read_entity_insights, require_level
from .jobs import STARTING_REPORT, advance_report, read_report
from .known import read_known_insights

FIRST_DAY = date(2000, 1, 1)
"""The first day of insights: no network has older figures."""
MAX_DAYS = 1100
"""The longest range of one call for insights: three years. Most networks do not report more."""


async def read_account_insights(
    service: Service,
    actor: Actor,
    *,
    account_id: str,
    start_date: date,
    end_date: date,
    level: ReportedLevel | None = None,
    entity_ids: Sequence[str] | None = None,
    cursor: str | None = None,
    as_of: str | None = None,
) -> Json | UseCaseResult:
    """Read normalized daily metrics in the account's currency and time zone.

    The range includes both dates and has at most 1100 days. Where ``pending`` is not null, the network is still
    preparing its report: call again with the same dates. Days that have not begun are listed as missing.

    With ``level``, there is a row for each day and entity of that level. Its rows come in pages, each as large as the
    network's own, and have no totals; ``entityIds`` asks for up to 50 entities. ``GET /networks/{network}`` lists the
    levels that a network reports.

    With ``asOf``, the answer has the figures that a sync had stored at that time, without native rows: 404 if one of
    the days was not synced before. Without it, the figures are read from the network.
    """
    session = await NetworkSession.load(service, actor, account_id)
    if level in ("campaign", "adGroup", "ad"):
        return await read_level(service, session, start_date, end_date, level, entity_ids or (), cursor, as_of)
    insights = await read_insights(service, session, start_date, end_date, as_of)
    answer = _insights_to_json(session, insights)
    if level is None:
        return answer
    return UseCaseResult({**answer, "level": level, "rows": list_account_rows(session, insights)}, is_page=True)


async def read_insights(
    service: Service, session: NetworkSession, start: date, end: date, as_of: str | None = None
) -> Insights:
    """Read the figures of an account: from the network, or as they were known at a time.

    Days that have not begun are missing.
    """
    if as_of is not None:
        check_days(start, end)
        return await read_known_insights(service, session, start, end, as_of)
    last = _get_last_day(service, session, start, end)
    subject = ReportSubject(session.account.id, start.isoformat(), last.isoformat())
    insights = await read_report(service, session, subject, lambda job: _read(service, session, start, last, job))
    if insights is None:
        insights = Insights.from_pending_report(start, end, session.native_account.timezone, STARTING_REPORT)
    return insights.extend_to(end)


async def read_level(
    service: Service,
    session: NetworkSession,
    start: date,
    end: date,
    kind: str,
    entity_ids: Sequence[str] = (),
    cursor: str | None = None,
    as_of: str | None = None,
) -> UseCaseResult:
    """Read a page of the figures of a level: from the network, or as they were known at a time."""
    last = _get_last_day(service, session, start, end)
    level = require_level(session, kind)
    query = ReportQuery(level, start, last if as_of is None else end, make_entity_ids(session, level, entity_ids))
    return await read_entity_insights(service, session, query, end, cursor, as_of)


def check_days(start: date, end: date) -> None:
    """Raise InvalidInput for a range that no account reports."""
    if end < start:
        raise InvalidInput([Issue("endDate", "order", "cannot be before startDate.")])
    if (end - start).days >= MAX_DAYS:
        message = f"must be less than {MAX_DAYS} days after startDate; split the range into several calls."
        raise InvalidInput([Issue("endDate", "range_too_long", message)])
    if start < FIRST_DAY:
        raise InvalidInput([Issue("startDate", "too_early", f"cannot be before {FIRST_DAY}.")])


def _get_last_day(service: Service, session: NetworkSession, start: date, end: date) -> date:
    """Return the last day of a range that has begun. Raises InvalidInput for a range that cannot be read."""
    check_days(start, end)
    today = get_account_today(service, session)
    if start > today:
        raise InvalidInput([Issue("startDate", "future", "lies in the future; there are no figures yet.")])
    return min(end, today)


async def _read(service: Service, session: NetworkSession, start: date, end: date, job: str | None) -> Insights:
    if job is None:  # no check with a job: a report that was requested in time can be resumed later
        require_history(session.adapter.network, session.native_account, start, service.now())
    return await session.run_flow(
        session.adapter.reads.fetch_insights(session.native_account, start, end, job, service.now())
    )


def _insights_to_json(session: NetworkSession, insights: Insights) -> dict[str, Json]:
    return {
        "accountId": session.account.id,
        "currency": session.native_account.currency,
        "timezone": session.native_account.timezone,
        **insights.to_json(),
    }


def list_account_rows(session: NetworkSession, insights: Insights) -> list[Json]:
    """Return the figures of an account as rows of a level, with the account as the entity."""
    account = session.account
    entity = {"entityId": account.native_id, "entityName": account.name, "parentId": None}
    return [{**entity, **row.to_json()} for row in insights.rows]


async def resume_report(service: Service, session: NetworkSession, job: str) -> Json:
    """Read the report of a job of this account. Raises NotFound if no call has requested it."""
    network = session.adapter.network
    if not network.has_report_jobs:
        raise NotFound(f"{network.title} has no report jobs, so there is no report to resume.")
    record = await service.store.read(reports.find_report_by_job, session.account.id, job)
    if record is None:  # the job may belong to another account
        raise NotFound("This account has no such report, or no longer. Request its days again.")
    start, end = date.fromisoformat(record.start_date), date.fromisoformat(record.end_date)
    insights = await advance_report(service, session, record, lambda job: _read(service, session, start, end, job))
    return _insights_to_json(session, insights)
