"""Webhook subscriptions, their deliveries, and redelivery."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from uuid import uuid4

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.encryption import SecretContext, decrypt, encrypt
from adsunify.errors import invalid_input
from adsunify.events import DEFAULT_EVENTS, TEST_EVENT
from adsunify.http.safe_fetch import FetchError, parse_public_url, resolve_public_address
from adsunify.ledger import LedgerEntry
from adsunify.store import connections, encrypted_secrets, events, ledger, new_id, webhooks
from adsunify.store import deliveries as outgoing
from adsunify.store.clock import Clock
from adsunify.store.deliveries import DeliveryAttemptRecord, DeliveryRecord
from adsunify.store.webhooks import WebhookRecord
from adsunify.values.exact_json import Json

from .core import Service, format_optional_timestamp, format_timestamp
from .tokens import make_token

SECRET_FIELD = "signing_secret"


async def list_webhooks(service: Service, actor: Actor) -> list[Json]:
    """List the subscriptions in your scope, without their signing secrets.

    A subscription has the status ``ended`` where its key or grant has ended or its owner has left the workspace;
    ``endedReason`` says which.
    """
    return await service.store.read(_list_webhooks, actor, service.store.clock)


def _list_webhooks(connection: Connection, actor: Actor, clock: Clock) -> list[Json]:
    ended_reasons = webhooks.list_ended_reasons(connection, actor.workspace_id, clock)
    return [
        webhook_to_json(record, ended_reasons.get(record.id)) for record in webhooks.list_webhooks(connection, actor)
    ]


async def create_webhook(
    service: Service, actor: Actor, *, url: str, account_id: str | None, events: Sequence[str] | None
) -> Json:
    """Subscribe an address to events of the workspace or of one account. Only this response shows the signing secret.

    The address must be https on port 443, and its host must have a public IPv4 address. Deliveries stop when the key
    that created the subscription expires or is revoked.
    """
    await check_destination(service, url)
    id_ = new_id(service.store.clock.now())
    secret = f"whsec_{make_token()}"
    text = encrypt(service.ring, _secret_context(actor.workspace_id, id_), secret)
    record = await service.store.write(
        _create_webhook, actor, id_, url, account_id, events or DEFAULT_EVENTS, text, service.store.clock
    )
    return {**webhook_to_json(record), "secret": secret}


def _create_webhook(
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
        connections.get_account(connection, actor, account_id)
    record = webhooks.create_webhook(connection, actor, id_, url, account_id, events, clock)
    encrypted_secrets.save_secrets(
        connection, webhooks.SECRETS_TABLE, id_, actor.workspace_id, {SECRET_FIELD: secret}, clock
    )
    return record


async def check_destination(service: Service, url: str) -> None:
    """Check an address against the rules for destinations; deliveries check it again. Raises InvalidInput."""
    destination = parse_public_url(url, service.settings.webhook_dev_targets)
    if destination.is_guarded:
        try:
            await resolve_public_address(destination.host, service.resolve_host)
        except FetchError as problem:
            raise invalid_input("url", "destination_refused", problem.message) from None


async def update_webhook(
    service: Service,
    actor: Actor,
    *,
    webhook_id: str,
    url: str | None,
    active: bool | None,
    events: Sequence[str] | None,
) -> Json:
    """Change a subscription for future events; queued events stay queued. A paused subscription gets no deliveries."""
    if url is not None:
        await check_destination(service, url)
    members = {"url": url, "active": active, "events": None if events is None else list(events)}
    values = {name: value for name, value in members.items() if value is not None}
    return await service.store.write(_update_webhook, actor, webhook_id, values, service.store.clock)


def _update_webhook(
    connection: Connection, actor: Actor, webhook_id: str, values: Mapping[str, Any], clock: Clock
) -> Json:
    record = webhooks.update_webhook(connection, actor, webhook_id, values, clock)
    return webhook_to_json(record, webhooks.list_ended_reasons(connection, actor.workspace_id, clock).get(webhook_id))


async def remove_webhook(service: Service, actor: Actor, *, webhook_id: str) -> Json:
    """Remove a subscription and its queued deliveries."""
    while (removed := await service.store.write(_remove_webhook, actor, webhook_id, service.store.clock)) is None:
        pass
    return removed


def _remove_webhook(connection: Connection, actor: Actor, webhook_id: str, clock: Clock) -> Json:
    """Return the removed subscription; None if more deliveries are queued than one transaction removes."""
    reason = webhooks.list_ended_reasons(connection, actor.workspace_id, clock).get(webhook_id)
    removed = webhooks.remove_webhook(connection, actor, webhook_id, clock)
    if removed is None:
        return None
    encrypted_secrets.delete_secrets(connection, webhooks.SECRETS_TABLE, webhook_id)
    return webhook_to_json(removed, reason)


async def queue_test_event(service: Service, actor: Actor, *, webhook_id: str) -> Json:
    """Queue a signed test notification, which belongs to no operation.

    Raises NotFound; Conflict where the subscription has ended.
    """
    return delivery_to_json(
        await service.store.write(_queue_test_event, actor, webhook_id, str(uuid4()), service.store.clock)
    )


def _queue_test_event(
    connection: Connection, actor: Actor, webhook_id: str, event_id: str, clock: Clock
) -> DeliveryRecord:
    webhook = webhooks.lock_webhook(connection, actor, webhook_id)
    webhooks.require_not_ended(connection, webhook, clock)
    at = clock.now()
    row = events.make_event_row(TEST_EVENT, webhook.workspace_id, at, status="test", account_id=webhook.account_id)
    row["id"] = event_id
    delivery = outgoing.make_due_delivery(
        webhook.id, webhook.url, event_id, TEST_EVENT, events.notification_body(row), at
    )
    outgoing.queue_deliveries(connection, [delivery])
    after = {"status": delivery.status, "type": TEST_EVENT}
    entry = LedgerEntry(webhook.workspace_id, actor, "delivery", delivery.id, webhook.account_id, after=after)
    ledger.record_entry(connection, entry, clock)
    return delivery


async def list_deliveries(service: Service, actor: Actor, *, webhook_id: str) -> list[Json]:
    """List the latest 100 deliveries, newest first."""
    return [
        delivery_to_json(record) for record in await service.store.read(outgoing.list_deliveries, actor, webhook_id)
    ]


async def list_attempts(service: Service, actor: Actor, *, webhook_id: str, delivery_id: str) -> list[Json]:
    """List the attempts of a delivery, oldest first."""
    return [
        _attempt_to_json(record)
        for record in await service.store.read(outgoing.list_delivery_attempts, actor, webhook_id, delivery_id)
    ]


async def redeliver_event(service: Service, actor: Actor, *, webhook_id: str, delivery_id: str) -> Json:
    """Queue a finished notification again with the same event id. The advertising operation is not repeated."""
    return delivery_to_json(
        await service.store.write(outgoing.requeue_delivery, actor, webhook_id, delivery_id, service.store.clock)
    )


async def list_event_types(service: Service, actor: Actor, network: str) -> list[str]:
    """Return the types of a network's events among the latest 1000 of the workspace, newest first.

    Events of accounts outside the actor's scope are left out.
    """
    latest = await service.store.read(events.list_events, actor.workspace_id, 1000)
    return [
        event.type
        for event in latest
        if event.data.get("network") == network and actor.can_reach(event.account_id, network)
    ]


def decrypt_signing_secret(service: Service, workspace_id: str, webhook_id: str, text: str) -> str:
    """Decrypt the signing secret of a subscription. Raises VaultError."""
    return decrypt(service.ring, _secret_context(workspace_id, webhook_id), text)


def _secret_context(workspace_id: str, webhook_id: str) -> SecretContext:
    return SecretContext(webhooks.SECRETS_TABLE, webhook_id, workspace_id, SECRET_FIELD)


def webhook_to_json(record: WebhookRecord, ended_reason: str | None = None) -> dict[str, Json]:
    """Return a subscription as responses show it. ``ended_reason``: why it gets no more deliveries."""
    return {
        "webhookId": record.id,
        "url": record.url,
        "accountId": record.account_id,
        "events": list(record.events),
        "active": record.active,
        "status": "ended" if ended_reason else "active" if record.active else "paused",
        "endedReason": ended_reason,
        "createdBy": {"userId": record.user_id, "credential": record.credential},
        "createdAt": format_timestamp(record.created_at),
    }


def delivery_to_json(record: DeliveryRecord) -> dict[str, Json]:
    """Return a delivery as responses show it."""
    return {
        "deliveryId": record.id,
        "eventId": record.event_id,
        "type": record.type,
        "status": record.status,
        "attempts": record.attempts,
        "nextAttemptAt": format_optional_timestamp(record.next_attempt_at if record.status == "pending" else None),
    }


def _attempt_to_json(record: DeliveryAttemptRecord) -> dict[str, Json]:
    return {
        "number": record.number,
        "at": format_timestamp(record.at),
        "durationMs": record.duration_ms,
        "statusCode": record.status_code,
        "error": record.error,
    }
