"""Compares the plan of an edit with a later plan of the same edit, to find changes at the network."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adsunify.errors import Issue, StaleValue
from adsunify.plans.records import Plan, Step
from adsunify.values.comparison import to_comparable
from adsunify.values.exact_json import Json


def compare_plans(plan: Plan, present: Plan) -> Iterator[StaleValue]:
    """Yield the differences: in the values before the changes and, if these agree, in the members of the writes.

    A write that replaces a whole object, such as a targeting, would undo later changes by others in it.
    """
    present = Plan.from_bytes(present.canonical_bytes, present.digest)  # so that both have the same JSON types
    changed = [*_compare_members(plan, *map(_list_values_before, (plan, present)))]
    yield from changed or _compare_members(plan, *map(_list_written_values, (plan, present)))


def describe_refusal(plan: Plan, issues: Iterable[Issue]) -> Iterator[StaleValue]:
    """Yield the differences if the edit cannot be planned any more; ``issues`` say why.

    If a field has its new value already, the difference shows this value. For other issues it shows the message.
    """
    changes = {change.field: change for step in plan.steps for change in step.changes}
    for issue in issues:
        name = next((name for name in (issue.path, issue.path.partition(".")[2]) if name in changes), issue.path)
        change = changes.get(name)
        present = change.after if change is not None and issue.code == "no_change" else issue.message
        yield make_difference(plan, name, None if change is None else change.before, present)


def make_difference(plan: Plan, member: str, planned: Json, present: Json) -> StaleValue:
    """Make the difference of a member of the entity that an edit changes."""
    edit = plan.edit or {}
    return StaleValue(edit["kind"], edit["entityId"], member, planned, present)


def _compare_members(plan: Plan, planned: Mapping[str, Json], present: Mapping[str, Json]) -> Iterator[StaleValue]:
    for member in dict.fromkeys((*planned, *present)):
        if to_comparable(planned.get(member)) != to_comparable(present.get(member)):
            yield make_difference(plan, member, planned.get(member), present.get(member))


def _list_values_before(plan: Plan) -> dict[str, Json]:
    return {change.field: change.before for step in plan.steps for change in step.changes}


def _list_written_values(plan: Plan) -> dict[str, Json]:
    """Return every value that a plan writes, by its pointer. Members of objects are visited; lists are values."""
    return {pointer: value for step in plan.steps for pointer, value in _list_step_values(step)}


def _list_step_values(step: Step) -> Iterator[tuple[str, Json]]:
    request = step.to_json()["request"]  # the request without marks
    yield from _walk_members(request.get("body"), "")
    yield from _walk_members(request.get("query"), "")
    if step.overlay is not None:
        yield from step.overlay.changes.items()
        yield from ((pointer, None) for pointer in step.overlay.remove)


def _walk_members(value: Json, pointer: str) -> Iterator[tuple[str, Json]]:
    if not isinstance(value, Mapping):
        yield pointer, value
        return
    for name, member in value.items():
        yield from _walk_members(member, f"{pointer}/{name}")
