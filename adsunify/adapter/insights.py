"""Normalized daily insights of one account.

Counts (impressions, clicks, videoViews, reach) are integers. Spend, conversionValue and conversions are exact decimal
strings. Amounts are in major units of the account's currency. Conversions are decimals because some networks attribute
fractions of a conversion. None means "not reported" and never 0; a sum that includes None is None.

An adapter passes the figures of its report as pairs of a day and its values, in any order and with any number of pairs
for a day. The values have the names :data:`METRIC_NAMES` and are int or Decimal in major units; None or absent means
"not reported"::

    Insights.of([(day, {"impressions": 120, "spend": Decimal("4.50")}), ...], coverage, "zero", native_rows)
"""

from __future__ import annotations

import datetime
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Any, Literal, Self

from attrs import evolve, field, frozen

from adsunify.errors import ProviderUnreadable
from adsunify.values.exact_json import MAX_NUMBER_CHARACTERS, Json
from adsunify.values.money import format_decimal

MetricValue = int | Decimal | None
DatedValues = Iterable[tuple[datetime.date, Mapping[str, MetricValue]]]

COUNT_METRICS = ("impressions", "clicks", "videoViews", "reach")
METRIC_NAMES = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")
_METRIC_ATTRIBUTES = ("impressions", "clicks", "spend", "conversions", "conversion_value", "video_views", "reach")
MissingDayMeaning = Literal["zero", "zero_once_final", "gap"]
"""The meaning of a day without a row.

``zero``: nothing was delivered on that day. ``gap``: its figures are unknown. ``zero_once_final``: unknown while its
figures are provisional, and ``zero`` afterwards.
"""
NON_ADDITIVE_METRICS = frozenset({"reach"})
"""Metrics that cannot be added up: two days, or two campaigns, may reach the same people."""

QUIET_DAYS_NOTE = "A day without a row had no delivery: the network leaves it out."
UNKNOWN_DAYS_NOTE = "The figures of a day without a row are unknown: the network does not say that it had no delivery."
NO_CAMPAIGNS_NOTE = "The account has no campaign, so nothing was delivered."
_ONE_DAY = datetime.timedelta(days=1)

# Numbers in reports have a bounded length, so sums fit into this precision. The context raises if they do not.
_EXACT_CONTEXT = Context(prec=4 * MAX_NUMBER_CHARACTERS, traps=[Inexact, InvalidOperation, Overflow])


@frozen(kw_only=True)
class MetricValues:
    """The figures of a day, or the totals of several days."""

    impressions: int | None = None
    clicks: int | None = None
    spend: str | None = None
    conversions: str | None = None
    conversion_value: str | None = None
    video_views: int | None = None
    reach: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {
            "impressions": self.impressions,
            "clicks": self.clicks,
            "spend": self.spend,
            "conversions": self.conversions,
            "conversionValue": self.conversion_value,
            "videoViews": self.video_views,
            "reach": self.reach,
        }


@frozen(kw_only=True)
class DailyMetrics(MetricValues):
    """One account-local day."""

    date: datetime.date

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {"date": self.date.isoformat(), **MetricValues.to_json(self)}


@frozen
class DateRange:
    """Days from ``start`` to ``end``, both included."""

    start: datetime.date
    end: datetime.date

    @classmethod
    def join_days(cls, days: Iterable[datetime.date]) -> tuple[Self, ...]:
        """Return the ranges that consist of exactly these days, in order."""
        ranges: list[Self] = []
        for day in sorted(days):
            if ranges and day - ranges[-1].end == _ONE_DAY:
                ranges[-1] = cls(ranges[-1].start, day)
            else:
                ranges.append(cls(day, day))
        return tuple(ranges)

    def iterate_days(self) -> Iterator[datetime.date]:
        """Yield every day of the range."""
        return (self.start + number * _ONE_DAY for number in range((self.end - self.start).days + 1))

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {"startDate": self.start.isoformat(), "endDate": self.end.isoformat()}


