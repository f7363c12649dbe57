"""A plan as JSON for people and for JSON cases: ``adsunify plan --json`` prints it."""

from __future__ import annotations

from adsunify.http.messages import build_request_url
from adsunify.values.exact_json import Json

from .records import Plan, Step


def plan_to_json(plan: Plan) -> dict[str, Json]:
    """Return a plan as ``--json`` prints it."""
    return {
        "network": plan.network,
        "version": plan.version,
        "digest": plan.digest,
        "risk": plan.risk,
        "warnings": list(plan.warnings),
        "steps": [step_to_json(step) for step in plan.steps],
    }


def step_to_json(step: Step) -> dict[str, Json]:
    """Return a step as ``--json`` prints it: ``url`` with its values, slots of later values as ``{p}``."""
    whole = step.to_json()
    value: dict[str, Json] = {
        "key": step.key,
        "kind": step.kind,
        "does": step.description,
        "method": step.request.method,
        "url": build_request_url(step.request),
        "headers": dict(step.request.headers),
        "body": step.request.body,
        "bindings": whole.get("bindings", []),
        "outputs": whole.get("outputs", []),
    }
    return value | {
        name: whole[name] for name in ("promises", "items", "overlay", "emptyOk", "changes") if name in whole
    }
