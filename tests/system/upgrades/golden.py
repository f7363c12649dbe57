"""Writes the golden database of a release: operations that its server has stopped at every step.

``python -m tests.system.upgrades.golden --python PYTHON --release 0.2.0`` writes ``data/0.2.0``. PYTHON is the
interpreter of an environment with that release. Write the data of a release once, when it is released: every later
version must finish what is in it. ``networks.json.gz`` is the state of the simulated networks at that moment.
"""

from __future__ import annotations

import argparse
import asyncio
import gzip
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, closing, suppress
from pathlib import Path
from typing import Any

import httpx
from attrs import define, evolve, field, frozen

from adsunify.sandbox.faults import Fault
from adsunify.sandbox.server import Sandbox, sandbox
from adsunify.service.factory import SECRET_KEYS_VARIABLE
from adsunify.values.exact_json import dumps
from tests.server.served import brief

from .servers import Place, Server, make_client, make_place, serve
from .worlds import dump_worlds

DATA = Path(__file__).parent / "data"
NETWORKS = ("meta", "google", "tiktok", "amazon", "linkedin", "x")
LONG = 600_000
"""A wait in milliseconds that nobody sits out."""


@define
class Trap:
    """Makes the next native write fail after so many writes of a network were applied."""

    state: Sandbox | None = None
    armed: dict[str, tuple[int, Fault]] = field(factory=dict)
    """The count of applied writes of a network at which its fault comes, and the fault."""

    def count(self, network: str) -> int:
        """How many writes a network has applied."""
        assert self.state is not None
        return sum(request.network == network for request in self.state.write_requests.values())

    def arm(self, network: str, after: int, fault: str, value: int | None = None) -> None:
        """Let the write fail that follows ``after`` more writes."""
        self.armed[network] = (self.count(network) + after, Fault(network, fault, None, None, value, 1))

    def see(self, method: str, host: str, target: str) -> None:
        """Look at a native request before it is handled."""
        if self.state is None or method == "GET":
            return
        for network, (count, fault) in list(self.armed.items()):
            if host in self.state.networks[network].hosts and self.count(network) == count:
                self.state.faults.pending.append(fault)
                del self.armed[network]


@frozen
class Stop:
    """A way to stop an operation: a fault of a write, and what is known about this write then."""

    name: str
    fault: str
    value: int | None = None


AFTER_EACH_STEP = Stop("handed-back", "status", 429)
"""The write is throttled, so that the operation is handed back after the steps before it."""
AT_EACH_STEP = (Stop("lost", "reset_after"), Stop("unreceived", "reset_before"), Stop("rejected", "status", 400))
IN_FLIGHT = Stop("in-flight", "latency", LONG)


@define
class Writer:
    """Prepares and stops operations. ``rows``: what is known of each."""

    client: httpx.AsyncClient
    url: str
    accounts: Mapping[str, Mapping[str, Any]]
    trap: Trap
    rows: list[dict[str, Any]] = field(factory=list)

    async def call(self, method: str, path: str, **content: Any) -> Any:
        answer = await self.client.request(method, f"{self.url}/{path}", **content)
        assert answer.status_code in (200, 201, 400), answer.text
        return answer.json().get("data")

    async def prepare(self, network: str, state: str, path: str = "create", **body: Any) -> dict[str, Any]:
        """Prepare an operation; by default a campaign. Returns its row."""
        account = self.accounts[network]
        if path == "create":
            campaign = brief(network, name=f"Golden {network} {state}")
            campaign["budget"]["currency"] = account["currency"]
            body = {"campaign": campaign}
        if not path.startswith("operations"):
            body["accountId"] = account["accountId"]
        operation = await self.call("POST", path, json=body)
        row = {
            "network": network,
            "state": state,
            "id": operation["id"],
            "steps": len(operation["plan"]["steps"]),
            "ids": [],
        }
        self.rows.append(row)
        return row

    async def execute(self, row: dict[str, Any]) -> None:
        """Execute, once, and note what was written; whatever it is answered."""
        before = self.trap.count(row["network"])
        await self.request_execution(row)
        self.note_writes(row, before)

    async def request_execution(self, row: Mapping[str, Any]) -> None:
        """Send the request to execute."""
        await self.call("POST", f"operations/{row['id']}/execute", json={"confirmed": True})

    def note_writes(self, row: dict[str, Any], before: int) -> None:
        """Note the ids that each write of the operation has touched."""
        assert self.trap.state is not None
        touched: dict[str, list[str]] = {}
        for write in self.trap.state.writes:
            if write["network"] == row["network"]:
                touched.setdefault(write["request"], []).append(write["id"])
        row["ids"] = list(touched.values())[before:]

    async def stop(self, network: str, stop: Stop, after: int) -> dict[str, Any]:
        """An operation that stops at the write after so many others."""
        row = await self.prepare(network, f"{stop.name}-{after}")
        self.trap.arm(network, after, stop.fault, stop.value)
        await self.execute(row)
        return row

    async def stop_everywhere(self, network: str) -> None:
        """An operation for each state in which a server at work leaves one."""
        steps = (await self.prepare(network, "prepared"))["steps"]
        for after in range(1, steps):
            await self.stop(network, AFTER_EACH_STEP, after)
        for stop in AT_EACH_STEP:
            for after in range(steps):
                await self.stop(network, stop, after)
        cancelled = await self.prepare(network, "cancelled")
        await self.call("POST", f"operations/{cancelled['id']}/cancel", json={})
        done = await self.prepare(network, "succeeded")
        await self.execute(done)
        await self.prepare(network, "activation", "activate", sourceOperationId=done["id"])
        if steps > 1:
            partly = await self.stop(network, evolve(AT_EACH_STEP[2], name="resumed"), steps - 1)
            await self.prepare(network, "resumption", f"operations/{partly['id']}/resume")

    async def hold(self, network: str, stop: Stop, after: int) -> tuple[dict[str, Any], asyncio.Task[None]]:
        """An operation whose write the network has applied, and does not answer."""
        row = await self.prepare(network, f"{stop.name}-{after}")
        self.trap.arm(network, after, stop.fault, stop.value)
        before = self.trap.count(network)
        task = asyncio.create_task(self.request_execution(row))
        while self.trap.count(network) <= before + after:
            await asyncio.sleep(0.01)
        self.note_writes(row, before)
        return row, task


