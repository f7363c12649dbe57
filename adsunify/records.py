"""Parts of API responses as objects. Errors carry them, and the Python client returns them."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


def _to_canonical_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, default=str)


@frozen
class Record:
    """A part of a response; ``data`` holds all its members, named as in docs/spec.md. Equal data, equal records."""

    data: Mapping[str, Any] = field(eq=_to_canonical_text)


@frozen
class Operation(Record):
    """A prepared change with its receipt, as the server returned it.

    ``data`` also holds action, createdAt and expiresAt (ISO 8601, UTC), expired, stalled, risk (``low``, ``spend``,
    ``destructive``), warnings, ``plan`` (per step: does, method, path, body, changes) and ``receipt`` (per step and
    attempt: state, executedBy, outputs, response, error). ``executedBy`` (the last one to execute it) and
    ``cancelledBy`` hold userId, credential and at. Each is absent if nobody executed or cancelled the operation.
    """

    @property
    def id(self) -> str:
        """The operation's UUID."""
        return str(self.data["id"])

    @property
    def status(self) -> str:
        """``prepared``, ``running``, ``succeeded``, ``unknown`` or ``cancelled``."""
        return str(self.data["status"])

    @property
    def next_action(self) -> str | None:
        """``execute`` if steps remain and the same operation must be executed again; else None."""
        action = self.data.get("nextAction")
        return None if action is None else str(action)

    @property
    def retry_after_ms(self) -> int:
        """The time to wait before the operation is executed again, in milliseconds; 0 if no wait is needed."""
        return int(self.data.get("retryAfterMs", 0))

    @property
    def review_url(self) -> str:
        """The address of the page on which a signed-in person reads the plan and executes it."""
        return str(self.data["reviewUrl"])
