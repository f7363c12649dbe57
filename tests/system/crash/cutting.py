"""Cuts an execution at one of its awaits: by cancelling the task that waits there, or by an error of what it asked."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Generator
from contextvars import ContextVar
from typing import Any

from attrs import define, field

from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Request, Response
from adsunify.http.transport import HttpTransport
from adsunify.store import Store

_active: ContextVar[Cancelling | None] = ContextVar("cancelling", default=None)


@define
class Cancelling:
    """Counts the suspensions of a task and of all tasks begun in it, and cancels the task at number ``at`` (from 0)."""

    at: int | None = None
    count: int = 0

    def start(self, work: Coroutine[Any, Any, Any]) -> asyncio.Task[Any]:
        """Begin the work; its tasks are counted, and cut, wherever they begin."""
        loop = asyncio.get_running_loop()
        loop.set_task_factory(_task)
        token = _active.set(self)
        try:
            return loop.create_task(work)
        finally:
            _active.reset(token)

    def count_suspension(self) -> None:
        """A task is about to wait."""
        self.count += 1
        task = asyncio.current_task()
        if self.count - 1 == self.at and task is not None:
            task.cancel()


def _task(loop: asyncio.AbstractEventLoop, work: Any, **more: Any) -> asyncio.Task[Any]:
    cancelling = _active.get()
    return asyncio.Task(work if cancelling is None else _watch(cancelling, work), loop=loop, **more)


async def _watch(cancelling: Cancelling, work: Coroutine[Any, Any, Any]) -> Any:
    return await _Watched(cancelling, work)


@define
class _Watched:
    cancelling: Cancelling
    work: Coroutine[Any, Any, Any]

    def __await__(self) -> Generator[Any, Any, Any]:
        value: Any = None
        problem: BaseException | None = None
        while True:
            try:
                waits_for = self.work.send(value) if problem is None else self.work.throw(problem)
            except StopIteration as done:
                return done.value
            self.cancelling.count_suspension()
            value, problem = None, None
            try:
                value = yield waits_for
            except BaseException as error:  # noqa: BLE001 - it is the work's
                problem = error


@define
class Failing:
    """Counts what an execution asks of the store and of the network; number ``at`` (from 0) fails.

    ``done``: the work is done, and only its answer is lost. ``problem`` makes the error of the
    store, or of the transport, from whether it was done.
    """

    problem: Callable[[str, bool], BaseException]
    at: int | None = None
    done: bool = False
    count: int = 0

    async def run(self, of: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Do it, unless it is to fail."""
        self.count += 1
        if self.count - 1 != self.at:
            return await work()
        if self.done:
            await work()
        raise self.problem(of, self.done)


@define
class FailingStore:
    """A store of which an answer fails."""

    whole: Store
    failing: Failing
    clock: Any = field(init=False)

    def __attrs_post_init__(self) -> None:
        self.clock = self.whole.clock

    async def write(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await self.failing.run("store", lambda: self.whole.write(function, *args, **kwargs))

    async def read(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        return await self.failing.run("store", lambda: self.whole.read(function, *args, **kwargs))

    async def run_query(self, question: Any) -> Any:
        return await self.failing.run("store", lambda: self.whole.run_query(question))


@define
class FailingTransport:
    """A transport of which an answer fails."""

    whole: HttpTransport
    failing: Failing

    def open_pool(self) -> PoolTransport:
        return self.whole.open_pool()

    async def send(self, request: Request, **more: Any) -> Response:
        response: Response = await self.failing.run("transport", lambda: self.whole.send(request, **more))
        return response
