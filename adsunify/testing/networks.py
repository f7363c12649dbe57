"""The simulated networks as a context manager, with the methods that tests use."""

from __future__ import annotations

import asyncio
import shutil
import tempfile
from collections import deque
from collections.abc import Coroutine, Mapping
from contextlib import ExitStack
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any, Literal, TypeVar
from urllib.parse import parse_qsl

from attrs import frozen

from adsunify.answers import Account
from adsunify.client import Ads, AsyncAds
from adsunify.encryption import make_key_ring
from adsunify.errors import invalid_input
from adsunify.sandbox.faults import FaultQueue
from adsunify.sandbox.parsing import parse_json
from adsunify.sandbox.server import RunningSandbox, WriteRequest, sandbox_thread
from adsunify.sandbox.world import Token
from adsunify.service.users import find_local_actor
from adsunify.values.exact_json import Json
from adsunify.values.network_codes import NetworkCode

from .clients import SimulatedAds, SimulatedAsyncAds, TemporaryStore
from .clock import SimulatedClock
from .connecting import connect_sandbox_network, get_sandbox_credentials
from .faults import FaultName, RequestedFault, check_choice, check_number, find_simulated_networks, make_fault

T = TypeVar("T")
MAX_DELAY_SECONDS = 1_000_000
MAX_REQUESTS = 1000
"""How many of the last requests are stored for the description of an unused fault."""
SHOWN_REQUESTS = 10
"""How many of the last requests of a network the description of an unused fault names."""


@frozen
class NativeWrite:
    """A request that changed something at a network.

    ``path`` is without host and query. ``query``: the parameters of the query; X has all its parameters there. ``body``
    holds the members of a JSON body (numbers are int or Decimal) or of a form, the bytes of any other body, and None
    without one. ``entities``: kind and id of each entity that the request created, changed or removed.
    """

    network: str
    method: str
    host: str
    path: str
    query: Mapping[str, str]
    body: Any
    entities: tuple[tuple[str, str], ...]
    at: datetime


@frozen
class _Template:
    """The store that every client gets a copy of.

    ``tokens``: by network, the tokens that the store has. ``is_ahead``: whether the clock was moved when the store was
    made.
    """

    store: TemporaryStore
    accounts: Mapping[str, Mapping[str, Json]]
    tokens: Mapping[str, Mapping[str, Token]]
    is_ahead: bool


