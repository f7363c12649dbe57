"""The base classes of the namespaces, and what the clients do for them."""

from __future__ import annotations

import asyncio
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Generic, NamedTuple, TypeVar

from adsunify.answers import EntityInsights, Insights, Operation, Shape
from adsunify.errors import invalid_input

from .options import HOOK_MESSAGE, is_hook

ShapeT = TypeVar("ShapeT", bound=Shape)
RowT_co = TypeVar("RowT_co", bound=Shape, covariant=True)
ReportT = TypeVar("ReportT", Insights, EntityInsights)
PAUSE_SECONDS, MAX_WAIT_SECONDS = 0.1, 30 * 60
"""An operation can be continued for 30 minutes; no wait is longer."""
WORKING_STATUSES = ("preparing", "running")
"""The statuses of a launch or a change set while it is prepared or executed in the background."""
FIRST_POLL_SECONDS, MAX_POLL_SECONDS = 0.1, 3.0
REPORT_PAUSE_SECONDS = 5.0
"""The wait for a report, where the network names none."""


class Page(NamedTuple, Generic[RowT_co]):
    """The rows of one response to a list, and the cursor of the next page; None at the end."""

    rows: list[RowT_co]
    next_cursor: str | None


class ReportPage(NamedTuple, Generic[ReportT]):
    """A finished page of a report, and the cursor of the next page; None at the end."""

    report: ReportT
    next_cursor: str | None


class Requests(ABC):
    """The calls that the namespaces of :class:`~adsunify.client.Ads` make.

    ``arguments`` are named as in the request; those that are None are left out.
    """

    @abstractmethod
    def _request(
        self,
        model: type[ShapeT],
        operation_id: str,
        arguments: Mapping[str, object],
        idempotency_key: str | None = None,
    ) -> ShapeT: ...

    @abstractmethod
    def _read_page(
        self, model: type[ShapeT], operation_id: str, arguments: Mapping[str, object], cursor: str | None
    ) -> Page[ShapeT]: ...

    @abstractmethod
    def _read_report(
        self, model: type[ReportT], operation_id: str, arguments: Mapping[str, object], cursor: str | None = None
    ) -> ReportPage[ReportT]: ...

    @abstractmethod
    def _wait(self, seconds: float) -> None: ...


class AsyncRequests(ABC):
    """The calls that the namespaces of :class:`~adsunify.client.AsyncAds` make, as :class:`Requests`."""

    @abstractmethod
    async def _request(
        self,
        model: type[ShapeT],
        operation_id: str,
        arguments: Mapping[str, object],
        idempotency_key: str | None = None,
    ) -> ShapeT: ...

    @abstractmethod
    async def _read_page(
        self, model: type[ShapeT], operation_id: str, arguments: Mapping[str, object], cursor: str | None
    ) -> Page[ShapeT]: ...

    @abstractmethod
    async def _read_report(
        self, model: type[ReportT], operation_id: str, arguments: Mapping[str, object], cursor: str | None = None
    ) -> ReportPage[ReportT]: ...

    @abstractmethod
    async def _wait(self, seconds: float) -> None: ...


class Resource:
    """A namespace of :class:`~adsunify.client.Ads`."""

    def __init__(self, client: Requests) -> None:
        self._client = client


class AsyncResource:
    """A namespace of :class:`~adsunify.client.AsyncAds`."""

    def __init__(self, client: AsyncRequests) -> None:
        self._client = client


def get_pause(operation: Operation) -> float:
    """Return the seconds to wait before an operation is continued."""
    return min(max((operation.retry_after_ms or 0) / 1000, PAUSE_SECONDS), MAX_WAIT_SECONDS)


def check_progress(progress: object) -> None:
    """Raise InvalidInput where ``progress`` is given and cannot be called. Nothing is written before."""
    if progress is not None and not is_hook(progress):
        raise invalid_input("progress", "type", HOOK_MESSAGE)


class PollBackoff:
    """The waits between two polls of background work. Each is longer than the last, up to 3 seconds.

    Clients of simulated networks do not skip these waits, because no network requests them.
    """

    def __init__(self) -> None:
        self._seconds = FIRST_POLL_SECONDS

    def wait(self) -> None:
        """Wait before the next poll."""
        time.sleep(self._next_pause())

    async def wait_async(self) -> None:
        """Wait before the next poll."""
        await asyncio.sleep(self._next_pause())

    def _next_pause(self) -> float:
        pause, self._seconds = self._seconds, min(self._seconds * 1.5, MAX_POLL_SECONDS)
        return pause
