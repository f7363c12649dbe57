"""``adsunify demo``: runs the whole workflow of every network over HTTP, on simulated networks."""

from __future__ import annotations

import asyncio
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from importlib import import_module
from pathlib import Path

import click
from attrs import define, field
from rich.live import Live
from rich.table import Table

from adsunify.actor import Actor
from adsunify.answers import Account, Operation
from adsunify.client import AsyncAds
from adsunify.errors import AdsunifyError, invalid_input
from adsunify.models.brief import CampaignBrief, read_brief
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.networks.samples import make_brief
from adsunify.service.sandbox_workspace import create_sandbox_admin
from adsunify.service.webhooks import list_event_types
from adsunify.testing.connecting import connect_sandbox_network
from adsunify.values.exact_json import Json, dumps

from . import output
from .progress import format_elapsed
from .serve import RunningServer, running_server, simulated_networks

STAGES = ("connect", "validate", "create", "review", "execute", "activate", "insights", "events")
INSIGHTS_SECONDS = 30.0
POLL_SECONDS = 0.2
"""The wait between two requests for a report. The simulated networks finish a report after a few requests."""
EXPECTED_EVENTS = {"operation.prepared", "operation.running", "operation.succeeded", "account.connected"}
"""Events that each network's run must record."""


@define
class DemoProgress:
    """The results so far: a text for each network and stage."""

    networks: tuple[str, ...]
    results: dict[tuple[str, str], str] = field(factory=dict)
    errors: dict[str, str] = field(factory=dict)
    current_stages: dict[str, str] = field(factory=dict)

    def make_table(self, elapsed: float | None = None) -> Table:
        """Make a table of the progress. ``elapsed``: the seconds since the start."""
        title = "adsunify demo, on simulated networks"
        if elapsed is not None:
            title += f"  {format_elapsed(elapsed)}"
        table = Table(title=title, box=None, padding=(0, 1, 0, 0))
        for heading in ("network", *STAGES):
            table.add_column(heading, no_wrap=True)
        for network in self.networks:
            table.add_row(network, *(self._format_cell(network, stage) for stage in STAGES))
        return table

    def _format_cell(self, network: str, stage: str) -> str:
        if (network, stage) in self.results:
            return "[green]ok[/green]"
        if self.current_stages.get(network) == stage:
            return "[red]failed[/red]" if network in self.errors else "..."
        return ""

    def to_json(self) -> Json:
        """Return the result of each stage per network."""
        return {
            "networks": [
                {
                    "network": network,
                    "ok": network not in self.errors and (network, STAGES[-1]) in self.results,
                    "stages": [
                        {
                            "stage": stage,
                            "ok": (network, stage) in self.results,
                            "detail": self.results.get((network, stage))
                            or (self.errors.get(network) if self.current_stages.get(network) == stage else None),
                        }
                        for stage in STAGES
                    ],
                }
                for network in self.networks
            ]
        }


@click.command()
@click.option("--networks", default=",".join(ADAPTER_PACKAGES), help="Which networks, comma-separated (default: all).")
@click.option("--json", "as_json", is_flag=True, help="Print the result of each stage per network as JSON.")
def demo(networks: str, as_json: bool) -> None:
    """Connect, validate, create, review, execute, activate and read insights on every network.

    The server, the database and the simulated networks are temporary. Exit code 1: a network failed.
    """
    chosen = tuple(code.strip() for code in networks.split(",") if code.strip())
    for code in chosen or ("",):  # an empty list would show nothing
        if code not in ADAPTER_PACKAGES:
            raise invalid_input(
                "--networks", "choice", f"{code or 'nothing'} is not one of {', '.join(ADAPTER_PACKAGES)}."
            )
    import_module("adsunify_server.app")  # a missing package is reported before anything is shown
    progress = DemoProgress(chosen)
    console = output.make_console(stderr=as_json)
    if console.is_terminal:
        start = time.monotonic()
        with Live(
            console=console,
            get_renderable=lambda: progress.make_table(time.monotonic() - start),
            refresh_per_second=4,
            transient=as_json,
        ):
            asyncio.run(_run_demo(progress))
    else:
        asyncio.run(_run_demo(progress))
        if not as_json:
            console.print(progress.make_table())
    if as_json:
        click.echo(dumps(progress.to_json()))
    for network, reason in progress.errors.items():
        click.echo(f"{network} failed at {progress.current_stages.get(network, 'connect')}: {reason}", err=True)
    sys.exit(1 if progress.errors else 0)


