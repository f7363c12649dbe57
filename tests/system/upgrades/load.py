"""Mixed load through several servers: prepare, execute, activate and read, each call through the next server."""

from __future__ import annotations

import asyncio
import itertools
from collections import Counter
from collections.abc import Callable, Mapping
from typing import Any
from uuid import uuid4

import httpx
from attrs import define, field

from tests.server.served import brief

READS = ("accounts", "operations", "webhooks", "ledger", "networks", "workflows", "guardrails")


@define
class Fleet:
    """The servers that get requests now. A request that could not connect goes to another one, as behind a proxy."""

    client: httpx.AsyncClient
    urls: list[str]
    failures: list[str] = field(factory=list)
    answered: Counter[str] = field(factory=Counter)
    """Requests by server."""
    pairs: set[tuple[str, str]] = field(factory=set)
    """By which server an operation was prepared, and by which one it was executed."""
    operations: list[str] = field(factory=list)

    async def call(self, url: str, method: str, path: str, expected: int, **content: Any) -> Any:
        """One request; what is not answered as expected is a failure. Returns the ``data`` of the answer.

        A server that gets no requests any more is replaced by another one, as a proxy does.
        """
        if url not in self.urls:
            url = self.urls[0]
        while True:
            try:
                answer = await self.client.request(method, f"{url}/{path}", **content)
                break
            except httpx.ConnectError as error:  # certainly not sent
                if url in self.urls:
                    self.failures.append(f"{method} {path}: {error!r}")
                    raise
                url = self.urls[0]
            except httpx.HTTPError as error:
                self.failures.append(f"{method} {path}: {error!r}")
                raise
        self.answered[url] += 1
        if answer.status_code != expected:
            self.failures.append(f"{method} {path}: {answer.status_code} {answer.text[:400]}")
            raise AssertionError(self.failures[-1])
        return answer.json()["data"]

    async def prepare(self, urls: tuple[str, str], path: str, body: Mapping[str, Any]) -> str:
        """Prepare at one server; the other one knows the key of the request, too. Returns the operation's id."""
        request = {"json": body, "headers": {"Idempotency-Key": uuid4().hex}}
        prepared = await self.call(urls[0], "POST", path, 201, **request)
        again = await self.call(urls[1], "POST", path, 201, **request)
        if prepared["id"] != again["id"]:
            self.failures.append(f"{path}: one key made two operations")
        self.operations.append(prepared["id"])
        return str(prepared["id"])

    async def execute(self, url: str, operation_id: str) -> Mapping[str, Any]:
        """Execute to the end; what is handed back is continued, by another server where that one is gone."""
        while True:
            path = f"operations/{operation_id}/execute"
            operation: Mapping[str, Any] = await self.call(url, "POST", path, 200, json={"confirmed": True})
            if operation.get("nextAction") != "execute":
                return operation
            await asyncio.sleep(operation.get("retryAfterMs", 0) / 1000)


@define
class Worker:
    """One caller on one account. ``cycles``: how often it has created and activated a campaign."""

    fleet: Fleet
    account: Mapping[str, Any]
    cycles: int = 0

    async def run(self, is_stopped: Callable[[], bool]) -> None:
        """Work until it is to stop, after a whole cycle."""
        while not is_stopped():
            await self._run_cycle()
            self.cycles += 1

    async def _run_cycle(self) -> None:
        urls, n = self.fleet.urls, self.cycles
        first, second = urls[n % len(urls)], urls[(n // 2) % len(urls)]
        campaign = brief(self.account["network"], name=f"Upgrade {uuid4().hex}")
        campaign["budget"]["currency"] = self.account["currency"]
        body = {"accountId": self.account["accountId"], "campaign": campaign}
        created = await self.fleet.prepare((first, second), "create", body)
        self.fleet.pairs.add((first, second))
        await self._execute(second, created)
        activation = {"accountId": self.account["accountId"], "sourceOperationId": created}
        activated = await self.fleet.prepare((second, first), "activate", activation)
        await self._execute(first, activated)
        for url, path in itertools.product(list(urls), READS):
            await self.fleet.call(url, "GET", path, 200)
        await self.fleet.call(second, "GET", f"accounts/{self.account['accountId']}/campaigns", 200)

    async def _execute(self, url: str, operation_id: str) -> None:
        operation = await self.fleet.execute(url, operation_id)
        if operation["status"] != "succeeded":
            self.fleet.failures.append(f"{operation_id} is {operation['status']}: {operation.get('error')}")
        for each in list(self.fleet.urls):
            read = await self.fleet.call(each, "GET", f"operations/{operation_id}", 200)
            if (read["status"], read["receipt"]) != (operation["status"], operation["receipt"]):
                self.fleet.failures.append(f"{operation_id} is another operation at {each}")
