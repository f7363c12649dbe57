"""The use cases of launches and change sets."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Mapping, Sequence

from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.errors import Conflict, Forbidden, NotFound, OperationError
from adsunify.launches.cells import Cell, make_cells
from adsunify.launches.states import CellState, ChangeSetAction
from adsunify.models.launch import NewLaunch
from adsunify.service.core import Idempotency, Service, UseCaseResult
from adsunify.service.cursors import Position, decode_cursor, encode_cursor
from adsunify.service.network_session import NetworkSession
from adsunify.store import change_set_runs, change_sets, connections, launches, operations, people
from adsunify.store.change_sets import ChangeSetRecord, Claim, NewMember
from adsunify.store.clock import Clock, new_id
from adsunify.store.launches import CellRecord, LaunchRecord
from adsunify.store.operations import bind_idempotency_key, find_by_idempotency_key
from adsunify.values.exact_json import Json, dumps, loads

from . import views
from .actors import dump_actor
from .job import begin_work
from .tasks import Task
from .views import CellOperation

PAGE_SIZE = 50


# -- launches -----------------------------------------------------------------------------------------------------


async def create_launch(
    service: Service, actor: Actor, *, launch: NewLaunch, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare one brief for many accounts and networks. Nothing is written until the launch is executed.

    The cells are planned in the background: read the launch until its status is no longer ``preparing``. If a cell is
    invalid, nothing is prepared, unless ``skipInvalid`` is true.
    """
    replayed = await find_replay(service, actor, idempotency)
    if replayed is not None:
        return UseCaseResult(await get_launch(service, actor, launch_id=replayed), replayed=True)
    cells = await make_launch_cells(service, actor, launch=launch)
    store = service.store
    launch_id, claim = await store.write(
        _create_launch, actor, launch, cells, idempotency, service.settings.lease, store.clock
    )
    if claim is not None:
        begin_work(service, claim)
    return UseCaseResult(await get_launch(service, actor, launch_id=launch_id), replayed=claim is None)


async def make_launch_cells(service: Service, actor: Actor, *, launch: NewLaunch) -> list[Cell]:
    """Make the cells of a launch without storing anything. The networks' own rules are not checked yet.

    Raises NotFound for accounts that the actor does not reach, and InvalidInput if the launch as a whole is refused.
    """
    accounts = await _load_accounts(service, actor, [account.account_id for account in launch.accounts])
    return await asyncio.to_thread(make_cells, launch, accounts)


async def _load_accounts(service: Service, actor: Actor, account_ids: Sequence[str]) -> dict[str, Account]:
    """Return native accounts by id. Raises NotFound with the paths of those that the actor does not reach."""
    records = {account.id: account for account in await service.store.read(connections.list_accounts, actor)}
    missing = [f"accounts.{index}.accountId" for index, id_ in enumerate(account_ids) if id_ not in records]
    if missing:
        raise NotFound(
            f"{', '.join(missing)}: this workspace has no such account, or this credential does not reach it."
        )
    return {id_: NetworkSession(service, records[id_]).native_account for id_ in account_ids}


def _create_launch(
    connection: Connection,
    actor: Actor,
    launch: NewLaunch,
    cells: Sequence[Cell],
    idempotency: Idempotency | None,
    lease: int,
    clock: Clock,
) -> tuple[str, Claim | None]:
    """Store a launch and its first change set. Returns the id of the launch; no claim if the request is repeated."""
    now = clock.now()
    launch_id = new_id(now)
    bound = None if idempotency is None else bind_idempotency_key(connection, actor, idempotency, [launch_id], now)
    if bound is not None:
        return bound.operation_ids[0], None
    body = dumps(launch.to_json())
    record = LaunchRecord(
        launch_id, actor.workspace_id, actor.user_id, actor.credential, launch.name, body, None, now, now
    )
    rows = [
        CellRecord(
            n,
            cell.key,
            cell.account_id,
            cell.network,
            None if cell.brief is None else dumps(cell.brief),
            cell.left_out,
            [issue.to_json() for issue in cell.issues],
        )
        for n, cell in enumerate(cells)
    ]
    launches.create_launch(connection, actor, record, rows, clock)
    members = [_make_create_member(row) for row in rows]
    identity = dump_actor(actor)
    change_set = change_sets.make_change_set(actor, identity, launch_id, "create", launch.skip_invalid, clock)
    return launch_id, change_sets.create_change_set(connection, actor, change_set, members, lease, clock)


