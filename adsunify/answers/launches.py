"""Launches and change sets."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field

from .operations import ActedBy, CreatedBy, CreatedEntities, ProblemIssue, Risk, Spend
from .shape import OPEN, Instant, Shape, Text, Url, Uuid

ChangeSetStatus = Annotated[
    Literal["preparing", "invalid", "prepared", "running", "finished", "cancelled", "expired"] | str, OPEN
]
CellState = Annotated[
    Literal[
        "preparing",
        "invalid",
        "skipped",
        "prepared",
        "running",
        "succeeded",
        "refused",
        "unknown",
        "expired",
        "cancelled",
    ]
    | str,
    OPEN,
]


class StoppedChange(Shape):
    """Why a preparation, an execution or one operation of an execution stopped."""

    code: str
    message: str


class LaunchTotal(Shape):
    """The sums of the operations in one currency on one network.

    ``exposure`` is what can be spent once they are executed; ``planned`` are the budgets that they set up.
    """

    currency: Text
    network: str
    cells: int
    exposure: Spend
    planned: Spend


class ChangeSetOperation(Shape):
    """An operation of a change set.

    ``digest`` is the digest of its plan. ``error`` says why its execution was refused.
    """

    key: str
    operation_id: Uuid
    account_id: Uuid
    network: str
    digest: str
    state: CellState
    exposure: Spend | None = None
    planned: Spend | None = None
    error: StoppedChange | None = None


class ExcludedMember(Shape):
    """A cell that a change set leaves out, and why."""

    key: str
    reason: str


class ChangeSet(Shape):
    """Operations that are reviewed and executed together.

    ``digest`` is the SHA-256 over the key, the id and the plan digest of each operation; null before they are prepared.
    While it is ``preparing``, ``decided`` counts the planned ones of its ``members``. ``excluded`` lists what it leaves
    out, and ``issues`` why members are invalid. ``error`` says why it stopped before its end.
    """

    id: Uuid
    launch_id: Uuid | None
    action: Annotated[Literal["create", "activate", "pause", "undo", "apply"] | str, OPEN]
    digest: Text
    operations: list[ChangeSetOperation]
    status: ChangeSetStatus
    created_by: CreatedBy
    executed_by: ActedBy | None = None
    created_at: Instant
    expires_at: Instant | None
    review_url: Url
    excluded: list[ExcludedMember]
    issues: list[ProblemIssue]
    members: int
    decided: int
    totals: list[LaunchTotal]
    error: StoppedChange | None = None


class LaunchCell(Shape):
    """One account of a launch. ``leftOut`` are the paths of the shared brief that its network does not take.

    ``operationId`` is the last operation that creates its entities; ``created`` are the entities that exist.
    """

    key: str
    account_id: Uuid
    network: str
    state: CellState
    issues: list[ProblemIssue]
    left_out: list[str]
    exposure: Spend | None = None
    planned: Spend | None = None
    risk: Risk | None = None
    warnings: list[str]
    operation_id: Uuid | None = None
    created: CreatedEntities = Field(default_factory=CreatedEntities)


class Launch(Shape):
    """One brief for many accounts. Its status is the status of its latest change set, the last of ``changeSets``.

    Lists of launches leave out ``cells``, ``changeSets`` and ``totals``.
    """

    launch_id: Uuid
    name: str
    status: ChangeSetStatus
    created_by: CreatedBy
    created_at: Instant
    updated_at: Instant
    review_url: Url
    cells: list[LaunchCell] = Field([])
    change_sets: list[ChangeSet] = Field([])
    totals: list[LaunchTotal] = Field([])
