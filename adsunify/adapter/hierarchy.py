"""The hierarchy of an account as reads return it: entities, pages of entities, and the tree."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from attrs import field, frozen

from adsunify.adapter.network import Account, Level, Network, get_level, read_cell, read_native_status, unify_status
from adsunify.errors import (
    InvalidInput,
    Issue,
    ProviderNotFound,
    ProviderUnreadable,
)
from adsunify.http.messages import Flow
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id

MAX_FILTER_PAGES = 20
"""A list that is filtered on our side reads at most this many provider pages for one call."""


# -- what reads return --------------------------------------------------------------------------------------------


@frozen
class ParsedEntity:
    """One native entity: ``status`` is the unified one (None where unknown), ``native`` the whole as it was read."""

    kind: str
    id: str
    parent_id: str | None
    name: str | None
    status: str | None
    native_status: str | None
    native: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        return {
            "kind": self.kind,
            "id": self.id,
            "parentId": self.parent_id,
            "name": self.name,
            "status": self.status,
            "nativeStatus": self.native_status,
            "native": dict(self.native),
        }


@frozen
class EntityPage:
    """One page of entities or catalog rows; ``cursor`` is the network's own, None at the end."""

    entities: tuple[ParsedEntity, ...]
    cursor: str | None = None


@frozen
class ListQuery:
    """How a list is asked for. ``cursor`` is the network's own (the service signs and unsigns it)."""

    limit: int = 50
    cursor: str | None = None
    parent_id: str | None = None
    status: str | None = None
    search: str | None = None


@frozen
class EntityTree:
    """The native hierarchy, flat, parents first."""

    nodes: tuple[ParsedEntity, ...]
    is_truncated: bool = False


@frozen
class DiscoveredAccount:
    """An ad account that a token reaches; ``status`` is ``active`` or a native word where it cannot serve."""

    native_id: str
    name: str
    currency: str | None
    timezone: str | None
    native_status: str | None = None
    extras: Mapping[str, str] = field(factory=dict)


def parse_entity(level: Level, native: Mapping[str, Json], parent_id: str | None = None) -> ParsedEntity:
    """A native entity read by its level's pointers; raises ProviderUnreadable where it has no id."""
    entity_id = parse_id(get_value(native, level.id))
    if entity_id is None:
        raise ProviderUnreadable(f"A {level.native} in the answer has no id.")
    native_status = read_native_status(level, native)
    parent = parent_id if parent_id is not None else parse_id(get_value(native, level.parent)) if level.parent else None
    return ParsedEntity(
        level.kind,
        entity_id,
        parent,
        get_text(native, level.name),
        unify_status(level, native_status),
        native_status,
        native,
    )


def drop_orphans(nodes: Iterable[ParsedEntity]) -> tuple[ParsedEntity, ...]:
    """The nodes, given parents first, without those whose parent was not read (deleted, or out of reach) and all that
    hangs on them."""
    connected: list[ParsedEntity] = []
    connected_ids: set[str] = set()
    for node in nodes:
        if node.parent_id is None or node.parent_id in connected_ids:
            connected_ids.add(node.id)
            connected.append(node)
    return tuple(connected)


# -- whose an entity is --------------------------------------------------------------------------------------------


def require_valid_id(network: Network, kind: str, entity_id: str) -> None:
    """Raise ProviderNotFound for what is no id of this kind: nothing is asked for it."""
    level = get_level(network, kind)
    if re.fullmatch(level.id_pattern, entity_id) is None:
        raise ProviderNotFound(f"{network.title} has no {level.native} of such an id.")


def ensure_owned(
    network: Network, account: Account, entity: ParsedEntity, above: Callable[[Level, str], Flow[ParsedEntity]]
) -> Flow[tuple[ParsedEntity, ...]]:
    """The entity as it was read, for a network whose requests do not name the account; then what it hangs on, as far
    up as has to be read for one that says whose it is. ``above`` reads one without asking whose it is.

    Raises ProviderNotFound for another account's, ProviderUnreadable where the network does not say.
    """
    line = [entity]
    while True:
        level = get_level(network, line[-1].kind)
        owner = parse_id(read_cell(line[-1].native, level.account)) if level.account else None
        if owner == account.native_id:
            return tuple(line)
        if owner is not None:
            raise ProviderNotFound(
                f"{network.title}: the account has no {get_level(network, entity.kind).native} {entity.id}."
            )
        if not level.parent_kind or line[-1].parent_id is None:
            raise ProviderUnreadable(f"{network.title} does not say which account the {level.native} belongs to.")
        line.append((yield from above(get_level(network, level.parent_kind), line[-1].parent_id)))


# -- lists --------------------------------------------------------------------------------------------------------


def check_query(network: Network, kind: str, query: ListQuery) -> Level:
    """The level of a list, its parent and status filters held against the table."""
    level = get_level(network, kind)
    issues: list[Issue] = []
    if query.parent_id is not None and not level.parent_kind:
        issues.append(Issue("parentId", "not_supported", f"A {kind} of {network.title} has no parent to filter by."))
    if query.status is not None and query.status not in level.status_filters:
        accepted = ", ".join(level.status_filters) or "none"
        issues.append(
            Issue("status", "choice", f"{network.title} filters a {kind} by these native statuses: {accepted}.")
        )
    if issues:
        raise InvalidInput(issues)
    return level
