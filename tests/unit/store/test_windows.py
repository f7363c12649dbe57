"""A claim takes from the windows of its rules, or is refused; what ends without a write gives back."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
from attrs import define, evolve

from adsunify.actor import Actor
from adsunify.execution.state import CommitResult, ItemReceipt, StateCommit, WindowBreach
from adsunify.guardrails.rules import Guardrail, Limits, Window
from adsunify.guardrails.windows import MAX_WINDOW_TOTAL, SpendBinding, WindowUse
from adsunify.store import Clock, ahead, cancellation, guardrails, open_store
from adsunify.store.events import EventRecord, list_operation_events
from adsunify.store.guardrails import RuleUse
from adsunify.store.state_commits import commit_state

from .world import LEASE, MINUTE, START, World, make_receipt, other_credential

HOUR = 60 * MINUTE
FIRST_HOUR = START // HOUR
LARGEST = 10**18


@define
class Rules:
    """The rules of a world, in the order in which they were made."""

    world: World
    rules: list[Guardrail]

    async def add(
        self, daily: int | None = None, lifetime: int | None = None, hours: int = 1, **more: Any
    ) -> Guardrail:
        draft = Guardrail(
            "", "", 0, "Agents", currency="USD", per_window=Window(hours, Limits(daily, lifetime)), **more
        )
        rule = await self.world.store.write(guardrails.create_guardrail, self.world.admin, draft, self.world.clock)
        self.rules.append(rule)
        return rule

    async def change(self, before: Guardrail, **members: Any) -> Guardrail:
        after = await self.world.store.write(
            guardrails.update_guardrail, self.world.admin, evolve(before, **members), self.world.clock
        )
        self.rules[self.rules.index(before)] = after
        return after

    async def bind(self, operation: str, daily: int = 0, lifetime: int = 0, unknown: bool = False) -> SpendBinding:
        """What an operation takes from the windows of all rules as they are now."""
        version = (await self.world.store.read(guardrails.load_rules, self.world.admin.workspace_id)).version
        uses = [
            WindowUse(rule.id, rule.version, rule.per_window.hours, rule.per_window.limits, daily, lifetime, unknown)
            for rule in self.rules
            if rule.per_window is not None
        ]
        return SpendBinding(version, operation, tuple(use for use in uses if use.is_counted))

    async def claim(self, operation: str, *spend: Any, actor: Actor | None = None, attempt: int = 1) -> CommitResult:
        binding = await self.bind(operation, *spend)
        return await self.world.claim(operation, actor, attempt=attempt, binding=binding)

    async def claim_new(self, *spend: Any) -> tuple[str, CommitResult]:
        operation = await self.world.prepare()
        return operation, await self.claim(operation, *spend)

    async def end(self, operation: str, claimed: CommitResult, **receipt: Any) -> None:
        """Store a receipt and hand the operation back."""
        change = StateCommit(operation, claimed.fence, make_receipt(0, **receipt), trigger="hand_back")
        assert (await self.world.advance(change)).refusal is None

    async def read_usage(self, number: int = 0) -> tuple[int, int]:
        usage = await self.world.store.read(guardrails.read_usage, self.rules[number].id, self.world.clock)
        ids = [rule.id for rule in self.rules]
        windows = await self.world.store.read(
            guardrails.read_windows, self.world.admin.workspace_id, ids, self.world.clock
        )
        assert windows[ids[number]] == evolve(usage, uses=())
        return usage.daily, usage.lifetime

    async def uses(self, number: int = 0) -> tuple[RuleUse, ...]:
        return (await self.world.store.read(guardrails.read_usage, self.rules[number].id, self.world.clock)).uses


@pytest.fixture
def rules(world: World) -> Rules:
    return Rules(world, [])


async def list_stops(world: World, operation: str) -> list[EventRecord]:
    return [
        event for event in await world.store.read(list_operation_events, operation) if event.type == "rule.triggered"
    ]


# -- taking -------------------------------------------------------------------------------------------------------


async def test_a_window_admits_what_fits_and_no_more(rules: Rules) -> None:
    rule = await rules.add(daily=100, lifetime=3000)
    first, claimed = await rules.claim_new(60, 1000)
    assert claimed.refusal is None
    second, claimed = await rules.claim_new(41, 1000)
    assert (claimed.refusal, claimed.fence) == ("guardrail", 0)
    assert claimed.breach == WindowBreach(rule.id, "daily", 100, 60, 41)
    assert claimed.breach.room == 40
    third, claimed = await rules.claim_new(1, 2001)
    assert claimed.breach == WindowBreach(rule.id, "lifetime", 3000, 1000, 2001)
    assert (await rules.claim(second, 40, 2000)).refusal is None
    assert await rules.read_usage() == (100, 3000)
    assert await rules.uses() == (
        RuleUse(second, FIRST_HOUR, 40, 2000, False),
        RuleUse(first, FIRST_HOUR, 60, 1000, False),
    )
    assert await rules.world.events(third) == ["prepared", "rule.triggered"]
    assert await rules.world.attempts(third) == []


async def test_a_refused_claim_is_told_with_its_facts(rules: Rules) -> None:
    rule = await rules.add(daily=100_000_000)
    operation, claimed = await rules.claim_new(100_500_000)
    assert claimed.refusal == "guardrail"
    record = await rules.world.get(operation)
    assert (record.status, record.fence, record.executed_by) == ("prepared", 0, None)
    assert [event.data for event in await list_stops(rules.world, operation)] == [
        {
            "operationId": operation,
            "accountId": rules.world.account.id,
            "network": "meta",
            "status": "prepared",
            "kind": "guardrail",
            "guardrailId": rule.id,
            "rule": "Agents",
            "member": "perWindow.daily",
            "currency": "USD",
            "limit": "100.00",
            "used": "0",
            "asked": "100.50",
            "fits": "100.00",
        }
    ]


async def test_all_rules_admit_it_or_none_counts_it(rules: Rules) -> None:
    for daily in (100, 30, 20, None):
        await rules.add(daily=daily)
    _, claimed = await rules.claim_new(25)
    assert claimed.breach == WindowBreach(rules.rules[2].id, "daily", 20, 0, 25)
    _, claimed = await rules.claim_new(35)
    assert claimed.breach is not None and claimed.breach.room == 20, "the window with the least room decides"
    assert [await rules.read_usage(number) for number in range(4)] == [(0, 0)] * 4
    _, claimed = await rules.claim_new(20)
    assert claimed.refusal is None
    assert [await rules.read_usage(number) for number in range(4)] == [(20, 0)] * 4


async def test_a_window_is_of_whole_hours(rules: Rules) -> None:
    """One hour: what is taken at any moment of an hour counts until the second next hour begins."""
    await rules.add(daily=100, hours=1)
    hands = rules.world.hands
    hands.pass_(59 * MINUTE)
    assert (await rules.claim_new(60))[1].refusal is None
    hands.pass_(MINUTE)
    assert (await rules.claim_new(40))[1].refusal is None
    assert (await rules.claim_new(1))[1].refusal == "guardrail"
    hands.pass_(HOUR - 1)
    assert await rules.read_usage() == (100, 0)
    assert (await rules.claim_new(1))[1].refusal == "guardrail"
    hands.pass_(1)
    assert await rules.read_usage() == (40, 0)
    assert (await rules.claim_new(60))[1].refusal is None
    assert (await rules.claim_new(1))[1].refusal == "guardrail"
    hands.pass_(2 * HOUR)
    assert await rules.read_usage() == (0, 0)
    assert await rules.uses() == ()


async def test_what_exposes_nothing_passes_a_full_window(rules: Rules) -> None:
    rule = await rules.add(daily=100, lifetime=100)
    assert (await rules.claim_new(100, 100))[1].refusal is None
    rule = await rules.change(rule, per_window=Window(1, Limits(10, 100)))
    assert (await rules.claim_new(0, 0))[1].refusal is None
    unknown, claimed = await rules.claim_new(0, 0, True)
    assert claimed.refusal is None
    assert (await rules.uses())[0] == RuleUse(unknown, FIRST_HOUR, 0, 0, True)
    assert len(await rules.uses()) == 2
    assert (await rules.claim_new(0, 1))[1].breach == WindowBreach(rule.id, "lifetime", 100, 100, 1)
    assert await rules.read_usage() == (100, 100)


async def test_the_largest_amounts_do_not_overflow(rules: Rules) -> None:
    limited, unlimited = await rules.add(daily=LARGEST), await rules.add()
    for amount in (10**30, 2**63, 2**63 - 1, LARGEST + 1):
        assert (await rules.claim_new(amount))[1].breach == WindowBreach(limited.id, "daily", LARGEST, 0, amount)
    assert (await rules.claim_new(LARGEST))[1].refusal is None
    rules.rules.remove(limited)
    await rules.world.store.write(guardrails.delete_guardrail, rules.world.admin, limited.id, rules.world.clock)
    for _ in range(8):
        assert (await rules.claim_new(LARGEST, 0))[1].refusal is None
    full = WindowBreach(unlimited.id, "daily", MAX_WINDOW_TOTAL, MAX_WINDOW_TOTAL, 1)
    assert (await rules.claim_new(1))[1].breach == full


async def test_a_repeated_claim_takes_once(rules: Rules) -> None:
    await rules.add(daily=100)
    operation = await rules.world.prepare()
    binding = await rules.bind(operation, 60)
    assert [(await rules.world.claim(operation, binding=binding)).refusal for _ in range(2)] == [None, "claimed"]
    assert await rules.read_usage() == (60, 0)


async def test_concurrent_claims_fill_a_window_exactly(rules: Rules) -> None:
    await rules.add(daily=100)
    await rules.add(daily=70)
    await rules.claim_new(20)
    rules.world.hands.pass_(2 * HOUR)  # the first of them sums the windows anew, and the others wait for it
    ids = [await rules.world.prepare() for _ in range(30)]
    claims = await asyncio.gather(*(rules.claim(id_, 10) for id_ in ids))
    assert [claim.refusal for claim in claims].count(None) == 7
    assert {claim.refusal for claim in claims} == {None, "guardrail"}
    assert await rules.read_usage(0) == await rules.read_usage(1) == (70, 0)


# -- outdated evaluations, and frozen credentials -----------------------------------------------------------------


async def test_an_operation_that_was_evaluated_by_other_rules_is_not_claimed(rules: Rules) -> None:
    world = rules.world
    operation = await world.prepare()
    rule = await rules.add(daily=100)
    assert (await world.claim(operation)).refusal == "rules_changed", "it was evaluated without a rule"
    binding = await rules.bind(operation, 60)
    await rules.change(rule, name="new")
    assert (await world.claim(operation, binding=binding)).refusal == "rules_changed"
    current = (await rules.bind(operation)).rules_version
    assert (await world.claim(operation, binding=evolve(binding, rules_version=current))).refusal == "rules_changed"
    assert await rules.read_usage() == (0, 0)
    assert (await rules.claim(operation, 60)).refusal is None
    assert await rules.read_usage() == (60, 0)


async def test_a_rule_that_is_deleted_binds_nothing(rules: Rules) -> None:
    world, rule = rules.world, await rules.add(daily=100)
    taken, claimed = await rules.claim_new(60)
    operation = await world.prepare()
    binding = await rules.bind(operation, 60)
    await world.store.write(guardrails.delete_guardrail, world.admin, rule.id, world.clock)
    rules.rules.clear()
    assert (await world.claim(operation, binding=binding)).refusal == "rules_changed"
    assert (await rules.claim(operation, 60)).refusal is None
    await rules.end(taken, claimed, state="rejected")


@pytest.mark.parametrize(("kind", "freezes"), [("key", True), ("agent", True), ("session", False), ("local", False)])
async def test_a_breach_freezes_a_key_or_an_agent(rules: Rules, kind: str, freezes: bool) -> None:
    world, rule = rules.world, await rules.add(daily=100, on_breach="freeze")
    actor = other_credential(world.admin, "c:u", kind)
    operation, other = await world.prepare(actor), await world.prepare(actor)
    assert (await rules.claim(operation, 101, actor=actor)).refusal == "guardrail"
    frozen = await world.store.read(guardrails.list_frozen, world.admin.workspace_id)
    assert [(freeze.credential, freeze.rule_id, freeze.operation_id) for freeze in frozen] == [
        ("c:u", rule.id, operation)
    ][:freezes]
    assert (await rules.claim(other, 1, actor=actor)).refusal == ("frozen" if freezes else None)
    assert len(await list_stops(world, operation)) == 1
    assert await list_stops(world, other) == []
    if freezes:
        assert await world.store.write(cancellation.cancel_operation, actor, operation, world.clock)
        await world.store.write(guardrails.lift_freeze, world.admin, "c:u", world.clock)
        assert (await rules.claim(other, 1, actor=actor)).refusal is None


async def test_a_freeze_makes_earlier_evaluations_outdated(rules: Rules) -> None:
    world = rules.world
    operation = await world.prepare()
    freeze = (world.admin.workspace_id, "session", "rule", operation, world.clock)
    await world.store.write(guardrails.freeze_credential, *freeze)
    assert (await world.claim(operation)).refusal == "rules_changed"
    assert (await rules.claim(operation)).refusal == "frozen"


# -- giving back --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("receipt", "remains"),
    [
        ({"state": "rejected"}, 0),
        ({"state": "throttled"}, 0),
        ({"state": "applied"}, 60),
        ({"state": "rejected", "items": (ItemReceipt(0, "rejected"), ItemReceipt(1, "applied", "7"))}, 60),
        ({"state": "rejected", "items": (ItemReceipt(0, "rejected"),)}, 0),
    ],
    ids=["rejected", "throttled", "applied", "an item applied", "items rejected"],
)
async def test_what_is_handed_back_without_a_write_gives_back(
    rules: Rules, receipt: dict[str, Any], remains: int
) -> None:
    await rules.add(daily=100, hours=2)
    await rules.add(lifetime=100, hours=2)
    await rules.claim_new(5, 7)
    operation, claimed = await rules.claim_new(60, 30)
    rules.world.hands.pass_(LEASE // 2)
    await rules.end(operation, claimed, **receipt)
    assert await rules.read_usage(0) == await rules.read_usage(1) == (5 + remains, 7 + remains // 2)
    assert (operation in [use.operation_id for use in await rules.uses()]) == bool(remains)
    again = await rules.claim(operation, 60, 30, attempt=2)
    assert again.refusal is None
    assert await rules.read_usage() == (65, 37), "it is counted once"


async def test_a_later_attempt_without_a_write_keeps_what_an_earlier_one_applied(rules: Rules) -> None:
    await rules.add(daily=100)
    operation, claimed = await rules.claim_new(60)
    await rules.end(operation, claimed, state="applied")
    binding = await rules.bind(operation, 60)
    second = await rules.world.claim(operation, n=1, binding=binding)
    change = StateCommit(operation, second.fence, make_receipt(1, state="rejected"), trigger="hand_back")
    await rules.world.advance(change)
    assert await rules.read_usage() == (60, 0)
    await rules.world.store.write(cancellation.cancel_operation, rules.world.admin, operation, rules.world.clock)
    assert await rules.read_usage() == (60, 0)


async def test_a_repeated_hand_back_gives_back_once(rules: Rules) -> None:
    await rules.add(daily=100)
    await rules.claim_new(30)
    operation, claimed = await rules.claim_new(60)
    for _ in range(2):
        await rules.end(operation, claimed, state="rejected")
    assert await rules.read_usage() == (30, 0)


async def test_what_ends_unknown_or_stalled_keeps_what_it_took(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    unknown, claimed = await rules.claim_new(60)
    change = StateCommit(unknown, claimed.fence, make_receipt(0, state="ambiguous"), trigger="lose")
    assert (await world.advance(change)).refusal is None
    stalled, _ = await rules.claim_new(40)
    world.hands.pass_(2 * LEASE)
    assert await world.store.write(cancellation.recover_operations, world.clock) == []
    assert (await world.get(stalled)).is_stalled
    assert await rules.read_usage() == (100, 0)


async def test_recovering_and_cancelling_give_back(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    idle = [await world.prepare() for _ in range(3)]
    for id_ in idle:
        claim = StateCommit(id_, None, trigger="claim")
        assert (await world.advance(claim, binding=await rules.bind(id_, 30))).refusal is None
    assert await rules.read_usage() == (90, 0)
    world.hands.pass_(2 * LEASE)
    await world.store.write(cancellation.cancel_operation, world.admin, idle[0], world.clock)
    assert await rules.read_usage() == (60, 0)
    assert (await rules.claim(idle[1], 35)).refusal is None, "the claim recovers it, and takes anew"
    assert await rules.read_usage() == (65, 0)
    assert await world.store.write(cancellation.recover_operations, world.clock) == [idle[2]]
    assert await rules.read_usage() == (35, 0)


async def test_a_refused_claim_after_a_recovery_has_given_back(rules: Rules) -> None:
    world = rules.world
    rule = await rules.add(daily=100)
    operation = await world.prepare()
    await world.advance(StateCommit(operation, None, trigger="claim"), binding=await rules.bind(operation, 60))
    world.hands.pass_(2 * LEASE)
    await rules.change(rule, per_window=Window(1, Limits(50)))
    assert (await rules.claim(operation, 60)).breach == WindowBreach(rule.id, "daily", 50, 0, 60)
    assert await rules.read_usage() == (0, 0)
    assert (await world.get(operation)).status == "prepared"


async def test_expiry_gives_nothing_back(rules: Rules) -> None:
    await rules.add(daily=100)
    operation, claimed = await rules.claim_new(60)
    await rules.end(operation, claimed, state="applied")
    rules.world.hands.pass_(31 * MINUTE)
    assert (await rules.world.get(operation)).is_expired
    assert await rules.read_usage() == (60, 0)


async def test_what_left_the_window_is_not_subtracted_from_it(rules: Rules) -> None:
    world = rules.world
    await rules.add(daily=100)
    operation, claimed = await rules.claim_new(60)
    world.hands.pass_(2 * HOUR)
    assert world.clock.now() // HOUR == FIRST_HOUR + 2
    await rules.claim_new(70)
    await rules.end(operation, claimed, state="rejected")
    assert await rules.read_usage() == (70, 0)


# -- changes of a rule, and clocks --------------------------------------------------------------------------------


async def test_a_changed_window_counts_what_its_hours_hold(rules: Rules) -> None:
    rule = await rules.add(daily=100, hours=1)
    for amount in (10, 20, 30):
        assert (await rules.claim_new(amount))[1].refusal is None
        rules.world.hands.pass_(HOUR)
    assert await rules.read_usage() == (30, 0)
    rule = await rules.change(rule, per_window=Window(2, Limits(100)))
    assert await rules.read_usage() == (50, 0)
    rule = await rules.change(rule, per_window=Window(3, Limits(100)))
    assert await rules.read_usage() == (60, 0)
    rule = await rules.change(rule, per_window=None)
    rule = await rules.change(rule, per_window=Window(1, Limits(100)))
    assert await rules.read_usage() == (30, 0)
    await rules.change(rule, currency="EUR")
    assert (await rules.read_usage(), await rules.uses()) == ((0, 0), ())


async def test_the_hour_of_a_window_does_not_go_back(rules: Rules, url: str) -> None:
    """Another machine's clock is 2 minutes ahead and has begun the next hour."""
    await rules.add(daily=100)
    hands = rules.world.hands
    hands.pass_(59 * MINUTE)
    ahead_by_2 = Clock(lambda: hands.wall + 2 * MINUTE, lambda: hands.monotonic)
    other = await open_store(url, clock=ahead_by_2)
    ids = [await rules.world.prepare() for _ in range(3)]
    change = StateCommit(ids[0], None, trigger="claim")
    binding = await rules.bind(ids[0], 70)
    claimed = await other.write(commit_state, change, rules.world.admin, ahead_by_2, LEASE, binding=binding)
    await other.close()
    assert claimed.refusal is None
    assert rules.world.clock.now() // HOUR == FIRST_HOUR
    assert await rules.read_usage() == (70, 0)
    assert (await rules.claim(ids[1], 31)).refusal == "guardrail"
    assert (await rules.claim(ids[1], 30)).refusal is None
    assert rules.world.clock.now() // HOUR == FIRST_HOUR
    assert [use.hour for use in await rules.uses()] == [FIRST_HOUR + 1] * 2
    change = StateCommit(ids[1], 1, make_receipt(0, state="rejected"), trigger="hand_back")
    assert (await rules.world.advance(change)).refusal is None
    assert await rules.read_usage() == (70, 0)


async def test_hours_of_a_wrong_clock_are_repaired(rules: Rules) -> None:
    await rules.add(daily=LARGEST, hours=1)
    world, hands = rules.world, rules.world.hands
    await rules.claim_new(10)
    hands.wall += 400 * 24 * HOUR
    await rules.claim_new(30)
    hands.wall += HOUR
    await rules.claim_new(20)
    hands.wall -= 400 * 24 * HOUR + HOUR
    assert await rules.read_usage() == (50, 0), "the window stays in the hour of the wrong clock"
    await world.store.write(ahead.repair_future_times, START)
    assert await rules.read_usage() == (60, 0)
    assert {use.hour for use in await rules.uses()} == {FIRST_HOUR}
    assert (await rules.claim_new(LARGEST - 60))[1].refusal is None, "amounts are not repaired as if they were times"
    assert await rules.read_usage() == (LARGEST, 0)
    hands.pass_(2 * HOUR)
    assert await rules.read_usage() == (0, 0)
