"""The guarded fetch: what it refuses, what it connects to, what it reads."""

from __future__ import annotations

import asyncio
import gc
import ipaddress
import socket
import ssl
import threading
import time
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from adsunify.errors import InvalidInput, RequestNotSent
from adsunify.http import safe_fetch as module
from adsunify.http.egress import Egress
from adsunify.http.messages import Request
from adsunify.http.safe_fetch import (
    FetchError,
    FetchUrl,
    fetch_url,
    is_public_ipv4,
    parse_public_url,
    resolve_public_address,
)
from adsunify.http.transport import HttpTransport

from .certificates import Authority
from .server import HOST, Connection, answer, answer_in_turn, serve_script

# -- addresses ----------------------------------------------------------------------------------------------------

# Written down a second time, as first and last address, from the registries of special addresses.
RESERVED = [
    ("0.0.0.0", "0.255.255.255"),
    ("10.0.0.0", "10.255.255.255"),
    ("100.64.0.0", "100.127.255.255"),
    ("127.0.0.0", "127.255.255.255"),
    ("169.254.0.0", "169.254.255.255"),
    ("172.16.0.0", "172.31.255.255"),
    ("192.0.0.0", "192.0.0.255"),
    ("192.0.2.0", "192.0.2.255"),
    ("192.31.196.0", "192.31.196.255"),
    ("192.52.193.0", "192.52.193.255"),
    ("192.88.99.0", "192.88.99.255"),
    ("192.168.0.0", "192.168.255.255"),
    ("192.175.48.0", "192.175.48.255"),
    ("198.18.0.0", "198.19.255.255"),
    ("198.51.100.0", "198.51.100.255"),
    ("203.0.113.0", "203.0.113.255"),
    ("224.0.0.0", "255.255.255.255"),
]
RANGES = [(int(ipaddress.IPv4Address(low)), int(ipaddress.IPv4Address(high))) for low, high in RESERVED]
_edges = [edge + step for low, high in RANGES for edge, step in ((low, -1), (low, 0), (high, 0), (high, 1))]


@settings(max_examples=2_000)
@given(st.integers(0, 2**32 - 1) | st.sampled_from([edge for edge in _edges if 0 <= edge < 2**32]))
def test_an_address_is_public_or_reserved_as_an_independent_table_says(number: int) -> None:
    reserved = any(low <= number <= high for low, high in RANGES)
    assert is_public_ipv4(str(ipaddress.IPv4Address(number))) is not reserved


@pytest.mark.parametrize(
    "text",
    [
        "::1",
        "::ffff:8.8.8.8",
        "64:ff9b::8.8.8.8",
        "2606:4700::1111",
        "8.8.8",
        "134744072",
        "0x8.8.8.8",
        "08.8.8.8",
        "",
        " 8.8.8.8",
    ],
)
def test_only_ipv4_in_its_proper_spelling_is_public(text: str) -> None:
    assert not is_public_ipv4(text)
    assert is_public_ipv4("8.8.8.8")
    assert is_public_ipv4("1.1.1.1")


TRICKS = [
    *("http://example.com/", "ftp://example.com/", "//example.com/", "example.com", "", "https://", "https:///x"),
    *("https:example.com", "https:/example.com", r"https:\\example.com", r"https://example.com\@evil.com/"),
    *("https://127.0.0.1/", "https://8.8.8.8/", "https://2130706433/", "https://0x7f.1/", "https://127.1/"),
    *("https://0177.0.0.1/", "https://0x7f000001/", "https://[::1]/", "https://[::ffff:127.0.0.1]/", "https://1.2.3/"),
    *("https://127.0.0.1./", "https://example.com./", "https://localhost/", "https://localhost./", "https://intranet/"),
    *("https://user@example.com/", "https://user:pass@example.com/", "https://@example.com/", "https://a%40b.com/"),
    *("https://example.com/#x", "https://example.com#x", "https://example.com/x?y#"),
    *("https://example.com:80/", "https://example.com:8443/", "https://example.com:/", "https://example.com:0443/"),
    *("https://exa\tmple.com/", "https://example.com/\n", "\nhttps://example.com/", " https://example.com/"),
    *("https://example.com/ x", "https://example.com/\x00", "https://example.com/\u00e9", "https://ex\u00e4mple.com/"),
    *("https://\uff11\uff12\uff17.0.0.1/", "https://\u2460\u2461\u2466.0.0.1/", "https://example\u3002com/"),
    *("https://-a.com/", "https://a-.com/", "https://a..com/", "https://.com/", "https://a_b.com/", "https://a.0x1/"),
    *("https://" + "a" * 64 + ".com/", "https://" + "a." * 130 + "com/", "https://example.com/" + "x" * 2_000),
    *("http\u017f://example.com/", "https://\u212aelvin.com/", "https://example.com/\u017f"),
    *("https://example.com%2eevil.com/", "https://example.com;x/", "https://exam ple.com/", "https://*.example.com/"),
]


