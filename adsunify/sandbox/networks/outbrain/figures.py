"""Daily figures of campaigns and promoted links: plausible, and the same on every request.

Statuses have no history.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from decimal import Decimal
from functools import lru_cache
from typing import Any

from adsunify.sandbox.figures import draw_bytes, get_currency_unit, get_share
from adsunify.sandbox.networks.outbrain.answers import get_eastern_date
from adsunify.sandbox.networks.outbrain.campaigns import get_on_air_reason
from adsunify.sandbox.networks.outbrain.links import get_approval
from adsunify.sandbox.networks.outbrain.tables import CURRENCY_DECIMALS, EASTERN_TIMEZONE
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import StoredEntity, World

_MONEY_FIGURES = ("spend", "sumValue", "viewSumValue", "dstFeeCost")
NO_FIGURES: Mapping[str, Decimal] = dict.fromkeys(
    split_words("""
    impressions viewableImpressions clicks spend conversions viewConversions sumValue viewSumValue dstFeeCost videoPlays
"""),
    Decimal(0),
)


@lru_cache(maxsize=20000)
def generate_daily_figures(campaign: str, day: str, unit: int) -> Mapping[str, Decimal]:
    """The figures of a campaign on one day (ISO 8601); money in hundredths of a unit of the currency."""
    dice = draw_bytes(campaign, day)
    impressions = 8000 + 30 * dice[0] + dice[1]
    clicks = impressions * (2 + dice[2] % 5) // 1000
    bought = clicks // 15 + dice[3] % 2
    viewed = dice[4] % 3
    spend = clicks * unit * (25 + dice[5] % 30)
    counts = {
        "impressions": impressions,
        "viewableImpressions": impressions * (60 + dice[6] % 20) // 100,
        "clicks": clicks,
        "spend": spend,
        "conversions": bought,
        "viewConversions": viewed,
        "sumValue": bought * unit * (1500 + 10 * dice[7]),
        "viewSumValue": viewed * unit * (1500 + 10 * dice[8]),
        "dstFeeCost": spend * 3 // 100 // unit * unit,
        "videoPlays": impressions * (10 + dice[9] % 20) // 100,
    }
    return {name: Decimal(value) for name, value in counts.items()}


def find_daily_figures(world: World, campaign: StoredEntity, on: date) -> Mapping[str, Decimal] | None:
    """The figures of a campaign on a day in Eastern time, or None if there is no row. The present day is partial."""
    present = get_eastern_date(world.now)
    if on > present or not world.delivers(on):
        return None
    if not campaign.data.get("_seeded"):
        since = campaign.created_at.astimezone(EASTERN_TIMEZONE).date()
        if on < since or get_on_air_reason(world, campaign) != "CAMPAIGN_ON_AIR":
            return None
    currency = world.accounts[campaign.account].currency
    whole = generate_daily_figures(campaign.id, on.isoformat(), get_currency_unit(currency))
    if on < present:
        return whole
    return get_share(whole, 0, world.now.astimezone(EASTERN_TIMEZONE).hour, 24, _map_smallest_amounts(currency))


def divide_campaign(
    world: World, campaign: StoredEntity, links: Sequence[StoredEntity], on: date
) -> dict[str, Mapping[str, Decimal]]:
    """Divide the figures of a campaign on a day over its links, by their ids. They add up to the campaign exactly.

    Enabled and approved links that existed on the day share the figures; if there are none, all links share them.
    """
    whole = find_daily_figures(world, campaign, on)
    if whole is None:
        return {}
    shown_links = [link for link in links if _is_shown(world, link, on)] or links
    smallest = _map_smallest_amounts(world.accounts[campaign.account].currency)
    return {
        link.id: get_share(whole, position, position + 1, len(shown_links), smallest)
        for position, link in enumerate(shown_links)
    }


def _is_shown(world: World, link: StoredEntity, on: date) -> bool:
    exists = "_seeded" in link.data or link.created_at.astimezone(EASTERN_TIMEZONE).date() <= on
    return exists and link.data["enabled"] and get_approval(world, link)["status"] == "Approved"


def _map_smallest_amounts(currency: str) -> Mapping[str, int]:
    """The smallest amount of money in hundredths, by the name of the figure."""
    return dict.fromkeys(_MONEY_FIGURES, 10 ** (2 - CURRENCY_DECIMALS[currency]))


def render_metrics(figures: Mapping[str, Decimal], currency: str, *, video: bool, viewable: bool) -> dict[str, Any]:
    """Figures in a response: counts with decimals, money in major units."""
    cent = Decimal(1).scaleb(-CURRENCY_DECIMALS[currency])
    money = {name: (figures[name] / 100).quantize(cent) for name in _MONEY_FIGURES}
    counts = {name: figures[name].quantize(Decimal("0.1")) for name in ("clicks", "conversions", "viewConversions")}
    conversions, value = figures["conversions"] + figures["viewConversions"], money["sumValue"] + money["viewSumValue"]
    metrics: dict[str, Any] = {
        "impressions": figures["impressions"].quantize(Decimal("0.01")),
        **counts,
        **money,
        "totalConversions": conversions.quantize(Decimal("0.1")),
        "totalSumValue": value,
        "ctr": _compute_ratio(figures["clicks"] * 100, figures["impressions"]),
        "ecpc": _compute_ratio(money["spend"], figures["clicks"]),
        "cpm": _compute_ratio(money["spend"] * 1000, figures["impressions"]),
        "conversionRate": _compute_ratio(figures["conversions"] * 100, figures["clicks"]),
        "cpa": _compute_ratio(money["spend"], figures["conversions"]),
        "totalCpa": _compute_ratio(money["spend"], conversions),
        "roas": _compute_ratio(value * 100, money["spend"]),
    }
    if video:
        metrics["videoPlays"] = int(figures["videoPlays"])
    if viewable:
        metrics["viewableImpressions"] = int(figures["viewableImpressions"])
    return metrics


def _compute_ratio(above: Decimal, below: Decimal) -> Decimal:
    return (above / below).quantize(Decimal("0.0001")) if below else Decimal(0)
