"""The ledger: which changes leave a row, in the same transaction, and who made them."""

from __future__ import annotations

from typing import Any

import pytest
from sqlalchemy import Connection, select, text

from adsunify.execution.state import Receipt, StateCommit
from adsunify.ledger import LedgerEntry, hash_content, hash_json
from adsunify.store import agents, cancellation, connections, keys, operations, people, sessions, webhooks
from adsunify.store.ledger import CONTENT_COLUMNS, record_entry
from adsunify.store.schema import ledger
from adsunify.values.exact_json import Json, loads

from .world import START, World, make_receipt


async def read_rows(world: World, *kinds: str) -> list[Any]:
    """The rows of these kinds, oldest first."""

    def read(connection: Connection) -> list[Any]:
        ordered = select(ledger).where(ledger.c.kind.in_(kinds)).order_by(ledger.c.created_at, ledger.c.id)
        return list(connection.execute(ordered).all())

    return await world.store.read(read)


async def read_changes(world: World, *kinds: str) -> list[tuple[str, str, Json, Json]]:
    """Kind, subject, before and after of each row."""
    return [
        (row.kind, row.subject_id, *(None if state is None else loads(state) for state in (row.before, row.after)))
        for row in await read_rows(world, *kinds)
    ]


async def test_an_operation_leaves_a_row_for_each_of_its_commits(world: World) -> None:
    operation = await world.prepare(world.member)
    claim = await world.claim(operation)
    receipt = make_receipt(0)
    ended = StateCommit(operation, claim.fence, receipt=receipt, trigger="hand_back", has_next_action=True)
    for _ in range(2):  # a commit that is repeated leaves no second row
        await world.advance(ended)
    await world.store.write(cancellation.cancel_operation, world.member, operation, world.clock)
    rows = await read_rows(world, "prepare", "execute", "receipt", "cancel")
    digest = hash_json(receipt.to_json())
    member, admin = ((actor.user_id, "session") for actor in (world.member, world.admin))
    assert [(row.kind, row.user_id, row.credential) for row in rows] == [
        ("prepare", *member),
        ("execute", *admin),
        ("receipt", *admin),
        ("cancel", *member),
    ]
    assert {(row.subject_type, row.subject_id, row.account_id, row.network, row.created_at) for row in rows} == {
        ("operation", operation, world.account.id, "meta", START)
    }
    record = await world.get(operation)
    assert [loads(row.after) for row in rows] == [
        {"action": "create", "status": "prepared", "risk": "low", "planDigest": record.plan_digest},
        {"status": "running", "fence": 1},
        {"step": "campaign", "attempt": 1, "state": "applied", "late": False, "digest": digest},
        {"status": "cancelled"},
    ]
    assert [row.before and loads(row.before) for row in rows[1:]] == [
        {"status": "prepared"},
        {"state": "in_flight"},
        {"status": "prepared"},
    ]
    stored = (await world.attempts(operation))[0].receipt
    assert isinstance(stored, Receipt) and hash_json(stored.to_json()) == digest


async def test_access_leaves_rows(world: World) -> None:
    store, clock, member, admin = world.store, world.clock, world.member, world.admin
    home = member.workspace_id
    key = await store.write(keys.create_key, home, member.user_id, "k", "abcdefgh", "5" * 64, True, None, clock)
    for _ in range(2):
        await store.write(keys.revoke_key, member, key.id, clock)
    await store.write(agents.register_client, "client", "Agent", ["https://a.example/"], 1, clock)
    grants = [
        await store.write(agents.create_grant, home, member.user_id, "client", True, "r", 1_000, clock) for _ in "12"
    ]
    await store.write(agents.save_token, grants[1].id, "refresh", "h" * 64, 1_000, clock)
    for _ in range(2):
        await store.write(agents.end_grant_of_token, "h" * 64, clock)
    await store.write(sessions.create_invitation, "t" * 64, home, admin.user_id, "x@y.example", "viewer", 1, clock)
    for role in ("member", "viewer"):  # the first one changes nothing
        await store.write(people.set_membership, home, member.user_id, role, clock, admin)
    await store.write(people.set_password, member.user_id, "$argon2id$secret", clock, member)
    await store.write(people.remove_membership, home, member.user_id, clock, admin)
    state = {"name": "k", "ownerId": member.user_id, "canWrite": True, "scope": None, "expiresAt": None}
    unrevoked, revoked = ({**state, "revokedAt": at} for at in (None, START))
    grant_state = {
        "userId": member.user_id,
        "clientId": "client",
        "canWrite": True,
        "scope": None,
        "expiresAt": START + 1_000,
        "revokedAt": None,
    }
    ended = grant_state | {"revokedAt": START}
    kinds = ("key", "grant", "invitation", "password")
    assert await read_changes(world, *kinds) == [
        ("key", key.id, None, unrevoked),
        ("key", key.id, unrevoked, revoked),
        ("grant", grants[0].id, None, grant_state),
        ("grant", grants[0].id, grant_state, ended),
        ("grant", grants[1].id, None, grant_state),
        ("grant", grants[1].id, grant_state, ended),
        ("invitation", "x@y.example", None, {"role": "viewer", "expiresAt": START + 1}),
        ("password", member.user_id, None, None),
    ]
    assert [(row.user_id, row.credential) for row in await read_rows(world, *kinds)] == [
        (None, "local"),
        (member.user_id, "session"),
        *[(member.user_id, "session")] * 3,
        (member.user_id, f"client:{member.user_id}"),
        (admin.user_id, "session"),
        (member.user_id, "session"),
    ]
    changes = [change[2:] for change in await read_changes(world, "membership") if change[1] == member.user_id]
    assert changes == [
        (None, {"role": "member"}),
        ({"role": "member"}, {"role": "viewer"}),
        ({"role": "viewer"}, None),
    ]


