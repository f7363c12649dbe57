"""Asynchronous reports at the networks: one row for each subject, so that a second read resumes the job.

The figures of a report are not stored. For an hour, a read uses the same job. Later reads request a new report, because
networks correct their figures.
"""

from __future__ import annotations

from typing import Literal

from attrs import asdict, frozen
from sqlalchemy import Connection, bindparam, delete, select, update

from adsunify.values.exact_json import Json

from . import upsert
from .clock import Clock, new_id
from .schema import reports

ReportState = Literal["starting", "pending", "read"]
START_MILLISECONDS = 120_000
REREAD_MILLISECONDS = 3_600_000
"""How long reads use the job of a completed report before they request a new report."""


@frozen
class ReportSubject:
    """The subject of a report: an account, days as ``YYYY-MM-DD``, a level, and its entities.

    ``entities`` is the SHA-256 of their sorted ids, in hexadecimal digits; it is empty for all entities.
    """

    account_id: str
    start_date: str
    end_date: str
    level: str = "account"
    entities: str = ""


@frozen
class ReportRecord:
    """A report that is running, or was read completely. Times are in milliseconds since 1970.

    ``job`` resumes the report; it is None while the report is being requested.
    """

    id: str
    workspace_id: str
    account_id: str
    start_date: str
    end_date: str
    level: str
    entities: str
    state: ReportState
    job: Json
    created_at: int
    updated_at: int


_SUBJECT_COLUMNS = ("account_id", "start_date", "end_date", "level", "entities")
_INSERT = upsert.insert_or_ignore(reports, _SUBJECT_COLUMNS)
_OF_SUBJECT = select(reports).where(*(reports.c[name] == bindparam(f"of_{name}") for name in _SUBJECT_COLUMNS))
_OF_JOB = (
    select(reports)
    .where(
        reports.c.account_id == bindparam("of_account"),
        reports.c.job == bindparam("of_job"),
        reports.c.level == "account",
    )
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
    connection: Connection, workspace_id: str, subject: ReportSubject, clock: Clock
) -> tuple[ReportRecord, bool]:
    """Return the report of a subject, and whether this caller must request it from the network.

    Only one of several callers requests it. If that caller fails, another caller may request it after 2 minutes.
    """
    at = clock.now()
    connection.execute(_DELETE_STALE, {"of_account": subject.account_id, "before": at - REREAD_MILLISECONDS})
    row = {
        "id": new_id(at),
        "workspace_id": workspace_id,
        **asdict(subject),
        "state": "starting",
        "created_at": at,
        "updated_at": at,
    }
    report = None
    while report is None:  # repeat if another caller deleted the report between the two statements
        mine = bool(_INSERT.fetch_all(connection, row))
        report = find_report(connection, subject)
    if not mine:
        late = {"the_id": report.id, "before": at - START_MILLISECONDS, "now": at}
        mine = bool(connection.execute(_TAKE_OVER, late).all())
    return report, mine


def find_report(connection: Connection, subject: ReportSubject) -> ReportRecord | None:
    """Return the report of a subject; None if it was not stored."""
    values = {f"of_{name}": value for name, value in asdict(subject).items()}
    row = connection.execute(_OF_SUBJECT, values).one_or_none()
    return None if row is None else ReportRecord(**row._mapping)


def find_report_by_job(connection: Connection, account_id: str, job: Json) -> ReportRecord | None:
    """Return the report of the whole account that has this job; None if it was not stored.

    A network may return one job for two ranges, because it cuts both to the days that it has. The latest report counts.
    """
    row = connection.execute(_OF_JOB, {"of_account": account_id, "of_job": job}).one_or_none()
    return None if row is None else ReportRecord(**row._mapping)


def mark_started(connection: Connection, report_id: str, job: Json, clock: Clock) -> None:
    """Store the job that resumes the report, after the network has started or changed it."""
    connection.execute(_MARK_STARTED, {"the_id": report_id, "new_job": job, "now": clock.now()})


def mark_read(connection: Connection, report_id: str, clock: Clock) -> bool:
    """Record that the report was read completely. Returns whether this is the first time."""
    return bool(connection.execute(_MARK_READ, {"the_id": report_id, "now": clock.now()}).all())


def delete_report(connection: Connection, report_id: str) -> bool:
    """Delete a report that has failed, was answered at once, or no longer exists at the network.

    The next read requests a new report.

    Returns:
        Whether this call ended the report: no other call had deleted it or read it completely before.
    """
    return connection.execute(_DELETE, {"the_id": report_id}).scalar_one_or_none() not in (None, "read")
