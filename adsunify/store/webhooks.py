"""Webhooks: subscriptions to events. :mod:`.deliveries` has their deliveries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any
from urllib.parse import urlsplit

from attrs import asdict, frozen
from sqlalchemy import Connection, Row, Select, and_, bindparam, case, delete, exists, insert, select, update

from adsunify.actor import Actor
from adsunify.errors import Conflict, NotFound
from adsunify.ledger import LedgerEntry, hash_json
from adsunify.values.exact_json import Json

from .clock import Clock
from .driver import notify
from .ledger import record_entry
from .schema import accounts, api_keys, deliveries, delivery_attempts, grants, memberships, webhooks
from .statement import Statement

REMOVE_BATCH_SIZE = 500
"""Deliveries are deleted in batches of this size so that no transaction grows long."""
SECRETS_TABLE = "webhooks"
"""The table name in the context of encrypted signing secrets."""


@frozen
class WebhookRecord:
    """A subscription. It ends when the key (``key_id``) or the agent's grant that created it ends."""

    id: str
    workspace_id: str
    user_id: str
    credential: str
    key_id: str | None
    account_id: str | None
    url: str
    events: Sequence[str]
    active: bool
    created_at: int


_NOW: Any = bindparam("now")
_GRANT = exists().where(
    grants.c.user_id == webhooks.c.user_id,
    grants.c.client_id + ":" + grants.c.user_id == webhooks.c.credential,
    grants.c.workspace_id == webhooks.c.workspace_id,
    grants.c.revoked_at.is_(None),
    grants.c.scope.is_(None),  # a new grant with a scope has replaced the creator's
)
_IS_MADE_BY_AGENT = webhooks.c.credential.like("%:%")  # the credential of an agent is "client:user"
ENDED_REASON = case(
    (memberships.c.user_id.is_(None), "membership_ended"),
    (api_keys.c.revoked_at.is_not(None), "key_revoked"),
    (api_keys.c.expires_at <= _NOW, "key_expired"),
    (and_(_IS_MADE_BY_AGENT, ~_GRANT), "grant_revoked"),
    (and_(_IS_MADE_BY_AGENT, ~_GRANT.where(grants.c.expires_at > _NOW)), "grant_expired"),
)
"""The reason why a subscription has ended and gets no deliveries; NULL if it has not ended.

A subscription ends with the membership of its creator, and with the key or grant with which it was created. Select this
expression over :func:`join_authority`, with the parameter ``now`` (the machine's clock in milliseconds).
"""


def join_authority(chosen: Select[Any]) -> Select[Any]:
    """Join the key and the membership on which a subscription depends."""
    belongs = and_(memberships.c.workspace_id == webhooks.c.workspace_id, memberships.c.user_id == webhooks.c.user_id)
    return chosen.outerjoin(api_keys, api_keys.c.id == webhooks.c.key_id).outerjoin(memberships, belongs)


_INSERT = insert(webhooks)
_LIST_ENDED = join_authority(
    select(webhooks.c.id, ENDED_REASON.label("reason")).where(webhooks.c.workspace_id == bindparam("of_workspace"))
)
_SELECT = select(webhooks, accounts.c.network).outerjoin(accounts, accounts.c.id == webhooks.c.account_id)
_LIST = _SELECT.where(webhooks.c.workspace_id == bindparam("of_workspace")).order_by(webhooks.c.id)
_GET = _SELECT.where(webhooks.c.id == bindparam("the_id"))
_LOCK = select(webhooks.c.id).where(webhooks.c.id == bindparam("the_id")).with_for_update()
_SHARE_LOCK = _LOCK.with_for_update(read=True, key_share=True)
_SOME_DELIVERIES = (
    select(deliveries.c.id)
    .where(deliveries.c.webhook_id == bindparam("of_webhook"))
    .order_by(deliveries.c.id)
    .limit(REMOVE_BATCH_SIZE)
    .with_for_update()  # otherwise a worker could insert an attempt at the same time
)
_LIST_SUBSCRIPTIONS = Statement(
    join_authority(select(webhooks.c.id, webhooks.c.account_id, webhooks.c.url, webhooks.c.events, api_keys.c.scope))
    .where(webhooks.c.workspace_id == bindparam("of_workspace"), ENDED_REASON.is_(None))
    # the removal of a subscription must not fail the commit of a receipt
    .with_for_update(read=True, key_share=True, of=webhooks)
)


def create_webhook(
    connection: Connection,
    actor: Actor,
    id_: str,
    url: str,
    account_id: str | None,
    events: Sequence[str],
    clock: Clock,
) -> WebhookRecord:
    """Store a new subscription."""
    record = WebhookRecord(
        id_,
        actor.workspace_id,
        actor.user_id,
        actor.credential,
        actor.key_id,
        account_id,
        url,
        list(events),
        True,
        clock.now(),
    )
    connection.execute(_INSERT, asdict(record, recurse=False))
    _record_change(connection, actor, None, record, clock)
    return record


