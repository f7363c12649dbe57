"""Metrics by day of a customer, its campaigns, ad groups and ads.

The figures of a customer are invented. They are divided over its ads, removed ones included, and an ad group and a
campaign have the sums of their ads. So each level that has entities adds up to the customer.
"""

from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import date
from decimal import Decimal
from typing import Any

from adsunify.sandbox.figures import divide_figures, draw_bytes, sum_figures
from adsunify.sandbox.instants import iterate_days
from adsunify.sandbox.network import Request
from adsunify.sandbox.networks.google import catalogs
from adsunify.sandbox.networks.google.gaql import Query, query_error
from adsunify.sandbox.networks.google.messages import to_camel_case, to_snake_case
from adsunify.sandbox.networks.google.tables import RESOURCE_BY_KIND
from adsunify.sandbox.parsing import InvalidRequest
from adsunify.sandbox.world import Account, Lineage

Row = dict[str, Any]
RowBuilder = Callable[[Request, Account, Query], Iterable[Row]]
_LEVELS = ("campaign", "adGroup", "ad")
_HISTORY_MONTHS = 37  # older days are not available
_FRACTIONS = ("conversions", "conversionsValue")
_FRACTION_UNITS = 100  # fractions are divided in hundredths


def make_report_rows(kind: str, build_rows: RowBuilder) -> RowBuilder:
    """The rows of a level: `customer`, or a kind of entity. `build_rows` makes the rows without metrics.

    With `segments.date` each entity has a row for each day of the range, except where all selected metrics are zero.
    Without it each entity has one row with the sums of the days.
    """
    source = "customer" if kind == "customer" else to_snake_case(RESOURCE_BY_KIND[kind].name)

    def rows(request: Request, account: Account, query: Query) -> Iterable[Row]:
        entity_rows = build_rows(request, account, query)
        names = {*query.select, *(condition.field for condition in query.conditions)}
        if not {name.partition(".")[0] for name in names} & {"metrics", "segments"}:
            return entity_rows
        if account.extra["clients"]:
            raise query_error("REQUESTED_METRICS_FOR_MANAGER", "metrics cannot be requested for a manager account")
        first, last = _parse_date_range(query)
        today, lineages = request.get_local_date(account), request.world.list_lineages(account.id, _LEVELS)
        oldest = _get_oldest_day(today)
        if first < oldest:
            code = "dateRangeError.REQUESTED_DATE_GRANULARITY_NOT_SUPPORTED"
            raise InvalidRequest(code, "/query", f"Days before {oldest} are not available.")
        metrics_by_day = {
            day: _generate_metrics_by_id(account, kind, day, lineages)
            for day in iterate_days(first, min(last, today))
            if request.world.delivers(day)
        }
        row_by_id = {row[source]["resourceName"].rpartition("/")[2]: row for row in entity_rows}
        if "segments.date" in query.select:
            selected = [
                to_camel_case(name.removeprefix("metrics.")) for name in query.select if name.startswith("metrics.")
            ]
            return [
                {**row_by_id[entity_id], "segments": {"date": str(day)}, "metrics": metrics}
                for day, metrics_by_id in metrics_by_day.items()
                for entity_id, metrics in metrics_by_id.items()
                if not selected or any(metrics[name] for name in selected)
            ]
        return [
            {
                **row,
                "segments": {"date": str(last)},
                "metrics": sum_figures(by_id[entity_id] for by_id in metrics_by_day.values() if entity_id in by_id),
            }
            for entity_id, row in row_by_id.items()
        ]

    return rows


def generate_daily_metrics(account: Account, day: date) -> dict[str, Any]:
    """The metrics of an account on a day: invented but always the same. Some days have no conversion.

    Costs are multiples of the billable unit: a click costs 40 to 160 units ($0.40 to $1.60, or ¥40 to ¥160).
    """
    noise = draw_bytes(account.id, day)
    impressions = (2000 if day.weekday() < 5 else 1200) + noise[0] * 12
    clicks = impressions * (20 + noise[1] % 40) // 1000
    conversions = Decimal(noise[2] % 40) / 4 if noise[2] % 8 else Decimal(0)
    return {
        "impressions": impressions,
        "clicks": clicks,
        "costMicros": clicks * (40 + noise[3] % 121) * catalogs.get_billable_unit(account),
        "conversions": conversions,
        "conversionsValue": conversions * (20 + noise[4] % 60),
        "videoTrueviewViews": 0,
    }


def _generate_metrics_by_id(
    account: Account, kind: str, day: date, lineages: Sequence[Lineage]
) -> Mapping[str, Mapping[str, Any]]:
    """The metrics of a level on a day, by the id of the entity."""
    whole = generate_daily_metrics(account, day)
    if kind == "customer":
        return {account.id: whole}
    smallest = {"costMicros": catalogs.get_billable_unit(account)}
    units = {name: int(value * _FRACTION_UNITS) if name in _FRACTIONS else value for name, value in whole.items()}
    return {
        entity_id: {
            name: Decimal(value) / _FRACTION_UNITS if name in _FRACTIONS else value for name, value in part.items()
        }
        for (entity_kind, entity_id), part in divide_figures(units, lineages, day, smallest).items()
        if entity_kind == kind
    }


def _get_oldest_day(today: date) -> date:
    months = today.year * 12 + today.month - 1 - _HISTORY_MONTHS
    return date(months // 12, months % 12 + 1, min(today.day, 28))


def _parse_date_range(query: Query) -> tuple[date, date]:
    """Both bounds of `segments.date`, which must be finite."""
    bounds: dict[str, date] = {}
    for condition in query.conditions:
        if condition.field == "segments.date":
            try:
                values = [date.fromisoformat(str(value)) for value in condition.values]
            except ValueError as error:
                raise query_error("INVALID_DATE_FORMAT", "a date is yyyy-MM-dd") from error
            if condition.operator in ("=", "BETWEEN", ">="):
                bounds["first"] = values[0]
            if condition.operator in ("=", "BETWEEN", "<="):
                bounds["last"] = values[-1]
    if len(bounds) < 2:
        raise query_error("EXPECTED_FILTERS_ON_DATE_RANGE", "segments.date needs a first and a last day")
    if bounds["first"] > bounds["last"]:
        raise query_error("INVALID_VALUE_WITH_BETWEEN_OPERATOR", "the first day is after the last")
    return bounds["first"], bounds["last"]
