"""The metadata that a client of the authorization server registers: its name and its redirect addresses.

Sources: RFC 7591 (metadata), 8252 (loopback), 6749 section 5.2 (errors).
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Literal
from unicodedata import category, normalize
from urllib.parse import urlsplit, urlunsplit

from adsunify.errors import AdsunifyError
from adsunify.values.exact_json import Json

INVISIBLE_CHARACTERS = re.compile(
    r"[\u034f\u115f\u1160\u17b4\u17b5\u180b-\u180f\u2800\u3164\ufe00-\ufe0f\uffa0\U000e0100-\U000e01ef]"
)
"""Letters, fillers and selectors that are invisible, although Unicode counts them as printable."""
MAX_MARKS = 2
MAX_NAME_LENGTH, MAX_REDIRECTS, MAX_REDIRECT_LENGTH = 100, 10, 2000
LOOPBACK_HOSTS = ("127.0.0.1", "[::1]", "localhost")

OAuthCode = Literal[
    "invalid_request",
    "invalid_client",
    "invalid_grant",
    "invalid_scope",
    "invalid_target",
    "invalid_redirect_uri",
    "unsupported_grant_type",
    "unsupported_response_type",
    "access_denied",
]


class OAuthError(AdsunifyError):
    """An error of the protocol. ``error``: the protocol's code."""

    status = 400
    default_code = "oauth_error"
    title = "OAuth error"

    def __init__(self, error: OAuthCode, message: str) -> None:
        super().__init__(message)
        self.error = error
        if error == "invalid_client":
            self.status = 401

    def to_json(self) -> dict[str, Json]:
        """Return the body of the error response (RFC 6749 section 5.2)."""
        return {"error": self.error, "error_description": self.message}


def read_client_metadata(metadata: Mapping[str, Json]) -> tuple[str, list[str]]:
    """Return the name and the redirect addresses of a public client. Raises OAuthError for invalid metadata."""
    redirects = metadata.get("redirect_uris")
    if not isinstance(redirects, list) or not 1 <= len(redirects) <= MAX_REDIRECTS:
        raise OAuthError("invalid_redirect_uri", f"redirect_uris must be a list of 1 to {MAX_REDIRECTS} addresses.")
    for address in redirects:
        if not isinstance(address, str) or not is_redirect_allowed(address):
            raise OAuthError(
                "invalid_redirect_uri", "A redirect address must be https, or http on loopback, without a fragment."
            )
    name = metadata.get("client_name")
    if not isinstance(name, str) or not 1 <= len(name) <= MAX_NAME_LENGTH or not is_legible(name):
        raise OAuthError(
            "invalid_request",
            f"client_name must have 1 to {MAX_NAME_LENGTH} visible characters, without invisible letters, direction "
            "marks, or more than two marks on one letter.",
        )
    method = metadata.get("token_endpoint_auth_method", "none")
    if method != "none":
        raise OAuthError("invalid_request", 'Clients are public: token_endpoint_auth_method must be "none".')
    return name, list(redirects)


def is_legible(name: str) -> bool:
    """Whether all of a name is visible. People identify applications by their names."""
    if (
        not name.isprintable() or name != name.strip() or INVISIBLE_CHARACTERS.search(name)
    ):  # direction marks are not printable
        return False
    composed = normalize("NFC", name)
    marks = "".join("m" if category(letter) in ("Mn", "Me") else "-" for letter in composed)
    return not marks.startswith("m") and "m" * (MAX_MARKS + 1) not in marks


def is_redirect_allowed(url: str) -> bool:
    """Whether a redirect address is https, or http on loopback, without a fragment."""
    if len(url) > MAX_REDIRECT_LENGTH or not url.isascii() or not url.isprintable() or "#" in url or "\\" in url:
        return False
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    if parts.username is not None or not parts.hostname:
        return False
    return parts.scheme == "https" or (parts.scheme == "http" and is_loopback(url))


def is_loopback(url: str) -> bool:
    """Whether an address is on the computer of the person's browser."""
    return (
        urlsplit(url).netloc.rpartition("@")[2].rsplit(":", 1)[0] in LOOPBACK_HOSTS
        or urlsplit(url).netloc in LOOPBACK_HOSTS
    )


def is_registered_redirect(redirects: Sequence[str], address: str) -> bool:
    """Whether an address equals a registered one; on loopback any port matches (RFC 8252 section 7.3)."""
    if address in redirects:
        return True
    return (
        is_redirect_allowed(address)
        and is_loopback(address)
        and _remove_port(address) in map(_remove_port, filter(is_loopback, redirects))
    )


def _remove_port(url: str) -> str:
    parts = urlsplit(url)
    return urlunsplit(parts._replace(netloc=parts.hostname or ""))
