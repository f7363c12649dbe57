"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from adsunify.sandbox.networks.pinterest import figures
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import MICROS, Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    zone = account.timezone
    spans = [(account.id, date.min, date.max)]
    spans += [(ad.id, first, last) for ad, first, last in figures.list_delivering_ads(world, account, zone)]
    return sum_units(
        (
            figures.generate_daily_figures(account, subject, day, zone)["SPEND_IN_MICRO_DOLLAR"]
            for subject, first, last in spans
            for day in days
            if first <= day <= last
        ),
        MICROS,
    )
