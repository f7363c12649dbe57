"""Parts of the API's answers as objects: what errors carry, and what the Python client returns."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from attrs import field, frozen


def _to_canonical_text(data: Mapping[str, Any]) -> str:
    return json.dumps(data, sort_keys=True, default=str)


@frozen
class Record:
    """A part of an answer: ``data`` is all of it, named as in docs/spec.md. Records with the same data are equal."""

    data: Mapping[str, Any] = field(eq=_to_canonical_text)


@frozen
class Operation(Record):
    """A prepared change with its saved receipt, as it was when it was read.

    ``data`` also holds action, createdAt and expiresAt (ISO 8601, UTC), expired, stalled, risk (``low``, ``spend``,
    ``destructive``), warnings, ``plan`` (its steps: what each does, method, path, body, changes) and ``receipt`` (per
    step and attempt: state, executedBy, outputs, response, error). ``executedBy`` (who executed it last) and
    ``cancelledBy`` hold userId, credential and at; each is absent where nobody did.
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
        """``execute`` where steps remain, and the same operation is to be executed again; else None."""
        action = self.data.get("nextAction")
        return None if action is None else str(action)

    @property
    def retry_after_ms(self) -> int:
        """How long to wait before that, in milliseconds; 0 where it need not wait."""
        return int(self.data.get("retryAfterMs", 0))

    @property
    def review_url(self) -> str:
        """Where a person who signs in reads the plan and executes it."""
        return str(self.data["reviewUrl"])
