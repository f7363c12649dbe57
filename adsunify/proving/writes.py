"""Prepares, executes and inspects the operations of a proof, and turns receipts into findings and cases."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Collection, Iterator, Sequence

from attrs import evolve, frozen

from adsunify.errors import AdsunifyError, GuardrailRefused, InvalidInput, OperationError
from adsunify.execution.state import Receipt
from adsunify.execution.status_updates import find_created_ids
from adsunify.outcomes.chains import make_receipt
from adsunify.outcomes.planned import list_planned_entities
from adsunify.outcomes.verdicts import StepVerdict
from adsunify.plans.records import ENTITY_KINDS, Plan, Step
from adsunify.service import preparation, serializers
from adsunify.service.core import UseCaseResult
from adsunify.service.operations import execute_operation, read_operation
from adsunify.service.outcomes.inspection import Inspection, read_verdicts, run_inspection
from adsunify.store.attempts import StepAttempt
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

from .guard import find_active_creation
from .proof import Proof, ProofEntity, describe_problem
from .transport import Exchange

MAX_CONTINUATIONS = 60
MAX_WAIT_SECONDS = 30.0
LEASE_MARGIN_SECONDS = 10.0
UNREAD_WORDS = ("does not exist", "could not be read")
"""The texts of an inspection about an entity that it could not compare."""


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


@frozen
class DoubtfulCreation:
    """An entity that may have been created, with the id of its parent, if the id is known."""

    kind: str
    parent_id: str | None
    reason: str


async def prepare(proof: Proof, fact: str, preparing: Awaitable[UseCaseResult]) -> str | None:
    """Prepare an operation and return its id; None if it was refused, which is a finding.

    A plan that creates an entity without a paused status is refused, even if the network would create it paused.
    """
    try:
        operation_id = str((await preparing).data["id"])
        record, _ = await read_operation(proof.service, proof.actor, operation_id)
        if (active := find_active_creation(proof.network, record.read_plan())) is None:
            return operation_id
        proof.report.refusals.append(f"{fact}: the plan creates something that may be active. {active}")
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
    proof.deleted |= _list_deleted_ids(proof, execution.plan, _list_applied_keys(attempts))
    await _record_writes(
        proof, fact, execution, [exchange for exchange in exchanges if exchange.request.kind == "write"]
    )
    return execution


def _list_deleted_ids(proof: Proof, plan: Plan, applied: Collection[str]) -> set[str]:
    """Return the ids of the entities that an undo or a deletion has deleted; ``applied``: the keys of applied steps."""
    if plan.action != "delete":
        return set()
    return {
        planned.entity_id.rpartition("/")[2]
        for step in plan.steps
        if step.key in applied
        for planned in list_planned_entities(proof.network, plan, step, {})
        if planned.entity_id is not None
    }


def _list_applied_keys(attempts: Sequence[StepAttempt]) -> set[str]:
    return {
        attempt.receipt.key
        for attempt in attempts
        if attempt.receipt is not None and attempt.receipt.state == "applied"
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


async def recover_writes(proof: Proof, operation_ids: Sequence[str]) -> list[DoubtfulCreation]:
    """Remember the entities that these operations created and deleted, even if an execution was interrupted.

    An inspection decides writes whose outcome is not known.

    Returns:
        The entities that an inspection can neither confirm nor rule out.
    """
    doubtful: list[DoubtfulCreation] = []
    for operation_id in operation_ids:
        try:
            record, attempts = await _read_stopped_operation(proof, operation_id)
            _note_created(proof, serializers.operation_to_json(proof.service, record, attempts))
            plan = record.read_plan()
            if plan.action not in ("create", "delete"):
                continue
            proof.deleted |= _list_deleted_ids(proof, plan, _list_applied_keys(attempts))
            for verdict in await read_verdicts(proof.service, proof.actor, operation_id):
                _note_verdict(proof, operation_id, plan, verdict)
            if all((operation_id, attempt.key) in proof.decided for attempt in attempts if _is_in_doubt(attempt)):
                continue
            inspection = await run_inspection(proof.service, proof.actor, operation_id)
        except AdsunifyError as problem:
            reason = describe_problem(problem)
            proof.report.contradict("cleanup.inspection", "an inspection", None, reason)
            doubtful.append(DoubtfulCreation("campaign", None, f"The operation {operation_id}: {reason}"))
            continue
        note_verdicts(proof, inspection)
        doubtful += _list_doubtful_creations(proof, inspection, attempts)
    return doubtful


def _is_in_doubt(attempt: StepAttempt) -> bool:
    """Whether the outcome of the attempt, or of one of its items, is unknown."""
    receipt = attempt.receipt
    return receipt is None or "ambiguous" in (receipt.state, *(item.state for item in receipt.items))


async def _read_stopped_operation(proof: Proof, operation_id: str) -> tuple[OperationRecord, list[StepAttempt]]:
    """Read an operation when no process executes it. The claim of a killed process ends with its lease."""
    loop = asyncio.get_running_loop()
    until = loop.time() + proof.service.settings.lease / 1000 + LEASE_MARGIN_SECONDS
    while True:
        record, attempts = await read_operation(proof.service, proof.actor, operation_id)
        if record.status != "running" or record.is_stalled or loop.time() >= until:
            return record, attempts
        await asyncio.sleep(1)


def _list_doubtful_creations(
    proof: Proof, inspection: Inspection, attempts: Sequence[StepAttempt]
) -> Iterator[DoubtfulCreation]:
    """Yield the entities of the undecided steps of an inspection of a creation."""
    plan = inspection.record.read_plan()
    if plan.action != "create":
        return
    outputs = {
        attempt.receipt.key: attempt.receipt.outputs for attempt in attempts if attempt.receipt and attempt.is_applied
    }
    outputs |= {
        step_inspection.step.key: step_inspection.verdict.outputs
        for step_inspection in inspection.steps
        if step_inspection.verdict is not None
    }
    for inspected in inspection.steps:
        if inspected.verdict is None or (inspection.record.id, inspected.step.key) in proof.decided:
            continue
        if inspected.verdict.verdict != "undecided":
            continue
        for planned in list_planned_entities(proof.network, plan, inspected.step, outputs):
            if planned.kind in ENTITY_KINDS:
                yield DoubtfulCreation(planned.kind, planned.parent_id, inspected.verdict.reason)


def _note_created(proof: Proof, operation: Json) -> None:
    """Remember the entities that the operation created, so that they are deleted in any case."""
    kinds = {kind: kind for kind in ENTITY_KINDS}
    for entity in operation["created"]:
        if (kind := kinds.get(entity["kind"])) is not None:
            proof.note_created(ProofEntity(kind, entity["entityId"]))


def note_verdicts(proof: Proof, inspection: Inspection) -> None:
    """Remember the verdicts of an inspection about steps whose outcome was not known."""
    plan = inspection.record.read_plan()
    for inspected in inspection.steps:
        if inspected.verdict is not None:
            _note_verdict(proof, inspection.record.id, plan, inspected.verdict)


def _note_verdict(proof: Proof, operation_id: str, plan: Plan, verdict: StepVerdict) -> None:
    if verdict.verdict == "applied":  # a later inspection cannot decide an entity that was edited or deleted
        proof.decided.add((operation_id, verdict.step_key))
        proof.deleted |= _list_deleted_ids(proof, plan, [verdict.step_key])
    receipt = make_receipt(plan, verdict)
    for created in find_created_ids(proof.network, plan.steps[receipt.step_index], receipt):
        proof.note_created(ProofEntity(created.kind, created.id.rpartition("/")[2]))


async def _record_writes(proof: Proof, fact: str, execution: Execution, writes: Sequence[Exchange]) -> None:
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
            error_message = receipt.error.message if receipt.error is not None else None
            reason = f"The step is {receipt.state}; the network answered {receipt.http_status}."
            proof.report.contradict(name, _describe_expected_response(step), error_message, reason)
    if not receipts:
        proof.report.contradict(fact, "a write", None, execution.error or "Nothing was sent.")
    for receipt, exchange in zip(
        [receipt for receipt in receipts if receipt.http_status is not None], writes, strict=False
    ):
        step = execution.plan.steps[receipt.step_index]
        members = {"step": _make_sent_step(step, exchange)}
        await proof.cases.add(f"{fact} {step.key} {receipt.state}", "outcome", members, [exchange])


def _make_sent_step(step: Step, exchange: Exchange) -> Json:
    """Return the step with the request as it was sent, without its bindings and overlay."""
    return evolve(step, request=exchange.request, bindings=(), overlay=None, marks=()).to_json()


def _describe_expected_response(step: Step) -> Json:
    if step.outputs:
        return {"ids": [pointer for output in step.outputs for pointer in output.at]}
    return "an answer that the adapter takes for a success"


async def inspect(proof: Proof, fact: str, execution: Execution) -> Inspection | None:
    """Read back the entities that an operation wrote, and compare each member with the sent one."""
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
    """Describe the objects that an operation created outside the levels of the network."""
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
