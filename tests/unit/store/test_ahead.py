"""A clock that is 400 days ahead for a moment: its times are not followed, are shown, and are repaired."""

from __future__ import annotations

from typing import Any

import pytest
from attrs import evolve
from sqlalchemy import BigInteger, Connection, select

from adsunify.errors import StoreError
from adsunify.execution.state import StateCommit
from adsunify.store import (
    Clock,
    ahead,
    cancellation,
    deliveries,
    keys,
    open_store,
    schema,
    sessions,
    webhooks,
)
from adsunify.store.ahead import EVIDENCE_TABLES, EXPIRY_COLUMN, MAX_AHEAD
from adsunify.store.clock import MAX_AHEAD_MILLISECONDS

from .world import START, Hands, World, make_receipt, make_world

FAR = 400 * 24 * 60 * 60 * 1000
LIFETIME = 30 * 24 * 60 * 60 * 1000


def clock_of(hands: Hands) -> Clock:
    return Clock(lambda: hands.wall, lambda: hands.monotonic)


async def fill_store(world: World) -> str:
    """Some of all that has a time: an operation that runs, a key, a session, a delivery."""
    store, admin = world.store, world.admin
    hook = ("hook" + str(world.hands.wall), "https://hooks.example/", None, ["operation.prepared"], store.clock)
    await store.write(webhooks.create_webhook, admin, *hook)
    operation = await world.prepare()
    await world.claim(operation)
    expires = store.clock.wall() + LIFETIME
    await store.write(
        keys.create_key, admin.workspace_id, admin.user_id, "k", f"k{expires}", "00", True, expires, store.clock
    )
    await store.write(sessions.create_session, f"s{expires}", admin.user_id, None, LIFETIME, store.clock)
    return operation


def times(connection: Connection) -> list[tuple[str, int]]:
    """Every time that is decided by, with the name of its column."""
    return [
        (f"{table.name}.{column.name}", at)
        for table in schema.metadata.sorted_tables
        if table not in EVIDENCE_TABLES
        for column in table.c
        if isinstance(column.type, BigInteger)
        for at in connection.execute(select(column).where(column.is_not(None))).scalars()
    ]


async def test_a_database_from_a_wrong_clock_is_refused_until_it_is_repaired(url: str, hands: Hands) -> None:
    hands.wall += FAR
    world = await make_world(await open_store(url, clock=clock_of(hands)), hands)
    operation = await fill_store(world)
    await world.store.close()
    hands.wall -= FAR
    with pytest.raises(StoreError, match=r"400 days ahead .* 2028-02-19T08:00:00.* 2027-01-15T08:00:00.* admin clock"):
        await open_store(url, clock=clock_of(hands))
    store = world.store = await open_store(url, clock=clock_of(hands), allow_wrong_times=True)
    columns = await store.read(ahead.find_future_columns, START)
    assert {("operations", "updated_at"), ("events", "created_at")} <= {
        (column.table, column.column) for column in columns
    }
    await store.write(ahead.repair_future_times, START)
    assert await store.read(ahead.find_future_columns, START) == []
    latest = {"expires_at": START + 90 * 24 * 60 * 60 * 1000}
    assert [row for row in await store.read(times) if row[1] > latest.get(row[0].split(".")[1], START)] == []
    assert await store.read(sessions.find_session, f"s{START + FAR + LIFETIME}", store.clock) is not None
    await store.close()
    store = world.store = await open_store(url, clock=clock_of(hands))
    assert (await world.get(operation)).is_stalled
    fresh = await world.prepare()
    claimed = await world.claim(fresh)
    assert (claimed.refusal, claimed.committed_at) == (None, START)
    await store.close()


async def test_a_moment_of_a_wrong_clock_harms_only_what_it_wrote(world: World) -> None:
    hands, store = world.hands, world.store
    before = await world.prepare()
    hands.wall += FAR
    wrong = await world.prepare()
    hands.wall -= FAR
    record = await world.get(wrong)
    assert record.created_at == START + FAR
    assert (await world.claim(wrong)).refusal == "clock"
    assert store.clock.now() == START
    claimed = await world.claim(before)
    assert (claimed.refusal, claimed.committed_at) == (None, START)
    await world.advance(StateCommit(before, claimed.fence, receipt=make_receipt(0), trigger="hand_back"))
    assert (await world.get(before)).executed_by == {
        "userId": world.admin.user_id,
        "credential": "session",
        "at": "2027-01-15T08:00:00.000Z",
    }
    await store.write(ahead.repair_future_times, START)
    assert (await world.get(wrong)).is_expired
    assert (await world.claim(wrong)).refusal == "expired"


async def test_credentials_expire_by_the_wall_clock(world: World) -> None:
    """Another machine is 4 minutes ahead: what it stored is followed, but no credential ends early by it."""
    store = world.store
    expires = START + 60_000
    await store.write(sessions.create_session, "s", world.admin.user_id, None, 60_000, store.clock)
    actor = evolve(world.admin, session_hash="s")
    store.clock.observe(START + 4 * 60_000)
    assert store.clock.now() > expires
    assert await store.read(sessions.find_session, "s", store.clock) is not None
    operation = await world.prepare(actor)
    assert (await world.claim(operation, actor)).refusal is None
    world.hands.pass_(60_000)
    assert await store.read(sessions.find_session, "s", store.clock) is None


async def test_what_is_right_is_left_alone(world: World) -> None:
    await fill_store(world)
    store = world.store
    await store.write(deliveries.claim_deliveries, store.clock, 10, {}, 5)
    before = await store.read(times)
    assert await store.read(ahead.find_future_columns, START) == []
    await store.write(ahead.repair_future_times, START)
    assert await store.read(times) == before
    await store.write(cancellation.cancel_operation, world.admin, await world.prepare(), world.clock)


def test_every_time_that_is_due_has_a_limit() -> None:
    """A new column of times is either in the past when it is written, or in LONGEST, or an expiry."""
    future: set[Any] = {
        column for table in schema.metadata.sorted_tables for column in table.c if "until" in column.name
    }
    assert future <= set(MAX_AHEAD)
    assert all(isinstance(column.type, BigInteger) and column.name != EXPIRY_COLUMN for column in MAX_AHEAD)
    assert MAX_AHEAD_MILLISECONDS == 300_000
