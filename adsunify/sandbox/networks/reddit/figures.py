"""Figures of ads: plausible, and the same on every request. Figures of campaigns and accounts are sums.

The figures of an ad are integers drawn from a digest of its id and the day; a part of a day has a share of them.
Statuses have no history: an ad that is active now counts as delivering since its creation.
"""

from collections.abc import Mapping
from datetime import datetime
from decimal import ROUND_HALF_EVEN, Decimal
from functools import lru_cache
from typing import Any

from adsunify.sandbox.figures import draw_bytes
from adsunify.sandbox.networks.reddit.answers import INSTANT
from adsunify.sandbox.networks.reddit.entities import get_ancestry
from adsunify.sandbox.networks.reddit.tables import MICROS
from adsunify.sandbox.world import Account, StoredEntity, World

MINUTES_PER_DAY = 24 * 60


@lru_cache(maxsize=20000)
def generate_daily_figures(ad: str, day: str, unit: int) -> Mapping[str, int]:
    """The figures of one ad on one day (ISO 8601). Spend in micros, values of conversions in hundredths."""
    dice = draw_bytes(ad, day)
    impressions = 2600 + 9 * dice[0] + dice[1]
    clicked = impressions * (4 + dice[2] % 12) // 1000
    bought = clicked // 12 + dice[3] % 2
    return {
        "impressions": impressions,
        "clicks": clicked,
        "spend": impressions * unit * MICROS * (300 + dice[4]) // 100_000 + 1000 * dice[5],
        "reach": impressions * (60 + dice[6] % 20) // 100,
        "video_viewable_impressions": impressions * (20 + dice[7] % 20) // 100,
        "video_started": impressions * (40 + dice[7] % 20) // 100,
        "video_watched_3_seconds": impressions * (12 + dice[7] % 10) // 100,
        "video_watched_100_percent": impressions * (2 + dice[7] % 4) // 100,
        "engaged_click": clicked * 8 // 10,
        "key_conversion_clicks": bought - bought // 4,
        "key_conversion_views": bought // 4,
        "key_conversion_total_count": bought,
        "conversion_purchase_clicks": bought - bought // 4,
        "conversion_purchase_views": bought // 4,
        "conversion_purchase_total_items": 2 * bought,
        "conversion_purchase_total_value": bought * unit * (2000 + 13 * dice[8]),
        "conversion_page_visit_clicks": clicked,
        "conversion_page_visit_views": clicked // 3,
    }


def build_row(total: Mapping[str, int], fields: list[str], currency: str) -> dict[str, Any]:
    """The requested fields, in lower case; null without a value. Deprecated fields are left out."""
    impressions, clicks, spend = total["impressions"], total["clicks"], total["spend"]
    derived: dict[str, Any] = {
        "currency": currency,
        "ctr": _compute_ratio(clicks, impressions),
        "cpc": spend // clicks if clicks else None,
        "ecpm": 1000 * spend // impressions if impressions else None,
        "frequency": _compute_ratio(impressions, total["reach"]),
    }
    return {
        name: total.get(name, derived.get(name)) for name in map(str.lower, fields) if name not in DEPRECATED_FIELDS
    }


DEPRECATED_FIELDS = ("click_attribution_window", "view_attribution_window", "gallery_item_caption")


def _compute_ratio(part: int, whole: int) -> Decimal | None:
    return (Decimal(part) / whole).quantize(Decimal("0.000001"), ROUND_HALF_EVEN) if whole else None


def list_delivering_ads(world: World, account: Account) -> list[tuple[tuple[StoredEntity, ...], datetime, datetime]]:
    """Every ad that delivers now, with its ad group and campaign, and the first and last instant of its delivery."""
    delivering = []
    for ad in world.list_entities("ad", account.id):
        every = get_ancestry(world, ad)
        if any(entity.data["configured_status"] != "ACTIVE" for entity in every):
            continue
        starts = [
            INSTANT.check_datetime(entity.data["start_time"], "") for entity in every if "start_time" in entity.data
        ]
        if "_evergreen" not in ad.data:
            starts.append(ad.created_at)
        ends = [
            INSTANT.check_datetime(entity.data["end_time"], "")
            for entity in every
            if entity.data.get("end_time") is not None
        ]
        delivering.append((tuple(every), max(starts, default=ad.created_at), min([*ends, world.now])))
    return delivering
