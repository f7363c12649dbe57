"""What surrounds an execution, modelled in memory: the store's ``advance``, a network that counts, the one clock."""

from __future__ import annotations

from random import Random
from typing import Any

from attrs import define, field

from adsunify.errors import RequestNotSent, ResponseLost
from adsunify.execution.state import (
    LEASE_MILLISECONDS,
    REVIEW_MILLISECONDS,
    CommitResult,
    ExecutionProgress,
    Intent,
    OperationStatus,
    Receipt,
    StateCommit,
    Trigger,
    apply_trigger,
    is_expired,
    read_progress,
)
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Plan, Step
from adsunify.values.json_pointer import get_value

from .plans import ID_BASE


class Broken(AssertionError):
    """An invariant does not hold."""


class Clock:
    """The later of the wall, the start's wall plus the monotonic time, and the newest stored time."""

    def __init__(self) -> None:
        self.monotonic = 0
        self.wall = self.start = self.newest = 1_000_000_000
        self.since = 0

    def passes(self, milliseconds: int) -> None:
        self.monotonic += milliseconds
        self.wall += milliseconds

    def jumps(self, milliseconds: int) -> None:
        """Somebody sets the wall clock."""
        self.wall += milliseconds

    def set_right(self) -> None:
        """Somebody sets the wall clock to what it should be, at last."""
        self.wall = max(self.wall, self.newest)

    def restarts(self) -> None:
        """A new process knows only the wall and what is stored."""
        self.start, self.since = self.wall, self.monotonic

    def now(self) -> int:
        self.newest = max(self.wall, self.start + self.monotonic - self.since, self.newest)
        return self.newest


@define
class Attempt:
    """One row of steps."""

    intent: Intent
    fence: int
    receipt: Receipt | None = None


class Store:
    """One operation and its attempts, with the semantics of the store's ``advance``."""

    def __init__(self, now: int) -> None:
        self.status: OperationStatus = "prepared"
        self.events = ["operation.prepared"]
        self.expires_at = now + REVIEW_MILLISECONDS
        self.fence = 0
        self.lease_until = 0
        self.not_before = 0
        self.next_action = False
        self.allowed = True
        self.attempts: dict[tuple[int, int], Attempt] = {}

    def open(self) -> list[Attempt]:
        return [attempt for attempt in self.attempts.values() if attempt.receipt is None]

    def progress(self) -> ExecutionProgress:
        rows = [self.attempts[key] for key in sorted(self.attempts)]
        receipts = [row.receipt for row in rows if row.receipt is not None]
        return read_progress(receipts, [row.intent.key for row in rows if row.receipt is None])

    def moves(self, trigger: Trigger) -> None:
        self.status, event = apply_trigger(self.status, trigger)
        if event is not None:
            self.events.append(event)

    def is_stalled(self, now: int) -> bool:
        return self.status == "running" and self.lease_until <= now and bool(self.open())

    def advance(self, change: StateCommit, now: int) -> CommitResult:
        if change.receipt is not None:
            row = self.attempts[change.receipt.step_index, change.receipt.attempt]
            if row.receipt is None:
                row.receipt = change.receipt
        if change.fence is None:
            return self._claim(change, now)
        if change.is_renewal:
            refused = None if self._is_held(change) and self.lease_until > now else "fenced"
        elif change.trigger is not None:
            return self._end(change, now)
        else:
            refused = self._continue(change, now)
        if refused is None:
            self.lease_until = now + LEASE_MILLISECONDS
        elif not change.is_renewal and self._is_held(change) and not self.open():
            self.next_action = refused == "fenced"
            self.moves("hand_back")
        return CommitResult(self.fence if change.fence is None else change.fence, now, refused)

    def _is_held(self, change: StateCommit) -> bool:
        return self.status == "running" and self.fence == change.fence

    def _claim(self, change: StateCommit, now: int) -> CommitResult:
        if self.status == "running" and self.lease_until <= now and not self.open():
            self.moves("recover")
        if self.status != "prepared":
            return CommitResult(0, now, "claimed" if self.status == "running" else "not_prepared")
        if is_expired(self.expires_at, now):
            return CommitResult(0, now, "expired")
        if now < self.not_before:
            return CommitResult(0, now, "too_early")
        if not self.allowed:
            return CommitResult(0, now, "access")
        if change.intent is not None and (change.intent.step_index, change.intent.attempt) in self.attempts:
            return CommitResult(0, now, "claimed")  # it was attempted while this execution was about to
        self.moves("claim")
        self.fence += 1
        self.lease_until, self.next_action, self.not_before = now + LEASE_MILLISECONDS, False, 0
        if change.intent is not None:
            self.attempts[change.intent.step_index, change.intent.attempt] = Attempt(change.intent, self.fence)
        return CommitResult(self.fence, now)

    def _continue(self, change: StateCommit, now: int) -> str | None:
        if not self._is_held(change) or self.lease_until <= now:
            return "fenced"
        intent = change.intent
        own = None if intent is None else self.attempts.get((intent.step_index, intent.attempt))
        if any(row is not own for row in self.open()):
            return "fenced"
        if intent is None:
            return None
        if is_expired(self.expires_at, now):
            return "expired"
        if not self.allowed:
            return "access"
        if own is not None and (own.fence != change.fence or own.receipt is not None):
            return "fenced"
        self.attempts[intent.step_index, intent.attempt] = own or Attempt(intent, self.fence)
        return None

    def _end(self, change: StateCommit, now: int) -> CommitResult:
        assert change.trigger is not None
        fence = self.fence if change.fence is None else change.fence
        if not self._is_held(change) or self.open():
            ended = apply_trigger("running", change.trigger)[0]
            return CommitResult(fence, now, None if self.fence == fence and self.status == ended else "fenced")
        self.moves(change.trigger)
        self.next_action = change.has_next_action
        self.not_before = now + (change.retry_after or 0)
        return CommitResult(fence, now)


