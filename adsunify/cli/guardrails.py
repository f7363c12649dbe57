"""``adsunify guardrails``: the rules that bound what may be spent, on a local store or at a server."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import click

from adsunify.cli import output
from adsunify.cli.files import read_file
from adsunify.cli.names import find_id
from adsunify.cli.options import Target, csv_option, data_option, target_options
from adsunify.cli.suggestions import CommandGroup
from adsunify.client import Ads
from adsunify.errors import invalid_input
from adsunify.review.guardrails import describe_limits
from adsunify.review.names import NameCandidate
from adsunify.values.exact_json import Json, loads
from adsunify.values.money import group_digits

rule_file = click.argument(
    "rule_file", metavar="FILE", type=click.Path(dir_okay=False, path_type=Path, exists=True, allow_dash=True)
)
guardrail_argument = click.argument("guardrail")


@click.group("guardrails", cls=CommandGroup)
def guardrails() -> None:
    """Show and change the rules that bound what may be spent."""


@guardrails.command("list")
@csv_option
@data_option
@target_options
def list_(target: Target, as_json: bool) -> None:
    """List the guardrails."""
    with target.open_client("Reading the guardrails") as client:
        rules = [rule.to_dict() for rule in client.guardrails.list()]
    output.print_result(rules, as_json, [guardrails_table(rules)])


@guardrails.command("show")
@guardrail_argument
@data_option
@target_options
def show(target: Target, guardrail: str, as_json: bool) -> None:
    """Show one guardrail."""
    with target.open_client("Reading the guardrail") as client:
        rule = client.guardrails.get(_find_guardrail(client, guardrail)).to_dict()
    output.print_result(rule, as_json, rule_lines(rule))


@guardrails.command("create")
@rule_file
@data_option
@target_options
def create(target: Target, rule_file: Path, as_json: bool) -> None:
    """Create the guardrail in a JSON file.

    FILE has the body of POST /guardrails ("-" reads stdin). The guardrail applies at once.
    """
    body = _load_body(rule_file)
    with target.open_client("Creating the guardrail") as client:
        rule = client.call("post_guardrails", body=body)["data"]
    output.print_result(rule, as_json, rule_lines(rule))


@guardrails.command("update")
@guardrail_argument
@rule_file
@data_option
@target_options
def update(target: Target, guardrail: str, rule_file: Path, as_json: bool) -> None:
    """Change a guardrail by the members in a JSON file.

    FILE has the body of PATCH /guardrails/{guardrailId} ("-" reads stdin): members that it names replace the present
    ones, and null removes a limit.
    """
    body = _load_body(rule_file)
    with target.open_client("Changing the guardrail") as client:
        rule = client.call("patch_guardrail", path={"guardrailId": _find_guardrail(client, guardrail)}, body=body)[
            "data"
        ]
    output.print_result(rule, as_json, rule_lines(rule))


@guardrails.command("delete")
@guardrail_argument
@data_option
@target_options
def delete(target: Target, guardrail: str, as_json: bool) -> None:
    """Delete a guardrail. Credentials that it has frozen stay frozen."""
    with target.open_client("Deleting the guardrail") as client:
        rule = client.guardrails.delete(_find_guardrail(client, guardrail)).to_dict()
    output.print_result(rule, as_json, [f"deleted: {output.to_plain_text(rule['name'])}"])


@guardrails.command("usage")
@guardrail_argument
@csv_option
@data_option
@target_options
def usage(target: Target, guardrail: str, as_json: bool) -> None:
    """Show how full the window of a guardrail is, and the operations in it."""
    with target.open_client("Reading the usage") as client:
        usage = client.guardrails.usage(_find_guardrail(client, guardrail)).to_dict()
    output.print_result(usage, as_json, usage_parts(usage))


@guardrails.command("freezes")
@csv_option
@data_option
@target_options
def freezes(target: Target, as_json: bool) -> None:
    """List the credentials that guardrails have frozen."""
    with target.open_client("Reading the freezes") as client:
        frozen = [freeze.to_dict() for freeze in client.guardrails.freezes()]
    output.print_result(frozen, as_json, [freezes_table(frozen)])


@guardrails.command("lift")
@click.argument("credential")
@data_option
@target_options
def lift(target: Target, credential: str, as_json: bool) -> None:
    """Lift the freeze of a credential, as `adsunify guardrails freezes` names it."""
    with target.open_client("Lifting the freeze") as client:
        freeze = client.guardrails.lift(credential).to_dict()
    output.print_result(freeze, as_json, [f"lifted: {output.to_plain_text(freeze['credential'])}"])


def _find_guardrail(client: Ads, text: str) -> str:
    """Return the id of the guardrail that a text names: its id, the beginning of its id, or its name."""
    candidates = (NameCandidate(rule.id, (rule.name,), rule.name) for rule in client.guardrails.list())
    return find_id("GUARDRAIL", "guardrail", text, candidates)


def _load_body(path: Path) -> Json:
    """Read the JSON object in a file. Raises InvalidInput."""
    try:
        body = loads(read_file(path))
    except ValueError as reason:
        raise invalid_input("FILE", "malformed_json", f"must be valid JSON: {reason}.") from None
    if not isinstance(body, dict):
        raise invalid_input("FILE", "wrong_type", "must be a JSON object.")
    return body


# -- what is printed ----------------------------------------------------------------------------------------------

GUARDRAIL_COLUMNS = (
    output.Column("guardrail", shortens=True),
    output.Column("name", prose=True),
    output.Column("limits", prose=True),
    output.Column("applies to", rank=2, prose=True),
    output.Column("on breach", rank=1),
    output.Column("active", rank=3),
)
USE_COLUMNS = (
    output.Column("operation", shortens=True),
    output.Column("hour (UTC)", rank=1),
    output.Column("daily", number=True),
    output.Column("lifetime", number=True),
    output.Column("unknown", rank=2),
)
FREEZE_COLUMNS = (
    output.Column("credential"),
    output.Column("frozen at"),
    output.Column("guardrail", rank=1),
    output.Column("operation", rank=2),
)


def guardrails_table(rules: Sequence[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of guardrails."""
    rows = [
        (
            rule["id"],
            rule["name"],
            "; ".join(f"{label}: {text}" for label, text in describe_limits(rule)),
            _describe_scope(rule["scope"]),
            rule["onBreach"],
            _yes_or_no(rule["active"]),
        )
        for rule in rules
    ]
    return output.make_table(GUARDRAIL_COLUMNS, rows)


