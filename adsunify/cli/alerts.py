"""``adsunify alerts``: the alerts on synced figures, on a local store or at a server."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from decimal import Decimal, InvalidOperation
from typing import Any, get_args

import click
from pydantic.alias_generators import to_camel

from adsunify.cli import output
from adsunify.cli.completion import ACCOUNT
from adsunify.cli.names import find_account_ids, find_id
from adsunify.cli.options import Target, csv_option, data_option, target_options
from adsunify.cli.suggestions import Choice, CommandGroup
from adsunify.client import Ads
from adsunify.errors import invalid_input
from adsunify.models.alert import AlertKind, AlertLevel
from adsunify.review.alerts import describe_alert
from adsunify.review.names import NameCandidate
from adsunify.values.exact_json import Json

alert_argument = click.argument("alert")


def condition_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options for the members of an alert. The command gets their values by the Python names of the members."""
    for option in (
        click.option("--percent", metavar="PERCENT", help="For paceAbove: percent of the budget's share."),
        click.option("--hours", type=int, help="For noDeliveryFor: hours after the activation."),
        click.option("--days", type=int, help="For spendAbove: the days of the window.  [default: 1]"),
        click.option("--currency", metavar="CODE", help="For spendAbove: the currency of the amount."),
        click.option("--amount", metavar="AMOUNT", help="For spendAbove: the most that may be spent."),
        click.option("--level", type=Choice(get_args(AlertLevel)), help="What the alert is about."),
        click.option("--entity", "entity_ids", multiple=True, metavar="ID", help="Only this entity of the account."),
        click.option(
            "--account", "account_ids", multiple=True, type=ACCOUNT, metavar="ACCOUNT", help="Only this account."
        ),
        click.option("--network", "networks", multiple=True, metavar="CODE", help="Only accounts on this network."),
    ):
        command = option(command)
    return command


@click.group("alerts", cls=CommandGroup)
def alerts() -> None:
    """Show and change the alerts on synced figures."""


@alerts.command("list")
@csv_option
@data_option
@target_options
def list_(target: Target, as_json: bool) -> None:
    """List the alerts, and what could not be evaluated."""
    with target.open_client("Reading the alerts") as client:
        rows = [alert.to_dict() for alert in client.alerts.list()]
    output.print_result(rows, as_json, list_parts(rows))


@alerts.command("add")
@click.argument("name")
@click.option("--kind", type=Choice(get_args(AlertKind)), required=True, help="What the alert tells.")
@condition_options
@data_option
@target_options
def add(target: Target, name: str, kind: str, as_json: bool, **members: Any) -> None:
    """Create the alert NAME. The worker evaluates it after each sync of the daily figures."""
    with target.open_client("Creating the alert") as client:
        body = {"name": name, "kind": kind, **_build_members(client, members)}
        alert = client.call("post_alerts", body=body)["data"]
    output.print_result(alert, as_json, alert_lines(alert))


@alerts.command("change")
@alert_argument
@click.option("--name", help="The new name.")
@click.option("--active/--paused", default=None, help="Resume or pause the alert.")
@condition_options
@data_option
@target_options
def change(target: Target, alert: str, name: str | None, active: bool | None, as_json: bool, **members: Any) -> None:
    """Change an alert by the options that are given. --network, --account and --entity replace the whole scope."""
    with target.open_client("Changing the alert") as client:
        body = _build_members(client, members)
        body |= {key: value for key, value in (("name", name), ("active", active)) if value is not None}
        changed = client.call("patch_alert", path={"alertId": _find_alert(client, alert)}, body=body)["data"]
    output.print_result(changed, as_json, alert_lines(changed))


@alerts.command("remove")
@alert_argument
@data_option
@target_options
def remove(target: Target, alert: str, as_json: bool) -> None:
    """Delete an alert."""
    with target.open_client("Deleting the alert") as client:
        deleted = client.alerts.delete(_find_alert(client, alert)).to_dict()
    output.print_result(deleted, as_json, [f"deleted: {output.to_plain_text(deleted['name'])}"])


def _find_alert(client: Ads, text: str) -> str:
    """Return the id of the alert that a text names: its id, the beginning of its id, or its name."""
    return find_id(
        "ALERT", "alert", text, (NameCandidate(row.id, (row.name,), row.name) for row in client.alerts.list())
    )


def _build_members(client: Ads, options: Mapping[str, Any]) -> dict[str, Json]:
    """Build the members of a body from the options that were given. Raises InvalidInput."""
    options = {**options, "account_ids": find_account_ids(client, options["account_ids"], "--account")}
    scope = {to_camel(name): list(options[name]) for name in SCOPE_WORDS if options[name]}
    members = {name: value for name, value in options.items() if value is not None and name not in SCOPE_WORDS}
    if "percent" in members:
        try:
            members["percent"] = Decimal(members["percent"])
        except InvalidOperation:
            raise invalid_input("--percent", "wrong_type", "must be a number, such as 120.") from None
    return members | ({"scope": scope} if scope else {})


# -- what is printed ----------------------------------------------------------------------------------------------

SCOPE_WORDS = {"networks": "networks", "account_ids": "accounts", "entity_ids": "entities"}
ALERT_COLUMNS = (
    output.Column("alert", shortens=True),
    output.Column("name", prose=True),
    output.Column("tells if", prose=True),
    output.Column("watches", rank=2, prose=True),
    output.Column("active", rank=3),
    output.Column("last evaluated", rank=1),
)
GAP_COLUMNS = (
    output.Column("account", shortens=True),
    output.Column("alert", rank=1, prose=True),
    output.Column("not evaluated", prose=True),
    output.Column("entities", rank=2, prose=True),
)


def list_parts(alerts_: Sequence[Mapping[str, Json]]) -> Iterator[str | output.TextTable]:
    """Yield the table of alerts, and the table of what could not be evaluated."""
    rows = [
        (
            alert["id"],
            alert["name"],
            describe_alert(alert),
            _describe_scope(alert["scope"]),
            "yes" if alert["active"] else "no",
            alert["lastEvaluatedAt"],
        )
        for alert in alerts_
    ]
    yield output.make_table(ALERT_COLUMNS, rows)
    gaps = [
        (gap["accountId"], alert["name"], gap["reason"], ", ".join(gap["entityIds"]))
        for alert in alerts_
        if alert["active"]
        for gap in alert["notEvaluated"]
    ]
    if gaps:
        yield ""
        yield output.make_table(GAP_COLUMNS, gaps)


def alert_lines(alert: Mapping[str, Json]) -> Iterator[str]:
    """Yield the lines that show one alert."""
    yield f"{alert['id']}  {output.to_plain_text(alert['name'])}, {'active' if alert['active'] else 'paused'}"
    yield f"tells if  {describe_alert(alert)}"
    yield f"watches   {_describe_scope(alert['scope'])}"


def _describe_scope(scope: Mapping[str, Sequence[Json]]) -> str:
    parts = [
        f"{words} {', '.join(map(output.to_plain_text, scope[to_camel(name)]))}"
        for name, words in SCOPE_WORDS.items()
        if to_camel(name) in scope
    ]
    return "; ".join(parts) or "everything"
