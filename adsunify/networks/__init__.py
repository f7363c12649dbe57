"""The adapters: ``adapter("meta")`` imports one. No adapter performs I/O.

:class:`Plans` and :class:`Reads` are what an adapter has to be. Their functions are flows: generators that yield a
:class:`~adsunify.http.messages.Request` or a ``Wait``, receive the ``Response``, and return their result. Times
named ``now`` of plans are instants (None: nothing is held against the present), those of connecting are milliseconds.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from attrs import frozen

from adsunify.adapter.catalogs import CatalogPage
from adsunify.adapter.edits import Edit
from adsunify.adapter.hierarchy import DiscoveredAccount, EntityPage, EntityTree, ListQuery, ParsedEntity
from adsunify.adapter.insights import Insights
from adsunify.adapter.network import Account, Network
from adsunify.adapter.oauth import Credentials, OAuthClient, RequestToken
from adsunify.errors import Issue, invalid_input
from adsunify.http.messages import Flow, Request
from adsunify.models.brief import CampaignBrief
from adsunify.plans.records import Kind, Outputs, Plan
from adsunify.values.exact_json import Json

ADAPTER_PACKAGES: Mapping[str, str] = {
    "meta": "adsunify.networks.meta",
    "google": "adsunify.networks.google",
    "tiktok": "adsunify.networks.tiktok",
    "snapchat": "adsunify.networks.snapchat",
    "pinterest": "adsunify.networks.pinterest",
    "linkedin": "adsunify.networks.linkedin",
    "reddit": "adsunify.networks.reddit",
    "amazon": "adsunify.networks.amazon",
    "x": "adsunify.networks.x",
    "chatgpt": "adsunify.networks.chatgpt",
    "apple": "adsunify.networks.apple",
    "outbrain": "adsunify.networks.outbrain",
}
"""Network code to the folder of its adapter."""


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


class Reads(Protocol):
    """``reads.py``: connecting and reading, as flows; ``sign_request`` adds the credentials to a finished request.

    ``now`` of the connecting functions is in milliseconds. ``redirect_uri`` and ``verifier`` (PKCE) are the caller's.
    How a connection begins depends on ``Login.kind``: ``build_authorization_url`` (oauth2), ``fetch_request_token``
    (oauth1), nothing (credentials; their ``app`` is ``NO_APP``, redirect and verifier are empty). A flow raises the
    ProviderError that the ERRORS table makes of a bad answer, and ProviderUnreadable for one that is no answer of the
    network.
    """

    def build_authorization_url(self, app: OAuthClient, redirect_uri: str, state: str, verifier: str) -> str:
        """The address of the consent page; ``state`` comes back with the answer. With PKCE, the verifier's challenge
        goes along."""
        ...

    def fetch_request_token(self, app: OAuthClient, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
        """The token is the ``state``, its secret the ``verifier`` of ``fetch_credentials``. ``state`` here is only
        random.
        """
        ...

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
    """One network: its tables and its two modules of functions."""

    network: Network
    plans: Plans
    reads: Reads


@cache
def get_adapter(code: str) -> Adapter:
    """The adapter of a network code; InvalidInput for an unknown one."""
    if code not in ADAPTER_PACKAGES:
        raise invalid_input(
            "network", "choice", f"There is no such network here; there are {', '.join(ADAPTER_PACKAGES)}."
        )
    folder = ADAPTER_PACKAGES[code]
    tables = import_module(f"{folder}.tables")
    plans = import_module(f"{folder}.plans")
    reads = import_module(f"{folder}.reads")
    return Adapter(cast(Network, tables.NETWORK), cast(Plans, plans), cast(Reads, reads))
