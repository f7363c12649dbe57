"""The asynchronous client."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Mapping
from copy import copy
from typing import Self, Unpack

from adsunify.answers import parse_answer
from adsunify.contract import ENDPOINTS_BY_ID, ApiRequest, Endpoint
from adsunify.errors import WriteOutcome, invalid_input
from adsunify.values.exact_json import Json

from .async_resources import AsyncNamespaces
from .backends import Backend, open_backend, read_target
from .inputs import check_parameters, encode_body, make_request
from .options import CallOptions, RemoteOptions
from .resource import REPORT_PAUSE_SECONDS, Page, ReportPage, ReportT, ShapeT
from .retries import is_read

NOT_OPEN_MESSAGE = "open the client first: with Ads(...) as client"
OPEN_MESSAGE = "the client is open already: make another one"
REPORT_MESSAGE = (
    "names a report, which is not a list. Call insights.daily with the same dates, or use call('get_account_catalog')."
)


class AsyncAds(AsyncNamespaces):
    """All endpoints of the API, on a local store or at a server. Open it with ``async with``.

    Each namespace has the methods of a part of the contract, such as ``client.accounts.list()``. They return the models
    of :mod:`adsunify.answers`; ``to_dict()`` of a model is the JSON of the response, and ``model_extra`` has
    the members of a newer server. Lists are iterators over all pages. The methods raise the errors of
    :mod:`adsunify.errors`: InvalidInput with all issues at once, Forbidden, NotFound, ProviderError where a network
    refuses a read, and StoreError; at a server also Unauthenticated, RateLimited, and ServerUnreachable where there is
    no usable response. ``outcome`` of an error says whether anything may have been written. An error of an operation
    has the ``operation``, and in ``applied_steps`` the steps that were written at least in part.

    ``url`` is the address of a server (``https://...``, with a ``token``) or of a database. In a database without
    workspaces the client creates one, named ``workspace`` or ``local``, with the user ``local`` as its admin. It never
    changes a database with workspaces: ``workspace`` names one of them, and can be left out where there is only one.
    The client then acts as the user ``local`` where that is a member, otherwise as the workspace's first admin, with
    the credential ``local``. ``environment`` replaces the process's environment, which holds the key ring and the OAuth
    clients.

    ``options`` are those of :class:`~adsunify.client.options.RemoteOptions`, for a server only: ``timeout``,
    ``max_retries``, ``http_client``, ``proxy``, ``ca_file``, ``on_request`` and ``on_response``. docs/client.md
    describes them. A retry never does a write or a prepare twice.
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

    async def __aenter__(self) -> Self:
        await self.open()
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.close()

    async def open(self) -> None:
        """Open and migrate the store, or prepare to call the server."""
        if self._backend is not None:
            raise RuntimeError(OPEN_MESSAGE)
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

    def with_options(self, **options: Unpack[CallOptions]) -> Self:
        """Return a client of the same server whose calls have another ``timeout``, or other ``max_retries``.

        It uses the connections of this client, which must be open, and is closed with it. What is left out stays as it
        is. Raises InvalidInput that names each refused option; a client of a database takes none.
        """
        changed = copy(self)
        changed._backend = self.backend.with_options(options)
        AsyncNamespaces.__init__(changed)
        return changed

    async def _wait(self, seconds: float) -> None:
        """Wait before the next request of a method that makes several. Clients of simulated networks override it."""
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

    async def _request(
        self,
        model: type[ShapeT],
        operation_id: str,
        arguments: Mapping[str, object],
        idempotency_key: str | None = None,
    ) -> ShapeT:
        endpoint = ENDPOINTS_BY_ID[operation_id]
        request = make_request(operation_id, arguments, idempotency_key=idempotency_key)
        envelope = await self.backend.call(endpoint, request)
        return parse_answer(model, envelope["data"], _get_outcome(endpoint))

    async def _read_page(
        self, model: type[ShapeT], operation_id: str, arguments: Mapping[str, object], cursor: str | None
    ) -> Page[ShapeT]:
        request = make_request(operation_id, arguments, cursor)
        envelope = await self.backend.call(ENDPOINTS_BY_ID[operation_id], request)
        rows = envelope["data"]
        if not isinstance(rows, list):
            if "resource" in arguments:
                raise invalid_input("resource", "not_supported", REPORT_MESSAGE)
            rows = [rows]  # parse_answer refuses it
        return Page([parse_answer(model, row) for row in rows], _get_next_cursor(envelope))

    async def _read_report(
        self, model: type[ReportT], operation_id: str, arguments: Mapping[str, object], cursor: str | None = None
    ) -> ReportPage[ReportT]:
        request = make_request(operation_id, arguments, cursor)
        while True:
            envelope = await self.backend.call(ENDPOINTS_BY_ID[operation_id], request)
            report = parse_answer(model, envelope["data"])
            if report.pending is None:
                return ReportPage(report, _get_next_cursor(envelope))
            milliseconds = report.pending.retry_after_ms
            await self._wait(REPORT_PAUSE_SECONDS if not milliseconds else milliseconds / 1000)


def _get_next_cursor(envelope: Mapping[str, Json]) -> str | None:
    page = envelope.get("page")
    return page.get("nextCursor") if isinstance(page, Mapping) else None


def _get_outcome(endpoint: Endpoint) -> WriteOutcome:
    """Return the outcome of a call without a usable response."""
    return "not_applied" if is_read(endpoint) else "unknown"
