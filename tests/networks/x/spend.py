"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.x import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import MICROS, Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    today = world.get_local_date(account)
    return sum_units(
        (
            figures.generate_daily_figures(campaign, day)["billed_charge_local_micro"]
            for campaign in world.list_entities("campaign", account.id)
            if campaign.data["currency"] == account.currency
            for day in days
            if figures.has_run(campaign, day, account.zone, today)
        ),
        MICROS,
    )
