"""The asynchronous client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable, Mapping, Sequence
from datetime import date
from typing import Unpack

from pydantic.alias_generators import to_camel

from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest
from adsunify.contract.requests import get_credential_sets, list_credential_networks
from adsunify.errors import invalid_input
from adsunify.networks.registry import ADAPTER_PACKAGES
from adsunify.values.exact_json import Json

from .backends import Backend, open_backend
from .inputs import (
    check_parameters,
    encode_body,
    read_account_id,
    read_campaign,
    read_list,
    read_operation_id,
    read_text,
)
from .options import RemoteOptions
from .records import Account, Brief, Connection, Operation

PAUSE_SECONDS, MAX_WAIT_SECONDS = 0.1, 30 * 60
"""An operation can be continued for 30 minutes; no wait is longer."""
NOT_OPEN_MESSAGE = "open the client first: with Ads(...) as ads"


class AsyncAds:
    """All endpoints of the API, on a local store or at a server. Open it with ``async with``.

    Methods that return ``Json`` return the ``data`` of the REST response, with its names. The methods raise the errors
    of :mod:`adsunify.errors`: InvalidInput with all issues at once, Forbidden, NotFound, ProviderError where a network
    refuses a read, and StoreError; at a server also Unauthenticated, RateLimited, and ServerUnreachable where there is
    no usable response. ``outcome`` of an error says whether anything may have been written. An error of an operation
    has the ``operation``, and in ``applied_steps`` the steps of which anything was written.

    ``url`` is the address of a server (``https://...``, with a ``token``) or of a database. In a database without
    workspaces the client creates one, named ``workspace`` or ``local``, with the user ``local`` as its admin. It never
    changes a database with workspaces: ``workspace`` names one of them, and can be left out where there is only one.
    The client then acts as the user ``local`` where that is a member, otherwise as the workspace's first admin, with
    the credential ``local``. ``environment`` replaces the process's environment, which holds the key ring and the OAuth
    clients.

    ``options`` are those of :class:`~adsunify.client.options.RemoteOptions`, for a server only: ``timeout``,
    ``max_retries``, ``http_client``, ``on_request`` and ``on_response``. docs/client.md describes them. A retry never
    does a write or a prepare twice.
    """

    def __init__(
        self,
        url: str = "sqlite:///adsunify.db",
        *,
        token: str | None = None,
        workspace: str | None = None,
        environment: Mapping[str, str] | None = None,
        **options: Unpack[RemoteOptions],
    ) -> None:
        self._url, self._token, self._workspace, self._options = url, token, workspace, options
        self._environment = os.environ if environment is None else environment
        self._backend: Backend | None = None

    async def __aenter__(self) -> AsyncAds:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open and migrate the store, or prepare to call the server."""
        self._backend = await open_backend(self._url, self._token, self._workspace, self._environment, self._options)

    async def close(self) -> None:
        """Let a write in flight finish, and close everything."""
        if self._backend is not None:
            await self._backend.close()
            self._backend = None

    @property
    def backend(self) -> Backend:
        """The backend, while the client is open."""
        if self._backend is None:
            raise RuntimeError(NOT_OPEN_MESSAGE)
        return self._backend

    async def _wait(self, seconds: float) -> None:
        """Wait before the next request of a method that makes several; a client of a simulated network need not."""
        await asyncio.sleep(seconds)

    async def call(
        self,
        operation_id: str,
        *,
        path: Mapping[str, str] | None = None,
        query: Mapping[str, str] | None = None,
        body: Json = None,
        idempotency_key: str | None = None,
    ) -> Mapping[str, Json]:
        """Call any endpoint by its operationId, such as ``post_bulk_edit``; a server's ``/docs`` lists them.

        ``path`` and ``query`` hold the parameters by name, as text. Returns the envelope: ``data``, and ``page`` with
        ``nextCursor`` where there may be more. Where ``idempotency_key`` is taken, the same key and request return the
        same operation again. Raises InvalidInput for an unknown operationId.
        """
        backend = self.backend
        if not isinstance(operation_id, str) or operation_id not in ENDPOINTS_BY_ID:
            raise invalid_input(
                "operationId", "choice", f"Unknown operationId; use one of {', '.join(ENDPOINTS_BY_ID)}."
            )
        endpoint, path, query = (
            ENDPOINTS_BY_ID[operation_id],
            {} if path is None else path,
            {} if query is None else query,
        )
        check_parameters(endpoint, path, query, idempotency_key)
        return await backend.call(endpoint, ApiRequest(path, query, encode_body(body), idempotency_key))

    # -- discovery and accounts --------------------------------------------------------------------------------

    async def verify(self) -> Json:
        """Describe the current credential: ``workspace``, ``role``, ``canWrite``, ``expiresAt``."""
        return (await self.call("get_auth_verify"))["data"]

    async def networks(self) -> list[Json]:
        """List the networks, each with ``network`` (its code), title, version, login, formats and account extras."""
        return list((await self.call("get_networks"))["data"])

    async def network(self, code: str) -> Json:
        """Return everything that one network's tables declare: formats, settings, catalogs, metrics, templates, units.

        Raises InvalidInput for an unknown code.
        """
        return (await self.call("get_network", path={"network": code}))["data"]

    async def workflows(self) -> list[Json]:
        """List the unified formats, each with its goals, budget periods, and the members of its brief."""
        return list((await self.call("get_workflows"))["data"])

    async def accounts(self, network: str | None = None) -> list[Account]:
        """List the ad accounts, or those on one network, including disconnected ones."""
        query = {} if network is None else {"network": network}
        return [Account(row) for row in (await self.call("get_accounts", query=query))["data"]]

    async def account(self, account: Account | str) -> Account:
        """Read one ad account, by its id or as :meth:`accounts` returned it. Raises NotFound."""
        return Account((await self.call("get_account", path={"accountId": read_account_id(account)}))["data"])

    async def authorize(self, network: str) -> Json:
        """Create a link at which a person connects the network's accounts: ``url`` and ``expiresAt``.

        It works once, for ten minutes, and leads to the server at the base URL (``ADSUNIFY_BASE_URL``, or else
        http://127.0.0.1:8080): with a local store, ``adsunify serve`` on that store must run there. The
        command ``adsunify connect`` needs no server. Raises InvalidInput for a network without a consent page, or where
        there is no application (``ADSUNIFY_<NETWORK>_CLIENT_ID``), and Forbidden to all but admins.
        """
        return (await self.call("post_connections_authorize", body={"network": network}))["data"]

    async def connect(self, network: str, **credentials: str) -> Connection:
        """Connect a network with the credentials that it issues, and save all accounts that it shows.

        For example ``connect("chatgpt", api_key=...)``; docs/connecting.md has a table of what each network takes.
        Connecting again keeps the accounts' ids. Raises InvalidInput for other members and for a network with a consent
        page (see :meth:`authorize`), TokenRefused where the network refuses them.
        """
        if read_text(network, "network") in ADAPTER_PACKAGES and not get_credential_sets(network):
            raise invalid_input(
                "network",
                "choice",
                f"has a consent page: use `adsunify connect {network}`, or the link of authorize, where "
                "`adsunify serve` runs. Networks that are connected with credentials: "
                f"{', '.join(list_credential_networks())}.",
            )
        body = {"network": network, **{to_camel(name): value for name, value in credentials.items()}}
        row = (await self.call("post_connections_credentials", body=body))["data"]
        accounts = await self.accounts(network)
        return Connection(row, tuple(account for account in accounts if account.id in row["accounts"]))

    async def connections(self) -> list[Json]:
        """List the connections, each with ``connectionId``, ``network``, ``status`` and its accounts' ids."""
        return list((await self.call("get_connections"))["data"])

    async def disconnect(self, connection_id: str) -> Json:
        """Revoke a connection's credentials where the network can do that, and delete them. Running campaigns continue.

        Returns the connection; its accounts are ``disconnected``. Raises NotFound.
        """
        return (await self.call("delete_connection", path={"connectionId": connection_id}))["data"]

    # -- the workflow ------------------------------------------------------------------------------------------

    async def validate(self, account: Account | str, brief: Brief) -> Json:
        """Check a brief against the network's rules and, where it is reachable, at the network. Nothing is saved.

        Returns ``format``, ``plan``, ``risk`` and ``warnings`` of what :meth:`create` would prepare. Raises
        InvalidInput with all issues.
        """
        return (await self.call("post_validate_campaign", body=read_campaign(account, brief)))["data"]

    async def create(
        self,
        account: Account | str,
        brief: Brief,
        *,
        idempotency_key: str | None = None,
    ) -> Operation:
        """Prepare the creation of a campaign with its ad groups and ads, paused. Nothing is written yet.

        The same ``idempotency_key`` and brief return the same operation again; another brief raises Conflict. Raises
        InvalidInput with all issues of the brief.
        """
        body = read_campaign(account, brief)
        return Operation((await self.call("post_create", body=body, idempotency_key=idempotency_key))["data"])

    async def activate(
        self, account: Account | str, source: Operation | str, *, idempotency_key: str | None = None
    ) -> Operation:
        """Prepare the activation of everything that a succeeded create operation created, the campaign last.

        Executing it can spend money. Raises InvalidInput ``source_not_activatable`` for other sources.
        """
        body = {
            "accountId": read_account_id(account),
            "sourceOperationId": read_operation_id(source, "sourceOperationId"),
        }
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
        """Prepare a status (``active`` or ``paused``) for 1 to 50 entities; each gets its own operation.

        ``kind`` is ``campaign``, ``adGroup`` or ``ad``; ``entity_ids`` are the network's own. All are prepared or none:
        InvalidInput lists the entities that were refused.
        """
        ids = read_list(entity_ids, "entityIds")
        body = {"accountId": read_account_id(account), "kind": kind, "entityIds": ids, "status": status}
        answer = await self.call("post_bulk_status", body=body, idempotency_key=idempotency_key)
        return [Operation(row) for row in answer["data"]["operations"]]

    # -- operations --------------------------------------------------------------------------------------------

    async def operations(self) -> list[Operation]:
        """List the latest 50 operations in scope, newest first, without the bodies of their plans."""
        return [Operation(row) for row in (await self.call("get_operations"))["data"]]

    async def operation(self, operation: Operation | str) -> Operation:
        """Read one operation with its plan and receipt. Raises NotFound."""
        return Operation((await self.call("get_operation", path={"operationId": read_operation_id(operation)}))["data"])

    async def execute(
        self, operation: Operation | str, *, confirmed: bool, progress: Callable[[Operation], None] | None = None
    ) -> Operation:
        """Write the prepared change, and continue while the response has ``nextAction``; returns the operation.

        ``confirmed`` must be True. An operation runs once: a succeeded one is returned as it is. ``progress`` is called
        with the operation before each wait.

        Raises OperationError where it stops: ``code`` and ``outcome`` say why, ``operation`` holds the receipt, and
        ``native`` the network's own error. With the outcome ``unknown`` it is not known whether a write was done:
        look at the account. It is not sent again. Raises Forbidden ``approval_required`` where a person must execute
        it.
        """
        path = {"operationId": read_operation_id(operation)}
        while True:
            answer = await self.call("post_operation_execute", path=path, body={"confirmed": confirmed})
            current = Operation(answer["data"])
            if current.status != "prepared" or current.next_action != "execute":
                return current
            if progress is not None:
                progress(current)
            await self._wait(min(max(current.retry_after_ms / 1000, PAUSE_SECONDS), MAX_WAIT_SECONDS))

    async def cancel(self, operation: Operation | str) -> Operation:
        """Cancel your prepared operation; what it wrote stays. Raises OperationError."""
        answer = await self.call("post_operation_cancel", path={"operationId": read_operation_id(operation)}, body={})
        return Operation(answer["data"])

    # -- reading -----------------------------------------------------------------------------------------------

    async def insights(self, account: Account | str, start: date | str, end: date | str) -> Json:
        """Read normalized daily metrics, both days included, in the account's time zone; at most 1100 days.

        ``rows`` has one row a day: impressions, clicks, videoViews and reach are integers; spend, conversions and
        conversionValue are decimal strings, amounts in major units of ``currency``; None where the network does not
        report the figure. ``totals`` adds them up, None where a part is missing; ``coverage`` lists missing and
        provisional days. Waits while the network prepares its report, which may take minutes. Raises ProviderError.
        """
        path, query = {"accountId": read_account_id(account)}, {"startDate": str(start), "endDate": str(end)}
        while True:
            insights = (await self.call("get_account_insights", path=path, query=query))["data"]
            if insights["pending"] is None:
                return insights
            await self._wait((insights["pending"]["retryAfterMs"] or 5000) / 1000)

    async def tree(self, account: Account | str) -> Json:
        """Read the native hierarchy, flat, parents first: ``nodes`` with kind, id, parentId, name, status, native.

        ``truncated`` is true where the account has more than was read. Raises ProviderError.
        """
        return (await self.call("get_account_tree", path={"accountId": read_account_id(account)}))["data"]

    async def catalog(
        self,
        account: Account | str,
        resource: str,
        *,
        search: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Mapping[str, Json]:
        """Read a page of a catalog, such as ``pages`` or ``locations``.

        ``data`` has rows with ``id``, ``name`` and ``native``; ``page.nextCursor`` is given as ``cursor`` for the next
        page, and None on the last. ``limit`` is 1 to 100. :meth:`network` lists the catalogs; some take text after a
        colon. ``report:<job>`` is a report that :meth:`insights` started. Raises InvalidInput for an unknown one.
        """
        query = {"search": search, "cursor": cursor, "limit": str(limit)}
        return await self.call(
            "get_account_catalog",
            path={"accountId": read_account_id(account), "resource": resource},
            query={name: value for name, value in query.items() if value is not None},
        )
