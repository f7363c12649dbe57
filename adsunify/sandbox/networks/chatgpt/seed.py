"""The entities of a fresh world: on every account a campaign that runs, and a paused one."""

from typing import Any

from adsunify.sandbox.networks.chatgpt.tables import CURRENCIES
from adsunify.sandbox.world import Account, World

SEED_START = 1706774400  # 2024-02-01T08:00:00Z
_COUNTRIES = {"USD": "US", "JPY": "JP", "EUR": "FR"}


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        _seed_campaign(world, account, "evergreen", "active", "daily_spend_limit_micros")
        _seed_campaign(world, account, "spring", "paused", "lifetime_spend_limit_micros")


def _seed_campaign(world: World, account: Account, name: str, status: str, budget: str) -> None:
    """A campaign of clicks with one ad group and one ad."""
    unit, last = CURRENCIES[account.currency].approximate_dollar, f"{name}_{account.id.removeprefix('adacct_')}"
    common = {"name": name.capitalize(), "description": None, "status": status, "landing_page_configuration": None}
    campaign: dict[str, Any] = {
        **common,
        "mode": None,
        "start_time": SEED_START,
        "end_time": None,
        "budget": {budget: 400 * unit},
        "bidding_type": "clicks",
        "conversion_event_setting_ids": [],
        "targeting": {"locations": {"countries": [_COUNTRIES[account.currency]]}},
        "product_feed_id": None,
        "_since": SEED_START,
    }
    above = world.create("campaign", account.id, campaign, id=f"cmpn_{last}")
    bidding = {"billing_event_type": "click", "strategy": "fixed_bid", "max_bid_micros": 2 * unit}
    group = {**common, "context_hints": ["tea shops"], "product_set": None, "bidding_config": bidding}
    middle = world.create("ad_group", account.id, group, parent=above.id, id=f"adgrp_{last}")
    creative = {
        "type": "chat_card",
        "title": "Tea and more",
        "body": "Loose leaves by post.",
        "target_url": account.extra["native"]["url"],
        "file_id": f"file_{last}",
    }
    ad = {**common, "creative": creative, "_submitted": SEED_START}
    world.create("ad", account.id, ad, parent=middle.id, id=f"ad_{last}")
