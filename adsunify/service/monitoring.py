"""Figures of the database for probes and metrics."""

from __future__ import annotations

from adsunify.store.gauges import MAX_COUNTED, Gauges
from adsunify.store.gauges import read_gauges as _read_gauges
from adsunify.store.migrate import SchemaState
from adsunify.store.migrate import read_schema_state as _read_schema_state

from .core import Service

__all__ = ["MAX_COUNTED", "Gauges", "SchemaState", "count_pending_writes", "read_gauges", "read_schema_state"]


async def read_gauges(service: Service) -> Gauges:
    """Return how much work is pending in the database, over all workspaces. Raises StoreError."""
    return await service.store.read(_read_gauges, service.store.clock.now())


async def read_schema_state(service: Service) -> SchemaState:
    """Return the version of the database's schema. Raises StoreError."""
    return await service.store.read(_read_schema_state)


def count_pending_writes(service: Service) -> int:
    """Return how many writes of this process the database has not made durable yet."""
    return service.store.pending_writes
