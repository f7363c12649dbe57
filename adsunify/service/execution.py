"""Drives executions: carries out what the sans-I/O executor asks for, one operation at a time, outside the request.

An execution is a task of the service's own: a caller that hangs up does not stop a write in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from attrs import frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.network import Network
from adsunify.errors import RequestNotSent, StoreError
from adsunify.execution.executor import (
    READ_FAULTS,
    Answer,
    Commit,
    Effect,
    Ending,
    Read,
    RenewToken,
    execute,
    kill_points,
)
from adsunify.execution.state import Advance, Advanced, Created, Progress, Receipt, Seen, progress
from adsunify.execution.status_updates import find_created, of_receipt
from adsunify.networks import adapter
from adsunify.plans.records import Plan
from adsunify.store import attempts, connections, operations
from adsunify.store.advance import advance
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.operations import OperationRecord

from .core import Service
from .measuring import Ended
from .session import Session

RENEW_AFTER = 10.0
"""Seconds: a step that lasts longer renews the lease, and again after as long."""
AT_ONCE = 50
"""So many executions of a workspace at a time, a whole batch; more wait, before they are claimed. Thousands at once
would take the process from everybody else, and end no sooner."""
EVIDENCE_TRIES = 60
EVIDENCE_PAUSE = 1.0
"""How often a commit that holds a receipt is tried, and the seconds between: evidence must land."""


@frozen
class Loaded:
    """An operation with all that its execution needs.

    PostgreSQL may read it a moment apart; a claim whose attempt exists already is refused by the store.
    """

    record: OperationRecord
    account: AccountRecord
    progress: Progress


def load(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> Loaded:
    """Read an operation in the actor's scope; raises NotFound."""
    record = operations.get(connection, actor, operation_id, clock)
    receipts, open_intents = attempts.receipts(connection, operation_id) if record.claimed else ([], [])
    account = connections.account(connection, actor.workspace_id, record.account_id)
    return Loaded(record, account, progress(receipts, [intent.key for intent in open_intents]))


async def run(service: Service, actor: Actor, operation_id: str) -> Ending:
    """Execute what remains of an operation, for as long as one call may; returns how it ended.

    Raises NotFound; StoreError where the database did not do it (then read the operation: nothing is known).
    """
    return await service.whole(_run(service, actor, operation_id))


async def _run(service: Service, actor: Actor, operation_id: str) -> Ending:
    measured = service.measured
    async with service.executions.setdefault(actor.workspace_id, asyncio.Semaphore(AT_ONCE)):
        loaded = await service.store.read(load, actor, operation_id, service.store.clock)
        ended: Ended = "failed"
        measured.executing += 1
        try:
            ending = await _executed(service, actor, loaded)
            ended = _ended(ending)
        finally:
            measured.executing -= 1
            measured.executions[loaded.account.network, ended] += 1
    return ending


def _ended(ending: Ending) -> Ended:
    """How the call ended, in the words that are counted."""
    if ending.status == "succeeded" or ending.status == "unknown":
        return ending.status
    if ending.refused is not None or ending.status is None:
        return "refused"
    return "handed_back" if ending.next_action else "rejected"


async def _executed(service: Service, actor: Actor, loaded: Loaded) -> Ending:
    operation_id = loaded.record.id
    network, plan = adapter(loaded.account.network).network, loaded.record.plan()
    session = Session(service, loaded.account)
    await session.prepare()
    clock, limits = service.store.clock, service.settings.limits
    until = clock.now() + limits.milliseconds
    execution = execute(
        network,
        plan,
        loaded.progress,
        operation_id,
        limits=limits,
        stopping=lambda: service.stopping or clock.now() >= until,
    )
    lease = _Lease(service, actor, operation_id, loaded.record.expires_at, partial(_seen, network, plan))
    try:
        effect = next(execution)
        while True:
            before, after = kill_points(effect)
            for point in before:
                service.passing(point)
            answer = await _carry_out(service, lease, session, effect)
            for point in after:
                service.passing(point)
            effect = execution.send(answer)
    except StopIteration as ended:
        ending: Ending = ended.value
    finally:
        execution.close()
    return ending


class _Lease:
    """The claim of one execution: the fence that every commit carries, and how long it holds.

    ``expires_at``: the end of the review time; ``until``: the end of the lease; both in milliseconds.
    ``seen``: the statuses that a receipt shows, and what it says was created.
    """

    def __init__(
        self,
        service: Service,
        actor: Actor,
        operation_id: str,
        expires_at: int,
        seen: Callable[[Receipt], tuple[Sequence[Seen], Sequence[Created]]],
    ) -> None:
        self.service, self.actor, self.operation_id, self.seen = service, actor, operation_id, seen
        self.expires_at = expires_at
        self.fence: int | None = None
        self.until = 0

    async def commit(self, change: Advance) -> Advanced:
        """Make it durable. A commit that holds a receipt is tried again for as long as a person would wait."""
        service = self.service
        seen, created = ((), ()) if change.receipt is None else self.seen(change.receipt)
        for tried in range(EVIDENCE_TRIES):
            try:
                advanced = await service.store.write(
                    advance, change, self.actor, service.store.clock, service.settings.lease, seen, created
                )
                break
            except StoreError:
                if change.receipt is None or tried == EVIDENCE_TRIES - 1:
                    raise
                await asyncio.sleep(EVIDENCE_PAUSE)
        if advanced.refused is None:
            self.fence = advanced.fence
        return advanced

    def check(self) -> None:
        """Raise RequestNotSent where the lease or the review time ended. Asked when a write is about to leave."""
        now = self.service.store.clock.now()
        if not 0 < self.until - now <= self.service.settings.lease:  # longer than a lease: the clock was corrected
            raise RequestNotSent("The lease of this execution ended before the request could go out.")
        if now >= self.expires_at:
            raise RequestNotSent("The review time ended before the request could go out.")

    async def renew(self) -> None:
        """Prolong the lease while a step lasts; a failure is left to the receipt's own commit."""
        try:
            advanced = await self.commit(Advance(self.operation_id, self.fence, renew=True))
        except StoreError:
            return
        if advanced.refused is None:
            self.until = advanced.at + self.service.settings.lease


def _seen(network: Network, plan: Plan, receipt: Receipt) -> tuple[Sequence[Seen], Sequence[Created]]:
    """The statuses that a receipt shows, and what it says was created.

    Whatever the answer is like, the receipt itself must land.
    """
    step = plan.steps[receipt.n]
    created = find_created(network, step, receipt)
    try:
        return of_receipt(network, step, receipt), created
    except READ_FAULTS:
        return (), created


async def _carry_out(service: Service, lease: _Lease, session: Session, effect: Effect) -> Answer:
    if isinstance(effect, Commit):
        return await lease.commit(effect.advance)
    if isinstance(effect, RenewToken):
        return await _leased(service, lease, session.renew_token(effect.again))
    if isinstance(effect, Read):
        return await _leased(service, lease, session.answer_read(effect.request))
    lease.until = effect.at + service.settings.lease
    return await _leased(service, lease, session.answer(effect.request, lease.check))


async def _leased(service: Service, lease: _Lease, sending: Coroutine[Any, Any, Answer]) -> Answer:
    """Wait for an answer, renewing the lease while it takes its time."""
    task = asyncio.create_task(sending)
    while True:
        done, _ = await asyncio.wait((task,), timeout=min(RENEW_AFTER, service.settings.lease / 3000))
        if done:
            return task.result()
        if lease.fence is not None:
            await lease.renew()
