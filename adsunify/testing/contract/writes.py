"""Outcome cases: the step that the network answers, the request as it was sent, and the outcome as JSON."""

from __future__ import annotations

from collections.abc import Mapping
from decimal import Decimal

from attrs import evolve

from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled
from adsunify.http.messages import Request
from adsunify.plans.records import Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value, set_value

from .cases import Case, InvalidCase, Library
from .plans import find_step, make_plan_of_case, require_member

_OUTCOME_NAMES = {Applied: "applied", Rejected: "rejected", Throttled: "throttled", Ambiguous: "ambiguous"}


def find_answered_step(case: Case, library: Library) -> tuple[Step, Case | None]:
    """Return the step of an outcome case, and the case whose plan has it, if it names one.

    Raises InvalidCase if ``input.step`` is not a step, or names a case or a step that does not exist.
    """
    members = require_member(case, "step")
    if isinstance(members, Mapping) and "case" in members:
        source = library.find_case(str(members.get("network") or case.network), str(members["case"]))
        steps = make_plan_of_case(source, library).steps
        key = members.get("key")
        step = steps[0] if key is None and len(steps) == 1 else find_step(case.network, steps, str(key))
        if step is None:
            raise InvalidCase(f"{source.name} has no step {key}; it has {', '.join(step.key for step in steps)}.")
        return step, source
    if not isinstance(members, Mapping) or not ("method" in members or "request" in members):
        raise InvalidCase("input.step must be a step as plan --json prints it, or name a case and a key.")
    return _parse_step(members), None


def _parse_step(members: Mapping[str, Json]) -> Step:
    """Parse a step that ``plan --json`` printed. The members that are not printed are derived from the printed ones."""
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
    action = members.get("action") or _infer_action(str(request["method"]), bool(outputs), members.get("items") or {})
    optional = {
        name: members[name]
        for name in ("bindings", "promises", "items", "overlay", "emptyOk", "changes")
        if members.get(name)
    }
    value = {"key": "step", "kind": "campaign", "does": "", **members, "request": request, "action": action}
    required = {name: value[name] for name in ("key", "kind", "does", "request", "action")}
    return Step.from_json(required | optional | {"outputs": outputs})


def _infer_action(method: str, has_outputs: bool, items: Mapping[str, Json]) -> str:
    if method == "DELETE" or (items.get("at") or "").endswith("/include"):
        return "delete"
    return "create" if method == "POST" and (has_outputs or (items and not items.get("sent"))) else "update"


def make_sent_request(step: Step, recorded: Mapping[str, Json]) -> Request:
    """Return the request of a step as it was sent: the ids of the recorded request fill the bindings.

    If the record has another number of items, a part of them was sent again, and the body is the recorded one.
    """
    request, body = step.request, recorded.get("body")
    if body is None:
        return request
    if step.items is not None:
        sent, planned = (get_value({"body": value}, step.items.at) for value in (body, request.body))
        if isinstance(sent, list) and isinstance(planned, list) and len(sent) != len(planned):
            return evolve(request, body=body)
    target = {"body": _copy(request.body)}
    for binding in step.bindings:
        value = get_value({"body": body}, binding.to) if binding.to.startswith("/body/") else None
        if value is not None:
            set_value(target, binding.to, value)
    return evolve(request, body=target["body"])


def _copy(value: Json) -> Json:
    if isinstance(value, Mapping):
        return {name: _copy(member) for name, member in value.items()}
    return [_copy(member) for member in value] if isinstance(value, list | tuple) else value


def outcome_to_json(outcome: StepOutcome) -> dict[str, Json]:
    """Return an outcome in the form in which a case expects it."""
    value: dict[str, Json] = {"outcome": _OUTCOME_NAMES[type(outcome)]}
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
