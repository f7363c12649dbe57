"""The operations of a workspace, and the review of one: read the plan, execute or cancel, read the receipt."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime
from typing import Any

from aiohttp import web

from adsunify.errors import AdsunifyError
from adsunify.networks import get_adapter
from adsunify.plans.records import Binding
from adsunify.problem_details import to_problem_details
from adsunify.review.amounts import find_amounts
from adsunify.review.completion import Completion, get_operation_state, join_sentences, read_completion
from adsunify.store import people
from adsunify.values.exact_json import Json

from . import wording
from .operation_subject import DisplayedOperation, SubjectIndex
from .request import PageRequest, PageRouter


def add_pages(door: PageRouter) -> None:
    """``/``, ``/operations``, ``/review/<id>`` with ``execute``, ``cancel`` and ``activate``."""
    door.add_get("/", redirect_to_operations)
    door.add_get("/operations", show_operations)
    door.add_get("/review/{operationId}", show_operation)
    door.add_post("/review/{operationId}/execute", execute_operation)
    door.add_post("/review/{operationId}/cancel", cancel_operation)
    door.add_post("/review/{operationId}/activate", prepare_activation)


async def redirect_to_operations(visit: PageRequest) -> web.Response:
    """The first page is the operations."""
    return visit.redirect("/operations")


async def show_operations(visit: PageRequest) -> web.Response:
    """The latest operations in the person's scope."""
    found = await SubjectIndex.load(visit)
    latest = await visit.call_endpoint("get_operations")
    shown = [(found.operations[one["id"]], found.describe_operation(one["id"])) for one in latest]
    return visit.render_page(
        "operations.html", operations=shown, connected=bool(shown or await visit.call_endpoint("get_accounts"))
    )


async def show_operation(visit: PageRequest) -> web.Response:
    """One operation: the plan, what can be done with it, and its receipt."""
    return await _review_page(
        visit, await visit.call_endpoint("get_operation", operationId=visit.path_parameter("operationId"))
    )


async def execute_operation(visit: PageRequest) -> web.Response:
    """Write the change. What stands in the way is told on the review itself."""
    visit.require_confirmed()
    return await _call_and_review(visit, "post_operation_execute", {"confirmed": True})


async def cancel_operation(visit: PageRequest) -> web.Response:
    """Cancel the operation."""
    return await _call_and_review(visit, "post_operation_cancel", {})


async def _call_and_review(visit: PageRequest, use_case: str, body: Json) -> web.Response:
    id_ = visit.path_parameter("operationId")
    try:
        await visit.call_endpoint(use_case, body, operationId=id_)
    except AdsunifyError as problem:
        if problem.operation is None:
            raise
        return await _review_page(visit, problem.operation.data, problem)
    return visit.redirect(f"/review/{id_}")


async def prepare_activation(visit: PageRequest) -> web.Response:
    """Prepare the activation of what the operation created; it has a review of its own."""
    id_ = visit.path_parameter("operationId")
    source = await visit.call_endpoint("get_operation", operationId=id_)
    body = {"accountId": source["accountId"], "sourceOperationId": id_}
    prepared = await visit.call_endpoint("post_activate", body)
    return visit.redirect(f"/review/{prepared['id']}")


async def _review_page(
    visit: PageRequest, operation: Mapping[str, Any], problem: AdsunifyError | None = None
) -> web.Response:
    found = await SubjectIndex.load(visit, [operation["id"]])
    known = found.operations[operation["id"]]
    operation, account, state = known.shown, known.account, get_operation_state(known.shown)
    completion = read_completion(operation)
    return visit.render_page(
        "review.html",
        200 if problem is None else problem.status,
        operation=operation,
        account=account,
        subject=found.describe_operation(operation["id"]),
        state=state,
        author=await _read_author_email(visit, operation["createdBy"]["userId"]),
        acts=[
            (word, operation[member], await _read_author_email(visit, operation[member]["userId"]))
            for word, member in (("Executed", "executedBy"), ("Cancelled", "cancelledBy"))
            if member in operation
        ],
        seconds=max(0, _to_unix_seconds(operation["expiresAt"]) - visit.service.store.clock.now() // 1000),
        open_=state == "prepared",
        steps=[_step_values(known, number) for number in range(len(operation["plan"]["steps"]))],
        doubtful=_find_doubtful_step(operation, completion) if state in ("unknown", "stalled") else None,
        units=get_adapter(operation["network"]).network.money_note,
        mine=operation["createdBy"]["userId"] == visit.actor.user_id,
        completion=completion,
        problem=_last_problem(operation, completion) if problem is None else to_problem_details(problem),
    )


def _step_values(known: DisplayedOperation, number: int) -> dict[str, Any]:
    """A step for people: its outcome so far, its changes and amounts as money, and where ids of earlier steps go in."""
    step = known.shown["plan"]["steps"][number]
    states = [one["state"] for one in known.shown["receipt"]["steps"] if one["key"] == step["key"]]
    return {
        **step,
        "state": states[-1] if states else None,
        "changes": [wording.format_change(known.account, step["kind"], one) for one in step["changes"]],
        "money": [
            (
                one.pointer,
                None if one.major_amount is None else wording.format_amount(one.major_amount.split()[0], known.account),
                one.native_value,
            )
            for one in find_amounts(known.account, step)
        ],
        "fills": [_describe_binding(known, binding) for binding in known.plan.steps[number].bindings],
    }


def _describe_binding(known: DisplayedOperation, binding: Binding) -> tuple[str, str]:
    """Where an id of an earlier step goes in, and which one."""
    _, part, *way = binding.to.split("/")
    place = ".".join(way) if part == "body" else f"{'.'.join(way)} in the address"
    number = next(number for number, step in enumerate(known.plan.steps, 1) if step.key == binding.step)
    brought = [one["outputs"] for one in known.shown["receipt"]["steps"] if one["key"] == binding.step]
    id_ = brought[-1].get(binding.output) if brought else None
    which = "" if id_ is None else f", which is {id_}"
    return place, f"{binding.prefix}{' + ' if binding.prefix else ''}{binding.output} of step {number}{which}"


def _find_doubtful_step(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any]:
    """The step of which nobody knows whether it was written."""
    last = {one["key"]: one for one in operation["receipt"]["steps"]}
    return next(
        {"number": number, "does": step["does"], "receipt": last.get(step["key"], {})}
        for number, step in enumerate(operation["plan"]["steps"], 1)
        if step["key"] in completion.doubtful_steps
    )


def _last_problem(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any] | None:
    """Why the last execution stopped and what it wrote, in the form of a problem."""
    error = operation.get("error")
    if error is not None:
        detail = join_sentences(error["message"], completion.describe())
        return {**error, "title": "The last execution stopped", "detail": detail}
    if completion.outcome == "partly_applied" and "nextAction" not in operation:
        return {"title": "A part of it is written", "detail": completion.describe()}
    return None


async def _read_author_email(visit: PageRequest, user_id: str) -> str:
    return (await visit.service.store.read(people.get_user, user_id)).email


def _to_unix_seconds(instant: str) -> int:
    return int(datetime.fromisoformat(instant).timestamp())
