"""A model of windows in plain Python, and the store's functions beside it: they must agree after every step.

``python -m tests.guardrails.simulation --seed N`` repeats one run. Every run has a database of its own, in memory.
"""

from __future__ import annotations

import argparse
import random
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from attrs import define, evolve, field
from sqlalchemy import Connection, create_engine
from sqlalchemy.pool import StaticPool

from adsunify.actor import Actor
from adsunify.errors import OperationError
from adsunify.execution.state import (
    LEASE_MILLISECONDS,
    REVIEW_MILLISECONDS,
    CommitResult,
    Intent,
    ItemReceipt,
    Receipt,
    StateCommit,
)
from adsunify.guardrails.rules import Guardrail, Limits, Window
from adsunify.guardrails.windows import SpendBinding, WindowUse
from adsunify.http.messages import Request
from adsunify.plans.records import Step, make_plan
from adsunify.store import Clock, cancellation, connections, guardrails, new_id, operations, people
from adsunify.store.connections import DiscoveredAccountRow
from adsunify.store.operations import OperationDraft
from adsunify.store.schema import metadata
from adsunify.store.state_commits import commit_state

START = 1_800_000_000_000
MINUTE = 60_000
HOUR = 60 * MINUTE
RUN_STEPS = 5_000
"""The steps of one run: a new run begins with an empty database, which stays small."""
KEYS = ("first", "second")
REQUEST = Request("POST", "https://graph.example/campaigns", body={"name": "n"}, encoding="json", kind="write")
PLAN = make_plan(
    "meta", "create", "act_1", [Step(key, "campaign", f"create {key}", REQUEST) for key in KEYS], (), "low"
)
LIMITS = (0, 50, 100, 100, 300, 1_000, 10**18, None, None, None)
AMOUNTS = (*(0, 1, 7, 20, 30, 30, 50, 60, 99, 100) * 3, 101, 1_000, 10**18, 2**63, 10**30)
HOURS = (1, 1, 2, 3, 24, 744)


@define
class ModelUse:
    """What an operation took from a window, and in which hour."""

    hour: int
    daily: int
    lifetime: int


@define
class ModelRule:
    """A rule, and everything that its window was asked to count."""

    stored: Guardrail
    hour: int
    uses: dict[str, ModelUse] = field(factory=dict)

    def sum_uses(self, hour: int) -> tuple[int, int]:
        """What the window holds in an hour."""
        window = self.stored.per_window
        if window is None:
            return 0, 0
        last = max(hour, self.hour)
        inside = [use for use in self.uses.values() if last - window.hours <= use.hour <= last]
        return sum(use.daily for use in inside), sum(use.lifetime for use in inside)


@define
class ModelOperation:
    """An operation as it must be."""

    id: str
    spend: tuple[int, int, bool]
    matches: frozenset[str]
    created_at: int
    status: str = "prepared"
    fence: int = 0
    lease_until: int = 0
    open_intent: Intent | None = None
    attempts: int = 0
    applied_steps: int = 0
    is_evidence: bool = False
    """Whether a write was applied, or may have been."""


