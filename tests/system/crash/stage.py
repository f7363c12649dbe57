"""A database with every simulated network connected, what is prepared in it, and what was written at the networks."""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping, Sequence
from contextlib import asynccontextmanager
from functools import partial
from itertools import groupby
from pathlib import Path
from typing import Any
from uuid import uuid4

import httpx
from attrs import define, evolve, field, frozen
from sqlalchemy import Connection, text

from adsunify.actor import Actor
from adsunify.errors import OperationError
from adsunify.execution.executor import ExecutionLimits
from adsunify.models.brief import CampaignBrief
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.service import campaigns, operations
from adsunify.service.core import Service
from adsunify.service.factory import open_service
from adsunify.store import Clock
from tests.networks.samples import get_samples, list_example_briefs

from .child import Job

ACTIONS = ("create", "activate")
ENGINES = ("sqlite", "postgresql")
NOT_SHOWN = "NOT SHOWN:"
"""How the reason begins why a test is skipped: it is said again at the end of the run."""


def find_formats() -> dict[str, list[Path]]:
    """The example briefs by network and format, ``network-format``."""
    paths_by_format: dict[str, list[Path]] = {}
    for network in sorted(ADAPTER_PACKAGES):
        for path in list_example_briefs(network):
            paths_by_format.setdefault("-".join(path.stem.split("-")[:2]), []).append(path)
    return paths_by_format


FORMATS = find_formats()
PLANS = [(name, action) for name in FORMATS for action in ACTIONS]
"""Every plan whose crashes are tried: each format of each network, created and activated."""
NETWORK_PLANS = [
    (next(name for name in FORMATS if name.startswith(f"{network}-")), action)
    for network in {name.split("-")[0]: None for name in FORMATS}
    for action in ACTIONS
]
"""One format of each network, created and activated."""


