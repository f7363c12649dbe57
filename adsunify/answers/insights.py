"""Normalized reporting."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from .operations import Failure
from .shape import Amount, Date, Milliseconds, Shape, Text, Uuid
from .tables import DAILY_COLUMNS, ENTITY_COLUMNS, ColumnKind, FiguresTable


class Figures(Shape):
    """Normalized figures. A total is null if any part of it is missing."""

    impressions: int | None
    clicks: int | None
    spend: Amount | None
    conversions: Amount | None
    conversion_value: Amount | None
    video_views: int | None
    reach: int | None


class Day(Figures):
    """The normalized figures of one day. Amounts are exact decimal strings in major units."""

    date: Date


class Range(Shape):
    """A range of days; both ends are included."""

    start_date: Date
    end_date: Date


class Coverage(Range):
    """The days that the rows cover."""

    timezone: Text
    complete: bool
    provisional_from: Date | None
    missing: list[Range]
    notes: list[str]


class Pending(Shape):
    """A report that the network has not finished. Ask again with the same dates, or resume ``report:<job>``."""

    job: str
    status: str
    retry_after_ms: Milliseconds | None


class Insights(FiguresTable, Shape):
    """Normalized daily metrics."""

    table_columns: ClassVar[Mapping[str, ColumnKind]] = DAILY_COLUMNS

    account_id: Uuid
    currency: Text
    timezone: Text
    rows: list[Day]
    totals: Figures
    native_rows: list[Any]
    coverage: Coverage
    pending: Pending | None


class EntityDay(Day):
    """The normalized figures of one entity on one day. Where the network leaves out a name or a parent, it is null."""

    entity_id: str
    entity_name: Text
    parent_id: Text


class EntityInsights(FiguresTable, Shape):
    """Normalized daily metrics of the entities of a level: a page of rows. A page has no totals."""

    table_columns: ClassVar[Mapping[str, ColumnKind]] = ENTITY_COLUMNS

    account_id: Uuid
    currency: Text
    timezone: Text
    level: str
    rows: list[EntityDay]
    totals: Figures | None
    native_rows: list[Any]
    coverage: Coverage
    pending: Pending | None


class AccountInsights(Shape):
    """The figures of one account among many.

    ``totals`` adds up the days with figures. ``rows`` of a level have ``entityId``, ``entityName`` and ``parentId``.
    """

    account_id: Uuid
    network: str
    name: Text
    currency: Text
    timezone: Text
    state: Literal["complete", "pending", "failed"]
    rows: list[EntityDay | Day]
    totals: Figures | None
    coverage: Coverage | None
    pending: Pending | None
    next_cursor: str | None
    error: Failure | None


class CurrencyTotals(Figures):
    """The sums over all accounts of one currency that have figures.

    ``complete``: every account of this currency has reported all days.
    """

    currency: str
    accounts: int
    complete: bool


class InsightsOverview(Range):
    """Normalized daily metrics of many accounts."""

    level: str
    accounts: list[AccountInsights]
    totals: list[CurrencyTotals]
