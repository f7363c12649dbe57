"""Asynchronous reports at the networks: one row per account and range, so that a second read resumes the job.

What a report said is not kept: its job is read again for an hour, and then the network is asked anew, for figures are
restated.
"""

from __future__ import annotations

from typing import Literal

from attrs import frozen
from sqlalchemy import Connection, bindparam, delete, select, update

from adsunify.values.exact_json import Json

from . import upsert
from .clock import Clock, new_id
from .schema import reports

ReportState = Literal["starting", "pending", "read"]
START_MILLISECONDS = 120_000
REREAD_MILLISECONDS = 3_600_000
"""So long a report that was read to its end is read again, rather than asked for anew."""


@frozen
class ReportRecord:
    """A report that is being made, or was read to its end.

    ``job``: what resumes it, None while it is being asked for. Times in milliseconds.
    """

    id: str
    workspace_id: str
    account_id: str
    start_date: str
    end_date: str
    state: ReportState
    job: Json
    created_at: int
    updated_at: int


_INSERT = upsert.insert_or_ignore(reports, ("account_id", "start_date", "end_date"))
_OF_RANGE = select(reports).where(
    reports.c.account_id == bindparam("of_account"),
    reports.c.start_date == bindparam("of_start"),
    reports.c.end_date == bindparam("of_end"),
)
_OF_JOB = (
    select(reports)
    .where(reports.c.account_id == bindparam("of_account"), reports.c.job == bindparam("of_job"))
    .order_by(reports.c.id.desc())
    .limit(1)
)
_TAKE_OVER = (
    update(reports)
    .where(
        reports.c.id == bindparam("the_id"), reports.c.state == "starting", reports.c.updated_at <= bindparam("before")
    )
    .values(updated_at=bindparam("now"))
    .returning(reports.c.id)
)
_MARK_STARTED = (
    update(reports)
    .where(reports.c.id == bindparam("the_id"))
    .values(state="pending", job=bindparam("new_job"), updated_at=bindparam("now"))
)
_MARK_READ = (
    update(reports)
    .where(reports.c.id == bindparam("the_id"), reports.c.state != "read")
    .values(state="read", updated_at=bindparam("now"))
    .returning(reports.c.id)
)
_DELETE = delete(reports).where(reports.c.id == bindparam("the_id")).returning(reports.c.state)
_DELETE_STALE = delete(reports).where(
    reports.c.account_id == bindparam("of_account"),
    reports.c.state == "read",
    reports.c.updated_at <= bindparam("before"),
)


def begin_report(
    connection: Connection, workspace_id: str, account_id: str, start_date: str, end_date: str, clock: Clock
) -> tuple[ReportRecord, bool]:
    """The report of this range, and whether the caller is the one to ask the network for it.

    Of all who ask, one is; another may after 2 minutes, if nothing came of it. Dates as ``YYYY-MM-DD``.
    """
    at = clock.now()
    connection.execute(_DELETE_STALE, {"of_account": account_id, "before": at - REREAD_MILLISECONDS})
    row = {
        "id": new_id(at),
        "workspace_id": workspace_id,
        "account_id": account_id,
        "start_date": start_date,
        "end_date": end_date,
        "state": "starting",
        "created_at": at,
        "updated_at": at,
    }
    report = None
    while report is None:  # again, where another's report was forgotten between the two
        mine = bool(_INSERT.fetch_all(connection, row))
        report = find_report(connection, account_id, start_date, end_date)
    if not mine:
        late = {"the_id": report.id, "before": at - START_MILLISECONDS, "now": at}
        mine = bool(connection.execute(_TAKE_OVER, late).all())
    return report, mine


def find_report(connection: Connection, account_id: str, start_date: str, end_date: str) -> ReportRecord | None:
    """The report of this range, if there is one."""
    row = connection.execute(
        _OF_RANGE, {"of_account": account_id, "of_start": start_date, "of_end": end_date}
    ).one_or_none()
    return None if row is None else ReportRecord(**row._mapping)


def find_report_by_job(connection: Connection, account_id: str, job: Json) -> ReportRecord | None:
    """The report that a job makes for this account, if there is one: the latest, where the network gave one job for two
    ranges (it cuts both to the days that it has).
    """
    row = connection.execute(_OF_JOB, {"of_account": account_id, "of_job": job}).one_or_none()
    return None if row is None else ReportRecord(**row._mapping)


def mark_started(connection: Connection, report_id: str, job: Json, clock: Clock) -> None:
    """The network makes the report: keep what resumes it (also when that has changed)."""
    connection.execute(_MARK_STARTED, {"the_id": report_id, "new_job": job, "now": clock.now()})


def mark_read(connection: Connection, report_id: str, clock: Clock) -> bool:
    """The report was read to its end; whether nobody had before."""
    return bool(connection.execute(_MARK_READ, {"the_id": report_id, "now": clock.now()}).all())


def delete_report(connection: Connection, report_id: str) -> bool:
    """The next read asks for a new report: this one failed for good, was answered at once, or the network has it no
    more. Whether it ended by that: nobody had forgotten it, or read it to its end.
    """
    return connection.execute(_DELETE, {"the_id": report_id}).scalar_one_or_none() not in (None, "read")
