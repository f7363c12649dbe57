"""Sums of a figure over days, for each entity. A figure that is missing makes a sum unknown and never counts as 0."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, timedelta
from decimal import Context, Decimal, Inexact, InvalidOperation, Overflow
from typing import Protocol

from attrs import define, field, frozen

EXACT = Context(prec=120, traps=[Inexact, InvalidOperation, Overflow])


class DayFigures(Protocol):
    """The figures of an entity on a day. None: the network does not report the figure."""

    @property
    def date(self) -> str:
        """The day, YYYY-MM-DD."""

    @property
    def entity_id(self) -> str:
        """The native id."""

    @property
    def spend(self) -> str | None:
        """A decimal text in major units."""

    @property
    def impressions(self) -> int | None:
        """The impressions."""


@frozen(order=True)
class DayWindow:
    """A range of days; both ends are included."""

    first: date
    last: date

    @property
    def days(self) -> frozenset[date]:
        """All days of the window."""
        return frozenset(self.first + timedelta(days=number) for number in range((self.last - self.first).days + 1))


@frozen
class FigureState:
    """The state of the figures of a level of an account.

    Attributes:
        read_at: the time of the read, with a time zone.
        today: the day of that time in the account's time zone.
        incomplete_days: days that were not read, or that the network has not reported completely.
    """

    read_at: datetime
    today: date
    incomplete_days: frozenset[date] = frozenset()

    def is_complete(self, window: DayWindow) -> bool:
        """Whether an entity without a row on a day of the window has no figures on that day."""
        return self.incomplete_days.isdisjoint(window.days)


def read_spend(row: DayFigures) -> Decimal | None:
    """Return the spend of a row in major units; None if the network does not report it."""
    return None if row.spend is None else Decimal(row.spend)


def read_impressions(row: DayFigures) -> Decimal | None:
    """Return the impressions of a row; None if the network does not report them."""
    return None if row.impressions is None else Decimal(row.impressions)


@define
class WindowSums:
    """Adds up a figure over the windows of each entity.

    Attributes:
        list_windows: returns the windows of an entity by its id.
        read_value: returns the figure of a row.
        totals: the sum of the present figures, by entity and window.
        unknown: the entities and windows with a missing figure.
    """

    list_windows: Callable[[str], Sequence[DayWindow]]
    read_value: Callable[[DayFigures], Decimal | None]
    totals: dict[tuple[str, DayWindow], Decimal] = field(factory=dict)
    unknown: set[tuple[str, DayWindow]] = field(factory=set)

    def add_rows(self, rows: Iterable[DayFigures]) -> None:
        """Add rows, in any order."""
        for row in rows:
            day, value = date.fromisoformat(row.date), self.read_value(row)
            for window in self.list_windows(row.entity_id):
                if window.first <= day <= window.last:
                    key = row.entity_id, window
                    if value is None:
                        self.unknown.add(key)
                    self.totals[key] = EXACT.add(self.totals.get(key, Decimal()), value or Decimal())

    def get_total(self, entity_id: str, window: DayWindow) -> Decimal:
        """Return the sum of the present figures; 0 without a row."""
        return self.totals.get((entity_id, window), Decimal())
