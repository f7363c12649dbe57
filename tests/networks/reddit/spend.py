"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.figures import get_currency_unit
from adsunify.sandbox.networks.reddit import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_delivering


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    spans = ((every[0].id, first, last) for every, first, last in figures.list_delivering_ads(world, account))
    return sum_delivering(world, account, days, figures, spans, get_currency_unit(account.currency))
