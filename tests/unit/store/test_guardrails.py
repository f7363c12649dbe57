"""Rules, frozen credentials and recorded budgets."""

from __future__ import annotations

import asyncio
from decimal import Decimal

import pytest
from attrs import evolve

from adsunify.errors import Conflict, NotFound
from adsunify.guardrails.rules import ClientIdentity, Guardrail, Limits, Scope, Window
from adsunify.plans.exposure import BudgetChange
from adsunify.store import ahead, guardrails
from adsunify.store.guardrails import FrozenCredential, Usage

from .world import MINUTE, World

DAY = 24 * 60 * MINUTE
LARGEST = 10**18
"""The largest limit, in micro-units."""
RULE = Guardrail(
    id="",
    workspace_id="",
    version=0,
    name="Agents",
    scope=Scope(("meta",), ("a",), ("k",), (ClientIdentity("c", "u"),), ("u",)),
    currency="USD",
    per_operation=Limits(50_000_000, None),
    per_window=Window(744, Limits(LARGEST, 1)),
    approval_above=Limits(None, 7),
    max_increase_percent=Decimal("12.50"),
    max_bid=3_000_000,
    blocked_actions=("delete", "create"),
    on_breach="freeze",
    other_currencies="allow",
    is_active=False,
)
SMALLEST = Guardrail(id="", workspace_id="", version=0, name="none")


async def create(world: World, rule: Guardrail = RULE) -> Guardrail:
    return await world.store.write(guardrails.create_guardrail, world.admin, rule, world.clock)


async def version(world: World) -> int:
    return (await world.store.read(guardrails.load_rules, world.admin.workspace_id)).version


@pytest.mark.parametrize("rule", [RULE, SMALLEST], ids=lambda rule: rule.name)
async def test_a_rule_is_read_as_it_was_stored(world: World, rule: Guardrail) -> None:
    created = await create(world, rule)
    assert created == evolve(rule, id=created.id, workspace_id=world.admin.workspace_id, version=1)
    assert await world.store.read(guardrails.get_guardrail, world.admin.workspace_id, created.id) == created


async def test_each_change_raises_the_version_of_the_rules(world: World) -> None:
    store, workspace = world.store, world.admin.workspace_id
    assert await version(world) == 0
    first, second = await create(world), await create(world, SMALLEST)
    assert await version(world) == 2
    changed = await store.write(guardrails.update_guardrail, world.admin, evolve(first, name="new"), world.clock)
    assert changed == evolve(first, name="new", version=2)
    assert await store.read(guardrails.list_guardrails, workspace) == [changed, second]
    with pytest.raises(Conflict):
        await store.write(guardrails.update_guardrail, world.admin, first, world.clock)
    assert await version(world) == 3
    assert await store.write(guardrails.delete_guardrail, world.admin, second.id, world.clock) == second
    assert await store.read(guardrails.list_guardrails, workspace) == [changed]
    assert await version(world) == 4


async def test_another_workspace_has_no_such_rule(world: World) -> None:
    store, stranger = world.store, evolve(world.admin, workspace_id="other")
    rule = await create(world)
    with pytest.raises(NotFound):
        await store.read(guardrails.get_guardrail, "other", rule.id)
    with pytest.raises(NotFound):
        await store.write(guardrails.update_guardrail, stranger, rule, world.clock)
    with pytest.raises(NotFound):
        await store.write(guardrails.delete_guardrail, stranger, rule.id, world.clock)
    with pytest.raises(NotFound):
        await store.read(guardrails.load_rules, "other")
    with pytest.raises(NotFound):
        await store.read(guardrails.read_usage, "other", world.clock)
    assert await store.read(guardrails.list_guardrails, world.admin.workspace_id) == [rule]


async def test_of_two_changes_of_one_version_one_is_refused(world: World) -> None:
    rule = await create(world)
    results = await asyncio.gather(
        *(
            world.store.write(guardrails.update_guardrail, world.admin, evolve(rule, name=name), world.clock)
            for name in "abcd"
        ),
        return_exceptions=True,
    )
    assert [type(result) for result in results].count(Conflict) == 3
    assert await version(world) == 2


