"""Alerts, and what they could not evaluate."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .guardrails import Percent
from .shape import OPEN, Amount, Instant, Shape, Text, Uuid


class AlertScopeView(Shape):
    """What an alert watches. Members that do not restrict are left out."""

    networks: list[str] = Field([])
    account_ids: list[Uuid] = Field([])
    entity_ids: list[str] = Field([])


class AlertGap(Shape):
    """What an alert could not evaluate in an account, and why.

    ``entityIds`` lists the first entities that were not evaluated; it is empty if the whole account was not.
    """

    account_id: Uuid
    reason: str
    entity_ids: list[str]


class Alert(Shape):
    """An alert. Members that its kind does not have are null.

    ``lastEvaluatedAt`` is null if no account was evaluated. ``notEvaluated`` is about the last evaluation.
    """

    id: Uuid
    name: str
    kind: Annotated[Literal["spendAbove", "noDeliveryFor", "disapproved", "paceAbove"] | str, OPEN]
    scope: AlertScopeView
    level: str
    amount: Amount | None
    currency: Text
    days: int | None
    hours: int | None
    percent: Percent | None
    active: bool
    last_evaluated_at: Instant | None
    not_evaluated: list[AlertGap]
