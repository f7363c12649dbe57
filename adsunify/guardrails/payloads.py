"""Native payloads in the form of the entities that they create or change."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from adsunify.adapter.lifecycle import get_status_member
from adsunify.adapter.network import REMOVED_STATUSES, Level, NativeEntity, Setting, read_native_status, unify_status
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

MAX_PAYLOAD_DEPTH = 8
"""Objects nested more deeply are not read; their effect is unknown."""


def is_wrapped(level: Level) -> bool:
    """Whether an entity is read as an object with other objects beside it (Google)."""
    return level.id.startswith(f"/{level.native}/")


def place_payload(level: Level, payload: Mapping[str, Json], is_new: bool) -> dict[str, Json]:
    """Return a payload in the form of an entity. A new campaign of Google brings its budget as an object."""
    if not is_wrapped(level):
        return dict(payload)
    budget = payload.get("campaignBudget")
    if is_new and isinstance(budget, Mapping):
        others = {name: value for name, value in payload.items() if name != "campaignBudget"}
        return {level.native: others, "campaignBudget": budget}
    return {level.native: dict(payload)}


def lay_over(level: Level, native: NativeEntity, placed: Mapping[str, Json]) -> dict[str, Json]:
    """Return the entity after an update, which replaces whole members."""
    if not is_wrapped(level):
        return {**native, **placed}
    return {**native, level.native: {**get_value(native, f"/{level.native}", {}), **placed[level.native]}}


def list_leaves(value: Json, pointer: str = "", depth: int = 0) -> Iterator[tuple[str, Json]]:
    """Yield pointer and value of each value in a payload, except objects with members."""
    if not isinstance(value, Mapping) or not value or depth > MAX_PAYLOAD_DEPTH:
        yield pointer, value
        return
    for name, member in value.items():
        escaped = str(name).replace("~", "~0").replace("/", "~1")
        yield from list_leaves(member, f"{pointer}/{escaped}", depth + 1)


def get_path(level: Level, pointer: str) -> str:
    """Return the path of a place in an entity as :class:`~adsunify.adapter.network.PayloadRules` write it."""
    return pointer.removeprefix(f"/{level.native}/" if is_wrapped(level) else "/").removeprefix("/")


def get_pointer(level: Level, path: str) -> str:
    """Return the pointer to a place in an entity. It is the inverse of :func:`get_path`."""
    return f"/{level.native}/{path}" if is_wrapped(level) else f"/{path}"


def is_neutral(level: Level, pointer: str, value: Json = None) -> bool:
    """Whether a value in an entity does not change how much may be spent, according to ``PayloadRules.neutral``."""
    path = get_path(level, pointer)
    names = path.split("/")
    neutral = level.payload.neutral
    text = str(value).lower() if isinstance(value, bool) else "" if value == [] else value
    return f"{path}={text}" in neutral or any("/".join(names[:count]) in neutral for count in range(1, len(names) + 1))


def list_status_pointers(level: Level) -> tuple[str, ...]:
    """Return the pointers of the members that hold the status."""
    member = get_status_member(level)
    names = [member] if member else [name for members in level.status_members.values() for name in members]
    return tuple(dict.fromkeys(f"/{name}" for name in names))


def list_status_fields(level: Level, settings: Iterable[Setting]) -> frozenset[str]:
    """Return the fields of a level that set its status."""
    pointers = list_status_pointers(level)
    return frozenset(
        setting.field for setting in settings if setting.level == level.kind and setting.native in pointers
    )


def find_status(level: Level, members: NativeEntity) -> str:
    """Return the unified status of an entity with these members; ``unknown`` if the tables do not know it."""
    return unify_status(level, read_native_status(level, members)) or "unknown"


def find_payload_status(level: Level, payload: Mapping[str, Json]) -> str | None:
    """Return the unified status that a native update sets, as :func:`find_status`; None if it sets none."""
    placed = place_payload(level, payload, False)
    pointers = list_status_pointers(level)
    has_status = any(
        pointer == place or pointer.startswith(f"{place}/") for pointer, _ in list_leaves(placed) for place in pointers
    )
    return find_status(level, placed) if has_status else None


def find_edited_status(level: Level, settings: Iterable[Setting], fields: Mapping[str, Json]) -> str | None:
    """Return the unified status that the fields of an edit set, as :func:`find_status`; None if they set none."""
    pointers = list_status_pointers(level)
    for setting in settings:
        if setting.field in fields and setting.native in pointers:
            status = fields[setting.field]
            return status if status in ("active", "paused") else unify_status(level, status) or "unknown"
    return None


def may_activate(status: str | None) -> bool:
    """Whether a change to this unified status may set an entity to active; None: the change sets no status."""
    return status not in (None, "paused", *REMOVED_STATUSES)
