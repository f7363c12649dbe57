"""Request bodies and queries of the REST API, exactly as the contract says. Unknown members are refused everywhere.

A query is text: :data:`Day` and :data:`Limit` read their one spelling of it.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from datetime import date
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, ConfigDict, Field, StringConstraints, WithJsonSchema
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from adsunify.events import DEFAULT_EVENTS, EventName
from adsunify.models.base import VISIBLE, EntityId, FreeForm, Maybe, Number, RuledModel, WireModel, in_numbers
from adsunify.models.brief import CampaignBrief, Instant
from adsunify.models.error_messages import UUID, Problem

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
Limit = Annotated[int, Field(ge=1, le=100), BeforeValidator(_whole)]


class Nothing(WireModel):
    """Nothing at all: the empty object, or a query without parameters."""


class NewKey(WireModel):
    """A new API key. ``expiresAt`` is bounded by the expiry of the authorizing key; left out, it is that expiry."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80), VISIBLE]
    can_write: bool = False
    expires_at: Maybe[Instant] = None


class Authorize(WireModel):
    """Which network to connect through a hosted consent link."""

    network: OAuthNetwork


CREDENTIALS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chatgpt": (("api_key",),),
    "outbrain": (("api_key",), ("username", "password")),
    "apple": (("client_id", "team_id", "key_id", "private_key"),),
}
"""What connects a network without a consent page: one of these sets of members."""
SECRET_LENGTH = 10_000
Secret = Annotated[str, StringConstraints(min_length=1, max_length=SECRET_LENGTH)]


def _four_bodies(schema: dict[str, Any]) -> None:
    """One schema for each network and set of members, instead of one with everything optional."""
    for name in ("type", "properties", "required", "additionalProperties"):
        del schema[name]
    secret = {"type": "string", "minLength": 1, "maxLength": SECRET_LENGTH, "writeOnly": True}
    schema["oneOf"] = [
        {
            "type": "object",
            "properties": {"network": {"const": network, "type": "string"}}
            | dict.fromkeys(map(to_camel, names), secret),
            "required": ["network", *map(to_camel, names)],
            "additionalProperties": False,
        }
        for network, sets in CREDENTIALS.items()
        for names in sets
    ]


class NewConnection(RuledModel):
    """A network's own credentials: an API key, a user name with its password, or a key pair of an Apple client."""

    model_config = ConfigDict(json_schema_extra=_four_bodies)

    network: Literal["chatgpt", "outbrain", "apple"]
    api_key: Maybe[Secret] = Field(None, repr=False)
    username: Maybe[Secret] = Field(None, repr=False)
    password: Maybe[Secret] = Field(None, repr=False)
    client_id: Maybe[Secret] = Field(None, repr=False)
    team_id: Maybe[Secret] = Field(None, repr=False)
    key_id: Maybe[Secret] = Field(None, repr=False)
    private_key: Maybe[Secret] = Field(None, repr=False)

    @classmethod
    def broken(cls, members: Any) -> list[Problem]:
        sets = CREDENTIALS.get(members.network if isinstance(members.network, str) else "")
        if sets is None:
            return []
        given = {name for name in cls.model_fields if name != "network" and getattr(members, name) is not None}
        wanted = max(sets, key=lambda names: len(given.intersection(names)))
        accepted = " or ".join(" with ".join(map(to_camel, names)) for names in sets)
        missing = [Problem((to_camel(name),), "required", "is required.") for name in wanted if name not in given]
        words = f"does not belong here; {members.network} takes {accepted}."
        return missing + [
            Problem((to_camel(name),), "unknown_property", words) for name in sorted(given.difference(wanted))
        ]


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
    limit: Limit = 50


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


Value = Annotated[Number, Field(gt=0, le=1_000_000_000), in_numbers(exclusiveMinimum=0, maximum=1_000_000_000)]


class BulkStatus(WireModel):
    """One status for up to 50 entities of one kind."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    status: Status


class BulkEdit(WireModel):
    """One money or number setting for up to 50 entities of one kind; ``increase`` and ``decrease`` are in percent."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    field: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    mode: Literal["set", "increase", "decrease"]
    value: Value


class EntitiesQuery(WireModel):
    """A page of a network's own entities; ``status`` is a native one."""

    limit: Limit = 50
    cursor: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    parent_id: Maybe[EntityId] = None
    status: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=60)]] = None
    search: Maybe[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None


class NativePayload(WireModel):
    """A payload in the network's own names and units, and the entity it stands under."""

    payload: FreeForm
    parent_id: Maybe[EntityId] = None


def _once(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PydanticCustomError("duplicate", "must name each event once.")
    return names


Events = Annotated[tuple[EventName, ...], Field(strict=False, min_length=1, max_length=15), AfterValidator(_once)]
DestinationUrl = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2000}),
]


class NewWebhook(WireModel):
    """Where to send which events, of one account or of all; without ``events`` the five of operations."""

    url: DestinationUrl
    account_id: Maybe[Uuid] = None
    events: Maybe[Events] = Field(None, json_schema_extra={"default": [*DEFAULT_EVENTS]})


class WebhookChange(WireModel):
    """What shall be different for future events."""

    url: Maybe[DestinationUrl] = None
    active: Maybe[bool] = None
    events: Maybe[Events] = None
