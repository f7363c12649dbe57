"""Operations: read, execute, cancel."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence, Set
from datetime import datetime
from functools import cached_property
from typing import NoReturn

from attrs import define, evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import (
    AdsunifyError,
    Conflict,
    Forbidden,
    InvalidInput,
    Issue,
    NativeErrorDetails,
    NotFound,
    OperationError,
    PlanStale,
    ProviderError,
    StoreError,
)
from adsunify.execution.executor import ExecutionResult
from adsunify.plans.records import Plan
from adsunify.problem_details import to_problem_details
from adsunify.review.completion import attach_operation
from adsunify.store import attempts, cancellation, chains, connections, operations, people
from adsunify.store.attempts import StepAttempt
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

from . import execution, serializers
from .authentication import note_operation
from .core import Service
from .stale_plans import require_planned_values

LOOK_BACK = 300
"""How many of an actor's latest operations :func:`find_creators` reads."""


@define(eq=False, slots=False)
class OperationView:
    """An operation as responses show it (``data``), with its whole plan."""

    data: Mapping[str, Json]
    _record: OperationRecord

    @cached_property
    def plan(self) -> Plan:
        """The whole plan (``data`` shows a part of it), or its outline if its body was removed after its retention."""
        return self._record.read_outline()


async def get_operation(service: Service, actor: Actor, *, operation_id: str) -> Json:
    """Return one operation with its plan and saved receipt."""
    record, step_attempts = await read_operation(service, actor, operation_id)
    note_operation(record.id)
    return serializers.operation_to_json(service, record, step_attempts)


async def execute_operation(
    service: Service, actor: Actor, *, operation_id: str, confirmed: bool, allow_stale: bool = False
) -> Json:
    """Write the prepared change. Executing a succeeded operation again returns its saved receipt.

    Where the response has ``nextAction: execute``, call again after ``retryAfterMs``. A 400 says whether anything was
    written; ``outcome: unknown`` is never permission to repeat the change. Where the workspace or a guardrail requires
    approval, only a person who is signed in can execute the operation, at ``reviewUrl``; other calls get 403
    ``approval_required``. Guardrails are checked again: 403 ``guardrail_exceeded`` says what would fit. Where a value
    that the plan depends on has changed at the network, 400 ``plan_stale`` lists it. ``allowStale`` compares nothing.
    """
    try:
        return await _execute_operation(service, actor, operation_id, allow_stale)
    except StoreError as failure:
        failure.outcome = "unknown"  # a call may have sent a write, so the caller must read the operation
        raise


async def _execute_operation(service: Service, actor: Actor, operation_id: str, allow_stale: bool) -> Json:
    record, step_attempts = await read_operation(service, actor, operation_id)
    note_operation(record.id)
    if record.resumed_by is not None and record.status != "succeeded":
        await _raise_resumed(service, record, step_attempts)
    is_open = record.status == "prepared" and not record.is_expired
    if is_open and await _is_stopped_by_rule(service, actor, operation_id):
        raise _approval_required_error(service, record, step_attempts)
    if is_open and record.retry_after is None:
        try:
            is_first_write = not any(attempt.may_be_applied for attempt in step_attempts)
            if is_first_write and not allow_stale:
                await require_planned_values(service, actor, record)
            result = await execution.run_execution(
                service, actor, operation_id, allows_stale=is_first_write and allow_stale
            )
        except (NotFound, StoreError):
            raise
        except ProviderError as problem:  # the account's token could not be refreshed
            token_error = OperationError(
                problem.message, code=problem.code, native=problem.native, retry_after=problem.retry_after
            )
            raise attach_operation(
                token_error, await get_operation(service, actor, operation_id=operation_id)
            ) from problem
        except AdsunifyError as problem:  # no credentials, no OAuth client, a stale plan, or a refusal by a guardrail
            operation = await get_operation(service, actor, operation_id=operation_id)
            has_advice = isinstance(problem, PlanStale | Forbidden)
            attach_operation(problem, operation, advise=not has_advice)
            raise
        record, step_attempts = await read_operation(service, actor, operation_id)
        record = _with_ending(record, result)
        if result.refusal == "access":
            raise await _access_lost_error(service, actor, record, step_attempts)
        if result.refusal == "clock":
            clock_error = OperationError(str((result.error or {})["message"]), code="clock_ahead")
            raise attach_operation(
                clock_error, serializers.operation_to_json(service, record, step_attempts), advise=False
            )
        if result.refusal == "resumed":
            await _raise_resumed(service, record, step_attempts)
        if result.refusal == "outcome_changed":
            changed = OperationError(chains.OUTCOME_CHANGED_MESSAGE, code="outcome_changed")
            raise attach_operation(changed, serializers.operation_to_json(service, record, step_attempts), advise=False)
        if result.refusal == "approval":
            raise _approval_required_error(service, record, step_attempts)
    return _raise_if_stopped(serializers.operation_to_json(service, record, step_attempts))


