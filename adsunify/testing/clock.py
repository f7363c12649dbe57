"""The clock that the simulated networks and the kit's stores share."""

from __future__ import annotations

import threading
import time
from datetime import UTC, datetime, timedelta

from adsunify.errors import invalid_input
from adsunify.store import Clock


class SimulatedClock:
    """A clock that runs like the machine's and can be moved ahead.

    Only the simulated networks and the stores of :meth:`SimulatedNetworks.client` read it. No other store can use it.
    """

    def __init__(self, start: datetime | None = None) -> None:
        """Set the clock.

        Args:
            start: an aware instant at which the clock begins; the machine's time if it is None.

        Raises:
            InvalidInput: ``start`` is not a datetime with a time zone.
        """
        if start is not None and not (isinstance(start, datetime) and start.tzinfo is not None):
            example = "datetime(2026, 11, 20, 12, tzinfo=UTC)"
            raise invalid_input("start", "malformed", f"must be a datetime with a time zone, such as {example}.")
        self._lock = threading.Lock()
        self._start = timedelta() if start is None else start - datetime.now(UTC)
        self._ahead = self._start

    def now(self) -> datetime:
        """Return the time, an aware instant in UTC."""
        return datetime.now(UTC) + self._ahead

    def milliseconds(self) -> int:
        """Return the time in milliseconds since 1970."""
        return time.time_ns() // 1_000_000 + self._ahead // timedelta(milliseconds=1)

    def advance(self, *, days: float = 0, hours: float = 0, minutes: float = 0, seconds: float = 0) -> None:
        """Move the clock ahead, for the simulated networks and the stores together.

        Raises:
            InvalidInput: the sum of the arguments is negative, or one is not a number.
        """
        try:
            step = timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds)
        except (TypeError, ValueError, OverflowError):
            raise invalid_input("clock", "type", "moves ahead by finite numbers of days, hours and so on.") from None
        if step < timedelta():
            raise invalid_input("clock", "out_of_range", "can only move ahead: the sum must not be negative.")
        with self._lock:
            self._ahead += step

    @property
    def is_moved(self) -> bool:
        """Whether the clock was moved since it began, or since its last reset."""
        return self._ahead != self._start

    def reset(self) -> None:
        """Undo every move of the clock."""
        with self._lock:
            self._ahead = self._start

    def make_store_clock(self) -> Clock:
        """Make a clock for a store, which follows this one."""
        return Clock(wall=self.milliseconds, monotonic=lambda: 0)
