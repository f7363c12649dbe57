"""The results of methods: of a tool, of a request that needs input, and what each revision adds to a result.

Source: MCP 2026-07-28, Overview, "ResultType" and "_meta"; Caching; Multi Round-Trip Requests, "InputRequiredResult".
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import field, frozen

from adsunify import __version__
from adsunify.values.exact_json import Json

from .versions import ProtocolVersion

SERVER_INFO: Mapping[str, Json] = {"name": "adsunify", "title": "adsunify", "version": __version__}
SERVER_INFO_KEY = "io.modelcontextprotocol/serverInfo"
HOUR = 60 * 60 * 1000
"""In milliseconds."""
CACHEABLE_METHODS = frozenset(
    {
        "server/discover",
        "tools/list",
        "prompts/list",
        "resources/list",
        "resources/templates/list",
        "resources/read",
    }
)
"""Methods whose results a client may cache (MCP 2026-07-28, Caching, "Cacheable Results")."""
CACHE_HINTS: Mapping[str, Json] = {"ttlMs": HOUR, "cacheScope": "public"}
"""These results are the same for every caller, and change only with a release."""


@frozen
class ToolResult:
    """A result of a tool. ``content``: content blocks as the protocol defines them."""

    content: Sequence[Mapping[str, Json]]
    structured: Json = None
    is_error: bool = False

    def to_json(self) -> dict[str, Json]:
        """Return the result's JSON."""
        structured = {} if self.structured is None else {"structuredContent": self.structured}
        return {**({"isError": True} if self.is_error else {}), "content": list(self.content), **structured}


@frozen
class InputRequired:
    """The result of a request that needs input before it can be completed.

    Attributes:
        requests: the questions for the client, by a key of ours. The client's capabilities must allow them.
        state: our data that the client sends back with its request; None if we need no data.
    """

    requests: Mapping[str, Json]
    state: Mapping[str, Json] | None = field(default=None)


def complete_result(version: ProtocolVersion, method: str, result: Mapping[str, Json]) -> Mapping[str, Json]:
    """Add what the revision has in each result: the type, hints for caching, and the name of the server."""
    if not version.is_stateless:
        return result
    is_complete = "resultType" not in result
    hints = CACHE_HINTS if is_complete and method in CACHEABLE_METHODS else {}
    metadata = {**result.get("_meta", {}), SERVER_INFO_KEY: SERVER_INFO}
    return {**({"resultType": "complete"} if is_complete else {}), **hints, **result, "_meta": metadata}
