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

from adsunify.answers import AccountInsights, Coverage, CurrencyTotals, Day, EntityDay, Figures, InsightsOverview, Range
from adsunify.client.reports import FigureSums
from adsunify.values.currencies import EXPONENTS
from adsunify.values.exact_json import Json

from .charts import Charts, Number
from .output import NO_FIGURE, Column, TextTable, make_table, to_plain_text

PROVISIONAL_MARK = "*"
ENTITY_COLUMNS = {
    "entityId": Column("id"),
    "entityName": Column("name", rank=1, prose=True, prose_width=44),
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


def insights_parts(insights: Mapping[str, Json], mark: str = PROVISIONAL_MARK) -> Iterator[str | TextTable]:
    """Yield daily figures, their totals, and the days that are missing or provisional.

    ``mark`` follows the date of a provisional day.
    """
    coverage = Coverage.model_validate(insights["coverage"])
    sums = FigureSums()
    sums.add_rows(map(Figures.model_validate, insights["rows"]))
    totals, entity_columns = sums.make_figures().to_dict(), ENTITY_COLUMNS if "level" in insights else {}
    columns: list[list[Json]] = [[*(_mark_day(row["date"], coverage, mark) for row in insights["rows"]), "total"]]
    columns += [[*(row[name] for row in insights["rows"]), None] for name in entity_columns]
    columns += [align_numbers([*(row[name] for row in insights["rows"]), totals[name]]) for name in METRIC_COLUMNS]
    title = f"spend in {to_plain_text(insights['currency'])}, days of {to_plain_text(insights['timezone'])}"
    heads = (Column("date"), *entity_columns.values(), *METRIC_COLUMNS.values())
    yield make_table(heads, zip(*columns, strict=True), title, totals=1)
    yield from describe_coverage(coverage, f"{mark} ")


def _mark_day(day: str, coverage: Coverage, mark: str) -> str:
    first = coverage.provisional_from
    return day if first is None or day < first.isoformat() else f"{day} {mark}".rstrip()


def align_numbers(values: Sequence[Json]) -> list[str]:
    """Format numbers with separators and with the same number of digits after the point. No digit is dropped."""
    numbers = [None if value is None else Decimal(value) for value in values]
    exponents = [number.as_tuple().exponent for number in numbers if number is not None]
    places = max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)
    return ["" if number is None else f"{number:,.{max(places, 0)}f}" for number in numbers]


def describe_gap(gap: Range) -> str:
    """Describe a range of missing days."""
    first, last = gap.start_date, gap.end_date
    return f"{first}: no figures" if first == last else f"{first} to {last}: no figures"


def describe_coverage(coverage: Coverage, provisional_mark: str = "") -> Iterator[str]:
    """Yield a line for each fact of the coverage. The line on provisional days begins with the mark."""
    if not coverage.complete:
        yield "The figures are not complete."
    yield from map(describe_gap, coverage.missing)
    if coverage.provisional_from is not None:
        first = coverage.provisional_from
        yield f"{provisional_mark}provisional from {first}: the network may still change the figures"
    for note in coverage.notes:
        yield to_plain_text(note)


# -- on a terminal ------------------------------------------------------------------------------------------------


@frozen
class FiguresTableRow:
    """A row of a table of figures.

    Attributes:
        facts: the cells that name its subject, such as a date or an entity.
        figures: None if the network gave no figures.
        currency: the currency of the amounts.
        days: the drawn metric of each day, for a sparkline.
    """

    facts: Sequence[Json]
    figures: Figures | None
    currency: str | None
    days: Sequence[Number | None] = ()


