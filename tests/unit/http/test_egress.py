"""Requests through a proxy: what is surely not sent, what is lost, whose fault it is, and where the tunnel leads."""

from __future__ import annotations

import asyncio
import socket
import traceback
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from attrs import define

from adsunify.errors import InvalidInput, RequestNotSent, ResponseLost
from adsunify.http import backend
from adsunify.http.egress import (
    CA_FILE_VARIABLE,
    EGRESS_PROXY_VARIABLE,
    Egress,
    Proxy,
    make_tls_context,
    parse_proxy,
    read_egress,
)
from adsunify.http.messages import Request
from adsunify.http.safe_fetch import FetchError, fetch_url
from adsunify.http.transport import HttpTransport
from tests.connect_proxy import FAULTS, SECRETS, ConnectProxy, Fault, connect_proxy

from .certificates import Authority
from .server import HOST, OK, READ, WRITE, Connection, Script, Server, answer, answer_in_turn, serve_script

ADDRESS = "93.184.216.34"
"""A public address, which only the proxy of these tests reaches."""
RECEIVER = "receiver.example"
pytestmark = pytest.mark.usefixtures("own_tls_contexts")
ALL_FAULTS: list[Fault] = [*FAULTS, "silent"]


@define
class World:
    """A network behind a proxy. ``egress`` is what a deployment of this proxy has."""

    proxy: ConnectProxy
    network: Server
    egress: Egress
    names: list[str | None]

    async def send(self, request: Request = WRITE, **more: Any) -> Any:
        async def at_once(_: float) -> None:
            return None

        return await HttpTransport(egress=self.egress, sleep=at_once).send(request, hosts=(HOST,), **more)

    async def fetch(self, *addresses: str, **more: Any) -> Any:
        async def resolve(host: str) -> Sequence[str]:
            assert host == RECEIVER
            return addresses or [ADDRESS]

        return await fetch_url(f"https://{RECEIVER}/a", resolving=resolve, egress=self.egress, timeout=5, **more)


@asynccontextmanager
async def behind_proxy(
    folder: Path, script: Script, scheme: str = "http", host: str = HOST, days: int = 1
) -> AsyncIterator[World]:
    """``host``: the name in the certificate of the network."""
    authority = Authority(folder)
    tls, names = authority.server(host, days, ("localhost",)), list[str | None]()
    tls.sni_callback = lambda _socket, name, _context: names.append(name)
    proxy_tls = authority.server("localhost") if scheme == "https" else None
    async with (
        serve_script(script, tls) as network,
        connect_proxy(lambda host, port: network.port if port == 443 else None, proxy_tls) as proxy,
    ):
        settings = {EGRESS_PROXY_VARIABLE: proxy.url, CA_FILE_VARIABLE: str(authority.ca_file)}
        yield World(proxy, network, read_egress(settings), names)


@pytest.fixture(autouse=True)
def short_connect_timeout(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> None:
    """Do not wait ten seconds for a proxy that is silent."""
    if "silent" in request.node.name:
        monkeypatch.setattr(backend, "CONNECT_TIMEOUT_SECONDS", 0.3)


def assert_hides_secrets(problem: BaseException) -> None:
    report = "".join(traceback.format_exception(problem))
    assert not [secret for secret in SECRETS if secret in report + repr(problem)]


# -- requests to networks -----------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_write_goes_through_the_tunnel_and_the_check_is_before_its_first_byte(
    tmp_path: Path, scheme: str
) -> None:
    request_counts: list[int] = []
    async with behind_proxy(tmp_path, answer_in_turn(OK), scheme) as world:
        response = await world.send(check=lambda: request_counts.append(len(world.network.requests)))
    assert response.body == {"id": "777"}
    assert world.proxy.targets == [f"{HOST}:443"] and world.names == [HOST]
    assert request_counts == [0] and len(world.network.requests) == 1
    assert world.network.requests[0].startswith(b"POST /v1/things HTTP/1.1\r\n")
    assert b"proxy" not in world.network.requests[0].lower()


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("fault", ALL_FAULTS)
async def test_a_failure_of_the_proxy_is_surely_not_sent(
    tmp_path: Path, fault: Fault, scheme: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    checks: list[None] = []
    async with behind_proxy(tmp_path, answer_in_turn(OK), scheme) as world:
        world.proxy.faults = [fault]
        with pytest.raises(RequestNotSent) as problem:
            await world.send(check=lambda: checks.append(None))
        assert world.network.requests == [] and checks == []
        assert problem.value.outcome == "not_applied" and world.proxy.name in problem.value.message
        assert_hides_secrets(problem.value)
        monkeypatch.undo()  # a busy machine needs longer to connect
        world.proxy.faults.clear()  # the proxy of a busy machine may not have seen the first connection yet
        assert (await world.send()).status == 200  # the next write is sent
        assert len(world.network.requests) == 1


@pytest.mark.parametrize(("fault", "status"), [("wrong password", 407), ("forbidden", 403), ("bad gateway", 502)])
async def test_the_status_of_a_refused_tunnel_is_named(tmp_path: Path, fault: Fault, status: int) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        world.proxy.faults = [fault]
        with pytest.raises(RequestNotSent, match=rf"refused CONNECT {HOST}:443 with status {status}"):
            await world.send()


async def test_a_proxy_that_is_down_is_named(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        pass
    with pytest.raises(RequestNotSent, match=f"the proxy {world.proxy.name} cannot be reached") as problem:
        await world.send()
    assert_hides_secrets(problem.value)


@pytest.mark.parametrize("server", [{"host": "other.example"}, {"days": -1}])
async def test_a_certificate_that_does_not_fit_is_surely_not_sent(tmp_path: Path, server: dict[str, Any]) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK), **server) as world:
        with pytest.raises(RequestNotSent, match=f"TLS with {HOST} through the proxy {world.proxy.name} failed"):
            await world.send()
        assert world.network.requests == []


