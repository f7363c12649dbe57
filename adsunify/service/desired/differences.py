"""Compares a document with the values that adsunify wrote and with the values at the networks. It writes nothing."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable, Iterator, Mapping, Sequence
from typing import Any, Literal, TypeVar

from attrs import field, frozen

from adsunify.actor import Actor
from adsunify.adapter.edits import unknown_field_issue
from adsunify.adapter.hierarchy import ParsedEntity
from adsunify.adapter.network import Network, get_level, unify_status
from adsunify.adapter.settings import find_lock_reason, list_settings, to_account_time
from adsunify.errors import InvalidInput, Issue, NotFound, raise_if_issues
from adsunify.launches.cells import Cell
from adsunify.launches.document import Document, WantedEntity
from adsunify.launches.drift import STATUS_FIELD, Drift, compare_entity
from adsunify.launches.uncompared import FIXED_MEMBERS, find_changed_members, find_uncompared_members, list_members
from adsunify.models.error_messages import find_similar
from adsunify.models.parsing import parse_model
from adsunify.plans.records import Change, Kind
from adsunify.service.core import Service
from adsunify.service.network_session import NetworkSession
from adsunify.store import connections
from adsunify.values.exact_json import Json

from .cells import (
    CellPlace,
    KnownCell,
    KnownState,
    list_created_entities,
    make_wanted_cells,
    read_known_state,
    read_wanted_fields,
)
from .reading import SETTABLE_STATUSES, Place, is_shown, list_document_settings, read_editable_entities, read_fields
from .written_fields import read_written_fields

DOCUMENT = "document"
"""The member of the request that holds the document."""
CONCURRENT_WORKS = 8
"""How many briefs are planned, and how many accounts are read, at the same time."""
T = TypeVar("T")
GONE = Drift("entity", "present", "not found")
"""The drift of an entity that does not exist in the account any more."""


@frozen
class DesiredTarget:
    """An entity with the values that the document wants.

    Attributes:
        account_id: the account of the entity.
        kind: the kind of the entity.
        id: the id of the entity.
        path: the path in the document that names it.
        wanted_fields: field -> value, with the status.
        known: the cell of a launch that created it.
        keeps_status: whether it should have the status that adsunify wrote last, because the launch sets only the
            status of the campaign.
        is_left: whether the document does not name it any more.
        deleted_after: the root entity of the cell, which is removed first. This entity is deleted when the root is
            gone, and never paused.
    """

    account_id: str
    kind: Kind
    id: str
    path: str
    wanted_fields: Mapping[str, Json] = field(factory=dict)
    known: KnownCell | None = None
    keeps_status: bool = False
    is_left: bool = False
    deleted_after: Place | None = None


@frozen
class EntityDifference:
    """The differences of one entity.

    Attributes:
        target: the entity with the wanted values.
        network: the code of the network.
        name: its name at the network; None if it does not exist.
        changes: the fields that differ from the document.
        drifted: the fields that somebody changed outside adsunify.
        locks: field -> why an edit cannot change it now.
        hidden: the wanted fields that no read shows. They are not compared.
        removal: whether an entity that the document does not name any more is paused or deleted.
    """

    target: DesiredTarget
    network: str
    name: str | None
    changes: tuple[Change, ...] = ()
    drifted: tuple[Drift, ...] = ()
    locks: Mapping[str, str] = field(factory=dict)
    hidden: frozenset[str] = frozenset()
    removal: Literal["pause", "delete"] | None = None


@frozen
class WantedCreation:
    """A cell that is not created completely.

    ``path``: the path of its account. ``known``: its operation so far. ``block``: why it cannot be created now.
    """

    launch: str
    cell: Cell
    path: str
    known: KnownCell | None = None
    block: str | None = None

    @property
    def place(self) -> CellPlace:
        """The name of the launch and the key of the cell."""
        return self.launch, self.cell.key


@frozen
class UncomparedCell:
    """The members of a brief that are not compared, and those among them that differ from the launched brief."""

    launch: str
    key: str
    members: tuple[str, ...]
    changed: tuple[str, ...]


@frozen
class Differences:
    """The differences of a document, in its order. ``known``: its state according to receipts."""

    document: Document
    known: KnownState
    creations: tuple[WantedCreation, ...] = ()
    entities: tuple[EntityDifference, ...] = ()
    uncompared: tuple[UncomparedCell, ...] = ()

    @property
    def is_empty(self) -> bool:
        """Whether nothing differs."""
        entities = any(entity.changes or entity.drifted or entity.removal for entity in self.entities)
        return not (self.creations or entities or any(cell.changed for cell in self.uncompared))


async def diff_document(service: Service, actor: Actor, *, document: Mapping[str, Json], delete: bool) -> Json:
    """Compare a document with the launched briefs and with the present values at the networks. Nothing is written.

    The answer lists what is to be created, changed (field: before, after) and paused. It also lists drift: fields that
    adsunify wrote and somebody changed outside adsunify (field: planned, found). ``isEmpty`` says that nothing differs.
    """
    return differences_to_json(await compute_differences(service, actor, document, delete))


async def compute_differences(
    service: Service, actor: Actor, document: Mapping[str, Json], delete: bool
) -> Differences:
    """Compare a document. ``delete``: delete the entities that it does not name any more, instead of pausing them.

    Raises:
        InvalidInput: with all issues.
        NotFound: the actor does not reach an account.
        ProviderError: a read failed.
    """
    parsed = parse_model(Document, document, DOCUMENT)
    known = await service.store.read(read_known_state, actor.workspace_id, parsed, service.store.clock)
    sessions = await _load_sessions(service, actor, parsed, known)
    raise_if_issues(_find_issues(parsed, sessions))
    creations, created = _match_cells(parsed, known, sessions)
    of_cells = await _run_bounded(_read_cell_targets(sessions, parsed, *cell) for cell in created)
    in_cells = [target for part in of_cells for target in part]
    raise_if_issues(_find_double_entities(parsed, in_cells))
    targets = [*in_cells, *_list_entity_targets(parsed), *_list_left_targets(parsed, known, sessions)]
    compared = await _run_bounded(
        _compare_account(session, [target for target in targets if target.account_id == account_id], delete)
        for account_id, session in sessions.items()
    )
    by_target = {id(difference.target): difference for part in compared for difference in part}
    return Differences(
        parsed,
        known,
        tuple(creations),
        tuple(by_target[id(target)] for target in targets),
        tuple(
            _find_uncompared(sessions[cell[2].account_id].adapter.network, cell, [by_target[id(each)] for each in part])
            for cell, part in zip(created, of_cells, strict=True)
        ),
    )


async def _run_bounded(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run works, at most :data:`CONCURRENT_WORKS` at the same time, and return their results in order."""
    slots = asyncio.Semaphore(CONCURRENT_WORKS)

    async def run(work: Coroutine[Any, Any, T]) -> T:
        async with slots:
            return await work

    return await asyncio.gather(*map(run, works))


