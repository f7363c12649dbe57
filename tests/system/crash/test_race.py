"""O3: processes race to execute the same operations: one process claims each, and the others are refused."""

from __future__ import annotations

import asyncio
import hashlib
from multiprocessing.connection import Connection as Pipe

from adsunify.service import operations as use
from adsunify.store import events, operations
from adsunify.values.exact_json import dumps_canonical

from .child import Child, Job, open_job
from .stage import FORMATS, Stage, collect_ids

OPERATIONS = 200
PROCESSES = {"sqlite": (2, 5), "postgresql": (4, 2)}
"""How many processes, and how often each executes each operation."""
AT_ONCE = 40
Answers = dict[str, list[str]]


async def race_executions(pipe: Pipe, job: Job, operation_ids: list[str], times: int) -> Answers:
    """Execute every operation several times at once; the receipt's digest, or the status, of each call."""
    gate = asyncio.Semaphore(AT_ONCE)
    async with open_job(job) as service:

        async def call(operation_id: str) -> str:
            async with gate:
                operation_data = await use.execute_operation(
                    service, job.actor, operation_id=operation_id, confirmed=True
                )
            return (
                _digest(operation_data["receipt"])
                if operation_data["status"] == "succeeded"
                else str(operation_data["status"])
            )

        async def calls(operation_id: str) -> tuple[str, list[str]]:
            return operation_id, list(await asyncio.gather(*(call(operation_id) for _ in range(times))))

        pipe.send("ready")
        pipe.recv()
        return dict(await asyncio.gather(*(calls(operation_id) for operation_id in operation_ids)))


def _digest(receipt: object) -> str:
    return hashlib.sha256(dumps_canonical(receipt)).hexdigest()


async def test_processes_race_for_executions(stage: Stage, engine: str) -> None:
    paths = [paths[0] for paths in FORMATS.values()]
    async with stage.service() as service:
        operation_ids = [await stage.create(service, paths[n % len(paths)]) for n in range(OPERATIONS)]
        processes, times = PROCESSES[engine]
        children = [Child(race_executions, stage.job(""), operation_ids, times) for _ in range(processes)]
        for child in children:
            assert await asyncio.to_thread(child.pipe.recv) == "ready"
        before = len(stage.list_writes())
        for child in children:
            child.pipe.send("go")
        answers: list[Answers] = list(await asyncio.gather(*(asyncio.to_thread(child.join) for child in children)))

        written_ids = [write.ids for write in stage.list_writes()[before:]]
        receipts = []
        for operation_id in operation_ids:
            record = await service.store.read(operations.get_operation, stage.actor, operation_id, service.store.clock)
            operation_data = await stage.execute(service, operation_id)
            event_types = [event.type for event in await service.store.read(events.list_operation_events, operation_id)]
            assert (record.status, record.fence) == ("succeeded", 1), "claimed once"
            assert event_types == ["operation.prepared", "operation.running", "operation.succeeded"]
            outcomes = {outcome for child_answers in answers for outcome in child_answers[operation_id]}
            assert outcomes <= {"running", _digest(operation_data["receipt"])}, (
                "the other processes get the receipt of the one that executed"
            )
            assert [step["attempt"] for step in operation_data["receipt"]["steps"]] == [1] * len(
                operation_data["plan"]["steps"]
            )
            receipts += [collect_ids(step) for step in operation_data["receipt"]["steps"]]
    assert (
        sum(len(each) for child_answers in answers for each in child_answers.values()) == OPERATIONS * processes * times
    )
    assert len(written_ids) == len(receipts), "one native write for each receipt"
    assert all(sum(bool(receipt_ids & write_ids) for write_ids in written_ids) == 1 for receipt_ids in receipts)