def _make_create_member(cell: CellRecord, replaces: str | None = None) -> NewMember:
    task: dict[str, Json] = {"do": "create", "path": f"accounts.{cell.n}"}
    if replaces is not None:
        task["replaces"] = replaces
    if cell.brief is None:
        return NewMember(cell.key, cell.account_id, cell.network, task, issues=cell.issues)
    return NewMember(cell.key, cell.account_id, cell.network, {**task, "brief": loads(cell.brief)})


async def list_launches(
    service: Service, actor: Actor, *, cursor: str | None = None, limit: int = PAGE_SIZE
) -> UseCaseResult:
    """List launches in your scope, newest first, without their cells. A page may be short."""
    position = decode_cursor(service.ring, actor.workspace_id, "launches", cursor)
    after = launches.FIRST_PLACE if position.native_cursor is None else tuple(loads(position.native_cursor))
    store = service.store
    launch_rows, following = await store.read(views.read_launch_page, actor, after, limit, store.clock)
    next_position = None if following is None else Position(dumps(list(following)))
    next_cursor = encode_cursor(service.ring, actor.workspace_id, "launches", next_position)
    return UseCaseResult(
        [views.launch_summary_to_json(service, *launch_row) for launch_row in launch_rows], next_cursor
    )


async def get_launch(service: Service, actor: Actor, *, launch_id: str) -> Json:
    """Return a launch with its cells and its change sets. Each cell is in exactly one state."""
    store = service.store
    return await views.launch_to_json(service, await store.read(views.read_launch, actor, launch_id, store.clock))


# -- change sets of a launch --------------------------------------------------------------------------------------


