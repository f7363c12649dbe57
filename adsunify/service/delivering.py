"""The worker that delivers notifications: at least once, in the order they are due, each attempt on record.

Any number of workers may run on one database. A slow or dead receiver holds up nobody but itself: each subscription
has a few attempts in flight, and the worker many more.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter, defaultdict
from collections.abc import Callable
from contextlib import suppress
from functools import lru_cache, partial

from attrs import define, field, frozen

from adsunify.errors import StoreError, VaultError
from adsunify.http.retry_after import parse_retry_after
from adsunify.http.safe_fetch import HEAD_BYTES, FetchError, fetch
from adsunify.store import deliveries
from adsunify.store.deliveries import Claimed, Ended
from adsunify.webhooks import EVENT_ID, SIGNATURE, sign

from .core import Service
from .webhooks import opened

SCHEDULE = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600)
"""Seconds after the first, the second ... failed try of a budget; the eighth is the last."""
JITTER = 0.2
TIMEOUT_SECONDS = 15.0
ANSWER_BYTES = 64 * 1024
BATCH = 10
IDLE_SECONDS = 60.0
IN_FLIGHT = 400
"""At most so many attempts at once. Those that wait for a slow receiver cost little."""
FIRST_EACH, MOST_EACH = 5, 100
"""So many are claimed for one subscription: at first, and after quick answers. One that does not answer gets one."""
AT_ONCE = 50
"""So many of them are sent at once. The others wait for their turn meanwhile, which comes sooner than a claim ends."""
QUICK_SECONDS = 1.0
BATCHES = 5
"""So many are claimed in one transaction while they are full: a commit is mostly waiting for the disk."""
SOON_SECONDS = 0.05
"""While there is more to do than may be sent, nobody asks what else is due; but soon afterwards."""
GATHERING_SECONDS = 0.002
"""A commit that woke the worker is rarely alone."""
ENOUGH, ROOM_SECONDS = 40, 0.005
"""A subscription that had all it may gets more once there is so much room, or half of all; or after so many seconds."""
SETTLING_SECONDS = 0.005
"""An attempt that ended is rarely alone, either."""
OPENED = 1_000
"""So many signing secrets are kept as they were opened."""
AGAIN_SECONDS = 1.0
"""Until a database that is away is asked again."""


@frozen
class Outcome:
    """How an attempt ended. ``retry_after``: seconds that the receiver asked for."""

    status_code: int | None = None
    error: str | None = None
    retry_after: float | None = None

    @property
    def delivered(self) -> bool:
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def final(self) -> bool:
        """A 4xx is terminal, except those that say "later"."""
        return self.status_code is not None and 400 <= self.status_code < 500 and self.status_code not in (408, 429)


def wait_after(tries: int, retry_after: float | None, drawn: float) -> float | None:
    """Seconds until the next try after ``tries`` failed ones, None after the last. ``drawn``: from 0 to 1.

    ``Retry-After`` is honoured between the schedule's wait and twice as long.
    """
    if tries > len(SCHEDULE):
        return None
    planned = SCHEDULE[tries - 1] * (1 - JITTER + 2 * JITTER * drawn)
    return planned if retry_after is None else min(max(planned, retry_after), 2 * planned)


@define(eq=False)
class Worker:
    """Delivers until it is stopped. One per process is enough. ``lease``: as :func:`adsunify.store.deliveries.claim`.

    Attempts are claimed in batches, made side by side, and kept as they end: one commit for all that ended while the
    commit before it was made.
    """

    service: Service
    lease: int = deliveries.LEASE_MILLISECONDS
    sending: set[asyncio.Task[None]] = field(factory=set)
    busy: Counter[str] = field(factory=Counter)
    allowed: dict[str, int] = field(factory=dict)
    ended: list[Ended] = field(factory=list)
    stopping: bool = False
    _full: frozenset[str] = frozenset()  # subscriptions that more may be due for than could be claimed
    _turns: defaultdict[str, asyncio.Semaphore] = field(
        factory=lambda: defaultdict(partial(asyncio.Semaphore, AT_ONCE))
    )
    _batches: int = 1
    _gathering: bool = False
    _secret: Callable[[str, str, str], str] = field(init=False, repr=False)
    _awake: asyncio.Event = field(factory=asyncio.Event)
    _settling: asyncio.Task[None] | None = None

    @_secret.default
    def _opened(self) -> Callable[[str, str, str], str]:
        return lru_cache(OPENED)(partial(opened, self.service))

    async def run(self) -> None:
        """Deliver what is due, as it becomes due. A database that is away is asked again later."""
        self.service.store.watchers.append(self._woken)
        try:
            while not self.stopping:
                try:
                    wait = await self._round()
                except StoreError:
                    wait = AGAIN_SECONDS
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), wait)
                self._awake.clear()
                self._gathering = False
        finally:
            self.service.store.watchers.remove(self._woken)
            if self.sending:
                await asyncio.wait(self.sending)
            if self._settling is not None:
                await self._settling

    def stop(self) -> None:
        """Claim nothing more; ``run`` returns when what is in flight has ended."""
        self.stopping = True
        self._awake.set()

    def _woken(self, gathering: float = GATHERING_SECONDS) -> None:
        """There may be something to claim; it is rarely alone."""
        if not self._gathering:
            self._gathering = True
            asyncio.get_running_loop().call_later(gathering, self._awake.set)

    # -- claiming -------------------------------------------------------------------------------------------------

    async def _round(self) -> float:
        """Claim and send until no more is due or may be sent; returns the seconds until there may be more."""
        store = self.service.store
        while not self.stopping and (free := IN_FLIGHT - len(self.sending)) > 0:
            limit, room = min(free, BATCH), self._room()
            batches = min(self._batches, max(1, free // BATCH))
            claimed = await store.write(deliveries.claim, store.clock, limit, room, FIRST_EACH, self.lease, batches)
            for one in claimed:
                self._send(one)
            if len(claimed) >= BATCH:
                self._batches = BATCHES
            taken = Counter(one.webhook_id for one in claimed)
            filled = [id_ for id_, count in taken.items() if count >= room.get(id_, FIRST_EACH)]
            if len(claimed) == limit * batches or any(map(self._has_enough, filled)):
                continue
            self._full = frozenset([*filled, *(id_ for id_, count in self._room().items() if count <= 0)])
            if claimed and self._full:
                return SOON_SECONDS
            due = await store.read(deliveries.next_due, store.clock, self._full)
            wait = IDLE_SECONDS if due is None else (due - store.clock.now()) / 1000
            if wait > 0:
                self._batches = 1
                return min(wait, IDLE_SECONDS)
        self._full = frozenset(self.busy)
        return IDLE_SECONDS

    def _has_enough(self, webhook_id: str) -> bool:
        """Whether there is room for so many that it is worth a claim."""
        allowed = self._allowed(webhook_id)
        return allowed - self.busy[webhook_id] >= min(ENOUGH, (allowed + 1) // 2)

    def _room(self) -> dict[str, int]:
        """How many more each known subscription may get now."""
        known = self.busy.keys() | self.allowed.keys()
        return {webhook_id: self._allowed(webhook_id) - self.busy[webhook_id] for webhook_id in known}

    def _allowed(self, webhook_id: str) -> int:
        return self.allowed.get(webhook_id, FIRST_EACH)

    def _send(self, claimed: Claimed) -> None:
        self.busy[claimed.webhook_id] += 1
        task = asyncio.create_task(self._deliver(claimed))
        self.sending.add(task)
        task.add_done_callback(partial(self._sent, claimed.webhook_id))

    def _sent(self, webhook_id: str, task: asyncio.Task[None]) -> None:
        self.sending.discard(task)
        self.busy[webhook_id] -= 1
        if not self.busy[webhook_id]:
            del self.busy[webhook_id]
            self._turns.pop(webhook_id, None)
        if webhook_id in self._full:
            self._awake.set() if self._has_enough(webhook_id) else self._woken(ROOM_SECONDS)

    # -- delivering -----------------------------------------------------------------------------------------------

    async def _deliver(self, claimed: Claimed) -> None:
        store, measured = self.service.store, self.service.measured.attempts
        async with self._turns[claimed.webhook_id]:
            if store.clock.now() >= claimed.lease_end:
                return  # the process was stopped for so long that others took it for dead
            begun = time.monotonic()
            outcome = await self._attempt(claimed)
            spent = time.monotonic() - begun
        self._learn(claimed.webhook_id, outcome, spent)
        wait = wait_after(claimed.tries, outcome.retry_after, random.random())
        status, next_attempt_at = "failed", None
        if outcome.delivered:
            measured["delivered"] += 1
            status = "succeeded"
        elif outcome.final or wait is None:
            measured["failed"] += 1
        else:
            measured["retried"] += 1
            status, next_attempt_at = "pending", store.clock.now() + int(wait * 1000)
        self.ended.append(
            Ended(
                claimed.id,
                claimed.attempt,
                int(spent * 1000),
                outcome.status_code,
                outcome.error,
                status,
                next_attempt_at,
            )
        )
        if self._settling is None or self._settling.done():
            self._settling = asyncio.create_task(self._settle())

    def _learn(self, webhook_id: str, outcome: Outcome, spent: float) -> None:
        """How many at once its receiver may get from now on."""
        if outcome.status_code is None:
            self.allowed[webhook_id] = 1
        elif spent <= QUICK_SECONDS:
            self.allowed[webhook_id] = min(self._allowed(webhook_id) + 1, MOST_EACH)

    async def _settle(self) -> None:
        """Keep all that ended. What cannot be kept before the lease runs out is delivered again, under the same id."""
        while self.ended:
            await asyncio.sleep(SETTLING_SECONDS)
            ended, self.ended = self.ended, []
            try:
                await self.service.store.write(deliveries.settle, ended)
            except StoreError:
                if self.stopping:
                    return
                self.ended = ended + self.ended
                await asyncio.sleep(AGAIN_SECONDS)

    async def _attempt(self, claimed: Claimed) -> Outcome:
        """Send it once."""
        service = self.service
        if claimed.sealed_secret is None:
            return Outcome(error="The subscription was removed.")
        body = claimed.body.encode("ascii")
        sent_at = service.store.clock.wall() // 1000
        try:
            secret = self._secret(claimed.workspace_id, claimed.webhook_id, claimed.sealed_secret)
            answer = await fetch(
                claimed.url,
                method="POST",
                headers={
                    "Content-Type": "application/json",
                    EVENT_ID: claimed.event_id,
                    SIGNATURE: sign(body, claimed.event_id, secret, sent_at),
                },
                content=body,
                timeout=TIMEOUT_SECONDS,
                limit=ANSWER_BYTES - HEAD_BYTES,
                cut=True,
                exempt=service.settings.webhook_dev_targets,
                resolving=service.resolving,
            )
        except (FetchError, VaultError) as problem:
            return Outcome(error=problem.message)
        return Outcome(answer.status, retry_after=parse_retry_after(answer.headers, sent_at))
