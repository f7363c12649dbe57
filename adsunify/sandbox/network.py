"""The parts of a simulated network: routes, requests and responses. The guide is in `adsunify.sandbox`."""

import re
import uuid
from collections.abc import Callable, Mapping
from datetime import date, datetime
from functools import cached_property
from typing import Any, Literal
from urllib.parse import unquote

from attrs import define, field, frozen
from multidict import CIMultiDictProxy

from adsunify.sandbox.checks import Check, any_value, record, text
from adsunify.sandbox.faults import Fault
from adsunify.sandbox.parsing import InvalidRequest, parse_form, parse_json, parse_pairs, require_unique_names
from adsunify.sandbox.world import Account, World

_NO_CHECKS: Mapping[str, Check] = {}
_ANY_TEXT = text()


def _do_nothing(*_: object) -> None:
    """The default of `authorize_request` and `seed_world`."""


@frozen
class Response:
    """A native response.

    `body` may be bytes (sent unchanged), None (no body), or another value, which becomes JSON. Decimals are written
    exactly; a float is a TypeError.
    """

    status: int = 200
    body: Any = None
    headers: Mapping[str, str] = field(factory=dict)
    media_type: str = "application/json"


class AbortRequest(Exception):
    """Raised by a handler or `authorize_request` to undo the changes of the request and send `answer`."""

    def __init__(self, answer: Response) -> None:
        super().__init__(f"refused with {answer.status}")
        self.answer = answer


@frozen
class Route:
    """One native endpoint. The first route that matches is used.

    Attributes:
        path: a template such as `/v26.0/{id}/campaigns` or `/v26/customers/{customer}/googleAds:mutate`. A parameter
            matches any text without `/`; `{id:[0-9]+}` narrows it.
        role: `authorize_request` guards "api" routes, and faults without a path apply to them. "login" routes (consent,
        token) and "download" routes are not guarded and get only faults with a path. faults: the faults partial,
        error_in_200 and slow_media that the handler performs (`request.get_fault`).
    """

    method: str
    hosts: tuple[str, ...]
    path: str
    handler: Callable[["Request"], Response]
    role: Literal["api", "login", "download"] = "api"
    faults: frozenset[str] = frozenset()
    pattern: re.Pattern[str] = field(init=False)

    @pattern.default
    def _compile_pattern(self) -> re.Pattern[str]:
        parts = re.split(r"\{(\w+)(?::((?:[^{}]|\{[0-9,]+\})+))?\}", self.path)
        expression = re.escape(parts[0])
        for name, narrow, literal in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
            expression += f"(?P<{name}>{narrow or '[^/]+'})" + re.escape(literal)
        return re.compile(expression)


