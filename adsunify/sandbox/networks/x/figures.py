"""Daily figures of campaigns, line items and promoted posts: plausible, and the same on every request.

The figures of a campaign are drawn from a digest of campaign and day. Line items and posts have shares of them. Money
is in micros, a multiple of the smallest amount of the currency.
"""

from collections.abc import Mapping, Sequence
from datetime import date, datetime, tzinfo
from typing import Any

from attrs import frozen

from adsunify.sandbox.figures import draw_numbers, get_share
from adsunify.sandbox.networks.x.answers import Data, parse_instant
from adsunify.sandbox.networks.x.tables import CONVERSION_PARTS, METRICS, MICROS, get_smallest_amount
from adsunify.sandbox.world import StoredEntity

Figures = dict[str, int]


def has_run(entity: StoredEntity, day: date, zone: tzinfo, today: date) -> bool:
    """Whether a campaign or a line item ran on a day. A pause or deletion after that day changes nothing."""
    begun, ended = entity.data.get("ran_from"), entity.data.get("ran_until")
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


@frozen
class Share:
    """A share of a campaign's figures: the divisions `first` to `last` of `parts`."""

    first: int
    last: int
    parts: int

    def get_figures(self, campaign: StoredEntity, whole: Figures) -> Figures:
        """Return the share of the campaign's figures of a day. Its charge is a multiple of the smallest amount."""
        smallest = {"billed_charge_local_micro": get_smallest_amount(campaign.data["currency"])}
        return get_share(whole, self.first, self.last, self.parts, smallest)


def divide_campaign(
    items: Sequence[StoredEntity], posts: Mapping[str, Sequence[StoredEntity]], day: date, zone: tzinfo, today: date
) -> dict[str, Share]:
    """Divide the figures that a campaign has on a day over its line items and their promoted posts.

    Line items with posts that ran on the day share the figures, and so do posts that were not yet deleted. If there are
    none, all share them, so that each level adds up to the campaign. A line item is the sum of its posts.

    Returns:
        the shares by the ids of line items and posts. Line items and posts without a share are left out.
    """
    with_posts = [item for item in items if posts.get(item.id)] or items
    spans: dict[str, tuple[int, int]] = {}
    parts = 0
    for item in [item for item in with_posts if has_run(item, day, zone, today)] or with_posts:
        every = posts.get(item.id, ())
        shown_posts = [post for post in every if _is_before_deletion(post, day, zone)] or every
        spans |= {post.id: (parts + position, parts + position + 1) for position, post in enumerate(shown_posts)}
        spans[item.id] = (parts, parts + max(len(shown_posts), 1))
        parts = spans[item.id][1]
    return {native_id: Share(first, last, parts) for native_id, (first, last) in spans.items()}


def _is_before_deletion(post: StoredEntity, day: date, zone: tzinfo) -> bool:
    return not post.data["deleted"] or day <= post.updated_at.astimezone(zone).date()


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
