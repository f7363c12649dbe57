"""A proxy before the simulated networks, over real HTTP, which changes their responses by a lie."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
from aiohttp import web
from attrs import define, field

from adsunify.sandbox import RunningSandbox
from adsunify.values.exact_json import dumps, loads

from .lies import PHASES, Answer, Lie

UNFORWARDED = {"connection", "content-length", "host", "transfer-encoding"}
UNRETURNED = {"connection", "content-encoding", "content-length", "date", "server", "transfer-encoding"}


@define
class Liar:
    """The proxy. ``phase`` is what the proof does at present, as it says itself."""

    running: RunningSandbox
    network: str
    lie: Lie | None = None
    phase: str = ""
    url: str = ""
    holds: Callable[[bool], bool] = lambda is_write: False
    """Whether a response is held back; takes whether it answers a write."""
    is_holding: asyncio.Event = field(factory=asyncio.Event)
    released: asyncio.Event = field(factory=asyncio.Event)
    """Responses that are held back wait until it is set."""
    _reads: dict[str, tuple[int, dict[str, str], bytes]] = field(factory=dict)

    def enter_phase(self, words: str) -> None:
        """Follow the proof."""
        self.phase = words if words in PHASES else self.phase

    @property
    def is_lying(self) -> bool:
        """Whether the lie has begun."""
        if self.lie is None or self.phase not in PHASES:
            return False
        return PHASES.index(self.phase) >= PHASES.index(self.lie.since)

    def answer(self, method: str, target: str, content: bytes, is_write: bool, response: httpx.Response) -> Any:
        """Return status, headers and content, with the lie in them."""
        headers = {name: value for name, value in response.headers.items() if name.lower() not in UNRETURNED}
        truth = response.status_code, headers, response.content
        key = f"{method} {target} {content!r}"
        if is_write:
            return self._tell(method, target, True, truth)
        if self.lie is not None and self.lie.is_stale and self.is_lying and key in self._reads:
            self.lie.changes += self._reads[key][2] != truth[2]
            return self._reads[key]
        if self.lie is not None and self.lie.is_stale:
            self._reads[key] = truth
        return self._tell(method, target, False, truth)

    def _tell(self, method: str, target: str, is_write: bool, truth: tuple[int, dict[str, str], bytes]) -> Any:
        status, headers, content = truth
        if self.lie is None or not self.is_lying or not target.startswith("/"):
            return truth
        try:
            body = loads(content) if content else None
        except ValueError:
            return truth
        altered = self.lie.tell(Answer(self.network, method, target, is_write, status, headers, body))
        if altered.body is None:
            return altered.status, dict(altered.headers), b""
        return altered.status, dict(altered.headers), dumps(altered.body).encode()


@asynccontextmanager
async def run_liar(running: RunningSandbox, network: str) -> AsyncIterator[Liar]:
    """Run the proxy on 127.0.0.1."""
    liar = Liar(running, network)

    async def handle(request: web.Request) -> web.Response:
        content = await request.read()
        headers = {name: value for name, value in request.headers.items() if name.lower() not in UNFORWARDED}
        before = len(running.state.writes)
        response = await client.request(
            request.method,
            running.url,
            headers=headers,
            content=content,
            extensions={"target": request.raw_path.encode("ascii")},
        )
        is_write = len(running.state.writes) > before
        if liar.holds(is_write):
            liar.is_holding.set()
            await liar.released.wait()
        status, answer_headers, body = liar.answer(request.method, request.raw_path, content, is_write, response)
        return web.Response(status=status, headers=answer_headers, body=body)

    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_route("*", "/{any:.*}", handle)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        async with httpx.AsyncClient(trust_env=False, timeout=60) as client:
            await web.TCPSite(runner, "127.0.0.1", 0).start()
            liar.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield liar
    finally:
        await runner.cleanup()
