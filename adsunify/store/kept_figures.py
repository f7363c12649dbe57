"""Stored daily figures: a version for each change of a row, and the reads that found the versions.

The rows of a report are staged page by page, because a report may be larger than the memory. When the report is
complete, :func:`keep_days` compares some of its days with the newest versions and adds the differing rows, in one
transaction. A process that ends earlier leaves staged rows, which no function reads.

The completed reads of an account and level are numbered, and a version has the number of the read that found it. So
each time has a number, and the versions up to this number are the figures known at that time. Days are texts,
``YYYY-MM-DD``, and both ends of a range are included. Times are in milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date
from itertools import chain
from typing import Any

from attrs import asdict, frozen
from sqlalchemy import (
    ColumnElement,
    Connection,
    FromClause,
    Integer,
    Select,
    Text,
    and_,
    bindparam,
    cast,
    delete,
    exists,
    false,
    func,
    insert,
    not_,
    null,
    select,
    true,
    tuple_,
    update,
)

from . import upsert
from .clock import Clock, new_id
from .lists import MATCH_LIST_BY_DIALECT
from .schema import accounts, figure_reads, figures, staged_figures
from .statement import Statement

STAGED_MILLISECONDS = 24 * 60 * 60 * 1000
"""The longest time between the start of a read and its end. The next read deletes older staged rows."""
VALUE_COLUMNS = (
    *("entity_name", "parent_id", "impressions", "clicks", "spend", "conversions", "conversion_value"),
    *("video_views", "reach"),
)
Days = tuple[str, str]
"""The first and the last day of a range."""


@frozen(kw_only=True)
class FigureRow:
    """The figures of one entity on one day.

    Amounts are exact decimal texts. None: the network does not report the figure.
    """

    date: str
    entity_id: str
    entity_name: str | None = None
    parent_id: str | None = None
    impressions: int | None = None
    clicks: int | None = None
    spend: str | None = None
    conversions: str | None = None
    conversion_value: str | None = None
    video_views: int | None = None
    reach: int | None = None


@frozen
class FigureSubject:
    """The subject of figures: an account and a level."""

    account_id: str
    level: str


@frozen
class FigureRead:
    """A read of a report whose rows are not stored as versions yet."""

    id: str
    subject: FigureSubject
    started_at: int


@frozen
class DaysRead:
    """The days of a report. ``missing``: days for which the network has not reported all rows."""

    days: Days
    provisional_from: str | None = None
    missing: Sequence[Days] = ()
    notes: Sequence[str] = ()


@frozen
class KnownDays:
    """The facts known about days at a time.

    ``number``: the number of the last read. ``unread``: days without a read.
    """

    number: int
    missing: Sequence[Days]
    provisional_from: str | None
    notes: Sequence[str]
    unread: Sequence[Days] = ()


# -- statements ---------------------------------------------------------------------------------------------------


def _match_subject(table: FromClause) -> ColumnElement[bool]:
    return and_(table.c.account_id == bindparam("of_account"), table.c.level == bindparam("of_level"))


def _match_days(table: FromClause) -> ColumnElement[bool]:
    return table.c.date.between(bindparam("first"), bindparam("last"))


def _match_key(table: FromClause, other: FromClause) -> ColumnElement[bool]:
    return and_(table.c.date == other.c.date, table.c.entity_id == other.c.entity_id)


def _has_newer(version: FromClause, limit: ColumnElement[int] | None = None) -> ColumnElement[bool]:
    """Whether a newer version exists, found by a read up to the number ``limit``."""
    newer = figures.alias("newer")
    condition = and_(_match_subject(newer), _match_key(newer, version), newer.c.number > version.c.number)
    return exists().where(condition if limit is None else and_(condition, newer.c.number <= limit))


_NUMBER: Any = bindparam("the_number", type_=Integer)
_version, _staged = figures.alias("version"), staged_figures.alias("staged")
_OF_READ = and_(_staged.c.read_id == bindparam("the_read"), _match_days(_staged))
_IS_UNCHANGED = exists().where(
    _match_subject(_version),
    _match_key(_version, _staged),
    _version.c.present,
    *(_version.c[name].is_not_distinct_from(_staged.c[name]) for name in VALUE_COLUMNS),
    not_(_has_newer(_version)),
)
_IS_STAGED = exists().where(staged_figures.c.read_id == bindparam("the_read"), _match_key(staged_figures, _version))
_KEY_COLUMNS = ("account_id", "level", "date", "entity_id", "number", "present")


def _add_versions(rows: Select[Any]) -> Statement:
    names = (*_KEY_COLUMNS, *VALUE_COLUMNS)
    return Statement(insert(figures).from_select(names, rows).returning(figures.c.date))


_STAGE = upsert.insert_or_ignore(staged_figures, ("read_id", "date", "entity_id"))
_DELETE_STALE = delete(staged_figures).where(staged_figures.c.started_at < bindparam("before"))
_DISCARD = delete(staged_figures).where(staged_figures.c.read_id == bindparam("the_read"))
_STAGED_DAYS = Statement(
    select(_staged.c.date, func.count().label("rows"))
    .where(_staged.c.read_id == bindparam("the_read"))
    .group_by(_staged.c.date)
    .order_by(_staged.c.date)
)
_UNSTAGE = _DISCARD.where(_match_days(staged_figures))
_LOCK = Statement(select(accounts.c.id).where(accounts.c.id == bindparam("of_account")).with_for_update(key_share=True))
_NEWEST_READ = Statement(
    select(figure_reads.c.number, figure_reads.c.read_at)
    .where(_match_subject(figure_reads))
    .order_by(figure_reads.c.number.desc())
    .limit(1)
)
_OVERLAPS = and_(figure_reads.c.start_date <= bindparam("last"), figure_reads.c.end_date >= bindparam("first"))
_LATER_READS = Statement(
    select(figure_reads.c.start_date, figure_reads.c.end_date).where(
        _match_subject(figure_reads), _OVERLAPS, figure_reads.c.started_at > bindparam("started_at")
    )
)
_INSERT_READ = insert(figure_reads)
_ADD_CHANGED = _add_versions(
    select(
        cast(bindparam("of_account"), Text),
        cast(bindparam("of_level"), Text),
        _staged.c.date,
        _staged.c.entity_id,
        cast(_NUMBER, Integer),
        true(),
        *(_staged.c[name] for name in VALUE_COLUMNS),
    ).where(_OF_READ, not_(_IS_UNCHANGED))
)
_ADD_VANISHED = _add_versions(
    select(
        _version.c.account_id,
        _version.c.level,
        _version.c.date,
        _version.c.entity_id,
        cast(_NUMBER, Integer),
        false(),
        *(cast(null(), Text) for _ in VALUE_COLUMNS),
    ).where(
        _match_subject(_version),
        _match_days(_version),
        _version.c.present,
        not_(_has_newer(_version)),
        not_(_IS_STAGED),
    )
)
_KNOWN_READS = Statement(
    select(figure_reads)
    .where(_match_subject(figure_reads), _OVERLAPS, figure_reads.c.known_from <= bindparam("as_of"))
    .order_by(figure_reads.c.number.desc())
)


def _select_known(dialect: str, has_entities: bool) -> Select[Any]:
    condition = MATCH_LIST_BY_DIALECT[dialect](_version.c.entity_id, "of_entities") if has_entities else true()
    return (
        select(*(_version.c[name] for name in ("date", "entity_id", *VALUE_COLUMNS)))
        .where(
            _match_subject(_version),
            _match_days(_version),
            _version.c.number <= _NUMBER,
            _version.c.present,
            condition,
            not_(_has_newer(_version, _NUMBER)),
            tuple_(_version.c.date, _version.c.entity_id)
            > tuple_(bindparam("after_date", type_=Text), bindparam("after_entity", type_=Text)),
        )
        .order_by(_version.c.date, _version.c.entity_id)
        .limit(bindparam("most", type_=Integer))
    )


_KNOWN_ROWS = Statement(lambda dialect: _select_known(dialect, has_entities=False))
_KNOWN_ROWS_OF_ENTITIES = Statement(lambda dialect: _select_known(dialect, has_entities=True))
_KEPT_DAYS = select(
    func.min(figure_reads.c.start_date).label("first"), func.max(figure_reads.c.end_date).label("last")
).where(_match_subject(figure_reads))
_FORGET = (
    update(figure_reads)
    .where(_match_subject(figure_reads), figure_reads.c.known_from < bindparam("before"))
    .values(known_from=bindparam("before"))
)
_NUMBER_BEFORE = select(func.max(figure_reads.c.number)).where(
    _match_subject(figure_reads), figure_reads.c.read_at <= bindparam("before")
)
_DELETE_REPLACED = delete(figures).where(_match_subject(figures), _match_days(figures), _has_newer(figures, _NUMBER))


# -- keeping ------------------------------------------------------------------------------------------------------


def begin_read(connection: Connection, subject: FigureSubject, clock: Clock) -> FigureRead:
    """Begin a read, and delete the staged rows of reads that ended early."""
    at = clock.now()
    connection.execute(_DELETE_STALE, {"before": at - STAGED_MILLISECONDS})
    return FigureRead(new_id(at), subject, at)


def stage_rows(connection: Connection, read: FigureRead, rows: Iterable[FigureRow]) -> None:
    """Stage a page of rows.

    A second row of the same entity and day is ignored; the caller compares the counts to find it.
    """
    values = [{"read_id": read.id, "started_at": read.started_at, **asdict(row)} for row in rows]
    _STAGE.execute_each(connection, values)


def count_staged_rows(connection: Connection, read: FigureRead) -> dict[str, int]:
    """Return the number of staged rows of each day with rows, in order of days."""
    return {row.date: row.rows for row in _STAGED_DAYS.fetch_all(connection, {"the_read": read.id})}


def discard_read(connection: Connection, read: FigureRead) -> None:
    """Delete the staged rows of a read."""
    connection.execute(_DISCARD, {"the_read": read.id})


def keep_days(connection: Connection, read: FigureRead, facts: DaysRead, clock: Clock) -> int:
    """Store the staged rows of some days: add a version for each row that differs or has vanished.

    A row has vanished if the read does not have it and its day is not missing. Days are left out if another process has
    stored them from a read that began later, because its figures are newer.

    Returns:
        The number of new versions.
    """
    subject = {"of_account": read.subject.account_id, "of_level": read.subject.level}
    _LOCK.fetch_one(connection, subject)  # reads of one account are stored one after another
    newest = _NEWEST_READ.fetch_one_or_none(connection, subject)
    number, at = (0, 0) if newest is None else (newest.number, newest.read_at)
    at = max(at, clock.now())
    in_days = {**subject, "first": facts.days[0], "last": facts.days[1]}
    later = _LATER_READS.fetch_all(connection, {**in_days, "started_at": read.started_at})
    count = 0
    for first, last in subtract_days(facts.days, [(row.start_date, row.end_date) for row in later]):
        number += 1
        row = {
            "account_id": read.subject.account_id,
            "level": read.subject.level,
            "number": number,
            "start_date": first,
            "end_date": last,
            "provisional_from": facts.provisional_from,
            "missing": [list(days) for days in facts.missing],
            "notes": list(facts.notes),
            "started_at": read.started_at,
            "read_at": at,
            "known_from": at,
        }
        connection.execute(_INSERT_READ, row)
        values = {**subject, "the_read": read.id, "the_number": number}
        count += len(_ADD_CHANGED.fetch_all(connection, {**values, "first": first, "last": last}))
        for first_reported, last_reported in subtract_days((first, last), facts.missing):
            in_reported = {**values, "first": first_reported, "last": last_reported}
            count += len(_ADD_VANISHED.fetch_all(connection, in_reported))
    connection.execute(_UNSTAGE, {"the_read": read.id, "first": facts.days[0], "last": facts.days[1]})
    return count


def find_last_read(connection: Connection, subject: FigureSubject) -> int | None:
    """Return when figures of the account and level were stored last, in milliseconds; None if never."""
    newest = _NEWEST_READ.fetch_one_or_none(connection, {"of_account": subject.account_id, "of_level": subject.level})
    return None if newest is None else int(newest.read_at)


# -- reading ------------------------------------------------------------------------------------------------------


def find_known_days(connection: Connection, subject: FigureSubject, days: Days, as_of: int) -> KnownDays | None:
    """Return the facts known about days at a time; None if any of the days was not read before that time."""
    known = find_read_days(connection, subject, days, as_of)
    return None if known is None or known.unread else known


def find_read_days(connection: Connection, subject: FigureSubject, days: Days, as_of: int) -> KnownDays | None:
    """Return the facts known about days at a time; None if none of the days was read before that time."""
    values = {"of_account": subject.account_id, "of_level": subject.level, "first": days[0], "last": days[1]}
    reads = _KNOWN_READS.fetch_all(connection, {**values, "as_of": as_of})
    open_days = _list_days(days)
    missing: list[int] = []
    provisional: list[int] = []
    notes: dict[str, None] = {}
    for read in reads:  # the latest read first
        read_days = open_days & _list_days((read.start_date, read.end_date))
        if not read_days:
            continue
        open_days -= read_days
        notes |= dict.fromkeys(read.notes)
        missing += read_days.intersection(chain.from_iterable(map(_list_days, read.missing)))
        if read.provisional_from is not None:
            first = date.fromisoformat(read.provisional_from).toordinal()
            provisional += (day for day in read_days if day >= first)
    if not reads:
        return None
    return KnownDays(
        reads[0].number,
        _join_days(missing),
        date.fromordinal(min(provisional)).isoformat() if provisional else None,
        tuple(notes),
        _join_days(open_days),
    )


def list_known_rows(
    connection: Connection,
    subject: FigureSubject,
    days: Days,
    number: int,
    limit: int,
    after: tuple[str, str] = ("", ""),
    entity_ids: Sequence[str] = (),
) -> list[FigureRow]:
    """Return rows as they were known after the read ``number``, in order of days and entities.

    Args:
        connection: the connection.
        subject: the account and the level.
        days: the days.
        number: the number of :class:`KnownDays`.
        limit: the maximum number of rows.
        after: the day and the entity of the last row of the page before.
        entity_ids: the entities; empty means all.
    """
    values = {
        "of_account": subject.account_id,
        "of_level": subject.level,
        "first": days[0],
        "last": days[1],
        "the_number": number,
        "after_date": after[0],
        "after_entity": after[1],
        "most": limit,
    }
    if entity_ids:
        rows = _KNOWN_ROWS_OF_ENTITIES.fetch_all(connection, {**values, "of_entities": list(entity_ids)})
    else:
        rows = _KNOWN_ROWS.fetch_all(connection, values)
    return [FigureRow(**row._asdict()) for row in rows]


# -- retention ----------------------------------------------------------------------------------------------------


def find_kept_days(connection: Connection, subject: FigureSubject) -> Days | None:
    """Return the first and the last day with stored figures; None without figures."""
    row = connection.execute(_KEPT_DAYS, {"of_account": subject.account_id, "of_level": subject.level}).one()
    return None if row.first is None else (row.first, row.last)


def delete_old_versions(connection: Connection, subject: FigureSubject, days: Days, before: int) -> None:
    """Delete the versions of some days that were replaced before a time.

    The newest version of a row always stays, and so does the version that was the newest at that time. So queries for
    that time and later still work. For earlier times :func:`find_known_days` returns None.
    """
    of_subject = {"of_account": subject.account_id, "of_level": subject.level}
    connection.execute(_FORGET, {**of_subject, "before": before})
    number = connection.execute(_NUMBER_BEFORE, {**of_subject, "before": before}).scalar_one()
    if number is not None:
        values = {**of_subject, "first": days[0], "last": days[1], "the_number": number}
        connection.execute(_DELETE_REPLACED, values)


# -- days ---------------------------------------------------------------------------------------------------------


def _list_days(days: Days) -> set[int]:
    first, last = (date.fromisoformat(day).toordinal() for day in days)
    return set(range(first, last + 1))


def _join_days(ordinals: Iterable[int]) -> tuple[Days, ...]:
    """Return the ranges that consist of exactly these days, in order."""
    ranges: list[list[int]] = []
    for day in sorted(ordinals):
        if ranges and day == ranges[-1][1] + 1:
            ranges[-1][1] = day
        else:
            ranges.append([day, day])
    return tuple((date.fromordinal(first).isoformat(), date.fromordinal(last).isoformat()) for first, last in ranges)


def subtract_days(days: Days, others: Iterable[Days]) -> tuple[Days, ...]:
    """Return the ranges of the days that are not in the other ranges."""
    return _join_days(_list_days(days).difference(*map(_list_days, others)))
