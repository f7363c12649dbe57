"""``adsunify execute``: the only command that writes to a network."""

from __future__ import annotations

import sys
from collections.abc import Sequence

import click

from adsunify.answers import BatchDone, Operation
from adsunify.client import Ads
from adsunify.errors import AdsunifyError, invalid_input
from adsunify.review.completion import join_sentences

from . import output
from .commands import UNKNOWN_MESSAGE
from .completion import OPERATION
from .names import find_operation
from .options import Target, data_option, target_options
from .progress import show_progress


@click.command()
@click.argument("operations", nargs=-1, required=True, type=OPERATION, metavar="OPERATION...")
@click.option("--confirmed", is_flag=True, help="Do not ask for confirmation; you have read the plan.")
@click.option("--allow-stale", is_flag=True, help="Write the plan whatever has changed at the network since.")
@data_option
@target_options
@click.pass_context
def execute(
    ctx: click.Context, target: Target, operations: Sequence[str], confirmed: bool, allow_stale: bool, as_json: bool
) -> None:
    """Write prepared operations to their networks, each once.

    The command shows the plan of each OPERATION with its risk and its money, and asks for confirmation. Execution
    continues for as long as the network needs (to process media, or until a limit resets), and stops at an unknown
    outcome. Exit code 0: every step was written. 1: the network refused, or the outcome is unknown; the last line on
    stderr says which, and the receipt shows the steps that were written. Nothing is sent twice. The failure of one of
    several operations does not stop the others.
    """
    with target.make_client() as client:
        with show_progress("Reading the operation"):
            named_operations = [find_operation(client, operation) for operation in operations]
        prepared = list({operation.id: operation for operation in named_operations}.values())
        waiting = [operation for operation in prepared if operation.status == "prepared" and not operation.expired]
        if waiting and not confirmed:
            _ask_to_confirm(client, waiting)
        if len(prepared) > 1:
            _execute_many(ctx, client, prepared, allow_stale, as_json)
            return
        executed = _execute_with_status(client, prepared[0], allow_stale, as_json)
    row = executed.to_dict()
    output.print_result(row, as_json, [output.operations_table([row]), *output.receipt_parts(row)])
    if executed.status != "succeeded":
        output.print_message(f"The operation is {executed.status}: another process is executing it.")
        ctx.exit(1)


def _ask_to_confirm(client: Ads, operations: Sequence[Operation]) -> None:
    """Show the plans and ask for confirmation. Raises InvalidInput without a terminal."""
    if not sys.stdin.isatty():
        raise invalid_input("--confirmed", "required", "is required without a terminal; read the plan first.")
    screen = output.make_console(stderr=True)
    for operation in operations:
        source = operation.source_operation_id
        with show_progress("Reading the account"):
            created = None if source is None else client.operations.get(source).to_dict()
            account = client.accounts.get(operation.account_id).to_dict()
        output.print_parts(screen, output.operation_parts(operation.to_dict(), account, created))
        screen.print()
    present = {operation.risk for operation in operations}
    risks = [f"Risk {risk}: {words}" for risk, words in output.RISK_WORDS.items() if risk in present]
    networks = ", ".join(dict.fromkeys(operation.network for operation in operations))
    steps = sum(len(operation.plan.steps) for operation in operations)
    click.confirm(join_sentences(*risks, f"Write these {steps} steps to {networks}?"), abort=True, err=True)


def _execute_many(
    ctx: click.Context, client: Ads, operations: Sequence[Operation], allow_stale: bool, as_json: bool
) -> None:
    """Execute several operations, and print their results. The exit code is 1 if one of them was not written."""
    try:
        with show_progress(f"Executing {len(operations)} operations"):
            batch = client.operations.run_many(operations, confirmed=True, allow_stale=allow_stale)
    except KeyboardInterrupt:
        output.print_message("Stopped waiting. To see what was written: adsunify operations")
        raise
    rows = []
    for operation, result in zip(operations, batch.results, strict=True):
        if isinstance(result, BatchDone):
            rows.append(result.operation.to_dict())
            continue
        row = (result.error.operation or operation).to_dict()
        rows.append(row | {"status": "unknown"} if result.error.outcome == "unknown" else row)
        output.print_message(f"{operation.id}: {result.error.detail}")
    output.print_result(batch.to_dict(), as_json, [output.operations_table(rows)])
    if any(row["status"] == "unknown" for row in rows):
        output.print_message(UNKNOWN_MESSAGE)
    if any(row["status"] != "succeeded" for row in rows):
        ctx.exit(1)


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
        output.print_message(f"Stopped waiting. To see the steps that were written: adsunify operations {operation.id}")
        raise
