"""Sends requests to the networks over HTTP, and says exactly what is known of each.

A ``read`` is repeated (connection lost, 5xx, 429 with a short ``Retry-After``), a few times, within its time; each try
is signed anew. A ``read_once`` or a ``write`` leaves at most once: RequestNotSent means that not one byte of it left,
ResponseLost means anything else. Redirects are not followed, nothing is taken from the environment, answers are bounded
in size (after inflating) and in time. Credentials go only to the hosts that a network declares; unsigned requests to
other hosts go through :mod:`adsunify.http.safe_fetch`.
"""

from __future__ import annotations

import asyncio
import re
import ssl
import time
import zlib
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from urllib.parse import urlsplit

import httpcore
import httpx
from attrs import frozen
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result, stop_after_attempt
from tenacity.stop import stop_before_delay
from tenacity.wait import wait_random_exponential

from adsunify.errors import RequestNotSent, ResponseLost, refused
from adsunify.http.messages import MAX_ANSWER_BYTES, Request, Response, filled

from .backend import CONNECT_SECONDS, PROGRESS, PoolTransport, Progress, describe
from .deadline import patient_timeout
from .encoding import encode_body, read_limited
from .retry_after import parse_retry_after
from .safe_fetch import FetchError, fetch

Sign = Callable[[Request], Request]

SECONDS = 60.0
"""How long one request may take in all, repeats included."""
MAX_WRITE_ANSWER_BYTES = 1024 * 1024
"""Answers to writes are small; a long one is nothing that a receipt could be read from."""
READ_TRIES = 3
LONGEST_RETRY_AFTER = 10.0
"""Seconds: a read that is asked to wait longer is answered as it stands."""
CONNECTIONS = 100
"""So many requests are in flight at once; more wait for their turn."""


