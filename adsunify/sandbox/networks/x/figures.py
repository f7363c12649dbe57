"""What a campaign did on a day: plausible, and the same on every request.

Drawn from a digest of campaign and day; money in micros, a multiple of the smallest amount of the currency.
"""

from collections.abc import Sequence
from datetime import date, datetime, tzinfo
from typing import Any

from adsunify.sandbox.figures import draw_numbers
from adsunify.sandbox.networks.x.answers import Data, parse_instant
from adsunify.sandbox.networks.x.tables import CONVERSION_PARTS, METRICS, MICROS, get_smallest_amount
from adsunify.sandbox.world import StoredEntity

Figures = dict[str, int]


def has_run(campaign: StoredEntity, day: date, zone: tzinfo, today: date) -> bool:
    """Whether the campaign ran on a day: campaigns that are paused or deleted now keep their metrics."""
    begun, ended = campaign.data.get("ran_from"), campaign.data.get("ran_until")
    if begun is None or day > today or day < _get_local_date(begun, zone):
        return False
    return ended is None or day <= _get_local_date(ended, zone)


def _get_local_date(text: str, zone: tzinfo) -> date:
    return parse_instant(text).astimezone(zone).date()


def generate_daily_figures(campaign: StoredEntity, day: date) -> Figures:
    """The figures of one campaign on one day."""
    numbers = draw_numbers(campaign.account, campaign.id, day)
    smallest = get_smallest_amount(campaign.data["currency"])
    impressions = 2_000 + numbers[0] % 6_000
    clicks = impressions * (6 + numbers[1] % 12) // 1_000
    links = clicks * (55 + numbers[2] % 30) // 100
    per_link = (30 + numbers[3] % 60) * (MICROS if smallest == MICROS else MICROS // 100)
    charged = links * per_link // smallest * smallest
    daily = campaign.data.get("daily_budget_amount_local_micro")
    return {
        "impressions": impressions,
        "clicks": clicks,
        "url_clicks": links,
        "engagements": clicks + numbers[4] % 40,
        "likes": numbers[4] % 25,
        "retweets": numbers[5] % 6,
        "replies": numbers[6] % 4,
        "follows": numbers[7] % 3,
        "card_engagements": links,
        "qualified_impressions": impressions * 7 // 10,
        "billed_engagements": links,
        "billed_charge_local_micro": charged if daily is None else min(charged, daily),
        "conversion_purchases": links * (2 + numbers[5] % 5) // 100,
        "conversion_sign_ups": links * (1 + numbers[6] % 3) // 100,
        "conversion_site_visits": links * 6 // 10,
    }


def compute_metrics(groups: Sequence[str], days: Sequence[Sequence[Figures]]) -> Data:
    """The metrics of the groups; `days`: for each slot of the series the figures of all campaigns that ran.

    A metric without any data in the range is null, not a list: these posts have no video.
    """
    return {name: _compute_metric(name, days) for group in groups for name in METRICS[group]}


def _compute_metric(name: str, days: Sequence[Sequence[Figures]]) -> Any:
    has_data = any(name in figure for slot in days for figure in slot)
    series = [sum(figure.get(name, 0) for figure in slot) for slot in days] if has_data else None
    if not name.startswith("conversion_"):
        return series
    if series is None:
        return dict.fromkeys(CONVERSION_PARTS)
    return {
        **dict.fromkeys(CONVERSION_PARTS),
        "metric": series,
        "post_view": [count // 3 for count in series],
        "post_engagement": [count - count // 3 for count in series],
        "assisted": [0 for _ in series],
    }


def list_local_days(start: datetime, offset: Any, length: int) -> list[date]:
    """The local days from `start` on, with one UTC offset for all of them."""
    first = (start + offset).date()
    return [date.fromordinal(first.toordinal() + step) for step in range(length)]