class SimulatedNetworks:
    """Simulated networks that answer at ``url`` on 127.0.0.1, and clients of stores that are connected to them.

    ``url`` is what ``ADSUNIFY_SANDBOX_URL`` takes, for programs that a test starts. ``clock`` is the time of the
    networks and of the stores of :meth:`client`. The methods may be called in every thread.
    """

    def __init__(
        self,
        running: RunningSandbox,
        codes: tuple[str, ...],
        clock: SimulatedClock,
        folder: Path,
        requests: deque[tuple[str, str, str]],
    ) -> None:
        self.url = running.url
        self.clock = clock
        self._running = running
        self._codes = codes
        self._folder = folder
        self._template: _Template | None = None
        self._faults: list[RequestedFault] = []
        self._key_ring = make_key_ring().to_text()
        self._requests = requests
        self._store_count = 0

    # -- clients ---------------------------------------------------------------------------------------------------

    def client(self) -> Ads:
        """Make a client of a new temporary store in which the accounts of the networks are connected.

        Open it with ``with``. Each call makes another store; the accounts have the same ids in all of them. Where the
        client would wait for a network, it moves the clock ahead instead. Clients share the logins of the networks: do
        not let the clock pass the life of a token (an hour or more) while two clients are open.
        """
        return SimulatedAds(self._copy_store())

    def async_client(self) -> AsyncAds:
        """Make an asynchronous client, as :meth:`client` does. Open it with ``async with``."""
        return SimulatedAsyncAds(self._copy_store())

    def account(self, network: NetworkCode) -> Account:
        """Return an account of a network, in US dollars where there is one, as the methods of a client take it.

        Raises:
            InvalidInput: the network is unknown, or this sandbox does not connect it.
        """
        check_choice("network", network, find_simulated_networks())
        if network not in self._codes:
            raise invalid_input("network", "not_connected", f'is not connected: name it, as in sandbox("{network}").')
        return Account.model_validate(self._make_template().accounts[network])

    def credentials(self, network: NetworkCode) -> Mapping[str, str]:
        """Return the credentials that connect a network, for ``client.connections.create(network, **credentials)``.

        Raises:
            InvalidInput: the network is unknown, or has a consent page in place of credentials.
        """
        check_choice("network", network, find_simulated_networks())
        credentials = get_sandbox_credentials(network)
        if not credentials:
            raise invalid_input("network", "not_supported", "has a consent page, so no credentials connect it.")
        return credentials

    def _copy_store(self) -> TemporaryStore:
        template = self._make_template()
        # a client that refreshed its token may have invalidated the token of the template
        self._run(self._add_tokens(template))
        return self._make_store(template.store)

    def _make_store(self, copied: TemporaryStore | None = None) -> TemporaryStore:
        self._store_count += 1
        path = self._folder / f"store{self._store_count}.db"
        if copied is not None:
            shutil.copyfile(copied.database.removeprefix("sqlite:///"), path)
        return TemporaryStore(f"sqlite:///{path}", self._key_ring, self.url, self.clock)

    def _make_template(self) -> _Template:
        if self._template is None:
            self._template = self._run(self._connect(self._make_store()))
        return self._template

    async def _connect(self, store: TemporaryStore) -> _Template:
        is_ahead = self.clock.is_moved
        service, state = (await store.open_service()).service, self._running.state
        queue, state.faults = state.faults, FaultQueue([])  # the faults of the test must not hit the connecting
        try:
            actor = await find_local_actor(service, None)
            accounts = {code: await connect_sandbox_network(service, actor, code) for code in self._codes}
            while service.background_tasks:  # they read the tree of each account once
                await asyncio.wait(service.background_tasks)
        finally:
            await service.close()
            state.faults = queue
        return _Template(store, accounts, {code: dict(state.worlds[code].tokens) for code in self._codes}, is_ahead)

    async def _add_tokens(self, template: _Template) -> None:
        for code, tokens in template.tokens.items():
            self._running.state.worlds[code].tokens.update(tokens)

    # -- faults ----------------------------------------------------------------------------------------------------

    def fail(
        self,
        network: NetworkCode,
        method: Literal["GET", "POST", "PUT", "PATCH", "DELETE"] | None = None,
        path: str | None = None,
        *,
        fault: FaultName | None = None,
        status: int | None = None,
        retry_after: int | None = None,
        seconds: float | None = None,
        times: int = 1,
    ) -> RequestedFault:
        """Make the next requests that match fail. Faults are used in the order in which they were requested.

        Args:
            network: the code of the network.
            method: the HTTP method; every method if it is None.
            path: the end of the native path without the query, such as ``/adsets``; or, with ``*``, ``?`` or ``[``, a
                pattern of the whole path, which may begin with the host: ``/graph.facebook.com/v26.0/*/adsets``. If it
                is None, the fault meets every request but log-ins and downloads of reports.
            fault: a name of :data:`FAULTS`; ``status`` if it is None.
            status: the HTTP status of the fault ``status``, 300 to 599.
            retry_after: the seconds in the header ``Retry-After`` of the fault ``status``, 1 to 86400.
            seconds: of ``latency``, how much later the network answers; of ``slow_media``, the wait that it asks for.
            times: how often the fault happens.

        Returns:
            The fault, which counts how often it happened.

        Raises:
            InvalidInput: an argument is wrong, is missing, or does not belong to this fault.
        """
        if fault is None and status is None:
            raise invalid_input("fault", "required", "Name a fault, or a status such as status=429.")
        arguments = {"status": status, "retry_after": retry_after, "seconds": seconds}
        requested = make_fault(network, method, path, fault or "status", arguments, times)

        async def add() -> None:
            self._running.state.faults.pending.append(requested.pending)

        self._run(add())
        self._faults.append(requested)
        return requested

    def unused_faults(self) -> tuple[RequestedFault, ...]:
        """Return the faults that have not happened at all.

        A test that ends with an unused fault has not tested the fault.
        """
        return tuple(fault for fault in self._faults if not fault.occurrences)

    def describe_unused_faults(self) -> str:
        """Describe the faults that have not happened, with the last requests of their networks; empty without any."""
        return "\n".join(self._describe_unused_fault(fault) for fault in self.unused_faults())

    def _describe_unused_fault(self, fault: RequestedFault) -> str:
        hosts = self._running.state.networks[fault.network].hosts
        lines = [
            f"{method} /{host}{target.partition('?')[0]}" for method, host, target in self._requests if host in hosts
        ]
        last = list(dict.fromkeys(reversed(lines)))[:SHOWN_REQUESTS]
        requests_text = f"The last requests were: {', '.join(reversed(last))}." if last else "There were no requests."
        return f"No request met the fault: {fault}. {requests_text}"

    def delay_lists(self, network: NetworkCode, seconds: float) -> None:
        """Hide new entities from the lists of a network until ``seconds`` seconds after their creation, by the clock.

        Reads by id show them at once. :meth:`reset` ends the delay.

        Raises:
            InvalidInput: the network is unknown, or ``seconds`` is not from 0 to 1,000,000.
        """
        check_choice("network", network, find_simulated_networks())
        check_number("seconds", seconds, 0, MAX_DELAY_SECONDS)
        self._running.state.worlds[network].list_delay = timedelta(seconds=seconds)

    # -- what the networks saw -------------------------------------------------------------------------------------

    def writes(self, network: NetworkCode | None = None) -> tuple[NativeWrite, ...]:
        """Return the requests that changed something at a network, or at all networks, oldest first.

        Raises:
            InvalidInput: the network is unknown.
        """
        state = self._running.state
        if network is not None:
            check_choice("network", network, find_simulated_networks())
        # in this order, so that each row has its request
        rows, requests = list(state.writes), dict(state.write_requests)
        entities: dict[str, list[tuple[str, str]]] = {}
        for row in rows:
            entities.setdefault(row["request"], []).append((row["kind"], row["id"]))
        return tuple(
            _make_native_write(requests[number], tuple(touched))
            for number, touched in entities.items()
            if network in (None, requests[number].network)
        )

    def reset(self) -> None:
        """Set the networks, the faults, the log and the clock to their start state. Make new clients after it."""
        self._run(self._reset())

    async def _reset(self) -> None:
        self._running.state.reset()
        self._faults.clear()
        self._requests.clear()
        self.clock.reset()
        if self._template is not None and self._template.is_ahead:
            self._template = None

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        """Run work on the event loop of the networks. Raises RuntimeError where they have ended."""
        if self._running.loop.is_closed():
            work.close()
            raise RuntimeError("The simulated networks have ended: use them inside of `with sandbox() as networks:`.")
        return asyncio.run_coroutine_threadsafe(work, self._running.loop).result()