@define
class Request:
    """One native request in its world.

    Attributes:
        path: the native path as sent (percent-encoded), without host and query.
        path_parameters: the parameters of the path, decoded.
        raw_query: the query as sent. `query_pairs` has its members.
        headers: the headers; their names are case-insensitive.
    """

    world: World
    route: Route
    method: str
    host: str
    path: str
    path_parameters: Mapping[str, str]
    raw_query: str
    headers: CIMultiDictProxy[str]
    body: bytes
    fault: Fault | None = None

    @property
    def now(self) -> datetime:
        """The present time of the sandbox, an aware datetime in UTC."""
        return self.world.now

    @property
    def query_pairs(self) -> tuple[tuple[str, str], ...]:
        """Return every query parameter in order. Raises InvalidRequest `unreadable`."""
        return parse_pairs(self.raw_query)

    @property
    def stable_id(self) -> uuid.UUID:
        """An id of the request. The same request in the same world has the same id."""
        return uuid.uuid5(uuid.NAMESPACE_URL, f"{self.method} {self.path} {len(self.world.journal)}")

    def get_local_date(self, account: Account) -> date:
        """Return the sandbox's present date in the time zone of an account."""
        return self.world.get_local_date(account)

    def get_fault(self, fault: str) -> Fault | None:
        """Return the fault of this name that the handler is to perform, or None.

        The `value` of slow_media is retryAfterMs.
        """
        return self.fault if self.fault is not None and self.fault.name == fault else None

    def get_wait_seconds(self, default: int) -> int:
        """The wait, in seconds, that a requested 429 names; `default` if the fault names none."""
        return default if self.fault is None or self.fault.retry_after is None else self.fault.retry_after

    def find_account(self, id: str) -> Account | None:  # noqa: A002 - the word every network uses
        """Return the ad account with this native id, or None."""
        return self.world.accounts.get(id)

    def require_header(self, name: str, check: Check = _ANY_TEXT) -> str:
        """Return the checked value of a required header. Raises InvalidRequest `header`."""
        if len(values := self.headers.getall(name, [])) != 1:
            raise InvalidRequest("header", name, f"header {name} is required, once")
        try:
            return str(check(values[0], name))
        except InvalidRequest as problem:
            raise InvalidRequest("header", name, problem.message, values[0]) from problem

    def require_media_type(self, media_type: str) -> None:
        """Require a `Content-Type`; its parameters are ignored. Raises InvalidRequest `media_type`."""
        if self.headers.get("Content-Type", "").partition(";")[0].strip().lower() != media_type.lower():
            raise InvalidRequest("media_type", "Content-Type", f"must be {media_type}")

    def require_accept(self, media_type: str) -> None:
        """Require this `Accept` exactly. Raises InvalidRequest `accept`."""
        if self.headers.get("Accept", "").strip().lower() != media_type.lower():
            raise InvalidRequest("accept", "Accept", f"must be {media_type}")

    def parse_json(self, check: Check = any_value, media_type: str = "application/json") -> Any:
        """Return the checked JSON body.

        Raises InvalidRequest `media_type`, `unreadable`, `duplicate`, or what `check` raises.
        """
        self.require_media_type(media_type)
        return check(parse_json(self.body), "")

    def parse_form(self, check: Check = any_value) -> Any:
        """Return the checked form body. The check gets a dict of strings."""
        self.require_media_type("application/x-www-form-urlencoded")
        return check(parse_form(self.body), "")

    def parse_query(
        self, required: Mapping[str, Check] = _NO_CHECKS, optional: Mapping[str, Check] = _NO_CHECKS
    ) -> Any:
        """Return the checked query parameters as a dict. Unknown and repeated parameters are refused.

        A handler that accepts repeated parameters reads `query_pairs`.
        """
        return record(required, optional)(require_unique_names(self.query_pairs), "")


@frozen
class Network:
    """A simulated network: the `NETWORK` of a package in `adsunify.sandbox.networks`.

    Attributes:
        format_error: builds the native error of a failed check.
        format_status_error: builds the native error of a bare status: 404 and 405 of an unknown path or method, and the
            fault `status`.
        authorize_request: runs before every route of the role "api" (token, required headers, version).
        seed_world: fills the world at the start and after a reset.
        credentials: the credentials, by name, that connect the demo accounts if the network has no consent page.
    """

    code: str
    accounts: tuple[Account, ...]
    routes: tuple[Route, ...]
    format_error: Callable[[Request, InvalidRequest], Response]
    format_status_error: Callable[[Request, int], Response]
    authorize_request: Callable[[Request], object] = _do_nothing
    seed_world: Callable[[World], object] = _do_nothing
    first_id: int = 1
    credentials: Mapping[str, str] = field(factory=dict)

    @cached_property
    def hosts(self) -> frozenset[str]:
        """All native hosts of the routes."""
        return frozenset(host for route in self.routes for host in route.hosts)

    def create_world(self, clock: Callable[[], datetime]) -> World:
        """Return a new world with the default accounts."""
        world = World(self.code, {account.id: account for account in self.accounts}, clock, self.first_id)
        self.seed_world(world)
        world.journal.clear()
        return world

    def match_route(self, method: str, host: str, path: str) -> tuple[Route, Mapping[str, str]] | int:
        """Return the first route that matches and its path parameters; 405 if only the method differs, else 404."""
        status = 404
        for route in self.routes:
            if host in route.hosts and (match := route.pattern.fullmatch(path)):
                if route.method == method:
                    return route, {name: unquote(value) for name, value in match.groupdict().items()}
                status = 405
        return status
