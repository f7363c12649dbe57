"""The synchronous client."""

from __future__ import annotations

import asyncio
import os
import threading
from collections.abc import Coroutine, Mapping
from concurrent.futures import CancelledError
from copy import copy
from typing import Any, Self, TypeVar, Unpack

from adsunify.values.exact_json import Json

from .asynchronous import NOT_OPEN_MESSAGE, OPEN_MESSAGE, AsyncAds
from .backends import read_target
from .options import CallOptions, RemoteOptions
from .resource import Page, ReportPage, ReportT, ShapeT
from .resources import Namespaces

T = TypeVar("T")
CLOSED_MESSAGE = "the client was closed during the call, so it is not known whether the call was done"


class Ads(Namespaces):
    """The methods of :class:`AsyncAds` as synchronous methods, with the same arguments.

    Open it with ``with``. It runs an event loop in a thread; several threads may call it. Ctrl-C stops waiting;
    leaving the ``with`` block waits for the write in flight. An unfinished call of another thread then raises
    RuntimeError.
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
        super().__init__()

    @classmethod
    def from_environment(
        cls,
        *,
        workspace: str | None = None,
        environment: Mapping[str, str] | None = None,
        **options: Unpack[RemoteOptions],
    ) -> Self:
        """Make a client of the server or the database that the environment names.

        ``ADSUNIFY_SERVER`` and ``ADSUNIFY_TOKEN`` name a server; without ``ADSUNIFY_SERVER``, ``ADSUNIFY_DATABASE_URL``
        names a database. The parameters are those of the class. Raises InvalidInput that names a missing variable.
        """
        url, token = read_target(os.environ if environment is None else environment)
        return cls(url, token=token, workspace=workspace, environment=environment, **options)

    def __enter__(self) -> Self:
        if self._loop is not None:
            raise RuntimeError(OPEN_MESSAGE)
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

    def with_options(self, **options: Unpack[CallOptions]) -> Self:
        """Return a client of the same server whose calls have another ``timeout``, or other ``max_retries``.

        It uses the connections of this client, which must be open, and is closed with it. What is left out stays as it
        is. Raises InvalidInput that names each refused option; a client of a database takes none.
        """
        changed = copy(self)
        changed._ads = self._ads.with_options(**options)
        Namespaces.__init__(changed)
        return changed

    def _run_on_loop(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None or self._loop.is_closed():
            work.close()
            raise RuntimeError(NOT_OPEN_MESSAGE)
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except CancelledError:
            raise RuntimeError(CLOSED_MESSAGE) from None
        except BaseException:
            future.cancel()  # after Ctrl-C a write in flight still finishes
            raise

    def _stop_loop(self) -> None:
        loop, thread = self._loop, self._thread
        self._loop = self._thread = None
        if loop is not None and thread is not None:
            asyncio.run_coroutine_threadsafe(_cancel_calls(), loop).result()
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

    def _request(
        self,
        model: type[ShapeT],
        operation_id: str,
        arguments: Mapping[str, object],
        idempotency_key: str | None = None,
    ) -> ShapeT:
        return self._run_on_loop(self._ads._request(model, operation_id, arguments, idempotency_key))

    def _read_page(
        self, model: type[ShapeT], operation_id: str, arguments: Mapping[str, object], cursor: str | None
    ) -> Page[ShapeT]:
        return self._run_on_loop(self._ads._read_page(model, operation_id, arguments, cursor))

    def _read_report(
        self, model: type[ReportT], operation_id: str, arguments: Mapping[str, object], cursor: str | None = None
    ) -> ReportPage[ReportT]:
        return self._run_on_loop(self._ads._read_report(model, operation_id, arguments, cursor))

    def _wait(self, seconds: float) -> None:
        self._run_on_loop(self._ads._wait(seconds))


async def _cancel_calls() -> None:
    """End the calls that other threads wait for."""
    calls = asyncio.all_tasks() - {asyncio.current_task()}
    for call in calls:
        call.cancel()
    await asyncio.gather(*calls, return_exceptions=True)
