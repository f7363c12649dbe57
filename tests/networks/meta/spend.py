"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.meta import insights
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    today = world.get_local_date(account)
    figures = (insights._generate_daily_figures(account, account.id, day, today) for day in days)
    return sum_units((row["spend"] for row in figures if row is not None), 100)
