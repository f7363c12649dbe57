"""Seeded changes of entities at the simulated networks: edits, statuses and bulk edits, their undo, and what it leaves.

The stored entities of the simulated network are the truth: an undo restores them, or is refused and writes nothing.
"""

from __future__ import annotations

import itertools
import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from datetime import date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from random import Random
from typing import Any, Literal

from attrs import define, field, frozen

from adsunify import Ads, EditTargeting
from adsunify.answers import Operation
from adsunify.errors import AdsunifyError, InvalidInput, OperationError, ProviderError, ValuesMoved
from adsunify.networks.registry import get_adapter
from adsunify.sandbox.world import StoredEntity, World
from adsunify.testing import SimulatedNetworks
from adsunify.values.network_codes import ExternalNetwork
from tests.networks.samples import list_example_briefs

from .matrix import load_brief

Kind = Literal["campaign", "adGroup", "ad"]
KINDS: tuple[Kind, ...] = ("campaign", "adGroup", "ad")
VOLATILE = re.compile(
    r"updat|modif|version|changeAudit|^_budget_changes|^_review|^_submitted|^ran_(from|until)$", re.IGNORECASE
)
"""Members that say when, or how often, an entity was changed, reviewed or delivered."""
AMOUNT = re.compile(r"\d+(\.\d+)?")
OUTSIDE_SHARE = 0.25
"""How many of the applied changes somebody changes again before they are undone."""
NUMBERS = itertools.count(1)
Entities = Mapping[tuple[str, str], StoredEntity]


@frozen
class Outcome:
    """What came of one seeded change, such as ``edit``, ``undone``. ``fault``: how it broke the promise of undo."""

    action: str
    result: str
    reason: str = ""
    fault: str = ""


