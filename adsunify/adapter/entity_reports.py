"""Daily figures below the account: one row for each day and entity of a level.

The tables of a network declare what it reports (``NETWORK.report_levels``), and the adapter's module ``reports`` reads
it page by page. One page here is one page, or one report file, of the network. A cursor names the part of the report,
such as a range of days, and the network's own cursor within it::

    parts = [_build_request(account, query, first, last) for first, last in split_date_range(...)]
    response, cursor = yield from fetch_part(NETWORK, parts, cursor, _turn_page, _parse_next_cursor)
    rows = parse_entity_rows(query.level, METRICS, native, "/date")
"""

from __future__ import annotations

import datetime
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial, reduce
from typing import Any, Protocol, overload

from attrs import evolve, field, fields, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import fetch_response
from adsunify.adapter.insights import (
    COUNT_METRICS,
    METRIC_NAMES,
    QUIET_DAYS_NOTE,
    Coverage,
    DailyMetrics,
    DateRange,
    MetricValue,
    MetricValues,
    PendingReport,
    add_figures,
)
from adsunify.adapter.metrics import IdCell, Metric, ReportLevel
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import Network
from adsunify.adapter.reports import parse_dates, parse_metric_columns
from adsunify.errors import ProviderUnreadable, invalid_input
from adsunify.http.messages import Flow, Request, Response
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import Columns, get_text, get_value, map_distinct, parse_id
from adsunify.values.money import format_decimals

MAX_ENTITY_IDS = 50
"""The most entities that one report may name."""


@frozen
class ReportQuery:
    """A report of one level. Both days are included, in the account's time zone.

    ``entity_ids`` are at most 50 native ids of the level, in order; empty means all entities.
    """

    level: ReportLevel
    start: datetime.date
    end: datetime.date
    entity_ids: tuple[str, ...] = ()


@frozen(kw_only=True)
class EntityMetrics(DailyMetrics):
    """The figures of one entity on one account-local day. A name or a parent that the network leaves out is None."""

    entity_id: str
    entity_name: str | None = None
    parent_id: str | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        entity = {"entityId": self.entity_id, "entityName": self.entity_name, "parentId": self.parent_id}
        return {**entity, **DailyMetrics.to_json(self)}


_METRIC_ATTRIBUTES = tuple(attribute.name for attribute in fields(MetricValues))
_ATTRIBUTES = ("entity_id", "entity_name", "parent_id", "date", *_METRIC_ATTRIBUTES)
_MEMBERS = ("entityId", "entityName", "parentId", "date", *METRIC_NAMES)


@frozen(eq=False)
class EntityRows(Sequence[EntityMetrics]):
    """The rows of a page, stored as columns. Columns are built faster than one record per row and take less memory.

    They compare equal to any sequence of the same records.

    ``columns`` has the values of all rows, by the names of the attributes of :class:`EntityMetrics`, in the order of
    :meth:`EntityMetrics.to_json`.
    """

    columns: Mapping[str, Sequence[Any]] = field(factory=lambda: dict.fromkeys(_ATTRIBUTES, ()))

    @classmethod
    def from_rows(cls, rows: Iterable[EntityMetrics]) -> EntityRows:
        """Return the columns of some rows."""
        records = list(rows)
        return cls({name: [getattr(row, name) for row in records] for name in _ATTRIBUTES})

    def __len__(self) -> int:
        return len(self.columns["date"])

    @overload
    def __getitem__(self, index: int) -> EntityMetrics: ...

    @overload
    def __getitem__(self, index: slice) -> EntityRows: ...

    def __getitem__(self, index: int | slice) -> EntityMetrics | EntityRows:
        values: dict[str, Any] = {name: column[index] for name, column in self.columns.items()}
        return EntityRows(values) if isinstance(index, slice) else EntityMetrics(**values)

    def __iter__(self) -> Iterator[EntityMetrics]:
        for values in zip(*self.columns.values(), strict=True):
            yield EntityMetrics(**dict(zip(self.columns, values, strict=True)))

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Sequence) and list(self) == list(other)

    def replace_column(self, name: str, value: str | None) -> EntityRows:
        """Return the rows with the same value in all rows of a column."""
        return EntityRows({**self.columns, name: [value] * len(self)})

    def to_json(self) -> list[Json]:
        """Return the records as a response shows them."""
        columns = {**self.columns, "date": list(map(datetime.date.isoformat, self.columns["date"]))}
        return [dict(zip(_MEMBERS, values, strict=True)) for values in zip(*columns.values(), strict=True)]


