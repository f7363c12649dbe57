"""Daily figures of ad groups: plausible, and the same on every request.

Campaigns have the sums, ads and keywords the shares.

The figures of an ad group are integers drawn from a digest of its id and the day. Statuses have no history: an object
that is enabled now, or was when it was deleted, counts as delivering since its creation.
"""

from collections.abc import Sequence
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from adsunify.sandbox.figures import Figures, draw_bytes
from adsunify.sandbox.networks.apple.answers import INSTANT
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import StoredEntity, World

COUNT_METRICS = split_words("""
    impressions taps tapInstalls viewInstalls totalInstalls tapNewDownloads tapRedownloads totalNewDownloads
    totalRedownloads
""")
SPEND_METRIC = "localSpend"  # here in the smallest unit of the currency, in answers as Money
_DOLLAR = 100  # about a dollar, in cents (USD) or whole yen (JPY)


@lru_cache(maxsize=20000)
def generate_daily_figures(group: str, day: str, unit: int = _DOLLAR) -> Figures:
    """The figures of one ad group on one day (ISO 8601); `unit`: about a dollar in the smallest unit."""
    dice = draw_bytes(group, day)
    impressions = 900 + 4 * dice[0] + dice[1]
    taps = impressions * (40 + dice[2] % 30) // 1000
    installs = taps * (45 + dice[3] % 20) // 100
    views, again = dice[4] % 4, installs // 5
    return {
        "impressions": impressions,
        "taps": taps,
        "tapInstalls": installs,
        "viewInstalls": views,
        "totalInstalls": installs + views,
        "tapNewDownloads": installs - again,
        "tapRedownloads": again,
        "totalNewDownloads": installs - again + views,
        "totalRedownloads": again,
        SPEND_METRIC: taps * unit * (90 + dice[5] % 60) // 100,
    }


def get_daily_figures(world: World, group: StoredEntity, day: date, zone: tzinfo) -> Figures:
    """The figures of an ad group on one day of the zone; empty if it did not deliver."""
    above = world.find("campaign", str(group.parent))
    assert above is not None
    if above.data["status"] != "ENABLED" or group.data["status"] != "ENABLED" or not world.delivers(day):
        return {}
    for entity in (above, group):
        first = (
            INSTANT.check_datetime(entity.data["startTime"], "") if "startTime" in entity.data else entity.created_at
        )
        ends = [
            INSTANT.check_datetime(entity.data[name], "") for name in ("endTime", "_deleted") if name in entity.data
        ]
        last = min([*ends, world.now])
        if not _get_local_date(first, zone) <= day <= _get_local_date(last, zone):
            return {}
    return generate_daily_figures(group.id, day.isoformat())


def list_serving_children(children: Sequence[StoredEntity], day: date, zone: tzinfo) -> Sequence[StoredEntity]:
    """The ads or keywords of an ad group that share the figures of the ad group on a day.

    The enabled ads or keywords that are not deleted on that day share the figures. If every one is paused or deleted,
    all of them share the figures. So the figures of the ads always add up to those of the ad group.
    """
    serving = [
        child
        for child in children
        if child.data["status"] == "ENABLED"
        and (
            "_deleted" not in child.data
            or day <= _get_local_date(INSTANT.check_datetime(child.data["_deleted"], ""), zone)
        )
    ]
    return serving or children


def _get_local_date(at: datetime, zone: tzinfo) -> date:
    return at.astimezone(UTC).astimezone(zone).date()
