"""What the checks of a proof share: the account's session, the report, and reads that become cases."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from attrs import define, field

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.adapter.flows import memoize_reads
from adsunify.adapter.network import Level, Network
from adsunify.adapter.protocols import Adapter
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    TokenRefused,
)
from adsunify.http.messages import Flow
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.values.exact_json import Json, dumps, loads

from .findings import Report
from .recording import CaseWriter
from .transport import ProofTransport

T = TypeVar("T")
OPERATIONS_FILE = "operations.json"
UNTESTED_ERRORS = (PermissionRefused, ProviderThrottled, TokenRefused)
"""Errors that say nothing about the adapter: the credentials or the limits of the account are the reason."""
READ_ERRORS = (ProviderError, InvalidInput, AttributeError, LookupError, TypeError, ValueError, ArithmeticError)
"""What a read raises if it fails, or if its response has another form than the adapter expects."""


@define
class CreatedEntity:
    """An entity that the proof created: its kind, and its id as lists show it."""

    kind: Kind
    id: str


@define(eq=False)
class Proof:
    """One proof.

    Attributes:
        service: the open service, whose transport is a :class:`ProofTransport`.
        actor: who prepares and executes.
        account_id: the id of the account in the store.
        session: the session of the account.
        transport: the transport of the service.
        report: what was found out.
        cases: writes the recordings.
        created: what the proof created, parents first.
        deleted: the ids of created entities whose deletion the network confirmed.
        folder: the folder of the proof.
    """

    service: Service
    actor: Actor
    account_id: str
    session: NetworkSession
    transport: ProofTransport
    report: Report
    cases: CaseWriter
    folder: Path
    created: list[CreatedEntity] = field(factory=list)
    deleted: set[str] = field(factory=set)

    @property
    def adapter(self) -> Adapter:
        """The adapter of the network."""
        return self.session.adapter

    @property
    def network(self) -> Network:
        """The tables of the network."""
        return self.session.adapter.network

    @property
    def account(self) -> Account:
        """The account as adapters need it."""
        return self.session.native_account

    def now(self) -> datetime:
        """Return the present, in whole seconds."""
        return self.service.now().replace(microsecond=0)

    def list_levels(self) -> list[tuple[Kind, Level]]:
        """Return campaign, ad group and ad, as far as the network has them, parents first."""
        return [(kind, level) for kind in ENTITY_KINDS for level in self.network.levels if level.kind == kind]

    def list_earlier_operations(self) -> list[str]:
        """Return the operations of an earlier proof of this account in the folder that did not clean up."""
        try:
            earlier = loads((self.folder / OPERATIONS_FILE).read_bytes())
        except FileNotFoundError:
            return []
        return list(earlier["operations"]) if earlier["accountId"] == self.account_id else []

    def remember_operation(self, operation_id: str) -> None:
        """Write down an operation before it is executed, so that a later proof can clean up after this one."""
        self.report.operations.append(operation_id)
        self.folder.mkdir(parents=True, exist_ok=True)
        text = dumps({"accountId": self.account_id, "operations": self.report.operations})
        (self.folder / OPERATIONS_FILE).write_text(text + "\n")

    def forget_operations(self) -> None:
        """Remove what :meth:`remember_operation` wrote: nothing is left to be deleted."""
        (self.folder / OPERATIONS_FILE).unlink(missing_ok=True)

    async def read(self, fact: str, kind: str, members: Mapping[str, Json], flow: Flow[T]) -> T | None:
        """Run a flow of reads, record it as a case, and return its result; None if it failed.

        A failure is a finding: the network contradicts the fact, unless the credentials or a limit are the reason.
        """
        with self.transport.tape.record() as exchanges:
            try:
                result = await self.session.run_flow(memoize_reads(flow))
            except UNTESTED_ERRORS as problem:
                self.report.skip(fact, problem.message)
                return None
            except READ_ERRORS as problem:
                self.report.contradict(fact, "a response that the adapter reads", None, describe_problem(problem))
                return None
        self.cases.add(fact, kind, members, exchanges)
        return result

    async def fetch_or_none(self, kind: str, entity_id: str) -> tuple[bool, Json]:
        """Return whether the account still has an entity that is not removed, and its native status.

        Raises ProviderError if the read fails.
        """
        try:
            entity = await self.session.run_flow(self.adapter.reads.fetch_entity(self.account, kind, entity_id))
        except ProviderNotFound:
            return False, None
        return entity.status not in ("archived", "deleted"), entity.native_status


def describe_problem(problem: BaseException) -> str:
    """Return the words of an error."""
    if isinstance(problem, InvalidInput):
        return "; ".join(f"{issue.path}: {issue.message}" if issue.path else issue.message for issue in problem.issues)
    return problem.message if isinstance(problem, AdsunifyError) else f"{type(problem).__name__}: {problem}"