@frozen
class EntityReportPage:
    """A page of a report.

    Attributes:
        rows: a row for each day and entity with activity, in the network's order. No pair of a day and an entity is on
            two pages.
        coverage: the days that the whole report covers.
        native_rows: the rows of this page as the network wrote them.
        cursor: leads to the next page; None at the end.
        pending: the network has not finished the report, so there are no rows.
        job: the job from which the page was read; None if the network returned the report at once.
    """

    rows: EntityRows
    coverage: Coverage
    native_rows: Sequence[Json] = field(default=(), repr=False)
    cursor: str | None = None
    pending: PendingReport | None = None
    job: str | None = None

    @property
    def finished_days(self) -> DateRange | None:
        """The days of the report, if this is its last page and all days are reported."""
        has_ended = self.cursor is None and self.pending is None and self.coverage.is_complete
        return DateRange(self.coverage.start, self.coverage.end) if has_ended else None

    def extend_to(self, end: datetime.date) -> EntityReportPage:
        """Return the page with the future days up to ``end`` added as missing."""
        return evolve(self, coverage=self.coverage.extend_to(end))

    @classmethod
    def from_pending_report(cls, query: ReportQuery, timezone: str | None, pending: PendingReport) -> EntityReportPage:
        """Return a page without rows, because the network has not finished the report."""
        missing = (DateRange(query.start, query.end),)
        coverage = Coverage(query.start, query.end, timezone, is_complete=False, missing_ranges=missing)
        return cls(EntityRows(), coverage, pending=pending)


class EntityReports(Protocol):
    """The module ``reports`` of an adapter."""

    def fetch_report_page(
        self, account: Account, query: ReportQuery, cursor: str | None, job: str | None, now: datetime.datetime
    ) -> Flow[EntityReportPage]:
        """Fetch one page of a report. Amounts are Decimals in major units.

        ``cursor``: the cursor of the previous page; None for the first page. If the network makes reports
        asynchronously, the page is ``pending`` with a job, and the caller calls again with this job.
        """
        ...


def parse_entity_rows(
    level: ReportLevel,
    metrics: Sequence[Metric],
    native: Sequence[Mapping[str, Json]],
    date_pointer: str,
    read_date: Callable[[Json], datetime.date] | None = None,
    money_unit: MoneyUnit | None = None,
) -> EntityRows:
    """Parse native rows: one row for each day and entity, in order of entity and day as the network first names them.

    Several native rows of one day and entity, such as those of two placements, are added up.

    Args:
        level: the level of the report, with the pointers to the entity.
        metrics: the metrics of the level.
        native: the native rows.
        date_pointer: the pointer to the day in a row.
        read_date: converts the value at ``date_pointer`` to a date; None means text of the form YYYY-MM-DD.
        money_unit: the unit of the account's amounts, for metrics of the unit ``minor``.

    Raises:
        ProviderUnreadable: a row has no entity or no day, or a figure is not a number.
    """
    columns = Columns(list(native))
    figures = parse_metric_columns(metrics, columns, money_unit)
    days = parse_dates(columns.get_column(date_pointer), read_date)
    ids = _read_row_ids(level, columns)
    first_rows = dict(zip(reversed(ids), reversed(native), strict=True))
    ranks = {entity_id: rank for rank, entity_id in enumerate(dict.fromkeys(ids))}
    keys = list(zip(map(ranks.__getitem__, ids), days, strict=True))
    order = sorted(range(len(keys)), key=keys.__getitem__)
    firsts = [position for position, key in enumerate(order) if not position or keys[order[position - 1]] != keys[key]]
    names = {entity_id: _read_names(level, first_rows[entity_id]) for entity_id in ranks}
    row_ids = [ids[order[first]] for first in firsts]
    row_names = [names[entity_id] for entity_id in row_ids]
    entity: dict[str, Sequence[Any]] = {
        "entity_id": row_ids,
        "entity_name": [name for name, _ in row_names],
        "parent_id": [parent_id for _, parent_id in row_names],
        "date": [days[order[first]] for first in firsts],
    }
    values = (_sum_figures(name, figures.get(name), order, firsts) for name in METRIC_NAMES)
    return EntityRows({**entity, **dict(zip(_METRIC_ATTRIBUTES, values, strict=True))})


