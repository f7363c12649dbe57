"""The one fetch for every address that is not a network's own: webhook destinations, report downloads, client metadata.

Such an address comes from outside and is checked before and while it is used: https on port 443, a host name (never a
literal address in any spelling), no credentials, no fragment; every IPv4 address behind the name is public; the
connection goes to exactly the address that was checked, while TLS still verifies the name; no redirect is followed;
the answer is bounded in size (after inflating) and in time. Proxies and environment variables are ignored. Each fetch
has a connection that is closed after the answer.

Raises :class:`FetchError`, whose ``reason`` says what happened.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import Awaitable, Callable, Collection, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from functools import lru_cache, partial
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Literal
from urllib.parse import urlsplit

import httpcore
import httpx
from attrs import frozen

from adsunify.errors import AdsunifyError, InvalidInput, invalid_input

from .backend import PROGRESS_EXTENSION, PoolTransport, RequestProgress, describe_error
from .deadline import patient_timeout
from .encoding import read_limited

MAX_URL_LENGTH = 2_000
MAX_HEAD_BYTES = 16 * 1024
"""An answer may have so many bytes beyond the limit of its body."""
MAX_CONCURRENT_LOOKUPS = 16
"""The most host names that are looked up at once."""

# Not ipaddress.is_global: on the Pythons we support it calls multicast and a part of 192.0.0.0/24 global.
NON_PUBLIC_NETWORKS = tuple(
    IPv4Network(text)
    for text in (
        "0.0.0.0/8",
        "10.0.0.0/8",
        "100.64.0.0/10",
        "127.0.0.0/8",
        "169.254.0.0/16",
        "172.16.0.0/12",
        "192.0.0.0/24",
        "192.0.2.0/24",
        "192.31.196.0/24",
        "192.52.193.0/24",
        "192.88.99.0/24",
        "192.168.0.0/16",
        "192.175.48.0/24",
        "198.18.0.0/15",
        "198.51.100.0/24",
        "203.0.113.0/24",
        "224.0.0.0/4",
        "240.0.0.0/4",
    )
)

_LABEL_PATTERN = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter: that leaves out every spelling of an IPv4 address (127.1, 0x7f.1, 2130706433).
_URL_PATTERN = re.compile(
    rf"https://(?P<host>(?:{_LABEL_PATTERN}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?)(?::443)?(?P<target>[/?][!-~]*)?",
    re.I | re.ASCII,  # else two letters that are no ASCII match those they resemble
)

HTTP_ERRORS = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
"""What a request over httpcore may raise."""
FetchErrorReason = Literal["refused", "unresolved", "unreachable", "timeout", "lost", "too_large"]
Resolver = Callable[[str], Awaitable[Sequence[str]]]


class FetchError(AdsunifyError):
    """The address was not fetched. ``reason`` "refused": it, or an address behind it, is not allowed."""

    status = 400
    default_code = "fetch_failed"
    title = "The address could not be fetched"

    def __init__(self, reason: FetchErrorReason, message: str) -> None:
        super().__init__(message, code=f"fetch_{reason}", outcome="unknown" if reason == "lost" else "not_applied")
        self.reason = reason


@frozen
class FetchUrl:
    """An address taken apart: ``host`` in lower case, ``target`` (path and query) as it was written."""

    scheme: str
    host: str
    port: int
    target: str
    is_guarded: bool = True


@frozen
class FetchResponse:
    """What came back: header names in lower case; ``is_truncated`` where ``content`` is not all of the answer."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    is_truncated: bool = False


def parse_public_url(url: str, exempt: Collection[str] = (), path: str = "url") -> FetchUrl:
    """An address that may be fetched; InvalidInput (issue at ``path``) where it may not.

    ``exempt``: exactly these addresses are allowed whatever they are (set-ups for development).
    """
    if url in exempt:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return FetchUrl(parts.scheme, parts.hostname or "", port, target, is_guarded=False)
    match = _URL_PATTERN.fullmatch(url) if len(url) <= MAX_URL_LENGTH else None
    if match is None or "#" in url or "\\" in url or len(match["host"]) > 253:
        raise invalid_input(
            path,
            "destination_refused",
            "Only https on port 443 to a public host name is accepted: no other port, no IP address, no user name, "
            f"no fragment, at most {MAX_URL_LENGTH} characters.",
        )
    target = match["target"] or "/"
    return FetchUrl("https", match["host"].lower(), 443, target if target[0] == "/" else "/" + target)


def is_public_ipv4(address: str) -> bool:
    """Whether this is a public IPv4 address, in its one proper spelling."""
    try:
        number = IPv4Address(address)
    except AddressValueError:
        return False
    return not any(number in network for network in NON_PUBLIC_NETWORKS)


@lru_cache(1)
def _get_lookup_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_CONCURRENT_LOOKUPS, thread_name_prefix="lookup")


