"""The budgets that an account of the simulated network of Meta holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import Level, find_no_moment, make_budget_reader, make_moment_finder, read_instant
from tests.guardrails.hostile_values import HostileValues

AMOUNTS = make_budget_reader(100, daily="daily_budget", lifetime="lifetime_budget")
LEVELS = (
    Level("campaign", ("status", "ACTIVE"), AMOUNTS, find_no_moment, find_no_moment),
    Level(
        "adset",
        ("status", "ACTIVE"),
        AMOUNTS,
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("daily_budget", 100),
        ("lifetime_budget", 100),
        ("spend_cap", 100),
        ("daily_spend_cap", 100),
    ),
    ends=(
        {"end_time": "2099-01-01T00:00:00+0000"},
        {"end_time": 0},
        {"end_time": None},
    ),
    kind="adGroup",
)
