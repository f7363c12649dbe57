"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.apple import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    groups = world.list_entities("adGroup", account.id)
    rows = (figures.get_daily_figures(world, group, day, account.zone) for group in groups for day in days)
    return sum_units((row.get(figures.SPEND_METRIC, 0) for row in rows), 100)
