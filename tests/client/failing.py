"""A proxy before a real server that fails in the ways in which servers, proxies and connections fail."""

from __future__ import annotations

import asyncio
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import Any

import httpx
from aiohttp import web
from attrs import Factory, define

from adsunify.errors import RateLimited, Unauthenticated
from adsunify.problem_details import to_problem_details

HTML = "<html><h1>Welcome</h1></html>"
LIMITED = {**to_problem_details(RateLimited("Too many.", retry_after=3.5)), "requestId": "from-the-server"}
REVOKED = {**to_problem_details(Unauthenticated("The key has been revoked.")), "requestId": "from-the-server"}
PROBLEM = "application/problem+json"
DATES = {"Retry-After": "Tue, 01 Jan 2030 00:00:07 GMT", "Date": "Tue, 01 Jan 2030 00:00:00 GMT"}
ANSWERS: dict[str, dict[str, Any]] = {
    "html": {"status": 200, "text": HTML, "content_type": "text/html"},
    "redirect": {"status": 307, "headers": {"Location": "/elsewhere"}},
    "502": {"status": 502, "text": HTML, "content_type": "text/html"},
    "503 seconds": {"status": 503, "headers": {"Retry-After": "7"}},
    "429 seconds": {"status": 429, "text": "slow down", "headers": {"Retry-After": "7"}},
    "429 date": {"status": 429, "text": "slow down", "headers": DATES},
    "429 later": {"status": 429, "text": "slow down", "headers": {"Retry-After": "3600"}},
    "limited": {"status": 429, "text": web.json_response(LIMITED).text, "content_type": PROBLEM},
    "revoked": {"status": 401, "text": web.json_response(REVOKED).text, "content_type": PROBLEM},
}
"""Answers that do not come from the server, by their name."""
BROKEN = ("reset", "reset after", "stall", "stall after", "cut", "502", "502 after", "503 seconds", "429 seconds")
"""Failures that may pass. After: the server has done the work."""


@define
class FailingProxy:
    """Forwards requests, and fails with the next of ``faults``; ``keys``: the idempotency keys of all it was sent."""

    upstream: httpx.AsyncClient
    url: str = ""
    faults: list[str] = Factory(list)
    keys: list[str | None] = Factory(list)
    in_flight: set[asyncio.Task[httpx.Response]] = Factory(set)
    ended: asyncio.Event = Factory(asyncio.Event)

    async def handle(self, request: web.Request) -> web.StreamResponse:
        """Answer a request as the server does, or fail."""
        self.keys.append(request.headers.get("Idempotency-Key"))
        fault = self.faults.pop(0) if self.faults else ""
        response = None
        if fault in ("", "cut") or fault.endswith(" after"):
            response = await self._forward(request)
        if fault.startswith("stall"):
            await self.ended.wait()
        if fault.startswith(("reset", "stall")):
            assert request.transport is not None
            request.transport.abort()
            return web.Response()
        if fault == "trickle":
            return await self._trickle(request)
        if fault.removesuffix(" after") in ANSWERS:
            return web.Response(**ANSWERS[fault.removesuffix(" after")])
        assert response is not None
        headers = {name: response.headers[name] for name in ("Content-Type", "X-Request-Id")}
        if fault != "cut":
            return web.Response(status=response.status_code, body=response.content, headers=headers)
        whole = web.StreamResponse(status=response.status_code, headers=headers)
        whole.content_length = len(response.content)
        await whole.prepare(request)
        await whole.write(response.content[:-5])
        assert request.transport is not None
        request.transport.close()
        return whole

    async def _trickle(self, request: web.Request) -> web.StreamResponse:
        """Send a byte every 50 ms until the client hangs up."""
        response = web.StreamResponse()
        await response.prepare(request)
        with suppress(ConnectionError):
            while not self.ended.is_set():
                await response.write(b" ")
                await asyncio.sleep(0.05)
        return response

    async def _forward(self, request: web.Request) -> httpx.Response:
        headers = {name: value for name, value in request.headers.items() if name not in ("Host", "Content-Length")}
        content = await request.read()
        sending = asyncio.ensure_future(
            self.upstream.request(request.method, request.raw_path, headers=headers, content=content)
        )
        self.in_flight.add(sending)
        sending.add_done_callback(self.in_flight.discard)
        return await asyncio.shield(sending)

    async def settle(self) -> None:
        """Wait until the server has answered everything that was forwarded."""
        await asyncio.gather(*self.in_flight)


@asynccontextmanager
async def failing_proxy(server_url: str, port: int = 0) -> AsyncIterator[FailingProxy]:
    """Start a proxy before a server, at a free port unless one is given."""
    async with httpx.AsyncClient(base_url=server_url, trust_env=False, timeout=60) as upstream:
        proxy = FailingProxy(upstream)
        app = web.Application()
        app.router.add_route("*", "/{anything:.*}", proxy.handle)
        runner = web.AppRunner(app, access_log=None, shutdown_timeout=0.5)
        await runner.setup()
        try:
            await web.TCPSite(runner, "127.0.0.1", port).start()
            proxy.url = f"http://127.0.0.1:{runner.addresses[0][1]}"
            yield proxy
        finally:
            proxy.ended.set()
            await runner.cleanup()


def find_free_port() -> int:
    """Return a port of 127.0.0.1 at which nothing listens."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        return int(free.getsockname()[1])
