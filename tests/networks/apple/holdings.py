"""The budgets that an account of the simulated network of Apple Ads holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import Level, make_budget_reader, make_moment_finder, read_instant, read_no_budget
from tests.guardrails.hostile_values import HostileValues

LEVELS = (
    Level(
        "campaign",
        ("status", "ENABLED"),
        make_budget_reader(1, daily="dailyBudget.value.amount"),
        make_moment_finder("endTime", read_instant),
        make_moment_finder("startTime", read_instant),
    ),
    Level(
        "adGroup",
        ("status", "ENABLED"),
        read_no_budget,
        make_moment_finder("endTime", read_instant),
        make_moment_finder("startTime", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("dailyBudget.value.amount", 1),
        ("dailyBudget.amount", 1),
        ("budget.value.amount", 1),
    ),
    ends=(
        {"endTime": "2099-01-01T00:00:00.000"},
        {"endTime": None},
    ),
    fixed_members={"currency": "USD"},
)
