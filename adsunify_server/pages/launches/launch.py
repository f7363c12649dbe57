"""The list of launches, and a launch with the state of each of its cells."""

from __future__ import annotations

from typing import Any

from aiohttp import web

from adsunify.errors import Conflict, InvalidInput
from adsunify.launches.states import OPEN_STATUSES
from adsunify.problem_details import to_problem_details
from adsunify.service.desired.applying import find_open_apply
from adsunify_server.pages.request import PageRequest

from .cells import count_states, group_cells, list_totals

PREPARATIONS = ("activate", "pause", "undo", "prepare")
"""The last word in the address of each form that prepares a change set."""


async def show_launches(visit: PageRequest) -> web.Response:
    """Show a page of launches, newest first, and the open change set of a file."""
    cursor = {"cursor": visit.request.query["cursor"]} if "cursor" in visit.request.query else {}
    launches: list[Any] = []
    older: str | None = None
    async for page in visit.read_pages("get_launches", 20, query={**cursor, "limit": "50"}):
        launches, older = page.data, page.next_cursor
        if launches:
            break
    accounts = await visit.call_endpoint("get_accounts")
    return visit.render_page(
        "launches.html",
        launches=launches,
        applied=await find_open_apply(visit.service, visit.actor),
        older=older,
        is_first=not cursor,
        has_accounts=any(account["status"] != "disconnected" for account in accounts),
        has_sample=visit.is_sandbox,
    )


async def show_launch(visit: PageRequest) -> web.Response:
    """Show a launch: the state of each cell, and what can be done with it."""
    return await _render_launch(visit)


async def prepare_change_set(visit: PageRequest, word: str) -> web.Response:
    """Prepare a change set of the launch, and redirect to its review; this page shows why it is refused."""
    id_ = visit.path_parameter("launchId")
    body = {"skipInvalid": visit.form.get("skipInvalid") == "true"} if word == "prepare" else {}
    try:
        prepared = await visit.call_endpoint(f"post_launch_{word}", body, launchId=id_)
    except (Conflict, InvalidInput) as problem:
        return await _render_launch(visit, problem)
    return visit.redirect(visit.add_following(f"/change-sets/{prepared['id']}"))


async def _render_launch(visit: PageRequest, problem: Conflict | InvalidInput | None = None) -> web.Response:
    launch = await visit.call_endpoint("get_launch", launchId=visit.path_parameter("launchId"))
    accounts = {account["accountId"]: account for account in await visit.call_endpoint("get_accounts")}
    network = visit.request.query.get("network")
    states = {cell["state"] for cell in launch["cells"]}
    latest = launch["changeSets"][-1]
    groups = group_cells(launch["cells"], accounts, "create")
    return visit.render_page(
        "launch.html",
        200 if problem is None else problem.status,
        launch=launch,
        latest=latest,
        is_open=latest["status"] in OPEN_STATUSES,
        is_working=latest["status"] in ("preparing", "running"),
        groups=[group for group in groups if network in (None, group.network)],
        is_whole=network is not None,
        counts=count_states(cell["state"] for cell in launch["cells"]),
        totals=list_totals(launch["totals"]),
        has_succeeded="succeeded" in states,
        has_rest=bool(states & {"invalid", "skipped", "refused", "unknown", "expired", "cancelled"}),
        has_invalid=bool(states & {"invalid", "skipped"}),
        problem=None if problem is None else to_problem_details(problem),
    )
