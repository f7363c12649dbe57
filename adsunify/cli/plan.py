"""``adsunify plan``: the exact native plan of a brief. No store, no network access."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adsunify.adapter.network import Account
from adsunify.errors import Issue, LookupNeeded, invalid_input
from adsunify.http.messages import build_request_url
from adsunify.networks import get_adapter
from adsunify.planning import plan as plan_brief
from adsunify.plans.records import Plan, Step
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import get_timezone
from adsunify.values.exact_json import Json, dumps, loads

from .files import brief_argument, load_brief

LOOKUP_EXAMPLE = '[{"request": {"method": "GET", "url": "https://..."}, "response": {"status": 200, "body": {}}}]'
"""A file of recorded answers."""


@click.command()
@click.argument("network")
@brief_argument
@click.option("--currency", required=True, help="The account's currency (ISO 4217).")
@click.option("--timezone", required=True, help="The account's time zone (IANA).")
@click.option("--native-account", default="", help="The account's native id.")
@click.option("--account-extra", "extras", multiple=True, metavar="K=V", help="A native fact of the account.")
@click.option(
    "--lookups",
    type=click.Path(dir_okay=False, path_type=Path, exists=True),
    metavar="FILE",
    help=f"Recorded answers of the network, for a plan that needs some: {LOOKUP_EXAMPLE}",
)
@click.option("--json", "as_json", is_flag=True, help="Print the plan as JSON.")
def plan(
    network: str,
    brief: Path,
    currency: str,
    timezone: str,
    native_account: str,
    extras: tuple[str, ...],
    lookups: Path | None,
    as_json: bool,
) -> None:
    """Print what would be written to NETWORK for the brief in the file BRIEF ("-" reads stdin).

    Some plans need an answer of the network first. It is never asked: whoever has it gives it with --lookups. With an
    account that is connected, at the network or at a simulated one (`adsunify serve --sandbox`), `adsunify validate`
    prints the plan and asks the network itself.

    A refused brief exits with 2 and one line per issue on stderr.
    """
    tables = get_adapter(network).network
    known = {extra.name: extra.choices for extra in tables.extras}
    get_exponent(currency, "--currency")  # refuses what is no currency
    account = Account(
        network,
        native_account or tables.example_account_id,
        currency,
        get_timezone(timezone, "--timezone").key,
        _parse_extras(extras, known),
    )
    try:
        made = plan_brief(load_brief(brief), account, lookups=_load_lookups(lookups))
    except LookupNeeded as problem:
        how = (
            f"names a JSON file with the answer: {LOOKUP_EXAMPLE}. "
            "`adsunify validate` asks a connected account's network."
        )
        raise LookupNeeded([*problem.issues, Issue("--lookups", "lookup_needed", how)]) from None
    if as_json:
        click.echo(dumps(plan_to_json(made)))
        return
    click.echo(f"{made.network}: {len(made.steps)} native writes (plan {made.digest[:12]})")
    for number, step in enumerate(made.steps, 1):
        click.echo(f"\n{number}. {step.description}\n   {step.request.method} {build_request_url(step.request)}")
        if step.request.body is not None:
            click.echo(f"   {dumps(step.request.body)}")
        for binding in step.bindings:
            click.echo(f"   {binding.to} <- {binding.prefix}{binding.step}.{binding.output}")
    for warning in made.warnings:
        click.echo(f"\nwarning: {warning}", err=True)


def _parse_extras(written: tuple[str, ...], known: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    extras: dict[str, str] = {}
    for one in written:
        name, equals, value = one.partition("=")
        if not equals or name not in known:
            accepted = f"K is one of {', '.join(known)}" if known else "this network has none"
            raise invalid_input("--account-extra", "malformed", f"must be written K=V; {accepted}.")
        if known[name] and value not in known[name]:
            raise invalid_input("--account-extra", "choice", f"{name} must be one of {', '.join(known[name])}.")
        extras[name] = value
    return extras


def _load_lookups(path: Path | None) -> list[Mapping[str, Any]]:
    if path is None:
        return []
    try:
        found = loads(path.read_bytes())
    except ValueError as reason:
        raise invalid_input("--lookups", "malformed_json", f"must be JSON, {LOOKUP_EXAMPLE}: {reason}.") from None
    if not isinstance(found, list) or not all(map(_is_recorded_answer, found)):
        raise invalid_input("--lookups", "wrong_type", f"must be a list of recorded answers: {LOOKUP_EXAMPLE}.")
    return found


def _is_recorded_answer(one: Json) -> bool:
    """Whether it is an answer together with what was asked."""
    if not isinstance(one, Mapping):
        return False
    asked, said = one.get("request"), one.get("response")
    if not isinstance(asked, Mapping) or not isinstance(asked.get("url"), str) or not isinstance(said, Mapping):
        return False
    headers = said.get("headers", {})
    texts = isinstance(headers, Mapping) and all(isinstance(value, str) for value in headers.values())
    return texts and type(said.get("status", 200)) is int


def plan_to_json(made: Plan) -> dict[str, Json]:
    """A plan as ``--json`` prints it."""
    return {
        "network": made.network,
        "version": made.version,
        "digest": made.digest,
        "risk": made.risk,
        "warnings": list(made.warnings),
        "steps": [step_to_json(step) for step in made.steps],
    }


def step_to_json(step: Step) -> dict[str, Json]:
    """A step as ``--json`` prints it: ``url`` with its values filled in, open slots as ``{p}``."""
    whole = step.to_json()
    value: dict[str, Json] = {
        "key": step.key,
        "kind": step.kind,
        "does": step.description,
        "method": step.request.method,
        "url": build_request_url(step.request),
        "headers": dict(step.request.headers),
        "body": step.request.body,
        "bindings": whole.get("bindings", []),
        "outputs": whole.get("outputs", []),
    }
    return value | {
        name: whole[name] for name in ("promises", "items", "overlay", "emptyOk", "changes") if name in whole
    }
