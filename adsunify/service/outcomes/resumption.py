"""Resume: prepares an operation with the remaining steps of one that was not written completely."""

from __future__ import annotations

from contextlib import suppress

from attrs import evolve

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError, Conflict, InvalidInput, Issue, NotFound, OperationError
from adsunify.execution.status_updates import find_created_ids
from adsunify.networks.registry import get_adapter
from adsunify.outcomes.chains import make_receipt
from adsunify.plans.records import Plan
from adsunify.review.completion import RESTORED_ADVICE, attach_operation
from adsunify.service import preparation
from adsunify.service.core import Idempotency, Service, UseCaseResult
from adsunify.service.network_session import NetworkSession
from adsunify.service.operations import get_operation
from adsunify.service.outcomes.chains import Chain, read_chain
from adsunify.service.outcomes.inspection import run_inspection
from adsunify.service.preparation import Resumption
from adsunify.store.chains import find_last_of_chain, make_resumed_error
from adsunify.store.restoring import RESTORED_CODE, RESTORED_MESSAGE
from adsunify.store.resumptions import ChainMoved, FoundEntities

MAX_READS = 5
"""How often a chain is read again because it changed before the new operation was stored."""
SETTLE_ADVICE = (
    "Inspect it again later, or look at the account and settle the step: POST /operations/{id}/settle, "
    "`adsunify settle`, or the operation's page."
)


async def resume_operation(
    service: Service, actor: Actor, *, operation_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the remaining steps of an operation that stalled, expired or stopped, or whose outcome is unknown.

    The operation is inspected first. The new operation has the same steps, but applied steps are not sent again. It
    is reviewed and executed like every other. Where it is not known whether a step was done, 409 ``outcome_undecided``
    names it. An operation that is resumed already is 409 ``already_resumed``; where nothing is left, 422
    ``nothing_to_resume``.
    """
    replay = await preparation.find_replay(service, actor, idempotency)
    if replay is not None:
        return replay
    for _ in range(MAX_READS):
        resumption = await plan_resumption(service, actor, operation_id)
        try:
            return await preparation.save_resumption(service, actor, resumption, idempotency)
        except ChainMoved:
            continue
    raise OperationError("The operation keeps changing. Call again when it has stopped.", code="operation_running")


async def plan_resumption(service: Service, actor: Actor, operation_id: str) -> Resumption:
    """Plan the remaining steps of an operation. Errors: :func:`resume_operation`."""
    chain = await _read_resumable_chain(service, actor, operation_id)
    session = await NetworkSession.load(service, actor, chain.record.account_id)
    session.require_active()
    network = get_adapter(chain.record.network).network
    found_entities = []
    for verdict in chain.progress.applied_verdicts:
        receipt = make_receipt(chain.plan, verdict)
        created = find_created_ids(network, chain.plan.steps[receipt.step_index], receipt)
        found_entities.append(FoundEntities(chain.record.id, receipt.step_index, verdict.step_key, created))
    return Resumption(chain.record, _make_plan(chain), chain.end, tuple(found_entities))


async def _read_resumable_chain(service: Service, actor: Actor, operation_id: str) -> Chain:
    chain = await service.store.read(read_chain, actor, operation_id, service.store.clock)
    is_running = chain.record.status == "running" and not chain.record.is_stalled
    if chain.unsettled and chain.record.resumed_by is None and not is_running:
        for id_ in reversed(chain.unsettled):  # the last one claims its entities first
            with suppress(NotFound):  # skip an older operation that the actor may not see
                await run_inspection(service, actor, id_)
        chain = await service.store.read(read_chain, actor, operation_id, service.store.clock)
    problem = await _find_problem(service, chain)
    if problem is not None:
        operation = await get_operation(service, actor, operation_id=operation_id)
        raise attach_operation(problem, operation, advise=False)
    return chain


async def _find_problem(service: Service, chain: Chain) -> AdsunifyError | None:
    """Return why a chain cannot be resumed; None if it can be."""
    record = chain.record
    if record.resumed_by is not None:
        return make_resumed_error(await service.store.read(find_last_of_chain, record.chain_id))
    if record.restored_at is not None:
        return Conflict(f"{RESTORED_MESSAGE} {RESTORED_ADVICE}", code=RESTORED_CODE)
    if record.status == "running" and not record.is_stalled:
        return OperationError(
            "The operation is being executed. Resume it when it has stopped.", code="operation_running"
        )
    if chain.progress.undecided:
        return Conflict(
            f"It is not known whether step {chain.progress.undecided[0]} was done. "
            + SETTLE_ADVICE.format(id=record.id),
            code="outcome_undecided",
        )
    if not chain.progress.remaining:
        return _make_nothing_to_resume("Everything of it is written.")
    if record.status == "cancelled" and not chain.progress.carried:
        return _make_nothing_to_resume("It was cancelled and nothing of it is written. Prepare the change again.")
    is_fresh = record.status == "prepared" and not record.is_expired and not chain.attempts
    is_unchanged = record.chain_receipts in (None, chain.end.receipt_count) and not chain.progress.applied_verdicts
    if is_fresh and is_unchanged:
        return _make_nothing_to_resume("It was not executed yet. Execute it.")
    return None


def _make_nothing_to_resume(message: str) -> InvalidInput:
    return InvalidInput([Issue("", "nothing_to_resume", message)], code="nothing_to_resume")


def _make_plan(chain: Chain) -> Plan:
    """Return the plan of the new operation.

    Carried steps have changed values since the plan was made. These values are not compared before the execution, and a
    partly applied edit is not planned again.
    """
    carried = chain.progress.carried
    if not carried:
        return evolve(chain.plan, carried={})
    changed = {
        (step.entity, change.field) for step in chain.plan.steps if step.key in carried for change in step.changes
    }
    exposure = chain.plan.exposure
    if exposure is not None:
        guards = [guard for guard in exposure.guards if (guard.entity_id, guard.field) not in changed]
        exposure = evolve(exposure, guards=tuple(guards))
    return evolve(chain.plan, carried=carried, exposure=exposure, edit=None)