async def test_an_unknown_authority_is_surely_not_sent(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        world.egress = Egress(proxy=world.egress.proxy)
        with pytest.raises(RequestNotSent, match=CA_FILE_VARIABLE):
            await world.send()
        assert world.network.requests == []


async def test_tls_with_the_proxy_is_verified(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK), "https") as world:
        world.egress = Egress(proxy=world.egress.proxy)
        with pytest.raises(RequestNotSent, match=f"TLS with the proxy {world.proxy.name} failed"):
            await world.send()
        assert world.proxy.heads == []  # it did not get the password


async def _close_after_request(connection: Connection) -> None:
    await connection.request()


async def _reset(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def _close_in_answer(connection: Connection) -> None:
    await connection.request()
    await connection.say(OK[:-4])


@pytest.mark.parametrize("scheme", ["http", "https"])
@pytest.mark.parametrize("script", [_close_after_request, _reset, _close_in_answer])
async def test_what_fails_after_the_request_is_lost(tmp_path: Path, script: Script, scheme: str) -> None:
    async with behind_proxy(tmp_path, script, scheme) as world:
        with pytest.raises(ResponseLost) as problem:
            await world.send()
        assert len(world.network.requests) == 1 and len(world.proxy.targets) == 1
    assert problem.value.outcome == "unknown" and world.proxy.name in problem.value.message
    assert_hides_secrets(problem.value)


async def test_what_the_check_refuses_does_not_leave(tmp_path: Path) -> None:
    def refuse() -> None:
        raise RequestNotSent("the lease is over")

    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        with pytest.raises(RequestNotSent, match="lease"):
            await world.send(check=refuse)
        assert world.network.requests == [] and world.names == [HOST]


async def test_a_cancelled_write_leaves_no_connection(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        world.proxy.faults = ["silent"]
        sending = asyncio.create_task(world.send())
        while not world.proxy.heads:
            await asyncio.sleep(0.01)
        sending.cancel()
        with pytest.raises(asyncio.CancelledError):
            await sending
        assert world.network.connections == 0


async def test_reads_share_a_tunnel_and_are_repeated(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world:
        world.proxy.faults = ["bad gateway", "cut after 200"]
        transport = HttpTransport(egress=world.egress)
        async with transport.open_pool() as pool:
            for _ in range(3):
                assert (await transport.send(READ, hosts=(HOST,), pool=pool)).status == 200
    assert len(world.proxy.targets) == 3 and len(world.network.requests) == 3


async def test_the_simulated_networks_are_reached_directly(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world, serve_script(answer_in_turn(OK)) as sandbox:
        assert (await HttpTransport(sandbox.url, egress=world.egress).send(WRITE, hosts=(HOST,))).status == 200
    assert world.proxy.heads == []


# -- guarded fetches ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["http", "https"])
async def test_a_guarded_fetch_asks_for_the_checked_address(tmp_path: Path, scheme: str) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(answer(200)), scheme, RECEIVER) as world:
        assert (await world.fetch()).status == 200
    assert world.proxy.targets == [f"{ADDRESS}:443"] and world.names == [RECEIVER]
    assert b"\r\nHost: receiver.example\r\n" in world.network.requests[0]


@pytest.mark.parametrize("addresses", [("10.0.0.1",), (ADDRESS, "127.0.0.1"), ("169.254.169.254",)])
async def test_the_guard_stays_with_a_proxy(tmp_path: Path, addresses: tuple[str, ...]) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(answer(200)), host=RECEIVER) as world:
        with pytest.raises(FetchError) as problem:
            await world.fetch(*addresses)
    assert problem.value.reason == "refused" and world.proxy.heads == []


@pytest.mark.parametrize("fault", ALL_FAULTS)
async def test_a_fetch_names_the_proxy_that_fails(tmp_path: Path, fault: Fault) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(answer(200)), host=RECEIVER) as world:
        world.proxy.faults = [fault]
        with pytest.raises(FetchError) as problem:
            await world.fetch(method="POST", content=b"{}")
        assert problem.value.reason == "unreachable" and world.proxy.name in problem.value.message
        assert world.network.requests == []
        assert_hides_secrets(problem.value)


async def test_a_fetch_verifies_the_name_behind_the_proxy(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(answer(200)), host="other.example") as world:
        with pytest.raises(FetchError) as problem:
            await world.fetch()
    assert problem.value.reason == "unreachable" and world.network.requests == []


async def test_a_fetch_that_is_cut_after_the_request_is_lost(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, _close_after_request, host=RECEIVER) as world:
        with pytest.raises(FetchError) as problem:
            await world.fetch(method="POST", content=b"{}")
    assert problem.value.reason == "lost" and len(world.network.requests) == 1


async def test_an_exempt_address_is_reached_directly(tmp_path: Path) -> None:
    async with behind_proxy(tmp_path, answer_in_turn(OK)) as world, serve_script(answer_in_turn(answer(200))) as local:
        fetched = await fetch_url(local.url, exempt={local.url}, egress=world.egress)
    assert fetched.status == 200 and world.proxy.heads == []


async def test_a_download_from_another_host_goes_through_proxy_and_guard(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    look_up = socket.getaddrinfo

    def resolve(host: Any, *more: Any, **named: Any) -> Any:
        return look_up(ADDRESS if host == RECEIVER else host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", resolve)
    download = Request("GET", f"https://{RECEIVER}/r.csv", response_format="bytes", is_signed=False)
    async with behind_proxy(tmp_path, answer_in_turn(answer(200, b"a,b")), host=RECEIVER) as world:
        assert (await world.send(download)).body == b"a,b"
    assert world.proxy.targets == [f"{ADDRESS}:443"]


# -- settings -----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("text", "proxy"),
    [
        ("http://proxy.example:3128", Proxy("http", "proxy.example", 3128)),
        ("https://proxy.example/", Proxy("https", "proxy.example", 443)),
        ("http://10.0.0.1", Proxy("http", "10.0.0.1", 80)),
        ("http://[fd00::1]:3128", Proxy("http", "fd00::1", 3128)),
        ("http://me:hu%40sh@p.example:1", Proxy("http", "p.example", 1, b"Basic bWU6aHVAc2g=")),
        ("http://me@p.example:1", Proxy("http", "p.example", 1, b"Basic bWU6")),
    ],
)
def test_the_address_of_a_proxy(text: str, proxy: Proxy) -> None:
    assert parse_proxy(text, "proxy") == proxy
    assert "hu" not in f"{proxy} {proxy!r} {Egress(proxy=proxy)!r}" and "bWU6" not in repr(proxy)


@pytest.mark.parametrize(
    "text",
    [
        *("", "proxy.example:3128", "socks5://hush@p.example", "//p.example", "http://", "http://:3128", "http://p:0"),
        *("http://p:99999", "http://p:x", "http://p/hush", "http://p?hush", "http://p#", "http://me:hu/sh@p.example"),
        *("http://p\n.example", "http://me:hu sh@p", "http://m\u00e9:hush@p", "http://me%3Ahush:x@p", "http://[::1"),
        *("http://me:hush%0d%0a@p", "http://p_$/", "http://p^.example"),
    ],
)
def test_other_texts_are_refused_without_repeating_them(text: str) -> None:
    with pytest.raises(InvalidInput, match=EGRESS_PROXY_VARIABLE) as problem:
        parse_proxy(text, EGRESS_PROXY_VARIABLE)
    assert "hush" not in str(problem.value)


def test_only_our_settings_are_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    monkeypatch.setenv("SSL_CERT_FILE", str(Authority(tmp_path).ca_file))
    assert read_egress({}).proxy is None
    trusted = [certificate["subject"] for certificate in read_egress({}).tls.get_ca_certs()]
    assert "Test authority" not in str(trusted)
    assert "Test authority" in str(make_tls_context(tmp_path / "authority.pem").get_ca_certs())


@pytest.mark.parametrize(
    ("make", "why"),
    [
        (lambda folder: folder / "none.pem", "cannot be read: No such file"),
        (lambda folder: folder, "cannot be read: Is a directory"),
        (lambda folder: Path(__file__), "holds no certificate in PEM"),
    ],
)
def test_a_file_of_authorities_that_cannot_be_used(tmp_path: Path, make: Callable[[Path], Path], why: str) -> None:
    with pytest.raises(InvalidInput, match=f"{CA_FILE_VARIABLE}.*{why}"):
        read_egress({CA_FILE_VARIABLE: str(make(tmp_path))})
