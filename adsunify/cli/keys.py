"""``adsunify keys``: the API keys of a workspace."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime, timedelta

import click

from adsunify.contract.requests import KeyScope
from adsunify.review.names import NameCandidate
from adsunify.values.exact_json import Json

from . import output
from .completion import ACCOUNT
from .names import find_account_ids, find_id
from .options import Target, csv_option, data_option, target_options
from .suggestions import CommandGroup
from .workflow import network_choice

COLUMNS = (
    output.Column("key", shortens=True),
    output.Column("name", prose=True),
    output.Column("begins with", rank=3),
    output.Column("access", rank=1),
    output.Column("accounts", prose=True),
    output.Column("expires", rank=2),
)


@click.group(cls=CommandGroup)
def keys() -> None:
    """List, create and revoke the API keys of a workspace."""


@keys.command("list")
@csv_option
@data_option
@target_options
def list_(target: Target, as_json: bool) -> None:
    """List the API keys, with the networks and accounts to which they are bound."""
    with target.open_client("Reading the keys") as client:
        rows = [key.to_dict() for key in client.keys.list()]
    output.print_result(rows, as_json, [_keys_table(rows)])


@keys.command("create")
@click.argument("name")
@click.option("--write", is_flag=True, help="The key may prepare and execute changes.")
@click.option(
    "--days",
    type=click.IntRange(1, 3650),
    help="The key expires after so many days.  [default: with the key that authorizes the command, if at all]",
)
@click.option(
    "--network",
    "networks",
    multiple=True,
    type=network_choice,
    metavar="NETWORK",
    help="The key reaches only accounts on this network. Repeatable.",
)
@click.option(
    "--account",
    "accounts",
    multiple=True,
    type=ACCOUNT,
    metavar="ACCOUNT",
    help="The key reaches only this account. Repeatable.",
)
@data_option
@target_options
def create(
    target: Target,
    name: str,
    write: bool,
    days: int | None,
    networks: Sequence[str],
    accounts: Sequence[str],
    as_json: bool,
) -> None:
    """Create an API key; its secret is shown only once.

    NAME is what people call the key. Without --network and --account it reaches all accounts of the workspace. With
    both, an account must be in both. What it does not reach does not exist for it, and that cannot be changed later.
    """
    expires_at = None if days is None else datetime.now(UTC) + timedelta(days=days)
    with target.open_client("Creating the key") as client:
        scope = {"networks": networks, "account_ids": find_account_ids(client, accounts, "--account")}
        members = {name: values for name, values in scope.items() if values}
        if members:
            key = client.keys.create_scoped(
                name=name, can_write=write, expires_at=expires_at, scope=KeyScope(**members)
            )
        else:
            key = client.keys.create(name=name, can_write=write, expires_at=expires_at)
    row = key.to_dict()
    output.print_result(row, as_json, [_keys_table([row]), f"secret: {row['secret']}"])


@keys.command("revoke")
@click.argument("key")
@data_option
@target_options
def revoke(target: Target, key: str, as_json: bool) -> None:
    """Revoke an API key, which stops working at once.

    KEY is its id or its name, as `adsunify keys list` shows them.
    """
    with target.open_client("Revoking the key") as client:
        candidates = (
            NameCandidate(row.key_id, (row.name,), row.name) for row in client.keys.list() if row.revoked_at is None
        )
        row = client.keys.revoke(find_id("KEY", "key", key, candidates)).to_dict()
    output.print_result(row, as_json, [_keys_table([row])])


def _keys_table(keys: Sequence[Mapping[str, Json]]) -> output.TextTable:
    rows = [
        (
            key["keyId"],
            key["name"],
            key["prefix"],
            "revoked" if key["revokedAt"] else "read and write" if key["canWrite"] else "read",
            _describe_scope(key["scope"]),
            key["expiresAt"] or "never",
        )
        for key in keys
    ]
    return output.make_table(COLUMNS, rows)


def _describe_scope(scope: Mapping[str, Sequence[str]] | None) -> str:
    """Describe a scope in words: networks, accounts, or accounts of networks."""
    if scope is None:
        return "all"
    return " of ".join(", ".join(scope[name]) for name in ("accountIds", "networks") if name in scope)
