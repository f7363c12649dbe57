"""Sends requests of the networks over HTTP, and says exactly what it knows about what became of each.

A ``read`` is repeated (connection lost, 5xx, 429 with a short ``Retry-After``), a few times, within its time. A
``read_once`` or a ``write`` leaves at most once, whatever happens: RequestNotSent means that surely not one byte of it
left, ResponseLost means anything else. Nothing is followed, nothing is taken from the environment, answers are
bounded in size (after inflating) and in time. Credentials go only to the hosts that a network declares; what is not
signed and lies elsewhere goes through :mod:`adsunify.fetch`.
"""

from __future__ import annotations

import asyncio
import hashlib
import re
import ssl
import time
import zlib
from collections import deque
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Mapping
from contextlib import asynccontextmanager, suppress
from decimal import Decimal
from typing import Any, Protocol, TypeVar
from urllib.parse import quote, urlencode, urlsplit

import httpx
from attrs import define, frozen
from tenacity import AsyncRetrying, RetryCallState, retry_if_exception, retry_if_result, stop_after_attempt
from tenacity.stop import stop_before_delay
from tenacity.wait import wait_random_exponential

from .errors import ProviderError, RequestNotSent, ResponseLost, refused
from .fetch import CONNECT_SECONDS, FetchError, bounded, fetch
from .http.retry_after import parse_retry_after
from .wire import MAX_ANSWER_BYTES, Encoding, Flow, Json, Request, Response, Wait, dumps, filled, json_bytes

Result = TypeVar("Result")

SECONDS = 60.0
"""How long one request may take in all, repeats included."""
MAX_WRITE_ANSWER_BYTES = 1024 * 1024
"""Answers to writes are small; a long one is nothing that a receipt could be read from."""
READ_TRIES = 3
LONGEST_RETRY_AFTER = 10.0
"""Seconds: a read that is asked to wait longer is answered as it stands."""
IDLE_SECONDS = 3.0
"""Idle connections are given up before servers do so (5 s and more): a write on a connection that the server closes at
the same moment would be lost."""
CONNECTIONS = 100


class Transport(Protocol):
    """What sends requests: one method."""

    async def send(self, request: Request, *, hosts: Collection[str], timeout: float = SECONDS) -> Response:
        """Send a request that is signed already, where it is to be, and return its answer, whatever its status.

        ``hosts``: what the network declares. ``timeout``: seconds in all. Raises RequestNotSent or ResponseLost.
        """
        ...


