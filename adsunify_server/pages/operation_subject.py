"""What an operation is about, by name. It is read from stored plans and receipts, without a request to a network."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from functools import cached_property
from typing import Any

from attrs import define, evolve, frozen

from adsunify.errors import NotFound
from adsunify.plans.records import ENTITY_KINDS, Plan, Step
from adsunify.review.created_entities import ReviewedEntity, find_created_entities
from adsunify.service import operations
from adsunify.service.operations import OperationView
from adsunify_server.pages import wording
from adsunify_server.pages.request import PageRequest

CHANGE_ACTIONS = ("edit", "update", "delete")
LAST_INSTANT = "9999"
"""A text that sorts after all instants."""
SHOWN_FIELDS = {"name": "name", "budget": "budget", "startAt": "start", "endAt": "end"}
"""The fields of an edit that the table of created entities also shows."""
WRITTEN_STATES = ("succeeded", "unknown", "running")
"""The states of operations that may have written something to the network."""


@define(eq=False, slots=False)
class DisplayedOperation:
    """An operation with its plan. ``account`` is the operation's ad account, as responses show it."""

    view: OperationView
    account: Mapping[str, Any]

    @property
    def data(self) -> Mapping[str, Any]:
        """The operation as responses show it."""
        return self.view.data

    @property
    def plan(self) -> Plan:
        """The whole plan."""
        return self.view.plan

    @cached_property
    def created_entities(self) -> list[ReviewedEntity]:
        """The entities that the operation creates."""
        return find_created_entities(self.account, self.data)

    @property
    def executed_at(self) -> str:
        """When the first step was sent; empty if no step was sent."""
        return next((str(step["intentAt"]) for step in self.data["receipt"]["steps"]), "")

    @property
    def changing_steps(self) -> list[Step]:
        """The steps that change a campaign, an ad group or an ad that existed before."""
        return [step for step in self.plan.steps if step.entity is not None and step.kind in ENTITY_KINDS]


@frozen
class LaterChange:
    """An operation that changed what another one had created. ``changes`` are the changes of its plan, in words."""

    operation: Mapping[str, Any]
    kind: str
    changes: Sequence[Mapping[str, Any]]


@frozen
class OperationSubject:
    """What an operation is about.

    Attributes:
        name: its name, or its id if the name is not known.
        kind: the word before the name.
        source: the operation that created the subject.
        created: the entities of the subject.
        unknown_entities: kinds and ids of entities whose id alone is stored.
        later_changes: operations that have changed the subject since.
    """

    name: str
    kind: str
    source: Mapping[str, Any] | None
    created: Sequence[ReviewedEntity]
    unknown_entities: Sequence[tuple[str, str]]
    later_changes: Sequence[LaterChange]


