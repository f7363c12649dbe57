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
    """A connected ad account."""

    @property
    def id(self) -> str:
        return str(self.data["accountId"])

    @property
    def network(self) -> str:
        return str(self.data["network"])


@frozen
class Connection(Record):
    """A connection to a network, with the accounts that were found through it."""

    accounts: Sequence[Account] = ()

    @property
    def id(self) -> str:
        return str(self.data["connectionId"])


@frozen
class Operation(Record):
    """A prepared change with its saved receipt."""

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def status(self) -> str:
        return str(self.data["status"])

    @property
    def next_action(self) -> str | None:
        found = self.data.get("nextAction")
        return None if found is None else str(found)

    @property
    def retry_after_ms(self) -> int:
        return int(self.data.get("retryAfterMs", 0))

    @property
    def review_url(self) -> str:
        return str(self.data["reviewUrl"])
