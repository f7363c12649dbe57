"""The budgets that an account of the simulated network of Pinterest holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import (
    MICROS,
    Level,
    find_no_moment,
    make_budget_reader,
    make_moment_finder,
    read_seconds,
)
from tests.guardrails.hostile_values import HostileValues

LEVELS = (
    Level(
        "campaign",
        ("status", "ACTIVE"),
        make_budget_reader(MICROS, daily="daily_spend_cap", lifetime="lifetime_spend_cap"),
        make_moment_finder("end_time", read_seconds),
        make_moment_finder("start_time", read_seconds),
    ),
    Level(
        "ad_group",
        ("status", "ACTIVE"),
        make_budget_reader(MICROS, daily="budget_in_micro_currency"),
        find_no_moment,
        find_no_moment,
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("daily_spend_cap", MICROS),
        ("lifetime_spend_cap", MICROS),
        ("budget_in_micro_currency", MICROS),
    ),
    ends=(
        {"end_time": -1},
        {"end_time": 4070908800},
        {"end_time": None},
    ),
)
