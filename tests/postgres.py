"""Statements to the test PostgreSQL itself, and a network before it that can be cut."""

from __future__ import annotations

import asyncio

import asyncpg


async def execute(url: str, statement: str, name: str = "postgres") -> None:
    """Run a statement in a database of the server; ``url`` has ``{name}`` in the place of the database's."""
    connection = await asyncpg.connect(url.format(name=name))
    await connection.execute(statement)
    await connection.close()


class Partition:
    """A network between clients and PostgreSQL's socket in ``folder``. What is cut stays open, and carries nothing."""

    def __init__(self, folder: str) -> None:
        self.target = f"{folder}/.s.PGSQL.5432"
        self.open: set[asyncio.Task[None]] = set()
        self.sides: list[asyncio.StreamWriter] = []
        self.all = False
        """Whether new connections are cut, too."""

    async def __call__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self.sides.append(writer)
        if self.all:
            return
        server_reader, server_writer = await asyncio.open_unix_connection(self.target)
        self.sides.append(server_writer)
        for source, to in ((reader, server_writer), (server_reader, writer)):
            task = asyncio.create_task(self._forward(source, to))
            self.open.add(task)
            task.add_done_callback(self.open.discard)

    async def _forward(self, source: asyncio.StreamReader, to: asyncio.StreamWriter) -> None:
        while read := await source.read(65536):
            to.write(read)
        to.close()

    def cut(self) -> None:
        for task in self.open:
            task.cancel()

    def cut_all(self) -> None:
        self.all = True
        self.cut()

    async def end(self) -> None:
        self.cut()
        for side in self.sides:
            side.close()
        await asyncio.gather(*(side.wait_closed() for side in self.sides), return_exceptions=True)
