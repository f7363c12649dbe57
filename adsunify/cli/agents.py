"""``adsunify mcp``: the agents' door on standard input and output."""

from __future__ import annotations

import asyncio
import os

import click

from adsunify.client.doors import open_door
from adsunify_mcp.stdio import serve

from .options import Where, anywhere


@click.command()
@anywhere
def mcp(where: Where) -> None:
    """Speak MCP on standard input and output, over a store or a server."""
    asyncio.run(_mcp(where))


async def _mcp(where: Where) -> None:
    door = await open_door(where.url, where.token, where.workspace, os.environ)
    try:
        await serve(door)
    finally:
        await door.close()