async def _load_sessions(
    service: Service, actor: Actor, document: Document, known: KnownState
) -> dict[str, NetworkSession]:
    """Return the sessions of the accounts of a document. Accounts that only receipts name are skipped if out of reach.

    Raises NotFound, with the path of an account that the actor does not reach.
    """
    records = {account.id: account for account in await service.store.read(connections.list_accounts, actor)}
    paths = document.account_paths
    for account_id, path in paths.items():
        if account_id not in records:
            raise NotFound(
                f"{DOCUMENT}.{path}: this workspace has no such account, or this credential does not reach it."
            )
    left = [cell.account_id for cell in known.cells.values()] + [account_id for _, account_id, _, _ in known.entities]
    ids = dict.fromkeys(
        [*paths, *(left_id for left_id in left if left_id in records and records[left_id].status == "active")]
    )
    return {id_: NetworkSession(service, records[id_]) for id_ in ids}


def _find_issues(document: Document, sessions: Mapping[str, NetworkSession]) -> Iterator[Issue]:
    """Yield an issue for each level and field that the network of an entity does not have."""
    for index, entity in enumerate(document.entities):
        path, network = f"{DOCUMENT}.entities.{index}", sessions[entity.account_id].adapter.network
        try:
            get_level(network, entity.kind)
        except InvalidInput as problem:
            yield from (issue._replace(path=f"{path}.kind") for issue in problem.issues)
            continue
        yield from _find_field_issues(network, entity, path)


