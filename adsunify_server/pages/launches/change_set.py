"""The review of a change set: its money, its cells, and one confirmation for all of it."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from datetime import datetime
from typing import Any

from aiohttp import web

from adsunify.errors import Conflict, NotFound, OperationError
from adsunify.problem_details import to_problem_details
from adsunify.review.content import describe_content
from adsunify.service.users import read_emails
from adsunify_server.pages import wording
from adsunify_server.pages.rendering import format_value
from adsunify_server.pages.request import PageRequest

from .cells import NetworkCells, count_states, format_issue, group_cells, list_totals

MAX_DESCRIBED = 25
"""The most operations of a file whose changes the page shows field by field."""
WORKING = ("preparing", "running")
"""The statuses in which the page loads itself again."""


async def show_change_set(visit: PageRequest) -> web.Response:
    """Show a change set for its review, or while it is prepared or executed."""
    return await _render_change_set(visit)


async def execute_change_set(visit: PageRequest) -> web.Response:
    """Execute the change set whose digest the page showed; this page shows why it is refused."""
    visit.require_confirmed()
    body = {"confirmed": True, "digest": visit.form.get("digest", "")}
    return await _call(visit, "post_change_set_execute", body)


async def cancel_change_set(visit: PageRequest) -> web.Response:
    """Cancel the change set: operations that have not begun are not written."""
    return await _call(visit, "post_change_set_cancel", {})


async def _call(visit: PageRequest, operation_id: str, body: Any) -> web.Response:
    id_ = visit.path_parameter("changeSetId")
    try:
        await visit.call_endpoint(operation_id, body, changeSetId=id_)
    except (Conflict, OperationError) as problem:
        return await _render_change_set(visit, problem)
    return visit.redirect(visit.add_following(f"/change-sets/{id_}"))


async def _render_change_set(visit: PageRequest, problem: Conflict | OperationError | None = None) -> web.Response:
    change_set = await visit.call_endpoint("get_change_set", changeSetId=visit.path_parameter("changeSetId"))
    accounts = {account["accountId"]: account for account in await visit.call_endpoint("get_accounts")}
    network = visit.request.query.get("network")
    launch = await _read_launch(visit, change_set)
    cells = {cell["key"]: cell for cell in (launch or {}).get("cells", ())}
    operations = [
        _add_cell(operation, cells.get(operation["key"]), change_set["action"])
        for operation in change_set["operations"]
    ]
    groups = [
        group for group in group_cells(operations, accounts, change_set["action"]) if network in (None, group.network)
    ]
    is_prepared = change_set["status"] == "prepared"
    has_content = is_prepared and change_set["action"] in ("create", "apply", "activate")
    has_changes = is_prepared and change_set["action"] == "apply"
    if has_changes:
        await _add_changes(visit, groups, accounts)
    actors = [change_set["createdBy"], *([change_set["executedBy"]] if "executedBy" in change_set else [])]
    return visit.render_page(
        "change-set.html",
        200 if problem is None else problem.status,
        change_set=change_set,
        launch=launch,
        groups=groups,
        is_whole=network is not None,
        contents=await _describe_samples(visit, groups) if has_content else {},
        max_described=MAX_DESCRIBED
        if has_changes and sum(len(group.rows) for group in groups) > MAX_DESCRIBED
        else None,
        excluded=_group_reasons(change_set, accounts, cells),
        issues=list(dict.fromkeys(format_issue(issue) for issue in change_set["issues"])),
        counts=count_states(operation["state"] for operation in change_set["operations"]),
        totals=list_totals(change_set["totals"]),
        emails=await read_emails(visit.service, (user["userId"] for user in actors)),
        minutes=_count_minutes(visit, change_set),
        is_working=change_set["status"] in WORKING,
        problem=None if problem is None else to_problem_details(problem),
    )


async def _read_launch(visit: PageRequest, change_set: Mapping[str, Any]) -> dict[str, Any] | None:
    if change_set["launchId"] is None:
        return None
    launch: dict[str, Any] = await visit.call_endpoint("get_launch", launchId=change_set["launchId"])
    return launch


def _add_cell(operation: Mapping[str, Any], cell: Mapping[str, Any] | None, action: str) -> dict[str, Any]:
    """Return an operation with the warnings of the cell that it creates, and with the members that are left out."""
    if cell is None or action != "create":
        return dict(operation)
    return {**operation, "warnings": cell["warnings"], "leftOut": cell["leftOut"]}


async def _describe_samples(visit: PageRequest, groups: list[NetworkCells]) -> dict[str, tuple[str, Any]]:
    """Return, by code of the network, the name of the last cell and what this cell sends or activates.

    In a file the creations are the last operations, so the last cell is a creation if there is one.
    """
    samples = [group.rows[-1] for group in groups]
    operations = await asyncio.gather(
        *(visit.call_endpoint("get_operation", operationId=row.operation_id or "") for row in samples)
    )
    sources = await asyncio.gather(*(_read_source(visit, operation) for operation in operations))
    contents = [describe_content(operation["plan"]) for operation in sources]
    return {
        group.network: (row.name, content)
        for group, row, content in zip(groups, samples, contents, strict=True)
        if content
    }


async def _read_source(visit: PageRequest, operation: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the operation that created what an operation activates; the operation itself, if it activates nothing."""
    source: Mapping[str, Any] = operation
    with suppress(NotFound):  # the person may not read it any more
        if "sourceOperationId" in operation:
            source = await visit.call_endpoint("get_operation", operationId=operation["sourceOperationId"])
    return source


async def _add_changes(visit: PageRequest, groups: list[NetworkCells], accounts: Mapping[str, Any]) -> None:
    """Add notes with the changes of the first operations: each field before and after."""
    rows = [(group, row) for group in groups for row in group.rows][:MAX_DESCRIBED]
    operations = await asyncio.gather(
        *(visit.call_endpoint("get_operation", operationId=row.operation_id or "") for _, row in rows)
    )
    for (group, row), operation in zip(rows, operations, strict=True):
        for step in operation["plan"]["steps"] if operation["action"] != "create" else ():
            for change in step["changes"]:
                group.add_note(
                    "changes", _describe_change(accounts[operation["accountId"]], step["kind"], change), row.key
                )


def _describe_change(account: Mapping[str, Any], kind: str, change: Mapping[str, Any]) -> str:
    texts = wording.format_change(account, kind, change)
    before, after = ("none" if texts[name] is None else format_value(texts[name]) for name in ("before", "after"))
    return f"{texts['field']}: {before} → {after}"


def _group_reasons(
    change_set: Mapping[str, Any], accounts: Mapping[str, Any], cells: Mapping[str, Any]
) -> list[tuple[str, list[str]]]:
    """Group the cells that are left out: each reason with the names of its cells."""
    reasons: dict[str, list[str]] = {}
    for exclusion in change_set["excluded"]:
        cell = cells.get(exclusion["key"])
        account = None if cell is None or cell["key"] != cell["accountId"] else accounts.get(cell["accountId"])
        name = exclusion["key"] if account is None else account["name"] or account["nativeId"]
        reasons.setdefault(exclusion["reason"], []).append(name)
    return [*reasons.items()]


def _count_minutes(visit: PageRequest, change_set: Mapping[str, Any]) -> int | None:
    """Return how many whole minutes are left for the review; None if the review does not expire."""
    if change_set["expiresAt"] is None or change_set["status"] != "prepared":
        return None
    left = datetime.fromisoformat(change_set["expiresAt"]) - visit.service.now()
    return max(0, int(left.total_seconds() // 60))
