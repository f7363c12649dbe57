"""Daily figures of ads: plausible, and the same on every request. Figures of campaigns and accounts are sums.

The figures of an ad are integers drawn from a digest of its id and the day. Statuses have no history: an ad that is
active now counts as delivering since its creation.
"""

from collections.abc import Mapping
from datetime import date, datetime
from functools import lru_cache

from adsunify.sandbox.figures import draw_bytes
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.networks.chatgpt.entities import get_ancestry, get_review
from adsunify.sandbox.networks.chatgpt.tables import CURRENCIES
from adsunify.sandbox.world import Account, StoredEntity, World

METRICS = ("impressions", "clicks", "spend", "conversions", "order_created_attributed_sales")
NO_FIGURES: Mapping[str, int] = dict.fromkeys(METRICS, 0)


@lru_cache(maxsize=20000)
def _generate_daily_figures(ad: str, day: str, unit: int, smallest: int) -> Mapping[str, int]:
    """The figures of one ad on one day (ISO 8601). Money in micros."""
    dice = draw_bytes(ad, day)
    impressions = 1800 + 7 * dice[0] + dice[1]
    clicks = impressions * (8 + dice[2] % 20) // 1000
    bought = clicks // 25 + dice[3] % 3
    return {
        "impressions": impressions,
        "clicks": clicks,
        "spend": clicks * unit * (60 + dice[4] % 90) // 100 // smallest * smallest,
        "conversions": bought,
        "order_created_attributed_sales": bought * unit * (20 + dice[5] % 30),
    }


def get_ad_figures(world: World, ad: StoredEntity, day: date) -> Mapping[str, int]:
    """The figures of one ad on one day of its account's time zone; conversions only once the day is over.

    A day counts whole even if the ad exists for a part of it only.
    """
    account = world.accounts[ad.account]
    first, last = _get_delivery_span(world, account, ad)
    if not first <= day <= min(last, world.get_local_date(account)) or not world.delivers(day):
        return NO_FIGURES
    currency = CURRENCIES[account.currency]
    figures = _generate_daily_figures(ad.id, day.isoformat(), currency.approximate_dollar, currency.smallest_unit)
    if day == world.get_local_date(account):
        return {**figures, "conversions": 0, "order_created_attributed_sales": 0}
    return figures


def get_spend(world: World, campaign: StoredEntity) -> int:
    """What a campaign has spent so far, in micros."""
    now = world.get_local_date(world.accounts[campaign.account])
    ads = [ad for ad in world.list_entities("ad", campaign.account) if get_ancestry(world, ad)[2].id == campaign.id]
    spend = 0
    for ad in ads:
        first, _ = _get_delivery_span(world, world.accounts[ad.account], ad)
        spend += sum(get_ad_figures(world, ad, day)["spend"] for day in iterate_days(first, now))
    return spend


def _get_delivery_span(world: World, account: Account, ad: StoredEntity) -> tuple[date, date]:
    """The first and the last day on which an ad delivers; the last is before the first if the ad does not deliver."""
    ad, group, campaign = get_ancestry(world, ad)
    zone = account.zone
    if any(entity.data["status"] != "active" for entity in (ad, group, campaign)):
        return date.max, date.min
    if get_review(world, ad)["status"] != "approved":
        return date.max, date.min
    created_at = campaign.data.get("_since", int(ad.created_at.timestamp()))
    start, end = campaign.data["start_time"] or 0, campaign.data["end_time"]
    first = datetime.fromtimestamp(max(start, created_at), zone).date()
    return first, date.max if end is None else datetime.fromtimestamp(end - 1, zone).date()
