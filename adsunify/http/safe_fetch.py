"""Fetches addresses that come from outside: webhook destinations, report downloads, client metadata.

The address must be https on port 443 with a host name, without credentials and fragment. IP addresses are refused in
every spelling. Every IPv4 address of the name must be public. The connection goes to exactly the address that was
checked, and TLS verifies the name. Redirects are not followed. The response is limited in size (after decompression)
and in time. Environment variables are ignored. Each fetch has its own connection.

A proxy of the deployment connects to the checked address and not to the name, because a proxy would look the name up
again and could reach another address. Exempt addresses do not use the proxy.

All functions that fetch raise :class:`FetchError`; its ``reason`` is for programs.
"""

from __future__ import annotations

import asyncio
import re
import socket
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
from .egress import Egress
from .encoding import read_limited

MAX_URL_LENGTH = 2_000
MAX_HEAD_BYTES = 16 * 1024
"""How many bytes a response may have beyond the limit of its body."""
MAX_CONCURRENT_LOOKUPS = 16
"""The maximum number of host names that are looked up at once."""

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
# The last label begins with a letter, which excludes every spelling of an IPv4 address (127.1, 0x7f.1, 2130706433).
_URL_PATTERN = re.compile(
    rf"https://(?P<host>(?:{_LABEL_PATTERN}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?)(?::443)?(?P<target>[/?][!-~]*)?",
    re.I | re.ASCII,  # without re.ASCII two non-ASCII letters match "k" and "s"
)

HTTP_ERRORS = (httpcore.NetworkError, httpcore.ProtocolError, httpcore.TimeoutException)
"""The exceptions of a request over httpcore."""
FetchErrorReason = Literal["refused", "unresolved", "unreachable", "timeout", "lost", "too_large"]
Resolver = Callable[[str], Awaitable[Sequence[str]]]


class FetchError(AdsunifyError):
    """The address was not fetched.

    If ``reason`` is "refused", the address or an IP address of its host is not allowed.
    """

    status = 400
    default_code = "fetch_failed"
    title = "The address could not be fetched"

    def __init__(self, reason: FetchErrorReason, message: str) -> None:
        super().__init__(message, code=f"fetch_{reason}", outcome="unknown" if reason == "lost" else "not_applied")
        self.reason = reason


@frozen
class FetchUrl:
    """A parsed address: ``host`` in lower case, ``target`` (path and query) as written.

    ``is_guarded`` is False for an exempt address, whose host is not checked.
    """

    scheme: str
    host: str
    port: int
    target: str
    is_guarded: bool = True


@frozen
class FetchResponse:
    """The response: header names are in lower case; ``is_truncated`` if ``content`` is not the whole body."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    is_truncated: bool = False


def parse_public_url(url: str, exempt: Collection[str] = (), path: str = "url") -> FetchUrl:
    """Parse an address and check that it may be fetched.

    ``exempt`` lists addresses that are allowed without a check, for development. ``path`` is the member that the issue
    names.

    Raises:
        InvalidInput: ``destination_refused``.
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
    """Whether the text is a public IPv4 address in its standard spelling."""
    try:
        number = IPv4Address(address)
    except AddressValueError:
        return False
    return not any(number in network for network in NON_PUBLIC_NETWORKS)


@lru_cache(1)
def _get_lookup_executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(MAX_CONCURRENT_LOOKUPS, thread_name_prefix="lookup")


async def resolve_host(host: str) -> Sequence[str]:
    """Return the IPv4 addresses of a host name.

    A look-up blocks a thread until the name server answers. The look-ups have their own threads, so that host names
    from outside do not delay requests to networks and other work.
    """
    look_up = partial(socket.getaddrinfo, host, 443, family=socket.AF_INET, type=socket.SOCK_STREAM)
    infos = await asyncio.get_running_loop().run_in_executor(_get_lookup_executor(), look_up)
    return [str(info[4][0]) for info in infos]


