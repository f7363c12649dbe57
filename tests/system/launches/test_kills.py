"""Launches whose processes are killed: each cell ends in exactly one state, and nothing is written twice.

``nox -s launches`` kills 200 processes; the ordinary run kills a few.
"""

from __future__ import annotations

import asyncio
import base64
import json
import os
import random
import signal
import time
from collections import Counter
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from attrs import define, frozen

from adsunify.actor import Actor
from adsunify.launches.states import FINAL_CELL_STATES
from adsunify.models.launch import NewLaunch
from adsunify.models.parsing import parse_model
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.sandbox.faults import Fault
from adsunify.sandbox.server import RunningSandbox, sandbox_thread
from adsunify.service.core import Service
from adsunify.service.factory import SECRET_KEYS_VARIABLE, open_service
from adsunify.service.launches import use_cases
from adsunify.service.launches.execution import STALL_LEASES
from adsunify.service.operations import read_operation
from adsunify.service.sandbox_workspace import create_sandbox_admin
from adsunify.store import Clock
from adsunify.testing.connecting import connect_sandbox_network
from tests.databases import LONG_RUN, copy_migrated_database
from tests.server.served import brief

from .child import Child, WorkerRun, run_worker

IS_LONG = os.environ.get("ADSUNIFY_LAUNCHES") == "long"
LEASE_SECONDS = 2
ENVIRONMENT = {
    SECRET_KEYS_VARIABLE: f"launch:{base64.urlsafe_b64encode(bytes(range(32))).decode().rstrip('=')}",
    "ADSUNIFY_LEASE_SECONDS": str(LEASE_SECONDS),
}
SEED = 17
CONCURRENCY = 50
ROUNDS = 3
VISIBILITY_MILLISECONDS = 1_000_000
"""How often the rest of a launch is prepared, and how much later: a network shows by then what it holds."""
REQUESTS: list[tuple[str, ...]] = []
"""What the networks were asked, in order."""
MAX_RATIO = 1.4
"""The most that 600 cells may take, in times of the networks' own time with 50 executions at a time."""


@frozen
class Scenario:
    """A launch and the kills of its processes. ``cells``: for each network.

    A kill leaves at most one cell of each network unknown, and so some cells are left for the last process.
    """

    cells: int
    kills_in_preparation: int
    kills_in_execution: int
    last_point: int
    """The last point of an execution at which its process may be killed."""


SHORT = [Scenario(3, 1, 2, 40)]
LONG = [Scenario(50, 8, 12, 2_000), *[Scenario(8, 4, 6, 300)] * 18]


@define
class Skew:
    """How far the clocks of the next process and of the networks are ahead, in milliseconds."""

    milliseconds: int = 0

    def now(self) -> datetime:
        """The networks' time."""
        return datetime.now(UTC) + timedelta(milliseconds=self.milliseconds)


