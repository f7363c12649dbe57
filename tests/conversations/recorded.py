"""A server in the place of a network's hosts: it forwards and records a conversation, or replays a recorded one.

The service reaches it as it reaches the simulated networks: ``https://HOST/path`` at ``<url>/HOST/path``, over the
ordinary transport.
"""

from __future__ import annotations

import base64
import json
import re
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from aiohttp import web
from attrs import define, field

SECRET = re.compile(
    r"((?:^|[?&])(?:access_token|refresh_token|client_secret|code|code_verifier|fb_exchange_token|appsecret_proof"
    r"|oauth_token|oauth_token_secret|secret)="
    r"|\"(?:access_token|refresh_token|secret|auth_code)\": ?\")[^\"&\s]+"
)
UNRECORDED = {"connection", "content-encoding", "content-length", "date", "server", "set-cookie", "transfer-encoding"}
"""Headers of answers that say nothing about a conversation, or that the replaying server writes itself."""
UNFORWARDED = {"connection", "content-length", "host", "transfer-encoding"}
"""Headers of requests that the forwarding client writes itself."""


@define
class Cassette:
    """The exchanges of one conversation, each ``{"request": {...}, "response": {...}}``.

    ``unplayed``: those that were not asked for yet; ``unexpected``: requests that are on no exchange.
    """

    url: str
    exchanges: list[dict[str, Any]]
    unplayed: list[dict[str, Any]]
    unexpected: list[dict[str, Any]] = field(factory=list)

    def find(self, request: dict[str, Any]) -> dict[str, Any] | None:
        """The response to a request, the first that was not given yet; None where there is none."""
        for exchange in self.unplayed:
            if exchange["request"] == request:
                self.unplayed.remove(exchange)
                response: dict[str, Any] = exchange["response"]
                return response
        self.unexpected.append(request)
        return None

    def save(self, path: Path) -> None:
        """Write the exchanges to a file."""
        path.write_text(json.dumps(self.exchanges, indent=1) + "\n")


@asynccontextmanager
async def replay_exchanges(path: Path) -> AsyncIterator[Cassette]:
    """Answer as it was recorded in a file; a request that is not there is answered 501."""
    exchanges = json.loads(path.read_text())

    async def handle(request: web.Request) -> web.Response:
        response = cassette.find(await _read_request(request))
        if response is None:
            return web.Response(status=501)
        body = response["body"]
        content = base64.b64decode(body["base64"]) if isinstance(body, dict) else body.encode()
        return web.Response(status=response["status"], headers=response["headers"], body=content)

    async with _serve_requests(handle) as url:
        cassette = Cassette(url, exchanges, list(exchanges))
        yield cassette


@asynccontextmanager
async def record_exchanges(simulated: str | None) -> AsyncIterator[Cassette]:
    """Forward every request to the simulated networks at this address, or to the real ones; record the exchanges."""

    async def handle(request: web.Request) -> web.Response:
        host = request.raw_path.split("/")[1]
        origin, target = (
            (simulated, request.raw_path)
            if simulated is not None
            else (f"https://{host}", request.raw_path[len(host) + 1 :])
        )
        headers = {name: value for name, value in request.headers.items() if name.lower() not in UNFORWARDED}
        answer = await client.request(
            request.method,
            origin,
            headers=headers,
            content=await request.read(),
            extensions={"target": target.encode("ascii")},
        )
        answer_headers = {name: value for name, value in answer.headers.items() if name not in UNRECORDED}
        response = {"status": answer.status_code, "headers": answer_headers, "body": _encode_body(answer.content)}
        cassette.exchanges.append({"request": await _read_request(request), "response": response})
        return web.Response(status=answer.status_code, headers=answer_headers, body=answer.content)

    async with httpx.AsyncClient(trust_env=False, timeout=60) as client, _serve_requests(handle) as url:
        cassette = Cassette(url, [], [])
        yield cassette


@asynccontextmanager
async def _serve_requests(handle: Any) -> AsyncIterator[str]:
    application = web.Application(client_max_size=64 * 1024 * 1024)
    application.router.add_route("*", "/{any:.*}", handle)
    runner = web.AppRunner(application)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", 0).start()
        yield f"http://127.0.0.1:{runner.addresses[0][1]}"
    finally:
        await runner.cleanup()


async def _read_request(request: web.Request) -> dict[str, Any]:
    """What is recorded of a request, and compared: no headers, since they hold the credentials."""
    return {
        "method": request.method,
        "url": SECRET.sub(r"\1filtered", f"https:/{request.raw_path}"),
        "body": _encode_body(await request.read()),
    }


def _encode_body(content: bytes) -> str | dict[str, str]:
    """A body as text without secrets, or encoded where it is no text."""
    try:
        return SECRET.sub(r"\1filtered", content.decode())
    except UnicodeDecodeError:
        return {"base64": base64.b64encode(content).decode("ascii")}