def find_report_range(
    days: Sequence[tuple[datetime.date, object]], start: datetime.date, end: datetime.date
) -> tuple[datetime.date, datetime.date]:
    """Return the requested range of a report, or the range of its rows if the caller resumed it without dates."""
    if all(start <= day <= end for day, _ in days):
        return start, end
    return min(day for day, _ in days), max(day for day, _ in days)


@frozen
class Coverage:
    """The days that the rows cover, in local days of the account; both ends are included.

    Attributes:
        is_complete: the network has reported all requested days.
        provisional_from: the network may still correct figures from this day on.
        missing_ranges: days whose figures are unknown. Another day without a row had no delivery.
    """

    start: datetime.date
    end: datetime.date
    timezone: str | None
    is_complete: bool = True
    provisional_from: datetime.date | None = None
    missing_ranges: Sequence[DateRange] = ()
    notes: Sequence[str] = ()

    def mark_provisional(self, day: datetime.date) -> Self:
        """Return the coverage whose figures the network may still correct from ``day`` on."""
        return evolve(self, provisional_from=max(self.start, day) if day <= self.end else None)

    def limit_final_days(self, today: datetime.date) -> Self:
        """Return the coverage in which today and later days are provisional, because they have not ended."""
        if self.end < today or (self.provisional_from is not None and self.provisional_from <= today):
            return self
        return self.mark_provisional(today)

    def extend_to(self, end: datetime.date) -> Self:
        """Return the coverage with the future days up to ``end`` added as missing."""
        if end <= self.end:
            return self
        missing = [*self.missing_ranges, DateRange(self.end + _ONE_DAY, end)]
        return evolve(self, end=end, is_complete=False, missing_ranges=missing)

    def mark_missing_days(self, reported: Collection[datetime.date], missing_day: MissingDayMeaning) -> Self:
        """Return the coverage in which days without a row have the meaning ``missing_day``, with a note about them."""
        range_days = set(DateRange(self.start, self.end).iterate_days())
        lost = {day for days in self.missing_ranges for day in days.iterate_days()}
        silent = range_days - lost - set(reported)
        first = {"zero": None, "zero_once_final": self.provisional_from, "gap": self.start}[missing_day]
        gaps = {day for day in silent if first is not None and day >= first}
        notes = [*self.notes, *([QUIET_DAYS_NOTE] if silent - gaps else []), *([UNKNOWN_DAYS_NOTE] if gaps else [])]
        missing = DateRange.join_days(lost | gaps) if gaps else self.missing_ranges
        return evolve(self, is_complete=self.is_complete and not gaps, missing_ranges=missing, notes=notes)

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {
            "startDate": self.start.isoformat(),
            "endDate": self.end.isoformat(),
            "timezone": self.timezone,
            "complete": self.is_complete,
            "provisionalFrom": None if self.provisional_from is None else self.provisional_from.isoformat(),
            "missing": [days.to_json() for days in self.missing_ranges],
            "notes": list(self.notes),
        }


@frozen
class PendingReport:
    """A report that the network has not finished. ``job`` is a string that resumes it."""

    job: str
    status: str
    retry_after_ms: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {"job": self.job, "status": self.status, "retryAfterMs": self.retry_after_ms}


