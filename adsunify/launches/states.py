"""The states of change sets and cells as tables.

::

    (none) --begin--> preparing --prepare--> prepared --execute--> running --finish--> finished
                      preparing --refuse---> invalid    (cells are invalid, and skipInvalid was not given)
                      preparing --cancel---> cancelled
                                             prepared --cancel---> cancelled
                                             prepared --expire---> expired
                                                                   running --cancel--> cancelled

Cancelling a running change set cancels the cells that have not begun. The other cells run to their end.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from adsunify.execution.state import IllegalTransition, OperationStatus

ChangeSetStatus = Literal["preparing", "invalid", "prepared", "running", "finished", "cancelled", "expired"]
ChangeSetAction = Literal["create", "activate", "pause", "undo", "apply"]
ChangeSetTrigger = Literal["begin", "prepare", "refuse", "execute", "finish", "cancel", "expire"]
CellState = Literal[
    "preparing", "invalid", "skipped", "prepared", "running", "succeeded", "refused", "unknown", "expired", "cancelled"
]

CHANGE_SET_TRANSITIONS: Mapping[tuple[ChangeSetStatus | None, ChangeSetTrigger], ChangeSetStatus] = {
    (None, "begin"): "preparing",
    ("preparing", "prepare"): "prepared",
    ("preparing", "refuse"): "invalid",
    ("preparing", "cancel"): "cancelled",
    ("prepared", "execute"): "running",
    ("prepared", "cancel"): "cancelled",
    ("prepared", "expire"): "expired",
    ("running", "finish"): "finished",
    ("running", "cancel"): "cancelled",
}
"""(status before, trigger) -> status after."""

OPEN_STATUSES: frozenset[ChangeSetStatus] = frozenset({"preparing", "prepared", "running"})
"""A launch has at most one change set with such a status."""

FINAL_CELL_STATES: frozenset[CellState] = frozenset(
    {"invalid", "skipped", "succeeded", "refused", "unknown", "expired", "cancelled"}
)
"""The states in which a cell stays until a new change set prepares it."""

_STATE_BY_STATUS: Mapping[OperationStatus, CellState] = {
    "prepared": "prepared",
    "running": "running",
    "succeeded": "succeeded",
    "unknown": "unknown",
    "cancelled": "cancelled",
}


def apply_change_set_trigger(status: ChangeSetStatus | None, trigger: ChangeSetTrigger) -> ChangeSetStatus:
    """Return the status after the trigger.

    Raises:
        IllegalTransition: the status does not allow the trigger.
    """
    try:
        return CHANGE_SET_TRANSITIONS[status, trigger]
    except KeyError:
        raise IllegalTransition(f"a change set that is {status} cannot {trigger}") from None


def get_cell_state(status: OperationStatus, *, refused: bool, expired: bool, stalled: bool) -> CellState:
    """Return the state of a cell that has an operation.

    Args:
        status: the status of the operation.
        refused: the network refused the last write that was sent.
        expired: the review time of the operation is over.
        stalled: the lease of a running operation has expired with a write in flight, so its outcome is unknown.
    """
    if status == "running" and stalled:
        return "unknown"
    if status == "prepared" and (refused or expired):
        return "refused" if refused else "expired"
    return _STATE_BY_STATUS[status]
