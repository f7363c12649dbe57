"""The events that webhooks deliver: their names, when they happen, and the body of a notification."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, datetime
from typing import Any, Literal

API_VERSION = "1.1.0"

EventName = Literal[
    "operation.prepared",
    "operation.running",
    "operation.succeeded",
    "operation.unknown",
    "operation.cancelled",
    "account.connected",
    "account.disconnected",
    "account.needs_reauth",
    "account.ads.initial_sync_completed",
    "analytics.synced",
    "sync.failed",
    "campaign.status_changed",
    "ad_group.status_changed",
    "ad.status_changed",
    "rule.triggered",
]

EVENT_DESCRIPTIONS: dict[EventName, str] = {
    "operation.prepared": "An operation was prepared; nothing is written until it is executed.",
    "operation.running": "An execution claimed the operation.",
    "operation.succeeded": "Every step of the operation was applied.",
    "operation.unknown": "The outcome of a write is unknown; a person must look at the network account.",
    "operation.cancelled": "A prepared operation was cancelled.",
    "account.connected": "An ad account was connected.",
    "account.disconnected": "An ad account was disconnected.",
    "account.needs_reauth": "The network refuses the account's token, or accepts it again; `status` tells which.",
    "account.ads.initial_sync_completed": "The tree of a newly connected account has been read.",
    "analytics.synced": "An insights read is complete: its coverage has no missing day.",
    "sync.failed": "The first read of a new account, or an insights read, failed and is not repeated.",
    "campaign.status_changed": "The status of a campaign differs from the last known status.",
    "ad_group.status_changed": "The status of an ad group differs from the last known status.",
    "ad.status_changed": "The status of an ad differs from the last known status.",
    "rule.triggered": "A rule of the workspace stopped an execution or refused a plan, or an alert found a breach.",
}
"""Name -> when the event happens."""

DEFAULT_EVENTS = tuple(name for name in EVENT_DESCRIPTIONS if name.startswith("operation."))
"""The events of a webhook that was created without a list of events."""

TEST_EVENT = "webhook.test"
"""The type of a test notification. It is not an event name, so that receivers do not process it as an event."""

DATA_MEMBERS = ("operationId", "accountId", "network", "status")
GUARDRAIL_DATA_MEMBERS = ("guardrailId", "rule", "member", "currency", "limit", "used", "asked", "fits")
"""The members about a guardrail; ``rule`` is its name."""
ALERT_DATA_MEMBERS = ("alertId", "alert", "level", "allowed", "found", "day", "asOf")
"""The members about an alert, besides ``rule`` (its name), ``entityId`` and ``currency``; ``alert`` is its kind."""
OPTIONAL_DATA_MEMBERS = (
    *("kind", "entityId", "before", "what", "startDate", "endDate"),
    *GUARDRAIL_DATA_MEMBERS,
    *ALERT_DATA_MEMBERS,
)
"""The members of ``data``: the members of every event (null if they do not apply), and the members of some events.

They hold identifiers and states only. A notification never contains native content or credentials.
"""

ACTOR_DATA_MEMBERS = ("executedBy", "cancelledBy")
"""The actors that executed or cancelled the operation: each is None or an object with ACTOR_MEMBERS."""
ACTOR_MEMBERS = ("userId", "credential", "at")
"""``credential`` is the identity of a credential, never its secret; ``at`` is an ISO 8601 instant in UTC."""

_KNOWN_MEMBERS = frozenset(DATA_MEMBERS + OPTIONAL_DATA_MEMBERS)
_MAX_TEXT_LENGTH = 250


def _is_text(value: Any) -> bool:
    return value is None or (isinstance(value, str) and len(value) <= _MAX_TEXT_LENGTH)


def _is_actor(value: Any) -> bool:
    if not isinstance(value, Mapping):
        return value is None
    return set(value) == set(ACTOR_MEMBERS) and all(
        isinstance(member, str) and _is_text(member) for member in value.values()
    )


def build_event_body(
    event_id: str, name: str, created_at: datetime, workspace_id: str, data: Mapping[str, Any]
) -> dict[str, Any]:
    """Build the body of a notification as JSON. ``created_at`` must have a time zone.

    Raises:
        ValueError: the name is not an event, ``data`` has an unknown member or value, or the time has no zone.
    """
    if name not in EVENT_DESCRIPTIONS and name != TEST_EVENT:
        raise ValueError(f"{name} is not an event")
    if created_at.tzinfo is None:
        raise ValueError("created_at has no time zone")
    for member, value in data.items():
        if not (_is_actor(value) if member in ACTOR_DATA_MEMBERS else member in _KNOWN_MEMBERS and _is_text(value)):
            raise ValueError(f"{member} is not allowed in an event, or has a value that is not allowed")
    return {
        "id": event_id,
        "type": name,
        "createdAt": created_at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z"),
        "apiVersion": API_VERSION,
        "workspaceId": workspace_id,
        "data": {**dict.fromkeys(DATA_MEMBERS), **data},
    }
