"""Undo: prepares an operation that reverts the changes of another one. It is reviewed and executed like every other."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from adsunify.actor import Actor
from adsunify.adapter import flows
from adsunify.adapter.edits import Edit
from adsunify.adapter.flows import MAX_PAGES
from adsunify.adapter.hierarchy import ListQuery
from adsunify.adapter.network import REMOVED_STATUSES, Network, get_level, unify_status
from adsunify.adapter.settings import BID_FIELDS, find_lock_reason, get_display_value, list_settings
from adsunify.errors import (
    Conflict,
    InvalidInput,
    Issue,
    OperationError,
    ProviderNotFound,
    StaleValue,
    ValuesMoved,
)
from adsunify.execution.state import ObservedStatus, Receipt
from adsunify.execution.status_updates import read_receipt_statuses
from adsunify.http.messages import Flow
from adsunify.networks.registry import get_adapter
from adsunify.outcomes.chains import make_receipt
from adsunify.outcomes.reversals import (
    MULTI_STEP_ACTIONS,
    NOT_REVERSIBLE,
    STATUS_MEMBER,
    AppliedStep,
    CreatedEntity,
    Reversal,
    list_reversals,
)
from adsunify.plans.records import ENTITY_KINDS, Action, Plan, Risk, Step, make_plan
from adsunify.review.completion import join_sentences
from adsunify.service import entities, preparation, serializers
from adsunify.service.core import Idempotency, Service, UseCaseResult
from adsunify.service.entities import Mutation
from adsunify.service.network_session import NetworkSession
from adsunify.service.operations import read_operation
from adsunify.store import undos, verdicts
from adsunify.store.attempts import StepAttempt
from adsunify.store.operations import OperationRecord, make_body_removed_error
from adsunify.values.comparison import to_comparable
from adsunify.values.exact_json import Json, dumps

RISKS: tuple[Risk, ...] = ("low", "spend", "destructive")
"""The risks, from the lowest."""
MOVED_ADVICE = "Nothing was prepared. Change these values yourself if you still want the former ones."


async def undo_operation(
    service: Service, actor: Actor, *, operation_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare an operation that reverts the applied steps of an operation. Nothing is written until it is executed.

    Edits and statuses go back to the values before. Created entities are deleted or archived, if they are still paused
    and have no children of others. Activated entities are paused, the campaign first. Where the network holds other
    values than the operation wrote, the answer is 409 ``moved``; if the operation cannot be undone, it is 422
    ``not_reversible``.
    """
    replay = await preparation.find_replay(service, actor, idempotency)
    if replay is not None:
        return replay
    record, plan = await plan_undo(service, actor, operation_id)
    return await preparation.save_operations(service, actor, record.account_id, [plan], idempotency, undoes=record.id)


async def plan_undo(service: Service, actor: Actor, operation_id: str) -> tuple[OperationRecord, Plan]:
    """Return an operation, and the plan that reverts its applied steps. Errors: :func:`undo_operation`."""
    record, attempts = await read_operation(service, actor, operation_id)
    if record.responses_removed_at is not None:  # only responses show which statuses the operation has set
        raise make_body_removed_error("responses")
    await service.store.read(undos.require_not_undone, record.id, service.store.clock)
    decided = await _read_decided_attempts(service, record, attempts)
    session = await NetworkSession.load(service, actor, record.account_id)
    session.require_active()
    writes = _read_written(service, record, decided)
    reversals = list_reversals(session.adapter.network, writes.plan, writes.applied, writes.created)
    own: set[tuple[str, str]] = {(entity.kind, entity.id) for entity in writes.created}
    due, moved = await session.run_flow(flows.memoize_reads(_compare_entities(session, reversals, own)))
    if moved:
        raise ValuesMoved(join_sentences(*map(_describe_move, moved), MOVED_ADVICE), differences=moved)
    if not due:
        message = "Nothing of it is in effect any more, so there is nothing to undo."
        raise InvalidInput([Issue("", NOT_REVERSIBLE, message)], code=NOT_REVERSIBLE)
    return record, await _plan_reversals(service, session, writes.plan, due)


# -- what was written ---------------------------------------------------------------------------------------------


@frozen
class _Written:
    plan: Plan
    applied: list[AppliedStep]
    created: list[CreatedEntity]


