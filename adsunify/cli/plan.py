"""``adsunify plan``: prints the exact native plan of a brief, without a store and without network access."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from adsunify.adapter.account import Account
from adsunify.errors import Issue, LookupNeeded, invalid_input
from adsunify.http.messages import build_request_url
from adsunify.networks.registry import get_adapter
from adsunify.planning import plan as plan_brief
from adsunify.plans.display import plan_to_json
from adsunify.review.exposure import describe_exposure
from adsunify.values.currencies import get_exponent
from adsunify.values.dates import get_timezone
from adsunify.values.exact_json import Json, dumps, loads

from .files import load_brief
from .options import brief_argument

LOOKUP_EXAMPLE = '[{"request": {"method": "GET", "url": "https://..."}, "response": {"status": 200, "body": {}}}]'
"""The form of a file of recorded responses."""


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
    help=f"Recorded responses of the network, for plans that need some: {LOOKUP_EXAMPLE}",
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

    The command sends no request. Some plans need a response of the network first: pass recorded responses with
    --lookups. With a connected account, at the network or at a simulated one (`adsunify serve --sandbox`), `adsunify
    validate` prints the plan and sends such requests itself.

    A refused brief exits with 2 and prints one line per issue on stderr.
    """
    tables = get_adapter(network).network
    choices = {extra.name: extra.choices for extra in tables.extras}
    get_exponent(currency, "--currency")  # raises InvalidInput for an unknown currency
    account = Account(
        network,
        native_account or tables.example_account_id,
        currency,
        get_timezone(timezone, "--timezone").key,
        _parse_extras(extras, choices),
    )
    try:
        result = plan_brief(load_brief(brief), account, lookups=_load_lookups(lookups))
    except LookupNeeded as problem:
        hint = (
            f"must name a JSON file with the response: {LOOKUP_EXAMPLE}. "
            "`adsunify validate` requests it from a connected account's network."
        )
        raise LookupNeeded([*problem.issues, Issue("--lookups", "lookup_needed", hint)]) from None
    if as_json:
        click.echo(dumps(plan_to_json(result)))
        return
    click.echo(f"{result.network}: {len(result.steps)} native writes (plan {result.digest[:12]})")
    if result.exposure is not None:
        spends = {"exposure": result.exposure.exposure, "planned": result.exposure.planned}
        click.echo(describe_exposure({name: spend.to_json(currency) for name, spend in spends.items()}))
    for number, step in enumerate(result.steps, 1):
        click.echo(f"\n{number}. {step.description}\n   {step.request.method} {build_request_url(step.request)}")
        if step.request.body is not None:
            click.echo(f"   {dumps(step.request.body)}")
        for binding in step.bindings:
            click.echo(f"   {binding.to} <- {binding.prefix}{binding.step}.{binding.output}")
    for warning in result.warnings:
        click.echo(f"\nwarning: {warning}", err=True)


def _parse_extras(assignments: tuple[str, ...], choices: Mapping[str, tuple[str, ...]]) -> dict[str, str]:
    extras: dict[str, str] = {}
    for assignment in assignments:
        name, equals, value = assignment.partition("=")
        if not equals or name not in choices:
            accepted = f"K must be one of {', '.join(choices)}" if choices else "this network has no extras"
            raise invalid_input("--account-extra", "malformed", f"must be written K=V; {accepted}.")
        if choices[name] and value not in choices[name]:
            raise invalid_input("--account-extra", "choice", f"{name} must be one of {', '.join(choices[name])}.")
        extras[name] = value
    return extras


def _load_lookups(path: Path | None) -> list[Mapping[str, Any]]:
    if path is None:
        return []
    try:
        lookups = loads(path.read_bytes())
    except ValueError as reason:
        raise invalid_input("--lookups", "malformed_json", f"must be JSON, {LOOKUP_EXAMPLE}: {reason}.") from None
    if not isinstance(lookups, list) or not all(map(_is_recorded_response, lookups)):
        raise invalid_input("--lookups", "wrong_type", f"must be a list of recorded responses: {LOOKUP_EXAMPLE}.")
    return lookups


def _is_recorded_response(entry: Json) -> bool:
    """Whether a value is a request with its response."""
    if not isinstance(entry, Mapping):
        return False
    request, response = entry.get("request"), entry.get("response")
    if not isinstance(request, Mapping) or not isinstance(request.get("url"), str) or not isinstance(response, Mapping):
        return False
    headers = response.get("headers", {})
    are_texts = isinstance(headers, Mapping) and all(isinstance(value, str) for value in headers.values())
    return are_texts and type(response.get("status", 200)) is int
