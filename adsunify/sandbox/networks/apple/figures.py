"""What ad groups did on a day: plausible, and the same whenever it is asked for. Above it are sums, below it shares.

The figures of an ad group are integers drawn from a digest of its id and the day. Statuses have no history: what is
enabled now (or was when it was deleted) counts as delivering since it was made.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, tzinfo
from functools import lru_cache

from adsunify.sandbox.framework import StoredEntity, World
from adsunify.sandbox.networks.apple.answers import parse_instant

_CURRENCY_UNITS = {"JPY": 100}  # how many of the smallest unit make about a dollar, where it is not the cent
COUNT_METRICS = (
    "impressions", "taps", "tapInstalls", "viewInstalls", "totalInstalls", "tapNewDownloads", "tapRedownloads",
    "totalNewDownloads", "totalRedownloads",
)  # fmt: skip
SPEND_METRIC = "localSpend"  # in the smallest unit of the currency; Money in answers
Figures = Mapping[str, int]


@lru_cache(maxsize=20000)
def generate_daily_figures(group: str, day: str, unit: int) -> Figures:
    """The figures of one ad group on one day (ISO 8601); `unit`: about a dollar in the smallest unit."""
    dice = hashlib.sha256(f"{group} {day}".encode()).digest()
    shown = 900 + 4 * dice[0] + dice[1]
    taps = shown * (40 + dice[2] % 30) // 1000
    installs = taps * (45 + dice[3] % 20) // 100
    seen, again = dice[4] % 4, installs // 5
    return {
        "impressions": shown,
        "taps": taps,
        "tapInstalls": installs,
        "viewInstalls": seen,
        "totalInstalls": installs + seen,
        "tapNewDownloads": installs - again,
        "tapRedownloads": again,
        "totalNewDownloads": installs - again + seen,
        "totalRedownloads": again,
        SPEND_METRIC: taps * unit * (90 + dice[5] % 60) // 100,
    }


def get_share(whole: Figures, position: int, parts: int) -> dict[str, int]:
    """The share of one of several in the figures of all: the shares add up."""
    return {name: value * (position + 1) // parts - value * position // parts for name, value in whole.items()}


def sum_figures(many: Iterable[Figures]) -> dict[str, int]:
    """Figures added up; empty where there are none."""
    added: dict[str, int] = {}
    for one in many:
        for name, value in one.items():
            added[name] = added.get(name, 0) + value
    return added


def get_currency_unit(currency: str) -> int:
    """About a dollar in the smallest unit."""
    return _CURRENCY_UNITS.get(currency, 100)


def get_daily_figures(world: World, group: StoredEntity, day: date, zone: tzinfo, unit: int) -> Figures:
    """The figures of an ad group on one day of the zone; empty where it did not deliver."""
    above = world.find("campaign", str(group.parent))
    assert above is not None
    if above.data["status"] != "ENABLED" or group.data["status"] != "ENABLED" or not world.delivers(day):
        return {}
    for one in (above, group):
        first = parse_instant(one.data["startTime"]) if "startTime" in one.data else one.created_at
        ends = [parse_instant(one.data[name]) for name in ("endTime", "_deleted") if name in one.data]
        last = min([*ends, world.now])
        if not _get_local_date(first, zone) <= day <= _get_local_date(last, zone):
            return {}
    return generate_daily_figures(group.id, day.isoformat(), unit)


def _get_local_date(at: datetime, zone: tzinfo) -> date:
    return at.astimezone(UTC).astimezone(zone).date()