async def resolve_host(host: str) -> Sequence[str]:
    """Return the IPv4 addresses behind a host name.

    A look-up blocks a thread until the name's own server answers. These threads are apart from those of the event loop,
    so that names from outside delay neither requests to networks nor other work.
    """
    look_up = partial(socket.getaddrinfo, host, 443, family=socket.AF_INET, type=socket.SOCK_STREAM)
    infos = await asyncio.get_running_loop().run_in_executor(_get_lookup_executor(), look_up)
    return [str(info[4][0]) for info in infos]


async def resolve_public_address(host: str, resolving: Resolver = resolve_host) -> str:
    """One address behind the name, when all of them are public; FetchError otherwise."""
    try:
        addresses = list(await resolving(host))
    except (OSError, UnicodeError):
        raise FetchError("unresolved", f"{host} has no address.") from None
    if not addresses:
        raise FetchError("unresolved", f"{host} has no IPv4 address.")
    if not all(is_public_ipv4(address) for address in addresses):
        raise FetchError("refused", f"{host} leads to an address that is not public.")
    return addresses[0]


@lru_cache(1)
def _get_ssl_context() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


async def fetch_url(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    timeout: float = 30.0,
    limit: int = 1024 * 1024,
    cut: bool = False,
    exempt: Collection[str] = (),
    resolving: Resolver = resolve_host,
    tls: ssl.SSLContext | None = None,
) -> FetchResponse:
    """Fetch an address from outside, once, within ``timeout`` seconds in all; raises FetchError.

    An answer of more than ``limit`` bytes is an error, or with ``cut`` is cut there. With ``cut`` the status counts
    whatever becomes of the body: it is empty where it ends early, takes too long, or is not what its encoding says.
    A redirect is returned as it is.
    """
    try:
        where = parse_public_url(url, exempt)
    except InvalidInput as problem:
        raise FetchError("refused", problem.issues[0].message) from None
    progress = RequestProgress()
    try:
        async with patient_timeout(asyncio.get_running_loop().time() + timeout):
            address = await resolve_public_address(where.host, resolving) if where.is_guarded else None
            request = _build_request(where, method, headers or {}, content, progress)
            over = PoolTransport(tls or _get_ssl_context(), address=address, room=limit + MAX_HEAD_BYTES)
            try:
                return await _send_request(over, request, progress, limit, cut)
            finally:
                with suppress(OSError, httpcore.NetworkError):
                    await over.aclose()
    except (TimeoutError, *HTTP_ERRORS, zlib.error) as problem:
        if cut and progress.status is not None:
            return FetchResponse(progress.status, progress.headers, b"", is_truncated=True)
        raise _make_fetch_error(where.host, problem, progress, timeout) from problem


def _build_request(
    where: FetchUrl, method: str, more: Mapping[str, str], content: bytes | None, progress: RequestProgress
) -> httpx.Request:
    """The request; raises FetchError where it cannot be written."""
    default_port = (where.scheme, where.port) in (("https", 443), ("http", 80))
    name = f"[{where.host}]" if ":" in where.host else where.host
    host = name if default_port else f"{name}:{where.port}"
    url = f"{where.scheme}://{host}"
    given_names = {name.lower() for name in more}
    default = {"Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": "adsunify"}
    headers = {name: value for name, value in default.items() if name.lower() not in given_names} | dict(more)
    extensions = {"target": where.target.encode("ascii"), PROGRESS_EXTENSION: progress}
    try:
        return httpx.Request(method, url, headers=headers, content=content, extensions=extensions)
    except (ValueError, httpx.InvalidURL):
        raise FetchError("refused", f"A request to {where.host} cannot be written.") from None


async def _send_request(
    over: PoolTransport, request: httpx.Request, progress: RequestProgress, limit: int, cut: bool
) -> FetchResponse:
    response = await over.handle_async_request(request)
    progress.status, progress.headers = response.status_code, dict(response.headers.items())
    content, whole = await read_limited(response, limit)
    if not whole and not cut:
        raise FetchError("too_large", f"The answer of {request.url.host} is larger than {limit} bytes.")
    return FetchResponse(response.status_code, progress.headers, bytes(content), not whole)


def _make_fetch_error(host: str, problem: Exception, progress: RequestProgress, timeout: float) -> FetchError:
    """The error that a failed fetch raises."""
    if isinstance(problem, TimeoutError):
        return FetchError("timeout", f"{host} did not answer within {timeout:g} seconds.")
    if isinstance(problem, httpcore.LocalProtocolError):
        return FetchError("refused", f"A request to {host} cannot be written.")
    if isinstance(problem, zlib.error):
        return FetchError("lost", f"The answer of {host} is not what its encoding says.")
    if progress.state == "connecting":
        return FetchError("unreachable", f"{host} cannot be reached: {describe_error(problem)}")
    return FetchError("lost", f"The connection to {host} was lost.")
