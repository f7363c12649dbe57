"""``adsunify insights sync``: reads daily figures from the networks and stores them."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Sequence
from typing import get_args

import click

from adsunify.contract.requests import ReportedLevel
from adsunify.review.names import choose_row
from adsunify.service.accounts import account_to_json
from adsunify.service.factory import SANDBOX_URL_VARIABLE, open_service
from adsunify.service.reporting.accounts import MAX_DAYS
from adsunify.service.reporting.keeping import (
    DEFAULT_DAYS,
    SyncResult,
    choose_levels,
    list_accounts,
    sync_accounts,
)
from adsunify.values.exact_json import Json, dumps

from . import output
from .completion import ACCOUNT
from .options import database_option, json_option
from .progress import Progress, show_progress
from .suggestions import Choice

LEVELS = get_args(ReportedLevel)


@click.command()
@click.argument("accounts", nargs=-1, type=ACCOUNT, metavar="[ACCOUNT]...")
@click.option(
    "--level",
    "levels",
    type=Choice(LEVELS),
    multiple=True,
    help="Only this level; can be repeated.  [default: all that the network reports]",
)
@click.option(
    "--days",
    type=click.IntRange(1, MAX_DAYS),
    default=DEFAULT_DAYS,
    show_default=True,
    help="How many days to read; the last one is today.",
)
@database_option
@json_option
@click.pass_context
def sync(
    ctx: click.Context, database: str, accounts: tuple[str, ...], levels: tuple[str, ...], days: int, as_json: bool
) -> None:
    """Read daily metrics and store them, with a version for each change.

    ACCOUNT is the id of a connected account; without it, all accounts of the store are read. Some networks prepare a
    report first: the command waits for up to 10 minutes, and the next sync resumes a report that is not ready. Exit
    code 1: a level was not synced.
    """
    with show_progress(f"Syncing the last {days} days") as progress:
        results = asyncio.run(_sync(database, accounts, levels, days, as_json, progress))
    if as_json:
        click.echo(dumps({"results": [_result_to_json(result) for result in results]}))
    if any(result.state != "synced" for result in results):
        ctx.exit(1)


async def _sync(
    database: str, names: Sequence[str], levels: Sequence[str], days: int, as_json: bool, progress: Progress
) -> list[SyncResult]:
    opened = await open_service(database, os.environ, sandbox_url=os.environ.get(SANDBOX_URL_VARIABLE) or None)
    results = []
    try:
        rows = [account_to_json(account) for account in await list_accounts(opened.service)]
        accounts = await list_accounts(opened.service, [choose_row(name, rows) for name in names])
        subjects = [(account, choose_levels(account, levels, is_named=bool(names))) for account in accounts]
        lines = {
            account.id: progress.add_subject(f"{account.network} {account.name or account.native_id}", len(its_levels))
            for account, its_levels in subjects
        }

        def announce(account_id: str, level: str) -> None:
            lines[account_id].update(f"reading {level}")

        async for result in sync_accounts(opened.service, subjects, days, announce=announce):
            results.append(result)
            lines[result.account.id].add_result(result.state)
            if not as_json:
                with progress.hide_line():
                    screen = output.make_console(stderr=result.state != "synced")
                    output.print_parts(screen, [output.to_plain_text(_describe(result))])
    finally:
        await opened.service.close()
    return results


def _describe(result: SyncResult) -> str:
    account = result.account
    words = f"{account.network} {account.name or account.native_id} ({account.id}), {result.level}: "
    if result.error is not None:
        return words + result.error.message
    if result.state == "pending":
        return words + "the network has not prepared the report. The next sync resumes it."
    return f"{words}{result.rows:,} rows, {result.versions:,} of them new or changed"


def _result_to_json(result: SyncResult) -> Json:
    return {
        "accountId": result.account.id,
        "network": result.account.network,
        "level": result.level,
        "state": result.state,
        "rows": result.rows,
        "versions": result.versions,
        "error": None if result.error is None else result.error.message,
    }
