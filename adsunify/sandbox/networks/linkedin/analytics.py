"""adAnalytics: figures of whole days of UTC, synchronous.

The figures of a creative are drawn from a digest of its id and the day. Every account has also delivered on every day,
and these figures are divided over all its creatives. Figures of campaigns, groups and accounts are sums. Only the reach
of creatives, campaigns and groups is invented for each row. Statuses have no history: an entity that is ACTIVE now
counts as active since its creation.
"""

from collections.abc import Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from typing import Any

from adsunify.sandbox.checks import Check, array, choice, record, text
from adsunify.sandbox.figures import Figures, divide_figures, draw_bytes, sum_figures
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
from adsunify.sandbox.networks.linkedin.restli import is_finder, parse_query
from adsunify.sandbox.parsing import InvalidRequest, split_words
from adsunify.sandbox.world import Account, Lineage, StoredEntity

_KINDS = ("campaignGroup", "campaign", "creative")
_PIVOTS: Mapping[str, tuple[str, str, str]] = {  # by pivot: filter, kind, URN prefix
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
    """GET /adAnalytics?q=analytics with one pivot, and q=statistics with up to three.

    There are no pages: elements after the 15,000th are dropped silently.
    """
    has_pivots = is_finder(request, "statistics")
    pivot = choice(*_PIVOTS)
    query = parse_query(
        request,
        {
            "q": choice("analytics", "statistics"),
            **({"pivots": array(pivot, 1, tables.MAX_PIVOTS)} if has_pivots else {"pivot": pivot}),
            "timeGranularity": choice("ALL", "DAILY", "MONTHLY", "YEARLY"),
            "dateRange": _DATE_RANGE_CHECK,
        },
        fields=array(choice(*_REPORT_FIELDS), 1, tables.MAX_FIELDS),
        **_FILTER_CHECKS,
    )
    fields = query.get("fields", _DEFAULT_FIELDS)
    pivots = query["pivots"] if has_pivots else [query["pivot"]]
    if len({*pivots}) < len(pivots):
        raise InvalidRequest("value", "/pivots", "names a pivot twice")
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
    periods = list(_split_periods(query["timeGranularity"], first, min(last, today)))
    if query["timeGranularity"] == "DAILY":  # LinkedIn stores daily figures for about six months
        oldest = today - timedelta(days=tables.MAX_DAILY_DAYS)
        periods = [(start, end) for start, end in periods if start >= oldest]
    rows = []
    for account in request.world.accounts.values():
        rows += _build_account_rows(request, account, query, pivots, periods, fields)
    paging = {"start": 0, "count": 10, "links": []}
    return build_list_response(rows[: tables.MAX_ROWS], paging=paging)


def _build_account_rows(
    request: Request,
    account: Account,
    query: Mapping[str, Any],
    pivots: Sequence[str],
    periods: Sequence[tuple[date, date]],
    fields: Sequence[str],
) -> list[dict[str, Any]]:
    """The rows of an account, by subject and then by period. A subject without delivery in a period has no row."""
    lineages = request.world.list_lineages(account.id, _KINDS)
    subjects = _list_subjects(account, lineages, query, pivots)
    if not subjects:
        return []
    rows: dict[tuple[str, ...], list[dict[str, Any]]] = {subject: [] for subject in subjects}
    for start, end in periods:
        totals: dict[tuple[str, ...], list[Figures]] = {}
        for day in filter(request.world.delivers, iterate_days(start, end)):
            parts = divide_figures(_generate_daily_figures(account.id, day), lineages, day)
            for subject, members in subjects.items():
                for lineage in members:
                    entity = lineage[-1]
                    if (entity.kind, entity.id) in parts:
                        totals.setdefault(subject, []).append(parts[entity.kind, entity.id])
                    if _is_active(lineage) and _get_first_day(entity) <= day:
                        totals.setdefault(subject, []).append(_generate_daily_figures(entity.id, day))
        for subject, days in totals.items():
            figures = sum_figures(days)
            if [*pivots] != ["ACCOUNT"]:
                share = 60 + draw_bytes(*subject, start)[5] % 30
                figures["approximateMemberReach"] = figures["impressions"] * share // 100
            rows[subject].append(_build_row(subject, start, end, account, figures, fields))
    return [row for subject_rows in rows.values() for row in subject_rows]


def _list_subjects(
    account: Account, lineages: Iterable[Lineage], query: Mapping[str, Any], pivots: Sequence[str]
) -> dict[tuple[str, ...], list[Lineage]]:
    """The URNs of each row, with the entities whose figures the row sums. These entities pass every filter."""
    allowed = {kind: {*map(get_urn_number, query[name])} for name, kind, _ in _PIVOTS.values() if name in query}
    subjects: dict[tuple[str, ...], list[Lineage]] = {}
    for lineage in lineages:
        ids = {"account": account.id, **{entity.kind: entity.id for entity in lineage}}
        if any(ids.get(kind) not in values for kind, values in allowed.items()):
            continue
        if all(_PIVOTS[pivot][1] in ids for pivot in pivots):
            urns = tuple(_PIVOTS[pivot][2] + ids[_PIVOTS[pivot][1]] for pivot in pivots)
            subjects.setdefault(urns, []).append(lineage)
    return subjects


def _is_active(lineage: Lineage) -> bool:
    """Whether this is a creative that delivers now."""
    *above, entity = lineage
    states = {*(parent.data["status"] for parent in above), entity.data.get("intendedStatus")}
    return states == {"ACTIVE"}


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


def _get_first_day(creative: StoredEntity) -> date:
    return datetime.fromtimestamp(creative.data.get("_reviewed_from", 0), UTC).date()


def _generate_daily_figures(subject: str, day: date) -> Figures:
    """The figures of a creative, or of an account before their division, on one day; amounts in hundredths."""
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
        "costInLocalCurrency": clicks * (310 + dice[6]),
    }
    if dice[7] % 3:  # on other days the member is absent
        figures["conversionValueInLocalCurrency"] = clicks // 6 * (900 + dice[8])
        figures["videoViews"] = impressions // 9
    return figures


def _build_row(
    subject: Sequence[str], start: date, end: date, account: Account, figures: Figures, fields: Sequence[str]
) -> dict[str, Any]:
    ends = {"start": start, "end": end}
    dates = {name: {"year": day.year, "month": day.month, "day": day.day} for name, day in ends.items()}
    row: dict[str, Any] = {"dateRange": dates, "pivotValues": [*subject]}
    row |= {name: figures[name] for name in _COUNT_METRICS if name in figures}
    for name in ("costInLocalCurrency", "conversionValueInLocalCurrency"):
        if name in figures:
            units = 1 if account.currency in tables.ZERO_DECIMAL_CURRENCIES else 100
            row[name] = _format_noisy_decimal(Decimal(figures[name]) / units)
    row["costInUsd"] = _format_noisy_decimal(Decimal(figures["costInLocalCurrency"]) / 100)
    return {name: row[name] for name in fields if name in row}


def _format_noisy_decimal(amount: Decimal) -> str:
    """A decimal as the network writes floats: up to 18 digits after the point."""
    whole = amount == amount.to_integral_value()
    return f"{amount:.0f}" if whole else f"{amount + Decimal('0.000000000000000782'):.18f}"
