"""``adsunify launch``: one brief for many accounts and networks, on a local store or at a server."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import click

from adsunify.answers import Launch
from adsunify.client import Ads
from adsunify.client.resource import WORKING_STATUSES
from adsunify.errors import invalid_input
from adsunify.review.names import NameCandidate, resolve_launch_accounts
from adsunify.values.exact_json import Json

from . import output
from .change_sets import (
    Tracker,
    change_set_lines,
    confirmed_option,
    exit_unless_succeeded,
    next_line,
    print_change_set,
    report_stop,
    run_change_set,
    stop_lines,
    totals_table,
)
from .files import load_document
from .names import find_id, list_account_candidates
from .options import Target, csv_option, data_option, document_argument, idempotency_option, target_options
from .progress import show_progress
from .suggestions import CommandGroup

MAX_PAGE_SIZE = 100
"""The most launches that one page has."""
launch_argument = click.argument("launch")
skip_option = click.option("--skip-invalid", is_flag=True, help="Leave out the cells that are invalid.")


@click.group("launch", cls=CommandGroup)
def launch() -> None:
    """Run one brief on many accounts and networks."""


@launch.command("create")
@document_argument
@skip_option
@idempotency_option
@data_option
@target_options
@click.pass_context
def create(
    ctx: click.Context, target: Target, file: Path, skip_invalid: bool, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare one brief for many accounts; nothing is written yet.

    FILE has the body of POST /launches in YAML or JSON ("-" reads stdin). Its accounts may be named as ACCOUNT of other
    commands, such as meta:Shop. The command waits until each account has its plan. Read them, then run `adsunify launch
    execute` within 30 minutes. Exit code 2: cells are invalid, and nothing was prepared.
    """
    body = load_document(file) | ({"skipInvalid": True} if skip_invalid else {})
    with _follow(target, "Preparing the launch") as (client, tracker):
        body = resolve_launch_accounts(body, lambda: list_account_candidates(client.accounts.list()))
        new_launch = client.call("post_launches", body=body, idempotency_key=idempotency_key)["data"]
        prepared = client.launches.wait(new_launch["launchId"], progress=tracker.show_launch)
    _print_launch(ctx, prepared, as_json)


@launch.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list at most.")
@csv_option
@data_option
@target_options
def list_(target: Target, limit: int, as_json: bool) -> None:
    """List the latest launches."""
    with target.open_client("Reading the launches") as client:
        rows = [record.to_dict() for record in islice(client.launches.list(limit=min(limit, MAX_PAGE_SIZE)), limit)]
    output.print_result(rows, as_json, [launches_table(rows)])


@launch.command("show")
@launch_argument
@csv_option
@data_option
@target_options
def show(target: Target, launch: str, as_json: bool) -> None:
    """Show a launch: the state of each cell, its money and its issues."""
    with target.open_client("Reading the launch") as client:
        data = client.launches.get(_find_launch(client, launch)).to_dict()
    output.print_result(data, as_json, launch_parts(data))


@launch.command("execute")
@launch_argument
@confirmed_option
@data_option
@target_options
@click.pass_context
def execute(ctx: click.Context, target: Target, launch: str, confirmed: bool, as_json: bool) -> None:
    """Write the prepared change set of a launch to the networks, once.

    The command shows each cell with its money, and asks for confirmation. It waits until each cell has ended; if it is
    interrupted, a server goes on, and with a local store the same command continues. Nothing is sent twice. Exit code
    1: a network refused a cell, or its outcome is unknown.
    """
    with target.make_client() as client:
        with show_progress("Reading the launch"):
            current = client.launches.get(_find_launch(client, launch))
        change_set = current.change_sets[-1]
        if change_set.status not in ("prepared", *WORKING_STATUSES):
            message = f"has nothing to execute: its latest change set ({change_set.action}) is {change_set.status}."
            raise invalid_input("LAUNCH", "not_prepared", message)
        done = run_change_set(client, change_set, launch_parts(current.to_dict()), confirmed)
        with show_progress("Reading the launch"):
            after = client.launches.get(current)
    output.print_result(after.to_dict(), as_json, launch_parts(after.to_dict()))
    exit_unless_succeeded(ctx, done)


def _make_preparation(name: str, help_text: str) -> None:
    """Add a command that prepares a change set of a launch."""

    @launch.command(name, help=help_text)
    @launch_argument
    @idempotency_option
    @data_option
    @target_options
    @click.pass_context
    def prepare_change_set(
        ctx: click.Context, target: Target, launch: str, idempotency_key: str | None, as_json: bool
    ) -> None:
        _prepare(ctx, target, f"post_launch_{name}", launch, {}, idempotency_key, as_json)


for _name, _help in (
    ("activate", "Prepare the activation of what a launch created; nothing is written yet."),
    ("pause", "Prepare the pause of what a launch created; nothing is written yet."),
    ("undo", "Prepare to take back what a launch wrote; nothing is written yet."),
):
    _make_preparation(_name, f"{_help}\n\nReview what this prints, then run `adsunify launch execute`.")


