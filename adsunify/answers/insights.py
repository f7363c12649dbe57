"""Normalized reporting."""

from __future__ import annotations

from typing import Any

from .shape import Amount, Date, Milliseconds, Shape, Text, Uuid


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


class Insights(Shape):
    """Normalized daily metrics."""

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


class EntityInsights(Shape):
    """Normalized daily metrics of the entities of a level: a page of rows. A page has no totals."""

    account_id: Uuid
    currency: Text
    timezone: Text
    level: str
    rows: list[EntityDay]
    totals: Figures | None
    native_rows: list[Any]
    coverage: Coverage
    pending: Pending | None
