"""Running commands: in this process, which is quick, or in one of their own, which is what a person has."""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, redirect_stderr, redirect_stdout
from pathlib import Path
from typing import Any
from unittest.mock import patch

from attrs import frozen

from adsunify.cli import main

ROOT = Path(__file__).parents[2]
BRIEFS = ROOT / "examples" / "briefs"
BRIEF = str(BRIEFS / "chatgpt-chat_card-traffic-lifetime.json")


@frozen
class Ran:
    """What came of a command."""

    code: int
    out: str
    err: str

    @property
    def data(self) -> Any:
        """Its one JSON document."""
        assert self.code == 0, self.err
        return json.loads(self.out)

    @property
    def lines(self) -> list[str]:
        """What it said on stderr."""
        return self.err.strip().splitlines()


def run(*arguments: str, stdin: bytes = b"", **environment: str) -> Ran:
    """A command in this process, without a terminal."""
    out, err = io.TextIOWrapper(io.BytesIO(), "utf-8", newline=""), io.StringIO()
    reading = io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ADSUNIFY_")}
    with (
        patch.object(sys, "argv", ["adsunify", *arguments]),
        patch.object(sys, "stdin", reading),
        patch.dict(os.environ, {**clean, **environment}, clear=True),
        redirect_stdout(out),
        redirect_stderr(err),
    ):
        try:
            main()
        except SystemExit as ended:
            code = ended.code if isinstance(ended.code, int) else 0
    out.seek(0)
    return Ran(code, out.read(), err.getvalue())


@contextmanager
def process(
    *arguments: str, folder: Path | None = None, log: Path | None = None, **environment: str
) -> Iterator[subprocess.Popen[str]]:
    """A command in a process of its own, which is ended if it has not ended by itself.

    ``log``: the file that gets its stderr. A server needs one: it logs each request, and nobody reads its pipe.
    """
    clean = {name: value for name, value in os.environ.items() if not name.startswith("ADSUNIFY_")}
    with ExitStack() as files:
        errors = subprocess.PIPE if log is None else files.enter_context(log.open("a"))
        started = subprocess.Popen(
            [sys.executable, "-m", "adsunify", *arguments],
            cwd=folder or ROOT,
            env={**clean, **environment},
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        files.enter_context(started)
        try:
            yield started
        finally:
            if started.poll() is None:
                started.send_signal(signal.SIGTERM)
            started.communicate(timeout=60)


def first_line(started: subprocess.Popen[str]) -> Mapping[str, Any]:
    """The line of JSON that says that a process is ready."""
    assert started.stdout is not None
    line = started.stdout.readline()
    assert line, started.stderr and started.stderr.read()
    ready: Mapping[str, Any] = json.loads(line)
    return ready