async def test_a_new_window_is_empty(world: World) -> None:
    window, none = await create(world), await create(world, SMALLEST)
    assert await world.store.read(guardrails.read_usage, window.id, world.clock) == Usage(744, 0, 0)
    assert await world.store.read(guardrails.read_usage, none.id, world.clock) == Usage(None, 0, 0)
    for workspace, expected in ((world.admin.workspace_id, {window.id: Usage(744, 0, 0)}), ("other", {})):
        ids = [window.id, none.id]
        assert await world.store.read(guardrails.read_windows, workspace, ids, world.clock) == expected
    assert await world.store.read(guardrails.read_windows, world.admin.workspace_id, [], world.clock) == {}


async def test_a_credential_stays_frozen_until_the_freeze_is_lifted(world: World) -> None:
    store, workspace = world.store, world.admin.workspace_id
    rule, operation = await create(world), await world.prepare()
    for id_ in (operation, None):  # the second freeze changes nothing
        await store.write(guardrails.freeze_credential, workspace, "key", rule.id, id_, world.clock)
    frozen = FrozenCredential("key", rule.id, operation, world.clock.now())
    assert await version(world) == 2
    await store.write(guardrails.delete_guardrail, world.admin, rule.id, world.clock)
    assert await store.read(guardrails.find_freeze, workspace, "key") == frozen
    assert await store.read(guardrails.find_freeze, "other", "key") is None
    assert await store.read(guardrails.list_frozen, workspace) == [frozen]
    await store.write(guardrails.lift_freeze, world.admin, "key", world.clock)
    assert await store.read(guardrails.list_frozen, workspace) == []
    assert await version(world) == 4
    with pytest.raises(NotFound):
        await store.write(guardrails.lift_freeze, world.admin, "key", world.clock)


def change(before: int | None, entity_id: str = "1", field: str = "budget") -> BudgetChange:
    return BudgetChange("campaign", entity_id, field, before, 1)


async def test_the_lowest_budget_of_a_time_is_found(world: World) -> None:
    store, account = world.store, world.account.id
    now = world.clock.now()
    for hours, before in ((30, 10), (20, 200), (20, 50), (20, 90), (1, 400)):
        await store.write(guardrails.record_budgets, account, [change(before)], now - hours * 60 * MINUTE)
    others = [change(7, "2"), change(8, field="bid"), change(None, "3")]
    await store.write(guardrails.record_budgets, account, others, now)
    changes = [change(0), change(0, "2"), change(0, "3"), change(0, "4")]
    lowest = await store.read(guardrails.find_lowest_budgets, account, changes, now - DAY)
    assert lowest == {("campaign", "1", "budget"): 50, ("campaign", "2", "budget"): 7}
    assert await store.read(guardrails.find_lowest_budgets, account, [change(0)], now - 2 * DAY) == {
        ("campaign", "1", "budget"): 10
    }
    assert await store.read(guardrails.find_lowest_budgets, account, [], 0) == {}
    largest = (store.run_query(guardrails.find_largest_budget(account_id)) for account_id in (account, "other"))
    assert await asyncio.gather(*largest) == [400, None]  # in one statement on PostgreSQL


async def test_budgets_of_a_wrong_clock_are_moved_to_its_hour(world: World) -> None:
    store, account, now = world.store, world.account.id, world.clock.now()
    for at, before in ((now, 30), (now + 400 * DAY, 20), (now + 401 * DAY, 40)):
        await store.write(guardrails.record_budgets, account, [change(before)], at)
    await store.write(ahead.repair_future_times, now)
    assert await store.read(guardrails.find_lowest_budgets, account, [change(0)], now + DAY) == {}
    lowest = await store.read(guardrails.find_lowest_budgets, account, [change(0)], now)
    assert lowest == {("campaign", "1", "budget"): 20}
    assert await store.run_query(guardrails.find_largest_budget(account)) == 40
