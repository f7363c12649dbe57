"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from decimal import Decimal

from adsunify.sandbox.networks.google import reports
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import MICROS, Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    return sum_units((reports.generate_daily_metrics(account, day)["costMicros"] for day in days), MICROS)
