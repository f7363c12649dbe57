"""Lists of the clients: iterators that read the next page when they get to it."""

from __future__ import annotations

from collections.abc import AsyncIterator, Iterator, Mapping
from typing import Generic, TypeVar

from adsunify.answers import Shape
from adsunify.errors import NotFound

from .inputs import make_request
from .resource import AsyncRequests, Requests

RowT = TypeVar("RowT", bound=Shape)
EMPTY_MESSAGE = "The list is empty, so it has no first row."


class Pages(Generic[RowT]):
    """The rows of a list. Each iteration reads the list anew, page by page."""

    def __init__(self, client: Requests, model: type[RowT], operation_id: str, arguments: Mapping[str, object]) -> None:
        make_request(operation_id, arguments)  # refuses the arguments here, not at the first row
        self._client, self._model, self._operation_id, self._arguments = client, model, operation_id, arguments

    def __iter__(self) -> Iterator[RowT]:
        cursor = None
        while True:
            page = self._client._read_page(self._model, self._operation_id, self._arguments, cursor)
            yield from page.rows
            cursor = page.next_cursor
            if cursor is None:
                return

    def first(self) -> RowT:
        """Return the first row. Raises NotFound where the list is empty."""
        for row in self:
            return row
        raise NotFound(EMPTY_MESSAGE)

    def all(self) -> list[RowT]:
        """Return all rows of all pages."""
        return list(self)


class AsyncPages(Generic[RowT]):
    """The rows of a list, for ``async for``. Each iteration reads the list anew, page by page."""

    def __init__(
        self, client: AsyncRequests, model: type[RowT], operation_id: str, arguments: Mapping[str, object]
    ) -> None:
        make_request(operation_id, arguments)  # refuses the arguments here, not at the first row
        self._client, self._model, self._operation_id, self._arguments = client, model, operation_id, arguments

    async def __aiter__(self) -> AsyncIterator[RowT]:
        cursor = None
        while True:
            page = await self._client._read_page(self._model, self._operation_id, self._arguments, cursor)
            for row in page.rows:
                yield row
            cursor = page.next_cursor
            if cursor is None:
                return

    async def first(self) -> RowT:
        """Return the first row. Raises NotFound where the list is empty."""
        async for row in self:
            return row
        raise NotFound(EMPTY_MESSAGE)

    async def all(self) -> list[RowT]:
        """Return all rows of all pages."""
        return [row async for row in self]
