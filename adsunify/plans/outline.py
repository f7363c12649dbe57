"""The outline of a plan, which stays after the retention of the plan."""

from __future__ import annotations

from attrs import evolve

from adsunify.http.messages import Request

from .records import Plan, Step


def make_outline(plan: Plan) -> Plan:
    """Return a plan without the bodies, queries and bindings of its requests, so that it can be shown, not executed.

    Its steps keep their keys, kinds, descriptions, entities and changes, and the method and address of their requests.
    The digest of the outline differs from the digest of the plan.
    """
    edit = None if plan.edit is None else {name: plan.edit[name] for name in ("kind", "entityId")}
    exposure = None if plan.exposure is None else evolve(plan.exposure, guards=())
    return evolve(plan, steps=tuple(map(_outline_step, plan.steps)), edit=edit, exposure=exposure)


def _outline_step(step: Step) -> Step:
    request = Request(step.request.method, step.request.url, step.request.path)
    return Step(
        step.key,
        step.kind,
        step.description,
        request,
        action=step.action,
        entity=step.entity,
        parent=step.parent,
        changes=step.changes,
    )
