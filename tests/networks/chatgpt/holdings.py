"""The budgets that an account of the simulated network of ChatGPT ads holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import MICROS, Level, make_budget_reader, make_moment_finder, read_seconds
from tests.guardrails.hostile_values import HostileValues

LEVELS = (
    Level(
        "campaign",
        ("status", "active"),
        make_budget_reader(
            MICROS, daily="budget.daily_spend_limit_micros", lifetime="budget.lifetime_spend_limit_micros"
        ),
        make_moment_finder("end_time", read_seconds),
        make_moment_finder("start_time", read_seconds),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("budget.lifetime_spend_limit_micros", MICROS),
        ("budget.daily_spend_limit_micros", MICROS),
    ),
    ends=(
        {"end_time": None},
        {"end_time": 4070908800},
    ),
    amount="320",
    period="lifetime",
)
