"""O9: whatever becomes of the answer to a write, over real sockets, the operation ends as the rules say.

What is not proven to be undone is unknown, and nothing is ever repeated by itself.
"""

from __future__ import annotations

import json
import socket
from collections import Counter
from collections.abc import Mapping
from contextlib import ExitStack
from typing import Any, Literal

import pytest
from attrs import define, evolve, frozen

from adsunify.execution.executor import KillPoint
from adsunify.http import backend
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Request, Response
from adsunify.http.transport import HttpTransport
from adsunify.service.core import Service
from tests.networks.samples import Ending, get_samples

from .child import tell
from .stage import FORMATS, NETWORK_PLANS, NativeWrite, Stage, alternate_engines
from .wire import Act, Call, Unread, Wire, make_answer, open_wire

SHORT = 0.3
"""Seconds that a request may take where the wire is silent."""


def answers(content: bytes, status: str = "200 OK", kind: str = "application/json", headers: str = "") -> Act:
    """The network has done it, and something else comes back."""

    async def act(call: Call) -> None:
        await call.apply()
        await call.say(make_answer(content, status, kind, headers))

    return act


async def _silence(call: Call) -> None:
    await call.silence()


async def _apply_then_silence(call: Call) -> None:
    await call.apply()
    await call.silence()


async def _reset(call: Call) -> None:
    call.reset()


async def _apply_then_reset(call: Call) -> None:
    await call.apply()
    call.reset()


async def _apply_then_close(call: Call) -> None:
    await call.apply()


async def _headers_reset(call: Call) -> None:
    head, _, _ = (await call.apply()).partition(b"\r\n\r\n")
    await call.say(head + b"\r\n\r\n")
    call.reset()


