"""The long runs of webhooks: ``python -m tests.system.webhooks [--mutations N] [--events N] [--kills N]``.

A million changed deliveries; four thousand events through workers that are killed at every point, on both engines;
fifty receivers that never answer beside fifty that do.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import time

from tests.performance.processes import databases

from .crashing import crash_workers
from .fairness import fairness
from .mutations import verify_mutations
from .world import open_world

WORKERS = {"sqlite": 2, "postgresql": 4}
MOST = 1.10
"""By how much the slow receivers may prolong what the good ones wait."""


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.system.webhooks", description=__doc__)
    parser.add_argument("--mutations", type=int, default=1_000_000)
    parser.add_argument("--events", type=int, default=4_000)
    parser.add_argument("--kills", type=int, default=25)
    parser.add_argument("--receivers", type=int, default=50)
    parser.add_argument("--rounds", type=int, default=4)
    parser.add_argument("--seed", type=int, default=time.time_ns())
    options = parser.parse_args()
    _say("changed deliveries", {"seed": options.seed, **verify_mutations(options.mutations, options.seed)})
    with databases() as urls:
        for engine, url in urls.items():
            _say(f"killed workers, {engine}", asyncio.run(_crash_workers(url, engine, options.events, options.kills)))
            ratios = asyncio.run(_fairness(url, options.receivers, options.rounds))
            _say(f"{options.receivers} slow beside {options.receivers} good, {engine}", ratios)
            if min(ratios["best"], ratios["paired"]) > MOST:
                raise SystemExit(f"the good receivers wait more than {MOST:.2f} times as long")


async def _crash_workers(url: str, engine: str, events: int, kills: int) -> dict[str, int]:
    async with open_world(url) as shop:
        return await crash_workers(shop, url, events, WORKERS[engine], kills, after=40)


async def _fairness(url: str, receivers: int, rounds: int) -> dict[str, float]:
    async with open_world(url) as shop:
        return await fairness(shop, receivers, receivers, rounds)


def _say(what: str, figures: object) -> None:
    print(f"{what}: {json.dumps(figures)}", flush=True)


if __name__ == "__main__":
    main()
