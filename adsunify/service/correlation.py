"""Ties log lines and spans of one operation together."""

from __future__ import annotations

from adsunify.telemetry.tracing import OPERATION_ID

from .authentication import REQUEST_CONTEXT


def note_operation(operation_id: str) -> None:
    """Record the operation that this task works on, and that its request is about it."""
    OPERATION_ID.set(operation_id)
    context = REQUEST_CONTEXT.get()
    if context is not None:
        context.operation_ids.add(operation_id)
