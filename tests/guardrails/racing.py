"""Processes that claim or execute operations of one workspace at the same time. They are killed and replaced."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Callable, Coroutine, Sequence
from multiprocessing.connection import Connection as Pipe
from typing import Any, TypeVar

from attrs import evolve, frozen

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError
from adsunify.execution.executor import KillPoint
from adsunify.execution.state import Intent, Receipt, StateCommit
from adsunify.guardrails.windows import SpendBinding
from adsunify.service import operations
from adsunify.store import Store, open_store
from adsunify.store.state_commits import commit_state
from tests.system.crash.child import Child, Job, open_job

CONCURRENT_CLAIMS = 16
CONCURRENT_EXECUTIONS = 4
"""Each needs connections for reads and for writes: 8 processes must stay below what PostgreSQL admits."""
KEY = "campaign"


@frozen
class ClaimRace:
    """What each process needs to claim operations through the store.

    Attributes:
        bindings: what each operation takes. The operations are claimed in this order.
        rejected: the operations that the network rejects after their claim, so that they give back.
        dies_after: after so many commits the process kills itself; None means never.
    """

    url: str
    actor: Actor
    bindings: dict[str, SpendBinding]
    rejected: frozenset[str]
    dies_after: int | None = None

    @property
    def size(self) -> int:
        """The number of operations."""
        return len(self.bindings)


@frozen
class ExecutionRace:
    """What each process needs to execute operations through the service, against the simulated networks.

    After ``dies_after`` points of persistence the process kills itself; None means never.
    """

    job: Job
    operation_ids: tuple[str, ...]
    dies_after: int | None = None

    @property
    def size(self) -> int:
        """The number of operations."""
        return len(self.operation_ids)


AnyRace = TypeVar("AnyRace", ClaimRace, ExecutionRace)
Refusals = Counter[str | None]
"""How often each refusal was met; None for what ran."""


async def claim_operation(store: Store, race: ClaimRace, operation_id: str) -> str | None:
    """Claim an operation and end it; the refusal of the claim, None if it ran."""
    intent = Intent(0, KEY, 1, {"method": "POST", "url": "https://graph.example"})
    claim = StateCommit(operation_id, None, intent=intent, trigger="claim")
    binding = race.bindings[operation_id]
    claimed = await store.write(commit_state, claim, race.actor, store.clock, binding=binding)
    if claimed.refusal is None:
        is_rejected = operation_id in race.rejected
        receipt = Receipt(0, KEY, 1, "rejected" if is_rejected else "applied", http_status=200)
        end = StateCommit(operation_id, claimed.fence, receipt, trigger="hand_back" if is_rejected else "succeed")
        assert (await store.write(commit_state, end, race.actor, store.clock)).refusal is None
    return claimed.refusal


async def race_claims(pipe: Pipe, race: ClaimRace) -> Refusals:
    """Claim all operations, many at a time."""
    store = await open_store(race.url)
    gate = asyncio.Semaphore(CONCURRENT_CLAIMS)

    async def claim(operation_id: str) -> str | None:
        async with gate:
            if race.dies_after is not None and store.commit_count >= race.dies_after:
                os.kill(os.getpid(), signal.SIGKILL)
            return await claim_operation(store, race, operation_id)

    pipe.send("ready")
    pipe.recv()
    refusals = Counter(await asyncio.gather(*(claim(id_) for id_ in race.bindings)))
    await store.close()
    return refusals


async def race_executions(pipe: Pipe, race: ExecutionRace) -> Refusals:
    """Execute all operations, many at a time."""
    gate = asyncio.Semaphore(CONCURRENT_EXECUTIONS)
    points = 0

    def pass_point(point: KillPoint) -> None:
        nonlocal points
        points += 1
        if points == race.dies_after:
            os.kill(os.getpid(), signal.SIGKILL)

    async with open_job(race.job) as service:
        service.kill_point_hook = pass_point

        async def execute(operation_id: str) -> str | None:
            async with gate:
                try:
                    executed = await operations.execute_operation(
                        service, race.job.actor, operation_id=operation_id, confirmed=True
                    )
                except AdsunifyError as refusal:
                    return refusal.code
                return None if executed["status"] == "succeeded" else str(executed["status"])

        pipe.send("ready")
        pipe.recv()
        return Counter(await asyncio.gather(*(execute(id_) for id_ in race.operation_ids)))


def receive(child: Child) -> Refusals | None:
    """Wait for the result of a process; None if it was killed."""
    try:
        refusals: Refusals = child.pipe.recv()
    except (EOFError, ConnectionResetError):
        return None
    return refusals


async def run_processes(
    work: Callable[[Pipe, AnyRace], Coroutine[Any, Any, Refusals]],
    races: Sequence[AnyRace],
    kills_each: int,
    dice: random.Random,
) -> Refusals:
    """Run a process for each race at the same time; each is killed and replaced ``kills_each`` times.

    Processes are started and joined in one thread, because each start looks for the ends of all others.
    """
    refusals: Refusals = Counter()

    def start(race: AnyRace, has_to_die: bool) -> Child:
        return Child(work, evolve(race, dies_after=dice.randrange(2, max(3, race.size // 2)) if has_to_die else None))

    async def run(race: AnyRace, child: Child) -> None:
        for kills_left in range(kills_each, -1, -1):
            if kills_left < kills_each:
                child = start(race, kills_left > 0)
                await asyncio.to_thread(child.pipe.recv)
            child.pipe.send("go")
            counts = await asyncio.to_thread(receive, child)
            child.join()
            if counts is not None:  # it came to its end before it was to die
                refusals.update(counts)
                return
            assert kills_left, "a process that nobody killed has ended"

    children = [start(race, kills_each > 0) for race in races]
    for child in children:
        await asyncio.to_thread(child.pipe.recv)
    await asyncio.gather(*(run(race, child) for race, child in zip(races, children, strict=True)))
    return refusals
