"""Plays an execution by hand: its effects are recorded, and its inputs are scripted."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from attrs import define, field

from adsunify.errors import RequestNotSent, ResponseLost
from adsunify.execution.executor import (
    Commit,
    Effect,
    EffectResult,
    ExecutionLimits,
    ExecutionResult,
    RenewToken,
    SendRead,
    SendWrite,
    execute_plan,
)
from adsunify.execution.state import CommitResult, Receipt, StateCommit, read_progress
from adsunify.http.messages import Request, Response
from adsunify.plans.records import Binding, ItemBatch, Output, Overlay, Plan, Step, make_plan
from adsunify.values.exact_json import Json
from tests.system.simulation.plans import HOST, NETWORK

Told = Response | RequestNotSent | ResponseLost
USUAL = ExecutionLimits()


def write(key: str, body: Mapping[str, Json] | None = None, method: str = "POST") -> Request:
    return Request(method, f"https://{HOST}/{key}", body=dict(body or {}), encoding="json", kind="write")


def create(key: str, parent: str | None = None) -> Step:
    """A step that makes one thing; bound to the id of an earlier one."""
    bindings = () if parent is None else (Binding("/body/parent", parent, "id"),)
    return Step(key, "campaign", f"make {key}", write(key), bindings=bindings, outputs=(Output("id", ("/body/id",)),))


def batch(key: str, count: int, many: bool = True) -> Step:
    """A step that makes several things with one request."""
    body = {"rows": [{"item": index} for index in range(count)]}
    return Step(key, "ad", f"make {count}", write(key, body), items=ItemBatch("/body/rows", "id", many=many))


def replace(key: str) -> Step:
    """A step that lays a change over the object as it is."""
    overlay = Overlay(Request("GET", f"https://{HOST}/{key}"), "/thing", "/body/thing", changes={"/name": "new"})
    return Step(key, "ad", "rename", write(key, method="PUT"), "update", "9", overlay=overlay, can_be_empty=True)


def plan(*steps: Step) -> Plan:
    return make_plan("simulated", "create", "account", steps)


def make_response(identity: Json, status: int = 200) -> Response:
    return Response(status, {}, {"id": identity})


@define
class Played:
    """What an execution did, and how it ended."""

    ending: ExecutionResult
    effects: list[Effect] = field(factory=list)

    @property
    def commits(self) -> list[StateCommit]:
        return [effect.state_commit for effect in self.effects if isinstance(effect, Commit)]

    @property
    def sent_requests(self) -> list[Request]:
        return [effect.request for effect in self.effects if isinstance(effect, SendWrite)]

    @property
    def receipts(self) -> list[Receipt]:
        return [change.receipt for change in self.commits if change.receipt is not None]

    @property
    def shape(self) -> str:
        """The order of effects: (c)laim, (i)ntent, (r)eceipt, trigger's first letter in capitals; S send, R read."""
        words = []
        for effect in self.effects:
            if isinstance(effect, Commit):
                change = effect.state_commit
                word = ("r" if change.receipt else "") + ("i" if change.intent else "")
                words.append(word + (f":{change.trigger}" if change.trigger else ""))
            elif isinstance(effect, RenewToken):
                words.append("RENEW")
            else:
                words.append("SEND" if isinstance(effect, SendWrite) else "READ")
        return " ".join(words)


def play(
    plan_: Plan,
    answers: Sequence[Told] = (),
    *,
    receipts: Sequence[Receipt] = (),
    in_flight: Sequence[str] = (),
    refuse: Mapping[int, str] | None = None,
    limits: ExecutionLimits = USUAL,
    renewed: bool = True,
    stop_after: int | None = None,
) -> Played:
    """Execute with scripted answers to sends and reads; ``refuse``: number of the commit (from 0) to its refusal.

    ``stop_after``: a shutdown comes after so many sends.
    """
    left = list(answers)
    effects: list[Effect] = []
    commits = 0

    def is_stopping() -> bool:
        return stop_after is not None and sum(isinstance(effect, SendWrite) for effect in effects) >= stop_after

    run = execute_plan(NETWORK, plan_, read_progress(receipts, in_flight), "op", limits=limits, stopping=is_stopping)
    answer: EffectResult | None = None
    while True:
        try:
            effect = run.send(answer) if answer is not None else next(run)
        except StopIteration as done:
            assert not left, "answers that nobody asked for"
            return Played(done.value, effects)
        effects.append(effect)
        if isinstance(effect, Commit):
            answer = CommitResult(1, 1_000, (refuse or {}).get(commits))
            commits += 1
        elif isinstance(effect, RenewToken):
            answer = renewed
        else:
            assert isinstance(effect, SendWrite | SendRead)
            answer = left.pop(0)
