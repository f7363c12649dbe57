"""The entities that a step writes, as its request names them."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import suppress

from attrs import frozen

from adsunify.adapter.network import Level, Network
from adsunify.http.messages import Request
from adsunify.plans.binding import fill_bindings
from adsunify.plans.records import Outputs, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_object, get_value, parse_id, split_pointer


@frozen
class PlannedEntity:
    """One entity that a step writes.

    Attributes:
        index: the position in the planned array; None if the step has no items.
        kind: the kind of the entity.
        level: the level of the entity; None if its kind is not a level, such as a picture.
        members: the native members that are sent, placed as a read of the level shows them.
        entity_id: the id of an entity that exists already, as lists show it; None for a create.
        parent_id: the id of the parent, as lists show it; None if the level has none or it is not known.
        is_parent_new: whether the same operation created the parent.
    """

    index: int | None
    kind: str
    level: Level | None
    members: Mapping[str, Json]
    entity_id: str | None = None
    parent_id: str | None = None
    is_parent_new: bool = False


def list_planned_entities(
    network: Network, plan: Plan, step: Step, outputs: Mapping[str, Outputs]
) -> list[PlannedEntity]:
    """Return the entities that a step writes, in the order of its items.

    Args:
        network: the tables of the network.
        plan: the plan.
        step: the step.
        outputs: the outputs of the applied steps, by step key. Without the output of an earlier step, the members and
            the parent that it fills are not known.
    """
    request = step.request
    with suppress(LookupError, ValueError):
        request = fill_bindings(step, outputs)
    if step.items is None:
        return [_build_entity(network, plan, step, None, _choose_content(request), outputs)]
    items = get_value({"body": request.body}, step.items.at)
    return [
        _build_entity(network, plan, step, index, item, outputs)
        for index, item in enumerate(items if isinstance(items, list) else ())
    ]


def _choose_content(request: Request) -> Json:
    """Return the body, or the parameters of the query of a request without a body (X)."""
    return request.body if request.body is not None else dict(request.query)


def _build_entity(
    network: Network, plan: Plan, step: Step, index: int | None, content: Json, outputs: Mapping[str, Outputs]
) -> PlannedEntity:
    kind, members = step.kind, content
    levels = {level.kind: level for level in (*network.levels, *network.beside)}
    operand = _read_operation(content)
    if operand is not None:
        native, operand_body = operand
        level = next((level for level in network.levels if level.native == native), None)
        kind, members = native if level is None else level.kind, {native: operand_body}
    else:
        level = levels.get(step.kind)
        members = content if level is None else _find_members(level, content)
    entity_id = step.entity
    if step.action != "create" and level is not None and entity_id is None:
        entity_id = _find_entity_id(level, content if operand is None else operand[1])
    parent_id, is_new = (None, False) if level is None else _find_parent(levels, plan, step, level, members, outputs)
    planned_members = members if isinstance(members, Mapping) else {}
    return PlannedEntity(index, kind, level, planned_members, entity_id, parent_id, is_new)


def _read_operation(content: Json) -> tuple[str, Mapping[str, Json]] | None:
    """Return the native name and the members of an operation of a batch of several kinds (Google); None for others."""
    if isinstance(content, Mapping) and len(content) == 1:
        ((name, operand),) = content.items()
        if name.endswith("Operation") and isinstance(operand, Mapping):
            for verb in ("create", "update"):
                if isinstance(operand.get(verb), Mapping):
                    return name.removesuffix("Operation"), operand[verb]
    return None


def _find_members(level: Level, content: Json) -> Json:
    """Return the object in the content that has a name, or else the innermost object.

    Some networks wrap the entity in other objects.
    """
    named = find_object(content, level.name) if level.name else None
    if named is not None:
        return named
    while isinstance(content, Mapping) and len(content) == 1 and isinstance(next(iter(content.values())), Mapping):
        content = next(iter(content.values()))
    return content


def _find_entity_id(level: Level, content: Json) -> str | None:
    """Return the id that an item of an update names."""
    if not isinstance(content, Mapping):
        return parse_id(content)
    for member in (split_pointer(level.id)[-1], "id", "resourceName", "entity_id"):
        if (id_ := parse_id(content.get(member))) is not None:
            return id_.rpartition("/")[2]
    return None


def _find_parent(
    levels: Mapping[str, Level], plan: Plan, step: Step, level: Level, members: Json, outputs: Mapping[str, Outputs]
) -> tuple[str | None, bool]:
    if not level.parent_kind:
        return None, False
    for binding in step.bindings:
        maker = plan.get_step(binding.step)
        if maker.kind == level.parent_kind and binding.step in outputs:
            output = outputs[binding.step].get(levels[level.parent_kind].listed_output)
            return (output, maker.action == "create") if isinstance(output, str) else (None, False)
    named = parse_id(get_value(members, level.parent)) if isinstance(members, Mapping) else None
    return step.parent or (None if named is None else named.rpartition("/")[2]), False
