"""The shared parts of the checks of a proof: the account's session, the report, and reads that become cases."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import datetime
from pathlib import Path
from typing import TypeVar

from attrs import define, field, frozen

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.adapter.flows import memoize_reads
from adsunify.adapter.network import REMOVED_STATUSES, Level, Network
from adsunify.adapter.protocols import Adapter
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    PermissionRefused,
    ProviderError,
    ProviderNotFound,
    ProviderThrottled,
    TokenRefused,
    invalid_input,
)
from adsunify.http.messages import Flow
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.values.exact_json import Json, dumps, loads

from .findings import ProofReport
from .recording import CaseWriter
from .transport import ProofTransport

T = TypeVar("T")
OPERATIONS_FILE = "operations.json"
FOREIGN_REASON = "The account had this entity before the proof, so the proof does not touch it."
UNTESTED_ERRORS = (PermissionRefused, ProviderThrottled, TokenRefused)
"""Errors that say nothing about the adapter: the credentials or the limits of the account are the reason."""
READ_ERRORS = (ProviderError, InvalidInput, AttributeError, LookupError, TypeError, ValueError, ArithmeticError)
"""The exceptions of a read that fails, or whose response has another form than the adapter expects."""


@frozen
class ProofEntity:
    """An entity that the proof created: its kind, and its id as lists show it."""

    kind: Kind
    id: str


@define(eq=False)
class Proof:
    """One proof.

    Attributes:
        service: the open service, whose transport is a :class:`ProofTransport`.
        actor: the actor that prepares and executes.
        account_id: the id of the account in the store.
        session: the session of the account.
        transport: the transport of the service.
        report: the findings.
        cases: writes the recordings.
        created: the entities that the proof created, parents first.
        deleted: the ids of created entities whose deletion the network confirmed.
        decided: the id and the step key of each write that an inspection has declared applied.
        noted: the entities that this proof and an interrupted earlier proof created.
        existing: the entities that the account had before. The proof does not change them, even if the network returns
            their ids.
        foreign: entities of ``existing`` whose ids the network returned for a create.
        folder: the folder of the proof.
    """

    service: Service
    actor: Actor
    account_id: str
    session: NetworkSession
    transport: ProofTransport
    report: ProofReport
    cases: CaseWriter
    folder: Path
    created: list[ProofEntity] = field(factory=list)
    deleted: set[str] = field(factory=set)
    decided: set[tuple[str, str]] = field(factory=set)
    noted: set[ProofEntity] = field(factory=set)
    existing: set[ProofEntity] = field(factory=set)
    foreign: list[ProofEntity] = field(factory=list)

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

    def load_earlier_operations(self) -> list[str]:
        """Return the operations of an earlier proof in the folder that did not clean up.

        The entities that the account had before that proof are added to ``existing``.

        Raises:
            InvalidInput: the earlier proof is of another account.
        """
        try:
            earlier = loads((self.folder / OPERATIONS_FILE).read_bytes())
        except FileNotFoundError:
            return []
        if earlier["accountId"] != self.account_id:
            message = (
                f"{self.folder} has what a proof of the account {earlier['accountId']} has not cleaned up. Prove that "
                "account again with this folder first, or name another folder."
            )
            raise invalid_input("--folder", "unfinished_proof", message)
        kinds = {kind: kind for kind in ENTITY_KINDS}
        self.existing |= {ProofEntity(kinds[kind], id_) for kind, id_ in earlier["existing"]}
        return list(earlier["operations"])

    def remember_operation(self, operation_id: str) -> None:
        """Write down an operation before it is executed, so that a later proof can clean up after this one."""
        self.report.operations.append(operation_id)
        self.folder.mkdir(parents=True, exist_ok=True)
        existing = sorted([entity.kind, entity.id] for entity in self.existing)
        text = dumps({"accountId": self.account_id, "operations": self.report.operations, "existing": existing})
        draft = self.folder / f"{OPERATIONS_FILE}.new"
        draft.write_text(text + "\n")
        draft.replace(self.folder / OPERATIONS_FILE)  # a killed process leaves the new or the old file

    def forget_operations(self) -> None:
        """Remove the operations that :meth:`remember_operation` wrote, because nothing is left to be deleted."""
        (self.folder / OPERATIONS_FILE).unlink(missing_ok=True)

    def note_existing(self, entities: Iterable[ProofEntity]) -> None:
        """Remember the entities of the account before anything is created."""
        self.existing |= {*entities} - self.noted

    def note_created(self, entity: ProofEntity) -> None:
        """Remember the created entities. An entity that the account had before is a finding, and is not changed."""
        if entity not in self.existing:
            self.noted.add(entity)
            if entity not in self.created:
                self.created.append(entity)
        elif entity not in self.foreign:
            self.foreign.append(entity)
            self.report.contradict(f"created.{entity.kind}.id", "the ID of a new entity", entity.id, FOREIGN_REASON)

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
        await self.cases.add(fact, kind, members, exchanges)
        return result

    async def fetch_or_none(self, kind: str, entity_id: str) -> tuple[bool, Json]:
        """Return whether the account still has an entity that is not removed, and its native status.

        Raises ProviderError if the read fails.
        """
        try:
            entity = await self.session.run_flow(self.adapter.reads.fetch_entity(self.account, kind, entity_id))
        except ProviderNotFound:
            return False, None
        return entity.status not in REMOVED_STATUSES, entity.native_status


def describe_problem(problem: BaseException) -> str:
    """Return the message of an error as the report shows it."""
    if isinstance(problem, InvalidInput):
        return "; ".join(f"{issue.path}: {issue.message}" if issue.path else issue.message for issue in problem.issues)
    return problem.message if isinstance(problem, AdsunifyError) else f"{type(problem).__name__}: {problem}"
