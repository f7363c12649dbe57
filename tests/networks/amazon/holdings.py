"""The budgets that an account of the simulated network of Amazon Ads holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import Level, make_budget_reader, make_moment_finder, read_first_day, read_last_day
from tests.guardrails.hostile_values import HostileValues

LEVELS = (
    Level(
        "campaign",
        ("state", "ENABLED"),
        make_budget_reader(1, daily="budget.budget"),
        make_moment_finder("endDate", read_last_day),
        make_moment_finder("startDate", read_first_day),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("budget.budget", 1),
        ("budget", 1),
    ),
    ends=(
        {"endDate": None},
        {"endDate": "2099-01-01"},
    ),
    fixed_members={"budgetType": "DAILY"},
)
