"""Talking to a network for one account: credentials from the vault, refreshed ahead of time, added last."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from adsunify.actor import Actor
from adsunify.adapter.error_rules import failure
from adsunify.adapter.flows import run_flow_async
from adsunify.adapter.network import Account
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import Place, open_, seal
from adsunify.errors import (
    AdsunifyError,
    OperationError,
    ProviderError,
    ProviderUnreadable,
    RequestNotSent,
    ResponseLost,
    StoreError,
    TokenRefused,
    refused,
)
from adsunify.execution.executor import SendResult
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Flow, Request, Response
from adsunify.http.transport import Sign
from adsunify.networks import adapter
from adsunify.store import connections, sealed
from adsunify.store.connections import AccountRecord
from adsunify.values.exact_json import dumps, loads

from .core import Service

T = TypeVar("T")
FIELD = "credentials"
INACTIVE = {
    "needs_reauth": "is an account whose network refuses the saved token; connect it again before preparing changes.",
    "disconnected": "is a disconnected account; connect it again before preparing changes.",
}
NOT_RENEWED = "refuses the saved token, which nothing renews: connect the account again."
REFRESH_SECONDS = 12.0
"""How long a refresh may take, and the read that confirms a refusal: both together take less than the refresh's lock
holds (``connections.REFRESH_MILLISECONDS``), or another process would use the same refresh token meanwhile."""
KEEPING_TRIES = 10
KEEPING_PAUSE = 1.0
"""How often fresh credentials are offered to the database, and the seconds between: the old ones may be used up."""


class Session:
    """One account's line to its network. Not shared between tasks of different callers."""

    def __init__(self, service: Service, account: AccountRecord) -> None:
        self.service = service
        self.account = account
        self.adapter = adapter(account.network)
        extras = {name: str(value) for name, value in account.extras.items()}
        self.native = Account(account.network, account.native_id, account.currency, account.timezone, extras)
        self._credentials: Credentials | None = None

    @classmethod
    async def of(cls, service: Service, actor: Actor, account_id: str) -> Session:
        """The session of an account of the workspace; raises NotFound."""
        return cls(service, await service.store.ask(connections.find_account(actor.workspace_id, account_id)))

    def needs_active(self) -> None:
        """Raise InvalidInput where nothing may be written to the account now."""
        if self.account.status != "active":
            raise refused("accountId", f"account_{self.account.status}", INACTIVE[self.account.status])

    async def prepare(self) -> None:
        """Load the credentials, refreshed if they end soon; raises TokenRefused where a person must connect again."""
        network = self.adapter.network
        self.service.app(network.code)
        credentials = await self._current()
        now = self.service.store.clock.wall()
        if credentials.expires_at is not None and credentials.expires_at - network.login.ahead * 1000 <= now:
            try:
                await self._refresh(credentials)
            except ProviderUnreadable:
                if credentials.expires_at <= now:
                    raise

    async def run(self, flow: Flow[T]) -> T:
        """Run a flow of reads over connections of its own; raises what the flow raises."""
        async with self.service.transport.pool() as pool:
            return await run_flow_async(flow, partial(self.read, pool=pool))

    async def read(self, request: Request, pool: PoolTransport | None = None) -> Response:
        """Send a read; a refused token is refreshed once, and the read repeated."""
        await self.prepare()
        used = await self._current()
        response = await self._send(request, pool)
        if request.nature == "read" and self._refused(request, response):
            await self._refresh(used)
            response = await self._send(request, pool)
            if self._refused(request, response):
                with suppress(ProviderError):
                    await self._is_refused()
        if self.account.status == "needs_reauth" and request.signed and response.ok:
            await self.service.store.write(connections.recovered, self.account.connection_id, self.service.store.clock)
        return response

    def _refused(self, request: Request, response: Response) -> bool:
        return request.signed and isinstance(failure(self.adapter.network, response), TokenRefused)

    async def answer(self, request: Request, check: Callable[[], None]) -> SendResult:
        """Send a write of an execution once, and say what is known of it. ``check``: as in HttpTransport.send."""
        try:
            signed = (await self._signer())(request)
        except AdsunifyError as problem:  # no key, no application: not a byte went out
            return RequestNotSent(problem.message)
        return await _known(self.service.send(self.adapter.network, signed, check=check))

    async def answer_read(self, request: Request) -> SendResult:
        """As :meth:`answer`, for a read: a refused token is refreshed once, and the read repeated."""
        try:
            return await _known(self.read(request))
        except AdsunifyError as problem:
            return RequestNotSent(problem.message)

    async def renew_token(self, again: bool) -> bool:
        """Renew the token for which a write was refused; false where a person must connect the account again.

        ``again``: the refused token was renewed already, so one cheap read shows whether the network takes it at all.
        Raises nothing of ours: where the network cannot be reached, the next execution meets the same before it writes.
        """
        try:
            await self._refresh(await self._current())
            return not (again and await self._is_refused())
        except TokenRefused:
            return False
        except AdsunifyError:
            return True

    async def _is_refused(self) -> bool:
        """Whether the network refuses the token even for one cheap read; then a person must connect the account again.

        A single refusal is no proof: networks answer 401 to a signature they could not check, and to a user who may not
        do just this (Amplify reference). Raises ProviderError where the read brought no answer.
        """
        refusal = await self._find_refusal()
        if refusal is not None:
            await self._needs_reauth()
        return refusal is not None

    async def _find_refusal(self) -> TokenRefused | None:
        """The network's refusal of the token in one cheap read, the first of those that list the accounts."""
        request = next(self.adapter.reads.accounts())
        assert isinstance(request, Request)
        network, sign = self.adapter.network, await self._signer()
        problem = failure(network, await self.service.send(network, request, REFRESH_SECONDS, sign=sign))
        return problem if isinstance(problem, TokenRefused) else None

    async def _send(self, request: Request, pool: PoolTransport | None) -> Response:
        return await self.service.send(self.adapter.network, request, sign=await self._signer(), pool=pool)

    async def _signer(self) -> Sign:
        """What signs a request, with another nonce each time."""
        app, credentials = self.service.app(self.adapter.network.code), await self._current()

        def sign(request: Request) -> Request:
            if not request.signed:
                return request
            now = self.service.store.clock.wall()
            return self.adapter.reads.sign(request, credentials, app, now, secrets.token_hex(16))

        return sign

    # -- credentials ----------------------------------------------------------------------------------------------

    async def _current(self) -> Credentials:
        if self._credentials is None:
            self._credentials = await self._load()
        return self._credentials

    async def _load(self) -> Credentials:
        found = await self.service.store.read(sealed.get, connections.SECRETS, self.account.connection_id)
        if FIELD not in found:
            raise OperationError("The account is disconnected; connect it again.", code="account_disconnected")
        return opened(self.service, self.account.workspace_id, self.account.connection_id, found[FIELD])

    async def _refresh(self, used: Credentials) -> None:
        """Replace ``used`` by newer ones, or raise TokenRefused. Never cut: a rotated refresh token would be lost."""
        await self.service.whole(self._renew(used))

    async def _renew(self, used: Credentials) -> None:
        """Take what somebody else's refresh brought, or refresh under the connection's lock."""
        connection_id = self.account.connection_id
        store = self.service.store
        async with self.service.refreshing.setdefault(connection_id, asyncio.Lock()):
            while not await store.write(connections.begin_refresh, connection_id, store.clock):
                if await self._renewed(used):
                    return
                await asyncio.sleep(0.1)  # another process refreshes
            try:
                if await self._renewed(used):  # until just now, another process did
                    await store.write(connections.abandon_refresh, connection_id)
                else:
                    await self._refreshed(used)
            except BaseException as problem:
                await store.write(connections.abandon_refresh, connection_id)
                if isinstance(problem, TokenRefused):
                    await self._needs_reauth()
                raise

    async def _renewed(self, used: Credentials) -> bool:
        """Whether newer credentials than ``used`` are kept; then they are taken."""
        current = await self._load()
        if current.access_token == used.access_token:
            return False
        self._credentials = current
        return True

    async def _refreshed(self, current: Credentials) -> None:
        network = self.adapter.network
        app = self.service.app(network.code)
        now = self.service.store.clock.wall()

        async def send(request: Request) -> Response:
            return await self.service.send(network, request, REFRESH_SECONDS)

        fresh = await run_flow_async(self.adapter.reads.refresh(app, current, now), send)
        if fresh == current and (refusal := await self._find_refusal()) is not None:  # there is nothing to renew
            raise TokenRefused(f"{network.title} {NOT_RENEWED}", native=refusal.native)
        connection_id = self.account.connection_id
        text = sealed_credentials(self.service, self.account.workspace_id, connection_id, fresh)
        store = self.service.store
        for tried in range(KEEPING_TRIES):
            try:
                await store.write(
                    connections.finish_refresh, connection_id, {FIELD: text}, fresh.expires_at, store.clock
                )
                break
            except StoreError:
                if tried == KEEPING_TRIES - 1:
                    raise
                await asyncio.sleep(KEEPING_PAUSE)
        self._credentials = fresh

    async def _needs_reauth(self) -> None:
        clock = self.service.store.clock
        await self.service.store.write(connections.needs_reauth, self.account.connection_id, clock)


async def _known(sending: Awaitable[Response]) -> SendResult:
    """The answer, or what is known of a request that brought none."""
    try:
        return await sending
    except (RequestNotSent, ResponseLost) as problem:
        return problem


def sealed_credentials(service: Service, workspace_id: str, connection_id: str, credentials: Credentials) -> str:
    """Credentials as the store keeps them."""
    text = dumps(credentials.to_json())
    return seal(service.ring, _place(workspace_id, connection_id), text)


def opened(service: Service, workspace_id: str, connection_id: str, text: str) -> Credentials:
    """Credentials from what the store kept; raises VaultError."""
    return Credentials.from_json(loads(open_(service.ring, _place(workspace_id, connection_id), text)))


def _place(workspace_id: str, connection_id: str) -> Place:
    return Place(connections.SECRETS, connection_id, workspace_id, FIELD)
