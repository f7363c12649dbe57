"""One clock, passed as an argument, that never runs backwards; and the time-ordered ids made from it."""

from __future__ import annotations

import os
import threading
import time
from collections import deque
from collections.abc import Callable


def _wall() -> int:
    return time.time_ns() // 1_000_000


def _monotonic() -> int:
    return time.monotonic_ns() // 1_000_000


class Clock:
    """Milliseconds since 1970 (UTC): the later of the wall, the start's wall plus the monotonic, and what was stored.

    Setting the machine's clock back, or starting again after that, therefore never extends an expiry. ``wall`` and
    ``monotonic`` give milliseconds.
    """

    def __init__(self, wall: Callable[[], int] = _wall, monotonic: Callable[[], int] = _monotonic) -> None:
        self._read_wall = wall
        self._read_monotonic = monotonic
        self._offset = wall() - monotonic()
        self._newest = 0
        self._lock = threading.Lock()

    def now(self) -> int:
        """The time; never earlier than any it gave before."""
        at = max(self._read_wall(), self._offset + self._read_monotonic())
        if at <= self._newest:
            return self._newest
        with self._lock:
            self._newest = max(self._newest, at)
            return self._newest

    def saw(self, at: int | None) -> None:
        """A stored timestamp was read: the time is not before it."""
        if at is None or at - self._read_monotonic() <= self._offset:  # so the time was past it already
            return
        with self._lock:
            self._newest = max(self._newest, at)
            # and it goes on from there, or leases and waits would stand still until the wall has caught up
            self._offset = max(self._offset, at - self._read_monotonic())


RANDOM_BYTES = 16
_drawn: deque[bytes] = deque()
os.register_at_fork(after_in_child=_drawn.clear)  # or parent and child would go on with the same ones


def random_bytes() -> bytes:
    """16 random bytes that nobody else gets, for an id.

    Many are drawn from the system at once: during each call another thread may take the interpreter, and this one
    waits until it lets go.
    """
    while True:
        try:
            return _drawn.pop()
        except IndexError:
            many = os.urandom(RANDOM_BYTES * 256)
            _drawn.extend(many[at : at + RANDOM_BYTES] for at in range(0, len(many), RANDOM_BYTES))


_COUNTER_BITS = 12
_lock = threading.Lock()
_last = 0  # milliseconds and counter of the last id, as one number


def new_id(at: int) -> str:
    """A UUIDv7 (RFC 9562 section 5.7) for the time ``at``, larger than every id made before in this process.

    ``rand_a`` is a counter seeded at random in each millisecond (section 6.2, method 1); when it is used up, or the
    time stands still or goes back, the id counts on from the last one.
    """
    global _last
    drawn = int.from_bytes(random_bytes(), "big")
    seed = drawn & (1 << _COUNTER_BITS - 1) - 1
    with _lock:
        _last = max(at << _COUNTER_BITS | seed, _last + 1)
        stamp = _last
    value = (stamp >> _COUNTER_BITS) << 80 | 7 << 76 | (stamp & 0xFFF) << 64 | 2 << 62 | drawn >> 66
    digits = f"{value:032x}"
    return f"{digits[:8]}-{digits[8:12]}-{digits[12:16]}-{digits[16:20]}-{digits[20:]}"
