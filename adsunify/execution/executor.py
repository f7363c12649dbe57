"""Executes one operation without I/O: a generator yields effects, and a driver performs them and sends their results.

::

    run = execute_plan(network, plan, read_progress(receipts, in_flight), operation_id)
    effect = next(run)                        # Commit, SendWrite or SendRead
    effect = run.send(result)                 # an EffectResult; StopIteration carries the ExecutionResult

Exactly one step is in flight. A commit precedes and follows every native write, and the commit after a step is the
commit before the next one: claim + intent 1 | receipt 1 + intent 2 | ... | receipt N + succeeded. The read of an
overlay comes before the intent; the receipt of the step before it is committed first. The driver has two rules:

- If the database did not perform a ``Commit`` with a receipt, the driver tries again, because evidence must be stored.
If the commit has no receipt, the driver closes the generator.
- The driver never answers a ``SendWrite`` twice and never cancels one. If it does not know the result, it answers
  ``ResponseLost``.

The only clock of this module is ``CommitResult.committed_at``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from enum import Enum
from typing import Literal

from attrs import evolve, frozen

from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.network import Network
from adsunify.errors import (
    NativeErrorDetails,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    RequestNotSent,
    ResponseLost,
    TokenRefused,
)
from adsunify.execution.outcomes import Ambiguous, Applied, Rejected, StepOutcome, Throttled, classify_write
from adsunify.execution.redaction import has_valid_ids, redact_response, to_retry_delay_ms
from adsunify.execution.state import (
    CommitResult,
    ExecutionProgress,
    Intent,
    ItemReceipt,
    OperationStatus,
    Receipt,
    StateCommit,
    Trigger,
    add_carried,
)
from adsunify.http.messages import Request, Response
from adsunify.http.redaction import find_request_id, redact_error
from adsunify.plans.binding import apply_overlay, fill_bindings
from adsunify.plans.records import Outputs, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import get_value

RESPONSE_READ_ERRORS = (
    ProviderError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)
"""The exceptions that reading a hostile response may raise. The outcome of a write is unknown if it raises one."""


# -- effects and their results ------------------------------------------------------------------------------------


@frozen
class Commit:
    """Make this change durable. The driver answers with ``CommitResult``."""

    state_commit: StateCommit


@frozen
class SendWrite:
    """Sign and send this write, once. The driver answers with ``Response``, ``RequestNotSent`` or ``ResponseLost``.

    ``committed_at`` is the time at which the intent was committed, in milliseconds. If the lease has expired since
    then, the driver sends nothing and answers ``RequestNotSent``.
    """

    request: Request
    key: str
    committed_at: int


@frozen
class SendRead:
    """Sign and send this read. The driver answers with ``Response``, ``RequestNotSent`` or ``ResponseLost``.

    If the network refuses the token, the driver refreshes it and repeats the read once before it answers.
    """

    request: Request
    key: str


@frozen
class RenewToken:
    """Renew the token with which the network refused a write. The driver answers whether the account can be used now.

    ``is_second_refusal``: the network has also refused a renewed token, so the driver must find out with a read whether
    the account can be used at all.
    """

    is_second_refusal: bool


Effect = Commit | SendWrite | SendRead | RenewToken
SendResult = Response | RequestNotSent | ResponseLost
EffectResult = CommitResult | SendResult | bool


@frozen
class ExecutionResult:
    """How an execution ended.

    Attributes:
        status: the status of the operation now; None if ``refusal`` is set, because then only the store knows it.
        refusal: why nothing more was sent, as in ``CommitResult.refusal``, or "doubtful" if the outcome of a step is
            unknown. The receipt of the step before is stored. If this execution still held the claim, the store has
            made the operation ``prepared`` again.
        has_next_action: whether the operation must be executed again.
        retry_after: the time to wait before that, in milliseconds.
        error: the ``error`` of the operation.
    """

    status: OperationStatus | None
    refusal: str | None = None
    has_next_action: bool = False
    retry_after: int | None = None
    error: Mapping[str, Json] | None = None


@frozen
class ExecutionLimits:
    """How much one call executes before it stops between two steps. A step that has begun is always finished.

    The executor has no clock: the caller checks ``max_milliseconds`` in ``stopping``.
    """

    max_milliseconds: int = 20_000
    max_steps: int = 25


class KillPoint(Enum):
    """A point at which a test may end the process. The driver reports each point that it passes."""

    before_intent_commit = "before_intent_commit"
    after_intent_commit = "after_intent_commit"
    applied_before_read = "applied_before_read"
    before_receipt_commit = "before_receipt_commit"
    after_receipt_commit = "after_receipt_commit"


def list_kill_points(effect: Effect) -> tuple[tuple[KillPoint, ...], tuple[KillPoint, ...]]:
    """Return the points that a driver passes before it performs an effect, and those after it."""
    if isinstance(effect, SendWrite):
        return (), (KillPoint.applied_before_read,)
    before: list[KillPoint] = []
    after: list[KillPoint] = []
    if isinstance(effect, Commit) and effect.state_commit.receipt is not None:
        before.append(KillPoint.before_receipt_commit)
        after.append(KillPoint.after_receipt_commit)
    if isinstance(effect, Commit) and effect.state_commit.intent is not None:
        before.append(KillPoint.before_intent_commit)
        after.append(KillPoint.after_intent_commit)
    return tuple(before), tuple(after)


# -- the execution ------------------------------------------------------------------------------------------------


@frozen
class _ExecutionStop:
    """How an execution stops: the members of its last commit and of its result."""

    error: Mapping[str, Json] | None = None
    has_next_action: bool = False
    retry_after: int | None = None
    trigger: Trigger = "hand_back"


_STATUS_BY_TRIGGER: Mapping[Trigger, OperationStatus] = {
    "hand_back": "prepared",
    "lose": "unknown",
    "succeed": "succeeded",
}


def execute_plan(
    network: Network,
    plan: Plan,
    progress: ExecutionProgress,
    operation_id: str,
    *,
    limits: ExecutionLimits = ExecutionLimits(),
    stopping: Callable[[], bool] = lambda: False,
) -> Generator[Effect, EffectResult, ExecutionResult]:
    """Execute the remaining steps of an operation.

    No response makes the generator raise.

    Args:
        network: the tables of the network.
        plan: the plan, with the mark values of the operation.
        progress: the progress according to the receipts so far.
        operation_id: the operation.
        limits: the limits of this call.
        stopping: called between steps; if it returns True (shutdown, deadline), the operation becomes ``prepared``
            again.

    Raises:
        TypeError: the driver answered an effect with a result of another kind. This is a defect of the driver.
    """
    if progress.doubtful_steps:
        message = f"It is not known whether step {progress.doubtful_steps[0]} was done, so nothing is sent again."
        return ExecutionResult(
            None, "doubtful", error=_build_error("outcome_unknown", message, progress.doubtful_steps[0])
        )
    progress = add_carried(progress, plan.carried)
    outputs: dict[str, Outputs] = dict(progress.outputs)
    fence: int | None = None
    sent_count = 0
    receipt: Receipt | None = None
    for n, step in enumerate(plan.steps):
        if step.key in outputs:
            continue
        remaining = _list_remaining_items(step, progress)
        if remaining == () and step.key in progress.applied_items:
            outputs[step.key] = _merge_item_ids(step, progress.applied_items[step.key])
            continue
        if sent_count >= limits.max_steps or stopping():
            return (yield from _stop_execution(operation_id, fence, receipt, _ExecutionStop(has_next_action=True)))
        request = _build_request(step, outputs, remaining)
        if isinstance(request, Request) and step.overlay is not None:
            if receipt is not None:
                advanced = _require_commit_result((yield Commit(StateCommit(operation_id, fence, receipt=receipt))))
                receipt = None
                if advanced.refusal is not None:
                    return _make_refused_result(advanced.refusal)
            reading = _require_send_result((yield SendRead(step.overlay.read_request, step.key)))
            request = _apply_overlay(network, step, request, reading)
        if isinstance(request, _ExecutionStop):
            return (yield from _stop_execution(operation_id, fence, receipt, request))
        intent = Intent(n, step.key, progress.attempts.get(step.key, 0) + 1, request.to_json(), remaining)
        claim: Trigger | None = "claim" if fence is None else None
        advance = StateCommit(operation_id, fence, receipt=receipt, intent=intent, trigger=claim)
        advanced = _require_commit_result((yield Commit(advance)))
        if advanced.refusal is not None:
            return _make_refused_result(advanced.refusal)
        fence, sent_count = advanced.fence, sent_count + 1
        answer = _require_send_result((yield SendWrite(request, step.key, advanced.committed_at)))
        receipt = _make_receipt(network, step, request, intent, answer, progress)
        if receipt.state != "applied":
            end = _decide_stop(receipt, progress)
            if receipt.blame == "token":
                advanced = _require_commit_result((yield Commit(StateCommit(operation_id, fence, receipt=receipt))))
                if advanced.refusal is not None:
                    return _make_refused_result(advanced.refusal)
                receipt = None
                if not (yield RenewToken(is_second_refusal=not end.has_next_action)):
                    end = evolve(end, has_next_action=False)
            return (yield from _stop_execution(operation_id, fence, receipt, end))
        outputs[step.key] = receipt.outputs
    if fence is None:  # all receipts are stored, and the process ended before it could commit "succeeded"
        advanced = _require_commit_result((yield Commit(StateCommit(operation_id, None, trigger="claim"))))
        if advanced.refusal is not None:
            return _make_refused_result(advanced.refusal)
        fence = advanced.fence
    return (yield from _stop_execution(operation_id, fence, receipt, _ExecutionStop(trigger="succeed")))


def _stop_execution(
    operation_id: str, fence: int | None, receipt: Receipt | None, end: _ExecutionStop
) -> Generator[Effect, EffectResult, ExecutionResult]:
    """Make the last commit and the result. Without a claim there is nothing to commit."""
    status = _STATUS_BY_TRIGGER[end.trigger]
    ending = ExecutionResult(status, None, end.has_next_action, end.retry_after, end.error)
    if fence is None:
        return ending
    advance = StateCommit(
        operation_id,
        fence,
        receipt=receipt,
        trigger=end.trigger,
        has_next_action=end.has_next_action,
        retry_after=end.retry_after,
        error=end.error,
    )
    advanced = _require_commit_result((yield Commit(advance)))
    if advanced.refusal is not None:
        return evolve(ending, status=None, refusal=advanced.refusal, has_next_action=False, retry_after=None)
    return ending


def _make_refused_result(refused: str) -> ExecutionResult:
    return ExecutionResult(None, refused, error=_build_refusal_error(refused))


_CLOCK_AHEAD_MESSAGE = (
    "The operation was last changed at a time that is more than 5 minutes ahead of this machine's clock, so it is not "
    "executed: one of the clocks is or was wrong. `adsunify admin clock` shows such times and repairs them."
)
_COMMIT_REFUSALS: Mapping[str, tuple[str, str]] = {
    "claimed": ("operation_running", "The operation is being executed already."),
    "fenced": ("operation_fenced", "Another execution has taken the operation over."),
    "expired": ("operation_expired", "The time for review and execution is over."),
    "too_early": ("operation_too_early", "The network asked to wait; the time is not over."),
    "access": ("access_lost", "The credential, its owner or the account may no longer write."),
    "approval": ("approval_required", "In this workspace a person who signed in must execute it."),
    "ambiguous": ("outcome_unknown", "The network's answer contains the id of an entity that another step created."),
    "clock": ("clock_ahead", _CLOCK_AHEAD_MESSAGE),
    "not_prepared": ("operation_not_prepared", "The operation is not prepared."),
}


def _build_refusal_error(refused: str) -> Mapping[str, Json]:
    code, message = _COMMIT_REFUSALS.get(refused, ("operation_refused", f"The operation was refused: {refused}."))
    return _build_error(code, message)


def _build_error(
    code: str, message: str, step: str | None = None, native: NativeErrorDetails | None = None
) -> Mapping[str, Json]:
    """Build the ``error`` of an operation. It does not list the applied steps; readers take them from the receipts."""
    network = None if native is None else native.to_json()
    return {"code": code, "message": message, "step": step, "network": network}


def _require_commit_result(answer: EffectResult) -> CommitResult:
    if not isinstance(answer, CommitResult):
        raise TypeError("a Commit must be answered by a CommitResult")
    return answer


def _require_send_result(answer: EffectResult) -> SendResult:
    if isinstance(answer, CommitResult | bool):
        raise TypeError("SendWrite and SendRead must be answered by a Response, RequestNotSent or ResponseLost")
    return answer


# -- before a step ------------------------------------------------------------------------------------------------


def _list_remaining_items(step: Step, progress: ExecutionProgress) -> tuple[int, ...] | None:
    """Return the items that are certainly not applied yet, as positions in the planned array.

    None means that the step has no items.
    """
    if step.items is None:
        return None
    count = len(get_value({"body": step.request.body}, step.items.at) or ())
    applied = progress.applied_items.get(step.key, {})
    return tuple(index for index in range(count) if index not in applied)


def _build_request(
    step: Step, outputs: Mapping[str, Outputs], remaining: tuple[int, ...] | None
) -> Request | _ExecutionStop:
    """Build the request with its bindings filled. If an id does not fit, the execution stops."""
    try:
        if remaining == ():
            raise ValueError("it has no items")
        if step.request.kind != "write":
            raise ValueError("it is not a write, so the transport might repeat it")
        return fill_bindings(step, outputs, remaining)
    except (LookupError, TypeError, ValueError) as reason:
        message = f"Step {step.key} cannot be sent: {reason}."
        return _ExecutionStop(_build_error("step_not_sendable", message, step.key))


def _apply_overlay(network: Network, step: Step, request: Request, answer: SendResult) -> Request | _ExecutionStop:
    """Build the request from the present object. If the read failed, the execution stops, and nothing was written."""
    problem: ProviderError | None
    if isinstance(answer, Response):
        try:
            problem = find_read_error(network, answer)
            if problem is None:
                return apply_overlay(step, request, answer)
        except ProviderError as unreadable:
            problem = unreadable
        except RESPONSE_READ_ERRORS as fault:
            problem = ProviderUnreadable(f"The current object cannot be read ({type(fault).__name__}).")
    else:
        problem = ProviderUnreadable(answer.message)
    native = redact_error(problem.native)
    error = _build_error(problem.code, f"Before {step.key}: {problem.message}", step.key, native)
    if isinstance(problem, TokenRefused):
        return _ExecutionStop(error)  # the driver renewed the token before it repeated the read
    if isinstance(problem, ProviderThrottled | ProviderUnreadable):
        return _ExecutionStop(error, True, to_retry_delay_ms(problem.retry_after, 1))
    return _ExecutionStop(error)


# -- after a step -------------------------------------------------------------------------------------------------


def _make_receipt(
    network: Network,
    step: Step,
    request: Request,
    intent: Intent,
    answer: SendResult,
    progress: ExecutionProgress,
) -> Receipt:
    """Make the receipt of an attempt.

    Item positions refer to the planned array. Outputs contain the ids of all attempts at the step.
    """
    if isinstance(answer, RequestNotSent):
        return Receipt(
            intent.step_index,
            step.key,
            intent.attempt,
            "throttled",
            error=redact_error(NativeErrorDetails(message=answer.message)),
            retry_after=to_retry_delay_ms(None, intent.attempt),
        )
    if isinstance(answer, ResponseLost):
        status = answer.native.status
        outcome: StepOutcome = Ambiguous(answer.message, answer.native)
    else:
        status = answer.status
        try:
            outcome = classify_write(network, step, request, answer)
        except RESPONSE_READ_ERRORS as fault:
            outcome = _make_unreadable_outcome(f"The answer cannot be read ({type(fault).__name__}).", status)
    items = tuple(_to_planned_position(item, intent) for item in outcome.items)
    outputs: Outputs = {}
    if isinstance(outcome, Applied):
        outputs = outcome.outputs
        if step.items is not None:
            ids = {item.index: item.id for item in items if item.id is not None}
            outputs = _merge_item_ids(step, {**progress.applied_items.get(step.key, {}), **ids})
    if not has_valid_ids(outputs, items):
        outcome, items, outputs = _make_unreadable_outcome("The answer contains a malformed id.", status), (), {}
    error = NativeErrorDetails(message=outcome.reason, status=status) if isinstance(outcome, Ambiguous) else None
    native = NativeErrorDetails() if isinstance(outcome, Applied) else outcome.error
    return Receipt(
        intent.step_index,
        step.key,
        intent.attempt,
        _STATE_BY_OUTCOME[type(outcome)],
        http_status=status,
        request_id=native.request_id or find_request_id(answer.headers),
        outputs=outputs,
        items=items,
        response=redact_response(answer) if isinstance(answer, Response) else None,
        error=None if isinstance(outcome, Applied) else redact_error(native if native.message else error or native),
        blame=outcome.blame if isinstance(outcome, Rejected) else None,
        retry_after=to_retry_delay_ms(outcome.retry_after, intent.attempt) if isinstance(outcome, Throttled) else None,
    )


_STATE_BY_OUTCOME: Mapping[type[StepOutcome], Literal["applied", "rejected", "throttled", "ambiguous"]] = {
    Applied: "applied",
    Rejected: "rejected",
    Throttled: "throttled",
    Ambiguous: "ambiguous",
}


def _make_unreadable_outcome(reason: str, status: int | None) -> Ambiguous:
    return Ambiguous(reason, NativeErrorDetails(message=reason, status=status))


def _to_planned_position(item: ItemReceipt, intent: Intent) -> ItemReceipt:
    """Return the item's receipt with its position in the planned array."""
    assert intent.items is not None
    return evolve(item, index=intent.items[item.index], error=None if item.error is None else redact_error(item.error))


