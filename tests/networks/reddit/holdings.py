"""The budgets that an account of the simulated network of Reddit holds, and hostile native values."""

from __future__ import annotations

from collections.abc import Iterable
from decimal import Decimal

from adsunify.sandbox.world import StoredEntity, World
from tests.guardrails.holdings import MICROS, Budget, Level, make_moment_finder, read_instant
from tests.guardrails.hostile_values import HostileValues


def read_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    if not stored.data.get("goal_value"):
        return []
    return [
        ("lifetime" if stored.data["goal_type"] == "LIFETIME_SPEND" else "daily", Decimal(stored.data["goal_value"]))
    ]


LEVELS = (
    Level(
        "campaign",
        ("configured_status", "ACTIVE"),
        read_budget,
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
    Level(
        "ad_group",
        ("configured_status", "ACTIVE"),
        read_budget,
        make_moment_finder("end_time", read_instant),
        make_moment_finder("start_time", read_instant),
    ),
)
HOSTILE_VALUES = HostileValues(
    budgets=(
        ("goal_value", MICROS),
        ("spend_cap", MICROS),
    ),
    ends=(
        {"end_time": None},
        {"end_time": "2099-01-01T00:00:00Z"},
    ),
    kind="adGroup",
)
