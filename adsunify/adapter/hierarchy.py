"""Reading an account's hierarchy: entities, pages of entities and the tree, and the reads that adapters share."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from attrs import evolve, field, frozen

from adsunify.adapter.account import Account
from adsunify.adapter.flows import MAX_PAGES, fetch_pages, fetch_response
from adsunify.adapter.network import Extra, Level, Network, get_level, read_cell, read_native_status, read_status
from adsunify.errors import (
    InvalidInput,
    Issue,
    ProviderNotFound,
    ProviderUnreadable,
    invalid_input,
)
from adsunify.http.messages import Flow, Request, Response
from adsunify.plans.records import Action
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_text, get_value, parse_id, require_id

LIST_PAGE_SIZE = 500
"""The number of rows of a page when a whole list is read."""
MAX_FILTER_PAGES = 20
"""The maximum number of native pages that one call reads if the list is filtered on our side."""


# -- what reads return --------------------------------------------------------------------------------------------


@frozen
class ParsedEntity:
    """One native entity. ``status`` is the unified status (None if unknown); ``native`` is the whole native object."""

    kind: str
    id: str
    parent_id: str | None
    name: str | None
    status: str | None
    native_status: str | None
    native: Mapping[str, Json]

    def to_json(self) -> dict[str, Json]:
        """Return the entity as a response shows it."""
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
    """One page of entities. ``cursor`` is the network's own; None at the end."""

    entities: tuple[ParsedEntity, ...]
    cursor: str | None = None


@frozen
class ListQuery:
    """The parameters of a list. ``cursor`` is the network's own; the service signs it for callers."""

    limit: int = 50
    cursor: str | None = None
    parent_id: str | None = None
    status: str | None = None
    search: str | None = None

    def has_match(self, entity: ParsedEntity) -> bool:
        """Return whether the entity has the native status, and the text in its name. The search ignores case."""
        has_name = self.search is None or self.search.casefold() in (entity.name or "").casefold()
        return has_name and self.status in (None, entity.native_status)


@frozen
class EntityTree:
    """The native hierarchy, flat, parents first."""

    nodes: tuple[ParsedEntity, ...]
    is_truncated: bool = False


@frozen
class DiscoveredAccount:
    """An ad account that a token can use. ``native_status``: the native status; None if the network has none."""

    native_id: str
    name: str
    currency: str | None
    timezone: str | None
    native_status: str | None = None
    extras: Mapping[str, str] = field(factory=dict)


def parse_account(
    network: Network,
    row: Mapping[str, Json],
    timezone: str | None,
    native_status: str | None = None,
    *,
    id_pointer: str = "/id",
) -> DiscoveredAccount:
    """Parse an account with its name, its currency and the extras of the network's table.

    Raises ProviderUnreadable if it has no id.
    """
    native_id = require_id(row, id_pointer, "account")
    extras = {extra.name: _read_extra(extra, row) for extra in network.extras if extra.native}
    return DiscoveredAccount(
        native_id,
        get_text(row, "/name") or native_id,
        get_text(row, "/currency"),
        timezone,
        native_status,
        {name: text for name, text in extras.items() if text is not None},
    )


def _read_extra(extra: Extra, row: Mapping[str, Json]) -> str | None:
    if callable(extra.native):
        return extra.native(row)
    if extra.form == "flag":
        value = get_value(row, extra.native)
        return str(value).lower() if isinstance(value, bool) else None
    return get_text(row, extra.native) or None


def parse_entity(level: Level, native: Mapping[str, Json], parent_id: str | None = None) -> ParsedEntity:
    """Parse a native entity with the pointers of its level. Raises ProviderUnreadable if it has no id."""
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
        read_status(level, native),
        native_status,
        native,
    )


def require_same_entity(network: Network, level: Level, entity: ParsedEntity, entity_id: str) -> ParsedEntity:
    """Return the entity that was requested by its ID. Raises ProviderUnreadable if it has another ID."""
    if entity.id != entity_id:
        raise ProviderUnreadable(f"{network.title} answered another {level.native} than the requested one.")
    return entity


def drop_orphans(nodes: Iterable[ParsedEntity]) -> tuple[ParsedEntity, ...]:
    """Return the nodes without those whose parent is missing (deleted, or not readable), and without their descendants.

    ``nodes`` has parents before children.
    """
    connected: list[ParsedEntity] = []
    connected_ids: set[str] = set()
    for node in nodes:
        if node.parent_id is None or node.parent_id in connected_ids:
            connected_ids.add(node.id)
            connected.append(node)
    return tuple(connected)


def fetch_tree(
    network: Network,
    build_request: Callable[[Level], Request],
    following: Callable[[Request, Response], Request | None],
    parse_entities: Callable[[Level, Response], Iterable[ParsedEntity]],
) -> Flow[EntityTree]:
    """Fetch all pages of all levels.

    Args:
        network: the tables of the network.
        build_request: builds the request of the first page of a level.
        following: builds the request of the next page from a request and its response; None at the end.
        parse_entities: parses a page of a level.
    """
    nodes: list[ParsedEntity] = []
    for level in network.levels:
        for response in (yield from fetch_pages(network, build_request(level), following)):
            nodes += parse_entities(level, response)
    return EntityTree(drop_orphans(nodes))


# -- ownership of entities ----------------------------------------------------------------------------------------


def is_valid_id(network: Network, kind: str, entity_id: str) -> bool:
    """Return whether the text can be an id of this kind."""
    return re.fullmatch(get_level(network, kind).id_pattern, entity_id) is not None


def require_valid_id(network: Network, kind: str, entity_id: str) -> None:
    """Raise ProviderNotFound if the text cannot be an id of this kind, so that no request is sent for it."""
    if not is_valid_id(network, kind, entity_id):
        raise ProviderNotFound(f"{network.title} has no {get_level(network, kind).native} with such an id.")


