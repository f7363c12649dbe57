"""adAnalytics: figures of whole days of UTC, synchronous.

The figures of a creative are drawn from a digest of its id and the day. Every account also has older creatives, so it
has delivered on every day. Figures of campaigns, groups and accounts are sums. Statuses have no history: an entity that
is ACTIVE now counts as active since its creation.
"""

from collections.abc import Iterable, Mapping
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, record, text
from adsunify.sandbox.figures import draw_bytes, sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request, Response
from adsunify.sandbox.networks.linkedin import tables
from adsunify.sandbox.networks.linkedin.answers import build_list_response
from adsunify.sandbox.networks.linkedin.fields import (
    ACCOUNT_PREFIX,
    CAMPAIGN_PREFIX,
    CREATIVE_PREFIX,
    GROUP_PREFIX,
    get_urn_number,
    urn,
)
from adsunify.sandbox.networks.linkedin.restli import parse_query
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, StoredEntity

Figures = dict[str, Any]
_PIVOTS: Mapping[str, tuple[str, str, str]] = {  # pivot: its filter, its kind, its prefix
    "ACCOUNT": ("accounts", "account", ACCOUNT_PREFIX),
    "CAMPAIGN_GROUP": ("campaignGroups", "campaignGroup", GROUP_PREFIX),
    "CAMPAIGN": ("campaigns", "campaign", CAMPAIGN_PREFIX),
    "CREATIVE": ("creatives", "creative", CREATIVE_PREFIX),
}
_FILTER_CHECKS: dict[str, Check] = {name: array(urn(prefix), 1) for name, _, prefix in _PIVOTS.values()}
_COUNT_METRICS = split_words("""
    impressions clicks landingPageClicks externalWebsiteConversions oneClickLeads videoViews approximateMemberReach
    likes shares totalEngagements
""")
_AMOUNT_METRICS = ("costInLocalCurrency", "conversionValueInLocalCurrency", "costInUsd")
_REPORT_FIELDS = ("dateRange", "pivotValues", *_COUNT_METRICS, *_AMOUNT_METRICS)
_DEFAULT_FIELDS = ["impressions", "clicks"]


def _check_numeral(value: Any, where: str) -> int:
    """A number without leading zeros."""
    return int(text(1, 4, r"[1-9]\d*")(value, where))


def _check_date(value: Any, where: str) -> date:
    members = record({"year": _check_numeral, "month": _check_numeral, "day": _check_numeral})(value, where)
    try:
        return date(members["year"], members["month"], members["day"])
    except ValueError as error:
        raise InvalidRequest("value", where, "is no day", value) from error


_DATE_RANGE_CHECK = record({"start": _check_date}, {"end": _check_date})


def get_analytics(request: Request) -> Response:
    """GET /adAnalytics?q=analytics. There are no pages: elements after the 15,000th are dropped silently."""
    query = parse_query(
        request,
        {
            "q": choice("analytics"),
            "pivot": choice(*_PIVOTS),
            "timeGranularity": choice("ALL", "DAILY", "MONTHLY", "YEARLY"),
            "dateRange": _DATE_RANGE_CHECK,
        },
        fields=array(choice(*_REPORT_FIELDS), 1, tables.MAX_FIELDS),
        **_FILTER_CHECKS,
    )
    fields = query.get("fields", _DEFAULT_FIELDS)
    today = request.now.astimezone(UTC).date()
    first, last = query["dateRange"]["start"], query["dateRange"].get("end", today)
    if first > last:
        raise InvalidRequest("value", "/dateRange", "the end lies before the start")
    if "approximateMemberReach" in fields and (last - first).days >= tables.MAX_REACH_DAYS:
        raise InvalidRequest("value", "/fields", f"approximateMemberReach covers at most {tables.MAX_REACH_DAYS} days")
    if not any(name in query for name in _FILTER_CHECKS):
        raise InvalidRequest(
            "required", "/accounts", "one of accounts, campaignGroups, campaigns, creatives is required"
        )
    rows = []
    for subject, creatives, account in _list_subjects(request, query):
        for start, end in _split_periods(query["timeGranularity"], first, min(last, today)):
            if query["timeGranularity"] == "DAILY" and start < today - timedelta(days=tables.MAX_DAILY_DAYS):
                continue  # daily figures are kept for about six months
            days = iterate_days(start, end)
            delivering = [day for day in days if request.world.delivers(day)]  # days without delivery have no element
            figures = _sum_figures(creatives, account if subject.startswith(ACCOUNT_PREFIX) else None, delivering)
            if figures:
                rows.append(_build_row(subject, start, end, account, figures, fields))
    paging = {"start": 0, "count": 10, "links": []}
    return build_list_response(rows[: tables.MAX_ROWS], paging=paging)


