"""The budgets that an account of the simulated network of LinkedIn holds, and hostile native values."""

from __future__ import annotations

from tests.guardrails.holdings import Level, make_budget_reader, make_moment_finder, read_milliseconds, read_no_budget
from tests.guardrails.hostile_values import HostileValues

LEVELS = (
    Level(
        "campaignGroup",
        ("status", "ACTIVE"),
        read_no_budget,
        make_moment_finder("runSchedule.end", read_milliseconds),
        make_moment_finder("runSchedule.start", read_milliseconds),
    ),
    Level(
        "campaign",
        ("status", "ACTIVE"),
        make_budget_reader(1, daily="dailyBudget.amount", lifetime="totalBudget.amount"),
        make_moment_finder("runSchedule.end", read_milliseconds),
        make_moment_finder("runSchedule.start", read_milliseconds),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("dailyBudget.amount", 1),
        ("totalBudget.amount", 1),
    ),
    ends=(
        {"runSchedule": {"start": 1803974400000}},
        {"runSchedule": {"start": 1803974400000, "end": 4070908800000}},
    ),
    kind="adGroup",
    fixed_members={"currencyCode": "USD"},
)
