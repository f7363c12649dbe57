"""Settle: a person decides a step in doubt.

The decision is stored as a verdict with the name of the person. Nothing is written to the network.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.hierarchy import ParsedEntity, get_last_part, is_valid_id
from adsunify.errors import OperationError, ProviderNotFound, invalid_input
from adsunify.execution.state import CreatedId, build_actor_record
from adsunify.execution.status_updates import find_created_ids
from adsunify.guardrails.windows import to_hour
from adsunify.ledger import LedgerEntry
from adsunify.networks.registry import get_adapter
from adsunify.outcomes.chains import make_receipt
from adsunify.outcomes.planned import list_planned_entities
from adsunify.outcomes.search import fetch_complete_list
from adsunify.outcomes.verdicts import ItemVerdict, StepVerdict
from adsunify.plans.records import ENTITY_KINDS, Outputs, Step
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import connections, verdicts
from adsunify.store.chains import find_last_of_chain, make_resumed_error
from adsunify.store.clock import Clock
from adsunify.store.created import find_created_by_other
from adsunify.store.ledger import record_entry
from adsunify.store.operations import OperationRecord
from adsunify.store.resumptions import lock_operation
from adsunify.store.windows import release_uses
from adsunify.values.exact_json import Json

from .chains import Chain, read_chain

REMOVE_ADVICE = "Remove it at the network if it exists, and settle the step as not_applied."


async def settle_step(
    service: Service,
    actor: Actor,
    *,
    operation_id: str,
    step: str,
    verdict: Literal["applied", "not_applied"],
    entity_id: str | None = None,
) -> Json:
    """Decide a step whose outcome is not known, after looking at the account. Only a person can.

    ``entityId`` is the id of the created entity; it must be readable as an entity of the account. Nothing is sent to
    the network but reads. The decision is recorded with your name; resuming the operation uses it.
    """
    chain = await service.store.read(read_chain, actor, operation_id, service.store.clock)
    record = chain.record
    if record.resumed_by is not None:
        raise make_resumed_error(await service.store.read(find_last_of_chain, record.chain_id))
    if record.status == "running" and not record.is_stalled:
        raise OperationError(
            "The operation is being executed. Settle it when it has stopped.", code="operation_running"
        )
    attempts = [attempt for attempt in chain.attempts if attempt.key == step]
    last = attempts[-1] if attempts else None
    if last is None or (last.receipt is not None and last.receipt.state != "ambiguous"):
        doubtful = [
            attempt.key for attempt in chain.attempts if attempt.receipt is None or attempt.receipt.state == "ambiguous"
        ]
        hint = f"Steps in doubt: {', '.join(doubtful)}." if doubtful else "No step of the operation is in doubt."
        raise invalid_input("step", "not_in_doubt", f"must be a step whose outcome is not known. {hint}")
    outputs: Outputs = {}
    planned = chain.plan.get_step(step)
    if verdict == "applied":
        outputs = await _read_outputs(service, actor, chain, planned, entity_id)
    elif entity_id is not None:
        raise invalid_input("entityId", "unused", "must be left out where the step was not applied.")
    at = service.store.clock.now()
    reason = (
        "A person looked at the account and says that it was done."
        if verdict == "applied"
        else ("A person looked at the account and says that it was not done.")
    )
    by = build_actor_record(actor.user_id, actor.credential, at)
    items = () if planned.items is None else tuple(ItemVerdict(0, "applied", str(id_)) for id_ in outputs.values())
    settled = StepVerdict(step, last.attempt, verdict, reason, outputs, items, settled_by=by)
    receipt = make_receipt(chain.plan, settled)
    created_ids = find_created_ids(get_adapter(record.network).network, planned, receipt)
    await service.store.write(
        _store_settlement, actor, record, settled, (receipt.step_index, created_ids), service.store.clock
    )
    return {
        "operationId": record.id,
        "step": step,
        "verdict": verdict,
        "entityId": entity_id,
        "reason": reason,
        "settledBy": by,
    }


async def _read_outputs(service: Service, actor: Actor, chain: Chain, step: Step, entity_id: str | None) -> Outputs:
    """Return the outputs of an applied step; ``entity_id`` is read as an entity of the account.

    Raises:
        InvalidInput: ``entityId`` is missing, malformed, not of the account or below another parent, or the step needs
            another decision.
    """
    record = chain.record
    if step.items is not None and step.items.many and step.action == "create":
        raise invalid_input(
            "verdict",
            "not_settleable",
            f"must be not_applied: step {step.key} creates several entities. {REMOVE_ADVICE}",
        )
    if step.action != "create" or not (step.outputs or step.items):
        if entity_id is not None:
            raise invalid_input("entityId", "unused", "must be left out: the step creates no entity.")
        return {}
    kind = next((kind for kind in ENTITY_KINDS if kind == step.kind), None)
    if kind is None or len(step.outputs) > 1:
        raise invalid_input(
            "verdict",
            "not_settleable",
            f"must be not_applied: adsunify cannot read what step {step.key} creates. {REMOVE_ADVICE}",
        )
    if entity_id is None:
        raise invalid_input("entityId", "missing", "is required: the id of the entity that the step created.")
    session = await NetworkSession.load(service, actor, record.account_id)
    session.require_active()
    if not is_valid_id(session.adapter.network, kind, entity_id):
        raise invalid_input("entityId", "malformed", f"must be an id of the kind {kind} on {record.network}.")
    try:
        entity = await session.run_flow(session.adapter.reads.fetch_entity(session.native_account, kind, entity_id))
    except ProviderNotFound:
        raise invalid_input("entityId", "not_found", f"must be a {kind} of this account.") from None
    await _require_parent(session, chain, step, entity)
    if step.items is not None:
        return {step.items.output: entity_id}
    (output,) = step.outputs
    return {output.name: entity_id if entity_id.startswith(output.prefix) else output.prefix + entity_id}


async def _require_parent(session: NetworkSession, chain: Chain, step: Step, entity: ParsedEntity) -> None:
    """Check that an entity is below the parent in which a step creates it.

    Some networks show the parent of an entity only in the list of the parent's children (ChatGPT).

    Raises:
        InvalidInput: the entity is below another parent.
    """
    network, reads, account = session.adapter.network, session.adapter.reads, session.native_account
    outputs = {key: carried.outputs for key, carried in chain.progress.carried.items() if carried.outputs is not None}
    (planned,) = list_planned_entities(network, chain.plan, step, outputs)
    if planned.level is None or planned.parent_id is None:
        return
    if entity.parent_id is not None:
        is_below = get_last_part(entity.parent_id) == get_last_part(planned.parent_id)
    else:
        children = await session.run_flow(fetch_complete_list(reads, account, planned.level, planned.parent_id))
        is_below = entity.id in {child.id for child in children.entities}
    if not is_below:
        message = f"must be below the {planned.level.parent_kind} {planned.parent_id}, in which the step creates it."
        raise invalid_input("entityId", "conflict", message)


def _store_settlement(
    connection: Connection,
    actor: Actor,
    record: OperationRecord,
    settled: StepVerdict,
    step_creations: tuple[int, Sequence[CreatedId]],
    clock: Clock,
) -> None:
    """Store a settlement. If the chain surely wrote nothing, its amounts are removed from the windows.

    ``step_creations``: the position of the step, and the entities that it created.

    Raises:
        InvalidInput: another step has created the entity.
        OperationError: the operation was executed or resumed after it was read.
    """
    if not lock_operation(connection, record.id, record.fence, clock):
        raise OperationError(
            "The operation was executed or resumed at the same time. Read it again.", code="operation_running"
        )
    native_account = connections.get_account(connection, actor, record.account_id).native_id
    if find_created_by_other(connection, record.network, native_account, record.id, *step_creations):
        raise invalid_input("entityId", "not_found", "must be an entity that no other write has created.")
    verdicts.save_verdicts(connection, record.id, [settled], clock)
    after = {
        "step": settled.step_key,
        "attempt": settled.attempt,
        "verdict": settled.verdict,
        "outputs": settled.outputs,
    }
    entry = LedgerEntry(
        record.workspace_id, actor, "settlement", record.id, record.account_id, record.network, after=after
    )
    record_entry(connection, entry, clock)
    release_uses(connection, [record.chain_id], to_hour(clock.now()))
