"""Launches and change sets as responses show them (docs/spec.md, "Launches")."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence

from attrs import frozen
from sqlalchemy import Connection

from adsunify.actor import Actor
from adsunify.launches.states import CellState, get_cell_state
from adsunify.plans.exposure import NO_SPEND, Spend
from adsunify.service import serializers
from adsunify.service.core import Service, format_optional_timestamp, format_timestamp
from adsunify.store import attempts, chains, change_sets, launches, operations
from adsunify.store.attempts import StepAttempt
from adsunify.store.change_sets import ChangeSetRecord, MemberRecord
from adsunify.store.clock import Clock
from adsunify.store.launches import CellRecord, LaunchRecord, Place
from adsunify.store.operations import OperationRecord
from adsunify.values.exact_json import Json

VIEWS_PER_TURN = 25
"""How many operations are serialized before other requests are served."""


@frozen
class CellOperation:
    """The last operation of the chain that creates a cell. ``is_begun``: a part of it is or may be applied."""

    record: OperationRecord
    attempts: Sequence[StepAttempt]
    state: CellState
    is_begun: bool


@frozen
class ReadChangeSet:
    """A change set as it was read. ``states``: the states of its operations, by operation id."""

    record: ChangeSetRecord
    members: Sequence[MemberRecord]
    states: Mapping[str, CellState]


@frozen
class ReadLaunch:
    """A launch as it was read. ``operations``: the last operation of each cell, by the key of the cell."""

    record: LaunchRecord
    cells: Sequence[CellRecord]
    change_sets: Sequence[ReadChangeSet]
    operations: Mapping[str, CellOperation]


# -- reading ------------------------------------------------------------------------------------------------------


def read_launch(connection: Connection, actor: Actor, launch_id: str, clock: Clock) -> ReadLaunch:
    """Read a launch in the actor's scope. Raises NotFound.

    The change sets are read before the cells. A status is stored in one transaction with its cells, so the cells are at
    least as new as the status.
    """
    record = launches.get_launch(connection, actor, launch_id)
    sets = [
        _add_members(connection, set_record, clock)
        for set_record in change_sets.list_change_sets(connection, launch_id, clock)
    ]
    cells = launches.list_cells(connection, launch_id)
    return ReadLaunch(record, cells, sets, find_cell_operations(connection, cells, clock, sets))


def read_change_set(connection: Connection, actor: Actor, change_set_id: str, clock: Clock) -> ReadChangeSet:
    """Read a change set in the actor's scope. Raises NotFound."""
    return _add_members(connection, change_sets.get_change_set(connection, actor, change_set_id, clock), clock)


def _add_members(connection: Connection, record: ChangeSetRecord, clock: Clock) -> ReadChangeSet:
    members = change_sets.list_members(connection, record.id)
    ids = [member.operation_id for member in members if member.operation_id is not None]
    refused = {member.operation_id for member in members if member.error is not None}
    records = operations.list_operations_by_id(connection, ids, clock, has_plans=False)
    is_running = record.status == "running"
    return ReadChangeSet(
        record, members, {id_: _get_state(operation, id_ in refused, is_running) for id_, operation in records.items()}
    )


def _get_state(record: OperationRecord, is_refused: bool, is_run: bool) -> CellState:
    """Return the state of an operation.

    ``is_run``: its change set is being executed, so a stopped operation is continued.
    """
    is_refused = is_refused or (record.error is not None and not record.next_action)
    state = get_cell_state(record.status, refused=is_refused, expired=record.is_expired, stalled=record.is_stalled)
    return "running" if is_run and state == "prepared" and record.next_action else state


