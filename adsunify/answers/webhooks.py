"""Subscriptions, deliveries and attempts."""

from __future__ import annotations

from typing import Annotated, Literal

from .operations import CreatedBy
from .shape import OPEN, Instant, Milliseconds, Shape, Text, Url, Uuid

EndedReason = Annotated[
    Literal["key_revoked", "key_expired", "grant_revoked", "grant_expired", "membership_ended"] | str, OPEN
]


class Webhook(Shape):
    """A subscription without its signing secret. Nothing is delivered to a ``paused`` or ``ended`` subscription."""

    webhook_id: Uuid
    url: Url
    account_id: Uuid | None
    events: list[str]
    active: bool
    status: Annotated[Literal["active", "paused", "ended"] | str, OPEN]
    ended_reason: EndedReason | None
    created_by: CreatedBy
    created_at: Instant


class CreatedWebhook(Webhook):
    """A new subscription. ``secret`` signs its deliveries and is shown only in this response."""

    secret: str


class Delivery(Shape):
    """The delivery of one event to one subscription."""

    delivery_id: Uuid
    event_id: Uuid
    type: str
    status: Annotated[Literal["pending", "delivering", "succeeded", "failed"] | str, OPEN]
    attempts: int
    next_attempt_at: Instant | None


class Attempt(Shape):
    """One attempt: the status of the response, or the reason why there was none."""

    number: int
    at: Instant
    duration_ms: Milliseconds | None
    status_code: int | None
    error: Text
