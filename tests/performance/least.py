"""The least that section 2's endpoints cost in Python: aiohttp, the reads and rows that each needs, and no more.

No access rule, no scope, no check, no limits, no request ids, no log; a plan that is the same for every network. What
even this does not reach, nothing on this stack does.
"""

from __future__ import annotations

import hashlib
import sqlite3
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import orjson
from aiohttp import web
from sqlalchemy import Connection

from adsunify.store.clock import Clock, new_id
from adsunify.store.sqlite import SqliteStore

from . import floor

TOKEN = "least"
OPERATION = "operation"
TABLES = """
CREATE TABLE keys (hash TEXT PRIMARY KEY, workspace TEXT);
CREATE TABLE accounts (id TEXT PRIMARY KEY, workspace TEXT, currency TEXT);
CREATE TABLE operations (id TEXT PRIMARY KEY, workspace TEXT, plan BLOB);
CREATE TABLE bound (key TEXT PRIMARY KEY, digest TEXT, operation TEXT);
CREATE TABLE events (id TEXT PRIMARY KEY, body BLOB);
"""


@asynccontextmanager
async def application(account_id: str, brief: dict[str, Any]) -> AsyncIterator[web.Application]:
    """``GET /operations/{id}``, ``POST /validate-campaign`` and ``POST /create`` for one token and one account."""
    with TemporaryDirectory() as folder:
        path = Path(folder) / "least.db"
        reading = sqlite3.connect(path, isolation_level=None)
        reading.executescript(TABLES)
        reading.execute("INSERT INTO keys VALUES (?, 'w')", (_hash(TOKEN),))
        reading.execute("INSERT INTO accounts VALUES (?, 'w', 'USD')", (account_id,))
        reading.execute("INSERT INTO operations VALUES (?, 'w', ?)", (OPERATION, orjson.dumps(floor.plan(brief))))
        store = SqliteStore(path, Clock())
        app = web.Application()
        least = _Least(reading, store)
        app.router.add_get("/operations/{id}", least.get)
        app.router.add_post("/validate-campaign", least.validate)
        app.router.add_post("/create", least.create)
        yield app
        await store.close()
        reading.close()


class _Least:
    def __init__(self, reading: sqlite3.Connection, store: SqliteStore) -> None:
        self._reading = reading
        self._store = store

    async def get(self, request: web.Request) -> web.Response:
        row = self._one(
            "SELECT plan FROM operations WHERE id = ? AND workspace = ?", request.match_info["id"], self._of(request)
        )
        return _answer({"plan": orjson.Fragment(row[0])})

    async def validate(self, request: web.Request) -> web.Response:
        plan, digest = self._planned(self._of(request), await request.read())
        return _answer({"plan": plan, "digest": digest})

    async def create(self, request: web.Request) -> web.Response:
        workspace, body = self._of(request), await request.read()
        plan, digest = self._planned(workspace, body)
        key, id_ = request.headers["Idempotency-Key"], new_id(0)
        await self._store.write(_keep, key, hashlib.sha256(body).hexdigest(), id_, workspace, orjson.dumps(plan))
        return _answer({"id": id_, "plan": plan, "digest": digest})

    def _of(self, request: web.Request) -> str:
        token = request.headers["Authorization"].removeprefix("Bearer ")
        return str(self._one("SELECT workspace FROM keys WHERE hash = ?", _hash(token))[0])

    def _planned(self, workspace: str, body: bytes) -> tuple[dict[str, Any], str]:
        floor.Campaign.__pydantic_validator__.validate_json(body)
        given = orjson.loads(body)
        self._one("SELECT currency FROM accounts WHERE id = ? AND workspace = ?", given["accountId"], workspace)
        plan = floor.plan(given["campaign"])
        return plan, hashlib.sha256(orjson.dumps(plan, option=orjson.OPT_SORT_KEYS)).hexdigest()

    def _one(self, text: str, *values: str) -> Any:
        return self._reading.execute(text, values).fetchone()


def _keep(connection: Connection, key: str, digest: str, id_: str, workspace: str, plan: bytes) -> None:
    raw: Any = connection.connection.dbapi_connection
    raw.execute("INSERT INTO bound VALUES (?, ?, ?)", (key, digest, id_))
    raw.execute("INSERT INTO operations VALUES (?, ?, ?)", (id_, workspace, plan))
    raw.execute("INSERT INTO events VALUES (?, ?)", (new_id(0), b'{"type":"operation.prepared"}'))


def _hash(token: str) -> str:
    return hashlib.sha256(token.encode("ascii")).hexdigest()


def _answer(data: dict[str, Any]) -> web.Response:
    return web.Response(body=orjson.dumps({"data": data}), content_type="application/json")
