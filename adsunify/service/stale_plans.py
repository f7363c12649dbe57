"""Compares the values that a plan depends on with the network's present values, before the first write.

An edit is planned again, from new reads, and both plans are compared. The values that the exposure counts (its guards)
are read again as well.
"""

from __future__ import annotations

from collections.abc import Iterator

from adsunify.actor import Actor
from adsunify.adapter import flows
from adsunify.adapter.edits import Edit, only_lowers_amounts
from adsunify.adapter.network import get_level
from adsunify.adapter.settings import list_settings
from adsunify.errors import (
    InvalidInput,
    PlanStale,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    StaleValue,
    TokenRefused,
)
from adsunify.guardrails.children import ChildReader
from adsunify.guardrails.guarded_values import fetch_guarded_values
from adsunify.guardrails.payloads import find_edited_status
from adsunify.http.messages import Flow
from adsunify.plans.exposure import Exposure, Guard, format_amount
from adsunify.plans.records import Kind, Plan
from adsunify.plans.staleness import compare_plans, describe_refusal, make_difference
from adsunify.review.completion import join_sentences
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json, dumps
from adsunify.values.money import group_digits

from .core import Service
from .network_session import NetworkSession

STALE_ADVICE = (
    "Cancel the operation and prepare the change again, so that the new value is reviewed. An execution with "
    "allowStale writes the plan as it is."
)
UNREADABLE_ADVICE = (
    "So the values that the plan rests on cannot be compared. Nothing was written. Call again later, or execute with "
    "allowStale, which compares nothing."
)
GONE = ("entity", "present", "not found")
"""The difference of an entity that does not exist any more: the member, the planned value and the present value."""
MAX_SENTENCES = 5
"""How many differences the message of an error names."""
MAX_VALUE_CHARACTERS = 200


def must_plan_again(session: NetworkSession, kind: Kind, edit: Edit, plan: Plan) -> bool:
    """Whether an edit is planned again before its execution.

    Pauses are not planned again, and neither are edits that only lower amounts to fixed values, so that nothing delays
    an emergency stop.
    """
    network = session.adapter.network
    changes = [change for step in plan.steps for change in step.changes]
    status = find_edited_status(get_level(network, kind), list_settings(network, kind), edit.fields)
    is_pause = status == "paused" and len(edit.fields) == 1 and not edit.targeting and not edit.creative
    return not is_pause and not only_lowers_amounts(network, kind, edit, changes)


async def require_planned_values(service: Service, actor: Actor, record: OperationRecord) -> None:
    """Read the values that a plan depends on again, before its first write.

    Nothing is read if the plan depends on no values, or if the account is not active: then the claim refuses the write.
    A resumed plan does not contain values that an earlier operation of its chain has changed.

    Raises:
        PlanStale: a value differs from the plan. Nothing was written.
        ProviderError: the values cannot be read. A decrease is executed nevertheless.
    """
    plan = record.read_plan()
    if plan.edit is None and (plan.exposure is None or not plan.exposure.guards):
        return
    session = await NetworkSession.load(service, actor, record.account_id)
    if session.account.status != "active":
        return
    try:
        child_reader = await session.make_child_reader()
        differences = await session.run_flow(flows.memoize_reads(_fetch_differences(session, plan, child_reader)))
    except ProviderError as problem:
        if plan.edit is None and plan.exposure is not None and plan.exposure.reduces:
            return
        if not isinstance(problem, ProviderThrottled | TokenRefused):
            problem.message = join_sentences(problem.message, UNREADABLE_ADVICE)
        raise
    if differences:
        raise PlanStale(join_sentences(*_describe(differences), STALE_ADVICE), differences=differences)


def _fetch_differences(session: NetworkSession, plan: Plan, child_reader: ChildReader) -> Flow[list[StaleValue]]:
    guarded = yield from _fetch_changed_guards(child_reader, plan.exposure)
    members = {(difference.kind, difference.entity_id, difference.member) for difference in guarded}
    edited = yield from _fetch_changed_edit(session, plan)
    return [
        *guarded,
        *(
            difference
            for difference in edited
            if (difference.kind, difference.entity_id, difference.member) not in members
        ),
    ]


def _fetch_changed_guards(child_reader: ChildReader, exposure: Exposure | None) -> Flow[list[StaleValue]]:
    if exposure is None or not exposure.guards:
        return []
    present = yield from fetch_guarded_values(child_reader, exposure.guards)
    entities = {(kind, entity_id) for kind, entity_id, _ in present}
    gone = [guard for guard in exposure.guards if (guard.kind, guard.entity_id) not in entities]
    values = (
        (guard, present.get((guard.kind, guard.entity_id, guard.field)))
        for guard in exposure.guards
        if guard not in gone
    )
    return [
        *(StaleValue(*place, *GONE) for place in dict.fromkeys((guard.kind, guard.entity_id) for guard in gone)),
        *(_make_guard_difference(guard, value, exposure) for guard, value in values if not guard.is_kept(value)),
    ]


def _make_guard_difference(guard: Guard, current: str | int | None, exposure: Exposure) -> StaleValue:
    is_amount = isinstance(guard.value, int) or isinstance(current, int)
    planned, present = (
        format_amount(value, exposure.currency) if isinstance(value, int) else value for value in (guard.value, current)
    )
    currency = exposure.currency if is_amount else None
    return StaleValue(guard.kind, guard.entity_id, guard.field, planned, present, currency)


def _fetch_changed_edit(session: NetworkSession, plan: Plan) -> Flow[list[StaleValue]]:
    """Plan the edit of a plan again, and return the differences. Values that are the present time are not compared."""
    if plan.edit is None:
        return []
    kind, entity_id = plan.edit["kind"], plan.edit["entityId"]
    account = session.native_account
    try:
        edit = Edit.from_json(plan.edit)
        present = yield from session.adapter.plans.plan_edit(account, kind, entity_id, edit, None)
        differences = [*compare_plans(plan, present)]
    except ProviderNotFound:
        return [make_difference(plan, *GONE)]
    except InvalidInput as refusal:
        differences = [*describe_refusal(plan, refusal.issues)]
    money = {setting.field for setting in list_settings(session.adapter.network, kind) if setting.unit == "money"}
    return [
        difference._replace(currency=account.currency) if difference.member in money else difference
        for difference in differences
    ]


def _describe(differences: list[StaleValue]) -> Iterator[str]:
    for difference in differences[:MAX_SENTENCES]:
        planned, current = (_format(value, difference.currency) for value in (difference.planned, difference.found))
        subject = f"{difference.member} of the {difference.kind} {difference.entity_id}"
        yield f"{subject} is {current}; the plan rests on {planned}."
    if len(differences) > MAX_SENTENCES:
        yield f"{len(differences) - MAX_SENTENCES} more values differ."


def _format(value: Json, currency: str | None) -> str:
    if value is None:
        return "not set"
    text = value if isinstance(value, str) else dumps(value)
    if currency is not None and text.replace(".", "", 1).isdecimal():
        text = group_digits(text)
    return f"{text[:MAX_VALUE_CHARACTERS]} {currency or ''}".rstrip()