def _find_double_entities(document: Document, in_cells: Iterable[DesiredTarget]) -> Iterator[Issue]:
    """Yield an issue for each entity that a launch of the document has created.

    The brief of that launch sets its values.
    """
    launches = {(target.account_id, target.kind, target.id): target.path for target in in_cells}
    for index, entity in enumerate(document.entities):
        path = launches.get((entity.account_id, entity.kind, entity.id))
        if path is not None:
            message = (
                f"The cell {path.removeprefix(f'{DOCUMENT}.')} has created it. Change the brief of that cell instead."
            )
            yield Issue(f"{DOCUMENT}.entities.{index}", "conflict", message)


def _find_field_issues(network: Network, entity: WantedEntity, path: str) -> Iterator[Issue]:
    accepted = [setting.field for setting in list_document_settings(network, entity.kind)]
    for name in entity.model_extra or {}:
        if name not in accepted:
            issue = unknown_field_issue(network, entity.kind, name, f"{path}.{name}")
            similar = find_similar(name, ("accountId", "kind", "id", STATUS_FIELD, *accepted))
            hint = f" Did you mean {similar}?" if similar else ""
            yield issue._replace(message=f"{issue.message}{hint}")


# -- what the document wants --------------------------------------------------------------------------------------

CreatedCell = tuple[str, int, Cell, KnownCell]
"""A created cell: the name of its launch, its position there, the wanted cell, and the known cell."""


def _match_cells(
    document: Document, known: KnownState, sessions: Mapping[str, NetworkSession]
) -> tuple[list[WantedCreation], list[CreatedCell]]:
    """Return the cells that are to be created, and the created cells. Raises InvalidInput with all issues."""
    creations: list[WantedCreation] = []
    created: list[CreatedCell] = []
    issues: list[Issue] = []
    for name, launch in document.launches.items():
        path = f"{DOCUMENT}.launches.{name}"
        try:
            cells = make_wanted_cells(name, launch, sessions)
        except InvalidInput as problem:
            issues += [issue._replace(path=f"{path}.{issue.path}") for issue in problem.issues]
            continue
        for position, cell in enumerate(cells):
            known_cell = known.cells.get((name, cell.key))
            if known_cell is not None and known_cell.account_id != cell.account_id:
                message = "The key belongs to a cell of another account. Give this cell another key."
                issues.append(Issue(f"{path}.accounts.{position}.key", "conflict", message))
            elif known_cell is not None and known_cell.is_created:
                issues += _find_fixed_issues(known_cell, cell, f"{path}.accounts.{position}.campaign")
                created.append((name, position, cell, known_cell))
            else:
                block = known.find_block((name, cell.key))
                creations.append(WantedCreation(name, cell, f"{path}.accounts.{position}", known_cell, block))
    raise_if_issues(issues)
    return creations, created


def _find_fixed_issues(known: KnownCell, cell: Cell, path: str) -> Iterator[Issue]:
    """Yield an issue for each changed member that is fixed after the creation. Amounts would get another meaning."""
    for member in find_changed_members(known.brief or {}, cell.brief or {}):
        if member in FIXED_MEMBERS:
            message = "A created campaign keeps it. Give the cell another key, and another campaign is created."
            yield Issue(f"{path}.{member}", "not_supported", message)


