"""Records that the clients' methods take and return."""

from __future__ import annotations

from collections.abc import Mapping

from attrs import frozen

from adsunify.models.brief import CampaignBrief
from adsunify.records import Operation, Record
from adsunify.values.exact_json import Json

__all__ = ["Account", "Brief", "Connection", "Operation", "Record"]

Brief = CampaignBrief | Mapping[str, Json]
"""A brief, or the JSON object of a brief."""


@frozen
class Account(Record):
    """A connected ad account.

    ``data``: accountId, network, nativeId, name, currency (ISO 4217), timezone (IANA), status (``active``,
    ``needs_reauth``, ``disconnected``), nativeStatus, connectionId, extras. Name, currency and time zone may be None.
    It differs from :class:`adsunify.Account`, which :func:`adsunify.plan` takes and which needs no store.
    """

    @property
    def id(self) -> str:
        """The ``accountId``, a UUID. It stays the same when the network is connected again."""
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

    accounts: tuple[Account, ...] = ()

    @property
    def id(self) -> str:
        """The ``connectionId``, a UUID: what :meth:`Ads.disconnect` takes."""
        return str(self.data["connectionId"])