async def prepare_again(
    service: Service,
    actor: Actor,
    *,
    launch_id: str,
    skip_invalid: bool = False,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    """Prepare the cells of a launch again that are expired, or that surely wrote nothing.

    Partly applied cells are resumed. Cells whose outcome is not known are inspected first, and left out if
    it stays unknown. The new change set has a digest of its own.
    """
    return await _prepare_change_set(service, actor, launch_id, "create", _choose_again, skip_invalid, idempotency)


async def activate_launch(
    service: Service, actor: Actor, *, launch_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the activation of the cells that succeeded. The other cells are ``excluded``."""
    return await _prepare_change_set(service, actor, launch_id, "activate", _choose_activation, False, idempotency)


async def pause_launch(
    service: Service, actor: Actor, *, launch_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the pause of everything that the cells created, the campaigns first."""
    return await _prepare_change_set(service, actor, launch_id, "pause", _choose_pause, False, idempotency)


async def undo_launch(
    service: Service, actor: Actor, *, launch_id: str, idempotency: Idempotency | None
) -> UseCaseResult:
    """Prepare the undo of everything that the cells created, if it is still paused."""
    return await _prepare_change_set(service, actor, launch_id, "undo", _choose_undo, False, idempotency)


TaskOrReason = Task | str
"""The task of a change set for a cell, or the reason why the change set leaves the cell out."""


def _choose_again(cell: CellRecord, operation: CellOperation | None) -> TaskOrReason:
    create = _make_create_member(cell).task
    if operation is None:
        return create
    if operation.state in ("succeeded", "running"):
        return _describe_exclusion(operation.state)
    if operation.state == "unknown" or operation.is_begun:
        return {"do": "resume", "operationId": operation.record.id}
    return {**create, "replaces": operation.record.id}


def _choose_activation(cell: CellRecord, operation: CellOperation | None) -> TaskOrReason:
    if operation is None or operation.state != "succeeded":
        return _describe_exclusion("invalid" if operation is None else operation.state)
    return {"do": "activate", "operationId": operation.record.id}


def _choose_pause(cell: CellRecord, operation: CellOperation | None) -> TaskOrReason:
    return _choose_if_begun("pause", operation)


def _choose_undo(cell: CellRecord, operation: CellOperation | None) -> TaskOrReason:
    return _choose_if_begun("undo", operation)


def _choose_if_begun(do: str, operation: CellOperation | None) -> TaskOrReason:
    if operation is None or not operation.is_begun or operation.state == "running":
        return _describe_exclusion("invalid" if operation is None else operation.state)
    return {"do": do, "operationId": operation.record.id}


def _describe_exclusion(state: CellState) -> str:
    return EXCLUSIONS.get(state, "Nothing of it is prepared.")


EXCLUSIONS: Mapping[CellState, str] = {
    "succeeded": "It is created already.",
    "running": "It is being executed.",
    "prepared": "It is not executed yet.",
    **dict.fromkeys(("refused", "expired", "cancelled"), "Its operation did not succeed."),
    "unknown": "Its outcome is not known. Inspect its operation first.",
}


async def _prepare_change_set(
    service: Service,
    actor: Actor,
    launch_id: str,
    action: ChangeSetAction,
    choose: Callable[[CellRecord, CellOperation | None], TaskOrReason],
    skip_invalid: bool,
    idempotency: Idempotency | None,
) -> UseCaseResult:
    replayed = await find_replay(service, actor, idempotency)
    if replayed is not None:
        return UseCaseResult(await get_change_set(service, actor, change_set_id=replayed), replayed=True)
    store = service.store

    def create(connection: Connection) -> tuple[str, Claim | None]:
        launches.get_launch(connection, actor, launch_id)
        launches.lock_launch(connection, launch_id)
        cells = launches.list_cells(connection, launch_id)
        cell_operations = views.find_cell_operations(connection, cells, store.clock)
        members = [_make_member(cell, choose(cell, cell_operations.get(cell.key))) for cell in cells]
        return save_change_set(
            connection,
            actor,
            launch_id,
            action,
            members,
            skip_invalid,
            idempotency,
            service.settings.lease,
            store.clock,
        )

    return await begin_and_view(service, actor, await store.write(create))


def _make_member(cell: CellRecord, choice: TaskOrReason) -> NewMember:
    if isinstance(choice, str):
        return NewMember(cell.key, cell.account_id, cell.network, {"do": "nothing"}, reason=choice)
    issues = cell.issues if choice["do"] == "create" and cell.brief is None else None
    return NewMember(cell.key, cell.account_id, cell.network, choice, issues)


def save_change_set(
    connection: Connection,
    actor: Actor,
    launch_id: str | None,
    action: ChangeSetAction,
    members: Sequence[NewMember],
    skip_invalid: bool,
    idempotency: Idempotency | None,
    lease: int,
    clock: Clock,
) -> tuple[str, Claim | None]:
    """Store a change set that is to be prepared. Returns its id; no claim if the request is repeated.

    Raises Conflict ``run_open`` where the launch has an open change set.
    """
    record = change_sets.make_change_set(actor, dump_actor(actor), launch_id, action, skip_invalid, clock)
    bound = (
        None if idempotency is None else bind_idempotency_key(connection, actor, idempotency, [record.id], clock.now())
    )
    if bound is not None:
        return bound.operation_ids[0], None
    return record.id, change_sets.create_change_set(connection, actor, record, members, lease, clock)


# -- change sets --------------------------------------------------------------------------------------------------


async def get_change_set(service: Service, actor: Actor, *, change_set_id: str) -> Json:
    """Return a change set with the state of each of its operations."""
    store = service.store
    change_set = await store.read(views.read_change_set, actor, change_set_id, store.clock)
    return views.change_set_to_json(service, change_set)


async def execute_launch(service: Service, actor: Actor, *, launch_id: str, confirmed: bool, digest: str) -> Json:
    """Execute the latest change set of a launch, as ``POST /change-sets/{changeSetId}/execute``."""
    return await execute_change_set(
        service, actor, change_set_id=await _find_latest(service, actor, launch_id), confirmed=confirmed, digest=digest
    )


async def execute_change_set(
    service: Service, actor: Actor, *, change_set_id: str, confirmed: bool, digest: str
) -> Json:
    """Execute all operations of a change set in the background.

    ``digest`` is the digest of the reviewed change set. Call again, or read the change set, to follow the execution.
    Each write checks the credential of this call again. Where the workspace requires
    approval, only a signed-in person can execute it. Another digest is 409 ``digest_changed``, and nothing is written.
    """
    store = service.store
    record = await store.read(change_sets.get_change_set, actor, change_set_id, store.clock)
    _require_executable(record, digest)
    if record.status != "prepared":
        return await get_change_set(service, actor, change_set_id=change_set_id)
    await _require_approval(service, actor, record)
    claim = await store.write(
        change_set_runs.begin_execution,
        actor,
        dump_actor(actor),
        change_set_id,
        digest,
        service.settings.lease,
        store.clock,
    )
    if claim is not None:
        begin_work(service, claim)
    return await get_change_set(service, actor, change_set_id=change_set_id)


def _require_executable(record: ChangeSetRecord, digest: str) -> None:
    """Raise Conflict for another digest, and OperationError for a change set that was cancelled or expired."""
    if record.digest is None:
        raise Conflict(
            f"The change set is {record.status}, so it has no digest. Nothing of it is prepared.", code="digest_changed"
        )
    if record.digest != digest:
        raise Conflict(
            "This is not the digest of the change set, so what was reviewed is not what would be executed. Nothing was "
            "written. Review the change set again.",
            code="digest_changed",
        )
    if record.status == "cancelled":
        raise OperationError("The change set was cancelled. Prepare it again.", code="operation_cancelled")
    if record.status == "expired":
        raise OperationError(
            "The change set expired: the 30 minutes for review and execution have passed. Prepare it again.",
            code="operation_expired",
        )


async def _require_approval(service: Service, actor: Actor, record: ChangeSetRecord) -> None:
    """Raise Forbidden if a person must approve in the workspace and the actor cannot. Each write checks it again."""
    store = service.store
    if actor.can_approve or not (await store.read(people.get_workspace, actor.workspace_id)).require_approval:
        return
    members = await store.read(change_sets.list_members, record.id)
    first = next(member.operation_id for member in members if member.operation_id is not None)
    await store.write(operations.record_rule_event, first, store.clock, operations.APPROVAL_FACTS)
    raise Forbidden(
        "In this workspace a person must approve changes: sign in, review the change set and execute it at "
        f"{views.make_review_url(service, record)}. Calling again does not change that.",
        code="approval_required",
    )


async def cancel_launch(service: Service, actor: Actor, *, launch_id: str) -> Json:
    """Cancel the open change set of a launch, as ``POST /change-sets/{changeSetId}/cancel``."""
    return await cancel_change_set(service, actor, change_set_id=await _find_latest(service, actor, launch_id))


async def cancel_change_set(service: Service, actor: Actor, *, change_set_id: str) -> Json:
    """Cancel an open change set and its prepared operations. Applied changes stay; a write in flight is finished."""
    store = service.store
    await store.write(change_sets.cancel_change_set, actor, change_set_id, store.clock)
    return await get_change_set(service, actor, change_set_id=change_set_id)


async def _find_latest(service: Service, actor: Actor, launch_id: str) -> str:
    launch = await service.store.read(launches.get_launch, actor, launch_id)
    return str(launch.change_set_id)


async def find_replay(service: Service, actor: Actor, idempotency: Idempotency | None) -> str | None:
    """Return the object that an earlier call with this key created; None if the key is new."""
    if idempotency is None:
        return None
    binding = await service.store.run_query(find_by_idempotency_key(actor, idempotency))
    return None if binding is None else binding.operation_ids[0]


async def begin_and_view(service: Service, actor: Actor, created: tuple[str, Claim | None]) -> UseCaseResult:
    """Begin to prepare a change set that :func:`save_change_set` stored, and return it."""
    change_set_id, claim = created
    if claim is not None:
        begin_work(service, claim)
    return UseCaseResult(await get_change_set(service, actor, change_set_id=change_set_id), replayed=claim is None)
