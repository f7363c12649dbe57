"""``adsunify change-set``: shows, executes or cancels a change set by its id, such as the one of a file.

``adsunify launch`` and ``adsunify apply`` run and print their change sets with the functions of this module.
"""

from __future__ import annotations

import sys
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping

import click
from attrs import define, field

from adsunify.answers import ChangeSet, Launch
from adsunify.client import Ads
from adsunify.errors import invalid_input
from adsunify.launches.states import FINAL_CELL_STATES
from adsunify.review.exposure import describe_spend, sum_spends
from adsunify.values.exact_json import Json

from . import output
from .options import Target, data_option, target_options
from .progress import Progress, ProgressLine, show_progress
from .suggestions import CommandGroup

change_set_argument = click.argument("change_set")
confirmed_option = click.option(
    "--confirmed", is_flag=True, help="Do not ask for confirmation; you have read the plans."
)


@click.group("change-set", cls=CommandGroup)
def change_set() -> None:
    """Show, execute or cancel what `adsunify apply` has prepared."""


@change_set.command("show")
@change_set_argument
@data_option
@target_options
def show(target: Target, change_set: str, as_json: bool) -> None:
    """Show a change set: its money, and the state of each operation.

    CHANGE_SET is its id, as `adsunify apply` prints it.
    """
    with target.open_client("Reading the change set") as client:
        read_change_set = client.change_sets.get(change_set)
    print_change_set(read_change_set, as_json)


@change_set.command("execute")
@change_set_argument
@confirmed_option
@data_option
@target_options
@click.pass_context
def execute(ctx: click.Context, target: Target, change_set: str, confirmed: bool, as_json: bool) -> None:
    """Write a prepared change set to the networks, once.

    CHANGE_SET is its id, as `adsunify apply` prints it. The command shows its operations with their money, and asks for
    confirmation. It waits until each has ended; if it is interrupted, a server goes on, and with a local store the same
    command continues. Nothing is sent twice. Exit code 1: a network refused an operation, or an outcome is unknown.
    """
    with target.make_client() as client:
        with show_progress("Reading the change set"):
            current = client.change_sets.get(change_set)
        done = run_change_set(client, current, change_set_parts(current.to_dict()), confirmed)
    print_change_set(done, as_json)
    exit_unless_succeeded(ctx, done)


@change_set.command("cancel")
@change_set_argument
@data_option
@target_options
def cancel(target: Target, change_set: str, as_json: bool) -> None:
    """Cancel an open change set. What was written stays.

    CHANGE_SET is its id, as `adsunify apply` prints it.
    """
    with target.open_client("Cancelling the change set") as client:
        cancelled = client.change_sets.cancel(change_set)
    print_change_set(cancelled, as_json)


