"""``adsunify mcp``: an MCP server for agents on standard input and output."""

from __future__ import annotations

import asyncio
import os

import click

from adsunify.client.backends import open_backend
from adsunify_mcp.stdio import serve_stdio

from .options import Target, target_options


@click.command()
@target_options
def mcp(target: Target) -> None:
    """Run an MCP server on standard input and output, for a local store or a server."""
    asyncio.run(_serve_mcp(target))


async def _serve_mcp(target: Target) -> None:
    backend = await open_backend(target.url, target.token, target.workspace, os.environ)
    try:
        await serve_stdio(backend)
    finally:
        await backend.close()
