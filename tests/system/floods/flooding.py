"""A server in a process of its own, beside simulated networks in another; floods of requests, and what they cost it."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
from collections import Counter
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import aiohttp
from attrs import define, field

PREFIX = "/api/v1/ads"
AT_ONCE = 16
"""So many requests of a flood are under way at a time."""


@contextmanager
def process(folder: Path, *arguments: str, **environment: str) -> Iterator[tuple[subprocess.Popen[str], Any]]:
    """A command of ours until the end of the block, and the line of JSON that it says when it is ready."""
    command = [sys.executable, "-m", "adsunify", *arguments, "--port", "0", "--json"]
    with subprocess.Popen(
        command, cwd=folder, env={**os.environ, **environment}, stdout=subprocess.PIPE, text=True
    ) as child:
        assert child.stdout is not None
        try:
            yield child, json.loads(child.stdout.readline())
        finally:
            child.terminate()


@define
class Flooded:
    """The server under a flood. ``waits``: seconds that each of the good requests beside the last one took, sorted."""

    http: aiohttp.ClientSession
    address: str
    sandbox: str
    pid: int
    token: str
    accounts: Mapping[str, str]
    waits: list[float] = field(factory=list)

    def resident(self) -> int:
        """KiB of memory that the server holds now."""
        for line in Path(f"/proc/{self.pid}/status").read_text().splitlines():
            if line.startswith("VmRSS:"):
                return int(line.split()[1])
        raise AssertionError("the server is gone")

    async def good(self, method: str, path: str, body: Any = None) -> Any:
        """The data of a good answer to a request with a good token."""
        headers = {"Authorization": f"Bearer {self.token}"}
        async with self.http.request(method, PREFIX + path, json=body, headers=headers) as answer:
            answer_body = await answer.json()
            assert answer.status in (200, 201), answer_body
            return answer_body["data"]

    async def status(self, method: str, path: str, **more: Any) -> int:
        """The status of an answer."""
        async with self.http.request(method, path, **more) as answer:
            await answer.read()
            return answer.status

    async def flood(self, count: int, ask: Callable[[int], Awaitable[int]], at_once: int = AT_ONCE) -> Counter[int]:
        """Ask so often, several at a time, while good requests go on; how often which status was answered."""
        statuses: Counter[int] = Counter()
        numbers = iter(range(count))

        async def ask_in_turn() -> None:
            for number in numbers:
                statuses[await ask(number)] += 1

        watcher = await asyncio.create_subprocess_exec(
            *(sys.executable, "-m", "tests.system.floods.watching", self.address),
            stdin=asyncio.subprocess.PIPE,
            stdout=asyncio.subprocess.PIPE,
        )
        assert watcher.stdin is not None and watcher.stdout is not None
        watcher.stdin.write(f"{self.token}\n".encode("ascii"))
        await watcher.stdout.readline()
        await asyncio.gather(*(ask_in_turn() for _ in range(at_once)))
        watcher.stdin.close()
        output, _ = await watcher.communicate()
        assert watcher.returncode == 0
        self.waits = sorted(json.loads(output))
        return statuses

    def slowest(self) -> float:
        """The 99th percentile of the good requests' times beside the last flood, in seconds."""
        return self.waits[int(len(self.waits) * 0.99)]


@asynccontextmanager
async def run_flooded_server(folder: Path, **environment: str) -> AsyncIterator[Flooded]:
    """A server with its ordinary limits but those of a credential: good requests are many here, too.

    ``environment``: more settings of the server.
    """
    with ExitStack() as running:
        _, sandbox = running.enter_context(process(folder, "sandbox"))
        server, ready = running.enter_context(
            process(
                folder,
                *("serve", "--sandbox", "--database", "sqlite:///floods.db", "--log-level", "error"),
                ADSUNIFY_SANDBOX_URL=sandbox["sandboxUrl"],
                ADSUNIFY_READS_PER_MINUTE="0",
                ADSUNIFY_WRITES_PER_MINUTE="0",
                **environment,
            )
        )
        connector = aiohttp.TCPConnector(limit=2 * AT_ONCE + 60)
        async with aiohttp.ClientSession(ready["baseUrl"], connector=connector) as http:
            accounts = {account["network"]: account["accountId"] for account in ready["accounts"]}
            address = ready["baseUrl"].removeprefix("http://")
            yield Flooded(http, address, sandbox["sandboxUrl"], server.pid, ready["apiKey"], accounts)
