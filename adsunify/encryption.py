"""Credentials encrypted at rest: AES-256-GCM under a ring of keys.

The name of the place (table, row, workspace, field) is authenticated with every ciphertext, so one that was moved to
another place is refused like one that was altered. A sealed text is ``<key id>.<base64url of nonce and ciphertext>``.

A ring is written ``id:base64url of 32 bytes``, comma-separated, the newest first: the first seals, all open. To rotate:
put a new key in front, re-seal everything (:mod:`adsunify.service.key_rotation`), then drop the old one.

cryptography is heavy: it is imported when something is sealed or opened.
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
    """Where a secret belongs."""

    table: str
    row: str
    workspace: str
    field: str

    def to_associated_data(self) -> bytes:
        """The place as bytes that no two places share."""
        return dumps_canonical([self.table, self.row, self.workspace, self.field])


@frozen
class KeyRing:
    """Keys by id, the newest first. The keys do not show in its text."""

    keys: Mapping[str, bytes] = field(repr=lambda keys: f"<{len(keys)} keys>")

    @property
    def newest_id(self) -> str:
        """The id of the key that seals."""
        return next(iter(self.keys))

    @property
    def newest_prefix(self) -> str:
        """How everything begins that the newest key has sealed."""
        return f"{self.newest_id}."

    def to_text(self) -> str:
        """The ring as it is written: all of it is secret."""
        return ",".join(format_key(id_, key) for id_, key in self.keys.items())


def format_key(id_: str, key: bytes) -> str:
    """A key as it stands in a ring: all of it is secret."""
    return f"{id_}:{encode_base64url(key)}"


def derive_secrets(ring: KeyRing, *parts: str) -> Iterator[str]:
    """A secret of 256 bits made from ``parts``, one for each key of the ring, the newest first.

    Who lacks the key cannot make it, even if all parts are known.
    """
    message = dumps_canonical(list(parts))
    for key in ring.keys.values():
        separate = hmac.digest(key, b"adsunify derived secret", "sha256")  # the key itself only encrypts
        yield encode_base64url(hmac.digest(separate, message, "sha256"))


def parse_key_ring(text: str) -> KeyRing:
    """Read a ring. Raises InvalidInput, which never shows a key."""
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
                f"Key {position} of the ring is not usable. A ring is written id:key, comma-separated, the newest "
                "first; an id is up to 32 letters, digits, - or _ and stands once; a key is base64url of 32 bytes.",
            )
        keys[id_] = key
    return KeyRing(keys)


def make_key_ring(before: KeyRing | None = None) -> KeyRing:
    """A ring with one new key, in front of those of ``before``."""
    older = {} if before is None else before.keys
    id_ = secrets.token_hex(4)
    while id_ in older:
        id_ = secrets.token_hex(4)
    return KeyRing({id_: secrets.token_bytes(KEY_BYTES), **older})


def load_or_create_key_file(path: Path) -> tuple[KeyRing, bool]:
    """The ring kept in a file, and whether it was made just now: mode 600, complete before it has its name.

    Raises InvalidInput for a file that holds no ring or can be read by others.
    """
    created = False
    if not path.exists():
        draft = path.with_name(f"{path.name}.{secrets.token_hex(8)}")
        with os.fdopen(os.open(draft, _NEW_FILE_FLAGS, 0o600), "w") as file:
            _write_key_ring(file, make_key_ring())
        try:
            os.link(draft, path)  # of two processes that start together, one makes the file and both read it
            created = True
        except FileExistsError:
            pass
        finally:
            draft.unlink()
        _sync_directory(path)
    if os.name == "posix" and path.stat().st_mode & 0o077:
        raise invalid_input(
            "secretKeys", "key_file_readable", f"Others can read {path}. Make it yours alone: mode 600."
        )
    return parse_key_ring(path.read_text()), created


def add_key(path: Path) -> KeyRing:
    """Put a new key in front of those in a file, and return the ring; at no moment is the file half written.

    Raises InvalidInput for a file that is none, and while somebody else changes it.
    """
    if not path.exists():
        raise invalid_input("secretKeys", "missing", f"There is no key file {path}.")
    draft = path.with_name(f"{path.name}.new")
    try:
        descriptor = os.open(draft, _NEW_FILE_FLAGS, 0o600)
    except FileExistsError:
        raise invalid_input(
            "secretKeys", "busy", f"{draft} is there: somebody else changes the keys, or was cut."
        ) from None
    try:
        with os.fdopen(descriptor, "w") as file:
            ring = make_key_ring(load_or_create_key_file(path)[0])  # read while the draft keeps others away
            _write_key_ring(file, ring)
        draft.replace(path)
    except BaseException:
        draft.unlink(missing_ok=True)
        raise
    _sync_directory(path)
    return ring


def _write_key_ring(file: TextIO, ring: KeyRing) -> None:
    """Write a ring down to the disk."""
    file.write(ring.to_text() + "\n")
    file.flush()
    os.fsync(file.fileno())


def _sync_directory(path: Path) -> None:
    """Make a name durable: a key whose file a power failure undoes has sealed things that nobody opens again."""
    if os.name == "posix":
        folder = os.open(path.parent, os.O_RDONLY)
        os.fsync(folder)
        os.close(folder)


def encrypt(ring: KeyRing, place: SecretContext, secret: str) -> str:
    """Encrypt a secret for its place, under the newest key."""
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    nonce = secrets.token_bytes(NONCE_BYTES)
    sealed = AESGCM(ring.keys[ring.newest_id]).encrypt(nonce, secret.encode("utf-8"), place.to_associated_data())
    return f"{ring.newest_id}.{encode_base64url(nonce + sealed)}"


def decrypt(ring: KeyRing, place: SecretContext, sealed: str) -> str:
    """Decrypt a secret. Raises VaultError: altered, moved from another place, or its key is not in the ring."""
    from cryptography.exceptions import InvalidTag
    from cryptography.hazmat.primitives.ciphers.aead import AESGCM

    id_, _, encoded = sealed.partition(".")
    key = ring.keys.get(id_)
    if key is None:
        raise VaultError("A stored secret was sealed under a key that is not in the key ring.")
    try:
        data = decode_base64url(encoded)
        return AESGCM(key).decrypt(data[:NONCE_BYTES], data[NONCE_BYTES:], place.to_associated_data()).decode("utf-8")
    except (InvalidTag, BadBase64, ValueError):
        raise VaultError("A stored secret was altered, or belongs to another place.") from None


def reencrypt(ring: KeyRing, place: SecretContext, sealed: str) -> str:
    """A sealed text under the newest key; one that is under it already stays as it is. Raises VaultError."""
    return sealed if sealed.startswith(ring.newest_prefix) else encrypt(ring, place, decrypt(ring, place, sealed))
