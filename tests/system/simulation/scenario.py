"""One operation from preparation to its end, under one seed: several executions, some at once, and what goes wrong.

After every effect the test checks the invariants against the model. :class:`~tests.system.simulation.world.Broken` says
which failed.
"""

from __future__ import annotations

from collections.abc import Generator
from random import Random

from attrs import define

from adsunify.errors import RequestNotSent
from adsunify.execution.executor import (
    Commit,
    Effect,
    EffectResult,
    ExecutionLimits,
    ExecutionResult,
    RenewToken,
    SendWrite,
    execute_plan,
)
from adsunify.execution.state import LEASE_MILLISECONDS, CommitResult, Receipt, StateCommit
from adsunify.plans.records import Plan, Step

from .plans import NETWORK
from .world import Broken, Clock, Provider, Store

CHAOS = 7
"""Executions under bad luck; whatever remains must then end well without it."""
CALM = 16


@define
class Running:
    """An execution under way: the effect that it waits for. ``fence`` None: it has claimed nothing yet."""

    generator: Generator[Effect, EffectResult, ExecutionResult]
    effect: Effect
    fence: int | None = None
    commits: int = 0
    sends: int = 0
    stands: StateCommit | None = None
    leased_until: int = 0


class Scenario:
    """``run`` plays it; ``executes`` counts the executions, ``trace`` is filled where it is asked for."""

    def __init__(self, plan: Plan, random: Random, traced: bool = False) -> None:
        self.plan, self.random = plan, random
        self.clock = Clock()
        self.store = Store(self.clock.now())
        self.provider = Provider(plan, random, random.choice((0.5, 0.8, 0.95, 1.0)))
        self.luck = random.choice((0.0, 0.02, 0.1, 0.25))
        self.executes = 0
        self.steps = {step.key: step for step in plan.steps}
        self.trace: list[str] | None = [] if traced else None

    def run(self) -> None:
        """Play it to its end; raises Broken."""
        running: list[Running] = []
        while self.executes < CHAOS and not self._over():
            if not running or (len(running) < 2 and self.random.random() < self.luck):
                self._start(running)
            if running:
                self._carry(running, self.random.randrange(len(running)))
            self._luck()
        self._note("calm")
        for execution in running:
            execution.generator.close()
        self._settle()

    # -- chaos --

    def _over(self) -> bool:
        return self.store.status in ("succeeded", "unknown")

    def _luck(self) -> None:
        """What happens around an execution: time, a wall clock that is set, access that comes and goes."""
        roll = self.random.random()
        self.clock.passes(int(roll * 40))
        if roll < self.luck:
            kind = self.random.randrange(6)
            if kind == 0:
                self.clock.passes(LEASE_MILLISECONDS + self.random.randrange(-5, 6))
            elif kind == 1:
                self.clock.jumps(self.random.choice((-3_600_000, -60_000, 60_000)))
            elif kind == 2:
                self.store.allowed = not self.store.allowed
            elif kind == 3:
                self.clock.restarts()
            elif kind == 4:
                self.clock.passes(21_000)
            elif self.random.random() < 0.1:
                self.clock.passes(31 * 60_000)

    def _start(self, running: list[Running]) -> None:
        self.executes += 1
        hurried = self.random.random() < self.luck
        limits = ExecutionLimits(max_steps=self.random.choice((1, 2, 25)))
        progress, until = self.store.progress(), self.clock.monotonic + limits.max_milliseconds
        generator = execute_plan(
            NETWORK,
            self.plan,
            progress,
            "op",
            limits=limits,
            stopping=lambda: hurried or self.clock.monotonic >= until,
        )
        if progress.doubtful_steps or hurried:
            self._refuses(generator, bool(progress.doubtful_steps))
        else:
            running.append(Running(generator, next(generator)))

    def _refuses(self, generator: Generator[Effect, EffectResult, ExecutionResult], doubtful: bool) -> None:
        """An execution that must end before its first commit."""
        try:
            effect = next(generator)
        except StopIteration as done:
            if doubtful and done.value.refusal != "doubtful":
                raise Broken("a doubtful operation is not refused as such") from None
        else:
            if doubtful or not (isinstance(effect, Commit) and effect.state_commit.intent is None):
                raise Broken(f"something happens although it must not: {effect}")
            generator.close()

    def _carry(self, running: list[Running], index: int) -> None:
        """Carry out the effect of one execution, or let its process die before or after it."""
        execution = running[index]
        dies = self.random.random() if self.luck and self.random.random() < self.luck else 1.0
        if dies < 0.25:
            self._note("dies before", execution.effect)
            self._dies(running, index)
            return
        answer = self._carry_out_effect(execution)
        self._invariants()
        if answer is None or dies < 0.5:
            self._note("dies after", execution.effect)
            self._dies(running, index)
            return
        try:
            execution.effect = execution.generator.send(answer)
        except StopIteration as done:
            del running[index]
            self._check_ending(execution, done.value, answer)

    def _dies(self, running: list[Running], index: int) -> None:
        running.pop(index).generator.close()
        self.clock.restarts()

    def _carry_out_effect(self, execution: Running) -> EffectResult | None:
        """The effect's answer; None where the driver gives the execution up."""
        effect = execution.effect
        if isinstance(effect, Commit):
            return self._commit(execution, effect.state_commit)
        if isinstance(effect, RenewToken):
            return self.random.random() < 0.5
        step = self.steps[effect.key]
        if not isinstance(effect, SendWrite):
            answer = self.provider.read()
            self._note("read", answer)
            return answer
        self._may_send(execution, effect)
        if self.clock.now() >= execution.leased_until and self.random.random() < 0.5:
            return RequestNotSent("the lease ran out")  # a driver that looked; one that did not must do no harm either
        execution.sends += 1
        answer = self.provider.write(step, effect.request)
        self._note("sent", effect.key, answer)
        if self.luck and self.random.random() < self.luck:
            self.clock.passes(self.random.choice((500, 9_000, 19_000, 29_999, 45_000)))
            if self.random.random() < 0.5:
                self.store.advance(StateCommit("op", execution.fence, is_renewal=True), self.clock.now())
        return answer

    def _commit(self, execution: Running, change: StateCommit) -> CommitResult | None:
        if change.trigger == "succeed" and len(self.provider.applied) != self._count_planned():
            raise Broken("it succeeds although something was not written")
        if self.luck and self.random.random() < self.luck / 2:
            if change.receipt is None:
                return None  # the database is away, and nothing is lost by giving up
            self._note("the commit is repeated")
            self.store.advance(change, self.clock.now())  # it did commit, but its answer was lost
        answer = self.store.advance(change, self.clock.now())
        self._note("commit", change, answer)
        execution.commits += 1
        execution.stands = change if answer.refusal is None and change.intent is not None else None
        if answer.refusal is None:
            execution.fence, execution.leased_until = answer.fence, answer.committed_at + LEASE_MILLISECONDS
        return answer

    # -- without chaos --

    def _settle(self) -> None:
        """With good luck only, everything that is not doubtful ends well; what is doubtful never moves again."""
        self.provider.calm, self.luck, self.store.allowed = 1.0, 0.0, True
        self.clock.set_right()
        self.store.expires_at = self.clock.now() + 3_600_000
        for _ in range(CALM):
            if self._over() or self.store.progress().doubtful_steps:
                break
            self.clock.passes(max(LEASE_MILLISECONDS, self.store.not_before - self.clock.now()))
            self.store.expires_at += 86_400_000
            running: list[Running] = []
            self._start(running)
            while running:
                self._carry(running, 0)
        doubtful = self.store.progress().doubtful_steps
        if doubtful:
            self.executes += 1
            self._refuses(execute_plan(NETWORK, self.plan, self.store.progress(), "op"), doubtful=True)
        elif not self._over():
            raise Broken(f"it does not end: {self.store.status}")
        self._invariants()

    # -- what must hold --

    def _count_planned(self) -> int:
        return sum(len(self._items(step)) for step in self.plan.steps)

    def _items(self, step: Step) -> tuple[int, ...]:
        return (0,) if step.items is None else tuple(range(len(step.request.body["rows"])))

    def _may_send(self, execution: Running, effect: SendWrite) -> None:
        """A write leaves only after its own intent stands, as the only one without a receipt."""
        intent = execution.stands.intent if execution.stands is not None else None
        if intent is None or intent.key != effect.key or intent.request != effect.request.to_json():
            raise Broken(f"step {effect.key} is sent without its intent")
        execution.stands = None
        open_ = self.store.open()
        if len(open_) != 1 or open_[0].intent is not intent:
            raise Broken(f"step {effect.key} is sent while another write is in flight")

    def _invariants(self) -> None:
        receipts: dict[tuple[str, int], str] = {}
        covered: set[tuple[str, int]] = set()
        for row in self.store.attempts.values():
            items = (0,) if row.intent.items is None else row.intent.items
            receipt = row.receipt
            if receipt is None or receipt.state == "ambiguous":
                covered.update((row.intent.key, item) for item in items)
            if receipt is not None:
                receipts.update(self._read_applied(receipt, items))
        for write, identity in self.provider.applied.items():
            if receipts.get(write, None if write in covered else "lost") not in (identity, None, "touched"):
                raise Broken(f"an applied write without receipt or open intent: {write}")
        for known in receipts:
            if known not in self.provider.applied:
                raise Broken(f"a receipt for a write that never happened: {known}")
        store = self.store
        if store.status in ("prepared", "succeeded", "cancelled") and store.open():
            raise Broken(f"it is {store.status} with a write in flight")
        if store.status == "succeeded" and len(receipts) != self._count_planned():
            raise Broken("it succeeded without all receipts")
        ambiguous = any(row.receipt is not None and row.receipt.state == "ambiguous" for row in store.attempts.values())
        if store.status == "unknown" and not ambiguous:
            raise Broken("it is unknown without an ambiguous receipt")
        if store.status == "succeeded" and ambiguous:
            raise Broken("it succeeded with an ambiguous receipt")

    def _read_applied(self, receipt: Receipt, items: tuple[int, ...]) -> dict[tuple[str, int], str]:
        if receipt.items:
            if receipt.state != "ambiguous" and tuple(item.index for item in receipt.items) != items:
                raise Broken(f"the receipt of {receipt.key} speaks of other items than were sent")
            applied = {(receipt.key, i.index): i.id or "" for i in receipt.items if i.state == "applied"}
            if receipt.state == "applied":
                self._check_merged(receipt)
            return applied
        if receipt.state != "applied":
            return {}
        id_ = receipt.outputs.get("id", "touched")
        return {(receipt.key, 0): id_ if isinstance(id_, str) else ""}

    def _check_merged(self, receipt: Receipt) -> None:
        step = self.steps[receipt.key]
        ids = [self.provider.applied.get((step.key, item)) for item in self._items(step)]
        assert step.items is not None
        if receipt.outputs["id"] != (ids if step.items.many else ids[0]):
            raise Broken(f"the outputs of {step.key} are not all ids in planned order")

    def _check_ending(self, execution: Running, ending: ExecutionResult, last: EffectResult) -> None:
        self._note("ended", ending)
        if ending.status == "succeeded" and execution.sends == len(self.plan.steps):
            overlays = sum(step.overlay is not None for step in self.plan.steps[1:])
            if execution.commits != len(self.plan.steps) + 1 + overlays:
                raise Broken(f"{execution.commits} commits for {len(self.plan.steps)} steps")
        if (
            ending.status is not None
            and execution.fence is not None
            and isinstance(last, CommitResult)
            and last.refusal is None
        ):
            same = self.store.status == ending.status or self.store.fence != execution.fence
            if not same:
                raise Broken(f"it ended as {ending.status}, the store says {self.store.status}")
        if ending.has_next_action and ending.status != "prepared":
            raise Broken("only a prepared operation has a next action")

    def _note(self, *what: object) -> None:
        if self.trace is not None:
            self.trace.append(" ".join(str(part) for part in what))
