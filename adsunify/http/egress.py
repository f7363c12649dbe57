"""The settings of connections to other servers: the trusted authorities, and the proxy of the deployment.

A proxy gets ``CONNECT`` for each connection, and TLS with the server runs inside the tunnel. The tunnel is complete
before httpcore sees the connection, so a failure of the proxy happens while the request is still connecting.

Nothing is read from the environment here. Errors name the proxy without its user name and password.
"""

from __future__ import annotations

import asyncio
import base64
import re
import ssl
from collections.abc import Iterable, Mapping
from functools import lru_cache
from os import PathLike
from typing import Any
from urllib.parse import unquote, urlsplit

import httpcore
import httpx
from attrs import evolve, field, frozen

from adsunify.errors import invalid_input

EGRESS_PROXY_VARIABLE = "ADSUNIFY_EGRESS_PROXY"
CA_FILE_VARIABLE = "ADSUNIFY_CA_FILE"
DEFAULT_PORTS = {"http": 80, "https": 443}
CONNECT_SECONDS = 10.0
"""The maximum time to connect through a proxy if the caller gives no time."""
_HOST_PATTERN = re.compile(r"[0-9A-Za-z._-]+|[0-9A-Fa-f:.]+")
_CONTROL_PATTERN = re.compile(r"[\x00-\x1f\x7f]")


@frozen
class Proxy:
    """A proxy that accepts ``CONNECT``. ``authorization``: the value of Proxy-Authorization, None without a user."""

    scheme: str
    host: str
    port: int
    authorization: bytes | None = field(default=None, repr=False)

    def __str__(self) -> str:
        """Return the address without user name and password."""
        return f"{self.scheme}://{_join_host(self.host, self.port)}"


def parse_proxy(text: str, path: str) -> Proxy:
    """Parse the address of a proxy, such as ``http://user:password@proxy.example:3128``.

    ``path`` is the setting that the issue names. The issue does not repeat the address, which may hold a password.

    Raises:
        InvalidInput: ``malformed``.
    """
    refusal = invalid_input(
        path,
        "malformed",
        "must be the http or https address of a proxy, such as http://proxy.example:3128, without a path. Its user "
        "name and password come before the host (http://user:password@proxy.example:3128), with special characters "
        "percent-encoded (%40 for @).",
    )
    if not isinstance(text, str) or not text.isascii() or not text.isprintable() or " " in text:
        raise refusal
    try:
        parts = urlsplit(text)
        host, port = parts.hostname or "", parts.port
    except ValueError:
        raise refusal from None
    user, password = unquote(parts.username or ""), unquote(parts.password or "")
    is_extended = parts.path not in ("", "/") or parts.query or parts.fragment or "?" in text or "#" in text
    is_usable = parts.scheme in DEFAULT_PORTS and _HOST_PATTERN.fullmatch(host) and port != 0
    if is_extended or not is_usable or ":" in user or _CONTROL_PATTERN.search(user + password):
        raise refusal
    authorization = None
    if parts.username is not None:
        authorization = b"Basic " + base64.b64encode(f"{user}:{password}".encode())
    return Proxy(parts.scheme, host, port or DEFAULT_PORTS[parts.scheme], authorization)


def make_tls_context(ca_file: str | PathLike[str] | None = None, path: str = "ca_file") -> ssl.SSLContext:
    """Make the TLS settings: the authorities of certifi, and those of ``ca_file``, certificates in PEM.

    ``path`` is the setting that the issue names.

    Raises:
        InvalidInput: the file cannot be read, or holds no certificate.
    """
    context = httpx.create_ssl_context(trust_env=False)
    if ca_file is None:
        return context
    try:
        context.load_verify_locations(cafile=ca_file)
    except ssl.SSLError:
        raise invalid_input(path, "malformed", f"{ca_file} holds no certificate in PEM.") from None
    except (OSError, TypeError, ValueError) as problem:
        reason = getattr(problem, "strerror", None) or str(problem)
        raise invalid_input(path, "unreadable", f"{ca_file} cannot be read: {reason}.") from None
    return context


@lru_cache(1)
def _get_default_tls() -> ssl.SSLContext:
    return make_tls_context()


@frozen
class Egress:
    """The settings of connections to other servers. ``proxy``: None connects directly."""

    tls: ssl.SSLContext = field(factory=_get_default_tls)
    proxy: Proxy | None = None

    def without_proxy(self) -> Egress:
        """Return the same authorities with direct connections, for servers on this machine."""
        return evolve(self, proxy=None)

    def make_sockets(self) -> httpcore.AsyncNetworkBackend:
        """Make the backend that opens the connections."""
        return httpcore.AnyIOBackend() if self.proxy is None else TunnelBackend(self.proxy, self.tls)

    @property
    def via(self) -> str:
        """The text that error messages add to the name of a host."""
        return "" if self.proxy is None else f" (through the proxy {self.proxy})"


def read_egress(environment: Mapping[str, str]) -> Egress:
    """Read the proxy and the additional authorities of a deployment from its settings. Raises InvalidInput."""
    proxy, ca_file = environment.get(EGRESS_PROXY_VARIABLE), environment.get(CA_FILE_VARIABLE)
    return Egress(
        make_tls_context(ca_file, CA_FILE_VARIABLE) if ca_file else _get_default_tls(),
        parse_proxy(proxy, EGRESS_PROXY_VARIABLE) if proxy else None,
    )


