"""The adapters: ``adapter("meta")`` imports one. No adapter performs I/O."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date, datetime
from functools import cache
from importlib import import_module
from typing import Protocol, cast

from attrs import frozen

from adsunify.brief import CampaignBrief
from adsunify.connecting import App, Credentials, RequestToken
from adsunify.editing import Edit
from adsunify.errors import Issue, refused
from adsunify.insights import Insights
from adsunify.network import Account, Network
from adsunify.reading import CatalogPage, Entity, FoundAccount, Page, Query, Tree
from adsunify.steps import Kind, Outputs, Plan
from adsunify.wire import Flow, Json, Request

ADAPTERS: Mapping[str, str] = {
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

    They assume a brief that :func:`adsunify.checks.check` let pass. All raise InvalidInput for what is refused.
    """

    def plan_create(self, account: Account, brief: CampaignBrief, now: datetime | None) -> Flow[Plan]: ...

    def plan_activate(self, account: Account, source: Plan, outputs: Mapping[str, Outputs]) -> Flow[Plan]: ...

    def plan_status(self, account: Account, kind: Kind, entity_id: str, status: str) -> Flow[Plan]: ...

    def plan_native_create(
        self, account: Account, kind: Kind, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]: ...

    def plan_update(
        self, account: Account, kind: Kind, entity_id: str, payload: Mapping[str, Json], parent_id: str | None
    ) -> Flow[Plan]: ...

    def plan_delete(self, account: Account, kind: Kind, entity_id: str) -> Flow[Plan]: ...

    def plan_edit(
        self, account: Account, kind: Kind, entity_id: str, edit: Edit, now: datetime | None
    ) -> Flow[Plan]: ...

    def preflight(self, account: Account, brief: CampaignBrief) -> Flow[tuple[list[Issue], list[str]]]:
        """Issues that refuse the brief, and warnings; never changes the plan."""
        ...


class Reads(Protocol):
    """``reads.py``: connecting and reading, as flows; ``sign`` adds the credentials to a finished request.

    ``now`` of the connecting functions is in milliseconds. ``redirect_uri`` and ``verifier`` (PKCE) are the caller's.
    How a connection begins depends on ``Login.kind``: ``authorize_url`` (oauth2), ``request_token`` (oauth1), nothing
    (credentials; their ``app`` is ``NO_APP``, redirect and verifier are empty).
    """

    def authorize_url(self, app: App, redirect_uri: str, state: str, verifier: str) -> str: ...

    def request_token(self, app: App, redirect_uri: str, state: str, now: int) -> Flow[RequestToken]:
        """The token is the ``state``, its secret the ``verifier`` of ``exchange``. ``state`` here is only random."""
        ...

    def exchange(
        self, app: App, redirect_uri: str, answer: Mapping[str, str], verifier: str, now: int
    ) -> Flow[Credentials]:
        """``answer``: the query that came back to ``redirect_uri`` (``code``, or what the network calls it), or the
        credentials that a person gave."""
        ...

    def refresh(self, app: App, credentials: Credentials, now: int) -> Flow[Credentials]: ...

    def revoke(self, app: App, credentials: Credentials) -> Flow[None]: ...

    def sign(self, request: Request, credentials: Credentials, app: App, now: int, nonce: str) -> Request: ...

    def accounts(self) -> Flow[list[FoundAccount]]: ...

    def tree(self, account: Account) -> Flow[Tree]: ...

    def entities(self, account: Account, kind: str, query: Query) -> Flow[Page]: ...

    def entity(self, account: Account, kind: str, entity_id: str) -> Flow[Entity]: ...

    def editable(self, account: Account, kind: Kind, entity_id: str) -> Flow[Entity]:
        """The entity with all that its settings and an edit need to know."""
        ...

    def insights(self, account: Account, start: date, end: date, job: str | None, now: datetime) -> Flow[Insights]: ...

    def catalog(self, account: Account, resource: str, query: Query) -> Flow[CatalogPage]: ...


@frozen
class Adapter:
    """One network: its tables and its two modules of functions."""

    network: Network
    plans: Plans
    reads: Reads


@cache
def adapter(code: str) -> Adapter:
    """The adapter of a network code; InvalidInput for an unknown one."""
    if code not in ADAPTERS:
        raise refused("network", "choice", f"There is no such network here; there are {', '.join(ADAPTERS)}.")
    folder = ADAPTERS[code]
    tables = import_module(f"{folder}.tables")
    plans = import_module(f"{folder}.plans")
    reads = import_module(f"{folder}.reads")
    return Adapter(cast(Network, tables.NETWORK), cast(Plans, plans), cast(Reads, reads))
