"""Operations: list, look, execute, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import (
    AdsunifyError,
    Forbidden,
    InvalidInput,
    Issue,
    NativeError,
    NotFound,
    OperationError,
    ProviderError,
    StoreError,
)
from adsunify.execution.executor import Ending
from adsunify.problem_details import described
from adsunify.review.completion import attach_operation
from adsunify.store import attempts, connections, operations, people
from adsunify.store.attempts import Attempt
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

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
    try:
        return await _execute(service, actor, operation_id)
    except StoreError as failure:
        failure.outcome = "unknown"  # a write may have been sent, now or before: the operation must be read
        raise


async def _execute(service: Service, actor: Actor, operation_id: str) -> Json:
    record, tried = await read(service, actor, operation_id)
    open_ = record.status == "prepared" and not record.expired
    if open_ and await _stopped_by_rule(service, actor, operation_id):
        raise _approval_required(service, record, tried)
    if open_ and record.retry_after is None:
        try:
            ending = await execution.run(service, actor, operation_id)
        except (NotFound, StoreError):
            raise
        except ProviderError as problem:  # the account's token could not be refreshed
            stopped = OperationError(
                problem.message, code=problem.code, native=problem.native, retry_after=problem.retry_after
            )
            raise attach_operation(stopped, await get(service, actor, operation_id=operation_id)) from problem
        except AdsunifyError as problem:  # no credentials, or no application
            attach_operation(problem, await get(service, actor, operation_id=operation_id))
            raise
        record, tried = await read(service, actor, operation_id)
        record = _ended(record, ending)
        if ending.refused == "access":
            raise await _access_lost(service, record, tried)
        if ending.refused == "clock":
            ahead = OperationError(str((ending.error or {})["message"]), code="clock_ahead")
            raise attach_operation(ahead, shapes.operation(service, record, tried), advise=False)
        if ending.refused == "approval":
            raise _approval_required(service, record, tried)
    return _told(shapes.operation(service, record, tried))


async def _stopped_by_rule(service: Service, actor: Actor, operation_id: str) -> bool:
    """Whether the workspace wants a person here, before anything is asked of the network. Each write checks again."""
    if actor.approves or not (await service.store.read(people.workspace, actor.workspace_id)).require_approval:
        return False
    await service.store.write(operations.stopped_by_rule, operation_id, service.store.clock)
    return True


def _approval_required(service: Service, record: OperationRecord, tried: Sequence[Attempt]) -> Forbidden:
    shown = shapes.operation(service, record, tried)
    problem = Forbidden(
        "In this workspace a person must approve: one who signs in reads the plan and executes it at "
        f"{shown['reviewUrl']}. This call was stopped by that rule; calling again does not change it.",
        code="approval_required",
    )
    return attach_operation(problem, shown, advise=False)


ACCESS_LOST: Mapping[str, str] = {
    "active": "The credential or its owner's role no longer permits native writes.",
    "needs_reauth": "The network refuses the account's token: connect the account again.",
    "disconnected": "The account is disconnected: connect it again.",
}
"""Why a native write is not permitted any more, by the status of the account."""


async def _access_lost(service: Service, record: OperationRecord, tried: Sequence[Attempt]) -> Forbidden:
    account = await service.store.ask(connections.find_account(record.workspace_id, record.account_id))
    problem = Forbidden(ACCESS_LOST[account.status], code="access_lost")
    return attach_operation(problem, shapes.operation(service, record, tried))


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
    except (Forbidden, OperationError) as problem:
        attach_operation(problem, await get(service, actor, operation_id=operation_id))
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


def _told(shown: Json) -> Json:
    """The operation after an execute call, or the error that its state is."""
    error = shown.get("error")
    if shown["stalled"]:
        message = "The process ended during a native write, so nobody knows whether it was done."
        raise _stopped(shown, "operation_stalled", message)
    if shown["status"] == "unknown":
        raise _stopped(shown, "outcome_unknown", _message(error), error)
    if shown["status"] == "cancelled":
        raise _stopped(shown, "operation_cancelled", "The operation was cancelled.")
    if shown["expired"]:
        raise _stopped(shown, "operation_expired", "The 30 minutes for review and execution are over.")
    if shown["status"] == "prepared" and "nextAction" not in shown and error is not None:
        raise _stopped(shown, error["code"], _message(error), error)
    return shown


def _message(error: Mapping[str, Json] | None) -> str:
    return str((error or {}).get("message") or "The execution stopped.")


def _stopped(shown: Json, code: str, message: str, error: Mapping[str, Json] | None = None) -> OperationError:
    native = None if error is None or error.get("network") is None else NativeError.from_json(error["network"])
    return attach_operation(OperationError(message, code=code, native=native), shown)
