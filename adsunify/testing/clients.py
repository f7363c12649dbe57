"""Clients of a temporary store that is connected to simulated networks."""

from __future__ import annotations

from attrs import frozen

from adsunify.client import Ads, AsyncAds
from adsunify.client.local_backend import make_local_backend
from adsunify.service.factory import SECRET_KEYS_VARIABLE, OpenedService, open_service

from .clock import SimulatedClock


@frozen
class TemporaryStore:
    """A store of the kit. ``database``: its URL. ``key_ring``: the keys that encrypt its credentials."""

    database: str
    key_ring: str
    sandbox_url: str
    clock: SimulatedClock

    async def open_service(self) -> OpenedService:
        """Open the store on the clock of the simulated networks. Raises StoreError."""
        return await open_service(
            self.database,
            {SECRET_KEYS_VARIABLE: self.key_ring},
            sandbox_url=self.sandbox_url,
            clock=self.clock.make_store_clock(),
        )


class SimulatedAsyncAds(AsyncAds):
    """An :class:`AsyncAds` on a temporary store. Where it would wait for a network, it moves the clock ahead."""

    def __init__(self, store: TemporaryStore) -> None:
        super().__init__(store.database)
        self._store = store

    async def open(self) -> None:
        """Open the store."""
        opened = await self._store.open_service()
        self._backend = await make_local_backend(opened.service, None)

    async def _wait(self, seconds: float) -> None:
        self._store.clock.advance(seconds=seconds)


class SimulatedAds(Ads):
    """The synchronous counterpart of :class:`SimulatedAsyncAds`."""

    def __init__(self, store: TemporaryStore) -> None:
        super().__init__(store.database)
        self._ads = SimulatedAsyncAds(store)
