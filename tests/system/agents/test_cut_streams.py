"""Connections that are really cut: ``execute`` is sent again over a new one, and nothing is written twice.

A request is cut after so many of its bytes, or its response after so many bytes of it. The client then sends the call
again with a new id (MCP 2026-07-28, Key Changes, 9). The sandbox counts what was written.
"""

from __future__ import annotations

import asyncio
import itertools
import json
from contextlib import suppress
from urllib.parse import urlsplit

import pytest
from attrs import evolve, frozen

from tests.server.mcp_messages import NEWEST, read_events, with_metadata
from tests.server.served import Served, brief

from .agent import HEADERS, Agent, allow_agent, request

pytestmark = pytest.mark.asyncio(loop_scope="module")
STEPS = 4


@frozen
class Cut:
    """Where a connection is cut: after ``sent`` of the request's regions, or after ``read`` of the response's."""

    name: str
    sent: str = "all"
    read: str = "none"


SENT = ("nothing", "request line", "half of the headers", "all headers", "half of the body", "all but one byte")
READ = ("none", "one byte", "status line", "headers", "first report", "half", "almost all")
CUTS = (*(Cut(f"sent {point}", sent=point) for point in SENT), *(Cut(f"read {point}", read=point) for point in READ))


def encode(agent: Agent, operation: str, id_: int, *, streams: bool) -> bytes:
    """The bytes of an ``execute`` call, as HTTP/1.1 on a connection of its own."""
    arguments = {"operationId": operation, "confirmed": True}
    more = {"_meta": {"progressToken": id_}} if streams else {}
    message = request("tools/call", name="execute", arguments=arguments, **more) | {"id": id_}
    message, own = with_metadata(message, agent.version)
    body = json.dumps(message).encode()
    host = urlsplit(agent.server.base_url).netloc
    lines = {
        "Host": host,
        **HEADERS,
        **own,
        "Authorization": f"Bearer {agent.token}",
        "Connection": "close",
        "Content-Length": str(len(body)),
    }
    head = "".join(f"{name}: {value}\r\n" for name, value in lines.items())
    return f"POST /api/mcp HTTP/1.1\r\n{head}\r\n".encode() + body


def count_sent(whole: bytes, region: str) -> int:
    """How many bytes of a request are sent before it is cut."""
    line, head = whole.index(b"\r\n") + 2, whole.index(b"\r\n\r\n") + 4
    return {
        "nothing": 0,
        "request line": line,
        "half of the headers": (line + head) // 2,
        "all headers": head,
        "half of the body": (head + len(whole)) // 2,
        "all but one byte": len(whole) - 1,
        "all": len(whole),
    }[region]


async def connect(server: Served) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
    parts = urlsplit(server.base_url)
    return await asyncio.open_connection(parts.hostname, parts.port)


async def read_until_cut(reader: asyncio.StreamReader, region: str, length: int) -> None:
    """Read a response up to where it is cut. ``length``: of a whole response, which differs in ids and reports."""
    if region == "one byte":
        await reader.readexactly(1)
    elif region == "status line":
        await reader.readuntil(b"\r\n")
    elif region == "headers":
        await reader.readuntil(b"\r\n\r\n")
    elif region == "first report":
        await reader.readuntil(b"\n\n")
    elif region in ("half", "almost all"):
        with suppress(asyncio.IncompleteReadError):  # this response is shorter: it was read to its end
            await reader.readexactly(length // 2 if region == "half" else length * 9 // 10)


async def send(server: Served, whole: bytes) -> bytes:
    """Send a request and read the whole response."""
    reader, writer = await connect(server)
    writer.write(whole)
    response = await reader.read()
    writer.close()
    return response


def read_result(response: bytes) -> str:
    """The status of the operation in a whole response: JSON, or the last event of a stream."""
    head, _, body = response.partition(b"\r\n\r\n")
    assert head.startswith(b"HTTP/1.1 200 "), response
    if b"text/event-stream" in head:
        chunks = []
        while body:
            size, _, rest = body.partition(b"\r\n")
            chunks.append(rest[: int(size, 16)])
            body = rest[int(size, 16) + 2 :]
        message = read_events(b"".join(chunks).decode())[-1]
    else:
        message = json.loads(body)
    status: str = message["result"]["structuredContent"]["data"]["status"]
    return status


async def finish(agent: Agent, operation: str, *, streams: bool) -> None:
    """Send the call again, each time with a new id, until the operation has succeeded."""
    for id_ in itertools.count(100):
        status = read_result(await send(agent.server, encode(agent, operation, id_, streams=streams)))
        if status == "succeeded":
            return
        assert status in ("running", "prepared"), status
        await asyncio.sleep(0.02)  # the execution of the cut call is still running


@pytest.mark.parametrize("streams", [True, False], ids=["stream", "json"])
@pytest.mark.parametrize("version", [NEWEST, "2025-11-25"])
async def test_execute_over_cut_connections_writes_nothing_twice(both: Served, version: str, streams: bool) -> None:
    agent = evolve(await allow_agent(both), version=version)
    account = both.accounts["meta"]
    # the length of a whole response to a call whose operation has succeeded, which is what the cuts are measured by
    first = await agent.prepare_campaign(account, brief("meta"))
    writes = both.networks.writes()
    whole = await send(both, encode(agent, first, 1, streams=streams))
    assert read_result(whole) == "succeeded" and both.networks.writes() == writes + STEPS
    for cut in CUTS:
        if cut.read == "first report" and not streams:
            continue
        operation = await agent.prepare_campaign(account, brief("meta"))
        writes = both.networks.writes()
        called = encode(agent, operation, 1, streams=streams)
        reader, writer = await connect(both)
        writer.write(called[: count_sent(called, cut.sent)])
        await writer.drain()
        if cut.sent == "all":
            await read_until_cut(reader, cut.read, len(whole))
        writer.transport.abort()  # a reset, not a polite end
        await finish(agent, operation, streams=streams)
        again = read_result(await send(both, encode(agent, operation, 99, streams=streams)))
        assert again == "succeeded", cut
        assert both.networks.writes() == writes + STEPS, cut
        stored = await both.admin.get(f"/operations/{operation}")
        steps = [(step["key"], step["attempt"], step["state"]) for step in stored["receipt"]["steps"]]
        assert len(steps) == STEPS and {state for _, _, state in steps} == {"applied"}, cut
        assert {attempt for _, attempt, _ in steps} == {1}, cut


async def test_parallel_calls_over_cut_connections(both: Served) -> None:
    """Eight clients send the same call at once, and each is cut at another place; then one call gets the result."""
    agent = evolve(await allow_agent(both), version=NEWEST)
    operation = await agent.prepare_campaign(both.accounts["meta"], brief("meta"))
    writes = both.networks.writes()

    async def cut_off(number: int) -> None:
        called = encode(agent, operation, number, streams=number % 2 == 0)
        reader, writer = await connect(both)
        writer.write(called)
        await writer.drain()
        if number > 3:
            await reader.readexactly(number)
        writer.transport.abort()

    await asyncio.gather(*(cut_off(number) for number in range(8)))
    await finish(agent, operation, streams=True)
    assert both.networks.writes() == writes + STEPS
