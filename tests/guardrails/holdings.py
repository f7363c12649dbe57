"""What a simulated network holds: the budgets of an account, read from its documentation and not from the adapters.

``held`` counts every budget whatever the status; ``live`` counts those that can be spent, because their entity and all
above it are active. Amounts are micro-units. The lifetime amount of a daily budget counts whole days of 24 hours up to
the end, which is never more than the days of an account: a figure here is never too high.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from attrs import frozen

from adsunify.sandbox.world import StoredEntity, World

MICROS = 1_000_000
Amounts = tuple[Decimal, Decimal]
"""On a day, and in all; in all is infinite without an end."""
NOTHING: Amounts = (Decimal(0), Decimal(0))
Budget = tuple[str, Decimal]
"""``daily`` or ``lifetime``, and an amount in micro-units."""
Data = Mapping[str, Any]


Find = Callable[[World, StoredEntity], datetime | None]


@frozen
class Level:
    """A kind of entity: the member and the value of an active status, its budgets, and when it starts and ends."""

    kind: str
    status: tuple[str, Any]
    budgets: Callable[[World, StoredEntity], Iterable[Budget]]
    end: Find
    start: Find


@frozen
class Holdings:
    """What an account holds: by entity, what its budgets allow, and each budget's amount by entity and period."""

    held: Mapping[str, Amounts]
    live: Mapping[str, Amounts]
    budgets: Mapping[tuple[str, str], Decimal]


Chain = Sequence[tuple[Level, StoredEntity]]
"""An entity, with all above it."""


def read_holdings(network: str, world: World, account: str) -> Holdings:
    """Read what an account of a simulated network holds."""
    levels = {level.kind: level for level in LEVELS[network]}
    entities = [stored for kind in levels for stored in world.list_entities(kind, account)]
    by_id = {stored.id: stored for stored in entities}
    all_amounts: dict[str, Amounts] = {}
    live_amounts: dict[str, Amounts] = {}
    budgets: dict[tuple[str, str], Decimal] = {}
    for stored in entities:
        own = dict(levels[stored.kind].budgets(world, stored))
        budgets |= {(stored.id, period): amount for period, amount in own.items()}
        lineage = [stored]
        while lineage[-1].parent in by_id:
            lineage.append(by_id[lineage[-1].parent or ""])
        if not own or any(list(levels[ancestor.kind].budgets(world, ancestor)) for ancestor in lineage[1:]):
            continue  # a budget above bounds this one
        below = [child for child in entities if child.parent == stored.id]
        chains = [[child, *lineage] for child in below] or [lineage]
        rows = [[(levels[entity.kind], entity) for entity in chain] for chain in chains]
        spends = [(_bound_chain(world, chain), chain) for chain in rows]
        all_amounts[stored.id] = _take_highest(amounts for amounts, _ in spends)
        live_amounts[stored.id] = _take_highest(amounts for amounts, chain in spends if _is_active(chain))
    return Holdings(all_amounts, live_amounts, budgets)


def _is_active(chain: Chain) -> bool:
    return all(stored.data.get(level.status[0]) == level.status[1] for level, stored in chain)


def _bound_chain(world: World, chain: Chain) -> Amounts:
    """Return what the budgets of a chain allow, each of which bounds it, while none of it has ended."""
    days = _count_days(world, chain)
    amounts = [budget for level, stored in chain for budget in level.budgets(world, stored)]
    if not days:
        return NOTHING
    in_all = [amount if period == "lifetime" else amount * days for period, amount in amounts]
    return min(amount for _, amount in amounts), min(in_all)


def _take_highest(amounts: Iterable[Amounts]) -> Amounts:
    every = [NOTHING, *amounts]
    return max(daily for daily, _ in every), max(in_all for _, in_all in every)


