"""Operations: list, look, execute, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, Forbidden, InvalidInput, Issue, NativeError, OperationError, StoreError
from adsunify.executor import Ending
from adsunify.problems import described
from adsunify.store import attempts, operations, people
from adsunify.store.attempts import Attempt
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord
from adsunify.wire import Json

from . import execution, shapes
from .core import Service


async def latest(service: Service, actor: Actor) -> list[Json]:
    """The latest 50 operations in the actor's scope, newest first, without plan bodies."""
    found = await service.store.read(_latest, actor, service.store.clock)
    return [shapes.operation(service, record, tried) for record, tried in found]


async def get(service: Service, actor: Actor, *, operation_id: str) -> Json:
    """One operation with its plan and saved receipt."""
    return shapes.operation(service, *await read(service, actor, operation_id))


async def execute(service: Service, actor: Actor, *, operation_id: str, confirmed: bool) -> Json:
    """Write the prepared change. A replay of a successful run returns the saved receipt.

    Where the answer says ``nextAction: execute``, call again after ``retryAfterMs``. A 400 says whether anything was
    written; ``outcome: unknown`` is never permission to repeat it. Where the workspace asks for a person's approval,
    only one who signed in executes, at ``reviewUrl``; everybody else is answered 403 ``approval_required``.
    """
    record, tried = await read(service, actor, operation_id)
    open_ = record.status == "prepared" and not record.expired
    if open_ and await _stopped_by_rule(service, actor, operation_id):
        raise _approval_required(service, record, tried)
    if open_ and record.retry_after is None:
        try:
            ending = await execution.run(service, actor, operation_id)
        except StoreError as failure:
            failure.outcome = "unknown"  # a write may have been sent: the operation must be read
            raise
        record, tried = await read(service, actor, operation_id)
        record = _ended(record, ending)
        if ending.refused == "access":
            raise Forbidden(
                "The credential, its owner's role or the account no longer permits native writes.",
                code="access_lost",
                operation=shapes.operation(service, record, tried),
            )
        if ending.refused == "approval":
            raise _approval_required(service, record, tried)
    return _told(service, record, tried)


async def _stopped_by_rule(service: Service, actor: Actor, operation_id: str) -> bool:
    """Whether the workspace wants a person here, before anything is asked of the network. Each write checks again."""
    if actor.approves or not (await service.store.read(people.workspace, actor.workspace_id)).require_approval:
        return False
    await service.store.write(operations.stopped_by_rule, operation_id, service.store.clock)
    return True


def _approval_required(service: Service, record: OperationRecord, tried: Sequence[Attempt]) -> Forbidden:
    shown = shapes.operation(service, record, tried)
    return Forbidden(
        "In this workspace a person must approve: one who signs in reads the plan and executes it at "
        f"{shown['reviewUrl']}. This call was stopped by that rule; calling again does not change it.",
        code="approval_required",
        operation=shown,
    )


def _ended(record: OperationRecord, ending: Ending) -> OperationRecord:
    """The record with what an execution that stopped before its claim, and so stored nothing, has to say."""
    if record.status != "prepared" or ending.status != "prepared" or ending.refused is not None:
        return record
    wait = ending.retry_after if record.retry_after is None else record.retry_after
    return evolve(record, next_action=ending.next_action, retry_after=wait, error=ending.error)


async def execute_many(
    service: Service, actor: Actor, *, operation_ids: Sequence[str], confirmed: bool
) -> dict[str, Json]:
    """Write several prepared changes at once; each has its own result, and one that fails does not stop the others."""
    repeated = [index for index, one in enumerate(operation_ids) if one in operation_ids[:index]]
    if repeated:
        raise InvalidInput(
            [Issue(f"operationIds.{index}", "duplicate", "stands in the list already.") for index in repeated]
        )
    return {"results": await asyncio.gather(*(_one(service, actor, one) for one in operation_ids))}


async def _one(service: Service, actor: Actor, operation_id: str) -> dict[str, Json]:
    try:
        found = await execute(service, actor, operation_id=operation_id, confirmed=True)
    except AdsunifyError as problem:
        return {"operationId": operation_id, "error": described(problem)}
    return {"operationId": operation_id, "status": found["status"], "operation": found}


async def cancel(service: Service, actor: Actor, *, operation_id: str) -> Json:
    """Cancel your own prepared operation; the receipts of what was written before stay."""
    try:
        await service.store.write(operations.cancel, actor, operation_id, service.store.clock)
    except OperationError as problem:
        problem.operation = await get(service, actor, operation_id=operation_id)
        raise
    return await get(service, actor, operation_id=operation_id)


# -- reading ------------------------------------------------------------------------------------------------------


async def read(service: Service, actor: Actor, operation_id: str) -> tuple[OperationRecord, list[Attempt]]:
    """An operation in the actor's scope and its attempts; raises NotFound."""
    record = await service.store.ask(operations.find(actor, operation_id, service.store.clock))
    return record, await service.store.read(attempts.attempts, operation_id) if record.claimed else []


async def read_all(
    service: Service, actor: Actor, operation_ids: Sequence[str]
) -> list[tuple[OperationRecord, list[Attempt]]]:
    """Several operations, as :func:`read`."""
    return await service.store.read(_read_all, actor, operation_ids, service.store.clock)


def _read_all(
    connection: Connection, actor: Actor, operation_ids: Sequence[str], clock: Clock
) -> list[tuple[OperationRecord, list[Attempt]]]:
    return [_read(connection, actor, one, clock) for one in operation_ids]


def _read(
    connection: Connection, actor: Actor, operation_id: str, clock: Clock
) -> tuple[OperationRecord, list[Attempt]]:
    record = operations.get(connection, actor, operation_id, clock)
    return record, attempts.attempts(connection, operation_id) if record.claimed else []


def _latest(connection: Connection, actor: Actor, clock: Clock) -> list[tuple[OperationRecord, list[Attempt]]]:
    records = operations.latest(connection, actor, clock)
    tried = attempts.attempts_of(connection, [record.id for record in records if record.claimed])
    return [(record, tried.get(record.id, [])) for record in records]


def _told(service: Service, record: OperationRecord, tried: Sequence[Attempt]) -> Json:
    """The operation after an execute call, or the error that its state is."""
    shown = shapes.operation(service, record, tried)
    if record.stalled:
        raise OperationError(
            "The process ended during a native write, so nobody knows whether it was done. Nothing is sent again; "
            "look at the account and the saved receipt.",
            code="operation_stalled",
            operation=shown,
            outcome="unknown",
        )
    if record.status == "unknown":
        raise _stopped(record, shown, "outcome_unknown", "unknown")
    if record.status == "cancelled":
        raise OperationError("The operation was cancelled.", code="operation_cancelled", operation=shown)
    if record.expired:
        raise OperationError(
            "The 30 minutes for review and execution are over; prepare the change again.",
            code="operation_expired",
            operation=shown,
        )
    if record.status == "prepared" and not record.next_action and record.error is not None:
        raise _stopped(record, shown, str(record.error["code"]), "not_applied")
    return shown


def _stopped(record: OperationRecord, shown: Json, code: str, outcome: str) -> OperationError:
    error = record.error or {}
    native = error.get("network")
    return OperationError(
        str(error.get("message") or "The execution stopped."),
        code=code,
        operation=shown,
        native=None if native is None else NativeError.from_json(native),
        outcome="unknown" if outcome == "unknown" else "not_applied",
    )