def make_figure_table(
    heads: Sequence[Column],
    ranks: Mapping[str, int],
    rows: Sequence[FiguresTableRow],
    totals: Sequence[FiguresTableRow],
    measure: str,
    charts: Charts,
) -> TextTable:
    """Make a table of facts, sparklines, metrics, and shares of the totals with bars.

    ``totals``: a row for each currency. ``ranks``: the ranks of ``trend``, ``share`` and of metrics, where they differ
    from :data:`METRIC_COLUMNS`. ``measure``: the metric that is drawn.
    """
    all_rows = [*rows, *totals]
    table = dict(zip(heads, zip(*(row.facts for row in all_rows), strict=True), strict=True))
    columns = {head: cells for head, cells in table.items() if any(cells)}
    if any(len(row.days) > 1 for row in rows):
        head = Column(f"{measure} by day", ranks.get("trend", 0), chart=True, style=CHART_STYLE)
        columns[head] = tuple(charts.draw_sparkline(row.days) if row.days else "" for row in all_rows)
    currencies = [row.currency for row in all_rows]
    for name, column in METRIC_COLUMNS.items():
        values = [_get_figure(row.figures, name) for row in all_rows]
        if name in ALWAYS_SHOWN or any(value is not None for value in values):
            head = evolve(column, name=label_metric(name, currencies), rank=ranks.get(name, column.rank))
            columns[head] = tuple(align_metric(name, values, currencies))
    wholes = {row.currency: _get_figure(row.figures, measure) for row in totals}
    shares = [_calculate_share(_get_figure(row.figures, measure), wholes.get(row.currency)) for row in rows]
    highest = max((share for share in shares if share is not None), default=Decimal(0))
    if highest > 0:
        head = Column(f"share of {measure}", ranks.get("share", 0), chart=True, style=CHART_STYLE)
        columns[head] = (*(_draw_share(share, highest, charts) for share in shares), *("" for _ in totals))
    return make_table([*columns], zip(*columns.values(), strict=True), totals=len(totals))


def _calculate_share(value: Number | None, whole: Number | None) -> Decimal | None:
    return Decimal(value) / Decimal(whole) if value is not None and whole is not None and whole > 0 else None


def _draw_share(share: Decimal | None, highest: Decimal, charts: Charts) -> str:
    return NO_FIGURE if share is None else f"{share * 100:5.1f} %  {charts.draw_bar(share / highest)}"


def label_metric(name: str, currencies: Iterable[str | None]) -> str:
    """Return the heading of a metric. The heading of an amount names the currency if all amounts have the same."""
    label, known = METRIC_COLUMNS[name].name, {*currencies}
    return f"{label} {to_plain_text(known.pop())}".rstrip() if name in MONEY_METRICS and len(known) == 1 else label


def align_metric(name: str, values: Sequence[Number | None], currencies: Sequence[str | None]) -> list[str]:
    """Format the values of a metric with separators and with aligned points. No digit is dropped.

    Amounts have at least the digits of their currency. If there are several currencies, each amount also has its code.
    """
    is_money, has_several = name in MONEY_METRICS, len({*currencies}) > 1
    texts = [
        NO_FIGURE if value is None else _format_number(value, EXPONENTS.get(currency or "") if is_money else 0)
        for value, currency in zip(values, currencies, strict=True)
    ]
    longest = max((len(text) - _find_point(text) for text in texts), default=0)
    aligned = [text + " " * (longest - len(text) + _find_point(text)) for text in texts]
    if not (is_money and has_several):
        return aligned
    codes = ["" if value is None else currency or "?" for value, currency in zip(values, currencies, strict=True)]
    return [f"{text} {to_plain_text(code):3}" for text, code in zip(aligned, codes, strict=True)]


def _format_number(value: Number, min_places: int | None) -> str:
    exponent = Decimal(value).as_tuple().exponent
    places = -exponent if isinstance(exponent, int) else 0
    return f"{value:,.{max(places, min_places or 0)}f}"


def _find_point(text: str) -> int:
    return len(text.partition(".")[0])


def _get_figure(figures: Figures | None, name: str) -> Any:
    return None if figures is None else getattr(figures, to_snake(name))


def _choose_measure(totals: Figures) -> str:
    """Return the metric that charts show: the spend, or the impressions if the spend is not known."""
    return "spend" if totals.spend is not None or totals.impressions is None else "impressions"