async def write_golden(python: Path, release: str, networks: Sequence[str]) -> None:
    """Write the data of a release."""
    target = DATA / release
    target.mkdir(parents=True, exist_ok=True)
    trap = Trap()
    with tempfile.TemporaryDirectory(prefix="adsunify-") as name:
        folder = Path(name)
        async with sandbox(on_request=trap.see) as simulated:
            trap.state = simulated.state
            place = make_place(f"sqlite:///{folder / 'golden.db'}", simulated.url, "", folder)
            async with serve(python, place, "--sandbox") as server, make_client(server.ready["apiKey"]) as client:
                accounts = {account["network"]: account for account in server.ready["accounts"]}
                writer = Writer(client, server.url, accounts, trap)
                for network in networks:
                    await writer.stop_everywhere(network)
                await _hand_back(writer, server, networks)
            async with _another_server(python, place, server, writer) as second:
                await _leave_in_flight(writer, second, networks)
            at = time.time_ns() // 1_000_000
            worlds = dump_worlds(simulated.state, networks)
        _copy_database(folder / "golden.db", folder / "copy.db")
        _write(target / "database.sqlite.gz", (folder / "copy.db").read_bytes())
    facts = {"at": at, "keys": place.environment[SECRET_KEYS_VARIABLE], "operations": writer.rows}
    _write(target / "networks.json.gz", dumps(worlds).encode())
    (target / "operations.json").write_text(dumps(facts).replace('{"network"', '\n{"network"') + "\n")
    print(f"wrote {len(writer.rows)} operations into {target}")


@asynccontextmanager
async def _another_server(python: Path, place: Place, before: Server, writer: Writer) -> AsyncIterator[Server]:
    """A server after the one before; the writer uses it."""
    async with serve(python, place) as server, make_client(before.ready["apiKey"]) as client:
        writer.url, writer.client = server.url, client
        yield server


async def _hand_back(writer: Writer, server: Server, networks: Sequence[str]) -> None:
    """SIGTERM reaches the server during the first write of an operation of each network."""
    holds = [await writer.hold(network, Stop("terminated", "latency", 3_000), 0) for network in networks]
    await server.stop()
    await asyncio.gather(*(task for _, task in holds))


async def _leave_in_flight(writer: Writer, server: Server, networks: Sequence[str]) -> None:
    """The server is killed while each step of an operation of each network is in flight."""
    tasks = []
    for network in networks:
        steps = next(row["steps"] for row in writer.rows if row["network"] == network)
        for after in range(steps):
            _, task = await writer.hold(network, IN_FLIGHT, after)
            tasks.append(task)
    await server.kill()
    for task in tasks:
        with suppress(httpx.HTTPError):
            await task


def _copy_database(source: Path, target: Path) -> None:
    """One file without a log, and without free pages."""
    with closing(sqlite3.connect(source)) as connection:
        connection.execute("VACUUM INTO ?", [str(target)])


def _write(path: Path, content: bytes) -> None:
    path.write_bytes(gzip.compress(content, 9, mtime=0))


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--python", type=Path, required=True, help="the interpreter of the release")
    parser.add_argument("--release", required=True, help="the version, which names the folder")
    parser.add_argument("--network", action="append", help="only these networks")
    arguments = parser.parse_args()
    asyncio.run(write_golden(arguments.python.absolute(), arguments.release, arguments.network or NETWORKS))
