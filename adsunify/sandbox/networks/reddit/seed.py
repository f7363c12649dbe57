"""The entities of a fresh world: on every account a campaign that runs, and a paused one that optimizes its budget."""

from typing import Any

from adsunify.sandbox.networks.reddit.tables import MICROS
from adsunify.sandbox.world import Account, World

SEED_START = "2024-01-15T08:00:00Z"
_PLACES = {"USD": "US", "JPY": "JP", "AUD": "AU", "EUR": "IE", "GBP": "GB"}


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        _seed_evergreen_campaign(world, account)


def _seed_evergreen_campaign(world: World, account: Account) -> None:
    unit = MICROS * (100 if account.currency == "JPY" else 1)
    campaign: dict[str, Any] = {
        "name": "Evergreen",
        "objective": "CLICKS",
        "configured_status": "ACTIVE",
        "funding_instrument_id": "4711",
        "is_campaign_budget_optimization": False,
        "spend_cap": None,
    }
    above = world.create("campaign", account.id, campaign)
    group: dict[str, Any] = {
        "campaign_id": above.id,
        "name": "Evergreen",
        "configured_status": "ACTIVE",
        "conversion_pixel_id": account.id,
        "optimization_goal": "CLICKS",
        "bid_strategy": "MANUAL_BIDDING",
        "bid_type": "CPC",
        "bid_value": 4 * unit,
        "goal_type": "DAILY_SPEND",
        "goal_value": 25 * unit,
        "start_time": SEED_START,
        "end_time": None,
        "schedule": None,
        "targeting": {"geolocations": [_PLACES[account.currency]], "locations": ["FEED"]},
    }
    below = world.create("ad_group", account.id, group, parent=above.id)
    ad = {
        "ad_group_id": below.id,
        "name": "Evergreen",
        "configured_status": "ACTIVE",
        "post_id": "t3_abc123",
        "profile_id": "t2_demotea",
        "click_url": "https://shop.example/tea",
        "_evergreen": True,
        "_posted_at": SEED_START,
    }
    world.create("ad", account.id, ad, parent=below.id)
    optimized = {
        **campaign,
        "name": "Budget optimized",
        "configured_status": "PAUSED",
        "is_campaign_budget_optimization": True,
        "goal_type": "LIFETIME_SPEND",
        "goal_value": 500 * unit,
        "bid_strategy": "MAXIMIZE_VOLUME",
        "bid_type": "CPC",
        "start_time": SEED_START,
        "end_time": "2027-06-30T08:00:00Z",
    }
    whole = world.create("campaign", account.id, optimized)
    bare = {"goal_type", "goal_value", "bid_value"}
    quiet = {name: value for name, value in group.items() if name not in bare}
    quiet |= {"campaign_id": whole.id, "configured_status": "PAUSED", "bid_strategy": "MAXIMIZE_VOLUME"}
    world.create("ad_group", account.id, quiet, parent=whole.id)
