"""What accounts of the simulated networks have spent: added up from the sandbox's own figures, without any adapter.

The sandbox invents figures either for an account, or for its entities that deliver. ``sum_spend`` in
``tests/networks/<code>/spend.py`` adds up those of an account and of days on which an entity delivers the whole day or
not at all.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.world import Account, World
from tests.networks.modules import load_network_module

Days = Sequence[date]
MICROS = 10**6


def sum_spend(network: str, world: World, account: Account, days: Days) -> Decimal:
    """The spend of an account on some days, in major units of its currency."""
    total: Decimal = load_network_module(network, "spend", "sum_spend").sum_spend(world, account, days)
    return total


def sum_units(amounts: Iterable[int | Decimal], units: int) -> Decimal:
    """Add up amounts of which so many units make a major unit."""
    return Decimal(sum(amounts)) / units


def sum_delivering(
    world: World, account: Account, days: Days, module: Any, spans: Iterable[tuple[str, datetime, datetime]], unit: int
) -> Decimal:
    """Add up the spend of ads on the days on which they deliver from midnight to midnight."""
    total = 0
    for ad_id, first, last in spans:
        for day in days:
            start = datetime.combine(day, time(), account.zone)
            if first <= start and start + timedelta(days=1) <= last:
                total += module.generate_daily_figures(ad_id, day.isoformat(), unit)["spend"]
    return sum_units([total], MICROS)
