"""Prepares, executes and inspects the operations of a proof, and turns receipts into findings and cases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Sequence

from attrs import evolve, frozen

from adsunify.errors import AdsunifyError, GuardrailRefused, InvalidInput, OperationError
from adsunify.execution.state import Receipt
from adsunify.execution.status_updates import find_created_ids
from adsunify.outcomes.chains import make_receipt
from adsunify.outcomes.planned import list_planned_entities
from adsunify.plans.records import ENTITY_KINDS, Plan, Step
from adsunify.service import preparation, serializers
from adsunify.service.core import UseCaseResult
from adsunify.service.operations import execute_operation, read_operation
from adsunify.service.outcomes.inspection import Inspection, run_inspection
from adsunify.store.attempts import StepAttempt
from adsunify.values.exact_json import Json

from .proof import CreatedEntity, Proof, describe_problem
from .transport import Exchange

MAX_CONTINUATIONS = 60
MAX_WAIT_SECONDS = 30.0
UNREAD_WORDS = ("does not exist", "could not be read")
"""What an inspection says of an entity that it could not compare."""


@frozen
class Execution:
    """An operation of the proof that was executed: its id, status, plan, attempts, and the error of the last call."""

    id: str
    status: str
    plan: Plan
    attempts: Sequence[StepAttempt]
    error: str

    @property
    def receipts(self) -> list[Receipt]:
        """The receipts, in the order of the attempts."""
        return [attempt.receipt for attempt in self.attempts if attempt.receipt is not None]


async def prepare(proof: Proof, fact: str, preparing: Awaitable[UseCaseResult]) -> str | None:
    """Prepare an operation and return its id; None if it was refused, which is a finding."""
    try:
        return str((await preparing).data["id"])
    except GuardrailRefused as problem:
        proof.report.refusals.append(f"{fact}: {problem.message}")
    except InvalidInput as problem:
        proof.report.skip(fact, f"It cannot be planned: {describe_problem(problem)}")
    except AdsunifyError as problem:
        proof.report.contradict(fact, "a plan", None, describe_problem(problem))
    return None


async def prepare_plan(proof: Proof, fact: str, plan: Plan) -> str | None:
    """Prepare an operation of a plan, as :func:`prepare` does."""
    saving = preparation.save_operations(proof.service, proof.actor, proof.account_id, [plan], None)
    return await prepare(proof, fact, saving)


async def execute(proof: Proof, fact: str, operation_id: str) -> Execution:
    """Execute an operation to its end, and record the write of each step as a case and as a finding."""
    proof.remember_operation(operation_id)
    with proof.transport.tape.record() as exchanges:
        error = await _execute_to_the_end(proof, operation_id)
    record, attempts = await read_operation(proof.service, proof.actor, operation_id)
    execution = Execution(operation_id, record.status, record.read_plan(), attempts, error)
    _note_created(proof, serializers.operation_to_json(proof.service, record, attempts))
    proof.deleted |= _list_deleted_ids(proof, execution)
    _record_writes(proof, fact, execution, [one for one in exchanges if one.request.kind == "write"])
    return execution


def _list_deleted_ids(proof: Proof, execution: Execution) -> set[str]:
    """Return the ids of the entities that an undo or a deletion has deleted, according to the receipts."""
    if execution.plan.action == "create":
        return set()
    applied = {receipt.key for receipt in execution.receipts if receipt.state == "applied"}
    return {
        planned.entity_id.rpartition("/")[2]
        for step in execution.plan.steps
        if step.key in applied and execution.plan.action == "delete"
        for planned in list_planned_entities(proof.network, execution.plan, step, {})
        if planned.entity_id is not None
    }


async def _execute_to_the_end(proof: Proof, operation_id: str) -> str:
    """Execute an operation until it is finished or stops; returns the error of the last call, or an empty text."""
    refusals = len(proof.transport.refusals)
    for _ in range(MAX_CONTINUATIONS):
        try:
            operation = await execute_operation(
                proof.service, proof.actor, operation_id=operation_id, confirmed=True, allow_stale=True
            )
        except AdsunifyError as problem:
            return describe_problem(problem)
        if operation.get("nextAction") != "execute":
            return ""
        if len(proof.transport.refusals) > refusals:
            return proof.transport.refusals[-1]
        await asyncio.sleep(min((operation.get("retryAfterMs") or 0) / 1000, MAX_WAIT_SECONDS))
    return "The operation did not end in time."


async def recover_created(proof: Proof, operation_ids: Sequence[str]) -> None:
    """Remember what these operations created, also where an execution was interrupted or its outcome is not known."""
    for operation_id in operation_ids:
        record, attempts = await read_operation(proof.service, proof.actor, operation_id)
        _note_created(proof, serializers.operation_to_json(proof.service, record, attempts))
        if record.read_plan().action != "create" or all(one.receipt and one.is_applied for one in attempts):
            continue
        try:
            note_verdicts(proof, await run_inspection(proof.service, proof.actor, operation_id))
        except AdsunifyError as problem:
            proof.report.contradict("cleanup.inspection", "an inspection", None, describe_problem(problem))


def _note_created(proof: Proof, operation: Json) -> None:
    """Remember what the operation created, so that it is deleted whatever happens next."""
    known = {(entity.kind, entity.id) for entity in proof.created}
    kinds = {kind: kind for kind in ENTITY_KINDS}
    for entity in operation["created"]:
        kind = kinds.get(entity["kind"])
        if kind is not None and (kind, entity["entityId"]) not in known:
            proof.created.append(CreatedEntity(kind, entity["entityId"]))


def note_verdicts(proof: Proof, inspection: Inspection) -> None:
    """Remember what an inspection found of steps whose outcome was not known."""
    plan = inspection.record.read_plan()
    for inspected in inspection.steps:
        if inspected.verdict is None:
            continue
        receipt = make_receipt(plan, inspected.verdict)
        for created in find_created_ids(proof.network, inspected.step, receipt):
            entity = CreatedEntity(created.kind, created.id.rpartition("/")[2])
            if entity not in proof.created:
                proof.created.append(entity)


def _record_writes(proof: Proof, fact: str, execution: Execution, writes: Sequence[Exchange]) -> None:
    """Record a finding for each receipt, and a case for each write that has a response."""
    receipts = execution.receipts
    for receipt in receipts:
        step = execution.plan.steps[receipt.step_index]
        name = f"{fact}.{step.key}"
        if receipt.state == "applied":
            proof.report.confirm(name, receipt.to_json()["outputs"])
        elif receipt.state == "throttled":
            proof.report.skip(name, "The network asked to wait.")
        else:
            found = receipt.error.message if receipt.error is not None else None
            reason = f"The step is {receipt.state}; the network answered {receipt.http_status}."
            proof.report.contradict(name, _describe_expected_response(step), found, reason)
    if not receipts:
        proof.report.contradict(fact, "a write", None, execution.error or "Nothing was sent.")
    for receipt, exchange in zip([one for one in receipts if one.http_status is not None], writes, strict=False):
        step = execution.plan.steps[receipt.step_index]
        members = {"step": _make_sent_step(step, exchange)}
        proof.cases.add(f"{fact} {step.key} {receipt.state}", "outcome", members, [exchange])


def _make_sent_step(step: Step, exchange: Exchange) -> Json:
    """Return the step with the request as it was sent, without what was filled in before."""
    return evolve(step, request=exchange.request, bindings=(), overlay=None, marks=()).to_json()


def _describe_expected_response(step: Step) -> Json:
    if step.outputs:
        return {"ids": [pointer for output in step.outputs for pointer in output.at]}
    return "an answer that the adapter takes for a success"


async def inspect(proof: Proof, fact: str, execution: Execution) -> Inspection | None:
    """Read back what an operation wrote, and compare each member with what was sent."""
    try:
        inspection = await run_inspection(proof.service, proof.actor, execution.id)
    except OperationError as problem:
        proof.report.skip(f"{fact}.read_back", problem.message)
        return None
    note_verdicts(proof, inspection)
    for step in inspection.steps:
        is_missing = step.read is not None and any(words in step.read.found for words in UNREAD_WORDS)
        if is_missing and step.step.kind in ENTITY_KINDS and step.read is not None:
            proof.report.contradict(f"{fact}.{step.step.key}.read_back", "the entity", step.read.found)
        for row in step.members:
            name = f"{fact}.{step.step.key}{row.member if row.member.startswith('/') else f'.{row.member}'}"
            if row.result == "unreadable":
                proof.report.skip(name, row.reason or "")
            elif row.result == "same":
                proof.report.confirm(name, row.found)
            else:
                proof.report.contradict(name, row.planned, row.found)
    return inspection


def list_other_objects(proof: Proof, execution: Execution) -> list[str]:
    """Return in words what an operation created beside the levels of the network."""
    kinds = {level.kind for level in proof.network.levels}
    outputs = {receipt.key: receipt.outputs for receipt in execution.receipts if receipt.state == "applied"}
    return [
        f"{step.kind} {', '.join(str(value) for value in outputs[step.key].values())}"
        for step in execution.plan.steps
        if step.action == "create"
        and step.kind not in kinds
        and outputs.get(step.key)
        and list_planned_entities(proof.network, execution.plan, step, outputs)
    ]
