"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.chatgpt import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import MICROS, Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    ads = world.list_entities("ad", account.id)
    return sum_units((figures.get_ad_figures(world, ad, day)["spend"] for ad in ads for day in days), MICROS)
