"""Prepares one change set from the differences between a document and the networks."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from attrs import evolve
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.errors import Conflict, InvalidInput, Issue, NotFound
from adsunify.launches.drift import STATUS_FIELD
from adsunify.launches.states import OPEN_STATUSES
from adsunify.outcomes.reversals import to_edit_value
from adsunify.service.core import Idempotency, Service, UseCaseResult
from adsunify.service.launches.use_cases import begin_and_view, find_replay, get_change_set, save_change_set
from adsunify.store.applies import find_latest_apply, lock_apply, require_no_open_apply
from adsunify.store.change_sets import Claim, NewMember
from adsunify.store.clock import Clock
from adsunify.values.exact_json import Json

from .cells import CellPlace, make_cell_key, make_entity_key, make_origin, read_known_state
from .differences import DOCUMENT, Differences, EntityDifference, WantedCreation, compute_differences

MAX_MEMBERS = 600
"""The maximum number of members of a change set of a file: the same as for the cells of a launch."""
AFTER_EDITS = "Its edits are written first. Apply the document again, and the activation is planned with them."
AFTER_PAUSE = "It is paused first. Apply the document again, and its edits are planned."
CANNOT_APPLY = "What differs cannot be applied: no edit sets it, or the entity is gone."
NOTHING_DIFFERS = "The networks hold what the document wants, so there is nothing to apply."


async def apply_document(
    service: Service,
    actor: Actor,
    *,
    document: Mapping[str, Json],
    delete: bool,
    skip_invalid: bool,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare one change set that makes the networks agree with a document. Nothing is written until it is executed.

    It creates the cells that are missing (paused), edits what differs, and pauses the entities that the document does
    not name any more; with ``delete`` it deletes them. A workspace has one open change set of a file at a time (409
    ``run_open``). If nothing can be applied, the answer is 422 ``nothing_to_do``.
    """
    replayed = await find_replay(service, actor, idempotency)
    if replayed is not None:
        return UseCaseResult(await get_change_set(service, actor, change_set_id=replayed), replayed=True)
    store = service.store
    seen_id = await store.read(_find_latest, actor.workspace_id, store.clock)
    differences = await compute_differences(service, actor, document, delete)
    members = list(_list_members(differences))
    if all(member.reason is not None for member in members):
        raise InvalidInput([Issue(DOCUMENT, "nothing_to_do", _explain_nothing(differences, members))])
    if len(members) > MAX_MEMBERS:
        message = f"differs in {len(members):,} changes; a change set has at most {MAX_MEMBERS}. Split the file."
        raise InvalidInput([Issue(DOCUMENT, "too_many", message)])

    def save(connection: Connection) -> tuple[str, Claim | None]:
        lock_apply(connection, actor.workspace_id, seen_id, store.clock)
        _require_same_state(connection, actor.workspace_id, differences, store.clock)
        return save_change_set(
            connection,
            actor,
            None,
            "apply",
            members,
            skip_invalid,
            idempotency,
            service.settings.lease,
            store.clock,
        )

    return await begin_and_view(service, actor, await store.write(save))


def _require_same_state(connection: Connection, workspace_id: str, differences: Differences, clock: Clock) -> None:
    """Raise Conflict ``run_open`` if a cell to be created was prepared after the receipts were read."""
    known = read_known_state(connection, workspace_id, differences.document, clock)
    for place in [creation.place for creation in differences.creations]:
        if known.identify(place) != differences.known.identify(place):
            raise Conflict(
                f"The cell {place[1]} of the launch {place[0]} was prepared while the networks were read. Apply the "
                "file again.",
                code="run_open",
            )


def _find_latest(connection: Connection, workspace_id: str, clock: Clock) -> str | None:
    """Return the latest change set of a file. Raises Conflict if it is open."""
    require_no_open_apply(connection, workspace_id, clock)
    return find_latest_apply(connection, workspace_id)


async def find_open_apply(service: Service, actor: Actor) -> Json:
    """Return the open change set of a file in the workspace; None without one, or if the actor may not see it."""
    store = service.store
    latest_id = await store.read(find_latest_apply, actor.workspace_id)
    try:
        latest = None if latest_id is None else await get_change_set(service, actor, change_set_id=latest_id)
    except NotFound:
        return None
    return latest if latest is not None and latest["status"] in OPEN_STATUSES else None


def _explain_nothing(differences: Differences, members: Sequence[NewMember]) -> str:
    reasons = " ".join(dict.fromkeys(str(member.reason) for member in members))
    return reasons or (NOTHING_DIFFERS if differences.is_empty else CANNOT_APPLY)