class SubjectIndex:
    """The latest operations of a person, and what each of them is about.

    The creators of entities are searched in the latest :data:`operations.LOOK_BACK` operations as well.
    """

    def __init__(self, displayed: Sequence[DisplayedOperation]) -> None:
        self.operations = {operation.data["id"]: operation for operation in displayed}
        self.creators = {
            (operation.data["accountId"], entity.kind, id_): operation
            for operation in displayed
            for entity in operation.created_entities
            for id_ in entity.ids
        }

    @classmethod
    async def load(cls, visit: PageRequest, more: Sequence[str] = ()) -> SubjectIndex:
        """Read the latest 50 operations, and those with the ids ``more``."""
        accounts = {account["accountId"]: account for account in await visit.call_endpoint("get_accounts")}
        latest = await visit.call_endpoint("get_operations")
        operation_ids = dict.fromkeys([*(operation["id"] for operation in latest), *more])
        views = await operations.read_operation_views(visit.service, visit.actor, operation_ids)
        for id_ in {view.data.get("sourceOperationId") for view in views.values()} - {None, *operation_ids}:
            with suppress(NotFound):  # the person may not read it
                views |= await operations.read_operation_views(visit.service, visit.actor, [str(id_)])

        def display_all(views: Iterable[OperationView]) -> list[DisplayedOperation]:
            return [DisplayedOperation(view, accounts[view.data["accountId"]]) for view in views]

        index = cls(display_all(views.values()))
        missing_ids = {
            str(step.entity)
            for operation in index.operations.values()
            if index._find_source(operation) is None
            for step in operation.changing_steps
        }
        if not missing_ids:
            return index
        creator_ids = await operations.find_creators(visit.service, visit.actor, missing_ids)
        older_ids = [id_ for id_ in creator_ids if id_ not in index.operations]
        older = await operations.read_operation_views(visit.service, visit.actor, older_ids)
        return cls([*index.operations.values(), *display_all(older.values())])

    def describe_operation(self, operation_id: str) -> OperationSubject:
        """Return what an operation is about."""
        operation = self.operations[operation_id]
        source = self._find_source(operation)
        touched = [(step.kind, str(step.entity)) for step in operation.changing_steps]
        later = [] if source is None or source is operation else self._find_later_changes(operation, source)
        entities = [] if source is None else _apply_changes(source.created_entities, later)
        own = [entity for entity in entities if any(entity.kind == kind and id_ in entity.ids for kind, id_ in touched)]
        name = next((entity.name for entity in (own if touched else entities) if entity.name), None)
        campaign_name = next((entity.name for entity in entities if entity.name), None)
        kind, id_ = touched[-1] if touched else (entities[0].kind if entities else "", "")
        if operation.data["action"] == "delete" and own:
            deleted = ENTITY_KINDS.index(own[0].kind)
            own = [entity for entity in entities if ENTITY_KINDS.index(entity.kind) >= deleted]
        if campaign_name is not None:
            kind = "" if kind == "campaign" else f"{kind} of" if name is None else kind
        return OperationSubject(
            name or campaign_name or id_,
            kind,
            None if source is None else source.data,
            entities if source is operation or wording.is_starting(operation.data) else own,
            touched if source is None else [],
            [_to_later_change(change) for change in later],
        )

    def _find_source(self, operation: DisplayedOperation) -> DisplayedOperation | None:
        """Return the operation that created the subject.

        It is the operation itself, the one that it activates, or the one that created the entities that it changes.
        """
        if operation.data["action"] == "create":
            return operation
        if "sourceOperationId" in operation.data:
            return self.operations.get(operation.data["sourceOperationId"])
        creators = [
            self.creators.get((operation.data["accountId"], step.kind, str(step.entity)))
            for step in operation.changing_steps
        ]
        return next((creator for creator in creators if creator is not None), None)

    def _find_later_changes(
        self, operation: DisplayedOperation, source: DisplayedOperation
    ) -> list[DisplayedOperation]:
        """Return the operations that changed the subject before this operation was executed, oldest first."""
        until = operation.executed_at or LAST_INSTANT
        return [
            other
            for other in sorted(self.operations.values(), key=lambda other: other.executed_at)
            if other.data["action"] in CHANGE_ACTIONS and other.data["status"] in WRITTEN_STATES
            if other is not operation and other.executed_at <= until and self._find_source(other) is source
        ]


def _apply_changes(entities: Sequence[ReviewedEntity], later: Sequence[DisplayedOperation]) -> list[ReviewedEntity]:
    """Return the created entities with the changes that later operations surely wrote."""
    changed = list(entities)
    for step in (step for other in later if other.data["status"] == "succeeded" for step in other.plan.steps):
        values: dict[str, Any] = {
            SHOWN_FIELDS[change.field]: str(change.after) if change.after else None
            for change in step.changes
            if change.field in SHOWN_FIELDS
        }
        if not wording.NUMBER_PATTERN.fullmatch(values.get("budget") or ""):
            values.pop("budget", None)
        changed = [
            evolve(entity, **values) if entity.kind == step.kind and step.entity in entity.ids else entity
            for entity in changed
        ]
    return changed


def _to_later_change(other: DisplayedOperation) -> LaterChange:
    steps = other.data["plan"]["steps"]
    changes = [
        wording.format_change(other.account, step["kind"], change) for step in steps for change in step["changes"]
    ]
    return LaterChange(other.data, other.changing_steps[-1].kind if other.changing_steps else "", changes)
