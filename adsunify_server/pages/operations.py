"""The operations of a workspace, and the review of one: read the plan, execute or cancel, read the receipt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from adsunify.actor import Actor
from adsunify.amounts import amounts
from adsunify.errors import AdsunifyError
from adsunify.networks import adapter
from adsunify.problems import described
from adsunify.service.core import Service
from adsunify.store import people
from adsunify.wire import Json

from .visiting import Door, Visit


def add_pages(door: Door) -> None:
    """``/``, ``/operations``, ``/review/<id>`` with ``execute``, ``cancel`` and ``activate``."""
    door.get("/", first)
    door.get("/operations", show_all)
    door.get("/review/{operationId}", show)
    door.post("/review/{operationId}/execute", execute)
    door.post("/review/{operationId}/cancel", cancel)
    door.post("/review/{operationId}/activate", activate)


async def first(visit: Visit) -> web.Response:
    """The first page is the operations."""
    return visit.to("/operations")


async def show_all(visit: Visit) -> web.Response:
    """The latest operations in the person's scope."""
    found = await visit.ask("get_operations")
    accounts = {account["accountId"]: account for account in await visit.ask("get_accounts")}
    return visit.page("operations.html", operations=found, accounts=accounts)


async def show(visit: Visit) -> web.Response:
    """One operation: the plan, what can be done with it, and its receipt."""
    return await _review(visit, await visit.ask("get_operation", operationId=visit.path("operationId")))


async def execute(visit: Visit) -> web.Response:
    """Write the change. What stands in the way is told on the review itself."""
    visit.confirmed()
    return await _done(visit, "post_operation_execute", {"confirmed": True})


async def cancel(visit: Visit) -> web.Response:
    """Cancel the operation."""
    return await _done(visit, "post_operation_cancel", {})


async def _done(visit: Visit, use_case: str, body: Json) -> web.Response:
    id_ = visit.path("operationId")
    try:
        await visit.ask(use_case, body, operationId=id_)
    except AdsunifyError as problem:
        if problem.operation is None:
            raise
        return await _review(visit, problem.operation, problem)
    return visit.to(f"/review/{id_}")


async def activate(visit: Visit) -> web.Response:
    """Prepare the activation of what the operation created; it has a review of its own."""
    id_ = visit.path("operationId")
    source = await visit.ask("get_operation", operationId=id_)
    body = {"accountId": source["accountId"], "sourceOperationId": id_}
    prepared = await visit.ask("post_activate", body)
    return visit.to(f"/review/{prepared['id']}")


async def _review(visit: Visit, operation: Mapping[str, Any], problem: AdsunifyError | None = None) -> web.Response:
    account = await visit.ask("get_account", accountId=operation["accountId"])
    open_ = operation["status"] == "prepared" and not operation["expired"]
    return visit.page(
        "review.html",
        200 if problem is None else problem.status,
        operation=operation,
        account=account,
        author=await _author(visit.service, visit.actor, operation["createdBy"]["userId"]),
        seconds=max(0, _seconds(operation["expiresAt"]) - visit.service.store.clock.now() // 1000),
        open_=open_,
        money=[amounts(account, step) for step in operation["plan"]["steps"]],
        units=adapter(operation["network"]).network.money,
        mine=operation["createdBy"]["userId"] == visit.actor.user_id,
        done=[step for step in operation["receipt"]["steps"] if step["state"] == "applied"],
        problem=None if problem is None else described(problem),
    )


async def _author(service: Service, actor: Actor, user_id: str) -> str:
    return (await service.store.read(people.user, user_id)).email


def _seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