@define
class Changer:
    """Changes the entities of one network at random, and undoes each change."""

    networks: SimulatedNetworks
    ads: Ads
    network: ExternalNetwork
    random: Random
    entities: dict[Kind, list[str]] = field(factory=dict)

    @property
    def world(self) -> World:
        return self.networks._running.state.worlds[self.network]

    def create_entities(self, paths: Sequence[Path]) -> None:
        """Create the campaigns of example briefs."""
        account = self.networks.account(self.network)
        for path in paths:
            operation = self.ads.campaigns.create(account, load_brief(path, account))
            done = self.ads.operations.run(operation, confirmed=True)
            for kind in KINDS:
                entity_ids = [created.entity_id for created in done.created if created.kind == kind]
                self.entities.setdefault(kind, []).extend(entity_ids)

    def iterate_outcomes(self, count: int) -> Iterator[Outcome]:
        """Yield the outcomes of so many changes that were applied. Changes that the network does not take are no part.

        Raises:
            AssertionError: the network takes hardly any of the changes.
        """
        applied = refused = 0
        while applied < count:
            for outcome in self._change_and_undo():
                applied += outcome.result != "not applied"
                refused += outcome.result == "not applied"
                yield outcome
            assert refused < 20 * (applied + 10), f"{self.network} takes hardly any change"

    def _change_and_undo(self) -> Iterator[Outcome]:
        action = self.random.choices(("edit", "status", "bulk edit"), (6, 1, 1))[0]
        try:
            operations = self._prepare(action)
        except InvalidInput as problem:
            yield Outcome(action, "not applied", ", ".join(sorted({issue.code for issue in problem.issues})))
            return
        for operation in operations:
            before = self.copy_world()
            try:
                done = self.ads.operations.run(operation, confirmed=True)
            except (OperationError, ProviderError) as problem:
                if not list_differences(before, self.copy_world()):
                    yield Outcome(action, "not applied", problem.code)
                    continue
                done = self.ads.operations.get(operation.id)  # a part was applied
            yield self._undo(action, done, before)

    # -- changes ---------------------------------------------------------------------------------------------------

    def _prepare(self, action: str) -> Sequence[Operation]:
        account = self.networks.account(self.network)
        kind = self.random.choice([kind for kind, ids in self.entities.items() if ids])
        ids = self.entities[kind]
        if action == "edit":
            return [self._prepare_edit(kind, self.random.choice(ids))]
        chosen = self.random.sample(ids, min(len(ids), self.random.randint(1, 3)))
        if action == "status":
            status: Literal["active", "paused"] = self.random.choice(["active", "paused"])
            return self.ads.bulk.status(account, kind=kind, entities=chosen, status=status).operations
        amounts = sorted({setting.field for setting in self._list_settings(kind) if setting.unit == "money"})
        mode: Literal["set", "increase", "decrease"] = self.random.choice(["set", "increase", "decrease"])
        value = self.random.randint(1, 90)
        field_name = self.random.choice(amounts or ["budget"])
        return self.ads.bulk.edit(
            account, kind=kind, entities=chosen, field=field_name, mode=mode, value=value
        ).operations

    def _list_settings(self, kind: Kind) -> list[Any]:
        return [setting for setting in get_adapter(self.network).network.settings if setting.level == kind]

    def _prepare_edit(self, kind: Kind, entity_id: str, names: Sequence[str] = ()) -> Operation:
        """Prepare an edit of one to three fields, or of a part of the targeting or creative."""
        account, resource = self.networks.account(self.network), get_resource(self.ads, kind)
        rows = {row.field: row for row in resource.settings(account, entity_id).fields if row.locked is None}
        free = [name for name in names or rows if name in rows]
        if not free:
            raise InvalidInput([], code="nothing to edit")
        chosen = self.random.sample(free, min(len(free), self.random.choice((1, 1, 2, 3))))
        can_clear = {setting.field for setting in self._list_settings(kind) if setting.can_clear}
        fields = {name: self._make_value(rows[name], name in can_clear) for name in chosen}
        targeting: dict[str, Any] = {}
        members = {
            edit.path for edit in get_adapter(self.network).network.edits if edit.level == kind if not edit.reason
        }
        choices: Mapping[str, tuple[str, Sequence[Any]]] = {
            "targeting.ageMin": ("ageMin", [18, 21, 25]),
            "targeting.ageMax": ("ageMax", [45, 54, 64]),
            "targeting.genders": ("genders", [["female"], ["male"]]),
        }
        possible = [choice for path, choice in choices.items() if path in members]
        if possible and not names and self.random.random() < 0.2:
            name, values = self.random.choice(possible)
            targeting = {name: self.random.choice(values)}
            fields = fields if self.random.random() < 0.5 else {}
        operation: Operation = resource.edit(
            account, entity_id, fields=fields, targeting=EditTargeting(**targeting) if targeting else None
        )
        return operation

    def _make_value(self, row: Any, can_clear: bool) -> Any:
        """Make a value of a field that the network probably takes, other than the present one."""
        value, random = row.value, self.random
        if can_clear and value not in (None, "", []) and random.random() < 0.25:
            return ""
        if row.choices and row.unit != "list":
            return random.choice([choice for choice in row.choices if choice != value] or row.choices)
        if row.unit == "flag":
            return "false" if value else "true"
        if row.unit == "number":
            return str(random.randint(1, 9))
        if row.unit == "list" and isinstance(value, list | tuple):
            options = row.choices or [str(element) for element in value]
            return ",".join(random.sample(options, random.randint(1, max(1, len(options)))) if options else [])
        if row.unit in ("instant", "day"):
            return self._move_time(row.unit, value)
        if row.unit not in ("text", "choice", "list", "instant", "day"):  # an amount of money
            present = Decimal(str(value)) if value is not None else Decimal(20)
            return f"{present * random.randint(60, 150) / 100:.2f}" if random.random() < 0.5 else str(int(present) + 7)
        if isinstance(value, str) and value.startswith("http"):
            return f"https://shop.example/{next(NUMBERS)}"
        return f"{str(value or 'New')[:20]} {next(NUMBERS)}"

    def _move_time(self, unit: str, value: Any) -> str:
        days = timedelta(days=self.random.randint(1, 20))
        if unit == "day":
            return str((date.fromisoformat(str(value)) if value else self.networks.clock.now().date()) + days)
        try:
            moment = datetime.fromisoformat(str(value))
        except ValueError:
            moment = self.networks.clock.now().replace(microsecond=0) + timedelta(days=30)
        return (moment + days).isoformat()

    # -- undo ------------------------------------------------------------------------------------------------------

    def _undo(self, action: str, done: Operation, before: Entities) -> Outcome:
        """Undo an operation.

        The network may refuse the former value: Meta accepts few changes of a budget in an hour, and X no budget above
        that of the campaign, which another change has lowered.
        """
        differences = list_differences(before, self.copy_world())
        if not differences:
            return Outcome(action, "not applied", "no difference")
        outside = self._change_outside(done, before) if self.random.random() < OUTSIDE_SHARE else ""
        writes = len(self.networks.writes(self.network))
        try:
            undo = self.ads.operations.undo(done.id)
        except (ValuesMoved, InvalidInput) as problem:
            fault = "" if len(self.networks.writes(self.network)) == writes else "a refused undo has written"
            if problem.code == "moved" and not outside:
                fault = f"moved, but nobody has changed it: {problem}"
            return Outcome(action + outside, problem.code, str(problem), fault)
        if outside:
            return Outcome(action + outside, "undone", fault=f"not refused: {differences}")
        try:
            self.ads.operations.run(undo, confirmed=True)
        except AdsunifyError as problem:
            is_written = len(self.networks.writes(self.network)) > writes
            return Outcome(action, problem.code, str(problem), f"{problem}: {differences}" if is_written else "")
        left = list_differences(before, self.copy_world())
        return Outcome(action, "undone", fault=f"left {left}; written {differences}" if left else "")

    def _change_outside(self, done: Operation, before: Entities) -> str:
        """Change what an operation wrote: by another edit, or at the network. Return how; empty if that is refused."""
        changed = [step for step in done.plan.steps if step.changes]
        names = [change.field for step in changed for change in step.changes]
        if self.random.random() < 0.5 and done.action == "edit":
            for kind, ids in self.entities.items():
                for entity_id in ids:
                    if any(str(step.path).find(entity_id) >= 0 for step in changed) and kind == changed[0].kind:
                        try:
                            self.ads.operations.run(self._prepare_edit(kind, entity_id, names), confirmed=True)
                        except (InvalidInput, OperationError, ProviderError):
                            return ""
                        return ", edited again"
        return self._restore(before)

    def _restore(self, before: Entities) -> str:
        """Set every entity back at the network. Return how; empty if something was created or removed."""
        for key, entity in self.copy_world().items():
            if key in before and before[key] != entity:
                self.world.replace(entity, before[key].data, logged=False)
        return "" if list_differences(before, self.copy_world()) else ", restored outside"

    def copy_world(self) -> Entities:
        """Everything that the simulated network holds."""
        return dict(self.world._stored_entities)


