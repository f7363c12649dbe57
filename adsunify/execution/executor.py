"""Executes one operation without doing any I/O: a generator that says what to do next and is told what came of it.

::

    run = execute(network, plan, progress(receipts, in_flight), operation_id)
    effect = next(run)                        # Commit, Send or Read
    effect = run.send(answer)                 # an Answer; StopIteration carries the Ending

Exactly one step is in flight. A commit stands before and after every native write, and the commit after a step is the
commit before the next one: claim + intent 1 | receipt 1 + intent 2 | ... | receipt N + succeeded. The read of an
overlay comes before the intent; the receipt before it is committed first. The driver

- answers a ``Commit`` that the database did not do by trying again where it holds a receipt (evidence must land), else
  by closing the generator;
- never answers a ``Send`` twice and never cancels one: what it does not know is ``ResponseLost``.

The only clock here is ``Advanced.at``.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Mapping
from enum import Enum
from typing import Literal

from attrs import evolve, frozen

from adsunify.adapter.error_rules import failure
from adsunify.adapter.network import Network
from adsunify.errors import (
    NativeError,
    ProviderError,
    ProviderThrottled,
    ProviderUnreadable,
    RequestNotSent,
    ResponseLost,
    TokenRefused,
)
from adsunify.execution.outcomes import Ambiguous, Applied, Outcome, Rejected, Throttled, outcome
from adsunify.execution.redaction import milliseconds, response_kept, sound
from adsunify.execution.state import Advance, Advanced, Intent, ItemReceipt, Progress, Receipt, Status, Trigger
from adsunify.http.messages import Request, Response
from adsunify.http.redaction import error_kept, request_id
from adsunify.plans.binding import bound, laid_over
from adsunify.plans.records import Outputs, Plan, Step
from adsunify.values.exact_json import Json
from adsunify.values.json_pointer import read

READ_FAULTS = (
    ProviderError,
    ArithmeticError,
    AttributeError,
    LookupError,
    RecursionError,
    StopIteration,
    TypeError,
    ValueError,
)
"""What reading a hostile answer may raise. Whoever stumbles over an answer to a write does not know what it says."""


# -- effects and answers ------------------------------------------------------------------------------------------


@frozen
class Commit:
    """Make this durable; answered by ``Advanced``."""

    advance: Advance


@frozen
class Send:
    """Sign and send this write, once; answered by ``Response``, ``RequestNotSent`` or ``ResponseLost``.

    ``at``: when its intent was committed. A driver whose lease has run out since then answers ``RequestNotSent``.
    """

    request: Request
    key: str
    at: int


@frozen
class Read:
    """Sign and send this read; answered by ``Response``, ``RequestNotSent`` or ``ResponseLost``.

    It may be repeated: the driver refreshes a refused token and repeats it once before it answers.
    """

    request: Request
    key: str


@frozen
class RenewToken:
    """Renew the token with which the network refused a write; answered by whether the account can be used now.

    ``again``: a renewed token was refused as well, so that a read has to show whether the account can be used at all.
    """

    again: bool


Effect = Commit | Send | Read | RenewToken
SendResult = Response | RequestNotSent | ResponseLost
Answer = Advanced | SendResult | bool


@frozen
class Ending:
    """How the execution ended: ``status`` of the operation now, None where the store knows better (``refused``).

    ``refused``: why nothing (more) was sent, as in ``Advanced.refused`` (the receipt before it landed, and where the
    operation was still ours it is handed back); ``doubtful`` where the outcome of a step is not known.
    ``retry_after``: milliseconds.
    """

    status: Status | None
    refused: str | None = None
    next_action: bool = False
    retry_after: int | None = None
    error: Mapping[str, Json] | None = None


@frozen
class Limits:
    """How long one call works before it hands back between two steps; a step that has begun is waited for.

    ``milliseconds`` is held by whoever has a clock, through ``stopping``.
    """

    milliseconds: int = 20_000
    steps: int = 25


class KillPoint(Enum):
    """Where a test may end the process; the driver says when it is there."""

    before_intent_commit = "before_intent_commit"
    after_intent_commit = "after_intent_commit"
    applied_before_read = "applied_before_read"
    before_receipt_commit = "before_receipt_commit"
    after_receipt_commit = "after_receipt_commit"


def kill_points(effect: Effect) -> tuple[tuple[KillPoint, ...], tuple[KillPoint, ...]]:
    """The points that a driver passes before it carries an effect out, and after."""
    if isinstance(effect, Send):
        return (), (KillPoint.applied_before_read,)
    before: list[KillPoint] = []
    after: list[KillPoint] = []
    if isinstance(effect, Commit) and effect.advance.receipt is not None:
        before.append(KillPoint.before_receipt_commit)
        after.append(KillPoint.after_receipt_commit)
    if isinstance(effect, Commit) and effect.advance.intent is not None:
        before.append(KillPoint.before_intent_commit)
        after.append(KillPoint.after_intent_commit)
    return tuple(before), tuple(after)


# -- the execution ------------------------------------------------------------------------------------------------


@frozen
class _End:
    """How an execution stops here, as it goes into the commit and the ending."""

    error: Mapping[str, Json] | None = None
    next_action: bool = False
    retry_after: int | None = None
    trigger: Trigger = "hand_back"


_STATUS_AFTER: Mapping[Trigger, Status] = {"hand_back": "prepared", "lose": "unknown", "succeed": "succeeded"}


def execute(
    network: Network,
    plan: Plan,
    progress: Progress,
    operation_id: str,
    *,
    limits: Limits = Limits(),
    stopping: Callable[[], bool] = lambda: False,
) -> Generator[Effect, Answer, Ending]:
    """Execute what remains of an operation.

    ``stopping`` is asked between steps: true (a shutdown, the call's own deadline) hands back. Raises nothing on any
    answer; an answer of a kind that does not belong to the effect is a fault of the driver (TypeError).
    """
    if progress.doubtful:
        message = f"Nobody knows whether step {progress.doubtful[0]} was done, so nothing is sent again."
        return Ending(None, "doubtful", error=_error("outcome_unknown", message, progress.doubtful[0]))
    outputs: dict[str, Outputs] = dict(progress.outputs)
    fence: int | None = None
    sent = 0
    receipt: Receipt | None = None
    for n, step in enumerate(plan.steps):
        if step.key in outputs:
            continue
        remaining = _remaining(step, progress)
        if remaining == () and step.key in progress.applied_items:
            outputs[step.key] = _merged(step, progress.applied_items[step.key])
            continue
        if sent >= limits.steps or stopping():
            return (yield from _stop(operation_id, fence, receipt, _End(next_action=True)))
        built = _built(step, outputs, remaining)
        if isinstance(built, Request) and step.overlay is not None:
            if receipt is not None:
                advanced = _advanced((yield Commit(Advance(operation_id, fence, receipt=receipt))))
                receipt = None
                if advanced.refused is not None:
                    return _ended(advanced.refused)
            reading = _answered((yield Read(step.overlay.read, step.key)))
            built = _overlaid(network, step, built, reading)
        if isinstance(built, _End):
            return (yield from _stop(operation_id, fence, receipt, built))
        intent = Intent(n, step.key, progress.attempts.get(step.key, 0) + 1, built.to_json(), remaining)
        claim: Trigger | None = "claim" if fence is None else None
        advance = Advance(operation_id, fence, receipt=receipt, intent=intent, trigger=claim)
        advanced = _advanced((yield Commit(advance)))
        if advanced.refused is not None:
            return _ended(advanced.refused)
        fence, sent = advanced.fence, sent + 1
        answer = _answered((yield Send(built, step.key, advanced.at)))
        receipt = _receipt(network, step, built, intent, answer, progress)
        if receipt.state != "applied":
            end = _after(receipt, progress)
            if receipt.blame == "token":
                advanced = _advanced((yield Commit(Advance(operation_id, fence, receipt=receipt))))
                if advanced.refused is not None:
                    return _ended(advanced.refused)
                receipt = None
                if not (yield RenewToken(again=not end.next_action)):
                    end = evolve(end, next_action=False)
            return (yield from _stop(operation_id, fence, receipt, end))
        outputs[step.key] = receipt.outputs
    if fence is None:  # every receipt is there already: the process ended before it could say so
        advanced = _advanced((yield Commit(Advance(operation_id, None, trigger="claim"))))
        if advanced.refused is not None:
            return _ended(advanced.refused)
        fence = advanced.fence
    return (yield from _stop(operation_id, fence, receipt, _End(trigger="succeed")))


def _stop(
    operation_id: str, fence: int | None, receipt: Receipt | None, end: _End
) -> Generator[Effect, Answer, Ending]:
    """The last commit; none where nothing was claimed."""
    status = _STATUS_AFTER[end.trigger]
    ending = Ending(status, None, end.next_action, end.retry_after, end.error)
    if fence is None:
        return ending
    advance = Advance(
        operation_id,
        fence,
        receipt=receipt,
        trigger=end.trigger,
        next_action=end.next_action,
        retry_after=end.retry_after,
        error=end.error,
    )
    advanced = _advanced((yield Commit(advance)))
    if advanced.refused is not None:
        return evolve(ending, status=None, refused=advanced.refused, next_action=False, retry_after=None)
    return ending


def _ended(refused: str) -> Ending:
    return Ending(None, refused, error=_refused_error(refused))


_CLOCK_AHEAD = (
    "The operation was last changed at a time that is more than 5 minutes ahead of this machine's clock, so it is not "
    "executed: one of the clocks is or was wrong. `adsunify admin clock` shows such times and repairs them."
)
_REFUSALS: Mapping[str, tuple[str, str]] = {
    "claimed": ("operation_running", "The operation is being executed already."),
    "fenced": ("operation_fenced", "Another execution has taken the operation over."),
    "expired": ("operation_expired", "The time for review and execution is over."),
    "too_early": ("operation_too_early", "The network asked to wait; the time is not over."),
    "access": ("access_lost", "The credential, its owner or the account may no longer write."),
    "approval": ("approval_required", "In this workspace a person who signed in must execute it."),
    "ambiguous": ("outcome_unknown", "The network's answer names an entity that another step has created."),
    "clock": ("clock_ahead", _CLOCK_AHEAD),
    "not_prepared": ("operation_not_prepared", "The operation is not prepared."),
}


def _refused_error(refused: str) -> Mapping[str, Json]:
    code, message = _REFUSALS.get(refused, ("operation_refused", f"The operation was refused: {refused}."))
    return _error(code, message)


def _error(code: str, message: str, step: str | None = None, native: NativeError | None = None) -> Mapping[str, Json]:
    """The ``error`` of an operation. What of the operation is written is read from its receipts when it is shown."""
    network = None if native is None else native.to_json()
    return {"code": code, "message": message, "step": step, "network": network}


def _advanced(answer: Answer) -> Advanced:
    if not isinstance(answer, Advanced):
        raise TypeError("a Commit is answered by Advanced")
    return answer


def _answered(answer: Answer) -> SendResult:
    if isinstance(answer, Advanced | bool):
        raise TypeError("a Send or Read is answered by Response, RequestNotSent or ResponseLost")
    return answer


# -- before a step ------------------------------------------------------------------------------------------------


def _remaining(step: Step, progress: Progress) -> tuple[int, ...] | None:
    """The items that are surely not applied yet (positions in the planned array); None for a step without items."""
    if step.items is None:
        return None
    count = len(read({"body": step.request.body}, step.items.at) or ())
    done = progress.applied_items.get(step.key, {})
    return tuple(index for index in range(count) if index not in done)


def _built(step: Step, outputs: Mapping[str, Outputs], remaining: tuple[int, ...] | None) -> Request | _End:
    """The request with its bindings filled. An id that does not fit where it must go stops the execution."""
    try:
        if remaining == ():
            raise ValueError("it has no items")
        if step.request.nature != "write":
            raise ValueError("it is no write, and might be repeated")
        return bound(step, outputs, remaining)
    except (LookupError, TypeError, ValueError) as reason:
        message = f"Step {step.key} cannot be sent: {reason}."
        return _End(_error("step_not_sendable", message, step.key))


def _overlaid(network: Network, step: Step, request: Request, answer: SendResult) -> Request | _End:
    """The request laid over the object as it is now. A failed read is surely not applied: it hands back."""
    problem: ProviderError | None
    if isinstance(answer, Response):
        try:
            problem = failure(network, answer)
            if problem is None:
                return laid_over(step, request, answer)
        except ProviderError as unreadable:
            problem = unreadable
        except READ_FAULTS as fault:
            problem = ProviderUnreadable(f"The current object cannot be read ({type(fault).__name__}).")
    else:
        problem = ProviderUnreadable(answer.message)
    native = error_kept(problem.native)
    error = _error(problem.code, f"Before {step.key}: {problem.message}", step.key, native)
    if isinstance(problem, TokenRefused):
        return _End(error)  # the driver renewed the token before it repeated the read
    if isinstance(problem, ProviderThrottled | ProviderUnreadable):
        return _End(error, True, milliseconds(problem.retry_after, 1))
    return _End(error)


# -- after a step -------------------------------------------------------------------------------------------------


def _receipt(
    network: Network,
    step: Step,
    request: Request,
    intent: Intent,
    answer: SendResult,
    progress: Progress,
) -> Receipt:
    """What became of the attempt; item positions count in the planned array, outputs hold all attempts."""
    if isinstance(answer, RequestNotSent):
        return Receipt(
            intent.n,
            step.key,
            intent.attempt,
            "throttled",
            error=error_kept(NativeError(message=answer.message)),
            retry_after=milliseconds(None, intent.attempt),
        )
    if isinstance(answer, ResponseLost):
        status = answer.native.status
        found: Outcome = Ambiguous(answer.message, answer.native)
    else:
        status = answer.status
        try:
            found = outcome(network, step, request, answer)
        except READ_FAULTS as fault:
            found = _unreadable(f"The answer cannot be read ({type(fault).__name__}).", status)
    items = tuple(_planned(item, intent) for item in found.items)
    outputs: Outputs = {}
    if isinstance(found, Applied):
        outputs = found.outputs
        if step.items is not None:
            ids = {item.index: item.id for item in items if item.id is not None}
            outputs = _merged(step, {**progress.applied_items.get(step.key, {}), **ids})
    if not sound(outputs, items):
        found, items, outputs = _unreadable("The answer holds an id that is none.", status), (), {}
    error = NativeError(message=found.reason, status=status) if isinstance(found, Ambiguous) else None
    native = NativeError() if isinstance(found, Applied) else found.error
    return Receipt(
        intent.n,
        step.key,
        intent.attempt,
        _STATE[type(found)],
        http_status=status,
        request_id=native.request_id or request_id(answer.headers),
        outputs=outputs,
        items=items,
        response=response_kept(answer) if isinstance(answer, Response) else None,
        error=None if isinstance(found, Applied) else error_kept(native if native.message else error or native),
        blame=found.blame if isinstance(found, Rejected) else None,
        retry_after=milliseconds(found.retry_after, intent.attempt) if isinstance(found, Throttled) else None,
    )


_STATE: Mapping[type[Outcome], Literal["applied", "rejected", "throttled", "ambiguous"]] = {
    Applied: "applied",
    Rejected: "rejected",
    Throttled: "throttled",
    Ambiguous: "ambiguous",
}


def _unreadable(reason: str, status: int | None) -> Ambiguous:
    return Ambiguous(reason, NativeError(message=reason, status=status))


def _planned(item: ItemReceipt, intent: Intent) -> ItemReceipt:
    """An item's receipt, its position counted in the planned array."""
    assert intent.items is not None
    return evolve(item, index=intent.items[item.index], error=None if item.error is None else error_kept(item.error))


def _merged(step: Step, ids: Mapping[int, str]) -> Outputs:
    """The step's outputs from the items of all attempts, in planned order."""
    assert step.items is not None
    ordered = [ids[index] for index in sorted(ids)]
    return {step.items.output: ordered if step.items.many else ordered[0]}


def _after(receipt: Receipt, progress: Progress) -> _End:
    """What an attempt that was not applied makes of the operation."""
    step, native = receipt.key, receipt.error
    said = (native.message if native is not None else None) or "The network gave no reason."
    if receipt.state == "ambiguous":
        message = f"Nobody knows whether step {step} was done; look at the account before anything else. {said}"
        return _End(_error("outcome_unknown", message, step, native), trigger="lose")
    if receipt.state == "throttled":
        message = f"Step {step} was not done yet: {said}"
        code = "provider_throttled" if receipt.http_status is not None else "not_sent"
        return _End(_error(code, message, step, native), True, receipt.retry_after)
    if receipt.blame == "token":
        # a refreshed token that is refused again will not do better the third time
        once = progress.blames.get(step) != "token"
        message = f"The network refused the token at step {step}: {said}"
        return _End(_error("provider_token_refused", message, step, native), once)
    message = f"The network refused step {step}: {said}"
    return _End(_error("provider_rejected", message, step, native))
