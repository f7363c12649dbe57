"""``adsunify launch``: one brief for many accounts and networks, on a local store or at a server."""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from itertools import islice
from pathlib import Path

import click
from attrs import define, field

from adsunify.answers import ChangeSet, Launch
from adsunify.cli import output
from adsunify.cli.files import load_document
from adsunify.cli.names import find_id, list_account_candidates
from adsunify.cli.options import Target, csv_option, data_option, document_argument, idempotency_option, target_options
from adsunify.cli.progress import Progress, Subject, show_progress
from adsunify.cli.suggestions import CommandGroup
from adsunify.client import Ads
from adsunify.client.resource import WORKING_STATUSES
from adsunify.errors import invalid_input
from adsunify.launches.states import FINAL_CELL_STATES
from adsunify.review.exposure import describe_spend, sum_spends
from adsunify.review.names import Candidate, resolve_launch_accounts
from adsunify.values.exact_json import Json

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
    ctx: click.Context, where: Target, file: Path, skip_invalid: bool, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare one brief for many accounts; nothing is written yet.

    FILE has the body of POST /launches in YAML or JSON ("-" reads stdin). Its accounts may be named as ACCOUNT of other
    commands, such as meta:Shop. The command waits until each account has its plan. Read them, then run `adsunify launch
    execute` within 30 minutes. Exit code 2: cells are invalid, and nothing was prepared.
    """
    body = load_document(file) | ({"skipInvalid": True} if skip_invalid else {})
    with _follow(where, "Preparing the launch") as (client, tracker):
        body = resolve_launch_accounts(body, lambda: list_account_candidates(client.accounts.list()))
        made = client.call("post_launches", body=body, idempotency_key=idempotency_key)["data"]
        prepared = client.launches.wait(made["launchId"], progress=tracker.show_launch)
    _print_launch(ctx, prepared, as_json)


@launch.command("list")
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list at most.")
@csv_option
@data_option
@target_options
def list_(where: Target, limit: int, as_json: bool) -> None:
    """List the latest launches."""
    with where.open_client("Reading the launches") as client:
        rows = [one.to_dict() for one in islice(client.launches.list(limit=min(limit, MAX_PAGE_SIZE)), limit)]
    output.print_result(rows, as_json, [launches_table(rows)])


@launch.command("show")
@launch_argument
@csv_option
@data_option
@target_options
def show(where: Target, launch: str, as_json: bool) -> None:
    """Show a launch: the state of each cell, its money and its issues."""
    with where.open_client("Reading the launch") as client:
        shown = client.launches.get(_find_launch(client, launch)).to_dict()
    output.print_result(shown, as_json, launch_parts(shown))


@launch.command("execute")
@launch_argument
@click.option("--confirmed", is_flag=True, help="Do not ask for confirmation; you have read the plans.")
@data_option
@target_options
@click.pass_context
def execute(ctx: click.Context, where: Target, launch: str, confirmed: bool, as_json: bool) -> None:
    """Write the prepared change set of a launch to the networks, once.

    The command shows each cell with its money, and asks for confirmation. It waits until each cell has ended; if it is
    interrupted, a server goes on, and with a local store the same command continues. Nothing is sent twice. Exit code
    1: a network refused a cell, or its outcome is unknown.
    """
    with where.make_client() as client:
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


def run_change_set(
    client: Ads, change_set: ChangeSet, parts: Iterable[str | output.TextTable], confirmed: bool
) -> ChangeSet:
    """Execute a prepared change set after a confirmation, or follow one that is executed. Returns its last state.

    ``parts``: what a person reads before the confirmation. Raises InvalidInput if nobody can be asked.
    """
    if change_set.status == "prepared" and change_set.digest is not None:
        if not confirmed and not sys.stdin.isatty():
            raise invalid_input("--confirmed", "required", "is required without a terminal; read the plans first.")
        if not confirmed and not confirm_change_set(change_set, parts):
            raise click.Abort
        with show_progress("Executing the change set"):
            client.change_sets.execute(change_set, confirmed=True, digest=change_set.digest)
    with show_progress("Executing the change set") as progress:
        return client.change_sets.wait(change_set, progress=Tracker(progress).show_change_set)


def confirm_change_set(change_set: ChangeSet, parts: Iterable[str | output.TextTable]) -> bool:
    """Show a person on a terminal what would be written, and return whether to write it."""
    screen = output.make_console(stderr=True)
    output.print_parts(screen, parts)
    screen.print()
    question = f"{change_set.action.capitalize()}: write these {len(change_set.operations)} operations to the networks?"
    return click.confirm(question, err=True)


def exit_unless_succeeded(ctx: click.Context, done: ChangeSet) -> None:
    """Exit with 1 and say why, if not every operation of an executed change set succeeded."""
    report_stop(done)
    states = Counter(operation.state for operation in done.operations)
    if set(states) != {"succeeded"}:
        output.print_message(f"Not every operation succeeded: {format_states(states)}.")
        ctx.exit(1)


def _make_preparation(name: str, help_text: str) -> None:
    """Add a command that prepares a change set of a launch."""

    @launch.command(name, help=help_text)
    @launch_argument
    @idempotency_option
    @data_option
    @target_options
    @click.pass_context
    def prepare_change_set(
        ctx: click.Context, where: Target, launch: str, idempotency_key: str | None, as_json: bool
    ) -> None:
        _prepare(ctx, where, f"post_launch_{name}", launch, {}, idempotency_key, as_json)


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
    ctx: click.Context, where: Target, launch: str, skip_invalid: bool, idempotency_key: str | None, as_json: bool
) -> None:
    """Prepare cells anew that have expired or were not written.

    Of a cell that was written in part, only the rest is prepared. With --skip-invalid, the valid cells of a launch are
    prepared whose others are invalid. Nothing is written yet.
    """
    body = {"skipInvalid": True} if skip_invalid else {}
    _prepare(ctx, where, "post_launch_prepare", launch, body, idempotency_key, as_json)


@launch.command("cancel")
@launch_argument
@data_option
@target_options
def cancel(where: Target, launch: str, as_json: bool) -> None:
    """Cancel the open change set of a launch. What was written stays."""
    with where.open_client("Cancelling the change set") as client:
        cancelled = client.launches.cancel(_find_launch(client, launch)).to_dict()
    output.print_result(cancelled, as_json, change_set_parts(cancelled))


def _prepare(
    ctx: click.Context,
    where: Target,
    operation_id: str,
    name: str,
    body: Mapping[str, Json],
    idempotency_key: str | None,
    as_json: bool,
) -> None:
    """Prepare a change set of a launch, wait for it, and print it."""
    with _follow(where, "Preparing the change set") as (client, tracker):
        launch_id = _find_launch(client, name)
        made = client.call(operation_id, path={"launchId": launch_id}, body=body, idempotency_key=idempotency_key)
        prepared = client.change_sets.wait(made["data"]["id"], progress=tracker.show_change_set)
    output.print_result(prepared.to_dict(), as_json, change_set_parts(prepared.to_dict()))
    report_stop(prepared)
    if prepared.status != "prepared":
        ctx.exit(2 if prepared.status == "invalid" else 1)


def _find_launch(client: Ads, text: str) -> str:
    """Return the id of the launch that a text names: its name, or the beginning of its id. Raises InvalidInput."""
    candidates = (Candidate(one.launch_id, (one.name,), one.name) for one in client.launches.list())
    return find_id("LAUNCH", "launch", text, candidates)


@contextmanager
def _follow(where: Target, words: str) -> Iterator[tuple[Ads, Tracker]]:
    """Open a client, and show what happens in the background. The block prints nothing."""
    with show_progress(words) as progress, where.make_client() as client:
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


def report_stop(change_set: ChangeSet) -> None:
    """Say why a change set stopped before its end."""
    if change_set.error is not None:
        output.print_message(change_set.error.message)


# -- progress -----------------------------------------------------------------------------------------------------


@define
class Tracker:
    """Shows how far a change set is: the cells that are planned, and then the operations of each network."""

    progress: Progress
    _subjects: dict[str, Subject] = field(init=False, factory=dict)
    _ended: set[str] = field(init=False, factory=set)

    def show_launch(self, launch: Launch) -> None:
        """Show the latest change set of a launch."""
        self.show_change_set(launch.change_sets[-1])

    def show_change_set(self, change_set: ChangeSet) -> None:
        """Show a change set."""
        if change_set.status == "preparing":
            self.progress.describe(f"Preparing: {change_set.decided:,} of {change_set.members:,} cells planned")
            return
        if not self._subjects:
            for network, steps in Counter(operation.network for operation in change_set.operations).items():
                self._subjects[network] = self.progress.add_subject(network, steps)
        ended = {one.key: one for one in change_set.operations if one.state in FINAL_CELL_STATES}
        for key in ended.keys() - self._ended:
            self._subjects[ended[key].network].add_result(ended[key].state)
        self._ended |= ended.keys()
        self.progress.describe(f"Executing: {len(ended):,} of {len(change_set.operations):,} operations ended")


# -- what is printed ----------------------------------------------------------------------------------------------

LAUNCH_COLUMNS = (
    output.Column("launch", shortens=True),
    output.Column("name", prose=True),
    output.Column("status"),
    output.Column("created", rank=1),
    output.Column("updated", rank=2),
)
TOTAL_COLUMNS = (
    output.Column("network"),
    output.Column("cells", number=True),
    output.Column("can spend now", prose=True),
    output.Column("once it is active", prose=True),
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
OPERATION_COLUMNS = (
    output.Column("cell", prose=True),
    output.Column("network"),
    output.Column("state"),
    output.Column("operation", rank=1, shortens=True),
)


def launches_table(launches: list[dict[str, Json]]) -> output.TextTable:
    """Make a table of launches."""
    rows = [
        (
            one["launchId"],
            one["name"],
            one["status"],
            *(output.format_minute(one[at]) for at in ("createdAt", "updatedAt")),
        )
        for one in launches
    ]
    return output.make_table(LAUNCH_COLUMNS, rows)


def launch_parts(shown: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    """Yield a launch: its latest change set, its money, its cells, and what is wrong with them or was left out."""
    change_set = shown["changeSets"][-1]
    yield f"{shown['launchId']}  {output.to_plain_text(shown['name'])}: {change_set['action']} is {shown['status']}"
    yield f"review   {shown['reviewUrl']}"
    yield from _change_set_lines(change_set)
    if change_set["totals"]:
        yield ""
        yield totals_table(change_set["totals"])
    yield ""
    yield cells_table(shown["cells"])
    yield from _cell_lines(shown["cells"])
    yield from _stop_lines(change_set)
    yield from _next_line(change_set)


def change_set_parts(change_set: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    """Yield a change set: its money, its operations, and what it leaves out."""
    yield f"{change_set['id']}  {change_set['action']}, {change_set['status']}"
    yield f"review   {change_set['reviewUrl']}"
    yield from _change_set_lines(change_set)
    if change_set["totals"]:
        yield ""
        yield totals_table(change_set["totals"])
    if change_set["operations"]:
        rows = [
            (format_key(one["key"]), one["network"], one["state"], one["operationId"])
            for one in change_set["operations"]
        ]
        yield ""
        yield output.make_table(OPERATION_COLUMNS, rows)
    yield from _stop_lines(change_set)
    for issue in change_set["issues"]:
        yield output.to_plain_text(f"issue    {issue['path']}: {issue['message']}")
    yield from _next_line(change_set)


def _change_set_lines(change_set: Mapping[str, Json]) -> Iterator[str]:
    if change_set["expiresAt"] is not None:
        yield f"expires  {change_set['expiresAt']}"
    if change_set["digest"] is not None:
        yield f"digest   {change_set['digest']}"
    for one in change_set["excluded"]:
        yield output.to_plain_text(f"without  {format_key(one['key'])}: {one['reason']}")


def _stop_lines(change_set: Mapping[str, Json]) -> Iterator[str]:
    """Yield the operations that stopped, with the reason or the command that shows it."""
    for one in change_set["operations"]:
        if one["state"] in ("refused", "unknown"):
            hint = f"see `adsunify operations {one['operationId']}`"
            reason = f"{one['error']['message']} ({hint})" if one.get("error") else hint
            yield output.to_plain_text(f"{one['state']:8} {format_key(one['key'])}: {reason}")


def _next_line(change_set: Mapping[str, Json]) -> Iterator[str]:
    if change_set["status"] == "prepared":
        launch_id = change_set["launchId"]
        subject = f"change-set execute {change_set['id']}" if launch_id is None else f"launch execute {launch_id}"
        yield ""
        yield f"To write it: adsunify {subject}"


def totals_table(totals: list[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of the money on each network, and the sum of each currency that several networks have."""
    rows = list(totals)
    for currency, count in Counter(one["currency"] for one in totals).items():
        parts = [one for one in totals if one["currency"] == currency]
        if count > 1:
            sums = {name: sum_spends((one[name] for one in parts), currency) for name in ("exposure", "planned")}
            rows.append({"network": "all", "cells": sum(one["cells"] for one in parts), **sums})
    cells = [
        (one["network"], f"{one['cells']:,}", describe_money(one["exposure"]), describe_money(one["planned"]))
        for one in rows
    ]
    return output.make_table(TOTAL_COLUMNS, cells, totals=len(rows) - len(totals))


def describe_money(spend: Mapping[str, Json]) -> str:
    """Describe what may be spent: ``25.00 USD a day``, ``nothing`` or ``not known``."""
    return "not known" if spend["daily"] == "unknown" else describe_spend(spend, "") or "nothing"


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


def format_key(key: str) -> str:
    """Return the key of a cell; one of a file has spaces between its parts, so that a terminal can wrap it."""
    return key.replace("/", " / ")


def format_states(states: Counter[str]) -> str:
    """Format the numbers of states: ``12 succeeded, 1 unknown``."""
    return ", ".join(f"{count:,} {state}" for state, count in states.items())