async def _raise_resumed(service: Service, record: OperationRecord, step_attempts: Sequence[StepAttempt]) -> NoReturn:
    last = await service.store.read(chains.find_last_of_chain, record.chain_id)
    operation = serializers.operation_to_json(service, record, step_attempts)
    raise attach_operation(chains.make_resumed_error(last), operation, advise=False)


async def _is_stopped_by_rule(service: Service, actor: Actor, operation_id: str) -> bool:
    """Whether the workspace requires a person's approval.

    It is checked before any request; each write checks it again.
    """
    if actor.can_approve or not (await service.store.read(people.get_workspace, actor.workspace_id)).require_approval:
        return False
    await service.store.write(
        operations.record_rule_event, operation_id, service.store.clock, operations.APPROVAL_FACTS
    )
    return True


def _approval_required_error(
    service: Service, record: OperationRecord, step_attempts: Sequence[StepAttempt]
) -> Forbidden:
    operation = serializers.operation_to_json(service, record, step_attempts)
    problem = Forbidden(
        "In this workspace a person must approve operations: sign in, read the plan and execute it at "
        f"{operation['reviewUrl']}. Calling again does not change that.",
        code="approval_required",
    )
    return attach_operation(problem, operation, advise=False)


ACCESS_LOST_MESSAGES: Mapping[str, str] = {
    "active": "The credential or its owner's role no longer permits native writes.",
    "needs_reauth": "The network refuses the account's token. Connect the account again.",
    "disconnected": "The account is disconnected. Connect it again.",
}
"""Why a native write is no longer permitted, by the status of the account."""


async def _access_lost_error(
    service: Service, actor: Actor, record: OperationRecord, step_attempts: Sequence[StepAttempt]
) -> Forbidden:
    account = await service.store.run_query(connections.find_account(actor, record.account_id))
    problem = Forbidden(ACCESS_LOST_MESSAGES[account.status], code="access_lost")
    return attach_operation(problem, serializers.operation_to_json(service, record, step_attempts))


def _with_ending(record: OperationRecord, result: ExecutionResult) -> OperationRecord:
    """Add the error of an execution that stopped before its claim. The store has no trace of this execution."""
    if record.status != "prepared" or result.status != "prepared" or result.refusal is not None:
        return record
    wait = result.retry_after if record.retry_after is None else record.retry_after
    return evolve(record, next_action=result.has_next_action, retry_after=wait, error=result.error)


async def execute_operations(
    service: Service, actor: Actor, *, operation_ids: Sequence[str], confirmed: bool, allow_stale: bool = False
) -> dict[str, Json]:
    """Write several prepared changes at once. Each has its own result; a failure does not stop the others.

    ``allowStale`` applies to all of them.
    """
    repeated = [index for index, id_ in enumerate(operation_ids) if id_ in operation_ids[:index]]
    if repeated:
        raise InvalidInput(
            [Issue(f"operationIds.{index}", "duplicate", "appears in the list before.") for index in repeated]
        )
    return {"results": await asyncio.gather(*(_execute_one(service, actor, id_, allow_stale) for id_ in operation_ids))}


async def _execute_one(service: Service, actor: Actor, operation_id: str, allow_stale: bool) -> dict[str, Json]:
    try:
        operation = await execute_operation(
            service, actor, operation_id=operation_id, confirmed=True, allow_stale=allow_stale
        )
    except AdsunifyError as problem:
        return {"operationId": operation_id, "error": to_problem_details(problem)}
    return {"operationId": operation_id, "status": operation["status"], "operation": operation}


async def cancel_operation(service: Service, actor: Actor, *, operation_id: str) -> Json:
    """Cancel your prepared operation. Receipts of applied steps stay."""
    try:
        await service.store.write(cancellation.cancel_operation, actor, operation_id, service.store.clock)
    except (Conflict, Forbidden, OperationError) as problem:
        attach_operation(problem, await get_operation(service, actor, operation_id=operation_id))
        raise
    return await get_operation(service, actor, operation_id=operation_id)


# -- reading ------------------------------------------------------------------------------------------------------