async def test_connections_leave_rows_for_each_account(world: World) -> None:
    store, clock, account = world.store, world.clock, world.account
    for _ in range(2):
        await store.write(connections.mark_needs_reauth, account.connection_id, clock)
    await store.write(connections.set_extras, account.id, {"manager": "7"}, clock)
    await store.write(connections.disconnect, world.admin, account.connection_id, clock)
    changes = await read_changes(world, "connection", "account")
    subjects = [("connection", account.connection_id), ("account", account.id)]
    assert [(kind, id_) for kind, id_, *_ in changes] == [*subjects * 2, subjects[1], *subjects]
    active, refused, gone = ({"status": name} for name in ("active", "needs_reauth", "disconnected"))
    assert [change[2:] for change in changes] == [
        (None, active),
        (None, active | {"connectionId": account.connection_id, "nativeId": "act_1"}),
        *[(active, refused)] * 2,
        ({"extras": {}}, {"extras": {"manager": "7"}}),
        *[(refused, gone)] * 2,
    ]
    authors = [(row.user_id, row.credential) for row in await read_rows(world, "connection")]
    assert authors == [(world.admin.user_id, "session"), (None, "system"), (world.admin.user_id, "session")]


async def test_the_address_of_a_webhook_is_recorded_as_a_digest(world: World) -> None:
    """Receivers put secrets into their addresses."""
    url, clock = "https://user:pass@hooks.example/services/T0/secret", world.clock
    await world.store.write(webhooks.create_webhook, world.admin, "id", url, None, ["rule.triggered"], clock)
    await world.store.write(webhooks.update_webhook, world.admin, "id", {"active": False}, clock)
    await world.store.write(webhooks.remove_webhook, world.admin, "id", clock)
    webhook_state: dict[str, Json] = {"origin": "https://hooks.example", "urlDigest": hash_json(url)}
    states = [{**webhook_state, "events": ["rule.triggered"], "active": active} for active in (True, False)]
    assert [change[2:] for change in await read_changes(world, "webhook")] == [
        (None, states[0]),
        (states[0], states[1]),
        (states[1], None),
    ]


async def test_a_row_has_the_hash_of_its_content(world: World) -> None:
    entry = LedgerEntry(world.admin.workspace_id, world.admin, "prepare", "op", None, None, None, {"b": "ü", "a": 1})
    await world.store.write(record_entry, entry, world.clock)
    (row,) = await read_rows(world, "prepare")
    assert row.after == '{"a":1,"b":"\\u00fc"}'
    content = [None if row._mapping[name] is None else str(row._mapping[name]) for name in CONTENT_COLUMNS]
    assert row.content_hash == hash_content(content)
    assert (row.seq, row.chain_hash) == (None, None)


async def test_nothing_is_stored_without_its_row(world: World) -> None:
    """The ledger is in the transaction: if its row cannot be stored, the change is not stored."""

    def rename(connection: Connection, name: str, new: str) -> None:
        connection.execute(text(f"ALTER TABLE {name} RENAME TO {new}"))

    operation = await world.prepare()
    await world.store.write(rename, "ledger", "elsewhere")
    for change in (world.prepare, lambda: world.claim(operation)):
        with pytest.raises(Exception, match="ledger"):
            await change()
    await world.store.write(rename, "elsewhere", "ledger")  # the next test gets the same database
    assert [record.id for record in await world.store.read(operations.list_operations, world.admin, world.clock)] == [
        operation
    ]
    assert (await world.get(operation)).status == "prepared"
