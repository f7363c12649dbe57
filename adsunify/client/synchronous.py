"""The synchronous client."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar, Unpack

from adsunify.values.exact_json import Json

from .asynchronous import NOT_OPEN_MESSAGE, AsyncAds
from .options import RemoteOptions
from .records import Account, Brief, Connection, Operation

T = TypeVar("T")


class Ads:
    """The methods of :class:`AsyncAds` as synchronous methods, with the same arguments.

    Open it with ``with``. It runs an event loop in a thread; several threads may call it. Ctrl-C stops waiting;
    leaving the ``with`` block waits for the write in flight.
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
        self._ads = AsyncAds(url, token=token, workspace=workspace, environment=environment, **options)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Ads:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="adsunify", daemon=True)
        self._thread.start()
        try:
            self._run_on_loop(self._ads.open())
        except BaseException:
            self._stop_loop()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        try:
            self._run_on_loop(self._ads.close())
        finally:
            self._stop_loop()

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError(NOT_OPEN_MESSAGE)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # after Ctrl-C a write in flight still finishes
            raise

    def _stop_loop(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            loop.call_soon_threadsafe(loop.stop)
            thread.join()
            loop.close()

    def call(
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
        return self._run_on_loop(
            self._ads.call(operation_id, path=path, query=query, body=body, idempotency_key=idempotency_key)
        )

    # -- discovery and accounts --------------------------------------------------------------------------------

    def verify(self) -> Json:
        """Describe the current credential: ``workspace``, ``role``, ``canWrite``, ``expiresAt``."""
        return self._run_on_loop(self._ads.verify())

    def networks(self) -> list[Json]:
        """List the networks, each with ``network`` (its code), title, version, login, formats and account extras."""
        return self._run_on_loop(self._ads.networks())

    def network(self, code: str) -> Json:
        """Return everything that one network's tables declare: formats, settings, catalogs, metrics, templates, units.

        Raises InvalidInput for an unknown code.
        """
        return self._run_on_loop(self._ads.network(code))

    def workflows(self) -> list[Json]:
        """List the unified formats, each with its goals, budget periods, and the members of its brief."""
        return self._run_on_loop(self._ads.workflows())

    def accounts(self, network: str | None = None) -> list[Account]:
        """List the ad accounts, or those on one network, including disconnected ones."""
        return self._run_on_loop(self._ads.accounts(network))

    def account(self, account: Account | str) -> Account:
        """Read one ad account, by its id or as :meth:`accounts` returned it. Raises NotFound."""
        return self._run_on_loop(self._ads.account(account))

    def authorize(self, network: str) -> Json:
        """Create a link at which a person connects the network's accounts: ``url`` and ``expiresAt``.

        It works once, for ten minutes, and leads to the server at the base URL (``ADSUNIFY_BASE_URL``, or else
        http://127.0.0.1:8080): with a local store, ``adsunify serve`` on that store must run there. The
        command ``adsunify connect`` needs no server. Raises InvalidInput for a network without a consent page, or where
        there is no application (``ADSUNIFY_<NETWORK>_CLIENT_ID``), and Forbidden to all but admins.
        """
        return self._run_on_loop(self._ads.authorize(network))

    def connect(self, network: str, **credentials: str) -> Connection:
        """Connect a network with the credentials that it issues, and save all accounts that it shows.

        For example ``connect("chatgpt", api_key=...)``; docs/connecting.md has a table of what each network takes.
        Connecting again keeps the accounts' ids. Raises InvalidInput for other members and for a network with a consent
        page (see :meth:`authorize`), TokenRefused where the network refuses them.
        """
        return self._run_on_loop(self._ads.connect(network, **credentials))

    def connections(self) -> list[Json]:
        """List the connections, each with ``connectionId``, ``network``, ``status`` and its accounts' ids."""
        return self._run_on_loop(self._ads.connections())

    def disconnect(self, connection_id: str) -> Json:
        """Revoke a connection's credentials where the network can do that, and delete them. Running campaigns continue.

        Returns the connection; its accounts are ``disconnected``. Raises NotFound.
        """
        return self._run_on_loop(self._ads.disconnect(connection_id))

    # -- the workflow ------------------------------------------------------------------------------------------

    def validate(self, account: Account | str, brief: Brief) -> Json:
        """Check a brief against the network's rules and, where it is reachable, at the network. Nothing is saved.

        Returns ``format``, ``plan``, ``risk`` and ``warnings`` of what :meth:`create` would prepare. Raises
        InvalidInput with all issues.
        """
        return self._run_on_loop(self._ads.validate(account, brief))

    def create(self, account: Account | str, brief: Brief, *, idempotency_key: str | None = None) -> Operation:
        """Prepare the creation of a campaign with its ad groups and ads, paused. Nothing is written yet.

        The same ``idempotency_key`` and brief return the same operation again; another brief raises Conflict. Raises
        InvalidInput with all issues of the brief.
        """
        return self._run_on_loop(self._ads.create(account, brief, idempotency_key=idempotency_key))

    def activate(
        self, account: Account | str, source: Operation | str, *, idempotency_key: str | None = None
    ) -> Operation:
        """Prepare the activation of everything that a succeeded create operation created, the campaign last.

        Executing it can spend money. Raises InvalidInput ``source_not_activatable`` for other sources.
        """
        return self._run_on_loop(self._ads.activate(account, source, idempotency_key=idempotency_key))

    def set_status(
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
        return self._run_on_loop(
            self._ads.set_status(account, kind, entity_ids, status, idempotency_key=idempotency_key)
        )

    # -- operations --------------------------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """List the latest 50 operations in scope, newest first, without the bodies of their plans."""
        return self._run_on_loop(self._ads.operations())

    def operation(self, operation: Operation | str) -> Operation:
        """Read one operation with its plan and receipt. Raises NotFound."""
        return self._run_on_loop(self._ads.operation(operation))

    def execute(
        self, operation: Operation | str, *, confirmed: bool, progress: Callable[[Operation], None] | None = None
    ) -> Operation:
        """Write the prepared change, and continue while the response has ``nextAction``; returns the operation.

        ``confirmed`` must be True. An operation runs once: a succeeded one is returned as it is. ``progress`` is called
        with the operation before each wait, on the client's own thread.

        Raises OperationError where it stops: ``code`` and ``outcome`` say why, ``operation`` holds the receipt, and
        ``native`` the network's own error. With the outcome ``unknown`` it is not known whether a write was done:
        look at the account. It is not sent again. Raises Forbidden ``approval_required`` where a person must execute
        it.
        """
        return self._run_on_loop(self._ads.execute(operation, confirmed=confirmed, progress=progress))

    def cancel(self, operation: Operation | str) -> Operation:
        """Cancel your prepared operation; what it wrote stays. Raises OperationError."""
        return self._run_on_loop(self._ads.cancel(operation))

    # -- reading -----------------------------------------------------------------------------------------------

    def insights(self, account: Account | str, start: date | str, end: date | str) -> Json:
        """Read normalized daily metrics, both days included, in the account's time zone; at most 1100 days.

        ``rows`` has one row a day: impressions, clicks, videoViews and reach are integers; spend, conversions and
        conversionValue are decimal strings, amounts in major units of ``currency``; None where the network does not
        report the figure. ``totals`` adds them up, None where a part is missing; ``coverage`` lists missing and
        provisional days. Waits while the network prepares its report, which may take minutes. Raises ProviderError.
        """
        return self._run_on_loop(self._ads.insights(account, start, end))

    def tree(self, account: Account | str) -> Json:
        """Read the native hierarchy, flat, parents first: ``nodes`` with kind, id, parentId, name, status, native.

        ``truncated`` is true where the account has more than was read. Raises ProviderError.
        """
        return self._run_on_loop(self._ads.tree(account))

    def catalog(
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
        return self._run_on_loop(self._ads.catalog(account, resource, search=search, cursor=cursor, limit=limit))
