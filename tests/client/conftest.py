"""A server with every network connected, its database, which a client may also open itself, and clients of both."""

from __future__ import annotations

import asyncio
import shutil
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
import pytest_asyncio

from adsunify import AsyncAds, CampaignBrief, read_brief
from adsunify.service.factory import SANDBOX_URL_VARIABLE
from tests.server.conftest import connected_template
from tests.server.served import RING, Served, brief, serve_api

__all__ = ["connected_template"]

DOORS = ("local", "remote")


@pytest_asyncio.fixture(scope="module", loop_scope="module")
async def server(
    connected_template: tuple[Path, Served], tmp_path_factory: pytest.TempPathFactory
) -> AsyncIterator[Served]:
    path = tmp_path_factory.mktemp("client") / "ads.db"
    shutil.copyfile(connected_template[0], path)
    async with serve_api(f"sqlite:///{path}", copied=connected_template[1]) as server:
        yield server


def make_brief(network: str, **change: Any) -> CampaignBrief:
    return read_brief(brief(network, **change))


def environment(server: Served) -> dict[str, str]:
    return {**RING, SANDBOX_URL_VARIABLE: server.networks.url}


@asynccontextmanager
async def open_client(server: Served, door: str) -> AsyncIterator[AsyncAds]:
    """A client over the server's database, or over the server."""
    if door == "local":
        client = AsyncAds(server.database, workspace="shop", environment=environment(server))
    else:
        client = AsyncAds(server.base_url, token=server.people["admin"].tokens["write"])
    async with client:
        yield client


@pytest_asyncio.fixture(loop_scope="module")
async def clients(server: Served) -> AsyncIterator[dict[str, AsyncAds]]:
    server.networks.state.faults.pending.clear()
    async with open_client(server, "local") as local, open_client(server, "remote") as remote:
        yield {"local": local, "remote": remote}


@asynccontextmanager
async def serve_answer(answer: bytes) -> AsyncIterator[str]:
    """A server that answers everything with these bytes and hangs up."""

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        await reader.readuntil(b"\r\n\r\n")
        writer.write(answer)
        writer.close()

    listening = await asyncio.start_server(handle, "127.0.0.1", 0)
    async with listening:
        yield f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
