"""``adsunify prove``: proves the adapter of a network with a connected account, and deletes what it created."""

from __future__ import annotations

import asyncio
import os
import signal
import sys
from collections.abc import Iterator, Mapping
from contextlib import suppress
from pathlib import Path

import click

from adsunify.adapter.account import Account
from adsunify.errors import invalid_input
from adsunify.networks.samples import make_brief
from adsunify.proving.findings import ProofReport
from adsunify.proving.run import CASES_FOLDER, REPORT_FILE, prove_network
from adsunify.review.names import choose_account, make_account_candidate
from adsunify.service import accounts
from adsunify.service.factory import BASE_URL_VARIABLE, DEFAULT_BASE_URL, SANDBOX_URL_VARIABLE, open_service
from adsunify.service.users import find_local_actor
from adsunify.values.exact_json import Json, loads

from . import output
from .files import read_file
from .options import database_option, json_option
from .workflow import network_choice

VERDICT_COLUMNS = (
    output.Column("fact"),
    output.Column("verdict"),
    output.Column("expected", prose=True, rank=1),
    output.Column("found", prose=True, rank=1),
    output.Column("reason", prose=True, rank=2),
)
MAX_CELL = 200


@click.command()
@click.argument("network", type=network_choice, metavar="NETWORK")
@click.option("--account", "account", required=True, metavar="ID", help="The connected ad account.")
@click.option(
    "--brief",
    type=click.Path(dir_okay=False, path_type=Path, exists=True),
    help="The brief of the campaign.  [default: an example with ids of the account's catalogs]",
)
@click.option(
    "--folder",
    type=click.Path(file_okay=False, path_type=Path),
    help="Where the report and the cases are written.  [default: proof-NETWORK]",
)
@click.option("--workspace", metavar="NAME", help="The workspace in the store.  [default: the only one]")
@json_option
@database_option
def prove(
    network: str,
    account: str,
    brief: Path | None,
    folder: Path | None,
    workspace: str | None,
    as_json: bool,
    database: str,
) -> None:
    """Prove the adapter of NETWORK with a connected account.

    The command reads everything, creates a small paused campaign, reads it back, edits it and deletes it. It activates
    nothing and spends nothing: a guardrail and the transport refuse every activation while it runs. It writes a report
    and the exchanges, without secrets, as cases of the adapter. What could not be deleted is listed in the last lines.

    Exit code 1: the network contradicted a fact, or something was left.
    """
    place = folder or Path(f"proof-{network}")
    report = asyncio.run(_prove(database, workspace, network, account, brief, place))
    output.print_result(report.to_json(), as_json, _describe_report(report, place))
    for leftover in report.leftovers:
        click.echo(f"LEFT: {leftover.kind} {leftover.id or 'of unknown ID'}. {leftover.reason}", err=True)
    sys.exit(0 if report.is_good else 1)


async def _prove(
    database: str, workspace: str | None, network: str, text: str, brief: Path | None, folder: Path
) -> ProofReport:
    environment = os.environ
    opened = await open_service(
        database,
        environment,
        base_url=environment.get(BASE_URL_VARIABLE) or DEFAULT_BASE_URL,
        sandbox_url=environment.get(SANDBOX_URL_VARIABLE) or None,
    )
    service = opened.service

    def make_account_brief(account: Account) -> Mapping[str, Json]:
        if brief is not None:
            return _read_brief(brief)
        if account.currency is None or account.timezone is None:
            raise invalid_input("--brief", "required", "is required: the account's currency or time zone is not known.")
        return make_brief(network, account.currency, account.timezone, service.now())

    task = asyncio.current_task()
    with suppress(NotImplementedError):  # Windows
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, lambda: task and task.cancel())
    try:
        actor = await find_local_actor(service, workspace)
        rows = await accounts.list_accounts(service, actor, network=network)
        candidates = [
            make_account_candidate(row["accountId"], row["network"], row["nativeId"], row["name"]) for row in rows
        ]
        return await prove_network(
            service,
            actor,
            choose_account("--account", text, candidates).id,
            folder,
            make_brief=make_account_brief,
            is_own_brief=brief is not None,
            show=lambda words: click.echo(f"{words} ...", err=True),
        )
    finally:
        await service.close()


def _read_brief(path: Path) -> Mapping[str, Json]:
    try:
        members = loads(read_file(path))
    except ValueError:
        members = None
    if not isinstance(members, Mapping):
        raise invalid_input("--brief", "malformed_json", "must be a file with a JSON object.")
    return members


def _describe_report(report: ProofReport, folder: Path) -> Iterator[str | output.TextTable]:
    """The report for people: contradictions first, then what was not tested, and the unverified facts."""
    counts = {verdict: len(report.select(verdict)) for verdict in ("confirmed", "contradicted", "not_tested")}
    yield (
        f"{report.network} {report.version}: {counts['confirmed']} facts confirmed, {counts['contradicted']} "
        f"contradicted, {counts['not_tested']} not tested"
    )
    findings = [*report.select("contradicted"), *report.select("not_tested")]
    if findings:
        yield output.make_table(
            VERDICT_COLUMNS,
            [
                (finding.fact, finding.verdict, _to_cell(finding.expected), _to_cell(finding.found), finding.reason)
                for finding in findings
            ],
        )
    yield "\nUnverified facts:"
    yield output.make_table(
        (output.Column("fact", prose=True), output.Column("verdict"), output.Column("reason", prose=True, rank=1)),
        [(finding.fact, finding.verdict, finding.reason) for finding in report.unverified],
    )
    for refusal in report.refusals:
        yield f"Refused: {refusal}"
    for withheld in report.withheld:
        yield f"Not recorded: {withheld}"
    for created in report.objects:
        yield f"Not deletable: {created}; it serves nothing by itself."
    yield f"\nThe report is {folder / REPORT_FILE}; {len(report.cases)} cases are in {folder / CASES_FOLDER}."
    yield "Nothing is left in the account." if not report.leftovers else "The account still has what is listed below."


def _to_cell(value: Json) -> str:
    return "" if value is None else str(value)[:MAX_CELL]