def get_resource(ads: Ads, kind: str) -> Any:
    """The methods of a client for the entities of a kind."""
    return {"campaign": ads.campaigns, "adGroup": ads.ad_groups, "ad": ads.ads}[kind]


def list_differences(before: Entities, after: Entities) -> list[str]:
    """Describe the members that differ, without times and versions. 4.50 is 4.5, and null is absent."""
    lines = []
    for key in {**before, **after}:
        if key not in before or key not in after:
            lines.append(f"{key} {'created' if key in after else 'removed'}")
        elif before[key] is not after[key]:
            former, present = _simplify(before[key].data), _simplify(after[key].data)
            names = [name for name in {**former, **present} if former.get(name) != present.get(name)]
            lines += [f"{key} {name}: {former.get(name)!r} -> {present.get(name)!r}" for name in names]
    return lines


def _simplify(value: Any) -> Any:
    if isinstance(value, Mapping):
        members = {name: _simplify(member) for name, member in value.items() if not VOLATILE.search(name)}
        return {name: member for name, member in members.items() if member is not None}
    if isinstance(value, list | tuple):
        return [_simplify(element) for element in value]
    return Decimal(value) if isinstance(value, str) and AMOUNT.fullmatch(value) else value


def list_outcomes(
    networks: SimulatedNetworks, ads: Ads, network: ExternalNetwork, seed: int, count: int, brief_count: int
) -> list[Outcome]:
    """Apply and undo so many seeded changes of one network, of the campaigns of so many example briefs."""
    changer = Changer(networks, ads, network, Random(f"{network} {seed}"))
    paths = list_example_briefs(network)
    changer.create_entities(changer.random.sample(paths, min(brief_count, len(paths))))
    return list(changer.iterate_outcomes(count))


def count_outcomes(outcomes: Sequence[Outcome]) -> Counter[tuple[str, str]]:
    """Count outcomes by action and result."""
    return Counter((outcome.action, outcome.result) for outcome in outcomes)
