"""The interface of an adapter: a Protocol for each of its modules, and :class:`Adapter`, which holds the modules.

The package of each adapter makes its ``ADAPTER`` from its modules, and mypy checks them there. If a module lacks a
function or has another signature, mypy reports an error in the adapter's ``__init__.py``.

Flows are generators that yield a :class:`~adsunify.http.messages.Request` or a ``Sleep``, receive the ``Response``, and
return their result. In plans and edits ``now`` is an instant; None means that nothing is compared with the present. In
logins ``now`` is in milliseconds since 1970.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Protocol

from attrs import frozen

from adsunify.adapter.account import Account
from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.edits import Edit
from adsunify.adapter.entity_reports import EntityReports
from adsunify.adapter.formats import Format
from adsunify.adapter.hierarchy import DiscoveredAccount, EntityPage, EntityTree, ListQuery, ParsedEntity
from adsunify.adapter.insights import DatedValues, Insights
from adsunify.adapter.metrics import Metric
from adsunify.adapter.native_money import MoneyUnit
from adsunify.adapter.network import (
    Catalog,
    EditMember,
    ErrorRule,
    Level,
    NativeEntity,
    Network,
    ParsedError,
    Setting,
    Template,
)
from adsunify.adapter.oauth import Credentials, OAuthClient, RequestToken
from adsunify.errors import Issue
from adsunify.http.messages import Flow, Request, Response
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Change, Kind, Outputs, Plan
from adsunify.values.exact_json import Json


class Native(Protocol):
    """``native.py``: the version of the API, money units and errors in the network's own terms."""

    @property
    def VERSION(self) -> str:
        """The version of the network's API, as its documentation writes it."""
        ...

    def get_money_unit(self, account: Account) -> MoneyUnit:
        """Return the money unit of the account. Raises InvalidInput if the currency is unknown or not supported."""
        ...

    def parse_error(self, response: Response) -> ParsedError | None:
        """Parse the native error of any response, even an unreadable one; None without an error. Never raises."""
        ...


class NativeTargeting(Protocol):
    """``targeting.py`` of a network that accepts ``targeting.native`` in briefs."""

    def find_native_targeting_error(self, targeting: Mapping[str, Json]) -> str | None:
        """Return what is wrong with a native targeting; None if it is valid."""
        ...


class EditableTargeting(Protocol):
    """``targeting.py`` of a network whose entities have their targeting as a member, which an edit changes."""

    def merge_targeting(
        self, kind: Kind, current: Json, new_members: Mapping[str, Json]
    ) -> tuple[dict[str, Json], list[Change]]:
        """Merge the ``new_members`` of an edit into the native targeting of an entity.

        Returns:
            The native targeting to send, and each change with its value before and after.

        Raises:
            InvalidInput: all issues; ``no_change`` for a member that has the value already.
        """
        ...


class Settings(Protocol):
    """``settings.py``: what an edit may change."""

    @property
    def SETTINGS(self) -> tuple[Setting, ...]:
        """The editable fields of all levels."""
        ...

    @property
    def EDITS(self) -> tuple[EditMember, ...]:
        """The members of ``targeting`` and ``creative`` that an edit accepts or refuses."""
        ...

    def check_conflicts(
        self,
        account: Account,
        kind: Kind,
        before: NativeEntity,
        changed: Mapping[str, Json],
        edit: Edit,
        now: datetime | None,
    ) -> Iterator[Issue]:
        """Yield an issue for each changed member that contradicts another one, the present entity, or the present time.

        Args:
            account: the ad account.
            kind: the kind of the entity.
            before: the entity as it was read.
            changed: the native members that ``edit.fields`` changes, nested as in the entity.
            edit: the edit.
            now: the present, in any time zone.
        """
        ...


