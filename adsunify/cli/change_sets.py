"""``adsunify change-set``: shows, executes or cancels a change set by its id, such as the one of a file."""

from __future__ import annotations

import click

from . import output
from .launches import change_set_parts, exit_unless_succeeded, run_change_set
from .options import Target, data_option, target_options
from .progress import show_progress
from .suggestions import CommandGroup

change_set_argument = click.argument("change_set")


@click.group("change-set", cls=CommandGroup)
def change_set() -> None:
    """Show, execute or cancel what `adsunify apply` has prepared."""


@change_set.command("show")
@change_set_argument
@data_option
@target_options
def show(where: Target, change_set: str, as_json: bool) -> None:
    """Show a change set: its money, and the state of each operation.

    CHANGE_SET is its id, as `adsunify apply` prints it.
    """
    with where.open_client("Reading the change set") as client:
        shown = client.change_sets.get(change_set).to_dict()
    output.print_result(shown, as_json, change_set_parts(shown))


@change_set.command("execute")
@change_set_argument
@click.option("--confirmed", is_flag=True, help="Do not ask for confirmation; you have read the plans.")
@data_option
@target_options
@click.pass_context
def execute(ctx: click.Context, where: Target, change_set: str, confirmed: bool, as_json: bool) -> None:
    """Write a prepared change set to the networks, once.

    CHANGE_SET is its id, as `adsunify apply` prints it. The command shows its operations with their money, and asks for
    confirmation. It waits until each has ended; if it is interrupted, a server goes on, and with a local store the same
    command continues. Nothing is sent twice. Exit code 1: a network refused an operation, or an outcome is unknown.
    """
    with where.make_client() as client:
        with show_progress("Reading the change set"):
            current = client.change_sets.get(change_set)
        done = run_change_set(client, current, change_set_parts(current.to_dict()), confirmed)
    output.print_result(done.to_dict(), as_json, change_set_parts(done.to_dict()))
    exit_unless_succeeded(ctx, done)


@change_set.command("cancel")
@change_set_argument
@data_option
@target_options
def cancel(where: Target, change_set: str, as_json: bool) -> None:
    """Cancel an open change set. What was written stays.

    CHANGE_SET is its id, as `adsunify apply` prints it.
    """
    with where.open_client("Cancelling the change set") as client:
        cancelled = client.change_sets.cancel(change_set).to_dict()
    output.print_result(cancelled, as_json, change_set_parts(cancelled))
