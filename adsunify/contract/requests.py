"""Request bodies and queries of the REST API, as docs/spec.md defines them. Unknown members are always refused.

Query parameters are text; :data:`Day` and :data:`Limit` parse their only accepted spelling.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence
from datetime import date
from itertools import chain
from typing import Annotated, Any, ClassVar, Literal

from attrs import frozen
from pydantic import (
    AfterValidator,
    BeforeValidator,
    ConfigDict,
    Field,
    GetCoreSchemaHandler,
    StringConstraints,
    WithJsonSchema,
)
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError, core_schema

from adsunify.adapter.entity_reports import MAX_ENTITY_IDS
from adsunify.adapter.network import Credential
from adsunify.events import DEFAULT_EVENTS, EventName
from adsunify.execution.state import OperationStatus
from adsunify.ledger import LedgerKind
from adsunify.models.base import (
    VISIBLE,
    ApiModel,
    CrossFieldModel,
    EntityId,
    FreeForm,
    Items,
    Number,
    Omittable,
    find_duplicates,
    number_schema,
)
from adsunify.models.brief import CampaignBrief, Instant, Uuid
from adsunify.models.error_messages import Violation
from adsunify.networks.registry import ADAPTER_PACKAGES, get_adapter
from adsunify.plans.records import Action, Kind


@frozen
class OneOf:
    """Restricts a text to choices, which are listed when pydantic builds the model.

    With ``defer_build`` that is at the first use of the model.
    """

    list_choices: Callable[[], Sequence[str]]

    def __get_pydantic_core_schema__(self, source: Any, handler: GetCoreSchemaHandler) -> core_schema.CoreSchema:
        return core_schema.literal_schema([*self.list_choices()])


def get_credential_sets(network: object) -> tuple[tuple[Credential, ...], ...]:
    """Return the sets of credentials of a network. The members of one set connect the network.

    There is no set for a network with a consent page and for an unknown network.
    """
    is_known = isinstance(network, str) and network in ADAPTER_PACKAGES
    return get_adapter(str(network)).network.login.credentials if is_known else ()


def list_consent_networks() -> list[str]:
    """Return the networks with a consent page. Imports all adapters."""
    return [code for code in ADAPTER_PACKAGES if not get_credential_sets(code)]


def list_credential_networks() -> list[str]:
    """Return the networks that issue credentials, sorted by the number of members. Imports all adapters."""
    codes = [code for code in ADAPTER_PACKAGES if get_credential_sets(code)]
    return sorted(codes, key=lambda code: len(get_credential_sets(code)[0]))


NetworkCode = Annotated[str, OneOf(lambda: [*ADAPTER_PACKAGES])]
OAuthNetwork = Annotated[str, OneOf(list_consent_networks)]


def _refuse_consent_network(network: Any) -> Any:
    if isinstance(network, str) and network in ADAPTER_PACKAGES and not get_credential_sets(network):
        raise PydanticCustomError(
            "not_a_choice",
            f"has a consent page: use `adsunify connect {network}`, or the link of authorize, where `adsunify serve` "
            f"runs. Networks that are connected with credentials: {', '.join(list_credential_networks())}.",
        )
    return network


CredentialNetwork = Annotated[str, OneOf(list_credential_networks), BeforeValidator(_refuse_consent_network)]
Status = Literal["active", "paused"]


def _require_true(value: bool) -> bool:
    if not value:
        raise PydanticCustomError("not_a_choice", "must be true.")
    return value


ConfirmedTrue = Annotated[bool, AfterValidator(_require_true), WithJsonSchema({"type": "boolean", "const": True})]
"""The value ``true``. ``Literal[True]`` would also accept 1."""


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
    """An empty object, or a query without parameters."""


class NewKey(ApiModel):
    """A new API key. ``expiresAt`` must not be after the expiry of the authorizing key, which is also its default."""

    name: Annotated[str, StringConstraints(min_length=1, max_length=80), VISIBLE]
    can_write: bool = False
    expires_at: Omittable[Instant] = None


def _require_scope_member(schema: dict[str, Any]) -> None:
    for member in schema["properties"].values():
        del member["default"]
        member["uniqueItems"] = True
    schema["minProperties"] = 1


class KeyScope(CrossFieldModel):
    """The networks and accounts to which a new key is bound. With both, an account must be in both."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True, json_schema_extra=_require_scope_member)

    networks: Omittable[Annotated[Items[NetworkCode], Field(min_length=1, max_length=100)]] = None
    account_ids: Omittable[Annotated[Items[Uuid], Field(min_length=1, max_length=500)]] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that a member is given and that no list repeats an item."""
        if members.networks is None and members.account_ids is None:
            return [Violation((), "required", "must have networks, accountIds or both.")]
        duplicates = (
            find_duplicates((name,), values)
            for name, values in (("networks", members.networks), ("accountIds", members.account_ids))
        )
        return [*chain(*duplicates)]


class NewScopedKey(NewKey):
    """A new API key that is bound to networks or accounts, within the scope of the authorizing key."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)

    scope: KeyScope