@launch.command("prepare")
@launch_argument
@skip_option
@idempotency_option
@data_option
@target_options
@click.pass_context
def prepare(
    ctx: click.Context, target: Target, launch: str, skip_invalid: bool, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare the cells again that have expired or were not written.

    If a cell was written in part, only its rest is prepared. With --skip-invalid, invalid cells are left out, and the
    valid ones are prepared. Nothing is written yet.
    """
    body = {"skipInvalid": True} if skip_invalid else {}
    _prepare(ctx, target, "post_launch_prepare", launch, body, idempotency_key, as_json)


@launch.command("cancel")
@launch_argument
@data_option
@target_options
def cancel(target: Target, launch: str, as_json: bool) -> None:
    """Cancel the open change set of a launch. What was written stays."""
    with target.open_client("Cancelling the change set") as client:
        cancelled = client.launches.cancel(_find_launch(client, launch))
    print_change_set(cancelled, as_json)


def _prepare(
    ctx: click.Context,
    target: Target,
    operation_id: str,
    name: str,
    body: Mapping[str, Json],
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Prepare a change set of a launch, wait for it, and print it."""
    with _follow(target, "Preparing the change set") as (client, tracker):
        launch_id = _find_launch(client, name)
        answer = client.call(operation_id, path={"launchId": launch_id}, body=body, idempotency_key=idempotency_key)
        prepared = client.change_sets.wait(answer["data"]["id"], progress=tracker.show_change_set)
    print_change_set(prepared, as_json)
    report_stop(prepared)
    if prepared.status != "prepared":
        ctx.exit(2 if prepared.status == "invalid" else 1)


def _find_launch(client: Ads, text: str) -> str:
    """Return the id of the launch that a text names: its name, or the beginning of its id. Raises InvalidInput."""
    candidates = (NameCandidate(launch.launch_id, (launch.name,), launch.name) for launch in client.launches.list())
    return find_id("LAUNCH", "launch", text, candidates)


@contextmanager
def _follow(target: Target, words: str) -> Iterator[tuple[Ads, Tracker]]:
    """Open a client, and show what happens in the background. The block prints nothing."""
    with show_progress(words) as progress, target.make_client() as client:
        yield client, Tracker(progress)


def _print_launch(ctx: click.Context, prepared: Launch, as_json: bool) -> None:
    output.print_result(prepared.to_dict(), as_json, launch_parts(prepared.to_dict()))
    change_set = prepared.change_sets[-1]
    report_stop(change_set)
    if change_set.status == "invalid":
        output.print_message(
            "Nothing was prepared. Correct the file, or leave the invalid cells out with --skip-invalid."
        )
    if change_set.status != "prepared":
        ctx.exit(2 if change_set.status == "invalid" else 1)


# -- what is printed ----------------------------------------------------------------------------------------------

LAUNCH_COLUMNS = (
    output.Column("launch", shortens=True),
    output.Column("name", prose=True),
    output.Column("status"),
    output.Column("created", rank=1),
    output.Column("updated", rank=2),
)
CELL_COLUMNS = (
    output.Column("cell"),
    output.Column("network"),
    output.Column("state"),
    output.Column("a day", rank=1, number=True),
    output.Column("in all", rank=1, number=True),
    output.Column("currency", rank=2),
    output.Column("risk", rank=3),
    output.Column("operation", rank=4, shortens=True),
)


def launches_table(launches: list[dict[str, Json]]) -> output.TextTable:
    """Make a table of launches."""
    rows = [
        (
            launch["launchId"],
            launch["name"],
            launch["status"],
            *(output.format_minute(launch[at]) for at in ("createdAt", "updatedAt")),
        )
        for launch in launches
    ]
    return output.make_table(LAUNCH_COLUMNS, rows)


def launch_parts(launch: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    """Yield a launch: its latest change set, its money, its cells, and what is wrong with them or was left out."""
    change_set = launch["changeSets"][-1]
    yield f"{launch['launchId']}  {output.to_plain_text(launch['name'])}: {change_set['action']} is {launch['status']}"
    yield f"review   {launch['reviewUrl']}"
    yield from change_set_lines(change_set)
    if change_set["totals"]:
        yield ""
        yield totals_table(change_set["totals"])
    yield ""
    yield cells_table(launch["cells"])
    yield from _cell_lines(launch["cells"])
    yield from stop_lines(change_set)
    yield from next_line(change_set)


def cells_table(cells: list[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of the cells with the budgets that they set up."""
    rows = [
        (
            cell["key"],
            cell["network"],
            cell["state"],
            *(format_figure(cell.get("planned", {}).get(name)) for name in ("daily", "lifetime")),
            cell.get("planned", {}).get("currency"),
            cell.get("risk"),
            cell.get("operationId"),
        )
        for cell in cells
    ]
    return output.make_table(CELL_COLUMNS, rows)


def format_figure(amount: str | None) -> str:
    """Format an amount with separators of thousands; words such as ``unbounded`` stay."""
    if amount is None or not amount[0].isdigit():
        return amount or ""
    whole, point, fraction = amount.partition(".")
    return f"{int(whole):,}{point}{fraction}"


def _cell_lines(cells: list[Mapping[str, Json]]) -> Iterator[str]:
    """Yield the issues and warnings of cells, and what each network leaves out of the shared brief."""
    left_out: dict[tuple[str, str], int] = {}
    for cell in cells:
        for issue in cell["issues"]:
            yield output.to_plain_text(f"issue    {cell['key']}: {issue['path']}: {issue['message']}")
        if cell["leftOut"]:
            place = cell["network"], ", ".join(cell["leftOut"])
            left_out[place] = left_out.get(place, 0) + 1
    for (network, paths), count in left_out.items():
        yield f"left out on {network} ({count:,}): {paths}"
    warnings = Counter((cell["network"], warning) for cell in cells for warning in cell["warnings"])
    for (network, warning), count in warnings.items():
        yield output.to_plain_text(f"warning  {network} ({count:,}): {warning}")
