"""The transport of a proof: it refuses activations, and records each exchange without its credentials."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping
from contextlib import contextmanager

from attrs import define, evolve, field, frozen

from adsunify.adapter.oauth import Credentials, OAuthClient
from adsunify.adapter.protocols import Adapter
from adsunify.errors import RequestNotSent
from adsunify.http.backend import PoolTransport
from adsunify.http.egress import Egress
from adsunify.http.messages import Request, Response
from adsunify.http.transport import TIMEOUT_SECONDS, HttpTransport, Signer

from .guard import ActivationGuard


@frozen
class Exchange:
    """One request, as it was before it was signed, and its response."""

    request: Request
    response: Response


@define
class Tape:
    """The exchanges of the part of a proof that is being recorded."""

    exchanges: list[Exchange] = field(factory=list)

    @contextmanager
    def record(self) -> Iterator[list[Exchange]]:
        """Record the exchanges of a block in a separate list."""
        before, self.exchanges = self.exchanges, []
        try:
            yield self.exchanges
        finally:
            self.exchanges = before


class ProofTransport(HttpTransport):
    """Sends as :class:`HttpTransport`, refuses requests by the guard, and records on the tape.

    ``credentials`` has the names of the headers and of the parameters that a signature adds, in lower case; they are
    not recorded. ``refusals`` describes each refused request. ``headers`` has the names of all headers of
    responses.
    """

    def __init__(
        self, sandbox_url: str | None, egress: Egress, guard: ActivationGuard, credentials: Collection[str]
    ) -> None:
        super().__init__(sandbox_url, egress=egress)
        self.guard = guard
        self.credentials = frozenset(credentials)
        self.tape = Tape()
        self.refusals: list[str] = []
        self.headers: set[str] = set()

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
        """Send a request. Raises RequestNotSent for a write that would activate something."""
        if (activation := self.guard.find_activation(request)) is not None:
            self.refusals.append(activation)
            raise RequestNotSent(f"The proof activates nothing. {activation}", repeatable=False)
        response = await super().send(request, hosts=hosts, timeout=timeout, sign=sign, check=check, pool=pool)
        self.headers.update(response.headers)
        self.tape.exchanges.append(Exchange(self._remove_credentials(request), response))
        return response

    def _remove_credentials(self, request: Request) -> Request:
        """Return the request without credentials, as in a plan. A write of an execution is already signed."""
        return evolve(request, headers=self._select_plain(request.headers), query=self._select_plain(request.query))

    def _select_plain(self, members: Mapping[str, str]) -> dict[str, str]:
        return {name: value for name, value in members.items() if name.lower() not in self.credentials}


def list_credential_names(adapter: Adapter) -> list[str]:
    """Return the names of the headers and parameters that a signature of the network adds, in lower case."""
    plain = Request("POST", f"https://{adapter.network.hosts[0]}/")
    planted = Credentials("planted", "planted", None, {})
    app = OAuthClient("planted", "planted")
    signed = adapter.credential_flows.sign_request(plain, planted, app, 0, "planted")
    return [name.lower() for name in (*signed.headers, *signed.query)]
