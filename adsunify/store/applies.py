"""The change sets of files, and the cells that they and launches have created. They are the state of a file."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import frozen
from sqlalchemy import Connection, bindparam, exists, or_, select

from adsunify.errors import Conflict
from adsunify.values.exact_json import Json, loads

from . import change_sets
from .clock import Clock
from .lists import MATCH_LIST_BY_DIALECT
from .schema import change_set_members, launch_cells, launches, steps, workspaces
from .schema import change_sets as change_set_rows
from .statement import Statement


@frozen
class AppliedMember:
    """A member of a change set of a file that has an operation.

    ``task``: the task of the member, as JSON. ``is_begun``: whether a write of its operation is or may be applied.
    """

    account_id: str
    network: str
    task: Mapping[str, Json]
    operation_id: str
    is_begun: bool

    @property
    def place(self) -> tuple[str, str] | None:
        """The launch and the key of the cell that it creates or changes; None if it changes another entity."""
        cell: list[str] | None = self.task["cell"]
        return None if cell is None else (cell[0], cell[1])


@frozen
class PreparedCell:
    """A cell that a launch or a file has prepared or is preparing.

    Attributes:
        launch: the name of its launch.
        launch_id: the id of its launch; None if a file has prepared it.
        brief: its merged brief; None if it is not known.
        operation_id: its operation; None if the launch prepares it for the first time.
        is_preparing: whether the launch prepares it now.
    """

    launch: str
    launch_id: str | None
    key: str
    account_id: str
    network: str
    brief: Json
    operation_id: str | None
    is_preparing: bool = False


_IS_APPLY = (change_set_rows.c.workspace_id == bindparam("of_workspace"), change_set_rows.c.action == "apply")
_LOCK = Statement(select(workspaces.c.id).where(workspaces.c.id == bindparam("of_workspace")).with_for_update())
_FIND_LATEST = Statement(
    select(change_set_rows.c.id)
    .where(*_IS_APPLY)
    .order_by(change_set_rows.c.created_at.desc(), change_set_rows.c.id.desc())
    .limit(1)
)
_IS_BEGUN = exists().where(
    steps.c.operation_id == change_set_members.c.operation_id,
    or_(*(steps.c.state == state for state in ("in_flight", "applied", "ambiguous"))),
)
_LIST_MEMBERS = Statement(
    select(
        change_set_members.c.account_id,
        change_set_members.c.network,
        change_set_members.c.task,
        change_set_members.c.operation_id,
        _IS_BEGUN.label("is_begun"),
    )
    .join(change_set_rows, change_set_rows.c.id == change_set_members.c.change_set_id)
    .where(*_IS_APPLY, change_set_members.c.operation_id.is_not(None))
    .order_by(change_set_rows.c.created_at, change_set_rows.c.id, change_set_members.c.n)
)
_IS_PREPARING = change_set_rows.c.status == "preparing"
_LIST_CELLS = Statement(
    lambda dialect: (
        select(
            launches.c.name,
            launch_cells.c.launch_id,
            launch_cells.c.key,
            launch_cells.c.account_id,
            launch_cells.c.network,
            launch_cells.c.brief,
            launch_cells.c.operation_id,
            _IS_PREPARING.label("is_preparing"),
        )
        .join(launches, launches.c.id == launch_cells.c.launch_id)
        .join(change_set_rows, change_set_rows.c.id == launches.c.change_set_id)
        .where(
            launches.c.workspace_id == bindparam("of_workspace"),
            MATCH_LIST_BY_DIALECT[dialect](launches.c.name, "of_names"),
            or_(launch_cells.c.operation_id.is_not(None), _IS_PREPARING),
        )
        .order_by(launches.c.created_at, launches.c.id, launch_cells.c.n)
    )
)


def find_latest_apply(connection: Connection, workspace_id: str) -> str | None:
    """Return the id of the latest change set of a file in the workspace."""
    row = _FIND_LATEST.fetch_one_or_none(connection, {"of_workspace": workspace_id})
    return None if row is None else row.id


def lock_apply(connection: Connection, workspace_id: str, seen_id: str | None, clock: Clock) -> None:
    """Lock the changes of files in a workspace until the transaction ends.

    Two change sets could create the same cell. So a workspace has at most one open change set of a file, and a new one
    must be made from reads after the latest one was prepared.

    Raises:
        Conflict: ``run_open``; a change set of a file is open, or one was prepared after the caller read ``seen_id``.
    """
    _LOCK.fetch_one(connection, {"of_workspace": workspace_id})
    require_no_open_apply(connection, workspace_id, clock)
    latest_id = find_latest_apply(connection, workspace_id)
    if latest_id != seen_id:
        raise Conflict(
            f"The change set {latest_id} of a file was prepared while the networks were read. Apply the file again.",
            code="run_open",
        )


def require_no_open_apply(connection: Connection, workspace_id: str, clock: Clock) -> None:
    """Raise Conflict ``run_open`` if a change set of a file is open."""
    latest_id = find_latest_apply(connection, workspace_id)
    latest = None if latest_id is None else change_sets.read_change_set(connection, latest_id, clock)
    if latest is not None and latest.is_open:
        raise Conflict(
            f"The change set {latest.id} of a file is {latest.status}. Execute or cancel it first.", code="run_open"
        )


def list_applied_members(connection: Connection, workspace_id: str) -> list[AppliedMember]:
    """Return the members of all change sets of files in a workspace, oldest first."""
    rows = _LIST_MEMBERS.fetch_all(connection, {"of_workspace": workspace_id})
    return [
        AppliedMember(row.account_id, row.network, loads(row.task), row.operation_id, bool(row.is_begun))
        for row in rows
    ]


def list_launched_cells(connection: Connection, workspace_id: str, names: Sequence[str]) -> list[PreparedCell]:
    """Return the cells of the launches with these names that have an operation or are being prepared, oldest first."""
    if not names:
        return []
    rows = _LIST_CELLS.fetch_all(connection, {"of_workspace": workspace_id, "of_names": list(names)})
    return [
        PreparedCell(
            row.name,
            row.launch_id,
            row.key,
            row.account_id,
            row.network,
            None if row.brief is None else loads(row.brief),
            row.operation_id,
            bool(row.is_preparing),
        )
        for row in rows
    ]
