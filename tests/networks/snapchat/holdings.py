"""The budgets that an account of the simulated network of Snapchat holds, and hostile native values."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from adsunify.sandbox.world import StoredEntity, World
from tests.guardrails.holdings import MICROS, Budget, Level, make_budget_reader, make_moment_finder, read_instant
from tests.guardrails.hostile_values import HostileValues


def read_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    if stored.data.get("pacing_level") == "CAMPAIGN" and stored.data.get("daily_budget_micro"):
        return [("daily", Decimal(stored.data["daily_budget_micro"]))]
    return []


LEVELS = (
    Level(
        "campaign",
        ("status", "ACTIVE"),
        read_budget,
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
    Level(
        "adsquad",
        ("status", "ACTIVE"),
        make_budget_reader(MICROS, daily="daily_budget_micro", lifetime="lifetime_budget_micro"),
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("daily_budget_micro", MICROS),
        ("lifetime_budget_micro", MICROS),
        ("lifetime_spend_cap_micro", MICROS),
    ),
    ends=(
        {"end_time": "2099-01-01T00:00:00.000Z"},
        {"end_time": None},
    ),
    kind="adGroup",
)
