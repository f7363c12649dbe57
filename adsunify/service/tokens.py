"""Random tokens: makes them, and hashes them for the store."""

from __future__ import annotations

import hashlib
import secrets

from adsunify.store.clock import get_random_bytes

TOKEN_BYTES = 32


def make_token() -> str:
    """Return a new random token of 256 bits: 43 characters of base64url."""
    return secrets.token_urlsafe(TOKEN_BYTES)


def make_request_id() -> str:
    """Return a new id for a request: 128 random bits as 32 hexadecimal digits."""
    return get_random_bytes().hex()


def hash_token(token: str) -> str:
    """Return the hash of a token for the store: its SHA-256 in hexadecimal digits."""
    return hashlib.sha256(token.encode("ascii", "replace")).hexdigest()
