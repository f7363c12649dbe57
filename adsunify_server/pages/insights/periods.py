"""The days of a page of figures, and the period before them."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date, datetime, timedelta

from attrs import frozen

from adsunify.values.dates import find_last_ended_day

DEFAULT_DAYS = 30
"""Days shown by default. They end yesterday, because the figures of today are not complete."""


@frozen
class Period:
    """The days that a person has requested, as text. The endpoint refuses invalid text."""

    start: str
    end: str

    @classmethod
    def read(cls, query: Mapping[str, str], now: datetime, timezones: Iterable[str | None]) -> Period:
        """Read the days of a page's address. By default they end on the last day that has ended in each time zone."""
        yesterday = find_last_ended_day(now, timezones)
        default = yesterday - timedelta(days=DEFAULT_DAYS - 1)
        return cls(query.get("startDate") or default.isoformat(), query.get("endDate") or yesterday.isoformat())

    @property
    def query(self) -> dict[str, str]:
        """The period as parameters of an endpoint."""
        return {"startDate": self.start, "endDate": self.end}

    def find_before(self) -> Period | None:
        """Return the period of the same length directly before this one; None if the days are not valid."""
        try:
            first, last = date.fromisoformat(self.start), date.fromisoformat(self.end)
            length = (last - first).days + 1
            return Period((first - timedelta(days=length)).isoformat(), (first - timedelta(days=1)).isoformat())
        except (ValueError, OverflowError):
            return None
