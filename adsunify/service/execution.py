"""Drives executions: performs the effects that the sans-I/O executor yields.

An execution is a task of the service, so a caller that hangs up does not stop a write in flight.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Sequence
from functools import partial
from typing import Any

from attrs import evolve, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.network import Network
from adsunify.errors import Conflict, Forbidden, InvalidInput, OperationError, RequestNotSent, StoreError
from adsunify.execution.executor import (
    RESPONSE_READ_ERRORS,
    Commit,
    Effect,
    EffectResult,
    ExecutionResult,
    RenewToken,
    SendRead,
    SendWrite,
    execute_plan,
    list_kill_points,
)
from adsunify.execution.state import (
    CommitResult,
    CreatedId,
    ExecutionProgress,
    ObservedStatus,
    Receipt,
    StateCommit,
    WindowBreach,
    read_progress,
)
from adsunify.execution.status_updates import find_created_ids, read_receipt_statuses
from adsunify.guardrails.windows import SpendBinding
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Plan
from adsunify.store import attempts, connections, guardrails, operations
from adsunify.store.clock import Clock
from adsunify.store.connections import AccountRecord
from adsunify.store.operations import OperationRecord
from adsunify.store.state_commits import commit_state
from adsunify.telemetry.tracing import OPERATION_ID, STEP_KEY

from .authentication import note_operation
from .core import Service
from .counters import ExecutionOutcome
from .network_session import NetworkSession
from .rule_checks import bind_spend, get_workspace_rules, make_window_refusal

DISCONNECTED_CODE = "account_disconnected"
RENEW_SECONDS = 10.0
"""The period, in seconds, after which the lease is renewed while a step lasts."""
MAX_CONCURRENT_EXECUTIONS = 50
"""The maximum number of executions of a workspace at a time: one whole batch.

Further executions wait before their claim. Thousands at the same time would delay other callers and not finish sooner.
"""
EVALUATION_REFUSALS = ("rules_changed", "frozen")
"""The refusals of a claim after which the operation is evaluated again."""
MAX_EVALUATIONS = 20
"""How often an execution is evaluated again because the guardrails changed before its claim."""
EVIDENCE_TRIES = 60
EVIDENCE_PAUSE_SECONDS = 1.0
"""How often a commit that holds a receipt is tried, and the seconds between the tries.

A receipt must not be lost.
"""


@frozen
class LoadedOperation:
    """An operation with everything that its execution needs.

    PostgreSQL may read the parts at different moments; the store refuses a claim whose attempt already exists.
    """

    record: OperationRecord
    account: AccountRecord
    progress: ExecutionProgress
    rules_version: int


def load_operation(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> LoadedOperation:
    """Read an operation in the actor's scope; raises NotFound."""
    record = operations.get_operation(connection, actor, operation_id, clock)
    receipts, open_steps = attempts.list_receipts(connection, operation_id) if record.is_claimed else ([], [])
    account = connections.get_account(connection, actor, record.account_id)
    version = guardrails.find_rules_version(actor.workspace_id).run(connection)
    return LoadedOperation(record, account, read_progress(receipts, open_steps), version)


async def run_execution(
    service: Service, actor: Actor, operation_id: str, *, allows_stale: bool = False
) -> ExecutionResult:
    """Execute what remains of an operation, within the limits of one call, and return how it ended.

    ``allows_stale``: the values that the plan depends on were not compared, so an exposure that counts them is unknown.

    Raises NotFound; StoreError where the database failed (then the outcome is not known: read the operation);
    GuardrailRefused and Forbidden where guardrails refuse the execution, before anything is sent.
    """
    return await service.run_uncancellable(_run_counted(service, actor, operation_id, allows_stale))


async def _run_counted(service: Service, actor: Actor, operation_id: str, allows_stale: bool) -> ExecutionResult:
    counters = service.counters
    async with service.execution_slots.setdefault(actor.workspace_id, asyncio.Semaphore(MAX_CONCURRENT_EXECUTIONS)):
        loaded = await service.store.read(load_operation, actor, operation_id, service.store.clock)
        note_operation(operation_id)
        OPERATION_ID.set(operation_id)
        outcome: ExecutionOutcome = "failed"
        counters.executions_in_flight += 1
        with service.tracer.start_span("execute operation") as span:
            try:
                result = await _drive_executor(service, actor, loaded, allows_stale)
                for _ in range(MAX_EVALUATIONS):
                    if result.refusal not in EVALUATION_REFUSALS:
                        break
                    loaded = await service.store.read(load_operation, actor, operation_id, service.store.clock)
                    result = await _drive_executor(service, actor, loaded, allows_stale)
                if result.refusal in EVALUATION_REFUSALS:
                    text = "The guardrails of the workspace keep changing. Call again."
                    raise Conflict(text, code="guardrail_changed")
                outcome = _execution_outcome(result)
            except (Conflict, Forbidden):  # raised by guardrails
                outcome = "refused"
                raise
            finally:
                counters.executions_in_flight -= 1
                counters.executions[loaded.account.network, outcome] += 1
                span.set_attributes(
                    {
                        "adsunify.operation_id": operation_id,
                        "adsunify.network": loaded.account.network,
                        "adsunify.outcome": outcome,
                    }
                )
    return result


def _execution_outcome(result: ExecutionResult) -> ExecutionOutcome:
    """Return the name of the outcome of a call for the counters."""
    if result.status == "succeeded" or result.status == "unknown":
        return result.status
    if result.refusal is not None or result.status is None:
        return "refused"
    return "handed_back" if result.has_next_action else "rejected"


