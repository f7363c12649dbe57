"""What an operation is about, by name: from the plans and receipts that are stored, without asking a network."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from contextlib import suppress
from functools import cached_property
from typing import Any

from attrs import define, evolve, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import NotFound
from adsunify.plans.records import ENTITY_KINDS, Plan, Step
from adsunify.review.created_entities import CreatedEntity, find_created_entities
from adsunify.service import operations, serializers
from adsunify.store.attempts import StepAttempt, list_attempts_by_operation
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord, list_operations
from adsunify_server.pages import wording
from adsunify_server.pages.request import PageRequest

CHANGE_ACTIONS = ("edit", "update", "delete")
LOOK_BACK = 300
LAST_INSTANT = "9999"
"""After all instants."""
SHOWN_FIELDS = {"name": "name", "budget": "budget", "startAt": "start", "endAt": "end"}
"""Fields of an edit that are shown of what was created."""
WRITTEN_STATES = ("succeeded", "unknown", "running")
"""States in which something of an operation may stand at the network."""


@define(eq=False, slots=False)
class DisplayedOperation:
    """An operation with its plan. ``account``: its own, as the answers show it."""

    shown: Mapping[str, Any]
    record: OperationRecord
    account: Mapping[str, Any]

    @cached_property
    def plan(self) -> Plan:
        """The plan itself, which knows more than is shown of it."""
        return self.record.read_plan()

    @cached_property
    def created(self) -> list[CreatedEntity]:
        """What it creates."""
        return find_created_entities(self.account, self.shown)

    @property
    def executed_at(self) -> str:
        """When its first step was sent; empty where none was."""
        return next((str(step["intentAt"]) for step in self.shown["receipt"]["steps"]), "")

    @property
    def changing_steps(self) -> list[Step]:
        """The steps that change a campaign, an ad group or an ad that was there before."""
        return [step for step in self.plan.steps if step.entity is not None and step.kind in ENTITY_KINDS]


@frozen
class LaterChange:
    """An operation that changed what another one had created, with the changes that it tells."""

    operation: Mapping[str, Any]
    kind: str
    changes: Sequence[Mapping[str, Any]]


@frozen
class OperationSubject:
    """What an operation is about, by ``name``, or by id where none is known; ``kind``: what stands before it.

    ``source``: the operation that created it; ``created``: what that tells of it; ``unknown_entities``: kinds and ids
    of which nothing else is stored; ``later_changes``: what changed it since.
    """

    name: str
    kind: str
    source: Mapping[str, Any] | None
    created: Sequence[CreatedEntity]
    unknown_entities: Sequence[tuple[str, str]]
    later_changes: Sequence[LaterChange]


class SubjectIndex:
    """The latest operations of a person, and what each of them is about.

    What was created is looked for further back: in the latest :data:`LOOK_BACK`.
    """

    def __init__(self, found: Sequence[DisplayedOperation]) -> None:
        self.operations = {one.shown["id"]: one for one in found}
        self.creators = {
            (one.shown["accountId"], made.kind, id_): one for one in found for made in one.created for id_ in made.ids
        }

    @classmethod
    async def load(cls, visit: PageRequest, more: Sequence[str] = ()) -> SubjectIndex:
        """The latest 50; ``more``: ids of others that are wanted."""
        accounts = {account["accountId"]: account for account in await visit.call_endpoint("get_accounts")}
        wanted = list(dict.fromkeys([*[one["id"] for one in await visit.call_endpoint("get_operations")], *more]))
        kept = await operations.read_operations(visit.service, visit.actor, wanted)
        for id_ in {record.source_operation_id for record, _ in kept} - {None, *wanted}:
            with suppress(NotFound):  # made by somebody else, or before a role was taken
                kept.append(await operations.read_operation(visit.service, visit.actor, str(id_)))

        def load_records(found: Sequence[tuple[OperationRecord, Sequence[StepAttempt]]]) -> list[DisplayedOperation]:
            return [
                DisplayedOperation(
                    serializers.operation_to_json(visit.service, record, tried), record, accounts[record.account_id]
                )
                for record, tried in found
            ]

        here = cls(load_records(kept))
        missed = {
            str(step.entity)
            for one in here.operations.values()
            if here._find_source(one) is None
            for step in one.changing_steps
        }
        if not missed:
            return here
        makers = await visit.service.store.read(_find_creators, visit.actor, visit.service.store.clock, missed)
        older = [id_ for id_ in makers if id_ not in here.operations]
        return cls(
            [
                *here.operations.values(),
                *load_records(await operations.read_operations(visit.service, visit.actor, older)),
            ]
        )

    def describe_operation(self, operation_id: str) -> OperationSubject:
        """What an operation is about."""
        one = self.operations[operation_id]
        source = self._find_source(one)
        touched = [(step.kind, str(step.entity)) for step in one.changing_steps]
        since = [] if source is None or source is one else self._find_later_changes(one, source)
        of_source = [] if source is None else _apply_changes(source.created, since)
        own = [part for part in of_source if any(part.kind == kind and id_ in part.ids for kind, id_ in touched)]
        name = next((part.name for part in (own if touched else of_source) if part.name), None)
        whole = next((part.name for part in of_source if part.name), None)
        strange = touched if source is None else []
        kind, id_ = touched[-1] if touched else (of_source[0].kind if of_source else "", "")
        if one.shown["action"] == "delete" and own:
            own = [part for part in of_source if ENTITY_KINDS.index(part.kind) >= ENTITY_KINDS.index(own[0].kind)]
        return OperationSubject(
            name or whole or id_,
            kind if whole is None else "" if kind == "campaign" else f"{kind} of" if name is None else kind,
            None if source is None else source.shown,
            of_source if source is one or wording.is_starting(one.shown) else own,
            strange,
            [_to_later_change(other) for other in since],
        )

    def _find_source(self, one: DisplayedOperation) -> DisplayedOperation | None:
        """The operation that created what this one is about: itself, the one it activates, or one that made its ids."""
        if one.shown["action"] == "create":
            return one
        if "sourceOperationId" in one.shown:
            return self.operations.get(one.shown["sourceOperationId"])
        makers = [
            self.creators.get((one.shown["accountId"], step.kind, str(step.entity))) for step in one.changing_steps
        ]
        return next((maker for maker in makers if maker is not None), None)

    def _find_later_changes(self, one: DisplayedOperation, source: DisplayedOperation) -> list[DisplayedOperation]:
        """What changed it since it was created, oldest first; where this one was executed, what was so before."""
        until = one.executed_at or LAST_INSTANT
        return [
            other
            for other in sorted(self.operations.values(), key=lambda other: other.executed_at)
            if other.shown["action"] in CHANGE_ACTIONS and other.shown["status"] in WRITTEN_STATES
            if other is not one and other.executed_at <= until and self._find_source(other) is source
        ]


def _apply_changes(parts: Sequence[CreatedEntity], since: Sequence[DisplayedOperation]) -> list[CreatedEntity]:
    """What was created, with the changes that were surely written since."""
    found = list(parts)
    for step in (step for other in since if other.shown["status"] == "succeeded" for step in other.plan.steps):
        new: dict[str, Any] = {
            SHOWN_FIELDS[one.field]: str(one.after) if one.after else None
            for one in step.changes
            if one.field in SHOWN_FIELDS
        }
        if not wording.NUMBER_PATTERN.fullmatch(new.get("budget") or ""):
            new.pop("budget", None)
        found = [evolve(part, **new) if part.kind == step.kind and step.entity in part.ids else part for part in found]
    return found


def _to_later_change(other: DisplayedOperation) -> LaterChange:
    steps = other.shown["plan"]["steps"]
    changes = [
        wording.format_change(other.account, step["kind"], change) for step in steps for change in step["changes"]
    ]
    return LaterChange(other.shown, other.changing_steps[-1].kind if other.changing_steps else "", changes)


def _find_creators(connection: Connection, actor: Actor, clock: Clock, ids: Set[str]) -> list[str]:
    """The ids of earlier create operations that brought one of these ids."""
    records = [
        one for one in list_operations(connection, actor, clock, LOOK_BACK) if one.action == "create" and one.is_claimed
    ]
    tried = list_attempts_by_operation(connection, [one.id for one in records])
    return [one.id for one in records if any(_receipt_ids(attempt) & ids for attempt in tried.get(one.id, ()))]


def _receipt_ids(attempt: StepAttempt) -> set[str]:
    outputs = {} if attempt.receipt is None else attempt.receipt.outputs
    brought = [one for value in outputs.values() for one in ([value] if isinstance(value, str) else value)]
    return {*brought, *(one.rpartition("/")[2] for one in brought)}