class HttpTransport:
    """Sends requests to networks. It holds no connection between requests, except those of a :meth:`pool`.

    ``sandbox_url``: every ``https://HOST/path`` goes to ``<sandbox_url>/HOST/path``; InvalidInput unless loopback.
    """

    def __init__(
        self,
        sandbox_url: str | None = None,
        *,
        tls: ssl.SSLContext | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sandbox = None if sandbox_url is None else _loopback(sandbox_url)
        self._sleep = sleep
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._free = asyncio.Semaphore(CONNECTIONS)

    def pool(self) -> PoolTransport:
        """Connections for the reads of one flow, to be closed with it: ``async with transport.pool() as pool``."""
        return PoolTransport(self._tls)

    async def send(
        self,
        request: Request,
        *,
        hosts: Collection[str],
        timeout: float = SECONDS,
        sign: Sign | None = None,
        check: Callable[[], None] | None = None,
        pool: PoolTransport | None = None,
    ) -> Response:
        """Send a request and return its answer, whatever its status. Raises RequestNotSent or ResponseLost.

        ``hosts``: what the network declares. ``timeout``: seconds in all. ``sign`` makes the signed request of each
        try. ``check`` is called right before the first byte of each try leaves, on a connection that is ready; it
        raises RequestNotSent to prevent that. ``pool``: reads use its connections. Every other request has a connection
        made for it and closed after its answer, so that no late answer to another request can be taken for its own.
        """
        deadline = asyncio.get_running_loop().time() + timeout

        async def send_once() -> Response:
            message = _message(request if sign is None else sign(request), hosts, self._sandbox)
            if message.foreign:
                return await _fetch(message, deadline)
            async with self._slot(message.host, deadline):
                return await self._exchange(message, deadline, Progress() if check is None else Progress(check), pool)

        if request.nature != "read":
            return await send_once()
        repeating = AsyncRetrying(
            stop=stop_after_attempt(READ_TRIES) | stop_before_delay(timeout),
            wait=_pause,
            retry=retry_if_exception(_repeatable) | retry_if_result(_busy),
            sleep=self._sleep,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        response: Response = await repeating(send_once)
        return response

    @asynccontextmanager
    async def _slot(self, host: str, deadline: float) -> AsyncIterator[None]:
        """One of the :data:`CONNECTIONS` that may be open at once. Raises RequestNotSent where none becomes free."""
        latest = asyncio.get_running_loop().time() + CONNECT_SECONDS
        try:
            async with asyncio.timeout_at(min(deadline, latest)):
                await self._free.acquire()
        except TimeoutError:
            raise RequestNotSent(f"{host} cannot be reached: all {CONNECTIONS} connections are in use.") from None
        try:
            yield
        finally:
            self._free.release()

    async def _exchange(
        self, message: _Message, deadline: float, progress: Progress, pool: PoolTransport | None
    ) -> Response:
        """Send a message once, over a pool if it is a read."""
        extensions = {"target": message.target, PROGRESS: progress}
        try:
            asked = httpx.Request(
                message.method, message.origin, headers=message.headers, content=message.content, extensions=extensions
            )
        except (ValueError, httpx.InvalidURL):
            raise _unsendable(f"{message.host}: the request cannot be written.") from None
        pooled = pool if message.request.nature == "read" else None
        over = pooled or PoolTransport(self._tls)
        response: httpx.Response | None = None
        try:
            async with patient_timeout(deadline):
                response = await over.handle_async_request(asked)
                return await _receive(response, message, progress)
        except (RequestNotSent, ResponseLost):
            raise
        except zlib.error as problem:
            text = f"{message.host}: the answer is not what its encoding says."
            raise progress.error(text, repeatable=False) from problem
        except Exception as problem:  # whatever else it is, only the progress tells what became of the request
            raise progress.error(f"{message.host}: {describe(problem)}") from problem
        finally:  # outside the timeout: an answer that was read counts, whenever and however the connection ends
            with suppress(OSError, httpcore.NetworkError):
                if pooled is None:
                    await over.aclose()
                elif response is not None:
                    await response.aclose()


async def _receive(response: httpx.Response, message: _Message, progress: Progress) -> Response:
    """Read the body of a response. Raises ResponseLost where it is too long, or where its end may be missing."""
    progress.status, progress.headers = response.status_code, dict(response.headers.items())
    content, whole = await read_limited(response, message.limit)
    if not whole:
        raise progress.error(f"{message.host}: the answer is larger than {message.limit} bytes.", repeatable=False)
    answer = Response.of(progress.status, progress.headers, bytes(content), message.request.answer)
    if answer.state != "json" and not _is_framed(message.method, answer):
        raise progress.error(f"{message.host}: the connection ended, and the answer does not say how long it is.")
    return answer


def _is_framed(method: str, answer: Response) -> bool:
    """Whether the response says where its body ends (RFC 9112, 6.3), so that a part of it is not taken for all."""
    bodiless = method == "HEAD" or answer.status in (204, 304)
    return bodiless or "content-length" in answer.headers or "transfer-encoding" in answer.headers


# -- repeating reads ----------------------------------------------------------------------------------------------


def _repeatable(problem: BaseException) -> bool:
    return isinstance(problem, RequestNotSent | ResponseLost) and problem.repeatable


def _busy(response: Response) -> bool:
    asked = parse_retry_after(response.headers, time.time())
    return (response.status >= 500 or response.status == 429) and (asked is None or asked <= LONGEST_RETRY_AFTER)


_growing = wait_random_exponential(multiplier=0.2, max=2.0)


def _pause(state: RetryCallState) -> float:
    outcome = state.outcome
    if outcome is not None and not outcome.failed:
        asked = parse_retry_after(outcome.result().headers, time.time())
        if asked is not None:
            return asked
    return _growing(state)


# -- from a request to bytes --------------------------------------------------------------------------------------


@frozen
class _Message:
    """A request ready to be sent to ``origin``: the target is written as it is, whatever its length.

    ``foreign``: outside the network's hosts, fetched through the guard.
    """

    request: Request
    method: str
    url: str
    host: str
    headers: Mapping[str, str]
    content: bytes | None
    origin: str
    target: bytes
    limit: int
    foreign: bool


_METHOD = re.compile(r"[A-Z]{3,10}")
_TARGET = re.compile(r"/[!-~]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")  # no blank at an end
_PORTS = {"https": 443, "http": 80}


def _message(request: Request, hosts: Collection[str], sandbox: str | None) -> _Message:
    """The bytes of a request and where they go; raises RequestNotSent where it cannot be sent."""
    try:
        url = filled(request)
        parts = urlsplit(url)
    except ValueError:
        raise _unsendable("The address of the request cannot be written.") from None
    host = parts.netloc
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    declared = host in hosts
    steps = parts.path.split("/")
    if parts.scheme != "https" or not host or parts.fragment or not _TARGET.fullmatch(target):
        raise _unsendable("The address of the request is not an https address.")
    if "." in steps or ".." in steps or "" in request.path.values():
        raise _unsendable(f"{host}: an id in the path of the request is empty or a dot.")
    if not declared and (request.signed or request.nature == "write"):
        raise _unsendable(f"{host} is not a host of the network; only those are written to and receive credentials.")
    try:
        content, content_type = encode_body(request.encoding, request.body)
    except (TypeError, ValueError, AttributeError) as reason:
        raise _unsendable(f"{host}: the body of the request cannot be written: {reason}") from None
    headers = {"accept": "*/*", "accept-encoding": "gzip", "user-agent": "adsunify"}
    if content_type is not None:
        headers["content-type"] = content_type
    headers |= {name.lower(): value for name, value in request.headers.items()}
    if not _METHOD.fullmatch(request.method) or not all(
        _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in headers.items()
    ):
        raise _unsendable(f"{host}: the method or a header of the request cannot be written.")
    if sandbox is not None:
        # after signing: the signature names the real host
        target = f"/{host}{target}"
    return _Message(
        request,
        request.method,
        url,
        host,
        headers,
        content,
        sandbox or f"https://{host}",
        target.encode("ascii"),
        MAX_WRITE_ANSWER_BYTES if request.nature == "write" else MAX_ANSWER_BYTES,
        not declared and sandbox is None,
    )


def _unsendable(message: str) -> RequestNotSent:
    """The error for a request that no try could send."""
    return RequestNotSent(message, repeatable=False)


async def _fetch(message: _Message, deadline: float) -> Response:
    """A download from elsewhere, through the guard."""
    remaining = max(0.0, deadline - asyncio.get_running_loop().time())
    try:
        found = await fetch(
            message.url,
            method=message.method,
            headers=message.headers,
            content=message.content,
            timeout=remaining,
            limit=message.limit,
        )
    except FetchError as problem:
        if problem.reason in ("refused", "unresolved", "unreachable"):
            raise RequestNotSent(problem.message) from problem
        raise ResponseLost(problem.message, repeatable=problem.reason != "too_large") from problem
    return Response.of(found.status, found.headers, found.content, message.request.answer)


def _loopback(url: str) -> str:
    """The sandbox's address without its last slash; InvalidInput unless it is loopback."""
    parts = urlsplit(url)
    local = parts.hostname in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", parts.hostname or "")
    if parts.scheme not in _PORTS or not local or parts.username or parts.query or parts.fragment:
        raise refused(
            "sandboxUrl", "sandbox_not_loopback", "The simulated networks are used only at http://127.0.0.1:<port>."
        )
    return url.rstrip("/")
