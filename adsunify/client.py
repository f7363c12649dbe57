"""What a Python developer holds: ``Ads``, and ``AsyncAds`` with the same methods awaited.

Both speak the contract's rows, either to a store of their own (``sqlite:///ads.db``, ``postgresql://...``) or to a
server (``https://...`` with a token)::

    with Ads("sqlite:///ads.db") as ads:
        account = ads.accounts("meta")[0]
        operation = ads.create(account, brief)            # prepared: nothing written yet
        receipt = ads.execute(operation, confirmed=True)
"""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import date
from typing import TYPE_CHECKING, Any, Protocol, TypeVar
from urllib.parse import quote

from attrs import frozen

from .actor import Actor
from .brief import CampaignBrief
from .contract import ENDPOINTS, Call, Endpoint, call
from .contract.endpoint import PREFIX
from .errors import (
    AdsunifyError,
    InvalidInput,
    Issue,
    NativeError,
    OperationError,
    Outcome,
    ProviderUnreadable,
    refused,
)
from .service.opening import SANDBOX_URL, open_service
from .wire import Json, dumps, loads

if TYPE_CHECKING:
    import httpx

    from .service.core import Service

T = TypeVar("T")
BY_ID: Mapping[str, Endpoint] = {endpoint.operation_id: endpoint for endpoint in ENDPOINTS}
LOCAL = "local"
MAX_WAIT_SECONDS = 30 * 60
"""An operation can be continued for 30 minutes; nothing is waited for longer."""


# -- what methods return ------------------------------------------------------------------------------------------


@frozen
class Record:
    """A part of an answer: ``data`` is all of it, in the contract's words."""

    data: Mapping[str, Json]


@frozen
class Account(Record):
    """A connected ad account."""

    @property
    def id(self) -> str:
        return str(self.data["accountId"])

    @property
    def network(self) -> str:
        return str(self.data["network"])


@frozen
class Operation(Record):
    """A prepared change with its saved receipt."""

    @property
    def id(self) -> str:
        return str(self.data["id"])

    @property
    def status(self) -> str:
        return str(self.data["status"])

    @property
    def next_action(self) -> str | None:
        found = self.data.get("nextAction")
        return None if found is None else str(found)

    @property
    def retry_after_ms(self) -> int:
        return int(self.data.get("retryAfterMs", 0))

    @property
    def review_url(self) -> str:
        return str(self.data["reviewUrl"])


# -- doors --------------------------------------------------------------------------------------------------------


class Door(Protocol):
    """How a row of the contract is called: here, or at a server."""

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        """The envelope of the answer; raises the errors of :mod:`adsunify.errors`."""
        ...

    async def close(self) -> None: ...


@frozen
class LocalDoor:
    """A store of our own, as the user ``local`` of a workspace: an admin who may write."""

    service: Service
    actor: Actor

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        return (await call(self.service, self.actor, endpoint, asked)).envelope()

    async def close(self) -> None:
        await self.service.close()


@frozen
class RemoteDoor:
    """A server, over REST. Nothing is sent twice: an answer that is lost is an error that says so."""

    client: httpx.AsyncClient

    async def call(self, endpoint: Endpoint, asked: Call) -> Mapping[str, Json]:
        import httpx

        path = PREFIX + endpoint.path
        for name, value in asked.path.items():
            path = path.replace("{" + name + "}", quote(value, safe=":"))
        headers = {} if asked.idempotency_key is None else {"Idempotency-Key": asked.idempotency_key}
        if endpoint.body is not None:
            headers["Content-Type"] = "application/json"
        content = asked.body if endpoint.body is not None else None
        try:
            answer = await self.client.request(
                endpoint.method, path, params=dict(asked.query), content=content, headers=headers
            )
            body = loads(answer.content)
        except (httpx.HTTPError, ValueError) as problem:
            outcome: Outcome = "not_applied" if endpoint.method == "GET" else "unknown"
            raise ProviderUnreadable(
                f"The server gave no usable answer: {problem}", code="server_unreachable", outcome=outcome
            ) from problem
        if answer.status_code >= 400:
            raise told(body)
        found: Mapping[str, Json] = body
        return found

    async def close(self) -> None:
        await self.client.aclose()


def told(problem: Mapping[str, Json]) -> AdsunifyError:
    """The error that a server's problem details describe."""
    message, code, outcome = str(problem["detail"]), str(problem["code"]), problem["outcome"]
    if problem.get("issues"):
        issues = [Issue(issue["path"], issue["code"], issue["message"]) for issue in problem["issues"]]
        return InvalidInput(issues, code=code)
    native = problem.get("network")
    found = OperationError(
        message,
        code=code,
        operation=problem.get("operation"),
        native=None if native is None else NativeError.from_json(native),
        outcome=outcome,
    )
    found.status = int(problem["status"])  # type: ignore[misc]  # the server's own word
    return found


