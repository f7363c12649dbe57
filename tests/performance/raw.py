"""Statements on PostgreSQL without a server, over connections that are kept open: what one more process can add.

A process that the benchmark starts. It takes the URL of a database, prints ``{}`` when it is connected, and ends when
its input ends. It answers each JSON line ``{"statement", "seconds"}`` with ``{"count", "seconds"}``: so many
executions, each in a transaction of its own.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Mapping, Sequence
from typing import Any

import asyncpg

CONNECTIONS = 4


async def main(url: str) -> None:
    """Answer the questions of the benchmark."""
    connections = [await asyncpg.connect(url) for _ in range(CONNECTIONS)]
    print(json.dumps({}), flush=True)
    while line := await asyncio.to_thread(sys.stdin.readline):
        print(json.dumps(await run_round(connections, json.loads(line))), flush=True)


async def run_round(connections: Sequence[Any], question: Mapping[str, Any]) -> dict[str, Any]:
    """Execute the statement on all connections until the time is over."""
    began = time.perf_counter()
    end = began + question["seconds"]

    async def execute(connection: Any) -> int:
        prepared = await connection.prepare(question["statement"])
        count = 0
        while time.perf_counter() < end:
            await prepared.fetch()
            count += 1
        return count

    counts = await asyncio.gather(*map(execute, connections))
    return {"count": sum(counts), "seconds": time.perf_counter() - began}


if __name__ == "__main__":
    asyncio.run(main(sys.argv[1]))
