"""The shared part of every prepare call: the idempotency key, then saving the plans in one transaction."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence

from attrs import evolve, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import Issue, NotFound, invalid_input
from adsunify.guardrails.evaluation import sum_known_spend
from adsunify.guardrails.plans import list_read_budgets
from adsunify.plans.records import Outputs, Plan
from adsunify.review.created_entities import list_created_ids
from adsunify.service import serializers
from adsunify.service.authentication import note_operation
from adsunify.service.core import Idempotency, Service, UseCaseResult
from adsunify.service.operations import read_operations
from adsunify.service.outcomes.chains import Chain, read_chain
from adsunify.service.rule_checks import check_plans
from adsunify.store import guardrails, operations
from adsunify.store.chains import ChainEnd, find_last_of_chain
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationDraft, OperationRecord, PreparedOperations
from adsunify.store.resumptions import FoundEntities, prepare_resumption
from adsunify.values.exact_json import Json


@frozen
class ActivationSource:
    """A succeeded create operation: its id, its plan, the outputs of each step, and the created entities by kind."""

    operation_id: str
    plan: Plan
    outputs: Mapping[str, Outputs]
    created: Sequence[tuple[str, str]]

    @property
    def campaign_id(self) -> str:
        """The native id of the campaign, as lists show it."""
        return next(entity_id for kind, entity_id in self.created if kind == "campaign")


@frozen
class Resumption:
    """The plan of the remaining steps of an operation.

    Attributes:
        record: the last operation of the chain.
        plan: the plan of the operation that resumes it.
        end: the end of the chain as it was read.
        found_entities: the created entities that verdicts name.
    """

    record: OperationRecord
    plan: Plan
    end: ChainEnd
    found_entities: tuple[FoundEntities, ...]

    def make_draft(self, plan: Plan) -> OperationDraft:
        """Return the operation to be prepared, with this plan."""
        record = self.record
        return OperationDraft(
            record.account_id,
            plan,
            record.source_operation_id,
            record.unified,
            record.call_spend,
            resumes=self.end,
            launch_id=record.launch_id,
        )


def prefix_issue_paths(issues: Iterable[Issue], member: str, is_inside: Callable[[str], bool]) -> list[Issue]:
    """Return the issues of a part of a request's body with their paths as in the body.

    Args:
        issues: the issues, with paths that begin inside the part or at the body.
        member: the member of the body that holds the part.
        is_inside: whether a path that begins with this word begins inside the part.
    """
    return [
        issue._replace(path=f"{member}.{issue.path}" if issue.path else member)
        if is_inside(issue.path.partition(".")[0])
        else issue
        for issue in issues
    ]


async def find_replay(
    service: Service, actor: Actor, idempotency: Idempotency | None, many: bool = False
) -> UseCaseResult | None:
    """Return the operations of an earlier call with this key; None where the key is new.

    Called before any request to the network. Raises Conflict where the key belongs to another request.
    """
    if idempotency is None:
        return None
    binding = await service.store.run_query(operations.find_by_idempotency_key(actor, idempotency))
    return None if binding is None else await _read_replay(service, actor, binding.operation_ids, many)


async def save_operations(
    service: Service,
    actor: Actor,
    account_id: str,
    plans: Sequence[Plan],
    idempotency: Idempotency | None,
    source_operation_id: str | None = None,
    many: bool = False,
    unified: bool = False,
    undoes: str | None = None,
) -> UseCaseResult:
    """Save the operations with their events and the key, all or nothing.

    Raises GuardrailRefused if guardrails refuse one of them.
    """
    plans = await check_plans(service, actor, account_id, plans)
    call = sum_known_spend([plan.exposure for plan in plans]) if len(plans) > 1 else None
    store = service.store
    drafts = [OperationDraft(account_id, plan, source_operation_id, unified, call, undoes=undoes) for plan in plans]
    saved = await store.write(_prepare_operations, actor, drafts, store.clock, idempotency)
    if saved.is_replay:
        return await _read_replay(service, actor, saved.operation_ids, many)
    for record, _ in saved.created:
        note_operation(record.id)
    return _operations_result(
        [serializers.operation_to_json(service, record, (), plan) for record, plan in saved.created], False, many
    )


async def save_resumption(
    service: Service, actor: Actor, resumption: Resumption, idempotency: Idempotency | None
) -> UseCaseResult:
    """Save the operation that resumes another one.

    Raises:
        GuardrailRefused: guardrails refuse the plan.
        Conflict: another operation resumes it already, or a found entity belongs to another operation.
        ChainMoved: the chain was changed after it was read.
    """
    record = resumption.record
    (plan,) = await check_plans(service, actor, record.account_id, [resumption.plan], chain_id=resumption.end.chain_id)
    store = service.store
    draft = resumption.make_draft(plan)
    saved = await store.write(prepare_resumption, actor, draft, resumption.found_entities, store.clock, idempotency)
    if saved.is_replay:
        return await _read_replay(service, actor, saved.operation_ids, many=False)
    ((record, plan),) = saved.created
    return UseCaseResult(serializers.operation_to_json(service, record, (), plan))


def _prepare_operations(
    connection: Connection,
    actor: Actor,
    drafts: Sequence[OperationDraft],
    clock: Clock,
    idempotency: Idempotency | None,
) -> PreparedOperations:
    """Store the operations, and the budgets that were read for their plans."""
    prepared = operations.prepare_operations(connection, actor, drafts, clock, idempotency)
    if not prepared.is_replay:
        read = [budget for draft in drafts for budget in list_read_budgets(draft.plan.exposure)]  # of one account
        guardrails.record_budgets(connection, drafts[0].account_id, read, clock.now())
    return prepared


async def _read_replay(service: Service, actor: Actor, ids: Sequence[str], many: bool) -> UseCaseResult:
    """Return the operations of an earlier call in their current state."""
    return _operations_result(
        [
            serializers.operation_to_json(service, *record_with_attempts)
            for record_with_attempts in await read_operations(service, actor, ids)
        ],
        True,
        many,
    )


def _operations_result(views: list[Json], is_replay: bool, many: bool) -> UseCaseResult:
    return UseCaseResult({"operations": views} if many else views[0], replayed=is_replay)


def with_warnings(plan: Plan, warnings: Sequence[str]) -> Plan:
    """Return the plan with further warnings for the reviewer."""
    return evolve(plan, warnings=(*plan.warnings, *warnings)) if warnings else plan


async def read_activation_source(
    service: Service, actor: Actor, account_id: str, operation_id: str
) -> ActivationSource:
    """Return the source of an activation. Raises InvalidInput ``source_not_activatable`` for other operations.

    For a resumed operation, the last operation of its chain is used. An operation whose outcome was unknown can be
    activated if receipts and verdicts show that all of its steps were applied.
    """
    chain = await service.store.read(_find_activation_source, actor, operation_id, service.store.clock)
    if chain is None or not chain.record.unified or chain.record.account_id != account_id:
        raise invalid_input(
            "sourceOperationId",
            "source_not_activatable",
            "must be a succeeded operation of POST /create for this account, in your scope.",
        )
    view = serializers.operation_to_json(service, chain.record, chain.attempts)
    carried = {key: step.to_json() for key, step in chain.progress.carried.items()}
    entities = list_created_ids({**view, "plan": {**view["plan"], "carried": carried}})
    created = [(entity["kind"], entity["entityId"]) for entity in entities]
    outputs = {key: step.outputs for key, step in chain.progress.carried.items() if step.outputs is not None}
    return ActivationSource(chain.record.id, chain.plan, outputs, created)


def _find_activation_source(connection: Connection, actor: Actor, operation_id: str, clock: Clock) -> Chain | None:
    """Return the last operation of a chain that is written completely, beginning with the last one."""
    try:
        named = read_chain(connection, actor, operation_id, clock)
        last = read_chain(connection, actor, find_last_of_chain(connection, named.record.chain_id), clock)
    except NotFound:
        return None
    return next((chain for chain in (last, named) if chain.is_complete), None)
