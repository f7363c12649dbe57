"""The least server: what section 2's endpoints cost in Python with aiohttp, the reads, rows and commit that each needs.

Each endpoint makes the reads of ours, each once, and writes a row where ours does. The server has no access rule,
scope, check, limit, request id or log, and its plan is the same for every network. SQLite commits go through the
product's store, which groups them; PostgreSQL is asked through a pool of asyncpg.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, Protocol

import asyncpg
import orjson
from aiohttp import web
from attrs import frozen
from sqlalchemy import Connection

from adsunify.store.clock import Clock, new_id
from adsunify.store.sqlite import SqliteStore

from . import floor

TOKEN = "least"
OPERATION = "operation"
SCHEMA = "least"
POOL_SIZE = 8
TABLES = """
CREATE TABLE keys (hash TEXT PRIMARY KEY, workspace TEXT);
CREATE TABLE workspaces (id TEXT PRIMARY KEY, rules TEXT);
CREATE TABLE budgets (account TEXT PRIMARY KEY, highest TEXT);
CREATE TABLE accounts (id TEXT PRIMARY KEY, workspace TEXT, currency TEXT);
CREATE TABLE operations (id TEXT PRIMARY KEY, workspace TEXT, plan {bytes});
CREATE TABLE bound (key TEXT PRIMARY KEY, digest TEXT, operation TEXT);
CREATE TABLE events (id TEXT PRIMARY KEY, body {bytes});
CREATE TABLE ledger (id TEXT PRIMARY KEY, body {bytes});
"""
ADD_KEY = "INSERT INTO keys VALUES ($1, 'w')"
ADD_WORKSPACE = "INSERT INTO workspaces VALUES ('w', $1)"
ADD_ACCOUNT = "INSERT INTO accounts VALUES ($1, 'w', 'USD')"
ADD_OPERATION = "INSERT INTO operations VALUES ($1, $2, $3)"
ADD_BOUND_KEY = "INSERT INTO bound VALUES ($1, $2, $3)"
ADD_EVENT = "INSERT INTO events VALUES ($1, $2)"
ADD_ENTRY = "INSERT INTO ledger VALUES ($1, $2)"
READ_RULES = "SELECT rules FROM workspaces WHERE id = $1"
"""The version of the workspace's guardrails, which tells whether the credential is frozen and which rules apply."""
READ_BOUND_KEY = "SELECT digest, operation FROM bound WHERE key = $1"
READ_ACCOUNT = "SELECT currency FROM accounts WHERE id = $1 AND workspace = $2"
READ_BUDGET = "SELECT max(highest) FROM budgets WHERE account = $1"
EVENT = b'{"type":"operation.prepared"}'

Statement = tuple[str, Sequence[str | bytes]]


class Rows(Protocol):
    """The database of the least server."""

    async def read(self, text: str, *values: str) -> Any:
        """Read the first row that the statement finds."""

    async def write(self, statements: Sequence[Statement]) -> None:
        """Execute the statements in one commit."""


@frozen
class SqliteRows:
    """Rows of an SQLite file: reads in the event loop, writes by the store's writer thread."""

    reading: sqlite3.Connection
    store: SqliteStore

    async def read(self, text: str, *values: str) -> Any:
        return self.reading.execute(_to_sqlite(text), values).fetchone()

    async def write(self, statements: Sequence[Statement]) -> None:
        await self.store.write(_execute_all, statements)


@frozen
class PostgresqlRows:
    """Rows of a PostgreSQL database, in a schema of their own."""

    pool: Any  # asyncpg has no types

    async def read(self, text: str, *values: str) -> Any:
        return await self.pool.fetchrow(text, *values)

    async def write(self, statements: Sequence[Statement]) -> None:
        async with self.pool.acquire() as connection, connection.transaction():
            for text, values in statements:
                await connection.execute(text, *values)


