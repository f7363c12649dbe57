"""Rows of the ledger."""

from __future__ import annotations

from typing import Annotated, Any

from adsunify.ledger import LedgerKind, SubjectType

from .shape import OPEN, Instant, Shape, Text, Uuid


class LedgerAuthor(Shape):
    """Who made a change. ``userId`` is null where no user is known.

    ``credential`` is the id of an API key, the client and the user of an agent, ``session`` for a person in a browser,
    ``local`` for the library and the command line on the database, or ``system``.
    """

    user_id: Uuid | None
    credential: str


class LedgerSubject(Shape):
    """What changed."""

    type: Annotated[SubjectType | str, OPEN]
    id: str


class LedgerEntry(Shape):
    """A row of the ledger.

    ``before`` is null for what was created, ``after`` for what was deleted. ``seq`` and ``chainHash`` are null until a
    worker has sealed the row.
    """

    id: Uuid
    seq: int | None
    at: Instant
    kind: Annotated[LedgerKind | str, OPEN]
    actor: LedgerAuthor
    account_id: Uuid | None
    network: Text
    subject: LedgerSubject
    before: Any
    after: Any
    content_hash: str
    chain_hash: Text
