"""O19: hostile answers cost little memory and time, and a write that got one ends unknown."""

from __future__ import annotations

import asyncio
import gzip
import json
import time
from collections.abc import Callable, Coroutine, Mapping
from functools import partial
from multiprocessing.connection import Connection as Pipe
from pathlib import Path
from typing import Any

import pytest
from attrs import define, evolve, frozen

import adsunify.adapter.flows
from adsunify.adapter.flows import MAX_PAGES
from adsunify.errors import AdsunifyError
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Request, Response
from adsunify.http.transport import HttpTransport
from adsunify.service import accounts, operations
from adsunify.service.core import Service
from tests.networks.samples import get_samples

from .child import Child, Job, open_job
from .stage import FORMATS, NETWORK_PLANS, Stage
from .wire import Act, Call, make_answer, open_wire

MEBIBYTE = 1024 * 1024
MOST = 64 * MEBIBYTE
"""Bytes above what the process had before."""
SECONDS = 3.0
"""How long a request may take here (else 60 seconds)."""
NAMES = [name for name, action in NETWORK_PLANS if action == "create"]


# -- what is said -------------------------------------------------------------------------------------------------


def answers(content: bytes, headers: str = "") -> Act:
    """The network has done it, and this comes back."""

    async def act(call: Call) -> None:
        await call.apply()
        await call.say(make_answer(content, headers=headers))

    return act


def stream_response(head: str, piece: bytes, times: int, pause: float = 0.0) -> Act:
    """The network has done it, and this comes back: a head, and a piece so many times."""

    async def act(call: Call) -> None:
        await call.apply()
        await call.say(b"HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n" + head.encode())
        for _ in range(times):
            await call.say(piece)
            await asyncio.sleep(pause)

    return act


MEMBER = gzip.compress(b" " * (32 * MEBIBYTE))
HOSTILE: Mapping[str, Act] = {
    "100 MB": stream_response(f"Content-Length: {100 * MEBIBYTE}\r\n\r\n", b"x" * MEBIBYTE, 100),
    "100 MB in chunks": stream_response(
        "Transfer-Encoding: chunked\r\n\r\n", b"100000\r\n" + b" " * MEBIBYTE + b"\r\n", 100
    ),
    "a gzip bomb": answers(MEMBER * 64, "Content-Encoding: gzip\r\n"),
    "gzip in gzip": answers(gzip.compress(MEMBER * 64), "Content-Encoding: gzip, gzip\r\n"),
    "no gzip": answers(b'{"id": "1"}', "Content-Encoding: gzip\r\n"),
    "deep lists": answers(b"[" * 100_000 + b"]" * 100_000),
    "deep objects": answers(b'{"id":' * 100_000 + b"1" + b"}" * 100_000),
    "NaN": answers(b'{"id": NaN}'),
    "infinity": answers(b'{"id": -Infinity}'),
    "the same key twice": answers(b'{"id": "11", "success": true, "id": "12"}'),
    "an integer of 400 digits": answers(b'{"id": 1' + b"0" * 400 + b"}"),
    "an integer of a million digits": answers(b'{"id": 1' + b"0" * 1_000_000 + b"}"),
    "an exponent": answers(b'{"id": 1e999999999}'),
    "no UTF-8": answers(b'{"id": "\xff\xfe"}'),
    "half a surrogate pair": answers(b'{"id": "\\ud800"}'),
    "small values": answers(b"[" + b'{"":0},' * 290_000 + b"0]"),
    "a long header": stream_response("X-Long: ", b"x" * 65_536, 160),
    "many headers": stream_response("", b"".join(b"X-%d: 1\r\n" % n for n in range(10_000)), 40),
    "endless interim answers": stream_response("\r\n", b"HTTP/1.1 103 Early Hints\r\n\r\n" * 1_000, 100_000),
    "a byte now and then": stream_response("Content-Length: 1000\r\n\r\n", b" ", 1_000, 0.05),
}

UNREADABLE = [name for name in HOSTILE if name != "half a surrogate pair"]
"""What no reader takes for an answer. (An object without the list that was asked for is an empty list.)"""


def answer_endless_pages(network: str, cursor: Callable[[int], str]) -> Act:
    """Every page says that there is another one."""
    count, first = 0, {}

    async def act(call: Call) -> None:
        nonlocal count
        call.wire.fault = act  # the next one as well
        if not count:
            first.update(json.loads((await call.apply()).partition(b"\r\n\r\n")[2]))
        count += 1
        get_samples(network).add_next_page(first, cursor(count))
        await call.say(make_answer(json.dumps(first).encode()))

    return act


TURNS = 4
WRITES = [
    (engine, name, answer)
    for n, answer in enumerate(HOSTILE)
    for m, name in enumerate(NAMES)
    for engine in ("sqlite", "postgresql")
    if (m == 0 if engine == "postgresql" else answer not in UNREADABLE or n % TURNS == m % TURNS)
]
"""What an answer costs and means does not depend on the engine: there, one network will do.

An adapter is only told that an answer was unreadable: each network gets some of these, each of these several networks.
"""
FEW = 50
LISTS = [("sqlite", name, FEW if n else MAX_PAGES) for n, name in enumerate(NAMES)]
"""The end of a list that has none is the same for all networks: there, it comes sooner."""
READS = [("sqlite", NAMES[n % len(NAMES)], answer) for n, answer in enumerate(UNREADABLE)]

