"""The service that every use case takes: the store, the encryption keys, the transport, the settings."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Coroutine, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from attrs import define, field, frozen

from adsunify.adapter.network import Network
from adsunify.adapter.oauth import NO_OAUTH_CLIENT, OAuthClient
from adsunify.encryption import KeyRing
from adsunify.errors import RequestNotSent, ResponseLost, StoreError, invalid_input
from adsunify.execution.executor import ExecutionLimits, KillPoint
from adsunify.execution.state import LEASE_MILLISECONDS
from adsunify.guardrails.evaluation import CallPart
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Request, Response
from adsunify.http.redaction import find_request_id
from adsunify.http.safe_fetch import Resolver, resolve_host
from adsunify.http.transport import TIMEOUT_SECONDS, HttpTransport, Signer
from adsunify.networks.registry import get_adapter
from adsunify.store import Store
from adsunify.store.keys import KeyUsage, save_last_used
from adsunify.store.operations import Idempotency
from adsunify.store.retention import RetentionKind
from adsunify.telemetry.tracing import NO_TRACER, OPERATION_ID, STEP_KEY, Span, Tracer
from adsunify.values.exact_json import Json

from .counters import Counters, status_class
from .kept_documents import ClientDocuments
from .rate_limits import RateLimiter, RateLimits
from .workspace_rules import WorkspaceRules

T = TypeVar("T")
_HOST_PATTERN = re.compile(r"https://([0-9A-Za-z.-]+)(?=[/?:]|$)")
_EPOCH = datetime(1970, 1, 1)
__all__ = [
    "Idempotency",
    "Service",
    "ServiceSettings",
    "UseCaseResult",
    "format_optional_timestamp",
    "format_timestamp",
]


@frozen
class ServiceSettings:
    """The settings of a deployment.

    ``base_url``: without a path. ``apps``: the deployment's OAuth client at each network. ``lease``: milliseconds.
    ``webhook_dev_targets``: addresses that may be webhook destinations although they are not public https. ``proxies``:
    how many of the deployment's proxies forward requests to the server. ``processes``: how many server processes share
    the limits. ``rate_limits``: the share of this process.
    ``insights_sync_hours``: how often a worker syncs daily figures; 0 is never. ``insights_retention_days``: how long
    replaced versions of daily figures are kept; 0 is for ever.
    ``maintenance_hours``: how often a worker deletes what its retention allows; 0 is never. ``retention_days``: the
    retention of each kind (:mod:`adsunify.store.retention`); 0 is for ever.
    """

    base_url: str
    apps: Mapping[str, OAuthClient] = field(factory=dict)
    lease: int = LEASE_MILLISECONDS
    limits: ExecutionLimits = ExecutionLimits()
    sandbox_url: str | None = None
    webhook_dev_targets: frozenset[str] = frozenset()
    rate_limits: RateLimits = RateLimits()
    proxies: int = 0
    processes: int = 1
    insights_sync_hours: int = 0
    insights_retention_days: int = 0
    maintenance_hours: int = 0
    retention_days: Mapping[RetentionKind, int] = field(factory=dict)

    def browser_url(self, url: str) -> str:
        """Return the address of a network's page for a browser: with a sandbox, the simulated page."""
        if self.sandbox_url is None:
            return url
        return f"{self.sandbox_url.rstrip('/')}/{url.removeprefix('https://')}"


def _ignore_kill_point(point: KillPoint) -> None:
    """Do nothing; tests stop the process here."""


