"""``adsunify demo``: every network through the whole workflow, over real HTTP, on the simulated networks."""

from __future__ import annotations

import asyncio
import sys
import tempfile
from collections.abc import Awaitable, Callable, Iterable
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any

import click
from attrs import define, field
from rich.live import Live
from rich.table import Table

from adsunify.actor import Actor
from adsunify.client import Account, AsyncAds, Operation
from adsunify.errors import AdsunifyError, refused
from adsunify.networks import ADAPTERS
from adsunify.store import events
from adsunify.values.exact_json import Json, dumps

from . import showing
from .briefs import brief
from .serve import Serving, connect_one, sandbox_admin, serving, simulation

STAGES = ("connect", "validate", "create", "review", "execute", "activate", "insights", "events")
INSIGHTS_SECONDS = 30.0
POLL_SECONDS = 0.2
"""The simulated networks finish a report within a few looks; a real one is asked as seldom as it says."""
EVENTS = {"operation.prepared", "operation.running", "operation.succeeded", "account.connected"}
"""What each network's run must have recorded."""


@define
class Progress:
    """What is done so far: per network and stage, a word for people."""

    networks: tuple[str, ...]
    done: dict[tuple[str, str], str] = field(factory=dict)
    failed: dict[str, str] = field(factory=dict)
    running: dict[str, str] = field(factory=dict)

    def table(self) -> Table:
        """The progress as a table."""
        table = Table(title="adsunify demo, on simulated networks", box=None, padding=(0, 1, 0, 0))
        for heading in ("network", *STAGES):
            table.add_column(heading, no_wrap=True)
        for network in self.networks:
            table.add_row(network, *(self._cell(network, stage) for stage in STAGES))
        return table

    def _cell(self, network: str, stage: str) -> str:
        if (network, stage) in self.done:
            return "[green]ok[/green]"
        if self.running.get(network) == stage:
            return "[red]failed[/red]" if network in self.failed else "..."
        return ""

    def to_json(self) -> Json:
        """The result of each stage per network."""
        return {
            "networks": [
                {
                    "network": network,
                    "ok": network not in self.failed and (network, STAGES[-1]) in self.done,
                    "stages": [
                        {
                            "stage": stage,
                            "ok": (network, stage) in self.done,
                            "detail": self.done.get((network, stage))
                            or (self.failed.get(network) if self.running.get(network) == stage else None),
                        }
                        for stage in STAGES
                    ],
                }
                for network in self.networks
            ]
        }


@click.command()
@click.option("--networks", default=",".join(ADAPTERS), help="Which networks, comma-separated (default: all).")
@click.option("--json", "as_json", is_flag=True, help="Print the result of each stage per network as JSON.")
def demo(networks: str, as_json: bool) -> None:
    """Connect, validate, create, review, execute, activate and read insights on every network.

    Server, database and networks are made for it and are gone afterwards. Exit code 1 if any network fails.
    """
    chosen = tuple(one.strip() for one in networks.split(",") if one.strip())
    for one in chosen or ("",):  # of no network at all, nothing would be shown to work
        if one not in ADAPTERS:
            raise refused("--networks", "choice", f"{one or 'nothing'} is none of {', '.join(ADAPTERS)}.")
    import_module("adsunify_server.app")  # where it is not installed, that is said before anything is shown
    progress = Progress(chosen)
    console = showing.console(stderr=as_json)
    if console.is_terminal:
        with Live(console=console, get_renderable=progress.table, refresh_per_second=4, transient=as_json):
            asyncio.run(_demo(progress))
    else:
        asyncio.run(_demo(progress))
        if not as_json:
            console.print(progress.table())
    if as_json:
        click.echo(dumps(progress.to_json()))
    for network, why in progress.failed.items():
        click.echo(f"{network} failed at {progress.running.get(network, 'connect')}: {why}", err=True)
    sys.exit(1 if progress.failed else 0)


async def _demo(progress: Progress) -> None:
    with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
        async with (
            simulation(True) as sandbox_url,
            serving(f"sqlite:///{Path(folder) / 'demo.db'}", "127.0.0.1", 0, sandbox_url=sandbox_url) as server,
        ):
            actor, token = await sandbox_admin(server)
            async with AsyncAds(server.base_url, token=token) as ads:
                for network in progress.networks:
                    await _network(progress, server, actor, ads, network)


async def _network(progress: Progress, server: Serving, actor: Actor, ads: AsyncAds, network: str) -> None:
    now = server.service.now()
    account = Account({})
    operation = Operation({})
    wanted: dict[str, Any] = {}

    async def connect() -> str:
        nonlocal account, wanted
        account = Account(await connect_one(server, actor, network))
        wanted = brief(network, account.data["currency"], account.data["timezone"], now)
        return str(account.data["nativeId"])

    async def validate() -> str:
        found = await ads.validate(account, wanted)
        return f"{len(found['plan']['steps'])} writes"

    async def create() -> str:
        nonlocal operation
        operation = await ads.create(account, wanted)
        return operation.status

    async def review() -> str:
        found = await ads.operation(operation)
        if found.status != "prepared" or not found.data["plan"]["steps"] or found.data["receipt"]["steps"]:
            raise refused("status", "unexpected", "the operation is not waiting for its review.")
        return f"risk {found.data['risk']}"

    async def execute() -> str:
        return _succeeded(await ads.execute(operation, confirmed=True))

    async def activate() -> str:
        live = await ads.activate(account, operation)
        return _succeeded(await ads.execute(live, confirmed=True))

    async def insights() -> str:
        start, end = now.date() - timedelta(days=7), now.date() - timedelta(days=1)
        query = {"startDate": str(start), "endDate": str(end)}
        async with asyncio.timeout(INSIGHTS_SECONDS):
            while True:
                answer = await ads.call("get_account_insights", path={"accountId": account.id}, query=query)
                found = answer["data"]
                if found["pending"] is None:
                    break
                await asyncio.sleep(POLL_SECONDS)
        if not found["rows"]:
            raise refused("insights", "unexpected", "no rows were reported.")
        return f"{len(found['rows'])} days"

    async def recorded() -> str:
        found = await server.service.store.read(events.latest, actor.workspace_id, 1000)
        mine = [event for event in found if event.data.get("network") == network]
        lacking = EVENTS - {event.type for event in mine}
        if lacking:
            raise refused("events", "unexpected", f"{', '.join(sorted(lacking))} were not recorded.")
        return f"{len(mine)} recorded"

    stages = (connect, validate, create, review, execute, activate, insights, recorded)
    await _run(progress, network, zip(STAGES, stages, strict=True))


def _succeeded(operation: Operation) -> str:
    if operation.status != "succeeded":
        raise refused("status", "unexpected", f"the operation is {operation.status}.")
    return "succeeded"


async def _run(progress: Progress, network: str, stages: Iterable[tuple[str, Callable[[], Awaitable[str]]]]) -> None:
    for stage, work in stages:
        progress.running[network] = stage
        try:
            progress.done[network, stage] = await work()
        except (AdsunifyError, TimeoutError) as problem:
            progress.failed[network] = str(problem) or type(problem).__name__
            return
