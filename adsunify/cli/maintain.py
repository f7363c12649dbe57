"""``adsunify maintain``: deletes what its retention allows."""

from __future__ import annotations

import asyncio
import os

import click

from adsunify.service.factory import read_retention_days, run_with_store
from adsunify.service.retention import MaintenanceResult, delete_due, describe_rules
from adsunify.values.exact_json import dumps

from . import output
from .options import database_option, json_option
from .progress import show_progress

MAINTAIN_HELP = f"""\
Delete what its retention allows. Run it once a day; servers may keep running.

Operations, receipts, idempotency keys, events and the ledger are never deleted. Of an operation that ended long ago,
bodies are removed; its steps, digest and receipt stay.

\b
{describe_rules()}

ADSUNIFY_<KIND>_RETENTION_DAYS sets the days of a kind; 0 keeps everything. The command can be stopped at any time: the
next run goes on.
"""


@click.command(help=MAINTAIN_HELP)
@click.option("--dry-run", "is_dry_run", is_flag=True, help="Only show how much would be deleted.")
@database_option
@json_option
def maintain(database: str, is_dry_run: bool, as_json: bool) -> None:
    """Delete what its retention allows."""
    days = read_retention_days(os.environ)
    words = "Counting what is due" if is_dry_run else "Deleting what is due"
    with show_progress(words) as progress:

        def announce(result: MaintenanceResult) -> None:
            progress.describe(f"{words}: {result.kind} {result.count:,}")

        results = asyncio.run(
            run_with_store(database, lambda store: delete_due(store, days, is_dry_run=is_dry_run, announce=announce))
        )
    if as_json:
        click.echo(dumps({"dryRun": is_dry_run, "results": [result.to_json() for result in results]}))
        return
    columns = (output.Column("kind"), output.Column("days"), output.Column("due" if is_dry_run else "deleted"))
    rows = [
        (deletion.kind, str(deletion.days) if deletion.days else "kept", f"{deletion.count:,}") for deletion in results
    ]
    output.print_parts(output.make_console(), [output.make_table(columns, rows)])
