"""The revisions of the protocol that are served, and what each of them has.

Source: modelcontextprotocol.io, revisions 2026-07-28, 2025-11-25, 2025-06-18 and 2025-03-26.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from attrs import field, frozen

PARSE_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, INVALID_PARAMS = -32700, -32600, -32601, -32602
HEADER_MISMATCH, MISSING_CAPABILITY, UNSUPPORTED_VERSION = -32020, -32021, -32022
"""Codes of MCP 2026-07-28, "Error Codes"."""
RATE_LIMITED = 429
"""Our own code. MCP 2026-07-28, "Error Codes": codes of implementations lie outside the range of JSON-RPC."""

HANDSHAKE_STATUSES: Mapping[int, int] = {
    PARSE_ERROR: 400,
    INVALID_REQUEST: 400,
    HEADER_MISMATCH: 400,
    UNSUPPORTED_VERSION: 400,
}
"""The HTTP status of an error by its code; of all other errors it is 200."""
STATELESS_STATUSES: Mapping[int, int] = {
    **HANDSHAKE_STATUSES,
    INVALID_PARAMS: 400,
    MISSING_CAPABILITY: 400,
    METHOD_NOT_FOUND: 404,
}
"""The same for revisions without a handshake.

Source: MCP 2026-07-28, Streamable HTTP, "Protocol Version Header" and "Server Validation"; Overview, "_meta".
"""

HANDSHAKE_METHODS = frozenset(
    {"initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"}
)
"""Methods that MCP 2026-07-28 has removed (Key Changes, 2, 4 and 5)."""
STATELESS_METHODS = frozenset({"server/discover"})
"""Methods that MCP 2026-07-28 has added."""


@frozen
class ProtocolVersion:
    """A revision of the protocol.

    Attributes:
        name: the date of the revision.
        allows_batches: a body may hold several messages in an array.
        is_stateless: there is no handshake. Each request carries its revision and the client's capabilities in
            ``_meta``, HTTP headers repeat parts of the body, and each result has a ``resultType``.
        removed_methods: methods that we serve and this revision does not have.
        error_statuses: the HTTP status of an error by its code; of all other errors it is 200.
    """

    name: str
    allows_batches: bool = False
    is_stateless: bool = False
    removed_methods: frozenset[str] = field()
    error_statuses: Mapping[int, int] = field()

    @removed_methods.default
    def _choose_removed_methods(self) -> frozenset[str]:
        return HANDSHAKE_METHODS if self.is_stateless else STATELESS_METHODS

    @error_statuses.default
    def _choose_error_statuses(self) -> Mapping[int, int]:
        return STATELESS_STATUSES if self.is_stateless else HANDSHAKE_STATUSES


VERSIONS: Mapping[str, ProtocolVersion] = {
    version.name: version
    for version in (
        ProtocolVersion("2026-07-28", is_stateless=True),
        ProtocolVersion("2025-11-25"),
        ProtocolVersion("2025-06-18"),
        ProtocolVersion("2025-03-26", allows_batches=True),
    )
}
"""The revisions by name, newest first."""
HANDSHAKE_VERSIONS = tuple(name for name, version in VERSIONS.items() if not version.is_stateless)
"""The revisions that ``initialize`` negotiates, newest first."""
DEFAULT_VERSION = VERSIONS["2025-03-26"]
"""The revision of a request without the header (2025-06-18, "Protocol Version Header")."""


def negotiate_version(requested: Any) -> str:
    """Return the revision that ``initialize`` answers with: the requested one, or the newest with a handshake."""
    return requested if requested in HANDSHAKE_VERSIONS else HANDSHAKE_VERSIONS[0]
