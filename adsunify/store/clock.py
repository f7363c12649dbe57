"""One clock, passed as an argument, that follows no wrong times; and the time-ordered ids made from it."""

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
"""Milliseconds: a time that is further ahead of the wall clock comes from a clock that was wrong."""


class Clock:
    """Milliseconds since 1970 (UTC).

    ``now`` is for the order of things: leases, waits, times of record. It is the latest of the wall clock, the wall
    clock at the start plus the monotonic clock, and the times read from the database, so a wall clock that is set back
    by up to AHEAD does not turn it back. What is further ahead of the wall clock is not followed: the wall clock was
    wrong then, and is right now.
    ``wall`` is the machine's clock as it is: for signatures, and for the expiry of credentials.

    The arguments give milliseconds.
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
        """The time; earlier than one it gave before only where that was more than AHEAD ahead of the wall clock."""
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
        """The machine's clock."""
        return self._read_wall()

    def is_ahead(self, at: int) -> bool:
        """Whether a stored time is so far ahead of the wall clock that it is not followed."""
        return at > self._read_wall() + MAX_AHEAD_MILLISECONDS

    def observe(self, at: int | None) -> None:
        """A stored timestamp was read: the time is not before it, unless it is too far ahead."""
        if at is None or at - self._read_monotonic() <= self._offset:  # so the time was past it already
            return
        if self.is_ahead(at):
            return
        with self._lock:
            self._newest = max(self._newest, at)
            # and it goes on from there, or leases and waits would stand still until the wall has caught up
            self._offset = max(self._offset, at - self._read_monotonic())


RANDOM_BYTES = 16
_random_pool: deque[bytes] = deque()
os.register_at_fork(after_in_child=_random_pool.clear)  # or parent and child would go on with the same ones


def get_random_bytes() -> bytes:
    """16 random bytes that nobody else gets, for an id.

    Many are drawn from the system at once: during each call another thread may take the interpreter, and this one
    waits until it lets go.
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
    """A UUIDv7 (RFC 9562 section 5.7) for the time ``at``, larger than every id made before in this process.

    ``rand_a`` is a counter seeded at random in each millisecond (section 6.2, method 1); when it is used up, or the
    time stands still or goes back, the id counts on from the last one.
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