def run_change_set(
    client: Ads, change_set: ChangeSet, parts: Iterable[str | output.TextTable], confirmed: bool
) -> ChangeSet:
    """Execute a prepared change set after a confirmation, or wait for a change set that is already executed.

    Returns the change set at its end. ``parts``: what a person reads before the confirmation. Raises InvalidInput if
    there is no terminal for the confirmation.
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


def report_stop(change_set: ChangeSet) -> None:
    """Say why a change set stopped before its end."""
    if change_set.error is not None:
        output.print_message(change_set.error.message)


# -- progress -----------------------------------------------------------------------------------------------------


@define
class Tracker:
    """Shows the progress of a change set: first the planned cells, then the operations of each network."""

    progress: Progress
    _subjects: dict[str, ProgressLine] = field(init=False, factory=dict)
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
        ended = {
            operation.key: operation for operation in change_set.operations if operation.state in FINAL_CELL_STATES
        }
        for key in ended.keys() - self._ended:
            self._subjects[ended[key].network].add_result(ended[key].state)
        self._ended |= ended.keys()
        self.progress.describe(f"Executing: {len(ended):,} of {len(change_set.operations):,} operations ended")


# -- what is printed ----------------------------------------------------------------------------------------------

TOTAL_COLUMNS = (
    output.Column("network"),
    output.Column("cells", number=True),
    output.Column("can spend now", prose=True),
    output.Column("once it is active", prose=True),
)
OPERATION_COLUMNS = (
    output.Column("cell", prose=True),
    output.Column("network"),
    output.Column("state"),
    output.Column("operation", rank=1, shortens=True),
)


def print_change_set(change_set: ChangeSet, as_json: bool) -> None:
    """Print a change set, for a person or as data."""
    data = change_set.to_dict()
    output.print_result(data, as_json, change_set_parts(data))


def change_set_parts(change_set: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    """Yield a change set: its money, its operations, and what it leaves out."""
    yield f"{change_set['id']}  {change_set['action']}, {change_set['status']}"
    yield f"review   {change_set['reviewUrl']}"
    yield from change_set_lines(change_set)
    if change_set["totals"]:
        yield ""
        yield totals_table(change_set["totals"])
    if change_set["operations"]:
        rows = [
            (format_key(operation["key"]), operation["network"], operation["state"], operation["operationId"])
            for operation in change_set["operations"]
        ]
        yield ""
        yield output.make_table(OPERATION_COLUMNS, rows)
    yield from stop_lines(change_set)
    for issue in change_set["issues"]:
        yield output.to_plain_text(f"issue    {issue['path']}: {issue['message']}")
    yield from next_line(change_set)


def change_set_lines(change_set: Mapping[str, Json]) -> Iterator[str]:
    """Yield lines with the expiry of a change set, its digest, and what it leaves out."""
    if change_set["expiresAt"] is not None:
        yield f"expires  {change_set['expiresAt']}"
    if change_set["digest"] is not None:
        yield f"digest   {change_set['digest']}"
    for exclusion in change_set["excluded"]:
        yield output.to_plain_text(f"without  {format_key(exclusion['key'])}: {exclusion['reason']}")


def stop_lines(change_set: Mapping[str, Json]) -> Iterator[str]:
    """Yield the operations that stopped, with the reason or the command that shows it."""
    for operation in change_set["operations"]:
        if operation["state"] in ("refused", "unknown"):
            hint = f"see `adsunify operations {operation['operationId']}`"
            reason = f"{operation['error']['message']} ({hint})" if operation.get("error") else hint
            yield output.to_plain_text(f"{operation['state']:8} {format_key(operation['key'])}: {reason}")


def next_line(change_set: Mapping[str, Json]) -> Iterator[str]:
    """Yield the command that writes a prepared change set."""
    if change_set["status"] == "prepared":
        launch_id = change_set["launchId"]
        subject = f"change-set execute {change_set['id']}" if launch_id is None else f"launch execute {launch_id}"
        yield ""
        yield f"To write it: adsunify {subject}"


def totals_table(totals: list[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of the money on each network, and the sum of each currency that several networks have."""
    rows = list(totals)
    for currency, count in Counter(row["currency"] for row in totals).items():
        parts = [row for row in totals if row["currency"] == currency]
        if count > 1:
            sums = {name: sum_spends((row[name] for row in parts), currency) for name in ("exposure", "planned")}
            rows.append({"network": "all", "cells": sum(row["cells"] for row in parts), **sums})
    cells = [
        (row["network"], f"{row['cells']:,}", describe_money(row["exposure"]), describe_money(row["planned"]))
        for row in rows
    ]
    return output.make_table(TOTAL_COLUMNS, cells, totals=len(rows) - len(totals))


def describe_money(spend: Mapping[str, Json]) -> str:
    """Describe what may be spent: ``25.00 USD a day``, ``nothing`` or ``not known``."""
    return "not known" if spend["daily"] == "unknown" else describe_spend(spend, "") or "nothing"


def format_key(key: str) -> str:
    """Return the key of a cell with spaces around each slash, so that a terminal can wrap it."""
    return key.replace("/", " / ")


def format_states(states: Counter[str]) -> str:
    """Format the numbers of states: ``12 succeeded, 1 unknown``."""
    return ", ".join(f"{count:,} {state}" for state, count in states.items())
