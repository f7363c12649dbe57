"""Records as responses show them (docs/spec.md, "Shapes")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from adsunify.actor import CredentialScope
from adsunify.http.messages import build_url
from adsunify.plans.outline import make_outline
from adsunify.plans.records import Plan, build_marked_body, load_plan_json
from adsunify.review.completion import read_completion
from adsunify.review.created_entities import list_created_ids
from adsunify.service.core import Service, format_optional_timestamp, format_timestamp
from adsunify.store.attempts import StepAttempt
from adsunify.store.operations import OperationRecord
from adsunify.store.removed_bodies import PlanRemains
from adsunify.store.schema import decompress_text
from adsunify.values.exact_json import Json

CACHE_BYTES = 1024 * 1024
"""How much JSON of plans is cached as objects, which take up to 25 times as much memory. A plan has some kilobytes, and
clients poll operations."""


def scope_to_json(scope: CredentialScope | None) -> Json:
    """Return the scope of a key or grant; null where it reaches all accounts of the workspace."""
    return None if scope is None else scope.to_json()


def plan_view(plan: Plan, operation_id: str = "") -> dict[str, Json]:
    """Return the plan as a reviewer reads it. Without an operation, the marks are made from the plan's digest."""
    return _plan_view(plan.as_json, plan.digest, operation_id or plan.digest)


@define(eq=False)
class PlanViewCache:
    """The views of the plans that were read last, by operation and plan; at most ``max_bytes`` of JSON in all."""

    max_bytes: int
    cached_bytes: int = 0
    _views: dict[tuple[str, bytes], tuple[dict[str, Json], int]] = field(factory=dict)

    def get(self, packed: bytes, digest: str, operation_id: str) -> dict[str, Json]:
        """Return the view of a stored plan, as :func:`plan_view`. Raises ValueError where the digest differs."""
        key = operation_id, packed
        cached = self._views.pop(key, None)
        if cached is None:
            text = decompress_text(packed).encode("ascii")
            cached = _plan_view(load_plan_json(text, digest), digest, operation_id), len(text) + len(packed)
            if cached[1] > self.max_bytes:
                return cached[0]
            self.cached_bytes += cached[1]
        self._views[key] = cached
        while self.cached_bytes > self.max_bytes:
            _, size = self._views.pop(next(iter(self._views)))
            self.cached_bytes -= size
        return cached[0]


PLAN_VIEWS = PlanViewCache(CACHE_BYTES)


def _plan_view(plan: Mapping[str, Json], digest: str, id_: str) -> dict[str, Json]:
    exposure = plan.get("exposure", {})
    carried = {"carried": plan["carried"]} if "carried" in plan else {}
    return {
        "version": plan["version"],
        "digest": digest,
        "exposure": exposure.get("exposure"),
        "planned": exposure.get("planned"),
        "steps": [_step_to_json(step, id_) for step in plan["steps"]],
        **carried,
    }


def _step_to_json(step: Mapping[str, Json], id_: str) -> dict[str, Json]:
    request = step["request"]
    return {
        "key": step["key"],
        "kind": step["kind"],
        "action": step["action"],
        "does": step["does"],
        "method": request["method"],
        "path": build_url(request["url"], request.get("path", {}), request.get("query", {}), request.get("queryRaw")),
        "body": build_marked_body(step, id_) if "marks" in step else request.get("body"),
        "bindings": [_binding_to_json(binding) for binding in step.get("bindings", ())],
        "changes": step.get("changes", []),
    }


def _binding_to_json(binding: Mapping[str, Json]) -> dict[str, Json]:
    return {name: binding.get(name, "") for name in ("to", "step", "output", "prefix")}


