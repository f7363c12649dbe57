"""Credentials encrypted at rest: AES-256-GCM under a ring of keys.

Table, row, workspace and field of a secret are authenticated with its ciphertext. So a ciphertext that was altered, or
moved to another field or row, cannot be decrypted. A ciphertext is written ``<key id>.<base64url of nonce and
ciphertext>``.

A key ring is written ``id:base64url of 32 bytes``, comma-separated, newest key first. The first key encrypts; every key
decrypts. To rotate keys: put a new key first, encrypt everything again (:mod:`adsunify.service.key_rotation`), then
remove the old key.

The package cryptography takes long to import, so it is imported at the first encryption or decryption.
"""

from __future__ import annotations

import hmac
import os
import re
import secrets
from binascii import Error as BadBase64
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TextIO

from attrs import field, frozen

from adsunify.errors import VaultError, invalid_input
from adsunify.values.base64url import decode_base64url, encode_base64url
from adsunify.values.exact_json import dumps_canonical

KEY_BYTES = 32
NONCE_BYTES = 12
_KEY_ID_PATTERN = re.compile(r"[A-Za-z0-9_-]{1,32}", re.ASCII)
_NEW_FILE_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_EXCL


@frozen
class SecretContext:
    """The field of the database to which a secret belongs."""

    table: str
    row: str
    workspace: str
    field: str

    def to_associated_data(self) -> bytes:
        """The context as bytes, which are different for different contexts."""
        return dumps_canonical([self.table, self.row, self.workspace, self.field])


@frozen
class KeyRing:
    """Encryption keys by id, newest first. The ``repr`` of a ring does not show the keys."""

    keys: Mapping[str, bytes] = field(repr=lambda keys: f"<{len(keys)} keys>")

    @property
    def newest_id(self) -> str:
        """The id of the newest key, which encrypts."""
        return next(iter(self.keys))

    @property
    def newest_prefix(self) -> str:
        """The prefix of every ciphertext that the newest key has written."""
        return f"{self.newest_id}."

    def to_text(self) -> str:
        """The ring in its text form, which is secret."""
        return ",".join(format_key(id_, key) for id_, key in self.keys.items())


def format_key(id_: str, key: bytes) -> str:
    """A key in its text form ``id:base64url``, which is secret."""
    return f"{id_}:{encode_base64url(key)}"


def derive_secrets(ring: KeyRing, *parts: str) -> Iterator[str]:
    """Derive a secret of 256 bits from ``parts`` for each key of the ring, newest first.

    Nobody can compute a derived secret without the key, even if all parts are known.
    """
    message = dumps_canonical(list(parts))
    for key in ring.keys.values():
        separate = hmac.digest(
            key, b"adsunify derived secret", "sha256"
        )  # the key of the ring itself is only used for encryption
        yield encode_base64url(hmac.digest(separate, message, "sha256"))


def parse_key_ring(text: str) -> KeyRing:
    """Read a key ring from its text form.

    Raises:
        InvalidInput: the text is malformed. The message never contains a key.
    """
    keys: dict[str, bytes] = {}
    for position, part in enumerate(text.strip().split(","), 1):
        id_, _, encoded = part.strip().partition(":")
        try:
            key = decode_base64url(encoded.rstrip("="))
        except (BadBase64, ValueError):
            key = b""
        if not _KEY_ID_PATTERN.fullmatch(id_) or id_ in keys or len(key) != KEY_BYTES:
            raise invalid_input(
                "secretKeys",
                "invalid_key_ring",
                f"Key {position} of the key ring is malformed. Write a ring as id:key, comma-separated, newest first. "
                "An id has up to 32 letters, digits, - or _ and occurs once. A key is base64url of 32 bytes.",
            )
        keys[id_] = key
    return KeyRing(keys)


def make_key_ring(before: KeyRing | None = None) -> KeyRing:
    """A ring of one new random key, followed by the keys of ``before``."""
    older = {} if before is None else before.keys
    id_ = secrets.token_hex(4)
    while id_ in older:
        id_ = secrets.token_hex(4)
    return KeyRing({id_: secrets.token_bytes(KEY_BYTES), **older})


def load_or_create_key_file(path: Path) -> tuple[KeyRing, bool]:
    """Read the key ring of a file. If the file does not exist, create it with a new key and mode 600.

    The file is written completely before it gets its name.

    Returns:
        The ring, and whether this call created the file.

    Raises:
        InvalidInput: the file does not contain a key ring, or other users can read it.
    """
    created = False
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, _NEW_FILE_FLAGS, 0o600), "w") as file:
            _write_key_ring(file, make_key_ring())
        try:
            os.link(draft, path)  # if two processes start together, one creates the file and both read it
            created = True
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        _sync_directory(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise invalid_input("secretKeys", "key_file_readable", f"Other users can read {path}. Set its mode to 600.")
    return parse_key_ring(path.read_text()), created


def add_key(path: Path) -> KeyRing:
    """Add a new key to the front of a key file, and return the ring. The file is replaced atomically.

    Raises:
        InvalidInput: the file does not exist, does not contain a key ring, or another process is changing it.
    """
    if not path.exists():
        raise invalid_input("secretKeys", "missing", f"There is no key file {path}.")
    draft = path.with_name(f"{path.name}.new")
    try:
        descriptor = os.open(draft, _NEW_FILE_FLAGS, 0o600)
    except FileExistsError:
        raise invalid_input(
            "secretKeys",
            "busy",
            f"{draft} exists: another process is changing the keys, or was interrupted. Delete it if no process runs.",
        ) from None
    try:
        with os.fdopen(descriptor, "w") as file:
            ring = make_key_ring(load_or_create_key_file(path)[0])  # the draft file locks out other processes
            _write_key_ring(file, ring)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_directory(path)
    return ring


def _write_key_ring(file: TextIO, ring: KeyRing) -> None:
    """Write a ring to a file and wait until it is on the disk."""
    file.write(ring.to_text() + "\n")
    file.flush()
    os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    """Make the name of a new file durable.

    If a power failure removed a key file, the ciphertexts of its key could not be decrypted.
    """
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def encrypt(ring: KeyRing, place: SecretContext, secret: str) -> str:
    """Encrypt a secret for its context with the newest key of the ring."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(ring.keys[ring.newest_id]).encrypt(nonce, secret.encode("utf-8"), place.to_associated_data())
    return f"{ring.newest_id}.{encode_base64url(nonce + sealed)}"


def decrypt(ring: KeyRing, place: SecretContext, sealed: str) -> str:
    """Decrypt a secret.

    Raises:
        VaultError: the ciphertext was altered or belongs to another context, or its key is not in the ring.
    """
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    id_, _, encoded = sealed.partition(".")
    key = ring.keys.get(id_)
    if key is None:
        raise VaultError("A stored secret was encrypted with a key that is not in the key ring.")
    try:
        data = decode_base64url(encoded)
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], place.to_associated_data()).decode("utf-8")
    except (InvalidTag, BadBase64, ValueError):
        raise VaultError("A stored secret was altered, or was moved from another row or field.") from None


def reencrypt(ring: KeyRing, place: SecretContext, sealed: str) -> str:
    """Encrypt the secret of a ciphertext with the newest key. A ciphertext of that key is returned unchanged.

    Raises:
        VaultError: the ciphertext cannot be decrypted.
    """
    return sealed if sealed.startswith(ring.newest_prefix) else encrypt(ring, place, decrypt(ring, place, sealed))
