"""Rotating the master key under load, killed on the way: no read fails, and the old key can go."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from adsunify.encryption import KeyRing, SecretContext, decrypt, encrypt, reencrypt
from adsunify.errors import InvalidInput, VaultError
from adsunify.service import cursors
from adsunify.service.cursors import Position
from adsunify.service.key_rotation import rotate_keys
from adsunify.store import Store, consents, encrypted_secrets

from .rotation import rehearse
from .world import World

OLD = KeyRing({"old": b"o" * 32})
BOTH = KeyRing({"new": b"n" * 32, **OLD.keys})
NEW = KeyRing({"new": BOTH.keys["new"]})
SECRETS = 300


@pytest.mark.exhaustive
def test_a_rotation_under_load_that_is_killed(empty_url: str) -> None:
    """The small form of ``nox -s rotation``."""
    done = asyncio.run(rehearse(empty_url, SECRETS, kills=3, rate=20, batch=5))
    assert not done.failures
    assert done.reads > 20 and done.reads_without_the_old_key > 5
    assert any(0 < reached < SECRETS for reached in done.killed_at), "it was killed on its way"
    assert list(done.killed_at) == sorted(done.killed_at), "what was done stays done"
    assert (done.under_new, done.remaining, done.opened_without_the_old_key) == (SECRETS, 0, SECRETS)


async def store_secrets(world: World, ring: KeyRing, count: int) -> list[SecretContext]:
    places = [SecretContext("table", f"row {n:03}", world.admin.workspace_id, "field") for n in range(count)]
    for place in places:
        text = {place.field: encrypt(ring, place, f"secret of {place.row}")}
        await world.store.write(encrypted_secrets.save_secrets, "table", place.row, place.workspace, text, world.clock)
    return places


async def read_stored_secret(store: Store, place: SecretContext) -> str:
    return (await store.read(encrypted_secrets.get_secrets, place.table, place.row))[place.field]


async def test_everything_is_sealed_again_and_told_on_the_way(world: World) -> None:
    await world.store.write(encrypted_secrets.delete_secrets, "connections", world.account.connection_id)
    places = await store_secrets(world, OLD, 25)
    progress: list[tuple[int, int]] = []
    done = await rotate_keys(world.store, BOTH, lambda *counts: progress.append(counts), batch=10)
    assert (done.reencrypted, done.under_newest, done.remaining, done.unreadable) == (25, 25, {"old": 0}, ())
    assert progress == [(0, 25), (10, 25), (20, 25), (25, 25)]
    for place in places:
        assert decrypt(NEW, place, await read_stored_secret(world.store, place)) == f"secret of {place.row}"
    again = await rotate_keys(world.store, BOTH, lambda *_: None)
    assert (again.reencrypted, again.under_newest) == (0, 25)


async def test_what_cannot_be_opened_stays_and_is_told(world: World) -> None:
    places = await store_secrets(world, OLD, 5)
    lost = KeyRing({"lost": b"l" * 32})
    (gone,) = await store_secrets(world, lost, 1)
    done = await rotate_keys(world.store, BOTH, lambda *_: None, batch=2)
    assert done.reencrypted == 4
    assert [place.split()[0] for place in done.unreadable] == ["connections", "table"]
    assert decrypt(lost, gone, await read_stored_secret(world.store, gone))
    assert decrypt(NEW, places[-1], await read_stored_secret(world.store, places[-1]))


async def test_who_writes_at_that_moment_wins(world: World) -> None:
    """A token that is refreshed while its old one is sealed again is the one that stays."""
    (place,) = await store_secrets(world, OLD, 1)
    fresh = encrypt(BOTH, place, "refreshed")

    class Meddling:
        """A store in which somebody writes between the read and the write of the rotation."""

        clock = world.clock

        async def read(self, function: Any, *arguments: Any) -> Any:
            answer = await world.store.read(function, *arguments)
            if function is encrypted_secrets.list_not_encrypted_with:
                text = {place.field: fresh}
                await world.store.write(
                    encrypted_secrets.save_secrets, place.table, place.row, place.workspace, text, world.clock
                )
            return answer

        async def write(self, function: Any, *arguments: Any) -> Any:
            return await world.store.write(function, *arguments)

    await rotate_keys(Meddling(), BOTH, lambda *_: None)  # type: ignore[arg-type] # a store in all that is asked of it
    assert await read_stored_secret(world.store, place) == fresh


async def test_whoever_still_seals_under_the_old_key_is_caught_up_with(world: World) -> None:
    await world.store.write(encrypted_secrets.delete_secrets, "connections", world.account.connection_id)
    places = await store_secrets(world, OLD, 10)
    late = [True]

    class Behind:
        """A store into which a process with the old ring writes behind the rotation, once."""

        clock = world.clock

        async def read(self, function: Any, *arguments: Any) -> Any:
            return await world.store.read(function, *arguments)

        async def write(self, function: Any, *arguments: Any) -> Any:
            answer = await world.store.write(function, *arguments)
            if late.pop() if late else False:
                await store_secrets(world, OLD, 1)
            return answer

    done = await rotate_keys(Behind(), BOTH, lambda *_: None, batch=4)  # type: ignore[arg-type] # as above
    assert done.remaining == {"old": 0}
    assert decrypt(NEW, places[0], await read_stored_secret(world.store, places[0]))


async def test_a_consent_under_way_goes_on(world: World) -> None:
    who = (world.admin.workspace_id, world.admin.user_id)
    place = SecretContext("consents", "hash", world.admin.workspace_id, "verifier")
    data = {"verifier": encrypt(OLD, place, "v"), "cookie": "c"}
    await world.store.write(consents.create_token, "state", "hash", *who, "meta", data, 600_000, world.clock)
    await rotate_keys(world.store, BOTH, lambda *_: None)
    used = await world.store.write(consents.use_token, "state", "hash", world.clock)
    assert used is not None and used.data["cookie"] == "c"
    assert decrypt(NEW, place, str(used.data["verifier"])) == "v"


def test_a_cursor_outlives_the_key_until_that_is_gone() -> None:
    cursor = cursors.encode_cursor(OLD, "account", {"limit": 5}, Position("next", 3))
    assert cursors.decode_cursor(BOTH, "account", {"limit": 5}, cursor) == Position("next", 3)
    for ring, account in ((NEW, "account"), (BOTH, "another")):
        with pytest.raises(InvalidInput):
            cursors.decode_cursor(ring, account, {"limit": 5}, cursor)


def test_a_moved_ciphertext_is_not_sealed_again() -> None:
    first, other = (SecretContext("table", row, "workspace", "field") for row in ("1", "2"))
    with pytest.raises(VaultError):
        reencrypt(BOTH, other, encrypt(OLD, first, "secret"))
