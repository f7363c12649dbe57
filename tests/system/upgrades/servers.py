"""Servers of several versions in processes of their own. An interpreter stands for the version installed in it."""

from __future__ import annotations

import asyncio
import json
import os
import signal
from asyncio.subprocess import DEVNULL, PIPE, Process
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from attrs import frozen

from adsunify.encryption import make_key_ring
from adsunify.service.factory import SANDBOX_URL_VARIABLE, SECRET_KEYS_VARIABLE

PREFIX = "/api/v1/ads"


@frozen
class Place:
    """What all servers share. ``receiver``: the address of the webhooks; ``folder``: for their logs."""

    database: str
    environment: Mapping[str, str]
    receiver: str
    folder: Path


def make_place(database: str, sandbox_url: str, receiver: str, folder: Path) -> Place:
    """A place with a new key ring, without limits."""
    clean = {name: value for name, value in os.environ.items() if not name.startswith(("ADSUNIFY_", "PYTHON"))}
    own = {
        SECRET_KEYS_VARIABLE: make_key_ring().to_text(),
        SANDBOX_URL_VARIABLE: sandbox_url,
        "ADSUNIFY_READS_PER_MINUTE": "0",
        "ADSUNIFY_WRITES_PER_MINUTE": "0",
    }
    return Place(database, {**clean, **own}, receiver, folder)


@frozen
class Server:
    """A running server. ``ready``: its line of JSON."""

    process: Process
    ready: Mapping[str, Any]

    @property
    def url(self) -> str:
        """The address of the API."""
        return f"{self.ready['baseUrl']}{PREFIX}"

    async def stop(self) -> None:
        """Send SIGTERM; a native write in flight finishes."""
        self.process.send_signal(signal.SIGTERM)
        assert await self.process.wait() == 0

    async def kill(self) -> None:
        """End it at once."""
        self.process.kill()
        await self.process.wait()


async def start(python: Path, place: Place, *arguments: str, output: int = DEVNULL) -> Process:
    """A command of the version that is installed for ``python``, outside of this repository."""
    with (place.folder / "stderr.log").open("ab") as log:
        return await asyncio.create_subprocess_exec(
            str(python),
            *("-P", "-m", "adsunify", *arguments, "--database", place.database),
            env=dict(place.environment),
            cwd=place.folder,
            stdin=DEVNULL,
            stdout=output,
            stderr=log,
        )


async def run(python: Path, place: Place, *arguments: str) -> tuple[int, str]:
    """Run a command to its end; its exit code and what it printed."""
    process = await start(python, place, *arguments, output=PIPE)
    out, _ = await process.communicate()
    return process.returncode or 0, out.decode()


@asynccontextmanager
async def serve(python: Path, place: Place, *options: str) -> AsyncIterator[Server]:
    """A server, until the end of the block or until it is stopped."""
    arguments = ("serve", "--port", "0", "--json", "--allow-unsafe-durability", "--log-level", "warning")
    target = ("--webhook-dev-target", place.receiver) if place.receiver else ()
    process = await start(python, place, *arguments, *target, *options, output=PIPE)
    try:
        assert process.stdout is not None
        line = await process.stdout.readline()
        assert line, (place.folder / "stderr.log").read_text()
        yield Server(process, json.loads(line))
    finally:
        if process.returncode is None:
            process.terminate()
            await process.wait()


def make_client(key: str) -> httpx.AsyncClient:
    """A client of all servers of a place."""
    return httpx.AsyncClient(headers={"Authorization": f"Bearer {key}"}, trust_env=False, timeout=120)