async def _read_decided_attempts(
    service: Service, record: OperationRecord, attempts: Sequence[StepAttempt]
) -> list[StepAttempt]:
    """Return the attempts, with receipts in place of verdicts.

    Raises:
        OperationError: ``operation_running``.
        Conflict: ``outcome_undecided``; it is not known whether a step was done.
    """
    if record.status == "running" and not record.is_stalled:
        raise OperationError("The operation is being executed. Call again when it has ended.", code="operation_running")
    step_verdicts = await service.store.read(verdicts.list_verdicts, record.id)
    verdict_of = {(step_verdict.step_key, step_verdict.attempt): step_verdict for step_verdict in step_verdicts}
    decided: list[StepAttempt] = []
    for attempt in attempts:
        if attempt.receipt is not None and attempt.receipt.state != "ambiguous":
            decided.append(attempt)
            continue
        verdict = verdict_of.get((attempt.key, attempt.attempt))
        if verdict is None or verdict.verdict == "undecided":
            message = f"It is not known whether step {attempt.key} was done. Inspect the operation first."
            raise Conflict(message, code="outcome_undecided")
        receipt = make_receipt(record.read_plan(), verdict)
        if verdict.verdict == "applied" or receipt.items:
            decided.append(evolve(attempt, receipt=receipt))
    return decided


def _read_written(service: Service, record: OperationRecord, attempts: Sequence[StepAttempt]) -> _Written:
    network, plan = get_adapter(record.network).network, record.read_plan()
    applied = [
        AppliedStep(plan.steps[attempt.receipt.step_index], _read_statuses(network, plan, attempt.receipt))
        for attempt in attempts
        if attempt.receipt is not None and _is_applied(attempt.receipt)
    ]
    created = [
        CreatedEntity(entity["stepKey"], kind, entity["entityId"])
        for entity in serializers.operation_to_json(service, record, attempts)["created"]
        for kind in ENTITY_KINDS
        if kind == entity["kind"]
    ]
    return _Written(plan, applied, created)


def _is_applied(receipt: Receipt) -> bool:
    """Whether the step was applied, completely or for some of its items."""
    return receipt.state == "applied" or any(item.state == "applied" for item in receipt.items)


def _read_statuses(network: Network, plan: Plan, receipt: Receipt) -> Sequence[ObservedStatus]:
    return read_receipt_statuses(network, plan.steps[receipt.step_index], receipt)


# -- what the network holds now -----------------------------------------------------------------------------------


def _compare_entities(
    session: NetworkSession, reversals: Sequence[Reversal], own: set[tuple[str, str]]
) -> Flow[tuple[list[Reversal], list[StaleValue]]]:
    """Return the reversals that are still needed, and the values that differ from those that the operation wrote.

    A deleted entity needs no reversal, and neither does an activated entity that is not active any more.
    """
    due: list[Reversal] = []
    moved: list[StaleValue] = []
    for reversal in reversals:
        try:
            differences = yield from _compare_entity(session, reversal, own)
        except ProviderNotFound:
            differences = None if reversal.action != "edit" else [_make_difference(reversal, "entity", "present", None)]
        if differences is None or (differences and reversal.status == "paused" and len(reversals) > 1):
            continue
        due.append(reversal)
        moved += differences
    return due, moved


def _compare_entity(
    session: NetworkSession, reversal: Reversal, own: set[tuple[str, str]]
) -> Flow[list[StaleValue] | None]:
    """Return the differing values; None if the entity is deleted already."""
    reads, account, network = session.adapter.reads, session.native_account, session.adapter.network
    if reversal.action == "edit":
        entity = yield from reads.fetch_editable_entity(account, reversal.kind, reversal.entity_id)
        settings = {setting.field: setting for setting in list_settings(network, reversal.kind)}
        present = {
            name: get_display_value(network, account, settings[name], entity.native) for name in reversal.written_values
        }
        unused = {  # amounts that the bid strategy drops, which a network may show as 0 or as before
            name
            for name, value in reversal.written_values.items()
            if value is None and name in BID_FIELDS and find_lock_reason(network, settings[name], entity.native, None)
        }
        money = {name for name in present if settings[name].unit == "money"}
        return [
            _make_difference(reversal, name, written_value, present[name], account.currency if name in money else None)
            for name, written_value in reversal.written_values.items()
            if name not in unused and to_comparable(present[name]) != to_comparable(written_value)
        ]
    entity = yield from reads.fetch_entity(account, reversal.kind, reversal.entity_id)
    if reversal.action == "status":
        written_status = reversal.written_values[STATUS_MEMBER]
        if entity.status == written_status:
            return []
        return [_make_difference(reversal, STATUS_MEMBER, written_status, entity.status)]
    if entity.status in REMOVED_STATUSES:
        return None
    level = get_level(network, reversal.kind)
    if entity.status == "active" and unify_status(level, level.initial_status) == "paused":
        return [_make_difference(reversal, STATUS_MEMBER, "paused", "active")]
    children = yield from _list_foreign_children(session, reversal, own)
    return [_make_difference(reversal, "children", None, children)] if children else []