@define
class Provider:
    """A network that applies writes and counts them by (step, item); item 0 where a step has none."""

    plan: Plan
    random: Random
    calm: float
    applied: dict[tuple[str, int], str] = field(factory=dict)
    made: int = 0

    def write(self, step: Step, request: Request) -> Response | RequestNotSent | ResponseLost:
        """Let one of many things happen to a write."""
        if self.random.random() < self.calm:
            return self._fine(step, request)
        mishap = self.random.choice((self._partial, self._apply_silently, self._not_applied, self._not_applied))
        return mishap(step, request)

    def read(self) -> Response | RequestNotSent | ResponseLost:
        if self.random.random() < max(self.calm, 0.85):
            return Response(200, {}, {"thing": {"id": "77", "etag": "x", "old": 1, "name": "was"}})
        return self.random.choice(_BAD_READS)

    # -- what is applied --

    def _apply(self, step: Step, request: Request, only: list[int] | None = None) -> list[str]:
        self._parents(step, request)
        ids = []
        for position in self._list_sent(step, request):
            if only is not None and position not in only:
                continue
            if (step.key, position) in self.applied:
                raise Broken(f"a duplicate native write: step {step.key}, item {position}")
            self.made += 1
            self.applied[step.key, position] = str(ID_BASE + self.made)
            ids.append(self.applied[step.key, position])
        return ids

    def _list_sent(self, step: Step, request: Request) -> list[int]:
        if step.items is None:
            return [0]
        return [row["item"] for row in get_value({"body": request.body}, step.items.at)]

    def _parents(self, step: Step, request: Request) -> None:
        target = {"body": request.body, "query": request.query, "path": request.path}
        for binding in step.bindings:
            expected_id = binding.prefix + self.applied.get((binding.step, 0), "none")
            if str(get_value(target, binding.to)) != expected_id:
                raise Broken(f"step {step.key} names another parent than the one that was made")

    # -- answers --

    def _answer(self, step: Step, ids: list[str]) -> dict[str, Any]:
        if step.items is None:
            return {"ok": True, "id": ids[0]}
        return {"ok": True, "results": [{"position": index, "id": id_} for index, id_ in enumerate(ids)]}

    def _fine(self, step: Step, request: Request) -> Response:
        ids = self._apply(step, request)
        if step.can_be_empty and self.random.random() < 0.5:
            return Response(204, {}, None, "empty")
        return Response(self.random.choice((200, 201)), {"x-request-id": "r"}, self._answer(step, ids))

    def _partial(self, step: Step, request: Request) -> Response:
        """207: each item its own way."""
        sent = self._list_sent(step, request)
        codes = [self.random.choice((None, None, "bad", "slow", "fog", "strange")) for _ in sent]
        if step.items is None or all(code is None for code in codes):
            return self._fine(step, request)
        applied = [item for item, code in zip(sent, codes, strict=True) if code is None]
        foggy = [item for item, code in zip(sent, codes, strict=True) if code in ("fog", "strange")]
        half = [item for item in foggy if self.random.random() < 0.5]  # an error of which nobody knows what it means
        self._apply(step, request, applied + half)
        results = [
            {"position": index, "id": self.applied[step.key, item]}
            if code is None
            else {"position": index, "code": code}
            for index, (item, code) in enumerate(zip(sent, codes, strict=True))
        ]
        return Response(207, {}, {"ok": True, "results": results})

    def _apply_silently(self, step: Step, request: Request) -> Response | ResponseLost:
        """Applied, and the answer does not say so."""
        answer = self._answer(step, self._apply(step, request))
        answers: tuple[Response | ResponseLost, ...] = (
            ResponseLost("reset after the headers", 200, {"x-request-id": "r"}),
            ResponseLost("the connection was lost"),
            Response(200, {}, "not JSON", "unreadable"),
            Response(200, {}, "<html>", "unreadable"),
            Response(500, {}, {"error": {"code": "bad"}}),
            Response(502, {}, "<html>", "unreadable"),
            Response(503, {"retry-after": "1"}, None, "empty"),
            Response(408, {}, None, "empty"),
            Response(302, {"location": "https://elsewhere.example"}, None, "empty"),
        )
        if not step.can_be_empty:
            answers += (
                Response(200, {}, None, "empty"),
                Response(200, {}, {"ok": True}),
                Response(200, {}, {"ok": "true", "results": 7}),
                Response(200, {}, {"ok": True, "id": {"$": 1}, "results": {}}),
                Response(200, {}, {"ok": True, "id": "\x00" * 9, "results": [{"position": 0, "id": "\ud800"}]}),
                Response(200, {}, {"ok": True, "id": "9" * 5000, "results": [{"id": 1}, 7, None]}),
            )
        if step.items is not None:
            doubled = answer["results"] * 2
            answers += (Response(200, {}, {"ok": True, "results": doubled}),)
            answers += (Response(200, {}, {"ok": True, "results": answer["results"][1:]}),)
        elif step.action == "create":
            answers += (Response(200, {}, {**answer, "error": {"code": "bad"}}),)
        return self.random.choice(answers)

    def _not_applied(self, step: Step, request: Request) -> Response | RequestNotSent | ResponseLost:
        """Not applied; the answer may or may not say so."""
        self._parents(step, request)
        return self.random.choice(_REFUSALS)