def _count_days(world: World, chain: Chain) -> Decimal:
    """Return how many whole days a chain has left to spend."""
    ends = [end for level, stored in chain if (end := level.end(world, stored)) is not None]
    starts = [start for level, stored in chain if (start := level.start(world, stored)) is not None]
    if not ends:
        return Decimal("Infinity")
    return Decimal(max(timedelta(), min(ends) - max([world.now, *starts])) // timedelta(days=1))


# -- members of the networks --------------------------------------------------------------------------------------


def _get_member(data: Any, path: str) -> Any:
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def _make_budget_reader(unit: int, **members: str) -> Callable[[World, StoredEntity], Iterable[Budget]]:
    """Budgets by period and member (dotted), in units of which ``unit`` make a major one."""

    def read(world: World, stored: StoredEntity) -> Iterable[Budget]:
        for period, member in members.items():
            if value := _get_member(stored.data, member):
                yield period, Decimal(str(value)) * MICROS / unit

    return read


def _read_no_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    return ()


def _find_no_moment(world: World, stored: StoredEntity) -> datetime | None:
    return None


def _make_moment_finder(member: str, read: Callable[[Any], datetime]) -> Find:
    """The moment in a member (dotted)."""

    def find(world: World, stored: StoredEntity) -> datetime | None:
        value = _get_member(stored.data, member)
        return None if value in (None, "", 0, -1) else read(value)

    return find


def _read_instant(text: Any) -> datetime:
    if isinstance(text, datetime):
        return text
    at = datetime.fromisoformat(str(text))
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def _read_last_day(text: Any) -> datetime:
    """The first hours of the day after a last day, which are earlier in UTC than anywhere in America."""
    return datetime.fromisoformat(str(text)[:10]).replace(tzinfo=UTC) + timedelta(days=1)


def _read_first_day(text: Any) -> datetime:
    """The hours of the first day in which it has begun in UTC as in America."""
    return datetime.fromisoformat(str(text)[:10]).replace(tzinfo=UTC) + timedelta(hours=8)


def _read_seconds(value: Any) -> datetime:
    return datetime.fromtimestamp(int(value), UTC)


def _read_milliseconds(value: Any) -> datetime:
    return _read_seconds(int(value) // 1000)


def _read_google_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    budget = world.find("budget", str(stored.data["campaignBudget"]).rpartition("/")[2])
    return [] if budget is None else [("daily", Decimal(budget.data["amountMicros"]))]


def _read_outbrain_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    budget = world.find("budget", stored.parent or "")
    if budget is None:
        return []
    return [
        ("lifetime" if budget.data["type"] == "CAMPAIGN" else "daily", Decimal(str(budget.data["amount"])) * MICROS)
    ]


def _find_outbrain_end(world: World, stored: StoredEntity) -> datetime | None:
    budget = world.find("budget", stored.parent or "")
    last = None if budget is None or budget.data["runForever"] else budget.data.get("endDate")
    return None if last is None else _read_last_day(last)


def _find_outbrain_start(world: World, stored: StoredEntity) -> datetime | None:
    budget = world.find("budget", stored.parent or "")
    return None if budget is None else _read_first_day(budget.data["startDate"])


def _read_tiktok_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    mode = stored.data.get("budget_mode")
    if mode in (None, "BUDGET_MODE_INFINITE") or not stored.data.get("budget"):
        return []
    return [("lifetime" if mode == "BUDGET_MODE_TOTAL" else "daily", Decimal(str(stored.data["budget"])) * MICROS)]


def _read_reddit_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    if not stored.data.get("goal_value"):
        return []
    return [
        ("lifetime" if stored.data["goal_type"] == "LIFETIME_SPEND" else "daily", Decimal(stored.data["goal_value"]))
    ]


def _read_snapchat_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    if stored.data.get("pacing_level") == "CAMPAIGN" and stored.data.get("daily_budget_micro"):
        return [("daily", Decimal(stored.data["daily_budget_micro"]))]
    return []


_meta_amounts = _make_budget_reader(100, daily="daily_budget", lifetime="lifetime_budget")
_x_amounts = _make_budget_reader(
    MICROS, daily="daily_budget_amount_local_micro", lifetime="total_budget_amount_local_micro"
)
LEVELS: Mapping[str, tuple[Level, ...]] = {
    "meta": (
        Level("campaign", ("status", "ACTIVE"), _meta_amounts, _find_no_moment, _find_no_moment),
        Level(
            "adset",
            ("status", "ACTIVE"),
            _meta_amounts,
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
    ),
    "google": (
        Level(
            "campaign",
            ("status", "ENABLED"),
            _read_google_budget,
            _make_moment_finder("endDateTime", _read_last_day),
            _make_moment_finder("startDateTime", _read_first_day),
        ),
    ),
    "tiktok": (
        Level("campaign", ("operation_status", "ENABLE"), _read_tiktok_budget, _find_no_moment, _find_no_moment),
        Level(
            "adgroup",
            ("operation_status", "ENABLE"),
            _read_tiktok_budget,
            _make_moment_finder("schedule_end_time", _read_instant),
            _make_moment_finder("schedule_start_time", _read_instant),
        ),
    ),
    "snapchat": (
        Level(
            "campaign",
            ("status", "ACTIVE"),
            _read_snapchat_budget,
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
        Level(
            "adsquad",
            ("status", "ACTIVE"),
            _make_budget_reader(MICROS, daily="daily_budget_micro", lifetime="lifetime_budget_micro"),
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
    ),
    "pinterest": (
        Level(
            "campaign",
            ("status", "ACTIVE"),
            _make_budget_reader(MICROS, daily="daily_spend_cap", lifetime="lifetime_spend_cap"),
            _make_moment_finder("end_time", _read_seconds),
            _make_moment_finder("start_time", _read_seconds),
        ),
        Level(
            "ad_group",
            ("status", "ACTIVE"),
            _make_budget_reader(MICROS, daily="budget_in_micro_currency"),
            _find_no_moment,
            _find_no_moment,
        ),
    ),
    "linkedin": (
        Level(
            "campaignGroup",
            ("status", "ACTIVE"),
            _read_no_budget,
            _make_moment_finder("runSchedule.end", _read_milliseconds),
            _make_moment_finder("runSchedule.start", _read_milliseconds),
        ),
        Level(
            "campaign",
            ("status", "ACTIVE"),
            _make_budget_reader(1, daily="dailyBudget.amount", lifetime="totalBudget.amount"),
            _make_moment_finder("runSchedule.end", _read_milliseconds),
            _make_moment_finder("runSchedule.start", _read_milliseconds),
        ),
    ),
    "reddit": (
        Level(
            "campaign",
            ("configured_status", "ACTIVE"),
            _read_reddit_budget,
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
        Level(
            "ad_group",
            ("configured_status", "ACTIVE"),
            _read_reddit_budget,
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
    ),
    "amazon": (
        Level(
            "campaign",
            ("state", "ENABLED"),
            _make_budget_reader(1, daily="budget.budget"),
            _make_moment_finder("endDate", _read_last_day),
            _make_moment_finder("startDate", _read_first_day),
        ),
    ),
    "x": (
        Level("campaign", ("entity_status", "ACTIVE"), _x_amounts, _find_no_moment, _find_no_moment),
        Level(
            "line_item",
            ("entity_status", "ACTIVE"),
            _x_amounts,
            _make_moment_finder("end_time", _read_instant),
            _make_moment_finder("start_time", _read_instant),
        ),
    ),
    "chatgpt": (
        Level(
            "campaign",
            ("status", "active"),
            _make_budget_reader(
                MICROS, daily="budget.daily_spend_limit_micros", lifetime="budget.lifetime_spend_limit_micros"
            ),
            _make_moment_finder("end_time", _read_seconds),
            _make_moment_finder("start_time", _read_seconds),
        ),
    ),
    "apple": (
        Level(
            "campaign",
            ("status", "ENABLED"),
            _make_budget_reader(1, daily="dailyBudget.value.amount"),
            _make_moment_finder("endTime", _read_instant),
            _make_moment_finder("startTime", _read_instant),
        ),
        Level(
            "adGroup",
            ("status", "ENABLED"),
            _read_no_budget,
            _make_moment_finder("endTime", _read_instant),
            _make_moment_finder("startTime", _read_instant),
        ),
    ),
    "outbrain": (
        Level("campaign", ("enabled", True), _read_outbrain_budget, _find_outbrain_end, _find_outbrain_start),
    ),
}


def count_raises(before: Mapping[str, Amounts], after: Mapping[str, Amounts]) -> Amounts:
    """Return by how much entities rose, on a day and in all, without those that fell."""
    daily = in_all = Decimal(0)
    for entity, (of_day, of_life) in after.items():
        former_day, former_life = before.get(entity, NOTHING)
        daily += max(Decimal(0), of_day - former_day)
        if of_life.is_finite():
            in_all += max(Decimal(0), of_life - former_life)
        elif former_life.is_finite() or of_day > former_day:
            in_all += of_life
    return daily, in_all


def get_highest(first: Mapping[str, Amounts], second: Mapping[str, Amounts]) -> Mapping[str, Amounts]:
    """Return the higher amounts of each entity."""
    return {
        entity: (
            max(first.get(entity, NOTHING)[0], second.get(entity, NOTHING)[0]),
            max(first.get(entity, NOTHING)[1], second.get(entity, NOTHING)[1]),
        )
        for entity in {*first, *second}
    }
