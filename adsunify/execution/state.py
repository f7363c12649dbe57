"""The states of an operation as a table, and the records of its execution. All rules about states are here.

::

    (none) --prepare--> prepared --claim--> running --succeed--> succeeded
                        prepared --cancel-> cancelled
                                            running --hand_back--> prepared   (steps remain, or nothing was applied)
                                            running --lose-------> unknown    (the outcome of a write is ambiguous)
                                            running --recover----> prepared   (the lease ran out, no write in flight)
                        prepared, running --restore--------------> unknown    (the database came from a backup)

An operation whose lease has expired with a write in flight stays ``running`` and is ``stalled``. An operation that was
not written completely can be resumed: a new operation executes the remaining steps and has the applied ones in
``Plan.carried``. The old operation keeps its status, and only the end of an execution can change it. Times are integer
milliseconds since 1970 (UTC).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from typing import Any, Literal

from attrs import evolve, field, frozen

from adsunify.errors import NativeErrorDetails
from adsunify.plans.records import Carried, Kind, Outputs
from adsunify.values.exact_json import Json

OperationStatus = Literal["prepared", "running", "succeeded", "unknown", "cancelled"]
Trigger = Literal["prepare", "claim", "hand_back", "succeed", "lose", "recover", "cancel", "restore"]
StepState = Literal["planned", "in_flight", "applied", "rejected", "throttled", "ambiguous"]

TRANSITIONS: Mapping[tuple[OperationStatus | None, Trigger], tuple[OperationStatus, str | None]] = {
    (None, "prepare"): ("prepared", "operation.prepared"),
    ("prepared", "claim"): ("running", "operation.running"),
    ("prepared", "cancel"): ("cancelled", "operation.cancelled"),
    ("running", "hand_back"): ("prepared", None),
    ("running", "recover"): ("prepared", None),
    ("running", "succeed"): ("succeeded", "operation.succeeded"),
    ("running", "lose"): ("unknown", "operation.unknown"),
    ("prepared", "restore"): ("unknown", "operation.unknown"),
    ("running", "restore"): ("unknown", "operation.unknown"),
}
"""(state before, trigger) -> (state after, event that is recorded in the same transaction)."""

REVIEW_MILLISECONDS = 30 * 60 * 1000
"""A prepared operation can be executed, and continued, for 30 minutes (docs/spec.md, "Limits")."""
LEASE_MILLISECONDS = 30_000
MAX_LEASE_MILLISECONDS = 60 * 60 * 1000
"""The longest lease that can be configured."""
MAX_STORED_RESPONSE_BYTES = 64 * 1024
"""The maximum size of a native response in a receipt, in bytes of JSON text."""


class IllegalTransition(ValueError):
    """The state does not allow the trigger; nothing changed."""


def apply_trigger(status: OperationStatus | None, trigger: Trigger) -> tuple[OperationStatus, str | None]:
    """Return the state after the trigger and the event to record.

    Raises:
        IllegalTransition: the state does not allow the trigger.
    """
    try:
        return TRANSITIONS[status, trigger]
    except KeyError:
        raise IllegalTransition(f"an operation that is {status} cannot {trigger}") from None


def is_expired(expires_at: int, now: int) -> bool:
    """Whether the review time is over. The review time ends at the millisecond ``expires_at``."""
    return now >= expires_at


@frozen
class Intent:
    """A write that is about to be sent. It is stored before the first byte is sent.

    Attributes:
        step_index: the position of the step in the plan, from 0.
        key: the key of the step.
        attempt: the number of the attempt, from 1.
        request: the request as it will be sent, with its bindings filled and without credentials.
        items: the positions in the planned array that this attempt sends; None if the step has no items.
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
    error: NativeErrorDetails | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
        error = None if self.error is None else self.error.to_json()
        return {"index": self.index, "state": self.state, "id": self.id, "error": error}

    @classmethod
    def from_json(cls, value: Mapping[str, Json]) -> ItemReceipt:
        """Read the stored form."""
        error = value["error"]
        return cls(
            value["index"], value["state"], value["id"], None if error is None else NativeErrorDetails.from_json(error)
        )