class HttpTransport:
    """The transport over httpx; connections are kept per host. Close it with :meth:`aclose`, or use ``async with``.

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
        self._connections = _Connections(tls or httpx.create_ssl_context(trust_env=False))

    async def __aenter__(self) -> HttpTransport:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.aclose()

    async def aclose(self) -> None:
        """Close all connections."""
        await self._connections.aclose()

    async def send(self, request: Request, *, hosts: Collection[str], timeout: float = SECONDS) -> Response:
        """As :meth:`Transport.send`."""
        message = _message(request, hosts, self._sandbox)
        deadline = asyncio.get_running_loop().time() + timeout
        if request.nature != "read":
            return await self._once(message, deadline)
        repeating = AsyncRetrying(
            stop=stop_after_attempt(READ_TRIES) | stop_before_delay(timeout),
            wait=_pause,
            retry=retry_if_exception(_repeatable) | retry_if_result(_busy),
            sleep=self._sleep,
            retry_error_callback=lambda state: state.outcome.result() if state.outcome else None,
        )
        response: Response = await repeating(self._once, message, deadline)
        return response

    async def _once(self, message: _Message, deadline: float) -> Response:
        if message.foreign:
            return await _fetched(message, deadline)
        progress = _Progress()
        try:
            async with asyncio.timeout_at(deadline):
                return await self._exchange(message, progress)
        except ResponseLost:
            raise
        except (httpx.ConnectError, httpx.ConnectTimeout, httpx.PoolTimeout, TimeoutError) as problem:
            if progress.sending:
                raise ResponseLost(f"{message.host}: {_words(problem)}", progress.status, progress.headers) from problem
            raise RequestNotSent(f"{message.host} cannot be reached: {_words(problem)}") from problem
        except Exception as problem:  # whatever else it is, nobody knows what became of the request
            raise ResponseLost(f"{message.host}: {_words(problem)}", progress.status, progress.headers) from problem

    async def _exchange(self, message: _Message, progress: _Progress) -> Response:
        extensions = {**message.extensions, "trace": progress.trace}
        asked = httpx.Request(
            message.method, message.url, headers=message.headers, content=message.content, extensions=extensions
        )
        async with self._connections.one(asked.url) as connection:
            response = await connection.transport.handle_async_request(asked)
            connection.stream = response.extensions.get("network_stream")
            return await self._answered(message, progress, response)

    async def _answered(self, message: _Message, progress: _Progress, response: httpx.Response) -> Response:
        progress.status, progress.headers = response.status_code, dict(response.headers.items())
        try:
            if progress.stale:
                raise ResponseLost(f"{message.host}: the answer was there before the request was sent.")
            content, whole = await bounded(response, message.limit)
        except zlib.error:
            raise ResponseLost(
                f"{message.host}: the answer is not what its encoding says.",
                progress.status,
                progress.headers,
                repeatable=False,
            ) from None
        finally:
            with suppress(httpx.TransportError, OSError):  # the answer counts, not how the connection ends
                await response.aclose()
        if not whole:
            raise ResponseLost(
                f"{message.host}: the answer is larger than {message.limit} bytes.",
                progress.status,
                progress.headers,
                repeatable=False,
            )
        return Response.of(progress.status, progress.headers, bytes(content), message.request.answer)


@define
class _Connection:
    """A transport of one connection, the stream beneath it, and since when it is idle."""

    transport: httpx.AsyncHTTPTransport
    stream: Any = None
    since: float = 0.0

    async def quiet(self) -> bool:
        """Whether nothing has come since the last answer. What arrived together with that lies in buffers, where the
        library does not look: a second answer there would be taken for the one to the next request."""
        if self.stream is None or self.stream.get_extra_info("is_readable"):
            return False
        reading = asyncio.ensure_future(self.stream.read(1))
        try:
            for _ in range(3):  # turns of the loop: to read what is in a buffer takes two
                await asyncio.sleep(0)
            return not reading.done()
        finally:
            reading.cancel()
            await asyncio.gather(reading, return_exceptions=True)


class _Connections:
    """httpx transports of one connection each; of those that are idle, the last used is used first.

    A pool of httpx looks at each of its connections for every request: with fifty executions at once that costs more
    than the requests do.
    """

    def __init__(self, tls: ssl.SSLContext) -> None:
        self._tls = tls
        self._free = asyncio.Semaphore(CONNECTIONS)
        self._idle: dict[tuple[str, str, int | None], deque[_Connection]] = {}

    @asynccontextmanager
    async def one(self, url: httpx.URL) -> AsyncIterator[_Connection]:
        """A connection to the place of ``url``, kept if all goes well. Raises PoolTimeout where none becomes free."""
        try:
            async with asyncio.timeout(CONNECT_SECONDS):
                await self._free.acquire()
        except TimeoutError:
            raise httpx.PoolTimeout("no connection became free") from None
        try:
            idle = self._idle.setdefault((url.scheme, url.host, url.port), deque())
            over = time.monotonic() - IDLE_SECONDS
            while idle and idle[0].since < over:
                await idle.popleft().transport.aclose()
            connection = await self._quiet(idle)
            try:
                yield connection
            except BaseException:
                # cut at the wrong moment it would stay busy for ever, and be the first to be taken
                with suppress(httpx.TransportError, OSError):
                    await connection.transport.aclose()
                raise
            connection.since = time.monotonic()
            idle.append(connection)
        finally:
            self._free.release()

    async def _quiet(self, idle: deque[_Connection]) -> _Connection:
        while idle:
            connection, quiet = idle.pop(), False
            try:
                if quiet := await connection.quiet():
                    return connection
            finally:
                if not quiet:
                    await connection.transport.aclose()
        return self._made()

    def _made(self) -> _Connection:
        limits = httpx.Limits(max_connections=1, max_keepalive_connections=1, keepalive_expiry=IDLE_SECONDS)
        return _Connection(
            httpx.AsyncHTTPTransport(verify=self._tls, trust_env=False, http2=False, retries=0, limits=limits)
        )

    async def aclose(self) -> None:
        """Close all connections."""
        for idle in self._idle.values():
            while idle:
                await idle.pop().transport.aclose()


class _Progress:
    """How far an exchange got: ``sending`` once the first byte may have left; ``stale`` where the answer was there
    before anything was received, so that it answers something else (an answer that came twice)."""

    def __init__(self) -> None:
        self.sending = self.received = self.stale = False
        self.status: int | None = None
        self.headers: dict[str, str] = {}

    async def trace(self, event: str, info: Mapping[str, Any]) -> None:
        """Told by the HTTP library of each thing it does."""
        if event == "http11.send_request_headers.started":
            self.sending = True
        elif event == "http11.receive_response_headers.started":
            # receiving takes at least one turn of the loop; what was left in a buffer takes none
            asyncio.get_running_loop().call_soon(self._turned)
        elif event == "http11.receive_response_headers.complete":
            self.stale = not self.received

    def _turned(self) -> None:
        self.received = True


def _words(problem: Exception) -> str:
    if isinstance(problem, TimeoutError | httpx.TimeoutException):
        return "it took too long"
    return str(problem) or type(problem).__name__


# -- repeating reads ----------------------------------------------------------------------------------------------


def _repeatable(problem: BaseException) -> bool:
    return isinstance(problem, RequestNotSent) or (isinstance(problem, ResponseLost) and problem.repeatable)


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
    """A request ready to be sent. ``foreign``: outside the network's hosts, fetched through the guard."""

    request: Request
    method: str
    url: str
    host: str
    headers: Mapping[str, str]
    content: bytes | None
    extensions: Mapping[str, Any]
    limit: int
    foreign: bool


