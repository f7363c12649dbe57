"""adAnalytics: figures of whole days of UTC, answered at once.

The figures of a creative are drawn from a digest of its id and the day. An account has always had other creatives
besides, so it has delivered on every day; above creatives everything is a sum. Statuses have no history: what is
ACTIVE now counts as active since it was made.
"""

import hashlib
from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.framework import Account, Answer, Check, Entity, Problem, Request, choice, listing, record, text
from adsunify.sandbox.networks.linkedin.answers import elements
from adsunify.sandbox.networks.linkedin.fields import ACCOUNT, CAMPAIGN, CREATIVE, GROUP, digits_of, urn
from adsunify.sandbox.networks.linkedin.restli import asked
from adsunify.sandbox.networks.linkedin.tables import DAILY_DAYS, MOST_FIELDS, MOST_ROWS, NO_DECIMALS, REACH_DAYS

Figures = dict[str, Any]
_PIVOTS: Mapping[str, tuple[str, str, str]] = {  # pivot: its filter, its kind, its prefix
    "ACCOUNT": ("accounts", "account", ACCOUNT),
    "CAMPAIGN_GROUP": ("campaignGroups", "campaignGroup", GROUP),
    "CAMPAIGN": ("campaigns", "campaign", CAMPAIGN),
    "CREATIVE": ("creatives", "creative", CREATIVE),
}
_FILTERS: dict[str, Check] = {name: listing(urn(prefix), 1) for name, _, prefix in _PIVOTS.values()}
_COUNTS = (
    "impressions", "clicks", "landingPageClicks", "externalWebsiteConversions", "oneClickLeads", "videoViews",
    "approximateMemberReach", "likes", "shares", "totalEngagements",
)  # fmt: skip
_AMOUNTS = ("costInLocalCurrency", "conversionValueInLocalCurrency", "costInUsd")
_FIELDS = ("dateRange", "pivotValues", *_COUNTS, *_AMOUNTS)
_DEFAULT_FIELDS = ["impressions", "clicks"]


def _numeral(value: Any, where: str) -> int:
    """A number without leading zeros."""
    return int(text(1, 4, r"[1-9]\d*")(value, where))


def _day(value: Any, where: str) -> date:
    given = record({"year": _numeral, "month": _numeral, "day": _numeral})(value, where)
    try:
        return date(given["year"], given["month"], given["day"])
    except ValueError as error:
        raise Problem("value", where, "is no day", value) from error


_RANGE = record({"start": _day}, {"end": _day})


def analytics(request: Request) -> Answer:
    """GET /adAnalytics?q=analytics. No pages: what is beyond the 15,000th element is cut off without a word."""
    wanted = asked(
        request,
        {
            "q": choice("analytics"),
            "pivot": choice(*_PIVOTS),
            "timeGranularity": choice("ALL", "DAILY", "MONTHLY", "YEARLY"),
            "dateRange": _RANGE,
        },
        fields=listing(choice(*_FIELDS), 1, MOST_FIELDS),
        **_FILTERS,
    )
    fields = wanted.get("fields", _DEFAULT_FIELDS)
    today = request.now.astimezone(UTC).date()
    first, last = wanted["dateRange"]["start"], wanted["dateRange"].get("end", today)
    if first > last:
        raise Problem("value", "/dateRange", "the end lies before the start")
    if "approximateMemberReach" in fields and (last - first).days >= REACH_DAYS:
        raise Problem("value", "/fields", f"approximateMemberReach covers at most {REACH_DAYS} days")
    if not any(name in wanted for name in _FILTERS):
        raise Problem("required", "/accounts", "one of accounts, campaignGroups, campaigns, creatives is required")
    rows = []
    for subject, creatives, account in _subjects(request, wanted):
        for start, end in _periods(wanted["timeGranularity"], first, min(last, today)):
            if wanted["timeGranularity"] == "DAILY" and start < today - timedelta(days=DAILY_DAYS):
                continue  # daily figures are kept for about six months
            days = [start + timedelta(days=number) for number in range((end - start).days + 1)]
            delivering = [day for day in days if request.world.delivers(day)]  # the others have no element
            figures = _figures(creatives, account if subject.startswith(ACCOUNT) else None, delivering)
            if figures:
                rows.append(_row(subject, start, end, account, figures, fields))
    paging = {"start": 0, "count": 10, "links": []}
    return elements(rows[:MOST_ROWS], paging=paging)


