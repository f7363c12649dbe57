"""The budgets that an account of the simulated network of Outbrain holds, and hostile native values."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import datetime
from decimal import Decimal

from adsunify.sandbox.world import StoredEntity, World
from tests.guardrails.holdings import MICROS, Budget, Level, read_first_day, read_last_day
from tests.guardrails.hostile_values import HostileValues


def read_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    budget = world.find("budget", stored.parent or "")
    if budget is None:
        return []
    return [
        ("lifetime" if budget.data["type"] == "CAMPAIGN" else "daily", Decimal(str(budget.data["amount"])) * MICROS)
    ]


def find_end(world: World, stored: StoredEntity) -> datetime | None:
    budget = world.find("budget", stored.parent or "")
    last = None if budget is None or budget.data["runForever"] else budget.data.get("endDate")
    return None if last is None else read_last_day(last)


def find_start(world: World, stored: StoredEntity) -> datetime | None:
    budget = world.find("budget", stored.parent or "")
    return None if budget is None else read_first_day(budget.data["startDate"])


LEVELS = (Level("campaign", ("enabled", True), read_budget, find_end, find_start),)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("budget.amount", 1),
        ("amount", 1),
        ("budgetId", 1),
    ),
    ends=(
        {"endDate": "2099-01-01"},
        {"runForever": True},
    ),
    amount="30",
    start="2027-03-02T05:00:00Z",
)
