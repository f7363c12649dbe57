"""The documents of OAuth clients that a process has read."""

from __future__ import annotations

import asyncio
from weakref import WeakValueDictionary

from attrs import define, field

from adsunify.store.agents import ClientRecord

MAX_KEPT_DOCUMENTS = 1_000


@define(eq=False)
class ClientDocuments:
    """The documents that a process has read, by address. The oldest one is dropped if there are too many."""

    _kept: dict[str, tuple[ClientRecord, int]] = field(factory=dict)
    _locks: WeakValueDictionary[str, asyncio.Lock] = field(factory=WeakValueDictionary)

    def find(self, url: str, now: int) -> ClientRecord | None:
        """Return the client of a document that is still cached at ``now`` (milliseconds)."""
        client, until = self._kept.get(url, (None, 0))
        return client if now < until else None

    def keep(self, client: ClientRecord, until: int) -> None:
        """Cache a client until a time in milliseconds."""
        self._kept.pop(client.id, None)
        self._kept[client.id] = client, until
        if len(self._kept) > MAX_KEPT_DOCUMENTS:
            del self._kept[next(iter(self._kept))]

    def get_lock(self, url: str) -> asyncio.Lock:
        """Return the lock under which the document is fetched."""
        return self._locks.setdefault(url, asyncio.Lock())