def find_cell_operations(
    connection: Connection, cells: Sequence[CellRecord], clock: Clock, sets: Sequence[ReadChangeSet] = ()
) -> dict[str, CellOperation]:
    """Return the last operation that creates each cell, by key. Cells without an operation are left out."""
    cell_operations: dict[str, CellOperation] = {}
    refused = {member.operation_id for change_set in sets for member in change_set.members if member.error is not None}
    running = {id_ for change_set in sets if change_set.record.status == "running" for id_ in change_set.states}
    keys = {cell.operation_id: cell.key for cell in cells if cell.operation_id is not None}
    records = operations.list_operations_by_id(connection, list(keys), clock, has_plans=True)
    latest = {
        keys[id_]: record if record.resumed_by is None else _read_last(connection, record, clock)
        for id_, record in records.items()
    }
    claimed = [record.id for record in latest.values() if record.is_claimed]
    step_attempts = attempts.list_attempts_by_operation(connection, claimed)
    for key, record in latest.items():
        own_attempts = step_attempts.get(record.id, [])
        is_begun = record.resumes is not None or any(attempt.may_be_applied for attempt in own_attempts)
        state = _get_state(record, record.id in refused, record.id in running)
        cell_operations[key] = CellOperation(record, own_attempts, state, is_begun)
    return cell_operations


def _read_last(connection: Connection, record: OperationRecord, clock: Clock) -> OperationRecord:
    """Return the last operation of a chain."""
    last = chains.find_last_of_chain(connection, record.chain_id)
    return operations.list_operations_by_id(connection, [last], clock, has_plans=True)[last]


def read_launch_page(
    connection: Connection, actor: Actor, after: Place, limit: int, clock: Clock
) -> tuple[list[tuple[LaunchRecord, ChangeSetRecord]], Place | None]:
    """Return launches, each with its latest change set, and the place of the next page."""
    records, following = launches.list_launches(connection, actor, after, limit)
    return [
        (record, change_sets.read_change_set(connection, str(record.change_set_id), clock)) for record in records
    ], following


# -- serializing --------------------------------------------------------------------------------------------------


def launch_summary_to_json(service: Service, launch: LaunchRecord, latest: ChangeSetRecord) -> dict[str, Json]:
    """Return a launch without its cells. ``latest``: its latest change set, which sets its status."""
    return {
        "launchId": launch.id,
        "name": launch.name,
        "status": latest.status,
        "createdBy": {"userId": launch.user_id, "credential": launch.credential},
        "createdAt": format_timestamp(launch.created_at),
        "updatedAt": format_timestamp(max(launch.updated_at, latest.updated_at)),
        "reviewUrl": f"{service.settings.base_url}/launches/{launch.id}",
    }


async def launch_to_json(service: Service, launch: ReadLaunch) -> dict[str, Json]:
    """Return a launch with its cells, its change sets and its totals."""
    exposures = {
        member.operation_id: member.exposure
        for change_set in launch.change_sets
        for member in change_set.members
        if member.operation_id is not None
    }
    cells = []
    for n, cell in enumerate(launch.cells):
        operation = launch.operations.get(cell.key)
        exposure = (
            None if operation is None else exposures.get(operation.record.id) or exposures.get(cell.operation_id or "")
        )
        cells.append(_cell_to_json(service, launch, cell, operation, exposure or {}))
        if n % VIEWS_PER_TURN == VIEWS_PER_TURN - 1:
            await asyncio.sleep(0)
    latest = launch.change_sets[-1].record
    return {
        **launch_summary_to_json(service, launch.record, latest),
        "cells": cells,
        "changeSets": [change_set_to_json(service, change_set) for change_set in launch.change_sets],
        "totals": _sum_totals((cell["network"], cell) for cell in cells),
    }


def _cell_to_json(
    service: Service,
    launch: ReadLaunch,
    cell: CellRecord,
    operation: CellOperation | None,
    exposure: Mapping[str, Json],
) -> dict[str, Json]:
    value: dict[str, Json] = {
        "key": cell.key,
        "accountId": cell.account_id,
        "network": cell.network,
        "state": _get_shown_state(launch, cell, operation),
        "issues": list(cell.issues),
        "leftOut": list(cell.left_out),
        "warnings": [] if operation is None else list(operation.record.warnings),
    }
    if operation is not None:
        value |= {name: spend for name, spend in exposure.items() if spend is not None}
        value |= {"risk": operation.record.risk, "operationId": operation.record.id}
        if operation.record.is_claimed:
            value["created"] = serializers.operation_to_json(service, operation.record, operation.attempts)["created"]
    return value