@frozen
class Receipt:
    """The outcome of one attempt. It is evidence and is stored before anything else happens.

    ``response`` is the redacted native response, at most 64 KiB of JSON text. ``retry_after`` is in milliseconds.
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
    error: NativeErrorDetails | None = None
    blame: str | None = None
    retry_after: int | None = None

    def to_json(self) -> dict[str, Json]:
        """Return the stored form."""
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
        """Read the stored form."""
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
            error=None if error is None else NativeErrorDetails.from_json(error),
            blame=value["blame"],
            retry_after=value["retryAfter"],
        )


@frozen
class StateCommit:
    """One commit of an execution: the receipt of the last step, the intent of the next step, and the new state.

    Access and expiry are checked in the same transaction before an intent is stored.

    Attributes:
        operation_id: the operation.
        fence: the fence of the claim; None if this commit is the claim itself. A receipt is stored even if the fence is
            outdated, and is then marked late. An intent or a trigger with an outdated fence is refused.
        receipt: the receipt of the last step.
        intent: the intent of the next step.
        trigger: the change of state.
        has_next_action: whether the operation must be executed again.
        retry_after: the time to wait before that, in milliseconds.
        error: the ``error`` of the operation.
        is_renewal: whether only the lease is prolonged.
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
class WindowBreach:
    """A window that has no room for an operation. Amounts are micro-units of the rule's currency.

    Attributes:
        rule_id: the rule.
        limit: the limit that the operation would exceed.
        allowed: the limit's amount.
        used: the amount that the window counts already.
        amount: the amount that the operation would add.
    """

    rule_id: str
    limit: Literal["daily", "lifetime"]
    allowed: int
    used: int
    amount: int

    @property
    def room(self) -> int:
        """The amount that would fit; 0 if no amount would."""
        return max(0, self.allowed - self.used)


@frozen
class CommitResult:
    """The result of a commit: the fence of the claim, the time in milliseconds, and why the commit was refused.

    If an intent is refused although the claim is valid, the operation becomes ``prepared`` again in the same
    transaction.

    ``refusal`` is None if the commit was accepted. Otherwise it is one of:

    - ``claimed``: another execution is running.
    - ``fenced``: the claim was lost.
    - ``expired``, ``too_early``, ``not_prepared``: the state of the operation.
    - ``access``: the key is revoked or expired, the membership has ended, the role is too low, or the account is not
      active.
    - ``approval``: the workspace requires a signed-in person.
    - ``frozen``: a rule has frozen the credential.
    - ``rules_changed``: the rules of the workspace have changed since the operation was evaluated. The caller
      evaluates it again and repeats the claim.
    - ``guardrail``: the window of a rule has no room. ``breach`` names the window and the amount that would fit.
    - ``resumed``: another operation resumes this one.
    - ``outcome_changed``: a receipt of an operation that this one resumes arrived after this one was prepared, or an
      inspection found a write of it.
    - ``clock``: the operation was changed at a time that is ahead of this machine's clock.
    - ``ambiguous``: the receipt names an entity that another step created. The operation is now ``unknown``.
    """

    fence: int
    committed_at: int
    refusal: str | None = None
    breach: WindowBreach | None = None


@frozen
class ExecutionProgress:
    """The progress of an operation according to its receipts. All mappings have step keys.

    Attributes:
        outputs: the outputs of each applied step.
        attempts: the number of attempts.
        applied_items: the ids of applied items, by position in the planned array.
        blames: the cause of the last refused attempt.
        doubtful_steps: the steps with an ambiguous receipt, or with an intent and no receipt. It is not known whether
            they were done, so the operation is never executed again.
    """

    outputs: Mapping[str, Outputs] = field(factory=dict)
    attempts: Mapping[str, int] = field(factory=dict)
    applied_items: Mapping[str, Mapping[int, str]] = field(factory=dict)
    blames: Mapping[str, str] = field(factory=dict)
    doubtful_steps: tuple[str, ...] = ()


def read_progress(receipts: Sequence[Receipt], in_flight: Sequence[str] = ()) -> ExecutionProgress:
    """Compute the progress from all receipts of an operation, in the order of their attempts.

    ``in_flight`` holds the keys of the steps that have an intent without a receipt.
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


def add_carried(progress: ExecutionProgress, carried: Mapping[str, Carried]) -> ExecutionProgress:
    """Return the progress with the steps that earlier operations of the chain have applied (``Plan.carried``)."""
    if not carried:
        return progress
    outputs = {key: step.outputs for key, step in carried.items() if step.outputs is not None}
    items = {key: {**step.items, **progress.applied_items.get(key, {})} for key, step in carried.items() if step.items}
    return evolve(progress, outputs={**outputs, **progress.outputs}, applied_items={**progress.applied_items, **items})


def build_actor_record(user_id: str, credential: str, at: int) -> dict[str, Json]:
    """Build the record of the person or program that executed or cancelled an operation.

    ``at`` is in milliseconds since 1970.
    """
    instant = datetime.fromtimestamp(at / 1000, UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    return {"userId": user_id, "credential": credential, "at": instant}


def build_operation_event_data(
    operation_id: str | None, account_id: str | None, network: str | None, status: str
) -> dict[str, Any]:
    """Build the ``data`` of an event, which holds identifiers only."""
    return {"operationId": operation_id, "accountId": account_id, "network": network, "status": status}


@frozen
class ObservedStatus:
    """The unified status of an entity, from a receipt or a read."""

    kind: Kind
    id: str
    status: str


@frozen
class CreatedId:
    """A campaign, ad group or ad that a create step created.

    ``id`` is the native id as the response contains it. ``parent_id`` is the id of the parent as lists show it, if the
    plan names one that existed before.
    """

    kind: Kind
    id: str
    parent_id: str | None = None
