"""``adsunify ledger``: exports the ledger of a workspace, and verifies that no row was changed or is missing."""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import IO, Any, get_args

import click

from adsunify.errors import invalid_input
from adsunify.ledger import ChainLink, LedgerKind
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.review.names import choose_row
from adsunify.service.accounts import list_all_accounts
from adsunify.service.ledger.listing import export_entries, make_filter
from adsunify.service.ledger.verification import Verification, verify_ledger
from adsunify.service.users import find_workspace_id
from adsunify.values.exact_json import Json, dumps

from . import output
from .admin import run_task
from .completion import ACCOUNT
from .options import database_option, json_option
from .spreadsheets import to_csv_cell
from .suggestions import Choice, CommandGroup

CSV_COLUMNS: Sequence[tuple[str, Callable[[Any], Json]]] = (
    ("seq", lambda entry: entry["seq"]),
    ("id", lambda entry: entry["id"]),
    ("at", lambda entry: entry["at"]),
    ("kind", lambda entry: entry["kind"]),
    ("userId", lambda entry: entry["actor"]["userId"]),
    ("credential", lambda entry: entry["actor"]["credential"]),
    ("accountId", lambda entry: entry["accountId"]),
    ("network", lambda entry: entry["network"]),
    ("subjectType", lambda entry: entry["subject"]["type"]),
    ("subjectId", lambda entry: entry["subject"]["id"]),
    ("before", lambda entry: None if entry["before"] is None else dumps(entry["before"])),
    ("after", lambda entry: None if entry["after"] is None else dumps(entry["after"])),
    ("contentHash", lambda entry: entry["contentHash"]),
    ("chainHash", lambda entry: entry["chainHash"]),
)
"""The columns of a CSV file, with the function that reads each from a row. Null is an empty cell."""
workspace_option = click.option("--workspace", metavar="NAME", help="The workspace; optional where there is only one.")
_instant = click.DateTime(["%Y-%m-%d", "%Y-%m-%dT%H:%M:%S", "%Y-%m-%dT%H:%M:%S%z"])


@click.group("ledger", cls=CommandGroup)
def ledger() -> None:
    """Export and verify the ledger: who changed what, with which credential, and when."""


@ledger.command("export")
@click.option(
    "--format",
    "format_",
    type=Choice(["jsonl", "csv"]),
    default="jsonl",
    show_default=True,
    help="JSON lines, or CSV.",
)
@click.option(
    "--output",
    "path",
    type=click.Path(dir_okay=False, path_type=Path, allow_dash=True),
    default=Path("-"),
    help="The file; - is standard output.  [default: -]",
)
@click.option("--account", metavar="ACCOUNT", type=ACCOUNT, help="Only rows of this ad account.")
@click.option("--network", type=Choice(list(ADAPTER_PACKAGES)), metavar="NETWORK", help="Only this network.")
@click.option("--actor", metavar="ID", help="Only changes by this user or this credential.")
@click.option("--kind", type=Choice(get_args(LedgerKind)), metavar="KIND", help="Only this kind of change.")
@click.option("--since", type=_instant, help="Only rows of this time (UTC) or later.")
@click.option("--until", type=_instant, help="Only rows before this time (UTC).")
@workspace_option
@database_option
def export(
    database: str,
    workspace: str | None,
    format_: str,
    path: Path,
    account: str | None,
    network: str | None,
    actor: str | None,
    kind: LedgerKind | None,
    since: datetime | None,
    until: datetime | None,
) -> None:
    """Write the ledger in the order of its rows, as JSON lines or CSV.

    The rows are sealed first. A file gets its name when it is complete.
    """
    times = _format_instant(since), _format_instant(until)
    make_filter(None, network, actor, kind, *times)  # refuses the times before the store is opened

    async def write_rows(store: Any) -> None:
        account_id = None if account is None else choose_row(account, await list_all_accounts(store), "--account")
        filter_ = make_filter(account_id, network, actor, kind, *times)
        workspace_id = await find_workspace_id(store, workspace)
        is_stdout = str(path) == "-"
        with click.open_file(str(path), "w", encoding="utf-8", lazy=False, atomic=not is_stdout) as file:
            write = _make_writer(file, format_)
            async for entries in export_entries(store, workspace_id, filter_):
                write(entries)

    run_task(database, write_rows)


def _format_instant(moment: datetime | None) -> str | None:
    if moment is None:
        return None
    return (moment if moment.tzinfo is not None else moment.replace(tzinfo=UTC)).isoformat()


def _make_writer(file: IO[Any], format_: str) -> Callable[[Sequence[Json]], None]:
    """Return the function that writes rows."""
    if format_ == "jsonl":
        return lambda entries: file.writelines(f"{dumps(entry)}\n" for entry in entries)
    writer = csv.writer(file, lineterminator="\n")
    writer.writerow(name for name, _ in CSV_COLUMNS)
    return lambda entries: writer.writerows([to_csv_cell(read(entry)) for _, read in CSV_COLUMNS] for entry in entries)


@ledger.command("verify")
@click.option(
    "--head",
    metavar="ROW:HASH",
    help="The head that an earlier verification printed; the chain must still contain it.",
)
@workspace_option
@database_option
@json_option
@click.pass_context
def verify(ctx: click.Context, database: str, workspace: str | None, head: str | None, as_json: bool) -> None:
    """Check every row of the ledger: its content, its order, and that none is missing.

    The rows are sealed first. Keep the printed head outside of the database: who can write to the database can compute
    all hashes again, and only a head that is kept elsewhere reveals that. Exit code 1: a row was changed or is missing.
    """
    known = None if head is None else _parse_head(head)

    async def run(store: Any) -> Verification:
        return await verify_ledger(store, await find_workspace_id(store, workspace), known)

    result = run_task(database, run)
    if as_json:
        click.echo(dumps(result.to_json()))
    elif result.problem is None:
        click.echo(f"The ledger is intact: {result.checked.seq:,} rows.")
        click.echo(f"Head: {result.checked.seq}:{result.checked.chain_hash}")
        if result.unsealed:
            click.echo(f"{result.unsealed:,} rows were added during the check. They are not in the chain yet.")
    else:
        id_ = "" if result.problem.row_id is None else f" ({output.to_plain_text(result.problem.row_id)})"
        click.echo(f"Row {result.problem.seq}{id_}: {output.to_plain_text(result.problem.reason)}", err=True)
        click.echo(f"The {result.checked.seq:,} rows before it are intact.", err=True)
    ctx.exit(0 if result.problem is None else 1)


def _parse_head(text: str) -> ChainLink:
    match = re.fullmatch("([1-9][0-9]{0,17}):([0-9a-f]{64})", text)
    if match is None:
        raise invalid_input("--head", "malformed", "must be a row's number, a colon, and 64 hexadecimal digits.")
    return ChainLink(int(match[1]), match[2])
