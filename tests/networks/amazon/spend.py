"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.amazon import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    campaigns = world.list_entities("campaign", account.id)
    return sum(
        (
            figures.get_spend(account, campaign, day)
            for campaign in campaigns
            for day in days
            if figures.is_serving(world, campaign, day)
        ),
        Decimal(0),
    )
