"""What every use case holds: the store, the vault's keys, the transport, the settings."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine, Mapping
from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any, TypeVar
from weakref import WeakValueDictionary

from attrs import define, field, frozen

from adsunify.adapter.network import Network
from adsunify.adapter.oauth import NO_APP, App
from adsunify.encryption import KeyRing
from adsunify.errors import RequestNotSent, ResponseLost, refused
from adsunify.execution.executor import KillPoint, Limits
from adsunify.execution.state import LEASE_MILLISECONDS
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Request, Response
from adsunify.http.safe_fetch import Resolve, resolve
from adsunify.http.transport import SECONDS, HttpTransport, Sign
from adsunify.networks import adapter
from adsunify.store import Store
from adsunify.store.keys import LastUsed, touch
from adsunify.store.operations import Idempotency
from adsunify.values.exact_json import Json

from .limiting import Limiting, Rates
from .measuring import Measured, status_class

T = TypeVar("T")
_EPOCH = datetime(1970, 1, 1)
__all__ = ["Idempotency", "Result", "Service", "Settings", "moment", "moment_or_none"]


@frozen
class Settings:
    """``base_url`` has no path. ``apps``: the deployment's own application at each network. ``lease``: milliseconds.

    ``webhook_dev_targets``: exactly these addresses may be webhook destinations, whatever they are. ``proxies``: so
    many of our own stand before the server.
    """

    base_url: str
    apps: Mapping[str, App] = field(factory=dict)
    lease: int = LEASE_MILLISECONDS
    limits: Limits = Limits()
    sandbox_url: str | None = None
    webhook_dev_targets: frozenset[str] = frozenset()
    rates: Rates = Rates()
    proxies: int = 0

    def address(self, url: str) -> str:
        """Where a browser finds a page of a network: with the sandbox, its simulation."""
        if self.sandbox_url is None:
            return url
        return f"{self.sandbox_url.rstrip('/')}/{url.removeprefix('https://')}"


def _pass(point: KillPoint) -> None:
    """Nothing stops here outside tests."""


@define(eq=False)
class Service:
    """An open service. ``uncut``: what runs to its end; ``stopping``: executions hand back after the step in flight.

    ``resolving`` finds the addresses behind the name of a webhook destination.
    """

    store: Store
    ring: KeyRing
    transport: HttpTransport
    settings: Settings
    uncut: set[asyncio.Task[Any]] = field(factory=set)
    background: set[asyncio.Task[Any]] = field(factory=set)
    refreshing: WeakValueDictionary[str, asyncio.Lock] = field(factory=WeakValueDictionary)
    executions: WeakValueDictionary[str, asyncio.Semaphore] = field(factory=WeakValueDictionary)
    used_keys: LastUsed = field(factory=LastUsed)
    measured: Measured = field(factory=Measured)
    limiting: Limiting = field(init=False)
    resolving: Resolve = resolve
    stopping: bool = False
    passing: Callable[[KillPoint], None] = _pass

    @limiting.default
    def _limiting(self) -> Limiting:
        return Limiting(self.settings.rates, self.measured)

    def app(self, network: str) -> App:
        """The application at a network; InvalidInput where the deployment needs one and has none."""
        if adapter(network).network.login.kind == "credentials":
            return NO_APP
        app = self.settings.apps.get(network)
        if app is None:
            name = network.upper()
            raise refused(
                "network",
                "network_not_configured",
                f"This deployment has no application at {network}: set ADSUNIFY_{name}_CLIENT_ID and _CLIENT_SECRET.",
            )
        return app

    def is_connectable(self, network: str) -> bool:
        """Whether the network can be connected here: by credentials, or by an application that is configured."""
        return adapter(network).network.login.kind == "credentials" or network in self.settings.apps

    def now(self) -> datetime:
        """The one clock, as an instant."""
        return datetime.fromtimestamp(self.store.clock.wall() / 1000, UTC)

    async def send(
        self,
        network: Network,
        request: Request,
        timeout: float = SECONDS,
        *,
        sign: Sign | None = None,
        check: Callable[[], None] | None = None,
        pool: PoolTransport | None = None,
    ) -> Response:
        """Send a request to a network, as :meth:`HttpTransport.send`, and count how it ended."""
        requests = self.measured.requests
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
        return answer

    async def whole(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to the end whatever becomes of the caller: a caller that goes does not stop what is in flight."""
        task = asyncio.create_task(work)
        self.uncut.add(task)
        task.add_done_callback(self.uncut.discard)
        return await asyncio.shield(task)

    async def close(self) -> None:
        """Let the step in flight of every execution finish, hand the rest back, and close everything."""
        self.stopping = True
        for task in self.background:
            task.cancel()
        while self.uncut or self.background:
            await asyncio.wait((*self.uncut, *self.background))
        used = self.used_keys.take(self.store.clock.wall())
        if used is not None:
            await self.store.write(touch, used)
        await self.store.close()


@frozen
class Result:
    """What a use case returns where there is more to say than the data."""

    data: Json
    next_cursor: str | None = None
    replayed: bool = False


@lru_cache(4096)  # whoever waits for an operation reads it again and again
def moment(milliseconds: int) -> str:
    """An instant on the wire: UTC with milliseconds."""
    return f"{(_EPOCH + timedelta(milliseconds=milliseconds)).isoformat(timespec='milliseconds')}Z"


def moment_or_none(milliseconds: int | None) -> str | None:
    """As :func:`moment`, None where there is none."""
    return None if milliseconds is None else moment(milliseconds)