class Authorize(ApiModel):
    """The network to connect with a hosted consent link."""

    model_config: ClassVar[ConfigDict] = ConfigDict(defer_build=True)

    network: OAuthNetwork


MAX_SECRET_LENGTH = 10_000
Secret = Annotated[str, StringConstraints(min_length=1, max_length=MAX_SECRET_LENGTH)]


def _set_credential_schemas(schema: dict[str, Any]) -> None:
    """Replace the schema by a schema for each network and set of members, in which no member is optional."""
    for name in ("type", "properties", "required", "additionalProperties"):
        del schema[name]
    secret = {"type": "string", "minLength": 1, "maxLength": MAX_SECRET_LENGTH, "writeOnly": True}
    schema["oneOf"] = [
        {
            "type": "object",
            "properties": {"network": {"const": network, "type": "string"}} | dict.fromkeys(names, secret),
            "required": ["network", *names],
            "additionalProperties": False,
        }
        for network in list_credential_networks()
        for names in _list_member_names(network)
    ]


def _list_member_names(network: str) -> list[list[str]]:
    return [[to_camel(member.name) for member in members] for members in get_credential_sets(network)]


class NewConnection(CrossFieldModel):
    """A network's own credentials: an API key, a user name with its password, or a key pair of an Apple client."""

    model_config: ClassVar[ConfigDict] = ConfigDict(
        extra="allow", defer_build=True, json_schema_extra=_set_credential_schemas
    )
    __pydantic_extra__: dict[str, Secret]

    network: CredentialNetwork

    def __repr_args__(self) -> Iterator[tuple[str | None, Any]]:
        yield "network", self.network

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that the members are one of the network's sets."""
        sets = _list_member_names(members.network)
        if not sets:
            return []
        given_names = {name for name, value in members.model_extra.items() if value is not None}
        closest_names = max(sets, key=lambda names: len(given_names.intersection(names)))
        accepted = " or ".join(" with ".join(names) for names in sets)
        words = f"is not a credential of {members.network}, which takes {accepted}."
        return [Violation((name,), "required", "is required.") for name in closest_names if name not in given_names] + [
            Violation((name,), "unknown_property", words) for name in sorted(given_names.difference(closest_names))
        ]


class AccountsQuery(ApiModel):
    """The filter of the list of accounts."""

    network: Omittable[NetworkCode] = None


MAX_OVERVIEW_ACCOUNTS = 200
"""The most accounts whose figures one call reads."""


def _split_commas(value: object) -> object:
    """Split the text of a parameter at commas; return a list as it is."""
    return value.split(",") if isinstance(value, str) else value


EntityIds = Annotated[Items[EntityId], BeforeValidator(_split_commas), Field(min_length=1, max_length=MAX_ENTITY_IDS)]
"""Native ids, in a query separated by commas."""
ReportedLevel = Literal["account", "campaign", "adGroup", "ad"]
"""What the rows of a report are about."""


