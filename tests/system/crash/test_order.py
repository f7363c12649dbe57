"""O6: an intent is on the disk before the first byte of its request goes out."""

from __future__ import annotations

import asyncio
import os
import pickle
import re
import shutil
import sqlite3
import subprocess
import sys
from itertools import dropwhile
from pathlib import Path

import asyncpg
import pytest
from sqlalchemy import Connection

from .stage import FORMATS, NETWORK_PLANS, NOT_SHOWN, PLANS, Stage, alternate_engines, has_overlay
from .wire import open_wire

INTENTS = "SELECT n FROM steps WHERE operation_id = {} AND receipt_at IS NULL"
Open = list[int]


async def _open_intents(stage: Stage, operation_id: str) -> Open:
    """The steps in flight, as somebody else reads them who sees only what is committed."""
    if stage.database.startswith("sqlite"):
        other = sqlite3.connect(stage.database.removeprefix("sqlite:///"))
        rows = other.execute(INTENTS.format("?"), (operation_id,)).fetchall()
        other.close()
        return [row[0] for row in rows]
    connection = await asyncpg.connect(stage.database)
    intents = await connection.fetch(INTENTS.format("$1"), operation_id)
    await connection.close()
    return [row[0] for row in intents]


def _durability(connection: Connection) -> list[object]:
    statements = (
        ("PRAGMA journal_mode", "PRAGMA synchronous")
        if connection.dialect.name == "sqlite"
        else ("SHOW fsync", "SHOW synchronous_commit")
    )
    return [connection.exec_driver_sql(statement).scalar_one() for statement in statements]


@pytest.mark.parametrize(("engine", "name", "action"), alternate_engines(PLANS))
async def test_committed_before_the_first_byte(stage: Stage, engine: str, name: str, action: str) -> None:
    async with open_wire(stage.sandbox_url) as wire, stage.service(sandbox_url=wire.url) as service:
        # a commit of SQLite has synced its log at FULL (2), one of PostgreSQL with these two on
        assert await service.store.write(_durability) == (["wal", 2] if engine == "sqlite" else ["on", "on"])
        source = await stage.source(service, FORMATS[name][0], action)
        operation_id = await source()
        open_intents: list[Open] = []

        async def first_byte() -> None:
            open_intents.append(await _open_intents(stage, operation_id))

        wire.first_byte = first_byte
        operation_data = await stage.execute(service, operation_id)
        wire.first_byte = None
    read: list[Open] = [[]] if has_overlay(operation_data["network"], action) else []  # with nothing in flight
    writing = [each for n in range(len(operation_data["plan"]["steps"])) for each in [*read, [n]]]
    budgets, open_intents = (
        open_intents[: -len(writing)],
        open_intents[-len(writing) :],
    )  # an activation reads its budgets before the claim
    assert open_intents == writing and not any(budgets)
    assert bool(budgets) == (action == "activate")


CODE = """
import asyncio, pickle, sys
from tests.system.crash.child import execute_job
asyncio.run(execute_job(None, pickle.load(sys.stdin.buffer)))
"""
REQUIRED = "ADSUNIFY_TRACE_REQUIRED"
TRACED = "fsync,fdatasync,pwrite64,write,writev,sendto,sendmsg"
SENT = re.compile(r'(?:sendto|sendmsg|write|writev)\(\d+<[^>]*>, .*?"(?:POST|PUT|PATCH|DELETE) /')
LOGGED = re.compile(r"(?:pwrite64|write)\(\d+<[^>]*-wal>")
SYNCED = re.compile(r"(?:fsync|fdatasync)\(\d+<[^>]*-wal>")


@pytest.mark.parametrize("engine", ["sqlite"])
@pytest.mark.parametrize(("name", "action"), NETWORK_PLANS)
async def test_synced_before_the_first_byte(stage: Stage, name: str, action: str, tmp_path: Path) -> None:
    """The same, as the kernel saw it: each request comes after a finished sync of all that was written to the log.

    Of SQLite; with PostgreSQL it is the server that syncs, not the process that is traced.
    """
    trace = tmp_path / "trace"
    tracing = _make_trace_command(trace)
    async with stage.service() as service:
        source = await stage.source(service, FORMATS[name][0], action)
        operation_id = await source()
        before = len(stage.list_writes())
        traced = [*tracing, sys.executable, "-c", CODE]
        job = pickle.dumps(stage.job(operation_id))
        root = str(Path(__file__).parents[3])
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join([root, os.environ.get("PYTHONPATH", root)])}
        done = await asyncio.to_thread(subprocess.run, traced, input=job, capture_output=True, env=environment)
        assert done.returncode == 0, done.stderr.decode()
        operation_data = await stage.read_operation(service, operation_id)
    steps = len(operation_data["plan"]["steps"])
    assert operation_data["status"] == "succeeded" and len(stage.list_writes()) - before == steps
    unsynced, syncs, sends = False, 0, 0
    # some networks are read by POST: the budgets of an activation, before the claim
    for event in dropwhile(lambda name: action == "activate" and name == "sent", _events(trace.read_text())):
        if event == "logged":
            unsynced = True
        elif event == "synced":
            unsynced, syncs = False, syncs + 1
        else:
            sends += 1
            assert not unsynced, "sent with something in the log that was not synced"
            assert syncs >= sends, "sent before its intent was synced"
    assert sends == steps


def _make_trace_command(trace: Path) -> list[str]:
    """What a command begins with that is traced; without strace the test is skipped, and :data:`REQUIRED` fails it."""
    tracing = ["strace", "-f", "-y", "-s", "100", "-e", f"trace={TRACED}", "-o", str(trace)]
    if shutil.which("strace") is None or subprocess.run([*tracing, "true"], capture_output=True).returncode:
        missing = f"{NOT_SHOWN} that the log is synced before a request goes out: no strace here, or it may not trace"
        if os.environ.get(REQUIRED):
            pytest.fail(missing)
        pytest.skip(missing)
    return tracing


def _events(trace: str) -> list[str]:
    """What happened, in order: a write to the log where it began, a sync where it ended, a request where it began."""
    events, syncing = [], set()
    for line in trace.splitlines():
        thread, _, what = line.partition(" ")
        what = what.strip()
        if SENT.match(what):
            events.append("sent")
        elif LOGGED.match(what):
            events.append("logged")
        elif SYNCED.match(what):
            if what.endswith("<unfinished ...>"):
                syncing.add(thread)
            else:
                assert what.endswith("= 0"), what
                events.append("synced")
        elif thread in syncing and re.match(r"<\.\.\. f(data)?sync resumed>", what):
            assert what.endswith("= 0"), what
            syncing.discard(thread)
            events.append("synced")
    return events
