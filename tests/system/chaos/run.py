"""One run: the processes, the load, the kills, and what is true afterwards."""

from __future__ import annotations

import asyncio
import random
import signal
import sys
import time
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from attrs import define, evolve, frozen

from adsunify.sandbox.faults import Fault
from adsunify.sandbox.server import RunningSandbox, sandbox
from adsunify.service.factory import LEASE_SECONDS_VARIABLE
from tests.system.upgrades import servers

from .cluster import Cluster, make_cluster
from .fleet import SAMPLE_SECONDS, Member, describe_growth, make_servers, make_workers
from .load import Caller, Callers
from .receiving import run_receiver
from .schedule import DATABASE, SERVERS, WORKERS, Kill, plan_kills
from .verification import verify_deliveries, verify_receipts, verify_writes

NETWORKS = ("meta", "google", "tiktok", "amazon")
LAUNCHED = ("meta", "google", "tiktok")
HOOKS = ("/first", "/second")
EVENTS = ("operation.prepared", "operation.succeeded", "operation.unknown", "operation.cancelled", "operation.running")
LEASE_SECONDS = "5"
END_SECONDS = 600
SLOW_MILLISECONDS = 1_500
"""How long a network takes for some writes, so that kills meet writes in flight."""


@frozen
class Result:
    """How a run went. ``summary``: its counts."""

    summary: Mapping[str, Any]
    failures: Sequence[str]


@define
class World:
    """Everything that runs."""

    cluster: Cluster
    members: dict[str, Member]
    simulated: RunningSandbox
    chance: random.Random
    is_over: bool = False

    async def kill(self, kill: Kill) -> None:
        """Kill a victim, and start it again."""
        if kill.victim == DATABASE:
            await self.cluster.stop(kill.signal)
            await asyncio.sleep(kill.down)
            await self.cluster.start()
            return
        member = self.members[kill.victim]
        code = await member.stop(kill.signal)
        if kill.signal == signal.SIGTERM and code not in (0, -signal.SIGTERM):
            member.faults.append(f"{member.name} ended with {code} after SIGTERM")
        await asyncio.sleep(kill.down)
        await member.start()

    async def kill_until(self, seed: int, end: float) -> Counter[str]:
        """Kill by the schedule of the seed until a moment of the monotonic clock; how often each was killed."""
        kills: Counter[str] = Counter()
        for kill in plan_kills(seed):
            if time.monotonic() + kill.pause > end:
                await asyncio.sleep(max(0.0, end - time.monotonic()))
                return kills
            await asyncio.sleep(kill.pause)
            print(f"{kill.signal.name} {kill.victim}", flush=True)
            await self.kill(kill)
            kills[f"{kill.signal.name} {kill.victim}"] += 1
        raise AssertionError("the schedule has ended")

    async def watch(self) -> None:
        """Look at every process, and slow some writes down."""
        while not self.is_over:
            await asyncio.gather(*(member.sample() for member in self.members.values()))
            faults = self.simulated.state.faults.pending
            if len(faults) < len(NETWORKS):
                network = self.chance.choice(NETWORKS)
                faults.append(Fault(network, "latency", "POST", None, SLOW_MILLISECONDS, 1))
            await asyncio.sleep(SAMPLE_SECONDS)


async def run_chaos(folder: Path, minutes: float, seed: int, patience: float) -> Result:
    """Run for so many minutes. ``patience``: for how many seconds deliveries are waited for afterwards."""
    async with AsyncExitStack() as stack:
        cluster = await make_cluster(folder)
        stack.push_async_callback(_end_cluster, cluster)
        simulated = await stack.enter_async_context(sandbox())
        receiver = await stack.enter_async_context(run_receiver(seed))
        place = servers.make_place(cluster.url, simulated.url, "", folder)
        place = evolve(place, environment={**place.environment, LEASE_SECONDS_VARIABLE: LEASE_SECONDS})
        async with servers.serve(Path(sys.executable), place, "--sandbox") as first:
            ready = first.ready
        options = ("--log-level", "warning", *(f"--webhook-dev-target={receiver.url}{path}" for path in HOOKS))
        members = [*make_servers(place, SERVERS, options), *make_workers(place, WORKERS, options)]
        for member in members:
            stack.push_async_callback(_end_member, member)
            await member.start()
        for member in members[: len(SERVERS)]:
            member.keep_port()
        world = World(cluster, {member.name: member for member in members}, simulated, random.Random(seed))
        client = await stack.enter_async_context(servers.make_client(ready["apiKey"]))
        urls = [f"{member.ready['baseUrl']}{servers.PREFIX}" for member in members[: len(SERVERS)]]
        callers = Callers(client, urls, random.Random(seed))
        hooks = {}
        for path in HOOKS:
            body = {"url": f"{receiver.url}{path}", "events": list(EVENTS)}
            hooks[str((await callers.call("POST", "webhooks", body))["webhookId"])] = path
        since = time.time_ns() // 1_000_000

        accounts = {account["network"]: account for account in ready["accounts"]}
        cells = [accounts[network] for network in LAUNCHED]
        load = [Caller(callers, accounts[network], cells) for network in NETWORKS]
        stopped = asyncio.Event()
        working = asyncio.gather(*(caller.run(stopped.is_set) for caller in load), return_exceptions=True)
        stack.callback(working.cancel)
        watching = asyncio.create_task(world.watch())
        stack.callback(watching.cancel)
        kills = await world.kill_until(seed, time.monotonic() + 60 * minutes)
        world.is_over = True
        await watching
        stopped.set()
        simulated.state.faults.pending.clear()
        async with asyncio.timeout(END_SECONDS):
            ended = await working
        writes, failures = await verify_writes(cluster.url, simulated.state)
        failures += [f"a caller ended: {error!r}" for error in ended if error is not None]
        failures += await verify_receipts(callers)
        deliveries, lost = await verify_deliveries(cluster.url, receiver, hooks, set(EVENTS), since, patience)
        code, output = await servers.run(Path(sys.executable), place, "ledger", "verify", "--json")
        if code:
            failures.append(f"the ledger: {output}")
        growth, grown = describe_growth(members)
        failures += [*lost, *grown, *callers.failures]
        failures += [fault for member in members for fault in (*member.faults, *member.list_ended_jobs())]
        summary = {
            "seed": seed,
            "minutes": minutes,
            "kills": dict(kills),
            "ended before they were ready": {member.name: member.early_ends for member in members},
            "cycles": {caller.account["network"]: caller.cycles for caller in load},
            "operations": len(callers.prepared),
            "calls": dict(callers.counts),
            "ends": dict(callers.ends),
            "writes": writes,
            "receipts shown": len(callers.shown_outputs),
            "deliveries": deliveries,
            "second and last quarter of the longest lives": growth,
        }
        return Result(summary, failures)


async def _end_member(member: Member) -> None:
    await member.stop(signal.SIGTERM)


async def _end_cluster(cluster: Cluster) -> None:
    if cluster.process is not None and cluster.process.returncode is None:
        await cluster.stop(signal.SIGINT)
