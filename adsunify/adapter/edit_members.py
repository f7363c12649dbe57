"""Checks the members of an edit against a network's EDITS table, and applies its targeting member by member.

A member of ``targeting`` or ``creative`` that a level does not support is refused before anything is read. A member of
a list item that the network would ignore is refused as well.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import TypeVar

from adsunify.adapter.edits import Edit, require_change
from adsunify.adapter.network import EditMember, Network, get_level
from adsunify.errors import InvalidInput, Issue, invalid_input, raise_if_issues
from adsunify.plans.records import Change, Kind
from adsunify.values.countries import parse_country_code, require_country_code
from adsunify.values.exact_json import Json

RowT = TypeVar("RowT")
GenderT = TypeVar("GenderT")
EditPart = tuple[Mapping[str, Json], Sequence[Change]]
PartBuilder = Callable[[Json, str], Json]
"""Builds the native value of a part of an edit's targeting. The path is for error messages."""


def check_edit(network: Network, kind: Kind, edit: Edit) -> None:
    """Check that the level supports each member of an edit. Raises InvalidInput with all issues at once.

    Networks identify an item by its id. The item's name is a label for people and is not compared with the id.
    """
    get_level(network, kind)
    issues: list[Issue] = []
    for part, members in (("targeting", edit.targeting), ("creative", edit.creative)):
        if members and not any(
            edit_member.path.startswith(f"{part}.") for edit_member in network.edits if edit_member.level == kind
        ):
            issues.append(Issue(part, "not_supported", _explain_unsupported(network, kind, part)))
            continue
        for name, value in members.items():
            path = f"{part}.{name}"
            row = find_edit_member(network, kind, path)
            if row is None or row.reason:
                issues.append(Issue(path, "not_supported", _explain_unsupported(network, kind, path)))
                continue
            if row.field in edit.fields:
                issues.append(
                    Issue(path, "conflict", f"fields.{row.field} changes the same setting; give only one of them.")
                )
            if path == "targeting.locations" and not value and not row.can_clear:
                message = f"Without a location {network.title} would serve everywhere, or refuse it. Name at least one."
                issues.append(Issue(path, "required", message))
            elif isinstance(value, Sequence) and not isinstance(value, str):
                issues += _check_items(network, row, value, path)
    if not (edit.fields or edit.targeting or edit.creative):
        issues.append(Issue("fields", "required", "Name at least one thing to change."))
    raise_if_issues(issues)


def find_edit_member(network: Network, kind: Kind, path: str) -> EditMember | None:
    """Return the row of a member, or the row that refuses the member's whole part; None if the level has neither."""
    of_level = {row.path: row for row in network.edits if row.level == kind}
    return of_level.get(path) or of_level.get(path.partition(".")[0])


def _explain_unsupported(network: Network, kind: Kind, path: str) -> str:
    """Explain why a level refuses a member, and which level takes it."""
    row = find_edit_member(network, kind, path)
    if row is not None and row.reason:
        return f"{network.title}: {row.reason}."
    carried = [
        edit_member
        for edit_member in network.edits
        if not edit_member.reason and f"{edit_member.path}.".startswith(f"{path}.")
    ]
    natives = ", ".join(
        dict.fromkeys(
            f"{get_level(network, edit_member.level).native} ({edit_member.level})" for edit_member in carried
        )
    )
    if natives:
        return f"{network.title} takes it on the level {natives}; edit that."
    part = path.partition(".")[0]
    rows = [edit_member for edit_member in network.edits if edit_member.level == kind and not edit_member.reason]
    accepted = [edit_member.path.partition(".")[2] for edit_member in rows if edit_member.path.startswith(f"{part}.")]
    return f"{network.title} takes these in the {part} of this level: {', '.join(accepted) or 'none'}."