def _add_up(rows: Sequence[Figures]) -> Figures:
    """Return the sums of rows. A single row is returned unchanged, so it keeps its reach."""
    if len(rows) == 1:
        return rows[0]
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
    """Yield the figures of an account by day, or of a level by entity, with charts, totals and coverage."""
    charts, currency = Charts.choose(screen), insights["currency"]
    coverage = Coverage.model_validate(insights["coverage"])
    by_day = _group_rows(map(Day.model_validate, insights["rows"]), coverage)
    totals = _add_up([row for day_rows in by_day.values() for row in day_rows])
    measure = _choose_measure(totals)
    yield f"{min(by_day)} to {max(by_day)}, days of {to_plain_text(insights['timezone'])}"
    if not insights["rows"]:
        yield "There are no rows."
    elif insights.get("level", "account") == "account":
        rows = [
            FiguresTableRow(
                (str(day), _describe_day(day, day_rows, coverage)), day_rows[0] if day_rows else None, currency
            )
            for day, day_rows in by_day.items()
        ]
        total = FiguresTableRow(("total", ""), totals, currency)
        yield make_figure_table(DAY_COLUMNS, DAY_RANKS, rows, [total], measure, charts)
        yield from _describe_trends(by_day, rows, currency, charts)
    else:
        rows = _list_entities(insights, [*by_day], measure)
        total = FiguresTableRow(("total", "", ""), totals, currency)
        yield make_figure_table([*ENTITY_COLUMNS.values()], ENTITY_RANKS, rows, [total], measure, charts)
        yield from _describe_trends(by_day, rows, currency, charts)
    yield ""
    yield from describe_coverage(coverage)


def _describe_trends(
    by_day: Mapping[date, Sequence[Day]], rows: Sequence[FiguresTableRow], currency: str | None, charts: Charts
) -> Iterator[str | TextTable]:
    """Yield a table with a sparkline of the days for each metric, and the legend of all sparklines."""
    if len(by_day) == 1:
        return
    days = [_add_up(day_rows) for day_rows in by_day.values()]
    trends = {name: [_get_figure(figures, name) for figures in days] for name in METRIC_COLUMNS}
    cells = []
    for name, values in trends.items():
        numbers = [value for value in values if value is not None]
        extremes = [min(numbers), max(numbers)] if numbers else [None, None]
        chart = charts.draw_sparkline(values) if numbers else NO_FIGURE
        cells.append((label_metric(name, [currency]), chart, *align_metric(name, extremes, [currency] * 2)))
    yield ""
    yield make_table(TREND_COLUMNS, cells)
    yield from _describe_gaps([*trends.values(), *(row.days for row in rows)], charts)


def _describe_gaps(series: Iterable[Sequence[Number | None]], charts: Charts) -> Iterator[str]:
    """Yield the legend of the character of a day without a figure, if a sparkline has this character."""
    if any(0 < values.count(None) < len(values) for values in series):
        yield f"{charts.symbols.no_figure} a day without a figure"


def _group_rows(rows: Iterable[Day], coverage: Coverage) -> dict[date, list[Day]]:
    """Return the rows of each day of the report, in order. The list of a day without rows is empty."""
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


def _list_entities(insights: Mapping[str, Json], days: Sequence[date], measure: str) -> list[FiguresTableRow]:
    """Return a row for each entity with its sums, sorted by the measure, highest first."""
    by_entity: defaultdict[str, list[EntityDay]] = defaultdict(list)
    for row in map(EntityDay.model_validate, insights["rows"]):
        by_entity[row.entity_id].append(row)
    figure_rows = []
    for entity_id, rows in by_entity.items():
        latest = max(rows, key=lambda row: row.date)
        by_day = {row.date: _get_figure(row, measure) for row in rows}
        facts = (entity_id, latest.entity_name, latest.parent_id)
        figure_rows.append(
            FiguresTableRow(facts, _add_up(rows), insights["currency"], [by_day.get(day) for day in days])
        )
    return _sort_rows(figure_rows, measure)


def _sort_rows(rows: Iterable[FiguresTableRow], measure: str) -> list[FiguresTableRow]:
    """Sort rows by their measure, highest first. Rows without the measure are last."""

    def get_key(row: FiguresTableRow) -> tuple[bool, Number]:
        value = _get_figure(row.figures, measure)
        return value is not None, 0 if value is None else value

    return sorted(rows, key=get_key, reverse=True)