def _list_foreign_children(session: NetworkSession, reversal: Reversal, own: set[tuple[str, str]]) -> Flow[list[str]]:
    """Return the ids of the children that the operation did not create and that are not deleted."""
    levels = session.adapter.network.levels
    child_kinds = [level.kind for level in levels if level.parent_kind == reversal.kind and level.kind in ENTITY_KINDS]
    foreign: list[str] = []
    for kind in child_kinds:
        query = ListQuery(parent_id=reversal.entity_id)
        for _ in range(MAX_PAGES):
            page = yield from session.adapter.reads.list_entities(session.native_account, kind, query)
            foreign += [
                child.id
                for child in page.entities
                if (kind, child.id) not in own and child.status not in REMOVED_STATUSES
            ]
            if page.cursor is None:
                break
            query = evolve(query, cursor=page.cursor)
    return foreign


def _make_difference(
    reversal: Reversal, member: str, planned: Json, current: Json, currency: str | None = None
) -> StaleValue:
    return StaleValue(reversal.kind, reversal.entity_id, member, planned, current, currency)


def _describe_move(moved: StaleValue) -> str:
    if moved.member == "children":
        return f"The {moved.kind} {moved.entity_id} has children that the operation did not create."
    if moved.member == "entity":
        return f"The account does not have the {moved.kind} {moved.entity_id} any more."
    written_value, current = (_format(value, moved.currency) for value in (moved.planned, moved.found))
    return (
        f"{moved.member} of the {moved.kind} {moved.entity_id} is {current} now; the operation wrote {written_value}."
    )


def _format(value: Json, currency: str | None) -> str:
    text = value if isinstance(value, str) else "not set" if value is None else dumps(value)
    return f"{text} {currency or ''}".rstrip()


# -- the plan -----------------------------------------------------------------------------------------------------


async def _plan_reversals(service: Service, session: NetworkSession, source: Plan, due: Sequence[Reversal]) -> Plan:
    """Plan the reversals as one operation.

    An entity that cannot be deleted is left out if its parent is deleted; the plan has a warning.
    """
    plans: list[Plan] = []
    issues: list[Issue] = []
    warnings: list[str] = []
    for reversal in due:
        try:
            plan = await entities.plan_mutation(service, session, _make_mutation(reversal))
        except InvalidInput as problem:
            text = join_sentences(*(issue.message for issue in problem.issues))
            if reversal.action == "delete" and reversal is not due[-1]:
                warnings.append(f"The {reversal.kind} {reversal.entity_id} is not deleted itself. {text}")
            else:
                issues.append(Issue(f"steps.{reversal.step_key}", NOT_REVERSIBLE, text))
            continue
        issues += _find_inexact_values(reversal, plan)
        plans.append(plan)
    if issues:
        raise InvalidInput(issues, code=NOT_REVERSIBLE)
    if len(plans) == 1:
        return preparation.with_warnings(plans[0], warnings)
    return join_plans(_get_action(source.action), plans, warnings)


def _get_action(action: Action) -> Action:
    return "delete" if MULTI_STEP_ACTIONS.get(action) == "delete" else "status"


def _make_mutation(reversal: Reversal) -> Mutation:
    return Mutation(
        reversal.action, reversal.kind, reversal.entity_id, status=reversal.status, edit=Edit(reversal.fields)
    )


def _find_inexact_values(reversal: Reversal, plan: Plan) -> list[Issue]:
    """Return an issue for each value that the edit would not set exactly as it was."""
    after = {change.field: change.after for step in plan.steps for change in step.changes}
    return [
        Issue(
            f"steps.{reversal.step_key}.{name}", NOT_REVERSIBLE, "The network would not take exactly the former value."
        )
        for name, before in reversal.fields.items()
        if name not in after or to_comparable(after[name]) != to_comparable(_parse_flag(before, after[name]))
    ]


def _parse_flag(before: Json, after: Json) -> Json:
    return before == "true" if isinstance(after, bool) else before


def join_plans(action: Action, plans: Sequence[Plan], warnings: Sequence[str]) -> Plan:
    """Join plans into one. Their steps are independent, and get keys of their own.

    The plans either expose nothing, or activate entities again that the undone operation paused. Then the first plan is
    about the campaign, and its exposure counts everything below the campaign.
    """
    steps: list[Step] = []
    for number, plan in enumerate(plans, 1):
        keys: Mapping[str, str] = {step.key: f"{number}_{step.key}" for step in plan.steps}
        steps += [
            evolve(
                step,
                key=keys[step.key],
                bindings=tuple(evolve(binding, step=keys[binding.step]) for binding in step.bindings),
            )
            for step in plan.steps
        ]
    first = plans[0]
    risk = max((plan.risk for plan in plans), key=RISKS.index)
    joined = [*dict.fromkeys([*(text for plan in plans for text in plan.warnings), *warnings])]
    whole = make_plan(first.network, action, first.account, steps, joined, risk)
    return evolve(whole, exposure=first.exposure)
