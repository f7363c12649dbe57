"""How often one caller may ask: token buckets in memory, for each process its own, bounded in number.

A credential has one bucket for reads and one for writes. Whoever has no credential is known by his network address.
"""

from __future__ import annotations

from collections.abc import Sequence
from ipaddress import IPv6Address, IPv6Network, ip_address

from attrs import define, field, frozen

from adsunify.errors import RateLimited

from .measuring import Limited, Measured

MINUTE = 60_000
HOUR = 60 * MINUTE
MOST_REMEMBERED = 10_000
IPV6_PREFIX = 64
"""Bits: whoever has one address of IPv6 has the whole network."""


@frozen
class Rates:
    """Requests a minute, and as many at once: ``reads`` and ``writes`` of one credential; 0 is no limit.

    ``failures``: bad bearer tokens from one network address. ``registrations``: OAuth clients from one, within an hour.
    """

    reads: int = 6000
    writes: int = 1200
    failures: int = 1000
    registrations: int = 60


@frozen
class Standing:
    """A bucket after something was taken: what it can hold, what is left, milliseconds until it is full again."""

    limit: int
    remaining: int
    full_in: int


@define(eq=False)
class Buckets:
    """Buckets that hold ``count`` and fill evenly within ``window`` milliseconds, one for each key.

    A full bucket is as good as none, so only when each will be full is kept. Of too many, the longest unused is
    forgotten.
    """

    count: int
    window: int
    most: int = MOST_REMEMBERED
    _full_at: dict[str, int] = field(factory=dict)
    """In ``count``-ths of a millisecond, so that a whole number is exact."""

    def take(self, key: str, now: int) -> Standing | int:
        """Take one; or, where the bucket is empty, the milliseconds until there is one again."""
        at = now * self.count
        kept = self._full_at.pop(key, at)
        if kept > at + self.window * self.count:  # taken while the clock was ahead
            kept = at
        full_at = max(at, kept) + self.window
        left = self.window * self.count - (full_at - at)
        if left < 0:
            self._full_at[key] = kept
            return -(left // self.count)
        self._full_at[key] = full_at
        if len(self._full_at) > self.most:
            del self._full_at[next(iter(self._full_at))]
        return Standing(self.count, left // self.window, -((at - full_at) // self.count))

    def give_back(self, key: str) -> None:
        """What was taken last does not count."""
        if key in self._full_at:
            self._full_at[key] -= self.window

    def fill(self, key: str) -> None:
        """Nothing that was taken counts any more."""
        self._full_at.pop(key, None)

    def __len__(self) -> int:
        return len(self._full_at)


@define(eq=False)
class Limiting:
    """The buckets of a service."""

    rates: Rates
    measured: Measured
    _reads: Buckets = field(init=False)
    _writes: Buckets = field(init=False)
    _failures: Buckets = field(init=False)
    _registrations: Buckets = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._reads, self._writes = Buckets(self.rates.reads, MINUTE), Buckets(self.rates.writes, MINUTE)
        self._failures = Buckets(self.rates.failures, MINUTE)
        self._registrations = Buckets(self.rates.registrations, HOUR)

    def admit(self, owner: str, writes: bool, now: int) -> Standing | None:
        """Count a request of a credential, or of a person; None where it is not limited. Raises RateLimited."""
        if writes:
            return self._take("writes", self._writes, owner, now, "This credential makes too many writes.")
        return self._take("reads", self._reads, owner, now, "This credential makes too many reads.")

    def failed(self, address: str, now: int) -> None:
        """Count a bad token. Raises RateLimited, where there were too many from this address."""
        self._take("failures", self._failures, network(address), now, "Too many bad tokens came from your address.")

    def registered(self, address: str, now: int) -> None:
        """Count the registration of a client. Raises RateLimited."""
        words = "Too many clients were registered from your address."
        self._take("registrations", self._registrations, network(address), now, words)

    def _take(self, name: Limited, buckets: Buckets, key: str, now: int, words: str) -> Standing | None:
        if not buckets.count:
            return None
        taken = buckets.take(key, now)
        if isinstance(taken, Standing):
            return taken
        self.measured.limited[name] += 1
        raise RateLimited(f"{words} Nothing was done.", retry_after=taken / 1000, limit=buckets.count)


def network(address: str) -> str:
    """What addresses are counted by: an address of IPv4, a network of IPv6."""
    try:
        found = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if not isinstance(found, IPv6Address):
        return str(found)
    return str(found.ipv4_mapped or IPv6Network((int(found), IPV6_PREFIX), strict=False))


def source(proxies: int, remote: str | None, forwarded: Sequence[str]) -> str:
    """The network address of a caller: ``remote``, or behind so many proxies what the first of them saw.

    ``forwarded``: the ``X-Forwarded-For`` headers. What stands left of our own proxies' words anybody can write.
    """
    if proxies:
        seen = [one.strip() for one in ",".join(forwarded).split(",")]
        if len(seen) >= proxies and seen[-proxies]:
            return seen[-proxies]
    return remote or ""
