"""One fetch for every address from outside: no other client is made, and downloads of reports go through it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import adsunify
from adsunify.errors import RequestNotSent, ResponseLost
from adsunify.http import safe_fetch, transport
from adsunify.http.messages import Request
from adsunify.http.transport import HttpTransport

from .test_destinations import NOT_PUBLIC, PUBLIC, Names, guard_connections

ROOT = Path(adsunify.__file__).parents[1]
CONNECTING = {
    *("AsyncClient", "Client", "AsyncHTTPTransport", "HTTPTransport", "ClientSession", "TCPConnector"),
    *("AsyncConnectionPool", "ConnectionPool", "AnyIOBackend", "connect_tcp"),
    *("urlopen", "urlretrieve", "HTTPConnection", "HTTPSConnection", "open_connection", "open_unix_connection"),
    *("create_connection", "create_datagram_endpoint", "create_unix_connection", "sock_connect", "connect_ex"),
}
"""What opens a connection to somewhere, by the name it is called by."""
CLIENTS = {
    "adsunify/http/backend.py": "the networks' declared hosts, and addresses that were checked",
    "adsunify/http/egress.py": "the proxy of the deployment",
    "adsunify/http/tunnel_transport.py": "a developer's own server, through a proxy",
    "adsunify/client/http_backend.py": "a developer's own server",
    "adsunify/telemetry/otlp.py": "the collector of the deployment",
    "adsunify/testing/connecting.py": "the simulated networks' consent pages, on loopback",
}
"""Every module that opens connections, and where to."""
MODULES = {"requests", "urllib3", "urllib.request", "http.client", "ftplib", "smtplib", "telnetlib", "xmlrpc"}
"""Clients that nobody imports."""


def _files() -> Iterator[Path]:
    for package in ("adsunify", "adsunify_server", "adsunify_mcp"):
        for path in sorted((ROOT / package).rglob("*.py")):
            if "sandbox" not in path.relative_to(ROOT).parts:  # stands apart, and serves only
                yield path


def _find_calls(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Call):
            if isinstance(node.func, ast.Attribute):
                yield node.func.attr
                if ast.unparse(node.func) in ("httpx.get", "httpx.post", "httpx.request", "httpx.stream"):
                    yield "Client"
            elif isinstance(node.func, ast.Name):
                yield node.func.id


def _find_imports(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module and not node.level:
            yield node.module
            yield from (f"{node.module}.{alias.name}" for alias in node.names)


def test_no_other_client_is_made() -> None:
    calls_by_file: dict[str, set[str]] = {}
    for path in _files():
        tree = ast.parse(path.read_text())
        name = path.relative_to(ROOT).as_posix()
        assert not MODULES & set(_find_imports(tree)), name
        if calls := CONNECTING & set(_find_calls(tree)):
            calls_by_file[name] = calls
    assert calls_by_file.keys() == CLIENTS.keys(), calls_by_file


def test_the_search_would_find_one() -> None:
    for text in (
        "import httpx\nhttpx.AsyncClient()",
        "from httpx import Client\nClient()",
        "import httpx\nhttpx.get('x')",
        "import socket\nsocket.create_connection(('x', 1))",
        "import asyncio\nasyncio.open_connection('x', 1)",
        "import aiohttp\naiohttp.ClientSession()",
    ):
        assert CONNECTING & set(_find_calls(ast.parse(text))), text
    assert "urllib.request" in set(_find_imports(ast.parse("from urllib import request")))


REPORT = Request(
    "GET", "https://reports.example.com/file.json.gz?signature=x", is_signed=False, response_format="bytes"
)
"""A network names such a link for a finished report: it lies anywhere, and carries no credentials."""


async def _at_once(seconds: float) -> None:
    """Nobody waits between tries."""


async def test_a_link_of_a_network_is_guarded(monkeypatch: pytest.MonkeyPatch) -> None:
    names = Names()

    async def fetch_with_names(url: str, **more: Any) -> Any:
        return await safe_fetch.fetch_url(url, resolving=names, **more)

    monkeypatch.setattr(transport, "fetch_url", fetch_with_names)
    async with guard_connections(monkeypatch) as door:
        sending = HttpTransport(sleep=_at_once)
        for address in NOT_PUBLIC:
            for names.addresses in ((address,), (PUBLIC[0], address)):
                with pytest.raises(RequestNotSent, match="not public"):
                    await sending.send(REPORT, hosts=("network.example",))
        names.addresses = PUBLIC[:1]
        with pytest.raises((RequestNotSent, ResponseLost)):
            await sending.send(REPORT, hosts=("network.example",))
        assert door.visits == 0
        assert set(door.addresses) == {PUBLIC[0]}


async def test_what_is_signed_goes_nowhere_else(monkeypatch: pytest.MonkeyPatch) -> None:
    async with guard_connections(monkeypatch) as door:
        sending = HttpTransport(sleep=_at_once)
        members: tuple[dict[str, Any], ...] = ({"is_signed": True}, {"kind": "write", "is_signed": False})
        for changed in members:
            request = Request("GET", REPORT.url, **changed)
            with pytest.raises(RequestNotSent, match="not a host of the network"):
                await sending.send(request, hosts=("network.example",))
        assert (door.addresses, door.visits) == ([], 0)
