"""The operations of a workspace, and the review of one: read the plan, execute or cancel, read the receipt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.networks import adapter
from adsunify.plans.records import Binding
from adsunify.problem_details import described
from adsunify.review.amounts import amounts
from adsunify.review.completion import Completion, join_sentences, read_completion
from adsunify.store import people
from adsunify.values.exact_json import Json

from . import wording
from .subjects import Known, Subjects
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
    found = await Subjects.of(visit)
    latest = await visit.ask("get_operations")
    shown = [(found.all[one["id"]], found.about(one["id"])) for one in latest]
    return visit.page("operations.html", operations=shown, connected=bool(shown or await visit.ask("get_accounts")))


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
        return await _review(visit, problem.operation.data, problem)
    return visit.to(f"/review/{id_}")


async def activate(visit: Visit) -> web.Response:
    """Prepare the activation of what the operation created; it has a review of its own."""
    id_ = visit.path("operationId")
    source = await visit.ask("get_operation", operationId=id_)
    body = {"accountId": source["accountId"], "sourceOperationId": id_}
    prepared = await visit.ask("post_activate", body)
    return visit.to(f"/review/{prepared['id']}")


async def _review(visit: Visit, operation: Mapping[str, Any], problem: AdsunifyError | None = None) -> web.Response:
    found = await Subjects.of(visit, [operation["id"]])
    known = found.all[operation["id"]]
    operation, account, state = known.shown, known.account, wording.state(known.shown)
    completion = read_completion(operation)
    return visit.page(
        "review.html",
        200 if problem is None else problem.status,
        operation=operation,
        account=account,
        subject=found.about(operation["id"]),
        state=state,
        author=await _author(visit, operation["createdBy"]["userId"]),
        acts=[
            (word, operation[member], await _author(visit, operation[member]["userId"]))
            for word, member in (("Executed", "executedBy"), ("Cancelled", "cancelledBy"))
            if member in operation
        ],
        seconds=max(0, _seconds(operation["expiresAt"]) - visit.service.store.clock.now() // 1000),
        open_=state == "prepared",
        steps=[_shown(known, number) for number in range(len(operation["plan"]["steps"]))],
        doubtful=_doubtful(operation, completion) if state in ("unknown", "stalled") else None,
        units=adapter(operation["network"]).network.money,
        mine=operation["createdBy"]["userId"] == visit.actor.user_id,
        completion=completion,
        problem=_last(operation, completion) if problem is None else described(problem),
    )


def _shown(known: Known, number: int) -> dict[str, Any]:
    """A step for people: its outcome so far, its changes and amounts as money, and where ids of earlier steps go in."""
    step = known.shown["plan"]["steps"][number]
    states = [one["state"] for one in known.shown["receipt"]["steps"] if one["key"] == step["key"]]
    return {
        **step,
        "state": states[-1] if states else None,
        "changes": [wording.change(known.account, step["kind"], one) for one in step["changes"]],
        "money": [
            (one.member, None if one.major is None else wording.amount(one.major.split()[0], known.account), one.sent)
            for one in amounts(known.account, step)
        ],
        "fills": [_fill(known, binding) for binding in known.plan.steps[number].bindings],
    }


def _fill(known: Known, binding: Binding) -> tuple[str, str]:
    """Where an id of an earlier step goes in, and which one."""
    _, part, *way = binding.to.split("/")
    place = ".".join(way) if part == "body" else f"{'.'.join(way)} in the address"
    number = next(number for number, step in enumerate(known.plan.steps, 1) if step.key == binding.step)
    brought = [one["outputs"] for one in known.shown["receipt"]["steps"] if one["key"] == binding.step]
    id_ = brought[-1].get(binding.output) if brought else None
    which = "" if id_ is None else f", which is {id_}"
    return place, f"{binding.prefix}{' + ' if binding.prefix else ''}{binding.output} of step {number}{which}"


def _doubtful(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any]:
    """The step of which nobody knows whether it was written."""
    last = {one["key"]: one for one in operation["receipt"]["steps"]}
    return next(
        {"number": number, "does": step["does"], "receipt": last.get(step["key"], {})}
        for number, step in enumerate(operation["plan"]["steps"], 1)
        if step["key"] in completion.doubtful_steps
    )


def _last(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any] | None:
    """Why the last execution stopped and what it wrote, in the form of a problem."""
    error = operation.get("error")
    if error is not None:
        detail = join_sentences(error["message"], completion.describe())
        return {**error, "title": "The last execution stopped", "detail": detail}
    if completion.outcome == "partly_applied" and "nextAction" not in operation:
        return {"title": "A part of it is written", "detail": completion.describe()}
    return None


async def _author(visit: Visit, user_id: str) -> str:
    return (await visit.service.store.read(people.user, user_id)).email


def _seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
