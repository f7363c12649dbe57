"""Statements to the test PostgreSQL itself."""

from __future__ import annotations

import asyncpg


async def execute(url: str, statement: str, name: str = "postgres") -> None:
    """Run a statement in a database of the server; ``url`` has ``{name}`` in the place of the database's."""
    connection = await asyncpg.connect(url.format(name=name))
    await connection.execute(statement)
    await connection.close()