async def _read_cell_targets(
    sessions: Mapping[str, NetworkSession], document: Document, name: str, position: int, cell: Cell, known: KnownCell
) -> list[DesiredTarget]:
    """Return the entities of a created cell with the values that the document wants."""
    session, path = sessions[cell.account_id], f"{DOCUMENT}.launches.{name}"
    try:
        fields = await read_wanted_fields(session, known, cell, position)
    except InvalidInput as problem:
        raise InvalidInput([issue._replace(path=f"{path}.{issue.path}") for issue in problem.issues]) from None
    status = document.launches[name].status
    entities = list_created_entities(session, known)
    root = _find_root_kind(session.adapter.network, [kind for kind, _ in entities])
    return [
        DesiredTarget(
            cell.account_id,
            kind,
            entity_id,
            f"{path}.accounts.{position}",
            fields.get(kind, {}) | ({STATUS_FIELD: status} if kind == root and status is not None else {}),
            known,
            keeps_status=kind != root and status is not None,
        )
        for kind, entity_id in entities
    ]


def _find_uncompared(network: Network, created: CreatedCell, differences: Sequence[EntityDifference]) -> UncomparedCell:
    """Return the members of the brief of a created cell that were not compared."""
    name, _, cell, known = created
    brief = cell.brief or {}
    compared = {
        field
        for difference in differences
        for field in difference.target.wanted_fields
        if field not in difference.hidden
    }
    members = find_uncompared_members(network, brief, compared)
    present = list_members(brief)
    changed = [
        member
        for member in find_changed_members(known.brief or {}, brief)
        if member in members or member not in present
    ]
    return UncomparedCell(name, cell.key, tuple(members), tuple(changed))


def _find_root_kind(network: Network, kinds: Iterable[Kind]) -> Kind | None:
    """Return the highest kind that is created paused. Its status decides whether anything below it runs."""
    for kind in kinds:
        level = get_level(network, kind)
        if unify_status(level, level.initial_status) == "paused":
            return kind
    return None


def _list_entity_targets(document: Document) -> Iterator[DesiredTarget]:
    for index, entity in enumerate(document.entities):
        yield DesiredTarget(
            entity.account_id, entity.kind, entity.id, f"{DOCUMENT}.entities.{index}", entity.wanted_fields
        )


def _list_left_targets(
    document: Document, known: KnownState, sessions: Mapping[str, NetworkSession]
) -> Iterator[DesiredTarget]:
    """Yield the entities that a file of this name has created or changed, and that the document does not name."""
    named = {(entity.account_id, entity.kind, entity.id) for entity in document.entities}
    wanted_cells = {(name, cell.cell_key) for name, launch in document.launches.items() for cell in launch.accounts}
    for place, cell in known.cells.items():
        session = sessions.get(cell.account_id)
        if place in wanted_cells or session is None or not (cell.is_own and cell.is_created):
            continue
        created = dict(list_created_entities(session, cell))
        root = _find_root_kind(session.adapter.network, created)
        if root is None:
            continue
        for kind, entity_id in created.items():
            if (cell.account_id, kind, entity_id) not in named:
                after = None if kind == root else (root, created[root])
                yield DesiredTarget(
                    cell.account_id, kind, entity_id, DOCUMENT, known=cell, is_left=True, deleted_after=after
                )
            if kind == root:
                break
    for _, account_id, kind, entity_id in known.entities:
        if account_id in sessions and (account_id, kind, entity_id) not in named:
            yield DesiredTarget(account_id, kind, entity_id, DOCUMENT, is_left=True)


# -- what the networks hold ---------------------------------------------------------------------------------------


async def _compare_account(
    session: NetworkSession, targets: Sequence[DesiredTarget], delete: bool
) -> list[EntityDifference]:
    if not targets:
        return []
    entities, written_fields = await asyncio.gather(
        read_editable_entities(session, [*dict.fromkeys(_list_places(targets))]),
        read_written_fields(session),
    )
    return [
        _compare_target(
            session,
            target,
            entities[target.kind, target.id],
            written_fields.get((target.kind, target.id), {}),
            delete if target.deleted_after is None else delete and entities[target.deleted_after] is None,
        )
        for target in targets
    ]


