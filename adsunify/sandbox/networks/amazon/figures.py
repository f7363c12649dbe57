"""Daily figures of campaigns: plausible, and the same on every request.

A campaign's figures are integers (money in the smallest unit of the currency) drawn from a digest of profile, campaign
and day. They are divided over ad groups, ads, keywords and placements without remainder, so every report type adds up.
"""

from datetime import date
from decimal import Decimal

from adsunify.sandbox.figures import draw_numbers
from adsunify.sandbox.networks.amazon.tables import MARKETPLACES
from adsunify.sandbox.world import Account, StoredEntity, World

Figures = dict[str, int]
ATTRIBUTION_WINDOWS = ("1d", "7d", "14d", "30d")
_CONVERSION_PERCENT_BY_WINDOW = {
    "1d": 60,
    "7d": 85,
    "14d": 95,
    "30d": 100,
}  # the percentage of all conversions that fall into each attribution window


def generate_daily_figures(account: Account, campaign: StoredEntity, day: date) -> Figures:
    """The figures of one campaign on one day. `cost` and `sales...` in the currency's smallest unit."""
    numbers = draw_numbers(account.id, campaign.id, day)
    places = MARKETPLACES[account.extra["country"]].decimals
    budget = int(campaign.data["budget"]["budget"].scaleb(places))
    impressions = 900 + numbers[0] % 2600
    clicks = impressions * (5 + numbers[1] % 12) // 1000
    per_click = max(min(budget // 40, 10**places * (100 if places == 0 else 1)), 1)
    cost = min(clicks * per_click * (60 + numbers[2] % 41) // 100, budget)
    purchases = clicks * (6 + numbers[3] % 10) // 100
    price = (1500 + numbers[4] % 3000) * (1 if places else 2)
    figures = {"impressions": impressions, "clicks": clicks, "cost": cost}
    for window in ATTRIBUTION_WINDOWS:
        bought = purchases * _CONVERSION_PERCENT_BY_WINDOW[window] // 100
        same = bought * 7 // 10
        figures |= {
            f"purchases{window}": bought,
            f"purchasesSameSku{window}": same,
            f"unitsSoldClicks{window}": bought,
            f"unitsSoldSameSku{window}": same,
            f"sales{window}": bought * price,
            f"attributedSalesSameSku{window}": same * price,
        }
    figures["addToList"] = clicks // 9
    return figures


def get_spend(account: Account, campaign: StoredEntity, day: date) -> Decimal:
    """A campaign's cost on a day in major units."""
    return Decimal(generate_daily_figures(account, campaign, day)["cost"]).scaleb(
        -MARKETPLACES[account.extra["country"]].decimals
    )


def is_serving(world: World, campaign: StoredEntity, day: date) -> bool:
    """Whether the campaign has activity on a day: enabled, started, not ended, with something to serve below it.

    States have no history: an entity that is enabled now counts as enabled since its start date.
    """
    data = campaign.data
    if not world.delivers(day):
        return False
    if data["state"] != "ENABLED" or not data["startDate"] <= day.isoformat() <= data.get("endDate", "9999-12-31"):
        return False
    return bool(list_enabled_leaves(world, campaign, "productAd")) and (
        data["targetingType"] == "AUTO" or bool(list_enabled_leaves(world, campaign, "keyword"))
    )


def list_enabled_leaves(world: World, campaign: StoredEntity, kind: str) -> list[tuple[StoredEntity, StoredEntity]]:
    """(ad group, leaf) for every enabled ad or keyword in an enabled ad group."""
    return [
        (group, leaf)
        for group in world.list_entities("adGroup", campaign.account, campaign.id)
        if group.data["state"] == "ENABLED"
        for leaf in world.list_entities(kind, campaign.account, group.id)
        if leaf.data["state"] == "ENABLED"
    ]
