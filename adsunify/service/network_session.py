"""Requests to a network for one account, with decrypted credentials that are refreshed ahead of time."""

from __future__ import annotations

import asyncio
import secrets
from collections.abc import Awaitable, Callable, Iterable
from contextlib import suppress
from functools import partial
from typing import TypeVar

from adsunify.actor import Actor
from adsunify.adapter.account import Account
from adsunify.adapter.error_rules import find_read_error
from adsunify.adapter.flows import run_flow_async
from adsunify.adapter.oauth import Credentials
from adsunify.encryption import SecretContext, decrypt, encrypt
from adsunify.errors import (
    AdsunifyError,
    InvalidInput,
    ProviderError,
    ProviderUnreadable,
    RequestNotSent,
    ResponseLost,
    StoreError,
    TokenRefused,
    invalid_input,
)
from adsunify.execution.executor import SendResult
from adsunify.guardrails.children import ChildReader, Creation
from adsunify.http.backend import PoolTransport
from adsunify.http.messages import Flow, Request, Response
from adsunify.http.transport import Signer
from adsunify.networks.registry import get_adapter
from adsunify.service.core import Service
from adsunify.store import connections, created, encrypted_secrets
from adsunify.store.connections import AccountRecord
from adsunify.values.exact_json import dumps, loads

T = TypeVar("T")
CREDENTIALS_FIELD = "credentials"
INACTIVE_MESSAGES = {
    "needs_reauth": "is an account whose saved token the network refuses; connect it again before preparing changes.",
    "disconnected": "is a disconnected account; connect it again.",
}
NOT_RENEWED_MESSAGE = "refuses the saved token and cannot renew it: connect the account again."
REFRESH_SECONDS = 12.0
"""The timeout of a refresh, and of the read that confirms a refusal. Together they are shorter than the refresh's lock
(``connections.REFRESH_MILLISECONDS``), so that no other process uses the same refresh token."""
SAVE_TRIES = 10
SAVE_PAUSE_SECONDS = 1.0
"""How often saving new credentials is tried, and the seconds between the tries.

The network may not accept the old credentials any more.
"""


def _make_inactive_error(status: str) -> InvalidInput:
    return invalid_input("accountId", f"account_{status}", INACTIVE_MESSAGES[status])


