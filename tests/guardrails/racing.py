"""Processes that claim operations of one workspace at the same time. Some of them are killed and replaced."""

from __future__ import annotations

import asyncio
import os
import random
import signal
from collections import Counter
from collections.abc import Sequence
from multiprocessing.connection import Connection as Pipe

from attrs import evolve, frozen

from adsunify.actor import Actor
from adsunify.execution.state import Intent, Receipt, StateCommit
from adsunify.guardrails.windows import SpendBinding
from adsunify.store import Store, open_store
from adsunify.store.state_commits import commit_state
from tests.system.crash.child import Child

CONCURRENT_CLAIMS = 16
KEY = "campaign"


@frozen
class Race:
    """What each process needs: the operations are claimed in this order.

    Attributes:
        bindings: what each operation takes.
        rejected: the operations that the network rejects after their claim, so that they give back.
        kills: after so many commits the process kills itself; None means never.
    """

    url: str
    actor: Actor
    bindings: dict[str, SpendBinding]
    rejected: frozenset[str]
    kills: int | None = None


async def claim_operation(store: Store, race: Race, operation_id: str) -> str | None:
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


async def race_claims(pipe: Pipe, race: Race) -> Counter[str | None]:
    """Claim all operations, many at a time; how often each refusal was met."""
    store = await open_store(race.url)
    gate = asyncio.Semaphore(CONCURRENT_CLAIMS)

    async def claim(operation_id: str) -> str | None:
        async with gate:
            if race.kills is not None and store.commit_count >= race.kills:
                os.kill(os.getpid(), signal.SIGKILL)
            return await claim_operation(store, race, operation_id)

    pipe.send("ready")
    pipe.recv()
    refusals = Counter(await asyncio.gather(*(claim(id_) for id_ in race.bindings)))
    await store.close()
    return refusals


async def run_processes(races: Sequence[Race], kills_each: int, dice: random.Random) -> Counter[str | None]:
    """Run a process for each race at the same time; killed ones are replaced ``kills_each`` times."""
    refusals: Counter[str | None] = Counter()

    def start(race: Race, kills: int) -> Child:
        limit = dice.randrange(2, max(3, len(race.bindings) // 2)) if kills else None
        return Child(race_claims, evolve(race, kills=limit))

    async def run(race: Race, child: Child) -> None:
        for kills in range(kills_each, -1, -1):
            if kills < kills_each:
                child = await asyncio.to_thread(start, race, kills)
                await asyncio.to_thread(child.pipe.recv)
            child.pipe.send("go")
            counts = await asyncio.to_thread(child.join)
            if counts is not None:
                refusals.update(counts)
                return
            assert kills, "a process that nobody killed has ended"

    children = [start(race, kills_each) for race in races]
    for child in children:
        await asyncio.to_thread(child.pipe.recv)
    await asyncio.gather(*(run(race, child) for race, child in zip(races, children, strict=True)))
    return refusals
