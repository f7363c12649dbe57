"""The budgets that an account of the simulated network of TikTok holds, and hostile native values."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from adsunify.sandbox.world import StoredEntity, World
from tests.guardrails.holdings import MICROS, Budget, Level, find_no_moment, make_moment_finder, read_instant
from tests.guardrails.hostile_values import HostileValues


def read_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    mode = stored.data.get("budget_mode")
    if mode in (None, "BUDGET_MODE_INFINITE") or not stored.data.get("budget"):
        return []
    return [("lifetime" if mode == "BUDGET_MODE_TOTAL" else "daily", Decimal(str(stored.data["budget"])) * MICROS)]


LEVELS = (
    Level("campaign", ("operation_status", "ENABLE"), read_budget, find_no_moment, find_no_moment),
    Level(
        "adgroup",
        ("operation_status", "ENABLE"),
        read_budget,
        make_moment_finder("schedule_end_time", read_instant),
        make_moment_finder("schedule_start_time", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("budget", 1),
        ("scheduled_budget", 1),
        ("adgroup_budget", 1),
    ),
    ends=(
        {"schedule_type": "SCHEDULE_START_END", "schedule_end_time": "2037-01-01 00:00:00"},
        {"schedule_type": "SCHEDULE_FROM_NOW"},
    ),
    kind="adGroup",
    amount="25",
)