@define
class Simulation:
    """One run: the database and the model."""

    seed: int
    connection: Connection
    actor: Actor
    account_id: str
    clock: Clock
    dice: random.Random
    now: list[int]
    rules: dict[str, ModelRule] = field(factory=dict)
    version: int = 0
    operations: dict[str, ModelOperation] = field(factory=dict)
    active: dict[str, ModelOperation] = field(factory=dict)
    """The operations that a step may still choose."""
    counts: dict[str, int] = field(factory=dict)

    # -- the store ----------------------------------------------------------------------------------------------

    def write(self, function: Callable[..., Any], *arguments: Any, **more: Any) -> Any:
        """Run a store function as the writer of SQLite does, in a savepoint of a transaction."""
        raw: Any = self.connection.connection.dbapi_connection
        raw.execute("BEGIN IMMEDIATE")
        raw.execute("SAVEPOINT one")
        try:
            return function(self.connection, *arguments, **more)
        except BaseException:
            raw.execute("ROLLBACK TO one")
            raise
        finally:
            raw.execute("RELEASE one")
            raw.execute("COMMIT")

    def commit(self, change: StateCommit, binding: SpendBinding | None = None) -> CommitResult:
        result: CommitResult = self.write(commit_state, change, self.actor, self.clock, binding=binding)
        return result

    def check(self) -> None:
        """Compare every window."""
        usages = guardrails.read_windows(self.connection, self.actor.workspace_id, self.rules, self.clock)
        expected = {
            id_: rule.sum_uses(self.hour) for id_, rule in self.rules.items() if rule.stored.per_window is not None
        }
        assert {id_: (usage.daily, usage.lifetime) for id_, usage in usages.items()} == expected

    def check_uses(self) -> None:
        """Compare the operations that every window lists."""
        for id_, rule in self.rules.items():
            usage = guardrails.read_usage(self.connection, id_, self.clock)
            if usage.hours is None or len(usage.uses) >= guardrails.MAX_LISTED_USES:
                continue
            last = max(self.hour, rule.hour)
            inside = {chain: use for chain, use in rule.uses.items() if use.hour >= last - usage.hours}
            assert {use.operation_id: (use.hour, use.daily, use.lifetime) for use in usage.uses} == {
                chain: (use.hour, use.daily, use.lifetime) for chain, use in inside.items()
            }

    @property
    def hour(self) -> int:
        """The present hour."""
        return self.now[0] // HOUR

    # -- steps --------------------------------------------------------------------------------------------------

    def step(self) -> None:
        """Take one step, and compare."""
        choices = (
            (self.prepare, 26),
            (self.claim, 34),
            (self.go_on, 8),
            (self.end, 30),
            (self.cancel, 3),
            (self.recover, 2),
            (self.pass_time, 10),
            (self.change_rule, 1.5),
            (self.create_rule, 0.5),
            (self.delete_rule, 0.3),
        )
        (chosen,) = self.dice.choices([action for action, _ in choices], [weight for _, weight in choices])
        chosen()
        self.check()

    def count(self, what: str) -> None:
        self.counts[what] = self.counts.get(what, 0) + 1

    def pick(self, *statuses: str) -> ModelOperation | None:
        chosen = [operation for operation in self.active.values() if operation.status in statuses]
        return self.dice.choice(chosen) if chosen else None

    def prepare(self) -> None:
        draft = OperationDraft(self.account_id, PLAN)
        prepared = self.write(operations.prepare_operations, self.actor, [draft], self.clock)
        spend = (self.dice.choice(AMOUNTS), self.dice.choice(AMOUNTS), self.dice.random() < 0.05)
        matches = frozenset(id_ for id_ in self.rules if self.dice.random() < 0.5)
        id_ = prepared.operation_ids[0]
        self.operations[id_] = self.active[id_] = ModelOperation(id_, spend, matches, self.now[0])
        if len(self.active) > 60:  # the oldest stays as it is
            self.active.pop(next(iter(self.active)))

    def pass_time(self) -> None:
        (minutes,) = self.dice.choices((0.1, 0.4, 2, 20, 61, 200, 60 * 25), (30, 30, 20, 4, 3, 2, 1))
        self.now[0] += int(minutes * MINUTE)
        if minutes > 2:  # most of what expired is of no further interest
            for id_ in [
                operation.id
                for operation in self.active.values()
                if self.now[0] - operation.created_at > REVIEW_MILLISECONDS
            ]:
                if self.dice.random() < 0.9:
                    del self.active[id_]

    def claim(self) -> None:
        """Claim, sometimes with an outdated evaluation, sometimes without an intent, sometimes twice."""
        operation = self.pick("prepared", "running")
        if operation is None:
            return
        is_outdated = self.dice.random() < 0.03
        uses = tuple(
            WindowUse(id_, rule.stored.version, window.hours, window.limits, *operation.spend)
            for id_, rule in self.rules.items()
            if id_ in operation.matches and (window := rule.stored.per_window) is not None
        )
        binding = SpendBinding(self.version - is_outdated, operation.id, tuple(use for use in uses if use.is_counted))
        intent = self.make_next_intent(operation) if self.dice.random() < 0.8 else None
        expected, breached = self.expect_claim(operation, is_outdated, binding)
        result = self.commit(StateCommit(operation.id, None, intent=intent, trigger="claim"), binding)
        assert result.refusal == expected, (result, expected)
        self.count(f"claim {expected}")
        if expected == "guardrail":
            assert result.breach is not None
            assert (result.breach.rule_id, result.breach.limit) in breached
            assert result.breach.room == min(breached.values())
            return
        if expected is not None:
            return
        operation.status, operation.fence, operation.open_intent = "running", result.fence, intent
        operation.lease_until = self.now[0] + LEASE_MILLISECONDS
        for use in binding.uses:
            rule = self.rules[use.rule_id]
            rule.hour = max(rule.hour, self.hour)
            rule.uses.setdefault(operation.id, ModelUse(rule.hour, use.daily, use.lifetime))
            for limit, total, amount in zip(
                (use.limits.daily, use.limits.lifetime), rule.sum_uses(self.hour), operation.spend[:2], strict=True
            ):
                assert limit is None or total <= limit or amount == 0 or operation.is_evidence, "the window is exceeded"
        if self.dice.random() < 0.05:  # the caller lost the answer, and claims again
            assert (
                self.commit(StateCommit(operation.id, None, intent=intent, trigger="claim"), binding).refusal
                == "claimed"
            )

    def make_next_intent(self, operation: ModelOperation) -> Intent:
        operation.attempts += 1
        n = min(operation.applied_steps, 1)
        return Intent(n, KEYS[n], operation.attempts, {"method": "POST", "url": "https://graph.example"})

    def expect_claim(
        self, operation: ModelOperation, is_outdated: bool, binding: SpendBinding
    ) -> tuple[str | None, dict[tuple[str, str], int]]:
        """The refusal of a claim, and what every full window has room for."""
        if operation.status == "running":
            if self.now[0] < operation.lease_until or operation.open_intent is not None:
                return "claimed", {}
            self.give_back(operation)
            operation.status = "prepared"
        if self.now[0] >= operation.created_at + REVIEW_MILLISECONDS:
            return "expired", {}
        if is_outdated:
            return "rules_changed", {}
        full = {}
        for use in binding.uses:
            rule = self.rules[use.rule_id]
            if operation.id in rule.uses:
                continue
            names = (("daily", use.daily, use.limits.daily), ("lifetime", use.lifetime, use.limits.lifetime))
            for total, (name, amount, limit) in zip(rule.sum_uses(self.hour), names, strict=True):
                limit = 9 * 10**18 if limit is None else limit
                if amount and total + amount > limit:
                    full[use.rule_id, name] = max(0, limit - total)
                    break
        return ("guardrail" if full else None), full

    def give_back(self, operation: ModelOperation) -> None:
        """An operation ends without a write in flight."""
        if not operation.is_evidence and operation.open_intent is None:
            for rule in self.rules.values():
                if rule.uses.pop(operation.id, None) is not None:
                    rule.hour = max(rule.hour, self.hour)

    def make_receipt(self, operation: ModelOperation, state: Any) -> Receipt | None:
        """The receipt of the write in flight, if there is one."""
        intent, operation.open_intent = operation.open_intent, None
        if intent is None:
            return None
        items: tuple[ItemReceipt, ...] = ()
        if state == "rejected" and self.dice.random() < 0.2:
            items = (ItemReceipt(0, "rejected"), ItemReceipt(1, self.dice.choice(("applied", "rejected")), "7"))
        operation.is_evidence |= state in ("applied", "ambiguous") or any(item.state == "applied" for item in items)
        operation.applied_steps += state == "applied"
        return Receipt(intent.step_index, intent.key, intent.attempt, state, http_status=200, items=items)

    def go_on(self) -> None:
        """The receipt of one write, and the intent of the next."""
        operation = self.pick("running")
        if operation is None or self.now[0] >= min(operation.lease_until, operation.created_at + REVIEW_MILLISECONDS):
            return
        receipt = self.make_receipt(operation, "applied")
        intent = self.make_next_intent(operation)
        assert self.commit(StateCommit(operation.id, operation.fence, receipt, intent)).refusal is None
        operation.open_intent, operation.lease_until = intent, self.now[0] + LEASE_MILLISECONDS

    def end(self) -> None:
        """The last commit of an execution, sometimes repeated."""
        operation = self.pick("running")
        if operation is None:
            return
        state = self.dice.choice(("applied", "applied", "rejected", "rejected", "throttled", "ambiguous"))
        receipt = self.make_receipt(operation, state)
        trigger: Any = "hand_back"
        if receipt is not None and state == "ambiguous":
            trigger = "lose"
        elif receipt is not None and state == "applied" and self.dice.random() < 0.5:
            trigger = "succeed"
        change = StateCommit(operation.id, operation.fence, receipt, trigger=trigger, has_next_action=True)
        for _ in range(1 + (self.dice.random() < 0.05)):
            assert self.commit(change).refusal is None
        operation.status = {"hand_back": "prepared", "lose": "unknown", "succeed": "succeeded"}[trigger]
        self.count(f"end {trigger}")
        if trigger == "hand_back":
            self.give_back(operation)

    def cancel(self) -> None:
        operation = self.pick("prepared", "running")
        if operation is None:
            return
        is_lapsed = (
            operation.status == "running" and self.now[0] >= operation.lease_until and operation.open_intent is None
        )
        can_cancel = operation.status == "prepared" or is_lapsed
        try:
            self.write(cancellation.cancel_operation, self.actor, operation.id, self.clock)
        except OperationError:
            assert not can_cancel
            return
        assert can_cancel
        self.give_back(operation)
        operation.status = "cancelled"

    def recover(self) -> None:
        recovered = self.write(cancellation.recover_operations, self.clock)
        for id_ in recovered:
            operation = self.operations[id_]
            assert (
                operation.open_intent is None and operation.status == "running" and self.now[0] >= operation.lease_until
            )
            self.give_back(operation)
            operation.status = "prepared"
            self.count("recovered")

    # -- rules --------------------------------------------------------------------------------------------------

    def draw_window(self) -> Window | None:
        if self.dice.random() < 0.1:
            return None
        limits = Limits(self.dice.choice(LIMITS), self.dice.choice(LIMITS))
        return Window(self.dice.choice(HOURS), limits)

    def create_rule(self) -> None:
        if len(self.rules) >= 6:
            return
        draft = Guardrail("", "", 0, "r", currency="USD", per_window=self.draw_window())
        rule = self.write(guardrails.create_guardrail, self.actor, draft, self.clock)
        self.rules[rule.id] = ModelRule(rule, self.hour)
        self.version += 1

    def change_rule(self) -> None:
        if not self.rules:
            return
        rule = self.dice.choice(list(self.rules.values()))
        changed = evolve(rule.stored, per_window=self.draw_window())
        if self.dice.random() < 0.2:
            changed = evolve(changed, currency="EUR" if changed.currency == "USD" else "USD")
            rule.uses.clear()
        rule.stored = self.write(guardrails.update_guardrail, self.actor, changed, self.clock)
        rule.hour = max(rule.hour, self.hour)
        self.version += 1

    def delete_rule(self) -> None:
        if self.rules:
            id_ = self.dice.choice(list(self.rules))
            del self.rules[id_]
            self.write(guardrails.delete_guardrail, self.actor, id_, self.clock)
            self.version += 1