async def _run_demo(progress: DemoProgress) -> None:
    with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
        async with (
            simulated_networks(True) as sandbox_url,
            running_server(f"sqlite:///{Path(folder) / 'demo.db'}", "127.0.0.1", 0, sandbox_url=sandbox_url) as server,
        ):
            actor, token = await create_sandbox_admin(server.service)
            async with AsyncAds(server.base_url, token=token) as client:
                for network in progress.networks:
                    await _run_network(progress, server, actor, client, network)


async def _run_network(
    progress: DemoProgress, server: RunningServer, actor: Actor, client: AsyncAds, network: str
) -> None:
    now = server.service.now()
    account: Account
    operation: Operation
    brief: CampaignBrief

    async def connect() -> str:
        nonlocal account, brief
        row = await connect_sandbox_network(server.service, actor, network)
        account = await client.accounts.get(row["accountId"])
        brief = read_brief(make_brief(network, row["currency"], row["timezone"], now))
        return account.native_id

    async def validate() -> str:
        validation = await client.campaigns.validate(account, brief)
        return f"{len(validation.plan.steps)} writes"

    async def create() -> str:
        nonlocal operation
        operation = await client.campaigns.create(account, brief)
        return operation.status

    async def review() -> str:
        prepared = await client.operations.get(operation)
        if prepared.status != "prepared" or not prepared.plan.steps or prepared.receipt.steps:
            raise invalid_input("status", "unexpected", "the operation does not wait for review.")
        return f"risk {prepared.risk}"

    async def execute() -> str:
        return _require_succeeded(await client.operations.run(operation, confirmed=True))

    async def activate() -> str:
        live = await client.campaigns.activate(account, operation)
        return _require_succeeded(await client.operations.run(live, confirmed=True))

    async def insights() -> str:
        start, end = now.date() - timedelta(days=7), now.date() - timedelta(days=1)
        query = {"startDate": str(start), "endDate": str(end)}
        async with asyncio.timeout(INSIGHTS_SECONDS):
            while True:
                answer = await client.call("get_account_insights", path={"accountId": account.account_id}, query=query)
                report = answer["data"]
                if report["pending"] is None:
                    break
                await asyncio.sleep(POLL_SECONDS)
        if not report["rows"]:
            raise invalid_input("insights", "unexpected", "no rows were reported.")
        return f"{len(report['rows'])} days"

    async def check_events() -> str:
        event_types = await list_event_types(server.service, actor, network)
        missing = EXPECTED_EVENTS - set(event_types)
        if missing:
            raise invalid_input("events", "unexpected", f"{', '.join(sorted(missing))} were not recorded.")
        return f"{len(event_types)} recorded"

    stages = (connect, validate, create, review, execute, activate, insights, check_events)
    await _run_stages(progress, network, zip(STAGES, stages, strict=True))


def _require_succeeded(operation: Operation) -> str:
    if operation.status != "succeeded":
        raise invalid_input("status", "unexpected", f"the operation is {operation.status}.")
    return "succeeded"


async def _run_stages(
    progress: DemoProgress, network: str, stages: Iterable[tuple[str, Callable[[], Awaitable[str]]]]
) -> None:
    for stage, work in stages:
        progress.current_stages[network] = stage
        try:
            progress.results[network, stage] = await work()
        except (AdsunifyError, TimeoutError) as problem:
            progress.errors[network] = str(problem) or type(problem).__name__
            return
