"""What a tool's result says in words: what was written, and what to do next. It never invites a blind repetition."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from adsunify.errors import AdsunifyError
from adsunify.problems import described
from adsunify.wire import Json, dumps

APPROVAL = "approval_required"
WRITTEN: Mapping[str, str] = {
    "not_applied": "Nothing was written to the ad network by this call.",
    "applied": "What the operation was to write is written; do not prepare it again.",
    "unknown": "Nobody knows whether something was written. Do not repeat it: look at the operation's receipt and at "
    "the account, and ask a person.",
}
STOPPED = (
    "The step that stopped was surely not written. Steps before it are written and stay ({steps}): read the receipt. "
    "Do not prepare the change again; execute sends only what was surely not written."
)
WAIT = "Wait {wait} ms before this is asked again."
UNFINISHED = "{id} is not finished: call execute again{wait} with this same operationId. Do not prepare it again."
PREPARED = "{id} is prepared and nothing of it is written yet. Show the plan to the person: {url}. execute writes it."
EXPIRED = "{id} is over: its 30 minutes have passed. Nothing more of it is written; see its receipt for what was."
RUNNING = "{id} is being executed. This call sent nothing: look at it again with operation."
DOUBTFUL = "Of {id} nobody knows whether its last write was done. Never repeat it: ask a person to look at the account."
APPROVE = "A person must approve: one who signs in executes it at {url}. An agent cannot; do not call execute again."


def result(value: Mapping[str, Json]) -> dict[str, Json]:
    """A good answer as a tool's result, with what its operations want done next in words."""
    return _result(value, [dumps(value), *_next(value.get("data"))])


def failed(problem: AdsunifyError) -> dict[str, Json]:
    """An error as a tool's result: what it was and whether anything was written."""
    value = {"error": described(problem)}
    wait = value["error"].get("retryAfterMs")
    said = [problem.message, written(problem), *([] if wait is None else [WAIT.format(wait=wait)])]
    return {"isError": True, **_result(value, ["\n".join(said), dumps(value)])}


def waiting(problem: AdsunifyError) -> dict[str, Json]:
    """The operation that waits for a person, as a result: it is no failure, and there is nothing to call again."""
    operation = {name: one for name, one in (problem.operation or {}).items() if name not in UNSAID}
    value = {"data": operation, "approvalRequired": True}
    said = f"{APPROVE.format(url=operation['reviewUrl'])}\n{written(problem)}"
    return _result(value, [said, dumps(value)])


UNSAID = ("nextAction", "retryAfterMs")
"""What tells others to go on."""


def written(problem: AdsunifyError) -> str:
    """Whether anything was written, as far as it is known."""
    before = list(_applied(problem.operation or {}))
    if problem.outcome == "not_applied" and before:
        return STOPPED.format(steps=", ".join(before))
    return WRITTEN[problem.outcome]


def _applied(operation: Mapping[str, Any]) -> Iterator[str]:
    for step in operation.get("receipt", {}).get("steps", ()):
        if step["state"] == "applied" or any(item["state"] == "applied" for item in step["items"]):
            yield step["key"]


def _next(data: Json) -> Iterator[str]:
    """A sentence for each operation that is not at its end."""
    if not isinstance(data, Mapping):
        return
    for one in (*data.get("operations", ()), *data.get("results", ())):
        yield from _next(one)
    if isinstance(data.get("error"), Mapping) and "operationId" in data and "plan" not in data:  # one of a batch
        yield f"{data['operationId']}: {data['error']['detail']} {WRITTEN[data['error']['outcome']]}"
    elif isinstance(data.get("operation"), Mapping):
        yield from _next(data["operation"])
    elif "plan" in data and "id" in data:
        yield from _wanted(data)


def _wanted(operation: Mapping[str, Any]) -> Iterator[str]:
    id_, wait = operation["id"], operation.get("retryAfterMs")
    if operation["stalled"] or operation["status"] == "unknown":
        yield DOUBTFUL.format(id=id_)
    elif operation["expired"]:
        yield EXPIRED.format(id=id_)
    elif operation["status"] == "running":
        yield RUNNING.format(id=id_)
    elif operation.get("nextAction") == "execute":
        yield UNFINISHED.format(id=id_, wait="" if wait is None else f" after {wait} ms")
    elif operation["status"] == "prepared" and not operation["receipt"]["steps"]:
        yield PREPARED.format(id=id_, url=operation["reviewUrl"])


def _result(value: Mapping[str, Json], texts: list[str]) -> dict[str, Json]:
    return {"content": [{"type": "text", "text": text} for text in texts], "structuredContent": value}
