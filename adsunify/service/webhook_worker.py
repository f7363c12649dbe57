"""The worker that delivers notifications: at least once, in the order they are due; every attempt is recorded.

Any number of workers may run on one database. A slow or dead receiver does not delay others: each subscription has a
few attempts in flight, and the worker many more.
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
from adsunify.http.safe_fetch import MAX_HEAD_BYTES, FetchError, fetch_url
from adsunify.service.core import Service
from adsunify.service.webhooks import decrypt_signing_secret
from adsunify.store import deliveries
from adsunify.store.deliveries import AttemptOutcome, ClaimedDelivery
from adsunify.telemetry.tracing import Span
from adsunify.webhooks import EVENT_ID_HEADER, SIGNATURE_HEADER, sign

RETRY_SCHEDULE = (5, 5 * 60, 30 * 60, 2 * 3600, 5 * 3600, 10 * 3600, 10 * 3600)
"""The seconds to wait after the first, second and further failed attempts. There is no attempt after the eighth."""
JITTER = 0.2
TIMEOUT_SECONDS = 15.0
MAX_RESPONSE_BYTES = 64 * 1024
BATCH = 10
IDLE_SECONDS = 60.0
MAX_IN_FLIGHT = 400
"""The maximum number of attempts in progress. It is high, because waiting for a slow receiver costs little."""
INITIAL_CONCURRENCY, MAX_CONCURRENCY = 2, 100
"""The deliveries in progress for one subscription: at first, and at most (after quick responses).

After an attempt without a response there is only one, because it stays in memory for ``TIMEOUT_SECONDS``. Fewer objects
in memory make collections of garbage shorter, which delay all receivers.
"""
MAX_CONCURRENT_SENDS = 50
"""The maximum number of requests to one subscription at the same time.

Other claimed deliveries wait, but not so long that their claim ends.
"""
QUICK_RESPONSE_SECONDS = 1.0
MAX_BATCHES = 5
"""The maximum number of batches that one transaction claims. One transaction saves waits for the disk."""
BUSY_POLL_SECONDS = 0.05
"""The wait before the next claim if the last claim used all slots of a subscription."""
WAKE_DELAY_SECONDS = 0.002
"""The wait after a commit woke the worker, because several commits often come together."""
ENOUGH_FREE_SLOTS, FREE_SLOT_DELAY_SECONDS = 40, 0.005
"""When more deliveries are claimed for a subscription whose slots were all in use.