@define
class Stage:
    """A database with an account on each network."""

    database: str
    sandbox: RunningSandbox
    actor: Actor
    accounts: dict[str, str]
    skew: Skew

    @asynccontextmanager
    async def open_service(self) -> AsyncIterator[Service]:
        """The service, which works on no change set."""
        clock = Clock(lambda: time.time_ns() // 1_000_000 + self.skew.milliseconds)
        opened = await open_service(self.database, ENVIRONMENT, sandbox_url=self.sandbox.url, clock=clock)
        opened.service.is_stopping = True
        try:
            yield opened.service
        finally:
            await opened.service.close()

    async def work(
        self, change_set_id: str, *, is_later: bool = True, lease_seconds: int = LEASE_SECONDS, **kill: Any
    ) -> float | None:
        """Let a process work until the change set is done. Returns the seconds taken; None if it was killed.

        ``is_later``: the leases of earlier processes have run out.
        """
        if is_later:
            self.skew.milliseconds += LEASE_SECONDS * 1000 + 1
        environment = ENVIRONMENT | {"ADSUNIFY_LEASE_SECONDS": str(lease_seconds)}
        run = WorkerRun(self.database, environment, self.sandbox.url, change_set_id, self.skew.milliseconds, **kill)
        child = Child(run_worker, run)
        taken: float | None = await asyncio.to_thread(child.join)
        assert taken is not None or child.exitcode == -signal.SIGKILL
        return taken

    def count_writes(self) -> int:
        """How many native writes the networks have applied."""
        return len(self.sandbox.state.write_requests)

    def count_entities(self, token: str) -> Counter[tuple[str, str]]:
        """How many entities have a token in what was sent of them, by network and kind."""
        return Counter(
            (code, entity.kind)
            for code, world in self.sandbox.state.worlds.items()
            for entity in world._stored_entities.values()
            if token in json.dumps(dict(entity.data), default=str)
        )


@pytest.fixture(scope="module", params=LONG_RUN)
def stage(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    """A database with an account on each network, and networks of its own."""
    database = copy_migrated_database(request.param, request, tmp_path_factory.mktemp("launches"))
    skew = Skew()
    with sandbox_thread(clock=skew.now, on_request=lambda *request: REQUESTS.append(request)) as running:
        yield asyncio.run(make_stage(database, running, skew))


async def make_stage(database: str, sandbox: RunningSandbox, skew: Skew) -> Stage:
    opened = await open_service(database, ENVIRONMENT, sandbox_url=sandbox.url)
    actor, _ = await create_sandbox_admin(opened.service)
    accounts = {}
    for network in ADAPTER_PACKAGES:
        accounts[network] = str((await connect_sandbox_network(opened.service, actor, network))["accountId"])
    while opened.service.background_tasks:
        await asyncio.wait(opened.service.background_tasks)
    await opened.service.close()
    return Stage(database, sandbox, actor, accounts, skew)


async def create_launch(stage: Stage, number: int, cells: int) -> str:
    """A launch that no process prepares yet. The names of its cells are unique in all launches."""
    accounts = [
        {
            "accountId": stage.accounts[network],
            "key": f"{network}-{n}",
            "campaign": brief(network, name=make_token(number, network, n)),
        }
        for n in range(cells)
        for network in ADAPTER_PACKAGES
    ]
    launch = parse_model(NewLaunch, {"name": f"Launch {number}", "campaign": {}, "accounts": accounts})
    async with stage.open_service() as service:
        created = await use_cases.create_launch(service, stage.actor, launch=launch, idempotency=None)
        return str(created.data["launchId"])


def make_token(number: int, network: str, n: int) -> str:
    return f"Q{number:03}{n:03}{list(ADAPTER_PACKAGES).index(network):02}Q"


async def read_launch(stage: Stage, launch_id: str) -> dict[str, Any]:
    async with stage.open_service() as service:
        launch: dict[str, Any] = await use_cases.get_launch(service, stage.actor, launch_id=launch_id)
        return launch


async def run_scenario(stage: Stage, number: int, scenario: Scenario, chance: random.Random) -> Counter[str]:
    """Prepare and execute a launch while its processes are killed. Returns how many cells are in each state."""
    launch_id = await create_launch(stage, number, scenario.cells)
    (change_set,) = (await read_launch(stage, launch_id))["changeSets"]
    for _ in range(scenario.kills_in_preparation):
        await stage.work(change_set["id"], kill_after=chance.uniform(0.05, 0.1 * scenario.cells + 0.5))
    await stage.work(change_set["id"])
    prepared = await read_launch(stage, launch_id)
    assert prepared["status"] == "prepared", [cell["issues"] for cell in prepared["cells"] if cell["issues"]]
    assert Counter(cell["state"] for cell in prepared["cells"]) == {"prepared": len(prepared["cells"])}
    (change_set,) = prepared["changeSets"]

    before = stage.count_writes()
    confirmed = {"confirmed": True, "digest": change_set["digest"]}
    async with stage.open_service() as service:
        await use_cases.execute_change_set(service, stage.actor, change_set_id=change_set["id"], **confirmed)
    for _ in range(scenario.kills_in_execution):
        await stage.work(change_set["id"], kill_at=chance.randint(1, scenario.last_point), writes_per_network=1)
    stage.skew.milliseconds += STALL_LEASES * LEASE_SECONDS * 1000  # nobody waits for what the dead have in flight
    await stage.work(change_set["id"])
    writes_after = stage.count_writes()
    done = await read_launch(stage, launch_id)
    assert done["status"] == "finished"
    states = Counter(cell["state"] for cell in done["cells"])
    errors = [
        (operation["key"], operation["error"])
        for operation in done["changeSets"][0]["operations"]
        if "error" in operation
    ]
    assert set(states) <= FINAL_CELL_STATES and not errors, (states, errors)
    await check_writes(stage, number, done, writes_after - before)

    async with stage.open_service() as service:
        await use_cases.execute_change_set(service, stage.actor, change_set_id=change_set["id"], **confirmed)
    await stage.work(change_set["id"])
    assert stage.count_writes() == writes_after and (await read_launch(stage, launch_id)) == done
    if IS_LONG:
        await prepare_rest(stage, number, launch_id)
    return states


async def prepare_rest(stage: Stage, number: int, launch_id: str) -> None:
    """Prepare and execute what the kills left, until nothing is in doubt: each cell is then created exactly once."""
    for _ in range(ROUNDS):
        stage.skew.milliseconds += VISIBILITY_MILLISECONDS
        async with stage.open_service() as service:
            created = await use_cases.prepare_again(service, stage.actor, launch_id=launch_id, idempotency=None)
        change_set_id = created.data["id"]
        await stage.work(change_set_id)
        async with stage.open_service() as service:
            prepared = await use_cases.get_change_set(service, stage.actor, change_set_id=change_set_id)
            if prepared["status"] == "prepared":
                await use_cases.execute_change_set(
                    service, stage.actor, change_set_id=change_set_id, confirmed=True, digest=prepared["digest"]
                )
        await stage.work(change_set_id)
    launch = await read_launch(stage, launch_id)
    states = Counter(cell["state"] for cell in launch["cells"])
    print(f"and then: {dict(states)}")
    check_entities(stage, number, launch)
    assert set(states) <= {"succeeded", "unknown"}, [cell for cell in launch["cells"] if cell["state"] != "succeeded"]


async def check_writes(stage: Stage, number: int, launch: dict[str, Any], write_count: int) -> None:
    """The writes are those of the receipts and of the attempts in doubt, each once; no cell has an entity twice."""
    applied = doubtful = 0
    async with stage.open_service() as service:
        for cell in launch["cells"]:
            record, attempts = await read_operation(service, stage.actor, cell["operationId"])
            steps = len(record.read_plan().steps)
            sure = sum(attempt.is_applied for attempt in attempts)
            applied, doubtful = applied + sure, doubtful + sum(attempt.may_be_applied for attempt in attempts) - sure
            assert cell["state"] != "succeeded" or sure == steps, cell
            assert cell["state"] != "unknown" or sure < steps, cell
    assert applied <= write_count <= applied + doubtful, (applied, write_count, doubtful)
    check_entities(stage, number, launch)


def check_entities(stage: Stage, number: int, launch: dict[str, Any]) -> None:
    """The cells of a network that succeeded have the same entities, and the others have no more of them."""
    whole: dict[str, Counter[tuple[str, str]]] = {}
    for cell in sorted(launch["cells"], key=lambda cell: str(cell["state"] != "succeeded")):
        entities = stage.count_entities(make_token(number, cell["network"], int(cell["key"].rpartition("-")[2])))
        if cell["state"] == "succeeded":
            assert entities == whole.setdefault(cell["network"], entities), cell
        elif cell["network"] in whole:
            assert entities <= whole[cell["network"]], cell


async def test_each_cell_ends_in_one_state_although_processes_are_killed(stage: Stage) -> None:
    chance = random.Random(SEED)
    total: Counter[str] = Counter()
    for number, scenario in enumerate(LONG if IS_LONG else SHORT):
        total += await run_scenario(stage, number, scenario, chance)
    kills = sum(
        scenario.kills_in_preparation + scenario.kills_in_execution for scenario in (LONG if IS_LONG else SHORT)
    )
    print(f"{kills} kills: {dict(total)}")
    assert total["succeeded"]


async def test_a_process_that_loses_its_lease_and_goes_on_writes_nothing_twice(stage: Stage) -> None:
    """It hangs for longer than its lease, and another process ends its work. Then it goes on where it was."""
    chance = random.Random(SEED)
    total: Counter[str] = Counter()
    for number in range(800, 820 if IS_LONG else 801):
        launch_id = await create_launch(stage, number, 2)
        (change_set,) = (await read_launch(stage, launch_id))["changeSets"]
        await stage.work(change_set["id"])
        (change_set,) = (await read_launch(stage, launch_id))["changeSets"]
        before = stage.count_writes()
        async with stage.open_service() as service:
            await use_cases.execute_change_set(
                service, stage.actor, change_set_id=change_set["id"], confirmed=True, digest=change_set["digest"]
            )
        REQUESTS.clear()
        pause_at = chance.randint(40, 250)
        first = asyncio.create_task(stage.work(change_set["id"], pause_at=pause_at, lease_seconds=1))
        while len(REQUESTS) < len(ADAPTER_PACKAGES):
            await asyncio.sleep(0.01)
        await asyncio.gather(first, stage.work(change_set["id"], is_later=False, lease_seconds=1))
        done = await read_launch(stage, launch_id)
        await check_writes(stage, number, done, stage.count_writes() - before)
        assert done["status"] == "finished"
        total.update(cell["state"] for cell in done["cells"])
    print(f"after pauses: {dict(total)}")
    assert total["succeeded"] and set(total) <= FINAL_CELL_STATES, total


async def test_cells_take_little_more_than_the_networks_need(stage: Stage) -> None:
    """Each request takes the network a second. ``nox -s launches`` measures 600 cells and holds the ratio."""
    sandbox = stage.sandbox
    cells, latency = (50, 1000) if IS_LONG else (1, 10)
    launch_id = await create_launch(stage, 900, cells)
    (change_set,) = (await read_launch(stage, launch_id))["changeSets"]
    planning = await stage.work(change_set["id"])
    started = time.monotonic()
    (change_set,) = (await read_launch(stage, launch_id))["changeSets"]
    reading = time.monotonic() - started
    for network in ADAPTER_PACKAGES:
        sandbox.state.faults.pending.append(Fault(network, "latency", None, None, latency, 1_000_000))
    REQUESTS.clear()
    async with stage.open_service() as service:
        await use_cases.execute_change_set(
            service, stage.actor, change_set_id=change_set["id"], confirmed=True, digest=change_set["digest"]
        )
    taken = await stage.work(change_set["id"])
    sandbox.state.faults.pending.clear()
    own = len(REQUESTS) * latency / 1000 / CONCURRENCY
    assert taken is not None and planning is not None
    count = len(ADAPTER_PACKAGES) * cells
    print(f"{count} cells: planned {planning:.1f} s, read {reading:.2f} s, executed {taken:.1f} s, own {own:.1f} s")
    print(f"ratio {taken / own:.2f}")
    states = Counter(cell["state"] for cell in (await read_launch(stage, launch_id))["cells"])
    assert states == {"succeeded": count}
    assert not IS_LONG or taken / own <= MAX_RATIO
