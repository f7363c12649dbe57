"""``adsunify mcp``: the agents' door on standard input and output."""

from __future__ import annotations

import asyncio
import os

import click

from adsunify.client.doors import LOCAL, open_door
from adsunify.service.opening import DATABASE
from adsunify_mcp.stdio import serve

from .admin import DEFAULT_DATABASE


@click.command()
@click.option("--database", envvar=DATABASE, default=DEFAULT_DATABASE, show_default=True, help="Where all is kept.")
@click.option("--server", help="A server's address, in place of a database.")
@click.option("--token", envvar="ADSUNIFY_TOKEN", help="The bearer token for the server.")
def mcp(database: str, server: str | None, token: str | None) -> None:
    """Speak MCP on standard input and output, over a database or a server."""
    asyncio.run(_mcp(server or database, token))


async def _mcp(where: str, token: str | None) -> None:
    door = await open_door(where, token, LOCAL, os.environ)
    try:
        await serve(door)
    finally:
        await door.close()
