"""A proxy before the simulated networks that sends a late copy of each answer, and what must hold in spite of it."""

from __future__ import annotations

import asyncio
import random
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager, suppress
from itertools import groupby
from typing import Any
from urllib.parse import urlsplit

from adsunify.actor import Actor
from adsunify.models.brief import CampaignBrief
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import campaigns, operations
from adsunify.service.core import Service
from tests.system.crash.stage import collect_ids

from .served import Served, brief

LATEST = 0.05
"""Seconds between an answer and its copy, at most."""


@asynccontextmanager
async def run_repeating_proxy(sandbox_url: str) -> AsyncIterator[str]:
    """Keep-alive connections to the networks; each answer comes a second time after 0 to 50 ms. Yields the address."""
    place, draw, loop = urlsplit(sandbox_url), random.Random(), asyncio.get_running_loop()

    async def forward(request: bytes) -> bytes:
        reader, writer = await asyncio.open_connection(place.hostname, place.port)
        writer.write(request.replace(b"\r\n\r\n", b"\r\nConnection: close\r\n\r\n", 1))
        answer = await reader.read()
        writer.close()
        return answer.replace(b"\r\nConnection: close", b"", 1)

    def repeat(writer: asyncio.StreamWriter, answer: bytes) -> None:
        if not writer.is_closing():
            writer.write(answer)

    async def accept_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(asyncio.IncompleteReadError, asyncio.CancelledError, ConnectionError):
            while True:
                head = await reader.readuntil(b"\r\n\r\n")
                lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
                body = await reader.readexactly(int(lengths[0].split(b":")[1]) if lengths else 0)
                answer = await forward(head + body)
                writer.write(answer)
                await writer.drain()
                loop.call_later(draw.uniform(0, LATEST), repeat, writer, answer)
        writer.close()

    server = await asyncio.start_server(accept_connection, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}"
    finally:
        server.close()


async def prepare_campaign(service: Service, actor: Actor, network: str, account_id: str) -> str:
    """Prepare a campaign; the id of the operation."""
    campaign = CampaignBrief.model_validate(brief(network))
    response = await campaigns.prepare_campaign(
        service, actor, account_id=account_id, campaign=campaign, idempotency=None
    )
    operation: Any = response.data
    return str(operation["id"])


async def assert_each_receipt_is_its_own(server: Served, each: int) -> int:
    """Execute ``each`` campaigns of every connected account through the repeating proxy; how many there were.

    The networks work side by side; on one network the workspaces take turns, so that the native writes come in the
    order of the receipts.
    """
    service, people = server.service, server.people
    prepared: dict[str, list[tuple[Actor, str]]] = {}
    for network in ADAPTER_PACKAGES:
        pairs = [("admin", server.accounts.get(network)), ("stranger", server.foreign.get(network))]
        accounts = [(people[name].actor, account_id) for name, account_id in pairs if account_id is not None]
        prepared[network] = [
            (actor, await prepare_campaign(service, actor, network, account_id))
            for _ in range(each)
            for actor, account_id in accounts
        ]
    before = len(server.networks.state.writes)
    direct = service.transport
    async with run_repeating_proxy(server.networks.url) as url:
        service.transport = type(direct)(url)
        try:
            receipt_ids = await asyncio.gather(
                *(_receipts(service, operation_ids) for operation_ids in prepared.values())
            )
        finally:
            service.transport = direct
    written_groups = _group_writes(server.networks.state.writes[before:])
    for network, step_ids in zip(prepared, receipt_ids, strict=True):
        assert len(step_ids) == len(written_groups[network]), network
        assert all(own & touched for own, touched in zip(step_ids, written_groups[network], strict=True)), network
        assert len(set(step_ids)) == len(step_ids), network
    return sum(map(len, prepared.values()))


async def _receipts(service: Service, prepared: Sequence[tuple[Actor, str]]) -> list[frozenset[str]]:
    """Execute one operation after the other; the ids that the receipt of each step holds."""
    step_ids = []
    for actor, operation_id in prepared:
        operation: Any = await operations.execute_operation(service, actor, operation_id=operation_id, confirmed=True)
        while operation.get("nextAction") == "execute" and "retryAfterMs" not in operation:
            operation = await operations.execute_operation(service, actor, operation_id=operation_id, confirmed=True)
        assert operation["status"] == "succeeded", operation["error"]
        step_ids += [collect_ids(step) for step in operation["receipt"]["steps"]]
    return step_ids


def _group_writes(rows: Sequence[Mapping[str, str]]) -> dict[str, list[frozenset[str]]]:
    """The ids that each native write touched, by network, in order."""
    groups: dict[str, list[frozenset[str]]] = {network: [] for network in ADAPTER_PACKAGES}
    for network in ADAPTER_PACKAGES:
        own = [row for row in rows if row["network"] == network]
        for _, group in groupby(own, key=lambda row: row["request"]):
            groups[network].append(frozenset(row["id"] for row in group))
    return groups