_REFUSALS: tuple[Response | RequestNotSent | ResponseLost, ...] = (
    RequestNotSent("refused"),
    RequestNotSent("no name"),
    ResponseLost("reset before anything came back"),
    Response(400, {}, {"error": {"code": "bad", "message": "access_token=abc"}}),
    Response(400, {}, "<html>", "unreadable"),
    Response(401, {}, {"error": {"code": "token"}}),
    Response(403, {}, None, "empty"),
    Response(404, {}, {}),
    Response(409, {}, {"error": {"code": "fog"}}),
    Response(422, {}, {"error": {"code": "full"}}),
    Response(429, {"retry-after": "1"}, None, "empty"),
    Response(429, {"retry-after": "99999999"}, None, "empty"),
    Response(200, {}, {"error": {"code": "bad"}}),
    Response(200, {}, {"error": {"code": "slow"}}),
    Response(200, {}, {"error": {"code": "strange"}}),
    Response(500, {}, {"error": {"code": "strange"}}),
)
_BAD_READS: tuple[Response | RequestNotSent | ResponseLost, ...] = (
    RequestNotSent("refused"),
    ResponseLost("reset"),
    Response(200, {}, {"nothing": 1}),
    Response(200, {}, "not JSON", "unreadable"),
    Response(401, {}, {}),
    Response(404, {}, {}),
    Response(429, {"retry-after": "2"}, {}),
    Response(503, {}, None, "empty"),
)
