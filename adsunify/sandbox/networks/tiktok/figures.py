"""Daily figures: plausible, and dependent only on the account, its entities and the day.

Every account has delivered on every day up to today, whatever it contains, so a report always has rows. The account's
figures are divided over its ads, deleted ones included, and an ad group and a campaign have the sums of their ads. Only
`reach` is invented for each row. In an account with quiet days the 13th of a month has no delivery and no row.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date, timedelta
from decimal import ROUND_HALF_UP, Decimal
from typing import Any

from adsunify.sandbox.figures import divide_figures, draw_bytes
from adsunify.sandbox.networks.tiktok.accounts import CURRENCIES
from adsunify.sandbox.parsing import split_words
from adsunify.sandbox.world import Account, EntityKey, Lineage

Counts = Mapping[str, int]  # of one or more days; `spend` is in US cents, before the factor `usd_ratio` of the currency
_QUIET_DAY_OF_MONTH = 13


def generate_daily_counts(account: Account, hour: str, day: date, share: int = 1) -> Counts:
    """The counts of an account on a day (`hour` is empty), or in one hour, which is one of `share` parts of the day."""
    seed = draw_bytes("tiktok", account.id, hour, day)
    impressions = (4000 + int.from_bytes(seed[:2], "big") % 6000) // share
    clicks = impressions * (8 + seed[2] % 12) // 1000
    return {
        "impressions": impressions,
        "clicks": clicks,
        "spend": clicks * (20 + seed[3] % 30),
        "video_play_actions": impressions * 9 // 10,
        "video_watched_2s": impressions * 4 // 10,
        "video_watched_6s": impressions * 2 // 10,
        "reach": impressions * (70 + seed[4] % 20) // 100,
        "likes": impressions // 90,
        "comments": impressions // 2000,
        "shares": impressions // 1500,
        "follows": impressions // 3000,
        "weekend": int(day.weekday() >= 5),
    }


def divide_counts(whole: Counts, lineages: Sequence[Lineage], day: date) -> Mapping[EntityKey, Counts]:
    """The counts of an account divided over its entities. Entities without delivery are left out."""
    additive = {name: value for name, value in whole.items() if name not in ("reach", "weekend")}
    return {
        key: {
            **part,
            "reach": part["impressions"] * (70 + draw_bytes(*key, day)[4] % 20) // 100,
            "weekend": whole["weekend"],
        }
        for key, part in divide_figures(additive, lineages, day).items()
        if any(part.values())
    }


def list_delivery_days(account: Account, first: date, last: date) -> Iterable[date]:
    """The days of a range with delivery, the newest first."""
    day = last
    while day >= first:
        if not (account.extra["quiet_days"] and day.day == _QUIET_DAY_OF_MONTH):
            yield day
        day -= timedelta(days=1)


def sum_counts(parts: Iterable[Counts]) -> Counts:
    """Sums. `reach` counts people once, so the sum of several days is reduced."""
    together = list(parts)
    added = {name: sum(part[name] for part in together) for name in together[0]}
    return added if len(together) == 1 else {**added, "reach": added["reach"] * 6 // 10}


def _count_getter(name: str) -> Callable[[Account, Counts], str]:
    return lambda account, counts: str(counts[name])


def _format_money(account: Account, hundredths: Decimal) -> str:
    currency = CURRENCIES[account.currency]
    amount = hundredths * currency.usd_ratio / 100
    return format(amount.quantize(Decimal(1).scaleb(-currency.decimals), ROUND_HALF_UP), "f")


def _format_ratio(above: int, below: int, factor: int = 1) -> str:
    if not below:
        return "0.00"
    return format((Decimal(above) * factor / below).quantize(Decimal("0.01"), ROUND_HALF_UP), "f")


def _format_rate(account: Account, above: int, below: int, factor: int = 1) -> str:
    return _format_money(account, Decimal(above) * factor / below) if below else _format_money(account, Decimal(0))


# Every value is a string; a campaign optimized for clicks has no conversions: 0, or "-" on weekends.
METRICS: Mapping[str, Callable[[Account, Counts], str]] = {
    **{
        name: _count_getter(name)
        for name in split_words("""
            impressions clicks video_play_actions video_watched_2s video_watched_6s reach likes comments shares follows
        """)
    },
    "spend": lambda account, counts: _format_money(account, Decimal(counts["spend"])),
    "ctr": lambda account, counts: _format_ratio(counts["clicks"], counts["impressions"], 100),
    "cpc": lambda account, counts: _format_rate(account, counts["spend"], counts["clicks"]),
    "cpm": lambda account, counts: _format_rate(account, counts["spend"], counts["impressions"], 1000),
    "frequency": lambda account, counts: _format_ratio(counts["impressions"], counts["reach"]),
    "conversion": lambda account, counts: "-" if counts["weekend"] else "0",
    "cost_per_conversion": lambda account, counts: "-" if counts["weekend"] else "0.00",
    "conversion_rate": lambda account, counts: "-" if counts["weekend"] else "0.00",
    "total_complete_payment_rate": lambda account, counts: "-",
    "total_purchase_value": lambda account, counts: "-",
    "currency": lambda account, counts: account.currency,
}


def render_metrics(account: Account, counts: Counts, metrics: Iterable[str]) -> dict[str, Any]:
    """The requested metrics of one row."""
    return {name: METRICS[name](account, counts) for name in metrics}