async def read_operation(
    service: Service, actor: Actor, operation_id: str
) -> tuple[OperationRecord, list[StepAttempt]]:
    """Read an operation in the actor's scope and its attempts. Raises NotFound."""
    record = await service.store.run_query(operations.find_operation(actor, operation_id, service.store.clock))
    return record, await service.store.read(attempts.list_attempts, operation_id) if record.is_claimed else []


async def read_operations(
    service: Service, actor: Actor, operation_ids: Sequence[str]
) -> list[tuple[OperationRecord, list[StepAttempt]]]:
    """Read several operations, as :func:`read_operation`."""
    return await service.store.read(_read_operations, actor, operation_ids, service.store.clock)


async def read_operation_views(
    service: Service, actor: Actor, operation_ids: Iterable[str]
) -> dict[str, OperationView]:
    """Return operations of the actor's scope with their plans, by id. Raises NotFound."""
    return {
        record.id: OperationView(serializers.operation_to_json(service, record, step_attempts), record)
        for record, step_attempts in await read_operations(service, actor, list(operation_ids))
    }


async def find_creators(service: Service, actor: Actor, entity_ids: Set[str]) -> list[str]:
    """Return the ids of those create operations whose receipts name one of these native ids.

    Only the actor's latest :data:`LOOK_BACK` operations are read.
    """
    return await service.store.read(_find_creators, actor, service.store.clock, entity_ids)


def _find_creators(connection: Connection, actor: Actor, clock: Clock, entity_ids: Set[str]) -> list[str]:
    creations = [
        record
        for record in operations.list_operations(connection, actor, clock, LOOK_BACK)
        if record.action == "create" and record.is_claimed
    ]
    step_attempts = attempts.list_attempts_by_operation(connection, [record.id for record in creations])
    return [
        record.id
        for record in creations
        if any(_list_receipt_ids(attempt) & entity_ids for attempt in step_attempts.get(record.id, ()))
    ]


def _list_receipt_ids(attempt: StepAttempt) -> set[str]:
    """Return the native ids in an attempt's receipt. If an id is a path, its last part is included as well."""
    outputs = {} if attempt.receipt is None else attempt.receipt.outputs
    ids = [id_ for value in outputs.values() for id_ in ([value] if isinstance(value, str) else value)]
    return {*ids, *(id_.rpartition("/")[2] for id_ in ids)}


def count_seconds_to_expiry(service: Service, operation: Mapping[str, Json]) -> int:
    """Return the whole seconds until an operation expires; 0 where it has expired."""
    expires_at = int(datetime.fromisoformat(operation["expiresAt"]).timestamp())
    return max(0, expires_at - service.store.clock.now() // 1000)


def _read_operations(
    connection: Connection, actor: Actor, operation_ids: Sequence[str], clock: Clock
) -> list[tuple[OperationRecord, list[StepAttempt]]]:
    return [_read_operation(connection, actor, operation_id, clock) for operation_id in operation_ids]


def _read_operation(
    connection: Connection, actor: Actor, operation_id: str, clock: Clock
) -> tuple[OperationRecord, list[StepAttempt]]:
    record = operations.get_operation(connection, actor, operation_id, clock)
    return record, attempts.list_attempts(connection, operation_id) if record.is_claimed else []


def _raise_if_stopped(operation: Json) -> Json:
    """Return the operation after an execute call, or raise the error of the state in which it stopped."""
    error = operation.get("error")
    if operation["stalled"]:
        message = "The process ended during a native write, so it is not known whether the write was done."
        raise _stopped_error(operation, "operation_stalled", message)
    if operation["status"] == "unknown":
        raise _stopped_error(operation, "outcome_unknown", _error_message(error), error)
    if operation["status"] == "cancelled":
        raise _stopped_error(operation, "operation_cancelled", "The operation was cancelled.")
    if operation["expired"]:
        raise _stopped_error(
            operation,
            "operation_expired",
            "The operation expired: the 30 minutes for review and execution have passed.",
        )
    if operation["status"] == "prepared" and "nextAction" not in operation and error is not None:
        raise _stopped_error(operation, error["code"], _error_message(error), error)
    return operation


def _error_message(error: Mapping[str, Json] | None) -> str:
    return str((error or {}).get("message") or "The execution stopped.")


def _stopped_error(operation: Json, code: str, message: str, error: Mapping[str, Json] | None = None) -> OperationError:
    native = None if error is None or error.get("network") is None else NativeErrorDetails.from_json(error["network"])
    return attach_operation(OperationError(message, code=code, native=native), operation)