def alternate_engines(cases: Sequence[tuple[Any, ...]], first: int = 0) -> list[tuple[Any, ...]]:
    """Each case on one engine, which stands before it: neighbours meet different ones, and so do pairs of them.

    Of plans, each network meets both engines, and each action does. For what is the same code on both, or for every
    network: only crashes at every point are tried on all plans with all engines.
    """
    return [(ENGINES[(first + n + n // 2) % 2], *case) for n, case in enumerate(cases)]


def has_overlay(network: str, action: str) -> bool:
    """Whether each object is read before it is changed: then a receipt has a commit of its own, before the read."""
    return get_samples(network).reads_before_changes and action != "create"


@frozen
class NativeWrite:
    """One native write that a network applied. ``what``: method, path without ids, kinds touched; ``ids``: touched."""

    what: str
    ids: frozenset[str]


@define
class Log:
    """The native writes that the simulated networks applied, as they grow: ``rows`` are those of the control door."""

    rows: Sequence[Mapping[str, str]]
    read: int = 0
    writes: list[NativeWrite] = field(factory=list)

    def list_writes(self) -> list[NativeWrite]:
        """Every native write, oldest first: one for each request."""
        new = self.rows[self.read :]
        self.read += len(new)
        requests = groupby(new, key=lambda row: (row["network"], row["request"]))
        self.writes += [_read_write(list(rows)) for _, rows in requests]
        return self.writes


@frozen
class Stage:
    """A database of its own; accounts are connected on every network. ``accounts``: one by network."""

    database: str
    environment: Mapping[str, str]
    sandbox_url: str
    actor: Actor
    accounts: Mapping[str, Mapping[str, Any]]
    log: Log

    @asynccontextmanager
    async def service(
        self, *, clock: Clock | None = None, sandbox_url: str | None = None, steps: int | None = None
    ) -> AsyncIterator[Service]:
        """The service opened anew, as after a restart."""
        opened = await open_service(
            self.database, self.environment, sandbox_url=sandbox_url or self.sandbox_url, clock=clock
        )
        if steps is not None:
            opened.service.settings = evolve(opened.service.settings, limits=ExecutionLimits(max_steps=steps))
        try:
            yield opened.service
        finally:
            await opened.service.close()

    def later(self, milliseconds: int) -> Clock:
        """A clock that is so much ahead of the machine's."""
        return Clock(lambda: time.time_ns() // 1_000_000 + milliseconds)

    def job(self, operation_id: str, **more: Any) -> Job:
        """The job to execute an operation in another process."""
        return Job(self.database, self.environment, self.sandbox_url, self.actor, operation_id, **more)

    # -- preparing ------------------------------------------------------------------------------------------------

    async def create(self, service: Service, path: Path) -> str:
        """Prepare the campaign of an example brief under a name of its own; returns the operation's id."""
        brief = json.loads(path.read_text())
        account = self.accounts[path.stem.split("-")[0]]
        brief["name"] = f"{brief['name'][:60]} {uuid4().hex[:12]}"
        brief["budget"]["currency"] = account["currency"]
        if (make_creative := get_samples(account["network"]).make_creative) is not None:
            brief["creative"] |= make_creative()
        result = await campaigns.prepare_campaign(
            service,
            self.actor,
            account_id=account["accountId"],
            campaign=CampaignBrief.model_validate(brief),
            idempotency=None,
        )
        return str(result.data["id"])

    async def activate(self, service: Service, source: str) -> str:
        """Prepare the activation of what a create operation made."""
        operation_data = await self.read_operation(service, source)
        result = await campaigns.prepare_activation(
            service, self.actor, account_id=operation_data["accountId"], source_operation_id=source, idempotency=None
        )
        return str(result.data["id"])

    async def source(self, service: Service, path: Path, action: str) -> Callable[[], Awaitable[str]]:
        """What prepares an example's creation, or the activation of what it created, each time it is called."""
        if action == "create":
            return partial(self.create, service, path)
        created_id = await self.create(service, path)
        await self.execute(service, created_id)
        return partial(self.activate, service, created_id)

    # -- executing ------------------------------------------------------------------------------------------------

    async def execute(self, service: Service, operation_id: str) -> dict[str, Any]:
        """Execute to the end, continuing while the operation asks for it. Raises the error of the execution."""
        while True:
            operation_data: dict[str, Any] = await operations.execute_operation(
                service, self.actor, operation_id=operation_id, confirmed=True
            )
            if operation_data.get("nextAction") != "execute" or "retryAfterMs" in operation_data:
                return operation_data

    async def refusal(self, service: Service, operation_id: str) -> OperationError | None:
        """The refusal of an execute call, None where it was not refused."""
        try:
            await operations.execute_operation(service, self.actor, operation_id=operation_id, confirmed=True)
        except OperationError as refused:
            return refused
        return None

    async def wait_until_settled(self, service: Service) -> None:
        """Wait until the cut work has ended: queued writes, open transactions, and requests on their way."""
        await service.store.write(_do_nothing)
        while await service.store.read(_count_open_transactions):
            await asyncio.sleep(0.001)
        async with httpx.AsyncClient(trust_env=False) as client:  # connected after them, and answered after them
            for _ in range(2):
                (await client.get(f"{self.sandbox_url}/_sandbox/writes")).raise_for_status()

    async def read_operation(self, service: Service, operation_id: str) -> dict[str, Any]:
        """The operation as a caller reads it."""
        operation_data: dict[str, Any] = await operations.get_operation(service, self.actor, operation_id=operation_id)
        return operation_data

    # -- what the networks did ------------------------------------------------------------------------------------

    def list_writes(self) -> list[NativeWrite]:
        """Every native write that was applied, oldest first: one for each request."""
        return list(self.log.list_writes())


def _do_nothing(connection: Connection) -> None:
    """What waits in a queue before this is done when this is."""


def _count_open_transactions(connection: Connection) -> int:
    """How many other sessions of a database server are inside a transaction."""
    if connection.dialect.name == "sqlite":
        return 0
    statement = text(
        "SELECT count(*) FROM pg_stat_activity"
        " WHERE datname = current_database() AND pid <> pg_backend_pid() AND state <> 'idle'"
    )
    return int(connection.execute(statement).scalar_one())


def _read_write(rows: Sequence[Mapping[str, str]]) -> NativeWrite:
    first = rows[0]
    path = re.sub(r"[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32,}|[0-9]{4,}", "#", first["path"])
    kinds = " ".join(row["kind"] for row in rows)
    return NativeWrite(f"{first['method']} {path} {kinds}", frozenset(row["id"] for row in rows))


def collect_ids(receipt: Mapping[str, Any]) -> frozenset[str]:
    """Every id that a receipt holds, the last segment of a resource name as well."""
    ids = {item["id"] for item in receipt["items"] if item["id"]}
    for value in receipt["outputs"].values():
        ids |= {value} if isinstance(value, str) else set(value)
    return frozenset(ids | {id_.rsplit("/", 1)[-1] for id_ in ids})
