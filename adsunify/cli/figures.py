"""What people see of daily figures: plain tables in a pipe, and tables with charts on a terminal."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import date, timedelta
from decimal import Decimal
from typing import Any

from attrs import evolve, frozen
from pydantic.alias_generators import to_snake
from rich.console import Console

from adsunify.answers import AccountInsights, Coverage, Day, EntityDay, Figures, InsightsOverview
from adsunify.client.reports import FigureSums
from adsunify.values.currencies import EXPONENTS
from adsunify.values.exact_json import Json

from .charts import Charts, Number
from .output import Column, TextTable, make_table, to_plain_text

PROVISIONAL_MARK = "*"
NO_FIGURE = "-"
ENTITY_COLUMNS = {
    "entityId": Column("id"),
    "entityName": Column("name", rank=1, prose=True),
    "parentId": Column("parent", rank=5),
}
METRIC_COLUMNS = {
    "impressions": Column("impressions", number=True),
    "clicks": Column("clicks", number=True),
    "spend": Column("spend", number=True),
    "conversions": Column("conversions", number=True, rank=1),
    "conversionValue": Column("conversion value", number=True, rank=2),
    "videoViews": Column("video views", number=True, rank=4),
    "reach": Column("reach", number=True, rank=3),
}
MONEY_METRICS = ("spend", "conversionValue")
ALWAYS_SHOWN = ("impressions", "clicks", "spend")
"""Metrics whose column is shown even if no row has them."""
STATE_STYLE, CHART_STYLE = "yellow", "cyan"


# -- in a pipe ----------------------------------------------------------------------------------------------------


def insights_parts(insights: Mapping[str, Json]) -> Iterator[str | TextTable]:
    """Yield daily figures, the totals of those that are there, and the days that are missing or provisional."""
    coverage = Coverage.model_validate(insights["coverage"])
    sums = FigureSums()
    sums.add_rows(map(Figures.model_validate, insights["rows"]))
    totals, entity_columns = sums.make_figures().to_dict(), ENTITY_COLUMNS if "level" in insights else {}
    columns: list[list[Json]] = [[*(_mark_day(row["date"], coverage) for row in insights["rows"]), "total"]]
    columns += [[*(row[name] for row in insights["rows"]), None] for name in entity_columns]
    columns += [align_numbers([*(row[name] for row in insights["rows"]), totals[name]]) for name in METRIC_COLUMNS]
    title = f"spend in {to_plain_text(insights['currency'])}, days of {to_plain_text(insights['timezone'])}"
    heads = (Column("date"), *entity_columns.values(), *METRIC_COLUMNS.values())
    yield make_table(heads, zip(*columns, strict=True), title)
    yield from describe_coverage(coverage, f"{PROVISIONAL_MARK} ")


def _mark_day(day: str, coverage: Coverage) -> str:
    first = coverage.provisional_from
    return day if first is None or day < first.isoformat() else f"{day} {PROVISIONAL_MARK}"


def align_numbers(values: Sequence[Json], absent: str = "", min_places: int = 0) -> list[str]:
    """Return numbers as text with as many digits after the point as the longest one, and with separators."""
    numbers = [None if value is None else Decimal(value) for value in values]
    exponents = [number.as_tuple().exponent for number in numbers if number is not None]
    places = max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)
    return [absent if number is None else f"{number:,.{max(places, min_places)}f}" for number in numbers]


def describe_coverage(coverage: Coverage, provisional_mark: str = "") -> Iterator[str]:
    """Yield a line for each fact of the days that the figures cover. A mark explains those of provisional days."""
    if not coverage.complete:
        yield "The figures are not complete."
    for gap in coverage.missing:
        first, last = gap.start_date, gap.end_date
        yield f"{first}: no figures" if first == last else f"{first} to {last}: no figures"
    if coverage.provisional_from is not None:
        first = coverage.provisional_from
        yield f"{provisional_mark}provisional from {first}: the network may still change the figures"
    for note in coverage.notes:
        yield to_plain_text(note)


# -- on a terminal ------------------------------------------------------------------------------------------------


@frozen
class FigureRow:
    """A row of a table of figures: what it is about, its figures, and the measure of each day for a sparkline."""

    facts: Sequence[Json]
    figures: Figures | None
    days: Sequence[Number | None] = ()


@frozen
class FigureTable:
    """What the tables with charts have in common.

    Attributes:
        heads: the columns of the facts.
        ranks: the ranks of columns that differ from those of :data:`METRIC_COLUMNS`; ``trend`` and ``share`` as well.
        measure: the metric that is drawn.
    """

    heads: Sequence[Column]
    ranks: Mapping[str, int]
    currency: str | None
    measure: str

    def make_table(self, rows: Sequence[FigureRow], total: FigureRow | None, charts: Charts) -> TextTable:
        """Make the table: facts, a sparkline, metrics, and the share of the total with a bar."""
        all_rows = [*rows, *([] if total is None else [total])]
        facts = zip(self.heads, zip(*(row.facts for row in all_rows), strict=True), strict=True)
        heads, columns = list[Column](), list[Sequence[Json]]()
        for head, cells in facts:
            if any(cells):
                heads.append(head)
                columns.append(cells)
        if any(len(row.days) > 1 for row in rows):
            heads.append(self._make_column(Column(f"{self.measure} by day", chart=True, style=CHART_STYLE), "trend"))
            columns.append([charts.draw_sparkline(row.days) if row.days else "" for row in all_rows])
        for name, column in METRIC_COLUMNS.items():
            values = [_get_figure(row.figures, name) for row in all_rows]
            if name in ALWAYS_SHOWN or any(value is not None for value in values):
                heads.append(self._make_column(evolve(column, name=label_metric(name, self.currency)), name))
                columns.append(_align_metric(name, values, self.currency))
        whole = None if total is None else _get_figure(total.figures, self.measure)
        if whole is not None and whole > 0:
            heads.append(self._make_column(Column(f"share of {self.measure}", chart=True, style=CHART_STYLE), "share"))
            columns.append([*_draw_shares([_get_figure(row.figures, self.measure) for row in rows], whole, charts), ""])
        return make_table(heads, zip(*columns, strict=True), totals=len(all_rows) - len(rows))

    def _make_column(self, column: Column, name: str) -> Column:
        return evolve(column, rank=self.ranks.get(name, column.rank))


def _draw_shares(values: Sequence[Number | None], whole: Number, charts: Charts) -> Iterator[str]:
    """Yield each value in percent of the whole, with a bar; the highest value has the longest bar."""
    highest = max(Decimal(value) for value in values if value is not None)
    for value in values:
        if value is None:
            yield NO_FIGURE
        else:
            yield f"{Decimal(value) / whole * 100:5.1f} %  {charts.draw_bar(Decimal(value) / highest)}"


def label_metric(name: str, currency: str | None) -> str:
    """Return the heading of a metric, with the currency of an amount."""
    label = METRIC_COLUMNS[name].name
    return f"{label} {to_plain_text(currency)}" if name in MONEY_METRICS and currency is not None else label


def _align_metric(name: str, values: Sequence[Number | None], currency: str | None) -> list[str]:
    """Return the values of a metric as text; amounts have at least the digits of the currency."""
    places = (EXPONENTS.get(currency or "") or 0) if name in MONEY_METRICS else 0
    return align_numbers(values, NO_FIGURE, places)


def _get_figure(figures: Figures | None, name: str) -> Any:
    return None if figures is None else getattr(figures, to_snake(name))


def _choose_measure(totals: Figures) -> str:
    """Return the metric that charts show: the spend, or the impressions if the spend is not known."""
    return "spend" if totals.spend is not None or totals.impressions is None else "impressions"


def _add_up(rows: Sequence[Figures]) -> Figures:
    sums = FigureSums()
    sums.add_rows(rows)
    return sums.make_figures()


# -- an account, and a level --------------------------------------------------------------------------------------


DAY_COLUMNS = (Column("date"), Column("", style=STATE_STYLE))
DAY_RANKS = {"share": 1, "conversions": 2, "conversionValue": 3, "reach": 4, "videoViews": 5}
ENTITY_RANKS = {
    "trend": 2,
    "share": 2,
    "clicks": 3,
    "impressions": 4,
    "conversions": 5,
    "conversionValue": 6,
    "reach": 7,
}
TREND_COLUMNS = (
    Column(""),
    Column("by day", style=CHART_STYLE),
    Column("lowest day", number=True),
    Column("highest day", number=True),
)


def report_parts(insights: Mapping[str, Json], screen: Console) -> Iterator[str | TextTable]:
    """Yield the figures of an account by day, or those of a level by entity, with charts, totals and coverage."""
    charts, coverage, currency = (
        Charts.choose(screen),
        Coverage.model_validate(insights["coverage"]),
        insights["currency"],
    )
    is_of_entities = insights.get("level", "account") != "account"
    by_day = _group_rows(map(Day.model_validate, insights["rows"]), coverage)
    totals = _add_up([row for rows in by_day.values() for row in rows])
    measure = _choose_measure(totals)
    yield f"{min(by_day)} to {max(by_day)}, days of {to_plain_text(insights['timezone'])}"
    if not insights["rows"]:
        yield "There are no rows."
    elif is_of_entities:
        table = FigureTable([*ENTITY_COLUMNS.values()], ENTITY_RANKS, currency, measure)
        rows = _list_entities([EntityDay.model_validate(row) for row in insights["rows"]], [*by_day], measure)
        yield table.make_table(rows, FigureRow(("total", "", ""), totals), charts)
    else:
        table = FigureTable(DAY_COLUMNS, DAY_RANKS, currency, measure)
        rows = [
            FigureRow((str(day), _describe_day(day, day_rows, coverage)), day_rows[0] if day_rows else None)
            for day, day_rows in by_day.items()
        ]
        yield table.make_table(rows, FigureRow(("total", ""), totals), charts)
    if insights["rows"] and len(by_day) > 1:
        yield ""
        yield _make_trend_table({day: _add_up(day_rows) for day, day_rows in by_day.items()}, currency, charts)
        if not all(by_day.values()):
            yield f"{charts.symbols.no_row} a day without a row"
    yield ""
    yield from describe_coverage(coverage)


def _group_rows(rows: Iterable[Day], coverage: Coverage) -> dict[date, list[Day]]:
    """Return the rows of each day of the report in order; a day without a row has none."""
    count = (coverage.end_date - coverage.start_date).days + 1
    by_day = {coverage.start_date + timedelta(days=number): list[Day]() for number in range(count)}
    for row in rows:
        by_day.setdefault(row.date, []).append(row)
    return dict(sorted(by_day.items()))


def _describe_day(day: date, rows: Sequence[Day], coverage: Coverage) -> str:
    if not rows:
        return "no row"
    first = coverage.provisional_from
    return "provisional" if first is not None and day >= first else ""


def _list_entities(rows: Sequence[EntityDay], days: Sequence[date], measure: str) -> list[FigureRow]:
    """Return a row for each entity with its sums; the one with the highest measure is first."""
    by_entity: defaultdict[str, list[EntityDay]] = defaultdict(list)
    for row in rows:
        by_entity[row.entity_id].append(row)
    listed = []
    for entity_id, entity_rows in by_entity.items():
        latest = max(entity_rows, key=lambda row: row.date)
        by_day = {row.date: _get_figure(row, measure) for row in entity_rows}
        facts = (entity_id, latest.entity_name, latest.parent_id)
        listed.append(FigureRow(facts, _add_up(entity_rows), [by_day.get(day) for day in days]))
    return _sort_rows(listed, measure)


def _sort_rows(rows: Iterable[FigureRow], measure: str) -> list[FigureRow]:
    """Sort rows by their measure, the highest first; those without it are last."""

    def get_key(row: FigureRow) -> tuple[bool, Number]:
        value = _get_figure(row.figures, measure)
        return value is not None, 0 if value is None else value

    return sorted(rows, key=get_key, reverse=True)


def _make_trend_table(by_day: Mapping[date, Figures], currency: str | None, charts: Charts) -> TextTable:
    """Make a table with a sparkline of the days for each metric."""
    rows = []
    for name in METRIC_COLUMNS:
        values = [_get_figure(figures, name) for figures in by_day.values()]
        numbers = [value for value in values if value is not None]
        extremes = [min(numbers), max(numbers)] if numbers else [None, None]
        chart = charts.draw_sparkline(values) if numbers else NO_FIGURE
        rows.append((label_metric(name, currency), chart, *_align_metric(name, extremes, currency)))
    return make_table(TREND_COLUMNS, rows)


# -- many accounts ------------------------------------------------------------------------------------------------


ACCOUNT_COLUMNS = (
    Column("network"),
    Column("name", prose=True),
    Column("account", rank=3),
    Column("state", style=STATE_STYLE),
)
ACCOUNT_RANKS = {
    "trend": 1,
    "share": 2,
    "clicks": 4,
    "impressions": 5,
    "conversions": 6,
    "conversionValue": 7,
    "reach": 8,
}


def overview_parts(overview: InsightsOverview, screen: Console) -> Iterator[str | TextTable]:
    """Yield a table of the accounts of each currency, with its totals, and the accounts that lack figures."""
    charts = Charts.choose(screen)
    yield f"{overview.start_date} to {overview.end_date}"
    if not overview.accounts:
        yield "No ad account is connected. `adsunify connect NETWORK` connects those of a network."
    by_currency: defaultdict[str | None, list[AccountInsights]] = defaultdict(list)
    for account in overview.accounts:
        by_currency[account.currency].append(account)
    totals = {total.currency: total for total in overview.totals}
    for currency in sorted(by_currency, key=lambda currency: (currency is None, currency)):
        accounts, total = by_currency[currency], totals.get(currency or "")
        measure = "spend" if total is None else _choose_measure(total)
        rows = [_make_account_row(account, overview, measure) for account in accounts]
        total_row = None if total is None else FigureRow(("total", _count_accounts(total.accounts), "", ""), total)
        yield ""
        yield FigureTable(ACCOUNT_COLUMNS, ACCOUNT_RANKS, currency, measure).make_table(
            _sort_rows(rows, measure), total_row, charts
        )
    yield ""
    yield from _describe_accounts(overview.accounts)


def _count_accounts(number: int) -> str:
    return "1 account" if number == 1 else f"{number} accounts"


def _make_account_row(account: AccountInsights, overview: InsightsOverview, measure: str) -> FigureRow:
    count = (overview.end_date - overview.start_date).days + 1
    by_day = {row.date: _get_figure(row, measure) for row in account.rows}
    days = [by_day.get(overview.start_date + timedelta(days=number)) for number in range(count if by_day else 0)]
    facts = (account.network, account.name, account.account_id, _describe_state(account))
    return FigureRow(facts, account.totals, days)


def _describe_state(account: AccountInsights) -> str:
    if account.state != "complete":
        return account.state
    if not account.rows:
        return "no rows"
    if account.coverage is None or account.coverage.missing:
        return "days missing"
    return "" if account.coverage.provisional_from is None else "provisional"


def _describe_accounts(accounts: Sequence[AccountInsights]) -> Iterator[str]:
    """Yield the accounts whose figures are not complete or not final, and why."""
    labels: defaultdict[str, list[str]] = defaultdict(list)
    for account in accounts:
        label = f"{account.network} {to_plain_text(account.name or account.account_id)}"
        if account.error is not None:
            yield f"{label} ({account.account_id}): {to_plain_text(account.error.detail)}"
        elif account.pending is not None:
            yield f"{label} ({account.account_id}): the network has not prepared the report. Run the command again."
        elif account.coverage is not None:
            for fact in describe_coverage(account.coverage):
                labels[fact].append(label)
    for fact, about in labels.items():
        yield fact if len(about) == len(accounts) else f"{', '.join(about)}: {fact}"