async def resolve_public_address(host: str, resolving: Resolver = resolve_host) -> str:
    """Return an address of the host if all its addresses are public.

    Raises:
        FetchError: the host has no address ("unresolved"), or one that is not public ("refused").
    """
    try:
        addresses = list(await resolving(host))
    except (OSError, UnicodeError):
        raise FetchError("unresolved", f"{host} has no address.") from None
    if not addresses:
        raise FetchError("unresolved", f"{host} has no IPv4 address.")
    if not all(is_public_ipv4(address) for address in addresses):
        raise FetchError("refused", f"{host} has an address that is not public.")
    return addresses[0]


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
    egress: Egress | None = None,
) -> FetchResponse:
    """Fetch an address from outside, once. A redirect is returned and not followed.

    Args:
        url: the address.
        method: the HTTP method.
        headers: headers of the request, which replace the defaults.
        content: the body of the request.
        timeout: the maximum time in seconds, from the look-up to the last byte.
        limit: the maximum size of the decompressed body in bytes. A larger body is an error, or is cut if ``cut``.
        cut: return the status even if the body ends early, takes too long or does not match its encoding. The body is
            empty then.
        exempt: addresses that are allowed without a check, for development.
        resolving: looks up a host name.
        egress: the TLS settings and the proxy.

    Raises:
        FetchError: the address is not allowed, or the fetch failed.
    """
    try:
        where = parse_public_url(url, exempt)
    except InvalidInput as problem:
        raise FetchError("refused", problem.issues[0].message) from None
    way = egress or Egress()
    if not where.is_guarded:
        way = way.without_proxy()
    progress = RequestProgress()
    try:
        async with patient_timeout(asyncio.get_running_loop().time() + timeout):
            address = await resolve_public_address(where.host, resolving) if where.is_guarded else None
            request = _build_request(where, method, headers or {}, content, progress)
            over = PoolTransport(way, address=address, room=limit + MAX_HEAD_BYTES)
            try:
                return await _send_request(over, request, progress, limit, cut)
            finally:
                with suppress(OSError, httpcore.NetworkError):
                    await over.aclose()
    except (TimeoutError, *HTTP_ERRORS, zlib.error) as problem:
        if cut and progress.status is not None:
            return FetchResponse(progress.status, progress.headers, b"", is_truncated=True)
        raise _make_fetch_error(where.host + way.via, problem, progress, timeout) from problem


def _build_request(
    where: FetchUrl, method: str, given_headers: Mapping[str, str], content: bytes | None, progress: RequestProgress
) -> httpx.Request:
    """Build the request. Raises FetchError if a part of it has characters that are not allowed."""
    default_port = (where.scheme, where.port) in (("https", 443), ("http", 80))
    name = f"[{where.host}]" if ":" in where.host else where.host
    host = name if default_port else f"{name}:{where.port}"
    url = f"{where.scheme}://{host}"
    given_names = {name.lower() for name in given_headers}
    default = {"Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": "adsunify"}
    headers = {name: value for name, value in default.items() if name.lower() not in given_names} | dict(given_headers)
    extensions = {"target": where.target.encode("ascii"), PROGRESS_EXTENSION: progress}
    try:
        return httpx.Request(method, url, headers=headers, content=content, extensions=extensions)
    except (ValueError, httpx.InvalidURL):
        raise FetchError("refused", f"The request to {where.host} has characters that are not allowed.") from None


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
    """Make the error of a failed fetch."""
    if isinstance(problem, TimeoutError):
        return FetchError("timeout", f"{host} did not answer within {timeout:g} seconds.")
    if isinstance(problem, httpcore.LocalProtocolError):
        return FetchError("refused", f"The request to {host} has characters that are not allowed.")
    if isinstance(problem, zlib.error):
        return FetchError("lost", f"The answer of {host} does not match its content encoding.")
    if progress.state == "connecting":
        return FetchError("unreachable", f"{host} cannot be reached: {describe_error(problem)}")
    return FetchError("lost", f"The connection to {host} was lost.")
