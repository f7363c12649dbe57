"""The daily commands except ``connect`` and ``execute``, on a local store or at a server."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path
from typing import Any, get_args

import click

from adsunify.cli import output
from adsunify.cli.completion import ACCOUNT, OPERATION, account_argument, operation_argument
from adsunify.cli.files import load_brief, report_brief_errors
from adsunify.cli.names import find_account, find_operation
from adsunify.cli.options import Target, brief_argument, csv_option, data_option, idempotency_option, target_options
from adsunify.cli.suggestions import Choice
from adsunify.execution.state import OperationStatus
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.plans.records import Action
from adsunify.values.exact_json import Json
from adsunify.values.network_codes import ExternalNetwork

MAX_PAGE_SIZE = 100
"""The most operations that one page has."""
network_choice = Choice(list(ADAPTER_PACKAGES))


@click.command()
@click.argument("network", required=False, type=network_choice, metavar="[NETWORK]")
@csv_option
@data_option
@target_options
def accounts(target: Target, network: str | None, as_json: bool) -> None:
    """List the connected ad accounts, or those on one network."""
    code = None if network is None else ExternalNetwork(network)
    with target.open_client("Reading the accounts") as client:
        rows = [account.to_dict() for account in client.accounts.list(network=code)]
    output.print_result(rows, as_json, [output.accounts_table(rows)])


@click.command()
@account_argument
@brief_argument
@data_option
@target_options
def validate(target: Target, account: str, brief: Path, as_json: bool) -> None:
    """Check a brief against the network's rules.

    The file BRIEF has the brief ("-" reads stdin). It is checked against the rules of ACCOUNT's network; nothing is
    saved or written. A refused brief exits with 2 and prints one line per issue on stderr.
    """
    campaign = load_brief(brief)
    with report_brief_errors(), target.open_client("Checking the brief") as client:
        owner = find_account(client, account)
        validation = client.campaigns.validate(owner, campaign).to_dict()
        validation_with_account = {**validation, "account": owner.to_dict()}
    output.print_result(validation, as_json, output.validation_parts(validation_with_account))


@click.command()
@account_argument
@brief_argument
@idempotency_option
@data_option
@target_options
def create(target: Target, account: str, brief: Path, idempotency_key: str | None, as_json: bool) -> None:
    """Prepare a campaign; nothing is written yet.

    The file BRIEF has the brief ("-" reads stdin) of a campaign on ACCOUNT. Read the plan, then run `adsunify execute`
    with the operation within 30 minutes. Created entities stay paused.
    """
    campaign = load_brief(brief)
    with report_brief_errors(), target.open_client("Preparing the campaign") as client:
        owner = find_account(client, account)
        operation = client.campaigns.create(owner, campaign, idempotency_key=idempotency_key).to_dict()
    output.print_result(operation, as_json, output.operation_parts(operation, owner.to_dict()))


@click.command()
@operation_argument
@idempotency_option
@data_option
@target_options
def activate(target: Target, operation: str, idempotency_key: str | None, as_json: bool) -> None:
    """Prepare the activation of a campaign; nothing is written yet.

    The activation covers everything that the succeeded create OPERATION created. Executing it can spend money.
    """
    with target.open_client("Preparing the activation") as client:
        source = find_operation(client, operation)
        account = client.accounts.get(source.account_id)
        activation = client.campaigns.activate(account, source, idempotency_key=idempotency_key).to_dict()
    output.print_result(activation, as_json, output.operation_parts(activation, account.to_dict(), source.to_dict()))


def filter_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the filters of a list of operations to a command, which gets them as ``filters``."""
    instant = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"])

    @functools.wraps(command)
    def wrapper(
        account: str | None,
        action: Action | None,
        created_by: str | None,
        network: str | None,
        since: datetime | None,
        status: OperationStatus | None,
        until: datetime | None,
        **more: Any,
    ) -> Any:
        filters = {
            "account": account,
            "action": action,
            "created_by": created_by,
            "network": None if network is None else ExternalNetwork(network),
            "since": _add_timezone(since),
            "status": status,
            "until": _add_timezone(until),
        }
        return command(filters={name: value for name, value in filters.items() if value is not None}, **more)

    for option in (
        click.option("--until", type=instant, help="Only those prepared before this time (UTC)."),
        click.option("--since", type=instant, help="Only those prepared at this time (UTC) or later."),
        click.option("--created-by", metavar="ID", help="Only those that this user or this credential prepared."),
        click.option("--action", type=Choice(get_args(Action)), help="Only those with this action."),
        click.option("--network", type=network_choice, metavar="NETWORK", help="Only those on this network."),
        click.option("--account", metavar="ACCOUNT", type=ACCOUNT, help="Only those of this ad account."),
        click.option("--status", type=Choice(get_args(OperationStatus)), help="Only those with this status."),
    ):
        wrapper = option(wrapper)
    return wrapper


