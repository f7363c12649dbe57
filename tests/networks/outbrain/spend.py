"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.outbrain import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    campaigns = world.list_entities("campaign", account.id)
    rows = (figures.find_daily_figures(world, campaign, day) for campaign in campaigns for day in days)
    return sum_units((row["spend"] for row in rows if row is not None), 100)