def _record_change(
    connection: Connection, actor: Actor, before: WebhookRecord | None, after: WebhookRecord | None, clock: Clock
) -> None:
    """Record a change of a subscription in the ledger."""
    record = after or before
    assert record is not None
    states = [None if state is None else _state_to_json(state) for state in (before, after)]
    where = (record.id, record.account_id, None)
    entry = LedgerEntry(record.workspace_id, actor, "webhook", *where, before=states[0], after=states[1])
    record_entry(connection, entry, clock)


def _state_to_json(record: WebhookRecord) -> Json:
    """Return a subscription for the ledger. The address is a digest, since it may contain a secret of the receiver."""
    parts = urlsplit(record.url)
    return {
        "origin": f"{parts.scheme}://{parts.hostname}",
        "urlDigest": hash_json(record.url),
        "events": list(record.events),
        "active": record.active,
    }


def list_webhooks(connection: Connection, actor: Actor) -> list[WebhookRecord]:
    """Return the subscriptions that the actor may see, oldest first."""
    rows = connection.execute(_LIST, {"of_workspace": actor.workspace_id}).all()
    return [_webhook_from_row(row) for row in rows if _is_in_scope(actor, row)]


def list_ended_reasons(connection: Connection, workspace_id: str, clock: Clock) -> dict[str, str]:
    """Return the ended subscriptions of a workspace: id -> reason (:data:`ENDED_REASON`)."""
    rows = connection.execute(_LIST_ENDED, {"of_workspace": workspace_id, "now": clock.wall()}).all()
    return {row.id: row.reason for row in rows if row.reason is not None}


def require_not_ended(connection: Connection, webhook: WebhookRecord, clock: Clock) -> None:
    """Raise Conflict if a subscription has ended. Nothing is queued for an ended one."""
    if webhook.id in list_ended_reasons(connection, webhook.workspace_id, clock):
        message = "This webhook has ended with its key, grant or membership. Nothing was queued. Create a new webhook."
        raise Conflict(message, code="webhook_ended")


def get_webhook(connection: Connection, actor: Actor, id_: str) -> WebhookRecord:
    """Return a subscription that the actor may see. Raises NotFound."""
    row = connection.execute(_GET, {"the_id": id_}).one_or_none()
    if row is None or not _is_in_scope(actor, row):
        raise NotFound("The webhook does not exist, or you may not see it.")
    return _webhook_from_row(row)


def lock_webhook(connection: Connection, actor: Actor, id_: str) -> WebhookRecord:
    """Return a subscription as :func:`get_webhook` does, and lock it until the transaction ends."""
    connection.execute(_SHARE_LOCK, {"the_id": id_})
    return get_webhook(connection, actor, id_)


def _is_in_scope(actor: Actor, row: Row[Any]) -> bool:
    """Whether the actor may see a subscription and reaches its events.

    A key's own subscription only has events in its scope.
    """
    is_own = row.credential == actor.credential
    is_reached = is_own or actor.can_reach(row.account_id, row.network)
    return is_reached and actor.can_see(row.workspace_id, row.user_id, row.credential)


def _webhook_from_row(row: Row[Any]) -> WebhookRecord:
    return WebhookRecord(**{name: value for name, value in row._mapping.items() if name != "network"})


def update_webhook(
    connection: Connection, actor: Actor, id_: str, values: Mapping[str, Any], clock: Clock
) -> WebhookRecord:
    """Change ``url``, ``events`` or ``active``. Queued deliveries are not changed. Raises NotFound."""
    before = get_webhook(connection, actor, id_)
    if values:
        notify(connection)
        connection.execute(update(webhooks).where(webhooks.c.id == id_).values(**values))
    after = get_webhook(connection, actor, id_)
    if after != before:
        _record_change(connection, actor, before, after, clock)
    return after


def remove_webhook(connection: Connection, actor: Actor, id_: str, clock: Clock) -> WebhookRecord | None:
    """Delete a subscription with its deliveries. One call deletes one batch of deliveries.

    Returns:
        The subscription; None if deliveries remain, so that the caller must call again.

    Raises:
        NotFound: the actor may not see the subscription.
    """
    connection.execute(_LOCK, {"the_id": id_})  # no transaction can queue deliveries for it now
    record = get_webhook(connection, actor, id_)
    some = connection.execute(_SOME_DELIVERIES, {"of_webhook": id_}).scalars().all()
    connection.execute(delete(delivery_attempts).where(delivery_attempts.c.delivery_id.in_(some)))
    connection.execute(delete(deliveries).where(deliveries.c.id.in_(some)))
    if len(some) == REMOVE_BATCH_SIZE:
        return None
    connection.execute(delete(webhooks).where(webhooks.c.id == id_))
    _record_change(connection, actor, record, None, clock)
    return record


def list_subscriptions(connection: Connection, workspace_id: str, at: int) -> Sequence[Any]:
    """Return all subscriptions that have not ended by ``at``, including paused ones.

    The columns are id, account, URL, events, and the scope of the key with which the subscription was created.
    """
    return _LIST_SUBSCRIPTIONS.fetch_all(connection, {"of_workspace": workspace_id, "now": at})
