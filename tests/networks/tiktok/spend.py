"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.tiktok import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    delivery_days = figures.list_delivery_days(account, days[0], days[-1])
    return sum_units((figures.generate_daily_counts(account, "", day)["spend"] for day in delivery_days), 100)
