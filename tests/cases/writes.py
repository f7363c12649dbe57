"""Outcome cases: the step that is answered, the request as it was sent, and the outcome as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from attrs import evolve

from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled
from adsunify.http.messages import Request
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value, set_value

from .cases import Case, Library, NotACase
from .plans import created, need, step_called


def step_of(case: Case, library: Library) -> tuple[Step, Case | None]:
    """The step of an outcome case, and the case that it was taken from."""
    members = need(case, "step")
    if isinstance(members, Mapping) and "case" in members:
        other = library.named(str(members.get("network") or case.network), str(members["case"]))
        steps = created(other, library).steps
        key = members.get("key")
        found = steps[0] if key is None and len(steps) == 1 else step_called(case.network, steps, str(key))
        if found is None:
            raise NotACase(f"{other.name} has no step {key}; it has {', '.join(step.key for step in steps)}")
        return found, other
    if not isinstance(members, Mapping) or not ("method" in members or "request" in members):
        raise NotACase("input.step is a step as plan --json prints it, or names a case and a key")
    return _written_step(members), None


def _written_step(members: Mapping[str, Json]) -> Step:
    """A step from what ``plan --json`` prints of it; what that leaves out follows from the rest."""
    request = members.get("request") or {
        "method": members["method"],
        "url": members.get("url", ""),
        "headers": members.get("headers") or {},
        "body": members.get("body"),
        "encoding": "none" if members.get("body") is None else "json",
        "nature": "write",
    }
    outputs = [
        {
            "name": output["name"],
            "at": [output["at"]] if isinstance(output["at"], str) else output["at"],
            "after": output.get("after", ""),
        }
        for output in members.get("outputs") or ()
    ]
    action = members.get("action") or _action(str(request["method"]), bool(outputs), members.get("items") or {})
    further = {
        name: members[name]
        for name in ("bindings", "promises", "items", "overlay", "emptyOk", "changes")
        if members.get(name)
    }
    whole = {"key": "step", "kind": "campaign", "does": "", **members, "request": request, "action": action}
    return Step.from_json(
        {name: whole[name] for name in ("key", "kind", "does", "request", "action")} | further | {"outputs": outputs}
    )


def _action(method: str, brings: bool, items: Mapping[str, Json]) -> str:
    if method == "DELETE" or (items.get("at") or "").endswith("/include"):
        return "delete"
    return "create" if method == "POST" and (brings or (items and not items.get("sent"))) else "update"


def as_sent(step: Step, recorded: Mapping[str, Json]) -> Request:
    """The step's request with the ids that the recorded one has in place of its bindings; items as recorded."""
    request, body = step.request, recorded.get("body")
    if body is None:
        return request
    if step.items is not None:
        sent, planned = (get_value({"body": one}, step.items.at) for one in (body, request.body))
        if isinstance(sent, list) and isinstance(planned, list) and len(sent) != len(planned):
            return evolve(request, body=body)  # a part of the items is sent again
    target = {"body": _copied(request.body)}
    for binding in step.bindings:
        value = get_value({"body": body}, binding.to) if binding.to.startswith("/body/") else None
        if value is not None:
            set_value(target, binding.to, value)
    return evolve(request, body=target["body"])


def _copied(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _copied(member) for name, member in value.items()}
    return [_copied(member) for member in value] if isinstance(value, list | tuple) else value


_CALLED = {Applied: "applied", Rejected: "rejected", Throttled: "throttled", Ambiguous: "ambiguous"}


def shown_outcome(outcome: StepOutcome) -> dict[str, Json]:
    """An outcome as a case expects it."""
    value: dict[str, Json] = {"outcome": _CALLED[type(outcome)]}
    if not isinstance(outcome, Ambiguous):
        value["outputs"] = {
            name: output if isinstance(output, str) else list(output) for name, output in outcome.outputs.items()
        }
    if isinstance(outcome, Rejected):
        value["blame"] = outcome.blame
    if not isinstance(outcome, Applied):
        value["error"] = outcome.error.to_json()
    if isinstance(outcome, Ambiguous):
        value["reason"] = outcome.reason
    if isinstance(outcome, Throttled):
        value["retryAfterMs"] = None if outcome.retry_after is None else int(Decimal(str(outcome.retry_after)) * 1000)
    if outcome.items:
        value["items"] = [
            {
                "index": item.index,
                "outcome": item.state,
                "id": item.id,
                "outputs": {} if item.id is None else {"id": item.id},
                "error": None if item.error is None else item.error.to_json(),
            }
            for item in outcome.items
        ]
    return value