def _subjects(request: Request, wanted: dict[str, Any]) -> Iterable[tuple[str, list[Entity], Account]]:
    """Each value of the pivot with the creatives below it that every filter admits; what is not visible is left out."""
    world = request.world
    allowed = {name: {*map(digits_of, wanted[name])} for name in _FILTERS if name in wanted}
    kind = _PIVOTS[wanted["pivot"]][1]
    for account in world.accounts.values():
        if account.id not in allowed.get("accounts", {account.id}):
            continue
        below: dict[str, list[Entity]] = {account.id: []} if kind == "account" and {*allowed} == {"accounts"} else {}
        for creative in world.entities("creative", account.id):
            campaign = world.find("campaign", str(creative.parent))
            group = campaign and world.find("campaignGroup", str(campaign.parent))
            if campaign is None or group is None:
                continue
            ids = {"account": account.id, "campaignGroup": group.id, "campaign": campaign.id, "creative": creative.id}
            if any(ids[_kind] not in allowed.get(name, ids[_kind]) for name, _kind, _ in _PIVOTS.values()):
                continue
            states = {group.data["status"], campaign.data["status"], creative.data["intendedStatus"]}
            below.setdefault(ids[kind], []).extend([creative] if states == {"ACTIVE"} else [])
        for native_id, creatives in below.items():
            yield _PIVOTS[wanted["pivot"]][2] + native_id, creatives, account


def _periods(granularity: str, first: date, last: date) -> Iterable[tuple[date, date]]:
    """The days, calendar months or years of a range, the outer ones cut to it."""
    start = first
    while start <= last:
        if granularity == "DAILY":
            end = start
        elif granularity == "MONTHLY":
            end = (start.replace(day=1) + timedelta(days=32)).replace(day=1) - timedelta(days=1)
        elif granularity == "YEARLY":
            end = date(start.year, 12, 31)
        else:
            end = last
        yield start, min(end, last)
        start = end + timedelta(days=1)


def _figures(creatives: list[Entity], account: Account | None, days: Iterable[date]) -> Figures:
    total: Figures = {}
    for day in days:
        drawn = [_drawn(creative.id, day) for creative in creatives if _began(creative) <= day]
        if account is not None:
            drawn.append(_drawn(account.id, day))
        for one in drawn:
            for name, value in one.items():
                total[name] = total.get(name, 0) + value
    return total


def _began(creative: Entity) -> date:
    return datetime.fromtimestamp(creative.data.get("_reviewed_from", 0), UTC).date()


def _drawn(subject: str, day: date) -> Figures:
    dice = hashlib.sha256(f"{subject} {day}".encode()).digest()
    shown = 900 + 6 * dice[0] + dice[1]
    clicks = shown * (6 + dice[2] % 9) // 1000
    figures = {
        "impressions": shown,
        "clicks": clicks,
        "landingPageClicks": clicks * 8 // 10,
        "externalWebsiteConversions": clicks // 6,
        "oneClickLeads": dice[3] % 3,
        "likes": clicks // 3,
        "shares": dice[4] % 4,
        "totalEngagements": clicks + clicks // 3 + dice[4] % 4,
        "approximateMemberReach": shown * (60 + dice[5] % 30) // 100,
        "costInLocalCurrency": Decimal(clicks * (310 + dice[6])) / 100,
    }
    if dice[7] % 3:  # not every day: the member is then absent
        figures["conversionValueInLocalCurrency"] = Decimal(clicks // 6 * (900 + dice[8])) / 100
        figures["videoViews"] = shown // 9
    return figures


def _row(
    subject: str, start: date, end: date, account: Account, figures: Figures, fields: list[str]
) -> dict[str, Any]:  # fmt: skip
    ends = {"start": start, "end": end}
    dates = {name: {"year": day.year, "month": day.month, "day": day.day} for name, day in ends.items()}
    row: dict[str, Any] = {"dateRange": dates, "pivotValues": [subject]}
    row |= {name: figures[name] for name in _COUNTS if name in figures}
    for name in ("costInLocalCurrency", "conversionValueInLocalCurrency"):
        if name in figures:
            row[name] = _noisy(figures[name] * 100 if account.currency in NO_DECIMALS else figures[name])
    row["costInUsd"] = _noisy(figures["costInLocalCurrency"])
    return {name: row[name] for name in fields if name in row}


def _noisy(amount: Decimal) -> str:
    """A decimal as a float of the network shows it: up to 18 digits after the point."""
    whole = amount == amount.to_integral_value()
    return f"{amount:.0f}" if whole else f"{amount + Decimal('0.000000000000000782'):.18f}"
