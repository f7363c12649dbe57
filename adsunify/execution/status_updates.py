"""Reads the status of campaigns, ad groups and ads from receipts and from reads of the hierarchy."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adsunify.adapter.hierarchy import ParsedEntity, get_last_part
from adsunify.adapter.lifecycle import find_parent_id, get_parent_member
from adsunify.adapter.network import REMOVED_STATUSES, Level, Network, unify_status
from adsunify.execution.state import CreatedId, ObservedStatus, Receipt
from adsunify.plans.records import ENTITY_KINDS, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import find_object, get_value, split_pointer


def find_created_ids(network: Network, step: Step, receipt: Receipt) -> list[CreatedId]:
    """Return the campaigns, ad groups and ads that a step created, according to its receipt.

    Google's ids are paths that contain the collection. Other entities of the same request are left out, such as assets,
    which Google shares between requests.
    """
    if step.action != "create":
        return []
    if step.items is not None:
        ids = [item.id for item in receipt.items if item.state == "applied" and item.id is not None]
    else:
        id_outputs = [value for name, value in receipt.outputs.items() if name.rstrip("0123456789") == "id"]
        ids = [id_ for id_ in id_outputs if isinstance(id_, str)]
    collections = {f"{level.native}s": kind for level in network.levels for kind in ENTITY_KINDS if level.kind == kind}
    own = next((kind for kind in ENTITY_KINDS if kind == step.kind), None)
    parent_id = _find_named_parent(network, step)
    created_ids = []
    for id_ in ids:
        collection, slash, _ = id_.rpartition("/")
        kind = collections.get(collection.rsplit("/", 1)[-1]) if slash else own
        if kind is not None and id_.isprintable():
            created_ids.append(CreatedId(kind, id_, parent_id if kind == own else None))
    return created_ids


def _find_named_parent(network: Network, step: Step) -> str | None:
    """Return the id of the parent that a create step names, as lists show it; None if an earlier step creates it."""
    level = next((level for level in network.levels if level.kind == step.kind), None)
    if level is None or not level.parent or step.bindings:
        return None
    content = step.request.body if step.request.body is not None else dict(step.request.query)
    named = find_parent_id(level, find_object(content, f"/{get_parent_member(level)}") or {}, step.parent)
    return None if named is None else get_last_part(named)


def read_entity_statuses(nodes: Iterable[ParsedEntity]) -> list[ObservedStatus]:
    """Return the statuses of the entities of a read."""
    return [
        ObservedStatus(kind, node.id, node.status)
        for node in nodes
        if node.status
        for kind in ENTITY_KINDS
        if kind == node.kind
    ]


def read_receipt_statuses(network: Network, step: Step, receipt: Receipt) -> list[ObservedStatus]:
    """Return the statuses of the entities that a step certainly created, changed or deleted.

    The status that was sent counts first, then the status in the response, then the status that the action implies.
    """
    observed = []
    for id_, entity in _list_written_entities(step, receipt):
        kind, sent_status = (
            network.parse_sent_status(step.kind, entity) if network.parse_sent_status is not None else (step.kind, None)
        )
        status_level = next((level for level in network.levels if level.kind == kind and kind in ENTITY_KINDS), None)
        if status_level is None or not id_.isprintable():  # no network has such an id
            continue
        # the response to several items describes no single item; members common to all items are in the request
        places = [entity, receipt.response if step.items is None else _remove_nested_members(step.request.body)]
        statuses = [unify_status(status_level, sent_status), *(_find_status(status_level, place) for place in places)]
        status = next(
            (status for status in statuses if status is not None and _is_status_possible(step, status)),
            _get_implied_status(status_level, step),
        )
        if status is not None:
            observed += [
                ObservedStatus(entity_kind, id_, status) for entity_kind in ENTITY_KINDS if entity_kind == kind
            ]
    return observed


def _list_written_entities(step: Step, receipt: Receipt) -> Iterator[tuple[str, Json]]:
    """Yield the id of each entity that was certainly written, and the members that were sent for it.

    The id is as lists show it: the last segment of a path.
    """
    changes: dict[str, Json] = {}
    if step.overlay is not None:
        changes = {split_pointer(pointer)[-1]: value for pointer, value in step.overlay.changes.items()}
    if step.items is not None:
        sent_items = get_value({"body": step.request.body}, step.items.at) or []
        for item in receipt.items:
            if item.state == "applied" and item.id is not None:
                yield (
                    _get_last_segment(item.id),
                    changes or (sent_items[item.index] if item.index < len(sent_items) else None),
                )
    elif receipt.state == "applied":
        id_outputs = [value for name, value in receipt.outputs.items() if name.rstrip("0123456789") == "id"]
        for id_ in id_outputs if step.entity is None else [step.entity]:
            if isinstance(id_, str):
                yield _get_last_segment(id_), changes or [step.request.body, dict(step.request.query)]


def _remove_nested_members(body: Json) -> Json:
    members = body.items() if isinstance(body, Mapping) else ()
    return {name: value for name, value in members if not isinstance(value, Mapping | list)}


def _get_last_segment(id_: str) -> str:
    return id_.rsplit("/", 1)[-1]


def _find_status(level: Level, place: Json) -> str | None:
    """Return the status of the nearest object to the top; None if none has one, or several differ."""
    values = [place]
    while values:
        statuses = {status for value in values if isinstance(value, Mapping) and (status := _read_status(level, value))}
        if statuses:
            return statuses.pop() if len(statuses) == 1 else None
        values = [below for value in values for below in _list_children(value)]
    return None


def _read_status(level: Level, members: Mapping[str, Json]) -> str | None:
    native = level.status(members) if callable(level.status) else members.get(split_pointer(level.status)[-1])
    return unify_status(level, native)


def _list_children(value: Json) -> Iterable[Json]:
    if isinstance(value, Mapping):
        return value.values()
    return value if isinstance(value, list) else ()


def _is_status_possible(step: Step, status: str) -> bool:
    """Whether the status can be true after the step. A deleted entity may still show its former status."""
    return step.action != "delete" or status in REMOVED_STATUSES


def _get_implied_status(level: Level, step: Step) -> str | None:
    if step.action == "create":
        return unify_status(level, level.initial_status)
    return "deleted" if step.action == "delete" else None
