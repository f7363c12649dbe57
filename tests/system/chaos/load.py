"""Callers who repeat what got no answer, at another server and with the same key, until each change is finished."""

from __future__ import annotations

import asyncio
import random
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
from attrs import define, field

from tests.server.served import brief

READS = ("accounts", "operations", "webhooks", "ledger", "networks", "launches", "guardrails")
PATIENCE_SECONDS = 300
"""How long a call is repeated before the run fails."""
PAUSE_SECONDS = 0.3
THINKING_SECONDS = 0.5
"""The pause after each cycle, so that the processes and not the cores bound the work."""
TRANSIENT_CODES = ("store_unavailable", "not_ready", "operation_running", "server_unreachable")
OVER_CODES = ("operation_expired", "operation_cancelled", "already_resumed", "nothing_to_resume")
DOUBTFUL_CODES = ("outcome_unknown", "operation_stalled")


class Refused(Exception):
    """A request that the API refused. ``code``: of its problem."""

    def __init__(self, call: str, status: int, problem: Mapping[str, Any]) -> None:
        super().__init__(f"{call}: {status} {problem}"[:1000])
        self.code = str(problem.get("code"))


@define
class Callers:
    """What all callers share.

    Attributes:
        urls: the servers; any of them may be down.
        shown: the applied steps that answers have shown, by operation and step, with their outputs.
        prepared: the operations that answers have named.
        ends: how the changes ended, by status or code.
    """

    client: httpx.AsyncClient
    urls: list[str]
    chance: random.Random
    counts: Counter[str] = field(factory=Counter)
    shown_outputs: dict[tuple[str, str], Any] = field(factory=dict)
    prepared: set[str] = field(factory=set)
    ends: Counter[str] = field(factory=Counter)
    failures: list[str] = field(factory=list)

    async def call(self, method: str, path: str, body: Any = None, key: str | None = None) -> Any:
        """The data of the answer. What gets no answer is sent again to another server. Raises Refused."""
        headers = {} if key is None else {"Idempotency-Key": key}
        last: object = None
        try:
            async with asyncio.timeout(PATIENCE_SECONDS):
                while True:
                    url = self.chance.choice(self.urls)
                    try:
                        answer = await self.client.request(method, f"{url}/{path}", json=body, headers=headers)
                    except httpx.HTTPError as error:
                        last = error
                        self.counts["lost answers"] += 1
                    else:
                        content = answer.json()
                        if answer.status_code < 300:
                            self.counts["answers"] += 1
                            return content.get("data")
                        last = content
                        if content.get("code") not in TRANSIENT_CODES:
                            raise Refused(f"{method} {path}", answer.status_code, content)
                        self.counts[content["code"]] += 1
                    await asyncio.sleep(PAUSE_SECONDS)
        except TimeoutError:
            raise AssertionError(f"{method} {path} was not answered in {PATIENCE_SECONDS} s: {last!r}"[:1000]) from None

    async def prepare(self, path: str, body: Any) -> str:
        """Prepare an operation, and repeat it with its key: it stays one operation. Returns its id."""
        key = uuid4().hex
        first = await self.call("POST", path, body, key)
        again = await self.call("POST", path, body, key)
        if first["id"] != again["id"]:
            self.failures.append(f"{path}: one key made the operations {first['id']} and {again['id']}")
        self.prepared.add(first["id"])
        return str(first["id"])

    def note(self, operation: Mapping[str, Any]) -> None:
        """Note the receipts of an answer; none of them may be missing later."""
        for step in operation["receipt"]["steps"]:
            if step["state"] == "applied":
                self.shown_outputs[operation["id"], step["key"]] = step["outputs"]

    async def finish(self, operation_id: str) -> str:
        """Execute an operation to its end; what is in doubt is inspected and resumed. Returns how it ended."""
        while True:
            try:
                operation = await self.call("POST", f"operations/{operation_id}/execute", {"confirmed": True})
            except Refused as refused:
                if refused.code not in DOUBTFUL_CODES:
                    return self._end(refused)
                self.counts[refused.code] += 1
                rest = await self._resume(operation_id)
                if rest is None:
                    return "undecided"
                if not rest:
                    return "succeeded"
                operation_id = rest
                continue
            self.note(operation)
            if operation.get("nextAction") == "execute":
                self.counts["continued"] += 1
                await asyncio.sleep(operation.get("retryAfterMs", 0) / 1000)
                continue
            if operation["status"] == "running":  # a killed server began it: it stalls at the end of the lease
                self.counts["running"] += 1
                await asyncio.sleep(PAUSE_SECONDS)
                continue
            self.ends[operation["status"]] += 1
            if operation["status"] != "succeeded":
                self.failures.append(f"{operation_id} is {operation['status']}: {operation.get('error')}")
            return str(operation["status"])

    async def _resume(self, operation_id: str) -> str | None:
        """Prepare the rest of an operation. Returns its id; an empty text where nothing is left, None in doubt."""
        await self.call("POST", f"operations/{operation_id}/inspect", {})
        try:
            rest = await self.prepare(f"operations/{operation_id}/resume", None)
        except Refused as refused:
            if refused.code == "outcome_undecided":
                self.ends["undecided"] += 1
                return None
            self._end(refused)
            return ""
        self.counts["resumed"] += 1
        return rest

    def _end(self, refused: Refused) -> str:
        self.ends[refused.code] += 1
        if refused.code not in OVER_CODES:
            self.failures.append(str(refused))
        return refused.code