def _merge_item_ids(step: Step, ids: Mapping[int, str]) -> Outputs:
    """Return the step's outputs from the items of all attempts, in planned order."""
    assert step.items is not None
    ordered = [ids[index] for index in sorted(ids)]
    return {step.items.output: ordered if step.items.many else ordered[0]}


def _decide_stop(receipt: Receipt, progress: ExecutionProgress) -> _ExecutionStop:
    """Decide how the operation continues after an attempt that was not applied."""
    step, native = receipt.key, receipt.error
    reason = (native.message if native is not None else None) or "The network gave no reason."
    if receipt.state == "ambiguous":
        message = f"It is not known whether step {step} was done. {reason}"
        return _ExecutionStop(_build_error("outcome_unknown", message, step, native), trigger="lose")
    if receipt.state == "throttled":
        message = f"Step {step} was not done yet: {reason}"
        code = "provider_throttled" if receipt.http_status is not None else "not_sent"
        return _ExecutionStop(_build_error(code, message, step, native), True, receipt.retry_after)
    if receipt.blame == "token":
        # after a refreshed token was refused as well, a third attempt is pointless
        once = progress.blames.get(step) != "token"
        message = f"The network refused the token at step {step}: {reason}"
        return _ExecutionStop(_build_error("provider_token_refused", message, step, native), once)
    message = f"The network refused step {step}: {reason}"
    return _ExecutionStop(_build_error("provider_rejected", message, step, native))
