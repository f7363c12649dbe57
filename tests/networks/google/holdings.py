"""The budgets that an account of the simulated network of Google Ads holds, and hostile native values."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from adsunify.sandbox.world import StoredEntity, World
from tests.guardrails.holdings import MICROS, Budget, Level, make_moment_finder, read_first_day, read_last_day
from tests.guardrails.hostile_values import HostileValues


def read_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    budget = world.find("budget", str(stored.data["campaignBudget"]).rpartition("/")[2])
    return [] if budget is None else [("daily", Decimal(budget.data["amountMicros"]))]


LEVELS = (
    Level(
        "campaign",
        ("status", "ENABLED"),
        read_budget,
        make_moment_finder("endDateTime", read_last_day),
        make_moment_finder("startDateTime", read_first_day),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("campaignBudget.amountMicros", MICROS),
        ("campaignBudget", 1),
        ("amountMicros", MICROS),
    ),
    ends=(
        {"endDateTime": "2036-12-30 23:59:59"},
        {"endDateTime": None},
        {"endDateTime": ""},
    ),
    start="2027-03-02T05:00:00Z",
)