_METHOD = re.compile(r"[A-Z]{3,10}")
_TARGET = re.compile(r"/[!-~]*")
_HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")
_FIELD_NAME = re.compile(r"[\w.\[\]-]+", re.A)
_HEADER_VALUE = re.compile(r"([!-~]([\t -~]*[!-~])?)?")  # no blank at an end
_PORTS = {"https": 443, "http": 80}


def _message(request: Request, hosts: Collection[str], sandbox: str | None) -> _Message:
    """The bytes of a request and where they go; RequestNotSent where the request cannot be written, or must not."""
    try:
        url = filled(request)
        parts = urlsplit(url)
    except ValueError:
        raise RequestNotSent("The address of the request cannot be written.") from None
    host = parts.netloc
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    declared = host in hosts
    steps = parts.path.split("/")
    if parts.scheme != "https" or not host or parts.fragment or not _TARGET.fullmatch(target):
        raise RequestNotSent("The address of the request is not an https address.")
    if "." in steps or ".." in steps or "" in request.path.values():
        raise RequestNotSent(f"{host}: an id in the path of the request is empty or a dot.")
    if not declared and (request.signed or request.nature == "write"):
        raise RequestNotSent(f"{host} is not a host of the network; only those are written to and receive credentials.")
    try:
        content, content_type = encoded(request.encoding, request.body)
    except (TypeError, ValueError, AttributeError) as reason:
        raise RequestNotSent(f"{host}: the body of the request cannot be written: {reason}") from None
    headers = {"accept": "*/*", "accept-encoding": "gzip", "user-agent": "adsunify"}
    if content_type is not None:
        headers["content-type"] = content_type
    headers |= {name.lower(): value for name, value in request.headers.items()}
    if not _METHOD.fullmatch(request.method) or not all(
        _HEADER_NAME.fullmatch(name) and _HEADER_VALUE.fullmatch(value) for name, value in headers.items()
    ):
        raise RequestNotSent(f"{host}: the method or a header of the request cannot be written.")
    if sandbox is not None:
        # after signing: the signature names the real host
        url, target = f"{sandbox}/{host}{target}", f"/{host}{target}"
    return _Message(
        request,
        request.method,
        url,
        host,
        headers,
        content,
        {"target": target.encode("ascii"), "timeout": {"connect": CONNECT_SECONDS, "pool": CONNECT_SECONDS}},
        MAX_WRITE_ANSWER_BYTES if request.nature == "write" else MAX_ANSWER_BYTES,
        not declared and sandbox is None,
    )


def encoded(encoding: Encoding, body: Json) -> tuple[bytes | None, str | None]:
    """The bytes of a body and their content type. Raises TypeError or ValueError where the body does not fit."""
    if encoding == "none":
        return None, None
    if encoding == "json":
        return json_bytes(body), "application/json"
    fields = {name: _field(value, encoding == "form_json") for name, value in body.items()}
    if encoding == "multipart":
        return _multipart(fields)
    return urlencode(fields, quote_via=quote, safe="").encode("ascii"), "application/x-www-form-urlencoded"


def _field(value: Json, as_json: bool) -> str:
    """The text of one form field."""
    if isinstance(value, str):
        return value
    if isinstance(value, int | Decimal) and not isinstance(value, bool):
        return dumps(value)
    if as_json:
        return dumps(value)
    raise TypeError("a form holds text only")


def _multipart(fields: Mapping[str, str]) -> tuple[bytes, str]:
    if not all(_FIELD_NAME.fullmatch(name) for name in fields):
        raise ValueError("a field name cannot be written")
    parts = [
        f'Content-Disposition: form-data; name="{name}"\r\n\r\n{value}\r\n'.encode() for name, value in fields.items()
    ]
    boundary = hashlib.sha256(b"".join(parts)).hexdigest()[:40]  # of the content, so that no content can hold it
    content = b"".join(f"--{boundary}\r\n".encode() + part for part in parts) + f"--{boundary}--\r\n".encode()
    return content, f"multipart/form-data; boundary={boundary}"


async def _fetched(message: _Message, deadline: float) -> Response:
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


# -- flows --------------------------------------------------------------------------------------------------------


async def run_flow(
    flow: Flow[Result],
    send: Callable[[Request], Awaitable[Response]],
    *,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> Result:
    """Run a flow of reads to its result. A ProviderError of ``send`` is raised inside the flow, which may handle it.

    Raises what the flow raises; ValueError where a flow asks for a write.
    """
    try:
        asked = next(flow)
        while True:
            try:
                answer = await _answer(asked, send, sleep)
            except ProviderError as problem:
                problem.outcome = "not_applied"  # a flow only reads, whatever became of the request
                asked = flow.throw(problem)
            else:
                asked = flow.send(answer)
    except StopIteration as done:
        result: Result = done.value
        return result
    finally:
        flow.close()


async def _answer(
    asked: Request | Wait,
    send: Callable[[Request], Awaitable[Response]],
    sleep: Callable[[float], Awaitable[None]],
) -> Response:
    if isinstance(asked, Wait):
        await sleep(max(0.0, asked.seconds))
        return Response(204, {}, None, "empty")
    if asked.nature == "write":
        raise ValueError("a flow only reads")
    return await send(asked)
