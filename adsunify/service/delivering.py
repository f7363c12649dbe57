"""The worker that delivers notifications: at least once, in the order they are due, each attempt on record.

Any number of workers may run on one database. A slow or dead receiver holds up nobody but itself: each subscription
has a few attempts in flight, and the worker many more.
"""

from __future__ import annotations

import asyncio
import random
import time
from collections import Counter
from contextlib import suppress

from attrs import define, field, frozen

from adsunify.errors import StoreError, VaultError
from adsunify.fetch import FetchError, fetch
from adsunify.store import webhooks
from adsunify.store.webhooks import Claimed
from adsunify.webhooks import EVENT_ID, SIGNATURE, sign

from .core import Service
from .webhooks import signing_secret

SCHEDULE = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600)
"""Seconds after the first, the second ... failed try of a budget; the eighth is the last."""
JITTER = 0.2
TIMEOUT_SECONDS = 15.0
ANSWER_BYTES = 64 * 1024
BATCH = 10
IDLE_SECONDS = 60.0
IN_FLIGHT = 100
IN_FLIGHT_EACH = 10
"""At most so many attempts at once, and for one subscription."""
GATHERING_SECONDS = 0.002
"""A commit that woke the worker is rarely alone."""


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


@define
class Worker:
    """Delivers until it is stopped. One per process is enough."""

    service: Service
    sending: set[asyncio.Task[None]] = field(factory=set)
    busy: Counter[str] = field(factory=Counter)
    stopping: bool = False
    _awake: asyncio.Event = field(factory=asyncio.Event)

    async def run(self) -> None:
        """Deliver what is due, as it becomes due. A database that is away is asked again later."""
        self.service.store.watchers.append(self._awake.set)
        try:
            while not self.stopping:
                try:
                    wait = await self._round()
                except StoreError:
                    wait = 1.0
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._awake.wait(), wait)
                    await asyncio.sleep(GATHERING_SECONDS)
                self._awake.clear()
        finally:
            self.service.store.watchers.remove(self._awake.set)
            if self.sending:
                await asyncio.wait(self.sending)

    def stop(self) -> None:
        """Claim nothing more; ``run`` returns when what is in flight has ended."""
        self.stopping = True
        self._awake.set()

    async def _round(self) -> float:
        """Claim and send while batches are full; returns the seconds until there may be more."""
        store = self.service.store
        while not self.stopping and len(self.sending) < IN_FLIGHT:
            full = self._full()
            due = await store.read(webhooks.next_due, full)
            wait = IDLE_SECONDS if due is None else (due - store.clock.now()) / 1000
            if wait > 0:
                return min(wait, IDLE_SECONDS)
            room = min(BATCH, IN_FLIGHT - len(self.sending))
            for claimed in await store.write(webhooks.claim, store.clock, room, full):
                self._send(claimed)
            await asyncio.sleep(0)
        return IDLE_SECONDS

    def _full(self) -> list[str]:
        return [webhook_id for webhook_id, count in self.busy.items() if count >= IN_FLIGHT_EACH]

    def _send(self, claimed: Claimed) -> None:
        webhook_id = claimed.delivery.webhook_id
        self.busy[webhook_id] += 1
        task = asyncio.create_task(self._deliver(claimed))
        self.sending.add(task)

        def ended(task: asyncio.Task[None]) -> None:
            self.sending.discard(task)
            self.busy[webhook_id] -= 1
            if not self.busy[webhook_id]:
                del self.busy[webhook_id]
            self._awake.set()

        task.add_done_callback(ended)

    async def _deliver(self, claimed: Claimed) -> None:
        delivery, store = claimed.delivery, self.service.store
        begun = time.monotonic()
        outcome = await self._attempt(claimed)
        wait = wait_after(delivery.tries, outcome.retry_after, random.random())
        if outcome.delivered:
            status, next_attempt_at = "succeeded", None
        elif outcome.final or wait is None:
            status, next_attempt_at = "failed", None
        else:
            status, next_attempt_at = "pending", store.clock.now() + int(wait * 1000)
        with suppress(StoreError):  # then the lease runs out, and it is delivered again under the same event id
            await store.write(
                webhooks.settle,
                delivery,
                duration_ms=int((time.monotonic() - begun) * 1000),
                status_code=outcome.status_code,
                error=outcome.error,
                status=status,
                next_attempt_at=next_attempt_at,
            )

    async def _attempt(self, claimed: Claimed) -> Outcome:
        """Send it once."""
        service, delivery = self.service, claimed.delivery
        body = delivery.body.encode("ascii")
        try:
            secret = await signing_secret(service, claimed.workspace_id, delivery.webhook_id)
            if secret is None:
                return Outcome(error="The subscription was removed.")
            answer = await fetch(
                delivery.url,
                method="POST",
                headers={
                    "Content-Type": "application/json",
                    "User-Agent": "adsunify",
                    EVENT_ID: delivery.event_id,
                    SIGNATURE: sign(body, delivery.event_id, secret, service.store.clock.now() // 1000),
                },
                content=body,
                timeout=TIMEOUT_SECONDS,
                limit=ANSWER_BYTES,
                cut=True,
                exempt=service.settings.webhook_dev_targets,
                resolving=service.resolving,
            )
        except (FetchError, StoreError, VaultError) as problem:
            return Outcome(error=problem.message)
        later = answer.headers.get("retry-after", "")
        return Outcome(answer.status, retry_after=float(later) if later.isdigit() and len(later) < 7 else None)
