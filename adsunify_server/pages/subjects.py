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
from adsunify.plans.records import Plan, Step
from adsunify.review.created_entities import KINDS, Made, made
from adsunify.service import operations, shapes
from adsunify.store.attempts import Attempt, attempts_of
from adsunify.store.clock import Clock
from adsunify.store.operations import OperationRecord, latest

from . import wording
from .visiting import Visit

CHANGING = ("edit", "update", "delete")
FAR = 300
LAST = "9999"
"""After all instants."""
FIELDS = {"name": "name", "budget": "budget", "startAt": "start", "endAt": "end"}
"""Fields of an edit that are shown of what was created."""
WRITTEN = ("succeeded", "unknown", "running")
"""States in which something of an operation may stand at the network."""


@define(eq=False, slots=False)
class Known:
    """An operation with its plan. ``account``: its own, as the answers show it."""

    shown: Mapping[str, Any]
    record: OperationRecord
    account: Mapping[str, Any]

    @cached_property
    def plan(self) -> Plan:
        """The plan itself, which knows more than is shown of it."""
        return self.record.plan()

    @cached_property
    def made(self) -> list[Made]:
        """What it creates."""
        return made(self.account, self.shown)

    @property
    def executed(self) -> str:
        """When its first step was sent; empty where none was."""
        return next((str(step["intentAt"]) for step in self.shown["receipt"]["steps"]), "")

    @property
    def touched(self) -> list[Step]:
        """The steps that change a campaign, an ad group or an ad that was there before."""
        return [step for step in self.plan.steps if step.entity is not None and step.kind in KINDS]


@frozen
class Since:
    """An operation that changed what another one had created, with the changes that it tells."""

    operation: Mapping[str, Any]
    kind: str
    changes: Sequence[Mapping[str, Any]]


@frozen
class Subject:
    """What an operation is about, by ``name``, or by id where none is known; ``kind``: what stands before it.

    ``source``: the operation that created it; ``made``: what that tells of it; ``strange``: kinds and ids of which
    nothing else is stored; ``since``: what changed it since.
    """

    name: str
    kind: str
    source: Mapping[str, Any] | None
    made: Sequence[Made]
    strange: Sequence[tuple[str, str]]
    since: Sequence[Since]


class Subjects:
    """The latest operations of a person, and what each of them is about.

    What was created is looked for further back: in the latest :data:`FAR`.
    """

    def __init__(self, found: Sequence[Known]) -> None:
        self.all = {one.shown["id"]: one for one in found}
        self.makers = {
            (one.shown["accountId"], made.kind, id_): one for one in found for made in one.made for id_ in made.ids
        }

    @classmethod
    async def of(cls, visit: Visit, more: Sequence[str] = ()) -> Subjects:
        """The latest 50; ``more``: ids of others that are wanted."""
        accounts = {account["accountId"]: account for account in await visit.ask("get_accounts")}
        wanted = list(dict.fromkeys([*[one["id"] for one in await visit.ask("get_operations")], *more]))
        kept = await operations.read_all(visit.service, visit.actor, wanted)
        for id_ in {record.source_operation_id for record, _ in kept} - {None, *wanted}:
            with suppress(NotFound):  # made by somebody else, or before a role was taken
                kept.append(await operations.read(visit.service, visit.actor, str(id_)))

        def known(found: Sequence[tuple[OperationRecord, Sequence[Attempt]]]) -> list[Known]:
            return [
                Known(shapes.operation(visit.service, record, tried), record, accounts[record.account_id])
                for record, tried in found
            ]

        here = cls(known(kept))
        missed = {str(step.entity) for one in here.all.values() if here._source(one) is None for step in one.touched}
        if not missed:
            return here
        makers = await visit.service.store.read(_makers, visit.actor, visit.service.store.clock, missed)
        older = [id_ for id_ in makers if id_ not in here.all]
        return cls([*here.all.values(), *known(await operations.read_all(visit.service, visit.actor, older))])

    def about(self, operation_id: str) -> Subject:
        """What an operation is about."""
        one = self.all[operation_id]
        source = self._source(one)
        touched = [(step.kind, str(step.entity)) for step in one.touched]
        since = [] if source is None or source is one else self._since(one, source)
        of_source = [] if source is None else _as_changed(source.made, since)
        own = [part for part in of_source if any(part.kind == kind and id_ in part.ids for kind, id_ in touched)]
        name = next((part.name for part in (own if touched else of_source) if part.name), None)
        whole = next((part.name for part in of_source if part.name), None)
        strange = touched if source is None else []
        kind, id_ = touched[-1] if touched else (of_source[0].kind if of_source else "", "")
        if one.shown["action"] == "delete" and own:
            own = [part for part in of_source if KINDS.index(part.kind) >= KINDS.index(own[0].kind)]
        return Subject(
            name or whole or id_,
            kind if whole is None else "" if kind == "campaign" else f"{kind} of" if name is None else kind,
            None if source is None else source.shown,
            of_source if source is one or wording.starts(one.shown) else own,
            strange,
            [_told(other) for other in since],
        )

    def _source(self, one: Known) -> Known | None:
        """The operation that created what this one is about: itself, the one it activates, or one that made its ids."""
        if one.shown["action"] == "create":
            return one
        if "sourceOperationId" in one.shown:
            return self.all.get(one.shown["sourceOperationId"])
        makers = [self.makers.get((one.shown["accountId"], step.kind, str(step.entity))) for step in one.touched]
        return next((maker for maker in makers if maker is not None), None)

    def _since(self, one: Known, source: Known) -> list[Known]:
        """What changed it since it was created, oldest first; where this one was executed, what was so before."""
        until = one.executed or LAST
        return [
            other
            for other in sorted(self.all.values(), key=lambda other: other.executed)
            if other.shown["action"] in CHANGING and other.shown["status"] in WRITTEN
            if other is not one and other.executed <= until and self._source(other) is source
        ]


def _as_changed(parts: Sequence[Made], since: Sequence[Known]) -> list[Made]:
    """What was created, with the changes that were surely written since."""
    found = list(parts)
    for step in (step for other in since if other.shown["status"] == "succeeded" for step in other.plan.steps):
        new: dict[str, Any] = {
            FIELDS[one.field]: str(one.after) if one.after else None for one in step.changes if one.field in FIELDS
        }
        if not wording.NUMBER.fullmatch(new.get("budget") or ""):
            new.pop("budget", None)
        found = [evolve(part, **new) if part.kind == step.kind and step.entity in part.ids else part for part in found]
    return found


def _told(other: Known) -> Since:
    steps = other.shown["plan"]["steps"]
    changes = [wording.change(other.account, step["kind"], change) for step in steps for change in step["changes"]]
    return Since(other.shown, other.touched[-1].kind if other.touched else "", changes)


def _makers(connection: Connection, actor: Actor, clock: Clock, ids: Set[str]) -> list[str]:
    """The ids of earlier create operations that brought one of these ids."""
    records = [one for one in latest(connection, actor, clock, FAR) if one.action == "create" and one.claimed]
    tried = attempts_of(connection, [one.id for one in records])
    return [one.id for one in records if any(_brought(attempt) & ids for attempt in tried.get(one.id, ()))]


def _brought(attempt: Attempt) -> set[str]:
    outputs = {} if attempt.receipt is None else attempt.receipt.outputs
    brought = [one for value in outputs.values() for one in ([value] if isinstance(value, str) else value)]
    return {*brought, *(one.rpartition("/")[2] for one in brought)}
