"""Hourly figures of ads: plausible, and the same on every request. Figures of campaigns and accounts are sums.

The figures of an ad are integers drawn from a digest of its id and the day; the figures of a day of the account's time
zone are spread over its hours. Statuses have no history: an ad that is active now counts as delivering since its
creation. A deleted ad keeps its figures up to the deletion.
"""

from collections.abc import Mapping
from datetime import UTC, datetime
from functools import lru_cache

from adsunify.sandbox.figures import draw_bytes
from adsunify.sandbox.networks.snapchat.answers import INSTANT
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account, StoredEntity, World

DAILY_METRICS = split_words("""
    impressions swipes spend video_views video_views_time_based video_views_15s quartile_1 quartile_2 quartile_3
    view_completion screen_time_millis total_installs native_leads shares saves landing_page_views story_opens
    conversion_purchases conversion_purchases_value conversion_sign_ups conversion_add_cart conversion_start_checkout
    conversion_view_content conversion_page_views conversion_app_opens conversion_subscribe conversion_searches
""")
TOTAL_ONLY_METRICS = ("uniques", "frequency", "attachment_uniques", "attachment_frequency")


@lru_cache(maxsize=20000)
def generate_daily_figures(ad: str, day: str, unit: int) -> Mapping[str, int]:
    """The figures of one ad on one day (ISO 8601)."""
    dice = draw_bytes(ad, day)
    impressions = 2400 + 9 * dice[0] + dice[1]
    swipes = impressions * (8 + dice[2] % 20) // 1000
    bought = swipes // 30 + dice[3] % 3
    return dict.fromkeys(DAILY_METRICS, 0) | {
        "impressions": impressions,
        "swipes": swipes,
        "spend": impressions * (unit * (200 + dice[4] % 150) // 100) // 1000 + 1000 * dice[5],
        "video_views": impressions * (30 + dice[6] % 25) // 100,
        "video_views_15s": impressions * (5 + dice[6] % 9) // 100,
        "quartile_1": impressions * (25 + dice[7] % 20) // 100,
        "screen_time_millis": impressions * 1400,
        "landing_page_views": swipes * 7 // 10,
        "conversion_purchases": bought,
        "conversion_purchases_value": bought * unit * (20 + dice[8] % 30),
        "conversion_page_views": swipes * 2,
        "conversion_add_cart": 2 * bought,
    }


def list_delivering_ads(world: World, account: Account) -> list[tuple[StoredEntity, datetime, datetime]]:
    """Every ad that delivers now, or delivered until its deletion, with the first and the last instant of delivery."""
    delivering = []
    for ad in world.list_entities("ad", account.id):
        squad = world.find("adsquad", str(ad.parent))
        campaign = world.find("campaign", str(squad.parent)) if squad is not None else None
        assert squad is not None
        assert campaign is not None
        line = (ad, squad, campaign)
        if any(entity.data["status"] != "ACTIVE" for entity in line):
            continue
        since = [
            INSTANT.check_datetime(entity.data["start_time"], "") for entity in line if "start_time" in entity.data
        ]
        if "_evergreen" not in campaign.data:
            since.append(ad.created_at)
        until = [INSTANT.check_datetime(entity.data["end_time"], "") for entity in line if "end_time" in entity.data]
        until += [entity.updated_at for entity in line if "_deleted" in entity.data]
        delivering.append((ad, max(since), min(until, default=datetime.max.replace(tzinfo=UTC))))
    return delivering