def _list_members(differences: Differences) -> Iterator[NewMember]:
    """Yield the members, pauses first, so that the first writes stop the unwanted entities."""
    for difference in differences.entities:
        if difference.removal is not None:
            mutation: Json = {"action": "delete"} if difference.removal == "delete" else _make_status("paused")
            yield _make_change(differences, difference, difference.removal, mutation)
    edited = {
        difference.target.known.place
        for difference in differences.entities
        if difference.target.known and _is_edited(difference)
    }
    activated = {
        difference.target.known.place
        for difference in differences.entities
        if difference.target.known and not difference.target.keeps_status and _get_new_status(difference) == "active"
    }
    for difference in differences.entities:
        known = difference.target.known
        if difference.target.keeps_status and known is not None and known.place in activated:
            # the activation of the whole cell also sets the status of this entity
            difference = evolve(
                difference, changes=tuple(change for change in difference.changes if change.field != STATUS_FIELD)
            )
        yield from _list_changes(differences, difference, edited)
    for creation in differences.creations:
        yield _make_creation(differences, creation)


def _make_status(status: Json) -> dict[str, Json]:
    return {"action": "status", "status": status}


def _get_new_status(difference: EntityDifference) -> Json:
    """Return the status that the document wants; None if it does not differ."""
    return next((change.after for change in difference.changes if change.field == STATUS_FIELD), None)


def _is_edited(difference: EntityDifference) -> bool:
    return any(change.field != STATUS_FIELD for change in difference.changes)


def _list_changes(
    differences: Differences, difference: EntityDifference, edited: Collection[CellPlace]
) -> Iterator[NewMember]:
    """Yield the changes of an entity. ``edited``: the cells with edits. A later change set activates them.

    The operations of a change set are executed at the same time, and an edit of some networks sends the whole entity
    with the status that it read. So one change set never edits an entity and also pauses or activates it.
    """
    fields = {
        change.field: to_edit_value(change.after) for change in difference.changes if change.field != STATUS_FIELD
    }
    status, known = _get_new_status(difference), difference.target.known
    if status == "paused":
        yield _make_change(differences, difference, STATUS_FIELD, _make_status(status))
    if fields:
        edit = _make_change(differences, difference, "edit", {"action": "edit", "edit": {"fields": fields}})
        yield evolve(edit, reason=AFTER_PAUSE) if status == "paused" else edit
    if status != "active":
        return
    if known is None or difference.target.keeps_status:
        activation = _make_change(differences, difference, STATUS_FIELD, _make_status(status))
        is_deferred = bool(fields)
    else:  # this also activates everything that was created below the campaign
        task = {
            "do": "activate",
            "operationId": known.operation.record.id,
            **make_origin(differences.document, known.place),
        }
        key = f"{make_cell_key(differences.document, known.place)}:activate"
        activation = NewMember(key, difference.target.account_id, difference.network, task)
        is_deferred = known.place in edited
    yield evolve(activation, reason=AFTER_EDITS) if is_deferred else activation


def _make_change(
    differences: Differences, difference: EntityDifference, word: str, mutation: Mapping[str, Json]
) -> NewMember:
    target = difference.target
    if target.known is not None:
        key = f"{make_cell_key(differences.document, target.known.place)}:{target.kind}:{word}"
    else:
        key = f"{make_entity_key(differences.document, target.account_id, target.kind, target.id)}:{word}"
    place = None if target.known is None else target.known.place
    task = {
        "do": "change",
        "path": target.path,
        "mutation": {**mutation, "kind": target.kind, "entityId": target.id},
        **make_origin(differences.document, place),
    }
    return NewMember(key, target.account_id, difference.network, task)


def _make_creation(differences: Differences, creation: WantedCreation) -> NewMember:
    cell, known = creation.cell, creation.known
    key = make_cell_key(differences.document, creation.place)
    task: dict[str, Json] = {"do": "create", "path": creation.path, "brief": cell.brief}
    if creation.block is not None:
        return NewMember(key, cell.account_id, cell.network, {"do": "nothing"}, reason=creation.block)
    if known is not None and known.operation.is_begun:
        task = {"do": "resume", "operationId": known.operation.record.id}
    elif known is not None:
        task["replaces"] = known.operation.record.id
        if known.launch_id is not None:
            task["replacesCell"] = [known.launch_id, cell.key]
    return NewMember(key, cell.account_id, cell.network, task | make_origin(differences.document, creation.place))
