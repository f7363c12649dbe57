"""The client for programs that do not await."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable, Coroutine, Mapping, Sequence
from datetime import date
from typing import Any, TypeVar

from adsunify.wire import Json

from .asynchronous import NOT_OPEN, AsyncAds
from .records import Account, Brief, Connection, Operation

T = TypeVar("T")


class Ads:
    """The same methods, synchronous: a thin face over :class:`AsyncAds` on one thread with one event loop.

    Open it with ``with``. Ctrl-C stops waiting; leaving the ``with`` block waits for the write in flight.
    """

    def __init__(
        self,
        url: str = "sqlite:///adsunify.db",
        *,
        token: str | None = None,
        workspace: str | None = None,
        environment: Mapping[str, str] | None = None,
    ) -> None:
        self._ads = AsyncAds(url, token=token, workspace=workspace, environment=environment)
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Ads:
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="adsunify", daemon=True)
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
        if self._loop is None:
            work.close()
            raise RuntimeError(NOT_OPEN)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()  # Ctrl-C: nothing more is begun; what was begun is not cut
            raise

    def _stop(self) -> None:
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
        """Call any row of the contract by its operationId; returns the envelope."""
        return self._run(
            self._ads.call(operation_id, path=path, query=query, body=body, idempotency_key=idempotency_key)
        )

    # -- discovery and accounts --------------------------------------------------------------------------------

    def verify(self) -> Json:
        """As :meth:`AsyncAds.verify`."""
        return self._run(self._ads.verify())

    def networks(self) -> list[Json]:
        """As :meth:`AsyncAds.networks`."""
        return self._run(self._ads.networks())

    def network(self, code: str) -> Json:
        """As :meth:`AsyncAds.network`."""
        return self._run(self._ads.network(code))

    def workflows(self) -> list[Json]:
        """As :meth:`AsyncAds.workflows`."""
        return self._run(self._ads.workflows())

    def accounts(self, network: str | None = None) -> list[Account]:
        """As :meth:`AsyncAds.accounts`."""
        return self._run(self._ads.accounts(network))

    def account(self, account: Account | str) -> Account:
        """As :meth:`AsyncAds.account`."""
        return self._run(self._ads.account(account))

    def authorize(self, network: str) -> Json:
        """As :meth:`AsyncAds.authorize`."""
        return self._run(self._ads.authorize(network))

    def connect(self, network: str, **credentials: str) -> Connection:
        """As :meth:`AsyncAds.connect`."""
        return self._run(self._ads.connect(network, **credentials))

    def connections(self) -> list[Json]:
        """As :meth:`AsyncAds.connections`."""
        return self._run(self._ads.connections())

    def disconnect(self, connection_id: str) -> Json:
        """As :meth:`AsyncAds.disconnect`."""
        return self._run(self._ads.disconnect(connection_id))

    # -- the workflow ------------------------------------------------------------------------------------------

    def validate(self, account: Account | str, brief: Brief) -> Json:
        """As :meth:`AsyncAds.validate`."""
        return self._run(self._ads.validate(account, brief))

    def create(self, account: Account | str, brief: Brief, *, idempotency_key: str | None = None) -> Operation:
        """As :meth:`AsyncAds.create`."""
        return self._run(self._ads.create(account, brief, idempotency_key=idempotency_key))

    def activate(
        self, account: Account | str, source: Operation | str, *, idempotency_key: str | None = None
    ) -> Operation:
        """As :meth:`AsyncAds.activate`."""
        return self._run(self._ads.activate(account, source, idempotency_key=idempotency_key))

    def set_status(
        self,
        account: Account | str,
        kind: str,
        entity_ids: Sequence[str],
        status: str,
        *,
        idempotency_key: str | None = None,
    ) -> list[Operation]:
        """As :meth:`AsyncAds.set_status`."""
        return self._run(self._ads.set_status(account, kind, entity_ids, status, idempotency_key=idempotency_key))

    # -- operations --------------------------------------------------------------------------------------------

    def operations(self) -> list[Operation]:
        """As :meth:`AsyncAds.operations`."""
        return self._run(self._ads.operations())

    def operation(self, operation: Operation | str) -> Operation:
        """As :meth:`AsyncAds.operation`."""
        return self._run(self._ads.operation(operation))

    def execute(
        self, operation: Operation | str, *, confirmed: bool, progress: Callable[[Operation], None] | None = None
    ) -> Operation:
        """As :meth:`AsyncAds.execute`; ``progress`` is called on the client's own thread."""
        return self._run(self._ads.execute(operation, confirmed=confirmed, progress=progress))

    def cancel(self, operation: Operation | str) -> Operation:
        """As :meth:`AsyncAds.cancel`."""
        return self._run(self._ads.cancel(operation))

    # -- reading -----------------------------------------------------------------------------------------------

    def insights(self, account: Account | str, start: date | str, end: date | str) -> Json:
        """As :meth:`AsyncAds.insights`."""
        return self._run(self._ads.insights(account, start, end))

    def tree(self, account: Account | str) -> Json:
        """As :meth:`AsyncAds.tree`."""
        return self._run(self._ads.tree(account))

    def catalog(
        self,
        account: Account | str,
        resource: str,
        *,
        search: str | None = None,
        cursor: str | None = None,
        limit: int = 50,
    ) -> Mapping[str, Json]:
        """As :meth:`AsyncAds.catalog`."""
        return self._run(self._ads.catalog(account, resource, search=search, cursor=cursor, limit=limit))