def operation_to_json(
    service: Service, record: OperationRecord, attempts: Sequence[StepAttempt], plan: Plan | None = None
) -> dict[str, Json]:
    """Return an operation with its receipt; records without a plan, as in lists, get no plan steps and no ``created``.

    ``plan``: the record's plan where the caller has it. The view of a plan is shared: callers must not change it.
    """
    value: dict[str, Json] = {
        "id": record.id,
        "status": record.status,
        "action": record.action,
        "network": record.network,
        "accountId": record.account_id,
        "createdBy": {"userId": record.user_id, "credential": record.credential},
        "createdAt": format_timestamp(record.created_at),
        "expiresAt": format_timestamp(record.expires_at),
        "expired": record.is_expired,
        "stalled": record.is_stalled,
        "reviewUrl": f"{service.settings.base_url}/review/{record.id}",
        "risk": record.risk,
        "warnings": list(record.warnings),
        "plan": _stored_plan_view(record) if plan is None else plan_view(plan, record.chain_id),
        "receipt": {"steps": [attempt_to_json(attempt) for attempt in attempts]},
    }
    if record.responses_removed_at is not None:
        value["receipt"]["responsesRemovedAt"] = format_timestamp(record.responses_removed_at)
    if record.packed is not None and record.plan_removed_at is not None:
        value["created"] = PlanRemains.from_packed(record.packed).created
    elif "steps" in value["plan"]:
        value["created"] = list_created_ids(value)
    if record.restored_at is not None:
        value["restoredAt"] = format_timestamp(record.restored_at)
    if record.resumes is not None:
        value["resumes"] = record.resumes
    if record.resumed_by is not None:
        value["resumedBy"] = record.resumed_by
    elif record.status == "prepared" and not record.is_expired:
        if record.next_action:
            value["nextAction"] = "execute"
        if record.retry_after is not None:
            value["retryAfterMs"] = record.retry_after
    if record.source_operation_id is not None:
        value["sourceOperationId"] = record.source_operation_id
    links = {"undoes": record.undoes, "undoneBy": record.undone_by, "launchId": record.launch_id}
    value |= {name: id_ for name, id_ in links.items() if id_ is not None}
    if record.executed_by is not None:
        value["executedBy"] = dict(record.executed_by)
    if record.cancelled_by is not None:
        value["cancelledBy"] = dict(record.cancelled_by)
    if record.error is not None:
        completion = read_completion(value)
        value["error"] = {
            **record.error,
            "outcome": completion.outcome,
            "appliedSteps": list(completion.applied_steps),
        }
    return value


def _stored_plan_view(record: OperationRecord) -> dict[str, Json]:
    if record.packed is None:
        return {"version": record.plan_version, "digest": record.plan_digest}
    if record.plan_removed_at is not None:
        outline = PlanRemains.from_packed(record.packed).outline
        removed_at = format_timestamp(record.plan_removed_at)
        return {**_plan_view(outline.as_json, record.plan_digest, record.chain_id), "bodyRemovedAt": removed_at}
    return PLAN_VIEWS.get(record.packed, record.plan_digest, record.chain_id)


def make_plan_remains(record: OperationRecord, attempts: Sequence[StepAttempt]) -> PlanRemains:
    """Return the part of a plan that is stored after its body is removed.

    Raises:
        ValueError: the stored plan does not match its digest.
    """
    plan = record.read_plan()
    view = plan_view(plan, record.chain_id)
    receipt = {"steps": [attempt_to_json(attempt) for attempt in attempts]}
    created = list_created_ids({"network": record.network, "plan": view, "receipt": receipt})
    return PlanRemains(make_outline(plan), created)


def attempt_to_json(attempt: StepAttempt) -> dict[str, Json]:
    """Return one attempt; an attempt without a receipt is in flight."""
    receipt = attempt.receipt
    if receipt is None:
        return {
            "key": attempt.key,
            "attempt": attempt.attempt,
            "state": "in_flight",
            "executedBy": attempt.executed_by,
            "intentAt": format_timestamp(attempt.intent_at),
            "receiptAt": None,
            "httpStatus": None,
            "requestId": None,
            "outputs": {},
            "items": [],
            "response": None,
            "error": None,
        }
    receipt_json = receipt.to_json()
    return {
        "key": receipt.key,
        "attempt": receipt.attempt,
        "state": receipt.state,
        "executedBy": attempt.executed_by,
        "intentAt": format_timestamp(attempt.intent_at),
        "receiptAt": format_optional_timestamp(attempt.receipt_at),
        "httpStatus": receipt.http_status,
        "requestId": receipt.request_id,
        "outputs": receipt_json["outputs"],
        "items": receipt_json["items"],
        "response": receipt.response,
        "error": receipt_json["error"],
    }