class NetworkSession:
    """Sends requests to a network for one account. Tasks of different callers do not share a session."""

    def __init__(self, service: Service, account: AccountRecord) -> None:
        self.service = service
        self.account = account
        self.adapter = get_adapter(account.network)
        extras = {name: str(value) for name, value in account.extras.items()}
        self.native_account = Account(account.network, account.native_id, account.currency, account.timezone, extras)
        self._credentials: Credentials | None = None

    @classmethod
    async def load(cls, service: Service, actor: Actor, account_id: str) -> NetworkSession:
        """Return the session of an account that the actor reaches. Raises NotFound."""
        return cls(service, await service.store.run_query(connections.find_account(actor, account_id)))

    def require_active(self) -> None:
        """Raise InvalidInput where nothing may be written to the account now."""
        if self.account.status != "active":
            raise _make_inactive_error(self.account.status)

    async def load_credentials(self) -> None:
        """Load the credentials and refresh them if they expire soon.

        Raises InvalidInput where the account is disconnected, and TokenRefused where the network refuses the token.
        """
        network = self.adapter.network
        self.service.get_oauth_client(network.code)
        credentials = await self._get_credentials()
        now = self.service.store.clock.wall()
        if (
            credentials.expires_at is not None
            and credentials.expires_at - network.login.refresh_before_seconds * 1000 <= now
        ):
            try:
                await self._refresh_uncancellable(credentials)
            except ProviderUnreadable:
                if credentials.expires_at <= now:
                    raise

    async def make_child_reader(self, created_earlier: Iterable[Creation] = ()) -> ChildReader:
        """Make the reader of entities below an entity, which also finds what adsunify created lately.

        ``created_earlier``: entities that one chain of operations created earlier; the reader finds them as well.
        """
        network, store = self.adapter.network, self.service.store
        since = store.clock.now() - 1000 * max(level.visibility_seconds for level in network.levels)
        account = (self.account.id, network.code, self.account.native_id)
        lately = await store.read(created.list_lately_created, *account, since)
        return ChildReader(self.adapter, self.native_account, (tuple(created_earlier), *lately))

    async def run_flow(self, flow: Flow[T]) -> T:
        """Run a flow of reads over a separate connection pool. Raises the errors of the flow."""
        async with self.service.transport.open_pool() as pool:
            return await run_flow_async(flow, partial(self.send_read, pool=pool))

    async def send_read(self, request: Request, pool: PoolTransport | None = None) -> Response:
        """Send a read. Where the token is refused, refresh it once and repeat the read."""
        await self.load_credentials()
        used = await self._get_credentials()
        response = await self._send_signed(request, pool)
        if request.kind == "read" and self._is_token_error(request, response):
            await self._refresh_uncancellable(used)
            response = await self._send_signed(request, pool)
            if self._is_token_error(request, response):
                with suppress(ProviderError):
                    await self._check_token_refusal()
        if self.account.status == "needs_reauth" and request.is_signed and response.is_ok:
            await self.service.store.write(
                connections.mark_active, self.account.connection_id, self.service.store.clock
            )
        return response

    def _is_token_error(self, request: Request, response: Response) -> bool:
        return request.is_signed and isinstance(find_read_error(self.adapter.network, response), TokenRefused)

    async def send_write(self, request: Request, check: Callable[[], None]) -> SendResult:
        """Send a write of an execution once, and return its response or error. ``check``: as in HttpTransport.send."""
        try:
            signed = (await self._make_signer())(request)
        except AdsunifyError as problem:  # no key or no OAuth client, so nothing was sent
            return RequestNotSent(problem.message)
        return await _send_or_failure(self.service.send(self.adapter.network, signed, check=check))

    async def send_execution_read(self, request: Request) -> SendResult:
        """Send a read of an execution as :meth:`send_read`, and return its response or error."""
        try:
            return await _send_or_failure(self.send_read(request))
        except AdsunifyError as problem:
            return RequestNotSent(problem.message)

    async def renew_token(self, again: bool) -> bool:
        """Renew the token after a refused write. Returns False if a person must connect the account again.

        ``again`` means that the refused token was already renewed once; then one cheap read shows whether the network
        accepts it. No AdsunifyError is raised: if the network cannot be reached, the next execution fails before it
        writes.
        """
        try:
            await self._refresh_uncancellable(await self._get_credentials())
            return not (again and await self._check_token_refusal())
        except TokenRefused:
            return False
        except AdsunifyError:
            return True

    async def _check_token_refusal(self) -> bool:
        """Whether the network refuses the token for a cheap read as well. The account is then ``needs_reauth``.

        One refusal does not prove it: networks also answer 401 to a signature that they could not check, and to a user
        who lacks one permission (Amplify reference). Raises ProviderError if the read got no response.
        """
        refusal = await self._probe_token()
        if refusal is not None:
            await self._mark_needs_reauth()
        return refusal is not None

    async def _probe_token(self) -> TokenRefused | None:
        """Return the network's refusal of the token for one cheap read, the first request that lists the accounts."""
        request = next(self.adapter.reads.discover_accounts())
        assert isinstance(request, Request)
        network, sign = self.adapter.network, await self._make_signer()
        problem = find_read_error(network, await self.service.send(network, request, REFRESH_SECONDS, sign=sign))
        return problem if isinstance(problem, TokenRefused) else None

    async def _send_signed(self, request: Request, pool: PoolTransport | None) -> Response:
        return await self.service.send(self.adapter.network, request, sign=await self._make_signer(), pool=pool)

    async def _make_signer(self) -> Signer:
        """Make a function that signs requests, each with a new nonce."""
        app, credentials = self.service.get_oauth_client(self.adapter.network.code), await self._get_credentials()

        def sign(request: Request) -> Request:
            if not request.is_signed:
                return request
            now = self.service.store.clock.wall()
            return self.adapter.credential_flows.sign_request(request, credentials, app, now, secrets.token_hex(16))

        return sign

    # -- credentials ----------------------------------------------------------------------------------------------

    async def _get_credentials(self) -> Credentials:
        if self._credentials is None:
            self._credentials = await self._load_credentials()
        return self._credentials

    async def _load_credentials(self) -> Credentials:
        secrets_by_field = await self.service.store.read(
            encrypted_secrets.get_secrets, connections.SECRETS_TABLE, self.account.connection_id
        )
        if CREDENTIALS_FIELD not in secrets_by_field:
            raise _make_inactive_error("disconnected")
        return decrypt_credentials(
            self.service, self.account.workspace_id, self.account.connection_id, secrets_by_field[CREDENTIALS_FIELD]
        )

    async def _refresh_uncancellable(self, used: Credentials) -> None:
        """Replace ``used`` by newer credentials, or raise TokenRefused.

        A cancelled caller does not cancel the refresh: a rotated refresh token would be lost.
        """
        await self.service.run_uncancellable(self._refresh_under_lock(used))

    async def _refresh_under_lock(self, used: Credentials) -> None:
        """Take the credentials of another task's refresh, or refresh under the connection's lock."""
        connection_id = self.account.connection_id
        store = self.service.store
        async with self.service.refresh_locks.setdefault(connection_id, asyncio.Lock()):
            while not await store.write(connections.begin_refresh, connection_id, store.clock):
                if await self._take_newer_credentials(used):
                    return
                await asyncio.sleep(0.1)  # another process is refreshing
            try:
                if await self._take_newer_credentials(used):  # another task or process has just refreshed
                    await store.write(connections.abandon_refresh, connection_id)
                else:
                    await self._refresh_credentials(used)
            except BaseException as problem:
                await store.write(connections.abandon_refresh, connection_id)
                if isinstance(problem, TokenRefused):
                    await self._mark_needs_reauth()
                raise

    async def _take_newer_credentials(self, used: Credentials) -> bool:
        """Take stored credentials that are newer than ``used``; returns whether there are any."""
        current = await self._load_credentials()
        if current.access_token == used.access_token:
            return False
        self._credentials = current
        return True

    async def _refresh_credentials(self, current: Credentials) -> None:
        network = self.adapter.network
        app = self.service.get_oauth_client(network.code)
        now = self.service.store.clock.wall()

        async def send(request: Request) -> Response:
            return await self.service.send(network, request, REFRESH_SECONDS)

        fresh = await run_flow_async(self.adapter.credential_flows.refresh_credentials(app, current, now), send)
        if fresh == current and (refusal := await self._probe_token()) is not None:  # the network issued no new token
            raise TokenRefused(f"{network.title} {NOT_RENEWED_MESSAGE}", native=refusal.native)
        connection_id = self.account.connection_id
        text = encrypt_credentials(self.service, self.account.workspace_id, connection_id, fresh)
        store = self.service.store
        for attempt in range(SAVE_TRIES):
            try:
                await store.write(
                    connections.finish_refresh, connection_id, {CREDENTIALS_FIELD: text}, fresh.expires_at, store.clock
                )
                break
            except StoreError:
                if attempt == SAVE_TRIES - 1:
                    raise
                await asyncio.sleep(SAVE_PAUSE_SECONDS)
        self._credentials = fresh

    async def _mark_needs_reauth(self) -> None:
        clock = self.service.store.clock
        await self.service.store.write(connections.mark_needs_reauth, self.account.connection_id, clock)