class TunnelBackend(httpcore.AsyncNetworkBackend):
    """Opens connections through a proxy. Every failure is an ``httpcore.ConnectError`` that names the proxy."""

    def __init__(self, proxy: Proxy, tls: ssl.SSLContext) -> None:
        self._proxy = proxy
        self._tls = tls
        self._sockets = httpcore.AnyIOBackend()

    async def connect_tcp(
        self,
        host: str,
        port: int,
        timeout: float | None = None,
        local_address: str | None = None,
        socket_options: Iterable[Any] | None = None,
    ) -> httpcore.AsyncNetworkStream:
        """Request a connection to ``host``, which may be an IP address, from the proxy."""
        seconds = CONNECT_SECONDS if timeout is None else timeout
        target = _join_host(host, port)
        try:
            async with asyncio.timeout(seconds):
                return await self._open_tunnel(target, local_address, socket_options)
        except TimeoutError as problem:
            text = f"the proxy {self._proxy} did not connect to {target} within {seconds:g} seconds"
            raise httpcore.ConnectError(text) from problem

    async def _open_tunnel(
        self, target: str, local_address: str | None, socket_options: Iterable[Any] | None
    ) -> httpcore.AsyncNetworkStream:
        proxy = self._proxy
        try:
            stream = await self._sockets.connect_tcp(proxy.host, proxy.port, None, local_address, socket_options)
        except httpcore.NetworkError as problem:
            raise httpcore.ConnectError(f"the proxy {proxy} cannot be reached: {_describe(problem)}") from problem
        try:
            if proxy.scheme == "https":
                stream = await self._start_proxy_tls(stream)
            return await self._request_tunnel(stream, target)
        except BaseException:
            await stream.aclose()
            raise

    async def _start_proxy_tls(self, stream: httpcore.AsyncNetworkStream) -> httpcore.AsyncNetworkStream:
        try:
            return await stream.start_tls(self._tls, self._proxy.host)
        except httpcore.NetworkError as problem:
            text = f"TLS with the proxy {self._proxy} failed: {_describe(problem)}"
            raise httpcore.ConnectError(text) from problem

    async def _request_tunnel(self, stream: httpcore.AsyncNetworkStream, target: str) -> httpcore.AsyncNetworkStream:
        """Send ``CONNECT`` and read the head of the response."""
        proxy = self._proxy
        url = httpcore.URL(scheme=proxy.scheme, host=proxy.host, port=proxy.port, target=target)
        headers = [(b"Host", target.encode("ascii")), (b"User-Agent", b"adsunify")]
        if proxy.authorization is not None:
            headers.append((b"Proxy-Authorization", proxy.authorization))
        connection = httpcore.AsyncHTTP11Connection(url.origin, stream)
        try:
            response = await connection.handle_async_request(httpcore.Request("CONNECT", url, headers=headers))
        except (httpcore.NetworkError, httpcore.ProtocolError, ssl.SSLError) as problem:
            text = f"the proxy {proxy} did not answer CONNECT {target}: {_describe(problem)}"
            raise httpcore.ConnectError(text) from problem
        if 200 <= response.status <= 299:
            return TunnelStream(response.extensions["network_stream"], proxy, target)
        raise httpcore.ConnectError(f"the proxy {proxy} refused CONNECT {target} with status {response.status}")


class TunnelStream(httpcore.AsyncNetworkStream):
    """A connection through a proxy, before TLS with the server."""

    def __init__(self, stream: httpcore.AsyncNetworkStream, proxy: Proxy, target: str) -> None:
        self._stream = stream
        self._proxy = proxy
        self._target = target

    async def read(self, max_bytes: int, timeout: float | None = None) -> bytes:
        """Read from the tunnel."""
        return await self._stream.read(max_bytes, timeout)

    async def write(self, buffer: bytes, timeout: float | None = None) -> None:
        """Write to the tunnel."""
        await self._stream.write(buffer, timeout)

    async def aclose(self) -> None:
        """Close the connection to the proxy."""
        await self._stream.aclose()

    async def start_tls(
        self, ssl_context: ssl.SSLContext, server_hostname: str | None = None, timeout: float | None = None
    ) -> httpcore.AsyncNetworkStream:
        """Start TLS with the server inside the tunnel."""
        try:
            return await self._stream.start_tls(ssl_context, server_hostname, timeout)
        except (httpcore.NetworkError, httpcore.TimeoutException) as problem:
            text = f"TLS with {server_hostname} through the proxy {self._proxy} failed: {_describe(problem)}"
            if isinstance(problem.__cause__, ssl.SSLCertVerificationError):
                text += ". The authority of a proxy that inspects TLS must be trusted (ADSUNIFY_CA_FILE, ca_file)"
            raise httpcore.ConnectError(text) from problem

    def get_extra_info(self, info: str) -> Any:
        """Return the value of ``info`` of the underlying stream."""
        return self._stream.get_extra_info(info)


def is_loopback_url(url: str) -> bool:
    """Whether the address is on this machine, so that no proxy can reach it."""
    try:
        host = urlsplit(url).hostname or ""
    except ValueError:
        return False
    return host in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", host) is not None


def _join_host(host: str, port: int) -> str:
    return f"[{host}]:{port}" if ":" in host else f"{host}:{port}"


def _describe(problem: Exception) -> str:
    if isinstance(problem, httpcore.TimeoutException):
        return "it took too long"
    return str(problem) or type(problem.__cause__ or problem).__name__
