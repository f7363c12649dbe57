"""Finds the changes that undo the applied steps of an operation. It reads nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Literal

from attrs import field, frozen

from adsunify.adapter.network import Network, Setting, get_level
from adsunify.adapter.settings import list_settings
from adsunify.errors import InvalidInput, Issue
from adsunify.execution.state import ObservedStatus
from adsunify.plans.records import ENTITY_KINDS, Change, Kind, Plan, Step
from adsunify.values.exact_json import Json

STATUS_MEMBER = "status"
NOT_REVERSIBLE = "not_reversible"
MULTI_STEP_ACTIONS = {"create": "delete", "activate": "status"}
"""The actions whose reversal may be several changes -> the action of the plan that undoes them."""


@frozen
class AppliedStep:
    """A step that was applied, and the statuses of the campaigns, ad groups and ads that it wrote."""

    step: Step
    observed: Sequence[ObservedStatus]


@frozen
class CreatedEntity:
    """A campaign, ad group or ad that an operation created, with its id as lists show it."""

    step_key: str
    kind: Kind
    id: str


@frozen
class Reversal:
    """One change that undoes a part of an operation.

    Attributes:
        step_key: the step that it undoes.
        action: the action of the change.
        kind: the kind of the entity.
        entity_id: the id of the entity, as lists show it.
        fields: field -> the value before, for an ``edit``.
        status: the unified status before, for a ``status``.
        written_values: member -> the value that the operation wrote, which must still be there.
    """

    step_key: str
    action: Literal["edit", "status", "delete"]
    kind: Kind
    entity_id: str
    fields: Mapping[str, Json] = field(factory=dict)
    status: str = ""
    written_values: Mapping[str, Json] = field(factory=dict)


def list_reversals(
    network: Network, plan: Plan, applied: Sequence[AppliedStep], created: Sequence[CreatedEntity]
) -> list[Reversal]:
    """Return the changes that undo an operation, in the order in which they are written.

    Entities that were created are deleted, the lowest level first. Entities that were activated are paused, the highest
    level first, so that the first write stops everything.

    Raises:
        InvalidInput: ``not_reversible``, with an issue for each step that cannot be undone.
    """
    if not applied:
        raise _refuse(Issue("", NOT_REVERSIBLE, "No step of the operation was applied, so there is nothing to undo."))
    if plan.action == "create":
        lowest_first = sorted(created, key=lambda entity: -ENTITY_KINDS.index(entity.kind))
        return [Reversal(entity.step_key, "delete", entity.kind, entity.id) for entity in lowest_first]
    if plan.action == "activate":
        return [
            Reversal(
                applied_step.step.key,
                "status",
                status.kind,
                status.id,
                status="paused",
                written_values={STATUS_MEMBER: "active"},
            )
            for applied_step in reversed(applied)
            for status in reversed(applied_step.observed)
        ]
    if plan.action == "edit":
        return [_reverse_edit(network, plan, applied)]
    if plan.action == "status":
        return [_reverse_status(network, applied_step) for applied_step in applied]
    reason = {
        "delete": "A deletion cannot be undone.",
        "update": "A native update does not keep the values before it. Prepare another update with these values.",
    }[plan.action]
    raise _refuse(*(Issue(f"steps.{applied_step.step.key}", NOT_REVERSIBLE, reason) for applied_step in applied))


def _refuse(*issues: Issue) -> InvalidInput:
    return InvalidInput(issues, code=NOT_REVERSIBLE)


def _reverse_status(network: Network, applied: AppliedStep) -> Reversal:
    step = applied.step
    before = next((change.before for change in step.changes if change.field == STATUS_MEMBER), None)
    for status in applied.observed:
        level = get_level(network, status.kind)
        earlier = level.unified_statuses.get(before, before) if isinstance(before, str) else None
        if earlier is None:
            message = f"The status of the {level.label} before is not known."
        elif before not in (earlier, level.writable_statuses.get(earlier)) or earlier not in level.writable_statuses:
            settable = _join(level.writable_statuses)
            message = f"The status before, {before}, cannot be set again: {network.title} sets {settable}."
        elif earlier == status.status:
            message = f"The {level.label} had this status before."
        else:
            return Reversal(
                *(step.key, "status", status.kind, status.id),
                status=earlier,
                written_values={STATUS_MEMBER: status.status},
            )
        raise _refuse(Issue(f"steps.{step.key}", NOT_REVERSIBLE, message))
    raise _refuse(Issue(f"steps.{step.key}", NOT_REVERSIBLE, "The plan does not hold the status before."))


def _join(words: Mapping[str, str]) -> str:
    return " or ".join(words) or "no status"


def _reverse_edit(network: Network, plan: Plan, applied: Sequence[AppliedStep]) -> Reversal:
    changed = [applied_step for applied_step in applied if applied_step.step.changes]
    place = find_edited_entity(plan, applied)
    if not changed or place is None or len(changed) < sum(bool(step.changes) for step in plan.steps):
        message = "A part of the edit was applied, and its values before cannot be written alone."
        raise _refuse(*(Issue(f"steps.{applied_step.step.key}", NOT_REVERSIBLE, message) for applied_step in applied))
    edited_kind, edited_id = place
    settings = {setting.field: setting for setting in list_settings(network, edited_kind)}
    fields: dict[str, Json] = {}
    issues: list[Issue] = []
    for applied_step in changed:
        for change in applied_step.step.changes:
            refusal = _explain_refusal(network, settings.get(change.field), change)
            if refusal is None:
                fields[change.field] = to_edit_value(change.before)
            else:
                issues.append(Issue(f"steps.{applied_step.step.key}.{change.field}", NOT_REVERSIBLE, refusal))
    if issues:
        raise _refuse(*issues)
    written_values = {change.field: change.after for applied_step in changed for change in applied_step.step.changes}
    return Reversal(changed[0].step.key, "edit", edited_kind, edited_id, fields=fields, written_values=written_values)


def find_edited_entity(plan: Plan, applied: Sequence[AppliedStep]) -> tuple[Kind, str] | None:
    """Return the entity of an edit. A write may change a separate object, such as Outbrain's budget."""
    for applied_step in applied:
        for kind in ENTITY_KINDS:
            if applied_step.step.kind == kind and applied_step.step.entity is not None:
                return kind, applied_step.step.entity.rpartition("/")[2]
    return next(_list_planned_entities(plan), None)


def _list_planned_entities(plan: Plan) -> Iterator[tuple[Kind, str]]:
    """Yield the entities that the plan names outside its steps: in its edit, or in the budgets of its exposure."""
    budgets = () if plan.exposure is None else plan.exposure.budgets
    places = [(plan.edit["kind"], plan.edit["entityId"])] if plan.edit is not None else []
    for place, entity_id in [*places, *((budget.kind, budget.entity_id) for budget in budgets)]:
        yield from ((kind, entity_id) for kind in ENTITY_KINDS if kind == place)


def _explain_refusal(network: Network, setting: Setting | None, change: Change) -> str | None:
    """Explain why the value before cannot be written; None if it can."""
    if setting is None:
        return f"{network.title} does not take the former {change.field} back as it was read. Edit it again."
    if change.before in (None, "", []) and not setting.can_clear:
        return f"{change.field} was not set before, and {network.title} cannot clear it."
    return None


def to_edit_value(value: Json) -> Json:
    """Return a value as an edit takes it; a field that was not set is cleared."""
    if value is None or value == []:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    return value
