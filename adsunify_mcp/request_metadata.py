"""The metadata of a request: its revision, the client's capabilities, and the headers that repeat its body.

Source: MCP 2026-07-28, Overview, "_meta"; Streamable HTTP, "Request Metadata"; Versioning and Compatibility.
"""

from __future__ import annotations

import binascii
from base64 import b64decode, b64encode
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from adsunify.values.exact_json import Json

from .versions import (
    DEFAULT_VERSION,
    HEADER_MISMATCH,
    INVALID_PARAMS,
    UNSUPPORTED_VERSION,
    VERSIONS,
    ProtocolVersion,
)

VERSION_HEADER, METHOD_HEADER, NAME_HEADER = "MCP-Protocol-Version", "Mcp-Method", "Mcp-Name"
VERSION_KEY = "io.modelcontextprotocol/protocolVersion"
CAPABILITIES_KEY = "io.modelcontextprotocol/clientCapabilities"
NAME_MEMBERS: Mapping[str, str] = {"tools/call": "name", "prompts/get": "name", "resources/read": "uri"}
"""The member of ``params`` that the header ``Mcp-Name`` repeats, by method."""
ENCODED_PREFIX, ENCODED_SUFFIX = "=?base64?", "?="

Notify = Callable[[str, Mapping[str, Json]], Awaitable[None]]
"""Sends a notification that relates to the request: its method and its params."""


class RpcError(Exception):
    """A JSON-RPC error: the message was refused and nothing was done."""

    def __init__(self, code: int, message: str, data: Json = None) -> None:
        super().__init__(message)
        self.code = code
        self.data = data


@frozen
class RequestHeaders:
    """The headers of an HTTP request that the protocol defines, with all values of each."""

    version: Sequence[str] = ()
    method: Sequence[str] = ()
    name: Sequence[str] = ()

    def find_version(self) -> ProtocolVersion | None:
        """Return the revision that the header names; None for one that is not served."""
        return VERSIONS.get(self.version[0]) if self.version else DEFAULT_VERSION


@frozen
class RequestMetadata:
    """The metadata of a request.

    Attributes:
        version: the revision that it follows.
        metadata: ``_meta`` of the request.
        notify: sends a notification before the response; None where the transport has no stream for this request.
        input_responses: the client's answers to what an earlier result required of it, by our keys.
        state: the state of that result; None for a first request.
        can_require_input: whether a result may require input that is sent with the same request again.
    """

    version: ProtocolVersion
    metadata: Mapping[str, Any] = field(factory=dict)
    notify: Notify | None = None
    input_responses: Mapping[str, Any] = field(factory=dict)
    state: Mapping[str, Any] | None = None
    can_require_input: bool = False

    @property
    def capabilities(self) -> Mapping[str, Any]:
        """The capabilities that the client declares with this request.

        They are empty in revisions with a handshake: no session remembers what ``initialize`` declared.
        """
        declared = self.metadata.get(CAPABILITIES_KEY) if self.version.is_stateless else None
        return declared if isinstance(declared, Mapping) else {}

    def can_open_url(self) -> bool:
        """Whether the client shows its user an address (MCP 2026-07-28, Elicitation, "Capabilities")."""
        elicitation = self.capabilities.get("elicitation")
        return isinstance(elicitation, Mapping) and isinstance(elicitation.get("url"), Mapping)

    def wants_progress(self) -> bool:
        """Whether the client asks for progress, and the transport can send it."""
        token = self.metadata.get("progressToken")
        return self.notify is not None and isinstance(token, str | int) and not isinstance(token, bool)

    async def report_progress(self, progress: int, total: int, message: str) -> None:
        """Report progress if the client asks for it (MCP 2026-07-28, Progress). ``progress`` must have grown."""
        if self.notify is not None and self.wants_progress():
            token = self.metadata["progressToken"]
            report = {"progressToken": token, "progress": progress, "total": total, "message": message}
            await self.notify("notifications/progress", report)


def read_context(
    message: Mapping[str, Any], headers: RequestHeaders | None, notify: Notify | None = None
) -> RequestMetadata:
    """Read and check the metadata of a message. ``headers`` is None for transports without headers.

    Raises:
        RpcError: the revision is not served, ``_meta`` lacks a member, or a header does not match the body.
    """
    params = message.get("params")
    metadata = params.get("_meta") if isinstance(params, Mapping) else None
    metadata = metadata if isinstance(metadata, Mapping) else {}
    version = _read_version(metadata, headers)
    if version.is_stateless and "id" in message:
        missing = [key for key in (VERSION_KEY, CAPABILITIES_KEY) if key not in metadata]
        if missing:
            raise RpcError(INVALID_PARAMS, f"params._meta must have {' and '.join(missing)}.")
        if not isinstance(metadata[CAPABILITIES_KEY], Mapping):
            raise RpcError(INVALID_PARAMS, f"{CAPABILITIES_KEY} of params._meta must be an object.")
        if headers is not None:
            _check_headers(message, headers)
    return RequestMetadata(version, metadata, notify)


def _read_version(metadata: Mapping[str, Any], headers: RequestHeaders | None) -> ProtocolVersion:
    declared = metadata.get(VERSION_KEY)
    if headers is None:
        name = DEFAULT_VERSION.name if declared is None else declared
        if not isinstance(name, str):
            raise RpcError(INVALID_PARAMS, f"{VERSION_KEY} of params._meta must be text.")
        return _get_version(name)
    if VERSION_KEY in metadata and (*headers.version,) != (declared,):
        raise RpcError(HEADER_MISMATCH, f"{VERSION_HEADER} must be given once, as {VERSION_KEY} of params._meta.")
    return headers.find_version() or _get_version(headers.version[0])


def _get_version(name: str) -> ProtocolVersion:
    version = VERSIONS.get(name)
    if version is None:
        raise make_version_error(name)
    return version


def make_version_error(requested: str) -> RpcError:
    """Make the error for a revision that is not served (MCP 2026-07-28, "Protocol Version Negotiation")."""
    served = list(VERSIONS)
    message = f"Unsupported protocol version. {VERSION_HEADER} must be one of {', '.join(served)}."
    return RpcError(UNSUPPORTED_VERSION, message, {"supported": served, "requested": requested})


def _check_headers(message: Mapping[str, Any], headers: RequestHeaders) -> None:
    """Raise RpcError where a header does not repeat the body (MCP 2026-07-28, "Server Validation")."""
    method = message.get("method")
    if (*headers.method,) != (method,):
        raise RpcError(HEADER_MISMATCH, f"{METHOD_HEADER} must be given once, as the method of the body.")
    member = NAME_MEMBERS.get(method) if isinstance(method, str) else None
    value = None if member is None else message["params"].get(member)
    if value is not None and [decode_header(text) for text in headers.name] != [value]:
        raise RpcError(HEADER_MISMATCH, f"{NAME_HEADER} must be given once, as params.{member} of the body.")


def decode_header(text: str) -> str | None:
    """Decode the value of a header that may be Base64 (MCP 2026-07-28, "Value Encoding"); None if it is malformed."""
    if not (text.startswith(ENCODED_PREFIX) and text.endswith(ENCODED_SUFFIX)):
        return text
    encoded = text.removeprefix(ENCODED_PREFIX).removesuffix(ENCODED_SUFFIX)
    try:
        decoded = b64decode(encoded, validate=True)
        return decoded.decode("utf-8") if b64encode(decoded).decode("ascii") == encoded else None
    except (binascii.Error, ValueError):
        return None
