"""The values that adsunify wrote last to the entities of an account, from its receipts."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import groupby
from typing import Any

from adsunify.execution.status_updates import read_receipt_statuses
from adsunify.launches.drift import STATUS_FIELD
from adsunify.outcomes.reversals import AppliedStep, find_edited_entity
from adsunify.plans.records import ENTITY_KINDS, Plan, Step
from adsunify.review.created_entities import read_sent_fields
from adsunify.service.accounts import account_to_json
from adsunify.service.network_session import NetworkSession
from adsunify.service.serializers import plan_view
from adsunify.store.applied_writes import AppliedWrite, list_applied_writes
from adsunify.values.exact_json import Json

from .reading import Place

STATUS_ACTIONS = ("create", "activate", "status")
"""The actions that set statuses. The response to an edit shows a status that somebody else may have set."""


async def read_written_fields(session: NetworkSession) -> dict[Place, dict[str, Json]]:
    """Return, for each entity of the account, the fields that adsunify wrote last, with the status.

    After a native update the written fields are not known, so the entity has none until the next edit. The same
    holds for an operation whose plan was removed after its retention.
    """
    store, account = session.service.store, session.account
    writes = await store.read(list_applied_writes, account.workspace_id, account.id)
    fields_by_place: dict[Place, dict[str, Json]] = {}
    for _, group in groupby(writes, key=lambda write: write.operation_id):
        _add_writes(session, list(group), fields_by_place)
    return fields_by_place


def _add_writes(
    session: NetworkSession, writes: Sequence[AppliedWrite], fields_by_place: dict[Place, dict[str, Json]]
) -> None:
    """Add the values that the applied steps of one operation wrote."""
    plan = writes[0].plan
    if writes[0].is_outline:
        changed = {id_ for write in writes for id_ in _list_changed_ids(write)}
        fields_by_place.update({place: {} for place in fields_by_place if place[1] in changed})
        return
    if plan.action == "create":
        operation = {"plan": plan_view(plan), "receipt": {"steps": [_receipt_to_json(write) for write in writes]}}
        for kind, entity_id, fields in read_sent_fields(account_to_json(session.account), operation):
            if entity_id is not None:
                fields_by_place.setdefault((kind, entity_id), {}).update(fields)
    for write in writes:
        step = plan.steps[write.receipt.step_index]
        statuses = read_receipt_statuses(session.adapter.network, step, write.receipt)
        if plan.action == "edit" and step.changes:
            place = find_edited_entity(plan, [AppliedStep(step, statuses)])
            if place is not None:
                fields_by_place.setdefault(place, {}).update({change.field: change.after for change in step.changes})
        if plan.action == "update":
            for kind in ENTITY_KINDS:
                if kind == step.kind and step.entity is not None:
                    fields_by_place[kind, step.entity.rpartition("/")[2]] = {}
        if plan.action in STATUS_ACTIONS:
            observed = {(status.kind, status.id): status.status for status in statuses}
            for place, status in (observed or _find_named_statuses(plan, step)).items():
                fields_by_place.setdefault(place, {})[STATUS_FIELD] = status


def _list_changed_ids(write: AppliedWrite) -> Iterator[str]:
    """Yield the ids of the entities that a step may have changed, from the outline of its plan."""
    step = write.plan.steps[write.receipt.step_index]
    place = find_edited_entity(write.plan, ())
    yield from () if place is None else (place[1],)
    for id_ in (step.entity, *(item.id for item in write.receipt.items)):
        if id_ is not None:
            yield id_.rpartition("/")[2]


def _find_named_statuses(plan: Plan, step: Step) -> dict[Place, str]:
    """Return the status that a step sets by the address of its request instead of its body (ChatGPT)."""
    changed = [change.after for change in step.changes if change.field == STATUS_FIELD]
    status = "active" if plan.action == "activate" else changed[0] if changed else None
    if status is None or step.entity is None:
        return {}
    return {(kind, step.entity.rpartition("/")[2]): status for kind in ENTITY_KINDS if kind == step.kind}


def _receipt_to_json(write: AppliedWrite) -> Mapping[str, Any]:
    return {"key": write.receipt.key, "outputs": write.receipt.outputs}
