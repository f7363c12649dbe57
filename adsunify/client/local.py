"""Calls rows of the contract over a store of one's own, in this process."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from adsunify.actor import Actor
from adsunify.contract import Call, Endpoint
from adsunify.errors import AdsunifyError
from adsunify.records import Operation
from adsunify.service.core import Service
from adsunify.service.dispatch import call
from adsunify.service.opening import BASE_URL, DEFAULT_BASE_URL, SANDBOX_URL, open_service
from adsunify.service.people import embedded
from adsunify.values.exact_json import Json, dumps, loads


@frozen
class LocalDoor:
    """A store of our own, as :func:`adsunify.service.people.embedded` says."""

    service: Service
    actor: Actor

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        """The envelope of the answer, a copy that is the caller's own."""
        try:
            answer = await call(self.service, self.actor, endpoint, asked)
        except AdsunifyError as error:
            if error.operation is not None:
                error.operation = Operation(loads(dumps(error.operation.data)))
            raise
        envelope: Mapping[str, Json] = loads(dumps(answer.envelope()))
        return envelope

    async def close(self) -> None:
        """Let a write in flight finish, and close the store."""
        await self.service.close()


async def open_local(url: str, workspace: str | None, environment: Mapping[str, str]) -> LocalDoor:
    """Open a database, migrate it, and choose a workspace in it as :func:`embedded` does.

    Raises InvalidInput, StoreError.
    """
    opened = await open_service(
        url,
        environment,
        base_url=environment.get(BASE_URL) or DEFAULT_BASE_URL,
        sandbox_url=environment.get(SANDBOX_URL) or None,
    )
    try:
        return LocalDoor(opened.service, await embedded(opened.service.store, workspace))
    except BaseException:
        await opened.service.close()
        raise
