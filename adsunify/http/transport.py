"""Sends requests to the networks over HTTP and reports whether each one was sent.

A ``read`` is repeated a few times within its timeout, after a lost connection, a 5xx, or a 429 with a short
``Retry-After``. Each attempt gets a new signature. A ``read_once`` or a ``write`` is sent at most once: RequestNotSent
means that no byte of it was sent; every other failure is ResponseLost.

Redirects are not followed, and no settings are read from the environment: the caller gives the proxy and the TLS
settings. Responses are limited in size (after
decompression) and in time. Credentials go only to the hosts that a network declares. Unsigned requests to other hosts
go through :mod:`adsunify.http.safe_fetch`.
"""

from __future__ import annotations

import asyncio
import re
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

from adsunify.errors import RequestNotSent, ResponseLost, invalid_input
from adsunify.http.messages import MAX_RESPONSE_BYTES, Request, Response, build_request_url

from .backend import CONNECT_TIMEOUT_SECONDS, PROGRESS_EXTENSION, PoolTransport, RequestProgress, describe_error
from .deadline import patient_timeout
from .egress import DEFAULT_PORTS, Egress, is_loopback_url
from .encoding import encode_body, read_limited
from .retry_after import parse_retry_after
from .safe_fetch import FetchError, fetch_url

Signer = Callable[[Request], Request]

TIMEOUT_SECONDS = 60.0
"""The maximum time of one request, with its repetitions."""
MAX_WRITE_RESPONSE_BYTES = 1024 * 1024
"""The maximum size of the response to a write. Networks answer writes with little data."""
MAX_READ_TRIES = 3
MAX_RETRY_AFTER_SECONDS = 10.0
"""If the network asks to wait longer, a read is not repeated."""
MAX_CONNECTIONS = 100
"""The maximum number of requests in flight; further requests wait."""


