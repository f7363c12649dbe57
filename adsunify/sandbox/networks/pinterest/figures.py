"""Daily figures of ads: plausible, and the same on every request.

The figures of an ad are integers drawn from a digest of its id, the day, and the time zone (the same date in another
zone has other figures). Every account has also delivered on every day, and these figures are divided over all its ads,
archived ones included. Figures of ad groups, campaigns and accounts are sums. Only the reach of ads, ad groups and
campaigns is invented for each row. Statuses have no history: an ad that delivers now counts as delivering since its
creation.
"""

from datetime import UTC, date, datetime
from decimal import Decimal
from typing import Any
from zoneinfo import ZoneInfo

from adsunify.sandbox.figures import Figures, draw_bytes, get_currency_unit
from adsunify.sandbox.networks.pinterest.tables import MICROS
from adsunify.sandbox.world import Account, StoredEntity, World


def generate_daily_figures(account: Account, subject: str, day: date, zone: str) -> dict[str, int]:
    """The figures on one day of an ad, or of an account before their division. `subject` is the id of either."""
    dice = draw_bytes(account.id, subject, day, zone)
    paid_impressions = 1800 + 8 * dice[0] + dice[1]
    earned = paid_impressions * (dice[2] % 20) // 100
    clicks = paid_impressions * (12 + dice[3] % 20) // 1000
    unit = MICROS * get_currency_unit(account.currency)
    bought = 1 + clicks // 20
    figures = {
        "IMPRESSION_1": paid_impressions,
        "IMPRESSION_2": earned,
        "CLICKTHROUGH_1": clicks,
        "CLICKTHROUGH_2": earned // 100,
        "OUTBOUND_CLICK_1": clicks * 6 // 10,
        "OUTBOUND_CLICK_2": earned // 200,
        "REPIN_1": clicks // 6,
        "SPEND_IN_MICRO_DOLLAR": clicks * (unit * (25 + dice[4] % 60) // 100) + 1000 * dice[5],
        "TOTAL_VIDEO_MRC_VIEWS": paid_impressions // 7,
        "TOTAL_VIDEO_3SEC_VIEWS": paid_impressions // 9,
    }
    if day.weekday() != 6:  # these are not reported for Sundays: the columns are missing, not 0
        figures |= {
            "TOTAL_CONVERSIONS": bought + dice[6] % 4,
            "TOTAL_CHECKOUT": bought,
            "TOTAL_CHECKOUT_VALUE_IN_MICRO_DOLLAR": bought * unit * (15 + dice[7] % 30),
            "TOTAL_CONVERSIONS_VALUE_IN_MICRO_DOLLAR": bought * unit * (16 + dice[7] % 30),
            "TOTAL_IMPRESSION_USER": paid_impressions * (55 + dice[8] % 40) // 100,
        }
    return figures


def estimate_reach(impressions: int, subject: str, start: date | None) -> int:
    """The people whom an ad, ad group or campaign (`subject` its id) reached in a period."""
    return impressions * (55 + draw_bytes(subject, start)[8] % 40) // 100


def add_derived_metrics(plain: Figures) -> dict[str, int | Decimal]:
    """Figures with the derived metrics."""
    value = plain.get
    metrics: dict[str, int | Decimal] = dict(plain)
    clicks, impressions = value("CLICKTHROUGH_1", 0), value("IMPRESSION_1", 0)
    spend = value("SPEND_IN_MICRO_DOLLAR", 0)
    metrics["PAID_IMPRESSION"] = impressions
    metrics["TOTAL_IMPRESSION"] = impressions + value("IMPRESSION_2", 0)
    metrics["TOTAL_CLICKTHROUGH"] = clicks + value("CLICKTHROUGH_2", 0)
    metrics["SPEND_IN_DOLLAR"] = Decimal(spend) / MICROS
    if clicks:
        metrics["CPC_IN_MICRO_DOLLAR"] = spend // clicks
        metrics["ECPC_IN_MICRO_DOLLAR"] = spend // clicks
    if impressions:
        metrics["CTR"] = round(Decimal(clicks) / impressions, 6)
        metrics["CPM_IN_MICRO_DOLLAR"] = 1000 * spend // impressions
    return metrics


def list_delivering_ads(world: World, account: Account, zone: str) -> list[tuple[StoredEntity, date, date]]:
    """Every ad that delivers now, with the first and the last day of its delivery."""
    delivering = []
    for ad in world.list_entities("ad", account.id):
        group = world.find("ad_group", str(ad.parent))
        campaign = world.find("campaign", ad.data["campaign_id"])
        assert group is not None
        assert campaign is not None
        if {entity.data["status"] for entity in (ad, group, campaign)} != {"ACTIVE"}:
            continue
        created_at = ad.data.get("_since", int(ad.created_at.timestamp()))
        ends = min(entity.data.get("end_time") or 4e9 for entity in (group, campaign))
        starts = max(created_at, campaign.data["start_time"], group.data.get("start_time") or 0)
        delivering.append((ad, get_local_date(starts, zone), get_local_date(int(ends), zone)))
    return delivering


def get_local_date(instant: Any, zone: str) -> date:
    """The date of Unix seconds in a time zone."""
    return datetime.fromtimestamp(instant, UTC).astimezone(ZoneInfo(zone)).date()
