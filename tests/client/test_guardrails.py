"""Guardrails through the client: the same over a store and over a server."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from adsunify import AsyncAds, RuleScope, SpendLimits, SpendWindow
from adsunify.errors import GuardrailRefused, InvalidInput, NotFound
from tests.server.served import Served

from .conftest import DOORS, make_brief

pytestmark = pytest.mark.asyncio(loop_scope="module")


@pytest.mark.parametrize("door", DOORS)
async def test_a_rule_is_made_changed_and_met(server: Served, clients: dict[str, AsyncAds], door: str) -> None:
    client, account = clients[door], server.accounts["meta"]
    rule = await client.guardrails.create(
        name="Small",
        scope=RuleScope(account_ids=[account]),
        currency="USD",
        per_operation=SpendLimits(daily=Decimal("10.50"), lifetime=None),
        per_window=SpendWindow(hours=24, daily="100", lifetime=None),
        max_increase_percent=Decimal("12.5"),
    )
    try:
        assert (rule.per_operation.daily, rule.per_operation.lifetime) == (Decimal("10.50"), None)
        assert rule.per_window is not None and (rule.per_window.hours, rule.per_window.daily) == (24, Decimal(100))
        assert rule.max_increase_percent == Decimal("12.5") and rule.scope.account_ids == [account]
        assert await client.guardrails.list().all() == [rule] and await client.guardrails.get(rule) == rule
        usage = await client.guardrails.usage(rule)
        assert (usage.daily.left, usage.lifetime.limit, usage.uses) == (Decimal(100), None, [])
        with pytest.raises(GuardrailRefused) as refused:
            await client.campaigns.create(account, make_brief("meta"))
        (breach,) = refused.value.breaches
        assert (breach.guardrail_id, breach.member, breach.fits) == (rule.id, "perOperation.daily", "10.50")
        changed = await client.guardrails.update(rule, per_operation=SpendLimits(daily="20", lifetime=None))
        assert (changed.version, changed.per_window) == (2, rule.per_window)
        changed = await client.guardrails.update(rule, per_window=None, max_increase_percent=None, name="Smaller")
        assert (changed.per_window, changed.max_increase_percent, changed.name) == (None, None, "Smaller")
        assert (changed.per_operation.daily, changed.currency) == (Decimal(20), "USD")
        with pytest.raises(InvalidInput, match="currency"):
            await client.guardrails.update(rule, currency=None)
        assert (await client.campaigns.create(account, make_brief("meta"))).status == "prepared"
    finally:
        await client.guardrails.delete(rule)
    assert await client.guardrails.list().all() == []


@pytest.mark.parametrize("door", DOORS)
async def test_wrong_arguments_are_named(clients: dict[str, AsyncAds], door: str) -> None:
    client = clients[door]
    wrong: Any = {"daily": "5"}
    with pytest.raises(InvalidInput, match="perOperation: must be of the class SpendLimits"):
        await client.guardrails.create(name="x", currency="USD", per_operation=wrong)
    with pytest.raises(InvalidInput, match="must limit something"):
        await client.guardrails.create(name="x")
    with pytest.raises(NotFound):
        await client.guardrails.lift("not-frozen")
    assert await client.guardrails.freezes().all() == []


async def test_limits_are_exact() -> None:
    inexact: Any = 0.1
    with pytest.raises(InvalidInput, match="float"):
        SpendLimits(daily=inexact, lifetime=None)