class Tables(Protocol):
    """``tables.py``: what the network can do; :mod:`adsunify.adapter.network` describes the records."""

    @property
    def LEVELS(self) -> tuple[Level, ...]:
        """The levels of the hierarchy, parents first."""
        ...

    @property
    def FORMATS(self) -> tuple[Format, ...]:
        """The formats of briefs."""
        ...

    @property
    def CATALOGS(self) -> tuple[Catalog, ...]:
        """The catalogs."""
        ...

    @property
    def TEMPLATES(self) -> tuple[Template, ...]:
        """Native payloads to start from."""
        ...

    @property
    def METRICS(self) -> tuple[Metric, ...]:
        """The source of each normalized metric."""
        ...

    @property
    def ERRORS(self) -> tuple[ErrorRule, ...]:
        """The meaning of the network's errors."""
        ...

    @property
    def NETWORK(self) -> Network:
        """All tables together."""
        ...


class Plans(Protocol):
    """``plans.py``: turns changes into plans. All functions are flows, and their plans contain what they read.

    Briefs must have passed :func:`adsunify.adapter.brief_checks.check_brief`. The flows raise InvalidInput with all
    issues, and the ProviderError of a read that the plan needs.
    """

    def plan_create(self, account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
        """Plan the entities of a brief, parents first. Every entity is created paused.

        Ids that the network assigns in an earlier step are bound into later steps.
        """
        ...

    def plan_activate(self, account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
        """Plan the activation of the entities of a create operation: leaves first, the campaign last.

        ``source`` is the plan of the create operation; ``outputs`` are the outputs of its steps, by step key.
        """
        ...

    def plan_status(self, account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
        """Plan a write that sets one entity to ``active`` or ``paused``.

        It is refused if the level cannot be set to this status.
        """
        ...

    def plan_native_create(
        self, account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]:
        """Plan the creation of one entity from a payload in native names and units.

        Without a status the entity is created paused. An explicit active status is accepted, with the risk ``spend``. A
        ``parent_id`` that contradicts the payload is refused.
        """
        ...

    def plan_update(
        self, account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]:
        """Plan a change of an entity by a payload in native names and units. Other members stay unchanged."""
        ...

    def plan_delete(self, account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
        """Plan the deletion of one entity. The risk is ``destructive``.

        If the network cannot delete it, the plan archives it.
        """
        ...

    def plan_edit(self, account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
        """Plan a change of settings in unified names and major units, according to the SETTINGS table and its locks.

        The plan shows each change before and after. A value that would have to be rounded up is refused.
        """
        ...

    def preflight(self, account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
        """Ask the network whether the assumptions of a plan are true: the creative exists, the listing is eligible.

        Returns the issues that refuse the brief, and warnings. The plan is not changed.
        """
        ...


class CredentialFlows(Protocol):
    """Connecting with credentials, and what every login has: refreshing, revoking and signing.

    ``now`` is in milliseconds. ``redirect_uri`` and ``verifier`` (PKCE) come from the caller. For credentials that a
    person enters, both are empty, and ``app`` is ``NO_OAUTH_CLIENT``. A flow raises the ProviderError that the ERRORS
    table makes of an error response, and ProviderUnreadable for a response that is not the network's.
    """

    def fetch_credentials(
        self, app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
    ) -> Flow[Credentials]:
        """Fetch the first credentials of a login.

        ``answer`` holds the query parameters that the network sent to ``redirect_uri``, or the credentials that a
        person entered.

        Raises:
            InvalidInput: ``answer`` lacks a member.
            TokenRefused: the network refuses it.
        """
        ...

    def refresh_credentials(self, app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
        """Refresh credentials. Members that the network does not send again are kept.

        Raises:
            TokenRefused: a person must connect again.
        """
        ...

    def revoke_credentials(self, app: OAuthClient, credentials: Credentials) -> Flow[None]:
        """Revoke the credentials at the network. The flow does nothing if the network cannot revoke them."""
        ...

    def sign_request(
        self, request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str
    ) -> Request:
        """Add the credentials to a request, right before it is sent. Plans never contain credentials.

        ``now`` (milliseconds) and ``nonce`` (32 random hexadecimal digits) are for signatures (OAuth 1.0a).
        """
        ...


class AuthorizationFlows(CredentialFlows, Protocol):
    """A login that begins with the network's consent page (``Login.kind`` is ``oauth2``)."""

    def build_authorization_url(self, app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
        """Build the address of the consent page. With PKCE it contains the challenge of ``verifier``.

        The network returns ``state`` with its answer.
        """
        ...


class RequestTokenFlows(CredentialFlows, Protocol):
    """A login that begins with a request token (``Login.kind`` is ``oauth1``)."""

    def fetch_request_token(self, app: OAuthClient, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
        """Fetch a request token. The caller uses it as state, and its secret as ``verifier`` of ``fetch_credentials``.

        ``state`` is a random text.
        """
        ...


class Reads(Protocol):
    """``reads.py``: reading, as flows.

    A flow raises the ProviderError that the ERRORS table makes of an error response, and ProviderUnreadable for a
    response that is not the network's.
    """

    def discover_accounts(self) -> Flow[list[DiscoveredAccount]]:
        """Return all ad accounts that the credentials can use, with currency, time zone and extras."""
        ...

    def fetch_tree(self, account: Account) -> Flow[EntityTree]:
        """Return the account's hierarchy as a flat list, parents first, without deleted entities.

        It is ``truncated`` if it is too long.
        """
        ...

    def list_entities(self, account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
        """Return one page of the entities of a kind, with the network's own cursor of the next page.

        Filters that the network does not support are applied by the adapter. So a page may be short although there is a
        next one.
        """
        ...

    def fetch_entity(self, account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
        """Return an entity of the account with all its members. Raises ProviderNotFound for all other ids."""
        ...

    def fetch_editable_entity(self, account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
        """Return an entity with all objects that its settings and an edit need."""
        ...

    def parse_daily_metrics(
        self, account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date
    ) -> DatedValues:
        """Parse the figures of a report by day; ``start`` and ``end`` are included.

        ``native`` has the rows, or pages of rows if only the page names its fields (Google).
        """
        ...

    def fetch_insights(
        self, account: Account, start: date, end: date, job: str | None, now: datetime
    ) -> Flow[Insights]:
        """Fetch the account's daily figures; both days are included, and amounts are Decimals in major units.

        If the network makes reports asynchronously, the result is ``pending`` with a job. The caller calls again with
        this job.
        """
        ...

    def fetch_catalog_page(self, account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
        """Return one page of a declared catalog. ``resource`` is its name, optionally followed by ``:`` and a text."""
        ...


@frozen
class Adapter:
    """The modules of one network.

    ``reports`` reads figures below the account; None if the network's ``report_levels`` are empty.
    ``native_targeting`` and ``editable_targeting`` are the module ``targeting`` if it has the function of the Protocol.
    Exactly one of ``authorization`` (``Login.kind`` oauth2), ``request_tokens`` (oauth1) and ``credentials``
    (credentials) is given: an :class:`~adsunify.adapter.oauth.AuthorizationCodeLogin`, or the module ``reads`` of a
    network whose login differs.
    """

    native: Native
    settings: Settings
    tables: Tables
    reads: Reads
    plans: Plans
    reports: EntityReports | None = None
    native_targeting: NativeTargeting | None = None
    editable_targeting: EditableTargeting | None = None
    authorization: AuthorizationFlows | None = None
    request_tokens: RequestTokenFlows | None = None
    credentials: CredentialFlows | None = None

    @property
    def network(self) -> Network:
        """All tables of the network."""
        return self.tables.NETWORK

    @property
    def credential_flows(self) -> CredentialFlows:
        """The login: ``authorization``, ``request_tokens`` or ``credentials``. Raises LookupError without one."""
        for flows in (self.authorization, self.request_tokens, self.credentials):
            if flows is not None:
                return flows
        raise LookupError(f"The adapter of {self.network.title} has no login.")
