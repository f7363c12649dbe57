"""What an adapter has to be: one Protocol for each of its modules, and :class:`Adapter`, which holds them.

The package of each adapter makes its ``ADAPTER`` from its modules, so mypy checks them there: a module that lacks a
function, or has another signature, is an error in the adapter's ``__init__.py``.

Flows are generators that yield a :class:`~adsunify.http.messages.Request` or a ``Sleep``, receive the ``Response``, and
return their result. ``now`` of plans and edits is an instant; None means that nothing is compared with the present.
``now`` of connecting is in milliseconds.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from datetime import date, datetime
from typing import Protocol

from attrs import frozen

from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.edits import Edit
from adsunify.adapter.hierarchy import DiscoveredAccount, EntityPage, EntityTree, ListQuery, ParsedEntity
from adsunify.adapter.insights import DatedValues, Insights
from adsunify.adapter.network import (
    Account,
    Catalog,
    EditMember,
    ErrorRule,
    Format,
    Level,
    Metric,
    MoneyUnit,
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
    """``native.py``: the network's own terms."""

    @property
    def VERSION(self) -> str:
        """The version of the network's API, as its documentation writes it."""
        ...

    def get_money_unit(self, account: Account) -> MoneyUnit:
        """How the network counts the account's money; InvalidInput where the currency is not known or not sold."""
        ...

    def parse_error(self, response: Response) -> ParsedError | None:
        """The native error in any response, an unreadable one too; None where there is none. Never raises."""
        ...


class NativeTargeting(Protocol):
    """``targeting.py`` of a network whose briefs take ``targeting.native``."""

    def find_native_targeting_error(self, targeting: Mapping[str, Json]) -> str | None:
        """What is wrong with a targeting in the network's own names; None where nothing is."""
        ...