def _list_places(targets: Iterable[DesiredTarget]) -> Iterator[Place]:
    for target in targets:
        yield target.kind, target.id
        if target.deleted_after is not None:
            yield target.deleted_after


def _compare_target(
    session: NetworkSession,
    target: DesiredTarget,
    entity: ParsedEntity | None,
    written_fields: Mapping[str, Json],
    delete: bool,
) -> EntityDifference:
    network, account = session.adapter.network, session.native_account
    if entity is None:
        return EntityDifference(target, network.code, None, drifted=() if target.is_left else (GONE,))
    if target.is_left:
        removal: Literal["pause", "delete"] | None = "delete" if delete else None
        if not delete and entity.status == "active" and target.deleted_after is None:
            removal = "pause"
        return EntityDifference(target, network.code, entity.name, removal=removal)
    current_fields = read_fields(network, account, target.kind, entity)
    hidden = frozenset(
        setting.field
        for setting in list_document_settings(network, target.kind)
        if setting.field in target.wanted_fields and not is_shown(setting, entity)
        if target.known is not None
    )
    wanted_fields = {name: value for name, value in target.wanted_fields.items() if name not in hidden}
    statuses = (written_fields.get(STATUS_FIELD), entity.status)
    if target.keeps_status and all(status in SETTABLE_STATUSES for status in statuses):
        wanted_fields[STATUS_FIELD] = written_fields[STATUS_FIELD]
    compared = compare_entity(network, account, target.kind, wanted_fields, written_fields, current_fields)
    changed = {change.field for change in compared.changes}
    now = to_account_time(account, session.service.now())
    locks = {
        setting.field: reason
        for setting in list_settings(network, target.kind)
        if setting.field in changed
        if (reason := find_lock_reason(network, setting, entity.native, now)) is not None
    }
    return EntityDifference(target, network.code, entity.name, compared.changes, compared.drifted, locks, hidden)


# -- as callers see it --------------------------------------------------------------------------------------------


def differences_to_json(differences: Differences) -> dict[str, Json]:
    """Return the differences as responses show them."""
    return {
        "isEmpty": differences.is_empty,
        "create": [_creation_to_json(creation) for creation in differences.creations],
        "change": [
            {**_entity_to_json(entity), "fields": _changes_to_json(entity)}
            for entity in differences.entities
            if entity.changes
        ],
        "pause": [
            {**_entity_to_json(entity), "action": entity.removal} for entity in differences.entities if entity.removal
        ],
        "drifted": [
            {**_entity_to_json(entity), "fields": _drift_to_json(entity)}
            for entity in differences.entities
            if entity.drifted
        ],
        "notCompared": [
            {"launch": cell.launch, "key": cell.key, "members": list(cell.members), "changed": list(cell.changed)}
            for cell in differences.uncompared
        ],
    }


def _creation_to_json(creation: WantedCreation) -> dict[str, Json]:
    return {
        "launch": creation.launch,
        "key": creation.cell.key,
        "accountId": creation.cell.account_id,
        "network": creation.cell.network,
        "blocked": creation.block,
    }


def _entity_to_json(entity: EntityDifference) -> dict[str, Json]:
    target = entity.target
    place: Place = (target.kind, target.id)
    launch = {} if target.known is None else dict(zip(("launch", "key"), target.known.place, strict=True))
    return {
        "accountId": target.account_id,
        "network": entity.network,
        "kind": place[0],
        "entityId": place[1],
        "name": entity.name,
        **launch,
    }


def _changes_to_json(entity: EntityDifference) -> list[Json]:
    return [
        {
            "field": change.field,
            "before": change.before,
            "after": change.after,
            "locked": entity.locks.get(change.field),
        }
        for change in entity.changes
    ]


def _drift_to_json(entity: EntityDifference) -> list[Json]:
    return [{"field": drift.field, "planned": drift.planned, "found": drift.found} for drift in entity.drifted]
