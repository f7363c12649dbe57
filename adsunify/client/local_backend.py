"""Calls endpoints of the contract on a local store, in this process."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Self

from attrs import frozen

from adsunify.actor import Actor
from adsunify.contract import ApiRequest, Endpoint
from adsunify.errors import AdsunifyError
from adsunify.service.core import Service
from adsunify.service.dispatch import call_endpoint
from adsunify.service.factory import BASE_URL_VARIABLE, DEFAULT_BASE_URL, SANDBOX_URL_VARIABLE, open_service
from adsunify.service.jobs import keep_running
from adsunify.service.launches.job import LaunchJob
from adsunify.service.users import find_local_actor
from adsunify.values.exact_json import Json, dumps, loads

from .options import refuse_options


@frozen
class LocalBackend:
    """A local store, used as the actor of :func:`adsunify.service.users.find_local_actor`."""

    service: Service
    actor: Actor

    async def call(self, endpoint: Endpoint, request: ApiRequest) -> Mapping[str, Json]:
        """Call an endpoint and return a copy of the envelope of its response."""
        try:
            answer = await call_endpoint(self.service, self.actor, endpoint, request)
        except AdsunifyError as error:
            if error.operation_data is not None:
                error.operation_data = loads(dumps(error.operation_data))
            raise
        envelope: Mapping[str, Json] = loads(dumps(answer.to_envelope()))
        return envelope

    def with_options(self, changes: Mapping[str, Any]) -> Self:
        """Raise InvalidInput: a local store has no options."""
        refuse_options(changes)
        return self

    async def close(self) -> None:
        """Let a write in flight finish, and close the store."""
        await self.service.close()


async def open_local(url: str, workspace: str | None, environment: Mapping[str, str]) -> LocalBackend:
    """Open a database, migrate it, and choose a workspace as :func:`find_local_actor` does.

    Raises InvalidInput, StoreError.
    """
    opened = await open_service(
        url,
        environment,
        base_url=environment.get(BASE_URL_VARIABLE) or DEFAULT_BASE_URL,
        sandbox_url=environment.get(SANDBOX_URL_VARIABLE) or None,
    )
    return await make_local_backend(opened.service, workspace)


async def make_local_backend(service: Service, workspace: str | None) -> LocalBackend:
    """Make the backend of the workspace that :func:`find_local_actor` chooses; close the service if that raises.

    This process also continues launches that a stopped process left unfinished.
    """
    try:
        backend = LocalBackend(service, await find_local_actor(service, workspace))
        service.run_in_background(keep_running(service, "launches", LaunchJob(service).run))
        return backend
    except BaseException:
        await service.close()
        raise
