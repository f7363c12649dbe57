"""``adsunify resume`` and ``adsunify settle``: what can be done about an operation that was not written completely."""

from __future__ import annotations

from typing import Literal

import click

from . import output
from .completion import operation_argument
from .names import find_operation
from .options import Target, data_option, idempotency_option, target_options
from .suggestions import Choice


@click.command()
@operation_argument
@idempotency_option
@data_option
@target_options
def resume(target: Target, operation: str, idempotency_key: str | None, as_json: bool) -> None:
    """Prepare the rest of an operation; nothing is written yet.

    OPERATION has an unknown outcome, or it stalled, expired or stopped half way. The new operation sends only what is
    not written. Read its plan, then run `adsunify execute` with it.
    """
    with target.open_client("Preparing the rest of the operation") as client:
        resumed = client.operations.resume(find_operation(client, operation), idempotency_key=idempotency_key)
        row, account = resumed.to_dict(), client.accounts.get(resumed.account_id).to_dict()
    output.print_result(row, as_json, output.operation_parts(row, account))


@click.command()
@operation_argument
@click.argument("step")
@click.argument("verdict", type=Choice(["applied", "not_applied"]))
@click.option("--entity", metavar="ID", help="The id of what the step created, as the network shows it.")
@data_option
@target_options
def settle(
    target: Target,
    operation: str,
    step: str,
    verdict: Literal["applied", "not_applied"],
    entity: str | None,
    as_json: bool,
) -> None:
    """Decide a step whose outcome is not known.

    Look at the account first. STEP is the key of the step in OPERATION's plan. Nothing is written; your decision is
    recorded, and `adsunify resume` uses it. It works on a local store; with a server, sign in at its pages.
    """
    with target.open_client("Deciding the step") as client:
        settled = client.operations.settle(
            find_operation(client, operation), step=step, verdict=verdict, entity=entity
        ).to_dict()
    text = f"{settled['step']}: {settled['verdict']}. To write the rest: adsunify resume {settled['operationId']}"
    output.print_result(settled, as_json, [text])
