"""The client for programs that await."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date

from pydantic.alias_generators import to_camel

from adsunify.brief import CampaignBrief
from adsunify.contract import BY_ID, Call
from adsunify.errors import refused
from adsunify.wire import Json, dumps

from .doors import Door, open_door
from .records import Account, Brief, Connection, Operation

PAUSE_SECONDS, MAX_WAIT_SECONDS = 0.1, 30 * 60
"""An operation can be continued for 30 minutes; nothing is waited for longer."""
NOT_OPEN = "open the client first: with Ads(...) as ads"


class AsyncAds:
    """All of the contract over one door. Open it with ``async with``.

    ``url`` is a server's (``https://...``, with its ``token``), or that of a database. A new database is given a
    workspace, ``local`` or as ``workspace`` names it, and the user ``local`` as its admin. One that has workspaces is
    never given another, nor another member: ``workspace`` names one of them, and may be left out where there is only
    one; the client then acts as the user ``local`` where he is a member, and otherwise as the workspace's first admin,
    in whose name it writes, with the credential ``local``.
    """

    def __init__(
        self,
        url: str = "sqlite:///adsunify.db",
        *,
        token: str | None = None,
        workspace: str | None = None,
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
        self._door = await open_door(self._url, self._token, self._workspace, self._environment)

    async def close(self) -> None:
        """Let a write in flight finish, and close everything."""
        if self._door is not None:
            await self._door.close()
            self._door = None

    @property
    def door(self) -> Door:
        """How the contract is called, while the client is open."""
        if self._door is None:
            raise RuntimeError(NOT_OPEN)
        return self._door

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
        door = self.door
        if operation_id not in BY_ID:
            raise refused("operationId", "choice", f"There is no such operation; there are {', '.join(BY_ID)}.")
        data = b"" if body is None else dumps(body).encode("ascii")
        return await door.call(BY_ID[operation_id], Call(path or {}, query or {}, data, idempotency_key))

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

    async def connect(self, network: str, **credentials: str) -> Connection:
        """Connect a network with credentials of its own, such as ``connect("chatgpt", api_key="...")``."""
        body = {"network": network, **{to_camel(name): value for name, value in credentials.items()}}
        found = (await self.call("post_connections_credentials", body=body))["data"]
        every = await self.accounts(network)
        return Connection(found, [one for one in every if one.id in found["accounts"]])

    async def connections(self) -> list[Json]:
        """The connections, without credentials."""
        return list((await self.call("get_connections"))["data"])

    async def disconnect(self, connection_id: str) -> Json:
        """Revoke and forget a connection's credentials."""
        return (await self.call("delete_connection", path={"connectionId": connection_id}))["data"]

    # -- the workflow ------------------------------------------------------------------------------------------

    async def validate(self, account: Account | str, brief: Brief) -> Json:
        """Hold a brief against the network's rules; nothing is saved."""
        return (await self.call("post_validate_campaign", body=_campaign(account, brief)))["data"]

    async def create(
        self,
        account: Account | str,
        brief: Brief,
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

    async def execute(
        self, operation: Operation | str, *, confirmed: bool, progress: Callable[[Operation], None] | None = None
    ) -> Operation:
        """Write the prepared change, continuing for as long as the answer says so; stops on anything unknown.

        ``progress`` is told of the operation before each wait.
        """
        path = {"operationId": _id(operation)}
        while True:
            answer = await self.call("post_operation_execute", path=path, body={"confirmed": confirmed})
            found = Operation(answer["data"])
            if found.status != "prepared" or found.next_action != "execute":
                return found
            if progress is not None:
                progress(found)
            await asyncio.sleep(min(max(found.retry_after_ms / 1000, PAUSE_SECONDS), MAX_WAIT_SECONDS))

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

    async def catalog(
        self,
        account: Account | str,
        resource: str,
        *,
        search: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Mapping[str, Json]:
        """A page of a catalog: its rows as ``data``, and ``page.nextCursor``. Or, as ``report:<job>``, a report."""
        query = {"search": search, "cursor": cursor, "limit": str(limit)}
        return await self.call(
            "get_account_catalog",
            path={"accountId": _id(account), "resource": resource},
            query={name: value for name, value in query.items() if value is not None},
        )


def _id(one: Account | Operation | str) -> str:
    return one if isinstance(one, str) else one.id


def _campaign(account: Account | str, brief: Brief) -> Json:
    return {
        "accountId": _id(account),
        "campaign": brief.to_json() if isinstance(brief, CampaignBrief) else dict(brief),
    }