class InsightsQuery(CrossFieldModel):
    """The days to report. Both dates are included and are in the account's time zone.

    ``entityIds`` has native ids of the level, separated by commas. ``asOf``: report what a sync had stored at
    this time.
    """

    start_date: Day
    end_date: Day
    level: Omittable[ReportedLevel] = None
    entity_ids: Omittable[EntityIds] = None
    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    as_of: Omittable[Instant] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that ``entityIds`` and ``cursor`` are given only with a level below the account."""
        if members.level not in (None, "account"):
            return [*find_duplicates(("entityIds",), members.entity_ids)]
        return [
            Violation((name,), "not_allowed", "needs the level campaign, adGroup or ad.")
            for name, value in (("entityIds", members.entity_ids), ("cursor", members.cursor))
            if value is not None
        ]


AccountIds = Annotated[
    Items[Uuid], BeforeValidator(_split_commas), Field(min_length=1, max_length=MAX_OVERVIEW_ACCOUNTS)
]
"""Ids of accounts, in a query separated by commas."""


class OverviewQuery(CrossFieldModel):
    """The days to report, and the accounts. ``accountIds`` are separated by commas."""

    start_date: Day
    end_date: Day
    account_ids: Omittable[AccountIds] = None
    network: Omittable[NetworkCode] = None
    level: Omittable[ReportedLevel] = None
    as_of: Omittable[Instant] = None

    @classmethod
    def check_rules(cls, members: Any) -> list[Violation]:
        """Check that no account is named twice."""
        return [*find_duplicates(("accountIds",), members.account_ids)]


class CatalogQuery(ApiModel):
    """A page of a catalog."""

    search: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None
    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Limit = 50


class OperationsQuery(ApiModel):
    """A page of operations. ``createdBy`` is the id of a user, or the identity of a credential.

    ``since`` is included, ``until`` is not; both are compared with ``createdAt``.
    """

    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Omittable[Limit] = None
    status: Omittable[OperationStatus] = None
    account_id: Omittable[Uuid] = None
    network: Omittable[NetworkCode] = None
    action: Omittable[Action] = None
    created_by: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=250), VISIBLE]] = None
    since: Omittable[Instant] = None
    until: Omittable[Instant] = None


class LedgerQuery(ApiModel):
    """A page of the ledger. ``actor`` is the id of a user, or the identity of a credential.

    ``since`` is included, ``until`` is not; both are compared with ``at``.
    """

    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Limit = 50
    account_id: Omittable[Uuid] = None
    network: Omittable[NetworkCode] = None
    actor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=250), VISIBLE]] = None
    kind: Omittable[LedgerKind] = None
    since: Omittable[Instant] = None
    until: Omittable[Instant] = None


class Campaign(ApiModel):
    """An account and a unified brief."""

    account_id: Uuid
    campaign: CampaignBrief


class DesiredDocument(ApiModel):
    """What is wanted of the accounts, as docs/campaigns_in_git.md describes it.

    ``delete``: what the document does not name any more is deleted instead of paused.
    """

    document: FreeForm
    delete: bool = False


class ApplyDocument(DesiredDocument):
    """A document that is to be applied. ``skip_invalid``: changes that are refused are left out."""

    skip_invalid: bool = False


class Activate(ApiModel):
    """The succeeded create operation whose entities are to be activated."""

    account_id: Uuid
    source_operation_id: Uuid


class Confirm(ApiModel):
    """The confirmation that a prepared change is to be executed.

    ``allowStale`` executes it even if values at the network have changed since.
    """

    confirmed: ConfirmedTrue
    allow_stale: bool = False


class ConfirmDigest(ApiModel):
    """The confirmation that a change set is to be executed. ``digest`` is the digest that the review showed."""

    confirmed: ConfirmedTrue
    digest: Annotated[str, StringConstraints(min_length=1, max_length=100)]


class PrepareAgain(ApiModel):
    """Whether cells that are still invalid are skipped."""

    skip_invalid: bool = False


class LaunchesQuery(ApiModel):
    """A page of launches."""

    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    limit: Limit = 50


class Settle(ApiModel):
    """A person's decision about a step in doubt. ``entityId`` is the id of the entity that the step created."""

    step: Annotated[str, StringConstraints(min_length=1, max_length=100)]
    verdict: Literal["applied", "not_applied"]
    entity_id: Omittable[EntityId] = None


class ConfirmMany(ApiModel):
    """The confirmation of up to 50 prepared changes.

    ``allowStale`` executes them even if values at the network have changed since.
    """

    operation_ids: Annotated[list[Uuid], Field(min_length=1, max_length=50)]
    confirmed: ConfirmedTrue
    allow_stale: bool = False


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
    """One numeric setting for up to 50 entities of one kind. ``increase`` and ``decrease`` are in percent."""

    account_id: Uuid
    kind: Kind
    entity_ids: Annotated[list[EntityId], Field(min_length=1, max_length=50)]
    field: Annotated[str, StringConstraints(min_length=1, max_length=60)]
    mode: Literal["set", "increase", "decrease"]
    value: PositiveNumber


class EntitiesQuery(ApiModel):
    """A page of native entities. ``status`` is a native status."""

    limit: Limit = 50
    cursor: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=4000)]] = None
    parent_id: Omittable[EntityId] = None
    status: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=60)]] = None
    search: Omittable[Annotated[str, StringConstraints(min_length=1, max_length=200)]] = None


class NativePayload(ApiModel):
    """A payload with native names and units, and the id of its parent entity."""

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
    """A subscription to events of one account or of all accounts.

    By default ``events`` has the five events of operations.
    """

    url: DestinationUrl
    account_id: Omittable[Uuid] = None
    events: Omittable[EventNames] = Field(None, json_schema_extra={"default": [*DEFAULT_EVENTS]})


class WebhookChange(ApiModel):
    """The changes of a subscription. They apply to future events."""

    url: Omittable[DestinationUrl] = None
    active: Omittable[bool] = None
    events: Omittable[EventNames] = None
