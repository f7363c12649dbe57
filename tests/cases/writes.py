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
    given = need(case, "step")
    if isinstance(given, Mapping) and "case" in given:
        other = library.named(str(given.get("network") or case.network), str(given["case"]))
        steps = created(other, library).steps
        key = given.get("key")
        found = steps[0] if key is None and len(steps) == 1 else step_called(case.network, steps, str(key))
        if found is None:
            raise NotACase(f"{other.name} has no step {key}; it has {', '.join(step.key for step in steps)}")
        return found, other
    if not isinstance(given, Mapping) or not ("method" in given or "request" in given):
        raise NotACase("input.step is a step as plan --json prints it, or names a case and a key")
    return _written_step(given), None


def _written_step(given: Mapping[str, Json]) -> Step:
    """A step from what ``plan --json`` prints of it; what that leaves out follows from the rest."""
    request = given.get("request") or {
        "method": given["method"],
        "url": given.get("url", ""),
        "headers": given.get("headers") or {},
        "body": given.get("body"),
        "encoding": "none" if given.get("body") is None else "json",
        "nature": "write",
    }
    outputs = [
        {
            "name": one["name"],
            "at": [one["at"]] if isinstance(one["at"], str) else one["at"],
            "after": one.get("after", ""),
        }
        for one in given.get("outputs") or ()
    ]
    action = given.get("action") or _action(str(request["method"]), bool(outputs), given.get("items") or {})
    known = {
        name: given[name]
        for name in ("bindings", "promises", "items", "overlay", "emptyOk", "changes")
        if given.get(name)
    }
    whole = {"key": "step", "kind": "campaign", "does": "", **given, "request": request, "action": action}
    return Step.from_json(
        {name: whole[name] for name in ("key", "kind", "does", "request", "action")} | known | {"outputs": outputs}
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
        return {name: _copied(one) for name, one in value.items()}
    return [_copied(one) for one in value] if isinstance(value, list | tuple) else value


_CALLED = {Applied: "applied", Rejected: "rejected", Throttled: "throttled", Ambiguous: "ambiguous"}


def shown_outcome(said: StepOutcome) -> dict[str, Json]:
    """An outcome as a case expects it."""
    value: dict[str, Json] = {"outcome": _CALLED[type(said)]}
    if not isinstance(said, Ambiguous):
        value["outputs"] = {name: one if isinstance(one, str) else list(one) for name, one in said.outputs.items()}
    if isinstance(said, Rejected):
        value["blame"] = said.blame
    if not isinstance(said, Applied):
        value["error"] = said.error.to_json()
    if isinstance(said, Ambiguous):
        value["reason"] = said.reason
    if isinstance(said, Throttled):
        value["retryAfterMs"] = None if said.retry_after is None else int(Decimal(str(said.retry_after)) * 1000)
    if said.items:
        value["items"] = [
            {
                "index": item.index,
                "outcome": item.state,
                "id": item.id,
                "outputs": {} if item.id is None else {"id": item.id},
                "error": None if item.error is None else item.error.to_json(),
            }
            for item in said.items
        ]
    return value
