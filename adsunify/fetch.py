"""The one fetch for every address that is not a network's own: webhook destinations, report downloads, client metadata.

Such an address comes from outside, so it is held against rules before and while it is used: https on port 443, a host
name (never a literal address in any spelling), no credentials, no fragment; every IPv4 address behind the name public;
the connection goes to exactly the address that was checked, while TLS still verifies the name; no redirect is
followed; the answer is bounded in size (after inflating) and in time. No proxy and no environment variable is heeded.

Raises :class:`FetchError`, whose ``reason`` says what happened.
"""

from __future__ import annotations

import asyncio
import re
import socket
import ssl
import zlib
from collections.abc import AsyncIterable, Awaitable, Callable, Collection, Mapping, Sequence
from functools import lru_cache
from ipaddress import AddressValueError, IPv4Address, IPv4Network
from typing import Literal
from urllib.parse import urlsplit

import httpx
from attrs import frozen

from .errors import AdsunifyError, InvalidInput, refused
from .exchange import Line, LineLost, Lines
from .messages import Answer, Body

LONGEST_ADDRESS = 2_000
CONNECT_SECONDS = 10.0

# Not ipaddress.is_global: on the Pythons we support it calls multicast and a part of 192.0.0.0/24 global.
NOT_PUBLIC = tuple(
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

_LABEL = r"[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?"
# The last label begins with a letter: that leaves out every spelling of an IPv4 address (127.1, 0x7f.1, 2130706433).
_ADDRESS = re.compile(
    rf"https://(?P<host>(?:{_LABEL}\.)+[a-z](?:[a-z0-9-]{{0,61}}[a-z0-9])?)(?::443)?(?P<target>[/?][!-~]*)?",
    re.I | re.ASCII,  # else two letters that are no ASCII match those they resemble
)

Reason = Literal["refused", "unresolved", "unreachable", "timeout", "lost", "too_large"]
Resolve = Callable[[str], Awaitable[Sequence[str]]]


class FetchError(AdsunifyError):
    """The address was not fetched. ``reason`` "refused": it, or an address behind it, is not allowed."""

    status = 400
    default_code = "fetch_failed"
    title = "The address could not be fetched"

    def __init__(self, reason: Reason, message: str) -> None:
        super().__init__(message, code=f"fetch_{reason}", outcome="unknown" if reason == "lost" else "not_applied")
        self.reason = reason


@frozen
class Destination:
    """An address taken apart: ``host`` in lower case, ``target`` (path and query) as it was written."""

    scheme: str
    host: str
    port: int
    target: str
    guarded: bool = True


@frozen
class Fetched:
    """What came back: header names in lower case; ``cut`` where the answer was longer than the limit."""

    status: int
    headers: Mapping[str, str]
    content: bytes
    cut: bool = False


def destination(url: str, exempt: Collection[str] = (), path: str = "url") -> Destination:
    """An address that may be fetched; InvalidInput (issue at ``path``) where it may not.

    ``exempt``: exactly these addresses are allowed whatever they are (set-ups for development).
    """
    if url in exempt:
        parts = urlsplit(url)
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        port = parts.port or (443 if parts.scheme == "https" else 80)
        return Destination(parts.scheme, parts.hostname or "", port, target, guarded=False)
    found = _ADDRESS.fullmatch(url) if len(url) <= LONGEST_ADDRESS else None
    if found is None or "#" in url or "\\" in url or len(found["host"]) > 253:
        raise refused(
            path,
            "destination_refused",
            "Only https on port 443 to a public host name is accepted: no other port, no IP address, no user name, "
            f"no fragment, at most {LONGEST_ADDRESS} characters.",
        )
    target = found["target"] or "/"
    return Destination("https", found["host"].lower(), 443, target if target[0] == "/" else "/" + target)


def public(address: str) -> bool:
    """Whether this is a public IPv4 address, in its one proper spelling."""
    try:
        number = IPv4Address(address)
    except AddressValueError:
        return False
    return not any(number in network for network in NOT_PUBLIC)


async def resolve(host: str) -> Sequence[str]:
    """The IPv4 addresses behind a host name."""
    found = await asyncio.get_running_loop().getaddrinfo(host, 443, family=socket.AF_INET, type=socket.SOCK_STREAM)
    return [str(one[4][0]) for one in found]


async def checked_address(host: str, resolving: Resolve = resolve) -> str:
    """One address behind the name, when all of them are public; FetchError otherwise."""
    try:
        addresses = list(await resolving(host))
    except (OSError, UnicodeError):
        raise FetchError("unresolved", f"{host} has no address.") from None
    if not addresses:
        raise FetchError("unresolved", f"{host} has no IPv4 address.")
    if not all(public(address) for address in addresses):
        raise FetchError("refused", f"{host} leads to an address that is not public.")
    return addresses[0]


@lru_cache(1)
def _verifying() -> ssl.SSLContext:
    return httpx.create_ssl_context(trust_env=False)


async def fetch(
    url: str,
    *,
    method: str = "GET",
    headers: Mapping[str, str] | None = None,
    content: bytes | None = None,
    timeout: float = 30.0,
    limit: int = 1024 * 1024,
    cut: bool = False,
    exempt: Collection[str] = (),
    resolving: Resolve = resolve,
    tls: ssl.SSLContext | None = None,
    lines: Lines | None = None,
) -> Fetched:
    """Fetch an address from outside, once, within ``timeout`` seconds in all; raises FetchError.

    An answer of more than ``limit`` bytes is an error, or with ``cut`` is cut there. A redirect is returned as it is.
    ``lines``: kept connections, for a caller who may be heard twice: where the other side gave one up at the very
    moment, the request goes out again.
    """
    try:
        where = destination(url, exempt)
    except InvalidInput as problem:
        raise FetchError("refused", problem.issues[0].message) from None
    asked = _Asked(method, _headers(where, headers or {}), content, limit)
    try:
        async with asyncio.timeout(timeout):
            answer = await _answered(where, asked, resolving, tls, lines)
    except TimeoutError:
        raise FetchError("timeout", f"{where.host} did not answer within {timeout:g} seconds.") from None
    except zlib.error:
        raise FetchError("lost", f"The answer of {where.host} is not what its encoding says.") from None
    except LineLost as problem:
        raise FetchError("lost", f"The connection to {where.host} was lost.") from problem
    if not answer.whole and not cut:
        raise FetchError("too_large", f"The answer of {where.host} is larger than {limit} bytes.")
    return Fetched(answer.status, answer.headers, answer.content, not answer.whole)


@frozen
class _Asked:
    method: str
    headers: Sequence[tuple[str, str]]
    content: bytes | None
    limit: int


def _headers(where: Destination, more: Mapping[str, str]) -> Sequence[tuple[str, str]]:
    default_port = (where.scheme, where.port) in (("https", 443), ("http", 80))
    host = where.host if default_port else f"{where.host}:{where.port}"
    given = {name.lower() for name in more}
    own = {"Host": host, "Accept": "*/*", "Accept-Encoding": "gzip", "User-Agent": "adsunify"}
    return [*((name, value) for name, value in own.items() if name.lower() not in given), *more.items()]


async def _answered(
    where: Destination, asked: _Asked, resolving: Resolve, tls: ssl.SSLContext | None, lines: Lines | None
) -> Answer:
    place = (where.scheme, where.host, where.port)
    while lines is not None and (line := lines.take(place)) is not None:
        try:
            return await _over(line, where, asked, lines)
        except LineLost as problem:
            if problem.heard:
                raise
            # the other side had closed it meanwhile; whoever keeps connections may be heard twice
    return await _over(await _opened(where, resolving, tls), where, asked, lines)


async def _opened(where: Destination, resolving: Resolve, tls: ssl.SSLContext | None) -> Line:
    """A connection to exactly the address that was checked."""
    address = await checked_address(where.host, resolving) if where.guarded else where.host
    verifying = (tls or _verifying()) if where.scheme == "https" else None
    try:
        async with asyncio.timeout(CONNECT_SECONDS):
            return await Line.opened(address, where.port, where.host, verifying)
    except (OSError, ssl.SSLError) as problem:  # a TimeoutError is an OSError
        reason = str(problem) or "it took too long"
        raise FetchError("unreachable", f"{where.host} cannot be reached: {reason}") from problem


async def _over(line: Line, where: Destination, asked: _Asked, lines: Lines | None) -> Answer:
    try:
        answer = await line.ask(asked.method, where.target, asked.headers, asked.content, asked.limit)
    except ValueError:
        raise FetchError("refused", f"A request to {where.host} cannot be written.") from None
    finally:
        if lines is None:
            line.close()
        else:
            lines.keep((where.scheme, where.host, where.port), line)
    return answer


async def bounded(response: httpx.Response, limit: int) -> tuple[bytearray, bool]:
    """The body of an answer of httpx, inflated, at most ``limit`` bytes of it; and whether that is all of it.

    Raises zlib.error where the body is not what its Content-Encoding says, or ends too early.
    """
    stream = response.stream
    assert isinstance(stream, AsyncIterable)
    body = Body(response.headers.get("content-encoding", "identity"), limit)
    async for chunk in stream:
        if not body.append(chunk):
            return body.content, False
    body.end()
    return body.content, True