def _list_subjects(request: Request, query: dict[str, Any]) -> Iterable[tuple[str, list[StoredEntity], Account]]:
    """Each value of the pivot with its creatives that pass every filter; invisible ones are left out."""
    world = request.world
    allowed = {name: {*map(get_urn_number, query[name])} for name in _FILTER_CHECKS if name in query}
    kind = _PIVOTS[query["pivot"]][1]
    for account in world.accounts.values():
        if account.id not in allowed.get("accounts", {account.id}):
            continue
        below: dict[str, list[StoredEntity]] = (
            {account.id: []} if kind == "account" and {*allowed} == {"accounts"} else {}
        )
        for creative in world.list_entities("creative", account.id):
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
            yield _PIVOTS[query["pivot"]][2] + native_id, creatives, account


def _split_periods(granularity: str, first: date, last: date) -> Iterable[tuple[date, date]]:
    """The days, calendar months or years of a range, cut to the range."""
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


def _sum_figures(creatives: list[StoredEntity], account: Account | None, days: Iterable[date]) -> Figures:
    rows: list[Figures] = []
    for day in days:
        rows += [_generate_daily_figures(creative.id, day) for creative in creatives if _get_first_day(creative) <= day]
        if account is not None:
            rows.append(_generate_daily_figures(account.id, day))
    return sum_figures(rows)


def _get_first_day(creative: StoredEntity) -> date:
    return datetime.fromtimestamp(creative.data.get("_reviewed_from", 0), UTC).date()


def _generate_daily_figures(subject: str, day: date) -> Figures:
    dice = draw_bytes(subject, day)
    impressions = 900 + 6 * dice[0] + dice[1]
    clicks = impressions * (6 + dice[2] % 9) // 1000
    figures = {
        "impressions": impressions,
        "clicks": clicks,
        "landingPageClicks": clicks * 8 // 10,
        "externalWebsiteConversions": clicks // 6,
        "oneClickLeads": dice[3] % 3,
        "likes": clicks // 3,
        "shares": dice[4] % 4,
        "totalEngagements": clicks + clicks // 3 + dice[4] % 4,
        "approximateMemberReach": impressions * (60 + dice[5] % 30) // 100,
        "costInLocalCurrency": Decimal(clicks * (310 + dice[6])) / 100,
    }
    if dice[7] % 3:  # on other days the member is absent
        figures["conversionValueInLocalCurrency"] = Decimal(clicks // 6 * (900 + dice[8])) / 100
        figures["videoViews"] = impressions // 9
    return figures


def _build_row(
    subject: str, start: date, end: date, account: Account, figures: Figures, fields: list[str]
) -> dict[str, Any]:
    ends = {"start": start, "end": end}
    dates = {name: {"year": day.year, "month": day.month, "day": day.day} for name, day in ends.items()}
    row: dict[str, Any] = {"dateRange": dates, "pivotValues": [subject]}
    row |= {name: figures[name] for name in _COUNT_METRICS if name in figures}
    for name in ("costInLocalCurrency", "conversionValueInLocalCurrency"):
        if name in figures:
            row[name] = _format_noisy_decimal(
                figures[name] * 100 if account.currency in tables.ZERO_DECIMAL_CURRENCIES else figures[name]
            )
    row["costInUsd"] = _format_noisy_decimal(figures["costInLocalCurrency"])
    return {name: row[name] for name in fields if name in row}


def _format_noisy_decimal(amount: Decimal) -> str:
    """A decimal as the network writes floats: up to 18 digits after the point."""
    whole = amount == amount.to_integral_value()
    return f"{amount:.0f}" if whole else f"{amount + Decimal('0.000000000000000782'):.18f}"
