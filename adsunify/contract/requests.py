"""Request bodies and queries of the REST API, exactly as docs/spec.md says. Unknown members are refused everywhere.

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
from adsunify.models.base import (
    VISIBLE,
    ApiModel,
    CrossFieldModel,
    EntityId,
    FreeForm,
    Number,
    Omittable,
    number_schema,
)
from adsunify.models.brief import CampaignBrief, Instant
from adsunify.models.error_messages import UUID_REGEX, Violation
from adsunify.plans.records import Kind

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
Status = Literal["active", "paused"]
Uuid = Annotated[
    str,
    StringConstraints(pattern=UUID_REGEX),
    AfterValidator(str.lower),
    WithJsonSchema({"type": "string", "format": "uuid"}),
]


def _require_true(value: bool) -> bool:
    if not value:
        raise PydanticCustomError("not_a_choice", "must be true.")
    return value


ConfirmedTrue = Annotated[bool, AfterValidator(_require_true), WithJsonSchema({"type": "boolean", "const": True})]
"""The word ``true`` and nothing that is like it (``Literal[True]`` takes 1, too)."""


def _parse_day(value: Any) -> Any:
    try:
        return date.fromisoformat(value if re.fullmatch("[0-9]{4}-[0-9]{2}-[0-9]{2}", value) else "")
    except ValueError:
        raise PydanticCustomError("malformed", "must be a date, such as 2027-03-01.") from None


def _parse_integer(value: Any) -> Any:
    return int(value) if isinstance(value, str) and re.fullmatch("[0-9]{1,9}", value) else value


Day = Annotated[date, BeforeValidator(_parse_day)]
Limit = Annotated[int, Field(ge=1, le=100), BeforeValidator(_parse_integer)]


class Nothing(ApiModel):
    """Nothing at all: the empty object, or a query without parameters."""


class NewKey(ApiModel):
    """A new API key. ``expiresAt`` is bounded by the expiry of the authorizing key; left out, it is that expiry."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80), VISIBLE]
    can_write: bool = False
    expires_at: Omittable[Instant] = None


class Authorize(ApiModel):
    """Which network to connect through a hosted consent link."""

    network: OAuthNetwork


CREDENTIALS: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "chatgpt": (("api_key",),),
    "outbrain": (("api_key",), ("username", "password")),
    "apple": (("client_id", "team_id", "key_id", "private_key"),),
}
"""What connects a network without a consent page: one of these sets of members."""
MAX_SECRET_LENGTH = 10_000
Secret = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SECRET_LENGTH)]


def _set_credential_schemas(schema: dict[str, Any]) -> None:
    """One schema for each network and set of members, instead of one with everything optional."""
    for name in ("type", "properties", "required", "additionalProperties"):
        del schema[name]
    secret = {"type": "string", "minLength": 1, "maxLength": MAX_SECRET_LENGTH, "writeOnly": True}
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


class NewConnection(CrossFieldModel):
    """A network's own credentials: an API key, a user name with its password, or a key pair of an Apple client."""

    model_config = ConfigDict(json_schema_extra=_set_credential_schemas)

    network: Literal["chatgpt", "outbrain", "apple"]
    api_key: Omittable[Secret] = Field(None, repr=False)
    username: Omittable[Secret] = Field(None, repr=False)
    password: Omittable[Secret] = Field(None, repr=False)
    client_id: Omittable[Secret] = Field(None, repr=False)
    team_id: Omittable[Secret] = Field(None, repr=False)
    key_id: Omittable[Secret] = Field(None, repr=False)
    private_key: Omittable[Secret] = Field(None, repr=False)

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        sets = CREDENTIALS.get(members.network if isinstance(members.network, str) else "")
        if sets is None:
            return []
        given_names = {name for name in cls.model_fields if name != "network" and getattr(members, name) is not None}
        required_names = max(sets, key=lambda names: len(given_names.intersection(names)))
        accepted = " or ".join(" with ".join(map(to_camel, names)) for names in sets)
        missing = [
            Violation((to_camel(name),), "required", "is required.")
            for name in required_names
            if name not in given_names
        ]
        words = f"does not belong here; {members.network} takes {accepted}."
        return missing + [
            Violation((to_camel(name),), "unknown_property", words)
            for name in sorted(given_names.difference(required_names))
        ]


class AccountsQuery(ApiModel):
    """Which accounts to list."""

    network: Omittable[NetworkCode] = None


class InsightsQuery(ApiModel):
    """Which days to report: both dates included, in the account's time zone."""

    start_date: Day
    end_date: Day


class CatalogQuery(ApiModel):
    """A page of a catalog."""

    search: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None
    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Limit = 50


class Campaign(ApiModel):
    """An account and a unified brief."""

    account_id: Uuid
    campaign: CampaignBrief


class Activate(ApiModel):
    """The succeeded create operation whose hierarchy is to be activated."""

    account_id: Uuid
    source_operation_id: Uuid


class Confirm(ApiModel):
    """The caller's word that the prepared change shall be written."""

    confirmed: ConfirmedTrue


class ConfirmMany(ApiModel):
    """The caller's word for up to 50 prepared changes."""

    operation_ids: Annotated[list[Uuid], Field(min_length=1, max_length=50)]
    confirmed: ConfirmedTrue


PositiveNumber = Annotated[
    Number, Field(gt=0, le=1_000_000_000), number_schema(exclusiveMinimum=0, maximum=1_000_000_000)
]


class BulkStatus(ApiModel):
    """One status for up to 50 entities of one kind."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    status: Status


class BulkEdit(ApiModel):
    """One money or number setting for up to 50 entities of one kind; ``increase`` and ``decrease`` are in percent."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    field: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    mode: Literal["set", "increase", "decrease"]
    value: PositiveNumber


class EntitiesQuery(ApiModel):
    """A page of a network's own entities; ``status`` is a native one."""

    limit: Limit = 50
    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    parent_id: Omittable[EntityId] = None
    status: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=60)]] = None
    search: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None


class NativePayload(ApiModel):
    """A payload in the network's own names and units, and the entity it stands under."""

    payload: FreeForm
    parent_id: Omittable[EntityId] = None


def _require_unique(names: tuple[str, ...]) -> tuple[str, ...]:
    if len(set(names)) < len(names):
        raise PydanticCustomError("duplicate", "must name each event once.")
    return names


EventNames = Annotated[
    tuple[EventName, ...], Field(strict=False, min_length=1, max_length=15), AfterValidator(_require_unique)
]
DestinationUrl = Annotated[
    str,
    StringConstraints(min_length=1, max_length=2000),
    WithJsonSchema({"type": "string", "format": "uri", "maxLength": 2000}),
]


class NewWebhook(ApiModel):
    """Where to send which events, of one account or of all; without ``events`` the five of operations."""

    url: DestinationUrl
    account_id: Omittable[Uuid] = None
    events: Omittable[EventNames] = Field(None, json_schema_extra={"default": [*DEFAULT_EVENTS]})


class WebhookChange(ApiModel):
    """What shall be different for future events."""

    url: Omittable[DestinationUrl] = None
    active: Omittable[bool] = None
    events: Omittable[EventNames] = None
