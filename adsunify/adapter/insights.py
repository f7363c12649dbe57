"""Normalized daily insights of one account.

Counts (impressions, clicks, videoViews, reach) are integers. Spend, conversionValue and conversions are exact decimal
strings: the amounts in major units of the account's currency, and conversions because some networks attribute
fractions of one. None means "not reported": it is never 0, and a sum with a None in it is None.

An adapter hands over what its report says as pairs of a day and its figures (by the names :data:`METRICS`, int or
Decimal in major units, None or absent where the report is silent), in any order, any number per day::

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
from adsunify.values.money import written

Figure = int | Decimal | None
Days = Iterable[tuple[datetime.date, Mapping[str, Figure]]]

COUNTS = ("impressions", "clicks", "videoViews", "reach")
METRICS = ("impressions", "clicks", "spend", "conversions", "conversionValue", "videoViews", "reach")
_MEMBERS = ("impressions", "clicks", "spend", "conversions", "conversion_value", "video_views", "reach")
MissingDay = Literal["zero", "zero_once_final", "gap"]
"""What a day without a row is. ``zero``: nothing was delivered on it. ``zero_once_final``: the same, once its figures
are no longer provisional; before, nothing is known of it. ``gap``: nothing is known of it."""
NOT_ADDITIVE = frozenset({"reach"})
"""People reached on two days, or by two campaigns, are partly the same: there is no sum."""

QUIET_DAYS = "A day without a row had no delivery: the network leaves it out."
UNKNOWN_DAYS = "Nothing is known of a day without a row: the network does not say that it means no delivery."
NO_CAMPAIGNS = "The account has no campaign, so nothing was delivered."
_DAY = datetime.timedelta(days=1)

# Numbers of reports have a bounded length, so sums never need as many digits: exact, or an error.
_EXACT = Context(prec=4 * MAX_NUMBER_CHARACTERS, traps=[Inexact, InvalidOperation, Overflow])


@frozen(kw_only=True)
class Figures:
    """The figures of a day, or their totals."""

    impressions: int | None = None
    clicks: int | None = None
    spend: str | None = None
    conversions: str | None = None
    conversion_value: str | None = None
    video_views: int | None = None
    reach: int | None = None

    def to_json(self) -> dict[str, Json]:
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
class Row(Figures):
    """One account-local day."""

    date: datetime.date

    def to_json(self) -> dict[str, Json]:
        return {"date": self.date.isoformat(), **Figures.to_json(self)}


@frozen
class DateRange:
    """Days from ``start`` to ``end``, both included."""

    start: datetime.date
    end: datetime.date

    @classmethod
    def joined(cls, days: Iterable[datetime.date]) -> tuple[Self, ...]:
        """The ranges that hold exactly these days, in order."""
        found: list[Self] = []
        for day in sorted(days):
            if found and day - found[-1].end == _DAY:
                found[-1] = cls(found[-1].start, day)
            else:
                found.append(cls(day, day))
        return tuple(found)

    def days(self) -> Iterator[datetime.date]:
        """Every day of the range."""
        return (self.start + number * _DAY for number in range((self.end - self.start).days + 1))

    def to_json(self) -> dict[str, Json]:
        return {"startDate": self.start.isoformat(), "endDate": self.end.isoformat()}


@frozen
class Coverage:
    """What the rows cover: account-local days, both included.

    ``complete``: everything asked for has been reported. ``provisional_from``: the network still restates figures from
    this day on. ``missing``: days of which nothing is known. A day without a row that is not missing had no delivery.
    """

    start: datetime.date
    end: datetime.date
    timezone: str | None
    complete: bool = True
    provisional_from: datetime.date | None = None
    missing: Sequence[DateRange] = ()
    notes: Sequence[str] = ()

    def without_rows(self, reported: Collection[datetime.date], missing_day: MissingDay) -> Self:
        """The same with the days that have no row counted as ``missing_day`` says, and a note of what they are."""
        known = set(DateRange(self.start, self.end).days())
        lost = {day for days in self.missing for day in days.days()}
        silent = known - lost - set(reported)
        first = {"zero": None, "zero_once_final": self.provisional_from, "gap": self.start}[missing_day]
        gaps = {day for day in silent if first is not None and day >= first}
        notes = [*self.notes, *([QUIET_DAYS] if silent - gaps else []), *([UNKNOWN_DAYS] if gaps else [])]
        missing = DateRange.joined(lost | gaps) if gaps else self.missing
        return evolve(self, complete=self.complete and not gaps, missing=missing, notes=notes)

    def to_json(self) -> dict[str, Json]:
        return {
            "startDate": self.start.isoformat(),
            "endDate": self.end.isoformat(),
            "timezone": self.timezone,
            "complete": self.complete,
            "provisionalFrom": None if self.provisional_from is None else self.provisional_from.isoformat(),
            "missing": [days.to_json() for days in self.missing],
            "notes": list(self.notes),
        }


@frozen
class Pending:
    """A report that the network is still making; ``job`` is one string that resumes it."""

    job: str
    status: str
    retry_after_ms: int | None = None

    def to_json(self) -> dict[str, Json]:
        return {"job": self.job, "status": self.status, "retryAfterMs": self.retry_after_ms}


@frozen
class Insights:
    """The answer: a row per day with activity, their totals, the native rows as they came, and what they cover."""

    rows: Sequence[Row]
    totals: Figures
    coverage: Coverage
    native_rows: Sequence[Json] = field(default=(), repr=False)
    pending: Pending | None = None

    @classmethod
    def of(cls, days: Days, coverage: Coverage, missing_day: MissingDay, native_rows: Sequence[Json] = ()) -> Self:
        """Sum the figures per day and over the days; totals of an incomplete range are None.

        ``missing_day`` says what a day without a row is; where it is a gap, the coverage names it as missing.
        Raises ProviderUnreadable for a figure that is no number.
        """
        rows = daily(days)
        coverage = coverage.without_rows([row.date for row in rows], missing_day)
        return cls(rows, totals(rows) if coverage.complete else Figures(), coverage, native_rows)

    @classmethod
    def without_campaigns(cls, coverage: Coverage) -> Self:
        """The answer for an account that has no campaign, deleted ones included: no day had a delivery.

        It is for networks whose report names campaigns, so that there is nothing to ask for.
        """
        return cls.of((), evolve(coverage, notes=(*coverage.notes, NO_CAMPAIGNS)), "zero")

    @classmethod
    def waiting(cls, start: datetime.date, end: datetime.date, timezone: str | None, pending: Pending) -> Self:
        """Nothing yet: the network is still making the report of these days."""
        coverage = Coverage(start, end, timezone, complete=False, missing=(DateRange(start, end),))
        return cls((), Figures(), coverage, pending=pending)

    def until(self, end: datetime.date) -> Self:
        """The same with the days up to ``end``, of which nothing can be known yet, missing: totals are None."""
        if end <= self.coverage.end:
            return self
        following = DateRange(self.coverage.end + _DAY, end)
        missing = [*self.coverage.missing, following]
        coverage = evolve(self.coverage, end=end, complete=False, missing=missing)
        return evolve(self, totals=Figures(), coverage=coverage)

    def to_json(self) -> dict[str, Json]:
        return {
            "rows": [row.to_json() for row in self.rows],
            "totals": self.totals.to_json(),
            "nativeRows": list(self.native_rows),
            "coverage": self.coverage.to_json(),
            "pending": None if self.pending is None else self.pending.to_json(),
        }


def daily(days: Days) -> tuple[Row, ...]:
    """One row per day, in order; a figure is None where any part of the day is silent about it.

    Raises ProviderUnreadable for a figure that is no number.
    """
    sums: dict[datetime.date, list[Figure]] = {}
    for day, figures in days:
        values = list(map(figures.get, METRICS))
        for position, value in enumerate(values):
            if value is not None and type(value) is not int:  # a decimal, or a mistake
                values[position] = _checked(METRICS[position], value)
        sums[day] = _added(sums[day], values) if day in sums else values
    return tuple(Row(date=day, **_members(values)) for day, values in sorted(sums.items()))


def totals(rows: Iterable[Row]) -> Figures:
    """The sums over the rows; None without rows, or where any row is silent."""
    total: list[Figure] = []
    for row in rows:
        values: list[Figure] = [
            Decimal(value) if isinstance(value, str) else value for value in map(row.to_json().get, METRICS)
        ]
        total = _added(total, values) if total else values
    return Figures(**_members(total)) if total else Figures()


def _added(one: list[Figure], other: list[Figure]) -> list[Figure]:
    return [
        None if a is None or b is None or name in NOT_ADDITIVE else _plus(name, a, b)
        for name, a, b in zip(METRICS, one, other, strict=True)
    ]


def _plus(name: str, one: int | Decimal, other: int | Decimal) -> int | Decimal:
    if isinstance(one, int) and isinstance(other, int):
        return one + other
    try:
        return _EXACT.add(one, other)
    except ArithmeticError:
        raise _no_number(name) from None


def _checked(name: str, value: object) -> int | Decimal:
    if isinstance(value, Decimal) and value.is_finite() and abs(value.adjusted()) <= MAX_NUMBER_CHARACTERS:
        if name not in COUNTS:
            return value
        if value == value.to_integral_value():
            return int(value)
    raise _no_number(name)


def _members(values: list[Figure]) -> dict[str, Any]:
    return {
        member: value if value is None or name in COUNTS else written(value)
        for member, name, value in zip(_MEMBERS, METRICS, values, strict=True)
    }


def _no_number(name: str) -> ProviderUnreadable:
    return ProviderUnreadable(f"The report's {name} is not a number that it can be.")