# -- the asynchronous client --------------------------------------------------------------------------------------


class AsyncAds:
    """All of the contract over one door. Open it with ``async with``."""

    def __init__(
        self,
        url: str = "sqlite:///adsunify.db",
        *,
        token: str | None = None,
        workspace: str = LOCAL,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._url, self._token, self._workspace = url, token, workspace
        self._environment = os.environ if environment is None else environment
        self._door: Door | None = None

    async def __aenter__(self) -> AsyncAds:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open the store (and migrate it), or get ready to call the server."""
        if self._url.startswith(("http://", "https://")):
            self._door = _remote(self._url, self._token)
            return
        if self._token is not None:
            raise refused("token", "not_supported", "goes with a server's address, not with a database.")
        opened = await open_service(
            self._url, self._environment, sandbox_url=self._environment.get(SANDBOX_URL) or None
        )
        self._door = LocalDoor(opened.service, await _local(opened.service, self._workspace))

    async def close(self) -> None:
        """Let a write in flight finish, and close everything."""
        if self._door is not None:
            await self._door.close()
            self._door = None

    async def call(
        self,
        operation_id: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: Json = None,
        idempotency_key: str | None = None,
    ) -> Mapping[str, Json]:
        """Call any row of the contract by its operationId; returns the envelope."""
        if self._door is None:
            raise RuntimeError("open the client first: with Ads(...) as ads")
        if operation_id not in BY_ID:
            raise refused("operationId", "choice", f"There is no such operation; there are {', '.join(BY_ID)}.")
        data = b"" if body is None else dumps(body).encode("ascii")
        return await self._door.call(BY_ID[operation_id], Call(path or {}, query or {}, data, idempotency_key))

    # -- discovery and accounts --------------------------------------------------------------------------------

    async def verify(self) -> Json:
        """The current credential, its workspace, and whether it may write."""
        return (await self.call("get_auth_verify"))["data"]

    async def networks(self) -> list[Json]:
        """The enabled networks."""
        return list((await self.call("get_networks"))["data"])

    async def network(self, code: str) -> Json:
        """Everything one network's tables declare."""
        return (await self.call("get_network", path={"network": code}))["data"]

    async def workflows(self) -> list[Json]:
        """The unified formats."""
        return list((await self.call("get_workflows"))["data"])

    async def accounts(self, network: str | None = None) -> list[Account]:
        """The connected ad accounts."""
        query = {} if network is None else {"network": network}
        return [Account(row) for row in (await self.call("get_accounts", query=query))["data"]]

    async def account(self, account: Account | str) -> Account:
        """One ad account."""
        return Account((await self.call("get_account", path={"accountId": _id(account)}))["data"])

    async def authorize(self, network: str) -> Json:
        """A single-use link at which a person connects the network's accounts."""
        return (await self.call("post_connections_authorize", body={"network": network}))["data"]

    async def connections(self) -> list[Json]:
        """The connections, without credentials."""
        return list((await self.call("get_connections"))["data"])

    async def disconnect(self, connection_id: str) -> Json:
        """Revoke and forget a connection's credentials."""
        return (await self.call("delete_connection", path={"connectionId": connection_id}))["data"]

    # -- the workflow ------------------------------------------------------------------------------------------

    async def validate(self, account: Account | str, brief: CampaignBrief | Mapping[str, Json]) -> Json:
        """Hold a brief against the network's rules; nothing is saved."""
        return (await self.call("post_validate_campaign", body=_campaign(account, brief)))["data"]

    async def create(
        self,
        account: Account | str,
        brief: CampaignBrief | Mapping[str, Json],
        *,
        idempotency_key: str | None = None,
    ) -> Operation:
        """Prepare the creation of a campaign; nothing is written yet."""
        body = _campaign(account, brief)
        return Operation((await self.call("post_create", body=body, idempotency_key=idempotency_key))["data"])

    async def activate(
        self, account: Account | str, source: Operation | str, *, idempotency_key: str | None = None
    ) -> Operation:
        """Prepare the activation of everything a create operation made."""
        body = {"accountId": _id(account), "sourceOperationId": _id(source)}
        return Operation((await self.call("post_activate", body=body, idempotency_key=idempotency_key))["data"])

    async def set_status(
        self,
        account: Account | str,
        kind: str,
        entity_ids: Sequence[str],
        status: str,
        *,
        idempotency_key: str | None = None,
    ) -> list[Operation]:
        """Prepare one status for up to 50 entities."""
        body = {"accountId": _id(account), "kind": kind, "entityIds": list(entity_ids), "status": status}
        answer = await self.call("post_bulk_status", body=body, idempotency_key=idempotency_key)
        return [Operation(row) for row in answer["data"]["operations"]]

    # -- operations --------------------------------------------------------------------------------------------

    async def operations(self) -> list[Operation]:
        """The latest 50 operations in scope."""
        return [Operation(row) for row in (await self.call("get_operations"))["data"]]

    async def operation(self, operation: Operation | str) -> Operation:
        """One operation with its plan and receipt."""
        return Operation((await self.call("get_operation", path={"operationId": _id(operation)}))["data"])

    async def execute(self, operation: Operation | str, *, confirmed: bool) -> Operation:
        """Write the prepared change, continuing for as long as the answer says so; stops on anything unknown."""
        path = {"operationId": _id(operation)}
        while True:
            answer = await self.call("post_operation_execute", path=path, body={"confirmed": confirmed})
            found = Operation(answer["data"])
            if found.status != "prepared" or found.next_action != "execute":
                return found
            await asyncio.sleep(min(found.retry_after_ms / 1000, MAX_WAIT_SECONDS))

    async def cancel(self, operation: Operation | str) -> Operation:
        """Cancel a prepared operation of one's own."""
        answer = await self.call("post_operation_cancel", path={"operationId": _id(operation)}, body={})
        return Operation(answer["data"])

    # -- reading -----------------------------------------------------------------------------------------------

    async def insights(self, account: Account | str, start: date | str, end: date | str) -> Json:
        """Normalized daily metrics; waits while the network makes its report."""
        query = {"startDate": str(start), "endDate": str(end)}
        while True:
            found = (await self.call("get_account_insights", path={"accountId": _id(account)}, query=query))["data"]
            if found["pending"] is None:
                return found
            await asyncio.sleep((found["pending"]["retryAfterMs"] or 5000) / 1000)

    async def tree(self, account: Account | str) -> Json:
        """The native hierarchy."""
        return (await self.call("get_account_tree", path={"accountId": _id(account)}))["data"]

    async def catalog(self, account: Account | str, resource: str, **query: str) -> Mapping[str, Json]:
        """A page of a catalog, with its ``page.nextCursor``."""
        return await self.call(
            "get_account_catalog", path={"accountId": _id(account), "resource": resource}, query=query
        )


def _id(one: Account | Operation | str) -> str:
    return one if isinstance(one, str) else one.id


def _campaign(account: Account | str, brief: CampaignBrief | Mapping[str, Json]) -> Json:
    return {
        "accountId": _id(account),
        "campaign": brief.to_json() if isinstance(brief, CampaignBrief) else dict(brief),
    }


def _remote(url: str, token: str | None) -> RemoteDoor:
    import httpx

    if not token:
        raise refused("token", "required", "is needed to call a server.")
    return RemoteDoor(
        httpx.AsyncClient(
            base_url=url.rstrip("/"),
            headers={"Authorization": f"Bearer {token}", "Accept": "application/json"},
            timeout=httpx.Timeout(120.0, connect=10.0),
            trust_env=False,
        )
    )


async def _local(service: Service, workspace: str) -> Actor:
    from .store import people

    home = await service.store.write(people.ensure_workspace, workspace, service.store.clock)
    user = await service.store.write(people.ensure_user, LOCAL, service.store.clock)
    await service.store.write(people.set_membership, home.id, user.id, "admin", service.store.clock)
    return Actor(home.id, user.id, LOCAL, "admin", True, "local")


# -- the synchronous client ---------------------------------------------------------------------------------------


class Ads:
    """The same methods, synchronous: a thin face over :class:`AsyncAds` on one thread with one event loop.

    Ctrl-C waits for the write in flight.
    """

    def __init__(self, url: str = "sqlite:///adsunify.db", *, token: str | None = None, workspace: str = LOCAL) -> None:
        self._ads = AsyncAds(url, token=token, workspace=workspace)
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="adsunify", daemon=True)

    def __enter__(self) -> Ads:
        self._thread.start()
        try:
            self._run(self._ads.open())
        except BaseException:
            self._stop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._run(self._ads.close())
        finally:
            self._stop()

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        return asyncio.run_coroutine_threadsafe(work, self._loop).result()

    def _stop(self) -> None:
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    def __getattr__(self, name: str) -> Callable[..., Any]:
        method = getattr(self._ads, name)

        def run(*args: Any, **kwargs: Any) -> Any:
            return self._run(method(*args, **kwargs))

        return run