@define
class Caller:
    """One caller on one account. ``cycles``: how often it has worked."""

    callers: Callers
    account: Mapping[str, Any]
    others: list[Mapping[str, Any]]
    cycles: int = 0

    async def run(self, is_stopped: Callable[[], bool]) -> None:
        """Work until it is to stop, after a whole cycle."""
        while not is_stopped():
            await self._run_cycle()
            self.cycles += 1
            await asyncio.sleep(THINKING_SECONDS)

    async def _run_cycle(self) -> None:
        callers = self.callers
        created = await callers.prepare("create", make_cell(self.account))
        if self.cycles % 8 == 5:
            await self._cancel(created)
            return
        if await callers.finish(created) == "succeeded":
            await self._activate(created)
        for path in callers.chance.sample(READS, 2):
            await callers.call("GET", path)
        operation = await callers.call("GET", f"operations/{created}")
        callers.note(operation)
        if self.cycles % 6 == 3:
            await self._launch()

    async def _activate(self, created: str) -> None:
        body = {"accountId": self.account["accountId"], "sourceOperationId": created}
        try:
            activated = await self.callers.prepare("activate", body)
        except Refused as refused:  # the receipts of a resumed operation belong to another one
            self.callers.counts[f"activation: {refused.code}"] += 1
            return
        await self.callers.finish(activated)

    async def _cancel(self, created: str) -> None:
        try:
            await self.callers.call("POST", f"operations/{created}/cancel", {})
        except Refused as refused:
            if refused.code != "operation_cancelled":  # the answer to the first request was lost
                raise
        self.callers.ends["cancelled"] += 1

    async def _launch(self) -> None:
        """A launch of a few cells, executed by servers and workers; what is in doubt there is resumed."""
        callers = self.callers
        body = {"name": "Chaos", "campaign": {}, "accounts": [make_cell(account) for account in self.others]}
        launch = await callers.call("POST", "launches", body, uuid4().hex)
        path = f"launches/{launch['launchId']}"
        launch = await self._wait_while(path, "preparing")
        confirmed = {"confirmed": True, "digest": launch["changeSets"][-1]["digest"]}
        try:
            await callers.call("POST", f"{path}/execute", confirmed)
        except Refused as refused:
            callers.counts[f"launch: {refused.code}"] += 1
        launch = await self._wait_while(path, "running")
        callers.counts[f"launches {launch['status']}"] += 1
        for cell in launch["cells"]:
            if cell.get("operationId") is not None:
                callers.prepared.add(cell["operationId"])
                await callers.finish(cell["operationId"])

    async def _wait_while(self, path: str, status: str) -> Any:
        async with asyncio.timeout(PATIENCE_SECONDS):
            while (launch := await self.callers.call("GET", path))["status"] == status:
                await asyncio.sleep(PAUSE_SECONDS)
        return launch


def make_cell(account: Mapping[str, Any]) -> dict[str, Any]:
    """An account and a brief for it with a name of its own."""
    campaign = brief(account["network"], name=f"Chaos {uuid4().hex}")
    campaign["budget"]["currency"] = account["currency"]
    return {"accountId": account["accountId"], "campaign": campaign}
