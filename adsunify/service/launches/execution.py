"""Executes change sets in the background: each member is an ordinary operation, with its own claim and receipts."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping

from attrs import define, field

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, StoreError
from adsunify.launches.states import ChangeSetStatus
from adsunify.service.core import Service
from adsunify.service.operations import execute_operation
from adsunify.store import change_set_runs, change_sets, operations
from adsunify.store.change_sets import ChangeSetRecord, Claim, MemberRecord
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

from .actors import load_actor
from .preparation import Slots, run_together

WRITES_PER_ACCOUNT = 5
WRITES_PER_NETWORK = 10
"""How many members of an account and of a network are executed at the same time."""
PAUSE_SECONDS = 0.5
MAX_PAUSE_SECONDS = 10.0
"""The wait before an operation is continued, if the network names no wait. It doubles while nothing is applied."""
STALL_LEASES = 3
"""How long an operation with a write in flight is waited for after its last change, in leases.

A process that paused for longer than its lease stores its receipt when it continues. Then the operation can be
continued.
"""
OVER_CODES = ("outcome_unknown", "operation_stalled", "operation_expired", "operation_cancelled", "already_resumed")
"""The codes of operations that are over. Their status says how they ended."""
AGAIN_CODES = ("guardrail_changed",)
"""The codes of refusals after which the same call may succeed."""
STOP_CODES = ("credential_frozen",)
"""The codes of refusals that concern all members. They stay prepared."""
ACCESS_LOST = "access_lost"
ACCESS_LOST_ERROR: Mapping[str, Json] = {
    "code": ACCESS_LOST,
    "message": "The credential that executed the change set no longer permits native writes.",
}


async def execute_members(service: Service, claim: Claim, record: ChangeSetRecord) -> None:
    """Execute the members that are not over, and end the execution.

    It ends ``finished``. If the credential lost its authority, or a person must approve a member, the rest stays
    prepared and the change set is ``prepared`` again.

    Raises:
        LeaseLost: another process works on it, or it was cancelled.
        StoreError: the database failed.
    """
    store = service.store
    members = await store.read(change_sets.list_members, record.id)
    run = _Run(service, claim, record)
    due = {
        member.operation_id: member for member in members if member.operation_id is not None and member.error is None
    }
    remaining_ids = [*due]
    while True:
        await run_together([run.execute(due[id_]) for id_ in remaining_ids])
        if service.is_stopping:
            return  # another process carries on after the lease expires
        records = (await store.read(operations.list_operations_by_id, [*due], store.clock, has_plans=False)).values()
        remaining_ids = [
            operation.id for operation in records if _has_rest(operation) and operation.id not in run.refused_ids
        ]
        if run.error is not None or not (remaining_ids or any(_may_go_on(service, operation) for operation in records)):
            break
        await asyncio.sleep(PAUSE_SECONDS)
    status: ChangeSetStatus = "prepared" if remaining_ids and run.error is not None else "finished"
    error = run.error if status == "prepared" else None
    await store.write(change_set_runs.end_execution, claim, status, store.clock, error)


def _has_rest(record: OperationRecord) -> bool:
    """Whether an operation can be executed. An operation that another one resumes cannot."""
    return record.status == "prepared" and not record.is_expired and record.resumed_by is None


def _may_go_on(service: Service, record: OperationRecord) -> bool:
    """Whether the process that lost the lease of an operation may still run and store its receipt."""
    return record.is_stalled and service.store.clock.now() < record.updated_at + STALL_LEASES * service.settings.lease


@define(eq=False)
class _Run:
    """One execution of a change set in this process. ``error``: why members stay prepared."""

    service: Service
    claim: Claim
    record: ChangeSetRecord
    slots: Slots = field(factory=lambda: Slots(WRITES_PER_ACCOUNT, WRITES_PER_NETWORK))
    refused_ids: set[str] = field(factory=set)
    error: Mapping[str, Json] | None = None
    is_stopped: bool = False

    async def execute(self, member: MemberRecord) -> None:
        """Execute a member until it is over, refused, or the run stops."""
        async with self.slots.accounts[member.account_id], self.slots.networks[member.network]:
            pause, applied = PAUSE_SECONDS, -1
            while not (self.is_stopped or self.service.is_stopping):
                operation = await self._execute_once(member)
                if operation is None:
                    return
                applied_before, applied = applied, _count_applied(operation)
                pause = PAUSE_SECONDS if applied != applied_before else min(pause * 2, MAX_PAUSE_SECONDS)
                wait = operation.get("retryAfterMs")
                is_moving = wait is None and applied > applied_before >= 0
                await asyncio.sleep(0 if is_moving else pause if wait is None else wait / 1000)

    async def _execute_once(self, member: MemberRecord) -> Mapping[str, Json] | None:
        """Call execute once. Returns the operation if it is to be continued; None if the member is over or refused."""
        service, operation_id = self.service, str(member.operation_id)
        actor = await self._load_actor()
        if actor is None:
            self._stop(ACCESS_LOST_ERROR)
            return None
        try:
            operation = await execute_operation(service, actor, operation_id=operation_id, confirmed=True)
        except StoreError:
            return {}  # the caller reads the operation again, which shows whether anything was sent
        except AdsunifyError as problem:
            error = {"code": problem.code, "message": problem.message}
            if problem.code in OVER_CODES:
                return None
            if problem.code in AGAIN_CODES:
                return problem.operation_data or {}
            if problem.code in STOP_CODES or (problem.code == ACCESS_LOST and await self._load_actor() is None):
                self._stop(error)
                return None
            if problem.code == "approval_required":
                self.error = error
                return None
            self.refused_ids.add(operation_id)
            await service.store.write(change_set_runs.save_error, self.claim, member.n, error)
            return None
        return None if operation["status"] == "succeeded" else operation

    async def _load_actor(self) -> Actor | None:
        store = self.service.store
        return await store.read(load_actor, self.record.workspace_id, self.record.actor, store.clock)

    def _stop(self, error: Mapping[str, Json]) -> None:
        self.error, self.is_stopped = error, True


def _count_applied(operation: Mapping[str, Json]) -> int:
    return sum(step["state"] == "applied" for step in operation.get("receipt", {}).get("steps", ()))
