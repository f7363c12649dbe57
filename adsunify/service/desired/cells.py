"""The cells of a document's launches, with their state according to the receipts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence, Set
from datetime import UTC, datetime

from attrs import field, frozen
from sqlalchemy import Connection

from adsunify.adapter import flows
from adsunify.adapter.brief_checks import check_brief
from adsunify.errors import InvalidInput
from adsunify.launches.cells import Cell, locate_issue, make_cells
from adsunify.launches.document import Document, WantedLaunch
from adsunify.models.brief import read_brief
from adsunify.plans.records import ENTITY_KINDS, Kind
from adsunify.review.created_entities import read_sent_fields
from adsunify.service.accounts import account_to_json
from adsunify.service.launches.views import CellOperation, find_cell_operations
from adsunify.service.network_session import NetworkSession
from adsunify.service.serializers import operation_to_json, plan_view
from adsunify.store.applies import AppliedMember, PreparedCell, list_applied_members, list_launched_cells
from adsunify.store.clock import Clock
from adsunify.store.launches import CellRecord
from adsunify.values.exact_json import Json

CellPlace = tuple[str, str]
"""The name of a launch and the key of a cell."""
CREATING_TASKS = ("create", "resume")
"""The tasks of a file's change set that create a cell."""
BLOCKS: Mapping[str, str] = {
    "unknown": "It is not known whether it was created. Inspect its operation first.",
    "running": "It is being created.",
}


@frozen
class KnownCell:
    """A cell that has an operation.

    Attributes:
        place: its launch and its key.
        account_id: its account.
        network: the code of its network.
        brief: the brief that was launched.
        operation: the last operation of the chain that creates it.
        launch_id: the launch that prepared the operation; None if a file prepared it.
        is_own: whether a file with the name of this document created or changed it.
    """

    place: CellPlace
    account_id: str
    network: str
    brief: Json
    operation: CellOperation
    launch_id: str | None = None
    is_own: bool = False

    @property
    def is_created(self) -> bool:
        """Whether all entities of the cell were created."""
        return self.operation.state == "succeeded"

    @property
    def block(self) -> str | None:
        """The reason why the creation of the cell cannot be prepared now; None if it can."""
        if self.operation.state == "prepared" and self.launch_id is not None:
            return f"The launch {self.launch_id} has prepared it. Execute or cancel it there first."
        return BLOCKS.get(self.operation.state)

    @property
    def rank(self) -> tuple[bool, ...]:
        """The rank of the operation: of several operations of one cell, the one with the highest rank counts.

        An operation that wrote something ranks above one that did not.
        """
        state = self.operation.state
        return state == "succeeded", self.operation.is_begun, state in ("prepared", "running", "unknown")


@frozen
class KnownState:
    """The state of a document's cells and entities according to the receipts of a workspace.

    Attributes:
        cells: the cells that a file, or a launch of their name, has prepared or created.
        preparing: the cells that a launch of their name prepares now, with the id of the launch.
        entities: network, account, kind and id of the entities that a file of this name has changed.
    """

    cells: Mapping[CellPlace, KnownCell] = field(factory=dict)
    preparing: Mapping[CellPlace, str] = field(factory=dict)
    entities: Sequence[tuple[str, str, Kind, str]] = ()

    def find_block(self, place: CellPlace) -> str | None:
        """Return why a cell cannot be created now; None if it can."""
        if place in self.preparing:
            return f"The launch {self.preparing[place]} is preparing it. Execute or cancel it there first."
        return self.cells[place].block if place in self.cells else None

    def identify(self, place: CellPlace) -> tuple[str | None, ...]:
        """Return a value that differs later if the cell was prepared in the meantime."""
        known = self.cells.get(place)
        return self.preparing.get(place), None if known is None else known.operation.record.id


def make_cell_key(document: Document, place: CellPlace) -> str:
    """Return the key that a cell has in change sets."""
    return f"{document.name or ''}/launches/{place[0]}/{place[1]}"


def make_entity_key(document: Document, account_id: str, kind: Kind, entity_id: str) -> str:
    """Return the key that an entity has in change sets."""
    return f"{document.name or ''}/entities/{account_id}/{kind}/{entity_id}"


def make_origin(document: Document, place: CellPlace | None) -> dict[str, Json]:
    """Return the members of a task that name its file, and the cell that it creates or changes."""
    return {"file": document.name, "cell": None if place is None else list(place)}