def _read_names(level: ReportLevel, row: Mapping[str, Json]) -> tuple[str | None, str | None]:
    """Return the name of the entity of a native row, and the id of its parent."""
    return None if level.name is None else get_text(row, level.name), _read_id(row, level.parent_id)


def _read_id(row: Mapping[str, Json], cell: IdCell | None) -> str | None:
    if cell is None:
        return None
    return cell(row) if callable(cell) else parse_id(get_value(row, cell))


def _sum_figures(
    name: str, figures: Sequence[MetricValue] | None, order: Sequence[int], firsts: Sequence[int]
) -> Sequence[MetricValue | str]:
    """Return the sums of a metric, one for each entity and day, in the form of a row: integers or decimal strings.

    ``order`` has the positions of the native rows, sorted by entity and day. ``firsts`` has the positions in ``order``
    of the first native row of each entity and day.
    """
    if figures is None:
        return [None] * len(firsts)
    sums = [figures[position] for position in order]
    if len(firsts) < len(order):
        groups = zip(firsts, [*firsts[1:], len(order)], strict=True)
        sums = [reduce(partial(add_figures, name), sums[first:end]) for first, end in groups]
    return sums if name in COUNT_METRICS else format_decimals(sums)


def read_row_id(level: ReportLevel, row: Mapping[str, Json]) -> str:
    """Return the id of the entity of a native row. Raises ProviderUnreadable if it has none."""
    return _read_row_ids(level, Columns([row]))[0]


def _read_row_ids(level: ReportLevel, columns: Columns) -> list[str]:
    """Return the id of the entity of each row. Raises ProviderUnreadable if a row has none."""
    at = level.id
    ids = list(map(at, columns.rows)) if callable(at) else map_distinct(parse_id, columns.get_column(at))
    known = [entity_id for entity_id in ids if entity_id is not None]
    if len(known) < len(ids):
        raise ProviderUnreadable("A row of the report has no entity.")
    return known


def cover_report(
    network: Network,
    query: ReportQuery,
    timezone: str | None,
    notes: Sequence[str] = (),
    missing: Sequence[DateRange] = (),
) -> Coverage:
    """Return the coverage of a report, with a note if the network leaves out days without delivery.

    ``missing``: days for which the network has not reported all rows.
    """
    quiet = [QUIET_DAYS_NOTE] if network.missing_day == "zero" else []
    level = [query.level.note] if query.level.note else []
    all_notes = (*level, *notes, *quiet)
    return Coverage(query.start, query.end, timezone, not missing, missing_ranges=tuple(missing), notes=all_notes)


# -- pages --------------------------------------------------------------------------------------------------------


def fetch_part(
    network: Network,
    parts: Sequence[Request],
    cursor: str | None,
    turn_page: Callable[[Request, str], Request],
    parse_next_cursor: Callable[[Request, Response], str | None],
) -> Flow[tuple[Response, str | None]]:
    """Fetch the page of a report that a cursor names. Returns the response and the cursor of the next page.

    Args:
        network: the network's tables.
        parts: the request of the first page of each part of the report, in order. The same query gives the same parts.
        cursor: the cursor of the previous page; None for the first page.
        turn_page: converts the request of a part's first page to the request of the page that a native cursor names.
        parse_next_cursor: returns the native cursor of the next page of the part; None at the part's end.
    """
    number, native_cursor = decode_part_cursor(cursor, len(parts))
    request = parts[number] if native_cursor is None else turn_page(parts[number], native_cursor)
    response = yield from fetch_response(network, request)
    following = parse_next_cursor(request, response)
    if following is not None and following == native_cursor:
        raise ProviderUnreadable(f"{network.title}: the report does not end, because its cursor repeats.")
    return response, encode_part_cursor(number, following, len(parts))


def encode_part_cursor(number: int, native_cursor: str | None, count: int) -> str | None:
    """Return the cursor after a page of part ``number`` (from 0) of ``count`` parts; None after the last page."""
    if native_cursor is not None:
        return f"{number}:{native_cursor}"
    return f"{number + 1}:" if number + 1 < count else None


def decode_part_cursor(cursor: str | None, count: int) -> tuple[int, str | None]:
    """Return the part and the native cursor of a cursor. Raises InvalidInput if the report has no such part."""
    number, _, native_cursor = ("0:" if cursor is None else cursor).partition(":")
    if not number.isdecimal() or int(number) >= count:
        raise invalid_input("cursor", "malformed", "must be the nextCursor of the same report, or left out.")
    return int(number), native_cursor or None
