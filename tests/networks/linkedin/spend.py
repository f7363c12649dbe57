"""The spend of accounts of the simulated network, from the sandbox's own figures."""

from __future__ import annotations

from datetime import date
from decimal import Decimal

from adsunify.sandbox.networks.linkedin import analytics
from adsunify.sandbox.world import Account, World
from tests.system.insights.ledger import Days, sum_units


def sum_spend(world: World, account: Account, days: Days) -> Decimal:
    """What an account has spent on some days, in major units of its currency."""
    lineages = world.list_lineages(account.id, ("campaignGroup", "campaign", "creative"))
    active = [lineage[-1] for lineage in lineages if analytics._is_active(lineage)]
    subjects = [(account.id, date.min), *((entity.id, analytics._get_first_day(entity)) for entity in active)]
    return sum_units(
        (
            analytics._generate_daily_figures(subject, day)["costInLocalCurrency"]
            for subject, first in subjects
            for day in days
            if day >= first
        ),
        100,
    )