def read_known_state(connection: Connection, workspace_id: str, document: Document, clock: Clock) -> KnownState:
    """Read the state of a document's cells and entities from the receipts of a workspace.

    A cell that a file of another name has created counts as well, so nothing is created twice if a file is renamed.
    """
    members = list_applied_members(connection, workspace_id)
    changed = [member for member in members if member.is_begun and member.task["file"] == document.name]
    own = {member.place for member in changed if member.place is not None}
    launches = {*document.launches, *(launch for launch, _ in own)}
    prepared = [
        *list_launched_cells(connection, workspace_id, sorted(launches)),
        *(
            _make_cell(member, member.place)
            for member in members
            if member.place is not None and member.task["do"] in CREATING_TASKS
        ),
    ]
    cells, preparing = _choose_operations(connection, prepared, own, clock)
    entities = dict.fromkeys(
        (member.network, member.account_id, member.task["mutation"]["kind"], member.task["mutation"]["entityId"])
        for member in changed
        if member.place is None
    )
    return KnownState(cells, preparing, list(entities))


def _make_cell(member: AppliedMember, place: CellPlace) -> PreparedCell:
    launch, key = place
    brief = member.task.get("brief")
    return PreparedCell(launch, None, key, member.account_id, member.network, brief, member.operation_id)


def _choose_operations(
    connection: Connection, prepared: Sequence[PreparedCell], own: Set[CellPlace], clock: Clock
) -> tuple[dict[CellPlace, KnownCell], dict[CellPlace, str]]:
    """Return the cells with the operation of the highest rank, and the cells that launches prepare now.

    The cell of a resumed operation gets the brief of the first operation of the chain.
    """
    records = [
        CellRecord(n, cell.operation_id, cell.account_id, cell.network, None, (), (), cell.operation_id)
        for n, cell in enumerate(prepared)
        if cell.operation_id is not None
    ]
    operations = find_cell_operations(connection, records, clock)
    cells: dict[CellPlace, KnownCell] = {}
    preparing: dict[CellPlace, str] = {}
    briefs: dict[str, Json] = {}
    for cell in prepared:
        place = cell.launch, cell.key
        if cell.is_preparing:
            preparing[place] = str(cell.launch_id)
        if cell.operation_id is None:
            continue
        operation = operations[cell.operation_id]
        brief = briefs.setdefault(operation.record.chain_id, cell.brief)
        known = KnownCell(place, cell.account_id, cell.network, brief, operation, cell.launch_id, place in own)
        if place not in cells or known.rank >= cells[place].rank:
            cells[place] = known
    return cells, preparing


def make_wanted_cells(name: str, launch: WantedLaunch, sessions: Mapping[str, NetworkSession]) -> list[Cell]:
    """Make the cells of a launch. Raises InvalidInput with paths as in the launch."""
    if not launch.accounts:
        return []
    accounts = {
        wanted_cell.account_id: sessions[wanted_cell.account_id].native_account for wanted_cell in launch.accounts
    }
    cells = make_cells(launch.to_launch(name), accounts)
    issues = [issue for cell in cells for issue in cell.issues]
    if issues:
        raise InvalidInput(issues)
    return cells


def list_created_entities(session: NetworkSession, known: KnownCell) -> list[tuple[Kind, str]]:
    """Return the kind and the id of each entity that a cell has created, parents first."""
    operation = known.operation
    view = operation_to_json(session.service, operation.record, operation.attempts)
    created = {entity["kind"]: entity["entityId"] for entity in view["created"]}
    return [(kind, created[kind]) for kind in ENTITY_KINDS if kind in created]


async def read_wanted_fields(
    session: NetworkSession, known: KnownCell, cell: Cell, position: int
) -> dict[Kind, dict[str, Json]]:
    """Return the fields that the brief of a created cell wants, by kind.

    A brief that differs from the launched brief is planned as of the time of the launch, because its start may have
    passed since.

    Raises:
        InvalidInput: the network refuses the brief.
        ProviderError: a look-up failed.
    """
    record = known.operation.record
    if cell.brief == known.brief:
        view = {"plan": plan_view(record.read_plan()), "receipt": {"steps": []}}
    else:
        at = datetime.fromtimestamp(record.created_at / 1000, UTC)
        try:
            brief = read_brief(cell.brief or {})
            check_brief(session.adapter.network, session.native_account, brief, at)
            plan = await session.run_flow(
                flows.memoize_reads(session.adapter.plans.plan_create(session.native_account, brief, at))
            )
        except InvalidInput as problem:
            raise InvalidInput([locate_issue(position, issue) for issue in problem.issues]) from None
        view = {"plan": plan_view(plan), "receipt": {"steps": []}}
    return {kind: fields for kind, _, fields in read_sent_fields(account_to_json(session.account), view)}
