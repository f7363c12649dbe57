"""States of requests that need input: sealed for the client, and opened once when it sends the request again."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from typing import Any, Protocol

from attrs import frozen

from adsunify.actor import Actor
from adsunify.client.backends import Backend
from adsunify.client.local_backend import LocalBackend
from adsunify.errors import InvalidInput
from adsunify.service.core import Service
from adsunify.service.request_states import open_request_state, seal_request_state
from adsunify.values.exact_json import Json, dumps_canonical

from .request_metadata import RpcError
from .versions import INVALID_PARAMS


class RequestStates(Protocol):
    """Seals states for one caller, and opens them. ``request``: the identity of the request."""

    async def seal(self, request: str, state: Mapping[str, Json]) -> str:
        """Return a state as text for the client."""
        ...

    async def open(self, request: str, sealed: str) -> Mapping[str, Any]:
        """Return the state of a text. Raises RpcError for a text that is not accepted."""
        ...


@frozen
class ServiceStates:
    """States that a service seals for an actor."""

    service: Service
    actor: Actor

    async def seal(self, request: str, state: Mapping[str, Json]) -> str:
        """Return a state as text for the client."""
        return await seal_request_state(self.service, self.actor, request, state)

    async def open(self, request: str, sealed: str) -> Mapping[str, Any]:
        """Return the state of a text. Raises RpcError for a text that is not accepted."""
        try:
            return await open_request_state(self.service, self.actor, request, sealed)
        except InvalidInput as problem:
            issue = problem.issues[0]
            raise RpcError(INVALID_PARAMS, f"{issue.path} {issue.message}", {"reason": issue.code}) from None


def make_request_states(backend: Backend) -> RequestStates | None:
    """Return the states for a local backend; None for a server's backend, because only the server can seal."""
    return ServiceStates(backend.service, backend.actor) if isinstance(backend, LocalBackend) else None


def identify_request(method: str, name: str, arguments: Mapping[str, Any]) -> str:
    """Return the identity of a request: requests with the same method, name and arguments have the same."""
    return hashlib.sha256(dumps_canonical([method, name, arguments])).hexdigest()
