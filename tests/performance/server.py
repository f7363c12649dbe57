"""The servers that are compared, each in a process of its own: ours, the least one, FastAPI's route.

Prints ``{"port"}`` when it answers, and ends when its input ends. The line ``"profile"`` starts a profile of the event
loop's thread, ``"report"`` prints what it found.
"""

from __future__ import annotations

import asyncio
import cProfile
import importlib
import json
import socket
import sys
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

from aiohttp import web

from adsunify_server.app import make_application
from adsunify_server.runner import ServerRunner

from . import least
from .floor import Campaign
from .measuring import format_profile
from .world import open_bench_service

SHUTDOWN_SECONDS = 1.0


def main() -> None:
    kind, *arguments = sys.argv[1:]
    servers: dict[str, Callable[..., Any]] = {"ours": serve_ours, "least": serve_least, "fastapi": serve_fastapi}
    asyncio.run(_run(servers[kind], *arguments))


async def _run(serving: Callable[..., Any], *arguments: str) -> None:
    listening = _listen()
    ended = asyncio.Event()
    async with serving(listening, *arguments):
        threading.Thread(target=_read_input, args=(asyncio.get_running_loop(), ended), daemon=True).start()
        print(json.dumps({"port": listening.getsockname()[1]}), flush=True)
        await ended.wait()


def _listen() -> socket.socket:
    """A socket that says which protocol it is: asyncio turns Nagle's delay off only where it knows that it is TCP.

    aiohttp does that itself; uvicorn would answer 40 ms late.
    """
    listening = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    listening.bind(("127.0.0.1", 0))
    listening.listen(128)
    return listening


def _read_input(loop: asyncio.AbstractEventLoop, ended: asyncio.Event) -> None:
    """Carries what is said on the input into the loop."""
    profile = cProfile.Profile()

    def begin() -> None:
        profile.clear()
        profile.enable()

    def report() -> None:
        profile.disable()
        print(json.dumps(format_profile(profile)), flush=True)

    for line in sys.stdin:
        loop.call_soon_threadsafe(begin if json.loads(line) == "profile" else report)
    loop.call_soon_threadsafe(ended.set)


@asynccontextmanager
async def _serve_runner(runner: web.AppRunner, listening: socket.socket) -> AsyncIterator[None]:
    await runner.setup()
    await web.SockSite(runner, listening).start()
    yield
    await runner.cleanup()


@asynccontextmanager
async def serve_ours(listening: socket.socket, database: str) -> AsyncIterator[None]:
    service = await open_bench_service(database)
    runner = ServerRunner(make_application(service), SHUTDOWN_SECONDS)
    async with _serve_runner(runner, listening):
        yield
    await service.close()


@asynccontextmanager
async def serve_least(listening: socket.socket, database: str, account_id: str, brief: str) -> AsyncIterator[None]:
    async with (
        least.application(database, account_id, json.loads(brief)) as app,
        _serve_runner(web.AppRunner(app, access_log=None), listening),
    ):
        yield


@asynccontextmanager
async def serve_fastapi(listening: socket.socket) -> AsyncIterator[None]:
    module, uvicorn = importlib.import_module("fastapi"), importlib.import_module("uvicorn")
    app = module.FastAPI()

    async def validate(campaign: Campaign) -> dict[str, Any]:
        return {"valid": True, "name": campaign.campaign.name}

    validate.__annotations__ = {"campaign": Campaign, "return": dict[str, Any]}
    app.post("/validate")(validate)
    server = uvicorn.Server(uvicorn.Config(app, log_level="warning", access_log=False, loop="asyncio"))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    while not server.started:
        await asyncio.sleep(0.01)
    yield
    server.should_exit = True
    await serving


if __name__ == "__main__":
    main()
