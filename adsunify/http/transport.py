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

from adsunify.errors import RequestNotSent, ResponseLost, invalid_input
from adsunify.http.messages import MAX_RESPONSE_BYTES, Request, Response, build_request_url

from .backend import CONNECT_TIMEOUT_SECONDS, PROGRESS_EXTENSION, PoolTransport, RequestProgress, describe_error
from .deadline import patient_timeout
from .encoding import encode_body, read_limited
from .retry_after import parse_retry_after
from .safe_fetch import FetchError, fetch_url

Signer = Callable[[Request], Request]

TIMEOUT_SECONDS = 60.0
"""How long one request may take in all, repeats included."""
MAX_WRITE_RESPONSE_BYTES = 1024 * 1024
"""Answers to writes are small; a long one is nothing that a receipt could be read from."""
MAX_READ_TRIES = 3
MAX_RETRY_AFTER_SECONDS = 10.0
"""Seconds: a read that is asked to wait longer is answered as it stands."""
MAX_CONNECTIONS = 100
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
        self._sandbox_url = None if sandbox_url is None else _parse_loopback_url(sandbox_url)
        self._sleep = sleep
        self._tls = tls or httpx.create_ssl_context(trust_env=False)
        self._slots = asyncio.Semaphore(MAX_CONNECTIONS)

    def open_pool(self) -> PoolTransport:
        """Connections for the reads of one flow, to be closed with it: ``async with transport.open_pool() as pool``."""
        return PoolTransport(self._tls)

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
        """Send a request and return its answer, whatever its status. Raises RequestNotSent or ResponseLost.

        ``hosts``: what the network declares. ``timeout``: seconds in all. ``sign`` makes the signed request of each
        try. ``check`` is called right before the first byte of each try leaves, on a connection that is ready; it
        raises RequestNotSent to prevent that. ``pool``: reads use its connections. Every other request has a connection
        made for it and closed after its answer, so that no late answer to another request can be taken for its own.
        """
        deadline = asyncio.get_running_loop().time() + timeout

        async def send_once() -> Response:
            message = _prepare_request(request if sign is None else sign(request), hosts, self._sandbox_url)
            if message.is_foreign:
                return await _fetch_foreign(message, deadline)
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
        """Hold one of the :data:`MAX_CONNECTIONS`. Raises RequestNotSent if none becomes free in time."""
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
            raise _unsendable_error(f"{message.host}: the request cannot be written.") from None
        pooled = pool if message.request.kind == "read" else None
        over = pooled or PoolTransport(self._tls)
        response: httpx.Response | None = None
        try:
            async with patient_timeout(deadline):
                response = await over.handle_async_request(httpx_request)
                return await _read_response(response, message, progress)
        except (RequestNotSent, ResponseLost):
            raise
        except zlib.error as problem:
            text = f"{message.host}: the answer is not what its encoding says."
            raise progress.make_error(text, repeatable=False) from problem
        except Exception as problem:  # whatever else it is, only the progress tells what became of the request
            raise progress.make_error(f"{message.host}: {describe_error(problem)}") from problem
        finally:  # outside the timeout: an answer that was read counts, whenever and however the connection ends
            with suppress(OSError, httpcore.NetworkError):
                if pooled is None:
                    await over.aclose()
                elif response is not None:
                    await response.aclose()


async def _read_response(response: httpx.Response, message: _PreparedRequest, progress: RequestProgress) -> Response:
    """Read the body of a response. Raises ResponseLost where it is too long, or where its end may be missing."""
    progress.status, progress.headers = response.status_code, dict(response.headers.items())
    content, whole = await read_limited(response, message.max_response_bytes)
    if not whole:
        raise progress.make_error(
            f"{message.host}: the answer is larger than {message.max_response_bytes} bytes.", repeatable=False
        )
    answer = Response.from_bytes(progress.status, progress.headers, bytes(content), message.request.response_format)
    if answer.state != "json" and not _is_framed(message.method, answer):
        raise progress.make_error(f"{message.host}: the connection ended, and the answer does not say how long it is.")
    return answer


def _is_framed(method: str, answer: Response) -> bool:
    """Whether the response says where its body ends (RFC 9112, 6.3), so that a part of it is not taken for all."""
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
    """A request ready to be sent to ``origin``: the target is written as it is, whatever its length.

    ``is_foreign``: outside the network's hosts, fetched through the guard.
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
_HEADER_VALUE_PATTERN = re.compile(r"([!-~]([\t -~]*[!-~])?)?")  # no blank at an end
_DEFAULT_PORTS = {"https": 443, "http": 80}


def _prepare_request(request: Request, hosts: Collection[str], sandbox: str | None) -> _PreparedRequest:
    """The bytes of a request and where they go; raises RequestNotSent where it cannot be sent."""
    try:
        url = build_request_url(request)
        parts = urlsplit(url)
    except ValueError:
        raise _unsendable_error("The address of the request cannot be written.") from None
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
            f"{host} is not a host of the network; only those are written to and receive credentials."
        )
    try:
        content, content_type = encode_body(request.encoding, request.body)
    except (TypeError, ValueError, AttributeError) as reason:
        raise _unsendable_error(f"{host}: the body of the request cannot be written: {reason}") from None
    headers = {"accept": "*/*", "accept-encoding": "gzip", "user-agent": "adsunify"}
    if content_type is not None:
        headers["content-type"] = content_type
    headers |= {name.lower(): value for name, value in request.headers.items()}
    if not _METHOD_PATTERN.fullmatch(request.method) or not all(
        _HEADER_NAME_PATTERN.fullmatch(name) and _HEADER_VALUE_PATTERN.fullmatch(value)
        for name, value in headers.items()
    ):
        raise _unsendable_error(f"{host}: the method or a header of the request cannot be written.")
    if sandbox is not None:
        # after signing: the signature names the real host
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
    """The error for a request that no try could send."""
    return RequestNotSent(message, repeatable=False)


async def _fetch_foreign(message: _PreparedRequest, deadline: float) -> Response:
    """A download from elsewhere, through the guard."""
    remaining = max(0.0, deadline - asyncio.get_running_loop().time())
    try:
        fetched = await fetch_url(
            message.url,
            method=message.method,
            headers=message.headers,
            content=message.content,
            timeout=remaining,
            limit=message.max_response_bytes,
        )
    except FetchError as problem:
        if problem.reason in ("refused", "unresolved", "unreachable"):
            raise RequestNotSent(problem.message) from problem
        raise ResponseLost(problem.message, repeatable=problem.reason != "too_large") from problem
    return Response.from_bytes(fetched.status, fetched.headers, fetched.content, message.request.response_format)


def _parse_loopback_url(url: str) -> str:
    """The sandbox's address without its last slash; InvalidInput unless it is loopback."""
    parts = urlsplit(url)
    local = parts.hostname in ("localhost", "::1") or re.fullmatch(r"127(\.\d{1,3}){3}", parts.hostname or "")
    if parts.scheme not in _DEFAULT_PORTS or not local or parts.username or parts.query or parts.fragment:
        raise invalid_input(
            "sandboxUrl", "sandbox_not_loopback", "The simulated networks are used only at http://127.0.0.1:<port>."
        )
    return url.rstrip("/")