def _add_timezone(moment: datetime | None) -> datetime | None:
    return moment if moment is None or moment.tzinfo is not None else moment.replace(tzinfo=UTC)


@click.command()
@click.argument("operation", required=False, type=OPERATION)
@click.option("--limit", type=click.IntRange(min=1), default=50, show_default=True, help="How many to list at most.")
@filter_options
@csv_option
@data_option
@target_options
def operations(target: Target, operation: str | None, limit: int, filters: dict[str, Any], as_json: bool) -> None:
    """List the latest operations, or show one.

    OPERATION is shown with its plan and its receipt.
    """
    parts: Iterable[str | output.TextTable]
    with target.open_client("Reading the operations") as client:
        if operation is None:
            if "account" in filters:
                filters["account"] = find_account(client, filters["account"], "--account")
            rows = client.operations.list(limit=min(limit, MAX_PAGE_SIZE), **filters)
            data: Json = [row.to_dict() for row in islice(rows, limit)]
            parts = [output.operations_table(data)]
        else:
            read_operation = find_operation(client, operation)
            data, account = read_operation.to_dict(), client.accounts.get(read_operation.account_id).to_dict()
            parts = output.operation_parts(data, account)
    output.print_result(data, as_json, parts)


@click.command()
@operation_argument
@data_option
@target_options
def undo(target: Target, operation: str, as_json: bool) -> None:
    """Prepare an operation that takes back what another one wrote.

    Edits and statuses go back to their earlier values; what was created is deleted if it is still paused. Review what
    this prints, then execute it.
    """
    with target.open_client("Preparing the undo") as client:
        prepared = client.operations.undo(find_operation(client, operation))
        account = client.accounts.get(prepared.account_id).to_dict()
    output.print_result(prepared.to_dict(), as_json, output.operation_parts(prepared.to_dict(), account))


@click.command()
@operation_argument
@data_option
@target_options
def cancel(target: Target, operation: str, as_json: bool) -> None:
    """Cancel a prepared operation.

    OPERATION must be yours. Steps that were written stay, and so do their receipts.
    """
    with target.open_client("Cancelling the operation") as client:
        cancelled = client.operations.cancel(find_operation(client, operation)).to_dict()
    output.print_result(cancelled, as_json, [output.operations_table([cancelled]), *output.outcome_parts(cancelled)])


@click.command()
@operation_argument
@data_option
@target_options
def inspect(target: Target, operation: str, as_json: bool) -> None:
    """Read back what OPERATION wrote, and decide the steps whose outcome is not known.

    Nothing is written to the network. Each step in doubt gets a verdict: applied, not_applied or undecided, with the
    reads behind it. That a creation was not applied needs a second inspection about 15 minutes after the attempt.
    """
    with target.open_client("Reading the network") as client:
        inspected = client.operations.inspect(find_operation(client, operation)).to_dict()
    output.print_result(inspected, as_json, output.inspection_parts(inspected))
