"""``adsunify insights``: daily figures of an account, or of its entities, in the terminal and in files."""

from __future__ import annotations

import asyncio
import sys
from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, date, datetime, timedelta
from functools import partial
from pathlib import Path
from typing import Any, get_args

import click

from adsunify.answers import Account, AccountInsights, InsightsOverview
from adsunify.cli.suggestions import Choice
from adsunify.client.reports import Report
from adsunify.client.resource import REPORT_PAUSE_SECONDS
from adsunify.contract.requests import ReportedLevel
from adsunify.errors import invalid_input
from adsunify.review.names import is_whole_id
from adsunify.service.reporting.overview import READS_PER_NETWORK, AccountTotals, sum_currencies
from adsunify.values.dates import find_last_ended_day
from adsunify.values.exact_json import Json

from . import output
from .completion import ACCOUNT, account_argument
from .exporting import STDOUT, WRITERS, open_export
from .figures import describe_coverage, insights_parts, overview_parts, report_parts
from .names import choose_accounts, find_account_ids
from .options import Target, csv_option, data_option, target_options
from .output import to_plain_text
from .progress import Progress, ProgressLine, show_progress
from .syncing import sync

DEFAULT_DAYS = 7
EARLIEST_END = date.min + timedelta(days=DEFAULT_DAYS)
LEVELS = get_args(ReportedLevel)
WORDS = "Reading daily figures"
PATIENCE_SECONDS = 120.0
"""How long the overview waits for the reports that networks prepare."""


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
    ):
        command = option(command)
    return command


def choose_days(
    start: datetime | None, end: datetime | None, timezones: Callable[[], Iterable[str | None]]
) -> tuple[date, date]:
    """Return the first and the last day of a report. By default it ends on the last day that has ended in all zones."""
    last = find_last_ended_day(datetime.now(UTC), timezones()) if end is None else end.date()
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
@click.argument("accounts", nargs=-1, type=ACCOUNT, metavar="[ACCOUNT]...")
@click.option("--level", type=Choice(LEVELS), help="A row for each day and entity.  [default: one for each day]")
@report_options
@csv_option
@data_option
@target_options
@click.pass_context
def insights(
    ctx: click.Context,
    target: Target,
    accounts: tuple[str, ...],
    start: datetime | None,
    end: datetime | None,
    level: ReportedLevel | None,
    entity_ids: tuple[str, ...],
    as_json: bool,
) -> None:
    """Print an account's daily metrics, or the sums of many accounts.

    Both days are included. Days are of ACCOUNT's time zone, and amounts are in its currency. Some networks prepare a
    report first; the command waits for it. `adsunify networks NETWORK` names the levels that a network reports. A
    terminal shows the entities of a level with their sums and charts; a pipe gets a row for each day.

    Several accounts, or none for all connected ones: a row for each account, with totals for each currency. Exit code
    1: an account has no figures.
    """
    if level is None and entity_ids:
        raise invalid_input("--entity", "not_allowed", "needs the --level of the entities.")
    if level is not None and len(accounts) != 1:
        raise invalid_input("--level", "not_allowed", "needs one ACCOUNT; `adsunify accounts` lists them.")
    screen = output.make_console()
    if len(accounts) != 1:
        with show_progress(WORDS) as progress:
            overview = asyncio.run(_read_overview(target, accounts, start, end, progress))
        output.print_result(overview.to_dict(), as_json, overview_parts(overview, screen))
        if any(account.state != "complete" for account in overview.accounts):
            ctx.exit(1)
        return
    with show_progress(WORDS) as progress, target.make_client() as client:
        account = find_account_ids(client, accounts[:1], "ACCOUNT")[0]
        first, last = choose_days(start, end, lambda: [client.accounts.get(account).timezone])
        words = f"Reading {first} to {last}"
        progress.describe(words)
        if level is None:
            report = client.insights.daily(account, first, last).to_dict()
        else:
            pages = client.insights.report(account, first, last, level=level, entity_ids=entity_ids or None)
            report = _join_pages(pages, lambda count: progress.describe(f"{words}: {count:,} rows"))
    if output.is_csv_wanted():
        parts = insights_parts(report, mark="")
    else:
        parts = report_parts(report, screen) if screen.is_terminal else insights_parts(report)
    output.print_result(report, as_json, parts)