class EditableTargeting(Protocol):
    """``targeting.py`` of a network where an edit changes targeting that is a member of the entity."""

    def merge_targeting(
        self, kind: Kind, current: Json, wanted: Mapping[str, Json]
    ) -> tuple[dict[str, Json], list[Change]]:
        """Merge the ``wanted`` members of an edit into the native targeting that an entity of this kind has.

        Returns what is sent, and each change before and after. Raises InvalidInput with all issues, ``no_change`` for a
        member that has the value already.
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
        """The members of ``targeting`` and ``creative`` that an edit takes or refuses."""
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
        """What the changed members contradict: each other, the entity as it is, or the present.

        ``before``: the entity as it was read. ``changed``: the native members that ``edit.fields`` changes, as they are
        nested in the entity. ``now``: an instant of any time zone.
        """
        ...


class Tables(Protocol):
    """``tables.py``: what the network can do; :mod:`adsunify.adapter.network` describes the records."""

    @property
    def LEVELS(self) -> tuple[Level, ...]: ...
    @property
    def FORMATS(self) -> tuple[Format, ...]: ...
    @property
    def CATALOGS(self) -> tuple[Catalog, ...]: ...
    @property
    def TEMPLATES(self) -> tuple[Template, ...]: ...
    @property
    def METRICS(self) -> tuple[Metric, ...]: ...
    @property
    def ERRORS(self) -> tuple[ErrorRule, ...]: ...
    @property
    def NETWORK(self) -> Network: ...


class Plans(Protocol):
    """``plans.py``: changes become plans. All are flows; what they read is frozen into the plan.

    They assume a brief that :func:`adsunify.adapter.brief_checks.check_brief` accepted. All raise InvalidInput with all
    issues at once, and the ProviderError of a read without which there is no plan.
    """

    def plan_create(self, account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]:
        """Everything that a brief becomes, parents first, every entity of it paused.

        An id that the network gives to an earlier step is bound into a later one; none is guessed.
        """
        ...

    def plan_activate(self, account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]:
        """Switch on what a create made: leaves first, the campaign last, and nothing else of the account.

        ``source`` is the create's plan, ``outputs`` what its steps brought, by step key.
        """
        ...

    def plan_status(self, account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]:
        """Set one entity to ``active`` or ``paused``; refused where the level cannot be set to it."""
        ...

    def plan_native_create(
        self, account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]:
        """One entity from a payload in native names and units.

        Without a status it is created paused; an explicit active one passes, with the risk ``spend``. A ``parent_id``
        that contradicts the payload is refused.
        """
        ...

    def plan_update(
        self, account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]:
        """Change an entity by a payload in native names and units; members that it leaves out stay as they are."""
        ...

    def plan_delete(self, account: Account, kind: Kind, entity_id: str) -> Flow[Plan]:
        """Delete one entity, or archive it where the network knows no deletion; the risk is ``destructive``."""
        ...

    def plan_edit(self, account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None) -> Flow[Plan]:
        """Change settings in unified names and major units, against the SETTINGS table and its locks.

        The plan shows each change before and after. What would have to be rounded upward is refused.
        """
        ...

    def preflight(self, account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
        """Ask the network what a plan takes for granted (the creative exists, the listing is eligible).

        Issues that refuse the brief, and warnings; it never changes the plan.
        """
        ...


class CredentialFlows(Protocol):
    """Connecting with credentials, and what every login has: refreshing, revoking and signing.

    ``now`` is in milliseconds. ``redirect_uri`` and ``verifier`` (PKCE) are the caller's; for credentials of a person
    both are empty, and ``app`` is ``NO_OAUTH_CLIENT``. A flow raises the ProviderError that the ERRORS table makes of
    an error response, and ProviderUnreadable for a response that is not the network's.
    """

    def fetch_credentials(
        self, app: OAuthClient, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
    ) -> Flow[Credentials]:
        """``answer``: the query that came back to ``redirect_uri`` (``code``, or what the network calls it), or the
        credentials that a person gave. Raises InvalidInput for an answer that lacks what is needed, TokenRefused where
        the network does not take it."""
        ...

    def refresh_credentials(self, app: OAuthClient, credentials: Credentials, now: int) -> Flow[Credentials]:
        """New credentials for old ones, with what the network did not send again; TokenRefused: a person has to connect
        again."""
        ...

    def revoke_credentials(self, app: OAuthClient, credentials: Credentials) -> Flow[None]:
        """Tell the network to forget the credentials; nothing where it has no call for that."""
        ...

    def sign_request(
        self, request: Request, credentials: Credentials, app: OAuthClient, now: int, nonce: str
    ) -> Request:
        """The request with the credentials added: the last thing that is done to it, never part of a plan.

        ``now`` in milliseconds and ``nonce``, 32 random hexadecimal digits, are for signatures (OAuth 1.0a).
        """
        ...


class AuthorizationFlows(CredentialFlows, Protocol):
    """A login that begins with the network's consent page (``Login.kind`` is ``oauth2``)."""

    def build_authorization_url(self, app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
        """The address of the consent page; ``state`` comes back with the answer. With PKCE, the verifier's challenge
        goes along."""
        ...


class RequestTokenFlows(CredentialFlows, Protocol):
    """A login that begins with a request token (``Login.kind`` is ``oauth1``)."""

    def fetch_request_token(self, app: OAuthClient, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
        """The token is the ``state``, its secret the ``verifier`` of ``fetch_credentials``. ``state`` here is only
        random.
        """
        ...


class Reads(Protocol):
    """``reads.py``: reading, as flows.

    A flow raises the ProviderError that the ERRORS table makes of an error response, and ProviderUnreadable for a
    response that is not the network's.
    """

    def discover_accounts(self) -> Flow[list[DiscoveredAccount]]:
        """Every ad account that the credentials reach, with its currency, time zone and extras."""
        ...

    def fetch_tree(self, account: Account) -> Flow[EntityTree]:
        """The account's hierarchy, flat, parents first, without what is deleted; ``truncated`` where it is too long."""
        ...

    def list_entities(self, account: Account, kind: str, query: ListQuery) -> Flow[EntityPage]:
        """One page of the entities of a kind, with the network's own cursor of the next one.

        A filter that the network does not know is applied here, so a page may be short, and still have a next one.
        """
        ...

    def fetch_entity(self, account: Account, kind: str, entity_id: str) -> Flow[ParsedEntity]:
        """One entity of this kind that the account has, whole. Raises ProviderNotFound for everything else."""
        ...

    def fetch_editable_entity(self, account: Account, kind: Kind, entity_id: str) -> Flow[ParsedEntity]:
        """The entity with all that its settings and an edit need to know."""
        ...

    def parse_daily_metrics(
        self, account: Account, native: Iterable[Mapping[str, Json]], start: date, end: date
    ) -> DatedValues:
        """The figures by day in the native objects of a report of these days; both days are included.

        ``native`` are rows, or pages of rows where only the page says which fields it has (Google).
        """
        ...

    def fetch_insights(
        self, account: Account, start: date, end: date, job: str | None, now: datetime
    ) -> Flow[Insights]:
        """The account's daily figures, both days included; amounts are Decimals in major units.

        A network that makes reports in its own time returns ``pending`` with a job, and is called again with it.
        """
        ...

    def fetch_catalog_page(self, account: Account, resource: str, query: ListQuery) -> Flow[CatalogPage]:
        """One page of a declared catalog; ``resource`` is its name, perhaps with ``:`` and a text."""
        ...


@frozen
class Adapter:
    """One network, by its modules.

    ``native_targeting`` and ``editable_targeting`` are the module ``targeting``, where the network has that function.
    Exactly one of ``authorization`` (``Login.kind`` oauth2), ``request_tokens`` (oauth1) and ``credentials``
    (credentials) is given: an :class:`~adsunify.adapter.oauth.AuthorizationCodeLogin`, or the module ``reads`` of a
    network whose login differs.
    """

    native: Native
    settings: Settings
    tables: Tables
    reads: Reads
    plans: Plans
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
