"""Every endpoint that changes something leaves a row in the ledger, in the same transaction, without secrets.

Made from the contract's rows: a new endpoint is tried by itself.
"""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from adsunify.encryption import KeyRing, SecretContext, decrypt
from adsunify.errors import StoreError
from adsunify.store.schema import api_keys, ledger, metadata, oauth_tokens, secrets, sessions, users
from adsunify.values.exact_json import loads
from tests.pages.browsing import PASSWORD, set_passwords
from tests.server.oauth import agent
from tests.server.test_resuming import settle

from .asking import Inventory
from .spec import ROWS, Row
from .test_endpoints import send_good

pytestmark = [pytest.mark.asyncio(loop_scope="module"), pytest.mark.usefixtures("no_webhooks_left")]
WRITES = [row for row in ROWS if row.method != "GET"]
OBSERVATIONS = {"budgets", "entities", "reports", "ledger", "ledger_heads"}
"""Tables of what was read from the networks, and the ledger itself."""
UNRECORDED = {"last_used_at", "refreshing_until"}
"""Columns that are no state of anything."""
UNCHANGING = {"POST /diff", "POST /validate-campaign", "POST /accounts/{accountId}/validate"}


def read_tables(connection: Connection) -> dict[str, list[Any]]:
    """All rows of all tables, without :data:`OBSERVATIONS`."""
    return {
        table.name: sorted(
            map(
                repr,
                connection.execute(select(*(column for column in table.c if column.name not in UNRECORDED))).all(),
            )
        )
        for table in metadata.sorted_tables
        if table.name not in OBSERVATIONS
    }


def read_ledger(connection: Connection) -> list[Any]:
    return list(connection.execute(select(ledger).order_by(ledger.c.created_at, ledger.c.id)).all())


async def read_settled(own: Inventory) -> dict[str, list[Any]]:
    """All tables when no notification is on its way and nothing runs in the background."""
    async with asyncio.timeout(60):
        while True:
            await own.server.wait_for_background_tasks()
            before = await own.server.service.store.read(read_tables)
            await asyncio.sleep(0.05)
            if before == await own.server.service.store.read(read_tables):
                return before


def find_key_id(connection: Connection, secret: str) -> str:
    return str(connection.execute(select(api_keys.c.id).where(api_keys.c.prefix == secret[4:12])).scalar_one())


@asynccontextmanager
async def blocked_ledger(own: Inventory) -> AsyncIterator[None]:
    """While this is open, no row can be stored in the ledger."""
    store = own.server.service.store

    def rename(connection: Connection, name: str, other: str) -> None:
        connection.execute(text(f"ALTER TABLE {name} RENAME TO {other}"))

    await store.write(rename, "ledger", "blocked_ledger")
    try:
        yield
    finally:
        await store.write(rename, "blocked_ledger", "ledger")


@pytest.mark.parametrize("row", WRITES, ids=lambda row: row.name)
async def test_every_change_leaves_a_row_in_its_transaction(own: Inventory, row: Row) -> None:
    store, caller = own.server.service.store, own.server.people[own.person].actor
    for other in ROWS:  # parents and members of lists, which the request is built of
        if other.method == "GET" and other.path.endswith("{entityId}"):
            await own.ids(other)
    ids = await own.ids(row)
    before = await read_settled(own)
    if row.name.endswith("/settle"):
        await check_settlement(own, ids["operationId"], before)
        return
    if row.name not in UNCHANGING:
        async with blocked_ledger(own):
            refused = await send_good(own, row, ids)
        assert "store_unavailable" in refused.text
        assert await read_settled(own) == before  # what has no row in the ledger is not stored
    recorded = await store.read(read_ledger)
    answer = await send_good(own, row, ids)
    assert answer.status_code == row.status, answer.text
    new = [entry for entry in await store.read(read_ledger) if entry not in recorded]
    is_changed = await store.read(read_tables) != before
    assert is_changed == (row.name not in UNCHANGING) == bool(new)
    key_id = await store.read(find_key_id, own.server.people[own.person].tokens["write"])
    assert {(entry.workspace_id, entry.user_id, entry.credential) for entry in new} <= {
        (caller.workspace_id, caller.user_id, key_id)
    }


async def check_settlement(own: Inventory, operation_id: str, before: dict[str, list[Any]]) -> None:
    """Only a person settles, so no key can call the endpoint."""
    store, recorded = own.server.service.store, await own.server.service.store.read(read_ledger)
    async with blocked_ledger(own):
        with pytest.raises(StoreError, match="ledger"):
            await settle(own.server, operation_id, "not_applied")
    assert await read_settled(own) == before
    await settle(own.server, operation_id, "not_applied")
    (new,) = [entry for entry in await store.read(read_ledger) if entry not in recorded]
    assert (new.kind, new.subject_id, new.credential) == ("settlement", operation_id, "session")


def read_secrets(connection: Connection, ring: KeyRing) -> Iterator[str]:
    """Yield what the store keeps encrypted or hashed."""
    for row in connection.execute(select(secrets)).all():
        plain = decrypt(ring, SecretContext(row.table_name, row.row_id, row.workspace_id, row.field), row.sealed)
        yield from loads(plain).values() if plain.startswith("{") else [plain]
    for column in (users.c.password_hash, api_keys.c.secret_hash, oauth_tokens.c.token_hash, sessions.c.token_hash):
        yield from connection.execute(select(column)).scalars()


async def test_no_row_has_a_secret(own: Inventory) -> None:
    """Tokens, keys, passwords, signing secrets, what the networks issued, and the hashes of all these."""
    server = own.server
    for row in WRITES:
        if row.path.startswith(("/keys", "/webhooks", "/connections", "/guardrails")) and not row.parameters:
            await send_good(own, row, await own.ids(row))
    await set_passwords(server)
    tokens = await (await agent(server)).tokens(own.person)
    issued_secrets = [*(token for person in server.people.values() for token in person.tokens.values()), PASSWORD]
    issued_secrets += [str(tokens["access_token"]), str(tokens["refresh_token"])]
    issued_secrets += await server.service.store.read(
        lambda connection: list(read_secrets(connection, server.service.ring))
    )
    planted = [secret for secret in issued_secrets if isinstance(secret, str) and len(secret) > 7]
    assert len(planted) > 20
    rows = await server.service.store.read(read_ledger)
    assert {"key", "grant", "webhook", "connection", "account", "password", "guardrail"} <= {row.kind for row in rows}
    text_ = "\n".join(map(repr, rows))
    assert [secret for secret in planted if secret in text_] == []
