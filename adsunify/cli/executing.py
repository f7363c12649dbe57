"""``adsunify execute``: the only command that writes to a network."""

from __future__ import annotations

import sys

import click

from adsunify.answers import Operation
from adsunify.client import Ads
from adsunify.errors import AdsunifyError, invalid_input
from adsunify.review.completion import join_sentences

from . import output
from .options import Target, data_option, target_options
from .progress import show_progress


@click.command()
@click.argument("operation")
@click.option("--confirmed", is_flag=True, help="Do not ask for confirmation; you have read the plan.")
@click.option("--allow-stale", is_flag=True, help="Write the plan whatever has changed at the network since.")
@data_option
@target_options
@click.pass_context
def execute(
    ctx: click.Context, where: Target, operation: str, confirmed: bool, allow_stale: bool, as_json: bool
) -> None:
    """Write a prepared operation to its network, once.

    The command shows the plan of OPERATION with its risk and its money, and asks for confirmation. Execution continues
    for as long as the network needs (to process media, or until a limit resets), and stops at an unknown outcome. Exit
    code 0: every step was written. 1: the network refused, or the outcome is unknown; the last line on stderr says
    which, and the receipt shows the steps that were written. Nothing is sent twice.
    """
    with where.make_client() as client:
        with show_progress("Reading the operation"):
            prepared = client.operations.get(operation)
        if not confirmed and prepared.status == "prepared" and not prepared.expired:
            _ask_to_confirm(client, prepared)
        executed = _execute_with_status(client, prepared, allow_stale, as_json)
    row = executed.to_dict()
    output.print_result(row, as_json, [output.operations_table([row]), *output.receipt_parts(row)])
    if executed.status != "succeeded":
        click.echo(f"The operation is {executed.status}: another process is executing it.", err=True)
        ctx.exit(1)


def _ask_to_confirm(client: Ads, operation: Operation) -> None:
    """Show the plan and ask for confirmation. Raises InvalidInput without a terminal."""
    if not sys.stdin.isatty():
        raise invalid_input("--confirmed", "required", "is required without a terminal; read the plan first.")
    screen = output.make_console(stderr=True)
    source = operation.source_operation_id
    with show_progress("Reading the account"):
        created = None if source is None else client.operations.get(source).to_dict()
        account = client.accounts.get(operation.account_id).to_dict()
    output.print_parts(screen, output.operation_parts(operation.to_dict(), account, created))
    screen.print()
    risk = output.RISK_WORDS.get(operation.risk, "")
    click.confirm(
        join_sentences(
            f"Risk {operation.risk}: {risk}",
            f"Write these {len(operation.plan.steps)} steps to {operation.network}?",
        ),
        abort=True,
        err=True,
    )


def _execute_with_status(client: Ads, operation: Operation, allow_stale: bool, as_json: bool) -> Operation:
    total = len(operation.plan.steps)

    def describe_progress(current: Operation) -> str:
        applied = {step.key for step in current.receipt.steps if step.state == "applied"}
        wait = f"; the network asks to wait {current.retry_after_ms / 1000:.0f} s" if current.retry_after_ms else ""
        return f"{operation.network}: {len(applied)} of {total} steps written{wait}"

    try:
        with show_progress(describe_progress(operation)) as progress:
            return client.operations.run(
                operation,
                confirmed=True,
                allow_stale=allow_stale,
                progress=lambda current: progress.describe(describe_progress(current)),
            )
    except AdsunifyError as problem:
        if problem.operation_data is not None:
            output.print_result(problem.operation_data, as_json, output.receipt_parts(problem.operation_data))
        raise
    except KeyboardInterrupt:
        click.echo(f"Stopped waiting. To see the steps that were written: adsunify operations {operation.id}", err=True)
        raise
