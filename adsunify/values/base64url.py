"""Base64url without padding (RFC 4648, section 5). Each value has exactly one accepted spelling."""

from __future__ import annotations

from base64 import urlsafe_b64decode, urlsafe_b64encode


def encode_base64url(data: bytes) -> str:
    """Encode bytes as base64url without padding."""
    return urlsafe_b64encode(data).rstrip(b"=").decode("ascii")


def decode_base64url(text: str) -> bytes:
    """Decode base64url without padding.

    Raises:
        ValueError: :func:`encode_base64url` never writes this text. Python's own decoder ignores foreign characters.
    """
    data = urlsafe_b64decode(text + "=" * (-len(text) % 4))
    if encode_base64url(data) != text:
        raise ValueError("The text is not base64url without padding.")
    return data
