"""The steps that a chain of operations has applied, from receipts, verdicts, and the carried steps of earlier plans."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence

from attrs import frozen

from adsunify.execution.state import ItemReceipt, Receipt, read_progress
from adsunify.outcomes.verdicts import StepVerdict
from adsunify.plans.records import Carried, Outputs, Plan, Step
from adsunify.values.json_pointer import get_value


@frozen
class ChainProgress:
    """The progress of a chain.

    Attributes:
        carried: the applied steps, by step key.
        undecided: the keys of steps in doubt without a verdict.
        remaining: the keys of steps that are not, or not completely, applied.
        applied_verdicts: the verdicts by which steps of the last operation count as applied.
    """

    carried: Mapping[str, Carried]
    undecided: tuple[str, ...]
    remaining: tuple[str, ...]
    applied_verdicts: tuple[StepVerdict, ...]


def read_chain_progress(
    plan: Plan,
    receipts: Sequence[Receipt],
    older_doubts: Mapping[str, StepVerdict | None],
    own_doubts: Collection[tuple[str, int]],
    verdicts: Sequence[StepVerdict],
) -> ChainProgress:
    """Compute the progress of a chain.

    A receipt overrides every verdict. If the last plan carries a step because of a verdict about an older operation,
    the step stays carried as long as the attempt of the older operation is in doubt. An attempt of the last operation
    needs a verdict even if a late receipt says that an older operation applied the step: both may be applied.

    Args:
        plan: the plan of the last operation.
        receipts: the receipts of all operations, oldest first.
        older_doubts: the steps that are in doubt in older operations, each with its last valid verdict.
        own_doubts: the attempts of the last operation that are in doubt, as step key and number.
        verdicts: the valid verdicts about the last operation.
    """
    progress = read_progress(receipts)
    by_attempt = {(verdict.step_key, verdict.attempt): verdict for verdict in verdicts}
    carried: dict[str, Carried] = {}
    undecided: list[str] = []
    applied_verdicts: list[StepVerdict] = []
    for step in plan.steps:
        outputs, items = progress.outputs.get(step.key), dict(progress.applied_items.get(step.key, {}))
        before = plan.carried.get(step.key)
        older = older_doubts.get(step.key)
        if before is not None and outputs is None and step.key in older_doubts:
            outputs, items = before.outputs, {**before.items, **items}
        elif older is not None and outputs is None and older.verdict == "applied":  # decided after the plan was made
            outputs, items = older.outputs, {**_get_applied_items(older), **items}
            applied_verdicts.append(older)
        for doubt in sorted(doubt for doubt in own_doubts if doubt[0] == step.key):
            verdict = by_attempt.get(doubt)
            if verdict is None or verdict.verdict == "undecided":
                undecided.append(step.key)
                continue
            applied = _get_applied_items(verdict)
            items = applied | items
            if verdict.verdict == "applied" or applied:
                applied_verdicts.append(verdict)
            if verdict.verdict == "applied" and outputs is None:
                outputs = verdict.outputs
        if outputs is None and items:
            outputs = _merge_items(step, items)
        if outputs is not None or items:
            carried[step.key] = Carried(outputs, items)
    remaining = [step.key for step in plan.steps if step.key not in carried or carried[step.key].outputs is None]
    return ChainProgress(carried, tuple(dict.fromkeys(undecided)), tuple(remaining), tuple(applied_verdicts))


def _get_applied_items(verdict: StepVerdict) -> dict[int, str]:
    return {item.index: item.id for item in verdict.items if item.verdict == "applied" and item.id is not None}


def _merge_items(step: Step, items: Mapping[int, str]) -> Outputs | None:
    """Return the outputs of a step with items if all of them are applied, else None."""
    assert step.items is not None
    planned: Sequence[object] = get_value({"body": step.request.body}, step.items.at) or ()
    if len(items) < len(planned):
        return None
    ids = [items[index] for index in sorted(items)]
    return {step.items.output: ids if step.items.many else ids[0]}


def make_receipt(plan: Plan, verdict: StepVerdict) -> Receipt:
    """Make the receipt of an attempt that a verdict declares applied."""
    n = next(n for n, step in enumerate(plan.steps) if step.key == verdict.step_key)
    items = tuple(
        ItemReceipt(item.index, "applied", item.id)
        for item in verdict.items
        if item.verdict == "applied" and item.id is not None
    )
    return Receipt(n, verdict.step_key, verdict.attempt, "applied", outputs=verdict.outputs, items=items)