@asynccontextmanager
async def application(url: str, account_id: str, brief: dict[str, Any]) -> AsyncIterator[web.Application]:
    """``GET /operations/{id}``, ``POST /validate-campaign`` and ``POST /create`` for one token and one account."""
    opening = _open_postgresql(url) if url.startswith("postgresql") else _open_sqlite()
    async with opening as rows:
        await rows.write(
            (
                (ADD_KEY, (_hash(TOKEN),)),
                (ADD_WORKSPACE, ("0",)),
                (ADD_ACCOUNT, (account_id,)),
                (ADD_OPERATION, (OPERATION, "w", orjson.dumps(floor.plan(brief)))),
            )
        )
        handlers = _Handlers(rows)
        app = web.Application()
        app.router.add_get("/operations/{id}", handlers.get_operation)
        app.router.add_post("/validate-campaign", handlers.validate_campaign)
        app.router.add_post("/create", handlers.create)
        yield app


@asynccontextmanager
async def _open_sqlite() -> AsyncIterator[Rows]:
    with TemporaryDirectory() as folder:
        path = Path(folder) / "least.db"
        reading = sqlite3.connect(path, isolation_level=None)
        reading.executescript(TABLES.format(bytes="BLOB"))
        store = SqliteStore(path, Clock())
        yield SqliteRows(reading, store)
        await store.close()
        reading.close()


@asynccontextmanager
async def _open_postgresql(url: str) -> AsyncIterator[Rows]:
    settings = {"search_path": SCHEMA}
    async with asyncpg.create_pool(url, min_size=1, max_size=POOL_SIZE, server_settings=settings) as pool:
        await pool.execute(f"DROP SCHEMA IF EXISTS {SCHEMA} CASCADE; CREATE SCHEMA {SCHEMA};")
        await pool.execute(TABLES.format(bytes="BYTEA"))
        yield PostgresqlRows(pool)


class _Handlers:
    """The three endpoints."""

    def __init__(self, rows: Rows) -> None:
        self._rows = rows

    async def get_operation(self, request: web.Request) -> web.Response:
        workspace = await self._get_workspace(request)
        text = "SELECT plan FROM operations WHERE id = $1 AND workspace = $2"
        row = await self._rows.read(text, request.match_info["id"], workspace)
        return _make_response({"plan": orjson.Fragment(row[0])})

    async def validate_campaign(self, request: web.Request) -> web.Response:
        plan, digest = await self._plan(await self._get_workspace(request), await request.read())
        return _make_response({"plan": plan, "digest": digest})

    async def create(self, request: web.Request) -> web.Response:
        workspace, body = await self._get_workspace(request), await request.read()
        plan, digest = await self._plan(workspace, body)
        operation_id = new_id(0)
        key = request.headers["Idempotency-Key"]
        await self._rows.read(READ_BOUND_KEY, key)
        await self._rows.write(
            (
                (ADD_BOUND_KEY, (key, hashlib.sha256(body).hexdigest(), operation_id)),
                (ADD_OPERATION, (operation_id, workspace, orjson.dumps(plan))),
                (ADD_EVENT, (new_id(0), EVENT)),
                (ADD_ENTRY, (new_id(0), EVENT)),
            )
        )
        return _make_response({"id": operation_id, "plan": plan, "digest": digest})

    async def _get_workspace(self, request: web.Request) -> str:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        return str((await self._rows.read("SELECT workspace FROM keys WHERE hash = $1", _hash(token)))[0])

    async def _plan(self, workspace: str, body: bytes) -> tuple[dict[str, Any], str]:
        floor.Campaign.__pydantic_validator__.validate_json(body)
        values = orjson.loads(body)
        await self._rows.read(READ_ACCOUNT, values["accountId"], workspace)
        await self._rows.read(READ_BUDGET, values["accountId"])
        await self._rows.read(READ_RULES, workspace)
        plan = floor.plan(values["campaign"])
        return plan, hashlib.sha256(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS)).hexdigest()


def _execute_all(connection: Connection, statements: Sequence[Statement]) -> None:
    raw: Any = connection.connection.dbapi_connection
    for text, values in statements:
        raw.execute(_to_sqlite(text), values)


def _to_sqlite(text: str) -> str:
    """SQLite numbers its parameters with a question mark."""
    return text.replace("$", "?")


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def _make_response(data: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps({"data": data}), content_type="application/json")
