"""Reads a chain of operations: its last operation, and the steps that the chain has applied."""

from __future__ import annotations

from attrs import frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.execution.state import read_progress
from adsunify.outcomes.chains import ChainProgress, read_chain_progress
from adsunify.outcomes.verdicts import StepVerdict
from adsunify.plans.records import Plan
from adsunify.store import operations, verdicts
from adsunify.store.attempts import StepAttempt
from adsunify.store.chains import ChainEnd, list_chain
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord


@frozen
class Chain:
    """An operation of a chain as it was read: its attempts and plan, and the steps that the chain up to it has applied.

    ``unsettled``: the operations with steps in doubt that a read may decide again: no person has settled them, and no
    receipt of the chain shows that they were applied.
    """

    record: OperationRecord
    attempts: list[StepAttempt]
    end: ChainEnd
    plan: Plan
    progress: ChainProgress
    unsettled: tuple[str, ...]

    @property
    def is_complete(self) -> bool:
        """Whether all steps are applied: the operation succeeded, or receipts and verdicts show it."""
        is_over = self.record.status == "unknown" or self.record.is_stalled or self.record.is_expired
        is_whole = not self.progress.undecided and not self.progress.remaining
        return self.record.status == "succeeded" or (is_over and is_whole)


def read_chain(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> Chain:
    """Read an operation in the actor's scope with its chain. Raises NotFound."""
    record = operations.get_operation(connection, actor, operation_id, clock)
    attempts = list_chain(connection, record.chain_id)
    plan = record.read_plan()
    receipts = [
        attempt.receipt
        for step_attempts in attempts.values()
        for attempt in step_attempts
        if attempt.receipt is not None
    ]
    doubts = {
        id_: {
            (attempt.key, attempt.attempt)
            for attempt in step_attempts
            if attempt.receipt is None or attempt.receipt.state == "ambiguous"
        }
        for id_, step_attempts in attempts.items()
    }
    verdicts_by_operation = {id_: verdicts.list_verdicts(connection, id_) for id_ in attempts}
    valid = {
        id_: {(verdict.step_key, verdict.attempt): verdict for verdict in step_verdicts}
        for id_, step_verdicts in verdicts_by_operation.items()
    }
    older_doubts: dict[str, StepVerdict | None] = {}
    for id_ in (id_ for id_ in attempts if id_ != operation_id):
        for doubt in sorted(doubts[id_]):
            older_doubts[doubt[0]] = valid[id_].get(doubt) or older_doubts.get(doubt[0])
    progress = read_chain_progress(
        plan, receipts, older_doubts, doubts[operation_id], verdicts_by_operation[operation_id]
    )
    applied_outputs = read_progress(receipts).outputs
    unsettled = tuple(
        id_
        for id_, own_doubts in doubts.items()
        if any(doubt[0] not in applied_outputs and not _is_settled(valid[id_].get(doubt)) for doubt in own_doubts)
    )
    end = ChainEnd(
        operation_id, record.chain_id, record.fence, len(receipts), verdicts.hash_verdicts(verdicts_by_operation)
    )
    return Chain(record, attempts[operation_id], end, plan, progress, unsettled)


def _is_settled(verdict: StepVerdict | None) -> bool:
    return verdict is not None and verdict.settled_by is not None
