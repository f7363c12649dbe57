"""What every account has from the start: a campaign that has run for years, one that is paused, one deleted."""

from datetime import UTC, datetime

from adsunify.sandbox.framework import Account, World
from adsunify.sandbox.networks.x.answers import new_id, written
from adsunify.sandbox.networks.x.fields import CAMPAIGNS, LINE_ITEMS
from adsunify.sandbox.networks.x.tables import MICROS, denomination

BEGUN = datetime(2020, 1, 1, tzinfo=UTC)
_UNITED_STATES = "96683cc9126741d1"


def seed(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        paying = next(one.id for one in account.extra["instruments"] if one.problem is None)
        unit = 100 * MICROS if denomination(account.currency) == MICROS else MICROS
        _campaign(world, account, paying, "Evergreen", unit, "ACTIVE")
        _campaign(world, account, paying, "Last summer", unit, "PAUSED", until=datetime(2026, 9, 1, tzinfo=UTC))
        _campaign(
            world,
            account,
            paying,
            "First steps",
            unit,
            "PAUSED",
            until=datetime(2026, 10, 20, tzinfo=UTC),
            deleted=True,
        )


def _campaign(
    world: World, account: Account, paying: str, name: str, unit: int, status: str,
    until: datetime | None = None, deleted: bool = False,
) -> None:  # fmt: skip
    past = {"deleted": False, "ran_from": written(BEGUN), "ran_until": None if until is None else written(until)}
    campaign = {"funding_instrument_id": paying, "name": name, "entity_status": status,
                "daily_budget_amount_local_micro": 60 * unit}  # fmt: skip
    data = CAMPAIGNS.settle(world, account, campaign | past, None)
    made = world.create("campaign", account.id, data, id=new_id(world))
    item = {
        "campaign_id": made.id, "name": f"{name}: skiers", "objective": "WEBSITE_CLICKS", "deleted": False,
        "product_type": "PROMOTED_TWEETS", "placements": ["ALL_ON_TWITTER"], "start_time": written(BEGUN),
        "bid_strategy": "MAX", "bid_amount_local_micro": unit, "entity_status": status,
    }  # fmt: skip
    line = world.create(
        "line_item", account.id, LINE_ITEMS.settle(world, account, item, None), parent=made.id, id=new_id(world)
    )
    post = {"line_item_id": line.id, "tweet_id": "1880000000000000001", "entity_status": "ACTIVE",
            "approval_status": "ACCEPTED", "deleted": False}  # fmt: skip
    world.create("promoted_tweet", account.id, post, parent=line.id, id=new_id(world))
    for kind, value in (("LOCATION", _UNITED_STATES), ("PHRASE_KEYWORD", "ski boots")):
        criterion = {"line_item_id": line.id, "targeting_type": kind, "targeting_value": value,
                     "operator_type": "EQ", "deleted": False}  # fmt: skip
        world.create("targeting_criterion", account.id, criterion, parent=line.id, id=new_id(world))
    if deleted:
        world.put(made, {**made.data, "deleted": True})
