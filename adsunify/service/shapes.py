"""Records as the answers show them (the contract's "Shapes")."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from adsunify.http.messages import address
from adsunify.plans.records import Plan, marked_body, plan_json
from adsunify.review.completion import read_completion
from adsunify.store.attempts import Attempt
from adsunify.store.operations import OperationRecord
from adsunify.store.schema import unpacked
from adsunify.values.exact_json import Json

from .core import Service, moment, moment_or_none

REMEMBERED_BYTES = 1024 * 1024
"""How much JSON of plans is kept as objects, which take up to 25 times as much memory. A plan has some kilobytes, and
who waits for an operation reads it again and again."""


def plan_view(plan: Plan, operation_id: str = "") -> dict[str, Json]:
    """The plan as a reviewer reads it; without an operation its marks follow from what it does."""
    return _view(plan.as_json, plan.digest, operation_id or plan.digest)


@define(eq=False)
class Views:
    """The views of the plans that were read last, by operation and plan; ``most``: so many bytes of JSON in all."""

    most: int
    held: int = 0
    _views: dict[tuple[str, bytes], tuple[dict[str, Json], int]] = field(factory=dict)

    def get(self, packed: bytes, digest: str, operation_id: str) -> dict[str, Json]:
        """As :func:`plan_view`, of a stored plan, which never changes; ValueError where it has another digest."""
        key = operation_id, packed
        found = self._views.pop(key, None)
        if found is None:
            text = unpacked(packed).encode("ascii")
            found = _view(plan_json(text, digest), digest, operation_id), len(text) + len(packed)
            if found[1] > self.most:
                return found[0]
            self.held += found[1]
        self._views[key] = found
        while self.held > self.most:
            _, size = self._views.pop(next(iter(self._views)))
            self.held -= size
        return found[0]


VIEWS = Views(REMEMBERED_BYTES)


def _view(plan: Mapping[str, Json], digest: str, id_: str) -> dict[str, Json]:
    return {"version": plan["version"], "digest": digest, "steps": [_step(step, id_) for step in plan["steps"]]}


def _step(step: Mapping[str, Json], id_: str) -> dict[str, Json]:
    request = step["request"]
    return {
        "key": step["key"],
        "kind": step["kind"],
        "action": step["action"],
        "does": step["does"],
        "method": request["method"],
        "path": address(request["url"], request.get("path", {}), request.get("query", {}), request.get("queryRaw")),
        "body": marked_body(step, id_) if "marks" in step else request.get("body"),
        "bindings": [_filled_in(binding) for binding in step.get("bindings", ())],
        "changes": step.get("changes", []),
    }


def _filled_in(binding: Mapping[str, Json]) -> dict[str, Json]:
    return {name: binding.get(name, "") for name in ("to", "step", "output", "prefix")}


def operation(
    service: Service, record: OperationRecord, attempts: Sequence[Attempt], plan: Plan | None = None
) -> dict[str, Json]:
    """An operation with its receipt; lists (records without a plan) leave plan steps out.

    ``plan``: the record's own, where it need not be read. What is shown of a plan is shared: nobody changes it.
    """
    value: dict[str, Json] = {
        "id": record.id,
        "status": record.status,
        "action": record.action,
        "network": record.network,
        "accountId": record.account_id,
        "createdBy": {"userId": record.user_id, "credential": record.credential},
        "createdAt": moment(record.created_at),
        "expiresAt": moment(record.expires_at),
        "expired": record.expired,
        "stalled": record.stalled,
        "reviewUrl": f"{service.settings.base_url}/review/{record.id}",
        "risk": record.risk,
        "warnings": list(record.warnings),
        "plan": _plan(record) if plan is None else plan_view(plan, record.id),
        "receipt": {"steps": [receipt(attempt) for attempt in attempts]},
    }
    if record.status == "prepared" and not record.expired:
        if record.next_action:
            value["nextAction"] = "execute"
        if record.retry_after is not None:
            value["retryAfterMs"] = record.retry_after
    if record.source_operation_id is not None:
        value["sourceOperationId"] = record.source_operation_id
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


def _plan(record: OperationRecord) -> dict[str, Json]:
    if record.packed is None:
        return {"version": record.plan_version, "digest": record.plan_digest}
    return VIEWS.get(record.packed, record.plan_digest, record.id)


def receipt(attempt: Attempt) -> dict[str, Json]:
    """What became of one attempt; one without a receipt is in flight."""
    found = attempt.receipt
    if found is None:
        return {
            "key": attempt.key,
            "attempt": attempt.attempt,
            "state": "in_flight",
            "executedBy": attempt.executed_by,
            "intentAt": moment(attempt.intent_at),
            "receiptAt": None,
            "httpStatus": None,
            "requestId": None,
            "outputs": {},
            "items": [],
            "response": None,
            "error": None,
        }
    whole = found.to_json()
    return {
        "key": found.key,
        "attempt": found.attempt,
        "state": found.state,
        "executedBy": attempt.executed_by,
        "intentAt": moment(attempt.intent_at),
        "receiptAt": moment_or_none(attempt.receipt_at),
        "httpStatus": found.http_status,
        "requestId": found.request_id,
        "outputs": whole["outputs"],
        "items": whole["items"],
        "response": found.response,
        "error": whole["error"],
    }
