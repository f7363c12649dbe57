"""The rules that say which rows are deleted after their retention, and the function that deletes one page of a rule.

Operations, receipts, idempotency keys, events and the ledger are never deleted. The rules about operations remove
bodies only; :mod:`.removed_bodies` selects the operations.

A page is a range of primary keys, and each page is one transaction. So no transaction grows long, servers keep running,
and the next run continues if a process ends between two pages.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Literal

from attrs import frozen
from sqlalchemy import Column, ColumnElement, Connection, Table, and_, delete, exists, not_, or_, select

from .removed_bodies import are_responses_removable, is_plan_removable, remove_responses
from .schema import (
    consents,
    deliveries,
    delivery_attempts,
    frozen_credentials,
    grants,
    invitations,
    oauth_tokens,
    operations,
    sessions,
)

PAGE_SIZE = 500
"""How many rows one transaction looks at, so that other writers do not wait long."""
RetentionKind = Literal["plans", "responses", "deliveries", "grants", "tokens", "sessions", "consents", "invitations"]


@frozen
class RetentionRule:
    """One kind of data that is deleted after its retention.

    Attributes:
        kind: the name of the kind.
        days: the default of its retention, in days.
        removes: a text that names the deleted data.
        key: the column of the primary key.
        is_due: makes the condition of the rows to delete, from the latest time (milliseconds since 1970) at which their
            retention may have begun.
        child: the column of another table that refers to the key; its rows are deleted first.
        is_body: whether the row stays, and only its bodies are removed.
    """

    kind: RetentionKind
    days: int
    removes: str
    key: Column[str]
    is_due: Callable[[int], ColumnElement[bool]]
    child: Column[str] | None = None
    is_body: bool = False

    @property
    def variable(self) -> str:
        """The environment variable that sets the days; 0 keeps everything."""
        return f"ADSUNIFY_{self.kind.upper()}_RETENTION_DAYS"


@frozen
class RetentionPage:
    """A page of a rule: its last key (None after the last page), and the keys of the due rows."""

    last_key: str | None
    due: Sequence[str]


def _is_delivery_due(before: int) -> ColumnElement[bool]:
    """Whether a delivery has ended. Its last attempt counts, so a redelivery keeps the history."""
    has_later_attempt = exists().where(
        delivery_attempts.c.delivery_id == deliveries.c.id, delivery_attempts.c.at > before
    )
    return and_(
        deliveries.c.status.in_(("succeeded", "failed")), deliveries.c.created_at <= before, not_(has_later_attempt)
    )


def _is_grant_due(before: int) -> ColumnElement[bool]:
    """Whether a grant has ended and its client is not frozen. A client without a grant would be deleted."""
    is_frozen = exists().where(
        frozen_credentials.c.workspace_id == grants.c.workspace_id,
        frozen_credentials.c.credential == grants.c.client_id + ":" + grants.c.user_id,
    )
    return and_(or_(grants.c.revoked_at <= before, grants.c.expires_at <= before), not_(is_frozen))


def _has_expired(table: Table) -> Callable[[int], ColumnElement[bool]]:
    return lambda before: table.c.expires_at <= before


RULES: tuple[RetentionRule, ...] = (
    RetentionRule(
        "plans",
        365,
        "the bodies of plans and requests of operations that have ended",
        operations.c.id,
        is_plan_removable,
        is_body=True,
    ),
    RetentionRule(
        "responses",
        365,
        "the raw responses in the receipts of operations that have ended",
        operations.c.id,
        are_responses_removable,
        is_body=True,
    ),
    RetentionRule(
        "deliveries",
        90,
        "notifications that were delivered or have failed, and their attempts",
        deliveries.c.id,
        _is_delivery_due,
        delivery_attempts.c.delivery_id,
    ),
    RetentionRule(
        "tokens",
        30,
        "codes and tokens of agents that have expired",
        oauth_tokens.c.token_hash,
        _has_expired(oauth_tokens),
    ),
    RetentionRule(
        "grants",
        365,
        "agents' grants that were revoked or have expired, and their tokens",
        grants.c.id,
        _is_grant_due,
        oauth_tokens.c.grant_id,
    ),
    RetentionRule(
        "sessions", 30, "browsers' sessions that have expired", sessions.c.token_hash, _has_expired(sessions)
    ),
    RetentionRule(
        "consents",
        30,
        "links and logins to connect a network that have expired",
        consents.c.token_hash,
        _has_expired(consents),
    ),
    RetentionRule(
        "invitations", 90, "invitations that have expired", invitations.c.token_hash, _has_expired(invitations)
    ),
)


def find_due_page(
    connection: Connection, rule: RetentionRule, after: str, before: int, page_size: int = PAGE_SIZE
) -> RetentionPage:
    """Find the rows of the next page that are due.

    Args:
        connection: the connection.
        rule: the rule.
        after: the last key of the page before; empty for the first page.
        before: the latest time at which the retention of a due row may have begun, in milliseconds since 1970.
        page_size: how many rows a page has.
    """
    keys = (
        connection.execute(select(rule.key).where(rule.key > after).order_by(rule.key).limit(page_size)).scalars().all()
    )
    if not keys:
        return RetentionPage(None, ())
    due = select(rule.key).where(rule.key > after, rule.key <= keys[-1], rule.is_due(before)).order_by(rule.key)
    return RetentionPage(keys[-1], connection.execute(due).scalars().all())


def delete_due_page(
    connection: Connection, rule: RetentionRule, after: str, before: int, now: int, page_size: int = PAGE_SIZE
) -> RetentionPage:
    """Delete the due rows of the next page; for operations, remove the responses.

    Rows that another transaction has locked are left to a later run. Arguments: :func:`find_due_page`; ``now`` is the
    present, in milliseconds since 1970.
    """
    page = find_due_page(connection, rule, after, before, page_size)
    if not page.due:
        return page
    table = rule.key.table
    locked = select(rule.key).where(rule.key.in_(page.due), rule.is_due(before)).with_for_update(skip_locked=True)
    due = connection.execute(locked).scalars().all()
    if rule.is_body:
        remove_responses(connection, due, now)
        return RetentionPage(page.last_key, due)
    if rule.child is not None:
        connection.execute(delete(rule.child.table).where(rule.child.in_(due)))
    connection.execute(delete(table).where(rule.key.in_(due)))
    return RetentionPage(page.last_key, due)
