"""Inspection: reads back what an operation wrote, and decides steps whose outcome is not known. It writes nothing."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TypeVar

from attrs import evolve, frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.flows import memoize_reads
from adsunify.adapter.hierarchy import ParsedEntity, get_last_part
from adsunify.errors import InvalidInput, OperationError, ProviderError, ProviderNotFound
from adsunify.execution.executor import RESPONSE_READ_ERRORS
from adsunify.execution.state import ExecutionProgress, add_carried, read_progress
from adsunify.http.messages import Flow
from adsunify.ledger import LedgerEntry
from adsunify.outcomes import search
from adsunify.outcomes.changes import compare_update, judge_deletion, judge_update
from adsunify.outcomes.comparison import MemberComparison, compare_members
from adsunify.outcomes.deciding import (
    PARTIAL_DOUBT,
    ItemDecision,
    build_item_id,
    combine_decisions,
    decide_absence,
    make_child_doubt,
    refuse_found_entities,
    refuse_shared_entities,
)
from adsunify.outcomes.planned import PlannedEntity, list_planned_entities
from adsunify.outcomes.verdicts import Evidence, StepVerdict
from adsunify.plans.records import ENTITY_KINDS, Kind, Outputs, Plan, Step
from adsunify.service.core import Service, format_timestamp
from adsunify.service.network_session import NetworkSession
from adsunify.store import attempts, operations, verdicts
from adsunify.store.attempts import StepAttempt
from adsunify.store.chains import lock_chain
from adsunify.store.clock import Clock
from adsunify.store.ledger import record_entry
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

from .claims import Claims, read_claims

T = TypeVar("T")
READ_FAILURES = (ProviderError, InvalidInput, *RESPONSE_READ_ERRORS)
"""The exceptions of a read that failed, or whose response cannot be understood. They decide nothing."""


@frozen
class StepInspection:
    """The result of an inspection for one step.

    Attributes:
        step: the step.
        state: the state according to the receipts: ``applied``, ``in_doubt``, ``not_applied`` or ``planned``.
        entity_id: the id of the entity as lists show it; None if it is not known.
        verdict: the valid verdict of a step in doubt.
        members: the members that were sent, compared with the present values at the network.
        read: the read of an applied step.
    """

    step: Step
    state: str
    entity_id: str | None = None
    verdict: StepVerdict | None = None
    members: tuple[MemberComparison, ...] = ()
    read: Evidence | None = None


@frozen
class Inspection:
    """The inspection of an operation, with its time in milliseconds since 1970."""

    record: OperationRecord
    at: int
    steps: tuple[StepInspection, ...]

    @property
    def is_decided(self) -> bool:
        """Whether all steps in doubt are decided."""
        return all(step.verdict is None or step.verdict.verdict != "undecided" for step in self.steps)


async def inspect_operation(service: Service, actor: Actor, *, operation_id: str) -> Json:
    """Read back what an operation wrote, and decide the steps whose outcome is not known.

    Nothing is written at the network, and no status changes. Each step in doubt gets a verdict with its evidence:
    ``applied``, ``not_applied`` or ``undecided``. The verdict that a create was not applied needs two inspections, the
    second about 15 minutes after the attempt. ``advice`` says what to do now. An entity that somebody else created
    exactly as planned, at the same time and with nothing below it, cannot be distinguished.
    """
    return inspection_to_json(await run_inspection(service, actor, operation_id))


async def run_inspection(service: Service, actor: Actor, operation_id: str) -> Inspection:
    """Inspect an operation, and store the verdicts.

    Raises:
        NotFound: the operation is not in the actor's scope.
        OperationError: ``operation_running``; an execution has claimed the operation.
    """
    clock = service.store.clock
    record = await service.store.run_query(operations.find_operation(actor, operation_id, clock))
    if record.status == "running" and not record.is_stalled:
        message = "The operation is being executed. Inspect it when it has stopped."
        raise OperationError(message, code="operation_running")
    plan = record.read_plan()
    step_attempts = await service.store.read(attempts.list_attempts, operation_id) if record.is_claimed else []
    known = await service.store.read(verdicts.list_verdicts, operation_id) if step_attempts else []
    inspector = Inspector(service, await NetworkSession.load(service, actor, record.account_id), plan, step_attempts)
    steps = [await inspector.inspect_step(step, known) for step in plan.steps]
    fresh = [
        inspected.verdict for inspected in steps if inspected.verdict is not None and inspected.verdict not in known
    ]
    if fresh:
        await service.store.write(_save_verdicts, actor, record, fresh, clock)
    return Inspection(record, clock.now(), tuple(steps))


async def read_verdicts(service: Service, actor: Actor, operation_id: str) -> list[StepVerdict]:
    """Return the valid verdicts of earlier inspections and settlements. Raises NotFound."""
    record = await service.store.run_query(operations.find_operation(actor, operation_id, service.store.clock))
    return await service.store.read(verdicts.list_verdicts, record.id)


def _save_verdicts(
    connection: Connection, actor: Actor, record: OperationRecord, new_verdicts: Sequence[StepVerdict], clock: Clock
) -> None:
    lock_chain(connection, record.chain_id)
    verdicts.save_verdicts(connection, record.id, new_verdicts, clock)
    for verdict in new_verdicts:
        after = {"step": verdict.step_key, "attempt": verdict.attempt, "verdict": verdict.verdict}
        entry = LedgerEntry(
            record.workspace_id, actor, "verdict", record.id, record.account_id, record.network, None, after
        )
        record_entry(connection, entry, clock)


class Inspector:
    """Inspects the steps of one operation with the session of its account."""

    def __init__(
        self, service: Service, session: NetworkSession, plan: Plan, step_attempts: Sequence[StepAttempt]
    ) -> None:
        self.service, self.session, self.plan = service, session, plan
        self.network, self.reads = session.adapter.network, session.adapter.reads
        self.account = session.native_account
        self.attempts = {attempt.key: attempt for attempt in step_attempts}  # the last attempt of each step
        receipts = [attempt.receipt for attempt in step_attempts if attempt.receipt is not None]
        open_steps = [attempt.key for attempt in step_attempts if attempt.receipt is None]
        self.progress: ExecutionProgress = add_carried(read_progress(receipts, open_steps), plan.carried)
        self.outputs: dict[str, Outputs] = dict(self.progress.outputs)

    async def inspect_step(self, step: Step, known: Sequence[StepVerdict]) -> StepInspection:
        """Inspect one step. ``known``: the valid verdicts of earlier inspections and settlements."""
        attempt = self.attempts.get(step.key)
        if step.key in self.progress.outputs:
            return await self._read_back(step, "applied", self._list_ids(step))
        if attempt is None:
            return StepInspection(step, "planned")
        if step.key not in self.progress.doubtful_steps:
            return StepInspection(step, "not_applied", step.entity)
        before = next(
            (
                known_verdict
                for known_verdict in known
                if (known_verdict.step_key, known_verdict.attempt) == (step.key, attempt.attempt)
            ),
            None,
        )
        if before is not None and before.settled_by is not None:
            verdict = before
        else:
            verdict = await self._decide_step(step, attempt, before)
        if verdict.verdict != "applied":
            return StepInspection(step, "in_doubt", step.entity, verdict)
        self.outputs[step.key] = verdict.outputs
        ids: dict[int | None, str] = {item.index: item.id for item in verdict.items if item.id is not None}
        whole = await self._read_back(step, "in_doubt", ids or self._list_output_ids(step, verdict.outputs))
        return evolve(whole, verdict=verdict, read=None)

    # -- steps in doubt -------------------------------------------------------------------------------------------

    async def _decide_step(self, step: Step, attempt: StepAttempt, before: StepVerdict | None) -> StepVerdict:
        planned = [
            entity
            for entity in self._list_planned(step)
            if attempt.items is None or entity.index is None or entity.index in attempt.items
        ]
        if step.action == "create":
            decisions = await self._decide_creations(step, planned, attempt, before)
        else:
            decisions = [await self._decide_change(step, entity) for entity in planned]
        if not decisions:
            decisions = [ItemDecision(None, "undecided", "The plan names nothing that can be read.")]
        applied = self.progress.applied_items.get(step.key, {})
        return combine_decisions(step, attempt.attempt, decisions, applied, planned[0].level if planned else None)

    async def _decide_creations(
        self, step: Step, planned: Sequence[PlannedEntity], attempt: StepAttempt, before: StepVerdict | None
    ) -> list[ItemDecision]:
        """Decide the entities that one request creates, parents first, and then its objects that are not entities."""
        earlier = () if before is None else before.evidence
        decisions: dict[int | None, ItemDecision] = {}
        applied_entities: dict[str, ParsedEntity] = {}
        unproven: list[ParsedEntity] = []
        missing: set[str | None] = set()
        unknown: set[str | None] = set()
        for planned_entity in planned:
            if planned_entity.level is None and step.items is not None:
                continue
            parent, temporary = applied_entities.get(planned_entity.parent_id or ""), _get_temporary_id(planned_entity)
            if planned_entity.parent_id in missing:
                missing |= {temporary} - {None}
                decisions[planned_entity.index] = decide_absence(
                    Evidence(
                        f"the parent of the {planned_entity.kind}",
                        self._now(),
                        "no such parent",
                        True,
                        planned_entity.index,
                    ),
                    *(
                        earlier,
                        attempt.intent_at,
                        planned_entity.level,
                        f"The parent of the {planned_entity.kind} does not exist.",
                    ),
                )
                continue
            if planned_entity.parent_id in unknown:
                unknown |= {temporary} - {None}
                reason = f"The parent of the {planned_entity.kind} is undecided."
                decisions[planned_entity.index] = ItemDecision(planned_entity.index, "undecided", reason)
                continue
            placed = (
                planned_entity if parent is None else evolve(planned_entity, parent_id=parent.id, is_parent_new=True)
            )
            decision, entity, is_recorded = await self._decide_creation(step, placed, attempt, before)
            decisions[planned_entity.index] = decision
            if entity is not None:
                applied_entities[temporary or entity.id] = entity
                unproven += [] if planned_entity.is_parent_new or is_recorded else [entity]
            elif temporary is not None:
                (missing if any(read.is_absence for read in decision.evidence) else unknown).add(temporary)
        for planned_entity in planned:
            if planned_entity.index not in decisions:
                decisions[planned_entity.index] = await self._decide_part(
                    planned_entity, applied_entities, decisions, attempt, earlier
                )
        all_decisions = refuse_shared_entities([decisions[planned_entity.index] for planned_entity in planned])
        is_partial = any(
            planned_entity.parent_id in applied_entities and decisions[planned_entity.index].verdict != "applied"
            for planned_entity in planned
        )
        doubt = PARTIAL_DOUBT if is_partial else await self._find_doubt(applied_entities, unproven)
        return all_decisions if doubt is None else refuse_found_entities(all_decisions, doubt)

    async def _find_doubt(
        self, applied_entities: Mapping[str, ParsedEntity], unproven: Sequence[ParsedEntity]
    ) -> ItemDecision | None:
        """Return why the entities found for a request may belong to another write; None if nothing indicates that.

        The operation wrote nothing after the request, so an entity that it created has no other children.
        """
        own = {(entity.kind, entity.id) for entity in applied_entities.values()}
        for entity in unproven:
            read = f"what is below the {entity.kind} {entity.id}"
            try:
                flow = search.fetch_foreign_children(self.network, self.reads, self.account, entity, own)
                foreign = await self._run(flow)
            except READ_FAILURES as failure:
                return self._make_failed_decision(None, read, failure)
            if foreign:
                return make_child_doubt(entity, foreign, read, self._now())
        return None

    async def _decide_creation(
        self, step: Step, planned: PlannedEntity, attempt: StepAttempt, before: StepVerdict | None
    ) -> tuple[ItemDecision, ParsedEntity | None, bool]:
        """Decide one entity.

        Returns also the entity that was found, and whether it is recorded as created by the step.
        """
        reason = search.find_unreadable_reason(self.network, planned)
        if reason is not None:
            return ItemDecision(planned.index, "undecided", reason), None, False
        assert planned.level is not None
        started, last_at = self._now(), attempt.receipt_at or attempt.intent_at
        try:
            whole = await self._run(
                search.fetch_complete_list(self.reads, self.account, planned.level, planned.parent_id)
            )
            entities = await self._run(
                search.fetch_creation_times(self.network, self.reads, self.account, planned, whole.entities)
            )
            candidates = search.list_candidates(self.network, planned, entities, attempt.intent_at, last_at)
        except READ_FAILURES as failure:
            read = f"the list of every {planned.level.label}"
            return self._make_failed_decision(planned.index, read, failure), None, False
        claims = await self._read_claims(step, planned, attempt, before)
        own = [candidate for candidate in candidates if not claims.has_claim(planned, candidate.entity)]
        judged = search.judge_candidates(planned, own)
        if claims.has_rival and judged.verdict == "applied":
            judged = evolve(judged, verdict="undecided", entity=None, reason=search.RIVAL_REASON)
        read = search.describe_list(planned, whole.pages)
        absent = judged.verdict == "not_applied"
        evidence = Evidence(read, started, judged.found, absent, planned.index)
        if absent:
            earlier = () if before is None else before.evidence
            return decide_absence(evidence, earlier, last_at, planned.level, judged.reason), None, False
        entity = judged.entity
        id_ = None if entity is None else build_item_id(planned, entity)
        is_recorded = entity is not None and get_last_part(entity.id) in claims.recorded
        return ItemDecision(planned.index, judged.verdict, judged.reason, id_, (evidence,)), entity, is_recorded

    async def _read_claims(
        self, step: Step, planned: PlannedEntity, attempt: StepAttempt, before: StepVerdict | None
    ) -> Claims:
        receipt_id = self.progress.applied_items.get(step.key, {}).get(planned.index or 0)
        ids = [] if receipt_id is None else [receipt_id]
        if before is not None:
            ids += [
                known_item.id
                for known_item in before.items
                if known_item.index == planned.index and known_item.id is not None
            ]
            ids += [id_ for id_ in before.outputs.values() if isinstance(id_, str)] if planned.index is None else []
        maker, native_id = (attempt.operation_id, attempt.n), self.session.account.native_id
        return await self.service.store.read(read_claims, self.network, native_id, planned, maker, ids)

    async def _decide_part(
        self,
        planned: PlannedEntity,
        applied_entities: Mapping[str, ParsedEntity],
        decisions: Mapping[int | None, ItemDecision],
        attempt: StepAttempt,
        earlier: Sequence[Evidence],
    ) -> ItemDecision:
        """Decide an object that is not an entity from the entities of the same request, which is applied as a whole."""
        if not applied_entities:
            reads = [read for decision in decisions.values() for read in decision.evidence if read.is_absence]
            if not reads:
                return ItemDecision(planned.index, "undecided", f"A new {planned.kind} cannot be recognised by itself.")
            absence = evolve(reads[-1], item=planned.index)
            reason = f"The {planned.kind} is created together with entities that do not exist."
            return decide_absence(absence, earlier, attempt.intent_at, planned.level, reason)
        used = {decision.id for decision in decisions.values() if decision.id is not None}
        for entity in applied_entities.values():
            try:
                whole = await self._run(self._fetch_whole(entity.kind, entity.id))
            except READ_FAILURES as failure:
                return self._make_failed_decision(planned.index, f"the {entity.kind} {entity.id}", failure)
            id_ = search.find_part(self.network, planned, whole.native, used)
            if id_ is not None:
                read = Evidence(
                    f"the {entity.kind} {entity.id}", self._now(), f"its {planned.kind}", item=planned.index
                )
                return ItemDecision(planned.index, "applied", f"The {entity.kind} has it.", id_, (read,))
        return ItemDecision(planned.index, "undecided", f"The new entities show no {planned.kind} of the plan.")

    async def _decide_change(self, step: Step, planned: PlannedEntity) -> ItemDecision:
        if planned.level is None or planned.entity_id is None:
            return ItemDecision(planned.index, "undecided", f"A {planned.kind} cannot be read.")
        read = f"the {planned.level.label} {planned.entity_id}"
        try:
            if step.action == "delete":  # without the settings, which may be missing for other reasons
                entity = await self._run(self.reads.fetch_entity(self.account, planned.kind, planned.entity_id))
            else:
                entity = await self._run(self._fetch_whole(planned.kind, planned.entity_id))
        except ProviderNotFound:
            entity = None
        except READ_FAILURES as failure:
            return self._make_failed_decision(planned.index, read, failure)
        if step.action == "delete":
            judged = judge_deletion(planned.level, entity)
        elif entity is None:
            gone = Evidence(read, self._now(), "it does not exist", item=planned.index)
            return ItemDecision(planned.index, "undecided", f"The {planned.level.label} is gone.", None, (gone,))
        else:
            judged = judge_update(self.network, self.account, self.plan, step, planned, entity)
        evidence = Evidence(read, self._now(), judged.found, item=planned.index)
        return ItemDecision(planned.index, judged.verdict, judged.reason, planned.entity_id, (evidence,))

    def _make_failed_decision(self, index: int | None, read: str, failure: Exception) -> ItemDecision:
        known = isinstance(failure, ProviderError | InvalidInput)
        observation = f"the read failed: {failure}" if known else "the response could not be understood"
        evidence = Evidence(read, self._now(), observation, item=index)
        return ItemDecision(index, "undecided", f"A read failed, so nothing is decided: {read}.", None, (evidence,))

    # -- applied steps --------------------------------------------------------------------------------------------

    async def _read_back(self, step: Step, state: str, ids: Mapping[int | None, str]) -> StepInspection:
        """Read the entities of an applied step and compare them with the plan."""
        rows: list[MemberComparison] = []
        observations: list[str] = []
        first = step.entity
        for planned in self._list_planned(step):
            entity_id = planned.entity_id or _to_listed_id(ids.get(planned.index))
            if planned.level is None or entity_id is None:
                continue
            first = first or entity_id
            name = f"the {planned.level.label} {entity_id}"
            try:
                entity = await self._run(self._fetch_whole(planned.kind, entity_id))
            except ProviderNotFound:
                observations.append(f"{name} does not exist")
                continue
            except READ_FAILURES:
                observations.append(f"{name} could not be read")
                continue
            compared = self._compare(step, planned, entity)
            rows += compared
            count = sum(row.result == "different" for row in compared)
            differences = f"differs in {count} member{'s' * (count > 1)}" if count else "agrees with the plan"
            observations.append(f"{name} {differences}")
        read = (
            Evidence(f"what the step {step.key} wrote", self._now(), "; ".join(observations)) if observations else None
        )
        return StepInspection(step, state, first, None, tuple(rows), read)

    def _compare(self, step: Step, planned: PlannedEntity, entity: ParsedEntity) -> list[MemberComparison]:
        assert planned.level is not None
        if step.action == "delete":
            return []
        if step.action == "update":
            return compare_update(self.network, self.account, step, planned, entity)
        return compare_members(self.network, planned.level, planned.members, entity.native)

    # -- reads ----------------------------------------------------------------------------------------------------

    def _list_planned(self, step: Step) -> list[PlannedEntity]:
        return list_planned_entities(self.network, self.plan, step, self.outputs)

    def _list_ids(self, step: Step) -> Mapping[int | None, str]:
        items: dict[int | None, str] = dict(self.progress.applied_items.get(step.key, {}).items())
        return items or self._list_output_ids(step, self.progress.outputs[step.key])

    def _list_output_ids(self, step: Step, outputs: Outputs) -> Mapping[int | None, str]:
        level = next((level for level in self.network.levels if level.kind == step.kind), None)
        id_ = None if level is None else outputs.get(level.listed_output)
        return {None: id_} if isinstance(id_, str) else {}

    def _fetch_whole(self, kind: str, entity_id: str) -> Flow[ParsedEntity]:
        """Read an entity with all its settings."""
        known: Kind | None = next((own for own in ENTITY_KINDS if own == kind), None)
        if known is None:
            return self.reads.fetch_entity(self.account, kind, entity_id)
        return self.reads.fetch_editable_entity(self.account, known, entity_id)

    async def _run(self, flow: Flow[T]) -> T:
        return await self.session.run_flow(memoize_reads(flow))

    def _now(self) -> int:
        return self.service.store.clock.now()


def _get_temporary_id(planned: PlannedEntity) -> str | None:
    """Return the id by which other entities of the request reference this entity; None if it has none."""
    if planned.level is None:
        return None
    members = planned.members.get(planned.level.native)
    name = members.get(search.NAME_MEMBER) if isinstance(members, Mapping) else None
    return get_last_part(name) if isinstance(name, str) else None


def _to_listed_id(id_: str | None) -> str | None:
    return None if id_ is None else id_.rpartition("/")[2]


# -- as callers see it --------------------------------------------------------------------------------------------


def inspection_to_json(inspection: Inspection) -> dict[str, Json]:
    """Return the inspection as responses show it."""
    return {
        "operationId": inspection.record.id,
        "status": inspection.record.status,
        "inspectedAt": format_timestamp(inspection.at),
        "steps": [_step_to_json(step) for step in inspection.steps],
        "isDecided": inspection.is_decided,
        "advice": choose_advice(inspection),
    }


def _step_to_json(inspected: StepInspection) -> dict[str, Json]:
    step, verdict = inspected.step, inspected.verdict
    reads = [inspected.read] if inspected.read is not None else []
    return {
        "key": step.key,
        "kind": step.kind,
        "action": step.action,
        "description": step.description,
        "state": inspected.state,
        "entityId": inspected.entity_id,
        "verdict": None if verdict is None else verdict.verdict,
        "reason": None if verdict is None else verdict.reason,
        "members": [
            {
                "member": row.member,
                "result": row.result,
                "planned": row.planned,
                "found": row.found,
                "reason": row.reason,
            }
            for row in inspected.members
        ],
        "evidence": [
            {"read": read.read, "at": format_timestamp(read.at), "found": read.found}
            for read in (reads if verdict is None else verdict.evidence)
        ],
        "settledBy": None if verdict is None else verdict.settled_by,
    }


def choose_advice(inspection: Inspection) -> str:
    """Return one sentence that says what to do now."""
    doubtful = [step for step in inspection.steps if step.verdict is not None]
    undecided = [step.step.key for step in doubtful if step.verdict and step.verdict.verdict == "undecided"]
    if undecided:
        waiting = next((step.verdict.reason for step in doubtful if step.verdict and _is_waiting(step.verdict)), None)
        if waiting is not None:
            return f"Step {undecided[0]} is not decided yet. {waiting}"
        return f"Look at the account and settle step {undecided[0]}: the network's reads do not decide it."
    if doubtful and any(step.state != "applied" and not _is_applied(step) for step in inspection.steps):
        return "Every step is decided: resume the operation, and only what was not applied is prepared again."
    changed = [step.step.key for step in inspection.steps if any(row.result == "different" for row in step.members)]
    if changed:
        return f"The network shows other values than were sent in step {changed[0]}: compare them."
    return "There is nothing to do."


def _is_waiting(verdict: StepVerdict) -> bool:
    """Whether a later inspection may decide a step, because one complete list did not contain its entity."""
    return verdict.verdict == "undecided" and any(read.is_absence for read in verdict.evidence)


def _is_applied(step: StepInspection) -> bool:
    return step.verdict is not None and step.verdict.verdict == "applied"
