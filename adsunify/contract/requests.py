"""Request bodies and queries of the REST API, exactly as SPEC.md says. Unknown members are refused everywhere.

A query is text: :data:`Day` and :data:`Whole` read their one spelling of it.
"""

from __future__ import annotations

import re
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, StringConstraints, WithJsonSchema
from pydantic_core import PydanticCustomError

from adsunify.brief import CampaignBrief, Instant
from adsunify.validation import UUID, Maybe, WireModel

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
Uuid = Annotated[
    str,
    StringConstraints(pattern=UUID),
    AfterValidator(str.lower),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]


def _is_true(value: bool) -> bool:
    if not value:
        raise PydanticCustomError("not_a_choice", "must be true.")
    return value


Confirmed = Annotated[bool, AfterValidator(_is_true), WithJsonSchema({"type": "boolean", "const": True})]
"""The word ``true`` and nothing that is like it (``Literal[True]`` takes 1, too)."""


def _day(value: Any) -> Any:
    try:
        return date.fromisoformat(value if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value) else "")
    except ValueError:
        raise PydanticCustomError("malformed", "must be a date, such as 2027-03-01.") from None


def _whole(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else value


Day = Annotated[date, BeforeValidator(_day)]
Whole = Annotated[int, BeforeValidator(_whole)]


class Nothing(WireModel):
    """Nothing at all: the empty object, or a query without parameters."""


class NewKey(WireModel):
    """A new API key. ``expiresAt`` is bounded by the expiry of the authorizing key; left out, it is that expiry."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80)]
    can_write: bool = False
    expires_at: Maybe[Instant] = None


class Authorize(WireModel):
    """Which network to connect through a hosted consent link."""

    network: OAuthNetwork


class AccountsQuery(WireModel):
    """Which accounts to list."""

    network: Maybe[NetworkCode] = None


class InsightsQuery(WireModel):
    """Which days to report: both dates included, in the account's time zone."""

    start_date: Day
    end_date: Day


class CatalogQuery(WireModel):
    """A page of a catalog."""

    search: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None
    cursor: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Annotated[Whole, Field(ge=1, le=100)] = 50


class Campaign(WireModel):
    """An account and a unified brief."""

    account_id: Uuid
    campaign: CampaignBrief


class Activate(WireModel):
    """The succeeded create operation whose hierarchy is to be activated."""

    account_id: Uuid
    source_operation_id: Uuid


class Confirm(WireModel):
    """The caller's word that the prepared change shall be written."""

    confirmed: Confirmed


class ConfirmMany(WireModel):
    """The caller's word for up to 50 prepared changes."""

    operation_ids: Annotated[list[Uuid], Field(min_length=1, max_length=50)]
    confirmed: Confirmed


class BulkStatus(WireModel):
    """One status for up to 50 entities of one kind."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    status: Status
