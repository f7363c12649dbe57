"""Rate limits: a bounded number of token buckets in the memory of each process.

Several processes divide each limit, so that all of them together stay within the limit.

A credential has one bucket for reads and one for writes. Callers without a credential share the bucket of their IP
address.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from ipaddress import IPv6Address, IPv6Network, ip_address

from attrs import astuple, define, field, frozen

from adsunify.errors import RateLimited
from adsunify.service.counters import Counters, LimitName

MINUTE = 60_000
HOUR = 60 * MINUTE
MAX_BUCKETS = 10_000
MAX_PROCESSES = 10
"""How many server processes can share the limits. The lowest fixed limit is 10, so each process admits one at least."""
IPV6_PREFIX = 64
"""The prefix length of an IPv6 network that counts as one caller, since one customer usually has a whole /64."""


@frozen
class RateLimits:
    """The limits. The requests of a minute may also come at once. 0 means no limit.

    Attributes:
        reads: reads of one credential per minute.
        writes: writes of one credential per minute.
        failures: bad bearer tokens from one IP address per minute.
        registrations: OAuth clients that one IP address registers per hour.
    """

    reads: int = 6000
    writes: int = 1200
    failures: int = 1000
    registrations: int = 60

    def divide(self, processes: int) -> RateLimits:
        """Return the share of one of ``processes`` server processes, rounded down. 0 stays no limit."""
        return RateLimits(*(limit // processes for limit in astuple(self)))


@frozen
class BucketState:
    """A bucket after a token was taken: its capacity, the tokens left, and the milliseconds until it is full."""

    limit: int
    remaining: int
    full_in_milliseconds: int


@define(eq=False)
class TokenBuckets:
    """Buckets of ``capacity`` tokens, one for each key. They fill evenly within ``window`` milliseconds.

    Only the time at which a bucket will be full is stored, so full buckets need no entry. If there are more than
    ``max_keys`` buckets, the one that was not used for the longest time is dropped.
    """

    capacity: int
    window: int
    max_keys: int = MAX_BUCKETS
    _full_at: dict[str, int] = field(factory=dict)
    """The times at which buckets will be full, in 1 / ``capacity`` of a millisecond, so that integers are exact."""

    def take(self, key: str, now: int) -> BucketState | int:
        """Take a token and return the state of the bucket, or return the milliseconds until it has a token."""
        at = now * self.capacity
        full_before = self._full_at.pop(key, at)
        if full_before > at + self.window * self.capacity:  # a token was taken while the clock was ahead
            full_before = at
        full_at = max(at, full_before) + self.window
        remaining = self.window * self.capacity - (full_at - at)
        if remaining < 0:
            self._full_at[key] = full_before
            return -(remaining // self.capacity)
        self._full_at[key] = full_at
        if len(self._full_at) > self.max_keys:
            del self._full_at[next(iter(self._full_at))]
        return BucketState(self.capacity, remaining // self.window, -((at - full_at) // self.capacity))

    def give_back(self, key: str) -> None:
        """Give the last token back."""
        if key in self._full_at:
            self._full_at[key] -= self.window

    def reset(self, key: str) -> None:
        """Fill the bucket."""
        self._full_at.pop(key, None)

    def __len__(self) -> int:
        return len(self._full_at)


@define(eq=False)
class RateLimiter:
    """The buckets of a service. ``read_clock``: the machine's clock in milliseconds."""

    limits: RateLimits
    counters: Counters
    read_clock: Callable[[], int]
    _reads: TokenBuckets = field(init=False)
    _writes: TokenBuckets = field(init=False)
    _failures: TokenBuckets = field(init=False)
    _registrations: TokenBuckets = field(init=False)

    def __attrs_post_init__(self) -> None:
        self._reads, self._writes = TokenBuckets(self.limits.reads, MINUTE), TokenBuckets(self.limits.writes, MINUTE)
        self._failures = TokenBuckets(self.limits.failures, MINUTE)
        self._registrations = TokenBuckets(self.limits.registrations, HOUR)

    def admit_request(self, owner: str, *, is_write: bool) -> BucketState | None:
        """Count a request of a credential or a person.

        Returns:
            The state of the owner's bucket; None where there is no limit.

        Raises:
            RateLimited: the owner has used the limit up.
        """
        if is_write:
            return self._take_token("writes", self._writes, owner, "This credential makes too many writes.")
        return self._take_token("reads", self._reads, owner, "This credential makes too many reads.")

    def count_bad_token(self, address: str) -> None:
        """Count a bad token. Raises RateLimited where too many came from this address."""
        self._take_token("failures", self._failures, ip_bucket(address), "Too many bad tokens came from your address.")

    def count_registration(self, address: str) -> None:
        """Count the registration of a client. Raises RateLimited where too many came from this address."""
        message = "Too many clients were registered from your address."
        self._take_token("registrations", self._registrations, ip_bucket(address), message)

    def _take_token(self, name: LimitName, buckets: TokenBuckets, key: str, message: str) -> BucketState | None:
        if not buckets.capacity:
            return None
        state = buckets.take(key, self.read_clock())
        if isinstance(state, BucketState):
            return state
        self.counters.limit_refusals[name] += 1
        raise RateLimited(f"{message} Nothing was done.", retry_after=state / 1000, limit=buckets.capacity)


def ip_bucket(address: str) -> str:
    """Return the bucket of an IP address: the IPv4 address, or the IPv6 network."""
    try:
        ip = ip_address(address.partition("%")[0])
    except ValueError:
        return address[:64]
    if not isinstance(ip, IPv6Address):
        return str(ip)
    return str(ip.ipv4_mapped or IPv6Network((int(ip), IPV6_PREFIX), strict=False))


def find_client_ip(proxies: int, remote: str | None, forwarded: Sequence[str]) -> str:
    """Return the IP address of a caller. Behind proxies it is the address that our first proxy saw.

    ``forwarded`` are the ``X-Forwarded-For`` headers. Entries to the left of our own proxies' are set by the client and
    cannot be trusted.
    """
    if proxies:
        entries = [entry.strip() for entry in ",".join(forwarded).split(",")]
        if len(entries) >= proxies and entries[-proxies]:
            return entries[-proxies]
    return remote or ""
