"""One execution in a process of its own, which ends or stops itself at a named point.

The processes are forked from a server that has everything imported already, so that one costs little. The product
itself knows nothing of this: ``Service.kill_point_hook`` is where it says which point it passes.
"""

from __future__ import annotations

import asyncio
import multiprocessing
import os
from collections.abc import AsyncIterator, Callable, Coroutine, Mapping
from contextlib import asynccontextmanager, suppress
from multiprocessing.connection import Connection as Pipe
from typing import Any
from urllib.request import Request, urlopen

from attrs import evolve, frozen

from adsunify.actor import Actor
from adsunify.errors import AdsunifyError
from adsunify.execution.executor import ExecutionLimits, KillPoint
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.service import operations
from adsunify.service.core import Service
from adsunify.service.factory import open_service
from adsunify.values.exact_json import dumps

for _code in ADAPTER_PACKAGES:
    with suppress(ImportError):  # the tests say so
        get_adapter(_code)

CONTEXT = multiprocessing.get_context("forkserver")
LATE = (
    "adsunify.store.postgresql",
    "adsunify.store.sqlite",
    "anyio._backends._asyncio",
    "cryptography.hazmat.primitives.ciphers.aead",
    "httpcore",
    "sqlalchemy.dialects.postgresql",
    "sqlalchemy.dialects.sqlite",
    "tests.system.crash.preloaded",
)
CONTEXT.set_forkserver_preload(["tests.system.crash.child", *LATE])
Passed = list[tuple[str, int]]
"""The points passed, each with the commits made before it."""


@frozen
class Job:
    """Execute one operation. At passing number ``at`` (from 0) send ``signal`` to oneself, or tell ``fault``."""

    database: str
    environment: Mapping[str, str]
    sandbox_url: str
    actor: Actor
    operation_id: str
    at: int | None = None
    signal: int | None = None
    fault: Mapping[str, Any] | None = None
    steps: int = ExecutionLimits().max_steps
    lease: int | None = None


@frozen
class Done:
    """How the execution ended, where it did; ``answers``: status of each call, or the code of its refusal."""

    passed: Passed
    commits: int
    answers: list[str]


class Child:
    """A process that does some work. ``join`` waits for it and gives what the work returned, None where it was killed.

    The work is a coroutine function that takes a pipe to us and the arguments.
    """

    def __init__(self, work: Callable[..., Coroutine[Any, Any, Any]], *arguments: Any) -> None:
        self.pipe, theirs = CONTEXT.Pipe()
        self.process = CONTEXT.Process(target=_main, args=(theirs, work, arguments), daemon=True)
        self.process.start()
        theirs.close()

    def join(self) -> Any:
        """Wait for the end of the process; ``exitcode`` says how it ended."""
        done = None
        with suppress(EOFError):  # it did not come to the end
            done = self.pipe.recv()
        self.pipe.close()
        self.process.join()
        self.exitcode = self.process.exitcode
        self.process.close()
        assert not self.exitcode or self.exitcode < 0, "the process failed by itself: see what it printed"
        return done


def _main(pipe: Pipe, work: Callable[..., Coroutine[Any, Any, Any]], arguments: tuple[Any, ...]) -> None:
    pipe.send(asyncio.run(work(pipe, *arguments)))
    pipe.close()


async def execute_job(pipe: Pipe, job: Job) -> Done:
    """Execute an operation to its end, or as far as it comes."""
    async with open_job(job) as service:
        passed: Passed = []
        before = service.store.commit_count

        def pass_point(point: KillPoint) -> None:
            passed.append((point.value, service.store.commit_count - before))
            if len(passed) - 1 == job.at:
                if job.fault is not None:
                    tell(job.sandbox_url, job.fault)
                if job.signal is not None:
                    os.kill(os.getpid(), job.signal)

        service.kill_point_hook = pass_point
        answers = []
        going = True
        while going:
            try:
                operation_data = await operations.execute_operation(
                    service, job.actor, operation_id=job.operation_id, confirmed=True
                )
                answers.append(str(operation_data["status"]))
                going = operation_data.get("nextAction") == "execute" and "retryAfterMs" not in operation_data
            except AdsunifyError as refusal:
                answers.append(refusal.code)
                going = False
        return Done(passed, service.store.commit_count - before, answers)


@asynccontextmanager
async def open_job(job: Job) -> AsyncIterator[Service]:
    opened = await open_service(job.database, job.environment, sandbox_url=job.sandbox_url)
    settings = opened.service.settings
    opened.service.settings = evolve(
        settings, limits=ExecutionLimits(max_steps=job.steps), lease=job.lease or settings.lease
    )
    try:
        yield opened.service
    finally:
        await opened.service.close()


def tell(sandbox_url: str, fault: Mapping[str, Any]) -> None:
    """Tell the sandbox that something is to fail."""
    headers = {"Content-Type": "application/json"}
    with urlopen(Request(f"{sandbox_url}/_sandbox/faults", dumps(fault).encode(), headers)) as answer:
        answer.read()