async def _read_overview(
    target: Target, names: Sequence[str], start: datetime | None, end: datetime | None, progress: Progress
) -> InsightsOverview:
    """Read the figures of many accounts, each with its own request, and wait for reports that are not ready.

    Returns the same overview as ``GET /insights``.
    """
    slots: defaultdict[str, asyncio.Semaphore] = defaultdict(partial(asyncio.Semaphore, READS_PER_NETWORK))
    ends = asyncio.get_running_loop().time() + PATIENCE_SECONDS

    async def read(account: Account, subject: ProgressLine) -> AccountInsights:
        while True:
            async with slots[account.network]:
                subject.update("reading")
                overview = await client.insights.overview(first, last, account_ids=[account.account_id])
            (figures,) = overview.accounts
            pause = REPORT_PAUSE_SECONDS
            if figures.pending is not None and figures.pending.retry_after_ms is not None:
                pause = figures.pending.retry_after_ms / 1000
            if figures.state != "pending" or asyncio.get_running_loop().time() + pause > ends:
                subject.add_result(figures.state)
                return figures
            subject.update("the network prepares the report")
            await asyncio.sleep(pause)

    async with target.make_async_client() as client:
        if all(map(is_whole_id, names)) and names:
            accounts = [await client.accounts.get(account_id) for account_id in dict.fromkeys(names)]
        else:
            all_accounts = await client.accounts.list().all()
            connected = [account for account in all_accounts if account.status != "disconnected"]
            accounts = choose_accounts("ACCOUNT", names, all_accounts) if names else connected
        first, last = choose_days(start, end, lambda: [account.timezone for account in accounts])
        progress.describe(f"Reading {first} to {last}")
        labels = [f"{account.network} {account.name or account.native_id}" for account in accounts]
        rows = await asyncio.gather(*map(read, accounts, map(progress.add_subject, labels)))
    return _join_accounts(first, last, rows)


def _join_accounts(first: date, last: date, accounts: Sequence[AccountInsights]) -> InsightsOverview:
    """Return the overview of accounts that were read one by one, with the totals of each currency."""
    answers = [account.to_dict() for account in accounts]
    return InsightsOverview.model_validate(
        {
            "startDate": first.isoformat(),
            "endDate": last.isoformat(),
            "level": "account",
            "accounts": answers,
            "totals": list(sum_currencies(list(map(AccountTotals.from_json, answers)))),
        }
    )


def _join_pages(report: Report, show_count: Callable[[int], None]) -> dict[str, Json]:
    """Read all pages of a report, and return one answer with the rows of all of them."""
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
@account_argument
@click.option("--level", type=Choice(LEVELS), default="account", show_default=True, help="What the rows are about.")
@report_options
@click.option("--format", "format_", type=Choice(list(WRITERS)), required=True, help="The format of the file.")
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, allow_dash=True, path_type=Path),
    required=True,
    help="The file, which is replaced; - is standard output.",
)
@target_options
def export(
    target: Target,
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
    count = 0
    with target.make_client() as client, show_progress(WORDS) as progress:
        account_id = find_account_ids(client, [account], "ACCOUNT")[0]
        first, last = choose_days(start, end, lambda: [client.accounts.get(account_id).timezone])
        words = f"Reading {first} to {last}"
        progress.describe(words)
        report = client.insights.report(account_id, first, last, level=level, entity_ids=entity_ids or None)
        with open_export(path, format_) as writer:
            for page in report.pages:
                with progress.hide_line():
                    writer.write_page(page)
                    sys.stdout.flush()
                count += len(page.rows)
                progress.describe(f"{words}: {count:,} rows")
    place = "standard output" if path == STDOUT else str(path)
    lines = (f"{count:,} rows written to {place}", *describe_coverage(report.coverage))
    output.print_parts(output.make_console(stderr=True), map(to_plain_text, lines))


insights.subcommands = {"export": export, "sync": sync}