They are claimed when this many slots or half of all slots are free, or after this many seconds.
"""
RESULT_DELAY_SECONDS = 0.005
"""The wait before results are recorded, because several attempts often end together."""
SECRET_CACHE_SIZE = 1_000
"""The maximum number of decrypted signing secrets in memory."""
STORE_RETRY_SECONDS = 1.0
"""The wait after the database did not answer."""


@frozen
class AttemptResult:
    """How an attempt ended. ``retry_after``: seconds that the receiver asked for."""

    status_code: int | None = None
    error: str | None = None
    retry_after: float | None = None

    @property
    def is_delivered(self) -> bool:
        """Whether the receiver answered 2xx."""
        return self.status_code is not None and 200 <= self.status_code < 300

    @property
    def is_final(self) -> bool:
        """Whether there is no further attempt: the receiver answered a 4xx other than 408 and 429."""
        return self.status_code is not None and 400 <= self.status_code < 500 and self.status_code not in (408, 429)


def backoff_seconds(tries: int, retry_after: float | None, random_fraction: float) -> float | None:
    """Return the seconds until the next attempt of a delivery.

    A ``Retry-After`` is honoured up to twice the wait of the schedule.

    Args:
        tries: failed attempts so far.
        retry_after: seconds that the receiver asked for.
        random_fraction: from 0 to 1; spreads the attempts.

    Returns:
        Seconds; None after the last attempt.
    """
    if tries > len(RETRY_SCHEDULE):
        return None
    wait = RETRY_SCHEDULE[tries - 1] * (1 - JITTER + 2 * JITTER * random_fraction)
    return wait if retry_after is None else min(max(wait, retry_after), 2 * wait)


@define(eq=False)
class WebhookWorker:
    """Delivers until it is stopped. One worker per process is enough.

    It claims deliveries in batches, sends them concurrently, and records results together: each commit holds all
    attempts that ended during the commit before. ``lease``: as :func:`adsunify.store.deliveries.claim_deliveries`.
    """

    service: Service
    lease: int = deliveries.LEASE_MILLISECONDS
    sending_tasks: set[asyncio.Task[None]] = field(factory=set)
    in_flight_counts: Counter[str] = field(factory=Counter)
    concurrency_limits: dict[str, int] = field(factory=dict)
    finished_attempts: list[AttemptOutcome] = field(factory=list)
    is_stopping: bool = False
    _full_subscriptions: frozenset[str] = frozenset()  # subscriptions that may have more due deliveries
    _send_slots: defaultdict[str, asyncio.Semaphore] = field(
        factory=lambda: defaultdict(partial(asyncio.Semaphore, MAX_CONCURRENT_SENDS))
    )
    _batch_count: int = 1
    _is_wake_scheduled: bool = False
    _decrypt_secret: Callable[[str, str, str], str] = field(init=False, repr=False)
    _wake_event: asyncio.Event = field(factory=asyncio.Event)
    _recording_task: asyncio.Task[None] | None = None

    @_decrypt_secret.default
    def _make_secret_cache(self) -> Callable[[str, str, str], str]:
        return lru_cache(SECRET_CACHE_SIZE)(partial(decrypt_signing_secret, self.service))

    async def run(self) -> None:
        """Deliver notifications as they become due. If the database does not answer, try again later."""
        self.service.store.watchers.append(self._schedule_wake)
        try:
            while not self.is_stopping:
                try:
                    wait = await self._deliver_due()
                except StoreError:
                    wait = STORE_RETRY_SECONDS
                with suppress(TimeoutError):
                    await asyncio.wait_for(self._wake_event.wait(), wait)
                self._wake_event.clear()
                self._is_wake_scheduled = False
        finally:
            self.service.store.watchers.remove(self._schedule_wake)
            if self.sending_tasks:
                await asyncio.wait(self.sending_tasks)
            if self._recording_task is not None:
                await self._recording_task

    def stop(self) -> None:
        """Stop claiming; :meth:`run` returns when the attempts in flight have ended."""
        self.is_stopping = True
        self._wake_event.set()

    def _schedule_wake(self, delay: float = WAKE_DELAY_SECONDS) -> None:
        """Wake the worker after a short delay, which collects several causes."""
        if not self._is_wake_scheduled:
            self._is_wake_scheduled = True
            asyncio.get_running_loop().call_later(delay, self._wake_event.set)

    # -- claiming -------------------------------------------------------------------------------------------------

    async def _deliver_due(self) -> float:
        """Claim and send until nothing more is due or all slots are taken; returns the seconds until the next look."""
        store = self.service.store
        while not self.is_stopping and (free := MAX_IN_FLIGHT - len(self.sending_tasks)) > 0:
            limit, room = min(free, BATCH), self._free_slots()
            batches = min(self._batch_count, max(1, free // BATCH))
            claimed = await store.write(
                deliveries.claim_deliveries, store.clock, limit, room, INITIAL_CONCURRENCY, self.lease, batches
            )
            for delivery in claimed:
                self._start_delivery(delivery)
            if len(claimed) >= BATCH:
                self._batch_count = MAX_BATCHES
            counts = Counter(delivery.webhook_id for delivery in claimed)
            filled = [id_ for id_, count in counts.items() if count >= room.get(id_, INITIAL_CONCURRENCY)]
            if len(claimed) == limit * batches or any(map(self._has_enough_room, filled)):
                continue
            self._full_subscriptions = frozenset(
                [*filled, *(id_ for id_, count in self._free_slots().items() if count <= 0)]
            )
            if filled:
                return BUSY_POLL_SECONDS
            due = await store.read(deliveries.find_next_due, store.clock, self._full_subscriptions)
            wait = IDLE_SECONDS if due is None else (due - store.clock.now()) / 1000
            if wait > 0:
                self._batch_count = 1
                return min(wait, IDLE_SECONDS)
        self._full_subscriptions = frozenset(self.in_flight_counts)
        return IDLE_SECONDS

    def _has_enough_room(self, webhook_id: str) -> bool:
        """Whether a subscription has enough free slots for another claim."""
        limit = self._concurrency_limit(webhook_id)
        return limit - self.in_flight_counts[webhook_id] >= min(ENOUGH_FREE_SLOTS, (limit + 1) // 2)

    def _free_slots(self) -> dict[str, int]:
        """Return the number of free slots of each known subscription."""
        webhook_ids = self.in_flight_counts.keys() | self.concurrency_limits.keys()
        return {
            webhook_id: self._concurrency_limit(webhook_id) - self.in_flight_counts[webhook_id]
            for webhook_id in webhook_ids
        }

    def _concurrency_limit(self, webhook_id: str) -> int:
        return self.concurrency_limits.get(webhook_id, INITIAL_CONCURRENCY)

    def _start_delivery(self, claimed: ClaimedDelivery) -> None:
        self.in_flight_counts[claimed.webhook_id] += 1
        task = asyncio.create_task(self._deliver(claimed))
        self.sending_tasks.add(task)
        task.add_done_callback(partial(self._finish_delivery, claimed.webhook_id))

    def _finish_delivery(self, webhook_id: str, task: asyncio.Task[None]) -> None:
        self.sending_tasks.discard(task)
        self.in_flight_counts[webhook_id] -= 1
        if not self.in_flight_counts[webhook_id]:
            del self.in_flight_counts[webhook_id]
            self._send_slots.pop(webhook_id, None)
        if webhook_id in self._full_subscriptions:
            self._wake_event.set() if self._has_enough_room(webhook_id) else self._schedule_wake(
                FREE_SLOT_DELAY_SECONDS
            )

    # -- delivering -----------------------------------------------------------------------------------------------

    async def _deliver(self, claimed: ClaimedDelivery) -> None:
        store, counters = self.service.store, self.service.counters.delivery_attempts
        async with self._send_slots[claimed.webhook_id]:
            if store.clock.now() >= claimed.lease_end:
                return  # the process was paused so long that the lease expired
            started_at = time.monotonic()
            with self.service.tracer.start_span("deliver webhook", "client") as span:
                outcome = await self._send_attempt(claimed)
                _describe_attempt(span, claimed, outcome)
            duration = time.monotonic() - started_at
        self._adjust_concurrency(claimed.webhook_id, outcome, duration)
        wait = backoff_seconds(claimed.tries, outcome.retry_after, random.random())
        status, next_attempt_at = "failed", None
        if outcome.is_delivered:
            counters["delivered"] += 1
            status = "succeeded"
        elif outcome.is_final or wait is None:
            counters["failed"] += 1
        else:
            counters["retried"] += 1
            status, next_attempt_at = "pending", store.clock.now() + int(wait * 1000)
        self.finished_attempts.append(
            AttemptOutcome(
                claimed.id,
                claimed.attempt,
                int(duration * 1000),
                outcome.status_code,
                outcome.error,
                status,
                next_attempt_at,
            )
        )
        if self._recording_task is None or self._recording_task.done():
            self._recording_task = asyncio.create_task(self._record_results())

    def _adjust_concurrency(self, webhook_id: str, outcome: AttemptResult, duration: float) -> None:
        """Adjust how many deliveries the receiver gets at once."""
        if outcome.status_code is None:
            self.concurrency_limits[webhook_id] = 1
        elif duration <= QUICK_RESPONSE_SECONDS:
            self.concurrency_limits[webhook_id] = min(self._concurrency_limit(webhook_id) + 1, MAX_CONCURRENCY)

    async def _record_results(self) -> None:
        """Record ended attempts. One that is not recorded before its lease expires is sent again with the same id."""
        while self.finished_attempts:
            await asyncio.sleep(RESULT_DELAY_SECONDS)
            outcomes, self.finished_attempts = self.finished_attempts, []
            try:
                await self.service.store.write(deliveries.record_results, outcomes)
            except StoreError:
                if self.is_stopping:
                    return
                self.finished_attempts = outcomes + self.finished_attempts
                await asyncio.sleep(STORE_RETRY_SECONDS)

    async def _send_attempt(self, claimed: ClaimedDelivery) -> AttemptResult:
        """Send a delivery once."""
        service = self.service
        if claimed.sealed_secret is None:
            return AttemptResult(error="The subscription was removed.")
        body = claimed.body.encode("ascii")
        sent_at = service.store.clock.wall() // 1000
        try:
            secret = self._decrypt_secret(claimed.workspace_id, claimed.webhook_id, claimed.sealed_secret)
            answer = await fetch_url(
                claimed.url,
                method="POST",
                headers={
                    "Content-Type": "application/json",
                    EVENT_ID_HEADER: claimed.event_id,
                    SIGNATURE_HEADER: sign(body, claimed.event_id, secret, sent_at),
                },
                content=body,
                timeout=TIMEOUT_SECONDS,
                limit=MAX_RESPONSE_BYTES - MAX_HEAD_BYTES,
                cut=True,
                exempt=service.settings.webhook_dev_targets,
                resolving=service.resolve_host,
                egress=service.transport.egress,
            )
        except (FetchError, VaultError) as problem:
            return AttemptResult(error=problem.message)
        return AttemptResult(answer.status, retry_after=parse_retry_after(answer.headers, sent_at))


def _describe_attempt(span: Span, claimed: ClaimedDelivery, outcome: AttemptResult) -> None:
    """Set the attributes of an attempt: ids and the status, never the address of the receiver."""
    span.set_attributes(
        {
            "adsunify.workspace_id": claimed.workspace_id,
            "adsunify.webhook_id": claimed.webhook_id,
            "adsunify.delivery_id": claimed.id,
            "adsunify.event_id": claimed.event_id,
            "adsunify.attempt": claimed.attempt,
            "http.response.status_code": outcome.status_code,
        }
    )
    if not outcome.is_delivered:
        span.set_error("no_response" if outcome.status_code is None else str(outcome.status_code))