@frozen
class Insights:
    """A row for each day with activity, the totals, the native rows, and the coverage."""

    rows: Sequence[DailyMetrics]
    totals: MetricValues
    coverage: Coverage
    native_rows: Sequence[Json] = field(default=(), repr=False)
    pending: PendingReport | None = None

    @classmethod
    def from_days(
        cls, days: DatedValues, coverage: Coverage, missing_day: MissingDayMeaning, native_rows: Sequence[Json] = ()
    ) -> Self:
        """Add up the figures of each day and of all days. Totals of an incomplete range are None.

        ``missing_day`` is the meaning of a day without a row. If it is a gap, the coverage lists the day as missing.

        Raises:
            ProviderUnreadable: a figure is not a number.
        """
        rows = sum_by_day(days)
        coverage = coverage.mark_missing_days([row.date for row in rows], missing_day)
        return cls(rows, sum_metrics(rows) if coverage.is_complete else MetricValues(), coverage, native_rows)

    @classmethod
    def without_campaigns(cls, coverage: Coverage) -> Self:
        """Return the insights of an account that has never had a campaign, so that no day had a delivery.

        Networks whose report requests name campaigns need it, because there is nothing to request.
        """
        return cls.from_days((), evolve(coverage, notes=(*coverage.notes, NO_CAMPAIGNS_NOTE)), "zero")

    @classmethod
    def from_pending_report(
        cls, start: datetime.date, end: datetime.date, timezone: str | None, pending: PendingReport
    ) -> Self:
        """Return insights without rows, because the network has not finished the report of these days."""
        coverage = Coverage(start, end, timezone, is_complete=False, missing_ranges=(DateRange(start, end),))
        return cls((), MetricValues(), coverage, pending=pending)

    @property
    def finished_days(self) -> DateRange | None:
        """The days of the report, if the network has reported all of them."""
        has_ended = self.pending is None and self.coverage.is_complete
        return DateRange(self.coverage.start, self.coverage.end) if has_ended else None

    def extend_to(self, end: datetime.date) -> Self:
        """Return the insights with the future days up to ``end`` added as missing. Totals are None then."""
        if end <= self.coverage.end:
            return self
        return evolve(self, totals=MetricValues(), coverage=self.coverage.extend_to(end))

    def to_json(self) -> dict[str, Json]:
        """Return the record as a response shows it."""
        return {
            "rows": [row.to_json() for row in self.rows],
            "totals": self.totals.to_json(),
            "nativeRows": list(self.native_rows),
            "coverage": self.coverage.to_json(),
            "pending": None if self.pending is None else self.pending.to_json(),
        }


def sum_by_day(days: DatedValues) -> tuple[DailyMetrics, ...]:
    """Add up the figures of each day, in order of days. A figure is None if any part of the day lacks it.

    Raises:
        ProviderUnreadable: a figure is not a number.
    """
    sums: dict[datetime.date, list[MetricValue]] = {}
    for day, figures in days:
        values = list(map(figures.get, METRIC_NAMES))
        for position, value in enumerate(values):
            if value is not None and type(value) is not int:  # a Decimal, or a value that is not a number
                values[position] = _require_number(METRIC_NAMES[position], value)
        sums[day] = _add_values(sums[day], values) if day in sums else values
    return tuple(DailyMetrics(date=day, **_format_values(values)) for day, values in sorted(sums.items()))


def sum_metrics(rows: Iterable[MetricValues]) -> MetricValues:
    """Return the sums over the rows. A sum is None without rows, or if any row lacks the figure."""
    total: list[MetricValue] = []
    for row in rows:
        values: list[MetricValue] = [
            Decimal(value) if isinstance(value, str) else value for value in map(row.to_json().get, METRIC_NAMES)
        ]
        total = _add_values(total, values) if total else values
    return MetricValues(**_format_values(total)) if total else MetricValues()


def _add_values(left: list[MetricValue], right: list[MetricValue]) -> list[MetricValue]:
    return [add_figures(name, a, b) for name, a, b in zip(METRIC_NAMES, left, right, strict=True)]


def add_figures(name: str, left: MetricValue, right: MetricValue) -> MetricValue:
    """Add two figures of a metric: None if one is missing, or if the metric cannot be added up."""
    if left is None or right is None or name in NON_ADDITIVE_METRICS:
        return None
    if isinstance(left, int) and isinstance(right, int):
        return left + right
    try:
        return _EXACT_CONTEXT.add(left, right)
    except ArithmeticError:
        raise _not_a_number_error(name) from None


def _require_number(name: str, value: object) -> int | Decimal:
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= MAX_NUMBER_CHARACTERS:
        if name not in COUNT_METRICS:
            return value
        if value == value.to_integral_value():
            return int(value)
    raise _not_a_number_error(name)


def _format_values(values: list[MetricValue]) -> dict[str, Any]:
    return {
        member: value if value is None or name in COUNT_METRICS else format_decimal(value)
        for member, name, value in zip(_METRIC_ATTRIBUTES, METRIC_NAMES, values, strict=True)
    }


def _not_a_number_error(name: str) -> ProviderUnreadable:
    return ProviderUnreadable(f"The report's {name} is not a valid number.")
