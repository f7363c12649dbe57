"""Resources for agents: what the networks can do, and what a campaign brief for each needs.

Source: MCP 2026-07-28 and 2025-11-25, Resources. The contents are tables of the installed release. They do not change
while a server runs, so a subscription to one is accepted and never leads to a notification.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any

from attrs import field, frozen

from adsunify.client.backends import Backend
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.values.exact_json import Json, dumps

JSON_TYPE = "application/json"
ReadResource = Callable[[Backend, Mapping[str, str]], Awaitable[Mapping[str, Json]]]
"""Takes the caller's backend and the variables of the address; returns the contents without ``uri``."""


@frozen
class McpResource:
    """A resource, or a template of resources whose address has variables.

    Attributes:
        uri: the address; the address of a template has one variable ``{name}``.
        choices: the values of the variable; without them it is any text without a slash.
    """

    uri: str
    name: str
    description: str
    read: ReadResource = field(repr=False)
    mime_type: str = JSON_TYPE
    choices: Mapping[str, Sequence[str]] = field(factory=dict)

    @property
    def is_template(self) -> bool:
        """Whether the address has a variable."""
        return "{" in self.uri

    def match(self, uri: str) -> Mapping[str, str] | None:
        """Return the variables of an address; None for an address of another resource."""
        if not self.is_template:
            return {} if uri == self.uri else None
        prefix, _, rest = self.uri.partition("{")
        name, _, suffix = rest.partition("}")
        value = uri.removeprefix(prefix).removesuffix(suffix)
        is_valid = value in self.choices[name] if name in self.choices else value != "" and "/" not in value
        return {name: value} if is_valid and uri == f"{prefix}{value}{suffix}" else None

    def to_json(self) -> dict[str, Any]:
        """Return the resource as the list shows it."""
        address = "uriTemplate" if self.is_template else "uri"
        return {address: self.uri, "name": self.name, "description": self.description, "mimeType": self.mime_type}


def find_resource(resources: Sequence[McpResource], uri: str) -> tuple[McpResource, Mapping[str, str]] | None:
    """Return the resource of an address and the variables of the address; None if there is none."""
    matches = ((resource, resource.match(uri)) for resource in resources)
    return next(((resource, variables) for resource, variables in matches if variables is not None), None)


def _make_reader(operation_id: str, path: Mapping[str, str] | None = None) -> ReadResource:
    """Make the reader of an operation's data. ``path``: the path parameters; by default the address's variables."""

    async def read(backend: Backend, variables: Mapping[str, str]) -> Mapping[str, Json]:
        request = ApiRequest(variables if path is None else path, {}, b"", None)
        envelope = await backend.call(ENDPOINTS_BY_ID[operation_id], request)
        return {"mimeType": JSON_TYPE, "text": dumps(envelope["data"])}

    return read


RESOURCES: Sequence[McpResource] = (
    McpResource(
        "adsunify://networks",
        "networks",
        "The supported ad networks, and how each is connected.",
        _make_reader("get_networks"),
    ),
    McpResource(
        "adsunify://workflows",
        "workflows",
        "The formats of campaign briefs on every network, with their goals, budget periods and required inputs.",
        _make_reader("get_workflows"),
    ),
    *(
        McpResource(
            f"adsunify://networks/{code}",
            f"network-{code}",
            f"What {code} can do: formats, levels, settings, catalogs, metrics.",
            _make_reader("get_network", {"network": code}),
        )
        for code in ADAPTER_PACKAGES
    ),
    McpResource(
        "adsunify://networks/{network}",
        "network",
        "What one ad network can do: formats, levels, settings, catalogs, metrics.",
        _make_reader("get_network"),
        choices={"network": tuple(ADAPTER_PACKAGES)},
    ),
)