def _check_items(network: Network, row: EditMember, items: Sequence[Json], path: str) -> Iterator[Issue]:
    """Yield an issue for each member of an item that the network would ignore, and for each repeated ID."""
    ids: set[str] = set()
    for index, item in enumerate(items):
        if not isinstance(item, Mapping):  # genders and headlines are texts without members
            continue
        at = f"{path}.{index}"
        if str(item["id"]) in ids:
            yield Issue(at, "duplicate", "The list has an item with this id already; name each id once.")
        ids.add(str(item["id"]))
        kind = row.parse_type(str(item["id"])) if row.parse_type is not None else None
        if kind == "country":
            try:
                require_country_code(parse_country_code(str(item["id"])), f"{at}.id", network.other_countries)
            except InvalidInput as problem:
                yield from problem.issues
        if item.get("type") is not None and kind is None:
            message = f"{network.title} uses only the id, which contains no type; leave type out."
            yield Issue(f"{at}.type", "not_supported", message)
        elif item.get("type") is not None and item["type"] != kind:
            yield Issue(f"{at}.type", "conflict", f"The id belongs to a {kind}; give that type, or leave type out.")
        if item.get("radiusKm") is not None and (kind is None or kind not in row.radius_types):
            takes = (
                f"a radius around a {' or '.join(row.radius_types)} only" if row.radius_types else "no radius around it"
            )
            yield Issue(f"{at}.radiusKm", "not_supported", f"{network.title} takes {takes}.")
        if item.get("meta") is not None:
            message = f"{network.title} uses only the id; leave meta out."
            yield Issue(f"{at}.meta", "not_supported", message)


def merge_edit_parts(parts: Iterable[Callable[[], EditPart]]) -> tuple[dict[str, Json], list[Change]]:
    """Merge the parts of an edit (fields, targeting, creative) into one body, and return it with every change.

    Raises:
        InvalidInput: the issues of all parts at once.
    """
    body: dict[str, Json] = {}
    changes: list[Change] = []
    issues: list[Issue] = []
    for part in parts:
        try:
            changed, part_changes = part()
        except InvalidInput as problem:
            issues.extend(problem.issues)
            continue
        body |= changed
        changes += part_changes
    raise_if_issues(issues)
    return body, changes


def apply_targeting(
    parts: Mapping[str, RowT],
    new_members: Mapping[str, Json],
    build_change: Callable[[str, RowT, Json, str], Change],
    essence: Callable[[Json], Json] = lambda value: value,
) -> list[Change]:
    """Apply the targeting of an edit that :func:`check_edit` accepted, and return its changes.

    Args:
        parts: the rows of the adapter, by member.
        new_members: the members of the edit.
        build_change: applies one member to the current targeting and returns its change. It gets the name of the
            member, its row, its value, and the path for error messages.
        essence: removes from a native value what a write does not set, so that two values can be compared.

    Raises:
        InvalidInput: the issues of all members at once, such as ``no_change``.
    """
    changes: list[Change] = []
    issues: list[Issue] = []
    for name, value in new_members.items():
        if name not in parts:
            continue
        path = f"targeting.{name}"
        try:
            changes.append(require_change(build_change(name, parts[name], value, path), path, essence))
        except InvalidInput as problem:
            issues.extend(problem.issues)
    raise_if_issues(issues)
    return changes


def replace_members(
    parts: Mapping[str, tuple[str, PartBuilder]], current: Mapping[str, Json], new_members: Mapping[str, Json]
) -> tuple[dict[str, Json], list[Change]]:
    """Apply an edit's targeting whose parts are one native member each. Returns the new native members and each change.

    Raises InvalidInput with the issues of all members.
    """
    replaced: dict[str, Json] = {}

    def replace(name: str, row: tuple[str, PartBuilder], value: Json, path: str) -> Change:
        member, build = row
        replaced[member] = build(value, path)
        return Change(name, current.get(member), replaced[member])

    return replaced, apply_targeting(parts, new_members, replace)


def to_native_genders(network: str, natives: Mapping[str, GenderT], genders: Iterable[str], path: str) -> list[GenderT]:
    """Return the native genders of an edit. Raises InvalidInput for one that the network does not target."""
    if any(gender not in natives for gender in genders):
        raise invalid_input(path, "not_supported", f"{network} takes these genders: {', '.join(natives)}.")
    return [natives[gender] for gender in genders]


def list_item_ids(items: Sequence[Mapping[str, Json]]) -> list[str]:
    """Return the ids of an edit's places or interests. :func:`check_edit` has refused repeated ids."""
    return [str(item["id"]) for item in items]
