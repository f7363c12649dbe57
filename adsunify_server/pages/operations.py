"""Pages of operations: the list, and the review of an operation, where a person executes or cancels it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, get_args

from aiohttp import web

from adsunify.errors import AdsunifyError, Conflict, InvalidInput, OperationError, ProviderError
from adsunify.execution.state import OperationStatus
from adsunify.networks.registry import get_adapter
from adsunify.plans.records import Action, Binding
from adsunify.problem_details import to_problem_details
from adsunify.review.amounts import find_amounts
from adsunify.review.completion import Completion, get_operation_state, join_sentences, read_completion
from adsunify.review.content import describe_content
from adsunify.review.exposure import describe_exposure
from adsunify.service.operations import count_seconds_to_expiry
from adsunify.service.users import read_emails
from adsunify.values.exact_json import Json

from . import wording
from .operation_subject import DisplayedOperation, SubjectIndex
from .request import PageRequest, PageRouter

FILTERS = ("status", "network", "accountId", "action", "since", "until")
"""The filters of the list, as its form names them."""
PAGE_SIZE = 50
MAX_EMPTY_PAGES = 20
"""How many pages without an operation are passed over before the page is shown."""
ENDED_STATES = ("succeeded", "cancelled", "expired")
"""The states in which the page does not say what the operation can spend."""
UNDONE_ACTIONS = ("create", "activate", "status", "edit")
"""The actions that an undo can take back."""
ACTS = (("Executed", "executedBy"), ("Cancelled", "cancelledBy"))
"""What was done with an operation: the word on the page, and the member that says who did it."""


def add_pages(router: PageRouter) -> None:
    """Add ``/``, ``/operations``, ``/review/<id>``, and the actions of an operation below it."""
    router.add_get("/", redirect_to_operations)
    router.add_get("/operations", show_operations)
    router.add_get("/review/{operationId}", show_operation)
    router.add_post("/review/{operationId}/execute", execute_operation)
    router.add_post("/review/{operationId}/cancel", cancel_operation)
    router.add_post("/review/{operationId}/inspect", inspect_operation)
    router.add_post("/review/{operationId}/activate", prepare_activation)
    router.add_post("/review/{operationId}/undo", prepare_undo)
    router.add_post("/review/{operationId}/resume", resume_operation)
    router.add_post("/review/{operationId}/settle", settle_step)


async def redirect_to_operations(visit: PageRequest) -> web.Response:
    """Redirect to the first page."""
    return visit.redirect("/operations")


async def show_operations(visit: PageRequest) -> web.Response:
    """Show a page of operations in the person's scope, newest first, with filters and a link to older ones."""
    filters = {name: value for name in FILTERS if (value := visit.request.query.get(name))}
    cursor = {"cursor": visit.request.query["cursor"]} if "cursor" in visit.request.query else {}
    ids: list[str] = []
    older: str | None = None
    query = {**_make_query(filters), **cursor}
    async for page in visit.read_pages("get_operations", MAX_EMPTY_PAGES, query=query):
        ids, older = [operation["id"] for operation in page.data], page.next_cursor
        if ids:
            break
    subjects = await SubjectIndex.load(visit, ids)
    accounts = await visit.call_endpoint("get_accounts")
    return visit.render_page(
        "operations.html",
        operations=[(subjects.operations[id_], subjects.describe_operation(id_)) for id_ in ids],
        accounts=accounts,
        networks=sorted({account["network"] for account in accounts}),
        statuses=get_args(OperationStatus),
        actions=get_args(Action),
        filters=filters,
        is_first=not cursor,
        has_sample=visit.is_sandbox,
        older=None if older is None else {**filters, "cursor": older},
    )


def _make_query(filters: Mapping[str, str]) -> dict[str, str]:
    """Return the query of the filters of the page, whose days begin at midnight UTC."""
    midnights = {name: f"{filters[name]}T00:00:00Z" for name in ("since", "until") if name in filters}
    return {**filters, **midnights, "limit": str(PAGE_SIZE)}


async def show_operation(visit: PageRequest) -> web.Response:
    """Show an operation: its plan, its actions and its receipt."""
    return await _review_page(
        visit, await visit.call_endpoint("get_operation", operationId=visit.path_parameter("operationId"))
    )


async def execute_operation(visit: PageRequest) -> web.Response:
    """Execute the operation; the review page shows errors."""
    visit.require_confirmed()
    body = {"confirmed": True, "allowStale": visit.form.get("allowStale") == "true"}
    return await _call_and_review(visit, "post_operation_execute", body)


