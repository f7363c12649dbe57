"""The entities of a fresh world: on every advertiser a campaign that runs."""

from adsunify.sandbox.world import World
from adsunify_northway.simulated.tables import ID_PREFIXES

_SEED_START = "2024-01-15T08:00:00Z"


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        unit = 10 if account.currency == "JPY" else 1
        campaign = {
            "name": "Evergreen",
            "objective": "SALES",
            "state": "LIVE",
            "daily_budget_minor": 2500 * unit,
            "starts_at": _SEED_START,
        }
        parent = world.create("campaign", account.id, campaign, id=_allocate_id(world, "campaign"))
        ad_set = {
            "name": "Evergreen",
            "state": "LIVE",
            "targeting": {"countries": ["DE"]},
            "bid": {"mode": "CAP", "cap_minor": 120 * unit},
            "pixel_id": "px_3",
        }
        child = world.create("ad_set", account.id, ad_set, parent=parent.id, id=_allocate_id(world, "ad_set"))
        ad = {
            "name": "Evergreen",
            "state": "LIVE",
            "headline": "Built for rain",
            "body": "Folding chairs that stay outside.",
            "url": "https://shop.example/chairs",
            "image_url": "https://cdn.example/chairs.jpg",
            "cta": "SHOP_NOW",
        }
        world.create("ad", account.id, ad, parent=child.id, id=_allocate_id(world, "ad"))


def _allocate_id(world: World, kind: str) -> str:
    return f"{ID_PREFIXES[kind]}_{world.allocate_id()}"
