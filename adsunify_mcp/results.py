"""The text of a tool's result: what was written and what to do next. It never suggests to repeat a change blindly."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adsunify.errors import AdsunifyError, GuardrailRefused
from adsunify.guardrails.refusals import describe_approval
from adsunify.problem_details import to_problem_details
from adsunify.review.completion import read_completion
from adsunify.review.exposure import describe_exposure
from adsunify.values.exact_json import Json, dumps

from .method_results import ToolResult

APPROVAL_CODE = "approval_required"
OUTCOME_TEXTS: Mapping[str, str] = {
    "not_applied": "Nothing was written to the ad network by this call.",
    "unknown": "It is not known whether anything was written. Do not repeat the change: read the operation's receipt, "
    "look at the account, and ask a person.",
}
"""Sentences that are added to an error. The message of an error with an operation already says what was written."""
WAIT_TEXT = "Wait {wait} ms before the next call."
UNFINISHED_TEXT = "{id} is not finished: call execute again{wait} with this same operationId. {steps}"
PREPARED_TEXT = (
    "{id} is prepared; nothing is written yet. {exposure}Show the plan to the person: {url}. execute writes the change."
)
OVER_TEXT = "{id} has ended: {why}. {completion}"
OVER_REASONS: Mapping[str, str] = {"expired": "its 30 minutes have passed", "cancelled": "it was cancelled"}
RUNNING_TEXT = "{id} is being executed. This call sent nothing. Call operation to read its state."
DOUBTFUL_TEXT = (
    "It is not known whether the last write of {id} was done. {steps} "
    "Never repeat it: call post_operation_resume, which prepares only what is not written, or ask a person to look at "
    "the account."
)
APPROVE_TEXT = (
    "A person must approve this operation: a person who is signed in executes it at {url}. An agent cannot execute it; "
    "do not call execute again."
)
DECLINED_TEXT = (
    "The person did not open the review page. This call sent nothing. Do not call execute again unless the person asks "
    "for it; a person who is signed in can still execute it at {url}."
)


def success_result(value: Mapping[str, Json]) -> ToolResult:
    """Return a response as a tool's result, with a sentence on the next step of each operation."""
    return _tool_result(value, [dumps(value), *_next_step_texts(value.get("data"))])


def error_result(problem: AdsunifyError) -> ToolResult:
    """Return an error as a tool's result: the message, and whether anything was written."""
    value = {"error": to_problem_details(problem)}
    wait = value["error"].get("retryAfterMs")
    sentences = [
        *_error_texts(problem.message, value["error"]),
        *([] if wait is None else [WAIT_TEXT.format(wait=wait)]),
    ]
    return _tool_result(value, ["\n".join(sentences), dumps(value)], is_error=True)


def approval_required_result(problem: AdsunifyError) -> ToolResult:
    """Return an operation that waits for a person's approval as a result, which is not an error.

    ``guardrails`` lists the rules that demand a person, as over REST; it is empty if the workspace demands one.
    """
    data = problem.operation_data or {}
    operation = _remove_continuation(data)
    breaches = problem.breaches if isinstance(problem, GuardrailRefused) else ()
    value = {"data": operation, "approvalRequired": True, "guardrails": [breach.to_json() for breach in breaches]}
    sentences = (
        *map(describe_approval, breaches),
        APPROVE_TEXT.format(url=operation["reviewUrl"]),
        read_completion(operation).describe_steps(),
    )
    return _tool_result(value, ["\n".join(sentences), dumps(value)])


def declined_result(data: Mapping[str, Any]) -> ToolResult:
    """Return an operation or a change set whose review page the person refused to open."""
    value = {"data": _remove_continuation(data), "approvalRequired": True, "guardrails": []}
    return _tool_result(value, [DECLINED_TEXT.format(url=data["reviewUrl"]), dumps(value)])


def _remove_continuation(data: Mapping[str, Any]) -> dict[str, Json]:
    return {name: member for name, member in data.items() if name not in CONTINUATION_MEMBERS}


CONTINUATION_MEMBERS = ("nextAction", "retryAfterMs")
"""Members that tell the caller to call execute again."""


def _error_texts(message: str, error: Mapping[str, Any]) -> Iterator[str]:
    """Yield the message of an error, and whether anything was written if the message does not contain it."""
    yield message
    if error["outcome"] == "unknown":
        yield OUTCOME_TEXTS["unknown"]
    elif "operation" not in error:
        yield OUTCOME_TEXTS["not_applied"]


def _next_step_texts(data: Json) -> Iterator[str]:
    """Yield a sentence for each operation that has a next step."""
    if not isinstance(data, Mapping):
        return
    if "changeSets" in data:
        for part in data["changeSets"][-1:]:
            yield from _change_set_texts(part)
        return
    if "excluded" in data and "digest" in data:
        yield from _change_set_texts(data)
        return
    for part in (*data.get("operations", ()), *data.get("results", ())):
        yield from _next_step_texts(part)
    if isinstance(data.get("error"), Mapping) and "operationId" in data and "plan" not in data:  # in a batch
        yield f"{data['operationId']}: {' '.join(_error_texts(data['error']['detail'], data['error']))}"
    elif isinstance(data.get("operation"), Mapping):
        yield from _next_step_texts(data["operation"])
    elif "plan" in data and "id" in data:
        yield from _operation_texts(data)


def _change_set_texts(change_set: Mapping[str, Any]) -> Iterator[str]:
    """Yield what can be done with a change set in its status."""
    text = CHANGE_SET_TEXTS.get(change_set["status"])
    if text is not None:
        yield text.format(id=change_set["id"], url=change_set["reviewUrl"], digest=change_set["digest"])


CHANGE_SET_TEXTS: Mapping[str, str] = {
    "preparing": "{id} is being prepared. Call get_change_set to follow. Nothing is written.",
    "invalid": "{id} is invalid: issues says why. Nothing of it is prepared. Create a corrected launch, or call "
    "post_launch_prepare with skipInvalid.",
    "prepared": "{id} is prepared. A person can review it at {url}. To execute it, call post_change_set_execute with "
    "digest {digest}.",
    "running": "{id} is being executed in the background. Call get_change_set to follow.",
}


def _operation_texts(operation: Mapping[str, Any]) -> Iterator[str]:
    id_, wait = operation["id"], operation.get("retryAfterMs")
    if operation["stalled"] or operation["status"] == "unknown":
        yield DOUBTFUL_TEXT.format(id=id_, steps=read_completion(operation).describe_steps())
    elif operation["expired"] or operation["status"] == "cancelled":
        reason = OVER_REASONS["expired" if operation["expired"] else "cancelled"]
        yield OVER_TEXT.format(id=id_, why=reason, completion=read_completion(operation).describe())
    elif operation["status"] == "running":
        yield RUNNING_TEXT.format(id=id_)
    elif operation.get("nextAction") == "execute":
        steps = read_completion(operation).describe_steps()
        yield UNFINISHED_TEXT.format(id=id_, wait="" if wait is None else f" after {wait} ms", steps=steps)
    elif operation["status"] == "prepared" and operation["receipt"]["steps"]:
        yield f"{id_} is prepared. {read_completion(operation).describe()}"
    elif operation["status"] == "prepared":
        exposure = describe_exposure(operation["plan"])
        sentence = "" if exposure is None else f"{exposure} "
        yield PREPARED_TEXT.format(id=id_, exposure=sentence, url=operation["reviewUrl"])


def _tool_result(value: Mapping[str, Json], texts: list[str], *, is_error: bool = False) -> ToolResult:
    return ToolResult([{"type": "text", "text": text} for text in texts], value, is_error)
