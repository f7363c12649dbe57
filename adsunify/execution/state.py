"""The life of an operation as a table, and the records that its execution leaves. Every rule about states stands here.

::

    (none) --prepare--> prepared --claim--> running --succeed--> succeeded
                        prepared --cancel-> cancelled
                                            running --hand_back--> prepared   (steps remain, or surely nothing was done)
                                            running --lose-------> unknown    (the outcome of a write is ambiguous)
                                            running --recover----> prepared   (the lease ran out, no write in flight)

An operation whose lease ran out with a write in flight stays ``running``: ``stalled``, for a person to look at.
Times are integer milliseconds since 1970 (UTC).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import field, frozen

from adsunify.errors import NativeError
from adsunify.plans.records import Kind, Outputs
from adsunify.values.exact_json import Json

OperationStatus = Literal["prepared", "running", "succeeded", "unknown", "cancelled"]
Trigger = Literal["prepare", "claim", "hand_back", "succeed", "lose", "recover", "cancel"]
StepState = Literal["planned", "in_flight", "applied", "rejected", "throttled", "ambiguous"]

TRANSITIONS: Mapping[tuple[OperationStatus | None, Trigger], tuple[OperationStatus, str | None]] = {
    (None, "prepare"): ("prepared", "operation.prepared"),
    ("prepared", "claim"): ("running", "operation.running"),
    ("prepared", "cancel"): ("cancelled", "operation.cancelled"),
    ("running", "hand_back"): ("prepared", None),
    ("running", "recover"): ("prepared", None),
    ("running", "succeed"): ("succeeded", "operation.succeeded"),
    ("running", "lose"): ("unknown", "operation.unknown"),
}
"""(from, trigger) to (state after, event recorded in the same transaction)."""

REVIEW_MILLISECONDS = 30 * 60 * 1000
"""A prepared operation can be executed, and continued, for 30 minutes (docs/spec.md, "Limits")."""
LEASE_MILLISECONDS = 30_000
MAX_LEASE_MILLISECONDS = 60 * 60 * 1000
"""The longest lease that a deployment may choose."""
MAX_STORED_RESPONSE_BYTES = 64 * 1024
"""How much of a native answer a receipt keeps."""


class IllegalTransition(ValueError):
    """The state does not allow the trigger; nothing changed."""


def apply_trigger(status: OperationStatus | None, trigger: Trigger) -> tuple[OperationStatus, str | None]:
    """The state after the trigger and the event to record; raises IllegalTransition."""
    try:
        return TRANSITIONS[status, trigger]
    except KeyError:
        raise IllegalTransition(f"an operation that is {status} cannot {trigger}") from None


def is_expired(expires_at: int, now: int) -> bool:
    """Whether the review time is over: at the very millisecond of ``expires_at`` it is."""
    return now >= expires_at


@frozen
class Intent:
    """What is about to be sent: saved before the first byte goes out. ``step_index`` counts steps from 0, ``attempt``
    from 1.

    ``items``: positions in the planned array that this attempt sends, None where the step has no items.
    ``request``: the request as it will be sent, bindings filled, without credentials.
    """

    step_index: int
    key: str
    attempt: int
    request: Mapping[str, Json]
    items: tuple[int, ...] | None = None


@frozen
class ItemReceipt:
    """The outcome of one item of a step; ``index`` is its position in the planned array."""

    index: int
    state: StepState
    id: str | None = None
    error: NativeError | None = None

    def to_json(self) -> dict[str, Json]:
        error = None if self.error is None else self.error.to_json()
        return {"index": self.index, "state": self.state, "id": self.id, "error": error}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> ItemReceipt:
        error = value["error"]
        return cls(value["index"], value["state"], value["id"], None if error is None else NativeError.from_json(error))


@frozen
class Receipt:
    """What became of one attempt: evidence, saved before anything else is done.

    ``response``: the native answer, redacted, at most 64 KiB of JSON text. ``retry_after``: milliseconds.
    """

    step_index: int
    key: str
    attempt: int
    state: Literal["applied", "rejected", "throttled", "ambiguous"]
    http_status: int | None = None
    request_id: str | None = None
    outputs: Outputs = field(factory=dict)
    items: tuple[ItemReceipt, ...] = ()
    response: Json = None
    error: NativeError | None = None
    blame: str | None = None
    retry_after: int | None = None

    def to_json(self) -> dict[str, Json]:
        """All of it as JSON: what is stored."""
        return {
            "n": self.step_index,
            "key": self.key,
            "attempt": self.attempt,
            "state": self.state,
            "httpStatus": self.http_status,
            "requestId": self.request_id,
            "outputs": {name: value if isinstance(value, str) else list(value) for name, value in self.outputs.items()},
            "items": [item.to_json() for item in self.items],
            "response": self.response,
            "error": None if self.error is None else self.error.to_json(),
            "blame": self.blame,
            "retryAfter": self.retry_after,
        }

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> Receipt:
        error = value["error"]
        return cls(
            step_index=value["n"],
            key=value["key"],
            attempt=value["attempt"],
            state=value["state"],
            http_status=value["httpStatus"],
            request_id=value["requestId"],
            outputs=value["outputs"],
            items=tuple(ItemReceipt.from_json(item) for item in value["items"]),
            response=value["response"],
            error=None if error is None else NativeError.from_json(error),
            blame=value["blame"],
            retry_after=value["retryAfter"],
        )


@frozen
class StateCommit:
    """One durable commit of an execution: the receipt of the step before, the intent of the next, the state after.

    ``fence`` None: the claim itself. A receipt is accepted whatever the fence says (it is evidence, marked late); an
    intent and a trigger are not. Access and expiry are checked in the same transaction before an intent.
    ``is_renewal``: only the lease is prolonged.
    """

    operation_id: str
    fence: int | None
    receipt: Receipt | None = None
    intent: Intent | None = None
    trigger: Trigger | None = None
    has_next_action: bool = False
    retry_after: int | None = None
    error: Mapping[str, Json] | None = None
    is_renewal: bool = False


@frozen
class CommitResult:
    """What the commit did: the fence held, the time, and why an intent was refused (None: it stands).

    An operation whose intent is refused although its claim holds is handed back in the same transaction.
    ``refusal``: ``claimed`` (somebody else runs it), ``fenced`` (the claim was lost), ``expired``, ``too_early``,
    ``access`` (key revoked or expired, member gone, role too low, account not active), ``approval`` (the workspace
    wants a signed-in person), ``not_prepared``, ``clock`` (it was changed at a time that is ahead of this machine's),
    ``ambiguous`` (the receipt names an entity that another step created: the operation is ``unknown``).
    """

    fence: int
    committed_at: int
    refusal: str | None = None


@frozen
class ExecutionProgress:
    """What the receipts so far say: which step is next, what each applied step brought, which items remain.

    ``attempts``: attempts so far by step key. ``applied_items``: item position to id, by step key. ``blames``: what the
    last refused attempt was blamed on. ``doubtful_steps``: steps of which nobody knows whether they were done (an
    intent without a receipt, or an ambiguous receipt): with one of these the operation is never executed again.
    """

    outputs: Mapping[str, Outputs] = field(factory=dict)
    attempts: Mapping[str, int] = field(factory=dict)
    applied_items: Mapping[str, Mapping[int, str]] = field(factory=dict)
    blames: Mapping[str, str] = field(factory=dict)
    doubtful_steps: tuple[str, ...] = ()


def read_progress(receipts: Sequence[Receipt], in_flight: Sequence[str] = ()) -> ExecutionProgress:
    """Read the progress off all receipts of an operation, in the order of their attempts.

    ``in_flight``: the keys of the steps that have an intent without a receipt.
    """
    outputs: dict[str, Outputs] = {}
    attempts: dict[str, int] = {}
    applied: dict[str, dict[int, str]] = {}
    blames: dict[str, str] = {}
    doubtful = list(in_flight)
    for receipt in receipts:
        attempts[receipt.key] = max(attempts.get(receipt.key, 0), receipt.attempt)
        for item in receipt.items:
            if item.state == "applied" and item.id is not None:
                applied.setdefault(receipt.key, {})[item.index] = item.id
        if receipt.state == "applied":
            outputs[receipt.key] = receipt.outputs
        elif receipt.state == "ambiguous":
            doubtful.append(receipt.key)
        if receipt.blame is not None:
            blames[receipt.key] = receipt.blame
        else:
            blames.pop(receipt.key, None)
    return ExecutionProgress(outputs, attempts, applied, blames, tuple(doubtful))


def build_actor_record(user_id: str, credential: str, at: int) -> dict[str, Json]:
    """Who executed or cancelled an operation, and when, as records and answers show it. ``at``: milliseconds."""
    instant = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"userId": user_id, "credential": credential, "at": instant}


def build_operation_event_data(
    operation_id: str | None, account_id: str | None, network: str | None, status: str
) -> dict[str, Any]:
    """The ``data`` of an event: identifiers only."""
    return {"operationId": operation_id, "accountId": account_id, "network": network, "status": status}


@frozen
class ObservedStatus:
    """The unified status of an entity, as somebody saw it."""

    kind: Kind
    id: str
    status: str


@frozen
class CreatedId:
    """A campaign, ad group or ad that a create step made; ``id``: its native id as the network's answer has it."""

    kind: Kind
    id: str
