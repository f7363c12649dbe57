"""The clock of the store, which tolerates wrong times, and time-ordered ids."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable


def _wall_milliseconds() -> int:
    return time.time_ns() // 1_000_000


def _monotonic_milliseconds() -> int:
    return time.monotonic_ns() // 1_000_000


MAX_AHEAD_MILLISECONDS = 5 * 60 * 1000
"""A time that is further ahead of the wall clock is regarded as the time of a wrong clock."""


class Clock:
    """A clock in milliseconds since 1970 (UTC). ``wall`` and ``monotonic`` return milliseconds.

    :meth:`now` is for leases, waits and stored times. It is the latest of three times: the wall clock; the wall clock
    at the start plus the monotonic clock; and the times read from the database. So it does not go back if the wall
    clock is set back by up to :data:`MAX_AHEAD_MILLISECONDS`. A time that is further ahead of the wall clock is
    ignored, because the wall clock must have been wrong when the time was written.

    :meth:`wall` is the machine's clock, for signatures and for the expiry of credentials.
    """

    def __init__(
        self, wall: Callable[[], int] = _wall_milliseconds, monotonic: Callable[[], int] = _monotonic_milliseconds
    ) -> None:
        self._read_wall = wall
        self._read_monotonic = monotonic
        self._offset = wall() - monotonic()
        self._newest = 0
        self._lock = threading.Lock()

    def now(self) -> int:
        """Return the time. It goes back only if an earlier result was too far ahead of the wall clock."""
        wall = self._read_wall()
        latest = wall + MAX_AHEAD_MILLISECONDS
        at = max(wall, self._offset + self._read_monotonic())
        if at <= self._newest <= latest:
            return self._newest
        with self._lock:
            if at > latest:
                self._offset, at = wall - self._read_monotonic(), wall
            self._newest = max(self._newest, at) if self._newest <= latest else at
            return self._newest

    def wall(self) -> int:
        """Return the machine's clock."""
        return self._read_wall()

    def is_ahead(self, at: int) -> bool:
        """Whether a stored time is too far ahead of the wall clock, so that the clock ignores it."""
        return at > self._read_wall() + MAX_AHEAD_MILLISECONDS

    def observe(self, at: int | None) -> None:
        """Make :meth:`now` not earlier than a stored time, unless the stored time is too far ahead."""
        if at is None or at - self._read_monotonic() <= self._offset:  # the time is in the past
            return
        if self.is_ahead(at):
            return
        with self._lock:
            self._newest = max(self._newest, at)
            # the clock continues from this time; otherwise no lease would end before the wall clock catches up
            self._offset = max(self._offset, at - self._read_monotonic())


RANDOM_BYTES = 16
_random_pool: deque[bytes] = deque()
os.register_at_fork(after_in_child=_random_pool.clear)  # otherwise parent and child process would use the same bytes


def get_random_bytes() -> bytes:
    """Return 16 random bytes for an id.

    The function fetches many bytes from the system at once, because each fetch releases the interpreter lock, and the
    thread then has to wait for it.
    """
    while True:
        try:
            return _random_pool.pop()
        except IndexError:
            many = os.urandom(RANDOM_BYTES * 256)
            _random_pool.extend(many[at : at + RANDOM_BYTES] for at in range(0, len(many), RANDOM_BYTES))


_COUNTER_BITS = 12
_lock = threading.Lock()
_last_id = 0  # milliseconds and counter of the last id, as one number


def new_id(at: int) -> str:
    """Make a UUIDv7 (RFC 9562 section 5.7) for the time ``at`` (milliseconds), larger than all earlier ids.

    ``rand_a`` is a counter with a random start in each millisecond (section 6.2, method 1). If the counter overflows,
    or the time does not advance, the id continues from the last one.
    """
    global _last_id
    random_bits = int.from_bytes(get_random_bytes(), "big")
    seed = random_bits & (1 << _COUNTER_BITS - 1) - 1
    with _lock:
        _last_id = max(at << _COUNTER_BITS | seed, _last_id + 1)
        stamp = _last_id
    value = (stamp >> _COUNTER_BITS) << 80 | 7 << 76 | (stamp & 0xFFF) << 64 | 2 << 62 | random_bits >> 66
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
