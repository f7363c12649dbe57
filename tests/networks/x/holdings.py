"""The budgets that an account of the simulated network of X holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import (
    MICROS,
    Level,
    find_no_moment,
    make_budget_reader,
    make_moment_finder,
    read_instant,
)
from tests.guardrails.hostile_values import HostileValues

AMOUNTS = make_budget_reader(
    MICROS, daily="daily_budget_amount_local_micro", lifetime="total_budget_amount_local_micro"
)
LEVELS = (
    Level("campaign", ("entity_status", "ACTIVE"), AMOUNTS, find_no_moment, find_no_moment),
    Level(
        "line_item",
        ("entity_status", "ACTIVE"),
        AMOUNTS,
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("daily_budget_amount_local_micro", MICROS),
        ("total_budget_amount_local_micro", MICROS),
    ),
    ends=(
        {"end_time": ""},
        {"end_time": "2099-01-01T00:00:00Z"},
    ),
)
