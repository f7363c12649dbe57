"""The entities of a fresh world: boards and Pins of every owner, and campaigns of every age for every account."""

from collections.abc import Iterator
from itertools import count
from typing import Any

from adsunify.sandbox.networks.pinterest.tables import DAY_SECONDS, MICROS
from adsunify.sandbox.world import Account, World

# The Pin of the documented example and one of each other type: id, type, whether the account's owner owns it.
SEED_PINS: tuple[tuple[str, str | None, bool], ...] = (
    ("394205773611545468", "REGULAR", True),
    ("394205773611545001", "VIDEO", True),
    ("394205773611545002", "CAROUSEL", True),
    ("394205773611545003", "COLLECTION", True),
    ("394205773611545004", "IDEA", True),
    ("394205773611545005", "SHOPPING", True),  # cannot be promoted by the unified format
    ("394205773611545006", None, True),
    ("394205773611545007", "REGULAR", False),  # owned by somebody else
)
SEED_BOARDS = (("Autumn", "PUBLIC", False), ("Ad-only Pins", "PROTECTED", True), ("Plans", "SECRET", False))
FIRST_BOARD_ID = 730146114520000001


def seed_world(world: World) -> None:
    """Fill a fresh world."""
    owners = dict.fromkeys(account.extra["native"]["owner"]["username"] for account in world.accounts.values())
    for position, owner in enumerate(owners):
        for offset, (name, privacy, ads_only) in enumerate(SEED_BOARDS):
            data = {"name": name, "privacy": privacy, "is_ads_only": ads_only, "description": None}
            world.create("board", owner, data, id=str(FIRST_BOARD_ID + 10 * position + offset))
        for native, kind, owned in SEED_PINS:
            data = {
                "board_id": str(FIRST_BOARD_ID + 10 * position),
                "title": f"{kind} Pin",
                "creative_type": kind,
                "is_owner": owned,
                "link": "https://tea.example/",
            }
            world.create("pin", owner, data, id=str(int(native) + 100 * position))
    numbers = (str(number) for number in count(600000000001))
    for account in world.accounts.values():
        _seed_campaigns(world, account, numbers)


def _seed_campaigns(world: World, account: Account, numbers: Iterator[str]) -> None:
    """A campaign that runs, a paused one of the old kind (budgets on its ad groups), and an archived one."""
    since = int(world.now.timestamp()) - 365 * DAY_SECONDS
    unit = MICROS * (100 if account.currency == "JPY" else 1)
    places = {
        "targeting_spec": {"LOCATION": [account.extra["native"]["country"]]},
        "pacing_delivery_type": "STANDARD",
        "placement_group": "ALL",
        "auto_targeting_enabled": False,
    }
    campaigns: tuple[dict[str, Any], ...] = (
        {
            "name": "Evergreen",
            "status": "ACTIVE",
            "objective_type": "CONSIDERATION",
            "daily_spend_cap": 40 * unit,
            "is_campaign_budget_optimization": True,
        },
        {
            "name": "Evergreen, old kind",
            "status": "PAUSED",
            "objective_type": "WEB_CONVERSION",
            "is_campaign_budget_optimization": False,
        },
        {
            "name": "Last year",
            "status": "ARCHIVED",
            "objective_type": "LEADS",
            "lifetime_spend_cap": 900 * unit,
            "is_campaign_budget_optimization": True,
            "end_time": since + 30 * DAY_SECONDS,
        },
    )
    groups: tuple[dict[str, Any], ...] = (
        {"budget_type": "CBO_ADGROUP", "bid_strategy_type": "MAX_BID", "bid_in_micro_currency": unit},
        {
            "budget_type": "DAILY",
            "budget_in_micro_currency": 15 * unit,
            "bid_strategy_type": "TARGET_AVG",
            "bid_in_micro_currency": 2 * unit,
        },
        {"budget_type": "CBO_ADGROUP", "bid_strategy_type": "AUTOMATIC_BID"},
    )
    for campaign, group in zip(campaigns, groups, strict=True):
        same = {"name": campaign["name"], "status": campaign["status"]}
        above = world.create(
            "campaign",
            account.id,
            {
                "ad_account_id": account.id,
                "is_flexible_daily_budgets": False,
                "is_performance_plus": False,
                "is_automated_campaign": False,
                "start_time": since,
                **campaign,
            },
            id=next(numbers),
        )
        content = {"campaign_id": above.id, "billable_event": "CLICKTHROUGH", **places, **group, **same}
        ad_group = world.create("ad_group", account.id, content, parent=above.id, id=next(numbers))
        parents = {"campaign_id": above.id, "ad_group_id": ad_group.id}
        ad = {**parents, "pin_id": SEED_PINS[0][0], "creative_type": "REGULAR", "_since": since, **same}
        world.create("ad", account.id, ad, parent=ad_group.id, id=next(numbers))
        for match in ("EXACT", "PHRASE"):
            keyword = {"match_type": match, "value": "green tea", "archived": False, "parent_type": "ad_group"}
            world.create("keyword", account.id, keyword, parent=ad_group.id, id=next(numbers))