class SandboxContext:
    """The context manager that :func:`sandbox` returns; it is asynchronous, too."""

    def __init__(self, codes: tuple[str, ...], clock: SimulatedClock) -> None:
        self._codes = codes
        self._clock = clock
        self._stack = ExitStack()

    def __enter__(self) -> SimulatedNetworks:
        with ExitStack() as stack:
            folder = stack.enter_context(tempfile.TemporaryDirectory(prefix="adsunify-", ignore_cleanup_errors=True))
            requests: deque[tuple[str, str, str]] = deque(maxlen=MAX_REQUESTS)
            running = stack.enter_context(
                sandbox_thread(clock=self._clock.now, on_request=lambda *request: requests.append(request))
            )
            self._stack = stack.pop_all()
        return SimulatedNetworks(running, self._codes, self._clock, Path(folder), requests)

    def __exit__(self, *_: object) -> None:
        self._stack.close()

    async def __aenter__(self) -> SimulatedNetworks:
        return await asyncio.to_thread(self.__enter__)

    async def __aexit__(self, *_: object) -> None:
        await asyncio.to_thread(self.__exit__)


def sandbox(*networks: NetworkCode, start: datetime | None = None) -> SandboxContext:
    """Start the simulated networks on a free port of 127.0.0.1, in a thread of this process.

    Use it with ``with`` or ``async with``; both give :class:`SimulatedNetworks`.

    Args:
        networks: the codes of the networks whose accounts the clients have; all networks if it is empty. Every network
            is simulated, also those that are not named.
        start: an aware instant at which the clock begins; the machine's time if it is None.

    Raises:
        InvalidInput: a network is unknown, or ``start`` has no time zone.
    """
    for network in networks:
        check_choice("network", network, find_simulated_networks())
    return SandboxContext(tuple(dict.fromkeys(networks)) or tuple(find_simulated_networks()), SimulatedClock(start))


def _make_native_write(request: WriteRequest, entities: tuple[tuple[str, str], ...]) -> NativeWrite:
    return NativeWrite(
        request.network,
        request.method,
        request.host,
        request.path,
        dict(parse_qsl(request.raw_query, keep_blank_values=True)),
        _parse_body(request),
        entities,
        request.at,
    )


def _parse_body(request: WriteRequest) -> Any:
    """The members of a JSON body or a form, else its bytes; None without a body.

    The network has parsed the body before, so it is well-formed. Some media types only end with json.
    """
    media_type = request.media_type.partition(";")[0].strip().lower()
    if media_type.endswith("json"):
        return parse_json(request.body) if request.body else None
    if media_type == "application/x-www-form-urlencoded":
        return dict(parse_qsl(request.body.decode(), keep_blank_values=True))
    return request.body or None