def _get_shown_state(launch: ReadLaunch, cell: CellRecord, operation: CellOperation | None) -> CellState:
    """Return the state of a cell: of its planning while a change set plans it, otherwise of its operation."""
    sets = [change_set for change_set in launch.change_sets if change_set.record.action == "create"]
    latest = sets[-1]
    member = next((candidate for candidate in latest.members if candidate.key == cell.key), None)
    if latest.record.status == "preparing" and member is not None and member.reason is None:
        return "invalid" if member.issues else "preparing"
    if operation is not None:
        return operation.state
    if cell.issues:
        return "invalid" if latest.record.status in ("invalid", "preparing") else "skipped"
    return "cancelled"


def change_set_to_json(service: Service, change_set: ReadChangeSet) -> dict[str, Json]:
    """Return a change set with the states of its operations."""
    record, states = change_set.record, change_set.states
    value: dict[str, Json] = {
        "id": record.id,
        "launchId": record.launch_id,
        "action": record.action,
        "digest": record.digest,
        "operations": [
            _member_to_json(member, states[member.operation_id])
            for member in change_set.members
            if member.operation_id is not None
        ],
        "status": record.status,
        "createdBy": {"userId": record.user_id, "credential": record.credential},
        "createdAt": format_timestamp(record.created_at),
        "expiresAt": format_optional_timestamp(record.expires_at),
        "reviewUrl": make_review_url(service, record),
        "excluded": [
            {"key": member.key, "reason": member.reason} for member in change_set.members if member.reason is not None
        ],
        "issues": [issue for member in change_set.members for issue in member.issues or () if member.reason is None],
        "members": len(change_set.members),
        "decided": sum(_is_decided(member) for member in change_set.members),
        "totals": _sum_totals(
            (member.network, member.exposure or {}) for member in change_set.members if member.operation_id
        ),
    }
    if record.executed_by is not None:
        value["executedBy"] = dict(record.executed_by)
    if record.error is not None:
        value["error"] = dict(record.error)
    return value


def _member_to_json(member: MemberRecord, state: CellState) -> dict[str, Json]:
    value = {
        "key": member.key,
        "operationId": member.operation_id,
        "accountId": member.account_id,
        "network": member.network,
        "digest": member.plan_digest,
        "state": state,
    }
    value |= {name: spend for name, spend in (member.exposure or {}).items() if spend is not None}
    return value if member.error is None else {**value, "error": dict(member.error)}


def _is_decided(member: MemberRecord) -> bool:
    return bool(member.is_planned or member.operation_id or member.issues or member.reason)


def make_review_url(service: Service, record: ChangeSetRecord) -> str:
    """Return the address of the page on which a change set is reviewed."""
    base = service.settings.base_url
    return f"{base}/change-sets/{record.id}"


def _sum_totals(parts: Iterable[tuple[str, Mapping[str, Json]]]) -> list[Json]:
    """Return the sums of exposure and planned budgets for each currency and network, in the order of the parts."""
    sums: dict[tuple[str | None, str], tuple[int, Spend, Spend]] = {}
    for network, part in parts:
        exposure, planned = part.get("exposure"), part.get("planned")
        if exposure is None:
            continue
        place = exposure["currency"], network
        count, exposed, budgets = sums.get(place, (0, NO_SPEND, NO_SPEND))
        added = NO_SPEND if planned is None else Spend.from_json(planned)
        sums[place] = count + 1, exposed + Spend.from_json(exposure), budgets + added
    return [
        {
            "currency": currency,
            "network": network,
            "cells": count,
            "exposure": exposed.to_json(currency),
            "planned": budgets.to_json(currency),
        }
        for (currency, network), (count, exposed, budgets) in sums.items()
    ]
