"""The sandbox as one aiohttp application: `/HOST/native/path` for the networks, `/_sandbox/...` to control it."""

import asyncio
import itertools
import signal
import threading
from collections.abc import AsyncIterator, Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager, contextmanager, suppress
from datetime import UTC, date, datetime
from typing import Any
from urllib.parse import urlsplit

from aiohttp import web
from attrs import define, field, frozen

from adsunify.sandbox.checks import choice, listing, record, text
from adsunify.sandbox.faults import NATIVE, Fault, Faults, read_fault
from adsunify.sandbox.native import Answer, Network, Refusal, Request, Route
from adsunify.sandbox.networks import load
from adsunify.sandbox.reading import Problem, parse_json, parse_pairs, single, write_json
from adsunify.sandbox.world import Clock, World

_LARGEST_BODY = 64 * 1024 * 1024
_LOOPBACK = ("127.0.0.1", "localhost", "::1")


@define
class Sandbox:
    """The simulated networks and what was told to and written in them."""

    networks: dict[str, Network]
    clock: Clock
    ids_from: int = 0
    """Added to the ids of what is created after the start: a sandbox that starts again gives none a second time."""
    worlds: dict[str, World] = field(factory=dict)
    faults: Faults = field(factory=lambda: Faults([]))
    writes: list[dict[str, str]] = field(factory=list)
    _requests: Iterator[int] = field(factory=lambda: itertools.count(1))

    def __attrs_post_init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        """Everything as at the start, except that tokens go on being valid: whoever is connected stays connected."""
        before = self.worlds
        self.worlds = {code: network.world(self.clock) for code, network in self.networks.items()}
        for world in self.worlds.values():
            world.skip_ids(self.ids_from)
        for code, world in before.items():
            self.worlds[code].tokens = world.tokens
        self.faults.told.clear()
        self.writes.clear()

    async def answer(self, http: web.Request) -> web.StreamResponse:
        """Any request at all."""
        path, _, raw_query = http.raw_path.partition("?")
        host, _, rest = path.removeprefix("/").partition("/")
        if host == "_sandbox":
            if not _is_own_page(http):
                message = "the control door takes requests to a loopback address, and from no page of another origin"
                return _plain(403, {"error": {"code": "foreign_origin", "message": message}})
            return await self._control(http.method, rest, raw_query, await http.read())
        network = next((network for network in self.networks.values() if host in network.hosts), None)
        if network is None:
            known = sorted(host for network in self.networks.values() for host in network.hosts)
            return _plain(404, {"error": {"code": "unknown_host", "message": f"known hosts: {', '.join(known)}"}})
        return await self._native(http, network, host, f"/{rest}", raw_query)

    async def _native(
        self, http: web.Request, network: Network, host: str, path: str, raw_query: str
    ) -> web.StreamResponse:
        body, world = await http.read(), self.worlds[network.code]
        matched = network.match(http.method, host, path)
        if isinstance(matched, int):
            nowhere = Route(http.method, (host,), path, lambda request: network.failure(request, matched))
            request = Request(world, nowhere, http.method, host, path, {}, raw_query, http.headers, body)
            return _sent(network.failure(request, matched))
        route, slots = matched
        fault = self.faults.take(network.code, http.method, host, path, route.role == "api", route.faults)
        told = fault if fault is not None and fault.fault in NATIVE else None
        request = Request(world, route, http.method, host, path, slots, raw_query, http.headers, body, told)
        if fault is None or told is not None:
            return _sent(self._applied(network, request))
        return await self._failed(http, network, request, fault)

    async def _failed(self, http: web.Request, network: Network, request: Request, fault: Fault) -> web.StreamResponse:
        """Perform a fault. A network authenticates a request before it fails it, so a nonce is used up here, too."""
        if fault.fault in ("status", "reset_before") and request.route.role == "api":
            with suppress(Problem, Refusal):
                network.guard(request)
        match fault.fault:
            case "status":
                return _sent(network.failure(request, fault.value or 500))
            case "reset_before":
                return _hung_up(http)
        answer = self._applied(network, request)
        content = _content(answer)
        match fault.fault:
            case "latency":  # applied at once, answered late
                await asyncio.sleep((fault.value or 0) / 1000)
                return _sent(answer)
            case "reset_after":
                return _hung_up(http)
            case "html":
                page = b"<!doctype html><html><body><h1>502 Bad Gateway</h1></body></html>"
                return web.Response(status=answer.status, body=page, content_type="text/html")
            case "empty":
                return web.Response(status=answer.status, headers=_headers(answer))
            case "truncate":  # the whole length is promised, half of it comes, the connection closes
                cut = web.StreamResponse(status=answer.status, headers=_headers(answer))
                cut.content_length = max(len(content), 2)
                await cut.prepare(http)
                await cut.write((content or b"{}")[: max(len(content) // 2, 1)])
                if http.transport is not None:
                    http.transport.close()
                return cut
        raise AssertionError(f"fault {fault.fault} is not performed")

    def _applied(self, network: Network, request: Request) -> Answer:
        """Run the handler; what it changed stays and is logged, or, where it refuses, is undone."""
        world = request.world
        try:
            with world.savepoint():
                if request.route.role == "api":
                    network.guard(request)
                answer = request.route.handler(request)
                _content(answer)
        except Refusal as refusal:
            answer = refusal.answer
        except Problem as problem:
            answer = network.problem(request, problem)
        touched = dict.fromkeys(
            (entity.kind, entity.id)
            for change in world.journal
            if change.logged and (entity := change.after or change.before) is not None
        )
        world.journal.clear()
        if touched:
            number, at = str(next(self._requests)), world.now.isoformat()
            self.writes += [
                {"network": network.code, "request": number, "method": request.method, "path": request.path,
                 "kind": kind, "id": entity_id, "at": at}
                for kind, entity_id in touched
            ]  # fmt: skip
        return answer

    async def _control(self, method: str, path: str, raw_query: str, body: bytes) -> web.Response:
        try:
            match method, path:
                case "GET", "writes":
                    asked = record(optional={"network": choice(*self.networks)})(single(parse_pairs(raw_query)), "")
                    only = asked.get("network")
                    return _plain(200, {"writes": [row for row in self.writes if only in (None, row["network"])]})
                case "POST", "faults":
                    fault = read_fault(parse_json(body), self.networks)
                    self.faults.told.append(fault)
                    return _plain(200, {"faults": len(self.faults.told), **self._note(fault)})
                case "DELETE", "faults":
                    self.faults.told.clear()
                    return _plain(200, {"faults": 0})
                case "POST", "quiet":
                    quiet = record(required={"network": choice(*self.networks), "days": listing(_day)})(
                        parse_json(body), ""
                    )
                    self.worlds[quiet["network"]].quiet_days = frozenset(quiet["days"])
                    return _plain(200, {"quiet": len(self.worlds[quiet["network"]].quiet_days)})
                case "POST", "reset":
                    self.reset()
                    return _plain(200, {"reset": True})
        except Problem as problem:
            refused = {"code": problem.code, "where": problem.where, "message": problem.message}
            return _plain(422, {"error": refused})
        doors = "GET writes, POST faults, DELETE faults, POST quiet, POST reset"
        return _plain(404, {"error": {"code": "unknown_path", "message": f"under /_sandbox/ there are: {doors}"}})

    def _note(self, fault: Fault) -> dict[str, str]:
        performed = any(fault.fault in route.faults for route in self.networks[fault.network].routes)
        if fault.fault not in NATIVE or performed:
            return {}
        return {"note": f"no call of {fault.network} can fail by {fault.fault}: this fault will never happen"}


@frozen
class Running:
    """A sandbox that answers at `url` (no path, no slash at the end)."""

    url: str
    state: Sandbox


def fresh_ids() -> int:
    """Where ids begin so that no sandbox before has given them: hundredths of a second since 2026."""
    return int((datetime.now(UTC) - datetime(2026, 1, 1, tzinfo=UTC)).total_seconds() * 100)


@asynccontextmanager
async def sandbox(
    port: int = 0,
    networks: Sequence[Network] | None = None,
    clock: Clock = lambda: datetime.now(UTC),
    ids_from: int = 0,
) -> AsyncIterator[Running]:
    """Run the sandbox in this event loop, on 127.0.0.1 (`port` 0: any free one; OSError where it is taken).

    `ids_from`: as of `Sandbox`; `fresh_ids` makes one.
    """
    found = load() if networks is None else {network.code: network for network in networks}
    state = Sandbox(found, clock, ids_from)
    application = web.Application(client_max_size=_LARGEST_BODY)
    application.router.add_route("*", "/{anything:.*}", state.answer)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=0.5)
    await runner.setup()
    try:
        await web.TCPSite(runner, "127.0.0.1", port).start()
        yield Running(f"http://127.0.0.1:{runner.addresses[0][1]}", state)
    finally:
        await runner.cleanup()


def run(port: int = 0, ready: Callable[[str], object] = print) -> None:
    """Run the sandbox until SIGINT or SIGTERM, in the main thread; `ready(url)` is called once it answers."""

    async def until_stopped() -> None:
        stopped = asyncio.Event()
        for number in (signal.SIGINT, signal.SIGTERM):
            asyncio.get_running_loop().add_signal_handler(number, stopped.set)
        async with sandbox(port, ids_from=fresh_ids()) as running:
            ready(running.url)
            await stopped.wait()

    asyncio.run(until_stopped())


@contextmanager
def sandbox_thread(
    port: int = 0,
    networks: Sequence[Network] | None = None,
    clock: Clock = lambda: datetime.now(UTC),
) -> Iterator[Running]:
    """Run the sandbox in a thread of its own, for synchronous callers; parameters as `sandbox`."""
    started: list[Running] = []
    stops: list[Callable[[], object]] = []
    decided = threading.Event()

    async def until_stopped() -> None:
        stopped, loop = asyncio.Event(), asyncio.get_running_loop()
        async with sandbox(port, networks, clock) as running:
            started.append(running)
            stops.append(lambda: loop.call_soon_threadsafe(stopped.set))
            decided.set()
            await stopped.wait()

    with ThreadPoolExecutor(1, "sandbox") as executor:
        served = executor.submit(lambda: asyncio.run(until_stopped()))
        served.add_done_callback(lambda _: decided.set())
        decided.wait()
        try:
            yield from started  # one, or none where it could not start: then `result` raises why
        finally:
            for stop in stops:
                stop()
            served.result()


def _content(answer: Answer) -> bytes:
    if answer.body is None:
        return b""
    return answer.body if isinstance(answer.body, bytes) else write_json(answer.body).encode()


def _headers(answer: Answer) -> dict[str, str]:
    return {**answer.headers, **({} if answer.body is None else {"Content-Type": answer.media_type})}


def _sent(answer: Answer) -> web.Response:
    return web.Response(status=answer.status, body=_content(answer), headers=_headers(answer))


def _plain(status: int, body: Any) -> web.Response:
    return web.Response(status=status, text=write_json(body), content_type="application/json")


def _day(value: Any, where: str) -> date:
    try:
        return date.fromisoformat(text(10, 10)(value, where))
    except ValueError as error:
        raise Problem("value", where, "must be a date YYYY-MM-DD", value) from error


def _is_own_page(http: web.Request) -> bool:
    """Whether `Host` names a loopback address, and `Origin`, where a browser sends one, the same place."""
    origin = http.headers.get("Origin")
    return urlsplit(f"//{http.host}").hostname in _LOOPBACK and origin in (None, f"http://{http.host}")


def _hung_up(http: web.Request) -> web.Response:
    if http.transport is not None:
        http.transport.abort()
    return web.Response()