@define(eq=False)
class Service:
    """An open service.

    ``shielded_tasks``: tasks that run to their end. ``is_stopping``: executions stop after the step in flight.
    ``change_set_calls``: the exposure and the planned budgets of the members of change sets, by change set id.
    ``workspace_rules``: cached guardrails of workspaces; ``rule_checks`` compares their version.
    ``client_documents``: cached documents of OAuth clients.
    ``resolve_host``: finds the IP addresses of a host that a user named, such as the host of a webhook destination.
    ``tracer``: makes spans.
    """

    store: Store
    ring: KeyRing
    transport: HttpTransport
    settings: ServiceSettings
    shielded_tasks: set[asyncio.Task[Any]] = field(factory=set)
    background_tasks: set[asyncio.Task[Any]] = field(factory=set)
    refresh_locks: WeakValueDictionary[str, asyncio.Lock] = field(factory=WeakValueDictionary)
    execution_slots: WeakValueDictionary[str, asyncio.Semaphore] = field(factory=WeakValueDictionary)
    key_usage: KeyUsage = field(factory=KeyUsage)
    workspace_rules: dict[str, WorkspaceRules] = field(factory=dict)
    client_documents: ClientDocuments = field(factory=ClientDocuments)
    change_set_calls: dict[str, Sequence[CallPart]] = field(factory=dict)
    counters: Counters = field(factory=Counters)
    rate_limiter: RateLimiter = field(init=False)
    resolve_host: Resolver = resolve_host
    tracer: Tracer = NO_TRACER
    is_stopping: bool = False
    kill_point_hook: Callable[[KillPoint], None] = _ignore_kill_point

    @rate_limiter.default
    def _make_rate_limiter(self) -> RateLimiter:
        return RateLimiter(self.settings.rate_limits, self.counters, self.store.clock.wall)

    def get_oauth_client(self, network: str) -> OAuthClient:
        """Return the OAuth client at a network. Raises InvalidInput if the network needs one and none is configured."""
        if get_adapter(network).network.login.kind == "credentials":
            return NO_OAUTH_CLIENT
        app = self.settings.apps.get(network)
        if app is None:
            name = network.upper()
            raise invalid_input(
                "network",
                "network_not_configured",
                f"This deployment has no application at {network}. Set ADSUNIFY_{name}_CLIENT_ID and _CLIENT_SECRET.",
            )
        return app

    def is_connectable(self, network: str) -> bool:
        """Whether the network can be connected: with credentials, or with a configured application."""
        return get_adapter(network).network.login.kind == "credentials" or network in self.settings.apps

    def now(self) -> datetime:
        """Return the machine's time."""
        return datetime.fromtimestamp(self.store.clock.wall() / 1000, UTC)

    async def send(
        self,
        network: Network,
        request: Request,
        timeout: float = TIMEOUT_SECONDS,
        *,
        sign: Signer | None = None,
        check: Callable[[], None] | None = None,
        pool: PoolTransport | None = None,
    ) -> Response:
        """Send a request to a network, as :meth:`HttpTransport.send`, and count its outcome."""
        requests = self.counters.network_requests
        with self.tracer.start_span(f"{network.code} {request.kind}", "client") as span:
            if span.is_recording:
                _describe_request(span, network, request)
            try:
                answer = await self.transport.send(
                    request, hosts=network.hosts, timeout=timeout, sign=sign, check=check, pool=pool
                )
            except RequestNotSent:
                requests[network.code, "not_sent"] += 1
                raise
            except ResponseLost:
                requests[network.code, "lost"] += 1
                raise
            requests[network.code, status_class(answer.status)] += 1
            if span.is_recording:
                _describe_response(span, answer)
        return answer

    async def run_uncancellable(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work to its end even where the caller is cancelled."""
        task = asyncio.create_task(work)
        self.shielded_tasks.add(task)
        task.add_done_callback(self.shielded_tasks.discard)
        return await asyncio.shield(task)

    def run_in_background(self, work: Coroutine[Any, Any, object]) -> None:
        """Run work until it ends or the service is closed."""
        task = asyncio.create_task(work)
        self.background_tasks.add(task)
        task.add_done_callback(self.background_tasks.discard)

    async def close(self) -> None:
        """Let the step in flight of every execution finish, hand the operations back, and close the store."""
        self.is_stopping = True
        for task in self.background_tasks:
            task.cancel()
        while self.shielded_tasks or self.background_tasks:
            await asyncio.wait((*self.shielded_tasks, *self.background_tasks))
        used = self.key_usage.take_uses(self.store.clock.wall())
        if used is not None:
            with suppress(StoreError):  # a failure to save this time must not keep the service open
                await self.store.write(save_last_used, used)
        await self.store.close()
        await self.tracer.close()


def _describe_request(span: Span, network: Network, request: Request) -> None:
    """Set the attributes of a request to a network. Paths and queries are left out: they may contain user data."""
    span.set_attributes(
        {
            "adsunify.network": network.code,
            "adsunify.operation_id": OPERATION_ID.get(),
            "adsunify.step_key": STEP_KEY.get(),
            "http.request.method": request.method,
            "server.address": match[1] if (match := _HOST_PATTERN.match(request.url)) else None,
        }
    )


def _describe_response(span: Span, response: Response) -> None:
    """Set the attributes of a response of a network: its status, and the network's id of the request."""
    span.set_attributes(
        {
            "http.response.status_code": response.status,
            "adsunify.native_request_id": find_request_id(response.headers),
        }
    )
    if response.status >= 400:
        span.set_error(str(response.status))


@frozen
class UseCaseResult:
    """The result of a use case that returns more than data.

    ``is_page``: whether the data is a page. None means that the data is a page if it is the list of a paged endpoint.
    """

    data: Json
    next_cursor: str | None = None
    replayed: bool = False
    is_page: bool | None = None


@lru_cache(4096)  # clients that poll operations cause the same times to be formatted again
def format_timestamp(milliseconds: int) -> str:
    """Format milliseconds since 1970 as an instant of the API: UTC with milliseconds."""
    return f"{(_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec='milliseconds')}Z"


def format_optional_timestamp(milliseconds: int | None) -> str | None:
    """Format as :func:`format_timestamp`; None stays None."""
    return None if milliseconds is None else format_timestamp(milliseconds)
