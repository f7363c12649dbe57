"""Key rotation: encrypts every stored secret again, with the newest key of the ring.

A rotation can be stopped and started again at any time. It skips secrets under the newest key. It replaces a ciphertext
only if it has not changed since it was decrypted. Servers hold both keys and go on serving.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from attrs import frozen
from sqlalchemy import Connection

from adsunify.encryption import KeyRing, SecretContext, reencrypt
from adsunify.errors import VaultError
from adsunify.service.connections import VERIFIER_FIELD, verifier_context
from adsunify.store import Store, consents, encrypted_secrets
from adsunify.store.clock import Clock
from adsunify.store.encrypted_secrets import SecretRecord
from adsunify.values.exact_json import Json

BATCH_SIZE = 100
ProgressCallback = Callable[[int, int], None]
"""Called after each transaction with the secrets encrypted so far and the secrets to encrypt in all."""


@frozen
class RotationResult:
    """The result of a rotation.

    ``remaining``: how many secrets are still under each older key. ``unreadable``: table, row and field of secrets that
    no key of the ring decrypts.
    """

    newest: str
    reencrypted: int
    under_newest: int
    remaining: dict[str, int]
    unreadable: tuple[str, ...]

    def to_json(self) -> dict[str, Json]:
        """Return the result as the command line prints it."""
        return {
            "newest": self.newest,
            "resealed": self.reencrypted,
            "underNewest": self.under_newest,
            "remaining": self.remaining,
            "unreadable": list(self.unreadable),
        }


async def rotate_keys(
    store: Store, ring: KeyRing, report_progress: ProgressCallback, batch: int = BATCH_SIZE
) -> RotationResult:
    """Encrypt every secret with the newest key, ``batch`` secrets to a transaction. Raises StoreError."""
    total, reencrypted = await store.read(encrypted_secrets.count_not_encrypted_with, ring.newest_prefix), 0
    unreadable: set[str] = set()
    report_progress(0, total)
    again = True
    while again:  # until a pass finds nothing, because processes with the old ring may write during a pass
        again, after = False, None
        while page := await store.read(encrypted_secrets.list_not_encrypted_with, ring.newest_prefix, after, batch):
            fresh = _reencrypt_page(ring, page, unreadable)
            count = await store.write(_replace_secrets, fresh, store.clock)
            again, after, reencrypted = again or bool(fresh), page[-1], reencrypted + count
            report_progress(min(reencrypted, total), total)
    await store.write(_reencrypt_verifiers, ring, store.clock)
    older = [id_ for id_ in ring.keys if id_ != ring.newest_id]
    remaining = {id_: await store.read(encrypted_secrets.count_encrypted_with, f"{id_}.") for id_ in older}
    under = await store.read(encrypted_secrets.count_encrypted_with, ring.newest_prefix)
    return RotationResult(ring.newest_id, reencrypted, under, remaining, tuple(sorted(unreadable)))


def _reencrypt_page(
    ring: KeyRing, page: Sequence[SecretRecord], unreadable: set[str]
) -> list[tuple[SecretRecord, str]]:
    fresh = []
    for record in page:
        place = SecretContext(record.table_name, record.row_id, record.workspace_id, record.field)
        try:
            fresh.append((record, reencrypt(ring, place, record.sealed)))
        except VaultError:
            unreadable.add(f"{record.table_name} {record.row_id} {record.field}")
    return fresh


def _replace_secrets(connection: Connection, fresh: Sequence[tuple[SecretRecord, str]], clock: Clock) -> int:
    """Save the new ciphertexts of secrets that have not changed since; returns how many were saved."""
    return sum(encrypted_secrets.replace_secret(connection, record, text, clock) for record, text in fresh)


def _reencrypt_verifiers(connection: Connection, ring: KeyRing, clock: Clock) -> None:
    """Encrypt the secrets of consents in progress again; a consent lives ten minutes at most."""
    for consent in consents.list_open_tokens(connection, "state", clock):
        place = verifier_context(consent.token_hash, consent.workspace_id)
        try:
            text = reencrypt(ring, place, consent.data[VERIFIER_FIELD])
        except VaultError:
            continue  # this consent cannot be finished; it expires
        consents.replace_data(connection, consent.token_hash, {**consent.data, VERIFIER_FIELD: text})
