"""The sandbox as one aiohttp application: `/HOST/native/path` for the networks, `/_sandbox/...` to control it."""

import asyncio
import itertools
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, datetime
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from attrs import define, evolve, field, frozen

from adsunify.sandbox.checks import array, choice, record, text
from adsunify.sandbox.faults import HANDLER_FAULTS, Fault, FaultQueue, parse_fault
from adsunify.sandbox.instants import date_check
from adsunify.sandbox.network import AbortRequest, Network, Request, Response, Route
from adsunify.sandbox.networks import load_networks
from adsunify.sandbox.parsing import InvalidRequest, parse_json, parse_pairs, require_unique_names, serialize_json
from adsunify.sandbox.world import Clock, World

_MAX_BODY_BYTES = 64 * 1024 * 1024
_LOOPBACK_HOSTS = ("127.0.0.1", "localhost", "::1")


@frozen
class WriteRequest:
    """A native request that changed something. `path` is without host and query; `raw_query` and `body` are as sent."""

    network: str
    method: str
    host: str
    path: str
    raw_query: str
    media_type: str
    body: bytes
    at: datetime


def _ignore_request(method: str, host: str, target: str) -> None:
    """The default of `on_request`."""


@define
class Sandbox:
    """The simulated networks, the requested faults and the log of writes."""

    networks: dict[str, Network]
    clock: Clock
    id_offset: int = 0
    """Added to the ids of all new objects, so that a sandbox that is started again assigns no id a second time."""
    worlds: dict[str, World] = field(factory=dict)
    faults: FaultQueue = field(factory=lambda: FaultQueue([]))
    writes: list[dict[str, str]] = field(factory=list)
    """A row for each entity that a request touched; `request` is the request's key in `write_requests`."""
    write_requests: dict[str, WriteRequest] = field(factory=dict)
    on_request: Callable[[str, str, str], object] = _ignore_request
    """Called with method, host, and path with query of each native request, before it is handled."""
    _requests: Iterator[int] = field(factory=lambda: itertools.count(1))

    def __attrs_post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Restore the start state. Tokens stay valid, so connected accounts stay connected."""
        before = self.worlds
        self.worlds = {code: network.create_world(self.clock) for code, network in self.networks.items()}
        for world in self.worlds.values():
            world.skip_ids(self.id_offset)
        for code, world in before.items():
            self.worlds[code].tokens = world.tokens
        self.faults.pending.clear()
        self.writes.clear()
        self.write_requests.clear()

    async def handle_request(self, http: web.Request) -> web.StreamResponse:
        """Answer a request to any address."""
        path, _, raw_query = http.raw_path.partition("?")
        host, _, native_path = path.removeprefix("/").partition("/")
        if host == "_sandbox":
            if not _is_same_origin(http):
                message = (
                    "requests must name a loopback address in Host, and must not come from a page of another origin"
                )
                return _json_response(403, {"error": {"code": "foreign_origin", "message": message}})
            return await self._handle_control_request(http.method, native_path, raw_query, await http.read())
        self.on_request(http.method, host, http.raw_path.removeprefix(f"/{host}"))
        network = next((network for network in self.networks.values() if host in network.hosts), None)
        if network is None:
            hosts = sorted(host for network in self.networks.values() for host in network.hosts)
            return _json_response(
                404, {"error": {"code": "unknown_host", "message": f"known hosts: {', '.join(hosts)}"}}
            )
        return await self._handle_native_request(http, network, host, f"/{native_path}", raw_query)

    async def _handle_native_request(
        self, http: web.Request, network: Network, host: str, path: str, raw_query: str
    ) -> web.StreamResponse:
        body, world = await http.read(), self.worlds[network.code]
        matched = network.match_route(http.method, host, path)
        if isinstance(matched, int):
            nowhere = Route(http.method, (host,), path, lambda request: network.format_status_error(request, matched))
            request = Request(world, nowhere, http.method, host, path, {}, raw_query, http.headers, body)
            return _to_http_response(network.format_status_error(request, matched))
        route, slots = matched
        fault = self.faults.take_next(network.code, http.method, host, path, route.role == "api", route.faults)
        request = Request(world, route, http.method, host, path, slots, raw_query, http.headers, body, fault)
        if fault is None or fault.name in HANDLER_FAULTS:
            return _to_http_response(self._run_handler(network, request))
        return await self._perform_fault(http, network, request, fault)

    async def _perform_fault(
        self, http: web.Request, network: Network, request: Request, fault: Fault
    ) -> web.StreamResponse:
        """Perform a fault. The network authenticates the request first, so a nonce is used up here as well."""
        if fault.name in ("status", "reset_before") and request.route.role == "api":
            with suppress(InvalidRequest, AbortRequest):
                network.authorize_request(request)
        match fault.name:
            case "status":
                return _to_http_response(
                    _set_retry_after(network.format_status_error(request, fault.value or 500), fault)
                )
            case "reset_before":
                return _abort_connection(http)
        answer = self._run_handler(network, request)
        content = _encode_body(answer)
        match fault.name:
            case "latency":  # the write is applied at once, and the response is late
                await asyncio.sleep((fault.value or 0) / 1000)
                return _to_http_response(answer)
            case "reset_after":
                return _abort_connection(http)
            case "html":
                page = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
                return web.Response(status=answer.status, body=page, content_type="text/html")
            case "empty":
                return web.Response(status=answer.status, headers=_build_headers(answer))
            case "truncate":  # Content-Length names the whole body, half of it is sent
                cut = web.StreamResponse(status=answer.status, headers=_build_headers(answer))
                cut.content_length = max(len(content), 2)
                await cut.prepare(http)
                await cut.write((content or b"{}")[: max(len(content) // 2, 1)])
                if http.transport is not None:
                    http.transport.close()
                return cut
        raise AssertionError(f"fault {fault.name} is not performed")

    def _run_handler(self, network: Network, request: Request) -> Response:
        """Run the handler. Its changes are logged; if it refuses, they are undone."""
        world = request.world
        try:
            with world.savepoint():
                if request.route.role == "api":
                    network.authorize_request(request)
                answer = request.route.handler(request)
                if answer.body is not None:  # if JSON cannot express the answer, the write is undone
                    answer = evolve(answer, body=_encode_body(answer))
        except AbortRequest as refusal:
            answer = refusal.answer
        except InvalidRequest as problem:
            answer = network.format_error(request, problem)
        touched = dict.fromkeys(
            (entity.kind, entity.id)
            for change in world.journal
            if change.logged and (entity := change.after or change.before) is not None
        )
        world.journal.clear()
        if touched:
            number, now = str(next(self._requests)), world.now
            media_type = request.headers.get("Content-Type", "")
            self.write_requests[number] = WriteRequest(
                network.code,
                request.method,
                request.host,
                request.path,
                request.raw_query,
                media_type,
                request.body,
                now,
            )
            self.writes += [
                {
                    "network": network.code,
                    "request": number,
                    "method": request.method,
                    "path": request.path,
                    "kind": kind,
                    "id": entity_id,
                    "at": now.isoformat(),
                }
                for kind, entity_id in touched
            ]
        return answer

    async def _handle_control_request(self, method: str, path: str, raw_query: str, body: bytes) -> web.Response:
        try:
            match method, path:
                case "GET", "writes":
                    query = record(optional={"network": choice(*self.networks)})(
                        require_unique_names(parse_pairs(raw_query)), ""
                    )
                    only = query.get("network")
                    return _json_response(
                        200, {"writes": [row for row in self.writes if only in (None, row["network"])]}
                    )
                case "POST", "faults":
                    fault = parse_fault(parse_json(body), self.networks)
                    self.faults.pending.append(fault)
                    return _json_response(
                        200, {"faults": len(self.faults.pending), **self._describe_unreachable_fault(fault)}
                    )
                case "DELETE", "faults":
                    self.faults.pending.clear()
                    return _json_response(200, {"faults": 0})
                case "POST", "quiet":
                    quiet = record(required={"network": choice(*self.networks), "days": array(date_check())})(
                        parse_json(body), ""
                    )
                    self.worlds[quiet["network"]].quiet_days = frozenset(quiet["days"])
                    return _json_response(200, {"quiet": len(self.worlds[quiet["network"]].quiet_days)})
                case "POST", "refuse":
                    refuse = record(required={"network": choice(*self.networks), "ids": array(text(1, 250))})(
                        parse_json(body), ""
                    )
                    self.worlds[refuse["network"]].refused_ids = frozenset(refuse["ids"])
                    return _json_response(200, {"refused": len(self.worlds[refuse["network"]].refused_ids)})
                case "POST", "reset":
                    self.reset()
                    return _json_response(200, {"reset": True})
        except InvalidRequest as problem:
            refused = {"code": problem.code, "where": problem.where, "message": problem.message}
            return _json_response(422, {"error": refused})
        endpoints = "GET writes, POST faults, DELETE faults, POST quiet, POST refuse, POST reset"
        return _json_response(
            404, {"error": {"code": "unknown_path", "message": f"unknown path; /_sandbox/ has {endpoints}"}}
        )

    def _describe_unreachable_fault(self, fault: Fault) -> dict[str, str]:
        performed = any(fault.name in route.faults for route in self.networks[fault.network].routes)
        if fault.name not in HANDLER_FAULTS or performed:
            return {}
        return {"note": f"no call of {fault.network} performs {fault.name}: this fault will never happen"}


@frozen
class RunningSandbox:
    """A running sandbox. `url` is its address, without path and slash at the end; `loop` is its event loop."""

    url: str
    state: Sandbox
    loop: asyncio.AbstractEventLoop


def get_fresh_id_offset() -> int:
    """Return an offset that no earlier sandbox has used: hundredths of a second since 2026."""
    return int((datetime.now(UTC) - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds() * 100)


@asynccontextmanager
async def sandbox(
    port: int = 0,
    networks: Sequence[Network] | None = None,
    clock: Clock = lambda: datetime.now(UTC),
    ids_from: int = 0,
    on_request: Callable[[str, str, str], object] = _ignore_request,
) -> AsyncIterator[RunningSandbox]:
    """Run the sandbox in this event loop, on 127.0.0.1.

    `port` 0 takes any free port. `ids_from` is `Sandbox.id_offset`, such as :func:`get_fresh_id_offset` returns;
    `on_request` is `Sandbox.on_request`. Raises OSError if the port is taken.
    """
    networks_by_code = load_networks() if networks is None else {network.code: network for network in networks}
    state = Sandbox(networks_by_code, clock, ids_from, on_request=on_request)
    application = web.Application(client_max_size=_MAX_BODY_BYTES)
    application.router.add_route("*", "/{anything:.*}", state.handle_request)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield RunningSandbox(f"http://127.0.0.1:{runner.addresses[0][1]}", state, asyncio.get_running_loop())
    finally:
        await runner.cleanup()


def run_sandbox(port: int = 0, ready: Callable[[str], object] = print) -> None:
    """Run the sandbox until SIGINT or SIGTERM, in the main thread. `ready(url)` is called when it answers."""

    async def until_stopped() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with sandbox(port, ids_from=get_fresh_id_offset()) as running:
            ready(running.url)
            await stopped.wait()

    asyncio.run(until_stopped())


@contextmanager
def sandbox_thread(
    port: int = 0,
    networks: Sequence[Network] | None = None,
    clock: Clock = lambda: datetime.now(UTC),
    on_request: Callable[[str, str, str], object] = _ignore_request,
) -> Iterator[RunningSandbox]:
    """Run the sandbox in a separate thread, for synchronous callers. The parameters are those of `sandbox`."""
    started: list[RunningSandbox] = []
    stops: list[Callable[[], object]] = []
    decided = threading.Event()

    async def until_stopped() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        async with sandbox(port, networks, clock, on_request=on_request) as running:
            started.append(running)
            stops.append(lambda: loop.call_soon_threadsafe(stopped.set))
            decided.set()
            await stopped.wait()

    with ThreadPoolExecutor(1, "sandbox") as executor:
        served = executor.submit(lambda: asyncio.run(until_stopped()))
        served.add_done_callback(lambda _: decided.set())
        decided.wait()
        try:
            yield from started  # empty if the sandbox could not start; `result` then raises the reason
        finally:
            for stop in stops:
                stop()
            served.result()


def _set_retry_after(answer: Response, fault: Fault) -> Response:
    """The answer with the `Retry-After` that the fault asks for."""
    if fault.retry_after is None:
        return answer
    others = {name: value for name, value in answer.headers.items() if name.lower() != "retry-after"}
    return evolve(answer, headers={**others, "Retry-After": str(fault.retry_after)})


def _encode_body(answer: Response) -> bytes:
    if answer.body is None:
        return b""
    return answer.body if isinstance(answer.body, bytes) else serialize_json(answer.body).encode()


def _build_headers(answer: Response) -> dict[str, str]:
    return {**answer.headers, **({} if answer.body is None else {"Content-Type": answer.media_type})}


def _to_http_response(answer: Response) -> web.Response:
    return web.Response(status=answer.status, body=_encode_body(answer), headers=_build_headers(answer))


def _json_response(status: int, body: Any) -> web.Response:
    return web.Response(status=status, text=serialize_json(body), content_type="application/json")


def _is_same_origin(http: web.Request) -> bool:
    """Whether `Host` names a loopback address, and `Origin`, if a browser sends it, names the same host and port."""
    origin = http.headers.get("Origin")
    return urlsplit(f"//{http.host}").hostname in _LOOPBACK_HOSTS and origin in (None, f"http://{http.host}")


def _abort_connection(http: web.Request) -> web.Response:
    if http.transport is not None:
        http.transport.abort()
    return web.Response()
