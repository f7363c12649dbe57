"""What accounts of the simulated networks have spent: added up from the sandbox's own figures, without any adapter.

The sandbox invents figures either for an account, or for its entities that deliver. Each function adds up those of an
account and of days on which an entity delivers the whole day or not at all.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.figures import get_currency_unit
from adsunify.sandbox.networks.amazon import figures as amazon
from adsunify.sandbox.networks.apple import figures as apple
from adsunify.sandbox.networks.chatgpt import figures as chatgpt
from adsunify.sandbox.networks.google import reports as google
from adsunify.sandbox.networks.linkedin import analytics as linkedin
from adsunify.sandbox.networks.meta import insights as meta
from adsunify.sandbox.networks.outbrain import figures as outbrain
from adsunify.sandbox.networks.pinterest import figures as pinterest
from adsunify.sandbox.networks.reddit import figures as reddit
from adsunify.sandbox.networks.snapchat import figures as snapchat
from adsunify.sandbox.networks.tiktok import figures as tiktok
from adsunify.sandbox.networks.x import figures as x
from adsunify.sandbox.world import Account, World

Days = Sequence[date]
MICROS = 10**6


def _sum_units(amounts: Iterable[int | Decimal], units: int) -> Decimal:
    return Decimal(sum(amounts)) / units


def _sum_meta(world: World, account: Account, days: Days) -> Decimal:
    today = world.get_local_date(account)
    figures = (meta._generate_daily_figures(account, account.id, day, today) for day in days)
    return _sum_units((one["spend"] for one in figures if one is not None), 100)


def _sum_google(world: World, account: Account, days: Days) -> Decimal:
    return _sum_units((google.generate_daily_metrics(account, day)["costMicros"] for day in days), MICROS)


def _sum_tiktok(world: World, account: Account, days: Days) -> Decimal:
    delivery_days = tiktok.list_delivery_days(account, days[0], days[-1])
    return _sum_units((tiktok.generate_daily_counts(account, "", day)["spend"] for day in delivery_days), 100)


def _sum_amazon(world: World, account: Account, days: Days) -> Decimal:
    campaigns = world.list_entities("campaign", account.id)
    return sum(
        (
            amazon.get_spend(account, campaign, day)
            for campaign in campaigns
            for day in days
            if amazon.is_serving(world, campaign, day)
        ),
        Decimal(0),
    )


def _sum_apple(world: World, account: Account, days: Days) -> Decimal:
    groups = world.list_entities("adGroup", account.id)
    figures = (apple.get_daily_figures(world, group, day, account.zone) for group in groups for day in days)
    return _sum_units((one.get(apple.SPEND_METRIC, 0) for one in figures), 100)


def _sum_chatgpt(world: World, account: Account, days: Days) -> Decimal:
    ads = world.list_entities("ad", account.id)
    return _sum_units((chatgpt.get_ad_figures(world, ad, day)["spend"] for ad in ads for day in days), MICROS)


def _sum_linkedin(world: World, account: Account, days: Days) -> Decimal:
    lineages = world.list_lineages(account.id, ("campaignGroup", "campaign", "creative"))
    active = [lineage[-1] for lineage in lineages if linkedin._is_active(lineage)]
    subjects = [(account.id, date.min), *((one.id, linkedin._get_first_day(one)) for one in active)]
    return _sum_units(
        (
            linkedin._generate_daily_figures(subject, day)["costInLocalCurrency"]
            for subject, first in subjects
            for day in days
            if day >= first
        ),
        100,
    )


def _sum_pinterest(world: World, account: Account, days: Days) -> Decimal:
    zone = account.timezone
    spans = [(account.id, date.min, date.max)]
    spans += [(ad.id, first, last) for ad, first, last in pinterest.list_delivering_ads(world, account, zone)]
    return _sum_units(
        (
            pinterest.generate_daily_figures(account, subject, day, zone)["SPEND_IN_MICRO_DOLLAR"]
            for subject, first, last in spans
            for day in days
            if first <= day <= last
        ),
        MICROS,
    )


def _sum_delivering(
    world: World, account: Account, days: Days, module: Any, spans: Iterable[tuple[str, datetime, datetime]], unit: int
) -> Decimal:
    total = 0
    for ad_id, first, last in spans:
        for day in days:
            start = datetime.combine(day, time(), account.zone)
            if first <= start and start + timedelta(days=1) <= last:
                total += module.generate_daily_figures(ad_id, day.isoformat(), unit)["spend"]
    return _sum_units([total], MICROS)


def _sum_reddit(world: World, account: Account, days: Days) -> Decimal:
    spans = ((every[0].id, first, last) for every, first, last in reddit.list_delivering_ads(world, account))
    return _sum_delivering(world, account, days, reddit, spans, get_currency_unit(account.currency))


def _sum_snapchat(world: World, account: Account, days: Days) -> Decimal:
    spans = ((ad.id, first, last) for ad, first, last in snapchat.list_delivering_ads(world, account))
    return _sum_delivering(world, account, days, snapchat, spans, MICROS * get_currency_unit(account.currency))


def _sum_outbrain(world: World, account: Account, days: Days) -> Decimal:
    campaigns = world.list_entities("campaign", account.id)
    figures = (outbrain.find_daily_figures(world, campaign, day) for campaign in campaigns for day in days)
    return _sum_units((one["spend"] for one in figures if one is not None), 100)


def _sum_x(world: World, account: Account, days: Days) -> Decimal:
    today = world.get_local_date(account)
    return _sum_units(
        (
            x.generate_daily_figures(campaign, day)["billed_charge_local_micro"]
            for campaign in world.list_entities("campaign", account.id)
            if campaign.data["currency"] == account.currency
            for day in days
            if x.has_run(campaign, day, account.zone, today)
        ),
        MICROS,
    )


LEDGERS: dict[str, Callable[[World, Account, Days], Decimal]] = {
    "amazon": _sum_amazon,
    "apple": _sum_apple,
    "chatgpt": _sum_chatgpt,
    "google": _sum_google,
    "linkedin": _sum_linkedin,
    "meta": _sum_meta,
    "outbrain": _sum_outbrain,
    "pinterest": _sum_pinterest,
    "reddit": _sum_reddit,
    "snapchat": _sum_snapchat,
    "tiktok": _sum_tiktok,
    "x": _sum_x,
}
"""The spend of an account in US dollars on some days, in major units."""