async def _send_or_failure(sending: Awaitable[Response]) -> SendResult:
    """Return the response to a request, or the error of a request without a response."""
    try:
        return await sending
    except (RequestNotSent, ResponseLost) as problem:
        return problem


async def read_secrets(session: NetworkSession) -> list[str]:
    """Return the present secrets of an account's connection and of the OAuth client, to search recordings for them."""
    credentials = (await session._load_credentials()).to_json()
    app = session.service.get_oauth_client(session.adapter.network.code)
    extras = credentials.pop("extras", None) or {}
    values = [credentials.get("accessToken"), credentials.get("refreshToken"), *extras.values(), app.client_secret]
    return [value for value in values if isinstance(value, str) and value]


def encrypt_credentials(service: Service, workspace_id: str, connection_id: str, credentials: Credentials) -> str:
    """Encrypt credentials for the store."""
    text = dumps(credentials.to_json())
    return encrypt(service.ring, _credentials_context(workspace_id, connection_id), text)


def decrypt_credentials(service: Service, workspace_id: str, connection_id: str, text: str) -> Credentials:
    """Decrypt credentials from the store. Raises VaultError."""
    return Credentials.from_json(loads(decrypt(service.ring, _credentials_context(workspace_id, connection_id), text)))


def _credentials_context(workspace_id: str, connection_id: str) -> SecretContext:
    return SecretContext(connections.SECRETS_TABLE, connection_id, workspace_id, CREDENTIALS_FIELD)
