"""Options of a client that calls a server, and the records that its hooks get. docs/client.md describes them."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping
from difflib import get_close_matches
from inspect import iscoroutinefunction
from os import PathLike
from typing import TYPE_CHECKING, Any, TypedDict

from attrs import evolve, field, frozen

from adsunify.errors import Issue, raise_if_issues

if TYPE_CHECKING:
    import httpx

    from adsunify.http.egress import Egress

DEFAULT_TIMEOUT_SECONDS = 120.0
DEFAULT_MAX_RETRIES = 2
MAX_RETRIES_LIMIT = 10
MAX_TIMEOUT_SECONDS = 24 * 60 * 60


@frozen
class RequestInfo:
    """A request that is about to be sent. ``path`` has no query; ``attempt`` is 1 for the first attempt of a call."""

    operation_id: str
    method: str
    path: str
    attempt: int


@frozen
class ResponseInfo:
    """The end of an attempt.

    ``status`` is the HTTP status, None if no complete response arrived. ``elapsed`` is in seconds. ``request_id`` is
    the ``X-Request-Id`` of the response, under which the server logged the request.
    """

    operation_id: str
    method: str
    path: str
    attempt: int
    status: int | None
    elapsed: float
    request_id: str | None


class CallOptions(TypedDict, total=False):
    """Keyword arguments of ``with_options``, which a client of a server has.

    Attributes:
        timeout: seconds that a call may take, with its retries and the waits between them; 120 by default. An
            ``httpx.Timeout`` limits each phase of each attempt instead; then no attempt begins after 120 seconds.
        max_retries: how often a call may be repeated, 0 to 10; 2 by default. Only reads, prepares, and requests that
            certainly did nothing are repeated.
    """

    timeout: float | httpx.Timeout
    max_retries: int


class RemoteOptions(CallOptions, total=False):
    """Keyword arguments of ``Ads`` and ``AsyncAds`` that only a client of a server takes.

    Attributes:
        http_client: the ``httpx.AsyncClient`` that sends the requests, with its proxies, certificates, transport, and
            its own timeout unless ``timeout`` is given. It is closed with this client.
        proxy: the http or https address of a proxy that connects to the server, such as
            ``http://user:password@proxy.example:3128``.
        ca_file: a file with certificates in PEM, of authorities that are trusted in addition.
        on_request: called with a :class:`RequestInfo` before each attempt.
        on_response: called with a :class:`ResponseInfo` after each attempt.
    """

    http_client: httpx.AsyncClient
    proxy: str
    ca_file: str | PathLike[str]
    on_request: Callable[[RequestInfo], object]
    on_response: Callable[[ResponseInfo], object]


@frozen
class ClientOptions:
    """:class:`RemoteOptions` after they were checked; None where an option was not given.

    ``egress``: the proxy and the trusted authorities; not used with an ``http_client``.
    """

    timeout: float | httpx.Timeout | None = None
    max_retries: int = DEFAULT_MAX_RETRIES
    http_client: httpx.AsyncClient | None = field(default=None, repr=False)
    egress: Egress | None = None
    on_request: Callable[[RequestInfo], object] | None = None
    on_response: Callable[[ResponseInfo], object] | None = None

    @property
    def deadline_seconds(self) -> float:
        """Seconds after the start of a call from which no attempt begins."""
        return self.timeout if isinstance(self.timeout, float) else DEFAULT_TIMEOUT_SECONDS


OPTION_NAMES = tuple(RemoteOptions.__annotations__)
CALL_OPTION_NAMES = tuple(CallOptions.__annotations__)
EGRESS_NAMES = ("proxy", "ca_file")
HTTP_CLIENT_MESSAGE = (
    "must be an open httpx.AsyncClient, also for Ads: Ads calls the server from an event loop in its own thread."
)

HOOK_MESSAGE = "must be a function that takes one argument and is not a coroutine function."


def read_options(given_options: Mapping[str, Any], egress: Egress | None = None) -> ClientOptions:
    """Check the options of a client of a server. Raises InvalidInput that names each refused option.

    ``egress``: the proxy and the certificate authorities that apply if no option names them.
    """
    raise_if_issues(_find_unknown_options(given_options))
    raise_if_issues(_find_issues(given_options))
    options = {name: value for name, value in given_options.items() if name not in EGRESS_NAMES}
    return ClientOptions(**{**options, **_read_timeout(given_options)}, egress=_read_egress(given_options, egress))


def change_options(options: ClientOptions, changes: Mapping[str, Any]) -> ClientOptions:
    """Return options with some of :class:`CallOptions` changed. Raises InvalidInput with each refused option."""
    raise_if_issues(_find_unknown_options(changes))
    raise_if_issues(
        Issue(name, "not_supported", f"is only for a new client. Calls take {' and '.join(CALL_OPTION_NAMES)}.")
        for name in changes
        if name not in CALL_OPTION_NAMES
    )
    raise_if_issues(_find_issues(changes))
    return evolve(options, **{**changes, **_read_timeout(changes)})


def _read_timeout(options: Mapping[str, Any]) -> Mapping[str, Any]:
    """Return the timeout of checked options, if there is one. A number becomes a float."""
    import httpx

    timeout = options.get("timeout")
    return {} if timeout is None else {"timeout": timeout if isinstance(timeout, httpx.Timeout) else float(timeout)}


def _read_egress(options: Mapping[str, Any], egress: Egress | None) -> Egress:
    """Return ``egress`` with the proxy and the certificate authorities that the options name."""
    from adsunify.http.egress import Egress, make_tls_context, parse_proxy

    egress = egress or Egress()
    if "proxy" in options:
        egress = evolve(egress, proxy=parse_proxy(options["proxy"], "proxy"))
    if "ca_file" in options:
        egress = evolve(egress, tls=make_tls_context(options["ca_file"], "ca_file"))
    return egress


def refuse_options(options: Mapping[str, Any]) -> None:
    """Raise InvalidInput for options that a local store does not have."""
    raise_if_issues(_find_unknown_options(options))
    raise_if_issues(
        Issue(name, "not_supported", "is only for a server, whose address begins with http:// or https://.")
        for name in options
    )


def _find_unknown_options(options: Mapping[str, Any]) -> Iterator[Issue]:
    for name in options:
        if name not in OPTION_NAMES:
            similar = get_close_matches(name[:60], OPTION_NAMES, 1)
            hint = f"Did you mean {similar[0]}?" if similar else f"Options are {', '.join(OPTION_NAMES)}."
            yield Issue(name, "unknown", f"is not an option of the client. {hint}")


def _find_issues(options: Mapping[str, Any]) -> Iterator[Issue]:
    import httpx

    if "timeout" in options and not isinstance(options["timeout"], httpx.Timeout):
        seconds = options["timeout"]
        if not _is_number(seconds) or not 0 < seconds <= MAX_TIMEOUT_SECONDS:
            text = f"must be a number of seconds above 0, at most {MAX_TIMEOUT_SECONDS}, or an httpx.Timeout."
            yield Issue("timeout", "type", text)
    retries = options.get("max_retries", 0)
    if type(retries) is not int or not 0 <= retries <= MAX_RETRIES_LIMIT:
        yield Issue("max_retries", "type", f"must be a whole number from 0 to {MAX_RETRIES_LIMIT}.")
    if "http_client" in options:
        client = options["http_client"]
        if not isinstance(client, httpx.AsyncClient) or client.is_closed:
            yield Issue("http_client", "type", HTTP_CLIENT_MESSAGE)
        for name in EGRESS_NAMES:
            if name in options:
                text = "cannot be combined with http_client: give the httpx.AsyncClient its proxy and certificates."
                yield Issue(name, "not_allowed", text)
    for name in ("on_request", "on_response"):
        if name in options and not is_hook(options[name]):
            yield Issue(name, "type", HOOK_MESSAGE)


def is_hook(value: object) -> bool:
    """Whether a client can call the value: a coroutine function would never be awaited."""
    return callable(value) and not iscoroutinefunction(value)


def _is_number(value: object) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