# -- many accounts ------------------------------------------------------------------------------------------------


ACCOUNT_COLUMNS = (
    Column("network"),
    Column("name", prose=True, prose_width=24),
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
MAX_NAMED_ACCOUNTS = 3
"""If more accounts have the same missing days, their number is shown instead of their names."""


def overview_parts(overview: InsightsOverview, screen: Console) -> Iterator[str | TextTable]:
    """Yield a table of the accounts with the totals of each currency, and the gaps and provisional days."""
    charts = Charts.choose(screen)
    yield f"{overview.start_date} to {overview.end_date}"
    if not overview.accounts:
        yield "No ad account is connected. `adsunify connect NETWORK` connects those of a network."
        return
    measure = "spend" if any(total.spend is not None for total in overview.totals) else "impressions"
    rows = _sort_rows([_make_account_row(account, overview, measure) for account in overview.accounts], measure)
    rows.sort(key=lambda row: (row.currency is None, row.currency))
    totals = [_make_total_row(total) for total in overview.totals]
    yield make_figure_table(ACCOUNT_COLUMNS, ACCOUNT_RANKS, rows, totals, measure, charts)
    if screen.is_terminal:
        yield from _describe_gaps([row.days for row in rows], charts)
    yield ""
    yield from _describe_accounts(overview.accounts)


def _make_account_row(account: AccountInsights, overview: InsightsOverview, measure: str) -> FiguresTableRow:
    count = (overview.end_date - overview.start_date).days + 1
    by_day = {row.date: _get_figure(row, measure) for row in account.rows}
    days = [by_day.get(overview.start_date + timedelta(days=number)) for number in range(count if by_day else 0)]
    facts = (account.network, account.name, account.account_id, _describe_state(account))
    return FiguresTableRow(facts, account.totals, account.currency, days)


def _make_total_row(total: CurrencyTotals) -> FiguresTableRow:
    facts = (f"total {to_plain_text(total.currency)}", count_accounts(total.accounts), "", "")
    return FiguresTableRow(facts, total, total.currency)


def count_accounts(number: int) -> str:
    """Return a number of accounts in words."""
    return "1 account" if number == 1 else f"{number} accounts"


def _describe_state(account: AccountInsights) -> str:
    if account.state != "complete":
        return account.state
    if not account.rows:
        return "no rows"
    if account.coverage is not None and (missing := _count_missing_days(account.coverage)):
        return "1 day missing" if missing == 1 else f"{missing} days missing"
    return "provisional" if account.coverage is not None and account.coverage.provisional_from is not None else ""


def _count_missing_days(coverage: Coverage) -> int:
    return sum((gap.end_date - gap.start_date).days + 1 for gap in coverage.missing)


def _describe_accounts(accounts: Sequence[AccountInsights]) -> Iterator[str]:
    """Yield why accounts have no figures, which days are missing, and how many accounts have provisional days."""
    gaps: defaultdict[str, list[str]] = defaultdict(list)
    provisional = []
    for account in accounts:
        label = f"{account.network} {to_plain_text(account.name or account.account_id)}"
        if account.error is not None:
            yield f"{label} ({account.account_id}): {to_plain_text(account.error.detail)}"
        elif account.pending is not None:
            yield f"{label} ({account.account_id}): the network has not prepared the report. Run the command again."
        elif account.coverage is not None:
            for gap in account.coverage.missing:
                gaps[describe_gap(gap)].append(label)
            if account.coverage.provisional_from is not None:
                provisional.append(account.coverage.provisional_from)
    for fact, labels in sorted(gaps.items()):
        yield f"{fact} of {', '.join(labels) if len(labels) <= MAX_NAMED_ACCOUNTS else count_accounts(len(labels))}"
    if provisional:
        yield (
            f"provisional from {min(provisional)} or later, {count_accounts(len(provisional))}: the networks may still "
            "change the figures. `adsunify insights ACCOUNT` shows each day."
        )
