"""Rotating the master key: everything that is sealed is sealed again under the newest key of the ring.

It may be stopped at any moment and begun again: what is under the newest key already is left alone, and a ciphertext is
replaced only where it is still the one that was opened. Whoever serves meanwhile holds both keys, so nobody waits.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from sqlalchemy import Connection

from adsunify.encryption import KeyRing, Place, resealed
from adsunify.errors import VaultError
from adsunify.store import Store, consents, sealed
from adsunify.store.clock import Clock
from adsunify.store.sealed import SealedRecord
from adsunify.values.exact_json import Json

from .connections import VERIFIER, verifier_place

BATCH = 100
Told = Callable[[int, int], None]
"""Is told how many are done, of how many."""


@frozen
class Rotated:
    """What a rotation did. ``remaining``: per older key of the ring, how many are under it still.

    ``unreadable``: table, row and field of what no key of the ring opens.
    """

    newest: str
    resealed: int
    under_newest: int
    remaining: dict[str, int]
    unreadable: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """As the command line prints it."""
        return {
            "newest": self.newest,
            "resealed": self.resealed,
            "underNewest": self.under_newest,
            "remaining": self.remaining,
            "unreadable": list(self.unreadable),
        }


async def rotate(store: Store, ring: KeyRing, told: Told, batch: int = BATCH) -> Rotated:
    """Seal everything under the newest key, ``batch`` secrets to a transaction; ``told`` after each of them."""
    total, done = await store.read(sealed.not_under, ring.prefix), 0
    unreadable: set[str] = set()
    told(0, total)
    again = True
    while again:  # until a pass finds nothing: a process that has the old ring yet may have sealed behind us
        again, after = False, None
        while page := await store.read(sealed.page, ring.prefix, after, batch):
            fresh = _resealed(ring, page, unreadable)
            count = await store.write(_replace, fresh, store.clock)
            again, after, done = again or bool(fresh), page[-1], done + count
            told(min(done, total), total)
    await store.write(_verifiers, ring, store.clock)
    older = [id_ for id_ in ring.keys if id_ != ring.newest]
    remaining = {id_: await store.read(sealed.under, f"{id_}.") for id_ in older}
    under = await store.read(sealed.under, ring.prefix)
    return Rotated(ring.newest, done, under, remaining, tuple(sorted(unreadable)))


def _resealed(ring: KeyRing, page: Sequence[SealedRecord], unreadable: set[str]) -> list[tuple[SealedRecord, str]]:
    fresh = []
    for record in page:
        place = Place(record.table_name, record.row_id, record.workspace_id, record.field)
        try:
            fresh.append((record, resealed(ring, place, record.sealed)))
        except VaultError:
            unreadable.add(f"{record.table_name} {record.row_id} {record.field}")
    return fresh


def _replace(connection: Connection, fresh: Sequence[tuple[SealedRecord, str]], clock: Clock) -> int:
    """Keep what was sealed again, but where it has changed meanwhile; returns how many were kept."""
    return sum(sealed.replace(connection, record, text, clock) for record, text in fresh)


def _verifiers(connection: Connection, ring: KeyRing, clock: Clock) -> None:
    """The consents that are under way hold a secret, too, for ten minutes at most."""
    for consent in consents.open_(connection, "state", clock):
        place = verifier_place(consent.token_hash, consent.workspace_id)
        try:
            text = resealed(ring, place, consent.data[VERIFIER])
        except VaultError:
            continue  # nobody can finish this one; it ends by itself
        consents.replace(connection, consent.token_hash, {**consent.data, VERIFIER: text})
