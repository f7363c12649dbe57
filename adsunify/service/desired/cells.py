"""The cells of a document's launches, and what receipts say of them."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
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
from adsunify.store.applies import AppliedMember, LaunchedCell, list_applied_members, list_launched_cells
from adsunify.store.clock import Clock
from adsunify.store.launches import CellRecord
from adsunify.values.exact_json import Json

CellPlace = tuple[str, str]
"""The name of a launch and the key of a cell."""
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
        operation: the last operation that creates it.
        launch_id: the launch that created it; None if a file did.
        is_own: a file of the document's name has created or changed it.
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
        """Whether everything of it was created."""
        return self.operation.state == "succeeded"

    @property
    def block(self) -> str | None:
        """Why nothing can be prepared for a cell that is not created; None if something can."""
        if self.operation.state in BLOCKS:
            return BLOCKS[self.operation.state]
        if self.launch_id is not None and self.operation.state != "cancelled":
            return f"The launch {self.launch_id} has prepared it. Execute or cancel it there first."
        return None


@frozen
class KnownState:
    """What the receipts of a workspace say of a document.

    ``cells``: the cells that a file, or a launch of their name, has prepared or created. ``entities``:
    account, kind and id of the entities that a file of this name has changed.
    """

    cells: Mapping[CellPlace, KnownCell] = field(factory=dict)
    entities: Sequence[tuple[str, str, Kind, str]] = ()


def make_cell_key(document: Document, place: CellPlace) -> str:
    """Return the key that a cell has in change sets."""
    return f"{document.name or ''}/launches/{place[0]}/{place[1]}"


_CELL_KEY = re.compile(r".*?/launches/(?P<launch>.+)/(?P<key>[^/:]+)(:.*)?", re.DOTALL)
"""The keys of members about a cell: that of :func:`make_cell_key`, and after a colon what changes."""


def make_entity_key(document: Document, account_id: str, kind: Kind, entity_id: str) -> str:
    """Return the key that an entity has in change sets."""
    return f"{document.name or ''}/entities/{account_id}/{kind}/{entity_id}"


def read_known_state(connection: Connection, workspace_id: str, document: Document, clock: Clock) -> KnownState:
    """Read what the receipts of a workspace say of a document.

    A cell that a file of another name has created counts as well, so nothing is created twice if a file is renamed.
    """
    prefix = f"{document.name or ''}/"
    members = list_applied_members(connection, workspace_id)
    own: set[CellPlace] = set()
    found: dict[CellPlace, LaunchedCell | AppliedMember] = {
        (cell.launch, cell.key): cell for cell in list_launched_cells(connection, workspace_id, [*document.launches])
    }
    briefs: dict[CellPlace, Json] = {
        place: cell.brief for place, cell in found.items() if isinstance(cell, LaunchedCell)
    }
    for member in members:
        place = _read_cell_place(member)
        if place is not None and member.key.startswith(prefix):
            own.add(place)
        if place is not None and member.task["do"] in ("create", "resume"):
            found[place] = member
            briefs[place] = member.task.get("brief", briefs.get(place))
    records = [
        CellRecord(n, repr(place), one.account_id, one.network, None, (), (), one.operation_id)
        for n, (place, one) in enumerate(found.items())
    ]
    operations = find_cell_operations(connection, records, clock)
    cells = {
        place: KnownCell(
            place,
            one.account_id,
            one.network,
            briefs[place],
            operations[repr(place)],
            one.launch_id if isinstance(one, LaunchedCell) else None,
            place in own,
        )
        for place, one in found.items()
        if repr(place) in operations
    }
    entities = dict.fromkeys(_read_entity_place(one, prefix) for one in members)
    return KnownState(cells, [one for one in entities if one is not None])


def _read_cell_place(member: AppliedMember) -> CellPlace | None:
    """Return the cell that a member creates or changes; None for other members."""
    match = _CELL_KEY.fullmatch(member.key)
    return None if match is None else (match["launch"], match["key"])


def _read_entity_place(member: AppliedMember, prefix: str) -> tuple[str, str, Kind, str] | None:
    """Return network, account, kind and id of an entity that a member changes; None for other members."""
    mutation = member.task.get("mutation")
    if mutation is None or not member.key.startswith(f"{prefix}entities/"):
        return None
    return member.network, member.account_id, mutation["kind"], mutation["entityId"]


def make_wanted_cells(name: str, launch: WantedLaunch, sessions: Mapping[str, NetworkSession]) -> list[Cell]:
    """Make the cells of a launch. Raises InvalidInput with paths as in the launch."""
    if not launch.accounts:
        return []
    accounts = {one.account_id: sessions[one.account_id].native_account for one in launch.accounts}
    cells = make_cells(launch.to_launch(name), accounts)
    issues = [issue for cell in cells for issue in cell.issues]
    if issues:
        raise InvalidInput(issues)
    return cells


def list_created_entities(session: NetworkSession, known: KnownCell) -> list[tuple[Kind, str]]:
    """Return the kind and the id of each entity that a cell has created, parents first."""
    operation = known.operation
    view = operation_to_json(session.service, operation.record, operation.attempts)
    created = {one["kind"]: one["entityId"] for one in view["created"]}
    return [(kind, created[kind]) for kind in ENTITY_KINDS if kind in created]


async def read_wanted_fields(
    session: NetworkSession, known: KnownCell, cell: Cell, position: int
) -> dict[Kind, dict[str, Json]]:
    """Return the fields that the brief of a created cell wants, by kind.

    A brief that differs from the launched one is planned as of the time at which that one was: its start may have
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