@pytest.mark.parametrize("url", TRICKS)
async def test_a_trick_is_refused(url: str) -> None:
    with pytest.raises(InvalidInput) as problem:
        parse_public_url(url, path="webhook.url")
    assert problem.value.issues[0].path == "webhook.url"
    with pytest.raises(FetchError) as failure:
        await fetch_url(url, resolving=_refuse_lookup)
    assert failure.value.reason == "refused"


async def _refuse_lookup(host: str) -> Sequence[str]:
    raise AssertionError("a refused address is looked up")


@pytest.mark.parametrize(
    ("url", "host", "target"),
    [
        ("https://example.com", "example.com", "/"),
        ("https://Example.COM:443/a/../b?c=%20#"[:-1], "example.com", "/a/../b?c=%20"),
        ("https://example.com?x=1", "example.com", "/?x=1"),
        ("https://xn--exmple-cua.com/h", "xn--exmple-cua.com", "/h"),
        ("HTTPS://a1.b2.co/", "a1.b2.co", "/"),
    ],
)
def test_a_public_name_is_accepted(url: str, host: str, target: str) -> None:
    assert parse_public_url(url) == FetchUrl("https", host, 443, target)


# -- names --------------------------------------------------------------------------------------------------------


def _make_resolver(*answers: Sequence[str]) -> Any:
    remaining_answers = iter(answers)

    async def resolve(host: str) -> Sequence[str]:
        return next(remaining_answers)

    return resolve


@pytest.mark.parametrize(
    "addresses",
    [["127.0.0.1"], ["8.8.8.8", "10.0.0.1"], ["10.0.0.1", "8.8.8.8"], ["::ffff:8.8.8.8"], ["169.254.169.254"]],
)
async def test_one_address_that_is_not_public_refuses_the_whole_answer(addresses: list[str]) -> None:
    with pytest.raises(FetchError) as problem:
        await fetch_url("https://rebinding.example/", resolving=_make_resolver(addresses))
    assert problem.value.reason == "refused"


async def test_a_name_without_address_is_unresolved() -> None:
    async def fail_lookup(host: str) -> Sequence[str]:
        raise OSError("no such name")

    for resolving in (fail_lookup, _make_resolver([])):
        with pytest.raises(FetchError) as problem:
            await resolve_public_address("nowhere.example", resolving)
        assert problem.value.reason == "unresolved"


