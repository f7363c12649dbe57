"""``adsunify insights``: daily figures of an account, or of its entities, in the terminal and in files."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from pathlib import Path
from typing import Any, get_args

import click

from adsunify.answers import Coverage, Figures
from adsunify.cli import output
from adsunify.cli.exporting import STDOUT, WRITERS, open_export
from adsunify.cli.options import Target, data_option, target_options
from adsunify.cli.output import Column, TextTable, make_table, to_plain_text
from adsunify.cli.syncing import sync
from adsunify.client.reports import FigureSums, Report
from adsunify.contract.requests import ReportedLevel
from adsunify.errors import invalid_input
from adsunify.values.exact_json import Json

DEFAULT_DAYS = 7
EARLIEST_END = date.min + timedelta(days=DEFAULT_DAYS)
LEVELS = get_args(ReportedLevel)
PROVISIONAL_MARK = "*"
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


# -- what people see ----------------------------------------------------------------------------------------------


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


def align_numbers(values: Sequence[Json]) -> list[str]:
    """Return numbers as text with as many digits after the point as the longest one, and with separators."""
    numbers = [None if value is None else Decimal(value) for value in values]
    exponents = [number.as_tuple().exponent for number in numbers if number is not None]
    places = max((-exponent for exponent in exponents if isinstance(exponent, int)), default=0)
    return ["" if number is None else f"{number:,.{max(places, 0)}f}" for number in numbers]


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


# -- options ------------------------------------------------------------------------------------------------------


def report_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the days and the entities of a report to a command."""
    day = click.DateTime(["%Y-%m-%d"])
    for option in (
        click.option("--entity", "entity_ids", multiple=True, metavar="ID", help="Only this entity; can be repeated."),
        click.option("--end", "--to", type=day, help="The last day.  [default: yesterday]"),
        click.option(
            "--start", "--from", type=day, help=f"The first day.  [default: {DEFAULT_DAYS} days before the end]"
        ),
        click.argument("account"),
    ):
        command = option(command)
    return command


def choose_days(start: datetime | None, end: datetime | None) -> tuple[date, date]:
    """Return the first and the last day of a report."""
    last = datetime.now(UTC).date() - timedelta(days=1) if end is None else end.date()
    first = max(last, EARLIEST_END) - timedelta(days=DEFAULT_DAYS - 1) if start is None else start.date()
    return first, last


class CommandWithSubcommands(click.Command):
    """A command whose first argument may be the name of another command."""

    subcommands: Mapping[str, click.Command] = {}

    def make_context(
        self, info_name: str | None, args: list[str], parent: click.Context | None = None, **extra: Any
    ) -> click.Context:
        """Parse the arguments of this command, or of the command that they name."""
        if args and args[0] in self.subcommands:
            return self.subcommands[args[0]].make_context(f"{info_name} {args[0]}", args[1:], parent, **extra)
        return super().make_context(info_name, args, parent, **extra)


# -- commands -----------------------------------------------------------------------------------------------------


@click.command(
    cls=CommandWithSubcommands,
    epilog="`adsunify insights export` writes a file, `adsunify insights sync` keeps figures. See --help of each.",
)
@click.option("--level", type=click.Choice(LEVELS), help="A row for each day and entity.  [default: one for each day]")
@report_options
@data_option
@target_options
def insights(
    where: Target,
    account: str,
    start: datetime | None,
    end: datetime | None,
    level: ReportedLevel | None,
    entity_ids: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print an account's daily metrics.

    Both days are included. Days are of ACCOUNT's time zone, and amounts are in its currency. Some networks prepare a
    report first; the command waits for it. `adsunify networks NETWORK` names the levels that a network reports.
    """
    first, last = choose_days(start, end)
    words = f"Reading {first} to {last}"
    if level is None and entity_ids:
        raise invalid_input("--entity", "not_allowed", "needs the --level of the entities.")
    with output.delayed_progress(words) as show_progress, where.make_client() as client:
        if level is None:
            report = client.insights.daily(account, first, last).to_dict()
        else:
            pages = client.insights.report(account, first, last, level=level, entity_ids=entity_ids or None)
            report = _join_pages(pages, lambda count: show_progress(f"{words}: {count:,} rows"))
    output.print_result(report, as_json, insights_parts(report))


def _join_pages(report: Report, show_count: Callable[[int], None]) -> dict[str, Json]:
    """Read a report and return the answer that has the rows of all pages."""
    answer: dict[str, Json] = {}
    rows: list[Json] = []
    native_rows: list[Json] = []
    for page in report.pages:
        answer = page.to_dict()
        rows += answer["rows"]
        native_rows += answer["nativeRows"]
        show_count(len(rows))
    return {**answer, "rows": rows, "nativeRows": native_rows}


@click.command()
@click.option(
    "--level", type=click.Choice(LEVELS), default="account", show_default=True, help="What the rows are about."
)
@report_options
@click.option("--format", "format_", type=click.Choice(list(WRITERS)), required=True, help="The format of the file.")
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The file, which is replaced; - is standard output.",
)
@target_options
def export(
    where: Target,
    account: str,
    start: datetime | None,
    end: datetime | None,
    level: ReportedLevel,
    entity_ids: tuple[str, ...],
    format_: str,
    path: Path,
) -> None:
    """Write daily metrics to a file of CSV, JSON lines or Parquet.

    There is a row for each day and entity of the level, with the account and the currency. Rows are written page by
    page. Amounts are exact: text in CSV and JSON lines, decimals in Parquet, which needs the extra `arrow`. If the
    export fails, FILE stays as it was.
    """
    first, last = choose_days(start, end)
    words, count = f"Reading {first} to {last}", 0
    with where.make_client() as client, output.delayed_progress(words) as show_progress:
        report = client.insights.report(account, first, last, level=level, entity_ids=entity_ids or None)
        with open_export(path, format_) as writer:
            for page in report.pages:
                writer.write_page(page)
                count += len(page.rows)
                show_progress(f"{words}: {count:,} rows")
    place = "standard output" if path == STDOUT else str(path)
    for line in (f"{count:,} rows written to {place}", *describe_coverage(report.coverage)):
        click.echo(to_plain_text(line), err=True)


insights.subcommands = {"export": export, "sync": sync}