@contextmanager
def open_simulation(seed: int) -> Iterator[Simulation]:
    """A database in memory with a workspace, an account and two rules."""
    engine = create_engine("sqlite://", poolclass=StaticPool)
    now = [START + seed % HOUR]
    clock = Clock(lambda: now[0], lambda: now[0])
    with engine.connect() as connection:
        raw: Any = connection.connection.dbapi_connection
        raw.isolation_level = None
        connection.begin()
        metadata.create_all(connection)
        workspace = people.ensure_workspace(connection, "shop", clock)
        user = people.ensure_user(connection, "ann@shop.example", clock)
        people.set_membership(connection, workspace.id, user.id, "admin", clock)
        actor = Actor(workspace.id, user.id, "session", "admin", True, "session")
        accounts = (DiscoveredAccountRow("act_1", "Shop", "USD", "UTC"),)
        account = connections.save_connection(
            connection, actor, new_id(clock.now()), "meta", accounts, {"accessToken": "sealed"}, None, clock
        )[0]
        simulation = Simulation(seed, connection, actor, account.id, clock, random.Random(seed), now)
        simulation.create_rule()
        simulation.create_rule()
        yield simulation
    engine.dispose()


def simulate(seed: int, steps: int) -> dict[str, int]:
    """Run so many steps; how often each outcome was met. A failure names its seed."""
    with open_simulation(seed) as simulation:
        try:
            for number in range(steps):
                simulation.step()
                if number % 100 == 0:
                    simulation.check_uses()
            simulation.check_uses()
        except BaseException as failure:
            failure.add_note(f"repeat it with: python -m tests.guardrails.simulation --seed {seed} --steps {steps}")
            raise
        return simulation.counts


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.guardrails.simulation", description=__doc__)
    parser.add_argument("--seed", type=int, required=True)
    parser.add_argument("--steps", type=int, default=RUN_STEPS)
    options = parser.parse_args()
    print(simulate(options.seed, options.steps))


if __name__ == "__main__":
    main()
