"""Webhook subscriptions, what was delivered to them, and delivering again."""

from __future__ import annotations

import secrets
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.encryption import Place, open_, seal
from adsunify.errors import refused
from adsunify.events import DEFAULT_EVENTS, TEST_EVENT
from adsunify.http.safe_fetch import FetchError, checked_address, destination
from adsunify.store import connections, events, new_id, sealed, webhooks
from adsunify.store import deliveries as outgoing
from adsunify.store.clock import Clock
from adsunify.store.deliveries import AttemptRecord, DeliveryRecord
from adsunify.store.webhooks import WebhookRecord
from adsunify.values.exact_json import Json

from .core import Service, moment, moment_or_none

FIELD = "signing_secret"


async def list_(service: Service, actor: Actor) -> list[Json]:
    """The subscriptions in your scope; signing secrets are never shown again.

    One whose key or grant has ended, or whose owner has left the workspace, has the status ``ended``, with the reason.
    """
    return await service.store.read(_list, actor, service.store.clock)


def _list(connection: Connection, actor: Actor, clock: Clock) -> list[Json]:
    ended = webhooks.ended(connection, actor.workspace_id, clock)
    return [shown(one, ended.get(one.id)) for one in webhooks.list_webhooks(connection, actor)]


async def create(
    service: Service, actor: Actor, *, url: str, account_id: str | None, events: Sequence[str] | None
) -> Json:
    """Subscribe an address to events of the workspace, or of one account. The signing secret is shown this once.

    The address is https on port 443 with a public IPv4 address behind its name. Deliveries stop when the key that made
    the subscription expires or is revoked.
    """
    await check(service, url)
    id_ = new_id(service.store.clock.now())
    secret = f"whsec_{secrets.token_urlsafe(32)}"
    text = seal(service.ring, _place(actor.workspace_id, id_), secret)
    kept = await service.store.write(
        _create, actor, id_, url, account_id, events or DEFAULT_EVENTS, text, service.store.clock
    )
    return {**shown(kept), "secret": secret}


def _create(
    connection: Connection,
    actor: Actor,
    id_: str,
    url: str,
    account_id: str | None,
    events: Sequence[str],
    secret: str,
    clock: Clock,
) -> WebhookRecord:
    if account_id is not None:
        connections.account(connection, actor.workspace_id, account_id)
    kept = webhooks.create(connection, actor, id_, url, account_id, events, clock)
    sealed.put(connection, webhooks.SECRETS, id_, actor.workspace_id, {FIELD: secret}, clock)
    return kept


async def check(service: Service, url: str) -> None:
    """Hold an address against the rules for destinations, as every connection will be; raises InvalidInput."""
    where = destination(url, service.settings.webhook_dev_targets)
    if where.guarded:
        try:
            await checked_address(where.host, service.resolving)
        except FetchError as problem:
            raise refused("url", "destination_refused", problem.message) from None


async def change(
    service: Service,
    actor: Actor,
    *,
    webhook_id: str,
    url: str | None,
    active: bool | None,
    events: Sequence[str] | None,
) -> Json:
    """Change a subscription for future events; what is queued keeps its selection. Paused, nothing is attempted."""
    if url is not None:
        await check(service, url)
    asked = {"url": url, "active": active, "events": None if events is None else list(events)}
    values = {name: value for name, value in asked.items() if value is not None}
    return await service.store.write(_change, actor, webhook_id, values, service.store.clock)


def _change(connection: Connection, actor: Actor, webhook_id: str, values: Mapping[str, Any], clock: Clock) -> Json:
    changed = webhooks.change(connection, actor, webhook_id, values)
    return shown(changed, webhooks.ended(connection, actor.workspace_id, clock).get(webhook_id))


async def remove(service: Service, actor: Actor, *, webhook_id: str) -> Json:
    """Remove a subscription and everything queued for it."""
    while (found := await service.store.write(_remove, actor, webhook_id, service.store.clock)) is None:
        pass
    return found


def _remove(connection: Connection, actor: Actor, webhook_id: str, clock: Clock) -> Json:
    """The subscription as it was; None where more is queued for it than is removed at once."""
    reason = webhooks.ended(connection, actor.workspace_id, clock).get(webhook_id)
    found = webhooks.remove(connection, actor, webhook_id)
    if found is None:
        return None
    sealed.forget(connection, webhooks.SECRETS, webhook_id)
    return shown(found, reason)


async def test(service: Service, actor: Actor, *, webhook_id: str) -> Json:
    """Queue a signed test notification; it belongs to no operation. Raises NotFound, Conflict (it has ended)."""
    return delivery(await service.store.write(_test, actor, webhook_id, str(uuid4()), service.store.clock))


def _test(connection: Connection, actor: Actor, webhook_id: str, event_id: str, clock: Clock) -> DeliveryRecord:
    webhook = webhooks.held(connection, actor, webhook_id)
    webhooks.refuse_ended(connection, webhook, clock)
    at = clock.now()
    row = events.event_row(TEST_EVENT, webhook.workspace_id, at, status="test", account_id=webhook.account_id)
    row["id"] = event_id
    made = outgoing.due(webhook.id, webhook.url, event_id, TEST_EVENT, events.body(row), at)
    outgoing.queue(connection, [made])
    return made


async def deliveries(service: Service, actor: Actor, *, webhook_id: str) -> list[Json]:
    """The latest 100 deliveries, newest first."""
    return [delivery(one) for one in await service.store.read(outgoing.latest, actor, webhook_id)]


async def attempts(service: Service, actor: Actor, *, webhook_id: str, delivery_id: str) -> list[Json]:
    """Every attempt of a delivery, oldest first."""
    return [_attempt(one) for one in await service.store.read(outgoing.attempts, actor, webhook_id, delivery_id)]


async def redeliver(service: Service, actor: Actor, *, webhook_id: str, delivery_id: str) -> Json:
    """Queue a finished notification again under its event id. The advertising operation is not repeated."""
    return delivery(await service.store.write(outgoing.redeliver, actor, webhook_id, delivery_id, service.store.clock))


def opened(service: Service, workspace_id: str, webhook_id: str, text: str) -> str:
    """The signing secret of a subscription from what the store kept. Raises VaultError."""
    return open_(service.ring, _place(workspace_id, webhook_id), text)


def _place(workspace_id: str, webhook_id: str) -> Place:
    return Place(webhooks.SECRETS, webhook_id, workspace_id, FIELD)


def shown(record: WebhookRecord, ended: str | None = None) -> dict[str, Json]:
    """A subscription as the answers show it. ``ended``: why nothing is delivered to it any more."""
    return {
        "webhookId": record.id,
        "url": record.url,
        "accountId": record.account_id,
        "events": list(record.events),
        "active": record.active,
        "status": "ended" if ended else "active" if record.active else "paused",
        "endedReason": ended,
        "createdBy": {"userId": record.user_id, "credential": record.credential},
        "createdAt": moment(record.created_at),
    }


def delivery(record: DeliveryRecord) -> dict[str, Json]:
    """A delivery as the answers show it."""
    return {
        "deliveryId": record.id,
        "eventId": record.event_id,
        "type": record.type,
        "status": record.status,
        "attempts": record.attempts,
        "nextAttemptAt": moment_or_none(record.next_attempt_at if record.status == "pending" else None),
    }


def _attempt(record: AttemptRecord) -> dict[str, Json]:
    return {
        "number": record.number,
        "at": moment(record.at),
        "durationMs": record.duration_ms,
        "statusCode": record.status_code,
        "error": record.error,
    }
