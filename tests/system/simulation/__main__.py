"""``python -m tests.system.simulation --executes N --seed S --processes P``; ``--replay SEED`` shows one scenario."""

from __future__ import annotations

import argparse
import sys
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context

from .work import make_scenario, plans, work
from .world import Broken


def main(arguments: list[str] | None = None) -> int:
    """Run the simulation; 0 where every execution passed."""
    parser = argparse.ArgumentParser(prog="python -m tests.system.simulation", description=__doc__)
    parser.add_argument("--executes", type=int, default=20_000, help="executions in all")
    parser.add_argument("--seed", type=int, default=1, help="the first seed")
    parser.add_argument("--processes", type=int, default=2)
    parser.add_argument("--replay", type=int, help="play the scenario of one seed and print what happens")
    chosen = parser.parse_args(arguments)
    if chosen.replay is not None:
        return replay(chosen.replay)
    started = time.monotonic()
    quota = -(-chosen.executes // chosen.processes)
    jobs = [(chosen.seed + index, chosen.processes, quota) for index in range(chosen.processes)]
    if chosen.processes == 1:
        results = [work(*jobs[0])]
    else:
        with ProcessPoolExecutor(chosen.processes, get_context("spawn")) as processes:
            results = list(processes.map(work, *zip(*jobs, strict=True)))
    for seed, reason in sorted(failure for result in results for failure in result[2]):
        print(f"failing seed {seed}: {reason}\n    python -m tests.system.simulation --replay {seed}")
    passed, failed = sum(result[0] for result in results), sum(result[1] for result in results)
    print(f"{time.monotonic() - started:.1f} s")
    print(f"{passed} passed, {failed} failed")
    return 1 if failed else 0


def replay(seed: int) -> int:
    """Print what happens in the scenario of a seed."""
    scenario = make_scenario(seed, plans(), traced=True)
    try:
        scenario.run()
    except Broken as reason:
        print("\n".join(scenario.trace or ()))
        print(f"failing seed {seed}: {reason}")
        return 1
    print("\n".join(scenario.trace or ()))
    print(f"seed {seed}: {scenario.store.status} after {scenario.executes} executions")
    return 0


if __name__ == "__main__":
    sys.exit(main())
