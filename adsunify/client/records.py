"""What the clients' methods take and return."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen

from adsunify.brief import CampaignBrief
from adsunify.wire import Json

Brief = CampaignBrief | Mapping[str, Json]
"""A brief, or the object that it is on the wire."""


@frozen
class Record:
    """A part of an answer: ``data`` is all of it, in the contract's words."""

    data: Mapping[str, Json]


@frozen
class Account(Record):
    """A connected ad account.

    ``data``: accountId, network, nativeId, name, currency (ISO 4217), timezone (IANA), status (``active``,
    ``needs_reauth``, ``disconnected``), nativeStatus, connectionId, extras. Name, currency and time zone may be None.
    It is another class than :class:`adsunify.Account`, which :func:`adsunify.plan` takes and which knows no store.
    """

    @property
    def id(self) -> str:
        """The ``accountId``, a UUID; it stays when the network is connected again."""
        return str(self.data["accountId"])

    @property
    def network(self) -> str:
        """The network's code, such as ``meta``."""
        return str(self.data["network"])


@frozen
class Connection(Record):
    """A connection to a network, with the accounts that were found through it.

    ``data``: connectionId, network, status, accounts (their ids), expiresAt, createdAt (ISO 8601, UTC).
    """

    accounts: Sequence[Account] = ()

    @property
    def id(self) -> str:
        """The ``connectionId``, a UUID: what :meth:`Ads.disconnect` takes."""
        return str(self.data["connectionId"])


@frozen
class Operation(Record):
    """A prepared change with its saved receipt, as it was when it was read.

    ``data`` also holds action, createdAt and expiresAt (ISO 8601, UTC), expired, stalled, risk (``low``, ``spend``,
    ``destructive``), warnings, ``plan`` (its steps: what each does, method, path, body, changes) and ``receipt`` (per
    step and attempt: state, executedBy, outputs, response, error). ``executedBy`` (who executed it last) and
    ``cancelledBy`` hold userId, credential and at; each is absent where nobody did.
    """

    @property
    def id(self) -> str:
        """The operation's UUID."""
        return str(self.data["id"])

    @property
    def status(self) -> str:
        """``prepared``, ``running``, ``succeeded``, ``unknown`` or ``cancelled``."""
        return str(self.data["status"])

    @property
    def next_action(self) -> str | None:
        """``execute`` where steps remain, and the same operation is to be executed again; else None."""
        found = self.data.get("nextAction")
        return None if found is None else str(found)

    @property
    def retry_after_ms(self) -> int:
        """How long to wait before that, in milliseconds; 0 where it need not wait."""
        return int(self.data.get("retryAfterMs", 0))

    @property
    def review_url(self) -> str:
        """Where a person who signs in reads the plan and executes it."""
        return str(self.data["reviewUrl"])
