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
from tests.networks.modules import load_network_module

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


def get_levels(network: str) -> Sequence[Level]:
    """Return the levels of a network that hold budgets, or whose status decides whether one can be spent."""
    levels: Sequence[Level] = load_network_module(network, "holdings", "LEVELS").LEVELS
    return levels


def read_holdings(network: str, world: World, account: str) -> Holdings:
    """Read what an account of a simulated network holds."""
    levels = {level.kind: level for level in get_levels(network)}
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


# -- members of an entity ------------------------------------------------------------------------------------------


def get_member(data: Any, path: str) -> Any:
    for name in path.split("."):
        data = data.get(name) if isinstance(data, Mapping) else None
    return data


def make_budget_reader(unit: int, **members: str) -> Callable[[World, StoredEntity], Iterable[Budget]]:
    """Budgets by period and member (dotted), in units of which ``unit`` make a major one."""

    def read(world: World, stored: StoredEntity) -> Iterable[Budget]:
        for period, member in members.items():
            if value := get_member(stored.data, member):
                yield period, Decimal(str(value)) * MICROS / unit

    return read


def read_no_budget(world: World, stored: StoredEntity) -> Iterable[Budget]:
    return ()


def find_no_moment(world: World, stored: StoredEntity) -> datetime | None:
    return None


def make_moment_finder(member: str, read: Callable[[Any], datetime]) -> Find:
    """The moment in a member (dotted)."""

    def find(world: World, stored: StoredEntity) -> datetime | None:
        value = get_member(stored.data, member)
        return None if value in (None, "", 0, -1) else read(value)

    return find


def read_instant(text: Any) -> datetime:
    if isinstance(text, datetime):
        return text
    at = datetime.fromisoformat(str(text))
    return at if at.tzinfo is not None else at.replace(tzinfo=UTC)


def read_last_day(text: Any) -> datetime:
    """The first hours of the day after a last day, which are earlier in UTC than anywhere in America."""
    return datetime.fromisoformat(str(text)[:10]).replace(tzinfo=UTC) + timedelta(days=1)


def read_first_day(text: Any) -> datetime:
    """The hours of the first day in which it has begun in UTC as in America."""
    return datetime.fromisoformat(str(text)[:10]).replace(tzinfo=UTC) + timedelta(hours=8)


def read_seconds(value: Any) -> datetime:
    return datetime.fromtimestamp(int(value), UTC)


def read_milliseconds(value: Any) -> datetime:
    return read_seconds(int(value) // 1000)


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
