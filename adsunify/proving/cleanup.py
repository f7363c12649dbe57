"""Deletes everything that a proof created, and lists what still exists."""

from __future__ import annotations

import asyncio

from attrs import define, field

from adsunify.adapter.network import get_level
from adsunify.errors import AdsunifyError, ProviderError
from adsunify.plans.records import ENTITY_KINDS
from adsunify.service import entities, preparation
from adsunify.service.entities import Mutation
from adsunify.service.operations import execute_operation

from . import writes
from .findings import Leftover
from .proof import READ_ERRORS, Proof, ProofEntity, describe_problem

MAX_ROUNDS = 3
NOT_SHOWN = "The network does not show it, but it has not confirmed a deletion."
FOREIGN_LEFT = "The network answered {id} to its creation, the ID of another {kind}. Look for a new one, and delete it."


async def clean_up(proof: Proof) -> None:
    """Delete what the proof created, children first, and record what remains as leftovers.

    It is called after the checks, after a failure, and after an interruption. An entity counts as deleted only if the
    network confirmed the deletion of the entity or of its parent, in this proof or in an earlier one, and does not show
    the entity any more. An inspection decides whether a deletion without a response was applied. An entity that may
    have been created counts as a leftover until an inspection decides. It raises no AdsunifyError.
    """
    while proof.service.shielded_tasks:  # an interrupted write is completed
        await asyncio.wait([*proof.service.shielded_tasks])
    proof.report.leftovers.clear()
    doubtful = await writes.recover_writes(proof, proof.report.operations)
    cleanup = _Cleanup(proof)
    remaining = sorted(proof.created, key=lambda entity: -ENTITY_KINDS.index(entity.kind))
    for _ in range(MAX_ROUNDS):
        for entity in remaining:
            if entity.id not in proof.deleted:
                await cleanup.delete(entity)
        remaining = [entity for entity in remaining if not await cleanup.is_gone(entity)]
        if not remaining:
            break
    for kind in ENTITY_KINDS:
        gone = [entity.id for entity in proof.created if entity.kind == kind and entity not in remaining]
        if gone:
            proof.report.confirm(f"deleted.{kind}", gone)
    for entity in remaining:
        reason = cleanup.reasons.get(entity.id, "")
        proof.report.leftovers.append(Leftover(entity.kind, entity.id, reason))
        proof.report.contradict(f"deleted.{entity.kind}", "gone, archived or deleted", entity.id, reason)
    for doubt in doubtful:
        if doubt.parent_id not in proof.deleted:
            proof.report.leftovers.append(Leftover(doubt.kind, None, f"It may have been created. {doubt.reason}"))
    if not proof.report.leftovers:
        proof.forget_operations()
    for entity in proof.foreign:
        proof.report.leftovers.append(Leftover(entity.kind, None, FOREIGN_LEFT.format(kind=entity.kind, id=entity.id)))


@define
class _Cleanup:
    """A cleanup. ``reasons``: for each entity, why it may still exist."""

    proof: Proof
    reasons: dict[str, str] = field(factory=dict)

    async def delete(self, entity: ProofEntity) -> None:
        """Delete an entity with an operation."""
        proof = self.proof
        try:
            operation_id = await self._prepare_deletion(entity)
            proof.remember_operation(operation_id)
            operation = await execute_operation(
                proof.service, proof.actor, operation_id=operation_id, confirmed=True, allow_stale=True
            )
        except AdsunifyError as problem:
            self.reasons[entity.id] = describe_problem(problem)
            return
        if operation["status"] == "succeeded":
            proof.deleted.add(entity.id)

    async def _prepare_deletion(self, entity: ProofEntity) -> str:
        """Prepare the deletion of an entity, without reading it first if it cannot be read."""
        proof, mutation = self.proof, Mutation("delete", entity.kind, entity.id)
        try:
            prepared = await entities.prepare_mutation(proof.service, proof.actor, proof.account_id, mutation, None)
        except ProviderError:
            flow = proof.adapter.plans.plan_delete(proof.account, entity.kind, entity.id)
            plan = await proof.session.run_flow(flow)
            prepared = await preparation.save_operations(proof.service, proof.actor, proof.account_id, [plan], None)
        return str(prepared.data["id"])

    async def is_gone(self, entity: ProofEntity) -> bool:
        """Whether the entity was deleted, itself or with its parent, and the network does not show it any more."""
        proof = self.proof
        parents = self._list_parents(entity)
        with_parent = bool(parents) and all(parent.id in proof.deleted for parent in parents)
        if entity.id not in proof.deleted and not with_parent:
            self.reasons.setdefault(entity.id, NOT_SHOWN)
            return False
        try:
            exists, status = await proof.fetch_or_none(entity.kind, entity.id)
        except READ_ERRORS as problem:
            self.reasons[entity.id] = f"It cannot be read: {describe_problem(problem)}"
            return False
        if exists and with_parent and entity.id not in proof.deleted:
            return all([await self.is_gone(parent) for parent in parents])
        if exists:
            self.reasons[entity.id] = f"Its status is {status}."
        return not exists

    def _list_parents(self, entity: ProofEntity) -> list[ProofEntity]:
        parent_kind = get_level(self.proof.network, entity.kind).parent_kind
        return [parent for parent in self.proof.created if parent.kind == parent_kind]
