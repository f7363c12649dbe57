"""A version is replaced by this one while both serve one database; the result is held against what was written."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

from attrs import frozen

from adsunify.sandbox.faults import Fault
from adsunify.sandbox.server import RunningSandbox, sandbox
from adsunify.store.migrate import HEAD_VERSION
from tests.server.served import brief
from tests.system.webhooks.receiving import Receiver, run_receiver

from .load import Fleet, Worker
from .servers import Place, Server, make_client, make_place, run, serve

THIS = Path(sys.executable)
APART = "linkedin"
"""The network of the operation that the older version leaves half done, and of the launch: no worker uses it."""
PATIENCE_SECONDS = 120


@frozen
class Replaced:
    """How it went.

    Attributes:
        requests: by version.
        pairs: how many pairs of servers prepared and executed an operation.
        native_writes: how many writes the networks applied; ``receipts``: how many steps have the receipt of one.
    """

    requests: Mapping[str, int]
    pairs: int
    operations: int
    native_writes: int
    receipts: int
    notifications: int
    failures: Sequence[str]


async def replace_version(database: str, older: Path, folder: Path, networks: Sequence[str], cycles: int) -> Replaced:
    """Replace the version of ``older`` under load. ``cycles``: how often each caller works while both serve."""
    async with AsyncExitStack() as stack:
        simulated = await stack.enter_async_context(sandbox())
        receiver = await stack.enter_async_context(run_receiver())
        place = make_place(database, simulated.url, receiver.url, folder)
        first = await stack.enter_async_context(serve(older, place, "--sandbox"))
        accounts = {account["network"]: account for account in first.ready["accounts"]}
        client = await stack.enter_async_context(make_client(first.ready["apiKey"]))
        fleet = Fleet(client, [first.url])
        hook = {"url": receiver.url}
        await fleet.call(first.url, "POST", "webhooks", 201, json=hook)

        stopped = asyncio.Event()
        workers = [Worker(fleet, accounts[network]) for network in networks]
        load = asyncio.gather(*(worker.run(stopped.is_set) for worker in workers))
        stack.callback(load.cancel)
        await _wait_for_cycles(load, workers, 1)
        await _upgrade(place, fleet)
        second = await stack.enter_async_context(serve(THIS, place))
        fleet.urls.append(second.url)
        await _wait_for_cycles(load, workers, cycles)
        await _launch(fleet, second, accounts[APART])
        await _replace(fleet, first, second, simulated, accounts[APART])
        await _wait_for_cycles(load, workers, 1)
        stopped.set()
        await load
        receipts = await _count_receipts(fleet)
        writes_by_request = Counter(row["request"] for row in simulated.state.writes)
        await _wait_for_notifications(fleet, receiver)
        code, output = await run(THIS, place, "ledger", "verify", "--json")
        if code:
            fleet.failures.append(f"the ledger: {output}")
        labels = {first.url: "older", second.url: "newer"}
        return Replaced(
            {labels[url]: count for url, count in fleet.answered.items()},
            len(fleet.pairs),
            len(fleet.operations),
            len(writes_by_request),
            receipts,
            len(receiver.got),
            fleet.failures,
        )


async def _wait_for_cycles(load: asyncio.Future[Any], workers: Sequence[Worker], count: int) -> None:
    """Wait until each worker has done so many more cycles; raises what a worker raised."""
    until = [worker.cycles + count for worker in workers]
    while any(worker.cycles < target for worker, target in zip(workers, until, strict=True)):
        if load.done():
            load.result()
        await asyncio.sleep(0.01)


async def _upgrade(place: Place, fleet: Fleet) -> None:
    """This version upgrades the database while the older one serves."""
    code, _ = await run(THIS, place, "db", "upgrade", "--check")
    assert code == 3, "the database is not at an older version"
    code, output = await run(THIS, place, "db", "upgrade")
    assert code == 0, output
    code, output = await run(THIS, place, "db", "upgrade", "--check")
    assert code == 0 and HEAD_VERSION in output, output


async def _launch(fleet: Fleet, newer: Server, account: Mapping[str, Any]) -> None:
    """What only the newer version has is written, and the older one reads the operations and the ledger of it."""
    campaign = brief(account["network"], name="Upgrade of a launch")
    cell = {"accountId": account["accountId"], "campaign": campaign}
    body = {"name": "Upgrade", "campaign": {}, "accounts": [cell]}
    launch = await fleet.call(newer.url, "POST", "launches", 201, json=body)
    path = f"launches/{launch['launchId']}"
    launch = await _wait_for_status(fleet, newer, path, "prepared")
    confirmed = {"confirmed": True, "digest": launch["changeSets"][-1]["digest"]}
    await fleet.call(newer.url, "POST", f"{path}/execute", 202, json=confirmed)
    launch = await _wait_for_status(fleet, newer, path, "finished")
    (cell,) = launch["cells"]
    fleet.operations.append(cell["operationId"])
    for url in fleet.urls:
        operation = await fleet.call(url, "GET", f"operations/{cell['operationId']}", 200)
        assert operation["status"] == "succeeded", operation
        await fleet.call(url, "GET", "ledger", 200)


async def _wait_for_status(fleet: Fleet, server: Server, path: str, status: str) -> Any:
    async with asyncio.timeout(PATIENCE_SECONDS):
        while (launch := await fleet.call(server.url, "GET", path, 200))["status"] != status:
            await asyncio.sleep(0.05)
    return launch


async def _replace(
    fleet: Fleet, older: Server, newer: Server, simulated: RunningSandbox, account: Mapping[str, Any]
) -> None:
    """SIGTERM reaches the older server between two native writes of an operation; the newer one carries it on."""
    campaign = brief(account["network"], name="Upgrade between two steps")
    body = {"accountId": account["accountId"], "campaign": campaign}
    operation_id = await fleet.prepare((older.url, newer.url), "create", body)
    before = len(simulated.state.write_requests)
    simulated.state.faults.pending.append(Fault(account["network"], "latency", "POST", None, 1_000, 1))
    path = f"operations/{operation_id}/execute"
    executing = asyncio.create_task(fleet.call(older.url, "POST", path, 200, json={"confirmed": True}))
    while account["network"] not in [
        request.network for request in list(simulated.state.write_requests.values())[before:]
    ]:
        await asyncio.sleep(0.005)
    fleet.urls.remove(older.url)
    await older.stop()
    operation = await executing
    applied = [step["state"] for step in operation["receipt"]["steps"]]
    assert (operation["status"], operation.get("nextAction"), applied) == ("prepared", "execute", ["applied"]), (
        operation
    )
    assert (await fleet.execute(newer.url, operation_id))["status"] == "succeeded"


async def _count_receipts(fleet: Fleet) -> int:
    """How many steps the receipts show as applied. Each step of each plan has exactly one, with entities of its own."""
    created: set[str] = set()
    receipts = 0
    for operation_id in fleet.operations:
        operation = await fleet.call(fleet.urls[0], "GET", f"operations/{operation_id}", 200)
        planned = [step["key"] for step in operation["plan"]["steps"]]
        applied = [step["key"] for step in operation["receipt"]["steps"] if step["state"] == "applied"]
        if applied != planned or operation["status"] != "succeeded":
            fleet.failures.append(f"{operation_id} is {operation['status']}: planned {planned}, applied {applied}")
        if operation["action"] == "create":
            ids = {
                f"{operation['network']} {step['outputs'][name]}"
                for step in operation["receipt"]["steps"]
                for name in step["outputs"]
            }
            if ids & created:
                fleet.failures.append(f"{operation_id} has the entities {ids & created} of another operation")
            created |= ids
        receipts += len(applied)
    return receipts


async def _wait_for_notifications(fleet: Fleet, receiver: Receiver) -> None:
    """Each operation was announced as prepared once and as succeeded once; a notification may arrive twice."""
    expected = {
        (operation, f"operation.{what}") for operation in fleet.operations for what in ("prepared", "succeeded")
    }
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not expected <= {
            (received.event["data"]["operationId"], received.event["type"]) for received in receiver.got
        }:
            await asyncio.sleep(0.05)
    events = {
        received.event_id: (received.event["data"]["operationId"], received.event["type"]) for received in receiver.got
    }
    announcements = Counter(events.values())
    fleet.failures += [
        f"{what} was announced {announcements[what]} times" for what in expected if announcements[what] != 1
    ]