async def test_a_name_is_looked_up_once_and_that_address_is_connected_to(
    guarded_server: GuardedServer, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The second answer of a rebinding name is never asked for."""
    response = await guarded_server.fetch(resolving=_make_resolver(["127.0.0.1"], ["10.0.0.1"]))
    assert response.content == b"{}"


async def test_the_time_counts_for_the_look_up_too() -> None:
    async def resolve_slowly(host: str) -> Sequence[str]:
        await asyncio.sleep(30)
        return []

    with pytest.raises(FetchError) as problem:
        await fetch_url("https://slow.example/", resolving=resolve_slowly, timeout=0.1)
    assert problem.value.reason == "timeout"


# -- TLS ----------------------------------------------------------------------------------------------------------


class GuardedServer:
    """A server with a certificate on this machine, reached as ``receiver.example`` through all guards but one: here
    this machine counts as public."""

    def __init__(self, authority: Authority, patch: pytest.MonkeyPatch) -> None:
        self.authority, self.patch = authority, patch
        self.requests: list[bytes] = []
        self.names: list[str | None] = []

    @asynccontextmanager
    async def run_server(
        self, host: str = "receiver.example", days: int = 1, reply: bytes = b""
    ) -> AsyncIterator[None]:
        context = self.authority.server(host, days)
        context.sni_callback = lambda _socket, name, _context: self.names.append(name)

        async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            try:
                self.requests.append(await reader.readuntil(b"\r\n\r\n"))
                writer.write(reply or answer(200))
                await writer.drain()
            except (asyncio.IncompleteReadError, ConnectionError):
                pass  # the client did not trust us
            finally:
                writer.close()

        listener = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=context)
        self.reach(listener.sockets[0].getsockname()[1])
        try:
            yield
        finally:
            listener.close()

    def reach(self, port: int) -> None:
        """Let ``https://receiver.example/a`` be at a port of this machine."""
        self.patch.setattr(
            module, "parse_public_url", lambda url, exempt: FetchUrl("https", "receiver.example", port, "/a")
        )
        self.patch.setattr(module, "is_public_ipv4", lambda address: address == "127.0.0.1")

    async def fetch(
        self, resolving: Any = None, tls: ssl.SSLContext | None = None, cut: bool = False, **server: Any
    ) -> Any:
        async with self.run_server(**server):
            return await fetch_url(
                "https://receiver.example/a",
                resolving=resolving or _make_resolver(["127.0.0.1"]),
                egress=Egress(tls or self.authority.make_client_context()),
                timeout=5,
                cut=cut,
            )


@pytest.fixture
def guarded_server(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> GuardedServer:
    return GuardedServer(Authority(tmp_path), monkeypatch)


async def test_tls_verifies_the_name_although_it_connects_to_the_address(guarded_server: GuardedServer) -> None:
    assert (await guarded_server.fetch()).status == 200
    assert guarded_server.names == ["receiver.example"]
    assert b"\r\nhost: receiver.example:" in guarded_server.requests[0].lower()


@pytest.mark.parametrize("server", [{"host": "other.example"}, {"host": "127.0.0.1"}, {"days": -1}])
async def test_a_certificate_that_does_not_fit_is_refused(
    guarded_server: GuardedServer, server: dict[str, Any]
) -> None:
    with pytest.raises(FetchError) as problem:
        await guarded_server.fetch(**server)
    assert problem.value.reason == "unreachable"
    assert guarded_server.requests == []


async def test_an_authority_nobody_trusts_is_refused(guarded_server: GuardedServer) -> None:
    with pytest.raises(FetchError) as problem:
        await guarded_server.fetch(tls=ssl.create_default_context())
    assert problem.value.reason == "unreachable"
    assert guarded_server.requests == []


async def test_networks_are_verified_too(tmp_path: Path) -> None:
    authority = Authority(tmp_path)

    async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            for _ in range(3):
                await reader.readuntil(b"\r\n\r\n")
                writer.write(answer(200))
            await writer.drain()
        except (asyncio.IncompleteReadError, ConnectionError):
            pass  # the client did not trust us
        finally:
            writer.close()

    request = Request("DELETE", f"https://{HOST}/x", kind="write")
    listener = await asyncio.start_server(serve_connection, "127.0.0.1", 0, ssl=authority.server("localhost"))
    url = f"https://localhost:{listener.sockets[0].getsockname()[1]}"
    async with listener:
        sending, distrusting = HttpTransport(url, egress=Egress(authority.make_client_context())), HttpTransport(url)
        for _ in range(3):
            assert (await sending.send(request, hosts=(HOST,))).status == 200
        with pytest.raises(RequestNotSent) as problem:
            await distrusting.send(request, hosts=(HOST,))
        assert problem.value.outcome == "not_applied"


class Breaking(GuardedServer):
    """A server that shakes hands, says ``reply``, and goes on with a record that nobody can decrypt."""

    @asynccontextmanager
    async def run_server(
        self, host: str = "receiver.example", days: int = 1, reply: bytes = b""
    ) -> AsyncIterator[None]:
        context = self.authority.server(host, days)

        def serve() -> None:
            raw, _ = listener.accept()
            with raw:
                incoming, outgoing = ssl.MemoryBIO(), ssl.MemoryBIO()
                tls = context.wrap_bio(incoming, outgoing, server_side=True)
                for step in (tls.do_handshake, lambda: tls.read(65_536)):
                    while True:
                        try:
                            step()
                            break
                        except ssl.SSLWantReadError:
                            raw.sendall(outgoing.read())
                            incoming.write(raw.recv(65_536))
                tls.write(reply or b" ")
                raw.sendall(outgoing.read() + b"\x17\x03\x03\x00\x20" + bytes(32))
                raw.recv(1)

        with socket.create_server(("127.0.0.1", 0)) as listener:
            self.reach(listener.getsockname()[1])
            serving = asyncio.create_task(asyncio.to_thread(serve))
            yield
            await serving


async def test_a_broken_record_is_a_lost_answer(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    breaking = Breaking(Authority(tmp_path), monkeypatch)
    with pytest.raises(FetchError) as problem:
        await breaking.fetch()
    assert (problem.value.reason, problem.value.outcome) == ("lost", "unknown")
    with pytest.raises(FetchError) as problem:
        await breaking.fetch(reply=answer(200, b"{}")[:-1])
    assert problem.value.reason == "lost"


async def test_a_status_counts_although_its_body_breaks(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    response = await Breaking(Authority(tmp_path), monkeypatch).fetch(reply=answer(202, b"{}")[:-1], cut=True)
    assert (response.status, response.content, response.is_truncated) == (202, b"", True)


async def test_a_handshake_that_is_given_up_closes_its_connection(guarded_server: GuardedServer) -> None:
    ended = asyncio.Event()

    async def serve_connection(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        while await reader.read(65_536):
            pass
        writer.close()
        ended.set()

    async with await asyncio.start_server(serve_connection, "127.0.0.1", 0) as listener:
        guarded_server.reach(listener.sockets[0].getsockname()[1])
        with pytest.raises(FetchError):
            await fetch_url("https://receiver.example/a", resolving=_make_resolver(["127.0.0.1"]), timeout=0.3)
        gc.disable()  # a collection would close it too, some day
        try:
            await asyncio.wait_for(ended.wait(), 5)
        finally:
            gc.enable()


async def test_names_that_are_not_answered_delay_nothing_else(monkeypatch: pytest.MonkeyPatch) -> None:
    """As many as could be looked up at once, and more, while a network's host is looked up and other threads work."""
    answered = threading.Event()
    look_up = socket.getaddrinfo

    def look_up_slowly(host: Any, *more: Any, **named: Any) -> Any:
        if str(host).endswith("slow.example"):
            answered.wait(60)
            raise OSError("no answer")
        return look_up(host, *more, **named)

    monkeypatch.setattr(socket, "getaddrinfo", look_up_slowly)
    fetching = [asyncio.create_task(fetch_url(f"https://a{number}.slow.example/")) for number in range(60)]
    try:
        async with serve_script(answer_in_turn(answer(200))) as server:
            sending = HttpTransport(server.url.replace("127.0.0.1", "localhost"))
            request = Request("DELETE", f"https://{HOST}/x", kind="write")
            assert (await sending.send(request, hosts=(HOST,))).status == 200
        async with asyncio.timeout(10):
            assert await asyncio.to_thread(len, "abc") == 3
        assert not any(task.done() for task in fetching)
    finally:
        answered.set()
        await asyncio.gather(*fetching, return_exceptions=True)


# -- answers ------------------------------------------------------------------------------------------------------


async def test_an_exempt_address_is_fetched_whatever_it_is_and_only_it() -> None:
    async with serve_script(answer_in_turn(answer(200, b"hello"))) as server:
        url = f"{server.url}/hook?x=1"
        response = await fetch_url(url, method="POST", content=b"body", headers={"x-a": "1"}, exempt=[url])
        assert (response.status, response.content, response.is_truncated) == (200, b"hello", False)
        assert server.requests[0].startswith(b"POST /hook?x=1 HTTP/1.1\r\n")
        assert server.requests[0].endswith(b"\r\n\r\nbody")
        with pytest.raises(FetchError):
            await fetch_url(url + "2", exempt=[url])


async def test_a_redirect_is_not_followed() -> None:
    visited = False

    async def canary(connection: Connection) -> None:
        nonlocal visited
        visited = True

    async with (
        serve_script(canary) as trap,
        serve_script(answer_in_turn(answer(307, b"", f"Location: {trap.url}"))) as server,
    ):
        assert (await fetch_url(server.url, exempt=[server.url])).status == 307
    assert not visited


async def test_a_long_answer_is_refused_or_cut() -> None:
    async with serve_script(answer_in_turn(answer(200, b"x" * 100_000))) as server:
        response = await fetch_url(server.url, exempt=[server.url], limit=1_000, cut=True)
        assert (response.content, response.is_truncated) == (b"x" * 1_000, True)
        with pytest.raises(FetchError) as problem:
            await fetch_url(server.url, exempt=[server.url], limit=99_999)
        assert problem.value.reason == "too_large"


async def _trickle_body(connection: Connection) -> None:
    await connection.request()
    await connection.say(b"HTTP/1.1 200 OK\r\n\r\n")
    while True:
        await connection.say(b"x")
        await asyncio.sleep(0.05)


async def _never_answer(connection: Connection) -> None:
    await connection.request()
    await asyncio.sleep(30)


@pytest.mark.parametrize("script", [_trickle_body, _never_answer])
async def test_the_time_is_bounded(script: Any) -> None:
    async with serve_script(script) as server:
        started = time.monotonic()
        with pytest.raises(FetchError) as problem:
            await fetch_url(server.url, exempt=[server.url], timeout=0.4)
        assert problem.value.reason == "timeout"
        assert time.monotonic() - started < 5


async def _reset(connection: Connection) -> None:
    await connection.request()
    connection.reset()


async def test_how_a_fetch_fails_is_told() -> None:
    async with serve_script(_reset) as server:
        with pytest.raises(FetchError) as problem:
            await fetch_url(server.url, exempt=[server.url])
        assert (problem.value.reason, problem.value.outcome) == ("lost", "unknown")
    with pytest.raises(FetchError) as problem:
        await fetch_url(server.url, exempt=[server.url])
    assert (problem.value.reason, problem.value.outcome) == ("unreachable", "not_applied")