def get_last_part(id_: str) -> str:
    """Return the last part of an id that is a path or a URN, as lists show it."""
    return id_.rpartition("/")[2].rpartition(":")[2]


def fetch_lineage(
    network: Network,
    account: Account,
    kind: str,
    entity_id: str,
    fetch_level_entity: Callable[[Level, str], Flow[ParsedEntity]],
) -> Flow[tuple[ParsedEntity, ...]]:
    """Fetch an entity of the account, for networks whose requests for an entity do not name the account.

    The flow reads parents until one of them names its account. ``fetch_level_entity`` reads an entity of any account.

    Returns:
        The entity and the parents that were read.

    Raises:
        ProviderNotFound: the entity belongs to another account.
        ProviderUnreadable: the network does not name the account.
    """
    line = [(yield from fetch_level_entity(get_level(network, kind), entity_id))]
    while True:
        level = get_level(network, line[-1].kind)
        owner = parse_id(read_cell(line[-1].native, level.account)) if level.account else None
        if owner == account.native_id:
            return tuple(line)
        if owner is not None:
            native = get_level(network, kind).native
            raise ProviderNotFound(f"{network.title}: the account has no {native} {entity_id}.")
        if not level.parent_kind or line[-1].parent_id is None:
            raise ProviderUnreadable(f"{network.title} does not say which account the {level.native} belongs to.")
        line.append((yield from fetch_level_entity(get_level(network, level.parent_kind), line[-1].parent_id)))


def fetch_listed_parent(
    list_entities: Callable[[str, ListQuery], Flow[EntityPage]], kind: str, entity_id: str
) -> Flow[str | None]:
    """Find the parent of an entity in the list of the entity's kind; None if the list does not have the entity.

    Networks that name the parent nowhere else need it. ``list_entities`` is the function of that name in the adapter's
    ``reads.py``, bound to an account.
    """
    query = ListQuery(LIST_PAGE_SIZE)
    for _ in range(MAX_PAGES):
        page = yield from list_entities(kind, query)
        for entity in page.entities:
            if entity.id == entity_id:
                return entity.parent_id
        if page.cursor is None:
            break
        query = evolve(query, cursor=page.cursor)
    return None


# -- entities that cannot be changed -------------------------------------------------------------------------------


_ACTION_WORDS: Mapping[Action, str] = {
    "create": "a new entity below it",
    "update": "a native update",
    "edit": "an edit",
    "status": "a change of its status",
    "delete": "its deletion",
    "activate": "an activation",
}


def is_action_accepted(level: Level, status: str | None, native_status: str | None, action: Action) -> bool:
    """Return whether the network accepts this action on an entity with this unified and native status."""
    accepted = level.accepted_actions.get(native_status or "")
    return status != "deleted" and (accepted is None or action in accepted)


def require_accepted_action(network: Network, entity: ParsedEntity, action: Action, path: str) -> None:
    """Raise InvalidInput ``deleted`` if the entity is deleted, or archived so that the network refuses this action.

    ``path`` is where the request names the entity. The action ``create`` means the creation of an entity below it.
    """
    level = get_level(network, entity.kind)
    if is_action_accepted(level, entity.status, entity.native_status, action):
        return
    if action == "delete":
        raise invalid_input(path, "deleted", f"The {level.label} is {entity.status} already.")
    message = f"The {level.label} is {entity.status}: {network.title} does not accept {_ACTION_WORDS[action]}."
    accepted = [
        words
        for other, words in _ACTION_WORDS.items()
        if is_action_accepted(level, entity.status, entity.native_status, other)
    ]
    if accepted:
        message += f" It accepts {' and '.join(accepted)}."
    raise invalid_input(path, "deleted", message)


# -- lists --------------------------------------------------------------------------------------------------------


def check_query(network: Network, kind: str, query: ListQuery) -> Level:
    """Check the parent and status filters of a list against the table, and return the level."""
    level = get_level(network, kind)
    issues: list[Issue] = []
    if query.parent_id is not None and not level.parent_kind:
        issues.append(Issue("parentId", "not_supported", f"A {kind} of {network.title} has no parent to filter by."))
    if query.status is not None and query.status not in (*level.status_filters, *level.hidden_statuses):
        accepted = ", ".join(level.status_filters) or "none"
        issues.append(
            Issue("status", "choice", f"{network.title} filters a {kind} by these native statuses: {accepted}.")
        )
    if issues:
        raise InvalidInput(issues)
    return level


def is_listed(level: Level, query: ListQuery, entity: ParsedEntity) -> bool:
    """Return whether a list has the entity. Without a status it leaves out ``Level.hidden_statuses``."""
    is_hidden = query.status is None and entity.native_status in level.hidden_statuses
    return query.has_match(entity) and not is_hidden


def fetch_entity_page(
    network: Network,
    request: Request,
    following: Callable[[Request, Response], Request | None],
    parse_page: Callable[[Response], EntityPage],
) -> Flow[EntityPage]:
    """Fetch pages of a list until one has an entity, at most :data:`MAX_FILTER_PAGES`, and return the last of them.

    Args:
        network: the tables of the network.
        request: the request of the first page.
        following: builds the request of the next page from a request and its response; None at the end.
        parse_page: parses a response to the entities that match the query, and the cursor of the next page.

    Raises:
        ProviderUnreadable: a page names itself as the next page.
    """
    for _ in range(MAX_FILTER_PAGES):
        response = yield from fetch_response(network, request)
        page = parse_page(response)
        next_request = following(request, response)
        if next_request == request:
            raise ProviderUnreadable(f"{network.title}: the list does not end, because its cursor repeats.")
        if page.entities or next_request is None:
            break
        request = next_request
    return page