class HttpTransport:
    """Sends requests to networks. It keeps no connection between requests, except those of :meth:`open_pool`.

    Args:
        sandbox_url: a loopback address. Every ``https://HOST/path`` is sent to ``<sandbox_url>/HOST/path``.
        egress: the TLS settings and the proxy. Requests to a sandbox do not use the proxy.
        sleep: waits between the attempts of a read.

    Raises:
        InvalidInput: ``sandbox_url`` is not a loopback address.
    """

    def __init__(
        self,
        sandbox_url: str | None = None,
        *,
        egress: Egress | None = None,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        self._sandbox_url = None if sandbox_url is None else _parse_loopback_url(sandbox_url)
        self._sleep = sleep
        self.egress = egress or Egress()
        self._network_egress = self.egress if sandbox_url is None else self.egress.without_proxy()
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)

    def open_pool(self) -> PoolTransport:
        """Open a pool of connections for the reads of one flow: ``async with transport.open_pool() as pool``."""
        return PoolTransport(self._network_egress)

    async def send(
        self,
        request: Request,
        *,
        hosts: Collection[str],
        timeout: float = TIMEOUT_SECONDS,
        sign: Signer | None = None,
        check: Callable[[], None] | None = None,
        pool: PoolTransport | None = None,
    ) -> Response:
        """Send a request and return its response, whatever its status.

        A request other than a read has its own connection, which is closed after the response. So a late response to
        another request cannot be mistaken for its response.

        Args:
            request: the request, not signed.
            hosts: the hosts that the network declares.
            timeout: the maximum time in seconds, with repetitions.
            sign: signs the request of each attempt.
            check: called right before the first byte of each attempt is sent. It raises RequestNotSent to prevent it.
            pool: the connections that reads use.

        Raises:
            RequestNotSent: no byte of the request was sent.
            ResponseLost: the request may have been sent, and no complete response arrived.
        """
        deadline = asyncio.get_running_loop().time() + timeout

        async def send_once() -> Response:
            message = _prepare_request(request if sign is None else sign(request), hosts, self._sandbox_url)
            if message.is_foreign:
                return await _fetch_foreign(message, deadline, self.egress)
            async with self._acquire_slot(message.host, deadline):
                return await self._send_prepared(
                    message, deadline, RequestProgress() if check is None else RequestProgress(check), pool
                )

        if request.kind != "read":
            return await send_once()
        repeating = AsyncRetrying(
            stop=stop_after_attempt(MAX_READ_TRIES) | stop_before_delay(timeout),
            wait=_get_retry_pause,
            retry=retry_if_exception(_is_retryable) | retry_if_result(_is_busy),
            sleep=self._sleep,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        response: Response = await repeating(send_once)
        return response

    @asynccontextmanager
    async def _acquire_slot(self, host: str, deadline: float) -> AsyncIterator[None]:
        """Acquire one of the :data:`MAX_CONNECTIONS` slots. Raises RequestNotSent if none becomes free in time."""
        latest = asyncio.get_running_loop().time() + CONNECT_TIMEOUT_SECONDS
        try:
            async with asyncio.timeout_at(min(deadline, latest)):
                await self._slots.acquire()
        except TimeoutError:
            raise RequestNotSent(f"{host} cannot be reached: all {MAX_CONNECTIONS} connections are in use.") from None
        try:
            yield
        finally:
            self._slots.release()

    async def _send_prepared(
        self, message: _PreparedRequest, deadline: float, progress: RequestProgress, pool: PoolTransport | None
    ) -> Response:
        """Send a message once, over a pool if it is a read."""
        extensions = {"target": message.target, PROGRESS_EXTENSION: progress}
        try:
            httpx_request = httpx.Request(
                message.method, message.origin, headers=message.headers, content=message.content, extensions=extensions
            )
        except (ValueError, httpx.InvalidURL):
            raise _unsendable_error(f"{message.host}: the request has characters that are not allowed.") from None
        pooled = pool if message.request.kind == "read" else None
        over = pooled or PoolTransport(self._network_egress)
        response: httpx.Response | None = None
        try:
            async with patient_timeout(deadline):
                response = await over.handle_async_request(httpx_request)
                return await _read_response(response, message, progress)
        except (RequestNotSent, ResponseLost):
            raise
        except zlib.error as problem:
            text = f"{message.host}: the answer does not match its content encoding."
            raise progress.make_error(text, repeatable=False) from problem
        except Exception as problem:  # the progress shows whether the request was sent, for every exception
            raise progress.make_error(f"{message.host}{over.via}: {describe_error(problem)}") from problem
        finally:  # outside the timeout, so that a response that was read counts even if closing takes long or fails
            with suppress(OSError, httpcore.NetworkError):
                if pooled is None:
                    await over.aclose()
                elif response is not None:
                    await response.aclose()


async def _read_response(response: httpx.Response, message: _PreparedRequest, progress: RequestProgress) -> Response:
    """Read the body of a response. Raises ResponseLost if it is too long, or if its end may be missing."""
    progress.status, progress.headers = response.status_code, dict(response.headers.items())
    content, whole = await read_limited(response, message.max_response_bytes)
    if not whole:
        raise progress.make_error(
            f"{message.host}: the answer is larger than {message.max_response_bytes} bytes.", repeatable=False
        )
    answer = Response.from_bytes(progress.status, progress.headers, bytes(content), message.request.response_format)
    if answer.state != "json" and not _is_framed(message.method, answer):
        raise progress.make_error(f"{message.host}: the connection ended, and the answer does not state its length.")
    return answer


def _is_framed(method: str, answer: Response) -> bool:
    """Whether the response states where its body ends (RFC 9112, 6.3). Otherwise a part could be used as the whole."""
    bodiless = method == "HEAD" or answer.status in (204, 304)
    return bodiless or "content-length" in answer.headers or "transfer-encoding" in answer.headers


# -- repeating reads ----------------------------------------------------------------------------------------------


def _is_retryable(problem: BaseException) -> bool:
    return isinstance(problem, RequestNotSent | ResponseLost) and problem.repeatable


def _is_busy(response: Response) -> bool:
    delay = parse_retry_after(response.headers, time.time())
    return (response.status >= 500 or response.status == 429) and (delay is None or delay <= MAX_RETRY_AFTER_SECONDS)


_exponential_wait = wait_random_exponential(multiplier=0.2, max=2.0)


def _get_retry_pause(state: RetryCallState) -> float:
    outcome = state.outcome
    if outcome is not None and not outcome.failed:
        delay = parse_retry_after(outcome.result().headers, time.time())
        if delay is not None:
            return delay
    return _exponential_wait(state)


# -- from a request to bytes --------------------------------------------------------------------------------------


@frozen
class _PreparedRequest:
    """A request in its final form. It is sent to ``origin``, with ``target`` as it is.

    ``is_foreign``: the host is not one of the network's, so the request goes through ``safe_fetch``.
    """

    request: Request
    method: str
    url: str
    host: str
    headers: Mapping[str, str]
    content: bytes | None
    origin: str
    target: bytes
    max_response_bytes: int
    is_foreign: bool


_METHOD_PATTERN = re.compile(r"[A-Z]{3,10}")
_TARGET_PATTERN = re.compile(r"/[!-~]*")
_HEADER_NAME_PATTERN = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_HEADER_VALUE_PATTERN = re.compile(r"([!-~]([\t -~]*[!-~])?)?")  # no blank at either end


def _prepare_request(request: Request, hosts: Collection[str], sandbox: str | None) -> _PreparedRequest:
    """Encode a request and decide where it goes. Raises RequestNotSent if it cannot be sent."""
    try:
        url = build_request_url(request)
        parts = urlsplit(url)
    except ValueError:
        raise _unsendable_error("The address of the request is malformed.") from None
    host = parts.netloc
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    declared = host in hosts
    steps = parts.path.split("/")
    if parts.scheme != "https" or not host or parts.fragment or not _TARGET_PATTERN.fullmatch(target):
        raise _unsendable_error("The address of the request is not an https address.")
    if "." in steps or ".." in steps or "" in request.path.values():
        raise _unsendable_error(f"{host}: an id in the path of the request is empty or a dot.")
    if not declared and (request.is_signed or request.kind == "write"):
        raise _unsendable_error(
            f"{host} is not a host of the network. Writes and credentials go to hosts of the network only."
        )
    try:
        content, content_type = encode_body(request.encoding, request.body)
    except (TypeError, ValueError, AttributeError) as reason:
        raise _unsendable_error(f"{host}: the body of the request cannot be encoded: {reason}") from None
    headers = {"accept": "*/*", "accept-encoding": "gzip", "user-agent": "adsunify"}
    if content_type is not None:
        headers["content-type"] = content_type
    headers |= {name.lower(): value for name, value in request.headers.items()}
    if not _METHOD_PATTERN.fullmatch(request.method) or not all(
        _HEADER_NAME_PATTERN.fullmatch(name) and _HEADER_VALUE_PATTERN.fullmatch(value)
        for name, value in headers.items()
    ):
        raise _unsendable_error(f"{host}: the method or a header of the request has characters that are not allowed.")
    if sandbox is not None:
        # the request is signed already, and its signature covers the real host
        target = f"/{host}{target}"
    return _PreparedRequest(
        request,
        request.method,
        url,
        host,
        headers,
        content,
        sandbox or f"https://{host}",
        target.encode("ascii"),
        MAX_WRITE_RESPONSE_BYTES if request.kind == "write" else MAX_RESPONSE_BYTES,
        not declared and sandbox is None,
    )


def _unsendable_error(message: str) -> RequestNotSent:
    """Make the error of a request that no attempt can send."""
    return RequestNotSent(message, repeatable=False)


async def _fetch_foreign(message: _PreparedRequest, deadline: float, egress: Egress) -> Response:
    """Fetch a download from another host through ``safe_fetch``."""
    remaining = max(0.0, deadline - asyncio.get_running_loop().time())
    try:
        fetched = await fetch_url(
            message.url,
            method=message.method,
            headers=message.headers,
            content=message.content,
            timeout=remaining,
            limit=message.max_response_bytes,
            egress=egress,
        )
    except FetchError as problem:
        if problem.reason in ("refused", "unresolved", "unreachable"):
            raise RequestNotSent(problem.message) from problem
        raise ResponseLost(problem.message, repeatable=problem.reason != "too_large") from problem
    return Response.from_bytes(fetched.status, fetched.headers, fetched.content, message.request.response_format)


def _parse_loopback_url(url: str) -> str:
    """Return the sandbox's address without a trailing slash. Raises InvalidInput if it is not a loopback address."""
    parts = urlsplit(url)
    if parts.scheme not in DEFAULT_PORTS or not is_loopback_url(url) or parts.username or parts.query or parts.fragment:
        raise invalid_input(
            "sandboxUrl", "sandbox_not_loopback", "The sandbox must run on this machine: http://127.0.0.1:<port>."
        )
    return url.rstrip("/")