async def _half_head(call: Call) -> None:
    head, _, _ = (await call.apply()).partition(b"\r\n\r\n")
    await call.say(head[: len(head) // 2])


async def _half_body(call: Call) -> None:
    """The whole length is promised, half of it comes."""
    answer = await call.apply()
    await call.say(answer[: -len(answer.partition(b"\r\n\r\n")[2]) // 2])


async def _half_json(call: Call) -> None:
    """A whole answer that holds half a JSON text."""
    body = (await call.apply()).partition(b"\r\n\r\n")[2]
    await call.say(make_answer(body[: len(body) // 2]))


async def _half_body_silence(call: Call) -> None:
    answer = await call.apply()
    await call.say(answer[:-4])
    await call.silence()


async def _twice(call: Call) -> None:
    """The answer, and another one behind it."""
    answer = await call.apply()
    await call.say(answer[:-3] + b"..." + answer)


HTML = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
ON_THE_WIRE: Mapping[str, Act | Unread] = {
    "never read": Unread(_silence),
    "reset unread": Unread(_reset),
    "silent": _silence,
    "silent when done": _apply_then_silence,
    "reset": _reset,
    "reset when done": _apply_then_reset,
    "closed when done": _apply_then_close,
    "reset after the headers": _headers_reset,
    "half the headers": _half_head,
    "half the body": _half_body,
    "silent in the body": _half_body_silence,
    "half the JSON": _half_json,
    "HTML 200": answers(HTML, kind="text/html"),
    "HTML 502": answers(HTML, "502 Bad Gateway", "text/html"),
    "empty 200": answers(b""),
    "204": answers(b"", "204 No Content"),
    "null": answers(b"null"),
    "a list": answers(b"[]"),
    "an empty object": answers(b"{}"),
    "a redirect": answers(b"", "302 Found", headers="Location: https://elsewhere.example/\r\n"),
    "a repeating redirect": answers(b"", "307 Temporary Redirect", headers="Location: /again\r\n"),
    "another status": answers(b"{}", "299 Odd"),
    "no status": answers(b"{}", "999 Odd"),
}
BODY_CUT = {"reset after the headers", "half the body", "silent in the body", "half the JSON"}
NO_ID = {"empty 200", "204", "null", "a list", "an empty object", "another status"}
"""Successes without an id: where nothing is created, all that such a network says."""
SILENT = {"never read": 1.0, "silent": SHORT, "silent when done": SHORT, "silent in the body": SHORT}
"""Seconds until the time of these is up. What is never read must at least be sent, on a busy machine, too."""
STATUSES: Mapping[int, Ending] = {
    401: "token",
    403: "rejected",
    408: "unknown",
    429: "throttled",
    500: "unknown",
    502: "unknown",
    503: "unknown",
    504: "unknown",
}


@frozen
class Case:
    """One way in which the answer to a write goes wrong, and how the operation must end."""

    name: str
    ends: Ending
    act: Act | Unread | None = None
    fault: Mapping[str, Any] | None = None
    seconds: float | None = None
    refusing: Literal["refused", "unreachable"] | None = None


def cases(network: str, action: str) -> list[Case]:
    """Every case of a network."""
    samples = get_samples(network)
    # once the headers of an answer without body are there, nothing can be lost
    harmless: set[str] = set()
    if action in samples.empty_answers:
        harmless = BODY_CUT if action == "create" else BODY_CUT | NO_ID
    rows = [
        Case(name, "unknown", act, seconds=SILENT.get(name))
        for name, act in ON_THE_WIRE.items()
        if name not in harmless
    ]
    unknown = json.dumps(samples.unknown_error).encode()
    rows.append(Case("an unknown error in a 200", "unknown", answers(unknown)))
    rows += [
        Case(f"status {status}", ends, fault={"network": network, "fault": "status", "value": status})
        for status, ends in STATUSES.items()
    ]
    rows += [
        Case(name, ends, fault={"network": network, "fault": name}) for name, ends in samples.native_faults.items()
    ]
    return [*rows, Case("refused", "not_sent", refusing="refused"), Case("no way", "not_sent", refusing="unreachable")]


@define
class Hasty:
    """The transport with less patience for one request."""

    whole: HttpTransport
    seconds: float | None = None

    def open_pool(self) -> PoolTransport:
        return self.whole.open_pool()

    async def send(self, request: Request, *, timeout: float, **more: Any) -> Response:
        seconds, self.seconds = self.seconds or timeout, None
        return await self.whole.send(request, timeout=seconds, **more)


PLANS = [
    *(("sqlite", *plan) for plan in NETWORK_PLANS),
    *(turn for turn in alternate_engines(NETWORK_PLANS) if turn[0] == "postgresql"),
]
"""What an answer means does not depend on the engine: there, one plan of each network, and its last step, will do."""


@pytest.mark.parametrize(("engine", "name", "action"), PLANS)
async def test_ambiguous_outcomes(stage: Stage, engine: str, name: str, action: str) -> None:
    async with open_wire(stage.sandbox_url) as wire, stage.service(sandbox_url=wire.url) as service:
        source = await stage.source(service, FORMATS[name][0], action)
        before = len(stage.list_writes())
        await stage.execute(service, await source())
        clean = stage.list_writes()[before:]
        for case in cases(name.split("-")[0], action):
            for step in range(0 if engine == "sqlite" else len(clean) - 1, len(clean)):
                await _try_case(stage, service, wire, await source(), case, step, clean)


async def _try_case(
    stage: Stage, service: Service, wire: Wire, operation_id: str, case: Case, step: int, clean: list[NativeWrite]
) -> None:
    where = f"{case.name} at step {step}"
    hasty = Hasty(service.transport)
    breaking: Any = evolve(service)
    breaking.transport = hasty
    passed: list[KillPoint] = []
    calls_before: list[int] = []
    with ExitStack() as stack:

        def pass_point(point: KillPoint) -> None:
            passed.append(point)
            if point is KillPoint.after_intent_commit and passed.count(point) == step + 1:
                calls_before.append(len(wire.calls))
                wire.fault, hasty.seconds = case.act, case.seconds
                if case.fault is not None:
                    tell(stage.sandbox_url, case.fault)
                if case.refusing is not None:
                    wire.shut()
                if case.refusing == "unreachable":
                    _unreachable(wire.port, stack)
                    stack.enter_context(pytest.MonkeyPatch.context()).setattr(backend, "CONNECT_TIMEOUT_SECONDS", SHORT)

        breaking.kill_point_hook = pass_point
        before = len(stage.list_writes())
        refusal = await stage.refusal(breaking, operation_id)
    wire.forget()
    await wire.done()
    if case.refusing is not None:
        await wire.open()

    after = wire.calls[calls_before[0] :]
    assert len(after) == (case.refusing is None) or case.ends == "token", f"{where}: {after}"
    assert after.count(after[0]) == 1 if after else True, f"{where}: repeated by itself: {after}"
    writes = stage.list_writes()[before:]
    assert _kinds(writes[:step]) == _kinds(clean[:step]) and len(writes) <= step + 1, where
    operation = await stage.read_operation(service, operation_id)
    receipts = operation["receipt"]["steps"]
    assert [receipt["state"] for receipt in receipts[:-1]] == ["applied"] * step, where
    last = receipts[-1]["state"]
    if case.ends == "unknown":
        assert (operation["status"], last) == ("unknown", "ambiguous"), where
        for again in (refusal, await stage.refusal(service, operation_id)):
            assert again is not None and (again.code, again.outcome) == ("outcome_unknown", "unknown"), where
        assert len(stage.list_writes()) == before + len(writes), f"{where}: repeated"
        return
    assert operation["status"] == "prepared", where
    if case.ends == "rejected":
        partly = step or any(item["state"] == "applied" for item in receipts[-1]["items"])
        outcome = "partly_applied" if partly else "not_applied"
        assert refusal is not None and (refusal.code, refusal.outcome) == ("provider_rejected", outcome), where
        assert "nextAction" not in operation and last == "rejected", where
    else:
        assert refusal is None and operation["nextAction"] == "execute", where
        assert last == ("rejected" if case.ends == "token" else "throttled"), where
        assert ("retryAfterMs" in operation) == (case.ends != "token"), where
    service.store.clock.observe(service.store.clock.now() + operation.get("retryAfterMs", 0))
    assert (await stage.execute(service, operation_id))["status"] == "succeeded", where
    assert _kinds(stage.list_writes()[before:]) == _kinds(clean), f"{where}: repeated or left out"


def _kinds(writes: list[NativeWrite]) -> Counter[str]:
    """How many entities of each kind were written."""
    return Counter(kind for write in writes for kind in write.what.split()[2:])


def _unreachable(port: int, stack: ExitStack) -> None:
    """Take the place so that connecting to it gets no answer: somebody listens, and never accepts."""
    deaf = stack.enter_context(socket.socket())
    deaf.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    deaf.bind(("127.0.0.1", port))
    deaf.listen(0)
    for _ in range(3):
        waiting = stack.enter_context(socket.socket())
        waiting.setblocking(False)
        waiting.connect_ex(("127.0.0.1", port))
