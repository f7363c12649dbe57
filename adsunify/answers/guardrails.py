"""Guardrails, their usage, and the credentials that they have frozen."""

from __future__ import annotations

from decimal import Decimal
from typing import Annotated, Literal

from pydantic import Field, WithJsonSchema

from .shape import OPEN, Amount, Instant, Shape, Text, Uuid

Percent = Annotated[Decimal, WithJsonSchema({"type": "number"})]


class GuardrailClient(Shape):
    """An agent's client together with the user who connected it."""

    client_id: Uuid
    user_id: Uuid


class GuardrailScope(Shape):
    """What a rule applies to. Members that do not restrict are left out."""

    networks: list[str] = Field([])
    account_ids: list[Uuid] = Field([])
    key_ids: list[Uuid] = Field([])
    clients: list[GuardrailClient] = Field([])
    user_ids: list[Uuid] = Field([])


class GuardrailLimits(Shape):
    """The limits for one day and in total, in major units of the rule's currency; null is no limit."""

    daily: Amount | None
    lifetime: Amount | None


class GuardrailWindow(GuardrailLimits):
    """The limits of the current UTC hour and so many whole hours before it."""

    hours: int


class Guardrail(Shape):
    """A rule that bounds what may be spent. ``version`` counts its changes, from 1."""

    id: Uuid
    version: int
    name: str
    scope: GuardrailScope
    currency: Text
    per_operation: GuardrailLimits
    per_window: GuardrailWindow | None
    approval_above: GuardrailLimits
    max_increase_percent: Percent | None
    max_bid: Amount | None
    blocked_actions: list[str]
    on_breach: Annotated[Literal["refuse", "freeze"] | str, OPEN]
    other_currencies: Annotated[Literal["refuse", "allow"] | str, OPEN]
    active: bool


class WindowAmount(Shape):
    """What a window counts, in major units. ``limit`` and ``left`` are null without a limit."""

    limit: Amount | None
    used: Amount
    left: Amount | None


class GuardrailUse(Shape):
    """What one operation takes from a window. ``hour`` is the start of the UTC hour in which it began to execute.

    ``unknown``: at least a part of its exposure is not known; this part counts as 0.
    """

    operation_id: Uuid
    hour: Instant
    daily: Amount
    lifetime: Amount
    unknown: bool


class GuardrailUsage(Shape):
    """How full the window of a rule is, and the operations in it. A rule without a window has no ``hours``.

    ``since`` is the start of the window's first UTC hour.
    """

    guardrail_id: Uuid
    currency: Text
    hours: int | None
    since: Instant | None
    daily: WindowAmount
    lifetime: WindowAmount
    uses: list[GuardrailUse]


class FrozenCredential(Shape):
    """A credential that a rule has frozen. It reads and cancels; it neither prepares nor executes.

    ``credential`` is the id of an API key; the ids of client and user of an agent, joined by a colon; or ``local``.
    ``operationId`` is null if the rule refused a prepare call.
    """

    credential: str
    guardrail_id: Uuid
    operation_id: Uuid | None
    frozen_at: Instant
