"""Plays scenarios, one after the other; what one process of the simulation does."""

from __future__ import annotations

import sys
from random import Random

from adsunify.plans.records import Plan

from .plans import plan
from .scenario import Scenario
from .world import Broken

PLANS = 400
MOST_FAILURES = 20


def plans() -> list[Plan]:
    """The plans that scenarios choose from: always the same ones, so that a seed means the same scenario."""
    random = Random(0)
    return [plan(random) for _ in range(PLANS)]


def make_scenario(seed: int, pool: list[Plan], traced: bool = False) -> Scenario:
    """The scenario of a seed."""
    random = Random(seed)
    return Scenario(random.choice(pool), random, traced)


def work(first: int, stride: int, quota: int) -> tuple[int, int, list[tuple[int, str]]]:
    """Play scenarios until ``quota`` executions are done: passed and failed executions, failing seeds with reasons."""
    pool = plans()
    passed = failed = 0
    broken: list[tuple[int, str]] = []
    seed = first
    while passed + failed < quota:
        scenario = make_scenario(seed, pool)
        try:
            scenario.run()
        except Broken as reason:
            broken.append((seed, str(reason)))
            failed += max(1, scenario.executes)
            if len(broken) > MOST_FAILURES:
                break
        except BaseException:
            print(f"failing seed {seed}", file=sys.stderr)
            raise
        else:
            passed += scenario.executes
        seed += stride
    return passed, failed, broken