async def cancel_operation(visit: PageRequest) -> web.Response:
    """Cancel the operation."""
    return await _call_and_review(visit, "post_operation_cancel", {})


async def _call_and_review(visit: PageRequest, use_case: str, body: Json) -> web.Response:
    id_ = visit.path_parameter("operationId")
    try:
        await visit.call_endpoint(use_case, body, operationId=id_)
    except AdsunifyError as problem:
        if problem.operation_data is None:
            raise
        return await _review_page(visit, problem.operation_data, problem)
    return visit.redirect(f"/review/{id_}")


async def resume_operation(visit: PageRequest) -> web.Response:
    """Prepare the rest of the operation, and redirect to its review; this page shows errors."""
    id_ = visit.path_parameter("operationId")
    try:
        prepared = await visit.call_endpoint("post_operation_resume", {}, operationId=id_)
    except AdsunifyError as problem:
        if problem.operation_data is None:
            raise
        return await _review_page(visit, problem.operation_data, problem)
    return visit.redirect(f"/review/{prepared['id']}")


async def settle_step(visit: PageRequest) -> web.Response:
    """Record what the person says about a step in doubt."""
    body = {name: value for name in ("step", "verdict", "entityId") if (value := visit.form.get(name))}
    return await _call_and_review(visit, "post_operation_settle", body)


async def inspect_operation(visit: PageRequest) -> web.Response:
    """Inspect the operation, and show what the network has of it."""
    id_ = visit.path_parameter("operationId")
    try:
        inspection = await visit.call_endpoint("post_operation_inspect", {}, operationId=id_)
    except (InvalidInput, OperationError, ProviderError) as problem:
        return await _review_page(visit, await visit.call_endpoint("get_operation", operationId=id_), problem)
    operation = await visit.call_endpoint("get_operation", operationId=id_)
    return await _review_page(visit, operation, inspection=inspection)


async def prepare_activation(visit: PageRequest) -> web.Response:
    """Prepare the activation of the created entities, and redirect to its review."""
    id_ = visit.path_parameter("operationId")
    source = await visit.call_endpoint("get_operation", operationId=id_)
    body = {"accountId": source["accountId"], "sourceOperationId": id_}
    prepared = await visit.call_endpoint("post_activate", body)
    return visit.redirect(f"/review/{prepared['id']}")


async def prepare_undo(visit: PageRequest) -> web.Response:
    """Prepare the undo of the operation, and redirect to its review; the review page shows why it is refused."""
    id_ = visit.path_parameter("operationId")
    try:
        prepared = await visit.call_endpoint("post_operation_undo", {}, operationId=id_)
    except (Conflict, InvalidInput, OperationError) as problem:
        return await _review_page(visit, await visit.call_endpoint("get_operation", operationId=id_), problem)
    return visit.redirect(f"/review/{prepared['id']}")


async def _review_page(
    visit: PageRequest,
    operation: Mapping[str, Any],
    problem: AdsunifyError | None = None,
    inspection: Mapping[str, Any] | None = None,
) -> web.Response:
    subjects = await SubjectIndex.load(visit, [operation["id"]])
    displayed = subjects.operations[operation["id"]]
    operation, account, state = displayed.data, displayed.account, get_operation_state(displayed.data)
    completion = read_completion(operation)
    acts = [(word, operation[member]) for word, member in ACTS if member in operation]
    subject = subjects.describe_operation(operation["id"])
    source = subject.source if wording.is_starting(operation) else None
    user_ids = (act["userId"] for act in (operation["createdBy"], *(act for _, act in acts)))
    emails = await read_emails(visit.service, user_ids)
    return visit.render_page(
        "review.html",
        200 if problem is None else problem.status,
        operation=operation,
        warnings=await _name_guardrails(visit, operation["warnings"]),
        exposure=None if state in ENDED_STATES else describe_exposure(operation["plan"]),
        account=account,
        content=describe_content((source or operation)["plan"]),
        content_source=source,
        subject=subject,
        state=state,
        author=emails[operation["createdBy"]["userId"]],
        acts=[(word, act, emails[act["userId"]]) for word, act in acts],
        key_names={key["keyId"]: key["name"] for key in (await visit.call_endpoint("get_keys") if acts else ())},
        seconds=count_seconds_to_expiry(visit.service, operation),
        open_=state == "prepared" and "resumedBy" not in operation,
        steps=[_step_values(displayed, number) for number in range(len(operation["plan"]["steps"]))],
        doubtful=_find_doubtful_step(operation, completion) if state in ("unknown", "stalled") else None,
        units=get_adapter(operation["network"]).network.money_note,
        can_resume=_can_resume(operation, state, completion),
        can_undo=_can_undo(operation, state, completion),
        doubts=[step for step in operation["plan"]["steps"] if step["key"] in completion.doubtful_steps],
        mine=operation["createdBy"]["userId"] == visit.actor.user_id,
        completion=completion,
        inspection=inspection,
        problem=_last_problem(operation, completion) if problem is None else to_problem_details(problem),
    )


