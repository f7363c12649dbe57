"""The ledger of a workspace: the kinds of recorded changes, and the hashes that reveal a change of a row.

A row has the SHA-256 of its content. A sealed row also has a number and a chained hash: the SHA-256 of the chained hash
of the row before it and of its content hash, both as hexadecimal text.
"""

from __future__ import annotations

import hashlib
from collections.abc import Sequence
from typing import Literal, Protocol

from attrs import frozen

from adsunify.values.exact_json import Json, dumps_bytes, dumps_canonical

LedgerKind = Literal[
    "prepare",
    "execute",
    "receipt",
    "cancel",
    "restore",
    "launch",
    "change_set",
    "verdict",
    "settlement",
    "guardrail",
    "alert",
    "freeze",
    "lift",
    "key",
    "grant",
    "consent",
    "connection",
    "account",
    "workspace",
    "membership",
    "invitation",
    "password",
    "webhook",
    "delivery",
]
SubjectType = Literal[
    "operation",
    "launch",
    "change_set",
    "guardrail",
    "alert",
    "credential",
    "key",
    "grant",
    "network",
    "connection",
    "account",
    "workspace",
    "user",
    "email",
    "webhook",
    "delivery",
]
SUBJECT_TYPES: dict[LedgerKind, SubjectType] = {
    "prepare": "operation",
    "execute": "operation",
    "receipt": "operation",
    "cancel": "operation",
    "restore": "operation",
    "launch": "launch",
    "change_set": "change_set",
    "verdict": "operation",
    "settlement": "operation",
    "guardrail": "guardrail",
    "alert": "alert",
    "freeze": "credential",
    "lift": "credential",
    "key": "key",
    "grant": "grant",
    "consent": "network",
    "connection": "connection",
    "account": "account",
    "workspace": "workspace",
    "membership": "user",
    "invitation": "email",
    "password": "user",
    "webhook": "webhook",
    "delivery": "delivery",
}
"""Kind -> the type of the subject whose id the row has."""
KIND_DESCRIPTIONS: dict[LedgerKind, str] = {
    "prepare": "An operation was prepared. `after` has the digest of its plan.",
    "execute": "An execution claimed an operation.",
    "receipt": "The outcome of a native write was stored. `after` has the digest of the receipt.",
    "cancel": "A prepared operation was cancelled.",
    "restore": "The database was restored from a backup that holds the operation before its end.",
    "launch": "A launch was created.",
    "change_set": "A change set was created, prepared, executed or cancelled. `after` has its digest.",
    "verdict": "An inspection decided about a step in doubt.",
    "settlement": "A person decided about a step in doubt.",
    "guardrail": "A guardrail was created, changed or deleted.",
    "alert": "An alert was created, changed or deleted.",
    "freeze": "A guardrail froze a credential.",
    "lift": "An admin lifted the freeze of a credential.",
    "key": "An API key was created or revoked.",
    "grant": "A person gave an agent a grant, or a grant was revoked.",
    "consent": "A link was created at which a person connects accounts of a network.",
    "connection": "A connection was made, disconnected, refused by the network, or accepted again.",
    "account": "An ad account was connected or disconnected, or its extras were set.",
    "workspace": "A workspace was created, or its approval rule was changed.",
    "membership": "A person became a member, got another role, or was removed.",
    "invitation": "A person was invited to the workspace, or the open invitations of a person were revoked.",
    "password": "The password of a member was set.",
    "webhook": "A webhook was created, changed or removed.",
    "delivery": "A test notification was queued, or a finished notification was queued again.",
}
"""Kind -> a description of the change.

`before` is null if the subject was created, `after` is null if it was deleted.
"""

FIRST_CHAIN_HASH = "0" * 64
"""The chained hash before the first row of a workspace."""


class Author(Protocol):
    """The author of a change: a user with a credential. An actor is an author."""

    @property
    def user_id(self) -> str | None:
        """The user; None if no user is known."""
        ...

    @property
    def credential(self) -> str:
        """The identity of the credential (:mod:`adsunify.actor`)."""
        ...


@frozen
class NamedAuthor:
    """An author that is not an actor."""

    user_id: str | None
    credential: str


LOCAL_AUTHOR = NamedAuthor(None, "local")
"""A person with access to the database, who uses the command line."""
SYSTEM_AUTHOR = NamedAuthor(None, "system")
"""adsunify itself, for example when a network refuses a token."""


@frozen
class LedgerEntry:
    """A change to be recorded.

    Attributes:
        workspace_id: the workspace.
        by: the author of the change.
        kind: the kind of the change.
        subject_id: the id of the changed subject, of the type :data:`SUBJECT_TYPES`.
        account_id: the ad account that it concerns, if any.
        network: the code of the network that it concerns, if any.
        before: the state before, without secrets; None if the subject was created.
        after: the state after, without secrets; None if the subject was deleted.
    """

    workspace_id: str
    by: Author
    kind: LedgerKind
    subject_id: str
    account_id: str | None = None
    network: str | None = None
    before: Json = None
    after: Json = None


@frozen
class ChainLink:
    """A place in a chain: the number of a sealed row, from 1, and its chained hash.

    The place before the first row has the number 0.
    """

    seq: int = 0
    chain_hash: str = FIRST_CHAIN_HASH


def dump_state(state: Json) -> str | None:
    """Return the stored text of ``before`` or ``after``: canonical JSON; None stays None."""
    return None if state is None else dumps_canonical(state).decode("ascii")


def hash_json(value: Json) -> str:
    """Return the digest of a plan or a receipt in a row: the hexadecimal SHA-256 of its canonical JSON."""
    return hashlib.sha256(dumps_canonical(value)).hexdigest()


def hash_content(content: Sequence[str | None]) -> str:
    """Return the hexadecimal SHA-256 of a row's content.

    Args:
        content: the texts of :data:`adsunify.store.ledger.CONTENT_COLUMNS`, in this order. The hash is over their JSON
            array in ASCII, without spaces.
    """
    return hashlib.sha256(dumps_bytes(list(content))).hexdigest()


def hash_link(previous: str, content_hash: str) -> str:
    """Return the chained hash of a row.

    Args:
        previous: the chained hash of the row before it, or :data:`FIRST_CHAIN_HASH`.
        content_hash: the hash of its content.
    """
    return hashlib.sha256((previous + content_hash).encode("utf-8", "surrogateescape")).hexdigest()