async def _drive_executor(
    service: Service, actor: Actor, loaded: LoadedOperation, allows_stale: bool
) -> ExecutionResult:
    operation_id = loaded.record.id
    network, plan = get_adapter(loaded.account.network).network, loaded.record.read_plan()
    rules = await get_workspace_rules(service, actor.workspace_id, loaded.rules_version)
    counted = plan.with_unchecked_guards() if allows_stale else plan
    binding = await bind_spend(service, actor, rules, loaded.record, counted, loaded.account.currency)
    binding = evolve(binding, allows_stale=allows_stale)
    session = NetworkSession(service, loaded.account)
    try:
        await session.load_credentials()
    except InvalidInput as refusal:
        if refusal.issues[0].code != DISCONNECTED_CODE:
            raise
        raise OperationError("The account is disconnected; connect it again.", code=DISCONNECTED_CODE) from None
    clock, limits = service.store.clock, service.settings.limits
    until = clock.now() + limits.max_milliseconds
    execution = execute_plan(
        network,
        plan,
        loaded.progress,
        operation_id,
        limits=limits,
        stopping=lambda: service.is_stopping or clock.now() >= until,
    )
    read_facts = partial(_read_receipt_facts, network, plan)
    lease = _Lease(service, actor, operation_id, loaded.record.expires_at, binding, read_facts)
    try:
        effect = next(execution)
        while True:
            before, after = list_kill_points(effect)
            for point in before:
                service.kill_point_hook(point)
            answer = await _perform_effect(service, lease, session, effect)
            for point in after:
                service.kill_point_hook(point)
            effect = execution.send(answer)
    except StopIteration as ended:
        ending: ExecutionResult = ended.value
    finally:
        execution.close()
    if lease.breach is not None:
        raise make_window_refusal(actor, rules, lease.breach)
    return ending


class _Lease:
    """The claim of one execution: the fence that every commit carries, and the end of the lease.

    ``expires_at``: the end of the review time; ``lease_until``: the end of the lease; both in milliseconds.
    ``binding``: the spend that the claim binds; ``breach``: the window that had no room for it. ``read_facts``: reads
    the statuses and the created ids from a receipt.
    """

    def __init__(
        self,
        service: Service,
        actor: Actor,
        operation_id: str,
        expires_at: int,
        binding: SpendBinding,
        read_facts: Callable[[Receipt], tuple[Sequence[ObservedStatus], Sequence[CreatedId]]],
    ) -> None:
        self.service, self.actor, self.operation_id, self.read_facts = service, actor, operation_id, read_facts
        self.expires_at, self.binding = expires_at, binding
        self.breach: WindowBreach | None = None
        self.fence: int | None = None
        self.lease_until = 0

    async def commit(self, change: StateCommit) -> CommitResult:
        """Commit a change. A commit that holds a receipt is tried again for a minute."""
        service = self.service
        statuses, created = ((), ()) if change.receipt is None else self.read_facts(change.receipt)
        store, lease, binding = service.store, service.settings.lease, self.binding
        for attempt in range(EVIDENCE_TRIES):
            try:
                advanced = await store.write(
                    commit_state, change, self.actor, store.clock, lease, statuses, created, binding
                )
                break
            except StoreError:
                if change.receipt is None or attempt == EVIDENCE_TRIES - 1:
                    raise
                await asyncio.sleep(EVIDENCE_PAUSE_SECONDS)
        if advanced.refusal is None:
            self.fence = advanced.fence
        self.breach = advanced.breach
        return advanced

    def check_held(self) -> None:
        """Raise RequestNotSent if the lease or the review time is over. It is called right before a write is sent."""
        now = self.service.store.clock.now()
        if (
            not 0 < self.lease_until - now <= self.service.settings.lease
        ):  # more than a whole lease remains if the clock was corrected
            raise RequestNotSent("The lease of this execution ended before the request could go out.")
        if now >= self.expires_at:
            raise RequestNotSent("The review time ended before the request could go out.")

    async def renew(self) -> None:
        """Prolong the lease while a step lasts. A failure shows at the commit of the receipt."""
        try:
            advanced = await self.commit(StateCommit(self.operation_id, self.fence, is_renewal=True))
        except StoreError:
            return
        if advanced.refusal is None:
            self.lease_until = advanced.committed_at + self.service.settings.lease


def _read_receipt_facts(
    network: Network, plan: Plan, receipt: Receipt
) -> tuple[Sequence[ObservedStatus], Sequence[CreatedId]]:
    """Return the statuses and the created ids that a receipt shows.

    If the response cannot be read, there are no statuses, because the receipt must be stored in any case.
    """
    step = plan.steps[receipt.step_index]
    created = find_created_ids(network, step, receipt)
    try:
        return read_receipt_statuses(network, step, receipt), created
    except RESPONSE_READ_ERRORS:
        return (), created


async def _perform_effect(service: Service, lease: _Lease, session: NetworkSession, effect: Effect) -> EffectResult:
    STEP_KEY.set(effect.key if isinstance(effect, SendWrite) else None)
    if isinstance(effect, Commit):
        return await lease.commit(effect.state_commit)
    if isinstance(effect, RenewToken):
        return await _await_with_lease(service, lease, session.renew_token(effect.is_second_refusal))
    if isinstance(effect, SendRead):
        return await _await_with_lease(service, lease, session.send_execution_read(effect.request))
    lease.lease_until = effect.committed_at + service.settings.lease
    return await _await_with_lease(service, lease, session.send_write(effect.request, lease.check_held))


async def _await_with_lease(
    service: Service, lease: _Lease, sending: Coroutine[Any, Any, EffectResult]
) -> EffectResult:
    """Wait for a response and renew the lease in the meantime."""
    task = asyncio.create_task(sending)
    while True:
        done, _ = await asyncio.wait((task,), timeout=min(RENEW_SECONDS, service.settings.lease / 3000))
        if done:
            return task.result()
        if lease.fence is not None:
            await lease.renew()
