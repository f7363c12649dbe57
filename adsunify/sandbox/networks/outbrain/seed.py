"""The entities of a fresh world: for every marketer with budgets a running and a paused campaign."""

from decimal import Decimal
from typing import Any

from adsunify.sandbox.networks.outbrain import places
from adsunify.sandbox.networks.outbrain.tables import PLATFORMS
from adsunify.sandbox.world import Account, World

_HOME_COUNTRIES = {"USD": "United States", "JPY": "Japan", "EUR": "Germany", "GBP": "United Kingdom"}
SEED_START = "2020-01-02"


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        if account.extra["new"]:
            continue
        unit = 100 if account.currency == "JPY" else 1
        budget = {
            "name": "Evergreen",
            "amount": Decimal(60 * unit),
            "startDate": SEED_START,
            "runForever": True,
            "type": "DAILY",
            "pacing": "SPEND_ASAP",
            "_spent": Decimal(1234 * unit),
        }
        world.create("budget", account.id, budget, id=_make_id(account, "01"))
        _seed_campaign(world, account, "Evergreen", "0201", "0301", Decimal(30 * unit).scaleb(-2), enabled=True)
        # shares the budget; its days are hidden from reports that do not ask for paused campaigns
        _seed_campaign(
            world, account, "Evergreen, second", "0202", "0302", Decimal(20 * unit).scaleb(-2), enabled=False
        )


def _seed_campaign(
    world: World, account: Account, name: str, first: str, first_of_link: str, cpc: Decimal, *, enabled: bool
) -> None:
    home = next(
        row["id"] for row in places.build_locations("V2").values() if row["name"] == _HOME_COUNTRIES[account.currency]
    )
    campaign: dict[str, Any] = {
        "name": name,
        "enabled": enabled,
        "cpc": cpc.quantize(Decimal(1)) if account.currency == "JPY" else cpc,
        "objective": "Traffic",
        "creativeFormat": "Standard",
        "campaignOptimization": {"optimizationType": "TRAFFIC"},
        "targeting": {"platform": list(PLATFORMS), "locations": [home], "locationsVersion": "V2"},
        "_seeded": True,
    }
    world.create("campaign", account.id, campaign, parent=_make_id(account, "01"), id=_make_id(account, first))
    link = {
        "url": "https://tea.example/guide",
        "enabled": True,
        "text": "Ten ways to drink tea",
        "sectionName": "Demo Tea",
        "imageMetadata": {"url": "https://tea.example/tea.jpg"},
        "_seeded": True,
    }
    world.create("promotedLink", account.id, link, parent=_make_id(account, first), id=_make_id(account, first_of_link))


def _make_id(account: Account, first: str) -> str:
    return first + account.id[len(first) :]
