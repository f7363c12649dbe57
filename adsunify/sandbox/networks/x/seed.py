"""The entities of a fresh world, by account: a campaign that has run for years, one that is paused, one deleted."""

from datetime import UTC, datetime

from adsunify.sandbox.networks.x.answers import allocate_native_id, format_instant
from adsunify.sandbox.networks.x.fields import CAMPAIGN_RESOURCE, LINE_ITEM_RESOURCE
from adsunify.sandbox.networks.x.tables import MICROS, get_smallest_amount
from adsunify.sandbox.world import Account, World

SEED_START = datetime(2020, 1, 1, tzinfo=UTC)
_UNITED_STATES = "96683cc9126741d1"


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    for account in world.accounts.values():
        paying = next(instrument.id for instrument in account.extra["instruments"] if instrument.problem is None)
        unit = 100 * MICROS if get_smallest_amount(account.currency) == MICROS else MICROS
        _seed_campaign(world, account, paying, "Evergreen", unit, "ACTIVE")
        _seed_campaign(world, account, paying, "Last summer", unit, "PAUSED", until=datetime(2026, 9, 1, tzinfo=UTC))
        _seed_campaign(
            world,
            account,
            paying,
            "First steps",
            unit,
            "PAUSED",
            until=datetime(2026, 10, 20, tzinfo=UTC),
            deleted=True,
        )


def _seed_campaign(
    world: World,
    account: Account,
    paying: str,
    name: str,
    unit: int,
    status: str,
    until: datetime | None = None,
    deleted: bool = False,
) -> None:
    past = {
        "deleted": False,
        "ran_from": format_instant(SEED_START),
        "ran_until": None if until is None else format_instant(until),
    }
    campaign = {
        "funding_instrument_id": paying,
        "name": name,
        "entity_status": status,
        "daily_budget_amount_local_micro": 60 * unit,
    }
    data = CAMPAIGN_RESOURCE.settle_data(world, account, campaign | past, None)
    entity = world.create("campaign", account.id, data, id=allocate_native_id(world))
    item = {
        "campaign_id": entity.id,
        "name": f"{name}: skiers",
        "objective": "WEBSITE_CLICKS",
        "deleted": False,
        "product_type": "PROMOTED_TWEETS",
        "placements": ["ALL_ON_TWITTER"],
        "start_time": format_instant(SEED_START),
        "bid_strategy": "MAX",
        "bid_amount_local_micro": unit,
        "entity_status": status,
    }
    line = world.create(
        "line_item",
        account.id,
        LINE_ITEM_RESOURCE.settle_data(world, account, item | past, None),
        parent=entity.id,
        id=allocate_native_id(world),
    )
    post = {
        "line_item_id": line.id,
        "tweet_id": "1880000000000000001",
        "entity_status": "ACTIVE",
        "approval_status": "ACCEPTED",
        "deleted": False,
    }
    world.create("promoted_tweet", account.id, post, parent=line.id, id=allocate_native_id(world))
    for kind, value in (("LOCATION", _UNITED_STATES), ("PHRASE_KEYWORD", "ski boots")):
        criterion = {
            "line_item_id": line.id,
            "targeting_type": kind,
            "targeting_value": value,
            "operator_type": "EQ",
            "deleted": False,
        }
        world.create("targeting_criterion", account.id, criterion, parent=line.id, id=allocate_native_id(world))
    if deleted:
        world.replace(entity, {**entity.data, "deleted": True})