def _can_resume(operation: Mapping[str, Any], state: str, completion: Completion) -> bool:
    """Whether a new operation may be able to write the rest of this one."""
    is_half = completion.outcome == "partly_applied" and state in ("prepared", "expired", "cancelled")
    is_over = state in ("unknown", "stalled", "expired") or (is_half and "nextAction" not in operation)
    return is_over and "resumedBy" not in operation and "restoredAt" not in operation


def _can_undo(operation: Mapping[str, Any], state: str, completion: Completion) -> bool:
    """Whether the operation has written, or may have written, something that an undo can take back."""
    sent = {attempt["key"] for attempt in operation["receipt"]["steps"]}
    is_written = not sent.isdisjoint((*completion.applied_steps, *completion.doubtful_steps))
    return is_written and state != "running" and operation["action"] in UNDONE_ACTIONS


async def _name_guardrails(visit: PageRequest, warnings: Sequence[str]) -> list[str]:
    """Return the warnings of an operation with the names of guardrails in place of their ids."""
    named = list(warnings)
    for rule in await visit.call_endpoint("get_guardrails") if named else ():
        named = [warning.replace(f'"{rule["id"]}"', f'"{rule["name"]}"') for warning in named]
    return named


def _step_values(displayed: DisplayedOperation, number: int) -> dict[str, Any]:
    """Return a step for the page: its state, changes and amounts, and the values that come from earlier steps."""
    step = displayed.data["plan"]["steps"][number]
    states = [attempt["state"] for attempt in displayed.data["receipt"]["steps"] if attempt["key"] == step["key"]]
    is_carried = displayed.data["plan"].get("carried", {}).get(step["key"], {}).get("outputs") is not None
    return {
        **step,
        "state": states[-1] if states else "applied" if is_carried else None,
        "changes": [wording.format_change(displayed.account, step["kind"], change) for change in step["changes"]],
        "money": [
            (
                amount.pointer,
                None
                if amount.major_amount is None
                else wording.format_amount(amount.major_amount.split()[0], displayed.account),
                amount.native_value,
            )
            for amount in find_amounts(displayed.account, step)
        ],
        "fills": [_describe_binding(displayed, binding) for binding in displayed.plan.steps[number].bindings],
    }


def _describe_binding(displayed: DisplayedOperation, binding: Binding) -> tuple[str, str]:
    """Return where a value of an earlier step is filled in, and which value."""
    _, part, *pointer = binding.to.split("/")
    place = ".".join(pointer) if part == "body" else f"{'.'.join(pointer)} in the address"
    number = next(number for number, step in enumerate(displayed.plan.steps, 1) if step.key == binding.step)
    outputs = [attempt["outputs"] for attempt in displayed.data["receipt"]["steps"] if attempt["key"] == binding.step]
    id_ = outputs[-1].get(binding.output) if outputs else None
    suffix = "" if id_ is None else f", which is {id_}"
    return place, f"{binding.prefix}{' + ' if binding.prefix else ''}{binding.output} of step {number}{suffix}"


def _find_doubtful_step(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any]:
    """Return the step whose outcome is unknown."""
    last_attempts = {attempt["key"]: attempt for attempt in operation["receipt"]["steps"]}
    return next(
        {"number": number, "does": step["does"], "receipt": last_attempts.get(step["key"], {})}
        for number, step in enumerate(operation["plan"]["steps"], 1)
        if step["key"] in completion.doubtful_steps
    )


def _last_problem(operation: Mapping[str, Any], completion: Completion) -> dict[str, Any] | None:
    """Return, as a problem, why the last execution stopped and what it wrote."""
    error = operation.get("error")
    if error is not None:
        detail = join_sentences(error["message"], completion.describe())
        return {**error, "title": "The last execution stopped", "detail": detail}
    if completion.outcome == "partly_applied" and "nextAction" not in operation:
        return {"title": "Partly written", "detail": completion.describe()}
    return None