def rule_lines(rule: Mapping[str, Json]) -> Iterator[str]:
    """Yield the lines that show one guardrail."""
    name = output.to_plain_text(rule["name"])
    yield f"{rule['id']}  {name}, {'active' if rule['active'] else 'not active'}, version {rule['version']}"
    yield f"applies to       {_describe_scope(rule['scope'])}"
    for label, text in describe_limits(rule):
        yield f"{label:16} {text}"
    if rule["currency"] is not None:
        yield f"other currencies {rule['otherCurrencies']}"
    yield f"on breach        {rule['onBreach']}"


SCOPE_WORDS = {
    "networks": "networks",
    "accountIds": "accounts",
    "keyIds": "keys",
    "clients": "agents",
    "userIds": "users",
}


def _describe_scope(scope: Mapping[str, Sequence[Json]]) -> str:
    parts = [
        f"{words} {', '.join(map(_describe_item, scope[name]))}" for name, words in SCOPE_WORDS.items() if name in scope
    ]
    return "; ".join(parts) or "everything"


def _describe_item(item: Json) -> str:
    return f"{item['clientId']} of {item['userId']}" if isinstance(item, Mapping) else output.to_plain_text(item)


def usage_parts(usage: Mapping[str, Json]) -> Iterator[str | output.TextTable]:
    """Yield the lines and the table that show how full a window is."""
    if usage["hours"] is None:
        yield "This guardrail has no window."
        return
    yield f"since {usage['since']}, {usage['hours']} hours"
    for name in ("daily", "lifetime"):
        amount, currency = usage[name], usage["currency"]
        limit = "no limit"
        if amount["limit"] is not None:
            limit = f"{group_digits(amount['left'])} left of {group_digits(amount['limit'])}"
        yield f"{name:8} {group_digits(amount['used'])} {currency} used, {limit}"
    rows = [
        (
            *(use["operationId"], use["hour"][:13]),
            *(group_digits(use[name]) for name in ("daily", "lifetime")),
            _yes_or_no(use["unknown"]),
        )
        for use in usage["uses"]
    ]
    if rows:
        yield ""
        yield output.make_table(USE_COLUMNS, rows)


def freezes_table(frozen: Sequence[Mapping[str, Json]]) -> output.TextTable:
    """Make a table of frozen credentials."""
    rows = [
        (freeze["credential"], freeze["frozenAt"], freeze["guardrailId"], freeze["operationId"]) for freeze in frozen
    ]
    return output.make_table(FREEZE_COLUMNS, rows)


def _yes_or_no(value: bool) -> str:
    return "yes" if value else "no"
