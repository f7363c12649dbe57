"""The daily commands, but for connecting and executing: over a store of one's own or a server, the same."""

from __future__ import annotations

from datetime import UTC, date, datetime, timedelta
from pathlib import Path

import click

from adsunify.networks import ADAPTERS

from . import showing
from .files import brief_argument, brief_in, told_of_the_brief
from .options import Where, anywhere, data_option, idempotency_option

DAYS = 7
EARLIEST = date.min + timedelta(days=DAYS)
network_choice = click.Choice(list(ADAPTERS))


@click.command()
@click.argument("network", required=False, type=network_choice, metavar="[NETWORK]")
@data_option
@anywhere
def accounts(where: Where, network: str | None, as_json: bool) -> None:
    """List the connected ad accounts, or those on one network."""
    with where.ads() as ads:
        found = [one.data for one in ads.accounts(network)]
    showing.say(found, as_json, [showing.accounts(found)])


@click.command()
@click.argument("account")
@brief_argument
@data_option
@anywhere
def validate(where: Where, account: str, brief: Path, as_json: bool) -> None:
    """Check a brief against the network's rules.

    The brief stands in the file BRIEF ("-" reads stdin); it is held against everything that ACCOUNT's network declares,
    and nothing is saved or written. A refused brief exits with 2 and one line per issue on stderr.
    """
    wanted = brief_in(brief).to_json()
    with told_of_the_brief(), where.ads() as ads:
        found = ads.validate(account, wanted)
        shown = {**found, "account": ads.account(account).data}
    showing.say(found, as_json, showing.validated(shown))


@click.command()
@click.argument("account")
@brief_argument
@idempotency_option
@data_option
@anywhere
def create(where: Where, account: str, brief: Path, idempotency_key: str | None, as_json: bool) -> None:
    """Prepare a campaign; nothing is written yet.

    The brief stands in the file BRIEF ("-" reads stdin), and the campaign will be made on ACCOUNT. Read the plan, then
    `adsunify execute` the operation within 30 minutes. What it creates stays paused.
    """
    wanted = brief_in(brief).to_json()
    with told_of_the_brief(), where.ads() as ads:
        operation = ads.create(account, wanted, idempotency_key=idempotency_key).data
        about = ads.account(account).data
    showing.say(operation, as_json, showing.operation(operation, about))


@click.command()
@click.argument("operation")
@idempotency_option
@data_option
@anywhere
def activate(where: Where, operation: str, idempotency_key: str | None, as_json: bool) -> None:
    """Prepare the activation of a campaign; nothing is written yet.

    It sets everything active that the succeeded create OPERATION made. Executing the activation can spend money.
    """
    with where.ads() as ads:
        source = ads.operation(operation)
        about = ads.account(source.data["accountId"])
        live = ads.activate(about, source, idempotency_key=idempotency_key).data
    showing.say(live, as_json, showing.operation(live, about.data, source.data))


@click.command()
@click.argument("operation", required=False)
@data_option
@anywhere
def operations(where: Where, operation: str | None, as_json: bool) -> None:
    """List the latest operations, or show one.

    The latest 50 are listed; OPERATION is shown with its plan and its receipt.
    """
    with where.ads() as ads:
        if operation is None:
            found = [one.data for one in ads.operations()]
            showing.say(found, as_json, [showing.operations(found)])
            return
        shown = ads.operation(operation).data
        about = ads.account(shown["accountId"]).data
    showing.say(shown, as_json, showing.operation(shown, about))


@click.command()
@click.argument("operation")
@data_option
@anywhere
def cancel(where: Where, operation: str, as_json: bool) -> None:
    """Cancel a prepared operation.

    OPERATION is one of yours. What was written before stays, and so do its receipts.
    """
    with where.ads() as ads:
        shown = ads.cancel(operation).data
    showing.say(shown, as_json, [showing.operations([shown]), *showing.outcome(shown)])


@click.command()
@click.argument("account")
@click.option(
    "--start", type=click.DateTime(["%Y-%m-%d"]), help=f"The first day.  [default: {DAYS} days before the end]"
)
@click.option("--end", type=click.DateTime(["%Y-%m-%d"]), help="The last day.  [default: yesterday]")
@data_option
@anywhere
def insights(where: Where, account: str, start: datetime | None, end: datetime | None, as_json: bool) -> None:
    """Print an account's daily metrics.

    Both days are included; they are days of ACCOUNT's time zone, and amounts are in its currency. Some networks make a
    report first; that is waited for.
    """
    last: date = datetime.now(UTC).date() - timedelta(days=1) if end is None else end.date()
    first = max(last, EARLIEST) - timedelta(days=DAYS - 1) if start is None else start.date()
    with showing.waiting(f"Asking for {first} to {last}"), where.ads() as ads:
        found = ads.insights(account, first, last)
    showing.say(found, as_json, showing.insights(found))
