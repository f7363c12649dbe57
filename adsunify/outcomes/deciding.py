"""Decides the verdict of a step from the judgements of its items, and completes absences with earlier evidence."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import evolve, frozen

from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import VISIBILITY_SECONDS, Level
from adsunify.outcomes.planned import PlannedEntity
from adsunify.outcomes.search import NAME_MEMBER
from adsunify.outcomes.verdicts import Evidence, ItemVerdict, StepVerdict, VerdictName
from adsunify.plans.records import Output, Outputs, Step
from adsunify.values.json_pointer import get_text, get_value


@frozen
class ItemDecision:
    """The verdict of one item: the id in the form of a receipt, the reason in one sentence, and the reads behind it."""

    index: int | None
    verdict: VerdictName
    reason: str
    id: str | None = None
    evidence: tuple[Evidence, ...] = ()


def decide_absence(
    absence: Evidence, earlier: Sequence[Evidence], intent_at: int, level: Level | None, reason: str
) -> ItemDecision:
    """Decide an item that a complete list does not contain.

    The item is not applied if an earlier inspection had the same result, and the later read is so late that the lists
    of the level show every new entity.
    """
    before = [read for read in earlier if read.is_absence and read.item == absence.item and read.at < absence.at]
    visible_at = intent_at + 1000 * (VISIBILITY_SECONDS if level is None else level.visibility_seconds)
    evidence = (*before[:1], absence)
    if before and absence.at >= visible_at:
        return ItemDecision(absence.item, "not_applied", f"{reason} Two complete reads say so.", evidence=evidence)
    wait = max(0, visible_at - absence.at + 999) // 1000
    later = f"in {wait} seconds" if wait else "again"
    return ItemDecision(absence.item, "undecided", f"{reason} One read is not enough: inspect {later}.", None, evidence)


def refuse_shared_entities(decisions: Sequence[ItemDecision]) -> list[ItemDecision]:
    """Return the decisions about a request; items that were found in the same entity become undecided.

    Equal items all match the entity of any one of them.
    """
    ids = [decision.id for decision in decisions if decision.verdict == "applied"]
    reason = "Several items of the request agree with the same entity."
    return [
        evolve(decision, verdict="undecided", id=None, reason=reason)
        if decision.verdict == "applied" and decision.id is not None and ids.count(decision.id) > 1
        else decision
        for decision in decisions
    ]


PARTIAL_DOUBT = ItemDecision(
    None,
    "undecided",
    "The request creates a whole tree or nothing. The account has a part of it, which another write may have made.",
)
MAX_NAMED_CHILDREN = 3
"""How many foreign children a verdict names."""


def make_child_doubt(entity: ParsedEntity, foreign: Sequence[ParsedEntity], read: str, at: int) -> ItemDecision:
    """Make the doubt about an entity with children that other writes created.

    ``at``: the time of their read in milliseconds.
    """
    names = ", ".join(f"the {child.kind} {child.id}" for child in foreign[:MAX_NAMED_CHILDREN])
    reason = f"The {entity.kind} has {names}, which the operation has not created."
    return ItemDecision(None, "undecided", reason, None, (Evidence(read, at, names),))


def refuse_found_entities(decisions: Sequence[ItemDecision], doubt: ItemDecision) -> list[ItemDecision]:
    """Return the decisions about a request; items with an entity become undecided.

    ``doubt`` has the reason why the entities may belong to another write, and the read behind it.
    """
    return [
        evolve(
            decision,
            verdict="undecided",
            id=None,
            reason=doubt.reason,
            evidence=(*decision.evidence, *(evolve(read, item=decision.index) for read in doubt.evidence)),
        )
        if decision.verdict == "applied"
        else decision
        for decision in decisions
    ]


def combine_decisions(
    step: Step, attempt: int, decisions: Sequence[ItemDecision], applied_ids: Mapping[int, str], level: Level | None
) -> StepVerdict:
    """Combine the decisions about the items that an attempt sent to the verdict of the step.

    ``applied_ids``: the ids of the items that earlier attempts applied.
    """
    evidence = tuple(read for decision in decisions for read in decision.evidence)
    names = {decision.verdict for decision in decisions}
    verdict: VerdictName = (
        "undecided" if "undecided" in names else "not_applied" if "not_applied" in names else "applied"
    )
    reason = next(decision.reason for decision in decisions if decision.verdict == verdict)
    if step.items is None:
        id_ = decisions[0].id
        outputs = {} if id_ is None or verdict != "applied" else build_outputs(step, level, id_)
        return StepVerdict(step.key, attempt, verdict, reason, outputs, (), evidence)
    items = tuple(
        ItemVerdict(decision.index, decision.verdict, decision.id)
        for decision in decisions
        if decision.index is not None
    )
    applied_by_index = {item.index: item.id for item in items if item.verdict == "applied" and item.id is not None}
    ids = [id_ for _, id_ in sorted((dict(applied_ids) | applied_by_index).items())]
    whole: Outputs = {}
    if verdict == "applied" and ids and step.action == "create":
        whole = {step.items.output: ids if step.items.many else ids[0]}
    return StepVerdict(step.key, attempt, verdict, reason, whole, items, evidence)


def build_outputs(step: Step, level: Level | None, id_: str) -> dict[str, str | list[str]]:
    """Build the outputs of an applied step from the id that lists show."""
    return {output.name: _build_output(output, level, id_) for output in step.outputs}


def _build_output(output: Output, level: Level | None, id_: str) -> str:
    if level is not None and output.name == level.listed_output:
        return id_
    value = id_.rsplit(output.separator, 1)[-1] if output.separator else id_
    return value if value.startswith(output.prefix) else output.prefix + value


def build_item_id(planned: PlannedEntity, entity: ParsedEntity) -> str:
    """Return the id of a created entity in the form of a receipt: Google's ids are resource names."""
    assert planned.level is not None
    native = get_text(entity.native, planned.level.id) or ""
    if "/" in native:
        return native
    temporary = get_value(planned.members, f"/{planned.level.native}/{NAME_MEMBER}")
    return f"{temporary.rpartition('/')[0]}/{entity.id}" if isinstance(temporary, str) else entity.id
