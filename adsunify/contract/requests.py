"""Request bodies and queries of the REST API, exactly as SPEC.md says. Unknown members are refused everywhere."""

from __future__ import annotations

from datetime import date
from typing import Annotated, Literal
from uuid import UUID

from pydantic import ConfigDict, Field, StringConstraints

from adsunify.brief import CampaignBrief, Instant
from adsunify.validation import Maybe, WireModel

NetworkCode = Literal[
    "meta",
    "google",
    "tiktok",
    "snapchat",
    "pinterest",
    "linkedin",
    "reddit",
    "amazon",
    "x",
    "chatgpt",
    "apple",
    "outbrain",
]
OAuthNetwork = Literal["meta", "google", "tiktok", "snapchat", "pinterest", "linkedin", "reddit", "amazon", "x"]
Kind = Literal["campaign", "adGroup", "ad"]
Status = Literal["active", "paused"]
EntityId = Annotated[str, StringConstraints(min_length=1, max_length=250)]


class Query(WireModel):
    """The base of every query: text from an address, so numbers and dates are read from it."""

    model_config = ConfigDict(strict=False)


class Nothing(WireModel):
    """An empty object."""


class NewKey(WireModel):
    """A new API key. ``expiresAt`` is bounded by the expiry of the authorizing key; left out, it is that expiry."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    can_write: bool = False
    expires_at: Maybe[Instant] = None


class Authorize(WireModel):
    """Which network to connect through a hosted consent link."""

    network: OAuthNetwork


class AccountsQuery(Query):
    """Which accounts to list."""

    network: Maybe[NetworkCode] = None


class InsightsQuery(Query):
    """Which days to report: both dates included, in the account's time zone."""

    start_date: date
    end_date: date


class CatalogQuery(Query):
    """A page of a catalog."""

    search: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None
    cursor: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Annotated[int, Field(ge=1, le=100)] = 50


class Campaign(WireModel):
    """An account and a unified brief."""

    account_id: UUID
    campaign: CampaignBrief


class Activate(WireModel):
    """The succeeded create operation whose hierarchy is to be activated."""

    account_id: UUID
    source_operation_id: UUID


class Confirm(WireModel):
    """The caller's word that the prepared change shall be written."""

    confirmed: Literal[True]


class ConfirmMany(WireModel):
    """The caller's word for up to 50 prepared changes."""

    operation_ids: Annotated[list[UUID], Field(min_length=1, max_length=50)]
    confirmed: Literal[True]


class BulkStatus(WireModel):
    """One status for up to 50 entities of one kind."""

    account_id: UUID
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    status: Status