# -- a process that is measured -----------------------------------------------------------------------------------


@define
class Hasty:
    """The transport with less patience."""

    whole: HttpTransport

    def open_pool(self) -> PoolTransport:
        return self.whole.open_pool()

    async def send(self, request: Request, *, timeout: float = SECONDS, **more: Any) -> Response:
        return await self.whole.send(request, timeout=min(timeout, SECONDS), **more)


@frozen
class Measured:
    """How it ended (a status, or the code of an error), at which price: bytes above the base, and seconds."""

    ended: str
    memory: int
    seconds: float


def _memory(name: str) -> int:
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


async def _measure_work(service: Service, work: Callable[[Service], Coroutine[Any, Any, Any]]) -> Measured:
    hasty: Any = evolve(service)
    hasty.transport = Hasty(service.transport)
    Path("/proc/self/clear_refs").write_text("5")  # the peak is counted from now on
    base, started = _memory("VmRSS"), time.monotonic()
    try:
        ended = str((await work(hasty)).get("status", "read"))
    except AdsunifyError as refusal:
        ended = refusal.code
    return Measured(ended, _memory("VmHWM") - base, time.monotonic() - started)


async def measure_write(pipe: Pipe, job: Job) -> Measured:
    """Execute an operation."""
    work = partial(operations.execute_operation, actor=job.actor, operation_id=job.operation_id, confirmed=True)
    async with open_job(job) as service:
        return await _measure_work(service, work)


async def measure_read(pipe: Pipe, job: Job, account_id: str, most: int = MAX_PAGES) -> Measured:
    """Read the hierarchy of an account, each list to so many pages."""
    adsunify.adapter.flows.MAX_PAGES = most  # of this process only
    async with open_job(job) as service:
        return await _measure_work(service, partial(accounts.read_account_tree, actor=job.actor, account_id=account_id))


@pytest.mark.parametrize(("engine", "name", "answer"), WRITES)
async def test_hostile_answer_to_a_write(stage: Stage, name: str, answer: str) -> None:
    async with open_wire(stage.sandbox_url) as wire, stage.service() as service:
        operation_id = await stage.create(service, FORMATS[name][0])
        before = len(stage.list_writes())
        wire.fault = HOSTILE[answer]
        child = Child(measure_write, evolve(stage.job(operation_id), sandbox_url=wire.url))
        measured: Measured = await asyncio.to_thread(child.join)
        assert measured.ended == "outcome_unknown"
        _check_bounds(measured)
        assert len(wire.calls) == len(stage.list_writes()) - before == 1
        operation_data = await stage.read_operation(service, operation_id)
        assert [receipt["state"] for receipt in operation_data["receipt"]["steps"]] == ["ambiguous"]
        refusal = await stage.refusal(service, operation_id)
        assert refusal is not None and (refusal.code, refusal.outcome) == ("outcome_unknown", "unknown")
        assert len(stage.list_writes()) - before == 1


@pytest.mark.parametrize(("engine", "name", "answer"), READS)
async def test_hostile_answer_to_a_read(stage: Stage, name: str, answer: str) -> None:
    async def again(call: Call) -> None:
        call.wire.fault = again
        await HOSTILE[answer](call)

    measured, calls = await _read(stage, name, again)
    assert measured.ended in ("provider_unreadable", "connection_lost")
    _check_bounds(measured)
    assert calls <= 3


@pytest.mark.parametrize("repeats", [True, False])
@pytest.mark.parametrize(("engine", "name", "most"), LISTS)
async def test_a_list_that_does_not_end(stage: Stage, name: str, most: int, repeats: bool) -> None:
    network = name.split("-")[0]
    act = answer_endless_pages(network, lambda count: "again" if repeats else f"{count}")
    measured, calls = await _read(stage, name, act, most)
    assert (measured.ended, calls) == (
        "provider_unreadable",
        2 if repeats and not get_samples(network).counts_pages else most,
    )
    assert measured.memory <= MOST


async def _read(stage: Stage, name: str, act: Act, most: int = MAX_PAGES) -> tuple[Measured, int]:
    """Read an account's hierarchy where every answer is this; how many requests it took."""
    async with open_wire(stage.sandbox_url) as wire:
        wire.fault = act
        account_id = stage.accounts[name.split("-")[0]]["accountId"]
        child = Child(measure_read, evolve(stage.job(""), sandbox_url=wire.url), account_id, most)
        measured: Measured = await asyncio.to_thread(child.join)
        return measured, len(wire.calls)


def _check_bounds(measured: Measured) -> None:
    assert measured.memory <= MOST, f"{measured.memory / MEBIBYTE:.0f} MiB"
    assert measured.seconds <= SECONDS + 1
